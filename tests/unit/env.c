/* Room env: what each environment adds to a sum, on both scales, and what is known of its means.
 * Laws are tested at ALPHA a test with fixed seeds: a failure means a change, not bad luck. */
#include <math.h>
#include "../support/testing.h"
#include "tacit/env.h"
#include "../support/gof.h"

#define ALPHA 1e-6
#define DRAWS 40000u

static const struct tacit_scale real_scale = {.kind = TACIT_SCALE_REAL};
static const struct tacit_scale unit_steps = {.kind = TACIT_SCALE_STEPS, .lo = 0, .hi = 1};
static const struct tacit_scale wide_steps = {.kind = TACIT_SCALE_STEPS, .lo = -1, .hi = 3};

static struct tacit_rng stream(uint32_t number)
{
    return tacit_rng_stream(5, number, 0, TACIT_PURPOSE_REWARD);
}

/* Both streams stand at the same place. */
static void expect_same_place(struct tacit_rng a, struct tacit_rng b)
{
    for (uint32_t i = 0; i < 9; i++)
        assert_int_equal(tacit_rng_next(&a), tacit_rng_next(&b));
}

static struct tacit_env env_of(enum tacit_env_kind kind, uint32_t arms, const double *means,
                               double sd)
{
    return (struct tacit_env){
        .kind = kind, .row_count = 1, .arm_count = arms, .means = means, .sd = sd};
}

static struct tacit_env logged_env(uint32_t agents, uint32_t arms, const double *means,
                                   struct tacit_env_log log)
{
    return (struct tacit_env){.kind = TACIT_ENV_LOGGED,
                              .row_count = agents,
                              .arm_count = arms,
                              .means = means,
                              .log = log};
}

static double pull_real(const struct tacit_env *env, uint32_t agent, uint32_t arm, uint64_t count,
                        struct tacit_rng *rng)
{
    union tacit_sum sum = {.real = 0};
    tacit_env_pull(env, agent, arm, count, &real_scale, rng, &sum);
    return sum.real;
}

static int64_t pull_steps(const struct tacit_env *env, uint32_t agent, uint32_t arm, uint64_t count,
                          const struct tacit_scale *scale, struct tacit_rng *rng)
{
    union tacit_sum sum = {.steps = 0};
    tacit_env_pull(env, agent, arm, count, scale, rng, &sum);
    return sum.steps;
}

/* DRAWS values against the mean, variance and fourth central moment of their law. */
struct moments {
    double mean;
    double variance;
    double fourth;
    double sum;
    double square;
};

static void moments_add(struct moments *moments, double value)
{
    double const off = value - moments->mean;
    moments->sum += off;
    moments->square += off * off;
}

static void moments_expect(const struct moments *moments)
{
    double const n = DRAWS;
    double const spread = moments->fourth - moments->variance * moments->variance;
    assert_true(gof_normal_tail(moments->sum / sqrt(n * moments->variance)) > ALPHA);
    assert_true(gof_normal_tail((moments->square - n * moments->variance) / sqrt(n * spread)) >
                ALPHA);
}

static struct moments binomial_moments(double n, double p)
{
    double const variance = n * p * (1 - p);
    return (struct moments){
        .mean = n * p, .variance = variance, .fourth = variance * (1 + (3 * n - 6) * p * (1 - p))};
}

/* ---- Constant -------------------------------------------------------------------------------- */

TEST(constant_adds_exactly_count_times_its_mean_and_draws_nothing)
{
    double const means[] = {0.25, 1.0, 0.3};
    struct tacit_env const env = env_of(TACIT_ENV_CONSTANT, 3, means, 0);
    struct tacit_rng rng = stream(0);
    struct tacit_rng const before = rng;
    union tacit_sum sum = {.real = 100};
    tacit_env_pull(&env, 0, 0, 8, &real_scale, &rng, &sum);
    assert_true(sum.real == 102.0);
    sum.steps = -1;
    tacit_env_pull(&env, 0, 0, 8, &unit_steps, &rng, &sum);
    assert_true(sum.steps == 2 * TACIT_STEPS - 1);
    assert_true(pull_steps(&env, 0, 1, 3, &wide_steps, &rng) == 3 * TACIT_STEPS / 2);
    assert_true(pull_steps(&env, 0, 2, 10, &unit_steps, &rng) ==
                10 * (int64_t)lround(0.3 * (double)TACIT_STEPS));
    assert_true(pull_steps(&env, 0, 1, TACIT_HORIZON_MAX, &unit_steps, &rng) == INT64_C(1) << 60);
    assert_true(pull_steps(&env, 0, 1, 0, &unit_steps, &rng) == 0);
    expect_same_place(rng, before);
}

