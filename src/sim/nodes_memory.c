/* The memory that nodes live in, and what they came to. */
#include "nodes.h"

/* Of a state, aligned for any type. *most: of an agent's so far, which is what a clone needs: whose
 * state it will have is not known before. */
static size_t bytes_of(const struct tacit_sim_nodes *nodes, uint32_t index, size_t *most)
{
    bool const is_hub = index == nodes->agent_count;
    if (index > nodes->agent_count)
        return *most;
    if (is_hub && !nodes->config.has_hub)
        return 0;
    size_t const bytes =
        (nodes->config.ops->size(nodes->config.family, index) + 15u) & ~(size_t)15u;
    *most = is_hub || bytes < *most ? *most : bytes;
    return bytes;
}

/* Gives each node its place. */
static void lay_out(struct tacit_sim_nodes *nodes, void *owner)
{
    struct tacit_pull_block *const plans =
        tacit_sim_new(owner, (size_t)nodes->node_count * nodes->arm_count, sizeof *plans);
    size_t most = 0;
    size_t used = 0;
    nodes->nodes = tacit_sim_new(owner, nodes->node_count, sizeof *nodes->nodes);
    if (nodes->nodes == NULL || plans == NULL)
        return;
    for (uint32_t i = 0; i < nodes->node_count; i++) {
        nodes->nodes[i].state_bytes = bytes_of(nodes, i, &most);
        nodes->nodes[i].plan = plans + (size_t)i * nodes->arm_count;
        used += nodes->nodes[i].state_bytes;
    }
    unsigned char *place = tacit_sim_new(owner, 1, used);
    for (uint32_t i = 0; i < nodes->node_count && place != NULL; i++) {
        nodes->nodes[i].state = place;
        place += nodes->nodes[i].state_bytes;
    }
}

static void free_queue(void *block)
{
    struct tacit_sim_nodes *const nodes = block;
    sim_queue_free(&nodes->queue);
}

struct tacit_sim_nodes *tacit_sim_nodes_new(const struct tacit_sim_nodes_config *config)
{
    TACIT_ASSERT(config->ops != NULL);
    TACIT_ASSERT(config->sim != NULL);
    void *const owner = config->family;
    struct tacit_sim_nodes *const nodes = tacit_sim_new(owner, 1, sizeof *nodes);
    struct tacit_sim_faults const *const faults = config->faults;
    if (nodes == NULL)
        return NULL;
    nodes->config = *config;
    nodes->agent_count = config->sim->agent_count;
    nodes->arm_count = config->sim->env.arm_count;
    nodes->node_count = nodes->agent_count + 1 + (faults == NULL ? 0 : faults->clones);
    tacit_sim_at_end(nodes, free_queue);
    (void)tacit_sim_curve_init(&nodes->curve, config->sim, owner);
    if (config->counts_pulls)
        (void)tacit_sim_pulls_init(&nodes->pulls, config->sim, owner);
    lay_out(nodes, owner);
    if (!tacit_sim_is_whole(owner))
        return NULL;
    if (faults != NULL)
        nodes->weather = faults->ops->make(nodes);
    return nodes;
}

void *tacit_sim_nodes_state(const struct tacit_sim_nodes *nodes, uint32_t node)
{
    TACIT_ASSERT(node < nodes->node_count);
    return nodes->nodes[node].state;
}

struct tacit_sim_totals tacit_sim_nodes_totals(const struct tacit_sim_nodes *nodes)
{
    struct tacit_sim_totals totals = nodes->totals;
    totals.regret = nodes->curve.total;
    if (nodes->config.counts_pulls) {
        totals.regret = tacit_sim_pulls_total(&nodes->pulls, nodes->instance->gaps);
        totals.regret_exploit = tacit_sim_pulls_waited(&nodes->pulls, nodes->instance->gaps);
    }
    return totals;
}

void tacit_sim_nodes_regret(const struct tacit_sim_nodes *nodes, double *regret)
{
    if (nodes->config.counts_pulls)
        tacit_sim_pulls_read(&nodes->pulls, nodes->instance->gaps, regret);
    else
        tacit_sim_curve_read(&nodes->curve, regret);
}
