/* The simulator's machinery: queue, curve, points, runs over threads, stopping. */
#include <math.h>
#include <pthread.h>
#include <time.h>
#include "../support/testing.h"
#include "../support/elim_sim.h"
#include "../../src/sim/queue.h"

/* ---- Queue ---- */

TEST(queue_gives_items_by_time_and_then_by_arrival)
{
    struct sim_queue queue = {0};
    struct sim_item item;
    struct tacit_rng rng = tacit_rng_stream(1, 0, 0, TACIT_PURPOSE_FAULT);
    uint64_t last_time = 0;
    uint64_t last_order = 0;
    for (uint32_t i = 0; i < 5000; i++) {
        item = (struct sim_item){.time_us = tacit_rng_below(&rng, 50), .node = i};
        assert_int_equal(sim_queue_push(&queue, item), TACIT_OK);
    }
    for (uint32_t i = 0; i < 5000; i++) {
        assert_true(sim_queue_pop(&queue, &item));
        assert_true(item.time_us > last_time ||
                    (item.time_us == last_time && (i == 0 || item.order > last_order)));
        last_time = item.time_us;
        last_order = item.order;
    }
    assert_false(sim_queue_pop(&queue, &item));
    sim_queue_free(&queue);
}

/* ---- Curve ---- */

/* Against walking through the slots, the arms in turn. */
TEST(curve_equals_a_walk_through_the_slots)
{
    enum { SLOTS = 120 };
    static const double gaps[] = {0, 0.25, 0.5, 0.75};
    static const struct tacit_pull_block first[] = {{0, 10}, {1, 10}, {2, 10}, {3, 10}};
    static const struct tacit_pull_block second[] = {
        {0, 14}, {2, 13}, {3, 13}}; /* cut: first ones more */
    static const struct tacit_pull_block third[] = {{2, 40}};
    uint64_t points[SLOTS];
    double step[SLOTS] = {0};
    double partial[SLOTS] = {0};
    double regret[SLOTS];
    struct tacit_sim_curve curve = {points, SLOTS, step, partial, 0};
    for (uint64_t slot = 1; slot <= SLOTS; slot++)
        points[slot - 1] = slot;
    tacit_sim_curve_add(&curve, 0, first, 4, gaps);
    tacit_sim_curve_add(&curve, 40, second, 3, gaps);
    tacit_sim_curve_add(&curve, 80, third, 1, gaps);
    tacit_sim_curve_read(&curve, regret);
    double walked = 0;
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        uint32_t const arm = slot < 40 ? slot % 4 : slot < 80 ? second[(slot - 40) % 3].arm : 2;
        walked += gaps[arm];
        assert_true(fabs(regret[slot] - walked) < 1e-12);
    }
    assert_true(fabs(curve.total - walked) < 1e-12);
}

/* ---- Pulls ---- */

/* The curve's plans by three agents, in another order and in other pieces. */
TEST(pulls_come_to_the_curve_in_any_order)
{
    enum { SLOTS = 120 };
    static const double gaps[] = {0, 0.25, 0.5, 0.75};
    static const struct tacit_pull_block first[] = {{0, 10}, {1, 10}, {2, 10}, {3, 10}};
    static const struct tacit_pull_block second[] = {{0, 14}, {2, 13}, {3, 13}};
    static const struct tacit_pull_block waits[] = {{2, 40}};
    uint64_t points[SLOTS];
    double expected[SLOTS];
    double regret[SLOTS];
    struct tacit_sim sim = {.points = points, .point_count = SLOTS, .env = {.arm_count = 4}};
    struct tacit_sim_curve curve;
    struct tacit_sim_pulls pulls;
    for (uint64_t slot = 1; slot <= SLOTS; slot++)
        points[slot - 1] = slot;
    void *const memory = tacit_sim_new(NULL, 1, 1);
    assert_non_null(memory);
    assert_int_equal(tacit_sim_curve_init(&curve, &sim, memory), TACIT_OK);
    assert_int_equal(tacit_sim_pulls_init(&pulls, &sim, memory), TACIT_OK);
    for (uint32_t agent = 0; agent < 3; agent++) {
        tacit_sim_curve_add(&curve, 0, first, 4, gaps);
        tacit_sim_curve_add(&curve, 40, second, 3, gaps);
        tacit_sim_curve_add(&curve, 80, waits, 1, gaps);
    }
    tacit_sim_pulls_wait(&pulls, 80, 2, 1, 3);
    tacit_sim_pulls_wait(&pulls, 81, 2, 39, 3);
    tacit_sim_pulls_add(&pulls, 40, second, 3, 1);
    tacit_sim_pulls_add(&pulls, 0, first, 4, 3);
    tacit_sim_pulls_add(&pulls, 40, second, 3, 2);
    tacit_sim_curve_read(&curve, expected);
    tacit_sim_pulls_read(&pulls, gaps, regret);
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        assert_true(fabs(regret[slot] - expected[slot]) < 1e-12);
    assert_true(fabs(tacit_sim_pulls_total(&pulls, gaps) - curve.total) < 1e-12);
    assert_true(fabs(tacit_sim_pulls_waited(&pulls, gaps) - 3 * 40 * gaps[2]) < 1e-12);
    tacit_sim_pulls_clear(&pulls);
    assert_true(tacit_sim_pulls_total(&pulls, gaps) == 0);
    tacit_sim_delete(memory);
}

