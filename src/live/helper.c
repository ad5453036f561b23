/* The helper's daemon, its file mode, and its operator's word. */
#include "helper.h"
#include "bus/topics.h"
#include "coordinator_helper.h"
#include "daemon/files.h"
#include "daemon/log.h"
#include "daemon/names.h"
#include "daemon/refusal.h"
#include "helper_core.h"
#include "helper_status.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WATCH_US 1000000u

struct daemon {
    struct helper helper; /* first: some callbacks are handed the daemon and take it for this */
    struct live_timer *watch;
    struct live_sender hub; /* how much it may say */
    struct live_pieces pieces;
};

/* ---- The broker ---- */

/* Once what it rests on is durable; reply: taken over, or NULL. */
static void send_reply(struct helper *helper, uint8_t *reply, size_t size)
{
    TACIT_IMPLIES(reply != NULL, size > 1);
    struct live_topic const topic =
        live_topic_up(helper->config->federation, LIVE_HELPER, LIVE_HELPER);
    if (reply != NULL)
        live_helper_send(&helper->daemon, topic.text, reply, size);
    free(reply);
}

static void on_received(void *context, const char *topic, const uint8_t *bytes, size_t size)
{
    struct daemon *const daemon = context;
    struct helper *const helper = &daemon->helper;
    char const *const federation = helper->config->federation;
    uint8_t *reply;
    size_t reply_size;
    if (strcmp(topic, live_topic_to(federation, LIVE_HELPER, LIVE_HELPER).text) != 0 ||
        !live_sender_admit(&daemon->hub, live_now_us()) ||
        !live_pieces_add(&daemon->pieces, &bytes, &size))
        return;
    if (helper_on_message(helper, bytes, size, &reply, &reply_size) != TACIT_OK)
        live_log(LIVE_LOG_WARNING, "refused", "%s", helper->outcome);
    send_reply(helper, reply, reply_size);
}

static void on_connected(void *context)
{
    struct helper *const helper = context;
    live_log(LIVE_LOG_INFO, "connected", "to the broker");
    (void)live_bus_subscribe(
        helper->daemon.bus,
        live_topic_to(helper->config->federation, LIVE_HELPER, LIVE_HELPER).text);
}

static void on_disconnected(void *context, const char *reason)
{
    (void)context;
    live_log(LIVE_LOG_WARNING, "disconnected", "from the broker: %s", reason);
}

/* ---- Start ---- */

static void on_watch(void *context)
{
    struct daemon *const daemon = context;
    uint8_t *reply = NULL;
    size_t size = 0;
    if (helper_read_agreement(&daemon->helper) &&
        helper_reply_sealing(&daemon->helper, &reply, &size) == TACIT_OK)
        send_reply(&daemon->helper, reply, size);
    helper_status_see(&daemon->helper);
    live_timer_set(daemon->watch, live_now_us() + WATCH_US);
}

static void reload(void *context)
{
    struct helper *const helper = context;
    live_bus_renew(helper->daemon.bus);
}

/* What was opened before an error, the caller closes. */
static enum tacit_status connect_all(struct daemon *daemon, struct tacit_error *error)
{
    struct live_daemon *const base = &daemon->helper.daemon;
    struct live_helper_config const *const config = daemon->helper.config;
    struct live_bus_events const events = {daemon, on_connected, on_disconnected, on_received};
    base->context = daemon;
    base->reload = reload;
    daemon->watch = live_timer_new(base->loop, on_watch, daemon);
    if (daemon->watch == NULL)
        return TACIT_MEMORY;
    TACIT_TRY(live_http_open(&base->http, base->loop, &config->daemon.http, helper_status_answer,
                             &daemon->helper, error));
    return live_bus_open(&base->bus, base->loop, &config->daemon.bus, &events, error);
}

enum tacit_status live_helper_run(const struct live_helper_config *config,
                                  struct tacit_error *error)
{
    struct daemon daemon = {.watch = NULL};
    TACIT_TRY(helper_open(&daemon.helper, config, error));
    enum tacit_status status = connect_all(&daemon, error);
    if (status == TACIT_OK) {
        on_watch(&daemon);
        live_log(LIVE_LOG_INFO, "started", "helper of %s", config->federation);
        status = live_daemon_run(&daemon.helper.daemon);
    }
    live_daemon_close(&daemon.helper.daemon);
    live_pieces_free(&daemon.pieces);
    helper_close(&daemon.helper);
    return status;
}

enum tacit_status live_helper_check(const struct live_helper_config *config,
                                    enum live_store_found *found, struct tacit_error *error)
{
    struct live_store_identity identity = {0};
    enum tacit_status const status = helper_identify(config, &identity);
    return live_store_try(config->daemon.state_directory, status, &identity, NULL, NULL, found,
                          error);
}

/* ---- By file ---- */

