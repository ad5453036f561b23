/* What a player owes, has brought and draws (block.h). */
#include "block.h"
#include <string.h>

/* A block opens, its draw was made, or the ledger cannot pay for it. */
static void erase_exact(struct tacit_vote_noised *player)
{
    memset(vote_exact_of(player), 0, player->config.arm_count * sizeof *vote_exact_of(player));
}

/* Pulls of each arm. */
static uint64_t each_of(const struct tacit_vote_noised *player)
{
    return player->config.block > 0 ? player->config.block : player->rung - player->rung_before;
}

void vote_block_open(struct tacit_vote_noised *player)
{
    TACIT_ASSERT(player->active_count >= 1);
    TACIT_ASSERT(each_of(player) >= 1);
    memset(vote_left_of(player), 0, player->config.arm_count * sizeof(uint64_t));
    erase_exact(player);
    player->left_count = 0;
    player->phase = player->active_count == 1 ? PHASE_DECIDED : PHASE_PULLING;
    if (player->phase == PHASE_DECIDED)
        return;
    TACIT_BITS_EACH (arm, vote_active_of(player), player->config.arm_count)
        vote_left_of(player)[arm] = each_of(player);
    player->left_count = player->active_count * each_of(player);
}

void vote_block_show(struct tacit_vote_noised *player, struct tacit_vote_noised_update *update)
{
    struct tacit_pull_block *const plan = vote_plan_of(player);
    uint64_t const *const left = vote_left_of(player);
    uint32_t count = 0;
    for (uint32_t arm = 0; arm < player->config.arm_count; arm++) {
        if (left[arm] == 0)
            continue;
        plan[count].arm = arm;
        plan[count].count = left[arm];
        count++;
    }
    TACIT_ASSERT((count > 0) == (player->left_count > 0));
    update->replan = true;
    update->plan = plan;
    update->plan_count = count;
}

enum tacit_status vote_block_add(struct tacit_vote_noised *player,
                                 const struct tacit_reward *reward,
                                 struct tacit_vote_noised_update *update)
{
    uint64_t *const left = vote_left_of(player);
    if (player->phase != PHASE_PULLING || reward->arm >= player->config.arm_count ||
        reward->count == 0 || reward->count > left[reward->arm])
        return TACIT_INVALID;
    if (reward->sum.steps < 0 || reward->sum.steps > (int64_t)reward->count * TACIT_STEPS)
        return TACIT_INVALID;
    TACIT_ASSERT(reward->count <= player->left_count);
    left[reward->arm] -= reward->count;
    player->left_count -= reward->count;
    tacit_sum_add(&player->config.mechanism.scale, &vote_exact_of(player)[reward->arm],
                  reward->sum);
    update->persist = true;
    return TACIT_OK;
}

void vote_block_leave(struct tacit_vote_noised *player)
{
    for (uint32_t arm = 0; arm < player->config.arm_count; arm++) {
        if (tacit_bits_has(vote_active_of(player), arm))
            continue;
        TACIT_ASSERT(player->left_count >= vote_left_of(player)[arm]);
        player->left_count -= vote_left_of(player)[arm];
        vote_left_of(player)[arm] = 0;
        vote_exact_of(player)[arm].steps = 0;
    }
}

/* One noised sum for each arm, or none at all. */
static enum tacit_status draw(struct tacit_vote_noised *player, const struct tacit_entropy *entropy)
{
    uint64_t const *const active = vote_active_of(player);
    uint32_t const arms = player->config.arm_count;
    uint64_t const column = player->epoch - 1;
    enum tacit_status status = TACIT_OK;
    TACIT_ASSERT(column < vote_releases_of(&player->config));
    for (uint32_t arm = tacit_bits_next(active, arms, 0); arm < arms && status == TACIT_OK;
         arm = tacit_bits_next(active, arms, arm + 1)) {
        union tacit_sum sum;
        status = tacit_mechanism_release(&player->config.mechanism, vote_exact_of(player)[arm],
                                         entropy, &sum);
        if (status == TACIT_OK)
            vote_noised_of(player, arm)[column] = sum.steps;
    }
    if (status != TACIT_OK)
        TACIT_BITS_EACH (arm, active, arms)
            vote_noised_of(player, arm)[column] = 0;
    return status;
}

void vote_block_ask(const struct tacit_vote_noised *player, struct tacit_vote_noised_update *update)
{
    TACIT_ASSERT(player->phase == PHASE_WAITING);
    TACIT_ASSERT(player->ledger.release_count > 0);
    update->commit = true;
    update->draw = player->ledger.release_count;
}

enum tacit_status vote_block_release(struct tacit_vote_noised *player,
                                     const struct tacit_entropy *entropy,
                                     struct tacit_vote_noised_update *update)
{
    struct tacit_ledger charged = player->ledger;
    TACIT_ASSERT(player->left_count == 0);
    update->persist = true;
    player->phase = PHASE_RELEASING;
    if (tacit_ledger_spend(&charged, charged.release_count + 1,
                           tacit_mechanism_cost_nano(&player->config.mechanism)) != TACIT_OK) {
        erase_exact(player);
        player->phase = PHASE_HALTED;
        return TACIT_BUDGET;
    }
    enum tacit_status const status = draw(player, entropy);
    if (status != TACIT_OK) {
        player->retry_us = player->now_us + VOTE_RETRY_US;
        return status;
    }
    player->ledger = charged;
    erase_exact(player);
    player->phase = PHASE_WAITING;
    vote_block_ask(player, update);
    return TACIT_OK;
}

bool vote_block_is_full(const struct tacit_vote_noised *player)
{
    return player->phase == PHASE_PULLING && player->left_count == 0;
}

bool vote_block_is_possible(struct tacit_vote_noised *player)
{
    struct tacit_ledger const *const ledger = &player->ledger;
    uint64_t const each_max = player->config.block > 0 ? player->config.block : TACIT_HORIZON_MAX;
    uint32_t const arms = player->config.arm_count;
    uint64_t const *const left = vote_left_of(player);
    uint64_t left_count = 0;
    for (uint32_t arm = 0; arm < arms; arm++) {
        if (left[arm] > each_max || (left[arm] > 0 && !tacit_bits_has(vote_active_of(player), arm)))
            return false;
        left_count += left[arm];
    }
    return left_count == player->left_count && player->phase <= PHASE_HALTED &&
           (player->phase == PHASE_PULLING) == (left_count > 0) && player->active_count >= 1 &&
           tacit_bits_count(vote_active_of(player), arms) == player->active_count &&
           tacit_ledger_spent_nano(ledger) <= ledger->budget_nano;
}

uint64_t vote_block_tick(const struct tacit_vote_noised *player)
{
    uint64_t const tick_us = player->config.tick_us;
    TACIT_ASSERT(tick_us > 0);
    return (player->now_us / tick_us + 1) * tick_us;
}
