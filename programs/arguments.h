/* What run, check, reproduce, compare and plan are told. */
#ifndef TACIT_PROGRAMS_ARGUMENTS_H
#define TACIT_PROGRAMS_ARGUMENTS_H
#include "commands.h"

#define ARGUMENTS_SETTINGS_MAX 64u
#define ARGUMENTS_IDS_MAX 64u

struct arguments {
    const char *file;                   /* run, check */
    const char *ids[ARGUMENTS_IDS_MAX]; /* reproduce */
    uint32_t id_count;
    const char *experiments; /* reproduce: directory, or NULL */
    bool list;
    bool fast;
    bool cite;
    const char *settings[ARGUMENTS_SETTINGS_MAX];
    char shorthand[2][64]; /* --runs N and --seed S as settings */
    uint32_t setting_count;
    uint32_t thread_count; /* 0: as many as there are processors */
    const char *out;
    const char *format; /* reproduce: of the figures; NULL: svg */
    const char *resume; /* run: a file, reproduce: a folder of kept runs; or NULL */
    bool json;
    bool quiet;
    bool estimates; /* no replay */
};

/* Takes an option that these commands share; false: the key is none of them. */
bool arguments_parse_option(const struct command *command, struct arguments *arguments, int key,
                            const char *value);

/* Can --out be written to? If not, it says so: `name` as command_report has it. Result: the code.
 */
int arguments_try_out(const struct arguments *arguments, const char *name);

/* The `parse` of run and check (one FILE) and of reproduce (IDs). Requires: arguments all zeros. */
void arguments_parse_file(const struct command *command, void *arguments, int key, char *value);
void arguments_parse_ids(const struct command *command, void *arguments, int key, char *value);
#endif
