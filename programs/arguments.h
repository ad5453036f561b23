/* What run and check have in common: FILE and --set. */
#ifndef TACIT_PROGRAMS_ARGUMENTS_H
#define TACIT_PROGRAMS_ARGUMENTS_H
#include <stdbool.h>
#include <stdint.h>

#define ARGUMENTS_SETTINGS_MAX 64u

struct arguments {
    char *name; /* "tacit run" or "tacit check" */
    const char *file;
    const char *settings[ARGUMENTS_SETTINGS_MAX];
    char shorthand[2][64]; /* --runs N and --seed S as settings */
    uint32_t setting_count;
    uint32_t thread_count; /* 0: as many as there are processors */
    const char *out;
    bool json;
    bool quiet;
};

/* Parses the arguments of a subcommand; says in one line what is wrong and ends the program with
 * code 2.
 * is_run: the options of run as well as those of check. */
void arguments_parse(struct arguments *arguments, bool is_run, int argument_count, char **words);
#endif
