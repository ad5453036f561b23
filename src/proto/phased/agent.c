/* A site of the phased index (EXACT-BOUNDS 1, 5, 6): plays the plan of an order, adds up integers,
 * releases one noised sum a block, once, and reports. A plan is new pulls: whoever missed an order
 * is missing in its round, and its rewards of a plan that was overtaken are dropped for ever. */
#include <string.h>
#include "../round/play.h"
#include "internal.h"

struct tacit_phased_agent {
    struct tacit_phased_agent_config config;
    union {
        struct round_play play;
        struct {
            ROUND_PLAY_MEMBERS(round, draw_round, release_round)
        };
    };
    uint32_t leader;
    uint32_t block_count; /* of the order's plan, or of the last plan */
    /* ordered 2 K | left K | exact K | noised K: of the plan's blocks; released sums K, released
     * pulls K: of the arms; open plan 2 K | with two aggregators: digest and envelope of what is
     * masked */
    uint64_t words[];
};

_Static_assert(sizeof(struct tacit_pull_block) == 2 * sizeof(uint64_t), "a block is two words");

/* ---- Layout ---- */

static uint64_t *column_of(struct tacit_phased_agent *agent, uint32_t column)
{
    TACIT_ASSERT(column < 9);
    return agent->words + column * (size_t)agent->config.arm_count;
}

static struct tacit_pull_block *ordered_of(struct tacit_phased_agent *agent)
{
    return (struct tacit_pull_block *)column_of(agent, 0);
}

static uint64_t *left_of(struct tacit_phased_agent *agent)
{
    return column_of(agent, 2);
}

static int64_t *exact_of(struct tacit_phased_agent *agent)
{
    return (int64_t *)column_of(agent, 3);
}

static int64_t *noised_of(struct tacit_phased_agent *agent)
{
    return (int64_t *)column_of(agent, 4);
}

static int64_t *released_sums_of(struct tacit_phased_agent *agent)
{
    return (int64_t *)column_of(agent, 5);
}

static uint64_t *released_pulls_of(struct tacit_phased_agent *agent)
{
    return column_of(agent, 6);
}

static struct tacit_pull_block *open_plan_of(struct tacit_phased_agent *agent)
{
    return (struct tacit_pull_block *)column_of(agent, 7);
}

/* With two aggregators. */
static struct tacit_helper_release *masked_of(struct tacit_phased_agent *agent)
{
    TACIT_ASSERT(agent->config.has_helper);
    return (struct tacit_helper_release *)(agent->words + 9 * (size_t)agent->config.arm_count);
}

static struct round_agent round_of(const struct tacit_phased_agent *state)
{
    struct tacit_phased_agent *const agent = (struct tacit_phased_agent *)(uintptr_t)state;
    return (struct round_agent){.play = &agent->play,
                                .domain = agent->config.domain,
                                .run_id = agent->config.run_id,
                                .id = agent->config.agent_id,
                                .round_max = TACIT_PHASED_ROUNDS_MAX + 1,
                                .has_grants = agent->config.has_grants,
                                .is_numbered = false};
}

static bool config_is_valid(const struct tacit_phased_agent_config *config)
{
    return config->arm_count >= 1 && config->arm_count <= TACIT_ARMS_MAX &&
           config->agent_count >= 1 && config->agent_count <= TACIT_AGENTS_MAX &&
           config->agent_id < config->agent_count && config->horizon >= 1 &&
           config->horizon <= TACIT_HORIZON_MAX && config->resend_after_us > 0 &&
           config->resend_after_us <= TACIT_PHASED_PAUSE_US_MAX &&
           config->mechanism.mode == TACIT_PRIVACY_SOUND &&
           config->mechanism.scale.kind == TACIT_SCALE_STEPS &&
           (!config->has_helper || config->has_grants);
}

size_t tacit_phased_agent_size(const struct tacit_phased_agent_config *config)
{
    if (!config_is_valid(config))
        return 0;
    return sizeof(struct tacit_phased_agent) + 9 * (size_t)config->arm_count * sizeof(uint64_t) +
           (config->has_helper ? sizeof(struct tacit_helper_release) : 0);
}

