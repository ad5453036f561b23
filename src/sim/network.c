/* The network: copies of opaque messages. */
#include <stdlib.h>
#include "nodes.h"

/* ---- Packets ---- */

void sim_push(struct tacit_sim_nodes *nodes, struct sim_item item)
{
    TACIT_ASSERT(item.time_us >= nodes->now_us);
    TACIT_ASSERT(item.node < nodes->node_count);
    item.origin = item.packet == NULL ? item.node : item.packet->from;
    item.rank = item.packet == NULL ? item.rank : item.packet->rank;
    if (nodes->status == TACIT_OK)
        nodes->status = sim_queue_push(&nodes->queue, item);
}

void sim_packet_drop(struct sim_packet *packet)
{
    TACIT_IMPLIES(packet != NULL, packet->references > 0);
    if (packet != NULL && --packet->references == 0)
        free(packet);
}

static struct sim_packet *new_packet(struct tacit_sim_nodes *nodes, uint32_t from,
                                     const void *message)
{
    struct tacit_sim_node_ops const *const ops = nodes->config.ops;
    void *const family = nodes->config.family;
    struct sim_packet *const packet = malloc(sizeof *packet + ops->message_size(family, message));
    if (packet == NULL) {
        nodes->status = TACIT_MEMORY;
        return NULL;
    }
    packet->references = 1;
    packet->from = from;
    packet->rank = ops->message_rank == NULL ? 0 : ops->message_rank(family, message);
    packet->message = ops->message_copy(family, message, packet->memory);
    return packet;
}

/* ---- On the way ---- */

void sim_deliver(struct tacit_sim_nodes *nodes, struct sim_packet *packet, uint32_t node,
                 uint64_t delay_us)
{
    TACIT_ASSERT(packet->references > 0);
    packet->references++;
    sim_push(nodes, (struct sim_item){.time_us = nodes->now_us + delay_us,
                                      .kind = SIM_ITEM_MESSAGE,
                                      .node = node,
                                      .packet = packet});
}

/* Or to the hub, whose number is agent_count. */
static void send_to_agent(struct tacit_sim_nodes *nodes, struct sim_packet *packet, uint32_t agent)
{
    struct tacit_sim_faults const *const faults = nodes->config.faults;
    TACIT_ASSERT(agent < nodes->agent_count + (nodes->config.has_hub ? 1u : 0u));
    if (faults == NULL)
        sim_deliver(nodes, packet, agent, 0);
    else
        faults->ops->send(nodes, packet, agent);
}

static void send_to_neighbours(struct tacit_sim_nodes *nodes, struct sim_packet *packet)
{
    TACIT_ASSERT(nodes->config.graph != NULL);
    TACIT_ASSERT(packet->from < nodes->agent_count);
    struct tacit_graph const *const graph = nodes->config.graph;
    uint32_t const from = packet->from;
    for (uint64_t i = graph->first[from]; i < graph->first[from + 1]; i++)
        send_to_agent(nodes, packet, graph->neighbours[i]);
}

/* ---- Counting ---- */

static uint32_t receiver_count(const struct tacit_sim_nodes *nodes, uint32_t from, uint32_t to)
{
    if (to == TACIT_EVERYONE)
        return nodes->agent_count;
    if (to == TACIT_NEIGHBOURS)
        return tacit_graph_degree(nodes->config.graph, from);
    return 1;
}

void tacit_sim_count(struct tacit_sim_totals *totals, struct tacit_sim_cost cost, double count,
                     double receivers)
{
    totals->control_bytes += count * (double)cost.control_bytes;
    if (cost.is_control) {
        totals->control_messages += count;
        return;
    }
    totals->messages += count;
    totals->messages_per_receiver += count * receivers;
    totals->scalars += count * (double)cost.scalars;
    totals->bytes += count * (double)cost.bytes;
}

void sim_send(struct tacit_sim_nodes *nodes, uint32_t from, const struct tacit_sim_send *send)
{
    TACIT_ASSERT(send->message != NULL);
    struct tacit_sim_node_ops const *const ops = nodes->config.ops;
    TACIT_IMPLIES(send->to == TACIT_NEIGHBOURS,
                  nodes->config.graph != NULL && from < nodes->agent_count);
    tacit_sim_count(&nodes->totals, ops->message_cost(nodes->config.family, send->message), 1,
                    receiver_count(nodes, from, send->to));
    if (ops->sent != NULL)
        ops->sent(nodes->config.family, send->message);
    struct sim_packet *const packet = new_packet(nodes, from, send->message);
    if (packet == NULL)
        return;
    if (send->to == TACIT_EVERYONE)
        for (uint32_t agent = 0; agent < nodes->agent_count; agent++)
            send_to_agent(nodes, packet, agent);
    else if (send->to == TACIT_NEIGHBOURS)
        send_to_neighbours(nodes, packet);
    else
        send_to_agent(nodes, packet, send->to == TACIT_HUB ? nodes->agent_count : send->to);
    sim_packet_drop(packet);
}
