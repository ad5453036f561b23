/* Coverage: how often is the mean outside its bounds? Sites with unequal means, exact binomial
 * sums, exact discrete Laplace noise through the mechanism. One look at level L may fail on either
 * side with chance e^-L at most. A side is a false alarm if its failures exceed that by more than
 * chance at 1e-6 (Clopper-Pearson); 10 settings, 2 sides: 2e-5 in all, fixed seeds. With two
 * aggregators there are two kinds of noise, the sites' floor and theirs, over several releases. The
 * last tests show that bounds which take the noise for smaller than it is are found out. */
#include <math.h>
#include "../support/testing.h"
#include "../support/effort.h"
#include "../support/gof.h"
#include "tacit/bounds.h"
#include "tacit/elim.h"
#include "tacit/helper.h"
#include "tacit/privacy.h"
#include "tacit/random.h"

#define ALPHA 1e-6
#define TRIALS_SHORT 20000u
#define TRIALS_LONG 100000u /* TACIT_TEST_LONG=1 */
#define LEVEL 3.0           /* e^-3 = 0.0498 a side */
#define AGENTS_MAX 50u

static uint32_t trials(void)
{
    return effort_of(TRIALS_SHORT, TRIALS_LONG);
}

struct setting {
    uint32_t agents;
    uint64_t pulls; /* per site */
    double epsilon;
    double mean;
    uint32_t floor_milli; /* tacit_bounds_noise_of */
    uint32_t releases;    /* added up */
};

struct failures {
    uint64_t above;
    uint64_t below;
};

/* Half of the sites have a higher mean, half a lower one. */
static double site_mean(const struct setting *setting, uint32_t agent)
{
    double const room = fmin(setting->mean, 1 - setting->mean);
    bool const is_odd_one = setting->agents % 2 == 1 && agent + 1 == setting->agents;
    double const shift = is_odd_one ? 0 : (agent % 2 == 0 ? 0.5 : -0.5);
    return setting->mean + shift * room;
}

/* Exact sums of all sites, each with its noise at epsilon; INFINITY: none. */
static int64_t noised_sums(const struct setting *setting, double epsilon, struct tacit_rng *rng)
{
    struct tacit_mechanism mechanism;
    struct tacit_mechanism_config const config = {TACIT_PRIVACY_SOUND, epsilon, 0, 1};
    struct tacit_entropy const entropy = tacit_rng_entropy(rng);
    int64_t steps = 0;
    assert_int_equal(tacit_mechanism_init(&mechanism, &config), TACIT_OK);
    for (uint32_t agent = 0; agent < setting->agents; agent++) {
        uint64_t const ones = tacit_rng_binomial(rng, setting->pulls, site_mean(setting, agent));
        union tacit_sum noised = {.steps = (int64_t)ones * TACIT_STEPS};
        assert_int_equal(tacit_mechanism_release(&mechanism, noised, &entropy, &noised), TACIT_OK);
        steps += noised.steps;
    }
    return steps;
}

static struct tacit_bounds_sum released(const struct setting *setting,
                                        const struct tacit_bounds_noise *noise,
                                        struct tacit_rng *rng)
{
    struct tacit_helper_run const run = {.site_count = 2, .count_max = 1, .steps = TACIT_STEPS};
    struct tacit_entropy const entropy = tacit_rng_entropy(rng);
    uint32_t const releases = setting->releases;
    struct tacit_bounds_sum sum = {setting->pulls * setting->agents * releases,
                                   (uint64_t)setting->agents * releases, 0};
    for (uint32_t release = 0; release < releases; release++) {
        uint64_t word = (uint64_t)noised_sums(setting, noise->epsilon, rng);
        for (uint32_t i = 0; i < noise->per_release; i++)
            assert_int_equal(tacit_helper_noise(&run, (uint64_t)(noise->shared * TACIT_NANO),
                                                &entropy, &word, 1),
                             TACIT_OK);
        sum.steps += (int64_t)word;
    }
    return sum;
}

static struct tacit_bounds_noise noise_of(const struct setting *setting)
{
    struct tacit_bounds_noise noise = tacit_bounds_noise_of(setting->epsilon, setting->floor_milli);
    noise.releases = setting->releases;
    return noise;
}

static struct failures count_failures(const struct setting *setting, uint32_t run,
                                      const struct tacit_bounds_noise *believed)
{
    struct tacit_rng rng = tacit_rng_stream(77, run, 0, TACIT_PURPOSE_NOISE);
    struct tacit_bounds_noise const noise = noise_of(setting);
    struct failures failures = {0, 0};
    for (uint32_t trial = 0; trial < trials(); trial++) {
        struct tacit_bounds_sum const sum = released(setting, &noise, &rng);
        if (setting->mean > tacit_bounds_upper_of(&sum, believed, LEVEL))
            failures.above++;
        if (setting->mean < tacit_bounds_lower_of(&sum, believed, LEVEL))
            failures.below++;
    }
    return failures;
}

static const struct setting settings[] = {
    {1, 40, 1, 0.3, TACIT_ONE_AGGREGATOR, 1},
    {3, 500, 1, 0.38, TACIT_ONE_AGGREGATOR, 1},
    {50, 50, 0.1, 0.5, TACIT_ONE_AGGREGATOR, 1},
    {10, 30, 4, 0.02, TACIT_ONE_AGGREGATOR, 1},
    {2, 400, 1e6, 0.25, TACIT_ONE_AGGREGATOR, 1},
    {5, 100, INFINITY, 0.4, TACIT_ONE_AGGREGATOR, 1},
    {3, 30, 0.1, 0.5, TACIT_NO_FLOOR, 1},
    {10, 5, 0.5, 0.3, 200, 1},
    {50, 2, 1, 0.4, 8000, 3},
    {3, 40, 0.3, 0.05, 300, 4},
};

