/* The indices themselves, each a function of one arm's pulls and mean (READINGS, Baselines). */
#include "tacit/arms.h"
#include <math.h>

#define NEWTON_STEPS_MAX 100u

double tacit_arms_moss(double mean, uint64_t n, uint64_t horizon, uint32_t arm_count)
{
    TACIT_ASSERT(n > 0);
    double const term = log((double)horizon / ((double)arm_count * (double)n));
    return mean + sqrt((term > 0 ? term : 0) / (double)n);
}

/* x ln(x/y), 0 for x = 0. */
static double entropy_term(double x, double y)
{
    return x > 0 ? x * log(x / y) : 0;
}

double tacit_arms_kl(double p, double q)
{
    TACIT_ASSERT(p >= 0 && p <= 1);
    TACIT_ASSERT(q >= 0 && q <= 1);
    if ((q <= 0 && p > 0) || (q >= 1 && p < 1))
        return INFINITY;
    return entropy_term(p, q) + entropy_term(1 - p, 1 - q);
}

/* With x = -ln(1-q), kl(p, .) is convex in x and never flat to the right of p, so Newton's method
 * comes down from any start above the solution and does not step over it. Two starts are above: by
 * Pinsker q <= p + sqrt(d/2), and because -p ln q >= 0, (1-p) x <= d + h(p), h the entropy. */
static double start_above(double p, double d)
{
    double const pinsker = p + sqrt(d / 2);
    double const entropy = -entropy_term(p, 1) - entropy_term(1 - p, 1);
    double const line = (d + entropy) / (1 - p);
    double const near = pinsker < 1 ? -log1p(-pinsker) : INFINITY;
    return near < line ? near : line;
}

/* Largest q with kl(p, q) <= d. Requires: 0 < p < 1, d > 0. */
static double largest_mean(double p, double d)
{
    double x = start_above(p, d);
    double q = -expm1(-x);
    for (unsigned step = 0; step < NEWTON_STEPS_MAX; step++) {
        double const excess = p * log(p / q) + (1 - p) * (log1p(-p) + x) - d;
        double const slope = (q - p) / q;
        if (!(excess > 0) || !(slope > 0))
            break;
        double const next = x - excess / slope;
        if (!(next < x))
            break;
        double const q_next = -expm1(-next);
        bool const is_done = q - q_next <= 1e-15 * q;
        x = next;
        q = q_next;
        if (is_done)
            break;
    }
    return q < p ? p : (q > 1 ? 1 : q);
}

double tacit_arms_kl_ucb(double mean, uint64_t n, uint64_t t)
{
    TACIT_ASSERT(n > 0);
    TACIT_ASSERT(t > 0);
    double const p = mean > 0 ? (mean < 1 ? mean : 1) : 0;
    double const d = log((double)t) / (double)n;
    if (p >= 1 || d <= 0)
        return p;
    if (p <= 0)
        return -expm1(-d);
    return largest_mean(p, d);
}
