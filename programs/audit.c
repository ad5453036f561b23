/* tacit audit, tacit forget: what the owner of a site does with its state at the end. */
#include "commands.h"
#include "daemons.h"
#include "../src/families/live_family.h"
#include "../src/live/audit.h"
#include <inttypes.h>

struct words {
    const char *config;
    const char *ca;
    const char *file;
    bool even_so;
};

static void parse_words(const struct command *command, void *into, int key, char *value)
{
    struct words *const words = into;
    if (key == 'c')
        words->config = value;
    else if (key == 'C')
        words->ca = value;
    else if (key == 'e')
        words->even_so = true;
    else if (key == COMMAND_WORD && words->file == NULL && command == &command_audit)
        words->file = value;
    else if (key == COMMAND_WORD || (words->file == NULL) != (words->config != NULL) ||
             (words->file == NULL) != (words->ca == NULL))
        command_refuse_usage(command, command == &command_audit
                                          ? "--config FILE is needed, or FILE and --ca CA"
                                          : "--config FILE is needed and nothing else");
}

static int with_site(const struct words *words, bool forgets)
{
    struct tacit_config_agent *config;
    struct tacit_error error = {""};
    uint64_t releases = 0;
    if (tacit_config_agent_load(&config, live_family_files(), words->config, &error) != TACIT_OK)
        return daemons_report(TACIT_INVALID, &error);
    struct live_agent_config const agent = daemons_agent_config(config);
    enum tacit_status const status =
        forgets ? live_audit_forget(&agent, words->even_so, &releases, &error)
                : live_audit_write(&agent, stdout, &error);
    if (status == TACIT_OK && forgets)
        (void)printf("%s is erased. What left this site stays with those who have it (%" PRIu64
                     " releases, noised). Yours to erase: backups of the state, logs, the keys of "
                     "%s; the broker keeps the last retained messages until its own state goes.\n",
                     config->state_directory, releases, config->site);
    tacit_config_agent_free(config);
    return daemons_report(status, &error);
}

static int audit(const struct command *command, int word_count, char **given)
{
    struct words words = {0};
    struct tacit_error found = {""};
    struct tacit_error error = {""};
    command_parse(command, &words, word_count, given);
    if (words.file == NULL)
        return with_site(&words, false);
    enum tacit_status const status = live_audit_check(words.file, words.ca, &found, &error);
    if (status == TACIT_OK)
        (void)printf("%s\n", found.text);
    return daemons_report(status, &error);
}

static int forget(const struct command *command, int word_count, char **given)
{
    struct words words = {0};
    command_parse(command, &words, word_count, given);
    return with_site(&words, true);
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
    .words = "--config=FILE\nLINES --ca=CA",
    .help = "Writes statement, runs and releases of a site to stdout, as signed lines of JSON; or "
            "checks such lines: whose they are, and that none is missing, altered, out of order or "
            "signed with another key. Ends with 2 where something is wrong.",
    .parse = parse_words,
    .run = audit,
};

const struct command command_forget = {
    .name = "forget",
    .summary = "erase the state of a site at the end",
    .options = forget_options,
    .words = "--config=FILE",
    .help =
        "Overwrites the files of a site's state with zeros and removes them, once its run is "
        "over. Not what is elsewhere: backups, snapshots and disks that write elsewhere what is "
        "overwritten.",
    .parse = parse_words,
    .run = forget,
};
