/* The plan of an experiment with a federated generalised linear bandit: what its file says, and
 * what follows. */
#ifndef TACIT_FAMILIES_GLM_PLAN_H
#define TACIT_FAMILIES_GLM_PLAN_H
#include "tacit/family.h"
#include "tacit/glm.h"

#define GLM_FAMILY_NUMBER 4u

/* What its streams are for; the order is a contract. */
enum glm_purpose {
    GLM_PURPOSE_THETA,
    GLM_PURPOSE_CONTEXTS,
    GLM_PURPOSE_REWARDS,
    GLM_PURPOSE_EXPLORATION,
    GLM_PURPOSE_POOL
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
    GLM_METRIC_COUNT
};

extern const struct tacit_metric glm_metrics[];

/* The keys of its sections `protocol` and `environment.contextual`. */
struct glm_keys {
    enum tacit_glm_variant variant;
    enum tacit_glm_exploration exploration;
    enum tacit_linalg_link link;
    enum tacit_context_source source;
    uint32_t dimension;
    uint32_t arm_count;
    uint32_t pool_count;
    uint64_t updates; /* B of a schedule; 0: not given */
    bool every_pull;  /* one-ucb: an update at every interaction, not once a round */
    double threshold; /* D; 0: not given */
    double lambda;
    double delta;
    double norm_bound;
    double noise_bound; /* 0: that of the link */
    double alpha;
    double suboptimality;
    double explore;
};

struct glm_plan {
    struct tacit_sim sim;
    struct tacit_glm_model model;
    enum tacit_context_source source;
    uint32_t arm_count;
    uint32_t pool_count; /* 0 on the sphere */
    enum tacit_linalg_path path;
};

/* ---- keys.c ---- */

void glm_read_keys(struct config_reader *reader, const struct config_node *root,
                   struct tacit_config *config);

/* ---- plan.c ---- */

enum tacit_status glm_make_plan(struct tacit_experiment *experiment, struct tacit_error *error);

/* ---- bounds.c ---- */

enum tacit_status glm_print_bounds(const struct tacit_experiment *experiment, FILE *out);

/* ---- run.c ---- */

void *glm_run_new(const void *plan, enum tacit_status *status);
enum tacit_status glm_run_play(void *run, uint32_t index, struct tacit_sim_row *row,
                               atomic_bool *stop);
void glm_run_free(void *run);
#endif
