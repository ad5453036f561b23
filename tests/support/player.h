/* What the tests of cores that play a plan have in common. */
#ifndef TACIT_TESTS_PLAYER_H
#define TACIT_TESTS_PLAYER_H
#include <string.h>
#include "tacit/core.h"
#include "tacit/vote_hub.h"

/* What is left of each arm when a plan begins. */
static inline void plan_begins(uint64_t *left, uint32_t arm_count,
                               const struct tacit_pull_block *plan, uint32_t count)
{
    memset(left, 0, arm_count * sizeof *left);
    for (uint32_t i = 0; i < count; i++)
        left[plan[i].arm] = plan[i].count;
}

/* Of the arms that a site of votes or sums has left the best granted noised sum, lowest index. */
static inline uint32_t vote_best(const struct tacit_vote_site *site,
                                 const struct tacit_vote_noised_view *player, uint32_t arms)
{
    uint32_t best = tacit_bits_next(player->active, arms, 0);
    for (uint32_t arm = best; arm < arms; arm = tacit_bits_next(player->active, arms, arm + 1))
        best = tacit_vote_site_total(site, arm) > tacit_vote_site_total(site, best) ? arm : best;
    return best;
}
#endif
