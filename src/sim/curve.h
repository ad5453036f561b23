/* The regret of a run over its slots, recorded at chosen points. */
#ifndef TACIT_SIM_CURVE_H
#define TACIT_SIM_CURVE_H
#include "tacit/elim.h"

struct sim_curve {
    const uint64_t *points;
    uint32_t point_count;
    double *step;    /* joins the curve at this point and stays */
    double *partial; /* counts at this point only */
    double total;
};

/* Adds what one agent loses by playing the plan in slots first+1 .. first+length, its arms in turn
 * by index. Requires: length is the sum of the counts. */
void sim_curve_add_plan(struct sim_curve *curve, uint64_t first,
                        const struct tacit_pull_block *plan, uint32_t plan_count,
                        const double *gaps);

/* Writes the cumulative regret at each point. */
void sim_curve_read(const struct sim_curve *curve, double *regret);
#endif
