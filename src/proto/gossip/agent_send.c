/* What an agent says to its neighbours. */
#include "agent_state.h"

struct tacit_gossip_message gossip_agent_message_to(const struct tacit_gossip_agent *agent,
                                                    uint32_t to,
                                                    enum tacit_gossip_message_kind kind)
{
    TACIT_ASSERT(to == TACIT_NEIGHBOURS || to != agent->agent_id);
    return (struct tacit_gossip_message){.kind = kind,
                                         .from = agent->agent_id,
                                         .to = to,
                                         .run_id = agent->run_id,
                                         .incarnation_number = agent->incarnation.number,
                                         .incarnation = agent->incarnation.name};
}

void gossip_agent_send(struct tacit_gossip_agent *agent, struct tacit_gossip_message message,
                       struct tacit_gossip_update *update)
{
    /* On its own clock n~ rides on every message; in lockstep it is told at the slot's beginning,
     * so that it travels one edge a slot. */
    if (!is_lockstep(agent) || message.kind == TACIT_GOSSIP_COUNTS)
        message.seen = array_of(agent, ARRAY_SEEN);
    update->send = true;
    update->message = message;
}

void gossip_agent_offer(struct tacit_gossip_agent *agent, uint32_t edge,
                        struct tacit_gossip_update *update)
{
    TACIT_ASSERT(edge < agent->neighbour_count);
    TACIT_ASSERT(!is_keeper(agent, (uint32_t)edges_of(agent)[edge].neighbour));
    struct edge const *const it = &edges_of(agent)[edge];
    struct tacit_gossip_message message =
        gossip_agent_message_to(agent, (uint32_t)it->neighbour, TACIT_GOSSIP_OFFER);
    message.exchange = it->exchange;
    message.theta = doubles_of(agent, ARRAY_THETA);
    message.flow = flow_of(agent, edge);
    /* A keeper whose own offer is open lets others wait: half of what it has is promised. */
    agent->offered_until_us = agent->clock.now_us + 4 * agent->exchange_us;
    gossip_agent_send(agent, message, update);
}

void gossip_agent_answer(struct tacit_gossip_agent *agent, uint32_t edge,
                         struct tacit_gossip_update *update)
{
    TACIT_ASSERT(edge < agent->neighbour_count);
    TACIT_ASSERT(is_keeper(agent, (uint32_t)edges_of(agent)[edge].neighbour));
    struct edge const *const it = &edges_of(agent)[edge];
    struct tacit_gossip_message message =
        gossip_agent_message_to(agent, (uint32_t)it->neighbour, TACIT_GOSSIP_SHIFT);
    message.exchange = it->exchange;
    message.shift = shift_of(agent, edge);
    message.flow = flow_of(agent, edge);
    gossip_agent_send(agent, message, update);
}

/* Which neighbour this agent's own clock meets next. */
enum tacit_status gossip_agent_begin_exchange(struct tacit_gossip_agent *agent,
                                              const struct tacit_entropy *entropy,
                                              struct tacit_gossip_update *update)
{
    if (agent->neighbour_count == 0 || agent->phase == PHASE_FIRST)
        return TACIT_OK;
    uint64_t drawn = 0;
    TACIT_TRY(tacit_entropy_below(entropy, agent->neighbour_count, &drawn));
    uint32_t const edge = (uint32_t)drawn;
    uint32_t const neighbour = (uint32_t)edges_of(agent)[edge].neighbour;
    TACIT_ASSERT(edge < agent->neighbour_count);
    if (is_keeper(agent, neighbour))
        gossip_agent_send(agent, gossip_agent_message_to(agent, neighbour, TACIT_GOSSIP_ASK),
                          update);
    else if (agent->clock.now_us >= agent->offered_until_us)
        gossip_agent_offer(agent, edge, update);
    return TACIT_OK;
}
