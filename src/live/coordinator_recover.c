/* A coordinator without its state collects what the sites hold and rebuilds it. */
#include "coordinator.h"
#include "api/numbers.h"
#include "bus/envelope.h"
#include "bus/topics.h"
#include "causes.h"
#include "daemon.h"
#include "daemon/log.h"
#include "daemon/names.h"
#include "hub_replicated_log.h"
#include "hub_runs.h"
#include "member.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOG_US UINT64_C(10000000) /* between two lines that say who is waited for */
#define TERM_US                                                                                    \
    UINT64_C(10000000) /* so long sites are waited for where only their terms matter               \
                        */

/* What one site has shown. */
struct shown {
    struct live_entry entry; /* number 0: nothing yet; without its state */
    uint64_t term;           /* as the envelope says that shows it: never before the entry's */
    struct live_sender sender;
};

struct recovery {
    struct live_coordinator_config const *config;
    struct live_hub_config run;
    struct live_daemon daemon;
    struct live_envelopes envelopes;
    struct live_member member;
    struct live_timer *timer;
    struct live_timer *end; /* of the wait for terms */
    struct shown *sites;
    uint32_t shown_count;
    struct live_entry own; /* of the state that is there; number 0: none */
    uint64_t own_term;     /* of it; 0: none */
    uint64_t term_max;     /* the last that is within reach of most sites; 0: not known yet */
    struct live_held_entry best;
    bool knows_run; /* own state, or the operator's word */
    bool is_done;
    struct tacit_error why; /* it cannot be done */
    enum tacit_status status;
};

/* So many sites have to show what they hold: all, unless the operator says that some suffice. */
static uint32_t wanted_count(const struct recovery *recovery)
{
    uint32_t const all = recovery->run.site_count;
    uint32_t const some = recovery->config->recover_sites;
    TACIT_ASSERT(all > 0);
    return some > 0 && some < all ? some : all;
}

/* Ends the recovery; the first reason stays. */
static void fail(struct recovery *recovery, enum tacit_status status, const char *text)
{
    TACIT_ASSERT(status != TACIT_OK && text[0] != '\0');
    if (recovery->status != TACIT_OK)
        return;
    recovery->status = status;
    (void)snprintf(recovery->why.text, sizeof recovery->why.text, "%s", text);
    live_loop_stop(recovery->daemon.loop);
}

/* ---- Choosing -------------------------------------------------------------------------------- */

static void fail_forked(struct recovery *recovery, const char *site, const struct live_entry *found)
{
    char text[sizeof recovery->why.text];
    (void)snprintf(
        text, sizeof text,
        "entry %llu of term %llu that %s holds is signed with this coordinator's key, and is not "
        "of the log that others hold: two coordinators spoke for this run; nothing was written",
        (unsigned long long)found->number, (unsigned long long)found->term, site);
    fail(recovery, TACIT_FORKED, text);
}

/* Of the same run. Any two that are a fork are found: each is compared with all. */
static void compare_with_all(struct recovery *recovery, uint32_t site,
                             const struct live_entry *found)
{
    for (uint32_t other = 0; other < recovery->run.site_count; other++) {
        struct live_entry const *const known = &recovery->sites[other].entry;
        if (known->number > 0 && live_entry_compare(known, found) == LIVE_ENTRY_FORK)
            fail_forked(recovery, recovery->run.sites[site], found);
    }
    if (recovery->own.number > 0 && memcmp(recovery->own.run, found->run, sizeof found->run) == 0 &&
        live_entry_compare(&recovery->own, found) == LIVE_ENTRY_FORK)
        fail_forked(recovery, recovery->run.sites[site], found);
}

/* bytes: of the entry, as the coordinator signed it; they are copied if it is the newest so far. */
static void update_best(struct recovery *recovery, const struct live_entry *found,
                        const uint8_t *bytes, size_t size)
{
    if (recovery->best.head.number > 0 &&
        live_entry_compare(&recovery->best.head, found) != LIVE_ENTRY_AFTER)
        return;
    uint8_t *const copy = malloc(size);
    if (copy == NULL) {
        fail(recovery, TACIT_MEMORY, "out of memory");
        return;
    }
    memcpy(copy, bytes, size);
    enum tacit_status const status = live_entry_hold(&recovery->best, copy, size);
    TACIT_ASSERT(status == TACIT_OK);
}

