/* The core of the index family: a learner that is asked for a block of pulls, and is told what they
 * brought. It sends nothing and waits for nobody. */
#include <math.h>
#include <string.h>
#include "tacit/index.h"

struct tacit_index_agent {
    struct tacit_index_config config;
    uint64_t now_us;
    uint64_t deadline_us;
    uint64_t pull_count; /* of `horizon` */
    struct tacit_pull_block plan;
    uint64_t words[]; /* the learner */
};

_Static_assert(sizeof(struct tacit_index_agent) % sizeof(uint64_t) == 0, "the learner is aligned");

static struct tacit_arms *arms_of(const struct tacit_index_agent *agent)
{
    return (struct tacit_arms *)(uintptr_t)agent->words;
}

static struct tacit_arms_config arms_config(const struct tacit_index_config *config)
{
    return (struct tacit_arms_config){.kind = config->kind,
                                      .arm_count = config->arm_count,
                                      .horizon = config->horizon,
                                      .scale = config->scale,
                                      .bounded = config->bounded};
}

size_t tacit_index_agent_size(const struct tacit_index_config *config)
{
    struct tacit_arms_config const arms = arms_config(config);
    size_t const size = tacit_arms_size(&arms);
    if (size == 0 || config->retry_after_us == 0 || config->retry_after_us > UINT64_MAX / 4)
        return 0;
    return sizeof(struct tacit_index_agent) + size;
}

/* Member by member, so that a state is a function of the values alone. */
static void copy_config(struct tacit_index_config *copy, const struct tacit_index_config *config)
{
    TACIT_ASSERT(copy != config);
    copy->kind = config->kind;
    copy->arm_count = config->arm_count;
    copy->horizon = config->horizon;
    copy->scale.kind = config->scale.kind;
    copy->scale.lo = config->scale.lo;
    copy->scale.hi = config->scale.hi;
    copy->bounded = config->bounded;
    copy->retry_after_us = config->retry_after_us;
}

enum tacit_status tacit_index_agent_init(struct tacit_index_agent *agent,
                                         const struct tacit_index_config *config)
{
    size_t const size = tacit_index_agent_size(config);
    if (size == 0)
        return TACIT_INVALID;
    TACIT_ASSERT(size > sizeof *agent);
    memset(agent, 0, size);
    copy_config(&agent->config, config);
    agent->deadline_us = TACIT_NEVER;
    struct tacit_arms_config const arms = arms_config(config);
    return tacit_arms_init(arms_of(agent), &arms);
}

/* ---- Plans ---- */

static void show_plan(struct tacit_index_agent *agent, struct tacit_index_update *update)
{
    TACIT_ASSERT(agent->plan.arm < agent->config.arm_count);
    update->plan = &agent->plan;
    update->plan_count = agent->plan.count > 0 ? 1 : 0;
}

/* The next block, where there is none and T is not reached. */
static enum tacit_status open_plan(struct tacit_index_agent *agent,
                                   const struct tacit_entropy *entropy,
                                   struct tacit_index_update *update)
{
    TACIT_ASSERT(agent->plan.count == 0);
    TACIT_ASSERT(agent->pull_count <= agent->config.horizon);
    uint64_t const slots = agent->config.horizon - agent->pull_count;
    uint64_t word = 0;
    agent->deadline_us = TACIT_NEVER;
    if (slots == 0)
        return TACIT_OK;
    if (tacit_arms_wants_word(agent->config.kind)) {
        enum tacit_status const status = tacit_entropy_word(entropy, &word);
        if (status != TACIT_OK) {
            agent->deadline_us = agent->now_us + agent->config.retry_after_us;
            return status;
        }
    }
    agent->plan = tacit_arms_next(arms_of(agent), slots, word);
    TACIT_ASSERT(agent->plan.count >= 1);
    TACIT_ASSERT(agent->plan.count <= slots);
    update->persist = true;
    show_plan(agent, update);
    return TACIT_OK;
}

/* ---- Events ---- */

static enum tacit_status on_start(struct tacit_index_agent *agent,
                                  const struct tacit_entropy *entropy,
                                  struct tacit_index_update *update)
{
    if (agent->plan.count == 0)
        return open_plan(agent, entropy, update);
    show_plan(agent, update);
    return TACIT_OK;
}

static bool reward_is_valid(const struct tacit_index_agent *agent,
                            const struct tacit_reward *reward)
{
    if (agent->plan.count == 0 || reward->arm != agent->plan.arm || reward->count == 0 ||
        reward->count > agent->plan.count)
        return false;
    if (agent->config.scale.kind == TACIT_SCALE_STEPS)
        return reward->sum.steps >= 0 && reward->sum.steps <= (int64_t)reward->count * TACIT_STEPS;
    double const sum = reward->sum.real;
    return isfinite(sum) && (!agent->config.bounded || (sum >= 0 && sum <= (double)reward->count));
}

/* Must a coin say whether the reward counts as a success? (Agrawal, Goyal 2012, Alg. 2) */
static bool needs_coin(const struct tacit_index_agent *agent, const struct tacit_reward *reward)
{
    TACIT_ASSERT(reward->count > 0);
    if (agent->config.kind != TACIT_ARMS_THOMPSON)
        return false;
    if (agent->config.scale.kind == TACIT_SCALE_STEPS)
        return reward->sum.steps % TACIT_STEPS != 0;
    double const sum = reward->sum.real;
    return sum > 0 && sum < (double)reward->count && floor(sum) < sum;
}

