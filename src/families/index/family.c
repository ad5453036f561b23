/* Learners with an index, not private, as their hosts know them: alone or pooled, in experiments of
 * their own and as baselines beside all others. */
#include <stdlib.h>
#include "plan.h"

const struct tacit_family index_family = {
    .number = INDEX_FAMILY,
    .file = {.name = "index",
             .variants_key = "index",
             .variants = index_variants,
             .networks = 1u << TACIT_CONFIG_STAR,
             .environments = 1u << TACIT_ENV_BERNOULLI | 1u << TACIT_ENV_CONSTANT |
                             1u << TACIT_ENV_GAUSSIAN | 1u << TACIT_ENV_LOGGED,
             .modes = 1u << TACIT_PRIVACY_NONE,
             .keys = index_sections,
             .keys_size = sizeof(struct index_keys),
             .read = index_read_keys},
    .metrics = index_metrics,
    .ranks = true,
    .replays = true,
    .plan = index_make_plan,
    .plan_free = free,
    .print_costs = index_print_costs,
    .player = {.metric_count = INDEX_METRIC_COUNT,
               .run_new = index_run_new,
               .run_play = index_run_play},
    .baselines = index_baselines,
    .baseline = index_make_baseline};
