/* The agent's core. Alg. 1 and 4 of Zhu et al. 2021; lines are theirs. What is said to neighbours
 * and what is played depend on released values alone: theta, X~ and n are all this state has. The
 * exact sums of this life are in the memory beside it. */
#include "row.h"
#include <string.h>

#define VALUE_MAX 1e100 /* no sum of rewards and noise comes near it */

enum phase {
    PHASE_NEW,     /* before START */
    PHASE_FIRST,   /* line 1: the first pulls are planned */
    PHASE_WAITING, /* lockstep: for the next slot */
    PHASE_PULLING, /* one pull is planned */
    PHASE_FINISHED,
    PHASE_HALTED
};

/* An edge, as this end knows it; K words of flow and K of the last shift follow elsewhere. */
struct edge {
    uint64_t neighbour;
    uint64_t exchange; /* the last one */
    uint64_t life_number;
    uint64_t life;
};

struct tacit_gossip_agent {
    struct tacit_gossip_rule rule;
    uint64_t run_id;
    uint64_t slot_us;
    uint64_t exchange_us;
    uint64_t pull_us;
    double weight;
    uint32_t agent_id;
    uint32_t neighbour_count;
    uint32_t phase;
    uint32_t guards_lives;
    uint64_t slot;
    uint64_t pull_count;
    uint64_t forced_count;
    uint64_t exchange_count;
    uint64_t exploited_count;
    uint64_t now_us;
    uint64_t lived_us; /* of all lives: what others can have pulled by now */
    uint64_t deadline_us;
    uint64_t life_number;
    uint64_t life;
    uint64_t offered_until_us; /* waits for the SHIFT of an OFFER */
    uint32_t arm;
    uint32_t forced;
    uint32_t first_left; /* first pulls whose reward is missing */
    /* K: count | seen | heard | theta | mean | reach | bonus | base | total |
     * W(K): first pulls that came | plan K | edges d | flow d K | shift d K | neighbour ids d */
    uint64_t words[];
};

struct tacit_gossip_memory {
    uint64_t tree_bytes;
    uint64_t words[];
};

/* ---- Layout ---- */

enum array {
    ARRAY_COUNT,
    ARRAY_SEEN,
    ARRAY_HEARD,
    ARRAY_THETA,
    ARRAY_MEAN,
    ARRAY_REACH,
    ARRAY_BONUS,
    ARRAY_BASE,
    ARRAY_TOTAL,
    ARRAYS
};

#define WORDS_OF(type) (sizeof(type) / sizeof(uint64_t))

static uint64_t *array_of(struct tacit_gossip_agent *agent, enum array array)
{
    TACIT_ASSERT(array <= ARRAYS);
    return agent->words + (size_t)array * agent->rule.arm_count;
}

static double *doubles_of(struct tacit_gossip_agent *agent, enum array array)
{
    return (double *)(void *)array_of(agent, array);
}

static union tacit_sum *sums_of(struct tacit_gossip_agent *agent, enum array array)
{
    return (union tacit_sum *)(void *)array_of(agent, array);
}

static uint64_t *came_of(struct tacit_gossip_agent *agent)
{
    return array_of(agent, ARRAYS);
}

static struct tacit_pull_block *plan_of(struct tacit_gossip_agent *agent)
{
    return (struct tacit_pull_block *)(void *)(came_of(agent) +
                                               TACIT_BITS_WORDS(agent->rule.arm_count));
}

static struct edge *edges_of(struct tacit_gossip_agent *agent)
{
    return (struct edge *)(void *)(plan_of(agent) + agent->rule.arm_count);
}

static double *flow_of(struct tacit_gossip_agent *agent, uint32_t edge)
{
    TACIT_ASSERT(edge <= 2 * agent->neighbour_count);
    double *const flows = (double *)(void *)(edges_of(agent) + agent->neighbour_count);
    return flows + (size_t)edge * agent->rule.arm_count;
}

static double *shift_of(struct tacit_gossip_agent *agent, uint32_t edge)
{
    TACIT_ASSERT(edge < agent->neighbour_count);
    return flow_of(agent, agent->neighbour_count + edge);
}

static size_t word_count(uint32_t arms, uint32_t neighbours)
{
    return (size_t)ARRAYS * arms + TACIT_BITS_WORDS(arms) +
           arms * WORDS_OF(struct tacit_pull_block) + neighbours * WORDS_OF(struct edge) +
           2 * (size_t)neighbours * arms;
}

static struct gossip_row row_of(struct tacit_gossip_agent *agent,
                                struct tacit_gossip_memory *memory)
{
    return (struct gossip_row){.rule = &agent->rule,
                               .weight = &agent->weight,
                               .count = array_of(agent, ARRAY_COUNT),
                               .seen = array_of(agent, ARRAY_SEEN),
                               .theta = doubles_of(agent, ARRAY_THETA),
                               .mean = doubles_of(agent, ARRAY_MEAN),
                               .reach = doubles_of(agent, ARRAY_REACH),
                               .bonus = doubles_of(agent, ARRAY_BONUS),
                               .base = sums_of(agent, ARRAY_BASE),
                               .total = sums_of(agent, ARRAY_TOTAL),
                               .trees = (unsigned char *)memory->words,
                               .tree_bytes = tacit_tree_size(&agent->rule.tree)};
}

/* The edge to this neighbour; neighbour_count if there is none. Cost: O(log d). */
static uint32_t edge_to(struct tacit_gossip_agent *agent, uint32_t neighbour)
{
    struct edge const *const edges = edges_of(agent);
    uint32_t low = 0;
    uint32_t high = agent->neighbour_count;
    while (low < high) {
        uint32_t const middle = low + (high - low) / 2;
        if (edges[middle].neighbour < neighbour)
            low = middle + 1;
        else
            high = middle;
    }
    bool const is_there = low < agent->neighbour_count && edges[low].neighbour == neighbour;
    return is_there ? low : agent->neighbour_count;
}

