/* libFuzzer target: bytes drive random events, valid and hostile, into one hub and three agents of
 * epoch elimination, with crashes that forget what was not persisted and entropy that fails. After
 * every step the promises are checked from outside, through the views:
 *  - a refusal leaves the state as it was, byte for byte;
 *  - arm sets shrink and are never empty, epochs and releases never go back;
 *  - the ledger shows each release once and stays within the budget;
 *  - no report leaves before it is durable, and no epoch is reported in two ways;
 *  - plans stay within T and within the active arms;
 *  - the hub holds only what was asked for, and says to each agent what it holds;
 *  - an agent that is halted, or whose report is held, sends no report;
 *  - the cores' own checks take every state, and no timer asks to be woken in the past.
 * Where no forged message was believed, the federation is healed at the end and must come to its
 * end.
 *
 * Build: clang -fsanitize=fuzzer,address,undefined, with the pure rooms and live/daemon/panic.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "tacit/elim.h"

#define AGENTS 3u
#define NODES (AGENTS + 1u)
#define HUB AGENTS
#define ARMS_MAX 5u
#define POOL 16u
#define RUN_ID 7u
#define RESEND_US 50u
#define HEALING_SWEEPS 2000u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum death { DEATH_NONE, DEATH_BEFORE_PERSIST, DEATH_BEFORE_SEND };

struct node {
    void *state;
    void *disk;
    void *before; /* the state before the step, to compare with */
    size_t size;
    uint32_t plan_count;
    struct tacit_pull_block plan[ARMS_MAX];
    uint64_t releases_durable; /* distinct releases that were persisted */
    uint64_t release_epoch;    /* of the last one */
    uint32_t sent_epoch;
    union tacit_sum sent[ARMS_MAX];
};

struct soup {
    const uint8_t *bytes;
    size_t left;
    uint64_t now_us;
    uint32_t arm_count;
    uint32_t report_count;
    uint64_t horizon;
    uint64_t cost_nano;
    uint32_t epoch_max;
    struct tacit_elim_agent_config agents[AGENTS];
    struct tacit_elim_hub_config hub;
    bool entropy_fails;
    bool was_deceived; /* somebody believed a forged message */
    struct tacit_mechanism mechanism;
    struct tacit_rng rng;
    struct node nodes[NODES];
    void *pool[POOL]; /* copies of messages that were sent */
    uint32_t pool_next;
};

/* ---- Bytes ----------------------------------------------------------------------------------- */

static uint8_t next_byte(struct soup *soup)
{
    if (soup->left == 0)
        return 0;
    soup->left--;
    return *soup->bytes++;
}

static uint32_t below(struct soup *soup, uint32_t bound)
{
    return next_byte(soup) % bound;
}

/* Mostly small, sometimes at the edge of everything. */
static uint64_t odd_number(struct soup *soup)
{
    uint64_t const edges[] = {0,          1,          TACIT_HORIZON_MAX, TACIT_HORIZON_MAX + 1,
                              UINT64_MAX, INT64_MAX,  UINT32_MAX,        TACIT_ELIM_EPOCHS_MAX,
                              10001,      TACIT_STEPS};
    uint8_t const byte = next_byte(soup);
    return byte < 10 ? edges[byte] : (uint64_t)byte * next_byte(soup);
}

static enum tacit_status moody_fill(void *context, void *bytes, size_t size)
{
    struct soup *const soup = context;
    if (soup->entropy_fails)
        return TACIT_ENTROPY;
    struct tacit_entropy const stream = tacit_rng_entropy(&soup->rng);
    return stream.fill(stream.context, bytes, size);
}

/* ---- Setting up ------------------------------------------------------------------------------ */

static void open_node(struct node *node, size_t size)
{
    TACIT_ASSERT(size > 0);
    node->size = size;
    node->state = malloc(size);
    node->disk = malloc(size);
    node->before = malloc(size);
    TACIT_ASSERT(node->state != NULL);
    TACIT_ASSERT(node->disk != NULL);
    TACIT_ASSERT(node->before != NULL);
}

