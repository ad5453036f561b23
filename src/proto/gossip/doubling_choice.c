/* What an agent plays next, from released blocks alone (EXACT-BOUNDS 2, 5.2 to 5.5). */
#include "doubling_state.h"
#include <math.h>
#include <string.h>

#define FAR 1e-9 /* an arm is far below where not even rounding could lift it */

/* ---- Levels ---- */

uint32_t doubling_level(struct tacit_doubling_agent *agent, uint32_t arm)
{
    TACIT_ASSERT(arm < agent->schedule.arm_count);
    TACIT_ASSERT(agent->rung_count <= TACIT_BOUNDS_RELEASES_MAX);
    uint32_t sites_at[TACIT_BOUNDS_RELEASES_MAX + 1] = {0};
    for (uint32_t i = 0; i < agent->schedule.agent_count; i++)
        sites_at[doubling_known_of(agent, i, arm)]++;
    uint32_t count = 0;
    for (uint32_t level = agent->rung_count; level > 0; level--) {
        count += sites_at[level];
        if (count >= agent->quorum)
            return level;
    }
    return 0;
}

/* The highest rung that anybody has climbed. */
static uint32_t top(struct tacit_doubling_agent *agent, uint32_t arm)
{
    TACIT_ASSERT(arm < agent->schedule.arm_count);
    uint32_t most = 0;
    for (uint32_t i = 0; i < agent->schedule.agent_count; i++) {
        uint32_t const known = doubling_known_of(agent, i, arm);
        most = known > most ? known : most;
    }
    return most;
}

/* N, m, Y of the arm's block over all sites that released it. */
static struct tacit_bounds_sum block_sum(struct tacit_doubling_agent *agent, uint32_t arm,
                                         uint32_t block)
{
    TACIT_ASSERT(block < agent->rung_count);
    struct tacit_bounds_sum sum = {0};
    for (uint32_t i = 0; i < agent->schedule.agent_count; i++)
        if (doubling_known_of(agent, i, arm) > block) {
            sum.noises++;
            sum.steps += doubling_steps(agent, i, arm)[block];
        }
    sum.pulls = sum.noises * doubling_pulls(agent, block);
    return sum;
}

/* ---- Bounds ---- */

static struct tacit_bounds_sum suffix_of(struct tacit_doubling_agent *agent,
                                         struct tacit_doubling_memory *memory, uint32_t arm,
                                         double log_level)
{
    TACIT_ASSERT(arm < agent->schedule.arm_count);
    uint32_t const count = doubling_level(agent, arm);
    struct tacit_bounds_sum *const releases = doubling_releases(memory, agent->schedule.arm_count);
    for (uint32_t block = 0; block < count; block++)
        releases[block] = block_sum(agent, arm, block);
    struct tacit_bounds_sum sum;
    TACIT_ASSERT(count > 0);
    (void)tacit_bounds_suffix(releases, count, agent->schedule.epsilon_per_reward, log_level, &sum);
    return sum;
}

/* 5.3: L = ln max(3, all pulls in use). */
static double level_of_bounds(struct tacit_doubling_agent *agent)
{
    uint64_t pulls = 0;
    for (uint32_t arm = 0; arm < agent->schedule.arm_count; arm++)
        for (uint32_t block = doubling_level(agent, arm); block > 0; block--)
            pulls += block_sum(agent, arm, block - 1).pulls;
    return log(pulls > 3 ? (double)pulls : 3);
}

static uint32_t best_mean(struct tacit_doubling_agent *agent)
{
    double const *const means = doubling_means(agent);
    uint32_t best = 0;
    for (uint32_t arm = 1; arm < agent->schedule.arm_count; arm++)
        best = means[arm] > means[best] ? arm : best;
    return best;
}

/* y + c costs little and is no less than the UCB (2.4): an arm for which even that is below the
 * leader's UCB is no challenger. */
static void bound_all(struct tacit_doubling_agent *agent, struct tacit_doubling_memory *memory)
{
    uint32_t const arms = agent->schedule.arm_count;
    double const epsilon = agent->schedule.epsilon_per_reward;
    double const level = level_of_bounds(agent);
    double *const uppers = doubling_uppers(memory, arms);
    for (uint32_t arm = 0; arm < arms; arm++) {
        struct tacit_bounds_sum const sum = suffix_of(agent, memory, arm, level);
        double const mean = tacit_bounds_mean(&sum);
        double const frame = mean + tacit_bounds_radius(sum.pulls, sum.noises, epsilon, level);
        doubling_means(agent)[arm] = mean;
        uppers[arm] = frame > 0 ? (frame < 1 ? frame : 1) : 0;
    }
    agent->leader = best_mean(agent);
    TACIT_ASSERT(agent->leader < arms);
    struct tacit_bounds_sum const lead = suffix_of(agent, memory, agent->leader, level);
    double const bound = tacit_bounds_upper(&lead, epsilon, level);
    for (uint32_t arm = 0; arm < arms; arm++) {
        if (uppers[arm] < bound - FAR)
            continue;
        struct tacit_bounds_sum const sum = suffix_of(agent, memory, arm, level);
        uppers[arm] = tacit_bounds_upper(&sum, epsilon, level);
    }
}

/* ---- Plans ---- */

