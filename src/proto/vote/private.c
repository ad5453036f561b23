/* A player whose votes are private (sound mode; PRIVACY.md B.4, EXACT-BOUNDS 4 with one site):
 * votes are functions of noised sums, which stay where they are. */
#include "block.h"
#include <math.h>
#include <string.h>
#include "tacit/bounds.h"
#include "tacit/elimination.h"

#define FIRST_RADIUS 0.25 /* EXACT-BOUNDS 4.1 */

enum {
    PHASE_DECIDED = VOTE_PHASES, /* one arm is left */
    PHASE_HALTED                 /* no budget */
};

struct tacit_vote_private {
    struct tacit_vote_private_config config;
    struct vote_clock clock; /* what leaves is a vote */
    uint64_t reset;
    uint64_t draw;        /* draws so far */
    uint64_t epoch;       /* e, from 1 */
    uint64_t rung;        /* S_e */
    uint64_t rung_before; /* S_(e-1) */
    uint64_t left_count;  /* pulls left in the plan */
    uint64_t marks_sent;
    uint64_t active_count;
    uint64_t phase;
    /* active W | dropped W | left K | exact K | plan 2K | noised K x RELEASES_MAX */
    uint64_t words[];
};

/* ---- Layout ---- */

static uint32_t arms_of(const struct tacit_vote_private *player)
{
    return player->config.arm_count;
}

static size_t width_of(const struct tacit_vote_private *player)
{
    return TACIT_BITS_WORDS(player->config.arm_count);
}

static uint64_t *active_of(struct tacit_vote_private *player)
{
    return player->words;
}

static uint64_t *dropped_of(struct tacit_vote_private *player)
{
    return player->words + width_of(player);
}

static uint64_t *left_of(struct tacit_vote_private *player)
{
    return player->words + 2 * width_of(player);
}

static struct tacit_pull_block *plan_of(struct tacit_vote_private *player)
{
    return (struct tacit_pull_block *)(void *)(left_of(player) + 2 * (size_t)arms_of(player));
}

static int64_t *noised_of(struct tacit_vote_private *player, uint32_t arm)
{
    TACIT_ASSERT(arm < arms_of(player));
    return (int64_t *)(void *)(left_of(player) + 4 * (size_t)arms_of(player)) +
           (size_t)arm * TACIT_BOUNDS_RELEASES_MAX;
}

static uint32_t next_active(struct tacit_vote_private *player, uint32_t from)
{
    return tacit_bits_next(active_of(player), arms_of(player), from);
}

static bool config_is_valid(const struct tacit_vote_private_config *config)
{
    return vote_block_fits(config->arm_count, config->player_id, config->player_count,
                           &config->mechanism, config->tick_us) &&
           config->accuracy > 0 && config->accuracy <= 1 && config->failure > 0 &&
           config->failure < 1 && config->growth > 1 && config->growth <= 4;
}

size_t tacit_vote_private_size(const struct tacit_vote_private_config *config)
{
    TACIT_ASSERT(config != NULL);
    if (!config_is_valid(config))
        return 0;
    size_t const arms = config->arm_count;
    return sizeof(struct tacit_vote_private) +
           (2 * TACIT_BITS_WORDS(arms) + (4 + TACIT_BOUNDS_RELEASES_MAX) * arms) * sizeof(uint64_t);
}

/* What a reward in it costs; bounds are for the epsilon that is really used. */
static double epsilon_of(const struct tacit_vote_private *player)
{
    struct tacit_mechanism const *const mechanism = &player->config.mechanism;
    return mechanism->noisy ? (double)mechanism->epsilon_nano / 1e9 : (double)INFINITY;
}

/* ---- Plans ---- */

/* EXACT-BOUNDS 4.1 with M = 1 and delta = eta: the first rung. */
static void start_ladder(struct tacit_vote_private *player)
{
    double const level = log(4.0 * (double)arms_of(player) / player->config.failure);
    player->epoch = 1;
    player->rung_before = 0;
    player->rung = tacit_bounds_first_rung(1, epsilon_of(player), level, FIRST_RADIUS);
    TACIT_ASSERT(player->rung > 0);
}

