/* What an agent takes from its neighbours: n~, and averages of pairs (Alg. 1 l. 18-20), which move
 * theta along an edge and are kept whatever gets lost. */
#include "agent_state.h"
#include <string.h>

/* ---- Which messages are taken ---- */

static struct gossip_incarnation incarnation_of(const struct tacit_gossip_message *message)
{
    return (struct gossip_incarnation){message->incarnation_number, message->incarnation};
}

static enum tacit_status check_message(struct tacit_gossip_agent *agent,
                                       const struct tacit_gossip_message *message)
{
    uint32_t const arms = agent->rule.arm_count;
    if (message->run_id != agent->run_id ||
        (message->to != agent->agent_id && message->to != TACIT_NEIGHBOURS) ||
        edge_to(agent, message->from) == agent->neighbour_count)
        return TACIT_STRANGER;
    bool const is_offer = message->kind == TACIT_GOSSIP_OFFER;
    bool const is_shift = message->kind == TACIT_GOSSIP_SHIFT;
    if (message->kind > TACIT_GOSSIP_REFUSE || (message->theta != NULL) != is_offer ||
        (message->shift != NULL) != is_shift || (message->flow != NULL) != (is_offer || is_shift) ||
        (is_offer && !row_is_finite(message->theta, arms)) ||
        (is_shift && !row_is_finite(message->shift, arms)) ||
        (message->flow != NULL && !row_is_finite(message->flow, arms)) ||
        (message->kind == TACIT_GOSSIP_COUNTS && message->seen == NULL) ||
        message->incarnation_number == 0)
        return TACIT_MALFORMED;
    /* An edge's keeper asks and shifts, its other end offers. */
    bool const from_keeper = message->from < agent->agent_id;
    if ((is_offer && from_keeper) ||
        ((is_shift || message->kind == TACIT_GOSSIP_ASK) && !from_keeper))
        return TACIT_UNEXPECTED;
    return TACIT_OK;
}

/* Nobody has pulled an arm more often than this by now: one pull a slot and the first one; pull_us
 * 0: no pull is known to take time. */
static uint64_t pulls_possible(const struct tacit_gossip_agent *agent)
{
    uint64_t const most = agent->rule.horizon + 1;
    uint64_t by_now = most;
    if (is_lockstep(agent))
        by_now = agent->slot + 1;
    else if (agent->pull_us > 0)
        by_now = agent->clock.lived_us / agent->pull_us + 1;
    return by_now < most ? by_now : most;
}

/* A neighbour's n~ that cannot be is cut: it must not force an arm for ever. */
static void merge_seen(struct tacit_gossip_agent *agent, const uint64_t *seen,
                       struct tacit_gossip_update *update)
{
    TACIT_ASSERT(seen != NULL);
    TACIT_ASSERT(pulls_possible(agent) <= agent->rule.horizon + 1);
    uint64_t const most = pulls_possible(agent);
    uint64_t *const heard = array_of(agent, ARRAY_HEARD);
    for (uint32_t arm = 0; arm < agent->rule.arm_count; arm++) {
        uint64_t const possible = seen[arm] < most ? seen[arm] : most;
        if (possible > heard[arm]) {
            heard[arm] = possible;
            update->persist = true;
        }
    }
}

/* ---- Incarnations ---- */

enum acquaintance { KNOWN, NEW, REFUSED };

/* One incarnation of a site at a time: a later start replaces an earlier one, and is known from
 * then on (NEW); of two copies that start from the same state the one that is heard first stays. */
static enum acquaintance meet(struct gossip_incarnation *known, struct gossip_incarnation given)
{
    if (given.number == known->number && given.name == known->name)
        return KNOWN;
    if (given.number <= known->number)
        return REFUSED;
    *known = given;
    return NEW;
}

static void refuse(struct tacit_gossip_agent *agent, const struct tacit_gossip_message *message,
                   struct tacit_gossip_update *update)
{
    struct tacit_gossip_message refusal =
        gossip_agent_message_to(agent, message->from, TACIT_GOSSIP_REFUSE);
    refusal.incarnation_number = message->incarnation_number;
    refusal.incarnation = message->incarnation;
    update->send = true;
    update->message = refusal;
}

/* ---- Averages ---- */

/* Moves theta so that the edge has moved to this agent what the other end says: its own total with
 * the opposite sign. */
static void set_flow(struct tacit_gossip_agent *agent, uint32_t edge, const double *their_flow)
{
    TACIT_ASSERT(edge < agent->neighbour_count);
    double *const flow = flow_of(agent, edge);
    double *const theta = doubles_of(agent, ARRAY_THETA);
    for (uint32_t arm = 0; arm < agent->rule.arm_count; arm++) {
        theta[arm] += -their_flow[arm] - flow[arm];
        flow[arm] = -their_flow[arm];
    }
}

/* Do both ends say that the edge moved the same before, `shift` (NULL: nothing) aside? Where a copy
 * of an end took its place they may not: then totals count, not what one exchange moved. */
