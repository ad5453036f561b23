/* The agent daemon: joins the run its policy allows, serves the core's plan, speaks with the hub.
 * All changes of a round of the loop are one batch; nothing leaves before they are durable. */
#include "agent_internal.h"
#include "daemon/crash_point.h"
#include "daemon/entropy.h"
#include "daemon/log.h"
#include "bus/topics.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RESEND_AFTER_US 2000000u
#define CORE_BYTES_MAX (UINT64_C(1) << 28) /* what the store takes */
#define ANSWERS_US 1000000u /* so long a new peer waits for its neighbours' answers */
#define EXPIRY_US 1000000u
#define EXPIRY_PAUSE_US 1000u /* when more has expired than one round shall carry */

/* ---- Joining --------------------------------------------------------------------------------- */

static struct live_core_site site_of(const struct live_agent *agent)
{
    return (struct live_core_site){
        .mechanism = agent->mechanism,
        .budget_nano = (uint64_t)floor(agent->config->budget * (double)TACIT_NANO * (1 + 0x1p-52)),
        .resend_after_us = RESEND_AFTER_US,
        .epoch_max = agent->config->rounds_max};
}

/* What the coordinator announces against what this site allows. NULL: allowed. */
static const char *policy_objection(const struct live_agent *agent,
                                    const struct tacit_wire_announcement *run)
{
    struct live_agent_config const *const config = agent->config;
    if (run->arm_count != config->arm_count)
        return "the run has another number of arms than this site";
    if (run->agent_count > config->agents_max)
        return "the run has more sites than policy.agents_max";
    if (run->horizon > config->pulls_max)
        return "the run wants more pulls than policy.pulls_max";
    if (run->epsilon_nano > tacit_mechanism_cost_nano(&agent->mechanism))
        return "the run reckons with a larger epsilon per reward than policy.epsilon";
    /* A peer takes no row for possible that has more noise than its own. */
    if (run->network != NULL && run->epsilon_nano < tacit_mechanism_cost_nano(&agent->mechanism))
        return "the run reckons with a smaller epsilon per reward than policy.epsilon; among "
               "neighbours all have the same";
    return NULL;
}

static void refuse(struct live_agent *agent, const char *why)
{
    agent->refused_count++;
    live_log(LIVE_LOG_WARNING, "refused", "%s", why);
}

/* Under this name the store has the size of the core's block. */
static const char core_bytes_name[] = "core_bytes";

static void join(struct live_agent *agent, const uint8_t *announcement, size_t size)
{
    struct live_core_site const site = site_of(agent);
    size_t block_size;
    if (!live_daemon_begin(&agent->daemon))
        return;
    enum tacit_status status = live_core_new(&agent->core, &site, announcement, size);
    if (status == TACIT_MALFORMED) {
        agent->refusal = "the run does not fit into the messages of this network";
        refuse(agent, agent->refusal);
        return;
    }
    if (status == TACIT_OK) {
        (void)live_core_block(agent->core, &block_size);
        status = live_store_put_value(agent->daemon.store, core_bytes_name, block_size);
    }
    if (status != TACIT_OK) {
        live_daemon_fail(&agent->daemon, status, "the run cannot be joined");
        return;
    }
    struct tacit_wire_announcement const *const run = live_core_run(agent->core);
    agent->core_is_dirty = true;
    live_log(LIVE_LOG_INFO, "joined", "run %llu as site %u of %u: %u arms, %llu pulls%s",
             (unsigned long long)run->run_id, run->agent, run->agent_count, run->arm_count,
             (unsigned long long)run->horizon,
             run->network == NULL ? "" : ", with neighbours instead of a hub");
    (void)live_agent_step(agent, (struct tacit_elim_event){.kind = TACIT_EVENT_START});
}

static void say_where(struct live_agent *agent);
static void ask_around(struct live_agent *agent);

/* Says again what may have been lost. */
static void say_again(struct live_agent *agent)
{
    if (agent->plan_is_held) /* a restart: only now it is connected */
        ask_around(agent);
    (void)live_agent_step(agent, (struct tacit_elim_event){.kind = TACIT_EVENT_START});
    say_where(agent);
}

/* It comes when this site connects, and to all sites when the coordinator does: a report that got
 * lost with a crash of either is there again at once, and not when the core's patience ends. */
