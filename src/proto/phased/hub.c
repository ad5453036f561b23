/* The hub of the phased index over a star: orders plans, collects reports, has the judge make the
 * next plan. Its state is a function of the set of reports it accepted: rows are kept by agent
 * until the round closes and are whole numbers, so that the order of arrival cannot change a bit.
 */
#include <string.h>
#include "../round/rounds.h"
#include "internal.h"

struct tacit_phased_hub {
    struct tacit_phased_hub_config config;
    struct round_desk desk;
    uint64_t judge_words;
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

static int64_t *row_of(struct tacit_phased_hub *hub, uint32_t agent)
{
    TACIT_ASSERT(agent <= hub->config.schedule.agent_count);
    uint32_t const agents = hub->config.schedule.agent_count;
    uint64_t *const rows = received_of(hub) + round_seen_words(agents);
    return (int64_t *)rows + agent * (size_t)hub->config.schedule.arm_count;
}

static int64_t *totals_of(struct tacit_phased_hub *hub)
{
    return row_of(hub, hub->config.schedule.agent_count);
}

static struct tacit_phased_judge_view judge_view(const struct tacit_phased_hub *hub)
{
    struct tacit_phased_judge_view view;
    tacit_phased_judge_view(judge_of((struct tacit_phased_hub *)(uintptr_t)hub), &view);
    return view;
}

/* The number of the order that stands: the last one follows the last plan. */
static uint32_t order_round(const struct tacit_phased_judge_view *judge)
{
    TACIT_ASSERT(judge->round <= TACIT_PHASED_ROUNDS_MAX);
    return judge->finished ? judge->round + 1 : judge->round;
}

static struct round_hub round_of(void *state)
{
    struct tacit_phased_hub *const hub = state;
    struct tacit_phased_hub_config const *const config = &hub->config;
    uint32_t const agents = config->schedule.agent_count;
    struct tacit_phased_judge_view const judge = judge_view(hub);
    struct round_hub round = {.desk = &hub->desk,
                              .received = received_of(hub),
                              .seen = round_seen_at(received_of(hub), agents),
                              .rows = (uint64_t *)row_of(hub, 0),
                              .row_words = config->schedule.arm_count,
                              .domain = config->domain,
                              .run_id = config->run_id,
                              .site_count = agents,
                              .round = hub->desk.phase == ROUND_NEW ? 0 : order_round(&judge),
                              .round_max = TACIT_PHASED_ROUNDS_MAX,
                              .timeout_us = config->round_timeout_us,
                              .is_last = judge.finished,
                              .answers_all = config->answers_all,
                              .is_silent = config->schedule.arm_count == 1,
                              .has_helper = config->has_helper};
    if (config->has_grants)
        round.grantor = round_grantor_at((uint64_t *)totals_of(hub) + config->schedule.arm_count,
                                         agents, hub->desk.term > 0);
    return round;
}

static bool config_is_valid(const struct tacit_phased_hub_config *config)
{
    return tacit_phases_is_valid(&config->schedule) &&
           config->quorum <= config->schedule.agent_count &&
           config->round_timeout_us <= TACIT_PHASED_PAUSE_US_MAX &&
           config->mechanism.mode == TACIT_PRIVACY_SOUND &&
           config->mechanism.scale.kind == TACIT_SCALE_STEPS &&
           (!config->has_helper || config->has_grants);
}

/* All but the judge. */
static size_t own_size(const struct tacit_phased_hub_config *config)
{
    size_t const agents = config->schedule.agent_count;
    size_t const words = round_seen_words((uint32_t)agents) +
                         (agents + 1) * config->schedule.arm_count +
                         (config->has_grants ? round_grantor_words((uint32_t)agents) : 0);
    return sizeof(struct tacit_phased_hub) + words * sizeof(uint64_t);
}

size_t tacit_phased_hub_size(const struct tacit_phased_hub_config *config)
{
    size_t const judge = config_is_valid(config) ? tacit_phased_judge_size(&config->schedule) : 0;
    return judge > 0 ? own_size(config) + judge : 0;
}

static struct tacit_phased_hub_config canonical_config(const struct tacit_phased_hub_config *config)
{
    struct tacit_phased_hub_config kept = *config;
    TACIT_ASSERT(config_is_valid(config));
    kept.schedule = tacit_phases_canonical(&config->schedule);
    return kept;
}

enum tacit_status tacit_phased_hub_init(struct tacit_phased_hub *hub,
                                        const struct tacit_phased_hub_config *config)
{
    size_t const size = tacit_phased_hub_size(config);
    if (size == 0)
        return TACIT_INVALID;
    memset(hub, 0, size);
    hub->config = canonical_config(config);
    hub->judge_words = (size - own_size(config)) / sizeof(uint64_t);
    hub->desk.deadline_us = TACIT_NEVER;
    return tacit_phased_judge_init(judge_of(hub), &config->schedule);
}

/* ---- Its part in a round (round/rounds.h) ---- */

/* Reports that suffice once the deadline is over. */
static uint32_t quorum_of(void *state)
{
    struct tacit_phased_hub_config const *const config =
        &((struct tacit_phased_hub *)state)->config;
    return config->quorum > 0 ? config->quorum : config->schedule.agent_count;
}

/* Could so many pulls have brought these, each with one noise? What is masked may be anything. */
static bool sums_are_possible(const struct tacit_phased_hub *hub, const int64_t *sums)
{
    struct tacit_phased_judge_view const judge = judge_view(hub);
    for (uint32_t i = 0; i < judge.plan_count && !hub->config.has_helper; i++) {
        union tacit_sum const sum = {.steps = sums[i]};
        if (!tacit_mechanism_plausible(&hub->config.mechanism, sum, judge.plan[i].count, 1))
            return false;
    }
    return true;
}

static bool row_is_possible(void *hub, uint32_t site)
{
    TACIT_ASSERT(tacit_bits_has(received_of(hub), site));
    return sums_are_possible(hub, row_of(hub, site));
}

static enum tacit_status check_report(void *state, const struct round_input *input)
{
    struct tacit_phased_hub *const hub = state;
    struct tacit_phased_message const *const report = input->message;
    struct tacit_phased_judge_view const judge = judge_view(hub);
    TACIT_ASSERT(report->round == judge.round && !judge.finished);
    return report->sums != NULL && report->block_count == judge.plan_count &&
                   sums_are_possible(hub, report->sums)
               ? TACIT_OK
               : TACIT_MALFORMED;
}

static void digest_report(void *hub, const struct round_input *input,
                          uint8_t digest[TACIT_SHA256_BYTES])
{
    struct tacit_phased_message const *const report = input->message;
    TACIT_ASSERT(input->masked == NULL);
    phased_release_digest(judge_view(hub).plan, report->sums, report->block_count, digest);
}

/* 1: per arm of the plan, one integer over those who reported. |sum| < 2^63: M T R < 2^62, and what
 * a site may say is checked. */
static void judge(void *state, uint32_t agents, const int64_t *totals)
{
    struct tacit_phased_hub *const hub = state;
    uint32_t const blocks = judge_view(hub).plan_count;
    int64_t *const own = totals_of(hub);
    TACIT_IMPLIES(!hub->config.has_helper, agents == hub->desk.covered_count);
    for (uint32_t i = 0; i < blocks && !hub->config.has_helper; i++)
        TACIT_BITS_EACH (agent, received_of(hub), hub->config.schedule.agent_count)
            own[i] += row_of(hub, agent)[i];
    tacit_phased_judge_close(judge_of(hub), agents, hub->config.has_helper ? totals : own);
    memset(own, 0, blocks * sizeof *own);
}

static struct round_input input_of(void *hub, const void *said)
{
    struct tacit_phased_message const *const message = said;
    (void)hub;
    return ROUND_INPUT(message, .masked = message->masked, .words = (const uint64_t *)message->sums,
                       .word_count = message->block_count);
}

static const struct round_rule rule = {.round = round_of,
                                       .input = input_of,
                                       .quorum = quorum_of,
                                       .check = check_report,
                                       .is_possible = row_is_possible,
                                       .digest = digest_report,
                                       .close = judge};

/* ---- Messages ---- */

/* But for its head. */
static struct tacit_phased_message order_of(struct tacit_phased_hub *hub)
{
    struct tacit_phased_judge_view const judge = judge_view(hub);
    TACIT_ASSERT(hub->desk.phase != ROUND_NEW);
    TACIT_IMPLIES(!judge.finished, judge.plan_count >= 1);
    return (struct tacit_phased_message){.leader = judge.played,
                                         .block_count = judge.plan_count,
                                         .blocks = judge.finished ? NULL : judge.plan};
}

/* The whole update of a step, or of a change. */
static void fill_update(struct tacit_phased_hub *hub, const struct round_made *made,
                        struct tacit_phased_update *update)
{
    struct round_hub const round = round_of(hub);
    TACIT_IMPLIES(made->answer == ROUND_GRANT, hub->config.has_grants);
    *update = (struct tacit_phased_update){.core = round_update(&hub->desk, made)};
    if (!update->send)
        return;
    update->message = made->answer == ROUND_ORDER
                          ? order_of(hub)
                          : (struct tacit_phased_message){.leader = TACIT_NO_ARM};
    update->message.kind = round_kind(made);
    update->message.head = round_head(&round, made);
}

void tacit_phased_hub_close(struct tacit_phased_hub *hub, uint32_t agents, const int64_t *totals,
                            uint64_t now_us, struct tacit_phased_update *update)
{
    struct round_made made;
    round_close(&rule, hub, agents, totals, now_us, &made);
    fill_update(hub, &made, update);
}

/* ---- Public ---- */

/* How far each site is in its plan is not known here. */
enum tacit_status tacit_phased_hub_change(struct tacit_phased_hub *hub, uint32_t arm, bool adds,
                                          uint64_t now_us, struct tacit_phased_update *update)
{
    struct round_made made = {.answer = ROUND_NOTHING};
    uint32_t const before = round_of(hub).round;
    enum tacit_status status = TACIT_UNEXPECTED;
    TACIT_ASSERT(now_us >= hub->desk.now_us);
    if (hub->desk.phase != ROUND_NEW)
        status = tacit_phased_judge_change(judge_of(hub), arm, adds, TACIT_PHASED_UNKNOWN);
    if (status == TACIT_OK) {
        struct round_hub const round = round_of(hub);
        made.persist = true;
        if (round.round != before) {
            round_hub_await(&round, round.is_last);
            round_answer_order(&made, TACIT_EVERYONE);
        }
        round_desk_end_step(&hub->desk, now_us, round.timeout_us, round.round != before, false);
    }
    fill_update(hub, &made, update);
    return status;
}

void tacit_phased_hub_end(struct tacit_phased_hub *hub, uint64_t now_us,
                          struct tacit_phased_update *update)
{
    struct round_made made;
    TACIT_ASSERT(hub->desk.phase != ROUND_NEW);
    tacit_phased_judge_end(judge_of(hub));
    struct round_hub const round = round_of(hub);
    round_finish(&round, now_us, &made);
    fill_update(hub, &made, update);
}

enum tacit_status tacit_phased_hub_step(struct tacit_phased_hub *hub,
                                        const struct tacit_event *event,
                                        struct tacit_phased_update *update)
{
    struct round_made made;
    enum tacit_status const status = round_step(&rule, hub, event, NULL, &made);
    fill_update(hub, &made, update);
    return status;
}

/* ---- Check ---- */

enum tacit_status tacit_phased_hub_check(const struct tacit_phased_hub *state, size_t size,
                                         const struct tacit_phased_hub_config *config)
{
    struct tacit_phased_hub *const hub = (struct tacit_phased_hub *)(uintptr_t)state;
    if (!config_is_valid(config) || size <= own_size(config))
        return TACIT_MALFORMED;
    struct tacit_phased_hub_config const kept = canonical_config(config);
    size_t const judge_size = size - own_size(config); /* the judge's check says whether it is */
    if (memcmp(&hub->config, &kept, sizeof kept) != 0 ||
        hub->judge_words != judge_size / sizeof(uint64_t) ||
        tacit_phased_judge_check(judge_of(hub), judge_size, &config->schedule) != TACIT_OK)
        return TACIT_MALFORMED;
    struct tacit_phased_judge_view const judge = judge_view(hub);
    bool const is_begun = hub->desk.phase != ROUND_NEW;
    return round_is_possible(&rule, hub) &&
                   (is_begun || (judge.round_count == 0 && judge.round <= 1))
               ? TACIT_OK
               : TACIT_MALFORMED;
}

/* ---- What a lost hub is built again from ---- */

#define MAGIC UINT64_C(0x3170616e73616870) /* "phasnap1" */

static void walk_hub(struct base_walk *walk, void *state)
{
    struct tacit_phased_hub *const hub = state;
    base_walk_same(walk, MAGIC);
    base_walk_same(walk, hub->config.run_id);
    base_walk_same(walk, hub->config.schedule.agent_count);
    base_walk_same(walk, hub->judge_words);
    base_walk_same(walk, hub->config.quorum);
    base_walk_same(walk, hub->config.round_timeout_us);
    round_desk_walk(walk, &hub->desk, hub->config.schedule.agent_count);
    phased_judge_walk(walk, judge_of(hub));
}

ROUND_SNAPSHOTS(tacit_phased_hub, walk_hub)

void tacit_phased_hub_view(const struct tacit_phased_hub *state, struct tacit_phased_hub_view *view)
{
    struct tacit_phased_hub *const hub = (struct tacit_phased_hub *)(uintptr_t)state;
    struct round_hub const round = round_of(hub);
    *view =
        (struct tacit_phased_hub_view){.desk = round_hub_view(&round), .judge = judge_view(hub)};
}