/* ---- Bernoulli ------------------------------------------------------------------------------- */

TEST(bernoulli_at_0_and_1_is_certain)
{
    double const means[] = {0, 1};
    struct tacit_env const env = env_of(TACIT_ENV_BERNOULLI, 2, means, 0);
    struct tacit_rng rng = stream(1);
    for (uint64_t count = 0; count < 40; count++) {
        assert_true(pull_real(&env, 0, 0, count, &rng) == 0.0);
        assert_true(pull_real(&env, 0, 1, count, &rng) == (double)count);
        assert_true(pull_steps(&env, 0, 1, count, &unit_steps, &rng) ==
                    (int64_t)count * TACIT_STEPS);
    }
}

TEST(bernoulli_sums_are_whole_within_the_count_and_have_the_binomial_moments)
{
    double const means[] = {0.3};
    struct tacit_env const env = env_of(TACIT_ENV_BERNOULLI, 1, means, 0);
    uint64_t const counts[] = {1, 7, 1000};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        struct tacit_rng rng = stream((uint32_t)(10 + i));
        struct moments moments = binomial_moments((double)counts[i], 0.3);
        for (uint32_t draw = 0; draw < DRAWS; draw++) {
            double const sum = pull_real(&env, 0, 0, counts[i], &rng);
            assert_true(sum >= 0 && sum <= (double)counts[i] && sum == floor(sum));
            moments_add(&moments, sum);
        }
        moments_expect(&moments);
    }
}

TEST(bernoulli_on_steps_has_the_same_ones_as_on_reals)
{
    double const means[] = {0.6};
    struct tacit_env const env = env_of(TACIT_ENV_BERNOULLI, 1, means, 0);
    struct tacit_rng rng = stream(2);
    for (uint64_t count = 1; count < 300; count++) {
        struct tacit_rng again = rng;
        struct tacit_rng once_more = rng;
        int64_t const ones = (int64_t)pull_real(&env, 0, 0, count, &rng);
        assert_true(pull_steps(&env, 0, 0, count, &unit_steps, &again) == ones * TACIT_STEPS);
        /* On [-1, 3] a 0 is a quarter of the range and a 1 is half of it. */
        assert_true(pull_steps(&env, 0, 0, count, &wide_steps, &once_more) ==
                    ((int64_t)count + ones) * (TACIT_STEPS / 4));
    }
}

/* ---- Gaussian -------------------------------------------------------------------------------- */

TEST(gaussian_on_reals_is_one_normal_draw_whatever_the_count)
{
    double const means[] = {-2.0};
    struct tacit_env const env = env_of(TACIT_ENV_GAUSSIAN, 1, means, 3.0);
    struct tacit_rng rng = stream(3);
    struct moments moments = {.mean = -200, .variance = 900, .fourth = 3 * 900.0 * 900.0};
    for (uint32_t draw = 0; draw < DRAWS; draw++) {
        struct tacit_rng one = rng;
        (void)tacit_rng_normal(&one);
        moments_add(&moments, pull_real(&env, 0, 0, 100, &rng));
        expect_same_place(rng, one);
    }
    moments_expect(&moments);
    double const large = 1e9; /* it is added to what was there */
    union tacit_sum sum = {.real = large};
    tacit_env_pull(&env, 0, 0, 100, &real_scale, &rng, &sum);
    assert_true(fabs(sum.real - large) < 1000);
}

