/* tacit audit, tacit forget: what the owner of a site does with its state at the end. */
#include "commands.h"
#include "daemons.h"
#include "../src/families/live_family.h"
#include "../src/live/audit.h"
#include <inttypes.h>

struct request {
    const char *config;
    const char *ca;
    const char *file;
    bool even_so;
};

/* --config FILE alone, or (audit) LINES with --ca. */
static void parse(const struct command *command, void *into, int key, char *value)
{
    struct request *const request = into;
    if (key == 'c')
        request->config = value;
    else if (key == 'C')
        request->ca = value;
    else if (key == 'e')
        request->even_so = true;
    else if (key == COMMAND_OPERAND && request->file == NULL && command == &command_audit)
        request->file = value;
    else if (key == COMMAND_OPERAND || (request->file == NULL) != (request->config != NULL) ||
             (request->file == NULL) != (request->ca == NULL))
        command_refuse_usage(command, command == &command_audit
                                          ? "--config FILE is needed, or FILE and --ca CA"
                                          : "--config FILE is needed and nothing else");
}

/* Writes the site's ledger, or erases its state. */
static int end_site(const struct request *request, bool forgets)
{
    struct tacit_error error = {""};
    uint64_t releases = 0;
    struct tacit_config_daemon *const daemon = daemons_load(TACIT_CONFIG_AGENT, request->config);
    if (daemon == NULL)
        return EXIT_WRONG_INPUT;
    struct live_agent_config const agent =
        daemons_agent_config((const struct tacit_config_agent *)(void *)daemon);
    enum tacit_status const status =
        forgets ? live_audit_forget(&agent, request->even_so, &releases, &error)
                : live_audit_write(&agent, stdout, &error);
    if (status == TACIT_OK && forgets)
        (void)printf("%s is erased. What left this site stays with those who have it (%" PRIu64
                     " releases, noised). Yours to erase: backups of the state, logs, the keys of "
                     "%s; the broker keeps the last retained messages until its own state goes.\n",
                     daemon->state_directory, releases, daemon->name);
    tacit_config_daemon_free(daemon);
    return daemons_report(status, &error);
}

static int audit(const struct command *command, int argc, char **argv)
{
    struct request request = {0};
    struct tacit_error found = {""};
    struct tacit_error error = {""};
    command_parse(command, &request, argc, argv);
    if (request.file == NULL)
        return end_site(&request, false);
    enum tacit_status const status = live_audit_check(request.file, request.ca, &found, &error);
    if (status == TACIT_OK)
        (void)printf("%s\n", found.text);
    return daemons_report(status, &error);
}

static int forget(const struct command *command, int argc, char **argv)
{
    struct request request = {0};
    command_parse(command, &request, argc, argv);
    return end_site(&request, true);
}

#define CONFIG_OPTION                                                                              \
    {                                                                                              \
        "config", 'c', "FILE", 0, "The file of the site, whose agent is stopped", 0                \
    }

static const struct argp_option audit_options[] = {
    CONFIG_OPTION,
    {"ca", 'C', "CA", 0, "The CA of the federation (ca.crt)", 0},
    COMMAND_LAST_OPTIONS};

static const struct argp_option forget_options[] = {
    CONFIG_OPTION,
    {"even-so", 'e', NULL, 0, "Also while a run is under way, or if the state cannot be read", 0},
    COMMAND_LAST_OPTIONS};

const struct command command_audit = {
    .name = "audit",
    .summary = "write a site's ledger for an auditor, or check one",
    .options = audit_options,
    .operands = "--config=FILE\nLINES --ca=CA",
    .help = "Writes statement, runs and releases of a site to stdout, as signed lines of JSON; or "
            "checks such lines: whose they are, and that none is missing, altered, out of order or "
            "signed with another key. Ends with 2 where something is wrong.",
    .parse = parse,
    .run = audit,
};

const struct command command_forget = {
    .name = "forget",
    .summary = "erase the state of a site at the end",
    .options = forget_options,
    .operands = "--config=FILE",
    .help =
        "Overwrites the files of a site's state with zeros and removes them, once its run is "
        "over. Not what is elsewhere: backups, snapshots and disks that write elsewhere what is "
        "overwritten.",
    .parse = parse,
    .run = forget,
};
