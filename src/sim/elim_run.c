/* Drives the cores of epoch elimination through one run, over a star, a graph or a hybrid: carries
 * out their updates in the order persist, send, pull, timer; plays the network, the rewards and the
 * crashes. */
#include "elim_run.h"
#include "elim_state.h"
#include "tacit/wire.h"
#include <stdlib.h>
#include <string.h>

#define EVENTS_BETWEEN_STOP_CHECKS 256u
#define PULLS_BETWEEN_STOP_CHECKS (UINT64_C(1) << 20)
/* A run with faults that still goes on after so many events has lost its way. Without faults each
 * event moves the run on, and there is no limit. */
#define FAULTY_EVENTS_MAX UINT64_C(50000000)

struct sim_packet {
    uint32_t references;
    const struct tacit_elim_message *message;
    uint64_t memory[];
};

/* An agent, or the hub, with what its driver keeps about it. */
/* ---- Small things ---- */

static bool faults_rage(const struct elim_run *run)
{
    return run->experiment->faults != NULL && run->now_us < run->experiment->faults->healed_at_us;
}

static bool by_chance(struct elim_run *run, double chance)
{
    return faults_rage(run) && tacit_rng_bernoulli(&run->faults, chance);
}

static uint64_t up_to(struct elim_run *run, uint64_t max)
{
    return tacit_rng_below(&run->faults, max + 1);
}

static void push(struct elim_run *run, struct sim_item item)
{
    item.origin = item.packet == NULL ? item.node : item.packet->message->from;
    if (run->status == TACIT_OK)
        run->status = sim_queue_push(&run->queue, item);
}

/* ---- The network ---- */

static struct sim_packet *new_packet(struct elim_run *run, const struct tacit_elim_message *message)
{
    size_t const size = tacit_elim_message_size(message, run->arm_count, run->agent_count);
    struct sim_packet *const packet = malloc(sizeof *packet + size);
    if (packet == NULL) {
        run->status = TACIT_MEMORY;
        return NULL;
    }
    packet->references = 1;
    packet->message =
        tacit_elim_message_copy(message, run->arm_count, run->agent_count, packet->memory);
    return packet;
}

static void drop_reference(struct sim_packet *packet)
{
    if (packet != NULL && --packet->references == 0)
        free(packet);
}

static enum sim_item_kind delivery_of(const struct tacit_elim_message *message)
{
    if (message->kind == TACIT_ELIM_DATA)
        return SIM_ITEM_DATA;
    return message->kind == TACIT_ELIM_REQUEST ? SIM_ITEM_REQUEST : SIM_ITEM_DELIVER;
}

/* Is one of the two cut off now, and the other one not? The hub never is. */
static bool is_cut(const struct elim_run *run, uint32_t from, uint32_t to)
{
    struct tacit_sim_faults const *const faults = run->experiment->faults;
    if (faults->cut_off == NULL || run->now_us < faults->cut_off_from_us ||
        run->now_us >= faults->cut_off_until_us)
        return false;
    bool const from_inside = from < run->agent_count && tacit_bits_has(faults->cut_off, from);
    bool const to_inside = to < run->agent_count && tacit_bits_has(faults->cut_off, to);
    return from_inside != to_inside;
}

static void send_to(struct elim_run *run, struct sim_packet *packet, uint32_t node)
{
    struct tacit_sim_faults const *const faults = run->experiment->faults;
    if (faults != NULL &&
        (is_cut(run, packet->message->from, node) || by_chance(run, faults->loss)))
        return;
    uint32_t const copies = faults != NULL && by_chance(run, faults->duplication) ? 2 : 1;
    for (uint32_t copy = 0; copy < copies; copy++) {
        uint64_t const delay_us = faults_rage(run) ? up_to(run, faults->delay_us_max) : 0;
        packet->references++;
        push(run, (struct sim_item){.time_us = run->now_us + delay_us,
                                    .kind = delivery_of(packet->message),
                                    .node = node,
                                    .packet = packet});
    }
}

static void count_message(struct elim_run *run, const struct tacit_elim_message *message,
                          uint32_t receivers)
{
    run->metrics[TACIT_SIM_MESSAGES] += 1;
    run->metrics[TACIT_SIM_MESSAGES_PER_RECEIVER] += receivers;
    run->metrics[TACIT_SIM_SCALARS] +=
        (double)tacit_elim_message_scalars(message, run->agent_count);
    run->metrics[TACIT_SIM_BYTES] +=
        (double)tacit_wire_elim_bytes(message, run->arm_count, run->agent_count);
}

