/* The sound release of a vector: clipping and rounding to integers, and noise whose scale needs
 * more than 64 bits on the way. */
#include "tacit/vector.h"
#include <math.h>
#include "wide.h"

#define WIDE_MAX (UINT64_C(1) << 62)
#define STEP_MAX (UINT64_C(1) << 13) /* chance of coming so far: below e^-8192 */
#define REFUSALS_MAX 256u            /* of draws that are kept with a chance of 1/2 or more */

/* ---- Rounding ---- */

/* The L1 norm, or NAN if an entry is no finite number. */
static double norm_of(const double *h, uint32_t dimension)
{
    double sum = 0;
    bool is_finite = true;
    for (uint32_t j = 0; j < dimension; j++) {
        is_finite = is_finite && isfinite(h[j]);
        sum += fabs(h[j]);
    }
    return is_finite ? sum : NAN;
}

/* Takes steps off the largest, lowest index first, until they fit. */
static void trim_steps(int64_t *steps, uint32_t dimension, int64_t excess)
{
    for (; excess > 0; excess--) {
        uint32_t largest = 0;
        for (uint32_t j = 1; j < dimension; j++)
            if ((steps[j] < 0 ? -steps[j] : steps[j]) >
                (steps[largest] < 0 ? -steps[largest] : steps[largest]))
                largest = j;
        steps[largest] += steps[largest] < 0 ? 1 : -1;
    }
}

void tacit_vector_quantise(const double *h, uint32_t dimension, double clip, int64_t *steps)
{
    TACIT_ASSERT(dimension >= 1);
    TACIT_ASSERT(dimension <= TACIT_VECTOR_DIMENSION_MAX);
    TACIT_ASSERT(clip > 0);
    double const norm = norm_of(h, dimension);
    double const scale = norm > clip ? clip / norm : 1; /* an infinite norm: 0 */
    int64_t sum = 0;
    for (uint32_t j = 0; j < dimension; j++) {
        double const share = isnan(norm) ? 0 : h[j] * scale / clip;
        double const bounded = share > 1 ? 1 : share < -1 ? -1 : share;
        steps[j] = (int64_t)(bounded * (double)TACIT_VECTOR_STEPS); /* toward zero */
        sum += steps[j] < 0 ? -steps[j] : steps[j];
    }
    trim_steps(steps, dimension, sum - TACIT_VECTOR_STEPS);
}

/* ---- Noise ---- */

/* Heads with probability x/(t k): a coin of x/t, and one of 1/k. The product t k need not fit. */
static enum tacit_status flip(uint64_t x, uint64_t t, uint64_t k,
                              const struct tacit_entropy *entropy, bool *heads)
{
    uint64_t draw;
    uint64_t other = 0;
    TACIT_TRY(tacit_entropy_below(entropy, t, &draw));
    if (k > 1)
        TACIT_TRY(tacit_entropy_below(entropy, k, &other));
    *heads = draw < x && other == 0;
    return TACIT_OK;
}

/* CKS Algorithm 1: exp(-x/t) by the first tails among coins of x/t, x/(2t), .. */
enum tacit_status privacy_bernoulli_exp(uint64_t x, uint64_t t, const struct tacit_entropy *entropy,
                                        bool *heads)
{
    for (uint64_t k = 1; k < STEP_MAX; k++) {
        bool goes_on;
        TACIT_TRY(flip(x, t, k, entropy, &goes_on));
        if (!goes_on) {
            *heads = k % 2 == 1;
            return TACIT_OK;
        }
    }
    return TACIT_ENTROPY; /* no chance, but a source that is broken (samplers.c) */
}

/* *u becomes j in {0, .., t-1} with probability proportional to exp(-j/t). */
static enum tacit_status part_of_scale(uint64_t t, const struct tacit_entropy *entropy, uint64_t *u)
{
    for (uint32_t refused = 0; refused < REFUSALS_MAX; refused++) { /* chance e^-1 each */
        bool accepted;
        uint64_t draw;
        TACIT_TRY(tacit_entropy_below(entropy, t, &draw));
        TACIT_TRY(privacy_bernoulli_exp(draw, t, entropy, &accepted));
        if (!accepted)
            continue;
        *u = draw;
        return TACIT_OK;
    }
    return TACIT_ENTROPY;
}

