/* The price list of a user's participations, as it is kept in a state: no pointers. */
#ifndef TACIT_SELECT_BUDGET_H
#define TACIT_SELECT_BUDGET_H
#include "tacit/select.h"

struct select_prices {
    uint32_t kind;
    uint32_t is_exact;
    uint32_t is_free;        /* nothing is protected */
    uint32_t participations; /* 0: no limit */
    double total;
    double first; /* of the real-valued series */
    double decay; /* e^-eta */
    uint64_t total_nano;
    uint64_t first_nano;
    uint64_t decay_fixed; /* floor(2^63 e^-eta) */
};

bool select_budget_is_valid(const struct tacit_select_budget *budget);

/* Requires: a valid budget. */
struct select_prices select_prices_of(const struct tacit_select_budget *budget);

/* e_{i+1} of the exact series, from e_i. */
uint64_t select_price_after(const struct select_prices *prices, uint64_t nano);
#endif
