/* Gossip UCB (Zhu, Zhu, Liu, Liu) as its hosts know it. */
#include <stdlib.h>
#include "plan.h"
#include "../metrics.h"

const struct tacit_metric gossip_metrics[] = {
    [GOSSIP_REGRET] = METRIC_REGRET,
    [GOSSIP_REGRET_PER_AGENT] = METRIC_REGRET_PER_AGENT(TACIT_METRIC_CARD),
    [GOSSIP_MESSAGES] = METRIC_MESSAGES,
    [GOSSIP_MESSAGES_PER_RECEIVER] = METRIC_MESSAGES_PER_RECEIVER,
    [GOSSIP_SCALARS] = {"scalars", "Scalars", "numbers", "how many numbers the messages held",
                        TACIT_METRIC_CARD | TACIT_METRIC_TRAFFIC},
    [GOSSIP_FORCED_FRACTION] = {"forced_fraction", "Pulls to catch up", "",
                                "share of pulls that local consistency forced", TACIT_METRIC_CARD},
    [GOSSIP_BEST_ARM_FRACTION] = {"best_arm_fraction", "Found the best arm", "",
                                  "share of the agents that held the truly best arm for the best",
                                  0},
    [GOSSIP_DISAGREEMENT] = {"disagreement", "Disagreement", "reward",
                             "widest spread of an arm's estimate over the agents at the end", 0},
    [GOSSIP_METRIC_COUNT] = {.name = NULL}};

const struct tacit_band gossip_band = {
    "estimates", "What the agents think of the best arm", "reward",
    "Each agent's estimate of the arm that is best on average; how narrow the band is says how far "
    "they agree."};

/* ---- Its runs: with trees or with releases that double ---- */

static void *run_new(const void *memory, enum tacit_status *status)
{
    struct gossip_plan const *const plan = memory;
    return plan->doubles ? gossip_doubling_new(plan, status) : gossip_run_new(plan, status);
}

/* Both begin with their plan. */
static enum tacit_status run_play(void *run, uint32_t index, struct tacit_sim_row *row,
                                  atomic_bool *stop)
{
    struct gossip_plan const *const *const plan = run;
    return (*plan)->doubles ? gossip_doubling_play(run, index, row, stop)
                            : gossip_run_play(run, index, row, stop);
}

const struct tacit_family gossip_family = {
    .number = GOSSIP_FAMILY_NUMBER,
    .file = {.name = "gossip-ucb",
             .networks = 1u << TACIT_CONFIG_GRAPH,
             .environments = 1u << TACIT_ENV_BERNOULLI | 1u << TACIT_ENV_CONSTANT |
                             1u << TACIT_ENV_GAUSSIAN | 1u << TACIT_ENV_LOGGED,
             .modes =
                 1u << TACIT_PRIVACY_NONE | 1u << TACIT_PRIVACY_PAPER | 1u << TACIT_PRIVACY_SOUND,
             .keys = gossip_sections,
             .keys_size = sizeof(struct gossip_keys),
             .read = gossip_read_keys},
    .metrics = gossip_metrics,
    .band = &gossip_band,
    .ranks = true,
    .replays = true,
    .plan = gossip_make_plan,
    .plan_free = free,
    .print_costs = gossip_print_costs,
    .forecast_regret = gossip_forecast_regret,
    .player = {.metric_count = GOSSIP_METRIC_COUNT, .run_new = run_new, .run_play = run_play}};
