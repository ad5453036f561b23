/* A run of private votes (sound mode) on its cores: the hub grants every draw at once, and a vote
 * leaves at the next sample. */
#include <stdlib.h>
#include <string.h>
#include "play.h"

#define TICK_US 1u /* a sample is one microsecond of virtual time */

struct seat {
    uint64_t *left; /* K: of the plan */
    uint64_t left_count;
    uint32_t turn;    /* where the round robin over the plan is */
    uint32_t settled; /* the arm that is played without a plan; TACIT_NO_ARM: not looked up */
};

struct hall {
    const struct vote_world *world;
    struct vote_outcome *outcome;
    const struct vote_trace *trace;
    struct vote_clock clock;
    struct tacit_vote_board *board;
    unsigned char *players;
    size_t player_bytes;
    struct seat *seats;
    uint64_t *left; /* N x K */
    struct tacit_rng *noise;
    struct tacit_rng *rewards;
    uint32_t *arms;
    uint32_t single_count;
    uint32_t next_point;
};

static struct tacit_vote_private *player_at(const struct hall *hall, uint32_t player)
{
    return (struct tacit_vote_private *)(void *)(hall->players + player * hall->player_bytes);
}

static struct tacit_vote_private_config config_of(const struct vote_world *world, uint32_t player)
{
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

static void leave_hall(struct hall *hall)
{
    free(hall->board);
    free(hall->players);
    free(hall->seats);
    free(hall->left);
    free(hall->noise);
    free(hall->rewards);
    free(hall->arms);
}

static void copy_plan(struct hall *hall, uint32_t player,
                      const struct tacit_vote_private_update *update)
{
    struct seat *const seat = &hall->seats[player];
    if (!update->replan)
        return;
    memset(seat->left, 0, hall->world->subroutine.arm_count * sizeof seat->left[0]);
    seat->left_count = 0;
    seat->settled = TACIT_NO_ARM;
    for (uint32_t i = 0; i < update->plan_count; i++) {
        seat->left[update->plan[i].arm] = update->plan[i].count;
        seat->left_count += update->plan[i].count;
    }
}

static void note_votes(struct hall *hall)
{
    struct tacit_vote_board_view view;
    tacit_vote_board_look(hall->board, &view);
    if (view.voted_count == 1 && !hall->outcome->voted) {
        hall->outcome->voted = true;
        hall->outcome->samples_vote = hall->outcome->samples;
    }
    vote_trace_counts(hall->trace, view.counts, hall->world, hall->outcome->samples);
    vote_trace_out(hall->trace, view.voted, hall->world->subroutine.arm_count,
                   hall->outcome->samples);
}

/* DSER4: the hub's word, by a coin that looks at no data; players hear it when they are active. */
static void reset_all(struct hall *hall)
{
    struct tacit_vote_message const message = {.kind = TACIT_VOTE_RESET,
                                               .from = TACIT_HUB,
                                               .to = TACIT_EVERYONE,
                                               .reset = ++hall->outcome->reset_count};
    enum tacit_status const status = tacit_vote_board_take(hall->board, &message, NULL);
    TACIT_ASSERT(status == TACIT_OK);
    vote_clock_draw_reset(&hall->clock, hall->world, hall->outcome->samples);
}

/* One event, and what the driver does about it: plan, grant, tick. */
static void happen(struct hall *hall, uint32_t player, const struct tacit_vote_event *event)
{
    struct tacit_vote_private *const state = player_at(hall, player);
    struct tacit_entropy const entropy = tacit_rng_entropy(&hall->noise[player]);
    struct tacit_vote_private_update update;
    enum tacit_status status =
        tacit_vote_private_step(state, hall->board, event, &entropy, &update);
    TACIT_ASSERT(status == TACIT_OK);
    copy_plan(hall, player, &update);
    if (update.commit) {
        struct tacit_vote_message const grant = {
            .kind = TACIT_VOTE_GRANT, .from = TACIT_HUB, .to = player, .cell = update.cell};
        struct tacit_vote_event const granted = {
            .now_us = event->now_us, .kind = TACIT_EVENT_RECEIVE, .as.message = &grant};
        status = tacit_vote_private_step(state, hall->board, &granted, &entropy, &update);
        TACIT_ASSERT(status == TACIT_OK);
        copy_plan(hall, player, &update);
    }
    if (update.deadline_us == TACIT_NEVER)
        return;
    struct tacit_vote_event const tick = {.now_us = update.deadline_us,
                                          .kind = TACIT_EVENT_TIMEOUT};
    status = tacit_vote_private_step(state, hall->board, &tick, &entropy, &update);
    TACIT_ASSERT(status == TACIT_OK);
    TACIT_ASSERT(update.send);
    hall->outcome->messages += update.marks_new;
    note_votes(hall);
}

static bool set_hall(struct hall *hall)
{
    const struct vote_world *const world = hall->world;
    uint32_t const players = world->player_count;
    struct tacit_vote_private_config const config = config_of(world, 0);
    struct tacit_vote_board_config const board = {.player_count = players,
                                                  .arm_count = world->subroutine.arm_count,
                                                  .votes_needed = world->votes_needed,
                                                  .committee = world->committee};
    hall->player_bytes = tacit_vote_private_size(&config);
    TACIT_ASSERT(hall->player_bytes > 0);
    hall->board = malloc(tacit_vote_board_size(&board));
    hall->players = calloc(players, hall->player_bytes);
    hall->seats = calloc(players, sizeof hall->seats[0]);
    hall->left = calloc((size_t)players * config.arm_count, sizeof hall->left[0]);
    hall->noise = calloc(players, sizeof hall->noise[0]);
    hall->rewards = calloc(players, sizeof hall->rewards[0]);
    hall->arms = calloc(players, sizeof hall->arms[0]);
    return hall->board != NULL && hall->players != NULL && hall->seats != NULL &&
           hall->left != NULL && hall->noise != NULL && hall->rewards != NULL &&
           hall->arms != NULL && tacit_vote_board_init(hall->board, &board) == TACIT_OK;
}

static void start_players(struct hall *hall)
{
    const struct vote_world *const world = hall->world;
    for (uint32_t player = 0; player < world->player_count; player++) {
        struct tacit_vote_private_config const config = config_of(world, player);
        hall->seats[player].left = hall->left + (size_t)player * config.arm_count;
        hall->seats[player].settled = TACIT_NO_ARM;
        hall->noise[player] =
            tacit_rng_stream(world->seed, world->run, player, TACIT_PURPOSE_NOISE);
        hall->rewards[player] =
            tacit_rng_stream(world->seed, world->run, player, TACIT_PURPOSE_REWARD);
        enum tacit_status const status = tacit_vote_private_init(player_at(hall, player), &config);
        TACIT_ASSERT(status == TACIT_OK);
        happen(hall, player, &(struct tacit_vote_event){.kind = TACIT_EVENT_START});
        hall->single_count += tacit_vote_private_is_decided(player_at(hall, player)) ? 1u : 0u;
    }
    vote_clock_start(&hall->clock, world);
}

/* The arms of the plan in turn; without a plan the best of what was noised. */
static uint32_t next_arm(struct hall *hall, uint32_t player)
{
    struct seat *const seat = &hall->seats[player];
    uint32_t const arms = hall->world->subroutine.arm_count;
    if (seat->left_count == 0) {
        if (seat->settled == TACIT_NO_ARM) {
            struct tacit_vote_private_view view;
            tacit_vote_private_look(player_at(hall, player), &view);
            seat->settled = view.exploit_arm;
        }
        return seat->settled;
    }
    while (seat->left[seat->turn] == 0)
        seat->turn = (seat->turn + 1) % arms;
    uint32_t const arm = seat->turn;
    seat->turn = (seat->turn + 1) % arms;
    return arm;
}

static void activate(struct hall *hall, uint32_t player)
{
    struct vote_outcome *const outcome = hall->outcome;
    struct seat *const seat = &hall->seats[player];
    struct tacit_vote_event event = {.now_us = outcome->samples * 2, .kind = TACIT_EVENT_OFFER};
    bool const was_single = tacit_vote_private_is_decided(player_at(hall, player));
    happen(hall, player, &event);
    uint32_t const arm = next_arm(hall, player);
    double const reward =
        vote_reward(hall->world, &hall->rewards[player], player, arm, outcome->samples);
    vote_count_play(hall->world, outcome, player, arm, outcome->samples);
    vote_trace_play(hall->trace, player, arm, was_single);
    outcome->samples++;
    if (hall->trace != NULL)
        vote_trace_regret(hall->trace, outcome, &hall->next_point);
    event.now_us = outcome->samples * 2 - 1;
    if (seat->left_count > 0) {
        union tacit_sum sum = {.steps = 0};
        tacit_sum_add_reward(&hall->world->mechanism->scale, &sum, reward, 1);
        seat->left[arm]--;
        seat->left_count--;
        event.kind = TACIT_EVENT_REWARD;
        event.as.reward = (struct tacit_reward){.arm = arm, .count = 1, .sum = sum};
        happen(hall, player, &event);
    }
    bool const is_single = tacit_vote_private_is_decided(player_at(hall, player));
    if (is_single)
        vote_trace_decided(hall->trace, player, outcome->samples);
    hall->single_count += (is_single ? 1u : 0u) - (was_single ? 1u : 0u);
}

static void end_hall(struct hall *hall)
{
    for (uint32_t player = 0; player < hall->world->player_count; player++) {
        struct tacit_vote_private_view view;
        tacit_vote_private_look(player_at(hall, player), &view);
        hall->arms[player] = view.exploit_arm;
        vote_trace_left(hall->trace, view.active, hall->world->subroutine.arm_count);
    }
    for (; hall->trace != NULL && hall->next_point < hall->trace->point_count; hall->next_point++)
        hall->trace->regret[hall->next_point] = hall->outcome->regret;
    struct vote_end const end = {hall->arms, hall->single_count, hall->trace};
    vote_finish(hall->world, hall->outcome, &end);
}

enum tacit_status vote_play_private(const struct vote_world *world, struct vote_outcome *outcome,
                                    const struct vote_trace *trace)
{
    TACIT_ASSERT(world->mechanism != NULL);
    TACIT_ASSERT(world->sharing == VOTE_SHARING_VOTES);
    memset(outcome, 0, sizeof *outcome);
    struct hall hall = {.world = world, .outcome = outcome, .trace = trace};
    enum tacit_status status = set_hall(&hall) ? TACIT_OK : TACIT_MEMORY;
    if (status == TACIT_OK)
        start_players(&hall);
    while (status == TACIT_OK && outcome->samples < world->horizon &&
           (hall.single_count < world->player_count || world->reset_probability > 0)) {
        if (outcome->samples >= hall.clock.next_reset)
            reset_all(&hall);
        activate(&hall, vote_clock_active(&hall.clock, world));
        if (vote_is_stopped(world))
            status = TACIT_INTERRUPTED;
    }
    if (status == TACIT_OK)
        end_hall(&hall);
    leave_hall(&hall);
    return status;
}
