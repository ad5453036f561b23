/* Nodes under way: shared by nodes.c (what happens), network.c (messages under way) and
 * nodes_memory.c (what they are made of). */
#ifndef TACIT_SIM_NODES_H
#define TACIT_SIM_NODES_H
#include "queue.h"
#include "tacit/sim.h"

struct sim_node {
    void *state;
    void *extra;
    void *disk; /* the persisted state and extra memory, when there are faults */
    size_t state_bytes;
    size_t extra_bytes;
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
    struct tacit_pull_block *plan;
    struct tacit_rng rewards;
    struct tacit_rng noise;
};

struct tacit_sim_nodes {
    struct tacit_sim_nodes_config config;
    const struct tacit_sim_instance *instance; /* of the run under way */
    uint32_t agent_count;
    uint32_t arm_count;
    struct sim_node *nodes; /* agents, then the hub */
    struct sim_queue queue;
    struct tacit_sim_curve curve;
    struct tacit_rng faults;
    atomic_bool *stop;
    uint64_t now_us;
    uint32_t done_count;
    struct tacit_sim_totals totals;
    enum tacit_status status; /* the first failure of the driver itself */
    unsigned char *arena;
};

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
bool sim_by_chance(struct tacit_sim_nodes *nodes, double chance);
uint64_t sim_up_to(struct tacit_sim_nodes *nodes, uint64_t max);

/* ---- network.c ---- */

/* Something that will happen to a node; a failure is remembered. */
void sim_push(struct tacit_sim_nodes *nodes, struct sim_item item);

/* Counts a message and sends copies of it on their way. */
void sim_send(struct tacit_sim_nodes *nodes, uint32_t from, const struct tacit_sim_send *send);

/* The message of a packet, and its end when nobody waits for it any more; NULL is allowed. */
const void *sim_packet_message(const struct sim_packet *packet);
void sim_packet_drop(struct sim_packet *packet);
#endif