enum tacit_status tacit_phased_agent_init(struct tacit_phased_agent *agent,
                                          const struct tacit_phased_agent_config *config)
{
    size_t const size = tacit_phased_agent_size(config);
    if (size == 0)
        return TACIT_INVALID;
    memset(agent, 0, size);
    TACIT_ASSERT(config_is_valid(config));
    agent->config = *config;
    agent->ledger = tacit_ledger_init(config->budget_nano);
    agent->grants.resend.due_us = TACIT_NEVER;
    agent->horizon = config->horizon;
    agent->leader = TACIT_NO_ARM;
    return TACIT_OK;
}

static void check_invariants(const struct tacit_phased_agent *agent)
{
    round_play_check_invariants(&agent->play, TACIT_PHASED_ROUNDS_MAX + 1,
                                agent->config.has_grants);
    TACIT_ASSERT(agent->block_count <= agent->config.arm_count);
    TACIT_ASSERT(agent->leader < agent->config.arm_count || agent->leader == TACIT_NO_ARM);
    TACIT_ASSERT(agent->release_number <= round_play_draw_number(&agent->play));
}

/* ---- Plans ---- */

/* Forgets the plan before, and what it brought. */
static void clear_plan(struct tacit_phased_agent *agent)
{
    memset(ordered_of(agent), 0, 5 * (size_t)agent->config.arm_count * sizeof(uint64_t));
    agent->block_count = 0;
    agent->left_count = 0;
    agent->cut = false;
}

static void add_block(struct tacit_phased_agent *agent, uint32_t arm, uint64_t count)
{
    TACIT_ASSERT(arm < agent->config.arm_count);
    if (count == 0)
        return;
    TACIT_ASSERT(agent->block_count < agent->config.arm_count);
    ordered_of(agent)[agent->block_count].arm = arm;
    ordered_of(agent)[agent->block_count].count = count;
    left_of(agent)[agent->block_count] = count;
    agent->left_count += count;
    agent->block_count++;
}

/* Nothing is to be learnt any more: the leader until T. Without one, which only a T that is too
 * small for the first plan brings, the arms of the order in turn (4.5); of no blocks: all. */
static void plan_rest(struct tacit_phased_agent *agent, const struct tacit_pull_block *blocks,
                      uint32_t block_count)
{
    TACIT_ASSERT(agent->left_count == 0);
    TACIT_ASSERT(agent->block_count == 0);
    uint32_t const arms = block_count > 0 ? block_count : agent->config.arm_count;
    uint64_t const slots = agent->horizon - agent->pull_count;
    if (agent->leader != TACIT_NO_ARM) {
        add_block(agent, agent->leader, slots);
        return;
    }
    for (uint32_t i = 0; i < arms; i++)
        add_block(agent, block_count > 0 ? blocks[i].arm : i,
                  slots / arms + (i < slots % arms ? 1 : 0));
}

static uint64_t pulls_in(const struct tacit_phased_message *order)
{
    TACIT_IMPLIES(order->block_count > 0, order->blocks != NULL);
    uint64_t total = 0;
    for (uint32_t i = 0; i < order->block_count; i++)
        total += order->blocks[i].count; /* 2^16 blocks of 2^40 pulls fit */
    return total;
}

/* A plan that does not fit in the slots left is never released: they go to the leader (6). */
static void plan_order(struct tacit_phased_agent *agent, const struct tacit_phased_message *order)
{
    TACIT_ASSERT(!order->last);
    TACIT_ASSERT(agent->block_count == 0);
    agent->cut = pulls_in(order) > agent->horizon - agent->pull_count;
    if (agent->cut) {
        plan_rest(agent, order->blocks, order->block_count);
        return;
    }
    for (uint32_t i = 0; i < order->block_count; i++)
        add_block(agent, order->blocks[i].arm, order->blocks[i].count);
}

static void fill_plan(struct tacit_phased_agent *agent, struct tacit_phased_update *update)
{
    TACIT_ASSERT(update->plan_count == 0);
    TACIT_ASSERT(agent->left_count > 0);
    uint32_t count = 0;
    for (uint32_t i = 0; i < agent->block_count; i++) {
        if (left_of(agent)[i] == 0)
            continue;
        open_plan_of(agent)[count].arm = ordered_of(agent)[i].arm;
        open_plan_of(agent)[count].count = left_of(agent)[i];
        count++;
    }
    TACIT_ASSERT(count >= 1);
    update->plan = open_plan_of(agent);
    update->plan_count = count;
}

static void open_plan(struct tacit_phased_agent *agent, struct tacit_phased_update *update)
{
    TACIT_ASSERT(agent->left_count <= agent->horizon - agent->pull_count);
    if (agent->left_count == 0) {
        round_play_start_waiting(&agent->play);
        return;
    }
    round_play_set_phase(&agent->play, PHASE_PULLING);
    fill_plan(agent, update);
}

