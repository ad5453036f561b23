/* A run of published sums (sound mode) on its cores: the hub grants every draw at once, and a
 * release leaves at the next sample. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "play.h"

#define TICK_US 1u /* a sample is two microseconds of virtual time */
#define GROWTH 1.25

struct seat {
    uint64_t *left; /* K: of the block */
    uint64_t left_count;
    uint32_t turn; /* where the round robin over the block is */
};

struct yard {
    const struct vote_world *world;
    struct vote_outcome *outcome;
    const struct vote_trace *trace;
    struct vote_clock clock;
    struct tacit_vote_pool *pool;
    unsigned char *players;
    size_t player_bytes;
    struct seat *seats;
    uint64_t *left; /* N x K */
    struct tacit_rng *noise;
    struct tacit_rng *rewards;
    uint32_t *arms;
    uint64_t granted; /* releases so far */
    uint32_t single_count;
    uint32_t next_point;
};

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

static struct tacit_vote_sums *player_at(const struct yard *yard, uint32_t player)
{
    return (struct tacit_vote_sums *)(void *)(yard->players + player * yard->player_bytes);
}

static struct tacit_vote_sums_config config_of(const struct vote_world *world, uint32_t player)
{
    return (struct tacit_vote_sums_config){.player_id = player,
                                           .player_count = world->player_count,
                                           .arm_count = world->subroutine.arm_count,
                                           .block = world->block,
                                           .mechanism = *world->mechanism,
                                           .budget_nano =
                                               tacit_mechanism_cost_nano(world->mechanism),
                                           .tick_us = TICK_US};
}

static void leave_yard(struct yard *yard)
{
    free(yard->pool);
    free(yard->players);
    free(yard->seats);
    free(yard->left);
    free(yard->noise);
    free(yard->rewards);
    free(yard->arms);
}

static enum tacit_status set_yard(struct yard *yard)
{
    const struct vote_world *const world = yard->world;
    uint32_t const players = world->player_count;
    struct tacit_vote_sums_config const config = config_of(world, 0);
    struct tacit_vote_pool_config const pool = vote_pool_config(world);
    yard->player_bytes = tacit_vote_sums_size(&config);
    if (yard->player_bytes == 0 || tacit_vote_pool_size(&pool) == 0)
        return TACIT_INVALID;
    yard->pool = malloc(tacit_vote_pool_size(&pool));
    yard->players = calloc(players, yard->player_bytes);
    yard->seats = calloc(players, sizeof yard->seats[0]);
    yard->left = calloc((size_t)players * config.arm_count, sizeof yard->left[0]);
    yard->noise = calloc(players, sizeof yard->noise[0]);
    yard->rewards = calloc(players, sizeof yard->rewards[0]);
    yard->arms = calloc(players, sizeof yard->arms[0]);
    if (yard->pool == NULL || yard->players == NULL || yard->seats == NULL || yard->left == NULL ||
        yard->noise == NULL || yard->rewards == NULL || yard->arms == NULL)
        return TACIT_MEMORY;
    return tacit_vote_pool_init(yard->pool, &pool);
}

static void copy_plan(struct yard *yard, uint32_t player,
                      const struct tacit_vote_sums_update *update)
{
    struct seat *const seat = &yard->seats[player];
    if (!update->replan)
        return;
    memset(seat->left, 0, yard->world->subroutine.arm_count * sizeof seat->left[0]);
    seat->left_count = 0;
    for (uint32_t i = 0; i < update->plan_count; i++) {
        seat->left[update->plan[i].arm] = update->plan[i].count;
        seat->left_count += update->plan[i].count;
    }
}

static void publish(struct yard *yard, const struct tacit_vote_release *release)
{
    struct vote_outcome *const outcome = yard->outcome;
    uint32_t const arms = yard->world->subroutine.arm_count;
    enum tacit_status const status = tacit_vote_pool_take(yard->pool, release);
    TACIT_ASSERT(status == TACIT_OK);
    outcome->messages += tacit_bits_count(release->arms, arms);
    struct tacit_vote_pool_view view;
    tacit_vote_pool_look(yard->pool, &view);
    if (view.active_count == 1 && !outcome->voted) {
        outcome->voted = true;
        outcome->samples_vote = outcome->samples;
    }
    vote_trace_out(yard->trace, view.active, arms, outcome->samples);
}

/* One event, and what the driver does about it: block, grant, tick. */
static void happen(struct yard *yard, uint32_t player, const struct tacit_vote_sums_event *event)
{
    struct tacit_vote_sums *const state = player_at(yard, player);
    struct tacit_entropy const entropy = tacit_rng_entropy(&yard->noise[player]);
    struct tacit_vote_sums_update update;
    enum tacit_status status = tacit_vote_sums_step(state, yard->pool, event, &entropy, &update);
    TACIT_ASSERT(status == TACIT_OK);
    copy_plan(yard, player, &update);
    if (!update.commit)
        return;
    struct tacit_vote_sums_event const granted = {.now_us = event->now_us,
                                                  .kind = TACIT_EVENT_RECEIVE,
                                                  .as.grant = {update.cell, yard->granted++}};
    status = tacit_vote_sums_step(state, yard->pool, &granted, &entropy, &update);
    TACIT_ASSERT(status == TACIT_OK);
    struct tacit_vote_sums_event const tick = {.now_us = update.deadline_us,
                                               .kind = TACIT_EVENT_TIMEOUT};
    status = tacit_vote_sums_step(state, yard->pool, &tick, &entropy, &update);
    TACIT_ASSERT(status == TACIT_OK);
    TACIT_ASSERT(update.send);
    copy_plan(yard, player, &update);
    publish(yard, &update.release);
}

