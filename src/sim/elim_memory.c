/* What the cores of a run are configured as, and the memory they live in. */
#include <stdlib.h>
#include "elim_run.h"
#include "elim_state.h"

/* ---- Who is there ---- */

struct node *elim_run_hub(struct elim_run *run)
{
    return &run->nodes[run->agent_count];
}

bool elim_run_has_hub(const struct elim_run *run)
{
    struct tacit_elim_network const *const network = run->experiment->network;
    return network == NULL || network->collection == TACIT_ELIM_GATHER;
}

void elim_run_look(const struct elim_run *run, const struct node *node,
                   struct tacit_elim_agent_view *view)
{
    struct tacit_elim_peer_view peer;
    if (run->experiment->network == NULL) {
        tacit_elim_agent_look(node->state, view);
        return;
    }
    tacit_elim_peer_look(node->state, &peer);
    *view = peer.agent;
}

/* The agent's core, be it in a peer or not. */
struct tacit_elim_agent *elim_run_agent(const struct elim_run *run, const struct node *node)
{
    if (run->experiment->network == NULL)
        return node->state;
    return (struct tacit_elim_agent *)(uintptr_t)tacit_elim_peer_agent(node->state);
}

/* ---- Configurations ---- */

static uint64_t resend_after_us(const struct tacit_sim_elim *experiment)
{
    if (experiment->faults == NULL)
        return experiment->horizon + 1; /* nothing gets lost: no timer ever matters */
    return 2 * experiment->faults->delay_us_max + 1000;
}

struct tacit_elim_agent_config elim_run_agent_config(const struct tacit_sim_elim *experiment,
                                                     uint64_t run_id, uint32_t agent)
{
    return (struct tacit_elim_agent_config){.run_id = run_id,
                                            .agent_id = agent,
                                            .agent_count = experiment->agent_count,
                                            .arm_count = experiment->env.arm_count,
                                            .horizon = experiment->horizon,
                                            .mechanism = experiment->mechanism,
                                            .budget_nano =
                                                tacit_mechanism_cost_nano(&experiment->mechanism),
                                            .resend_after_us = resend_after_us(experiment)};
}

struct tacit_elim_hub_config elim_run_hub_config(const struct tacit_sim_elim *experiment,
                                                 uint64_t run_id, double gap,
                                                 const uint32_t *weights)
{
    return (struct tacit_elim_hub_config){
        .run_id = run_id,
        .agent_count = experiment->agent_count,
        .schedule = {.arm_count = experiment->env.arm_count,
                     .report_count = experiment->report_count,
                     .horizon = experiment->horizon,
                     .epsilon_per_reward = experiment->epsilon_per_reward,
                     .round_limit = experiment->round_limit,
                     .gap = gap},
        .mechanism = experiment->mechanism,
        .quorum = experiment->quorum,
        .round_timeout_us = experiment->round_timeout_us,
        .answers_all = experiment->hub_answers_all,
        .weights = weights,
        .components_alike = experiment->network != NULL && experiment->network->components_alike};
}

/* Slots are synchronous without faults (READINGS P1.13); with faults, everybody goes on as soon as
 * everything is there. */
struct tacit_elim_peer_config elim_run_peer_config(const struct elim_run *run, uint64_t run_id,
                                                   uint32_t agent, double gap)
{
    struct tacit_sim_elim const *const experiment = run->experiment;
    struct tacit_elim_network const *const network = experiment->network;
    struct tacit_graph const *const graph = network->graph;
    uint32_t const component = network->label[agent];
    bool const gathers = network->collection == TACIT_ELIM_GATHER;
    bool const is_sink = network->parent[agent] == TACIT_NO_AGENT;
    bool const has_members = network->component_count > 1 && (!gathers || is_sink);
    size_t const set = TACIT_BITS_WORDS(experiment->agent_count);
    return (struct tacit_elim_peer_config){
        .agent = elim_run_agent_config(experiment, run_id, agent),
        .collection = network->collection,
        .neighbours = graph->neighbours + graph->first[agent],
        .neighbour_count = tacit_graph_degree(graph, agent),
        .members = has_members ? run->members + component * set : NULL,
        .parent = is_sink ? agent : network->parent[agent],
        .schedule = elim_run_hub_config(experiment, run_id, gap, NULL).schedule,
        .slot_us = 1,
        .has_clock = experiment->faults == NULL,
        .round_us = network->diameter > 1 && experiment->faults == NULL ? network->diameter - 1 : 0,
        .gather_timeout_us = gathers ? experiment->gather_timeout_us : 0};
}

/* ---- Memory ---- */

static size_t aligned(size_t size)
{
    return (size + 15u) & ~(size_t)15u;
}

/* Hands out the next piece of the arena; with a NULL arena it only counts. */
static void *carve(struct elim_run *run, size_t *used, size_t size)
{
    void *const piece = run->arena == NULL ? NULL : run->arena + *used;
    *used += aligned(size);
    return piece;
}

/* Which agents are in each component, and for how many a sink speaks. */
static void describe_components(struct elim_run *run)
{
    struct tacit_elim_network const *const network = run->experiment->network;
    size_t const set = TACIT_BITS_WORDS(run->agent_count);
    for (uint32_t agent = 0; agent < run->agent_count; agent++) {
        if (run->members != NULL)
            tacit_bits_add(run->members + network->label[agent] * set, agent);
        if (network->parent[agent] == TACIT_NO_AGENT)
            run->weights[agent] = network->components[network->label[agent]].agent_count;
    }
}

