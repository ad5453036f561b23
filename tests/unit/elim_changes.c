/* A run that is changed while it is under way: what each change does to rounds, plans and reports,
 * what is refused, and that none of them releases a reward twice or loses one. Without noise and
 * with constant rewards a sum shows to the step what entered it. */
#include <math.h>
#include "../support/testing.h"
#include "../support/damage.h"
#include "../support/digest.h"
#include "../support/elim_driver.h"

/* Of all steps below: digest.h. */
DIGEST_IS(UINT64_C(0x8d1425e617acab02))
/* Verdicts over damaged states: damage.h. */
VERDICTS_ARE(UINT64_C(0x302b414766e94744))

#define ARMS 4u
#define AGENTS 3u
#define NEVER_REFUSED UINT32_MAX

static const double means[ARMS] = {0.75, 0.6875, 0.5, 0.25};

static struct driver_setup changing_setup(uint32_t agents)
{
    struct driver_setup setup = driver_setup_plain(agents, ARMS, 1000000);
    setup.has_grants = true;
    setup.answers_all = true;
    setup.change_max = 8;
    return setup;
}

/* ---- A federation whose messages arrive when the test says so ---- */

struct star {
    struct driver_core hub;
    struct driver_core agents[AGENTS];
    uint32_t count;
    struct tacit_elim_message *order; /* broadcast last */
};

static void keep_order(struct star *star)
{
    if (!star->hub.update.send || star->hub.update.message.to != TACIT_EVERYONE)
        return;
    star->order = driver_keep(&star->hub);
}

static struct star star_open(const struct driver_setup *setup)
{
    struct star star = {.hub = driver_hub_open(setup), .count = setup->agent_count};
    driver_expect(&star.hub, driver_start(), TACIT_OK);
    keep_order(&star);
    for (uint32_t i = 0; i < star.count; i++) {
        star.agents[i] = driver_agent_open(setup, i);
        driver_expect(&star.agents[i], driver_start(), TACIT_OK);
        driver_expect(&star.agents[i], driver_receive(star.order), TACIT_OK);
    }
    return star;
}

/* All that the two have to say to each other, from what the agent said last. */
static void talk(struct star *star, uint32_t i)
{
    struct driver_core *const agent = &star->agents[i];
    for (uint32_t words = 0; agent->update.send && words < 8; words++) {
        struct tacit_elim_message *const said = driver_keep(agent);
        enum tacit_status const status = driver_step(&star->hub, driver_receive(said));
        testing_free(said);
        assert_int_equal(status, TACIT_OK);
        keep_order(star);
        agent->update.send = false;
        if (!star->hub.update.send)
            return;
        bool const is_ours = star->hub.update.message.to == i;
        struct tacit_elim_message *const answer = is_ours ? driver_keep(&star->hub) : NULL;
        if (is_ours)
            (void)driver_step(agent, driver_receive(answer));
        testing_free(answer);
    }
}

/* What stands, and what comes of it. */
static void play(struct star *star, uint32_t i)
{
    driver_expect(&star->agents[i], driver_start(), TACIT_OK);
    if (star->agents[i].update.plan_count > 0)
        driver_play(&star->agents[i], means, 0);
    talk(star, i);
}

static void hear(struct star *star, uint32_t i)
{
    (void)driver_step(&star->agents[i], driver_receive(star->order));
}

static uint32_t change(struct star *star, enum tacit_elim_change_kind kind, uint32_t subject,
                       uint64_t value)
{
    uint32_t number;
    assert_int_equal(driver_change(&star->hub, kind, subject, value, &number), TACIT_OK);
    keep_order(star);
    return number;
}

static void expect_refused(struct star *star, enum tacit_elim_change_kind kind, uint32_t subject,
                           uint64_t value, enum tacit_status status)
{
    uint32_t number;
    assert_int_equal(driver_change(&star->hub, kind, subject, value, &number), status);
    assert_false(star->hub.update.persist);
    assert_false(star->hub.update.send);
}

/* Everybody but `absent` plays and reports the round that stands. */
static void play_round(struct star *star, uint32_t absent)
{
    for (uint32_t i = 0; i < star->count; i++)
        if (i != absent)
            hear(star, i);
    for (uint32_t i = 0; i < star->count; i++)
        if (i != absent)
            play(star, i);
}

/* ---- Sites ---- */