/* ---- Messages out ---- */

/* A report, a hello or a commit. With grants they say of the commitments what the hub is to know.
 */
static void send(struct tacit_phased_agent *agent, enum tacit_phased_message_kind kind,
                 struct tacit_phased_update *update)
{
    TACIT_IMPLIES(kind == TACIT_PHASED_COMMIT, agent->config.has_grants);
    TACIT_ASSERT(kind != TACIT_PHASED_ORDER);
    update->send = true;
    struct round_agent const round = round_of(agent);
    update->message = (struct tacit_phased_message){
        .kind = kind, .head = round_agent_head(&round), .leader = TACIT_NO_ARM};
    if (kind == TACIT_PHASED_REPORT) {
        update->message.block_count = agent->block_count;
        update->message.sums = noised_of(agent);
        update->message.masked = agent->config.has_helper ? masked_of(agent) : NULL;
    }
}

/* Was this round's release drawn, and is it not known that the hub has it? */
static bool owes_report(const struct tacit_phased_agent *agent)
{
    return agent->round > 0 && agent->release_round == agent->round && !agent->reported &&
           (agent->phase == PHASE_WAITING || agent->phase == PHASE_FINISHED);
}

/* What a waiting agent says when it has waited long enough: its report again, or "what now?".
 * Whether a release of before is wanted in this term, an order says. */
static void ask_again(struct tacit_phased_agent *agent, struct tacit_phased_update *update)
{
    bool const is_wanted = owes_report(agent) && !agent->unplaced;
    send(agent, is_wanted ? TACIT_PHASED_REPORT : TACIT_PHASED_HELLO, update);
}

/* ---- Releases ---- */

/* 1: noise for the sum of each block. */
static enum tacit_status add_noise(struct tacit_phased_agent *agent,
                                   const struct tacit_entropy *entropy)
{
    TACIT_ASSERT(agent->left_count == 0);
    for (uint32_t i = 0; i < agent->block_count; i++) {
        union tacit_sum sum = {.steps = exact_of(agent)[i]};
        enum tacit_status const status =
            tacit_mechanism_release(&agent->config.mechanism, sum, entropy, &sum);
        if (status != TACIT_OK)
            return status;
        noised_of(agent)[i] = sum.steps;
    }
    return TACIT_OK;
}

/* Commits to the draw. Errors: TACIT_ENTROPY. */
static enum tacit_status commit(struct tacit_phased_agent *agent,
                                const struct tacit_aggregators *aggregators,
                                const struct tacit_entropy *keys)
{
    struct round_agent const round = round_of(agent);
    uint8_t digest[TACIT_SHA256_BYTES];
    if (agent->config.has_helper) {
        tacit_phased_plan_digest(ordered_of(agent), agent->block_count, digest);
        return round_agent_mask(&round, aggregators, digest, keys, (uint64_t *)noised_of(agent),
                                agent->block_count, masked_of(agent));
    }
    phased_release_digest(ordered_of(agent), noised_of(agent), agent->block_count, digest);
    return round_agent_commit(&round, digest, keys);
}

/* 1: one sum a block, all or none, noised once; what it costs is spent with it. After this nothing
 * of the exact sums is left. */
static enum tacit_status draw(struct tacit_phased_agent *agent,
                              const struct tacit_phased_event *event,
                              const struct tacit_entropy *entropy)
{
    const struct tacit_entropy *const keys = event->keys == NULL ? entropy : event->keys;
    TACIT_ASSERT(agent->phase == PHASE_RELEASING);
    TACIT_ASSERT(agent->left_count == 0);
    struct tacit_ledger ledger = agent->ledger;
    uint64_t const cost_nano = agent->config.has_helper
                                   ? event->aggregators->epsilon_nano
                                   : tacit_mechanism_cost_nano(&agent->config.mechanism);
    enum tacit_status status =
        tacit_ledger_spend(&ledger, agent->number_base + agent->round, cost_nano);
    if (status != TACIT_OK) {
        round_play_set_phase(&agent->play, PHASE_HALTED);
        return TACIT_BUDGET;
    }
    status = add_noise(agent, entropy);
    if (status == TACIT_OK && agent->config.has_grants)
        status = commit(agent, event->aggregators, keys);
    if (status != TACIT_OK) {
        memset(noised_of(agent), 0, agent->config.arm_count * sizeof(uint64_t));
        if (agent->config.has_helper)
            memset(masked_of(agent), 0, sizeof(struct tacit_helper_release));
        return status;
    }
    memset(exact_of(agent), 0, agent->config.arm_count * sizeof(uint64_t));
    agent->ledger = ledger;
    agent->draw_round = agent->round;
    return TACIT_OK;
}

