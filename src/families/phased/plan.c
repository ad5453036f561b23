/* From an experiment file with play in phases to what its runs need: schedule, mechanism,
 * promise; and what is refused. */
#include "plan.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../forecast.h"
#include "../ladder.h"

/* Fills what runs need but for the changes; the mechanism, and the promise, are the experiment's.
 */
static enum tacit_status settle(struct tacit_experiment *experiment,
                                const struct tacit_phases *schedule, struct phased_sim *sim,
                                struct tacit_error *error)
{
    TACIT_TRY(tacit_experiment_protect_sums(experiment, error));
    *sim = (struct phased_sim){.common = experiment->sim,
                               .schedule = *schedule,
                               .server_link_cost = experiment->config->server_link_cost};
    sim->schedule.agent_count = experiment->sim.agent_count;
    sim->schedule.horizon = experiment->sim.horizon;
    sim->schedule.epsilon_per_reward = tacit_mechanism_epsilon(&experiment->mechanism);
    experiment->server_links = experiment->sim.agent_count;
    experiment->promise.mechanism = tacit_experiment_noise(experiment, TACIT_LEAVING_SUMS);
    TACIT_TRY(
        tacit_experiment_site_mechanism(experiment, &sim->mechanism, &sim->aggregators, error));
    sim->schedule.floor_milli =
        sim->aggregators.are_two ? experiment->config->floor_milli : TACIT_ONE_AGGREGATOR;
    return ladder_check_plan(experiment, &sim->schedule, error);
}

enum tacit_status phased_make_plan(struct tacit_experiment *experiment, struct tacit_error *error)
{
    struct phased_keys const *const keys = experiment->config->keys;
    struct phased_sim *const sim =
        calloc(1, sizeof *sim + keys->change_count * sizeof(struct phased_change));
    uint32_t const arms = experiment->sim.env.arm_count;
    char text[120];
    experiment->plan = sim;
    if (sim == NULL)
        return TACIT_MEMORY;
    struct phased_change *const changes = (struct phased_change *)(sim + 1);
    if (keys->arms_per_round > arms) {
        (void)snprintf(text, sizeof text, "%u, and there are %u arms; allowed: 2 to %u",
                       keys->arms_per_round, arms, arms);
        return tacit_experiment_refuse(experiment, "protocol.arms_per_round", text, error);
    }
    uint32_t const guard = keys->guard == NULL ? 0 : phased_find_arm(experiment, keys->guard);
    if (guard == arms)
        return tacit_experiment_refuse(experiment, "protocol.guard.arm",
                                       "no such arm; allowed: a name in the data, or a number "
                                       "from 0",
                                       error);
    struct tacit_phases schedule = phased_schedule(keys, arms, guard);
    TACIT_TRY(phased_settle_changes(experiment, &schedule, changes, error));
    TACIT_TRY(settle(experiment, &schedule, sim, error));
    sim->changes = changes;
    sim->change_count = keys->change_count;
    return TACIT_OK;
}

/* ---- For `check` ---- */

double phased_forecast(const struct tacit_experiment *experiment)
{
    struct phased_keys const *const keys = experiment->config->keys;
    static double levels[TACIT_ARMS_MAX];
    struct tacit_phases const phases = {.rule = TACIT_PHASES_ELIMINATION,
                                        .arm_count = experiment->sim.env.arm_count,
                                        .agent_count = experiment->sim.agent_count,
                                        .horizon = experiment->sim.horizon,
                                        .epsilon_per_reward = experiment->epsilon_per_reward,
                                        .floor_milli = experiment->config->floor_milli,
                                        .growth = keys->growth,
                                        .confidence = keys->confidence};
    if (!(keys->confidence > 0) || keys->guard != NULL || keys->change_count > 0 ||
        !forecast_means(experiment, levels))
        return NAN;
    return forecast_ladder_slots(&phases, levels, 0);
}

enum tacit_status phased_print_costs(const struct tacit_experiment *experiment, FILE *out)
{
    struct phased_sim const *const sim = experiment->plan;
    struct tacit_phases const *const schedule = &sim->schedule;
    uint64_t const first = tacit_phases_first_rung(schedule);
    uint64_t rung = first;
    double releases = 0;
    for (; rung <= schedule->horizon && releases < TACIT_BOUNDS_RELEASES_MAX; releases++)
        rung = tacit_bounds_next_rung(rung, schedule->growth);
    double const agents = (double)schedule->agent_count;
    double const sums = agents * releases * schedule->arm_count;
    double const rounds = 1 + (releases - 1) * schedule->arm_count;
    (void)fprintf(out, "At most, in one run of %llu slots:\n",
                  (unsigned long long)schedule->horizon);
    (void)fprintf(out, "  first plan %llu pulls of each arm at each agent: %llu slots\n",
                  (unsigned long long)first,
                  (unsigned long long)tacit_phases_horizon_min(schedule));
    (void)fprintf(out, "  releases  %.0f of an arm, each of %.3g times as many pulls in all\n",
                  releases, schedule->growth);
    (void)fprintf(out, "  rounds    %.0f\n", rounds);
    (void)fprintf(out, "  messages  %.0f  (%.0f reports, %.0f broadcasts)\n",
                  rounds * (agents + 1) + 1, rounds * agents, rounds + 1);
    (void)fprintf(out, "  scalars   %.0f\n", sums);
    (void)fprintf(out, "  cost      %.12g\n", rounds * agents * sim->server_link_cost);
    (void)fprintf(out, "  intervals hold for all arms at all times together with chance %.12g\n",
                  ladder_confidence(schedule->confidence));
    return TACIT_OK;
}
