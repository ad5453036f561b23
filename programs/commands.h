/* The subcommands: one file each. Each says what it is in one constant: from its table of options
 * come its parsing and its
 * --help. */
#ifndef TACIT_PROGRAMS_COMMANDS_H
#define TACIT_PROGRAMS_COMMANDS_H
#include <argp.h>
#include <stdbool.h>
#include <stdint.h>
#include "tacit/base.h"

enum {
    EXIT_DONE = 0,
    EXIT_FAILED = 1,
    EXIT_WRONG_INPUT = 2,
    EXIT_STATE_LOST = 3,
    EXIT_STOPPED = 130
};

/* What `parse` is given that is no option: a word, and the end of them. */
enum { COMMAND_OPERAND = ARGP_KEY_ARG, COMMAND_END = ARGP_KEY_END };

struct command {
    const char *name;                  /* "run" */
    const char *summary;               /* a line of "tacit --help" */
    const struct argp_option *options; /* ends with COMMAND_LAST_OPTIONS */
    const char *operands;              /* what follows the options; each line is another way */
    const char *help;                  /* what "--help" says of it */
    void (*parse)(const struct command *command, void *into, int key, char *value);
    /* Parses argv (argv[0] is the command's name), works, and returns the exit code. */
    int (*run)(const struct command *command, int argc, char **argv);
};

#define COMMAND_LAST_OPTIONS                                                                       \
    {"help", 'h', NULL, 0, "Explain this command", -1},                                            \
    {                                                                                              \
        NULL, 0, NULL, 0, NULL, 0                                                                  \
    }

extern const struct command command_run;
extern const struct command command_check;
extern const struct command command_compare;
extern const struct command command_plan;
extern const struct command command_evaluate;
extern const struct command command_reproduce;
extern const struct command command_bound;
extern const struct command command_data;
extern const struct command command_agent;
extern const struct command command_coordinator;
extern const struct command command_helper;
extern const struct command command_status;
extern const struct command command_control;
extern const struct command command_train;
extern const struct command command_pki;
extern const struct command command_broker_config;
extern const struct command command_trial;
extern const struct command command_audit;
extern const struct command command_forget;
extern const struct command command_manual;
extern const struct command command_help;

/* ---- What an executable says of itself (tacit.c, tacitd.c) ---- */

/* Its commands, in the order of "--help"; NULL ends the list. */
extern const struct command *const commands_all[];

/* Those that another executable has, which it calls; a NULL name ends the list. */
struct command_elsewhere {
    const char *name;
    const char *summary;
};
extern const struct command_elsewhere commands_elsewhere[];

/* Does it print for people? What daemons and tools print is for machines, too. */
bool command_is_for_people(const struct command *command);

/* The files whose keys `tacit help keys` lists under this word; a NULL title: the other executable
 * does. Result: the protocol, or NULL: all. */
struct keys_file;
const char *help_file(const char *word, struct keys_file *file);
/* Prints what runs of each protocol, or of one, measure. Errors: TACIT_INVALID (it is none). NULL:
 * it has no runs. */
extern enum tacit_status (*const help_metrics)(const char *protocol);
extern const char *const help_words; /* those that are no protocol, with commas between them */

/* What command_help of each is made of, beside its words (help.c). */
extern const struct argp_option help_options[];
void help_parse(const struct command *command, void *into, int key, char *value);
int help_run(const struct command *command, int argc, char **argv);

/* Becomes the other executable. Result: the exit code, if that cannot be. */
int command_call_elsewhere(char **arguments);

extern const char *const program_name;

/* Finds the command that the first argument names. Result: the exit code. */
int command_main(int argument_count, char **arguments);

/* Hands options and words to `parse`, one by one, `into` beside them. --help is answered here, and
 * ends the program; so does what is wrong, with code 2. */
void command_parse(const struct command *command, void *into, int argc, char **argv);

/* Says in one line what is wrong, "tacit NAME: …", and ends the program with code 2. */
_Noreturn void command_refuse(const struct command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same; the line ends with where the command is explained. */
_Noreturn void command_refuse_usage(const struct command *command, const char *what);

/* Says on stderr what failed, by error->text or else by the status; after "tacit NAME: " if there
 * is a name. Result: the exit code; TACIT_INVALID is wrong input, and of TACIT_OK nothing is said.
 */
int command_report(const char *name, enum tacit_status status, const struct tacit_error *error);

/* Did what was printed arrive, too? Otherwise error->text says why not, by errno or the status. */
enum tacit_status command_printed(enum tacit_status status, struct tacit_error *error);

/* As command_report, of a file that cannot be used: but for TACIT_MEMORY it is wrong input. */
int command_report_file(enum tacit_status status, const struct tacit_error *error);

/* The code of a command that ends with `code`: where it is EXIT_DONE and not all of what was
 * printed has arrived (a full disk, a closed pipe), EXIT_FAILED, and why is said on stderr. */
int command_end(const char *name, int code);

/* A whole number from 1 to max; refuses any other text. */
uint32_t command_number(const struct command *command, const char *option, const char *text,
                        uint32_t max);
#endif
