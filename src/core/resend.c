/* When a core says again what nobody has answered. */
#include "tacit/core.h"

uint64_t tacit_resend_pause_us(uint64_t first_us, uint32_t unanswered_count)
{
    bool const is_longest = unanswered_count >= TACIT_RESEND_DOUBLINGS_MAX;
    TACIT_ASSERT(first_us <= TACIT_NEVER >> TACIT_RESEND_DOUBLINGS_MAX);
    return first_us << (is_longest ? TACIT_RESEND_DOUBLINGS_MAX : unanswered_count);
}

void tacit_resend_end_step(struct tacit_resend *resend, uint64_t first_us,
                           const struct tacit_resend_step *step)
{
    uint64_t const soon_us = step->now_us + first_us;
    bool const is_answered = resend->unanswered_count < step->unanswered_before;
    TACIT_ASSERT(first_us > 0);
    if (!step->is_wanted) {
        resend->due_us = TACIT_NEVER;
    } else if (step->restarts) {
        resend->due_us = step->now_us + tacit_resend_pause_us(first_us, resend->unanswered_count);
        if (step->sends && resend->unanswered_count < UINT32_MAX)
            resend->unanswered_count++;
    } else if (is_answered && resend->due_us > soon_us) {
        resend->due_us = soon_us;
    }
}