/* A reward is max(0, min(1, Z)), Z standard normal. With f the density and Q the upper tail:
 * mean f(0) - f(1) + Q(1); second moment 1/2 - Q(1) - f(1) + Q(1) = 1/2 - f(1). */
TEST(gaussian_on_steps_is_clipped_pull_by_pull)
{
    double const means[] = {0};
    struct tacit_env const env = env_of(TACIT_ENV_GAUSSIAN, 1, means, 1.0);
    struct tacit_rng rng = stream(4);
    double const f0 = 0.3989422804014327;
    double const f1 = 0.2419707245191434;
    double const mean = f0 - f1 + 0.15865525393145705;
    double const variance = 0.5 - f1 - mean * mean;
    double off = 0;
    for (uint32_t draw = 0; draw < DRAWS / 10; draw++) {
        int64_t const sum = pull_steps(&env, 0, 0, 10, &unit_steps, &rng);
        assert_true(sum >= 0 && sum <= 10 * TACIT_STEPS);
        off += (double)sum / (double)TACIT_STEPS - 10 * mean;
    }
    assert_true(gof_normal_tail(off / sqrt(DRAWS * variance)) > ALPHA);
}

TEST(gaussian_on_steps_many_pulls_are_as_many_single_ones)
{
    double const means[] = {0.4};
    struct tacit_env const env = env_of(TACIT_ENV_GAUSSIAN, 1, means, 0.7);
    struct tacit_rng rng = stream(5);
    struct tacit_rng single = rng;
    int64_t sum = 0;
    for (uint32_t i = 0; i < 500; i++)
        sum += pull_steps(&env, 0, 0, 1, &wide_steps, &single);
    assert_true(pull_steps(&env, 0, 0, 500, &wide_steps, &rng) == sum);
    expect_same_place(rng, single);
}

/* ---- Logged ---------------------------------------------------------------------------------- */

TEST(logged_binary_is_the_binomial_of_the_share_of_ones)
{
    /* Two agents, two arms; the cell (1, 0) has one 1 in four. */
    uint32_t const start[] = {0, 1, 2, 6, 7};
    double const rewards[] = {0, 1, 0, 1, 0, 0, 1};
    double const means[] = {0, 1, 0.25, 1};
    struct tacit_env const env = logged_env(
        2, 2, means, (struct tacit_env_log){.start = start, .rewards = rewards, .binary = true});
    struct tacit_rng rng = stream(6);
    struct moments moments = binomial_moments(20, 0.25);
    for (uint32_t draw = 0; draw < DRAWS; draw++) {
        double const sum = pull_real(&env, 1, 0, 20, &rng);
        assert_true(sum >= 0 && sum <= 20 && sum == floor(sum));
        moments_add(&moments, sum);
    }
    moments_expect(&moments);
    assert_true(pull_real(&env, 0, 0, 50, &rng) == 0.0);
    assert_true(pull_real(&env, 0, 1, 50, &rng) == 50.0);
    assert_true(pull_steps(&env, 1, 1, 50, &unit_steps, &rng) == 50 * TACIT_STEPS);
}

TEST(logged_draws_each_row_of_its_own_cell_equally_often)
{
    /* Other cells hold values that would be seen at once. */
    uint32_t const start[] = {0, 1, 2, 5, 6};
    double const rewards[] = {50, 51, 1, 2, 3, 52};
    double const means[] = {50, 51, 2, 52};
    struct tacit_env const env =
        logged_env(2, 2, means, (struct tacit_env_log){.start = start, .rewards = rewards});
    struct tacit_rng rng = stream(7);
    uint64_t seen[4] = {0};
    double const expected[] = {0, DRAWS / 3.0, DRAWS / 3.0, DRAWS / 3.0};
    for (uint32_t draw = 0; draw < DRAWS; draw++) {
        double const reward = pull_real(&env, 1, 0, 1, &rng);
        assert_true(reward == 1.0 || reward == 2.0 || reward == 3.0);
        seen[(uint32_t)reward]++;
    }
    assert_true(gof_chi_square_p(seen + 1, expected + 1, 3) > ALPHA);
    assert_true(pull_real(&env, 0, 0, 3, &rng) == 150.0);
    assert_true(pull_real(&env, 1, 1, 3, &rng) == 156.0);
}

