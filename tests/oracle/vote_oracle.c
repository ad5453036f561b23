/* Elimination by votes: the loop over cores and the direct loop give the same bytes; both agree
 * with the naive twin, which shares no line with them, within 4 standard errors of the difference.
 *
 * The statistical part compares three means in each of its settings; a correct program is outside
 * with chance 6e-5 each, so a false alarm of the whole test would come once in some 200 choices of
 * the (fixed) seeds. */
#include "../support/testing.h"
#include <math.h>
#include "../../src/families/vote/play.h"
#include "../support/effort.h"
#include "../support/gof.h"
#include "vote_twin.h"

#define ARMS 10u

static const double problem_means[ARMS] = {0.7, 0.5, 0.3, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1};
static const struct vote_group halves[2] = {{0.5, 0.8}, {0.5, 0.2}};

static struct tacit_env problem_env(void)
{
    return (struct tacit_env){
        .kind = TACIT_ENV_BERNOULLI, .row_count = 1, .arm_count = ARMS, .means = problem_means};
}

static struct vote_world problem(const struct tacit_env *env, uint32_t number, uint32_t players,
                                 enum tacit_best_arm_kind kind)
{
    struct vote_world world = {
        .seed = 21,
        .player_count = players,
        .horizon = UINT64_C(1) << 36,
        .env = env,
        .drift_spare = 0,
        .sharing = VOTE_SHARING_VOTES,
        .subroutine = {.kind = kind, .arm_count = ARMS, .accuracy = 0.25, .failure = 0.9},
        .votes_needed = 28};
    if (number == 2) {
        world.groups = halves;
        world.group_count = 2;
    }
    if (number == 3)
        world.drift = -1e-5;
    return world;
}

/* ---- Both loops ---- */

static void assert_same_run(const struct vote_world *world)
{
    struct vote_outcome cores;
    struct vote_outcome direct;
    uint64_t plays[2][ARMS] = {{0}};
    uint64_t out[2][ARMS] = {{0}};
    uint64_t each[2][128] = {{0}};
    uint64_t first[2][ARMS] = {{0}};
    uint64_t half[2][ARMS] = {{0}};
    uint64_t decided[2][128] = {{0}};
    uint64_t const points[3] = {100, 2000, 1u << 30};
    double regret[2][3];
    uint32_t winners[2][ARMS] = {{0}};
    uint32_t left[2][ARMS] = {{0}};
    struct vote_trace const by_cores = {plays[0], out[0],     each[0],    points,
                                        3,        regret[0],  winners[0], first[0],
                                        half[0],  decided[0], left[0]};
    struct vote_trace const by_direct = {plays[1], out[1],     each[1],    points,
                                         3,        regret[1],  winners[1], first[1],
                                         half[1],  decided[1], left[1]};
    assert_int_equal(vote_play_cores(world, &cores, &by_cores), TACIT_OK);
    assert_int_equal(vote_play_direct(world, &direct, &by_direct), TACIT_OK);
    assert_memory_equal(&cores, &direct, sizeof cores);
    assert_memory_equal(plays[0], plays[1], sizeof plays[0]);
    assert_memory_equal(out[0], out[1], sizeof out[0]);
    assert_memory_equal(each[0], each[1], sizeof each[0]);
    assert_memory_equal(first[0], first[1], sizeof first[0]);
    assert_memory_equal(half[0], half[1], sizeof half[0]);
    assert_memory_equal(decided[0], decided[1], sizeof decided[0]);
    for (uint32_t arm = 0; arm < ARMS; arm++)
        assert_true(first[0][arm] <= half[0][arm] || half[0][arm] == 0);
    assert_memory_equal(regret[0], regret[1], sizeof regret[0]);
    assert_memory_equal(winners[0], winners[1], sizeof winners[0]);
    assert_memory_equal(left[0], left[1], sizeof left[0]);
}

