/* A run of epoch elimination under way: shared by elim_run.c (what happens), elim_memory.c (what it
 * is made of) and elim_results.c (what it came to). */
#ifndef TACIT_SIM_ELIM_STATE_H
#define TACIT_SIM_ELIM_STATE_H
#include "curve.h"
#include "queue.h"
#include "tacit/sim.h"

struct node {
    void *state;
    void *disk;                     /* the persisted state and table, when there are faults */
    size_t size;                    /* of the state */
    struct tacit_elim_table *table; /* of a peer */
    size_t table_size;              /* of a peer's own; 0: it shares the run's */
    bool is_up;
    bool is_lost; /* and will not be up again */
    bool is_done; /* nothing planned, nothing waited for; or lost */
    bool is_waiting;
    uint64_t deadline_us;
    uint64_t waiting_since_us;
    uint64_t slot; /* pulls really made */
    uint64_t plan_number;
    uint32_t plan_count;
    uint32_t parts_left;
    bool plan_explores;
    struct tacit_pull_block *plan;
    struct tacit_rng rewards;
    struct tacit_rng noise;
};

struct elim_run {
    const struct tacit_sim_elim *experiment;
    uint32_t agent_count;
    uint32_t arm_count;
    struct node *nodes; /* agents, then the hub */
    struct tacit_env env;
    double *own_means; /* instance_per_run: the env's means */
    double *global_means;
    double *gaps;
    uint64_t *members; /* component_count x W(A): agents of each component */
    uint32_t *weights; /* A: how many agents a sink reports for */
    struct sim_queue queue;
    struct sim_curve curve;
    struct tacit_rng faults;
    atomic_bool *stop;
    uint64_t now_us;
    uint32_t done_count;
    double metrics[TACIT_SIM_METRIC_COUNT];
    enum tacit_status status; /* the first failure of the driver itself */
    unsigned char *arena;
};

/* ---- elim_memory.c ---- */

struct node *elim_run_hub(struct elim_run *run);

/* Is there a hub, or does everybody judge? */
bool elim_run_has_hub(const struct elim_run *run);

/* The view of an agent, be it in a peer or not. */
void elim_run_look(const struct elim_run *run, const struct node *node,
                   struct tacit_elim_agent_view *view);

/* The agent's core, be it in a peer or not. */
struct tacit_elim_agent *elim_run_agent(const struct elim_run *run, const struct node *node);

struct tacit_elim_agent_config elim_run_agent_config(const struct tacit_sim_elim *experiment,
                                                     uint64_t run_id, uint32_t agent);
struct tacit_elim_hub_config elim_run_hub_config(const struct tacit_sim_elim *experiment,
                                                 uint64_t run_id, double gap,
                                                 const uint32_t *weights);
struct tacit_elim_peer_config elim_run_peer_config(const struct elim_run *run, uint64_t run_id,
                                                   uint32_t agent, double gap);

/* ---- elim_results.c ---- */

void elim_run_write_results(struct elim_run *run, uint32_t index,
                            const struct tacit_sim_results *results);
#endif