/* ---- Meter ---- */

/* A loop in stretches records what a loop that looks at every slot records. */
TEST(meter_equals_a_look_at_every_slot)
{
    static const uint64_t points[] = {1, 2, 7, 1000, 1048577, 3000000, 3000001};
    enum { POINTS = sizeof points / sizeof points[0] };
    struct tacit_sim const sim = {.horizon = 3500000, .points = points, .point_count = POINTS};
    double regret[POINTS] = {0};
    struct tacit_sim_meter meter = tacit_sim_meter_start(&sim, regret);
    double total = 0;
    uint32_t stretches = 0;
    for (uint64_t t = 0; t < sim.horizon; stretches++) {
        uint64_t const end = t + tacit_sim_meter_span(&meter, t);
        assert_true(end > t && end - t <= 1048576);
        for (; t < end; t++)
            total += (double)(t % 3);
        tacit_sim_meter_record(&meter, t, total);
    }
    tacit_sim_meter_end(&meter, total);
    double walked = 0;
    uint32_t next = 0;
    for (uint64_t t = 0; t < sim.horizon; t++) {
        walked += (double)(t % 3);
        if (next < POINTS && points[next] == t + 1)
            assert_true(regret[next++] == walked);
    }
    assert_int_equal(next, POINTS);
    assert_true(stretches < 20);
}

TEST(meter_of_a_run_that_ends_early_stays)
{
    static const uint64_t points[] = {10, 20, 30};
    struct tacit_sim const sim = {.horizon = 30, .points = points, .point_count = 3};
    double regret[3] = {0};
    struct tacit_sim_meter meter = tacit_sim_meter_start(&sim, regret);
    assert_int_equal(tacit_sim_meter_span(&meter, 0), 10);
    tacit_sim_meter_record(&meter, 4, 1);
    assert_int_equal(tacit_sim_meter_span(&meter, 4), 6);
    tacit_sim_meter_record(&meter, 10, 2);
    tacit_sim_meter_end(&meter, 2.5);
    assert_true(regret[0] == 2 && regret[1] == 2.5 && regret[2] == 2.5);
}

TEST(log_points_grow_and_end_at_the_horizon)
{
    static const uint64_t horizons[] = {1, 2, 10, 1000, 1000000, TACIT_HORIZON_MAX};
    uint64_t points[200];
    for (size_t i = 0; i < sizeof horizons / sizeof horizons[0]; i++)
        for (uint32_t wanted = 1; wanted <= 200; wanted += 33) {
            uint32_t const count = tacit_sim_log_points(horizons[i], wanted, points);
            assert_true(count >= 1 && count <= wanted);
            assert_true(points[0] >= 1);
            assert_true(points[count - 1] == horizons[i]);
            for (uint32_t k = 1; k < count; k++)
                assert_true(points[k] > points[k - 1]);
        }
}

