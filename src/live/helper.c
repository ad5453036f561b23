/* The helper's daemon, its file mode, and its operator's word. */
#include "helper.h"
#include "api/numbers.h"
#include "bus/topics.h"
#include "coordinator_helper.h"
#include "daemon/files.h"
#include "daemon/log.h"
#include "daemon/names.h"
#include "daemon/refusal.h"
#include "helper_core.h"
#include "show.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WATCH_US 1000000u
#define US_PER_S UINT64_C(1000000)

struct daemon {
    struct helper helper; /* first */
    struct live_timer *watch;
    struct live_sender hub; /* how much it may say */
    struct live_pieces pieces;
};

/* ---- The broker ---- */

/* Once what it rests on is durable; reply: taken over, or NULL. */
static void say(struct helper *helper, uint8_t *reply, size_t size)
{
    TACIT_IMPLIES(reply != NULL, size > 1);
    struct live_topic const topic =
        live_topic_up(helper->config->federation, LIVE_HELPER, LIVE_HELPER);
    if (reply != NULL)
        live_daemon_send(&helper->daemon, topic.text, reply, size, true);
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
        !live_sender_may_speak(&daemon->hub, live_now_us()))
        return;
    if (size > 0 && bytes[0] == LIVE_TRUST_PIECE) {
        if (!live_pieces_take(&daemon->pieces, bytes, size))
            return;
        bytes = daemon->pieces.bytes;
        size = daemon->pieces.size;
    }
    if (helper_hear(helper, bytes, size, &reply, &reply_size) != TACIT_OK)
        live_log(LIVE_LOG_WARNING, "refused", "%s", helper->said);
    say(helper, reply, reply_size);
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

/* ---- Status ---- */

static const char *phase_of(const struct helper *helper)
{
    return helper->awaits_word          ? "asked to agree"
           : helper->kept == NULL       ? "waiting for an offer"
           : helper->kept->is_over != 0 ? "over"
                                        : "serving";
}

static struct live_causes causes_of(const struct helper *helper)
{
    struct live_causes causes = live_causes_begin(LIVE_HELPER, helper->config->state_directory);
    struct live_bus_trouble const broker = live_bus_why(helper->daemon.bus);
    struct tacit_helper_view view = {.is_old = false};
    live_causes_add_broker(&causes, &broker);
    if (helper->kept != NULL)
        tacit_helper_look(helper->core, &view);
    if (helper->awaits_word)
        live_causes_add(&causes, LIVE_CAUSE_AGREE, NULL,
                        "a run is offered, and waits for its operator's word");
    if (helper->kept == NULL && helper->is_asked_in_vain)
        live_causes_add(&causes, LIVE_CAUSE_HELPER_REFUSES, NULL,
                        "there is no run that was agreed to, and the coordinator asks in one: this "
                        "state is new, or was lost, and with it the run's key");
    if (view.is_old)
        live_causes_add(&causes, LIVE_CAUSE_HELPER_REFUSES, NULL,
                        "this helper's state is an old one: the coordinator shows an answer that "
                        "it never gave");
    else if (helper->verdict > TACIT_HELPER_TOO_FEW)
        live_causes_add(&causes, LIVE_CAUSE_HELPER_REFUSES, json_pack("[s]", "coordinator"),
                        helper_words_of(helper->verdict));
    if (helper->kept != NULL &&
        tacit_bits_count(helper->faulty, helper->core_config.run.site_count) > 0)
        live_causes_add(&causes, LIVE_CAUSE_LEFT_OUT,
                        live_show_names(helper->offer.names, helper->core_config.run.site_count,
                                        helper->faulty),
                        "their reports were left out of the last sum: grants, release or envelope "
                        "are not in order");
    return causes;
}

#define NUMBERS 7u

