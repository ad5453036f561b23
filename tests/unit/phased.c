/* The cores of the phased index, driven by hand: orders that overtake a plan or do not fit, T, what
 * rounds cost, rounds without everybody, schedules that cannot be, and the judge alone. What is
 * late, repeated, refused or restarted is so in round/storm_phased. */
#include <math.h>
#include "../support/testing.h"
#include "../support/damage.h"
#include "../support/digest.h"
#include "../support/phased_driver.h"

/* Of all steps below: digest.h. */
DIGEST_IS(UINT64_C(0x76a171765943ef54))
/* Verdicts over damaged states: damage.h. */
VERDICTS_ARE(UINT64_C(0x434f2699a9bde022))

#define ARMS 5u

static double const means[ARMS] = {0.2, 0.8, 0.5, 0.75, 0.1};

static struct phased_setup setup_of(uint32_t agents, uint64_t horizon, double confidence)
{
    return (struct phased_setup){.schedule = {.arm_count = ARMS,
                                              .agent_count = agents,
                                              .horizon = horizon,
                                              .epsilon_per_reward = 1,
                                              .growth = 2,
                                              .arms_per_round = 4,
                                              .confidence = confidence},
                                 .means = means,
                                 .seed = 3,
                                 .budget_nano = TACIT_NANO};
}

static struct tacit_phased_message order_of(uint32_t round, const struct tacit_pull_block *blocks,
                                            uint32_t count)
{
    return (struct tacit_phased_message){.kind = TACIT_ROUND_ORDER,
                                         .from = TACIT_HUB,
                                         .to = TACIT_EVERYONE,
                                         .run_id = PHASED_RUN_ID,
                                         .round = round,
                                         .leader = TACIT_NO_ARM,
                                         .block_count = count,
                                         .blocks = blocks};
}

static struct tacit_phased_message report_of(uint32_t agent, uint32_t round, const int64_t *sums,
                                             uint32_t count)
{
    return (struct tacit_phased_message){.kind = TACIT_ROUND_REPORT,
                                         .from = agent,
                                         .to = TACIT_HUB,
                                         .run_id = PHASED_RUN_ID,
                                         .round = round,
                                         .block_count = count,
                                         .sums = sums};
}

static struct tacit_phased_message hello_of(uint32_t agent, uint32_t round)
{
    struct tacit_phased_message hello = report_of(agent, round, NULL, 0);
    hello.kind = TACIT_ROUND_HELLO;
    return hello;
}

static const struct tacit_pull_block two_blocks[] = {{1, 10}, {3, 20}};
static const struct tacit_pull_block other_blocks[] = {{0, 7}, {1, 5}};

/* A site with the plan of round 1 open: 10 pulls of arm 1, 20 of arm 3. */
static struct phased_core *pulling_agent(const struct phased_setup *setup)
{
    struct phased_core *const agent = phased_agent_new(setup, 0);
    struct tacit_phased_message const order = order_of(1, two_blocks, 2);
    assert_int_equal(phased_step(agent, phased_start()), TACIT_OK);
    assert_int_equal(phased_step(agent, phased_receive(&order)), TACIT_OK);
    assert_int_equal(agent->update.plan_count, 2);
    return agent;
}

/* ---- Agent ---- */

/* The last word may have the number after that of the last plan. */
TEST(numbers_reach_to_their_last)
{
    struct phased_setup setup = setup_of(2, 1000, 0);
    struct phased_core *agent = phased_agent_new(&setup, 0);
    assert_int_equal(phased_step(agent, phased_start()), TACIT_OK);
    struct tacit_phased_message const large = order_of(TACIT_PHASED_ROUNDS_MAX, two_blocks, 2);
    assert_int_equal(phased_step(agent, phased_receive(&large)), TACIT_OK);
    assert_int_equal(phased_play(agent), TACIT_OK);
    struct tacit_phased_message last = order_of(TACIT_PHASED_ROUNDS_MAX + 1, NULL, 0);
    last.last = true;
    assert_int_equal(phased_step(agent, phased_receive(&last)), TACIT_OK);
    assert_int_equal(phased_play(agent), TACIT_OK);
    assert_true(phased_agent_view(agent).finished);
}

