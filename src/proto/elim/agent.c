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

/* ---- Phases ---- */

/* Here an order overtakes no epoch that is not released. */
void elim_agent_set_phase(struct tacit_elim_agent *agent, enum phase next)
{
    enum phase const now = agent->phase;
    bool const from_rest = now == PHASE_IDLE || now == PHASE_PULLING || now == PHASE_WAITING;
    TACIT_IMPLIES(next == PHASE_PULLING, from_rest);
    TACIT_IMPLIES(next == PHASE_COMMITTED, agent->config.has_grants);
    round_play_set_phase(&agent->play, next);
}

static void check_invariants(const struct tacit_elim_agent *agent)
{
    round_play_check_invariants(&agent->play, TACIT_ELIM_EPOCHS_MAX, agent->config.has_grants);
    TACIT_ASSERT(agent->active_count >= 1);
    TACIT_ASSERT(agent->active_count <= agent->config.arm_count);
    TACIT_IMPLIES(agent->last, agent->active_count == 1);
}

/* ---- Events ---- */

static enum tacit_status on_start(struct tacit_elim_agent *agent, uint64_t term,
                                  struct tacit_elim_update *update)
{
    if (term > agent->term) {
        elim_agent_begin_term(agent, term);
        update->persist = true;
    }
    if (agent->phase == PHASE_COMMITTED)
        elim_agent_send_commit(agent, update);
    if (agent->phase == PHASE_WAITING)
        elim_agent_ask_again(agent, update);
    if (elim_agent_owes_report(agent)) /* whether it got out before the crash is not known */
        elim_agent_send_report(agent, update);
    if (agent->phase == PHASE_PULLING) {
        elim_agent_fill_plan(agent, update);
        if (!agent->last) /* before more is released: what does the hub hold? (take_seen) */
            elim_agent_send_hello(agent, update);
    }
    if (agent->phase == PHASE_IDLE && agent->config.arm_count == 1) {
        agent->awaiting_first_order = false;
        agent->last = true; /* one arm: nothing to learn and nothing to say (PRIVACY.md D.48) */
        elim_agent_open_plan(agent, update);
        update->persist = true;
    }
    return TACIT_OK;
}

static bool reward_is_valid(struct tacit_elim_agent *agent, const struct tacit_elim_event *event)
{
    uint32_t const arm = event->as.reward.arm;
    uint64_t const count = event->as.reward.count;
    if (agent->phase != PHASE_PULLING || arm >= agent->config.arm_count || count == 0 ||
        count > left_of(agent)[arm])
        return false;
    if (agent->config.mechanism.scale.kind == TACIT_SCALE_REAL)
        return isfinite(event->as.reward.sum.real);
    int64_t const steps = event->as.reward.sum.steps;
    return steps >= 0 && steps <= (int64_t)count * TACIT_STEPS;
}

static enum tacit_status on_reward(struct tacit_elim_agent *agent,
                                   const struct tacit_elim_event *event,
                                   const struct tacit_entropy *entropy,
                                   struct tacit_elim_update *update)
{
    if (!reward_is_valid(agent, event))
        return TACIT_INVALID;
    uint32_t const arm = event->as.reward.arm;
    uint64_t const count = event->as.reward.count;
    update->persist = true;
    left_of(agent)[arm] -= count;
    agent->left_count -= count;
    agent->pull_count += count;
    if (!agent->last && !(agent->cut && agent->leader > 0)) { /* those enter no sum */
        done_of(agent)[arm] += count;
        tacit_sum_add(&agent->config.mechanism.scale, &exact_of(agent)[arm], event->as.reward.sum);
    }
    if (agent->left_count > 0)
        return TACIT_OK;
    if (agent->last || agent->cut) {
        round_play_start_waiting(&agent->play);
        return TACIT_OK;
    }
    elim_agent_set_phase(agent, PHASE_RELEASING);
    return elim_agent_finish_epoch(agent, event, entropy, update);
}

