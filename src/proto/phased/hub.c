/* The hub of the phased index over a star: orders plans, collects reports, has the judge make the
 * next plan. Its state is a function of the set of reports it accepted: rows are kept by agent
 * until the round closes and are whole numbers, so that the order of arrival cannot change a bit.
 */
#include <string.h>
#include "../round/holder.h"
#include "../round/pauses.h"
#include "internal.h"

enum phase { PHASE_NEW, PHASE_COLLECTING, PHASE_FINISHED };

struct tacit_phased_hub {
    struct tacit_phased_hub_config config;
    uint64_t now_us;
    uint64_t deadline_us; /* of the round; TACIT_NEVER: none */
    uint64_t judge_words;
    uint64_t term; /* 0: the first */
    enum phase phase;
    uint32_t report_count; /* of the present round */
    bool overdue;          /* the deadline is over: the quorum suffices from now on */
    bool spare[7];
    struct tacit_commit answer; /* what GRANT and REFUSAL point to */
    /* judge | received W(A) | seen A | rows A x K: the sums of the plan's blocks | totals K | with
     * grants: heads A, flagged W(A), ahead W(A) */
    uint64_t words[];
};

/* ---- Layout ---- */

static struct tacit_phased_judge *judge_of(struct tacit_phased_hub *hub)
{
    return (struct tacit_phased_judge *)(void *)hub->words;
}

static uint64_t *received_of(struct tacit_phased_hub *hub)
{
    return hub->words + hub->judge_words;
}

static uint32_t *seen_of(struct tacit_phased_hub *hub)
{
    return (uint32_t *)(received_of(hub) + TACIT_BITS_WORDS(hub->config.schedule.agent_count));
}

static size_t seen_words(uint32_t agents)
{
    return ((size_t)agents + 1) / 2;
}

static int64_t *row_of(struct tacit_phased_hub *hub, uint32_t agent)
{
    TACIT_ASSERT(agent <= hub->config.schedule.agent_count);
    uint32_t const agents = hub->config.schedule.agent_count;
    uint64_t *const rows = received_of(hub) + TACIT_BITS_WORDS(agents) + seen_words(agents);
    return (int64_t *)rows + agent * (size_t)hub->config.schedule.arm_count;
}

static int64_t *totals_of(struct tacit_phased_hub *hub)
{
    return row_of(hub, hub->config.schedule.agent_count);
}

static struct round_holder holder_of(struct tacit_phased_hub *hub)
{
    TACIT_ASSERT(hub->config.has_grants);
    return round_holder_at((uint64_t *)totals_of(hub) + hub->config.schedule.arm_count,
                           hub->config.schedule.agent_count, hub->term > 0);
}

static struct tacit_phased_judge_view judge_view(const struct tacit_phased_hub *hub)
{
    struct tacit_phased_judge_view view;
    tacit_phased_judge_look(judge_of((struct tacit_phased_hub *)(uintptr_t)hub), &view);
    return view;
}

static bool config_is_valid(const struct tacit_phased_hub_config *config)
{
    return tacit_phases_is_valid(&config->schedule) &&
           config->quorum <= config->schedule.agent_count &&
           config->round_timeout_us <= TACIT_PHASED_PAUSE_US_MAX &&
           config->mechanism.mode == TACIT_PRIVACY_SOUND &&
           config->mechanism.scale.kind == TACIT_SCALE_STEPS;
}

size_t tacit_phased_hub_size(const struct tacit_phased_hub_config *config)
{
    if (!config_is_valid(config))
        return 0;
    size_t const agents = config->schedule.agent_count;
    size_t const words = TACIT_BITS_WORDS(agents) + seen_words((uint32_t)agents) +
                         (agents + 1) * config->schedule.arm_count +
                         (config->has_grants ? round_holder_words((uint32_t)agents) : 0);
    return sizeof(struct tacit_phased_hub) + tacit_phased_judge_size(&config->schedule) +
           words * sizeof(uint64_t);
}

/* Member by member, so that a state is a function of the values alone (tacit_mechanism_copy). */
static void copy_config(struct tacit_phased_hub_config *copy,
                        const struct tacit_phased_hub_config *config)
{
    TACIT_ASSERT(copy != config);
    copy->run_id = config->run_id;
    tacit_phases_copy(&copy->schedule, &config->schedule);
    tacit_mechanism_copy(&copy->mechanism, &config->mechanism);
    copy->quorum = config->quorum;
    copy->round_timeout_us = config->round_timeout_us;
    copy->answers_all = config->answers_all;
    copy->has_grants = config->has_grants;
    memcpy(copy->domain, config->domain, sizeof copy->domain);
}

