/* Families: where a protocol meets its hosts. A host (the programs, the simulator's threads, the
 * daemons) knows the families by one constant struct each, which is called once a run or once an
 * event, never once a pull. families/list.c has the list; families/NAME is one of them. Its live
 * half is a struct of its own: src/families/live_family.h.
 * CONTRIBUTING.md, "A new family", says step by step how one moves in. */
#ifndef TACIT_FAMILY_H
#define TACIT_FAMILY_H
#include <stdio.h>
#include "tacit/base.h"
#include "tacit/config.h"
#include "tacit/metric.h"
#include "tacit/privacy.h"
#include "tacit/sim.h"
#include "tacit/topo.h"

struct tacit_log; /* tacit/data.h */

/* ---- Networks -------------------------------------------------------------------------------- */

/* The peers of an experiment, or of a federation; what protocols ask of their graph. */
struct tacit_network {
    struct tacit_graph graph;
    bool has_sinks; /* a hybrid: each component has a sink, and a hub is above the sinks */
    uint32_t component_count;
    struct tacit_component *components;
    uint32_t *label;    /* A: component of each agent */
    uint32_t *parent;   /* A: next on the way to the sink; TACIT_NO_AGENT at a sink */
    uint32_t *distance; /* A: hops to the sink */
    uint32_t diameter;  /* of the widest component */
    uint32_t delay;     /* t_delay: slots in which agents wait in each round (READINGS P1.13, 15) */
    uint32_t diameter_slack; /* by so much either may be larger: 0 where it is known */
    uint32_t delay_slack;
    uint64_t visits_left; /* of searches, about, until they are known; 0: they are */
    void *memory;
};

/* How long to search a graph for its diameter and its sinks: what `tacit check` prints, some ten
 * seconds, and what runs and daemons wait for, some minutes. */
#define TACIT_NETWORK_QUICK ((struct tacit_graph_effort){UINT64_C(500000000), 0})
#define TACIT_NETWORK_FULL ((struct tacit_graph_effort){UINT64_C(500000000), UINT64_C(60000000000)})
/* Of one visit; on graphs of a million agents. */
#define TACIT_NETWORK_VISIT_NS 6u

/* Makes the graphs that the section describes, side by side. The same file and seeds give the same
 * graph, whatever the run.
 * Ensures: on TACIT_OK to be given to tacit_network_free; *network is NULL where nobody has
 * neighbours: star, broadcast.
 * Errors: TACIT_INVALID (edges that cannot be, a graph in pieces), TACIT_IO, TACIT_MEMORY, with
 * error->text for a person. */
enum tacit_status tacit_network_new(struct tacit_network **network,
                                    const struct tacit_config_topology *topology,
                                    struct tacit_graph_effort effort, struct tacit_error *error);
void tacit_network_free(struct tacit_network *network);

/* ---- Experiments ----------------------------------------------------------------------------- */

struct tacit_family;
struct tacit_experiment_data;

/* An experiment: what its file says, with what the file names read and made. */
struct tacit_experiment {
    const struct tacit_family *family;
    struct tacit_config *config;
    struct tacit_sim sim;
    struct tacit_network *network; /* NULL: nobody has neighbours */
    double *global_means; /* K; NULL if each run has its own instance, or there are no arms */
    char note[512];       /* one sentence about the data, or empty */
    char remark[700];     /* what is to be known of the data before any number is read, or empty */
    /* What the family's plan says: */
    void *plan;                           /* what its runs need; its own */
    const struct tacit_profile *profiles; /* the plan's; NULL: those of the family */
    struct tacit_mechanism mechanism;     /* of its releases */
    double epsilon_per_reward;            /* that its noise is for; INFINITY: no noise */
    struct tacit_promise promise;
    char promise_remark[512];              /* room for the promise's */
    char statement[TACIT_STATEMENT_BYTES]; /* the host's: the promise in words */
    char network_note[512]; /* what the network means for it, in sentences, or empty */
    uint32_t server_links;  /* links with a server in a round; 0: there is none */
    uint32_t total_agents;  /* two aggregators: agents whose sums are in a total */
    double pull_count;      /* pulls of all agents in a run, for baselines; 0 before: A T */
    struct tacit_experiment_data *data; /* the host's */
};

/* Reads the file, applies the settings, reads the data it names, checks that all fits, and has the
 * family make its plan.
 * Ensures: on TACIT_OK the experiment is to be given to tacit_experiment_free.
 * Errors: TACIT_INVALID, TACIT_IO, TACIT_MEMORY with error->text for a person. */