static bool is_keeper(const struct tacit_gossip_agent *agent, uint32_t neighbour)
{
    TACIT_ASSERT(neighbour != agent->agent_id);
    return agent->agent_id < neighbour;
}

static bool is_lockstep(const struct tacit_gossip_agent *agent)
{
    return agent->slot_us > 0;
}

static void check_invariants(const struct tacit_gossip_agent *agent)
{
    TACIT_ASSERT(agent->forced <= 1);
    TACIT_ASSERT(agent->forced_count <= agent->slot);
    TACIT_ASSERT(agent->first_left <= agent->rule.arm_count);
    TACIT_ASSERT(agent->pull_count == agent->slot + agent->rule.arm_count - agent->first_left);
    TACIT_IMPLIES(agent->phase == PHASE_FINISHED, agent->slot == agent->rule.horizon);
    TACIT_IMPLIES(agent->first_left > 0, agent->slot == 0);
    TACIT_ASSERT(agent->phase <= PHASE_HALTED);
    TACIT_ASSERT(agent->slot <= agent->rule.horizon);
    TACIT_IMPLIES(agent->phase == PHASE_PULLING, agent->arm < agent->rule.arm_count);
}

/* ---- Saying ---- */

static struct tacit_gossip_message message_to(const struct tacit_gossip_agent *agent, uint32_t to,
                                              enum tacit_gossip_message_kind kind)
{
    TACIT_ASSERT(to == TACIT_NEIGHBOURS || to != agent->agent_id);
    return (struct tacit_gossip_message){.kind = kind,
                                         .from = agent->agent_id,
                                         .to = to,
                                         .run_id = agent->run_id,
                                         .life_number = agent->life_number,
                                         .life = agent->life};
}

static void say(struct tacit_gossip_agent *agent, struct tacit_gossip_message message,
                struct tacit_gossip_update *update)
{
    /* On its own clock n~ rides on every message; in lockstep it is told at the slot's beginning,
     * so that it travels one edge a slot. */
    if (!is_lockstep(agent) || message.kind == TACIT_GOSSIP_COUNTS)
        message.seen = array_of(agent, ARRAY_SEEN);
    update->send = true;
    update->message = message;
}

static void offer(struct tacit_gossip_agent *agent, uint32_t edge,
                  struct tacit_gossip_update *update)
{
    TACIT_ASSERT(edge < agent->neighbour_count);
    TACIT_ASSERT(!is_keeper(agent, (uint32_t)edges_of(agent)[edge].neighbour));
    struct edge const *const it = &edges_of(agent)[edge];
    struct tacit_gossip_message message =
        message_to(agent, (uint32_t)it->neighbour, TACIT_GOSSIP_OFFER);
    message.exchange = it->exchange;
    message.theta = doubles_of(agent, ARRAY_THETA);
    message.flow = flow_of(agent, edge);
    /* A keeper whose own offer is open lets others wait: half of what it has is promised. */
    agent->offered_until_us = agent->now_us + 4 * agent->exchange_us;
    say(agent, message, update);
}

static void answer(struct tacit_gossip_agent *agent, uint32_t edge,
                   struct tacit_gossip_update *update)
{
    TACIT_ASSERT(edge < agent->neighbour_count);
    TACIT_ASSERT(is_keeper(agent, (uint32_t)edges_of(agent)[edge].neighbour));
    struct edge const *const it = &edges_of(agent)[edge];
    struct tacit_gossip_message message =
        message_to(agent, (uint32_t)it->neighbour, TACIT_GOSSIP_SHIFT);
    message.exchange = it->exchange;
    message.shift = shift_of(agent, edge);
    message.flow = flow_of(agent, edge);
    say(agent, message, update);
}

/* ---- Slots ---- */

static void plan_pull(struct tacit_gossip_agent *agent, struct tacit_gossip_update *update)
{
    TACIT_ASSERT(agent->arm < agent->rule.arm_count);
    TACIT_ASSERT(agent->phase == PHASE_PULLING);
    plan_of(agent)[0] = (struct tacit_pull_block){.arm = agent->arm, .count = 1};
    update->plan = plan_of(agent);
    update->plan_count = 1;
}

static void plan_first(struct tacit_gossip_agent *agent, struct tacit_gossip_update *update)
{
    uint32_t count = 0;
    for (uint32_t arm = 0; arm < agent->rule.arm_count; arm++)
        if (!tacit_bits_has(came_of(agent), arm))
            plan_of(agent)[count++] = (struct tacit_pull_block){.arm = arm, .count = 1};
    TACIT_ASSERT(count == agent->first_left);
    update->plan = plan_of(agent);
    update->plan_count = count;
}

/* Line 5. What was heard since the last slot enters n~ only now: line 6 of this slot used the n~ of
 * the step before (READINGS P2.5). */
static void update_seen(struct tacit_gossip_agent *agent)
{
    uint64_t const *const count = array_of(agent, ARRAY_COUNT);
    uint64_t const *const heard = array_of(agent, ARRAY_HEARD);
    uint64_t *const seen = array_of(agent, ARRAY_SEEN);
    for (uint32_t arm = 0; arm < agent->rule.arm_count; arm++) {
        uint64_t const told = count[arm] > heard[arm] ? count[arm] : heard[arm];
        seen[arm] = told > seen[arm] ? told : seen[arm];
    }
}

/* Lines 3-14. n counts the pull from here on: decisions given, not rewards that came, so that a
 * reward that is slow does not show its value. Errors: TACIT_ENTROPY, nothing changed. */
