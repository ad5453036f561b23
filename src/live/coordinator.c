/* The coordinator: a hub, a roster, a status. What it does is a function of the messages it
 * accepted; all of it is durable before the next word is said. */
#include "coordinator.h"
#include "bus/topics.h"
#include "coordinator_state.h"
#include "daemon/entropy.h"
#include "daemon/log.h"
#include "daemon/names.h"
#include "hub_runs.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ENTROPY_PAUSE_US 1000000u
#define WATCH_US 1000000u
#define ANNOUNCE_AGAIN_US 2000000u
#define RETAINED_WAIT_US 500000u /* what the broker keeps comes at once, if it has it */
#define IS_AHEAD                                                                                   \
    "it is ahead of this coordinator, whose state is lost or an old one: stop it, and see "        \
    "tacit coordinator --recover, and --new-term"

/* ---- Saying ---------------------------------------------------------------------------------- */

static struct live_hub_view view_of(const struct coordinator *coordinator)
{
    struct live_hub_view view;
    coordinator->config->protocol->fill_view(coordinator->hub, &view);
    return view;
}

static void publish(struct coordinator *coordinator, const struct live_message *message)
{
    struct live_hub_config const *const run = &coordinator->run;
    char const *const protocol = coordinator->config->protocol->wire->name;
    bool const is_for_all = message->to == TACIT_EVERYONE;
    TACIT_ASSERT(is_for_all || message->to < run->site_count);
    TACIT_ASSERT(!message->is_about_one || message->about < run->site_count);
    char const *const to = is_for_all ? NULL : run->sites[message->to];
    struct live_topic const topic =
        message->is_about_one
            ? live_topic_down_of(run->federation, run->sites[message->about], protocol)
        : is_for_all ? live_topic_down(run->federation, protocol)
                     : live_topic_to(run->federation, to, protocol);
    live_member_send(&coordinator->member, message, to, topic.text);
}

static void announce_to(struct coordinator *coordinator, uint32_t site)
{
    struct live_hub_config const *const config = &coordinator->run;
    struct live_topic const topic =
        live_topic_to(config->federation, config->sites[site], "announce");
    struct live_envelope envelope = {
        .topic = topic.text, .to = config->sites[site], .kind = TACIT_WIRE_KIND_ANNOUNCEMENT};
    uint8_t *const body =
        live_hub_announce(coordinator->config->protocol, config, site, &envelope.size);
    envelope.body = body;
    if (body == NULL)
        live_log(LIVE_LOG_WARNING, "memory", "%s was not invited now; it will be invited again",
                 config->sites[site]);
    else
        live_member_post(&coordinator->member, &envelope, true);
    free(body);
}

static void announce(struct coordinator *coordinator)
{
    for (uint32_t site = 0; site < coordinator->run.site_count; site++)
        announce_to(coordinator, site);
    coordinator->announced = (struct round_resend){.due_us = live_now_us() + ANNOUNCE_AGAIN_US};
}

/* ---- Steps ----------------------------------------------------------------------------------- */

/* The entry of what is said next goes out before it. Errors: false: nothing must be said. */
static bool extend_replicated_log(struct coordinator *coordinator, bool has_changed)
{
    if (!has_changed && coordinator->replicated_log.held.head.number > 0 &&
        coordinator->replicated_log.held.head.term == coordinator->envelopes.term)
        return true;
    enum tacit_status const status = live_hub_replicated_log_advance(
        &coordinator->replicated_log, &coordinator->daemon, &coordinator->envelopes,
        coordinator->config->protocol, coordinator->hub);
    live_daemon_check(&coordinator->daemon, status, "an entry cannot be written");
    return status == TACIT_OK;
}

/* Persist, send, set the timer. What is sent leaves after the commit of this round. */
static void carry_out(struct coordinator *coordinator, const struct live_hub_update *update)
{
    if (update->persist && live_daemon_begin(&coordinator->daemon))
        coordinator->hub_is_dirty = true;
    if (!extend_replicated_log(coordinator, update->persist))
        return;
    for (size_t i = 0; i < update->message_count; i++)
        publish(coordinator, &update->messages[i]);
    if (update->file != NULL)
        live_file_keep(coordinator->config->daemon.state_directory, update->file);
    if (update->note != NULL)
        live_log(LIVE_LOG_INFO, "order", "%s", update->note);
    live_timer_set(coordinator->timer, update->deadline_us);
}

/* Who has won. With a limit of rounds others may still be in. */
static void log_winner(const struct coordinator *coordinator, const struct live_hub_view *hub)
{
    struct live_hub_config const *const config = &coordinator->run;
    uint32_t const arm = live_hub_winner(hub, config->arm_count);
    if (arm >= config->arm_count)
        return;
    if (!hub->judges)
        live_log(LIVE_LOG_INFO, "finished",
                 "all sites have played their pulls; %s has the best mean of their estimates",
                 config->arm_names[arm]);
    else if (hub->active_count == 1)
        live_log(LIVE_LOG_INFO, "decided", "%s wins: all other arms are out",
                 config->arm_names[arm]);
    else if (hub->intervals != NULL)
        live_log(LIVE_LOG_INFO, "decided",
                 "%s is played to the end; with confidence %.6g %% it was not told from %u others",
                 config->arm_names[arm], 100 * hub->intervals->confidence, hub->active_count - 1);
    else
        live_log(LIVE_LOG_INFO, "decided",
                 "%s has the best mean; the rounds of this run did not tell it from %u other arms",
                 config->arm_names[arm], hub->active_count - 1);
}

