/* The hub of epoch elimination (Li, Song, Alg. 1 l. 11-12; Alg. 5 l. 12-16 above sinks): orders
 * epochs, collects reports, averages them, and has the judge eliminate. Its state is a function of
 * the set of reports it accepted: they are stored by agent and added up in agent order, so that the
 * order of arrival cannot change a bit. */
#include <string.h>
#include "hub_state.h"

/* Sinks speak for all agents together, and all of them. */
static bool weights_are_valid(const struct tacit_elim_hub_config *config)
{
    uint64_t sum = 0;
    if (config->weights == NULL)
        return true;
    for (uint32_t agent = 0; agent < config->agent_count; agent++)
        sum += config->weights[agent];
    return sum == config->agent_count && config->schedule.report_count == config->agent_count &&
           elim_sums_fit(&config->mechanism, config->agent_count, config->schedule.horizon);
}

/* Exact bounds are for the mean over all agents, each weighing as much as any other. */
static bool exact_is_valid(const struct tacit_elim_hub_config *config)
{
    return config->schedule.report_count == config->agent_count && !config->components_alike &&
           elim_totals_fit(&config->mechanism, &config->schedule);
}

static bool config_is_valid(const struct tacit_elim_hub_config *config)
{
    return elim_schedule_is_valid(&config->schedule) && config->agent_count >= 1 &&
           config->agent_count <= TACIT_AGENTS_MAX &&
           config->schedule.report_count <= config->agent_count &&
           config->quorum <= config->schedule.report_count &&
           config->round_timeout_us <= TACIT_ELIM_PAUSE_US_MAX && weights_are_valid(config) &&
           config->change_max <= (config->weights == NULL ? TACIT_ELIM_CHANGES_MAX : 0) &&
           (!elim_is_exact(&config->schedule) || exact_is_valid(config));
}

size_t tacit_elim_hub_size(const struct tacit_elim_hub_config *config)
{
    if (!config_is_valid(config))
        return 0;
    size_t const arms = config->schedule.arm_count;
    size_t const words = elim_judge_words(&config->schedule) +
                         3 * TACIT_BITS_WORDS(config->agent_count) +
                         numbers_words(config->agent_count) + config->agent_count * arms +
                         grants_words(config) + changes_words(config);
    return sizeof(struct tacit_elim_hub) + words * sizeof(uint64_t);
}

bool elim_hub_same_config(struct tacit_elim_hub *hub, const struct tacit_elim_hub_config *config)
{
    struct tacit_elim_hub_config copy = *config;
    copy.weights = NULL; /* they are in the words */
    return memcmp(&hub->config, &copy, sizeof copy) == 0 &&
           hub->weighted == (config->weights != NULL) &&
           (!hub->weighted || memcmp(weights_of(hub), config->weights,
                                     config->agent_count * sizeof *config->weights) == 0);
}

enum tacit_status tacit_elim_hub_init(struct tacit_elim_hub *hub,
                                      const struct tacit_elim_hub_config *config)
{
    size_t const size = tacit_elim_hub_size(config);
    if (size == 0)
        return TACIT_INVALID;
    memset(hub, 0, size);
    hub->config = *config;
    hub->config.weights = NULL;
    hub->judge_words = elim_judge_words(&config->schedule);
    hub->schedule = config->schedule;
    hub->horizon = config->schedule.horizon;
    hub->timeout_us = config->round_timeout_us;
    hub->quorum = config->quorum;
    struct elim_judge_parts const judge = judge_of(hub);
    elim_judge_init(&judge);
    hub->desk.deadline_us = TACIT_NEVER;
    hub->weighted = config->weights != NULL;
    for (uint32_t agent = 0; agent < config->agent_count; agent++)
        weights_of(hub)[agent] = hub->weighted ? config->weights[agent] : 1;
    return TACIT_OK;
}

/* ---- Events ---- */

/* The judge stands; with exact bounds later histories continue none of before. */
static void begin_term(struct tacit_elim_hub *hub, uint64_t term, struct tacit_elim_update *update)
{
    struct round_hub const round = round_of(hub);
    round_hub_begin_term(&round, term);
    update->persist = true;
    if (elim_is_exact(&hub->config.schedule))
        hub->judge.anew_after = hub->judge.round_count;
}

