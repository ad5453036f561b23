/* The two ways to release a sum of rewards, behind one interface: sampler, cost. */
#include "tacit/privacy.h"
#include "../random/words.h"
#include <math.h>

#define EPSILON_MIN 1e-6
/* A wider range would overflow the paper's scale, a narrower one underflow it: noise of scale 0. */
#define RANGE_MIN 1e-150
#define RANGE_MAX 1e150
#define PLAUSIBLE_SCALES 60 /* noise beyond that has a chance of e^-60 */

static uint64_t greatest_common_divisor(uint64_t a, uint64_t b)
{
    TACIT_ASSERT(a > 0);
    while (b != 0) {
        uint64_t const rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Discrete Laplace of scale STEPS / epsilon as a reduced fraction t/s. */
static void set_integer_scale(struct tacit_mechanism *mechanism)
{
    TACIT_ASSERT(mechanism->epsilon_nano > 0);
    uint64_t const t = (uint64_t)TACIT_STEPS * TACIT_NANO;
    uint64_t const common = greatest_common_divisor(t, mechanism->epsilon_nano);
    mechanism->scale_t = t / common;
    mechanism->scale_s = mechanism->epsilon_nano / common;
    TACIT_ASSERT(mechanism->scale_t > 0);
    TACIT_ASSERT(mechanism->scale_s > 0);
}

static bool is_valid(const struct tacit_mechanism_config *config)
{
    if (config->mode == TACIT_PRIVACY_NONE)
        return true;
    double const epsilon = config->epsilon_per_reward;
    double const range = config->hi - config->lo; /* of an infinite end it is infinite or NaN */
    if (!(epsilon > 0) || !(range >= RANGE_MIN && range <= RANGE_MAX))
        return false;
    return isinf(epsilon) || (epsilon >= EPSILON_MIN && epsilon <= TACIT_EPSILON_MAX);
}

enum tacit_status tacit_mechanism_init(struct tacit_mechanism *mechanism,
                                       const struct tacit_mechanism_config *config)
{
    if (!is_valid(config))
        return TACIT_INVALID;
    struct tacit_mechanism made = {.mode = config->mode};
    made.scale = (struct tacit_scale){.kind = TACIT_SCALE_REAL, .lo = config->lo, .hi = config->hi};
    if (config->mode == TACIT_PRIVACY_SOUND)
        made.scale.kind = TACIT_SCALE_STEPS;
    made.noisy = config->mode != TACIT_PRIVACY_NONE && isfinite(config->epsilon_per_reward);
    if (made.noisy) {
        double const nano = config->epsilon_per_reward * (double)TACIT_NANO;
        if (config->mode == TACIT_PRIVACY_SOUND) {
            made.epsilon_nano = tacit_nano_of(config->epsilon_per_reward);
            set_integer_scale(&made);
        } else {
            made.epsilon_nano = (uint64_t)ceil(nano - 1e-3); /* 50 * 1.0 is 50, not 50.000000001 */
            made.laplace_scale = (config->hi - config->lo) / config->epsilon_per_reward;
        }
    }
    TACIT_IMPLIES(made.noisy, made.epsilon_nano > 0);
    *mechanism = made;
    return TACIT_OK;
}

uint64_t tacit_mechanism_cost_nano(const struct tacit_mechanism *mechanism)
{
    return mechanism->epsilon_nano;
}

double tacit_mechanism_epsilon(const struct tacit_mechanism *mechanism)
{
    return mechanism->noisy ? tacit_nano_value(mechanism->epsilon_nano) : (double)INFINITY;
}

static enum tacit_status release_real(const struct tacit_mechanism *mechanism, double exact,
                                      const struct tacit_entropy *entropy, double *noised)
{
    TACIT_ASSERT(mechanism->laplace_scale > 0);
    uint64_t word;
    TACIT_TRY(random_entropy_word(entropy, random_is_stream(entropy), &word));
    double const u = random_uniform_of(word);
    /* Inverse of the Laplace distribution function; u is never 0, 1/2 or 1. */
    TACIT_ASSERT(u > 0);
    TACIT_ASSERT(u < 1);
    /* The same logarithm for both sides, and no branch: a guess at the side is wrong half of the
     * time. */
    double const above = 1 - u;
    double const tail = u < above ? u : above;
    double const size = mechanism->laplace_scale * log(2 * tail); /* < 0 */
    *noised = exact + copysign(size, u - 0.5);
    return TACIT_OK;
}

enum tacit_status tacit_mechanism_release(const struct tacit_mechanism *mechanism,
                                          union tacit_sum exact,
                                          const struct tacit_entropy *entropy,
                                          union tacit_sum *noised)
{
    if (!mechanism->noisy) {
        *noised = exact;
        return TACIT_OK;
    }
    if (mechanism->scale.kind == TACIT_SCALE_REAL)
        return release_real(mechanism, exact.real, entropy, &noised->real);
    int64_t noise;
    TACIT_TRY(tacit_discrete_laplace(mechanism->scale_t, mechanism->scale_s, entropy, &noise));
    noised->steps = exact.steps + noise;
    return TACIT_OK;
}

bool tacit_mechanism_plausible(const struct tacit_mechanism *mechanism, union tacit_sum noised,
                               uint64_t count, uint32_t releases)
{
    if (mechanism->scale.kind == TACIT_SCALE_REAL)
        return isfinite(noised.real);
    double const noise_max = mechanism->noisy
                                 ? (double)PLAUSIBLE_SCALES * (double)releases *
                                       ((double)mechanism->scale_t / (double)mechanism->scale_s)
                                 : 0;
    double const sum = (double)noised.steps;
    return sum >= -noise_max && sum <= (double)count * (double)TACIT_STEPS + noise_max;
}
