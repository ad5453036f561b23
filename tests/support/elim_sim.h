/* Runs of epoch elimination in the simulator, as tests start them; and the checkers that watch them
 * from outside. */
#ifndef TACIT_TESTS_ELIM_SIM_H
#define TACIT_TESTS_ELIM_SIM_H
#include "../../src/families/elim/run.h"
#include "elim_watch.h"

/* Plays all runs on so many threads. Errors: as tacit_sim_run. */
enum tacit_status elim_sim_run(const struct elim_sim *experiment, uint32_t thread_count,
                               const struct tacit_sim_results *results,
                               struct tacit_sim_control *control);

/* Did every agent that is not lost reach T in the run that was played last? */
bool elim_sim_is_healed(const struct elim_run *run);

/* Plays run `run` alone. healed: as above. Errors: as above. */
enum tacit_status elim_sim_run_one(const struct elim_sim *experiment, uint32_t run,
                                   const struct tacit_sim_results *results,
                                   struct tacit_sim_control *control, bool *healed);

/* ---- Checkers -------------------------------------------------------------------------------- */

/* Watches a run from outside and remembers the first broken promise. */
struct elim_checker;

/* Errors: NULL when out of memory. */
struct elim_checker *elim_checker_new(const struct elim_sim *experiment);
void elim_checker_free(struct elim_checker *checker);

/* The observer to put into the experiment; agent_fault is NULL and may be set by a test. */
struct elim_observer elim_checker_observer(struct elim_checker *checker);

/* Compares the totals counted outside with the run's metrics. */
void elim_checker_finish(struct elim_checker *checker, const struct tacit_sim_results *results,
                         uint32_t run);

/* The first broken promise in words, or NULL. */
const char *elim_checker_fault(const struct elim_checker *checker);
#endif
