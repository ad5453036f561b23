/* The plan of an experiment with a federated generalised linear bandit: what its file says, and
 * what follows. */
#ifndef TACIT_FAMILIES_GLM_PLAN_H
#define TACIT_FAMILIES_GLM_PLAN_H
#include "../../config/reader.h"
#include "tacit/data.h"
#include "tacit/family.h"
#include "tacit/glm_private.h"

#define GLM_FAMILY_NUMBER 4u

/* What its streams are for; the order is a contract. */
enum glm_purpose {
    GLM_PURPOSE_THETA,
    GLM_PURPOSE_CONTEXTS,
    GLM_PURPOSE_REWARDS,
    GLM_PURPOSE_EXPLORATION,
    GLM_PURPOSE_POOL,
    GLM_PURPOSE_NOISE, /* of the sound mode */
    GLM_PURPOSE_ORDER  /* of a log that has none */
};

enum glm_metric {
    GLM_REGRET,
    GLM_REGRET_PER_AGENT,
    GLM_REWARD,
    GLM_UPDATES,
    GLM_AGGREGATIONS,
    GLM_LINKS,
    GLM_MESSAGES,
    GLM_SCALARS,
    GLM_BYTES,
    GLM_CONTROL_MESSAGES,
    GLM_ROUNDS,
    GLM_ROUNDS_BOUND,
    GLM_OVER_UNIFORM,
    GLM_METRIC_COUNT
};

extern const struct tacit_metric glm_metrics[];

/* Writes those metrics that are known over time at the points first .. end - 1. */
void glm_record(const struct tacit_sim *sim, uint32_t first, uint32_t end, const double *metrics,
                double *curves);

/* Where contexts come from. */
enum glm_source { GLM_SOURCE_SPHERE, GLM_SOURCE_POOL, GLM_SOURCE_RATINGS, GLM_SOURCE_OFFERS };

/* The keys of its sections `protocol` and `environment.contextual`. */
struct glm_keys {
    struct tacit_glm_model
        model; /* as far as the file says it; threshold, noise_bound 0: it does not */
    enum glm_source source;
    const struct tacit_context_spec *log; /* ratings, offers */
    uint32_t arm_count;
    uint32_t pool_count;
    uint64_t updates;     /* B of a schedule; 0: not given */
    bool every_pull;      /* one-ucb: an update at every interaction, not once a round */
    uint64_t batches;     /* P of the sound mode; 0: not given */
    double privacy_delta; /* of (epsilon, delta) */
};

struct glm_plan {
    struct tacit_sim sim;
    struct tacit_glm_model model;
    bool is_private;
    struct tacit_glm_private_rule rule;            /* if so */
    struct tacit_glm_private_rule aggregator_rule; /* of clients without data, .. */
    uint32_t aggregators;                          /* .. 2 or 0, whose noise totals have */
    enum tacit_context_source source;
    uint32_t arm_count;
    uint32_t pool_count; /* 0 on the sphere */
    enum tacit_linalg_path path;
    struct tacit_context_data *data;     /* NULL: contexts are drawn */
    const struct tacit_context_log *log; /* in it */
    struct tacit_profile profiles[4];    /* the model at the end */
    const char *rows[TACIT_LINALG_DIMENSION_MAX + 1];
    char names[TACIT_LINALG_DIMENSION_MAX][12]; /* of coordinates that have none */
};

/* ---- keys.c ---- */

extern const struct config_section glm_sections[];
extern const struct config_choice glm_links[];
extern const struct config_choice glm_explorations[];

/* Of the daemons' files. */
#define GLM_FEATURES_KEY(of, number)                                                               \
    {                                                                                              \
        "features", NULL, "coordinates of a context, in order",                                    \
            CONFIG_TO_NAMES(of, features, number, 1, TACIT_LINALG_DIMENSION_MAX),                  \
            .fits = tacit_wire_is_arm_name, .form = "1 to 64 bytes without control characters"     \
    }
