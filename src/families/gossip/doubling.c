/* Runs of agents whose releases double: their cores as nodes of the simulator. A microsecond of
 * virtual time is a slot; news travels one edge a slot. */
#include <math.h>
#include "plan.h"

static struct tacit_doubling_config config_of(const struct gossip_plan *plan, uint32_t agent)
{
    return (struct tacit_doubling_config){.schedule = plan->schedule,
                                          .mechanism = plan->mechanism,
                                          .agent_id = agent,
                                          .quorum = plan->quorum,
                                          .hop_us = 1};
}

/* ---- Messages ---- */

static size_t message_size(void *family, const void *message)
{
    (void)family;
    return tacit_doubling_message_size(message);
}

static const void *message_copy(void *family, const void *message, void *memory)
{
    (void)family;
    return tacit_doubling_message_copy(message, memory);
}

/* Scalars are noised sums; bytes: 8 a number, 8 for the key of a block, 48 a header. */
static struct tacit_sim_cost message_cost(void *family, const void *message)
{
    struct tacit_doubling_message const *const doubling = message;
    (void)family;
    return (struct tacit_sim_cost){.scalars = doubling->entry_count,
                                   .bytes = 48 + 16 * (uint64_t)doubling->entry_count};
}

/* ---- Steps ---- */

static void step(void *family, uint32_t node, const struct tacit_event *event,
                 const struct tacit_entropy *entropy, struct tacit_sim_update *update)
{
    struct gossip_doubling_run *const run = family;
    struct tacit_doubling_agent *const agent = tacit_sim_nodes_state(run->nodes, node);
    enum tacit_status const status =
        tacit_doubling_step(agent, run->memories[node], event, entropy, &run->update);
    TACIT_ASSERT(status == TACIT_OK);
    *update = tacit_sim_update_of(&run->update.core, TACIT_NEIGHBOURS, &run->update.message);
    if (update->deadline_us == TACIT_NEVER) /* who waits waits for something, if for the end */
        update->deadline_us = run->plan->common.horizon + 1;
}

static bool exploit(void *family, uint32_t node, uint32_t *arm, uint64_t *count_max)
{
    struct gossip_doubling_run const *const run = family;
    struct tacit_doubling_view view;
    tacit_doubling_view(tacit_sim_nodes_state(run->nodes, node), &view);
    *arm = view.exploit_arm;
    *count_max = run->plan->common.horizon - view.pull_count;
    return view.waiting;
}

static size_t size_of_node(void *family, uint32_t node)
{
    struct gossip_doubling_run const *const run = family;
    struct tacit_doubling_config const config = config_of(run->plan, node);
    return tacit_doubling_size(&config);
}

static const struct tacit_sim_node_ops node_ops = {.size = size_of_node,
                                                   .step = step,
                                                   .exploit = exploit,
                                                   .message_size = message_size,
                                                   .message_copy = message_copy,
                                                   .message_cost = message_cost};

/* ---- Memory ---- */

static enum tacit_status make(void *memory, const void *of)
{
    struct gossip_doubling_run *const run = memory;
    struct gossip_plan const *const plan = of;
    struct tacit_doubling_config const agent = config_of(plan, 0);
    struct tacit_sim_nodes_config const config = {.sim = &plan->common,
                                                  .ops = &node_ops,
                                                  .family = run,
                                                  .graph = plan->graph,
                                                  .scale = plan->mechanism.scale,
                                                  .ends_at_horizon = true,
                                                  .reward_purpose = TACIT_PURPOSE_REWARD,
                                                  .noise_purpose = TACIT_PURPOSE_NOISE,
                                                  .hub_purpose = TACIT_PURPOSE_SELECTION};
    run->plan = plan;
    uint32_t const agents = plan->schedule.agent_count;
    if (tacit_doubling_size(&agent) == 0)
        return TACIT_INVALID;
    run->memories = tacit_sim_new(run, agents, sizeof *run->memories);
    for (uint32_t i = 0; run->memories != NULL && i < agents; i++)
        run->memories[i] = tacit_sim_new(run, 1, tacit_doubling_memory_size(&agent));
    enum tacit_status const status = tacit_sim_instance_init(&run->instance, &plan->common, run);
    if (status == TACIT_OK)
        run->nodes = tacit_sim_nodes_new(&config);
    return status;
}

