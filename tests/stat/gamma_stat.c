/* The laws of gamma and beta draws: Kolmogorov-Smirnov against closed distribution functions.
 * False alarms: 8 checks at ALPHA = 1e-6; a correct library fails under about 1 choice of the
 * (fixed) seeds in 125 000. The last test shows that the checks are able to fail. */
#include <math.h>
#include "../support/testing.h"
#include "../support/gof.h"
#include "tacit/random.h"

#define ALPHA 1e-6
#define DRAWS 200000u
#define SEED UINT64_C(20261121)

/* Erlang: 1 - e^-x sum of x^i/i! for i < shape. */
static double whole_gamma_cdf(double x, uint32_t shape)
{
    double term = 1;
    double sum = 1;
    for (uint32_t i = 1; i < shape; i++) {
        term *= x / i;
        sum += term;
    }
    return 1 - exp(-x) * sum;
}

/* P(at least a of a + b - 1 coins show heads). */
static double whole_beta_cdf(double x, uint32_t a, uint32_t b)
{
    double sum = 0;
    uint32_t const n = a + b - 1;
    for (uint32_t j = a; j <= n; j++)
        sum += exp(lgamma(n + 1) - lgamma(j + 1) - lgamma(n - j + 1) + j * log(x) +
                   (n - j) * log1p(-x));
    return sum < 1 ? sum : 1;
}

static double gamma_p(uint32_t run, double shape, double (*cdf)(double))
{
    static double sample[DRAWS];
    struct tacit_rng rng = tacit_rng_stream(SEED, run, 0, TACIT_PURPOSE_REWARD);
    for (uint32_t i = 0; i < DRAWS; i++)
        sample[i] = cdf(tacit_rng_gamma(&rng, shape));
    return gof_ks_p(sample, DRAWS);
}

static double beta_p(uint32_t run, uint32_t a, uint32_t b, uint32_t a_of_cdf)
{
    static double sample[DRAWS];
    struct tacit_rng rng = tacit_rng_stream(SEED, run, 0, TACIT_PURPOSE_REWARD);
    for (uint32_t i = 0; i < DRAWS; i++)
        sample[i] = whole_beta_cdf(tacit_rng_beta(&rng, a, b), a_of_cdf, b);
    return gof_ks_p(sample, DRAWS);
}

static double one(double x)
{
    return whole_gamma_cdf(x, 1);
}

static double three(double x)
{
    return whole_gamma_cdf(x, 3);
}

static double forty(double x)
{
    return whole_gamma_cdf(x, 40);
}

/* Gamma(1/2) is half the square of a normal. */
static double half(double x)
{
    return erf(sqrt(x));
}

static void expect_fit(double p_value)
{
    if (!(p_value >= ALPHA))
        print_error("p-value %g\n", p_value);
    assert_true(p_value >= ALPHA);
}

TEST(gamma_has_its_distribution_function)
{
    expect_fit(gamma_p(1, 1, one));
    expect_fit(gamma_p(2, 3, three));
    expect_fit(gamma_p(3, 40, forty));
    expect_fit(gamma_p(4, 0.5, half));
}

TEST(beta_has_its_distribution_function)
{
    expect_fit(beta_p(11, 1, 1, 1));
    expect_fit(beta_p(12, 2, 5, 2));
    expect_fit(beta_p(13, 30, 3, 30));
    expect_fit(beta_p(14, 1, 60, 1));
}

TEST(checks_notice_a_shape_off_by_2_percent)
{
    assert_true(gamma_p(21, 3.06, three) < ALPHA);
    assert_true(beta_p(22, 51, 10, 50) < ALPHA);
}