enum tacit_status tacit_experiment_load(struct tacit_experiment *experiment, const char *path,
                                        const char *const *settings, uint32_t set_count,
                                        struct tacit_error *error);
void tacit_experiment_free(struct tacit_experiment *experiment);

/* What the experiment is wanted for. */
enum tacit_experiment_use {
    TACIT_EXPERIMENT_RUNS,    /* as above */
    TACIT_EXPERIMENT_CHECK,   /* only looked at: of a network what some seconds of searches say */
    TACIT_EXPERIMENT_AT_ONCE, /* runs whose logged rewards are drawn many at once (tacit_env_log):
                                 the same law, not the same numbers */
    TACIT_EXPERIMENT_ROWS     /* the data alone: there is no network and no plan, and nothing is
                                 refused that only runs would mind */
};
/* `rows`: a loaded one whose logged rows are taken, and not read again; NULL: none.
 * Requires: its file and settings say the same of environment, agents, seed and units; it outlives
 * the new one. */
enum tacit_status tacit_experiment_load_for(struct tacit_experiment *experiment,
                                            enum tacit_experiment_use use,
                                            const struct tacit_experiment *rows, const char *path,
                                            const char *const *settings, uint32_t set_count,
                                            struct tacit_error *error);

/* Writes "file:line: key: text" into *error; returns TACIT_INVALID. */
enum tacit_status tacit_experiment_refuse(const struct tacit_experiment *experiment,
                                          const char *key, const char *text,
                                          struct tacit_error *error);

/* Sets epsilon_per_reward, and the mechanism for it in the mode and range of the file.
 * Errors: TACIT_INVALID with error->text. */
enum tacit_status tacit_experiment_protect(struct tacit_experiment *experiment,
                                           double epsilon_per_reward, struct tacit_error *error);

/* Settles epsilon and mechanism of a family whose sums are integers in every mode: without one that
 * protects they leave a site without noise. Errors: TACIT_INVALID, with error->text: rewards
 * without public bounds, epsilon out of range. */
enum tacit_status tacit_experiment_protect_sums(struct tacit_experiment *experiment,
                                                struct tacit_error *error);

/* From here on the promise says two aggregators, and what their collusion leaves; floor_nano 0:
 * nothing. Errors: TACIT_INVALID, with error->text: fewer than two agents. */
enum tacit_status tacit_experiment_add_helper(struct tacit_experiment *experiment,
                                              uint64_t floor_nano, struct tacit_error *error);

/* The noise of one site alone: experiment->mechanism, or with two aggregators (whose noise that is
 * then) its floor, or none; and the aggregators of a run. With two, the promise's trust says so
 * from here on. Requires: it is settled. Errors: TACIT_INVALID, with error->text. */
enum tacit_status tacit_experiment_site_mechanism(struct tacit_experiment *experiment,
                                                  struct tacit_mechanism *mechanism,
                                                  struct tacit_sim_aggregators *aggregators,
                                                  struct tacit_error *error);

/* What may be told as a loss: epsilon_per_reward, or INFINITY where none is guaranteed. */
double tacit_experiment_loss(const struct tacit_experiment *experiment);

/* The mechanism of a promise where `leaving` leaves with the experiment's own noise: also why no
 * epsilon is guaranteed, if rewards have no bounds and are not clipped. */
struct tacit_promise_mechanism tacit_experiment_noise(const struct tacit_experiment *experiment,
                                                      enum tacit_leaving leaving);

/* The logged rows behind the rewards; NULL: there are none. */
const struct tacit_log *tacit_experiment_log(const struct tacit_experiment *experiment);

/* Name of an arm in the data, or NULL: it has only a number. */
const char *tacit_experiment_arm_name(const struct tacit_experiment *experiment, uint32_t arm);

/* "none", "paper", "sound". Static storage. */
const char *tacit_mode_name(enum tacit_privacy_mode mode);

/* ---- Families -------------------------------------------------------------------------------- */