TEST(plan_of_all_slots_for_one_arm_is_released)
{
    struct tacit_pull_block const all[] = {{2, 1000}};
    struct phased_setup const setup = setup_of(2, 1000, 0);
    struct phased_core *const agent = phased_agent_new(&setup, 0);
    struct tacit_phased_message const order = order_of(1, all, 1);
    struct tacit_phased_message next = order_of(2, two_blocks, 2);
    assert_int_equal(phased_step(agent, phased_receive(&order)), TACIT_OK);
    assert_int_equal(phased_play(agent), TACIT_OK);
    assert_int_equal(agent->update.message.kind, TACIT_ROUND_REPORT);
    assert_true(phased_agent_view(agent).finished);
    next.to = 0;
    assert_int_equal(phased_step(agent, phased_receive(&next)), TACIT_OK); /* nobody waits for it */
    assert_true(phased_agent_view(agent).reported && agent->update.persist);
    assert_int_equal(agent->update.deadline_us, TACIT_NEVER);
    assert_int_equal(phased_step(agent, phased_receive(&next)), TACIT_OK);
    assert_false(agent->update.persist);
}

/* The rewards of the plan before are dropped: the new release says nothing of them. */
TEST(order_overtakes_an_open_plan_and_its_rewards_are_dropped)
{
    struct phased_setup setup = setup_of(2, 1000, 0);
    setup.schedule.epsilon_per_reward = INFINITY;
    struct phased_core *const agent = pulling_agent(&setup);
    assert_int_equal(phased_step(agent, phased_reward(1, 10, 10 * TACIT_STEPS)), TACIT_OK);
    struct tacit_phased_message const order = order_of(3, other_blocks, 2);
    assert_int_equal(phased_step(agent, phased_receive(&order)), TACIT_OK);
    assert_true(agent->update.plan_is_void);
    assert_int_equal(agent->update.plan_count, 2);
    assert_int_equal(phased_step(agent, phased_reward(0, 7, 3)), TACIT_OK);
    assert_int_equal(phased_step(agent, phased_reward(1, 5, 4)), TACIT_OK);
    assert_int_equal(agent->update.message.round, 3);
    assert_int_equal(agent->update.message.sums[0], 3);
    assert_int_equal(agent->update.message.sums[1], 4);
    assert_int_equal(phased_agent_view(agent).pull_count, 22);
    assert_int_equal(phased_agent_view(agent).exploit_arm, 1); /* 4/5 > 3/7 */
}

TEST(plan_that_does_not_fit_is_played_by_the_leader_and_never_released)
{
    struct phased_setup const setup = setup_of(2, 29, 0);
    struct phased_core *agent = phased_agent_new(&setup, 0);
    struct tacit_phased_message order = order_of(4, two_blocks, 2); /* 30 pulls */
    order.leader = 2;
    assert_int_equal(phased_step(agent, phased_start()), TACIT_OK);
    assert_int_equal(phased_step(agent, phased_receive(&order)), TACIT_OK);
    assert_int_equal(agent->update.plan_count, 1);
    assert_int_equal(agent->update.plan[0].arm, 2);
    assert_int_equal(phased_play(agent), TACIT_OK);
    assert_false(agent->update.send);
    assert_true(phased_agent_view(agent).finished);
    assert_int_equal(phased_agent_view(agent).ledger->release_count, 0);
    assert_int_equal(agent->update.deadline_us, TACIT_NEVER);
    order.leader = TACIT_NO_ARM; /* nobody leads yet: in turn */
    agent = phased_agent_new(&setup, 0);
    assert_int_equal(phased_step(agent, phased_receive(&order)), TACIT_OK);
    assert_int_equal(agent->update.plan_count, 2); /* of the order's arms: others may be gone */
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(agent->update.plan[i].arm, two_blocks[i].arm);
        assert_int_equal(agent->update.plan[i].count, i == 0 ? 15 : 14);
    }
    assert_int_equal(phased_play(agent), TACIT_OK);
    assert_false(agent->update.send);
}

