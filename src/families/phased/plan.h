/* The plan of an experiment with the phased index: what its file says, and what follows. */
#ifndef TACIT_FAMILIES_PHASED_PLAN_H
#define TACIT_FAMILIES_PHASED_PLAN_H
#include "../../config/reader.h"
#include "../ladder.h"
#include "tacit/family.h"
#include "tacit/phased.h"
#include "tacit/sim.h"

#define PHASED_FAMILY 6u

/* The operator's word, at this slot of every site: an arm is added, or retired. */
struct phased_change {
    uint64_t slot; /* that many were played before it */
    uint32_t arm;
    bool is_added; /* else retired */
};

/* What runs need. */
struct phased_sim {
    struct tacit_sim common;
    struct tacit_phases schedule;
    struct tacit_mechanism mechanism;         /* of a site itself */
    struct tacit_sim_aggregators aggregators; /* theirs, where there are two */
    double server_link_cost;
    const struct phased_change *changes; /* by slot */
    uint32_t change_count;
};

struct phased_key_change {
    const char *arm; /* by name or number */
    uint64_t slot;
    bool is_added;
};

/* The keys of its section `protocol`. */
struct phased_keys {
    uint32_t arms_per_round; /* 0: not given */
    double growth;
    double confidence; /* 0: not given */
    const char *guard; /* its arm, by name or number; NULL: none */
    double guard_loss;
    uint32_t arms_max; /* 0: not given */
    struct phased_key_change *changes;
    uint32_t change_count;
};

enum phased_metric {
    PHASED_REGRET,
    PHASED_REGRET_PER_AGENT,
    PHASED_REGRET_EXPLOIT,
    PHASED_ROUNDS,
    PHASED_COST,
    PHASED_LINKS,
    PHASED_MESSAGES,
    PHASED_MESSAGES_PER_RECEIVER,
    PHASED_SCALARS,
    PHASED_BYTES,
    PHASED_SINGLE_ARM_FRACTION,
    PHASED_BEST_ARM_FRACTION,
    PHASED_SAMPLES,
    PHASED_FLOOR,
    PHASED_METRIC_COUNT
};
extern const struct tacit_metric phased_metrics[];

/* ---- keys.c ---- */

extern const struct config_section phased_sections[];
/* Of an experiment's protocol and of a coordinator's run. */
extern const struct config_key phased_guard_keys[];
#define PHASED_INDEX_KEYS                                                                          \
    {"arms_per_round", "(4, or all)",                                                              \
     "arms of a plan after the first: the leader and those that challenge it",                     \
     CONFIG_TO_U32(phased_keys, arms_per_round, 2, TACIT_ARMS_MAX)},                               \
        {"growth", "2", "each release of an arm makes its pulls so many times as many",            \
         CONFIG_TO_REAL(phased_keys, growth, LADDER_GROWTH_RANGE)},                                \
        {"confidence", "(never sure)",                                                             \
         "it decides, and the answer holds with this probability; without it it plays for the "    \
         "least regret and never stops asking",                                                    \
         CONFIG_TO_REAL(phased_keys, confidence, LADDER_CONFIDENCE_RANGE)},                        \
    {                                                                                              \
        "guard", "", "an arm that the play never falls far behind",                                \
            CONFIG_TO_SAME(phased_guard_keys)                                                      \
    }

void phased_read_keys(struct config_reader *reader, const struct config_node *root,
                      struct tacit_config *config);

/* What the keys say of a schedule; `guard`: the number of its arm. */
struct tacit_phases phased_schedule(const struct phased_keys *keys, uint32_t arms, uint32_t guard);

/* Of all arms: their intervals, valid at all times, and those that cannot be told apart from the
 * best one: they reach the best lower bound; once it is decided, the leader alone. */
void phased_look(const struct tacit_phased_judge_view *judge, double confidence, uint32_t arm_count,
                 double *lowers, double *uppers, uint64_t *left);

/* ---- changes.c ---- */

/* The same with arms by their numbers, into changes, by slot; and K and the arms of the first plan,
 * into the schedule. Errors: TACIT_INVALID with error->text. */
enum tacit_status phased_settle_changes(const struct tacit_experiment *experiment,
                                        struct tacit_phases *schedule,
                                        struct phased_change *changes, struct tacit_error *error);

/* An arm by its name in the data, or by its number. Result: K if there is none. */
uint32_t phased_find_arm(const struct tacit_experiment *experiment, const char *name);

/* ---- plan.c ---- */

/* Of the family: a struct phased_sim and its changes, of the file's keys. */
enum tacit_status phased_make_plan(struct tacit_experiment *experiment, struct tacit_error *error);

/* Of the family (tacit/family.h). With a confidence; the index pulls fewer of the arms that are far
 * behind than elimination, for which the formula is. */
double phased_forecast(const struct tacit_experiment *experiment);

/* Prints what a run of this schedule says at most. */
enum tacit_status phased_print_costs(const struct tacit_experiment *experiment, FILE *out);

/* ---- run.c: of the family's player; the plan is a struct phased_sim ---- */

void *phased_run_new(const void *plan, enum tacit_status *status);
enum tacit_status phased_run_play(void *run, uint32_t index, struct tacit_sim_row *row,
                                  atomic_bool *stop);
#endif
