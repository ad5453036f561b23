/* The rounds of a hub: asked, received, quorum, deadline, close; once for all that lead them. */
#include "rounds.h"
#include <string.h>

void round_answer_order(struct round_made *made, uint32_t to)
{
    TACIT_ASSERT(made->answer == ROUND_NOTHING);
    made->answer = ROUND_ORDER;
    made->to = to;
}

struct tacit_update round_update(const struct round_desk *desk, const struct round_made *made)
{
    return (struct tacit_update){.persist = made->persist,
                                 .send = made->answer != ROUND_NOTHING,
                                 .happened = made->happened,
                                 .deadline_us = desk->deadline_us};
}

enum tacit_round_kind round_kind(const struct round_made *made)
{
    TACIT_ASSERT(made->answer != ROUND_NOTHING);
    return made->answer == ROUND_ORDER   ? TACIT_ROUND_ORDER
           : made->answer == ROUND_GRANT ? TACIT_ROUND_GRANT
                                         : TACIT_ROUND_REFUSAL;
}

struct tacit_round_message round_head(const struct round_hub *round, const struct round_made *made)
{
    bool const is_to_all = made->to == TACIT_EVERYONE;
    TACIT_ASSERT(made->answer != ROUND_NOTHING);
    if (made->answer != ROUND_ORDER)
        return made->head;
    TACIT_ASSERT(round->desk->phase != ROUND_NEW);
    TACIT_ASSERT(is_to_all || made->to < round->site_count);
    return (struct tacit_round_message){.from = TACIT_HUB,
                                        .to = made->to,
                                        .run_id = round->run_id,
                                        .term = round->desk->term,
                                        .round = round->round,
                                        .seen = is_to_all ? 0 : round->seen[made->to],
                                        .last = round->is_last};
}

/* Says what the verdict on a message has its sender hear. Result: the verdict's status. */
static enum tacit_status answer(const struct round_hub *round, const struct round_input *input,
                                struct round_verdict verdict, struct round_made *made)
{
    TACIT_IMPLIES(verdict.answer != ROUND_NOTHING, made->answer == ROUND_NOTHING);
    made->persist = made->persist || verdict.persist;
    made->answer = verdict.answer;
    made->to = input->head->from;
    if (verdict.answer == ROUND_GRANT || verdict.answer == ROUND_REFUSAL)
        made->head = round_hub_answer(round, input->head, &verdict);
    return verdict.status;
}

/* With two aggregators the next round comes with the totals; all are asked, so nothing is drawn. */
static enum tacit_status prepare(const struct round_rule *rule, void *hub,
                                 const struct tacit_entropy *entropy)
{
    struct round_hub const round = rule->round(hub);
    bool const will_rest = round.has_helper && round.desk->phase == ROUND_COLLECTING;
    return rule->prepare == NULL || will_rest ? TACIT_OK : rule->prepare(hub, entropy);
}

bool round_is_complete(const struct round_rule *rule, void *hub, uint32_t reports, uint32_t sites)
{
    struct round_hub const round = rule->round(hub);
    return round_desk_is_complete(round.desk, reports, sites,
                                  round.desk->overdue ? rule->quorum(hub) : 0);
}

/* ---- Rounds ---- */

/* The round is judged over so many sites (0: it is void), and the order that follows goes out. */
static void order_next(const struct round_rule *rule, void *hub, uint32_t sites,
                       const int64_t *totals, struct round_made *made)
{
    rule->close(hub, sites, totals);
    struct round_hub const round = rule->round(hub);
    round_hub_await(&round, round.is_last);
    round_answer_order(made, TACIT_EVERYONE);
    made->persist = true;
    made->happened |= sites > 0 ? TACIT_CLOSED_ROUND : 0;
}

