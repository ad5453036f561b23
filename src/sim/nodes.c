/* Drives the cores of a run in virtual time: carries out what they ask for in the order persist,
 * send, pull, timer; plays the rewards. The one place where that order is written for simulated
 * runs. */
#include "nodes.h"
#include <string.h>

#define EVENTS_BETWEEN_STOP_CHECKS 256u

/* ---- Carrying out an update: persist, send, pull, timer ---- */

void sim_set_done(struct tacit_sim_nodes *nodes, struct sim_node *node, bool is_done)
{
    if (sim_index(nodes, node) < nodes->agent_count && node->is_done != is_done)
        nodes->done_count += is_done ? 1 : UINT32_MAX; /* +1 or -1 */
    TACIT_ASSERT(nodes->done_count <= nodes->agent_count);
    node->is_done = is_done;
}

void sim_end_plan(struct sim_node *node)
{
    node->plan_number++; /* parts of the plan that were under way do not come back */
    node->plan_count = 0;
    node->parts_left = 0;
}

void sim_send_update(struct tacit_sim_nodes *nodes, struct sim_node *node,
                     const struct tacit_sim_update *update)
{
    uint32_t const from = sim_is_hub(nodes, node) ? TACIT_HUB : node->agent;
    if (update->send.message != NULL && nodes->status == TACIT_OK)
        sim_send(nodes, from, &update->send);
}

static void start_plan(struct tacit_sim_nodes *nodes, struct sim_node *node,
                       const struct tacit_sim_update *update)
{
    TACIT_ASSERT(update->plan_count > 0);
    TACIT_ASSERT(!sim_is_hub(nodes, node) && update->plan_count <= nodes->arm_count);
    uint64_t length = 0;
    for (uint32_t i = 0; i < update->plan_count; i++)
        length += update->plan[i].count;
    memcpy(node->plan, update->plan, update->plan_count * sizeof *node->plan);
    node->plan_count = update->plan_count;
    node->plan_number++;
    node->parts_left = 1;
    sim_push(nodes, (struct sim_item){.time_us = nodes->now_us + length,
                                      .kind = SIM_ITEM_PULLS,
                                      .node = sim_index(nodes, node),
                                      .number = node->plan_number});
}

static void set_timer(struct tacit_sim_nodes *nodes, struct sim_node *node, uint64_t deadline_us)
{
    TACIT_IMPLIES(deadline_us != TACIT_NEVER, deadline_us >= nodes->now_us);
    if (deadline_us != TACIT_NEVER && deadline_us != node->deadline_us)
        sim_push(nodes, (struct sim_item){.time_us = deadline_us,
                                          .kind = SIM_ITEM_TIMER,
                                          .node = sim_index(nodes, node),
                                          .number = deadline_us});
    node->deadline_us = deadline_us;
}

/* Where slots are synchronous, an agent that played T of them has nothing more to do: the round
 * that T cut is nobody's any more. */
static bool is_at_horizon(const struct tacit_sim_nodes *nodes, const struct sim_node *node)
{
    return nodes->config.ends_at_horizon && !sim_is_hub(nodes, node) &&
           node->slot == nodes->config.sim->horizon;
}

void sim_set_going(struct tacit_sim_nodes *nodes, struct sim_node *node,
                   const struct tacit_sim_update *update)
{
    TACIT_IMPLIES(update->plan_count > 0, update->plan != NULL);
    if (update->plan_is_void)
        sim_end_plan(node);
    if (update->plan_count > 0)
        start_plan(nodes, node, update);
    set_timer(nodes, node, update->deadline_us);
    bool const is_waiting = update->deadline_us != TACIT_NEVER && node->parts_left == 0;
    if (is_waiting && !node->is_waiting)
        node->waiting_since_us = nodes->now_us;
    node->is_waiting = is_waiting;
    sim_set_done(nodes, node, (!is_waiting && node->parts_left == 0) || is_at_horizon(nodes, node));
}

