/* The hub of epoch elimination (Li, Song, Alg. 1 l. 2-5 and l. 12-16): orders epochs, collects
 * reports, aggregates, eliminates. Its state is a function of the set of reports it accepted: they
 * are stored by agent and added up in agent order, so that the order of arrival cannot change a
 * bit. */
#include "tacit/elim.h"
#include <math.h>
#include <string.h>

enum phase { PHASE_NEW, PHASE_COLLECTING, PHASE_FINISHED };

struct tacit_elim_hub {
    struct tacit_elim_hub_config config;
    uint64_t now_us;
    uint64_t deadline_us; /* of the round; TACIT_NEVER: none */
    uint64_t pulls;       /* S(r) of the order that stands */
    double radius;        /* C(r) of the last test */
    enum phase phase;
    uint32_t epoch;
    uint32_t active_count;
    uint32_t round_count;
    uint32_t missing_count;
    bool overdue; /* the deadline is over: the quorum suffices from now on */
    /* active W(K) | final W(K) | uploaders W(A) | received W(A) | next W(A) | means K | eliminated
     * K | seen A | sums A x K, row = agent, column = rank of the arm among the active ones */
    uint64_t words[];
};

_Static_assert(sizeof(double) == sizeof(uint64_t), "means are stored as words");

/* ---- Layout ---- */

static uint64_t *active_of(struct tacit_elim_hub *hub)
{
    return hub->words;
}

/* The one arm of the last order; the survivors of an R-limited run stay in the active set. */
static uint64_t *final_of(struct tacit_elim_hub *hub)
{
    return active_of(hub) + TACIT_BITS_WORDS(hub->config.schedule.arm_count);
}

static uint64_t *agents_of(struct tacit_elim_hub *hub, uint32_t set)
{
    return final_of(hub) + TACIT_BITS_WORDS(hub->config.schedule.arm_count) +
           set * TACIT_BITS_WORDS(hub->config.agent_count);
}

static uint64_t *uploaders_of(struct tacit_elim_hub *hub)
{
    return agents_of(hub, 0);
}

static uint64_t *received_of(struct tacit_elim_hub *hub)
{
    return agents_of(hub, 1);
}

static uint64_t *next_uploaders_of(struct tacit_elim_hub *hub)
{
    return agents_of(hub, 2);
}

static double *means_of(struct tacit_elim_hub *hub)
{
    return (double *)agents_of(hub, 3);
}

/* Two epochs fit a word; K words are plenty. */
static uint32_t *eliminated_of(struct tacit_elim_hub *hub)
{
    return (uint32_t *)(means_of(hub) + hub->config.schedule.arm_count);
}

/* Last epoch whose report is held, by agent; two fit a word, A words are plenty. */
static uint32_t *seen_of(struct tacit_elim_hub *hub)
{
    return (uint32_t *)(agents_of(hub, 3) + 2 * (size_t)hub->config.schedule.arm_count);
}

static union tacit_sum *row_of(struct tacit_elim_hub *hub, uint32_t agent)
{
    size_t const arms = hub->config.schedule.arm_count;
    size_t const agents = hub->config.agent_count;
    return (union tacit_sum *)(agents_of(hub, 3) + 2 * arms + agents) + agent * arms;
}

static bool config_is_valid(const struct tacit_elim_hub_config *config)
{
    struct tacit_elim_schedule const *const schedule = &config->schedule;
    return schedule->arm_count >= 1 && schedule->arm_count <= TACIT_ARMS_MAX &&
           config->agent_count >= 1 && config->agent_count <= TACIT_AGENTS_MAX &&
           schedule->report_count >= 1 && schedule->report_count <= config->agent_count &&
           config->quorum <= schedule->report_count &&
           config->round_timeout_us <= TACIT_ELIM_PAUSE_US_MAX && schedule->horizon >= 1 &&
           schedule->horizon <= TACIT_HORIZON_MAX && schedule->epsilon_per_reward > 0 &&
           schedule->round_limit < TACIT_ELIM_EPOCHS_MAX && /* the last order is epoch R + 1 */
           (schedule->round_limit == 0 || (schedule->gap > 0 && schedule->gap <= 1));
}

