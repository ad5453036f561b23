/* When a core says again what nobody has answered, and how long a round waits. */
#include "pauses.h"

uint64_t round_pause_us(uint64_t first_us, uint32_t unanswered_count)
{
    bool const is_longest = unanswered_count >= ROUND_DOUBLINGS_MAX;
    TACIT_ASSERT(first_us <= TACIT_NEVER >> ROUND_DOUBLINGS_MAX);
    return first_us << (is_longest ? ROUND_DOUBLINGS_MAX : unanswered_count);
}

uint64_t round_deadline_us(bool waits, bool is_new_round, uint64_t now_us, uint64_t timeout_us,
                           uint64_t deadline_us)
{
    uint64_t const full_us = now_us + timeout_us;
    bool const stands = !is_new_round && deadline_us > now_us && deadline_us < full_us;
    TACIT_IMPLIES(waits, full_us >= now_us);
    return !waits ? TACIT_NEVER : stands ? deadline_us : full_us;
}
