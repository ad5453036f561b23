/* Starting runs of epoch elimination without an experiment file. */
#include "elim_sim.h"
#include <stdlib.h>
#include "../../src/families/elim/state.h"
#include "faults.h"

static const struct tacit_sim_player player = ELIM_PLAYER;

enum tacit_status elim_sim_run(const struct elim_sim *experiment, uint32_t thread_count,
                               const struct tacit_sim_results *results,
                               struct tacit_sim_control *control)
{
    return tacit_sim_run(&experiment->common, &player, experiment, thread_count, results, control);
}

bool elim_sim_is_healed(const struct elim_run *run)
{
    return run->flood != NULL || faults_are_healed(run->nodes);
}

enum tacit_status elim_sim_run_one(const struct elim_sim *experiment, uint32_t index,
                                   const struct tacit_sim_results *results,
                                   struct tacit_sim_control *control, bool *healed)
{
    enum tacit_status status = TACIT_MEMORY;
    struct tacit_sim_row *const row = tacit_sim_row_new(&experiment->common, ELIM_METRIC_COUNT);
    struct elim_run *const run = row == NULL ? NULL : elim_run_new(experiment, &status);
    if (run != NULL)
        status = elim_run_play(run, index, row, &control->stop);
    if (run != NULL && status == TACIT_OK) {
        *healed = elim_sim_is_healed(run);
        tacit_sim_results_put(results, &experiment->common, ELIM_METRIC_COUNT, index, row);
    }
    tacit_sim_delete(run);
    free(row);
    return status;
}