TEST(site_that_is_dropped_lets_the_round_close_that_waited_for_it)
{
    struct driver_setup const setup = changing_setup(AGENTS);
    struct star star = star_open(&setup);
    play_round(&star, 2);
    assert_int_equal(driver_hub_view(&star.hub).epoch, 1);
    assert_int_equal(driver_hub_view(&star.hub).reports_missing, 1);
    assert_int_equal(change(&star, TACIT_ELIM_DROP_SITE, 2, 0), 1);
    assert_true(star.hub.update.persist);
    assert_int_equal(star.order->epoch, 2);
    assert_int_equal(star.order->change_count, 1);
    assert_int_equal(star.order->changes[0].kind, TACIT_ELIM_DROP_SITE);
    assert_int_equal(star.order->changes[0].epoch, 1);
    struct tacit_elim_hub_view const view = driver_hub_view(&star.hub);
    assert_int_equal(view.reports_missing, 2);
    assert_int_equal(view.quorum, 2);
    for (uint32_t arm = 0; arm < ARMS; arm++) /* of the two that reported */
        assert_true(fabs(view.means[arm] - means[arm]) < 1e-6);
    assert_int_equal(change(&star, TACIT_ELIM_DROP_SITE, 2, 0), 1); /* twice is once */
    assert_false(star.hub.update.persist);
    struct tacit_elim_schedule const of_two = {.arm_count = ARMS,
                                               .report_count = 2,
                                               .horizon = setup.horizon,
                                               .epsilon_per_reward = INFINITY};
    assert_int_equal(view.pulls, tacit_elim_pulls(&of_two, 2, view.active_count, 0));
    play_round(&star, 2);
    assert_int_equal(driver_hub_view(&star.hub).epoch, 3);
    assert_false(driver_hub_view(&star.hub).finished);
    expect_refused(&star, TACIT_ELIM_DROP_SITE, 3, 0, TACIT_INVALID);
    assert_int_equal(change(&star, TACIT_ELIM_DROP_SITE, 1, 0), 2);
    expect_refused(&star, TACIT_ELIM_DROP_SITE, 0, 0, TACIT_INVALID); /* the last one */
}

/* It is back: it follows, draws as all do, gets its grants, and reports nothing. */
TEST(dropped_site_that_comes_back_plays_along_and_is_not_counted)
{
    struct driver_setup const setup = changing_setup(AGENTS);
    struct star star = star_open(&setup);
    driver_play(&star.agents[2], means, 0); /* its commitment gets lost */
    play_round(&star, 2);
    (void)change(&star, TACIT_ELIM_DROP_SITE, 2, 0);
    hear(&star, 2);
    assert_true(driver_agent_view(&star.agents[2]).dropped);
    driver_expect(&star.agents[2], driver_start(), TACIT_OK);
    talk(&star, 2);
    hear(&star, 2);
    assert_int_equal(driver_agent_view(&star.agents[2]).epoch, 2);
    play_round(&star, NEVER_REFUSED);
    assert_int_equal(driver_hub_view(&star.hub).epoch, 3);
    assert_int_equal(driver_hub_view(&star.hub).seen[2], 0);
    assert_int_equal(driver_agent_view(&star.agents[2]).release_epoch, 2);
    assert_int_equal(driver_agent_view(&star.agents[2]).ledger->release_count, 2);
}

TEST(report_that_is_here_stays_when_its_site_is_dropped)
{
    struct driver_setup const setup = changing_setup(AGENTS);
    struct star star = star_open(&setup);
    play(&star, 2);
    (void)change(&star, TACIT_ELIM_DROP_SITE, 2, 0);
    assert_int_equal(driver_hub_view(&star.hub).covered_count, 1);
    play_round(&star, 2);
    assert_int_equal(driver_hub_view(&star.hub).epoch, 2);
    assert_int_equal(driver_hub_view(&star.hub).reports_missing, 2);
}

/* Participants are drawn among the others, and where all who were asked are gone, others are. */
TEST(dropped_sites_are_not_drawn)
{
    struct driver_setup setup = changing_setup(AGENTS);
    setup.report_count = 1;
    struct star star = star_open(&setup);
    uint32_t const asked = tacit_bits_next(driver_hub_view(&star.hub).uploaders, AGENTS, 0);
    play_round(&star, asked);
    assert_int_equal(driver_hub_view(&star.hub).epoch, 1);
    (void)change(&star, TACIT_ELIM_DROP_SITE, asked, 0);
    assert_int_equal(driver_hub_view(&star.hub).epoch, 1);
    assert_false(tacit_bits_has(driver_hub_view(&star.hub).uploaders, asked));
    for (uint32_t round = 0; round < 12 && !driver_hub_view(&star.hub).finished; round++) {
        uint32_t const epoch = driver_hub_view(&star.hub).epoch;
        play_round(&star, asked);
        assert_true(driver_hub_view(&star.hub).epoch > epoch); /* also who was asked in mid-epoch */
        assert_false(tacit_bits_has(driver_hub_view(&star.hub).uploaders, asked));
    }
}

