/* Sizes, first states, states from a disk; copies of messages. */
#include "doubling_state.h"
#include <math.h>
#include <string.h>

/* ---- Messages ---- */

size_t tacit_doubling_message_size(const struct tacit_doubling_message *message, size_t cells)
{
    size_t const known = message->known == NULL ? 0 : (cells + 7) / 8 * 8;
    return sizeof *message + message->entry_count * sizeof message->entries[0] + known;
}

const struct tacit_doubling_message *
tacit_doubling_message_copy(const struct tacit_doubling_message *message, size_t cells,
                            void *memory)
{
    TACIT_ASSERT(memory != NULL);
    TACIT_ASSERT((const void *)message != memory);
    struct tacit_doubling_message *const copy = memory;
    unsigned char *at = (unsigned char *)memory + sizeof *copy;
    *copy = *message;
    copy->entries = NULL;
    copy->known = NULL;
    if (message->entry_count > 0) {
        size_t const bytes = message->entry_count * sizeof message->entries[0];
        copy->entries = (const struct tacit_doubling_entry *)(const void *)at;
        memcpy(at, message->entries, bytes);
        at += bytes;
    }
    if (message->known != NULL) {
        copy->known = at;
        memcpy(at, message->known, cells);
    }
    return copy;
}

/* ---- Configurations ---- */

static uint32_t quorum_of(const struct tacit_doubling_config *config)
{
    return config->quorum == 0 ? config->schedule.agent_count : config->quorum;
}

/* The noise that is drawn is the schedule's or less: bounds hold. */
static bool mechanism_is_valid(const struct tacit_doubling_config *config)
{
    struct tacit_mechanism const *const mechanism = &config->mechanism;
    double const epsilon = (double)mechanism->epsilon_nano / (double)TACIT_NANO;
    return mechanism->mode == TACIT_PRIVACY_SOUND &&
           (!mechanism->noisy || config->schedule.epsilon_per_reward <= epsilon);
}

static bool config_is_valid(const struct tacit_doubling_config *config)
{
    struct tacit_phases const *const schedule = &config->schedule;
    if (!tacit_phases_is_valid(schedule) || schedule->rule != TACIT_PHASES_INDEX ||
        schedule->confidence > 0 || !mechanism_is_valid(config) ||
        config->agent_id >= schedule->agent_count ||
        config->neighbour_count >= schedule->agent_count ||
        config->quorum > schedule->agent_count || config->hop_us == 0 || config->ask_us == 0 ||
        config->hop_us > UINT64_C(1) << 40 || config->ask_us > UINT64_C(1) << 50)
        return false;
    for (uint32_t i = 0; i < config->neighbour_count; i++) {
        uint32_t const neighbour = config->neighbours[i];
        if (neighbour >= schedule->agent_count || neighbour == config->agent_id ||
            (i > 0 && neighbour <= config->neighbours[i - 1]))
            return false;
    }
    return true;
}

size_t tacit_doubling_size(const struct tacit_doubling_config *config)
{
    if (!config_is_valid(config))
        return 0;
    size_t const rungs = tacit_phases_climb(&config->schedule, NULL);
    size_t const arms = config->schedule.arm_count;
    size_t const cells = arms * config->schedule.agent_count;
    size_t const words = rungs + 3 * arms + 3 * (size_t)config->neighbour_count + cells * rungs;
    return sizeof(struct tacit_doubling_agent) + words * sizeof(uint64_t) + (2 * cells + 7) / 8 * 8;
}

size_t tacit_doubling_memory_size(const struct tacit_doubling_config *config)
{
    size_t const words = 4 * (size_t)config->schedule.arm_count + 3 * TACIT_BOUNDS_RELEASES_MAX +
                         3 * TACIT_DOUBLING_ENTRIES_MAX;
    return sizeof(struct tacit_doubling_memory) + words * sizeof(uint64_t);
}

void tacit_doubling_memory_init(struct tacit_doubling_memory *memory,
                                const struct tacit_doubling_config *config)
{
    memset(memory, 0, tacit_doubling_memory_size(config));
}

/* The head of a state of this configuration, its words aside. */
static void make_head(struct tacit_doubling_agent *agent,
                      const struct tacit_doubling_config *config)
{
    memset(agent, 0, sizeof *agent);
    agent->schedule = tacit_phases_kept(&config->schedule);
    agent->mechanism = config->mechanism;
    agent->ledger = tacit_ledger_init(tacit_mechanism_cost_nano(&config->mechanism));
    agent->run_id = config->run_id;
    agent->hop_us = config->hop_us;
    agent->ask_us = config->ask_us;
    agent->pull_us = config->pull_us;
    agent->agent_id = config->agent_id;
    agent->neighbour_count = config->neighbour_count;
    agent->quorum = quorum_of(config);
    agent->guards_incarnations = config->guards_incarnations;
    agent->rung_count = tacit_phases_climb(&config->schedule, NULL);
    agent->leader = TACIT_NO_ARM;
    TACIT_ASSERT(agent->rung_count >= 1);
    TACIT_ASSERT(agent->quorum >= 1);
    agent->speak_us = TACIT_NEVER;
    agent->ask_at_us = TACIT_NEVER;
}

