/* What the cores of a run are configured as, and the memory they live in. */
#include "role.h"
#include "run.h"
#include "state.h"

/* ---- Who is there ---- */

bool elim_run_has_hub(const struct elim_run *run)
{
    struct tacit_elim_network const *const network = run->experiment->network;
    return network == NULL || network->collection == TACIT_ELIM_GATHER;
}

struct tacit_elim_hub *elim_run_hub(const struct elim_run *run)
{
    TACIT_ASSERT(elim_run_has_hub(run));
    return tacit_sim_nodes_state(run->nodes, run->agent_count);
}

struct tacit_elim_table *elim_run_table(const struct elim_run *run, uint32_t agent)
{
    unsigned char *const state = tacit_sim_nodes_state(run->nodes, agent);
    return run->shared_table != NULL ? run->shared_table
                                     : (struct tacit_elim_table *)(void *)(state + run->peer_bytes);
}

void elim_run_view(const struct elim_run *run, uint32_t agent, struct tacit_elim_agent_view *view)
{
    void const *const state = tacit_sim_nodes_state(run->nodes, agent);
    struct tacit_elim_peer_view peer;
    if (run->experiment->network == NULL) {
        tacit_elim_agent_view(state, view);
        return;
    }
    tacit_elim_peer_view(state, &peer);
    *view = peer.agent;
}

/* ---- Configurations ---- */

double elim_sim_gap(const struct elim_sim *experiment, const double *means)
{
    double gap = experiment->gap;
    if (experiment->round_limit > 0 && gap <= 0 && means != NULL)
        gap = tacit_env_smallest_gap(means, experiment->common.env.arm_count);
    gap = tacit_scale_gap(&experiment->mechanism.scale, gap);
    return gap > 0 && gap <= 1 ? gap : 1;
}

struct tacit_elim_schedule elim_sim_schedule(const struct elim_sim *experiment, double gap)
{
    return (struct tacit_elim_schedule){.arm_count = experiment->common.env.arm_count,
                                        .report_count = experiment->report_count,
                                        .horizon = experiment->common.horizon,
                                        .epsilon_per_reward = experiment->epsilon_per_reward,
                                        .round_limit = experiment->round_limit,
                                        .floor_milli = experiment->floor_milli,
                                        .gap = gap,
                                        .growth = experiment->growth,
                                        .confidence = experiment->confidence};
}

static uint64_t resend_after_us(const struct elim_sim *experiment)
{
    if (experiment->faults == NULL)
        return experiment->common.horizon + 1; /* nothing gets lost: no timer ever matters */
    return 2 * experiment->faults->delay_us_max + 1000;
}

/* Nothing is copied or lost, and nobody looks on: a commitment is hashed for nobody. */
static bool commits_by_number(const struct elim_sim *experiment)
{
    return experiment->faults == NULL && experiment->hooks == NULL;
}

struct tacit_elim_agent_config elim_run_agent_config(const struct elim_sim *experiment,
                                                     uint64_t run_id, uint32_t agent)
{
    return (struct tacit_elim_agent_config){.run_id = run_id,
                                            .agent_id = agent,
                                            .agent_count = experiment->common.agent_count,
                                            .arm_count = experiment->common.env.arm_count,
                                            .horizon = experiment->common.horizon,
                                            .mechanism = experiment->mechanism,
                                            .budget_nano =
                                                tacit_mechanism_cost_nano(&experiment->mechanism),
                                            .resend_after_us = resend_after_us(experiment),
                                            .has_grants = experiment->has_grants,
                                            .numbered_commits = commits_by_number(experiment)};
}

struct tacit_elim_hub_config elim_run_hub_config(const struct elim_sim *experiment, uint64_t run_id,
                                                 double gap, const uint32_t *weights)
{
    return (struct tacit_elim_hub_config){
        .run_id = run_id,
        .agent_count = experiment->common.agent_count,
        .schedule = elim_sim_schedule(experiment, gap),
        .mechanism = experiment->mechanism,
        .quorum = experiment->quorum,
        .round_timeout_us = experiment->round_timeout_us,
        .answers_all = experiment->faults != NULL,
        .weights = weights,
        .has_grants = experiment->has_grants,
        .numbered_commits = commits_by_number(experiment),
        .components_alike = experiment->network != NULL && experiment->network->components_alike};
}

/* Slots are synchronous without faults (READINGS P1.13); with faults, everybody goes on as soon as
 * everything is there. */
