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

/* ---- Files of the daemons -------------------------------------------------------------------- */

struct tacit_config_broker {
    const char *host;
    uint16_t port;
    const char *ca_file;
    const char *certificate_file;
    const char *key_file;
};

/* A Unix socket, or a port on loopback. */
struct tacit_config_listener {
    const char *unix_path;
    uint16_t port;
};

/* What a site runs and allows. Paths are relative to the file. */
struct tacit_config_agent {
    const char *federation;
    const char *site;
    const char *state_directory;
    struct tacit_config_broker broker;
    const char **arm_names;
    uint32_t arm_count;
    double epsilon;
    double budget;
    double lo;
    double hi;
    uint32_t agents_max;
    uint32_t rounds_max;
    uint64_t pulls_max;
    struct tacit_config_listener api;
    uint32_t deadline_s;
    uint32_t remember_s;
    uint32_t open_max;
    bool log_is_json;
    struct config_document *document; /* owns the strings */
};

/* Errors: as tacit_config_load. There is no paper mode here, and no seed. */
enum tacit_status tacit_config_agent_load(struct tacit_config_agent **agent, const char *path,
                                          struct tacit_error *error);
/* Gives the memory back; NULL is allowed. */
void tacit_config_agent_free(struct tacit_config_agent *agent);

/* What a coordinator runs. */
struct tacit_config_coordinator {
    const char *federation;
    const char *state_directory;
    struct tacit_config_broker broker;
    const char **sites; /* by agent index */
    uint32_t site_count;
    const char **arm_names;
    uint32_t arm_count;
    uint64_t run_id;
    uint64_t horizon;
    double epsilon;
    double participation;
    uint32_t round_limit; /* 0: none */
    double gap;
    uint32_t quorum;
    uint32_t deadline_s;
    struct tacit_config_listener status;
    bool log_is_json;
    struct config_document *document;
};

/* Errors: as tacit_config_load. */
enum tacit_status tacit_config_coordinator_load(struct tacit_config_coordinator **coordinator,
                                                const char *path, struct tacit_error *error);
/* Gives the memory back; NULL is allowed. */
void tacit_config_coordinator_free(struct tacit_config_coordinator *coordinator);

/* Does the file look like a coordinator's (it has a run or a list of sites), not like an agent's?
 * False also if it cannot be read: loading it then says why. */
bool tacit_config_is_coordinator(const char *path);
#endif