void round_end(const struct round_rule *rule, void *hub, struct round_made *made)
{
    struct round_hub const round = rule->round(hub);
    TACIT_ASSERT(round.desk->phase == ROUND_COLLECTING);
    if (!round.has_helper) {
        order_next(rule, hub, round.desk->covered_count, NULL, made);
        return;
    }
    round_hub_close(&round);
    round.desk->deadline_us = TACIT_NEVER; /* however long the helper is away */
    made->happened |= TACIT_WANTS_TOTALS;
    made->persist = true;
}

void round_close(const struct round_rule *rule, void *hub, uint32_t sites, const int64_t *totals,
                 uint64_t now_us, struct round_made *made)
{
    struct round_hub const round = rule->round(hub);
    TACIT_ASSERT(round.has_helper);
    TACIT_ASSERT(round.desk->phase == ROUND_CLOSED);
    TACIT_ASSERT(now_us >= round.desk->now_us);
    enum tacit_status const status = prepare(rule, hub, NULL); /* all are asked: nothing is drawn */
    TACIT_ASSERT(status == TACIT_OK);
    *made = (struct round_made){.persist = true};
    order_next(rule, hub, sites, totals, made);
    round_desk_end_step(round.desk, now_us, round.timeout_us, true, false);
}

void round_finish(const struct round_hub *round, uint64_t now_us, struct round_made *made)
{
    TACIT_ASSERT(round->desk->phase != ROUND_NEW);
    TACIT_ASSERT(now_us >= round->desk->now_us);
    *made = (struct round_made){.persist = true};
    round_hub_await(round, true);
    round_answer_order(made, TACIT_EVERYONE);
    round_desk_end_step(round->desk, now_us, round->timeout_us, true, false);
}

/* ---- Events ---- */

static enum tacit_status on_start(const struct round_rule *rule, void *hub, uint64_t term,
                                  const struct tacit_entropy *entropy, struct round_made *made)
{
    struct round_hub const round = rule->round(hub);
    if (term > round.desk->term) {
        round_hub_begin_term(&round, term);
        if (rule->begin_term != NULL)
            rule->begin_term(hub);
        made->persist = true;
    }
    if (round.has_helper && round.desk->phase == ROUND_CLOSED)
        made->happened |= TACIT_WANTS_TOTALS;
    if (round.desk->phase == ROUND_NEW) {
        TACIT_TRY(prepare(rule, hub, entropy));
        if (rule->begin != NULL)
            rule->begin(hub);
        round_hub_await(&round, rule->round(hub).is_last);
        made->persist = true;
    }
    if (!round.is_silent)
        round_answer_order(made, TACIT_EVERYONE);
    return TACIT_OK;
}

/* Is it what was granted? A total of several sites opens nothing: that would take the sums of its
 * sender, which are not for this hub. It names a grant, so that it comes from the state that was
 * granted. */
static struct round_verdict open_report(const struct round_rule *rule, void *hub,
                                        const struct round_hub *round,
                                        const struct round_input *report)
{
    uint8_t digest[TACIT_SHA256_BYTES] = {0};
    struct tacit_commit const *const commit = report->head->commit;
    if (round->grantor.heads == NULL || commit == NULL)
        return round_hub_open(round, report->head, digest);
    if (report->sites > 1)
        return round_grantor_name(&round->grantor, report->head->from, commit->commitment, true);
    if (report->masked != NULL) {
        struct tacit_helper_release release = *report->masked;
        tacit_helper_blind_digest(&release, report->words, report->word_count);
        tacit_helper_release_digest(&release, digest);
    } else if (!round->is_numbered) {
        rule->digest(hub, report, digest);
    }
    return round_hub_open(round, report->head, digest);
}

static uint64_t *row_of(const struct round_hub *round, const struct round_input *report)
{
    TACIT_ASSERT(report->word_count <= round->row_words);
    return round->rows + report->head->from * (size_t)round->row_words;
}

/* Does the report say what the one of this round that is here says? What is masked has opened its
 * head. */
static bool is_repeated(const struct round_hub *round, const struct round_input *report)
{
    bool const is_as_large =
        round->covered == NULL || round->covered[report->head->from] == report->sites;
    return report->masked != NULL ||
           (is_as_large && memcmp(row_of(round, report), report->words,
                                  report->word_count * sizeof *report->words) == 0);
}

