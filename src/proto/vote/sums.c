/* A player that publishes noised sums instead of votes: a block, a draw, a grant, a release at the
 * public tick. What all releases together say is the pool's business (pool.c). */
#include "block.h"
#include <string.h>

enum {
    PHASE_GRANTED = VOTE_PHASES, /* leaves at the tick */
    PHASE_DECIDED,               /* one arm is left */
    PHASE_HALTED                 /* no budget */
};

struct tacit_vote_sums {
    struct tacit_vote_sums_config config;
    struct vote_clock clock; /* what leaves is a release */
    uint64_t draw;           /* draws so far */
    uint64_t number;         /* the hub's, of the last granted draw */
    uint64_t has_sent; /* a release left, and is not known to be settled: it can be sent again */
    uint64_t left_count;
    uint64_t active_count;
    uint64_t phase;
    /* active W | drawn W | left K | exact K | noised K | total K | plan 2K */
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

static int64_t *noised_of(struct tacit_vote_sums *player)
{
    return (int64_t *)(void *)(left_of(player) + 2 * (size_t)arms_of(player));
}

/* Of all granted draws since the arms came in. */
static int64_t *total_of(struct tacit_vote_sums *player)
{
    return noised_of(player) + arms_of(player);
}

static struct tacit_pull_block *plan_of(struct tacit_vote_sums *player)
{
    return (struct tacit_pull_block *)(void *)(left_of(player) + 4 * (size_t)arms_of(player));
}

/* The last draw. */
static struct tacit_vote_release release_of(struct tacit_vote_sums *player)
{
    return (struct tacit_vote_release){.run_id = player->config.run_id,
                                       .from = player->config.player_id,
                                       .number = player->number,
                                       .arms = drawn_of(player),
                                       .sums = noised_of(player)};
}

static bool config_is_valid(const struct tacit_vote_sums_config *config)
{
    return vote_block_fits(config->arm_count, config->player_id, config->player_count,
                           &config->mechanism, config->tick_us) &&
           config->block >= 1 && config->block <= TACIT_VOTE_BLOCK_MAX;
}

size_t tacit_vote_sums_size(const struct tacit_vote_sums_config *config)
{
    TACIT_ASSERT(config != NULL);
    if (!config_is_valid(config))
        return 0;
    size_t const arms = config->arm_count;
    return sizeof(struct tacit_vote_sums) +
           (2 * TACIT_BITS_WORDS(arms) + 6 * arms) * sizeof(uint64_t);
}

/* ---- Blocks ---- */

static void open_block(struct tacit_vote_sums *player)
{
    struct vote_block const block = VOTE_BLOCK_OF(player);
    player->phase = vote_block_open(&block, player->config.block) ? PHASE_PULLING : PHASE_DECIDED;
}

/* ---- Draws ---- */

static enum tacit_status release(struct tacit_vote_sums *player,
                                 const struct tacit_entropy *entropy,
                                 struct tacit_vote_noised_update *update)
{
    struct vote_block const block = VOTE_BLOCK_OF(player);
    if (player->has_sent != 0) { /* the release before is to be settled first */
        update->persist = true;
        player->phase = PHASE_RELEASING;
        player->clock.retry_us = player->clock.leave_us;
        return TACIT_OK;
    }
    memset(noised_of(player), 0, arms_of(player) * sizeof(int64_t));
    enum tacit_status const status = vote_block_release(
        &block, entropy, (struct vote_block_noised){noised_of(player), 1}, update);
    if (status == TACIT_BUDGET)
        player->phase = PHASE_HALTED;
    if (status == TACIT_OK)
        memcpy(drawn_of(player), active_of(player), width_of(player) * sizeof(uint64_t));
    return status;
}

/* ---- What stands ---- */

/* All arms that are in, from the start of a block; what was played and is not drawn is in none. */
static void start_afresh(struct tacit_vote_sums *player)
{
    memset(total_of(player), 0, arms_of(player) * sizeof(int64_t));
    if (player->phase == PHASE_WAITING || player->phase == PHASE_GRANTED)
        return; /* that draw is settled first */
    player->clock.retry_us = TACIT_NEVER;
    open_block(player);
}

/* Arms that are out leave the block with what they brought; the draw follows if the others are
 * done. */
static void apply_arms(struct tacit_vote_sums *player, const uint64_t *in,
                       struct tacit_vote_noised_update *update)
{
    bool const grows = !tacit_bits_within(in, active_of(player), arms_of(player));
    if (!grows && tacit_bits_within(active_of(player), in, arms_of(player)))
        return;
    update->persist = true;
    memcpy(active_of(player), in, width_of(player) * sizeof(uint64_t));
    player->active_count = tacit_bits_count(active_of(player), arms_of(player));
    TACIT_ASSERT(player->active_count >= 1);
    if (grows)
        start_afresh(player);
    else if (player->phase != PHASE_PULLING)
        return;
    else if (player->active_count == 1)
        open_block(player);
    struct vote_block const block = VOTE_BLOCK_OF(player);
    if (player->phase == PHASE_PULLING)
        vote_block_leave(&block);
    if (!vote_block_is_full(&block))
        vote_block_show(&block, update);
}

/* Which arms are in, and whether the release before is settled: for that a draw may have waited. */
static enum tacit_status read_standing(struct tacit_vote_sums *player,
                                       const struct tacit_vote_standing *standing,
                                       const struct tacit_entropy *entropy,
                                       struct tacit_vote_noised_update *update)
{
    if (player->phase == PHASE_IDLE || player->phase == PHASE_HALTED)
        return TACIT_OK;
    if (player->has_sent != 0 && standing->settled >= player->draw) {
        player->has_sent = 0;
        player->clock.leave_us = TACIT_NEVER;
        update->persist = true;
    }
    apply_arms(player, standing->arms, update);
    bool const has_waited =
        player->phase == PHASE_RELEASING && player->clock.retry_us == TACIT_NEVER;
    return has_waited && player->has_sent == 0 ? release(player, entropy, update) : TACIT_OK;
}

void tacit_vote_sums_begin_term(struct tacit_vote_sums *player)
{
    TACIT_ASSERT(player != NULL);
    player->has_sent = 0;
    player->clock.leave_us = player->clock.retry_us = TACIT_NEVER;
    if (player->phase != PHASE_IDLE && player->phase != PHASE_HALTED)
        open_block(player);
}

/* ---- Handlers ---- */

/* Releases leave at multiples of the tick, whatever the data. */
static uint64_t next_tick(const struct tacit_vote_sums *player)
{
    return vote_clock_tick(&player->clock, player->config.tick_us);
}

static void send_release(struct tacit_vote_sums *player, struct tacit_vote_noised_update *update)
{
    TACIT_ASSERT(player->clock.leave_us != TACIT_NEVER);
    TACIT_ASSERT(!update->send);
    TACIT_ASSERT(player->draw > 0);
    update->persist = true;
    update->send = true;
    update->release = release_of(player);
    player->clock.leave_us = TACIT_NEVER;
    player->has_sent = 1;
    if (player->phase != PHASE_GRANTED)
        return;
    struct vote_block const block = VOTE_BLOCK_OF(player);
    open_block(player);
    vote_block_show(&block, update);
}

static void on_start(struct tacit_vote_sums *player, struct tacit_vote_noised_update *update)
{
    /* Nobody knows whether it left: again. A tick of before may be one of another clock. */
    if (player->has_sent != 0 || player->clock.leave_us != TACIT_NEVER)
        player->clock.leave_us = next_tick(player);
    struct vote_block const block = VOTE_BLOCK_OF(player);
    vote_block_restart(&block, update);
    if (player->phase == PHASE_IDLE) {
        open_block(player);
        update->persist = true;
    }
    vote_block_show(&block, update);
}

static enum tacit_status on_grant(struct tacit_vote_sums *player, uint64_t draw, uint64_t number,
                                  struct tacit_vote_noised_update *update)
{
    if (draw == 0 || draw > player->draw)
        return TACIT_UNEXPECTED;
    if (draw < player->draw || player->phase != PHASE_WAITING)
        return TACIT_OK; /* said again */
    player->number = number;
    player->phase = PHASE_GRANTED;
    player->clock.leave_us = next_tick(player);
    for (uint32_t arm = 0; arm < arms_of(player); arm++)
        total_of(player)[arm] += noised_of(player)[arm];
    update->persist = true;
    TACIT_ASSERT(player->clock.leave_us > player->clock.now_us);
    return TACIT_OK;
}

static enum tacit_status on_timeout(struct tacit_vote_sums *player,
                                    const struct tacit_entropy *entropy,
                                    struct tacit_vote_noised_update *update)
{
    if (player->clock.now_us >= player->clock.leave_us) {
        send_release(player, update);
        return TACIT_OK; /* its bytes must last until the next step */
    }
    struct vote_block const block = VOTE_BLOCK_OF(player);
    return vote_block_end_pause(&block) ? release(player, entropy, update) : TACIT_OK;
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
    player->clock = vote_clock_init(config->budget_nano);
    player->active_count = config->arm_count;
    tacit_bits_fill(active_of(player), config->arm_count);
    return TACIT_OK;
}

static bool is_possible(struct tacit_vote_sums *player)
{
    struct vote_block const block = VOTE_BLOCK_OF(player);
    return vote_block_is_possible(&block, player->config.block) && player->active_count >= 1 &&
           tacit_bits_count(active_of(player), arms_of(player)) == player->active_count &&
           player->phase <= PHASE_HALTED && player->has_sent <= 1 &&
           (player->phase != PHASE_GRANTED || player->clock.leave_us != TACIT_NEVER) &&
           (player->draw > 0 || (player->has_sent == 0 && player->phase != PHASE_WAITING &&
                                 player->phase != PHASE_GRANTED)) &&
           (player->clock.leave_us == TACIT_NEVER || player->phase == PHASE_GRANTED ||
            player->has_sent != 0);
}

enum tacit_status tacit_vote_sums_check(const struct tacit_vote_sums *player, size_t size,
                                        const struct tacit_vote_sums_config *config)
{
    struct tacit_vote_sums *const read = (struct tacit_vote_sums *)(uintptr_t)player;
    size_t const wanted = tacit_vote_sums_size(config);
    return vote_state_is_of(player, size, wanted, config, sizeof *config) && is_possible(read)
               ? TACIT_OK
               : TACIT_MALFORMED;
}

enum tacit_status tacit_vote_sums_step(struct tacit_vote_sums *player,
                                       const struct tacit_vote_event *event,
                                       const struct tacit_entropy *entropy,
                                       struct tacit_vote_noised_update *update)
{
    TACIT_ASSERT(player != NULL);
    TACIT_ASSERT(player->active_count >= 1);
    struct vote_block const block = VOTE_BLOCK_OF(player);
    uint64_t const before_us = vote_block_begin(&block, event->kind, event->now_us, update);
    enum tacit_status status = TACIT_OK;
    switch (event->kind) {
    case TACIT_EVENT_START:
        on_start(player, update);
        break;
    case TACIT_EVENT_REWARD:
        status = vote_block_add(&block, &event->as.reward, update);
        break;
    case TACIT_EVENT_OFFER:
        status = read_standing(player, &event->as.standing, entropy, update);
        break;
    case TACIT_EVENT_RECEIVE:
        status = on_grant(player, event->as.grant.draw, event->as.grant.number, update);
        break;
    case TACIT_EVENT_TIMEOUT:
        status = on_timeout(player, entropy, update);
        break;
    case TACIT_EVENT_EXPLOITED:
        break;
    }
    if (status == TACIT_OK && vote_block_is_full(&block))
        status = release(player, entropy, update);
    vote_block_end(&block, status, before_us, update);
    TACIT_IMPLIES(status == TACIT_OK, player->clock.now_us == event->now_us);
    TACIT_IMPLIES(update->send, update->release.from == player->config.player_id);
    return status;
}

int64_t tacit_vote_sums_total(const struct tacit_vote_sums *player, uint32_t arm)
{
    TACIT_ASSERT(arm < arms_of(player));
    return total_of((struct tacit_vote_sums *)(uintptr_t)player)[arm];
}

void tacit_vote_sums_view(const struct tacit_vote_sums *player, struct tacit_vote_noised_view *view)
{
    TACIT_ASSERT(player != NULL);
    TACIT_ASSERT(view != NULL);
    struct vote_block const block = VOTE_BLOCK_OF((struct tacit_vote_sums *)(uintptr_t)player);
    *view = vote_block_view(&block, (uint32_t)player->active_count, player->phase == PHASE_HALTED);
    view->release = release_of((struct tacit_vote_sums *)(uintptr_t)player);
}
