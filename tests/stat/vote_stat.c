/* The refuter on whole transcripts of a player: what leaves it, and when. Private votes and
 * published sums stay within their claim of 1 per reward; mutants (a vote from raw sums, off the
 * tick, redrawn, from a partial epoch) do not. And how often published sums end with an arm that is
 * worse than epsilon.
 *
 * False alarms: a true claim is refuted with chance 1e-3 at most per audit. Seeds are fixed. */
#include "../support/testing.h"
#include <math.h>
#include "../../src/families/vote/play.h"
#include "../support/audit.h"
#include "../support/effort.h"
#include "tacit/bounds.h"

#define ARMS 2u
#define EPSILON 1.0
#define TICK_US 4096u
#define ACCURACY 0.1
#define ETA 0.5
#define EPOCHS 2u
#define FILLS_MAX 15u
#define SEED UINT64_C(20261122)

/* ---- A player whose rewards are fixed -------------------------------------------------------- */

enum bug {
    NO_BUG,
    RAW,      /* votes come from sums without noise */
    OFF_TICK, /* a vote leaves as soon as it is known */
    REDRAWN,  /* an old copy of the state draws once more, and is granted once more */
    PARTIAL   /* half an epoch stands for the whole */
};

struct votes {
    enum bug bug;
    double distance; /* how far below the threshold the data are, in rewards, in world 0 */
    int64_t threshold;
    struct tacit_vote_noised_config config;
    size_t size;
    uint64_t pulls; /* of an arm in the first epoch */
};

struct run {
    const struct votes *votes;
    struct tacit_rng *rng;
    uint64_t now_us;
    uint32_t fills;
    struct tacit_vote_board *board;
    struct tacit_vote_noised *player;
};

/* The clock of this site goes by what its sampler takes: one microsecond a fill. */
static enum tacit_status fill(void *context, void *bytes, size_t size)
{
    struct run *const run = context;
    struct tacit_entropy const entropy = tacit_rng_entropy(run->rng);
    run->fills++;
    return entropy.fill(entropy.context, bytes, size);
}

static struct tacit_vote_noised_update step(struct run *run, struct tacit_vote_event event)
{
    struct tacit_entropy const entropy = {.fill = fill, .context = run};
    struct tacit_vote_noised_update update;
    event.now_us = run->now_us;
    assert_int_equal(tacit_vote_noised_step(run->player, run->board, &event, &entropy, &update),
                     TACIT_OK);
    return update;
}

static struct tacit_vote_noised_update reward(struct run *run, uint32_t arm, uint64_t count,
                                              int64_t steps)
{
    return step(run, (struct tacit_vote_event){.kind = TACIT_EVENT_REWARD,
                                               .as.reward = {arm, count, {.steps = steps}}});
}

/* The draw is granted; what has been dropped then. */
static uint64_t grant(struct run *run, struct tacit_vote_noised_update *update)
{
    assert_true(update->commit);
    run->now_us += run->fills;
    *update = step(
        run, (struct tacit_vote_event){.kind = TACIT_EVENT_RECEIVE, .as.granted = update->draw});
    struct tacit_vote_noised_view view;
    tacit_vote_noised_view(run->player, &view);
    return view.dropped[0];
}

/* Arm 1 has as many rewards of 1 as rewards of 0 in each epoch; arm 0 has `threshold` steps less
 * `distance` rewards in the first epoch, one reward more in world 1. */
static int64_t first_sum(const struct votes *votes, int world)
{
    double const less = votes->bug == RAW ? 0.5 : votes->distance;
    return votes->threshold - (int64_t)(less * TACIT_STEPS) + (world == 1 ? TACIT_STEPS : 0);
}

static uint64_t play_first(struct run *run, int world, struct tacit_vote_noised_update *update)
{
    struct votes const *const votes = run->votes;
    uint64_t const pulls = votes->pulls;
    int64_t const middle = (int64_t)(pulls / 2) * TACIT_STEPS;
    int64_t sum = first_sum(votes, world);
    reward(run, 1, pulls, middle);
    if (votes->bug == PARTIAL) /* the other half is taken to be as this one, the reward in it */
        sum = 2 * (sum - votes->threshold) + votes->threshold;
    *update = reward(run, 0, pulls, sum);
    return grant(run, update);
}

static void open_run(struct run *run, const struct votes *votes, struct tacit_rng *rng)
{
    struct tacit_vote_board_config const board = {
        .player_count = 1, .arm_count = ARMS, .votes_needed = 2};
    *run = (struct run){.votes = votes, .rng = rng};
    run->board = malloc(tacit_vote_board_size(&board));
    run->player = malloc(votes->size);
    assert_int_equal(tacit_vote_board_init(run->board, &board), TACIT_OK);
    assert_int_equal(tacit_vote_noised_init(run->player, &votes->config), TACIT_OK);
    (void)step(run, (struct tacit_vote_event){.kind = TACIT_EVENT_START});
}