TEST(one_arm_is_played_until_T_without_a_word)
{
    struct phased_setup setup = setup_of(2, 77, 0.9);
    setup.schedule.arm_count = 1;
    struct phased_core *const agent = phased_agent_new(&setup, 1);
    struct phased_core *const hub = phased_hub_new(&setup);
    assert_int_equal(phased_step(hub, phased_start()), TACIT_OK);
    assert_false(hub->update.send);
    assert_true(phased_hub_view(hub).judge.finished);
    assert_int_equal(phased_hub_view(hub).judge.leader, 0);
    assert_int_equal(phased_step(agent, phased_start()), TACIT_OK);
    assert_int_equal(agent->update.plan[0].count, 77);
    assert_true(agent->update.persist);
    assert_int_equal(phased_play(agent), TACIT_OK);
    assert_false(agent->update.send);
    assert_true(phased_agent_view(agent).finished);
}

TEST(rounds_are_disjoint_rewards_and_cost_the_maximum)
{
    struct phased_setup const setup = setup_of(2, 1000, 0);
    struct phased_core *const agent = pulling_agent(&setup);
    for (uint32_t round = 2; round < 20; round++) {
        assert_int_equal(phased_play(agent), TACIT_OK);
        struct tacit_phased_message const order = order_of(round, two_blocks, 2);
        assert_int_equal(phased_step(agent, phased_receive(&order)), TACIT_OK);
    }
    assert_int_equal(phased_agent_view(agent).ledger->release_count, 18);
    assert_int_equal(tacit_ledger_spent_nano(phased_agent_view(agent).ledger), TACIT_NANO);
}

/* ---- Hub ---- */

static struct phased_core *collecting_hub(const struct phased_setup *setup)
{
    struct phased_core *const hub = phased_hub_new(setup);
    assert_int_equal(phased_step(hub, phased_start()), TACIT_OK);
    assert_int_equal(hub->update.message.kind, TACIT_ROUND_ORDER);
    assert_int_equal(hub->update.message.block_count, ARMS);
    return hub;
}

TEST(round_closes_at_the_deadline_with_its_quorum)
{
    struct phased_setup setup = setup_of(3, 100000, 0);
    setup.quorum = 2;
    setup.round_timeout_us = 500;
    struct phased_core *const hub = collecting_hub(&setup);
    int64_t const sums[ARMS] = {0, TACIT_STEPS, 0, 0, -5};
    struct tacit_phased_message message = report_of(0, 1, sums, ARMS);
    assert_int_equal(hub->update.deadline_us, 500);
    assert_int_equal(phased_step(hub, phased_receive(&message)), TACIT_OK);
    hub->now_us = 499;
    assert_int_equal(phased_step(hub, phased_timeout()), TACIT_OK);
    assert_false(phased_hub_view(hub).overdue);
    hub->now_us = 500;
    assert_int_equal(phased_step(hub, phased_timeout()), TACIT_OK);
    assert_true(phased_hub_view(hub).overdue); /* one report of two */
    assert_false(hub->update.send);
    message = report_of(2, 1, sums, ARMS);
    assert_int_equal(phased_step(hub, phased_receive(&message)), TACIT_OK);
    assert_int_equal(hub->update.message.to, TACIT_EVERYONE);
    assert_int_equal(hub->update.message.round, 2);
    assert_int_equal(phased_hub_view(hub).judge.leader, 1);
    assert_int_equal(hub->update.deadline_us, 1000);
    message = report_of(1, 1, sums, ARMS); /* late: not counted, but answered */
    assert_int_equal(phased_step(hub, phased_receive(&message)), TACIT_OK);
    assert_int_equal(hub->update.message.to, 1);
    assert_int_equal(hub->update.message.seen, 0);
    assert_int_equal(phased_hub_view(hub).report_count, 0);
}

TEST(horizon_below_the_first_plan_ends_at_once_without_a_leader)
{
    struct phased_setup setup = setup_of(3, 1, 0.9);
    uint64_t const least = tacit_phases_horizon_min(&setup.schedule);
    setup.schedule.horizon = least - 1;
    struct phased_core *hub = phased_hub_new(&setup);
    assert_int_equal(phased_step(hub, phased_start()), TACIT_OK);
    assert_true(hub->update.message.last);
    assert_int_equal(hub->update.message.leader, TACIT_NO_ARM);
    struct phased_core *const agent = phased_agent_new(&setup, 0);
    assert_int_equal(phased_step(agent, phased_receive(&hub->update.message)), TACIT_OK);
    assert_int_equal(agent->update.plan_count, ARMS);
    setup.schedule.horizon = least;
    hub = phased_hub_new(&setup);
    assert_int_equal(phased_step(hub, phased_start()), TACIT_OK);
    assert_false(hub->update.message.last);
}