TEST(logged_many_pulls_are_as_many_single_ones_and_are_clipped_on_steps)
{
    uint32_t const start[] = {0, 4};
    double const rewards[] = {-5, 0.5, NAN, 9};
    double const means[] = {0.5};
    struct tacit_env const env =
        logged_env(1, 1, means, (struct tacit_env_log){.start = start, .rewards = rewards});
    struct tacit_rng rng = stream(8);
    struct tacit_rng single = rng;
    int64_t sum = 0;
    for (uint32_t i = 0; i < 300; i++) {
        int64_t const one = pull_steps(&env, 0, 0, 1, &unit_steps, &single);
        assert_true(one == 0 || one == TACIT_STEPS / 2 || one == TACIT_STEPS);
        sum += one;
    }
    assert_true(pull_steps(&env, 0, 0, 300, &unit_steps, &rng) == sum);
}

/* What the tables of Walker's method draw each place with, added up. */
static void shares_of(uint32_t count, const double *keep, const uint32_t *other, double *shares)
{
    for (uint32_t i = 0; i < count; i++)
        shares[i] = 0;
    for (uint32_t i = 0; i < count; i++) {
        assert_true(keep[i] >= 0 && keep[i] <= 1 + 1e-12);
        assert_true(other[i] < count);
        shares[i] += keep[i] / count;
        shares[other[i]] += (1 - keep[i]) / count;
    }
}

TEST(weighing_gives_each_row_the_share_of_its_weight)
{
    struct tacit_rng rng = stream(21);
    double weights[64];
    double keep[64];
    double shares[64];
    uint32_t other[64];
    uint32_t work[64];
    for (uint32_t count = 1; count <= 64; count++) {
        double total = 0;
        for (uint32_t i = 0; i < count; i++) {
            weights[i] = exp(8 * tacit_rng_uniform(&rng) * (count % 3)); /* alike, and far apart */
            keep[i] = weights[i];
            total += weights[i];
        }
        tacit_env_weigh(count, keep, other, work);
        shares_of(count, keep, other, shares);
        for (uint32_t i = 0; i < count; i++)
            assert_true(fabs(shares[i] - weights[i] / total) < 1e-13);
    }
}

TEST(logged_draws_rows_in_proportion_to_their_weights)
{
    uint32_t const start[] = {0, 2, 6};
    double const rewards[] = {50, 51, 0, 1, 2, 3};
    double keep[] = {1, 1, 1, 2, 1, 4};
    uint32_t other[6];
    uint32_t work[4];
    double const means[] = {50.5, 2};
    tacit_env_weigh(2, keep, other, work);
    tacit_env_weigh(4, keep + 2, other + 2, work);
    struct tacit_env const env = logged_env(
        1, 2, means,
        (struct tacit_env_log){.start = start, .rewards = rewards, .keep = keep, .other = other});
    struct tacit_rng rng = stream(22);
    struct tacit_rng single = rng;
    uint64_t seen[4] = {0};
    double sum = 0;
    double const expected[] = {DRAWS / 8.0, DRAWS / 4.0, DRAWS / 8.0, DRAWS / 2.0};
    for (uint32_t draw = 0; draw < DRAWS; draw++) {
        double const reward = pull_real(&env, 0, 1, 1, &single);
        assert_true(reward >= 0 && reward <= 3 && reward == floor(reward));
        seen[(uint32_t)reward]++;
        sum += reward;
    }
    assert_true(gof_chi_square_p(seen, expected, 4) > ALPHA);
    assert_true(pull_real(&env, 0, 1, DRAWS, &rng) == sum);
    expect_same_place(rng, single);
}

