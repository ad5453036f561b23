/* One simulated run of elimination by votes: who is active, what an arm pays at that moment, what
 * is counted. Messages arrive at once. Two loops give the same numbers, down to the last bit
 * (tests/oracle/vote_oracle.c): one that steps the cores, and a direct one for the racing
 * subroutines. */
#ifndef TACIT_FAMILIES_VOTE_PLAY_H
#define TACIT_FAMILIES_VOTE_PLAY_H
#include <stdatomic.h>
#include "tacit/env.h"
#include "tacit/privacy.h"
#include "tacit/sim.h"
#include "tacit/vote.h"

#define VOTE_FAMILY 3u
#define VOTE_PURPOSE_ACTIVE TACIT_PURPOSE_OF_FAMILY(VOTE_FAMILY, 0) /* common: who is active */
#define VOTE_PURPOSE_ORDER TACIT_PURPOSE_OF_FAMILY(VOTE_FAMILY, 1)  /* of a player: its shuffles */
#define VOTE_PURPOSE_RESET TACIT_PURPOSE_OF_FAMILY(VOTE_FAMILY, 2)  /* common: DSER4's coin */

#define VOTE_SAME_MEAN 1e-12 /* gaps up to here are rounding */
#define VOTE_GROUPS_MAX 16u
#define VOTE_DRAWN_MAX 32u

enum vote_sharing {
    VOTE_SHARING_VOTES,
    VOTE_SHARING_NONE, /* 1-PRIVACY: each player alone */
    VOTE_SHARING_ALL,  /* 0-PRIVACY: one learner sees every reward */
    VOTE_SHARING_SUMS  /* ours: noised sums are published */
};

/* A share of the players makes a share of the events. */
struct vote_group {
    double share;
    double events;
};

struct vote_world {
    uint64_t seed;
    uint32_t run;
    uint32_t player_count; /* N */
    uint64_t horizon;      /* samples at most */
    const struct tacit_env *env;
    const double *gaps;    /* K: best mean - the arm's, where vote_means_stay; NULL: worked out at
                              each sample */
    double drift;          /* added to the mean of an arm that drifts, a sample of anybody */
    double drift_floor;    /* no drifting mean falls below */
    uint32_t drift_spare;  /* an arm that does not drift, or TACIT_NO_ARM: all do */
    uint64_t switch_every; /* > 0: after so many samples, and again, arm k has the mean of k + 1 */
    const struct vote_group *groups; /* shares and events sum to 1; NULL: all players alike */
    uint32_t group_count;
    enum vote_sharing sharing;
    struct tacit_best_arm_config subroutine;
    uint32_t votes_needed;
    const uint64_t *committee;               /* N bits, or NULL */
    double reset_probability;                /* > 0 (DSER4): the run goes on to the horizon */
    const struct tacit_mechanism *mechanism; /* sound mode: a player's, of votes, sums; else NULL */
    double flip;                             /* ALL: chance that a reward of 0 or 1 is turned over
                                                before it is shared; 0: as it is */
    uint64_t block;                          /* SUMS: pulls of each arm, of a player's release */
    struct tacit_sim_aggregators aggregators; /* SUMS: theirs, where there are two .. */
    uint32_t together;                        /* .. and players of a total, then */
    uint32_t floor_milli;                     /* tacit/bounds.h */
    atomic_bool *stop;                        /* NULL: nobody stops it */
};

static inline bool vote_is_stopped(const struct vote_world *world)
{
    return world->stop != NULL && atomic_load_explicit(world->stop, memory_order_relaxed);
}

struct vote_outcome {
    uint64_t samples;      /* T_all: every player has one arm, or the horizon */
    uint64_t samples_vote; /* T_vote: first time one arm was left of the voted set; else samples */
    bool ended;            /* every player has one arm */
    bool voted;            /* one arm was left of the voted set */
    uint64_t messages;     /* marks; 0-PRIVACY: samples; sums: numbers that were published .. */
    uint64_t messages_hub; /* .. and those of them that only the hub, or the helper, gets */
    uint64_t reset_count;
    double regret;         /* sum of best mean - mean of the arm, at the moment of each sample */
    uint64_t plays_beyond; /* plays of arms that are not epsilon-optimal at that moment */
    uint32_t answer;       /* the arm that most players end with, lowest index on ties */
    double answer_share;   /* of the players */
    double best_share;     /* players whose arm is the best one at the end (within 1e-12) */
    double single_share;   /* players with one arm */
    double near_share;     /* players whose arm is epsilon-optimal at the end */
};

