/* Sizes that are fixed in advance, levels for all looks together, and the floor of the regret
 * (EXACT-BOUNDS 3 (v), 4.1, 5.1, 8). */
#include "tacit/arms.h"
#include "tacit/bounds.h"
#include <math.h>

#define EQUAL_MEANS 1e-12

double tacit_bounds_level(uint32_t arm_count, uint32_t look, double delta)
{
    TACIT_ASSERT(arm_count > 0);
    TACIT_ASSERT(look > 0);
    TACIT_ASSERT(delta > 0 && delta < 1);
    double const e = look;
    return log(2 * (double)arm_count * e * (e + 1) / delta);
}

/* Is the radius at most `width` after a rung, with one noise term of each agent? It falls with the
 * rung. */
static bool is_narrow(uint64_t rung, uint32_t agent_count, const struct tacit_bounds_noise *noise,
                      double log_level, double width)
{
    return tacit_bounds_radius_of(rung * agent_count, agent_count, noise, log_level) <= width;
}

uint64_t tacit_bounds_first_rung_of(uint32_t agent_count, const struct tacit_bounds_noise *noise,
                                    double log_level, double width)
{
    TACIT_ASSERT(agent_count > 0 && agent_count <= TACIT_AGENTS_MAX);
    TACIT_ASSERT(width > 0);
    struct tacit_bounds_noise one = *noise;
    uint64_t wide = 0; /* too wide there, or nothing */
    uint64_t narrow = 1;
    one.releases = 1;
    while (narrow < TACIT_HORIZON_MAX && !is_narrow(narrow, agent_count, &one, log_level, width)) {
        wide = narrow;
        narrow *= 2; /* 2^40 rungs of 2^20 agents: 2^60 pulls fit */
    }
    while (narrow - wide > 1) {
        uint64_t const middle = wide + (narrow - wide) / 2;
        if (is_narrow(middle, agent_count, &one, log_level, width))
            narrow = middle;
        else
            wide = middle;
    }
    return narrow;
}

uint64_t tacit_bounds_first_rung(uint32_t agent_count, double epsilon, double log_level,
                                 double width)
{
    return tacit_bounds_first_rung_of(agent_count, &(struct tacit_bounds_noise){.epsilon = epsilon},
                                      log_level, width);
}

uint64_t tacit_bounds_next_rung(uint64_t rung, double growth)
{
    TACIT_ASSERT(rung > 0);
    TACIT_ASSERT(growth > 1 && growth <= 4);
    double const next = ceil(growth * (double)rung - 1e-9);
    if (!(next < (double)TACIT_HORIZON_MAX))
        return TACIT_HORIZON_MAX;
    return (uint64_t)next > rung ? (uint64_t)next : rung + 1;
}

double tacit_bounds_divergence(double x, double y, double epsilon)
{
    TACIT_ASSERT(epsilon > 0);
    if (isinf(epsilon))
        return tacit_arms_kl(x, y);
    if (x > y)
        return tacit_bounds_divergence(1 - x, 1 - y, epsilon);
    /* the z where the slopes epsilon and -d kl(z, y)/dz meet */
    double const meeting = y <= 0 ? 0 : y >= 1 ? 1 : y / (y + (1 - y) * exp(epsilon));
    double const z = x > meeting ? x : meeting;
    return epsilon * (z - x) + tacit_arms_kl(z, y);
}

double tacit_bounds_floor(const double *means, uint32_t arm_count, double pulls, double epsilon)
{
    TACIT_ASSERT(arm_count > 0);
    TACIT_ASSERT(pulls >= 1);
    double best = means[0];
    for (uint32_t arm = 1; arm < arm_count; arm++)
        best = means[arm] > best ? means[arm] : best;
    double sum = 0;
    for (uint32_t arm = 0; arm < arm_count; arm++) {
        double const gap = best - means[arm];
        if (gap > EQUAL_MEANS)
            sum += gap * log(pulls) / tacit_bounds_divergence(means[arm], best, epsilon);
    }
    return sum;
}
