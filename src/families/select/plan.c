/* From an experiment file with user selection to what its runs need: latencies, budgets, promise;
 * and the bounds that `check` prints. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "select.h"
#include "slope.h"
#include "tacit/bounds.h"
#include "tacit/data.h"

#define EVALUATIONS_MAX 1000000u

/* ---- Latencies ---- */

static enum tacit_status read_trace(struct tacit_experiment *experiment, struct select_plan *plan,
                                    struct tacit_error *error)
{
    struct tacit_config const *const config = experiment->config;
    struct tacit_means table;
    char *const path = tacit_config_path(config->document, plan->keys.trace);
    if (path == NULL)
        return TACIT_MEMORY;
    enum tacit_status const status = tacit_means_read(&table, path, 0, 1e9, error);
    free(path);
    if (status != TACIT_OK) {
        struct tacit_error const cause = *error;
        return status == TACIT_IO
                   ? tacit_experiment_refuse(experiment, "environment.trace", cause.text, error)
                   : status;
    }
    plan->rows = table.values; /* the plan's from here on */
    if (table.arm_count != config->agent_count) {
        char text[200];
        (void)snprintf(
            text, sizeof text,
            "has %u columns, but there are %u users (agents); allowed: one column a user",
            table.arm_count, config->agent_count);
        return tacit_experiment_refuse(experiment, "environment.trace", text, error);
    }
    for (size_t i = 0; i < (size_t)table.row_count * table.arm_count; i++)
        if (!(plan->rows[i] > 0))
            return tacit_experiment_refuse(experiment, "environment.trace",
                                           "a latency of 0; allowed: numbers above 0", error);
    plan->latency.rows = plan->rows;
    plan->latency.row_count = table.row_count;
    return TACIT_OK;
}

static enum tacit_status make_latency(struct tacit_experiment *experiment, struct select_plan *plan,
                                      struct tacit_error *error)
{
    struct tacit_config const *const config = experiment->config;
    struct select_keys const *const keys = &plan->keys;
    plan->latency = (struct tacit_latency){.kind = keys->latency,
                                           .user_count = config->agent_count,
                                           .latency_min = keys->config.latency_min,
                                           .spread = keys->spread};
    if (keys->latency == TACIT_LATENCY_TRACE)
        return read_trace(experiment, plan, error);
    plan->center = calloc(config->agent_count, sizeof *plan->center);
    if (plan->center == NULL)
        return TACIT_MEMORY;
    plan->latency.center = plan->center;
    if (keys->latency == TACIT_LATENCY_LOG_NORMAL) {
        struct tacit_rng rng =
            tacit_rng_stream(config->seed, 0, TACIT_STREAM_COMMON,
                             TACIT_PURPOSE_OF_FAMILY(SELECT_NUMBER, SELECT_STREAM_MEDIANS));
        tacit_latency_log_normal(plan->center, config->agent_count, keys->median,
                                 keys->median_spread, &rng);
        return TACIT_OK;
    }
    if (config->agent_count < 2)
        return tacit_experiment_refuse(experiment, "agents",
                                       "two groups need at least 2 users (agents)", error);
    tacit_latency_two_groups(plan->center, config->agent_count);
    return TACIT_OK;
}

/* ---- What is recorded over the rounds ---- */

/* Every so many rounds and at the end; where nothing is examined between, at the checkpoints. */
static enum tacit_status make_series(struct tacit_experiment *experiment, struct select_plan *plan,
                                     struct tacit_error *error)
{
    struct tacit_sim *const sim = &experiment->sim;
    uint64_t const every = plan->keys.training.evaluate_every;
    sim->series_slots = sim->points;
    sim->series_count = sim->point_count;
    if (every > 0) {
        uint64_t const count = (sim->horizon + every - 1) / every;
        if (count > EVALUATIONS_MAX)
            return tacit_experiment_refuse(experiment, "training.evaluate_every",
                                           "more than a million examinations; allowed: fewer",
                                           error);
        plan->evaluations = calloc(count, sizeof *plan->evaluations);
        if (plan->evaluations == NULL)
            return TACIT_MEMORY;
        for (uint64_t i = 0; i < count; i++)
            plan->evaluations[i] = i + 1 < count ? (i + 1) * every : sim->horizon;
        sim->series_slots = plan->evaluations;
        sim->series_count = (uint32_t)count;
    }
    sim->profile_values = SELECT_SERIES_COUNT * sim->series_count;
    plan->common = *sim;
    return TACIT_OK;
}

