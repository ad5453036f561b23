/* Latencies of users: the groups of the paper, and expectations against many draws. */
#include "../support/testing.h"
#include "tacit/latency.h"
#include <math.h>

#define USERS 6u
#define DRAWS 200000u

TEST(two_groups_are_those_of_the_authors)
{
    double center[30];
    tacit_latency_two_groups(center, 30);
    assert_true(fabs(center[0] - 0.06) < 1e-15);
    assert_true(fabs(center[14] - 0.2) < 1e-15);
    assert_true(fabs(center[15] - (0.7 + 0.2 / 15)) < 1e-15);
    assert_true(fabs(center[29] - 0.9) < 1e-15);
    tacit_latency_two_groups(center, 3); /* one fast, two slow */
    assert_true(fabs(center[0] - 0.2) < 1e-15);
    assert_true(fabs(center[1] - 0.8) < 1e-15);
    assert_true(fabs(center[2] - 0.9) < 1e-15);
}

/* 5 sigma of the average of 200,000 draws, 2 numbers of 6 users: false alarm below 1e-5. */
static void expect_expectations(const struct tacit_latency *latency)
{
    struct tacit_rng rng = tacit_rng_stream(3, 0, 0, 1);
    double sums[2][USERS] = {{0}};
    double squares[2][USERS] = {{0}};
    for (uint32_t i = 0; i < DRAWS; i++) {
        double taken[USERS];
        tacit_latency_draw(latency, &rng, taken);
        for (uint32_t k = 0; k < USERS; k++) {
            double const ratio = latency->latency_min / taken[k];
            assert_true(taken[k] >= latency->latency_min);
            sums[0][k] += taken[k];
            squares[0][k] += taken[k] * taken[k];
            sums[1][k] += ratio;
            squares[1][k] += ratio * ratio;
        }
    }
    for (uint32_t k = 0; k < USERS; k++) {
        double expected[2];
        tacit_latency_expect(latency, k, &expected[0], &expected[1]);
        for (int i = 0; i < 2; i++) {
            double const mean = sums[i][k] / DRAWS;
            double const variance = squares[i][k] / DRAWS - mean * mean;
            double const error = sqrt(fmax(variance, 0) / DRAWS);
            assert_true(fabs(mean - expected[i]) <= 5 * error + 1e-9);
        }
    }
}

TEST(normal_expectations_are_those_of_many_draws)
{
    double center[USERS];
    tacit_latency_two_groups(center, USERS);
    struct tacit_latency const latency = {.kind = TACIT_LATENCY_NORMAL,
                                          .user_count = USERS,
                                          .latency_min = 0.05,
                                          .spread = 0.05,
                                          .center = center};
    expect_expectations(&latency);
}

TEST(log_normal_expectations_are_those_of_many_draws)
{
    double center[USERS];
    struct tacit_rng rng = tacit_rng_stream(4, 0, 0, 1);
    tacit_latency_log_normal(center, USERS, 0.1, 0.5, &rng);
    struct tacit_latency const latency = {.kind = TACIT_LATENCY_LOG_NORMAL,
                                          .user_count = USERS,
                                          .latency_min = 0.05,
                                          .spread = 0.4,
                                          .center = center};
    expect_expectations(&latency);
}

TEST(trace_expectations_are_column_averages)
{
    static const double rows[2 * USERS] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.01,
                                           0.3, 0.4, 0.5, 0.6, 0.7, 0.2};
    struct tacit_latency const latency = {.kind = TACIT_LATENCY_TRACE,
                                          .user_count = USERS,
                                          .latency_min = 0.05,
                                          .rows = rows,
                                          .row_count = 2};
    double mean;
    double ratio;
    tacit_latency_expect(&latency, 5, &mean, &ratio);
    assert_true(fabs(mean - 0.125) < 1e-15); /* 0.01 counts as 0.05 */
    assert_true(fabs(ratio - 0.625) < 1e-15);
    expect_expectations(&latency);
}