/* What a loop reports as it goes, for figures. */
struct vote_trace {
    uint64_t *samples_of_arm;    /* K: plays of each arm */
    uint64_t *voted_out_at;      /* K: the sample after which the arm was out; 0: never */
    uint64_t *samples_of_player; /* N: samples of each player until it had one arm */
    const uint64_t *points;      /* samples at which the regret is written down, increasing */
    uint32_t point_count;
    double *regret;          /* point_count; after the end of the run, that of the end */
    uint32_t *winners;       /* K: players that end with each arm */
    uint64_t *first_vote_at; /* K: the sample after which it had a vote; 0: never. Votes only */
    uint64_t *half_votes_at; /* K: after which it had half the votes needed, rounded up */
    uint64_t *decided_at; /* N: after which the player had one arm; 0: never, or from the start */
    uint32_t *left;       /* K: players that have it left at the end */
};

/* The arms that a player has left at the end: K bits. */
static inline void vote_trace_left(const struct vote_trace *trace, const uint64_t *arms,
                                   uint32_t arm_count)
{
    if (trace == NULL)
        return;
    for (uint32_t arm = 0; arm < arm_count; arm++)
        trace->left[arm] += tacit_bits_has(arms, arm) ? 1u : 0u;
}

/* One more sample of an arm, by a player that has not ended before it, or has. */
static inline void vote_trace_play(const struct vote_trace *trace, uint32_t player, uint32_t arm,
                                   bool was_single)
{
    if (trace == NULL)
        return;
    trace->samples_of_arm[arm]++;
    if (!was_single)
        trace->samples_of_player[player]++;
}

/* The voted set, or the pool, has these arms left: has it one for the first time, and which others
 * went now? */
static inline void vote_note_left(const struct vote_world *world, struct vote_outcome *outcome,
                                  const struct vote_trace *trace, const uint64_t *left)
{
    uint32_t const arms = world->subroutine.arm_count;
    if (!outcome->voted && tacit_bits_count(left, arms) == 1) {
        outcome->voted = true;
        outcome->samples_vote = outcome->samples;
    }
    if (trace == NULL)
        return;
    for (uint32_t arm = 0; arm < arms; arm++)
        if (!tacit_bits_has(left, arm) && trace->voted_out_at[arm] == 0)
            trace->voted_out_at[arm] = outcome->samples;
}

/* Until every player has one arm; with resets to the horizon. */
static inline bool vote_goes_on(const struct vote_world *world, const struct vote_outcome *outcome,
                                uint32_t single_count)
{
    return outcome->samples < world->horizon &&
           (single_count < world->player_count || world->reset_probability > 0);
}

/* How many votes each arm has after so many samples. */
static inline void vote_trace_counts(const struct vote_trace *trace, const uint32_t *counts,
                                     const struct vote_world *world, uint64_t samples)
{
    if (trace == NULL)
        return;
    uint32_t const half = world->votes_needed / 2 + world->votes_needed % 2;
    for (uint32_t arm = 0; arm < world->subroutine.arm_count; arm++) {
        if (counts[arm] > 0 && trace->first_vote_at[arm] == 0)
            trace->first_vote_at[arm] = samples;
        if (counts[arm] >= half && trace->half_votes_at[arm] == 0)
            trace->half_votes_at[arm] = samples;
    }
}

/* A player has one arm, for the first time. */
static inline void vote_trace_decided(const struct vote_trace *trace, uint32_t player,
                                      uint64_t samples)
{
    if (trace != NULL && trace->decided_at[player] == 0)
        trace->decided_at[player] = samples;
}

/* Writes the regret at the points up to now. `next` counts the points passed. */
static inline void vote_trace_regret(const struct vote_trace *trace,
                                     const struct vote_outcome *outcome, uint32_t *next)
{
    while (*next < trace->point_count && trace->points[*next] <= outcome->samples)
        trace->regret[(*next)++] = outcome->regret;
}

/* Plays one run with the cores, one step after the other: plain votes, one learner, private votes
 * or published sums, as the world says. Errors: TACIT_MEMORY, TACIT_INVALID, TACIT_INTERRUPTED. */
enum tacit_status vote_play_cores(const struct vote_world *world, struct vote_outcome *outcome,
                                  const struct vote_trace *trace);

/* The same numbers, faster. Requires: vote_play_is_direct. Errors: the same. */
enum tacit_status vote_play_direct(const struct vote_world *world, struct vote_outcome *outcome,
                                   const struct vote_trace *trace);

/* Has this world a direct loop: naive, successive, ser3, ser4, at most 64 arms, votes of raw
 * rewards or none? */
bool vote_play_is_direct(const struct vote_world *world);

