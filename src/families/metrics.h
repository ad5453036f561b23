/* What runs of several protocols measure: a metric's name, title, unit and line, once. */
#ifndef TACIT_FAMILIES_METRICS_H
#define TACIT_FAMILIES_METRICS_H
#include "tacit/metric.h"

#define METRIC_SHOWN (TACIT_METRIC_CARD | TACIT_METRIC_TRAFFIC)
/* clang-format off */
#define METRIC_REGRET {"regret", "Regret", "reward",                                               \
    "reward missed against always playing the best arm, summed over all agents", TACIT_METRIC_MAIN | TACIT_METRIC_CARD}
#define METRIC_REGRET_PER_AGENT(flags) {"regret_per_agent", "Regret per agent", "reward", "the regret of the average site", flags}
#define METRIC_REGRET_EXPLOIT {"regret_exploit", "Regret while waiting", "reward",                 \
    "its part that was lost while reports were under way and each agent played what seemed best to it", 0}
#define METRIC_ROUNDS {"rounds", "Rounds", "rounds", "how often the agents reported and were answered", METRIC_SHOWN}
#define METRIC_COST {"cost", "Communication cost", "cost", "each link that was used, times its price", METRIC_SHOWN}
#define METRIC_LINKS {"links", "Links used", "links",                                              \
    "what the messages went over, each link as often as it was used", TACIT_METRIC_TRAFFIC}
#define METRIC_MESSAGES {"messages", "Messages", "messages", "a broadcast counts once", METRIC_SHOWN}
#define METRIC_MESSAGES_PER_RECEIVER {"messages_per_receiver", "Messages by receiver", "messages", \
    "as many as were heard: a broadcast counts once per receiver", TACIT_METRIC_TRAFFIC}
#define METRIC_BYTES {"bytes", "Bytes", "bytes", "size of the messages as they go over the wire", METRIC_SHOWN}
/* clang-format on */
#endif
