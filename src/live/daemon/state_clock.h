/* The clock of a state: milliseconds that daemons ran on it, all together. Everything that a state
 * keeps times of is measured by it. It goes on with the monotone clock while the daemon runs,
 * stands while it does not (nobody can hand anything in then), and never asks what time of day it
 * is: a wall clock that was wrong, or is, moves nothing. What was not kept before a kill is run
 * once more: deadlines come later by that, never earlier. */
#ifndef TACIT_LIVE_STATE_CLOCK_H
#define TACIT_LIVE_STATE_CLOCK_H
#include "tacit/base.h"

struct live_state_clock {
    uint64_t before_ms; /* what earlier daemons ran */
    uint64_t start_us;  /* of this one, by live_now_us */
    uint64_t kept_ms;   /* what is on disk */
};

/* Goes on from what is on disk. now_us, here and below: by live_now_us. */
struct live_state_clock live_state_clock_start(uint64_t kept_ms, uint64_t now_us);
/* Requires: now_us does not decrease. */
uint64_t live_state_clock_read(const struct live_state_clock *clock, uint64_t now_us);
/* When live_state_clock_read gets there, by live_now_us; TACIT_NEVER stays. */
uint64_t live_state_clock_when_us(const struct live_state_clock *clock, uint64_t state_ms);
#endif
