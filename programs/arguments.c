/* The options that commands around experiments share. */
#include "arguments.h"
#include "tacit/report.h"
#include <stdio.h>

#define THREADS_MAX 1024u

static void add_setting(const struct command *command, struct arguments *arguments,
                        const char *setting)
{
    if (arguments->setting_count == ARGUMENTS_SETTINGS_MAX)
        command_refuse(command, "too many settings; %u are allowed", ARGUMENTS_SETTINGS_MAX);
    arguments->settings[arguments->setting_count++] = setting;
}

/* `key`: runs or seed. */
static void add_shorthand(const struct command *command, struct arguments *arguments,
                          const char *key, const char *value)
{
    char *const setting = arguments->shorthand[key[0] == 'r' ? 0 : 1];
    int const length = snprintf(setting, sizeof arguments->shorthand[0], "%s=%s", key, value);
    if (length < 0 || (size_t)length >= sizeof arguments->shorthand[0])
        command_refuse(command, "--%s: '%s' is not allowed; allowed: a whole number", key, value);
    add_setting(command, arguments, setting);
}

bool arguments_parse_option(const struct command *command, struct arguments *arguments, int key,
                            const char *value)
{
    switch (key) {
    case 'S':
        add_setting(command, arguments, value);
        return true;
    case 'r':
        add_shorthand(command, arguments, "runs", value);
        return true;
    case 's':
        add_shorthand(command, arguments, "seed", value);
        return true;
    case 't':
        arguments->thread_count = command_number(command, "threads", value, THREADS_MAX);
        return true;
    case 'o':
        arguments->out = value;
        return true;
    case 'R':
        arguments->resume = value;
        return true;
    case 'j':
        arguments->json = true;
        return true;
    case 'q':
        arguments->quiet = true;
        return true;
    case 'l':
        arguments->list = true;
        return true;
    case 'N':
        arguments->estimates = true;
        return true;
    case 'c':
        arguments->cite = true;
        return true;
    case 'f':
        arguments->fast = true;
        return true;
    case 'e':
        arguments->experiments = value;
        return true;
    case 'F':
        arguments->format = value;
        return true;
    default:
        return false;
    }
}

int arguments_try_out(const struct arguments *arguments, const char *name)
{
    struct tacit_error error = {""};
    return arguments->out == NULL
               ? EXIT_DONE
               : command_report(name, tacit_report_try(arguments->out, &error), &error);
}

void arguments_parse_file(const struct command *command, void *into, int key, char *value)
{
    struct arguments *const arguments = into;
    if (arguments_parse_option(command, arguments, key, value))
        return;
    if (key == COMMAND_END && arguments->file == NULL)
        command_refuse(command, "no experiment file given; usage: tacit %s FILE [OPTION...]",
                       command->name);
    if (key != COMMAND_OPERAND)
        return;
    if (arguments->file != NULL)
        command_refuse(command, "one experiment file at a time; '%s' is a second one", value);
    arguments->file = value;
}

void arguments_parse_ids(const struct command *command, void *into, int key, char *value)
{
    struct arguments *const arguments = into;
    if (arguments_parse_option(command, arguments, key, value) || key != COMMAND_OPERAND)
        return;
    if (arguments->id_count == ARGUMENTS_IDS_MAX)
        command_refuse(command, "too many IDs; %u are allowed", ARGUMENTS_IDS_MAX);
    arguments->ids[arguments->id_count++] = value;
}