/* The first report of a site in this round. Errors: TACIT_ENTROPY, nothing changed. */
static enum tacit_status accept(const struct round_rule *rule, void *hub,
                                const struct round_hub *round, const struct round_input *report,
                                const struct tacit_entropy *entropy, struct round_made *made)
{
    bool const completes = round_is_complete(rule, hub, 1, report->sites);
    TACIT_TRY(completes ? prepare(rule, hub, entropy) : TACIT_OK); /* else it is sent again */
    if (report->masked == NULL) /* masked words are kept for the helper's answer, and not here */
        memcpy(row_of(round, report), report->words, report->word_count * sizeof *report->words);
    if (round->covered != NULL)
        round->covered[report->head->from] = report->sites;
    round_hub_add_report(round, report->head, report->sites);
    made->persist = true;
    made->happened |= round->has_helper ? TACIT_COUNTED_REPORT : 0;
    if (completes)
        round_end(rule, hub, made);
    else if (round->answers_all)
        round_answer_order(made, report->head->from);
    return TACIT_OK;
}

static enum tacit_status on_report(const struct round_rule *rule, void *hub,
                                   const struct round_hub *round, const struct round_input *report,
                                   const struct tacit_entropy *entropy, struct round_made *made)
{
    uint32_t const site = report->head->from;
    struct round_verdict verdict = round_hub_check_report(round, report->head);
    bool const is_of_now = verdict.status == TACIT_OK && verdict.answer == ROUND_NOTHING;
    if (is_of_now && rule->is_left_out != NULL && rule->is_left_out(hub, site))
        verdict.answer = ROUND_ORDER; /* it hears so */
    if (!is_of_now || verdict.answer != ROUND_NOTHING)
        return answer(round, report, verdict, made);
    if ((report->masked != NULL) != round->has_helper)
        return TACIT_MALFORMED;
    TACIT_TRY(rule->check(hub, report));
    TACIT_TRY(answer(round, report, open_report(rule, hub, round, report), made));
    if (!tacit_bits_has(round->received, site))
        return accept(rule, hub, round, report, entropy, made);
    if (!is_repeated(round, report))
        return TACIT_MALFORMED; /* two answers to one question */
    if (round->answers_all)
        round_answer_order(made, site);
    return TACIT_OK;
}

/* HELLO and COMMIT. */
static enum tacit_status on_question(const struct round_rule *rule, void *hub,
                                     const struct round_hub *round, const struct round_input *input,
                                     const struct tacit_entropy *entropy, struct round_made *made)
{
    bool const is_hello = input->message_kind == ROUND_KIND_HELLO;
    struct round_verdict verdict = {.status = TACIT_OK};
    if (is_hello)
        verdict = round_hub_greet(round, input->head);
    else
        verdict.status = round_hub_check_commit(round, input->head);
    if (verdict.status == TACIT_OK && rule->note != NULL) {
        enum tacit_status const status = rule->note(hub, input, entropy, made);
        if (status != TACIT_OK || made->answer != ROUND_NOTHING)
            return status; /* it asks again */
    }
    if (!is_hello && verdict.status == TACIT_OK) {
        verdict = round_hub_ask(round, input->head);
        bool const is_new = verdict.answer == ROUND_GRANT && verdict.persist;
        made->happened |= round->has_helper && is_new ? TACIT_GRANTED_DRAW : 0;
    }
    return answer(round, input, verdict, made);
}

static enum tacit_status on_receive(const struct round_rule *rule, void *hub,
                                    const struct tacit_event *event,
                                    const struct tacit_entropy *entropy, struct round_made *made)
{
    struct round_input const input = rule->input(hub, event->as.message);
    struct round_hub round = rule->round(hub);
    round.dropped = event->dropped;
    TACIT_TRY(round_hub_check(&round, input.head));
    if (input.is_held_elsewhere)
        round.grantor.heads = NULL;
    if (input.message_kind == ROUND_KIND_REPORT)
        return on_report(rule, hub, &round, &input, entropy, made);
    if (input.message_kind == ROUND_KIND_HELLO || input.message_kind == ROUND_KIND_COMMIT)
        return on_question(rule, hub, &round, &input, entropy, made);
    return input.message_kind == ROUND_KIND_UNKNOWN ? TACIT_MALFORMED : TACIT_UNEXPECTED;
}

