/* Gossip UCB (Zhu, Zhu, Liu, Liu 2021: "Federated Bandit: A Gossiping Approach"): Gossip_UCB (Alg.
 * 1) and its private form Fed_UCB (Alg. 4) over any connected graph, without a server. Each agent
 * keeps an estimate of every arm's mean over all agents, pulls by an upper confidence bound on it
 * or catches up with its neighbours' numbers of pulls, and averages its estimates with one
 * neighbour at a time. Pure functions of (state, event, entropy).
 *
 * The agent's core exchanges messages and serves a simulator and a daemon alike. The network below
 * it is the same arithmetic for all agents of a lockstep simulation at once, without messages; both
 * give the same bytes (tests/unit/gossip_network.c).
 *
 * A (the paper's N) agents, K (M) arms, T slots, t a slot from 1, n pulls of an arm by an agent,
 * the first one included, n~ an agent's estimate of the largest n of all agents, X~ mean of an
 * agent's own rewards, theta its estimate. src/proto/gossip/NOTES.md maps the paper's lines to
 * functions. */
#ifndef TACIT_GOSSIP_H
#define TACIT_GOSSIP_H
#include "tacit/base.h"
#include "tacit/core.h"
#include "tacit/privacy.h"
#include "tacit/random.h"
#include "tacit/topo.h"

/* ---- Rule: what all agents of a run share ---------------------------------------------------- */

struct tacit_gossip_config {
    uint32_t agent_count; /* A */
    uint32_t arm_count;   /* K */
    uint64_t horizon;     /* T slots after the first pulls */
    struct tacit_mechanism_config mechanism;
    /* Factor of the confidence radius where rewards are not in [0, 1]: hi - lo, or 1 for rewards
     * that are not bounded. Sound mode works on [0, 1] itself: 1. */
    double width;
    bool log_base_10; /* logarithms of (12) to base 10: what the printed ratios suggest */
};

/* A plain value, derived from a configuration. */
TACIT_NO_GAPS
struct tacit_gossip_rule {
    struct tacit_tree_rule tree; /* of one arm of one agent; only used with noise */
    uint32_t agent_count;
    uint32_t arm_count;
    uint64_t horizon;
    double width;
    double alpha;       /* alpha_1 = 64/A^17, times width */
    double near_factor; /* 2 A, and for logarithms to another base */
    double far_factor;  /* 256 A^2 log^2 T / eps^2 */
    bool noisy;
    bool sound;
    uint8_t spare[6];
};
TACIT_NO_GAPS_END

/* Errors: TACIT_INVALID, *rule untouched. Requires: counts and horizon within their limits,
 * mechanism as tacit_tree_rule_init with T leaves (sound mode: T + 1, for the first pull is one),
 * width > 0 finite and 1 in sound mode. */
enum tacit_status tacit_gossip_rule_init(struct tacit_gossip_rule *rule,
                                         const struct tacit_gossip_config *config);

/* C_{i,k}(t) of (11), with noise of (12). READINGS of n = 1: (12) has no bonus for noise there,
 * since log 1 = 0; sound mode takes log max(n, 2). Requires: slot, pulls > 0. */
double tacit_gossip_radius(const struct tacit_gossip_rule *rule, uint64_t slot, uint64_t pulls);

/* ---- Bounds ---------------------------------------------------------------------------------- */

/* The regret of one agent until T, Theorem 1 (epsilon = INFINITY) or 2, for rewards in [0, 1] and
 * these gaps (0: best arms, left out). lambda2: second largest eigenvalue of the expected gossip
 * matrix, in (0, 1). INFINITY where a gap is so small (Delta/2 <= alpha_1) that the theorem says
 * nothing. */
double tacit_gossip_regret_bound(const struct tacit_gossip_rule *rule, double epsilon,
                                 const double *gaps, double lambda2);

/* L of Lemma 4: from it on lambda2^(t/6)/(1 - lambda2^(1/3)) < 1/(A t). */
uint64_t tacit_gossip_mixing_slots(uint32_t agent_count, double lambda2);

/* ---- Messages -------------------------------------------------------------------------------- */

/* An edge's exchanges are kept by the end with the lower number, its keeper, and numbered by it:
 *     keeper -> other: ASK        "let us exchange" (left out where the other end begins)
 *     other -> keeper: OFFER      its theta, and the last exchange of this edge that it has
 *     keeper -> other: SHIFT      number of the exchange, what it moved, what all of them moved
 * The keeper moves half the difference to itself, makes its state durable and only then answers.
 * The other end takes a SHIFT once, by its number; one that was lost is in the total of the next.
 * So a message that is lost, late or repeated neither loses nor doubles anything: what an edge has
 * moved is one number at both ends, with opposite signs, as soon as the last SHIFT is there. An
 * OFFER that is not up to date is answered with the last SHIFT. */
