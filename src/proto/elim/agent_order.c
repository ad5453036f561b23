/* What an agent makes of an order. It names S(r), not n_r: the agent pulls every active arm until
 * it has S(r) pulls. For an agent that is up to date that is n_r; one that was away catches up by
 * the same rule. */
#include <string.h>
#include "agent_state.h"

/* ---- Which orders are taken ---- */

/* None, or an arm that is still in. */
static bool leader_fits(const struct tacit_elim_agent *agent,
                        const struct tacit_elim_message *order)
{
    return order->leader == 0 || (order->leader <= agent->config.arm_count &&
                                  tacit_bits_has(order->arms, order->leader - 1));
}

/* An arm set only shrinks, and S(r) only grows; with two aggregators pulls are new ones. The first
 * order of a term may ask for anything: what stands of before is in continues. With grants each
 * report is a draw of its own: an epoch without pulls has none. */
static bool is_well_formed(struct tacit_elim_agent *agent, const struct tacit_elim_message *order)
{
    uint32_t const arms = agent->config.arm_count;
    bool const is_first = agent->awaiting_first_order;
    if (order->arms == NULL || order->pulls > TACIT_HORIZON_MAX)
        return false;
    if (!is_first && order->epoch <= agent->epoch)
        return true;
    uint32_t const count = tacit_bits_count(order->arms, arms);
    uint64_t const pulls = is_first || agent->config.has_helper ? 0 : agent->pulls;
    bool const draws = !order->last && (is_first || agent->config.has_grants);
    return count > 0 &&
           tacit_bits_within(order->arms, is_first ? order->arms : arms_of(agent), arms) &&
           order->pulls >= pulls && (!draws || order->pulls > pulls) &&
           (!order->last || count == 1) && leader_fits(agent, order);
}

enum tacit_status elim_agent_check_order(void *state, const struct tacit_event *input)
{
    struct tacit_elim_message const *const order = input->as.message;
    return is_well_formed(state, order) ? elim_agent_check_changes(state, order) : TACIT_MALFORMED;
}

/* ---- What an order changes ---- */

static bool asks_for_report(const struct tacit_elim_agent *agent,
                            const struct tacit_elim_message *order)
{
    return order->uploaders == NULL || tacit_bits_has(order->uploaders, agent->config.agent_id);
}

void elim_agent_apply_order(void *state, const struct tacit_event *input)
{
    struct tacit_elim_agent *const agent = state;
    struct tacit_elim_message const *const order = input->as.message;
    TACIT_ASSERT(agent->config.has_helper || order->pulls >= agent->pulls);
    uint32_t const arms = agent->config.arm_count;
    agent->pulls = order->pulls;
    agent->leader = order->leader;
    agent->upload = !order->last && asks_for_report(agent, order);
    memcpy(arms_of(agent), order->arms, TACIT_BITS_WORDS(arms) * sizeof(uint64_t));
    agent->active_count = tacit_bits_count(order->arms, arms);
    TACIT_ASSERT(agent->active_count >= 1);
    TACIT_IMPLIES(order->last, agent->active_count == 1);
    elim_agent_find_playable(agent);
    elim_agent_lay_plan(agent);
}

/* With two aggregators none is: what was masked in a term before is of no sum of this one. */
bool elim_agent_reuse_release(void *state, const struct tacit_event *input)
{
    struct tacit_elim_agent *const agent = state;
    struct tacit_elim_message const *const order = input->as.message;
    TACIT_ASSERT(order->epoch == agent->release_epoch);
    size_t const bytes = TACIT_BITS_WORDS(agent->config.arm_count) * sizeof(uint64_t);
    if (agent->config.has_helper || order->pulls != agent->release_pulls ||
        memcmp(order->arms, arms_of(agent), bytes) != 0 ||
        (agent->config.has_grants && !round_site_may_open(&agent->grants)))
        return false;
    agent->leader = order->leader;
    TACIT_ASSERT(!order->last);
    TACIT_ASSERT(order->leader <= agent->config.arm_count);
    agent->upload = asks_for_report(agent, order);
    return true;
}

/* Does it ask for more of what was granted? At T that stands, whatever is asked. */
bool elim_agent_continues(void *state, const struct tacit_event *input)
{
    struct tacit_elim_agent *const agent = state;
    struct tacit_elim_message const *const order = input->as.message;
    if (agent->phase == PHASE_FINISHED)
        return true;
    TACIT_ASSERT(agent->draw_epoch == agent->release_epoch);
    if (agent->config.has_helper)
        return order->epoch > agent->release_epoch;
    return order->epoch > agent->release_epoch &&
           tacit_bits_within(order->arms, arms_of(agent), agent->config.arm_count) &&
           (order->pulls > agent->release_pulls ||
            (order->last && order->pulls == agent->release_pulls));
}

/* Where sites are left out, the order of the epoch that stands may ask others for their reports, or
 * one no more. What is sent then is what was granted. */
bool elim_agent_update_asked(void *state, const struct tacit_event *input)
{
    struct tacit_elim_agent *const agent = state;
    struct tacit_elim_message const *const order = input->as.message;
    TACIT_ASSERT(order->epoch == agent->epoch);
    bool const is_asked = !agent->dropped && asks_for_report(agent, order);
    if (agent->config.change_max == 0 || order->last || agent->last || agent->reported ||
        agent->upload == is_asked || agent->phase == PHASE_IDLE)
        return false;
    agent->upload = is_asked;
    TACIT_ASSERT(agent->epoch > 0);
    TACIT_IMPLIES(is_asked, !agent->dropped);
    return true;
}
