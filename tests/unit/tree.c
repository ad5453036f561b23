/* Tree aggregation: which intervals a sum is made of, how many noises are drawn, when it refuses.
 * Laws of the noise are tested in tests/stat, the loss in tests/stat/audit_stat.c. */
#include <math.h>
#include "../support/testing.h"
#include "../support/scarce.h"
#include "../oracle/gossip_twin.h"
#include "tacit/privacy.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static struct tacit_tree_config config_of(enum tacit_privacy_mode mode, double epsilon,
                                          uint64_t leaf_max)
{
    return (struct tacit_tree_config){
        .mechanism = {.mode = mode, .epsilon_per_reward = epsilon, .lo = 0, .hi = 1},
        .leaf_max = leaf_max};
}

static struct tacit_tree_rule rule_of(enum tacit_privacy_mode mode, double epsilon,
                                      uint64_t leaf_max)
{
    struct tacit_tree_config const config = config_of(mode, epsilon, leaf_max);
    struct tacit_tree_rule rule;
    assert_int_equal(tacit_tree_rule_init(&rule, &config), TACIT_OK);
    return rule;
}

static struct tacit_tree *new_tree(const struct tacit_tree_rule *rule)
{
    struct tacit_tree *const tree = testing_malloc(tacit_tree_size(rule));
    tacit_tree_init(tree, rule);
    return tree;
}

/* ---- Rules ----------------------------------------------------------------------------------- */

TEST(rule_has_bit_length_levels_and_the_papers_share)
{
    static const struct {
        uint64_t leaf_max;
        uint32_t levels;
        uint32_t paper_shares;
    } cases[] = {{2, 2, 1},      {3, 2, 2},         {4, 3, 2},
                 {5, 3, 3},      {1023, 10, 10},    {1024, 11, 10},
                 {1025, 11, 11}, {1000000, 20, 20}, {1048576, 21, 20}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct tacit_tree_rule const paper = rule_of(TACIT_PRIVACY_PAPER, 1, cases[i].leaf_max);
        struct tacit_tree_rule const sound = rule_of(TACIT_PRIVACY_SOUND, 1, cases[i].leaf_max);
        assert_int_equal(paper.level_count, cases[i].levels);
        assert_int_equal(sound.level_count, cases[i].levels);
        assert_int_equal(paper.share_count, cases[i].paper_shares);
        assert_int_equal(sound.share_count, cases[i].levels);
        assert_true(fabs(paper.node.laplace_scale - cases[i].paper_shares) < 1e-12);
        assert_int_equal(sound.node.epsilon_nano, TACIT_NANO / cases[i].levels);
        assert_true(tacit_tree_cost_nano(&sound) <= TACIT_NANO);
        assert_true(tacit_tree_cost_nano(&sound) > TACIT_NANO - cases[i].levels);
        double const real = (double)cases[i].levels / cases[i].paper_shares;
        assert_true(fabs((double)tacit_tree_cost_nano(&paper) - real * 1e9) <= 1);
    }
    assert_int_equal(rule_of(TACIT_PRIVACY_SOUND, 1, 1).level_count, 1);
    assert_int_equal(tacit_tree_cost_nano(&(struct tacit_tree_rule){0}), 0);
}

TEST(share_of_an_interval_is_epsilon_over_levels_to_the_last_nano)
{
    struct tacit_rng rng = tacit_rng_stream(5, 0, 0, TACIT_PURPOSE_NOISE);
    for (int i = 0; i < 20000; i++) {
        uint64_t const nano = 1 + tacit_rng_below(&rng, UINT64_C(1) << 33);
        uint64_t const leaf_max = 1 + tacit_rng_below(&rng, UINT64_C(1) << 20);
        struct tacit_tree_config const config =
            config_of(TACIT_PRIVACY_SOUND, (double)nano / 1e9, leaf_max);
        struct tacit_tree_rule rule;
        if (tacit_tree_rule_init(&rule, &config) != TACIT_OK) {
            assert_true(nano / 20 < 1000); /* below the smallest epsilon of an interval */
            continue;
        }
        assert_int_equal(rule.node.epsilon_nano, nano / rule.level_count);
    }
}

