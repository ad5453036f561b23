/* Sums of milliseconds; no system call here. */
#include "state_clock.h"

#define US_PER_MS 1000u

struct live_state_clock live_state_clock_start(uint64_t kept_ms, uint64_t now_us)
{
    return (struct live_state_clock){.before_ms = kept_ms, .start_us = now_us, .kept_ms = kept_ms};
}

uint64_t live_state_clock_read(const struct live_state_clock *clock, uint64_t now_us)
{
    TACIT_ASSERT(now_us >= clock->start_us);
    return clock->before_ms + (now_us - clock->start_us) / US_PER_MS;
}

uint64_t live_state_clock_when_us(const struct live_state_clock *clock, uint64_t state_ms)
{
    if (state_ms <= clock->before_ms)
        return clock->start_us;
    uint64_t const ahead_ms = state_ms - clock->before_ms;
    return ahead_ms > (TACIT_NEVER - clock->start_us) / US_PER_MS
               ? TACIT_NEVER
               : clock->start_us + ahead_ms * US_PER_MS;
}
