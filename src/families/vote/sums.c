/* Published sums (sound mode): the hub grants every draw at once, and a release leaves at the next
 * sample. */
#include <math.h>
#include "loop.h"

#define TICK_US 1u /* a sample is two microseconds of virtual time */
#define GROWTH 1.25

struct tacit_vote_pool_config vote_pool_config(const struct vote_world *world)
{
    struct tacit_mechanism const *const mechanism = world->mechanism;
    return (struct tacit_vote_pool_config){
        .player_count = world->player_count,
        .arm_count = world->subroutine.arm_count,
        .accuracy = world->subroutine.accuracy,
        .failure = world->subroutine.failure,
        .epsilon = mechanism->noisy ? (double)mechanism->epsilon_nano / 1e9 : (double)INFINITY,
        .block = world->block,
        .growth = GROWTH};
}

static struct tacit_vote_sums_config config_of(const struct vote_world *world, uint32_t player)
{
    TACIT_ASSERT(world->mechanism != NULL);
    return (struct tacit_vote_sums_config){.player_id = player,
                                           .player_count = world->player_count,
                                           .arm_count = world->subroutine.arm_count,
                                           .block = world->block,
                                           .mechanism = *world->mechanism,
                                           .budget_nano =
                                               tacit_mechanism_cost_nano(world->mechanism),
                                           .tick_us = TICK_US};
}

static size_t player_bytes(const struct vote_world *world)
{
    struct tacit_vote_sums_config const config = config_of(world, 0);
    return tacit_vote_sums_size(&config);
}

static size_t pool_bytes(const struct vote_world *world)
{
    struct tacit_vote_pool_config const config = vote_pool_config(world);
    return tacit_vote_pool_size(&config);
}

static enum tacit_status share(struct vote_loop *loop)
{
    struct tacit_vote_pool_config const config = vote_pool_config(loop->world);
    return tacit_vote_pool_init(loop->shared, &config);
}

static void publish(struct vote_loop *loop, const struct tacit_vote_release *release)
{
    struct tacit_vote_pool_view view;
    enum tacit_status const status = tacit_vote_pool_take(loop->shared, release);
    TACIT_ASSERT(status == TACIT_OK);
    loop->outcome->messages += tacit_bits_count(release->arms, loop->world->subroutine.arm_count);
    tacit_vote_pool_look(loop->shared, &view);
    vote_loop_out(loop, view.active, view.active_count);
}

static struct tacit_vote_sums_update step(struct vote_loop *loop, uint32_t player,
                                          const struct tacit_vote_sums_event *event)
{
    struct tacit_entropy const entropy = tacit_rng_entropy(&loop->chances[player]);
    struct tacit_vote_sums_update update;
    enum tacit_status const status = tacit_vote_sums_step(vote_loop_player(loop, player),
                                                          loop->shared, event, &entropy, &update);
    TACIT_ASSERT(status == TACIT_OK);
    if (update.replan)
        vote_loop_plan(loop, player, update.plan, update.plan_count);
    return update;
}

/* One event, and what the driver does about it: block, grant, tick. */
static void happen(struct vote_loop *loop, uint32_t player,
                   const struct tacit_vote_sums_event *event)
{
    struct tacit_vote_sums_update update = step(loop, player, event);
    if (!update.commit)
        return;
    update = step(loop, player,
                  &(struct tacit_vote_sums_event){.now_us = event->now_us,
                                                  .kind = TACIT_EVENT_RECEIVE,
                                                  .as.grant = {update.cell, loop->granted++}});
    update = step(
        loop, player,
        &(struct tacit_vote_sums_event){.now_us = update.deadline_us, .kind = TACIT_EVENT_TIMEOUT});
    TACIT_ASSERT(update.send);
    publish(loop, &update.release);
}

static enum tacit_status start(struct vote_loop *loop, uint32_t player)
{
    struct tacit_vote_sums_config const config = config_of(loop->world, player);
    enum tacit_status const status = tacit_vote_sums_init(vote_loop_player(loop, player), &config);
    if (status == TACIT_OK)
        happen(loop, player, &(struct tacit_vote_sums_event){.kind = TACIT_EVENT_START});
    return status;
}

/* The largest of all published sums; of equal ones the lowest index. */
static uint32_t answer(const struct vote_loop *loop, uint32_t player, const uint64_t **left)
{
    struct tacit_vote_pool_view view;
    uint32_t const arms = loop->world->subroutine.arm_count;
    (void)player;
    tacit_vote_pool_look(loop->shared, &view);
    *left = view.active;
    uint32_t best = tacit_bits_next(view.active, arms, 0);
    for (uint32_t arm = best; arm < arms; arm = tacit_bits_next(view.active, arms, arm + 1))
        best = view.sums[arm] > view.sums[best] ? arm : best;
    return best;
}

/* The arms of the block in turn; without a block the answer. */
static uint32_t offer(struct vote_loop *loop, uint32_t player)
{
    uint64_t const *left;
    happen(loop, player,
           &(struct tacit_vote_sums_event){.now_us = loop->outcome->samples * 2,
                                           .kind = TACIT_EVENT_OFFER});
    return loop->seats[player].left_count > 0 ? vote_loop_turn(loop, player)
                                              : answer(loop, player, &left);
}

static void reward(struct vote_loop *loop, uint32_t player, uint32_t arm, double reward)
{
    struct tacit_vote_sums_event event = {.now_us = loop->outcome->samples * 2 - 1,
                                          .kind = TACIT_EVENT_REWARD};
    if (vote_loop_count(loop, player, arm, reward, &event.as.reward))
        happen(loop, player, &event);
}

static bool is_decided(const struct vote_loop *loop, uint32_t player)
{
    struct tacit_vote_sums_view view;
    tacit_vote_sums_look(vote_loop_player(loop, player), &view);
    return view.decided;
}

const struct vote_loop_rule vote_sums_rule = {.chance_purpose = TACIT_PURPOSE_NOISE,
                                              .player_bytes = player_bytes,
                                              .shared_bytes = pool_bytes,
                                              .share = share,
                                              .start = start,
                                              .offer = offer,
                                              .reward = reward,
                                              .is_decided = is_decided,
                                              .answer = answer};
