/* Config: reads an experiment file (YAML, DESIGN.md "The experiment file") and says clearly what is
 * wrong with it: "file:line: key: what is wrong; what is allowed". Checks the file by itself;
 * whether the data it names fit is for the caller, who reports through tacit_config_error in the
 * same form. */
#ifndef TACIT_CONFIG_H
#define TACIT_CONFIG_H
#include "tacit/base.h"
#include "tacit/env.h"
#include "tacit/metric.h"
#include "tacit/privacy.h"
#include "tacit/report.h"
#include "tacit/topo.h"

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

enum tacit_config_encoding { TACIT_CONFIG_UTF8, TACIT_CONFIG_CP1252, TACIT_CONFIG_LATIN1 };

/* What an empty cell means: its row is left out (all NULL), refused, or read as these words. */
struct tacit_config_missing {
    bool is_refused;
    const char *agent;
    const char *arm;
    const char *reward;
};

/* How rewards are guessed from contexts. */
enum tacit_config_model { TACIT_CONFIG_RIDGE, TACIT_CONFIG_LOGISTIC };

/* A policy that `tacit evaluate` values on logged rows: one of the three. */
struct tacit_config_policy {
    const char *name;
    const char *chosen;               /* column of the arms that it chooses */
    const char *const *probabilities; /* a column an arm, in the order of the arms */
    uint32_t probability_count;
    bool is_trained; /* the arm that the model guesses best, from the other rows */
    int model;       /* enum tacit_config_model */
};

struct tacit_config_log {
    const char *const *contexts; /* columns */
    uint32_t context_count;
    struct tacit_config_policy *policies;
    uint32_t policy_count;
    int model; /* enum tacit_config_model, of the direct and doubly robust estimates */
    double switch_at;
    bool is_bootstrapped; /* the intervals of policies */
    const char **columns; /* of contexts, then of each policy */
    uint32_t column_count;
    struct tacit_config_missing missing;
    int separator; /* 0: recognised */
    int decimal;   /* 0: recognised */
    enum tacit_config_encoding encoding;
    const char *csv;      /* path relative to the file, or name in a data directory */
    const char *fallback; /* means to use when the csv is absent, or NULL */
    const char *agent_column;
    const char *arm_column; /* or NULL: arms[] */
    struct tacit_config_log_arm *arms;
    uint32_t arm_count;
    const char *reward_column;
    const char
        *reward_value;   /* reward 1 iff the column holds this; NULL: the column is the reward */
    bool reward_differs; /* .. and 0 iff it does, instead */
    enum tacit_config_split split;
    bool is_uniform;               /* every arm was as likely in every row */
    const char *propensity_column; /* or NULL: propensities are not known, or uniform */
    const char *time_column;       /* or NULL: nothing says when rows were logged */
};

enum tacit_config_network {
    TACIT_CONFIG_STAR,     /* agents around a hub */
    TACIT_CONFIG_GRAPH,    /* peers over one graph */
    TACIT_CONFIG_HYBRID,   /* components of peers, and a hub above them */
    TACIT_CONFIG_ALONE,    /* every agent by itself */
    TACIT_CONFIG_BROADCAST /* everybody hears everybody */
};

/* Graphs that are described by the same words; a hybrid's components follow one on the other. */
struct tacit_config_graph {
    struct tacit_graph_spec spec; /* its edges are in the file */
    uint32_t count;
    bool has_graph_seed;
    uint64_t graph_seed;
    const char *file; /* edges: path of the list; NULL for other kinds */
};

/* The section `network`, and what making its graphs needs. */
struct tacit_config_topology {
    enum tacit_config_network kind;
    const char *name; /* its kind in the file */
    uint32_t agent_count;
    uint64_t seed;                     /* of graphs without a seed of their own */
    struct tacit_config_graph *graphs; /* NULL where there are none */
    uint32_t graph_count;
    struct config_document *document; /* to name the line of an error */
};

struct config_reader; /* src/config/reader.h */
struct config_node;   /* src/config/document.h */
struct config_key;    /* src/config/reader.h */
struct tacit_config;
struct tacit_config_coordinator;
struct tacit_config_agent;

/* The keys of a section; a NULL name ends them, a NULL path a list of sections. */
struct config_section {
    const char *path; /* "environment.logged"; "" is the file itself, N a place in a list */
    const struct config_key *keys;
};