static void draw_world(struct vote_world *world, struct tacit_rng *rng)
{
    static const enum tacit_best_arm_kind kinds[4] = {
        TACIT_BEST_ARM_NAIVE, TACIT_BEST_ARM_SUCCESSIVE, TACIT_BEST_ARM_SER3, TACIT_BEST_ARM_SER4};
    world->subroutine.kind = kinds[tacit_rng_below(rng, 4)];
    world->subroutine.failure = 0.1 + 0.85 * tacit_rng_uniform(rng);
    world->subroutine.accuracy = 0.1 + 0.6 * tacit_rng_uniform(rng);
    world->votes_needed = 1 + (uint32_t)tacit_rng_below(rng, 12);
    world->sharing = tacit_rng_below(rng, 5) == 0 ? VOTE_SHARING_NONE : VOTE_SHARING_VOTES;
    world->drift = tacit_rng_below(rng, 3) == 0 ? -1e-4 : 0;
    world->drift_spare = tacit_rng_below(rng, 2) == 0 ? 0 : TACIT_NO_ARM;
    world->switch_every = tacit_rng_below(rng, 4) == 0 ? 700 : 0;
    world->group_count = tacit_rng_below(rng, 3) == 0 ? 2 : 0;
    world->groups = halves;
    world->horizon = 500 + tacit_rng_below(rng, 60000);
    world->reset_probability = 0;
    if (world->subroutine.kind == TACIT_BEST_ARM_SER4)
        world->reset_probability = 1e-3;
}

TEST(direct_loop_gives_the_bytes_of_the_cores)
{
    struct tacit_rng rng = tacit_rng_stream(8, 0, 0, TACIT_PURPOSE_INSTANCE);
    for (uint32_t trial = 0; trial < 300; trial++) {
        double means[10 * ARMS];
        struct tacit_env env = problem_env();
        env.means = means;
        env.kind = tacit_rng_below(&rng, 4) == 0 ? TACIT_ENV_CONSTANT : TACIT_ENV_BERNOULLI;
        uint32_t const players = 2 * (uint32_t)(1 + tacit_rng_below(&rng, 50));
        env.row_count = players <= 10 && tacit_rng_below(&rng, 2) == 0 ? players : 1;
        for (uint32_t i = 0; i < env.row_count * ARMS; i++)
            means[i] = env.kind == TACIT_ENV_CONSTANT ? 0.25 * (double)tacit_rng_below(&rng, 5)
                                                      : tacit_rng_uniform(&rng);
        struct vote_world world = problem(&env, 1, players, TACIT_BEST_ARM_SER3);
        uint64_t const committee[2] = {tacit_rng_next(&rng), tacit_rng_next(&rng)};
        world.run = trial;
        draw_world(&world, &rng);
        world.committee = tacit_rng_below(&rng, 4) == 0 ? committee : NULL;
        assert_same_run(&world);
    }
}

/* ---- The mean gap ---- */

/* As Assumption 4 is written down: a sum over the samples, one after the other. */
static double naive_gap(const struct vote_world *world, uint32_t best, uint64_t samples)
{
    double least = INFINITY;
    for (uint32_t arm = 0; arm < world->env->arm_count; arm++) {
        double sum = 0;
        for (uint64_t j = 0; j < samples; j++)
            sum += vote_mean(world, 0, best, j) - vote_mean(world, 0, arm, j);
        if (arm != best)
            least = fmin(least, sum / (double)samples);
    }
    return least;
}

TEST(mean_gap_is_the_average_over_all_samples)
{
    struct tacit_rng rng = tacit_rng_stream(31, 0, 0, TACIT_PURPOSE_INSTANCE);
    for (uint32_t trial = 0; trial < 300; trial++) {
        double means[ARMS];
        struct tacit_env env = problem_env();
        env.means = means;
        env.arm_count = 2 + (uint32_t)tacit_rng_below(&rng, ARMS - 1);
        for (uint32_t arm = 0; arm < ARMS; arm++)
            means[arm] = tacit_rng_uniform(&rng);
        struct vote_world world = problem(&env, 1, 1, TACIT_BEST_ARM_SER3);
        world.horizon = 20 * env.arm_count + tacit_rng_below(&rng, 1500);
        world.drift_spare = (uint32_t)tacit_rng_below(&rng, ARMS); /* may be none of them */
        if (trial % 3 == 0)
            world.drift = (tacit_rng_uniform(&rng) - 0.5) * 0.01;
        if (trial % 3 == 1)
            world.switch_every = 1 + tacit_rng_below(&rng, 200);
        uint32_t const best = vote_gap_arm(&world, vote_gap_start(&world, 0.9));
        uint64_t const samples = 1 + tacit_rng_below(&rng, world.horizon);
        assert_true(fabs(vote_mean_gap(&world, best, samples) - naive_gap(&world, best, samples)) <
                    1e-9);
        uint64_t const end = vote_gap_ends(&world, 0.9);
        if (end == 0)
            continue;
        assert_true(naive_gap(&world, best, end) <= 1e-12);
        if (end > vote_gap_start(&world, 0.9))
            assert_true(naive_gap(&world, best, end - 1) > 0);
    }
}