static enum tacit_status on_reward(struct tacit_index_agent *agent,
                                   const struct tacit_reward *reward,
                                   const struct tacit_entropy *entropy,
                                   struct tacit_index_update *update)
{
    uint64_t word = 0;
    if (!reward_is_valid(agent, reward))
        return TACIT_INVALID;
    if (needs_coin(agent, reward)) {
        enum tacit_status const status = tacit_entropy_word(entropy, &word);
        if (status != TACIT_OK)
            return status; /* nothing changed: the driver says the reward again */
    }
    tacit_arms_take(arms_of(agent), reward->arm, reward->count, reward->sum, word);
    TACIT_ASSERT(reward->count <= agent->plan.count);
    agent->plan.count -= reward->count;
    agent->pull_count += reward->count;
    update->persist = true;
    return agent->plan.count > 0 ? TACIT_OK : open_plan(agent, entropy, update);
}

/* Pulls outside the plan take slots and enter no estimate. */
static enum tacit_status on_exploited(struct tacit_index_agent *agent, uint64_t count,
                                      struct tacit_index_update *update)
{
    if (count == 0 || count > agent->config.horizon - agent->pull_count - agent->plan.count)
        return TACIT_INVALID;
    agent->pull_count += count;
    update->persist = true;
    return TACIT_OK;
}

static enum tacit_status handle(struct tacit_index_agent *agent,
                                const struct tacit_index_event *event,
                                const struct tacit_entropy *entropy,
                                struct tacit_index_update *update)
{
    switch (event->kind) {
    case TACIT_EVENT_START:
        return on_start(agent, entropy, update);
    case TACIT_EVENT_REWARD:
        return on_reward(agent, &event->as.reward, entropy, update);
    case TACIT_EVENT_EXPLOITED:
        return on_exploited(agent, event->as.exploited_count, update);
    case TACIT_EVENT_TIMEOUT:
        if (agent->plan.count > 0 || event->now_us < agent->deadline_us)
            return TACIT_OK; /* a timer of an earlier update */
        return open_plan(agent, entropy, update);
    case TACIT_EVENT_RECEIVE:
        return TACIT_UNEXPECTED; /* nobody has anything to say to it */
    case TACIT_EVENT_OFFER:
        return TACIT_INVALID;
    }
    TACIT_ASSERT(false);
    return TACIT_INVALID;
}

/* ---- Public ---- */

enum tacit_status tacit_index_agent_step(struct tacit_index_agent *agent,
                                         const struct tacit_index_event *event,
                                         const struct tacit_entropy *entropy,
                                         struct tacit_index_update *update)
{
    bool const is_start = event->kind == TACIT_EVENT_START; /* a new process has a new clock */
    uint64_t const before_us = agent->now_us;
    TACIT_ASSERT(is_start || event->now_us >= agent->now_us);
    TACIT_ASSERT(agent->plan.count <= agent->config.horizon - agent->pull_count);
    *update = (struct tacit_index_update){.deadline_us = TACIT_NEVER};
    agent->now_us = event->now_us;
    enum tacit_status const status = handle(agent, event, entropy, update);
    if (status != TACIT_OK && status != TACIT_ENTROPY)
        agent->now_us = before_us; /* a refusal leaves no trace */
    TACIT_ASSERT(agent->plan.count <= agent->config.horizon - agent->pull_count);
    TACIT_IMPLIES(status == TACIT_OK || status == TACIT_ENTROPY, agent->now_us == event->now_us);
    TACIT_IMPLIES(agent->plan.count > 0, agent->deadline_us == TACIT_NEVER);
    TACIT_IMPLIES(update->plan_count > 0, agent->plan.count > 0);
    TACIT_IMPLIES(status == TACIT_INVALID || status == TACIT_UNEXPECTED, !update->persist);
    update->deadline_us = agent->deadline_us;
    return status;
}

enum tacit_status tacit_index_agent_check(const struct tacit_index_agent *agent, size_t size,
                                          const struct tacit_index_config *config)
{
    struct tacit_index_config copy;
    memset(&copy, 0, sizeof copy);
    if (size == 0 || size != tacit_index_agent_size(config))
        return TACIT_MALFORMED;
    copy_config(&copy, config);
    if (memcmp(&agent->config, &copy, sizeof copy) != 0 || agent->pull_count > config->horizon ||
        agent->plan.count > config->horizon - agent->pull_count ||
        agent->plan.arm >= config->arm_count)
        return TACIT_MALFORMED;
    struct tacit_arms_config const arms = arms_config(config);
    enum tacit_status const status = tacit_arms_check(arms_of(agent), size - sizeof *agent, &arms);
    if (status != TACIT_OK || tacit_arms_pull_count(arms_of(agent)) > agent->pull_count)
        return TACIT_MALFORMED;
    return TACIT_OK;
}

void tacit_index_agent_look(const struct tacit_index_agent *agent, struct tacit_index_view *view)
{
    TACIT_ASSERT(view != NULL);
    *view = (struct tacit_index_view){.finished = agent->pull_count == agent->config.horizon,
                                      .pull_count = agent->pull_count,
                                      .arms = arms_of(agent),
                                      .planned = agent->plan,
                                      .exploit_arm = tacit_arms_best(arms_of(agent))};
}
