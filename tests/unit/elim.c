/* The cores of epoch elimination, driven by hand: what a plan, a report, an aggregate and a radius
 * are, what is refused at the edge of what may be, how a round ends without everybody, and whole
 * small federations against the oracle tests/oracle/elim_schedule_check.py. What late, lost and
 * repeated messages, restarts and old copies do is in the storm (tests/round). */
#include <math.h>
#include "../support/testing.h"
#include "../support/damage.h"
#include "../support/digest.h"
#include "../support/elim_driver.h"

/* Of all steps below: digest.h. */
DIGEST_IS(UINT64_C(0x3a5fd2836d2d11c0))
/* Verdicts over damaged states: damage.h. */
VERDICTS_ARE(UINT64_C(0xde449b4d5f31b17e))

#define NANO TACIT_NANO

/* Sets of arms or agents. */
static const uint64_t none[] = {0};
static const uint64_t only_0[] = {1};
static const uint64_t first_2[] = {3};
static const uint64_t all_3[] = {7};
static const uint64_t beyond_3[] = {8 + 1};

static const double means_3[] = {0.75, 0.25, 0.5};

/* ---- Helpers --------------------------------------------------------------------------------- */

static struct tacit_elim_message report_of(uint32_t agent, uint32_t epoch, uint64_t pulls,
                                           const uint64_t *arms, const union tacit_sum *sums,
                                           uint32_t sum_count)
{
    return (struct tacit_elim_message){.kind = TACIT_ELIM_REPORT,
                                       .from = agent,
                                       .to = TACIT_HUB,
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
    struct tacit_elim_message const order = driver_order(epoch, pulls, arms);
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

static void expect_hello(const struct driver_core *agent, uint32_t epoch)
{
    assert_true(agent->update.send);
    assert_int_equal(agent->update.message.kind, TACIT_ELIM_HELLO);
    assert_int_equal(agent->update.message.to, TACIT_HUB);
    assert_int_equal(agent->update.message.epoch, epoch);
}

/* ---- Agent: rewards -------------------------------------------------------------------------- */

TEST(reward_that_the_plan_did_not_ask_for_is_refused_without_trace)
{
    struct driver_setup const setup = noisy_setup();
    struct driver_core agent = pulling_agent(&setup, 10);
    struct tacit_event const bad[] = {
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
}

TEST(exploited_while_pulling_takes_the_slots_beyond_the_plan_and_no_more)
{
    struct driver_setup const setup = driver_setup_plain(2, 3, 35);
    struct driver_core agent = pulling_agent(&setup, 10); /* 30 of 35 slots are planned */
    driver_expect_nothing(&agent, driver_exploited(0), TACIT_INVALID);
    driver_expect_nothing(&agent, driver_exploited(6), TACIT_INVALID);
    driver_expect_nothing(&agent, driver_exploited(UINT64_MAX), TACIT_INVALID);
    struct driver_core whole = driver_copy(&agent);
    driver_expect(&whole, driver_exploited(5), TACIT_OK);
    assert_true(whole.update.persist);
    assert_int_equal(driver_agent_view(&whole).pull_count, 5);
    driver_expect_nothing(&whole, driver_exploited(1), TACIT_INVALID);
    driver_expect(&agent, driver_start(), TACIT_OK);
    driver_play(&agent, means_3, 10);
    driver_expect(&agent, driver_exploited(4), TACIT_OK);
    driver_expect_nothing(&agent, driver_exploited(2), TACIT_INVALID);
    driver_expect(&agent, driver_start(), TACIT_OK);
    driver_play(&agent, means_3, 0);
    assert_int_equal(agent.update.message.sums[0].steps, 10 * TACIT_STEPS / 4 * 3);
    assert_int_equal(driver_agent_view(&agent).pull_count, 34);
    assert_false(driver_agent_view(&agent).finished);
    driver_expect(&whole, driver_start(), TACIT_OK);
    driver_play(&whole, means_3, 0);
    assert_true(driver_agent_view(&whole).finished);
    assert_int_equal(whole.update.message.kind, TACIT_ELIM_REPORT); /* the epoch was not cut */
}

TEST(exploited_while_waiting_counts_to_t_and_enters_no_estimate)
{
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
}

/* ---- Agent: orders --------------------------------------------------------------------------- */

static void refuse_order(struct driver_core *agent, struct tacit_elim_message order,
                         enum tacit_status status)
{
    driver_expect_nothing(agent, driver_receive(&order), status);
}

TEST(order_that_makes_no_sense_is_refused_without_trace)
{
    struct driver_setup const setup = noisy_setup();
    struct driver_core agent = waiting_agent(&setup, 10);
    give_order(&agent, 2, 20, first_2);
    struct tacit_elim_message last = driver_order(3, 20, first_2);
    last.last = true;
    refuse_order(&agent, last, TACIT_MALFORMED);
    refuse_order(&agent, driver_order(0, 20, only_0), TACIT_MALFORMED);
    refuse_order(&agent, driver_order(TACIT_ELIM_EPOCHS_MAX + 1, 20, only_0), TACIT_MALFORMED);
    refuse_order(&agent, driver_order(UINT32_MAX, 20, only_0), TACIT_MALFORMED);
    refuse_order(&agent, driver_order(3, 20, NULL), TACIT_MALFORMED);
    refuse_order(&agent, driver_order(1, 20, NULL), TACIT_MALFORMED);
    refuse_order(&agent, driver_order(3, TACIT_HORIZON_MAX + 1, only_0), TACIT_MALFORMED);
    refuse_order(&agent, driver_order(3, UINT64_MAX, only_0), TACIT_MALFORMED);
    refuse_order(&agent, driver_order(3, 20, none), TACIT_MALFORMED);
    refuse_order(&agent, driver_order(3, 20, all_3), TACIT_MALFORMED); /* arm 2 was eliminated */
    refuse_order(&agent, driver_order(3, 20, beyond_3), TACIT_MALFORMED);
    refuse_order(&agent, driver_order(3, 19, first_2), TACIT_MALFORMED); /* S falls */
    give_order(&agent, TACIT_ELIM_EPOCHS_MAX, 20, first_2);
    assert_int_equal(driver_agent_view(&agent).epoch, TACIT_ELIM_EPOCHS_MAX);
}

/* ---- Agent: plans ---------------------------------------------------------------------------- */

TEST(plan_longer_than_t_is_cut_round_robin_by_index_and_releases_nothing)
{
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
    }
}

TEST(plan_cut_at_t_gives_no_arm_more_than_it_still_needs)
{
    struct driver_setup const setup = driver_setup_plain(2, 3, 60);
    struct driver_core agent = pulling_agent(&setup, 10);
    driver_play(&agent, means_3, 10); /* arms 0 and 1: 10 each, arm 2: none; 40 slots are left */
    give_order(&agent, 2, 22, all_3); /* needs 12 + 12 + 22 = 46 */
    assert_int_equal(driver_plan_length(&agent), 40);
    assert_int_equal(agent.update.plan[0].count, 12);
    assert_int_equal(agent.update.plan[1].count, 12);
    assert_int_equal(agent.update.plan[2].count, 16);
}

TEST(need_beyond_any_horizon_is_cut_at_the_longest_horizon)
{
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
}

TEST(one_arm_needs_no_message)
{
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
}

/* ---- Agent: reports -------------------------------------------------------------------------- */

TEST(report_carries_the_history_of_the_active_arms_in_index_order)
{
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
}

TEST(waiting_agent_repeats_itself_at_deadlines_whose_pauses_double)
{
    struct driver_setup const setup = noisy_setup();
    struct driver_core agent = waiting_agent(&setup, 10);
    struct tacit_elim_message *const report = driver_keep(&agent);
    uint64_t const fills = agent.entropy.fill_count;
    for (uint32_t i = 0; i < 10; i++) {
        uint64_t const deadline_us = agent.update.deadline_us;
        assert_int_equal(deadline_us, agent.now_us + DRIVER_RESEND_US * (i < 6 ? 1u << i : 64));
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
}

TEST(exploit_arm_on_reals_compares_reals)
{
    struct driver_setup setup = driver_setup_plain(2, 3, 100000);
    setup.mode = TACIT_PRIVACY_NONE;
    double const means[] = {-1.0, -0.5, -0.5}; /* as integers, -1.0 is larger than -0.5 */
    struct driver_core agent = pulling_agent(&setup, 8);
    driver_play(&agent, means, 0);
    assert_int_equal(driver_agent_view(&agent).exploit_arm, 1);
}

/* No honest hub says so; an agent must neither release again nor stop asking. */
TEST(order_that_asks_for_no_pulls_is_answered_at_once_without_a_release)
{
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
}

/* ---- Agent: budget and entropy --------------------------------------------------------------- */

static void expect_undrawn(const struct driver_core *agent)
{
    struct tacit_elim_agent_view const view = driver_agent_view(agent);
    assert_false(agent->update.send);
    assert_true(view.releasing);
    assert_false(view.halted); /* it tries again */
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
    struct tacit_event const last = driver_reward(2, 1, steps(TACIT_STEPS / 2));
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
    return failed;
}

TEST(entropy_that_fails_at_any_fill_delays_the_release_and_it_is_drawn_once)
{
    uint64_t fill = 0;
    while (release_fails_at(fill))
        fill++;
    assert_in_range(fill, 3 * 4, 1000); /* 3 arms, at least 4 draws each */
}

/* ---- Agent: restarts ------------------------------------------------------------------------- */

/* What START finds in each phase is a matter of the persisted bytes alone, and of a new clock. */
static void restart(struct driver_core *core)
{
    driver_move(core);
    core->now_us = 3;
    driver_expect(core, driver_start(), TACIT_OK);
}

/* ---- Agent: what the hub holds --------------------------------------------------------------- */

/* An order to agent 0 alone, with what the hub holds from it. */
static struct tacit_elim_message word_of(uint32_t epoch, uint64_t pulls, const uint64_t *arms,
                                         uint32_t seen)
{
    struct tacit_elim_message order = driver_order(epoch, pulls, arms);
    order.to = 0;
    order.seen = seen;
    return order;
}

static void pass_deadline(struct driver_core *core)
{
    assert_true(core->update.deadline_us != TACIT_NEVER);
    core->now_us = core->update.deadline_us;
    driver_expect(core, driver_timeout(), TACIT_OK);
}

TEST(longest_pause_doubles_without_overflow)
{
    struct driver_setup const setup = noisy_setup();
    struct driver_core agent = driver_agent_open(&setup, 0);
    agent.agent_config.resend_after_us = TACIT_ELIM_PAUSE_US_MAX;
    assert_int_equal(tacit_elim_agent_init(agent.state, &agent.agent_config), TACIT_OK);
    driver_expect(&agent, driver_start(), TACIT_OK);
    for (uint32_t i = 0; i < 8; i++) {
        pass_deadline(&agent);
        assert_int_equal(agent.update.deadline_us,
                         agent.now_us + (TACIT_ELIM_PAUSE_US_MAX << (i < 6 ? i : 6)));
    }
}

/* ---- Agent: old copies ----------------------------------------------------------------------- */

/* Nothing brings it back, and nothing leaves. */
static void expect_halted_for_good(struct driver_core *agent)
{
    uint64_t const fills = agent->entropy.fill_count;
    for (uint32_t i = 0; i < 2; i++) {
        assert_true(driver_agent_view(agent).halted);
        assert_false(driver_agent_view(agent).waiting);
        assert_false(driver_agent_view(agent).finished);
        assert_false(agent->update.send);
        assert_int_equal(agent->update.plan_count, 0);
        assert_int_equal(agent->update.deadline_us, TACIT_NEVER);
        agent->now_us += 1000 * DRIVER_RESEND_US;
        driver_expect(agent, driver_timeout(), TACIT_OK);
        driver_expect_nothing(agent, driver_timeout(), TACIT_OK);
        refuse_order(agent, driver_order(9, 9000, only_0), TACIT_OK);
        refuse_order(agent, word_of(9, 9000, only_0, 0), TACIT_OK);
        refuse_order(agent, word_of(9, 9000, only_0, 9), TACIT_OK);
        refuse_order(agent, word_of(9, 9000, only_0, 10), TACIT_MALFORMED);
        driver_expect_nothing(agent, driver_reward(0, 1, steps(0)), TACIT_INVALID);
        driver_expect_nothing(agent, driver_exploited(1), TACIT_INVALID);
        restart(agent);
        assert_false(agent->update.persist);
    }
    assert_int_equal(agent->entropy.fill_count, fills);
}

/* A backup from the middle of epoch 2 comes back when the hub already has the report of epoch 2. */
TEST(copy_from_before_a_release_is_found_out_before_it_releases_again)
{
    struct driver_setup setup = noisy_setup();
    setup.answers_all = true;
    struct driver_run run;
    driver_run_open(&run, &setup, means_3);
    assert_true(driver_run_round(&run));
    struct driver_core *const lost = &run.agents[0];
    driver_expect(lost, driver_receive(run.order), TACIT_OK);
    struct driver_core old = driver_copy(lost);
    driver_play(lost, means_3, 0);
    driver_expect(&run.hub, driver_receive(&lost->update.message), TACIT_OK);
    assert_int_equal(run.hub.update.message.seen, 2);
    restart(&old);
    expect_hello(&old, 2);
    assert_true(old.update.plan_count > 0);
    driver_expect_answer(&run.hub, driver_receive(&old.update.message), 0);
    driver_expect(&old, driver_receive(&run.hub.update.message), TACIT_ROLLBACK);
    assert_int_equal(driver_agent_view(&old).ledger->release_count, 1);
    expect_halted_for_good(&old);
    /* The true one is not disturbed by the same words. */
    driver_expect(lost, driver_receive(&run.hub.update.message), TACIT_OK);
    assert_true(driver_agent_view(lost).reported);
}

/* ---- Agent: the last report ------------------------------------------------------------------ */

TEST(finished_agent_says_its_last_report_12_times_more_and_then_gives_up)
{
    struct driver_setup setup = noisy_setup();
    setup.horizon = 30;
    struct driver_core agent = waiting_agent(&setup, 10);
    struct tacit_elim_message *const report = driver_keep(&agent);
    for (uint32_t i = 0; i < 12; i++) {
        assert_int_equal(agent.update.deadline_us,
                         agent.now_us + DRIVER_RESEND_US * (i < 6 ? 1u << i : 64));
        pass_deadline(&agent);
        driver_expect_same(&agent, report, &agent.update.message);
    }
    assert_int_equal(agent.update.deadline_us, TACIT_NEVER);
    agent.now_us += 1000 * DRIVER_RESEND_US;
    driver_expect(&agent, driver_timeout(), TACIT_OK);
    assert_false(agent.update.send);
    restart(&agent); /* a new process tries once more */
    driver_expect_same(&agent, report, &agent.update.message);
    assert_int_equal(agent.update.deadline_us, TACIT_NEVER);
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

TEST(report_that_does_not_fit_its_order_is_refused_without_trace)
{
    struct driver_setup const setup = driver_setup_plain(2, 3, 2000);
    struct driver_core hub = started_hub(&setup);
    uint64_t const pulls = driver_hub_view(&hub).pulls;
    union tacit_sum const sums[4] = {{0}};
    refuse_report(&hub, report_of(1, 0, pulls, all_3, sums, 3), TACIT_MALFORMED);
    refuse_report(&hub, report_of(1, TACIT_ELIM_EPOCHS_MAX + 1, pulls, all_3, sums, 3),
                  TACIT_MALFORMED);
    refuse_report(&hub, report_of(1, UINT32_MAX, pulls, all_3, sums, 3), TACIT_MALFORMED);
    refuse_report(&hub, report_of(1, 2, pulls, all_3, sums, 3), TACIT_ROLLBACK);
    refuse_report(&hub, report_of(1, TACIT_ELIM_EPOCHS_MAX, pulls, all_3, sums, 3), TACIT_ROLLBACK);
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
}

TEST(report_with_an_implausible_sum_is_refused_whole)
{
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
}

TEST(report_on_reals_is_refused_unless_every_sum_is_finite)
{
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

TEST(aggregate_in_any_order_of_arrival_is_the_same_to_the_last_bit)
{
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
        permutations++;
    }
    assert_int_equal(permutations, 24);
}

TEST(aggregate_is_the_mean_of_the_reports_on_the_scale_of_0_to_1)
{
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
    return is_in;
}

TEST(arm_exactly_two_radii_below_the_best_goes_and_one_just_above_stays)
{
    uint32_t exact = 0;
    for (uint64_t horizon = 2000; horizon < 2100; horizon++) {
        struct tacit_elim_schedule const schedule = {
            .arm_count = 2, .report_count = 1, .horizon = horizon, .epsilon_per_reward = INFINITY};
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

TEST(arms_that_tie_for_ever_end_with_the_last_epoch_that_has_a_number)
{
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
}

/* ---- Hub: deadlines and quorums -------------------------------------------------------------- */

#define ROUND_US 1000u

static struct driver_setup patient_setup(uint32_t agent_count, uint32_t quorum)
{
    struct driver_setup setup = driver_setup_plain(agent_count, 3, 100000);
    setup.quorum = quorum;
    setup.round_timeout_us = ROUND_US;
    return setup;
}

/* Sums of the standing order's pulls in which agent a has the mean (a + 1) / 8 on every arm. */
static void report_to(struct driver_core *hub, uint32_t agent, enum tacit_status status)
{
    struct tacit_elim_hub_view const view = driver_hub_view(hub);
    int64_t const sum = (int64_t)(view.pulls * (agent + 1)) * (TACIT_STEPS / 8);
    union tacit_sum const sums[3] = {{.steps = sum}, {.steps = sum}, {.steps = sum}};
    struct tacit_elim_message const report =
        report_of(agent, view.epoch, view.pulls, all_3, sums, 3);
    driver_expect(hub, driver_receive(&report), status);
}

static struct driver_core hub_with_reports(const struct driver_setup *setup, uint32_t count)
{
    struct driver_core hub = started_hub(setup);
    for (uint32_t agent = 0; agent < count; agent++)
        report_to(&hub, agent, TACIT_OK);
    return hub;
}

static void expect_broadcast(const struct driver_core *hub, uint32_t epoch)
{
    assert_true(hub->update.send);
    assert_true(hub->update.persist);
    assert_int_equal(hub->update.message.to, TACIT_EVERYONE);
    assert_int_equal(hub->update.message.seen, 0);
    assert_int_equal(hub->update.message.epoch, epoch);
}

/* The round is over the deadline, and the hub waits. */
static void expect_overdue(const struct driver_core *hub, uint32_t reports)
{
    struct tacit_elim_hub_view const view = driver_hub_view(hub);
    assert_true(view.overdue);
    assert_int_equal(view.epoch, 1);
    assert_int_equal(view.report_count, reports);
    assert_int_equal(hub->update.deadline_us, TACIT_NEVER);
}

/* With 0, and with N, only everybody will do. */
TEST(overdue_round_closes_at_the_report_that_makes_the_quorum)
{
    uint32_t const quorums[] = {0, 1, 2, 3, 4};
    uint32_t const needed[] = {4, 1, 2, 3, 4};
    for (size_t i = 0; i < 5; i++) {
        struct driver_setup const setup = patient_setup(4, quorums[i]);
        for (uint32_t early = 0; early < needed[i]; early++) {
            struct driver_core hub = hub_with_reports(&setup, early);
            pass_deadline(&hub);
            assert_true(hub.update.persist);
            assert_false(hub.update.send);
            expect_overdue(&hub, early);
            for (uint32_t agent = early; agent + 1 < needed[i]; agent++) {
                report_to(&hub, agent, TACIT_OK);
                assert_false(hub.update.send);
                expect_overdue(&hub, agent + 1);
            }
            report_to(&hub, needed[i] - 1, TACIT_OK);
            expect_broadcast(&hub, 2);
            assert_false(driver_hub_view(&hub).overdue);
            assert_int_equal(hub.update.deadline_us, hub.now_us + ROUND_US);
        }
    }
}

TEST(quorum_aggregates_only_what_was_received_and_its_radius_says_so)
{
    struct driver_setup const setup = patient_setup(4, 2);
    struct driver_core hub = hub_with_reports(&setup, 4); /* rows of everybody, of epoch 1 */
    struct tacit_elim_hub_view view = driver_hub_view(&hub);
    struct tacit_elim_schedule const *const schedule = &hub.hub_config.schedule;
    assert_true(view.means[0] == (1 + 2 + 3 + 4) / 32.0);
    assert_int_equal(view.epoch, 2);
    uint64_t const pulls = view.pulls;
    report_to(&hub, 3, TACIT_OK);
    report_to(&hub, 1, TACIT_OK);
    pass_deadline(&hub);
    view = driver_hub_view(&hub);
    for (uint32_t arm = 0; arm < 3; arm++)
        assert_true(view.means[arm] == (2 + 4) / 16.0);
    assert_true(view.radius == tacit_elim_radius(schedule, 2, 3, pulls, 2));
    assert_true(view.radius > tacit_elim_radius(schedule, 2, 3, pulls, 4));
    assert_int_equal(view.seen[0], 1);
    assert_int_equal(view.seen[1], 2);
    assert_int_equal(view.seen[2], 1);
    assert_int_equal(view.seen[3], 2);
    /* An overdue round that one report closes: that one alone counts. */
    struct driver_setup const lonely_setup = patient_setup(4, 1);
    struct driver_core lonely = started_hub(&lonely_setup);
    uint64_t const first_pulls = driver_hub_view(&lonely).pulls;
    pass_deadline(&lonely);
    report_to(&lonely, 2, TACIT_OK);
    assert_true(driver_hub_view(&lonely).means[2] == 3 / 8.0);
    assert_true(driver_hub_view(&lonely).radius ==
                tacit_elim_radius(&lonely.hub_config.schedule, 1, 3, first_pulls, 1));
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
TEST(federation_of_3_agents_and_4_arms_does_what_the_oracle_computes)
{
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
}

/* The same with "horizon": 3000; the third epoch is cut. */
TEST(federation_whose_third_epoch_passes_t_stops_after_two_rounds)
{
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
}

/* echo '{"agents": 6, "means": [[0.55, 0.6]], "horizon": 1000, "rounds": 12, "gap": 0.95}' |
 *     python3 tests/oracle/elim_schedule_check.py
 * S stands still in the epochs 5, 8, 10 and 12. */
TEST(epochs_in_which_s_stands_still_cost_no_message)
{
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
}

/* echo '{"agents": 2, "means": [[0.9, 0.52, 0.5, ..18 times..]], "horizon": 100000, "rounds": 40,
 *        "gap": 0.2}' | python3 tests/oracle/elim_schedule_check.py
 * 18 arms leave in epoch 6; S(7) for two arms is smaller, but so is C(7), and arm 1 leaves too. */
TEST(epoch_in_which_s_stands_still_may_eliminate)
{
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
}

/* echo '{"agents": 3, "means": [[0.55, 0.62, 0.5, 0.1]], "horizon": 100000, "rounds": 2,
 *        "gap": 0.2}' | python3 tests/oracle/elim_schedule_check.py */
TEST(round_limit_with_several_arms_left_ends_with_the_best_mean)
{
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
}

TEST(round_limit_with_arms_that_tie_ends_with_the_lowest_index_of_the_best)
{
    double const means[] = {0.55, 0.62, 0.62};
    struct driver_setup setup = driver_setup_plain(2, 3, 100000);
    setup.round_limit = 1;
    setup.gap = 0.9;
    struct driver_run run;
    driver_run_open(&run, &setup, means);
    assert_true(driver_run_round(&run));
    assert_int_equal(driver_hub_view(&run.hub).active_count, 3);
    expect_last(&run, 2, 1);
}

TEST(participation_asks_exactly_n_agents_each_round_and_everyone_explores)
{
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
}
