/* What a player owes, has brought and draws (block.h). */
#include "block.h"
#include <string.h>

static uint32_t next_active(const struct vote_block *block, uint32_t from)
{
    return tacit_bits_next(block->active, block->arm_count, from);
}

struct vote_clock vote_clock_init(uint64_t budget_nano)
{
    return (struct vote_clock){
        .ledger = tacit_ledger_init(budget_nano), .leave_us = TACIT_NEVER, .retry_us = TACIT_NEVER};
}

bool vote_state_is_of(const void *state, size_t size, size_t wanted, const void *config,
                      size_t config_size)
{
    TACIT_ASSERT(state != NULL);
    TACIT_ASSERT(config != NULL);
    return wanted != 0 && size == wanted && memcmp(state, config, config_size) == 0;
}

bool vote_block_fits(uint32_t arm_count, uint32_t player, uint32_t player_count,
                     const struct tacit_mechanism *mechanism, uint64_t tick_us)
{
    return arm_count >= 1 && arm_count <= TACIT_ARMS_MAX && player_count <= TACIT_AGENTS_MAX &&
           player < player_count && mechanism->scale.kind == TACIT_SCALE_STEPS && tick_us > 0 &&
           tick_us < TACIT_NEVER / 4;
}

/* A block opens, its draw was made, or the ledger cannot pay for it. */
static void erase_exact(const struct vote_block *block)
{
    memset(block->exact, 0, block->arm_count * sizeof *block->exact);
}

bool vote_block_open(const struct vote_block *block, uint64_t each)
{
    uint32_t const count = tacit_bits_count(block->active, block->arm_count);
    TACIT_ASSERT(count >= 1);
    TACIT_ASSERT(each >= 1);
    memset(block->left, 0, block->arm_count * sizeof *block->left);
    erase_exact(block);
    *block->left_count = 0;
    if (count == 1)
        return false;
    for (uint32_t arm = next_active(block, 0); arm < block->arm_count;
         arm = next_active(block, arm + 1))
        block->left[arm] = each;
    *block->left_count = count * each;
    return true;
}

void vote_block_show(const struct vote_block *block, struct tacit_vote_noised_update *update)
{
    struct tacit_pull_block *const plan = block->plan;
    uint32_t count = 0;
    for (uint32_t arm = 0; arm < block->arm_count; arm++) {
        if (block->left[arm] == 0)
            continue;
        plan[count].arm = arm;
        plan[count].count = block->left[arm];
        count++;
    }
    TACIT_ASSERT((count > 0) == (*block->left_count > 0));
    update->replan = true;
    update->plan = plan;
    update->plan_count = count;
}

