/* Where the state of an agent has its parts, and what its rooms have of each other: agent.c takes
 * events, agent_slot.c plays slots and takes rewards, agent_send.c writes messages, agent_receive.c
 * takes those of neighbours, agent_check.c looks at what lay on a disk. */
#ifndef TACIT_GOSSIP_AGENT_STATE_H
#define TACIT_GOSSIP_AGENT_STATE_H
#include "row.h"

#define VALUE_MAX 1e100 /* no sum of rewards and noise comes near it */

enum phase {
    PHASE_NEW,     /* before START */
    PHASE_FIRST,   /* line 1: the first pulls are planned */
    PHASE_WAITING, /* lockstep: for the next slot */
    PHASE_PULLING, /* one pull is planned */
    PHASE_FINISHED,
    PHASE_HALTED
};

struct gossip_clock {
    uint64_t now_us;
    uint64_t lived_us; /* of all incarnations: what others can have pulled by now */
};

/* A later start of a site has the greater number; copies of a state that both start have different
 * names. */
struct gossip_incarnation {
    uint64_t number;
    uint64_t name;
};

/* An edge, as this end knows it; K words of flow and K of the last shift follow elsewhere. */
struct edge {
    uint64_t neighbour;
    uint64_t exchange; /* the last one */
    struct gossip_incarnation incarnation;
};

struct tacit_gossip_agent {
    struct tacit_gossip_rule rule;
    uint64_t run_id;
    uint64_t slot_us;
    uint64_t exchange_us;
    uint64_t pull_us;
    uint32_t agent_id;
    uint32_t neighbour_count;
    uint32_t phase;
    uint32_t first_left; /* first pulls whose reward is missing */
    uint64_t slot;
    uint64_t pull_count;
    uint64_t forced_count;
    uint64_t exchange_count;
    struct gossip_clock clock;
    uint64_t deadline_us;
    struct gossip_incarnation incarnation;
    uint64_t offered_until_us; /* waits for the SHIFT of an OFFER */
    uint32_t arm;
    uint32_t forced;
    /* K: count | seen | heard | theta | mean | reach | bonus | base | total |
     * W(K): first pulls that came | plan K | edges d | flow d K | shift d K | neighbour ids d */
    uint64_t words[];
};

struct tacit_gossip_memory {
    uint64_t tree_bytes;
    uint64_t words[];
};

/* ---- Layout ---- */

/* As a row has them (row.h), and what neighbours said of n~ since the last slot (heard). */
enum array {
    ARRAY_COUNT,
    ARRAY_SEEN,
    ARRAY_HEARD,
    ARRAY_THETA,
    ARRAY_MEAN,
    ARRAY_REACH,
    ARRAY_BONUS,
    ARRAY_BASE,
    ARRAY_TOTAL,
    ARRAYS
};

#define WORDS_OF(type) (sizeof(type) / sizeof(uint64_t))

static inline uint64_t *array_of(struct tacit_gossip_agent *agent, enum array array)
{
    TACIT_ASSERT(array <= ARRAYS);
    return agent->words + (size_t)array * agent->rule.arm_count;
}

static inline double *doubles_of(struct tacit_gossip_agent *agent, enum array array)
{
    return (double *)(void *)array_of(agent, array);
}

static inline union tacit_sum *sums_of(struct tacit_gossip_agent *agent, enum array array)
{
    return (union tacit_sum *)(void *)array_of(agent, array);
}

/* W(K): of which arms the first pull's reward came. */
static inline uint64_t *came_of(struct tacit_gossip_agent *agent)
{
    return array_of(agent, ARRAYS);
}

static inline struct tacit_pull_block *plan_of(struct tacit_gossip_agent *agent)
{
    return (struct tacit_pull_block *)(void *)(came_of(agent) +
                                               TACIT_BITS_WORDS(agent->rule.arm_count));
}

static inline struct edge *edges_of(struct tacit_gossip_agent *agent)
{
    return (struct edge *)(void *)(plan_of(agent) + agent->rule.arm_count);
}

/* K: what the edge has moved to this agent's theta in all; its other end has the negative. */
static inline double *flow_of(struct tacit_gossip_agent *agent, uint32_t edge)
{
    TACIT_ASSERT(edge <= 2 * agent->neighbour_count);
    double *const flows = (double *)(void *)(edges_of(agent) + agent->neighbour_count);
    return flows + (size_t)edge * agent->rule.arm_count;
}

