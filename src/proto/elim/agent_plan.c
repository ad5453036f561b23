/* What an agent pulls (Li, Song, Alg. 1 l. 6-8 and l. 17): its plans, and the arm that is played
 * outside them. */
#include <math.h>
#include <string.h>
#include "agent_state.h"

/* Gives `slots` pulls to the playable arms in turn, by index, none beyond its need. Requires: all
 * together need more. */
static void plan_round_robin(struct tacit_elim_agent *agent, uint64_t slots)
{
    uint32_t const count = tacit_bits_count(playable_of(agent), agent->config.arm_count);
    TACIT_ASSERT(count > 0);
    TACIT_ASSERT(slots <= agent->horizon - agent->pull_count);
    uint32_t const arms = agent->config.arm_count;
    uint64_t *const left = left_of(agent);
    uint64_t const *const done = done_of(agent);
    while (slots > 0) {
        uint64_t const each = slots / count; /* whole turns at once */
        for (uint32_t arm = tacit_bits_next(playable_of(agent), arms, 0); arm < arms && slots > 0;
             arm = tacit_bits_next(playable_of(agent), arms, arm + 1)) {
            uint64_t const need = agent->pulls - done[arm] - left[arm];
            uint64_t const wish = each > 0 ? each : 1;
            uint64_t const more = need < wish ? need : wish;
            left[arm] += more;
            agent->left_count += more;
            slots -= more;
        }
    }
}

/* EXACT-BOUNDS 6: waiting took slots, too, and the plan does not fit any more. The leader until T,
 * and nothing is released. */
static void plan_leader(struct tacit_elim_agent *agent)
{
    TACIT_ASSERT(agent->cut && agent->leader > 0);
    agent->left_count = agent->horizon - agent->pull_count;
    left_of(agent)[elim_agent_arm_to_exploit(agent)] = agent->left_count;
}

/* What may be played of what the order names; if that is nothing, of all arms. */
void elim_agent_find_playable(struct tacit_elim_agent *agent)
{
    size_t const words = TACIT_BITS_WORDS(agent->config.arm_count);
    uint64_t any = 0;
    if (agent->config.change_max == 0)
        return;
    for (size_t i = 0; i < words; i++)
        any |= playable_of(agent)[i] = arms_of(agent)[i] & ~barred_of(agent)[i];
    if (any != 0)
        return;
    tacit_bits_fill(playable_of(agent), agent->config.arm_count);
    for (size_t i = 0; i < words; i++)
        playable_of(agent)[i] &= ~barred_of(agent)[i];
}

/* Opens the plan that brings every active arm to S(r), cut at T. */
static void plan_exploration(struct tacit_elim_agent *agent)
{
    TACIT_ASSERT(!agent->last);
    TACIT_ASSERT(agent->left_count == 0);
    uint32_t const arms = agent->config.arm_count;
    uint64_t const *const done = done_of(agent);
    uint64_t const slots = agent->horizon - agent->pull_count;
    uint64_t need = 0;
    TACIT_BITS_EACH (arm, playable_of(agent), arms) {
        uint64_t const more = agent->pulls > done[arm] ? agent->pulls - done[arm] : 0;
        need += more; /* 2^16 arms of 2^40 pulls: 2^56 fits */
        left_of(agent)[arm] = more;
    }
    agent->cut = need > slots;
    agent->left_count = agent->cut ? 0 : need;
    if (agent->cut) {
        memset(left_of(agent), 0, arms * sizeof(uint64_t));
        if (agent->leader > 0)
            plan_leader(agent);
        else
            plan_round_robin(agent, slots);
    }
}

/* l. 17: the last arm until T. */
static void plan_last_arm(struct tacit_elim_agent *agent)
{
    TACIT_ASSERT(agent->last);
    TACIT_ASSERT(agent->active_count == 1);
    uint32_t const arm =
        elim_agent_arm_to_exploit(agent); /* it is the one, unless this site refuses it */
    agent->left_count = agent->horizon - agent->pull_count;
    left_of(agent)[arm] = agent->left_count;
}

void elim_agent_fill_plan(struct tacit_elim_agent *agent, struct tacit_elim_update *update)
{
    TACIT_ASSERT(update->plan_count == 0);
    uint32_t const arms = agent->config.arm_count;
    uint32_t count = 0;
    TACIT_BITS_EACH (arm, playable_of(agent), arms) {
        if (left_of(agent)[arm] == 0)
            continue;
        plan_of(agent)[count].arm = arm;
        plan_of(agent)[count].count = left_of(agent)[arm];
        count++;
    }
    TACIT_ASSERT(count >= 1);
    TACIT_ASSERT(count <= agent->config.arm_count);
    update->plan = plan_of(agent);
    update->plan_count = count;
}

/* The plan of the order that stands, from what is done already. */
void elim_agent_lay_plan(void *state)
{
    struct tacit_elim_agent *const agent = state;
    memset(left_of(agent), 0, agent->config.arm_count * sizeof(uint64_t));
    agent->left_count = 0;
    agent->cut = false;
    if (agent->last)
        plan_last_arm(agent);
    else
        plan_exploration(agent);
    TACIT_ASSERT(agent->left_count <= agent->horizon - agent->pull_count);
}

/* The leader of the order; else the best noised history: all active arms share one number of
 * released pulls. */
uint32_t elim_agent_arm_to_exploit(struct tacit_elim_agent *agent)
{
    uint32_t const arms = agent->config.arm_count;
    if (agent->leader > 0 && tacit_bits_has(playable_of(agent), agent->leader - 1))
        return agent->leader - 1;
    union tacit_sum const *const noised = noised_of(agent);
    bool const is_real = agent->config.mechanism.scale.kind == TACIT_SCALE_REAL;
    uint32_t best = tacit_bits_next(playable_of(agent), arms, 0);
    TACIT_ASSERT(best < arms);
    if (agent->config.has_helper) { /* in turn: what was masked says nothing here */
        for (uint64_t turn = agent->pull_count % agent->active_count; turn > 0; turn--)
            best = tacit_bits_next(playable_of(agent), arms, best + 1);
        return best;
    }
    for (uint32_t arm = best; arm < arms; arm = tacit_bits_next(playable_of(agent), arms, arm + 1))
        if (is_real ? noised[arm].real > noised[best].real : noised[arm].steps > noised[best].steps)
            best = arm;
    return best;
}

uint32_t tacit_elim_best_own(const union tacit_sum *sums, const uint64_t *arms, uint32_t arm_count,
                             const struct tacit_entropy *entropy)
{
    uint32_t chosen = tacit_bits_next(arms, arm_count, 0);
    uint64_t ties = 0;
    double best = -INFINITY;
    TACIT_ASSERT(chosen < arm_count);
    TACIT_BITS_EACH (arm, arms, arm_count) {
        uint64_t drawn = 0;
        if (sums[arm].real < best)
            continue;
        ties = sums[arm].real > best ? 1 : ties + 1;
        best = sums[arm].real;
        if (ties > 1 && tacit_entropy_below(entropy, ties, &drawn) != TACIT_OK)
            continue;
        if (drawn == 0)
            chosen = arm;
    }
    return chosen;
}