/* Peers share one table where nothing fails. */
static bool shares_table(const struct tacit_sim_elim *experiment)
{
    return experiment->network != NULL && experiment->faults == NULL && !experiment->own_tables;
}

static struct node lay_out_agent(struct elim_run *run, size_t *used, uint32_t agent,
                                 struct tacit_elim_table *shared)
{
    struct tacit_sim_elim const *const experiment = run->experiment;
    bool const has_faults = experiment->faults != NULL;
    struct node node = {.table = shared};
    if (experiment->network == NULL) {
        struct tacit_elim_agent_config const config = elim_run_agent_config(experiment, 1, agent);
        node.size = tacit_elim_agent_size(&config);
    } else {
        struct tacit_elim_peer_config const config = elim_run_peer_config(run, 1, agent, 1);
        node.size = tacit_elim_peer_size(&config);
        node.table_size =
            shares_table(experiment) ? 0 : tacit_elim_table_size(run->agent_count, run->arm_count);
    }
    node.state = carve(run, used, node.size);
    if (node.table_size > 0)
        node.table = carve(run, used, node.table_size);
    if (has_faults)
        node.disk = carve(run, used, node.size + node.table_size);
    node.plan = carve(run, used, run->arm_count * sizeof *node.plan);
    return node;
}

static struct node lay_out_hub(struct elim_run *run, size_t *used)
{
    struct tacit_elim_hub_config const config = elim_run_hub_config(run->experiment, 1, 1, NULL);
    struct node node = {.size = elim_run_has_hub(run) ? tacit_elim_hub_size(&config) : 0};
    node.state = carve(run, used, node.size);
    node.disk = run->experiment->faults == NULL ? NULL : carve(run, used, node.size);
    return node;
}

/* What the states' sizes depend on comes first, in memory of its own. */
static bool set_up_network(struct elim_run *run)
{
    struct tacit_elim_network const *const network = run->experiment->network;
    if (network == NULL)
        return true;
    run->weights = calloc(run->agent_count, sizeof *run->weights);
    bool const has_members = network->component_count > 1;
    if (has_members)
        run->members = calloc(network->component_count * TACIT_BITS_WORDS(run->agent_count),
                              sizeof *run->members);
    if (run->weights == NULL || (has_members && run->members == NULL))
        return false;
    describe_components(run);
    return true;
}

static size_t lay_out(struct elim_run *run)
{
    struct tacit_sim_elim const *const experiment = run->experiment;
    size_t used = 0;
    size_t const arms = run->arm_count;
    size_t const points = experiment->point_count;
    bool const shares = shares_table(experiment);
    struct node *const nodes = carve(run, &used, (run->agent_count + 1) * sizeof *nodes);
    double *const own_means = carve(run, &used, arms * sizeof(double));
    run->global_means = carve(run, &used, arms * sizeof(double));
    run->gaps = carve(run, &used, arms * sizeof(double));
    run->curve.step = carve(run, &used, points * sizeof(double));
    run->curve.partial = carve(run, &used, points * sizeof(double));
    struct tacit_elim_table *const shared =
        shares ? carve(run, &used, tacit_elim_table_size(run->agent_count, run->arm_count)) : NULL;
    for (uint32_t i = 0; i <= run->agent_count; i++) {
        struct node const node =
            i == run->agent_count ? lay_out_hub(run, &used) : lay_out_agent(run, &used, i, shared);
        if (nodes != NULL)
            nodes[i] = node;
    }
    run->nodes = nodes;
    run->own_means = own_means;
    return used;
}

/* Would the cores take this experiment? */
static bool experiment_is_valid(const struct elim_run *run)
{
    struct tacit_sim_elim const *const experiment = run->experiment;
    struct tacit_elim_hub_config const hub =
        elim_run_hub_config(experiment, 1, 1, experiment->network == NULL ? NULL : run->weights);
    if (experiment->faults != NULL && experiment->faults->lost_agents > experiment->agent_count)
        return false;
    if (experiment->network != NULL) {
        struct tacit_elim_peer_config const peer = elim_run_peer_config(run, 1, 0, 1);
        return tacit_elim_peer_size(&peer) > 0 &&
               (!elim_run_has_hub(run) || tacit_elim_hub_size(&hub) > 0);
    }
    struct tacit_elim_agent_config const agent = elim_run_agent_config(experiment, 1, 0);
    return tacit_elim_agent_size(&agent) > 0 && tacit_elim_hub_size(&hub) > 0;
}

struct elim_run *elim_run_new(const struct tacit_sim_elim *experiment, enum tacit_status *status)
{
    struct elim_run *const run = calloc(1, sizeof *run);
    *status = TACIT_MEMORY;
    if (run == NULL)
        return NULL;
    run->experiment = experiment;
    run->agent_count = experiment->agent_count;
    run->arm_count = experiment->env.arm_count;
    run->curve.points = experiment->points;
    run->curve.point_count = experiment->point_count;
    if (!set_up_network(run))
        goto failed;
    *status = TACIT_INVALID;
    if (!experiment_is_valid(run))
        goto failed;
    *status = TACIT_MEMORY;
    run->arena = calloc(1, lay_out(run));
    if (run->arena == NULL)
        goto failed;
    (void)lay_out(run);
    run->env = experiment->env;
    if (experiment->instance_per_run)
        run->env.means = run->own_means;
    *status = TACIT_OK;
    return run;
failed:
    elim_run_free(run);
    return NULL;
}

void elim_run_free(struct elim_run *run)
{
    if (run == NULL)
        return;
    sim_queue_free(&run->queue);
    free(run->members);
    free(run->weights);
    free(run->arena);
    free(run);
}