static void open_agents(struct soup *soup)
{
    uint64_t const budget_nano = below(soup, 16) == 0 ? 0 : soup->cost_nano;
    for (uint32_t agent = 0; agent < AGENTS; agent++) {
        soup->agents[agent] = (struct tacit_elim_agent_config){.run_id = RUN_ID,
                                                               .agent_id = agent,
                                                               .agent_count = AGENTS,
                                                               .arm_count = soup->arm_count,
                                                               .horizon = soup->horizon,
                                                               .mechanism = soup->mechanism,
                                                               .budget_nano = budget_nano,
                                                               .resend_after_us = RESEND_US,
                                                               .epoch_max = soup->epoch_max};
        struct tacit_elim_agent_config const *const config = &soup->agents[agent];
        struct node *const node = &soup->nodes[agent];
        open_node(node, tacit_elim_agent_size(config));
        TACIT_ASSERT(tacit_elim_agent_init(node->state, config) == TACIT_OK);
        memcpy(node->disk, node->state, node->size);
    }
}

static void open_hub(struct soup *soup, double epsilon)
{
    soup->hub = (struct tacit_elim_hub_config){.run_id = RUN_ID,
                                               .agent_count = AGENTS,
                                               .schedule = {.arm_count = soup->arm_count,
                                                            .report_count = soup->report_count,
                                                            .horizon = soup->horizon,
                                                            .epsilon_per_reward = epsilon,
                                                            .round_limit = below(soup, 20),
                                                            .gap = (1 + below(soup, 64)) / 64.0},
                                               .mechanism = soup->mechanism,
                                               .quorum = below(soup, soup->report_count + 1),
                                               .round_timeout_us =
                                                   next_byte(soup) * (uint64_t)below(soup, 4),
                                               .answers_all = below(soup, 2) == 1};
    struct node *const node = &soup->nodes[HUB];
    open_node(node, tacit_elim_hub_size(&soup->hub));
    TACIT_ASSERT(tacit_elim_hub_init(node->state, &soup->hub) == TACIT_OK);
    memcpy(node->disk, node->state, node->size);
}

static void open_soup(struct soup *soup, const uint8_t *bytes, size_t size)
{
    *soup = (struct soup){.bytes = bytes, .left = size};
    soup->arm_count = 1 + below(soup, ARMS_MAX);
    soup->report_count = 1 + below(soup, AGENTS);
    soup->horizon = 1 + (uint64_t)next_byte(soup) * next_byte(soup);
    double const epsilon = below(soup, 2) == 0 ? INFINITY : 1 + below(soup, 100);
    struct tacit_mechanism_config const config = {
        .mode = TACIT_PRIVACY_SOUND, .epsilon_per_reward = epsilon, .lo = 0, .hi = 1};
    TACIT_ASSERT(tacit_mechanism_init(&soup->mechanism, &config) == TACIT_OK);
    soup->cost_nano = tacit_mechanism_cost_nano(&soup->mechanism);
    soup->rng = tacit_rng_stream(next_byte(soup), 0, 0, TACIT_PURPOSE_NOISE);
    soup->epoch_max = below(soup, 4) == 0 ? below(soup, 8) : 0;
    open_agents(soup);
    open_hub(soup, epsilon);
}

static void close_soup(struct soup *soup)
{
    for (uint32_t i = 0; i < NODES; i++) {
        free(soup->nodes[i].state);
        free(soup->nodes[i].disk);
        free(soup->nodes[i].before);
    }
    for (uint32_t i = 0; i < POOL; i++)
        free(soup->pool[i]);
}

/* ---- Promises -------------------------------------------------------------------------------- */

static struct tacit_elim_agent_view agent_view(const void *state)
{
    struct tacit_elim_agent_view view;
    tacit_elim_agent_view(state, &view);
    return view;
}

static struct tacit_elim_hub_view hub_view(const void *state)
{
    struct tacit_elim_hub_view view;
    tacit_elim_hub_view(state, &view);
    return view;
}