/* What the board is, or of published sums the pool. */
struct tacit_vote_board_config vote_board_config(const struct vote_world *world);
struct tacit_vote_pool_config vote_pool_config(const struct vote_world *world);

/* The faster one of those that the world allows. */
enum tacit_status vote_play(const struct vote_world *world, struct vote_outcome *outcome,
                            const struct vote_trace *trace);

/* Mean of an arm for a player after `samples` samples of anybody. */
double vote_mean(const struct vote_world *world, uint32_t player, uint32_t arm, uint64_t samples);

/* Has every player the same means, at all times? */
bool vote_means_stay(const struct vote_world *world);

/* ---- Assumption 4 (gap.c) ---- */

/* The arm with the best mean on average over the first `samples`, the paper's k*; lowest index on
 * ties. */
uint32_t vote_gap_arm(const struct vote_world *world, uint64_t samples);

/* The smallest mean gap of that arm to another after `samples` samples of anybody, every arm
 * sampled as often; INFINITY where there is no other. Means that differ from player to player are
 * averaged. Requires: samples > 0. */
double vote_mean_gap(const struct vote_world *world, uint32_t best, uint64_t samples);

/* K ceil(ln(K/failure)) samples: from here on the assumption asks for a positive mean gap. */
uint64_t vote_gap_start(const struct vote_world *world, double failure);

/* The first sample, up to the horizon, at which the mean gap is not positive (looked at 4,096
 * times, at equal distances on a log scale, then bisected); 0: Assumption 4 holds. */
uint64_t vote_gap_ends(const struct vote_world *world, double failure);

/* ---- What both loops share ---- */

struct vote_clock {
    struct tacit_rng active;
    struct tacit_rng reset;
    uint64_t next_reset; /* the sample before which everything is reset; UINT64_MAX: never */
    uint32_t first[VOTE_GROUPS_MAX + 1]; /* players of group g: first[g] .. first[g + 1] - 1 */
    double upto[VOTE_GROUPS_MAX];        /* events of the groups up to g */
    uint32_t
        drawn[VOTE_DRAWN_MAX]; /* players alike: drawn of one word, from the last to the first */
    uint32_t drawn_count;
    uint32_t word_players; /* so many share a word: the powers of N up to 2^32 */
    uint64_t word_bound;   /* N to that power */
};

void vote_clock_start(struct vote_clock *clock, const struct vote_world *world);

/* Draws when the next reset comes, after `samples` samples. */
void vote_clock_draw_reset(struct vote_clock *clock, const struct vote_world *world,
                           uint64_t samples);

/* Draws the next players, all alike: the digits, to the base N, of one number below N^j. */
void vote_clock_draw_players(struct vote_clock *clock, const struct vote_world *world);

/* Who is active. */
static inline uint32_t vote_clock_active(struct vote_clock *clock, const struct vote_world *world)
{
    if (world->group_count == 0) {
        if (clock->drawn_count == 0)
            vote_clock_draw_players(clock, world);
        return clock->drawn[--clock->drawn_count];
    }
    double const event = tacit_rng_uniform(&clock->active);
    uint32_t group = 0;
    while (group + 1 < world->group_count && event >= clock->upto[group])
        group++;
    uint32_t const size = clock->first[group + 1] - clock->first[group];
    return clock->first[group] + (uint32_t)tacit_rng_below(&clock->active, size);
}

/* The reward of one pull, in [0, 1]. */
double vote_reward(const struct vote_world *world, struct tacit_rng *rng, uint32_t player,
                   uint32_t arm, uint64_t samples);

/* What a play of the arm loses to the player's best one, after `samples` samples of anybody. */
double vote_gap(const struct vote_world *world, uint32_t player, uint32_t arm, uint64_t samples);

/* Adds the regret of one pull. Inline: direct loops spend their time on little else. */
static inline void vote_count_play(const struct vote_world *world, struct vote_outcome *outcome,
                                   uint32_t player, uint32_t arm, uint64_t samples)
{
    double const gap =
        world->gaps != NULL ? world->gaps[arm] : vote_gap(world, player, arm, samples);
    outcome->regret += gap;
    if (gap > world->subroutine.accuracy + VOTE_SAME_MEAN)
        outcome->plays_beyond++;
}

/* The end of a run, player by player. */
struct vote_end {
    uint32_t *arms; /* N */
    uint32_t single_count;
    const struct vote_trace *trace;
    uint32_t next_point; /* of the trace: the first that was not passed */
};
/* Fills in the rest of the outcome, and of the trace. Errors: TACIT_MEMORY. */
enum tacit_status vote_finish(const struct vote_world *world, struct vote_outcome *outcome,
                              const struct vote_end *end);
#endif