static uint32_t receiver_count(const struct elim_run *run, const struct tacit_elim_message *message)
{
    if (message->to == TACIT_EVERYONE)
        return run->agent_count;
    if (message->to == TACIT_NEIGHBOURS)
        return tacit_graph_degree(run->experiment->network->graph, message->from);
    return 1;
}

static void send_to_neighbours(struct elim_run *run, struct sim_packet *packet)
{
    struct tacit_graph const *const graph = run->experiment->network->graph;
    uint32_t const from = packet->message->from;
    for (uint64_t i = graph->first[from]; i < graph->first[from + 1]; i++)
        send_to(run, packet, graph->neighbours[i]);
}

static void send_message(struct elim_run *run, const struct tacit_elim_message *message)
{
    count_message(run, message, receiver_count(run, message));
    struct tacit_sim_observer const *const observer = run->experiment->observer;
    if (observer != NULL && observer->sent != NULL)
        observer->sent(observer->context, message);
    struct sim_packet *const packet = new_packet(run, message);
    if (packet == NULL)
        return;
    if (message->to == TACIT_EVERYONE)
        for (uint32_t agent = 0; agent < run->agent_count; agent++)
            send_to(run, packet, agent);
    else if (message->to == TACIT_NEIGHBOURS)
        send_to_neighbours(run, packet);
    else
        send_to(run, packet, message->to == TACIT_HUB ? run->agent_count : message->to);
    drop_reference(packet);
}

/* ---- Crashes ---- */

enum death { DEATH_NONE, DEATH_BEFORE_PERSIST, DEATH_AFTER_PERSIST, DEATH_AFTER_SEND };

static enum death choose_death(struct elim_run *run, bool is_hub)
{
    struct tacit_sim_faults const *const faults = run->experiment->faults;
    if (faults == NULL || !by_chance(run, is_hub ? faults->hub_crash : faults->agent_crash))
        return DEATH_NONE;
    return (enum death)(DEATH_BEFORE_PERSIST + tacit_rng_below(&run->faults, 3));
}

static void set_done(struct elim_run *run, struct node *node, bool is_done)
{
    if (node != elim_run_hub(run) && node->is_done != is_done)
        run->done_count += is_done ? 1 : UINT32_MAX; /* +1 or -1 */
    node->is_done = is_done;
}

/* What was not persisted is gone. */
static void go_down(struct elim_run *run, struct node *node)
{
    memcpy(node->state, node->disk, node->size);
    if (node->table_size > 0)
        memcpy(node->table, (unsigned char *)node->disk + node->size, node->table_size);
    node->is_up = false;
    node->is_waiting = false;
    node->plan_number++; /* parts of the plan that were under way do not come back */
    node->plan_count = 0;
    node->parts_left = 0;
    node->deadline_us = TACIT_NEVER;
    set_done(run, node, node->is_lost);
}

static void crash(struct elim_run *run, struct node *node)
{
    go_down(run, node);
    uint64_t const down_us = up_to(run, run->experiment->faults->down_us_max);
    push(run, (struct sim_item){.time_us = run->now_us + down_us,
                                .kind = SIM_ITEM_RESTART,
                                .node = (uint32_t)(node - run->nodes)});
}

/* ---- Carrying out an update: persist, send, pull, timer ---- */

static void write_to_disk(struct node *node, bool with_table)
{
    if (node->disk == NULL)
        return;
    memcpy(node->disk, node->state, node->size);
    if (with_table && node->table_size > 0)
        memcpy((unsigned char *)node->disk + node->size, node->table, node->table_size);
}

static void persist(struct elim_run *run, struct node *node, bool with_table)
{
    struct tacit_sim_observer const *const observer = run->experiment->observer;
    write_to_disk(node, with_table);
    if (observer == NULL)
        return;
    if (node == elim_run_hub(run)) {
        if (observer->hub_persisted != NULL)
            observer->hub_persisted(observer->context, node->state);
        return;
    }
    uint32_t const agent = (uint32_t)(node - run->nodes);
    if (observer->agent_persisted != NULL)
        observer->agent_persisted(observer->context, agent, elim_run_agent(run, node));
    if (observer->peer_persisted != NULL && run->experiment->network != NULL)
        observer->peer_persisted(observer->context, agent, node->state);
}