static void on_announcement(struct live_agent *agent, const uint8_t *bytes, size_t size)
{
    struct tacit_wire_announcement run;
    if (tacit_wire_announcement_decode(bytes, size, &run) != TACIT_OK) {
        refuse(agent, "an announcement that does not decode");
        return;
    }
    if (agent->core != NULL) {
        if (live_core_is_of(agent->core, bytes, size))
            say_again(agent);
        else
            refuse(agent, "another run is announced than the one that this state belongs to; a new "
                          "run needs a new state directory, and budgets on the same data add");
    } else {
        agent->refusal = policy_objection(agent, &run);
        if (agent->refusal != NULL)
            refuse(agent, agent->refusal);
        else
            join(agent, bytes, size);
    }
    free((void *)(uintptr_t)run.network);
}

/* ---- The core -------------------------------------------------------------------------------- */

static void store_row(void *context, const struct live_decision_row *row)
{
    struct live_agent *const agent = context;
    if (!live_daemon_begin(&agent->daemon))
        return;
    enum tacit_status const status = live_store_put_decision(agent->daemon.store, row);
    if (status != TACIT_OK)
        live_daemon_fail(&agent->daemon, status, "a decision cannot be written");
}

/* Outbox = ledger: the bytes are kept as they go out, and go out as they are kept. */
static void keep_release(struct live_agent *agent, const struct tacit_elim_message *report,
                         const uint8_t *bytes, size_t size)
{
    struct live_release const release = {.number = report->epoch,
                                         .epsilon_nano =
                                             tacit_mechanism_cost_nano(&agent->mechanism),
                                         .bytes = bytes,
                                         .size = size,
                                         .made_unix_s = (int64_t)time(NULL)};
    live_crash_point("release");
    if (!live_daemon_begin(&agent->daemon))
        return;
    enum tacit_status const status = live_store_put_release(agent->daemon.store, &release);
    if (status ==
        TACIT_INVALID) /* the store holds other bytes of this epoch: never send a second draw */
        live_daemon_fail(&agent->daemon, status, "a second release of one epoch");
    else if (status != TACIT_OK)
        live_daemon_fail(&agent->daemon, status, "a release cannot be written");
}

/* To the hub, or to one neighbour or all of them. */
static void publish(struct live_agent *agent, const struct tacit_elim_message *message,
                    const uint8_t *bytes, size_t size)
{
    char const *const federation = agent->config->federation;
    char const *const site = agent->config->site;
    struct tacit_wire_network const *const network = live_core_run(agent->core)->network;
    if (message->to == TACIT_HUB) {
        live_daemon_send(&agent->daemon, live_topic_up(federation, site).text, bytes, size, false);
        return;
    }
    for (uint32_t i = 0; network != NULL && i < network->neighbour_count; i++)
        if (message->to == TACIT_NEIGHBOURS || message->to == network->neighbours[i].agent)
            live_daemon_send(&agent->daemon,
                             live_topic_peer(federation, site, network->neighbours[i].site).text,
                             bytes, size, false);
}

static uint8_t *encode(const struct live_agent *agent, const struct tacit_elim_message *message,
                       size_t *size)
{
    struct tacit_wire_announcement const *const run = live_core_run(agent->core);
    *size = tacit_wire_elim_bytes(message, run->arm_count, run->agent_count);
    uint8_t *const bytes = malloc(*size);
    if (bytes != NULL &&
        tacit_wire_elim_encode(message, run->arm_count, run->agent_count, bytes) == TACIT_OK)
        return bytes;
    free(bytes);
    return NULL;
}

static void send_message(struct live_agent *agent, const struct tacit_elim_message *message)
{
    bool const is_star = live_core_run(agent->core)->network == NULL;
    size_t size;
    uint8_t *const bytes = encode(agent, message, &size);
    if (bytes == NULL) {
        live_log(LIVE_LOG_WARNING, "memory", "a message was not sent now; it will be sent again");
        return;
    }
    if (message->kind == TACIT_ELIM_REPORT && is_star)
        keep_release(agent, message, bytes, size);
    if (agent->daemon.status == TACIT_OK)
        publish(agent, message, bytes, size);
    free(bytes);
}