/* What all experiments have, and all files of the daemons, helper and claims. */
extern const struct config_section tacit_config_sections[];
extern const struct config_section tacit_config_agent_sections[];
extern const struct config_section tacit_config_coordinator_sections[];
extern const struct config_section tacit_config_helper_sections[];
extern const struct config_section tacit_claims_sections[];

/* What the files of a family holds beside what all have. Lists end with NULL; a NULL list
 * has nothing. */
struct tacit_config_family {
    const char *name;         /* of protocol.kind */
    const char *variants_key; /* its key in `protocol` for which people take protocol.kind, and */
    const char *const *variants; /* the key's words, ended by NULL; NULL: there is none */
    unsigned networks;           /* bits 1 << enum tacit_config_network: those it runs over */
    unsigned environments;       /* bits 1 << enum tacit_env_kind */
    unsigned modes;              /* bits 1 << enum tacit_privacy_mode */
    /* The keys of `protocol`, of sections of its own, and further ones at the top (path ""), in
     * `environment` and in `privacy`; src/config/reader.h. */
    const struct config_section *keys;
    const char *const *own_environments; /* further words of environment.kind: the section is then
                                            the family's to read, all of its keys */
    bool privacy_may_miss;               /* `privacy` may be left out: mode none */
    bool reads_epsilon;                  /* privacy.epsilon is the family's to read */
    bool accepts_trust;                  /* a hub only adds up what leaves: privacy.trust */
    size_t keys_size;                    /* of what `read` fills: config->keys, zeros before it */
    /* Reads the section `protocol`, but for its kind, and the keys above; says what is wrong by
     * config_reader_fail. Everything else is read and well. */
    void (*read)(struct config_reader *reader, const struct config_node *root,
                 struct tacit_config *config);
};

/* What the files of the daemons hold of a family beside what all have. Lists end with NULL; a NULL
 * list has nothing. */
struct tacit_config_live {
    const char *name;   /* of `protocol` */
    unsigned networks;  /* bits 1 << enum tacit_config_network: those it runs over */
    bool lacks_rounds;  /* else a site's file says how many it answers at most: policy.rounds_max */
    bool is_open;       /* it protects nothing: its files have no epsilon and no budget */
    bool accepts_trust; /* its hub only adds up: two aggregators may share that */
    /* Why a site's file has no "missing", and no policy.rewards_per_unit_max; NULL: it may. */
    const char *no_missing;
    const char *no_units;
    /* Further keys in "run" of the coordinator's file, read after everything else into ->keys, as
     * tacit_config_family.read does. */
    const struct config_section *run_keys;
    size_t run_size;
    void (*read_run)(struct config_reader *reader, const struct config_node *run,
                     struct tacit_config_coordinator *coordinator);
    /* Those in "policy" and at the top of a site's, by their tables into ->keys; a family that has
     * more to say of them settles them then. NULL: there are none. */
    const struct config_section *site_keys;
    size_t site_size;
    void (*settle_site)(struct config_reader *reader, struct tacit_config_agent *agent);
};

struct tacit_config {
    struct config_document *document; /* first: owns the strings, knows the lines */
    const char *name;
    uint64_t seed;
    uint32_t run_count;
    uint64_t horizon;
    uint32_t checkpoint_count; /* wanted on a log scale, or length of the list */
    uint64_t *checkpoints;     /* list, or NULL */
    enum tacit_env_kind environment;
    const char *own_environment; /* word of an environment of the family; NULL: it is one of all */
    const char *means;           /* path, or NULL */
    uint32_t generated_arms;     /* 0: not generated */
    bool generated_per_agent;    /* each agent has means of its own */
    bool
        generated_apart; /* nothing is drawn: one arm has the best mean, and all others one below */
    double generated_best; /* apart: its mean */
    double generated_gap;  /* apart: and what the others lack */
    bool has_instance_seed;
    uint64_t instance_seed;
    double sd;
    const char *source; /* gaussian: what the host draws in its place (tacit/host.h), or NULL */
    struct tacit_config_log log;
    uint32_t agent_count;
    struct tacit_config_topology network;
    const struct tacit_config_family *family;
    void *keys;             /* what the family read; NULL: nothing */
    const char **baselines; /* names, as they stand in the file */
    uint32_t baseline_count;
    enum tacit_privacy_mode privacy;
    double epsilon; /* INFINITY: no noise */
    bool has_range;
    double lo;
    double hi;
    const char *unit_column; /* whose a logged reward is; NULL: people are not counted */
    uint32_t unit_rewards;   /* of each of them that may enter, at an agent; 0: any number */
    uint32_t floor_milli;    /* privacy.trust: TACIT_ONE_AGGREGATOR, .. (tacit/bounds.h) */
    double server_link_cost;
    double peer_link_cost;
};

