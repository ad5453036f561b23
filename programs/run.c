/* tacit run: experiment file in, results out. */
#include "arguments.h"
#include "commands.h"
#include "experiment.h"
#include "progress.h"
#include "tacit/report.h"
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The one thing a signal handler may touch. */
static struct tacit_sim_control control;

static void on_interrupt(int signal_number)
{
    (void)signal_number;
    atomic_store(&control.stop, true);
}

/* The first Ctrl-C asks the runs to end; a second one ends the program. */
static void catch_interrupt(void)
{
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND};
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
}

static uint32_t thread_count(const struct arguments *arguments)
{
    if (arguments->thread_count > 0)
        return arguments->thread_count;
    long const processors = sysconf(_SC_NPROCESSORS_ONLN);
    return processors < 1 ? 1 : (uint32_t)processors;
}

/* ---- Results ---- */

static bool allocate_results(const struct tacit_sim_elim *sim, struct tacit_sim_results *results)
{
    size_t const runs = sim->run_count;
    results->metrics = calloc(TACIT_SIM_METRIC_COUNT * runs, sizeof(double));
    results->regret = calloc(runs * sim->point_count, sizeof(double));
    results->eliminated = calloc(runs * sim->env.arm_count, sizeof(uint32_t));
    results->finished = calloc(runs, sizeof(bool));
    return results->metrics != NULL && results->regret != NULL && results->eliminated != NULL &&
           results->finished != NULL;
}

static void free_results(struct tacit_sim_results *results)
{
    free(results->metrics);
    free(results->regret);
    free(results->eliminated);
    free(results->finished);
}

/* Moves the finished runs to the front of every row and column, so that the arrays have `finished`
 * runs; returns that number. */
static uint32_t keep_finished(const struct tacit_sim_elim *sim, struct tacit_sim_results *results)
{
    uint32_t const runs = sim->run_count;
    uint32_t finished = 0;
    for (uint32_t run = 0; run < runs; run++)
        finished += results->finished[run] ? 1 : 0;
    if (finished == runs)
        return runs;
    double *metric = results->metrics;
    double *regret = results->regret;
    uint32_t *eliminated = results->eliminated;
    for (size_t i = 0; i < (size_t)TACIT_SIM_METRIC_COUNT * runs; i++)
        if (results->finished[i % runs])
            *metric++ = results->metrics[i];
    for (uint32_t run = 0; run < runs; run++)
        for (uint32_t point = 0; results->finished[run] && point < sim->point_count; point++)
            *regret++ = results->regret[(size_t)run * sim->point_count + point];
    for (size_t i = 0; i < (size_t)sim->env.arm_count * runs; i++)
        if (results->finished[i % runs])
            *eliminated++ = results->eliminated[i];
    return finished;
}

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
                  struct tacit_sim_results *results, enum tacit_status status)
{
    struct tacit_error error = {""};
    bool const stopped = status == TACIT_INTERRUPTED;
    if (status != TACIT_OK && !stopped) {
        (void)fprintf(stderr, "tacit run: %s\n", tacit_status_text(status));
        return EXIT_FAILED;
    }
    uint32_t const finished = keep_finished(&experiment->sim, results);
    if (stopped)
        (void)fprintf(stderr, "tacit run: stopped; %u of %u runs were finished%s\n", finished,
                      experiment->sim.run_count,
                      finished > 0 ? ", and the results are of these" : "; there are no results");
    if (finished == 0)
        return EXIT_STOPPED;
    status = report_results(arguments, experiment, results, finished, &error);
    if (status != TACIT_OK) {
        (void)fprintf(stderr, "tacit run: %s\n",
                      error.text[0] == '\0' ? tacit_status_text(status) : error.text);
        return EXIT_FAILED;
    }
    return stopped ? EXIT_STOPPED : EXIT_DONE;
}

static int run_experiment(const struct arguments *arguments, const struct experiment *experiment)
{
    struct tacit_sim_results results = {0};
    struct progress progress;
    enum tacit_status status = TACIT_MEMORY;
    if (allocate_results(&experiment->sim, &results)) {
        catch_interrupt();
        progress_start(&progress, &control, experiment->sim.run_count, !arguments->quiet);
        status = tacit_sim_elim_run(&experiment->sim, thread_count(arguments), &results, &control);
        progress_stop(&progress);
    }
    int const code = finish(arguments, experiment, &results, status);
    free_results(&results);
    return code;
}

int command_run(int argument_count, char **words)
{
    struct arguments arguments;
    struct experiment experiment;
    struct tacit_error error = {""};
    arguments_parse(&arguments, true, argument_count, words);
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