TEST(without_entropy_nobody_is_dropped)
{
    struct driver_setup setup = changing_setup(AGENTS);
    uint32_t number;
    setup.report_count = 1;
    struct star star = star_open(&setup);
    star.hub.entropy.fail_from = star.hub.entropy.fill_count;
    star.hub.entropy.fail_count = 1;
    assert_int_equal(driver_change(&star.hub, TACIT_ELIM_DROP_SITE, 0, 0, &number), TACIT_ENTROPY);
    assert_int_equal(driver_change(&star.hub, TACIT_ELIM_DROP_SITE, 0, 0, &number), TACIT_OK);
    assert_int_equal(number, 1);
}

/* ---- Quorum, deadline, horizon, end ---- */

TEST(lower_quorum_closes_the_round_that_waited_for_it)
{
    struct driver_setup setup = changing_setup(AGENTS);
    setup.round_timeout_us = 1000;
    struct star star = star_open(&setup);
    play_round(&star, 2);
    star.hub.now_us = 1000;
    driver_expect(&star.hub, driver_timeout(), TACIT_OK);
    assert_true(driver_hub_view(&star.hub).overdue);
    (void)change(&star, TACIT_ELIM_SET_QUORUM_AND_DEADLINE, 2, 5000);
    assert_int_equal(driver_hub_view(&star.hub).epoch, 2);
    assert_int_equal(star.hub.update.deadline_us, 1000 + 5000);
    assert_int_equal(driver_hub_view(&star.hub).quorum, 2);
    assert_int_equal(change(&star, TACIT_ELIM_SET_QUORUM_AND_DEADLINE, 2, 5000), 0); /* so it is */
    assert_false(star.hub.update.persist);
    expect_refused(&star, TACIT_ELIM_SET_QUORUM_AND_DEADLINE, 4, 5000, TACIT_INVALID);
}

/* A run whose quorum and deadline are changed, and never needed, is the same run to the bit. */
TEST(a_quorum_that_is_not_needed_changes_no_result)
{
    struct driver_setup setup = changing_setup(AGENTS);
    setup.epsilon = 1;
    struct star stars[2] = {star_open(&setup), star_open(&setup)};
    for (uint32_t epoch = 1; epoch <= 3; epoch++) {
        (void)change(&stars[1], TACIT_ELIM_SET_QUORUM_AND_DEADLINE, epoch, 1000 * epoch);
        (void)change(&stars[1], TACIT_ELIM_EXTEND_HORIZON, 0, 1000000 + epoch);
        play_round(&stars[0], NEVER_REFUSED);
        play_round(&stars[1], NEVER_REFUSED);
    }
    struct tacit_elim_hub_view const with = driver_hub_view(&stars[1].hub);
    struct tacit_elim_hub_view const without = driver_hub_view(&stars[0].hub);
    assert_int_equal(with.epoch, 4);
    assert_int_equal(without.epoch, 4);
    assert_int_equal(with.pulls, without.pulls);
    assert_memory_equal(with.means, without.means, ARMS * sizeof *with.means);
    assert_int_equal(with.change_count, 6);
}

TEST(longer_horizon_lets_a_plan_be_played_that_did_not_fit)
{
    struct driver_setup setup = changing_setup(1);
    setup.horizon = 100;
    struct star star = star_open(&setup);
    uint64_t const pulls = driver_hub_view(&star.hub).pulls;
    assert_true(ARMS * pulls > 100);
    assert_int_equal(driver_plan_length(&star.agents[0]), 100);
    driver_play(&star.agents[0], means, 40);
    expect_refused(&star, TACIT_ELIM_EXTEND_HORIZON, 0, 99, TACIT_INVALID);
    expect_refused(&star, TACIT_ELIM_EXTEND_HORIZON, 0, TACIT_HORIZON_MAX + 1, TACIT_INVALID);
    (void)change(&star, TACIT_ELIM_EXTEND_HORIZON, 0, 100000);
    assert_int_equal(driver_hub_view(&star.hub).pulls, pulls); /* T in the logarithms stays */
    hear(&star, 0);
    assert_int_equal(driver_plan_length(&star.agents[0]), ARMS * pulls - 60);
    play(&star, 0);
    assert_int_equal(driver_hub_view(&star.hub).epoch, 2);
    struct tacit_elim_hub_view const view = driver_hub_view(&star.hub);
    for (uint32_t arm = 0; arm < ARMS; arm++) /* what was played before is in, once */
        assert_true(fabs(view.means[arm] - means[arm]) < 1e-6);
}