enum tacit_status tacit_phased_hub_init(struct tacit_phased_hub *hub,
                                        const struct tacit_phased_hub_config *config)
{
    size_t const size = tacit_phased_hub_size(config);
    if (size == 0)
        return TACIT_INVALID;
    memset(hub, 0, size);
    copy_config(&hub->config, config);
    hub->judge_words = tacit_phased_judge_size(&config->schedule) / sizeof(uint64_t);
    hub->deadline_us = TACIT_NEVER;
    return tacit_phased_judge_init(judge_of(hub), &config->schedule);
}

/* ---- Orders ---- */

/* The number of the order that stands: the last one follows the last plan. */
static uint32_t order_round(const struct tacit_phased_judge_view *judge)
{
    TACIT_ASSERT(judge->round <= TACIT_PHASED_ROUNDS_MAX);
    return judge->finished ? judge->round + 1 : judge->round;
}

static void send_order(struct tacit_phased_hub *hub, uint32_t to,
                       struct tacit_phased_update *update)
{
    TACIT_ASSERT(to == TACIT_EVERYONE || to < hub->config.schedule.agent_count);
    TACIT_ASSERT(hub->phase != PHASE_NEW);
    TACIT_ASSERT(!update->send);
    struct tacit_phased_judge_view const judge = judge_view(hub);
    update->send = true;
    update->message =
        (struct tacit_phased_message){.kind = TACIT_PHASED_ORDER,
                                      .from = TACIT_HUB,
                                      .to = to,
                                      .run_id = hub->config.run_id,
                                      .term = hub->term,
                                      .round = order_round(&judge),
                                      .seen = to == TACIT_EVERYONE ? 0 : seen_of(hub)[to],
                                      .last = judge.finished,
                                      .leader = judge.played,
                                      .block_count = judge.plan_count,
                                      .blocks = judge.finished ? NULL : judge.plan};
}

/* ---- Rounds ---- */

static void await_reports(struct tacit_phased_hub *hub)
{
    struct tacit_phased_judge_view const judge = judge_view(hub);
    memset(received_of(hub), 0,
           TACIT_BITS_WORDS(hub->config.schedule.agent_count) * sizeof(uint64_t));
    hub->report_count = 0;
    hub->overdue = false;
    hub->phase = judge.finished ? PHASE_FINISHED : PHASE_COLLECTING;
}

/* 1: per arm of the plan, one integer over those who reported. |sum| < 2^63: M T R < 2^62, and what
 * a site may say is checked. */
static void close_round(struct tacit_phased_hub *hub, struct tacit_phased_update *update)
{
    TACIT_ASSERT(hub->phase == PHASE_COLLECTING);
    TACIT_ASSERT(tacit_bits_count(received_of(hub), hub->config.schedule.agent_count) ==
                 hub->report_count);
    uint32_t const agents = hub->config.schedule.agent_count;
    uint32_t const blocks = judge_view(hub).plan_count;
    int64_t *const totals = totals_of(hub);
    memset(totals, 0, blocks * sizeof *totals);
    for (uint32_t agent = tacit_bits_next(received_of(hub), agents, 0); agent < agents;
         agent = tacit_bits_next(received_of(hub), agents, agent + 1))
        for (uint32_t i = 0; i < blocks; i++)
            totals[i] += row_of(hub, agent)[i];
    tacit_phased_judge_close(judge_of(hub), hub->report_count, totals);
    memset(totals, 0, blocks * sizeof *totals);
    await_reports(hub);
    send_order(hub, TACIT_EVERYONE, update);
    update->persist = true;
}

/* Would the round be complete with so many more reports? */
static bool is_complete_with(const struct tacit_phased_hub *hub, uint32_t reports)
{
    uint32_t const all = hub->config.schedule.agent_count;
    uint32_t const quorum = hub->config.quorum > 0 ? hub->config.quorum : all;
    uint32_t const count = hub->report_count + reports;
    return count == all || (hub->overdue && count >= quorum);
}

/* ---- Events ---- */

