/* From an experiment file with epoch elimination to what its runs need: reports, epsilon, schedule,
 * promise; and what is refused. */
#include "plan.h"
#include "../ladder.h"
#include "settings.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const struct elim_keys *keys_of(const struct tacit_experiment *experiment)
{
    return experiment->config->keys;
}

static uint32_t delay_of(const struct tacit_experiment *experiment)
{
    return experiment->network == NULL ? 0 : experiment->network->delay;
}

/* ---- Privacy ---- */

/* The paper's noise has scale 1/(N eps): a reward loses N eps (READINGS P1.23). */
static double epsilon_per_reward(const struct tacit_experiment *experiment, uint32_t report_count)
{
    struct tacit_config const *const config = experiment->config;
    if (config->privacy != TACIT_PRIVACY_PAPER)
        return config->epsilon;
    return config->epsilon * report_count;
}

static enum tacit_audience audience_of(enum tacit_config_network network)
{
    return network == TACIT_CONFIG_GRAPH    ? TACIT_AUDIENCE_GRAPH
           : network == TACIT_CONFIG_HYBRID ? TACIT_AUDIENCE_HYBRID
           : network == TACIT_CONFIG_ALONE  ? TACIT_AUDIENCE_ALONE
                                            : TACIT_AUDIENCE_STAR;
}

/* PRIVACY.md B.1, trap 3: the paper lets a waiting agent follow its rewards as they are. For N = 1
 * its letter is the number. */
static void promise(struct tacit_experiment *experiment, uint32_t report_count)
{
    struct tacit_config const *const config = experiment->config;
    struct tacit_promise_mechanism noise = tacit_experiment_noise(experiment, TACIT_LEAVING_SUMS);
    bool const is_paper = noise.noise == TACIT_NOISE_DOUBLE;
    if (is_paper && delay_of(experiment) > 0)
        noise.gaps |= TACIT_GAP_WAITING;
    if (is_paper && report_count > 1)
        noise.letter_nano = (uint64_t)llround(config->epsilon * TACIT_NANO);
    noise.agent_count = config->agent_count;
    noise.report_count = report_count;
    experiment->promise.mechanism = noise;
    experiment->promise.trust.audience = audience_of(config->network.kind);
}

/* ---- Schedule ---- */

struct tacit_elim_schedule elim_schedule(const struct tacit_experiment *experiment)
{
    struct elim_plan const *const plan = experiment->plan;
    return elim_sim_schedule(&plan->sim, elim_sim_gap(&plan->sim, experiment->global_means));
}

/* With a round limit and no gap in the file, Delta is the means' own: it must not be above 1. */
static enum tacit_status check_gap(const struct tacit_experiment *experiment,
                                   struct tacit_error *error)
{
    struct elim_keys const *const keys = keys_of(experiment);
    if (experiment->global_means == NULL || keys->round_limit == 0 || keys->gap > 0)
        return TACIT_OK;
    double const gap = tacit_scale_gap(
        &experiment->mechanism.scale,
        tacit_env_smallest_gap(experiment->global_means, experiment->sim.env.arm_count));
    if (gap <= 1)
        return TACIT_OK;
    return tacit_experiment_refuse(
        experiment, "protocol",
        "the smallest gap between the means is above 1; 'rounds' then needs 'gap': a "
        "number above 0 and up to 1",
        error);
}

static enum tacit_status check_horizon(const struct tacit_experiment *experiment,
                                       struct tacit_error *error)
{
    struct tacit_elim_schedule const schedule = elim_schedule(experiment);
    char text[ELIM_REFUSAL_BYTES];
    return elim_horizon_is_refused(&schedule, delay_of(experiment), text)
               ? tacit_experiment_refuse(experiment, "horizon", text, error)
               : TACIT_OK;
}

/* ---- Limits of the cores ---- */

/* The longest horizon that the cores take, or 0, by bisection. Requires: they do not take the
 * present one. */
static uint64_t longest_horizon(struct elim_sim sim)
{
    uint64_t good = 0;
    uint64_t bad = sim.common.horizon;
    while (good + 1 < bad) {
        sim.common.horizon = good + (bad - good) / 2;
        if (elim_sim_is_valid(&sim))
            good = sim.common.horizon;
        else
            bad = sim.common.horizon;
    }
    return good;
}

/* What a run would still refuse after all checks above is refused here, in words: long sums. */
static enum tacit_status check_sums_fit(const struct tacit_experiment *experiment,
                                        struct tacit_error *error)
{
    struct elim_plan const *const plan = experiment->plan;
    char text[300];
    if (elim_sim_is_valid(&plan->sim))
        return TACIT_OK;
    (void)snprintf(text, sizeof text,
                   "the sums of %u agents over %llu slots do not fit into the integers of a "
                   "report in mode: sound; allowed: up to %llu slots, fewer agents, or mode: paper",
                   experiment->sim.agent_count, (unsigned long long)experiment->sim.horizon,
                   (unsigned long long)longest_horizon(plan->sim));
    return tacit_experiment_refuse(experiment, "horizon", text, error);
}

