/* The cores of epoch elimination, driven by hand, where no storm comes: plans that T cuts, real
 * sums, a radius to the last bit, the longest horizon and pause; and whole small federations
 * against the oracle tests/oracle/elim_schedule_check.py. All else is in the storm (round/
 * storm_elimination). */
#include <math.h>
#include "../support/testing.h"
#include "../support/damage.h"
#include "../support/digest.h"
#include "../support/elim_driver.h"

/* Of all steps below: digest.h. */
DIGEST_IS(UINT64_C(0xedec36aa8de93e9a))
/* Verdicts over damaged states: damage.h. */
VERDICTS_ARE(UINT64_C(0x81a4efe1ab457b21))

/* Sets of arms. */
static const uint64_t first_2[] = {3};
static const uint64_t all_3[] = {7};
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

static struct driver_setup noisy_setup(void)
{
    struct driver_setup setup = driver_setup_plain(2, 3, 100000);
    setup.epsilon = 1;
    setup.budget_nano = TACIT_NANO;
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
        driver_play(&agent, means_3);
        assert_false(agent.update.send);
        assert_true(driver_agent_view(&agent).finished);
        assert_int_equal(driver_agent_view(&agent).release_epoch, 0);
        assert_int_equal(tacit_ledger_spent_nano(driver_agent_view(&agent).ledger), 0);
    }
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
    driver_play(&agent, means_3);
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
    driver_play(&agent, means);
    assert_false(agent.update.send);
    assert_true(driver_agent_view(&agent).finished);
    assert_int_equal(agent.entropy.fill_count, 0);
}

TEST(exploit_arm_on_reals_compares_reals)
{
    struct driver_setup setup = driver_setup_plain(2, 3, 100000);
    setup.mode = TACIT_PRIVACY_NONE;
    double const means[] = {-1.0, -0.5, -0.5}; /* as integers, -1.0 is larger than -0.5 */
    struct driver_core agent = pulling_agent(&setup, 8);
    driver_play(&agent, means);
    assert_int_equal(driver_agent_view(&agent).exploit_arm, 1);
}

/* All who were asked have been left out meanwhile. */
TEST(site_at_t_that_is_asked_after_all_reports)
{
    static const uint64_t both[] = {3};
    static const uint64_t only_1[] = {2};
    double const means[] = {0.5, 0.5};
    struct driver_setup setup = driver_setup_plain(2, 2, 200);
    setup.change_max = 1;
    struct driver_core agent = driver_agent_open(&setup, 0);
    struct tacit_elim_message order = driver_order(1, 50, both);
    order.uploaders = only_1;
    driver_expect(&agent, driver_start(), TACIT_OK);
    driver_expect(&agent, driver_receive(&order), TACIT_OK);
    driver_play(&agent, means);
    driver_expect(&agent,
                  (struct tacit_event){.kind = TACIT_EVENT_EXPLOITED, .as.exploited_count = 100},
                  TACIT_OK);
    assert_true(driver_agent_view(&agent).finished);
    assert_false(agent.update.send);
    order.uploaders = both;
    driver_expect(&agent, driver_receive(&order), TACIT_OK);
    assert_true(agent.update.send);
    assert_int_equal(agent.update.message.kind, TACIT_ELIM_REPORT);
}

