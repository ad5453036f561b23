/* Running the runs of an experiment: what `tacit run` and `tacit reproduce` have in common. */
#ifndef TACIT_PROGRAMS_SIMULATE_H
#define TACIT_PROGRAMS_SIMULATE_H
#include "kept.h"
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

/* `asked`, or one thread a processor if that is 0. */
uint32_t simulate_threads(uint32_t asked);

/* Ensures: the simulation is to be given to simulation_free, whatever the status.
 * Errors: as tacit_sim_run. */
enum tacit_status simulate(struct simulation *simulation, const struct tacit_experiment *experiment,
                           uint32_t thread_count, struct tacit_sim_control *control);

/* The same, from a file of kept runs (NULL: none) on, and into it: about every ten seconds, and
 * when they are stopped. Errors: also TACIT_INVALID, TACIT_IO with error->text, of the file. */
enum tacit_status simulate_kept(struct simulation *simulation,
                                const struct tacit_experiment *experiment, const struct kept *kept,
                                uint32_t thread_count, struct tacit_sim_control *control,
                                struct tacit_error *error);

/* The rows of the runs first to end - 1. */
struct simulation_part {
    uint32_t first;
    uint32_t end;
    void *rows; /* to be freed */
    size_t size;
};

/* Plays these runs alone. Requires: nobody else uses this control. Errors: as tacit_sim_run. */
enum tacit_status simulate_part(struct simulation_part *part,
                                const struct tacit_experiment *experiment, uint32_t thread_count,
                                struct tacit_sim_control *control);

/* What `simulate` would have given, from parts that have all runs. Ensures: the simulation is to be
 * given to simulation_free, whatever the status. Errors: TACIT_MEMORY; TACIT_INVALID: they do not
 * have them. */
enum tacit_status simulate_join(struct simulation *simulation,
                                const struct tacit_experiment *experiment,
                                const struct simulation_part *parts, uint32_t part_count);

/* Plays the baselines that the file names. Requires: all runs of the experiment have finished.
 * Errors: as tacit_sim_run. */
enum tacit_status simulate_baselines(struct simulation *simulation,
                                     const struct tacit_experiment *experiment,
                                     uint32_t thread_count, struct tacit_sim_control *control);

/* Why it failed, in words: error->text if there is one; what memory would be needed. */
void simulate_explain(const struct tacit_experiment *experiment, enum tacit_status status,
                      uint32_t thread_count, struct tacit_error *error);

void simulation_free(struct simulation *simulation);
#endif
