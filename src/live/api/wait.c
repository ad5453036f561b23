/* The rule by which the wait for rewards grows. */
#include "wait.h"

struct live_wait live_wait_init(uint64_t first_ms, uint64_t max_ms)
{
    TACIT_ASSERT(first_ms > 0);
    TACIT_ASSERT(first_ms <= max_ms);
    return (struct live_wait){.wait_ms = first_ms, .wait_max_ms = max_ms};
}

void live_wait_restore(struct live_wait *wait, uint64_t wait_ms, uint64_t in_time, uint64_t late)
{
    uint64_t const longest = wait_ms < wait->wait_max_ms ? wait_ms : wait->wait_max_ms;
    if (longest > wait->wait_ms)
        wait->wait_ms = longest;
    wait->in_time = in_time;
    wait->late = late;
}

void live_wait_note_in_time(struct live_wait *wait)
{
    wait->in_time++;
}

static bool is_too_short(const struct live_wait *wait)
{
    return wait->late >= LIVE_WAIT_LATE_MIN &&
           wait->late > (wait->in_time + wait->late) / LIVE_WAIT_LATE_PARTS;
}

bool live_wait_note_late(struct live_wait *wait, uint64_t delay_ms)
{
    TACIT_ASSERT(wait->wait_ms > 0);
    if (delay_ms <= wait->wait_ms)
        return false;
    wait->late++;
    if (!is_too_short(wait) || wait->wait_ms >= wait->wait_max_ms)
        return false;
    uint64_t const most = wait->wait_max_ms;
    wait->wait_ms = wait->wait_ms > most / 2 ? most : 2 * wait->wait_ms;
    wait->in_time = 0;
    wait->late = 0;
    return true;
}
