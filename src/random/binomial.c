/* Binomial counts in constant expected time, accurate up to n = TACIT_HORIZON_MAX. Setting up costs
 * little, because a simulator changes n and p at every call.
 * References: Hormann 1993 (BTRS); Loader 2000 (saddle-point form of the binomial density).
 * Tested by: tests/kat/random.c, tests/oracle/binomial_oracle.c, tests/stat/random_stat.c */
#include "binomial.h"
#include <math.h>
#include "tacit/random.h"

#define INVERSION_MEAN_MAX 10.0   /* below: search from 0; from here on: transformed rejection */
#define INVERSION_COUNT_MAX 110.0 /* P(count > 110) < 1e-68 for every mean under 10 */
#define STIRLING_TABLE_SIZE 16

/* log(x!) minus Stirling's log(sqrt(2 pi x) (x/e)^x), for whole x >= 0. At 0, where that formula
 * has no value, the square root is read as 1 (see spread_factor) and the error is 0. */
static double stirling_error(double x)
{
    static double const small[STIRLING_TABLE_SIZE] = {
        0.0,
        0.0810614667953272582196703,
        0.0413406959554092940938221,
        0.0276779256849983391487893,
        0.0207906721037650931115228,
        0.0166446911898211921631949,
        0.0138761288230707479987457,
        0.0118967099458917700950557,
        0.0104112652619720964974786,
        0.0092554621827127329177286,
        0.0083305634333628712564693,
        0.0075736754879518407949720,
        0.0069428401072095298656642,
        0.0064089941880042070684396,
        0.0059513701127588477356244,
        0.0055547335519628013710387,
    };
    if (x < STIRLING_TABLE_SIZE)
        return small[(int)x];
    double const inverse = 1.0 / x; /* the first term left out is under 1.2e-16 at x = 16 */
    double const z = inverse * inverse;
    return inverse *
           (1.0 / 12 - z * (1.0 / 360 - z * (1.0 / 1260 - z * (1.0 / 1680 - z * (1.0 / 1188)))));
}

/* The x under the square root of Stirling's formula, with the value at 0 that makes 0! = 1. */
static double spread_factor(double x)
{
    return x > 0.0 ? x : 0.15915494309189533577; /* 1/(2 pi) */
}

/* x log(x/mean) + mean - x, Loader's bd0, without cancellation where x is near the mean: with
 * v = (x - mean)/(x + mean) it is (x - mean) v + 2 x (v^3/3 + v^5/5 + ...).
 * Requires: x >= 0, mean > 0. */
static double deviance(double x, double mean)
{
    double const gap = x - mean;
    double const v = gap / (x + mean);
    double const z = v * v;
    if (z < 1e-4) /* left out: less than z^5/13, beyond the precision of the sum */
        return gap * v +
               2.0 * x * v * z * (1.0 / 3 + z * (1.0 / 5 + z * (1.0 / 7 + z * (1.0 / 9 + z / 11))));
    if (z < 0.01) { /* left out: less than z^9/21 */
        double const tail = 1.0 / 13 + z * (1.0 / 15 + z * (1.0 / 17 + z / 19));
        double const sum =
            1.0 / 3 + z * (1.0 / 5 + z * (1.0 / 7 + z * (1.0 / 9 + z * (1.0 / 11 + z * tail))));
        return gap * v + 2.0 * x * v * z * sum;
    }
    return x > 0.0 ? x * log(x / mean) - gap : mean;
}

double binomial_mass(double n, double k, double p)
{
    TACIT_ASSERT(k >= 0 && k <= n);
    TACIT_ASSERT(p > 0 && p < 1);
    double const spread =
        spread_factor(n) / (6.28318530717958647693 * spread_factor(k) * spread_factor(n - k));
    double const loss = deviance(k, n * p) + deviance(n - k, n * (1 - p));
    return sqrt(spread) * exp(stirling_error(n) - stirling_error(k) - stirling_error(n - k) - loss);
}

/* The law being sampled, as far as the mass function needs it. */
struct law {
    double n;
    double p; /* 0 < p <= 1/2 */
    double mean;
    double mean_failures;
};