TEST(logged_sums_at_once_have_the_law_of_single_draws)
{
    /* Of the second cell 0 comes with chance 5/8, 1 with 1/4 and 1000 with 1/8. */
    uint32_t const start[] = {0, 1, 9};
    double const rewards[] = {50, 0, 0, 0, 0, 0, 1, 1, 1000};
    uint32_t const value_start[] = {0, 1, 4};
    double const values[] = {50, 0, 1, 1000};
    double const upto[] = {1, 5, 7, 8};
    double const means[] = {50, 125.25};
    struct tacit_env const env = logged_env(1, 2, means,
                                            (struct tacit_env_log){.start = start,
                                                                   .rewards = rewards,
                                                                   .value_start = value_start,
                                                                   .values = values,
                                                                   .upto = upto});
    struct tacit_rng rng = stream(23);
    struct tacit_rng single = rng;
    struct moments ones = binomial_moments(600, 0.25);
    struct moments thousands = binomial_moments(600, 0.125);
    for (uint32_t draw = 0; draw < DRAWS; draw++) {
        double const sum = pull_real(&env, 0, 1, 600, &rng);
        assert_true(sum >= 0 && sum == floor(sum) && fmod(sum, 1000) + floor(sum / 1000) <= 600);
        moments_add(&ones, fmod(sum, 1000));
        moments_add(&thousands, floor(sum / 1000));
    }
    moments_expect(&ones);
    moments_expect(&thousands);
    assert_true(pull_real(&env, 0, 0, 5000, &rng) == 250000.0);
    assert_true(pull_steps(&env, 0, 1, 3000, &unit_steps, &rng) % TACIT_STEPS == 0);
    struct tacit_env few = env; /* few pulls are drawn one by one, as ever */
    few.log.values = NULL;
    struct tacit_rng other = single;
    assert_true(pull_real(&env, 0, 1, 100, &single) == pull_real(&few, 0, 1, 100, &other));
    expect_same_place(single, other);
}

/* A twin that draws one row after the other and counts by itself. Cell 0 has all three units, two
 * of them twice, cell 1 two; ten pulls of 2 x 5 are the most that lasts. */
TEST(of_a_unit_no_more_rewards_are_drawn_than_allowed)
{
    enum { LIMIT = 5, UNITS = 3 };
    static const uint32_t start[] = {0, 5, 7};
    static const uint32_t units[] = {0, 1, 2, 1, 0, 2, 0};
    static const double rewards[] = {1, 10, 100, 1000, 10000, 1e5, 1e6};
    static const double means[] = {0, 0};
    for (uint32_t seed = 0; seed < 50; seed++) {
        uint32_t drawn[UNITS] = {0};
        uint32_t by_hand[UNITS] = {0};
        struct tacit_env const env = logged_env(1, 2, means,
                                                (struct tacit_env_log){.start = start,
                                                                       .rewards = rewards,
                                                                       .unit_limit = LIMIT,
                                                                       .unit_count = UNITS,
                                                                       .units = units,
                                                                       .drawn = drawn});
        struct tacit_rng rng = stream(seed);
        struct tacit_rng twin = rng;
        for (uint32_t arm = 0; arm < 2; arm++) {
            uint32_t const rows = start[arm + 1] - start[arm];
            double sum = 0;
            for (uint32_t pulls = 0; pulls < LIMIT;) {
                uint32_t const row = start[arm] + (uint32_t)tacit_rng_below(&twin, rows);
                if (by_hand[units[row]] == LIMIT)
                    continue;
                by_hand[units[row]]++;
                sum += rewards[row];
                pulls++;
            }
            assert_true(pull_real(&env, 0, arm, LIMIT, &rng) == sum);
            assert_memory_equal(drawn, by_hand, sizeof drawn);
        }
        expect_same_place(rng, twin);
    }
}

TEST(pulls_are_single_only_where_the_law_of_the_sum_is_not_known)
{
    struct tacit_env env = {.kind = TACIT_ENV_BERNOULLI};
    for (uint32_t kind = TACIT_ENV_BERNOULLI; kind <= TACIT_ENV_LOGGED; kind++) {
        env.kind = (enum tacit_env_kind)kind;
        for (uint32_t binary = 0; binary < 2; binary++) {
            bool const is_log = env.kind == TACIT_ENV_LOGGED && binary == 0;
            env.log.binary = binary == 1;
            assert_int_equal(tacit_env_pulls_singly(&env, &real_scale), is_log);
            assert_int_equal(tacit_env_pulls_singly(&env, &unit_steps),
                             is_log || env.kind == TACIT_ENV_GAUSSIAN);
        }
    }
}

