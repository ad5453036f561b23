/* The loop of a run over cores, one sample after the other; what the cores are, a rule says. */
#ifndef TACIT_FAMILIES_VOTE_LOOP_H
#define TACIT_FAMILIES_VOTE_LOOP_H
#include "play.h"
#include "tacit/sim.h"

/* What a player still has to pull of its plan. */
struct vote_plan_left {
    uint64_t *left; /* K */
    uint64_t left_count;
    uint32_t turn;    /* where the round robin over the plan is */
    uint32_t settled; /* the arm that is played without a plan; TACIT_NO_ARM: not looked up */
};

struct vote_loop {
    const struct vote_world *world;
    struct vote_outcome *outcome;
    const struct vote_trace *trace; /* or NULL */
    const struct vote_loop_rule *rule;
    struct vote_clock clock;
    void *shared; /* a board, a pool */
    unsigned char *players;
    size_t player_bytes;
    struct vote_plan_left *plans;
    struct tacit_rng *chances; /* of the players' own draws */
    struct tacit_rng *rewards;
    uint32_t *arms; /* N: of the end */
    uint32_t single_count;
    uint32_t next_point;
};

struct vote_loop_rule {
    bool is_one; /* one learner, player 0, learns from all players' samples */
    uint32_t chance_purpose;
    /* 0: the configuration is not valid. */
    size_t (*player_bytes)(const struct vote_world *world);
    size_t (*shared_bytes)(const struct vote_world *world);
    /* Sets up loop->shared. NULL: nothing is shared. */
    enum tacit_status (*share)(struct vote_loop *loop);
    /* Sets up a player, and gives it its first plan. */
    enum tacit_status (*start)(struct vote_loop *loop, uint32_t player);
    /* The player is active: what it plays. */
    uint32_t (*offer)(struct vote_loop *loop, uint32_t player);
    /* It has played that arm: what it publishes then is shared before this returns. */
    void (*reward)(struct vote_loop *loop, uint32_t player, uint32_t arm, double reward);
    void (*reset)(struct vote_loop *loop); /* NULL: such worlds have none */
    bool (*is_decided)(const struct vote_loop *loop, uint32_t player);
    /* A player's answer at the end; *left: the arms that it has left, K bits. */
    uint32_t (*answer)(const struct vote_loop *loop, uint32_t player, const uint64_t **left);
};

extern const struct vote_loop_rule vote_plain_rule;   /* plain.c: Alg. 2 */
extern const struct vote_loop_rule vote_learner_rule; /* plain.c: 0-PRIVACY */
extern const struct vote_loop_rule vote_private_rule; /* noised.c */
extern const struct vote_loop_rule vote_sums_rule;    /* noised.c */

/* ---- For rules ---- */

static inline void *vote_loop_player(const struct vote_loop *loop, uint32_t player)
{
    TACIT_ASSERT(player < loop->world->player_count);
    return loop->players + player * loop->player_bytes;
}

/* The player has this plan from now on. */
void vote_loop_plan(struct vote_loop *loop, uint32_t player, const struct tacit_pull_block *plan,
                    uint32_t plan_count);

/* The arms of the plan in turn. Requires: something is left of it. */
uint32_t vote_loop_turn(struct vote_loop *loop, uint32_t player);

/* A reward counts if something was left of the plan: it is less by one then, and *counted is what
 * the core is told. */
bool vote_loop_count(struct vote_loop *loop, uint32_t player, uint32_t arm, double reward,
                     struct tacit_reward *counted);

/* One arm is left of what all share, or more: W words of arms that are left. */
void vote_loop_out(struct vote_loop *loop, const uint64_t *left, uint32_t left_count);

/* ---- For rules with a board ---- */

size_t vote_loop_board_bytes(const struct vote_world *world);
enum tacit_status vote_loop_share_board(struct vote_loop *loop);

/* So many marks are new on the board. */
void vote_loop_on_marks(struct vote_loop *loop, uint32_t marks_new);

/* DSER4: the hub's word, by a coin that looks at no data; players hear it when they are active. */
void vote_loop_reset_board(struct vote_loop *loop);
#endif
