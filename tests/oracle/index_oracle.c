/* Learners that evaluate indices lazily and play in blocks, against a twin that computes every
 * index at every pull and plays one pull at a time: the same choices, on tapes of rewards and words
 * that both read. And KL-UCB's root against bisection. No chance: fixed seeds, nothing may differ.
 */
#include <math.h>
#include "../support/testing.h"
#include "tacit/arms.h"

#define TAPES 1000u
#define ARMS_MAX 40u
#define PULLS_MAX 6000u
#define SEED UINT64_C(2026)

enum rewards { BITS, STEPS, FRACTIONS, NORMALS, REWARD_KINDS };

struct tape {
    struct tacit_arms_config config;
    enum rewards rewards;
    uint32_t run;
    uint64_t pulls;
    double means[ARMS_MAX];
};

/* ---- Tapes ---- */

/* The reward of the n-th pull of an arm: the same for whoever asks. */
static union tacit_sum reward_at(const struct tape *tape, uint32_t arm, uint64_t n)
{
    struct tacit_rng rng = tacit_rng_stream(SEED + n, tape->run, arm, TACIT_PURPOSE_REWARD);
    double const mean = tape->means[arm];
    switch (tape->rewards) {
    case BITS:
        return (union tacit_sum){.real = tacit_rng_bernoulli(&rng, mean) ? 1 : 0};
    case STEPS:
        return (union tacit_sum){.steps = (int64_t)tacit_rng_below(&rng, TACIT_STEPS + 1)};
    case FRACTIONS: /* sums of eighths are exact in any order */
        return (union tacit_sum){.real = (double)tacit_rng_below(&rng, 9) / 8};
    case NORMALS:
        return (union tacit_sum){.real = mean + tacit_rng_normal(&rng)};
    case REWARD_KINDS:
        break;
    }
    abort();
}

static uint64_t word_at(const struct tape *tape, uint64_t t)
{
    struct tacit_rng rng = tacit_rng_stream(SEED + t, tape->run, 0, TACIT_PURPOSE_SELECTION);
    return tacit_rng_next(&rng);
}

static struct tape tape_of(enum tacit_arms_kind kind, uint32_t run)
{
    struct tacit_rng rng = tacit_rng_stream(SEED, run, (uint32_t)kind, TACIT_PURPOSE_INSTANCE);
    struct tape tape = {.run = run};
    bool const is_long = run % 50 == 0;
    uint32_t const arms = 1 + (uint32_t)tacit_rng_below(&rng, is_long ? ARMS_MAX : 12);
    tape.pulls = is_long ? PULLS_MAX : 1 + tacit_rng_below(&rng, 400);
    tape.rewards = (enum rewards)(run % REWARD_KINDS);
    tape.config = (struct tacit_arms_config){.kind = kind,
                                             .arm_count = arms,
                                             .horizon = tape.pulls,
                                             .scale = {.kind = TACIT_SCALE_REAL, .lo = 0, .hi = 1},
                                             .bounded = tape.rewards != NORMALS};
    if (tape.rewards == STEPS) {
        tape.config.scale.kind = TACIT_SCALE_STEPS;
        tape.config.bounded = false;
    }
    for (uint32_t arm = 0; arm < arms; arm++) /* some alike, some hopeless, some always 0 or 1 */
        tape.means[arm] = (double)tacit_rng_below(&rng, 11) / 10;
    return tape;
}

/* ---- The twin: stupid on purpose ---- */

struct twin {
    uint64_t n[ARMS_MAX];
    union tacit_sum sum[ARMS_MAX];
    uint64_t t;
};

static double twin_mean(const struct tape *tape, const struct twin *twin, uint32_t arm)
{
    if (tape->config.scale.kind == TACIT_SCALE_STEPS)
        return (double)twin->sum[arm].steps / ((double)twin->n[arm] * 1048576.0);
    return twin->sum[arm].real / (double)twin->n[arm];
}

static double twin_index(const struct tape *tape, const struct twin *twin, uint32_t arm)
{
    double const n = (double)twin->n[arm];
    double const t = (double)twin->t;
    if (twin->n[arm] == 0)
        return INFINITY;
    double const mean = twin_mean(tape, twin, arm);
    if (tape->config.kind == TACIT_ARMS_UCB1)
        return mean + sqrt(2 * log(t) / n);
    if (tape->config.kind == TACIT_ARMS_KL_UCB)
        return tacit_arms_kl_ucb(mean, twin->n[arm], twin->t);
    double const log_term = log((double)tape->config.horizon / (tape->config.arm_count * n));
    return mean + sqrt((log_term > 0 ? log_term : 0) / n);
}

static uint32_t twin_choose(const struct tape *tape, const struct twin *twin)
{
    if (tape->config.kind == TACIT_ARMS_UNIFORM) {
        struct tacit_rng rng = tacit_rng_stream(word_at(tape, twin->t), 0, 0, 0);
        return (uint32_t)tacit_rng_below(&rng, tape->config.arm_count);
    }
    uint32_t best = 0;
    double best_index = -INFINITY;
    for (uint32_t arm = 0; arm < tape->config.arm_count; arm++) {
        double const index = twin_index(tape, twin, arm);
        if (index > best_index) {
            best = arm;
            best_index = index;
        }
    }
    return best;
}

