/* Gossip UCB (Zhu, Zhu, Liu, Liu) as its hosts know it. */
#include <stdlib.h>
#include "plan.h"

const struct tacit_metric gossip_metrics[] = {
    [GOSSIP_REGRET] = {"regret", "Regret", "reward", "summed over all agents",
                       TACIT_METRIC_MAIN | TACIT_METRIC_CARD},
    [GOSSIP_REGRET_PER_AGENT] = {"regret_per_agent", "Regret per agent", "reward",
                                 "the average site", TACIT_METRIC_CARD},
    [GOSSIP_MESSAGES] = {"messages", "Messages", "messages", "a broadcast counts once",
                         TACIT_METRIC_CARD | TACIT_METRIC_TRAFFIC},
    [GOSSIP_MESSAGES_PER_RECEIVER] = {"messages_per_receiver", "Messages by receiver", "messages",
                                      "a broadcast counts once per receiver", TACIT_METRIC_TRAFFIC},
    [GOSSIP_SCALARS] = {"scalars", "Scalars", "numbers", "numbers inside the messages",
                        TACIT_METRIC_CARD | TACIT_METRIC_TRAFFIC},
    [GOSSIP_FORCED_FRACTION] = {"forced_fraction", "Pulls to catch up", "",
                                "share of pulls that local consistency forced", TACIT_METRIC_CARD},
    [GOSSIP_BEST_ARM_FRACTION] = {"best_arm_fraction", "Found the best arm", "", "share of agents",
                                  0},
    [GOSSIP_DISAGREEMENT] = {"disagreement", "Disagreement", "reward",
                             "widest spread of an arm's estimate over the agents at the end", 0},
    [GOSSIP_METRIC_COUNT] = {.name = NULL}};

static void free_plan(void *plan)
{
    free(plan);
}

extern const struct tacit_family gossip_family;

const struct tacit_family gossip_family = {
    .number = GOSSIP_FAMILY_NUMBER,
    .file = {.word = "gossip-ucb",
             .networks = 1u << TACIT_CONFIG_GRAPH,
             .environments = 1u << TACIT_ENV_BERNOULLI | 1u << TACIT_ENV_CONSTANT |
                             1u << TACIT_ENV_GAUSSIAN | 1u << TACIT_ENV_LOGGED,
             .modes =
                 1u << TACIT_PRIVACY_NONE | 1u << TACIT_PRIVACY_PAPER | 1u << TACIT_PRIVACY_SOUND,
             .read = gossip_read_keys},
    .metrics = gossip_metrics,
    .ranks = true,
    .plan = gossip_make_plan,
    .plan_free = free_plan,
    .bounds = gossip_print_bounds,
    .player = {.metric_count = GOSSIP_METRIC_COUNT,
               .run_new = gossip_run_new,
               .run_play = gossip_run_play,
               .run_free = gossip_run_free}};