struct tacit_family {
    uint32_t number;                 /* the range of its stream purposes: TACIT_PURPOSE_OF_FAMILY */
    struct tacit_config_family file; /* its word, and what its file may hold */
    const struct tacit_metric *metrics; /* ends with a NULL name; player.metric_count of them */
    /* Ends with a NULL name; NULL: none. Runs fill row->profiles, one profile after the other; the
     * plan sets sim.profile_values. */
    const struct tacit_profile *profiles;
    /* NULL: none; else there are no profiles, and runs fill row->profiles with TACIT_BAND_VALUES
     * numbers a recorded slot; the plan sets sim.profile_values. */
    const struct tacit_band *band;
    const struct tacit_labels *labels; /* NULL: agents, slots, arms, epsilon per reward */
    bool eliminates;                   /* runs fill row->eliminated */
    bool ranks;                        /* runs fill row->ranking: then there is an answer */
    bool replays; /* every slot of every agent is a pull of the environment, in the agent's
                     order, or is passed (tacit_env_pass): a log can answer its runs */

    /* Makes experiment->plan from what was read, and says what a plan says (above). Refuses
     * whatever a run would refuse. Errors: as tacit_experiment_load. */
    enum tacit_status (*plan)(struct tacit_experiment *experiment, struct tacit_error *error);
    void (*plan_free)(void *plan); /* NULL is allowed */
    /* Prints, for `check`, how much is said and what it costs at most; NULL: nothing to print.
     * Errors: TACIT_MEMORY. */
    enum tacit_status (*print_costs)(const struct tacit_experiment *experiment, FILE *out);

    /* Slots a site until 95 % of the runs end with one arm, by formula: the smallest horizon at
     * which they do. NaN: it has none for this file. NULL: for no file. */
    double (*forecast)(const struct tacit_experiment *experiment);
    const char *forecast_unit; /* of it, if it is not "slots a site" */

    /* Expected regret of all sites at the file's horizon, by formula. NaN: it has none for this
     * file. NULL: for no file. */
    double (*forecast_regret)(const struct tacit_experiment *experiment);

    /* Its runs. The plan that they are given is experiment->plan. */
    struct tacit_sim_player player;
    /* About how many bytes each thread that plays needs; NULL: so few that nobody asks. */
    double (*bytes)(const void *plan);

    /* Baselines that it plays beside experiments of any family: their names, ended by NULL; or
     * NULL. */
    const char *const *baselines;
    /* Makes the plan of one of them for an experiment whose sim (instances, agents, horizon) is
     * given; its file, network and keys are another family's. Errors: TACIT_INVALID where it cannot
     * be played there, with error->text saying why; TACIT_MEMORY. */
    enum tacit_status (*baseline)(struct tacit_experiment *experiment, const char *name,
                                  struct tacit_error *error);
};

/* ---- Baselines ------------------------------------------------------------------------------- */

/* The regret of uniform play in run `run`: each arm alike often, in expectation. Requires: an
 * instance of the experiment's, drawn. */
double tacit_baseline_uniform(const struct tacit_experiment *experiment,
                              const struct tacit_sim_instance *instance);

/* Is there a floor? Rewards are 0 or 1, and all agents alike: else it is another bound. */
bool tacit_baseline_has_floor(const struct tacit_experiment *experiment);

/* What one learner that sees every reward cannot go below for long runs: the sum over arms of
 * gap ln(pulls)/kl(mean, best) (Lai, Robbins 1985). Requires: there is a floor; an instance. */
double tacit_baseline_floor(const struct tacit_experiment *experiment,
                            const struct tacit_sim_instance *instance);

/* Makes the experiment that plays the baseline of that name beside another one: same instances,
 * agents, horizon and points. Requires: the other one outlives it.
 * Ensures: on TACIT_OK to be given to tacit_baseline_free.
 * Errors: TACIT_INVALID (no such baseline, or it cannot be played here), TACIT_MEMORY, with
 * error->text. */
enum tacit_status tacit_baseline_make(struct tacit_experiment *baseline, const char *name,
                                      const struct tacit_experiment *experiment,
                                      struct tacit_error *error);
void tacit_baseline_free(struct tacit_experiment *baseline);

/* ---- The list -------------------------------------------------------------------------------- */

/* All families, ended by NULL. Static storage, as below. */
const struct tacit_family *const *tacit_families(void);

/* Their files, for tacit_config_load. */
const struct tacit_config_family *const *tacit_family_files(void);

/* The family of that word; NULL: there is none. */
const struct tacit_family *tacit_family_find(const char *name);

/* Index of a metric in a family's table, or UINT32_MAX. */
uint32_t tacit_family_metric(const struct tacit_family *family, const char *name);

/* The same among the metrics that are known over time (TACIT_METRIC_CURVE): index of its curve. */
uint32_t tacit_family_curve(const struct tacit_family *family, const char *name);
#endif