static void carry_out(struct tacit_sim_nodes *nodes, struct sim_node *node,
                      const struct tacit_sim_update *update)
{
    struct tacit_sim_node_ops const *const ops = nodes->config.ops;
    if (update->persist && ops->persisted != NULL)
        ops->persisted(nodes->config.family, sim_index(nodes, node));
    sim_send_update(nodes, node, update);
    sim_set_going(nodes, node, update);
}

/* ---- Steps ---- */

void sim_step(struct tacit_sim_nodes *nodes, struct sim_node *node, struct tacit_event event)
{
    TACIT_ASSERT(node->state != NULL);
    struct tacit_sim_faults const *const faults = nodes->config.faults;
    struct tacit_sim_update update = {.deadline_us = TACIT_NEVER};
    struct tacit_entropy const entropy =
        faults == NULL ? tacit_rng_entropy(&node->noise) : faults->ops->noise(nodes, node);
    event.now_us = nodes->now_us;
    nodes->config.ops->step(nodes->config.family, sim_index(nodes, node), &event, &entropy,
                            &update);
    if (faults == NULL)
        carry_out(nodes, node, &update);
    else
        faults->ops->carry_out(nodes, node, &update);
}

struct tacit_sim_update tacit_sim_update_of(const struct tacit_update *made, uint32_t to,
                                            const void *message)
{
    struct tacit_sim_send const send = {to, made->send ? message : NULL};
    return (struct tacit_sim_update){.persist = made->persist,
                                     .send = send,
                                     .plan = made->plan,
                                     .plan_count = made->plan_count,
                                     .plan_is_void = made->plan_is_void,
                                     .deadline_us = made->deadline_us};
}

/* ---- Pulls ---- */

/* Tells the family, and moves the node's slot on. The regret is recorded before. */
static void record_pull(struct tacit_sim_nodes *nodes, struct sim_node *node, uint32_t arm,
                        uint64_t count)
{
    TACIT_ASSERT(arm < nodes->arm_count);
    TACIT_ASSERT(count > 0);
    struct tacit_sim_node_ops const *const ops = nodes->config.ops;
    if (ops->pulled != NULL)
        ops->pulled(nodes->config.family, sim_index(nodes, node), arm, count);
    node->slot += count;
}

/* Draws the rewards of a block; where they come one by one, it can be stopped. */
static void draw_rewards(struct tacit_sim_nodes *nodes, struct sim_node *node, uint32_t arm,
                         uint64_t count, union tacit_sum *sum)
{
    TACIT_ASSERT(arm < nodes->arm_count);
    if (!tacit_sim_pull(&nodes->instance->env, node->agent, arm, count, &nodes->config.scale,
                        &node->rewards, sum, nodes->stop))
        nodes->status = TACIT_INTERRUPTED; /* this run's results are not used */
}

void sim_record_plan(struct tacit_sim_nodes *nodes, const struct sim_node *node,
                     const struct tacit_pull_block *plan, uint32_t plan_count)
{
    if (nodes->config.counts_pulls)
        tacit_sim_pulls_add(&nodes->pulls, node->slot, plan, plan_count, 1);
    else
        tacit_sim_curve_add(&nodes->curve, node->slot, plan, plan_count, nodes->instance->gaps);
}

/* The regret of a block that is played while the node waits. */
static void record_wait(struct tacit_sim_nodes *nodes, const struct sim_node *node,
                        const struct tacit_pull_block *block)
{
    if (nodes->config.counts_pulls) {
        tacit_sim_pulls_wait(&nodes->pulls, node->slot, block->arm, block->count, 1);
        return;
    }
    nodes->totals.regret_exploit += (double)block->count * nodes->instance->gaps[block->arm];
    tacit_sim_curve_add(&nodes->curve, node->slot, block, 1, nodes->instance->gaps);
}

