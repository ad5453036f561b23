/* tacit: the simulator, and what is made of its results. What daemons and their operators need is
 * tacitd, which this program calls for them. */
#include "../src/config/keys.h"
#include "commands.h"
#include "tacit/family.h"
#include <errno.h>
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
    {"status", "ask a running daemon how it is"},
    {"control", "change a run that is under way"},
    {"pki", "make a private CA and certificates for a trial"},
    {"broker-config", "write the broker's configuration and access list"},
    {"trial", "make a federation of three sites to try on this machine"},
    {"audit", "write a site's ledger for an auditor, or check one"},
    {"forget", "erase the state of a site at the end"},
    {NULL, NULL}};

const char *const help_words = "agent, coordinator, helper, claims";

const char *help_file(const char *name, struct keys_file *file)
{
    static const char *const daemons[] = {"agent", "coordinator", "helper"};
    for (size_t i = 0; name != NULL && i < sizeof daemons / sizeof daemons[0]; i++)
        if (strcmp(name, daemons[i]) == 0)
            return NULL;
    bool const is_claims = name != NULL && strcmp(name, "claims") == 0;
    *file =
        (struct keys_file){.title = is_claims ? "a claims file" : "all experiments",
                           .sections = is_claims ? tacit_claims_sections : tacit_config_sections};
    if (is_claims)
        return NULL;
    struct keys_kind *kind = file->kinds;
    for (const struct tacit_config_family *const *family = tacit_family_files(); *family != NULL;
         family++)
        *kind++ = (struct keys_kind){(*family)->name, (*family)->keys,
                                     (*family)->own_environments != NULL};
    return name;
}

static void print_metric(const char *name, const char *unit, const char *label, const char *note)
{
    (void)printf("  %-24s %s%s%s%s%s\n", name, label, note == NULL ? "" : ": ",
                 note == NULL ? "" : note, *unit == '\0' ? "" : "; in ", unit);
}

static enum tacit_status print_metrics(const char *protocol)
{
    char const *separator = "";
    if (protocol != NULL && tacit_family_find(protocol) == NULL)
        return TACIT_INVALID;
    for (const struct tacit_family *const *one = tacit_families(); *one != NULL; one++) {
        if (protocol != NULL && strcmp(protocol, (*one)->file.name) != 0)
            continue;
        (void)printf("%s==== %s\n", separator, (*one)->file.name);
        separator = "\n";
        for (const struct tacit_metric *metric = (*one)->metrics; metric->name != NULL; metric++)
            print_metric(metric->name, metric->unit, metric->label, metric->note);
        struct tacit_profile const *profile = (*one)->profiles;
        for (; profile != NULL && profile->name != NULL; profile++)
            print_metric(profile->name, profile->unit, profile->label, profile->note);
    }
    return TACIT_OK;
}

enum tacit_status (*const help_metrics)(const char *protocol) = print_metrics;

const struct command command_help = {
    .name = "help",
    .summary = "explain the keys of a file, or the metrics of a run",
    .options = help_options,
    .operands = "keys|metrics [PROTOCOL]\nkeys agent|coordinator|helper|claims",
    .help = "keys: every key of a file (an experiment's, all of them or those of one protocol; a "
            "daemon's; of claims): what may stand there, what holds where it is left out, and what "
            "it means. metrics: what a run of each protocol, or of one, measures.",
    .parse = help_parse,
    .run = help_run};

bool command_is_for_people(const struct command *command)
{
    return command != &command_data && command != &command_bound && command != &command_train &&
           command != &command_manual;
}

/* Beside this program, else in PATH. */
int command_call_elsewhere(char **arguments)
{
    char path[TACIT_PROGRAM_PATH_BYTES];
    bool const is_known = tacit_config_beside_program(DAEMONS, path);
    if (is_known)
        (void)execv(path, arguments);
    if (!is_known || errno == ENOENT)
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
