/* A run of epoch elimination under way: shared by run.c (what happens), memory.c (what it is made
 * of) and results.c (what it came to). */
#ifndef TACIT_FAMILIES_ELIM_STATE_H
#define TACIT_FAMILIES_ELIM_STATE_H
#include "experiment.h"
#include "flood.h"

/* What the judges make of one arm. */
struct elim_rank {
    uint32_t arm;
    uint32_t first_count; /* judges that rank it first */
    uint32_t left_count;  /* judges that have it left */
    double mean_sum;      /* of their estimates */
};

/* The round that a hub collects, as it was when it began. */
struct elim_round {
    uint32_t epoch;
    uint32_t round_count; /* judged before it */
    uint32_t active_count;
    uint64_t pulls; /* S */
};

struct elim_run {
    const struct elim_sim *experiment;
    uint32_t agent_count;
    uint32_t arm_count;
    uint32_t node_count;      /* agents, a place for a hub, clones */
    struct elim_flood *flood; /* where distances do; then there are no nodes */
    struct tacit_sim_nodes *nodes;
    struct tacit_sim_instance instance;
    struct tacit_elim_table *shared_table; /* of all peers where nothing fails; or NULL: then .. */
    size_t peer_bytes;                     /* .. each has its own, so far behind its state */
    uint64_t *members;                     /* component_count x W(A): agents of each component */
    uint32_t *weights;                     /* A: how many agents a sink reports for */
    uint64_t *counted_pulls; /* A: S of the last round of the hub that the agent's sums were in */
    struct tacit_rng *salts; /* node_count: of the agents, and of their clones */
    struct elim_round round; /* that the hub is collecting */
    struct elim_rank *ranks; /* K: scratch */
    double gap;              /* Delta of this run */
    double samples;
    struct tacit_elim_update update; /* of the step under way */
};

/* ---- memory.c ---- */

/* Is there a hub, or does everybody judge? */
bool elim_run_has_hub(const struct elim_run *run);

/* The hub's state. */
struct tacit_elim_hub *elim_run_hub(const struct elim_run *run);

/* An agent's table of reports: its own, or the one that all share. */
struct tacit_elim_table *elim_run_table(const struct elim_run *run, uint32_t agent);

/* The view of an agent, be it in a peer or not. */
void elim_run_view(const struct elim_run *run, uint32_t agent, struct tacit_elim_agent_view *view);

struct tacit_elim_agent_config elim_run_agent_config(const struct elim_sim *experiment,
                                                     uint64_t run_id, uint32_t agent);
struct tacit_elim_hub_config elim_run_hub_config(const struct elim_sim *experiment, uint64_t run_id,
                                                 double gap, const uint32_t *weights);
struct tacit_elim_peer_config elim_run_peer_config(const struct elim_run *run, uint64_t run_id,
                                                   uint32_t agent, double gap);

/* ---- run.c ---- */

/* What the simulator's nodes are here. */
extern const struct tacit_sim_node_ops elim_node_ops;

/* The parts of a node's step: what happens, as the core knows it; the core's step, whose update is
 * in the run; and what the simulator is to do. Salts are the node's own unless the event has some.
 */
void elim_run_step(struct elim_run *run, uint32_t node, struct tacit_event *event,
                   const struct tacit_entropy *entropy);
void elim_run_carry_out(struct elim_run *run, uint32_t node, struct tacit_sim_update *update);

/* ---- samples.c: rewards that entered estimates ---- */

/* The hub made a step: a round that it judged is counted, once. */
void elim_run_count_hub(struct elim_run *run);

/* Where no hub makes steps: the rounds that the judges judged. */
void elim_run_count_judges(struct elim_run *run);

/* ---- results.c ---- */

/* What was decided, by the hub or, where agents judge, by this one. Its arrays stay the judge's. */
struct tacit_elim_judge_view elim_run_verdict(const struct elim_run *run, uint32_t agent);

void elim_run_write_results(struct elim_run *run, struct tacit_sim_row *row);
#endif
