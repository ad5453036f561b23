/* What runs of a federated generalised linear bandit measure (READINGS P4.12). */
#include "plan.h"

const struct tacit_metric glm_metrics[] = {
    [GLM_REGRET] = {"regret", "Regret", "reward",
                    "reward missed against always playing the best arm, summed over all clients",
                    TACIT_METRIC_MAIN | TACIT_METRIC_CARD},
    [GLM_REGRET_PER_AGENT] = {"regret_per_agent", "Regret per agent", "reward",
                              "the regret of the average client", 0},
    [GLM_REWARD] = {"reward", "Reward", "reward", "what was earned, summed over all clients",
                    TACIT_METRIC_CARD | TACIT_METRIC_CURVE},
    [GLM_UPDATES] = {"updates", "Updates", "updates", "how often the shared model was made anew",
                     TACIT_METRIC_CARD | TACIT_METRIC_TRAFFIC | TACIT_METRIC_CURVE |
                         TACIT_METRIC_DRAWN},
    [GLM_AGGREGATIONS] = {"aggregations", "Aggregations", "rounds",
                          "of gradients, each of all clients, summed over the updates",
                          TACIT_METRIC_TRAFFIC},
    [GLM_LINKS] = {"links", "Links used", "links", "aggregations times clients: the paper's C_T",
                   TACIT_METRIC_CARD | TACIT_METRIC_TRAFFIC | TACIT_METRIC_CURVE |
                       TACIT_METRIC_AGAINST},
    [GLM_MESSAGES] = {"messages", "Messages", "messages", "one for each client and direction",
                      TACIT_METRIC_CARD | TACIT_METRIC_TRAFFIC},
    [GLM_SCALARS] = {"scalars", "Scalars", "numbers",
                     "how many numbers the messages held; a matrix counts d squared",
                     TACIT_METRIC_TRAFFIC | TACIT_METRIC_CURVE},
    [GLM_BYTES] = {"bytes", "Bytes", "bytes",
                   "8 for each number that is sent, a matrix by its triangle, without headers",
                   TACIT_METRIC_CARD | TACIT_METRIC_TRAFFIC | TACIT_METRIC_CURVE |
                       TACIT_METRIC_AGAINST},
    [GLM_CONTROL_MESSAGES] = {"control_messages", "Control messages", "messages",
                              "triggers and requests to freeze; in no other count", 0},
    [GLM_ROUNDS] = {"rounds", "Rounds of an update", "rounds", "J of the update that took the most",
                    0},
    [GLM_ROUNDS_BOUND] = {"rounds_bound", "Rounds by Eq. (3)", "rounds",
                          "what Eq. (3) allows that update, from the way it went", 0},
    [GLM_OVER_UNIFORM] = {"reward_over_uniform", "Reward over uniform play's", "",
                          "of logs: divided by what uniform play expects", TACIT_METRIC_CURVE},
    [GLM_METRIC_COUNT] = {.name = NULL}};

void glm_record(const struct tacit_sim *sim, uint32_t first, uint32_t end, const double *metrics,
                double *curves)
{
    uint32_t curve = 0;
    for (uint32_t i = 0; i < GLM_METRIC_COUNT && curve < sim->curve_count; i++) {
        if ((glm_metrics[i].places & TACIT_METRIC_CURVE) == 0)
            continue;
        for (uint32_t point = first; point < end; point++)
            curves[(size_t)curve * sim->point_count + point] = metrics[i];
        curve++;
    }
}
