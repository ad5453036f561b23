/* Thompson sampling by a threshold against its naive twin, which draws for every arm and takes the
 * largest: do two samples of choices come from one law, whatever the posteriors, and whatever the
 * threshold? False alarms: 361 comparisons at alpha = 1e-8 each. */
#include <math.h>
#include "../support/testing.h"
#include "../../src/arms/thompson.h"
#include "../support/gof.h"

#define ALPHA 1e-8
#define CHOICES 4000u
#define ARMS_MAX 40u
#define LEAVES_MAX 64u

struct posteriors {
    uint32_t arm_count;
    uint64_t pulls[ARMS_MAX];
    union tacit_sum sums[ARMS_MAX];
};

/* Some arms were never pulled, some always or never succeeded, some were pulled very often. */
static struct posteriors draw_posteriors(uint32_t run)
{
    struct tacit_rng rng = tacit_rng_stream(2026, run, 0, TACIT_PURPOSE_INSTANCE);
    struct posteriors drawn = {.arm_count = 1 + (uint32_t)tacit_rng_below(&rng, ARMS_MAX)};
    double const level = tacit_rng_uniform(&rng);
    unsigned const bits = 1 + (unsigned)tacit_rng_below(&rng, 40);
    for (uint32_t arm = 0; arm < drawn.arm_count; arm++) {
        uint64_t const n = tacit_rng_next(&rng) >> (64 - tacit_rng_below(&rng, bits) - 1);
        double const spread = 1 / sqrt((double)n + 1);
        double const p = level + spread * (tacit_rng_uniform(&rng) - 0.5);
        uint64_t const kind = tacit_rng_below(&rng, 8);
        uint64_t const s = tacit_rng_binomial(&rng, n, p > 0 ? (p < 1 ? p : 1) : 0);
        drawn.pulls[arm] = n;
        drawn.sums[arm].real = (double)(kind == 0 ? 0 : (kind == 1 ? n : s));
    }
    return drawn;
}

/* Stupid on purpose. */
static uint32_t choose_naively(const struct posteriors *posteriors, struct tacit_rng *rng)
{
    uint32_t best = 0;
    double largest = -1;
    for (uint32_t arm = 0; arm < posteriors->arm_count; arm++) {
        double const s = posteriors->sums[arm].real;
        double const draw = tacit_rng_beta(rng, 1 + s, 1 + (double)posteriors->pulls[arm] - s);
        if (draw > largest) {
            best = arm;
            largest = draw;
        }
    }
    return best;
}

/* The p-value for "both choose by one law"; threshold 0: its own. */
static double compare(uint32_t run, double threshold, const struct posteriors *clever,
                      const struct posteriors *naive)
{
    double weights[2 * LEAVES_MAX] = {0};
    struct thompson race = {.arm_count = clever->arm_count,
                            .leaves = LEAVES_MAX,
                            .is_real = true,
                            .pulls = clever->pulls,
                            .sums = clever->sums,
                            .weights = weights};
    race.threshold = threshold > 0 ? threshold : thompson_threshold(&race, 0.5);
    thompson_rebuild(&race);
    uint64_t counts[ARMS_MAX] = {0};
    uint64_t naive_counts[ARMS_MAX] = {0};
    for (uint32_t i = 0; i < CHOICES; i++) {
        struct tacit_rng first = tacit_rng_stream(2027, run, i, TACIT_PURPOSE_SELECTION);
        struct tacit_rng second = tacit_rng_stream(2028, run, i, TACIT_PURPOSE_SELECTION);
        counts[thompson_choose(&race, &first)]++;
        naive_counts[choose_naively(naive, &second)]++;
    }
    return gof_two_sample_p(counts, naive_counts, clever->arm_count);
}

static void assert_one_law(uint32_t run, double threshold, const struct posteriors *posteriors)
{
    double const p_value = compare(run, threshold, posteriors, posteriors);
    if (p_value < ALPHA)
        print_error("posteriors %u, threshold %g: p-value %g\n", run, threshold, p_value);
    assert_true(p_value >= ALPHA);
}

TEST(choices_have_the_law_of_a_draw_for_every_arm)
{
    for (uint32_t run = 0; run < 60; run++) {
        struct posteriors const posteriors = draw_posteriors(run);
        assert_one_law(run, 0, &posteriors);
    }
}

TEST(the_law_does_not_depend_on_the_threshold)
{
    double const thresholds[] = {1e-6, 0.1, 0.35, 0.6, 0.9, 0.999};
    for (uint32_t run = 100; run < 150; run++) {
        struct posteriors const posteriors = draw_posteriors(run);
        for (size_t i = 0; i < sizeof thresholds / sizeof thresholds[0]; i++)
            assert_one_law(run, thresholds[i], &posteriors);
    }
}

TEST(one_more_success_is_noticed)
{
    struct posteriors few = {.arm_count = 3, .pulls = {8, 8, 8}};
    for (uint32_t arm = 0; arm < few.arm_count; arm++)
        few.sums[arm].real = 5;
    struct posteriors more = few;
    more.sums[2].real = 6;
    assert_true(compare(1000, 0, &few, &more) < ALPHA);
}
