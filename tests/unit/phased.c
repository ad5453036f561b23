/* The cores of the phased index, driven by hand, where no storm comes: the last numbers, plans that
 * do not fit, one arm, horizons below the first plan, schedules that cannot be. All else is in
 * round/storm_phased, and the judge's twin in oracle/phased_oracle. */
#include <math.h>
#include "../support/testing.h"
#include "../support/damage.h"
#include "../support/digest.h"
#include "../support/phased_driver.h"

/* Of all steps below: digest.h. */
DIGEST_IS(UINT64_C(0x36da9c21f2bf9e98))
/* Verdicts over damaged states: damage.h. */
VERDICTS_ARE(UINT64_C(0x954b89d0a7e3145a))

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

static const struct tacit_pull_block two_blocks[] = {{1, 10}, {3, 20}};
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
    agent = phased_agent_new(&setup, 0);
    struct tacit_pull_block longest = {1, TACIT_HORIZON_MAX + 1};
    order = order_of(4, &longest, 1);
    assert_int_equal(phased_step(agent, phased_receive(&order)), TACIT_MALFORMED);
    longest.count = TACIT_HORIZON_MAX;
    assert_int_equal(phased_step(agent, phased_receive(&order)), TACIT_OK);
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

/* ---- Hub ---- */

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

/* Also where nothing is ever decided: no plan follows, nothing more is released, and of the arms
 * the leader is left, with a guard's. */
static void end_run(uint32_t guards)
{
    struct phased_setup setup = setup_of(1, 100000, 0);
    setup.schedule.guard_loss = guards > 0 ? 0.2 : 0;
    struct phased_core *const hub = phased_hub_new(&setup);
    struct phased_core *const agent = phased_agent_new(&setup, 0);
    assert_int_equal(phased_step(hub, phased_start()), TACIT_OK);
    for (uint32_t round = 0; round < 8; round++) {
        assert_int_equal(phased_step(agent, phased_receive(&hub->update.message)), TACIT_OK);
        assert_int_equal(phased_play(agent), TACIT_OK);
        assert_int_equal(phased_step(hub, phased_receive(&agent->update.message)), TACIT_OK);
    }
    struct tacit_phased_judge_view const before = phased_hub_view(hub).judge;
    uint64_t const releases = phased_agent_view(agent).ledger->release_count;
    assert_true(!before.finished && before.leader != TACIT_NO_ARM && before.leader > 0);
    tacit_phased_hub_end(hub->state, hub->now_us, &hub->update);
    struct tacit_phased_hub_config const config = phased_hub_config(&setup);
    struct tacit_phased_judge_view const after = phased_hub_view(hub).judge;
    uint32_t left = 0;
    for (uint32_t arm = 0; arm < ARMS; arm++)
        left += after.standings[arm] == TACIT_PHASED_PRESENT ? 1 : 0;
    assert_int_equal(tacit_phased_hub_check(hub->state, hub->size, &config), TACIT_OK);
    assert_true(after.finished && !after.decided && after.plan_count == 0);
    assert_int_equal(after.leader, before.leader);
    assert_int_equal(left, 1 + guards);
    assert_true(hub->update.persist && hub->update.send && hub->update.message.last);
    assert_int_equal(hub->update.message.to, TACIT_EVERYONE);
    assert_int_equal(hub->update.message.leader, before.played);
    assert_int_equal(phased_step(agent, phased_receive(&hub->update.message)), TACIT_OK);
    assert_int_equal(agent->update.plan_count, 1);
    assert_int_equal(phased_play(agent), TACIT_OK);
    assert_true(phased_agent_view(agent).finished && !agent->update.send);
    assert_int_equal(phased_agent_view(agent).ledger->release_count, releases);
}

TEST(run_that_its_operator_ends_has_no_plan_any_more)
{
    end_run(0);
    end_run(1);
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