/* A peer's release goes out in rows, alone or among others'; it is kept in the form of a report. */
static void keep_peer_release(struct live_agent *agent)
{
    struct tacit_elim_message const report = live_core_release(agent->core);
    size_t size;
    uint8_t *const bytes = encode(agent, &report, &size);
    if (bytes == NULL)
        live_daemon_fail(&agent->daemon, TACIT_MEMORY, "a release cannot be written");
    else
        keep_release(agent, &report, bytes, size);
    free(bytes);
}

static bool judges_for_itself(const struct live_agent *agent)
{
    struct tacit_wire_announcement const *const run = live_core_run(agent->core);
    return run->network != NULL && run->network->collection == TACIT_ELIM_SPREAD;
}

/* The coordinator of peers that judge for themselves is told where they are, for its status. */
static void say_where(struct live_agent *agent)
{
    struct tacit_wire_announcement const *const run = live_core_run(agent->core);
    struct tacit_elim_agent_view view;
    if (!judges_for_itself(agent))
        return;
    live_core_look(agent->core, &view);
    struct tacit_elim_message const hello = {.kind = TACIT_ELIM_HELLO,
                                             .from = run->agent,
                                             .to = TACIT_HUB,
                                             .run_id = run->run_id,
                                             .epoch = view.epoch};
    send_message(agent, &hello);
}

/* The plan waits for the answers to the START that follows. A parent that holds nothing of the
 * present epoch yet would say nothing: it is asked for the epoch before, too. */
static void ask_around(struct live_agent *agent)
{
    struct tacit_wire_announcement const *const run = live_core_run(agent->core);
    bool const has_parent =
        run->network->collection == TACIT_ELIM_GATHER && run->network->parent != run->agent;
    agent->plan_is_held = true;
    live_timer_set(agent->answers_timer, live_now_us() + ANSWERS_US);
    uint64_t *const nobody =
        has_parent ? calloc(TACIT_BITS_WORDS(run->agent_count), sizeof *nobody) : NULL;
    struct tacit_elim_message const hello = {.kind = TACIT_ELIM_HELLO,
                                             .from = run->agent,
                                             .to = run->network->parent,
                                             .run_id = run->run_id,
                                             .origins = nobody};
    if (nobody != NULL)
        send_message(agent, &hello);
    free(nobody);
}

/* Whoever judges for itself and goes on to the next epoch knows that all had its report. */
static void note_peer_progress(struct live_agent *agent, const struct tacit_elim_agent_view *before,
                               const struct tacit_elim_agent_view *after)
{
    if (live_core_run(agent->core)->network == NULL)
        return;
    if (after->release_epoch != before->release_epoch)
        keep_peer_release(agent);
    if (!judges_for_itself(agent) || after->epoch == before->epoch)
        return;
    if (after->release_epoch > agent->acknowledged_epoch && live_daemon_begin(&agent->daemon)) {
        agent->acknowledged_epoch = (uint32_t)after->release_epoch;
        (void)live_store_acknowledge(agent->daemon.store, after->release_epoch);
    }
    say_where(agent);
}

/* A word to this site alone says which report the hub holds last: that row of the outbox is done.
 * It need not be of the present epoch: the one whose report ends a round hears of it with the next
 * order. */
static void note_seen(struct live_agent *agent, const struct tacit_elim_message *order)
{
    if (order->kind != TACIT_ELIM_ORDER || order->to == TACIT_EVERYONE ||
        order->seen <= agent->acknowledged_epoch || !live_daemon_begin(&agent->daemon))
        return;
    agent->acknowledged_epoch = order->seen;
    (void)live_store_acknowledge(agent->daemon.store, order->seen);
}

static void note_progress(const struct tacit_elim_agent_view *before,
                          const struct tacit_elim_agent_view *after)
{
    if (after->epoch != before->epoch)
        live_log(LIVE_LOG_INFO, "order", "epoch %u: %u arms are in%s", after->epoch,
                 after->active_count, after->last ? "; it is decided" : "");
    if (after->release_epoch != before->release_epoch)
        live_log(LIVE_LOG_INFO, "release", "epoch %llu, total loss %llu nano-epsilon",
                 (unsigned long long)after->release_epoch,
                 (unsigned long long)tacit_ledger_spent_nano(after->ledger));
    if (after->halted && !before->halted)
        live_log(LIVE_LOG_ERROR, "halted", "nothing is released any more; see the status");
}