static enum tacit_status on_receive(struct tacit_elim_agent *agent,
                                    const struct tacit_elim_event *event,
                                    const struct tacit_entropy *entropy,
                                    struct tacit_elim_update *update)
{
    struct tacit_elim_message const *const message = event->as.message;
    struct round_agent round;
    switch (message->kind) {
    case TACIT_ELIM_ORDER:
        return elim_agent_hear_order(agent, event, entropy, update);
    case TACIT_ELIM_HELLO:
    case TACIT_ELIM_REPORT:
        return TACIT_UNEXPECTED; /* only hubs receive these */
    case TACIT_ELIM_ADVERT:
    case TACIT_ELIM_REQUEST:
    case TACIT_ELIM_DATA:
    case TACIT_ELIM_PROOF:
        return TACIT_UNEXPECTED; /* only peers do */
    case TACIT_ELIM_GRANT:
        return elim_agent_hear_grant(agent, message, update);
    case TACIT_ELIM_REFUSAL:
        round = round_of(agent);
        return round_agent_hear_refusal(&round, &message->head, &update->persist);
    case TACIT_ELIM_COMMIT:
        return TACIT_UNEXPECTED; /* only grantors do */
    }
    return TACIT_MALFORMED;
}

static enum tacit_status on_timeout(struct tacit_elim_agent *agent,
                                    const struct tacit_elim_event *event,
                                    const struct tacit_entropy *entropy,
                                    struct tacit_elim_update *update)
{
    if (event->now_us < agent->grants.resend.due_us)
        return TACIT_OK; /* a timer of an earlier update */
    if (agent->phase == PHASE_RELEASING) {
        update->persist = true;
        return elim_agent_finish_epoch(agent, event, entropy, update);
    }
    if (agent->phase == PHASE_COMMITTED)
        elim_agent_send_commit(agent, update);
    if (agent->phase == PHASE_WAITING || agent->phase == PHASE_IDLE)
        elim_agent_ask_again(agent, update);
    if (elim_agent_owes_report(agent))
        elim_agent_send_report(agent, update);
    return TACIT_OK;
}

static enum tacit_status handle(struct tacit_elim_agent *agent,
                                const struct tacit_elim_event *event,
                                const struct tacit_entropy *entropy,
                                struct tacit_elim_update *update)
{
    enum tacit_status status;
    switch (event->kind) {
    case TACIT_EVENT_START:
        return on_start(agent, event->as.term, update);
    case TACIT_EVENT_REWARD:
        return on_reward(agent, event, entropy, update);
    case TACIT_EVENT_EXPLOITED: /* these rewards enter no estimate (READINGS P1.11) */
        status = round_play_exploit(&agent->play, event->as.exploited_count);
        update->persist = status == TACIT_OK;
        return status;
    case TACIT_EVENT_RECEIVE:
        return on_receive(agent, event, entropy, update);
    case TACIT_EVENT_TIMEOUT:
        return on_timeout(agent, event, entropy, update);
    case TACIT_EVENT_OFFER:
        return TACIT_INVALID; /* nobody's contexts matter here */
    }
    TACIT_ASSERT(false);
    return TACIT_INVALID;
}

/* ---- Steps ---- */

/* What every step ends with: is the timer to be set anew? */
static void set_timer(struct tacit_elim_agent *agent, const struct tacit_elim_event *event,
                      enum phase before, uint32_t unanswered_before,
                      const struct tacit_elim_update *update)
{
    struct round_site_step made = {.kind = event->kind,
                                   .now_us = event->now_us,
                                   .unanswered_before = unanswered_before,
                                   .sends = update->send};
    round_play_end_step(&agent->play, agent->config.resend_after_us, elim_agent_owes_report(agent),
                        before, &made);
}

static void check_update(const struct tacit_elim_agent *agent, enum phase before,
                         enum tacit_status status, const struct tacit_elim_update *update)
{
    TACIT_IMPLIES(status != TACIT_OK, !update->send);
    TACIT_IMPLIES(update->send, update->message.from == agent->config.agent_id);
    TACIT_IMPLIES(update->plan_count > 0, agent->phase == PHASE_PULLING);
    TACIT_IMPLIES(agent->phase != before, update->persist);
}

