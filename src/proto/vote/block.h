/* The block of a player whose rewards leave it noised only: what each arm of its set still owes,
 * what it has brought, and the draw at its end. private.c keeps the noised sums, sums.c says them.
 */
#ifndef TACIT_VOTE_BLOCK_H
#define TACIT_VOTE_BLOCK_H
#include "tacit/vote.h"

#define RETRY_US 1000000u /* after the random source failed */

/* Of a player's phases; its own follow. */
enum vote_phase {
    PHASE_IDLE,      /* before START: a state begins with zeros */
    PHASE_PULLING,   /* a block is open */
    PHASE_RELEASING, /* all rewards are here; the noise is not drawn yet */
    PHASE_WAITING,   /* drawn, not granted: nothing may use it */
    VOTE_PHASES
};

/* Of a player's state. */
struct vote_clock {
    struct tacit_ledger ledger;
    uint64_t now_us;
    uint64_t leave_us; /* the tick at which it publishes; TACIT_NEVER: nothing is due */
    uint64_t retry_us; /* when the draw is tried again; TACIT_NEVER: it is not owed */
};

/* Where a player's state has the parts of its block. */
struct vote_block {
    uint32_t arm_count;
    const struct tacit_mechanism *mechanism;
    struct vote_clock *clock;
    uint64_t *phase;
    uint64_t *draw;                /* draws so far */
    const uint64_t *active;        /* the player's set of arms */
    uint64_t *left;                /* by arm: pulls that are owed */
    uint64_t *left_count;          /* of all arms together */
    union tacit_sum *exact;        /* by arm: the rewards that are here, in steps */
    struct tacit_pull_block *plan; /* room for all arms */
};

/* Of a state whose words begin with: active W | the player's own W | left K | exact K. */
#define VOTE_BLOCK_OF(player)                                                                      \
    vote_block_at((player)->words, (struct vote_block){.arm_count = (player)->config.arm_count,    \
                                                       .mechanism = &(player)->config.mechanism,   \
                                                       .clock = &(player)->clock,                  \
                                                       .phase = &(player)->phase,                  \
                                                       .draw = &(player)->draw,                    \
                                                       .left_count = &(player)->left_count,        \
                                                       .plan = plan_of(player)})
/* Each step of each player asks for it: so here. */
static inline struct vote_block vote_block_at(uint64_t *words, struct vote_block block)
{
    TACIT_ASSERT(block.arm_count >= 1);
    block.active = words;
    block.left = words + 2 * TACIT_BITS_WORDS(block.arm_count);
    block.exact = (union tacit_sum *)(void *)(block.left + block.arm_count);
    return block;
}

/* Of a new state. */
struct vote_clock vote_clock_init(uint64_t budget_nano);

/* Is a state that begins with its configuration as long as it is to be, and of this one? */
bool vote_state_is_of(const void *state, size_t size, size_t wanted, const void *config,
                      size_t config_size);

/* What configurations of such players have in common: could it be one? */
bool vote_block_fits(uint32_t arm_count, uint32_t player, uint32_t player_count,
                     const struct tacit_mechanism *mechanism, uint64_t tick_us);

/* Where the noised sum of an arm is laid down: first[arm * stride]. */
struct vote_block_noised {
    int64_t *first;
    size_t stride;
};

/* Every arm of the set owes `each` pulls, and what was there is forgotten. False, and nothing is
 * owed: one arm is left. Requires: the set is not empty. */
bool vote_block_open(const struct vote_block *block, uint64_t each);

/* What is owed, in arm order. */
void vote_block_show(const struct vote_block *block, struct tacit_vote_noised_update *update);

/* TACIT_INVALID, and nothing has changed: none is open, more than is owed, or no sum of so many
 * rewards. */
enum tacit_status vote_block_add(const struct vote_block *block, const struct tacit_reward *reward,
                                 struct tacit_vote_noised_update *update);

/* Arms that have left the set owe nothing, and what they brought is never released. */
void vote_block_leave(const struct vote_block *block);

/* Noise, charge and erasure of the exact sums are one step, and so one transaction: a noised sum of
 * each arm of the set is laid down, the ledger pays for the next draw, which waits for its grant.
 * TACIT_BUDGET: it cannot pay, and the exact sums are gone. Else, what the source of randomness
 * says: nothing is drawn or charged, and it is tried again. Requires: nothing is owed. */
enum tacit_status vote_block_release(const struct vote_block *block,
                                     const struct tacit_entropy *entropy,
                                     struct vote_block_noised noised,
                                     struct tacit_vote_noised_update *update);

/* Of a process that begins: asks again for the grant that is open, and draws later what is owed,
 * by the new clock. */
void vote_block_restart(const struct vote_block *block, struct tacit_vote_noised_update *update);

/* Are all rewards here, and the noise not drawn yet? */
bool vote_block_is_full(const struct vote_block *block);
/* True: the pause is over, and the draw is to be tried now. The pause is forgotten then. */
bool vote_block_end_pause(const struct vote_block *block);

/* Before and after a step; one that is refused leaves the state as it was. Result: to be handed to
 * the end. Requires: no time before the last one's, unless a process begins. */
uint64_t vote_block_begin(const struct vote_block *block, enum tacit_event_kind kind,
                          uint64_t now_us, struct tacit_vote_noised_update *update);
void vote_block_end(const struct vote_block *block, enum tacit_status status, uint64_t before_us,
                    struct tacit_vote_noised_update *update);

/* What a player shows; an enum of the player's own says whether it is halted. */
struct tacit_vote_noised_view vote_block_view(const struct vote_block *block, uint32_t active_count,
                                              bool is_halted);

/* Does what lay on a disk hang together? Each arm owes at most `each_max`. */
bool vote_block_is_possible(const struct vote_block *block, uint64_t each_max);

/* The earlier of two deadlines; TACIT_NEVER: there is none. */
uint64_t vote_earlier(uint64_t a_us, uint64_t b_us);

/* Of a player: what it publishes, or a draw that is tried again. */
uint64_t vote_clock_deadline(const struct vote_clock *clock);

/* The first multiple of the tick after now: what leaves then says nothing by its hour. */
uint64_t vote_clock_tick(const struct vote_clock *clock, uint64_t tick_us);

#endif