/* The site's own policy, and who has played its last pull, are not overruled. */
TEST(horizon_beyond_the_policy_is_not_taken)
{
    struct driver_setup setup = changing_setup(2);
    setup.horizon = 100;
    struct star star = star_open(&setup);
    star.agents[1] = driver_agent_open(&setup, 1);
    star.agents[1].agent_config.horizon_max = 150;
    assert_int_equal(tacit_elim_agent_init(star.agents[1].state, &star.agents[1].agent_config),
                     TACIT_OK);
    driver_expect(&star.agents[1], driver_start(), TACIT_OK);
    hear(&star, 1);
    driver_play(&star.agents[0], means, 0);
    assert_true(driver_agent_view(&star.agents[0]).finished);
    (void)change(&star, TACIT_ELIM_EXTEND_HORIZON, 0, 200);
    hear(&star, 0);
    hear(&star, 1);
    assert_true(driver_agent_view(&star.agents[0]).finished);
    assert_int_equal(driver_agent_view(&star.agents[0]).horizon, 100);
    assert_int_equal(driver_agent_view(&star.agents[1]).horizon, 100);
    assert_int_equal(driver_agent_view(&star.agents[1]).change_count, 1); /* it knows of it */
}

TEST(run_that_is_ended_gives_the_best_arm_by_what_is_known)
{
    struct driver_setup const setup = changing_setup(AGENTS);
    struct star star = star_open(&setup);
    expect_refused(&star, TACIT_ELIM_END_RUN, 0, 0, TACIT_INVALID); /* nothing is known */
    play_round(&star, NEVER_REFUSED);
    assert_false(driver_hub_view(&star.hub).finished);
    hear(&star, 0);
    driver_expect(&star.agents[0], driver_start(), TACIT_OK);
    driver_play(&star.agents[0], means, 5);
    (void)change(&star, TACIT_ELIM_END_RUN, 0, 0);
    assert_true(star.order->last && driver_hub_view(&star.hub).finished);
    for (uint32_t i = 0; i < AGENTS; i++) {
        hear(&star, i);
        struct tacit_elim_agent_view const view = driver_agent_view(&star.agents[i]);
        assert_true(view.last);
        assert_int_equal(view.exploit_arm, 0);
        assert_int_equal(view.release_epoch, 1); /* of the round that was open nothing leaves */
        assert_int_equal(view.ledger->release_count, 1);
    }
    assert_int_equal(change(&star, TACIT_ELIM_END_RUN, 0, 0), 1);
    expect_refused(&star, TACIT_ELIM_DROP_SITE, 0, 0, TACIT_UNEXPECTED);
    expect_refused(&star, TACIT_ELIM_EXTEND_HORIZON, 0, 2000000, TACIT_UNEXPECTED);
}

/* ---- Arms ---- */