void sim_play_block(struct tacit_sim_nodes *nodes, struct sim_node *node, uint32_t arm,
                    uint64_t count)
{
    TACIT_ASSERT(!sim_is_hub(nodes, node));
    struct tacit_event event = {.kind = TACIT_EVENT_REWARD,
                                .as.reward = {.arm = arm, .count = count}};
    draw_rewards(nodes, node, arm, count, &event.as.reward.sum);
    if (nodes->status != TACIT_OK)
        return;
    record_pull(nodes, node, arm, count);
    sim_step(nodes, node, event);
}

bool sim_is_current(const struct tacit_sim_nodes *nodes, const struct sim_node *node,
                    uint64_t number)
{
    return nodes->status == TACIT_OK && node->plan_number == number;
}

/* A whole plan, its arms in turn: the common case, and the one the regret curve is exact for. */
static void play_plan(struct tacit_sim_nodes *nodes, struct sim_node *node)
{
    TACIT_ASSERT(node->plan_count > 0);
    TACIT_ASSERT(node->parts_left == 1);
    uint64_t const number = node->plan_number;
    sim_record_plan(nodes, node, node->plan, node->plan_count);
    node->parts_left = 0;
    for (uint32_t i = 0; i < node->plan_count && sim_is_current(nodes, node, number); i++)
        sim_play_block(nodes, node, node->plan[i].arm, node->plan[i].count);
}

void sim_play_waiting(struct tacit_sim_nodes *nodes, struct sim_node *node)
{
    if (!node->is_waiting || sim_is_hub(nodes, node) || nodes->now_us == node->waiting_since_us)
        return;
    TACIT_ASSERT(nodes->now_us > node->waiting_since_us);
    struct tacit_sim_node_ops const *const ops = nodes->config.ops;
    struct tacit_pull_block block = {0, 0};
    uint64_t left = 0;
    uint64_t const waited = nodes->now_us - node->waiting_since_us;
    bool const exploits =
        ops->exploit != NULL &&
        ops->exploit(nodes->config.family, sim_index(nodes, node), &block.arm, &left);
    node->waiting_since_us = nodes->now_us;
    block.count = waited < left ? waited : left;
    if (!exploits || block.count == 0)
        return;
    TACIT_ASSERT(block.arm < nodes->arm_count);
    record_wait(nodes, node, &block);
    tacit_env_pass(&nodes->instance->env, node->agent, block.arm, block.count);
    record_pull(nodes, node, block.arm, block.count);
    sim_step(
        nodes, node,
        (struct tacit_event){.kind = TACIT_EVENT_EXPLOITED, .as.exploited_count = block.count});
}

/* ---- The loop ---- */

/* A slot is a microsecond of virtual time (tacit/sim.h). */
static bool is_past_horizon(const struct tacit_sim_nodes *nodes)
{
    return nodes->config.ends_at_horizon && nodes->now_us > nodes->config.sim->horizon;
}

/* What an item of the queue does to its node. A timer or a part of a plan that was replaced does
 * nothing. */
static void happen(struct tacit_sim_nodes *nodes, const struct sim_item *item)
{
    TACIT_ASSERT(item->node < nodes->node_count);
    struct sim_node *const node = &nodes->nodes[item->node];
    struct tacit_sim_faults const *const faults = nodes->config.faults;
    if (faults != NULL && faults->ops->happens(nodes, item))
        return;
    sim_play_waiting(nodes, node);
    if (is_past_horizon(nodes))
        return;
    if (item->kind == SIM_ITEM_MESSAGE)
        sim_step(
            nodes, node,
            (struct tacit_event){.kind = TACIT_EVENT_RECEIVE, .as.message = item->packet->message});
    else if (item->kind == SIM_ITEM_TIMER && item->number == node->deadline_us)
        sim_step(nodes, node, (struct tacit_event){.kind = TACIT_EVENT_TIMEOUT});
    else if (item->kind == SIM_ITEM_PULLS && item->number == node->plan_number)
        play_plan(nodes, node);
}

