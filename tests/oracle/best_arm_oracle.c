/* Best-arm subroutines against the naive twin: identical choices, sets and drops in 10,000 random
 * small cases with votes in between; the same comparison must see planted bugs in each radius. And
 * the error rate of each is at most its confidence (exact arithmetic on fixed seeds: no false
 * alarm on a correct program beyond what the radii themselves allow). */
#include "../support/testing.h"
#include "../support/effort.h"
#include "tacit/best_arm.h"
#include "best_arm_twin.h"

#define CASES 10000u
#define ARMS_MAX 8u
#define ERROR_RUNS 2000u
#define PURPOSE TACIT_PURPOSE_REWARD

struct both {
    struct tacit_best_arm *state;
    struct best_twin twin;
    struct tacit_rng chance; /* the subroutine's */
    struct tacit_rng twin_chance;
    uint32_t arms;
};

static void shuffle(void *context, int count, int *arms)
{
    struct tacit_entropy const entropy = tacit_rng_entropy(context);
    uint32_t items[BEST_TWIN_ARMS_MAX];
    for (int i = 0; i < count; i++)
        items[i] = (uint32_t)arms[i];
    assert_int_equal(tacit_entropy_shuffle(&entropy, (uint32_t)count, items), TACIT_OK);
    for (int i = 0; i < count; i++)
        arms[i] = (int)items[i];
}

static bool same_sets(const struct both *both)
{
    struct tacit_best_arm_view view;
    tacit_best_arm_view(both->state, &view);
    for (uint32_t k = 0; k < both->arms; k++)
        if (tacit_bits_has(view.remaining, k) != both->twin.in[k] ||
            tacit_bits_has(view.dropped, k) != both->twin.dropped[k])
            return false;
    return view.answer == (uint32_t)best_twin_answer(&both->twin);
}

static void vote_some_out(struct both *both, struct tacit_rng *rng)
{
    uint64_t allowed = 0;
    bool list[BEST_TWIN_ARMS_MAX] = {false};
    for (uint32_t k = 0; k < both->arms; k++)
        if ((list[k] = tacit_rng_below(rng, 4) > 0))
            tacit_bits_add(&allowed, k);
    if (allowed == 0)
        return;
    tacit_best_arm_restrict(both->state, &allowed);
    best_twin_allow(&both->twin, list);
}

static double draw_reward(struct tacit_rng *rng, uint32_t law, double mean)
{
    if (law == 0)
        return tacit_rng_bernoulli(rng, mean) ? 1.0 : 0.0;
    if (law == 1)
        return mean * tacit_rng_uniform(rng);
    return mean > 0.5 ? 1.0 : 0.25; /* constant, with many ties */
}

static bool play_one(struct both *both, struct tacit_rng *rng, uint32_t law, const double *means)
{
    struct tacit_entropy const entropy = tacit_rng_entropy(&both->chance);
    uint32_t arm;
    assert_int_equal(tacit_best_arm_next(both->state, &entropy, &arm), TACIT_OK);
    if ((int)arm != best_twin_next(&both->twin, shuffle, &both->twin_chance))
        return false;
    if (tacit_rng_below(rng, 60) == 0) { /* a vote between choice and reward may take the arm */
        vote_some_out(both, rng);
        uint32_t again;
        assert_int_equal(tacit_best_arm_next(both->state, &entropy, &again), TACIT_OK);
        if ((int)again != best_twin_next(&both->twin, shuffle, &both->twin_chance))
            return false;
        arm = again;
    }
    double const reward = draw_reward(rng, law, means[arm]);
    assert_int_equal(tacit_best_arm_observe(both->state, arm, reward), TACIT_OK);
    best_twin_observe(&both->twin, reward);
    return same_sets(both);
}