/* *v becomes the number of heads of Bernoulli(exp(-1)) before the first tails. */
static enum tacit_status whole_scales(const struct tacit_entropy *entropy, uint64_t *v)
{
    bool heads = true;
    for (uint64_t count = 0; count < STEP_MAX; count++) {
        TACIT_TRY(privacy_bernoulli_exp(1, 1, entropy, &heads));
        if (!heads) {
            *v = count;
            return TACIT_OK;
        }
    }
    return TACIT_ENTROPY;
}

/* Long division by 16 bits at a time. */
wide privacy_divide(wide dividend, uint64_t divisor)
{
    wide quotient = 0;
    uint64_t rest = 0;
    TACIT_ASSERT(divisor > 0);
    TACIT_ASSERT(divisor < PRIVACY_DIVISOR_MAX);
    for (uint32_t shift = 128; shift > 0; shift -= 16) {
        rest = rest << 16 | (uint64_t)(dividend >> (shift - 16) & 0xffff);
        quotient = quotient << 16 | rest / divisor;
        rest %= divisor;
    }
    return quotient;
}

enum tacit_status tacit_discrete_laplace_wide(uint64_t t, uint64_t s,
                                              const struct tacit_entropy *entropy, int64_t *noise)
{
    if (t == 0 || t > WIDE_MAX || s == 0 || s >= PRIVACY_DIVISOR_MAX)
        return TACIT_INVALID;
    for (uint32_t refused = 0; refused < REFUSALS_MAX; refused++) { /* chance 1/2 at most */
        uint64_t u;
        uint64_t v;
        uint64_t negative;
        TACIT_TRY(part_of_scale(t, entropy, &u));
        TACIT_TRY(whole_scales(entropy, &v));
        TACIT_TRY(tacit_entropy_below(entropy, 2, &negative));
        wide const quotient = privacy_divide((wide)t * v + u, s);
        int64_t const magnitude =
            quotient > (wide)INT64_MAX ? INT64_MAX : (int64_t)quotient; /* saturated */
        if (negative == 1 && magnitude == 0)
            continue; /* zero must not be counted twice */
        *noise = negative == 1 ? -magnitude : magnitude;
        return TACIT_OK;
    }
    return TACIT_ENTROPY;
}

/* The sum, at most TACIT_VECTOR_VALUE_MAX either way. Requires: |value| <= Q. */
static int64_t add_saturated(int64_t value, int64_t noise)
{
    int64_t const bounded = noise > TACIT_VECTOR_VALUE_MAX    ? TACIT_VECTOR_VALUE_MAX
                            : noise < -TACIT_VECTOR_VALUE_MAX ? -TACIT_VECTOR_VALUE_MAX
                                                              : noise;
    int64_t const sum = value + bounded; /* |value| <= Q: fits */
    return sum > TACIT_VECTOR_VALUE_MAX    ? TACIT_VECTOR_VALUE_MAX
           : sum < -TACIT_VECTOR_VALUE_MAX ? -TACIT_VECTOR_VALUE_MAX
                                           : sum;
}

enum tacit_status tacit_vector_noise(int64_t *steps, uint32_t dimension, uint64_t epsilon_nano,
                                     const struct tacit_entropy *entropy)
{
    TACIT_ASSERT(steps != NULL);
    TACIT_ASSERT(entropy != NULL);
    if (epsilon_nano < TACIT_VECTOR_EPSILON_NANO_MIN || epsilon_nano >= PRIVACY_DIVISOR_MAX)
        return TACIT_BUDGET;
    uint64_t const t = 2 * (uint64_t)TACIT_VECTOR_STEPS * UINT64_C(1000000000);
    for (uint32_t j = 0; j < dimension; j++) {
        int64_t noise;
        TACIT_ASSERT(steps[j] >= -TACIT_VECTOR_STEPS && steps[j] <= TACIT_VECTOR_STEPS);
        TACIT_TRY(tacit_discrete_laplace_wide(t, epsilon_nano, entropy, &noise));
        steps[j] = add_saturated(steps[j], noise);
    }
    return TACIT_OK;
}