static void log_flagged(const struct coordinator *coordinator, uint32_t site)
{
    live_log(LIVE_LOG_ERROR, "two-states",
             "two states of site %s: it shows another release than the one that was granted to it; "
             "a copy, a clone or an old state of it is running",
             coordinator->run.sites[site]);
}

/* What a step is held against, to say what is new. */
struct known {
    bool is_finished;
    bool is_helper_asked;
    bool is_flagged; /* the site whose message it is */
    uint32_t ahead_count;
    uint32_t forker_count;
};

/* site: whose message it is; TACIT_HUB: it is none of a site's. */
static struct known known_of(const struct coordinator *coordinator, uint32_t site)
{
    struct live_hub_view const hub = view_of(coordinator);
    uint32_t const count = coordinator->run.site_count;
    return (struct known){.is_finished = hub.is_finished,
                          .is_helper_asked = hub.helper.is_asked,
                          .is_flagged = site != TACIT_HUB && live_hub_has_two_states(&hub, site),
                          .ahead_count = hub.ahead == NULL ? 0 : tacit_bits_count(hub.ahead, count),
                          .forker_count =
                              hub.forkers == NULL ? 0 : tacit_bits_count(hub.forkers, count)};
}

/* A site's message has shown that somebody has two states, or an old one. */
static void log_alarms(const struct coordinator *coordinator, uint32_t site,
                       const struct known *before, const struct known *after)
{
    if (after->is_flagged && !before->is_flagged)
        log_flagged(coordinator, site);
    if (after->forker_count > before->forker_count)
        live_log(LIVE_LOG_ERROR, "two-rows",
                 "a site has signed two different rows of one round, and shown them to different "
                 "sites; the status names it");
    if (after->ahead_count > before->ahead_count)
        live_log(LIVE_LOG_ERROR, "old-state",
                 "site %s shows a grant that this state knows nothing of: it is an old one, or the "
                 "site does not say what is true",
                 coordinator->run.sites[site]);
}

/* ---- What is known --------------------------------------------------------------------------- */

static struct live_status status_of(const struct coordinator *coordinator,
                                    struct live_hub_view *view)
{
    struct live_bus const *const bus = coordinator->daemon.bus; /* none while a run is only ended */
    *view = view_of(coordinator);
    return (struct live_status){
        .of = coordinator,
        .config = &coordinator->run,
        .hub = view,
        .broker = bus == NULL ? (struct live_bus_trouble){.reason = ""} : live_bus_why(bus),
        .now_us = live_now_us(),
        .helper_since_us = live_helper_desk_waits(view) ? coordinator->desk.since_us : 0};
}

/* The run is over: what it came to is written down, in the batch of this round. */
static void end_run(struct coordinator *coordinator)
{
    struct live_hub_view view;
    struct live_buffer text = {0};
    struct live_status const status = status_of(coordinator, &view);
    live_status_write(&status, &text);
    live_runs_end(&coordinator->runs, &coordinator->daemon, text.bytes,
                  text.failed ? 0 : text.size);
    live_buffer_free(&text);
}

/* What a round that was closed has released. */
static void note_round(struct coordinator *coordinator)
{
    struct live_hub_view const view = view_of(coordinator);
    struct live_hub_intervals const *const known = view.intervals;
    double const *const values[3] = {view.means, known == NULL ? NULL : known->lowers,
                                     known == NULL ? NULL : known->uppers};
    if (view.judges && view.means != NULL)
        live_history_add(&coordinator->history, view.round_count, view.pulls, view.radius,
                         view.active, values);
}

/* A run that is over may change still, by late votes or its operator: so does its result then. */
static void note_end(struct coordinator *coordinator, bool was_finished, bool has_changed)
{
    struct live_hub_view const view = view_of(coordinator);
    if (view.is_finished && !was_finished)
        log_winner(coordinator, &view);
    if (view.is_finished && (has_changed || !live_runs_is_over(&coordinator->runs)))
        end_run(coordinator);
}

/* Did this site sign the row of this digest? Peers pass rows on, so their envelopes do not say it.
 */
static bool check_row(void *context, const char *site, const uint8_t digest[32],
                      const uint8_t signature[64])
{
    struct coordinator const *const coordinator = context;
    return live_envelopes_check_row(&coordinator->envelopes, site, digest, signature);
}

static void speak(struct coordinator *coordinator);

/* The helper has agreed: the run is announced, with its word. */
static void announce_agreed(struct coordinator *coordinator)
{
    coordinator->desk.since_us = 0;
    coordinator->run.sealing = live_hub_sealing(coordinator->hub);
    speak(coordinator);
}

/* Feeds the hub, carries its update out within this round, and says in the log what is new. */
static enum tacit_status step(struct coordinator *coordinator, struct live_hub_event event)
{
    struct live_row_signer const signer = {.context = coordinator, .check = check_row};
    struct tacit_entropy const entropy =
        live_entropy(coordinator->run.has_helper ? LIVE_ENTROPY_NOISE : LIVE_ENTROPY_DECISIONS);
    uint32_t const site = event.kind == LIVE_HUB_RECEIVE ? event.from : TACIT_HUB;
    struct live_hub_update update;
    TACIT_ASSERT(coordinator->hub != NULL);
    event.now_us = live_now_us();
    event.term = coordinator->envelopes.term;
    event.signer = &signer;

    struct known const before = known_of(coordinator, site);
    enum tacit_status const status = live_hub_step(coordinator->hub, &event, &entropy, &update);
    if (status == TACIT_ENTROPY) /* nothing changed, and a deadline that is over still stands */
        update.deadline_us = event.now_us + ENTROPY_PAUSE_US;
    carry_out(coordinator, &update);
    struct known const after = known_of(coordinator, site);

