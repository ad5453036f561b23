/* The coordinator: hub core, roster, status. What it does is a function of the reports it accepted;
 * all of it is durable before the next order is given. Where the sites of a graph judge for
 * themselves there is no hub: it announces the run, and hears from the sites where they are. */
#include "coordinator.h"
#include "daemon.h"
#include "daemon/entropy.h"
#include "invitation.h"
#include "daemon/log.h"
#include "status_page.h"
#include "tacit/wire.h"
#include "bus/topics.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOBODY UINT32_MAX

struct coordinator {
    const struct live_coordinator_config *config;
    struct live_daemon daemon;
    struct live_timer *timer;
    struct tacit_elim_hub *hub; /* NULL: there is none */
    size_t hub_size;
    uint32_t *weights; /* of the sinks of a hybrid; else NULL */
    /* Without a hub, by site and by arm: */
    uint32_t *told_epochs;
    uint64_t *nobody;
    uint64_t *all_arms;
    double *no_means;
    uint32_t *no_epochs;
    bool hub_is_dirty; /* changed in this round: put it once, at the end */
    uint64_t refused_count;
    uint64_t accepted_count;
};

static bool has_hub(const struct live_coordinator_config *config)
{
    return config->network == NULL || config->network->collection == TACIT_ELIM_GATHER;
}

static struct tacit_elim_hub_config hub_config(const struct live_coordinator_config *config,
                                               const uint32_t *weights)
{
    struct tacit_mechanism_config const mechanism = {TACIT_PRIVACY_SOUND, config->epsilon, 0, 1};
    struct tacit_elim_hub_config made = {
        .run_id = config->run_id,
        .agent_count = config->site_count,
        .schedule = {.arm_count = config->arm_count,
                     .report_count = config->report_count,
                     .horizon = config->horizon,
                     .epsilon_per_reward = config->epsilon,
                     .round_limit = config->round_limit,
                     .gap = config->round_limit > 0 ? config->gap : 1},
        .quorum = config->quorum,
        .round_timeout_us = (uint64_t)config->deadline_s * 1000000u,
        .answers_all = true,
        .weights = weights,
        .components_alike = config->network != NULL && config->network->components_alike};
    /* Checked when the file was read; the hub reads sums of any range alike, in steps. */
    TACIT_ASSERT(tacit_mechanism_init(&made.mechanism, &mechanism) == TACIT_OK);
    return made;
}

/* ---- Saying ---------------------------------------------------------------------------------- */

static enum tacit_status step(struct coordinator *coordinator, struct tacit_elim_event event);

/* The order to everyone that ends a round does not say whose reports were counted, and whose report
 * ended it has had no other answer. The hub tells it what it would tell it if it asked. */
static void answer_last_reporter(struct coordinator *coordinator, uint32_t site)
{
    struct tacit_elim_hub_view view;
    tacit_elim_hub_look(coordinator->hub, &view);
    struct tacit_elim_message const question = {.kind = TACIT_ELIM_HELLO,
                                                .from = site,
                                                .to = TACIT_HUB,
                                                .run_id = coordinator->config->run_id,
                                                .epoch = view.epoch};
    (void)step(coordinator,
               (struct tacit_elim_event){.kind = TACIT_EVENT_RECEIVE, .as.message = &question});
}

/* last_reporter: whose report ended the round, or NOBODY. It is answered first, so that it hears of
 * the next order and that it was counted in one message. */
static void send_order(struct coordinator *coordinator, const struct tacit_elim_message *order,
                       uint32_t last_reporter)
{
    struct live_coordinator_config const *const config = coordinator->config;
    size_t const size = tacit_wire_elim_bytes(order, config->arm_count, config->site_count);
    bool const is_broadcast = order->to == TACIT_EVERYONE;
    struct live_topic const topic =
        is_broadcast ? live_topic_down(config->federation)
                     : live_topic_to(config->federation, config->sites[order->to], "elim");
    uint8_t *const bytes = malloc(size);
    if (bytes == NULL ||
        tacit_wire_elim_encode(order, config->arm_count, config->site_count, bytes) != TACIT_OK) {
        live_log(LIVE_LOG_WARNING, "memory", "an order was not sent; sites will ask again");
    } else {
        if (last_reporter != NOBODY) /* a step: the order's sets are not looked at any more */
            answer_last_reporter(coordinator, last_reporter);
        live_daemon_send(&coordinator->daemon, topic.text, bytes, size, is_broadcast);
    }
    free(bytes);
    if (is_broadcast)
        live_log(LIVE_LOG_INFO, "order", "epoch %u%s, each arm to %llu pulls", order->epoch,
                 order->last ? ", the last" : "", (unsigned long long)order->pulls);
}