/* What may be used counts: for the arm that is played while the agent waits. */
static void add_released(struct tacit_phased_agent *agent)
{
    TACIT_ASSERT(agent->release_round == agent->round);
    TACIT_ASSERT(agent->block_count <= agent->config.arm_count);
    for (uint32_t i = 0; i < agent->block_count && !agent->config.has_helper; i++) {
        uint32_t const arm = ordered_of(agent)[i].arm;
        released_sums_of(agent)[arm] += noised_of(agent)[i];
        released_pulls_of(agent)[arm] += ordered_of(agent)[i].count;
    }
    round_play_start_waiting(&agent->play);
}

static enum tacit_status finish_plan(struct tacit_phased_agent *agent,
                                     const struct tacit_phased_event *event,
                                     const struct tacit_entropy *entropy,
                                     struct tacit_phased_update *update)
{
    enum tacit_status const status = draw(agent, event, entropy);
    if (status != TACIT_OK)
        return status;
    if (agent->config.has_grants) {
        round_play_set_phase(&agent->play, PHASE_COMMITTED);
        update->happened |= TACIT_DREW;
        send(agent, TACIT_PHASED_COMMIT, update);
    } else {
        round_play_use_draw(&agent->play);
        add_released(agent);
        send(agent, TACIT_PHASED_REPORT, update);
    }
    return TACIT_OK;
}

/* ---- Grants ---- */

static enum tacit_status on_grant(struct tacit_phased_agent *agent,
                                  const struct tacit_phased_message *grant,
                                  struct tacit_phased_update *update)
{
    TACIT_ASSERT(update->plan_count == 0);
    struct round_agent const round = round_of(agent);
    bool is_granted;
    enum tacit_status const status = round_agent_hear_grant(&round, &grant->head, &is_granted);
    if (!is_granted)
        return status;
    add_released(agent);
    update->persist = true;
    if (!agent->reported)
        send(agent, TACIT_PHASED_REPORT, update);
    else if (agent->phase == PHASE_WAITING)
        send(agent, TACIT_PHASED_HELLO, update); /* there is a newer order */
    return TACIT_OK;
}

/* ---- Events ---- */

/* Nothing of the last plan is of use any more, not even what was granted. */
static void forget_release(struct tacit_phased_agent *agent)
{
    TACIT_ASSERT(agent->unplaced);
    agent->number_base = round_play_draw_number(&agent->play);
    agent->round = agent->draw_round = agent->release_round = 0;
    clear_plan(agent);
    round_site_forget_draw(&agent->grants);
}

static void begin_term(struct tacit_phased_agent *agent, uint64_t term,
                       struct tacit_phased_update *update)
{
    TACIT_ASSERT(term > agent->term);
    bool const is_granted = agent->block_count > 0 && agent->release_round == agent->round;
    update->plan_is_void = agent->left_count > 0;
    update->persist = true;
    update->happened |= TACIT_BEGAN_TERM;
    round_play_begin_term(&agent->play, term, is_granted);
    if (!is_granted)
        forget_release(agent);
    round_play_rest(&agent->play);
}

static enum tacit_status on_start(struct tacit_phased_agent *agent, uint64_t term,
                                  struct tacit_phased_update *update)
{
    if (term > agent->term)
        begin_term(agent, term, update);
    if (agent->phase == PHASE_COMMITTED)
        send(agent, TACIT_PHASED_COMMIT, update);
    if (agent->phase == PHASE_WAITING || owes_report(agent))
        ask_again(agent, update);
    if (agent->phase == PHASE_PULLING) {
        fill_plan(agent, update);
        if (!agent->last) /* before more is released: what does the hub hold? (take_seen) */
            send(agent, TACIT_PHASED_HELLO, update);
    }
    if (agent->phase == PHASE_IDLE && agent->config.arm_count == 1) {
        agent->unplaced = false;
        agent->last = true; /* 5.7: nothing to learn and nothing to say */
        agent->leader = 0;
        add_block(agent, agent->leader, agent->horizon - agent->pull_count);
        open_plan(agent, update);
        update->persist = true;
    }
    return TACIT_OK;
}