/* Open decisions for which a new plan has no room any more. */
struct leftovers {
    struct live_agent *agent;
    uint64_t count;
};

static void store_leftover(void *context, const struct live_decision_row *row)
{
    struct leftovers *const leftovers = context;
    leftovers->count++;
    store_row(leftovers->agent, row);
}

enum tacit_status live_agent_step(struct live_agent *agent, struct tacit_elim_event event)
{
    struct tacit_entropy const entropy = live_entropy(LIVE_ENTROPY_NOISE);
    struct leftovers leftovers = {.agent = agent};
    struct tacit_elim_agent_view before;
    struct tacit_elim_agent_view after;
    struct tacit_elim_update update;
    event.now_us = live_now_us();
    live_core_look(agent->core, &before);
    enum tacit_status const status = live_core_step(agent->core, &event, &entropy, &update);
    live_core_look(agent->core, &after);
    if (update.persist) {
        agent->core_is_dirty = live_daemon_begin(&agent->daemon);
        agent->ranking_is_stale = true;
    }
    note_progress(&before, &after);
    note_peer_progress(agent, &before, &after);
    if (update.send)
        send_message(agent, &update.message);
    /* A first order, in a state that is new: ask at once whether anybody has seen more of this site
     * than that. If so, the state was lost, and nothing may be released from this one (PRIVACY.md
     * D.9). A hub always answers; neighbours only if they have, so a peer waits before it plays. */
    bool const is_first_order = before.epoch == 0 && after.epoch > 0;
    if (is_first_order && live_core_run(agent->core)->network != NULL)
        ask_around(agent);
    bool const has_plan = update.plan_count > 0 && !agent->plan_is_held;
    if (has_plan || (after.halted && !before.halted)) /* halted: the plan is void */
        live_decisions_set_plan(agent->decisions, update.plan, update.plan_count, store_leftover,
                                &leftovers);
    if (update.deadline_us != agent->core_deadline_us) { /* most rewards leave it as it is */
        agent->core_deadline_us = update.deadline_us;
        live_timer_set(agent->core_timer, live_daemon_jitter(event.now_us, update.deadline_us));
    }
    if (is_first_order)
        (void)live_agent_step(agent, (struct tacit_elim_event){.kind = TACIT_EVENT_START});
    if (leftovers.count > 0) /* they are pulls all the same, from now on beside the plan */
        (void)live_agent_step(agent,
                              (struct tacit_elim_event){.kind = TACIT_EVENT_EXPLOITED,
                                                        .as.exploited_count = leftovers.count});
    return status;
}

static int compare_noised(const void *left, const void *right, void *context)
{
    union tacit_sum const *const noised = context;
    uint32_t const a = *(const uint32_t *)left;
    uint32_t const b = *(const uint32_t *)right;
    if (noised[a].steps != noised[b].steps)
        return noised[a].steps > noised[b].steps ? -1 : 1;
    return a < b ? -1 : a > b;
}

struct live_fallback live_agent_fallback(struct live_agent *agent)
{
    uint32_t const arms = agent->config->arm_count;
    struct tacit_elim_agent_view view = {0};
    if (agent->core != NULL)
        live_core_look(agent->core, &view);
    if (agent->ranking_is_stale) {
        agent->active_count = 0;
        for (uint32_t arm = 0; arm < arms; arm++)
            if (view.arms == NULL || tacit_bits_has(view.arms, arm))
                agent->ranking[agent->active_count++] = arm;
        if (view.noised != NULL)
            qsort_r(agent->ranking, agent->active_count, sizeof *agent->ranking, compare_noised,
                    (void *)(uintptr_t)view.noised);
        tacit_bits_fill(agent->active, arms);
        if (view.arms != NULL)
            memcpy(agent->active, view.arms, TACIT_BITS_WORDS(arms) * sizeof(uint64_t));
        agent->ranking_is_stale = false;
    }
    return (struct live_fallback){agent->active, agent->ranking, agent->active_count,
                                  view.last || view.finished};
}

/* ---- The broker ------------------------------------------------------------------------------ */

