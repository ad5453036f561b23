/* The two series of the binomial's log-mass against the same numbers in long double: the draws
 * alone would not notice a term that is a little wrong. Both are private to the sampler, so its
 * source is read in here. */
#include "../support/testing.h"
#include "../../src/random/binomial.c"

/* x log(x/mean) + mean - x, by as many terms as change anything; stupid on purpose. */
static long double exact_deviance(long double x, long double mean)
{
    long double const v = (x - mean) / (x + mean);
    long double sum = 0;
    for (int odd = 4001; odd >= 3; odd -= 2)
        sum = sum * v * v + 2 * x / odd;
    return (x - mean) * v + sum * v * v * v;
}

static void expect_close(double found, long double exact, double tolerance, double at)
{
    if (fabsl((long double)found - exact) > (long double)tolerance)
        fail_msg("at %.17g: %.17g, but %.20Lg", at, found, exact);
}

/* v from 1e-6 to 0.5 on both sides: each of the three forms, up to its border. Below 0.1 rounding
 * is within 4 units of the last place; above, the logarithm cancels. */
TEST(deviance_is_exact_on_both_sides_of_every_border)
{
    double const sizes[] = {1e-6, 1e-3, 0.005, 0.009, 0.0099, 0.00999, 0.0101,
                            0.03, 0.07, 0.09,  0.099, 0.0999, 0.1001,  0.5};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (int sign = -1; sign <= 1; sign += 2) {
            double const v = sign * sizes[i];
            double const mean = 1048576.0;
            double const x = mean * (1.0 + v) / (1.0 - v);
            long double const exact = exact_deviance(x, mean);
            double const relative = fabs(v) < 0.1 ? 1e-15 : 1e-13;
            expect_close(deviance(x, mean), exact, relative * (double)exact, v);
        }
    assert_true(deviance(0.0, 3.5) == 3.5);
    assert_true(deviance(7.0, 7.0) == 0.0);
}

/* The first term that is left out is under 1.2e-16 (at 16), one that is wrong above 6e-15. */
TEST(stirling_error_is_what_the_factorial_lacks)
{
    long double const half_log_2_pi = 0.918938533204672741780329736405617640L;
    long double log_factorial = 0;
    for (int x = 1; x <= 40; x++) {
        log_factorial += logl((long double)x);
        long double const form =
            half_log_2_pi + ((long double)x + 0.5L) * logl((long double)x) - (long double)x;
        expect_close(stirling_error(x), log_factorial - form, 1.5e-16, x);
    }
    assert_true(stirling_error(0) == 0.0);
}
