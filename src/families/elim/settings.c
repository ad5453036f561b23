/* The coordinator's settings of epoch elimination. */
#include "settings.h"
#include <stdio.h>

struct elim_hub_settings elim_hub_settings_make(double participation, uint32_t site_count,
                                                uint32_t round_limit, double gap)
{
    TACIT_ASSERT(participation > 0 && participation <= 1);
    return (struct elim_hub_settings){.report_count =
                                          tacit_elim_report_count(participation, site_count),
                                      .round_limit = round_limit,
                                      .gap = round_limit > 0 ? gap : 1};
}

const struct elim_hub_settings *elim_hub_settings(const struct live_hub_config *config)
{
    struct elim_hub_settings const *const settings = config->settings;
    TACIT_ASSERT(settings != NULL);
    return settings;
}

struct tacit_elim_schedule elim_hub_schedule(const struct live_hub_config *config)
{
    struct elim_hub_settings const *const settings = elim_hub_settings(config);
    return (struct tacit_elim_schedule){.arm_count = config->arm_count,
                                        .report_count = settings->report_count,
                                        .horizon = config->horizon,
                                        .epsilon_per_reward = config->epsilon,
                                        .round_limit = settings->round_limit,
                                        .floor_milli = settings->floor_milli,
                                        .gap = settings->gap,
                                        .growth = settings->growth,
                                        .confidence = settings->confidence};
}

/* Slots until the first epoch has been judged. */
static uint64_t first_epoch(const struct tacit_elim_schedule *schedule, uint32_t delay)
{
    TACIT_ASSERT(schedule->arm_count > 0);
    return schedule->arm_count * tacit_elim_pulls(schedule, 1, schedule->arm_count, 0) + delay;
}

/* A horizon that is as long as its own first epoch, which it makes a little longer, too: the least
 * one. Above TACIT_HORIZON_MAX: there is none. */
static uint64_t least_horizon(struct tacit_elim_schedule schedule, uint32_t delay)
{
    uint64_t needed = first_epoch(&schedule, delay);
    while (needed > schedule.horizon && needed <= TACIT_HORIZON_MAX) {
        schedule.horizon = needed;
        needed = first_epoch(&schedule, delay);
    }
    return needed > schedule.horizon ? needed : schedule.horizon;
}

bool elim_horizon_is_refused(const struct tacit_elim_schedule *schedule, uint32_t delay,
                             char text[ELIM_REFUSAL_BYTES])
{
    uint64_t const least = least_horizon(*schedule, delay);
    char waiting[60] = "";
    if (least <= schedule->horizon)
        return false;
    if (delay > 0)
        (void)snprintf(waiting, sizeof waiting, ", with a delay of %u slot%s", delay,
                       delay == 1 ? "" : "s");
    if (least > TACIT_HORIZON_MAX)
        (void)snprintf(text, ELIM_REFUSAL_BYTES,
                       "no horizon is long enough for the first round; allowed: fewer arms, more "
                       "agents or a larger epsilon");
    else
        (void)snprintf(text, ELIM_REFUSAL_BYTES,
                       "%llu is too short for the first round of %u arms and %u reports%s; "
                       "allowed: at least %llu",
                       (unsigned long long)schedule->horizon, schedule->arm_count,
                       schedule->report_count, waiting, (unsigned long long)least);
    return true;
}

struct tacit_elim_network elim_network(const struct tacit_network *network, bool components_alike)
{
    return (struct tacit_elim_network){.collection = network->has_sinks ? TACIT_ELIM_GATHER
                                                                        : TACIT_ELIM_SPREAD,
                                       .graph = &network->graph,
                                       .label = network->label,
                                       .components = network->components,
                                       .component_count = network->component_count,
                                       .parent = network->parent,
                                       .diameter = network->diameter,
                                       .components_alike = components_alike};
}