/* from: who says it, by its topic; the broker lets a certificate write under its own name only. */
static void on_message(struct live_agent *agent, uint32_t from, uint32_t to, const uint8_t *bytes,
                       size_t size)
{
    struct tacit_elim_message *message;
    if (agent->core == NULL)
        return; /* the announcement comes first */
    struct tacit_wire_announcement const *const run = live_core_run(agent->core);
    enum tacit_status status =
        tacit_wire_elim_decode(bytes, size, run->arm_count, run->agent_count,
                               to == TACIT_NEIGHBOURS ? run->agent : to, &message);
    if (status == TACIT_OK) {
        status = message->from != from
                     ? TACIT_STRANGER
                     : live_agent_step(agent, (struct tacit_elim_event){.kind = TACIT_EVENT_RECEIVE,
                                                                        .as.message = message});
        bool const is_heard =
            status == TACIT_OK || status == TACIT_REFUSED; /* more rounds than allowed */
        if (is_heard && from == TACIT_HUB)
            note_seen(agent, message);
        free(message);
    }
    if (status != TACIT_OK)
        refuse(agent, tacit_status_text(status));
}

static void on_peer_message(struct live_agent *agent, const char *from, const uint8_t *bytes,
                            size_t size)
{
    struct tacit_wire_network const *const network =
        agent->core == NULL ? NULL : live_core_run(agent->core)->network;
    for (uint32_t i = 0; network != NULL && i < network->neighbour_count; i++) {
        if (strcmp(network->neighbours[i].site, from) == 0) {
            on_message(agent, network->neighbours[i].agent, TACIT_NEIGHBOURS, bytes, size);
            return;
        }
    }
    if (agent->core != NULL)
        refuse(agent, "a message of a site that is no neighbour");
}

static void on_received(void *context, const char *topic, const uint8_t *bytes, size_t size)
{
    struct live_agent *const agent = context;
    struct live_agent_config const *const config = agent->config;
    uint32_t const self = agent->core == NULL ? 0 : live_core_run(agent->core)->agent;
    char from[65];
    if (strcmp(topic, live_topic_to(config->federation, config->site, "announce").text) == 0)
        on_announcement(agent, bytes, size);
    else if (strcmp(topic, live_topic_down(config->federation).text) == 0)
        on_message(agent, TACIT_HUB, TACIT_EVERYONE, bytes, size);
    else if (strcmp(topic, live_topic_to(config->federation, config->site, "elim").text) == 0)
        on_message(agent, TACIT_HUB, self, bytes, size);
    else if (live_topic_peer_from(topic, config->federation, config->site, from))
        on_peer_message(agent, from, bytes, size);
}

static void on_connected(void *context)
{
    struct live_agent *const agent = context;
    char const *const federation = agent->config->federation;
    char const *const site = agent->config->site;
    live_log(LIVE_LOG_INFO, "connected", "to the broker");
    (void)live_bus_subscribe(agent->daemon.bus, live_topic_to(federation, site, "announce").text);
    (void)live_bus_subscribe(agent->daemon.bus, live_topic_to(federation, site, "elim").text);
    (void)live_bus_subscribe(agent->daemon.bus, live_topic_down(federation).text);
    (void)live_bus_subscribe(agent->daemon.bus, live_topic_peer(federation, "+", site).text);
}

static void on_disconnected(void *context, const char *reason)
{
    (void)context;
    live_log(LIVE_LOG_WARNING, "disconnected", "from the broker: %s", reason);
}

/* ---- Timers and rounds ----------------------------------------------------------------------- */

static void on_core_timer(void *context)
{
    struct live_agent *const agent = context;
    agent->core_deadline_us = TACIT_NEVER; /* it has come: what stands is no longer set */
    (void)live_agent_step(agent, (struct tacit_elim_event){.kind = TACIT_EVENT_TIMEOUT});
}

/* Nobody has spoken up: START gives the plan. */
static void on_answers_timer(void *context)
{
    struct live_agent *const agent = context;
    agent->plan_is_held = false;
    (void)live_agent_step(agent, (struct tacit_elim_event){.kind = TACIT_EVENT_START});
}

static void row_changed(void *context, const struct live_decision_row *row, bool is_forgotten)
{
    struct live_agent *const agent = context;
    if (!is_forgotten) {
        store_row(agent, row);
        return;
    }
    agent->has_forgotten = true;
    if (live_daemon_begin(&agent->daemon) &&
        live_store_drop_decision(agent->daemon.store, row->id) != TACIT_OK)
        live_daemon_fail(&agent->daemon, TACIT_IO, "a decision cannot be dropped");
}

