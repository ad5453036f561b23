/* The coordinator's settings of epoch elimination. */
#include "settings.h"

double elim_confidence_shown(double confidence)
{
    return confidence > 0 ? confidence : 0.95;
}

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

uint64_t elim_first_epoch(const struct tacit_elim_schedule *schedule)
{
    TACIT_ASSERT(schedule->arm_count > 0);
    return schedule->arm_count * tacit_elim_pulls(schedule, 1, schedule->arm_count, 0);
}

/* A longer horizon makes the epoch a little longer, too: so on until both agree. */
uint64_t elim_horizon_min(struct tacit_elim_schedule schedule)
{
    uint64_t needed = elim_first_epoch(&schedule);
    while (needed <= TACIT_HORIZON_MAX) {
        schedule.horizon = needed;
        uint64_t const longer = elim_first_epoch(&schedule);
        if (longer <= needed)
            break;
        needed = longer;
    }
    return needed;
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