static void check_agent(const struct soup *soup, const struct node *node)
{
    uint32_t const arms = soup->arm_count;
    struct tacit_elim_agent_view const was = agent_view(node->before);
    struct tacit_elim_agent_view const is = agent_view(node->state);
    TACIT_ASSERT(is.active_count >= 1);
    TACIT_ASSERT(is.active_count == tacit_bits_count(is.arms, arms));
    TACIT_ASSERT(tacit_bits_within(is.arms, was.arms, arms));
    TACIT_ASSERT(tacit_bits_has(is.arms, is.exploit_arm));
    TACIT_ASSERT(is.epoch >= was.epoch);
    TACIT_ASSERT(is.pull_count >= was.pull_count);
    TACIT_ASSERT(is.pull_count <= soup->horizon);
    TACIT_ASSERT(is.finished == (is.pull_count == soup->horizon) || is.halted || is.releasing);
    TACIT_ASSERT(is.release_epoch >= was.release_epoch);
    TACIT_ASSERT(is.release_epoch <= is.epoch);
    if (is.release_epoch == was.release_epoch)
        TACIT_ASSERT(memcmp(is.noised, was.noised, arms * sizeof *is.noised) == 0);
    uint64_t const drawn = is.release_epoch > was.release_epoch ? 1 : 0;
    TACIT_ASSERT(is.ledger->release_count == was.ledger->release_count + drawn);
    TACIT_ASSERT(tacit_ledger_spent_nano(is.ledger) <= is.ledger->budget_nano);
    TACIT_ASSERT(tacit_ledger_spent_nano(is.ledger) ==
                 (is.ledger->release_count > 0 ? soup->cost_nano : 0));
    TACIT_ASSERT(tacit_elim_agent_check(node->state, node->size,
                                        &soup->agents[node - soup->nodes]) == TACIT_OK);
}

static void check_hub(const struct soup *soup, const struct node *node)
{
    uint32_t const arms = soup->arm_count;
    struct tacit_elim_hub_view const was = hub_view(node->before);
    struct tacit_elim_hub_view const is = hub_view(node->state);
    TACIT_ASSERT(is.active_count >= 1);
    TACIT_ASSERT(is.active_count == tacit_bits_count(is.arms, arms));
    TACIT_ASSERT(tacit_bits_within(is.arms, was.arms, arms));
    TACIT_ASSERT(is.epoch >= was.epoch);
    TACIT_ASSERT(is.pulls >= was.pulls);
    TACIT_ASSERT(is.round_count >= was.round_count);
    TACIT_ASSERT(is.round_count <= was.round_count + 1);
    TACIT_ASSERT(is.reports_missing <= soup->report_count);
    TACIT_IMPLIES(was.finished, is.finished);
    TACIT_IMPLIES(is.finished, is.reports_missing == 0);
    TACIT_IMPLIES(is.finished, !is.overdue);
    TACIT_ASSERT(is.report_count == tacit_bits_count(is.received, AGENTS));
    TACIT_ASSERT(tacit_bits_within(is.received, is.uploaders, AGENTS));
    for (uint32_t agent = 0; agent < AGENTS; agent++)
        TACIT_ASSERT(is.seen[agent] >= was.seen[agent]);
    TACIT_ASSERT(tacit_elim_hub_check(node->state, node->size, &soup->hub) == TACIT_OK);
    for (uint32_t arm = 0; arm < arms; arm++) {
        TACIT_ASSERT(isfinite(is.means[arm]));
        TACIT_ASSERT((is.eliminated[arm] == 0) == tacit_bits_has(is.arms, arm));
        TACIT_ASSERT(is.eliminated[arm] <= is.epoch);
    }
}

static void check_plan(const struct soup *soup, const struct node *node,
                       const struct tacit_elim_update *update)
{
    struct tacit_elim_agent_view const view = agent_view(node->state);
    uint64_t length = 0;
    for (uint32_t i = 0; i < update->plan_count; i++) {
        TACIT_ASSERT(tacit_bits_has(view.arms, update->plan[i].arm));
        TACIT_ASSERT(update->plan[i].count > 0);
        TACIT_IMPLIES(i > 0, update->plan[i].arm > update->plan[i - 1].arm);
        length += update->plan[i].count;
    }
    TACIT_ASSERT(length <= soup->horizon - view.pull_count);
}