static enum tacit_status begin_slot(struct tacit_gossip_agent *agent,
                                    struct tacit_gossip_memory *memory,
                                    const struct tacit_entropy *entropy,
                                    struct tacit_gossip_update *update)
{
    TACIT_ASSERT(agent->phase == PHASE_WAITING);
    TACIT_ASSERT(agent->slot < agent->rule.horizon);
    struct gossip_row const row = row_of(agent, memory);
    struct gossip_sight const sight =
        gossip_look(&row, gossip_slot_at(&agent->rule, agent->slot + 1));
    uint32_t arm = 0;
    enum tacit_status const status = gossip_choose(&row, &sight, entropy, &arm);
    if (status != TACIT_OK)
        return status;
    TACIT_ASSERT(arm < agent->rule.arm_count);
    agent->slot++;
    agent->arm = arm;
    agent->forced = sight.behind_count > 0;
    agent->forced_count += agent->forced;
    update_seen(agent);
    gossip_give(&row, arm);
    agent->pull_count++;
    agent->phase = PHASE_PULLING;
    plan_pull(agent, update);
    update->persist = true;
    if (is_lockstep(agent))
        say(agent, message_to(agent, TACIT_NEIGHBOURS, TACIT_GOSSIP_COUNTS), update);
    return TACIT_OK;
}

/* After a reward: the next slot, now or when its time comes. */
static enum tacit_status go_on(struct tacit_gossip_agent *agent, struct tacit_gossip_memory *memory,
                               const struct tacit_entropy *entropy,
                               struct tacit_gossip_update *update)
{
    TACIT_ASSERT(agent->first_left == 0);
    agent->arm = TACIT_NO_ARM;
    agent->phase = agent->slot == agent->rule.horizon ? PHASE_FINISHED : PHASE_WAITING;
    if (is_lockstep(agent) || agent->phase == PHASE_FINISHED)
        return TACIT_OK;
    /* The reward was taken in; if entropy fails now, the next timeout begins the slot. */
    (void)begin_slot(agent, memory, entropy, update);
    return TACIT_OK;
}

/* ---- Events ---- */

/* A new life: what earlier ones released is final, and its trees are never drawn from again
 * (PRIVACY.md, decision 6). */
static void close_trees(struct tacit_gossip_agent *agent)
{
    union tacit_sum *const base = sums_of(agent, ARRAY_BASE);
    union tacit_sum *const total = sums_of(agent, ARRAY_TOTAL);
    bool const is_real = agent->rule.tree.node.scale.kind == TACIT_SCALE_REAL;
    for (uint32_t arm = 0; arm < agent->rule.arm_count; arm++) {
        if (is_real)
            base[arm].real += total[arm].real;
        else
            base[arm].steps += total[arm].steps;
        total[arm] = (union tacit_sum){0};
    }
}

/* What follows from n, anew: a state may have been made by another mathematical library. */
static void refresh(struct tacit_gossip_agent *agent)
{
    uint64_t const *const count = array_of(agent, ARRAY_COUNT);
    for (uint32_t arm = 0; arm < agent->rule.arm_count; arm++)
        if (count[arm] > 0) {
            doubles_of(agent, ARRAY_REACH)[arm] = gossip_reach(&agent->rule, count[arm]);
            if (agent->rule.noisy)
                doubles_of(agent, ARRAY_BONUS)[arm] = gossip_bonus(&agent->rule, count[arm]);
        }
}

static bool is_unused(const struct tacit_gossip_memory *memory,
                      const struct tacit_gossip_rule *rule)
{
    for (uint32_t arm = 0; rule->noisy && arm < rule->arm_count; arm++) {
        unsigned char const *const trees = (const unsigned char *)memory->words;
        struct tacit_tree const *const tree =
            (const struct tacit_tree *)(const void *)(trees + arm * memory->tree_bytes);
        if (tree->leaf != 0)
            return false;
    }
    return true;
}

static enum tacit_status on_start(struct tacit_gossip_agent *agent,
                                  const struct tacit_gossip_event *event,
                                  const struct tacit_gossip_memory *memory,
                                  const struct tacit_entropy *entropy,
                                  struct tacit_gossip_update *update)
{
    TACIT_ASSERT(is_unused(memory, &agent->rule));
    if (agent->phase == PHASE_HALTED) {
        agent->now_us = event->now_us; /* a new clock, for one that stays silent, too */
        return TACIT_OK;
    }
    uint64_t life = 0;
    if (agent->guards_lives) {
        enum tacit_status const status = tacit_entropy_below(entropy, UINT64_MAX, &life);
        if (status != TACIT_OK)
            return status;
        agent->life_number++;
    }
    agent->life = life;
    agent->now_us = event->now_us;
    agent->offered_until_us = 0;
    close_trees(agent);
    refresh(agent);
    update->persist = true;
    if (agent->phase == PHASE_NEW)
        agent->phase = PHASE_FIRST;
    if (agent->phase == PHASE_FIRST)
        plan_first(agent, update);
    else if (agent->phase == PHASE_PULLING)
        plan_pull(agent, update);
    uint64_t const pause = is_lockstep(agent) ? agent->slot_us : agent->exchange_us;
    agent->deadline_us =
        agent->neighbour_count > 0 || is_lockstep(agent) ? event->now_us + pause : TACIT_NEVER;
    return TACIT_OK;
}

static bool reward_is_possible(const struct tacit_gossip_agent *agent,
                               const struct tacit_reward *reward)
{
    if (reward->count != 1 || reward->arm >= agent->rule.arm_count)
        return false;
    if (agent->rule.tree.node.scale.kind == TACIT_SCALE_STEPS)
        return reward->sum.steps >= 0 && reward->sum.steps <= TACIT_STEPS;
    return fabs(reward->sum.real) <= VALUE_MAX;
}