static void plan_arm(struct tacit_doubling_agent *agent, uint32_t arm)
{
    TACIT_ASSERT(arm < agent->schedule.arm_count);
    TACIT_ASSERT(agent->plan_count < agent->schedule.arm_count);
    uint32_t const own = doubling_own(agent, arm);
    TACIT_ASSERT(own < agent->rung_count);
    struct tacit_pull_block *const block = &doubling_plan(agent)[agent->plan_count++];
    block->arm = arm;
    block->count = doubling_pulls(agent, own);
}

static uint64_t plan_pulls(struct tacit_doubling_agent *agent)
{
    uint64_t pulls = 0;
    for (uint32_t i = 0; i < agent->plan_count; i++) {
        TACIT_ASSERT(doubling_plan(agent)[i].count > 0); /* there are none behind the last one */
        pulls += doubling_plan(agent)[i].count;          /* 2^16 blocks of 2^40 pulls fit */
    }
    return pulls;
}

static void clear_plan(struct tacit_doubling_agent *agent)
{
    TACIT_ASSERT(agent->plan_count <= agent->schedule.arm_count);
    memset(doubling_plan(agent), 0, agent->schedule.arm_count * sizeof(struct tacit_pull_block));
    agent->plan_count = 0;
    agent->forced = 0;
}

/* 4.5, 5.5: the leader until T. */
static void rest(struct tacit_doubling_agent *agent)
{
    TACIT_ASSERT(agent->pull_count < agent->schedule.horizon);
    clear_plan(agent);
    doubling_plan(agent)[0].arm = agent->leader == TACIT_NO_ARM ? 0 : agent->leader;
    doubling_plan(agent)[0].count = agent->schedule.horizon - agent->pull_count;
    agent->plan_count = 1;
    agent->phase = DOUBLING_RESTING;
}

/* Opens the plan that is in place, if it fits in T as a whole. */
static void open_plan(struct tacit_doubling_agent *agent)
{
    TACIT_ASSERT(agent->plan_count > 0);
    if (plan_pulls(agent) > agent->schedule.horizon - agent->pull_count)
        rest(agent);
    else
        agent->phase = DOUBLING_PULLING;
}

static uint64_t next_pulls(const void *state, uint32_t arm)
{
    struct tacit_doubling_agent *const agent = (struct tacit_doubling_agent *)(uintptr_t)state;
    uint32_t const own = doubling_own(agent, arm);
    return own < agent->rung_count ? doubling_pulls(agent, own) : 0;
}

/* 5.3 to 5.5. */
static void plan_by_index(struct tacit_doubling_agent *agent, struct tacit_doubling_memory *memory)
{
    double const *const uppers = doubling_uppers(memory, agent->schedule.arm_count);
    bound_all(agent, memory);
    struct tacit_phases_choice const choice = {.arm_count = agent->schedule.arm_count,
                                               .arms_per_round = agent->schedule.arms_per_round,
                                               .leader = agent->leader,
                                               .uppers = uppers,
                                               .bound = uppers[agent->leader],
                                               .pulls = next_pulls,
                                               .state = agent};
    agent->plan_count = tacit_phases_choose(&choice, doubling_plan(agent));
    if (agent->plan_count == 0)
        rest(agent);
    else
        open_plan(agent);
}

/* Others have climbed rungs of these arms: this agent follows, as far as T allows. False: there are
 * none, and no plan. */
static bool catch_up(struct tacit_doubling_agent *agent)
{
    TACIT_ASSERT(agent->plan_count == 0);
    uint64_t left = agent->schedule.horizon - agent->pull_count;
    for (uint32_t arm = 0; arm < agent->schedule.arm_count; arm++) {
        uint32_t const own = doubling_own(agent, arm);
        if (own >= top(agent, arm) || doubling_pulls(agent, own) > left)
            continue;
        left -= doubling_pulls(agent, own);
        plan_arm(agent, arm);
    }
    agent->forced = agent->plan_count > 0;
    return agent->plan_count > 0;
}

/* Has a quorum of sites released as many blocks of every arm as this agent? Else it waits. */
static bool own_blocks_are_in_use(struct tacit_doubling_agent *agent)
{
    for (uint32_t arm = 0; arm < agent->schedule.arm_count; arm++)
        if (doubling_own(agent, arm) > doubling_level(agent, arm))
            return false;
    return true;
}

/* Has it released nothing yet? */
static bool is_first(struct tacit_doubling_agent *agent)
{
    for (uint32_t arm = 0; arm < agent->schedule.arm_count; arm++)
        if (doubling_own(agent, arm) > 0)
            return false;
    return true;
}

void doubling_choose(struct tacit_doubling_agent *agent, struct tacit_doubling_memory *memory)
{
    TACIT_ASSERT(agent->pull_count <= agent->schedule.horizon);
    clear_plan(agent);
    if (agent->pull_count == agent->schedule.horizon) {
        agent->phase = DOUBLING_FINISHED;
    } else if (agent->schedule.arm_count == 1) {
        agent->leader = 0; /* 5.7: nothing to learn */
        rest(agent);
    } else if (is_first(agent)) { /* 5.2 */
        for (uint32_t arm = 0; arm < agent->schedule.arm_count; arm++)
            plan_arm(agent, arm);
        open_plan(agent);
    } else if (catch_up(agent)) {
        agent->phase = DOUBLING_PULLING;
    } else if (own_blocks_are_in_use(agent) && doubling_level(agent, 0) > 0) {
        plan_by_index(agent, memory);
    } else {
        agent->phase = DOUBLING_WAITING;
    }
}
