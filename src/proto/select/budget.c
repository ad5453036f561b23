/* What the i-th participation of a user costs: exact integers of nano-epsilon, or the paper's
 * real-valued series. */
#include "budget.h"
#include <math.h>
#include "../../privacy/wide.h"

#define FRACTION_BITS 94u /* of the series: a term times eta_nano < 2^31 fits 128 bits */
#define KEPT_BITS 75u

/* e^-x as 1 - x + x^2/2 - ...; the terms that are taken away are rounded down, so are the others,
 * and what is left out is below 2^-88. */
static wide exp_minus(uint64_t eta_nano)
{
    TACIT_ASSERT(eta_nano <= (uint64_t)(TACIT_SELECT_ETA_MAX * (double)TACIT_NANO));
    wide const one = (wide)1 << FRACTION_BITS;
    wide plus = one;
    wide minus = 0;
    wide term = one;
    for (uint64_t n = 1; term > 0; n++) {
        term = privacy_divide(term * eta_nano, TACIT_NANO * n);
        if (n % 2 == 1)
            minus += term;
        else
            plus += term;
    }
    TACIT_ASSERT(plus >= minus);
    return plus - minus;
}

static uint64_t eta_nano_of(double eta)
{
    TACIT_ASSERT(eta >= 0);
    return (uint64_t)floor(eta * (double)TACIT_NANO + 0.5);
}

uint64_t tacit_select_decay(uint64_t eta_nano)
{
    TACIT_ASSERT(eta_nano <= (uint64_t)(TACIT_SELECT_ETA_MAX * (double)TACIT_NANO));
    return (uint64_t)(exp_minus(eta_nano) >> (FRACTION_BITS - 63));
}

bool tacit_select_floor_holds(uint64_t floor_nano, double total)
{
    TACIT_ASSERT(!(total < 0));
    return floor_nano == 0 || (double)floor_nano >= total * (double)TACIT_NANO * (1 - 1e-12);
}

/* floor(total_nano (1 - e^-eta)): e_1 of the geometric series. */
static uint64_t first_nano(uint64_t total_nano, uint64_t eta_nano)
{
    wide const rest = ((wide)1 << FRACTION_BITS) - exp_minus(eta_nano);
    TACIT_ASSERT(rest <= (wide)1 << FRACTION_BITS);
    return (uint64_t)((rest >> (FRACTION_BITS - KEPT_BITS)) * total_nano >> KEPT_BITS);
}

static bool is_list_valid(const struct tacit_select_budget *budget)
{
    if (budget->participations == 0 || budget->participations > TACIT_SELECT_BUDGETS_MAX ||
        budget->given == NULL)
        return false;
    double sum = 0;
    for (uint32_t i = 0; i < budget->participations; i++) {
        if (!(budget->given[i] > 0))
            return false;
        sum += budget->given[i];
    }
    return sum <= budget->total * (1 + 1e-12);
}

bool select_budget_is_valid(const struct tacit_select_budget *budget)
{
    if (!(budget->total > 0))
        return false;
    if (isinf(budget->total))
        return !budget->is_exact;
    if (budget->total > TACIT_EPSILON_MAX)
        return false;
    switch (budget->kind) {
    case TACIT_SELECT_GEOMETRIC:
        return budget->eta >= 1e-9 && budget->eta <= TACIT_SELECT_ETA_MAX;
    case TACIT_SELECT_UNIFORM:
        return budget->participations > 0;
    case TACIT_SELECT_GIVEN:
        return is_list_valid(budget);
    }
    return false;
}

struct select_prices select_prices_of(const struct tacit_select_budget *budget)
{
    struct select_prices prices = {
        .kind = (uint32_t)budget->kind,
        .is_exact = budget->is_exact,
        .is_free = isinf(budget->total) ? 1 : 0,
        .participations = budget->kind == TACIT_SELECT_GEOMETRIC ? 0 : budget->participations,
        .total = budget->total};
    if (prices.is_free != 0)
        return prices;
    uint64_t const eta_nano = budget->kind == TACIT_SELECT_GEOMETRIC ? eta_nano_of(budget->eta) : 0;
    prices.total_nano = (uint64_t)floor(budget->total * (double)TACIT_NANO);
    prices.decay = exp(-tacit_nano_value(eta_nano));
    if (budget->kind == TACIT_SELECT_GEOMETRIC) {
        prices.decay_fixed = tacit_select_decay(eta_nano);
        prices.first_nano = first_nano(prices.total_nano, eta_nano);
        prices.first = -budget->total * expm1(-tacit_nano_value(eta_nano));
    } else if (budget->kind == TACIT_SELECT_UNIFORM) {
        prices.first_nano = prices.total_nano / budget->participations;
        prices.first = budget->total / budget->participations;
    }
    return prices;
}

uint64_t select_price_after(const struct select_prices *prices, uint64_t nano)
{
    TACIT_ASSERT(nano <= prices->total_nano);
    if (prices->kind != TACIT_SELECT_GEOMETRIC)
        return nano;
    return (uint64_t)((wide)nano * prices->decay_fixed >> 63);
}
