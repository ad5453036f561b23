/* Runs of federated generalised linear bandits: the same whatever the threads, within the paper's
 * bound, and with the counts of the readings. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "../../src/families/glm/plan.h"

#define RUNS 8u
#define N 6u
#define T 120u
#define D 5u
#define POINTS 3u

static const uint64_t points[POINTS] = {10, 60, T};

static struct glm_plan plan_of(enum tacit_glm_variant variant)
{
    struct glm_plan plan = {.sim = {.seed = 4,
                                    .run_count = RUNS,
                                    .agent_count = N,
                                    .horizon = T,
                                    .points = points,
                                    .point_count = POINTS},
                            .model = tacit_glm_model_init(variant, TACIT_LINALG_LOGISTIC, N, D, T),
                            .arm_count = 8,
                            .path = tacit_linalg_fastest()};
    plan.model.threshold = 0.5;
    if (variant != TACIT_GLM_ONE_UCB) /* which shares once a round */
        plan.model.period = tacit_glm_period(N, T, 12);
    return plan;
}

static void play(const struct glm_plan *plan, uint32_t threads, double *metrics, double *regret)
{
    bool finished[RUNS] = {false};
    struct tacit_sim_results const results = {
        .metrics = metrics, .regret = regret, .finished = finished};
    struct tacit_sim_control control = {.stop = false};
    struct tacit_sim_player const player = {.metric_count = GLM_METRIC_COUNT,
                                            .run_new = glm_run_new,
                                            .run_play = glm_run_play,
                                            .run_free = glm_run_free};
    assert_int_equal(tacit_sim_run(&plan->sim, &player, plan, threads, &results, &control),
                     TACIT_OK);
    for (uint32_t run = 0; run < RUNS; run++)
        assert_true(finished[run]);
}

static void runs_are_the_same_with_1_and_16_threads_and_on_both_paths(void **state)
{
    (void)state;
    for (int variant = 0; variant <= TACIT_GLM_RANDOM; variant++) {
        struct glm_plan plan = plan_of((enum tacit_glm_variant)variant);
        double one[GLM_METRIC_COUNT * RUNS];
        double many[GLM_METRIC_COUNT * RUNS];
        double one_regret[POINTS * RUNS];
        double many_regret[POINTS * RUNS];
        play(&plan, 1, one, one_regret);
        plan.path = TACIT_LINALG_PORTABLE;
        play(&plan, 16, many, many_regret);
        assert_memory_equal(one, many, sizeof one);
        assert_memory_equal(one_regret, many_regret, sizeof one_regret);
    }
}

/* The sound mode: the same bits whatever the threads, and counts that depend on nothing but the
 * file. */
static struct glm_plan private_plan(double epsilon)
{
    struct glm_plan plan = plan_of(TACIT_GLM_FEDGLB);
    struct tacit_glm_private_model const model = {.link = TACIT_LINALG_IDENTITY,
                                                  .exploration = TACIT_GLM_PRACTICAL,
                                                  .client_count = N,
                                                  .dimension = D,
                                                  .batch_count = 40,
                                                  .epsilon = epsilon,
                                                  .delta = 1e-6,
                                                  .failure = 0.05,
                                                  .norm_bound = 1,
                                                  .noise_bound = 0.25};
    plan.model.link = TACIT_LINALG_IDENTITY;
    plan.model.noise_bound = 0.25;
    plan.is_private = true;
    assert_int_equal(tacit_glm_private_rule_init(&plan.rule, &model), TACIT_OK);
    return plan;
}

static void the_sound_mode_is_the_same_with_1_and_16_threads_and_on_both_paths(void **state)
{
    (void)state;
    struct glm_plan plan = private_plan(1);
    double one[GLM_METRIC_COUNT * RUNS];
    double many[GLM_METRIC_COUNT * RUNS];
    double one_regret[POINTS * RUNS];
    double many_regret[POINTS * RUNS];
    play(&plan, 1, one, one_regret);
    plan.path = TACIT_LINALG_PORTABLE;
    play(&plan, 16, many, many_regret);
    assert_memory_equal(one, many, sizeof one);
    assert_memory_equal(one_regret, many_regret, sizeof one_regret);
    for (uint32_t run = 0; run < RUNS; run++) {
        assert_true(one[GLM_MESSAGES * RUNS + run] == 2 * N * 40);
        assert_true(one[GLM_SCALARS * RUNS + run] ==
                    2 * N * 40 * (double)TACIT_GLM_PRIVATE_SUMS(D));
        assert_true(one[GLM_UPDATES * RUNS + run] == 40);
    }
}

/* With hardly any noise it learns; with much it plays like chance. Averages of 8 runs; both gaps
 * are many standard errors at these seeds. */
