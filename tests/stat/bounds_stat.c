/* Coverage: how often is the mean outside its bounds? Sites with unequal means, exact binomial
 * sums, exact discrete Laplace noise through the mechanism. One look at level L may fail on either
 * side with chance e^-L at most. A side is a false alarm if its failures exceed that by more than
 * chance at 1e-6 (Clopper-Pearson); 6 settings, 2 sides: 1.2e-5 in all, fixed seeds. The last test
 * shows that bounds which take the noise for smaller than it is are found out. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include "../support/gof.h"
#include "tacit/bounds.h"
#include "tacit/privacy.h"
#include "tacit/random.h"

#define ALPHA 1e-6
#define TRIALS 20000u
#define LEVEL 3.0 /* e^-3 = 0.0498 a side */
#define AGENTS_MAX 50u

struct setting {
    uint32_t agents;
    uint64_t pulls; /* per site */
    double epsilon;
    double mean;
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

static struct tacit_bounds_sum released(const struct setting *setting, struct tacit_rng *rng)
{
    struct tacit_mechanism mechanism;
    struct tacit_mechanism_config const config = {TACIT_PRIVACY_SOUND, setting->epsilon, 0, 1};
    struct tacit_entropy const entropy = tacit_rng_entropy(rng);
    struct tacit_bounds_sum sum = {setting->pulls * setting->agents, setting->agents, 0};
    assert_int_equal(tacit_mechanism_init(&mechanism, &config), TACIT_OK);
    for (uint32_t agent = 0; agent < setting->agents; agent++) {
        uint64_t const ones = tacit_rng_binomial(rng, setting->pulls, site_mean(setting, agent));
        union tacit_sum noised = {.steps = (int64_t)ones * TACIT_STEPS};
        assert_int_equal(tacit_mechanism_release(&mechanism, noised, &entropy, &noised), TACIT_OK);
        sum.steps += noised.steps;
    }
    return sum;
}

static struct failures count_failures(const struct setting *setting, uint32_t run,
                                      double epsilon_believed)
{
    struct tacit_rng rng = tacit_rng_stream(77, run, 0, TACIT_PURPOSE_NOISE);
    struct failures failures = {0, 0};
    for (uint32_t trial = 0; trial < TRIALS; trial++) {
        struct tacit_bounds_sum const sum = released(setting, &rng);
        if (setting->mean > tacit_bounds_upper(&sum, epsilon_believed, LEVEL))
            failures.above++;
        if (setting->mean < tacit_bounds_lower(&sum, epsilon_believed, LEVEL))
            failures.below++;
    }
    return failures;
}

static const struct setting settings[] = {
    {1, 40, 1, 0.3},   {3, 500, 1, 0.38},   {50, 50, 0.1, 0.5},
    {10, 30, 4, 0.02}, {2, 400, 1e6, 0.25}, {5, 100, INFINITY, 0.4},
};

static void means_are_outside_no_more_often_than_stated(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        struct failures const failures = count_failures(&settings[i], i, settings[i].epsilon);
        print_message("setting %u: %.4f above, %.4f below, of %.4f\n", i,
                      (double)failures.above / TRIALS, (double)failures.below / TRIALS,
                      exp(-LEVEL));
        assert_true(gof_binomial_lower(failures.above, TRIALS, 1 - ALPHA) <= exp(-LEVEL));
        assert_true(gof_binomial_lower(failures.below, TRIALS, 1 - ALPHA) <= exp(-LEVEL));
    }
}

static void bounds_that_believe_in_too_little_noise_are_found_out(void **state)
{
    (void)state;
    struct failures const failures = count_failures(&settings[2], 100, 10 * settings[2].epsilon);
    assert_true(gof_binomial_lower(failures.above, TRIALS, 1 - ALPHA) > exp(-LEVEL));
    assert_true(gof_binomial_lower(failures.below, TRIALS, 1 - ALPHA) > exp(-LEVEL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(means_are_outside_no_more_often_than_stated),
        cmocka_unit_test(bounds_that_believe_in_too_little_noise_are_found_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
