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

/* In place of this family's nodes (run.c), by whoever looks on: for tests. */
struct elim_hooks {
    const struct tacit_sim_node_ops *ops;
    bool signs_rows; /* rows of a graph are signed */
};

/* The plan: everything that its runs need. */
struct elim_sim {
    struct tacit_sim common;
    uint32_t report_count; /* N: agents averaged in a round; each on its own: 1 */
    uint32_t round_limit;  /* R, or 0 */
    double gap;            /* Delta for R; 0: the true smallest gap of each run's means */
    double growth;         /* of exact bounds; 0: the paper's */
    double confidence;     /* with them; 0: delta = 1/T */
    struct tacit_mechanism mechanism;         /* of a site itself */
    struct tacit_sim_aggregators aggregators; /* theirs, where there are two */
    uint32_t floor_milli;                     /* of the schedule */
    double epsilon_per_reward; /* in S and C; INFINITY switches the second terms off */
    double server_link_cost;   /* c1 */
    double peer_link_cost;     /* c2 */
    const struct tacit_elim_network *network; /* NULL: a star */
    uint32_t quorum;                          /* of the hub, as the two below; 0: all N */
    uint64_t round_timeout_us;                /* 0: no deadline */
    bool has_grants;                          /* commit, grant, reveal (tacit/commit.h) */
    uint64_t gather_timeout_us;            /* of a sink, from its own report on; 0: waits for all */
    const struct tacit_sim_faults *faults; /* NULL: every message arrives at once, nothing fails */
    const struct elim_hooks *hooks;        /* NULL: none. Single-threaded use only */
};

/* ---- memory.c ---- */

/* Delta of a run with these means, on the scale of the rewards; NULL: they are not known. Without a
 * round limit, and where all arms are alike, there is nothing to tell apart: 1. */
double elim_sim_gap(const struct elim_sim *experiment, const double *means);

/* What the judges of a run with this Delta follow. */
struct tacit_elim_schedule elim_sim_schedule(const struct elim_sim *experiment, double gap);
#endif
