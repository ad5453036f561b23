/* See digest_views.h. */
#include "digest_views.h"
#include "digest.h"

static void digest_set(const uint64_t *set, uint32_t count)
{
    digest_word(set != NULL);
    if (set != NULL)
        digest_bytes(set, TACIT_BITS_WORDS(count) * sizeof *set);
}

static void digest_head(const uint8_t *head)
{
    digest_word(head != NULL);
    if (head != NULL)
        digest_bytes(head, TACIT_SHA256_BYTES);
}

static void digest_changes(const struct tacit_elim_change *changes, uint32_t count)
{
    digest_word(changes != NULL);
    digest_word(count);
    for (uint32_t i = 0; i < count; i++) {
        digest_word(changes[i].number);
        digest_word(changes[i].subject);
        digest_word(changes[i].value);
    }
}

void digest_elim_agent_view(const struct tacit_elim_agent_view *view, uint32_t arm_count)
{
    uint64_t const words[] = {view->epoch,      view->waiting,      view->last,
                              view->finished,   view->releasing,    view->halted,
                              view->reported,   view->is_asked,     view->committed,
                              view->blocked,    view->active_count, view->playable_count,
                              view->dropped,    view->horizon,      view->pulls,
                              view->pull_count, view->exploit_arm,  view->release_epoch,
                              view->term,       view->draw_number,  view->release_number};
    digest_bytes(words, sizeof words);
    digest_head(view->head);
    digest_set(view->arms, arm_count);
    digest_set(view->playable, arm_count);
    digest_set(view->refused, arm_count);
    digest_changes(view->changes, view->change_count);
    digest_ledger(view->ledger);
}

void digest_elim_peer_view(const struct tacit_elim_peer_view *view, uint32_t arm_count,
                           uint32_t agent_count)
{
    uint64_t const words[] = {view->known_count,  view->missing_count, view->is_sink,
                              view->refused_by,   view->round_count,   view->decided,
                              view->active_count, view->is_exact,      view->leader};
    digest_elim_agent_view(&view->agent, arm_count);
    digest_bytes(words, sizeof words);
    digest_set(view->known, agent_count);
    digest_set(view->arms, arm_count);
    digest_real(view->radius);
    for (uint32_t arm = 0; view->means != NULL && arm < arm_count; arm++) {
        digest_real(view->means[arm]);
        digest_word(view->eliminated[arm]);
    }
}

static void digest_elim_hub_sets(const struct tacit_elim_hub_view *view, uint32_t arm_count,
                                 uint32_t agent_count)
{
    digest_set(view->arms, arm_count);
    digest_set(view->uploaders, agent_count);
    digest_set(view->received, agent_count);
    digest_set(view->flagged, agent_count);
    digest_set(view->retired, arm_count);
    digest_set(view->dropped, agent_count);
    digest_set(view->abstaining, agent_count);
    for (uint32_t agent = 0; view->refused != NULL && agent < agent_count; agent++)
        digest_set(view->refused + agent * TACIT_BITS_WORDS(arm_count), arm_count);
}

void digest_elim_hub_view(const struct tacit_elim_hub_view *view, uint32_t arm_count,
                          uint32_t agent_count)
{
    uint64_t const words[] = {
        view->epoch,           view->finished,      view->active_count,     view->round_count,
        view->reports_missing, view->report_count,  view->covered_count,    view->overdue,
        view->pulls,           view->is_exact,      view->leader,           view->term,
        view->quorum,          view->quorum_wanted, view->round_timeout_us, view->horizon};
    digest_bytes(words, sizeof words);
    digest_elim_hub_sets(view, arm_count, agent_count);
    digest_changes(view->changes, view->change_count);
    digest_real(view->radius);
    digest_reals(view->means, arm_count);
    for (uint32_t arm = 0; arm < arm_count; arm++)
        digest_word(view->eliminated[arm]);
    for (uint32_t agent = 0; agent < agent_count; agent++)
        digest_word(view->seen[agent]);
}

void digest_phased_agent_view(const struct tacit_phased_agent_view *view)
{
    uint64_t const words[] = {
        view->round,      view->waiting,       view->last,          view->finished,
        view->halted,     view->releasing,     view->committed,     view->blocked,
        view->reported,   view->pull_count,    view->leader,        view->exploit_arm,
        view->draw_round, view->release_round, view->block_count,   view->noised != NULL,
        view->term,       view->draw_number,   view->release_number};
    digest_bytes(words, sizeof words);
    digest_head(view->head);
    digest_bytes(view->blocks, view->block_count * sizeof *view->blocks);
    if (view->noised != NULL)
        digest_bytes(view->noised, view->block_count * sizeof *view->noised);
    digest_ledger(view->ledger);
}

static void digest_phased_judge_view(const struct tacit_phased_judge_view *view, uint32_t arm_count)
{
    uint64_t const words[] = {view->round,  view->round_count, view->finished, view->decided,
                              view->leader, view->played,      view->slots,    view->plan_count};
    digest_bytes(words, sizeof words);
    digest_bytes(view->plan, view->plan_count * sizeof *view->plan);
    digest_bytes(view->releases, arm_count * sizeof *view->releases);
    digest_bytes(view->standings, arm_count * sizeof *view->standings);
    digest_reals(view->means, arm_count);
    digest_reals(view->uppers, arm_count);
    digest_reals(view->lowers, arm_count);
}

void digest_phased_hub_view(const struct tacit_phased_hub_view *view, uint32_t arm_count,
                            uint32_t agent_count)
{
    digest_phased_judge_view(&view->judge, arm_count);
    digest_word(view->reports_missing);
    digest_word(view->report_count);
    digest_word(view->overdue);
    digest_word(view->term);
    digest_set(view->received, agent_count);
    digest_set(view->flagged, agent_count);
    for (uint32_t agent = 0; agent < agent_count; agent++)
        digest_word(view->seen[agent]);
}