static enum tacit_status on_first_reward(struct tacit_gossip_agent *agent,
                                         const struct gossip_row *row,
                                         const struct tacit_reward *reward,
                                         const struct tacit_entropy *entropy)
{
    TACIT_ASSERT(reward->count == 1);
    if (tacit_bits_has(came_of(agent), reward->arm))
        return TACIT_INVALID;
    TACIT_ASSERT(row->count[reward->arm] == 0 && agent->first_left > 0);
    gossip_first(row, reward->arm);
    enum tacit_status const status =
        gossip_absorb(row, reward->arm, 0, agent->rule.noisy, reward->sum, entropy);
    if (status != TACIT_OK) { /* as if nothing had come */
        row->count[reward->arm] = 0;
        row->seen[reward->arm] = 0;
        row->reach[reward->arm] = 0;
        row->bonus[reward->arm] = 0;
        return status;
    }
    tacit_bits_add(came_of(agent), reward->arm);
    agent->first_left--;
    agent->pull_count++;
    return TACIT_OK;
}

static enum tacit_status on_reward(struct tacit_gossip_agent *agent,
                                   struct tacit_gossip_memory *memory,
                                   const struct tacit_reward *reward,
                                   const struct tacit_entropy *entropy,
                                   struct tacit_gossip_update *update)
{
    struct gossip_row const row = row_of(agent, memory);
    if (!reward_is_possible(agent, reward))
        return TACIT_INVALID;
    enum tacit_status status = TACIT_INVALID;
    if (agent->phase == PHASE_FIRST)
        status = on_first_reward(agent, &row, reward, entropy);
    else if (agent->phase == PHASE_PULLING && reward->arm == agent->arm)
        status =
            gossip_absorb(&row, reward->arm, agent->slot, agent->rule.noisy, reward->sum, entropy);
    if (status != TACIT_OK)
        return status;
    update->persist = true;
    if (agent->phase == PHASE_FIRST && agent->first_left > 0)
        return TACIT_OK;
    return go_on(agent, memory, entropy, update);
}

/* Which neighbour this agent's own clock meets next. */
static enum tacit_status begin_exchange(struct tacit_gossip_agent *agent,
                                        const struct tacit_entropy *entropy,
                                        struct tacit_gossip_update *update)
{
    if (agent->neighbour_count == 0 || agent->phase == PHASE_FIRST)
        return TACIT_OK;
    uint64_t drawn = 0;
    enum tacit_status const status = tacit_entropy_below(entropy, agent->neighbour_count, &drawn);
    if (status != TACIT_OK)
        return status;
    uint32_t const edge = (uint32_t)drawn;
    uint32_t const neighbour = (uint32_t)edges_of(agent)[edge].neighbour;
    TACIT_ASSERT(edge < agent->neighbour_count);
    if (is_keeper(agent, neighbour))
        say(agent, message_to(agent, neighbour, TACIT_GOSSIP_ASK), update);
    else if (agent->now_us >= agent->offered_until_us)
        offer(agent, edge, update);
    return TACIT_OK;
}

static enum tacit_status on_timeout(struct tacit_gossip_agent *agent,
                                    struct tacit_gossip_memory *memory,
                                    const struct tacit_entropy *entropy,
                                    struct tacit_gossip_update *update)
{
    if (agent->now_us < agent->deadline_us || agent->phase == PHASE_NEW)
        return TACIT_OK; /* a timer of an earlier update */
    enum tacit_status status = TACIT_OK;
    if (is_lockstep(agent)) {
        if (agent->phase == PHASE_WAITING)
            status = begin_slot(agent, memory, entropy, update);
        if (status == TACIT_OK)
            agent->deadline_us =
                agent->phase == PHASE_FINISHED ? TACIT_NEVER : agent->now_us + agent->slot_us;
        return status;
    }
    status = begin_exchange(agent, entropy, update);
    if (status == TACIT_OK && agent->phase == PHASE_WAITING)
        status = begin_slot(agent, memory, entropy, update);
    agent->deadline_us = agent->now_us + agent->exchange_us;
    return status;
}

/* ---- Receiving ---- */

static bool row_is_finite(const double *row, uint32_t arms)
{
    for (uint32_t arm = 0; arm < arms; arm++)
        if (!(fabs(row[arm]) <= VALUE_MAX))
            return false;
    return true;
}

static enum tacit_status check_message(struct tacit_gossip_agent *agent,
                                       const struct tacit_gossip_message *message)
{
    uint32_t const arms = agent->rule.arm_count;
    if (message->run_id != agent->run_id ||
        (message->to != agent->agent_id && message->to != TACIT_NEIGHBOURS) ||
        edge_to(agent, message->from) == agent->neighbour_count)
        return TACIT_STRANGER;
    bool const is_offer = message->kind == TACIT_GOSSIP_OFFER;
    bool const is_shift = message->kind == TACIT_GOSSIP_SHIFT;
    if (message->kind > TACIT_GOSSIP_REFUSE || (message->theta != NULL) != is_offer ||
        (message->shift != NULL) != is_shift || (message->flow != NULL) != (is_offer || is_shift) ||
        (is_offer && !row_is_finite(message->theta, arms)) ||
        (is_shift && !row_is_finite(message->shift, arms)) ||
        (message->flow != NULL && !row_is_finite(message->flow, arms)) ||
        (message->kind == TACIT_GOSSIP_COUNTS && message->seen == NULL) ||
        (message->life_number > 0) != (agent->guards_lives != 0))
        return TACIT_MALFORMED;
    /* An edge's keeper asks and shifts, its other end offers. */
    bool const from_keeper = message->from < agent->agent_id;
    if ((is_offer && from_keeper) ||
        ((is_shift || message->kind == TACIT_GOSSIP_ASK) && !from_keeper))
        return TACIT_UNEXPECTED;
    return TACIT_OK;
}