/* What is sent is what is on the disk, and says the same as before about the same epoch. */
static void check_report(const struct soup *soup, struct node *node,
                         const struct tacit_elim_message *report)
{
    struct tacit_elim_agent_view const disk = agent_view(node->disk);
    uint32_t rank = 0;
    TACIT_ASSERT(!disk.halted);
    TACIT_ASSERT(!agent_view(node->state).reported);
    TACIT_ASSERT(report->epoch == disk.epoch);
    TACIT_ASSERT(report->sum_count == disk.active_count);
    for (uint32_t arm = 0; arm < soup->arm_count; arm++)
        if (tacit_bits_has(report->arms, arm))
            TACIT_ASSERT(report->sums[rank++].steps == disk.noised[arm].steps);
    TACIT_ASSERT(rank == report->sum_count);
    TACIT_ASSERT(report->epoch >= node->sent_epoch);
    if (report->epoch == node->sent_epoch)
        TACIT_ASSERT(memcmp(report->sums, node->sent, rank * sizeof *report->sums) == 0);
    node->sent_epoch = report->epoch;
    memcpy(node->sent, report->sums, rank * sizeof *report->sums);
}

static void check_order(const struct soup *soup, const struct tacit_elim_message *order)
{
    TACIT_ASSERT(order->kind == TACIT_ELIM_ORDER);
    TACIT_ASSERT(order->from == TACIT_HUB);
    TACIT_ASSERT(order->epoch >= 1);
    TACIT_ASSERT(order->epoch <= TACIT_ELIM_EPOCHS_MAX);
    TACIT_ASSERT(tacit_bits_count(order->arms, soup->arm_count) >= 1);
    TACIT_ASSERT(
        order->seen ==
        (order->to == TACIT_EVERYONE ? 0 : hub_view(soup->nodes[HUB].disk).seen[order->to]));
    TACIT_IMPLIES(order->last, tacit_bits_count(order->arms, soup->arm_count) == 1);
    if (order->uploaders != NULL)
        TACIT_ASSERT(tacit_bits_count(order->uploaders, AGENTS) == soup->report_count);
}

/* ---- Carrying out an update ------------------------------------------------------------------ */

static void persist(struct soup *soup, struct node *node)
{
    memcpy(node->disk, node->state, node->size);
    if (node == &soup->nodes[HUB])
        return;
    struct tacit_elim_agent_view const view = agent_view(node->disk);
    if (view.release_epoch > node->release_epoch)
        node->releases_durable++;
    TACIT_ASSERT(view.release_epoch >= node->release_epoch);
    node->release_epoch = view.release_epoch;
    TACIT_ASSERT(view.ledger->release_count == node->releases_durable);
}

static void pool_add(struct soup *soup, const struct tacit_elim_message *message)
{
    void *const copy = malloc(tacit_elim_message_size(message, soup->arm_count, AGENTS));
    TACIT_ASSERT(copy != NULL);
    (void)tacit_elim_message_copy(message, soup->arm_count, AGENTS, copy);
    free(soup->pool[soup->pool_next]);
    soup->pool[soup->pool_next] = copy;
    soup->pool_next = (soup->pool_next + 1) % POOL;
}

static void send(struct soup *soup, struct node *node, const struct tacit_elim_message *message)
{
    if (message->kind == TACIT_ELIM_ORDER)
        check_order(soup, message);
    else
        TACIT_ASSERT(message->from == (uint32_t)(node - soup->nodes));
    if (message->kind == TACIT_ELIM_REPORT)
        check_report(soup, node, message);
    pool_add(soup, message);
}

static void step(struct soup *soup, uint32_t index, struct tacit_event event, enum death death);

