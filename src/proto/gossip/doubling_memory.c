/* Sizes, first states, copies of messages. */
#include "../../base/part.h"
#include "doubling_state.h"
#include <string.h>

/* ---- Messages ---- */

size_t tacit_doubling_message_size(const struct tacit_doubling_message *message)
{
    return sizeof *message + message->entry_count * sizeof message->entries[0];
}

const struct tacit_doubling_message *
tacit_doubling_message_copy(const struct tacit_doubling_message *message, void *memory)
{
    TACIT_ASSERT(memory != NULL);
    TACIT_ASSERT((const void *)message != memory);
    struct tacit_doubling_message *const copy = memory;
    unsigned char *at = (unsigned char *)memory + sizeof *copy;
    *copy = *message;
    copy->entries =
        base_copy_part(message->entries, message->entry_count * sizeof message->entries[0], &at);
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
    double const epsilon = tacit_nano_value(mechanism->epsilon_nano);
    return mechanism->mode == TACIT_PRIVACY_SOUND &&
           (!mechanism->noisy || config->schedule.epsilon_per_reward <= epsilon);
}

static bool config_is_valid(const struct tacit_doubling_config *config)
{
    struct tacit_phases const *const schedule = &config->schedule;
    return tacit_phases_is_valid(schedule) && schedule->rule == TACIT_PHASES_INDEX &&
           !(schedule->confidence > 0) && mechanism_is_valid(config) &&
           config->agent_id < schedule->agent_count && config->quorum <= schedule->agent_count &&
           config->hop_us > 0 && config->hop_us <= UINT64_C(1) << 40;
}

size_t tacit_doubling_size(const struct tacit_doubling_config *config)
{
    if (!config_is_valid(config))
        return 0;
    size_t const rungs = tacit_phases_climb(&config->schedule, NULL);
    size_t const arms = config->schedule.arm_count;
    size_t const cells = arms * config->schedule.agent_count;
    size_t const words = rungs + 3 * arms + cells * rungs;
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

enum tacit_status tacit_doubling_init(struct tacit_doubling_agent *agent,
                                      const struct tacit_doubling_config *config)
{
    size_t const size = tacit_doubling_size(config);
    if (size == 0)
        return TACIT_INVALID;
    memset(agent, 0, size);
    agent->schedule = tacit_phases_canonical(&config->schedule);
    agent->mechanism = config->mechanism;
    agent->ledger = tacit_ledger_init(tacit_mechanism_cost_nano(&config->mechanism));
    agent->hop_us = config->hop_us;
    agent->agent_id = config->agent_id;
    agent->quorum = quorum_of(config);
    agent->rung_count = tacit_phases_climb(&config->schedule, doubling_rungs(agent));
    agent->leader = TACIT_NO_ARM;
    agent->speak_us = TACIT_NEVER;
    TACIT_ASSERT(agent->rung_count >= 1);
    TACIT_ASSERT(agent->quorum >= 1);
    return TACIT_OK;
}
