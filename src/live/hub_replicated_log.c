/* The coordinator makes entries of its log, publishes them, and hears what the sites hold. */
#include "hub_replicated_log.h"
#include "bus/topics.h"
#include "daemon/log.h"
#include "daemon/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REBUILD                                                                                    \
    "tacit coordinator --recover builds the state from what the sites hold (docs/operations.md); " \
    "or, if this is to be a new run, give it another run.id"
#define NEWEST_BACK "put the newest copy of the state back, or the run is over: "

const char *live_hub_replicated_log_over(bool has_one_run)
{
    return has_one_run ? NEWEST_BACK "another one needs other data, and new states everywhere"
                       : NEWEST_BACK
               "move the state away, write its end down with tacit coordinator --end-run --run "
               "RUN, "
               "and begin the next one with a greater run.id (docs/operations.md)";
}

enum tacit_status live_hub_replicated_log_open(struct live_hub_replicated_log *replicated_log,
                                               const struct live_hub_ops *protocol,
                                               struct live_store *store,
                                               struct live_envelopes *envelopes)
{
    bool found;
    *replicated_log = (struct live_hub_replicated_log){
        .room = malloc(LIVE_ENTRY_STATE_BYTES_MAX),
        .protocol = !protocol->is_rebuilt ? protocol->wire->name : NULL,
        .has_one_run = protocol->one_run != NULL};
    if (replicated_log->room == NULL)
        return TACIT_MEMORY;
    enum tacit_status status = live_entry_load(&replicated_log->held, store, envelopes->run);
    if (status == TACIT_OK)
        status = live_store_get_value(store, LIVE_HUB_REBUILT_TERM, &replicated_log->rebuilt_term,
                                      &found);
    if (status == TACIT_OK)
        status = live_store_get_value(store, LIVE_HUB_REBUILT_NUMBER,
                                      &replicated_log->rebuilt_number, &found);
    envelopes->entry = replicated_log->held.head.number;
    return status;
}

void live_hub_replicated_log_close(struct live_hub_replicated_log *replicated_log)
{
    free(replicated_log->held.envelope);
    free(replicated_log->room);
    *replicated_log = (struct live_hub_replicated_log){0};
}

/* ---- Entries --------------------------------------------------------------------------------- */

/* What a hub would be built from now, in replicated_log->room. */
static struct live_entry state_of(struct live_hub_replicated_log *replicated_log,
                                  const struct live_hub_ops *protocol, const struct live_hub *hub)
{
    struct live_hub_view view;
    struct live_entry entry = {.number = replicated_log->held.head.number + 1,
                               .state = replicated_log->room};
    protocol->fill_view(hub, &view);
    entry.epoch = view.epoch;
    memcpy(entry.previous, replicated_log->held.head.digest, sizeof entry.previous);
    if (!protocol->is_rebuilt)
        return entry;
    size_t const size = live_hub_snapshot(hub, replicated_log->room, LIVE_ENTRY_STATE_BYTES_MAX);
    entry.has_state = size <= LIVE_ENTRY_STATE_BYTES_MAX;
    entry.state_size = entry.has_state ? size : 0;
    if (!entry.has_state && !replicated_log->warned_too_large)
        live_log(LIVE_LOG_WARNING, "chain",
                 "the state of this run has %zu bytes, and %u fit into a message: it cannot be "
                 "built again from what the sites hold; keep backups of %s",
                 size, LIVE_ENTRY_STATE_BYTES_MAX, "the state directory");
    replicated_log->warned_too_large = replicated_log->warned_too_large || !entry.has_state;
    return entry;
}

/* Does the entry say anything that the newest one does not? */
static bool is_new(const struct live_entry *head, const struct live_entry *entry, uint64_t term)
{
    if (head->number == 0 || head->term != term || head->has_state != entry->has_state)
        return true;
    return entry->has_state ? head->state_size != entry->state_size ||
                                  (entry->state_size > 0 &&
                                   memcmp(head->state, entry->state, entry->state_size) != 0)
                            : head->epoch != entry->epoch;
}

enum tacit_status live_hub_replicated_log_sign(struct live_hub_replicated_log *replicated_log,
                                               struct live_envelopes *envelopes)
{
    size_t size;
    struct live_entry entry = replicated_log->held.head;
    if (replicated_log->held.envelope == NULL || entry.term != envelopes->term)
        return TACIT_OK;
    uint8_t *const envelope = live_entry_write(envelopes, &entry, &size);
    if (envelope == NULL)
        return TACIT_MEMORY;
    return live_entry_hold(&replicated_log->held, envelope, size);
}

void live_hub_replicated_log_publish(const struct live_hub_replicated_log *replicated_log,
                                     struct live_daemon *daemon,
                                     const struct live_envelopes *envelopes)
{
    if (replicated_log->held.envelope != NULL)
        live_daemon_send(daemon, live_topic_down(envelopes->federation, LIVE_TOPIC_ENTRY).text,
                         replicated_log->held.envelope, replicated_log->held.size, true);
}

enum tacit_status live_hub_replicated_log_advance(struct live_hub_replicated_log *replicated_log,
                                                  struct live_daemon *daemon,
                                                  struct live_envelopes *envelopes,
                                                  const struct live_hub_ops *protocol,
                                                  const struct live_hub *hub)
{
    struct live_entry entry = state_of(replicated_log, protocol, hub);
    size_t size;
    TACIT_ASSERT(replicated_log->held.head.number == envelopes->entry &&
                 entry.number == envelopes->entry + 1);
    if (!is_new(&replicated_log->held.head, &entry, envelopes->term))
        return TACIT_OK;
    uint8_t *const envelope = live_entry_write(envelopes, &entry, &size);
    if (envelope == NULL)
        return TACIT_MEMORY;
    if (!live_daemon_begin(daemon) ||
        live_store_put_entry(daemon->store, envelopes->run, envelope, size) != TACIT_OK) {
        free(envelope);
        return TACIT_IO;
    }
    enum tacit_status const status = live_entry_hold(&replicated_log->held, envelope, size);
    envelopes->entry = replicated_log->held.head.number;
    live_hub_replicated_log_publish(replicated_log, daemon, envelopes);
    return status;
}

