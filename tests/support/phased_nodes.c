/* Play in phases as nodes of the simulator (phased_nodes.h). */
#include "phased_nodes.h"
#include "faults.h"
#include "phased_message.h"
#include <string.h>
#include "tacit/wire_phased.h"

struct phased_nodes {
    const struct phased_sim *sim;
    const struct phased_observer *observer;
    struct tacit_sim_nodes *nodes;
    uint32_t *released; /* A: the last round whose release was counted */
    double samples;
    struct tacit_phased_update update; /* of the step under way */
};

/* ---- Messages ---- */

static size_t message_size(void *family, const void *message)
{
    (void)family;
    return phased_message_size(message);
}

static const void *message_copy(void *family, const void *message, void *memory)
{
    (void)family;
    return phased_message_copy(message, memory);
}

static struct tacit_sim_cost message_cost(void *family, const void *message)
{
    struct tacit_phased_message const *const phased = message;
    (void)family;
    return (struct tacit_sim_cost){
        .scalars = phased->kind == TACIT_ROUND_REPORT ? phased->block_count : 0,
        .bytes = tacit_wire_bytes(tacit_wire_phased.messages, NULL, phased)};
}

/* ---- Steps ---- */

static struct tacit_phased_hub *hub_of(const struct phased_nodes *run)
{
    return tacit_sim_nodes_state(run->nodes, run->sim->common.agent_count);
}

/* Counts the rewards of a release, once. */
static void count_release(struct phased_nodes *run, uint32_t node)
{
    struct tacit_phased_agent_view view;
    tacit_phased_agent_view(tacit_sim_nodes_state(run->nodes, node), &view);
    if (view.release_round <= run->released[node])
        return;
    run->released[node] = view.release_round;
    for (uint32_t i = 0; i < view.block_count; i++)
        run->samples += (double)view.blocks[i].count;
}

/* A refusal changes nothing, and its update asks for nothing but the timer that stands. */
static void step(void *family, uint32_t node, const struct tacit_event *event,
                 const struct tacit_entropy *entropy, struct tacit_sim_update *update)
{
    struct phased_nodes *const run = family;
    if (node == run->sim->common.agent_count)
        (void)tacit_phased_hub_step(hub_of(run), event, &run->update);
    else
        (void)tacit_phased_agent_step(tacit_sim_nodes_state(run->nodes, node), event, entropy,
                                      &run->update);
    if (run->update.send && run->update.message.kind == TACIT_ROUND_REPORT)
        count_release(run, node);
    *update = tacit_sim_update_of(&run->update.core, run->update.message.to, &run->update.message);
}

/* EXACT-BOUNDS 6: while an agent waits it plays the leader. */
static bool exploit(void *family, uint32_t node, uint32_t *arm, uint64_t *count_max)
{
    struct phased_nodes *const run = family;
    struct tacit_phased_agent_view view;
    tacit_phased_agent_view(tacit_sim_nodes_state(run->nodes, node), &view);
    *arm = view.exploit_arm;
    *count_max = run->sim->common.horizon - view.pull_count;
    return view.waiting;
}

/* ---- Those who look on ---- */

static void sent(void *family, const void *message)
{
    struct phased_nodes const *const run = family;
    struct phased_observer const *const observer = run->observer;
    if (observer != NULL)
        observer->sent(observer->context, message);
}

static void pulled(void *family, uint32_t node, uint32_t arm, uint64_t count)
{
    struct phased_nodes const *const run = family;
    struct phased_observer const *const observer = run->observer;
    if (observer != NULL)
        observer->pulled(observer->context, node, arm, count);
}

/* ---- Configurations ---- */

static struct tacit_phased_agent_config agent_config(const struct phased_sim *sim, uint64_t run_id,
                                                     uint32_t agent)
{
    return (struct tacit_phased_agent_config){
        .run_id = run_id,
        .agent_id = agent,
        .agent_count = sim->schedule.agent_count,
        .arm_count = sim->schedule.arm_count,
        .horizon = sim->schedule.horizon,
        .mechanism = sim->mechanism,
        .budget_nano = tacit_mechanism_cost_nano(&sim->mechanism),
        .resend_after_us = sim->common.horizon + 1}; /* nothing gets lost: no timer matters */
}

