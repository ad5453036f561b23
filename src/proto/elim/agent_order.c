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

static enum tacit_status check_order(struct tacit_elim_agent *agent,
                                     const struct round_agent *round,
                                     const struct tacit_elim_message *order)
{
    uint32_t const arms = agent->config.arm_count;
    enum tacit_status const status = round_agent_check_order(round, &order->head);
    if (status != TACIT_OK)
        return status;
    if (order->arms == NULL || order->pulls > TACIT_HORIZON_MAX)
        return TACIT_MALFORMED;
    uint32_t const count = tacit_bits_count(order->arms, arms);
    if (agent->awaiting_first_order) /* it may ask for anything; what stands of before is in
                                        continues */
        return count == 0 || !tacit_bits_within(order->arms, order->arms, arms) ||
                       (order->last && count != 1) || (!order->last && order->pulls == 0) ||
                       !leader_fits(agent, order)
                   ? TACIT_MALFORMED
                   : TACIT_OK;
    if (order->epoch <= agent->epoch)
        return TACIT_OK;
    /* An arm set only shrinks, and S(r) only grows; with two aggregators pulls are new ones. */
    bool const has_helper = agent->config.has_helper;
    if (count == 0 || !tacit_bits_within(order->arms, arms_of(agent), arms) ||
        (!has_helper && order->pulls < agent->pulls) || (order->last && count != 1) ||
        !leader_fits(agent, order))
        return TACIT_MALFORMED;
    /* With grants each report is a draw of its own: an epoch without pulls has none. */
    if (agent->config.has_grants && !order->last && order->pulls == (has_helper ? 0 : agent->pulls))
        return TACIT_MALFORMED;
    return TACIT_OK;
}

static enum tacit_status halt_old_copy(struct tacit_elim_agent *agent,
                                       struct tacit_elim_update *update)
{
    elim_agent_set_phase(agent, PHASE_HALTED);
    memset(left_of(agent), 0, agent->config.arm_count * sizeof(uint64_t));
    agent->left_count = 0;
    update->persist = true;
    return TACIT_ROLLBACK;
}

/* Are these more rounds than the site's policy allows? A last order asks for no report. */
static bool is_beyond_policy(const struct tacit_elim_agent *agent,
                             const struct tacit_elim_message *order)
{
    return agent->config.epoch_max > 0 && order->epoch > agent->config.epoch_max && !order->last;
}

/* ---- What an order changes ---- */

static void take_order(struct tacit_elim_agent *agent, const struct tacit_elim_message *order,
                       struct tacit_elim_update *update)
{
    TACIT_ASSERT(order->epoch > agent->epoch);
    TACIT_ASSERT(agent->config.has_helper || order->pulls >= agent->pulls);
    TACIT_ASSERT(!agent->last);
    uint32_t const arms = agent->config.arm_count;
    if (agent->config.has_helper) { /* a plan that was overtaken is dropped */
        memset(done_of(agent), 0, arms * sizeof(uint64_t));
        memset(exact_of(agent), 0, arms * sizeof(uint64_t));
    }
    agent->epoch = order->epoch;
    agent->pulls = order->pulls;
    agent->last = order->last;
    agent->leader = order->leader;
    agent->reported = false;
    agent->grants.resend.unanswered_count = 0;
    agent->upload = !order->last && (order->uploaders == NULL ||
                                     tacit_bits_has(order->uploaders, agent->config.agent_id));
    memcpy(arms_of(agent), order->arms, TACIT_BITS_WORDS(arms) * sizeof(uint64_t));
    agent->active_count = tacit_bits_count(order->arms, arms);
    elim_agent_find_playable(agent);
    elim_agent_open_plan(agent, update);
    update->persist = true;
    if (agent->phase == PHASE_WAITING)
        elim_agent_ask_again(agent, update);
}

/* Is the report that this order asks for the one that was granted last? */
static bool is_answered(struct tacit_elim_agent *agent, const struct tacit_elim_message *order)
{
    TACIT_ASSERT(agent->release_epoch <= agent->epoch);
    size_t const bytes = TACIT_BITS_WORDS(agent->config.arm_count) * sizeof(uint64_t);
    return !agent->config.has_helper && !order->last && agent->release_epoch > 0 &&
           order->epoch == agent->release_epoch && order->pulls == agent->release_pulls &&
           memcmp(order->arms, arms_of(agent), bytes) == 0 &&
           (!agent->config.has_grants || round_site_may_open(&agent->grants));
}