size_t tacit_elim_hub_size(const struct tacit_elim_hub_config *config)
{
    if (!config_is_valid(config))
        return 0;
    size_t const arms = config->schedule.arm_count;
    size_t const words = 2 * TACIT_BITS_WORDS(arms) + 3 * TACIT_BITS_WORDS(config->agent_count) +
                         2 * arms + config->agent_count + config->agent_count * arms;
    return sizeof(struct tacit_elim_hub) + words * sizeof(uint64_t);
}

/* Member by member, so that a state is a function of the values alone (tacit_mechanism_copy). */
static void copy_config(struct tacit_elim_hub_config *copy,
                        const struct tacit_elim_hub_config *config)
{
    copy->run_id = config->run_id;
    copy->agent_count = config->agent_count;
    copy->schedule.arm_count = config->schedule.arm_count;
    copy->schedule.report_count = config->schedule.report_count;
    copy->schedule.horizon = config->schedule.horizon;
    copy->schedule.epsilon_per_reward = config->schedule.epsilon_per_reward;
    copy->schedule.round_limit = config->schedule.round_limit;
    copy->schedule.gap = config->schedule.gap;
    tacit_mechanism_copy(&copy->mechanism, &config->mechanism);
    copy->quorum = config->quorum;
    copy->round_timeout_us = config->round_timeout_us;
    copy->answers_all = config->answers_all;
}

static bool same_config(const struct tacit_elim_hub_config *kept,
                        const struct tacit_elim_hub_config *config)
{
    struct tacit_elim_hub_config copy;
    memset(&copy, 0, sizeof copy);
    copy_config(&copy, config);
    return memcmp(kept, &copy, sizeof copy) == 0;
}

enum tacit_status tacit_elim_hub_init(struct tacit_elim_hub *hub,
                                      const struct tacit_elim_hub_config *config)
{
    size_t const size = tacit_elim_hub_size(config);
    if (size == 0)
        return TACIT_INVALID;
    memset(hub, 0, size);
    copy_config(&hub->config, config);
    hub->active_count = config->schedule.arm_count;
    hub->deadline_us = TACIT_NEVER;
    tacit_bits_fill(active_of(hub), hub->active_count);
    return TACIT_OK;
}

/* ---- Orders ---- */

static bool everybody_reports(const struct tacit_elim_hub *hub)
{
    return hub->config.schedule.report_count == hub->config.agent_count;
}

static void send_order(struct tacit_elim_hub *hub, uint32_t to, struct tacit_elim_update *update)
{
    bool const last = hub->phase == PHASE_FINISHED;
    update->send = true;
    update->message = (struct tacit_elim_message){
        .kind = TACIT_ELIM_ORDER,
        .from = TACIT_ELIM_HUB,
        .to = to,
        .run_id = hub->config.run_id,
        .epoch = hub->epoch,
        .seen = to == TACIT_ELIM_EVERYONE ? 0 : seen_of(hub)[to],
        .last = last,
        .pulls = hub->pulls,
        .arms = last ? final_of(hub) : active_of(hub),
        .uploaders = last || everybody_reports(hub) ? NULL : uploaders_of(hub)};
}

/* l. 17, and READINGS P1.7: the arm that is left, or the best aggregated mean of those left. */
static void finish(struct tacit_elim_hub *hub)
{
    uint32_t const arms = hub->config.schedule.arm_count;
    uint32_t best = tacit_bits_next(active_of(hub), arms, 0);
    for (uint32_t arm = best; arm < arms; arm = tacit_bits_next(active_of(hub), arms, arm + 1))
        if (means_of(hub)[arm] > means_of(hub)[best])
            best = arm;
    tacit_bits_add(final_of(hub), best);
    memset(uploaders_of(hub), 0, 3 * TACIT_BITS_WORDS(hub->config.agent_count) * sizeof(uint64_t));
    hub->missing_count = 0; /* nobody is asked any more */
    hub->overdue = false;
    hub->phase = PHASE_FINISHED;
}

/* ---- Elimination ---- */

/* Reports of this round that are here: N, unless the quorum had to do. */
static uint32_t hub_reports(const struct tacit_elim_hub *hub)
{
    return hub->config.schedule.report_count - hub->missing_count;
}

