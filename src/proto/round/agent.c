/* A site that plays in rounds: events, draws, orders, terms, once for all that a hub leads. */
#include "agent.h"
#include <string.h>

/* What a site that is stepped has at hand. */
struct stepped {
    const struct round_agent_rule *rule;
    void *site;
    struct round_agent round;
    const struct tacit_event *event;
    const struct tacit_entropy *entropy;
    const struct tacit_round_message *head; /* RECEIVE */
    struct round_agent_made *made;
};

/* Is a report of this round asked for, and is it not known that the hub has it? */
static bool is_report_wanted(const struct stepped *at)
{
    return !at->round.play->reported &&
           (at->rule->is_asked == NULL || at->rule->is_asked(at->site));
}

/* .. and was it drawn? A history is reported after a round without pulls, too. */
static bool owes_report(const struct stepped *at)
{
    struct round_play const *const play = at->round.play;
    bool const is_waiting = play->phase == PHASE_WAITING;
    return play->release_round > 0 && is_report_wanted(at) &&
           (is_waiting || play->phase == PHASE_FINISHED) &&
           (play->release_round == play->round || (at->rule->keeps_history && is_waiting));
}

/* A step says one thing at most: this. */
static void queue(const struct stepped *at, enum round_message_kind kind)
{
    TACIT_ASSERT(at->made->message_kind == ROUND_KIND_NONE);
    TACIT_IMPLIES(kind == ROUND_KIND_COMMIT, at->round.play->phase == PHASE_COMMITTED);
    at->made->message_kind = kind;
}

/* What a site says that has waited long enough: its report again, or "what now?". Whether a release
 * of before is wanted in this term, an order says. */
static void ask_again(const struct stepped *at)
{
    bool const is_placed = !at->round.play->awaiting_first_order;
    queue(at, is_placed && owes_report(at) ? ROUND_KIND_REPORT : ROUND_KIND_HELLO);
}

/* ---- Draws ---- */

/* To what was drawn, whose words are masked first where there are two aggregators. Without grants
 * nothing is committed to. Errors: TACIT_ENTROPY. */
static enum tacit_status commit(const struct stepped *at, const struct round_draw *draw)
{
    struct tacit_event const *const event = at->event;
    struct tacit_entropy const *const keys = event->keys == NULL ? at->entropy : event->keys;
    if (!at->round.has_grants)
        return TACIT_OK;
    return draw->masked == NULL ? round_agent_commit(&at->round, draw->digest, keys)
                                : round_agent_mask(&at->round, event->aggregators, draw->digest,
                                                   keys, draw->words, draw->count, draw->masked);
}

/* For good, or until a term, in which nothing undrawn is of use: no exact sum waits for a draw. */
static void halt(const struct stepped *at)
{
    round_play_set_phase(at->round.play, PHASE_HALTED);
    at->round.play->left_count = 0;
    at->rule->erase(at->site);
}

/* One draw, one spend, one commitment, or none of them. After this nothing of the exact sums is
 * left. Errors: TACIT_ENTROPY; TACIT_BUDGET, and the site is halted. */
static enum tacit_status draw_once(const struct stepped *at)
{
    struct round_play *const play = at->round.play;
    struct tacit_ledger ledger = play->ledger;
    struct round_draw draw = {.masked = NULL};
    TACIT_ASSERT(play->phase == PHASE_RELEASING && play->left_count == 0);
    if (tacit_ledger_spend(&ledger, play->number_base + play->round,
                           at->rule->cost_nano(at->site, at->event)) != TACIT_OK) {
        halt(at);
        return TACIT_BUDGET;
    }
    enum tacit_status status = at->rule->draw(at->site, at->entropy, &draw);
    if (status == TACIT_OK)
        status = commit(at, &draw);
    if (status != TACIT_OK) {
        memset(draw.words, 0, draw.count * sizeof *draw.words);
        if (draw.masked != NULL)
            memset(draw.masked, 0, sizeof *draw.masked);
        return status;
    }
    if (at->rule->record_draw != NULL)
        at->rule->record_draw(at->site);
    at->rule->erase(at->site);
    play->ledger = ledger;
    play->draw_round = play->round;
    return TACIT_OK;
}

