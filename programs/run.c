/* tacit run: experiment file in, results out. */
#include "arguments.h"
#include "commands.h"
#include "../src/study/describe.h"
#include "../src/study/forecast.h"
#include "progress.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Nothing could be decided: how long would it take? */
static void print_forecast(const struct tacit_experiment *experiment,
                           const struct tacit_report *report)
{
    struct tacit_report_answer answer;
    char sentence[FORECAST_BYTES] = "";
    if (tacit_report_answer_new(report, &answer) == TACIT_OK && answer.sentence != NULL &&
        !answer.is_decided)
        forecast_warn(experiment, sentence);
    tacit_report_answer_free(&answer);
    if (sentence[0] != '\0')
        (void)printf("\n%s\n", sentence);
}

static enum tacit_status print_report(const struct arguments *arguments,
                                      const struct tacit_experiment *experiment,
                                      const struct tacit_report *report, struct tacit_error *error)
{
    errno = 0;
    enum tacit_status status =
        arguments->json ? tacit_report_json(report, stdout) : tacit_report_table(report, stdout);
    if (report->title_note != NULL && !arguments->json)
        (void)printf("\n%s\n", report->title_note);
    if (!arguments->json)
        print_forecast(experiment, report);
    status = command_printed(status, error);
    if (status != TACIT_OK || arguments->out == NULL)
        return status;
    TACIT_TRY(tacit_report_write(report, arguments->out, error));
    if (!arguments->json)
        (void)printf("\nReport: %s/report.html\n", arguments->out);
    return TACIT_OK;
}

/* ---- The command ---- */

/* Says what came of it, also of the runs before a stop. Result: the exit code. */
static int report_run(const struct arguments *arguments, const struct tacit_experiment *experiment,
                      const struct simulation *simulation, enum tacit_status status,
                      struct tacit_error error)
{
    bool const stopped = status == TACIT_INTERRUPTED;
    uint32_t const finished = simulation->finished;
    if (status != TACIT_OK && !stopped) {
        simulate_explain(experiment, status, simulate_threads(arguments->thread_count), &error);
        return command_report("run", status, &error);
    }
    if (stopped)
        (void)fprintf(stderr, "tacit run: stopped; %u of %u runs were finished%s%s\n", finished,
                      experiment->sim.run_count,
                      finished > 0 ? ", and the results are of these" : "; there are no results",
                      arguments->resume == NULL ? "" : "; the same call goes on from there");
    if (finished == 0)
        return EXIT_STOPPED;
    struct description description;
    status = description_make(&description, experiment, simulation);
    if (status == TACIT_OK)
        status = print_report(arguments, experiment, &description.report, &error);
    description_free(&description);
    int const code = command_report("run", status, &error);
    return code == EXIT_DONE && stopped ? EXIT_STOPPED : code;
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
    struct tacit_error error = {""};
    struct run_cache cache;
    if (arguments->resume != NULL) /* it reads the whole program */
        cache = run_cache_at(arguments->resume, experiment);
    enum tacit_status status =
        simulate(&simulation, experiment, arguments->resume == NULL ? NULL : &cache, threads,
                 control, &error);
    if (status == TACIT_OK)
        status = simulate_baselines(&simulation, experiment, NULL, threads, control, &error);
    progress_stop(&progress);
    int const code = report_run(arguments, experiment, &simulation, status, error);
    if (code == EXIT_DONE && arguments->resume != NULL)
        (void)unlink(arguments->resume);
    simulation_free(&simulation);
    return code;
}

static const struct argp_option options[] = {
    {"set", 'S', "KEY=VALUE", 0, "Overrule a key of the file, like privacy.epsilon=0.5", 0},
    {"runs", 'r', "N", 0, "Number of runs: short for --set runs=N", 0},
    {"seed", 's', "S", 0, "Seed: short for --set seed=S", 0},
    {"threads", 't', "N", 0, "Threads to spread the runs over (default: one a processor)", 0},
    {"out", 'o', "DIR", 0, "Write summary.json, curve.csv, runs.csv, figure.svg, report.html", 0},
    {"resume", 'R', "FILE", 0,
     "Keep finished runs in FILE, and go on from those in it; removed when all is done", 0},
    {"json", 'j', NULL, 0, "Print one JSON object instead of a table", 0},
    {"quiet", 'q', NULL, 0, "No progress on the terminal", 0},
    COMMAND_LAST_OPTIONS};

static int run_command(const struct command *command, int argc, char **argv)
{
    struct arguments arguments = {0};
    struct tacit_experiment experiment;
    struct tacit_error error = {""};
    command_parse(command, &arguments, argc, argv);
    enum tacit_status const status = tacit_experiment_load(
        &experiment, arguments.file, arguments.settings, arguments.setting_count, &error);
    if (status != TACIT_OK)
        return command_report_file(status, &error);
    int code = arguments_try_out(&arguments, "run: --out");
    if (code == EXIT_DONE)
        code = run_experiment(&arguments, &experiment);
    tacit_experiment_free(&experiment);
    return code;
}

const struct command command_run = {
    .name = "run",
    .summary = "run an experiment file in the simulator",
    .options = options,
    .operands = "FILE|-",
    .help = "Run the experiment in FILE (- is standard input) and print its results.",
    .parse = arguments_parse_file,
    .run = run_command,
};
