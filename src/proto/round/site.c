/* What a site has drawn, committed to, and been granted: once for all protocols. */
#include "site.h"
#include <string.h>

enum tacit_status round_site_commit(struct round_site *site, const struct tacit_commit_scope *scope,
                                    const uint8_t digest[TACIT_SHA256_BYTES],
                                    const struct tacit_entropy *keys)
{
    TACIT_ASSERT(digest != NULL);
    return tacit_commit_make(scope, site->head, digest, TACIT_SHA256_BYTES, keys, &site->commit);
}

bool round_site_on_grant(struct round_site *site, const uint8_t granted[TACIT_SHA256_BYTES])
{
    TACIT_ASSERT(granted != NULL);
    if (!tacit_commit_is_same(granted, site->commit.commitment))
        return false;
    memcpy(site->head, site->commit.commitment, sizeof site->head);
    site->blocked = site->forgotten = 0;
    site->resend.unanswered_count = 0;
    return true;
}

bool round_site_on_refusal(struct round_site *site, const struct round_refusal *refusal)
{
    TACIT_ASSERT(refusal->commitment != NULL);
    bool const is_of_now = refusal->is_waiting ? refusal->round == refusal->draw_round
                                               : refusal->round >= refusal->draw_round;
    if (!is_of_now)
        return false; /* repeated on its way */
    uint8_t const *const own = refusal->is_waiting ? site->commit.commitment : site->head;
    uint32_t const blocked = tacit_commit_is_same(refusal->commitment, own) ? 0 : 1;
    uint32_t const forgotten = refusal->forgot ? blocked : 0;
    bool const has_changed = blocked != site->blocked || forgotten != site->forgotten;
    site->blocked = blocked;
    site->forgotten = forgotten;
    TACIT_ASSERT(site->forgotten <= site->blocked);
    return has_changed;
}

void round_site_forget_draw(struct round_site *site)
{
    memset(&site->commit, 0, sizeof site->commit);
    memcpy(site->commit.commitment, site->head, sizeof site->head);
}

bool round_site_may_open(const struct round_site *site)
{
    return tacit_commit_is_same(site->commit.commitment, site->head) &&
           !tacit_commit_is_nothing(site->commit.salt);
}

void round_site_begin_term(struct round_site *site, bool is_granted)
{
    TACIT_ASSERT(site->forgotten <= site->blocked);
    if (!is_granted)
        round_site_forget_draw(site);
    site->blocked = site->forgotten = 0;
    site->resend.unanswered_count = 0;
}

void round_site_end_step(struct round_site *site, uint64_t first_us,
                         const struct round_site_step *step)
{
    struct round_resend *const resend = &site->resend;
    uint64_t const soon_us = step->now_us + first_us;
    bool const is_due = step->kind == TACIT_EVENT_TIMEOUT && step->now_us >= resend->due_us;
    bool const is_answered = resend->unanswered_count < step->unanswered_before;
    TACIT_ASSERT(first_us > 0);
    if (!step->is_wanted) {
        resend->due_us = TACIT_NEVER;
    } else if (step->kind == TACIT_EVENT_START || step->sends || step->has_moved || is_due) {
        resend->due_us = step->now_us + round_pause_us(first_us, resend->unanswered_count);
        if (step->sends && resend->unanswered_count < UINT32_MAX)
            resend->unanswered_count++;
    } else if (is_answered && resend->due_us > soon_us) {
        resend->due_us = soon_us;
    }
}

bool round_site_is_possible(const struct round_site *site)
{
    return site->blocked <= 1 && site->forgotten <= site->blocked;
}