TEST(means_are_outside_no_more_often_than_stated)
{
    for (uint32_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        struct tacit_bounds_noise const noise = noise_of(&settings[i]);
        struct failures const failures = count_failures(&settings[i], i, &noise);
        print_message("setting %u: %.4f above, %.4f below, of %.4f\n", i,
                      (double)failures.above / trials(), (double)failures.below / trials(),
                      exp(-LEVEL));
        assert_true(gof_binomial_lower(failures.above, trials(), 1 - ALPHA) <= exp(-LEVEL));
        assert_true(gof_binomial_lower(failures.below, trials(), 1 - ALPHA) <= exp(-LEVEL));
    }
}

static void assert_found_out(const struct setting *setting, uint32_t run,
                             const struct tacit_bounds_noise *believed)
{
    struct failures const failures = count_failures(setting, run, believed);
    assert_true(gof_binomial_lower(failures.above, trials(), 1 - ALPHA) > exp(-LEVEL));
    assert_true(gof_binomial_lower(failures.below, trials(), 1 - ALPHA) > exp(-LEVEL));
}

TEST(bounds_that_believe_in_too_little_noise_are_found_out)
{
    struct tacit_bounds_noise const tenth = {.epsilon = 10 * settings[2].epsilon};
    assert_found_out(&settings[2], 100, &tenth);
}

/* The aggregators' noise, or the sites' floor. */
TEST(bounds_that_forget_a_kind_of_noise_are_found_out)
{
    static const struct setting with_two = {3, 10, 0.05, 0.5, 8000, 1};
    static const struct setting with_floor = {30, 1, 1, 0.5, 100, 1};
    struct tacit_bounds_noise believed = noise_of(&with_two);
    believed.per_release = 0;
    assert_found_out(&with_two, 101, &believed);
    believed = noise_of(&with_floor);
    believed.epsilon = INFINITY;
    assert_found_out(&with_floor, 102, &believed);
}

/* P(X1 + .. + XM > x) for Laplace noise of scale 1: the difference of two sums of M exponentials.
 * k of the M arrivals of the first come before x; the others race with the M of the second, each
 * next one a fair coin. */
static double laplace_sum_tail(uint32_t count, double x)
{
    double tail = 0;
    double before = exp(-x); /* e^-x x^k / k! */
    for (uint32_t k = 0; k < count; k++) {
        double win = pow(2, -(double)count); /* C(M-1+j, j) 2^-(M+j) */
        double wins = 0;
        for (uint32_t j = 0; j < count - k; j++) {
            wins += win;
            win *= (double)(count + j) / (2 * (j + 1.0));
        }
        tail += before * wins;
        before *= x / (k + 1);
    }
    return tail;
}

/* Li, Song, Fact 2, as Alg. 1 uses it: 2 e^-L with L = ln(8 K r^2 T) is what the noise may fail.
 * How often does it at r = 1, in units of that? (A finding on P1: the Fact needs M > L = 17.5.) */
static double paper_noise_failures(uint32_t sites)
{
    struct tacit_elim_schedule schedule = {.arm_count = 5,
                                           .report_count = sites,
                                           .horizon = 1000000,
                                           .epsilon_per_reward = 1,
                                           .gap = 1};
    uint64_t const pulls = 1000;
    double const with = tacit_elim_radius(&schedule, 1, 5, pulls, sites);
    schedule.epsilon_per_reward = INFINITY;
    double const radius = with - tacit_elim_radius(&schedule, 1, 5, pulls, sites);
    double const allowed = 2 / (8.0 * 5 * 1e6);
    return 2 * laplace_sum_tail(sites, radius * (double)pulls * sites) / allowed;
}

TEST(noise_radius_of_the_paper_fails_too_often_at_few_sites)
{
    static const uint32_t sites[] = {1, 3, 10, 20};
    double shares[4];
    for (int i = 0; i < 4; i++) {
        shares[i] = paper_noise_failures(sites[i]);
        print_message("%u sites: the noise radius fails %.2g times its share\n", sites[i],
                      shares[i]);
    }
    assert_true(shares[0] > 144 && shares[0] < 146);
    assert_true(shares[1] > 1.6 && shares[1] < 1.7);
    assert_true(shares[2] < 0.01 && shares[3] < 0.001);
}

/* The tail above, against draws. False alarm: 5 standard errors, 6e-7 a check. */
TEST(tail_of_laplace_sums_is_that_of_draws)
{
    static const uint32_t counts[] = {1, 3, 10};
    for (int i = 0; i < 3; i++) {
        struct tacit_rng rng = tacit_rng_stream(5, (uint32_t)i, 0, TACIT_PURPOSE_NOISE);
        double const x = 1.5 * sqrt(2.0 * counts[i]);
        double const expected = laplace_sum_tail(counts[i], x);
        uint32_t above = 0;
        for (uint32_t trial = 0; trial < 200000; trial++) {
            double sum = 0;
            for (uint32_t j = 0; j < counts[i]; j++)
                sum += tacit_rng_laplace(&rng, 1);
            above += sum > x ? 1 : 0;
        }
        assert_true(fabs(above / 200000.0 - expected) <= 5 * sqrt(expected / 200000));
    }
}