static void on_expiry(void *context)
{
    struct live_agent *const agent = context;
    bool const is_done =
        live_decisions_expire(agent->decisions, (uint64_t)time(NULL), row_changed, agent);
    live_timer_set(agent->expiry_timer, live_now_us() + (is_done ? EXPIRY_US : EXPIRY_PAUSE_US));
}

/* The core goes into the batch once a round, whatever number of rewards came. The next id is behind
 * the last row, so it is written only when rows go. */
static void prepare(void *context)
{
    struct live_agent *const agent = context;
    struct live_decisions_view view;
    enum tacit_status status = TACIT_OK;
    if (!agent->daemon.batch_is_open)
        return;
    if (agent->core_is_dirty) {
        size_t size;
        void const *const block = live_core_block(agent->core, &size);
        status = live_store_put_core(agent->daemon.store, block, size);
    }
    live_decisions_look(agent->decisions, &view);
    if (status == TACIT_OK && agent->has_forgotten)
        status = live_store_put_value(agent->daemon.store, "next_decision", view.next_id);
    if (status != TACIT_OK)
        live_daemon_fail(&agent->daemon, status, "the state cannot be written");
    agent->core_is_dirty = false;
    agent->has_forgotten = false;
}

static void release(void *context, bool durable)
{
    struct live_agent *const agent = context;
    if (agent->api != NULL)
        live_api_release(agent->api, durable);
}

/* ---- Start ----------------------------------------------------------------------------------- */

static bool restore_row(void *context, const struct live_decision_row *row)
{
    struct live_agent *const agent = context;
    enum tacit_status const status = live_decisions_restore(agent->decisions, row);
    if (status != TACIT_OK)
        agent->daemon.status = status;
    return status == TACIT_OK;
}

static bool restore_unit(void *context, const char *unit, uint32_t arm)
{
    struct live_agent *const agent = context;
    enum tacit_status const status = live_decisions_restore_unit(agent->decisions, unit, arm);
    if (status != TACIT_OK)
        agent->daemon.status = status;
    return status == TACIT_OK;
}

static enum tacit_status restore_decisions(struct live_agent *agent)
{
    struct live_store *const store = agent->daemon.store;
    uint64_t next_id = 1;
    bool found;
    enum tacit_status status = live_store_decisions(store, restore_row, agent);
    if (status == TACIT_OK)
        status = live_store_units(store, restore_unit, agent);
    if (status == TACIT_OK)
        status = agent->daemon.status;
    if (status == TACIT_OK)
        status = live_store_get_value(store, "next_decision", &next_id, &found);
    if (status == TACIT_OK && found)
        live_decisions_set_next_id(agent->decisions, next_id);
    return status;
}

static enum tacit_status restore_core(struct live_agent *agent)
{
    struct live_store *const store = agent->daemon.store;
    struct live_core_site const site = site_of(agent);
    uint64_t size = 0;
    size_t kept = 0;
    bool found = false;
    enum tacit_status status = live_store_get_value(store, core_bytes_name, &size, &found);
    if (status != TACIT_OK || !found)
        return status;
    void *const block = malloc(size < CORE_BYTES_MAX ? (size_t)size + 1 : 1);
    if (block == NULL)
        return TACIT_MEMORY;
    status = size < CORE_BYTES_MAX ? live_store_get_core(store, block, (size_t)size, &kept)
                                   : TACIT_MALFORMED;
    if (status == TACIT_OK)
        status = live_core_restore(&agent->core, &site, block, kept);
    free(block);
    if (status == TACIT_OK) {
        struct tacit_elim_agent_view view;
        live_core_look(agent->core, &view);
        agent->plan_is_held =
            live_core_run(agent->core)->network != NULL && view.release_epoch == 0;
    }
    return status;
}

/* What may not change while there is state: it would change what was promised. */
static enum tacit_status describe(const struct live_agent_config *config, uint8_t digest[32])
{
    char *text = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&text, &size);
    if (out == NULL)
        return TACIT_MEMORY;
    (void)fprintf(out, "epsilon %.17g budget %.17g range %.17g %.17g rounds %u\n", config->epsilon,
                  config->budget, config->lo, config->hi, config->rounds_max);
    for (uint32_t arm = 0; arm < config->arm_count; arm++)
        (void)fprintf(out, "arm %s\n", config->arm_names[arm]);
    if (fclose(out) != 0)
        return TACIT_MEMORY;
    enum tacit_status const status = live_digest(text, digest);
    free(text);
    return status;
}

