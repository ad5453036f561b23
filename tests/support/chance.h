/* How likely a fault is in a world. */
#ifndef TACIT_TESTS_CHANCE_H
#define TACIT_TESTS_CHANCE_H
#include "tacit/random.h"

/* Up to `max` in a share of the worlds, in the others 0. */
static inline double chance_of(struct tacit_rng *rng, double share_of_worlds, double max)
{
    bool const is_on = tacit_rng_bernoulli(rng, share_of_worlds);
    double const value = max * tacit_rng_uniform(rng);
    return is_on ? value : 0;
}
#endif