static bool flows_agree(struct tacit_gossip_agent *agent, uint32_t edge, const double *their_flow,
                        const double *shift)
{
    TACIT_ASSERT(edge < agent->neighbour_count);
    TACIT_ASSERT(their_flow != NULL);
    double const *const flow = flow_of(agent, edge);
    for (uint32_t arm = 0; arm < agent->rule.arm_count; arm++) {
        double const moved = shift == NULL ? 0 : shift[arm];
        double const off = fabs(flow[arm] + their_flow[arm] + moved);
        if (!(off <= 1e-12 * (1 + fabs(flow[arm]) + fabs(moved))))
            return false;
    }
    return true;
}

/* Line 20 at the keeper. */
static void move_half(struct tacit_gossip_agent *agent, uint32_t edge, const double *theirs)
{
    TACIT_ASSERT(edge < agent->neighbour_count);
    TACIT_ASSERT(theirs != NULL);
    double *const theta = doubles_of(agent, ARRAY_THETA);
    double *const flow = flow_of(agent, edge);
    double *const shift = shift_of(agent, edge);
    for (uint32_t arm = 0; arm < agent->rule.arm_count; arm++) {
        shift[arm] = gossip_half(theta[arm], theirs[arm]);
        theta[arm] -= shift[arm];
        flow[arm] -= shift[arm];
    }
    edges_of(agent)[edge].exchange++;
    agent->exchange_count++;
}

static enum tacit_status on_offer(struct tacit_gossip_agent *agent,
                                  const struct tacit_gossip_message *message,
                                  struct tacit_gossip_update *update)
{
    TACIT_ASSERT(message->theta != NULL);
    TACIT_ASSERT(message->flow != NULL);
    uint32_t const at = edge_to(agent, message->from);
    struct edge *const edge = &edges_of(agent)[at];
    if (message->exchange > edge->exchange ||
        (message->exchange == edge->exchange && !flows_agree(agent, at, message->flow, NULL))) {
        set_flow(agent, at, message->flow); /* an old copy catches up with what it had moved */
        edge->exchange = message->exchange;
        memset(shift_of(agent, at), 0, agent->rule.arm_count * sizeof(double));
        update->persist = true;
    }
    bool const is_up_to_date = message->exchange == edge->exchange;
    bool const is_promised = agent->clock.now_us < agent->offered_until_us;
    if (is_up_to_date && !is_promised && agent->phase != PHASE_FIRST) {
        move_half(agent, at, message->theta);
        update->persist = true;
    }
    gossip_agent_answer(agent, at, update);
    return TACIT_OK;
}

/* Line 20 at the other end. */
static enum tacit_status on_shift(struct tacit_gossip_agent *agent,
                                  const struct tacit_gossip_message *message,
                                  struct tacit_gossip_update *update)
{
    TACIT_ASSERT(message->shift != NULL);
    TACIT_ASSERT(message->flow != NULL);
    uint32_t const at = edge_to(agent, message->from);
    struct edge *const edge = &edges_of(agent)[at];
    agent->offered_until_us = 0;
    if (message->exchange <= edge->exchange)
        return TACIT_OK; /* late, repeated, or the keeper said: not now */
    if (message->exchange == edge->exchange + 1 &&
        flows_agree(agent, at, message->flow, message->shift)) {
        double *const theta = doubles_of(agent, ARRAY_THETA);
        double *const flow = flow_of(agent, at);
        for (uint32_t arm = 0; arm < agent->rule.arm_count; arm++) {
            theta[arm] += message->shift[arm];
            flow[arm] = -message->flow[arm];
        }
    } else {
        set_flow(agent, at, message->flow);
    }
    memcpy(shift_of(agent, at), message->shift, agent->rule.arm_count * sizeof(double));
    edge->exchange = message->exchange;
    agent->exchange_count++;
    update->persist = true;
    return TACIT_OK;
}

enum tacit_status gossip_agent_on_message(struct tacit_gossip_agent *agent,
                                          const struct tacit_gossip_message *message,
                                          struct tacit_gossip_update *update)
{
    TACIT_TRY(check_message(agent, message));
    if (agent->phase == PHASE_NEW)
        return TACIT_UNEXPECTED;
    uint32_t const at = edge_to(agent, message->from);
    if (message->kind == TACIT_GOSSIP_REFUSE) {
        if (message->incarnation_number != agent->incarnation.number ||
            message->incarnation != agent->incarnation.name)
            return TACIT_OK; /* of an earlier incarnation */
        agent->phase = PHASE_HALTED;
        update->persist = true;
        return TACIT_ROLLBACK;
    }
    enum acquaintance const known = meet(&edges_of(agent)[at].incarnation, incarnation_of(message));
    if (known == REFUSED) {
        refuse(agent, message, update);
        return TACIT_OK;
    }
    update->persist = update->persist || known == NEW;
    if (message->seen != NULL)
        merge_seen(agent, message->seen, update);
    switch (message->kind) {
    case TACIT_GOSSIP_COUNTS:
        return TACIT_OK;
    case TACIT_GOSSIP_ASK:
        if (agent->phase != PHASE_FIRST && agent->clock.now_us >= agent->offered_until_us)
            gossip_agent_offer(agent, at, update);
        return TACIT_OK;
    case TACIT_GOSSIP_OFFER:
        return on_offer(agent, message, update);
    case TACIT_GOSSIP_SHIFT:
        return on_shift(agent, message, update);
    case TACIT_GOSSIP_REFUSE:
        break;
    }
    TACIT_ASSERT(false);
    return TACIT_MALFORMED;
}