/* Reads and checks the file after applying `set_count` settings "dotted.key=value" over it.
 * `families`: those that there are, a list that ends with NULL.
 * Ensures: on TACIT_OK the result is to be given to tacit_config_free.
 * Errors: TACIT_IO, TACIT_INVALID, TACIT_MEMORY, with error->text in the form above. */
enum tacit_status tacit_config_load(struct tacit_config **config, const char *path,
                                    const char *const *settings, uint32_t set_count,
                                    const struct tacit_config_family *const *families,
                                    struct tacit_error *error);
void tacit_config_free(struct tacit_config *config);

/* Every key that was read, in the order of the file, with its value on one line. Ensures: a list
 * that lives as long as the config. Errors: TACIT_MEMORY. Cost: O(size of the file). */
enum tacit_status tacit_config_settings(const struct tacit_config *config,
                                        const struct tacit_report_setting **settings,
                                        uint32_t *count);

/* A member of the file's map on one line, as it may be written there; to be given to free(). NULL:
 * it is not there, or no memory. */
char *tacit_config_value(const struct tacit_config *config, const char *key);

/* Writes "file:line: key: text" for a dotted key, in which a number is a place in a list, from 0;
 * the line of the nearest enclosing key that is there. */
void tacit_config_error(const struct config_document *document, const char *key, const char *text,
                        struct tacit_error *error);

/* Path of a file that a document names: relative names start at the document's folder.
 * Ensures: a path to be given to free(), or NULL when out of memory. */
char *tacit_config_path(const struct config_document *document, const char *name);

#define TACIT_PROGRAM_PATH_BYTES 4096u

/* Path of a file relative to the folder of this very program. Errors: false: it is not known, or
 * too long. */
bool tacit_config_beside_program(const char *relative, char path[TACIT_PROGRAM_PATH_BYTES]);

/* ---- Files of the daemons -------------------------------------------------------------------- */

struct tacit_config_broker {
    const char *host;
    uint16_t port;
    const char *ca_file;
    const char *certificate_file;
    const char *key_file;
    const char *signing_certificate_file; /* by default beside the two above: NAME.sign.crt, */
    const char *signing_key_file;         /* .. NAME.sign.key */
    const char *signing_password_file;    /* of the key above; NULL: it is not encrypted */
};

/* Two aggregators: policy.trust of a site, run.trust of a coordinator. */
struct tacit_config_trust {
    bool has_helper;
    uint32_t floor_milli; /* epsilon of the sites' own noise, in thousandths; 0: none */
    const char *helper;   /* fingerprint of its key, 64 hexadecimal digits */
};

/* A Unix socket, or a port on loopback. */
struct tacit_config_listener {
    const char *unix_path;
    uint16_t port;
};

/* An address of this machine on which others may look, and nothing else. */
struct tacit_config_observe {
    const char *address; /* in numbers; NULL: nobody may */
    uint16_t port;
    const char *certificate_file; /* NULL: without TLS; then the address is a private one */
    const char *key_file;
    const char *ca_file;  /* of who looks, .. */
    const char **clients; /* .. by these names */
    uint32_t client_count;
};

/* Whose file it is; ANY: as its keys say. */
enum tacit_config_role {
    TACIT_CONFIG_AGENT,
    TACIT_CONFIG_COORDINATOR,
    TACIT_CONFIG_HELPER,
    TACIT_CONFIG_ANY
};

/* What the files of agents, coordinators and helpers have alike: the first member of each. Paths
 * are relative to the file. */
