/* Runs of the phased index in the simulator: cores as nodes around a hub, or a loop around the
 * judge alone. */
#ifndef TACIT_FAMILIES_PHASED_RUN_H
#define TACIT_FAMILIES_PHASED_RUN_H
#include "experiment.h"

/* What a run came to. */
struct phased_outcome {
    struct tacit_sim_totals totals;
    double agents;
    double rounds;  /* with reports */
    double links;   /* M a round */
    double cost;    /* of these */
    double samples; /* rewards in releases */
    double floor;   /* EXACT-BOUNDS 8; NaN: there is none */
    bool decided;   /* one arm is left of the ranking */
    bool best;      /* the last leader has the largest mean */
};

struct phased_run; /* the workspace of one thread, used for one run after the other */

/* Errors: NULL with *status = TACIT_MEMORY or TACIT_INVALID. */
struct phased_run *phased_run_new(const struct phased_sim *sim, enum tacit_status *status);

/* Plays run number `index` to its end; fills the row but for its metrics. *healed: every agent that
 * is not lost reached T. Errors: TACIT_INTERRUPTED, TACIT_MEMORY, TACIT_INVALID. */
enum tacit_status phased_run_play(struct phased_run *run, uint32_t index, struct tacit_sim_row *row,
                                  atomic_bool *stop, bool *healed, struct phased_outcome *outcome);
#endif
