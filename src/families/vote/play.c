/* A run of elimination by votes on its cores, and what both loops share. */
#include "play.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SAME_MEAN 1e-12

/* ---- The world ---- */

double vote_mean(const struct vote_world *world, uint32_t player, uint32_t arm, uint64_t samples)
{
    uint32_t source = arm;
    if (world->switch_every > 0)
        source = (uint32_t)((arm + samples / world->switch_every) % world->env->arm_count);
    double const mean = tacit_env_mean(world->env, player, source);
    if (world->drift == 0 || arm == world->drift_spare)
        return mean;
    double const now = mean + world->drift * (double)samples;
    return now < world->drift_floor ? world->drift_floor : now > 1 ? 1 : now;
}

double vote_reward(const struct vote_world *world, struct tacit_rng *rng, uint32_t player,
                   uint32_t arm, uint64_t samples)
{
    double const mean = vote_mean(world, player, arm, samples);
    switch (world->env->kind) {
    case TACIT_ENV_BERNOULLI:
        return tacit_rng_bernoulli(rng, mean) ? 1.0 : 0.0;
    case TACIT_ENV_CONSTANT:
        return mean;
    case TACIT_ENV_GAUSSIAN: /* clipped: the radii are for rewards in [0, 1] */
    case TACIT_ENV_LOGGED:
        break;
    }
    struct tacit_scale const scale = {.kind = TACIT_SCALE_REAL, .lo = 0, .hi = 1};
    union tacit_sum sum = {.real = 0};
    tacit_env_pull(world->env, player, arm, 1, &scale, rng, &sum);
    return sum.real < 0 ? 0 : sum.real > 1 ? 1 : sum.real;
}

static double best_mean(const struct vote_world *world, uint32_t player, uint64_t samples)
{
    double best = vote_mean(world, player, 0, samples);
    for (uint32_t arm = 1; arm < world->env->arm_count; arm++) {
        double const mean = vote_mean(world, player, arm, samples);
        best = mean > best ? mean : best;
    }
    return best;
}

void vote_count_play(const struct vote_world *world, struct vote_outcome *outcome, uint32_t player,
                     uint32_t arm, uint64_t samples)
{
    double const gap = best_mean(world, player, samples) - vote_mean(world, player, arm, samples);
    outcome->regret += gap;
    if (gap > world->subroutine.accuracy + SAME_MEAN)
        outcome->plays_beyond++;
}

void vote_clock_start(struct vote_clock *clock, const struct vote_world *world)
{
    memset(clock, 0, sizeof *clock);
    clock->active =
        tacit_rng_stream(world->seed, world->run, TACIT_STREAM_COMMON, VOTE_PURPOSE_ACTIVE);
    clock->reset =
        tacit_rng_stream(world->seed, world->run, TACIT_STREAM_COMMON, VOTE_PURPOSE_RESET);
    double share = 0;
    double events = 0;
    for (uint32_t group = 0; group < world->group_count; group++) {
        share += world->groups[group].share;
        events += world->groups[group].events;
        clock->first[group + 1] = (uint32_t)floor(share * (double)world->player_count + 0.5);
        clock->upto[group] = events;
    }
    clock->word_players = 0;
    clock->word_bound = 1;
    while (clock->word_players < VOTE_DRAWN_MAX &&
           (clock->word_players == 0 ||
            clock->word_bound * world->player_count <= (UINT64_C(1) << 32))) {
        clock->word_bound *= world->player_count;
        clock->word_players++;
    }
    clock->next_reset = UINT64_MAX;
    vote_clock_draw_reset(clock, world, 0);
}

void vote_clock_draw_players(struct vote_clock *clock, const struct vote_world *world)
{
    /* Below 2^32: the bound is at most that. */
    uint32_t digits = (uint32_t)tacit_rng_below(&clock->active, clock->word_bound);
    for (uint32_t i = 0; i < clock->word_players; i++, digits /= world->player_count)
        clock->drawn[i] = digits % world->player_count;
    clock->drawn_count = clock->word_players;
}