/* The protocol's part of it, after round_play_use_draw. */
static void use_draw(const struct stepped *at)
{
    TACIT_ASSERT(at->round.play->release_round == at->round.play->round);
    if (at->rule->use != NULL)
        at->rule->use(at->site);
    round_play_start_waiting(at->round.play);
}

/* With grants a draw waits for its own; without it is used at once. Also the next try after
 * TACIT_ENTROPY. Errors: as of draw_once. */
static enum tacit_status release(const struct stepped *at)
{
    at->made->persist = true;
    enum tacit_status const status = draw_once(at);
    if (status != TACIT_OK)
        return status;
    if (at->round.has_grants) {
        round_play_set_phase(at->round.play, PHASE_COMMITTED);
        at->made->happened |= TACIT_DREW;
        queue(at, ROUND_KIND_COMMIT);
    } else {
        round_play_use_draw(at->round.play);
        use_draw(at);
        if (is_report_wanted(at))
            queue(at, ROUND_KIND_REPORT);
    }
    return TACIT_OK;
}

/* All of the plan is played. A last one, and one that T cuts, release nothing. */
static enum tacit_status end_plan(const struct stepped *at)
{
    struct round_play *const play = at->round.play;
    if (play->last || play->cut) {
        round_play_start_waiting(play);
        return TACIT_OK;
    }
    round_play_set_phase(play, PHASE_RELEASING);
    return release(at);
}

static enum tacit_status on_grant(const struct stepped *at)
{
    struct round_play *const play = at->round.play;
    bool is_granted;
    enum tacit_status const status = round_agent_on_grant(&at->round, at->head, &is_granted);
    if (!is_granted)
        return status;
    use_draw(at);
    at->made->persist = true;
    if (is_report_wanted(at))
        queue(at, ROUND_KIND_REPORT);
    else if (at->head->closed && play->phase == PHASE_WAITING)
        queue(at, ROUND_KIND_HELLO); /* there is a newer order */
    return TACIT_OK;
}

/* ---- Terms ---- */

/* Nothing of before is of use any more, not even what was granted. */
static void forget_release(const struct stepped *at)
{
    struct round_play *const play = at->round.play;
    TACIT_ASSERT(play->awaiting_first_order);
    play->number_base = round_play_draw_number(play);
    play->round = play->draw_round = play->release_round = 0;
    at->rule->forget(at->site);
    round_site_forget_draw(&play->grants);
}

/* What no grant covers is dropped; if is_anew, so is what was granted. A release that is no history
 * stands while its round does, for an order of the new term may ask for that very round; an old
 * copy has none. Rounds go back to it, the number of the newest draw does not. */
static void begin_term(const struct stepped *at, uint64_t term, bool is_anew)
{
    struct round_play *const play = at->round.play;
    bool const stands =
        at->rule->keeps_history || (play->release_round > 0 && play->release_round == play->round &&
                                    play->phase != PHASE_HALTED);
    at->made->plan_is_void = play->left_count > 0;
    at->made->persist = true;
    at->made->happened |= TACIT_BEGAN_TERM;
    round_play_begin_term(play, term, play->draw_round == play->release_round);
    play->number_base = round_play_draw_number(play) - play->release_round;
    play->round = play->draw_round = play->release_round;
    if (at->rule->begin_term != NULL)
        at->rule->begin_term(at->site);
    if (is_anew || !stands)
        forget_release(at);
    round_play_rest(play);
}

void round_agent_reset(const struct round_agent_rule *rule, void *site, uint64_t term)
{
    struct round_agent_made made = {.message_kind = ROUND_KIND_NONE};
    struct stepped const at = {
        .rule = rule, .site = site, .round = rule->round(site), .made = &made};
    begin_term(&at, term, true);
}

/* ---- Orders ---- */

/* The plan is laid. Of no pulls the release is drawn at once; a history, and what releases nothing,
 * goes on to wait. */
static enum tacit_status open_plan(const struct stepped *at)
{
    struct round_play *const play = at->round.play;
    TACIT_ASSERT(play->left_count <= play->horizon - play->pull_count);
    if (play->left_count == 0 && (play->last || play->cut || at->rule->keeps_history)) {
        round_play_start_waiting(play);
        if (play->phase == PHASE_WAITING)
            ask_again(at);
        return TACIT_OK;
    }
    round_play_set_phase(play, PHASE_PULLING);
    at->made->plan_is_open = play->left_count > 0;
    return play->left_count > 0 ? TACIT_OK : end_plan(at);
}