/* Sites without a leader play all arms in turn: where not all are there, one is named. */
TEST(last_word_without_a_leader_names_an_arm_that_is_there)
{
    for (uint32_t first_count = 1; first_count <= ARMS; first_count++) {
        struct phased_setup setup = setup_of(3, 1, 0.9);
        setup.schedule.first_count = first_count;
        struct phased_core *const hub = phased_hub_new(&setup);
        assert_int_equal(phased_step(hub, phased_start()), TACIT_OK);
        assert_true(hub->update.message.last);
        assert_int_equal(hub->update.message.leader, first_count < ARMS ? 0 : TACIT_NO_ARM);
        assert_int_equal(phased_hub_view(hub).judge.leader, TACIT_NO_ARM);
    }
}

TEST(schedules_out_of_range_are_refused)
{
    struct phased_setup const setup = setup_of(3, 100000, 0);
    struct tacit_phases bad[15];
    for (size_t i = 0; i < 15; i++)
        bad[i] = setup.schedule;
    bad[0].arm_count = 0;
    bad[1].agent_count = 0;
    bad[2].horizon = 0;
    bad[3].epsilon_per_reward = 0;
    bad[4].epsilon_per_reward = (double)NAN;
    bad[5].epsilon_per_reward = 1e-7;
    bad[6].growth = 1;
    bad[7].growth = 4.1;
    bad[8].arms_per_round = 1;
    bad[9].confidence = 1;
    bad[10].confidence = 0.4;
    bad[11].horizon = TACIT_HORIZON_MAX; /* M T R = 3 * 2^60 fits, 5 * 2^60 does not */
    bad[11].agent_count = 5;
    bad[12].growth = 1.01; /* 64 rungs do not reach T */
    bad[13].growth = (double)NAN;
    bad[14].rule = TACIT_PHASES_ELIMINATION; /* it has a judge of its own */
    assert_true(tacit_phases_is_valid(&setup.schedule));
    for (size_t i = 0; i < 15; i++) {
        uint64_t memory[2] = {1, 2};
        assert_int_equal(tacit_phased_judge_size(&bad[i]), 0);
        assert_int_equal(
            tacit_phased_judge_init((struct tacit_phased_judge *)(void *)memory, &bad[i]),
            TACIT_INVALID);
        assert_int_equal(memory[0], 1);
    }
}

/* ---- Judge alone ---- */

TEST(round_without_reports_is_repeated_with_the_same_plan)
{
    struct phased_setup const setup = setup_of(3, 100000, 0);
    struct tacit_phased_judge *const judge =
        testing_malloc(tacit_phased_judge_size(&setup.schedule));
    struct tacit_phased_judge_view first;
    struct tacit_phased_judge_view again;
    assert_int_equal(tacit_phased_judge_init(judge, &setup.schedule), TACIT_OK);
    tacit_phased_judge_view(judge, &first);
    tacit_phased_judge_close(judge, 0, NULL);
    tacit_phased_judge_view(judge, &again);
    assert_int_equal(again.round, first.round + 1);
    assert_int_equal(again.round_count, 0);
    assert_int_equal(again.slots, 2 * first.slots);
    assert_int_equal(again.plan_count, first.plan_count);
    assert_int_equal(again.plan[2].count, tacit_phases_first_rung(&setup.schedule));
    assert_int_equal(again.leader, TACIT_NO_ARM);
}

