/* The memory that nodes live in. */
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
    TACIT_ASSERT(index <= nodes->agent_count);
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

/* Room for the state of any agent: whose it will be is not known before. */
static struct sim_node lay_out_clone(struct tacit_sim_nodes *nodes, size_t *used,
                                     size_t state_bytes, size_t extra_bytes)
{
    return (struct sim_node){
        .state_bytes = state_bytes,
        .extra_bytes = extra_bytes,
        .state = carve(nodes, used, state_bytes),
        .extra = carve(nodes, used, extra_bytes),
        .disk = carve(nodes, used, state_bytes + extra_bytes),
        .plan = carve(nodes, used, nodes->arm_count * sizeof(struct tacit_pull_block))};
}

/* Places everything in the arena; NULL: only counts. Result: the bytes that it takes. */
static size_t lay_out(struct tacit_sim_nodes *nodes)
{
    size_t used = 0;
    size_t state_max = 0;
    size_t extra_max = 0;
    uint32_t const count = nodes->agent_count + 1 + nodes->clone_count;
    struct sim_node *const all = carve(nodes, &used, count * sizeof *all);
    struct sim_backup *const backups = carve(nodes, &used, nodes->backup_count * sizeof *backups);
    for (uint32_t i = 0; i < count; i++) {
        struct sim_node const node = i <= nodes->agent_count
                                         ? lay_out_node(nodes, &used, i)
                                         : lay_out_clone(nodes, &used, state_max, extra_max);
        state_max = node.state_bytes > state_max ? node.state_bytes : state_max;
        extra_max = node.extra_bytes > extra_max ? node.extra_bytes : extra_max;
        if (all != NULL)
            all[i] = node;
    }
    for (uint32_t i = 0; i < nodes->backup_count; i++) {
        struct sim_backup const backup = {.disk = carve(nodes, &used, state_max + extra_max)};
        if (backups != NULL)
            backups[i] = backup;
    }
    nodes->nodes = all;
    nodes->backups = backups;
    TACIT_ASSERT(used >= count * sizeof *all);
    return used;
}

/* Copies need an agent that may be copied, backups of the hub a hub. */
static bool faults_are_valid(const struct tacit_sim_nodes_config *config)
{
    struct tacit_sim_faults const *const faults = config->faults;
    if (faults == NULL)
        return true;
    bool const has_copied =
        faults->copied == NULL || tacit_bits_count(faults->copied, config->sim->agent_count) > 0;
    return faults->lost_agents <= config->sim->agent_count && has_copied &&
           (faults->hub_backups == 0 || config->has_hub);
}

static void free_queue(void *block)
{
    struct tacit_sim_nodes *const nodes = block;
    sim_queue_free(&nodes->queue);
}

struct tacit_sim_nodes *tacit_sim_nodes_new(const struct tacit_sim_nodes_config *config,
                                            enum tacit_status *status)
{
    TACIT_ASSERT(config->ops != NULL);
    TACIT_ASSERT(config->sim != NULL);
    void *const owner = config->family;
    struct tacit_sim_nodes *const nodes = tacit_sim_new(owner, 1, sizeof *nodes);
    struct tacit_sim_faults const *const faults = config->faults;
    *status = TACIT_MEMORY;
    if (nodes == NULL)
        return NULL;
    nodes->clone_count = faults == NULL ? 0 : faults->clones;
    nodes->backup_count = faults == NULL ? 0 : faults->agent_backups + faults->hub_backups;
    nodes->config = *config;
    nodes->agent_count = config->sim->agent_count;
    nodes->arm_count = config->sim->env.arm_count;
    tacit_sim_at_end(nodes, free_queue);
    if (!faults_are_valid(config)) {
        *status = TACIT_INVALID;
        return NULL;
    }
    (void)tacit_sim_curve_init(&nodes->curve, config->sim, owner);
    if (config->counts_pulls)
        (void)tacit_sim_pulls_init(&nodes->pulls, config->sim, owner);
    nodes->arena = tacit_sim_new(owner, 1, lay_out(nodes));
    *status = tacit_sim_memory_status(owner);
    if (*status != TACIT_OK)
        return NULL;
    (void)lay_out(nodes);
    return nodes;
}

uint32_t tacit_sim_nodes_agent(const struct tacit_sim_nodes *nodes, uint32_t node)
{
    TACIT_ASSERT(node <= nodes->agent_count + nodes->clone_count);
    return nodes->nodes[node].agent;
}

void *tacit_sim_nodes_state(const struct tacit_sim_nodes *nodes, uint32_t node)
{
    TACIT_ASSERT(node <= nodes->agent_count + nodes->clone_count);
    return nodes->nodes[node].state;
}

void *tacit_sim_nodes_extra(const struct tacit_sim_nodes *nodes, uint32_t node)
{
    TACIT_ASSERT(node <= nodes->agent_count + nodes->clone_count);
    return nodes->nodes[node].extra;
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
