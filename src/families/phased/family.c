/* The phased index (EXACT-BOUNDS 5; ours) as its hosts know it. */
#include <stdlib.h>
#include "plan.h"
#include "../metrics.h"

const struct tacit_metric phased_metrics[] = {
    [PHASED_REGRET] = METRIC_REGRET,
    [PHASED_REGRET_PER_AGENT] = METRIC_REGRET_PER_AGENT(0),
    [PHASED_REGRET_EXPLOIT] = METRIC_REGRET_EXPLOIT,
    [PHASED_ROUNDS] = METRIC_ROUNDS,
    [PHASED_COST] = METRIC_COST,
    [PHASED_LINKS] = METRIC_LINKS,
    [PHASED_MESSAGES] = METRIC_MESSAGES,
    [PHASED_MESSAGES_PER_RECEIVER] = METRIC_MESSAGES_PER_RECEIVER,
    [PHASED_SCALARS] = {"scalars", "Scalars", "numbers", "how many noised sums the messages held",
                        TACIT_METRIC_TRAFFIC},
    [PHASED_BYTES] = METRIC_BYTES,
    [PHASED_SINGLE_ARM_FRACTION] =
        {"single_arm_fraction", "Ended with one arm", "",
         "1 if the intervals of all other arms lay below that of one, on average over the runs", 0},
    [PHASED_BEST_ARM_FRACTION] =
        {"best_arm_fraction", "Found the best arm", "",
         "1 if the last leader was the truly best arm, on average over the runs", 0},
    [PHASED_SAMPLES] = {"samples", "Samples", "pulls", "how many rewards entered estimates", 0},
    [PHASED_FLOOR] = {"floor", "Floor for central noise", "reward",
                      "regret that nobody goes below in long runs who noises once for all sites",
                      0},
    [PHASED_METRIC_COUNT] = {.name = NULL}};

const struct tacit_family phased_family = {
    .number = PHASED_FAMILY,
    .file = {.name = "phased-index",
             .networks = 1u << TACIT_CONFIG_STAR,
             .environments = 1u << TACIT_ENV_BERNOULLI | 1u << TACIT_ENV_CONSTANT |
                             1u << TACIT_ENV_GAUSSIAN | 1u << TACIT_ENV_LOGGED,
             .modes = 1u << TACIT_PRIVACY_NONE | 1u << TACIT_PRIVACY_SOUND,
             .accepts_trust = true,
             .keys = phased_sections,
             .keys_size = sizeof(struct phased_keys),
             .read = phased_read_keys},
    .metrics = phased_metrics,
    .ranks = true,
    .replays = true,
    .plan = phased_make_plan,
    .plan_free = free,
    .print_costs = phased_print_costs,
    .forecast = phased_forecast,
    .player = {.metric_count = PHASED_METRIC_COUNT,
               .run_new = phased_run_new,
               .run_play = phased_run_play}};