/* ---- Runs over threads ---- */

#define RUNS 40u
#define ARMS 6u

struct outcome {
    double metrics[ELIM_METRIC_COUNT * RUNS];
    double regret[RUNS];
    uint32_t eliminated[ARMS * RUNS];
    bool finished[RUNS];
};

static struct elim_sim experiment(uint64_t horizon, const uint64_t *point)
{
    static const double means[ARMS] = {0.9, 0.8, 0.5, 0.4, 0.3, 0.1};
    struct tacit_mechanism_config const config = {TACIT_PRIVACY_SOUND, 1, 0, 1};
    struct elim_sim sim = {.common.seed = 5,
                           .common.run_count = RUNS,
                           .common.agent_count = 7,
                           .report_count = 4,
                           .common.horizon = horizon,
                           .common.points = point,
                           .common.point_count = 1,
                           .common.env = {TACIT_ENV_BERNOULLI, 1, ARMS, means, 0, {0}, NULL, NULL},
                           .common.instance_per_run = true,
                           .epsilon_per_reward = 1,
                           .server_link_cost = 1};
    assert_int_equal(tacit_mechanism_init(&sim.mechanism, &config), TACIT_OK);
    return sim;
}

static enum tacit_status run_on(uint32_t threads, const struct elim_sim *sim,
                                struct outcome *outcome, struct tacit_sim_control *control)
{
    struct tacit_sim_results const results = {.metrics = outcome->metrics,
                                              .regret = outcome->regret,
                                              .eliminated = outcome->eliminated,
                                              .finished = outcome->finished};
    memset(outcome, 0, sizeof *outcome);
    return elim_sim_run(sim, threads, &results, control);
}

TEST(results_do_not_depend_on_the_number_of_threads)
{
    static const uint32_t threads[] = {2, 3, 16, 100};
    uint64_t const horizon = 50000;
    struct elim_sim const sim = experiment(horizon, &horizon);
    struct tacit_sim_control control = {0};
    static struct outcome alone;
    static struct outcome together;
    assert_int_equal(run_on(1, &sim, &alone, &control), TACIT_OK);
    assert_int_equal(atomic_load(&control.finished_count), RUNS);
    for (size_t i = 0; i < sizeof threads / sizeof threads[0]; i++) {
        assert_int_equal(run_on(threads[i], &sim, &together, &control), TACIT_OK);
        assert_memory_equal(&alone, &together, sizeof alone);
    }
    assert_true(alone.regret[0] != alone.regret[1]); /* the runs themselves differ */
}

static void *stop_soon(void *argument)
{
    struct tacit_sim_control *const control = argument;
    struct timespec const pause = {.tv_nsec = 50000000};
    (void)nanosleep(&pause, NULL);
    atomic_store(&control->stop, true);
    return NULL;
}

/* Gaussian rewards in sound mode are drawn one by one: this takes minutes if nobody stops it. */
TEST(a_stop_from_another_thread_ends_the_runs)
{
    uint64_t const horizon = UINT64_C(1) << 25;
    struct elim_sim sim = experiment(horizon, &horizon);
    struct tacit_sim_control control = {0};
    static struct outcome outcome;
    pthread_t thread;
    sim.common.env.kind = TACIT_ENV_GAUSSIAN;
    sim.common.env.sd = 0.1;
    sim.common.agent_count = 4;
    assert_int_equal(pthread_create(&thread, NULL, stop_soon, &control), 0);
    enum tacit_status const status = run_on(2, &sim, &outcome, &control);
    (void)pthread_join(thread, NULL);
    assert_int_equal(status, TACIT_INTERRUPTED);
    for (uint32_t run = 0; run < RUNS; run++)
        assert_true(outcome.finished[run] || outcome.regret[run] == 0);
}

TEST(what_a_core_refuses_is_refused)
{
    uint64_t const horizon = 1000;
    struct elim_sim sim = experiment(horizon, &horizon);
    struct tacit_sim_control control = {0};
    static struct outcome outcome;
    sim.report_count = sim.common.agent_count + 1;
    assert_int_equal(run_on(1, &sim, &outcome, &control), TACIT_INVALID);
}