/* l. 12, over the agents that reported (READINGS P1.8, P1.10). */
static void aggregate(struct tacit_elim_hub *hub)
{
    uint32_t const arms = hub->config.schedule.arm_count;
    uint32_t const agents = hub->config.agent_count;
    struct tacit_scale const *const scale = &hub->config.mechanism.scale;
    for (uint32_t arm = tacit_bits_next(active_of(hub), arms, 0); arm < arms;
         arm = tacit_bits_next(active_of(hub), arms, arm + 1))
        means_of(hub)[arm] = 0;
    for (uint32_t agent = tacit_bits_next(received_of(hub), agents, 0); agent < agents;
         agent = tacit_bits_next(received_of(hub), agents, agent + 1)) {
        union tacit_sum const *sum = row_of(hub, agent);
        for (uint32_t arm = tacit_bits_next(active_of(hub), arms, 0); arm < arms;
             arm = tacit_bits_next(active_of(hub), arms, arm + 1))
            means_of(hub)[arm] += tacit_sum_mean(scale, *sum++, hub->pulls);
    }
    double const reports = hub_reports(hub);
    for (uint32_t arm = tacit_bits_next(active_of(hub), arms, 0); arm < arms;
         arm = tacit_bits_next(active_of(hub), arms, arm + 1))
        means_of(hub)[arm] /= reports;
}

/* l. 13-15: all at once against one maximum; the best arm itself never goes (READINGS P1.5). */
static void eliminate(struct tacit_elim_hub *hub)
{
    struct tacit_elim_schedule const *const schedule = &hub->config.schedule;
    uint32_t const arms = schedule->arm_count;
    double const *const means = means_of(hub);
    hub->radius =
        tacit_elim_radius(schedule, hub->epoch, hub->active_count, hub->pulls, hub_reports(hub));
    double best = -INFINITY;
    for (uint32_t arm = tacit_bits_next(active_of(hub), arms, 0); arm < arms;
         arm = tacit_bits_next(active_of(hub), arms, arm + 1))
        best = means[arm] > best ? means[arm] : best;
    for (uint32_t arm = tacit_bits_next(active_of(hub), arms, 0); arm < arms;
         arm = tacit_bits_next(active_of(hub), arms, arm + 1)) {
        if (best - means[arm] >= 2 * hub->radius) {
            tacit_bits_remove(active_of(hub), arm);
            eliminated_of(hub)[arm] = hub->epoch;
            hub->active_count--;
        }
    }
    TACIT_ASSERT(hub->active_count >= 1);
}

/* ---- Epochs ---- */

/* Goes to the next epoch in which something is pulled, or to the end. An epoch with n_r = 0 repeats
 * the test with its own radius and costs nothing (READINGS P1.3). */
static void begin_epoch(struct tacit_elim_hub *hub)
{
    struct tacit_elim_schedule const *const schedule = &hub->config.schedule;
    uint32_t const limit =
        schedule->round_limit > 0 ? schedule->round_limit : TACIT_ELIM_EPOCHS_MAX - 1;
    for (;;) {
        hub->epoch++;
        if (hub->active_count == 1 || hub->epoch > limit) {
            finish(hub);
            return;
        }
        uint64_t const pulls =
            tacit_elim_pulls(schedule, hub->epoch, hub->active_count, hub->pulls);
        if (pulls > hub->pulls) {
            hub->pulls = pulls;
            break;
        }
        eliminate(hub);
    }
    size_t const words = TACIT_BITS_WORDS(hub->config.agent_count);
    memcpy(uploaders_of(hub), next_uploaders_of(hub), words * sizeof(uint64_t));
    memset(next_uploaders_of(hub), 0, words * sizeof(uint64_t)); /* scratch stays clean */
    memset(received_of(hub), 0, words * sizeof(uint64_t));
    hub->missing_count = schedule->report_count;
    hub->overdue = false;
    hub->phase = PHASE_COLLECTING;
}

/* Sec. IV-B: N agents afresh each round. Drawn before anything else changes, so that an entropy
 * source that fails leaves the hub as it was. */
static enum tacit_status draw_uploaders(struct tacit_elim_hub *hub,
                                        const struct tacit_entropy *entropy)
{
    if (everybody_reports(hub)) {
        tacit_bits_fill(next_uploaders_of(hub), hub->config.agent_count);
        return TACIT_OK;
    }
    enum tacit_status const status =
        tacit_entropy_subset(entropy, hub->config.schedule.report_count, hub->config.agent_count,
                             next_uploaders_of(hub));
    if (status != TACIT_OK)
        memset(next_uploaders_of(hub), 0,
               TACIT_BITS_WORDS(hub->config.agent_count) * sizeof(uint64_t));
    return status;
}

/* ---- Events ---- */