static void take_plan(struct elim_run *run, struct node *node,
                      const struct tacit_elim_update *update)
{
    struct tacit_elim_agent_view view;
    elim_run_look(run, node, &view);
    uint64_t length = 0;
    for (uint32_t i = 0; i < update->plan_count; i++)
        length += update->plan[i].count;
    memcpy(node->plan, update->plan, update->plan_count * sizeof *node->plan);
    node->plan_count = update->plan_count;
    node->plan_explores = !view.last;
    node->plan_number++;
    node->parts_left = run->experiment->faults == NULL ? 1 : run->experiment->faults->plan_parts;
    for (uint32_t part = 1; part <= node->parts_left; part++)
        push(run, (struct sim_item){.time_us = run->now_us + length / node->parts_left * part +
                                               length % node->parts_left * part / node->parts_left,
                                    .kind = SIM_ITEM_PULLS,
                                    .node = (uint32_t)(node - run->nodes),
                                    .number = node->plan_number,
                                    .part = part});
}

static void set_timer(struct elim_run *run, struct node *node, uint64_t deadline_us)
{
    if (deadline_us != TACIT_NEVER && deadline_us != node->deadline_us)
        push(run, (struct sim_item){.time_us = deadline_us,
                                    .kind = SIM_ITEM_TIMER,
                                    .node = (uint32_t)(node - run->nodes),
                                    .number = deadline_us});
    node->deadline_us = deadline_us;
}

/* Where nothing fails, a peer that played T slots has nothing more to do: the round that T cut is
 * nobody's any more. */
static bool is_at_horizon(const struct elim_run *run, const struct node *node)
{
    return run->experiment->faults == NULL && run->experiment->network != NULL &&
           node != &run->nodes[run->agent_count] && node->slot == run->experiment->horizon;
}

static void carry_out(struct elim_run *run, struct node *node,
                      const struct tacit_elim_update *update)
{
    enum death const death = choose_death(run, node == elim_run_hub(run));
    if (death == DEATH_BEFORE_PERSIST) {
        crash(run, node);
        return;
    }
    if (update->persist)
        persist(run, node, update->persist_table);
    if (death == DEATH_AFTER_PERSIST) {
        crash(run, node);
        return;
    }
    if (update->send)
        send_message(run, &update->message);
    if (death == DEATH_AFTER_SEND) {
        crash(run, node);
        return;
    }
    if (update->plan_count > 0)
        take_plan(run, node, update);
    set_timer(run, node, update->deadline_us);
    bool const is_waiting = update->deadline_us != TACIT_NEVER && node->parts_left == 0;
    if (is_waiting && !node->is_waiting)
        node->waiting_since_us = run->now_us;
    node->is_waiting = is_waiting;
    set_done(run, node, (!is_waiting && node->parts_left == 0) || is_at_horizon(run, node));
}

/* ---- Steps ---- */

static enum tacit_status unreliable_fill(void *context, void *bytes, size_t size)
{
    struct elim_run *const run = ((void **)context)[0];
    struct node *const node = ((void **)context)[1];
    if (run->experiment->faults != NULL && by_chance(run, run->experiment->faults->noise_failure))
        return TACIT_ENTROPY;
    struct tacit_entropy const entropy = tacit_rng_entropy(&node->noise);
    return entropy.fill(entropy.context, bytes, size);
}

static void step_agent(struct elim_run *run, struct node *node, struct tacit_elim_event event)
{
    struct tacit_sim_observer const *const observer = run->experiment->observer;
    struct tacit_elim_update update;
    void *context[] = {run, node};
    struct tacit_entropy entropy = tacit_rng_entropy(&node->noise);
    if (run->experiment->faults != NULL)
        entropy = (struct tacit_entropy){unreliable_fill, context};
    event.now_us = run->now_us;
    /* A refusal changes nothing, and its update asks for nothing but the timer that stands. */
    if (run->experiment->network == NULL)
        (void)tacit_elim_agent_step(node->state, &event, &entropy, &update);
    else
        (void)tacit_elim_peer_step(node->state, node->table, &event, &entropy, &update);
    if (observer != NULL && observer->meddle != NULL)
        observer->meddle(observer->context, (uint32_t)(node - run->nodes),
                         elim_run_agent(run, node), &update);
    carry_out(run, node, &update);
}

