/* The agent's core. Alg. 1 and 4 of Zhu et al. 2021; lines are theirs. What is said to neighbours
 * and what is played depend on released values alone: theta, X~ and n are all this state has. The
 * exact sums of this incarnation are in the memory beside it. */
#include "agent_state.h"
#include <string.h>

static size_t word_count(uint32_t arms, uint32_t neighbours)
{
    return (size_t)ARRAYS * arms + TACIT_BITS_WORDS(arms) +
           arms * WORDS_OF(struct tacit_pull_block) + neighbours * WORDS_OF(struct edge) +
           2 * (size_t)neighbours * arms;
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

/* ---- An incarnation begins ---- */

/* The next incarnation. Errors: TACIT_ENTROPY, nothing changed. */
static enum tacit_status begin_incarnation(struct tacit_gossip_agent *agent,
                                           const struct tacit_entropy *entropy)
{
    enum tacit_status const status =
        tacit_entropy_below(entropy, UINT64_MAX, &agent->incarnation.name);
    agent->incarnation.number += status == TACIT_OK ? 1 : 0;
    return status;
}

/* A new incarnation: what earlier ones released is final, and its trees are never drawn from again
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

/* Nothing was added to the trees yet: each start has sums of its own. */
static bool trees_are_empty(const struct tacit_gossip_memory *memory,
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

static enum tacit_status on_start(struct tacit_gossip_agent *agent, const struct tacit_event *event,
                                  const struct tacit_gossip_memory *memory,
                                  const struct tacit_entropy *entropy,
                                  struct tacit_gossip_update *update)
{
    TACIT_ASSERT(trees_are_empty(memory, &agent->rule));
    if (agent->phase == PHASE_HALTED)
        return TACIT_OK;
    TACIT_TRY(begin_incarnation(agent, entropy));
    agent->offered_until_us = 0;
    close_trees(agent);
    refresh(agent);
    update->persist = true;
    if (agent->phase == PHASE_NEW)
        agent->phase = PHASE_FIRST;
    if (agent->phase == PHASE_FIRST)
        gossip_agent_plan_first(agent, update);
    else if (agent->phase == PHASE_PULLING)
        gossip_agent_plan_pull(agent, update);
    uint64_t const pause = is_lockstep(agent) ? agent->slot_us : agent->exchange_us;
    agent->deadline_us =
        agent->neighbour_count > 0 || is_lockstep(agent) ? event->now_us + pause : TACIT_NEVER;
    return TACIT_OK;
}

/* ---- Events ---- */

static enum tacit_status on_timeout(struct tacit_gossip_agent *agent,
                                    struct tacit_gossip_memory *memory,
                                    const struct tacit_entropy *entropy,
                                    struct tacit_gossip_update *update)
{
    if (agent->clock.now_us < agent->deadline_us || agent->phase == PHASE_NEW)
        return TACIT_OK; /* a timer of an earlier update */
    if (is_lockstep(agent)) {
        if (agent->phase == PHASE_WAITING)
            TACIT_TRY(gossip_agent_begin_slot(agent, memory, entropy, update));
        agent->deadline_us =
            agent->phase == PHASE_FINISHED ? TACIT_NEVER : agent->clock.now_us + agent->slot_us;
        return TACIT_OK;
    }
    TACIT_TRY(gossip_agent_begin_exchange(agent, entropy, update));
    agent->deadline_us = agent->clock.now_us + agent->exchange_us;
    if (agent->phase == PHASE_WAITING) /* as where a slot ends: the next timeout may begin it */
        (void)gossip_agent_begin_slot(agent, memory, entropy, update);
    return TACIT_OK;
}

static enum tacit_status handle(struct tacit_gossip_agent *agent,
                                struct tacit_gossip_memory *memory, const struct tacit_event *event,
                                const struct tacit_entropy *entropy,
                                struct tacit_gossip_update *update)
{
    bool const is_halted = agent->phase == PHASE_HALTED;
    switch (event->kind) {
    case TACIT_EVENT_START:
        return on_start(agent, event, memory, entropy, update);
    case TACIT_EVENT_REWARD:
        return is_halted
                   ? TACIT_INVALID
                   : gossip_agent_on_reward(agent, memory, &event->as.reward, entropy, update);
    case TACIT_EVENT_EXPLOITED:
        return TACIT_OK; /* what is played beside the plan enters nothing */
    case TACIT_EVENT_RECEIVE:
        return is_halted ? TACIT_OK : gossip_agent_on_message(agent, event->as.message, update);
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

/* Are they agents of the run, ascending, and not the agent itself? */
static bool neighbours_fit(const struct tacit_gossip_agent_config *config)
{
    uint32_t const agents = config->rule.agent_count;
    uint32_t const *const neighbours = config->neighbours;
    if (config->agent_id >= agents || config->neighbour_count >= agents)
        return false;
    for (uint32_t i = 0; i < config->neighbour_count; i++)
        if (neighbours[i] >= agents || neighbours[i] == config->agent_id ||
            (i > 0 && neighbours[i] <= neighbours[i - 1]))
            return false;
    return true;
}

static bool config_is_valid(const struct tacit_gossip_agent_config *config)
{
    struct tacit_gossip_rule const *const rule = &config->rule;
    return rule->arm_count > 0 && (config->slot_us > 0 || config->exchange_us > 0) &&
           config->slot_us <= UINT64_C(1) << 40 && config->exchange_us <= UINT64_C(1) << 56 &&
           neighbours_fit(config);
}

size_t tacit_gossip_agent_size(const struct tacit_gossip_agent_config *config)
{
    if (!config_is_valid(config))
        return 0;
    return sizeof(struct tacit_gossip_agent) +
           word_count(config->rule.arm_count, config->neighbour_count) * sizeof(uint64_t);
}

enum tacit_status tacit_gossip_agent_init(struct tacit_gossip_agent *agent,
                                          const struct tacit_gossip_agent_config *config)
{
    size_t const size = tacit_gossip_agent_size(config);
    if (size == 0)
        return TACIT_INVALID;
    memset(agent, 0, size);
    agent->rule = config->rule;
    agent->run_id = config->run_id;
    agent->slot_us = config->slot_us;
    agent->exchange_us = config->exchange_us;
    agent->pull_us = config->pull_us;
    agent->agent_id = config->agent_id;
    agent->neighbour_count = config->neighbour_count;
    agent->arm = TACIT_NO_ARM;
    agent->first_left = config->rule.arm_count;
    agent->deadline_us = TACIT_NEVER;
    for (uint32_t i = 0; i < config->neighbour_count; i++)
        edges_of(agent)[i].neighbour = config->neighbours[i];
    return TACIT_OK;
}

/* Rewards that were taken in, by all incarnations: with each one something was drawn. */
static uint64_t draws_of(const struct tacit_gossip_agent *agent)
{
    return agent->pull_count - (agent->arm == TACIT_NO_ARM ? 0 : 1); /* the planned one waits */
}

enum tacit_status tacit_gossip_agent_step(struct tacit_gossip_agent *agent,
                                          struct tacit_gossip_memory *memory,
                                          const struct tacit_event *event,
                                          const struct tacit_entropy *entropy,
                                          struct tacit_gossip_update *update)
{
    check_invariants(agent);
    *update = (struct tacit_gossip_update){.deadline_us = TACIT_NEVER};
    struct gossip_clock const before = agent->clock;
    uint64_t const draws = draws_of(agent);
    bool const was_over = agent->phase == PHASE_FINISHED;
    bool const was_halted = agent->phase == PHASE_HALTED;
    if (event->kind != TACIT_EVENT_START) { /* a new process has a new clock */
        TACIT_ASSERT(event->now_us >= agent->clock.now_us);
        agent->clock.lived_us += event->now_us - agent->clock.now_us;
    }
    agent->clock.now_us = event->now_us;
    enum tacit_status const status = handle(agent, memory, event, entropy, update);
    update->happened = draws_of(agent) > draws ? TACIT_DREW : 0;
    if ((agent->phase == PHASE_FINISHED && !was_over) ||
        (agent->phase == PHASE_HALTED && !was_halted))
        update->happened |= TACIT_ENDED;
    check_invariants(agent);
    if (status != TACIT_OK && !update->persist)
        agent->clock = before;
    TACIT_IMPLIES(update->send, update->message.from == agent->agent_id);
    TACIT_IMPLIES(update->plan_count > 0,
                  agent->phase == PHASE_FIRST || agent->phase == PHASE_PULLING);
    TACIT_IMPLIES(update->plan_count > 0, update->persist);
    update->deadline_us = agent->phase == PHASE_HALTED ? TACIT_NEVER : agent->deadline_us;
    return status;
}

/* ---- Looking ---- */

void tacit_gossip_agent_view(const struct tacit_gossip_agent *state,
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
                                             .incarnation_number = agent->incarnation.number,
                                             .draw_count = draws_of(agent)};
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
