/* tacit help: what a file may hold and what a run measures, from the tables that are used. */
#include <stdio.h>
#include <string.h>
#include "../src/study/keys.h"
#include "commands.h"
#include "tacit/family.h"

struct request {
    const char *words[2]; /* "keys" or "metrics", a protocol */
    int count;
    enum keys_form form;
};

static void take(const struct command *command, void *into, int key, char *value)
{
    struct request *const request = into;
    if (key == 'm')
        request->form = KEYS_MARKDOWN;
    else if (key == 's')
        request->form = KEYS_SCHEMA;
    else if (key == COMMAND_WORD && request->count == 2)
        command_refuse_usage(command, "one protocol at a time");
    else if (key == COMMAND_WORD)
        request->words[request->count++] = value;
}

static const struct argp_option options[] = {
    {"markdown", 'm', NULL, 0, "Tables of a page", 0},
    {"schema", 's', NULL, 0, "A JSON schema, by which editors complete and check files", 0},
    COMMAND_LAST_OPTIONS};

static int help_command(const struct command *command, int word_count, char **words)
{
    struct request request = {.form = KEYS_TEXT};
    command_parse(command, &request, word_count, words);
    char const *const about = request.count == 0 ? "" : request.words[0];
    bool const is_keys = strcmp(about, "keys") == 0;
    if (!is_keys && strcmp(about, "metrics") != 0)
        command_refuse_usage(command, "what about? allowed: keys, metrics");
    if (!is_keys && request.form != KEYS_TEXT)
        command_refuse_usage(command, "metrics are printed in words only");
    char const *const protocol = request.words[1];
    enum tacit_status const status =
        is_keys ? keys_write(protocol, request.form, stdout) : keys_write_metrics(protocol, stdout);
    if (status != TACIT_INVALID)
        return status == TACIT_OK ? EXIT_DONE : EXIT_FAILED;
    (void)fprintf(stderr, "tacit help %s: '%s' is no protocol; allowed:", about, protocol);
    for (const struct tacit_config_family *const *family = tacit_family_files(); *family != NULL;
         family++)
        (void)fprintf(stderr, " %s", (*family)->word);
    (void)fprintf(stderr, "\n");
    return EXIT_WRONG_INPUT;
}

const struct command command_help = {
    .name = "help",
    .summary = "explain the keys of an experiment file, or the metrics of its runs",
    .options = options,
    .words = "keys|metrics [PROTOCOL]",
    .help = "keys: every key of an experiment file, those of all experiments and those of each "
            "protocol or of one: what may stand there, what holds where it is left out, and what "
            "it means. metrics: what a run of each protocol, or of one, measures.",
    .take = take,
    .run = help_command};