/* ---- The plan ---- */

static void fill_plan(const struct tacit_experiment *experiment, uint32_t report_count,
                      struct elim_plan *plan)
{
    struct elim_keys const *const keys = keys_of(experiment);
    plan->sim = (struct elim_sim){.common = experiment->sim,
                                  .report_count = report_count,
                                  .round_limit = keys->round_limit,
                                  .gap = keys->gap,
                                  .growth = keys->is_exact ? keys->growth : 0,
                                  .confidence = keys->is_exact ? keys->confidence : 0,
                                  .mechanism = experiment->mechanism,
                                  .has_grants = experiment->config->privacy == TACIT_PRIVACY_SOUND,
                                  .epsilon_per_reward = experiment->epsilon_per_reward,
                                  .server_link_cost = experiment->config->server_link_cost,
                                  .peer_link_cost = experiment->config->peer_link_cost};
    if (experiment->network == NULL)
        return;
    plan->network = elim_network(experiment->network, keys->components_alike);
    plan->network.reports_at_once = keys->reports_at_once;
    plan->sim.network = &plan->network;
}

/* Exact bounds reckon with the noise as it is drawn. */
static enum tacit_status protect(struct tacit_experiment *experiment, uint32_t report_count,
                                 struct tacit_error *error)
{
    if (!keys_of(experiment)->is_exact)
        return tacit_experiment_protect(experiment, epsilon_per_reward(experiment, report_count),
                                        error);
    enum tacit_status const status = tacit_experiment_protect_sums(experiment, error);
    if (status == TACIT_OK)
        experiment->epsilon_per_reward = tacit_mechanism_epsilon(&experiment->mechanism);
    return status;
}

/* Links to the server in a round: of reporting agents, or of sinks. */
static uint32_t server_links(const struct tacit_experiment *experiment, uint32_t report_count)
{
    if (experiment->network == NULL)
        return report_count;
    return experiment->network->has_sinks ? experiment->network->component_count : 0;
}

/* Refuses what the ladder of exact bounds does not allow. */
static enum tacit_status check_ladder(const struct tacit_experiment *experiment,
                                      struct tacit_error *error)
{
    struct elim_plan const *const plan = experiment->plan;
    struct tacit_elim_schedule const schedule = elim_sim_schedule(&plan->sim, 1);
    struct tacit_phases const phases = tacit_elim_phases(&schedule);
    return ladder_check_plan(experiment, &phases, error);
}

/* Requires: the file has privacy.trust. Splits the noise: what a site draws itself, and what the
 * aggregators add to a total. */
static enum tacit_status settle_aggregators(struct tacit_experiment *experiment,
                                            struct elim_plan *plan, struct tacit_error *error)
{
    if (!keys_of(experiment)->is_exact)
        return tacit_experiment_refuse(experiment, "privacy.trust",
                                       "the paper's bounds are not proved for two noise terms; "
                                       "allowed with protocol.bounds: exact",
                                       error);
    if (experiment->config->network.kind != TACIT_CONFIG_STAR)
        return tacit_experiment_refuse(experiment, "privacy.trust",
                                       "two aggregators are a hub and a helper; allowed with "
                                       "network.kind: star",
                                       error);
    enum tacit_status const status = tacit_experiment_site_mechanism(
        experiment, &plan->sim.mechanism, &plan->sim.aggregators, error);
    plan->sim.floor_milli = plan->sim.aggregators.are_two ? experiment->config->floor_milli : 0;
    return status;
}

enum tacit_status elim_make_plan(struct tacit_experiment *experiment, struct tacit_error *error)
{
    struct tacit_config const *const config = experiment->config;
    uint32_t const report_count =
        config->network.kind == TACIT_CONFIG_ALONE
            ? 1
            : tacit_elim_report_count(keys_of(experiment)->participation, config->agent_count);
    struct elim_plan *const plan = calloc(1, sizeof *plan);
    experiment->plan = plan;
    if (plan == NULL)
        return TACIT_MEMORY;
    bool const is_exact = keys_of(experiment)->is_exact;
    if (keys_of(experiment)->reports_at_once && experiment->network->delay > 0)
        experiment->network->delay--; /* READINGS P1.15: Alg. 4 l. 4, Theorem 4 */
    TACIT_TRY(protect(experiment, report_count, error));
    promise(experiment, report_count);
    experiment->server_links = server_links(experiment, report_count);
    fill_plan(experiment, report_count, plan);
    if (config->floor_milli != TACIT_ONE_AGGREGATOR)
        TACIT_TRY(settle_aggregators(experiment, plan, error));
    TACIT_TRY(is_exact ? check_ladder(experiment, error) : check_gap(experiment, error));
    TACIT_TRY(check_horizon(experiment, error));
    return check_sums_fit(experiment, error);
}
