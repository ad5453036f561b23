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
    memcpy(copy->domain, config->domain, sizeof copy->domain);
    copy->change_max = config->change_max;
}

static bool same_config(struct tacit_elim_hub *hub, const struct tacit_elim_hub_config *config)
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

/* ---- Who counts ---- */

static bool is_retired(struct tacit_elim_hub *hub, uint32_t arm)
{
    return hub->config.change_max > 0 && tacit_bits_has(retired_of(hub), arm);
}

/* Agents that suffice once the deadline is over. */
static uint32_t quorum_of(struct tacit_elim_hub *hub)
{
    uint32_t const wanted = hub->quorum > 0 ? hub->quorum : hub->config.schedule.report_count;
    if (hub->config.change_max == 0)
        return wanted;
    uint32_t const most = eligible_count(hub);
    return wanted < most ? wanted : most > 0 ? most : 1;
}

/* After the arms or the sites became fewer: who abstains, and N of the paper's S(r). With exact
 * bounds the ladder stays. */
static void take_stock(struct tacit_elim_hub *hub)
{
    TACIT_ASSERT(hub->config.change_max > 0);
    uint32_t const arms = hub->config.schedule.arm_count;
    for (uint32_t agent = 0; agent < hub->config.agent_count; agent++) {
        bool abstains = false;
        for (uint32_t arm = tacit_bits_next(refused_of(hub, agent), arms, 0); arm < arms;
             arm = tacit_bits_next(refused_of(hub, agent), arms, arm + 1))
            abstains = abstains || (tacit_bits_has(active_of(hub), arm) && !is_retired(hub, arm));
        if (abstains)
            tacit_bits_add(abstaining_of(hub), agent);
        else
            tacit_bits_remove(abstaining_of(hub), agent);
    }
    uint32_t const most = hub->config.schedule.report_count;
    uint32_t const count = eligible_count(hub);
    if (!elim_is_exact(&hub->config.schedule))
        hub->schedule.report_count = count == 0 ? 1 : count < most ? count : most;
}

/* ---- Orders ---- */

/* Is there nothing to choose, and nothing to say about who reports? Sinks know that they are. */
static bool everybody_reports(const struct tacit_elim_hub *hub)
{
    return hub->weighted || hub->config.schedule.report_count == hub->config.agent_count;
}

/* Need the order not say who reports? */
static bool all_are_asked(struct tacit_elim_hub *hub)
{
    return everybody_reports(hub) &&
           (hub->config.change_max == 0 || eligible_count(hub) == hub->config.agent_count);
}

static void send_order(struct tacit_elim_hub *hub, uint32_t to, struct tacit_elim_update *update)
{
    TACIT_ASSERT(to == TACIT_EVERYONE || to < hub->config.agent_count);
    TACIT_ASSERT(hub->phase != PHASE_NEW);
    TACIT_ASSERT(!update->send);
    struct elim_judge_parts const judge = judge_of(hub);
    update->send = true;
    update->message = elim_judge_order(&judge);
    update->message.to = to;
    update->message.run_id = hub->config.run_id;
    update->message.term = hub->term;
    update->message.seen = to == TACIT_EVERYONE ? 0 : seen_of(hub)[to];
    update->message.uploaders =
        hub->judge.finished || all_are_asked(hub) ? NULL : uploaders_of(hub);
    update->message.change_count = hub->change_count;
    update->message.changes = hub->change_count > 0 ? changes_of(hub) : NULL;
}

/* ---- Aggregation ---- */

/* The same with exact bounds: the integers are added up as they are. */
static void add_up(struct tacit_elim_hub *hub)
{
    struct elim_judge_parts const judge = judge_of(hub);
    uint32_t const arms = hub->config.schedule.arm_count;
    uint32_t const agents = hub->config.agent_count;
    int64_t *const totals = elim_judge_totals(&judge);
    memset(totals, 0, arms * sizeof *totals);
    for (uint32_t agent = tacit_bits_next(received_of(hub), agents, 0); agent < agents;
         agent = tacit_bits_next(received_of(hub), agents, agent + 1)) {
        union tacit_sum const *sum = row_of(hub, agent);
        for (uint32_t arm = tacit_bits_next(active_of(hub), arms, 0); arm < arms;
             arm = tacit_bits_next(active_of(hub), arms, arm + 1), sum++)
            totals[arm] += is_retired(hub, arm) ? 0 : sum->steps;
    }
}

/* l. 12, over the agents that reported (READINGS P1.8, P1.10). A sink's report is the sum over its
 * component: divided by S(r) alone it weighs as many agents as are in it (P1.16). */
