/* A player that publishes noised sums instead of votes: a block, a draw, a grant, a release at the
 * public tick. What all releases together say is the pool's business (pool.c). */
#include "block.h"
#include <string.h>

#define RETRY_US 1000000u /* after the random source failed */
#define BLOCK_MAX (UINT64_C(1) << 32)

enum phase {
    PHASE_IDLE,      /* before START: a state begins with zeros */
    PHASE_PULLING,   /* a block is open */
    PHASE_RELEASING, /* all rewards are here; the noise is not drawn yet */
    PHASE_WAITING,   /* drawn, not granted: nothing may use it */
    PHASE_GRANTED,   /* leaves at the tick */
    PHASE_DECIDED,   /* one arm is left */
    PHASE_HALTED     /* no budget */
};

struct tacit_vote_sums {
    struct tacit_vote_sums_config config;
    struct tacit_ledger ledger;
    uint64_t now_us;
    uint64_t send_us;  /* the tick at which the release leaves; TACIT_NEVER: none is due */
    uint64_t retry_us; /* when the draw is tried again; TACIT_NEVER: it is not owed */
    uint64_t cell;     /* draws so far */
    uint64_t number;   /* the hub's, of the last granted draw */
    uint64_t has_sent; /* a release left, or was to leave: it can be sent again */
    uint64_t left_count;
    uint64_t active_count;
    uint64_t phase;
    /* active W | drawn W | left K | exact K | noised K | plan 2K */
    uint64_t words[];
};

/* ---- Layout ---- */

static uint32_t arms_of(const struct tacit_vote_sums *player)
{
    return player->config.arm_count;
}

static size_t width_of(const struct tacit_vote_sums *player)
{
    return TACIT_BITS_WORDS(player->config.arm_count);
}

static uint64_t *active_of(struct tacit_vote_sums *player)
{
    return player->words;
}

/* The arms of the last draw. */
static uint64_t *drawn_of(struct tacit_vote_sums *player)
{
    return player->words + width_of(player);
}

static uint64_t *left_of(struct tacit_vote_sums *player)
{
    return player->words + 2 * width_of(player);
}

static union tacit_sum *exact_of(struct tacit_vote_sums *player)
{
    return (union tacit_sum *)(void *)(left_of(player) + arms_of(player));
}

static int64_t *noised_of(struct tacit_vote_sums *player)
{
    return (int64_t *)(void *)(left_of(player) + 2 * (size_t)arms_of(player));
}

static struct tacit_pull_block *plan_of(struct tacit_vote_sums *player)
{
    return (struct tacit_pull_block *)(void *)(left_of(player) + 3 * (size_t)arms_of(player));
}

static struct vote_block block_of(struct tacit_vote_sums *player)
{
    return (struct vote_block){.arm_count = arms_of(player),
                               .active = active_of(player),
                               .left = left_of(player),
                               .left_count = &player->left_count,
                               .exact = exact_of(player)};
}

static bool config_is_valid(const struct tacit_vote_sums_config *config)
{
    return config->arm_count >= 1 && config->arm_count <= TACIT_ARMS_MAX &&
           config->player_count <= TACIT_AGENTS_MAX && config->player_id < config->player_count &&
           config->block >= 1 && config->block <= BLOCK_MAX &&
           config->mechanism.scale.kind == TACIT_SCALE_STEPS && config->tick_us > 0 &&
           config->tick_us < TACIT_NEVER / 4;
}

size_t tacit_vote_sums_size(const struct tacit_vote_sums_config *config)
{
    TACIT_ASSERT(config != NULL);
    if (!config_is_valid(config))
        return 0;
    size_t const arms = config->arm_count;
    return sizeof(struct tacit_vote_sums) +
           (2 * TACIT_BITS_WORDS(arms) + 5 * arms) * sizeof(uint64_t);
}

/* ---- Blocks ---- */

static void open_block(struct tacit_vote_sums *player)
{
    struct vote_block const block = block_of(player);
    player->phase = vote_block_open(&block, player->config.block) ? PHASE_PULLING : PHASE_DECIDED;
}

static void show_plan(struct tacit_vote_sums *player, struct tacit_vote_sums_update *update)
{
    struct vote_block const block = block_of(player);
    update->replan = true;
    update->plan = plan_of(player);
    update->plan_count = vote_block_plan(&block, plan_of(player));
}

/* ---- Draws ---- */

static void ask_for_grant(const struct tacit_vote_sums *player,
                          struct tacit_vote_sums_update *update)
{
    TACIT_ASSERT(player->phase == PHASE_WAITING);
    TACIT_ASSERT(player->cell > 0);
    update->commit = true;
    update->cell = player->cell;
}