/* Samples up to a reset, the one before it included: geometric, from 1. */
void vote_clock_draw_reset(struct vote_clock *clock, const struct vote_world *world,
                           uint64_t samples)
{
    if (!(world->reset_probability > 0))
        return;
    double const skip =
        world->reset_probability < 1
            ? floor(log(tacit_rng_uniform(&clock->reset)) / log1p(-world->reset_probability))
            : 0;
    bool const comes = skip < (double)TACIT_HORIZON_MAX;
    clock->next_reset = comes ? samples + 1 + (uint64_t)skip : UINT64_MAX;
}

/* ---- The end ---- */

static uint32_t most_frequent(const uint32_t *counts, uint32_t count)
{
    uint32_t most = 0;
    for (uint32_t i = 1; i < count; i++)
        most = counts[i] > counts[most] ? i : most;
    return most;
}

void vote_finish(const struct vote_world *world, struct vote_outcome *outcome,
                 const struct vote_end *end)
{
    uint32_t const players = world->player_count;
    uint32_t *const counts = calloc(world->env->arm_count, sizeof counts[0]);
    uint32_t best = 0;
    uint32_t near = 0;
    for (uint32_t player = 0; player < players; player++) {
        uint32_t const arm = end->arms[player];
        double const gap = best_mean(world, player, outcome->samples) -
                           vote_mean(world, player, arm, outcome->samples);
        best += gap <= SAME_MEAN ? 1u : 0u;
        near += gap <= world->subroutine.accuracy + SAME_MEAN ? 1u : 0u;
        if (counts != NULL)
            counts[arm]++;
        if (end->trace != NULL && end->trace->winners != NULL)
            end->trace->winners[arm]++;
    }
    outcome->ended = end->single_count == players;
    outcome->single_share = (double)end->single_count / players;
    outcome->best_share = (double)best / players;
    outcome->near_share = (double)near / players;
    if (counts != NULL) {
        outcome->answer = most_frequent(counts, world->env->arm_count);
        outcome->answer_share = (double)counts[outcome->answer] / players;
    }
    free(counts);
    if (!outcome->voted)
        outcome->samples_vote = outcome->samples;
}

/* ---- The loop over cores ---- */

struct stage {
    const struct vote_world *world;
    struct vote_outcome *outcome;
    const struct vote_trace *trace;
    struct vote_clock clock;
    struct tacit_vote_board *board;
    unsigned char *players; /* states, one after the other */
    size_t player_bytes;
    struct tacit_rng *order;   /* N */
    struct tacit_rng *rewards; /* N */
    uint32_t *arms;            /* N: of the end */
    uint32_t single_count;
    uint64_t seen_voted_count;
    uint32_t next_point;
};

static struct tacit_vote_player *player_at(const struct stage *stage, uint32_t player)
{
    return (struct tacit_vote_player *)(void *)(stage->players + player * stage->player_bytes);
}

static struct tacit_vote_config player_config(const struct vote_world *world, uint32_t player)
{
    bool const votes = world->sharing == VOTE_SHARING_VOTES;
    return (struct tacit_vote_config){.player_id = player,
                                      .player_count = world->player_count,
                                      .sharing = votes ? TACIT_VOTE_SHARING_VOTES
                                                       : TACIT_VOTE_SHARING_NONE,
                                      .subroutine = world->subroutine};
}

static struct tacit_vote_board_config board_config(const struct vote_world *world)
{
    return (struct tacit_vote_board_config){.player_count = world->player_count,
                                            .arm_count = world->subroutine.arm_count,
                                            .votes_needed = world->votes_needed,
                                            .committee = world->committee};
}

static void leave_stage(struct stage *stage)
{
    free(stage->board);
    free(stage->players);
    free(stage->order);
    free(stage->rewards);
    free(stage->arms);
}

