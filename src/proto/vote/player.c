/* A player of DECENTRALIZED ELIMINATION (Feraud et al., Alg. 2): active now and then, it reads the
 * board, shrinks its set, plays one arm, and tells which arms it has eliminated itself. */
#include "tacit/vote.h"
#include <string.h>

struct tacit_vote_player {
    struct tacit_vote_config config;
    uint64_t reset;   /* the reset that the subroutine plays */
    uint64_t words[]; /* the subroutine */
};

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
    if (tacit_vote_player_size(config) == 0)
        return TACIT_INVALID;
    player->config = *config;
    player->reset = 0;
    return tacit_best_arm_init(subroutine_of(player), &config->subroutine);
}

static bool votes(const struct tacit_vote_player *player)
{
    return player->config.sharing == TACIT_VOTE_SHARING_VOTES;
}

/* What was read stays read if no arm can be drawn: reading is idempotent. DSER4: the reset on the
 * board is everybody's. */
enum tacit_status tacit_vote_player_offer(struct tacit_vote_player *player,
                                          const struct tacit_vote_board *board,
                                          const struct tacit_entropy *entropy, uint32_t *arm)
{
    struct tacit_vote_board_view view;
    tacit_vote_board_view(board, &view);
    TACIT_ASSERT(view.reset >= player->reset);
    if (view.reset > player->reset) {
        player->reset = view.reset;
        tacit_best_arm_reset(subroutine_of(player));
    }
    if (votes(player))
        tacit_best_arm_restrict(subroutine_of(player), view.voted);
    return tacit_best_arm_next(subroutine_of(player), entropy, arm);
}

/* l. 16-19: the whole set of what this player has eliminated. */
static uint32_t put_marks(struct tacit_vote_player *player, struct tacit_vote_board *board)
{
    struct tacit_best_arm_view view;
    uint32_t marks_new;
    tacit_best_arm_view(subroutine_of(player), &view);
    enum tacit_status const status =
        tacit_vote_board_mark(board, player->config.player_id,
                              (struct tacit_vote_row){player->reset, view.dropped}, &marks_new);
    TACIT_ASSERT(status == TACIT_OK);
    return marks_new;
}

/* A sample of before a reset says nothing about the arms as they are now. */
uint32_t tacit_vote_player_reward(struct tacit_vote_player *player, struct tacit_vote_board *board,
                                  uint32_t arm, double reward)
{
    TACIT_ASSERT(arm < player->config.subroutine.arm_count);
    TACIT_ASSERT(reward >= 0 && reward <= 1);
    struct tacit_best_arm *const subroutine = subroutine_of(player);
    struct tacit_vote_board_view view;
    tacit_vote_board_view(board, &view);
    if (view.reset != player->reset)
        return 0;
    uint64_t const epochs_before = tacit_best_arm_epochs(subroutine);
    enum tacit_status const status = tacit_best_arm_observe(subroutine, arm, reward);
    TACIT_ASSERT(status == TACIT_OK);
    bool const is_done = tacit_best_arm_epochs(subroutine) != epochs_before;
    return is_done && votes(player) && tacit_vote_board_counts(board, player->config.player_id)
               ? put_marks(player, board)
               : 0;
}

bool tacit_vote_player_is_decided(const struct tacit_vote_player *player)
{
    return tacit_best_arm_is_decided((const struct tacit_best_arm *)(const void *)player->words);
}

void tacit_vote_player_view(const struct tacit_vote_player *player,
                            struct tacit_best_arm_view *view)
{
    TACIT_ASSERT(player != NULL);
    tacit_best_arm_view((const struct tacit_best_arm *)(const void *)player->words, view);
}
