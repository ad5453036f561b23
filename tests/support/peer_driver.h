/* Drives peers of epoch elimination by hand: one event at a time, as elim_driver.h does for agents
 * and hubs, and whole networks whose messages are delivered in any order that chance, or nobody,
 * chooses. After every step the state and the table are ones that the core's own check takes, no
 * timer asks to be woken in the past, and what is refused has left no trace. */
#ifndef TACIT_TESTS_PEER_DRIVER_H
#define TACIT_TESTS_PEER_DRIVER_H
#include "elim_driver.h"
#include "network.h"

#define PEER_ARMS_MAX 8u
#define PEER_ROUNDS_MAX 40u

struct peer_setup {
    struct driver_setup base; /* of the agents, the judges and the hub */
    enum tacit_elim_collection collection;
    uint32_t rows_max;
    uint64_t slot_us;
    bool has_clock;
    uint64_t round_us;
    uint64_t gather_timeout_us;
    bool components_alike;
};

/* A peer in memory of its own, with what its last step asked for. */
struct peer_core {
    struct tacit_elim_peer_config config; /* without its arrays */
    uint32_t neighbours[NETWORK_AGENTS_MAX];
    uint64_t members[1];
    bool has_members;
    void *state;
    size_t size;
    struct tacit_elim_table *table;
    size_t table_size; /* 0: it shares its table with others */
    uint64_t now_us;
    struct driver_entropy entropy;
    struct tacit_rng keys; /* with grants: for salts, apart from the noise */
    struct tacit_elim_update update;
};

/* SPREAD, everything at once, no clock, no noise; all as driver_setup_plain. */
struct peer_setup peer_setup_plain(uint32_t agent_count, uint32_t arm_count, uint64_t horizon);

/* Initialised, not started. shared: NULL for a table of its own. Messages of the network's other
 * components do not count (SPREAD) or are the sink's (GATHER). */
struct peer_core peer_open(const struct peer_setup *setup, const struct network *network,
                           uint32_t agent, struct tacit_elim_table *shared);

/* A second core with the same bytes, entropy and clock. */
struct peer_core peer_copy(const struct peer_core *core);

/* As driver_move; its own table moves, too. */
void peer_move(struct peer_core *core);

struct tacit_elim_peer_view peer_view(const struct peer_core *core);
enum tacit_status peer_check(const struct peer_core *core);

enum tacit_status peer_step(struct peer_core *core, struct tacit_event event);
void peer_expect(struct peer_core *core, struct tacit_event event, enum tacit_status status);

/* The message gets this status, nothing is asked for, and every byte of state and table is as it
 * was, except what is noted of the neighbour: its work, and that it is ahead. */
void peer_expect_nothing(struct peer_core *core, const struct tacit_elim_message *message,
                         enum tacit_status status);

/* The message is taken, and is answered with this kind of message to this address. */
const struct tacit_elim_message *peer_expect_answer(struct peer_core *core,
                                                    const struct tacit_elim_message *message,
                                                    enum tacit_elim_message_kind kind, uint32_t to);

/* Serves the plan of the last update with constant rewards, all but its last `left` pulls; the
 * status of the last step. */
enum tacit_status peer_play(struct peer_core *core, const double *means, uint64_t left);
uint64_t peer_plan_length(const struct peer_core *core);

/* A message that carries a set of agents and no sums. */
struct tacit_elim_message peer_word(enum tacit_elim_message_kind kind, uint32_t from, uint32_t to,
                                    uint32_t epoch, const uint64_t *origins);

/* ---- Networks -------------------------------------------------------------------------------- */

/* A judge's verdict on one epoch. */
struct peer_round {
    uint32_t epoch;
    uint64_t arms; /* that are left */
    double radius;
    double means[PEER_ARMS_MAX];
};

/* What one peer released and what it decided; of a hybrid, the hub's decisions are the last. */
struct peer_record {
    union tacit_sum released[PEER_ROUNDS_MAX][PEER_ARMS_MAX]; /* history sums, by epoch */
    bool has_released[PEER_ROUNDS_MAX];
    struct peer_round rounds[PEER_ROUNDS_MAX];
    uint32_t round_count;
};

/* When a step's effects are cut short; what was not durable is gone. */
enum peer_death { PEER_DIES_BEFORE_PERSIST, PEER_DIES_AFTER_PERSIST, PEER_DIES_AFTER_SEND };

struct peer_disk {
    void *state;
    void *table; /* of a peer; NULL where the table is shared */
};

struct peer_mail {
    uint32_t to; /* agent_count: the hub */
    struct tacit_elim_message *message;
};

struct peer_net {
    struct peer_setup setup;
    const struct network *network;
    const double *means; /* A x K */
    bool is_shuffled;    /* deliver in any order; else as they were sent */
    uint64_t death_at;   /* who makes this step, a peer or the hub, dies in it and comes back with
                          * its disk; 0: nobody */
    enum peer_death death;
    struct tacit_rng order;
    struct peer_core peers[NETWORK_AGENTS_MAX];
    struct driver_core hub;
    struct peer_disk disks[NETWORK_AGENTS_MAX + 1]; /* of the peers, then of the hub */
    struct tacit_elim_table *shared;
    struct peer_mail *mail;
    size_t mail_count;
    size_t mail_capacity;
    uint64_t now_us;
    uint64_t step_count;
    struct peer_record records[NETWORK_AGENTS_MAX + 1];
};

/* A network that chance drew, with what is played in it. */
struct peer_world {
    struct network *network;
    struct peer_setup setup;
    struct tacit_rng rng; /* of the order in which messages are delivered */
    double means[NETWORK_AGENTS_MAX * PEER_ARMS_MAX];
};

/* Draws one of at most so many agents, with rewards that are noised or not. The caller draws what
 * else it has, and ends it with its clock and means. */
struct peer_world peer_world_of(uint64_t seed, uint32_t agents_max,
                                struct network *(*draw)(uint32_t, struct tacit_rng *));
void peer_world_end(struct peer_world *world);

/* A run of it to its end. To be closed. */
struct peer_net *peer_world_played(const struct peer_world *world, bool is_shuffled,
                                   bool is_shared);
void peer_expect_same_records(const struct peer_net *a, const struct peer_net *b);

/* In so many worlds, some 80 steps of a run, each in a run of its own: who makes it dies in it,
 * before or after anything of it is durable or said. */
void peer_expect_deaths_change_nothing(struct peer_world world_of(uint64_t seed), uint32_t count);

/* In any order of delivery, and over memory that all share, all decide what they decided. */
void peer_expect_any_order(const struct peer_world *world, const struct peer_net *plain);

#endif
