/* What the tests of cores that play a plan have in common. */
#ifndef TACIT_TESTS_PLAYER_H
#define TACIT_TESTS_PLAYER_H
#include <string.h>
#include "tacit/core.h"

/* What is left of each arm when a plan begins. */
static inline void plan_begins(uint64_t *left, uint32_t arm_count,
                               const struct tacit_pull_block *plan, uint32_t count)
{
    memset(left, 0, arm_count * sizeof *left);
    for (uint32_t i = 0; i < count; i++)
        left[plan[i].arm] = plan[i].count;
}

/* Is a word of the state one of these sums? */
static inline bool holds_a_sum(const void *state, size_t size, const int64_t *sums, uint32_t count)
{
    int64_t const *const words = state;
    for (size_t i = 0; i < size / sizeof *words; i++)
        for (uint32_t arm = 0; arm < count; arm++)
            if (words[i] == sums[arm])
                return true;
    return false;
}
#endif