/* K: what the last exchange moved from the keeper to the other end. */
static inline double *shift_of(struct tacit_gossip_agent *agent, uint32_t edge)
{
    TACIT_ASSERT(edge < agent->neighbour_count);
    return flow_of(agent, agent->neighbour_count + edge);
}

/* The edge to this neighbour; neighbour_count if there is none. Cost: O(log d). */
static inline uint32_t edge_to(struct tacit_gossip_agent *agent, uint32_t neighbour)
{
    struct edge const *const edges = edges_of(agent);
    uint32_t low = 0;
    uint32_t high = agent->neighbour_count;
    while (low < high) {
        uint32_t const middle = low + (high - low) / 2;
        if (edges[middle].neighbour < neighbour)
            low = middle + 1;
        else
            high = middle;
    }
    bool const is_there = low < agent->neighbour_count && edges[low].neighbour == neighbour;
    return is_there ? low : agent->neighbour_count;
}

/* Is this agent the keeper of the edge? The end with the lower number is: it computes what an
 * exchange moves (SHIFT); the other one offers its theta (OFFER), asked (ASK) or by its clock. */
static inline bool is_keeper(const struct tacit_gossip_agent *agent, uint32_t neighbour)
{
    TACIT_ASSERT(neighbour != agent->agent_id);
    return agent->agent_id < neighbour;
}

/* Slots are synchronous, as in the paper; else each agent goes by its own clock. */
static inline bool is_lockstep(const struct tacit_gossip_agent *agent)
{
    return agent->slot_us > 0;
}

static inline bool row_is_finite(const double *row, uint32_t arms)
{
    for (uint32_t arm = 0; arm < arms; arm++)
        if (!(fabs(row[arm]) <= VALUE_MAX))
            return false;
    return true;
}

/* ---- agent_receive.c ---- */

/* A message from a neighbour. Errors, nothing changed: as tacit_gossip_agent_step; and
 * TACIT_ROLLBACK: refused, another incarnation of this site is heard, so it has halted. */
enum tacit_status gossip_agent_on_message(struct tacit_gossip_agent *agent,
                                          const struct tacit_gossip_message *message,
                                          struct tacit_gossip_update *update);

/* ---- agent_send.c ---- */

/* Its head; what it holds is the caller's. */
struct tacit_gossip_message gossip_agent_message_to(const struct tacit_gossip_agent *agent,
                                                    uint32_t to,
                                                    enum tacit_gossip_message_kind kind);
/* Into the update, with n~ where it goes along. */
void gossip_agent_send(struct tacit_gossip_agent *agent, struct tacit_gossip_message message,
                       struct tacit_gossip_update *update);
/* OFFER to an edge's keeper: until its SHIFT comes, or four exchanges' time, this agent's theta is
 * promised and its clock begins no other exchange. */
void gossip_agent_offer(struct tacit_gossip_agent *agent, uint32_t edge,
                        struct tacit_gossip_update *update);
/* SHIFT, the keeper's answer to an OFFER: what the edge's last exchange moved, new or not. */
void gossip_agent_answer(struct tacit_gossip_agent *agent, uint32_t edge,
                         struct tacit_gossip_update *update);
/* Meets a neighbour by chance: ASK or OFFER. Errors: TACIT_ENTROPY, nothing changed. */
enum tacit_status gossip_agent_begin_exchange(struct tacit_gossip_agent *agent,
                                              const struct tacit_entropy *entropy,
                                              struct tacit_gossip_update *update);

/* ---- agent_slot.c ---- */

/* The slot's pull, and the first pulls that are missing, into the update: after a restart again. */
void gossip_agent_plan_pull(struct tacit_gossip_agent *agent, struct tacit_gossip_update *update);
void gossip_agent_plan_first(struct tacit_gossip_agent *agent, struct tacit_gossip_update *update);
/* Lines 3-14: the next pull is chosen and planned. Errors: TACIT_ENTROPY, nothing changed. */
enum tacit_status gossip_agent_begin_slot(struct tacit_gossip_agent *agent,
                                          struct tacit_gossip_memory *memory,
                                          const struct tacit_entropy *entropy,
                                          struct tacit_gossip_update *update);
/* Lines 15, 22, and on to the next slot where agents go by their own clocks. Errors: TACIT_INVALID:
 * no reward that is waited for; TACIT_ENTROPY. Nothing changed then. */
enum tacit_status gossip_agent_on_reward(struct tacit_gossip_agent *agent,
                                         struct tacit_gossip_memory *memory,
                                         const struct tacit_reward *reward,
                                         const struct tacit_entropy *entropy,
                                         struct tacit_gossip_update *update);

#endif
