/* A site that plays in rounds: phases, orders, grants, terms, once for all protocols. */
#include "play.h"
#include <string.h>
#include "../../base/walk.h"

#define LAST_REPORT_TRIES 12u

uint64_t round_play_draw_number(const struct round_play *play)
{
    TACIT_ASSERT(play->number_base <= UINT64_MAX / 2);
    return play->number_base + play->draw_round;
}

/* An order may overtake any phase but the last two. */
void round_play_set_phase(struct round_play *play, enum phase next)
{
    enum phase const now = play->phase;
    TACIT_ASSERT(next != PHASE_IDLE);
    TACIT_ASSERT(now != PHASE_HALTED);
    TACIT_IMPLIES(now == PHASE_FINISHED, next == PHASE_HALTED);
    TACIT_IMPLIES(next == PHASE_RELEASING, now == PHASE_PULLING);
    TACIT_IMPLIES(next == PHASE_COMMITTED, now == PHASE_RELEASING);
    play->phase = next;
}

void round_play_start_waiting(struct round_play *play)
{
    TACIT_ASSERT(play->left_count == 0);
    round_play_set_phase(play, play->pull_count == play->horizon ? PHASE_FINISHED : PHASE_WAITING);
}

enum tacit_status round_play_exploit(struct round_play *play, uint64_t count)
{
    bool const is_allowed = play->phase == PHASE_WAITING || play->phase == PHASE_IDLE ||
                            play->phase == PHASE_PULLING || play->phase == PHASE_COMMITTED;
    uint64_t const slots = play->horizon - play->pull_count - play->left_count;
    if (!is_allowed || count == 0 || count > slots)
        return TACIT_INVALID;
    play->pull_count += count;
    if (play->pull_count == play->horizon && play->phase != PHASE_COMMITTED)
        round_play_set_phase(play, PHASE_FINISHED);
    return TACIT_OK;
}

struct tacit_round_message round_agent_head(const struct round_agent *agent)
{
    struct round_play const *const play = agent->play;
    return (struct tacit_round_message){.from = agent->id,
                                        .to = TACIT_HUB,
                                        .run_id = agent->run_id,
                                        .term = play->term,
                                        .round = play->awaiting_first_order ? 0 : play->round,
                                        .commit = agent->has_grants ? &play->grants.commit : NULL};
}

struct tacit_round_view round_agent_view(const struct round_agent *agent)
{
    struct round_play const *const play = agent->play;
    bool const is_at_end = play->pull_count == play->horizon;
    bool const is_committed = play->phase == PHASE_COMMITTED;
    return (struct tacit_round_view){
        .round = play->round,
        .draw_round = play->draw_round,
        .release_round = play->release_round,
        .waiting = play->phase == PHASE_IDLE || play->phase == PHASE_WAITING ||
                   (is_committed && !is_at_end),
        .last = play->last,
        .finished = play->phase == PHASE_FINISHED || (is_committed && is_at_end),
        .releasing = play->phase == PHASE_RELEASING,
        .halted = play->phase == PHASE_HALTED,
        .reported = play->reported,
        .committed = is_committed,
        .blocked = play->grants.blocked != 0,
        .forgotten = play->grants.forgotten != 0,
        .head = agent->has_grants ? play->grants.head : NULL,
        .horizon = play->horizon,
        .pull_count = play->pull_count,
        .term = play->term,
        .draw_number = round_play_draw_number(play),
        .release_number = play->release_number,
        .ledger = &play->ledger};
}

/* ---- Orders ---- */

/* Is it the hub's, for this site, in this term? */
static bool is_for(const struct round_agent *agent, const struct tacit_round_message *message)
{
    return message->from == TACIT_HUB && message->run_id == agent->run_id &&
           message->term == agent->play->term &&
           (message->to == agent->id || message->to == TACIT_EVERYONE);
}

enum tacit_status round_agent_check_order(const struct round_agent *agent,
                                          const struct tacit_round_message *order)
{
    if (!is_for(agent, order))
        return TACIT_STRANGER;
    return order->round == 0 || order->round > agent->round_max || order->seen > order->round
               ? TACIT_MALFORMED
               : TACIT_OK;
}

bool round_agent_is_old_copy(const struct round_agent *agent,
                             const struct tacit_round_message *order)
{
    return order->to == agent->id && order->seen > agent->play->draw_round;
}

void round_agent_on_seen(const struct round_agent *agent, const struct tacit_round_message *order)
{
    struct round_play *const play = agent->play;
    TACIT_ASSERT(order->seen <= order->round);
    if (order->to != agent->id)
        return;
    if (order->round == play->round)
        play->reported = order->seen == play->round;
    play->grants.resend.unanswered_count = 0;
}

