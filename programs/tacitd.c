/* tacitd: the daemons of a live federation, and what their operators need. */
#include "../src/config/keys.h"
#include "../src/families/live_family.h"
#include "commands.h"
#include <string.h>

const char *const program_name = "tacitd";

const struct command *const commands_all[] = {&command_agent,
                                              &command_coordinator,
                                              &command_helper,
                                              &command_status,
                                              &command_control,
                                              &command_pki,
                                              &command_broker_config,
                                              &command_trial,
                                              &command_audit,
                                              &command_forget,
                                              &command_manual,
                                              &command_help,
                                              NULL};

const struct command_elsewhere commands_elsewhere[] = {{NULL, NULL}};

const char *const help_words = "agent, coordinator, helper";

const char *help_file(const char *name, struct keys_file *file)
{
    static const struct {
        const char *name;
        const struct config_section *sections;
    } files[] = {{"agent", tacit_config_agent_sections},
                 {"coordinator", tacit_config_coordinator_sections},
                 {"helper", tacit_config_helper_sections}};
    file->title = name = name == NULL ? "" : name;
    size_t place = 0;
    while (place < 3 && strcmp(name, files[place].name) != 0)
        place++;
    if (place == 3)
        return name;
    file->sections = files[place].sections;
    file->kind_is_name = true;
    struct keys_kind *kind = file->kinds;
    for (const struct tacit_config_live *const *family = live_family_files();
         place < 2 && *family != NULL; family++)
        *kind++ = (struct keys_kind){
            (*family)->name, place == 0 ? (*family)->site_keys : (*family)->run_keys, false};
    return NULL;
}

enum tacit_status (*const help_metrics)(const char *protocol) = NULL;

const struct command command_help = {
    .name = "help",
    .summary = "explain the keys of a daemon's file",
    .options = help_options,
    .operands = "keys agent|coordinator|helper",
    .help = "Every key of the file: what may stand there, what holds where it is left out, and "
            "what it means.",
    .parse = help_parse,
    .run = help_run};

bool command_is_for_people(const struct command *command)
{
    return command == &command_status;
}

int command_call_elsewhere(char **arguments)
{
    (void)arguments;
    return EXIT_WRONG_INPUT;
}

int main(int argument_count, char **arguments)
{
    return command_main(argument_count, arguments);
}
