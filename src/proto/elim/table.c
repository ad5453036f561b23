/* What peers hold of each other's reports: memory beside their states. */
#include <string.h>
#include "internal.h"

_Static_assert(sizeof(union tacit_sum) == sizeof(uint64_t), "sums are stored as words");

static size_t rows_words(uint32_t agent_count, uint32_t arm_count)
{
    return 2 * (size_t)agent_count * arm_count;
}

_Static_assert(sizeof(struct tacit_elim_opening) == 16 * sizeof(uint64_t),
               "an opening is sixteen words");

size_t tacit_elim_peer_table_size(const struct tacit_elim_peer_config *config)
{
    struct tacit_elim_agent_config const *const agent = &config->agent;
    size_t const openings = agent->has_grants ? 2 * (size_t)agent->agent_count : 0;
    TACIT_ASSERT(agent->agent_count >= 1 && agent->agent_count <= TACIT_AGENTS_MAX);
    TACIT_ASSERT(agent->arm_count >= 1 && agent->arm_count <= TACIT_ARMS_MAX);
    return sizeof(struct tacit_elim_table) +
           (rows_words(agent->agent_count, agent->arm_count) +
            TACIT_BITS_WORDS(agent->agent_count)) *
               sizeof(uint64_t) +
           openings * sizeof(struct tacit_elim_opening);
}

void tacit_elim_peer_table_init(struct tacit_elim_table *table,
                                const struct tacit_elim_peer_config *config, bool is_shared)
{
    memset(table, 0, tacit_elim_peer_table_size(config));
    table->agent_count = config->agent.agent_count;
    table->arm_count = config->agent.arm_count;
    table->is_shared = is_shared;
    table->has_openings = config->agent.has_grants;
}

union tacit_sum *elim_table_row(struct tacit_elim_table *table, uint32_t half, uint32_t agent)
{
    TACIT_ASSERT(half < 2);
    TACIT_ASSERT(agent < table->agent_count);
    size_t const row = (size_t)half * table->agent_count + agent;
    return (union tacit_sum *)(table->words + row * table->arm_count);
}

uint64_t *elim_table_scratch(struct tacit_elim_table *table)
{
    return table->words + rows_words(table->agent_count, table->arm_count);
}

struct tacit_elim_opening *elim_table_opening(struct tacit_elim_table *table, uint32_t half,
                                              uint32_t agent)
{
    TACIT_ASSERT(half < 2);
    TACIT_ASSERT(table->has_openings);
    TACIT_ASSERT(agent < table->agent_count);
    uint64_t *const first = elim_table_scratch(table) + TACIT_BITS_WORDS(table->agent_count);
    return (struct tacit_elim_opening *)(void *)first + (size_t)half * table->agent_count + agent;
}