static enum tacit_status on_start(struct tacit_elim_hub *hub, const struct tacit_entropy *entropy,
                                  struct tacit_elim_update *update)
{
    if (hub->phase == PHASE_NEW) {
        enum tacit_status const status = draw_uploaders(hub, entropy);
        if (status != TACIT_OK)
            return status;
        begin_epoch(hub);
        update->persist = true;
    }
    if (hub->config.schedule.arm_count > 1) /* one arm: nothing to say (PRIVACY.md D.48) */
        send_order(hub, TACIT_ELIM_EVERYONE, update);
    return TACIT_OK;
}

/* Is it for this run, from one of its agents? */
static enum tacit_status check_sender(const struct tacit_elim_hub *hub,
                                      const struct tacit_elim_message *message)
{
    if (message->run_id != hub->config.run_id || message->to != TACIT_ELIM_HUB ||
        message->from >= hub->config.agent_count)
        return TACIT_STRANGER;
    return TACIT_OK;
}

/* A report of the present epoch must fit its order to the letter; nothing of it is used in part. */
static enum tacit_status check_report(struct tacit_elim_hub *hub,
                                      const struct tacit_elim_message *report)
{
    uint32_t const arms = hub->config.schedule.arm_count;
    if (hub->phase != PHASE_COLLECTING || report->epoch > hub->epoch)
        return TACIT_UNEXPECTED;
    if (!tacit_bits_has(uploaders_of(hub), report->from))
        return TACIT_UNEXPECTED;
    if (report->arms == NULL || report->sums == NULL || report->sum_count != hub->active_count ||
        report->pulls != hub->pulls)
        return TACIT_MALFORMED;
    if (memcmp(report->arms, active_of(hub), TACIT_BITS_WORDS(arms) * sizeof(uint64_t)) != 0)
        return TACIT_MALFORMED;
    for (uint32_t i = 0; i < report->sum_count; i++)
        if (!tacit_mechanism_plausible(&hub->config.mechanism, report->sums[i], report->pulls,
                                       report->epoch))
            return TACIT_MALFORMED;
    return TACIT_OK;
}

/* Would the round be complete with `more` further reports? */
static bool is_complete_with(const struct tacit_elim_hub *hub, uint32_t more)
{
    uint32_t const quorum =
        hub->config.quorum > 0 ? hub->config.quorum : hub->config.schedule.report_count;
    return hub->missing_count <= more || (hub->overdue && hub_reports(hub) + more >= quorum);
}

/* l. 12-16, once the reports of the round are in. */
static void close_round(struct tacit_elim_hub *hub, struct tacit_elim_update *update)
{
    hub->round_count++;
    aggregate(hub);
    eliminate(hub);
    begin_epoch(hub);
    send_order(hub, TACIT_ELIM_EVERYONE, update);
    update->persist = true;
}

static enum tacit_status accept_report(struct tacit_elim_hub *hub,
                                       const struct tacit_elim_message *report,
                                       const struct tacit_entropy *entropy,
                                       struct tacit_elim_update *update)
{
    bool const completes = is_complete_with(hub, 1);
    if (completes) {
        enum tacit_status const status = draw_uploaders(hub, entropy);
        if (status != TACIT_OK)
            return status; /* the agent will send it again */
    }
    memcpy(row_of(hub, report->from), report->sums, report->sum_count * sizeof(union tacit_sum));
    tacit_bits_add(received_of(hub), report->from);
    seen_of(hub)[report->from] = report->epoch;
    hub->missing_count--;
    update->persist = true;
    if (completes)
        close_round(hub, update);
    else if (hub->config.answers_all)
        send_order(hub, report->from, update);
    return TACIT_OK;
}

static enum tacit_status on_report(struct tacit_elim_hub *hub,
                                   const struct tacit_elim_message *report,
                                   const struct tacit_entropy *entropy,
                                   struct tacit_elim_update *update)
{
    if (report->epoch == 0 || report->epoch > TACIT_ELIM_EPOCHS_MAX)
        return TACIT_MALFORMED;
    if (report->epoch < hub->epoch) { /* late or repeated: the sender lacks the order that stands */
        send_order(hub, report->from, update);
        return TACIT_OK;
    }
    enum tacit_status const status = check_report(hub, report);
    if (status != TACIT_OK)
        return status;
    if (!tacit_bits_has(received_of(hub), report->from))
        return accept_report(hub, report, entropy, update);
    size_t const bytes = report->sum_count * sizeof(union tacit_sum);
    if (memcmp(row_of(hub, report->from), report->sums, bytes) != 0)
        return TACIT_MALFORMED; /* two answers to one question */
    if (hub->config.answers_all)
        send_order(hub, report->from, update);
    return TACIT_OK;
}