/* Bits that the check lets pass leave a judge that goes on without stumbling. */
TEST(check_refuses_most_damaged_judges_and_survives_the_others)
{
    struct phased_setup const setup = setup_of(3, 2000, 0.9);
    size_t const size = tacit_phased_judge_size(&setup.schedule);
    struct tacit_phased_judge *const judge = testing_malloc(size);
    struct tacit_phased_judge *const copy = testing_malloc(size);
    int64_t const sums[ARMS] = {0, 100 * TACIT_STEPS, 50 * TACIT_STEPS, 99 * TACIT_STEPS, 0};
    assert_int_equal(tacit_phased_judge_init(judge, &setup.schedule), TACIT_OK);
    tacit_phased_judge_close(judge, 3, sums);
    uint32_t passed = 0;
    for (size_t bit = 0; bit < 8 * size; bit++) {
        memcpy(copy, judge, size);
        ((unsigned char *)copy)[bit / 8] ^= (unsigned char)(1u << (bit % 8));
        if (tacit_phased_judge_check(copy, size, &setup.schedule) != TACIT_OK)
            continue;
        struct tacit_phased_judge_view view;
        tacit_phased_judge_view(copy, &view);
        if (!view.finished)
            tacit_phased_judge_close(copy, 1, sums);
        passed++;
    }
    assert_true(passed < 8 * size / 4); /* means, bounds and noised sums may be nearly anything */
}

/* ---- Damaged states ---- */

/* Of means that are far apart, or of anything that may be. */
static void report_some(struct phased_core *hub, struct tacit_rng *chance, bool is_apart)
{
    struct tacit_phased_hub_view const view = phased_hub_view(hub);
    uint32_t const agent = (uint32_t)tacit_rng_below(chance, hub->setup->schedule.agent_count);
    int64_t sums[ARMS];
    if (view.judge.finished || tacit_bits_has(view.received, agent))
        return;
    for (uint32_t i = 0; i < view.judge.plan_count; i++) {
        uint64_t const count = view.judge.plan[i].count;
        double const mean = means[view.judge.plan[i].arm];
        sums[i] = is_apart ? (int64_t)(mean * (double)count * TACIT_STEPS) +
                                 (int64_t)tacit_rng_below(chance, TACIT_STEPS)
                           : (int64_t)tacit_rng_below(chance, count * TACIT_STEPS + 1);
    }
    struct tacit_phased_message const report =
        report_of(agent, view.judge.round, sums, view.judge.plan_count);
    assert_int_equal(phased_step(hub, phased_receive(&report)), TACIT_OK);
}

/* ---- Arms that come and go ---- */

static void expect_refused_change(struct phased_core *hub, bool is_added, uint32_t arm,
                                  enum tacit_status wanted)
{
    struct tacit_phased_update update;
    void *const before = testing_malloc(hub->size);
    memcpy(before, hub->state, hub->size);
    enum tacit_status const status =
        tacit_phased_hub_change(hub->state, arm, is_added, hub->now_us, &update);
    assert_int_equal(status, wanted);
    assert_false(update.persist || update.send);
    assert_memory_equal(before, hub->state, hub->size);
}

TEST(a_change_that_cannot_be_leaves_every_byte_as_it_was)
{
    struct phased_setup setup = setup_of(2, 1000000, 0);
    setup.schedule.first_count = ARMS - 1;
    setup.schedule.guard_arm = 1;
    setup.schedule.guard_loss = 0.1;
    struct phased_core *const hub = phased_hub_new(&setup);
    struct tacit_phased_update update;
    expect_refused_change(hub, true, ARMS - 1, TACIT_UNEXPECTED); /* it has not started */
    expect_refused_change(hub, false, 0, TACIT_UNEXPECTED);
    assert_int_equal(phased_step(hub, phased_start()), TACIT_OK);
    expect_refused_change(hub, true, 0, TACIT_INVALID); /* it is there */
    expect_refused_change(hub, true, ARMS, TACIT_INVALID);
    expect_refused_change(hub, true, UINT32_MAX, TACIT_INVALID);
    expect_refused_change(hub, false, ARMS - 1, TACIT_INVALID); /* it is to come */
    expect_refused_change(hub, false, ARMS, TACIT_INVALID);
    expect_refused_change(hub, false, 1, TACIT_INVALID); /* the guard's */
    assert_int_equal(tacit_phased_hub_change(hub->state, 0, false, hub->now_us, &update), TACIT_OK);
    expect_refused_change(hub, false, 0, TACIT_INVALID); /* it is gone */
    expect_refused_change(hub, true, 0, TACIT_INVALID);
    for (uint32_t arm = 2; arm < ARMS - 1; arm++)
        assert_int_equal(tacit_phased_hub_change(hub->state, arm, false, hub->now_us, &update),
                         TACIT_OK);
    assert_int_equal(tacit_phased_hub_change(hub->state, ARMS - 1, true, hub->now_us, &update),
                     TACIT_OK);
    expect_refused_change(hub, true, ARMS - 1, TACIT_INVALID);
    struct tacit_phased_hub_config const config = phased_hub_config(&setup);
    assert_int_equal(tacit_phased_hub_check(hub->state, hub->size, &config), TACIT_OK);
}

