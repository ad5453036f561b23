/* What runs of a federated generalised linear bandit measure (READINGS P4.12). */
#include "plan.h"

const struct tacit_metric glm_metrics[] = {
    [GLM_REGRET] = {"regret", "Regret", "reward", "summed over all clients",
                    TACIT_METRIC_MAIN | TACIT_METRIC_CARD},
    [GLM_REGRET_PER_AGENT] = {"regret_per_agent", "Regret per agent", "reward",
                              "the average client", 0},
    [GLM_REWARD] = {"reward", "Reward", "reward", "summed over all clients", TACIT_METRIC_CARD},
    [GLM_UPDATES] = {"updates", "Updates", "updates", "of the shared model",
                     TACIT_METRIC_CARD | TACIT_METRIC_TRAFFIC},
    [GLM_AGGREGATIONS] = {"aggregations", "Aggregations", "rounds",
                          "of gradients, each of all clients, summed over the updates",
                          TACIT_METRIC_TRAFFIC},
    [GLM_LINKS] = {"links", "Links used", "links", "aggregations times clients: the paper's C_T",
                   TACIT_METRIC_CARD | TACIT_METRIC_TRAFFIC},
    [GLM_MESSAGES] = {"messages", "Messages", "messages", "one for each client and direction",
                      TACIT_METRIC_CARD | TACIT_METRIC_TRAFFIC},
    [GLM_SCALARS] = {"scalars", "Scalars", "numbers", "a matrix counts d squared",
                     TACIT_METRIC_TRAFFIC},
    [GLM_BYTES] = {"bytes", "Bytes", "bytes",
                   "8 for each number that is sent, a matrix by its triangle, without headers",
                   TACIT_METRIC_CARD | TACIT_METRIC_TRAFFIC},
    [GLM_CONTROL_MESSAGES] = {"control_messages", "Control messages", "messages",
                              "triggers and requests to freeze; in no other count", 0},
    [GLM_METRIC_COUNT] = {.name = NULL}};
