/* From an experiment file to the runs of agents whose releases double: schedule, mechanism,
 * promise; what is refused. */
#include "plan.h"
#include <stdio.h>

/* Each agent holds the blocks of all. */
#define STATES_BYTES_MAX 0x1p32

static enum tacit_status check_size(const struct tacit_experiment *experiment,
                                    const struct tacit_phases *schedule, struct tacit_error *error)
{
    struct tacit_doubling_config const one = {
        .schedule = *schedule, .mechanism = experiment->mechanism, .hop_us = 1};
    char text[200];
    uint64_t const least = tacit_phases_horizon_min(schedule);
    if (least > schedule->horizon) {
        (void)snprintf(text, sizeof text,
                       "%llu is too short for the first rung of %u arms at %u agents; allowed: at "
                       "least %llu",
                       (unsigned long long)schedule->horizon, schedule->arm_count,
                       schedule->agent_count, (unsigned long long)least);
        return tacit_experiment_refuse(experiment, "horizon", text, error);
    }
    if ((double)tacit_doubling_size(&one) * schedule->agent_count > STATES_BYTES_MAX)
        return tacit_experiment_refuse(experiment, "agents",
                                       "every agent keeps the released sums of all, which would "
                                       "take more than 4 GiB; allowed: fewer agents or arms",
                                       error);
    return TACIT_OK;
}

enum tacit_status gossip_plan_doubling(struct tacit_experiment *experiment,
                                       struct gossip_plan *plan, struct tacit_error *error)
{
    struct gossip_keys const *const keys = experiment->config->keys;
    uint32_t const arms = experiment->sim.env.arm_count;
    uint32_t const usual = arms < TACIT_PHASES_ARMS_PER_ROUND ? arms : TACIT_PHASES_ARMS_PER_ROUND;
    TACIT_TRY(tacit_experiment_protect_sums(experiment, error));
    plan->mechanism = experiment->mechanism;
    plan->quorum = keys->quorum;
    plan->schedule =
        (struct tacit_phases){.rule = TACIT_PHASES_INDEX,
                              .arm_count = arms,
                              .agent_count = experiment->sim.agent_count,
                              .horizon = experiment->sim.horizon,
                              .epsilon_per_reward = tacit_mechanism_epsilon(&plan->mechanism),
                              .growth = TACIT_PHASES_GROWTH,
                              .arms_per_round = keys->arms_per_round > 0 ? keys->arms_per_round
                                                : usual < 2              ? 2
                                                                         : usual};
    experiment->promise.mechanism = tacit_experiment_noise(experiment, TACIT_LEAVING_SUMS);
    experiment->promise.trust.audience = TACIT_AUDIENCE_GRAPH;
    if (keys->arms_per_round > arms)
        return tacit_experiment_refuse(experiment, "protocol.arms_per_round",
                                       "there are fewer arms; allowed: from 2 to all", error);
    if (!tacit_phases_is_valid(&plan->schedule))
        return tacit_experiment_refuse(
            experiment, "horizon",
            "sums of all rewards must stay below 2^62 steps: agents times horizon below 2^42 (and "
            "noise beside it); allowed: a shorter horizon, fewer agents or a larger epsilon",
            error);
    return check_size(experiment, &plan->schedule, error);
}

/* ---- For `check` ---- */

void gossip_print_doubling(const struct tacit_experiment *experiment, FILE *out)
{
    struct gossip_plan const *const plan = experiment->plan;
    struct tacit_phases const *const schedule = &plan->schedule;
    uint64_t const first = tacit_phases_first_rung(schedule);
    double rungs = 0;
    for (uint64_t rung = first; rung <= schedule->horizon; rungs++)
        rung = tacit_bounds_next_rung(rung, schedule->growth);
    double const agents = schedule->agent_count;
    double const blocks = agents * schedule->arm_count * rungs;
    (void)fprintf(out,
                  "In one run of %llu slots at most:\n"
                  "  first rung  %llu pulls of each arm; %.0f releases an arm and agent\n"
                  "  releases    %.0f of epsilon %.6g, each of other rewards\n"
                  "  messages    %.0f  (every agent passes every block on once)\n"
                  "  scalars     %.0f\n",
                  (unsigned long long)schedule->horizon, (unsigned long long)first, rungs, blocks,
                  experiment->epsilon_per_reward, blocks * agents, blocks * agents);
}
