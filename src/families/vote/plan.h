/* The plan of an experiment with votes: what its file says, and what follows. */
#ifndef TACIT_FAMILIES_VOTE_PLAN_H
#define TACIT_FAMILIES_VOTE_PLAN_H
#include "play.h"
#include "rule.h"
#include "tacit/family.h"

struct vote_keys {
    struct vote_world world; /* as far as the file says it */
    struct vote_threshold threshold;
    uint32_t switches; /* of the best arm, within the horizon */
    bool drifts_all;
};

struct vote_plan {
    struct tacit_sim common;
    struct vote_world world; /* without run and env */
    struct vote_threshold threshold;
    double eta; /* of each player, with votes */
    bool drifts_all;
    uint64_t *committee;
    struct tacit_mechanism mechanism; /* sound mode: world.mechanism points here */
};

enum vote_metric {
    VOTE_REGRET,
    VOTE_REGRET_PER_AGENT,
    VOTE_SAMPLES,
    VOTE_SAMPLES_VOTE,
    VOTE_MESSAGES,
    VOTE_MESSAGES_PER_RECEIVER,
    VOTE_SINGLE_ARM_FRACTION,
    VOTE_BEST_ARM_FRACTION,
    VOTE_NEAR_BEST_FRACTION,
    VOTE_ANSWER_SHARE,
    VOTE_PLAYS_BEYOND,
    VOTE_RESETS,
    VOTE_SAMPLES_FIRST_OUT,
    VOTE_PLAYER_SAMPLES_MEAN,
    VOTE_PLAYER_SAMPLES_SD,
    VOTE_PLAYER_SAMPLES_MAX,
    VOTE_MEAN_GAP,
    VOTE_METRIC_COUNT
};
extern const struct tacit_metric vote_metrics[];

#define VOTE_ARM_PROFILES 4u /* of each arm .. */
#define VOTE_PARTS 4u        /* .. and of the players, most active first, in so many parts */
#define VOTE_PART_PROFILES 3u
extern const struct tacit_profile vote_profiles[];

/* keys.c */
void vote_read_keys(struct config_reader *reader, const struct config_node *root,
                    struct tacit_config *config);
extern const struct config_section vote_sections[];

/* plan.c */
enum tacit_status vote_make_plan(struct tacit_experiment *experiment, struct tacit_error *error);
void vote_free_plan(void *plan);

/* bounds.c */
enum tacit_status vote_print_costs(const struct tacit_experiment *experiment, FILE *out);

/* forecast.c: of the family (tacit/family.h). Subroutines successive, ser3, ugapec, lucb, private
 * votes and sums; players alike, means that stay. */
double vote_forecast(const struct tacit_experiment *experiment);
double vote_forecast_regret(const struct tacit_experiment *experiment);

/* run.c */
void *vote_run_new(const void *plan, enum tacit_status *status);
enum tacit_status vote_run_play(void *run, uint32_t index, struct tacit_sim_row *row,
                                atomic_bool *stop);
#endif
