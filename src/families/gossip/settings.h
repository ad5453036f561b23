/* What a coordinator's file says about gossip UCB, beside what all protocols have. */
#ifndef TACIT_GOSSIP_SETTINGS_H
#define TACIT_GOSSIP_SETTINGS_H
#include "tacit/gossip.h"
#include "tacit/topo.h"

struct gossip_hub_settings {
    const struct tacit_graph *graph; /* of the sites, connected */
    uint64_t exchange_us;
    uint64_t pull_us; /* 0: not known */
    bool log_base_10;
};

/* The rule of a live run: sound mode, rewards clipped to [lo, hi]. Errors: TACIT_INVALID: a share
 * of epsilon is too small for noise. Requires: the rest is within its limits. */
static inline enum tacit_status
gossip_live_rule(struct tacit_gossip_rule *rule, uint32_t agent_count, uint32_t arm_count,
                 uint64_t horizon, const struct tacit_mechanism_config *mechanism, bool log_base_10)
{
    struct tacit_gossip_config const config = {.agent_count = agent_count,
                                               .arm_count = arm_count,
                                               .horizon = horizon,
                                               .mechanism = *mechanism,
                                               .width = 1,
                                               .log_base_10 = log_base_10};
    return tacit_gossip_rule_init(rule, &config);
}

/* Epsilon as the agreement says it. Requires: a mechanism that is valid, sound. */
static inline uint64_t gossip_epsilon_nano(const struct tacit_mechanism_config *config)
{
    struct tacit_mechanism whole;
    enum tacit_status const status = tacit_mechanism_init(&whole, config);
    TACIT_ASSERT(status == TACIT_OK);
    return tacit_mechanism_cost_nano(&whole);
}
#endif