enum tacit_status tacit_doubling_init(struct tacit_doubling_agent *agent,
                                      const struct tacit_doubling_config *config)
{
    size_t const size = tacit_doubling_size(config);
    if (size == 0)
        return TACIT_INVALID;
    memset(agent, 0, size);
    make_head(agent, config);
    (void)tacit_phases_climb(&config->schedule, doubling_rungs(agent));
    for (uint32_t i = 0; i < config->neighbour_count; i++)
        doubling_edges(agent)[i].neighbour = config->neighbours[i];
    return TACIT_OK;
}

/* ---- States from a disk ---- */

static bool same_config(struct tacit_doubling_agent *agent,
                        const struct tacit_doubling_config *config)
{
    struct tacit_doubling_agent head;
    make_head(&head, config);
    if (memcmp(&agent->schedule, &head.schedule, sizeof head.schedule) != 0 ||
        memcmp(&agent->mechanism, &head.mechanism, sizeof head.mechanism) != 0 ||
        agent->run_id != head.run_id || agent->hop_us != head.hop_us ||
        agent->ask_us != head.ask_us || agent->pull_us != head.pull_us ||
        agent->agent_id != head.agent_id || agent->neighbour_count != head.neighbour_count ||
        agent->quorum != head.quorum || agent->guards_incarnations != head.guards_incarnations ||
        agent->rung_count != head.rung_count)
        return false;
    uint64_t rungs[TACIT_BOUNDS_RELEASES_MAX];
    (void)tacit_phases_climb(&config->schedule, rungs);
    if (memcmp(rungs, doubling_rungs(agent), agent->rung_count * sizeof rungs[0]) != 0)
        return false;
    for (uint32_t i = 0; i < config->neighbour_count; i++)
        if (doubling_edges(agent)[i].neighbour != config->neighbours[i])
            return false;
    return true;
}

/* Blocks have sums that honest sites can have released; what is beyond the last one is zero. */
static bool blocks_are_possible(struct tacit_doubling_agent *agent)
{
    for (uint32_t i = 0; i < agent->schedule.agent_count; i++)
        for (uint32_t arm = 0; arm < agent->schedule.arm_count; arm++) {
            uint32_t const known = doubling_known_of(agent, i, arm);
            size_t const cell = (size_t)i * agent->schedule.arm_count + arm;
            if (known > agent->rung_count || doubling_told(agent)[cell] > known)
                return false;
            for (uint32_t block = 0; block < agent->rung_count; block++) {
                union tacit_sum const sum = {.steps = doubling_steps(agent, i, arm)[block]};
                if (block < known ? !tacit_mechanism_plausible(&agent->mechanism, sum,
                                                               doubling_pulls(agent, block), 1)
                                  : sum.steps != 0)
                    return false;
            }
        }
    return true;
}

/* Open blocks are the next ones of their arms. */
static bool plan_is_possible(struct tacit_doubling_agent *agent)
{
    bool const is_open = agent->phase == DOUBLING_PULLING || agent->phase == DOUBLING_RELEASING;
    struct tacit_pull_block const *const plan = doubling_plan(agent);
    if (agent->plan_count > agent->schedule.arm_count)
        return false;
    if (agent->phase == DOUBLING_RESTING)
        return agent->plan_count == 1 && plan[0].arm < agent->schedule.arm_count &&
               plan[0].count <= agent->schedule.horizon && plan[0].count > 0;
    if (agent->phase != DOUBLING_HALTED && is_open != (agent->plan_count > 0))
        return false;
    for (uint32_t i = 0; is_open && i < agent->plan_count; i++) {
        if (plan[i].arm >= agent->schedule.arm_count || (i > 0 && plan[i].arm <= plan[i - 1].arm) ||
            doubling_own(agent, plan[i].arm) >= agent->rung_count ||
            plan[i].count != doubling_pulls(agent, doubling_own(agent, plan[i].arm)))
            return false;
    }
    return true;
}

static bool progress_is_possible(struct tacit_doubling_agent *agent)
{
    uint64_t released = 0;
    uint64_t blocks = 0;
    for (uint32_t arm = 0; arm < agent->schedule.arm_count; arm++) {
        uint32_t const own = doubling_own(agent, arm);
        if (!isfinite(doubling_means(agent)[arm]))
            return false;
        blocks += own;
        released += own == 0 ? 0 : doubling_rungs(agent)[own - 1];
    }
    return agent->phase <= DOUBLING_HALTED && agent->forced <= 1 &&
           agent->pull_count <= agent->schedule.horizon &&
           agent->forced_count <= agent->pull_count && released <= agent->pull_count &&
           agent->release_count == blocks &&
           (agent->leader < agent->schedule.arm_count || agent->leader == TACIT_NO_ARM) &&
           (agent->phase != DOUBLING_FINISHED || agent->pull_count == agent->schedule.horizon) &&
           agent->question_count <= 64 && agent->lived_us <= UINT64_MAX / 2 &&
           tacit_ledger_spent_nano(&agent->ledger) <= agent->ledger.budget_nano &&
           agent->ledger.budget_nano == tacit_mechanism_cost_nano(&agent->mechanism) &&
           agent->ledger.release_count == blocks;
}

enum tacit_status tacit_doubling_check(const struct tacit_doubling_agent *state, size_t size,
                                       const struct tacit_doubling_config *config)
{
    struct tacit_doubling_agent *const agent = (struct tacit_doubling_agent *)(uintptr_t)state;
    if (size == 0 || size != tacit_doubling_size(config) || !same_config(agent, config) ||
        !blocks_are_possible(agent) || !plan_is_possible(agent) || !progress_is_possible(agent))
        return TACIT_MALFORMED;
    return TACIT_OK;
}