static void privacy_costs_what_the_statement_says(void **state)
{
    (void)state;
    double const epsilons[] = {1e5, 0.1};
    double mean[2] = {0};
    for (uint32_t which = 0; which < 2; which++) {
        struct glm_plan const plan = private_plan(epsilons[which]);
        double metrics[GLM_METRIC_COUNT * RUNS];
        double regret[POINTS * RUNS];
        play(&plan, 2, metrics, regret);
        for (uint32_t run = 0; run < RUNS; run++)
            mean[which] += metrics[GLM_REGRET * RUNS + run] / RUNS;
        double const interactions = (double)N * T / D;
        assert_true((plan.rule.shift < interactions) == (which == 0));
    }
    assert_true(3 * mean[0] < mean[1]);
}

/* Row of a metric over the runs. */
static const double *row_of(const double *metrics, enum glm_metric metric)
{
    return metrics + (size_t)metric * RUNS;
}

static void counts_are_those_of_the_readings_and_obey_the_bound(void **state)
{
    (void)state;
    double const d = D;
    for (int variant = 0; variant <= TACIT_GLM_RANDOM; variant++) {
        struct glm_plan const plan = plan_of((enum tacit_glm_variant)variant);
        double metrics[GLM_METRIC_COUNT * RUNS];
        double regret[POINTS * RUNS];
        play(&plan, 2, metrics, regret);
        for (uint32_t run = 0; run < RUNS; run++) {
            double const b = row_of(metrics, GLM_UPDATES)[run];
            double const j = row_of(metrics, GLM_AGGREGATIONS)[run];
            assert_true(b <= tacit_glm_updates_bound(&plan.model));
            assert_true(row_of(metrics, GLM_REGRET)[run] > 0);
            assert_true(regret[run * POINTS + POINTS - 1] == row_of(metrics, GLM_REGRET)[run]);
            assert_true(regret[run * POINTS] <= regret[run * POINTS + 1]);
            if (variant == TACIT_GLM_ONE_UCB) {
                assert_true(b == T);
                assert_true(row_of(metrics, GLM_SCALARS)[run] == (double)N * N * T);
                continue;
            }
            assert_true(row_of(metrics, GLM_LINKS)[run] == N * j);
            assert_true(row_of(metrics, GLM_MESSAGES)[run] == N * (2 * b + 2 * j));
            double const each = variant == TACIT_GLM_V1   ? 2 * d * d + d
                                : variant == TACIT_GLM_V3 ? 3 * d * d + 3 * d
                                                          : 2 * d * d + 2 * d;
            double const rounds = variant <= TACIT_GLM_V2 ? 2 * d * j : 0;
            assert_true(row_of(metrics, GLM_SCALARS)[run] == N * (b * each + rounds));
            if (variant == TACIT_GLM_V1 || variant == TACIT_GLM_V2 || variant == TACIT_GLM_V3)
                assert_true(b == 12);
        }
    }
}

/* Averages over the runs: sharing helps, and no learning is worse than any. The gaps are ten
 * standard errors at these seeds. */
static void sharing_a_model_is_better_than_learning_alone_and_that_than_chance(void **state)
{
    (void)state;
    enum tacit_glm_variant const variants[] = {TACIT_GLM_FEDGLB, TACIT_GLM_N_ONS, TACIT_GLM_RANDOM};
    double mean[3] = {0};
    for (uint32_t which = 0; which < 3; which++) {
        struct glm_plan const plan = plan_of(variants[which]);
        double metrics[GLM_METRIC_COUNT * RUNS];
        double regret[POINTS * RUNS];
        play(&plan, 2, metrics, regret);
        for (uint32_t run = 0; run < RUNS; run++)
            mean[which] += row_of(metrics, GLM_REGRET)[run] / RUNS;
    }
    assert_true(1.5 * mean[0] < mean[1]);
    assert_true(1.5 * mean[1] < mean[2]);
}

static void a_stop_is_heard(void **state)
{
    (void)state;
    struct glm_plan const plan = plan_of(TACIT_GLM_FEDGLB);
    double metrics[GLM_METRIC_COUNT * RUNS];
    double regret[POINTS * RUNS];
    bool finished[RUNS] = {false};
    struct tacit_sim_results const results = {
        .metrics = metrics, .regret = regret, .finished = finished};
    struct tacit_sim_control control = {.stop = true};
    struct tacit_sim_player const player = {.metric_count = GLM_METRIC_COUNT,
                                            .run_new = glm_run_new,
                                            .run_play = glm_run_play,
                                            .run_free = glm_run_free};
    assert_int_equal(tacit_sim_run(&plan.sim, &player, &plan, 1, &results, &control),
                     TACIT_INTERRUPTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_are_the_same_with_1_and_16_threads_and_on_both_paths),
        cmocka_unit_test(counts_are_those_of_the_readings_and_obey_the_bound),
        cmocka_unit_test(sharing_a_model_is_better_than_learning_alone_and_that_than_chance),
        cmocka_unit_test(the_sound_mode_is_the_same_with_1_and_16_threads_and_on_both_paths),
        cmocka_unit_test(privacy_costs_what_the_statement_says),
        cmocka_unit_test(a_stop_is_heard),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