static void close_run(struct run *run)
{
    free(run->board);
    free(run->player);
}

/* When the vote leaves, and that it says what was dropped. */
static uint64_t vote_time(struct run *run, struct tacit_vote_noised_update *update)
{
    run->now_us = update->deadline_us;
    *update = step(run, (struct tacit_vote_event){.kind = TACIT_EVENT_TIMEOUT});
    assert_true(update->send);
    return run->now_us;
}

/* The transcript: what is dropped in each epoch and when it is said; of a redraw both votes. */
static void release_votes(const void *context, int world, struct tacit_rng *rng,
                          struct audit_release *release)
{
    struct votes const *const votes = context;
    struct run run;
    struct tacit_vote_noised_update update;
    memset(release, 0, sizeof *release);
    open_run(&run, votes, rng);
    release->value[0].steps = (int64_t)play_first(&run, world, &update);
    if (release->value[0].steps != 0)
        release->value[2].steps = (int64_t)vote_time(&run, &update);
    struct tacit_vote_noised_view view;
    tacit_vote_noised_view(run.player, &view);
    if (!view.decided && votes->bug == NO_BUG) { /* the second epoch, of other rewards */
        int64_t const middle = (int64_t)(votes->pulls / 2) * TACIT_STEPS;
        reward(&run, 1, votes->pulls, middle);
        update = reward(&run, 0, votes->pulls, votes->threshold);
        release->value[1].steps = (int64_t)grant(&run, &update);
    }
    close_run(&run);
    if (votes->bug != REDRAWN)
        return;
    open_run(&run, votes, rng);
    release->value[1].steps = (int64_t)play_first(&run, world, &update);
    close_run(&run);
}

/* Event number: what was dropped first (0, 1, 2), then (0, 1, 2), and when it was said. */
static bool votes_happen(const void *context, uint32_t event, const struct audit_release *release)
{
    (void)context;
    uint64_t const late = (uint64_t)release->value[2].steps;
    uint64_t const when = late > FILLS_MAX ? FILLS_MAX : late;
    return (uint64_t)release->value[0].steps == event % 3 &&
           (uint64_t)release->value[1].steps == event / 3 % 3 && when == event / 9;
}

/* The smallest sum of arm 0 that has arm 1 dropped in the first epoch, without noise. */
static int64_t find_threshold(struct votes *votes)
{
    struct tacit_bounds_sum one = {
        .pulls = votes->pulls, .noises = 1, .steps = (int64_t)(votes->pulls / 2) * TACIT_STEPS};
    struct tacit_bounds_sum zero = one;
    double const epsilon = votes->bug == RAW ? (double)INFINITY : EPSILON;
    double const level = tacit_bounds_level(ARMS, 1, ETA);
    double const upper = tacit_bounds_upper(&one, epsilon, level);
    int64_t low = 0;
    int64_t high = (int64_t)votes->pulls * TACIT_STEPS;
    while (high - low > 1) {
        zero.steps = low + (high - low) / 2;
        if (upper <= tacit_bounds_lower(&zero, epsilon, level) + ACCURACY)
            high = zero.steps;
        else
            low = zero.steps;
    }
    assert_true(high < (int64_t)(votes->pulls - 2) * TACIT_STEPS);
    assert_true(high > (int64_t)(votes->pulls / 2 + 2) * TACIT_STEPS);
    return high;
}

static struct votes votes_of(enum bug bug, double distance)
{
    double const epsilon = bug == RAW ? (double)INFINITY : EPSILON;
    struct tacit_mechanism_config const mechanism = {TACIT_PRIVACY_SOUND, epsilon, 0, 1};
    struct votes votes = {.bug = bug, .distance = distance};
    votes.config = (struct tacit_vote_noised_config){.player_count = 1,
                                                     .arm_count = ARMS,
                                                     .accuracy = ACCURACY,
                                                     .failure = ETA,
                                                     .growth = 2,
                                                     .budget_nano = UINT64_C(1000000000),
                                                     .tick_us = bug == OFF_TICK ? 1 : TICK_US};
    assert_int_equal(tacit_mechanism_init(&votes.config.mechanism, &mechanism), TACIT_OK);
    votes.size = tacit_vote_noised_size(&votes.config);
    votes.pulls = tacit_bounds_first_rung(1, epsilon, log(4.0 * ARMS / ETA), 0.25);
    votes.threshold = find_threshold(&votes);
    return votes;
}