/* Which run it is about: the one that is named or known, else the one that the first site shows. */
static const char *objection_to_run(struct recovery *recovery, const struct live_entry *found)
{
    bool const is_ours = memcmp(recovery->envelopes.run, found->run, sizeof found->run) == 0;
    if (tacit_wire_run_id(found->run) != recovery->run.run_id)
        return "an entry of a run with another number than run.id of the file";
    if (is_ours)
        return NULL;
    if (recovery->knows_run)
        return "an entry of another run with this number";
    if (recovery->best.head.number > 0) {
        fail(recovery, TACIT_INVALID,
             "the sites hold entries of two runs with this number; name the one that goes on, "
             "as `run` in the status of a site shows it, with --run");
        return NULL;
    }
    memcpy(recovery->envelopes.run, found->run, sizeof found->run);
    return NULL;
}

/* ---- Writing --------------------------------------------------------------------------------- */

/* The file must say what was announced. */
static enum tacit_status check_agreement(struct recovery *recovery)
{
    uint8_t digest[TACIT_WIRE_DIGEST_BYTES];
    recovery->run.run_nonce = live_hub_nonce(recovery->best.head.run);
    enum tacit_status const status =
        live_hub_agreed(recovery->config->protocol, &recovery->run, digest);
    if (status != TACIT_OK || memcmp(digest, recovery->best.head.agreement, sizeof digest) == 0)
        return status;
    return live_refuse(&recovery->why, TACIT_INVALID,
                       "the file of the coordinator is not the one that this run was announced "
                       "with: sites, arms, range, epsilon, horizon or parameters differ");
}

/* The last that was shown, of those within reach; `own`: where none is later. */
static uint64_t last_shown(const struct recovery *recovery, uint64_t own)
{
    uint64_t last = own;
    for (uint32_t site = 0; site < recovery->run.site_count; site++)
        if (recovery->sites[site].entry.number > 0 && recovery->sites[site].term > last)
            last = recovery->sites[site].term;
    return last;
}

/* The last that was shown, or kept here. */
static uint64_t last_term(const struct recovery *recovery)
{
    return last_shown(recovery, recovery->own_term > 0 ? recovery->own_term : 1);
}

/* A hub that keeps nothing goes on in its term; the others have forgotten what they granted. */
static uint64_t term_of(const struct recovery *recovery, size_t state_size)
{
    return state_size == 0 ? recovery->best.head.term : last_term(recovery) + 1;
}

/* In one batch, with the hub's bytes; of size 0: it keeps nothing. */
static enum tacit_status put_all(struct recovery *recovery, const void *bytes, size_t size)
{
    struct live_store *const store = recovery->daemon.store;
    struct live_entry const *const best = &recovery->best.head;
    uint64_t const term = term_of(recovery, size);
    TACIT_ASSERT(term >= best->term && recovery->best.envelope != NULL);
    TACIT_TRY(live_store_begin(store));
    if (live_store_has_new_config(store)) /* the state that is here is of a run before */
        TACIT_TRY(live_store_adopt_config(store));
    if (size > 0)
        TACIT_TRY(live_store_put_core(store, bytes, size));
    TACIT_TRY(live_store_put_value(store, LIVE_RUN_NONCE, recovery->run.run_nonce));
    TACIT_TRY(live_store_put_value(store, LIVE_ENVELOPES_TERM, term));
    TACIT_TRY(live_store_put_value(store, LIVE_HUB_REBUILT_TERM, best->term));
    TACIT_TRY(live_store_put_value(store, LIVE_HUB_REBUILT_NUMBER, best->number));
    TACIT_TRY(live_store_put_entry(store, best->run, recovery->best.envelope, recovery->best.size));
    return live_store_commit(store);
}

/* Builds the hub from the newest entry, and writes it. Errors: nothing was written; recovery->why
 * says why, where it is not empty. */
