/* User selection as its hosts know it: keys, plan, runs. */
#ifndef FAMILIES_SELECT_H
#define FAMILIES_SELECT_H
#include "streams.h"
#include "tacit/config.h"
#include "tacit/family.h"
#include "tacit/latency.h"
#include "tacit/select.h"
#include "training.h"

enum select_metric {
    SELECT_REGRET_SHARED,
    SELECT_REGRET_GENIE,
    SELECT_REWARD,
    SELECT_LATENCY,
    SELECT_LEAKAGE_MAX,
    SELECT_ROUNDS,
    SELECT_MIXED_ROUNDS,
    SELECT_ENERGY_GAP,
    SELECT_EXHAUSTED,
    SELECT_PARTICIPATIONS,
    SELECT_MESSAGES,
    SELECT_ACCURACY,
    SELECT_LOSS,
    SELECT_BYTES,
    SELECT_BYTES_TO_ALL,
    SELECT_BITS_PER_COORDINATE,
    SELECT_ACCURACY_MEAN,
    SELECT_TIME_TO_TARGET,
    SELECT_OPTIMAL_SHARE,
    SELECT_ITERATIONS,
    SELECT_NEIGHBOURS,
    SELECT_METRIC_COUNT
};
extern const struct tacit_metric select_metrics[];

/* What is recorded over the rounds. */
enum select_series {
    SELECT_TIME_BY_ROUND,
    SELECT_LEAKAGE_BY_ROUND,
    SELECT_REGRET_GENIE_BY_ROUND,
    SELECT_SHARE_BY_ROUND, /* this and the next: of the first user */
    SELECT_GENERALIZATION_BY_ROUND,
    SELECT_ACCURACY_BY_ROUND, /* these three: NaN without training */
    SELECT_ACCURACY_MEAN_BY_ROUND,
    SELECT_LOSS_BY_ROUND,
    SELECT_SERIES_COUNT
};
extern const struct tacit_profile select_series[];
#define SELECT_USERS_SHOWN_MAX 1000u /* up to so many users are counted one by one */
#define SELECT_SMOOTH 10u            /* rounds of a moving mean (READINGS P5.11) */

/* What the file says. */
struct select_keys {
    struct tacit_select_choice choice; /* selector and annealing */
    struct tacit_select_config config; /* of its budget all but is_exact and total */
    uint32_t quorum;
    enum tacit_latency_kind latency;
    const char *trace; /* file */
    double median;     /* LOG_NORMAL */
    double median_spread;
    double spread;
    double dirichlet; /* of the data sets' sizes; 0: balanced */
    uint64_t row_count;
    struct training_keys training;
};

extern const struct config_section select_sections[];
void select_read_keys(struct config_reader *reader, const struct config_node *root,
                      struct tacit_config *config);

struct select_plan {
    struct tacit_sim common;
    struct select_keys keys;
    struct tacit_select_config config;
    struct tacit_latency latency;
    struct training_plan training;
    double *center;
    double *rows;
    uint64_t *evaluations; /* rounds after which the model is examined; NULL: after the last one */
    uint32_t users_shown;  /* users whose participations follow the series in a run's profiles */
    struct tacit_profile profiles[SELECT_SERIES_COUNT + 2]; /* the series, and a row a user */
    const char **user_names;                                /* of these rows */
};

enum tacit_status select_make_plan(struct tacit_experiment *experiment, struct tacit_error *error);
void select_free_plan(void *plan);
enum tacit_status select_print_costs(const struct tacit_experiment *experiment, FILE *out);

/* Into ascending order. */
void select_sort_reals(double *values, uint32_t count);

void *select_run_new(const void *plan, enum tacit_status *status);
enum tacit_status select_run_play(void *run, uint32_t index, struct tacit_sim_row *row,
                                  atomic_bool *stop);
#endif
