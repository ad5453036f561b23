/* The cores of epoch elimination, driven by hand: what they refuse and that a refusal leaves no
 * trace, what late and repeated messages do (nothing), what a restart finds, how an epoch ends when
 * the budget, the entropy or T is at its end, and whole small federations against the oracle
 * tests/oracle/elim_schedule_check.py. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "../support/elim_driver.h"

#define NANO TACIT_NANO

/* Sets of arms or agents. */
static const uint64_t none[] = {0};
static const uint64_t only_0[] = {1};
static const uint64_t only_1[] = {2};
static const uint64_t first_2[] = {3};
static const uint64_t all_3[] = {7};
static const uint64_t beyond_3[] = {8 + 1};

static const double means_3[] = {0.75, 0.25, 0.5};

/* ---- Helpers --------------------------------------------------------------------------------- */

static struct tacit_elim_message order_of(uint32_t epoch, uint64_t pulls, const uint64_t *arms)
{
    return (struct tacit_elim_message){.kind = TACIT_ELIM_ORDER,
                                       .from = TACIT_ELIM_HUB,
                                       .to = TACIT_ELIM_EVERYONE,
                                       .run_id = DRIVER_RUN_ID,
                                       .epoch = epoch,
                                       .pulls = pulls,
                                       .arms = arms};
}

static struct tacit_elim_message hello_of(uint32_t agent, uint32_t epoch)
{
    return (struct tacit_elim_message){.kind = TACIT_ELIM_HELLO,
                                       .from = agent,
                                       .to = TACIT_ELIM_HUB,
                                       .run_id = DRIVER_RUN_ID,
                                       .epoch = epoch};
}

static struct tacit_elim_message report_of(uint32_t agent, uint32_t epoch, uint64_t pulls,
                                           const uint64_t *arms, const union tacit_sum *sums,
                                           uint32_t sum_count)
{
    return (struct tacit_elim_message){.kind = TACIT_ELIM_REPORT,
                                       .from = agent,
                                       .to = TACIT_ELIM_HUB,
                                       .run_id = DRIVER_RUN_ID,
                                       .epoch = epoch,
                                       .pulls = pulls,
                                       .arms = arms,
                                       .sum_count = sum_count,
                                       .sums = sums};
}

static union tacit_sum steps(int64_t value)
{
    return (union tacit_sum){.steps = value};
}

static union tacit_sum real(double value)
{
    return (union tacit_sum){.real = value};
}

static struct driver_setup noisy_setup(void)
{
    struct driver_setup setup = driver_setup_plain(2, 3, 100000);
    setup.epsilon = 1;
    setup.budget_nano = NANO;
    return setup;
}

static void give_order(struct driver_core *agent, uint32_t epoch, uint64_t pulls,
                       const uint64_t *arms)
{
    struct tacit_elim_message const order = order_of(epoch, pulls, arms);
    driver_expect(agent, driver_receive(&order), TACIT_OK);
}

/* Agent 0, started, with the plan of epoch 1 open: S(1) pulls of each of 3 arms. */
static struct driver_core pulling_agent(const struct driver_setup *setup, uint64_t pulls)
{
    struct driver_core agent = driver_agent_open(setup, 0);
    driver_expect(&agent, driver_start(), TACIT_OK);
    give_order(&agent, 1, pulls, all_3);
    assert_int_equal(driver_plan_length(&agent), 3 * pulls);
    return agent;
}

/* Agent 0 after epoch 1: its report was sent. */
static struct driver_core waiting_agent(const struct driver_setup *setup, uint64_t pulls)
{
    struct driver_core agent = pulling_agent(setup, pulls);
    driver_play(&agent, means_3, 0);
    assert_true(agent.update.send);
    return agent;
}

/* Agent 0 whose release of epoch 1 failed once. */
static struct driver_core releasing_agent(const struct driver_setup *setup, uint64_t pulls)
{
    struct driver_core agent = pulling_agent(setup, pulls);
    driver_play(&agent, means_3, 1);
    agent.entropy.fail_from = agent.entropy.fill_count;
    agent.entropy.fail_count = 1;
    driver_expect(&agent, driver_reward(2, 1, steps(TACIT_STEPS / 2)), TACIT_ENTROPY);
    return agent;
}

/* Agent 0 whose budget did not allow the release of epoch 1. */
static struct driver_core halted_agent(uint64_t pulls)
{
    struct driver_setup setup = noisy_setup();
    setup.budget_nano = NANO - 1;
    struct driver_core agent = pulling_agent(&setup, pulls);
    driver_play(&agent, means_3, 1);
    driver_expect(&agent, driver_reward(2, 1, steps(TACIT_STEPS / 2)), TACIT_BUDGET);
    return agent;
}

/* Agent 0 at T. */
static struct driver_core finished_agent(const struct driver_setup *setup)
{
    struct driver_core agent = driver_agent_open(setup, 0);
    driver_expect(&agent, driver_start(), TACIT_OK);
    driver_expect(&agent, driver_exploited(setup->horizon), TACIT_OK);
    assert_true(driver_agent_view(&agent).finished);
    return agent;
}

static void expect_hello(const struct driver_core *agent, uint32_t epoch)
{
    assert_true(agent->update.send);
    assert_int_equal(agent->update.message.kind, TACIT_ELIM_HELLO);
    assert_int_equal(agent->update.message.to, TACIT_ELIM_HUB);
    assert_int_equal(agent->update.message.epoch, epoch);
}

/* ---- Agent: configuration -------------------------------------------------------------------- */

static void agent_init_with_a_parameter_out_of_range_is_refused_and_writes_nothing(void **state)
{
    (void)state;
    struct driver_setup const setup = noisy_setup();
    struct tacit_elim_agent_config const good = driver_agent_config(&setup, 1);
    struct tacit_elim_agent_config bad[9];
    for (size_t i = 0; i < 9; i++)
        bad[i] = good;
    bad[0].arm_count = 0;
    bad[1].arm_count = TACIT_ARMS_MAX + 1;
    bad[2].agent_count = 0;
    bad[3].agent_count = TACIT_AGENTS_MAX + 1;
    bad[4].agent_id = bad[4].agent_count;
    bad[5].horizon = 0;
    bad[6].horizon = TACIT_HORIZON_MAX + 1;
    bad[7].resend_after_us = 0;
    bad[8].agent_id = TACIT_ELIM_HUB;
    for (size_t i = 0; i < 9; i++) {
        uint64_t memory[4] = {1, 2, 3, 4};
        uint64_t const before[4] = {1, 2, 3, 4};
        assert_int_equal(tacit_elim_agent_size(&bad[i]), 0);
        assert_int_equal(tacit_elim_agent_init((struct tacit_elim_agent *)memory, &bad[i]),
                         TACIT_INVALID);
        assert_memory_equal(memory, before, sizeof before);
    }
}

static void agent_with_every_parameter_at_its_limit_is_allowed(void **state)
{
    (void)state;
    struct driver_setup const setup = noisy_setup();
    struct tacit_elim_agent_config config = driver_agent_config(&setup, 0);
    config.arm_count = TACIT_ARMS_MAX;
    config.agent_count = TACIT_AGENTS_MAX;
    config.agent_id = TACIT_AGENTS_MAX - 1;
    config.horizon = TACIT_HORIZON_MAX;
    config.budget_nano = 0;
    config.resend_after_us = 1;
    size_t const words = 7 * TACIT_ARMS_MAX;
    assert_true(tacit_elim_agent_size(&config) >= words * sizeof(uint64_t));
    config.arm_count = config.agent_count = 1;
    config.agent_id = 0;
    config.horizon = 1;
    assert_true(tacit_elim_agent_size(&config) > 0);
}

static void agent_after_init_has_all_arms_and_spent_nothing(void **state)
{
    (void)state;
    struct driver_setup const setup = driver_setup_plain(2, 65, 10);
    struct driver_core agent = driver_agent_open(&setup, 1);
    struct tacit_elim_agent_view const view = driver_agent_view(&agent);
    assert_int_equal(view.active_count, 65);
    assert_int_equal(tacit_bits_count(view.arms, 65), 65);
    assert_int_equal(view.epoch, 0);
    assert_true(view.waiting);
    assert_false(view.finished);
    assert_int_equal(tacit_ledger_spent_nano(view.ledger), 0);
    driver_close(&agent);
}

/* ---- Agent: rewards -------------------------------------------------------------------------- */

