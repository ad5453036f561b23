/* Lockstep runs of gossip UCB, by agents that exchange messages or by the network, on tapes that a
 * twin can share: one stream an agent for what the agent draws, one for its rewards, one for edges.
 */
#ifndef TACIT_TESTS_GOSSIP_DRIVER_H
#define TACIT_TESTS_GOSSIP_DRIVER_H
#include "network.h"
#include "tacit/gossip.h"

#define GOSSIP_SLOT_US 1000u

enum gossip_rewards { GOSSIP_BERNOULLI, GOSSIP_GAUSSIAN };

struct gossip_setting {
    uint64_t seed;
    uint32_t run;
    enum gossip_rewards rewards;
    const struct network *network;
    struct tacit_gossip_config config;
    const double *means; /* A x K */
};

/* The tapes of a run. */
struct gossip_tapes {
    struct tacit_rng *agents;
    struct tacit_rng *rewards;
    struct tacit_rng edges;
};

struct gossip_tapes gossip_tapes_new(const struct gossip_setting *setting);
void gossip_tapes_free(struct gossip_tapes *tapes);
/* The next reward of this agent's tape, on the scale of the run. */
union tacit_sum gossip_tape_reward(const struct gossip_setting *setting, struct gossip_tapes *tapes,
                                   uint32_t agent, uint32_t arm);
struct tacit_edge gossip_tape_edge(const struct gossip_setting *setting,
                                   struct gossip_tapes *tapes);

/* ---- The network ---- */

struct gossip_direct {
    const struct gossip_setting *setting;
    struct gossip_tapes tapes;
    struct tacit_gossip_rule rule;
    struct tacit_gossip_network *network;
    struct tacit_entropy *entropies;
    union tacit_sum *rewards;
};

void gossip_direct_init(struct gossip_direct *direct, const struct gossip_setting *setting);
void gossip_direct_slot(struct gossip_direct *direct);
void gossip_direct_free(struct gossip_direct *direct);

/* ---- Agents ---- */

struct gossip_cores {
    const struct gossip_setting *setting;
    struct gossip_tapes tapes;
    struct tacit_gossip_rule rule;
    struct tacit_gossip_agent **agents;
    struct tacit_gossip_memory **memories;
    size_t *sizes;
    uint64_t now_us;
    uint64_t message_count;
};

void gossip_cores_init(struct gossip_cores *cores, const struct gossip_setting *setting);
void gossip_cores_slot(struct gossip_cores *cores);
void gossip_cores_free(struct gossip_cores *cores);
#endif
