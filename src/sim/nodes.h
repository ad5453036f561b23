/* Nodes under way: shared by nodes.c (what happens), network.c (messages under way) and
 * nodes_memory.c (what they are made of). */
#ifndef TACIT_SIM_NODES_H
#define TACIT_SIM_NODES_H
#include "queue.h"
#include "tacit/sim.h"

struct sim_node {
    void *state;
    void *extra;
    void *disk;     /* the persisted state and extra memory, when there are faults */
    uint32_t agent; /* whose state it is: of a clone the agent's, else its own number */
    size_t state_bytes;
    size_t extra_bytes;
    bool is_up;
    bool is_lost;         /* and will not be up again */
    bool is_done;         /* nothing planned, nothing waited for; or lost */
    bool is_waiting;      /* it has a deadline, and nothing to play until then */
    uint64_t deadline_us; /* a timer of another time is void */
    uint64_t waiting_since_us;
    uint64_t slot;        /* pulls really made */
    uint64_t plan_number; /* of the last plan: parts of an earlier one are void */
    uint32_t plan_count;
    uint32_t parts_left; /* of the plan, still to be played */
    struct tacit_pull_block *plan;
    struct tacit_rng rewards;
    struct tacit_rng noise;
};

/* An old disk. */
struct sim_backup {
    uint32_t node;
    bool is_taken;
    uint64_t slot;
    void *disk;
};

struct tacit_sim_nodes {
    struct tacit_sim_nodes_config config;
    const struct tacit_sim_instance *instance; /* of the run under way */
    uint32_t agent_count;
    uint32_t arm_count;
    uint32_t clone_count;
    uint32_t backup_count;
    struct sim_node *nodes; /* agents, then the hub, then clones */
    struct sim_backup *backups;
    struct sim_queue queue;
    struct tacit_sim_curve curve;
    struct tacit_sim_pulls pulls; /* in its place, where these are counted */
    struct tacit_rng faults;
    atomic_bool *stop;
    uint64_t now_us;
    uint32_t done_count; /* agents that are done */
    struct tacit_sim_totals totals;
    enum tacit_status status; /* the first failure of the driver itself */
    unsigned char *arena;     /* what nodes, their states and backups lie in; NULL: not had yet */
};

/* The hub, if there is one, stands after all agents. */
static inline bool sim_is_hub(const struct tacit_sim_nodes *nodes, const struct sim_node *node)
{
    return node == nodes->nodes + nodes->agent_count;
}

static inline uint32_t sim_index(const struct tacit_sim_nodes *nodes, const struct sim_node *node)
{
    return (uint32_t)(node - nodes->nodes);
}

/* ---- Chance of the faults ---- */

/* Do things go wrong now? */
bool sim_faults_rage(const struct tacit_sim_nodes *nodes);
/* With this probability while they do; else never, and nothing is drawn. */
bool sim_by_chance(struct tacit_sim_nodes *nodes, double chance);
/* Uniform in 0 .. max. */
uint64_t sim_up_to(struct tacit_sim_nodes *nodes, uint64_t max);

/* ---- network.c ---- */

/* Something that will happen to a node; a failure is remembered. */
void sim_push(struct tacit_sim_nodes *nodes, struct sim_item item);

/* Counts a message and sends copies of it on their way. */
void sim_send(struct tacit_sim_nodes *nodes, uint32_t from, const struct tacit_sim_send *send);

/* The message of a packet, and its end when nobody waits for it any more; NULL is allowed. */
const void *sim_packet_message(const struct sim_packet *packet);
void sim_packet_drop(struct sim_packet *packet);

/* ---- nodes.c ---- */

/* What was not persisted is gone, and so is the process; it starts again, after a while, from what
 * is on the disk now. */
void sim_crash(struct tacit_sim_nodes *nodes, struct sim_node *node);

/* ---- copies.c ---- */

/* Decides when old states come back. */
void sim_plan_copies(struct tacit_sim_nodes *nodes);

/* Tells those who look on that a state was written over another one. */
void sim_notify_copied(const struct tacit_sim_nodes *nodes, enum tacit_sim_location to,
                       uint32_t to_index, enum tacit_sim_location from, uint32_t from_index);

/* A backup is taken, or comes back, or a clone begins. */
void sim_copy(struct tacit_sim_nodes *nodes, const struct sim_item *item);
#endif