/* ---- Who took part how often ---- */

/* Names of the users, from 0, in one piece of memory behind the pointers to them. */
static const char **name_users(uint32_t count)
{
    enum { NAME_BYTES = 8 };
    const char **const names = malloc((count + (size_t)1) * sizeof *names + count * NAME_BYTES);
    if (names == NULL)
        return NULL;
    char *const texts = (char *)(names + count + 1);
    for (uint32_t user = 0; user < count; user++) {
        (void)snprintf(texts + (size_t)user * NAME_BYTES, NAME_BYTES, "%u", user);
        names[user] = texts + (size_t)user * NAME_BYTES;
    }
    names[count] = NULL;
    return names;
}

static enum tacit_status make_profiles(struct tacit_experiment *experiment,
                                       struct select_plan *plan)
{
    uint32_t const users = experiment->config->agent_count;
    if (users > SELECT_USERS_SHOWN_MAX)
        return TACIT_OK;
    plan->user_names = name_users(users);
    if (plan->user_names == NULL)
        return TACIT_MEMORY;
    memcpy(plan->profiles, select_series, SELECT_SERIES_COUNT * sizeof *plan->profiles);
    plan->profiles[SELECT_SERIES_COUNT] =
        (struct tacit_profile){.name = "participations_by_user",
                               .label = "took part",
                               .unit = "rounds",
                               .note = "users are numbered from 0",
                               .rows = plan->user_names};
    plan->users_shown = users;
    experiment->profiles = plan->profiles;
    experiment->sim.profile_values += users;
    plan->common = experiment->sim;
    return TACIT_OK;
}

/* ---- Privacy ---- */

/* What one participation after the other costs a user; no end of it where nothing is noised. */
static enum tacit_status make_budget(struct tacit_experiment *experiment, struct select_plan *plan,
                                     struct tacit_error *error)
{
    struct tacit_config const *const config = experiment->config;
    bool const is_none = config->privacy == TACIT_PRIVACY_NONE || isinf(config->epsilon);
    struct tacit_select_budget *const budget = &plan->config.budget;
    plan->config = plan->keys.config;
    plan->config.user_count = config->agent_count;
    budget->kind = is_none ? TACIT_SELECT_GEOMETRIC : budget->kind;
    budget->is_exact = !is_none && config->privacy == TACIT_PRIVACY_SOUND;
    budget->total = is_none ? INFINITY : config->epsilon;
    if (tacit_select_size(&plan->config) > 0)
        return TACIT_OK;
    return tacit_experiment_refuse(
        experiment, "privacy",
        "no budgets can be made of this; allowed: epsilon from 1e-6 to 1e6, budgets that add up to "
        "at most epsilon",
        error);
}

/* Of a user. As the authors ran it, noise for each coordinate is that of the only one, so that a
 * model of d numbers loses d times its budget, and batch-norm statistics go as they are. */
