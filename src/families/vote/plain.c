/* Votes of raw rewards (Alg. 2), each player alone (1-PRIVACY), and one learner that sees every
 * reward (0-PRIVACY): a player alone, too, who is active in everybody's name. */
#include "loop.h"

/* Randomised response keeps the order of the means and makes each gap smaller by 1 - 2 flip. */
static struct tacit_vote_config config_of(const struct vote_world *world, uint32_t player)
{
    bool const votes = world->sharing == VOTE_SHARING_VOTES;
    struct tacit_vote_config config = {.player_id = player,
                                       .player_count = world->player_count,
                                       .sharing = votes ? TACIT_VOTE_SHARING_VOTES
                                                        : TACIT_VOTE_SHARING_NONE,
                                       .subroutine = world->subroutine};
    config.subroutine.accuracy *= 1 - 2 * world->flip;
    return config;
}

static size_t player_bytes(const struct vote_world *world)
{
    struct tacit_vote_config const config = config_of(world, 0);
    return tacit_vote_player_size(&config);
}

static enum tacit_status start(struct vote_loop *loop, uint32_t player)
{
    struct tacit_vote_config const config = config_of(loop->world, player);
    return tacit_vote_player_init(vote_loop_player(loop, player), &config);
}

/* Alg. 2 l. 2-13. */
static uint32_t offer(struct vote_loop *loop, uint32_t player)
{
    struct tacit_entropy const entropy = tacit_rng_entropy(&loop->chances[player]);
    uint32_t arm;
    enum tacit_status const status =
        tacit_vote_player_offer(vote_loop_player(loop, player), loop->shared, &entropy, &arm);
    TACIT_ASSERT(status == TACIT_OK);
    return arm;
}

/* 0-PRIVACY: what all see of a reward. With randomised response it is 0 or 1 with the reward's mean
 * first (Gajane, Urvoy, Kaufmann 2018, for rewards that are 0 or 1). */
static double shared_reward(struct vote_loop *loop, uint32_t player, double reward)
{
    double const flip = loop->world->flip;
    if (flip <= 0)
        return reward;
    bool const is_one = tacit_rng_bernoulli(&loop->rewards[player], reward);
    return is_one != tacit_rng_bernoulli(&loop->rewards[player], flip) ? 1.0 : 0.0;
}

/* Alg. 2 l. 13-21. */
static void reward(struct vote_loop *loop, uint32_t player, uint32_t arm, double reward)
{
    uint32_t const marks_new = tacit_vote_player_reward(
        vote_loop_player(loop, player), loop->shared, arm, shared_reward(loop, player, reward));
    if (marks_new > 0)
        vote_loop_on_marks(loop, marks_new);
    if (loop->is_one)
        loop->outcome->messages++;
}

static bool is_decided(const struct vote_loop *loop, uint32_t player)
{
    return tacit_vote_player_is_decided(vote_loop_player(loop, player));
}

static uint32_t answer(const struct vote_loop *loop, uint32_t player, const uint64_t **left)
{
    struct tacit_best_arm_view view;
    tacit_vote_player_view(vote_loop_player(loop, player), &view);
    *left = view.remaining;
    return view.answer;
}

const struct vote_loop_rule vote_plain_rule = {.chance_purpose = VOTE_PURPOSE_ORDER,
                                               .player_bytes = player_bytes,
                                               .shared_bytes = vote_loop_board_bytes,
                                               .share = vote_loop_share_board,
                                               .start = start,
                                               .offer = offer,
                                               .reward = reward,
                                               .is_decided = is_decided,
                                               .answer = answer};
