/* Epoch elimination (Li, Song) as its hosts know it. */
#include <stdlib.h>
#include "live.h"
#include "live_keys.h"
#include "plan.h"

static void free_plan(void *plan)
{
    free(plan);
}

extern const struct tacit_family elim_family;

const struct tacit_family elim_family = {
    .number = 0,
    .file = {.word = "elimination",
             .networks = 1u << TACIT_CONFIG_STAR | 1u << TACIT_CONFIG_GRAPH |
                         1u << TACIT_CONFIG_HYBRID | 1u << TACIT_CONFIG_ALONE,
             .environments = 1u << TACIT_ENV_BERNOULLI | 1u << TACIT_ENV_CONSTANT |
                             1u << TACIT_ENV_GAUSSIAN | 1u << TACIT_ENV_LOGGED,
             .modes =
                 1u << TACIT_PRIVACY_NONE | 1u << TACIT_PRIVACY_PAPER | 1u << TACIT_PRIVACY_SOUND,
             .read = elim_read_keys,
             .run_keys = elim_run_keys,
             .read_run = elim_read_run},
    .metrics = elim_metrics,
    .eliminates = true,
    .ranks = true,
    .plan = elim_make_plan,
    .plan_free = free_plan,
    .bounds = elim_print_bounds,
    .player = ELIM_PLAYER,
    .site = &tacit_elim_site_ops,
    .hub = &tacit_elim_hub_ops,
    .hub_settings = elim_hub_settings_new,
    .hub_settings_free = elim_hub_settings_free};
