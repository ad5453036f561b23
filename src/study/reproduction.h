/* One paper under reproduction: its claims, the experiments that they need, and the report on them.
 */
#ifndef TACIT_STUDY_REPRODUCTION_H
#define TACIT_STUDY_REPRODUCTION_H
#include "simulate.h"
#include "tacit/report.h"

struct reproduction {
    struct tacit_claims *claims;
    bool *figures_wanted;     /* one a figure */
    bool *figures_left;       /* one a figure: asked for, but not by its own ID, and takes hours */
    bool *experiments_wanted; /* one an experiment; set by reproduction_prepare */
    struct tacit_experiment *experiments; /* the wanted ones are loaded */
    struct simulation *simulations;       /* the wanted ones have run */
    struct reproduction_room *rooms;      /* memory of the report */
    bool is_out_of_memory;                /* some of it was not to be had */
    struct tacit_report_paper report;
};

/* Reads a claims file. Ensures: on TACIT_OK to be given to reproduction_free.
 * Errors: as tacit_claims_load; also a metric that the simulator does not have. */
enum tacit_status reproduction_load(struct reproduction *reproduction, const char *path,
                                    struct tacit_error *error);
void reproduction_free(struct reproduction *reproduction);

/* Loads what the wanted figures need; with few runs each if it is to be fast. A figure whose data
 * are not here is said so of on stderr, and is not wanted any more; TACIT_IO where none is left.
 * Errors: as experiment_load; also runs of which a measure cannot be made. */
enum tacit_status reproduction_prepare(struct reproduction *reproduction, bool is_fast,
                                       struct tacit_error *error);

/* Runs of all wanted experiments together. */
uint32_t reproduction_run_count(const struct reproduction *reproduction);

/* Runs them, one after the other; each keeps its runs in a file of the folder `kept` (NULL: none),
 * and goes on from it. Errors: as simulate. */
enum tacit_status reproduction_run(struct reproduction *reproduction, const char *kept,
                                   uint32_t thread_count, struct tacit_sim_control *control,
                                   struct tacit_error *error);

/* Removes these files. */
void reproduction_forget(const struct reproduction *reproduction, const char *kept);

/* Makes the report on the wanted figures. Requires: all has run. Errors: TACIT_MEMORY. */
enum tacit_status reproduction_report(struct reproduction *reproduction, bool is_fast);
#endif
