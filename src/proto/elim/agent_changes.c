/* What an operator changes in a run that goes on, as the agent takes it: arms that are retired,
 * sites that are left out, more slots. */
#include <string.h>
#include "agent_state.h"

/* Does the order's log continue the one that is known, or is it an older one of the same? */
enum tacit_status elim_agent_check_changes(struct tacit_elim_agent *agent,
                                           const struct tacit_elim_message *order)
{
    uint32_t const known_count = agent->change_count;
    uint32_t const order_count = order->change_count;
    if (order_count == 0)
        return TACIT_OK;
    if (order_count > agent->config.change_max || order->changes == NULL)
        return TACIT_MALFORMED;
    if (memcmp(changes_of(agent), order->changes,
               (order_count < known_count ? order_count : known_count) * sizeof *order->changes) !=
        0)
        return TACIT_FORKED; /* another site may have been told the other story */
    for (uint32_t i = known_count; i < order_count; i++)
        if (!elim_change_is_possible(&order->changes[i], agent->config.agent_count,
                                     agent->config.arm_count) ||
            order->changes[i].number != i + 1)
            return TACIT_MALFORMED;
    return TACIT_OK;
}

/* Rewards of it that were not released never will be. */
void elim_agent_bar_arm(struct tacit_elim_agent *agent, uint32_t arm)
{
    TACIT_ASSERT(arm < agent->config.arm_count);
    tacit_bits_add(barred_of(agent), arm);
    exact_of(agent)[arm] = (union tacit_sum){0};
}

/* Is an arm left, should this one go? */
bool elim_agent_leaves_an_arm(struct tacit_elim_agent *agent, uint32_t arm)
{
    uint32_t const arms = agent->config.arm_count;
    uint32_t const barred = tacit_bits_count(barred_of(agent), arms);
    return tacit_bits_has(barred_of(agent), arm) || barred + 1 < arms;
}

/* What is others' affair, what the own policy does not allow, and what would leave no arm stands in
 * the log alone. */
static void apply_change(struct tacit_elim_agent *agent, const struct tacit_elim_change *change)
{
    TACIT_ASSERT(agent->config.change_max > 0);
    uint64_t const most = agent->config.horizon_max;
    bool const is_self = change->subject == agent->config.agent_id;
    if (change->kind == TACIT_ELIM_RETIRE_ARM && elim_agent_leaves_an_arm(agent, change->subject)) {
        elim_agent_bar_arm(agent, change->subject);
        tacit_bits_remove(refused_of(agent), change->subject); /* it is out for everybody */
    } else if (change->kind == TACIT_ELIM_DROP_SITE && is_self) {
        agent->dropped = true;
        agent->upload = false;
    } else if (change->kind == TACIT_ELIM_EXTEND_HORIZON && change->value > agent->horizon &&
               (most == 0 || change->value <= most) && agent->phase != PHASE_FINISHED) {
        agent->horizon = change->value;
    }
}

bool elim_agent_apply_changes(void *state, const struct tacit_event *input)
{
    struct tacit_elim_agent *const agent = state;
    struct tacit_elim_message const *const order = input->as.message;
    if (order->change_count <= agent->change_count)
        return false;
    for (uint32_t i = agent->change_count; i < order->change_count; i++) {
        TACIT_ASSERT(order->changes[i].number == i + 1);
        apply_change(agent, &order->changes[i]);
        changes_of(agent)[i] = order->changes[i];
    }
    agent->change_count = order->change_count;
    TACIT_ASSERT(agent->change_count <= agent->config.change_max);
    elim_agent_find_playable(agent);
    return true;
}
