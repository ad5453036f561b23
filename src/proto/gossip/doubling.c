/* The agent's core: plays blocks, releases each once, and spreads what it knows. What is said and
 * what is played depend on released sums alone. */
#include "../round/pauses.h"
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
    TACIT_ASSERT(agent->phase <= DOUBLING_HALTED);
    TACIT_ASSERT(agent->pull_count <= agent->schedule.horizon);
    TACIT_ASSERT(agent->plan_count <= agent->schedule.arm_count);
    TACIT_IMPLIES(agent->phase == DOUBLING_PULLING, agent->plan_count > 0);
}

/* ---- Saying ---- */

static struct tacit_doubling_message message_to(const struct tacit_doubling_agent *agent,
                                                uint32_t to, enum tacit_doubling_message_kind kind)
{
    TACIT_ASSERT(to == TACIT_NEIGHBOURS || to != agent->agent_id);
    return (struct tacit_doubling_message){.kind = kind,
                                           .from = agent->agent_id,
                                           .to = to,
                                           .run_id = agent->run_id,
                                           .incarnation_number = agent->incarnation.number,
                                           .incarnation = agent->incarnation.name};
}

/* Gathers the blocks from base[cell] on that this agent knows, as many as a message takes. */
static struct tacit_doubling_message news_since(struct tacit_doubling_agent *agent,
                                                struct tacit_doubling_memory *memory,
                                                const uint8_t *base, uint32_t to)
{
    TACIT_ASSERT(base != NULL);
    uint32_t const arms = agent->schedule.arm_count;
    struct tacit_doubling_entry *const entries = doubling_entries(memory, arms);
    struct tacit_doubling_message news = message_to(agent, to, TACIT_DOUBLING_NEWS);
    news.entries = entries;
    for (size_t cell = 0; cell < doubling_cells(agent); cell++) {
        uint32_t const of = (uint32_t)(cell / arms);
        uint32_t const arm = (uint32_t)(cell % arms);
        for (uint32_t block = base[cell]; block < doubling_known(agent)[cell]; block++) {
            if (news.entry_count == TACIT_DOUBLING_ENTRIES_MAX) {
                news.more = true;
                return news;
            }
            entries[news.entry_count++] =
                (struct tacit_doubling_entry){.agent = of,
                                              .arm = arm,
                                              .block = block,
                                              .steps = doubling_steps(agent, of, arm)[block]};
        }
    }
    return news;
}

static void send(struct tacit_doubling_update *update, struct tacit_doubling_message message)
{
    TACIT_ASSERT(!update->send);
    update->send = true;
    update->message = message;
}

/* Passes on to all neighbours what was not passed on yet. */
static void pass_on(struct tacit_doubling_agent *agent, struct tacit_doubling_memory *memory,
                    struct tacit_doubling_update *update)
{
    TACIT_ASSERT(!update->send);
    uint8_t *const passed_on = doubling_passed_on(agent);
    struct tacit_doubling_message const news =
        news_since(agent, memory, passed_on, TACIT_NEIGHBOURS);
    for (uint32_t i = 0; i < news.entry_count; i++) {
        struct tacit_doubling_entry const *const entry = &news.entries[i];
        passed_on[(size_t)entry->agent * agent->schedule.arm_count + entry->arm] =
            (uint8_t)(entry->block + 1);
    }
    agent->speak_us = news.more ? agent->clock.now_us + agent->hop_us : TACIT_NEVER;
    update->persist = true;
    if (news.entry_count > 0)
        send(update, news);
}

static struct tacit_doubling_message question(struct tacit_doubling_agent *agent, uint32_t to)
{
    struct tacit_doubling_message have = message_to(agent, to, TACIT_DOUBLING_HAVE);
    have.known = doubling_known(agent);
    return have;
}

static void ask(struct tacit_doubling_agent *agent, struct tacit_doubling_update *update)
{
    if (agent->question_count < ROUND_DOUBLINGS_MAX)
        agent->question_count++;
    agent->ask_at_us = agent->clock.now_us + round_pause_us(agent->ask_us, agent->question_count);
    TACIT_ASSERT(agent->ask_at_us > agent->clock.now_us);
    send(update, question(agent, TACIT_NEIGHBOURS));
}

/* There is something new: it is passed on after a while, and what is missing is asked for later. */
static void schedule_news(struct tacit_doubling_agent *agent)
{
    if (agent->speak_us == TACIT_NEVER)
        agent->speak_us = agent->clock.now_us + agent->hop_us;
    agent->question_count = 0;
    agent->ask_at_us = agent->clock.now_us + agent->ask_us;
    TACIT_ASSERT(agent->speak_us != TACIT_NEVER);
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
    update->persist = true;
}

