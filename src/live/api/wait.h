/* How long a decision waits for its reward before its place in the plan is given out again. One
 * wait for all arms: a wait for each would favour the arms whose rewards come fast. It doubles when
 * more than one reward in a hundred comes too late for it; without that nothing would ever come in
 * time where answers take long, and slow zeros would vanish. It never becomes shorter. */
#ifndef TACIT_LIVE_WAIT_H
#define TACIT_LIVE_WAIT_H
#include "tacit/base.h"

#define LIVE_WAIT_LATE_MIN 3u     /* fewer late rewards are no sign of anything */
#define LIVE_WAIT_LATE_PARTS 100u /* one late in so many is allowed */

struct live_wait {
    uint64_t wait_ms;
    uint64_t wait_max_ms;
    uint64_t in_time; /* rewards, since the wait is what it is */
    uint64_t late;    /* rewards that would be late under this wait, since then */
};

/* Requires: 0 < first_ms <= max_ms. */
struct live_wait live_wait_init(uint64_t first_ms, uint64_t max_ms);
/* Goes on from what was kept, as far as today's limits allow. */
void live_wait_restore(struct live_wait *wait, uint64_t wait_ms, uint64_t in_time, uint64_t late);

void live_wait_note_in_time(struct live_wait *wait);
/* A reward came `delay_ms` after its decision, when its place had been given out again. Ensures:
 * true if the wait is longer from now on. Those that are late because an earlier wait was shorter
 * count only if they are late under this one, too: else a hundred of them would double it a hundred
 * times. */
bool live_wait_note_late(struct live_wait *wait, uint64_t delay_ms);
#endif
