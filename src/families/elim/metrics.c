/* What runs of epoch elimination measure. */
#include "experiment.h"
#include "../metrics.h"

const struct tacit_metric elim_metrics[] = {
    [ELIM_REGRET] = METRIC_REGRET,
    [ELIM_REGRET_PER_AGENT] = METRIC_REGRET_PER_AGENT(0),
    [ELIM_REGRET_EXPLOIT] = METRIC_REGRET_EXPLOIT,
    [ELIM_ROUNDS] = METRIC_ROUNDS,
    [ELIM_COST] = METRIC_COST,
    [ELIM_COST_ALL_EDGES] = {"cost_all_edges", "Cost of all edges", "cost",
                             "if every edge carried something in every slot",
                             TACIT_METRIC_TRAFFIC | TACIT_METRIC_SINKS},
    [ELIM_LINKS] = METRIC_LINKS,
    [ELIM_MESSAGES] = METRIC_MESSAGES,
    [ELIM_MESSAGES_PER_RECEIVER] = METRIC_MESSAGES_PER_RECEIVER,
    [ELIM_SCALARS] = {"scalars", "Scalars", "numbers", "how many numbers the messages held",
                      TACIT_METRIC_TRAFFIC},
    [ELIM_BYTES] = METRIC_BYTES,
    [ELIM_SINGLE_ARM_FRACTION] = {"single_arm_fraction", "Ended with one arm", "",
                                  "share of those who judge that had given up all arms but one: "
                                  "the hub or graph, or each agent alone",
                                  0},
    [ELIM_BEST_ARM_FRACTION] = {"best_arm_fraction", "Found the best arm", "",
                                "share of those who judge that ranked the truly best arm first", 0},
    [ELIM_SAMPLES] = {"samples", "Samples", "pulls", "how many rewards entered estimates", 0},
    [ELIM_CONTROL_MESSAGES] = {"control_messages", "Control messages", "messages",
                               "commitments to play and leave to do so, not among the messages",
                               TACIT_METRIC_TRAFFIC},
    [ELIM_CONTROL_BYTES] = {"control_bytes", "Control bytes", "bytes",
                            "of the control messages, not among the bytes", TACIT_METRIC_TRAFFIC},
    [ELIM_METRIC_COUNT] = {.name = NULL}};