struct tacit_config_daemon {
    struct config_document *document; /* first: owns the strings, knows the lines */
    enum tacit_config_role role;
    const char *federation;
    const char *name; /* in its certificate: the site, "coordinator" or "helper" */
    const char *state_directory;
    struct tacit_config_broker broker;
    struct tacit_config_listener listener; /* of an agent: api; of the others: status */
    struct tacit_config_observe observe;   /* of a helper: nobody */
    uint32_t disk_low_mib;                 /* less room where the state is asks for attention */
    uint32_t waiting_after_s; /* what does not move for so long is said in the status */
    bool group_readable;      /* keys and state may be open to a group of the process */
    bool log_is_json;
    const char *log_file; /* NULL: stderr */
};

/* What a site runs and allows. */
struct tacit_config_agent {
    struct tacit_config_daemon daemon;
    const char **arm_names;
    uint32_t arm_count;
    double epsilon;
    double budget;
    double lo;
    double hi;
    uint32_t agents_max;
    uint32_t rounds_max;
    uint64_t pulls_max;
    struct tacit_config_trust trust;
    uint32_t wait_s;          /* for a reward, at first */
    uint32_t deadline_s;      /* and at most */
    uint32_t missing_after_s; /* 0: a missing reward counts as nothing; else after so long as */
    double missing_counts_as; /* this */
    uint32_t remember_s;
    uint32_t open_max;
    uint32_t units_max;
    uint32_t caller_open_max;               /* of open_max, for one caller of the API */
    uint32_t caller_calls_per_s;            /* requests, and elements of batches */
    bool joins_runs;                        /* runs: join; else it asks */
    uint32_t rewards_per_unit_max;          /* 0: no limit */
    const struct tacit_config_live *family; /* `protocol`; by default the first of the list */
    void *keys;                             /* what the family read; NULL: nothing */
};

/* What a coordinator runs. */
struct tacit_config_coordinator {
    struct tacit_config_daemon daemon;
    const char **sites; /* by agent index */
    uint32_t site_count;
    const char **arm_names;
    uint32_t arm_count;
    uint64_t run_id;
    uint64_t horizon;
    double epsilon;
    double lo; /* public range of a reward */
    double hi;
    uint32_t quorum; /* 0: not given */
    uint32_t deadline_s;
    struct tacit_config_trust trust;
    struct tacit_config_topology network;   /* of the sites in their order */
    const struct tacit_config_live *family; /* as of an agent */
    void *keys;
};

/* What a helper runs. */
struct tacit_config_helper {
    struct tacit_config_daemon daemon;
    const char *hub; /* fingerprint of the coordinator's key */
    double epsilon;  /* the largest that it serves; .. */
    double delta;    /* .. with this delta at most; 0: with none */
    uint32_t sites_min;
};

/* The file of that role, as which *daemon is the first member of one of the structs above; a file
 * that cannot be read is an agent's. `families`: those that are live, a list that ends with NULL.
 * Errors: as tacit_config_load. There is no paper mode here, and no seed. */
enum tacit_status tacit_config_daemon_load(struct tacit_config_daemon **daemon,
                                           enum tacit_config_role role,
                                           const struct tacit_config_live *const *families,
                                           const char *path, struct tacit_error *error);
/* Gives the memory back; NULL is allowed. */
void tacit_config_daemon_free(struct tacit_config_daemon *daemon);

/* ---- What a paper claims --------------------------------------------------------------------- */

/* One step of a measure in postfix order; each replaces its operands on a stack by its value. */
enum tacit_measure_kind {
    TACIT_MEASURE_NUMBER,
    TACIT_MEASURE_RESULT, /* of an experiment: CURVE.METRIC, or CURVE.METRIC@SLOT */
    TACIT_MEASURE_ADD,
    TACIT_MEASURE_SUBTRACT,
    TACIT_MEASURE_MULTIPLY,
    TACIT_MEASURE_DIVIDE,
    TACIT_MEASURE_NEGATE,
    TACIT_MEASURE_MIN,
    TACIT_MEASURE_MAX,
    TACIT_MEASURE_FALLS, /* the least ratio of an operand to the next: above 1 if each is smaller
                            than the one before */
    TACIT_MEASURE_RISES, /* the least ratio of an operand to the one before */
    TACIT_MEASURE_ROOT,
    TACIT_MEASURE_LOG,         /* natural */
    TACIT_MEASURE_WITHIN,      /* (x, low, high): 1 if low <= x <= high, else 0; NaN of NaN */
    TACIT_MEASURE_LAPLACE_TAIL /* (n, x): the chance that n Laplace variables of scale 1 add up to
                                * more than x; x >= 0 */
};

