/* The agent's core: plays blocks, releases each once, and passes on what it knows. What is said and
 * what is played depend on released sums alone. */
#include "doubling_state.h"
#include <math.h>
#include <string.h>

static void check_invariants(const struct tacit_doubling_agent *agent)
{
    TACIT_ASSERT(agent->forced <= 1);
    TACIT_ASSERT(agent->forced_count <= agent->pull_count);
    TACIT_ASSERT(agent->leader == TACIT_NO_ARM || agent->leader < agent->schedule.arm_count);
    TACIT_ASSERT(tacit_ledger_spent_nano(&agent->ledger) <= agent->ledger.budget_nano);
    TACIT_IMPLIES(agent->phase == DOUBLING_FINISHED, agent->pull_count == agent->schedule.horizon);
    TACIT_ASSERT(agent->phase <= DOUBLING_FINISHED);
    TACIT_ASSERT(agent->pull_count <= agent->schedule.horizon);
    TACIT_ASSERT(agent->plan_count <= agent->schedule.arm_count);
    TACIT_IMPLIES(agent->phase == DOUBLING_PULLING, agent->plan_count > 0);
}

/* ---- Saying ---- */

/* Passes on to all neighbours what was not passed on yet, as much as a message takes; the rest a
 * hop later. */
static void pass_on(struct tacit_doubling_agent *agent, struct tacit_doubling_memory *memory,
                    struct tacit_doubling_update *update)
{
    uint32_t const arms = agent->schedule.arm_count;
    uint8_t const *const known = doubling_known(agent);
    uint8_t *const passed_on = doubling_passed_on(agent);
    struct tacit_doubling_entry *const entries = doubling_entries(memory, arms);
    uint32_t count = 0;
    for (size_t cell = 0; cell < doubling_cells(agent); cell++) {
        uint32_t const of = (uint32_t)(cell / arms);
        uint32_t const arm = (uint32_t)(cell % arms);
        for (; passed_on[cell] < known[cell] && count < TACIT_DOUBLING_ENTRIES_MAX;
             passed_on[cell]++)
            entries[count++] = (struct tacit_doubling_entry){
                .agent = of,
                .arm = arm,
                .block = passed_on[cell],
                .steps = doubling_steps(agent, of, arm)[passed_on[cell]]};
    }
    bool const is_all = memcmp(passed_on, known, doubling_cells(agent)) == 0;
    TACIT_ASSERT(count > 0);
    agent->speak_us = is_all ? TACIT_NEVER : agent->now_us + agent->hop_us;
    update->send = true;
    update->message = (struct tacit_doubling_message){agent->agent_id, count, entries};
}

/* There is something new: it is passed on after a while. */
static void schedule_news(struct tacit_doubling_agent *agent)
{
    if (agent->speak_us == TACIT_NEVER)
        agent->speak_us = agent->now_us + agent->hop_us;
}

/* ---- Playing ---- */

/* Hands out the plan; its rewards begin at nothing. */
static void hand_out_plan(struct tacit_doubling_agent *agent, struct tacit_doubling_memory *memory,
                          struct tacit_doubling_update *update)
{
    TACIT_ASSERT(agent->plan_count > 0);
    TACIT_ASSERT(agent->plan_count <= agent->schedule.arm_count);
    struct tacit_pull_block const *const plan = doubling_plan(agent);
    memory->left_count = 0;
    for (uint32_t i = 0; i < agent->plan_count; i++) {
        doubling_left(memory)[i] = plan[i].count;
        doubling_exact(memory, agent->schedule.arm_count)[i] = 0;
        memory->left_count += plan[i].count;
    }
    update->plan = plan;
    update->plan_count = agent->plan_count;
}

/* The next plan, which is handed out; or nothing, and the agent waits for others. */
static void choose(struct tacit_doubling_agent *agent, struct tacit_doubling_memory *memory,
                   struct tacit_doubling_update *update)
{
    doubling_choose(agent, memory);
    if (agent->phase == DOUBLING_PULLING || agent->phase == DOUBLING_RESTING)
        hand_out_plan(agent, memory, update);
}

/* Draws the noise of all blocks of the plan, then releases them together. Errors: TACIT_ENTROPY,
 * nothing was released. */