/* ---- Draws ---- */

enum tacit_status round_agent_commit(const struct round_agent *agent,
                                     const uint8_t digest[TACIT_SHA256_BYTES],
                                     const struct tacit_entropy *keys)
{
    TACIT_ASSERT(agent->has_grants);
    struct tacit_commit_scope const scope = {.domain = agent->domain,
                                             .run_id = agent->run_id,
                                             .site = agent->id,
                                             .epoch = agent->play->round,
                                             .is_numbered = agent->is_numbered};
    return round_site_commit(&agent->play->grants, &scope, digest, keys);
}

enum tacit_status round_agent_mask(const struct round_agent *agent,
                                   const struct tacit_aggregators *aggregators,
                                   const uint8_t order[TACIT_SHA256_BYTES],
                                   const struct tacit_entropy *keys, uint64_t *words,
                                   uint32_t count, struct tacit_helper_release *release)
{
    TACIT_ASSERT(aggregators != NULL);
    uint8_t digest[TACIT_SHA256_BYTES];
    struct tacit_helper_round round = {.term = aggregators->term,
                                       .round = agent->play->round,
                                       .count = count,
                                       .epsilon_nano = aggregators->epsilon_nano};
    memcpy(round.order, order, sizeof round.order);
    if (tacit_helper_mask(aggregators->run, &round, agent->id, aggregators->keys, keys, words,
                          release) != TACIT_OK)
        return TACIT_ENTROPY; /* or sealing failed: it is tried again, too */
    tacit_helper_release_digest(release, digest);
    return round_agent_commit(agent, digest, keys);
}

void round_play_use_draw(struct round_play *play)
{
    TACIT_ASSERT(play->draw_round == play->round);
    play->release_round = play->draw_round;
    play->release_number = round_play_draw_number(play);
}

/* A GRANT or a REFUSAL. */
static enum tacit_status check_answer(const struct round_agent *agent,
                                      const struct tacit_round_message *answer)
{
    if (!is_for(agent, answer) || answer->to == TACIT_EVERYONE)
        return TACIT_STRANGER;
    if (!agent->has_grants)
        return TACIT_UNEXPECTED;
    return answer->commit == NULL ? TACIT_MALFORMED : TACIT_OK;
}

enum tacit_status round_agent_on_grant(const struct round_agent *agent,
                                       const struct tacit_round_message *grant, bool *granted)
{
    struct round_play *const play = agent->play;
    enum tacit_status const status = check_answer(agent, grant);
    *granted = status == TACIT_OK && play->phase == PHASE_COMMITTED &&
               round_site_on_grant(&play->grants, grant->commit->commitment);
    if (*granted) {
        round_play_use_draw(play);
        play->reported = play->reported || grant->closed;
    }
    return status;
}

enum tacit_status round_agent_on_refusal(const struct round_agent *agent,
                                         const struct tacit_round_message *refusal, bool *changed)
{
    struct round_play *const play = agent->play;
    enum tacit_status const status = check_answer(agent, refusal);
    if (status != TACIT_OK || play->phase == PHASE_HALTED)
        return status;
    struct round_refusal const shown = {.round = refusal->round,
                                        .draw_round = play->draw_round,
                                        .is_waiting = play->phase == PHASE_COMMITTED,
                                        .forgot = refusal->forgot,
                                        .commitment = refusal->commit->commitment};
    *changed = round_site_on_refusal(&play->grants, &shown);
    return TACIT_OK;
}

void round_play_begin_term(struct round_play *play, uint64_t term, bool is_granted)
{
    TACIT_ASSERT(term > play->term);
    play->term = term;
    play->left_count = 0;
    play->last = play->reported = play->cut = false;
    play->awaiting_first_order = true;
    round_site_begin_term(&play->grants, is_granted);
}

void round_play_rest(struct round_play *play)
{
    TACIT_ASSERT(play->awaiting_first_order);
    bool const is_at_end = play->pull_count == play->horizon;
    play->phase = is_at_end ? PHASE_FINISHED : play->round > 0 ? PHASE_WAITING : PHASE_IDLE;
}

/* ---- Steps and states ---- */

void round_play_end_step(struct round_play *play, uint64_t resend_after_us, bool owes_report,
                         enum phase before, struct round_site_step *step)
{
    bool const is_patient = play->pull_count < play->horizon ||
                            play->grants.resend.unanswered_count < LAST_REPORT_TRIES;
    bool const is_settling = play->phase == PHASE_COMMITTED || owes_report;
    TACIT_IMPLIES(owes_report, play->phase == PHASE_FINISHED);
    step->has_moved = play->phase != before;
    step->is_wanted = (is_settling && is_patient) || play->phase == PHASE_IDLE ||
                      play->phase == PHASE_WAITING || play->phase == PHASE_RELEASING;
    play->now_us = step->now_us;
    round_site_end_step(&play->grants, resend_after_us, step);
}