/* What an order says that the operator changed: each number to its end, and one beyond. */
TEST(change_that_no_run_can_have_is_refused)
{
    static const uint64_t both[] = {3};
    static const struct {
        uint32_t kind;
        uint32_t subject;
        uint64_t value;
        uint32_t epoch;
        uint32_t number;
        enum tacit_status status;
    } rows[] = {
        {TACIT_ELIM_DROP_SITE, 2, 0, 1, 1, TACIT_OK},
        {TACIT_ELIM_DROP_SITE, 3, 0, 1, 1, TACIT_MALFORMED},
        {TACIT_ELIM_DROP_SITE, 2, 1, 1, 1, TACIT_MALFORMED},
        {TACIT_ELIM_SET_QUORUM_AND_DEADLINE, 3, TACIT_ELIM_PAUSE_US_MAX, 1, 1, TACIT_OK},
        {TACIT_ELIM_SET_QUORUM_AND_DEADLINE, 4, 0, 1, 1, TACIT_MALFORMED},
        {TACIT_ELIM_SET_QUORUM_AND_DEADLINE, 3, TACIT_ELIM_PAUSE_US_MAX + 1, 1, 1, TACIT_MALFORMED},
        {TACIT_ELIM_END_RUN, 0, 0, 1, 1, TACIT_OK},
        {TACIT_ELIM_END_RUN, 1, 0, 1, 1, TACIT_MALFORMED},
        {TACIT_ELIM_END_RUN, 0, 1, 1, 1, TACIT_MALFORMED},
        {TACIT_ELIM_EXTEND_HORIZON, 0, 1, 1, 1, TACIT_OK},
        {TACIT_ELIM_EXTEND_HORIZON, 0, TACIT_HORIZON_MAX, 1, 1, TACIT_OK},
        {TACIT_ELIM_EXTEND_HORIZON, 0, 0, 1, 1, TACIT_MALFORMED},
        {TACIT_ELIM_EXTEND_HORIZON, 0, TACIT_HORIZON_MAX + 1, 1, 1, TACIT_MALFORMED},
        {TACIT_ELIM_EXTEND_HORIZON, 1, 1, 1, 1, TACIT_MALFORMED},
        {TACIT_ELIM_RETIRE_ARM, 1, 0, TACIT_ELIM_EPOCHS_MAX, 1, TACIT_OK},
        {TACIT_ELIM_RETIRE_ARM, 2, 0, 1, 1, TACIT_MALFORMED},
        {TACIT_ELIM_RETIRE_ARM, 1, 1, 1, 1, TACIT_MALFORMED},
        {TACIT_ELIM_RETIRE_ARM, 1, 0, 0, 1, TACIT_MALFORMED},
        {TACIT_ELIM_RETIRE_ARM, 1, 0, TACIT_ELIM_EPOCHS_MAX + 1, 1, TACIT_MALFORMED},
        {TACIT_ELIM_RETIRE_ARM, 1, 0, 1, 0, TACIT_MALFORMED},
        {TACIT_ELIM_RETIRE_ARM, 1, 0, 1, 2, TACIT_MALFORMED},
        {TACIT_ELIM_RETIRE_ARM + 1, 0, 0, 1, 1, TACIT_MALFORMED},
    };
    struct driver_setup setup = driver_setup_plain(3, 2, 200);
    setup.change_max = 1;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct driver_core agent = driver_agent_open(&setup, 0);
        struct tacit_elim_change const change = {.kind = rows[i].kind,
                                                 .epoch = rows[i].epoch,
                                                 .subject = rows[i].subject,
                                                 .number = rows[i].number,
                                                 .value = rows[i].value};
        struct tacit_elim_message order = driver_order(1, 50, both);
        order.changes = &change;
        order.change_count = 1;
        driver_expect(&agent, driver_start(), TACIT_OK);
        if (rows[i].status == TACIT_OK)
            driver_expect(&agent, driver_receive(&order), TACIT_OK);
        else
            driver_expect_refusal(&agent, driver_receive(&order), TACIT_MALFORMED);
    }
}

