/* Config: reads an experiment file (YAML, DESIGN.md "The experiment file") and says clearly what is
 * wrong with it: "file:line: key: what is wrong; what is allowed". Checks the file by itself;
 * whether the data it names fit is for the caller, who reports through tacit_config_error in the
 * same form. */
#ifndef TACIT_CONFIG_H
#define TACIT_CONFIG_H
#include "tacit/base.h"
#include "tacit/env.h"
#include "tacit/privacy.h"

/* Which rows of a log are pulls of an arm. */
struct tacit_config_log_arm {
    const char *name;
    bool all; /* every column must hold the value; else at least one */
    const char **columns;
    uint32_t column_count;
    const char *value;
};

enum tacit_config_split {
    TACIT_CONFIG_SPLIT_NONE,
    TACIT_CONFIG_SPLIT_SEQUENTIAL,
    TACIT_CONFIG_SPLIT_RANDOM
};

struct tacit_config_log {
    const char *csv;      /* path relative to the file, or name in a data directory */
    const char *fallback; /* means to use when the csv is absent, or NULL */
    const char *agent_column;
    const char *arm_column; /* or NULL: arms[] */
    struct tacit_config_log_arm *arms;
    uint32_t arm_count;
    const char *reward_column;
    const char
        *reward_value; /* reward 1 iff the column holds this; NULL: the column is the reward */
    enum tacit_config_split split;
};

struct tacit_config {
    const char *name;
    uint64_t seed;
    uint32_t run_count;
    uint64_t horizon;
    uint32_t checkpoint_count; /* wanted on a log scale, or length of the list */
    uint64_t *checkpoints;     /* list, or NULL */
    enum tacit_env_kind environment;
    const char *means;       /* path, or NULL */
    uint32_t generated_arms; /* 0: not generated */
    bool has_instance_seed;
    uint64_t instance_seed;
    double sd;
    struct tacit_config_log log;
    uint32_t agent_count;
    uint32_t round_limit; /* 0: none */
    double participation;
    double gap; /* 0: not given */
    enum tacit_privacy_mode privacy;
    double epsilon; /* INFINITY: no noise */
    bool has_range;
    double lo;
    double hi;
    double server_link_cost;
    double peer_link_cost;
    struct config_document *document; /* owns the strings; knows the lines */
};

/* Reads and checks the file, then applies `set_count` settings "dotted.key=value" over it.
 * Ensures: on TACIT_OK the result is to be given to tacit_config_free.
 * Errors: TACIT_IO, TACIT_INVALID, TACIT_MEMORY, with error->text in the form above. */
enum tacit_status tacit_config_load(struct tacit_config **config, const char *path,
                                    const char *const *settings, uint32_t set_count,
                                    struct tacit_error *error);
void tacit_config_free(struct tacit_config *config);

/* Writes "file:line: key: text" for a dotted key; the line of the nearest enclosing key that is
 * there. */
void tacit_config_error(const struct tacit_config *config, const char *key, const char *text,
                        struct tacit_error *error);

/* Path of a file that the experiment names: relative names start at the experiment file's folder.
 * Ensures: a path to be given to free(), or NULL when out of memory. */
char *tacit_config_path(const struct tacit_config *config, const char *name);
#endif
