/* May these bytes be the state of a hub? Whatever lies on a disk is looked at before it is played.
 */
#include <string.h>
#include "hub_state.h"

/* Not even a bit beyond its end. */
static bool is_empty(const uint64_t *set, uint32_t count)
{
    return tacit_bits_within(set, set, count) && tacit_bits_next(set, count, 0) == count;
}

/* Where there are no sinks each is of its own alone; between steps nobody is to be asked next. */
static bool agents_are_possible(struct tacit_elim_hub *hub)
{
    uint32_t const agents = hub->config.agent_count;
    for (uint32_t agent = 0; agent < agents && !hub->weighted; agent++)
        if (weights_of(hub)[agent] != 1)
            return false;
    return is_empty(next_uploaders_of(hub), agents);
}

/* Reports that are asked for in a round. */
static uint32_t asked_count(struct tacit_elim_hub *hub)
{
    uint32_t count = 0;
    if (!hub->weighted)
        return hub->config.schedule.report_count;
    for (uint32_t agent = 0; agent < hub->config.agent_count; agent++)
        count += weights_of(hub)[agent] > 0 ? 1 : 0;
    return count;
}

/* Can so many sites have been asked? With sites that are left out there may be fewer; and all,
 * where none of them can be counted. */
static bool can_have_asked(struct tacit_elim_hub *hub, uint32_t asked)
{
    bool const has_changes = hub->config.change_max > 0;
    uint32_t const wanted = asked_count(hub);
    return has_changes ? asked >= 1 && asked <= hub->config.agent_count : asked == wanted;
}

/* What the log says, and nothing else. */
static bool log_is_obeyed(struct tacit_elim_hub *hub)
{
    TACIT_ASSERT(hub->change_count <= hub->config.change_max);
    uint32_t const agents = hub->config.agent_count;
    uint32_t const arms = hub->config.schedule.arm_count;
    uint64_t horizon = hub->config.schedule.horizon;
    uint64_t timeout_us = hub->config.round_timeout_us;
    uint32_t quorum = hub->config.quorum;
    uint32_t retired = 0;
    uint32_t dropped = 0;
    for (uint32_t i = 0; i < hub->change_count; i++) {
        struct tacit_elim_change const *const one = &changes_of(hub)[i];
        if (!elim_change_is_possible(one, agents, arms) || one->number != i + 1 ||
            one->epoch > hub->judge.epoch)
            return false;
        if (one->kind == TACIT_ELIM_EXTEND_HORIZON)
            horizon = one->value;
        if (one->kind == TACIT_ELIM_SET_QUORUM_AND_DEADLINE) {
            quorum = one->subject;
            timeout_us = one->value;
        }
        retired +=
            one->kind == TACIT_ELIM_RETIRE_ARM && tacit_bits_has(retired_of(hub), one->subject);
        dropped +=
            one->kind == TACIT_ELIM_DROP_SITE && tacit_bits_has(dropped_of(hub), one->subject);
    }
    return horizon == hub->horizon && timeout_us == hub->timeout_us && quorum == hub->quorum &&
           tacit_bits_within(retired_of(hub), retired_of(hub), arms) &&
           tacit_bits_within(dropped_of(hub), dropped_of(hub), agents) &&
           retired == tacit_bits_count(retired_of(hub), arms) &&
           dropped == tacit_bits_count(dropped_of(hub), agents) &&
           dropped < agents && /* a site and an arm stay */
           !tacit_bits_within(active_of(hub), retired_of(hub), arms);
}

/* What follows from the log, and from what sites said. */
static bool changes_are_possible(struct tacit_elim_hub *hub)
{
    struct tacit_elim_hub_config const *const config = &hub->config;
    uint32_t const agents = config->agent_count;
    uint32_t const reports = hub->schedule.report_count;
    struct tacit_elim_schedule schedule = config->schedule;
    schedule.report_count = reports;
    if (memcmp(&schedule, &hub->schedule, sizeof schedule) != 0 || reports < 1 ||
        reports > config->schedule.report_count || hub->change_count > config->change_max)
        return false;
    if (config->change_max == 0)
        return reports == config->schedule.report_count &&
               hub->horizon == config->schedule.horizon && hub->quorum == config->quorum &&
               hub->timeout_us == config->round_timeout_us;
    for (uint32_t agent = 0; agent < agents; agent++)
        if (!tacit_bits_within(refused_of(hub, agent), refused_of(hub, agent),
                               config->schedule.arm_count))
            return false;
    return log_is_obeyed(hub) && tacit_bits_within(abstaining_of(hub), abstaining_of(hub), agents);
}

/* Who is asked, in a round that is open or rests. */
static bool asked_are_possible(struct tacit_elim_hub *hub)
{
    uint32_t const asked = tacit_bits_count(uploaders_of(hub), hub->config.agent_count);
    bool const stands = hub->desk.phase == ROUND_COLLECTING || hub->desk.phase == ROUND_CLOSED;
    return stands ? can_have_asked(hub, asked) : asked == 0;
}

enum tacit_status tacit_elim_hub_check(const struct tacit_elim_hub *state, size_t size,
                                       const struct tacit_elim_hub_config *config)
{
    struct tacit_elim_hub *const hub = (struct tacit_elim_hub *)(uintptr_t)state;
    if (size == 0 || size != tacit_elim_hub_size(config) ||
        *(const unsigned char *)&hub->weighted > 1 || /* any byte, on a disk */
        hub->judge_words != elim_judge_words(&config->schedule) ||
        !elim_hub_same_config(hub, config))
        return TACIT_MALFORMED;
    if (!changes_are_possible(hub))
        return TACIT_MALFORMED;
    struct elim_judge_parts const judge = judge_of(hub);
    if (!elim_judge_is_possible(&judge)) /* first: a round is read from it */
        return TACIT_MALFORMED;
    return agents_are_possible(hub) && round_is_possible(&elim_hub_rule, hub) &&
                   asked_are_possible(hub)
               ? TACIT_OK
               : TACIT_MALFORMED;
}