static void aggregate(struct tacit_elim_hub *hub)
{
    TACIT_ASSERT(hub->judge.pulls > 0);
    TACIT_ASSERT(hub->covered_count > 0);
    TACIT_ASSERT(hub->covered_count <= hub->config.agent_count);
    uint32_t const arms = hub->config.schedule.arm_count;
    uint32_t const agents = hub->config.agent_count;
    struct tacit_scale const *const scale = &hub->config.mechanism.scale;
    bool const alike = hub->config.components_alike;
    for (uint32_t arm = tacit_bits_next(active_of(hub), arms, 0); arm < arms;
         arm = tacit_bits_next(active_of(hub), arms, arm + 1))
        if (!is_retired(hub, arm))
            means_of(hub)[arm] = 0;
    for (uint32_t agent = tacit_bits_next(received_of(hub), agents, 0); agent < agents;
         agent = tacit_bits_next(received_of(hub), agents, agent + 1)) {
        union tacit_sum const *sum = row_of(hub, agent);
        uint64_t const pulls = hub->judge.pulls * (alike ? covered_of(hub)[agent] : 1);
        for (uint32_t arm = tacit_bits_next(active_of(hub), arms, 0); arm < arms;
             arm = tacit_bits_next(active_of(hub), arms, arm + 1), sum++)
            if (!is_retired(hub, arm))
                means_of(hub)[arm] += tacit_sum_mean(scale, *sum, pulls);
    }
    double const parts = alike ? tacit_bits_count(received_of(hub), agents) : hub->covered_count;
    for (uint32_t arm = tacit_bits_next(active_of(hub), arms, 0); arm < arms;
         arm = tacit_bits_next(active_of(hub), arms, arm + 1))
        if (!is_retired(hub, arm))
            means_of(hub)[arm] /= parts;
}

/* ---- Epochs ---- */

/* Asks for the reports of the epoch that the judge has come to, or for nothing more. */
static void await_reports(struct tacit_elim_hub *hub)
{
    uint32_t const agents = hub->config.agent_count;
    size_t const set_bytes = TACIT_BITS_WORDS(agents) * sizeof(uint64_t);
    memcpy(uploaders_of(hub), next_uploaders_of(hub), set_bytes);
    memset(next_uploaders_of(hub), 0, set_bytes); /* scratch stays clean */
    memset(received_of(hub), 0, set_bytes);
    if (hub->judge.finished)
        memset(uploaders_of(hub), 0, set_bytes); /* nobody is asked any more */
    hub->missing_count = tacit_bits_count(uploaders_of(hub), agents);
    hub->covered_count = 0;
    hub->overdue = false;
    TACIT_ASSERT(hub->judge.finished == (hub->missing_count == 0));
    hub->phase = hub->judge.finished ? PHASE_FINISHED : PHASE_COLLECTING;
}

/* From ranks among those that can report to their numbers; from the top, so that none is met twice.
 */
static void spread_ranks(struct tacit_elim_hub *hub, uint32_t count)
{
    uint64_t *const set = next_uploaders_of(hub);
    uint32_t rank = count;
    for (uint32_t agent = hub->config.agent_count; agent-- > 0;) {
        if (is_excused(hub, agent))
            continue;
        bool const is_drawn = tacit_bits_has(set, --rank);
        tacit_bits_remove(set, rank);
        if (is_drawn)
            tacit_bits_add(set, agent);
    }
    TACIT_ASSERT(rank == 0);
}

/* Sec. IV-B: N agents afresh each round. Drawn before anything else changes, so that an entropy
 * source that fails leaves the hub as it was. */
static enum tacit_status draw_uploaders(struct tacit_elim_hub *hub,
                                        const struct tacit_entropy *entropy)
{
    TACIT_ASSERT(tacit_bits_next(next_uploaders_of(hub), hub->config.agent_count, 0) ==
                 hub->config.agent_count);
    uint32_t const wanted = hub->config.schedule.report_count;
    uint32_t const eligible = eligible_count(hub);
    if (everybody_reports(hub) || eligible <= wanted) { /* who can; where nobody can, all wait */
        for (uint32_t agent = 0; agent < hub->config.agent_count; agent++)
            if (weights_of(hub)[agent] > 0 &&
                (!is_excused(hub, agent) || (eligible == 0 && !is_dropped(hub, agent))))
                tacit_bits_add(next_uploaders_of(hub), agent);
        return TACIT_OK;
    }
    enum tacit_status const status =
        tacit_entropy_subset(entropy, wanted, eligible, next_uploaders_of(hub));
    if (status == TACIT_OK && eligible < hub->config.agent_count)
        spread_ranks(hub, eligible);
    if (status != TACIT_OK)
        memset(next_uploaders_of(hub), 0,
               TACIT_BITS_WORDS(hub->config.agent_count) * sizeof(uint64_t));
    return status;
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
    if (elim_is_exact(&hub->config.schedule))
        hub->judge.anew_after = hub->judge.round_count;
    if (hub->config.has_grants) {
        memset(heads_of(hub), 0, agents * sizeof *heads_of(hub));
        memset(flagged_of(hub), 0, set_bytes);
    }
}