/* The block of the plan with this arm; block_count if there is none. */
static uint32_t block_of(struct tacit_phased_agent *agent, uint32_t arm)
{
    TACIT_ASSERT(agent->block_count <= agent->config.arm_count);
    uint32_t block = 0;
    while (block < agent->block_count && ordered_of(agent)[block].arm != arm)
        block++;
    TACIT_ASSERT(block <= agent->block_count);
    return block;
}

static enum tacit_status on_reward(struct tacit_phased_agent *agent,
                                   const struct tacit_phased_event *event,
                                   const struct tacit_entropy *entropy,
                                   struct tacit_phased_update *update)
{
    struct tacit_reward const *const reward = &event->as.reward;
    uint32_t const block = block_of(agent, reward->arm);
    if (agent->phase != PHASE_PULLING || block == agent->block_count || reward->count == 0 ||
        reward->count > left_of(agent)[block] || reward->sum.steps < 0 ||
        reward->sum.steps > (int64_t)reward->count * TACIT_STEPS)
        return TACIT_INVALID;
    bool const is_learnt = !agent->last && !agent->cut;
    update->persist = true;
    left_of(agent)[block] -= reward->count;
    agent->left_count -= reward->count;
    agent->pull_count += reward->count;
    exact_of(agent)[block] += is_learnt ? reward->sum.steps : 0;
    if (agent->left_count > 0)
        return TACIT_OK;
    if (!is_learnt) {
        round_play_start_waiting(&agent->play);
        return TACIT_OK;
    }
    round_play_set_phase(&agent->play, PHASE_RELEASING);
    return finish_plan(agent, event, entropy, update);
}

static bool plan_is_well_formed(const struct tacit_phased_agent *agent,
                                const struct tacit_phased_message *order)
{
    TACIT_ASSERT(agent->config.arm_count >= 1);
    if (order->last)
        return order->block_count == 0;
    if (order->blocks == NULL || order->block_count == 0 ||
        order->block_count > agent->config.arm_count)
        return false;
    for (uint32_t i = 0; i < order->block_count; i++)
        if (order->blocks[i].arm >= agent->config.arm_count || order->blocks[i].count == 0 ||
            order->blocks[i].count > TACIT_HORIZON_MAX ||
            (i > 0 && order->blocks[i].arm <= order->blocks[i - 1].arm))
            return false;
    return true;
}

static enum tacit_status check_order(const struct tacit_phased_agent *agent,
                                     const struct tacit_phased_message *order)
{
    struct round_agent const round = round_of(agent);
    enum tacit_status const status = round_agent_check_order(&round, &order->head);
    bool const is_named = order->leader < agent->config.arm_count || order->leader == TACIT_NO_ARM;
    if (status == TACIT_OK && (!is_named || !plan_is_well_formed(agent, order)))
        return TACIT_MALFORMED;
    return status;
}

/* Are these more rounds, or smaller ones, than the site's policy allows? */
static bool is_beyond_policy(const struct tacit_phased_agent *agent,
                             const struct tacit_phased_message *order)
{
    if (order->last)
        return false; /* it asks for no report */
    for (uint32_t i = 0; i < order->block_count; i++)
        if (order->blocks[i].count < agent->config.pulls_min)
            return true;
    return agent->config.round_max > 0 && order->round > agent->config.round_max;
}

static enum tacit_status halt_old_copy(struct tacit_phased_agent *agent,
                                       struct tacit_phased_update *update)
{
    round_play_set_phase(&agent->play, PHASE_HALTED);
    clear_plan(agent);
    update->plan_is_void = true;
    update->persist = true;
    return TACIT_ROLLBACK;
}

static void take_order(struct tacit_phased_agent *agent, const struct tacit_phased_message *order,
                       struct tacit_phased_update *update)
{
    TACIT_ASSERT(order->round > agent->round);
    update->plan_is_void = agent->left_count > 0;
    update->persist = true;
    clear_plan(agent);
    agent->round = order->round;
    agent->leader = order->leader;
    agent->last = order->last;
    agent->reported = false;
    agent->grants.resend.unanswered_count = 0;
    if (order->last)
        plan_rest(agent, NULL, 0);
    else
        plan_order(agent, order);
    open_plan(agent, update);
}