static struct tacit_phased_hub_config hub_config(const struct phased_sim *sim, uint64_t run_id)
{
    return (struct tacit_phased_hub_config){
        .run_id = run_id, .schedule = sim->schedule, .mechanism = sim->mechanism};
}

static size_t size_of_node(void *family, uint32_t node)
{
    struct phased_nodes const *const run = family;
    struct tacit_phased_hub_config const hub = hub_config(run->sim, 1);
    struct tacit_phased_agent_config const agent = agent_config(run->sim, 1, 0);
    return node == run->sim->common.agent_count ? tacit_phased_hub_size(&hub)
                                                : tacit_phased_agent_size(&agent);
}

static const struct tacit_sim_node_ops node_ops = {.size = size_of_node,
                                                   .step = step,
                                                   .exploit = exploit,
                                                   .sent = sent,
                                                   .pulled = pulled,
                                                   .message_size = message_size,
                                                   .message_copy = message_copy,
                                                   .message_cost = message_cost};

/* ---- A run ---- */

static void set_up(struct phased_nodes *run, uint32_t index)
{
    uint64_t const run_id = (uint64_t)index + 1;
    struct tacit_phased_hub_config const hub = hub_config(run->sim, run_id);
    TACIT_ASSERT(tacit_phased_hub_init(hub_of(run), &hub) == TACIT_OK);
    for (uint32_t agent = 0; agent < run->sim->common.agent_count; agent++) {
        struct tacit_phased_agent_config const config = agent_config(run->sim, run_id, agent);
        TACIT_ASSERT(tacit_phased_agent_init(tacit_sim_nodes_state(run->nodes, agent), &config) ==
                     TACIT_OK);
    }
}

struct phased_nodes_result phased_nodes_play(const struct phased_sim *sim, uint32_t index,
                                             const struct phased_observer *observer, double *regret)
{
    atomic_bool stop = false;
    struct tacit_phased_hub_view hub;
    struct tacit_sim_instance instance;
    struct phased_nodes *const run = tacit_sim_new(NULL, 1, sizeof *run);
    struct tacit_sim_nodes_config const config = {.sim = &sim->common,
                                                  .ops = &node_ops,
                                                  .family = run,
                                                  .scale = sim->mechanism.scale,
                                                  .has_hub = true,
                                                  .reward_purpose = TACIT_PURPOSE_REWARD,
                                                  .noise_purpose = TACIT_PURPOSE_NOISE,
                                                  .hub_purpose = TACIT_PURPOSE_SELECTION};
    TACIT_ASSERT(run != NULL);
    run->sim = sim;
    run->observer = observer;
    run->released = tacit_sim_new(run, sim->common.agent_count, sizeof *run->released);
    TACIT_ASSERT(tacit_sim_instance_init(&instance, &sim->common, run) == TACIT_OK);
    run->nodes = tacit_sim_nodes_new(&config);
    TACIT_ASSERT(run->nodes != NULL);
    tacit_sim_instance_draw(&instance, &sim->common, index);
    set_up(run, index);
    TACIT_ASSERT(tacit_sim_nodes_play(run->nodes, index, &instance, &stop) == TACIT_OK);
    TACIT_ASSERT(faults_are_healed(run->nodes));
    tacit_sim_nodes_regret(run->nodes, regret);
    tacit_phased_hub_view(hub_of(run), &hub);
    struct phased_nodes_result const result = {.totals = tacit_sim_nodes_totals(run->nodes),
                                               .rounds = hub.judge.round_count,
                                               .samples = run->samples,
                                               .leader = hub.judge.leader,
                                               .is_decided = hub.judge.decided};
    tacit_sim_delete(run);
    return result;
}