static enum tacit_status write_state(struct recovery *recovery)
{
    struct live_hub_ops const *const protocol = recovery->config->protocol;
    struct live_entry const *const best = &recovery->best.head;
    struct live_hub *hub = NULL;
    size_t size;
    TACIT_ASSERT(best->number > 0 && protocol->is_rebuilt);
    TACIT_TRY(check_agreement(recovery));
    if (!best->has_state)
        return live_refuse(&recovery->why, TACIT_ROLLBACK,
                           "what the sites hold of this run does not build its state again: it was "
                           "too large for a message; %s",
                           live_hub_replicated_log_over(protocol->one_run != NULL));
    enum tacit_status status =
        live_hub_rebuild(protocol, &hub, &recovery->run, best->state, best->state_size);
    if (status == TACIT_MALFORMED)
        (void)live_refuse(
            &recovery->why, status,
            "what the sites hold of this run is no state of this protocol by the file of "
            "the coordinator: run.quorum and run.deadline_s have to be the run's, and "
            "the program that wrote it of this version; nothing was written");
    if (status == TACIT_OK) {
        void const *const bytes = live_hub_bytes(hub, &size);
        status = put_all(recovery, bytes, size);
    }
    if (status == TACIT_OK)
        live_log(
            LIVE_LOG_WARNING, "recovered",
            "entry %llu of term %llu, round %u, from %u of %u sites: the state is built from it",
            (unsigned long long)best->number, (unsigned long long)best->term, best->epoch,
            recovery->shown_count, recovery->run.site_count);
    live_hub_free(hub);
    return status;
}

static int compare_terms(const void *left, const void *right)
{
    uint64_t const *const a = left;
    uint64_t const *const b = right;
    return *a < *b ? -1 : *a > *b;
}

static void ask(struct recovery *recovery)
{
    (void)live_bus_subscribe(recovery->daemon.bus,
                             live_topic_all_up(recovery->run.federation, LIVE_TOPIC_ENTRY).text);
}

/* Most sites follow to this one, from where they are: the jump is counted from their median, so
 * that a minority decides nothing. Errors: 0: out of memory. */
static uint64_t reach_of(const struct recovery *recovery)
{
    uint64_t *const terms = calloc(recovery->run.site_count, sizeof *terms);
    uint32_t count = 0;
    if (terms == NULL)
        return 0;
    for (uint32_t site = 0; site < recovery->run.site_count; site++)
        if (recovery->sites[site].entry.number > 0)
            terms[count++] = recovery->sites[site].term;
    TACIT_ASSERT(count > 0);
    qsort(terms, count, sizeof *terms, compare_terms);
    uint64_t const middle = terms[(count - 1) / 2];
    free(terms);
    return middle > UINT64_MAX - LIVE_TERM_JUMP_MAX ? UINT64_MAX - 1
                                                    : middle + LIVE_TERM_JUMP_MAX - 1;
}

/* Whoever is in a term out of reach has shown nothing. False: nobody was. */
static bool leave_out(struct recovery *recovery)
{
    bool has_left = false;
    for (uint32_t site = 0; site < recovery->run.site_count; site++) {
        struct shown *const shown = &recovery->sites[site];
        if (shown->entry.number == 0 || shown->term <= recovery->term_max)
            continue;
        live_log(LIVE_LOG_WARNING, "term",
                 "%s is in term %llu, out of reach of most sites: it is left out (its owner: tacit "
                 "control STATE term N)",
                 recovery->run.sites[site], (unsigned long long)shown->term);
        shown->entry.number = 0;
        recovery->shown_count--;
        has_left = true;
    }
    if (recovery->own_term > recovery->term_max) {
        live_log(LIVE_LOG_WARNING, "term",
                 "this state is in term %llu, out of reach of most sites: it is not used",
                 (unsigned long long)recovery->own_term);
        recovery->own = (struct live_entry){0};
        recovery->own_term = 0;
    }
    return has_left;
}

/* The newest may have been one of those: all are heard again. */
static void ask_again(struct recovery *recovery)
{
    recovery->best.head = (struct live_entry){0};
    recovery->shown_count = 0;
    for (uint32_t site = 0; site < recovery->run.site_count; site++)
        recovery->sites[site].entry.number = 0;
    ask(recovery);
}

/* This state is as new as what the sites hold, which is of closed rounds: what was granted in the
 * open one may not be in it. So a term begins that is later than any in which something was said;
 * one that a recovery began before it was stopped will do. A hub that keeps nothing has granted
 * nothing, and follows its sites alone. */
