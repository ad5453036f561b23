/* Private votes (sound mode): the hub grants every draw at once, and a vote leaves at the next
 * sample. */
#include "loop.h"

#define TICK_US 1u /* a sample is two microseconds of virtual time */

static struct tacit_vote_private_config config_of(const struct vote_world *world, uint32_t player)
{
    TACIT_ASSERT(world->mechanism != NULL);
    return (struct tacit_vote_private_config){.player_id = player,
                                              .player_count = world->player_count,
                                              .arm_count = world->subroutine.arm_count,
                                              .accuracy = world->subroutine.accuracy,
                                              .failure = world->subroutine.failure,
                                              .growth = 2,
                                              .mechanism = *world->mechanism,
                                              .budget_nano =
                                                  tacit_mechanism_cost_nano(world->mechanism),
                                              .tick_us = TICK_US};
}

static size_t player_bytes(const struct vote_world *world)
{
    struct tacit_vote_private_config const config = config_of(world, 0);
    return tacit_vote_private_size(&config);
}

static struct tacit_vote_noised_update step(struct vote_loop *loop, uint32_t player,
                                            const struct tacit_vote_event *event)
{
    struct tacit_entropy const entropy = tacit_rng_entropy(&loop->chances[player]);
    struct tacit_vote_noised_update update;
    enum tacit_status const status = tacit_vote_private_step(
        vote_loop_player(loop, player), loop->shared, event, &entropy, &update);
    TACIT_ASSERT(status == TACIT_OK);
    if (update.replan)
        vote_loop_plan(loop, player, update.plan, update.plan_count);
    return update;
}

/* One event, and what the driver does about it: plan, grant, tick. */
static void drive(struct vote_loop *loop, uint32_t player, const struct tacit_vote_event *event)
{
    struct tacit_vote_noised_update update = step(loop, player, event);
    if (update.commit) {
        struct tacit_vote_message const grant = {
            .kind = TACIT_VOTE_GRANT, .from = TACIT_HUB, .to = player, .draw = update.draw};
        update =
            step(loop, player,
                 &(struct tacit_vote_event){
                     .now_us = event->now_us, .kind = TACIT_EVENT_RECEIVE, .as.message = &grant});
    }
    if (update.deadline_us == TACIT_NEVER)
        return;
    update =
        step(loop, player,
             &(struct tacit_vote_event){.now_us = update.deadline_us, .kind = TACIT_EVENT_TIMEOUT});
    TACIT_ASSERT(update.send);
    vote_loop_on_marks(loop, update.marks_new);
}

static enum tacit_status start(struct vote_loop *loop, uint32_t player)
{
    struct tacit_vote_private_config const config = config_of(loop->world, player);
    enum tacit_status const status =
        tacit_vote_private_init(vote_loop_player(loop, player), &config);
    if (status == TACIT_OK)
        drive(loop, player, &(struct tacit_vote_event){.kind = TACIT_EVENT_START});
    return status;
}

static uint32_t answer(const struct vote_loop *loop, uint32_t player, const uint64_t **left)
{
    struct tacit_vote_noised_view view;
    tacit_vote_private_view(vote_loop_player(loop, player), &view);
    *left = view.active;
    return tacit_vote_private_best(vote_loop_player(loop, player));
}

/* The arms of the plan in turn; without a plan the best of what was noised. */
static uint32_t offer(struct vote_loop *loop, uint32_t player)
{
    struct vote_plan_left *const own = &loop->plans[player];
    uint64_t const *left;
    drive(loop, player,
          &(struct tacit_vote_event){.now_us = loop->outcome->samples * 2,
                                     .kind = TACIT_EVENT_OFFER});
    if (own->left_count > 0)
        return vote_loop_turn(loop, player);
    if (own->settled == TACIT_NO_ARM)
        own->settled = answer(loop, player, &left);
    return own->settled;
}

static void reward(struct vote_loop *loop, uint32_t player, uint32_t arm, double reward)
{
    struct tacit_vote_event event = {.now_us = loop->outcome->samples * 2 - 1,
                                     .kind = TACIT_EVENT_REWARD};
    if (vote_loop_count(loop, player, arm, reward, &event.as.reward))
        drive(loop, player, &event);
}

static bool is_decided(const struct vote_loop *loop, uint32_t player)
{
    return tacit_vote_private_is_decided(vote_loop_player(loop, player));
}

const struct vote_loop_rule vote_private_rule = {.chance_purpose = TACIT_PURPOSE_NOISE,
                                                 .player_bytes = player_bytes,
                                                 .shared_bytes = vote_loop_board_bytes,
                                                 .share = vote_loop_share_board,
                                                 .start = start,
                                                 .offer = offer,
                                                 .reward = reward,
                                                 .reset = vote_loop_reset_board,
                                                 .is_decided = is_decided,
                                                 .answer = answer};