TEST(rule_refuses_what_has_no_share)
{
    struct tacit_tree_rule rule;
    memset(&rule, 7, sizeof rule);
    struct tacit_tree_rule const before = rule;
    struct tacit_tree_config const cases[] = {
        config_of(TACIT_PRIVACY_PAPER, 1, 1),
        config_of(TACIT_PRIVACY_PAPER, 1, 0),
        config_of(TACIT_PRIVACY_SOUND, 1, 0),
        config_of(TACIT_PRIVACY_SOUND, 1, 2 * TACIT_HORIZON_MAX + 1),
        config_of(TACIT_PRIVACY_SOUND, 1e-6, 4),
        config_of(TACIT_PRIVACY_PAPER, (double)NAN, 4)};
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_int_equal(tacit_tree_rule_init(&rule, &cases[i]), TACIT_INVALID);
        assert_memory_equal(&rule, &before, sizeof rule);
    }
    struct tacit_tree_config const alone = config_of(TACIT_PRIVACY_PAPER, (double)INFINITY, 1);
    assert_int_equal(tacit_tree_rule_init(&rule, &alone), TACIT_OK);
    assert_int_equal(tacit_tree_cost_nano(&rule), 0);
}

/* ---- Golden sums ----------------------------------------------------------------------------- */

/* The i-th draw becomes a noise of -i scales: u = exp(-i)/2. */
struct counted {
    uint32_t draws;
};

static enum tacit_status fill_counted(void *context, void *bytes, size_t size)
{
    struct counted *const counted = context;
    assert_int_equal(size, sizeof(uint64_t));
    counted->draws++;
    uint64_t const word = (uint64_t)(exp(-(double)counted->draws) / 2 * 0x1p53) << 11;
    memcpy(bytes, &word, sizeof word);
    return TACIT_OK;
}

/* Rewards of 0, so that a sum is minus the numbers of the noises in it. */
TEST(golden_sums_name_the_intervals)
{
    /* Draw 1 is [1,1], 2 [1,2], 3 [3,3], 4 [1,4], 5 [5,5], 6 [5,6], 7 [7,7], 8 [1,8], 9 [9,9]. */
    static const int sums[] = {0, 1, 2, 5, 4, 9, 10, 17, 8, 17};
    struct tacit_tree_rule const rule = rule_of(TACIT_PRIVACY_PAPER, 4, 9);
    assert_true(fabs(rule.node.laplace_scale - 1) < 1e-12);
    struct tacit_tree *const tree = new_tree(&rule);
    struct counted counted = {0};
    struct tacit_entropy const entropy = {.fill = fill_counted, .context = &counted};
    for (uint64_t leaf = 1; leaf <= 9; leaf++) {
        union tacit_sum total = {0};
        union tacit_sum const reward = {.real = 0};
        assert_int_equal(tacit_tree_add(&rule, tree, leaf, reward, &entropy, &total), TACIT_OK);
        assert_int_equal(counted.draws, leaf); /* without gaps: one new interval a leaf */
        assert_true(fabs(total.real + sums[leaf]) < 1e-9);
    }
}