/* ---- What the sites hold --------------------------------------------------------------------- */

/* What the operator is to do. */
static void advise(const struct live_hub_replicated_log *replicated_log,
                   enum live_replicated_log_stop why, char *text, size_t size)
{
    if (why == LIVE_HUB_FORKED)
        (void)snprintf(text, size,
                       "Two coordinators speak for this run, or its state was copied: stop both, "
                       "and find out which one is right (docs/operations.md)");
    else if (replicated_log->protocol != NULL)
        (void)snprintf(
            text, size, "The protocol %s is not built again from what its sites hold: %s",
            replicated_log->protocol, live_hub_replicated_log_over(replicated_log->has_one_run));
    else
        (void)snprintf(text, size, "%s", REBUILD);
}

/* This coordinator must not go on: the caller ends it, with these words and what to do. */
static void stop(struct live_hub_replicated_log *replicated_log, enum live_replicated_log_stop why,
                 const char *site, const struct live_entry *found, const char *text)
{
    char run[LIVE_HEX_BYTES(TACIT_WIRE_RUN_BYTES)];
    char advice[384];
    live_hex(found->run, sizeof found->run, run);
    TACIT_ASSERT(why != LIVE_HUB_GOES_ON && replicated_log->stop == LIVE_HUB_GOES_ON);
    advise(replicated_log, why, advice, sizeof advice);
    replicated_log->stop = why;
    (void)snprintf(replicated_log->why.text, sizeof replicated_log->why.text,
                   "%s holds entry %llu of term %llu of run %s, %s. %s", site,
                   (unsigned long long)found->number, (unsigned long long)found->term, run, text,
                   advice);
}

/* A run with our number, of which nothing is known here. If ours has closed rounds, theirs is an
 * old one that somebody has not cleared away. */
static void on_another_run(struct live_hub_replicated_log *replicated_log,
                           const struct live_envelopes *envelopes, const char *site,
                           const struct live_entry *found)
{
    if (tacit_wire_run_id(found->run) != tacit_wire_run_id(envelopes->run))
        return;
    if (replicated_log->held.head.number <= 1)
        stop(replicated_log, LIVE_HUB_LOST, site, found,
             "and this coordinator has no state of it: it is lost, or another one's");
    else if (!replicated_log->warned_other) {
        replicated_log->warned_other = true;
        live_log(LIVE_LOG_WARNING, "chain",
                 "%s holds entries of another run with the number %llu: an old one", site,
                 (unsigned long long)tacit_wire_run_id(found->run));
    }
}

/* Of this run. is_left_out: this hub was rebuilt in a later term, from an older entry than this
 * one. */
static void judge(struct live_hub_replicated_log *replicated_log, const char *site,
                  const struct live_entry *found)
{
    bool const is_left_out = found->term == replicated_log->rebuilt_term &&
                             replicated_log->rebuilt_term > 0 &&
                             found->number > replicated_log->rebuilt_number &&
                             replicated_log->held.head.term > found->term;
    switch (live_entry_compare(&replicated_log->held.head, found)) {
    case LIVE_ENTRY_AFTER:
        stop(replicated_log, LIVE_HUB_BEHIND, site, found,
             "which this coordinator knows nothing of: its state is an old one");
        break;
    case LIVE_ENTRY_FORK:
        stop(replicated_log, LIVE_HUB_FORKED, site, found,
             "which is signed with this coordinator's key, and is not of its log");
        break;
    case LIVE_ENTRY_BEFORE:
        if (is_left_out)
            stop(replicated_log, LIVE_HUB_BEHIND, site, found,
                 "which was not there when this coordinator was built again");
        break;
    case LIVE_ENTRY_SAME:
        break;
    }
}

const char *live_hub_replicated_log_read(struct live_hub_replicated_log *replicated_log,
                                         const struct live_envelopes *envelopes, const char *site,
                                         const struct tacit_wire_envelope *envelope)
{
    struct live_entry found;
    char const *const objection = live_entry_shown(envelopes, envelope, &found);
    if (objection != NULL)
        return objection;
    if (live_term_is_out_of_reach(envelopes->term, found.term))
        return "an entry of a term that is out of reach: it was not counted up to";
    if (replicated_log->stop != LIVE_HUB_GOES_ON)
        return NULL;
    if (memcmp(found.run, envelopes->run, sizeof found.run) != 0)
        on_another_run(replicated_log, envelopes, site, &found);
    else
        judge(replicated_log, site, &found);
    return NULL;
}

enum tacit_status live_hub_parse_run(const char *text, struct live_hub_config *run,
                                     struct tacit_error *error)
{
    uint8_t bytes[TACIT_WIRE_RUN_BYTES];
    bool const is_run = live_hex_read(text, text == NULL ? 0 : strlen(text), bytes, sizeof bytes) &&
                        tacit_wire_run_id(bytes) == run->run_id;
    if (!is_run)
        (void)snprintf(
            error->text, sizeof error->text,
            "this state knows of no run; name it, as `run` in the status of a site shows "
            "it, with --run (run.id of the file is %llu)",
            (unsigned long long)run->run_id);
    else
        run->run_nonce = live_hub_nonce(bytes);
    return is_run ? TACIT_OK : TACIT_INVALID;
}