/* The next plan, which is handed out; or nothing, and the agent waits for others. */
static void choose(struct tacit_doubling_agent *agent, struct tacit_doubling_memory *memory,
                   struct tacit_doubling_update *update)
{
    doubling_choose(agent, memory);
    update->persist = true;
    if (agent->phase == DOUBLING_PULLING || agent->phase == DOUBLING_RESTING)
        hand_out_plan(agent, memory, update);
    else if (agent->phase == DOUBLING_WAITING)
        agent->ask_at_us = agent->clock.now_us + agent->ask_us;
}

/* Draws the noise of all blocks of the plan, then releases them together. Errors: TACIT_ENTROPY,
 * TACIT_BUDGET: nothing was released. */
static enum tacit_status release(struct tacit_doubling_agent *agent,
                                 struct tacit_doubling_memory *memory,
                                 const struct tacit_entropy *entropy)
{
    TACIT_ASSERT(memory->left_count == 0);
    TACIT_ASSERT(agent->phase == DOUBLING_RELEASING);
    uint32_t const arms = agent->schedule.arm_count;
    struct tacit_ledger ledger = agent->ledger;
    for (uint32_t i = 0; i < agent->plan_count; i++) {
        union tacit_sum const exact = {.steps = doubling_exact(memory, arms)[i]};
        union tacit_sum noised = {0};
        /* Each block has its own rewards: a cell of its own. */
        enum tacit_status status = tacit_ledger_spend(&ledger, agent->release_count + i + 1,
                                                      tacit_mechanism_cost_nano(&agent->mechanism));
        if (status == TACIT_OK)
            status = tacit_mechanism_release(&agent->mechanism, exact, entropy, &noised);
        if (status != TACIT_OK)
            return status;
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

/* All rewards are here; also the next try after TACIT_ENTROPY. Errors: as of release. */
static enum tacit_status end_plan(struct tacit_doubling_agent *agent,
                                  struct tacit_doubling_memory *memory,
                                  const struct tacit_entropy *entropy,
                                  struct tacit_doubling_update *update)
{
    agent->phase = DOUBLING_RELEASING;
    update->persist = true;
    enum tacit_status const status = release(agent, memory, entropy);
    if (status != TACIT_OK)
        return status;
    schedule_news(agent);
    if (agent->speak_us <= agent->clock.now_us)
        agent->speak_us = agent->clock.now_us + agent->hop_us; /* it waited for entropy */
    choose(agent, memory, update);
    return TACIT_OK;
}

/* ---- Events ---- */

/* After a start, which has lost the exact sums of open blocks. */
static void open_again(struct tacit_doubling_agent *agent, struct tacit_doubling_memory *memory,
                       struct tacit_doubling_update *update)
{
    bool const fits = doubling_plan_pulls(agent) <= agent->schedule.horizon - agent->pull_count;
    if (fits && agent->phase == DOUBLING_PULLING)
        hand_out_plan(agent, memory, update); /* again, with new rewards */
    else
        choose(agent, memory, update); /* T is nearer than it was */
}

static enum tacit_status on_start(struct tacit_doubling_agent *agent,
                                  struct tacit_doubling_memory *memory,
                                  const struct tacit_event *event,
                                  const struct tacit_entropy *entropy,
                                  struct tacit_doubling_update *update)
{
    TACIT_ASSERT(memory->left_count == 0);
    if (agent->phase == DOUBLING_HALTED)
        return TACIT_OK;
    enum tacit_status const status =
        gossip_begin_incarnation(&agent->incarnation, agent->guards_incarnations != 0, entropy);
    if (status != TACIT_OK)
        return status;
    agent->question_count = 0;
    agent->ask_at_us = event->now_us + agent->ask_us;
    bool const is_passed_on =
        memcmp(doubling_passed_on(agent), doubling_known(agent), doubling_cells(agent)) == 0;
    agent->speak_us = is_passed_on ? TACIT_NEVER : event->now_us + agent->hop_us;
    update->persist = true;
    switch ((enum doubling_phase)agent->phase) {
    case DOUBLING_PULLING:
    case DOUBLING_RELEASING: /* its exact sums are gone */
        agent->phase = DOUBLING_PULLING;
        open_again(agent, memory, update);
        break;
    case DOUBLING_NEW:
    case DOUBLING_RESTING:
        open_again(agent, memory, update);
        break;
    case DOUBLING_WAITING:
    case DOUBLING_FINISHED:
    case DOUBLING_HALTED:
        break;
    }
    return TACIT_OK;
}

/* Which open block is this reward of? plan_count if none. */
static uint32_t block_of(struct tacit_doubling_agent *agent, struct tacit_doubling_memory *memory,
                         const struct tacit_reward *reward)
{
    for (uint32_t i = 0; i < agent->plan_count; i++)
        if (doubling_plan(agent)[i].arm == reward->arm && reward->count > 0 &&
            reward->count <= doubling_left(memory)[i])
            return i;
    TACIT_ASSERT(agent->plan_count <= agent->schedule.arm_count);
    return agent->plan_count;
}

static enum tacit_status on_reward(struct tacit_doubling_agent *agent,
                                   struct tacit_doubling_memory *memory,
                                   const struct tacit_reward *reward,
                                   const struct tacit_entropy *entropy,
                                   struct tacit_doubling_update *update)
{
    if (agent->phase != DOUBLING_PULLING && agent->phase != DOUBLING_RESTING)
        return TACIT_INVALID;
    uint32_t const i = block_of(agent, memory, reward);
    if (i == agent->plan_count || reward->sum.steps < 0 ||
        reward->sum.steps > (int64_t)reward->count * TACIT_STEPS)
        return TACIT_INVALID;
    agent->pull_count += reward->count;
    agent->forced_count += agent->forced ? reward->count : 0;
    doubling_left(memory)[i] -= reward->count;
    memory->left_count -= reward->count;
    update->persist = true;
    if (agent->phase == DOUBLING_RESTING) { /* these rewards enter no sum */
        if (agent->pull_count == agent->schedule.horizon)
            choose(agent, memory, update);
        return TACIT_OK;
    }
    doubling_exact(memory, agent->schedule.arm_count)[i] += reward->sum.steps;
    return memory->left_count > 0 ? TACIT_OK : end_plan(agent, memory, entropy, update);
}

static enum tacit_status on_exploited(struct tacit_doubling_agent *agent,
                                      struct tacit_doubling_memory *memory, uint64_t count,
                                      struct tacit_doubling_update *update)
{
    if (agent->phase != DOUBLING_WAITING || count == 0 ||
        count > agent->schedule.horizon - agent->pull_count)
        return TACIT_INVALID;
    agent->pull_count += count;
    update->persist = true;
    if (agent->pull_count == agent->schedule.horizon)
        choose(agent, memory, update);
    return TACIT_OK;
}

static enum tacit_status on_timeout(struct tacit_doubling_agent *agent,
                                    struct tacit_doubling_memory *memory,
                                    const struct tacit_entropy *entropy,
                                    struct tacit_doubling_update *update)
{
    if (agent->phase == DOUBLING_RELEASING)
        return end_plan(agent, memory, entropy, update);
    if (agent->clock.now_us >= agent->speak_us) {
        pass_on(agent, memory, update);
        if (agent->ask_at_us <= agent->clock.now_us)
            agent->ask_at_us = agent->clock.now_us + agent->hop_us; /* one message a step */
    } else if (agent->phase == DOUBLING_WAITING && agent->clock.now_us >= agent->ask_at_us) {
        ask(agent, update);
        update->persist = true;
    }
    return TACIT_OK;
}

/* ---- Receiving ---- */

/* NULL: it is no neighbour. */
static struct doubling_edge *edge_to(struct tacit_doubling_agent *agent, uint32_t neighbour)
{
    struct doubling_edge *const edges = doubling_edges(agent);
    for (uint32_t i = 0; i < agent->neighbour_count; i++)
        if (edges[i].neighbour == neighbour)
            return &edges[i];
    return NULL;
}

static bool entry_is_possible(struct tacit_doubling_agent *agent,
                              const struct tacit_doubling_entry *entry)
{
    union tacit_sum const sum = {.steps = entry->steps};
    return entry->agent < agent->schedule.agent_count && entry->arm < agent->schedule.arm_count &&
           entry->block < agent->rung_count && entry->spare == 0 &&
           tacit_mechanism_plausible(&agent->mechanism, sum, doubling_pulls(agent, entry->block),
                                     1);
}

static struct gossip_incarnation incarnation_of(const struct tacit_doubling_message *message)
{
    return (struct gossip_incarnation){message->incarnation_number, message->incarnation};
}

static enum tacit_status check_message(struct tacit_doubling_agent *agent,
                                       const struct tacit_doubling_message *message)
{
    if (message->run_id != agent->run_id ||
        (message->to != agent->agent_id && message->to != TACIT_NEIGHBOURS) ||
        edge_to(agent, message->from) == NULL)
        return TACIT_STRANGER;
    bool const is_news = message->kind == TACIT_DOUBLING_NEWS;
    bool const is_question = message->kind == TACIT_DOUBLING_HAVE;
    if (message->kind > TACIT_DOUBLING_REFUSE || (message->known != NULL) != is_question ||
        (message->entry_count > 0) != is_news || (message->more && !is_news) ||
        (is_news && message->entries == NULL) ||
        message->entry_count > TACIT_DOUBLING_ENTRIES_MAX ||
        !gossip_incarnation_fits(incarnation_of(message), agent->guards_incarnations != 0))
        return TACIT_MALFORMED;
    for (uint32_t i = 0; i < message->entry_count; i++)
        if (!entry_is_possible(agent, &message->entries[i]))
            return TACIT_MALFORMED;
    for (size_t cell = 0; is_question && cell < doubling_cells(agent); cell++)
        if (message->known[cell] > agent->rung_count)
            return TACIT_MALFORMED;
    return TACIT_OK;
}

/* This agent's blocks that it does not know itself: its state is an old copy. */
static bool shows_unknown_blocks(struct tacit_doubling_agent *agent,
                                 const struct tacit_doubling_message *message)
{
    for (uint32_t i = 0; i < message->entry_count; i++)
        if (message->entries[i].agent == agent->agent_id &&
            message->entries[i].block >= doubling_own(agent, message->entries[i].arm))
            return true;
    return false;
}

static enum tacit_status halt(struct tacit_doubling_agent *agent,
                              struct tacit_doubling_update *update)
{
    agent->phase = DOUBLING_HALTED;
    update->persist = true;
    return TACIT_ROLLBACK;
}

/* The union. A block that would leave a gap is asked for later. Result: something is new. */
static bool merge(struct tacit_doubling_agent *agent, const struct tacit_doubling_message *news)
{
    TACIT_ASSERT(news->entry_count <= TACIT_DOUBLING_ENTRIES_MAX);
    uint64_t const possible =
        gossip_pulls_by_clock(&agent->clock, agent->pull_us, agent->schedule.horizon);
    bool is_new = false;
    for (uint32_t i = 0; i < news->entry_count; i++) {
        struct tacit_doubling_entry const *const entry = &news->entries[i];
        size_t const cell = (size_t)entry->agent * agent->schedule.arm_count + entry->arm;
        uint8_t *const known = &doubling_known(agent)[cell];
        int64_t *const steps = doubling_steps(agent, entry->agent, entry->arm);
        if (entry->block < *known) {
            agent->conflict_count += steps[entry->block] != entry->steps;
        } else if (entry->block == *known && doubling_rungs(agent)[entry->block] <= possible) {
            steps[entry->block] = entry->steps;
            (*known)++;
            is_new = true;
        }
    }
    return is_new;
}

static enum tacit_status on_news(struct tacit_doubling_agent *agent,
                                 struct tacit_doubling_memory *memory,
                                 const struct tacit_doubling_message *news,
                                 struct tacit_doubling_update *update)
{
    TACIT_ASSERT(news->entries != NULL);
    if (shows_unknown_blocks(agent, news))
        return halt(agent, update);
    uint64_t const conflicts = agent->conflict_count;
    bool const is_new = merge(agent, news);
    update->persist = update->persist || is_new || agent->conflict_count > conflicts;
    if (is_new) {
        schedule_news(agent);
        if (agent->phase == DOUBLING_WAITING)
            choose(agent, memory, update);
    }
    if (news->more && news->to == agent->agent_id)
        send(update, question(agent, news->from));
    return TACIT_OK;
}

static void on_question(struct tacit_doubling_agent *agent, struct tacit_doubling_memory *memory,
                        const struct tacit_doubling_message *have,
                        struct tacit_doubling_update *update)
{
    TACIT_ASSERT(have->known != NULL);
    struct tacit_doubling_message const news = news_since(agent, memory, have->known, have->from);
    if (news.entry_count > 0) {
        send(update, news);
        return;
    }
    for (size_t cell = 0; cell < doubling_cells(agent); cell++)
        if (have->known[cell] > doubling_known(agent)[cell] &&
            cell / agent->schedule.arm_count != agent->agent_id) {
            send(update, question(agent, have->from)); /* they know more than this agent */
            return;
        }
}

static enum tacit_status on_receive(struct tacit_doubling_agent *agent,
                                    struct tacit_doubling_memory *memory,
                                    const struct tacit_doubling_message *message,
                                    struct tacit_doubling_update *update)
{
    enum tacit_status const status = check_message(agent, message);
    if (status != TACIT_OK)
        return status;
    if (agent->phase == DOUBLING_NEW)
        return TACIT_UNEXPECTED;
    if (message->kind == TACIT_DOUBLING_REFUSE) {
        if (message->incarnation_number != agent->incarnation.number ||
            message->incarnation != agent->incarnation.name)
            return TACIT_OK; /* of an earlier incarnation */
        return halt(agent, update);
    }
    enum gossip_acquaintance const known =
        gossip_meet(&edge_to(agent, message->from)->incarnation, incarnation_of(message));
    update->persist = known == GOSSIP_NEW;
    if (known == GOSSIP_REFUSED) {
        struct tacit_doubling_message refusal =
            message_to(agent, message->from, TACIT_DOUBLING_REFUSE);
        refusal.incarnation_number = message->incarnation_number;
        refusal.incarnation = message->incarnation;
        send(update, refusal);
        return TACIT_OK;
    }
    if (message->kind == TACIT_DOUBLING_NEWS)
        return on_news(agent, memory, message, update);
    on_question(agent, memory, message, update);
    return TACIT_OK;
}

static enum tacit_status handle(struct tacit_doubling_agent *agent,
                                struct tacit_doubling_memory *memory,
                                const struct tacit_event *event,
                                const struct tacit_entropy *entropy,
                                struct tacit_doubling_update *update)
{
    bool const is_halted = agent->phase == DOUBLING_HALTED;
    switch (event->kind) {
    case TACIT_EVENT_START:
        return on_start(agent, memory, event, entropy, update);
    case TACIT_EVENT_REWARD:
        return on_reward(agent, memory, &event->as.reward, entropy, update);
    case TACIT_EVENT_EXPLOITED:
        return on_exploited(agent, memory, event->as.exploited_count, update);
    case TACIT_EVENT_RECEIVE:
        return is_halted ? TACIT_OK : on_receive(agent, memory, event->as.message, update);
    case TACIT_EVENT_TIMEOUT:
        return is_halted ? TACIT_OK : on_timeout(agent, memory, entropy, update);
    case TACIT_EVENT_OFFER:
        return TACIT_INVALID; /* nobody's contexts matter here */
    }
    TACIT_ASSERT(false);
    return TACIT_INVALID;
}

/* ---- Public ---- */

static uint64_t deadline_of(const struct tacit_doubling_agent *agent)
{
    if (agent->phase == DOUBLING_HALTED)
        return TACIT_NEVER;
    if (agent->phase == DOUBLING_RELEASING)
        return agent->clock.now_us + agent->hop_us; /* until entropy is there again */
    bool const asks = agent->phase == DOUBLING_WAITING && agent->ask_at_us < agent->speak_us;
    return asks ? agent->ask_at_us : agent->speak_us;
}

enum tacit_status tacit_doubling_step(struct tacit_doubling_agent *agent,
                                      struct tacit_doubling_memory *memory,
                                      const struct tacit_event *event,
                                      const struct tacit_entropy *entropy,
                                      struct tacit_doubling_update *update)
{
    check_invariants(agent);
    *update = (struct tacit_doubling_update){.deadline_us = TACIT_NEVER};
    struct gossip_clock const before = agent->clock;
    gossip_clock_move(&agent->clock, event->now_us, event->kind == TACIT_EVENT_START);
    enum tacit_status const status = handle(agent, memory, event, entropy, update);
    check_invariants(agent);
    if (status != TACIT_OK && !update->persist)
        agent->clock = before;
    TACIT_IMPLIES(update->send, update->message.from == agent->agent_id);
    TACIT_IMPLIES(update->plan_count > 0, update->persist);
    update->deadline_us = deadline_of(agent);
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
                                         .halted = agent->phase == DOUBLING_HALTED,
                                         .forced = agent->forced != 0,
                                         .pull_count = agent->pull_count,
                                         .forced_count = agent->forced_count,
                                         .release_count = agent->release_count,
                                         .conflict_count = agent->conflict_count,
                                         .leader = agent->leader,
                                         .exploit_arm = exploit_arm(agent),
                                         .rung_count = agent->rung_count,
                                         .plan_count = agent->plan_count,
                                         .plan = doubling_plan(agent),
                                         .known = doubling_known(agent),
                                         .steps = doubling_steps(agent, 0, 0),
                                         .rungs = doubling_rungs(agent),
                                         .means = doubling_means(agent),
                                         .ledger = &agent->ledger,
                                         .incarnation_number = agent->incarnation.number};
}
