/* tacit plan: which protocol over which network tells the arms of a file apart, in how many slots,
 * and what that costs. */
#include "arguments.h"
#include "commands.h"
#include "../src/study/plan.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct request {
    struct arguments arguments;
    double gap; /* 0: that of the file's means */
};

static double gap_of(const struct command *command, const char *text)
{
    char *end;
    double const value = strtod(text, &end);
    if (end == text || *end != '\0' || !(value > 0) || !isfinite(value))
        command_refuse(command,
                       "--gap: '%s' is not allowed; allowed: a number above 0, in the unit of the "
                       "rewards",
                       text);
    return value;
}

static void parse(const struct command *command, void *into, int key, char *value)
{
    struct request *const request = into;
    if (key == 'g') {
        request->gap = gap_of(command, value);
        return;
    }
    arguments_parse_file(command, &request->arguments, key, value);
    if (key == COMMAND_OPERAND && strcmp(value, "-") == 0)
        command_refuse(command, "the file is read often, standard input once; allowed: a file");
}

/* On stdout, and with --out into a directory. */
static int print_plan(const struct arguments *arguments, const struct tacit_report_plan *report)
{
    struct tacit_error error = {""};
    errno = 0;
    enum tacit_status status =
        command_printed(arguments->json ? tacit_report_plan_json(report, stdout)
                                        : tacit_report_plan_table(report, stdout),
                        &error);
    if (status == TACIT_OK && arguments->out != NULL)
        status = tacit_report_plan_write(report, arguments->out, &error);
    if (status == TACIT_OK && arguments->out != NULL && !arguments->json)
        (void)printf("\nReport: %s/report.html\n", arguments->out);
    return command_report("plan", status, &error);
}

static int plan_command(const struct command *command, int argc, char **argv)
{
    static struct plan plan;
    struct request request = {0};
    struct arguments const *const arguments = &request.arguments;
    struct tacit_error error = {""};
    command_parse(command, &request, argc, argv);
    struct plan_request const asked = {.file = arguments->file,
                                       .settings = arguments->settings,
                                       .setting_count = arguments->setting_count,
                                       .gap = request.gap,
                                       .thread_count = arguments->thread_count,
                                       .is_told = !arguments->quiet,
                                       .is_shown = !arguments->quiet && isatty(STDERR_FILENO),
                                       .control = simulate_control()};
    if (plan_begin(&plan, &asked, &error) != TACIT_OK)
        return command_report(NULL, TACIT_INVALID, &error);
    if (arguments_try_out(arguments, "plan: --out") != EXIT_DONE)
        return EXIT_FAILED;
    enum tacit_status const status = plan_search(&plan);
    if (status == TACIT_OK)
        return print_plan(arguments, &plan.report);
    if (status == TACIT_INTERRUPTED) {
        (void)fprintf(stderr, "tacit plan: stopped; nothing is told\n");
        return EXIT_STOPPED;
    }
    (void)command_report("plan", status, &error);
    return EXIT_FAILED;
}

static const struct argp_option options[] = {
    {"set", 'S', "KEY=VALUE", 0, "Overrule a key of the file, like privacy.epsilon=0.5", 0},
    {"gap", 'g', "G", 0,
     "The gap that matters, in the unit of the rewards: plan for arms that are all G below the "
     "best "
     "one, in place of the file's means",
     0},
    {"runs", 'r', "N", 0, "Runs of each simulation (default: 100)", 0},
    {"threads", 't', "N", 0, "Threads to spread the runs over (default: one a processor)", 0},
    {"out", 'o', "DIR", 0, "Write report.html, plan.json, plan.csv and slots.svg", 0},
    {"json", 'j', NULL, 0, "Print one JSON object instead of a table", 0},
    {"quiet", 'q', NULL, 0, "No progress on the terminal", 0},
    COMMAND_LAST_OPTIONS};

const struct command command_plan = {
    .name = "plan",
    .summary = "say which protocol and network tell the arms apart, and how many slots it takes",
    .options = options,
    .operands = "FILE",
    .help = "Try protocols and networks that fit FILE: for each the horizon at which 95 % of the "
            "runs decide, by formula and by simulation, and what rounds, bytes, cost and regret "
            "are at the file's horizon, best "
            "first.",
    .parse = parse,
    .run = plan_command,
};
