/* Drives the cores of a run in virtual time: carries out what they ask for in the order persist,
 * send, pull, timer; plays the rewards and the crashes. The one place where that order is written
 * for simulated runs. */
#include "nodes.h"
#include <string.h>

#define EVENTS_BETWEEN_STOP_CHECKS 256u
/* A run with faults that still goes on after so many events has lost its way. Without faults each
 * event moves the run on, and there is no limit. */
#define FAULTY_EVENTS_MAX UINT64_C(50000000)

/* ---- Crashes ---- */

enum death { DEATH_NONE, DEATH_BEFORE_PERSIST, DEATH_AFTER_PERSIST, DEATH_AFTER_SEND };

static enum death choose_death(struct tacit_sim_nodes *nodes, bool is_hub)
{
    struct tacit_sim_faults const *const faults = nodes->config.faults;
    if (faults == NULL || !sim_by_chance(nodes, is_hub ? faults->hub_crash : faults->agent_crash))
        return DEATH_NONE;
    return (enum death)(DEATH_BEFORE_PERSIST + tacit_rng_below(&nodes->faults, 3));
}

/* Nobody waits for the hub or for clones. */
static void set_done(struct tacit_sim_nodes *nodes, struct sim_node *node, bool is_done)
{
    if (sim_index(nodes, node) < nodes->agent_count && node->is_done != is_done)
        nodes->done_count += is_done ? 1 : UINT32_MAX; /* +1 or -1 */
    TACIT_ASSERT(nodes->done_count <= nodes->agent_count);
    node->is_done = is_done;
}

static void end_plan(struct sim_node *node)
{
    node->plan_number++; /* parts of the plan that were under way do not come back */
    node->plan_count = 0;
    node->parts_left = 0;
}

/* What was not persisted is gone, and so is the process. */
static void go_down(struct tacit_sim_nodes *nodes, struct sim_node *node)
{
    TACIT_ASSERT(node->disk != NULL);
    TACIT_ASSERT(sim_index(nodes, node) <= nodes->agent_count + nodes->clone_count);
    memcpy(node->state, node->disk, node->state_bytes);
    if (node->extra_bytes > 0)
        memcpy(node->extra, (unsigned char *)node->disk + node->state_bytes, node->extra_bytes);
    sim_notify_copied(nodes, TACIT_SIM_MEMORY, sim_index(nodes, node), TACIT_SIM_DISK,
                      sim_index(nodes, node));
    node->is_up = false;
    node->is_waiting = false;
    end_plan(node);
    node->deadline_us = TACIT_NEVER;
    set_done(nodes, node, node->is_lost);
}

void sim_crash(struct tacit_sim_nodes *nodes, struct sim_node *node)
{
    TACIT_ASSERT(nodes->config.faults != NULL);
    go_down(nodes, node);
    uint64_t const down_us = sim_up_to(nodes, nodes->config.faults->down_us_max);
    sim_push(nodes, (struct sim_item){.time_us = nodes->now_us + down_us,
                                      .kind = SIM_ITEM_RESTART,
                                      .node = sim_index(nodes, node)});
}

/* ---- Carrying out an update: persist, send, pull, timer ---- */

static void write_to_disk(struct sim_node *node, bool with_extra)
{
    if (node->disk == NULL)
        return;
    memcpy(node->disk, node->state, node->state_bytes);
    if (with_extra && node->extra_bytes > 0)
        memcpy((unsigned char *)node->disk + node->state_bytes, node->extra, node->extra_bytes);
}

static void persist(struct tacit_sim_nodes *nodes, struct sim_node *node, bool with_extra)
{
    TACIT_ASSERT(node->state_bytes > 0);
    struct tacit_sim_node_ops const *const ops = nodes->config.ops;
    write_to_disk(node, with_extra);
    sim_notify_copied(nodes, TACIT_SIM_DISK, sim_index(nodes, node), TACIT_SIM_MEMORY,
                      sim_index(nodes, node));
    if (ops->persisted != NULL)
        ops->persisted(nodes->config.family, sim_index(nodes, node));
}