/* Is it the very order that the last release answers? */
static bool is_answered(struct tacit_phased_agent *agent, const struct tacit_phased_message *order)
{
    if (agent->config.has_helper) /* what was said in a term before is of no sum of this one */
        return false;
    if (agent->round == 0 || order->last || order->round != agent->round ||
        order->block_count != agent->block_count)
        return false;
    for (uint32_t i = 0; i < order->block_count; i++)
        if (order->blocks[i].arm != ordered_of(agent)[i].arm ||
            order->blocks[i].count != ordered_of(agent)[i].count)
            return false;
    return true;
}

/* The first order of a term. */
static void take_place(struct tacit_phased_agent *agent, const struct tacit_phased_message *order,
                       struct tacit_phased_update *update)
{
    struct round_agent const round = round_of(agent);
    TACIT_ASSERT(agent->release_round == agent->round && agent->draw_round == agent->round);
    update->persist = true;
    if (is_answered(agent, order)) {
        agent->unplaced = false;
        agent->leader = order->leader;
        round_agent_take_seen(&round, &order->head);
        if (!agent->reported)
            send(agent, TACIT_PHASED_REPORT, update);
        return;
    }
    if (order->round <= agent->round)
        forget_release(agent);
    agent->unplaced = false;
    if (agent->phase == PHASE_FINISHED)
        agent->reported = true; /* nobody waits for this agent */
    else
        take_order(agent, order, update);
}

static enum tacit_status on_order(struct tacit_phased_agent *agent,
                                  const struct tacit_phased_message *order,
                                  struct tacit_phased_update *update)
{
    struct round_agent const round = round_of(agent);
    enum tacit_status const status = check_order(agent, order);
    if (status != TACIT_OK || agent->phase == PHASE_HALTED)
        return status;
    if (round_agent_is_old_copy(&round, &order->head))
        return halt_old_copy(agent, update);
    /* Also after a last word: arms come and go. */
    bool const is_new = agent->unplaced || order->round > agent->round;
    bool const is_over = agent->phase == PHASE_FINISHED;
    if (is_new && !is_over && is_beyond_policy(agent, order))
        return TACIT_REFUSED;
    if (is_new && agent->phase == PHASE_COMMITTED) /* the round before is settled first */
        return TACIT_UNEXPECTED;
    if (agent->unplaced) {
        take_place(agent, order, update);
        return TACIT_OK;
    }
    round_agent_take_seen(&round, &order->head);
    if (is_new && is_over) {
        update->persist = !agent->reported;
        agent->reported = true; /* the round is over: nobody waits for this agent */
    } else if (is_new) {
        take_order(agent, order, update);
    }
    return TACIT_OK;
}

static enum tacit_status on_receive(struct tacit_phased_agent *agent,
                                    const struct tacit_phased_message *message,
                                    struct tacit_phased_update *update)
{
    struct round_agent const round = round_of(agent);
    switch (message->kind) {
    case TACIT_PHASED_ORDER:
        return on_order(agent, message, update);
    case TACIT_PHASED_GRANT:
        return on_grant(agent, message, update);
    case TACIT_PHASED_REFUSAL:
        return round_agent_hear_refusal(&round, &message->head, &update->persist);
    case TACIT_PHASED_HELLO:
    case TACIT_PHASED_REPORT:
    case TACIT_PHASED_COMMIT:
        return TACIT_UNEXPECTED; /* only hubs receive these */
    }
    return TACIT_MALFORMED;
}

static enum tacit_status on_timeout(struct tacit_phased_agent *agent,
                                    const struct tacit_phased_event *event,
                                    const struct tacit_entropy *entropy,
                                    struct tacit_phased_update *update)
{
    if (event->now_us < agent->grants.resend.due_us)
        return TACIT_OK; /* a timer of an earlier update */
    if (agent->phase == PHASE_RELEASING) {
        update->persist = true;
        return finish_plan(agent, event, entropy, update);
    }
    if (agent->phase == PHASE_COMMITTED)
        send(agent, TACIT_PHASED_COMMIT, update);
    if (agent->phase == PHASE_WAITING || agent->phase == PHASE_IDLE || owes_report(agent))
        ask_again(agent, update);
    return TACIT_OK;
}