/* Of a later round. What is left of the plan before is dropped. */
static enum tacit_status apply_order(const struct stepped *at)
{
    struct round_play *const play = at->round.play;
    struct tacit_round_message const *const order = at->head;
    TACIT_ASSERT(order->round > play->round);
    at->made->plan_is_void = play->left_count > 0;
    at->made->persist = true;
    at->rule->drop(at->site);
    play->left_count = 0;
    play->cut = false;
    play->round = order->round;
    play->last = order->last;
    play->reported = false;
    play->grants.resend.unanswered_count = 0;
    at->rule->plan(at->site, at->event);
    enum tacit_status const status = open_plan(at);
    return status == TACIT_ENTROPY ? TACIT_OK : status; /* the order was taken; it is tried again */
}

/* The first order of a term. The release of the very round that it asks for may stand. */
static enum tacit_status apply_first_order(const struct stepped *at)
{
    struct round_play *const play = at->round.play;
    struct tacit_round_message const *const order = at->head;
    TACIT_ASSERT(play->release_round == play->round && play->draw_round == play->round);
    at->made->persist = true;
    if (play->round > 0 && order->round == play->round && !order->last &&
        at->rule->reuse_release(at->site, at->event)) {
        play->awaiting_first_order = false;
        round_agent_on_seen(&at->round, order);
        if (is_report_wanted(at))
            queue(at, ROUND_KIND_REPORT);
        return TACIT_OK;
    }
    if (!(at->rule->continues != NULL ? at->rule->continues(at->site, at->event)
                                      : order->round > play->round))
        forget_release(at);
    play->awaiting_first_order = false;
    if (play->phase != PHASE_FINISHED)
        return apply_order(at);
    play->reported = true; /* nobody waits for this site */
    return TACIT_OK;
}

/* Nothing leaves any more (round_agent_is_old_copy). */
static enum tacit_status halt_old_copy(const struct stepped *at)
{
    halt(at);
    at->rule->drop(at->site);
    at->made->plan_is_void = true;
    at->made->persist = true;
    return TACIT_ROLLBACK;
}

/* An order that asks for more than the policy allows; the last one asks for no report. */
static bool is_refused(const struct stepped *at)
{
    struct tacit_round_message const *const order = at->head;
    uint32_t const limit = at->round.round_limit;
    return !order->last && at->round.play->phase != PHASE_FINISHED && limit > 0 &&
           order->round > limit;
}

/* The order of the round that stands may ask others for their reports, or this site no more. */
static void update_asked(const struct stepped *at)
{
    struct round_play const *const play = at->round.play;
    TACIT_ASSERT(at->head->round == play->round);
    if (at->rule->update_asked == NULL || !at->rule->update_asked(at->site, at->event))
        return;
    at->made->persist = true;
    if (play->phase == PHASE_WAITING && play->release_round == play->round && is_report_wanted(at))
        queue(at, ROUND_KIND_REPORT);
}

/* A new order is played; one that stands, or is older, only says what the hub has seen, and whom it
 * asks. Errors, and nothing changed: TACIT_REFUSED, TACIT_UNEXPECTED. */
static enum tacit_status follow(const struct stepped *at)
{
    struct round_play *const play = at->round.play;
    struct tacit_round_message const *const order = at->head;
    bool const keeps_history = at->rule->keeps_history;
    /* Where arms may come, a round may follow the last order, too; a history ends with it. */
    bool const is_new = play->awaiting_first_order ||
                        (order->round > play->round && !(keeps_history && play->last));
    if (is_new && is_refused(at))
        return TACIT_REFUSED;
    if (is_new &&
        (play->phase == PHASE_COMMITTED || (keeps_history && play->phase == PHASE_RELEASING)))
        return TACIT_UNEXPECTED; /* the round before is settled first; the hub says it again */
    if (play->awaiting_first_order)
        return apply_first_order(at);
    round_agent_on_seen(&at->round, order);
    if (is_new && play->phase != PHASE_FINISHED)
        return apply_order(at);
    if (is_new) {
        at->made->persist = at->made->persist || !play->reported;
        play->reported = true; /* the round is over: nobody waits for this site */
    } else if (order->round == play->round) {
        update_asked(at);
    }
    return TACIT_OK;
}

