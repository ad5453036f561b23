/* Known answers of the best-arm subroutines. Radii, quotas and indices come from 40-digit
 * arithmetic; the numbers of samples with rewards 1 and 0 from solving the stopping rules by
 * themselves. */
#include <math.h>
#include "../support/testing.h"
#include "tacit/best_arm.h"
#include "tacit/vote.h"

#define SAME 1e-14

struct golden_radius {
    enum tacit_best_arm_kind kind;
    uint32_t arms;
    double failure;
    uint64_t t;
    uint64_t pulls;
    double radius;
};

static const struct golden_radius radii[] = {
    {TACIT_BEST_ARM_SUCCESSIVE, 10, 0.9, 1, 1, 2.0043411688347801},
    {TACIT_BEST_ARM_SUCCESSIVE, 10, 0.9, 37, 37, 0.55114670010546785},
    {TACIT_BEST_ARM_SUCCESSIVE, 2, 0.05, 1000, 1000, 0.13825276823453594},
    {TACIT_BEST_ARM_SUCCESSIVE, 64, 0.001953125, 123456, 123456, 0.01694634583122645},
    {TACIT_BEST_ARM_SER3, 10, 0.9, 1, 1, 1.3773597877409814},
    {TACIT_BEST_ARM_SER3, 10, 0.9, 37, 37, 0.38583142578389761},
    {TACIT_BEST_ARM_SER3, 2, 0.05, 1000, 1000, 0.097187150316279212},
    {TACIT_BEST_ARM_SER3, 64, 0.001953125, 123456, 123456, 0.011945107004502832},
    {TACIT_BEST_ARM_KL_RACING, 10, 0.9, 1, 1, 8.4130664822073396},
    {TACIT_BEST_ARM_KL_RACING, 10, 0.9, 37, 37, 0.33473178881394558},
    {TACIT_BEST_ARM_KL_RACING, 2, 0.05, 1000, 1000, 0.017292531134549755},
    {TACIT_BEST_ARM_KL_RACING, 64, 0.001953125, 123456, 123456, 0.00023731801360684445},
    {TACIT_BEST_ARM_LUCB, 10, 0.9, 1, 1, 1.1469719176959133},
    {TACIT_BEST_ARM_LUCB, 10, 0.9, 37, 37, 0.48035404750380058},
    {TACIT_BEST_ARM_LUCB, 2, 0.05, 1000, 1000, 0.12558472064976036},
    {TACIT_BEST_ARM_LUCB, 64, 0.001953125, 123456, 123456, 0.015262269914969714},
    {TACIT_BEST_ARM_LUCB, 10, 0.9, 500, 12, 1.0702320923062835},
    {TACIT_BEST_ARM_UGAPEC, 10, 0.9, 1, 1, 1.3773597877409814},
    {TACIT_BEST_ARM_UGAPEC, 10, 0.9, 37, 37, 0.44459203448908194},
    {TACIT_BEST_ARM_UGAPEC, 2, 0.05, 1000, 1000, 0.11357473233994487},
    {TACIT_BEST_ARM_UGAPEC, 64, 0.001953125, 123456, 123456, 0.013790091646453754},
    {TACIT_BEST_ARM_UGAPEC, 10, 0.9, 500, 12, 0.96691227336123798},
};

struct golden_index {
    double mean;
    double level;
    double lower;
    double upper;
};

static const struct golden_index indices[] = {
    {0.3, 0.1, 0.12913012101949403, 0.52102761206824748},
    {0.0, 2.0, 0.0, 0.86466471676338731},
    {0.999, 0.01, 0.98647461545608889, 0.99999998328966453},
    {0.5, 0.5, 0.10246995118967495, 0.89753004881032505},
};

static struct tacit_best_arm_config config_of(enum tacit_best_arm_kind kind, uint32_t arms,
                                              double accuracy, double failure)
{
    return (struct tacit_best_arm_config){
        .kind = kind, .arm_count = arms, .accuracy = accuracy, .failure = failure};
}

TEST(radii_are_those_of_the_readings)
{
    for (size_t i = 0; i < sizeof radii / sizeof radii[0]; i++) {
        struct tacit_best_arm_config const config =
            config_of(radii[i].kind, radii[i].arms, 0.25, radii[i].failure);
        double const radius = tacit_best_arm_radius(&config, radii[i].t, radii[i].pulls);
        assert_true(fabs(radius - radii[i].radius) <= SAME * radii[i].radius);
    }
}