/* 13 is [13,13], [9,12], [1,8] (READINGS P2.3): noise only where the interval holds a pull. */
TEST(golden_sums_with_gaps_leave_empty_intervals_alone)
{
    static const struct {
        uint64_t leaf;
        uint32_t draws; /* so far */
        int sum;
    } steps[] = {
        {3, 1, 1},          /* [3,3] = 1; [1,2] is empty */
        {10, 3, 2 + 3},     /* [9,10] = 2, then [1,8] = 3 */
        {13, 5, 4 + 5 + 3}, /* [13,13] = 4, [9,12] = 5 */
        {16, 6, 6},         /* [1,16] */
        {31, 7, 7 + 6},     /* [31,31]; the three before it are empty */
        {32, 8, 8},         /* [1,32] */
        {33, 9, 9 + 8},
    };
    struct tacit_tree_rule const rule = rule_of(TACIT_PRIVACY_PAPER, 6, 33);
    assert_true(fabs(rule.node.laplace_scale - 1) < 1e-12);
    struct tacit_tree *const tree = new_tree(&rule);
    struct counted counted = {0};
    struct tacit_entropy const entropy = {.fill = fill_counted, .context = &counted};
    for (size_t i = 0; i < COUNT(steps); i++) {
        union tacit_sum total = {0};
        union tacit_sum const reward = {.real = 0};
        assert_int_equal(tacit_tree_add(&rule, tree, steps[i].leaf, reward, &entropy, &total),
                         TACIT_OK);
        assert_int_equal(counted.draws, steps[i].draws);
        assert_true(fabs(total.real + steps[i].sum) < 1e-9);
    }
}

/* ---- Against the dictionary ------------------------------------------------------------------ */

struct noise_source {
    const struct tacit_mechanism *mechanism;
    struct tacit_rng rng;
    uint32_t draws;
};

static double draw_real(void *context)
{
    struct noise_source *const source = context;
    struct tacit_entropy const entropy = tacit_rng_entropy(&source->rng);
    union tacit_sum noise = {0};
    assert_int_equal(tacit_mechanism_release(source->mechanism, noise, &entropy, &noise), TACIT_OK);
    source->draws++;
    return source->mechanism->scale.kind == TACIT_SCALE_REAL ? noise.real : (double)noise.steps;
}

/* One stream of random leaves, each taken with chance p. Result: intervals in the dictionary. */
static uint32_t compare_with_dictionary(enum tacit_privacy_mode mode, uint64_t leaf_max, double p,
                                        uint32_t run)
{
    struct tacit_tree_rule const rule = rule_of(mode, 1, leaf_max);
    bool const is_real = rule.node.scale.kind == TACIT_SCALE_REAL;
    struct tacit_tree *const tree = new_tree(&rule);
    struct tacit_rng world = tacit_rng_stream(9, run, 0, TACIT_PURPOSE_REWARD);
    struct noise_source source = {&rule.node, tacit_rng_stream(9, run, 0, TACIT_PURPOSE_NOISE), 0};
    struct tacit_rng tape = source.rng;
    struct tacit_entropy const entropy = tacit_rng_entropy(&tape);
    struct twin_stream twin;
    twin_stream_init(&twin, leaf_max);
    for (uint64_t leaf = 1; leaf <= leaf_max; leaf++) {
        if (!tacit_rng_bernoulli(&world, p))
            continue;
        union tacit_sum reward = {0};
        tacit_sum_add_reward(&rule.node.scale, &reward, tacit_rng_uniform(&world), 1);
        double const observation = is_real ? reward.real : (double)reward.steps;
        double const expected = twin_stream_release(&twin, leaf, observation, draw_real, &source);
        union tacit_sum total = {0};
        assert_int_equal(tacit_tree_add(&rule, tree, leaf, reward, &entropy, &total), TACIT_OK);
        if (is_real)
            assert_true(fabs(total.real - expected) <= 1e-12 * (1 + fabs(expected)));
        else
            assert_true((double)total.steps == expected);
        assert_memory_equal(&tape, &source.rng, sizeof tape); /* the same draws, no more */
    }
    assert_int_equal(source.draws, twin.interval_count);
    uint32_t const intervals = twin.interval_count;
    twin_stream_free(&twin);
    return intervals;
}

TEST(sums_and_draws_are_those_of_the_dictionary)
{
    static const uint64_t sizes[] = {2, 3, 4, 5, 7, 8, 9, 31, 32, 33, 127, 128, 129, 400};
    uint32_t run = 0;
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (int density = 1; density <= 4; density++) {
            (void)compare_with_dictionary(TACIT_PRIVACY_PAPER, sizes[i], density / 4.0, run++);
            (void)compare_with_dictionary(TACIT_PRIVACY_SOUND, sizes[i], density / 4.0, run++);
        }
    /* Without gaps every leaf ends one new interval: no key comes twice. */
    for (size_t i = 0; i < COUNT(sizes); i++)
        assert_int_equal(compare_with_dictionary(TACIT_PRIVACY_SOUND, sizes[i], 1, run++),
                         sizes[i]);
}