/* Result: were the two alike in everything? */
static bool play_case(enum tacit_best_arm_kind kind, uint32_t number, double factor,
                      bool without_log)
{
    struct tacit_rng rng = tacit_rng_stream(5, number, (uint32_t)kind, PURPOSE);
    struct both both = {.arms = 1 + (uint32_t)tacit_rng_below(&rng, ARMS_MAX)};
    struct tacit_best_arm_config const config = {.kind = kind,
                                                 .arm_count = both.arms,
                                                 .accuracy = 0.3 + 0.7 * tacit_rng_uniform(&rng),
                                                 .failure = 0.02 + 0.95 * tacit_rng_uniform(&rng)};
    both.state = malloc(tacit_best_arm_size(&config));
    assert_int_equal(tacit_best_arm_init(both.state, &config), TACIT_OK);
    best_twin_start(&both.twin, tacit_best_arm_name(kind), (int)both.arms, config.accuracy,
                    config.failure);
    both.twin.radius_factor = factor;
    both.twin.without_log = without_log;
    both.chance = tacit_rng_stream(6, number, 0, PURPOSE);
    both.twin_chance = both.chance;
    double means[ARMS_MAX];
    for (uint32_t k = 0; k < both.arms; k++)
        means[k] = tacit_rng_uniform(&rng);
    uint32_t const law = (uint32_t)tacit_rng_below(&rng, 3);
    bool const has_votes = tacit_rng_below(&rng, 2) == 0;
    bool is_same = true;
    for (uint32_t step = 0; is_same && step < 600 && (has_votes || step < 400); step++) {
        if (has_votes && tacit_rng_below(&rng, 80) == 0)
            vote_some_out(&both, &rng);
        is_same = play_one(&both, &rng, law, means);
    }
    free(both.state);
    return is_same;
}

TEST(choices_are_those_of_the_twin)
{
    uint32_t const cases = effort_of(CASES, CASES * TACIT_BEST_ARM_KINDS); /* in all; of each */
    for (uint32_t number = 0; number < cases; number++) {
        enum tacit_best_arm_kind const kind =
            (enum tacit_best_arm_kind)(number % TACIT_BEST_ARM_KINDS);
        if (!play_case(kind, number, 1.0, false))
            fail_msg("%s differs from the twin in case %u", tacit_best_arm_name(kind), number);
    }
}

/* A twin with half the radius, or with a logarithm without its time, is told from the code. */
TEST(comparison_sees_planted_bugs_in_each_radius)
{
    for (uint32_t kind = 0; kind < TACIT_BEST_ARM_KINDS; kind++) {
        bool half = false;
        bool log_free = kind == TACIT_BEST_ARM_NAIVE; /* its logarithm has no time */
        for (uint32_t i = 0; i < 100 && !(half && log_free); i++) {
            uint32_t const number = i * TACIT_BEST_ARM_KINDS + kind;
            half = half || !play_case((enum tacit_best_arm_kind)kind, number, 0.5, false);
            log_free = log_free || !play_case((enum tacit_best_arm_kind)kind, number, 1.0, true);
        }
        assert_true(half);
        assert_true(log_free);
    }
}

/* ---- Error rate ---- */

static bool run_is_wrong(const struct tacit_best_arm_config *config, const double *means,
                         uint32_t run, struct tacit_best_arm *memory)
{
    struct tacit_rng rng = tacit_rng_stream(9, run, (uint32_t)config->kind, PURPOSE);
    struct tacit_entropy const entropy = tacit_rng_entropy(&rng);
    assert_int_equal(tacit_best_arm_init(memory, config), TACIT_OK);
    struct tacit_best_arm_view view;
    for (;;) {
        tacit_best_arm_view(memory, &view);
        if (view.decided)
            break;
        uint32_t arm;
        assert_int_equal(tacit_best_arm_next(memory, &entropy, &arm), TACIT_OK);
        double const reward = tacit_rng_bernoulli(&rng, means[arm]) ? 1.0 : 0.0;
        assert_int_equal(tacit_best_arm_observe(memory, arm, reward), TACIT_OK);
    }
    assert_true(view.failure_spent <= config->failure * (1 + 1e-12));
    return means[view.answer] < means[0] - config->accuracy;
}

TEST(error_rate_is_at_most_the_confidence)
{
    double const means[3] = {0.55, 0.2, 0.24}; /* gaps just above epsilon = 0.3 */
    for (uint32_t kind = 0; kind < TACIT_BEST_ARM_KINDS; kind++) {
        struct tacit_best_arm_config const config = {.kind = (enum tacit_best_arm_kind)kind,
                                                     .arm_count = 3,
                                                     .accuracy = 0.3,
                                                     .failure = 0.1};
        struct tacit_best_arm *const memory = malloc(tacit_best_arm_size(&config));
        uint32_t wrong = 0;
        for (uint32_t run = 0; run < ERROR_RUNS; run++)
            wrong += run_is_wrong(&config, means, run, memory);
        free(memory);
        assert_true((double)wrong <= config.failure * ERROR_RUNS);
    }
}