    note_end(coordinator, before.is_finished, update.persist);
    note_round(coordinator);
    if (update.announces)
        announce_agreed(coordinator);
    if (after.is_helper_asked && !before.is_helper_asked) { /* behind the write that fixes it */
        live_helper_desk_soon(&coordinator->desk);
        live_timer_set(coordinator->watch, event.now_us);
    }
    if (event.kind == LIVE_HUB_HELPER && update.persist && live_daemon_begin(&coordinator->daemon))
        live_store_erase_past(coordinator->daemon.store); /* masked sums, and noise */
    if (site != TACIT_HUB)
        log_alarms(coordinator, site, &before, &after);
    return status;
}

/* The hub goes into the batch once a round, whatever number of messages came. */
static void prepare(void *context)
{
    struct coordinator *const coordinator = context;
    size_t size;
    if (!coordinator->hub_is_dirty || !coordinator->daemon.batch_is_open)
        return;
    void const *const bytes = live_hub_bytes(coordinator->hub, &size);
    TACIT_ASSERT(size > 0);
    live_daemon_check(&coordinator->daemon,
                      live_store_put_core(coordinator->daemon.store, bytes, size),
                      "the state cannot be written");
    coordinator->hub_is_dirty = false;
}

static void on_timer(void *context)
{
    struct coordinator *const coordinator = context;
    (void)step(coordinator, (struct live_hub_event){.kind = LIVE_HUB_TIMEOUT});
    struct live_hub_view const view = view_of(coordinator);
    if (view.is_overdue)
        live_log(LIVE_LOG_WARNING, "waiting", "round %u: %u of the %u sites of the quorum reported",
                 view.epoch, view.covered_count, live_hub_quorum(&view, &coordinator->run));
}

struct named_site {
    const char *name;
    uint32_t site;
};

static int compare_sites(const void *left, const void *right)
{
    struct named_site const *const a = left;
    struct named_site const *const b = right;
    return strcmp(a->name, b->name);
}

/* The roster by name. Errors: TACIT_MEMORY. */
static enum tacit_status sort_sites(struct coordinator *coordinator)
{
    struct live_hub_config const *const config = &coordinator->run;
    coordinator->by_name = calloc(config->site_count, sizeof *coordinator->by_name);
    if (coordinator->by_name == NULL)
        return TACIT_MEMORY;
    for (uint32_t site = 0; site < config->site_count; site++)
        coordinator->by_name[site] = (struct named_site){config->sites[site], site};
    qsort(coordinator->by_name, config->site_count, sizeof *coordinator->by_name, compare_sites);
    return TACIT_OK;
}

/* UINT32_MAX: not in the roster. Cost: O(log sites). */
static uint32_t site_index(const struct coordinator *coordinator, const char *name)
{
    struct named_site const wanted = {.name = name};
    struct named_site const *const found =
        bsearch(&wanted, coordinator->by_name, coordinator->run.site_count,
                sizeof *coordinator->by_name, compare_sites);
    return found == NULL ? UINT32_MAX : found->site;
}

/* In which term a site is, whether it is heard or not. */
static void note_term(struct coordinator *coordinator, uint32_t site,
                      const struct live_opened *opened)
{
    struct tacit_wire_envelope const *const envelope = &opened->envelope;
    if (!opened->is_unsigned &&
        memcmp(envelope->run, coordinator->envelopes.run, sizeof envelope->run) == 0)
        coordinator->sites[site].term = envelope->term;
}

/* Which version of messages a site speaks: the epoch of an entry that it shows says it
 * (LIVE_VERSION_SAID). Once all speak a newer one, it is said to all. */
static void note_version(struct coordinator *coordinator, uint32_t site,
                         const struct live_opened *opened)
{
    struct tacit_wire_envelope const *const shown = &opened->envelope;
    uint32_t const newest =
        (shown->epoch & LIVE_VERSION_SAID) != 0 ? shown->epoch ^ LIVE_VERSION_SAID : shown->version;
    uint32_t const speaks = opened->foreign != 0          ? opened->foreign
                            : newest < TACIT_WIRE_VERSION ? newest
                                                          : TACIT_WIRE_VERSION;
    TACIT_ASSERT(site < coordinator->run.site_count);
    uint32_t *const version = &coordinator->envelopes.version;
    uint32_t const before = *version;
    if (speaks == coordinator->speaks[site])
        return;
    coordinator->speaks[site] = speaks;
    *version = live_version_agree(TACIT_WIRE_VERSION, before, coordinator->speaks,
                                  coordinator->run.site_count);
    if (*version == before)
        return;
    live_log(LIVE_LOG_INFO, "version", LIVE_VERSION_FORMAT ", and so do all sites", *version,
             TACIT_WIRE_VERSION_OLDEST, TACIT_WIRE_VERSION);
    if (coordinator->has_spoken)
        speak(coordinator);
}

bool coordinator_is_foreign(const struct coordinator *coordinator, uint32_t site)
{
    uint32_t const speaks = coordinator->speaks[site];
    return speaks > TACIT_WIRE_VERSION || (speaks > 0 && speaks < coordinator->envelopes.version);
}

/* False: it was refused. */
static bool open_envelope(struct coordinator *coordinator, uint32_t site,
                          const struct live_arrival *arrival, struct live_opened *opened)
{
    char const *const objection = live_envelope_open(&coordinator->envelopes, arrival, opened);
    note_term(coordinator, site, opened);
    if (opened->foreign != 0 || (objection == NULL && coordinator_is_foreign(coordinator, site)))
        note_version(coordinator, site, opened); /* an old message that came again is over, too */
    if (objection == NULL)
        coordinator->sites[site].heard_us = live_now_us();
    return live_member_accept(&coordinator->member, &coordinator->sites[site].sender, arrival->from,
                              objection == live_envelope_is_ahead ? IS_AHEAD : objection, opened);
}

