/* The layout of a selection's state. */
#ifndef TACIT_SELECT_STATE_H
#define TACIT_SELECT_STATE_H
#include "budget.h"

/* A vector's noise has scale 2 Q 1e9 / e_i <= 2^20 Q (SELECT.md 2.8): less buys nothing that can be
 * drawn. 2e9 / 2^20 = 1907.3 */
#define SELECT_PRICE_MIN_NANO UINT64_C(1908)

struct select_head {
    struct tacit_select_config config; /* without its list of prices, which is a column */
    uint64_t round_count;
    uint64_t size_total;
    struct select_prices prices;
};

struct select_columns {
    uint64_t *sizes;
    double *means;
    uint64_t *spent; /* nano-epsilon, or the bits of a double */
    uint64_t *next;  /* price of the next participation, likewise */
    uint64_t *given; /* the caller's list, likewise */
    uint32_t *counts;
};

/* Where the columns lie in the state: an entry a user; `given` one a participation, of prices
 * TACIT_SELECT_GIVEN only. Who holds the state const must not write through them. */
struct select_columns select_columns_of(const struct tacit_select *select);

/* Has this user budget for one participation more? */
bool select_can_pay(const struct tacit_select *select, uint32_t user);
#endif