void round_play_check_invariants(const struct round_play *play, uint32_t round_max, bool has_grants)
{
    TACIT_ASSERT(play->round <= round_max);
    TACIT_ASSERT(play->release_round <= play->draw_round && play->draw_round <= play->round);
    TACIT_IMPLIES(play->draw_round > play->release_round, has_grants);
    TACIT_IMPLIES(play->grants.blocked != 0, has_grants);
    TACIT_IMPLIES(play->phase == PHASE_COMMITTED, has_grants && play->draw_round == play->round);
    TACIT_IMPLIES(play->phase == PHASE_FINISHED, play->pull_count == play->horizon);
    TACIT_IMPLIES(play->phase == PHASE_WAITING, play->pull_count < play->horizon);
    TACIT_IMPLIES(play->phase == PHASE_IDLE, play->round == 0);
    TACIT_IMPLIES(play->awaiting_first_order,
                  play->left_count == 0 && play->draw_round == play->round);
    TACIT_ASSERT((play->phase == PHASE_PULLING) == (play->left_count > 0));
    TACIT_ASSERT(play->pull_count <= play->horizon);
    TACIT_ASSERT(play->left_count <= play->horizon - play->pull_count);
    TACIT_ASSERT(tacit_ledger_spent_nano(&play->ledger) <= play->ledger.budget_nano);
}

/* Draws, releases and the ledger tell one story. */
static bool draws_are_possible(const struct round_agent *agent, uint64_t budget_nano)
{
    struct round_play const *const play = agent->play;
    struct tacit_ledger const *const ledger = &play->ledger;
    bool const is_pending = play->draw_round > play->release_round;
    bool const may_be_pending = play->phase == PHASE_COMMITTED || play->phase == PHASE_HALTED;
    if (play->number_base > UINT64_MAX / 2)
        return false;
    uint64_t const number = round_play_draw_number(play);
    return play->release_round <= play->draw_round && play->draw_round <= play->round &&
           (!is_pending || may_be_pending) && (is_pending || play->phase != PHASE_COMMITTED) &&
           (agent->has_grants || (!is_pending && play->grants.blocked == 0)) &&
           ledger->budget_nano == budget_nano &&
           tacit_ledger_spent_nano(ledger) <= ledger->budget_nano && ledger->open_cell == number &&
           ledger->release_count <= number && (ledger->release_count > 0) == (number > 0) &&
           play->release_number <= number;
}

/* Nothing of a term is left in another. */
static bool term_is_possible(const struct round_play *play)
{
    bool const is_granted = play->draw_round == play->round && play->release_round == play->round;
    if (play->term == 0)
        return play->number_base == 0 && !play->awaiting_first_order &&
               play->release_number == play->release_round;
    return !play->awaiting_first_order ||
           (is_granted && play->left_count == 0 && !play->last && !play->reported);
}

static bool phase_is_possible(const struct round_play *play)
{
    bool const is_at_end = play->pull_count == play->horizon;
    bool const may_draw = !play->last && !play->cut;
    if ((play->phase == PHASE_PULLING) != (play->left_count > 0))
        return false;
    switch (play->phase) {
    case PHASE_IDLE:
        return play->round == 0 && !is_at_end && !play->last;
    case PHASE_RELEASING:
        return play->draw_round < play->round && may_draw;
    case PHASE_COMMITTED:
        return play->draw_round == play->round && may_draw;
    case PHASE_WAITING:
        return !is_at_end;
    case PHASE_FINISHED:
        return is_at_end;
    case PHASE_PULLING:
    case PHASE_HALTED:
        return true;
    }
    return false;
}

bool round_agent_is_possible(const struct round_agent *agent, uint64_t budget_nano)
{
    struct round_play const *const play = agent->play;
    return base_truth_is_possible(&play->last) && base_truth_is_possible(&play->reported) &&
           base_truth_is_possible(&play->cut) &&
           base_truth_is_possible(&play->awaiting_first_order) &&
           round_site_is_possible(&play->grants) && play->round <= agent->round_max &&
           play->pull_count <= play->horizon &&
           play->left_count <= play->horizon - play->pull_count &&
           draws_are_possible(agent, budget_nano) && term_is_possible(play) &&
           phase_is_possible(play);
}