static enum tacit_status on_start(struct tacit_elim_hub *hub, uint64_t term,
                                  const struct tacit_entropy *entropy,
                                  struct tacit_elim_update *update)
{
    if (term > hub->term)
        begin_term(hub, term, update);
    if (hub->phase == PHASE_NEW) {
        enum tacit_status const status = draw_uploaders(hub, entropy);
        if (status != TACIT_OK)
            return status;
        struct elim_judge_parts const judge = judge_of(hub);
        elim_judge_begin_epoch(&judge);
        await_reports(hub);
        update->persist = true;
    }
    if (hub->config.schedule.arm_count > 1) /* one arm: nothing to say (PRIVACY.md D.48) */
        send_order(hub, TACIT_EVERYONE, update);
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

/* Releases whose noise is in the sums of so many agents. */
static uint32_t releases_in(uint32_t epoch, uint32_t agents)
{
    TACIT_ASSERT(agents > 0);
    uint64_t const releases = (uint64_t)epoch * agents;
    return releases < UINT32_MAX ? (uint32_t)releases : UINT32_MAX;
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

/* Would the round be complete with one more report, of so many agents? With none (0, 0)? */
static bool is_complete_with(struct tacit_elim_hub *hub, uint32_t reports, uint32_t agents)
{
    return hub->missing_count <= reports ||
           (hub->overdue && hub->covered_count + agents >= quorum_of(hub));
}

/* l. 12-16, once the reports of the round are in. */
static void close_round(struct tacit_elim_hub *hub, struct tacit_elim_update *update)
{
    TACIT_ASSERT(hub->phase == PHASE_COLLECTING);
    struct elim_judge_parts const judge = judge_of(hub);
    if (elim_is_exact(&hub->config.schedule))
        add_up(hub);
    else
        aggregate(hub);
    elim_judge_close_round(&judge, hub->covered_count);
    if (hub->config.change_max > 0)
        take_stock(hub);
    await_reports(hub);
    send_order(hub, TACIT_EVERYONE, update);
    update->persist = true;
}

static enum tacit_status accept_report(struct tacit_elim_hub *hub,
                                       const struct tacit_elim_message *report,
                                       const struct tacit_entropy *entropy,
                                       struct tacit_elim_update *update)
{
    TACIT_ASSERT(!tacit_bits_has(received_of(hub), report->from));
    TACIT_ASSERT(hub->missing_count > 0);
    TACIT_ASSERT(hub->covered_count + agents_in(report) <= hub->config.agent_count);
    bool const completes = is_complete_with(hub, 1, agents_in(report));
    if (completes) {
        enum tacit_status const status = draw_uploaders(hub, entropy);
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
        close_round(hub, update);
    else if (hub->config.answers_all)
        send_order(hub, report->from, update);
    return TACIT_OK;
}

/* ---- Sites that are left out ---- */

/* Is not asked any more in this round, unless its report is here. */
static void excuse(struct tacit_elim_hub *hub, uint32_t agent)
{
    if (!tacit_bits_has(uploaders_of(hub), agent) || tacit_bits_has(received_of(hub), agent))
        return;
    tacit_bits_remove(uploaders_of(hub), agent);
    hub->missing_count--;
}

/* With next_uploaders in place: goes on where the round has no report to wait for any more. Result:
 * is there another round, or are others asked? */
static bool settle(struct tacit_elim_hub *hub, struct tacit_elim_update *update)
{
    uint32_t const agents = hub->config.agent_count;
    size_t const set_bytes = TACIT_BITS_WORDS(agents) * sizeof(uint64_t);
    TACIT_ASSERT(hub->phase == PHASE_COLLECTING);
    if (hub->covered_count > 0 && is_complete_with(hub, 0, 0)) {
        close_round(hub, update);
        return true;
    }
    bool const asks_others = hub->missing_count == 0; /* all who were asked are left out */
    if (asks_others) {
        memcpy(uploaders_of(hub), next_uploaders_of(hub), set_bytes);
        hub->missing_count = tacit_bits_count(uploaders_of(hub), agents);
    }
    memset(next_uploaders_of(hub), 0, set_bytes);
    return asks_others;
}

/* Who abstains now, and who would report in another round. Errors: TACIT_ENTROPY; the stock is
 * taken. */
static enum tacit_status take_stock_and_draw(struct tacit_elim_hub *hub,
                                             const struct tacit_entropy *entropy)
{
    take_stock(hub);
    return hub->phase == PHASE_COLLECTING ? draw_uploaders(hub, entropy) : TACIT_OK;
}

/* What a site says that it does not play. Nothing of it is used that was noised after it said so; a
 * round that waits for it goes on without it. Errors: TACIT_ENTROPY, nothing changed. */
static enum tacit_status note_refused(struct tacit_elim_hub *hub,
                                      const struct tacit_elim_message *message,
                                      const struct tacit_entropy *entropy,
                                      struct tacit_elim_update *update)
{
    uint64_t before[TACIT_BITS_WORDS(TACIT_ARMS_MAX)];
    size_t const words = TACIT_BITS_WORDS(hub->config.schedule.arm_count);
    TACIT_ASSERT(message->from < hub->config.agent_count);
    if (message->refused == NULL || hub->config.change_max == 0)
        return TACIT_OK;
    uint64_t *const known = refused_of(hub, message->from);
    if (tacit_bits_within(message->refused, known, hub->config.schedule.arm_count))
        return TACIT_OK;
    memcpy(before, known, words * sizeof *before);
    for (size_t i = 0; i < words; i++)
        known[i] |= message->refused[i];
    enum tacit_status const status = take_stock_and_draw(hub, entropy);
    if (status != TACIT_OK) {
        memcpy(known, before, words * sizeof *before);
        take_stock(hub);
        return status;
    }
    update->persist = true;
    if (hub->phase != PHASE_COLLECTING)
        return TACIT_OK;
    if (tacit_bits_has(abstaining_of(hub), message->from))
        excuse(hub, message->from);
    if (settle(hub, update) && !update->send)
        send_order(hub, TACIT_EVERYONE, update);
    return TACIT_OK;
}

/* ---- Changes ---- */

/* The entry that said so before. 0: none. */
static uint32_t find_change(struct tacit_elim_hub *hub, enum tacit_elim_change_kind kind,
                            uint32_t subject)
{
    for (uint32_t i = 0; i < hub->change_count; i++)
        if (changes_of(hub)[i].kind == kind && changes_of(hub)[i].subject == subject)
            return i + 1;
    return 0;
}

static void add_change(struct tacit_elim_hub *hub, const struct tacit_elim_change *wanted,
                       struct tacit_elim_update *update, uint32_t *number)
{
    TACIT_ASSERT(hub->change_count < hub->config.change_max);
    *number = hub->change_count + 1;
    changes_of(hub)[hub->change_count] =
        (struct tacit_elim_change){.kind = wanted->kind,
                                   .epoch = hub->judge.epoch,
                                   .subject = wanted->subject,
                                   .number = *number,
                                   .value = wanted->value,
                                   .made_unix_s = wanted->made_unix_s};
    hub->change_count++;
    update->persist = true;
}

/* No round follows. */
static void end_run(struct tacit_elim_hub *hub)
{
    struct elim_judge_parts const judge = judge_of(hub);
    elim_judge_retire(&judge);
    elim_judge_end(&judge);
    await_reports(hub);
}

/* Sites that were not dropped. */
static uint32_t site_count(struct tacit_elim_hub *hub)
{
    return hub->config.agent_count - tacit_bits_count(dropped_of(hub), hub->config.agent_count);
}

/* Arms that are in, and stay. */
static uint32_t arms_left(struct tacit_elim_hub *hub)
{
    uint32_t count = 0;
    for (uint32_t arm = 0; arm < hub->config.schedule.arm_count; arm++)
        count += tacit_bits_has(active_of(hub), arm) && !is_retired(hub, arm) ? 1 : 0;
    return count;
}

/* Sites or arms became fewer; `set` and `member` are what was added, to be taken back where no
 * participants can be drawn. */
static enum tacit_status leave_out(struct tacit_elim_hub *hub, uint64_t *set, uint32_t member,
                                   const struct tacit_entropy *entropy)
{
    tacit_bits_add(set, member);
    enum tacit_status const status = take_stock_and_draw(hub, entropy);
    if (status != TACIT_OK) {
        tacit_bits_remove(set, member);
        take_stock(hub);
    }
    return status;
}

static enum tacit_status drop_site(struct tacit_elim_hub *hub,
                                   const struct tacit_elim_change *wanted,
                                   const struct tacit_entropy *entropy,
                                   struct tacit_elim_update *update, uint32_t *number)
{
    uint32_t const site = wanted->subject;
    if (site >= hub->config.agent_count || wanted->value != 0)
        return TACIT_INVALID;
    *number = find_change(hub, TACIT_ELIM_DROP_SITE, site);
    if (*number > 0)
        return TACIT_OK;
    if (site_count(hub) == 1)
        return TACIT_INVALID;
    enum tacit_status const status = leave_out(hub, dropped_of(hub), site, entropy);
    if (status != TACIT_OK)
        return status;
    add_change(hub, wanted, update, number);
    excuse(hub, site);
    (void)settle(hub, update);
    return TACIT_OK;
}

static enum tacit_status retire_arm(struct tacit_elim_hub *hub,
                                    const struct tacit_elim_change *wanted,
                                    const struct tacit_entropy *entropy,
                                    struct tacit_elim_update *update, uint32_t *number)
{
    uint32_t const arm = wanted->subject;
    if (arm >= hub->config.schedule.arm_count || wanted->value != 0)
        return TACIT_INVALID;
    *number = find_change(hub, TACIT_ELIM_RETIRE_ARM, arm);
    if (*number > 0 || !tacit_bits_has(active_of(hub), arm))
        return TACIT_OK; /* it is out */
    if (arms_left(hub) == 1)
        return TACIT_INVALID;
    enum tacit_status const status = leave_out(hub, retired_of(hub), arm, entropy);
    if (status != TACIT_OK)
        return status;
    add_change(hub, wanted, update, number);
    (void)settle(hub, update);
    if (hub->phase == PHASE_COLLECTING && arms_left(hub) == 1)
        end_run(hub); /* there is nothing to find out any more */
    return TACIT_OK;
}

static enum tacit_status set_patience(struct tacit_elim_hub *hub,
                                      const struct tacit_elim_change *wanted,
                                      const struct tacit_entropy *entropy,
                                      struct tacit_elim_update *update, uint32_t *number)
{
    uint32_t const quorum = hub->quorum;
    if (wanted->subject > hub->config.schedule.report_count ||
        wanted->value > TACIT_ELIM_PAUSE_US_MAX)
        return TACIT_INVALID;
    *number = 0;
    if (wanted->subject == quorum && wanted->value == hub->timeout_us)
        return TACIT_OK;
    hub->quorum = wanted->subject;
    enum tacit_status const status = take_stock_and_draw(hub, entropy);
    if (status != TACIT_OK) {
        hub->quorum = quorum;
        return status;
    }
    hub->timeout_us = wanted->value;
    add_change(hub, wanted, update, number);
    (void)settle(hub, update);
    return TACIT_OK;
}

static enum tacit_status extend_horizon(struct tacit_elim_hub *hub,
                                        const struct tacit_elim_change *wanted,
                                        struct tacit_elim_update *update, uint32_t *number)
{
    *number = 0;
    if (wanted->value == hub->horizon)
        return TACIT_OK;
    if (wanted->subject != 0 || wanted->value < hub->horizon || wanted->value > TACIT_HORIZON_MAX)
        return TACIT_INVALID;
    hub->horizon = wanted->value;
    add_change(hub, wanted, update, number);
    return TACIT_OK;
}

static enum tacit_status end_now(struct tacit_elim_hub *hub, const struct tacit_elim_change *wanted,
                                 struct tacit_elim_update *update, uint32_t *number)
{
    if (wanted->subject != 0 || wanted->value != 0 || hub->judge.round_count == 0)
        return TACIT_INVALID;
    add_change(hub, wanted, update, number);
    end_run(hub);
    return TACIT_OK;
}

static enum tacit_status change(struct tacit_elim_hub *hub, const struct tacit_elim_change *wanted,
                                const struct tacit_entropy *entropy,
                                struct tacit_elim_update *update, uint32_t *number)
{
    if (hub->config.change_max == 0)
        return TACIT_REFUSED;
    if (hub->phase == PHASE_FINISHED) { /* what was said before was said */
        *number =
            wanted->kind == TACIT_ELIM_SET_PATIENCE || wanted->kind == TACIT_ELIM_EXTEND_HORIZON
                ? 0
                : find_change(hub, (enum tacit_elim_change_kind)wanted->kind, wanted->subject);
        return *number > 0 ? TACIT_OK : TACIT_UNEXPECTED;
    }
    if (hub->phase == PHASE_NEW)
        return TACIT_UNEXPECTED;
    if (hub->change_count == hub->config.change_max)
        return TACIT_REFUSED;
    switch (wanted->kind) {
    case TACIT_ELIM_DROP_SITE:
        return drop_site(hub, wanted, entropy, update, number);
    case TACIT_ELIM_SET_PATIENCE:
        return set_patience(hub, wanted, entropy, update, number);
    case TACIT_ELIM_END_RUN:
        return end_now(hub, wanted, update, number);
    case TACIT_ELIM_EXTEND_HORIZON:
        return extend_horizon(hub, wanted, update, number);
    case TACIT_ELIM_RETIRE_ARM:
        return retire_arm(hub, wanted, entropy, update, number);
    default: /* an operator's program may say anything */
        return TACIT_INVALID;
    }
}

/* ---- Grants ---- */

static enum tacit_status flag(struct tacit_elim_hub *hub, uint32_t agent,
                              struct tacit_elim_update *update)
{
    TACIT_ASSERT(hub->config.has_grants);
    TACIT_ASSERT(agent < hub->config.agent_count);
    update->persist = update->persist || !tacit_bits_has(flagged_of(hub), agent);
    tacit_bits_add(flagged_of(hub), agent);
    return TACIT_FORKED;
}

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
    memcpy(hub->answer.commitment, heads_of(hub)[commit->from].head, sizeof hub->answer.commitment);
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

/* In a later term the hub has forgotten what it granted before. The first grant that a site shows
 * is taken for its head: nothing of before is drawn again, so a false one only harms its own. */
static bool lacks_head(struct tacit_elim_hub *hub, uint32_t agent)
{
    static const uint8_t nothing[TACIT_SHA256_BYTES];
    return hub->term > 0 && memcmp(heads_of(hub)[agent].head, nothing, sizeof nothing) == 0;
}

static void take_first_head(struct tacit_elim_hub *hub, uint32_t agent, const uint8_t *shown)
{
    if (lacks_head(hub, agent))
        memcpy(heads_of(hub)[agent].head, shown, TACIT_SHA256_BYTES);
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
    enum tacit_status const status = note_refused(hub, commit, entropy, update);
    if (status != TACIT_OK || update->send)
        return status; /* it asks again */
    take_first_head(hub, commit->from, commit->commit->previous);
    switch (tacit_commit_ask(&heads_of(hub)[commit->from], commit->commit->commitment,
                             commit->commit->previous)) {
    case TACIT_COMMIT_GRANTED:
        update->persist = true;
        send_head(hub, TACIT_ELIM_GRANT, commit, update);
        return TACIT_OK;
    case TACIT_COMMIT_AGAIN:
        send_head(hub, TACIT_ELIM_GRANT, commit, update);
        return TACIT_OK;
    case TACIT_COMMIT_LATE: /* repeated on its way; or a copy asks, and is to hear of the other */
        send_head(hub, TACIT_ELIM_REFUSAL, commit, update);
        return TACIT_OK;
    case TACIT_COMMIT_REFUSED:
        send_head(hub, TACIT_ELIM_REFUSAL, commit, update);
        return flag(hub, commit->from, update);
    }
    return TACIT_MALFORMED;
}

/* A total of several agents opens nothing: that would take the sink's own sums, which are not for
 * this hub. It names the sink's grant, so that it comes from the state that was granted. */
static bool names_head(struct tacit_elim_hub *hub, const struct tacit_elim_message *report)
{
    TACIT_ASSERT(report->from < hub->config.agent_count);
    static const uint8_t nothing[TACIT_SHA256_BYTES];
    uint8_t const *const head = heads_of(hub)[report->from].head;
    return report->commit != NULL && memcmp(head, nothing, sizeof nothing) != 0 &&
           memcmp(report->commit->commitment, head, sizeof nothing) == 0;
}

/* Is it what was granted? */
static bool opens_head(struct tacit_elim_hub *hub, const struct tacit_elim_message *report)
{
    if (agents_in(report) > 1)
        return names_head(hub, report);
    struct tacit_commit_scope const scope = {.domain = hub->config.domain,
                                             .run_id = hub->config.run_id,
                                             .site = report->from,
                                             .epoch = report->epoch};
    uint8_t digest[TACIT_SHA256_BYTES];
    if (report->commit == NULL)
        return false;
    elim_release_digest(report->pulls, report->arms, hub->config.schedule.arm_count, report->sums,
                        report->sum_count, digest);
    if (lacks_head(hub, report->from)) { /* granted in a term before: it shows so by opening it */
        uint8_t shown[TACIT_SHA256_BYTES];
        tacit_commit_hash(&scope, report->commit, digest, sizeof digest, shown);
        take_first_head(hub, report->from, shown);
    }
    return tacit_commit_opens(&heads_of(hub)[report->from], &scope, report->commit->previous,
                              report->commit->salt, digest, sizeof digest);
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
        send_order(hub, report->from, update);
        return TACIT_OK;
    }
    if (hub->config.change_max > 0 && hub->phase == PHASE_COLLECTING &&
        report->epoch == hub->judge.epoch && !is_counted(hub, report->from)) {
        send_order(hub, report->from, update); /* it is left out, and hears so */
        return TACIT_OK;
    }
    enum tacit_status const status = check_report(hub, report);
    if (status != TACIT_OK)
        return status;
    if (hub->config.has_grants && !opens_head(hub, report))
        return flag(hub, report->from, update);
    if (!tacit_bits_has(received_of(hub), report->from))
        return accept_report(hub, report, entropy, update);
    size_t const bytes = report->sum_count * sizeof(union tacit_sum);
    if (covered_of(hub)[report->from] != agents_in(report) ||
        memcmp(row_of(hub, report->from), report->sums, bytes) != 0)
        return TACIT_MALFORMED; /* two answers to one question */
    if (hub->config.answers_all)
        send_order(hub, report->from, update);
    return TACIT_OK;
}

/* Does it follow the present order, and show a head that was never granted here? What is held of it
 * is then its last grant, or the one before, whose successor is on its way; of an agent that is
 * behind a HELLO may be older than that. */
static bool shows_another_head(struct tacit_elim_hub *hub, const struct tacit_elim_message *hello)
{
    bool const is_read = hub->config.has_grants && weights_of(hub)[hello->from] > 0 &&
                         hello->commit != NULL && hello->epoch == hub->judge.epoch &&
                         !lacks_head(hub, hello->from);
    if (!is_read)
        return false;
    struct tacit_commit_head const *const head = &heads_of(hub)[hello->from];
    uint8_t const *const shown = hello->commit->commitment;
    return memcmp(shown, head->head, TACIT_SHA256_BYTES) != 0 &&
           memcmp(shown, head->before, TACIT_SHA256_BYTES) != 0;
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
    if (shows_another_head(hub, hello)) {
        send_head(hub, TACIT_ELIM_REFUSAL, hello, update);
        return flag(hub, hello->from, update);
    }
    enum tacit_status const status = note_refused(hub, hello, entropy, update);
    if (status != TACIT_OK || update->send)
        return status;
    if (hello->epoch < hub->judge.epoch || hub->config.answers_all)
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
    if (!is_complete_with(hub, 0, 0)) {
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
        hub->phase == PHASE_COLLECTING && !hub->overdue && hub->timeout_us > 0;
    uint64_t const full_us = hub->now_us + hub->timeout_us;
    bool const stands =
        !is_new_round && hub->deadline_us > hub->now_us && hub->deadline_us < full_us;
    if (!has_deadline)
        hub->deadline_us = TACIT_NEVER;
    else if (!stands)
        hub->deadline_us = full_us;
}

static void check_invariants(const struct tacit_elim_hub *hub)
{
    TACIT_ASSERT(hub->judge.active_count >= 1);
    TACIT_ASSERT(hub->judge.active_count <= hub->config.schedule.arm_count);
    TACIT_ASSERT(hub->covered_count <= hub->config.agent_count);
    TACIT_ASSERT(hub->missing_count <= hub->config.agent_count);
    TACIT_ASSERT((hub->phase == PHASE_COLLECTING) == (hub->missing_count > 0));
    TACIT_ASSERT((hub->phase == PHASE_FINISHED) == hub->judge.finished);
    TACIT_ASSERT((hub->phase == PHASE_NEW) == (hub->judge.epoch == 0));
    TACIT_IMPLIES(hub->overdue, hub->phase == PHASE_COLLECTING);
}

enum tacit_status tacit_elim_hub_step(struct tacit_elim_hub *hub,
                                      const struct tacit_elim_event *event,
                                      const struct tacit_entropy *entropy,
                                      struct tacit_elim_update *update)
{
    TACIT_ASSERT(event->kind == TACIT_EVENT_START || event->now_us >= hub->now_us);
    check_invariants(hub);
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
            set_deadline(hub, is_new_round);
    }
    update->deadline_us = hub->deadline_us;
    check_invariants(hub);
    TACIT_IMPLIES(status != TACIT_OK && status != TACIT_FORKED, !update->send);
    return status;
}

enum tacit_status tacit_elim_hub_change(struct tacit_elim_hub *hub,
                                        const struct tacit_elim_change *wanted, uint64_t now_us,
                                        const struct tacit_entropy *entropy,
                                        struct tacit_elim_update *update, uint32_t *number)
{
    TACIT_ASSERT(now_us >= hub->now_us);
    check_invariants(hub);
    *update = (struct tacit_elim_update){.deadline_us = TACIT_NEVER};
    *number = 0;
    uint32_t const epoch_before = hub->judge.epoch;
    enum tacit_status const status = change(hub, wanted, entropy, update, number);
    if (status == TACIT_OK && update->persist) {
        if (!update->send)
            send_order(hub, TACIT_EVERYONE, update);
        hub->now_us = now_us;
        if (hub->judge.epoch != epoch_before || wanted->kind == TACIT_ELIM_SET_PATIENCE)
            set_deadline(hub, true);
    }
    update->deadline_us = hub->deadline_us;
    check_invariants(hub);
    TACIT_IMPLIES(status != TACIT_OK, !update->send && !update->persist);
    return status;
}

/* Not even a bit beyond its end. */
static bool is_empty(const uint64_t *set, uint32_t count)
{
    return tacit_bits_within(set, set, count) && tacit_bits_next(set, count, 0) == count;
}

static bool row_is_possible(struct tacit_elim_hub *hub, uint32_t agent)
{
    uint32_t const covered = covered_of(hub)[agent];
    if (covered < 1 || covered > weights_of(hub)[agent])
        return false;
    for (uint32_t i = 0; i < hub->judge.active_count; i++)
        if (!tacit_mechanism_plausible(&hub->config.mechanism, row_of(hub, agent)[i],
                                       hub->judge.pulls * covered,
                                       releases_in(hub->judge.epoch, covered)))
            return false;
    return true;
}

/* The report of this epoch is here from those who were asked and were counted, and from nobody
 * else. */
static bool reports_are_possible(struct tacit_elim_hub *hub)
{
    uint32_t const agents = hub->config.agent_count;
    uint32_t const epoch = hub->judge.epoch;
    uint64_t const *const received = received_of(hub);
    uint32_t covered = 0;
    if (!tacit_bits_within(uploaders_of(hub), uploaders_of(hub), agents) ||
        !tacit_bits_within(received, uploaders_of(hub), agents) ||
        !is_empty(next_uploaders_of(hub), agents))
        return false;
    for (uint32_t agent = 0; agent < agents; agent++) {
        bool const is_here = tacit_bits_has(received, agent);
        if (seen_of(hub)[agent] > epoch || (epoch > 0 && seen_of(hub)[agent] == epoch) != is_here ||
            (!hub->weighted && weights_of(hub)[agent] != 1))
            return false;
        if (is_here && !row_is_possible(hub, agent))
            return false;
        covered += is_here ? covered_of(hub)[agent] : 0;
    }
    return covered == hub->covered_count;
}

/* Reports that are asked for in a round. */
static uint32_t asked_count(struct tacit_elim_hub *hub)
{
    uint32_t count = 0;
    if (!hub->weighted)
        return hub->config.schedule.report_count;
    for (uint32_t agent = 0; agent < hub->config.agent_count; agent++)
        count += weights_of(hub)[agent] > 0 ? 1 : 0;
    return count;
}

/* With sites that are left out there may be fewer; and all, where none of them can be counted. */
static bool is_asked_of(struct tacit_elim_hub *hub, uint32_t asked)
{
    bool const has_changes = hub->config.change_max > 0;
    uint32_t const wanted = asked_count(hub);
    return has_changes ? asked >= 1 && asked <= hub->config.agent_count : asked == wanted;
}

/* What the log says, and nothing else. */
static bool log_is_obeyed(struct tacit_elim_hub *hub)
{
    uint32_t const agents = hub->config.agent_count;
    uint32_t const arms = hub->config.schedule.arm_count;
    uint64_t horizon = hub->config.schedule.horizon;
    uint64_t timeout_us = hub->config.round_timeout_us;
    uint32_t quorum = hub->config.quorum;
    uint32_t retired = 0;
    uint32_t dropped = 0;
    for (uint32_t i = 0; i < hub->change_count; i++) {
        struct tacit_elim_change const *const one = &changes_of(hub)[i];
        if (!elim_change_is_possible(one, agents, arms) || one->number != i + 1 ||
            one->epoch > hub->judge.epoch)
            return false;
        if (one->kind == TACIT_ELIM_EXTEND_HORIZON)
            horizon = one->value;
        if (one->kind == TACIT_ELIM_SET_PATIENCE) {
            quorum = one->subject;
            timeout_us = one->value;
        }
        retired +=
            one->kind == TACIT_ELIM_RETIRE_ARM && tacit_bits_has(retired_of(hub), one->subject);
        dropped +=
            one->kind == TACIT_ELIM_DROP_SITE && tacit_bits_has(dropped_of(hub), one->subject);
    }
    return horizon == hub->horizon && timeout_us == hub->timeout_us && quorum == hub->quorum &&
           tacit_bits_within(retired_of(hub), retired_of(hub), arms) &&
           tacit_bits_within(dropped_of(hub), dropped_of(hub), agents) &&
           retired == tacit_bits_count(retired_of(hub), arms) &&
           dropped == tacit_bits_count(dropped_of(hub), agents);
}

/* What follows from the log, and from what sites said. */
static bool changes_are_possible(struct tacit_elim_hub *hub)
{
    struct tacit_elim_hub_config const *const config = &hub->config;
    struct tacit_elim_schedule schedule;
    uint32_t const agents = config->agent_count;
    uint32_t const reports = hub->schedule.report_count;
    memset(&schedule, 0, sizeof schedule);
    elim_schedule_copy(&schedule, &config->schedule);
    schedule.report_count = reports;
    if (memcmp(&schedule, &hub->schedule, sizeof schedule) != 0 || reports < 1 ||
        reports > config->schedule.report_count || hub->change_count > config->change_max)
        return false;
    if (config->change_max == 0)
        return reports == config->schedule.report_count &&
               hub->horizon == config->schedule.horizon && hub->quorum == config->quorum &&
               hub->timeout_us == config->round_timeout_us;
    for (uint32_t agent = 0; agent < agents; agent++)
        if (!tacit_bits_within(refused_of(hub, agent), refused_of(hub, agent),
                               config->schedule.arm_count))
            return false;
    return log_is_obeyed(hub) && tacit_bits_within(abstaining_of(hub), abstaining_of(hub), agents);
}

static bool phase_is_possible(struct tacit_elim_hub *hub)
{
    uint32_t const agents = hub->config.agent_count;
    uint32_t const asked = tacit_bits_count(uploaders_of(hub), agents);
    uint32_t const received = tacit_bits_count(received_of(hub), agents);
    switch (hub->phase) {
    case PHASE_NEW:
        return hub->judge.epoch == 0 && hub->missing_count == 0 && !hub->overdue && asked == 0;
    case PHASE_COLLECTING:
        return hub->judge.epoch >= 1 && !hub->judge.finished && is_asked_of(hub, asked) &&
               hub->missing_count <= asked && received == asked - hub->missing_count &&
               !is_complete_with(hub, 0, 0);
    case PHASE_FINISHED:
        return hub->judge.finished && hub->missing_count == 0 && !hub->overdue && asked == 0;
    }
    return false;
}

enum tacit_status tacit_elim_hub_check(const struct tacit_elim_hub *state, size_t size,
                                       const struct tacit_elim_hub_config *config)
{
    struct tacit_elim_hub *const hub = (struct tacit_elim_hub *)(uintptr_t)state;
    if (size == 0 || size != tacit_elim_hub_size(config) ||
        *(const unsigned char *)&hub->overdue > 1 ||
        *(const unsigned char *)&hub->weighted > 1 || /* any byte, on a disk */
        hub->judge_words != elim_judge_words(&config->schedule) || !same_config(hub, config))
        return TACIT_MALFORMED;
    if (!changes_are_possible(hub))
        return TACIT_MALFORMED;
    struct elim_judge_parts const judge = judge_of(hub);
    bool const has_flags = !config->has_grants ||
                           tacit_bits_within(flagged_of(hub), flagged_of(hub), config->agent_count);
    bool const is_possible = elim_judge_is_possible(&judge) && phase_is_possible(hub) &&
                             reports_are_possible(hub) && has_flags;
    return is_possible ? TACIT_OK : TACIT_MALFORMED;
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
        .flagged = hub->config.has_grants ? flagged_of(hub) : NULL,
        .term = hub->term,
        .quorum = quorum_of(hub),
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

struct tacit_elim_interval tacit_elim_hub_interval(const struct tacit_elim_hub *state, uint32_t arm,
                                                   double confidence)
{
    struct elim_judge_parts const judge = judge_of((struct tacit_elim_hub *)(uintptr_t)state);
    return elim_judge_interval(&judge, arm, confidence);
}
