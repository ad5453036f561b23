/* Runs of epoch elimination in the simulator. */
#ifndef TACIT_FAMILIES_ELIM_RUN_H
#define TACIT_FAMILIES_ELIM_RUN_H
#include "experiment.h"

struct elim_run; /* the workspace of one thread, used for one run after the other */

/* Would the cores take this plan? */
bool elim_sim_is_valid(const struct elim_sim *experiment);

/* About how many bytes the workspace needs: those of the first agent stand for all. */
double elim_sim_bytes(const struct elim_sim *experiment);

/* A player of the simulator's threads; the plan begins with an elim_sim. What it plays with is an
 * elim_run, given back by tacit_sim_delete. Errors: NULL with *status = TACIT_MEMORY or
 * TACIT_INVALID. */
void *elim_run_new(const void *plan, enum tacit_status *status);

/* Plays run number `index` to its end and fills the row; where *stop becomes true it is given up.
 * Errors: TACIT_INTERRUPTED, TACIT_MEMORY, TACIT_INVALID. */
enum tacit_status elim_run_play(void *run, uint32_t index, struct tacit_sim_row *row,
                                atomic_bool *stop);
#define ELIM_PLAYER                                                                                \
    {                                                                                              \
        .metric_count = ELIM_METRIC_COUNT, .run_new = elim_run_new, .run_play = elim_run_play      \
    }
#endif