static enum tacit_status release(struct tacit_vote_sums *player,
                                 const struct tacit_entropy *entropy,
                                 struct tacit_vote_sums_update *update)
{
    struct vote_block const block = block_of(player);
    update->persist = true;
    player->phase = PHASE_RELEASING;
    if (player->send_us != TACIT_NEVER) { /* the release before is said again first */
        player->retry_us = player->send_us;
        return TACIT_OK;
    }
    player->has_sent = 0;
    memset(noised_of(player), 0, arms_of(player) * sizeof(int64_t));
    enum tacit_status const status =
        vote_block_release(&block, &player->config.mechanism, entropy, &player->ledger,
                           &player->cell, (struct vote_block_noised){noised_of(player), 1});
    if (status == TACIT_BUDGET)
        player->phase = PHASE_HALTED;
    else if (status != TACIT_OK)
        player->retry_us = player->now_us + RETRY_US;
    if (status != TACIT_OK)
        return status;
    memcpy(drawn_of(player), active_of(player), width_of(player) * sizeof(uint64_t));
    player->phase = PHASE_WAITING;
    ask_for_grant(player, update);
    return TACIT_OK;
}

/* ---- The pool ---- */

/* Arms that are out leave the block with what they brought; the draw follows if the others are
 * done. */
static enum tacit_status read_pool(struct tacit_vote_sums *player,
                                   const struct tacit_vote_pool *pool,
                                   const struct tacit_entropy *entropy,
                                   struct tacit_vote_sums_update *update)
{
    struct tacit_vote_pool_view view;
    tacit_vote_pool_look(pool, &view);
    if (player->phase == PHASE_IDLE || player->phase == PHASE_HALTED ||
        tacit_bits_within(active_of(player), view.active, arms_of(player)))
        return TACIT_OK;
    update->persist = true;
    for (size_t i = 0; i < width_of(player); i++)
        active_of(player)[i] &= view.active[i];
    player->active_count = tacit_bits_count(active_of(player), arms_of(player));
    TACIT_ASSERT(player->active_count >= 1);
    if (player->phase != PHASE_PULLING)
        return TACIT_OK;
    if (player->active_count == 1) {
        open_block(player);
        show_plan(player, update);
        return TACIT_OK;
    }
    struct vote_block const block = block_of(player);
    vote_block_leave(&block);
    if (player->left_count == 0)
        return release(player, entropy, update);
    show_plan(player, update);
    return TACIT_OK;
}

/* ---- Handlers ---- */

/* Releases leave at multiples of the tick, whatever the data. */
static uint64_t next_tick(const struct tacit_vote_sums *player)
{
    return vote_block_tick(player->now_us, player->config.tick_us);
}

static void send_release(struct tacit_vote_sums *player, struct tacit_vote_sums_update *update)
{
    TACIT_ASSERT(player->send_us != TACIT_NEVER);
    TACIT_ASSERT(!update->send);
    TACIT_ASSERT(player->cell > 0);
    update->persist = true;
    update->send = true;
    update->release = (struct tacit_vote_release){.run_id = player->config.run_id,
                                                  .from = player->config.player_id,
                                                  .number = player->number,
                                                  .arms = drawn_of(player),
                                                  .sums = noised_of(player)};
    player->send_us = TACIT_NEVER;
    player->has_sent = 1;
    if (player->phase != PHASE_GRANTED)
        return;
    open_block(player);
    show_plan(player, update);
}

static void on_start(struct tacit_vote_sums *player, struct tacit_vote_sums_update *update)
{
    if (player->phase == PHASE_IDLE) {
        open_block(player);
        update->persist = true;
    }
    if (player->phase == PHASE_WAITING)
        ask_for_grant(player, update);
    if (player->has_sent != 0 && player->send_us == TACIT_NEVER)
        player->send_us = next_tick(player); /* nobody knows whether it left: again */
    show_plan(player, update);
}

static enum tacit_status on_reward(struct tacit_vote_sums *player,
                                   const struct tacit_reward *reward,
                                   const struct tacit_entropy *entropy,
                                   struct tacit_vote_sums_update *update)
{
    struct vote_block const block = block_of(player);
    if (player->phase != PHASE_PULLING ||
        vote_block_take(&block, &player->config.mechanism.scale, reward) != TACIT_OK)
        return TACIT_INVALID;
    update->persist = true;
    return player->left_count == 0 ? release(player, entropy, update) : TACIT_OK;
}

static enum tacit_status on_grant(struct tacit_vote_sums *player, uint64_t cell, uint64_t number,
                                  struct tacit_vote_sums_update *update)
{
    if (cell == 0 || cell > player->cell)
        return TACIT_UNEXPECTED;
    if (cell < player->cell || player->phase != PHASE_WAITING)
        return TACIT_OK; /* said again */
    player->number = number;
    player->phase = PHASE_GRANTED;
    player->send_us = next_tick(player);
    update->persist = true;
    TACIT_ASSERT(player->send_us > player->now_us);
    return TACIT_OK;
}

