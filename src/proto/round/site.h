/* Round: a site's side of commit, grant, reveal. What it has drawn waits here for its grant; when
 * and what is drawn, what it is and how it is said are the protocol's. */
#ifndef TACIT_ROUND_SITE_H
#define TACIT_ROUND_SITE_H
#include "tacit/commit.h"
#include "tacit/core.h"
#include "pauses.h"

/* Part of the site's state. All zero but due_us: nothing was drawn. */
struct round_site {
    struct round_resend resend;       /* of what waits for an answer */
    struct tacit_commit commit;       /* of the last draw */
    uint8_t head[TACIT_SHA256_BYTES]; /* the last commitment that was granted */
    uint32_t blocked;                 /* 1: the grantor has granted another one, .. */
    uint32_t forgotten;               /* .. or, 1, knows nothing of the one before */
};

/* Commits to a draw; what it is: by its digest. Errors: TACIT_ENTROPY, *site untouched. */
enum tacit_status round_site_commit(struct round_site *site, const struct tacit_commit_scope *scope,
                                    const uint8_t digest[TACIT_SHA256_BYTES],
                                    const struct tacit_entropy *keys);

/* A grant. true: it is of the draw that waits, which may be used from here on; else it is late, or
 * repeated, and nothing changed. Requires: a draw waits. */
bool round_site_on_grant(struct round_site *site, const uint8_t granted[TACIT_SHA256_BYTES]);

/* What a grantor shows that does not grant. */
struct round_refusal {
    uint64_t round;            /* of what it answers */
    uint64_t draw_round;       /* of the last draw */
    bool is_waiting;           /* .. which is not granted */
    bool forgot;               /* the grantor knows nothing of what was followed */
    const uint8_t *commitment; /* the grantor's head of this site */
};

/* It is the grantor's word alone and does not show the other state's signature, so it stops nobody
 * for good: the site asks on, and shows that it is blocked. What answers a question of before the
 * last draw says nothing. Ensures: true if anything is another than it was. */
bool round_site_on_refusal(struct round_site *site, const struct round_refusal *refusal);

/* The last draw is of no use any more, not even to be opened: what is said from here on shows the
 * head alone, which the next commitment follows. */
void round_site_forget_draw(struct round_site *site);

/* Is what was granted last still there, with what opens it? */
bool round_site_may_open(const struct round_site *site);

/* A term begins. Whoever begins it has forgotten what it granted: is_granted: the last draw was,
 * and stands; else it is dropped. */
void round_site_begin_term(struct round_site *site, bool is_granted);

/* What a step of a site did, as far as its pauses are concerned. */
struct round_site_step {
    enum tacit_event_kind kind;
    uint64_t now_us;
    uint32_t unanswered_before;
    bool is_wanted; /* is anything to be said again? */
    bool has_moved; /* to another phase: the pause begins anew */
    bool sends;
};

/* After each step that took something in: when to say again what nobody has answered, at pauses
 * that begin at first_us. An answer ends the pause that silence had brought about: else what the
 * other side says next, if that gets lost, would be asked for only at the end of it. Ensures:
 * due_us <= now_us + first_us after an answer; TACIT_NEVER where nothing is wanted. */
void round_site_end_step(struct round_site *site, uint64_t first_us,
                         const struct round_site_step *step);

/* Could a step have left this? (For bytes from a disk.) */
bool round_site_is_possible(const struct round_site *site);
#endif