#define CHANGED_RUNS 150u

/* An arm is added or taken out, by an operator who may know how much was played. */
static void change_some(struct phased_core *hub, struct tacit_rng *chance)
{
    struct tacit_phased_hub_config const config = phased_hub_config(hub->setup);
    struct tacit_phased_update *const update = &hub->update;
    uint32_t const arm = (uint32_t)tacit_rng_below(chance, ARMS);
    bool const is_added = tacit_rng_below(chance, 2) == 0;
    enum tacit_status const status =
        tacit_phased_hub_change(hub->state, arm, is_added, hub->now_us, update);
    assert_true(status == TACIT_OK || status == TACIT_INVALID);
    assert_int_equal(tacit_phased_hub_check(hub->state, hub->size, &config), TACIT_OK);
    digest_phased(status, update);
}

static void greet_some(struct phased_core *hub, struct tacit_rng *chance)
{
    uint32_t const agent = (uint32_t)tacit_rng_below(chance, hub->setup->schedule.agent_count);
    uint32_t const round = (uint32_t)tacit_rng_below(chance, phased_hub_view(hub).judge.round + 2);
    struct tacit_phased_message const hello = hello_of(agent, round);
    enum tacit_status const status = phased_step(hub, phased_receive(&hello));
    assert_true(status == TACIT_OK || status == TACIT_ROLLBACK);
}

/* All kinds of runs: confidence, guards, ladders, quorums, deadlines. */
static struct phased_setup changed_setup(uint32_t run, struct tacit_rng *chance)
{
    struct phased_setup setup =
        setup_of(1 + run % 4, 50 + tacit_rng_below(chance, 40000), run % 3 == 0 ? 0.9 : 0);
    setup.schedule.first_count = 1 + (uint32_t)tacit_rng_below(chance, ARMS);
    setup.schedule.growth = 1.5 + 0.5 * (run % 3);
    setup.schedule.arms_per_round = 2 + (uint32_t)tacit_rng_below(chance, 4);
    if (run % 6 == 0) {
        setup.schedule.guard_loss = run % 4 == 0 ? 0.1 : 0.4;
        setup.schedule.guard_arm = (uint32_t)tacit_rng_below(chance, setup.schedule.first_count);
    }
    setup.quorum = (uint32_t)tacit_rng_below(chance, setup.schedule.agent_count + 1);
    setup.round_timeout_us = run % 5 == 0 ? 0 : 900;
    setup.answers_all = run % 7 < 3;
    return setup;
}

/* Each state is one, and each arm that was there from the first plan on has a release once a round
 * is closed. */
TEST(arms_that_come_and_go_at_any_time_leave_a_state)
{
    uint64_t rounds = 0;
    for (uint32_t run = 0; run < CHANGED_RUNS; run++) {
        struct tacit_rng chance = tacit_rng_stream(23, run, 0, TACIT_PURPOSE_FAULT);
        struct phased_setup const setup = changed_setup(run, &chance);
        uint64_t const changes = 4 + 12 * (run / 4 % 2);
        struct phased_core *const hub = phased_hub_new(&setup);
        assert_int_equal(phased_step(hub, phased_start()), TACIT_OK);
        for (uint32_t turn = 0; turn < 60; turn++) {
            hub->now_us += tacit_rng_below(&chance, 200);
            if (hub->now_us >= hub->update.deadline_us || turn % 8 == 7)
                assert_int_equal(phased_step(hub, phased_timeout()), TACIT_OK);
            else if (tacit_rng_below(&chance, changes) == 0)
                change_some(hub, &chance);
            else if (turn % 8 == 3)
                greet_some(hub, &chance);
            else
                report_some(hub, &chance, run / 2 % 2 == 0);
        }
        rounds += phased_hub_view(hub).judge.round_count;
    }
    print_message("%llu rounds\n", (unsigned long long)rounds);
    assert_true(rounds > 5 * CHANGED_RUNS);
}