static void send_all(struct tacit_sim_nodes *nodes, struct sim_node *node,
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
    node->parts_left = nodes->config.faults == NULL ? 1 : nodes->config.faults->plan_parts;
    for (uint32_t part = 1; part <= node->parts_left; part++)
        sim_push(nodes,
                 (struct sim_item){.time_us = nodes->now_us + length / node->parts_left * part +
                                              length % node->parts_left * part / node->parts_left,
                                   .kind = SIM_ITEM_PULLS,
                                   .node = sim_index(nodes, node),
                                   .number = node->plan_number,
                                   .part = part});
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

static void carry_out(struct tacit_sim_nodes *nodes, struct sim_node *node,
                      const struct tacit_sim_update *update)
{
    TACIT_ASSERT(node->is_up);
    TACIT_IMPLIES(update->plan_count > 0, update->plan != NULL);
    enum death const death = choose_death(nodes, sim_is_hub(nodes, node));
    if (death == DEATH_BEFORE_PERSIST) {
        sim_crash(nodes, node);
        return;
    }
    if (update->persist)
        persist(nodes, node, update->persist_extra);
    if (death == DEATH_AFTER_PERSIST) {
        sim_crash(nodes, node);
        return;
    }
    send_all(nodes, node, update);
    if (death == DEATH_AFTER_SEND) {
        sim_crash(nodes, node);
        return;
    }
    if (update->plan_is_void)
        end_plan(node);
    if (update->plan_count > 0)
        start_plan(nodes, node, update);
    set_timer(nodes, node, update->deadline_us);
    bool const is_waiting = update->deadline_us != TACIT_NEVER && node->parts_left == 0;
    if (is_waiting && !node->is_waiting)
        node->waiting_since_us = nodes->now_us;
    node->is_waiting = is_waiting;
    set_done(nodes, node, (!is_waiting && node->parts_left == 0) || is_at_horizon(nodes, node));
}

/* ---- Steps ---- */

/* A node's noise, which fails now and then. Context: the nodes, and the node. */
static enum tacit_status unreliable_fill(void *context, void *bytes, size_t size)
{
    struct tacit_sim_nodes *const nodes = ((void **)context)[0];
    struct sim_node *const node = ((void **)context)[1];
    if (sim_by_chance(nodes, nodes->config.faults->noise_failure))
        return TACIT_ENTROPY;
    struct tacit_entropy const entropy = tacit_rng_entropy(&node->noise);
    return entropy.fill(entropy.context, bytes, size);
}

static void step(struct tacit_sim_nodes *nodes, struct sim_node *node, struct tacit_event event)
{
    TACIT_ASSERT(node->is_up);
    TACIT_ASSERT(node->state != NULL);
    struct tacit_sim_update update = {.deadline_us = TACIT_NEVER};
    void *context[] = {nodes, node};
    struct tacit_entropy entropy = tacit_rng_entropy(&node->noise);
    if (nodes->config.faults != NULL && !sim_is_hub(nodes, node))
        entropy = (struct tacit_entropy){unreliable_fill, context};
    event.now_us = nodes->now_us;
    nodes->config.ops->step(nodes->config.family, sim_index(nodes, node), &event, &entropy,
                            &update);
    carry_out(nodes, node, &update);
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

/* The regret of what is played from the node's slot on. */
static void record_plan(struct tacit_sim_nodes *nodes, const struct sim_node *node,
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

static void play_block(struct tacit_sim_nodes *nodes, struct sim_node *node, uint32_t arm,
                       uint64_t count)
{
    TACIT_ASSERT(!sim_is_hub(nodes, node));
    struct tacit_event event = {.kind = TACIT_EVENT_REWARD,
                                .as.reward = {.arm = arm, .count = count}};
    draw_rewards(nodes, node, arm, count, &event.as.reward.sum);
    if (nodes->status != TACIT_OK)
        return;
    record_pull(nodes, node, arm, count);
    step(nodes, node, event);
}

/* Part `part` of `parts` of a count, so that all parts add up to it. */
static uint64_t share_of(uint64_t count, uint32_t part, uint32_t parts)
{
    TACIT_ASSERT(part >= 1);
    TACIT_ASSERT(part <= parts);
    uint64_t const before = count / parts * (part - 1) + count % parts * (part - 1) / parts;
    return count / parts * part + count % parts * part / parts - before;
}

/* Is plan `number` still the one to play? A crash or a new order ends it. */
static bool is_current(const struct tacit_sim_nodes *nodes, const struct sim_node *node,
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
    record_plan(nodes, node, node->plan, node->plan_count);
    node->parts_left = 0;
    for (uint32_t i = 0; i < node->plan_count && is_current(nodes, node, number); i++)
        play_block(nodes, node, node->plan[i].arm, node->plan[i].count);
}

static void play_part(struct tacit_sim_nodes *nodes, struct sim_node *node, uint32_t part)
{
    TACIT_ASSERT(node->parts_left > 0);
    TACIT_ASSERT(nodes->config.faults != NULL);
    uint64_t const number = node->plan_number;
    uint32_t const parts = nodes->config.faults->plan_parts;
    node->parts_left--;
    for (uint32_t i = 0; i < node->plan_count && is_current(nodes, node, number); i++) {
        struct tacit_pull_block const block = {node->plan[i].arm,
                                               share_of(node->plan[i].count, part, parts)};
        if (block.count == 0)
            continue;
        record_plan(nodes, node, &block, 1);
        play_block(nodes, node, block.arm, block.count);
    }
}

/* An agent that waits plays on meanwhile (READINGS P1.11, sound mode). */
static void play_waiting(struct tacit_sim_nodes *nodes, struct sim_node *node)
{
    TACIT_ASSERT(nodes->now_us >= node->waiting_since_us);
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
    step(nodes, node,
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
    TACIT_ASSERT(item->node <= nodes->agent_count + nodes->clone_count);
    struct sim_node *const node = &nodes->nodes[item->node];
    if (item->kind == SIM_ITEM_LOSS) {
        node->is_lost = true;
        go_down(nodes, node);
        return;
    }
    if (item->kind == SIM_ITEM_BACKUP || item->kind == SIM_ITEM_RESTORE ||
        item->kind == SIM_ITEM_CLONE) {
        sim_copy(nodes, item);
        return;
    }
    if (item->kind == SIM_ITEM_RESTART && !node->is_lost && !node->is_up) {
        node->is_up = true;
        step(nodes, node, (struct tacit_event){.kind = TACIT_EVENT_START});
        return;
    }
    if (node->is_up && node->is_waiting && !sim_is_hub(nodes, node) &&
        nodes->now_us > node->waiting_since_us)
        play_waiting(nodes, node);
    if (!node->is_up || is_past_horizon(nodes))
        return;
    if (item->kind == SIM_ITEM_MESSAGE)
        step(nodes, node,
             (struct tacit_event){.kind = TACIT_EVENT_RECEIVE,
                                  .as.message = sim_packet_message(item->packet)});
    else if (item->kind == SIM_ITEM_TIMER && item->number == node->deadline_us)
        step(nodes, node, (struct tacit_event){.kind = TACIT_EVENT_TIMEOUT});
    else if (item->kind == SIM_ITEM_PULLS && item->number == node->plan_number)
        nodes->config.faults == NULL ? play_plan(nodes, node) : play_part(nodes, node, item->part);
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
    uint64_t const events_max = nodes->config.faults == NULL ? UINT64_MAX : FAULTY_EVENTS_MAX;
    struct sim_item item;
    for (uint64_t events = 0; !is_over(nodes) && events < events_max; events++) {
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
    TACIT_ASSERT(index <= nodes->agent_count + nodes->clone_count);
    struct tacit_sim_nodes_config const *const config = &nodes->config;
    struct sim_node *const node = &nodes->nodes[index];
    uint64_t const seed = config->sim->seed;
    node->is_up = index <= nodes->agent_count; /* clones begin later */
    node->agent = index;
    node->is_lost = false;
    node->is_done = false;
    node->is_waiting = false;
    node->deadline_us = TACIT_NEVER;
    node->waiting_since_us = 0;
    node->slot = 0;
    node->plan_number = 0;
    node->plan_count = 0;
    node->parts_left = 0;
    if (sim_is_hub(nodes, node)) {
        node->noise = tacit_rng_stream(seed, run, TACIT_STREAM_COMMON, config->hub_purpose);
    } else { /* a clone has other rewards, and other noise unless it is copied with it */
        node->rewards = tacit_rng_stream(seed, run, index, config->reward_purpose);
        node->noise = tacit_rng_stream(seed, run, index, config->noise_purpose);
    }
    write_to_disk(node, true);
}

static void set_up(struct tacit_sim_nodes *nodes, uint32_t run)
{
    nodes->now_us = 0;
    nodes->done_count = 0;
    nodes->status = TACIT_OK;
    nodes->totals = (struct tacit_sim_totals){0};
    nodes->queue.pushed_count = 0;
    nodes->faults =
        tacit_rng_stream(nodes->config.sim->seed, run, TACIT_STREAM_COMMON, TACIT_PURPOSE_FAULT);
    tacit_sim_curve_clear(&nodes->curve);
    if (nodes->config.counts_pulls)
        tacit_sim_pulls_clear(&nodes->pulls);
    for (uint32_t i = 0; i < nodes->agent_count + (nodes->config.has_hub ? 1u : 0u); i++)
        set_up_node(nodes, run, i);
    for (uint32_t i = 0; i < nodes->clone_count; i++)
        set_up_node(nodes, run, nodes->agent_count + 1 + i);
    for (uint32_t i = 0; i < nodes->backup_count; i++)
        nodes->backups[i].is_taken = false;
}

/* Decides when the agents that get lost do. */
static void plan_losses(struct tacit_sim_nodes *nodes)
{
    struct tacit_sim_faults const *const faults = nodes->config.faults;
    for (uint32_t agent = 0; faults != NULL && agent < faults->lost_agents; agent++)
        sim_push(nodes, (struct sim_item){.time_us = sim_up_to(nodes, faults->healed_at_us),
                                          .kind = SIM_ITEM_LOSS,
                                          .node = agent});
}

enum tacit_status tacit_sim_nodes_play(struct tacit_sim_nodes *nodes, uint32_t run,
                                       const struct tacit_sim_instance *instance, atomic_bool *stop,
                                       bool *healed)
{
    TACIT_ASSERT(instance != NULL);
    TACIT_ASSERT(stop != NULL);
    struct tacit_event const start = {.kind = TACIT_EVENT_START};
    nodes->instance = instance;
    nodes->stop = stop;
    set_up(nodes, run);
    for (uint32_t agent = 0; agent < nodes->agent_count; agent++)
        step(nodes, &nodes->nodes[agent], start);
    if (nodes->config.has_hub)
        step(nodes, &nodes->nodes[nodes->agent_count], start);
    plan_losses(nodes);
    sim_plan_copies(nodes);
    enum tacit_status const status = loop(nodes);
    clear_queue(nodes);
    *healed = nodes->done_count == nodes->agent_count;
    TACIT_ASSERT(nodes->queue.count == 0);
    TACIT_ASSERT(nodes->done_count <= nodes->agent_count);
    return status;
}
