/* tacit run: experiment file in, results out. */
#include "arguments.h"
#include "commands.h"
#include "progress.h"
#include "simulate.h"
#include "tacit/report.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Report ---- */

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

static struct tacit_report_network describe_network(const struct tacit_experiment *experiment)
{
    struct tacit_network const *const network = experiment->network;
    struct tacit_report_network described = {.kind = experiment->config->network.word,
                                             .server_links = experiment->server_links};
    if (network == NULL)
        return described;
    described.delay = network->delay;
    described.component_count = network->component_count;
    described.edge_count = network->graph.edge_count;
    described.diameter = network->diameter;
    described.components = network->has_sinks ? network->components : NULL;
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
    baselines[(*count)++] = (struct tacit_report_baseline){"uniform", simulation->uniform};
    baselines[(*count)++] = (struct tacit_report_baseline){"floor", simulation->floor};
    for (uint32_t i = 0; i < simulation->played_count; i++)
        baselines[(*count)++] =
            (struct tacit_report_baseline){experiment->config->baselines[i], simulation->played[i]};
    return baselines;
}

static enum tacit_status print_report(const struct arguments *arguments,
                                      const struct tacit_report *report, struct tacit_error *error)
{
    enum tacit_status status =
        arguments->json ? tacit_report_json(report, stdout) : tacit_report_table(report, stdout);
    if (report->title_note != NULL && !arguments->json)
        (void)printf("\n%s\n", report->title_note);
    if (status == TACIT_OK && fflush(stdout) != 0)
        status = TACIT_IO;
    if (status != TACIT_OK) {
        (void)snprintf(error->text, sizeof error->text, "the results could not be printed: %s",
                       tacit_status_text(status));
        return status;
    }
    if (arguments->out == NULL)
        return TACIT_OK;
    status = tacit_report_write(report, arguments->out, error);
    if (status == TACIT_OK && !arguments->json)
        (void)printf("\nReport: %s/report.html\n", arguments->out);
    return status;
}

static enum tacit_status report_results(const struct arguments *arguments,
                                        const struct tacit_experiment *experiment,
                                        const struct simulation *simulation,
                                        struct tacit_error *error)
{
    struct tacit_config const *const config = experiment->config;
    struct tacit_sim const *const sim = &experiment->sim;
    struct tacit_sim_results const *const results = &simulation->results;
    uint32_t const metric_count = experiment->family->player.metric_count;
    struct tacit_report_metric *const metrics = calloc(metric_count, sizeof *metrics);
    struct tacit_report_arm *const arms = calloc(sim->env.arm_count + (size_t)1, sizeof *arms);
    uint32_t baseline_count;
    struct tacit_report_baseline *const baselines =
        describe_baselines(experiment, simulation, &baseline_count);
    enum tacit_status status = TACIT_MEMORY;
    if (metrics == NULL || arms == NULL || baselines == NULL)
        goto done;
    for (uint32_t i = 0; i < metric_count; i++)
        metrics[i] = (struct tacit_report_metric){
            &experiment->family->metrics[i], results->metrics + (size_t)i * simulation->finished};
    struct tacit_report_network const network = describe_network(experiment);
    struct tacit_report_curve const curve = {"regret", results->regret};
    describe_arms(experiment, results, simulation->finished, arms);
    struct tacit_report const report = {.name = config->name,
                                        .title_note =
                                            experiment->note[0] == '\0' ? NULL : experiment->note,
                                        .version = TACIT_VERSION,
                                        .seed = config->seed,
                                        .run_count = simulation->finished,
                                        .runs_asked = config->run_count,
                                        .agent_count = config->agent_count,
                                        .horizon = config->horizon,
                                        .privacy_mode = tacit_mode_name(config->privacy),
                                        .epsilon_per_reward = experiment->epsilon_per_reward,
                                        .statement = experiment->statement,
                                        .network = &network,
                                        .metrics = metrics,
                                        .metric_count = metric_count,
                                        .points = sim->points,
                                        .point_count = sim->point_count,
                                        .curves = &curve,
                                        .curve_count = 1,
                                        .arms = arms,
                                        .arm_count = sim->env.arm_count,
                                        .ranking = results->ranking,
                                        .ranked_count = results->ranked_count,
                                        .baselines = baselines,
                                        .baseline_count = baseline_count};
    status = print_report(arguments, &report, error);
done:
    free(baselines);
    free(metrics);
    free(arms);
    return status;
}