/* The plan that stands is another. If nothing is left of it, the round ends here as with its last
 * reward. */
static enum tacit_status replan(const struct stepped *at)
{
    struct round_play *const play = at->round.play;
    if (play->phase != PHASE_PULLING)
        return TACIT_OK;
    at->rule->replan(at->site);
    at->made->plan_is_open = play->left_count > 0;
    return play->left_count > 0 ? TACIT_OK : end_plan(at);
}

static enum tacit_status on_order(const struct stepped *at)
{
    struct tacit_round_message const *const order = at->head;
    enum tacit_status status = round_agent_check_order(&at->round, order);
    if (status == TACIT_OK)
        status = at->rule->check_order(at->site, at->event);
    if (status != TACIT_OK || at->round.play->phase == PHASE_HALTED)
        return status;
    if (round_agent_is_old_copy(&at->round, order)) /* also by one that would be refused */
        return halt_old_copy(at);
    bool const has_changed =
        at->rule->apply_changes != NULL && at->rule->apply_changes(at->site, at->event);
    at->made->persist = has_changed;
    status = follow(at);
    if (!has_changed)
        return status;
    return at->made->message_kind == ROUND_KIND_NONE && !at->made->plan_is_open
               ? replan(at)
               : TACIT_OK; /* the changes were taken, even if the order was refused */
}

/* ---- Events ---- */

/* A new process does not know what was answered: what waits is said again. */
static enum tacit_status on_start(const struct stepped *at)
{
    struct round_play *const play = at->round.play;
    if (at->event->as.term > play->term)
        begin_term(at, at->event->as.term, false);
    if (play->phase == PHASE_COMMITTED)
        queue(at, ROUND_KIND_COMMIT);
    else if (play->phase == PHASE_WAITING || owes_report(at))
        ask_again(at);
    at->made->plan_is_open = play->phase == PHASE_PULLING;
    if (play->phase == PHASE_PULLING && !play->last)
        queue(at, ROUND_KIND_HELLO); /* before more is released: what does the hub hold? */
    if (play->phase != PHASE_IDLE || at->rule->begin == NULL || !at->rule->begin(at->site))
        return TACIT_OK;
    at->made->persist = true;
    return open_plan(at);
}

/* REWARD, EXPLOITED. */
static enum tacit_status on_played(const struct stepped *at)
{
    struct round_play const *const play = at->round.play;
    enum tacit_status const status = at->rule->play(at->site, at->event);
    if (status != TACIT_OK)
        return status;
    at->made->persist = true;
    return play->phase == PHASE_PULLING && play->left_count == 0 ? end_plan(at) : TACIT_OK;
}

static enum tacit_status on_receive(const struct stepped *at)
{
    void const *const message = at->event->as.message;
    switch (at->rule->message_kind != NULL
                ? at->rule->message_kind(message)
                : round_message_kind(*(const enum tacit_round_kind *)message)) {
    case ROUND_KIND_ORDER:
        return on_order(at);
    case ROUND_KIND_GRANT:
        return on_grant(at);
    case ROUND_KIND_REFUSAL:
        return round_agent_on_refusal(&at->round, at->head, &at->made->persist);
    case ROUND_KIND_NONE:
    case ROUND_KIND_HELLO:
    case ROUND_KIND_COMMIT:
    case ROUND_KIND_REPORT:
        return TACIT_UNEXPECTED; /* only others receive these */
    case ROUND_KIND_UNKNOWN:
        break;
    }
    return TACIT_MALFORMED;
}

static enum tacit_status on_timeout(const struct stepped *at)
{
    struct round_play const *const play = at->round.play;
    if (at->event->now_us < play->grants.resend.due_us)
        return TACIT_OK; /* a timer of an earlier update */
    if (play->phase == PHASE_RELEASING)
        return release(at);
    if (play->phase == PHASE_COMMITTED)
        queue(at, ROUND_KIND_COMMIT);
    else if (play->phase == PHASE_WAITING || play->phase == PHASE_IDLE || owes_report(at))
        ask_again(at);
    return TACIT_OK;
}

