/* The block of a player whose rewards leave it noised only: what each arm of its set still owes,
 * what it has brought, and the draw at its end. private.c keeps the noised sums, sums.c says them.
 */
#ifndef TACIT_VOTE_BLOCK_H
#define TACIT_VOTE_BLOCK_H
#include "tacit/vote.h"

/* Where a player's state has the parts of its block. */
struct vote_block {
    uint32_t arm_count;
    const uint64_t *active; /* the player's set of arms */
    uint64_t *left;         /* by arm: pulls that are owed */
    uint64_t *left_count;   /* of all arms together */
    union tacit_sum *exact; /* by arm: the rewards that are here, in steps */
};

/* Of words that begin with: active W | the player's own W | left K | exact K. */
struct vote_block vote_block_at(uint64_t *words, uint32_t arm_count, uint64_t *left_count);

/* Where the noised sum of an arm is laid down: first[arm * stride]. */
struct vote_block_noised {
    int64_t *first;
    size_t stride;
};

/* Every arm of the set owes `each` pulls, and what was there is forgotten. False, and nothing is
 * owed: one arm is left. Requires: the set is not empty. */
bool vote_block_open(const struct vote_block *block, uint64_t each);

/* What is owed, in arm order; `plan` has room for all arms. Returns how many arms owe something. */
uint32_t vote_block_plan(const struct vote_block *block, struct tacit_pull_block *plan);

/* TACIT_INVALID, and nothing has changed: more than is owed, or no sum of so many rewards. */
enum tacit_status vote_block_take(const struct vote_block *block, const struct tacit_scale *scale,
                                  const struct tacit_reward *reward);

/* Arms that have left the set owe nothing, and what they brought is never released. */
void vote_block_leave(const struct vote_block *block);

/* The exact sums are gone. */
void vote_block_forget(const struct vote_block *block);

/* Noise, charge and erasure of the exact sums are one step, and so one transaction: a noised sum of
 * each arm of the set is laid down, `ledger` pays for draw `cell` + 1, `cell` counts it.
 * TACIT_BUDGET: it cannot pay, and the exact sums are gone. Else, what the source of randomness
 * says: nothing is drawn or charged. Requires: nothing is owed. */
enum tacit_status vote_block_release(const struct vote_block *block,
                                     const struct tacit_mechanism *mechanism,
                                     const struct tacit_entropy *entropy,
                                     struct tacit_ledger *ledger, uint64_t *cell,
                                     struct vote_block_noised noised);

/* Does what lay on a disk hang together? Each arm owes at most `each_max`. */
bool vote_block_is_possible(const struct vote_block *block, uint64_t each_max);

/* The earlier of two deadlines; TACIT_NEVER: there is none. */
uint64_t vote_earlier(uint64_t a_us, uint64_t b_us);

/* The first multiple of the tick after `now_us`: what leaves then says nothing by its hour. */
uint64_t vote_block_tick(uint64_t now_us, uint64_t tick_us);

#endif
