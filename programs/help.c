/* tacit help: what a file may hold and what a run measures, from the tables that are used. */
#include <stdio.h>
#include <string.h>
#include "../src/config/keys.h"
#include "commands.h"

struct request {
    char *operands[2]; /* "keys", a sort of files or a protocol */
    int count;
    enum keys_form form;
};

static void parse(const struct command *command, void *into, int key, char *value)
{
    struct request *const request = into;
    if (key == 'm')
        request->form = KEYS_MARKDOWN;
    else if (key == 's')
        request->form = KEYS_SCHEMA;
    else if (key == COMMAND_OPERAND && request->count == 2)
        command_refuse_usage(command, "one file or protocol at a time");
    else if (key == COMMAND_OPERAND)
        request->operands[request->count++] = value;
}

static const struct argp_option options[] = {
    {"markdown", 'm', NULL, 0, "Tables of a page", 0},
    {"schema", 's', NULL, 0, "A JSON schema, by which editors complete and check files", 0},
    COMMAND_LAST_OPTIONS};

static int help_command(const struct command *command, int argc, char **argv)
{
    struct request request = {.form = KEYS_TEXT};
    struct keys_file file = {.title = NULL};
    command_parse(command, &request, argc, argv);
    char const *const about = request.count == 0 ? "" : request.operands[0];
    bool const is_keys = strcmp(about, "keys") == 0;
    if (!is_keys && strcmp(about, "metrics") != 0)
        command_refuse_usage(command, "what about? allowed: keys, metrics");
    if (!is_keys && request.form != KEYS_TEXT)
        command_refuse_usage(command, "metrics are printed in words only");
    char const *const word = request.operands[1];
    char const *const protocol = help_file(word, &file);
    if (file.title == NULL) {
        static char form_words[][12] = {"", "--markdown", "--schema"};
        char *const form = request.form == KEYS_TEXT ? NULL : form_words[request.form];
        return command_call_elsewhere(
            (char *[]){"tacit", "help", request.operands[0], request.operands[1], form, NULL});
    }
    enum tacit_status const status =
        is_keys ? keys_write(&file, protocol, request.form, stdout) : help_metrics(protocol);
    if (status != TACIT_INVALID)
        return status == TACIT_OK ? EXIT_DONE : EXIT_FAILED;
    (void)fprintf(stderr, "%s help %s: '%s' is no file or protocol; allowed: %s", program_name,
                  about, protocol, help_words);
    for (const struct keys_kind *kind = file.kinds; kind->name != NULL; kind++)
        (void)fprintf(stderr, ", %s", kind->name);
    (void)fprintf(stderr, "\n");
    return EXIT_WRONG_INPUT;
}

const struct command command_help = {
    .name = "help",
    .summary = "explain the keys of a file, or the metrics of a run",
    .options = options,
    .operands = "keys|metrics [PROTOCOL]\nkeys agent|coordinator|helper|claims",
    .help = "keys: every key of a file (an experiment's, all of them or those of one protocol; a "
            "daemon's; of claims): what may stand there, what holds where it is left out, and what "
            "it means. metrics: what a run of each protocol, or of one, measures.",
    .parse = parse,
    .run = help_command};
