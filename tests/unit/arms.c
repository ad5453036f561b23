/* Learners with an index: configurations, states from a disk, first pulls, ties, known indices. */
#include <math.h>
#include "../support/testing.h"
#include "tacit/arms.h"

static enum tacit_arms_kind const kinds[] = {TACIT_ARMS_UCB1, TACIT_ARMS_KL_UCB, TACIT_ARMS_MOSS,
                                             TACIT_ARMS_THOMPSON, TACIT_ARMS_UNIFORM};
#define KINDS (sizeof kinds / sizeof kinds[0])

static struct tacit_arms_config config_of(enum tacit_arms_kind kind, uint32_t arms)
{
    return (struct tacit_arms_config){.kind = kind,
                                      .arm_count = arms,
                                      .horizon = 1000,
                                      .scale = {.kind = TACIT_SCALE_REAL, .lo = 0, .hi = 1},
                                      .bounded = true};
}

static struct tacit_arms *arms_new(const struct tacit_arms_config *config)
{
    struct tacit_arms *const arms = testing_malloc(tacit_arms_size(config));
    assert_int_equal(tacit_arms_init(arms, config), TACIT_OK);
    return arms;
}

static union tacit_sum real(double value)
{
    return (union tacit_sum){.real = value};
}

TEST(parameters_out_of_range_are_refused_and_nothing_is_written)
{
    struct tacit_arms_config bad[7];
    for (size_t i = 0; i < 7; i++)
        bad[i] = config_of(TACIT_ARMS_UCB1, 3);
    bad[0].arm_count = 0;
    bad[1].arm_count = TACIT_ARMS_MAX + 1;
    bad[2].horizon = 0;
    bad[3].horizon = TACIT_HORIZON_MAX + 1;
    bad[4].kind = (enum tacit_arms_kind)5;
    bad[5].scale.kind = (enum tacit_scale_kind)2;
    bad[6].scale.kind = TACIT_SCALE_STEPS; /* and bounded: said twice */
    for (size_t i = 0; i < 7; i++) {
        uint64_t memory[2] = {1, 2};
        assert_int_equal(tacit_arms_size(&bad[i]), 0);
        assert_int_equal(tacit_arms_init((struct tacit_arms *)memory, &bad[i]), TACIT_INVALID);
        assert_int_equal(memory[0], 1);
    }
}

TEST(every_arm_is_played_once_first_by_index)
{
    for (size_t i = 0; i < 3; i++) {
        struct tacit_arms_config const config = config_of(kinds[i], 5);
        struct tacit_arms *const arms = arms_new(&config);
        for (uint32_t arm = 0; arm < 5; arm++) {
            struct tacit_pull_block const block = tacit_arms_next(arms, 100, 0);
            assert_int_equal(block.arm, arm);
            assert_int_equal(block.count, 1);
            tacit_arms_add(arms, arm, 1, real(arm == 1 ? 1 : 0), 0);
        }
        assert_int_equal(tacit_arms_next(arms, 100, 0).arm, 1);
        testing_free(arms);
    }
}

TEST(equal_arms_go_to_the_lowest_index)
{
    for (size_t i = 0; i < 3; i++) {
        struct tacit_arms_config const config = config_of(kinds[i], 6);
        struct tacit_arms *const arms = arms_new(&config);
        for (uint32_t arm = 0; arm < 6; arm++)
            tacit_arms_add(arms, 5 - arm, 2, real(1), 0);
        assert_int_equal(tacit_arms_next(arms, 1, 0).arm, 0);
        assert_int_equal(tacit_arms_best(arms), 0);
        testing_free(arms);
    }
}

TEST(one_arm_takes_all_pulls_at_once)
{
    for (size_t i = 0; i < 3; i++) {
        struct tacit_arms_config const config = config_of(kinds[i], 1);
        struct tacit_arms *const arms = arms_new(&config);
        tacit_arms_add(arms, 0, 1, real(0), 0);
        assert_int_equal(tacit_arms_next(arms, 999, 0).count, 999);
        testing_free(arms);
    }
}