struct tacit_measure_step {
    enum tacit_measure_kind kind;
    uint32_t operand_count;
    double number;
    uint32_t experiment; /* index into the claims' experiments */
    const char *metric;
    uint64_t slot; /* 0: at the end */
};

struct tacit_measure {
    const char *text; /* as in the file */
    struct tacit_measure_step *steps;
    uint32_t step_count;
};

/* The value of a measure where `result` says what the experiments gave. NaN and infinity go
 * through. Cost: O(steps) and the calls. */
double tacit_measure_value(const struct tacit_measure *measure,
                           double (*result)(void *context, const struct tacit_measure_step *step),
                           void *context);

/* One claim, and what this project found when it was recorded. */
struct tacit_claim {
    struct tacit_report_claim reported; /* but for its value */
    struct tacit_measure measure;
    bool is_each_run; /* worked out in each run by itself, then averaged; else of the means */
    uint32_t line;
    struct tacit_claim *fast; /* stands in its place in the fast version; NULL: it is the same */
};

/* Settings of the fast version for the experiments whose names begin with `prefix`. */
struct tacit_claims_settings {
    const char *prefix;
    const char **items; /* "KEY=VALUE" */
    uint32_t count;
    uint32_t line;
};

/* One curve (or point) of a figure. */
struct tacit_claims_curve {
    uint32_t experiment; /* index */
    const char *label;
    const char *series; /* points of a series are joined; NULL: none */
    const char *y;      /* of a point, where it is another than the plot's; NULL: it is not */
};

struct tacit_claims_figure {
    const char *id;
    const char *title;
    const char *paper_shows;
    const char *we_show; /* or NULL */
    const char *x; /* "t": regret, a family's band or series over slots; a series: over its values;
                      else a metric: one point a curve */
    const char *y;
    const char *y_label; /* NULL: y */
    bool has_minus;
    uint32_t minus; /* experiment whose regret is taken off the curves, run by run */
    bool x_is_log;
    bool y_is_log;
    bool band_is_range; /* curves: from the least run to the greatest, not a 95 % interval */
    uint32_t hours; /* of processor time; 0: less. Run in full only when asked for by its own ID */
    uint32_t plot_line;
    struct tacit_claims_curve *curves;
    uint32_t curve_count;
    struct tacit_claim *claims;
    uint32_t claim_count;
};

/* The claims file of a paper. An experiment is named by its file without ".yaml". */
struct tacit_claims {
    struct config_document *document; /* first: owns the strings, knows the lines */
    const char *paper;
    const char *title;
    const char *cite; /* a BibTeX entry; NULL: nobody else's paper */
    uint32_t fast_runs;
    struct tacit_claims_settings *fast;
    uint32_t fast_count;
    const char *fast_note;    /* what they change, in words; NULL: there are none */
    bool is_long;             /* hours: run only when it is asked for by its name */
    const char **experiments; /* names, no two alike */
    uint32_t experiment_count;
    struct tacit_claims_figure *figures;
    uint32_t figure_count;
};

/* Errors: as tacit_config_load. Whether a metric exists is for the caller, who knows the
 * simulator. */
enum tacit_status tacit_claims_load(struct tacit_claims **claims, const char *path,
                                    struct tacit_error *error);
/* Gives the memory back; NULL is allowed. */
void tacit_claims_free(struct tacit_claims *claims);

/* Writes the settings of the fast version for an experiment, in the order of the file, so that
 * later ones overrule. settings: room for them; NULL: only count. Returns how many there are. */
uint32_t tacit_claims_fast_settings(const struct tacit_claims *claims, uint32_t experiment,
                                    const char **settings);

/* Puts the fast forms of claims in their places. */
void tacit_claims_speed_up(struct tacit_claims *claims);

/* Path of an experiment's file. Ensures: to be given to free(), or NULL when out of memory. */
char *tacit_claims_path(const struct tacit_claims *claims, uint32_t experiment);

/* Writes "file:line: key: " and a text, as printf. Result: TACIT_INVALID. */
enum tacit_status tacit_claims_refuse(const struct tacit_claims *claims, uint32_t line,
                                      const char *key, struct tacit_error *error,
                                      const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* The word of a NULL-terminated list that was probably meant, or NULL. Cost: O(words). */
const char *tacit_config_nearest(const char *word, const char *const *words);
#endif