static enum tacit_status on_start(struct tacit_elim_hub *hub, uint64_t term,
                                  const struct tacit_entropy *entropy,
                                  struct tacit_elim_update *update)
{
    if (term > hub->desk.term)
        begin_term(hub, term, update);
    if (hub->desk.phase == ROUND_NEW) {
        enum tacit_status const status = elim_hub_draw_uploaders(hub, entropy);
        if (status != TACIT_OK)
            return status;
        struct elim_judge_parts const judge = judge_of(hub);
        elim_judge_begin_epoch(&judge);
        elim_hub_await_reports(hub);
        update->persist = true;
    }
    if (hub->config.schedule.arm_count > 1) /* one arm: nothing to say (PRIVACY.md D.48) */
        elim_hub_send_order(hub, TACIT_EVERYONE, update);
    return TACIT_OK;
}

/* Agents whose sums are in this report. */
static uint32_t agents_in(const struct tacit_elim_message *report)
{
    return report->agents == 0 ? 1 : report->agents;
}

/* A report of the present epoch must fit its order to the letter; nothing of it is used in part. */
static enum tacit_status check_report(struct tacit_elim_hub *hub,
                                      const struct tacit_elim_message *report)
{
    TACIT_ASSERT(hub->desk.phase == ROUND_COLLECTING);
    TACIT_ASSERT(report->epoch == hub->judge.epoch);
    uint32_t const arms = hub->config.schedule.arm_count;
    if (!tacit_bits_has(uploaders_of(hub), report->from))
        return TACIT_UNEXPECTED;
    if (report->arms == NULL || report->sums == NULL ||
        report->sum_count != hub->judge.active_count || report->pulls != hub->judge.pulls ||
        agents_in(report) > weights_of(hub)[report->from])
        return TACIT_MALFORMED;
    if (memcmp(report->arms, active_of(hub), TACIT_BITS_WORDS(arms) * sizeof(uint64_t)) != 0)
        return TACIT_MALFORMED;
    for (uint32_t i = 0; i < report->sum_count; i++)
        if (!tacit_mechanism_plausible(&hub->config.mechanism, report->sums[i],
                                       report->pulls * agents_in(report),
                                       releases_in(report->epoch, agents_in(report))))
            return TACIT_MALFORMED;
    return TACIT_OK;
}

static enum tacit_status accept_report(struct tacit_elim_hub *hub,
                                       const struct tacit_elim_message *report,
                                       const struct tacit_entropy *entropy,
                                       struct tacit_elim_update *update)
{
    struct round_hub const round = round_of(hub);
    bool const completes = elim_hub_is_complete_with(hub, 1, agents_in(report));
    if (completes) {
        enum tacit_status const status = elim_hub_draw_uploaders(hub, entropy);
        if (status != TACIT_OK)
            return status; /* the agent will send it again */
    }
    memcpy(row_of(hub, report->from), report->sums, report->sum_count * sizeof(union tacit_sum));
    covered_of(hub)[report->from] = agents_in(report);
    round_hub_take(&round, &report->head, agents_in(report));
    update->persist = true;
    if (completes)
        elim_hub_close_round(hub, update);
    else if (hub->config.answers_all)
        elim_hub_send_order(hub, report->from, update);
    return TACIT_OK;
}

/* ---- Messages ---- */

static enum tacit_status say(struct tacit_elim_hub *hub, const struct tacit_elim_message *heard,
                             struct round_verdict verdict, struct tacit_elim_update *update)
{
    TACIT_ASSERT(heard->from < hub->config.agent_count);
    TACIT_IMPLIES(verdict.answer != ROUND_NOTHING, !update->send);
    struct round_hub const round = round_of(hub);
    bool const is_grant = verdict.answer == ROUND_GRANT;
    update->persist = update->persist || verdict.persist;
    if (verdict.answer == ROUND_ORDER)
        elim_hub_send_order(hub, heard->from, update);
    else if (verdict.answer != ROUND_NOTHING) {
        update->send = true;
        update->message =
            (struct tacit_elim_message){.kind = is_grant ? TACIT_ELIM_GRANT : TACIT_ELIM_REFUSAL,
                                        .head = round_hub_answer(&round, &heard->head, &verdict)};
        if (is_grant && is_excused(hub, heard->from))
            update->message.closed = true;
    }
    return verdict.status;
}

static enum tacit_status on_commit(struct tacit_elim_hub *hub, const struct round_hub *round,
                                   const struct tacit_elim_message *commit,
                                   const struct tacit_entropy *entropy,
                                   struct tacit_elim_update *update)
{
    enum tacit_status status = round_hub_check_commit(round, &commit->head);
    if (status == TACIT_OK)
        status = elim_hub_note_refused(hub, commit, entropy, update);
    if (status != TACIT_OK || update->send)
        return status; /* it asks again */
    return say(hub, commit, round_hub_ask(round, &commit->head), update);
}