/* ---- The twin ---- */

enum { SAMPLES, SAMPLES_VOTE, MESSAGES, MEASURES };

static void measure_twin(uint32_t number, uint32_t players, enum tacit_best_arm_kind kind,
                         uint32_t runs, struct gof_spread spreads[MEASURES])
{
    struct vote_twin_setting setting = {.kind = tacit_best_arm_name(kind),
                                        .players = (int)players,
                                        .arms = (int)ARMS,
                                        .means = problem_means,
                                        .epsilon = 0.25,
                                        .failure = 0.9,
                                        .needed = 28,
                                        .groups = number == 2,
                                        .drift = number == 3 ? -1e-5 : 0};
    for (uint32_t run = 0; run < runs; run++) {
        setting.seed = 1000003u * (uint64_t)run + players;
        struct vote_twin_result const result = vote_twin_run(&setting);
        gof_add(&spreads[SAMPLES], result.samples);
        gof_add(&spreads[SAMPLES_VOTE], result.samples_vote);
        gof_add(&spreads[MESSAGES], result.messages);
    }
}

static void measure(uint32_t number, uint32_t players, enum tacit_best_arm_kind kind, uint32_t runs,
                    struct gof_spread spreads[MEASURES])
{
    struct tacit_env const env = problem_env();
    struct vote_world world = problem(&env, number, players, kind);
    for (world.run = 0; world.run < runs; world.run++) {
        struct vote_outcome outcome;
        assert_int_equal(vote_play(&world, &outcome, NULL), TACIT_OK);
        assert_true(outcome.messages <= 28u * ARMS - 1u);
        if (players >= 64 && kind != TACIT_BEST_ARM_MEDIAN) /* enough vote, each about one best */
            assert_int_equal(outcome.messages, 28u * (ARMS - 1u));
        gof_add(&spreads[SAMPLES], (double)outcome.samples);
        gof_add(&spreads[SAMPLES_VOTE], (double)outcome.samples_vote);
        gof_add(&spreads[MESSAGES], (double)outcome.messages);
    }
}

static void compare(uint32_t number, uint32_t players, enum tacit_best_arm_kind kind, uint32_t runs)
{
    static const char *const names[MEASURES] = {"samples", "samples_vote", "messages"};
    struct gof_spread ours[MEASURES] = {{0}};
    struct gof_spread twins[MEASURES] = {{0}};
    char name[64];
    measure(number, players, kind, runs, ours);
    measure_twin(number, players, kind, runs, twins);
    (void)snprintf(name, sizeof name, "problem %u, N = %u, %s", number, players,
                   tacit_best_arm_name(kind));
    assert_int_equal(gof_differences(name, names, MEASURES, ours, twins), 0);
}

TEST(ser3_agrees_with_the_twin)
{
    static const uint32_t players[4] = {2, 32, 64, 256};
    for (uint32_t number = 1; number <= 3; number++)
        for (uint32_t i = 0; i < 4; i++)
            compare(number, players[i], TACIT_BEST_ARM_SER3, 30);
}

TEST(ugapec_agrees_with_the_twin)
{
    static const uint32_t players[4] = {2, 32, 64, 256};
    uint32_t const count = effort_of(3, 4);
    for (uint32_t number = 1; number <= 3; number++)
        for (uint32_t i = 0; i < count; i++)
            compare(number, players[i], TACIT_BEST_ARM_UGAPEC, players[i] < 64 ? 16 : 6);
}

TEST(the_others_agree_with_the_twin)
{
    static const enum tacit_best_arm_kind kinds[] = {
        TACIT_BEST_ARM_NAIVE,     TACIT_BEST_ARM_MEDIAN, TACIT_BEST_ARM_SUCCESSIVE,
        TACIT_BEST_ARM_KL_RACING, TACIT_BEST_ARM_LUCB,   TACIT_BEST_ARM_KL_LUCB};
    for (uint32_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        bool const is_slow =
            kinds[i] == TACIT_BEST_ARM_MEDIAN || kinds[i] == TACIT_BEST_ARM_KL_LUCB;
        compare(1, 2, kinds[i], 8);
        compare(2, is_slow ? effort_of(8, 32) : 64, kinds[i], 5);
    }
}
