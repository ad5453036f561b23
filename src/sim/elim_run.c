/* Drives the agent and hub cores of epoch elimination through one run: carries out their updates in
 * the order persist, send, pull, timer; plays the network, the rewards and the crashes. */
#include "elim_run.h"
#include "curve.h"
#include "queue.h"
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
struct node {
    void *state;
    void *disk; /* the persisted state, when there are faults */
    size_t size;
    bool is_up;
    bool is_lost; /* and will not be up again */
    bool is_done; /* nothing planned, nothing waited for; or lost */
    bool is_waiting;
    uint64_t deadline_us;
    uint64_t waiting_since_us;
    uint64_t slot; /* pulls really made */
    uint64_t plan_number;
    uint32_t plan_count;
    uint32_t parts_left;
    bool plan_explores;
    struct tacit_pull_block *plan;
    struct tacit_rng rewards;
    struct tacit_rng noise;
};

struct elim_run {
    const struct tacit_sim_elim *experiment;
    uint32_t agent_count;
    uint32_t arm_count;
    struct node *nodes; /* agents, then the hub */
    struct tacit_env env;
    double *own_means; /* instance_per_run: the env's means */
    double *global_means;
    double *gaps;
    struct sim_queue queue;
    struct sim_curve curve;
    struct tacit_rng faults;
    atomic_bool *stop;
    uint64_t now_us;
    uint32_t done_count;
    double metrics[TACIT_SIM_METRIC_COUNT];
    enum tacit_status status; /* the first failure of the driver itself */
    unsigned char *arena;
};

/* ---- Small things ---- */

static struct node *hub_of(struct elim_run *run)
{
    return &run->nodes[run->agent_count];
}

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
    if (run->status == TACIT_OK)
        run->status = sim_queue_push(&run->queue, item);
}

static uint64_t resend_after_us(const struct tacit_sim_elim *experiment)
{
    if (experiment->faults == NULL)
        return experiment->horizon + 1; /* nothing gets lost: no timer ever matters */
    return 2 * experiment->faults->delay_us_max + 1000;
}

static struct tacit_elim_agent_config agent_config(const struct tacit_sim_elim *experiment,
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

static struct tacit_elim_hub_config hub_config(const struct tacit_sim_elim *experiment,
                                               uint64_t run_id, double gap)
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
        .answers_all = experiment->hub_answers_all};
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

static void send_to(struct elim_run *run, struct sim_packet *packet, uint32_t node)
{
    struct tacit_sim_faults const *const faults = run->experiment->faults;
    if (faults != NULL && by_chance(run, faults->loss))
        return;
    uint32_t const copies = faults != NULL && by_chance(run, faults->duplication) ? 2 : 1;
    for (uint32_t copy = 0; copy < copies; copy++) {
        uint64_t const delay_us = faults_rage(run) ? up_to(run, faults->delay_us_max) : 0;
        packet->references++;
        push(run, (struct sim_item){.time_us = run->now_us + delay_us,
                                    .kind = SIM_ITEM_DELIVER,
                                    .node = node,
                                    .packet = packet});
    }
}

static void count_message(struct elim_run *run, const struct tacit_elim_message *message,
                          uint32_t receivers)
{
    run->metrics[TACIT_SIM_MESSAGES] += 1;
    run->metrics[TACIT_SIM_MESSAGES_PER_RECEIVER] += receivers;
    run->metrics[TACIT_SIM_SCALARS] += tacit_elim_message_scalars(message);
    run->metrics[TACIT_SIM_BYTES] +=
        (double)tacit_wire_elim_bytes(message, run->arm_count, run->agent_count);
}

static void send_message(struct elim_run *run, const struct tacit_elim_message *message)
{
    bool const is_broadcast = message->to == TACIT_ELIM_EVERYONE;
    count_message(run, message, is_broadcast ? run->agent_count : 1);
    struct tacit_sim_observer const *const observer = run->experiment->observer;
    if (observer != NULL && observer->sent != NULL)
        observer->sent(observer->context, message);
    struct sim_packet *const packet = new_packet(run, message);
    if (packet == NULL)
        return;
    if (is_broadcast)
        for (uint32_t agent = 0; agent < run->agent_count; agent++)
            send_to(run, packet, agent);
    else
        send_to(run, packet, message->to == TACIT_ELIM_HUB ? run->agent_count : message->to);
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
    if (node != hub_of(run) && node->is_done != is_done)
        run->done_count += is_done ? 1 : UINT32_MAX; /* +1 or -1 */
    node->is_done = is_done;
}

