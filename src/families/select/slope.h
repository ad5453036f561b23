/* The growth of a selector's regret, measured. */
#ifndef FAMILIES_SELECT_SLOPE_H
#define FAMILIES_SELECT_SLOPE_H
#include "select.h"

struct select_slope {
    double value; /* of log regret over log rounds; NaN: too few rounds, or the budgets end before,
                     or nothing was lost */
    uint64_t first; /* rounds that it was measured over */
    uint64_t last;
    uint32_t run_count;
};

/* Plays a few short runs of selection alone (a second at most) and fits a line through the regret
 * in the genie's measure, Eq. (10), over their last decade. Errors: TACIT_MEMORY. */
enum tacit_status select_measure_slope(const struct select_plan *plan, struct select_slope *slope);
#endif