TEST(arm_that_is_retired_is_played_no_more_and_the_round_goes_on)
{
    struct driver_setup const setup = changing_setup(2);
    struct star star = star_open(&setup);
    play(&star, 0); /* its report, with all arms, is on its way or here */
    driver_play(&star.agents[1], means, 7);
    (void)change(&star, TACIT_ELIM_RETIRE_ARM, 0, 0);
    assert_int_equal(star.order->epoch, 1);
    hear(&star, 0);
    hear(&star, 1);
    struct tacit_elim_agent_view view = driver_agent_view(&star.agents[1]);
    assert_false(tacit_bits_has(view.playable, 0));
    assert_int_equal(view.playable_count, 3);
    for (uint32_t i = 0; i < star.agents[1].update.plan_count; i++)
        assert_int_not_equal(star.agents[1].update.plan[i].arm, 0);
    driver_expect(&star.agents[1], driver_reward(0, 1, (union tacit_sum){.steps = 1}),
                  TACIT_INVALID);
    play(&star, 1);
    struct tacit_elim_hub_view const hub = driver_hub_view(&star.hub);
    assert_int_equal(hub.epoch, 2);
    assert_int_equal(hub.eliminated[0], 1);
    assert_false(tacit_bits_has(hub.arms, 0));
    for (uint32_t arm = 1; arm < ARMS; arm++)
        assert_true(fabs(hub.means[arm] - means[arm]) < 1e-6);
    assert_false(tacit_bits_has(star.order->arms, 0));
    assert_int_equal(change(&star, TACIT_ELIM_RETIRE_ARM, 0, 0), 1);
    (void)change(&star, TACIT_ELIM_RETIRE_ARM, 3, 0);
    assert_false(driver_hub_view(&star.hub).finished);
    (void)change(&star, TACIT_ELIM_RETIRE_ARM, 2, 0); /* one is left: there is nothing to ask */
    assert_true(star.order->last);
    for (uint32_t i = 0; i < 2; i++) {
        hear(&star, i);
        assert_int_equal(driver_agent_view(&star.agents[i]).exploit_arm, 1);
    }
    expect_refused(&star, TACIT_ELIM_RETIRE_ARM, 1, 0, TACIT_UNEXPECTED);
}

/* Only the retired arm was left to be pulled: the epoch is over with the word. */
TEST(epoch_ends_when_only_the_retired_arm_was_left_of_it)
{
    struct driver_setup const setup = changing_setup(1);
    struct star star = star_open(&setup);
    driver_play(&star.agents[0], means, 2); /* arms are played in order: two pulls of the last */
    (void)change(&star, TACIT_ELIM_RETIRE_ARM, ARMS - 1, 0);
    hear(&star, 0);
    assert_true(driver_agent_view(&star.agents[0]).committed);
    assert_true(star.agents[0].update.persist);
    talk(&star, 0);
    assert_int_equal(driver_hub_view(&star.hub).epoch, 2);
    assert_int_equal(driver_agent_view(&star.agents[0]).ledger->release_count, 1);
}

TEST(site_that_refuses_an_arm_is_not_counted_while_the_arm_is_in)
{
    struct driver_setup const setup = changing_setup(AGENTS);
    struct star star = star_open(&setup);
    driver_play(&star.agents[1], means, 9);
    assert_int_equal(driver_refuse(&star.agents[1], 3), TACIT_OK);
    assert_true(star.agents[1].update.persist && star.agents[1].update.send);
    assert_false(tacit_bits_has(driver_agent_view(&star.agents[1]).playable, 3));
    talk(&star, 1);
    assert_true(tacit_bits_has(driver_hub_view(&star.hub).abstaining, 1));
    assert_true(tacit_bits_has(driver_hub_view(&star.hub).refused + 1 * TACIT_BITS_WORDS(ARMS), 3));
    assert_int_equal(driver_refuse(&star.agents[1], 3), TACIT_OK);
    play_round(&star, NEVER_REFUSED);
    assert_int_equal(driver_hub_view(&star.hub).epoch, 2);
    assert_int_equal(driver_hub_view(&star.hub).seen[1], 0);
    (void)change(&star, TACIT_ELIM_RETIRE_ARM, 3, 0); /* the operator follows */
    assert_false(tacit_bits_has(driver_hub_view(&star.hub).abstaining, 1));
    play_round(&star, NEVER_REFUSED);
    play_round(&star, NEVER_REFUSED);
    assert_true(driver_hub_view(&star.hub).seen[1] >= 2);
    struct tacit_elim_hub_view const hub = driver_hub_view(&star.hub);
    for (uint32_t arm = 0; arm + 1 < ARMS; arm++)
        assert_true(fabs(hub.means[arm] - means[arm]) < 1e-6);
}

/* Its release waits for its grant: the word goes with the commitment, and nobody takes it for a
 * second state. */
TEST(site_that_refuses_while_its_release_waits_is_not_flagged)
{
    struct driver_setup const setup = changing_setup(AGENTS);
    struct star star = star_open(&setup);
    driver_play(&star.agents[1], means, 0);
    assert_true(driver_agent_view(&star.agents[1]).committed);
    assert_int_equal(driver_refuse(&star.agents[1], 3), TACIT_OK);
    assert_int_equal(star.agents[1].update.message.kind, TACIT_ELIM_COMMIT);
    talk(&star, 1);
    assert_true(tacit_bits_has(driver_hub_view(&star.hub).abstaining, 1));
    assert_false(tacit_bits_has(driver_hub_view(&star.hub).flagged, 1));
    assert_int_equal(driver_agent_view(&star.agents[1]).release_epoch, 1);
    assert_int_equal(driver_hub_view(&star.hub).report_count, 0);
}

