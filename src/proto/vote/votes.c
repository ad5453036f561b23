/* How many votes eliminate an arm: the paper's floor, thresholds that hold, and which m of N is
 * cheapest. Not here: the votes themselves (board.c). */
#include "tacit/vote.h"
#include <math.h>

#define ROUNDING 1e-9  /* of a quotient of logarithms that is meant to be whole */
#define TERM_MIN 1e-20 /* of the sum so far: the rest of a binomial tail is below it */
#define BISECTIONS 60u
#define EVERY_NEEDED_UP_TO 64u

static double quotient(double delta, double eta)
{
    TACIT_ASSERT(delta > 0);
    TACIT_ASSERT(delta < 1);
    TACIT_ASSERT(eta > 0);
    TACIT_ASSERT(eta < 1);
    return log(delta) / log(eta);
}

/* Beyond UINT32_MAX nobody can count votes; eta very near 1 gets there. */
static uint32_t whole_votes(double votes)
{
    TACIT_ASSERT(!isnan(votes));
    if (votes < 1)
        return 1;
    return votes < (double)UINT32_MAX ? (uint32_t)votes : UINT32_MAX;
}

uint32_t tacit_vote_floor(double delta, double eta)
{
    double const votes = quotient(delta, eta);
    return whole_votes(floor(votes * (1 + ROUNDING)));
}

uint32_t tacit_vote_committee(double delta, double eta)
{
    double const votes = quotient(delta, eta);
    return whole_votes(ceil(votes * (1 - ROUNDING)));
}

/* ln P(Bin(count, eta) = hits). */
static double log_mass(uint32_t count, double eta, uint32_t hits)
{
    TACIT_ASSERT(hits <= count);
    double sum = (double)hits * log(eta) + (double)(count - hits) * log1p(-eta);
    uint32_t const fewer = hits < count - hits ? hits : count - hits;
    for (uint32_t i = 1; i <= fewer; i++)
        sum += log((double)(count - fewer + i) / (double)i);
    return sum;
}

/* Sum of the masses from `hits` up. Requires: hits is beyond the mean, from where on they fall. */
static double sum_upwards(uint32_t count, double eta, uint32_t hits)
{
    TACIT_ASSERT(hits <= count);
    TACIT_ASSERT(eta > 0);
    TACIT_ASSERT((double)hits > (double)count * eta);
    double term = exp(log_mass(count, eta, hits));
    double sum = term;
    for (uint32_t i = hits; i < count; i++) {
        term *= (double)(count - i) / (double)(i + 1) * (eta / (1 - eta));
        sum += term;
        if (term < sum * TERM_MIN)
            break;
    }
    return sum;
}

double tacit_vote_binomial_tail(uint32_t count, double eta, uint32_t needed)
{
    TACIT_ASSERT(eta > 0);
    TACIT_ASSERT(eta < 1);
    if (needed == 0)
        return 1;
    if (needed > count)
        return 0;
    /* Below the mean the other tail is the short one: P(X >= m) = 1 - P(count - X >= count - m + 1)
     */
    double const tail = (double)needed > (double)count * eta
                            ? sum_upwards(count, eta, needed)
                            : 1 - sum_upwards(count, 1 - eta, count - needed + 1);
    TACIT_ASSERT(tail >= 0); /* at most about a half is taken from 1 */
    TACIT_ASSERT(tail <= 1);
    return tail;
}

uint32_t tacit_vote_needed(uint32_t player_count, double delta, double eta)
{
    TACIT_ASSERT(delta > 0);
    TACIT_ASSERT(player_count > 0);
    if (tacit_vote_binomial_tail(player_count, eta, player_count) > delta)
        return 0;
    uint32_t few = 0; /* too few; `enough` suffice: the tail falls with the votes needed */
    uint32_t enough = player_count;
    while (enough - few > 1) {
        uint32_t const middle = few + (enough - few) / 2;
        if (tacit_vote_binomial_tail(player_count, eta, middle) <= delta)
            enough = middle;
        else
            few = middle;
    }
    TACIT_ASSERT(enough >= 1);
    TACIT_ASSERT(enough <= player_count);
    return enough;
}