void *gossip_doubling_new(const void *plan, enum tacit_status *status)
{
    return tacit_sim_make(sizeof(struct gossip_doubling_run), make, plan, status);
}

/* ---- Results ---- */

/* Widest spread of an arm's estimate over the agents, in rewards. */
static double disagreement(const struct gossip_doubling_run *run)
{
    struct tacit_scale const *const scale = &run->plan->mechanism.scale;
    double widest = 0;
    for (uint32_t arm = 0; arm < run->plan->schedule.arm_count; arm++) {
        double low = INFINITY;
        double high = -INFINITY;
        for (uint32_t i = 0; i < run->plan->schedule.agent_count; i++) {
            struct tacit_doubling_view view;
            tacit_doubling_view(tacit_sim_nodes_state(run->nodes, i), &view);
            low = fmin(low, view.means[arm]);
            high = fmax(high, view.means[arm]);
        }
        widest = fmax(widest, high - low);
    }
    return widest * (scale->hi - scale->lo);
}

/* The ranking: the arm that most agents lead with; before the first decision nobody leads. */
static void write_results(const struct gossip_doubling_run *run, struct tacit_sim_row *row)
{
    uint32_t const agents = run->plan->schedule.agent_count;
    uint32_t const arms = run->plan->schedule.arm_count;
    struct tacit_sim_totals const totals = tacit_sim_nodes_totals(run->nodes);
    double forced = 0;
    double pulls = 0;
    double right = 0;
    for (uint32_t i = 0; i < agents; i++) {
        struct tacit_doubling_view view;
        tacit_doubling_view(tacit_sim_nodes_state(run->nodes, i), &view);
        forced += (double)view.forced_count;
        pulls += (double)view.pull_count;
        bool const leads =
            view.leader != TACIT_NO_ARM && gossip_leads_alone(view.means, arms, view.leader);
        row->ranking[view.exploit_arm] += leads ? 1 : 0;
        right += run->instance.gaps[view.exploit_arm] < 1e-12 ? 1 : 0;
    }
    tacit_sim_row_elect(row, arms);
    row->metrics[GOSSIP_REGRET] = totals.regret;
    row->metrics[GOSSIP_REGRET_PER_AGENT] = totals.regret / agents;
    row->metrics[GOSSIP_MESSAGES] = totals.messages;
    row->metrics[GOSSIP_MESSAGES_PER_RECEIVER] = totals.messages_per_receiver;
    row->metrics[GOSSIP_SCALARS] = totals.scalars;
    row->metrics[GOSSIP_FORCED_FRACTION] = pulls > 0 ? forced / pulls : 0;
    row->metrics[GOSSIP_BEST_ARM_FRACTION] = right / agents;
    row->metrics[GOSSIP_DISAGREEMENT] = disagreement(run);
    tacit_sim_nodes_regret(run->nodes, row->regret);
}

enum tacit_status gossip_doubling_play(void *player, uint32_t index, struct tacit_sim_row *row,
                                       atomic_bool *stop)
{
    struct gossip_doubling_run *const run = player;
    struct gossip_plan const *const plan = run->plan;
    enum tacit_status status = TACIT_OK;
    tacit_sim_instance_draw(&run->instance, &plan->common, index);
    tacit_sim_instance_watch(&run->instance, row);
    for (uint32_t i = 0; i < plan->schedule.agent_count && status == TACIT_OK; i++) {
        struct tacit_doubling_config const config = config_of(plan, i);
        tacit_doubling_memory_init(run->memories[i], &config);
        status = tacit_doubling_init(tacit_sim_nodes_state(run->nodes, i), &config);
    }
    if (status == TACIT_OK)
        status = tacit_sim_nodes_play(run->nodes, index, &run->instance, stop);
    if (status == TACIT_OK)
        write_results(run, row);
    return status;
}