static void announce(struct coordinator *coordinator)
{
    struct live_coordinator_config const *const config = coordinator->config;
    struct tacit_elim_hub_config const hub = hub_config(config, NULL);
    for (uint32_t site = 0; site < config->site_count; site++) {
        struct live_topic const topic =
            live_topic_to(config->federation, config->sites[site], "announce");
        size_t size;
        uint8_t *const bytes =
            live_invitation(config, tacit_mechanism_cost_nano(&hub.mechanism), site, &size);
        if (bytes == NULL)
            live_log(LIVE_LOG_WARNING, "memory", "%s was not invited; a restart invites again",
                     config->sites[site]);
        else
            live_daemon_send(&coordinator->daemon, topic.text, bytes, size, true);
        free(bytes);
    }
}

/* ---- Steps ----------------------------------------------------------------------------------- */

/* A site that judges for itself says where it is. It is shown, and nothing else comes of it. */
static enum tacit_status hear(struct coordinator *coordinator,
                              const struct tacit_elim_message *message)
{
    if (message->run_id != coordinator->config->run_id)
        return TACIT_STRANGER;
    if (message->kind != TACIT_ELIM_HELLO)
        return TACIT_UNEXPECTED;
    if (message->epoch > coordinator->told_epochs[message->from])
        coordinator->told_epochs[message->from] = message->epoch;
    return TACIT_OK;
}

static enum tacit_status step(struct coordinator *coordinator, struct tacit_elim_event event)
{
    if (coordinator->hub == NULL)
        return event.kind == TACIT_EVENT_RECEIVE ? hear(coordinator, event.as.message) : TACIT_OK;
    struct tacit_entropy const entropy = live_entropy(LIVE_ENTROPY_DECISIONS);
    struct tacit_elim_update update;
    event.now_us = live_now_us();
    enum tacit_status const status =
        tacit_elim_hub_step(coordinator->hub, &event, &entropy, &update);
    if (update.persist && live_daemon_begin(&coordinator->daemon))
        coordinator->hub_is_dirty = true;
    bool const ends_round =
        event.kind == TACIT_EVENT_RECEIVE && update.send && update.message.to == TACIT_EVERYONE;
    if (update.send)
        send_order(coordinator, &update.message, ends_round ? event.as.message->from : NOBODY);
    /* Without entropy nothing changed, and the deadline that is over still stands: try again soon.
     */
    live_timer_set(coordinator->timer,
                   status == TACIT_ENTROPY ? event.now_us + 1000000u : update.deadline_us);
    return status;
}

/* The hub goes into the batch once a round, whatever number of reports came. */
static void prepare(void *context)
{
    struct coordinator *const coordinator = context;
    if (!coordinator->hub_is_dirty || !coordinator->daemon.batch_is_open)
        return;
    enum tacit_status const status =
        live_store_put_core(coordinator->daemon.store, coordinator->hub, coordinator->hub_size);
    if (status != TACIT_OK)
        live_daemon_fail(&coordinator->daemon, status, "the state cannot be written");
    coordinator->hub_is_dirty = false;
}

static void on_timer(void *context)
{
    struct coordinator *const coordinator = context;
    struct tacit_elim_hub_view view;
    if (coordinator->hub == NULL)
        return;
    (void)step(coordinator, (struct tacit_elim_event){.kind = TACIT_EVENT_TIMEOUT});
    tacit_elim_hub_look(coordinator->hub, &view);
    if (view.overdue)
        live_log(LIVE_LOG_WARNING, "waiting", "epoch %u: %u of the %u sites of the quorum reported",
                 view.epoch, view.covered_count, coordinator->config->quorum);
}

static uint32_t site_index(const struct live_coordinator_config *config, const char *name)
{
    for (uint32_t site = 0; site < config->site_count; site++)
        if (strcmp(config->sites[site], name) == 0)
            return site;
    return UINT32_MAX;
}

static void refuse(struct coordinator *coordinator, const char *site, const char *why)
{
    coordinator->refused_count++;
    live_log(LIVE_LOG_WARNING, "refused", "a message from %s: %s", site, why);
}

/* The identity of a sender is its topic: the broker lets a certificate write under its own name
 * only. */
