/* Elementary functions of our own, so that no library's choice enters a result. The same steps as
 * in the lanes of kernels.h. */
#include <string.h>
#include "internal.h"

static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static double double_of(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

double tacit_linalg_exp(double x)
{
    x = x < -EXP_LIMIT ? -EXP_LIMIT : x;
    x = x > EXP_LIMIT ? EXP_LIMIT : x;
    double const shifted = x * LOG2_E + ROUNDER;
    double const n = shifted - ROUNDER;
    double const r = (x - n * LN2_HIGH) - n * LN2_LOW;
    double p = EXP_TERMS[0];
    for (unsigned i = 1; i < EXP_TERM_COUNT; i++)
        p = p * r + EXP_TERMS[i];
    return double_of(bits_of(p) + (bits_of(shifted) << 52));
}

/* 2 atanh s less its first term. */
static double log_tail(double s)
{
    double const square = s * s;
    double p = LOG_TERMS[0];
    for (unsigned i = 1; i < LOG_TERM_COUNT; i++)
        p = p * square + LOG_TERMS[i];
    return 2.0 * s * (square * p);
}

double tacit_linalg_log(double x)
{
    TACIT_ASSERT(x > 0);
    uint64_t const bits = bits_of(x);
    uint64_t const exponent = (bits - HALF_ROOT_BITS + ONE_BITS) >> 52;
    double const k = double_of(exponent | MAGIC_BITS) - MAGIC_BIASED;
    double const f = double_of(bits - (exponent << 52) + ONE_BITS) - 1.0;
    double const s = f / (2.0 + f);
    return k * LN2_HIGH + (2.0 * s + (log_tail(s) + k * LN2_LOW));
}

double tacit_linalg_log1p(double x)
{
    TACIT_ASSERT(x > -0.25);
    if (x < 0.4) {
        double const s = x / (2.0 + x);
        return 2.0 * s + log_tail(s);
    }
    double const sum = 1.0 + x;
    return tacit_linalg_log(sum) + (x - (sum - 1.0)) / sum;
}

#define SERIES_LIMIT 5.0
#define SERIES_TERMS_MAX 200u
#define FRACTION_DEPTH 60u
#define ROOT_TWO_PI 2.5066282746310002

/* Phi(x) - 1/2 = phi(x) (x + x^3/3 + x^5/15 + ..). */
static double cdf_series(double x, double density)
{
    double sum = x;
    double term = x;
    for (uint32_t i = 1; i < SERIES_TERMS_MAX; i++) {
        term *= x * x / (2.0 * i + 1.0);
        double const next = sum + term;
        if (next == sum)
            break;
        sum = next;
    }
    return 0.5 + density * sum;
}

double tacit_linalg_normal_cdf(double x)
{
    double const density = tacit_linalg_exp(-0.5 * x * x) / ROOT_TWO_PI;
    if (fabs(x) < SERIES_LIMIT)
        return cdf_series(x, density);
    /* Laplace's continued fraction for the tail: phi(a)/(a + 1/(a + 2/(a + ..))). */
    double const a = fabs(x);
    double fraction = a;
    for (uint32_t i = FRACTION_DEPTH; i > 0; i--)
        fraction = a + (double)i / fraction;
    double const tail = density / fraction;
    return x > 0 ? 1.0 - tail : tail;
}

/* As in the lanes. */
static double logistic(double z)
{
    if (!(fabs(z) <= NEAR_LIMIT))
        return 1.0 / (1.0 + tacit_linalg_exp(-z));
    double const square = z * z;
    double p = NEAR_ABOVE[0];
    double q = NEAR_BELOW[0];
    for (unsigned i = 1; i < NEAR_TERM_COUNT; i++) {
        p = p * square + NEAR_ABOVE[i];
        q = q * square + NEAR_BELOW[i];
    }
    return 0.5 + z * p / q;
}

double tacit_linalg_mean(const struct tacit_linalg_mean *mean, double z)
{
    switch (mean->link) {
    case TACIT_LINALG_LOGISTIC:
        return logistic(z);
    case TACIT_LINALG_PROBIT:
        return tacit_linalg_normal_cdf(z);
    case TACIT_LINALG_POISSON:
        return tacit_linalg_exp(z > mean->cap ? mean->cap : z);
    case TACIT_LINALG_IDENTITY:
        return z;
    }
    TACIT_ASSERT(false);
    return 0;
}

double tacit_linalg_slope(const struct tacit_linalg_mean *mean, double z)
{
    double const mu = tacit_linalg_mean(mean, z);
    switch (mean->link) {
    case TACIT_LINALG_LOGISTIC:
        return mu * (1.0 - mu);
    case TACIT_LINALG_PROBIT:
        return tacit_linalg_exp(-0.5 * z * z) / ROOT_TWO_PI;
    case TACIT_LINALG_POISSON:
        return z > mean->cap ? 0.0 : mu;
    case TACIT_LINALG_IDENTITY:
        return 1.0;
    }
    TACIT_ASSERT(false);
    return 0;
}
