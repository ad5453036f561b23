/* A run of elimination by votes on its cores, and what both loops share. */
#include "play.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

bool vote_means_stay(const struct vote_world *world)
{
    return world->env->row_count == 1 && world->switch_every == 0 && world->drift == 0;
}

double vote_gap(const struct vote_world *world, uint32_t player, uint32_t arm, uint64_t samples)
{
    if (world->gaps != NULL)
        return world->gaps[arm];
    double best = vote_mean(world, player, 0, samples);
    for (uint32_t other = 1; other < world->env->arm_count; other++) {
        double const mean = vote_mean(world, player, other, samples);
        best = mean > best ? mean : best;
    }
    return best - vote_mean(world, player, arm, samples);
}

void vote_clock_start(struct vote_clock *clock, const struct vote_world *world)
{
    TACIT_ASSERT(world->player_count > 0 && world->group_count <= VOTE_GROUPS_MAX);
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

enum tacit_status vote_finish(const struct vote_world *world, struct vote_outcome *outcome,
                              const struct vote_end *end)
{
    uint32_t const players = world->player_count;
    TACIT_ASSERT(end->single_count <= players);
    TACIT_ASSERT(end->trace == NULL || end->next_point <= end->trace->point_count);
    uint32_t *const counts = calloc(world->env->arm_count, sizeof counts[0]);
    uint32_t best = 0;
    uint32_t near = 0;
    if (counts == NULL)
        return TACIT_MEMORY;
    for (uint32_t player = 0; player < players; player++) {
        uint32_t const arm = end->arms[player];
        double const gap = vote_gap(world, player, arm, outcome->samples);
        best += gap <= VOTE_SAME_MEAN ? 1u : 0u;
        near += gap <= world->subroutine.accuracy + VOTE_SAME_MEAN ? 1u : 0u;
        counts[arm]++;
        if (end->trace != NULL)
            end->trace->winners[arm]++;
    }
    outcome->ended = end->single_count == players;
    outcome->single_share = (double)end->single_count / players;
    outcome->best_share = (double)best / players;
    outcome->near_share = (double)near / players;
    outcome->answer = most_frequent(counts, world->env->arm_count);
    outcome->answer_share = (double)counts[outcome->answer] / players;
    free(counts);
    for (uint32_t i = end->next_point; end->trace != NULL && i < end->trace->point_count; i++)
        end->trace->regret[i] = outcome->regret;
    if (!outcome->voted)
        outcome->samples_vote = outcome->samples;
    return TACIT_OK;
}

/* ---- What loops share ---- */

struct tacit_vote_board_config vote_board_config(const struct vote_world *world)
{
    return (struct tacit_vote_board_config){.player_count = world->player_count,
                                            .arm_count = world->subroutine.arm_count,
                                            .votes_needed = world->votes_needed,
                                            .committee = world->committee};
}