/* Nobody has pulled an arm more often than this by now: one pull a slot and the first one. */
static uint64_t pulls_possible(const struct tacit_gossip_agent *agent)
{
    uint64_t const most = agent->rule.horizon + 1;
    if (is_lockstep(agent))
        return agent->slot + 1 < most ? agent->slot + 1 : most;
    if (agent->pull_us == 0)
        return most;
    uint64_t const by_clock = agent->lived_us / agent->pull_us + 1;
    return by_clock < most ? by_clock : most;
}

/* A neighbour's n~ that cannot be is cut: it must not force an arm for ever. */
static void take_seen(struct tacit_gossip_agent *agent, const uint64_t *seen,
                      struct tacit_gossip_update *update)
{
    TACIT_ASSERT(seen != NULL);
    TACIT_ASSERT(pulls_possible(agent) <= agent->rule.horizon + 1);
    uint64_t const most = pulls_possible(agent);
    uint64_t *const heard = array_of(agent, ARRAY_HEARD);
    for (uint32_t arm = 0; arm < agent->rule.arm_count; arm++) {
        uint64_t const told = seen[arm] < most ? seen[arm] : most;
        if (told > heard[arm]) {
            heard[arm] = told;
            update->persist = true;
        }
    }
}

enum acquaintance { LIFE_KNOWN, LIFE_NEW, LIFE_REFUSED };

/* One life of a site at a time: a later start replaces an earlier one; of two copies that start
 * from the same state the one that is heard first stays. */
static enum acquaintance acquaint(const struct edge *edge,
                                  const struct tacit_gossip_message *message)
{
    if (message->life_number == edge->life_number && message->life == edge->life)
        return LIFE_KNOWN;
    return message->life_number > edge->life_number ? LIFE_NEW : LIFE_REFUSED;
}

static void refuse(struct tacit_gossip_agent *agent, const struct tacit_gossip_message *message,
                   struct tacit_gossip_update *update)
{
    TACIT_ASSERT(agent->guards_lives != 0);
    struct tacit_gossip_message refusal = message_to(agent, message->from, TACIT_GOSSIP_REFUSE);
    refusal.life_number = message->life_number;
    refusal.life = message->life;
    update->send = true;
    update->message = refusal;
}

/* Moves theta so that the edge has moved `flow` to this agent in all. */
static void set_flow(struct tacit_gossip_agent *agent, uint32_t edge, const double *their_flow)
{
    TACIT_ASSERT(edge < agent->neighbour_count);
    double *const flow = flow_of(agent, edge);
    double *const theta = doubles_of(agent, ARRAY_THETA);
    for (uint32_t arm = 0; arm < agent->rule.arm_count; arm++) {
        theta[arm] += -their_flow[arm] - flow[arm];
        flow[arm] = -their_flow[arm];
    }
}

/* Do both ends say that the edge moved the same before, `shift` (NULL: nothing) aside? Where a copy
 * of an end took its place they may not: then totals count, not what one exchange moved. */
static bool flows_agree(struct tacit_gossip_agent *agent, uint32_t edge, const double *their_flow,
                        const double *shift)
{
    TACIT_ASSERT(edge < agent->neighbour_count);
    TACIT_ASSERT(their_flow != NULL);
    double const *const flow = flow_of(agent, edge);
    for (uint32_t arm = 0; arm < agent->rule.arm_count; arm++) {
        double const moved = shift == NULL ? 0 : shift[arm];
        double const off = fabs(flow[arm] + their_flow[arm] + moved);
        if (!(off <= 1e-12 * (1 + fabs(flow[arm]) + fabs(moved))))
            return false;
    }
    return true;
}

/* Line 20 at the keeper. */
static void move_half(struct tacit_gossip_agent *agent, uint32_t edge, const double *theirs)
{
    TACIT_ASSERT(edge < agent->neighbour_count);
    TACIT_ASSERT(theirs != NULL);
    double *const theta = doubles_of(agent, ARRAY_THETA);
    double *const flow = flow_of(agent, edge);
    double *const shift = shift_of(agent, edge);
    for (uint32_t arm = 0; arm < agent->rule.arm_count; arm++) {
        shift[arm] = gossip_half(theta[arm], theirs[arm]);
        theta[arm] -= shift[arm];
        flow[arm] -= shift[arm];
    }
    edges_of(agent)[edge].exchange++;
    agent->exchange_count++;
}

static enum tacit_status on_offer(struct tacit_gossip_agent *agent,
                                  const struct tacit_gossip_message *message,
                                  struct tacit_gossip_update *update)
{
    TACIT_ASSERT(message->theta != NULL);
    TACIT_ASSERT(message->flow != NULL);
    uint32_t const at = edge_to(agent, message->from);
    struct edge *const edge = &edges_of(agent)[at];
    if (message->exchange > edge->exchange ||
        (message->exchange == edge->exchange && !flows_agree(agent, at, message->flow, NULL))) {
        if (!agent->guards_lives)
            return TACIT_MALFORMED;         /* this state was never put back: that cannot be */
        set_flow(agent, at, message->flow); /* an old copy catches up with what it had moved */
        edge->exchange = message->exchange;
        memset(shift_of(agent, at), 0, agent->rule.arm_count * sizeof(double));
        update->persist = true;
    }
    bool const is_up_to_date = message->exchange == edge->exchange;
    bool const is_promised = agent->now_us < agent->offered_until_us;
    if (is_up_to_date && !is_promised && agent->phase != PHASE_FIRST) {
        move_half(agent, at, message->theta);
        update->persist = true;
    }
    answer(agent, at, update);
    return TACIT_OK;
}

