/* The state of an agent whose releases double, and where its parts are. */
#ifndef TACIT_GOSSIP_DOUBLING_STATE_H
#define TACIT_GOSSIP_DOUBLING_STATE_H
#include "tacit/doubling.h"

enum doubling_phase {
    DOUBLING_NEW,     /* before START */
    DOUBLING_PULLING, /* blocks are open */
    DOUBLING_WAITING, /* for blocks of others; the leader is played */
    DOUBLING_RESTING, /* the leader until T */
    DOUBLING_FINISHED
};

struct tacit_doubling_agent {
    struct tacit_phases schedule;
    struct tacit_mechanism mechanism;
    struct tacit_ledger ledger;
    uint64_t hop_us;
    uint32_t agent_id;
    uint32_t quorum;
    uint32_t rung_count; /* E: the last one is the first beyond T */
    uint32_t phase;
    uint32_t plan_count;
    uint32_t forced; /* the open plan catches up */
    uint32_t leader;
    uint64_t pull_count;
    uint64_t forced_count;
    uint64_t release_count;
    uint64_t now_us;
    uint64_t speak_us; /* news is passed on then; TACIT_NEVER: there is none */
    /* rungs E | plan 2 K | means K | steps A K E | known, passed on: A K bytes each */
    uint64_t words[];
};

struct tacit_doubling_memory {
    uint64_t left_count;
    /* left K | exact K | noised K | uppers K | releases 3 E | entries */
    uint64_t words[];
};

_Static_assert(sizeof(struct tacit_pull_block) == 2 * sizeof(uint64_t), "a block is two words");
_Static_assert(sizeof(struct tacit_bounds_sum) == 3 * sizeof(uint64_t), "a sum is three words");
_Static_assert(sizeof(struct tacit_doubling_entry) == 3 * sizeof(uint64_t), "so is an entry");

/* ---- Layout of the state ---- */

static inline size_t doubling_cells(const struct tacit_doubling_agent *agent)
{
    return (size_t)agent->schedule.agent_count * agent->schedule.arm_count;
}

static inline uint64_t *doubling_rungs(struct tacit_doubling_agent *agent)
{
    return agent->words;
}

static inline struct tacit_pull_block *doubling_plan(struct tacit_doubling_agent *agent)
{
    return (struct tacit_pull_block *)(void *)(doubling_rungs(agent) + agent->rung_count);
}

static inline double *doubling_means(struct tacit_doubling_agent *agent)
{
    return (double *)(void *)(doubling_plan(agent) + agent->schedule.arm_count);
}

/* Noised sums of the blocks of one agent and arm. */
static inline int64_t *doubling_steps(struct tacit_doubling_agent *agent, uint32_t of, uint32_t arm)
{
    int64_t *const all = (int64_t *)(void *)(doubling_means(agent) + agent->schedule.arm_count);
    return all + ((size_t)of * agent->schedule.arm_count + arm) * agent->rung_count;
}

/* Blocks known of each agent and arm: the first ones, without a gap. */
static inline uint8_t *doubling_known(struct tacit_doubling_agent *agent)
{
    return (uint8_t *)(void *)doubling_steps(agent, agent->schedule.agent_count, 0);
}

/* .. and how many of these were passed on. */
static inline uint8_t *doubling_passed_on(struct tacit_doubling_agent *agent)
{
    return doubling_known(agent) + doubling_cells(agent);
}

static inline uint32_t doubling_known_of(struct tacit_doubling_agent *agent, uint32_t of,
                                         uint32_t arm)
{
    return doubling_known(agent)[(size_t)of * agent->schedule.arm_count + arm];
}

static inline uint32_t doubling_own(struct tacit_doubling_agent *agent, uint32_t arm)
{
    return doubling_known_of(agent, agent->agent_id, arm);
}

/* Pulls of a block: from rung to rung. */
static inline uint64_t doubling_pulls(struct tacit_doubling_agent *agent, uint32_t block)
{
    uint64_t const *const rungs = doubling_rungs(agent);
    return rungs[block] - (block == 0 ? 0 : rungs[block - 1]);
}

/* ---- Layout of the memory ---- */

static inline uint64_t *doubling_left(struct tacit_doubling_memory *memory)
{
    return memory->words;
}

static inline int64_t *doubling_exact(struct tacit_doubling_memory *memory, uint32_t arms)
{
    return (int64_t *)(void *)(memory->words + arms);
}

static inline int64_t *doubling_noised(struct tacit_doubling_memory *memory, uint32_t arms)
{
    return doubling_exact(memory, arms) + arms;
}

static inline double *doubling_uppers(struct tacit_doubling_memory *memory, uint32_t arms)
{
    return (double *)(void *)(doubling_noised(memory, arms) + arms);
}

static inline struct tacit_bounds_sum *doubling_releases(struct tacit_doubling_memory *memory,
                                                         uint32_t arms)
{
    return (struct tacit_bounds_sum *)(void *)(doubling_uppers(memory, arms) + arms);
}

static inline struct tacit_doubling_entry *doubling_entries(struct tacit_doubling_memory *memory,
                                                            uint32_t arms)
{
    return (struct tacit_doubling_entry *)(void *)(doubling_releases(memory, arms) +
                                                   TACIT_BOUNDS_RELEASES_MAX);
}

/* ---- What is played next (doubling_choice.c) ---- */

/* Blocks of the arm that a quorum of sites has released. Cost: O(A). */
uint32_t doubling_level(struct tacit_doubling_agent *agent, uint32_t arm);

/* Makes the next plan from what is known: blocks that others have and this agent has not, else what
 * the index says; nothing while blocks of others are missing. Sets phase, plan, leader, means. */
void doubling_choose(struct tacit_doubling_agent *agent, struct tacit_doubling_memory *memory);
#endif
