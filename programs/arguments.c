/* argp for run, check and reproduce. What is wrong is said in one line: argp itself would add a
 * second one. */
#include "arguments.h"
#include "commands.h"
#include <argp.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS_MAX 1024u

static const struct argp_option run_options[] = {
    {"set", 'S', "KEY=VALUE", 0, "Overrule a key of the file, like privacy.epsilon=0.5", 0},
    {"runs", 'r', "N", 0, "Number of runs: short for --set runs=N", 0},
    {"seed", 's', "S", 0, "Seed: short for --set seed=S", 0},
    {"threads", 't', "N", 0, "Threads to spread the runs over (default: one a processor)", 0},
    {"out", 'o', "DIR", 0, "Write summary.json, curve.csv, runs.csv, figure.svg, report.html", 0},
    {"json", 'j', NULL, 0, "Print one JSON object instead of a table", 0},
    {"quiet", 'q', NULL, 0, "No progress on the terminal", 0},
    {"help", 'h', NULL, 0, "Explain this command", -1},
    {NULL, 0, NULL, 0, NULL, 0}};

static const struct argp_option check_options[] = {
    {"set", 'S', "KEY=VALUE", 0, "Overrule a key of the file, like privacy.epsilon=0.5", 0},
    {"help", 'h', NULL, 0, "Explain this command", -1},
    {NULL, 0, NULL, 0, NULL, 0}};

static const struct argp_option reproduce_options[] = {
    {"list", 'l', NULL, 0, "List what can be reproduced", 0},
    {"fast", 'f', NULL, 0, "Few runs of each experiment: seconds instead of minutes", 0},
    {"threads", 't', "N", 0, "Threads to spread the runs over (default: one a processor)", 0},
    {"out", 'o', "DIR", 0,
     "Write report.html, claims.md, results.json and the figures to DIR/PAPER", 0},
    {"experiments", 'e', "DIR", 0,
     "Folder of the papers (default: $TACIT_EXPERIMENTS, or the one beside the program)", 0},
    {"json", 'j', NULL, 0, "Print one JSON object instead of a table", 0},
    {"quiet", 'q', NULL, 0, "No progress on the terminal", 0},
    {"help", 'h', NULL, 0, "Explain this command", -1},
    {NULL, 0, NULL, 0, NULL, 0}};

/* The state's own name is what getopt prints. */
static char *name_of(const struct argp_state *state)
{
    struct arguments const *const arguments = state->input;
    return arguments->name;
}

static _Noreturn void refuse(const struct argp_state *state, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static _Noreturn void refuse(const struct argp_state *state, const char *format, ...)
{
    va_list arguments;
    (void)fprintf(stderr, "%s: ", name_of(state));
    va_start(arguments, format);
    (void)vfprintf(stderr, format, arguments);
    va_end(arguments);
    (void)fputc('\n', stderr);
    exit(EXIT_WRONG_INPUT);
}

static void add_setting(struct arguments *arguments, const char *setting, struct argp_state *state)
{
    if (arguments->setting_count == ARGUMENTS_SETTINGS_MAX)
        refuse(state, "too many settings; %u are allowed", ARGUMENTS_SETTINGS_MAX);
    arguments->settings[arguments->setting_count++] = setting;
}

static void add_shorthand(struct arguments *arguments, const char *key, const char *value,
                          struct argp_state *state)
{
    char *const setting = arguments->shorthand[key[0] == 'r' ? 0 : 1];
    int const length = snprintf(setting, sizeof arguments->shorthand[0], "%s=%s", key, value);
    if (length < 0 || (size_t)length >= sizeof arguments->shorthand[0])
        refuse(state, "--%s: '%s' is not allowed; allowed: a whole number", key, value);
    add_setting(arguments, setting, state);
}

static uint32_t parse_threads(const char *text, struct argp_state *state)
{
    char *end;
    errno = 0;
    long const threads = strtol(text, &end, 10);
    if (errno != 0 || *end != '\0' || threads < 1 || threads > (long)THREADS_MAX)
        refuse(state, "--threads: '%s' is not allowed; allowed: a whole number from 1 to %u", text,
               THREADS_MAX);
    return (uint32_t)threads;
}

/* A word that is no option. */
static void add_word(struct arguments *arguments, const char *word, struct argp_state *state)
{
    if (arguments->command != ARGUMENTS_REPRODUCE) {
        if (arguments->file != NULL)
            refuse(state, "one experiment file at a time; '%s' is a second one", word);
        arguments->file = word;
        return;
    }
    if (arguments->id_count == ARGUMENTS_IDS_MAX)
        refuse(state, "too many IDs; %u are allowed", ARGUMENTS_IDS_MAX);
    arguments->ids[arguments->id_count++] = word;
}

static error_t parse_one(int key, char *value, struct argp_state *state)
{
    struct arguments *const arguments = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->err_stream = NULL; /* getopt says what is wrong; argp is to add nothing and go on */
        return 0;
    case 'h':
        argp_help(state->root_argp, stdout, ARGP_HELP_STD_HELP, name_of(state));
        exit(EXIT_DONE);
    case 'S':
        add_setting(arguments, value, state);
        return 0;
    case 'r':
        add_shorthand(arguments, "runs", value, state);
        return 0;
    case 's':
        add_shorthand(arguments, "seed", value, state);
        return 0;
    case 't':
        arguments->thread_count = parse_threads(value, state);
        return 0;
    case 'o':
        arguments->out = value;
        return 0;
    case 'j':
        arguments->json = true;
        return 0;
    case 'q':
        arguments->quiet = true;
        return 0;
    case 'l':
        arguments->list = true;
        return 0;
    case 'f':
        arguments->fast = true;
        return 0;
    case 'e':
        arguments->experiments = value;
        return 0;
    case ARGP_KEY_ARG:
        add_word(arguments, value, state);
        return 0;
    case ARGP_KEY_END:
        if (arguments->command != ARGUMENTS_REPRODUCE && arguments->file == NULL)
            refuse(state, "no experiment file given; usage: %s FILE [OPTION...]", name_of(state));
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

void arguments_parse(struct arguments *arguments, enum arguments_command command,
                     int argument_count, char **words)
{
    static char names[][16] = {"tacit run", "tacit check", "tacit reproduce"};
    /* How getopt begins what it says about unknown options. */
    static char hints[][48] = {"tacit run (see 'tacit run --help')",
                               "tacit check (see 'tacit check --help')",
                               "tacit reproduce (see 'tacit reproduce --help')"};
    static const struct argp parsers[] = {
        {.options = run_options,
         .parser = parse_one,
         .args_doc = "FILE",
         .doc = "Run the experiment in FILE and print its results."},
        {.options = check_options,
         .parser = parse_one,
         .args_doc = "FILE",
         .doc = "Validate FILE and print its privacy statement, message and cost bounds."},
        {.options = reproduce_options,
         .parser = parse_one,
         .args_doc = "[ID...]",
         .doc = "Reproduce papers (like p1) or figures of them (like p1-fig4); without ID, all. "
                "Prints for each claim whether it holds. Code 0: every verdict is the one on "
                "record; 1: some are not."}};
    *arguments = (struct arguments){.command = command, .name = names[command]};
    words[0] = hints[command];
    if (argp_parse(&parsers[command], argument_count, words, ARGP_NO_HELP, NULL, arguments) != 0)
        exit(EXIT_WRONG_INPUT);
}