TEST(rewards_without_bounds_give_blocks_of_one_pull)
{
    for (size_t i = 0; i < KINDS; i++) {
        struct tacit_arms_config config = config_of(kinds[i], 2);
        config.bounded = false;
        struct tacit_arms *const arms = arms_new(&config);
        tacit_arms_add(arms, 0, 100, real(100), 0);
        tacit_arms_add(arms, 1, 100, real(0), 0);
        assert_int_equal(tacit_arms_next(arms, 50, 1).count, 1);
        testing_free(arms);
    }
}

TEST(asking_again_gives_the_same_block)
{
    for (size_t i = 0; i < KINDS; i++) {
        struct tacit_arms_config const config = config_of(kinds[i], 9);
        struct tacit_arms *const arms = arms_new(&config);
        for (uint64_t t = 0; t < 300; t++) {
            struct tacit_pull_block const block = tacit_arms_next(arms, 300, 77 + t);
            struct tacit_pull_block const again = tacit_arms_next(arms, 300, 77 + t);
            assert_int_equal(block.arm, again.arm);
            assert_int_equal(block.count, again.count);
            tacit_arms_add(arms, block.arm, 1, real(t % 3 == 0 ? 1 : 0), 0);
        }
        testing_free(arms);
    }
}

TEST(indices_have_their_known_values)
{
    assert_true(fabs(tacit_arms_moss(0.5, 4, 1000, 10) - 1.397061288997051) < 1e-15);
    assert_true(tacit_arms_moss(0.5, 101, 1000, 10) == 0.5); /* H < K n */
    assert_true(tacit_arms_kl_ucb(1, 7, 50) == 1);
    assert_true(tacit_arms_kl_ucb(0.25, 7, 1) == 0.25);
    assert_true(fabs(tacit_arms_kl_ucb(0, 10, 1000) - (1 - pow(1000, -0.1))) < 1e-15);
    assert_true(tacit_arms_kl_ucb(-3, 10, 1000) == tacit_arms_kl_ucb(0, 10, 1000));
    assert_true(tacit_arms_kl_ucb(3, 10, 1000) == 1);
    assert_true(isinf(tacit_arms_kl(0.5, 1)) && isinf(tacit_arms_kl(0.5, 0)));
    assert_true(tacit_arms_kl(0, 0) == 0 && tacit_arms_kl(1, 1) == 0);
}

/* A fraction of a success is a coin: below the fraction it counts, at or above it does not. */
TEST(thompson_makes_a_coin_of_a_reward_between_0_and_1)
{
    struct tacit_arms_config config = config_of(TACIT_ARMS_THOMPSON, 2);
    struct tacit_arms *arms = arms_new(&config);
    tacit_arms_add(arms, 0, 1, real(0.5), UINT64_C(0x7fffffffffffffff));
    tacit_arms_add(arms, 1, 1, real(0.5), UINT64_C(0x8000000000000000));
    assert_true(tacit_arms_mean(arms, 0) == 1);
    assert_true(tacit_arms_mean(arms, 1) == 0);
    tacit_arms_add(arms, 0, 3, real(2), UINT64_MAX);
    assert_true(tacit_arms_mean(arms, 0) == 0.75);
    tacit_arms_add(arms, 1, 1, real(7), 0); /* clipped */
    assert_true(tacit_arms_mean(arms, 1) == 0.5);
    config.scale = (struct tacit_scale){.kind = TACIT_SCALE_STEPS, .lo = -1, .hi = 5};
    config.bounded = false;
    arms = arms_new(&config);
    tacit_arms_add(arms, 0, 1, (union tacit_sum){.steps = TACIT_STEPS / 4},
                   UINT64_C(0x3fffffffffffffff));
    tacit_arms_add(arms, 1, 1, (union tacit_sum){.steps = TACIT_STEPS / 4},
                   UINT64_C(0x4000000000000000));
    assert_true(tacit_arms_mean(arms, 0) == 1);
    assert_true(tacit_arms_mean(arms, 1) == 0);
}
