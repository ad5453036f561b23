/* Round: when a core says again what nobody has answered, and how long a round waits. */
#ifndef TACIT_ROUND_PAUSES_H
#define TACIT_ROUND_PAUSES_H
#include "tacit/base.h"

#define ROUND_DOUBLINGS_MAX 6u

/* What waits for an answer is said again, at pauses that double with every message that found none.
 */
struct round_resend {
    uint64_t due_us;           /* TACIT_NEVER: nothing is to be said again */
    uint32_t unanswered_count; /* messages since the last answer; the core sets it to 0 then */
};

/* first_us times 2 for each message without an answer, ROUND_DOUBLINGS_MAX times at most.
 * Requires: first_us <= TACIT_NEVER >> ROUND_DOUBLINGS_MAX. Cost: O(1). */
uint64_t round_pause_us(uint64_t first_us, uint32_t unanswered_count);

/* What a step of a core did, as far as it matters here. */
struct round_resend_step {
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
void round_resend_end_step(struct round_resend *resend, uint64_t first_us,
                           const struct round_resend_step *step);

/* Until when a hub's round waits for its reports: the full time from now on, for a new round and
 * for a new process with a new clock. But what is no new round does not put off a deadline that is
 * still to come: else a hub that starts often has none. deadline_us: of before. Ensures:
 * TACIT_NEVER where nothing is waited for. Cost: O(1). Tested by: tests/unit/base.c */
uint64_t round_deadline_us(bool waits, bool is_new_round, uint64_t now_us, uint64_t timeout_us,
                           uint64_t deadline_us);
#endif
