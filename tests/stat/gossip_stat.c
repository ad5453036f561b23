/* Mean regret of simulated runs of gossip UCB and of the literal twin, on streams of their own:
 * within 4 standard errors of their difference. False alarms: with so few runs about 5e-4 a
 * comparison; four comparisons, fixed seeds. TACIT_TEST_LONG=1: 1e5 slots without noise and 1e4
 * in paper mode, for which the twin needs minutes. On shared tapes both are compared action by
 * action (tests/oracle/gossip_oracle.c). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "../../src/families/gossip/plan.h"
#include "../oracle/gossip_twin.h"
#include "../support/network.h"

#define AGENTS 3u
#define ARMS 3u
#define POINTS 2u
#define RUNS_MAX 24u

static const double means[AGENTS * ARMS] = {0.2, 0.6, 0.5, 0.4, 0.9, 0.1, 0.6, 0.3, 0.6};
static const double gaps[ARMS] = {0.2, 0, 0.2}; /* of the means over agents: .4, .6, .4 */

struct sample {
    double regret[POINTS][RUNS_MAX];
};

/* ---- The simulator ---- */

static void simulate(struct sample *sample, enum tacit_privacy_mode mode, const uint64_t *points,
                     uint32_t runs)
{
    struct tacit_graph_spec const triangle = {.kind = TACIT_GRAPH_COMPLETE, .agent_count = AGENTS};
    struct network *const network = network_new(&triangle, 1, 1);
    struct tacit_gossip_config const config = {.agent_count = AGENTS,
                                               .arm_count = ARMS,
                                               .horizon = points[POINTS - 1],
                                               .mechanism = {mode, 1, 0, 1},
                                               .width = 1};
    struct gossip_plan plan = {
        .common = {.seed = 11,
                   .run_count = runs,
                   .agent_count = AGENTS,
                   .horizon = points[POINTS - 1],
                   .points = points,
                   .point_count = POINTS,
                   .env = {TACIT_ENV_BERNOULLI, AGENTS, ARMS, means, 0, {NULL, NULL, false}}},
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
        for (uint32_t point = 0; point < POINTS; point++)
            sample->regret[point][i] = row->regret[point];
    }
    gossip_run_free(run);
    free(row);
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
    (void)agent;
    return tacit_rng_laplace(&chance->rng, chance->noise_scale);
}

static uint64_t twin_below(void *context, uint32_t agent, uint64_t bound)
{
    struct chance *const chance = context;
    (void)agent;
    return tacit_rng_below(&chance->rng, bound);
}

static void twin_edge(void *context, uint32_t *a, uint32_t *b)
{
    struct chance *const chance = context;
    uint32_t const left_out = (uint32_t)tacit_rng_below(&chance->rng, AGENTS);
    *a = left_out == 0 ? 1 : 0;
    *b = left_out == 2 ? 1 : 2;
}

static void play_twin(struct sample *sample, double epsilon, const uint64_t *points, uint32_t runs)
{
    static const bool adjacent[AGENTS * AGENTS] = {false, true, true, true, false,
                                                   true,  true, true, false};
    struct gossip_twin_config const config = {.agents = AGENTS,
                                              .arms = ARMS,
                                              .horizon = points[POINTS - 1],
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

static void moments(const double *values, uint32_t count, double *mean, double *error_square)
{
    double sum = 0;
    double squares = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += values[i];
    *mean = sum / count;
    for (uint32_t i = 0; i < count; i++)
        squares += (values[i] - *mean) * (values[i] - *mean);
    *error_square = squares / (count - 1) / count;
}

static void compare(const char *name, enum tacit_privacy_mode mode, double epsilon,
                    const uint64_t *points, uint32_t runs)
{
    static struct sample samples[2];
    simulate(&samples[0], mode, points, runs);
    play_twin(&samples[1], epsilon, points, runs);
    for (uint32_t point = 0; point < POINTS; point++) {
        double mean[2];
        double square[2];
        for (int i = 0; i < 2; i++)
            moments(samples[i].regret[point], runs, &mean[i], &square[i]);
        double const error = sqrt(square[0] + square[1]);
        print_message("%s, t = %llu: %.2f, twin %.2f; %.2f standard errors\n", name,
                      (unsigned long long)points[point], mean[0], mean[1],
                      fabs(mean[0] - mean[1]) / error);
        assert_true(fabs(mean[0] - mean[1]) <= 4 * error);
        assert_true(error < 0.15 * mean[0]); /* so that it says something */
    }
}

static uint64_t effort(void)
{
    const char *const wish = getenv("TACIT_TEST_LONG");
    return wish != NULL && strcmp(wish, "1") == 0 ? 10 : 1;
}

static void mean_regret_without_noise_is_that_of_the_twin(void **state)
{
    (void)state;
    uint64_t const points[POINTS] = {1000 * effort(), 10000 * effort()};
    compare("no noise", TACIT_PRIVACY_NONE, (double)INFINITY, points, effort() > 1 ? 8 : RUNS_MAX);
}

static void mean_regret_in_paper_mode_is_that_of_the_twin(void **state)
{
    (void)state;
    bool const is_long = effort() > 1;
    uint64_t const points[POINTS] = {is_long ? 1000 : 500, is_long ? 10000 : 2000};
    compare("paper, epsilon 1", TACIT_PRIVACY_PAPER, 1, points, is_long ? 12 : RUNS_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mean_regret_without_noise_is_that_of_the_twin),
        cmocka_unit_test(mean_regret_in_paper_mode_is_that_of_the_twin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