/* What was not persisted is gone; the memory is another one. */
static void crash(struct soup *soup, uint32_t index)
{
    struct node *const node = &soup->nodes[index];
    void *const memory = malloc(node->size);
    TACIT_ASSERT(memory != NULL);
    memcpy(memory, node->disk, node->size);
    free(node->state);
    node->state = memory;
    node->plan_count = 0;
    step(soup, index, (struct tacit_event){.kind = TACIT_EVENT_START}, DEATH_NONE);
}

static void carry_out(struct soup *soup, uint32_t index, const struct tacit_elim_update *update,
                      enum death death)
{
    struct node *const node = &soup->nodes[index];
    if (death == DEATH_BEFORE_PERSIST) {
        crash(soup, index);
        return;
    }
    if (update->persist)
        persist(soup, node);
    if (death == DEATH_BEFORE_SEND) {
        crash(soup, index);
        return;
    }
    if (update->send)
        send(soup, node, &update->message);
    if (update->plan_count > 0) {
        TACIT_ASSERT(index != HUB);
        check_plan(soup, node, update);
        memcpy(node->plan, update->plan, update->plan_count * sizeof *node->plan);
        node->plan_count = update->plan_count;
    }
}

static void step(struct soup *soup, uint32_t index, struct tacit_event event, enum death death)
{
    struct node *const node = &soup->nodes[index];
    struct tacit_entropy const entropy = {moody_fill, soup};
    struct tacit_elim_update update;
    event.now_us = soup->now_us;
    memcpy(node->before, node->state, node->size);
    enum tacit_status const status =
        index == HUB ? tacit_elim_hub_step(node->state, &event, &entropy, &update)
                     : tacit_elim_agent_step(node->state, &event, &entropy, &update);
    if (status != TACIT_OK && !update.persist) {
        TACIT_ASSERT(memcmp(node->before, node->state, node->size) == 0);
        TACIT_ASSERT(!update.send);
        TACIT_ASSERT(update.plan_count == 0);
    }
    TACIT_IMPLIES(status != TACIT_OK, !update.send);
    TACIT_IMPLIES(status == TACIT_OK && event.kind == TACIT_EVENT_TIMEOUT,
                  update.deadline_us > event.now_us);
    if (index == HUB)
        check_hub(soup, node);
    else
        check_agent(soup, node);
    carry_out(soup, index, &update, death);
}

/* ---- Random events --------------------------------------------------------------------------- */

static enum death some_death(struct soup *soup)
{
    uint8_t const byte = next_byte(soup);
    return byte < 240 ? DEATH_NONE : byte < 248 ? DEATH_BEFORE_PERSIST : DEATH_BEFORE_SEND;
}

static void receive(struct soup *soup, uint32_t index, const struct tacit_elim_message *message,
                    enum death death)
{
    struct tacit_event const event = {.kind = TACIT_EVENT_RECEIVE, .as.message = message};
    step(soup, index, event, death);
}

static void deliver(struct soup *soup)
{
    const struct tacit_elim_message *const message = soup->pool[below(soup, POOL)];
    if (message == NULL)
        return;
    uint32_t const index = message->to == TACIT_HUB ? HUB : below(soup, AGENTS);
    /* The pool may drop the message while it is read: the answer goes into the same pool. */
    void *const copy = malloc(tacit_elim_message_size(message, soup->arm_count, AGENTS));
    TACIT_ASSERT(copy != NULL);
    (void)tacit_elim_message_copy(message, soup->arm_count, AGENTS, copy);
    receive(soup, index, copy, some_death(soup));
    free(copy);
}

/* Did the last step change what the node takes for true? */
static bool believed(const struct node *node, bool is_hub)
{
    if (is_hub) {
        struct tacit_elim_hub_view const was = hub_view(node->before);
        struct tacit_elim_hub_view const is = hub_view(node->state);
        return memcmp(was.seen, is.seen, AGENTS * sizeof *is.seen) != 0;
    }
    struct tacit_elim_agent_view const was = agent_view(node->before);
    struct tacit_elim_agent_view const is = agent_view(node->state);
    return is.epoch != was.epoch || is.halted != was.halted || is.reported != was.reported;
}

