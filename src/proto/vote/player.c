/* A player of DECENTRALIZED ELIMINATION (Feraud et al., Alg. 2): active now and then, it reads the
 * board, shrinks its set, plays one arm, and tells which arms it has eliminated itself. */
#include "tacit/vote.h"
#include <string.h>

struct tacit_vote_player {
    uint64_t run_id;
    uint64_t player_id;
    uint64_t player_count;
    uint64_t sharing;
    uint64_t now_us;
    uint64_t reset;      /* the reset that the subroutine plays */
    uint64_t open_reset; /* the reset of the open pull */
    uint64_t open_arm;   /* TACIT_NO_ARM: none is open */
    uint64_t marks_sent; /* marks of this reset that have left */
    struct tacit_pull_block plan;
    uint64_t words[]; /* the subroutine */
};

_Static_assert(sizeof(struct tacit_pull_block) == 16, "a block is two words");

static struct tacit_best_arm *subroutine_of(struct tacit_vote_player *player)
{
    return (struct tacit_best_arm *)(void *)player->words;
}

static bool config_is_valid(const struct tacit_vote_config *config)
{
    return config->player_count <= TACIT_AGENTS_MAX && config->player_id < config->player_count &&
           (config->sharing == TACIT_VOTE_SHARING_VOTES ||
            config->sharing == TACIT_VOTE_SHARING_NONE);
}

size_t tacit_vote_player_size(const struct tacit_vote_config *config)
{
    TACIT_ASSERT(config != NULL);
    size_t const subroutine = tacit_best_arm_size(&config->subroutine);
    if (!config_is_valid(config) || subroutine == 0)
        return 0;
    return sizeof(struct tacit_vote_player) + subroutine;
}

enum tacit_status tacit_vote_player_init(struct tacit_vote_player *player,
                                         const struct tacit_vote_config *config)
{
    TACIT_ASSERT(player != NULL);
    size_t const size = tacit_vote_player_size(config);
    if (size == 0)
        return TACIT_INVALID;
    memset(player, 0, size);
    player->run_id = config->run_id;
    player->player_id = config->player_id;
    player->player_count = config->player_count;
    player->sharing = (uint64_t)config->sharing;
    player->open_arm = TACIT_NO_ARM;
    return tacit_best_arm_init(subroutine_of(player), &config->subroutine);
}

/* l. 16-19: the whole set of what this player has eliminated, and how many marks of it are new. */
static void send_marks(struct tacit_vote_player *player, struct tacit_vote_update *update)
{
    TACIT_ASSERT(!update->send);
    struct tacit_best_arm_view view;
    tacit_best_arm_view(subroutine_of(player), &view);
    uint64_t marks = 0;
    for (uint32_t arm = 0; arm < view.arm_count; arm++)
        marks += tacit_bits_has(view.dropped, arm) ? 1u : 0u;
    TACIT_ASSERT(marks >= player->marks_sent);
    update->marks_new = (uint32_t)(marks - player->marks_sent);
    player->marks_sent = marks;
    update->send = true;
    update->message = (struct tacit_vote_message){.kind = TACIT_VOTE_MARKS,
                                                  .from = (uint32_t)player->player_id,
                                                  .to = TACIT_EVERYONE,
                                                  .run_id = player->run_id,
                                                  .reset = player->reset,
                                                  .marks = view.dropped};
}

/* After a restart nobody knows whether the last vote left. */
static void on_start(struct tacit_vote_player *player, struct tacit_vote_update *update)
{
    if (player->marks_sent > 0)
        send_marks(player, update);
}

/* l. 3-12. DSER4: the reset on the board is everybody's. */
static void read_board(struct tacit_vote_player *player, const struct tacit_vote_board *board)
{
    TACIT_ASSERT(player->open_arm == TACIT_NO_ARM);
    struct tacit_vote_board_view view;
    tacit_vote_board_view(board, &view);
    TACIT_ASSERT(view.reset >= player->reset);
    if (view.reset > player->reset) {
        player->reset = view.reset;
        player->marks_sent = 0;
        tacit_best_arm_reset(subroutine_of(player));
    }
    if (player->sharing == TACIT_VOTE_SHARING_VOTES)
        tacit_best_arm_restrict(subroutine_of(player), view.voted);
}