static enum tacit_status set_stage(struct stage *stage)
{
    const struct vote_world *const world = stage->world;
    uint32_t const players = world->player_count;
    struct tacit_vote_config config = player_config(world, 0);
    struct tacit_vote_board_config const board = board_config(world);
    stage->player_bytes = tacit_vote_player_size(&config);
    if (stage->player_bytes == 0 || tacit_vote_board_size(&board) == 0)
        return TACIT_INVALID;
    stage->board = malloc(tacit_vote_board_size(&board));
    stage->players = calloc(players, stage->player_bytes);
    stage->order = calloc(players, sizeof stage->order[0]);
    stage->rewards = calloc(players, sizeof stage->rewards[0]);
    stage->arms = calloc(players, sizeof stage->arms[0]);
    if (stage->board == NULL || stage->players == NULL || stage->order == NULL ||
        stage->rewards == NULL || stage->arms == NULL)
        return TACIT_MEMORY;
    enum tacit_status status = tacit_vote_board_init(stage->board, &board);
    for (uint32_t player = 0; player < players && status == TACIT_OK; player++) {
        config = player_config(world, player);
        status = tacit_vote_player_init(player_at(stage, player), &config);
        stage->order[player] =
            tacit_rng_stream(world->seed, world->run, player, VOTE_PURPOSE_ORDER);
        stage->rewards[player] =
            tacit_rng_stream(world->seed, world->run, player, TACIT_PURPOSE_REWARD);
    }
    stage->single_count = world->subroutine.arm_count == 1 ? players : 0;
    stage->seen_voted_count = world->subroutine.arm_count;
    vote_clock_start(&stage->clock, world);
    return status;
}

static void reset_all(struct stage *stage)
{
    struct tacit_vote_message const message = {.kind = TACIT_VOTE_RESET,
                                               .from = TACIT_HUB,
                                               .to = TACIT_EVERYONE,
                                               .reset = ++stage->outcome->reset_count};
    enum tacit_status const status = tacit_vote_board_take(stage->board, &message, NULL);
    TACIT_ASSERT(status == TACIT_OK);
    stage->seen_voted_count = stage->world->subroutine.arm_count;
    vote_clock_draw_reset(&stage->clock, stage->world, stage->outcome->samples);
}

/* Writes down which arms are out now. */
static void note_votes(struct stage *stage)
{
    struct tacit_vote_board_view view;
    tacit_vote_board_look(stage->board, &view);
    vote_trace_counts(stage->trace, view.counts, stage->world, stage->outcome->samples);
    if (view.voted_count == stage->seen_voted_count)
        return;
    stage->seen_voted_count = view.voted_count;
    struct vote_outcome *const outcome = stage->outcome;
    if (view.voted_count == 1 && !outcome->voted) {
        outcome->voted = true;
        outcome->samples_vote = outcome->samples;
    }
    vote_trace_out(stage->trace, view.voted, stage->world->subroutine.arm_count, outcome->samples);
}

/* Alg. 2 l. 2-21 for one active player. */
static void activate(struct stage *stage, uint32_t player)
{
    struct vote_outcome *const outcome = stage->outcome;
    struct tacit_vote_player *const state = player_at(stage, player);
    struct tacit_entropy const entropy = tacit_rng_entropy(&stage->order[player]);
    struct tacit_vote_update update;
    bool const was_single = tacit_vote_player_is_decided(state);
    struct tacit_vote_event event = {.now_us = outcome->samples, .kind = TACIT_EVENT_OFFER};
    enum tacit_status status =
        tacit_vote_player_step(state, stage->board, &event, &entropy, &update);
    TACIT_ASSERT(status == TACIT_OK);
    TACIT_ASSERT(update.plan_count == 1);
    uint32_t const arm = update.plan[0].arm;
    double const reward =
        vote_reward(stage->world, &stage->rewards[player], player, arm, outcome->samples);
    vote_count_play(stage->world, outcome, player, arm, outcome->samples);
    event.kind = TACIT_EVENT_REWARD;
    event.as.reward = (struct tacit_reward){.arm = arm, .count = 1, .sum = {.real = reward}};
    outcome->samples++;
    status = tacit_vote_player_step(state, stage->board, &event, &entropy, &update);
    TACIT_ASSERT(status == TACIT_OK);
    if (stage->trace != NULL)
        vote_trace_regret(stage->trace, outcome, &stage->next_point);
    vote_trace_play(stage->trace, player, arm, was_single);
    if (update.send) {
        outcome->messages += update.marks_new;
        note_votes(stage);
    }
    bool const is_single = tacit_vote_player_is_decided(state);
    if (is_single)
        vote_trace_decided(stage->trace, player, outcome->samples);
    stage->single_count += (is_single ? 1u : 0u) - (was_single ? 1u : 0u);
}

