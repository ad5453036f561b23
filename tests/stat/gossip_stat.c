/* Mean regret of simulated runs of gossip UCB and of the literal twin, on streams of their own:
 * within 4 standard errors of their difference. False alarms: with so few runs about 5e-4 a
 * comparison; five comparisons, fixed seeds. TACIT_TEST_LONG=1: runs of 1e6 slots, looked at after
 * 1e3, 1e4, 1e5 and 1e6, without noise and in paper mode. On shared tapes both are compared action
 * by action (tests/oracle/gossip_oracle.c). */
#include <math.h>
#include "../support/testing.h"
#include "../../src/families/gossip/plan.h"
#include "../oracle/gossip_twin.h"
#include "../support/effort.h"
#include "../support/gof.h"
#include "../support/network.h"

#define AGENTS 3u
#define ARMS 3u
#define POINTS_MAX 4u
#define RUNS_MAX 24u

static const double means[AGENTS * ARMS] = {0.2, 0.6, 0.5, 0.4, 0.9, 0.1, 0.6, 0.3, 0.6};
static const double gaps[ARMS] = {0.2, 0, 0.2}; /* of the means over agents: .4, .6, .4 */

struct sample {
    double regret[POINTS_MAX][RUNS_MAX];
};

/* ---- The simulator ---- */

static void simulate(struct sample *sample, enum tacit_privacy_mode mode, const uint64_t *points,
                     uint32_t point_count, uint32_t runs)
{
    struct tacit_graph_spec const triangle = {.kind = TACIT_GRAPH_COMPLETE, .agent_count = AGENTS};
    struct network *const network = network_new(&triangle, 1, 1);
    struct tacit_gossip_config const config = {.agent_count = AGENTS,
                                               .arm_count = ARMS,
                                               .horizon = points[point_count - 1],
                                               .mechanism = {mode, 1, 0, 1},
                                               .width = 1};
    struct gossip_plan plan = {
        .common = {.seed = 11,
                   .run_count = runs,
                   .agent_count = AGENTS,
                   .horizon = points[point_count - 1],
                   .points = points,
                   .point_count = point_count,
                   .env = {TACIT_ENV_BERNOULLI, AGENTS, ARMS, means, 0, {0}, NULL, NULL}},
        .graph = &network->graph};
    enum tacit_status status;
    atomic_bool stop = false;
    assert_int_equal(tacit_gossip_rule_init(&plan.rule, &config), TACIT_OK);
    void *const run = gossip_run_new(&plan, &status);
    struct tacit_sim_row *const row = tacit_sim_row_new(&plan.common, GOSSIP_METRIC_COUNT);
    assert_true(run != NULL && row != NULL);
    for (uint32_t i = 0; i < runs; i++) {
        tacit_sim_row_clear(row, &plan.common, GOSSIP_METRIC_COUNT);
        assert_int_equal(gossip_run_play(run, i, row, &stop), TACIT_OK);
        for (uint32_t point = 0; point < point_count; point++)
            sample->regret[point][i] = row->regret[point];
    }
    tacit_sim_delete(run);
    testing_free(row);
    network_free(network);
}

/* ---- The twin ---- */

struct chance {
    struct tacit_rng rng;
    double noise_scale;
};

static double twin_reward(void *context, uint32_t agent, uint32_t arm)
{
    struct chance *const chance = context;
    return tacit_rng_bernoulli(&chance->rng, means[agent * ARMS + arm]) ? 1 : 0;
}

static double twin_noise(void *context, uint32_t agent)
{
    struct chance *const chance = context;
    return tacit_rng_laplace(&chance->rng, chance->noise_scale);
}

static uint64_t twin_below(void *context, uint32_t agent, uint64_t bound)
{
    struct chance *const chance = context;
    return tacit_rng_below(&chance->rng, bound);
}

static void twin_edge(void *context, uint32_t *a, uint32_t *b)
{
    struct chance *const chance = context;
    uint32_t const left_out = (uint32_t)tacit_rng_below(&chance->rng, AGENTS);
    *a = left_out == 0 ? 1 : 0;
    *b = left_out == 2 ? 1 : 2;
}

static void play_twin(struct sample *sample, double epsilon, const uint64_t *points,
                      uint32_t point_count, uint32_t runs)
{
    static const bool adjacent[AGENTS * AGENTS] = {false, true, true, true, false,
                                                   true,  true, true, false};
    struct gossip_twin_config const config = {.agents = AGENTS,
                                              .arms = ARMS,
                                              .horizon = points[point_count - 1],
                                              .epsilon = epsilon,
                                              .adjacent = adjacent};
    for (uint32_t i = 0; i < runs; i++) {
        struct chance chance = {tacit_rng_stream(12, i, 0, TACIT_PURPOSE_REWARD), 0};
        struct gossip_twin_chance const hooks = {&chance, twin_reward, twin_noise, twin_below,
                                                 twin_edge};
        struct gossip_twin twin;
        double regret = 0;
        uint32_t point = 0;
        chance.noise_scale = ceil(log2((double)config.horizon)) / epsilon; /* Lap(1/eps') */
        gossip_twin_init(&twin, &config, &hooks);
        for (uint64_t slot = 1; slot <= config.horizon; slot++) {
            gossip_twin_slot(&twin);
            for (uint32_t agent = 0; agent < AGENTS; agent++)
                regret += gaps[twin.action[agent]];
            if (slot == points[point])
                sample->regret[point++][i] = regret;
        }
        gossip_twin_free(&twin);
    }
}

/* ---- The comparison ---- */

static void compare(const char *name, enum tacit_privacy_mode mode, double epsilon,
                    const uint64_t *points, uint32_t point_count, uint32_t runs)
{
    static struct sample samples[2];
    assert_true(point_count > 0 && point_count <= POINTS_MAX && runs <= RUNS_MAX);
    simulate(&samples[0], mode, points, point_count, runs);
    play_twin(&samples[1], epsilon, points, point_count, runs);
    for (uint32_t point = 0; point < point_count; point++) {
        static const char *const names[] = {"regret"};
        struct gof_spread spreads[2] = {{0}};
        for (uint32_t i = 0; i < 2 * runs; i++)
            gof_add(&spreads[i % 2], samples[i % 2].regret[point][i / 2]);
        double const error = sqrt(gof_error_square(&spreads[0]) + gof_error_square(&spreads[1]));
        assert_int_equal(gof_differences(name, names, 1, &spreads[0], &spreads[1]), 0);
        assert_true(error < 0.15 * gof_mean(&spreads[0])); /* so that it says something */
    }
}

static const uint64_t long_points[POINTS_MAX] = {1000, 10000, 100000, 1000000};

TEST(mean_regret_without_noise_is_that_of_the_twin)
{
    static const uint64_t points[] = {1000, 10000};
    if (effort_is_long())
        compare("no noise", TACIT_PRIVACY_NONE, (double)INFINITY, long_points, POINTS_MAX, 12);
    else
        compare("no noise", TACIT_PRIVACY_NONE, (double)INFINITY, points, 2, RUNS_MAX);
}

TEST(mean_regret_in_paper_mode_is_that_of_the_twin)
{
    static const uint64_t points[] = {500, 2000, 10000};
    if (effort_is_long())
        compare("paper, epsilon 1", TACIT_PRIVACY_PAPER, 1, long_points, POINTS_MAX, RUNS_MAX);
    else
        compare("paper, epsilon 1", TACIT_PRIVACY_PAPER, 1, points, 3, RUNS_MAX);
}