struct tacit_elim_peer_config elim_run_peer_config(const struct elim_run *run, uint64_t run_id,
                                                   uint32_t agent, double gap)
{
    struct elim_sim const *const experiment = run->experiment;
    struct tacit_elim_network const *const network = experiment->network;
    struct elim_role const role = elim_role_of(network, agent);
    bool const gathers = network->collection == TACIT_ELIM_GATHER;
    size_t const set = TACIT_BITS_WORDS(experiment->common.agent_count);
    bool const signs_rows = !gathers && experiment->has_grants && experiment->faults != NULL &&
                            experiment->hooks != NULL && experiment->hooks->signs_rows;
    return (struct tacit_elim_peer_config){
        .agent = elim_run_agent_config(experiment, run_id, agent),
        .collection = network->collection,
        .neighbours = role.neighbours,
        .neighbour_count = role.neighbour_count,
        .members = role.has_members ? run->members + role.component * set : NULL,
        .parent = role.parent,
        .schedule = elim_sim_schedule(experiment, gap),
        .slot_us = 1,
        .has_clock = experiment->faults == NULL,
        .round_us = network->diameter > 1 && experiment->faults == NULL ? network->diameter - 1 : 0,
        .gather_timeout_us = gathers ? experiment->gather_timeout_us : 0,
        .signs_rows = signs_rows,
        .reports_at_once = gathers && network->reports_at_once,
        .confirm_us = signs_rows ? experiment->common.horizon : 0};
}

/* ---- Memory ---- */

/* Which agents are in each component, and for how many a sink speaks. */
static void describe_components(struct elim_run *run, uint32_t set_count)
{
    struct tacit_elim_network const *const network = run->experiment->network;
    size_t const set = TACIT_BITS_WORDS(run->agent_count);
    for (uint32_t agent = 0; agent < run->agent_count; agent++) {
        if (run->members != NULL && network->label[agent] < set_count)
            tacit_bits_add(run->members + network->label[agent] * set, agent);
        run->weights[agent] = elim_role_weight(network, agent);
    }
}

/* What the states' sizes depend on; the members of the first `set_count` components. False: out of
 * memory. */
static bool set_up_network(struct elim_run *run, uint32_t set_count, void *owner)
{
    struct tacit_elim_network const *const network = run->experiment->network;
    if (network == NULL)
        return true;
    run->weights = tacit_sim_new(owner, run->agent_count, sizeof *run->weights);
    if (network->component_count > 1)
        run->members = tacit_sim_new(owner, set_count * TACIT_BITS_WORDS(run->agent_count),
                                     sizeof *run->members);
    if (!tacit_sim_is_whole(owner))
        return false;
    describe_components(run, set_count);
    return true;
}

/* Would the cores take this experiment? */
static bool is_valid(const struct elim_run *run)
{
    struct elim_sim const *const experiment = run->experiment;
    struct tacit_elim_hub_config const hub =
        elim_run_hub_config(experiment, 1, 1, experiment->network == NULL ? NULL : run->weights);
    if (experiment->network != NULL) {
        struct tacit_elim_peer_config const peer = elim_run_peer_config(run, 1, 0, 1);
        return tacit_elim_peer_size(&peer) > 0 &&
               (!elim_run_has_hub(run) || tacit_elim_hub_size(&hub) > 0);
    }
    struct tacit_elim_agent_config const agent = elim_run_agent_config(experiment, 1, 0);
    return tacit_elim_agent_size(&agent) > 0 && tacit_elim_hub_size(&hub) > 0;
}

/* Peers share one table where nothing fails, as rows are the same everywhere; the first peer's init
 * fills it in. Else each has its own, behind the largest state. */
static enum tacit_status make_table(struct elim_run *run)
{
    struct elim_sim const *const experiment = run->experiment;
    uint32_t const peers = experiment->network == NULL ? 0 : run->agent_count;
    for (uint32_t agent = 0; agent < peers; agent++) {
        struct tacit_elim_peer_config const config = elim_run_peer_config(run, 1, agent, 1);
        size_t const bytes = tacit_elim_peer_size(&config);
        run->peer_bytes = bytes > run->peer_bytes ? bytes : run->peer_bytes;
        if (experiment->faults != NULL)
            continue;
        run->shared_table = tacit_sim_new(run, 1, tacit_elim_peer_table_size(&config));
        break;
    }
    return tacit_sim_memory_status(run);
}

/* Where all that matters follows from distances, regret is made of numbers of pulls: runs without
 * messages come to the same, whatever order they play in (flood.h). */
static bool counts_pulls(const struct elim_sim *experiment)
{
    bool const is_flat = experiment->network == NULL
                             ? experiment->growth > 0
                             : experiment->network->collection == TACIT_ELIM_SPREAD;
    return experiment->faults == NULL && is_flat;
}