/* ---- Means ----------------------------------------------------------------------------------- */

TEST(means_are_those_of_the_agents_row_or_of_the_only_one)
{
    double const means[] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6};
    struct tacit_rng rng = stream(9);
    for (uint32_t rows = 1; rows <= 3; rows += 2) {
        struct tacit_env env = env_of(TACIT_ENV_CONSTANT, 2, means, 0);
        env.row_count = rows;
        for (uint32_t agent = 0; agent < 3; agent++)
            for (uint32_t arm = 0; arm < 2; arm++) {
                double const mean = means[(rows == 1 ? 0 : agent) * 2 + arm];
                assert_true(tacit_env_mean(&env, agent, arm) == mean);
                assert_true(pull_real(&env, agent, arm, 1, &rng) == mean);
            }
    }
}

TEST(global_means_are_the_averages_over_rows)
{
    double const means[] = {0, 1, 0.5, 0.25, 1, 0};
    struct tacit_env env = {TACIT_ENV_BERNOULLI, 3, 2, means, 0, {0}, NULL, NULL};
    double out[2];
    tacit_env_global_means(&env, out);
    assert_true(out[0] == 0.5);
    assert_true(fabs(out[1] - 1.25 / 3) < 1e-15);
    env.row_count = 1;
    tacit_env_global_means(&env, out);
    assert_true(out[0] == 0.0);
    assert_true(out[1] == 1.0);
}

TEST(generate_fills_every_mean_and_only_those_uniformly_inside_0_and_1)
{
    static double means[DRAWS + 1];
    struct tacit_rng rng = stream(20);
    means[DRAWS] = -7;
    tacit_env_generate(means, DRAWS, &rng);
    assert_true(means[DRAWS] == -7.0);
    for (uint32_t arm = 0; arm < DRAWS; arm++)
        assert_true(means[arm] > 0 && means[arm] < 1);
    assert_true(gof_ks_p(means, DRAWS) > ALPHA);
}

/* ---- Smallest gap ---------------------------------------------------------------------------- */

