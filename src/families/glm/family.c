/* Federated generalised linear bandits (Li, Wang) as their hosts know them. */
#include "plan.h"

static const char *const environments[] = {"contextual", NULL};

const struct tacit_family glm_family = {
    .number = GLM_FAMILY_NUMBER,
    .file = {.name = "glm-ucb",
             .networks = 1u << TACIT_CONFIG_STAR,
             .environments = 0,
             .modes = 1u << TACIT_PRIVACY_NONE | 1u << TACIT_PRIVACY_SOUND,
             .keys = glm_sections,
             .privacy_may_miss = true,
             .accepts_trust = true,
             .own_environments = environments,
             .keys_size = sizeof(struct glm_keys),
             .read = glm_read_keys},
    .metrics = glm_metrics,
    .plan = glm_make_plan,
    .plan_free = glm_free_plan,
    .print_costs = glm_print_costs,
    .player = {.metric_count = GLM_METRIC_COUNT, .run_new = glm_run_new, .run_play = glm_run_play}};
