/* Entries of the coordinator's log: written and signed, read, and checked where a site shows
 * one. */
#include "replicated_log.h"
#include "bus/topics.h"
#include "tacit/commit.h"
#include <stdlib.h>
#include <string.h>

#define HEAD_BYTES                                                                                 \
    (TACIT_WIRE_DIGEST_BYTES + 1u) /* the digest before, and whether there is a state */

/* Everything but the signature: a key that was renewed signs the same entry. */
static void digest_of(struct live_entry *entry)
{
    static const char what[] = "tacit entry 1";
    struct tacit_sha256 sha = tacit_sha256_init();
    tacit_sha256_update(&sha, what, sizeof what);
    tacit_sha256_update(&sha, entry->run, sizeof entry->run);
    tacit_sha256_update(&sha, entry->agreement, sizeof entry->agreement);
    tacit_sha256_update_number(&sha, entry->term);
    tacit_sha256_update_number(&sha, entry->number);
    tacit_sha256_update_number(&sha, entry->epoch);
    tacit_sha256_update(&sha, entry->previous, sizeof entry->previous);
    tacit_sha256_update_number(&sha, entry->has_state ? 1 : 0);
    tacit_sha256_update_number(&sha, entry->state_size);
    if (entry->state_size > 0)
        tacit_sha256_update(&sha, entry->state, entry->state_size);
    tacit_sha256_final(&sha, entry->digest);
}

uint8_t *live_entry_write(struct live_envelopes *envelopes, struct live_entry *entry, size_t *size)
{
    TACIT_ASSERT(entry->number > 0 && entry->state_size <= LIVE_ENTRY_STATE_BYTES_MAX);
    TACIT_IMPLIES(!entry->has_state, entry->state_size == 0);
    struct live_topic const topic = live_topic_down(envelopes->federation, LIVE_TOPIC_ENTRY);
    struct live_envelopes own = *envelopes; /* of this entry, whatever the newest is */
    size_t const body_size = HEAD_BYTES + entry->state_size;
    uint8_t *const body = malloc(body_size);
    if (body == NULL)
        return NULL;
    memcpy(entry->run, envelopes->run, sizeof entry->run);
    memcpy(entry->agreement, envelopes->agreement, sizeof entry->agreement);
    entry->term = envelopes->term;
    digest_of(entry);
    memcpy(body, entry->previous, sizeof entry->previous);
    body[TACIT_WIRE_DIGEST_BYTES] = entry->has_state ? 1 : 0;
    if (entry->state_size > 0)
        memcpy(body + HEAD_BYTES, entry->state, entry->state_size);
    own.entry = entry->number;
    struct live_envelope const envelope = {.topic = topic.text,
                                           .kind = TACIT_WIRE_KIND_ENTRY,
                                           .epoch = entry->epoch,
                                           .body = body,
                                           .size = body_size};
    uint8_t *const bytes = live_envelope_close(&own, &envelope, size);
    envelopes->sequence = own.sequence;
    free(body);
    return bytes;
}

/* The entry's state points into the envelope's body. Errors: false: it is no entry. */
static bool parse_entry(const struct tacit_wire_envelope *envelope, struct live_entry *entry)
{
    uint8_t const *const body = envelope->body;
    bool const is_possible = envelope->kind == TACIT_WIRE_KIND_ENTRY && envelope->entry > 0 &&
                             envelope->body_size >= HEAD_BYTES &&
                             envelope->body_size - HEAD_BYTES <= LIVE_ENTRY_STATE_BYTES_MAX &&
                             body[TACIT_WIRE_DIGEST_BYTES] <= 1;
    if (!is_possible)
        return false;
    *entry = (struct live_entry){.term = envelope->term,
                                 .number = envelope->entry,
                                 .epoch = envelope->epoch,
                                 .has_state = body[TACIT_WIRE_DIGEST_BYTES] == 1,
                                 .state = body + HEAD_BYTES,
                                 .state_size = envelope->body_size - HEAD_BYTES};
    memcpy(entry->run, envelope->run, sizeof entry->run);
    memcpy(entry->agreement, envelope->agreement, sizeof entry->agreement);
    memcpy(entry->previous, body, sizeof entry->previous);
    digest_of(entry);
    return entry->has_state || entry->state_size == 0;
}

bool live_entry_read(const uint8_t *bytes, size_t size, struct live_entry *entry)
{
    struct tacit_wire_envelope envelope;
    return tacit_wire_envelope_decode(bytes, size, &envelope) == TACIT_OK &&
           parse_entry(&envelope, entry);
}

enum tacit_status live_entry_hold(struct live_held_entry *held, uint8_t *bytes, size_t size)
{
    free(held->envelope);
    *held = (struct live_held_entry){.envelope = bytes, .size = size};
    return bytes == NULL || live_entry_read(bytes, size, &held->head) ? TACIT_OK : TACIT_MALFORMED;
}

enum tacit_status live_entry_load(struct live_held_entry *held, struct live_store *store,
                                  const uint8_t run[TACIT_WIRE_RUN_BYTES])
{
    uint8_t *bytes;
    size_t size;
    TACIT_TRY(live_store_get_entry(store, run, &bytes, &size));
    return live_entry_hold(held, bytes, size);
}

const char *live_entry_open(const struct live_envelopes *envelopes, const uint8_t *bytes,
                            size_t size, struct live_entry *entry)
{
    struct live_topic const topic = live_topic_down(envelopes->federation, LIVE_TOPIC_ENTRY);
    struct live_arrival const arrival = {topic.text, TACIT_WIRE_COORDINATOR, bytes, size};
    struct live_opened opened;
    char const *const objection = live_envelope_open_entry(envelopes, &arrival, &opened);
    if (objection != NULL)
        return objection;
    if (opened.envelope.to[0] != '\0' || opened.envelope.family != envelopes->family)
        return "an entry of another protocol";
    return parse_entry(&opened.envelope, entry) ? NULL : "an entry of the log that does not decode";
}

const char *live_entry_shown(const struct live_envelopes *envelopes,
                             const struct tacit_wire_envelope *envelope, struct live_entry *entry)
{
    char const *const objection =
        live_entry_open(envelopes, envelope->body, envelope->body_size, entry);
    if (objection != NULL)
        return objection;
    return memcmp(envelope->run, entry->run, sizeof entry->run) == 0
               ? NULL
               : "an entry of another run than the message that holds it";
}

enum live_entry_order live_entry_compare(const struct live_entry *known,
                                         const struct live_entry *found)
{
    TACIT_ASSERT(found->number > 0);
    bool const links_on = memcmp(found->previous, known->digest, sizeof known->digest) == 0;
    bool const links_back = memcmp(known->previous, found->digest, sizeof found->digest) == 0;
    if (known->number == 0 || found->term > known->term)
        return LIVE_ENTRY_AFTER;
    if (found->term < known->term)
        return LIVE_ENTRY_BEFORE;
    if (found->number == known->number)
        return memcmp(found->digest, known->digest, sizeof known->digest) == 0 ? LIVE_ENTRY_SAME
                                                                               : LIVE_ENTRY_FORK;
    if (found->number > known->number)
        return found->number > known->number + 1 || links_on ? LIVE_ENTRY_AFTER : LIVE_ENTRY_FORK;
    return found->number + 1 < known->number || links_back ? LIVE_ENTRY_BEFORE : LIVE_ENTRY_FORK;
}