/* The deadline of the round: go on with a quorum, or wait for it and say so. With two aggregators
 * also what the driver sends when the operator has dropped sites. */
static enum tacit_status on_timeout(const struct round_rule *rule, void *hub,
                                    const struct tacit_event *event,
                                    const struct tacit_entropy *entropy, struct round_made *made)
{
    struct round_hub round = rule->round(hub);
    round.dropped = event->dropped;
    if (round_hub_waits_for_dropped(&round)) {
        TACIT_ASSERT(round.has_helper);
        round_end(rule, hub, made);
        return TACIT_OK;
    }
    if (!round_desk_is_due(round.desk, event->now_us))
        return TACIT_OK;
    if (!round_desk_expire(round.desk, rule->quorum(hub))) {
        made->persist = true;
        return TACIT_OK;
    }
    enum tacit_status const status = prepare(rule, hub, entropy);
    if (status == TACIT_OK)
        round_end(rule, hub, made);
    else
        round.desk->overdue = false; /* the deadline stands: the driver tries again */
    return status;
}

enum tacit_status round_step(const struct round_rule *rule, void *hub,
                             const struct tacit_event *event, const struct tacit_entropy *entropy,
                             struct round_made *made)
{
    struct round_hub const before = rule->round(hub);
    bool const is_start = event->kind == TACIT_EVENT_START;
    enum tacit_status status = TACIT_INVALID; /* a hub has no arms to pull */
    TACIT_ASSERT(is_start || event->now_us >= before.desk->now_us);
    *made = (struct round_made){.answer = ROUND_NOTHING};
    if (is_start)
        status = on_start(rule, hub, event->as.term, entropy, made);
    else if (event->kind == TACIT_EVENT_RECEIVE)
        status = on_receive(rule, hub, event, entropy, made);
    else if (event->kind == TACIT_EVENT_TIMEOUT)
        status = on_timeout(rule, hub, event, entropy, made);
    struct round_hub const after = rule->round(hub);
    if (status == TACIT_OK)
        round_desk_end_step(after.desk, event->now_us, after.timeout_us,
                            after.round != before.round, is_start);
    round_hub_check_invariants(&after);
    TACIT_IMPLIES(after.desk->phase == ROUND_FINISHED, after.is_last);
    TACIT_IMPLIES(after.desk->phase == ROUND_COLLECTING,
                  !after.is_last && !round_is_complete(rule, hub, 0, 0));
    TACIT_IMPLIES(status != TACIT_OK && status != TACIT_FORKED && status != TACIT_ROLLBACK,
                  made->answer == ROUND_NOTHING);
    return status;
}

/* ---- States ---- */

/* The reports that are here hold what they may, and the sums of as many sites as were counted. */
static bool reports_are_possible(const struct round_rule *rule, void *hub,
                                 const struct round_hub *round)
{
    uint64_t sites = 0;
    TACIT_BITS_EACH (site, round->received, round->site_count) {
        sites += round->covered == NULL ? 1 : round->covered[site];
        if (!rule->is_possible(hub, site))
            return false;
    }
    return sites == round->desk->covered_count;
}

bool round_is_possible(const struct round_rule *rule, void *hub)
{
    struct round_hub const round = rule->round(hub);
    enum round_phase const phase = round.desk->phase;
    return round_hub_is_possible(&round) &&
           (phase == ROUND_NEW || round.is_last == (phase == ROUND_FINISHED)) &&
           reports_are_possible(rule, hub, &round) &&
           (phase != ROUND_COLLECTING || !round_is_complete(rule, hub, 0, 0));
}