static void promise(struct tacit_experiment *experiment, const struct select_plan *plan)
{
    struct tacit_config const *const config = experiment->config;
    bool const is_none = isinf(plan->config.budget.total);
    bool const is_paper = config->privacy == TACIT_PRIVACY_PAPER;
    experiment->epsilon_per_reward = is_none ? INFINITY : config->epsilon;
    experiment->promise.mechanism = (struct tacit_promise_mechanism){
        .noise = is_none    ? TACIT_NOISE_NONE
                 : is_paper ? TACIT_NOISE_DOUBLE
                            : TACIT_NOISE_LAPLACE,
        .of = TACIT_PROTECTED_DATA_SET,
        .leaving = TACIT_LEAVING_UPDATES,
        .epsilon_nano = is_none ? 0 : tacit_nano_up(config->epsilon),
        .gaps = !is_none && is_paper ? TACIT_GAP_COORDINATES : 0,
        .is_counted = !plan->keys.training.is_on};
}

/* Two aggregators, whose noise each user's next epsilon allows. */
static enum tacit_status settle_aggregators(struct tacit_experiment *experiment,
                                            struct select_plan *plan, struct tacit_error *error)
{
    struct tacit_mechanism own;
    uint32_t const milli = experiment->config->floor_milli;
    const char *const text =
        milli == TACIT_ONE_AGGREGATOR ? NULL
        : !plan->keys.training.is_on  ? "two aggregators add up the updates of a training; allowed "
                                        "with the section training"
        : plan->keys.quorum < 2       ? "two aggregators add up the updates of two users or more; "
                                        "allowed with protocol.quorum 2 or more"
                                      : NULL;
    if (text != NULL)
        return tacit_experiment_refuse(experiment, "privacy.trust", text, error);
    TACIT_TRY(
        tacit_experiment_site_mechanism(experiment, &own, &plan->training.aggregators, error));
    if (experiment->promise.trust.floor_nano == 0)
        return TACIT_OK;
    double const times = milli / 1e3 / plan->config.budget.total;
    plan->training.floor_times = times * (1 - 1e-12); /* however it is rounded */
    return tacit_select_floor_holds(experiment->promise.trust.floor_nano, plan->config.budget.total)
               ? TACIT_OK
               : tacit_experiment_refuse(experiment, "privacy.trust.floor",
                                         TACIT_SELECT_FLOOR_WORDS, error);
}

enum tacit_status select_make_plan(struct tacit_experiment *experiment, struct tacit_error *error)
{
    struct select_plan *const plan = calloc(1, sizeof *plan);
    experiment->plan = plan;
    if (plan == NULL)
        return TACIT_MEMORY;
    memcpy(&plan->keys, experiment->config->keys, sizeof plan->keys);
    plan->keys.choice.expected = NULL;
    TACIT_TRY(make_series(experiment, plan, error));
    TACIT_TRY(make_profiles(experiment, plan));
    TACIT_TRY(make_latency(experiment, plan, error));
    TACIT_TRY(make_budget(experiment, plan, error));
    if (!isinf(plan->config.budget.total))
        TACIT_TRY(tacit_experiment_protect(experiment, experiment->config->epsilon, error));
    TACIT_TRY(settle_aggregators(experiment, plan, error));
    if (plan->keys.training.is_on)
        TACIT_TRY(training_plan_make(experiment, &plan->keys.training, &plan->training, error));
    promise(experiment, plan);
    experiment->server_links = plan->keys.config.users_per_round;
    return TACIT_OK;
}

void select_free_plan(void *memory)
{
    struct select_plan *const plan = memory;
    if (plan == NULL)
        return;
    training_plan_free(&plan->training);
    free(plan->center);
    free(plan->rows);
    free(plan->evaluations);
    free(plan->user_names);
    free(plan);
}

/* ---- Bounds ---- */

struct expectations {
    double ratio_least;
    double ratio_most;
    double gap_in_latency; /* least difference between two users */
    double gap_in_ratio;
};

/* Sorts the values. */
static double least_gap(double *values, uint32_t count)
{
    double gap = INFINITY;
    select_sort_reals(values, count);
    for (uint32_t i = 1; i < count; i++)
        gap = fmin(gap, values[i] - values[i - 1]);
    return gap;
}

