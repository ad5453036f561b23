/* Elimination by votes (Feraud, Alami, Laroche) as its hosts know it. */
#include "plan.h"

const struct tacit_family vote_family = {
    .number = VOTE_FAMILY,
    .file = {.name = "votes",
             .networks = 1u << TACIT_CONFIG_BROADCAST,
             .environments =
                 1u << TACIT_ENV_BERNOULLI | 1u << TACIT_ENV_CONSTANT | 1u << TACIT_ENV_LOGGED,
             .modes =
                 1u << TACIT_PRIVACY_NONE | 1u << TACIT_PRIVACY_PAPER | 1u << TACIT_PRIVACY_SOUND,
             .keys = vote_sections,
             .reads_epsilon = true,
             .accepts_trust = true,
             .keys_size = sizeof(struct vote_keys),
             .read = vote_read_keys},
    .metrics = vote_metrics,
    .profiles = vote_profiles,
    .ranks = true,
    .plan = vote_make_plan,
    .plan_free = vote_free_plan,
    .print_costs = vote_print_costs,
    .forecast = vote_forecast,
    .forecast_unit = "samples of all players",
    .forecast_regret = vote_forecast_regret,
    .player = {
        .metric_count = VOTE_METRIC_COUNT, .run_new = vote_run_new, .run_play = vote_run_play}};
