/* Agents of gossip UCB on their own clocks, over a network that loses, repeats and delays what is
 * said; they die before, between and after the effects of a step, and start from what was durable.
 */
#ifndef TACIT_TESTS_GOSSIP_STORM_H
#define TACIT_TESTS_GOSSIP_STORM_H
#include "gossip_driver.h"

#define GOSSIP_STORM_SITES 24u /* agents, then clones of some */
#define GOSSIP_STORM_FLYING 4096u
#define GOSSIP_STORM_PLAN 8u

struct gossip_storm_flying {
    struct tacit_gossip_message *message;
    uint32_t to;
    uint64_t at_us;
};

struct gossip_storm_site {
    struct tacit_gossip_agent *agent;
    struct tacit_gossip_agent *disk;
    struct tacit_gossip_memory *memory;
    struct tacit_gossip_agent_config config;
    size_t size;
    struct tacit_rng entropy;
    uint64_t deadline_us;
    uint64_t started_us; /* its clock begins anew with each incarnation */
    struct tacit_pull_block plan[GOSSIP_STORM_PLAN];
    uint32_t plan_count;
    bool halted;
};

struct gossip_storm {
    struct gossip_storm_site sites[GOSSIP_STORM_SITES];
    uint32_t agents;
    uint32_t site_count;
    struct network *network;
    struct tacit_rng chance;
    struct gossip_storm_flying flying[GOSSIP_STORM_FLYING];
    uint32_t flying_count;
    uint64_t now_us;
    double loss, duplication, crash;
    uint64_t delay_us;
    uint32_t crashes;
    bool is_quiet; /* no timer goes off */
    /* A step of an agent, looked at. */
    enum tacit_status (*step)(struct gossip_storm *storm, struct gossip_storm_site *site,
                              const struct tacit_event *event, struct tacit_gossip_update *update);
    /* The chance that this arm pays. */
    double (*mean)(const struct gossip_storm *storm, uint32_t site, uint32_t arm);
};

/* One more site, which starts from this disk; NULL: from a first state. */
void gossip_storm_add(struct gossip_storm *storm, const struct tacit_gossip_agent_config *config,
                      struct tacit_rng entropy, const struct tacit_gossip_agent *disk);
/* One step and its effects in their order. */
void gossip_storm_step(struct gossip_storm *storm, uint32_t site, struct tacit_event event);
void gossip_storm_play(struct gossip_storm *storm, uint64_t until_us, bool pulls);
void gossip_storm_close(struct gossip_storm *storm);
#endif