static void on_received(void *context, const char *topic, const uint8_t *bytes, size_t size)
{
    struct coordinator *const coordinator = context;
    struct live_coordinator_config const *const config = coordinator->config;
    struct tacit_elim_message *message;
    char name[65];
    if (!live_topic_site(topic, config->federation, name))
        return;
    uint32_t const site = site_index(config, name);
    if (site == UINT32_MAX) {
        refuse(coordinator, name, "not in the roster");
        return;
    }
    enum tacit_status status = tacit_wire_elim_decode(bytes, size, config->arm_count,
                                                      config->site_count, TACIT_HUB, &message);
    if (status == TACIT_OK) {
        status = message->from != site
                     ? TACIT_STRANGER
                     : step(coordinator, (struct tacit_elim_event){.kind = TACIT_EVENT_RECEIVE,
                                                                   .as.message = message});
        free(message);
    }
    if (status == TACIT_OK)
        coordinator->accepted_count++;
    else
        refuse(coordinator, name, tacit_status_text(status));
}

/* ---- The broker ------------------------------------------------------------------------------ */

static void send_standing_order(struct coordinator *coordinator)
{
    announce(coordinator);
    /* START again only says the standing order again: retained state may be gone with the broker.
     */
    (void)step(coordinator, (struct tacit_elim_event){.kind = TACIT_EVENT_START});
}

static void on_connected(void *context)
{
    struct coordinator *const coordinator = context;
    struct live_topic const topic = live_topic_all_up(coordinator->config->federation);
    live_log(LIVE_LOG_INFO, "connected", "to the broker");
    (void)live_bus_subscribe(coordinator->daemon.bus, topic.text);
    send_standing_order(coordinator);
}

static void on_disconnected(void *context, const char *reason)
{
    (void)context;
    live_log(LIVE_LOG_WARNING, "disconnected", "from the broker: %s", reason);
}

/* ---- Status ---------------------------------------------------------------------------------- */

/* What there is to see without a hub. */
static struct tacit_elim_hub_view look_at_sites(const struct coordinator *coordinator)
{
    struct live_coordinator_config const *const config = coordinator->config;
    struct tacit_elim_hub_view view = {.arms = coordinator->all_arms,
                                       .active_count = config->arm_count,
                                       .uploaders = coordinator->nobody,
                                       .received = coordinator->nobody,
                                       .seen = coordinator->told_epochs,
                                       .means = coordinator->no_means,
                                       .eliminated = coordinator->no_epochs};
    for (uint32_t site = 0; site < config->site_count; site++)
        view.epoch = coordinator->told_epochs[site] > view.epoch ? coordinator->told_epochs[site]
                                                                 : view.epoch;
    return view;
}

static void on_request(void *context, struct live_request *request)
{
    struct coordinator *const coordinator = context;
    struct tacit_elim_hub_view view;
    if (coordinator->hub == NULL)
        view = look_at_sites(coordinator);
    else
        tacit_elim_hub_look(coordinator->hub, &view);
    struct live_status const status = {.config = coordinator->config,
                                       .hub = &view,
                                       .has_hub = coordinator->hub != NULL,
                                       .is_connected =
                                           live_bus_is_connected(coordinator->daemon.bus),
                                       .accepted_count = coordinator->accepted_count,
                                       .refused_count = coordinator->refused_count};
    live_status_answer(&status, request);
}

/* ---- Start ----------------------------------------------------------------------------------- */

static void describe_network(const struct live_coordinator_config *config, FILE *out)
{
    struct tacit_elim_network const *const network = config->network;
    if (network == NULL)
        return;
    (void)fprintf(out, "network %d %d\n", (int)network->collection, network->components_alike);
    for (uint32_t site = 0; site < config->site_count; site++)
        for (uint64_t i = network->graph->first[site]; i < network->graph->first[site + 1]; i++)
            (void)fprintf(out, "edge %u %u\n", site, network->graph->neighbours[i]);
}

static enum tacit_status describe(const struct live_coordinator_config *config, uint8_t digest[32])
{
    char *text = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&text, &size);
    if (out == NULL)
        return TACIT_MEMORY;
    (void)fprintf(out,
                  "run %llu horizon %llu epsilon %.17g reports %u rounds %u gap %.17g quorum %u "
                  "deadline %u\n",
                  (unsigned long long)config->run_id, (unsigned long long)config->horizon,
                  config->epsilon, config->report_count, config->round_limit, config->gap,
                  config->quorum, config->deadline_s);
    for (uint32_t site = 0; site < config->site_count; site++)
        (void)fprintf(out, "site %s\n", config->sites[site]);
    for (uint32_t arm = 0; arm < config->arm_count; arm++)
        (void)fprintf(out, "arm %s\n", config->arm_names[arm]);
    describe_network(config, out);
    if (fclose(out) != 0)
        return TACIT_MEMORY;
    enum tacit_status const status = live_digest(text, digest);
    free(text);
    return status;
}

