/* The agent of epoch elimination (Li, Song, Alg. 1 l. 6-11 and l. 17). It explores what the hub
 * orders, releases the noised sums of each finished epoch once, and reports its noised history. */
#include <math.h>
#include <string.h>
#include "agent_state.h"

/* ---- Configuration ---- */

bool elim_agent_config_is_valid(const struct tacit_elim_agent_config *config)
{
    return config->arm_count >= 1 && config->arm_count <= TACIT_ARMS_MAX &&
           config->agent_count >= 1 && config->agent_count <= TACIT_AGENTS_MAX &&
           config->agent_id < config->agent_count && config->horizon >= 1 &&
           config->horizon <= TACIT_HORIZON_MAX && config->resend_after_us > 0 &&
           config->resend_after_us <= TACIT_ELIM_PAUSE_US_MAX &&
           config->change_max <= TACIT_ELIM_CHANGES_MAX &&
           (!config->has_helper || (config->has_grants && config->change_max == 0 &&
                                    config->mechanism.scale.kind == TACIT_SCALE_STEPS));
}

size_t tacit_elim_agent_size(const struct tacit_elim_agent_config *config)
{
    if (!elim_agent_config_is_valid(config))
        return 0;
    size_t const arms = config->arm_count;
    size_t const columns = config->has_grants ? 8 : 7;
    size_t const sets = config->change_max > 0 ? 3 * TACIT_BITS_WORDS(arms) : 0;
    return sizeof(struct tacit_elim_agent) +
           (TACIT_BITS_WORDS(arms) + columns * arms + sets +
            elim_changes_words(config->change_max)) *
               sizeof(uint64_t) +
           (config->has_helper ? sizeof(struct tacit_helper_release) : 0);
}

enum tacit_status tacit_elim_agent_init(struct tacit_elim_agent *agent,
                                        const struct tacit_elim_agent_config *config)
{
    size_t const size = tacit_elim_agent_size(config);
    if (size == 0)
        return TACIT_INVALID;
    memset(agent, 0, size);
    agent->config = *config;
    agent->ledger = tacit_ledger_init(config->budget_nano);
    agent->grants.resend.due_us = TACIT_NEVER;
    agent->active_count = config->arm_count;
    agent->horizon = config->horizon;
    tacit_bits_fill(arms_of(agent), config->arm_count);
    tacit_bits_fill(playable_of(agent), config->arm_count);
    return TACIT_OK;
}

static void check_invariants(const struct tacit_elim_agent *agent)
{
    TACIT_ASSERT(agent->active_count >= 1);
    TACIT_ASSERT(agent->active_count <= agent->config.arm_count);
    TACIT_IMPLIES(agent->last, agent->active_count == 1);
}

/* ---- Its part in a round (round/agent.h) ---- */

struct round_agent elim_agent_round(void *state)
{
    struct tacit_elim_agent *const agent = state;
    return (struct round_agent){.play = &agent->play,
                                .domain = agent->config.domain,
                                .run_id = agent->config.run_id,
                                .id = agent->config.agent_id,
                                .round_max = TACIT_ELIM_EPOCHS_MAX,
                                .round_limit = agent->config.epoch_max,
                                .resend_after_us = agent->config.resend_after_us,
                                .has_grants = agent->config.has_grants,
                                .is_numbered = agent->config.numbered_commits};
}

/* One arm: nothing to learn and nothing to say (PRIVACY.md D.48). */
static bool begin_alone(void *state)
{
    struct tacit_elim_agent *const agent = state;
    if (agent->config.arm_count > 1)
        return false;
    agent->awaiting_first_order = false;
    TACIT_ASSERT(agent->epoch == 0 && agent->active_count == 1);
    agent->last = true;
    elim_agent_lay_plan(agent);
    return true;
}

static bool reward_is_valid(struct tacit_elim_agent *agent, const struct tacit_reward *reward)
{
    if (agent->phase != PHASE_PULLING || reward->arm >= agent->config.arm_count ||
        reward->count == 0 || reward->count > left_of(agent)[reward->arm])
        return false;
    if (agent->config.mechanism.scale.kind == TACIT_SCALE_REAL)
        return isfinite(reward->sum.real);
    return reward->sum.steps >= 0 && reward->sum.steps <= (int64_t)reward->count * TACIT_STEPS;
}

static enum tacit_status add_reward(struct tacit_elim_agent *agent,
                                    const struct tacit_reward *reward)
{
    if (!reward_is_valid(agent, reward))
        return TACIT_INVALID;
    left_of(agent)[reward->arm] -= reward->count;
    TACIT_ASSERT(agent->left_count >= reward->count);
    TACIT_ASSERT(agent->pull_count + agent->left_count <= agent->horizon);
    agent->left_count -= reward->count;
    agent->pull_count += reward->count;
    if (!agent->last && !(agent->cut && agent->leader > 0)) { /* those enter no sum */
        done_of(agent)[reward->arm] += reward->count;
        tacit_sum_add(&agent->config.mechanism.scale, &exact_of(agent)[reward->arm], reward->sum);
    }
    return TACIT_OK;
}