TEST(hub_without_a_log_takes_no_changes)
{
    struct driver_setup const setup = driver_setup_plain(2, 2, 200);
    struct driver_core const hub = driver_hub_open(&setup);
    struct tacit_elim_change const longer = {.kind = TACIT_ELIM_EXTEND_HORIZON, .value = 300};
    struct tacit_rng rng = tacit_rng_stream(1, 0, 0, TACIT_PURPOSE_NOISE);
    struct tacit_entropy const entropy = tacit_rng_entropy(&rng);
    struct tacit_elim_update update;
    uint32_t number = 0;
    assert_int_equal(tacit_elim_hub_change(hub.state, &longer, 0, &entropy, &update, &number),
                     TACIT_REFUSED);
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
    driver_expect_refusal(hub, driver_receive(&report), status);
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

/* ---- Federations ----------------------------------------------------------------------------- */

#define ROUNDS_MOST 8u

/* What the oracle computes, of tests/oracle/elim_schedule_check.py: epochs that are collected, and
 * what the hub knows after its test. */
struct federation {
    const char *name;
    uint32_t agents;
    uint32_t arms;
    double means[20];
    uint64_t horizon;
    uint32_t round_limit;
    double gap;
    struct {
        uint32_t epoch;
        uint64_t pulls;
        double radius;
        uint64_t arms_after;
    } rounds[ROUNDS_MOST];
    uint32_t round_count;
    uint32_t last_epoch; /* of the last order, or of the one whose plan T cuts */
    uint32_t last_arm;   /* NO_ARM: T comes before */
    uint32_t eliminated[20];
};

#define NO_ARM UINT32_MAX
#define ALL_20 ((UINT64_C(1) << 20) - 1)
#define OTHERS(x) x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x

/* echo '{"agents": 3, "means": [[0.9, 0.8, 0.5, 0.1]], "horizon": 100000, "rounds": .., "gap": ..}'
 *     | python3 tests/oracle/elim_schedule_check.py */
static const struct federation federations[] = {
    {"what_the_oracle_computes",
     3,
     4,
     {0.9, 0.8, 0.5, 0.1},
     100000,
     0,
     0,
     {{1, 160, 0.12491105738922277, 3},
      {2, 669, 0.0624842950838053, 3},
      {3, 2814, 0.031244747262445423, 1}},
     3,
     4,
     0,
     {0, 3, 1, 1}},
    {"third_epoch_passes_t",
     3,
     4,
     {0.9, 0.8, 0.5, 0.1},
     3000,
     0,
     0,
     {{1, 123, 0.12467901046694357, 3}, {2, 520, 0.06244292432614455, 3}},
     2,
     3,
     NO_ARM,
     {0, 0, 1, 1}},
    {"epochs_in_which_s_stands_still_cost_no_message", /* 5, 8, 10 and 12 */
     6,
     2,
     {0.55, 0.6},
     1000,
     12,
     0.95,
     {{1, 14, 0.24004394440470386, 3},
      {2, 16, 0.24008069782998018, 3},
      {3, 17, 0.24129520381700278, 3},
      {4, 18, 0.24437391494587302, 3}, /* the radius is that of epoch 5, tested at once */
      {6, 19, 0.24119460494531836, 3},
      {7, 20, 0.24013214317487075, 3},
      {9, 21, 0.23809357060186334, 3},
      {11, 22, 0.23556956526423356, 3}},
     8,
     13,
     1,
     {0}},
    {"epoch_in_which_s_stands_still_may_eliminate", /* 18 arms leave in 6; S(7), C(7) are smaller */
     2,
     20,
     {0.9, 0.52, OTHERS(0.5)},
     100000,
     40,
     0.2,
     {{1, 72, 0.23999493108220635, ALL_20},
      {2, 85, 0.22992577856985236, ALL_20},
      {3, 96, 0.22117891900528058, ALL_20},
      {4, 107, 0.21268580663071643, ALL_20},
      {5, 119, 0.20398846104019402, ALL_20},
      {6, 131, 0.1862513614137478, 1}},
     6,
     8,
     0,
     {0, 7, OTHERS(6)}},
    {"round_limit_with_several_arms_left_ends_with_the_best_mean",
     3,
     4,
     {0.55, 0.62, 0.5, 0.1},
     100000,
     2,
     0.2,
     {{1, 200, 0.1117238461854718, 7}, {2, 1072, 0.04999576110209304, 3}},
     2,
     3,
     1,
     {0, 0, 2, 1}},
};

static void federation_does(void **state)
{
    struct federation const *const as = *state;
    struct driver_setup setup = driver_setup_plain(as->agents, as->arms, as->horizon);
    struct driver_run run;
    setup.round_limit = as->round_limit;
    setup.gap = as->gap;
    driver_run_open(&run, &setup, as->means);
    for (uint32_t i = 0; i < as->round_count; i++) {
        assert_int_equal(run.order->epoch, as->rounds[i].epoch);
        assert_int_equal(run.order->pulls, as->rounds[i].pulls);
        assert_false(run.order->last);
        assert_true(driver_run_round(&run));
        struct tacit_elim_hub_view const view = driver_hub_view(&run.hub);
        assert_true(fabs(view.radius - as->rounds[i].radius) < 1e-14);
        assert_int_equal(view.arms[0], as->rounds[i].arms_after);
    }
    assert_int_equal(driver_hub_view(&run.hub).round_count, as->round_count);
    assert_memory_equal(driver_hub_view(&run.hub).eliminated, as->eliminated,
                        as->arms * sizeof *as->eliminated);
    assert_int_equal(run.order->last, as->last_arm != NO_ARM);
    assert_int_equal(run.order->epoch, as->last_epoch);
    assert_false(driver_run_round(&run));
    for (uint32_t agent = 0; agent < as->agents; agent++) {
        struct tacit_elim_agent_view const view = driver_agent_view(&run.agents[agent]);
        assert_true(view.finished);
        assert_int_equal(view.pull_count, as->horizon);
        if (as->last_arm != NO_ARM)
            assert_int_equal(view.arms[0], UINT64_C(1) << as->last_arm);
    }
    assert_int_equal(run.report_count, as->round_count * as->agents);
}

__attribute__((constructor)) static void add_federations(void)
{
    TESTING_ADD_CASES(federations, federation_does);
}

TEST(participation_asks_exactly_n_agents_each_round_and_everyone_explores)
{
    double const means[] = {0.505, 0.5, 0.1};
    struct driver_setup setup = driver_setup_plain(8, 3, 2000000);
    struct driver_run run;
    setup.report_count = 3;
    driver_run_open(&run, &setup, means);
    for (uint32_t round = 1; round <= 6; round++) {
        assert_int_equal(tacit_bits_count(run.order->uploaders, 8), 3);
        assert_true(driver_run_round(&run));
        assert_int_equal(run.report_count, 3 * round);
        for (uint32_t agent = 0; agent < 8; agent++)
            assert_int_equal(driver_agent_view(&run.agents[agent]).release_epoch, round);
    }
}