/* Slots are synchronous where nothing fails: peers end together, at T. */
static enum tacit_status make_nodes(struct elim_run *run)
{
    struct elim_sim const *const experiment = run->experiment;
    struct tacit_elim_network const *const network = experiment->network;
    struct tacit_sim_nodes_config const config = {
        .sim = &experiment->common,
        .ops = experiment->hooks == NULL ? &elim_node_ops : experiment->hooks->ops,
        .family = run,
        .graph = network == NULL ? NULL : network->graph,
        .faults = experiment->faults,
        .scale = experiment->mechanism.scale,
        .has_hub = elim_run_has_hub(run),
        .ends_at_horizon = network != NULL && experiment->faults == NULL,
        .counts_pulls = counts_pulls(experiment),
        .reward_purpose = TACIT_PURPOSE_REWARD,
        .noise_purpose = TACIT_PURPOSE_NOISE,
        .hub_purpose = TACIT_PURPOSE_SELECTION};
    run->nodes = tacit_sim_nodes_new(&config);
    return tacit_sim_memory_status(run);
}

/* What cores and messages need. */
static enum tacit_status make_cores(struct elim_run *run)
{
    struct tacit_sim_faults const *const faults = run->experiment->faults;
    run->node_count = run->agent_count + 1 + (faults == NULL ? 0 : faults->clones);
    run->salts = tacit_sim_new(run, run->node_count, sizeof *run->salts);
    run->counted_pulls =
        tacit_sim_new(run, run->agent_count + (size_t)1, sizeof *run->counted_pulls);
    TACIT_TRY(make_table(run));
    return make_nodes(run);
}

/* Where distances decide (flood), component 0 alone is described, for is_valid: there are no nodes.
 */
static enum tacit_status make(void *memory, const void *plan)
{
    struct elim_run *const run = memory;
    struct elim_sim const *const experiment = plan;
    bool const floods = elim_flood_serves(experiment);
    run->experiment = experiment;
    run->agent_count = experiment->common.agent_count;
    run->arm_count = experiment->common.env.arm_count;
    run->ranks = tacit_sim_new(run, run->arm_count + (size_t)1, sizeof *run->ranks);
    if (!set_up_network(run,
                        experiment->network == NULL ? 0
                        : floods                    ? 1
                                                    : experiment->network->component_count,
                        run))
        return TACIT_MEMORY;
    if (!is_valid(run))
        return TACIT_INVALID;
    TACIT_TRY(tacit_sim_instance_init(&run->instance, &experiment->common, run));
    if (!floods)
        return make_cores(run);
    enum tacit_status status;
    run->flood = elim_flood_new(experiment, run, &status);
    return status;
}

void *elim_run_new(const void *plan, enum tacit_status *status)
{
    return tacit_sim_make(sizeof(struct elim_run), make, plan, status);
}

bool elim_sim_is_valid(const struct elim_sim *experiment)
{
    struct elim_run run = {.experiment = experiment,
                           .agent_count = experiment->common.agent_count,
                           .arm_count = experiment->common.env.arm_count};
    /* It looks at agent 0 alone, which is in component 0. Short memory is the run's to report. */
    void *const memory = tacit_sim_new(NULL, 1, 1);
    bool const result = memory == NULL || !set_up_network(&run, 1, memory) || is_valid(&run);
    tacit_sim_delete(memory);
    return result;
}

/* State, plan and driver of an agent. *table_bytes: those of a peer's table; over a star it stays
 * as it is. */
static double core_bytes(const struct elim_run *run, double *table_bytes)
{
    struct elim_sim const *const experiment = run->experiment;
    double const around = sizeof *run->salts + sizeof *run->counted_pulls +
                          run->arm_count * (double)sizeof(struct tacit_pull_block);
    if (experiment->network == NULL) {
        struct tacit_elim_agent_config const agent = elim_run_agent_config(experiment, 1, 0);
        return around + (double)tacit_elim_agent_size(&agent);
    }
    struct tacit_elim_peer_config const peer = elim_run_peer_config(run, 1, 0, 1);
    *table_bytes = (double)tacit_elim_peer_table_size(&peer);
    return around + (double)tacit_elim_peer_size(&peer);
}

double elim_sim_bytes(const struct elim_sim *experiment)
{
    struct elim_run run = {.experiment = experiment,
                           .agent_count = experiment->common.agent_count,
                           .arm_count = experiment->common.env.arm_count};
    double const agents = run.agent_count;
    double table_bytes = 0;
    double bytes = 0;
    if (elim_flood_serves(experiment))
        return elim_flood_bytes(experiment);
    void *const memory = tacit_sim_new(NULL, 1, 1);
    if (memory != NULL && set_up_network(&run, 1, memory))
        bytes = agents * core_bytes(&run, &table_bytes);
    if (experiment->network != NULL && experiment->network->component_count > 1)
        bytes += agents / 8 * experiment->network->component_count; /* members of each */
    tacit_sim_delete(memory);
    return bytes + table_bytes * (experiment->faults == NULL ? 1 : agents);
}
