/* What run, check and reproduce are told. */
#ifndef TACIT_PROGRAMS_ARGUMENTS_H
#define TACIT_PROGRAMS_ARGUMENTS_H
#include <stdbool.h>
#include <stdint.h>

#define ARGUMENTS_SETTINGS_MAX 64u
#define ARGUMENTS_IDS_MAX 64u

enum arguments_command { ARGUMENTS_RUN, ARGUMENTS_CHECK, ARGUMENTS_REPRODUCE };

struct arguments {
    enum arguments_command command;
    char *name;                         /* "tacit run" */
    const char *file;                   /* run, check */
    const char *ids[ARGUMENTS_IDS_MAX]; /* reproduce */
    uint32_t id_count;
    const char *experiments; /* reproduce: directory, or NULL */
    bool list;
    bool fast;
    const char *settings[ARGUMENTS_SETTINGS_MAX];
    char shorthand[2][64]; /* --runs N and --seed S as settings */
    uint32_t setting_count;
    uint32_t thread_count; /* 0: as many as there are processors */
    const char *out;
    bool json;
    bool quiet;
};

/* Parses the arguments of a subcommand; says in one line what is wrong and ends the program with
 * code 2. */
void arguments_parse(struct arguments *arguments, enum arguments_command command,
                     int argument_count, char **words);
#endif
