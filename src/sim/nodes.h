/* Nodes under way: shared by nodes.c (what happens), network.c (messages under way) and
 * nodes_memory.c (what they are made of); and what tests put in their place. */
#ifndef TACIT_SIM_NODES_H
#define TACIT_SIM_NODES_H
#include "queue.h"
#include "tacit/sim.h"

struct sim_node {
    void *state;
    size_t state_bytes;
    uint32_t agent;       /* whose state it is: of a clone the agent's, else its own number */
    bool is_done;         /* nothing planned, nothing waited for */
    bool is_waiting;      /* it has a deadline, and nothing to play until then */
    uint64_t deadline_us; /* a timer of another time is void */
    uint64_t waiting_since_us;
    uint64_t slot;        /* pulls really made */
    uint64_t plan_number; /* of the last plan: an earlier one is void */
    uint32_t plan_count;
    uint32_t parts_left; /* of the plan, still to be played: all of it is one */
    struct tacit_pull_block *plan;
    struct tacit_rng rewards;
    struct tacit_rng noise;
};

struct sim_packet {
    uint32_t references;
    uint32_t from; /* an agent, or TACIT_HUB */
    uint32_t rank;
    const void *message;
    uint64_t memory[];
};

struct tacit_sim_nodes {
    struct tacit_sim_nodes_config config;
    const struct tacit_sim_instance *instance; /* of the run under way */
    uint32_t agent_count;
    uint32_t arm_count;
    uint32_t node_count;    /* agents, a place for the hub, clones */
    struct sim_node *nodes; /* in this order */
    struct sim_queue queue;
    struct tacit_sim_curve curve;
    struct tacit_sim_pulls pulls; /* in its place, where these are counted */
    atomic_bool *stop;
    uint64_t now_us;
    uint32_t done_count; /* agents that are done */
    struct tacit_sim_totals totals;
    enum tacit_status status; /* the first failure of the driver itself */
    void *weather;            /* what faults keep */
};

/* What happens otherwise where things go wrong: for tests (tests/support/faults.c). */
struct sim_fault_ops {
    void *(*make)(struct tacit_sim_nodes *nodes); /* what they keep, in the owner's name */
    void (*begin)(struct tacit_sim_nodes *nodes, uint32_t run); /* before the START, .. */
    void (*go_on)(struct tacit_sim_nodes *nodes);               /* .. and after it */
    /* In place of what an update, a message and an item of the queue come to. True: nothing else
     * comes of it. */
    void (*carry_out)(struct tacit_sim_nodes *nodes, struct sim_node *node,
                      const struct tacit_sim_update *update);
    void (*send)(struct tacit_sim_nodes *nodes, struct sim_packet *packet, uint32_t agent);
    bool (*happens)(struct tacit_sim_nodes *nodes, const struct sim_item *item);
    struct tacit_entropy (*noise)(struct tacit_sim_nodes *nodes, struct sim_node *node);
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

/* ---- network.c ---- */

/* Something that will happen to a node; a failure is remembered. */
void sim_push(struct tacit_sim_nodes *nodes, struct sim_item item);

/* Counts a message and sends copies of it on their way. */
void sim_send(struct tacit_sim_nodes *nodes, uint32_t from, const struct tacit_sim_send *send);

/* A copy reaches the node so much later. */
void sim_deliver(struct tacit_sim_nodes *nodes, struct sim_packet *packet, uint32_t node,
                 uint64_t delay_us);

/* Nobody waits for it any more: its end, if all say so. NULL is allowed. */
void sim_packet_drop(struct sim_packet *packet);

/* ---- nodes.c ---- */

void sim_step(struct tacit_sim_nodes *nodes, struct sim_node *node, struct tacit_event event);

/* Is it done? Nobody waits for the hub or for clones. */
void sim_set_done(struct tacit_sim_nodes *nodes, struct sim_node *node, bool is_done);
void sim_end_plan(struct sim_node *node);

/* The parts of an update, in their order: what is said; plan and timer. */
void sim_send_update(struct tacit_sim_nodes *nodes, struct sim_node *node,
                     const struct tacit_sim_update *update);
void sim_set_going(struct tacit_sim_nodes *nodes, struct sim_node *node,
                   const struct tacit_sim_update *update);

/* The regret of what is played from the node's slot on; and its rewards, block by block. */
void sim_record_plan(struct tacit_sim_nodes *nodes, const struct sim_node *node,
                     const struct tacit_pull_block *plan, uint32_t plan_count);
void sim_play_block(struct tacit_sim_nodes *nodes, struct sim_node *node, uint32_t arm,
                    uint64_t count);

/* An agent that waits plays on meanwhile, up to now (READINGS P1.11, sound mode). */
void sim_play_waiting(struct tacit_sim_nodes *nodes, struct sim_node *node);

/* Is plan `number` still the one to play? A new order, or a death, ends it. */
bool sim_is_current(const struct tacit_sim_nodes *nodes, const struct sim_node *node,
                    uint64_t number);
#endif
