/* Runs of federated generalised linear bandits: the same whatever the threads, within the paper's
 * bound, and with the counts of the readings. */
#include <math.h>
#include "../support/testing.h"
#include "../../src/families/glm/run.h"

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

static void play_all(const struct glm_plan *plan, uint32_t threads, double *metrics, double *regret,
                     double *curves, double *profiles)
{
    bool finished[RUNS] = {false};
    struct tacit_sim_results const results = {.metrics = metrics,
                                              .regret = regret,
                                              .finished = finished,
                                              .curves = curves,
                                              .profiles = profiles};
    struct tacit_sim_control control = {.stop = false};
    struct tacit_sim_player const player = {
        .metric_count = GLM_METRIC_COUNT, .run_new = glm_run_new, .run_play = glm_run_play};
    assert_int_equal(tacit_sim_run(&plan->sim, &player, plan, threads, &results, &control),
                     TACIT_OK);
    for (uint32_t run = 0; run < RUNS; run++)
        assert_true(finished[run]);
}

static void play(const struct glm_plan *plan, uint32_t threads, double *metrics, double *regret)
{
    play_all(plan, threads, metrics, regret, NULL, NULL);
}

static double mean_of(const struct glm_plan *plan, enum glm_metric metric)
{
    double metrics[GLM_METRIC_COUNT * RUNS];
    double regret[POINTS * RUNS];
    double sum = 0;
    play(plan, 2, metrics, regret);
    for (uint32_t run = 0; run < RUNS; run++)
        sum += metrics[metric * RUNS + run];
    return sum / RUNS;
}

/* On one thread, on 16 and the other path: the same bits. */
static void play_both(struct glm_plan *plan, double *metrics)
{
    double many[GLM_METRIC_COUNT * RUNS];
    double regret[POINTS * RUNS];
    double many_regret[POINTS * RUNS];
    play(plan, 1, metrics, regret);
    plan->path = TACIT_LINALG_PORTABLE;
    play(plan, 16, many, many_regret);
    assert_memory_equal(metrics, many, sizeof many);
    assert_memory_equal(regret, many_regret, sizeof regret);
}