/* A true message with fields changed, or one made up from nothing. */
static void forge(struct soup *soup)
{
    uint64_t const arms = odd_number(soup);
    uint64_t const uploaders = odd_number(soup);
    uint32_t const index = below(soup, NODES);
    union tacit_sum sums[ARMS_MAX];
    for (uint32_t i = 0; i < ARMS_MAX; i++)
        sums[i].steps = (int64_t)odd_number(soup);
    struct tacit_elim_message const *const old = soup->pool[below(soup, POOL)];
    struct tacit_elim_message forged = {.kind = TACIT_ELIM_ORDER, .run_id = RUN_ID};
    if (old != NULL)
        forged = *old;
    uint8_t const change = next_byte(soup);
    forged.from = change & 1 ? (uint32_t)odd_number(soup) : index == HUB ? 0 : TACIT_HUB;
    forged.to = change & 2 ? (uint32_t)odd_number(soup) : index == HUB ? TACIT_HUB : index;
    forged.kind = change & 4 ? (enum tacit_elim_message_kind)below(soup, 4) : forged.kind;
    forged.epoch = change & 8 ? (uint32_t)odd_number(soup) : forged.epoch + 1;
    forged.pulls = change & 16 ? odd_number(soup) : forged.pulls;
    forged.arms = change & 32 ? &arms : NULL;
    forged.uploaders = change & 64 ? &uploaders : NULL;
    forged.sums = change & 128 ? sums : NULL;
    forged.sum_count = forged.sums == NULL ? 0 : below(soup, ARMS_MAX + 1);
    forged.last = below(soup, 2) == 1;
    forged.seen = below(soup, 2) == 1 ? (uint32_t)odd_number(soup) : forged.seen;
    receive(soup, index, &forged, DEATH_NONE);
    soup->was_deceived = soup->was_deceived || believed(&soup->nodes[index], index == HUB);
}

static void reward(struct soup *soup, uint32_t agent, uint32_t arm, uint64_t count, int64_t steps,
                   enum death death)
{
    struct tacit_event event = {.kind = TACIT_EVENT_REWARD};
    event.as.reward.arm = arm;
    event.as.reward.count = count;
    event.as.reward.sum.steps = steps;
    step(soup, agent, event, death);
}

/* Serves one block of the plan, whole or in part. */
static void serve(struct soup *soup)
{
    uint32_t const agent = below(soup, AGENTS);
    struct node *const node = &soup->nodes[agent];
    if (node->plan_count == 0)
        return;
    struct tacit_pull_block *const block = &node->plan[below(soup, node->plan_count)];
    uint8_t const share = next_byte(soup);
    uint64_t const count = share >= 128 ? block->count : block->count * share / 128;
    if (count == 0)
        return;
    block->count -= count;
    int64_t const level = (int64_t)next_byte(soup) * (TACIT_STEPS / 255);
    reward(soup, agent, block->arm, count, (int64_t)count * level, some_death(soup));
}

static void hostile_reward(struct soup *soup)
{
    uint32_t const index = below(soup, NODES);
    uint32_t const arm = (uint32_t)odd_number(soup);
    uint64_t const count = odd_number(soup);
    int64_t const steps = (int64_t)odd_number(soup);
    if (index == HUB || arm >= soup->arm_count || soup->nodes[index].plan_count == 0)
        reward(soup, index, arm, count, steps, DEATH_NONE);
}

static void pass_time(struct soup *soup)
{
    soup->now_us += below(soup, 2 * RESEND_US);
    step(soup, below(soup, NODES), (struct tacit_event){.kind = TACIT_EVENT_TIMEOUT},
         some_death(soup));
}

static void exploit(struct soup *soup)
{
    uint32_t const index = below(soup, NODES);
    uint64_t const count = odd_number(soup);
    struct tacit_event const event = {.kind = TACIT_EVENT_EXPLOITED, .as.exploited_count = count};
    step(soup, index, event, DEATH_NONE);
}