static void numbers_of(const struct helper *helper, struct live_number numbers[NUMBERS])
{
    TACIT_ASSERT(helper->daemon.bus != NULL);
    struct tacit_helper_view view = {.number = 0};
    if (helper->kept != NULL)
        tacit_helper_look(helper->core, &view);
    bool const is_there = helper->kept != NULL;
    struct live_number const all[NUMBERS] = {
        {"connected", "tacit_helper_connected", "Is there a connection to the broker?", LIVE_FLAG,
         live_bus_is_connected(helper->daemon.bus)},
        {"answers", "tacit_helper_answers_total", "Rounds that were answered.", LIVE_WHOLE,
         (double)view.number},
        {"term", "tacit_helper_term", "Term of the newest answer, from 1.", LIVE_WHOLE,
         view.number == 0 ? 0 : (double)view.term + 1},
        {"round", "tacit_helper_round", "Round of the newest answer.", LIVE_WHOLE, view.round},
        {"counted", "tacit_helper_sites", "Sites in the newest answer.",
         is_there ? LIVE_WHOLE : LIVE_ABSENT,
         is_there ? tacit_bits_count(view.sites, helper->core_config.run.site_count) : 0},
        {"epsilon_most", "tacit_helper_epsilon_most",
         "Epsilon of a reward by this helper's noise alone, at most.", LIVE_REAL,
         (double)view.epsilon_nano_most / (double)TACIT_NANO},
        {"refused", "tacit_helper_messages_refused_total", "Messages that were refused.",
         LIVE_WHOLE, (double)helper->refused_count}};
    memcpy(numbers, all, sizeof all);
}

static void write_status(const struct helper *helper, struct live_buffer *out)
{
    struct live_causes const causes = causes_of(helper);
    struct live_bus_trouble const broker = live_bus_why(helper->daemon.bus);
    struct live_number numbers[NUMBERS];
    bool const has_run = helper->kept != NULL;
    json_t *const made = json_pack(
        "{s:s, s:s, s:o, s:s, s:o}", "federation", helper->config->federation, "role", "helper",
        "run",
        live_show_bytes(has_run ? helper->core_config.run.run : NULL, TACIT_HELPER_RUN_BYTES),
        "phase", phase_of(helper), "heard_s",
        helper->heard_us == 0
            ? json_null()
            : json_integer((json_int_t)((live_now_us() - helper->heard_us) / US_PER_S)));
    live_show_causes(&causes, &broker, made);
    numbers_of(helper, numbers);
    live_numbers_show(numbers, NUMBERS, made);
    if (has_run)
        (void)json_object_set_new(made, "left_out",
                                  live_show_names(helper->offer.names,
                                                  helper->core_config.run.site_count,
                                                  helper->faulty));
    live_buffer_add_tree(out, made);
}

static void write_metrics(const struct helper *helper, struct live_buffer *out)
{
    struct live_causes const causes = causes_of(helper);
    struct live_number numbers[NUMBERS];
    struct live_number const state = {NULL, "tacit_helper_state",
                                      "0: ok, 1: waiting, 2: needs attention.", LIVE_WHOLE,
                                      (double)causes.state};
    json_decref(causes.list);
    numbers_of(helper, numbers);
    live_numbers_write(&state, 1, out);
    live_numbers_write(numbers, NUMBERS, out);
}

static void on_request(void *context, struct live_request *request)
{
    struct helper const *const helper = context;
    struct live_buffer text = {0};
    bool const is_metrics = strcmp(request->path, "/metrics") == 0;
    bool const is_health = strcmp(request->path, "/health") == 0;
    if (strcmp(request->method, "GET") != 0 ||
        (!is_metrics && !is_health && strcmp(request->path, "/status") != 0)) {
        static const char nowhere[] =
            "{\"error\": \"not here; allowed: GET /status, /health, /metrics\"}\n";
        live_http_answer(request, 404, "application/json", nowhere, sizeof nowhere - 1);
        return;
    }
    (is_metrics ? write_metrics : write_status)(helper, &text);
    struct live_causes const causes = causes_of(helper);
    bool const is_sick = is_health && causes.state == LIVE_STATE_ATTENTION;
    json_decref(causes.list);
    live_http_answer(request, text.failed || is_sick ? 503 : 200,
                     is_metrics ? "text/plain; version=0.0.4" : "application/json", text.bytes,
                     text.size);
    live_buffer_free(&text);
}