/* All arms of the set, from the start of the ladder; what was noised before says nothing any more,
 * and is written over before it is read. The plan is the next one's business (open_plan). */
static void start_afresh(struct tacit_vote_private *player)
{
    player->active_count = tacit_bits_count(active_of(player), arms_of(player));
    TACIT_ASSERT(player->active_count >= 1);
    start_ladder(player);
}

static void open_plan(struct tacit_vote_private *player)
{
    TACIT_ASSERT(player->active_count >= 1);
    TACIT_ASSERT(player->rung > player->rung_before);
    struct vote_block const block = VOTE_BLOCK_OF(player);
    bool const is_open = vote_block_open(&block, player->rung - player->rung_before);
    player->phase = is_open ? PHASE_PULLING : PHASE_DECIDED;
}

/* ---- Draws ---- */

static enum tacit_status release(struct tacit_vote_private *player,
                                 const struct tacit_entropy *entropy,
                                 struct tacit_vote_noised_update *update)
{
    TACIT_ASSERT(player->epoch >= 1);
    TACIT_ASSERT(player->epoch <= TACIT_BOUNDS_RELEASES_MAX);
    struct vote_block const block = VOTE_BLOCK_OF(player);
    struct vote_block_noised const noised = {noised_of(player, 0) + player->epoch - 1,
                                             TACIT_BOUNDS_RELEASES_MAX};
    enum tacit_status const status = vote_block_release(&block, entropy, noised, update);
    if (status == TACIT_BUDGET)
        player->phase = PHASE_HALTED;
    return status;
}

void tacit_vote_private_digest(const struct tacit_vote_private *player,
                               uint8_t digest[TACIT_SHA256_BYTES])
{
    TACIT_ASSERT(player != NULL);
    TACIT_ASSERT(player->phase == PHASE_WAITING);
    struct tacit_vote_private *const read = (struct tacit_vote_private *)(uintptr_t)player;
    struct tacit_sha256 sha = tacit_sha256_init();
    tacit_sha256_update_number(&sha, player->draw);
    tacit_sha256_update_number(&sha, player->rung - player->rung_before);
    for (uint32_t arm = next_active(read, 0); arm < arms_of(read);
         arm = next_active(read, arm + 1)) {
        tacit_sha256_update_number(&sha, arm);
        tacit_sha256_update_number(&sha, (uint64_t)noised_of(read, arm)[player->epoch - 1]);
    }
    tacit_sha256_final(&sha, digest);
}

/* ---- Judging ---- */

/* Pulls of the releases 1 .. e, which all arms of the set have. */
static void lay_ladder(const struct tacit_vote_private *player, struct tacit_bounds_sum *releases)
{
    TACIT_ASSERT(player->epoch >= 1);
    TACIT_ASSERT(player->epoch <= TACIT_BOUNDS_RELEASES_MAX);
    double const level = log(4.0 * (double)arms_of(player) / player->config.failure);
    uint64_t rung = 0;
    for (uint32_t i = 0; i < player->epoch; i++) {
        uint64_t const next =
            i == 0 ? tacit_bounds_first_rung(1, epsilon_of(player), level, FIRST_RADIUS)
                   : tacit_bounds_next_rung(rung, player->config.growth);
        releases[i] = (struct tacit_bounds_sum){.pulls = next - rung, .noises = 1};
        rung = next;
    }
    TACIT_ASSERT(rung == player->rung);
}

/* Out with k if UCB_k <= max LCB + accuracy, by a suffix of the releases (EXACT-BOUNDS 2.5). */
static uint32_t drop_beaten(struct tacit_vote_private *player)
{
    TACIT_ASSERT(player->active_count >= 1);
    double const level =
        tacit_bounds_level(arms_of(player), (uint32_t)player->epoch, player->config.failure);
    struct tacit_bounds_sum releases[TACIT_BOUNDS_RELEASES_MAX];
    struct tacit_bounds_sum sum;
    lay_ladder(player, releases);
    uint32_t const first =
        tacit_bounds_suffix(releases, (uint32_t)player->epoch, epsilon_of(player), level, &sum);
    struct tacit_elimination const look = {.steps = noised_of(player, 0),
                                           .arm_stride = TACIT_BOUNDS_RELEASES_MAX,
                                           .release_stride = 1,
                                           .arm_count = arms_of(player),
                                           .first = first,
                                           .last = (uint32_t)player->epoch,
                                           .pulls = sum.pulls,
                                           .noises = sum.noises,
                                           .noise = {.epsilon = epsilon_of(player)},
                                           .level = level,
                                           .accuracy = player->config.accuracy};
    uint32_t const dropped = tacit_elimination_drop(&look, active_of(player), dropped_of(player));
    player->active_count -= dropped;
    TACIT_ASSERT(player->active_count >= 1);
    TACIT_ASSERT(player->active_count == tacit_bits_count(active_of(player), arms_of(player)));
    return dropped;
}