static enum tacit_status begin_term(struct recovery *recovery)
{
    struct live_store *const store = recovery->daemon.store;
    struct live_entry const *const own = &recovery->own;
    bool const grants = own->state_size > 0 || !own->has_state;
    uint64_t const last = last_shown(recovery, own->term);
    uint64_t const term = recovery->own_term > 0 ? recovery->own_term : 1;
    bool const goes_on = grants ? term > last : term >= last;
    live_log(LIVE_LOG_INFO, "recovered",
             "no site holds more than this state: it goes on in term %llu",
             (unsigned long long)(goes_on ? term : last + 1));
    if (goes_on)
        return TACIT_OK;
    TACIT_TRY(live_store_begin(store));
    TACIT_TRY(live_store_put_value(store, LIVE_ENVELOPES_TERM, last + 1));
    return live_store_commit(store);
}

/* The newest entry becomes the state, unless the state that is here is as new. */
static enum tacit_status decide(struct recovery *recovery)
{
    bool const is_known =
        recovery->own.number > 0 &&
        memcmp(recovery->own.run, recovery->best.head.run, sizeof recovery->own.run) == 0;
    if (recovery->config->begins_term)
        return TACIT_OK; /* the terms are what was asked for */
    if (!is_known || live_entry_compare(&recovery->own, &recovery->best.head) == LIVE_ENTRY_AFTER)
        return write_state(recovery);
    return begin_term(recovery);
}

/* Enough have shown what they hold. If some of them are out of reach, all are heard again without
 * those; else the recovery is decided, and over. */
static void finish(struct recovery *recovery)
{
    bool const begins_term = recovery->config->begins_term;
    if (recovery->shown_count > 0) {
        recovery->term_max = reach_of(recovery);
        if (recovery->term_max == 0) {
            fail(recovery, TACIT_MEMORY, "out of memory");
            return;
        }
        if (recovery->own_term > recovery->term_max && begins_term) {
            fail(recovery, TACIT_INVALID,
                 "this state is in a term out of reach of most sites: tacit coordinator --recover "
                 "builds it again in theirs");
            return;
        }
        if (leave_out(recovery) && !begins_term) {
            ask_again(recovery);
            return;
        }
    }
    enum tacit_status const status = decide(recovery);
    if (status != TACIT_OK) {
        char text[sizeof recovery->why.text];
        (void)snprintf(text, sizeof text, "%s",
                       recovery->why.text[0] != '\0' ? recovery->why.text
                                                     : tacit_status_text(status));
        fail(recovery, status, text);
        return;
    }
    recovery->is_done = true;
    live_loop_stop(recovery->daemon.loop);
}

/* ---- Hearing --------------------------------------------------------------------------------- */

static uint32_t site_index(const struct recovery *recovery, const char *name)
{
    for (uint32_t site = 0; site < recovery->run.site_count; site++)
        if (strcmp(recovery->run.sites[site], name) == 0)
            return site;
    return UINT32_MAX;
}

/* NULL, or why it is refused. It may end the recovery: see its status, and is_done. */
static const char *on_entry(struct recovery *recovery, uint32_t site,
                            const struct live_opened *opened)
{
    struct live_entry found;
    uint8_t const *const bytes = opened->envelope.body;
    size_t const size = opened->envelope.body_size;
    char const *objection = live_entry_shown(&recovery->envelopes, &opened->envelope, &found);
    if (objection == NULL)
        objection = objection_to_run(recovery, &found);
    if (objection == NULL &&
        (opened->envelope.term < found.term ||
         (recovery->term_max > 0 && opened->envelope.term > recovery->term_max)))
        objection =
            "what a site shows that is in a term out of reach of most sites, or before that "
            "of its entry";
    if (objection != NULL || recovery->status != TACIT_OK)
        return objection;
    compare_with_all(recovery, site, &found);
    if (recovery->status != TACIT_OK)
        return NULL;
    update_best(recovery, &found, bytes, size);
    recovery->shown_count += recovery->sites[site].entry.number == 0 ? 1 : 0;
    recovery->sites[site].entry = found;
    recovery->sites[site].entry.state = NULL;
    recovery->sites[site].term = opened->envelope.term;
    if (recovery->status == TACIT_OK && recovery->shown_count >= wanted_count(recovery))
        finish(recovery);
    return NULL;
}