static bool is_decided(const struct yard *yard, uint32_t player)
{
    struct tacit_vote_sums_view view;
    tacit_vote_sums_look(player_at(yard, player), &view);
    return view.decided;
}

static void start_players(struct yard *yard)
{
    const struct vote_world *const world = yard->world;
    for (uint32_t player = 0; player < world->player_count; player++) {
        struct tacit_vote_sums_config const config = config_of(world, player);
        yard->seats[player].left = yard->left + (size_t)player * config.arm_count;
        yard->noise[player] =
            tacit_rng_stream(world->seed, world->run, player, TACIT_PURPOSE_NOISE);
        yard->rewards[player] =
            tacit_rng_stream(world->seed, world->run, player, TACIT_PURPOSE_REWARD);
        enum tacit_status const status = tacit_vote_sums_init(player_at(yard, player), &config);
        TACIT_ASSERT(status == TACIT_OK);
        happen(yard, player, &(struct tacit_vote_sums_event){.kind = TACIT_EVENT_START});
        yard->single_count += is_decided(yard, player) ? 1u : 0u;
    }
    vote_clock_start(&yard->clock, world);
}

/* The largest of all published sums; of equal ones the lowest index. */
static uint32_t answer_of(const struct yard *yard)
{
    struct tacit_vote_pool_view view;
    uint32_t const arms = yard->world->subroutine.arm_count;
    tacit_vote_pool_look(yard->pool, &view);
    uint32_t best = tacit_bits_next(view.active, arms, 0);
    for (uint32_t arm = best; arm < arms; arm = tacit_bits_next(view.active, arms, arm + 1))
        best = view.sums[arm] > view.sums[best] ? arm : best;
    return best;
}

/* The arms of the block in turn; without a block the answer. */
static uint32_t next_arm(struct yard *yard, uint32_t player)
{
    struct seat *const seat = &yard->seats[player];
    uint32_t const arms = yard->world->subroutine.arm_count;
    if (seat->left_count == 0)
        return answer_of(yard);
    while (seat->left[seat->turn] == 0)
        seat->turn = (seat->turn + 1) % arms;
    uint32_t const arm = seat->turn;
    seat->turn = (seat->turn + 1) % arms;
    return arm;
}

static void activate(struct yard *yard, uint32_t player)
{
    struct vote_outcome *const outcome = yard->outcome;
    struct seat *const seat = &yard->seats[player];
    struct tacit_vote_sums_event event = {.now_us = outcome->samples * 2,
                                          .kind = TACIT_EVENT_OFFER};
    bool const was_single = is_decided(yard, player);
    happen(yard, player, &event);
    uint32_t const arm = next_arm(yard, player);
    double const reward =
        vote_reward(yard->world, &yard->rewards[player], player, arm, outcome->samples);
    vote_count_play(yard->world, outcome, player, arm, outcome->samples);
    vote_trace_play(yard->trace, player, arm, was_single);
    outcome->samples++;
    if (yard->trace != NULL)
        vote_trace_regret(yard->trace, outcome, &yard->next_point);
    event.now_us = outcome->samples * 2 - 1;
    if (seat->left_count > 0) {
        union tacit_sum sum = {.steps = 0};
        tacit_sum_add_reward(&yard->world->mechanism->scale, &sum, reward, 1);
        seat->left[arm]--;
        seat->left_count--;
        event.kind = TACIT_EVENT_REWARD;
        event.as.reward = (struct tacit_reward){.arm = arm, .count = 1, .sum = sum};
        happen(yard, player, &event);
    }
    bool const is_single = is_decided(yard, player);
    if (is_single)
        vote_trace_decided(yard->trace, player, outcome->samples);
    yard->single_count += (is_single ? 1u : 0u) - (was_single ? 1u : 0u);
}

static void end_yard(struct yard *yard)
{
    uint32_t const answer = answer_of(yard);
    struct tacit_vote_pool_view view;
    tacit_vote_pool_look(yard->pool, &view);
    for (uint32_t player = 0; player < yard->world->player_count; player++) {
        yard->arms[player] = answer;
        vote_trace_left(yard->trace, view.active, yard->world->subroutine.arm_count);
    }
    for (; yard->trace != NULL && yard->next_point < yard->trace->point_count; yard->next_point++)
        yard->trace->regret[yard->next_point] = yard->outcome->regret;
    struct vote_end const end = {yard->arms, yard->single_count, yard->trace};
    vote_finish(yard->world, yard->outcome, &end);
}

enum tacit_status vote_play_sums(const struct vote_world *world, struct vote_outcome *outcome,
                                 const struct vote_trace *trace)
{
    TACIT_ASSERT(world->mechanism != NULL);
    TACIT_ASSERT(world->sharing == VOTE_SHARING_SUMS);
    memset(outcome, 0, sizeof *outcome);
    struct yard yard = {.world = world, .outcome = outcome, .trace = trace};
    enum tacit_status status = set_yard(&yard);
    if (status == TACIT_OK)
        start_players(&yard);
    while (status == TACIT_OK && outcome->samples < world->horizon &&
           yard.single_count < world->player_count) {
        activate(&yard, vote_clock_active(&yard.clock, world));
        if (vote_is_stopped(world))
            status = TACIT_INTERRUPTED;
    }
    if (status == TACIT_OK)
        end_yard(&yard);
    leave_yard(&yard);
    return status;
}