static enum tacit_status on_hello(struct tacit_elim_hub *hub,
                                  const struct tacit_elim_message *hello,
                                  struct tacit_elim_update *update)
{
    if (hub->phase == PHASE_NEW || hello->epoch > hub->epoch)
        return TACIT_UNEXPECTED;
    if (hello->epoch < hub->epoch || hub->config.answers_all)
        send_order(hub, hello->from, update);
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
    if (!is_complete_with(hub, 0)) {
        hub->deadline_us = TACIT_NEVER; /* from now on it is up to the reports */
        update->persist = true;
        return TACIT_OK;
    }
    enum tacit_status const status = draw_uploaders(hub, entropy);
    if (status != TACIT_OK) {
        hub->overdue = false;
        return status; /* the deadline stands: the driver tries again */
    }
    close_round(hub, update);
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
        return on_hello(hub, message, update);
    case TACIT_ELIM_REPORT:
        return on_report(hub, message, entropy, update);
    case TACIT_ELIM_ORDER:
        return TACIT_UNEXPECTED; /* only agents receive these */
    }
    return TACIT_MALFORMED;
}

/* ---- Public ---- */

/* The full time from now on, for a new round and for a new process with a new clock. But a START
 * does not put off a deadline that is still to come: else a hub that starts often has none. */
static void set_deadline(struct tacit_elim_hub *hub, bool is_new_round)
{
    bool const has_deadline =
        hub->phase == PHASE_COLLECTING && !hub->overdue && hub->config.round_timeout_us > 0;
    uint64_t const full_us = hub->now_us + hub->config.round_timeout_us;
    bool const stands =
        !is_new_round && hub->deadline_us > hub->now_us && hub->deadline_us < full_us;
    if (!has_deadline)
        hub->deadline_us = TACIT_NEVER;
    else if (!stands)
        hub->deadline_us = full_us;
}

enum tacit_status tacit_elim_hub_step(struct tacit_elim_hub *hub,
                                      const struct tacit_elim_event *event,
                                      const struct tacit_entropy *entropy,
                                      struct tacit_elim_update *update)
{
    TACIT_ASSERT(event->kind == TACIT_ELIM_START || event->now_us >= hub->now_us);
    TACIT_ASSERT(hub->active_count >= 1);
    *update = (struct tacit_elim_update){.deadline_us = TACIT_NEVER};
    uint32_t const epoch_before = hub->epoch;
    enum tacit_status status = TACIT_OK;
    switch (event->kind) {
    case TACIT_ELIM_START:
        status = on_start(hub, entropy, update);
        break;
    case TACIT_ELIM_RECEIVE:
        status = on_receive(hub, event->as.message, entropy, update);
        break;
    case TACIT_ELIM_TIMEOUT:
        status = on_timeout(hub, event->now_us, entropy, update);
        break;
    case TACIT_ELIM_REWARD:
    case TACIT_ELIM_EXPLOITED:
        status = TACIT_INVALID; /* a hub has no arms to pull */
        break;
    }
    if (status == TACIT_OK) {
        hub->now_us = event->now_us;
        bool const is_new_round = hub->epoch != epoch_before;
        if (is_new_round || event->kind == TACIT_ELIM_START)
            set_deadline(hub, is_new_round);
    }
    update->deadline_us = hub->deadline_us;
    TACIT_IMPLIES(hub->phase == PHASE_COLLECTING, hub->missing_count > 0);
    return status;
}

static bool is_empty(const uint64_t *set, uint32_t count)
{
    return tacit_bits_next(set, count, 0) == count;
}

/* Only arms that exist, and an arm is out since an epoch or in. */
static bool arms_are_possible(struct tacit_elim_hub *hub)
{
    uint32_t const arms = hub->config.schedule.arm_count;
    uint64_t const *const active = active_of(hub);
    if (!tacit_bits_within(active, active, arms) || !tacit_bits_within(final_of(hub), active, arms))
        return false;
    for (uint32_t arm = 0; arm < arms; arm++)
        if (eliminated_of(hub)[arm] > hub->epoch ||
            (eliminated_of(hub)[arm] == 0) != tacit_bits_has(active, arm))
            return false;
    return hub->active_count >= 1 && hub->active_count == tacit_bits_count(active, arms);
}

