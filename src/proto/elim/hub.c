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
           (!elim_is_exact(&config->schedule) || exact_is_valid(config)) &&
           (!config->has_helper || (elim_is_masked(&config->schedule) && config->has_grants &&
                                    config->weights == NULL && config->change_max == 0));
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

/* ---- Its part in a round (round/rounds.h) ---- */

static void begin(void *hub)
{
    struct elim_judge_parts const judge = judge_of(hub);
    elim_judge_begin_epoch(&judge);
}

/* The judge stands; with exact bounds later histories continue none of before. */
static void begin_term(void *state)
{
    struct tacit_elim_hub *const hub = state;
    if (elim_is_exact(&hub->config.schedule) && !hub->config.has_helper)
        hub->judge.anew_after = hub->judge.round_count;
}

/* Is its report neither asked for, nor here? Where nobody can report, those who refuse an arm are
 * waited for, and not counted either. */
static bool is_left_out(void *state, uint32_t agent)
{
    struct tacit_elim_hub *const hub = state;
    bool const is_counted = tacit_bits_has(received_of(hub), agent) ||
                            (tacit_bits_has(uploaders_of(hub), agent) && !is_excused(hub, agent));
    return hub->config.change_max > 0 && !is_counted;
}

/* Could so many agents have brought these together? What is masked may be anything. */
static bool sums_are_possible(const struct tacit_elim_hub *hub, const union tacit_sum *sums,
                              uint32_t agents)
{
    uint64_t const noises = (uint64_t)hub->judge.epoch * agents;
    uint32_t const releases = noises < UINT32_MAX ? (uint32_t)noises : UINT32_MAX;
    TACIT_ASSERT(agents > 0);
    for (uint32_t i = 0; i < hub->judge.active_count && !hub->config.has_helper; i++)
        if (!tacit_mechanism_plausible(&hub->config.mechanism, sums[i], hub->judge.pulls * agents,
                                       releases))
            return false;
    return true;
}

static bool row_is_possible(void *state, uint32_t agent)
{
    struct tacit_elim_hub *const hub = state;
    uint32_t const covered = covered_of(hub)[agent];
    return covered >= 1 && covered <= weights_of(hub)[agent] &&
           sums_are_possible(hub, row_of(hub, agent), covered);
}

/* Nothing of a report is used in part. */
static enum tacit_status check_report(void *state, const struct round_input *input)
{
    struct tacit_elim_hub *const hub = state;
    struct tacit_elim_message const *const report = input->message;
    uint32_t const arms = hub->config.schedule.arm_count;
    TACIT_ASSERT(report->epoch == hub->judge.epoch);
    if (!tacit_bits_has(uploaders_of(hub), report->from))
        return TACIT_UNEXPECTED;
    if (report->arms == NULL || report->sums == NULL ||
        report->sum_count != hub->judge.active_count || report->pulls != elim_hub_pulls(hub) ||
        input->sites > weights_of(hub)[report->from])
        return TACIT_MALFORMED;
    return memcmp(report->arms, active_of(hub), TACIT_BITS_WORDS(arms) * sizeof(uint64_t)) == 0 &&
                   sums_are_possible(hub, report->sums, input->sites)
               ? TACIT_OK
               : TACIT_MALFORMED;
}

static void digest_report(void *hub, const struct round_input *input,
                          uint8_t digest[TACIT_SHA256_BYTES])
{
    struct tacit_elim_message const *const report = input->message;
    TACIT_ASSERT(input->masked == NULL);
    elim_release_digest(report->pulls, report->arms,
                        ((struct tacit_elim_hub *)hub)->config.schedule.arm_count, report->sums,
                        report->sum_count, digest);
}

static struct round_input input_of(void *state, const void *said)
{
    struct tacit_elim_hub *const hub = state;
    struct tacit_elim_message const *const message = said;
    bool const is_site = message->from < hub->config.agent_count;
    return (struct round_input){.message_kind = elim_message_kind(message),
                                .head = &message->head,
                                .message = message,
                                .sites = message->agents == 0 ? 1 : message->agents,
                                .word_count = message->sum_count,
                                .words = (const uint64_t *)message->sums,
                                .masked = message->masked,
                                .is_held_elsewhere =
                                    is_site && weights_of(hub)[message->from] == 0};
}

const struct round_rule elim_hub_rule = {.round = round_of,
                                         .input = input_of,
                                         .quorum = elim_hub_quorum,
                                         .prepare = elim_hub_draw_uploaders,
                                         .begin = begin,
                                         .begin_term = begin_term,
                                         .note = elim_hub_note_refused,
                                         .is_left_out = is_left_out,
                                         .check = check_report,
                                         .is_possible = row_is_possible,
                                         .digest = digest_report,
                                         .close = elim_hub_judge};

/* ---- Messages ---- */

void elim_hub_fill_update(struct tacit_elim_hub *hub, const struct round_made *made,
                          struct tacit_elim_update *update)
{
    bool const is_grant = made->answer == ROUND_GRANT;
    struct round_hub const round = round_of(hub);
    *update = (struct tacit_elim_update){.core = round_update(&hub->desk, made)};
    if (!hub->config.has_helper)
        update->happened = 0;
    if (!update->send)
        return;
    update->message.kind = is_grant ? TACIT_ELIM_GRANT : TACIT_ELIM_REFUSAL;
    if (made->answer == ROUND_ORDER)
        update->message = elim_hub_order(hub);
    update->message.head = round_head(&round, made);
    if (is_grant && is_excused(hub, made->to))
        update->message.closed = true; /* nobody waits for its report */
}

/* ---- Public ---- */

enum tacit_status tacit_elim_hub_step(struct tacit_elim_hub *hub, const struct tacit_event *event,
                                      const struct tacit_entropy *entropy,
                                      struct tacit_elim_update *update)
{
    struct round_made made;
    elim_hub_check_invariants(hub);
    enum tacit_status const status = round_step(&elim_hub_rule, hub, event, entropy, &made);
    elim_hub_fill_update(hub, &made, update);
    elim_hub_check_invariants(hub);
    return status;
}

void tacit_elim_hub_close(struct tacit_elim_hub *hub, uint32_t agents, const int64_t *totals,
                          uint64_t now_us, struct tacit_elim_update *update)
{
    struct round_made made;
    elim_hub_check_invariants(hub);
    round_close(&elim_hub_rule, hub, agents, totals, now_us, &made);
    elim_hub_fill_update(hub, &made, update);
    elim_hub_check_invariants(hub);
}

void tacit_elim_hub_view(const struct tacit_elim_hub *state, struct tacit_elim_hub_view *view)
{
    struct tacit_elim_hub *const hub = (struct tacit_elim_hub *)(uintptr_t)state;
    struct round_hub const round = round_of(hub);
    struct elim_judge_parts const judge = judge_of(hub);
    *view = (struct tacit_elim_hub_view){
        .desk = round_hub_view(&round),
        .judge = elim_judge_view(&judge),
        .void_count = hub->config.has_helper ? elim_exact_void_count(&judge) : 0,
        .uploaders = uploaders_of(hub),
        .pulls = hub->judge.pulls,
        .new_pulls = hub->config.has_helper ? elim_hub_pulls(hub) : 0,
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
