/* How long a round waits. */
#include "tacit/core.h"

uint64_t tacit_round_deadline_us(bool waits, bool is_new_round, uint64_t now_us,
                                 uint64_t timeout_us, uint64_t deadline_us)
{
    uint64_t const full_us = now_us + timeout_us;
    bool const stands = !is_new_round && deadline_us > now_us && deadline_us < full_us;
    TACIT_IMPLIES(waits, full_us >= now_us);
    return !waits ? TACIT_NEVER : stands ? deadline_us : full_us;
}