static void on_received(void *context, const char *topic, const uint8_t *bytes, size_t size)
{
    struct recovery *const recovery = context;
    char name[65];
    struct live_arrival const arrival = {topic, name, bytes, size};
    char const *const federation = recovery->run.federation;
    struct live_opened opened;
    bool const is_key = live_topic_key_of(topic, federation, name);
    if (recovery->is_done ||
        (!is_key && !live_topic_site(topic, federation, LIVE_TOPIC_ENTRY, name)))
        return;
    uint32_t const site = site_index(recovery, name);
    if (site == UINT32_MAX || size == 0 ||
        !live_sender_admit(&recovery->sites[site].sender, live_now_us()))
        return;
    struct live_sender *const sender = &recovery->sites[site].sender;
    if (is_key) {
        live_member_add_key(&recovery->member, sender, &arrival);
        return;
    }
    char const *objection = live_envelope_open_entry(&recovery->envelopes, &arrival, &opened);
    if (objection == NULL)
        objection = on_entry(recovery, site, &opened);
    (void)live_member_accept(&recovery->member, sender, name, objection, &opened);
    if (opened.lacks_key) /* its entry comes again behind its key */
        live_timer_set(recovery->timer, live_now_us() + LOG_US / 20);
}

static void on_connected(void *context)
{
    struct recovery *const recovery = context;
    live_member_connected(&recovery->member);
    live_member_add_own_key(&recovery->member);
    ask(recovery);
    live_timer_set(recovery->timer, live_now_us() + LOG_US / 10);
}

/* ---- While it waits -------------------------------------------------------------------------- */

static json_t *missing_of(const struct recovery *recovery)
{
    json_t *const names = json_array();
    for (uint32_t site = 0; site < recovery->run.site_count; site++)
        if (recovery->sites[site].entry.number == 0)
            (void)json_array_append_new(names, json_string(recovery->run.sites[site]));
    return names;
}

static void on_timer(void *context)
{
    struct recovery *const recovery = context;
    char names[256];
    json_t *const missing = missing_of(recovery);
    live_causes_name(missing, (uint32_t)json_array_size(missing), names, sizeof names);
    json_decref(missing);
    live_log(LIVE_LOG_WARNING, "waiting",
             "%u of %u sites have shown what they hold, %u are needed; not yet: %s%s",
             recovery->shown_count, recovery->run.site_count, wanted_count(recovery), names,
             recovery->config->begins_term ? "; they are waited for ten seconds at most"
                                           : " (--sites N: so many suffice)");
    if (live_bus_is_connected(recovery->daemon.bus))
        ask(recovery); /* the broker says again what it keeps */
    live_timer_set(recovery->timer, live_now_us() + LOG_US);
}

/* Terms of those that have not come are not waited for. */
static void on_end(void *context)
{
    struct recovery *const recovery = context;
    live_log(LIVE_LOG_WARNING, "term", "%u of %u sites have shown their term",
             recovery->shown_count, recovery->run.site_count);
    if (!recovery->is_done && recovery->status == TACIT_OK)
        finish(recovery);
}

/* Words that were refused because nobody signed them, and words that were not read at all. */
static uint64_t count_refused(const struct recovery *recovery, uint64_t *unread)
{
    uint64_t refused = 0;
    *unread = 0;
    for (uint32_t site = 0; site < recovery->run.site_count; site++) {
        refused += recovery->sites[site].sender.unsigned_count;
        *unread += recovery->sites[site].sender.dropped_count;
    }
    return refused;
}

static void on_request(void *context, struct live_request *request)
{
    struct recovery *const recovery = context;
    struct live_buffer text = {0};
    uint64_t unread;
    uint64_t const refused = count_refused(recovery, &unread);
    live_buffer_add_tree(
        &text,
        json_pack("{s:s, s:s, s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "federation",
                  recovery->run.federation, "phase", "recovering", "connected",
                  live_bus_is_connected(recovery->daemon.bus), "shown",
                  (json_int_t)recovery->shown_count, "needed", (json_int_t)wanted_count(recovery),
                  "entry", (json_int_t)recovery->best.head.number, "epoch",
                  (json_int_t)recovery->best.head.epoch, "unsigned", (json_int_t)refused, "unread",
                  (json_int_t)unread, "waits_for", missing_of(recovery)));
    bool const is_health = strcmp(request->path, "/health") == 0;
    live_http_answer(request, text.failed || is_health ? 503 : 200, "application/json", text.bytes,
                     text.size);
    live_buffer_free(&text);
}

/* ---- Beginning and end ----------------------------------------------------------------------- */

/* Is there a state, of which run, and how far? Else the run is named by the operator, or by what
 * the sites show. */
