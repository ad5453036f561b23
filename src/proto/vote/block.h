/* A player whose rewards leave it noised only: its state, and its block: what each arm of its set
 * still owes, what it has brought, and the draw at its end. What comes of it, votes or published
 * sums, is noised.c's. */
#ifndef TACIT_VOTE_BLOCK_H
#define TACIT_VOTE_BLOCK_H
#include "tacit/vote.h"

#define VOTE_RETRY_US 1000000u /* after the random source failed */

enum vote_phase {
    PHASE_IDLE,      /* before START: a state begins with zeros */
    PHASE_PULLING,   /* a block is open */
    PHASE_RELEASING, /* all rewards are here; the noise is not drawn yet */
    PHASE_WAITING,   /* drawn, not granted: nothing may use it */
    PHASE_GRANTED,   /* sums: leaves at the tick */
    PHASE_DECIDED,   /* one arm is left */
    PHASE_HALTED     /* no budget */
};

struct tacit_vote_noised {
    struct tacit_vote_noised_config config;
    struct tacit_ledger ledger; /* its releases are the draws so far */
    uint64_t now_us;
    uint64_t leave_us; /* the tick at which it publishes; TACIT_NEVER: nothing is due */
    uint64_t retry_us; /* when the draw is tried again; TACIT_NEVER: it is not owed */
    uint64_t phase;
    uint64_t left_count; /* pulls left in the plan */
    uint64_t active_count;
    uint64_t reset;       /* votes */
    uint64_t epoch;       /* votes: e, from 1; sums: 1 */
    uint64_t rung;        /* votes: S_e */
    uint64_t rung_before; /* votes: S_(e-1) */
    uint64_t has_sent;    /* 1: a vote of this reset left, or a release that is not known to be
                             settled: it can be said again */
    /* active W | dropped W (sums: drawn) | left K | exact K | plan 2K | total K | noised K x the
     * releases that are kept */
    uint64_t words[];
};

static inline size_t vote_width_of(const struct tacit_vote_noised *player)
{
    return TACIT_BITS_WORDS(player->config.arm_count);
}

static inline uint64_t *vote_active_of(struct tacit_vote_noised *player)
{
    return player->words;
}

/* Votes: the arms that it has dropped itself; sums: those of the last draw. */
static inline uint64_t *vote_own_of(struct tacit_vote_noised *player)
{
    return player->words + vote_width_of(player);
}

/* By arm: pulls that are owed. */
static inline uint64_t *vote_left_of(struct tacit_vote_noised *player)
{
    return player->words + 2 * vote_width_of(player);
}

/* By arm: the rewards that are here, in steps. */
static inline union tacit_sum *vote_exact_of(struct tacit_vote_noised *player)
{
    return (union tacit_sum *)(void *)(vote_left_of(player) + player->config.arm_count);
}

static inline struct tacit_pull_block *vote_plan_of(struct tacit_vote_noised *player)
{
    return (struct tacit_pull_block *)(void *)(vote_left_of(player) +
                                               2 * (size_t)player->config.arm_count);
}

/* Of all granted draws since the arms came in. */
static inline int64_t *vote_total_of(struct tacit_vote_noised *player)
{
    return (int64_t *)(void *)(vote_left_of(player) + 4 * (size_t)player->config.arm_count);
}

/* Noised sums that are kept of each arm: votes judge by all epochs, sums publish the last draw. */
static inline size_t vote_releases_of(const struct tacit_vote_noised_config *config)
{
    return config->block > 0 ? 1 : TACIT_BOUNDS_RELEASES_MAX;
}

static inline int64_t *vote_noised_of(struct tacit_vote_noised *player, uint32_t arm)
{
    TACIT_ASSERT(arm < player->config.arm_count);
    return vote_total_of(player) + player->config.arm_count +
           arm * vote_releases_of(&player->config);
}

/* Every arm of the set owes so many pulls as the block has, and what was there is forgotten; with
 * one arm nothing is owed. Requires: the set is not empty. */
void vote_block_open(struct tacit_vote_noised *player);

/* What is owed, in arm order. */
void vote_block_show(struct tacit_vote_noised *player, struct tacit_vote_noised_update *update);

/* TACIT_INVALID, and nothing has changed: none is open, more than is owed, or no sum of so many
 * rewards. */
enum tacit_status vote_block_add(struct tacit_vote_noised *player,
                                 const struct tacit_reward *reward,
                                 struct tacit_vote_noised_update *update);

/* Arms that have left the set owe nothing, and what they brought is never released. */
void vote_block_leave(struct tacit_vote_noised *player);

/* Noise, charge and erasure of the exact sums are one step, and so one transaction: a noised sum of
 * each arm of the set is laid down, the ledger pays for the next draw, which waits for its grant.
 * TACIT_BUDGET: it cannot pay, the exact sums are gone, and the player is halted. Else, what the
 * source of randomness says: nothing is drawn or charged, and it is tried again. Requires: nothing
 * is owed. */
enum tacit_status vote_block_release(struct tacit_vote_noised *player,
                                     const struct tacit_entropy *entropy,
                                     struct tacit_vote_noised_update *update);

/* The draw waits for its grant: asks for it. */
void vote_block_ask(const struct tacit_vote_noised *player,
                    struct tacit_vote_noised_update *update);

/* Are all rewards here, and the noise not drawn yet? */
bool vote_block_is_full(const struct tacit_vote_noised *player);

/* Does what lay on a disk hang together? */
bool vote_block_is_possible(struct tacit_vote_noised *player);

/* The earlier of two deadlines; TACIT_NEVER: there is none. */
static inline uint64_t vote_earlier(uint64_t a_us, uint64_t b_us)
{
    return a_us < b_us ? a_us : b_us;
}

/* The first multiple of the tick after now: what leaves then says nothing by its hour. */
uint64_t vote_block_tick(const struct tacit_vote_noised *player);
#endif
