/* The subcommands: one file each. Each parses its own arguments and returns the exit code:
 * 0 done, 1 it could not be done, 2 wrong input, 130 stopped by Ctrl-C. */
#ifndef TACIT_PROGRAMS_COMMANDS_H
#define TACIT_PROGRAMS_COMMANDS_H

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_WRONG_INPUT = 2, EXIT_STOPPED = 130 };

int command_run(int argument_count, char **arguments);
int command_check(int argument_count, char **arguments);
int command_reproduce(int argument_count, char **arguments);
int command_data(int argument_count, char **arguments);
int command_agent(int argument_count, char **arguments);
int command_coordinator(int argument_count, char **arguments);
int command_status(int argument_count, char **arguments);
int command_pki(int argument_count, char **arguments);
int command_broker_config(int argument_count, char **arguments);
#endif