static void on_envelope(struct coordinator *coordinator, uint32_t site,
                        const struct live_arrival *arrival)
{
    struct live_opened opened;
    if (!open_envelope(coordinator, site, arrival, &opened))
        return;
    enum tacit_status const status =
        step(coordinator, (struct live_hub_event){.kind = LIVE_HUB_RECEIVE,
                                                  .from = site,
                                                  .bytes = opened.envelope.body,
                                                  .size = opened.envelope.body_size,
                                                  .envelope = &opened.envelope,
                                                  .message_kind = opened.envelope.kind,
                                                  .message_epoch = opened.envelope.epoch});
    if (status == TACIT_OK)
        coordinator->accepted_count++;
    else
        live_member_refuse(&coordinator->member, &coordinator->sites[site].sender, arrival->from,
                           status == TACIT_ROLLBACK ? IS_AHEAD : tacit_status_text(status), false);
}

/* What a site holds of the replicated log; it may show that this coordinator must not go on. */
static void on_entry(struct coordinator *coordinator, uint32_t site,
                     const struct live_arrival *arrival)
{
    struct live_opened opened;
    struct live_hub_replicated_log *const replicated_log = &coordinator->replicated_log;
    if (arrival->size == 0)
        return; /* it holds none */
    char const *objection = live_envelope_open_entry(&coordinator->envelopes, arrival, &opened);
    note_term(coordinator, site, &opened);
    if (objection == NULL)
        objection = live_hub_replicated_log_read(replicated_log, &coordinator->envelopes,
                                                 arrival->from, &opened.envelope);
    (void)live_member_accept(&coordinator->member, &coordinator->sites[site].sender, arrival->from,
                             objection, &opened);
    if (replicated_log->stop != LIVE_HUB_GOES_ON)
        live_daemon_fail(&coordinator->daemon,
                         replicated_log->stop == LIVE_HUB_FORKED ? TACIT_FORKED : TACIT_ROLLBACK,
                         replicated_log->why.text);
    else if (objection == NULL || opened.foreign != 0)
        note_version(coordinator, site, &opened);
}

/* From the broker or a file: it counts by its own signature, with the key that the file pins. No
 * bytes: nothing came, and what is owed is tried again. */
static enum tacit_status on_helper(struct coordinator *coordinator, const uint8_t *bytes,
                                   size_t size)
{
    enum tacit_status const status =
        step(coordinator,
             (struct live_hub_event){.kind = LIVE_HUB_HELPER, .bytes = bytes, .size = size});
    if (status == TACIT_FORKED)
        live_daemon_fail(&coordinator->daemon, status,
                         "two words of the helper for one thing: it has two states, or says two "
                         "things");
    else if (status != TACIT_OK && status != TACIT_UNEXPECTED)
        live_member_refuse(&coordinator->member, &coordinator->strangers, LIVE_HELPER,
                           status == TACIT_STRANGER
                               ? "a message that the pinned helper did not sign"
                               : tacit_status_text(status),
                           status == TACIT_STRANGER);
    return status;
}

static void tick_helper(struct coordinator *coordinator)
{
    size_t size = 0;
    uint8_t *const said = live_helper_desk_file(&coordinator->desk, &size);
    if (on_helper(coordinator, said, size) == TACIT_FORKED)
        free(live_helper_desk_file(&coordinator->desk, &size)); /* it goes: once is enough */
    free(said);
    struct live_hub_view const view = view_of(coordinator);
    live_helper_desk_tick(&coordinator->desk, coordinator->hub, &view, live_now_us());
}

/* The sender is read from the topic, and proved by the signature. */
static void on_received(void *context, const char *topic, const uint8_t *bytes, size_t size)
{
    struct coordinator *const coordinator = context;
    char name[65];
    struct live_arrival const arrival = {topic, name, bytes, size};
    char const *const federation = coordinator->run.federation;
    if (coordinator->run.has_helper && live_helper_desk_has_topic(&coordinator->desk, topic)) {
        if (live_sender_admit(&coordinator->strangers, live_now_us()) &&
            live_pieces_add(&coordinator->desk.pieces, &bytes, &size))
            (void)on_helper(coordinator, bytes, size);
        return;
    }
    bool const is_key = live_topic_key_of(topic, federation, name);
    bool const is_entry = !is_key && live_topic_site(topic, federation, LIVE_TOPIC_ENTRY, name);
    if (!is_key && !is_entry &&
        !live_topic_site(topic, federation, coordinator->config->protocol->wire->name, name))
        return;
    if (is_key && strcmp(name, TACIT_WIRE_COORDINATOR) == 0)
        return; /* our own, which the broker keeps */
    uint32_t const site = site_index(coordinator, name);
    bool const is_known = site != UINT32_MAX;
    struct live_sender *const sender =
        is_known ? &coordinator->sites[site].sender : &coordinator->strangers;
    if (!live_sender_admit(sender, live_now_us()))
        return;
    if (!is_known)
        live_member_refuse(&coordinator->member, sender, name, "not in the roster", false);
    else if (is_key)
        live_member_add_key(&coordinator->member, sender, &arrival);
    else if (is_entry)
        on_entry(coordinator, site, &arrival);
    else
        on_envelope(coordinator, site, &arrival);
}

/* ---- The broker ------------------------------------------------------------------------------ */

