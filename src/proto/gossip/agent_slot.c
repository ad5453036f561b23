/* The slots of an agent: the first pulls, what is played (Alg. 1 l. 3-14), what a reward changes.
 */
#include "agent_state.h"

static struct gossip_row row_of(struct tacit_gossip_agent *agent,
                                struct tacit_gossip_memory *memory)
{
    return (struct gossip_row){.rule = &agent->rule,
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

/* ---- Plans ---- */

void gossip_agent_plan_pull(struct tacit_gossip_agent *agent, struct tacit_gossip_update *update)
{
    TACIT_ASSERT(agent->arm < agent->rule.arm_count);
    TACIT_ASSERT(agent->phase == PHASE_PULLING);
    plan_of(agent)[0] = (struct tacit_pull_block){.arm = agent->arm, .count = 1};
    update->plan = plan_of(agent);
    update->plan_count = 1;
}

void gossip_agent_plan_first(struct tacit_gossip_agent *agent, struct tacit_gossip_update *update)
{
    uint32_t count = 0;
    for (uint32_t arm = 0; arm < agent->rule.arm_count; arm++)
        if (!tacit_bits_has(came_of(agent), arm))
            plan_of(agent)[count++] = (struct tacit_pull_block){.arm = arm, .count = 1};
    TACIT_ASSERT(count == agent->first_left);
    update->plan = plan_of(agent);
    update->plan_count = count;
}

/* ---- Slots ---- */

/* Line 5. What was heard since the last slot enters n~ only now: line 6 of this slot used the n~ of
 * the step before (READINGS P2.5). */
static void update_seen(struct tacit_gossip_agent *agent)
{
    uint64_t const *const count = array_of(agent, ARRAY_COUNT);
    uint64_t const *const heard = array_of(agent, ARRAY_HEARD);
    uint64_t *const seen = array_of(agent, ARRAY_SEEN);
    for (uint32_t arm = 0; arm < agent->rule.arm_count; arm++) {
        uint64_t const known = count[arm] > heard[arm] ? count[arm] : heard[arm];
        seen[arm] = known > seen[arm] ? known : seen[arm];
    }
}

/* Lines 3-14. n counts the pull from here on: decisions given, not rewards that came, so that a
 * reward that is slow does not show its value. Errors: TACIT_ENTROPY, nothing changed. */
enum tacit_status gossip_agent_begin_slot(struct tacit_gossip_agent *agent,
                                          struct tacit_gossip_memory *memory,
                                          const struct tacit_entropy *entropy,
                                          struct tacit_gossip_update *update)
{
    TACIT_ASSERT(agent->phase == PHASE_WAITING);
    TACIT_ASSERT(agent->slot < agent->rule.horizon);
    struct gossip_row const row = row_of(agent, memory);
    struct gossip_candidates const candidates =
        gossip_candidates_of(&row, gossip_slot_at(&agent->rule, agent->slot + 1));
    uint32_t arm = 0;
    TACIT_TRY(gossip_choose(&row, &candidates, entropy, &arm));
    TACIT_ASSERT(arm < agent->rule.arm_count);
    agent->slot++;
    agent->arm = arm;
    agent->forced = candidates.behind_count > 0;
    agent->forced_count += agent->forced;
    update_seen(agent);
    gossip_count_pull(&row, arm);
    agent->pull_count++;
    agent->phase = PHASE_PULLING;
    gossip_agent_plan_pull(agent, update);
    update->persist = true;
    if (is_lockstep(agent))
        gossip_agent_send(
            agent, gossip_agent_message_to(agent, TACIT_NEIGHBOURS, TACIT_GOSSIP_COUNTS), update);
    return TACIT_OK;
}

/* Its reward is here: the next slot begins now, or when its time comes. */
static enum tacit_status end_slot(struct tacit_gossip_agent *agent,
                                  struct tacit_gossip_memory *memory,
                                  const struct tacit_entropy *entropy,
                                  struct tacit_gossip_update *update)
{
    TACIT_ASSERT(agent->first_left == 0);
    agent->arm = TACIT_NO_ARM;
    agent->phase = agent->slot == agent->rule.horizon ? PHASE_FINISHED : PHASE_WAITING;
    if (is_lockstep(agent) || agent->phase == PHASE_FINISHED)
        return TACIT_OK;
    /* The reward was taken in; if entropy fails now, the next timeout begins the slot. */
    (void)gossip_agent_begin_slot(agent, memory, entropy, update);
    return TACIT_OK;
}

/* ---- Rewards ---- */

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

enum tacit_status gossip_agent_on_reward(struct tacit_gossip_agent *agent,
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
    return end_slot(agent, memory, entropy, update);
}
