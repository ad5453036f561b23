/* The clever binomial against its naive twin, which adds up n coin flips: do two samples come from
 * one law? Covers inversion, transformed rejection, both sides of their border, and p above 1/2.
 * False alarms: 84 comparisons at alpha = 1e-8 each; fewer than one change of seed in a million
 * sets one off. */
#include "../support/testing.h"
#include "../support/gof.h"
#include "tacit/random.h"

#define ALPHA 1e-8
#define DRAWS 50000u
#define TRIALS_MAX 200u

/* Stupid on purpose. */
static uint64_t flip_coins(struct tacit_rng *rng, uint64_t n, double p)
{
    uint64_t heads = 0;
    for (uint64_t i = 0; i < n; i++)
        heads += tacit_rng_bernoulli(rng, p) ? 1u : 0u;
    return heads;
}

/* The p-value for "binomial(n, p_clever) and the sum of n flips at p_naive have one law". */
static double compare(uint32_t run, uint64_t n, double p_clever, double p_naive)
{
    struct tacit_rng clever = tacit_rng_stream(2011, run, 1, TACIT_PURPOSE_REWARD);
    struct tacit_rng naive = tacit_rng_stream(2011, run, 2, TACIT_PURPOSE_REWARD);
    uint64_t clever_counts[TRIALS_MAX + 1] = {0};
    uint64_t naive_counts[TRIALS_MAX + 1] = {0};
    for (uint32_t i = 0; i < DRAWS; i++) {
        clever_counts[tacit_rng_binomial(&clever, n, p_clever)]++;
        naive_counts[flip_coins(&naive, n, p_naive)]++;
    }
    return gof_two_sample_p(clever_counts, naive_counts, n + 1);
}

TEST(binomial_and_sum_of_bernoullis_have_one_law)
{
    uint64_t const ns[] = {1, 2, 5, 13, 19, 20, 21, 40, 67, 100, 199, 200};
    double const ps[] = {0.02, 0.05, 0.1, 0.3, 0.5, 0.7, 0.95};
    uint32_t run = 0;
    for (size_t i = 0; i < sizeof ns / sizeof ns[0]; i++)
        for (size_t j = 0; j < sizeof ps / sizeof ps[0]; j++) {
            double const p_value = compare(run++, ns[i], ps[j], ps[j]);
            if (p_value < ALPHA)
                print_error("n = %u, p = %g: p-value %g\n", (unsigned)ns[i], ps[j], p_value);
            assert_true(p_value >= ALPHA);
        }
}

TEST(comparison_notices_a_small_difference_in_p)
{
    assert_true(compare(1000, 200, 0.51, 0.5) < ALPHA);
    assert_true(compare(1001, 100, 0.06, 0.05) < ALPHA);
}