/* The next rung. False: there is no room for its release. */
static bool climb(struct tacit_vote_private *player)
{
    if (player->epoch == TACIT_BOUNDS_RELEASES_MAX || player->rung >= TACIT_HORIZON_MAX / 4)
        return false;
    player->rung_before = player->rung;
    player->rung = tacit_bounds_next_rung(player->rung, player->config.growth);
    player->epoch++;
    TACIT_ASSERT(player->rung > player->rung_before);
    TACIT_ASSERT(player->epoch <= TACIT_BOUNDS_RELEASES_MAX);
    return true;
}

/* Votes leave at multiples of the tick, whatever the data. */
static uint64_t next_tick(const struct tacit_vote_private *player)
{
    return vote_clock_tick(&player->clock, player->config.tick_us);
}

/* The hub's grant: from here on the draw may be used. */
static void judge(struct tacit_vote_private *player, const struct tacit_vote_board *board,
                  struct tacit_vote_noised_update *update)
{
    TACIT_ASSERT(player->phase == PHASE_WAITING);
    bool const votes = tacit_vote_board_counts(board, player->config.player_id);
    if (drop_beaten(player) > 0 && votes && player->clock.leave_us == TACIT_NEVER)
        player->clock.leave_us = next_tick(player);
    update->persist = true;
    if (player->active_count > 1 && !climb(player)) {
        player->phase = PHASE_HALTED;
        return;
    }
    struct vote_block const block = VOTE_BLOCK_OF(player);
    open_plan(player);
    vote_block_show(&block, update);
}

/* ---- The board ---- */

/* Arms that are voted out leave the set, and the block. If none would be left in the set, it is all
 * that is not voted out, from the start of the ladder. */
static void apply_voted(struct tacit_vote_private *player, const uint64_t *voted)
{
    bool is_disjoint = true;
    for (size_t i = 0; i < width_of(player); i++)
        is_disjoint = is_disjoint && (active_of(player)[i] & voted[i]) == 0;
    for (size_t i = 0; i < width_of(player); i++)
        active_of(player)[i] = voted[i] & (is_disjoint ? UINT64_MAX : active_of(player)[i]);
    if (is_disjoint)
        start_afresh(player);
    player->active_count = tacit_bits_count(active_of(player), arms_of(player));
    TACIT_ASSERT(player->active_count >= 1);
    if (is_disjoint || player->active_count == 1) {
        open_plan(player);
        return;
    }
    if (player->phase != PHASE_PULLING)
        return;
    struct vote_block const block = VOTE_BLOCK_OF(player);
    vote_block_leave(&block);
}

static void apply_reset(struct tacit_vote_private *player, uint64_t reset)
{
    TACIT_ASSERT(reset > player->reset);
    player->reset = reset;
    player->marks_sent = 0;
    player->clock.leave_us = TACIT_NEVER;
    memset(dropped_of(player), 0, width_of(player) * sizeof(uint64_t));
    tacit_bits_fill(active_of(player), arms_of(player));
    start_afresh(player);
    open_plan(player);
}

