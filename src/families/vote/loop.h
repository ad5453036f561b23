/* The loop of a run over cores, one sample after the other; what the cores are, a rule says. */
#ifndef TACIT_FAMILIES_VOTE_LOOP_H
#define TACIT_FAMILIES_VOTE_LOOP_H
#include "play.h"
#include "tacit/sim.h"

struct vote_loop {
    const struct vote_world *world;
    struct vote_outcome *outcome;
    const struct vote_trace *trace; /* or NULL */
    const struct vote_loop_rule *rule;
    bool is_one; /* 0-PRIVACY: one learner, player 0, learns from all players' samples */
    struct vote_clock clock;
    void *shared; /* a board, a pool */
    unsigned char *players;
    size_t player_bytes;
    struct tacit_rng *chances; /* of the players' own draws */
    struct tacit_rng *rewards;
    uint32_t *arms; /* N: of the end */
    uint32_t single_count;
    uint32_t next_point;
};

struct vote_loop_rule {
    uint32_t chance_purpose;
    /* 0: the configuration is not valid. */
    size_t (*player_bytes)(const struct vote_world *world);
    size_t (*shared_bytes)(const struct vote_world *world);
    /* Sets up loop->shared. */
    enum tacit_status (*share)(struct vote_loop *loop);
    /* Sets up a player. */
    enum tacit_status (*start)(struct vote_loop *loop, uint32_t player);
    /* The player is active: what it plays. */
    uint32_t (*offer)(struct vote_loop *loop, uint32_t player);
    /* It has played that arm: what it publishes then is shared before this returns. */
    void (*reward)(struct vote_loop *loop, uint32_t player, uint32_t arm, double reward);
    bool (*is_decided)(const struct vote_loop *loop, uint32_t player);
    /* A player's answer at the end; *left: the arms that it has left, K bits. */
    uint32_t (*answer)(const struct vote_loop *loop, uint32_t player, const uint64_t **left);
};

extern const struct vote_loop_rule vote_plain_rule;  /* plain.c: raw rewards */
extern const struct vote_loop_rule vote_noised_rule; /* noised.c: private votes, published sums */

/* ---- For rules ---- */

static inline void *vote_loop_player(const struct vote_loop *loop, uint32_t player)
{
    TACIT_ASSERT(player < loop->world->player_count);
    return loop->players + player * loop->player_bytes;
}

/* With a board. */
size_t vote_loop_board_bytes(const struct vote_world *world);
enum tacit_status vote_loop_share_board(struct vote_loop *loop);

/* So many marks are new on the board. */
void vote_loop_on_marks(struct vote_loop *loop, uint32_t marks_new);
#endif