static bool is_over(const struct stage *stage)
{
    if (stage->outcome->samples >= stage->world->horizon)
        return true;
    return stage->single_count == stage->world->player_count &&
           !(stage->world->reset_probability > 0);
}

static void end_stage(struct stage *stage)
{
    uint32_t single_count = 0;
    for (uint32_t player = 0; player < stage->world->player_count; player++) {
        struct tacit_vote_player_view view;
        tacit_vote_player_look(player_at(stage, player), &view);
        stage->arms[player] = view.subroutine.answer;
        vote_trace_left(stage->trace, view.subroutine.remaining, view.subroutine.arm_count);
        single_count += view.decided ? 1u : 0u;
    }
    struct vote_end const end = {stage->arms, single_count, stage->trace};
    if (stage->trace != NULL)
        for (; stage->next_point < stage->trace->point_count; stage->next_point++)
            stage->trace->regret[stage->next_point] = stage->outcome->regret;
    vote_finish(stage->world, stage->outcome, &end);
}

/* ---- 0-PRIVACY: one learner ---- */

struct learner {
    const struct vote_world *world;
    struct vote_outcome *outcome;
    const struct vote_trace *trace;
    struct tacit_best_arm *arms;
    struct vote_clock clock;
    struct tacit_rng order;
    struct tacit_rng rewards;
    uint32_t next_point;
};

/* Randomised response keeps the order of the means and makes each gap smaller by 1 - 2 flip. */
static struct tacit_best_arm_config learner_config(const struct vote_world *world)
{
    struct tacit_best_arm_config config = world->subroutine;
    config.accuracy *= 1 - 2 * world->flip;
    return config;
}

/* What all see of a reward. With randomised response it is 0 or 1 with the reward's mean first
 * (Gajane, Urvoy, Kaufmann 2018, for rewards that are 0 or 1). */
static double shared_reward(struct learner *learner, double reward)
{
    double const flip = learner->world->flip;
    if (flip <= 0)
        return reward;
    bool const is_one = tacit_rng_bernoulli(&learner->rewards, reward);
    return is_one != tacit_rng_bernoulli(&learner->rewards, flip) ? 1.0 : 0.0;
}

static void learn_one(struct learner *learner)
{
    struct vote_world const *const world = learner->world;
    struct vote_outcome *const outcome = learner->outcome;
    struct tacit_entropy const entropy = tacit_rng_entropy(&learner->order);
    if (outcome->samples >= learner->clock.next_reset) {
        tacit_best_arm_reset(learner->arms);
        outcome->reset_count++;
        vote_clock_draw_reset(&learner->clock, world, outcome->samples);
    }
    uint32_t const player = vote_clock_active(&learner->clock, world);
    uint32_t arm;
    enum tacit_status status = tacit_best_arm_next(learner->arms, &entropy, &arm);
    TACIT_ASSERT(status == TACIT_OK);
    double const reward = vote_reward(world, &learner->rewards, player, arm, outcome->samples);
    vote_count_play(world, outcome, player, arm, outcome->samples);
    vote_trace_play(learner->trace, player, arm, tacit_best_arm_is_decided(learner->arms));
    outcome->samples++;
    status = tacit_best_arm_observe(learner->arms, arm, shared_reward(learner, reward));
    TACIT_ASSERT(status == TACIT_OK);
    if (learner->trace != NULL)
        vote_trace_regret(learner->trace, outcome, &learner->next_point);
}