/* Over all users, from the latencies' distributions. */
static enum tacit_status expect(const struct select_plan *plan, struct expectations *expected)
{
    uint32_t const users = plan->latency.user_count;
    double *const means = calloc(2 * (size_t)users, sizeof *means);
    if (means == NULL)
        return TACIT_MEMORY;
    double *const ratios = means + users;
    for (uint32_t user = 0; user < users; user++)
        tacit_latency_expect(&plan->latency, user, &means[user], &ratios[user]);
    expected->gap_in_latency = least_gap(means, users);
    expected->gap_in_ratio = least_gap(ratios, users);
    expected->ratio_least = ratios[0];
    expected->ratio_most = ratios[users - 1];
    free(means);
    return TACIT_OK;
}

/* Eq. (17) with the constant of the text or of its proof. */
static double bound_of(const struct select_plan *plan, double worst, double gap, double constant)
{
    double const n = (double)plan->common.horizon;
    double const m = plan->config.users_per_round;
    return plan->config.user_count * (worst + gap) *
           (4 * (m + 1) * log(n) / (gap * gap) + 1 + constant);
}

static void print_bound(const struct select_plan *plan, double worst, double gap, const char *what,
                        FILE *out)
{
    double const square = acos(-1) * acos(-1);
    if (!(gap > 0)) {
        (void)fprintf(out, "  regret    no bound: two users have the same %s\n", what);
        return;
    }
    double const text = bound_of(plan, worst, gap, 2 * square / 3);
    double const proof = bound_of(plan, worst, gap, 4 * square / 3);
    double const trivial = worst * (double)plan->common.horizon;
    (void)fprintf(out, "  regret    %.6g (Eq. 17), %.6g (App. A); smallest gap of %s %.6g%s\n",
                  text, proof, what, gap,
                  text > trivial ? "; above what any policy can lose, n Delta_max" : "");
}

/* What was seen of the growth that (17) bounds by log n, which is a slope that goes to 0. */
static enum tacit_status print_slope(const struct select_plan *plan, FILE *out)
{
    struct select_slope slope;
    TACIT_TRY(select_measure_slope(plan, &slope));
    if (isnan(slope.value))
        (void)fprintf(out,
                      "  slope     not measured: fewer than 100 rounds, budgets that end before, "
                      "or nothing lost\n");
    else
        (void)fprintf(out,
                      "  slope     %.2f: log of the regret in the genie's measure over log of the "
                      "rounds, measured from %llu to %llu in %u runs; log n would go to 0\n",
                      slope.value, (unsigned long long)slope.first, (unsigned long long)slope.last,
                      slope.run_count);
    return TACIT_OK;
}

enum tacit_status select_print_costs(const struct tacit_experiment *experiment, FILE *out)
{
    struct select_plan const *const plan = experiment->plan;
    struct expectations expected;
    TACIT_TRY(expect(plan, &expected));
    /* Lemma 1 (16), read with max - min. */
    double const worst =
        2 * plan->config.alpha + plan->config.gamma + expected.ratio_most - expected.ratio_least;
    double const m = plan->config.users_per_round;
    double const rounds = (double)plan->common.horizon;
    bool const are_two = plan->training.aggregators.are_two;
    (void)fprintf(out, "At most, in one run of %.0f rounds:\n", rounds);
    (void)fprintf(out,
                  "  messages  %.0f  (a model to each of %.0f users a round, an update back%s)\n",
                  (2 * m + (are_two ? 2 : 0)) * rounds, m,
                  are_two ? "; a request to the helper, its answer" : "");
    (void)fprintf(out, "  Delta_max %.6g, n Delta_max %.6g\n", worst, worst * rounds);
    print_bound(plan, worst, expected.gap_in_latency, "E[tau] (the paper's)", out);
    print_bound(plan, worst, expected.gap_in_ratio, "mu (the proof's)", out);
    return print_slope(plan, out);
}