static enum tacit_status on_timeout(struct tacit_vote_sums *player,
                                    const struct tacit_entropy *entropy,
                                    struct tacit_vote_sums_update *update)
{
    if (player->now_us >= player->send_us) {
        send_release(player, update);
        return TACIT_OK; /* its bytes must last until the next step */
    }
    if (player->now_us < player->retry_us)
        return TACIT_OK;
    player->retry_us = TACIT_NEVER;
    return player->phase == PHASE_RELEASING ? release(player, entropy, update) : TACIT_OK;
}

/* ---- Public functions ---- */

enum tacit_status tacit_vote_sums_init(struct tacit_vote_sums *player,
                                       const struct tacit_vote_sums_config *config)
{
    TACIT_ASSERT(player != NULL);
    size_t const size = tacit_vote_sums_size(config);
    if (size == 0)
        return TACIT_INVALID;
    memset(player, 0, size);
    player->config = *config;
    player->ledger = tacit_ledger_init(config->budget_nano);
    player->send_us = TACIT_NEVER;
    player->retry_us = TACIT_NEVER;
    player->active_count = config->arm_count;
    tacit_bits_fill(active_of(player), config->arm_count);
    return TACIT_OK;
}

static bool is_possible(struct tacit_vote_sums *player)
{
    struct vote_block const block = block_of(player);
    bool const is_pulling = player->phase == PHASE_PULLING;
    return vote_block_is_possible(&block, player->config.block) && player->active_count >= 1 &&
           tacit_bits_count(active_of(player), arms_of(player)) == player->active_count &&
           player->phase <= PHASE_HALTED && player->has_sent <= 1 &&
           player->cell == player->ledger.release_count && is_pulling == (player->left_count > 0) &&
           (player->phase != PHASE_GRANTED || player->send_us != TACIT_NEVER) &&
           tacit_ledger_spent_nano(&player->ledger) <= player->ledger.budget_nano;
}

enum tacit_status tacit_vote_sums_check(const struct tacit_vote_sums *player, size_t size,
                                        const struct tacit_vote_sums_config *config)
{
    TACIT_ASSERT(player != NULL);
    size_t const wanted = tacit_vote_sums_size(config);
    if (wanted == 0 || size != wanted)
        return TACIT_MALFORMED;
    if (memcmp(&player->config, config, sizeof *config) != 0)
        return TACIT_MALFORMED;
    return is_possible((struct tacit_vote_sums *)(uintptr_t)player) ? TACIT_OK : TACIT_MALFORMED;
}

enum tacit_status tacit_vote_sums_step(struct tacit_vote_sums *player,
                                       const struct tacit_vote_pool *pool,
                                       const struct tacit_vote_sums_event *event,
                                       const struct tacit_entropy *entropy,
                                       struct tacit_vote_sums_update *update)
{
    TACIT_ASSERT(player->active_count >= 1);
    TACIT_ASSERT(player != NULL);
    TACIT_ASSERT(pool != NULL);
    TACIT_ASSERT(event->now_us >= player->now_us);
    *update = (struct tacit_vote_sums_update){.deadline_us = TACIT_NEVER};
    enum tacit_status status = TACIT_OK;
    uint64_t const now_before = player->now_us;
    player->now_us = event->now_us;
    switch (event->kind) {
    case TACIT_EVENT_START:
        on_start(player, update);
        break;
    case TACIT_EVENT_REWARD:
        status = on_reward(player, &event->as.reward, entropy, update);
        break;
    case TACIT_EVENT_OFFER:
        status = read_pool(player, pool, entropy, update);
        break;
    case TACIT_EVENT_RECEIVE:
        status = on_grant(player, event->as.grant.cell, event->as.grant.number, update);
        break;
    case TACIT_EVENT_TIMEOUT:
        status = on_timeout(player, entropy, update);
        break;
    case TACIT_EVENT_EXPLOITED:
        break;
    }
    if (status != TACIT_OK && !update->persist) /* refused: byte for byte as before */
        player->now_us = now_before;
    TACIT_IMPLIES(status == TACIT_OK, player->now_us == event->now_us);
    update->deadline_us = vote_earlier(player->send_us, player->retry_us);
    TACIT_IMPLIES(update->send, update->release.from == player->config.player_id);
    TACIT_IMPLIES(update->commit, player->phase == PHASE_WAITING);
    TACIT_ASSERT((player->phase == PHASE_PULLING) == (player->left_count > 0));
    TACIT_ASSERT(player->cell == player->ledger.release_count);
    return status;
}

void tacit_vote_sums_look(const struct tacit_vote_sums *player, struct tacit_vote_sums_view *view)
{
    TACIT_ASSERT(player != NULL);
    TACIT_ASSERT(view != NULL);
    *view = (struct tacit_vote_sums_view){
        .cell = player->cell,
        .decided = player->active_count == 1,
        .waiting = player->phase == PHASE_WAITING,
        .halted = player->phase == PHASE_HALTED,
        .active_count = (uint32_t)player->active_count,
        .active = active_of((struct tacit_vote_sums *)(uintptr_t)player),
        .ledger = &player->ledger};
}