double tacit_vote_eta(uint32_t player_count, uint32_t needed, double delta)
{
    TACIT_ASSERT(needed >= 1);
    TACIT_ASSERT(needed <= player_count);
    double good = 1e-12; /* P(Bin >= 1) <= N 1e-12, below every delta that makes sense */
    double bad = 1 - 1e-12;
    for (uint32_t i = 0; i < BISECTIONS; i++) {
        double const middle = good + (bad - good) / 2;
        if (tacit_vote_binomial_tail(player_count, middle, needed) <= delta)
            good = middle;
        else
            bad = middle;
    }
    return good;
}

/* Smallest tau with radius(tau) <= wanted; radii fall from tau = 2 on. */
static double rounds_until(const struct tacit_best_arm_config *config, double wanted)
{
    TACIT_ASSERT(wanted > 0);
    uint64_t wide = 1;
    uint64_t narrow = 2;
    while (tacit_best_arm_radius(config, narrow, narrow) > wanted && narrow < TACIT_HORIZON_MAX)
        narrow *= 2;
    while (narrow - wide > 1) {
        uint64_t const middle = wide + (narrow - wide) / 2;
        if (tacit_best_arm_radius(config, middle, middle) > wanted)
            wide = middle;
        else
            narrow = middle;
    }
    return (double)narrow;
}

double tacit_vote_samples_alone(const struct tacit_best_arm_config *config)
{
    TACIT_ASSERT(config != NULL);
    TACIT_ASSERT(config->arm_count >= 1);
    double const arms = (double)config->arm_count;
    double const epsilon = config->accuracy;
    switch (config->kind) {
    case TACIT_BEST_ARM_SER3:
    case TACIT_BEST_ARM_SER4: /* epsilon + epsilon >= 2 alpha */
        return arms * rounds_until(config, epsilon);
    case TACIT_BEST_ARM_SUCCESSIVE: /* epsilon >= 2 alpha */
        return arms * rounds_until(config, epsilon / 2);
    case TACIT_BEST_ARM_NAIVE:
    case TACIT_BEST_ARM_KL_RACING:
    case TACIT_BEST_ARM_LUCB:
    case TACIT_BEST_ARM_KL_LUCB:
    case TACIT_BEST_ARM_UGAPEC:
        return arms * ceil(4.0 / (epsilon * epsilon) * log(2.0 * arms / config->failure));
    case TACIT_BEST_ARM_MEDIAN:
        break;
    }
    double samples = 0;
    uint32_t phase = 1;
    for (uint32_t left = config->arm_count; left > 1; left = (left + 1) / 2, phase++)
        samples += (double)left * (double)tacit_best_arm_quota(config, phase);
    return samples;
}

/* Mean number of samples a player has when the m-th most active of N evenly active ones has
 * `samples`: lambda + z sqrt(lambda) = samples, z the normal quantile (by its logistic likeness).
 */
static double mean_samples(uint32_t player_count, uint32_t needed, double samples)
{
    TACIT_ASSERT(needed >= 1);
    TACIT_ASSERT(needed <= player_count);
    TACIT_ASSERT(samples > 0);
    double const share = ((double)needed - 0.5) / (double)player_count;
    double const z = log((1 - share) / share) / 1.702;
    double const root = (sqrt(z * z + 4 * samples) - z) / 2;
    return root * root;
}

struct tacit_vote_choice tacit_vote_recommend(uint32_t player_count, double delta,
                                              const struct tacit_best_arm_config *config)
{
    TACIT_ASSERT(config != NULL);
    TACIT_ASSERT(player_count > 0);
    struct tacit_vote_choice best = {.needed = 0};
    uint32_t needed = 1;
    while (needed <= player_count) {
        struct tacit_best_arm_config trial = *config;
        trial.failure = tacit_vote_eta(player_count, needed, delta);
        double const each = mean_samples(player_count, needed, tacit_vote_samples_alone(&trial));
        double const samples = each * (double)player_count;
        if (best.needed == 0 || samples < best.samples)
            best = (struct tacit_vote_choice){needed, trial.failure, samples};
        needed += needed < EVERY_NEEDED_UP_TO ? 1 : needed / 12;
    }
    TACIT_ASSERT(best.needed >= 1);
    TACIT_ASSERT(best.needed <= player_count);
    return best;
}