enum tacit_status elim_agent_step(struct tacit_elim_agent *agent,
                                  const struct tacit_elim_event *event,
                                  const struct tacit_entropy *entropy,
                                  struct tacit_elim_update *update)
{
    bool const is_start = event->kind == TACIT_EVENT_START; /* a new process has a new clock */
    TACIT_ASSERT(is_start || event->now_us >= agent->now_us);
    check_invariants(agent);
    *update = (struct tacit_elim_update){.deadline_us = TACIT_NEVER};
    enum phase const before = agent->phase;
    uint32_t const unanswered_count = agent->grants.resend.unanswered_count;
    enum tacit_status const status = handle(agent, event, entropy, update);
    check_invariants(agent);
    check_update(agent, before, status, update);
    if (status == TACIT_OK || update->persist)
        set_timer(agent, event, before, unanswered_count, update);
    update->deadline_us = agent->grants.resend.due_us;
    return status;
}

enum tacit_status tacit_elim_agent_step(struct tacit_elim_agent *agent,
                                        const struct tacit_elim_event *event,
                                        const struct tacit_entropy *entropy,
                                        struct tacit_elim_update *update)
{
    struct elim_agent_marks const was = elim_agent_marks(agent);
    enum tacit_status const status = elim_agent_step(agent, event, entropy, update);
    update->happened = elim_agent_happened(&was, agent);
    return status;
}

enum tacit_status tacit_elim_agent_refuse(struct tacit_elim_agent *agent, uint32_t arm,
                                          const struct tacit_elim_event *now,
                                          const struct tacit_entropy *entropy,
                                          struct tacit_elim_update *update)
{
    TACIT_ASSERT(now->now_us >= agent->now_us);
    check_invariants(agent);
    *update = (struct tacit_elim_update){.deadline_us = agent->grants.resend.due_us};
    if (agent->config.change_max == 0 || arm >= agent->config.arm_count ||
        !elim_agent_leaves_an_arm(agent, arm))
        return TACIT_INVALID;
    if (agent->phase == PHASE_HALTED)
        return TACIT_UNEXPECTED;
    if (tacit_bits_has(barred_of(agent), arm))
        return TACIT_OK;
    enum phase const before = agent->phase;
    struct elim_agent_marks const was = elim_agent_marks(agent);
    elim_agent_bar_arm(agent, arm);
    tacit_bits_add(refused_of(agent), arm);
    elim_agent_find_playable(agent);
    update->persist = true;
    enum tacit_status const status = elim_agent_plan_anew(agent, now, entropy, update);
    if (status == TACIT_OK && agent->phase == PHASE_COMMITTED && !update->send)
        elim_agent_send_commit(agent,
                               update); /* a HELLO would show a head that was not granted yet */
    else if (status == TACIT_OK && !update->send && agent->phase != PHASE_FINISHED)
        elim_agent_send_hello(agent, update); /* the hub is to know at once */
    update->happened = elim_agent_happened(&was, agent);
    check_invariants(agent);
    check_update(agent, before, status, update);
    set_timer(agent, now, before, agent->grants.resend.unanswered_count, update);
    update->deadline_us = agent->grants.resend.due_us;
    return status;
}

/* ---- Looking ---- */

struct elim_agent_brief elim_agent_brief(const struct tacit_elim_agent *agent)
{
    return (struct elim_agent_brief){.epoch = agent->epoch,
                                     .term = agent->term,
                                     .release_epoch = agent->release_epoch,
                                     .release_number = agent->release_number,
                                     .draw_epoch = agent->draw_epoch,
                                     .active_count = agent->active_count,
                                     .pulls = agent->pulls,
                                     .arms = agent->words,
                                     .noised =
                                         noised_of((struct tacit_elim_agent *)(uintptr_t)agent),
                                     .commit = &agent->grants.commit,
                                     .head = agent->grants.head,
                                     .committed = agent->phase == PHASE_COMMITTED,
                                     .releasing = agent->phase == PHASE_RELEASING,
                                     .last = agent->last,
                                     .finished = agent->phase == PHASE_FINISHED,
                                     .halted = agent->phase == PHASE_HALTED};
}

struct elim_agent_marks elim_agent_marks(const struct tacit_elim_agent *agent)
{
    return (struct elim_agent_marks){.term = agent->term,
                                     .release_number = agent->release_number,
                                     .epoch = agent->epoch,
                                     .phase = (uint8_t)agent->phase,
                                     .last = agent->last};
}

uint32_t elim_agent_happened(const struct elim_agent_marks *before,
                             const struct tacit_elim_agent *agent)
{
    struct elim_agent_marks const after = elim_agent_marks(agent);
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
    struct round_agent const round = round_of(agent);
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