/* Rewards beside the plan enter no estimate (READINGS P1.11). */
static enum tacit_status play(void *state, const struct tacit_event *event)
{
    struct tacit_elim_agent *const agent = state;
    return event->kind == TACIT_EVENT_REWARD
               ? add_reward(agent, &event->as.reward)
               : round_play_exploit(&agent->play, event->as.exploited_count);
}

static bool is_asked(void *state)
{
    return ((struct tacit_elim_agent *)state)->upload;
}

static const struct round_agent_rule rule = {.round = elim_agent_round,
                                             .message_kind = elim_message_kind,
                                             .head_at = offsetof(struct tacit_elim_message, head),
                                             .keeps_history = true,
                                             .check_order = elim_agent_check_order,
                                             .apply_changes = elim_agent_apply_changes,
                                             .reuse_release = elim_agent_reuse_release,
                                             .continues = elim_agent_continues,
                                             .update_asked = elim_agent_update_asked,
                                             .is_asked = is_asked,
                                             .plan = elim_agent_apply_order,
                                             .replan = elim_agent_lay_plan,
                                             .begin = begin_alone,
                                             .play = play,
                                             .cost_nano = elim_agent_cost_nano,
                                             .draw = elim_agent_draw,
                                             .record_draw = elim_agent_record_draw,
                                             .erase = elim_agent_erase,
                                             .use = elim_agent_use_draw,
                                             .drop = elim_agent_drop_plan,
                                             .forget = elim_agent_forget,
                                             .begin_term = elim_agent_begin_term};

/* ---- Messages: commitments, reports (Li, Song, Alg. 1 l. 11) and "what now?" ---- */

/* What it says that it does not play. NULL: it plays all that is asked for. */
static const uint64_t *refused_to_send(struct tacit_elim_agent *agent)
{
    uint32_t const arms = agent->config.arm_count;
    bool const is_any =
        agent->config.change_max > 0 && tacit_bits_next(refused_of(agent), arms, 0) < arms;
    return is_any ? refused_of(agent) : NULL;
}

static struct tacit_elim_message message_of(struct tacit_elim_agent *agent,
                                            enum tacit_elim_message_kind kind)
{
    struct round_agent const round = elim_agent_round(agent);
    return (struct tacit_elim_message){.kind = kind, .head = round_agent_head(&round)};
}

struct tacit_elim_message elim_agent_report_with(struct tacit_elim_agent *agent,
                                                 const union tacit_sum *history)
{
    uint32_t const arms = agent->config.arm_count;
    uint32_t count = 0;
    TACIT_BITS_EACH (arm, arms_of(agent), agent->config.has_helper ? 0 : arms)
        report_of(agent)[count++] = history[arm];
    TACIT_ASSERT(count == (agent->config.has_helper ? 0 : agent->active_count));
    struct tacit_elim_message report = message_of(agent, TACIT_ELIM_REPORT);
    report.pulls = agent->pulls;
    report.arms = arms_of(agent);
    report.sum_count = agent->active_count;
    report.sums = agent->config.has_helper ? history : report_of(agent);
    report.masked = agent->config.has_helper ? masked_of(agent) : NULL;
    return report;
}

static void fill_update(struct tacit_elim_agent *agent, const struct round_agent_made *made,
                        struct tacit_elim_update *update)
{
    *update = (struct tacit_elim_update){.persist = made->persist,
                                         .send = made->message_kind != ROUND_KIND_NONE,
                                         .deadline_us = agent->grants.resend.due_us};
    check_invariants(agent);
    if (made->message_kind == ROUND_KIND_REPORT) {
        TACIT_ASSERT(agent->upload && agent->release_epoch > 0);
        update->message = elim_agent_report_with(agent, noised_of(agent));
    } else if (update->send) {
        bool const is_commit = made->message_kind == ROUND_KIND_COMMIT;
        update->message = message_of(agent, is_commit ? TACIT_ELIM_COMMIT : TACIT_ELIM_HELLO);
        update->message.refused = refused_to_send(agent);
    }
    if (made->plan_is_open)
        elim_agent_fill_plan(agent, update);
}

/* ---- Steps ---- */

enum tacit_status elim_agent_step(struct tacit_elim_agent *agent, const struct tacit_event *event,
                                  const struct tacit_entropy *entropy,
                                  struct tacit_elim_update *update)
{
    struct round_agent_made made;
    check_invariants(agent);
    enum tacit_status const status = round_agent_step(&rule, agent, event, entropy, &made);
    TACIT_IMPLIES(made.plan_is_open, agent->left_count > 0);
    TACIT_IMPLIES(made.message_kind == ROUND_KIND_COMMIT, agent->config.has_grants);
    fill_update(agent, &made, update);
    return status;
}