/* What stands; again, after each connection: retained state may be gone with the broker. */
static void speak(struct coordinator *coordinator)
{
    if (coordinator->run.has_helper && coordinator->run.sealing == NULL)
        return; /* the helper agrees first */
    coordinator->has_spoken = true;
    announce(coordinator);
    (void)live_hub_replicated_log_sign(&coordinator->replicated_log, &coordinator->envelopes);
    live_hub_replicated_log_publish(&coordinator->replicated_log, &coordinator->daemon,
                                    &coordinator->envelopes);
    (void)step(coordinator, (struct live_hub_event){.kind = LIVE_HUB_START});
}

/* To those of whom nothing was heard in this run and term: what was announced may have been lost,
 * and who is in another one hears nothing else of this coordinator. */
static void announce_again(struct coordinator *coordinator, uint64_t now_us)
{
    struct round_resend *const again = &coordinator->announced;
    if (!coordinator->has_spoken || now_us < again->due_us)
        return;
    for (uint32_t site = 0; site < coordinator->run.site_count; site++)
        if (coordinator->sites[site].heard_us == 0)
            announce_to(coordinator, site);
    again->due_us = now_us + round_pause_us(ANNOUNCE_AGAIN_US, ++again->unanswered_count);
}

static void listen_and_speak(struct coordinator *coordinator)
{
    char const *const federation = coordinator->run.federation;
    struct live_topic const topic =
        live_topic_all_up(federation, coordinator->config->protocol->wire->name);
    (void)live_bus_subscribe(coordinator->daemon.bus, topic.text);
    speak(coordinator);
}

/* Nobody holds more than this coordinator does, as far as the broker has told. */
static void on_retained_wait_over(void *context)
{
    struct coordinator *const coordinator = context;
    if (live_bus_is_connected(coordinator->daemon.bus)) /* else the next connection waits for it */
        listen_and_speak(coordinator);
}

static void on_connected(void *context)
{
    struct coordinator *const coordinator = context;
    struct live_topic const entries =
        live_topic_all_up(coordinator->run.federation, LIVE_TOPIC_ENTRY);
    live_member_connected(&coordinator->member);
    live_member_add_own_key(&coordinator->member); /* it signed the entries that sites hold */
    (void)live_bus_subscribe(coordinator->daemon.bus, entries.text);
    if (coordinator->run.has_helper)
        live_helper_desk_connected(&coordinator->desk);
    if (coordinator->replicated_log.held.head.number > 1)
        listen_and_speak(coordinator);
    else /* nothing is closed: the state may be new because it was lost */
        live_timer_set(coordinator->retained_wait, live_now_us() + RETAINED_WAIT_US);
}

/* ---- Status ---------------------------------------------------------------------------------- */

static void see_standstill(struct coordinator *coordinator)
{
    struct live_hub_view const view = view_of(coordinator);
    uint64_t const now_us = live_now_us();
    live_standstill_see(&coordinator->standstill, live_hub_hash(&view, &coordinator->run), now_us);
    live_standstill_see(&coordinator->round, view.epoch, now_us);
}

static void on_watch(void *context)
{
    struct coordinator *const coordinator = context;
    see_standstill(coordinator);
    announce_again(coordinator, live_now_us());
    if (coordinator->run.has_helper)
        tick_helper(coordinator);
    live_timer_set(coordinator->watch, live_now_us() + WATCH_US);
}

static void on_request(void *context, struct live_request *request)
{
    struct coordinator *const coordinator = context;
    struct live_hub_view view;
    see_standstill(coordinator);
    struct live_status status = status_of(coordinator, &view);
    live_status_answer(&status, request);
}

/* ---- The operator's words -------------------------------------------------------------------- */

struct live_control_names live_hub_names(const struct live_hub_config *run)
{
    return (struct live_control_names){run->sites, run->site_count, run->arm_names, run->arm_count};
}

static void answer_change(struct coordinator *coordinator, struct live_request *request,
                          const struct live_control_entry *wanted, uint32_t number, bool is_new)
{
    struct live_control_names const names = live_hub_names(&coordinator->run);
    struct live_buffer words = {0};
    enum live_change const change = wanted->change;
    struct live_change_texts const *const own =
        change == LIVE_CHANGE_END_RUN ? coordinator->config->protocol->end_texts : NULL;
    live_control_format(wanted, &names, &words);
    live_buffer_add_bytes(&words, "", 1);
    struct live_control_done const done = {.change = words.failed ? "" : words.bytes,
                                           .texts =
                                               own != NULL ? *own : *live_control_texts(change)};
    if (is_new)
        live_log(LIVE_LOG_WARNING, "change", "%u: %s", number, done.change);
    live_control_done(coordinator->control, request, number, is_new, &done);
    live_buffer_free(&words);
}

/* One word, one change, in the batch of this round; its order goes to everybody behind it. */
static void obey(struct coordinator *coordinator, struct live_request *request,
                 const struct live_control_entry *wanted)
{
    struct tacit_entropy const entropy = live_entropy(LIVE_ENTROPY_DECISIONS);
    struct live_hub_update update;
    const char *objection = "it is not possible";
    uint32_t number = 0;
    bool const was_finished = view_of(coordinator).is_finished;
    enum tacit_status const status = live_hub_change(coordinator->hub, wanted, live_now_us(),
                                                     &entropy, &update, &number, &objection);
    if (status != TACIT_OK) {
        live_control_refuse(coordinator->control, request, status == TACIT_ENTROPY ? 503 : 409,
                            objection);
        return;
    }
    carry_out(coordinator, &update);
    answer_change(coordinator, request, wanted, number, update.persist);
    note_end(coordinator, was_finished, update.persist);
}