TEST(site_keeps_one_arm_and_refuses_even_the_winner)
{
    struct driver_setup const setup = changing_setup(2);
    struct star star = star_open(&setup);
    play_round(&star, NEVER_REFUSED);
    (void)change(&star, TACIT_ELIM_END_RUN, 0, 0);
    hear(&star, 0);
    assert_int_equal(driver_refuse(&star.agents[0], 0), TACIT_OK);
    assert_int_equal(driver_agent_view(&star.agents[0]).exploit_arm, 1); /* the next best */
    assert_int_equal(driver_refuse(&star.agents[0], 1), TACIT_OK);
    assert_int_equal(driver_refuse(&star.agents[0], 2), TACIT_OK);
    assert_int_equal(driver_refuse(&star.agents[0], 3), TACIT_INVALID);
    assert_int_equal(driver_refuse(&star.agents[0], ARMS), TACIT_INVALID);
    assert_int_equal(driver_agent_view(&star.agents[0]).exploit_arm, 3);
}

/* A coordinator that has forgotten its log brings no arm back. */
TEST(new_term_leaves_retired_arms_out)
{
    struct driver_setup const setup = changing_setup(2);
    struct star star = star_open(&setup);
    (void)change(&star, TACIT_ELIM_RETIRE_ARM, 1, 0);
    hear(&star, 0);
    struct tacit_event const term = {.kind = TACIT_EVENT_START, .as.term = 1};
    driver_expect(&star.agents[0], term, TACIT_OK);
    struct tacit_elim_agent_view const view = driver_agent_view(&star.agents[0]);
    assert_int_equal(view.change_count, 0);
    assert_true(tacit_bits_has(view.refused, 1));
    assert_false(tacit_bits_has(view.playable, 1));
}

/* ---- Words that do not fit ---- */

TEST(orders_with_a_log_that_does_not_fit_are_refused_without_trace)
{
    struct driver_setup const setup = changing_setup(2);
    struct star star = star_open(&setup);
    (void)change(&star, TACIT_ELIM_RETIRE_ARM, 1, 0);
    struct tacit_elim_change log[9];
    for (uint32_t i = 0; i < 9; i++) {
        log[i] = star.order->changes[0];
        log[i].number = i + 1;
        log[i].subject = i % 3;
    }
    struct tacit_elim_message order = *star.order;
    order.changes = log;
    order.change_count = 9; /* more than there is room for */
    driver_expect_nothing(&star.agents[0], driver_receive(&order), TACIT_MALFORMED);
    order.change_count = 1;
    log[0].subject = ARMS;
    driver_expect_nothing(&star.agents[0], driver_receive(&order), TACIT_MALFORMED);
    log[0].subject = 0;
    log[0].kind = 6;
    driver_expect_nothing(&star.agents[0], driver_receive(&order), TACIT_MALFORMED);
    log[0].kind = TACIT_ELIM_RETIRE_ARM;
    log[0].number = 2;
    driver_expect_nothing(&star.agents[0], driver_receive(&order), TACIT_MALFORMED);
    hear(&star, 0);
    log[0].number = 1; /* another story than the one it was told */
    driver_expect_nothing(&star.agents[0], driver_receive(&order), TACIT_FORKED);
    order.changes = NULL;
    order.change_count = 0; /* an order from before, that was late */
    driver_expect_nothing(&star.agents[0], driver_receive(&order), TACIT_OK);
    assert_int_equal(driver_agent_view(&star.agents[0]).change_count, 1);
}

TEST(log_that_is_full_takes_no_more)
{
    struct driver_setup const setup = changing_setup(2);
    struct star star = star_open(&setup);
    struct driver_setup closed = setup;
    for (uint32_t i = 0; i < setup.change_max; i++)
        assert_int_equal(change(&star, TACIT_ELIM_EXTEND_HORIZON, 0, setup.horizon + 1 + i), i + 1);
    expect_refused(&star, TACIT_ELIM_RETIRE_ARM, 0, 0, TACIT_REFUSED);
    expect_refused(&star, (enum tacit_elim_change_kind)0, 0, 0, TACIT_REFUSED);
    closed.change_max = 0;
    star = star_open(&closed);
    expect_refused(&star, TACIT_ELIM_RETIRE_ARM, 0, 0, TACIT_REFUSED);
}
