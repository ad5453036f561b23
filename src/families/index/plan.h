/* The plan of an experiment with learners that are not private: what its file says, and what
 * follows. It is also the plan of the baselines that go by the same names. */
#ifndef TACIT_FAMILIES_INDEX_PLAN_H
#define TACIT_FAMILIES_INDEX_PLAN_H
#include "tacit/arms.h"
#include "tacit/family.h"

#define INDEX_FAMILY 1u

/* Streams of a learner: of agent i alone, or, pooled, nobody's in particular. */
#define INDEX_PURPOSE_REWARD TACIT_PURPOSE_OF_FAMILY(INDEX_FAMILY, 0)
#define INDEX_PURPOSE_CHOICE TACIT_PURPOSE_OF_FAMILY(INDEX_FAMILY, 1) /* thompson, uniform */
#define INDEX_PURPOSE_COIN TACIT_PURPOSE_OF_FAMILY(INDEX_FAMILY, 2)   /* thompson: reward to coin */

enum index_sharing {
    INDEX_SHARING_NONE,  /* every agent has a learner of its own */
    INDEX_SHARING_POOLED /* one learner sees every reward; agents take turns within a slot */
};

/* The keys of its section `protocol`. */
struct index_keys {
    enum tacit_arms_kind kind;
    enum index_sharing sharing;
};

struct index_plan {
    struct tacit_sim sim;
    struct tacit_arms_config arms; /* horizon: pulls of one learner */
    enum index_sharing sharing;
    uint32_t turns; /* pulls of a learner in a slot: 1, or pooled one of each agent */
};

enum index_metric {
    INDEX_REGRET,
    INDEX_REGRET_PER_AGENT,
    INDEX_SAMPLES,
    INDEX_MESSAGES,
    INDEX_SCALARS,
    INDEX_BEST_ARM_FRACTION,
    INDEX_ANSWER_SHARE,
    INDEX_METRIC_COUNT
};
extern const struct tacit_metric index_metrics[];

/* ---- keys.c ---- */

extern const struct config_section index_sections[];
void index_read_keys(struct config_reader *reader, const struct config_node *root,
                     struct tacit_config *config);

/* ---- plan.c ---- */

enum tacit_status index_make_plan(struct tacit_experiment *experiment, struct tacit_error *error);
enum tacit_status index_print_costs(const struct tacit_experiment *experiment, FILE *out);

/* "pooled-" or "alone-", and the word of an index. */
extern const char *const index_baselines[];

/* The words of protocol.index. */
extern const char *const index_variants[];
enum tacit_status index_make_baseline(struct tacit_experiment *experiment, const char *name,
                                      struct tacit_error *error);

/* ---- run.c ---- */

void *index_run_new(const void *plan, enum tacit_status *status);
enum tacit_status index_run_play(void *run, uint32_t index, struct tacit_sim_row *row,
                                 atomic_bool *stop);
#endif