/* Whatever was granted is forgotten, and the sites know it: what no grant covers they drop. The
 * judge stands; the reports of the present round are asked for anew. */
static void begin_term(struct tacit_phased_hub *hub, uint64_t term,
                       struct tacit_phased_update *update)
{
    uint32_t const agents = hub->config.schedule.agent_count;
    TACIT_ASSERT(term > hub->term);
    hub->term = term;
    update->persist = true;
    memset(seen_of(hub), 0, agents * sizeof *seen_of(hub));
    if (hub->phase != PHASE_NEW)
        await_reports(hub);
    if (hub->config.has_grants) {
        struct round_holder const holder = holder_of(hub);
        round_holder_forget(&holder);
    }
}

static enum tacit_status on_start(struct tacit_phased_hub *hub, uint64_t term,
                                  struct tacit_phased_update *update)
{
    if (term > hub->term)
        begin_term(hub, term, update);
    if (hub->phase == PHASE_NEW) {
        await_reports(hub);
        update->persist = true;
    }
    if (hub->config.schedule.arm_count > 1) /* one arm: nothing to say */
        send_order(hub, TACIT_EVERYONE, update);
    return TACIT_OK;
}

/* A report must fit its order to the letter; nothing of it is used in part. */
static enum tacit_status check_report(const struct tacit_phased_hub *hub,
                                      const struct tacit_phased_judge_view *judge,
                                      const struct tacit_phased_message *report)
{
    TACIT_ASSERT(report->from < hub->config.schedule.agent_count);
    if (hub->phase != PHASE_NEW && report->round > judge->round)
        return TACIT_ROLLBACK;
    if (hub->phase != PHASE_COLLECTING)
        return TACIT_UNEXPECTED;
    if (report->sums == NULL || report->block_count != judge->plan_count)
        return TACIT_MALFORMED;
    for (uint32_t i = 0; i < report->block_count; i++) {
        union tacit_sum const sum = {.steps = report->sums[i]};
        if (!tacit_mechanism_plausible(&hub->config.mechanism, sum, judge->plan[i].count, 1))
            return TACIT_MALFORMED;
    }
    return TACIT_OK;
}

static void accept_report(struct tacit_phased_hub *hub, const struct tacit_phased_message *report,
                          struct tacit_phased_update *update)
{
    TACIT_ASSERT(!tacit_bits_has(received_of(hub), report->from));
    TACIT_ASSERT(hub->report_count < hub->config.schedule.agent_count);
    bool const completes = is_complete_with(hub, 1);
    memcpy(row_of(hub, report->from), report->sums, report->block_count * sizeof(int64_t));
    tacit_bits_add(received_of(hub), report->from);
    seen_of(hub)[report->from] = report->round;
    hub->report_count++;
    update->persist = true;
    if (completes)
        close_round(hub, update);
    else if (hub->config.answers_all)
        send_order(hub, report->from, update);
}

/* ---- Grants ---- */

/* kind: GRANT or REFUSAL, of the agent's head. */
static void send_head(struct tacit_phased_hub *hub, enum tacit_phased_message_kind kind,
                      const struct tacit_phased_message *commit, struct tacit_phased_update *update)
{
    TACIT_ASSERT(kind == TACIT_PHASED_GRANT || kind == TACIT_PHASED_REFUSAL);
    TACIT_ASSERT(commit->from < hub->config.schedule.agent_count);
    TACIT_ASSERT(!update->send);
    struct tacit_phased_judge_view const judge = judge_view(hub);
    bool const is_open = hub->phase == PHASE_COLLECTING && commit->round == judge.round;
    memset(&hub->answer, 0, sizeof hub->answer);
    memcpy(hub->answer.commitment, holder_of(hub).heads[commit->from].head,
           sizeof hub->answer.commitment);
    update->send = true;
    update->message =
        (struct tacit_phased_message){.kind = kind,
                                      .from = TACIT_HUB,
                                      .to = commit->from,
                                      .run_id = hub->config.run_id,
                                      .term = hub->term,
                                      .round = commit->round,
                                      .leader = TACIT_NO_ARM,
                                      .commit = &hub->answer,
                                      .closed = kind == TACIT_PHASED_GRANT && !is_open};
}