static enum tacit_status release(struct tacit_doubling_agent *agent,
                                 struct tacit_doubling_memory *memory,
                                 const struct tacit_entropy *entropy)
{
    TACIT_ASSERT(memory->left_count == 0);
    TACIT_ASSERT(agent->phase == DOUBLING_PULLING);
    uint32_t const arms = agent->schedule.arm_count;
    struct tacit_ledger ledger = agent->ledger;
    for (uint32_t i = 0; i < agent->plan_count; i++) {
        union tacit_sum const exact = {.steps = doubling_exact(memory, arms)[i]};
        union tacit_sum noised = {0};
        /* Each block has its own rewards: a cell of its own. */
        TACIT_TRY(tacit_ledger_spend(&ledger, agent->release_count + i + 1,
                                     tacit_mechanism_cost_nano(&agent->mechanism)));
        TACIT_TRY(tacit_mechanism_release(&agent->mechanism, exact, entropy, &noised));
        doubling_noised(memory, arms)[i] = noised.steps;
    }
    agent->ledger = ledger;
    for (uint32_t i = 0; i < agent->plan_count; i++) {
        uint32_t const arm = doubling_plan(agent)[i].arm;
        uint32_t const block = doubling_own(agent, arm);
        TACIT_ASSERT(block < agent->rung_count);
        doubling_steps(agent, agent->agent_id, arm)[block] = doubling_noised(memory, arms)[i];
        doubling_known(agent)[(size_t)agent->agent_id * arms + arm]++;
    }
    agent->release_count += agent->plan_count;
    memset(doubling_exact(memory, arms), 0, arms * sizeof(int64_t));
    return TACIT_OK;
}

/* All rewards are here. Errors: as of release. */
static enum tacit_status end_plan(struct tacit_doubling_agent *agent,
                                  struct tacit_doubling_memory *memory,
                                  const struct tacit_entropy *entropy,
                                  struct tacit_doubling_update *update)
{
    TACIT_TRY(release(agent, memory, entropy));
    schedule_news(agent);
    if (agent->speak_us <= agent->now_us)
        agent->speak_us = agent->now_us + agent->hop_us; /* what is due now goes with it */
    choose(agent, memory, update);
    return TACIT_OK;
}

/* ---- Events ---- */

/* Which open block is this reward of? */
static uint32_t block_of(struct tacit_doubling_agent *agent, struct tacit_doubling_memory *memory,
                         const struct tacit_reward *reward)
{
    uint32_t i = 0;
    while (i < agent->plan_count &&
           (doubling_plan(agent)[i].arm != reward->arm || doubling_left(memory)[i] < reward->count))
        i++;
    TACIT_ASSERT(i < agent->plan_count);
    return i;
}

static enum tacit_status on_reward(struct tacit_doubling_agent *agent,
                                   struct tacit_doubling_memory *memory,
                                   const struct tacit_reward *reward,
                                   const struct tacit_entropy *entropy,
                                   struct tacit_doubling_update *update)
{
    uint32_t const i = block_of(agent, memory, reward);
    TACIT_ASSERT(agent->phase == DOUBLING_PULLING || agent->phase == DOUBLING_RESTING);
    TACIT_ASSERT(reward->sum.steps >= 0);
    TACIT_ASSERT(reward->sum.steps <= (int64_t)reward->count * TACIT_STEPS);
    agent->pull_count += reward->count;
    agent->forced_count += agent->forced ? reward->count : 0;
    doubling_left(memory)[i] -= reward->count;
    memory->left_count -= reward->count;
    if (agent->phase == DOUBLING_RESTING) { /* these rewards enter no sum */
        if (agent->pull_count == agent->schedule.horizon)
            choose(agent, memory, update);
        return TACIT_OK;
    }
    doubling_exact(memory, agent->schedule.arm_count)[i] += reward->sum.steps;
    return memory->left_count > 0 ? TACIT_OK : end_plan(agent, memory, entropy, update);
}

static void on_exploited(struct tacit_doubling_agent *agent, struct tacit_doubling_memory *memory,
                         uint64_t count, struct tacit_doubling_update *update)
{
    TACIT_ASSERT(agent->phase == DOUBLING_WAITING);
    TACIT_ASSERT(count > 0 && count <= agent->schedule.horizon - agent->pull_count);
    agent->pull_count += count;
    if (agent->pull_count == agent->schedule.horizon)
        choose(agent, memory, update);
}

/* The union: neighbours say blocks in their order, and none is lost. Result: something is new. */
static bool merge(struct tacit_doubling_agent *agent, const struct tacit_doubling_message *news)
{
    bool is_new = false;
    for (uint32_t i = 0; i < news->entry_count; i++) {
        struct tacit_doubling_entry const *const entry = &news->entries[i];
        size_t const cell = (size_t)entry->agent * agent->schedule.arm_count + entry->arm;
        uint8_t *const known = &doubling_known(agent)[cell];
        TACIT_ASSERT(cell < doubling_cells(agent));
        TACIT_ASSERT(entry->block <= *known && entry->block < agent->rung_count);
        if (entry->block < *known)
            continue; /* it came another way */
        doubling_steps(agent, entry->agent, entry->arm)[entry->block] = entry->steps;
        (*known)++;
        is_new = true;
    }
    return is_new;
}

