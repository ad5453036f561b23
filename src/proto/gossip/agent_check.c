/* Could a step have left this state? (For bytes from a disk.) */
#include "agent_state.h"
#include <string.h>

#define SUM_STEPS_MAX (INT64_C(1) << 61)

static bool same_config(struct tacit_gossip_agent *agent,
                        const struct tacit_gossip_agent_config *config)
{
    if (agent->run_id != config->run_id || agent->slot_us != config->slot_us ||
        agent->exchange_us != config->exchange_us || agent->pull_us != config->pull_us ||
        agent->agent_id != config->agent_id || agent->neighbour_count != config->neighbour_count ||
        memcmp(&agent->rule, &config->rule, sizeof agent->rule) != 0)
        return false;
    for (uint32_t i = 0; i < config->neighbour_count; i++)
        if (edges_of(agent)[i].neighbour != config->neighbours[i])
            return false;
    return true;
}

static bool progress_is_possible(struct tacit_gossip_agent *agent)
{
    uint32_t const arms = agent->rule.arm_count;
    bool const is_first = agent->phase <= PHASE_FIRST;
    if (agent->phase > PHASE_HALTED || agent->slot > agent->rule.horizon ||
        agent->first_left > arms || agent->forced > 1 || agent->forced_count > agent->slot ||
        agent->clock.lived_us > UINT64_MAX / 2)
        return false;
    if (!tacit_bits_within(came_of(agent), came_of(agent), arms) ||
        tacit_bits_count(came_of(agent), arms) != arms - agent->first_left ||
        (agent->phase != PHASE_HALTED && is_first != (agent->first_left > 0)) ||
        (agent->first_left > 0 && agent->slot > 0))
        return false;
    bool const is_pulling = agent->phase == PHASE_PULLING;
    bool const has_arm = agent->arm != TACIT_NO_ARM;
    return (agent->phase == PHASE_HALTED || has_arm == is_pulling) &&
           (!has_arm || (agent->arm < arms && agent->slot > 0)) &&
           (agent->phase != PHASE_FINISHED || agent->slot == agent->rule.horizon) &&
           agent->pull_count == agent->slot + arms - agent->first_left;
}

/* n adds up to the pulls; n~ is not below n but for the pulls since. */
static bool counts_are_possible(struct tacit_gossip_agent *agent)
{
    uint64_t const most = agent->rule.horizon + 1;
    uint64_t const *const count = array_of(agent, ARRAY_COUNT);
    uint64_t const *const seen = array_of(agent, ARRAY_SEEN);
    uint64_t sum = 0;
    for (uint32_t arm = 0; arm < agent->rule.arm_count; arm++) {
        bool const came = tacit_bits_has(came_of(agent), arm);
        if (count[arm] > most || seen[arm] > most || array_of(agent, ARRAY_HEARD)[arm] > most ||
            (count[arm] > 0) != came || (seen[arm] > 0) != came)
            return false;
        sum += count[arm];
    }
    return sum == agent->pull_count;
}

/* What is released and what the trees hold: honest sums are far below, and both together fit. */
static bool sums_are_possible(struct tacit_gossip_agent *agent)
{
    bool const is_real = agent->rule.tree.node.scale.kind == TACIT_SCALE_REAL;
    for (uint32_t arm = 0; arm < agent->rule.arm_count; arm++) {
        union tacit_sum const sums[] = {sums_of(agent, ARRAY_BASE)[arm],
                                        sums_of(agent, ARRAY_TOTAL)[arm]};
        for (uint32_t i = 0; i < 2; i++)
            if (is_real ? !isfinite(sums[i].real)
                        : sums[i].steps > SUM_STEPS_MAX || sums[i].steps < -SUM_STEPS_MAX)
                return false;
    }
    return true;
}

/* What edges have moved in all may be more than one message can say. */
static bool moved_is_possible(const double *moved, uint32_t arms)
{
    for (uint32_t arm = 0; arm < arms; arm++)
        if (!isfinite(moved[arm]))
            return false;
    return true;
}

/* theta is what the agent's own rewards and its edges make of it, up to rounding. */
static bool estimates_are_possible(struct tacit_gossip_agent *agent)
{
    uint32_t const arms = agent->rule.arm_count;
    double const *const theta = doubles_of(agent, ARRAY_THETA);
    double const *const mean = doubles_of(agent, ARRAY_MEAN);
    if (!row_is_finite(mean, arms))
        return false;
    for (uint32_t edge = 0; edge < agent->neighbour_count; edge++)
        if (!moved_is_possible(flow_of(agent, edge), arms) ||
            !moved_is_possible(shift_of(agent, edge), arms))
            return false;
    for (uint32_t arm = 0; arm < arms; arm++) {
        double sum = mean[arm];
        double size = fabs(sum) + 1;
        for (uint32_t edge = 0; edge < agent->neighbour_count; edge++) {
            sum += flow_of(agent, edge)[arm];
            size += fabs(flow_of(agent, edge)[arm]);
        }
        if (!(fabs(theta[arm] - sum) <= 1e-6 * size))
            return false;
    }
    return true;
}

enum tacit_status tacit_gossip_agent_check(const struct tacit_gossip_agent *state, size_t size,
                                           const struct tacit_gossip_agent_config *config)
{
    struct tacit_gossip_agent *const agent = (struct tacit_gossip_agent *)(uintptr_t)state;
    if (size == 0 || size != tacit_gossip_agent_size(config) || !same_config(agent, config) ||
        !progress_is_possible(agent) || !counts_are_possible(agent) || !sums_are_possible(agent) ||
        !estimates_are_possible(agent))
        return TACIT_MALFORMED;
    return TACIT_OK;
}
