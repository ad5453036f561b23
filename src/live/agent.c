/* The agent daemon: joins the run its policy allows, serves the core's plan, speaks with the hub.
 * All changes of a round of the loop are one batch; nothing leaves before they are durable. */
#include "agent_internal.h"
#include "entropy.h"
#include "log.h"
#include "topics.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RESEND_AFTER_US 2000000u

/* ---- Joining --------------------------------------------------------------------------------- */

static struct tacit_elim_agent_config core_config(const struct live_agent *agent)
{
    return (struct tacit_elim_agent_config){
        .run_id = agent->run.run_id,
        .agent_id = agent->run.agent,
        .agent_count = agent->run.agent_count,
        .arm_count = agent->run.arm_count,
        .horizon = agent->run.horizon,
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
    return NULL;
}

static bool same_run(const struct tacit_wire_announcement *a,
                     const struct tacit_wire_announcement *b)
{
    return a->run_id == b->run_id && a->agent == b->agent && a->agent_count == b->agent_count &&
           a->arm_count == b->arm_count && a->horizon == b->horizon &&
           a->epsilon_nano == b->epsilon_nano;
}

/* The numbers of the run, in the store under these names. */
static const char *const run_names[] = {"run_id",   "run_agent",   "run_agents",
                                        "run_arms", "run_horizon", "run_epsilon_nano"};

static void run_to_values(const struct tacit_wire_announcement *run, uint64_t values[6])
{
    values[0] = run->run_id;
    values[1] = run->agent;
    values[2] = run->agent_count;
    values[3] = run->arm_count;
    values[4] = run->horizon;
    values[5] = run->epsilon_nano;
}

static void run_from_values(struct tacit_wire_announcement *run, const uint64_t values[6])
{
    run->run_id = values[0];
    run->agent = (uint32_t)values[1];
    run->agent_count = (uint32_t)values[2];
    run->arm_count = (uint32_t)values[3];
    run->horizon = values[4];
    run->epsilon_nano = values[5];
}

static enum tacit_status make_core(struct live_agent *agent)
{
    struct tacit_elim_agent_config const config = core_config(agent);
    agent->core_size = tacit_elim_agent_size(&config);
    agent->core = agent->core_size == 0 ? NULL : calloc(1, agent->core_size);
    return agent->core == NULL ? TACIT_MEMORY : TACIT_OK;
}

static void join(struct live_agent *agent, const struct tacit_wire_announcement *run)
{
    uint64_t values[6];
    if (!live_daemon_begin(&agent->daemon))
        return;
    agent->run = *run;
    enum tacit_status status = make_core(agent);
    struct tacit_elim_agent_config const config = core_config(agent);
    if (status == TACIT_OK)
        status = tacit_elim_agent_init(agent->core, &config);
    run_to_values(run, values);
    for (size_t i = 0; i < 6 && status == TACIT_OK; i++)
        status = live_store_put_value(agent->daemon.store, run_names[i], values[i]);
    if (status != TACIT_OK) {
        live_daemon_fail(&agent->daemon, status, "the run cannot be joined");
        return;
    }
    agent->has_joined = true;
    agent->core_is_dirty = true;
    live_log(LIVE_LOG_INFO, "joined", "run %llu as site %u of %u: %u arms, %llu pulls",
             (unsigned long long)run->run_id, run->agent, run->agent_count, run->arm_count,
             (unsigned long long)run->horizon);
    (void)live_agent_step(agent, (struct tacit_elim_event){.kind = TACIT_ELIM_START});
}

static void refuse(struct live_agent *agent, const char *why)
{
    agent->refused_count++;
    live_log(LIVE_LOG_WARNING, "refused", "%s", why);
}

static void on_announcement(struct live_agent *agent, const uint8_t *bytes, size_t size)
{
    struct tacit_wire_announcement run;
    if (tacit_wire_announcement_decode(bytes, size, &run) != TACIT_OK) {
        refuse(agent, "an announcement that does not decode");
        return;
    }
    if (agent->has_joined) {
        if (!same_run(&agent->run, &run))
            refuse(agent, "another run is announced than the one that this state belongs to; a new "
                          "run needs a new state directory, and budgets on the same data add");
        return;
    }
    agent->refusal = policy_objection(agent, &run);
    if (agent->refusal != NULL)
        refuse(agent, agent->refusal);
    else
        join(agent, &run);
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
    if (!live_daemon_begin(&agent->daemon))
        return;
    enum tacit_status const status = live_store_put_release(agent->daemon.store, &release);
    if (status ==
        TACIT_INVALID) /* the store holds other bytes of this epoch: never send a second draw */
        live_daemon_fail(&agent->daemon, status, "a second release of one epoch");
    else if (status != TACIT_OK)
        live_daemon_fail(&agent->daemon, status, "a release cannot be written");
}

static void send_message(struct live_agent *agent, const struct tacit_elim_message *message)
{
    uint32_t const arms = agent->run.arm_count;
    uint32_t const agents = agent->run.agent_count;
    size_t const size = tacit_wire_elim_bytes(message, arms, agents);
    uint8_t *const bytes = malloc(size);
    if (bytes == NULL || tacit_wire_elim_encode(message, arms, agents, bytes) != TACIT_OK) {
        live_log(LIVE_LOG_WARNING, "memory", "a message was not sent now; it will be sent again");
    } else {
        struct live_topic const topic =
            live_topic_up(agent->config->federation, agent->config->site);
        if (message->kind == TACIT_ELIM_REPORT)
            keep_release(agent, message, bytes, size);
        if (agent->daemon.status == TACIT_OK)
            live_daemon_send(&agent->daemon, topic.text, bytes, size, false);
    }
    free(bytes);
}

/* Acknowledged by the hub: the outbox row is done. */
static void note_progress(struct live_agent *agent, const struct tacit_elim_agent_view *before,
                          const struct tacit_elim_agent_view *after)
{
    if (after->reported && !before->reported && live_daemon_begin(&agent->daemon))
        (void)live_store_acknowledge(agent->daemon.store, after->release_epoch);
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

enum tacit_status live_agent_step(struct live_agent *agent, struct tacit_elim_event event)
{
    struct tacit_entropy const entropy = live_entropy(LIVE_ENTROPY_NOISE);
    struct tacit_elim_agent_view before;
    struct tacit_elim_agent_view after;
    struct tacit_elim_update update;
    event.now_us = live_now_us();
    tacit_elim_agent_look(agent->core, &before);
    enum tacit_status const status = tacit_elim_agent_step(agent->core, &event, &entropy, &update);
    tacit_elim_agent_look(agent->core, &after);
    if (update.persist) {
        agent->core_is_dirty = live_daemon_begin(&agent->daemon);
        agent->ranking_is_stale = true;
    }
    note_progress(agent, &before, &after);
    if (update.send)
        send_message(agent, &update.message);
    if (update.plan_count > 0 || (after.halted && !before.halted)) /* halted: the plan is void */
        live_decisions_set_plan(agent->decisions, update.plan, update.plan_count, store_row, agent);
    live_timer_set(agent->core_timer, live_daemon_jitter(event.now_us, update.deadline_us));
    /* A first order, in a state that is new: ask at once whether the hub has seen more of this site
     * than that. If it has, the state was lost, and nothing may be released from this one
     * (PRIVACY.md D.9). */
    if (before.epoch == 0 && after.epoch > 0)
        (void)live_agent_step(agent, (struct tacit_elim_event){.kind = TACIT_ELIM_START});
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
        tacit_elim_agent_look(agent->core, &view);
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

static void on_message(struct live_agent *agent, uint32_t to, const uint8_t *bytes, size_t size)
{
    struct tacit_elim_message *message;
    if (!agent->has_joined)
        return; /* the announcement comes first */
    enum tacit_status status = tacit_wire_elim_decode(bytes, size, agent->run.arm_count,
                                                      agent->run.agent_count, to, &message);
    if (status == TACIT_OK) {
        status = live_agent_step(
            agent, (struct tacit_elim_event){.kind = TACIT_ELIM_RECEIVE, .as.message = message});
        free(message);
    }
    if (status != TACIT_OK)
        refuse(agent, tacit_status_text(status));
}

static void on_received(void *context, const char *topic, const uint8_t *bytes, size_t size)
{
    struct live_agent *const agent = context;
    struct live_agent_config const *const config = agent->config;
    if (strcmp(topic, live_topic_to(config->federation, config->site, "announce").text) == 0)
        on_announcement(agent, bytes, size);
    else if (strcmp(topic, live_topic_down(config->federation).text) == 0)
        on_message(agent, TACIT_ELIM_EVERYONE, bytes, size);
    else if (strcmp(topic, live_topic_to(config->federation, config->site, "elim").text) == 0)
        on_message(agent, agent->run.agent, bytes, size);
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
    if (agent->core != NULL) /* say again what may have been lost */
        (void)live_agent_step(agent, (struct tacit_elim_event){.kind = TACIT_ELIM_START});
}

static void on_disconnected(void *context, const char *reason)
{
    (void)context;
    live_log(LIVE_LOG_WARNING, "disconnected", "from the broker: %s", reason);
}

/* ---- Timers and rounds ----------------------------------------------------------------------- */

static void on_core_timer(void *context)
{
    (void)live_agent_step(context, (struct tacit_elim_event){.kind = TACIT_ELIM_TIMEOUT});
}

static void row_changed(void *context, const struct live_decision_row *row, bool is_forgotten)
{
    struct live_agent *const agent = context;
    if (!is_forgotten) {
        store_row(agent, row);
        return;
    }
    if (live_daemon_begin(&agent->daemon) &&
        live_store_drop_decision(agent->daemon.store, row->id) != TACIT_OK)
        live_daemon_fail(&agent->daemon, TACIT_IO, "a decision cannot be dropped");
}

static void on_expiry(void *context)
{
    struct live_agent *const agent = context;
    live_decisions_expire(agent->decisions, (uint64_t)time(NULL), row_changed, agent);
    live_timer_set(agent->expiry_timer, live_now_us() + 1000000u);
}

/* The core goes into the batch once a round, whatever number of rewards came. */
static void on_round_end(struct live_agent *agent)
{
    struct live_decisions_view view;
    if (!agent->core_is_dirty || !agent->daemon.batch_is_open)
        return;
    live_decisions_look(agent->decisions, &view);
    enum tacit_status status = TACIT_OK;
    if (agent->core != NULL) /* before a run is joined, ids are given all the same */
        status = live_store_put_core(agent->daemon.store, agent->core, agent->core_size);
    if (status == TACIT_OK)
        status = live_store_put_value(agent->daemon.store, "next_decision", view.next_id);
    if (status != TACIT_OK)
        live_daemon_fail(&agent->daemon, status, "the state cannot be written");
    agent->core_is_dirty = false;
}

static void prepare(void *context)
{
    on_round_end(context);
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
    uint64_t values[6] = {0};
    size_t kept;
    bool found = false;
    enum tacit_status status = TACIT_OK;
    for (size_t i = 0; i < 6 && status == TACIT_OK; i++)
        status = live_store_get_value(store, run_names[i], &values[i], &found);
    if (status != TACIT_OK || !found)
        return status;
    run_from_values(&agent->run, values);
    status = make_core(agent);
    struct tacit_elim_agent_config const config = core_config(agent);
    if (status == TACIT_OK)
        status = live_store_get_core(store, agent->core, agent->core_size, &kept);
    if (status == TACIT_OK)
        status = tacit_elim_agent_check(agent->core, kept, &config);
    agent->has_joined = status == TACIT_OK;
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
    if (agent->core_timer == NULL || agent->expiry_timer == NULL)
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
    free(agent->core);
}

enum tacit_status live_agent_run(const struct live_agent_config *config, struct tacit_error *error)
{
    struct live_agent agent = {.config = config};
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
        live_timer_set(agent.expiry_timer, live_now_us() + 1000000u);
        if (agent.core != NULL)
            (void)live_agent_step(&agent, (struct tacit_elim_event){.kind = TACIT_ELIM_START});
        live_log(LIVE_LOG_INFO, "started", "agent %s of %s", config->site, config->federation);
        status = live_daemon_run(&agent.daemon);
    }
    close_all(&agent);
    return status;
}
