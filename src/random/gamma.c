/* Gamma and beta laws on a simulation stream. Plain doubles, not for privacy.
 * Reference: Marsaglia, Tsang 2000.  Tested by: tests/kat/random.c, tests/stat/random_stat.c */
#include "tacit/random.h"
#include <math.h>

/* With d = a - 1/3, c = 1/sqrt(9 d), x normal and v = (1 + c x)^3: d v has the gamma law of shape a
 * >= 1 if it is kept with chance exp(x^2/2 + d - d v + d ln v). Their squeeze saves the logarithms
 * for all but a few percent. */
static double gamma_from_one(struct tacit_rng *rng, double shape)
{
    double const d = shape - 1.0 / 3.0;
    double const c = 1.0 / sqrt(9.0 * d);
    for (;;) {
        double const x = tacit_rng_normal(rng);
        double const root = 1.0 + c * x;
        if (root <= 0)
            continue;
        double const v = root * root * root;
        double const u = tacit_rng_uniform(rng);
        double const square = x * x;
        if (u < 1.0 - 0.0331 * (square * square))
            return d * v;
        if (log(u) < 0.5 * square + d * (1.0 - v + log(v)))
            return d * v;
    }
}

/* Below 1: a gamma of shape a + 1 times U^(1/a) has shape a. */
double tacit_rng_gamma(struct tacit_rng *rng, double shape)
{
    TACIT_ASSERT(shape > 0);
    if (shape >= 1)
        return gamma_from_one(rng, shape);
    double const larger = gamma_from_one(rng, shape + 1);
    return larger * pow(tacit_rng_uniform(rng), 1 / shape);
}

double tacit_rng_beta(struct tacit_rng *rng, double a, double b)
{
    double const x = tacit_rng_gamma(rng, a);
    double const y = tacit_rng_gamma(rng, b);
    double const sum = x + y;
    return sum > 0 ? x / sum : 0.5; /* both underflow only where a and b are tiny */
}