static struct audit_finding audit_votes(const struct votes *votes, const char *name)
{
    struct audit const audit = {.release = release_votes,
                                .context = votes,
                                .seed = SEED,
                                .release_count = 24000 * effort_of(1, 8)};
    struct audit_finding const finding = audit_by_events(&audit, votes_happen, 9 * (FILLS_MAX + 1));
    print_message("%-40s claimed 1  proven eps >= %.3f\n", name, finding.epsilon_lower);
    return finding;
}

TEST(private_votes_stay_within_their_claim)
{
    struct votes const votes = votes_of(NO_BUG, 2.5);
    struct audit_finding const finding = audit_votes(&votes, "private votes");
    assert_true(finding.epsilon_lower <= EPSILON);
    assert_true(finding.epsilon_lower >= 0.5 * EPSILON); /* else the audit sees nothing */
}

TEST(votes_of_mutants_are_refuted)
{
    struct votes const raw = votes_of(RAW, 0);
    assert_true(audit_votes(&raw, "mutant: raw sums").epsilon_lower > 3);
    struct votes const redrawn = votes_of(REDRAWN, 2);
    assert_true(audit_votes(&redrawn, "mutant: redrawn").epsilon_lower > EPSILON);
    struct votes const partial = votes_of(PARTIAL, 2);
    assert_true(audit_votes(&partial, "mutant: partial epoch").epsilon_lower > EPSILON);
    struct votes const off_tick = votes_of(OFF_TICK, 2);
    assert_true(audit_votes(&off_tick, "mutant: off the tick").epsilon_lower > EPSILON);
}

/* ---- Published sums -------------------------------------------------------------------------- */

struct sums {
    bool is_redrawn;
    struct tacit_vote_noised_config config;
    struct tacit_vote_pool *pool;
    size_t size;
};

#define BLOCK 8u

static void publish(const struct sums *sums, int world, struct tacit_rng *rng,
                    struct audit_release *release, uint32_t blocks)
{
    struct tacit_entropy const entropy = tacit_rng_entropy(rng);
    struct tacit_vote_noised *const player = malloc(sums->size);
    struct tacit_vote_noised_update update;
    struct tacit_vote_event event = {.kind = TACIT_EVENT_START};
    struct tacit_vote_pool_view view;
    tacit_vote_pool_view(sums->pool, &view);
    assert_int_equal(tacit_vote_noised_init(player, &sums->config), TACIT_OK);
    assert_int_equal(tacit_vote_noised_step(player, NULL, &event, &entropy, &update), TACIT_OK);
    for (uint32_t block = 0; block < blocks; block++) {
        for (uint32_t arm = 0; arm < ARMS; arm++) { /* the reward of world 1 is the first of all */
            int64_t const one = block == 0 && arm == 0 && world == 1 ? TACIT_STEPS : 0;
            event = (struct tacit_vote_event){
                .now_us = event.now_us,
                .kind = TACIT_EVENT_REWARD,
                .as.reward = {arm, BLOCK, {.steps = one + 3 * TACIT_STEPS}}};
            assert_int_equal(tacit_vote_noised_step(player, NULL, &event, &entropy, &update),
                             TACIT_OK);
        }
        event.kind = TACIT_EVENT_RECEIVE;
        event.as.granted = update.draw;
        assert_int_equal(tacit_vote_noised_step(player, NULL, &event, &entropy, &update), TACIT_OK);
        event =
            (struct tacit_vote_event){.now_us = update.deadline_us, .kind = TACIT_EVENT_TIMEOUT};
        assert_int_equal(tacit_vote_noised_step(player, NULL, &event, &entropy, &update), TACIT_OK);
        assert_true(update.send);
        for (uint32_t arm = 0; arm < ARMS; arm++)
            release->value[ARMS * block + arm].steps = update.release.sums[arm];
        event = (struct tacit_vote_event){.now_us = event.now_us,
                                          .kind = TACIT_EVENT_OFFER,
                                          .as.standing = {view.active, block + 1}};
        assert_int_equal(tacit_vote_noised_step(player, NULL, &event, &entropy, &update), TACIT_OK);
    }
    free(player);
}

static void release_sums(const void *context, int world, struct tacit_rng *rng,
                         struct audit_release *release)
{
    struct sums const *const sums = context;
    struct audit_release second;
    publish(sums, world, rng, release, sums->is_redrawn ? 1 : 2);
    if (!sums->is_redrawn)
        return;
    publish(sums, world, rng, &second, 1);
    memcpy(release->value + ARMS, second.value, ARMS * sizeof second.value[0]);
}

/* ln of the ratio of the two worlds' likelihoods; the redraw has the reward in both halves. */
static double score_sums(const void *context, const struct audit_release *release)
{
    struct sums const *const sums = context;
    double score = 0;
    for (uint32_t i = 0; i < (sums->is_redrawn ? 2 * ARMS : 1); i += ARMS)
        score += (double)(llabs(release->value[i].steps - 3 * TACIT_STEPS) -
                          llabs(release->value[i].steps - 4 * TACIT_STEPS)) /
                 TACIT_STEPS;
    return score;
}