static void twin_take(const struct tape *tape, struct twin *twin, uint32_t arm)
{
    union tacit_sum const reward = reward_at(tape, arm, twin->n[arm]);
    bool const is_steps = tape->config.scale.kind == TACIT_SCALE_STEPS;
    if (is_steps)
        twin->sum[arm].steps += reward.steps;
    else
        twin->sum[arm].real += reward.real;
    twin->n[arm]++;
    twin->t++;
}

/* ---- Comparison ---- */

struct tally {
    uint64_t pulls;
    uint64_t blocks;
};

/* Gives the learner a part of its block, in one sum: that after n pulls of the arm. */
static void take_part(const struct tape *tape, struct tacit_arms *arms, uint32_t arm, uint64_t n,
                      uint64_t count)
{
    union tacit_sum sum = {0};
    for (uint64_t i = 0; i < count; i++)
        tacit_sum_add(&tape->config.scale, &sum, reward_at(tape, arm, n + i));
    tacit_arms_add(arms, arm, count, sum, 0);
}

static void compare(const struct tape *tape, struct tally *tally)
{
    struct twin twin = {0};
    struct tacit_arms *const arms = testing_malloc(tacit_arms_size(&tape->config));
    struct tacit_rng rng = tacit_rng_stream(SEED, tape->run, 0, TACIT_PURPOSE_FAULT);
    assert_int_equal(tacit_arms_init(arms, &tape->config), TACIT_OK);
    while (twin.t < tape->pulls) {
        struct tacit_pull_block const block =
            tacit_arms_next(arms, tape->pulls - twin.t, word_at(tape, twin.t));
        assert_true(block.count >= 1 && block.count <= tape->pulls - twin.t);
        uint64_t const n = twin.n[block.arm];
        for (uint64_t i = 0; i < block.count; i++) {
            assert_int_equal(twin_choose(tape, &twin), block.arm);
            twin_take(tape, &twin, block.arm);
        }
        uint64_t const first = 1 + tacit_rng_below(&rng, block.count);
        take_part(tape, arms, block.arm, n, first);
        if (block.count > first)
            take_part(tape, arms, block.arm, n + first, block.count - first);
        tally->pulls += block.count;
        tally->blocks++;
    }
}

static void compare_all(enum tacit_arms_kind kind, double pulls_per_block_min)
{
    struct tally tally = {0};
    for (uint32_t run = 0; run < TAPES; run++) {
        struct tape const tape = tape_of(kind, run);
        compare(&tape, &tally);
    }
    print_message("%.2f pulls a block\n", (double)tally.pulls / (double)tally.blocks);
    assert_true((double)tally.pulls >= pulls_per_block_min * (double)tally.blocks);
}

TEST(ucb1_chooses_as_its_twin_on_1000_tapes)
{
    compare_all(TACIT_ARMS_UCB1, 1.05);
}

TEST(kl_ucb_chooses_as_its_twin_on_1000_tapes)
{
    compare_all(TACIT_ARMS_KL_UCB, 1.1);
}

TEST(moss_chooses_as_its_twin_on_1000_tapes)
{
    compare_all(TACIT_ARMS_MOSS, 1.2);
}

TEST(uniform_chooses_as_its_twin_on_1000_tapes)
{
    compare_all(TACIT_ARMS_UNIFORM, 1);
}

/* ---- KL-UCB's root ---- */

static double bisected(double p, uint64_t n, uint64_t t)
{
    double low = p;
    double high = 1;
    for (int i = 0; i < 200; i++) {
        double const q = (low + high) / 2;
        if ((double)n * tacit_arms_kl(p, q) <= log((double)t))
            low = q;
        else
            high = q;
    }
    return low;
}

TEST(kl_ucb_is_the_root_that_bisection_finds)
{
    struct tacit_rng rng = tacit_rng_stream(SEED, 0, 0, TACIT_PURPOSE_INSTANCE);
    for (int i = 0; i < 50000; i++) {
        uint64_t const n = UINT64_C(1) + (tacit_rng_next(&rng) >> (36 + tacit_rng_below(&rng, 28)));
        uint64_t const t = n + (tacit_rng_next(&rng) >> (30 + tacit_rng_below(&rng, 34)));
        uint64_t const s = tacit_rng_below(&rng, n + 1);
        double const p = (double)s / (double)n;
        double const expected = bisected(p, n, t);
        double const q = tacit_arms_kl_ucb(p, n, t);
        if (!(fabs(q - expected) <= 1e-12))
            print_error("n %g t %g p %.17g: %.17g, expected %.17g\n", (double)n, (double)t, p, q,
                        expected);
        assert_true(fabs(q - expected) <= 1e-12);
        assert_true(q >= p && q <= 1);
    }
}