static void step_hub(struct elim_run *run, struct tacit_elim_event event)
{
    struct node *const hub = elim_run_hub(run);
    struct tacit_elim_update update;
    struct tacit_entropy const entropy = tacit_rng_entropy(&hub->noise);
    event.now_us = run->now_us;
    (void)tacit_elim_hub_step(hub->state, &event, &entropy, &update);
    carry_out(run, hub, &update);
}

static void step(struct elim_run *run, struct node *node, struct tacit_elim_event event)
{
    if (node == elim_run_hub(run))
        step_hub(run, event);
    else
        step_agent(run, node, event);
}

/* ---- Pulls ---- */

static void record_pull(struct elim_run *run, struct node *node, uint32_t arm, uint64_t count)
{
    struct tacit_sim_observer const *const observer = run->experiment->observer;
    if (observer != NULL && observer->pulled != NULL)
        observer->pulled(observer->context, (uint32_t)(node - run->nodes), arm, count);
    node->slot += count;
}

/* Draws the rewards of a block; where they come one by one, it can be stopped. */
static void draw_rewards(struct elim_run *run, struct node *node, uint32_t arm, uint64_t count,
                         union tacit_sum *sum)
{
    struct tacit_scale const *const scale = &run->experiment->mechanism.scale;
    uint32_t const agent = (uint32_t)(node - run->nodes);
    bool const is_slow = tacit_env_pulls_singly(&run->env, scale);
    while (count > 0) {
        uint64_t const part =
            is_slow && count > PULLS_BETWEEN_STOP_CHECKS ? PULLS_BETWEEN_STOP_CHECKS : count;
        tacit_env_pull(&run->env, agent, arm, part, scale, &node->rewards, sum);
        count -= part;
        if (is_slow && atomic_load(run->stop)) {
            run->status = TACIT_INTERRUPTED; /* this run's results are not used */
            return;
        }
    }
}

static void play_block(struct elim_run *run, struct node *node, uint32_t arm, uint64_t count)
{
    struct tacit_elim_event event = {.kind = TACIT_EVENT_REWARD};
    event.as.reward.arm = arm;
    event.as.reward.count = count;
    draw_rewards(run, node, arm, count, &event.as.reward.sum);
    if (run->status != TACIT_OK)
        return;
    record_pull(run, node, arm, count);
    if (node->plan_explores)
        run->metrics[TACIT_SIM_SAMPLES] += (double)count;
    step_agent(run, node, event);
}

/* Part `part` of `parts` of a count, so that all parts add up to it. */
static uint64_t share_of(uint64_t count, uint32_t part, uint32_t parts)
{
    uint64_t const before = count / parts * (part - 1) + count % parts * (part - 1) / parts;
    return count / parts * part + count % parts * part / parts - before;
}

/* Is plan `number` still the one to play? A crash or a new order ends it. */
static bool goes_on(const struct elim_run *run, const struct node *node, uint64_t number)
{
    return run->status == TACIT_OK && node->plan_number == number;
}

/* A whole plan, its arms in turn: the common case, and the one the regret curve is exact for. */
static void play_plan(struct elim_run *run, struct node *node)
{
    uint64_t const number = node->plan_number;
    sim_curve_add_plan(&run->curve, node->slot, node->plan, node->plan_count, run->gaps);
    node->parts_left = 0;
    for (uint32_t i = 0; i < node->plan_count && goes_on(run, node, number); i++)
        play_block(run, node, node->plan[i].arm, node->plan[i].count);
}

static void play_part(struct elim_run *run, struct node *node, uint32_t part)
{
    uint64_t const number = node->plan_number;
    uint32_t const parts = run->experiment->faults->plan_parts;
    node->parts_left--;
    for (uint32_t i = 0; i < node->plan_count && goes_on(run, node, number); i++) {
        struct tacit_pull_block const block = {node->plan[i].arm,
                                               share_of(node->plan[i].count, part, parts)};
        if (block.count == 0)
            continue;
        sim_curve_add_plan(&run->curve, node->slot, &block, 1, run->gaps);
        play_block(run, node, block.arm, block.count);
    }
}

