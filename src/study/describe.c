/* What a report says of an experiment that was run. */
#include "describe.h"
#include "tacit/data.h"
#include <math.h>
#include <stdlib.h>

#define NORMAL_97_5 1.959963984540054

/* Half the 95 % interval of an arm's mean over the sites: their standard errors, added as squares.
 * 0: some cell has one row only. */
static double mean_interval(const struct tacit_log *log, uint32_t arm)
{
    double variance = 0;
    for (uint32_t agent = 0; agent < log->agent_count; agent++) {
        size_t const cell = (size_t)agent * log->arm_count + arm;
        uint32_t const rows = log->start[cell + 1] - log->start[cell];
        double squares = 0;
        if (rows < 2)
            return 0;
        if (log->weights.errors != NULL) {
            variance += log->weights.errors[cell] * log->weights.errors[cell];
            continue;
        }
        for (uint32_t row = log->start[cell]; row < log->start[cell + 1]; row++)
            squares +=
                (log->rewards[row] - log->means[cell]) * (log->rewards[row] - log->means[cell]);
        variance += squares / (rows - 1.0) / rows;
    }
    return NORMAL_97_5 * sqrt(variance) / log->agent_count;
}

/* Names and ranks stay the experiment's and the results'. */
static void describe_arms(const struct tacit_experiment *experiment,
                          const struct tacit_sim_results *results, uint32_t runs,
                          struct tacit_report_arm *arms)
{
    for (uint32_t arm = 0; arm < experiment->sim.env.arm_count; arm++)
        arms[arm] = (struct tacit_report_arm){
            .name = tacit_experiment_arm_name(experiment, arm),
            .mean = experiment->global_means == NULL ? NAN : experiment->global_means[arm],
            .eliminated_epoch =
                results->eliminated == NULL ? NULL : results->eliminated + (size_t)arm * runs};
}

/* Errors: TACIT_MEMORY. */
static enum tacit_status describe_intervals(struct description *description,
                                            const struct tacit_experiment *experiment)
{
    struct tacit_log const *const log = tacit_experiment_log(experiment);
    if (log == NULL || experiment->global_means == NULL)
        return TACIT_OK;
    description->arm_ci95 = calloc(log->arm_count + (size_t)1, sizeof *description->arm_ci95);
    if (description->arm_ci95 == NULL)
        return TACIT_MEMORY;
    for (uint32_t arm = 0; arm < log->arm_count; arm++)
        description->arm_ci95[arm] = mean_interval(log, arm);
    return TACIT_OK;
}

static struct tacit_report_network describe_network(const struct tacit_experiment *experiment)
{
    struct tacit_network const *const network = experiment->network;
    struct tacit_report_network described = {.kind = experiment->config->network.name,
                                             .server_links = experiment->server_links};
    if (network == NULL)
        return described;
    described.delay = network->delay;
    described.component_count = network->component_count;
    described.edge_count = network->graph.edge_count;
    described.diameter = network->diameter;
    described.components = network->has_sinks ? network->components : NULL;
    described.note = experiment->network_note[0] == '\0' ? NULL : experiment->network_note;
    return described;
}

/* The closed forms, then those that the file names and that were played. Errors: NULL when out of
 * memory. */
static struct tacit_report_baseline *describe_baselines(const struct tacit_experiment *experiment,
                                                        const struct simulation *simulation,
                                                        uint32_t *count)
{
    struct tacit_report_baseline *const baselines =
        calloc(2 + (size_t)simulation->played_count, sizeof *baselines);
    *count = 0;
    if (baselines == NULL || simulation->uniform == NULL)
        return baselines;
    baselines[(*count)++] =
        (struct tacit_report_baseline){.name = "uniform", .regret = simulation->uniform};
    baselines[(*count)++] =
        (struct tacit_report_baseline){.name = "floor", .regret = simulation->floor};
    for (uint32_t i = 0; i < simulation->played_count; i++)
        baselines[(*count)++] = (struct tacit_report_baseline){
            .name = experiment->config->baselines[i], .regret = simulation->played[i]};
    return baselines;
}

static bool allocate(struct description *description, const struct tacit_experiment *experiment,
                     const struct simulation *simulation)
{
    *description = (struct description){0};
    description->metrics =
        calloc(experiment->family->player.metric_count, sizeof *description->metrics);
    description->arms =
        calloc(experiment->sim.env.arm_count + (size_t)1, sizeof *description->arms);
    description->curves =
        calloc(1 + (size_t)experiment->sim.curve_count, sizeof *description->curves);
    description->baselines =
        describe_baselines(experiment, simulation, &description->report.baseline_count);
    return description->metrics != NULL && description->arms != NULL &&
           description->curves != NULL && description->baselines != NULL;
}

/* The regret, then what else is known over time. */
static void describe_curves(const struct tacit_experiment *experiment,
                            const struct simulation *simulation, struct tacit_report_curve *curves)
{
    size_t const values = (size_t)simulation->finished * experiment->sim.point_count;
    uint32_t count = 0;
    curves[0] = (struct tacit_report_curve){"regret", simulation->results.regret};
    for (uint32_t i = 0; i < experiment->family->player.metric_count; i++) {
        struct tacit_metric const *const metric = &experiment->family->metrics[i];
        if (tacit_family_curve(experiment->family, metric->name) == UINT32_MAX)
            continue;
        curves[1 + count] =
            (struct tacit_report_curve){metric->name, simulation->results.curves + count * values};
        count++;
    }
    TACIT_ASSERT(count == experiment->sim.curve_count);
}

