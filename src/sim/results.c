/* Rows that runs fill, and their places in the results of an experiment. */
#include "tacit/sim.h"
#include <stdlib.h>
#include <string.h>

struct tacit_sim_row *tacit_sim_row_new(const struct tacit_sim *sim, uint32_t metric_count)
{
    size_t const arms = sim->env.arm_count;
    size_t const points = sim->point_count;
    size_t const doubles = metric_count + points + sim->profile_values + sim->curve_count * points;
    struct tacit_sim_row *const row =
        calloc(1, sizeof *row + doubles * sizeof(double) + 2 * arms * sizeof(uint32_t));
    if (row == NULL)
        return NULL;
    double *const numbers = (double *)(void *)(row + 1);
    row->metrics = numbers;
    row->regret = numbers + metric_count;
    row->profiles = row->regret + points;
    row->curves = row->profiles + sim->profile_values;
    row->eliminated = (uint32_t *)(void *)(numbers + doubles);
    row->ranking = row->eliminated + arms;
    row->thread_count = 1;
    return row;
}

void tacit_sim_row_clear(struct tacit_sim_row *row, const struct tacit_sim *sim,
                         uint32_t metric_count)
{
    TACIT_ASSERT(row->metrics != NULL);
    memset(row->metrics, 0, metric_count * sizeof(double));
    memset(row->regret, 0, sim->point_count * sizeof(double));
    memset(row->profiles, 0, sim->profile_values * sizeof(double));
    memset(row->curves, 0, (size_t)sim->curve_count * sim->point_count * sizeof(double));
    memset(row->eliminated, 0, sim->env.arm_count * sizeof(uint32_t));
    memset(row->ranking, 0, sim->env.arm_count * sizeof(uint32_t));
    row->ranked_count = 0;
}

void tacit_sim_row_elect(struct tacit_sim_row *row, uint32_t arm_count)
{
    uint32_t winner = 0;
    TACIT_ASSERT(arm_count > 0);
    for (uint32_t arm = 1; arm < arm_count; arm++)
        winner = row->ranking[arm] > row->ranking[winner] ? arm : winner;
    bool const is_known = row->ranking[winner] > 0 || arm_count == 1;
    row->ranked_count = is_known ? 1 : arm_count;
    row->ranking[0] = winner;
    for (uint32_t arm = 1; !is_known && arm < arm_count; arm++)
        row->ranking[arm] = arm;
}

void tacit_sim_results_put(const struct tacit_sim_results *results, const struct tacit_sim *sim,
                           uint32_t metric_count, uint32_t run, const struct tacit_sim_row *row)
{
    TACIT_ASSERT(results->finished != NULL);
    size_t const runs = sim->run_count;
    uint32_t const arms = sim->env.arm_count;
    TACIT_ASSERT(run < runs);
    TACIT_ASSERT(row->ranked_count <= arms);
    for (uint32_t metric = 0; metric < metric_count; metric++)
        results->metrics[metric * runs + run] = row->metrics[metric];
    memcpy(results->regret + (size_t)run * sim->point_count, row->regret,
           sim->point_count * sizeof(double));
    if (results->profiles != NULL)
        memcpy(results->profiles + (size_t)run * sim->profile_values, row->profiles,
               sim->profile_values * sizeof(double));
    for (uint32_t i = 0; results->curves != NULL && i < sim->curve_count; i++)
        memcpy(results->curves + (i * runs + run) * sim->point_count,
               row->curves + (size_t)i * sim->point_count, sim->point_count * sizeof(double));
    for (uint32_t arm = 0; results->eliminated != NULL && arm < arms; arm++)
        results->eliminated[arm * runs + run] = row->eliminated[arm];
    if (results->ranking != NULL)
        memcpy(results->ranking + (size_t)run * arms, row->ranking, arms * sizeof(uint32_t));
    if (results->ranked_count != NULL)
        results->ranked_count[run] = row->ranked_count;
    results->finished[run] = true;
}