/* Line 20 at the other end. */
static enum tacit_status on_shift(struct tacit_gossip_agent *agent,
                                  const struct tacit_gossip_message *message,
                                  struct tacit_gossip_update *update)
{
    TACIT_ASSERT(message->shift != NULL);
    TACIT_ASSERT(message->flow != NULL);
    uint32_t const at = edge_to(agent, message->from);
    struct edge *const edge = &edges_of(agent)[at];
    agent->offered_until_us = 0;
    if (message->exchange <= edge->exchange)
        return TACIT_OK; /* late, repeated, or the keeper said: not now */
    if (message->exchange == edge->exchange + 1 &&
        flows_agree(agent, at, message->flow, message->shift)) {
        double *const theta = doubles_of(agent, ARRAY_THETA);
        double *const flow = flow_of(agent, at);
        for (uint32_t arm = 0; arm < agent->rule.arm_count; arm++) {
            theta[arm] += message->shift[arm];
            flow[arm] = -message->flow[arm];
        }
    } else {
        set_flow(agent, at, message->flow);
    }
    memcpy(shift_of(agent, at), message->shift, agent->rule.arm_count * sizeof(double));
    edge->exchange = message->exchange;
    agent->exchange_count++;
    update->persist = true;
    return TACIT_OK;
}

static enum tacit_status on_receive(struct tacit_gossip_agent *agent,
                                    const struct tacit_gossip_message *message,
                                    struct tacit_gossip_update *update)
{
    enum tacit_status const status = check_message(agent, message);
    if (status != TACIT_OK)
        return status;
    if (agent->phase == PHASE_NEW)
        return TACIT_UNEXPECTED;
    uint32_t const at = edge_to(agent, message->from);
    if (message->kind == TACIT_GOSSIP_REFUSE) {
        if (message->life_number != agent->life_number || message->life != agent->life)
            return TACIT_OK; /* of an earlier life */
        agent->phase = PHASE_HALTED;
        update->persist = true;
        return TACIT_ROLLBACK;
    }
    struct edge *const edge = &edges_of(agent)[at];
    enum acquaintance const known = acquaint(edge, message);
    if (known == LIFE_REFUSED) {
        refuse(agent, message, update);
        return TACIT_OK;
    }
    if (known == LIFE_NEW) {
        edge->life_number = message->life_number;
        edge->life = message->life;
        update->persist = true;
    }
    if (message->seen != NULL)
        take_seen(agent, message->seen, update);
    switch (message->kind) {
    case TACIT_GOSSIP_COUNTS:
        return TACIT_OK;
    case TACIT_GOSSIP_ASK:
        if (agent->phase != PHASE_FIRST && agent->now_us >= agent->offered_until_us)
            offer(agent, at, update);
        return TACIT_OK;
    case TACIT_GOSSIP_OFFER:
        return on_offer(agent, message, update);
    case TACIT_GOSSIP_SHIFT:
        return on_shift(agent, message, update);
    case TACIT_GOSSIP_REFUSE:
        break;
    }
    TACIT_ASSERT(false);
    return TACIT_MALFORMED;
}

static enum tacit_status handle(struct tacit_gossip_agent *agent,
                                struct tacit_gossip_memory *memory,
                                const struct tacit_gossip_event *event,
                                const struct tacit_entropy *entropy,
                                struct tacit_gossip_update *update)
{
    bool const is_halted = agent->phase == PHASE_HALTED;
    switch (event->kind) {
    case TACIT_EVENT_START:
        return on_start(agent, event, memory, entropy, update);
    case TACIT_EVENT_REWARD:
        return is_halted ? TACIT_INVALID
                         : on_reward(agent, memory, &event->as.reward, entropy, update);
    case TACIT_EVENT_EXPLOITED:
        agent->exploited_count += event->as.exploited_count;
        update->persist = true;
        return TACIT_OK;
    case TACIT_EVENT_RECEIVE:
        return is_halted ? TACIT_OK : on_receive(agent, event->as.message, update);
    case TACIT_EVENT_TIMEOUT:
        return is_halted ? TACIT_OK : on_timeout(agent, memory, entropy, update);
    case TACIT_EVENT_OFFER:
        return TACIT_INVALID; /* nobody's contexts matter here */
    }
    TACIT_ASSERT(false);
    return TACIT_INVALID;
}

/* ---- Public ---- */

size_t tacit_gossip_memory_size(const struct tacit_gossip_rule *rule)
{
    size_t const trees = rule->noisy ? rule->arm_count * tacit_tree_size(&rule->tree) : 0;
    return sizeof(struct tacit_gossip_memory) + trees;
}

void tacit_gossip_memory_init(struct tacit_gossip_memory *memory,
                              const struct tacit_gossip_rule *rule)
{
    memory->tree_bytes = rule->noisy ? tacit_tree_size(&rule->tree) : 0;
    unsigned char *const trees = (unsigned char *)memory->words;
    for (uint32_t arm = 0; rule->noisy && arm < rule->arm_count; arm++)
        tacit_tree_init((struct tacit_tree *)(void *)(trees + arm * memory->tree_bytes),
                        &rule->tree);
}

static bool config_is_valid(const struct tacit_gossip_agent_config *config)
{
    struct tacit_gossip_rule const *const rule = &config->rule;
    if (rule->arm_count == 0 || config->agent_id >= rule->agent_count ||
        config->neighbour_count >= rule->agent_count || !(config->weight > 0) ||
        !isfinite(config->weight) || (config->slot_us == 0 && config->exchange_us == 0) ||
        config->slot_us > UINT64_C(1) << 40 || config->exchange_us > UINT64_C(1) << 56)
        return false;
    for (uint32_t i = 0; i < config->neighbour_count; i++) {
        uint32_t const neighbour = config->neighbours[i];
        if (neighbour >= rule->agent_count || neighbour == config->agent_id ||
            (i > 0 && neighbour <= config->neighbours[i - 1]))
            return false;
    }
    return true;
}