static void clear_queue(struct tacit_sim_nodes *nodes)
{
    struct sim_item item;
    while (sim_queue_pop(&nodes->queue, &item))
        sim_packet_drop(item.packet);
}

/* Is everybody who is there at the horizon, and everything delivered that was sent at this very
 * moment? */
static bool is_over(const struct tacit_sim_nodes *nodes)
{
    return nodes->done_count == nodes->agent_count &&
           (nodes->queue.count == 0 || nodes->queue.items[0].time_us > nodes->now_us);
}

static enum tacit_status loop(struct tacit_sim_nodes *nodes)
{
    struct sim_item item;
    for (uint64_t events = 0; !is_over(nodes); events++) {
        if (events % EVENTS_BETWEEN_STOP_CHECKS == 0 && atomic_load(nodes->stop))
            return TACIT_INTERRUPTED;
        if (!sim_queue_pop(&nodes->queue, &item))
            break;
        TACIT_ASSERT(item.time_us >= nodes->now_us);
        nodes->now_us = item.time_us;
        happen(nodes, &item);
        sim_packet_drop(item.packet);
        if (nodes->status != TACIT_OK)
            return nodes->status;
    }
    return TACIT_OK;
}

/* ---- Beginning of a run ---- */

static void set_up_node(struct tacit_sim_nodes *nodes, uint32_t run, uint32_t index)
{
    TACIT_ASSERT(index < nodes->node_count);
    struct tacit_sim_nodes_config const *const config = &nodes->config;
    struct sim_node *const node = &nodes->nodes[index];
    uint64_t const seed = config->sim->seed;
    *node = (struct sim_node){.state = node->state,
                              .state_bytes = node->state_bytes,
                              .agent = index,
                              .deadline_us = TACIT_NEVER,
                              .plan = node->plan};
    if (sim_is_hub(nodes, node)) {
        node->noise = tacit_rng_stream(seed, run, TACIT_STREAM_COMMON, config->hub_purpose);
    } else { /* a clone has other rewards, and other noise unless it is copied with it */
        node->rewards = tacit_rng_stream(seed, run, index, config->reward_purpose);
        node->noise = tacit_rng_stream(seed, run, index, config->noise_purpose);
    }
}

static void set_up(struct tacit_sim_nodes *nodes, uint32_t run)
{
    nodes->now_us = 0;
    nodes->done_count = 0;
    nodes->status = TACIT_OK;
    nodes->totals = (struct tacit_sim_totals){0};
    nodes->queue.pushed_count = 0;
    tacit_sim_curve_clear(&nodes->curve);
    if (nodes->config.counts_pulls)
        tacit_sim_pulls_clear(&nodes->pulls);
    for (uint32_t i = 0; i < nodes->node_count; i++)
        set_up_node(nodes, run, i);
}

enum tacit_status tacit_sim_nodes_play(struct tacit_sim_nodes *nodes, uint32_t run,
                                       const struct tacit_sim_instance *instance, atomic_bool *stop)
{
    TACIT_ASSERT(instance != NULL);
    TACIT_ASSERT(stop != NULL);
    struct tacit_event const start = {.kind = TACIT_EVENT_START};
    struct tacit_sim_faults const *const faults = nodes->config.faults;
    nodes->instance = instance;
    nodes->stop = stop;
    set_up(nodes, run);
    if (faults != NULL)
        faults->ops->begin(nodes, run);
    for (uint32_t agent = 0; agent < nodes->agent_count; agent++)
        sim_step(nodes, &nodes->nodes[agent], start);
    if (nodes->config.has_hub)
        sim_step(nodes, &nodes->nodes[nodes->agent_count], start);
    if (faults != NULL)
        faults->ops->go_on(nodes);
    enum tacit_status const status = loop(nodes);
    clear_queue(nodes);
    TACIT_ASSERT(nodes->queue.count == 0);
    TACIT_ASSERT(nodes->done_count <= nodes->agent_count);
    return status;
}
