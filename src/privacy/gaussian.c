/* The exact discrete Gaussian, and the ledger in rho. */
#include "tacit/gaussian.h"
#include <math.h>
#include "tacit/vector.h"
#include "wide.h"

/* A draw is kept with a chance of a half or so, whatever sigma: so many refused in a row are no
 * chance, but a source that is broken. */
#define REFUSALS_MAX 4096u

#define NUMERATOR_BITS 126u

/* ---- Scale ---- */

/* The quotient, rounded up. Bit by bit: a compiler's own division would call its run-time
 * library. */
static wide divide_up(wide dividend, wide divisor)
{
    wide quotient = 0;
    wide rest = 0;
    TACIT_ASSERT(divisor > 0);
    TACIT_ASSERT(divisor < (wide)1 << 126);
    for (uint32_t bit = 128; bit > 0; bit--) {
        rest = rest << 1 | (dividend >> (bit - 1) & 1);
        quotient <<= 1;
        if (rest >= divisor) {
            rest -= divisor;
            quotient |= 1;
        }
    }
    return rest > 0 ? quotient + 1 : quotient;
}

static uint32_t bit_length(wide value)
{
    uint32_t length = 0;
    for (; value > 0; value >>= 1)
        length++;
    return length;
}

enum tacit_status tacit_gaussian_init(struct tacit_gaussian *gaussian, uint64_t numerator,
                                      uint32_t shift, uint64_t denominator)
{
    TACIT_ASSERT(numerator > 0);
    TACIT_ASSERT(denominator > 0);
    if (shift > 62 || bit_length(numerator) + shift > NUMERATOR_BITS)
        return TACIT_INVALID;
    wide const variance = divide_up((wide)numerator << shift, denominator);
    if (variance > (wide)1 << TACIT_GAUSSIAN_VARIANCE_LOG2_MAX)
        return TACIT_INVALID;
    /* sigma <= 2^k < 2 sigma, or less where sigma^2 is a power of two. */
    uint32_t const k = bit_length(variance) / 2;
    wide const quotient = divide_up(variance, (wide)1 << k);
    *gaussian = (struct tacit_gaussian){.scale_log2 = k, .quotient = (uint64_t)quotient};
    TACIT_ASSERT(gaussian->quotient > 0);
    return TACIT_OK;
}

double tacit_gaussian_variance(const struct tacit_gaussian *gaussian)
{
    return (double)gaussian->quotient * (double)(UINT64_C(1) << gaussian->scale_log2);
}

/* ---- Sampler ---- */

/* Heads with probability exp(-numerator/denominator): e^-1 for each whole, then what is left. */
static enum tacit_status accept(wide numerator, uint64_t denominator,
                                const struct tacit_entropy *entropy, bool *heads)
{
    TACIT_ASSERT(denominator > 0);
    *heads = true;
    for (; numerator >= denominator && *heads; numerator -= denominator)
        TACIT_TRY(privacy_bernoulli_exp(1, 1, entropy, heads));
    return *heads ? privacy_bernoulli_exp((uint64_t)numerator, denominator, entropy, heads)
                  : TACIT_OK;
}

/* Algorithm 3 with t = 2^k, sigma^2 = t q: discrete Laplace of scale t, kept with probability
 * exp(-(|y| - sigma^2/t)^2/(2 sigma^2)), and sigma^2/t = q is whole. */
enum tacit_status tacit_discrete_gaussian(const struct tacit_gaussian *gaussian,
                                          const struct tacit_entropy *entropy, int64_t *noise)
{
    TACIT_ASSERT(entropy != NULL);
    TACIT_ASSERT(gaussian->quotient > 0);
    uint64_t const t = UINT64_C(1) << gaussian->scale_log2;
    uint64_t const twice = 2 * gaussian->quotient * t; /* <= 2^62: gaussian_init */
    for (uint32_t refused = 0; refused < REFUSALS_MAX; refused++) {
        int64_t y;
        bool is_kept;
        TACIT_TRY(tacit_discrete_laplace_wide(t, 1, entropy, &y));
        uint64_t const magnitude = (uint64_t)(y < 0 ? -y : y);
        uint64_t const distance = magnitude > gaussian->quotient ? magnitude - gaussian->quotient
                                                                 : gaussian->quotient - magnitude;
        TACIT_TRY(accept((wide)distance * distance, twice, entropy, &is_kept));
        if (is_kept) {
            *noise = y;
            return TACIT_OK;
        }
    }
    return TACIT_ENTROPY;
}

/* ---- Ledger ---- */

uint64_t tacit_rho_of_epsilon_nano(double epsilon, double delta)
{
    TACIT_ASSERT(epsilon > 0 && epsilon <= TACIT_EPSILON_MAX);
    TACIT_ASSERT(delta > 0 && delta < 1);
    double const level = -log(delta);
    /* epsilon/(sqrt(a + epsilon) + sqrt(a)), which cancels nothing; a part in 1e12 is given away
     * for its rounding. */
    double const root = epsilon / (sqrt(level + epsilon) + sqrt(level));
    return (uint64_t)floor(root * root * (double)TACIT_NANO * (1.0 - 1e-12));
}

uint64_t tacit_rho_of_pure_nano(uint64_t epsilon_nano)
{
    TACIT_ASSERT(epsilon_nano <= (uint64_t)TACIT_EPSILON_MAX * TACIT_NANO);
    return (uint64_t)divide_up((wide)epsilon_nano * epsilon_nano, 2 * TACIT_NANO);
}

struct tacit_rho_ledger tacit_rho_ledger_init(uint64_t budget_nano)
{
    return (struct tacit_rho_ledger){.budget_nano = budget_nano};
}

uint64_t tacit_rho_ledger_spent_nano(const struct tacit_rho_ledger *ledger)
{
    uint64_t spent = 0;
    for (uint32_t group = 0; group < TACIT_RHO_GROUPS_MAX; group++)
        spent += ledger->group_nano[group]; /* the sum is within the budget */
    return spent;
}

enum tacit_status tacit_rho_ledger_spend(struct tacit_rho_ledger *ledger, uint32_t group,
                                         uint64_t nano)
{
    TACIT_ASSERT(group < TACIT_RHO_GROUPS_MAX);
    TACIT_ASSERT(tacit_rho_ledger_spent_nano(ledger) <= ledger->budget_nano);
    uint64_t const before = ledger->group_nano[group];
    uint64_t const more = nano > before ? nano - before : 0;
    if (more > ledger->budget_nano - tacit_rho_ledger_spent_nano(ledger))
        return TACIT_BUDGET;
    ledger->group_nano[group] += more;
    ledger->release_count++;
    TACIT_ASSERT(tacit_rho_ledger_spent_nano(ledger) <= ledger->budget_nano);
    return TACIT_OK;
}