enum tacit_status live_helper_answer(const struct live_helper_config *config, const uint8_t *bytes,
                                     size_t size, FILE *out, struct tacit_error *error)
{
    struct helper helper;
    uint8_t *reply = NULL;
    size_t reply_size = 0;
    TACIT_TRY(helper_open(&helper, config, error));
    bool const has_agreed = helper_read_agreement(&helper);
    enum tacit_status status = helper_on_message(&helper, bytes, size, &reply, &reply_size);
    if (helper.daemon.batch_is_open && helper.daemon.status == TACIT_OK) {
        enum tacit_status const written = live_store_commit(helper.daemon.store);
        helper.daemon.batch_is_open = false;
        status = written == TACIT_OK ? status : written;
        if (has_agreed && written == TACIT_OK)
            helper_drop_offer(&helper);
    }
    bool const is_said = status == TACIT_OK && reply != NULL &&
                         fwrite(reply, 1, reply_size, out) == reply_size && fflush(out) == 0;
    (void)fprintf(stderr, "%s\n", helper.outcome);
    if (status == TACIT_OK && !is_said && bytes[0] != LIVE_TRUST_END)
        status = TACIT_REFUSED;
    if (status != TACIT_OK)
        (void)snprintf(error->text, sizeof error->text, "nothing was answered");
    free(reply);
    live_daemon_close(&helper.daemon);
    helper_close(&helper);
    return status;
}

/* ---- The operator's word ---- */

/* ops: of its protocol; NULL: it is not live here. */
static void print_offer(const struct live_offer *offer, const struct live_hub_ops *ops,
                        struct live_room *room, FILE *out)
{
    struct tacit_wire_agreement const *const agreement = &offer->announcement->agreement;
    char const *const epsilon_of = ops == NULL ? NULL : ops->epsilon_of;
    struct tacit_helper_run run;
    double const delta = helper_vector(ops, offer, room, &run);
    (void)fprintf(out, "run %" PRIu64 ": %s, ", offer->run.run_id, agreement->protocol);
    if (epsilon_of == NULL || delta > 0)
        (void)fprintf(out, "%u arms, %" PRIu64 " pulls a site\n", agreement->arm_count,
                      agreement->horizon);
    else /* its sites are its arms */
        (void)fprintf(out, "%" PRIu64 " rounds\n", agreement->horizon);
    (void)fprintf(out, "epsilon %s: %.9g, by your noise alone against the coordinator\n",
                  epsilon_of == NULL ? "per reward" : epsilon_of,
                  tacit_nano_value(agreement->epsilon_nano));
    if (delta > 0)
        (void)fprintf(out, "delta: %.9g\n", delta);
    if (agreement->floor_nano > 0)
        (void)fprintf(out, "noise of the sites' own: epsilon %.9g\n",
                      tacit_nano_value(agreement->floor_nano));
    else
        (void)fprintf(out, "noise of the sites' own: none; you and the coordinator together would "
                           "have their exact sums\n");
    (void)fprintf(out, "sites, and the fingerprints of their keys: ask each of them whether it is "
                       "theirs\n");
    for (uint32_t site = 0; site < agreement->agent_count; site++) {
        char text[LIVE_FINGERPRINT_BYTES];
        live_key_fingerprint(offer->keys[site], text);
        (void)fprintf(out, "  %s  %s\n", text, offer->names[site]);
    }
}

enum tacit_status live_helper_agree(const char *state_directory, const char *code,
                                    const struct live_hub_ops *(*find)(const char *name), FILE *out,
                                    struct tacit_error *error)
{
    char path[4200];
    char hub[LIVE_FINGERPRINT_BYTES];
    char meant[LIVE_FINGERPRINT_BYTES];
    struct live_room room = {0};
    struct live_offer offer;
    size_t size = 0;
    (void)snprintf(path, sizeof path, "%.4000s/" LIVE_HELPER_OFFER_FILE, state_directory);
    uint8_t *const bytes = helper_read(state_directory, LIVE_HELPER_OFFER_FILE, &size);
    if (bytes == NULL)
        return live_refuse(error, TACIT_INVALID,
                           "%.1024s: no run is offered; is the helper running, and is this its "
                           "state directory?",
                           path);
    char const *const why = live_offer_read_unpinned(bytes, size, &room, &offer);
    live_offer_code(bytes, size, meant);
    free(bytes);
    if (why != NULL) {
        live_room_free(&room);
        return live_refuse(error, TACIT_INVALID, "%.1024s: %s", path, why);
    }
    live_key_fingerprint(offer.hub, hub);
    print_offer(&offer, find(offer.announcement->agreement.protocol), &room, out);
    (void)fprintf(out, "the coordinator's key: %s\n", hub);
    live_room_free(&room);
    if (code == NULL) {
        (void)fprintf(out, "to agree to just this: tacit helper agree %s %.16s\n", state_directory,
                      meant);
        return TACIT_OK;
    }
    if (strlen(code) < 16 || strncmp(code, meant, strlen(code)) != 0)
        return live_refuse(error, TACIT_INVALID,
                           "%.64s is not the code of this offer; nothing was agreed to", code);
    (void)fprintf(out, "agreed; the helper signs the run's key when it next looks\n");
    return live_file_put(state_directory, LIVE_HELPER_ACCEPTED_FILE, meant, sizeof meant - 1,
                         UINT32_MAX);
}
