/* Epoch elimination (Li, Song) as its hosts know it. */
#include <stdlib.h>
#include "plan.h"

static double plan_bytes(const void *plan)
{
    return elim_sim_bytes(&((const struct elim_plan *)plan)->sim);
}

const struct tacit_family elim_family = {
    .number = 0,
    .file = {.name = "elimination",
             .networks = 1u << TACIT_CONFIG_STAR | 1u << TACIT_CONFIG_GRAPH |
                         1u << TACIT_CONFIG_HYBRID | 1u << TACIT_CONFIG_ALONE,
             .environments = 1u << TACIT_ENV_BERNOULLI | 1u << TACIT_ENV_CONSTANT |
                             1u << TACIT_ENV_GAUSSIAN | 1u << TACIT_ENV_LOGGED,
             .modes =
                 1u << TACIT_PRIVACY_NONE | 1u << TACIT_PRIVACY_PAPER | 1u << TACIT_PRIVACY_SOUND,
             .keys = elim_sections,
             .accepts_trust = true,
             .keys_size = sizeof(struct elim_keys),
             .read = elim_read_keys},
    .metrics = elim_metrics,
    .eliminates = true,
    .ranks = true,
    .replays = true,
    .plan = elim_make_plan,
    .plan_free = free,
    .print_costs = elim_print_costs,
    .forecast = elim_forecast,
    .player = ELIM_PLAYER,
    .bytes = plan_bytes};