static void random_event(struct soup *soup)
{
    switch (below(soup, 12)) {
    case 0:
        crash(soup, below(soup, NODES));
        break;
    case 1:
        forge(soup);
        break;
    case 2:
        hostile_reward(soup);
        break;
    case 3:
        exploit(soup);
        break;
    case 4:
        soup->entropy_fails = below(soup, 2) == 1;
        break;
    case 5:
        pass_time(soup);
        break;
    case 6:
    case 7:
    case 8:
        deliver(soup);
        break;
    default:
        serve(soup);
        break;
    }
}

/* ---- Healing --------------------------------------------------------------------------------- */

static void deliver_all(struct soup *soup)
{
    void *mail[POOL];
    memcpy(mail, soup->pool, sizeof mail);
    memset(soup->pool, 0, sizeof soup->pool);
    for (uint32_t i = 0; i < POOL; i++) {
        struct tacit_elim_message const *const message = mail[i];
        if (message != NULL && message->to == TACIT_HUB)
            receive(soup, HUB, message, DEATH_NONE);
        for (uint32_t agent = 0; message != NULL && agent < AGENTS; agent++)
            if (message->to == agent || message->to == TACIT_EVERYONE)
                receive(soup, agent, message, DEATH_NONE);
        free(mail[i]);
    }
}

static void serve_all(struct soup *soup, uint32_t agent)
{
    struct node *const node = &soup->nodes[agent];
    struct tacit_pull_block plan[ARMS_MAX];
    uint32_t const count = node->plan_count;
    memcpy(plan, node->plan, count * sizeof *plan);
    node->plan_count = 0;
    for (uint32_t i = 0; i < count; i++)
        reward(soup, agent, plan[i].arm, plan[i].count,
               (int64_t)plan[i].count * (TACIT_STEPS / (2 + plan[i].arm)), DEATH_NONE);
}

/* One round of everything. Result: how many agents are at T. */
static uint32_t sweep(struct soup *soup, bool *is_stuck)
{
    uint32_t finished = 0;
    deliver_all(soup);
    soup->now_us += RESEND_US;
    step(soup, HUB, (struct tacit_event){.kind = TACIT_EVENT_TIMEOUT}, DEATH_NONE);
    for (uint32_t agent = 0; agent < AGENTS; agent++) {
        serve_all(soup, agent);
        step(soup, agent, (struct tacit_event){.kind = TACIT_EVENT_TIMEOUT}, DEATH_NONE);
        struct tacit_elim_agent_view const view = agent_view(soup->nodes[agent].state);
        struct tacit_elim_hub_view const hub = hub_view(soup->nodes[HUB].state);
        bool const refuses = soup->epoch_max > 0 && hub.epoch > soup->epoch_max;
        bool const is_out = view.finished || view.halted || view.releasing || refuses;
        *is_stuck = *is_stuck || (is_out && !hub.finished);
        finished += view.finished;
    }
    return finished;
}

/* Everybody restarts, nothing fails any more: then everybody reaches T, unless somebody who was
 * there before the hub came to its end, or who has no budget or may not go on, is waited for. */
static void heal(struct soup *soup)
{
    bool is_stuck = false;
    uint32_t finished = 0;
    soup->entropy_fails = false;
    for (uint32_t index = 0; index < NODES; index++)
        crash(soup, index);
    for (uint32_t i = 0; i < HEALING_SWEEPS && finished < AGENTS && !is_stuck; i++)
        finished = sweep(soup, &is_stuck);
    TACIT_ASSERT(finished == AGENTS || is_stuck);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct soup soup;
    open_soup(&soup, data, size);
    for (uint32_t agent = 0; agent < AGENTS; agent++)
        step(&soup, agent, (struct tacit_event){.kind = TACIT_EVENT_START}, DEATH_NONE);
    step(&soup, HUB, (struct tacit_event){.kind = TACIT_EVENT_START}, DEATH_NONE);
    while (soup.left > 0)
        random_event(&soup);
    if (!soup.was_deceived)
        heal(&soup);
    close_soup(&soup);
    return 0;
}