enum tacit_gossip_message_kind {
    TACIT_GOSSIP_COUNTS, /* to all neighbours: n~ (line 5) */
    TACIT_GOSSIP_ASK,
    TACIT_GOSSIP_OFFER, /* (lines 18, 19) */
    TACIT_GOSSIP_SHIFT, /* (line 20) */
    TACIT_GOSSIP_REFUSE /* "your incarnation is not the one I know": an old copy or a second one */
};

/* A plain struct; its arrays of K belong to the sender's state and stay valid until its next step.
 */
struct tacit_gossip_message {
    enum tacit_gossip_message_kind kind;
    uint32_t from;
    uint32_t to; /* an agent, or TACIT_NEIGHBOURS */
    uint64_t run_id;
    uint64_t incarnation_number; /* > 0; of the sender, or REFUSE: that is refused */
    uint64_t incarnation;        /* its name */
    uint64_t exchange;           /* OFFER: the last one that the sender has; SHIFT: its number */
    const uint64_t *seen;        /* n~; NULL: not told */
    const double *theta;         /* OFFER: theta; else NULL */
    const double *shift;         /* SHIFT: what it moves to the receiver; else NULL */
    const double *flow;          /* OFFER, SHIFT: all that the edge has moved to the sender */
};

/* Bytes that a deep copy of the message needs. */
size_t tacit_gossip_message_size(const struct tacit_gossip_message *message, uint32_t arm_count);

/* Deep copy into `memory` (8-byte aligned, …_size bytes). Ensures: the result points into memory
 * only. */
const struct tacit_gossip_message *
tacit_gossip_message_copy(const struct tacit_gossip_message *message, uint32_t arm_count,
                          void *memory);

/* ---- Events and updates ---------------------------------------------------------------------- */

/* A plan: K first pulls, later one pull. TACIT_DREW: with this reward. */
struct tacit_gossip_update {
    TACIT_UPDATE(struct tacit_gossip_message)
};

/* ---- Agent ----------------------------------------------------------------------------------- */

struct tacit_gossip_agent_config {
    struct tacit_gossip_rule rule;
    uint64_t run_id;
    uint32_t agent_id;          /* < A */
    const uint32_t *neighbours; /* ascending; copied */
    uint32_t neighbour_count;
    /* Lockstep: slots of this length; a slot begins with TIMEOUT. n~ goes to the neighbours at the
     * beginning of each slot, and the driver says who meets, with an ASK from the keeper. 0: on its
     * own clock: the next pull is planned as soon as a reward came. */
    uint64_t slot_us;
    uint64_t exchange_us; /* own clock: > 0, between two exchanges that this agent begins */
    uint64_t pull_us;     /* own clock: nobody can pull faster than this; 0: not known */
};

struct tacit_gossip_agent; /* opaque, relocatable: what is persisted */

/* What lives in memory only: the exact sums of this incarnation's rewards. A state that is put back
 * from a disk gets a new one. */
struct tacit_gossip_memory; /* opaque, relocatable */

/* What a driver, a status page or a checker may look at. Pointers are valid until the next step. */
struct tacit_gossip_agent_view {
    uint64_t slot;       /* t: slots that have begun */
    bool waiting;        /* no pull is planned */
    bool finished;       /* T slots were played */
    bool halted;         /* a neighbour knows another incarnation of this agent */
    uint32_t arm;        /* planned, or TACIT_NO_ARM */
    bool forced;         /* .. by line 6 */
    uint64_t pull_count; /* pulls given, first ones included */
    uint64_t forced_count;
    uint64_t exchange_count; /* exchanges that this agent took part in */
    uint32_t best_arm;       /* largest theta; lowest index on ties */
    const uint64_t *counts;  /* K: n */
    const uint64_t *seen;    /* K: n~ */
    const double *theta;     /* K; sound mode: [lo, hi] mapped to [0, 1] */
    const double *mean;      /* K: X~, noised */
    uint64_t incarnation_number;
    uint64_t draw_count; /* rewards that were taken in, by all incarnations */
};

/* Bytes of a state. Errors: 0 if the configuration is not valid. */
size_t tacit_gossip_agent_size(const struct tacit_gossip_agent_config *config);

/* Bytes of what lives in memory only; 8 at least. */
size_t tacit_gossip_memory_size(const struct tacit_gossip_rule *rule);

/* Ensures: nothing in it. Requires: 8-byte aligned memory of …_size bytes. */
void tacit_gossip_memory_init(struct tacit_gossip_memory *memory,
                              const struct tacit_gossip_rule *rule);

