/* argp for all subcommands. What is wrong is said in one line: argp itself would add a second one.
 */
#include "commands.h"
#include "terminal.h"
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME_BYTES 128u

struct parsing {
    const struct command *command;
    void *into;
};

void command_refuse(const struct command *command, const char *format, ...)
{
    va_list arguments;
    (void)fprintf(stderr, "tacit %s: ", command->name);
    va_start(arguments, format);
    (void)vfprintf(stderr, format, arguments);
    va_end(arguments);
    (void)fputc('\n', stderr);
    exit(EXIT_WRONG_INPUT);
}

void command_refuse_usage(const struct command *command, const char *what)
{
    command_refuse(command, "%s; see 'tacit %s --help'", what, command->name);
}

uint32_t command_number(const struct command *command, const char *option, const char *text,
                        uint32_t max)
{
    char *end;
    errno = 0;
    unsigned long const value = strtoul(text, &end, 10);
    if (errno != 0 || *end != '\0' || *text < '0' || *text > '9' || value < 1 || value > max)
        command_refuse(command, "--%s: '%s' is not allowed; allowed: a whole number from 1 to %u",
                       option, text, max);
    return (uint32_t)value;
}

int command_report(const char *name, enum tacit_status status, const struct tacit_error *error)
{
    if (status == TACIT_OK)
        return EXIT_DONE;
    if (name != NULL)
        (void)fprintf(stderr, "tacit %s: ", name);
    (void)fprintf(stderr, "%s\n", error->text[0] == '\0' ? tacit_status_text(status) : error->text);
    return status == TACIT_INVALID ? EXIT_WRONG_INPUT : EXIT_FAILED;
}

int command_report_file(enum tacit_status status, const struct tacit_error *error)
{
    (void)command_report(NULL, status, error);
    return status == TACIT_MEMORY ? EXIT_FAILED : EXIT_WRONG_INPUT;
}

enum tacit_status command_printed(enum tacit_status status, struct tacit_error *error)
{
    if (status == TACIT_OK && fflush(stdout) != 0)
        status = TACIT_IO;
    if (status != TACIT_OK)
        (void)snprintf(error->text, sizeof error->text, "the results could not be printed: %s",
                       status == TACIT_IO && errno != 0 ? strerror(errno)
                                                        : tacit_status_text(status));
    return status;
}

int command_end(const char *name, int code)
{
    errno = 0;
    bool const is_printed = fflush(stdout) == 0 && ferror(stdout) == 0;
    if (is_printed || code != EXIT_DONE)
        return code;
    (void)fprintf(stderr, "tacit %s: the results could not be printed: %s\n", name,
                  errno != 0 ? strerror(errno) : "stdout takes no more");
    return EXIT_FAILED;
}

static error_t parse_argument(int key, char *value, struct argp_state *state)
{
    struct parsing const *const parsing = state->input;
    char name[NAME_BYTES];
    switch (key) {
    case ARGP_KEY_INIT:
        state->err_stream = NULL; /* getopt says what is wrong; argp is to add nothing and go on */
        return 0;
    case 'h':
        (void)snprintf(name, sizeof name, "tacit %s", parsing->command->name);
        argp_help(state->root_argp, stdout, ARGP_HELP_STD_HELP, name);
        exit(command_end(parsing->command->name, EXIT_DONE));
    default:
        break;
    }
    if (key == COMMAND_END || key < ARGP_KEY_END) /* an option's letter, a word, or the end */
        parsing->command->parse(parsing->command, parsing->into, key, value);
    return 0;
}

void command_parse(const struct command *command, void *into, int argc, char **argv)
{
    static char hint[NAME_BYTES]; /* how getopt begins what it says about unknown options */
    struct parsing parsing = {command, into};
    struct argp const parser = {.options = command->options,
                                .parser = parse_argument,
                                .args_doc = command->operands,
                                .doc = command->help};
    (void)snprintf(hint, sizeof hint, "tacit %s (see 'tacit %s --help')", command->name,
                   command->name);
    argv[0] = hint;
    if (argp_parse(&parser, argc, argv, ARGP_NO_HELP, NULL, &parsing) != 0)
        exit(EXIT_WRONG_INPUT);
}

/* ---- Which command --------------------------------------------------------------------------- */

static void print_help(FILE *out)
{
    (void)fprintf(out,
                  "Usage: %s COMMAND [ARGUMENTS]\n\n"
                  "Private, communication-efficient federated bandits.\n\n",
                  program_name);
    for (size_t i = 0; commands_all[i] != NULL; i++)
        (void)fprintf(out, "  %-14s %s\n", commands_all[i]->name, commands_all[i]->summary);
    for (size_t i = 0; commands_elsewhere[i].name != NULL; i++)
        (void)fprintf(out, "  %-14s %s\n", commands_elsewhere[i].name,
                      commands_elsewhere[i].summary);
    (void)fprintf(out,
                  "\n'%s COMMAND --help' explains a command; '%s --version' says which tacit this "
                  "is.\n",
                  program_name, program_name);
}

static int refuse_name(const char *name)
{
    (void)fprintf(stderr, "%s: unknown command '%s'; allowed:", program_name, name);
    for (size_t i = 0; commands_all[i] != NULL; i++)
        (void)fprintf(stderr, "%s %s", i == 0 ? "" : ",", commands_all[i]->name);
    for (size_t i = 0; commands_elsewhere[i].name != NULL; i++)
        (void)fprintf(stderr, ", %s", commands_elsewhere[i].name);
    (void)fprintf(stderr, "\n");
    return EXIT_WRONG_INPUT;
}

/* What is closed of stdin, stdout and stderr would be the next file, socket or timer that is
 * opened, and what is printed would go there. Reading and writing fail as before. */
static void hold_standard_files(void)
{
    for (int file = STDIN_FILENO; file <= STDERR_FILENO; file++)
        if (fcntl(file, F_GETFD) == -1)
            (void)open("/dev/null", file == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int command_main(int argument_count, char **arguments)
{
    hold_standard_files();
    if (argument_count < 2) {
        print_help(stderr);
        return EXIT_WRONG_INPUT;
    }
    char const *const name = arguments[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 ||
        (strcmp(name, "help") == 0 && argument_count == 2)) {
        print_help(stdout);
        return command_end(name, EXIT_DONE);
    }
    if (strcmp(name, "--version") == 0) {
        (void)printf("tacit %s\n", TACIT_VERSION);
        return command_end(name, EXIT_DONE);
    }
    for (size_t i = 0; commands_elsewhere[i].name != NULL; i++)
        if (strcmp(commands_elsewhere[i].name, name) == 0)
            return command_call_elsewhere(arguments);
    for (size_t i = 0; commands_all[i] != NULL; i++)
        if (strcmp(commands_all[i]->name, name) == 0) {
            if (command_is_for_people(commands_all[i]))
                terminal_fit(argument_count - 1, arguments + 1);
            return command_end(
                name, commands_all[i]->run(commands_all[i], argument_count - 1, arguments + 1));
        }
    return refuse_name(name);
}