static enum tacit_status restore_hub(struct coordinator *coordinator)
{
    size_t kept;
    if (coordinator->config->network != NULL) {
        coordinator->weights = live_sink_weights(coordinator->config);
        if (coordinator->weights == NULL)
            return TACIT_MEMORY;
    }
    struct tacit_elim_hub_config const config =
        hub_config(coordinator->config, coordinator->weights);
    coordinator->hub_size = tacit_elim_hub_size(&config);
    coordinator->hub = calloc(1, coordinator->hub_size > 0 ? coordinator->hub_size : 1);
    if (coordinator->hub == NULL)
        return TACIT_MEMORY;
    enum tacit_status status = live_store_get_core(coordinator->daemon.store, coordinator->hub,
                                                   coordinator->hub_size, &kept);
    if (status == TACIT_OK && kept == 0)
        status = tacit_elim_hub_init(coordinator->hub, &config);
    else if (status == TACIT_OK)
        status = tacit_elim_hub_check(coordinator->hub, kept, &config);
    return status;
}

static enum tacit_status make_watch(struct coordinator *coordinator)
{
    uint32_t const sites = coordinator->config->site_count;
    uint32_t const arms = coordinator->config->arm_count;
    coordinator->told_epochs = calloc(sites, sizeof *coordinator->told_epochs);
    coordinator->nobody = calloc(TACIT_BITS_WORDS(sites), sizeof *coordinator->nobody);
    coordinator->all_arms = calloc(TACIT_BITS_WORDS(arms), sizeof *coordinator->all_arms);
    coordinator->no_means = calloc(arms, sizeof *coordinator->no_means);
    coordinator->no_epochs = calloc(arms, sizeof *coordinator->no_epochs);
    if (coordinator->told_epochs == NULL || coordinator->nobody == NULL ||
        coordinator->all_arms == NULL || coordinator->no_means == NULL ||
        coordinator->no_epochs == NULL)
        return TACIT_MEMORY;
    tacit_bits_fill(coordinator->all_arms, arms);
    return TACIT_OK;
}

static enum tacit_status restore(struct coordinator *coordinator, struct tacit_error *error)
{
    enum tacit_status const status =
        has_hub(coordinator->config) ? restore_hub(coordinator) : make_watch(coordinator);
    if (status != TACIT_OK)
        (void)snprintf(error->text, sizeof error->text, "%s: the state of the run is damaged: %s",
                       coordinator->config->state_directory, tacit_status_text(status));
    return status;
}

static enum tacit_status connect_all(struct coordinator *coordinator, struct tacit_error *error)
{
    struct live_coordinator_config const *const config = coordinator->config;
    struct live_daemon *const daemon = &coordinator->daemon;
    struct live_bus_events const events = {coordinator, on_connected, on_disconnected, on_received};
    daemon->context = coordinator;
    daemon->prepare = prepare;
    coordinator->timer = live_timer_new(daemon->loop, on_timer, coordinator);
    if (coordinator->timer == NULL)
        return TACIT_MEMORY;
    enum tacit_status status = live_http_open(&daemon->http, daemon->loop, &config->status,
                                              on_request, coordinator, error);
    if (status == TACIT_OK)
        status = live_bus_open(&daemon->bus, daemon->loop, &config->bus, &events, error);
    return status;
}

enum tacit_status live_coordinator_run(const struct live_coordinator_config *config,
                                       struct tacit_error *error)
{
    struct coordinator coordinator = {.config = config};
    struct live_store_identity identity = {
        .role = "coordinator", .federation = config->federation, .site = ""};
    enum tacit_status status = describe(config, identity.config_digest);
    if (status == TACIT_OK)
        status = live_daemon_open(&coordinator.daemon, config->state_directory, &identity, error);
    if (status != TACIT_OK)
        return status;
    status = restore(&coordinator, error);
    if (status == TACIT_OK)
        status = connect_all(&coordinator, error);
    if (status == TACIT_OK) {
        (void)step(&coordinator, (struct tacit_elim_event){.kind = TACIT_EVENT_START});
        live_log(LIVE_LOG_INFO, "started", "coordinator of %s, %u sites, %u arms",
                 config->federation, config->site_count, config->arm_count);
        status = live_daemon_run(&coordinator.daemon);
    }
    live_daemon_close(&coordinator.daemon);
    free(coordinator.hub);
    free(coordinator.weights);
    free(coordinator.told_epochs);
    free(coordinator.nobody);
    free(coordinator.all_arms);
    free(coordinator.no_means);
    free(coordinator.no_epochs);
    return status;
}