#define GLM_NO_MISSING "this protocol learns from rewards that came; allowed: without this section"

void glm_read_keys(struct config_reader *reader, const struct config_node *root,
                   struct tacit_config *config);

/* The model of a run, of what its file says of it. */
struct tacit_glm_model glm_model_of(const struct tacit_glm_model *given, uint32_t client_count,
                                    uint64_t horizon);

/* ---- log_keys.c, log.c ---- */

/* `source`, and the keys that belong to it. Requires: dimension and arms are read. */
void glm_read_source(struct config_reader *reader, const struct config_node *contextual,
                     struct glm_keys *keys);

/* Reads the log into the plan, and checks that it can be played. Errors: as tacit_experiment_load.
 */
enum tacit_status glm_read_log(struct tacit_experiment *experiment, struct tacit_error *error);

/* ---- log_keys.c ---- */

extern const struct config_choice glm_sources[];
extern const struct config_choice glm_encodings[];
extern const struct config_choice glm_switches[];
extern const struct config_key glm_rating_keys[];
extern const struct config_key glm_word_keys[];
extern const struct config_key glm_name_keys[];
extern const struct config_key glm_item_keys[];
extern const struct config_key glm_offer_keys[];

/* ---- plan.c ---- */

enum tacit_status glm_make_plan(struct tacit_experiment *experiment, struct tacit_error *error);
void glm_free_plan(void *plan); /* NULL is allowed */

/* ---- private_run.c ---- */

/* Two aggregators: of a batch's envelopes, request and answer. */
double glm_helper_bytes(const struct glm_plan *plan);

/* ---- bounds.c ---- */

enum tacit_status glm_print_costs(const struct tacit_experiment *experiment, FILE *out);

/* ---- world.c: where decisions and rewards come from ---- */

struct glm_world {
    struct glm_plan const *plan;
    struct tacit_context_env env;
    double *contexts; /* K d: of the client that decides */
    uint32_t offered; /* how many */
    double *pool;     /* or NULL */
    uint32_t *items;  /* K: of a log, those that are offered */
    uint32_t *order;  /* of its rows; NULL: their own */
    uint64_t row;     /* of the decision */
    double uniform;   /* of a log: what uniform play expects up to now */
    struct tacit_rng *context_rng;
    struct tacit_rng *reward_rng;
    struct tacit_rng *exploration_rng;
};

/* Of the owner's memory (tacit_sim_new), which may turn out to be short. */
struct glm_world *glm_world_new(const struct glm_plan *plan, void *owner);

/* For run `index`: theta* is uniform on the sphere of radius S, anew in each run; so is a pool. */
void glm_world_set_up(struct glm_world *world, uint32_t index);

struct tacit_rng glm_world_stream(const struct glm_plan *plan, uint32_t index, uint32_t agent,
                                  enum glm_purpose purpose);

/* Who plays at place `index` of a slot, which is decision `position` of all, from 0: the client of
 * that index, or the one whose row of the log it is; TACIT_NO_AGENT: the log is over. Its offer is
 * next. */
uint32_t glm_world_client(struct glm_world *world, uint32_t index, uint64_t position);

/* The client's next contexts; they stand until the next offer. Of a rule's, NULL: of all arms,
 * those that it does not take may be left out. */
struct tacit_offer glm_world_offer(struct glm_world *world, uint32_t client,
                                   const struct tacit_linalg_rule *rule);

/* What that arm brings; adds its regret. */
struct tacit_glm_reward glm_world_reward(struct glm_world *world, uint32_t client, uint32_t arm,
                                         uint64_t slot, double *regret);

/* ---- run.c ---- */

void *glm_run_new(const void *plan, enum tacit_status *status);
enum tacit_status glm_run_play(void *run, uint32_t index, struct tacit_sim_row *row,
                               atomic_bool *stop);
#endif
