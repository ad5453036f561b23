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

/* NULL: the arm has only a number. */
static const char *arm_name(const struct experiment *experiment, uint32_t arm)
{
    if (experiment->log.arm_names != NULL)
        return experiment->log.arm_names[arm];
    struct tacit_config_log const *const log = &experiment->config->log; /* its fallback */
    return arm < log->arm_count ? log->arms[arm].name : NULL;
}

static void describe_arms(const struct experiment *experiment,
                          const struct tacit_sim_results *results, uint32_t runs,
                          struct tacit_report_arm *arms)
{
    for (uint32_t arm = 0; arm < experiment->sim.env.arm_count; arm++)
        arms[arm] = (struct tacit_report_arm){
            .name = arm_name(experiment, arm),
            .mean = experiment->global_means == NULL ? NAN : experiment->global_means[arm],
            .eliminated_epoch = results->eliminated + (size_t)arm * runs};
}

static struct tacit_report_network describe_network(const struct experiment *experiment)
{
    struct network const *const network = experiment->network;
    char const *const kind = experiment->config->network_kind;
    if (network == NULL)
        return (struct tacit_report_network){.kind = kind,
                                             .server_links = experiment->sim.report_count};
    bool const has_sinks = network->sim.collection == TACIT_ELIM_GATHER;
    return (struct tacit_report_network){.kind = kind,
                                         .server_links =
                                             has_sinks ? network->sim.component_count : 0,
                                         .delay = network->delay,
                                         .component_count = network->sim.component_count,
                                         .edge_count = network->graph.edge_count,
                                         .diameter = network->sim.diameter,
                                         .components = has_sinks ? network->components : NULL};
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
                                        const struct experiment *experiment,
                                        const struct tacit_sim_results *results, uint32_t finished,
                                        struct tacit_error *error)
{
    struct tacit_config const *const config = experiment->config;
    struct tacit_sim_elim const *const sim = &experiment->sim;
    struct tacit_report_metric metrics[TACIT_SIM_METRIC_COUNT];
    for (uint32_t i = 0; i < TACIT_SIM_METRIC_COUNT; i++)
        metrics[i] = (struct tacit_report_metric){tacit_sim_metric_name((enum tacit_sim_metric)i),
                                                  results->metrics + (size_t)i * finished};
    struct tacit_report_network const network = describe_network(experiment);
    struct tacit_report_curve const curve = {"regret", results->regret};
    struct tacit_report_arm *const arms = calloc(sim->env.arm_count, sizeof *arms);
    if (arms == NULL)
        return TACIT_MEMORY;
    describe_arms(experiment, results, finished, arms);
    struct tacit_report const report = {.name = config->name,
                                        .title_note =
                                            experiment->note[0] == '\0' ? NULL : experiment->note,
                                        .version = TACIT_VERSION,
                                        .seed = config->seed,
                                        .run_count = finished,
                                        .runs_asked = config->run_count,
                                        .agent_count = config->agent_count,
                                        .horizon = config->horizon,
                                        .privacy_mode = experiment_mode_name(config->privacy),
                                        .epsilon_per_reward = sim->epsilon_per_reward,
                                        .statement = experiment->statement,
                                        .network = &network,
                                        .metrics = metrics,
                                        .metric_count = TACIT_SIM_METRIC_COUNT,
                                        .points = sim->points,
                                        .point_count = sim->point_count,
                                        .curves = &curve,
                                        .curve_count = 1,
                                        .arms = arms,
                                        .arm_count = sim->env.arm_count};
    enum tacit_status const status = print_report(arguments, &report, error);
    free(arms);
    return status;
}

/* ---- The command ---- */

static int finish(const struct arguments *arguments, const struct experiment *experiment,
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
    status = report_results(arguments, experiment, &simulation->results, finished, &error);
    if (status != TACIT_OK) {
        (void)fprintf(stderr, "tacit run: %s\n",
                      error.text[0] == '\0' ? tacit_status_text(status) : error.text);
        return EXIT_FAILED;
    }
    return stopped ? EXIT_STOPPED : EXIT_DONE;
}

static int run_experiment(const struct arguments *arguments, const struct experiment *experiment)
{
    struct simulation simulation;
    struct progress progress;
    struct tacit_sim_control *const control = simulate_control();
    progress_start(&progress, control, experiment->sim.run_count, !arguments->quiet);
    enum tacit_status const status =
        simulate(&simulation, experiment, simulate_threads(arguments->thread_count), control);
    progress_stop(&progress);
    int const code = finish(arguments, experiment, &simulation, status);
    simulation_free(&simulation);
    return code;
}

int command_run(int argument_count, char **words)
{
    struct arguments arguments;
    struct experiment experiment;
    struct tacit_error error = {""};
    arguments_parse(&arguments, ARGUMENTS_RUN, argument_count, words);
    enum tacit_status const status = experiment_load(
        &experiment, arguments.file, arguments.settings, arguments.setting_count, &error);
    if (status != TACIT_OK) {
        (void)fprintf(stderr, "%s\n",
                      error.text[0] == '\0' ? tacit_status_text(status) : error.text);
        return status == TACIT_MEMORY ? EXIT_FAILED : EXIT_WRONG_INPUT;
    }
    int const code = run_experiment(&arguments, &experiment);
    experiment_free(&experiment);
    return code;
}