static enum tacit_status read_own_state(struct recovery *recovery, struct tacit_error *error)
{
    struct live_coordinator_config const *const config = recovery->config;
    struct live_store *const store = recovery->daemon.store;
    struct live_runs runs = {0};
    struct live_held_entry held = {.size = 0};
    bool found = false;
    bool has_term = false;
    enum tacit_status status = live_hub_runs_read(&runs, store, config->protocol, &recovery->run,
                                                  config->daemon.state_directory, error);
    live_runs_close(&runs);
    TACIT_TRY(status);
    TACIT_TRY(live_store_get_value(store, LIVE_ENVELOPES_TERM, &recovery->own_term, &has_term));
    TACIT_TRY(live_store_get_value(store, LIVE_RUN_NONCE, &recovery->run.run_nonce, &found));
    bool const is_named = config->begins_term ? !found : config->lost_run != NULL;
    if (is_named)
        TACIT_TRY(live_hub_parse_run(config->lost_run, &recovery->run, error));
    live_hub_run(&recovery->run, recovery->envelopes.run);
    status = live_entry_load(&held, store, recovery->envelopes.run);
    recovery->own = held.head;
    recovery->own.state = NULL;
    free(held.envelope);
    /* A state in which nothing is closed may have been begun because the one before was lost. */
    recovery->knows_run =
        config->lost_run != NULL || recovery->own.number > 1 || config->begins_term;
    if (!recovery->knows_run) {
        recovery->own = (struct live_entry){0};
        recovery->own_term = 0;
    }
    return status;
}

/* What was opened before an error, the caller closes. */
static enum tacit_status open_all(struct recovery *recovery, struct tacit_error *error)
{
    struct live_coordinator_config const *const config = recovery->config;
    struct live_daemon *const daemon = &recovery->daemon;
    struct live_bus_events const events = {recovery, on_connected, live_member_disconnected,
                                           on_received};
    TACIT_TRY(live_member_open(&recovery->member, daemon, &recovery->envelopes,
                               &config->daemon.signing, recovery->run.site_count + 1, error));
    recovery->sites = calloc(recovery->run.site_count, sizeof *recovery->sites);
    recovery->timer = live_timer_new(daemon->loop, on_timer, recovery);
    recovery->end = live_timer_new(daemon->loop, on_end, recovery);
    if (recovery->sites == NULL || recovery->timer == NULL || recovery->end == NULL)
        return TACIT_MEMORY;
    if (config->begins_term)
        live_timer_set(recovery->end, live_now_us() + TERM_US);
    TACIT_TRY(read_own_state(recovery, error));
    TACIT_TRY(live_http_open(&daemon->http, daemon->loop, &config->daemon.http, on_request,
                             recovery, error));
    return live_bus_open(&daemon->bus, daemon->loop, &config->daemon.bus, &events, error);
}

enum tacit_status live_coordinator_recover(const struct live_coordinator_config *config,
                                           const struct live_store_identity *identity,
                                           bool *goes_on, uint64_t *term, struct tacit_error *error)
{
    struct recovery recovery = {.config = config,
                                .run = config->hub,
                                .envelopes = {.federation = config->hub.federation,
                                              .self = TACIT_WIRE_COORDINATOR,
                                              .family = config->protocol->wire->family,
                                              .term = 1}};
    *goes_on = false;
    if (!config->protocol->is_rebuilt && !config->begins_term)
        return live_refuse(error, TACIT_INVALID,
                           "the protocol %s is not built again from what its sites hold: %s",
                           config->protocol->wire->name,
                           live_hub_replicated_log_over(config->protocol->one_run != NULL));
    TACIT_TRY(live_daemon_open(&recovery.daemon, config->daemon.state_directory, identity, error));
    enum tacit_status status = open_all(&recovery, error);
    if (status == TACIT_OK) {
        live_log(LIVE_LOG_WARNING, "recovering",
                 "waits until %u of %u sites have shown what they hold", wanted_count(&recovery),
                 recovery.run.site_count);
        status = live_daemon_run(&recovery.daemon);
    }
    if (status == TACIT_OK && recovery.status != TACIT_OK) {
        status = recovery.status;
        *error = recovery.why;
    }
    *goes_on = status == TACIT_OK && recovery.is_done;
    *term = *goes_on ? last_term(&recovery) : 0;
    live_daemon_close(&recovery.daemon);
    live_member_close(&recovery.member);
    free(recovery.best.envelope);
    free(recovery.sites);
    return status;
}
