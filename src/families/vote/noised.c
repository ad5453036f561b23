/* Players whose rewards leave them noised only (sound mode): private votes and published sums. The
 * hub grants every draw at once, and a vote or release leaves at the next sample. With two
 * aggregators so many players make a round, each of them once: who is in it already waits for its
 * grant until it closes, and only the total with both's noise is published. */
#include <string.h>
#include "loop.h"

#define TICK_US 1u /* a sample is two microseconds of virtual time */

struct tacit_vote_pool_config vote_pool_config(const struct vote_world *world)
{
    struct tacit_mechanism const *const mechanism =
        world->together > 0 ? &world->aggregators.mechanism : world->mechanism;
    return (struct tacit_vote_pool_config){.player_count = world->player_count,
                                           .arm_count = world->subroutine.arm_count,
                                           .accuracy = world->subroutine.accuracy,
                                           .failure = world->subroutine.failure,
                                           .epsilon = tacit_mechanism_epsilon(mechanism),
                                           .block = world->block,
                                           .growth = TACIT_VOTE_POOL_GROWTH,
                                           .together = world->together,
                                           .floor_milli = world->floor_milli};
}

static bool has_sums(const struct vote_world *world)
{
    return world->sharing == VOTE_SHARING_SUMS;
}

static struct tacit_vote_noised_config config_of(const struct vote_world *world, uint32_t player)
{
    TACIT_ASSERT(world->mechanism != NULL);
    return (struct tacit_vote_noised_config){.player_id = player,
                                             .player_count = world->player_count,
                                             .arm_count = world->subroutine.arm_count,
                                             .accuracy = world->subroutine.accuracy,
                                             .failure = world->subroutine.failure,
                                             .growth = 2,
                                             .block = has_sums(world) ? world->block : 0,
                                             .mechanism = *world->mechanism,
                                             .budget_nano =
                                                 tacit_mechanism_cost_nano(world->mechanism),
                                             .tick_us = TICK_US};
}

/* What a player still has to pull of its plan; its core is behind it. */
struct plan {
    uint64_t left_count;
    uint32_t turn;    /* where the round robin over the plan is */
    uint32_t settled; /* the arm that is played without a plan; TACIT_NO_ARM: not looked up */
    /* left K | core */
    uint64_t words[];
};

static size_t player_bytes(const struct vote_world *world)
{
    struct tacit_vote_noised_config const config = config_of(world, 0);
    size_t const core = tacit_vote_noised_size(&config);
    size_t const left = world->subroutine.arm_count * sizeof(uint64_t);
    return core > 0 ? sizeof(struct plan) + left + core : 0;
}

static struct tacit_vote_noised *core_of(const struct vote_loop *loop, uint32_t player)
{
    struct plan *const plan = vote_loop_player(loop, player);
    return (struct tacit_vote_noised *)(void *)(plan->words + loop->world->subroutine.arm_count);
}

/* ---- The pool, of sums ---- */

/* What is shared: the pool, and with two aggregators a round, behind it. */
struct round {
    struct tacit_sim_aggregators aggregators;
    uint64_t count; /* of players whose releases are in it */
    /* in it N bits | waiting N bits | totals K */
    uint64_t words[];
};

static size_t pool_bytes(const struct vote_world *world)
{
    struct tacit_vote_pool_config const config = vote_pool_config(world);
    return tacit_vote_pool_size(&config);
}

static size_t shared_bytes(const struct vote_world *world)
{
    if (!has_sums(world))
        return vote_loop_board_bytes(world);
    size_t const pool = pool_bytes(world);
    size_t const words = 2 * TACIT_BITS_WORDS(world->player_count) + world->subroutine.arm_count;
    bool const has_round = pool > 0 && world->together > 0;
    return pool + (has_round ? sizeof(struct round) + words * sizeof(uint64_t) : 0);
}

static struct round *round_of(const struct vote_loop *loop)
{
    TACIT_ASSERT(loop->world->together > 0);
    return (struct round *)(void *)((unsigned char *)loop->shared + pool_bytes(loop->world));
}

static uint64_t *waiting_of(const struct vote_loop *loop)
{
    return round_of(loop)->words + TACIT_BITS_WORDS(loop->world->player_count);
}

static int64_t *totals_of(const struct vote_loop *loop)
{
    return (int64_t *)(void *)(waiting_of(loop) + TACIT_BITS_WORDS(loop->world->player_count));
}

/* Of sums: an empty pool, and with two aggregators an empty round. */
static enum tacit_status share(struct vote_loop *loop)
{
    struct vote_world const *const world = loop->world;
    if (!has_sums(world))
        return vote_loop_share_board(loop);
    struct tacit_vote_pool_config const config = vote_pool_config(world);
    if (world->together > 0) {
        struct round *const round = round_of(loop);
        memset(round, 0, shared_bytes(world) - pool_bytes(world));
        round->aggregators = world->aggregators;
        tacit_sim_aggregators_begin(&round->aggregators, world->seed, world->run);
    }
    return tacit_vote_pool_init(loop->shared, &config);
}