static double audit_sums(bool is_redrawn)
{
    struct tacit_mechanism_config const mechanism = {TACIT_PRIVACY_SOUND, EPSILON, 0, 1};
    struct tacit_vote_pool_config const pool = {.player_count = 1,
                                                .arm_count = ARMS,
                                                .accuracy = 0.1,
                                                .failure = 0.05,
                                                .epsilon = EPSILON,
                                                .block = BLOCK,
                                                .growth = 2};
    struct sums sums = {.is_redrawn = is_redrawn};
    sums.config = (struct tacit_vote_noised_config){.player_count = 1,
                                                    .arm_count = ARMS,
                                                    .block = BLOCK,
                                                    .budget_nano = UINT64_C(1000000000),
                                                    .tick_us = TICK_US};
    assert_int_equal(tacit_mechanism_init(&sums.config.mechanism, &mechanism), TACIT_OK);
    sums.size = tacit_vote_noised_size(&sums.config);
    sums.pool = malloc(tacit_vote_pool_size(&pool));
    assert_int_equal(tacit_vote_pool_init(sums.pool, &pool), TACIT_OK);
    struct audit const audit = {.release = release_sums,
                                .context = &sums,
                                .seed = SEED,
                                .release_count = AUDIT_RELEASES * effort_of(1, 8)};
    struct audit_finding const finding = audit_by_score(&audit, score_sums);
    print_message("%-40s claimed 1  proven eps >= %.3f\n",
                  is_redrawn ? "mutant: sums, redrawn" : "published sums", finding.epsilon_lower);
    free(sums.pool);
    return finding.epsilon_lower;
}

TEST(published_sums_stay_within_their_claim_and_a_redraw_does_not)
{
    double const lower = audit_sums(false);
    assert_true(lower <= EPSILON);
    assert_true(lower >= 0.9 * EPSILON);
    assert_true(audit_sums(true) > 1.8 * EPSILON);
}

/* ---- How often sums are wrong ---------------------------------------------------------------- */

/* Of `runs`, those that end with an arm that is worse than the accuracy. */
static uint32_t wrong_runs(uint32_t runs, double delta, const struct tacit_mechanism *mechanism,
                           const double *means, uint64_t block)
{
    struct tacit_env const env = {
        .kind = TACIT_ENV_BERNOULLI, .row_count = 1, .arm_count = 3, .means = means};
    struct vote_world world = {.seed = 5,
                               .player_count = 6,
                               .horizon = UINT64_C(1) << 30,
                               .env = &env,
                               .drift_spare = TACIT_NO_ARM,
                               .sharing = VOTE_SHARING_SUMS,
                               .subroutine = {.arm_count = 3, .accuracy = 0.1, .failure = delta},
                               .block = block,
                               .mechanism = mechanism};
    uint32_t wrong = 0;
    for (world.run = 0; world.run < runs; world.run++) {
        struct vote_outcome outcome;
        assert_int_equal(vote_play(&world, &outcome, NULL), TACIT_OK);
        assert_true(outcome.ended);
        wrong += outcome.near_share < 1 ? 1u : 0u;
    }
    return wrong;
}

/* Two arms are 0.12 below the best, with an accuracy of 0.1. A program whose failure is just delta
 * would be above the line with chance 1e-4. The mutant judges as if there were no noise. */
TEST(published_sums_fail_with_chance_delta_at_most)
{
    double const means[3] = {0.5, 0.38, 0.38};
    uint32_t const runs = 300 * effort_of(1, 8);
    double const delta = 0.05;
    struct tacit_mechanism_config const noisy = {TACIT_PRIVACY_SOUND, 0.25, 0, 1};
    struct tacit_mechanism mechanism;
    assert_int_equal(tacit_mechanism_init(&mechanism, &noisy), TACIT_OK);
    uint32_t const wrong = wrong_runs(runs, delta, &mechanism, means, 8);
    assert_true(wrong <= runs * delta + 3.7 * sqrt(runs * delta * (1 - delta)));
    struct tacit_mechanism blind = mechanism; /* noise of epsilon 0.25, bounds for 25 */
    blind.epsilon_nano *= 100;
    uint32_t const of_mutant = wrong_runs(runs, delta, &blind, means, 8);
    print_message("wrong: %u, of a pool that ignores the noise %u, of %u; allowed %g\n", wrong,
                  of_mutant, runs, runs * delta);
    assert_true(of_mutant > runs * delta + 3.7 * sqrt(runs * delta * (1 - delta)));
}