TEST(runs_are_the_same_with_1_and_16_threads_and_on_both_paths)
{
    for (int variant = 0; variant <= TACIT_GLM_RANDOM; variant++) {
        struct glm_plan plan = plan_of((enum tacit_glm_variant)variant);
        double one[GLM_METRIC_COUNT * RUNS];
        play_both(&plan, one);
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

TEST(the_sound_mode_is_the_same_with_1_and_16_threads_and_on_both_paths)
{
    struct glm_plan plan = private_plan(1);
    double one[GLM_METRIC_COUNT * RUNS];
    play_both(&plan, one);
    for (uint32_t run = 0; run < RUNS; run++) {
        assert_true(one[GLM_MESSAGES * RUNS + run] == 2 * N * 40);
        assert_true(one[GLM_SCALARS * RUNS + run] ==
                    2 * N * 40 * (double)TACIT_GLM_PRIVATE_SUMS(D));
        assert_true(one[GLM_UPDATES * RUNS + run] == 40);
    }
}

/* With hardly any noise it learns; with much it plays like chance. Averages of 8 runs; both gaps
 * are many standard errors at these seeds. */
TEST(privacy_costs_what_the_statement_says)
{
    double const epsilons[] = {1e5, 0.1};
    double mean[2] = {0};
    for (uint32_t which = 0; which < 2; which++) {
        struct glm_plan const plan = private_plan(epsilons[which]);
        mean[which] = mean_of(&plan, GLM_REGRET);
        double const interactions = (double)N * T / D;
        assert_true((plan.rule.shift < interactions) == (which == 0));
    }
    assert_true(3 * mean[0] < mean[1]);
}

/* ---- Two aggregators ---- */

static struct glm_plan two_plan(uint32_t clients, uint64_t batches, double floor)
{
    struct glm_plan plan = private_plan(1);
    struct tacit_glm_private_model model = plan.rule.model;
    plan.sim.agent_count = plan.model.client_count = model.client_count = clients;
    model.batch_count = batches;
    assert_int_equal(tacit_glm_private_rule_init(&plan.rule, &model), TACIT_OK);
    assert_int_equal(tacit_glm_private_rule_mask(&plan.rule, floor), TACIT_OK);
    model.client_count = plan.aggregators = 2;
    assert_int_equal(tacit_glm_private_rule_init(&plan.aggregator_rule, &model), TACIT_OK);
    return plan;
}

/* Squares of what is in the hub's last total over what clients released themselves. */
static double square_of(struct glm_run *run)
{
    struct glm_private_hub const *const hub = run->hub;
    double squares = 0;
    for (uint32_t k = 0; k < TACIT_LINALG_PACKED(D); k++) {
        int64_t sum = 0;
        for (uint32_t i = 0; i < run->plan->model.client_count; i++) {
            struct tacit_glm_private_client_view view;
            tacit_glm_private_client_view(glm_run_client(run, i), &view);
            assert_int_equal(view.batch, run->rule.model.batch_count);
            sum += view.sums[k];
        }
        squares += pow((double)(hub->total[k] - sum) / (double)TACIT_GLM_PRIVATE_UNIT, 2);
    }
    return squares / TACIT_LINALG_PACKED(D);
}

/* Within 5 standard errors, a quarter of it: one term or three would be a half away. */
TEST(totals_have_the_noise_of_two_however_many_clients)
{
    static const struct {
        uint32_t clients;
        uint64_t batches;
        double floor;
        double nodes; /* in the last prefix */
    } settings[] = {
        {2, 40, INFINITY, 2}, {15, 40, INFINITY, 2}, {15, 20, INFINITY, 20}, {15, 40, 4, 2}};
    uint32_t const runs = 60;
    for (uint32_t s = 0; s < sizeof settings / sizeof settings[0]; s++) {
        struct glm_plan const plan =
            two_plan(settings[s].clients, settings[s].batches, settings[s].floor);
        enum tacit_status status;
        struct glm_run *const run = glm_run_new(&plan, &status);
        double metrics[GLM_METRIC_COUNT];
        double regret[POINTS];
        double squares = 0;
        struct tacit_sim_row row = {.metrics = metrics, .regret = regret};
        atomic_bool stop = false;
        for (uint32_t i = 0; i < runs; i++) {
            assert_int_equal(glm_run_play(run, i, &row, &stop), TACIT_OK);
            squares += square_of(run) / runs;
        }
        double const unit = (double)TACIT_GLM_PRIVATE_UNIT;
        double const expected = 2 * settings[s].nodes *
                                tacit_gaussian_variance(&plan.aggregator_rule.noise) /
                                (unit * unit);
        print_message("%u clients: variance %.3f of what is due\n", settings[s].clients,
                      squares / expected);
        assert_true(fabs(squares / expected - 1) < 5 * sqrt(2.0 / (runs * TACIT_LINALG_PACKED(D))));
        tacit_sim_delete(run);
    }
}

/* The same bits whatever the threads; what is said, and what two save. */
TEST(two_aggregators_are_counted_and_cost_less)
{
    struct glm_plan plan = two_plan(N, 40, INFINITY);
    double two[GLM_METRIC_COUNT * RUNS];
    double many[GLM_METRIC_COUNT * RUNS];
    double regret[POINTS * RUNS];
    play(&plan, 1, two, regret);
    plan.path = TACIT_LINALG_PORTABLE;
    play(&plan, 16, many, regret);
    assert_memory_equal(two, many, sizeof two);
    struct glm_plan const one = private_plan(1);
    play(&one, 2, many, regret);
    for (uint32_t run = 0; run < RUNS; run++) {
        assert_true(two[GLM_MESSAGES * RUNS + run] == 2 * N * 40 + 2 * 40);
        assert_true(two[GLM_SCALARS * RUNS + run] == many[GLM_SCALARS * RUNS + run]);
        assert_true(two[GLM_BYTES * RUNS + run] ==
                    many[GLM_BYTES * RUNS + run] + 40 * glm_helper_bytes(&plan));
    }
    assert_true(fabs(plan.rule.shift / one.rule.shift - sqrt(2.0 / N)) < 1e-12);
}

/* Row of a metric over the runs. */
static const double *row_of(const double *metrics, enum glm_metric metric)
{
    return metrics + (size_t)metric * RUNS;
}

TEST(counts_are_those_of_the_readings_and_obey_the_bound)
{
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
TEST(sharing_a_model_is_better_than_learning_alone_and_that_than_chance)
{
    enum tacit_glm_variant const variants[] = {TACIT_GLM_FEDGLB, TACIT_GLM_N_ONS, TACIT_GLM_RANDOM};
    double mean[3] = {0};
    for (uint32_t which = 0; which < 3; which++) {
        struct glm_plan const plan = plan_of(variants[which]);
        mean[which] = mean_of(&plan, GLM_REGRET);
    }
    assert_true(1.5 * mean[0] < mean[1]);
    assert_true(1.5 * mean[1] < mean[2]);
}

/* ---- Over time, and the model at the end ---- */

#define CURVES 6u
static const enum glm_metric over_time[CURVES] = {GLM_REWARD,  GLM_UPDATES, GLM_LINKS,
                                                  GLM_SCALARS, GLM_BYTES,   GLM_OVER_UNIFORM};

TEST(curves_rise_to_the_metrics_and_the_sound_mode_has_them_too)
{
    struct glm_plan plans[] = {plan_of(TACIT_GLM_FEDGLB), plan_of(TACIT_GLM_V3),
                               plan_of(TACIT_GLM_RANDOM), private_plan(1)};
    for (size_t which = 0; which < sizeof plans / sizeof plans[0]; which++) {
        static double curves[CURVES * RUNS * POINTS];
        double metrics[GLM_METRIC_COUNT * RUNS];
        double regret[POINTS * RUNS];
        plans[which].sim.curve_count = CURVES;
        play_all(&plans[which], 3, metrics, regret, curves, NULL);
        for (uint32_t i = 0; i < CURVES * RUNS; i++) {
            double const *const curve = curves + (size_t)i * POINTS;
            if (over_time[i / RUNS] == GLM_OVER_UNIFORM) {
                assert_true(isnan(curve[POINTS - 1])); /* these are no logs */
                continue;
            }
            bool const may_fall = over_time[i / RUNS] == GLM_REWARD; /* normal rewards may be < 0 */
            assert_true(may_fall || (curve[0] <= curve[1] && curve[1] <= curve[2]));
            assert_true(curve[POINTS - 1] == row_of(metrics, over_time[i / RUNS])[i % RUNS]);
        }
        bool const speaks = which != 2;
        assert_true((curves[RUNS * POINTS + 1] > 0) == speaks); /* updates at slot 60 */
    }
}

/* Of 8 coefficients' intervals in 8 dimensions each one holds: the ellipsoid of Lemma 9 fails with
 * .01. */
TEST(the_ellipsoid_of_the_last_model_holds_the_truth)
{
    struct glm_plan plan = plan_of(TACIT_GLM_FEDGLB);
    static double profiles[RUNS * 3 * D];
    double metrics[GLM_METRIC_COUNT * RUNS];
    double regret[POINTS * RUNS];
    plan.sim.profile_values = 3 * D;
    play_all(&plan, 3, metrics, regret, NULL, profiles);
    double square = 0;
    for (uint32_t i = 0; i < D; i++) {
        double const truth = profiles[2 * D + i];
        square += truth * truth;
        assert_true(profiles[D + i] > 0);
        assert_true(fabs(profiles[i] - truth) <= profiles[D + i]);
    }
    assert_true(fabs(square - 1) < 1e-12); /* theta* is on the sphere */
    for (uint32_t i = 3 * D; i < RUNS * 3 * D; i++)
        assert_true(isnan(profiles[i])); /* other runs have another truth */
}

/* J of every largest update stays within Eq. (3), worked out here from what it says. */
TEST(rounds_are_shown_beside_equation_3_and_stay_within_it)
{
    for (int variant = TACIT_GLM_FEDGLB; variant <= TACIT_GLM_RANDOM; variant++) {
        struct glm_plan const plan = plan_of((enum tacit_glm_variant)variant);
        double metrics[GLM_METRIC_COUNT * RUNS];
        double regret[POINTS * RUNS];
        play(&plan, 2, metrics, regret);
        for (uint32_t run = 0; run < RUNS; run++) {
            double const rounds = row_of(metrics, GLM_ROUNDS)[run];
            double const bound = row_of(metrics, GLM_ROUNDS_BOUND)[run];
            bool const iterates = variant <= TACIT_GLM_V2;
            assert_true((rounds > 1) == iterates);
            assert_true(rounds <= row_of(metrics, GLM_AGGREGATIONS)[run]);
            assert_true(iterates ? rounds <= bound : bound == 0);
        }
    }
    struct tacit_glm_model const model =
        tacit_glm_model_init(TACIT_GLM_FEDGLB, TACIT_LINALG_LOGISTIC, N, D, T);
    double const n = 700; /* k_mu 1/4, lambda 2, eps 1/n^2, from .3 away */
    double const by_hand = 1 + sqrt(0.25 / 2 * n + 1) * log((0.25 + 4 / n) * 0.3 * 0.3 * n * n / 2);
    assert_true(fabs(tacit_glm_rounds_bound(&model, 700, 0.3) - by_hand) < 1e-9 * by_hand);
}

/* ---- Logs ---- */

#define ROWS 700u /* of N clients, some much more active; the last slot is not full */
#define LOG_T 117u
#define ITEMS 40u

static float log_items[ITEMS * D];
static uint32_t log_agents[ROWS];
static uint32_t log_chosen[ROWS];
static double log_rewards[ROWS];
static uint64_t log_liked[N];
static const uint64_t log_points[POINTS] = {10, 60, LOG_T};

/* Liked is what has a large first coordinate. */
static struct glm_plan log_plan(enum tacit_glm_variant variant, struct tacit_context_log *log)
{
    struct tacit_rng rng = tacit_rng_stream(9, 0, 0, 1);
    struct glm_plan plan = plan_of(variant);
    memset(log_liked, 0, sizeof log_liked);
    for (uint32_t i = 0; i < ITEMS * D; i++)
        log_items[i] = (float)((tacit_rng_uniform(&rng) - 0.5) / sqrt(D));
    for (uint32_t row = 0; row < ROWS; row++) {
        uint32_t const agent = (uint32_t)(N * tacit_rng_uniform(&rng) * tacit_rng_uniform(&rng));
        uint32_t const item = (uint32_t)tacit_rng_below(&rng, ITEMS);
        bool const likes = log_items[item * D] > 0.1F;
        log_agents[row] = agent;
        log_chosen[row] = item;
        log_rewards[row] = likes ? 1 : 0;
        if (likes)
            tacit_bits_add(&log_liked[agent], item);
    }
    *log = (struct tacit_context_log){.agent_count = N,
                                      .dimension = D,
                                      .item_count = ITEMS,
                                      .items = log_items,
                                      .row_count = ROWS,
                                      .agents = log_agents,
                                      .chosen = log_chosen,
                                      .rewards = log_rewards,
                                      .liked = log_liked,
                                      .is_ordered = true};
    plan.log = log;
    plan.sim.horizon = LOG_T;
    plan.sim.points = log_points;
    plan.model.horizon = ROWS;
    if (variant != TACIT_GLM_ONE_UCB)
        plan.model.period = tacit_glm_period(N, LOG_T, 9);
    return plan;
}

/* Every variant: what is lost and what is won is all that could be won; a schedule counts rows,
 * whosever they are. */
TEST(a_log_is_played_row_by_row)
{
    double could = 0;
    for (int variant = 0; variant <= TACIT_GLM_RANDOM; variant++) {
        struct tacit_context_log log;
        struct glm_plan plan = log_plan((enum tacit_glm_variant)variant, &log);
        double metrics[GLM_METRIC_COUNT * RUNS];
        double again[GLM_METRIC_COUNT * RUNS];
        double regret[POINTS * RUNS];
        could = 0;
        for (uint32_t row = 0; row < ROWS; row++)
            could += log_rewards[row];
        play(&plan, 1, metrics, regret);
        plan.path = TACIT_LINALG_PORTABLE;
        play(&plan, 16, again, regret);
        assert_memory_equal(metrics, again, sizeof metrics);
        bool const is_scheduled = variant >= TACIT_GLM_V1 && variant <= TACIT_GLM_V3;
        for (uint32_t run = 0; run < RUNS; run++) {
            assert_true(row_of(metrics, GLM_REWARD)[run] + row_of(metrics, GLM_REGRET)[run] ==
                        could);
            assert_true(fabs(row_of(metrics, GLM_OVER_UNIFORM)[run] * could / plan.arm_count -
                             row_of(metrics, GLM_REWARD)[run]) < 1e-9 * could);
            assert_true(row_of(metrics, GLM_UPDATES)[run] <= tacit_glm_updates_bound(&plan.model));
            if (is_scheduled)
                assert_true(row_of(metrics, GLM_UPDATES)[run] == ROWS / plan.model.period);
            if (variant == TACIT_GLM_ONE_UCB)
                assert_true(row_of(metrics, GLM_UPDATES)[run] == ROWS / N);
        }
    }
}

/* Averages of 8 runs. Rewards of uniform play are binomial with share 1/8 of what could be had: 8
 * runs of them are within a tenth (more than 6 standard errors). Sharing wins more than twice as
 * much. */
TEST(learning_from_a_log_beats_chance)
{
    enum tacit_glm_variant const variants[] = {TACIT_GLM_FEDGLB, TACIT_GLM_RANDOM};
    double mean[2] = {0};
    double could = 0;
    for (uint32_t which = 0; which < 2; which++) {
        struct tacit_context_log log;
        struct glm_plan const plan = log_plan(variants[which], &log);
        mean[which] = mean_of(&plan, GLM_REWARD);
        could = mean[which] + mean_of(&plan, GLM_REGRET);
    }
    assert_true(fabs(mean[1] / could - 1.0 / 8) < 0.1);
    assert_true(mean[0] > 2 * mean[1]);
}

/* Rows without order: all of them, each run in another order. */
TEST(rows_without_order_are_shuffled_anew_in_each_run)
{
    struct tacit_context_log log;
    struct glm_plan plan = log_plan(TACIT_GLM_N_ONS, &log);
    uint64_t first[2];
    log.is_ordered = false;
    for (uint32_t run = 0; run < 2; run++) {
        void *const memory = tacit_sim_new(NULL, 1, 1);
        assert_non_null(memory);
        struct glm_world *const world = glm_world_new(&plan, memory);
        bool seen[ROWS] = {false};
        assert_non_null(world);
        glm_world_set_up(world, run);
        for (uint64_t i = 0; i < ROWS; i++) {
            uint32_t const client = glm_world_client(world, 0, i);
            assert_int_equal(client, log_agents[world->row]);
            assert_false(seen[world->row]);
            seen[world->row] = true;
            first[run] = i == 0 ? world->row : first[run];
        }
        assert_int_equal(glm_world_client(world, 0, ROWS), TACIT_NO_AGENT);
        tacit_sim_delete(memory);
    }
    assert_int_not_equal(first[0], first[1]); /* by chance alike with 1/700; fixed seed */
}

TEST(a_stop_is_heard)
{
    struct glm_plan const plan = plan_of(TACIT_GLM_FEDGLB);
    double metrics[GLM_METRIC_COUNT * RUNS];
    double regret[POINTS * RUNS];
    bool finished[RUNS] = {false};
    struct tacit_sim_results const results = {
        .metrics = metrics, .regret = regret, .finished = finished};
    struct tacit_sim_control control = {.stop = true};
    struct tacit_sim_player const player = {
        .metric_count = GLM_METRIC_COUNT, .run_new = glm_run_new, .run_play = glm_run_play};
    assert_int_equal(tacit_sim_run(&plan.sim, &player, &plan, 1, &results, &control),
                     TACIT_INTERRUPTED);
}
