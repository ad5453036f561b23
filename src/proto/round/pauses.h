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

/* Until when a hub's round waits for its reports: the full time from now on, for a new round and
 * for a new process with a new clock. But what is no new round does not put off a deadline that is
 * still to come: else a hub that starts often has none. deadline_us: of before. Ensures:
 * TACIT_NEVER where nothing is waited for. Cost: O(1). Tested by: tests/unit/base.c */
uint64_t round_deadline_us(bool waits, bool is_new_round, uint64_t now_us, uint64_t timeout_us,
                           uint64_t deadline_us);
#endif