size_t tacit_gossip_agent_size(const struct tacit_gossip_agent_config *config)
{
    if (!config_is_valid(config))
        return 0;
    return sizeof(struct tacit_gossip_agent) +
           word_count(config->rule.arm_count, config->neighbour_count) * sizeof(uint64_t);
}

/* Member by member: gaps keep the zeros of the state. */
static void copy_rule(struct tacit_gossip_rule *copy, const struct tacit_gossip_rule *rule)
{
    TACIT_ASSERT(copy != rule);
    tacit_mechanism_copy(&copy->tree.node, &rule->tree.node);
    copy->tree.leaf_max = rule->tree.leaf_max;
    copy->tree.level_count = rule->tree.level_count;
    copy->tree.share_count = rule->tree.share_count;
    copy->tree.cost_nano = rule->tree.cost_nano;
    copy->agent_count = rule->agent_count;
    copy->arm_count = rule->arm_count;
    copy->horizon = rule->horizon;
    copy->width = rule->width;
    copy->alpha = rule->alpha;
    copy->near_factor = rule->near_factor;
    copy->far_factor = rule->far_factor;
    copy->noisy = rule->noisy;
    copy->sound = rule->sound;
}

enum tacit_status tacit_gossip_agent_init(struct tacit_gossip_agent *agent,
                                          const struct tacit_gossip_agent_config *config)
{
    size_t const size = tacit_gossip_agent_size(config);
    if (size == 0)
        return TACIT_INVALID;
    memset(agent, 0, size);
    copy_rule(&agent->rule, &config->rule);
    agent->run_id = config->run_id;
    agent->slot_us = config->slot_us;
    agent->exchange_us = config->exchange_us;
    agent->pull_us = config->pull_us;
    agent->weight = config->weight;
    agent->agent_id = config->agent_id;
    agent->neighbour_count = config->neighbour_count;
    agent->guards_lives = config->guards_lives;
    agent->arm = TACIT_NO_ARM;
    agent->first_left = config->rule.arm_count;
    agent->deadline_us = TACIT_NEVER;
    for (uint32_t i = 0; i < config->neighbour_count; i++)
        edges_of(agent)[i].neighbour = config->neighbours[i];
    return TACIT_OK;
}

enum tacit_status tacit_gossip_agent_step(struct tacit_gossip_agent *agent,
                                          struct tacit_gossip_memory *memory,
                                          const struct tacit_gossip_event *event,
                                          const struct tacit_entropy *entropy,
                                          struct tacit_gossip_update *update)
{
    bool const is_start = event->kind == TACIT_EVENT_START; /* a new process has a new clock */
    TACIT_ASSERT(is_start || event->now_us >= agent->now_us);
    check_invariants(agent);
    *update = (struct tacit_gossip_update){.deadline_us = TACIT_NEVER};
    uint64_t const before_us = agent->now_us;
    uint64_t const lived_us = agent->lived_us;
    if (!is_start) {
        agent->now_us = event->now_us;
        agent->lived_us += event->now_us - before_us;
    }
    enum tacit_status const status = handle(agent, memory, event, entropy, update);
    check_invariants(agent);
    if (status != TACIT_OK && !update->persist) {
        agent->now_us = before_us;
        agent->lived_us = lived_us;
    }
    TACIT_IMPLIES(update->send, update->message.from == agent->agent_id);
    TACIT_IMPLIES(update->plan_count > 0,
                  agent->phase == PHASE_FIRST || agent->phase == PHASE_PULLING);
    TACIT_IMPLIES(update->plan_count > 0, update->persist);
    update->deadline_us = agent->phase == PHASE_HALTED ? TACIT_NEVER : agent->deadline_us;
    return status;
}

/* ---- States from a disk ---- */

static bool same_rule(const struct tacit_gossip_rule *left, const struct tacit_gossip_rule *right)
{
    struct tacit_gossip_rule copies[2];
    memset(copies, 0, sizeof copies);
    copy_rule(&copies[0], left);
    copy_rule(&copies[1], right);
    return memcmp(&copies[0], &copies[1], sizeof copies[0]) == 0;
}

static bool same_config(struct tacit_gossip_agent *agent,
                        const struct tacit_gossip_agent_config *config)
{
    if (agent->run_id != config->run_id || agent->slot_us != config->slot_us ||
        agent->exchange_us != config->exchange_us || agent->pull_us != config->pull_us ||
        memcmp(&agent->weight, &config->weight, sizeof agent->weight) != 0 ||
        agent->agent_id != config->agent_id || agent->neighbour_count != config->neighbour_count ||
        agent->guards_lives != config->guards_lives || !same_rule(&agent->rule, &config->rule))
        return false;
    for (uint32_t i = 0; i < config->neighbour_count; i++)
        if (edges_of(agent)[i].neighbour != config->neighbours[i])
            return false;
    return true;
}

static bool progress_is_possible(struct tacit_gossip_agent *agent)
{
    uint32_t const arms = agent->rule.arm_count;
    bool const is_first = agent->phase <= PHASE_FIRST;
    if (agent->phase > PHASE_HALTED || agent->slot > agent->rule.horizon ||
        agent->first_left > arms || agent->forced > 1 || agent->forced_count > agent->slot ||
        agent->lived_us > UINT64_MAX / 2)
        return false;
    if (!tacit_bits_within(came_of(agent), came_of(agent), arms) ||
        tacit_bits_count(came_of(agent), arms) != arms - agent->first_left ||
        (agent->phase != PHASE_HALTED && is_first != (agent->first_left > 0)) ||
        (agent->first_left > 0 && agent->slot > 0))
        return false;
    bool const is_pulling = agent->phase == PHASE_PULLING;
    return (!is_pulling || (agent->arm < arms && agent->slot > 0)) &&
           (agent->phase != PHASE_FINISHED || agent->slot == agent->rule.horizon) &&
           agent->pull_count == agent->slot + arms - agent->first_left;
}

