/* How the regret of a selector grows, measured: what stands beside the bound (17) in `check`. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "select.h"
#include "slope.h"

#define ROUNDS_MAX 10000u /* enough for a slope, and a second at most */
#define CHOICES_MAX 3000000u
#define STEPS_MAX 600000u
#define RUNS 4u
#define POINTS 12u

/* So many rounds of so many users and steps of an annealing take about a second. */
static uint64_t rounds_of(const struct select_plan *plan)
{
    bool const anneals = plan->keys.choice.selector == TACIT_SELECTOR_ANNEALING;
    uint64_t const by_users = CHOICES_MAX / plan->config.user_count;
    uint64_t const by_steps =
        anneals ? STEPS_MAX / plan->keys.choice.annealing.iterations : ROUNDS_MAX;
    uint64_t rounds = plan->common.horizon < ROUNDS_MAX ? plan->common.horizon : ROUNDS_MAX;
    rounds = rounds < by_users ? rounds : by_users;
    return rounds < by_steps ? rounds : by_steps;
}

/* The last decade of the rounds, at equal distances on a log scale. */
static uint32_t make_points(uint64_t rounds, uint64_t points[POINTS])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < POINTS; i++) {
        double const share = (double)i / (POINTS - 1);
        uint64_t const point = (uint64_t)floor((double)rounds * pow(10, share - 1) + 0.5);
        if (count == 0 || point > points[count - 1])
            points[count++] = point;
    }
    return count;
}

/* Least squares of log(sum) over log(point). */
static double fit(const uint64_t *points, const double *sums, uint32_t count)
{
    double x_sum = 0;
    double y_sum = 0;
    double xx = 0;
    double xy = 0;
    for (uint32_t i = 0; i < count; i++) {
        x_sum += log((double)points[i]) / count;
        y_sum += log(sums[i]) / count;
    }
    for (uint32_t i = 0; i < count; i++) {
        double const x = log((double)points[i]) - x_sum;
        xx += x * x;
        xy += x * (log(sums[i]) - y_sum);
    }
    return xy / xx;
}

/* Adds the regret of one run at the points; *is_whole: it did not end before. */
static enum tacit_status add_run(void *run, uint32_t index, const struct tacit_sim *sim,
                                 struct tacit_sim_row *row, double *sums, bool *is_whole)
{
    atomic_bool stop = false;
    tacit_sim_row_clear(row, sim, SELECT_METRIC_COUNT);
    enum tacit_status const status = select_run_play(run, index, row, &stop);
    *is_whole = *is_whole && row->metrics[SELECT_EXHAUSTED] < 1;
    const double *const regret =
        row->profiles + (size_t)SELECT_REGRET_GENIE_BY_ROUND * sim->series_count;
    for (uint32_t i = 0; i < sim->series_count; i++)
        sums[i] += regret[i];
    return status;
}

/* Sums over RUNS runs. The pilot's arrays stay their owner's. */
static enum tacit_status play(const struct select_plan *pilot, double *sums, bool *is_whole)
{
    enum tacit_status status;
    struct tacit_sim const *const sim = &pilot->common;
    void *const run = select_run_new(pilot, &status);
    struct tacit_sim_row *const row = tacit_sim_row_new(sim, SELECT_METRIC_COUNT);
    if (run != NULL && row == NULL)
        status = TACIT_MEMORY;
    *is_whole = true;
    for (uint32_t i = 0; i < RUNS && status == TACIT_OK; i++)
        status = add_run(run, i, sim, row, sums, is_whole);
    free(row);
    tacit_sim_delete(run);
    return status;
}

enum tacit_status select_measure_slope(const struct select_plan *plan, struct select_slope *slope)
{
    uint64_t points[POINTS];
    double sums[POINTS] = {0};
    struct select_plan pilot = *plan;
    uint64_t const rounds = rounds_of(plan);
    *slope = (struct select_slope){.value = NAN, .last = rounds, .run_count = RUNS};
    if (rounds < 100)
        return TACIT_OK;
    pilot.keys.training.is_on = false;
    pilot.evaluations = NULL;
    if (pilot.keys.choice.selector == TACIT_SELECTOR_BRUTE)
        pilot.keys.choice.selector = TACIT_SELECTOR_EXACT; /* the same sets by value */
    pilot.common.horizon = rounds;
    pilot.common.points = pilot.common.series_slots = points;
    pilot.common.point_count = pilot.common.series_count = make_points(rounds, points);
    pilot.common.profile_values = SELECT_SERIES_COUNT * pilot.common.series_count;
    pilot.users_shown = 0;
    bool is_whole;
    enum tacit_status const status = play(&pilot, sums, &is_whole);
    slope->first = points[0];
    if (status == TACIT_OK && is_whole && sums[0] > 0)
        slope->value = fit(points, sums, pilot.common.series_count);
    return status;
}