static enum tacit_status restore(struct live_agent *agent, struct tacit_error *error)
{
    struct live_agent_config const *const config = agent->config;
    struct live_decisions_config const decisions = {.arm_count = config->arm_count,
                                                    .open_max = config->open_max,
                                                    .units_max = config->units_max,
                                                    .deadline_s = config->deadline_s,
                                                    .remember_s = config->remember_s};
    struct tacit_mechanism_config const mechanism = {TACIT_PRIVACY_SOUND, config->epsilon,
                                                     config->lo, config->hi};
    agent->decisions = live_decisions_new(&decisions);
    agent->ranking = calloc(config->arm_count, sizeof *agent->ranking);
    agent->active = calloc(TACIT_BITS_WORDS(config->arm_count), sizeof *agent->active);
    agent->ranking_is_stale = true;
    if (agent->decisions == NULL || agent->ranking == NULL || agent->active == NULL)
        return TACIT_MEMORY;
    enum tacit_status status = tacit_mechanism_init(&agent->mechanism, &mechanism);
    if (status == TACIT_OK)
        status = restore_decisions(agent);
    if (status == TACIT_OK)
        status = restore_core(agent);
    if (status != TACIT_OK)
        (void)snprintf(error->text, sizeof error->text, "%s: the state cannot be restored: %s",
                       config->state_directory, tacit_status_text(status));
    return status;
}

static enum tacit_status open_all(struct live_agent *agent, struct tacit_error *error)
{
    struct live_agent_config const *const config = agent->config;
    struct live_daemon *const daemon = &agent->daemon;
    struct live_bus_events const events = {agent, on_connected, on_disconnected, on_received};
    struct live_api_config const api = {config->arm_count, config->arm_names,
                                        live_agent_api(agent)};
    daemon->context = agent;
    daemon->prepare = prepare;
    daemon->release = release;
    agent->core_timer = live_timer_new(daemon->loop, on_core_timer, agent);
    agent->expiry_timer = live_timer_new(daemon->loop, on_expiry, agent);
    agent->answers_timer = live_timer_new(daemon->loop, on_answers_timer, agent);
    if (agent->core_timer == NULL || agent->expiry_timer == NULL || agent->answers_timer == NULL)
        return TACIT_MEMORY;
    enum tacit_status status = live_api_new(&agent->api, &api);
    if (status == TACIT_OK)
        status = live_http_open(&daemon->http, daemon->loop, &config->api, live_api_handle,
                                agent->api, error);
    if (status == TACIT_OK)
        status = live_bus_open(&daemon->bus, daemon->loop, &config->bus, &events, error);
    return status;
}

static void close_all(struct live_agent *agent)
{
    agent->daemon.release = NULL;
    if (agent->api != NULL)
        live_api_free(agent->api);
    live_daemon_close(&agent->daemon);
    live_decisions_free(agent->decisions);
    free(agent->ranking);
    free(agent->active);
    live_core_free(agent->core);
}

enum tacit_status live_agent_run(const struct live_agent_config *config, struct tacit_error *error)
{
    struct live_agent agent = {.config = config, .core_deadline_us = TACIT_NEVER};
    struct live_store_identity identity = {
        .role = "agent", .federation = config->federation, .site = config->site};
    enum tacit_status status = describe(config, identity.config_digest);
    if (status == TACIT_OK)
        status = live_daemon_open(&agent.daemon, config->state_directory, &identity, error);
    if (status != TACIT_OK)
        return status;
    status = restore(&agent, error);
    if (status == TACIT_OK)
        status = open_all(&agent, error);
    if (status == TACIT_OK) {
        live_timer_set(agent.expiry_timer, live_now_us() + EXPIRY_US);
        if (agent.core != NULL)
            (void)live_agent_step(&agent, (struct tacit_elim_event){.kind = TACIT_EVENT_START});
        live_log(LIVE_LOG_INFO, "started", "agent %s of %s", config->site, config->federation);
        status = live_daemon_run(&agent.daemon);
    }
    close_all(&agent);
    return status;
}