TEST(ser4_and_kl_lucb_have_the_radii_of_their_siblings)
{
    struct tacit_best_arm_config ser = config_of(TACIT_BEST_ARM_SER3, 10, 0.25, 0.9);
    struct tacit_best_arm_config racing = config_of(TACIT_BEST_ARM_KL_RACING, 10, 0.25, 0.9);
    double const ser3 = tacit_best_arm_radius(&ser, 37, 37);
    double const kl_racing = tacit_best_arm_radius(&racing, 37, 37);
    ser.kind = TACIT_BEST_ARM_SER4;
    racing.kind = TACIT_BEST_ARM_KL_LUCB;
    assert_true(tacit_best_arm_radius(&ser, 37, 37) == ser3);
    assert_true(tacit_best_arm_radius(&racing, 37, 37) == kl_racing);
}

TEST(indices_solve_their_equation)
{
    for (size_t i = 0; i < sizeof indices / sizeof indices[0]; i++) {
        struct golden_index const *const golden = &indices[i];
        double const upper = tacit_best_arm_kl_upper(golden->mean, golden->level);
        double const lower = tacit_best_arm_kl_lower(golden->mean, golden->level);
        assert_true(fabs(upper - golden->upper) <= 1e-12);
        assert_true(fabs(lower - golden->lower) <= 1e-12);
    }
    assert_true(tacit_best_arm_kl_upper(1, 0.5) == 1);
    assert_true(tacit_best_arm_kl_lower(0, 0.5) == 0);
}

TEST(quotas_are_those_of_the_readings)
{
    struct tacit_best_arm_config config = config_of(TACIT_BEST_ARM_NAIVE, 10, 0.25, 0.9);
    assert_int_equal(tacit_best_arm_quota(&config, 1), 199);
    config = config_of(TACIT_BEST_ARM_NAIVE, 3, 0.1, 0.05);
    assert_int_equal(tacit_best_arm_quota(&config, 1), 1915);
    config = config_of(TACIT_BEST_ARM_MEDIAN, 10, 0.25, 0.9);
    assert_int_equal(tacit_best_arm_quota(&config, 1), 1943);
    assert_int_equal(tacit_best_arm_quota(&config, 2), 4716);
    assert_int_equal(tacit_best_arm_quota(&config, 4), 22880);
    config = config_of(TACIT_BEST_ARM_MEDIAN, 3, 0.1, 0.05);
    assert_int_equal(tacit_best_arm_quota(&config, 1), 30640);
    double const alone = 3 * 30640.0 + 2 * (double)tacit_best_arm_quota(&config, 2);
    assert_true(tacit_vote_samples_alone(&config) == alone); /* all arms, then the half of them */
    config = config_of(TACIT_BEST_ARM_MEDIAN, 3, 1e-9, 0.05);
    assert_int_equal(tacit_best_arm_quota(&config, 1), TACIT_HORIZON_MAX);
}

/* Plays rewards[arm] until one arm is left; the answer is arm `answer`. */
static uint64_t samples_until_decided(const struct tacit_best_arm_config *config,
                                      const double *rewards, uint32_t answer)
{
    struct tacit_best_arm *const state = testing_malloc(tacit_best_arm_size(config));
    struct tacit_rng rng = tacit_rng_stream(1, 0, 0, TACIT_PURPOSE_REWARD);
    struct tacit_entropy const entropy = tacit_rng_entropy(&rng);
    assert_int_equal(tacit_best_arm_init(state, config), TACIT_OK);
    struct tacit_best_arm_view view;
    tacit_best_arm_view(state, &view);
    while (!view.decided) {
        uint32_t arm;
        assert_int_equal(tacit_best_arm_next(state, &entropy, &arm), TACIT_OK);
        assert_int_equal(tacit_best_arm_observe(state, arm, rewards[arm]), TACIT_OK);
        tacit_best_arm_view(state, &view);
    }
    uint64_t const samples = view.sample_count;
    assert_int_equal(view.answer, answer);
    return samples;
}