/* An agent that waits plays its best noised arm meanwhile (READINGS P1.11, sound mode). */
static void play_waiting(struct elim_run *run, struct node *node)
{
    struct tacit_elim_agent_view view;
    uint64_t const waited = run->now_us - node->waiting_since_us;
    elim_run_look(run, node, &view);
    node->waiting_since_us = run->now_us;
    uint64_t const left = run->experiment->horizon - view.pull_count;
    uint64_t const count = waited < left ? waited : left;
    if (!view.waiting || count == 0)
        return;
    struct tacit_pull_block const block = {view.exploit_arm, count};
    run->metrics[TACIT_SIM_REGRET_EXPLOIT] += (double)count * run->gaps[block.arm];
    sim_curve_add_plan(&run->curve, node->slot, &block, 1, run->gaps);
    record_pull(run, node, block.arm, count);
    step_agent(
        run, node,
        (struct tacit_elim_event){.kind = TACIT_EVENT_EXPLOITED, .as.exploited_count = count});
}

/* ---- The loop ---- */

/* Slots of peers where nothing fails end at T: what was under way then is nobody's any more. */
static bool is_past_horizon(const struct elim_run *run)
{
    return run->experiment->faults == NULL && run->experiment->network != NULL &&
           run->now_us > run->experiment->horizon;
}

static void happen(struct elim_run *run, const struct sim_item *item)
{
    struct node *const node = &run->nodes[item->node];
    if (item->kind == SIM_ITEM_LOSS) {
        node->is_lost = true;
        go_down(run, node);
        return;
    }
    if (item->kind == SIM_ITEM_RESTART && !node->is_lost) {
        node->is_up = true;
        step(run, node, (struct tacit_elim_event){.kind = TACIT_EVENT_START});
        return;
    }
    if (node->is_up && node->is_waiting && node != elim_run_hub(run) &&
        run->now_us > node->waiting_since_us)
        play_waiting(run, node);
    if (!node->is_up || is_past_horizon(run))
        return;
    if (item->packet != NULL)
        step(run, node,
             (struct tacit_elim_event){.kind = TACIT_EVENT_RECEIVE,
                                       .as.message = item->packet->message});
    else if (item->kind == SIM_ITEM_TIMER && item->number == node->deadline_us)
        step(run, node, (struct tacit_elim_event){.kind = TACIT_EVENT_TIMEOUT});
    else if (item->kind == SIM_ITEM_PULLS && item->number == node->plan_number)
        run->experiment->faults == NULL ? play_plan(run, node) : play_part(run, node, item->part);
}

static void clear_queue(struct elim_run *run)
{
    struct sim_item item;
    while (sim_queue_pop(&run->queue, &item))
        drop_reference(item.packet);
}

/* Is everybody who is there at the horizon, and everything delivered that was sent at this very
 * moment? */
static bool is_over(const struct elim_run *run)
{
    return run->done_count == run->agent_count &&
           (run->queue.count == 0 || run->queue.items[0].time_us > run->now_us);
}

static enum tacit_status loop(struct elim_run *run)
{
    uint64_t const events_max = run->experiment->faults == NULL ? UINT64_MAX : FAULTY_EVENTS_MAX;
    struct sim_item item;
    for (uint64_t events = 0; !is_over(run) && events < events_max; events++) {
        if (events % EVENTS_BETWEEN_STOP_CHECKS == 0 && atomic_load(run->stop))
            return TACIT_INTERRUPTED;
        if (!sim_queue_pop(&run->queue, &item))
            break;
        run->now_us = item.time_us;
        happen(run, &item);
        drop_reference(item.packet);
        if (run->status != TACIT_OK)
            return run->status;
    }
    return TACIT_OK;
}

/* ---- Beginning and end of a run ---- */

static void set_up_instance(struct elim_run *run, uint32_t index)
{
    struct tacit_sim_elim const *const experiment = run->experiment;
    if (experiment->instance_per_run) {
        struct tacit_rng rng =
            tacit_rng_stream(experiment->seed, index, TACIT_STREAM_COMMON, TACIT_PURPOSE_INSTANCE);
        tacit_env_generate(run->own_means, run->arm_count, &rng);
    }
    tacit_env_global_means(&run->env, run->global_means);
    double best = run->global_means[0];
    for (uint32_t arm = 1; arm < run->arm_count; arm++)
        best = run->global_means[arm] > best ? run->global_means[arm] : best;
    for (uint32_t arm = 0; arm < run->arm_count; arm++)
        run->gaps[arm] = best - run->global_means[arm];
}

static void set_up_node(struct node *node)
{
    node->is_up = true;
    node->is_lost = false;
    node->is_done = false;
    node->is_waiting = false;
    node->deadline_us = TACIT_NEVER;
    node->waiting_since_us = 0;
    node->slot = 0;
    node->plan_number = 0;
    node->plan_count = 0;
    node->parts_left = 0;
    write_to_disk(node, true);
}

