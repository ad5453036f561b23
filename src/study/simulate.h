/* Running the runs of an experiment, and the baselines that its file names. */
#ifndef TACIT_STUDY_SIMULATE_H
#define TACIT_STUDY_SIMULATE_H
#include "run_cache.h"
#include "tacit/family.h"

/* The runs that finished; rows and columns of the results have `finished` runs. */
struct simulation {
    struct tacit_sim_results results;
    uint32_t finished;
    double *uniform;        /* regret of uniform play in each run; NULL: not defined */
    double *floor;          /* of the floor; NULL: not defined */
    double **played;        /* of the baselines that the file names; NULL: not all were played */
    double **played_curves; /* their mean regret over the runs at each point; as many */
    uint32_t played_count;
};

/* Catches Ctrl-C: the first asks the runs to end, a second one ends the program. The control is one
 * for the whole program and counts the runs of all experiments. */
struct tacit_sim_control *simulate_control(void);

/* `asked`, or one thread for each processor that this process may use if that is 0. */
uint32_t simulate_threads(uint32_t asked);

/* Plays the runs that the cache (NULL: none) does not have, among those that it says this call
 * plays, and keeps them there: about every ten seconds, and when they are stopped. Ensures: the
 * simulation is to be given to simulation_free, whatever the status. Errors: as tacit_sim_run; with
 * error->text TACIT_INVALID and TACIT_IO of the cache. */
enum tacit_status simulate(struct simulation *simulation, const struct tacit_experiment *experiment,
                           const struct run_cache *cache, uint32_t thread_count,
                           struct tacit_sim_control *control, struct tacit_error *error);

/* The same for the baselines that the file names, each a player of the cache's folder. Requires:
 * all runs of the experiment have finished. */
enum tacit_status simulate_baselines(struct simulation *simulation,
                                     const struct tacit_experiment *experiment,
                                     const struct run_cache *cache, uint32_t thread_count,
                                     struct tacit_sim_control *control, struct tacit_error *error);

/* The same for the experiment and its baselines, and nothing is told but which runs some of them
 * has not finished, in missing[run_count] (NULL: is not asked). Requires: the cache is a folder. */
enum tacit_status simulate_share(const struct tacit_experiment *experiment,
                                 const struct run_cache *cache, uint32_t thread_count,
                                 struct tacit_sim_control *control, bool *missing,
                                 struct tacit_error *error);

/* Why it failed, in words: error->text if there is one; what memory would be needed. */
void simulate_explain(const struct tacit_experiment *experiment, enum tacit_status status,
                      uint32_t thread_count, struct tacit_error *error);

void simulation_free(struct simulation *simulation);
#endif