/* ---- The command ---- */

static int finish(const struct arguments *arguments, const struct tacit_experiment *experiment,
                  const struct simulation *simulation, enum tacit_status status)
{
    struct tacit_error error = {""};
    bool const stopped = status == TACIT_INTERRUPTED;
    uint32_t const finished = simulation->finished;
    if (status != TACIT_OK && !stopped) {
        (void)fprintf(stderr, "tacit run: %s\n", tacit_status_text(status));
        return EXIT_FAILED;
    }
    if (stopped)
        (void)fprintf(stderr, "tacit run: stopped; %u of %u runs were finished%s\n", finished,
                      experiment->sim.run_count,
                      finished > 0 ? ", and the results are of these" : "; there are no results");
    if (finished == 0)
        return EXIT_STOPPED;
    status = report_results(arguments, experiment, simulation, &error);
    if (status != TACIT_OK) {
        (void)fprintf(stderr, "tacit run: %s\n",
                      error.text[0] == '\0' ? tacit_status_text(status) : error.text);
        return EXIT_FAILED;
    }
    return stopped ? EXIT_STOPPED : EXIT_DONE;
}

static int run_experiment(const struct arguments *arguments,
                          const struct tacit_experiment *experiment)
{
    struct simulation simulation;
    struct progress progress;
    struct tacit_sim_control *const control = simulate_control();
    uint32_t const players = 1 + experiment->config->baseline_count;
    progress_start(&progress, control, players * experiment->sim.run_count, !arguments->quiet);
    uint32_t const threads = simulate_threads(arguments->thread_count);
    enum tacit_status status = simulate(&simulation, experiment, threads, control);
    if (status == TACIT_OK)
        status = simulate_baselines(&simulation, experiment, threads, control);
    progress_stop(&progress);
    int const code = finish(arguments, experiment, &simulation, status);
    simulation_free(&simulation);
    return code;
}

static const struct argp_option options[] = {
    {"set", 'S', "KEY=VALUE", 0, "Overrule a key of the file, like privacy.epsilon=0.5", 0},
    {"runs", 'r', "N", 0, "Number of runs: short for --set runs=N", 0},
    {"seed", 's', "S", 0, "Seed: short for --set seed=S", 0},
    {"threads", 't', "N", 0, "Threads to spread the runs over (default: one a processor)", 0},
    {"out", 'o', "DIR", 0, "Write summary.json, curve.csv, runs.csv, figure.svg, report.html", 0},
    {"json", 'j', NULL, 0, "Print one JSON object instead of a table", 0},
    {"quiet", 'q', NULL, 0, "No progress on the terminal", 0},
    COMMAND_LAST_OPTIONS};

static int run_command(const struct command *command, int word_count, char **words)
{
    struct arguments arguments = {0};
    struct tacit_experiment experiment;
    struct tacit_error error = {""};
    command_parse(command, &arguments, word_count, words);
    enum tacit_status const status = tacit_experiment_load(
        &experiment, arguments.file, arguments.settings, arguments.setting_count, &error);
    if (status != TACIT_OK) {
        (void)fprintf(stderr, "%s\n",
                      error.text[0] == '\0' ? tacit_status_text(status) : error.text);
        return status == TACIT_MEMORY ? EXIT_FAILED : EXIT_WRONG_INPUT;
    }
    int const code = run_experiment(&arguments, &experiment);
    tacit_experiment_free(&experiment);
    return code;
}

const struct command command_run = {
    .name = "run",
    .summary = "run an experiment file in the simulator",
    .options = options,
    .words = "FILE",
    .help = "Run the experiment in FILE and print its results.",
    .take = arguments_take_file,
    .run = run_command,
};