/* n adds up to the pulls; n~ is not below n but for the pulls since. */
static bool counts_are_possible(struct tacit_gossip_agent *agent)
{
    uint64_t const most = agent->rule.horizon + 1;
    uint64_t const *const count = array_of(agent, ARRAY_COUNT);
    uint64_t const *const seen = array_of(agent, ARRAY_SEEN);
    uint64_t sum = 0;
    for (uint32_t arm = 0; arm < agent->rule.arm_count; arm++) {
        bool const came = tacit_bits_has(came_of(agent), arm);
        if (count[arm] > most || seen[arm] > most || array_of(agent, ARRAY_HEARD)[arm] > most ||
            (count[arm] > 0) != came || (seen[arm] > 0) != came)
            return false;
        sum += count[arm];
    }
    return sum == agent->pull_count;
}

/* theta is what the agent's own rewards and its edges make of it, up to rounding. */
static bool estimates_are_possible(struct tacit_gossip_agent *agent)
{
    uint32_t const arms = agent->rule.arm_count;
    double const *const theta = doubles_of(agent, ARRAY_THETA);
    double const *const mean = doubles_of(agent, ARRAY_MEAN);
    if (!row_is_finite(theta, arms) || !row_is_finite(mean, arms))
        return false;
    for (uint32_t edge = 0; edge < agent->neighbour_count; edge++)
        if (!row_is_finite(flow_of(agent, edge), arms) ||
            !row_is_finite(shift_of(agent, edge), arms))
            return false;
    for (uint32_t arm = 0; arm < arms; arm++) {
        double sum = agent->weight * mean[arm];
        double size = fabs(sum) + 1;
        for (uint32_t edge = 0; edge < agent->neighbour_count; edge++) {
            sum += flow_of(agent, edge)[arm];
            size += fabs(flow_of(agent, edge)[arm]);
        }
        if (!(fabs(theta[arm] - sum) <= 1e-6 * size))
            return false;
    }
    return true;
}

enum tacit_status tacit_gossip_agent_check(const struct tacit_gossip_agent *state, size_t size,
                                           const struct tacit_gossip_agent_config *config)
{
    struct tacit_gossip_agent *const agent = (struct tacit_gossip_agent *)(uintptr_t)state;
    if (size == 0 || size != tacit_gossip_agent_size(config) || !same_config(agent, config) ||
        !progress_is_possible(agent) || !counts_are_possible(agent) ||
        !estimates_are_possible(agent))
        return TACIT_MALFORMED;
    return TACIT_OK;
}

/* ---- Looking ---- */

void tacit_gossip_agent_look(const struct tacit_gossip_agent *state,
                             struct tacit_gossip_agent_view *view)
{
    struct tacit_gossip_agent *const agent = (struct tacit_gossip_agent *)(uintptr_t)state;
    double const *const theta = doubles_of(agent, ARRAY_THETA);
    uint32_t best = 0;
    for (uint32_t arm = 1; arm < agent->rule.arm_count; arm++)
        if (theta[arm] > theta[best])
            best = arm;
    *view = (struct tacit_gossip_agent_view){.slot = agent->slot,
                                             .waiting = agent->phase == PHASE_WAITING,
                                             .finished = agent->phase == PHASE_FINISHED,
                                             .halted = agent->phase == PHASE_HALTED,
                                             .arm = agent->arm,
                                             .forced = agent->forced != 0,
                                             .pull_count = agent->pull_count,
                                             .forced_count = agent->forced_count,
                                             .exchange_count = agent->exchange_count,
                                             .best_arm = best,
                                             .counts = array_of(agent, ARRAY_COUNT),
                                             .seen = array_of(agent, ARRAY_SEEN),
                                             .theta = theta,
                                             .mean = doubles_of(agent, ARRAY_MEAN),
                                             .life_number = agent->life_number};
}

const double *tacit_gossip_agent_flow(const struct tacit_gossip_agent *state, uint32_t neighbour,
                                      uint64_t *exchange)
{
    struct tacit_gossip_agent *const agent = (struct tacit_gossip_agent *)(uintptr_t)state;
    uint32_t const at = edge_to(agent, neighbour);
    if (at == agent->neighbour_count)
        return NULL;
    *exchange = edges_of(agent)[at].exchange;
    return flow_of(agent, at);
}

union tacit_sum tacit_gossip_agent_sum(const struct tacit_gossip_agent *state, uint32_t arm)
{
    struct tacit_gossip_agent *const agent = (struct tacit_gossip_agent *)(uintptr_t)state;
    TACIT_ASSERT(arm < agent->rule.arm_count);
    union tacit_sum sum = sums_of(agent, ARRAY_BASE)[arm];
    union tacit_sum const total = sums_of(agent, ARRAY_TOTAL)[arm];
    if (agent->rule.tree.node.scale.kind == TACIT_SCALE_STEPS)
        sum.steps += total.steps;
    else
        sum.real += total.real;
    return sum;
}

/* The shift of an exchange is half of what lay between the two ends. */
double tacit_gossip_agent_spread(const struct tacit_gossip_agent *state, uint32_t arm)
{
    struct tacit_gossip_agent *const agent = (struct tacit_gossip_agent *)(uintptr_t)state;
    double widest = 0;
    TACIT_ASSERT(arm < agent->rule.arm_count);
    for (uint32_t edge = 0; edge < agent->neighbour_count; edge++) {
        double const between = 2 * fabs(shift_of(agent, edge)[arm]);
        widest = between > widest ? between : widest;
    }
    return widest;
}
