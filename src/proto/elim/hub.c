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

/* Member by member, so that a state is a function of the values alone (tacit_mechanism_copy). */
static void copy_config(struct tacit_elim_hub_config *copy,
                        const struct tacit_elim_hub_config *config)
{
    TACIT_ASSERT(copy != config);
    copy->run_id = config->run_id;
    copy->agent_count = config->agent_count;
    elim_schedule_copy(&copy->schedule, &config->schedule);
    tacit_mechanism_copy(&copy->mechanism, &config->mechanism);
    copy->quorum = config->quorum;
    copy->round_timeout_us = config->round_timeout_us;
    copy->answers_all = config->answers_all;
    copy->components_alike = config->components_alike;
    copy->has_grants = config->has_grants;
    copy->numbered_commits = config->numbered_commits;
    memcpy(copy->domain, config->domain, sizeof copy->domain);
    copy->change_max = config->change_max;
}

bool elim_hub_same_config(struct tacit_elim_hub *hub, const struct tacit_elim_hub_config *config)
{
    struct tacit_elim_hub_config copy;
    memset(&copy, 0, sizeof copy);
    copy_config(&copy, config);
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
    copy_config(&hub->config, config);
    hub->judge_words = elim_judge_words(&config->schedule);
    elim_schedule_copy(&hub->schedule, &config->schedule);
    hub->horizon = config->schedule.horizon;
    hub->timeout_us = config->round_timeout_us;
    hub->quorum = config->quorum;
    struct elim_judge_parts const judge = judge_of(hub);
    elim_judge_init(&judge);
    hub->deadline_us = TACIT_NEVER;
    hub->weighted = config->weights != NULL;
    for (uint32_t agent = 0; agent < config->agent_count; agent++)
        weights_of(hub)[agent] = hub->weighted ? config->weights[agent] : 1;
    return TACIT_OK;
}

/* ---- Events ---- */

/* Whatever was granted is forgotten, and the sites know it: what no grant covers they drop. The
 * judge stands; the reports of the present epoch are asked for anew. */
static void begin_term(struct tacit_elim_hub *hub, uint64_t term, struct tacit_elim_update *update)
{
    uint32_t const agents = hub->config.agent_count;
    size_t const set_bytes = TACIT_BITS_WORDS(agents) * sizeof(uint64_t);
    hub->term = term;
    update->persist = true;
    memset(seen_of(hub), 0, agents * sizeof *seen_of(hub));
    memset(received_of(hub), 0, set_bytes);
    hub->covered_count = 0;
    hub->missing_count = tacit_bits_count(uploaders_of(hub), agents);
    hub->overdue = false; /* everybody is asked anew, and has the full time */
    if (elim_is_exact(&hub->config.schedule))
        hub->judge.anew_after = hub->judge.round_count;
    if (hub->config.has_grants) {
        struct round_holder const holder = holder_of(hub);
        round_holder_forget(&holder);
    }
}