static void end_learner(struct learner *learner, uint32_t *arms)
{
    struct vote_trace const *const trace = learner->trace;
    for (; trace != NULL && learner->next_point < trace->point_count; learner->next_point++)
        trace->regret[learner->next_point] = learner->outcome->regret;
    struct tacit_best_arm_view view;
    tacit_best_arm_look(learner->arms, &view);
    for (uint32_t player = 0; player < learner->world->player_count; player++) {
        arms[player] = view.answer;
        vote_trace_left(trace, view.remaining, view.arm_count);
        if (view.decided)
            vote_trace_decided(trace, player, learner->outcome->samples);
    }
    learner->outcome->messages = learner->outcome->samples;
    struct vote_end const end = {arms, view.decided ? learner->world->player_count : 0, trace};
    vote_finish(learner->world, learner->outcome, &end);
}

static enum tacit_status play_shared(const struct vote_world *world, struct vote_outcome *outcome,
                                     const struct vote_trace *trace)
{
    struct tacit_best_arm_config const config = learner_config(world);
    size_t const size = tacit_best_arm_size(&config);
    if (size == 0)
        return TACIT_INVALID;
    struct learner learner = {
        .world = world,
        .outcome = outcome,
        .trace = trace,
        .arms = malloc(size),
        .order = tacit_rng_stream(world->seed, world->run, TACIT_STREAM_COMMON, VOTE_PURPOSE_ORDER),
        .rewards =
            tacit_rng_stream(world->seed, world->run, TACIT_STREAM_COMMON, TACIT_PURPOSE_REWARD)};
    uint32_t *const arms = calloc(world->player_count, sizeof arms[0]);
    enum tacit_status status = TACIT_MEMORY;
    if (learner.arms != NULL && arms != NULL)
        status = tacit_best_arm_init(learner.arms, &config);
    vote_clock_start(&learner.clock, world);
    while (status == TACIT_OK && outcome->samples < world->horizon &&
           (!tacit_best_arm_is_decided(learner.arms) || world->reset_probability > 0)) {
        learn_one(&learner);
        if (vote_is_stopped(world))
            status = TACIT_INTERRUPTED;
    }
    if (status == TACIT_OK)
        end_learner(&learner, arms);
    free(learner.arms);
    free(arms);
    return status;
}

/* ---- Public functions ---- */

enum tacit_status vote_play_cores(const struct vote_world *world, struct vote_outcome *outcome,
                                  const struct vote_trace *trace)
{
    memset(outcome, 0, sizeof *outcome);
    if (world->sharing == VOTE_SHARING_ALL)
        return play_shared(world, outcome, trace);
    struct stage stage = {.world = world, .outcome = outcome, .trace = trace};
    enum tacit_status status = set_stage(&stage);
    while (status == TACIT_OK && !is_over(&stage)) {
        if (outcome->samples >= stage.clock.next_reset)
            reset_all(&stage);
        activate(&stage, vote_clock_active(&stage.clock, world));
        if (vote_is_stopped(world))
            status = TACIT_INTERRUPTED;
    }
    if (status == TACIT_OK)
        end_stage(&stage);
    leave_stage(&stage);
    return status;
}

enum tacit_status vote_play(const struct vote_world *world, struct vote_outcome *outcome,
                            const struct vote_trace *trace)
{
    if (world->sharing == VOTE_SHARING_SUMS)
        return vote_play_sums(world, outcome, trace);
    if (world->mechanism != NULL)
        return vote_play_private(world, outcome, trace);
    return vote_play_is_direct(world) ? vote_play_direct(world, outcome, trace)
                                      : vote_play_cores(world, outcome, trace);
}
