/* Old states that come back: backups that are put back, and clones. Only disks are copied; what was
 * in memory alone is nowhere else. */
#include <string.h>
#include "nodes.h"

void sim_notify_copied(const struct tacit_sim_nodes *nodes, enum tacit_sim_location to,
                       uint32_t to_index, enum tacit_sim_location from, uint32_t from_index)
{
    if (nodes->config.ops->copied != NULL)
        nodes->config.ops->copied(nodes->config.family, to, to_index, from, from_index);
}

static size_t disk_bytes(const struct sim_node *node)
{
    return node->state_bytes + node->extra_bytes;
}

/* ---- When ---- */

/* While things go wrong, and somebody still plays. */
static uint64_t last_time_us(const struct tacit_sim_nodes *nodes)
{
    uint64_t const horizon = nodes->config.sim->horizon;
    uint64_t const healed_at_us = nodes->config.faults->healed_at_us;
    return healed_at_us < horizon ? healed_at_us : horizon;
}

/* Of a node: taken at some time, and put back at some later one. */
static void plan_backup(struct tacit_sim_nodes *nodes, uint32_t number, uint32_t node)
{
    uint64_t const taken_us = sim_up_to(nodes, last_time_us(nodes));
    uint64_t const back_us = taken_us + sim_up_to(nodes, last_time_us(nodes) - taken_us);
    sim_push(nodes,
             (struct sim_item){
                 .time_us = taken_us, .kind = SIM_ITEM_BACKUP, .node = node, .number = number});
    sim_push(nodes,
             (struct sim_item){
                 .time_us = back_us, .kind = SIM_ITEM_RESTORE, .node = node, .number = number});
}

/* One that may be copied. */
static uint32_t any_agent(struct tacit_sim_nodes *nodes)
{
    uint64_t const *const copied = nodes->config.faults->copied;
    if (copied == NULL)
        return (uint32_t)sim_up_to(nodes, nodes->agent_count - 1);
    uint64_t skip = sim_up_to(nodes, tacit_bits_count(copied, nodes->agent_count) - 1);
    uint32_t agent = tacit_bits_next(copied, nodes->agent_count, 0);
    for (; skip > 0; skip--)
        agent = tacit_bits_next(copied, nodes->agent_count, agent + 1);
    return agent;
}

void sim_plan_copies(struct tacit_sim_nodes *nodes)
{
    for (uint32_t i = 0; i < nodes->backup_count; i++) {
        bool const is_of_agent = i < nodes->config.faults->agent_backups;
        plan_backup(nodes, i, is_of_agent ? any_agent(nodes) : nodes->agent_count);
    }
    for (uint32_t i = 0; i < nodes->clone_count; i++) {
        uint32_t const agent = any_agent(nodes);
        sim_push(nodes, (struct sim_item){.time_us = sim_up_to(nodes, last_time_us(nodes)),
                                          .kind = SIM_ITEM_CLONE,
                                          .node = nodes->agent_count + 1 + i,
                                          .number = agent});
    }
}

/* ---- What ---- */

static void make_backup(struct tacit_sim_nodes *nodes, struct sim_node *node, uint32_t number)
{
    struct sim_backup *const backup = &nodes->backups[number];
    backup->node = sim_index(nodes, node);
    backup->slot = node->slot;
    backup->is_taken = true;
    memcpy(backup->disk, node->disk, disk_bytes(node));
    sim_notify_copied(nodes, TACIT_SIM_BACKUP, number, TACIT_SIM_DISK, backup->node);
}

static void put_back(struct tacit_sim_nodes *nodes, struct sim_node *node, uint32_t number)
{
    struct sim_backup const *const backup = &nodes->backups[number];
    TACIT_ASSERT(backup->is_taken && backup->node == sim_index(nodes, node));
    if (node->is_lost)
        return;
    memcpy(node->disk, backup->disk, disk_bytes(node));
    node->slot = backup->slot;
    sim_notify_copied(nodes, TACIT_SIM_DISK, backup->node, TACIT_SIM_BACKUP, number);
    sim_crash(nodes, node);
}

/* With the noise that the agent will draw, or with its own: both are possible. */
static void begin_clone(struct tacit_sim_nodes *nodes, struct sim_node *clone, uint32_t agent)
{
    struct sim_node const *const original = &nodes->nodes[agent];
    clone->agent = agent;
    clone->state_bytes = original->state_bytes;
    clone->extra_bytes = original->extra_bytes;
    clone->slot = original->slot;
    memcpy(clone->disk, original->disk, disk_bytes(original));
    if (sim_up_to(nodes, 1) == 0)
        clone->noise = original->noise;
    sim_notify_copied(nodes, TACIT_SIM_DISK, sim_index(nodes, clone), TACIT_SIM_DISK, agent);
    sim_crash(nodes, clone);
}

void sim_copy(struct tacit_sim_nodes *nodes, const struct sim_item *item)
{
    struct sim_node *const node = &nodes->nodes[item->node];
    TACIT_ASSERT(nodes->config.faults != NULL && item->number <= UINT32_MAX);
    uint32_t const number = (uint32_t)item->number;
    if (item->kind == SIM_ITEM_BACKUP)
        make_backup(nodes, node, number);
    else if (item->kind == SIM_ITEM_RESTORE)
        put_back(nodes, node, number);
    else
        begin_clone(nodes, node, number);
}