static void on_news(struct tacit_doubling_agent *agent, struct tacit_doubling_memory *memory,
                    const struct tacit_doubling_message *news, struct tacit_doubling_update *update)
{
    if (!merge(agent, news))
        return;
    schedule_news(agent);
    if (agent->phase == DOUBLING_WAITING)
        choose(agent, memory, update);
}

static enum tacit_status handle(struct tacit_doubling_agent *agent,
                                struct tacit_doubling_memory *memory,
                                const struct tacit_event *event,
                                const struct tacit_entropy *entropy,
                                struct tacit_doubling_update *update)
{
    switch (event->kind) {
    case TACIT_EVENT_START:
        TACIT_ASSERT(agent->phase == DOUBLING_NEW);
        choose(agent, memory, update);
        return TACIT_OK;
    case TACIT_EVENT_REWARD:
        return on_reward(agent, memory, &event->as.reward, entropy, update);
    case TACIT_EVENT_EXPLOITED:
        on_exploited(agent, memory, event->as.exploited_count, update);
        return TACIT_OK;
    case TACIT_EVENT_RECEIVE:
        on_news(agent, memory, event->as.message, update);
        return TACIT_OK;
    case TACIT_EVENT_TIMEOUT:
        if (agent->now_us >= agent->speak_us)
            pass_on(agent, memory, update);
        return TACIT_OK;
    case TACIT_EVENT_OFFER:
        break; /* nobody's contexts matter here */
    }
    TACIT_ASSERT(false);
    return TACIT_INVALID;
}

/* ---- Public ---- */

enum tacit_status tacit_doubling_step(struct tacit_doubling_agent *agent,
                                      struct tacit_doubling_memory *memory,
                                      const struct tacit_event *event,
                                      const struct tacit_entropy *entropy,
                                      struct tacit_doubling_update *update)
{
    check_invariants(agent);
    TACIT_ASSERT(event->now_us >= agent->now_us);
    *update = (struct tacit_doubling_update){.deadline_us = TACIT_NEVER};
    agent->now_us = event->now_us;
    enum tacit_status const status = handle(agent, memory, event, entropy, update);
    check_invariants(agent);
    TACIT_IMPLIES(update->send, update->message.from == agent->agent_id);
    update->deadline_us = agent->speak_us;
    return status;
}

/* The leader; before the first decision the arm with the largest own released mean. */
static uint32_t exploit_arm(struct tacit_doubling_agent *agent)
{
    if (agent->leader != TACIT_NO_ARM)
        return agent->leader;
    uint32_t best = 0;
    double best_mean = -INFINITY;
    for (uint32_t arm = 0; arm < agent->schedule.arm_count; arm++) {
        uint32_t const own = doubling_own(agent, arm);
        int64_t steps = 0;
        for (uint32_t block = 0; block < own; block++)
            steps += doubling_steps(agent, agent->agent_id, arm)[block];
        double const mean =
            own == 0 ? -INFINITY : (double)steps / (double)doubling_rungs(agent)[own - 1];
        if (mean > best_mean) {
            best = arm;
            best_mean = mean;
        }
    }
    TACIT_ASSERT(best < agent->schedule.arm_count);
    return best;
}

void tacit_doubling_view(const struct tacit_doubling_agent *state, struct tacit_doubling_view *view)
{
    struct tacit_doubling_agent *const agent = (struct tacit_doubling_agent *)(uintptr_t)state;
    *view = (struct tacit_doubling_view){.waiting = agent->phase == DOUBLING_WAITING,
                                         .resting = agent->phase == DOUBLING_RESTING,
                                         .finished = agent->phase == DOUBLING_FINISHED,
                                         .forced = agent->forced != 0,
                                         .pull_count = agent->pull_count,
                                         .forced_count = agent->forced_count,
                                         .release_count = agent->release_count,
                                         .leader = agent->leader,
                                         .exploit_arm = exploit_arm(agent),
                                         .rung_count = agent->rung_count,
                                         .plan_count = agent->plan_count,
                                         .plan = doubling_plan(agent),
                                         .known = doubling_known(agent),
                                         .steps = doubling_steps(agent, 0, 0),
                                         .rungs = doubling_rungs(agent),
                                         .means = doubling_means(agent),
                                         .ledger = &agent->ledger};
}
