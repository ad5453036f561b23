/* Epoch elimination in the simulator: everything that its runs need, what they measure, and who may
 * look on. */
#ifndef TACIT_FAMILIES_ELIM_EXPERIMENT_H
#define TACIT_FAMILIES_ELIM_EXPERIMENT_H
#include "tacit/elim.h"
#include "tacit/metric.h"
#include "tacit/sim.h"

enum elim_metric {
    ELIM_REGRET,
    ELIM_REGRET_PER_AGENT,
    ELIM_REGRET_EXPLOIT,
    ELIM_ROUNDS,
    ELIM_COST,
    ELIM_COST_ALL_EDGES,
    ELIM_LINKS,
    ELIM_MESSAGES,
    ELIM_MESSAGES_PER_RECEIVER,
    ELIM_SCALARS,
    ELIM_BYTES,
    ELIM_SINGLE_ARM_FRACTION,
    ELIM_BEST_ARM_FRACTION,
    ELIM_SAMPLES,
    ELIM_CONTROL_MESSAGES,
    ELIM_CONTROL_BYTES,
    ELIM_METRIC_COUNT
};

/* Their names and labels, in this order. */
extern const struct tacit_metric elim_metrics[];

/* What an outside observer sees of a run, in order. Any function may be NULL. */
struct elim_observer {
    void *context;
    void (*agent_persisted)(void *context, uint32_t agent, const struct tacit_elim_agent *state);
    void (*peer_persisted)(void *context, uint32_t agent, const struct tacit_elim_peer *state);
    void (*hub_persisted)(void *context, const struct tacit_elim_hub *state);
    void (*sent)(void *context, const struct tacit_elim_message *message);
    void (*pulled)(void *context, uint32_t agent, uint32_t arm, uint64_t count);
    /* Between an agent's step and the effects of its update: where tests plant bugs. */
    void (*meddle)(void *context, uint32_t agent, struct tacit_elim_agent *state,
                   struct tacit_elim_update *update);
    void (*meddle_hub)(void *context, struct tacit_elim_hub *state,
                       const struct tacit_elim_event *event, struct tacit_elim_update *update);
    const struct tacit_entropy *salts;    /* of all agents; NULL: each has its own */
    const struct tacit_elim_seals *seals; /* of all peers of a graph; NULL: rows have none */
    /* The same of a peer, with what lies beside its state. */
    void (*meddle_peer)(void *context, uint32_t agent, struct tacit_elim_peer *state,
                        struct tacit_elim_table *table, const struct tacit_elim_event *event,
                        struct tacit_elim_update *update);
    /* Before and after each step of an agent or of a clone (a node of the simulator). */
    void (*stepping)(void *context, uint32_t node, const struct tacit_elim_event *event);
    void (*stepped)(void *context, uint32_t node, uint32_t agent,
                    const struct tacit_elim_event *event, const struct tacit_elim_agent *state,
                    const struct tacit_elim_update *update);
    /* As of the simulator's nodes. */
    void (*copied)(void *context, enum tacit_sim_place to, uint32_t to_index,
                   enum tacit_sim_place from, uint32_t from_index);
};

/* The plan: everything that its runs need. */
struct elim_sim {
    struct tacit_sim common;
    uint32_t report_count; /* N: agents averaged in a round; each on its own: 1 */
    uint32_t round_limit;  /* R, or 0 */
    double gap;            /* Delta for R; 0: the true smallest gap of each run's means */
    double growth;         /* of exact bounds, over graphs and hybrids; 0: the paper's */
    double confidence;     /* with them; 0: delta = 1/T */
    struct tacit_mechanism mechanism;
    double epsilon_per_reward; /* in S and C; INFINITY switches the second terms off */
    double server_link_cost;   /* c1 */
    double peer_link_cost;     /* c2 */
    const struct tacit_elim_network *network; /* NULL: a star */
    uint32_t quorum;                          /* of the hub, as the two below; 0: all N */
    uint64_t round_timeout_us;                /* 0: no deadline */
    bool hub_answers_all;
    bool has_grants;                       /* commit, grant, reveal (tacit/commit.h) */
    uint64_t gather_timeout_us;            /* of a sink, from its own report on; 0: waits for all */
    bool own_tables;                       /* of peers, also where nothing fails: for tests */
    bool sends_messages;                   /* also where distances would do (flood.h): for tests */
    const struct tacit_sim_faults *faults; /* NULL: every message arrives at once, nothing fails */
    const struct elim_observer *observer;  /* NULL: none. Single-threaded use only */
};
#endif
