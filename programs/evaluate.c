/* tacit evaluate: what each arm, or the protocol of the file, would have earned on logged rows
 * whose propensities are known. */
#include "arguments.h"
#include "commands.h"
#include "../src/study/evaluate.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define RUNS "runs=100" /* replays, unless the words say otherwise */

static int print(const struct arguments *arguments, const struct tacit_report_evaluation *report)
{
    struct tacit_error error = {""};
    errno = 0;
    enum tacit_status status =
        command_printed(arguments->json ? tacit_report_evaluation_json(report, stdout)
                                        : tacit_report_evaluation_table(report, stdout),
                        &error);
    if (status == TACIT_OK && arguments->out != NULL)
        status = tacit_report_evaluation_write(report, arguments->out, &error);
    if (status == TACIT_OK && arguments->out != NULL && !arguments->json)
        (void)printf("\nReport: %s/report.html\n", arguments->out);
    return command_report("evaluate", status, &error);
}

static int estimate(const struct arguments *arguments, struct tacit_experiment *experiment)
{
    static struct evaluation evaluation;
    struct tacit_error error = {""};
    enum evaluation_replay const replay = arguments->estimates ? EVALUATION_ESTIMATES
                                          : arguments->quiet   ? EVALUATION_QUIET
                                                               : EVALUATION_REPLAY;
    enum tacit_status const status =
        evaluation_make(&evaluation, experiment, replay, arguments->thread_count, &error);
    int code = EXIT_STOPPED;
    if (status == TACIT_OK)
        code = print(arguments, &evaluation.report);
    else if (status == TACIT_INTERRUPTED)
        (void)fprintf(stderr, "tacit evaluate: stopped; nothing is told\n");
    else
        code = command_report(error.text[0] == '\0' ? "evaluate" : NULL, status, &error);
    evaluation_free(&evaluation);
    return code;
}

/* The file; and where it cannot be played only because sound mode asks for the range of its
 * rewards, its rows alone, which is all that the estimates need. */
static enum tacit_status load(struct tacit_experiment *experiment, const char *file,
                              const char *const *settings, uint32_t count,
                              struct tacit_error *error)
{
    struct tacit_error ignored = {""};
    enum tacit_status const status =
        tacit_experiment_load(experiment, file, settings, count, error);
    if (status != TACIT_INVALID || strcmp(file, "-") == 0 ||
        tacit_experiment_load_for(experiment, TACIT_EXPERIMENT_ROWS, NULL, file, settings, count,
                                  &ignored) != TACIT_OK)
        return status;
    struct tacit_config const *const config = experiment->config;
    if (tacit_experiment_log(experiment) != NULL && config->privacy == TACIT_PRIVACY_SOUND &&
        !config->has_range && !tacit_env_is_bounded(&experiment->sim.env))
        return TACIT_OK;
    tacit_experiment_free(experiment);
    return status;
}

static int evaluate_command(const struct command *command, int argc, char **argv)
{
    struct arguments arguments = {0};
    struct tacit_experiment experiment;
    struct tacit_error error = {""};
    const char *settings[ARGUMENTS_SETTINGS_MAX + 1] = {RUNS};
    command_parse(command, &arguments, argc, argv);
    memcpy(settings + 1, arguments.settings, arguments.setting_count * sizeof *settings);
    enum tacit_status status =
        load(&experiment, arguments.file, settings, arguments.setting_count + 1, &error);
    if (status != TACIT_OK)
        return command_report_file(status, &error);
    int code = command_report(NULL, evaluation_check(&experiment, &error), &error);
    if (code == EXIT_DONE)
        code = arguments_try_out(&arguments, "evaluate: --out");
    if (code == EXIT_DONE)
        code = estimate(&arguments, &experiment);
    tacit_experiment_free(&experiment);
    return code;
}

static const struct argp_option options[] = {
    {"set", 'S', "KEY=VALUE", 0, "Overrule a key of the file, like horizon=2000", 0},
    {"runs", 'r', "N", 0, "Replays of the protocol (default: 100)", 0},
    {"seed", 's', "S", 0, "Seed: short for --set seed=S", 0},
    {"threads", 't', "N", 0, "Threads to spread the replays over (default: one a processor)", 0},
    {"out", 'o', "DIR", 0, "Write evaluation.json, estimates.csv, estimates.svg, report.html", 0},
    {"estimates", 'N', NULL, 0, "Estimates alone: the protocol is not replayed", 0},
    {"json", 'j', NULL, 0, "Print one JSON object instead of a table", 0},
    {"quiet", 'q', NULL, 0, "Nothing on stderr but errors", 0},
    COMMAND_LAST_OPTIONS};

const struct command command_evaluate = {
    .name = "evaluate",
    .summary = "say what arms, and the protocol, would have earned on logged rows",
    .options = options,
    .operands = "FILE|-",
    .help = "From the logged rows of FILE (- is standard input) and their propensities "
            "(environment.logged.propensity): what each arm would have earned, had it always been "
            "chosen, by inverse propensities, self-normalised and doubly robust, with 95 % "
            "intervals; what policies with contexts would have earned "
            "(environment.logged.policies); and what the protocol of FILE would have earned, by "
            "rejection.",
    .parse = arguments_parse_file,
    .run = evaluate_command,
};
