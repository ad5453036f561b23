/* The command line: finds the subcommand. */
#include "commands.h"
#include <stdio.h>
#include <string.h>

struct command {
    const char *name;
    int (*run)(int argument_count, char **arguments);
    const char *summary;
};

static const struct command commands[] = {
    {"run", command_run, "run an experiment file in the simulator"},
    {"check", command_check, "validate an experiment file; print its privacy statement and bounds"},
    {"reproduce", command_reproduce, "reproduce the figures of a paper and check its claims"},
    {"data", command_data, "list, verify or find data sets"},
    {"agent", command_agent, "run the agent of a site"},
    {"coordinator", command_coordinator, "run the coordinator of a federation"},
    {"status", command_status, "ask a running agent or coordinator how it is"},
    {"pki", command_pki, "make a private CA and certificates for a trial"},
    {"broker-config", command_broker_config, "write the broker's configuration and access list"},
};

static void print_help(FILE *out)
{
    (void)fprintf(out, "Usage: tacit COMMAND [ARGUMENTS]\n\n"
                       "Private, communication-efficient federated bandits.\n\n");
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        (void)fprintf(out, "  %-14s %s\n", commands[i].name, commands[i].summary);
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
        return EXIT_DONE;
    }
    if (strcmp(name, "--version") == 0) {
        (void)printf("tacit %s\n", TACIT_VERSION);
        return EXIT_DONE;
    }
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(commands[i].name, name) == 0)
            return commands[i].run(argument_count - 1, arguments + 1);
    (void)fprintf(stderr, "tacit: unknown command '%s'; allowed:", name);
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        (void)fprintf(stderr, "%s %s", i == 0 ? "" : ",", commands[i].name);
    (void)fprintf(stderr, "\n");
    return EXIT_WRONG_INPUT;
}
