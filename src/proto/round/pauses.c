/* When a core says again what nobody has answered, and how long a round waits. */
#include "pauses.h"

uint64_t round_pause_us(uint64_t first_us, uint32_t unanswered_count)
{
    bool const is_longest = unanswered_count >= ROUND_DOUBLINGS_MAX;
    TACIT_ASSERT(first_us <= TACIT_NEVER >> ROUND_DOUBLINGS_MAX);
    return first_us << (is_longest ? ROUND_DOUBLINGS_MAX : unanswered_count);
}

void round_resend_end_step(struct round_resend *resend, uint64_t first_us,
                           const struct round_resend_step *step)
{
    uint64_t const soon_us = step->now_us + first_us;
    bool const is_answered = resend->unanswered_count < step->unanswered_before;
    TACIT_ASSERT(first_us > 0);
    if (!step->is_wanted) {
        resend->due_us = TACIT_NEVER;
    } else if (step->restarts) {
        resend->due_us = step->now_us + round_pause_us(first_us, resend->unanswered_count);
        if (step->sends && resend->unanswered_count < UINT32_MAX)
            resend->unanswered_count++;
    } else if (is_answered && resend->due_us > soon_us) {
        resend->due_us = soon_us;
    }
}

uint64_t round_deadline_us(bool waits, bool is_new_round, uint64_t now_us, uint64_t timeout_us,
                           uint64_t deadline_us)
{
    uint64_t const full_us = now_us + timeout_us;
    bool const stands = !is_new_round && deadline_us > now_us && deadline_us < full_us;
    TACIT_IMPLIES(waits, full_us >= now_us);
    return !waits ? TACIT_NEVER : stands ? deadline_us : full_us;
}