/* Reads the board; the draw follows if the arms that are left have all their rewards. */
static void read_board(struct tacit_vote_private *player, const struct tacit_vote_board *board,
                       struct tacit_vote_noised_update *update)
{
    struct tacit_vote_board_view view;
    if (player->phase == PHASE_IDLE || player->phase == PHASE_HALTED)
        return;
    tacit_vote_board_view(board, &view);
    bool const is_reset = view.reset > player->reset;
    bool const shrinks = !tacit_bits_within(active_of(player), view.voted, arms_of(player));
    if (!is_reset && !shrinks)
        return;
    if (is_reset)
        apply_reset(player, view.reset);
    if (!tacit_bits_within(active_of(player), view.voted, arms_of(player)))
        apply_voted(player, view.voted);
    update->persist = true;
    struct vote_block const block = VOTE_BLOCK_OF(player);
    if (player->phase != PHASE_WAITING && player->phase != PHASE_RELEASING &&
        !vote_block_is_full(&block))
        vote_block_show(&block, update);
}

void tacit_vote_private_begin_term(struct tacit_vote_private *player)
{
    TACIT_ASSERT(player != NULL);
    player->clock.retry_us = TACIT_NEVER;
    if (player->phase == PHASE_PULLING || player->phase == PHASE_RELEASING ||
        player->phase == PHASE_WAITING)
        open_plan(player);
}

/* ---- Handlers ---- */

static void send_vote(struct tacit_vote_private *player, struct tacit_vote_board *board,
                      struct tacit_vote_noised_update *update)
{
    TACIT_ASSERT(player->clock.leave_us != TACIT_NEVER);
    TACIT_ASSERT(!update->send);
    uint64_t const marks = tacit_bits_count(dropped_of(player), arms_of(player));
    update->send = true;
    update->marks_new = (uint32_t)(marks - player->marks_sent);
    update->message = (struct tacit_vote_message){.kind = TACIT_VOTE_MARKS,
                                                  .from = player->config.player_id,
                                                  .to = TACIT_EVERYONE,
                                                  .run_id = player->config.run_id,
                                                  .reset = player->reset,
                                                  .marks = dropped_of(player)};
    player->marks_sent = marks;
    player->clock.leave_us = TACIT_NEVER;
    enum tacit_status const status = tacit_vote_board_apply(board, &update->message, NULL);
    TACIT_ASSERT(status == TACIT_OK);
    update->persist = true;
    update->persist_board = true;
}

static void on_start(struct tacit_vote_private *player, struct tacit_vote_noised_update *update)
{
    if (player->phase == PHASE_IDLE) {
        open_plan(player);
        update->persist = true;
    }
    /* Nobody knows whether the vote left: again. A tick of before may be one of another clock. */
    if (player->marks_sent > 0 || player->clock.leave_us != TACIT_NEVER)
        player->clock.leave_us = next_tick(player);
    struct vote_block const block = VOTE_BLOCK_OF(player);
    vote_block_restart(&block, update);
    vote_block_show(&block, update);
}

static enum tacit_status on_receive(struct tacit_vote_private *player,
                                    struct tacit_vote_board *board,
                                    const struct tacit_vote_message *message,
                                    struct tacit_vote_noised_update *update)
{
    if (message->kind == TACIT_VOTE_GRANT) {
        if (message->from != TACIT_HUB || message->run_id != player->config.run_id)
            return TACIT_STRANGER;
        if (message->draw != player->draw || player->draw == 0)
            return message->draw < player->draw ? TACIT_OK : TACIT_UNEXPECTED;
        if (player->phase == PHASE_WAITING)
            judge(player, board, update);
        return TACIT_OK;
    }
    enum tacit_status const status = tacit_vote_board_apply(board, message, NULL);
    update->persist_board = status == TACIT_OK;
    if (status == TACIT_OK)
        read_board(player, board, update);
    return status;
}

static enum tacit_status on_timeout(struct tacit_vote_private *player,
                                    struct tacit_vote_board *board,
                                    const struct tacit_entropy *entropy,
                                    struct tacit_vote_noised_update *update)
{
    if (player->clock.now_us >= player->clock.leave_us)
        send_vote(player, board, update);
    struct vote_block const block = VOTE_BLOCK_OF(player);
    return vote_block_end_pause(&block) ? release(player, entropy, update) : TACIT_OK;
}

/* ---- Public functions ---- */