static void on_command(void *context, struct live_request *request)
{
    struct coordinator *const coordinator = context;
    struct live_hub_ops const *const protocol = coordinator->config->protocol;
    struct live_control_names const names = live_hub_names(&coordinator->run);
    struct tacit_error error = {""};
    struct live_hub_view const view = view_of(coordinator);
    if (strcmp(request->method, "GET") == 0) {
        live_control_answer_log(coordinator->control, request, view.changes, view.change_count,
                                &names);
        return;
    }
    if (protocol->change == NULL && protocol->objections == NULL) {
        (void)snprintf(error.text, sizeof error.text,
                       "the protocol %s cannot be changed under way; stop the coordinator, and "
                       "begin a new run",
                       protocol->wire->name);
        live_control_refuse(coordinator->control, request, 409, error.text);
        return;
    }
    struct live_control_entry wanted = {.quorum = view.quorum_wanted,
                                        .deadline_s = view.deadline_s};
    json_t *const body = live_api_read_body(request->body, request->size, &error);
    bool const is_clear = body != NULL && live_control_read(body, &names, &wanted, &error);
    const char *const objection =
        is_clear && protocol->objections != NULL ? protocol->objections[wanted.change] : NULL;
    if (objection != NULL)
        live_control_refuse(coordinator->control, request, 409, objection);
    else if (is_clear)
        obey(coordinator, request, &wanted);
    else
        live_control_refuse(coordinator->control, request, 400, error.text);
    json_decref(body);
}

static void reload(void *context)
{
    struct coordinator *const coordinator = context;
    live_member_reload(&coordinator->member);
    live_observe_reload(&coordinator->observe);
}

/* ---- Start ----------------------------------------------------------------------------------- */

/* What may not change while there is state, by the keys of the file; `agreed` is to be given to
 * free(). */
static enum tacit_status identify(const struct live_coordinator_config *config,
                                  struct live_store_identity *identity)
{
    struct live_hub_config const *const hub = &config->hub;
    char *text = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&text, &size);
    if (out == NULL)
        return TACIT_MEMORY;
    *identity = (struct live_store_identity){
        .role = "coordinator", .federation = hub->federation, .site = ""};
    (void)fprintf(out, "protocol %s\nrun.id %llu\nrun.horizon %llu\nrun.epsilon %.17g\n",
                  config->protocol->wire->name, (unsigned long long)hub->run_id,
                  (unsigned long long)hub->horizon, hub->epsilon);
    (void)fprintf(out, "run.quorum %u\nrun.deadline_s %u\nrun.range [%.17g, %.17g]\n", hub->quorum,
                  hub->deadline_s, hub->lo, hub->hi);
    if (hub->has_helper)
        (void)fprintf(out, "run.trust.floor %llu\nrun.trust.helper %s\n",
                      (unsigned long long)hub->floor_nano, hub->trust_helper);
    for (uint32_t site = 0; site < hub->site_count; site++)
        (void)fprintf(out, "sites %s\n", hub->sites[site]);
    for (uint32_t arm = 0; arm < hub->arm_count; arm++)
        (void)fprintf(out, "arms %s\n", hub->arm_names[arm]);
    config->protocol->describe(hub, out);
    bool const is_whole = fclose(out) == 0;
    return live_store_identity_agree(identity, text, is_whole);
}

/* What the envelopes of this run say of it: what every site is told that all must agree on. */
static enum tacit_status begin_envelopes(struct coordinator *coordinator)
{
    struct live_envelopes *const envelopes = &coordinator->envelopes;
    *envelopes = (struct live_envelopes){.federation = coordinator->run.federation,
                                         .self = TACIT_WIRE_COORDINATOR,
                                         .version = TACIT_WIRE_VERSION_OLDEST,
                                         .family = coordinator->config->protocol->wire->family,
                                         .term = 1};
    live_hub_run(&coordinator->run, envelopes->run);
    return live_hub_agreed(coordinator->config->protocol, &coordinator->run, envelopes->agreement);
}

/* The operator's word may name a run for a state that knows none; for another one it is refused. */
static enum tacit_status check_named_run(const struct coordinator *coordinator,
                                         struct tacit_error *error)
{
    struct live_hub_config named = coordinator->run;
    char const *const text = coordinator->config->lost_run;
    if (!coordinator->config->ends_run || text == NULL)
        return TACIT_OK;
    enum tacit_status const status = live_hub_parse_run(text, &named, error);
    if (status != TACIT_OK || named.run_nonce == coordinator->run.run_nonce)
        return status;
    return live_refuse(error, TACIT_INVALID,
                       "%s: this is the state of another run than %s: move the directory away, and "
                       "repeat the command",
                       coordinator->config->daemon.state_directory, text);
}

/* Drawn once a state, and kept: so words of an earlier run of the same number are of another run. A
 * run that is only to be ended, or to go on, is named where the state of it is lost. */
static enum tacit_status open_nonce(struct coordinator *coordinator, struct tacit_error *error)
{
    static const char name[] = LIVE_RUN_NONCE;
    struct live_coordinator_config const *const config = coordinator->config;
    struct live_store *const store = coordinator->daemon.store;
    struct tacit_entropy const entropy = live_entropy(LIVE_ENTROPY_KEYS);
    bool found = false;
    TACIT_TRY(live_store_get_value(store, name, &coordinator->run.run_nonce, &found));
    if (found)
        return check_named_run(coordinator, error);
    TACIT_TRY(config->begins_term || config->ends_run
                  ? live_hub_parse_run(config->lost_run, &coordinator->run, error)
                  : tacit_entropy_word(&entropy, &coordinator->run.run_nonce));
    return live_daemon_begin(&coordinator->daemon)
               ? live_store_put_value(store, name, coordinator->run.run_nonce)
               : TACIT_IO;
}