/* l. 2-13: active. What was read stays read if the arm cannot be drawn: reading is idempotent. */
static enum tacit_status on_offer(struct tacit_vote_player *player,
                                  const struct tacit_vote_board *board,
                                  const struct tacit_entropy *entropy,
                                  struct tacit_vote_update *update)
{
    if (player->open_arm != TACIT_NO_ARM)
        return TACIT_OK;
    read_board(player, board);
    uint32_t arm;
    enum tacit_status const status = tacit_best_arm_next(subroutine_of(player), entropy, &arm);
    if (status != TACIT_OK)
        return status;
    TACIT_ASSERT(arm != TACIT_NO_ARM);
    player->open_arm = arm;
    player->open_reset = player->reset;
    player->plan.arm = arm;
    player->plan.count = 1;
    update->plan = &player->plan;
    update->plan_count = 1;
    update->persist = true;
    return TACIT_OK;
}

/* l. 13-20. A sample of before a reset says nothing about the arms as they are now. */
static enum tacit_status on_reward(struct tacit_vote_player *player, struct tacit_vote_board *board,
                                   const struct tacit_reward *reward,
                                   struct tacit_vote_update *update)
{
    struct tacit_vote_board_view board_view;
    tacit_vote_board_view(board, &board_view);
    if (player->open_arm == TACIT_NO_ARM || reward->arm != player->open_arm || reward->count != 1)
        return TACIT_INVALID;
    if (!(reward->sum.real >= 0 && reward->sum.real <= 1))
        return TACIT_INVALID;
    player->open_arm = TACIT_NO_ARM;
    update->persist = true;
    if (board_view.reset != player->open_reset)
        return TACIT_OK;
    uint64_t const epochs_before = tacit_best_arm_epochs(subroutine_of(player));
    enum tacit_status const status =
        tacit_best_arm_observe(subroutine_of(player), reward->arm, reward->sum.real);
    TACIT_ASSERT(status == TACIT_OK);
    if (player->sharing == TACIT_VOTE_SHARING_NONE ||
        !tacit_vote_board_counts(board, (uint32_t)player->player_id) ||
        tacit_best_arm_epochs(subroutine_of(player)) == epochs_before)
        return TACIT_OK;
    send_marks(player, update);
    update->persist_board = true;
    enum tacit_status const taken = tacit_vote_board_apply(board, &update->message, NULL);
    TACIT_ASSERT(taken == TACIT_OK);
    return TACIT_OK;
}

enum tacit_status tacit_vote_player_step(struct tacit_vote_player *player,
                                         struct tacit_vote_board *board,
                                         const struct tacit_vote_event *event,
                                         const struct tacit_entropy *entropy,
                                         struct tacit_vote_update *update)
{
    TACIT_ASSERT(player != NULL);
    TACIT_ASSERT(board != NULL);
    TACIT_ASSERT(player->open_reset <= player->reset);
    TACIT_ASSERT(event->kind == TACIT_EVENT_START || event->now_us >= player->now_us);
    *update = (struct tacit_vote_update){.deadline_us = TACIT_NEVER};
    enum tacit_status status = TACIT_OK;
    switch (event->kind) {
    case TACIT_EVENT_START:
        on_start(player, update);
        break;
    case TACIT_EVENT_OFFER:
        status = on_offer(player, board, entropy, update);
        break;
    case TACIT_EVENT_REWARD:
        status = on_reward(player, board, &event->as.reward, update);
        break;
    case TACIT_EVENT_RECEIVE:
        status = tacit_vote_board_apply(board, event->as.message, NULL);
        update->persist_board = status == TACIT_OK;
        break;
    case TACIT_EVENT_EXPLOITED:
    case TACIT_EVENT_TIMEOUT:
        break;
    }
    if (status == TACIT_OK)
        player->now_us = event->now_us;
    TACIT_IMPLIES(update->plan_count > 0, player->open_arm == player->plan.arm);
    TACIT_IMPLIES(update->send, update->message.from == player->player_id);
    return status;
}

bool tacit_vote_player_is_decided(const struct tacit_vote_player *player)
{
    return tacit_best_arm_is_decided((const struct tacit_best_arm *)(const void *)player->words);
}

void tacit_vote_player_view(const struct tacit_vote_player *player,
                            struct tacit_vote_player_view *view)
{
    TACIT_ASSERT(player != NULL);
    TACIT_ASSERT(view != NULL);
    tacit_best_arm_view((const struct tacit_best_arm *)(const void *)player->words,
                        &view->subroutine);
    view->reset = player->reset;
    view->decided = view->subroutine.decided;
    view->is_open = player->open_arm != TACIT_NO_ARM;
    view->open_arm = (uint32_t)player->open_arm;
}