/* Is it what was granted? A total of several agents opens nothing: that would take the sink's own
 * sums, which are not for this hub. It names the sink's grant, so that it comes from the state that
 * was granted. */
static struct round_verdict open_report(struct tacit_elim_hub *hub, const struct round_hub *round,
                                        const struct tacit_elim_message *report)
{
    TACIT_ASSERT(report->sums != NULL);
    TACIT_ASSERT(agents_in(report) <= hub->config.agent_count);
    uint8_t digest[TACIT_SHA256_BYTES] = {0};
    if (!hub->config.has_grants || report->commit == NULL)
        return round_hub_open(round, &report->head, digest);
    if (agents_in(report) > 1)
        return round_holder_name(&round->holder, report->from, report->commit->commitment, true);
    if (!round->is_numbered)
        elim_release_digest(report->pulls, report->arms, hub->config.schedule.arm_count,
                            report->sums, report->sum_count, digest);
    return round_hub_open(round, &report->head, digest);
}

/* Is its report asked for, or here? Where nobody can report, those who refuse an arm are waited
 * for, and not counted either. */
static bool is_counted(struct tacit_elim_hub *hub, uint32_t agent)
{
    return tacit_bits_has(received_of(hub), agent) ||
           (tacit_bits_has(uploaders_of(hub), agent) && !is_excused(hub, agent));
}

static enum tacit_status on_report(struct tacit_elim_hub *hub, const struct round_hub *round,
                                   const struct tacit_elim_message *report,
                                   const struct tacit_entropy *entropy,
                                   struct tacit_elim_update *update)
{
    struct round_verdict verdict = round_hub_hear(round, &report->head);
    bool const is_of_now = verdict.status == TACIT_OK && verdict.answer == ROUND_NOTHING;
    if (is_of_now && hub->config.change_max > 0 && !is_counted(hub, report->from))
        verdict.answer = ROUND_ORDER; /* it is left out, and hears so */
    if (verdict.status != TACIT_OK || verdict.answer != ROUND_NOTHING)
        return say(hub, report, verdict, update);
    enum tacit_status status = check_report(hub, report);
    if (status == TACIT_OK)
        status = say(hub, report, open_report(hub, round, report), update);
    if (status != TACIT_OK)
        return status;
    if (!tacit_bits_has(received_of(hub), report->from))
        return accept_report(hub, report, entropy, update);
    size_t const bytes = report->sum_count * sizeof(union tacit_sum);
    if (covered_of(hub)[report->from] != agents_in(report) ||
        memcmp(row_of(hub, report->from), report->sums, bytes) != 0)
        return TACIT_MALFORMED; /* two answers to one question */
    if (hub->config.answers_all)
        elim_hub_send_order(hub, report->from, update);
    return TACIT_OK;
}

static enum tacit_status on_hello(struct tacit_elim_hub *hub, const struct round_hub *round,
                                  const struct tacit_elim_message *hello,
                                  const struct tacit_entropy *entropy,
                                  struct tacit_elim_update *update)
{
    struct round_verdict const verdict = round_hub_greet(round, &hello->head);
    enum tacit_status const status =
        verdict.status == TACIT_OK ? elim_hub_note_refused(hub, hello, entropy, update) : TACIT_OK;
    return status != TACIT_OK || update->send ? status : say(hub, hello, verdict, update);
}

/* The deadline of the round: go on with a quorum, or wait for it and say so. */
static enum tacit_status on_timeout(struct tacit_elim_hub *hub, uint64_t now_us,
                                    const struct tacit_entropy *entropy,
                                    struct tacit_elim_update *update)
{
    if (!round_desk_is_due(&hub->desk, now_us))
        return TACIT_OK;
    if (!round_desk_expire(&hub->desk, elim_hub_quorum(hub))) {
        update->persist = true;
        return TACIT_OK;
    }
    enum tacit_status const status = elim_hub_draw_uploaders(hub, entropy);
    if (status != TACIT_OK) {
        hub->desk.overdue = false;
        return status; /* the deadline stands: the driver tries again */
    }
    elim_hub_close_round(hub, update);
    return TACIT_OK;
}

