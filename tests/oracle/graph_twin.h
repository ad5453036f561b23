/* Naive twin of the epoch elimination: one slot, one agent, one pull at a time, with a struct put
 * into a mailbox for every ADV, REQ, DATA, upload and order. Written from the paper (Alg. 1 and
 * Sec. IV-B: CDP-MAB; Alg. 2+3: GIS, DDP-MAB; Alg. 4+5: sinks, HDP-MAB) and READINGS P1 1-20. It
 * shares no line with the production code, and it is not fast, not private and not meant to become
 * either.
 *
 * Shape letters: M agents, K arms, T horizon, r epoch, Q components, E edges, d_G diameter.
 *
 * What the readings leave open and what was chosen here:
 * - GIS: communication slot 1 happens at the end of the slot in which exploration ends; slot c + 1
 *   at the end of the c-th waiting slot. With d_G = 0 (one agent) there is none.
 * - Sinks: hop h happens at the end of the h-th waiting slot (first_hop_early: of the slot before
 *   it, so that the first one is in the slot in which exploration ends); what an agent passes on in
 *   it is one message. A sink that has everything uploads at once; the server answers at once when
 * the last upload is there.
 * - GIS: advertisers are asked in ascending order, so a REQ goes to the lowest one that has what is
 *   missing.
 * - A round is counted and charged in full (links, cost) the moment it begins. If T cuts it, the
 *   waiting pulls end at T, messages are those really sent, and its aggregate is never formed. A
 *   communication slot or hop at the end of slot T itself still happens.
 * - Server orders are counted as one broadcast for each epoch with pulls and one at the end.
 * Without a server nobody orders.
 * - A star is a hybrid of single agents: each is a sink, and nobody waits. */
#ifndef TACIT_TESTS_GRAPH_TWIN_H
#define TACIT_TESTS_GRAPH_TWIN_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GRAPH_TWIN_TRACE_MAX 64u
#define GRAPH_TWIN_STEPS 1048576.0 /* sound mode counts rewards in units of 2^-20 */
#define GRAPH_TWIN_SAME 1e-12      /* global means closer than this count as equal */

enum graph_twin_kind {
    GRAPH_TWIN_ALONE, /* each agent by itself: Alg. 1 with M = 1 (reading 20) */
    GRAPH_TWIN_GIS,   /* one connected graph, everybody learns everything: DDP-MAB */
    GRAPH_TWIN_SINKS  /* components with a sink each, and a server: HDP-MAB */
};

struct graph_twin_edge {
    uint32_t a;
    uint32_t b;
};

struct graph_twin_config {
    enum graph_twin_kind kind;
    uint32_t agents;     /* M >= 1 */
    uint32_t arms;       /* K >= 1 */
    const double *means; /* mean_rows x K, each in [0, 1] */
    uint32_t mean_rows;  /* 1: all agents alike; M: one row per agent */
    bool constant_rewards;
    uint64_t horizon; /* T, 1 .. 2^40 */
    double epsilon;   /* > 0. The paper's letter; with `sound` per reward. INFINITY: no noise */
    bool sound;
    uint32_t rounds; /* R; 0: no limit */
    double gap;      /* Delta for the R rule; 0: the true smallest positive gap */
    const struct graph_twin_edge *edges;
    size_t edge_count;
    const uint32_t *component_of; /* M numbers below component_count; sinks only */
    uint32_t component_count;     /* Q; sinks only */
    bool average_of_averages;     /* Alg. 5 l. 14 to the letter; false: an average over agents */
    double participation;    /* sinks: the share that reports, drawn for each epoch; 0: no star */
    bool first_hop_early;    /* sinks: max sd - 1 waiting slots (Alg. 4 l. 4) for max sd */
    double cost_server_link; /* c1 */
    double cost_agent_link;  /* c2 */
    uint64_t seed;
    const uint64_t *checkpoints; /* ascending slots, 1 .. T */
    uint32_t checkpoint_count;
    double *regret_at; /* out, checkpoint_count values: regret of the slots 1 .. checkpoint */
};

struct graph_twin_epoch {
    uint64_t s; /* S(r), ceiled, never below S(r-1) */
    uint64_t n; /* S(r) - S(r-1) */
    double c;   /* C(r) */
    uint32_t active_before;
    uint32_t active_after;  /* equals active_before where T cut the epoch or its round */
    bool round_begun;       /* false: n = 0, or exploration cut by T */
    bool round_ended;       /* false: also if T cut the waiting */
    uint64_t waiting_slots; /* exploitation pulls of one agent */
};

struct graph_twin_result {
    double regret;
    double regret_exploit; /* part of it: pulls while waiting */
    double cost;
    double cost_all_edges; /* every edge of a graph or component in every slot or hop of it */
    uint32_t rounds; /* communication rounds begun; alone: most epochs that an agent completed */
    uint32_t rounds_ended;
    uint32_t epochs;    /* epochs begun, those with n = 0 and one cut by T included */
    uint32_t diameter;  /* d_G; gis only */
    uint32_t delay;     /* t_delay: waiting pulls of one agent in a whole round */
    uint64_t slots;     /* communication slots or hops that happened */
    uint64_t links;     /* the paper's: |E| d_G a round, or sum of distances to sinks + Q */
    uint64_t adv;       /* a broadcast is 1 */
    uint64_t adv_heard; /* a broadcast is one a neighbour */
    uint64_t req;       /* one per advertiser asked in a slot */
    uint64_t data;      /* one per REQ; with sinks one per agent and hop */
    uint64_t uploads;   /* sink -> server */
    uint64_t orders;    /* server -> everybody */
    uint64_t messages;  /* all of them; a broadcast is 1 */
    uint64_t messages_per_receiver;
    uint64_t scalars; /* one per mean in DATA and uploads */
    uint64_t samples; /* pulls that entered estimates (those of an epoch that T cuts never do) */
    uint64_t waiting_pulls; /* of all agents */
    bool agents_agree;      /* same aggregate and arm set at all agents after each round */
    double single_arm_fraction;
    double best_arm_fraction; /* agents that rank the best arm first; none before an aggregate */
    uint32_t final_arm_count; /* of agent 0 */
    uint32_t final_arm; /* of agent 0: last one; else best aggregated mean, lowest index on ties */
    bool final_arm_is_best;
    uint32_t *eliminated_epoch; /* in: the caller's array of K, or NULL; agent 0's; 0: survived */
    uint32_t trace_count;       /* min(epochs, GRAPH_TWIN_TRACE_MAX); agent 0's */
    struct graph_twin_epoch trace[GRAPH_TWIN_TRACE_MAX];
};

/* Plays one run of T slots. Requires: no edge between components, no loop, no double edge. Ensures:
 * false, with result unspecified, where a graph or component is not connected. The same config
 * gives the same result. Aborts when memory runs out. Cost: O(M T). */
bool graph_twin_run(const struct graph_twin_config *config, struct graph_twin_result *result);

/* A seed for run number `run` of a series: a hash of both. */
uint64_t graph_twin_seed(uint64_t seed, uint64_t run);
#endif
