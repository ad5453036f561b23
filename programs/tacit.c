/* tacit: the simulator, and what is made of its results. What daemons and their operators need is
 * tacitd, which this program calls for them. */
#include "commands.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DAEMONS "tacitd"

const char *const program_name = "tacit";

const struct command *const commands_all[] = {
    &command_run,      &command_check,     &command_compare, &command_plan,
    &command_evaluate, &command_reproduce, &command_data,    &command_bound,
    &command_train,    &command_manual,    &command_help,    NULL};

const struct command_elsewhere commands_elsewhere[] = {
    {"agent", "run the agent of a site"},
    {"coordinator", "run the coordinator of a federation"},
    {"helper", "run the second aggregator of a federation"},
    {"status", "ask a running agent or coordinator how it is"},
    {"control", "change a run that is under way"},
    {"pki", "make a private CA and certificates for a trial"},
    {"broker-config", "write the broker's configuration and access list"},
    {"trial", "make a federation of three sites to try on this machine"},
    {"audit", "write a site's ledger for an auditor, or check one"},
    {"forget", "erase the state of a site at the end"},
    {NULL, NULL}};

bool command_is_for_people(const struct command *command)
{
    return command != &command_data && command != &command_bound && command != &command_train &&
           command != &command_manual;
}

/* Beside this program, else in PATH. */
int command_call_elsewhere(char **arguments)
{
    char path[PATH_MAX + sizeof DAEMONS];
    ssize_t const size = readlink("/proc/self/exe", path, PATH_MAX);
    path[size < 0 ? 0 : size] = '\0';
    char *const slash = strrchr(path, '/');
    if (slash != NULL) {
        memcpy(slash + 1, DAEMONS, sizeof DAEMONS);
        (void)execv(path, arguments);
    }
    if (slash == NULL || errno == ENOENT)
        (void)execvp(DAEMONS, arguments);
    (void)fprintf(stderr,
                  "tacit %s: the program " DAEMONS ", which does this, is neither beside tacit nor "
                  "in PATH (%s); it comes with tacit's source and its packages, and not with the "
                  "Python package\n",
                  arguments[1], strerror(errno));
    return EXIT_FAILED;
}

int main(int argument_count, char **arguments)
{
    return command_main(argument_count, arguments);
}
