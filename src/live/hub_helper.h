/* What a hub keeps for its helper, behind the state of its core and in one block with it: the run's
 * sealing key, grants with their proofs, masked sums, its own noise (tacit/helper.h). Families hand
 * grants and releases on, and are handed totals. */
#ifndef TACIT_LIVE_HUB_HELPER_H
#define TACIT_LIVE_HUB_HELPER_H
#include "protocol.h"
#include "trust.h"
#include <stdlib.h>

struct live_hub_helper {
    struct tacit_helper_run run;
    double delta; /* of (epsilon, delta); 0: pure */
    struct live_helper_kept *kept;
    uint64_t *dropped;             /* W(A): in no U any more, by the operator's word */
    uint64_t *left_out;            /* W(A): of the last U by the helper, .. */
    struct live_proof *proofs;     /* A x TACIT_HELPER_LINKS_MAX */
    struct tacit_helper_hub *core; /* grants, masked sums, noise */
    bool owes;                     /* there was no entropy to fix U: it is tried again */
    bool is_wrong;                 /* what it said last was not in order */
};

/* Bytes behind a core's state; 0: the run cannot have a helper. */
size_t live_hub_helper_size(const struct live_hub_helper *helper);
/* Over zeros, or over what was kept. Errors: TACIT_INVALID; TACIT_MALFORMED. */
enum tacit_status live_hub_helper_open(struct live_hub_helper *helper, void *block, size_t size,
                                       bool is_new);

/* ---- For families ---- */

/* Of a core's events: sites that were dropped; NULL: there is no helper. */
const uint64_t *live_hub_dropped(const struct live_hub *hub);

/* What a core heard, if it heard anything. */
struct live_report {
    const struct tacit_round_message *head;
    const struct tacit_helper_release *masked; /* of a report */
    const int64_t *words;
    uint32_t count;
};

/* After a step: new grants, whose COMMIT came with this event; releases that were opened, and are
 * of the present round; a round whose reports are all here: U is fixed, unless it is; with too few
 * of them that the helper could count the round is void. happened: of the core (tacit/core.h). */
void live_hub_note_helper(struct live_hub *hub, const struct live_hub_event *event,
                          const struct live_report *heard, uint32_t happened,
                          const struct tacit_entropy *entropy, struct live_hub_update *update);

/* live_hub_ops.commit and .hello, of a family whose messages of this type have a kind and a head.
 */
#define LIVE_QUESTION(name, type, word)                                                            \
    static void *name(const struct tacit_round_message *asks)                                      \
    {                                                                                              \
        type *const made = calloc(1, sizeof *made);                                                \
        if (made != NULL) {                                                                        \
            made->kind = word;                                                                     \
            made->head = *asks;                                                                    \
        }                                                                                          \
        return made;                                                                               \
    }

/* ---- For the adapter ---- */

/* Do the two parts of a state go together? Each is in order by itself. */
bool live_hub_helper_fits(const struct live_hub *hub);

/* A message of the helper, checked by its signature; of no bytes: what is owed is tried again.
 * Errors: as of a message; TACIT_FORKED: the helper has answered twice. */
enum tacit_status live_hub_on_helper(struct live_hub *hub, const struct live_hub_event *event,
                                     const struct tacit_entropy *entropy,
                                     struct live_hub_update *update);
/* term: from 1. False: it stands already. */
bool live_hub_helper_begin_term(struct live_hub *hub, uint64_t term);
/* What of it is in the entries of the log, behind the family's: the newest answer's number, |U'|
 * and digest of U', head and the helper's signature of it; who is dropped. */
size_t live_hub_helper_entry_bytes(const struct live_hub_helper *helper);
void live_hub_helper_write_entry(const struct live_hub_helper *helper, uint8_t *bytes);
/* Into a new block. */
void live_hub_helper_recall(struct live_hub_helper *helper, const uint8_t *bytes);
/* As live_hub_change: drop a site, from the next round on; repeat a round that waits for the
 * operator; what the family takes. */
enum tacit_status live_hub_helper_change(struct live_hub *hub,
                                         const struct live_control_entry *wanted, uint64_t now_us,
                                         const struct tacit_entropy *entropy,
                                         struct live_hub_update *update, uint32_t *number,
                                         const char **objection);
/* Two aggregators, and the request for a round stands: only an answer ends it (HELPER 2.2). */
bool live_hub_helper_is_asked(const struct live_hub *hub);
/* The family's word ended a round that the helper was to be asked about, or the run. */
void live_hub_helper_overtaken(struct live_hub *hub);
#endif
