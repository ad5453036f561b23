/* One run of epoch elimination in virtual time. */
#ifndef TACIT_SIM_ELIM_RUN_H
#define TACIT_SIM_ELIM_RUN_H
#include "tacit/sim.h"

struct elim_run; /* the workspace of one thread, used for one run after the other */

/* Errors: NULL with *status = TACIT_MEMORY or TACIT_INVALID. */
struct elim_run *elim_run_new(const struct tacit_sim_elim *experiment, enum tacit_status *status);
void elim_run_free(struct elim_run *run);

/* Plays run number `index` to its end and writes its results. *healed: every agent
 * that is not lost reached T.
 * Errors: TACIT_INTERRUPTED, TACIT_MEMORY; the results of this run are then not written. */
enum tacit_status elim_run_play(struct elim_run *run, uint32_t index,
                                const struct tacit_sim_results *results, atomic_bool *stop,
                                bool *healed);
#endif