enum tacit_status tacit_vote_private_init(struct tacit_vote_private *player,
                                          const struct tacit_vote_private_config *config)
{
    TACIT_ASSERT(player != NULL);
    size_t const size = tacit_vote_private_size(config);
    if (size == 0)
        return TACIT_INVALID;
    memset(player, 0, size);
    player->config = *config;
    player->clock = vote_clock_init(config->budget_nano);
    tacit_bits_fill(active_of(player), config->arm_count);
    start_afresh(player);
    return TACIT_OK;
}

static bool is_possible(struct tacit_vote_private *player)
{
    struct vote_block const block = VOTE_BLOCK_OF(player);
    return vote_block_is_possible(&block, TACIT_HORIZON_MAX) && player->epoch >= 1 &&
           player->epoch <= TACIT_BOUNDS_RELEASES_MAX && player->active_count >= 1 &&
           tacit_bits_count(active_of(player), arms_of(player)) == player->active_count &&
           player->phase <= PHASE_HALTED && player->rung > player->rung_before;
}

enum tacit_status tacit_vote_private_check(const struct tacit_vote_private *player, size_t size,
                                           const struct tacit_vote_private_config *config)
{
    struct tacit_vote_private *const read = (struct tacit_vote_private *)(uintptr_t)player;
    size_t const wanted = tacit_vote_private_size(config);
    return vote_state_is_of(player, size, wanted, config, sizeof *config) && is_possible(read)
               ? TACIT_OK
               : TACIT_MALFORMED;
}

enum tacit_status tacit_vote_private_step(struct tacit_vote_private *player,
                                          struct tacit_vote_board *board,
                                          const struct tacit_vote_event *event,
                                          const struct tacit_entropy *entropy,
                                          struct tacit_vote_noised_update *update)
{
    TACIT_ASSERT(player != NULL);
    TACIT_ASSERT(board != NULL);
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
        read_board(player, board, update);
        break;
    case TACIT_EVENT_RECEIVE:
        status = on_receive(player, board, event->as.message, update);
        break;
    case TACIT_EVENT_TIMEOUT:
        status = on_timeout(player, board, entropy, update);
        break;
    case TACIT_EVENT_EXPLOITED:
        break;
    }
    if (status == TACIT_OK && vote_block_is_full(&block))
        status = release(player, entropy, update);
    vote_block_end(&block, status, before_us, update);
    TACIT_IMPLIES(status == TACIT_OK, player->clock.now_us == event->now_us);
    TACIT_IMPLIES(update->send, update->message.from == player->config.player_id);
    TACIT_ASSERT(player->active_count >= 1);
    return status;
}

/* Those of this epoch are not granted, while the player waits. */
int64_t tacit_vote_private_total(const struct tacit_vote_private *player, uint32_t arm)
{
    TACIT_ASSERT(arm < arms_of(player));
    int64_t const *const noised = noised_of((struct tacit_vote_private *)(uintptr_t)player, arm);
    int64_t sum = 0;
    for (uint64_t i = 0; i + 1 < player->epoch; i++)
        sum += noised[i];
    return sum;
}

uint32_t tacit_vote_private_best(const struct tacit_vote_private *state)
{
    struct tacit_vote_private *const player = (struct tacit_vote_private *)(uintptr_t)state;
    uint32_t best = next_active(player, 0);
    for (uint32_t arm = best; arm < arms_of(player); arm = next_active(player, arm + 1))
        if (tacit_vote_private_total(player, arm) > tacit_vote_private_total(player, best))
            best = arm;
    TACIT_ASSERT(best < arms_of(player));
    return best;
}

bool tacit_vote_private_is_decided(const struct tacit_vote_private *player)
{
    return player->active_count == 1;
}

void tacit_vote_private_view(const struct tacit_vote_private *player,
                             struct tacit_vote_noised_view *view)
{
    TACIT_ASSERT(player != NULL);
    TACIT_ASSERT(view != NULL);
    struct vote_block const block = VOTE_BLOCK_OF((struct tacit_vote_private *)(uintptr_t)player);
    *view = vote_block_view(&block, (uint32_t)player->active_count, player->phase == PHASE_HALTED);
    view->epoch = (uint32_t)player->epoch;
    view->dropped = dropped_of((struct tacit_vote_private *)(uintptr_t)player);
}
