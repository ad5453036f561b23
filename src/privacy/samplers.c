/* Exact samplers in 64-bit integers (Canonne, Kamath, Steinke 2020). No floating point, no table.
 */
#include "tacit/privacy.h"
#include "../random/words.h"

#define SCALE_MAX (UINT64_C(1) << 50)
/* Bernoulli(exp(-x)) looks at k = 1, 2, ..; reaching k has chance x^k/k!, so 2^13 is seen only of a
 * source that is broken, as one that gives only zeros; and denominator * k <= 2^63 stays in 64
 * bits. */
#define STEP_MAX (UINT64_C(1) << 13)

/* First failure among Bernoulli(x/first), Bernoulli(x/(first + 1)), ..; at an odd k it means heads.
 * is_stream: of the entropy, here and below. */
RANDOM_INLINE enum tacit_status bernoulli_exp_from(uint64_t first, uint64_t numerator,
                                                   uint64_t denominator,
                                                   const struct tacit_entropy *entropy,
                                                   bool is_stream, bool *heads)
{
    for (uint64_t k = first; k <= STEP_MAX; k++) {
        uint64_t draw;
        TACIT_TRY(random_entropy_below(entropy, is_stream, denominator * k, &draw));
        if (draw >= numerator) {
            *heads = k % 2 == 1;
            return TACIT_OK;
        }
    }
    return TACIT_ENTROPY;
}

RANDOM_INLINE enum tacit_status bernoulli_exp(uint64_t numerator, uint64_t denominator,
                                              const struct tacit_entropy *entropy, bool is_stream,
                                              bool *heads)
{
    return bernoulli_exp_from(1, numerator, denominator, entropy, is_stream, heads);
}

/* Of x = 1: Bernoulli(1/1) never fails, but takes its word. */
RANDOM_INLINE enum tacit_status bernoulli_exp_of_one(const struct tacit_entropy *entropy,
                                                     bool is_stream, bool *heads)
{
    uint64_t word;
    TACIT_TRY(random_entropy_word(entropy, is_stream, &word));
    return bernoulli_exp_from(2, 1, 1, entropy, is_stream, heads);
}

enum tacit_status tacit_bernoulli_exp(uint64_t numerator, uint64_t denominator,
                                      const struct tacit_entropy *entropy, bool *heads)
{
    if (denominator == 0 || denominator > SCALE_MAX || numerator > denominator)
        return TACIT_INVALID;
    return bernoulli_exp(numerator, denominator, entropy, random_is_stream(entropy), heads);
}

/* *u becomes j in {0, .., t-1} with probability proportional to exp(-j/t). */
RANDOM_INLINE enum tacit_status truncated_geometric(uint64_t t, const struct tacit_entropy *entropy,
                                                    bool is_stream, uint64_t *u)
{
    TACIT_ASSERT(t > 0);
    for (uint32_t refused = 0; refused < RANDOM_REFUSALS_MAX; refused++) { /* chance e^-1 each */
        bool accepted;
        uint64_t draw;
        TACIT_TRY(random_entropy_below(entropy, is_stream, t, &draw));
        TACIT_TRY(bernoulli_exp(draw, t, entropy, is_stream, &accepted));
        if (!accepted)
            continue;
        *u = draw;
        TACIT_ASSERT(*u < t);
        return TACIT_OK;
    }
    return TACIT_ENTROPY;
}

/* *v becomes the number of heads of Bernoulli(exp(-1)) before the first tails. */
RANDOM_INLINE enum tacit_status whole_scales(const struct tacit_entropy *entropy, bool is_stream,
                                             uint64_t *v)
{
    uint64_t count = 0;
    for (;;) {
        bool heads;
        TACIT_TRY(bernoulli_exp_of_one(entropy, is_stream, &heads));
        if (!heads)
            break;
        count++;
        if (count == STEP_MAX) /* chance e^-8192 */
            return TACIT_ENTROPY;
    }
    *v = count;
    return TACIT_OK;
}

/* Always inlined, so that a stream, which simulations draw from, is asked for words alone. */
RANDOM_INLINE enum tacit_status discrete_laplace(uint64_t t, uint64_t s,
                                                 const struct tacit_entropy *entropy,
                                                 bool is_stream, int64_t *noise)
{
    for (uint32_t refused = 0; refused < RANDOM_REFUSALS_MAX; refused++) { /* chance 1/2 at most */
        uint64_t u;
        uint64_t v;
        uint64_t negative;
        TACIT_TRY(truncated_geometric(t, entropy, is_stream, &u));
        TACIT_TRY(whole_scales(entropy, is_stream, &v));
        TACIT_TRY(random_entropy_below(entropy, is_stream, 2, &negative));
        uint64_t const magnitude = (u + t * v) / s; /* <= 2^50 * 2^13: fits */
        if (magnitude == 0 && negative == 1)
            continue; /* zero must not be counted twice */
        /* No branch: a guess at the sign is wrong half of the time. */
        int64_t const sign = 1 - 2 * (int64_t)negative;
        *noise = sign * (int64_t)magnitude;
        return TACIT_OK;
    }
    return TACIT_ENTROPY;
}

enum tacit_status tacit_discrete_laplace(uint64_t t, uint64_t s,
                                         const struct tacit_entropy *entropy, int64_t *noise)
{
    if (t == 0 || s == 0 || t > SCALE_MAX || s > SCALE_MAX)
        return TACIT_INVALID;
    return random_is_stream(entropy) ? discrete_laplace(t, s, entropy, true, noise)
                                     : discrete_laplace(t, s, entropy, false, noise);
}