/* What the holder makes of this agent's message. */
static enum tacit_status follow(struct tacit_phased_hub *hub,
                                const struct tacit_phased_message *message,
                                struct round_verdict verdict, struct tacit_phased_update *update)
{
    update->persist = update->persist || verdict.persist;
    if (verdict.answer != ROUND_NOTHING) {
        send_head(hub, verdict.answer == ROUND_GRANT ? TACIT_PHASED_GRANT : TACIT_PHASED_REFUSAL,
                  message, update);
        update->message.forgot = verdict.is_unknown;
    }
    return verdict.status;
}

/* Whatever the round: what counts is what it follows. */
static enum tacit_status on_commit(struct tacit_phased_hub *hub,
                                   const struct tacit_phased_message *commit,
                                   struct tacit_phased_update *update)
{
    if (!hub->config.has_grants || hub->phase == PHASE_NEW)
        return TACIT_UNEXPECTED;
    if (commit->commit == NULL || commit->round == 0 || commit->round > TACIT_PHASED_ROUNDS_MAX)
        return TACIT_MALFORMED;
    struct tacit_phased_judge_view const judge = judge_view(hub);
    if (commit->round > order_round(&judge))
        return TACIT_ROLLBACK;
    struct round_holder const holder = holder_of(hub);
    return follow(hub, commit, round_holder_ask(&holder, commit->from, commit->commit), update);
}

/* Is it what was granted? Requires: it fits the order that stands. */
static struct round_verdict open_report(struct tacit_phased_hub *hub,
                                        const struct tacit_phased_judge_view *judge,
                                        const struct tacit_phased_message *report)
{
    TACIT_ASSERT(report->block_count == judge->plan_count);
    struct round_holder const holder = holder_of(hub);
    struct tacit_commit_scope const scope = {.domain = hub->config.domain,
                                             .run_id = hub->config.run_id,
                                             .site = report->from,
                                             .epoch = report->round};
    uint8_t digest[TACIT_SHA256_BYTES];
    phased_release_digest(judge->plan, report->sums, report->block_count, digest);
    return round_holder_open(&holder, &scope, report->commit, digest);
}

/* ---- Reports ---- */

static enum tacit_status on_report(struct tacit_phased_hub *hub,
                                   const struct tacit_phased_message *report,
                                   struct tacit_phased_update *update)
{
    struct tacit_phased_judge_view const judge = judge_view(hub);
    if (report->round == 0 || report->round > TACIT_PHASED_ROUNDS_MAX)
        return TACIT_MALFORMED;
    if (hub->phase != PHASE_NEW && report->round < order_round(&judge)) {
        send_order(hub, report->from,
                   update); /* late or repeated: it lacks the order that stands */
        return TACIT_OK;
    }
    enum tacit_status status = check_report(hub, &judge, report);
    if (status == TACIT_OK && hub->config.has_grants)
        status = follow(hub, report, open_report(hub, &judge, report), update);
    if (status != TACIT_OK)
        return status;
    if (!tacit_bits_has(received_of(hub), report->from)) {
        accept_report(hub, report, update);
        return TACIT_OK;
    }
    if (memcmp(row_of(hub, report->from), report->sums, report->block_count * sizeof(int64_t)) != 0)
        return TACIT_MALFORMED; /* two answers to one question */
    if (hub->config.answers_all)
        send_order(hub, report->from, update);
    return TACIT_OK;
}

/* Of an agent that is behind, the head that a HELLO shows may be any of before. */
static enum tacit_status read_head(struct tacit_phased_hub *hub,
                                   const struct tacit_phased_message *hello, uint32_t round,
                                   struct tacit_phased_update *update)
{
    if (!hub->config.has_grants || hello->commit == NULL || hello->round != round)
        return TACIT_OK;
    struct round_holder const holder = holder_of(hub);
    return follow(hub, hello,
                  round_holder_greet(&holder, hello->from, hello->commit->commitment, true),
                  update);
}

static enum tacit_status on_hello(struct tacit_phased_hub *hub,
                                  const struct tacit_phased_message *hello,
                                  struct tacit_phased_update *update)
{
    struct tacit_phased_judge_view const judge = judge_view(hub);
    if (hub->phase == PHASE_NEW)
        return TACIT_UNEXPECTED;
    if (hello->round > order_round(&judge))
        return TACIT_ROLLBACK;
    enum tacit_status const status = read_head(hub, hello, order_round(&judge), update);
    if (status != TACIT_OK)
        return status;
    if (hello->round < order_round(&judge) || hub->config.answers_all)
        send_order(hub, hello->from, update);
    return TACIT_OK;
}

