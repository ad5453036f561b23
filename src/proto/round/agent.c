/* A site that plays in rounds: phases, draws, grants, orders, terms, once for all that a hub leads.
 */
#include "agent.h"
#include <string.h>
#include "../../base/walk.h"

#define LAST_REPORT_TRIES 12u

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

uint64_t round_play_draw_number(const struct round_play *play)
{
    TACIT_ASSERT(play->number_base <= UINT64_MAX / 2);
    return play->number_base + play->draw_round;
}

/* ---- Phases ---- */

/* Every phase change goes through here, so an illegal one cannot pass unseen. An order may overtake
 * any phase but the last two. */
static void set_phase(struct round_play *play, enum phase next)
{
    enum phase const now = play->phase;
    TACIT_ASSERT(next != PHASE_IDLE);
    TACIT_ASSERT(now != PHASE_HALTED);
    TACIT_IMPLIES(now == PHASE_FINISHED, next == PHASE_HALTED);
    TACIT_IMPLIES(next == PHASE_RELEASING, now == PHASE_PULLING);
    TACIT_IMPLIES(next == PHASE_COMMITTED, now == PHASE_RELEASING);
    play->phase = next;
}

/* Nothing is left of the plan: WAITING, or FINISHED at T. */
static void start_waiting(struct round_play *play)
{
    TACIT_ASSERT(play->left_count == 0);
    set_phase(play, play->pull_count == play->horizon ? PHASE_FINISHED : PHASE_WAITING);
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
        set_phase(play, PHASE_FINISHED);
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

static void check_invariants(const struct stepped *at)
{
    struct round_play const *const play = at->round.play;
    bool const has_grants = at->round.has_grants;
    TACIT_ASSERT(play->round <= at->round.round_max);
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

/* ---- What is said ---- */

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

/* With two aggregators: of the words nothing is left then that the hub could read. Errors:
 * TACIT_ENTROPY, the words are of no use. */
static enum tacit_status mask(const struct stepped *at, const struct tacit_entropy *keys,
                              const struct round_draw *draw)
{
    struct tacit_aggregators const *const aggregators = at->event->aggregators;
    TACIT_ASSERT(aggregators != NULL);
    struct tacit_helper_round round = {.term = aggregators->term,
                                       .round = at->round.play->round,
                                       .count = draw->count,
                                       .epsilon_nano = aggregators->epsilon_nano};
    memcpy(round.order, draw->digest, sizeof round.order);
    enum tacit_status const status = tacit_helper_mask(
        aggregators->run, &round, at->round.id, aggregators->keys, keys, draw->words, draw->masked);
    return status == TACIT_OK ? TACIT_OK : TACIT_ENTROPY; /* a failed seal is tried again, too */
}

/* To what was drawn, by its digest; what was masked by what opens it. Without grants nothing is
 * committed to. Errors: TACIT_ENTROPY. */
static enum tacit_status commit(const struct stepped *at, const struct round_draw *draw)
{
    struct round_agent const *const agent = &at->round;
    struct tacit_entropy const *const keys =
        at->event->keys == NULL ? at->entropy : at->event->keys;
    struct tacit_commit_scope const scope = {.domain = agent->domain,
                                             .run_id = agent->run_id,
                                             .site = agent->id,
                                             .epoch = agent->play->round,
                                             .is_numbered = agent->is_numbered};
    uint8_t digest[TACIT_SHA256_BYTES];
    if (!agent->has_grants)
        return TACIT_OK;
    memcpy(digest, draw->digest, sizeof digest);
    if (draw->masked != NULL) {
        TACIT_TRY(mask(at, keys, draw));
        tacit_helper_release_digest(draw->masked, digest);
    }
    return round_site_commit(&agent->play->grants, &scope, digest, keys);
}

/* For good, or until a term, in which nothing undrawn is of use: no exact sum waits for a draw. */
static void halt(const struct stepped *at)
{
    set_phase(at->round.play, PHASE_HALTED);
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

/* It is the release from here on. */
static void use_draw(const struct stepped *at)
{
    struct round_play *const play = at->round.play;
    TACIT_ASSERT(play->draw_round == play->round);
    play->release_round = play->draw_round;
    play->release_number = round_play_draw_number(play);
    if (at->rule->use != NULL)
        at->rule->use(at->site);
    start_waiting(play);
}

/* With grants a draw waits for its own; without it is used at once. Also the next try after
 * TACIT_ENTROPY. Errors: as of draw_once. */
static enum tacit_status release(const struct stepped *at)
{
    at->made->persist = true;
    TACIT_TRY(draw_once(at));
    if (at->round.has_grants) {
        set_phase(at->round.play, PHASE_COMMITTED);
        at->made->happened |= TACIT_DREW;
        queue(at, ROUND_KIND_COMMIT);
    } else {
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
        start_waiting(play);
        return TACIT_OK;
    }
    set_phase(play, PHASE_RELEASING);
    return release(at);
}

/* Is it the hub's, for this site, in this term? */
static bool is_for(const struct stepped *at)
{
    struct round_agent const *const agent = &at->round;
    struct tacit_round_message const *const message = at->head;
    return message->from == TACIT_HUB && message->run_id == agent->run_id &&
           message->term == agent->play->term &&
           (message->to == agent->id || message->to == TACIT_EVERYONE);
}

/* A GRANT or a REFUSAL. */
static enum tacit_status check_answer(const struct stepped *at)
{
    if (!is_for(at) || at->head->to == TACIT_EVERYONE)
        return TACIT_STRANGER;
    if (!at->round.has_grants)
        return TACIT_UNEXPECTED;
    return at->head->commit == NULL ? TACIT_MALFORMED : TACIT_OK;
}

/* Others than that of the draw that waits are late, or repeated. */
static enum tacit_status on_grant(const struct stepped *at)
{
    struct round_play *const play = at->round.play;
    enum tacit_status const status = check_answer(at);
    if (status != TACIT_OK || play->phase != PHASE_COMMITTED ||
        !round_site_on_grant(&play->grants, at->head->commit->commitment))
        return status;
    play->reported = play->reported || at->head->closed;
    use_draw(at);
    at->made->persist = true;
    if (is_report_wanted(at))
        queue(at, ROUND_KIND_REPORT);
    else if (at->head->closed && play->phase == PHASE_WAITING)
        queue(at, ROUND_KIND_HELLO); /* there is a newer order */
    return TACIT_OK;
}

static enum tacit_status on_refusal(const struct stepped *at)
{
    struct round_play *const play = at->round.play;
    enum tacit_status const status = check_answer(at);
    if (status != TACIT_OK || play->phase == PHASE_HALTED)
        return status;
    struct round_refusal const shown = {.round = at->head->round,
                                        .draw_round = play->draw_round,
                                        .is_waiting = play->phase == PHASE_COMMITTED,
                                        .forgot = at->head->forgot,
                                        .commitment = at->head->commit->commitment};
    at->made->persist = round_site_on_refusal(&play->grants, &shown);
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
 * copy has none. Rounds go back to it, the number of the newest draw does not. Then the site rests,
 * whatever phase it was in: an old copy has nothing any more that could leave twice. */
static void begin_term(const struct stepped *at, uint64_t term, bool is_anew)
{
    struct round_play *const play = at->round.play;
    bool const stands =
        at->rule->keeps_history || (play->release_round > 0 && play->release_round == play->round &&
                                    play->phase != PHASE_HALTED);
    at->made->plan_is_void = play->left_count > 0;
    at->made->persist = true;
    at->made->happened |= TACIT_BEGAN_TERM;
    TACIT_ASSERT(term > play->term);
    play->term = term;
    play->left_count = 0;
    play->last = play->reported = play->cut = false;
    play->awaiting_first_order = true;
    round_site_begin_term(&play->grants, play->draw_round == play->release_round);
    play->number_base = round_play_draw_number(play) - play->release_round;
    play->round = play->draw_round = play->release_round;
    if (at->rule->begin_term != NULL)
        at->rule->begin_term(at->site);
    if (is_anew || !stands)
        forget_release(at);
    bool const is_at_end = play->pull_count == play->horizon;
    play->phase = is_at_end ? PHASE_FINISHED : play->round > 0 ? PHASE_WAITING : PHASE_IDLE;
}

void round_agent_reset(const struct round_agent_rule *rule, void *site, uint64_t term)
{
    struct round_agent_made made = {.message_kind = ROUND_KIND_NONE};
    struct stepped const at = {
        .rule = rule, .site = site, .round = rule->round(site), .made = &made};
    begin_term(&at, term, true);
}

/* ---- Orders ---- */

/* Is it for this site, in this term, of a round that can be? */
static enum tacit_status check_order(const struct stepped *at)
{
    struct tacit_round_message const *const order = at->head;
    if (!is_for(at))
        return TACIT_STRANGER;
    return order->round == 0 || order->round > at->round.round_max || order->seen > order->round
               ? TACIT_MALFORMED
               : TACIT_OK;
}

/* Does the hub hold more from this site than this state ever drew? Then the state is an old copy,
 * and going on would release the same rewards twice (PRIVACY.md D.9, D.10). */
static bool is_old_copy(const struct stepped *at)
{
    return at->head->to == at->round.id && at->head->seen > at->round.play->draw_round;
}

/* An order to this site alone: the hub is there, and says whether it holds the report. */
static void on_seen(const struct stepped *at)
{
    struct round_play *const play = at->round.play;
    struct tacit_round_message const *const order = at->head;
    TACIT_ASSERT(order->seen <= order->round);
    if (order->to != at->round.id)
        return;
    if (order->round == play->round)
        play->reported = order->seen == play->round;
    play->grants.resend.unanswered_count = 0;
}

/* The plan is laid. Of no pulls the release is drawn at once; a history, and what releases nothing,
 * goes on to wait. */
static enum tacit_status open_plan(const struct stepped *at)
{
    struct round_play *const play = at->round.play;
    TACIT_ASSERT(play->left_count <= play->horizon - play->pull_count);
    if (play->left_count == 0 && (play->last || play->cut || at->rule->keeps_history)) {
        start_waiting(play);
        if (play->phase == PHASE_WAITING)
            ask_again(at);
        return TACIT_OK;
    }
    set_phase(play, PHASE_PULLING);
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
        on_seen(at);
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

/* Nothing leaves any more (is_old_copy). */
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
    TACIT_ASSERT(at->head->round == at->round.play->round);
    if (at->rule->update_asked == NULL || !at->rule->update_asked(at->site, at->event))
        return;
    at->made->persist = true;
    if (owes_report(at))
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
    on_seen(at);
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
    enum tacit_status status = check_order(at);
    if (status == TACIT_OK)
        status = at->rule->check_order(at->site, at->event);
    if (status != TACIT_OK || at->round.play->phase == PHASE_HALTED)
        return status;
    if (is_old_copy(at)) /* also by one that would be refused */
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
    TACIT_TRY(at->rule->play(at->site, at->event));
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
        return on_refusal(at);
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

/* Is anything to be said again? A site at T asks for its grant, or tries to hand in its last
 * report, for a while: the hub may be gone for good. */
static bool is_answer_wanted(const struct stepped *at)
{
    struct round_play const *const play = at->round.play;
    bool const is_patient = play->pull_count < play->horizon ||
                            play->grants.resend.unanswered_count < LAST_REPORT_TRIES;
    bool const is_settling =
        play->phase == PHASE_COMMITTED || (play->phase == PHASE_FINISHED && owes_report(at));
    return (is_settling && is_patient) || play->phase == PHASE_IDLE ||
           play->phase == PHASE_WAITING || play->phase == PHASE_RELEASING;
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
    check_invariants(at);
    *made = (struct round_agent_made){.message_kind = ROUND_KIND_NONE};
    enum phase const before = play->phase;
    bool const had_order = play->round > 0;
    bool const was_last = play->last;
    uint32_t const unanswered_before = play->grants.resend.unanswered_count;
    enum tacit_status const status = react(at);
    made->happened |= !had_order && play->round > 0 ? TACIT_WAS_ORDERED : 0;
    made->happened |= !was_last && play->last ? TACIT_ENDED : 0;
    check_invariants(at);
    TACIT_IMPLIES(status != TACIT_OK, made->message_kind == ROUND_KIND_NONE);
    TACIT_IMPLIES(made->plan_is_open, play->phase == PHASE_PULLING);
    TACIT_IMPLIES(play->phase != before, made->persist);
    if (status != TACIT_OK && !made->persist)
        return status;
    play->now_us = event->now_us;
    struct round_site_step const end = {.kind = event->kind,
                                        .now_us = event->now_us,
                                        .unanswered_before = unanswered_before,
                                        .is_wanted = is_answer_wanted(at),
                                        .has_moved = play->phase != before,
                                        .sends = made->message_kind != ROUND_KIND_NONE};
    round_site_end_step(&play->grants, at->round.resend_after_us, &end);
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

/* ---- States ---- */

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