/* Errors: TACIT_INVALID, *agent untouched. Requires: 8-byte aligned memory of …_size bytes. */
enum tacit_status tacit_gossip_agent_init(struct tacit_gossip_agent *agent,
                                          const struct tacit_gossip_agent_config *config);

/* Are these bytes, put back from where they were persisted, a state of this configuration?
 * Errors: TACIT_MALFORMED: another size, another configuration, or a state that cannot be. */
enum tacit_status tacit_gossip_agent_check(const struct tacit_gossip_agent *agent, size_t size,
                                           const struct tacit_gossip_agent_config *config);

/* One step. START opens a new incarnation, whose name is drawn: the caller hands in a memory that
 * was just made. Neighbours hear one incarnation of a site at a time. Late
 * and repeated messages are normal: TACIT_OK. What does not fit is refused with a status and
 * changes nothing, byte for byte. TACIT_ENTROPY: nothing happened; the same event may be tried
 * again. TACIT_ROLLBACK: a neighbour knows a later incarnation or a second one; the agent is
 * halted. Cost: O(K) a slot and a message. */
enum tacit_status tacit_gossip_agent_step(struct tacit_gossip_agent *agent,
                                          struct tacit_gossip_memory *memory,
                                          const struct tacit_event *event,
                                          const struct tacit_entropy *entropy,
                                          struct tacit_gossip_update *update);

/* Shows an agent's state without changing it. Cost: O(K). */
void tacit_gossip_agent_view(const struct tacit_gossip_agent *agent,
                             struct tacit_gossip_agent_view *view);

/* What the edge to this neighbour has moved to this agent in all: K numbers, NULL if they are no
 * neighbours. *exchange becomes the number of the last exchange. For checkers. */
const double *tacit_gossip_agent_flow(const struct tacit_gossip_agent *agent, uint32_t neighbour,
                                      uint64_t *exchange);

/* The sum of an arm's rewards as X~ has it: noised, of this incarnation and of earlier ones. It is
 * what an outbox keeps. */
union tacit_sum tacit_gossip_agent_sum(const struct tacit_gossip_agent *agent, uint32_t arm);

/* How far theta of this arm was from a neighbour's at most, of each edge at its last exchange. 0:
 * there was none. Cost: O(neighbours). */
double tacit_gossip_agent_spread(const struct tacit_gossip_agent *agent, uint32_t arm);

/* ---- Network: all agents of a lockstep simulation -------------------------------------------- */

struct tacit_gossip_network; /* opaque, relocatable */

struct tacit_gossip_network_view {
    uint64_t slot;
    uint64_t forced_count;  /* pulls that line 6 forced, of all agents */
    const uint32_t *arms;   /* A: pulled in this slot */
    const uint64_t *counts; /* A x K: n, row by row */
    const uint64_t *seen;   /* A x K: n~ */
    const double *theta;    /* A x K */
    const double *mean;     /* A x K: X~ */
};

/* Bytes of a network: O(A K), with noise O(A K log T). Errors: 0 if it does not fit. */
size_t tacit_gossip_network_size(const struct tacit_gossip_rule *rule);

/* Requires: 8-byte aligned memory of …_size bytes. */
void tacit_gossip_network_init(struct tacit_gossip_network *network,
                               const struct tacit_gossip_rule *rule);

/* The first pulls: A x K rewards, row by row. entropies: one an agent, here and below.
 * Errors: TACIT_ENTROPY: the network is no longer of use; so for the two below. */
enum tacit_status tacit_gossip_network_first(struct tacit_gossip_network *network,
                                             const union tacit_sum *rewards,
                                             const struct tacit_entropy *entropies);

/* Begins the next slot: chooses all arms (lines 3-14, result: A of them, valid until the next
 * call) and tells n~. Requires: the slot before is over, slot < T. Cost: O(A K). */
enum tacit_status tacit_gossip_network_choose(struct tacit_gossip_network *network,
                                              const struct tacit_graph *graph,
                                              const struct tacit_entropy *entropies,
                                              const uint32_t **arms);

/* Ends the slot: the two ends of an edge average (lines 17-20; NULL: nobody does), then all take in
 * their rewards, A of them (15, 16, 22). Cost: O(A + K). */
enum tacit_status tacit_gossip_network_absorb(struct tacit_gossip_network *network,
                                              const struct tacit_edge *edge,
                                              const union tacit_sum *rewards,
                                              const struct tacit_entropy *entropies);

/* Shows the network without changing it. */
void tacit_gossip_network_view(const struct tacit_gossip_network *network,
                               struct tacit_gossip_network_view *view);
#endif
