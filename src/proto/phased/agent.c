/* A site of the phased index (EXACT-BOUNDS 1, 5, 6): plays the plan of an order, adds up integers,
 * releases one noised sum a block, once, and reports. A plan is new pulls: whoever missed an order
 * is missing in its round, and its rewards of a plan that was overtaken are dropped for ever. */
#include <math.h>
#include <string.h>
#include "../round/agent.h"
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

/* With two aggregators: what opens the masked sums of the last draw. */
static struct tacit_helper_release *masked_of(struct tacit_phased_agent *agent)
{
    TACIT_ASSERT(agent->config.has_helper);
    return (struct tacit_helper_release *)(agent->words + 9 * (size_t)agent->config.arm_count);
}

static struct round_agent round_of(void *state)
{
    struct tacit_phased_agent *const agent = state;
    return (struct round_agent){.play = &agent->play,
                                .domain = agent->config.domain,
                                .run_id = agent->config.run_id,
                                .id = agent->config.agent_id,
                                .round_max = TACIT_PHASED_ROUNDS_MAX + 1,
                                .round_limit = agent->config.round_max,
                                .resend_after_us = agent->config.resend_after_us,
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
    TACIT_ASSERT(agent->block_count <= agent->config.arm_count);
    TACIT_ASSERT(agent->leader < agent->config.arm_count || agent->leader == TACIT_NO_ARM);
    TACIT_ASSERT(agent->release_number <= round_play_draw_number(&agent->play));
}

/* ---- Plans ---- */

/* Forgets the plan before, and what it brought. */
static void drop_plan(void *state)
{
    struct tacit_phased_agent *const agent = state;
    memset(ordered_of(agent), 0, 5 * (size_t)agent->config.arm_count * sizeof(uint64_t));
    agent->block_count = 0;
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

/* ---- Its part in a round (round/agent.h) ---- */

static uint64_t cost_nano(void *state, const struct tacit_event *event)
{
    struct tacit_phased_agent const *const agent = state;
    TACIT_IMPLIES(agent->config.has_helper, event->aggregators != NULL);
    return agent->config.has_helper ? event->aggregators->epsilon_nano
                                    : tacit_mechanism_cost_nano(&agent->config.mechanism);
}

/* 1: one sum a block, noised once. */
static enum tacit_status draw(void *state, const struct tacit_entropy *entropy,
                              struct round_draw *drawn)
{
    struct tacit_phased_agent *const agent = state;
    *drawn = (struct round_draw){.words = (uint64_t *)noised_of(agent),
                                 .count = agent->block_count,
                                 .masked = agent->config.has_helper ? masked_of(agent) : NULL};
    TACIT_ASSERT(agent->left_count == 0 && agent->block_count >= 1);
    for (uint32_t i = 0; i < agent->block_count; i++) {
        union tacit_sum sum = {.steps = exact_of(agent)[i]};
        TACIT_TRY(tacit_mechanism_release(&agent->config.mechanism, sum, entropy, &sum));
        noised_of(agent)[i] = sum.steps;
    }
    if (agent->config.has_helper)
        tacit_phased_plan_digest(ordered_of(agent), agent->block_count, drawn->digest);
    else if (agent->config.has_grants)
        phased_release_digest(ordered_of(agent), noised_of(agent), agent->block_count,
                              drawn->digest);
    return TACIT_OK;
}

static void erase_exact(void *state)
{
    struct tacit_phased_agent *const agent = state;
    TACIT_ASSERT(agent->left_count == 0);
    memset(exact_of(agent), 0, agent->config.arm_count * sizeof(uint64_t));
}

/* What may be used counts: for the arm that is played while the agent waits. */
static void add_released(void *state)
{
    struct tacit_phased_agent *const agent = state;
    TACIT_ASSERT(agent->block_count <= agent->config.arm_count);
    for (uint32_t i = 0; i < agent->block_count && !agent->config.has_helper; i++) {
        uint32_t const arm = ordered_of(agent)[i].arm;
        released_sums_of(agent)[arm] += noised_of(agent)[i];
        released_pulls_of(agent)[arm] += ordered_of(agent)[i].count;
    }
}

/* 5.7: one arm: nothing to learn and nothing to say. */
static bool begin_alone(void *state)
{
    struct tacit_phased_agent *const agent = state;
    if (agent->config.arm_count > 1)
        return false;
    TACIT_ASSERT(agent->block_count == 0);
    agent->awaiting_first_order = false;
    agent->last = true;
    agent->leader = 0;
    add_block(agent, agent->leader, agent->horizon - agent->pull_count);
    return true;
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

static enum tacit_status add_reward(struct tacit_phased_agent *agent,
                                    const struct tacit_reward *reward)
{
    uint32_t const block = block_of(agent, reward->arm);
    if (agent->phase != PHASE_PULLING || block == agent->block_count || reward->count == 0 ||
        reward->count > left_of(agent)[block] || reward->sum.steps < 0 ||
        reward->sum.steps > (int64_t)reward->count * TACIT_STEPS)
        return TACIT_INVALID;
    left_of(agent)[block] -= reward->count;
    agent->left_count -= reward->count;
    agent->pull_count += reward->count;
    exact_of(agent)[block] += agent->last || agent->cut ? 0 : reward->sum.steps;
    return TACIT_OK;
}

/* 1: rewards beside the plan enter no sum. */
static enum tacit_status play(void *state, const struct tacit_event *event)
{
    struct tacit_phased_agent *const agent = state;
    return event->kind == TACIT_EVENT_REWARD
               ? add_reward(agent, &event->as.reward)
               : round_play_exploit(&agent->play, event->as.exploited_count);
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

static enum tacit_status check_order(void *state, const struct tacit_event *input)
{
    struct tacit_phased_agent const *const agent = state;
    struct tacit_phased_message const *const order = input->as.message;
    bool const has_leader = order->leader < agent->config.arm_count;
    return (has_leader || order->leader == TACIT_NO_ARM) && plan_is_well_formed(agent, order)
               ? TACIT_OK
               : TACIT_MALFORMED;
}

static void lay_plan(void *state, const struct tacit_event *input)
{
    struct tacit_phased_agent *const agent = state;
    struct tacit_phased_message const *const order = input->as.message;
    TACIT_ASSERT(agent->block_count == 0 && agent->left_count == 0);
    agent->leader = order->leader;
    if (order->last)
        plan_rest(agent, NULL, 0);
    else
        plan_order(agent, order);
}

/* True: it is the very order that the last release answers. With two aggregators none is: what was
 * said in a term before is of no sum of this one. */
static bool reuse_release(void *state, const struct tacit_event *input)
{
    struct tacit_phased_agent *const agent = state;
    struct tacit_phased_message const *const order = input->as.message;
    if (agent->config.has_helper || order->block_count != agent->block_count)
        return false;
    for (uint32_t i = 0; i < order->block_count; i++)
        if (order->blocks[i].arm != ordered_of(agent)[i].arm ||
            order->blocks[i].count != ordered_of(agent)[i].count)
            return false;
    agent->leader = order->leader;
    return true;
}

static const struct round_agent_rule rule = {.round = round_of,
                                             .head_at = offsetof(struct tacit_phased_message, head),
                                             .check_order = check_order,
                                             .reuse_release = reuse_release,
                                             .plan = lay_plan,
                                             .begin = begin_alone,
                                             .play = play,
                                             .cost_nano = cost_nano,
                                             .draw = draw,
                                             .erase = erase_exact,
                                             .use = add_released,
                                             .drop = drop_plan,
                                             .forget = drop_plan};

/* ---- Messages ---- */

static struct tacit_phased_message message_of(struct tacit_phased_agent *agent,
                                              enum tacit_round_kind kind)
{
    struct round_agent const round = round_of(agent);
    struct tacit_phased_message message = {
        .kind = kind, .head = round_agent_head(&round), .leader = TACIT_NO_ARM};
    if (kind == TACIT_ROUND_REPORT) {
        message.block_count = agent->block_count;
        message.sums = noised_of(agent);
        message.masked = agent->config.has_helper ? masked_of(agent) : NULL;
    }
    return message;
}

static void fill_update(struct tacit_phased_agent *agent, const struct round_agent_made *made,
                        struct tacit_phased_update *update)
{
    *update = (struct tacit_phased_update){.core = round_agent_update(&agent->play, made)};
    if (update->send)
        update->message = message_of(agent, (enum tacit_round_kind)made->message_kind);
    if (made->plan_is_open)
        fill_plan(agent, update);
}

/* ---- Public ---- */

enum tacit_status tacit_phased_agent_step(struct tacit_phased_agent *agent,
                                          const struct tacit_event *event,
                                          const struct tacit_entropy *entropy,
                                          struct tacit_phased_update *update)
{
    struct round_agent_made made;
    check_invariants(agent);
    enum tacit_status const status = round_agent_step(&rule, agent, event, entropy, &made);
    check_invariants(agent);
    fill_update(agent, &made, update);
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
    TACIT_ASSERT(agent->phase == PHASE_COMMITTED && agent->draw_round == agent->round);
    return message_of(agent, TACIT_ROUND_REPORT);
}

/* 6: before the first leader, the largest own released sum a pull of the arms in the plan. */
static uint32_t exploit_arm(struct tacit_phased_agent *agent)
{
    uint32_t best = agent->block_count > 0 ? (uint32_t)ordered_of(agent)[0].arm : 0;
    double best_mean = -INFINITY;
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
        if (mean > best_mean) {
            best = arm;
            best_mean = mean;
        }
    }
    return best;
}

void tacit_phased_agent_view(const struct tacit_phased_agent *state,
                             struct tacit_phased_agent_view *view)
{
    struct tacit_phased_agent *const agent = (struct tacit_phased_agent *)(uintptr_t)state;
    struct round_agent const round = round_of(agent);
    *view = (struct tacit_phased_agent_view){
        .play = round_agent_view(&round),
        .leader = agent->leader,
        .exploit_arm = exploit_arm(agent),
        .block_count = agent->block_count,
        .blocks = ordered_of(agent),
        .noised = agent->release_round == agent->round ? noised_of(agent) : NULL};
}
