/* The coordinator's replicated log: each step of a run that the coordinator says in public is an
 * entry, numbered and signed, which names the one before by its digest. Every site keeps the newest
 * and shows it, so that a coordinator that has lost its state, or has an old one, is told so, and
 * is built again from what the sites hold; and so that two words of one number prove that it has
 * two states. */
#ifndef TACIT_LIVE_REPLICATED_LOG_H
#define TACIT_LIVE_REPLICATED_LOG_H
#include "bus/envelope.h"
#include "store/store.h"

/* One entry. All zero: there is none yet. */
struct live_entry {
    uint8_t run[TACIT_WIRE_RUN_BYTES];
    uint8_t agreement[TACIT_WIRE_DIGEST_BYTES];
    uint64_t term;
    uint64_t number;                           /* from 1 */
    uint32_t epoch;                            /* that it begins, for people */
    uint8_t previous[TACIT_WIRE_DIGEST_BYTES]; /* digest of the entry before; zeros: of none */
    bool has_state;       /* what the hub is built again from is in it, maybe of no bytes */
    const uint8_t *state; /* in the bytes of the entry */
    size_t state_size;
    uint8_t digest[TACIT_WIRE_DIGEST_BYTES]; /* of all this */
};

/* A site shows an entry in an envelope of its own. */
#define LIVE_ENTRY_STATE_BYTES_MAX                                                                 \
    (LIVE_ENVELOPE_BYTES_MAX - TACIT_WIRE_ENVELOPE_BYTES_MAX - TACIT_WIRE_DIGEST_BYTES - 8u)

/* The coordinator's envelope that holds the entry, to be given to free(); entry->digest, run,
 * agreement and term are filled from the envelopes. NULL: out of memory. Requires: a state of at
 * most LIVE_ENTRY_STATE_BYTES_MAX. */
uint8_t *live_entry_write(struct live_envelopes *envelopes, struct live_entry *entry, size_t *size);

/* What an envelope holds whose signature is not looked at: from this daemon's own disk. Errors:
 * false.
 */
bool live_entry_read(const uint8_t *bytes, size_t size, struct live_entry *entry);

/* The newest entry that somebody holds: as the coordinator signed it, and what is in it. All zero:
 * none. */
struct live_held_entry {
    struct live_entry head;
    uint8_t *envelope;
    size_t size;
};

/* Takes over the bytes (NULL: none), or those that a store has of a run; what was held is freed.
 * Errors: TACIT_MALFORMED, and what the store says. */
enum tacit_status live_entry_hold(struct live_held_entry *held, uint8_t *bytes, size_t size);
enum tacit_status live_entry_load(struct live_held_entry *held, struct live_store *store,
                                  const uint8_t run[TACIT_WIRE_RUN_BYTES]);

/* The same for bytes from elsewhere. NULL: it is an entry that the coordinator of this federation
 * signed. Else why not. Requires: envelopes->keys knows the coordinator's. */
const char *live_entry_open(const struct live_envelopes *envelopes, const uint8_t *bytes,
                            size_t size, struct live_entry *entry);

/* The same for what a site shows: an opened envelope whose body is such an entry, of the run that
 * the envelope names. */
const char *live_entry_shown(const struct live_envelopes *envelopes,
                             const struct tacit_wire_envelope *envelope, struct live_entry *entry);

enum live_entry_order {
    LIVE_ENTRY_SAME,
    LIVE_ENTRY_BEFORE, /* found is older than known */
    LIVE_ENTRY_AFTER,  /* found is newer: of a later number, or of a later term */
    LIVE_ENTRY_FORK    /* both cannot be of one replicated log */
};

/* Requires: of the same run; found->number > 0. Between terms nothing is compared but the term: the
 * operator's word began the later one. */
enum live_entry_order live_entry_compare(const struct live_entry *known,
                                         const struct live_entry *found);
#endif