TEST(sum_without_noise_is_exact)
{
    struct tacit_tree_rule const rule = rule_of(TACIT_PRIVACY_SOUND, (double)INFINITY, 1000);
    struct tacit_tree *const tree = new_tree(&rule);
    int64_t expected = 0;
    for (uint64_t leaf = 1; leaf <= 1000; leaf++) {
        union tacit_sum const reward = {.steps = (int64_t)(leaf * 1009 % (uint64_t)TACIT_STEPS)};
        union tacit_sum total;
        expected += reward.steps;
        assert_int_equal(tacit_tree_add(&rule, tree, leaf, reward, NULL, &total), TACIT_OK);
        assert_true(total.steps == expected);
    }
}

/* ---- Refusals -------------------------------------------------------------------------------- */

TEST(tree_refuses_after_its_last_leaf)
{
    static const uint64_t sizes[] = {1, 2, 3, 4, 15, 16, 17};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        struct tacit_tree_rule const rule = rule_of(TACIT_PRIVACY_SOUND, 1, sizes[i]);
        struct tacit_tree *const tree = new_tree(&rule);
        struct tacit_rng rng = tacit_rng_stream(3, 0, 0, TACIT_PURPOSE_NOISE);
        struct tacit_entropy const entropy = tacit_rng_entropy(&rng);
        union tacit_sum const reward = {.steps = 1};
        union tacit_sum total = {.steps = 77};
        for (uint64_t leaf = 1; leaf <= sizes[i]; leaf++)
            assert_int_equal(tacit_tree_add(&rule, tree, leaf, reward, &entropy, &total), TACIT_OK);
        struct tacit_rng const rng_before = rng;
        int64_t const total_before = total.steps;
        assert_int_equal(tacit_tree_add(&rule, tree, sizes[i] + 1, reward, &entropy, &total),
                         TACIT_BUDGET);
        assert_true(total.steps == total_before);
        assert_true(tree->leaf == sizes[i]);
        assert_memory_equal(&rng, &rng_before, sizeof rng);
        testing_free(tree);
    }
}

TEST(failing_entropy_leaves_the_tree_as_it_was)
{
    struct tacit_tree_rule const rule = rule_of(TACIT_PRIVACY_PAPER, 1, 64);
    struct tacit_tree *const tree = new_tree(&rule);
    struct tacit_tree *const copy = new_tree(&rule);
    struct tacit_rng rng = tacit_rng_stream(4, 0, 0, TACIT_PURPOSE_NOISE);
    struct scarce failing = {tacit_rng_entropy(&rng), 0};
    struct tacit_entropy const entropy = scarce_entropy(&failing);
    static const uint64_t leaves[] = {3, 4, 7, 13, 64};
    static const uint32_t draws[] = {1, 1, 1, 2, 1};
    for (size_t i = 0; i < COUNT(leaves); i++) {
        union tacit_sum const reward = {.real = 0.5};
        union tacit_sum total = {.real = 7};
        memcpy(copy, tree, tacit_tree_size(&rule));
        for (uint32_t fills = 0; fills < draws[i]; fills++) {
            failing.draws_left = fills;
            assert_int_equal(tacit_tree_add(&rule, tree, leaves[i], reward, &entropy, &total),
                             TACIT_ENTROPY);
            assert_memory_equal(tree, copy, tacit_tree_size(&rule));
            assert_true(total.real >= 7 && total.real <= 7);
        }
        failing.draws_left = draws[i];
        assert_int_equal(tacit_tree_add(&rule, tree, leaves[i], reward, &entropy, &total),
                         TACIT_OK);
        assert_int_equal(failing.draws_left, 0);
    }
}