/* What was not persisted is gone. */
static void go_down(struct elim_run *run, struct node *node)
{
    memcpy(node->state, node->disk, node->size);
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

static void persist(struct elim_run *run, struct node *node)
{
    struct tacit_sim_observer const *const observer = run->experiment->observer;
    if (node->disk != NULL)
        memcpy(node->disk, node->state, node->size);
    if (observer == NULL)
        return;
    if (node == hub_of(run)) {
        if (observer->hub_persisted != NULL)
            observer->hub_persisted(observer->context, node->state);
    } else if (observer->agent_persisted != NULL) {
        observer->agent_persisted(observer->context, (uint32_t)(node - run->nodes), node->state);
    }
}

static void take_plan(struct elim_run *run, struct node *node,
                      const struct tacit_elim_update *update)
{
    struct tacit_elim_agent_view view;
    tacit_elim_agent_look(node->state, &view);
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

static void carry_out(struct elim_run *run, struct node *node,
                      const struct tacit_elim_update *update)
{
    enum death const death = choose_death(run, node == hub_of(run));
    if (death == DEATH_BEFORE_PERSIST) {
        crash(run, node);
        return;
    }
    if (update->persist)
        persist(run, node);
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
    bool const is_waiting = update->deadline_us != TACIT_NEVER;
    if (is_waiting && !node->is_waiting)
        node->waiting_since_us = run->now_us;
    node->is_waiting = is_waiting;
    set_done(run, node, !is_waiting && node->parts_left == 0);
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
    (void)tacit_elim_agent_step(node->state, &event, &entropy, &update);
    if (observer != NULL && observer->meddle != NULL)
        observer->meddle(observer->context, (uint32_t)(node - run->nodes), node->state, &update);
    carry_out(run, node, &update);
}

static void step_hub(struct elim_run *run, struct tacit_elim_event event)
{
    struct node *const hub = hub_of(run);
    struct tacit_elim_update update;
    struct tacit_entropy const entropy = tacit_rng_entropy(&hub->noise);
    event.now_us = run->now_us;
    (void)tacit_elim_hub_step(hub->state, &event, &entropy, &update);
    carry_out(run, hub, &update);
}

static void step(struct elim_run *run, struct node *node, struct tacit_elim_event event)
{
    if (node == hub_of(run))
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
    struct tacit_elim_event event = {.kind = TACIT_ELIM_REWARD};
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
    tacit_elim_agent_look(node->state, &view);
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
        (struct tacit_elim_event){.kind = TACIT_ELIM_EXPLOITED, .as.exploited_count = count});
}

/* ---- The loop ---- */

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
        step(run, node, (struct tacit_elim_event){.kind = TACIT_ELIM_START});
        return;
    }
    if (node->is_up && node->is_waiting && node != hub_of(run) &&
        run->now_us > node->waiting_since_us)
        play_waiting(run, node);
    if (!node->is_up)
        return;
    if (item->kind == SIM_ITEM_DELIVER)
        step(run, node,
             (struct tacit_elim_event){.kind = TACIT_ELIM_RECEIVE,
                                       .as.message = item->packet->message});
    else if (item->kind == SIM_ITEM_TIMER && item->number == node->deadline_us)
        step(run, node, (struct tacit_elim_event){.kind = TACIT_ELIM_TIMEOUT});
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
    if (node->disk != NULL)
        memcpy(node->disk, node->state, node->size);
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
    struct tacit_elim_hub_config const hub = hub_config(experiment, run_id, gap);
    enum tacit_status status = tacit_elim_hub_init(hub_of(run)->state, &hub);
    hub_of(run)->noise =
        tacit_rng_stream(experiment->seed, index, TACIT_STREAM_COMMON, TACIT_PURPOSE_SELECTION);
    for (uint32_t agent = 0; agent < run->agent_count && status == TACIT_OK; agent++) {
        struct node *const node = &run->nodes[agent];
        struct tacit_elim_agent_config const config = agent_config(experiment, run_id, agent);
        status = tacit_elim_agent_init(node->state, &config);
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

static void write_results(struct elim_run *run, uint32_t index,
                          const struct tacit_sim_results *results)
{
    struct tacit_sim_elim const *const experiment = run->experiment;
    uint32_t const runs = experiment->run_count;
    double *const metrics = run->metrics;
    struct tacit_elim_hub_view hub;
    tacit_elim_hub_look(hub_of(run)->state, &hub);
    uint32_t best = tacit_bits_next(hub.arms, run->arm_count, 0);
    for (uint32_t arm = best; arm < run->arm_count; arm++)
        if (tacit_bits_has(hub.arms, arm) && hub.means[arm] > hub.means[best])
            best = arm;
    metrics[TACIT_SIM_REGRET] = run->curve.total;
    metrics[TACIT_SIM_REGRET_PER_AGENT] = run->curve.total / run->agent_count;
    metrics[TACIT_SIM_ROUNDS] = hub.round_count;
    metrics[TACIT_SIM_LINKS] = (double)hub.round_count * experiment->report_count;
    metrics[TACIT_SIM_COST] = metrics[TACIT_SIM_LINKS] * experiment->server_link_cost;
    metrics[TACIT_SIM_SINGLE_ARM_FRACTION] = hub.active_count == 1 ? 1 : 0;
    metrics[TACIT_SIM_BEST_ARM_FRACTION] = run->gaps[best] < 1e-12 && hub.round_count > 0 ? 1 : 0;
    for (uint32_t metric = 0; metric < TACIT_SIM_METRIC_COUNT; metric++)
        results->metrics[(size_t)metric * runs + index] = metrics[metric];
    for (uint32_t arm = 0; arm < run->arm_count; arm++)
        results->eliminated[(size_t)arm * runs + index] = hub.eliminated[arm];
    sim_curve_read(&run->curve, results->regret + (size_t)index * run->curve.point_count);
    results->finished[index] = true;
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
                       (struct tacit_elim_event){.kind = TACIT_ELIM_START});
        step_hub(run, (struct tacit_elim_event){.kind = TACIT_ELIM_START});
        plan_losses(run);
        status = loop(run);
    }
    clear_queue(run);
    if (status != TACIT_OK)
        return status;
    *healed = run->done_count == run->agent_count;
    write_results(run, index, results);
    return TACIT_OK;
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