/* Part of the log-mass at k in Loader's form, his eq. (4). The whole is this, minus half the
 * logarithm of spread_factor(k) spread_factor(n - k), plus what does not depend on k. */
static double log_mass_part(const struct law *law, double k)
{
    return -stirling_error(k) - stirling_error(law->n - k) - deviance(k, law->mean) -
           deviance(law->n - k, law->mean_failures);
}

/* Is height <= mass(k)/mass(mode)? Both sides are squared, which leaves one logarithm. */
static bool under_mass(const struct law *law, double k, double height)
{
    double const mode = (double)(int64_t)((law->n + 1.0) * law->p);
    double const spread_k = spread_factor(k) * spread_factor(law->n - k);
    double const spread_mode = mode * (law->n - mode);
    double const gain = log_mass_part(law, k) - log_mass_part(law, mode);
    return log(height * height * (spread_k / spread_mode)) <= 2.0 * gain;
}

/* Hormann's BTRS: u is transformed into a count under a hat that fits from a mean of 10 on, and v
 * says whether the point lies under the mass. Most points are settled by the squeeze, without the
 * mass. Requires: n p >= 10, p <= 1/2. */
static double transformed_rejection(struct tacit_rng *rng, double n, double p)
{
    struct law const law = {.n = n, .p = p, .mean = n * p, .mean_failures = n * (1.0 - p)};
    double const deviation = sqrt(law.mean * (1.0 - p));
    double const b = 1.15 + 2.53 * deviation;
    double const a = -0.0873 + 0.0248 * b + 0.01 * p;
    double const squeeze = 0.92 - 4.2 / b;
    for (;;) {
        double const u = tacit_rng_uniform(rng) - 0.5;
        double const v = tacit_rng_uniform(rng);
        double const edge = 0.5 - fabs(u); /* >= 2^-53, as u is an odd multiple of that */
        double const place = (2.0 * a / edge + b) * u + (law.mean + 0.5);
        if (place < 0.0 || place >= n + 1.0)
            continue;
        double const k = (double)(int64_t)place;
        if (edge >= 0.07 && v <= squeeze)
            return k;
        double const alpha = (2.83 + 5.1 / b) * deviation;
        if (under_mass(&law, k, v * alpha / (a / (edge * edge) + b)))
            return k;
    }
}

/* Inversion: walks up the mass function until u is used up. Rounding may leave a crumb of u (about
 * 1e-16) past the end of the walk; such a u is drawn again. Requires: n p < 10, p <= 1/2. */
static double inversion(struct tacit_rng *rng, double n, double p)
{
    double const odds = p / (1.0 - p);
    double const slope = (n + 1.0) * odds;
    double const mass_at_0 = exp(n * log1p(-p));
    double const last = n < INVERSION_COUNT_MAX ? n : INVERSION_COUNT_MAX;
    for (;;) {
        double rest = tacit_rng_uniform(rng);
        double mass = mass_at_0;
        for (double k = 0.0; k <= last; k += 1.0) {
            if (rest <= mass)
                return k;
            rest -= mass;
            mass *= slope / (k + 1.0) - odds;
        }
    }
}

uint64_t tacit_rng_binomial(struct tacit_rng *rng, uint64_t n, double p)
{
    TACIT_ASSERT(p >= 0.0);
    TACIT_ASSERT(p <= 1.0);
    TACIT_ASSERT(n <= TACIT_HORIZON_MAX);
    if (n == 0 || p == 0.0)
        return 0;
    if (p == 1.0)
        return n;
    double const trials = (double)n;
    double const rare = p <= 0.5 ? p : 1.0 - p; /* exact: no rounding for p in [1/2, 1] */
    double const count = trials * rare < INVERSION_MEAN_MAX
                             ? inversion(rng, trials, rare)
                             : transformed_rejection(rng, trials, rare);
    uint64_t const rare_count = (uint64_t)(int64_t)count;
    return p <= 0.5 ? rare_count : n - rare_count;
}