static enum tacit_status handle(struct tacit_phased_agent *agent,
                                const struct tacit_phased_event *event,
                                const struct tacit_entropy *entropy,
                                struct tacit_phased_update *update)
{
    enum tacit_status status;
    switch (event->kind) {
    case TACIT_EVENT_START:
        return on_start(agent, event->as.term, update);
    case TACIT_EVENT_REWARD:
        return on_reward(agent, event, entropy, update);
    case TACIT_EVENT_EXPLOITED: /* 1: these rewards enter no sum */
        status = round_play_exploit(&agent->play, event->as.exploited_count);
        update->persist = status == TACIT_OK;
        return status;
    case TACIT_EVENT_RECEIVE:
        return on_receive(agent, event->as.message, update);
    case TACIT_EVENT_TIMEOUT:
        return on_timeout(agent, event, entropy, update);
    case TACIT_EVENT_OFFER:
        return TACIT_INVALID; /* nobody's contexts matter here */
    }
    TACIT_ASSERT(false);
    return TACIT_INVALID;
}

/* ---- Public ---- */

enum tacit_status tacit_phased_agent_step(struct tacit_phased_agent *agent,
                                          const struct tacit_phased_event *event,
                                          const struct tacit_entropy *entropy,
                                          struct tacit_phased_update *update)
{
    bool const is_start = event->kind == TACIT_EVENT_START; /* a new process has a new clock */
    TACIT_ASSERT(is_start || event->now_us >= agent->now_us);
    check_invariants(agent);
    *update = (struct tacit_phased_update){.deadline_us = TACIT_NEVER};
    enum phase const before = agent->phase;
    bool const had_order = agent->round > 0;
    bool const was_last = agent->last;
    uint32_t const unanswered_before = agent->grants.resend.unanswered_count;
    enum tacit_status const status = handle(agent, event, entropy, update);
    update->happened |= !had_order && agent->round > 0 ? TACIT_WAS_ORDERED : 0;
    update->happened |= !was_last && agent->last ? TACIT_ENDED : 0;
    check_invariants(agent);
    TACIT_IMPLIES(status != TACIT_OK, !update->send);
    TACIT_IMPLIES(update->send, update->message.from == agent->config.agent_id);
    TACIT_IMPLIES(update->plan_count > 0, agent->phase == PHASE_PULLING);
    TACIT_IMPLIES(agent->phase != before, update->persist);
    if (status == TACIT_OK || update->persist) {
        struct round_site_step made = {.kind = event->kind,
                                       .now_us = event->now_us,
                                       .unanswered_before = unanswered_before,
                                       .sends = update->send};
        round_play_end_step(&agent->play, agent->config.resend_after_us,
                            agent->phase == PHASE_FINISHED && owes_report(agent), before, &made);
    }
    update->deadline_us = agent->grants.resend.due_us;
    return status;
}

/* ---- Check ---- */

/* A release that stands is of this term. */
static bool release_is_possible(const struct tacit_phased_agent *agent)
{
    return agent->horizon == agent->config.horizon &&
           (agent->leader < agent->config.arm_count || agent->leader == TACIT_NO_ARM) &&
           (agent->release_round == 0 ||
            agent->release_number == agent->number_base + agent->release_round) &&
           (agent->phase != PHASE_PULLING || agent->draw_round < agent->round || agent->round == 0);
}

/* Blocks, in arm order, of no more pulls than T; sums that so many rewards can have brought. */
static bool plan_is_possible(struct tacit_phased_agent *agent)
{
    uint64_t left_count = 0;
    if (agent->block_count > agent->config.arm_count)
        return false;
    for (uint32_t i = 0; i < agent->block_count; i++) {
        struct tacit_pull_block const block = ordered_of(agent)[i];
        uint64_t const left = left_of(agent)[i];
        int64_t const exact = exact_of(agent)[i];
        if (block.arm >= agent->config.arm_count || block.count == 0 ||
            block.count > agent->horizon || left > block.count ||
            (i > 0 && block.arm <= ordered_of(agent)[i - 1].arm) || exact < 0 ||
            exact > (int64_t)(block.count - left) * TACIT_STEPS)
            return false;
        left_count += left;
    }
    return left_count == agent->left_count;
}

