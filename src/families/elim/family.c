/* Epoch elimination (Li, Song) as its hosts know it. */
#include "live.h"
#include "live_keys.h"
#include "plan.h"

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
    .replays = true,
    .plan = elim_make_plan,
    .plan_free = elim_free_plan,
    .bounds = elim_print_limits,
    .forecast = elim_forecast,
    .player = {.metric_count = ELIM_METRIC_COUNT,
               .run_new = elim_either_new,
               .run_play = elim_either_play,
               .run_free = elim_either_free},
    .bytes = elim_plan_bytes,
    .site = &elim_site_ops,
    .hub = &elim_hub_ops,
    .hub_settings = elim_hub_settings_new,
    .hub_settings_free = elim_hub_settings_free};
