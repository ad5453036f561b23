/* tacit help: what a file may hold and what a run measures, from the tables that are used. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "../src/config/keys.h"
#include "commands.h"

struct request {
    char *operands[2]; /* "keys", a sort of files or a protocol */
    int count;
    enum keys_form form;
};

void help_parse(const struct command *command, void *into, int key, char *value)
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

const struct argp_option help_options[] = {
    {"markdown", 'm', NULL, 0, "Tables of a page", 0},
    {"schema", 's', NULL, 0, "A JSON schema, by which editors complete and check files", 0},
    COMMAND_LAST_OPTIONS};

int help_run(const struct command *command, int argc, char **argv)
{
    struct request request = {.form = KEYS_TEXT};
    struct keys_file file = {.title = NULL};
    command_parse(command, &request, argc, argv);
    char const *const about = request.count == 0 ? "" : request.operands[0];
    bool const is_keys = strcmp(about, "keys") == 0;
    if (!is_keys && (help_metrics == NULL || strcmp(about, "metrics") != 0))
        command_refuse_usage(command, help_metrics == NULL ? "what about? allowed: keys"
                                                           : "what about? allowed: keys, metrics");
    if (!is_keys && request.form != KEYS_TEXT)
        command_refuse_usage(command, "metrics are printed in words only");
    char const *const word = request.operands[1];
    char const *const protocol = help_file(is_keys ? word : NULL, &file);
    if (file.title == NULL) {
        static char form_words[][12] = {"", "--markdown", "--schema"};
        char *const form = request.form == KEYS_TEXT ? NULL : form_words[request.form];
        return command_call_elsewhere(
            (char *[]){"tacit", "help", request.operands[0], request.operands[1], form, NULL});
    }
    struct tacit_error error = {""};
    errno = 0;
    enum tacit_status const status =
        is_keys ? keys_write(&file, protocol, request.form, stdout) : help_metrics(word);
    if (status != TACIT_INVALID)
        return command_report("help", command_printed(status, &error), &error);
    (void)fprintf(stderr, "%s help %s: '%s' is no file or protocol; allowed: %s", program_name,
                  about, is_keys ? protocol : word, is_keys ? help_words : "");
    for (const struct keys_kind *kind = file.kinds; kind->name != NULL; kind++)
        (void)fprintf(stderr, "%s%s", is_keys || kind > file.kinds ? ", " : "", kind->name);
    (void)fprintf(stderr, "\n");
    return EXIT_WRONG_INPUT;
}