static enum tacit_status on_start(struct tacit_elim_hub *hub, uint64_t term,
                                  const struct tacit_entropy *entropy,
                                  struct tacit_elim_update *update)
{
    if (term > hub->term)
        begin_term(hub, term, update);
    if (hub->phase == PHASE_NEW) {
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

/* Is it for this run, from one of its agents? */
static enum tacit_status check_sender(const struct tacit_elim_hub *hub,
                                      const struct tacit_elim_message *message)
{
    if (message->run_id != hub->config.run_id || message->to != TACIT_HUB ||
        message->from >= hub->config.agent_count || message->term < hub->term)
        return TACIT_STRANGER;
    return message->term > hub->term ? TACIT_ROLLBACK : TACIT_OK;
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
    uint32_t const arms = hub->config.schedule.arm_count;
    if (hub->phase != PHASE_NEW && report->epoch > hub->judge.epoch)
        return TACIT_ROLLBACK;
    if (hub->phase != PHASE_COLLECTING)
        return TACIT_UNEXPECTED;
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
    TACIT_ASSERT(!tacit_bits_has(received_of(hub), report->from));
    TACIT_ASSERT(hub->missing_count > 0);
    TACIT_ASSERT(hub->covered_count + agents_in(report) <= hub->config.agent_count);
    bool const completes = elim_hub_is_complete_with(hub, 1, agents_in(report));
    if (completes) {
        enum tacit_status const status = elim_hub_draw_uploaders(hub, entropy);
        if (status != TACIT_OK)
            return status; /* the agent will send it again */
    }
    memcpy(row_of(hub, report->from), report->sums, report->sum_count * sizeof(union tacit_sum));
    tacit_bits_add(received_of(hub), report->from);
    seen_of(hub)[report->from] = report->epoch;
    covered_of(hub)[report->from] = agents_in(report);
    hub->covered_count += agents_in(report);
    hub->missing_count--;
    update->persist = true;
    if (completes)
        elim_hub_close_round(hub, update);
    else if (hub->config.answers_all)
        elim_hub_send_order(hub, report->from, update);
    return TACIT_OK;
}

/* ---- Grants ---- */

/* kind: GRANT or REFUSAL, of the agent's head. */
static void send_head(struct tacit_elim_hub *hub, enum tacit_elim_message_kind kind,
                      const struct tacit_elim_message *commit, struct tacit_elim_update *update)
{
    TACIT_ASSERT(kind == TACIT_ELIM_GRANT || kind == TACIT_ELIM_REFUSAL);
    TACIT_ASSERT(commit->from < hub->config.agent_count);
    TACIT_ASSERT(!update->send);
    bool const is_open = hub->phase == PHASE_COLLECTING && commit->epoch == hub->judge.epoch &&
                         !is_excused(hub, commit->from);
    memset(&hub->answer, 0, sizeof hub->answer);
    memcpy(hub->answer.commitment, holder_of(hub).heads[commit->from].head,
           sizeof hub->answer.commitment);
    update->send = true;
    update->message = (struct tacit_elim_message){.kind = kind,
                                                  .from = TACIT_HUB,
                                                  .to = commit->from,
                                                  .run_id = hub->config.run_id,
                                                  .term = hub->term,
                                                  .epoch = commit->epoch,
                                                  .commit = &hub->answer,
                                                  .closed = kind == TACIT_ELIM_GRANT && !is_open};
}

/* What the holder makes of this agent's message. */
static enum tacit_status follow(struct tacit_elim_hub *hub,
                                const struct tacit_elim_message *message,
                                struct round_verdict verdict, struct tacit_elim_update *update)
{
    update->persist = update->persist || verdict.persist;
    if (verdict.answer != ROUND_NOTHING) {
        send_head(hub, verdict.answer == ROUND_GRANT ? TACIT_ELIM_GRANT : TACIT_ELIM_REFUSAL,
                  message, update);
        update->message.forgot = verdict.is_unknown;
    }
    return verdict.status;
}

/* Whatever the epoch: what counts is what it follows. */
static enum tacit_status on_commit(struct tacit_elim_hub *hub,
                                   const struct tacit_elim_message *commit,
                                   const struct tacit_entropy *entropy,
                                   struct tacit_elim_update *update)
{
    bool const is_held = weights_of(hub)[commit->from] > 0; /* others' parents hold theirs */
    if (!hub->config.has_grants || hub->phase == PHASE_NEW || !is_held)
        return TACIT_UNEXPECTED;
    if (commit->commit == NULL || commit->epoch == 0 || commit->epoch > TACIT_ELIM_EPOCHS_MAX)
        return TACIT_MALFORMED;
    if (commit->epoch > hub->judge.epoch)
        return TACIT_ROLLBACK;
    enum tacit_status const status = elim_hub_note_refused(hub, commit, entropy, update);
    if (status != TACIT_OK || update->send)
        return status; /* it asks again */
    struct round_holder const holder = holder_of(hub);
    return follow(hub, commit, round_holder_ask(&holder, commit->from, commit->commit), update);
}

/* Is it what was granted? A total of several agents opens nothing: that would take the sink's own
 * sums, which are not for this hub. It names the sink's grant, so that it comes from the state that
 * was granted. */
static struct round_verdict open_report(struct tacit_elim_hub *hub,
                                        const struct tacit_elim_message *report)
{
    struct round_holder const holder = holder_of(hub);
    struct tacit_commit_scope const scope = {.domain = hub->config.domain,
                                             .run_id = hub->config.run_id,
                                             .site = report->from,
                                             .epoch = report->epoch,
                                             .is_numbered = hub->config.numbered_commits};
    uint8_t digest[TACIT_SHA256_BYTES] = {0};
    if (report->commit != NULL && agents_in(report) > 1)
        return round_holder_name(&holder, report->from, report->commit->commitment, true);
    if (report->commit != NULL && !scope.is_numbered)
        elim_release_digest(report->pulls, report->arms, hub->config.schedule.arm_count,
                            report->sums, report->sum_count, digest);
    return round_holder_open(&holder, &scope, report->commit, digest);
}

/* Is its report asked for, or here? Where nobody can report, those who refuse an arm are waited
 * for, and not counted either. */
static bool is_counted(struct tacit_elim_hub *hub, uint32_t agent)
{
    return tacit_bits_has(received_of(hub), agent) ||
           (tacit_bits_has(uploaders_of(hub), agent) && !is_excused(hub, agent));
}

static enum tacit_status on_report(struct tacit_elim_hub *hub,
                                   const struct tacit_elim_message *report,
                                   const struct tacit_entropy *entropy,
                                   struct tacit_elim_update *update)
{
    if (report->epoch == 0 || report->epoch > TACIT_ELIM_EPOCHS_MAX)
        return TACIT_MALFORMED;
    if (report->epoch <
        hub->judge.epoch) { /* late or repeated: the sender lacks the order that stands */
        elim_hub_send_order(hub, report->from, update);
        return TACIT_OK;
    }
    if (hub->config.change_max > 0 && hub->phase == PHASE_COLLECTING &&
        report->epoch == hub->judge.epoch && !is_counted(hub, report->from)) {
        elim_hub_send_order(hub, report->from, update); /* it is left out, and hears so */
        return TACIT_OK;
    }
    enum tacit_status status = check_report(hub, report);
    if (status != TACIT_OK)
        return status;
    if (hub->config.has_grants)
        status = follow(hub, report, open_report(hub, report), update);
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

/* Of an agent that is behind, the head that a HELLO shows may be any of before. */
static enum tacit_status read_head(struct tacit_elim_hub *hub,
                                   const struct tacit_elim_message *hello,
                                   struct tacit_elim_update *update)
{
    bool const is_read = hub->config.has_grants && weights_of(hub)[hello->from] > 0 &&
                         hello->commit != NULL && hello->epoch == hub->judge.epoch;
    if (!is_read)
        return TACIT_OK;
    struct round_holder const holder = holder_of(hub);
    return follow(hub, hello,
                  round_holder_greet(&holder, hello->from, hello->commit->commitment, true),
                  update);
}

static enum tacit_status on_hello(struct tacit_elim_hub *hub,
                                  const struct tacit_elim_message *hello,
                                  const struct tacit_entropy *entropy,
                                  struct tacit_elim_update *update)
{
    if (hub->phase == PHASE_NEW)
        return TACIT_UNEXPECTED;
    if (hello->epoch > hub->judge.epoch)
        return TACIT_ROLLBACK;
    enum tacit_status status = read_head(hub, hello, update);
    if (status == TACIT_OK)
        status = elim_hub_note_refused(hub, hello, entropy, update);
    if (status != TACIT_OK || update->send)
        return status;
    if (hello->epoch < hub->judge.epoch || hub->config.answers_all)
        elim_hub_send_order(hub, hello->from, update);
    return TACIT_OK;
}

/* The deadline of the round: go on with a quorum, or wait for it and say so. */
static enum tacit_status on_timeout(struct tacit_elim_hub *hub, uint64_t now_us,
                                    const struct tacit_entropy *entropy,
                                    struct tacit_elim_update *update)
{
    if (hub->phase != PHASE_COLLECTING || hub->overdue || now_us < hub->deadline_us)
        return TACIT_OK; /* a timer of an earlier round */
    hub->overdue = true;
    if (!elim_hub_is_complete_with(hub, 0, 0)) {
        hub->deadline_us = TACIT_NEVER; /* from now on it is up to the reports */
        update->persist = true;
        return TACIT_OK;
    }
    enum tacit_status const status = elim_hub_draw_uploaders(hub, entropy);
    if (status != TACIT_OK) {
        hub->overdue = false;
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
    enum tacit_status const status = check_sender(hub, message);
    if (status != TACIT_OK)
        return status;
    switch (message->kind) {
    case TACIT_ELIM_HELLO:
        return on_hello(hub, message, entropy, update);
    case TACIT_ELIM_REPORT:
        return on_report(hub, message, entropy, update);
    case TACIT_ELIM_COMMIT:
        return on_commit(hub, message, entropy, update);
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
    TACIT_ASSERT(event->kind == TACIT_EVENT_START || event->now_us >= hub->now_us);
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
    if (status == TACIT_OK) {
        hub->now_us = event->now_us;
        bool const is_new_round = hub->judge.epoch != epoch_before;
        if (is_new_round || event->kind == TACIT_EVENT_START)
            elim_hub_set_deadline(hub, is_new_round);
    }
    update->deadline_us = hub->deadline_us;
    elim_hub_check_invariants(hub);
    TACIT_IMPLIES(status != TACIT_OK && status != TACIT_FORKED && status != TACIT_ROLLBACK,
                  !update->send);
    return status;
}

void tacit_elim_hub_look(const struct tacit_elim_hub *state, struct tacit_elim_hub_view *view)
{
    struct tacit_elim_hub *const hub = (struct tacit_elim_hub *)(uintptr_t)state;
    bool const collects = hub->phase == PHASE_COLLECTING;
    bool const is_exact = elim_is_exact(&hub->config.schedule);
    struct elim_judge_parts const judge = judge_of(hub);
    *view = (struct tacit_elim_hub_view){
        .epoch = hub->judge.epoch,
        .finished = hub->phase == PHASE_FINISHED,
        .arms = judge.active,
        .active_count = hub->judge.active_count,
        .round_count = hub->judge.round_count,
        .reports_missing = hub->missing_count,
        .report_count = collects ? tacit_bits_count(received_of(hub), hub->config.agent_count) : 0,
        .covered_count = hub->covered_count,
        .overdue = hub->overdue,
        .uploaders = uploaders_of(hub),
        .received = received_of(hub),
        .seen = seen_of(hub),
        .pulls = hub->judge.pulls,
        .radius = hub->judge.radius,
        .leader = hub->judge.leader > 0 ? hub->judge.leader - 1 : TACIT_NO_ARM,
        .is_exact = is_exact,
        .means = judge.means,
        .eliminated = judge.eliminated,
        .flagged = hub->config.has_grants ? holder_of(hub).flagged : NULL,
        .ahead = hub->config.has_grants ? holder_of(hub).ahead : NULL,
        .term = hub->term,
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