static enum tacit_status on_receive(struct tacit_elim_hub *hub,
                                    const struct tacit_elim_message *message,
                                    const struct tacit_entropy *entropy,
                                    struct tacit_elim_update *update)
{
    struct round_hub round = round_of(hub);
    enum tacit_status const status = round_hub_check(&round, &message->head);
    if (status != TACIT_OK)
        return status;
    if (weights_of(hub)[message->from] == 0)
        round.holder.heads = NULL; /* others' parents hold theirs */
    switch (message->kind) {
    case TACIT_ELIM_HELLO:
        return on_hello(hub, &round, message, entropy, update);
    case TACIT_ELIM_REPORT:
        return on_report(hub, &round, message, entropy, update);
    case TACIT_ELIM_COMMIT:
        return on_commit(hub, &round, message, entropy, update);
    case TACIT_ELIM_ORDER:
    case TACIT_ELIM_ADVERT:
    case TACIT_ELIM_REQUEST:
    case TACIT_ELIM_DATA:
    case TACIT_ELIM_GRANT:
    case TACIT_ELIM_REFUSAL:
    case TACIT_ELIM_PROOF:
        return TACIT_UNEXPECTED; /* only agents receive these, or who watches them */
    }
    return TACIT_MALFORMED;
}

/* ---- Public ---- */

enum tacit_status tacit_elim_hub_step(struct tacit_elim_hub *hub,
                                      const struct tacit_elim_event *event,
                                      const struct tacit_entropy *entropy,
                                      struct tacit_elim_update *update)
{
    TACIT_ASSERT(event->kind == TACIT_EVENT_START || event->now_us >= hub->desk.now_us);
    elim_hub_check_invariants(hub);
    *update = (struct tacit_elim_update){.deadline_us = TACIT_NEVER};
    uint32_t const epoch_before = hub->judge.epoch;
    enum tacit_status status = TACIT_OK;
    switch (event->kind) {
    case TACIT_EVENT_START:
        status = on_start(hub, event->as.term, entropy, update);
        break;
    case TACIT_EVENT_RECEIVE:
        status = on_receive(hub, event->as.message, entropy, update);
        break;
    case TACIT_EVENT_TIMEOUT:
        status = on_timeout(hub, event->now_us, entropy, update);
        break;
    case TACIT_EVENT_REWARD:
    case TACIT_EVENT_EXPLOITED:
    case TACIT_EVENT_OFFER:
        status = TACIT_INVALID; /* a hub has no arms to pull */
        break;
    }
    if (status == TACIT_OK)
        round_desk_end_step(&hub->desk, event->now_us, hub->timeout_us,
                            hub->judge.epoch != epoch_before, event->kind == TACIT_EVENT_START);
    update->deadline_us = hub->desk.deadline_us;
    elim_hub_check_invariants(hub);
    TACIT_IMPLIES(status != TACIT_OK && status != TACIT_FORKED && status != TACIT_ROLLBACK,
                  !update->send);
    return status;
}

void tacit_elim_hub_look(const struct tacit_elim_hub *state, struct tacit_elim_hub_view *view)
{
    struct tacit_elim_hub *const hub = (struct tacit_elim_hub *)(uintptr_t)state;
    struct round_hub const round = round_of(hub);
    bool const is_exact = elim_is_exact(&hub->config.schedule);
    struct elim_judge_parts const judge = judge_of(hub);
    *view = (struct tacit_elim_hub_view){
        .epoch = hub->judge.epoch,
        .finished = hub->desk.phase == ROUND_FINISHED,
        .arms = judge.active,
        .active_count = hub->judge.active_count,
        .round_count = hub->judge.round_count,
        .reports_missing = hub->desk.missing_count,
        .report_count = tacit_bits_count(round.received, round.site_count),
        .covered_count = hub->desk.covered_count,
        .overdue = hub->desk.overdue,
        .uploaders = uploaders_of(hub),
        .received = received_of(hub),
        .seen = seen_of(hub),
        .pulls = hub->judge.pulls,
        .radius = hub->judge.radius,
        .leader = hub->judge.leader > 0 ? hub->judge.leader - 1 : TACIT_NO_ARM,
        .is_exact = is_exact,
        .means = judge.means,
        .eliminated = judge.eliminated,
        .flagged = round.holder.flagged,
        .ahead = round.holder.ahead,
        .term = hub->desk.term,
        .quorum = elim_hub_quorum(hub),
        .quorum_wanted = hub->quorum,
        .round_timeout_us = hub->timeout_us,
        .horizon = hub->horizon};
    if (hub->config.change_max == 0)
        return;
    view->changes = changes_of(hub);
    view->change_count = hub->change_count;
    view->retired = retired_of(hub);
    view->dropped = dropped_of(hub);
    view->abstaining = abstaining_of(hub);
    view->refused = refused_of(hub, 0);
}

struct tacit_bounds_interval tacit_elim_hub_interval(const struct tacit_elim_hub *state,
                                                     uint32_t arm, double confidence)
{
    struct elim_judge_parts const judge = judge_of((struct tacit_elim_hub *)(uintptr_t)state);
    return elim_judge_interval(&judge, arm, confidence);
}