static size_t lay_out(struct elim_run *run)
{
    struct tacit_sim_elim const *const experiment = run->experiment;
    size_t used = 0;
    size_t const arms = run->arm_count;
    size_t const points = experiment->point_count;
    struct tacit_elim_agent_config const agent = agent_config(experiment, 1, 0);
    struct tacit_elim_hub_config const hub = hub_config(experiment, 1, 1);
    struct node *const nodes = carve(run, &used, (run->agent_count + 1) * sizeof *nodes);
    double *const own_means = carve(run, &used, arms * sizeof(double));
    run->global_means = carve(run, &used, arms * sizeof(double));
    run->gaps = carve(run, &used, arms * sizeof(double));
    run->curve.step = carve(run, &used, points * sizeof(double));
    run->curve.partial = carve(run, &used, points * sizeof(double));
    for (uint32_t i = 0; i <= run->agent_count; i++) {
        bool const is_hub = i == run->agent_count;
        size_t const size = is_hub ? tacit_elim_hub_size(&hub) : tacit_elim_agent_size(&agent);
        struct node node = {.size = size};
        node.state = carve(run, &used, size);
        node.disk = experiment->faults == NULL ? NULL : carve(run, &used, size);
        node.plan = is_hub ? NULL : carve(run, &used, arms * sizeof *node.plan);
        if (nodes != NULL)
            nodes[i] = node;
    }
    run->nodes = nodes;
    run->own_means = own_means;
    return used;
}

struct elim_run *elim_run_new(const struct tacit_sim_elim *experiment, enum tacit_status *status)
{
    struct tacit_elim_agent_config const agent = agent_config(experiment, 1, 0);
    struct tacit_elim_hub_config const hub = hub_config(experiment, 1, 1);
    *status = TACIT_INVALID;
    if (tacit_elim_agent_size(&agent) == 0 || tacit_elim_hub_size(&hub) == 0 ||
        (experiment->faults != NULL && experiment->faults->lost_agents > experiment->agent_count))
        return NULL;
    *status = TACIT_MEMORY;
    struct elim_run *const run = calloc(1, sizeof *run);
    if (run == NULL)
        return NULL;
    run->experiment = experiment;
    run->agent_count = experiment->agent_count;
    run->arm_count = experiment->env.arm_count;
    run->curve.points = experiment->points;
    run->curve.point_count = experiment->point_count;
    run->arena = calloc(1, lay_out(run));
    if (run->arena == NULL) {
        free(run);
        return NULL;
    }
    (void)lay_out(run);
    run->env = experiment->env;
    if (experiment->instance_per_run)
        run->env.means = run->own_means;
    *status = TACIT_OK;
    return run;
}

void elim_run_free(struct elim_run *run)
{
    if (run == NULL)
        return;
    sim_queue_free(&run->queue);
    free(run->arena);
    free(run);
}
