/* Core: what the cores of all families have in common. A core is a function of (state, event,
 * entropy) that fills an update; its event, update and messages are its family's own types, built
 * from the words here. The driver carries an update out in this order: persist, send, pull, set the
 * timer. */
#ifndef TACIT_CORE_H
#define TACIT_CORE_H
#include "tacit/base.h"

/* ---- Addresses: an agent's index, or one of these -------------------------------------------- */

#define TACIT_HUB UINT32_MAX              /* the hub */
#define TACIT_EVERYONE (UINT32_MAX - 1)   /* a broadcast to all agents */
#define TACIT_NEIGHBOURS (UINT32_MAX - 2) /* a broadcast to the sender's neighbours */

/* ---- Events ---------------------------------------------------------------------------------- */

enum tacit_event_kind {
    TACIT_EVENT_START,     /* after init, or after the state was restored */
    TACIT_EVENT_REWARD,    /* `count` planned pulls of `arm` brought `sum` */
    TACIT_EVENT_EXPLOITED, /* `count` pulls were played outside the plan */
    TACIT_EVENT_RECEIVE,   /* a message came */
    TACIT_EVENT_TIMEOUT,   /* the deadline of an earlier update has come */
    TACIT_EVENT_OFFER      /* a decision is asked for, and its contexts come with the request */
};

/* What the planned pulls of one arm brought. */
struct tacit_reward {
    uint32_t arm;
    uint64_t count;
    union tacit_sum sum; /* on the mechanism's scale */
};

/* K contexts of d numbers each, row by row; valid during the step. */
struct tacit_offer {
    uint32_t arm_count;
    uint32_t dimension;
    const double *contexts;
};

/* ---- Plans ----------------------------------------------------------------------------------- */

/* "Play this arm so many times before you ask again." A plan is a list of them, in arm order. */
struct tacit_pull_block {
    uint32_t arm;
    uint64_t count;
};

/* ---- What happened in a step: a set of these, for drivers --------------------------------------
 */

#define TACIT_DREW 1u        /* a release was drawn and charged, and waits for its grant */
#define TACIT_WAS_ORDERED 2u /* the first order of a state that had none stands */
#define TACIT_BEGAN_TERM 4u
#define TACIT_ENDED 8u         /* nothing is learnt any more, for good or until a term begins */
#define TACIT_CLOSED_ROUND 16u /* a hub: what it knows of the arms is new */

/* ---- Saying again ---------------------------------------------------------------------------- */

#define TACIT_RESEND_DOUBLINGS_MAX 6u

/* What waits for an answer is said again, at pauses that double with every message that found none.
 */
struct tacit_resend {
    uint64_t due_us;           /* TACIT_NEVER: nothing is to be said again */
    uint32_t unanswered_count; /* messages since the last answer; the core sets it to 0 then */
};

/* first_us times 2 for each message without an answer, TACIT_RESEND_DOUBLINGS_MAX times at most.
 * Requires: first_us <= TACIT_NEVER >> TACIT_RESEND_DOUBLINGS_MAX. Cost: O(1). */
uint64_t tacit_resend_pause_us(uint64_t first_us, uint32_t unanswered_count);

/* What a step of a core did, as far as it matters here. */
struct tacit_resend_step {
    uint64_t now_us;
    uint32_t unanswered_before; /* unanswered_count before the step */
    bool is_wanted;             /* is anything to be said again? */
    bool restarts;              /* the pause begins anew */
    bool sends;                 /* something was said */
};

/* After each step of a core whose pauses begin at first_us. An answer ends the pause that silence
 * had brought about: else what the other side says next, if that gets lost, would be asked for only
 * at the end of it.
 * Ensures: due_us <= now_us + first_us after an answer; TACIT_NEVER where nothing is wanted.
 * Tested by: tests/unit/base.c */
void tacit_resend_end_step(struct tacit_resend *resend, uint64_t first_us,
                           const struct tacit_resend_step *step);

/* Until when a hub's round waits for its reports: the full time from now on, for a new round and
 * for a new process with a new clock. But what is no new round does not put off a deadline that is
 * still to come: else a hub that starts often has none. deadline_us: of before. Ensures:
 * TACIT_NEVER where nothing is waited for. Cost: O(1). Tested by: tests/unit/base.c */
uint64_t tacit_round_deadline_us(bool waits, bool is_new_round, uint64_t now_us,
                                 uint64_t timeout_us, uint64_t deadline_us);
#endif
