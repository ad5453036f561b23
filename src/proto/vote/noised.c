/* A player whose rewards leave it noised only: over a block, a draw, a grant and a public tick. Its
 * votes are private (PRIVACY.md B.4, EXACT-BOUNDS 4 with one site): functions of noised sums, which
 * stay where they are. Or it publishes the sums themselves; what all releases together say is the
 * pool's business (pool.c). */
#include <math.h>
#include <string.h>
#include "block.h"
#include "pool.h"
#include "tacit/bounds.h"
#include "tacit/elimination.h"

#define FIRST_RADIUS 0.25 /* EXACT-BOUNDS 4.1 */

static bool has_sums(const struct tacit_vote_noised *player)
{
    return player->config.block > 0;
}

static uint32_t arms_of(const struct tacit_vote_noised *player)
{
    return player->config.arm_count;
}

/* For what shows it. */
static struct tacit_vote_noised *read_of(const struct tacit_vote_noised *player)
{
    TACIT_ASSERT(player != NULL);
    return (struct tacit_vote_noised *)(uintptr_t)player;
}

static uint64_t draws_of(const struct tacit_vote_noised *player)
{
    return player->ledger.release_count;
}

/* Sums: the last draw. */
static struct tacit_vote_release release_of(struct tacit_vote_noised *player)
{
    TACIT_ASSERT(has_sums(player));
    return (struct tacit_vote_release){vote_own_of(player), vote_noised_of(player, 0)};
}

static bool config_is_valid(const struct tacit_vote_noised_config *config)
{
    bool const votes = config->block == 0 && config->accuracy > 0 && config->accuracy <= 1 &&
                       config->failure > 0 && config->failure < 1 && config->growth > 1 &&
                       config->growth <= 4;
    bool const publishes = config->block >= 1 && config->block <= TACIT_VOTE_BLOCK_MAX;
    return (votes || publishes) && config->arm_count >= 1 && config->arm_count <= TACIT_ARMS_MAX &&
           config->player_count <= TACIT_AGENTS_MAX && config->player_id < config->player_count &&
           config->mechanism.scale.kind == TACIT_SCALE_STEPS && config->tick_us > 0 &&
           config->tick_us < TACIT_NEVER / 4;
}

size_t tacit_vote_noised_size(const struct tacit_vote_noised_config *config)
{
    TACIT_ASSERT(config != NULL);
    if (!config_is_valid(config))
        return 0;
    size_t const arms = config->arm_count;
    return sizeof(struct tacit_vote_noised) +
           (2 * TACIT_BITS_WORDS(arms) + (5 + vote_releases_of(config)) * arms) * sizeof(uint64_t);
}

/* ---- The ladder of votes ---- */

/* What a reward in it costs; bounds are for the epsilon that is really used. */
static double epsilon_of(const struct tacit_vote_noised *player)
{
    struct tacit_mechanism const *const mechanism = &player->config.mechanism;
    return mechanism->noisy ? tacit_nano_value(mechanism->epsilon_nano) : (double)INFINITY;
}

/* EXACT-BOUNDS 4.1 with M = 1 and delta = eta. */
static uint64_t first_rung(const struct tacit_vote_noised *player)
{
    double const level = log(4.0 * (double)arms_of(player) / player->config.failure);
    uint64_t const rung = tacit_bounds_first_rung(1, epsilon_of(player), level, FIRST_RADIUS);
    TACIT_ASSERT(rung > 0);
    return rung;
}

/* What was noised before says nothing any more, and is written over before it is read. */
static void start_ladder(struct tacit_vote_noised *player)
{
    TACIT_ASSERT(!has_sums(player));
    TACIT_ASSERT(player->active_count >= 1);
    player->epoch = 1;
    player->rung_before = 0;
    player->rung = first_rung(player);
    memset(vote_total_of(player), 0, arms_of(player) * sizeof(int64_t));
}