TEST(two_arms_of_one_and_zero_take_the_samples_of_the_rule)
{
    static const struct {
        enum tacit_best_arm_kind kind;
        uint64_t samples;
    } expected[] = {{TACIT_BEST_ARM_SER3, 18},       {TACIT_BEST_ARM_SER4, 18},
                    {TACIT_BEST_ARM_SUCCESSIVE, 78}, {TACIT_BEST_ARM_KL_RACING, 20},
                    {TACIT_BEST_ARM_LUCB, 32},       {TACIT_BEST_ARM_KL_LUCB, 20},
                    {TACIT_BEST_ARM_UGAPEC, 33},     {TACIT_BEST_ARM_NAIVE, 192},
                    {TACIT_BEST_ARM_MEDIAN, 3886}};
    double const rewards[2] = {0, 1};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        struct tacit_best_arm_config const config = config_of(expected[i].kind, 2, 0.25, 0.9);
        assert_int_equal(samples_until_decided(&config, rewards, 1), expected[i].samples);
    }
}

TEST(equal_arms_end_with_the_lowest)
{
    double const rewards[4] = {0.5, 0.5, 0.5, 0.5};
    for (uint32_t kind = 0; kind < TACIT_BEST_ARM_KINDS; kind++) {
        struct tacit_best_arm_config const config =
            config_of((enum tacit_best_arm_kind)kind, 4, 0.9, 0.5);
        samples_until_decided(&config, rewards, 0);
    }
    struct tacit_best_arm_config const two = config_of(TACIT_BEST_ARM_SUCCESSIVE, 2, 0.25, 0.9);
    assert_int_equal(samples_until_decided(&two, rewards, 0), 2 * 1044); /* alpha <= epsilon/2 */
}

TEST(one_arm_is_decided_at_the_start)
{
    double const rewards[1] = {0.5};
    struct tacit_best_arm_config const config = config_of(TACIT_BEST_ARM_SER3, 1, 0.25, 0.9);
    assert_int_equal(samples_until_decided(&config, rewards, 0), 0);
}

TEST(failure_is_split_as_in_definition_4)
{
    for (uint32_t kind = 0; kind < TACIT_BEST_ARM_KINDS; kind++) {
        double sum = 0;
        for (uint32_t epoch = 1; epoch <= 60; epoch++)
            sum += tacit_best_arm_share((enum tacit_best_arm_kind)kind, 10, epoch);
        assert_true(fabs(sum - 1) <= 1e-12);
    }
    assert_true(tacit_best_arm_share(TACIT_BEST_ARM_UGAPEC, 10, 1) == 1);
    assert_true(tacit_best_arm_share(TACIT_BEST_ARM_MEDIAN, 10, 3) == 0.125);
    assert_true(tacit_best_arm_share(TACIT_BEST_ARM_SER3, 10, 3) == 0.1);
}

TEST(wrong_input_is_refused)
{
    struct tacit_best_arm_config config = config_of(TACIT_BEST_ARM_SER3, 3, 0.25, 0.9);
    struct tacit_best_arm *const arms = testing_malloc(tacit_best_arm_size(&config));
    struct tacit_rng rng = tacit_rng_stream(1, 0, 0, TACIT_PURPOSE_REWARD);
    struct tacit_entropy const entropy = tacit_rng_entropy(&rng);
    assert_int_equal(tacit_best_arm_init(arms, &config), TACIT_OK);
    assert_int_equal(tacit_best_arm_observe(arms, 0, 1), TACIT_UNEXPECTED);
    uint32_t arm;
    assert_int_equal(tacit_best_arm_next(arms, &entropy, &arm), TACIT_OK);
    assert_int_equal(tacit_best_arm_observe(arms, (arm + 1) % 3, 1), TACIT_UNEXPECTED);
    assert_int_equal(tacit_best_arm_observe(arms, arm, NAN), TACIT_INVALID);
    assert_int_equal(tacit_best_arm_observe(arms, arm, 1.5), TACIT_INVALID);
    config.failure = 1;
    assert_int_equal(tacit_best_arm_size(&config), 0);
    config.failure = 0.5;
    config.accuracy = NAN;
    assert_int_equal(tacit_best_arm_size(&config), 0);
    config.accuracy = 0.5;
    config.arm_count = 0;
    assert_int_equal(tacit_best_arm_size(&config), 0);
}