/* The report of this epoch is here from those who were asked and were counted, and from nobody
 * else. */
static bool reports_are_possible(struct tacit_elim_hub *hub)
{
    uint32_t const agents = hub->config.agent_count;
    uint64_t const *const received = received_of(hub);
    if (!tacit_bits_within(uploaders_of(hub), uploaders_of(hub), agents) ||
        !tacit_bits_within(received, uploaders_of(hub), agents) ||
        !is_empty(next_uploaders_of(hub), agents))
        return false;
    for (uint32_t agent = 0; agent < agents; agent++) {
        if (seen_of(hub)[agent] > hub->epoch ||
            (hub->epoch > 0 && seen_of(hub)[agent] == hub->epoch) !=
                tacit_bits_has(received, agent))
            return false;
        if (!tacit_bits_has(received, agent))
            continue;
        for (uint32_t i = 0; i < hub->active_count; i++)
            if (!tacit_mechanism_plausible(&hub->config.mechanism, row_of(hub, agent)[i],
                                           hub->pulls, hub->epoch))
                return false;
    }
    return true;
}

static bool phase_is_possible(struct tacit_elim_hub *hub)
{
    uint32_t const reports = hub->config.schedule.report_count;
    uint32_t const agents = hub->config.agent_count;
    uint32_t const final_count = tacit_bits_count(final_of(hub), hub->config.schedule.arm_count);
    uint32_t const asked_count = tacit_bits_count(uploaders_of(hub), agents);
    uint32_t const received_count = tacit_bits_count(received_of(hub), agents);
    switch (hub->phase) {
    case PHASE_NEW:
        return hub->epoch == 0 && hub->pulls == 0 && hub->missing_count == 0 && !hub->overdue &&
               asked_count == 0 && final_count == 0;
    case PHASE_COLLECTING:
        return hub->epoch >= 1 && hub->epoch < TACIT_ELIM_EPOCHS_MAX && hub->pulls >= 1 &&
               hub->active_count >= 2 && asked_count == reports && final_count == 0 &&
               hub->missing_count <= reports && received_count == hub_reports(hub) &&
               !is_complete_with(hub, 0);
    case PHASE_FINISHED:
        return hub->epoch >= 1 && hub->epoch <= TACIT_ELIM_EPOCHS_MAX && hub->missing_count == 0 &&
               !hub->overdue && asked_count == 0 && final_count == 1;
    }
    return false;
}

enum tacit_status tacit_elim_hub_check(const struct tacit_elim_hub *state, size_t size,
                                       const struct tacit_elim_hub_config *config)
{
    struct tacit_elim_hub *const hub = (struct tacit_elim_hub *)(uintptr_t)state;
    if (size == 0 || size != tacit_elim_hub_size(config) || !same_config(&hub->config, config))
        return TACIT_MALFORMED;
    bool const is_possible = *(const unsigned char *)&hub->overdue <= 1 && /* any byte, on a disk */
                             hub->pulls <= TACIT_HORIZON_MAX && hub->round_count <= hub->epoch &&
                             arms_are_possible(hub) && phase_is_possible(hub) &&
                             reports_are_possible(hub);
    return is_possible ? TACIT_OK : TACIT_MALFORMED;
}

void tacit_elim_hub_look(const struct tacit_elim_hub *state, struct tacit_elim_hub_view *view)
{
    struct tacit_elim_hub *const hub = (struct tacit_elim_hub *)(uintptr_t)state;
    *view = (struct tacit_elim_hub_view){.epoch = hub->epoch,
                                         .finished = hub->phase == PHASE_FINISHED,
                                         .arms = active_of(hub),
                                         .active_count = hub->active_count,
                                         .round_count = hub->round_count,
                                         .reports_missing = hub->missing_count,
                                         .report_count =
                                             hub->phase == PHASE_COLLECTING ? hub_reports(hub) : 0,
                                         .overdue = hub->overdue,
                                         .uploaders = uploaders_of(hub),
                                         .received = received_of(hub),
                                         .seen = seen_of(hub),
                                         .pulls = hub->pulls,
                                         .radius = hub->radius,
                                         .means = means_of(hub),
                                         .eliminated = eliminated_of(hub)};
}