/* Does it ask for more of what was granted? */
static bool continues(struct tacit_elim_agent *agent, const struct tacit_elim_message *order)
{
    if (agent->config.has_helper)
        return order->epoch > agent->release_epoch;
    return order->epoch > agent->release_epoch &&
           tacit_bits_within(order->arms, arms_of(agent), agent->config.arm_count) &&
           (order->pulls > agent->release_pulls ||
            (order->last && order->pulls == agent->release_pulls));
}

/* The first order of a term. */
static void take_place(struct tacit_elim_agent *agent, const struct round_agent *round,
                       const struct tacit_elim_message *order, struct tacit_elim_update *update)
{
    TACIT_ASSERT(agent->awaiting_first_order);
    TACIT_ASSERT(agent->draw_epoch == agent->release_epoch);
    agent->awaiting_first_order = false;
    update->persist = true;
    if (agent->phase == PHASE_FINISHED && !is_answered(agent, order)) {
        agent->reported = true; /* nobody waits for this agent */
        return;
    }
    if (!is_answered(agent, order)) {
        if (!continues(agent, order))
            elim_agent_drop_history(agent);
        take_order(agent, order, update);
        return;
    }
    agent->leader = order->leader;
    agent->upload =
        order->uploaders == NULL || tacit_bits_has(order->uploaders, agent->config.agent_id);
    round_agent_take_seen(round, &order->head);
    if (agent->upload && !agent->reported)
        elim_agent_send_report(agent, update);
}

/* Where sites are left out, the order of the epoch that stands may ask others for their reports, or
 * one no more. What is sent then is what was granted. */
static void take_asked(struct tacit_elim_agent *agent, const struct tacit_elim_message *order,
                       struct tacit_elim_update *update)
{
    TACIT_ASSERT(order->epoch == agent->epoch);
    bool const is_asked =
        !agent->dropped &&
        (order->uploaders == NULL || tacit_bits_has(order->uploaders, agent->config.agent_id));
    if (agent->config.change_max == 0 || order->last || agent->last || agent->reported ||
        agent->upload == is_asked || agent->phase == PHASE_IDLE)
        return;
    agent->upload = is_asked;
    update->persist = true;
    if (is_asked && agent->phase == PHASE_WAITING && agent->release_epoch == agent->epoch)
        elim_agent_send_report(agent, update);
}

/* The order itself. */
static enum tacit_status follow(struct tacit_elim_agent *agent, const struct round_agent *round,
                                const struct tacit_elim_message *order,
                                struct tacit_elim_update *update)
{
    bool const is_new =
        agent->awaiting_first_order || (order->epoch > agent->epoch && !agent->last);
    bool const is_over = agent->phase == PHASE_FINISHED;
    if (is_new && !is_over && is_beyond_policy(agent, order))
        return TACIT_REFUSED;
    /* The epoch before is released first; the hub says the order again. */
    if (is_new && (agent->phase == PHASE_RELEASING || agent->phase == PHASE_COMMITTED))
        return TACIT_UNEXPECTED;
    if (agent->awaiting_first_order) {
        take_place(agent, round, order, update);
        return TACIT_OK;
    }
    round_agent_take_seen(round, &order->head);
    if (is_new && is_over) {
        update->persist = !agent->reported;
        agent->reported = true; /* the round is over: nobody waits for this agent */
    } else if (is_new) {
        take_order(agent, order, update);
    } else if (order->epoch == agent->epoch) {
        take_asked(agent, order, update);
    }
    return TACIT_OK;
}

enum tacit_status elim_agent_hear_order(struct tacit_elim_agent *agent,
                                        const struct tacit_elim_event *event,
                                        const struct tacit_entropy *entropy,
                                        struct tacit_elim_update *update)
{
    struct tacit_elim_message const *const order = event->as.message;
    struct round_agent const round = round_of(agent);
    enum tacit_status status = check_order(agent, &round, order);
    if (status == TACIT_OK)
        status = elim_agent_check_changes(agent, order);
    if (status != TACIT_OK || agent->phase == PHASE_HALTED)
        return status;
    if (round_agent_is_old_copy(&round,
                                &order->head)) /* also by an order that would be refused below */
        return halt_old_copy(agent, update);
    bool const has_changes = order->change_count > agent->change_count;
    if (has_changes)
        elim_agent_take_changes(agent, order, update);
    status = follow(agent, &round, order, update);
    if (has_changes && !update->send && update->plan_count == 0)
        return elim_agent_plan_anew(agent, event, entropy, update);
    return has_changes ? TACIT_OK : status; /* that was heard, whatever is refused */
}