/* Keys of the sites, and its own: nobody else is heard. What was opened before an error, the caller
 * closes. */
static enum tacit_status open_member(struct coordinator *coordinator, struct tacit_error *error)
{
    struct live_coordinator_config const *const config = coordinator->config;
    uint32_t const count = config->hub.site_count;
    TACIT_TRY(live_member_open(&coordinator->member, &coordinator->daemon, &coordinator->envelopes,
                               &config->daemon.signing, count + 1, error));
    coordinator->sites = calloc(count, sizeof *coordinator->sites);
    coordinator->speaks = calloc(count, sizeof *coordinator->speaks);
    return coordinator->sites == NULL || coordinator->speaks == NULL ? TACIT_MEMORY : TACIT_OK;
}

/* The term as it was kept, or the one that the operator begins: later than any that the sites are
 * in. It is durable before anybody hears of it. */
static enum tacit_status restore_term(struct coordinator *coordinator)
{
    struct live_store *const store = coordinator->daemon.store;
    uint64_t *const term = &coordinator->envelopes.term;
    bool is_known;
    TACIT_TRY(live_store_get_value(store, LIVE_ENVELOPES_TERM, term, &is_known));
    if (!coordinator->config->begins_term)
        return TACIT_OK;
    TACIT_ASSERT(coordinator->last_term >= *term || !is_known);
    *term = coordinator->last_term + 1;
    return live_daemon_begin(&coordinator->daemon) /* the run may be in it, too */
               ? live_store_put_value(store, LIVE_ENVELOPES_TERM, *term)
               : TACIT_IO;
}

/* The hub of this run, as the store has it. */
static enum tacit_status open_hub(const struct live_coordinator_config *config,
                                  struct live_store *store, const struct live_hub_config *run,
                                  struct live_hub **hub)
{
    size_t size;
    void *bytes;
    TACIT_TRY(live_store_copy_core(store, &bytes, &size));
    enum tacit_status const status = live_hub_open(config->protocol, hub, run, bytes, size);
    free(bytes);
    return status;
}

/* From the store, in the order in which one needs the other: runs, nonce, envelopes, term, log,
 * hub. What is new is in a batch then. Errors: perhaps without words. */
static enum tacit_status restore(struct coordinator *coordinator, struct tacit_error *error)
{
    struct live_coordinator_config const *const config = coordinator->config;
    struct live_store *const store = coordinator->daemon.store;
    TACIT_TRY(live_hub_runs_open(&coordinator->runs, &coordinator->daemon, config->protocol,
                                 &coordinator->run, config->daemon.state_directory, error));
    TACIT_TRY(open_nonce(coordinator, error));
    live_hub_runs_enter(&coordinator->runs, &coordinator->daemon, &coordinator->run);
    TACIT_TRY(begin_envelopes(coordinator));
    TACIT_TRY(restore_term(coordinator));
    TACIT_TRY(live_hub_replicated_log_open(&coordinator->replicated_log, config->protocol, store,
                                           &coordinator->envelopes));
    TACIT_TRY(sort_sites(coordinator));
    TACIT_TRY(open_hub(config, store, &coordinator->run, &coordinator->hub));
    coordinator->run.sealing = live_hub_sealing(coordinator->hub);
    coordinator->desk =
        (struct live_helper_desk){.member = &coordinator->member,
                                  .ops = config->protocol,
                                  .run = &coordinator->run,
                                  .state_directory = config->daemon.state_directory};
    return TACIT_OK;
}

/* Nobody is unflagged by a restart. */
static void log_all_flagged(const struct coordinator *coordinator)
{
    struct live_hub_view const view = view_of(coordinator);
    for (uint32_t site = 0; site < coordinator->run.site_count; site++)
        if (live_hub_has_two_states(&view, site))
            log_flagged(coordinator, site);
}

/* Page, broker, operator: whom it speaks with. After an error the caller closes what was opened. */
static enum tacit_status connect_all(struct coordinator *coordinator, struct tacit_error *error)
{
    struct live_coordinator_config const *const config = coordinator->config;
    struct live_daemon *const daemon = &coordinator->daemon;
    struct live_bus_events const events = {coordinator, on_connected, live_member_disconnected,
                                           on_received};
    daemon->context = coordinator;
    daemon->prepare = prepare;
    daemon->reload = reload;
    coordinator->timer = live_timer_new(daemon->loop, on_timer, coordinator);
    coordinator->retained_wait = live_timer_new(daemon->loop, on_retained_wait_over, coordinator);
    coordinator->watch = live_timer_new(daemon->loop, on_watch, coordinator);
    if (coordinator->timer == NULL || coordinator->retained_wait == NULL ||
        coordinator->watch == NULL)
        return TACIT_MEMORY;
    TACIT_TRY(live_http_open(&daemon->http, daemon->loop, &config->daemon.http, on_request,
                             coordinator, error));
    TACIT_TRY(live_observe_open(&coordinator->observe, daemon->loop, &config->daemon.observe,
                                on_request, coordinator, error));
    TACIT_TRY(live_bus_open(&daemon->bus, daemon->loop, &config->daemon.bus, &events, error));
    return live_control_open(&coordinator->control, daemon, config->daemon.state_directory,
                             on_command, coordinator);
}

/* Commits what restore has put into the batch: the term that the operator begins. Nothing runs. */
static enum tacit_status write_term(struct coordinator *coordinator)
{
    enum tacit_status const status = live_store_commit(coordinator->daemon.store);
    coordinator->daemon.batch_is_open = false;
    if (status == TACIT_OK)
        live_log(
            LIVE_LOG_WARNING, "term",
            "term %llu begins with the next start: what was granted before counts no more, and "
            "the sites drop what they were not granted",
            (unsigned long long)coordinator->envelopes.term);
    return status;
}