static bool released_is_possible(struct tacit_phased_agent *agent)
{
    struct tacit_mechanism const *const mechanism = &agent->config.mechanism;
    uint64_t const draws = agent->ledger.release_count;
    uint32_t const draws_most = draws < UINT32_MAX ? (uint32_t)draws : UINT32_MAX;
    for (uint32_t arm = 0; arm < agent->config.arm_count; arm++) {
        uint64_t const pulls = released_pulls_of(agent)[arm];
        union tacit_sum const sum = {.steps = released_sums_of(agent)[arm]};
        if (pulls > agent->horizon || !tacit_mechanism_plausible(mechanism, sum, pulls, draws_most))
            return false;
    }
    bool const is_drawn = agent->draw_round == agent->round && agent->round > 0;
    for (uint32_t i = 0; i < agent->block_count; i++) {
        union tacit_sum const sum = {.steps = noised_of(agent)[i]};
        bool const is_masked = agent->config.has_helper; /* it may be anything */
        if (is_drawn ? !is_masked &&
                           !tacit_mechanism_plausible(mechanism, sum, ordered_of(agent)[i].count, 1)
                     : sum.steps != 0)
            return false;
    }
    return true;
}

enum tacit_status tacit_phased_agent_check(const struct tacit_phased_agent *state, size_t size,
                                           const struct tacit_phased_agent_config *config)
{
    struct tacit_phased_agent *const agent = (struct tacit_phased_agent *)(uintptr_t)state;
    if (size == 0 || size != tacit_phased_agent_size(config) ||
        memcmp(&agent->config, config, sizeof *config) != 0)
        return TACIT_MALFORMED;
    struct round_agent const round = round_of(agent);
    bool const is_possible = round_agent_is_possible(&round, config->budget_nano) &&
                             release_is_possible(agent) && plan_is_possible(agent) &&
                             released_is_possible(agent);
    return is_possible ? TACIT_OK : TACIT_MALFORMED;
}

/* ---- View ---- */

struct tacit_phased_message tacit_phased_agent_draw(const struct tacit_phased_agent *state)
{
    struct tacit_phased_agent *const agent = (struct tacit_phased_agent *)(uintptr_t)state;
    struct tacit_phased_update update;
    TACIT_ASSERT(agent->phase == PHASE_COMMITTED && agent->draw_round == agent->round);
    send(agent, TACIT_PHASED_REPORT, &update);
    return update.message;
}

/* 6: before the first leader, the largest own released sum a pull of the arms in the plan. */
static uint32_t exploit_arm(struct tacit_phased_agent *agent)
{
    uint32_t best = agent->block_count > 0 ? (uint32_t)ordered_of(agent)[0].arm : 0;
    double best_mean = 0;
    bool is_known = false;
    if (agent->leader != TACIT_NO_ARM)
        return agent->leader;
    if (agent->config.has_helper && agent->block_count > 0) /* in turn */
        return (uint32_t)ordered_of(agent)[agent->pull_count % agent->block_count].arm;
    for (uint32_t i = 0; i < agent->block_count; i++) {
        uint32_t const arm = (uint32_t)ordered_of(agent)[i].arm;
        uint64_t const pulls = released_pulls_of(agent)[arm];
        if (pulls == 0)
            continue;
        double const mean = (double)released_sums_of(agent)[arm] / (double)pulls;
        if (!is_known || mean > best_mean) {
            best = arm;
            best_mean = mean;
            is_known = true;
        }
    }
    return best;
}

void tacit_phased_agent_look(const struct tacit_phased_agent *state,
                             struct tacit_phased_agent_view *view)
{
    struct tacit_phased_agent *const agent = (struct tacit_phased_agent *)(uintptr_t)state;
    bool const is_at_end = agent->pull_count == agent->horizon;
    bool const is_committed = agent->phase == PHASE_COMMITTED;
    *view = (struct tacit_phased_agent_view){
        .round = agent->round,
        .waiting = agent->phase == PHASE_IDLE || agent->phase == PHASE_WAITING ||
                   (is_committed && !is_at_end),
        .last = agent->last,
        .finished = agent->phase == PHASE_FINISHED || (is_committed && is_at_end),
        .halted = agent->phase == PHASE_HALTED,
        .releasing = agent->phase == PHASE_RELEASING,
        .committed = is_committed,
        .blocked = agent->grants.blocked != 0,
        .forgotten = agent->grants.forgotten != 0,
        .head = agent->config.has_grants ? agent->grants.head : NULL,
        .reported = agent->reported,
        .pull_count = agent->pull_count,
        .leader = agent->leader,
        .exploit_arm = exploit_arm(agent),
        .term = agent->term,
        .draw_number = round_play_draw_number(&agent->play),
        .release_number = agent->release_number,
        .draw_round = agent->draw_round,
        .release_round = agent->release_round,
        .block_count = agent->block_count,
        .blocks = ordered_of(agent),
        .noised = agent->release_round == agent->round ? noised_of(agent) : NULL,
        .ledger = &agent->ledger};
}