/* Everybody has this release at once; each number of it is a message. The pool may drop arms then.
 */
static void publish(struct vote_loop *loop, struct tacit_vote_release release)
{
    struct tacit_vote_pool_view view;
    enum tacit_status const status = tacit_vote_pool_add(loop->shared, release);
    TACIT_ASSERT(status == TACIT_OK);
    loop->outcome->messages += tacit_bits_count(release.arms, loop->world->subroutine.arm_count);
    tacit_vote_pool_view(loop->shared, &view);
    vote_note_left(loop->world, loop->outcome, loop->trace, view.active);
}

/* The round has all its players: its total, of the arms that are left, is the pool's next release.
 * A request to the helper and an answer. */
static void close_round(struct vote_loop *loop)
{
    struct round *const round = round_of(loop);
    uint32_t const arms = loop->world->subroutine.arm_count;
    int64_t *const totals = totals_of(loop);
    struct tacit_vote_pool_view view;
    tacit_vote_pool_view(loop->shared, &view);
    TACIT_ASSERT(round->count == loop->world->together);
    tacit_sim_aggregators_add(&round->aggregators, totals, arms);
    for (uint32_t arm = 0; arm < arms; arm++)
        if (!tacit_bits_has(view.active, arm))
            totals[arm] = 0;
    loop->outcome->messages += 2;
    loop->outcome->messages_hub += 2;
    publish(loop, (struct tacit_vote_release){view.active, totals});
    round->count = 0;
    memset(round->words, 0, TACIT_BITS_WORDS(loop->world->player_count) * sizeof(uint64_t));
    memset(totals, 0, arms * sizeof *totals);
}

/* What a player masks goes to the hub. */
static void add_up(struct vote_loop *loop, uint32_t player, struct tacit_vote_release release)
{
    struct round *const round = round_of(loop);
    uint32_t const arms = loop->world->subroutine.arm_count;
    TACIT_ASSERT(!tacit_bits_has(round->words, player));
    tacit_bits_add(round->words, player);
    round->count++;
    for (uint32_t arm = 0; arm < arms; arm++)
        totals_of(loop)[arm] += release.sums[arm];
    uint64_t const numbers = tacit_bits_count(release.arms, arms);
    loop->outcome->messages += numbers;
    loop->outcome->messages_hub += numbers;
    if (round->count == loop->world->together)
        close_round(loop);
}

/* ---- Players ---- */

/* The player has this plan from now on. */
static void begin_plan(const struct vote_loop *loop, struct plan *plan,
                       const struct tacit_vote_noised_update *update)
{
    memset(plan->words, 0, loop->world->subroutine.arm_count * sizeof plan->words[0]);
    plan->left_count = 0;
    plan->settled = TACIT_NO_ARM;
    TACIT_ASSERT(update->plan_count <= loop->world->subroutine.arm_count);
    for (uint32_t i = 0; i < update->plan_count; i++) {
        plan->words[update->plan[i].arm] = update->plan[i].count;
        plan->left_count += update->plan[i].count;
    }
}

static struct tacit_vote_noised_update step(struct vote_loop *loop, uint32_t player,
                                            const struct tacit_vote_event *event)
{
    struct tacit_entropy const entropy = tacit_rng_entropy(&loop->chances[player]);
    struct tacit_vote_noised_update update;
    enum tacit_status const status =
        tacit_vote_noised_step(core_of(loop, player), has_sums(loop->world) ? NULL : loop->shared,
                               event, &entropy, &update);
    TACIT_ASSERT(status == TACIT_OK);
    if (update.replan)
        begin_plan(loop, vote_loop_player(loop, player), &update);
    return update;
}

/* The draw that waits is granted, and what leaves because of it does so at the tick. */
static void grant(struct vote_loop *loop, uint32_t player, uint64_t now_us)
{
    struct tacit_vote_noised_view view;
    tacit_vote_noised_view(core_of(loop, player), &view);
    TACIT_ASSERT(view.waiting);
    struct tacit_vote_noised_update update =
        step(loop, player,
             &(struct tacit_vote_event){
                 .now_us = now_us, .kind = TACIT_EVENT_RECEIVE, .as.granted = view.draw});
    if (update.deadline_us == TACIT_NEVER)
        return;
    update =
        step(loop, player,
             &(struct tacit_vote_event){.now_us = update.deadline_us, .kind = TACIT_EVENT_TIMEOUT});
    TACIT_ASSERT(update.send);
    if (!has_sums(loop->world))
        vote_loop_on_marks(loop, update.marks_new);
    else if (loop->world->together > 0)
        add_up(loop, player, update.release);
    else
        publish(loop, update.release);
}