/* To the second best, wherever the best stands; ties are passed over and rounding, no more. */
TEST(gap_is_to_the_second_best)
{
    double const next = nextafter(0.1, 1);
    struct {
        double means[5];
        uint32_t count;
        double gap;
        double error;
    } const cases[] = {{{0.75, 0.5, 0.25}, 3, 0.25, 0},
                       {{0.25, 0.5, 0.75}, 3, 0.25, 0},
                       {{0.5, 0.75, 0.25}, 3, 0.25, 0},
                       {{0.75, 0.25, 0.75, 0.25, 0.75}, 5, 0.5, 0},
                       {{0.1, 0.1 + 1e-17, next, 0.1 - 1e-13, 0.05}, 5, 0.05, 1e-15},
                       {{0.1, 0.1 - 1e-11, 0.05}, 3, 1e-11, 1e-15},
                       {{0.3, 0.3, 0.1 + 0.2, 0.3}, 4, 0, 0},
                       {{0.3}, 1, 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double const gap = tacit_env_smallest_gap(cases[i].means, cases[i].count);
        assert_true(fabs(gap - cases[i].gap) <= cases[i].error);
    }
}

/* ---- One pull by each agent -------------------------------------------------------------------
 */

#define EACH_AGENTS 5u

TEST(pull_by_each_is_one_pull_after_the_other)
{
    static const enum tacit_env_kind kinds[] = {TACIT_ENV_BERNOULLI, TACIT_ENV_CONSTANT,
                                                TACIT_ENV_GAUSSIAN};
    static const struct tacit_scale *const scales[] = {&real_scale, &unit_steps, &wide_steps};
    static const double means[] = {0, 0.5, 0.9, 1, 0.2, 0.1};
    static const uint32_t arms[EACH_AGENTS] = {1, 0, 1, 1, 0};
    for (uint32_t pair = 0; pair < 9; pair++) {
        struct tacit_env const env = env_of(kinds[pair % 3], 2, means + pair % 5, 0.5);
        struct tacit_scale const *const scale = scales[pair / 3];
        struct tacit_rng each[EACH_AGENTS];
        struct tacit_rng alone[EACH_AGENTS];
        union tacit_sum sums[EACH_AGENTS];
        for (uint32_t agent = 0; agent < EACH_AGENTS; agent++)
            each[agent] = alone[agent] = stream(agent);
        for (uint32_t pull = 0; pull < 100; pull++) {
            tacit_env_pull_each(&env, EACH_AGENTS, arms, scale, each, sums);
            for (uint32_t agent = 0; agent < EACH_AGENTS; agent++) {
                union tacit_sum const one =
                    tacit_env_pull_one(&env, agent, arms[agent], scale, &alone[agent]);
                assert_memory_equal(&sums[agent], &one, sizeof one);
            }
        }
        for (uint32_t agent = 0; agent < EACH_AGENTS; agent++)
            expect_same_place(each[agent], alone[agent]);
    }
}

/* Every kind, on both scales: who watches sees what is drawn, and changes nothing of it. */
TEST(a_watch_changes_no_reward)
{
    static const double rows[] = {9, 0.1, 0.4, 0.7, 1.2};
    static const double bits[] = {1, 0, 1, 1, 0};
    static const uint32_t start[] = {0, 1, 5};
    static const double binary_means[] = {1, 0.5};
    static const double means[] = {0.1, 0.6}; /* the second arm is pulled */
    struct tacit_env const environments[] = {
        env_of(TACIT_ENV_BERNOULLI, 2, means, 0), env_of(TACIT_ENV_CONSTANT, 2, means, 0),
        env_of(TACIT_ENV_GAUSSIAN, 2, means, 1),
        logged_env(1, 2, means, (struct tacit_env_log){.start = start, .rewards = rows}),
        logged_env(1, 2, binary_means,
                   (struct tacit_env_log){.start = start, .rewards = bits, .binary = true})};
    for (size_t kind = 0; kind < sizeof environments / sizeof environments[0]; kind++)
        for (uint32_t on_steps = 0; on_steps < 2; on_steps++) {
            struct tacit_scale const *const scale = on_steps ? &wide_steps : &real_scale;
            uint64_t counts[2] = {0};
            double totals[2] = {0};
            double drawn = 0;
            struct tacit_env_watch watch = {.counts = counts, .sums = totals};
            struct tacit_env const alone = environments[kind];
            struct tacit_env watched = alone;
            struct tacit_rng a = stream(77);
            struct tacit_rng b = stream(77);
            watched.watch = &watch;
            for (uint32_t i = 0; i < 50; i++) {
                union tacit_sum const x = tacit_env_pull_one(&alone, 0, 1, scale, &a);
                union tacit_sum const y = tacit_env_pull_one(&watched, 0, 1, scale, &b);
                assert_memory_equal(&x, &y, sizeof x);
                union tacit_sum many_x = {0};
                union tacit_sum many_y = {0};
                tacit_env_pull(&alone, 0, 1, 9, scale, &a, &many_x);
                tacit_env_pull(&watched, 0, 1, 9, scale, &b, &many_y);
                assert_memory_equal(&many_x, &many_y, sizeof many_x);
                drawn += on_steps ? (double)(x.steps + many_x.steps) * 4 / (double)TACIT_STEPS - 10
                                  : x.real + many_x.real;
            }
            expect_same_place(a, b);
            assert_true(counts[0] == 0 && counts[1] == 500);
            if (alone.kind != TACIT_ENV_GAUSSIAN || !on_steps) /* what is clipped was drawn */
                assert_true(fabs(totals[1] - drawn) < 1e-3);
        }
}