static enum tacit_status on_receive(struct tacit_phased_hub *hub,
                                    const struct tacit_phased_message *message,
                                    struct tacit_phased_update *update)
{
    if (message->run_id != hub->config.run_id || message->to != TACIT_HUB ||
        message->from >= hub->config.schedule.agent_count || message->term < hub->term)
        return TACIT_STRANGER;
    if (message->term > hub->term)
        return TACIT_ROLLBACK;
    switch (message->kind) {
    case TACIT_PHASED_HELLO:
        return on_hello(hub, message, update);
    case TACIT_PHASED_REPORT:
        return on_report(hub, message, update);
    case TACIT_PHASED_COMMIT:
        return on_commit(hub, message, update);
    case TACIT_PHASED_ORDER:
    case TACIT_PHASED_GRANT:
    case TACIT_PHASED_REFUSAL:
        return TACIT_UNEXPECTED; /* only agents receive these */
    }
    return TACIT_MALFORMED;
}

/* The deadline of the round: go on with a quorum, or wait for it and say so. */
static void on_timeout(struct tacit_phased_hub *hub, uint64_t now_us,
                       struct tacit_phased_update *update)
{
    TACIT_ASSERT(!update->send);
    if (hub->phase != PHASE_COLLECTING || hub->overdue || now_us < hub->deadline_us)
        return; /* a timer of an earlier round */
    hub->overdue = true;
    update->persist = true;
    if (is_complete_with(hub, 0))
        close_round(hub, update);
    else
        hub->deadline_us = TACIT_NEVER; /* from now on it is up to the reports */
}

/* ---- Public ---- */

static void set_deadline(struct tacit_phased_hub *hub, bool is_new_round)
{
    uint64_t const timeout_us = hub->config.round_timeout_us;
    bool const waits = hub->phase == PHASE_COLLECTING && !hub->overdue && timeout_us > 0;
    hub->deadline_us =
        round_deadline_us(waits, is_new_round, hub->now_us, timeout_us, hub->deadline_us);
}

/* The operator's word has changed the judge: is there another order now? */
static void follow_judge(struct tacit_phased_hub *hub, uint32_t round_before, uint64_t now_us,
                         struct tacit_phased_update *update)
{
    struct tacit_phased_judge_view const judge = judge_view(hub);
    update->persist = true;
    hub->now_us = now_us;
    if (order_round(&judge) != round_before) {
        await_reports(hub);
        send_order(hub, TACIT_EVERYONE, update);
        set_deadline(hub, true);
    }
    update->deadline_us = hub->deadline_us;
}

enum tacit_status tacit_phased_hub_add(struct tacit_phased_hub *hub, uint32_t arm, uint64_t now_us,
                                       struct tacit_phased_update *update)
{
    struct tacit_phased_judge_view const before = judge_view(hub);
    TACIT_ASSERT(now_us >= hub->now_us);
    *update = (struct tacit_phased_update){.deadline_us = hub->deadline_us};
    if (hub->phase == PHASE_NEW)
        return TACIT_UNEXPECTED;
    enum tacit_status const status =
        tacit_phased_judge_add(judge_of(hub), arm, TACIT_PHASED_UNKNOWN);
    if (status == TACIT_OK)
        follow_judge(hub, order_round(&before), now_us, update);
    return status;
}

/* How far each site is in its plan is not known here. */
enum tacit_status tacit_phased_hub_retire(struct tacit_phased_hub *hub, uint32_t arm,
                                          uint64_t now_us, struct tacit_phased_update *update)
{
    struct tacit_phased_judge_view const before = judge_view(hub);
    TACIT_ASSERT(now_us >= hub->now_us);
    *update = (struct tacit_phased_update){.deadline_us = hub->deadline_us};
    if (hub->phase == PHASE_NEW)
        return TACIT_UNEXPECTED;
    enum tacit_status const status =
        tacit_phased_judge_retire(judge_of(hub), arm, TACIT_PHASED_UNKNOWN);
    if (status == TACIT_OK)
        follow_judge(hub, order_round(&before), now_us, update);
    return status;
}

