/* Continuous laws on a simulation stream: exponential, Laplace, normal. Plain doubles, for
 * simulated rewards and for the papers' noise; not the sound mechanisms, which are integers (room
 * privacy). */
#include "words.h"
#include <math.h>

double tacit_rng_exponential(struct tacit_rng *rng)
{
    return -log(tacit_rng_uniform(rng));
}

/* One word gives both parts: the upper 52 bits the magnitude (as in tacit_rng_uniform), the lowest
 * bit, which the magnitude does not use, the sign. */
double tacit_rng_laplace(struct tacit_rng *rng, double scale)
{
    uint64_t const word = random_next_word(rng);
    double const magnitude = -scale * log(random_uniform_of(word));
    return (word & 1u) != 0 ? magnitude : -magnitude;
}

/* Ratio of uniforms (Kinderman, Monahan 1977): v/u is normal when (u, v) is uniform on the region
 * v^2 <= -4 u^2 log u. Leva's (1992) two quadratic curves, one inside the region and one outside
 * it, settle all but about 1 % of the points without a logarithm. Nothing is kept between calls.
 * Tested by: tests/kat/random.c, tests/stat/random_stat.c */
double tacit_rng_normal(struct tacit_rng *rng)
{
    for (;;) {
        double const u = random_uniform_of(random_next_word(rng));
        double const v =
            1.7156 * (random_uniform_of(random_next_word(rng)) - 0.5); /* 1.7156 > sqrt(8/e) */
        double const x = u - 0.449871;
        double const y = fabs(v) + 0.386595;
        double const curve = x * x + y * (0.196 * y - 0.25472 * x);
        if (curve < 0.27597)
            return v / u;
        if (curve <= 0.27846 && v * v <= -4.0 * u * u * log(u))
            return v / u;
    }
}