static enum tacit_status set_up_agent(struct elim_run *run, struct node *node, uint64_t run_id,
                                      uint32_t agent, double gap)
{
    struct tacit_sim_elim const *const experiment = run->experiment;
    if (experiment->network == NULL) {
        struct tacit_elim_agent_config const config =
            elim_run_agent_config(experiment, run_id, agent);
        return tacit_elim_agent_init(node->state, &config);
    }
    struct tacit_elim_peer_config const config = elim_run_peer_config(run, run_id, agent, gap);
    bool const is_shared = node->table_size == 0;
    if (!is_shared || agent == 0)
        tacit_elim_table_init(node->table, run->agent_count, run->arm_count, is_shared);
    return tacit_elim_peer_init(node->state, &config);
}

static enum tacit_status set_up_cores(struct elim_run *run, uint32_t index)
{
    struct tacit_sim_elim const *const experiment = run->experiment;
    uint64_t const run_id = (uint64_t)index + 1;
    double gap = experiment->gap;
    if (experiment->round_limit > 0 && gap <= 0)
        gap = tacit_env_smallest_gap(run->global_means, run->arm_count);
    gap = tacit_scale_gap(&experiment->mechanism.scale, gap);
    if (gap <= 0 || gap > 1)
        gap = 1; /* all arms alike: there is nothing to tell apart */
    struct tacit_elim_hub_config const hub = elim_run_hub_config(
        experiment, run_id, gap, experiment->network == NULL ? NULL : run->weights);
    enum tacit_status status =
        elim_run_has_hub(run) ? tacit_elim_hub_init(elim_run_hub(run)->state, &hub) : TACIT_OK;
    elim_run_hub(run)->noise =
        tacit_rng_stream(experiment->seed, index, TACIT_STREAM_COMMON, TACIT_PURPOSE_SELECTION);
    for (uint32_t agent = 0; agent < run->agent_count && status == TACIT_OK; agent++) {
        struct node *const node = &run->nodes[agent];
        status = set_up_agent(run, node, run_id, agent, gap);
        node->rewards = tacit_rng_stream(experiment->seed, index, agent, TACIT_PURPOSE_REWARD);
        node->noise = tacit_rng_stream(experiment->seed, index, agent, TACIT_PURPOSE_NOISE);
    }
    for (uint32_t i = 0; i <= run->agent_count; i++)
        set_up_node(&run->nodes[i]);
    return status;
}

static enum tacit_status set_up(struct elim_run *run, uint32_t index)
{
    size_t const points = run->curve.point_count;
    run->now_us = 0;
    run->done_count = 0;
    run->status = TACIT_OK;
    run->curve.total = 0;
    memset(run->curve.step, 0, points * sizeof(double));
    memset(run->curve.partial, 0, points * sizeof(double));
    memset(run->metrics, 0, sizeof run->metrics);
    run->queue.pushed_count = 0;
    run->faults =
        tacit_rng_stream(run->experiment->seed, index, TACIT_STREAM_COMMON, TACIT_PURPOSE_FAULT);
    set_up_instance(run, index);
    return set_up_cores(run, index);
}

/* Decides when the agents that get lost do. */
static void plan_losses(struct elim_run *run)
{
    struct tacit_sim_faults const *const faults = run->experiment->faults;
    for (uint32_t agent = 0; faults != NULL && agent < faults->lost_agents; agent++)
        push(run, (struct sim_item){.time_us = up_to(run, faults->healed_at_us),
                                    .kind = SIM_ITEM_LOSS,
                                    .node = agent});
}

enum tacit_status elim_run_play(struct elim_run *run, uint32_t index,
                                const struct tacit_sim_results *results, atomic_bool *stop,
                                bool *healed)
{
    enum tacit_status status = set_up(run, index);
    run->stop = stop;
    if (status == TACIT_OK) {
        for (uint32_t agent = 0; agent < run->agent_count; agent++)
            step_agent(run, &run->nodes[agent],
                       (struct tacit_elim_event){.kind = TACIT_EVENT_START});
        if (elim_run_has_hub(run))
            step_hub(run, (struct tacit_elim_event){.kind = TACIT_EVENT_START});
        plan_losses(run);
        status = loop(run);
    }
    clear_queue(run);
    if (status != TACIT_OK)
        return status;
    *healed = run->done_count == run->agent_count;
    elim_run_write_results(run, index, results);
    return TACIT_OK;
}