enum tacit_status tacit_phased_hub_step(struct tacit_phased_hub *hub,
                                        const struct tacit_phased_event *event,
                                        struct tacit_phased_update *update)
{
    TACIT_ASSERT(event->kind == TACIT_EVENT_START || event->now_us >= hub->now_us);
    TACIT_ASSERT(hub->report_count <= hub->config.schedule.agent_count);
    *update = (struct tacit_phased_update){.deadline_us = TACIT_NEVER};
    struct tacit_phased_judge_view const before = judge_view(hub);
    enum tacit_status status = TACIT_OK;
    switch (event->kind) {
    case TACIT_EVENT_START:
        status = on_start(hub, event->as.term, update);
        break;
    case TACIT_EVENT_RECEIVE:
        status = on_receive(hub, event->as.message, update);
        break;
    case TACIT_EVENT_TIMEOUT:
        on_timeout(hub, event->now_us, update);
        break;
    case TACIT_EVENT_REWARD:
    case TACIT_EVENT_EXPLOITED:
    case TACIT_EVENT_OFFER:
        status = TACIT_INVALID; /* a hub has no arms to pull */
        break;
    }
    if (status == TACIT_OK) {
        struct tacit_phased_judge_view const after = judge_view(hub);
        bool const is_new_round = order_round(&after) != order_round(&before);
        update->happened |= after.round_count != before.round_count ? TACIT_CLOSED_ROUND : 0;
        hub->now_us = event->now_us;
        if (is_new_round || event->kind == TACIT_EVENT_START)
            set_deadline(hub, is_new_round);
    }
    update->deadline_us = hub->deadline_us;
    TACIT_IMPLIES(hub->phase == PHASE_COLLECTING, !is_complete_with(hub, 0));
    TACIT_ASSERT(hub->report_count <= hub->config.schedule.agent_count);
    TACIT_IMPLIES(hub->phase == PHASE_COLLECTING, !judge_view(hub).finished);
    TACIT_IMPLIES(hub->phase == PHASE_FINISHED, judge_view(hub).finished);
    TACIT_IMPLIES(hub->overdue, hub->phase == PHASE_COLLECTING);
    TACIT_IMPLIES(status != TACIT_OK && status != TACIT_FORKED && status != TACIT_ROLLBACK,
                  !update->send);
    return status;
}

/* ---- Check ---- */

/* The report of this round is here from those who were counted, and from nobody else. */
static bool reports_are_possible(struct tacit_phased_hub *hub,
                                 const struct tacit_phased_judge_view *judge)
{
    uint32_t const agents = hub->config.schedule.agent_count;
    if (!tacit_bits_within(received_of(hub), received_of(hub), agents) ||
        tacit_bits_count(received_of(hub), agents) != hub->report_count)
        return false;
    for (uint32_t agent = 0; agent < agents; agent++) {
        bool const is_here = tacit_bits_has(received_of(hub), agent);
        uint32_t const seen = seen_of(hub)[agent];
        if (seen > judge->round || (!judge->finished && (seen == judge->round) != is_here) ||
            (judge->finished && is_here))
            return false;
        for (uint32_t i = 0; is_here && i < judge->plan_count; i++) {
            union tacit_sum const sum = {.steps = row_of(hub, agent)[i]};
            if (!tacit_mechanism_plausible(&hub->config.mechanism, sum, judge->plan[i].count, 1))
                return false;
        }
    }
    return true;
}

static bool phase_is_possible(const struct tacit_phased_hub *hub,
                              const struct tacit_phased_judge_view *judge)
{
    switch (hub->phase) {
    case PHASE_NEW:
        return judge->round_count == 0 && judge->round <= 1 && hub->report_count == 0 &&
               !hub->overdue;
    case PHASE_COLLECTING:
        return !judge->finished && !is_complete_with(hub, 0);
    case PHASE_FINISHED:
        return judge->finished && hub->report_count == 0 && !hub->overdue;
    }
    return false;
}

