/* The memory that nodes live in. */
#include <stdlib.h>
#include "nodes.h"

static size_t aligned(size_t size)
{
    return (size + 15u) & ~(size_t)15u;
}

/* Hands out the next piece of the arena; with a NULL arena it only counts. */
static void *carve(struct tacit_sim_nodes *nodes, size_t *used, size_t size)
{
    void *const piece = nodes->arena == NULL ? NULL : nodes->arena + *used;
    *used += aligned(size);
    return piece;
}

static struct sim_node lay_out_node(struct tacit_sim_nodes *nodes, size_t *used, uint32_t index)
{
    bool const is_hub = index == nodes->agent_count;
    struct sim_node node = {0};
    if (is_hub && !nodes->config.has_hub)
        return node;
    nodes->config.ops->size(nodes->config.family, index, &node.state_bytes, &node.extra_bytes);
    node.state = carve(nodes, used, node.state_bytes);
    if (node.extra_bytes > 0)
        node.extra = carve(nodes, used, node.extra_bytes);
    if (nodes->config.faults != NULL)
        node.disk = carve(nodes, used, node.state_bytes + node.extra_bytes);
    if (!is_hub)
        node.plan = carve(nodes, used, nodes->arm_count * sizeof *node.plan);
    return node;
}

static size_t lay_out(struct tacit_sim_nodes *nodes)
{
    size_t used = 0;
    struct sim_node *const all =
        carve(nodes, &used, (nodes->agent_count + (size_t)1) * sizeof *all);
    for (uint32_t i = 0; i <= nodes->agent_count; i++) {
        struct sim_node const node = lay_out_node(nodes, &used, i);
        if (all != NULL)
            all[i] = node;
    }
    nodes->nodes = all;
    return used;
}

struct tacit_sim_nodes *tacit_sim_nodes_new(const struct tacit_sim_nodes_config *config,
                                            enum tacit_status *status)
{
    struct tacit_sim_nodes *const nodes = calloc(1, sizeof *nodes);
    *status = TACIT_MEMORY;
    if (nodes == NULL)
        return NULL;
    nodes->config = *config;
    nodes->agent_count = config->sim->agent_count;
    nodes->arm_count = config->sim->env.arm_count;
    if (config->faults != NULL && config->faults->lost_agents > nodes->agent_count)
        *status = TACIT_INVALID;
    else if (tacit_sim_curve_init(&nodes->curve, config->sim) == TACIT_OK) {
        nodes->arena = calloc(1, lay_out(nodes));
        if (nodes->arena != NULL) {
            (void)lay_out(nodes);
            *status = TACIT_OK;
            return nodes;
        }
    }
    tacit_sim_nodes_free(nodes);
    return NULL;
}

void tacit_sim_nodes_free(struct tacit_sim_nodes *nodes)
{
    if (nodes == NULL)
        return;
    sim_queue_free(&nodes->queue);
    tacit_sim_curve_free(&nodes->curve);
    free(nodes->arena);
    free(nodes);
}

void *tacit_sim_nodes_state(const struct tacit_sim_nodes *nodes, uint32_t node)
{
    TACIT_ASSERT(node <= nodes->agent_count);
    return nodes->nodes[node].state;
}

void *tacit_sim_nodes_extra(const struct tacit_sim_nodes *nodes, uint32_t node)
{
    TACIT_ASSERT(node <= nodes->agent_count);
    return nodes->nodes[node].extra;
}

struct tacit_sim_totals tacit_sim_nodes_totals(const struct tacit_sim_nodes *nodes)
{
    struct tacit_sim_totals totals = nodes->totals;
    totals.regret = nodes->curve.total;
    return totals;
}

void tacit_sim_nodes_regret(const struct tacit_sim_nodes *nodes, double *regret)
{
    tacit_sim_curve_read(&nodes->curve, regret);
}