/* The first player that waits and is not in the round; N: there is none. */
static uint32_t next_in_line(const struct vote_loop *loop)
{
    uint32_t const players = loop->world->player_count;
    uint32_t player = tacit_bits_next(waiting_of(loop), players, 0);
    while (player < players && tacit_bits_has(round_of(loop)->words, player))
        player = tacit_bits_next(waiting_of(loop), players, player + 1);
    return player;
}

/* One event, and what the driver does about it: block, grant, tick. A round that closes lets in who
 * waits for the next one. */
static void drive(struct vote_loop *loop, uint32_t player, const struct tacit_vote_event *event)
{
    if (!step(loop, player, event).commit)
        return;
    if (loop->world->together == 0) {
        grant(loop, player, event->now_us);
        return;
    }
    tacit_bits_add(waiting_of(loop), player);
    for (uint32_t next = next_in_line(loop); next < loop->world->player_count;
         next = next_in_line(loop)) {
        tacit_bits_remove(waiting_of(loop), next);
        grant(loop, next, event->now_us);
    }
}

static enum tacit_status start(struct vote_loop *loop, uint32_t player)
{
    struct tacit_vote_noised_config const config = config_of(loop->world, player);
    TACIT_TRY(tacit_vote_noised_init(core_of(loop, player), &config));
    drive(loop, player, &(struct tacit_vote_event){.kind = TACIT_EVENT_START});
    return TACIT_OK;
}

/* Votes: the best of what the player has noised. Sums: the largest of all published ones; of equal
 * ones the lowest index. */
static uint32_t answer(const struct vote_loop *loop, uint32_t player, const uint64_t **left)
{
    struct tacit_vote_noised_view view;
    struct tacit_vote_pool_view pool;
    uint32_t const arms = loop->world->subroutine.arm_count;
    tacit_vote_noised_view(core_of(loop, player), &view);
    *left = view.active;
    if (!has_sums(loop->world))
        return tacit_vote_noised_best(core_of(loop, player));
    tacit_vote_pool_view(loop->shared, &pool);
    *left = pool.active;
    uint32_t best = tacit_bits_next(pool.active, arms, 0);
    TACIT_BITS_EACH (arm, pool.active, arms)
        best = pool.sums[arm] > pool.sums[best] ? arm : best;
    return best;
}

static uint32_t next_of_plan(const struct vote_loop *loop, struct plan *plan)
{
    uint32_t const arms = loop->world->subroutine.arm_count;
    TACIT_ASSERT(plan->left_count > 0);
    while (plan->words[plan->turn] == 0)
        plan->turn = (plan->turn + 1) % arms;
    uint32_t const arm = plan->turn;
    plan->turn = (plan->turn + 1) % arms;
    return arm;
}

/* The arms of the plan in turn; without a plan the answer, which stays that of votes until there is
 * another plan. */
static uint32_t offer(struct vote_loop *loop, uint32_t player)
{
    struct plan *const plan = vote_loop_player(loop, player);
    uint64_t const *left;
    struct tacit_vote_pool_view view;
    struct tacit_vote_event event = {.now_us = loop->outcome->samples * 2,
                                     .kind = TACIT_EVENT_OFFER};
    if (has_sums(loop->world)) {
        tacit_vote_pool_view(loop->shared, &view);
        event.as.standing = (struct tacit_vote_standing){view.active, UINT64_MAX};
    }
    drive(loop, player, &event);
    if (plan->left_count > 0)
        return next_of_plan(loop, plan);
    if (has_sums(loop->world) || plan->settled == TACIT_NO_ARM)
        plan->settled = answer(loop, player, &left);
    return plan->settled;
}

/* It counts if something was left of the plan. */
static void reward(struct vote_loop *loop, uint32_t player, uint32_t arm, double reward)
{
    struct plan *const plan = vote_loop_player(loop, player);
    if (plan->left_count == 0)
        return;
    TACIT_ASSERT(plan->words[arm] > 0);
    plan->words[arm]--;
    plan->left_count--;
    struct tacit_vote_event event = {.now_us = loop->outcome->samples * 2 - 1,
                                     .kind = TACIT_EVENT_REWARD,
                                     .as.reward = {.arm = arm, .count = 1}};
    tacit_sum_add_reward(&loop->world->mechanism->scale, &event.as.reward.sum, reward, 1);
    drive(loop, player, &event);
}

static bool is_decided(const struct vote_loop *loop, uint32_t player)
{
    return tacit_vote_noised_is_decided(core_of(loop, player));
}

const struct vote_loop_rule vote_noised_rule = {.chance_purpose = TACIT_PURPOSE_NOISE,
                                                .player_bytes = player_bytes,
                                                .shared_bytes = shared_bytes,
                                                .share = share,
                                                .start = start,
                                                .offer = offer,
                                                .reward = reward,
                                                .is_decided = is_decided,
                                                .answer = answer};