enum tacit_status tacit_phased_hub_check(const struct tacit_phased_hub *state, size_t size,
                                         const struct tacit_phased_hub_config *config)
{
    struct tacit_phased_hub *const hub = (struct tacit_phased_hub *)(uintptr_t)state;
    if (size == 0 || size != tacit_phased_hub_size(config))
        return TACIT_MALFORMED;
    struct tacit_phased_hub_config copy;
    memset(&copy, 0, sizeof copy);
    copy_config(&copy, config);
    size_t const judge_size = tacit_phased_judge_size(&config->schedule);
    if (memcmp(&hub->config, &copy, sizeof copy) != 0 ||
        hub->judge_words != judge_size / sizeof(uint64_t) ||
        !phased_flag_is_possible(&hub->overdue) ||
        tacit_phased_judge_check(judge_of(hub), judge_size, &config->schedule) != TACIT_OK)
        return TACIT_MALFORMED;
    struct tacit_phased_judge_view const judge = judge_view(hub);
    if (config->has_grants) {
        struct round_holder const holder = holder_of(hub);
        if (!round_holder_is_possible(&holder))
            return TACIT_MALFORMED;
    }
    return phase_is_possible(hub, &judge) && reports_are_possible(hub, &judge) ? TACIT_OK
                                                                               : TACIT_MALFORMED;
}

/* ---- What a lost hub is built again from ---- */

#define MARK UINT64_C(0x3170616e73616870) /* "phasnap1" */

static void walk_hub(struct base_walk *walk, struct tacit_phased_hub *hub)
{
    uint32_t phase = hub->phase;
    base_walk_same(walk, MARK);
    base_walk_same(walk, hub->config.run_id);
    base_walk_same(walk, hub->config.schedule.agent_count);
    base_walk_same(walk, hub->judge_words);
    base_walk_same(walk, hub->config.quorum);
    base_walk_same(walk, hub->config.round_timeout_us);
    base_walk_number(walk, &phase);
    hub->phase = (enum phase)phase; /* the check knows which there are */
    phased_judge_walk(walk, judge_of(hub));
}

size_t tacit_phased_hub_snapshot(const struct tacit_phased_hub *state, uint8_t *bytes, size_t room)
{
    struct base_walk walk = {.out = bytes, .room = room};
    TACIT_ASSERT(bytes != NULL || room == 0);
    walk_hub(&walk, (struct tacit_phased_hub *)(uintptr_t)state); /* it is read */
    base_walk_end(&walk);
    TACIT_ASSERT(!walk.failed && walk.size > 0);
    return walk.size;
}

/* Does it write these very bytes? The same could be told in other ways. */
static bool writes(struct tacit_phased_hub *hub, const uint8_t *bytes, size_t size)
{
    struct base_walk walk = {.in = bytes, .room = size};
    walk_hub(&walk, hub);
    base_walk_end(&walk);
    return base_walk_is_whole(&walk);
}

enum tacit_status tacit_phased_hub_restore(struct tacit_phased_hub *hub,
                                           const struct tacit_phased_hub_config *config,
                                           const uint8_t *bytes, size_t size)
{
    struct base_walk walk = {.reads = true, .in = bytes, .room = size};
    enum tacit_status const status = tacit_phased_hub_init(hub, config);
    if (status != TACIT_OK)
        return status;
    walk_hub(&walk, hub);
    if (!base_walk_is_whole(&walk) ||
        tacit_phased_hub_check(hub, tacit_phased_hub_size(config), config) != TACIT_OK)
        return TACIT_MALFORMED;
    return writes(hub, bytes, size) ? TACIT_OK : TACIT_MALFORMED;
}

void tacit_phased_hub_look(const struct tacit_phased_hub *state, struct tacit_phased_hub_view *view)
{
    struct tacit_phased_hub *const hub = (struct tacit_phased_hub *)(uintptr_t)state;
    bool const collects = hub->phase == PHASE_COLLECTING;
    *view = (struct tacit_phased_hub_view){
        .judge = judge_view(hub),
        .reports_missing = collects ? hub->config.schedule.agent_count - hub->report_count : 0,
        .report_count = hub->report_count,
        .overdue = hub->overdue,
        .term = hub->term,
        .received = received_of(hub),
        .seen = seen_of(hub),
        .flagged = hub->config.has_grants ? holder_of(hub).flagged : NULL,
        .ahead = hub->config.has_grants ? holder_of(hub).ahead : NULL};
}

struct tacit_bounds_interval tacit_phased_hub_interval(const struct tacit_phased_hub *hub,
                                                       uint32_t arm, double confidence)
{
    return tacit_phased_judge_interval(judge_of((struct tacit_phased_hub *)(uintptr_t)hub), arm,
                                       confidence);
}
