/* The ledger: integer nano-epsilon, checked addition, no refunds. */
#include "tacit/privacy.h"
#include <math.h>

uint64_t tacit_nano_of(double value)
{
    TACIT_ASSERT(value >= 0);
    TACIT_ASSERT(value < 0x1p33);
    return (uint64_t)floor(value * (double)TACIT_NANO * (1 + 0x1p-52));
}

uint64_t tacit_nano_up(double value)
{
    TACIT_ASSERT(value >= 0);
    TACIT_ASSERT(value < 0x1p33);
    return (uint64_t)ceil(value * (double)TACIT_NANO * (1 - 0x1p-52));
}

struct tacit_ledger tacit_ledger_init(uint64_t budget_nano)
{
    return (struct tacit_ledger){.budget_nano = budget_nano};
}

uint64_t tacit_ledger_spent_nano(const struct tacit_ledger *ledger)
{
    return ledger->past_scopes_nano +
           tacit_larger(ledger->closed_cells_nano, ledger->open_cell_nano);
}

enum tacit_status tacit_ledger_spend(struct tacit_ledger *ledger, uint64_t cell, uint64_t nano)
{
    struct tacit_ledger next = *ledger;
    if (cell < ledger->open_cell)
        return TACIT_INVALID;
    if (cell > ledger->open_cell) {
        next.closed_cells_nano = tacit_larger(next.closed_cells_nano, next.open_cell_nano);
        next.open_cell_nano = 0;
        next.open_cell = cell;
    }
    if (nano > UINT64_MAX - next.open_cell_nano || nano > UINT64_MAX - next.gross_nano)
        return TACIT_INVALID;
    next.open_cell_nano += nano;
    uint64_t const scope_nano = tacit_larger(next.closed_cells_nano, next.open_cell_nano);
    if (scope_nano > UINT64_MAX - next.past_scopes_nano)
        return TACIT_INVALID;
    if (next.past_scopes_nano + scope_nano > next.budget_nano)
        return TACIT_BUDGET;
    next.gross_nano += nano;
    next.release_count++;
    TACIT_ASSERT(tacit_ledger_spent_nano(&next) <= next.budget_nano);
    TACIT_ASSERT(next.release_count > ledger->release_count);
    *ledger = next;
    return TACIT_OK;
}

void tacit_ledger_next_scope(struct tacit_ledger *ledger)
{
    ledger->past_scopes_nano = tacit_ledger_spent_nano(ledger);
    ledger->closed_cells_nano = 0;
    ledger->open_cell_nano = 0;
    ledger->open_cell = 0;
}