enum tacit_status vote_block_add(const struct vote_block *block, const struct tacit_reward *reward,
                                 struct tacit_vote_noised_update *update)
{
    if (*block->phase != PHASE_PULLING || reward->arm >= block->arm_count || reward->count == 0 ||
        reward->count > block->left[reward->arm])
        return TACIT_INVALID;
    if (reward->sum.steps < 0 || reward->sum.steps > (int64_t)reward->count * TACIT_STEPS)
        return TACIT_INVALID;
    TACIT_ASSERT(reward->count <= *block->left_count);
    block->left[reward->arm] -= reward->count;
    *block->left_count -= reward->count;
    tacit_sum_add(&block->mechanism->scale, &block->exact[reward->arm], reward->sum);
    update->persist = true;
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
static enum tacit_status draw(const struct vote_block *block, const struct tacit_entropy *entropy,
                              struct vote_block_noised noised)
{
    enum tacit_status status = TACIT_OK;
    for (uint32_t arm = next_active(block, 0); arm < block->arm_count && status == TACIT_OK;
         arm = next_active(block, arm + 1)) {
        union tacit_sum sum;
        status = tacit_mechanism_release(block->mechanism, block->exact[arm], entropy, &sum);
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

static void ask_for_grant(const struct vote_block *block, struct tacit_vote_noised_update *update)
{
    TACIT_ASSERT(*block->phase == PHASE_WAITING);
    TACIT_ASSERT(*block->draw > 0);
    update->commit = true;
    update->draw = *block->draw;
}

enum tacit_status vote_block_release(const struct vote_block *block,
                                     const struct tacit_entropy *entropy,
                                     struct vote_block_noised noised,
                                     struct tacit_vote_noised_update *update)
{
    struct vote_clock *const clock = block->clock;
    struct tacit_ledger charged = clock->ledger;
    TACIT_ASSERT(*block->left_count == 0);
    TACIT_ASSERT(*block->draw == charged.release_count);
    update->persist = true;
    *block->phase = PHASE_RELEASING;
    if (tacit_ledger_spend(&charged, *block->draw + 1,
                           tacit_mechanism_cost_nano(block->mechanism)) != TACIT_OK) {
        erase_exact(block);
        return TACIT_BUDGET;
    }
    enum tacit_status const status = draw(block, entropy, noised);
    if (status != TACIT_OK) {
        clock->retry_us = clock->now_us + RETRY_US;
        return status;
    }
    clock->ledger = charged;
    ++*block->draw;
    erase_exact(block);
    *block->phase = PHASE_WAITING;
    ask_for_grant(block, update);
    return TACIT_OK;
}

void vote_block_restart(const struct vote_block *block, struct tacit_vote_noised_update *update)
{
    struct vote_clock *const clock = block->clock;
    if (*block->phase == PHASE_WAITING)
        ask_for_grant(block, update);
    if (clock->retry_us != TACIT_NEVER)
        clock->retry_us = clock->now_us + RETRY_US;
}

bool vote_block_is_full(const struct vote_block *block)
{
    return *block->phase == PHASE_PULLING && *block->left_count == 0;
}

bool vote_block_end_pause(const struct vote_block *block)
{
    if (block->clock->now_us < block->clock->retry_us)
        return false;
    block->clock->retry_us = TACIT_NEVER;
    return *block->phase == PHASE_RELEASING;
}

uint64_t vote_block_begin(const struct vote_block *block, enum tacit_event_kind kind,
                          uint64_t now_us, struct tacit_vote_noised_update *update)
{
    uint64_t const before_us = block->clock->now_us;
    TACIT_ASSERT(kind == TACIT_EVENT_START || now_us >= before_us);
    *update = (struct tacit_vote_noised_update){.deadline_us = TACIT_NEVER};
    block->clock->now_us = now_us;
    return before_us;
}

void vote_block_end(const struct vote_block *block, enum tacit_status status, uint64_t before_us,
                    struct tacit_vote_noised_update *update)
{
    if (status != TACIT_OK && !update->persist) /* refused: byte for byte as before */
        block->clock->now_us = before_us;
    update->deadline_us = vote_clock_deadline(block->clock);
    TACIT_IMPLIES(update->commit, *block->phase == PHASE_WAITING);
    TACIT_ASSERT((*block->phase == PHASE_PULLING) == (*block->left_count > 0));
    TACIT_ASSERT(*block->draw == block->clock->ledger.release_count);
}

struct tacit_vote_noised_view vote_block_view(const struct vote_block *block, uint32_t active_count,
                                              bool is_halted)
{
    TACIT_ASSERT(active_count >= 1);
    return (struct tacit_vote_noised_view){.draw = *block->draw,
                                           .active = block->active,
                                           .active_count = active_count,
                                           .decided = active_count == 1,
                                           .waiting = *block->phase == PHASE_WAITING,
                                           .halted = is_halted,
                                           .pulling = *block->phase == PHASE_PULLING,
                                           .leave_us = block->clock->leave_us,
                                           .deadline_us = vote_clock_deadline(block->clock),
                                           .ledger = &block->clock->ledger};
}

bool vote_block_is_possible(const struct vote_block *block, uint64_t each_max)
{
    struct tacit_ledger const *const ledger = &block->clock->ledger;
    uint64_t left_count = 0;
    for (uint32_t arm = 0; arm < block->arm_count; arm++) {
        if (block->left[arm] > each_max ||
            (block->left[arm] > 0 && !tacit_bits_has(block->active, arm)))
            return false;
        left_count += block->left[arm];
    }
    return left_count == *block->left_count && *block->draw == ledger->release_count &&
           (*block->phase == PHASE_PULLING) == (left_count > 0) &&
           tacit_ledger_spent_nano(ledger) <= ledger->budget_nano;
}

uint64_t vote_earlier(uint64_t a_us, uint64_t b_us)
{
    return a_us < b_us ? a_us : b_us;
}

uint64_t vote_clock_deadline(const struct vote_clock *clock)
{
    return vote_earlier(clock->leave_us, clock->retry_us);
}

uint64_t vote_clock_tick(const struct vote_clock *clock, uint64_t tick_us)
{
    TACIT_ASSERT(tick_us > 0);
    return (clock->now_us / tick_us + 1) * tick_us;
}