static enum tacit_status handle(const struct stepped *at)
{
    switch (at->event->kind) {
    case TACIT_EVENT_START:
        return on_start(at);
    case TACIT_EVENT_REWARD:
    case TACIT_EVENT_EXPLOITED:
        return on_played(at);
    case TACIT_EVENT_RECEIVE:
        return on_receive(at);
    case TACIT_EVENT_TIMEOUT:
        return on_timeout(at);
    case TACIT_EVENT_OFFER:
        break; /* nobody's contexts matter here */
    }
    return TACIT_INVALID;
}

/* The hub hears of it at once: with a COMMIT where a draw waits, since a HELLO would show a head
 * that was not granted yet. */
static enum tacit_status change_plan(const struct stepped *at)
{
    struct round_play const *const play = at->round.play;
    at->made->persist = true;
    enum tacit_status const status = replan(at);
    if (status == TACIT_OK && at->made->message_kind == ROUND_KIND_NONE &&
        play->phase != PHASE_FINISHED)
        queue(at, play->phase == PHASE_COMMITTED ? ROUND_KIND_COMMIT : ROUND_KIND_HELLO);
    return status;
}

/* What is common to all steps: what happened, and when to say again what nobody answers. */
static enum tacit_status step(const struct stepped *at,
                              enum tacit_status (*react)(const struct stepped *at))
{
    struct tacit_event const *const event = at->event;
    struct round_agent_made *const made = at->made;
    struct round_play *const play = at->round.play;
    bool const is_start = event->kind == TACIT_EVENT_START; /* a new process has a new clock */
    TACIT_ASSERT(is_start || event->now_us >= play->now_us);
    round_play_check_invariants(play, at->round.round_max, at->round.has_grants);
    *made = (struct round_agent_made){.message_kind = ROUND_KIND_NONE};
    enum phase const before = play->phase;
    bool const had_order = play->round > 0;
    bool const was_last = play->last;
    uint32_t const unanswered_before = play->grants.resend.unanswered_count;
    enum tacit_status const status = react(at);
    made->happened |= !had_order && play->round > 0 ? TACIT_WAS_ORDERED : 0;
    made->happened |= !was_last && play->last ? TACIT_ENDED : 0;
    round_play_check_invariants(play, at->round.round_max, at->round.has_grants);
    TACIT_IMPLIES(status != TACIT_OK, made->message_kind == ROUND_KIND_NONE);
    TACIT_IMPLIES(made->plan_is_open, play->phase == PHASE_PULLING);
    TACIT_IMPLIES(play->phase != before, made->persist);
    if (status == TACIT_OK || made->persist) {
        struct round_site_step end = {.kind = event->kind,
                                      .now_us = event->now_us,
                                      .unanswered_before = unanswered_before,
                                      .sends = made->message_kind != ROUND_KIND_NONE};
        round_play_end_step(play, at->round.resend_after_us,
                            play->phase == PHASE_FINISHED && owes_report(at), before, &end);
    }
    return status;
}

enum tacit_status round_agent_step(const struct round_agent_rule *rule, void *site,
                                   const struct tacit_event *event,
                                   const struct tacit_entropy *entropy,
                                   struct round_agent_made *made)
{
    struct stepped at = {rule, site, rule->round(site), event, entropy, NULL, made};
    if (event->kind == TACIT_EVENT_RECEIVE)
        at.head = (const void *)((const unsigned char *)event->as.message + rule->head_at);
    return step(&at, handle);
}

enum tacit_status round_agent_change_plan(const struct round_agent_rule *rule, void *site,
                                          const struct tacit_event *now,
                                          const struct tacit_entropy *entropy,
                                          struct round_agent_made *made)
{
    struct stepped const at = {rule, site, rule->round(site), now, entropy, NULL, made};
    return step(&at, change_plan);
}

struct tacit_update round_agent_update(const struct round_play *play,
                                       const struct round_agent_made *made)
{
    return (struct tacit_update){.persist = made->persist,
                                 .send = made->message_kind != ROUND_KIND_NONE,
                                 .plan_is_void = made->plan_is_void,
                                 .happened = made->happened,
                                 .deadline_us = play->grants.resend.due_us};
}