/* ---- Start ---- */

static void on_watch(void *context)
{
    struct daemon *const daemon = context;
    uint8_t *reply = NULL;
    size_t size = 0;
    if (helper_look_for_word(&daemon->helper) &&
        helper_say_sealing(&daemon->helper, &reply, &size) == TACIT_OK)
        say(&daemon->helper, reply, size);
    live_timer_set(daemon->watch, live_now_us() + WATCH_US);
}

static void reload(void *context)
{
    struct helper *const helper = context;
    live_bus_renew(helper->daemon.bus);
}

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
    enum tacit_status const status =
        live_http_open(&base->http, base->loop, &config->status, on_request, daemon, error);
    return status == TACIT_OK ? live_bus_open(&base->bus, base->loop, &config->bus, &events, error)
                              : status;
}

enum tacit_status live_helper_run(const struct live_helper_config *config,
                                  struct tacit_error *error)
{
    struct daemon daemon = {.watch = NULL};
    enum tacit_status status = helper_open(&daemon.helper, config, error);
    if (status != TACIT_OK)
        return status;
    status = connect_all(&daemon, error);
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
    struct live_store *store = NULL;
    enum tacit_status status = helper_identify(config, &identity);
    if (status == TACIT_OK)
        status = live_store_look(&store, config->state_directory, &identity, found, error);
    live_store_close(store);
    free((void *)(uintptr_t)identity.agreed);
    return status;
}

/* ---- By file ---- */

enum tacit_status live_helper_answer(const struct live_helper_config *config, const uint8_t *bytes,
                                     size_t size, FILE *out, struct tacit_error *error)
{
    struct helper helper;
    uint8_t *reply = NULL;
    size_t reply_size = 0;
    enum tacit_status status = helper_open(&helper, config, error);
    if (status != TACIT_OK)
        return status;
    (void)helper_look_for_word(&helper);
    status = helper_hear(&helper, bytes, size, &reply, &reply_size);
    if (helper.daemon.batch_is_open && helper.daemon.status == TACIT_OK) {
        enum tacit_status const written = live_store_commit(helper.daemon.store);
        helper.daemon.batch_is_open = false;
        status = written == TACIT_OK ? status : written;
    }
    bool const is_said = status == TACIT_OK && reply != NULL &&
                         fwrite(reply, 1, reply_size, out) == reply_size && fflush(out) == 0;
    (void)fprintf(stderr, "%s\n", helper.said);
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

static void say_offer(const struct live_offer *offer, FILE *out)
{
    struct tacit_wire_agreement const *const agreement = &offer->announcement->agreement;
    (void)fprintf(out,
                  "run %" PRIu64 ": %s, %u arms, %" PRIu64 " pulls a site\n"
                  "epsilon per reward: %.9g, by your noise alone against the coordinator\n",
                  offer->run.run_id, agreement->protocol, agreement->arm_count, agreement->horizon,
                  (double)agreement->epsilon_nano / (double)TACIT_NANO);
    if (agreement->floor_nano > 0)
        (void)fprintf(out, "noise of the sites' own: epsilon %.9g\n",
                      (double)agreement->floor_nano / (double)TACIT_NANO);
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

enum tacit_status live_helper_agree(const char *state_directory, const char *code, FILE *out,
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
    char const *const why = live_offer_look(bytes, size, &room, &offer);
    live_offer_code(bytes, size, meant);
    free(bytes);
    if (why != NULL) {
        live_room_free(&room);
        return live_refuse(error, TACIT_INVALID, "%.1024s: %s", path, why);
    }
    live_key_fingerprint(offer.hub, hub);
    say_offer(&offer, out);
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