/* Pulls of the releases 1 .. e, which all arms of the set have. Result: S_e. */
static uint64_t lay_ladder(const struct tacit_vote_noised *player,
                           struct tacit_bounds_sum *releases)
{
    TACIT_ASSERT(player->epoch >= 1);
    TACIT_ASSERT(player->epoch <= TACIT_BOUNDS_RELEASES_MAX);
    uint64_t rung = 0;
    for (uint32_t i = 0; i < player->epoch; i++) {
        uint64_t const next =
            i == 0 ? first_rung(player) : tacit_bounds_next_rung(rung, player->config.growth);
        releases[i] = (struct tacit_bounds_sum){.pulls = next - rung, .noises = 1};
        rung = next;
    }
    return rung;
}

/* Out with k if UCB_k <= max LCB + accuracy, by a suffix of the releases (EXACT-BOUNDS 2.5). */
static uint32_t drop_beaten(struct tacit_vote_noised *player)
{
    TACIT_ASSERT(player->active_count >= 1);
    double const level =
        tacit_bounds_level(arms_of(player), (uint32_t)player->epoch, player->config.failure);
    struct tacit_bounds_sum releases[TACIT_BOUNDS_RELEASES_MAX];
    struct tacit_bounds_sum sum;
    uint64_t const rung = lay_ladder(player, releases);
    TACIT_ASSERT(rung == player->rung);
    uint32_t const first =
        tacit_bounds_suffix(releases, (uint32_t)player->epoch, epsilon_of(player), level, &sum);
    struct tacit_elimination const look = {.steps = vote_noised_of(player, 0),
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
    uint32_t const dropped =
        tacit_elimination_drop(&look, vote_active_of(player), vote_own_of(player));
    player->active_count -= dropped;
    TACIT_ASSERT(player->active_count >= 1);
    return dropped;
}

/* The draw that was granted counts. */
static void add_draw(struct tacit_vote_noised *player)
{
    TACIT_ASSERT(player->epoch >= 1);
    TACIT_ASSERT(draws_of(player) >= 1);
    for (uint32_t arm = 0; arm < arms_of(player); arm++)
        vote_total_of(player)[arm] += vote_noised_of(player, arm)[player->epoch - 1];
}

/* The next rung. False: there is no room for its release. */
static bool climb(struct tacit_vote_noised *player)
{
    if (player->epoch == TACIT_BOUNDS_RELEASES_MAX || player->rung >= TACIT_HORIZON_MAX / 4)
        return false;
    add_draw(player);
    player->rung_before = player->rung;
    player->rung = tacit_bounds_next_rung(player->rung, player->config.growth);
    player->epoch++;
    TACIT_ASSERT(player->rung > player->rung_before);
    return true;
}

/* From here on the draw may be used. */
static void judge(struct tacit_vote_noised *player, const struct tacit_vote_board *board,
                  struct tacit_vote_noised_update *update)
{
    TACIT_ASSERT(player->phase == PHASE_WAITING);
    bool const votes = tacit_vote_board_counts(board, player->config.player_id);
    if (drop_beaten(player) > 0 && votes && player->leave_us == TACIT_NEVER)
        player->leave_us = vote_block_tick(player);
    if (player->active_count > 1 && !climb(player)) {
        player->phase = PHASE_HALTED;
        return;
    }
    vote_block_open(player);
    vote_block_show(player, update);
}

/* ---- The board, of votes ---- */

/* Arms that are voted out leave the set, and the block. If none would be left in the set, it is all
 * that is not voted out, from the start of the ladder. */
static void apply_voted(struct tacit_vote_noised *player, const uint64_t *voted)
{
    TACIT_ASSERT(!has_sums(player));
    bool is_disjoint = true;
    for (size_t i = 0; i < vote_width_of(player); i++)
        is_disjoint = is_disjoint && (vote_active_of(player)[i] & voted[i]) == 0;
    for (size_t i = 0; i < vote_width_of(player); i++)
        vote_active_of(player)[i] =
            voted[i] & (is_disjoint ? UINT64_MAX : vote_active_of(player)[i]);
    player->active_count = tacit_bits_count(vote_active_of(player), arms_of(player));
    TACIT_ASSERT(player->active_count >= 1);
    if (is_disjoint)
        start_ladder(player);
    if (is_disjoint || player->active_count == 1)
        vote_block_open(player);
    else if (player->phase == PHASE_PULLING)
        vote_block_leave(player);
}

static void apply_reset(struct tacit_vote_noised *player, uint64_t reset)
{
    TACIT_ASSERT(reset > player->reset);
    player->reset = reset;
    player->has_sent = 0;
    player->leave_us = TACIT_NEVER;
    memset(vote_own_of(player), 0, vote_width_of(player) * sizeof(uint64_t));
    tacit_bits_fill(vote_active_of(player), arms_of(player));
    player->active_count = arms_of(player);
    start_ladder(player);
    vote_block_open(player);
}

/* Reads the board; the draw follows if the arms that are left have all their rewards. */
static void read_board(struct tacit_vote_noised *player, const struct tacit_vote_board *board,
                       struct tacit_vote_noised_update *update)
{
    struct tacit_vote_board_view view;
    if (player->phase == PHASE_IDLE || player->phase == PHASE_HALTED)
        return;
    tacit_vote_board_view(board, &view);
    bool const is_reset = view.reset > player->reset;
    bool const shrinks = !tacit_bits_within(vote_active_of(player), view.voted, arms_of(player));
    if (!is_reset && !shrinks)
        return;
    if (is_reset)
        apply_reset(player, view.reset);
    if (!tacit_bits_within(vote_active_of(player), view.voted, arms_of(player)))
        apply_voted(player, view.voted);
    update->persist = true;
    if (player->phase != PHASE_WAITING && player->phase != PHASE_RELEASING &&
        !vote_block_is_full(player))
        vote_block_show(player, update);
}

static void send_vote(struct tacit_vote_noised *player, struct tacit_vote_board *board,
                      struct tacit_vote_noised_update *update)
{
    TACIT_ASSERT(!has_sums(player));
    TACIT_ASSERT(player->leave_us == TACIT_NEVER);
    update->vote = (struct tacit_vote_row){player->reset, vote_own_of(player)};
    enum tacit_status const status =
        tacit_vote_board_mark(board, player->config.player_id, update->vote, &update->marks_new);
    TACIT_ASSERT(status == TACIT_OK);
    update->persist_board = true;
}

/* ---- What stands, of sums ---- */

static enum tacit_status release(struct tacit_vote_noised *player,
                                 const struct tacit_entropy *entropy,
                                 struct tacit_vote_noised_update *update)
{
    if (has_sums(player) && player->has_sent != 0) { /* the release before is to be settled first */
        update->persist = true;
        player->phase = PHASE_RELEASING;
        player->retry_us = player->leave_us;
        return TACIT_OK;
    }
    if (has_sums(player))
        memset(vote_noised_of(player, 0), 0, arms_of(player) * sizeof(int64_t));
    enum tacit_status const status = vote_block_release(player, entropy, update);
    if (status == TACIT_OK && has_sums(player))
        memcpy(vote_own_of(player), vote_active_of(player),
               vote_width_of(player) * sizeof(uint64_t));
    return status;
}

/* All arms that are in, from the start of a block; what was played and is not drawn is in none. */
static void start_afresh(struct tacit_vote_noised *player)
{
    TACIT_ASSERT(has_sums(player));
    memset(vote_total_of(player), 0, arms_of(player) * sizeof(int64_t));
    if (player->phase == PHASE_WAITING || player->phase == PHASE_GRANTED)
        return; /* that draw is settled first */
    player->retry_us = TACIT_NEVER;
    vote_block_open(player);
}

/* Arms that are out leave the block with what they brought; the draw follows if the others are
 * done. */
static void apply_arms(struct tacit_vote_noised *player, const uint64_t *in,
                       struct tacit_vote_noised_update *update)
{
    uint64_t *const active = vote_active_of(player);
    bool const grows = !tacit_bits_within(in, active, arms_of(player));
    if (!grows && tacit_bits_within(active, in, arms_of(player)))
        return;
    update->persist = true;
    memcpy(active, in, vote_width_of(player) * sizeof(uint64_t));
    player->active_count = tacit_bits_count(active, arms_of(player));
    TACIT_ASSERT(player->active_count >= 1);
    if (grows)
        start_afresh(player);
    else if (player->phase != PHASE_PULLING)
        return;
    else if (player->active_count == 1)
        vote_block_open(player);
    if (player->phase == PHASE_PULLING)
        vote_block_leave(player);
    if (!vote_block_is_full(player))
        vote_block_show(player, update);
}

/* Which arms are in, and whether the release before is settled: for that a draw may have waited. */
static enum tacit_status read_standing(struct tacit_vote_noised *player,
                                       const struct tacit_vote_standing *standing,
                                       const struct tacit_entropy *entropy,
                                       struct tacit_vote_noised_update *update)
{
    if (player->phase == PHASE_IDLE || player->phase == PHASE_HALTED)
        return TACIT_OK;
    if (player->has_sent != 0 && standing->settled >= draws_of(player)) {
        player->has_sent = 0;
        player->leave_us = TACIT_NEVER;
        update->persist = true;
    }
    apply_arms(player, standing->arms, update);
    bool const has_waited = player->phase == PHASE_RELEASING && player->retry_us == TACIT_NEVER;
    return has_waited && player->has_sent == 0 ? release(player, entropy, update) : TACIT_OK;
}

static void send_release(struct tacit_vote_noised *player, struct tacit_vote_noised_update *update)
{
    TACIT_ASSERT(draws_of(player) > 0);
    TACIT_ASSERT(player->leave_us == TACIT_NEVER);
    update->release = release_of(player);
    if (player->phase != PHASE_GRANTED)
        return;
    vote_block_open(player);
    vote_block_show(player, update);
}

/* ---- Handlers ---- */

void tacit_vote_noised_begin_term(struct tacit_vote_noised *player)
{
    TACIT_ASSERT(player != NULL);
    player->retry_us = TACIT_NEVER;
    if (has_sums(player)) {
        player->has_sent = 0;
        player->leave_us = TACIT_NEVER;
    }
    if (player->phase != PHASE_IDLE && player->phase != PHASE_HALTED)
        vote_block_open(player);
}

static void on_start(struct tacit_vote_noised *player, struct tacit_vote_noised_update *update)
{
    if (player->phase == PHASE_IDLE) {
        vote_block_open(player);
        update->persist = true;
    }
    /* Nobody knows whether it left: again. A tick of before may be one of another clock. */
    if (player->has_sent != 0 || player->leave_us != TACIT_NEVER)
        player->leave_us = vote_block_tick(player);
    if (player->phase == PHASE_WAITING)
        vote_block_ask(player, update);
    if (player->retry_us != TACIT_NEVER)
        player->retry_us = player->now_us + VOTE_RETRY_US;
    vote_block_show(player, update);
}

static enum tacit_status on_grant(struct tacit_vote_noised *player,
                                  const struct tacit_vote_board *board, uint64_t draw,
                                  struct tacit_vote_noised_update *update)
{
    if (draw == 0 || draw > draws_of(player))
        return TACIT_UNEXPECTED;
    if (draw < draws_of(player) || player->phase != PHASE_WAITING)
        return TACIT_OK; /* said again */
    TACIT_ASSERT(player->left_count == 0);
    update->persist = true;
    if (!has_sums(player)) {
        judge(player, board, update);
        return TACIT_OK;
    }
    player->phase = PHASE_GRANTED;
    player->leave_us = vote_block_tick(player);
    add_draw(player);
    return TACIT_OK;
}

static enum tacit_status on_timeout(struct tacit_vote_noised *player,
                                    struct tacit_vote_board *board,
                                    const struct tacit_entropy *entropy,
                                    struct tacit_vote_noised_update *update)
{
    if (player->now_us >= player->leave_us) {
        player->leave_us = TACIT_NEVER;
        update->persist = true;
        update->send = true;
        player->has_sent = 1;
        if (has_sums(player)) {
            send_release(player, update);
            return TACIT_OK; /* its bytes must last until the next step */
        }
        send_vote(player, board, update);
    }
    if (player->now_us < player->retry_us)
        return TACIT_OK;
    player->retry_us = TACIT_NEVER;
    return player->phase == PHASE_RELEASING ? release(player, entropy, update) : TACIT_OK;
}

/* ---- Public functions ---- */

enum tacit_status tacit_vote_noised_init(struct tacit_vote_noised *player,
                                         const struct tacit_vote_noised_config *config)
{
    TACIT_ASSERT(player != NULL);
    size_t const size = tacit_vote_noised_size(config);
    if (size == 0)
        return TACIT_INVALID;
    memset(player, 0, size);
    player->config = *config;
    player->ledger = tacit_ledger_init(config->budget_nano);
    player->leave_us = player->retry_us = TACIT_NEVER;
    player->active_count = config->arm_count;
    player->epoch = 1;
    tacit_bits_fill(vote_active_of(player), config->arm_count);
    if (!has_sums(player))
        start_ladder(player);
    return TACIT_OK;
}

/* Is the rung S_e, and the one before S_(e-1)? */
static bool ladder_is_possible(const struct tacit_vote_noised *player)
{
    struct tacit_bounds_sum releases[TACIT_BOUNDS_RELEASES_MAX];
    return player->epoch >= 1 && player->epoch <= TACIT_BOUNDS_RELEASES_MAX &&
           lay_ladder(player, releases) == player->rung &&
           player->rung - releases[player->epoch - 1].pulls == player->rung_before;
}

static bool is_possible(struct tacit_vote_noised *player)
{
    bool const is_drawn = player->phase == PHASE_WAITING || player->phase == PHASE_GRANTED;
    if (!vote_block_is_possible(player) || player->has_sent > 1 ||
        (is_drawn && draws_of(player) == 0))
        return false;
    if (!has_sums(player))
        return ladder_is_possible(player) && player->phase != PHASE_GRANTED;
    return player->epoch == 1 &&
           (player->phase != PHASE_GRANTED || player->leave_us != TACIT_NEVER) &&
           (draws_of(player) > 0 || player->has_sent == 0) &&
           (player->leave_us == TACIT_NEVER || player->phase == PHASE_GRANTED ||
            player->has_sent != 0);
}

enum tacit_status tacit_vote_noised_check(const struct tacit_vote_noised *player, size_t size,
                                          const struct tacit_vote_noised_config *config)
{
    TACIT_ASSERT(player != NULL);
    size_t const wanted = tacit_vote_noised_size(config);
    return wanted != 0 && size == wanted && memcmp(&player->config, config, sizeof *config) == 0 &&
                   is_possible(read_of(player))
               ? TACIT_OK
               : TACIT_MALFORMED;
}

enum tacit_status tacit_vote_noised_step(struct tacit_vote_noised *player,
                                         struct tacit_vote_board *board,
                                         const struct tacit_vote_event *event,
                                         const struct tacit_entropy *entropy,
                                         struct tacit_vote_noised_update *update)
{
    TACIT_ASSERT(player != NULL);
    TACIT_ASSERT(has_sums(player) == (board == NULL));
    TACIT_ASSERT(event->kind == TACIT_EVENT_START || event->now_us >= player->now_us);
    uint64_t const before_us = player->now_us;
    enum tacit_status status = TACIT_OK;
    *update = (struct tacit_vote_noised_update){.deadline_us = TACIT_NEVER};
    player->now_us = event->now_us;
    switch (event->kind) {
    case TACIT_EVENT_START:
        on_start(player, update);
        break;
    case TACIT_EVENT_REWARD:
        status = vote_block_add(player, &event->as.reward, update);
        break;
    case TACIT_EVENT_OFFER:
        if (has_sums(player))
            status = read_standing(player, &event->as.standing, entropy, update);
        else
            read_board(player, board, update);
        break;
    case TACIT_EVENT_RECEIVE:
        status = on_grant(player, board, event->as.granted, update);
        break;
    case TACIT_EVENT_TIMEOUT:
        status = on_timeout(player, board, entropy, update);
        break;
    case TACIT_EVENT_EXPLOITED:
        break;
    }
    if (status == TACIT_OK && vote_block_is_full(player))
        status = release(player, entropy, update);
    if (status != TACIT_OK && !update->persist) /* refused: byte for byte as before */
        player->now_us = before_us;
    update->deadline_us = vote_earlier(player->leave_us, player->retry_us);
    TACIT_IMPLIES(status == TACIT_OK, player->now_us == event->now_us);
    TACIT_IMPLIES(update->commit, player->phase == PHASE_WAITING);
    TACIT_ASSERT((player->phase == PHASE_PULLING) == (player->left_count > 0));
    TACIT_ASSERT(player->active_count >= 1);
    return status;
}

void tacit_vote_noised_digest(const struct tacit_vote_noised *player,
                              uint8_t digest[TACIT_SHA256_BYTES])
{
    struct tacit_vote_noised *const read = read_of(player);
    struct tacit_sha256 sha = tacit_sha256_init();
    TACIT_ASSERT(player->phase == PHASE_WAITING);
    if (has_sums(player)) {
        vote_release_digest(vote_own_of(read), vote_noised_of(read, 0), arms_of(read), digest);
        return;
    }
    tacit_sha256_update_number(&sha, draws_of(player));
    tacit_sha256_update_number(&sha, player->rung - player->rung_before);
    TACIT_BITS_EACH (arm, vote_active_of(read), arms_of(read)) {
        tacit_sha256_update_number(&sha, arm);
        tacit_sha256_update_number(&sha, (uint64_t)vote_noised_of(read, arm)[player->epoch - 1]);
    }
    tacit_sha256_final(&sha, digest);
}

int64_t tacit_vote_noised_total(const struct tacit_vote_noised *player, uint32_t arm)
{
    TACIT_ASSERT(arm < arms_of(player));
    return vote_total_of(read_of(player))[arm];
}

uint32_t tacit_vote_noised_best(const struct tacit_vote_noised *player)
{
    uint64_t const *const active = vote_active_of(read_of(player));
    int64_t const *const total = vote_total_of(read_of(player));
    uint32_t best = tacit_bits_next(active, arms_of(player), 0);
    TACIT_ASSERT(best < arms_of(player));
    TACIT_BITS_EACH (arm, active, arms_of(player))
        best = total[arm] > total[best] ? arm : best;
    return best;
}

bool tacit_vote_noised_is_decided(const struct tacit_vote_noised *player)
{
    return player->active_count == 1;
}

void tacit_vote_noised_view(const struct tacit_vote_noised *player,
                            struct tacit_vote_noised_view *view)
{
    struct tacit_vote_noised *const read = read_of(player);
    uint64_t const draws = draws_of(player);
    bool const waits = player->phase == PHASE_WAITING;
    TACIT_ASSERT(view != NULL);
    *view = (struct tacit_vote_noised_view){.draw = draws,
                                            .active = vote_active_of(read),
                                            .active_count = (uint32_t)player->active_count,
                                            .decided = player->active_count == 1,
                                            .waiting = waits,
                                            .halted = player->phase == PHASE_HALTED,
                                            .pulling = player->phase == PHASE_PULLING,
                                            .leave_us = player->leave_us,
                                            .deadline_us =
                                                vote_earlier(player->leave_us, player->retry_us),
                                            .ledger = &player->ledger,
                                            .epoch = (uint32_t)(!has_sums(player) ? player->epoch
                                                                : waits           ? draws
                                                                                  : draws + 1),
                                            .dropped = has_sums(player) ? NULL : vote_own_of(read)};
    if (has_sums(player))
        view->release = release_of(read);
}
