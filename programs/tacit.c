/* The command line: finds the subcommand. */
#include "commands.h"
#include "terminal.h"
#include <stdio.h>
#include <string.h>

const struct command *const commands_all[] = {&command_run,
                                              &command_check,
                                              &command_compare,
                                              &command_plan,
                                              &command_evaluate,
                                              &command_reproduce,
                                              &command_data,
                                              &command_bound,
                                              &command_agent,
                                              &command_coordinator,
                                              &command_status,
                                              &command_control,
                                              &command_train,
                                              &command_pki,
                                              &command_broker_config,
                                              &command_manual,
                                              NULL};

/* What daemons and tools print is for machines, too. */
static bool is_for_people(const struct command *command)
{
    return command == &command_run || command == &command_check || command == &command_compare ||
           command == &command_plan || command == &command_evaluate ||
           command == &command_reproduce || command == &command_status;
}

static int start(const struct command *command, int word_count, char **words)
{
    if (is_for_people(command))
        terminal_fit(word_count, words);
    return command_end(command->name, command->run(command, word_count, words));
}

static void print_help(FILE *out)
{
    (void)fprintf(out, "Usage: tacit COMMAND [ARGUMENTS]\n\n"
                       "Private, communication-efficient federated bandits.\n\n");
    for (size_t i = 0; commands_all[i] != NULL; i++)
        (void)fprintf(out, "  %-14s %s\n", commands_all[i]->name, commands_all[i]->summary);
    (void)fprintf(out, "\n'tacit COMMAND --help' explains a command; 'tacit --version' says which "
                       "tacit this is.\n");
}

int main(int argument_count, char **arguments)
{
    if (argument_count < 2) {
        print_help(stderr);
        return EXIT_WRONG_INPUT;
    }
    char const *const name = arguments[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        print_help(stdout);
        return command_end(name, EXIT_DONE);
    }
    if (strcmp(name, "--version") == 0) {
        (void)printf("tacit %s\n", TACIT_VERSION);
        return command_end(name, EXIT_DONE);
    }
    for (size_t i = 0; commands_all[i] != NULL; i++)
        if (strcmp(commands_all[i]->name, name) == 0)
            return start(commands_all[i], argument_count - 1, arguments + 1);
    (void)fprintf(stderr, "tacit: unknown command '%s'; allowed:", name);
    for (size_t i = 0; commands_all[i] != NULL; i++)
        (void)fprintf(stderr, "%s %s", i == 0 ? "" : ",", commands_all[i]->name);
    (void)fprintf(stderr, "\n");
    return EXIT_WRONG_INPUT;
}
