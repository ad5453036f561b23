/* What a hub keeps for its helper, behind the state of its core and in one block with it: the run's
 * sealing key, grants with their proofs, masked sums, its own noise (tacit/helper.h). Families hand
 * grants and releases on, and are handed totals. */
#ifndef TACIT_LIVE_HUB_HELPER_H
#define TACIT_LIVE_HUB_HELPER_H
#include "protocol.h"
#include "trust.h"

struct live_hub_helper {
    struct tacit_helper_run run;
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

/* A new grant: its COMMIT came with this event. */
void live_hub_granted(struct live_hub *hub, const struct live_hub_event *event,
                      const struct tacit_commit *commit);
/* A release was opened, and is of the present round. */
void live_hub_took(struct live_hub *hub, uint32_t site, const struct tacit_commit *commit,
                   const struct tacit_helper_release *masked, const int64_t *words, uint32_t count);
/* The reports of a round are all here: U is fixed, unless it is; with too few of them that the
 * helper could count the round is void. */
void live_hub_wants_totals(struct live_hub *hub, uint64_t now_us,
                           const struct tacit_entropy *entropy, struct live_hub_update *update);

/* ---- For the adapter ---- */

/* A message of the helper, checked by its signature; of no bytes: what is owed is tried again.
 * Errors: as of a message; TACIT_FORKED: the helper has answered twice. */
enum tacit_status live_hub_hear_helper(struct live_hub *hub, const struct live_hub_event *event,
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
/* The family's word ended the round that the helper was asked about, or was to be. */
void live_hub_helper_overtaken(struct live_hub *hub);
#endif
