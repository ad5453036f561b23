/* tacitd: the daemons of a live federation, and what their operators need. */
#include "commands.h"
#include <stddef.h>

const char *const program_name = "tacitd";

const struct command *const commands_all[] = {
    &command_agent,   &command_coordinator, &command_helper,        &command_status,
    &command_control, &command_pki,         &command_broker_config, &command_trial,
    &command_audit,   &command_forget,      &command_manual,        NULL};

const struct command_elsewhere commands_elsewhere[] = {{NULL, NULL}};

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