static void reward_that_the_plan_did_not_ask_for_is_refused_without_trace(void **state)
{
    (void)state;
    struct driver_setup const setup = noisy_setup();
    struct driver_core agent = pulling_agent(&setup, 10);
    struct tacit_elim_event const bad[] = {
        driver_reward(3, 1, steps(0)),
        driver_reward(UINT32_MAX, 1, steps(0)),
        driver_reward(0, 0, steps(0)),
        driver_reward(0, 11, steps(0)),
        driver_reward(0, UINT64_MAX, steps(0)),
        driver_reward(0, 1, steps(-1)),
        driver_reward(0, 1, steps(INT64_MIN)),
        driver_reward(0, 1, steps(TACIT_STEPS + 1)),
        driver_reward(0, 1, steps(INT64_MAX)),
        driver_reward(0, 10, steps(10 * TACIT_STEPS + 1)),
        driver_reward(2, 10, steps(-INT64_C(1))),
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        driver_expect_nothing(&agent, bad[i], TACIT_INVALID);
    driver_expect(&agent, driver_reward(0, 10, steps(10 * TACIT_STEPS)), TACIT_OK);
    driver_expect(&agent, driver_reward(1, 9, steps(0)), TACIT_OK);
    driver_expect_nothing(&agent, driver_reward(0, 1, steps(0)), TACIT_INVALID);
    driver_expect_nothing(&agent, driver_reward(1, 2, steps(0)), TACIT_INVALID);
    driver_expect_nothing(&agent, driver_reward(3, 1, steps(0)), TACIT_INVALID);
    assert_int_equal(driver_agent_view(&agent).pull_count, 19);
    driver_close(&agent);
}

static void reward_on_reals_is_refused_unless_finite(void **state)
{
    (void)state;
    struct driver_setup setup = noisy_setup();
    setup.mode = TACIT_PRIVACY_PAPER;
    struct driver_core agent = pulling_agent(&setup, 10);
    double const bad[] = {NAN, -NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        driver_expect_nothing(&agent, driver_reward(0, 1, real(bad[i])), TACIT_INVALID);
    driver_expect(&agent, driver_reward(0, 1, real(-1e300)), TACIT_OK);
    driver_expect(&agent, driver_reward(0, 1, real(1e300)), TACIT_OK);
    driver_close(&agent);
}

static void reward_in_each_phase_without_a_plan_is_refused_without_trace(void **state)
{
    (void)state;
    struct driver_setup const setup = noisy_setup();
    struct driver_core agents[] = {
        driver_agent_open(&setup, 0), waiting_agent(&setup, 10),
        releasing_agent(&setup, 10),  halted_agent(10),
        finished_agent(&setup),
    };
    for (size_t i = 0; i < sizeof agents / sizeof agents[0]; i++) {
        driver_expect_nothing(&agents[i], driver_reward(0, 1, steps(0)), TACIT_INVALID);
        driver_close(&agents[i]);
    }
}

static void exploited_in_each_phase_that_does_not_wait_is_refused_without_trace(void **state)
{
    (void)state;
    struct driver_setup const setup = noisy_setup();
    struct driver_core agents[] = {
        pulling_agent(&setup, 10),
        releasing_agent(&setup, 10),
        halted_agent(10),
        finished_agent(&setup),
    };
    for (size_t i = 0; i < sizeof agents / sizeof agents[0]; i++) {
        driver_expect_nothing(&agents[i], driver_exploited(1), TACIT_INVALID);
        driver_close(&agents[i]);
    }
}

static void exploited_while_waiting_counts_to_t_and_enters_no_estimate(void **state)
{
    (void)state;
    struct driver_setup const setup = driver_setup_plain(2, 3, 100);
    struct driver_core agent = waiting_agent(&setup, 10);
    struct tacit_elim_message *const report = driver_keep(&agent);
    driver_expect_nothing(&agent, driver_exploited(0), TACIT_INVALID);
    driver_expect_nothing(&agent, driver_exploited(71), TACIT_INVALID);
    driver_expect_nothing(&agent, driver_exploited(UINT64_MAX), TACIT_INVALID);
    driver_expect(&agent, driver_exploited(69), TACIT_OK);
    assert_true(agent.update.persist);
    assert_int_equal(driver_agent_view(&agent).pull_count, 99);
    agent.now_us += DRIVER_RESEND_US;
    driver_expect(&agent, driver_timeout(), TACIT_OK);
    driver_expect_same(&agent, report, &agent.update.message);
    driver_expect(&agent, driver_exploited(1), TACIT_OK);
    assert_true(driver_agent_view(&agent).finished);
    assert_false(driver_agent_view(&agent).waiting);
    free(report);
    driver_close(&agent);
}

/* ---- Agent: orders --------------------------------------------------------------------------- */

static void refuse_order(struct driver_core *agent, struct tacit_elim_message order,
                         enum tacit_status status)
{
    driver_expect_nothing(agent, driver_receive(&order), status);
}

static void order_not_from_the_hub_or_not_for_this_agent_is_refused_without_trace(void **state)
{
    (void)state;
    struct driver_setup const setup = noisy_setup();
    struct driver_core agent = waiting_agent(&setup, 10);
    struct tacit_elim_message order = order_of(2, 20, first_2);
    uint32_t const strangers[] = {0, 1, 2, TACIT_ELIM_EVERYONE};
    for (size_t i = 0; i < 4; i++) {
        order.from = strangers[i];
        refuse_order(&agent, order, TACIT_STRANGER);
    }
    order = order_of(2, 20, first_2);
    order.run_id++;
    refuse_order(&agent, order, TACIT_STRANGER);
    uint32_t const others[] = {1, 2, TACIT_ELIM_HUB};
    for (size_t i = 0; i < 3; i++) {
        order = order_of(2, 20, first_2);
        order.to = others[i];
        refuse_order(&agent, order, TACIT_STRANGER);
    }
    order.to = 0;
    driver_expect(&agent, driver_receive(&order), TACIT_OK);
    assert_int_equal(driver_agent_view(&agent).epoch, 2);
    driver_close(&agent);
}

static void order_that_makes_no_sense_is_refused_without_trace(void **state)
{
    (void)state;
    struct driver_setup const setup = noisy_setup();
    struct driver_core agent = waiting_agent(&setup, 10);
    give_order(&agent, 2, 20, first_2);
    struct tacit_elim_message last = order_of(3, 20, first_2);
    last.last = true;
    refuse_order(&agent, last, TACIT_MALFORMED);
    refuse_order(&agent, order_of(0, 20, only_0), TACIT_MALFORMED);
    refuse_order(&agent, order_of(TACIT_ELIM_EPOCHS_MAX + 1, 20, only_0), TACIT_MALFORMED);
    refuse_order(&agent, order_of(UINT32_MAX, 20, only_0), TACIT_MALFORMED);
    refuse_order(&agent, order_of(3, 20, NULL), TACIT_MALFORMED);
    refuse_order(&agent, order_of(1, 20, NULL), TACIT_MALFORMED);
    refuse_order(&agent, order_of(3, TACIT_HORIZON_MAX + 1, only_0), TACIT_MALFORMED);
    refuse_order(&agent, order_of(3, UINT64_MAX, only_0), TACIT_MALFORMED);
    refuse_order(&agent, order_of(3, 20, none), TACIT_MALFORMED);
    refuse_order(&agent, order_of(3, 20, all_3), TACIT_MALFORMED); /* arm 2 was eliminated */
    refuse_order(&agent, order_of(3, 20, beyond_3), TACIT_MALFORMED);
    refuse_order(&agent, order_of(3, 19, first_2), TACIT_MALFORMED); /* S falls */
    give_order(&agent, TACIT_ELIM_EPOCHS_MAX, 20, first_2);
    assert_int_equal(driver_agent_view(&agent).epoch, TACIT_ELIM_EPOCHS_MAX);
    driver_close(&agent);
}

static void message_for_hubs_is_refused_by_an_agent_without_trace(void **state)
{
    (void)state;
    struct driver_setup const setup = noisy_setup();
    struct driver_core agent = pulling_agent(&setup, 10);
    union tacit_sum const sums[3] = {{0}};
    struct tacit_elim_message const hello = hello_of(1, 0);
    struct tacit_elim_message const report = report_of(1, 1, 10, all_3, sums, 3);
    struct tacit_elim_message unknown = order_of(2, 20, all_3);
    unknown.kind = (enum tacit_elim_message_kind)17;
    driver_expect_nothing(&agent, driver_receive(&hello), TACIT_UNEXPECTED);
    driver_expect_nothing(&agent, driver_receive(&report), TACIT_UNEXPECTED);
    driver_expect_nothing(&agent, driver_receive(&unknown), TACIT_MALFORMED);
    driver_close(&agent);
}

static void late_or_repeated_order_in_each_phase_changes_nothing(void **state)
{
    (void)state;
    struct driver_setup const setup = noisy_setup();
    struct driver_core agents[] = {
        pulling_agent(&setup, 10),
        waiting_agent(&setup, 10),
        releasing_agent(&setup, 10),
        halted_agent(10),
    };
    for (size_t i = 0; i < sizeof agents / sizeof agents[0]; i++) {
        /* Also one that says something else under the same number. */
        refuse_order(&agents[i], order_of(1, 10, all_3), TACIT_OK);
        refuse_order(&agents[i], order_of(1, 5000, only_1), TACIT_OK);
        refuse_order(&agents[i], order_of(1, 0, none), TACIT_OK);
        driver_close(&agents[i]);
    }
}

static void new_order_to_an_agent_at_its_end_changes_nothing(void **state)
{
    (void)state;
    struct driver_setup const setup = noisy_setup();
    struct tacit_elim_message last = order_of(2, 10, only_1);
    last.last = true;
    struct driver_core agents[] = {
        finished_agent(&setup),
        halted_agent(10),
        waiting_agent(&setup, 10),
    };
    driver_expect(&agents[2], driver_receive(&last), TACIT_OK);
    for (size_t i = 0; i < sizeof agents / sizeof agents[0]; i++) {
        refuse_order(&agents[i], order_of(3, 10, only_1), TACIT_OK);
        driver_close(&agents[i]);
    }
}

static void order_while_the_release_is_not_drawn_is_refused_without_trace(void **state)
{
    (void)state;
    struct driver_setup const setup = noisy_setup();
    struct driver_core agent = releasing_agent(&setup, 10);
    refuse_order(&agent, order_of(2, 20, first_2), TACIT_UNEXPECTED);
    agent.now_us += DRIVER_RESEND_US;
    driver_expect(&agent, driver_timeout(), TACIT_OK);
    give_order(&agent, 2, 20, first_2);
    assert_int_equal(driver_plan_length(&agent), 20);
    driver_close(&agent);
}

/* ---- Agent: plans ---------------------------------------------------------------------------- */

static void order_of_a_later_epoch_lets_an_absent_agent_catch_up_to_s(void **state)
{
    (void)state;
    struct driver_setup const setup = noisy_setup();
    struct driver_core agent = driver_agent_open(&setup, 0);
    driver_expect(&agent, driver_start(), TACIT_OK);
    give_order(&agent, 2, 25, first_2);
    assert_int_equal(agent.update.plan_count, 2);
    for (uint32_t arm = 0; arm < 2; arm++) {
        assert_int_equal(agent.update.plan[arm].arm, arm);
        assert_int_equal(agent.update.plan[arm].count, 25);
    }
    driver_play(&agent, means_3, 0);
    struct tacit_elim_message const *const report = &agent.update.message;
    assert_int_equal(report->kind, TACIT_ELIM_REPORT);
    assert_int_equal(report->epoch, 2);
    assert_int_equal(report->pulls, 25);
    assert_int_equal(report->sum_count, 2);
    assert_int_equal(driver_agent_view(&agent).ledger->release_count, 1);
    driver_close(&agent);
}

static void order_in_the_middle_of_a_plan_asks_for_the_rest_up_to_the_new_s(void **state)
{
    (void)state;
    struct driver_setup const setup = driver_setup_plain(2, 3, 100000);
    struct driver_core agent = pulling_agent(&setup, 10);
    driver_play(&agent, means_3, 17); /* arm 0: 10 of 10, arm 1: 3 of 10, arm 2: none */
    give_order(&agent, 2, 25, first_2);
    assert_int_equal(agent.update.plan_count, 2);
    assert_int_equal(agent.update.plan[0].count, 15);
    assert_int_equal(agent.update.plan[1].count, 22);
    driver_expect_nothing(&agent, driver_reward(2, 1, steps(0)), TACIT_INVALID);
    driver_expect(&agent, driver_start(), TACIT_OK); /* the plan again */
    driver_play(&agent, means_3, 0);
    assert_int_equal(agent.update.message.sum_count, 2);
    /* One release covers both epochs' rewards, each once. */
    assert_true(agent.update.message.sums[0].steps == 25 * TACIT_STEPS / 4 * 3);
    assert_true(agent.update.message.sums[1].steps == 25 * TACIT_STEPS / 4);
    driver_close(&agent);
}

static void plan_longer_than_t_is_cut_round_robin_by_index_and_releases_nothing(void **state)
{
    (void)state;
    for (uint64_t horizon = 1; horizon <= 29; horizon++) {
        struct driver_setup setup = noisy_setup();
        setup.horizon = horizon;
        struct driver_core agent = driver_agent_open(&setup, 0);
        driver_expect(&agent, driver_start(), TACIT_OK);
        give_order(&agent, 1, 10, all_3);
        uint64_t turns[3] = {0};
        for (uint64_t slot = 0; slot < horizon; slot++)
            turns[slot % 3]++;
        for (uint32_t i = 0; i < agent.update.plan_count; i++)
            assert_int_equal(agent.update.plan[i].count, turns[agent.update.plan[i].arm]);
        assert_int_equal(driver_plan_length(&agent), horizon);
        driver_play(&agent, means_3, 0);
        assert_false(agent.update.send);
        assert_true(driver_agent_view(&agent).finished);
        assert_int_equal(driver_agent_view(&agent).release_epoch, 0);
        assert_int_equal(tacit_ledger_spent_nano(driver_agent_view(&agent).ledger), 0);
        driver_close(&agent);
    }
}

static void plan_cut_at_t_gives_no_arm_more_than_it_still_needs(void **state)
{
    (void)state;
    struct driver_setup const setup = driver_setup_plain(2, 3, 60);
    struct driver_core agent = pulling_agent(&setup, 10);
    driver_play(&agent, means_3, 10); /* arms 0 and 1: 10 each, arm 2: none; 40 slots are left */
    give_order(&agent, 2, 22, all_3); /* needs 12 + 12 + 22 = 46 */
    assert_int_equal(driver_plan_length(&agent), 40);
    assert_int_equal(agent.update.plan[0].count, 12);
    assert_int_equal(agent.update.plan[1].count, 12);
    assert_int_equal(agent.update.plan[2].count, 16);
    driver_close(&agent);
}

static void need_beyond_any_horizon_is_cut_at_the_longest_horizon(void **state)
{
    (void)state;
    struct driver_setup const setup = driver_setup_plain(2, 3, TACIT_HORIZON_MAX);
    struct driver_core agent = driver_agent_open(&setup, 0);
    driver_expect(&agent, driver_start(), TACIT_OK);
    give_order(&agent, 1, TACIT_HORIZON_MAX, all_3);
    assert_int_equal(driver_plan_length(&agent), TACIT_HORIZON_MAX);
    assert_int_equal(agent.update.plan_count, 3);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(agent.update.plan[i].count,
                         TACIT_HORIZON_MAX / 3 + (i < TACIT_HORIZON_MAX % 3 ? 1 : 0));
    driver_play(&agent, means_3, 0);
    assert_true(driver_agent_view(&agent).finished);
    assert_false(agent.update.send);
    driver_close(&agent);
}

static void epoch_that_ends_exactly_at_t_is_released_and_reported(void **state)
{
    (void)state;
    struct driver_setup setup = noisy_setup();
    setup.horizon = 30;
    struct driver_core agent = waiting_agent(&setup, 10);
    assert_int_equal(agent.update.message.kind, TACIT_ELIM_REPORT);
    assert_true(driver_agent_view(&agent).finished);
    assert_int_equal(driver_agent_view(&agent).release_epoch, 1);
    assert_int_equal(agent.update.deadline_us, TACIT_NEVER);
    driver_close(&agent);
}

static void last_order_plays_its_arm_until_t_and_says_no_more(void **state)
{
    (void)state;
    struct driver_setup const setup = noisy_setup();
    struct driver_core agent = waiting_agent(&setup, 10);
    struct tacit_elim_message last = order_of(2, 10, only_1);
    last.last = true;
    driver_expect(&agent, driver_receive(&last), TACIT_OK);
    assert_false(agent.update.send);
    assert_int_equal(agent.update.plan_count, 1);
    assert_int_equal(agent.update.plan[0].arm, 1);
    assert_int_equal(agent.update.plan[0].count, setup.horizon - 30);
    assert_true(driver_agent_view(&agent).last);
    driver_play(&agent, means_3, 0);
    assert_false(agent.update.send);
    assert_true(driver_agent_view(&agent).finished);
    assert_int_equal(driver_agent_view(&agent).ledger->release_count, 1);
    driver_close(&agent);
}

static void one_arm_needs_no_message(void **state)
{
    (void)state;
    struct driver_setup const setup = driver_setup_plain(2, 1, 50);
    double const means[] = {0.5};
    struct driver_core agent = driver_agent_open(&setup, 1);
    struct driver_core hub = driver_hub_open(&setup);
    driver_expect(&hub, driver_start(), TACIT_OK);
    assert_false(hub.update.send);
    assert_true(driver_hub_view(&hub).finished);
    driver_expect(&agent, driver_start(), TACIT_OK);
    assert_false(agent.update.send);
    assert_true(agent.update.persist);
    assert_int_equal(driver_plan_length(&agent), 50);
    driver_move(&agent);
    driver_expect(&agent, driver_start(), TACIT_OK);
    assert_int_equal(driver_plan_length(&agent), 50);
    driver_play(&agent, means, 0);
    assert_false(agent.update.send);
    assert_true(driver_agent_view(&agent).finished);
    assert_int_equal(agent.entropy.fill_count, 0);
    driver_close(&agent);
    driver_close(&hub);
}

/* ---- Agent: reports -------------------------------------------------------------------------- */

static void report_carries_the_history_of_the_active_arms_in_index_order(void **state)
{
    (void)state;
    struct driver_setup const setup = driver_setup_plain(2, 3, 100000);
    uint64_t const arms[] = {5};
    struct driver_core agent = waiting_agent(&setup, 10);
    give_order(&agent, 2, 30, arms);
    driver_play(&agent, means_3, 0);
    struct tacit_elim_message const *const report = &agent.update.message;
    assert_true(agent.update.persist);
    assert_int_equal(report->from, 0);
    assert_int_equal(report->run_id, DRIVER_RUN_ID);
    assert_int_equal(report->arms[0], 5);
    assert_int_equal(report->sum_count, 2);
    assert_true(report->sums[0].steps == 30 * TACIT_STEPS / 4 * 3); /* arm 0, both epochs */
    assert_true(report->sums[1].steps == 30 * TACIT_STEPS / 2);     /* arm 2 */
    assert_true(driver_agent_view(&agent).noised[1].steps == 10 * TACIT_STEPS / 4);
    driver_close(&agent);
}

static void agent_that_is_not_asked_releases_but_says_hello_instead_of_a_report(void **state)
{
    (void)state;
    struct driver_setup const setup = noisy_setup();
    struct driver_core agent = driver_agent_open(&setup, 0);
    struct tacit_elim_message order = order_of(1, 10, all_3);
    order.uploaders = only_1; /* agent 1 */
    driver_expect(&agent, driver_start(), TACIT_OK);
    driver_expect(&agent, driver_receive(&order), TACIT_OK);
    driver_play(&agent, means_3, 0);
    assert_false(agent.update.send);
    assert_int_equal(driver_agent_view(&agent).release_epoch, 1);
    assert_int_equal(agent.update.deadline_us, agent.now_us + DRIVER_RESEND_US);
    agent.now_us += DRIVER_RESEND_US;
    driver_expect(&agent, driver_timeout(), TACIT_OK);
    expect_hello(&agent, 1);
    driver_close(&agent);
}

static void waiting_agent_repeats_itself_at_each_deadline_and_not_before(void **state)
{
    (void)state;
    struct driver_setup const setup = noisy_setup();
    struct driver_core agent = waiting_agent(&setup, 10);
    struct tacit_elim_message *const report = driver_keep(&agent);
    uint64_t const fills = agent.entropy.fill_count;
    for (uint32_t i = 0; i < 3; i++) {
        uint64_t const deadline_us = agent.update.deadline_us;
        assert_int_equal(deadline_us, agent.now_us + DRIVER_RESEND_US);
        agent.now_us = deadline_us - 1;
        driver_expect(&agent, driver_timeout(), TACIT_OK);
        assert_false(agent.update.send);
        assert_int_equal(agent.update.deadline_us, deadline_us);
        agent.now_us = deadline_us;
        driver_expect(&agent, driver_timeout(), TACIT_OK);
        assert_true(agent.update.send);
        assert_false(agent.update.persist);
        driver_expect_same(&agent, report, &agent.update.message);
    }
    assert_int_equal(agent.entropy.fill_count, fills);
    free(report);
    driver_close(&agent);
}

static void exploit_arm_is_the_best_noised_history_with_the_lowest_index_on_ties(void **state)
{
    (void)state;
    struct driver_setup const setup = driver_setup_plain(2, 3, 100000);
    double const tied[] = {0.25, 0.5, 0.5};
    struct driver_core agent = pulling_agent(&setup, 10);
    assert_int_equal(driver_agent_view(&agent).exploit_arm, 0); /* nothing is known yet */
    driver_play(&agent, tied, 0);
    assert_int_equal(driver_agent_view(&agent).exploit_arm, 1);
    uint64_t const without_1[] = {5};
    give_order(&agent, 2, 20, without_1);
    assert_int_equal(driver_agent_view(&agent).exploit_arm, 2);
    driver_close(&agent);
}

static void exploit_arm_on_reals_compares_reals(void **state)
{
    (void)state;
    struct driver_setup setup = driver_setup_plain(2, 3, 100000);
    setup.mode = TACIT_PRIVACY_NONE;
    double const means[] = {-1.0, -0.5, -0.5}; /* as integers, -1.0 is larger than -0.5 */
    struct driver_core agent = pulling_agent(&setup, 8);
    driver_play(&agent, means, 0);
    assert_int_equal(driver_agent_view(&agent).exploit_arm, 1);
    driver_close(&agent);
}

/* No honest hub says so; an agent must neither release again nor stop asking. */
static void order_that_asks_for_no_pulls_is_answered_at_once_without_a_release(void **state)
{
    (void)state;
    struct driver_setup const setup = noisy_setup();
    struct driver_core idle = driver_agent_open(&setup, 0);
    driver_expect(&idle, driver_start(), TACIT_OK);
    give_order(&idle, 1, 0, all_3);
    expect_hello(&idle, 1);
    assert_true(driver_agent_view(&idle).waiting);
    struct driver_core pulling = pulling_agent(&setup, 10);
    driver_play(&pulling, means_3, 20); /* arm 0 has its 10 */
    give_order(&pulling, 2, 10, only_0);
    expect_hello(&pulling, 2);
    assert_true(driver_agent_view(&pulling).waiting);
    struct driver_core waiting = waiting_agent(&setup, 10);
    union tacit_sum const before = driver_agent_view(&waiting).noised[0];
    give_order(&waiting, 2, 10, only_0);
    assert_int_equal(waiting.update.message.kind, TACIT_ELIM_REPORT);
    assert_int_equal(waiting.update.message.epoch, 2);
    assert_int_equal(waiting.update.message.sums[0].steps, before.steps);
    assert_int_equal(driver_agent_view(&waiting).ledger->release_count, 1);
    driver_close(&idle);
    driver_close(&pulling);
    driver_close(&waiting);
}

/* ---- Agent: budget and entropy --------------------------------------------------------------- */

static void budget_smaller_than_the_cost_halts_the_agent_for_good_without_sending(void **state)
{
    (void)state;
    struct driver_core agent = halted_agent(10);
    assert_false(agent.update.send);
    assert_true(agent.update.persist);
    assert_int_equal(agent.update.deadline_us, TACIT_NEVER);
    assert_true(driver_agent_view(&agent).halted);
    assert_int_equal(driver_agent_view(&agent).release_epoch, 0);
    assert_int_equal(tacit_ledger_spent_nano(driver_agent_view(&agent).ledger), 0);
    assert_int_equal(agent.entropy.fill_count, 0); /* the ledger is asked before any draw */
    agent.now_us += 100 * DRIVER_RESEND_US;
    driver_expect(&agent, driver_timeout(), TACIT_OK);
    assert_false(agent.update.send);
    refuse_order(&agent, order_of(2, 20, first_2), TACIT_OK);
    driver_move(&agent);
    driver_expect(&agent, driver_start(), TACIT_OK);
    assert_false(agent.update.send);
    assert_int_equal(agent.update.plan_count, 0);
    driver_close(&agent);
}

static void budget_equal_to_the_cost_lasts_for_every_epoch(void **state)
{
    (void)state;
    struct driver_setup const setup = noisy_setup(); /* cost NANO, budget NANO */
    struct driver_core agent = waiting_agent(&setup, 10);
    for (uint32_t epoch = 2; epoch <= 6; epoch++) {
        give_order(&agent, epoch, 10 * epoch, all_3);
        driver_play(&agent, means_3, 0);
        assert_true(agent.update.send);
        struct tacit_elim_agent_view const view = driver_agent_view(&agent);
        assert_int_equal(view.ledger->release_count, epoch);
        assert_int_equal(tacit_ledger_spent_nano(view.ledger), NANO);
    }
    driver_close(&agent);
}

static void expect_undrawn(const struct driver_core *agent)
{
    struct tacit_elim_agent_view const view = driver_agent_view(agent);
    assert_false(agent->update.send);
    assert_true(view.halted);
    assert_int_equal(view.release_epoch, 0);
    assert_int_equal(view.ledger->release_count, 0);
    assert_int_equal(tacit_ledger_spent_nano(view.ledger), 0);
    for (uint32_t arm = 0; arm < 3; arm++)
        assert_int_equal(view.noised[arm].steps, 0);
}

/* Result: did fill number `fill` of the release fail? */
static bool release_fails_at(uint64_t fill)
{
    struct driver_setup const setup = noisy_setup();
    struct driver_core agent = pulling_agent(&setup, 10);
    struct tacit_elim_event const last = driver_reward(2, 1, steps(TACIT_STEPS / 2));
    driver_play(&agent, means_3, 1);
    assert_int_equal(agent.entropy.fill_count, 0);
    agent.entropy.fail_from = fill;
    agent.entropy.fail_count = 1;
    enum tacit_status const status = driver_step(&agent, last);
    bool const failed = status == TACIT_ENTROPY;
    assert_true(agent.update.persist); /* the reward is in, whatever became of the release */
    if (failed) {
        expect_undrawn(&agent);
        assert_int_equal(agent.update.deadline_us, agent.now_us + DRIVER_RESEND_US);
        driver_expect_nothing(&agent, last, TACIT_INVALID); /* not twice */
        agent.now_us += DRIVER_RESEND_US - 1;
        driver_expect(&agent, driver_timeout(), TACIT_OK);
        expect_undrawn(&agent);
        agent.now_us += 1;
        driver_expect(&agent, driver_timeout(), TACIT_OK);
        assert_true(agent.update.persist);
    } else {
        assert_int_equal(status, TACIT_OK);
    }
    assert_int_equal(agent.update.message.kind, TACIT_ELIM_REPORT);
    assert_int_equal(driver_agent_view(&agent).ledger->release_count, 1);
    assert_int_equal(tacit_ledger_spent_nano(driver_agent_view(&agent).ledger), NANO);
    struct tacit_elim_message *const report = driver_keep(&agent);
    uint64_t const fills = agent.entropy.fill_count;
    agent.now_us += DRIVER_RESEND_US;
    driver_expect(&agent, driver_timeout(), TACIT_OK);
    driver_expect_same(&agent, report, &agent.update.message);
    assert_int_equal(agent.entropy.fill_count, fills); /* drawn once */
    free(report);
    driver_close(&agent);
    return failed;
}

static void entropy_that_fails_at_any_fill_delays_the_release_and_it_is_drawn_once(void **state)
{
    (void)state;
    uint64_t fill = 0;
    while (release_fails_at(fill))
        fill++;
    assert_in_range(fill, 3 * 4, 1000); /* 3 arms, at least 4 draws each */
}

static void entropy_that_fails_again_and_again_is_asked_at_each_deadline(void **state)
{
    (void)state;
    struct driver_setup const setup = noisy_setup();
    struct driver_core agent = releasing_agent(&setup, 10);
    agent.entropy.fail_count = 5;
    for (uint32_t i = 0; i < 4; i++) {
        agent.now_us += DRIVER_RESEND_US;
        driver_expect(&agent, driver_timeout(), TACIT_ENTROPY);
        expect_undrawn(&agent);
        assert_int_equal(agent.update.deadline_us, agent.now_us + DRIVER_RESEND_US);
        driver_move(&agent); /* a crash in between tries no sooner */
        driver_expect(&agent, driver_start(), TACIT_OK);
        expect_undrawn(&agent);
    }
    agent.now_us += DRIVER_RESEND_US;
    driver_expect(&agent, driver_timeout(), TACIT_OK);
    assert_true(agent.update.send);
    driver_close(&agent);
}

static void without_noise_no_entropy_is_asked_for(void **state)
{
    (void)state;
    struct driver_setup const setup = driver_setup_plain(2, 3, 100000);
    struct driver_core agent = pulling_agent(&setup, 10);
    agent.entropy.fail_count = UINT64_MAX;
    driver_play(&agent, means_3, 0);
    assert_true(agent.update.send);
    assert_int_equal(agent.entropy.fill_count, 0);
    driver_close(&agent);
}

/* ---- Agent: restarts ------------------------------------------------------------------------- */

/* What START finds in each phase is a matter of the persisted bytes alone, and of a new clock. */
static void restart(struct driver_core *core)
{
    driver_move(core);
    core->now_us = 3;
    driver_expect(core, driver_start(), TACIT_OK);
}

static void restart_before_any_order_waits_and_then_says_hello(void **state)
{
    (void)state;
    struct driver_setup const setup = noisy_setup();
    struct driver_core agent = driver_agent_open(&setup, 0);
    agent.now_us = 5000;
    driver_expect(&agent, driver_start(), TACIT_OK);
    restart(&agent);
    assert_false(agent.update.send);
    assert_int_equal(agent.update.deadline_us, 3 + DRIVER_RESEND_US);
    agent.now_us = agent.update.deadline_us;
    driver_expect(&agent, driver_timeout(), TACIT_OK);
    expect_hello(&agent, 0);
    driver_close(&agent);
}

static void restart_in_the_middle_of_a_plan_finds_what_is_left_of_it(void **state)
{
    (void)state;
    struct driver_setup const setup = driver_setup_plain(2, 3, 100000);
    struct driver_core agent = pulling_agent(&setup, 10);
    driver_play(&agent, means_3, 13); /* arm 0: 10, arm 1: 7 */
    restart(&agent);
    assert_false(agent.update.send);
    assert_false(agent.update.persist);
    assert_int_equal(agent.update.plan_count, 2);
    assert_int_equal(agent.update.plan[0].arm, 1);
    assert_int_equal(agent.update.plan[0].count, 3);
    assert_int_equal(agent.update.plan[1].arm, 2);
    assert_int_equal(agent.update.plan[1].count, 10);
    driver_play(&agent, means_3, 0);
    assert_true(agent.update.message.sums[1].steps == 10 * TACIT_STEPS / 4);
    driver_close(&agent);
}

static void restart_with_an_undrawn_release_sends_nothing_until_it_is_drawn(void **state)
{
    (void)state;
    struct driver_setup const setup = noisy_setup();
    struct driver_core agent = releasing_agent(&setup, 10);
    restart(&agent);
    expect_undrawn(&agent);
    agent.now_us = agent.update.deadline_us;
    driver_expect(&agent, driver_timeout(), TACIT_OK);
    assert_int_equal(agent.update.message.kind, TACIT_ELIM_REPORT);
    driver_close(&agent);
}

static void restart_after_a_report_sends_the_identical_report(void **state)
{
    (void)state;
    struct driver_setup setup = noisy_setup();
    uint64_t const horizons[] = {100000, 30}; /* with 30, the epoch ends exactly at T */
    for (size_t i = 0; i < 2; i++) {
        setup.horizon = horizons[i];
        struct driver_core agent = waiting_agent(&setup, 10);
        struct tacit_elim_message *const report = driver_keep(&agent);
        uint64_t const fills = agent.entropy.fill_count;
        restart(&agent);
        assert_true(agent.update.send);
        driver_expect_same(&agent, report, &agent.update.message);
        assert_int_equal(agent.entropy.fill_count, fills);
        assert_int_equal(driver_agent_view(&agent).ledger->release_count, 1);
        free(report);
        driver_close(&agent);
    }
}

static void restart_of_a_waiting_agent_that_was_not_asked_says_hello(void **state)
{
    (void)state;
    struct driver_setup const setup = noisy_setup();
    struct driver_core agent = driver_agent_open(&setup, 0);
    struct tacit_elim_message order = order_of(1, 10, all_3);
    order.uploaders = only_1;
    driver_expect(&agent, driver_start(), TACIT_OK);
    driver_expect(&agent, driver_receive(&order), TACIT_OK);
    driver_play(&agent, means_3, 0);
    restart(&agent);
    expect_hello(&agent, 1);
    driver_close(&agent);
}

static void restart_at_t_after_a_cut_epoch_or_the_last_arm_asks_for_nothing(void **state)
{
    (void)state;
    struct driver_setup const setup = driver_setup_plain(2, 3, 35);
    struct tacit_elim_message last = order_of(2, 10, only_1);
    last.last = true;
    for (uint32_t i = 0; i < 2; i++) {
        struct driver_core agent = waiting_agent(&setup, 10);
        if (i == 0)
            driver_expect(&agent, driver_receive(&last), TACIT_OK);
        else
            give_order(&agent, 2, 20, all_3);
        driver_play(&agent, means_3, 0);
        assert_true(driver_agent_view(&agent).finished);
        restart(&agent);
        assert_false(agent.update.send);
        assert_int_equal(agent.update.plan_count, 0);
        assert_int_equal(agent.update.deadline_us, TACIT_NEVER);
        driver_close(&agent);
    }
}

/* ---- Relocation ------------------------------------------------------------------------------ */

/* Steps two agents alike; the second moves to other memory before every step. */
static void step_both(struct driver_core *still, struct driver_core *mover,
                      struct tacit_elim_event event)
{
    driver_move(mover);
    enum tacit_status const status = driver_step(still, event);
    driver_expect(mover, event, status);
    assert_memory_equal(still->state, mover->state, still->size);
    assert_int_equal(still->update.send, mover->update.send);
    assert_int_equal(still->update.persist, mover->update.persist);
    assert_int_equal(still->update.deadline_us, mover->update.deadline_us);
    assert_int_equal(still->update.plan_count, mover->update.plan_count);
    if (still->update.plan_count > 0)
        assert_memory_equal(still->update.plan, mover->update.plan,
                            still->update.plan_count * sizeof *still->update.plan);
    if (still->update.send)
        driver_expect_same(still, &still->update.message, &mover->update.message);
}

static void agent_that_moves_before_every_step_continues_identically(void **state)
{
    (void)state;
    struct driver_setup const setup = noisy_setup();
    struct driver_core still = driver_agent_open(&setup, 0);
    struct driver_core mover = driver_copy(&still);
    step_both(&still, &mover, driver_start());
    for (uint32_t epoch = 1; epoch <= 4; epoch++) {
        struct tacit_elim_message const order =
            order_of(epoch, 4 * epoch, epoch <= 2 ? all_3 : first_2);
        step_both(&still, &mover, driver_receive(&order));
        for (uint32_t arm = 0; arm < (epoch <= 2 ? 3 : 2); arm++)
            for (uint32_t pull = 0; pull < 4; pull++)
                step_both(&still, &mover, driver_reward(arm, 1, steps(arm * 1000 + pull)));
        still.now_us += DRIVER_RESEND_US;
        mover.now_us += DRIVER_RESEND_US;
        step_both(&still, &mover, driver_timeout());
        step_both(&still, &mover, driver_exploited(epoch));
    }
    assert_int_equal(driver_agent_view(&mover).release_epoch, 4);
    driver_close(&still);
    driver_close(&mover);
}

static void hub_that_moves_before_every_step_continues_identically(void **state)
{
    (void)state;
    struct driver_setup setup = driver_setup_plain(5, 3, 2000);
    setup.report_count = 2;
    struct driver_core still = driver_hub_open(&setup);
    struct driver_core mover = driver_copy(&still);
    step_both(&still, &mover, driver_start());
    for (uint32_t epoch = 1; epoch <= 3; epoch++) {
        struct tacit_elim_hub_view const view = driver_hub_view(&still);
        union tacit_sum const sums[3] = {{.steps = 5000}, {.steps = 4000}, {.steps = 3000}};
        assert_int_equal(view.epoch, epoch);
        for (uint32_t agent = 0; agent < 5; agent++) {
            struct tacit_elim_message const hello = hello_of(agent, epoch - 1);
            struct tacit_elim_message const report =
                report_of(agent, epoch, view.pulls, all_3, sums, 3);
            step_both(&still, &mover, driver_receive(&hello));
            step_both(&still, &mover, driver_receive(&report));
        }
    }
    assert_int_equal(driver_hub_view(&mover).round_count, 3);
    driver_close(&still);
    driver_close(&mover);
}

/* Two inits from configurations that differ in the bytes between their members. */
static void state_is_a_function_of_the_values_of_its_configuration_alone(void **state)
{
    (void)state;
    struct driver_setup const setup = noisy_setup();
    struct tacit_elim_agent_config agent;
    struct tacit_elim_hub_config hub;
    struct driver_core agents[2];
    struct driver_core hubs[2];
    for (uint32_t i = 0; i < 2; i++) {
        agents[i] = driver_agent_open(&setup, 1);
        hubs[i] = driver_hub_open(&setup);
        memset(&agent, i == 0 ? 0x00 : 0xff, sizeof agent);
        memset(&hub, i == 0 ? 0x00 : 0xff, sizeof hub);
        agent.run_id = hub.run_id = DRIVER_RUN_ID;
        agent.agent_id = 1;
        agent.agent_count = hub.agent_count = hub.schedule.report_count = 2;
        agent.arm_count = hub.schedule.arm_count = 3;
        agent.horizon = hub.schedule.horizon = 1000;
        agent.budget_nano = agent.resend_after_us = 1;
        hub.schedule.epsilon_per_reward = hub.schedule.gap = 1;
        hub.schedule.round_limit = 1;
        struct tacit_mechanism const mechanism = driver_mechanism(&setup);
        tacit_mechanism_copy(&agent.mechanism, &mechanism);
        tacit_mechanism_copy(&hub.mechanism, &mechanism);
        assert_int_equal(tacit_elim_agent_init(agents[i].state, &agent), TACIT_OK);
        assert_int_equal(tacit_elim_hub_init(hubs[i].state, &hub), TACIT_OK);
    }
    assert_memory_equal(agents[0].state, agents[1].state, agents[0].size);
    assert_memory_equal(hubs[0].state, hubs[1].state, hubs[0].size);
    for (uint32_t i = 0; i < 2; i++) {
        driver_close(&agents[i]);
        driver_close(&hubs[i]);
    }
}

/* ---- Hub: configuration ---------------------------------------------------------------------- */

static void hub_init_with_a_parameter_out_of_range_is_refused_and_writes_nothing(void **state)
{
    (void)state;
    struct driver_setup const setup = noisy_setup();
    struct tacit_elim_hub_config const good = driver_hub_config(&setup);
    struct tacit_elim_hub_config bad[16];
    for (size_t i = 0; i < 16; i++)
        bad[i] = good;
    bad[0].schedule.arm_count = 0;
    bad[1].schedule.arm_count = TACIT_ARMS_MAX + 1;
    bad[2].agent_count = 0;
    bad[3].agent_count = TACIT_AGENTS_MAX + 1;
    bad[4].schedule.report_count = 0;
    bad[5].schedule.report_count = good.agent_count + 1;
    bad[6].schedule.horizon = 0;
    bad[7].schedule.horizon = TACIT_HORIZON_MAX + 1;
    bad[8].schedule.epsilon_per_reward = 0;
    bad[9].schedule.epsilon_per_reward = NAN;
    bad[10].schedule.epsilon_per_reward = -1;
    for (size_t i = 11; i < 16; i++)
        bad[i].schedule.round_limit = 2;
    bad[11].schedule.gap = 0;
    bad[12].schedule.gap = NAN;
    bad[13].schedule.gap = nextafter(1, 2);
    bad[14].schedule.gap = -0.5;
    bad[15].schedule.gap = 1;
    bad[15].schedule.round_limit = TACIT_ELIM_EPOCHS_MAX; /* no number is left for the last order */
    for (size_t i = 0; i < 16; i++) {
        uint64_t memory[4] = {1, 2, 3, 4};
        uint64_t const before[4] = {1, 2, 3, 4};
        assert_int_equal(tacit_elim_hub_size(&bad[i]), 0);
        assert_int_equal(tacit_elim_hub_init((struct tacit_elim_hub *)memory, &bad[i]),
                         TACIT_INVALID);
        assert_memory_equal(memory, before, sizeof before);
    }
}

static void hub_with_every_parameter_at_its_limit_is_allowed(void **state)
{
    (void)state;
    struct driver_setup const setup = noisy_setup();
    struct tacit_elim_hub_config config = driver_hub_config(&setup);
    config.agent_count = config.schedule.report_count = TACIT_AGENTS_MAX;
    config.schedule.arm_count = TACIT_ARMS_MAX;
    config.schedule.horizon = TACIT_HORIZON_MAX;
    config.schedule.round_limit = TACIT_ELIM_EPOCHS_MAX - 1;
    config.schedule.gap = 1;
    size_t const sums = (size_t)TACIT_AGENTS_MAX * TACIT_ARMS_MAX;
    assert_true(tacit_elim_hub_size(&config) >= sums * sizeof(uint64_t));
    config.agent_count = config.schedule.report_count = 1;
    config.schedule.arm_count = 1;
    config.schedule.horizon = 1;
    config.schedule.epsilon_per_reward = INFINITY;
    assert_true(tacit_elim_hub_size(&config) > 0);
}

/* ---- Hub: refusals --------------------------------------------------------------------------- */

static struct driver_core started_hub(const struct driver_setup *setup)
{
    struct driver_core hub = driver_hub_open(setup);
    driver_expect(&hub, driver_start(), TACIT_OK);
    return hub;
}

static void refuse_report(struct driver_core *hub, struct tacit_elim_message report,
                          enum tacit_status status)
{
    driver_expect_nothing(hub, driver_receive(&report), status);
}

static void report_not_of_this_run_is_refused_without_trace(void **state)
{
    (void)state;
    struct driver_setup const setup = driver_setup_plain(2, 3, 2000);
    struct driver_core hub = started_hub(&setup);
    uint64_t const pulls = driver_hub_view(&hub).pulls;
    union tacit_sum const sums[3] = {{0}};
    struct tacit_elim_message const good = report_of(1, 1, pulls, all_3, sums, 3);
    uint32_t const strangers[] = {2, 3, TACIT_AGENTS_MAX, TACIT_ELIM_EVERYONE, TACIT_ELIM_HUB};
    for (size_t i = 0; i < sizeof strangers / sizeof strangers[0]; i++) {
        struct tacit_elim_message bad = good;
        bad.from = strangers[i];
        refuse_report(&hub, bad, TACIT_STRANGER);
        bad.kind = TACIT_ELIM_HELLO;
        refuse_report(&hub, bad, TACIT_STRANGER);
        bad = good;
        bad.to = i == 4 ? 0 : strangers[i];
        refuse_report(&hub, bad, TACIT_STRANGER);
    }
    struct tacit_elim_message bad = good;
    bad.run_id = 0;
    refuse_report(&hub, bad, TACIT_STRANGER);
    driver_expect(&hub, driver_receive(&good), TACIT_OK);
    driver_close(&hub);
}

static void report_that_does_not_fit_its_order_is_refused_without_trace(void **state)
{
    (void)state;
    struct driver_setup const setup = driver_setup_plain(2, 3, 2000);
    struct driver_core hub = started_hub(&setup);
    uint64_t const pulls = driver_hub_view(&hub).pulls;
    union tacit_sum const sums[4] = {{0}};
    refuse_report(&hub, report_of(1, 0, pulls, all_3, sums, 3), TACIT_MALFORMED);
    refuse_report(&hub, report_of(1, TACIT_ELIM_EPOCHS_MAX + 1, pulls, all_3, sums, 3),
                  TACIT_MALFORMED);
    refuse_report(&hub, report_of(1, UINT32_MAX, pulls, all_3, sums, 3), TACIT_MALFORMED);
    refuse_report(&hub, report_of(1, 2, pulls, all_3, sums, 3), TACIT_UNEXPECTED);
    refuse_report(&hub, report_of(1, TACIT_ELIM_EPOCHS_MAX, pulls, all_3, sums, 3),
                  TACIT_UNEXPECTED);
    refuse_report(&hub, report_of(1, 1, pulls, NULL, sums, 3), TACIT_MALFORMED);
    refuse_report(&hub, report_of(1, 1, pulls, all_3, NULL, 3), TACIT_MALFORMED);
    refuse_report(&hub, report_of(1, 1, pulls, first_2, sums, 3), TACIT_MALFORMED);
    refuse_report(&hub, report_of(1, 1, pulls, first_2, sums, 2), TACIT_MALFORMED);
    refuse_report(&hub, report_of(1, 1, pulls, none, sums, 3), TACIT_MALFORMED);
    uint64_t const padded[] = {7 + 8};
    refuse_report(&hub, report_of(1, 1, pulls, padded, sums, 3), TACIT_MALFORMED);
    refuse_report(&hub, report_of(1, 1, pulls, all_3, sums, 2), TACIT_MALFORMED);
    refuse_report(&hub, report_of(1, 1, pulls, all_3, sums, 4), TACIT_MALFORMED);
    refuse_report(&hub, report_of(1, 1, pulls, all_3, sums, 0), TACIT_MALFORMED);
    refuse_report(&hub, report_of(1, 1, pulls - 1, all_3, sums, 3), TACIT_MALFORMED);
    refuse_report(&hub, report_of(1, 1, pulls + 1, all_3, sums, 3), TACIT_MALFORMED);
    refuse_report(&hub, report_of(1, 1, 0, all_3, sums, 3), TACIT_MALFORMED);
    driver_close(&hub);
}

static void report_with_an_implausible_sum_is_refused_whole(void **state)
{
    (void)state;
    struct driver_setup setup = driver_setup_plain(2, 3, 2000);
    struct driver_core exact = started_hub(&setup);
    int64_t const top = (int64_t)driver_hub_view(&exact).pulls * TACIT_STEPS;
    for (uint32_t place = 0; place < 3; place++) {
        int64_t const bad[] = {-1, top + 1, INT64_MIN, INT64_MAX};
        for (size_t i = 0; i < 4; i++) {
            union tacit_sum sums[3] = {{0}, {.steps = top}, {.steps = top / 2}};
            sums[place].steps = bad[i];
            refuse_report(&exact, report_of(0, 1, (uint64_t)(top / TACIT_STEPS), all_3, sums, 3),
                          TACIT_MALFORMED);
        }
    }
    driver_close(&exact);
    /* With noise of scale STEPS, 60 scales beyond either end are taken. */
    setup.epsilon = 1;
    struct driver_core noisy = started_hub(&setup);
    uint64_t const pulls = driver_hub_view(&noisy).pulls;
    int64_t const room = 60 * TACIT_STEPS;
    int64_t const high = (int64_t)pulls * TACIT_STEPS + room;
    union tacit_sum const low[3] = {{0}, {0}, {.steps = -room - 1}};
    union tacit_sum const over[3] = {{.steps = high + 1}, {0}, {0}};
    union tacit_sum const edge[3] = {{.steps = high}, {0}, {.steps = -room}};
    refuse_report(&noisy, report_of(0, 1, pulls, all_3, low, 3), TACIT_MALFORMED);
    refuse_report(&noisy, report_of(0, 1, pulls, all_3, over, 3), TACIT_MALFORMED);
    struct tacit_elim_message const fine = report_of(0, 1, pulls, all_3, edge, 3);
    driver_expect(&noisy, driver_receive(&fine), TACIT_OK);
    driver_close(&noisy);
}

static void report_on_reals_is_refused_unless_every_sum_is_finite(void **state)
{
    (void)state;
    struct driver_setup setup = driver_setup_plain(2, 3, 2000);
    setup.mode = TACIT_PRIVACY_PAPER;
    struct driver_core hub = started_hub(&setup);
    double const bad[] = {NAN, -NAN, INFINITY, -INFINITY};
    for (uint32_t place = 0; place < 3; place++) {
        for (size_t i = 0; i < 4; i++) {
            union tacit_sum sums[3] = {{.real = 1}, {.real = -1e300}, {.real = 37}};
            sums[place].real = bad[i];
            refuse_report(&hub, report_of(0, 1, driver_hub_view(&hub).pulls, all_3, sums, 3),
                          TACIT_MALFORMED);
        }
    }
    driver_close(&hub);
}

static void report_of_an_agent_that_was_not_asked_is_refused_without_trace(void **state)
{
    (void)state;
    struct driver_setup setup = driver_setup_plain(5, 3, 2000);
    setup.report_count = 2;
    struct driver_core hub = started_hub(&setup);
    uint64_t const pulls = driver_hub_view(&hub).pulls;
    uint64_t const asked = hub.update.message.uploaders[0];
    union tacit_sum const sums[3] = {{0}};
    uint32_t refused = 0;
    for (uint32_t agent = 0; agent < 5; agent++) {
        if (tacit_bits_has(&asked, agent))
            continue;
        refuse_report(&hub, report_of(agent, 1, pulls, all_3, sums, 3), TACIT_UNEXPECTED);
        refused++;
    }
    assert_int_equal(refused, 3);
    driver_close(&hub);
}

static void second_report_is_taken_if_it_is_the_same_and_refused_if_it_differs(void **state)
{
    (void)state;
    struct driver_setup const setup = driver_setup_plain(2, 3, 2000);
    struct driver_core hub = started_hub(&setup);
    uint64_t const pulls = driver_hub_view(&hub).pulls;
    union tacit_sum const sums[3] = {{.steps = 10}, {.steps = 20}, {.steps = 30}};
    union tacit_sum const other[3] = {{.steps = 10}, {.steps = 20}, {.steps = 31}};
    struct tacit_elim_message const report = report_of(1, 1, pulls, all_3, sums, 3);
    driver_expect(&hub, driver_receive(&report), TACIT_OK);
    assert_true(hub.update.persist);
    assert_false(hub.update.send);
    assert_int_equal(driver_hub_view(&hub).reports_missing, 1);
    for (uint32_t i = 0; i < 3; i++)
        driver_expect_nothing(&hub, driver_receive(&report), TACIT_OK);
    refuse_report(&hub, report_of(1, 1, pulls, all_3, other, 3), TACIT_MALFORMED);
    driver_close(&hub);
}

static void hub_before_its_start_refuses_every_message(void **state)
{
    (void)state;
    struct driver_setup const setup = driver_setup_plain(2, 3, 2000);
    struct driver_core hub = driver_hub_open(&setup);
    union tacit_sum const sums[3] = {{0}};
    struct tacit_elim_message const hello = hello_of(1, 0);
    refuse_report(&hub, report_of(1, 1, 0, all_3, sums, 3), TACIT_UNEXPECTED);
    driver_expect_nothing(&hub, driver_receive(&hello), TACIT_UNEXPECTED);
    driver_close(&hub);
}

static void event_for_agents_is_refused_by_a_hub_without_trace(void **state)
{
    (void)state;
    struct driver_setup const setup = driver_setup_plain(2, 3, 2000);
    struct driver_core hub = started_hub(&setup);
    struct tacit_elim_message order = order_of(1, 10, all_3);
    order.from = 0;
    order.to = TACIT_ELIM_HUB;
    driver_expect_nothing(&hub, driver_receive(&order), TACIT_UNEXPECTED);
    order.from = TACIT_ELIM_HUB;
    driver_expect_nothing(&hub, driver_receive(&order), TACIT_STRANGER);
    order.from = 0;
    order.kind = (enum tacit_elim_message_kind)17;
    driver_expect_nothing(&hub, driver_receive(&order), TACIT_MALFORMED);
    driver_expect_nothing(&hub, driver_reward(0, 1, steps(0)), TACIT_INVALID);
    driver_expect_nothing(&hub, driver_exploited(1), TACIT_INVALID);
    driver_expect_nothing(&hub, driver_timeout(), TACIT_OK);
    driver_close(&hub);
}

/* ---- Hub: late messages, restarts, entropy --------------------------------------------------- */

/* Epoch 2 of 2 agents and 3 arms: nobody was eliminated in epoch 1. */
static struct driver_core hub_in_epoch_2(const struct driver_setup *setup)
{
    struct driver_core hub = started_hub(setup);
    uint64_t const pulls = driver_hub_view(&hub).pulls;
    union tacit_sum const sums[3] = {{.steps = 30}, {.steps = 20}, {.steps = 10}};
    for (uint32_t agent = 0; agent < setup->agent_count; agent++) {
        struct tacit_elim_message const report = report_of(agent, 1, pulls, all_3, sums, 3);
        driver_expect(&hub, driver_receive(&report), TACIT_OK);
    }
    assert_int_equal(driver_hub_view(&hub).epoch, 2);
    assert_true(hub.update.send);
    assert_int_equal(hub.update.message.to, TACIT_ELIM_EVERYONE);
    return hub;
}

static void late_report_is_answered_with_the_standing_order_and_changes_nothing(void **state)
{
    (void)state;
    struct driver_setup const setup = driver_setup_plain(2, 3, 2000);
    struct driver_core hub = hub_in_epoch_2(&setup);
    union tacit_sum const sums[3] = {{.steps = 30}, {.steps = 20}, {.steps = 10}};
    struct tacit_elim_message const same = report_of(1, 1, 173, all_3, sums, 3);
    struct tacit_elim_message const nonsense = report_of(0, 1, 0, NULL, NULL, 0);
    for (uint32_t i = 0; i < 3; i++) {
        driver_expect_answer(&hub, driver_receive(&same), 1);
        driver_expect_answer(&hub, driver_receive(&nonsense), 0);
    }
    driver_close(&hub);
}

static void hello_is_answered_if_it_is_behind_and_refused_if_it_is_ahead(void **state)
{
    (void)state;
    struct driver_setup const setup = driver_setup_plain(2, 3, 2000);
    struct driver_core hub = hub_in_epoch_2(&setup);
    for (uint32_t epoch = 0; epoch <= 4; epoch++) {
        struct tacit_elim_message const hello = hello_of(1, epoch);
        if (epoch < 2)
            driver_expect_answer(&hub, driver_receive(&hello), 1);
        else
            driver_expect_nothing(&hub, driver_receive(&hello),
                                  epoch == 2 ? TACIT_OK : TACIT_UNEXPECTED);
    }
    driver_close(&hub);
}

static void restart_of_the_hub_repeats_the_standing_order_to_everyone(void **state)
{
    (void)state;
    struct driver_setup setup = driver_setup_plain(5, 3, 2000);
    setup.report_count = 2;
    struct driver_core hub = started_hub(&setup);
    struct tacit_elim_message *const order = driver_keep(&hub);
    assert_true(hub.update.persist);
    restart(&hub);
    assert_false(hub.update.persist);
    driver_expect_same(&hub, order, &hub.update.message);
    free(order);
    driver_close(&hub);
}

static void entropy_that_fails_at_the_start_leaves_the_hub_unstarted(void **state)
{
    (void)state;
    struct driver_setup setup = driver_setup_plain(5, 3, 2000);
    setup.report_count = 3;
    for (uint64_t fill = 0; fill < 3; fill++) {
        struct driver_core hub = driver_hub_open(&setup);
        hub.entropy.fail_from = fill;
        hub.entropy.fail_count = 1;
        driver_expect_nothing(&hub, driver_start(), TACIT_ENTROPY);
        driver_expect(&hub, driver_start(), TACIT_OK);
        assert_int_equal(tacit_bits_count(hub.update.message.uploaders, 5), 3);
        driver_close(&hub);
    }
}

static void entropy_that_fails_at_the_last_report_leaves_that_report_out(void **state)
{
    (void)state;
    struct driver_setup setup = driver_setup_plain(5, 3, 2000);
    setup.report_count = 2;
    union tacit_sum const sums[3] = {{.steps = 30}, {.steps = 20}, {.steps = 10}};
    for (uint64_t fill = 0; fill < 2; fill++) {
        struct driver_core hub = started_hub(&setup);
        uint64_t const asked = hub.update.message.uploaders[0];
        uint64_t const pulls = hub.update.message.pulls;
        uint32_t const one = tacit_bits_next(&asked, 5, 0);
        struct tacit_elim_message const first = report_of(one, 1, pulls, all_3, sums, 3);
        struct tacit_elim_message const second =
            report_of(tacit_bits_next(&asked, 5, one + 1), 1, pulls, all_3, sums, 3);
        driver_expect(&hub, driver_receive(&first), TACIT_OK);
        hub.entropy.fail_from = hub.entropy.fill_count + fill;
        hub.entropy.fail_count = 1;
        driver_expect_nothing(&hub, driver_receive(&second), TACIT_ENTROPY);
        driver_expect(&hub, driver_receive(&second), TACIT_OK);
        assert_int_equal(driver_hub_view(&hub).epoch, 2);
        driver_close(&hub);
    }
}

/* ---- Hub: aggregation ------------------------------------------------------------------------ */

/* Sums whose double total depends on the order in which they are added. */
static const double awkward[4][3] = {
    {0.1, 1e16, 1.0}, {0.2, 1.0, 1e16}, {0.3, -1e16, 2.5}, {1e16, 0.7, -1e16}};

/* Gives a copy of the hub the reports of 4 agents in the given order. */
static struct driver_core collect(const struct driver_core *fresh, const uint32_t order[4])
{
    struct driver_core hub = driver_copy(fresh);
    uint64_t const pulls = driver_hub_view(&hub).pulls;
    for (uint32_t i = 0; i < 4; i++) {
        union tacit_sum sums[3];
        for (uint32_t arm = 0; arm < 3; arm++)
            sums[arm].real = awkward[order[i]][arm];
        struct tacit_elim_message const report = report_of(order[i], 1, pulls, all_3, sums, 3);
        driver_expect(&hub, driver_receive(&report), TACIT_OK);
    }
    assert_int_equal(driver_hub_view(&hub).round_count, 1);
    return hub;
}

static void aggregate_in_any_order_of_arrival_is_the_same_to_the_last_bit(void **state)
{
    (void)state;
    uint32_t const natural[4] = {0, 1, 2, 3};
    double const forth = ((1e16 + 1.0) - 1e16) + 0.7;
    double const back = ((0.7 - 1e16) + 1.0) + 1e16;
    assert_true(forth != back); /* the test can tell */
    struct driver_setup setup = driver_setup_plain(4, 3, 2000);
    setup.mode = TACIT_PRIVACY_NONE;
    struct driver_core fresh = started_hub(&setup);
    struct driver_core wanted = collect(&fresh, natural);
    uint32_t permutations = 0;
    for (uint32_t code = 0; code < 256; code++) {
        uint32_t const order[4] = {code % 4, code / 4 % 4, code / 16 % 4, code / 64};
        if ((1u << order[0] | 1u << order[1] | 1u << order[2] | 1u << order[3]) != 15u)
            continue;
        struct driver_core hub = collect(&fresh, order);
        assert_memory_equal(hub.state, wanted.state, wanted.size);
        driver_close(&hub);
        permutations++;
    }
    assert_int_equal(permutations, 24);
    driver_close(&wanted);
    driver_close(&fresh);
}

static void aggregate_is_the_mean_of_the_reports_on_the_scale_of_0_to_1(void **state)
{
    (void)state;
    struct driver_setup const setup = driver_setup_plain(2, 3, 2000);
    struct driver_core hub = started_hub(&setup);
    int64_t const pulls = (int64_t)driver_hub_view(&hub).pulls;
    for (uint32_t agent = 0; agent < 2; agent++) {
        union tacit_sum const sums[3] = {{.steps = pulls * TACIT_STEPS / 2},
                                         {.steps = agent == 0 ? 0 : pulls * TACIT_STEPS},
                                         {.steps = pulls * TACIT_STEPS / 4}};
        struct tacit_elim_message const report =
            report_of(agent, 1, (uint64_t)pulls, all_3, sums, 3);
        driver_expect(&hub, driver_receive(&report), TACIT_OK);
    }
    struct tacit_elim_hub_view const view = driver_hub_view(&hub);
    assert_true(view.means[0] == 0.5);
    assert_true(view.means[1] == 0.5);
    assert_true(view.means[2] == 0.25);
    driver_close(&hub);
}

/* The double whose quotient by `pulls` is `mean`, or 0 if there is none. */
static double sum_with_mean(double mean, uint64_t pulls)
{
    double sum = mean * (double)pulls * (1 - 1e-15);
    while (sum / (double)pulls < mean)
        sum = nextafter(sum, INFINITY);
    return sum / (double)pulls > mean ? 0 : sum;
}

/* One agent reports these sums of two arms. Result: is the second arm still in? */
static bool survives(uint64_t horizon, double best)
{
    struct driver_setup setup = driver_setup_plain(1, 2, horizon);
    setup.mode = TACIT_PRIVACY_NONE;
    struct driver_core hub = started_hub(&setup);
    union tacit_sum const sums[2] = {{.real = best}, {.real = 0}};
    struct tacit_elim_message const report =
        report_of(0, 1, driver_hub_view(&hub).pulls, first_2, sums, 2);
    driver_expect(&hub, driver_receive(&report), TACIT_OK);
    bool const is_in = tacit_bits_has(driver_hub_view(&hub).arms, 1);
    driver_close(&hub);
    return is_in;
}

static void arm_exactly_two_radii_below_the_best_goes_and_one_just_above_stays(void **state)
{
    (void)state;
    uint32_t exact = 0;
    for (uint64_t horizon = 2000; horizon < 2100; horizon++) {
        struct tacit_elim_schedule const schedule = {2, 1, horizon, INFINITY, 0, 0};
        uint64_t const pulls = tacit_elim_pulls(&schedule, 1, 2, 0);
        double const threshold = 2 * tacit_elim_radius(&schedule, 1, 2, pulls, 1);
        double const at = sum_with_mean(threshold, pulls);
        double const below = sum_with_mean(nextafter(threshold, 0), pulls);
        if (at > 0 && below > 0) {
            assert_false(survives(horizon, at));
            assert_true(survives(horizon, below));
            exact++;
        }
    }
    assert_in_range(exact, 1, 100); /* not every double is a quotient */
}

static void arms_that_tie_for_ever_end_with_the_last_epoch_that_has_a_number(void **state)
{
    (void)state;
    struct driver_setup const setup = driver_setup_plain(1, 2, TACIT_HORIZON_MAX);
    struct driver_core hub = started_hub(&setup);
    while (!driver_hub_view(&hub).finished) {
        struct tacit_elim_hub_view const view = driver_hub_view(&hub);
        int64_t const half = (int64_t)view.pulls * (TACIT_STEPS / 2);
        union tacit_sum const sums[2] = {{.steps = half}, {.steps = half}};
        struct tacit_elim_message const report =
            report_of(0, view.epoch, view.pulls, first_2, sums, 2);
        assert_true(view.round_count < 64);
        driver_expect(&hub, driver_receive(&report), TACIT_OK);
    }
    assert_int_equal(driver_hub_view(&hub).pulls, TACIT_HORIZON_MAX); /* S can grow no more */
    assert_int_equal(driver_hub_view(&hub).active_count, 2);
    assert_int_equal(hub.update.message.epoch, TACIT_ELIM_EPOCHS_MAX);
    assert_int_equal(hub.update.message.arms[0], 1);
    struct driver_core agent = driver_agent_open(&setup, 0);
    driver_expect(&agent, driver_start(), TACIT_OK);
    driver_expect(&agent, driver_receive(&hub.update.message), TACIT_OK);
    assert_int_equal(driver_plan_length(&agent), setup.horizon);
    driver_close(&agent);
    driver_close(&hub);
}

/* ---- Federations ----------------------------------------------------------------------------- */

/* One collected round: the order that stood, and what the hub knew after its test. */
struct round {
    uint32_t epoch;
    uint64_t pulls;
    double radius;
    uint64_t arms_after;
};

static void expect_round(struct driver_run *run, const struct round *wanted)
{
    assert_int_equal(run->order->epoch, wanted->epoch);
    assert_int_equal(run->order->pulls, wanted->pulls);
    assert_false(run->order->last);
    assert_true(driver_run_round(run));
    struct tacit_elim_hub_view const view = driver_hub_view(&run->hub);
    assert_true(fabs(view.radius - wanted->radius) < 1e-14);
    assert_int_equal(view.arms[0], wanted->arms_after);
}

static void expect_last(struct driver_run *run, uint32_t epoch, uint32_t arm)
{
    assert_true(run->order->last);
    assert_int_equal(run->order->epoch, epoch);
    assert_int_equal(run->order->arms[0], UINT64_C(1) << arm);
    assert_null(run->order->uploaders);
    assert_false(driver_run_round(run));
    for (uint32_t agent = 0; agent < run->setup.agent_count; agent++) {
        struct tacit_elim_agent_view const view = driver_agent_view(&run->agents[agent]);
        assert_true(view.finished);
        assert_int_equal(view.pull_count, run->setup.horizon);
        assert_int_equal(view.arms[0], UINT64_C(1) << arm);
    }
}

/* echo '{"agents": 3, "means": [[0.9, 0.8, 0.5, 0.1]], "horizon": 100000}' |
 *     python3 tests/oracle/elim_schedule_check.py */
static void federation_of_3_agents_and_4_arms_does_what_the_oracle_computes(void **state)
{
    (void)state;
    double const means[] = {0.9, 0.8, 0.5, 0.1};
    struct round const rounds[] = {
        {1, 160, 0.12491105738922277, 3},
        {2, 669, 0.0624842950838053, 3},
        {3, 2814, 0.031244747262445423, 1},
    };
    struct driver_setup const setup = driver_setup_plain(3, 4, 100000);
    struct driver_run run;
    driver_run_open(&run, &setup, means);
    for (size_t i = 0; i < 3; i++)
        expect_round(&run, &rounds[i]);
    struct tacit_elim_hub_view const view = driver_hub_view(&run.hub);
    uint32_t const eliminated[] = {0, 3, 1, 1};
    assert_memory_equal(view.eliminated, eliminated, sizeof eliminated);
    assert_int_equal(view.round_count, 3);
    expect_last(&run, 4, 0);
    assert_int_equal(run.report_count, 9);
    driver_run_close(&run);
}

/* The same with "horizon": 3000; the third epoch is cut. */
static void federation_whose_third_epoch_passes_t_stops_after_two_rounds(void **state)
{
    (void)state;
    double const means[] = {0.9, 0.8, 0.5, 0.1};
    struct round const rounds[] = {
        {1, 123, 0.12467901046694357, 3},
        {2, 520, 0.06244292432614455, 3},
    };
    struct driver_setup const setup = driver_setup_plain(3, 4, 3000);
    struct driver_run run;
    driver_run_open(&run, &setup, means);
    for (size_t i = 0; i < 2; i++)
        expect_round(&run, &rounds[i]);
    assert_int_equal(run.order->epoch, 3);
    assert_int_equal(run.order->pulls, 2215);
    assert_false(driver_run_round(&run));
    assert_int_equal(run.report_count, 6);
    for (uint32_t agent = 0; agent < 3; agent++) {
        struct tacit_elim_agent_view const view = driver_agent_view(&run.agents[agent]);
        assert_true(view.finished);
        assert_int_equal(view.release_epoch, 2);
    }
    driver_run_close(&run);
}

/* echo '{"agents": 6, "means": [[0.55, 0.6]], "horizon": 1000, "rounds": 12, "gap": 0.95}' |
 *     python3 tests/oracle/elim_schedule_check.py
 * S stands still in the epochs 5, 8, 10 and 12. */
static void epochs_in_which_s_stands_still_cost_no_message(void **state)
{
    (void)state;
    double const means[] = {0.55, 0.6};
    struct round const rounds[] = {
        {1, 14, 0.24004394440470386, 3},
        {2, 16, 0.24008069782998018, 3},
        {3, 17, 0.24129520381700278, 3},
        {4, 18, 0.24437391494587302, 3}, /* the radius is that of epoch 5, tested at once */
        {6, 19, 0.24119460494531836, 3},
        {7, 20, 0.24013214317487075, 3}, /* 8 */
        {9, 21, 0.23809357060186334, 3}, /* 10 */
        {11, 22, 0.23556956526423356, 3} /* 12 */
    };
    struct driver_setup setup = driver_setup_plain(6, 2, 1000);
    setup.round_limit = 12;
    setup.gap = 0.95;
    struct driver_run run;
    driver_run_open(&run, &setup, means);
    for (size_t i = 0; i < 8; i++)
        expect_round(&run, &rounds[i]);
    assert_int_equal(driver_hub_view(&run.hub).round_count, 8);
    expect_last(&run, 13, 1);
    assert_int_equal(run.report_count, 8 * 6);
    driver_run_close(&run);
}

/* echo '{"agents": 2, "means": [[0.9, 0.52, 0.5, ..18 times..]], "horizon": 100000, "rounds": 40,
 *        "gap": 0.2}' | python3 tests/oracle/elim_schedule_check.py
 * 18 arms leave in epoch 6; S(7) for two arms is smaller, but so is C(7), and arm 1 leaves too. */
static void epoch_in_which_s_stands_still_may_eliminate(void **state)
{
    (void)state;
    double means[20] = {0.9, 0.52};
    for (uint32_t arm = 2; arm < 20; arm++)
        means[arm] = 0.5;
    uint64_t const all = (UINT64_C(1) << 20) - 1;
    struct round const rounds[] = {
        {1, 72, 0.23999493108220635, all},  {2, 85, 0.22992577856985236, all},
        {3, 96, 0.22117891900528058, all},  {4, 107, 0.21268580663071643, all},
        {5, 119, 0.20398846104019402, all}, {6, 131, 0.1862513614137478, 1},
    };
    struct driver_setup setup = driver_setup_plain(2, 20, 100000);
    setup.round_limit = 40;
    setup.gap = 0.2;
    struct driver_run run;
    driver_run_open(&run, &setup, means);
    for (size_t i = 0; i < 6; i++)
        expect_round(&run, &rounds[i]);
    struct tacit_elim_hub_view const view = driver_hub_view(&run.hub);
    assert_int_equal(view.eliminated[0], 0);
    assert_int_equal(view.eliminated[1], 7);
    for (uint32_t arm = 2; arm < 20; arm++)
        assert_int_equal(view.eliminated[arm], 6);
    assert_int_equal(view.round_count, 6);
    expect_last(&run, 8, 0);
    assert_int_equal(run.report_count, 12);
    driver_run_close(&run);
}

/* echo '{"agents": 3, "means": [[0.55, 0.62, 0.5, 0.1]], "horizon": 100000, "rounds": 2,
 *        "gap": 0.2}' | python3 tests/oracle/elim_schedule_check.py */
static void round_limit_with_several_arms_left_ends_with_the_best_mean(void **state)
{
    (void)state;
    double const means[] = {0.55, 0.62, 0.5, 0.1};
    struct round const rounds[] = {
        {1, 200, 0.1117238461854718, 7},
        {2, 1072, 0.04999576110209304, 3},
    };
    struct driver_setup setup = driver_setup_plain(3, 4, 100000);
    setup.round_limit = 2;
    setup.gap = 0.2;
    struct driver_run run;
    driver_run_open(&run, &setup, means);
    for (size_t i = 0; i < 2; i++)
        expect_round(&run, &rounds[i]);
    assert_int_equal(driver_hub_view(&run.hub).active_count, 2);
    expect_last(&run, 3, 1);
    driver_run_close(&run);
}

static void round_limit_with_arms_that_tie_ends_with_the_lowest_index_of_the_best(void **state)
{
    (void)state;
    double const means[] = {0.55, 0.62, 0.62};
    struct driver_setup setup = driver_setup_plain(2, 3, 100000);
    setup.round_limit = 1;
    setup.gap = 0.9;
    struct driver_run run;
    driver_run_open(&run, &setup, means);
    assert_true(driver_run_round(&run));
    assert_int_equal(driver_hub_view(&run.hub).active_count, 3);
    expect_last(&run, 2, 1);
    driver_run_close(&run);
}

static void finished_hub_refuses_reports_and_answers_late_agents_with_its_last_order(void **state)
{
    (void)state;
    double const means[] = {0.9, 0.1};
    struct driver_setup setup = driver_setup_plain(2, 2, 5000);
    struct driver_run run;
    driver_run_open(&run, &setup, means);
    assert_true(driver_run_round(&run));
    assert_true(driver_hub_view(&run.hub).finished);
    union tacit_sum const sums[1] = {{0}};
    struct tacit_elim_message const report =
        report_of(0, 2, driver_hub_view(&run.hub).pulls, only_0, sums, 1);
    struct tacit_elim_message const late = report_of(1, 1, 1, only_0, sums, 1);
    struct tacit_elim_message const hello = hello_of(0, 0);
    driver_expect_nothing(&run.hub, driver_receive(&report), TACIT_UNEXPECTED);
    driver_expect_answer(&run.hub, driver_receive(&late), 1);
    driver_expect_answer(&run.hub, driver_receive(&hello), 0);
    assert_true(run.hub.update.message.last);
    assert_int_equal(run.hub.update.message.arms[0], 1);
    restart(&run.hub);
    assert_true(run.hub.update.message.last);
    driver_run_close(&run);
}

static void participation_asks_exactly_n_agents_each_round_and_everyone_explores(void **state)
{
    (void)state;
    double const means[] = {0.505, 0.5, 0.1};
    struct driver_setup setup = driver_setup_plain(8, 3, 2000000);
    setup.report_count = 3;
    struct driver_run run;
    uint64_t seen = 0;
    uint32_t changes = 0;
    driver_run_open(&run, &setup, means);
    for (uint32_t round = 1; round <= 6; round++) {
        uint64_t const asked = run.order->uploaders[0];
        assert_int_equal(tacit_bits_count(&asked, 8), 3);
        assert_true(tacit_bits_within(&asked, (const uint64_t[]){255}, 8));
        seen |= asked;
        assert_true(driver_run_round(&run));
        assert_int_equal(run.report_count, 3 * round);
        changes += run.order->uploaders[0] != asked;
        for (uint32_t agent = 0; agent < 8; agent++) {
            struct tacit_elim_agent_view const view = driver_agent_view(&run.agents[agent]);
            assert_int_equal(view.pull_count, driver_agent_view(&run.agents[0]).pull_count);
            assert_int_equal(view.release_epoch, round);
        }
    }
    assert_true(changes > 0);
    assert_true(tacit_bits_count(&seen, 8) > 3);
    driver_run_close(&run);
}

static void noise_with_a_large_budget_still_finds_the_best_arm(void **state)
{
    (void)state;
    struct driver_setup setup = driver_setup_plain(3, 3, 1000000);
    setup.epsilon = 1;
    setup.budget_nano = NANO;
    struct driver_run run;
    driver_run_open(&run, &setup, means_3);
    while (driver_run_round(&run))
        continue;
    assert_int_equal(driver_hub_view(&run.hub).arms[0], 1);
    driver_run_close(&run);
}

/* ---- Messages -------------------------------------------------------------------------------- */

static void message_copy_points_into_its_own_memory_only(void **state)
{
    (void)state;
    struct driver_setup const setup = noisy_setup();
    struct driver_core agent = waiting_agent(&setup, 10);
    struct tacit_elim_message const *const report = &agent.update.message;
    size_t const size = tacit_elim_message_size(report, 3, 2);
    assert_int_equal(size, sizeof *report + 8 + 3 * 8);
    struct tacit_elim_message *const copy = driver_keep(&agent);
    char const *const begin = (const char *)copy;
    assert_ptr_equal(copy->arms, begin + sizeof *copy);
    assert_ptr_equal(copy->sums, begin + size - 3 * 8);
    assert_null(copy->uploaders);
    driver_expect_same(&agent, report, copy);
    assert_int_equal(tacit_elim_message_scalars(copy), 3);
    struct tacit_elim_message const hello = hello_of(0, 1);
    struct tacit_elim_message const order = order_of(1, 10, all_3);
    assert_int_equal(tacit_elim_message_size(&hello, 3, 2), sizeof hello);
    assert_int_equal(tacit_elim_message_scalars(&hello), 0);
    assert_int_equal(tacit_elim_message_scalars(&order), 0);
    free(copy);
    driver_close(&agent);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(agent_init_with_a_parameter_out_of_range_is_refused_and_writes_nothing),
    cmocka_unit_test(agent_with_every_parameter_at_its_limit_is_allowed),
    cmocka_unit_test(agent_after_init_has_all_arms_and_spent_nothing),
    cmocka_unit_test(reward_that_the_plan_did_not_ask_for_is_refused_without_trace),
    cmocka_unit_test(reward_on_reals_is_refused_unless_finite),
    cmocka_unit_test(reward_in_each_phase_without_a_plan_is_refused_without_trace),
    cmocka_unit_test(exploited_in_each_phase_that_does_not_wait_is_refused_without_trace),
    cmocka_unit_test(exploited_while_waiting_counts_to_t_and_enters_no_estimate),
    cmocka_unit_test(order_not_from_the_hub_or_not_for_this_agent_is_refused_without_trace),
    cmocka_unit_test(order_that_makes_no_sense_is_refused_without_trace),
    cmocka_unit_test(message_for_hubs_is_refused_by_an_agent_without_trace),
    cmocka_unit_test(late_or_repeated_order_in_each_phase_changes_nothing),
    cmocka_unit_test(new_order_to_an_agent_at_its_end_changes_nothing),
    cmocka_unit_test(order_while_the_release_is_not_drawn_is_refused_without_trace),
    cmocka_unit_test(order_of_a_later_epoch_lets_an_absent_agent_catch_up_to_s),
    cmocka_unit_test(order_in_the_middle_of_a_plan_asks_for_the_rest_up_to_the_new_s),
    cmocka_unit_test(plan_longer_than_t_is_cut_round_robin_by_index_and_releases_nothing),
    cmocka_unit_test(plan_cut_at_t_gives_no_arm_more_than_it_still_needs),
    cmocka_unit_test(need_beyond_any_horizon_is_cut_at_the_longest_horizon),
    cmocka_unit_test(epoch_that_ends_exactly_at_t_is_released_and_reported),
    cmocka_unit_test(last_order_plays_its_arm_until_t_and_says_no_more),
    cmocka_unit_test(one_arm_needs_no_message),
    cmocka_unit_test(report_carries_the_history_of_the_active_arms_in_index_order),
    cmocka_unit_test(agent_that_is_not_asked_releases_but_says_hello_instead_of_a_report),
    cmocka_unit_test(waiting_agent_repeats_itself_at_each_deadline_and_not_before),
    cmocka_unit_test(exploit_arm_is_the_best_noised_history_with_the_lowest_index_on_ties),
    cmocka_unit_test(exploit_arm_on_reals_compares_reals),
    cmocka_unit_test(order_that_asks_for_no_pulls_is_answered_at_once_without_a_release),
    cmocka_unit_test(budget_smaller_than_the_cost_halts_the_agent_for_good_without_sending),
    cmocka_unit_test(budget_equal_to_the_cost_lasts_for_every_epoch),
    cmocka_unit_test(entropy_that_fails_at_any_fill_delays_the_release_and_it_is_drawn_once),
    cmocka_unit_test(entropy_that_fails_again_and_again_is_asked_at_each_deadline),
    cmocka_unit_test(without_noise_no_entropy_is_asked_for),
    cmocka_unit_test(restart_before_any_order_waits_and_then_says_hello),
    cmocka_unit_test(restart_in_the_middle_of_a_plan_finds_what_is_left_of_it),
    cmocka_unit_test(restart_with_an_undrawn_release_sends_nothing_until_it_is_drawn),
    cmocka_unit_test(restart_after_a_report_sends_the_identical_report),
    cmocka_unit_test(restart_of_a_waiting_agent_that_was_not_asked_says_hello),
    cmocka_unit_test(restart_at_t_after_a_cut_epoch_or_the_last_arm_asks_for_nothing),
    cmocka_unit_test(agent_that_moves_before_every_step_continues_identically),
    cmocka_unit_test(hub_that_moves_before_every_step_continues_identically),
    cmocka_unit_test(state_is_a_function_of_the_values_of_its_configuration_alone),
    cmocka_unit_test(hub_init_with_a_parameter_out_of_range_is_refused_and_writes_nothing),
    cmocka_unit_test(hub_with_every_parameter_at_its_limit_is_allowed),
    cmocka_unit_test(report_not_of_this_run_is_refused_without_trace),
    cmocka_unit_test(report_that_does_not_fit_its_order_is_refused_without_trace),
    cmocka_unit_test(report_with_an_implausible_sum_is_refused_whole),
    cmocka_unit_test(report_on_reals_is_refused_unless_every_sum_is_finite),
    cmocka_unit_test(report_of_an_agent_that_was_not_asked_is_refused_without_trace),
    cmocka_unit_test(second_report_is_taken_if_it_is_the_same_and_refused_if_it_differs),
    cmocka_unit_test(hub_before_its_start_refuses_every_message),
    cmocka_unit_test(event_for_agents_is_refused_by_a_hub_without_trace),
    cmocka_unit_test(late_report_is_answered_with_the_standing_order_and_changes_nothing),
    cmocka_unit_test(hello_is_answered_if_it_is_behind_and_refused_if_it_is_ahead),
    cmocka_unit_test(restart_of_the_hub_repeats_the_standing_order_to_everyone),
    cmocka_unit_test(entropy_that_fails_at_the_start_leaves_the_hub_unstarted),
    cmocka_unit_test(entropy_that_fails_at_the_last_report_leaves_that_report_out),
    cmocka_unit_test(aggregate_in_any_order_of_arrival_is_the_same_to_the_last_bit),
    cmocka_unit_test(aggregate_is_the_mean_of_the_reports_on_the_scale_of_0_to_1),
    cmocka_unit_test(arm_exactly_two_radii_below_the_best_goes_and_one_just_above_stays),
    cmocka_unit_test(arms_that_tie_for_ever_end_with_the_last_epoch_that_has_a_number),
    cmocka_unit_test(federation_of_3_agents_and_4_arms_does_what_the_oracle_computes),
    cmocka_unit_test(federation_whose_third_epoch_passes_t_stops_after_two_rounds),
    cmocka_unit_test(epochs_in_which_s_stands_still_cost_no_message),
    cmocka_unit_test(epoch_in_which_s_stands_still_may_eliminate),
    cmocka_unit_test(round_limit_with_several_arms_left_ends_with_the_best_mean),
    cmocka_unit_test(round_limit_with_arms_that_tie_ends_with_the_lowest_index_of_the_best),
    cmocka_unit_test(finished_hub_refuses_reports_and_answers_late_agents_with_its_last_order),
    cmocka_unit_test(participation_asks_exactly_n_agents_each_round_and_everyone_explores),
    cmocka_unit_test(noise_with_a_large_budget_still_finds_the_best_arm),
    cmocka_unit_test(message_copy_points_into_its_own_memory_only),
};

int main(void)
{
    return cmocka_run_group_tests_name("unit/elim", tests, NULL, NULL);
}
