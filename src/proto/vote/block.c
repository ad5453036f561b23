/* What a player owes, has brought and draws (block.h). */
#include "block.h"
#include <string.h>

static uint32_t next_active(const struct vote_block *block, uint32_t from)
{
    return tacit_bits_next(block->active, block->arm_count, from);
}

struct vote_block vote_block_at(uint64_t *words, uint32_t arm_count, uint64_t *left_count)
{
    uint64_t *const left = words + 2 * TACIT_BITS_WORDS(arm_count);
    TACIT_ASSERT(arm_count >= 1);
    return (struct vote_block){.arm_count = arm_count,
                               .active = words,
                               .left = left,
                               .left_count = left_count,
                               .exact = (union tacit_sum *)(void *)(left + arm_count)};
}

void vote_block_forget(const struct vote_block *block)
{
    memset(block->exact, 0, block->arm_count * sizeof *block->exact);
}

bool vote_block_open(const struct vote_block *block, uint64_t each)
{
    uint32_t const count = tacit_bits_count(block->active, block->arm_count);
    TACIT_ASSERT(count >= 1);
    TACIT_ASSERT(each >= 1);
    memset(block->left, 0, block->arm_count * sizeof *block->left);
    vote_block_forget(block);
    *block->left_count = 0;
    if (count == 1)
        return false;
    for (uint32_t arm = next_active(block, 0); arm < block->arm_count;
         arm = next_active(block, arm + 1))
        block->left[arm] = each;
    *block->left_count = count * each;
    return true;
}

uint32_t vote_block_plan(const struct vote_block *block, struct tacit_pull_block *plan)
{
    uint32_t count = 0;
    for (uint32_t arm = 0; arm < block->arm_count; arm++) {
        if (block->left[arm] == 0)
            continue;
        plan[count].arm = arm;
        plan[count].count = block->left[arm];
        count++;
    }
    TACIT_ASSERT((count > 0) == (*block->left_count > 0));
    return count;
}

enum tacit_status vote_block_take(const struct vote_block *block, const struct tacit_scale *scale,
                                  const struct tacit_reward *reward)
{
    if (reward->arm >= block->arm_count || reward->count == 0 ||
        reward->count > block->left[reward->arm])
        return TACIT_INVALID;
    if (reward->sum.steps < 0 || reward->sum.steps > (int64_t)reward->count * TACIT_STEPS)
        return TACIT_INVALID;
    TACIT_ASSERT(reward->count <= *block->left_count);
    block->left[reward->arm] -= reward->count;
    *block->left_count -= reward->count;
    tacit_sum_add(scale, &block->exact[reward->arm], reward->sum);
    return TACIT_OK;
}

void vote_block_leave(const struct vote_block *block)
{
    for (uint32_t arm = 0; arm < block->arm_count; arm++) {
        if (tacit_bits_has(block->active, arm))
            continue;
        TACIT_ASSERT(block->left[arm] <= *block->left_count);
        *block->left_count -= block->left[arm];
        block->left[arm] = 0;
        block->exact[arm].steps = 0;
    }
}

static void lay_down(const struct vote_block *block, struct vote_block_noised noised, uint32_t arm,
                     int64_t steps)
{
    TACIT_ASSERT(arm < block->arm_count);
    noised.first[arm * noised.stride] = steps;
}

/* One noised sum for each arm, or none at all. */
static enum tacit_status draw(const struct vote_block *block,
                              const struct tacit_mechanism *mechanism,
                              const struct tacit_entropy *entropy, struct vote_block_noised noised)
{
    enum tacit_status status = TACIT_OK;
    for (uint32_t arm = next_active(block, 0); arm < block->arm_count && status == TACIT_OK;
         arm = next_active(block, arm + 1)) {
        union tacit_sum sum;
        status = tacit_mechanism_release(mechanism, block->exact[arm], entropy, &sum);
        if (status == TACIT_OK)
            lay_down(block, noised, arm, sum.steps);
    }
    if (status == TACIT_OK)
        return TACIT_OK;
    for (uint32_t arm = next_active(block, 0); arm < block->arm_count;
         arm = next_active(block, arm + 1))
        lay_down(block, noised, arm, 0);
    return status;
}

enum tacit_status vote_block_release(const struct vote_block *block,
                                     const struct tacit_mechanism *mechanism,
                                     const struct tacit_entropy *entropy,
                                     struct tacit_ledger *ledger, uint64_t *cell,
                                     struct vote_block_noised noised)
{
    TACIT_ASSERT(*block->left_count == 0);
    TACIT_ASSERT(*cell == ledger->release_count);
    struct tacit_ledger charged = *ledger;
    if (tacit_ledger_spend(&charged, *cell + 1, tacit_mechanism_cost_nano(mechanism)) != TACIT_OK) {
        vote_block_forget(block);
        return TACIT_BUDGET;
    }
    enum tacit_status const status = draw(block, mechanism, entropy, noised);
    if (status != TACIT_OK)
        return status;
    *ledger = charged;
    ++*cell;
    vote_block_forget(block);
    return TACIT_OK;
}

bool vote_block_is_possible(const struct vote_block *block, uint64_t each_max)
{
    uint64_t left_count = 0;
    for (uint32_t arm = 0; arm < block->arm_count; arm++) {
        if (block->left[arm] > each_max ||
            (block->left[arm] > 0 && !tacit_bits_has(block->active, arm)))
            return false;
        left_count += block->left[arm];
    }
    return left_count == *block->left_count;
}

uint64_t vote_earlier(uint64_t a_us, uint64_t b_us)
{
    return a_us < b_us ? a_us : b_us;
}

uint64_t vote_block_tick(uint64_t now_us, uint64_t tick_us)
{
    TACIT_ASSERT(tick_us > 0);
    return (now_us / tick_us + 1) * tick_us;
}