enum tacit_status tacit_elim_agent_step(struct tacit_elim_agent *agent,
                                        const struct tacit_event *event,
                                        const struct tacit_entropy *entropy,
                                        struct tacit_elim_update *update)
{
    struct elim_agent_progress const was = elim_agent_progress(agent);
    enum tacit_status const status = elim_agent_step(agent, event, entropy, update);
    update->happened = elim_agent_happened(&was, agent);
    return status;
}

enum tacit_status tacit_elim_agent_refuse(struct tacit_elim_agent *agent, uint32_t arm,
                                          const struct tacit_event *now,
                                          const struct tacit_entropy *entropy,
                                          struct tacit_elim_update *update)
{
    struct round_agent_made made;
    check_invariants(agent);
    *update = (struct tacit_elim_update){.deadline_us = agent->grants.resend.due_us};
    if (agent->config.change_max == 0 || arm >= agent->config.arm_count ||
        !elim_agent_leaves_an_arm(agent, arm))
        return TACIT_INVALID;
    if (agent->phase == PHASE_HALTED)
        return TACIT_UNEXPECTED;
    if (tacit_bits_has(barred_of(agent), arm))
        return TACIT_OK;
    struct elim_agent_progress const was = elim_agent_progress(agent);
    elim_agent_bar_arm(agent, arm);
    tacit_bits_add(refused_of(agent), arm);
    elim_agent_find_playable(agent);
    enum tacit_status const status = round_agent_change_plan(&rule, agent, now, entropy, &made);
    TACIT_ASSERT(made.persist);
    TACIT_IMPLIES(status != TACIT_OK, made.message_kind == ROUND_KIND_NONE);
    fill_update(agent, &made, update);
    update->happened = elim_agent_happened(&was, agent);
    return status;
}

void elim_agent_reset(struct tacit_elim_agent *agent, uint64_t term)
{
    round_agent_reset(&rule, agent, term);
    TACIT_ASSERT(agent->epoch == 0 && agent->release_pulls == 0);
    TACIT_ASSERT(agent->phase != PHASE_PULLING && agent->phase != PHASE_COMMITTED);
    tacit_bits_fill(arms_of(agent), agent->config.arm_count);
    agent->active_count = agent->config.arm_count;
    elim_agent_find_playable(agent);
}

/* ---- Looking ---- */

struct elim_agent_progress elim_agent_progress(const struct tacit_elim_agent *agent)
{
    return (struct elim_agent_progress){.term = agent->term,
                                        .release_number = agent->release_number,
                                        .epoch = agent->epoch,
                                        .phase = (uint8_t)agent->phase,
                                        .last = agent->last};
}

uint32_t elim_agent_happened(const struct elim_agent_progress *before,
                             const struct tacit_elim_agent *agent)
{
    struct elim_agent_progress const after = elim_agent_progress(agent);
    bool const has_moved = after.phase != before->phase;
    bool const was_committed = before->phase == PHASE_COMMITTED;
    bool const is_committed = has_moved && after.phase == PHASE_COMMITTED;
    bool const is_granted_at_once =
        !was_committed && after.release_number != before->release_number;
    bool const is_over = is_committed || (has_moved && after.phase == PHASE_RELEASING);
    bool const has_ended =
        (has_moved && after.phase == PHASE_HALTED) || (after.last && !before->last);
    TACIT_ASSERT(after.term >= before->term);
    return (is_committed || is_granted_at_once ? TACIT_DREW : 0) |
           (before->epoch == 0 && after.epoch > 0 ? TACIT_WAS_ORDERED : 0) |
           (after.term > before->term ? TACIT_BEGAN_TERM : 0) | (has_ended ? TACIT_ENDED : 0) |
           (is_over ? TACIT_ELIM_PLAN_OVER : 0) |
           (after.epoch != before->epoch ? TACIT_ELIM_WENT_ON : 0);
}

void tacit_elim_agent_view(const struct tacit_elim_agent *state, struct tacit_elim_agent_view *view)
{
    struct tacit_elim_agent *const agent = (struct tacit_elim_agent *)(uintptr_t)state;
    struct round_agent const round = elim_agent_round(agent);
    *view = (struct tacit_elim_agent_view){
        .play = round_agent_view(&round),
        .is_asked = agent->upload,
        .dropped = agent->dropped,
        .arms = arms_of(agent),
        .active_count = agent->active_count,
        .playable = playable_of(agent),
        .playable_count = tacit_bits_count(playable_of(agent), agent->config.arm_count),
        .exploit_arm = elim_agent_arm_to_exploit(agent),
        .pulls = agent->pulls,
        .noised = agent->config.has_helper ? NULL : noised_of(agent)};
    if (agent->config.change_max == 0)
        return;
    view->refused = refused_of(agent);
    view->changes = changes_of(agent);
    view->change_count = agent->change_count;
}