/* Ends the run by the operator's word, unless it is over, and commits that. Nothing runs. */
static enum tacit_status write_end(struct coordinator *coordinator)
{
    bool const was_over = live_runs_is_over(&coordinator->runs);
    see_standstill(coordinator); /* else the result reckons its times from the machine's start */
    if (!was_over)
        end_run(coordinator);
    enum tacit_status const status = coordinator->daemon.batch_is_open
                                         ? live_store_commit(coordinator->daemon.store)
                                         : coordinator->daemon.status;
    coordinator->daemon.batch_is_open = false;
    if (status == TACIT_OK)
        live_log(LIVE_LOG_WARNING, "runs",
                 "run %llu is over%s: a file with a greater run.id begins the next one",
                 (unsigned long long)coordinator->run.run_id, was_over ? ", and was before" : "");
    return status;
}

/* From the first word to the last. */
static enum tacit_status serve(struct coordinator *coordinator, struct tacit_error *error)
{
    struct live_hub_config const *const run = &coordinator->run;
    uint8_t name[TACIT_WIRE_RUN_BYTES];
    live_hub_run(run, name);
    live_history_open(&coordinator->history, coordinator->config->daemon.state_directory, name,
                      run->arm_count);
    TACIT_TRY(connect_all(coordinator, error));
    (void)step(coordinator, (struct live_hub_event){.kind = LIVE_HUB_START});
    coordinator->started_us = live_now_us();
    on_watch(coordinator);
    live_log(LIVE_LOG_INFO, "started", "coordinator of %s, %u sites, %u arms", run->federation,
             run->site_count, run->arm_count);
    log_all_flagged(coordinator);
    enum tacit_status const status = live_daemon_run(&coordinator->daemon);
    if (coordinator->replicated_log.stop != LIVE_HUB_GOES_ON)
        *error = coordinator->replicated_log.why;
    return status;
}

/* The daemon is open; what is opened here before an error, close_all closes. */
static enum tacit_status run(struct coordinator *coordinator, struct tacit_error *error)
{
    struct live_coordinator_config const *const config = coordinator->config;
    TACIT_TRY(live_daemon_check_state(config->daemon.state_directory, restore(coordinator, error),
                                      error));
    TACIT_TRY(open_member(coordinator, error));
    return config->begins_term ? write_term(coordinator)
           : config->ends_run  ? write_end(coordinator)
                               : serve(coordinator, error);
}

static void close_all(struct coordinator *coordinator)
{
    live_observe_close(&coordinator->observe);
    live_control_close(coordinator->control);
    live_daemon_close(&coordinator->daemon);
    live_hub_free(coordinator->hub);
    live_pieces_free(&coordinator->desk.pieces);
    live_member_close(&coordinator->member);
    live_hub_replicated_log_close(&coordinator->replicated_log);
    free(coordinator->sites);
    free(coordinator->speaks);
    free(coordinator->by_name);
    live_runs_close(&coordinator->runs);
    live_history_close(&coordinator->history);
}

enum tacit_status live_coordinator_run(const struct live_coordinator_config *config,
                                       struct tacit_error *error)
{
    struct coordinator coordinator = {.config = config, .run = config->hub};
    struct live_store_identity identity = {0};
    TACIT_ASSERT(config->protocol != NULL);
    if (config->begins_term && !config->protocol->has_terms)
        return live_refuse(error, TACIT_INVALID, "the protocol %s does not go on in a new term",
                           config->protocol->wire->name);
    bool goes_on = true;
    enum tacit_status status = identify(config, &identity);
    if (status == TACIT_OK && (config->recovers || config->begins_term))
        status =
            live_coordinator_recover(config, &identity, &goes_on, &coordinator.last_term, error);
    if (status == TACIT_OK && goes_on)
        status =
            live_daemon_open(&coordinator.daemon, config->daemon.state_directory, &identity, error);
    live_store_identity_free(&identity);
    if (status != TACIT_OK || !goes_on)
        return status;
    status = run(&coordinator, error);
    close_all(&coordinator);
    return status;
}

/* ---- Before a start -------------------------------------------------------------------------- */

static enum tacit_status open_state(const struct live_coordinator_config *config,
                                    struct live_store *store, struct live_hub **hub)
{
    struct live_hub_config run = config->hub;
    bool found;
    TACIT_TRY(live_store_get_value(store, LIVE_RUN_NONCE, &run.run_nonce, &found));
    return open_hub(config, store, &run, hub);
}

static enum tacit_status try_state(const void *context, struct live_store *store,
                                   struct tacit_error *error)
{
    struct live_coordinator_config const *const config = context;
    struct live_runs runs = {0};
    struct live_hub *hub = NULL;
    enum tacit_status status = live_hub_runs_read(&runs, store, config->protocol, &config->hub,
                                                  config->daemon.state_directory, error);
    if (status == TACIT_OK && !live_store_has_new_config(store)) /* else nothing is put back */
        status = open_state(config, store, &hub);
    live_runs_close(&runs);
    live_hub_free(hub);
    return live_daemon_check_state(config->daemon.state_directory, status, error);
}

enum tacit_status live_coordinator_check(const struct live_coordinator_config *config,
                                         enum live_store_found *found, struct tacit_error *error)
{
    struct live_store_identity identity = {0};
    enum tacit_status const status = identify(config, &identity);
    return live_store_try(config->daemon.state_directory, status, &identity, try_state, config,
                          found, error);
}