/* The closed forms over time: uniform play loses alike in every slot, the floor grows with the
 * logarithm of the pulls. Played ones as they went. Errors: TACIT_MEMORY. */
static enum tacit_status describe_baseline_curves(struct description *description,
                                                  const struct tacit_experiment *experiment,
                                                  const struct simulation *simulation)
{
    struct tacit_sim const *const sim = &experiment->sim;
    uint32_t const count = description->report.baseline_count;
    double const horizon = (double)experiment->config->horizon;
    double const pulls_log = log(experiment->pull_count);
    description->baseline_curves =
        calloc((size_t)count * sim->point_count + 1, sizeof *description->baseline_curves);
    if (description->baseline_curves == NULL)
        return TACIT_MEMORY;
    for (uint32_t i = 0; i < count; i++) {
        struct tacit_report_baseline *const baseline = &description->baselines[i];
        double *const curve = description->baseline_curves + (size_t)i * sim->point_count;
        if (baseline->regret == NULL || (i == 1 && !(pulls_log > 0)))
            continue;
        double const end = tacit_report_summarise(baseline->regret, simulation->finished, 1).mean;
        for (uint32_t point = 0; point < sim->point_count; point++) {
            double const part = (double)sim->points[point] / horizon;
            curve[point] = i == 0   ? end * part
                           : i == 1 ? end * fmax(0, 1 + log(part) / pulls_log)
                                    : simulation->played_curves[i - 2][point];
        }
        baseline->curve = curve;
    }
    return TACIT_OK;
}

enum tacit_status description_make(struct description *description,
                                   const struct tacit_experiment *experiment,
                                   const struct simulation *simulation)
{
    struct tacit_config const *const config = experiment->config;
    struct tacit_sim const *const sim = &experiment->sim;
    struct tacit_sim_results const *const results = &simulation->results;
    struct tacit_log const *const log = tacit_experiment_log(experiment);
    TACIT_ASSERT(simulation->finished > 0);
    const struct tacit_report_setting *settings;
    uint32_t setting_count;
    if (!allocate(description, experiment, simulation) ||
        describe_baseline_curves(description, experiment, simulation) != TACIT_OK ||
        describe_intervals(description, experiment) != TACIT_OK ||
        tacit_config_settings(config, &settings, &setting_count) != TACIT_OK)
        return TACIT_MEMORY;
    for (uint32_t i = 0; i < experiment->family->player.metric_count; i++)
        description->metrics[i] = (struct tacit_report_metric){
            &experiment->family->metrics[i], results->metrics + (size_t)i * simulation->finished};
    description->network = describe_network(experiment);
    describe_curves(experiment, simulation, description->curves);
    describe_arms(experiment, results, simulation->finished, description->arms);
    description->report = (struct tacit_report){
        .name = config->name,
        .title_note = experiment->note[0] == '\0' ? NULL : experiment->note,
        .remark = experiment->remark[0] == '\0' ? NULL : experiment->remark,
        .version = TACIT_VERSION,
        .seed = config->seed,
        .run_count = simulation->finished,
        .runs_asked = config->run_count,
        .agent_count = config->agent_count,
        .horizon = config->horizon,
        .privacy_mode = tacit_mode_name(config->privacy),
        .epsilon_per_reward = tacit_experiment_loss(experiment),
        .epsilon_of = tacit_promise_of(&experiment->promise),
        .epsilon_lack = tacit_promise_lack(&experiment->promise),
        .delta = tacit_nano_value(experiment->promise.mechanism.delta_nano),
        .labels = experiment->family->labels,
        .statement = experiment->statement,
        .network = &description->network,
        .metrics = description->metrics,
        .metric_count = experiment->family->player.metric_count,
        .points = sim->points,
        .point_count = sim->point_count,
        .curves = description->curves,
        .curve_count = 1 + sim->curve_count,
        .profiles = results->profiles == NULL      ? NULL
                    : experiment->profiles != NULL ? experiment->profiles
                                                   : experiment->family->profiles,
        .profile_values = results->profiles,
        .profile_value_count = sim->profile_values,
        .band = results->profiles == NULL ? NULL : experiment->family->band,
        .band_values = results->profiles,
        .series_slots = sim->series_slots,
        .series_count = sim->series_count,
        .arms = description->arms,
        .arm_count = sim->env.arm_count,
        .arm_ci95 = description->arm_ci95,
        .ranking = results->ranking,
        .ranked_count = results->ranked_count,
        .site_counts = results->site_counts,
        .site_sums = results->site_sums,
        .agent_names = log == NULL ? NULL : (const char *const *)log->agent_names,
        .site_means = sim->env.means,
        .baselines = description->baselines,
        .baseline_count = description->report.baseline_count,
        .settings = settings,
        .setting_count = setting_count};
    return TACIT_OK;
}

void description_free(struct description *description)
{
    free(description->baselines);
    free(description->baseline_curves);
    free(description->metrics);
    free(description->arms);
    free(description->arm_ci95);
    free(description->curves);
    *description = (struct description){0};
}
