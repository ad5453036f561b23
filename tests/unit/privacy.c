/* Room privacy, one function at a time: both sides of each limit, failing entropy at every fill,
 * the ledger against a stupid twin in 128 bits, golden statements; and the sums of base that carry
 * the promise. Laws are tested in tests/stat/privacy_stat.c, known answers in tests/kat/samplers.c.
 */
#include <float.h>
#include <math.h>
#include "../support/testing.h"
#include "../support/scarce.h"
#include "tacit/gaussian.h"
#include "tacit/vector.h"
#include "tacit/elim.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define SAMPLER_MAX (UINT64_C(1) << 50)
#define STEPS_NANO ((uint64_t)TACIT_STEPS * TACIT_NANO)

__extension__ typedef unsigned __int128 wide;

static struct tacit_rng some_stream(uint32_t run)
{
    return tacit_rng_stream(13, run, 0, TACIT_PURPOSE_NOISE);
}

static struct tacit_mechanism_config some_config(enum tacit_privacy_mode mode)
{
    return (struct tacit_mechanism_config){.mode = mode, .epsilon_per_reward = 1, .lo = 0, .hi = 1};
}

static struct tacit_mechanism mechanism_of(enum tacit_privacy_mode mode, double epsilon)
{
    struct tacit_mechanism_config config = some_config(mode);
    config.epsilon_per_reward = epsilon;
    struct tacit_mechanism mechanism;
    assert_int_equal(tacit_mechanism_init(&mechanism, &config), TACIT_OK);
    return mechanism;
}

/* ---- Samplers: limits and failing entropy ---------------------------------------------------- */

/* A sampler of two parameters, t and s. drawn: what it writes to. */
typedef enum tacit_status sampler(uint64_t t, uint64_t s, const struct tacit_entropy *entropy,
                                  int64_t *drawn);

static enum tacit_status draw_coin(uint64_t numerator, uint64_t denominator,
                                   const struct tacit_entropy *entropy, int64_t *drawn)
{
    bool heads = *drawn != 0;
    enum tacit_status const status = tacit_bernoulli_exp(numerator, denominator, entropy, &heads);
    *drawn = heads;
    return status;
}

TEST(samplers_refuse_what_is_outside_their_limits)
{
    static const struct {
        sampler *draw;
        uint64_t t;
        uint64_t s;
        enum tacit_status status;
    } cases[] = {{draw_coin, 0, 0, TACIT_INVALID},
                 {draw_coin, 0, 1, TACIT_OK},
                 {draw_coin, 1, 1, TACIT_OK},
                 {draw_coin, 2, 1, TACIT_INVALID},
                 {draw_coin, SAMPLER_MAX, SAMPLER_MAX, TACIT_OK},
                 {draw_coin, 0, SAMPLER_MAX + 1, TACIT_INVALID},
                 {draw_coin, SAMPLER_MAX + 1, SAMPLER_MAX, TACIT_INVALID},
                 {draw_coin, UINT64_MAX, UINT64_MAX, TACIT_INVALID},
                 {tacit_discrete_laplace, 0, 1, TACIT_INVALID},
                 {tacit_discrete_laplace, 1, 0, TACIT_INVALID},
                 {tacit_discrete_laplace, 1, 1, TACIT_OK},
                 {tacit_discrete_laplace, SAMPLER_MAX, 1, TACIT_OK},
                 {tacit_discrete_laplace, 1, SAMPLER_MAX, TACIT_OK},
                 {tacit_discrete_laplace, SAMPLER_MAX, SAMPLER_MAX, TACIT_OK},
                 {tacit_discrete_laplace, SAMPLER_MAX + 1, 1, TACIT_INVALID},
                 {tacit_discrete_laplace, 1, SAMPLER_MAX + 1, TACIT_INVALID}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct tacit_rng rng = some_stream(1);
        struct tacit_entropy const entropy = tacit_rng_entropy(&rng);
        int64_t drawn = 1;
        assert_int_equal(cases[i].draw(cases[i].t, cases[i].s, &entropy, &drawn), cases[i].status);
        assert_true(cases[i].status == TACIT_OK || drawn == 1);
    }
}

/* Result: how many fills a run needed at most. */
static uint32_t expect_untouched_without_entropy(sampler *draw, uint64_t t, uint64_t s,
                                                 uint32_t runs)
{
    uint32_t most_fills = 0;
    for (uint32_t run = 0; run < runs; run++) {
        enum tacit_status status = TACIT_ENTROPY;
        uint32_t fills = 0;
        for (; status != TACIT_OK; fills++) {
            int64_t drawn[2] = {0, 1};
            for (int64_t before = 0; before < 2; before++) {
                struct tacit_rng rng = some_stream(run);
                struct scarce failing = {tacit_rng_entropy(&rng), fills};
                struct tacit_entropy const entropy = scarce_entropy(&failing);
                status = draw(t, s, &entropy, &drawn[before]);
                assert_true(status == TACIT_OK ||
                            (status == TACIT_ENTROPY && drawn[before] == before));
            }
            assert_int_equal(drawn[0] == drawn[1], status == TACIT_OK);
        }
        most_fills = fills > most_fills ? fills : most_fills;
    }
    return most_fills;
}

TEST(samplers_without_entropy_at_any_fill_leave_their_output_untouched)
{
    assert_true(expect_untouched_without_entropy(draw_coin, 999, 1000, 300) >= 5);
    assert_true(expect_untouched_without_entropy(tacit_discrete_laplace, 3, 2, 100) >= 20);
}

static void check_release_at_every_fill(const struct tacit_mechanism *mechanism)
{
    enum tacit_status status = TACIT_ENTROPY;
    for (uint32_t fills = 0; status != TACIT_OK; fills++) {
        struct tacit_rng rng = some_stream(7);
        struct scarce failing = {tacit_rng_entropy(&rng), fills};
        struct tacit_entropy const entropy = scarce_entropy(&failing);
        union tacit_sum const exact = {.steps = INT64_C(1) << 61};
        union tacit_sum noised = {.steps = 77};
        status = tacit_mechanism_release(mechanism, exact, &entropy, &noised);
        assert_true(status == TACIT_OK || status == TACIT_ENTROPY);
        assert_true((status == TACIT_ENTROPY) == (noised.steps == 77));
        assert_true(status == TACIT_ENTROPY || fills > 0);
    }
}

TEST(release_without_entropy_at_any_fill_leaves_its_output_untouched)
{
    struct tacit_mechanism const paper = mechanism_of(TACIT_PRIVACY_PAPER, 0.5);
    struct tacit_mechanism const sound = mechanism_of(TACIT_PRIVACY_SOUND, 0.5);
    check_release_at_every_fill(&paper);
    check_release_at_every_fill(&sound);
}

/* ---- Mechanism: limits ----------------------------------------------------------------------- */

/* Ensures: a refusal leaves the mechanism untouched. */
static enum tacit_status status_of(const struct tacit_mechanism_config *config)
{
    struct tacit_mechanism mechanism;
    struct tacit_mechanism before;
    memset(&mechanism, 0x5a, sizeof mechanism);
    memset(&before, 0x5a, sizeof before);
    enum tacit_status const status = tacit_mechanism_init(&mechanism, config);
    if (status != TACIT_OK)
        assert_memory_equal(&mechanism, &before, sizeof before);
    return status;
}

TEST(init_takes_epsilons_from_1e_6_to_1e6_and_infinity)
{
    double const good[] = {1e-6, 1, 10, 1e6, INFINITY};
    double const bad[] = {
        NAN,   0,      -0.0, -1,     -INFINITY, nextafter(1e-6, 0), nextafter(1e6, INFINITY),
        1e-12, 5e-324, 1e7,  DBL_MAX};
    enum tacit_privacy_mode const modes[] = {TACIT_PRIVACY_PAPER, TACIT_PRIVACY_SOUND};
    for (size_t mode = 0; mode < COUNT(modes); mode++) {
        struct tacit_mechanism_config config = some_config(modes[mode]);
        for (size_t i = 0; i < COUNT(good); i++) {
            config.epsilon_per_reward = good[i];
            assert_int_equal(status_of(&config), TACIT_OK);
        }
        for (size_t i = 0; i < COUNT(bad); i++) {
            config.epsilon_per_reward = bad[i];
            assert_int_equal(status_of(&config), TACIT_INVALID);
        }
    }
}

TEST(init_takes_finite_ranges_that_doubles_can_divide)
{
    double const good[][2] = {{0, 1},         {-3, 3},      {-1, -0.5},
                              {0, 1e-150},    {0, 1e150},   {1, 1 + DBL_EPSILON},
                              {1e20, 1.5e20}, {-1e-150, 0}, {-5e149, 5e149}};
    double const bad[][2] = {{0, 0},
                             {1, 0},
                             {NAN, 1},
                             {0, NAN},
                             {NAN, NAN},
                             {-INFINITY, 1},
                             {0, INFINITY},
                             {INFINITY, 0},
                             {-INFINITY, INFINITY},
                             {0, 1e-151},
                             {0, 5e-324},
                             {0, 1e151},
                             {0, DBL_MAX},
                             {-DBL_MAX, DBL_MAX},
                             {INFINITY, INFINITY}};
    enum tacit_privacy_mode const modes[] = {TACIT_PRIVACY_PAPER, TACIT_PRIVACY_SOUND};
    double const epsilons[] = {1e-6, 1e6, INFINITY};
    for (size_t i = 0; i < COUNT(modes) * COUNT(epsilons); i++) {
        struct tacit_mechanism_config config = some_config(modes[i % COUNT(modes)]);
        config.epsilon_per_reward = epsilons[i / COUNT(modes)];
        for (size_t range = 0; range < COUNT(good); range++) {
            config.lo = good[range][0];
            config.hi = good[range][1];
            assert_int_equal(status_of(&config), TACIT_OK);
        }
        for (size_t range = 0; range < COUNT(bad); range++) {
            config.lo = bad[range][0];
            config.hi = bad[range][1];
            assert_int_equal(status_of(&config), TACIT_INVALID);
        }
    }
}

TEST(init_without_privacy_looks_at_nothing)
{
    struct tacit_mechanism_config const config = {
        .mode = TACIT_PRIVACY_NONE, .epsilon_per_reward = NAN, .lo = 1, .hi = -INFINITY};
    struct tacit_mechanism mechanism;
    assert_int_equal(tacit_mechanism_init(&mechanism, &config), TACIT_OK);
    assert_false(mechanism.noisy);
    assert_int_equal(mechanism.scale.kind, TACIT_SCALE_REAL);
    assert_int_equal(tacit_mechanism_cost_nano(&mechanism), 0);
}

/* ---- Mechanism: scale and cost --------------------------------------------------------------- */

TEST(sound_epsilon_is_rounded_down_to_a_nano_epsilon)
{
    struct {
        double epsilon;
        uint64_t nano;
    } const cases[] = {{1e-6, 1000},
                       {1.0009e-6, 1000},
                       {1.0019e-6, 1001},
                       {0.1234567895, 123456789},
                       {0.12345678999, 123456789},
                       {1.9999999999, 1999999999},
                       {1e6, UINT64_C(1000000000000000)},
                       {999999.9999999995, UINT64_C(999999999999999)}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct tacit_mechanism const sound = mechanism_of(TACIT_PRIVACY_SOUND, cases[i].epsilon);
        assert_int_equal(sound.epsilon_nano, cases[i].nano);
        assert_int_equal(tacit_mechanism_cost_nano(&sound), cases[i].nano);
    }
}

/* 4.1 * 1e9 is a little below 4100000000 in doubles; a statement must not say 4.099999999. */
TEST(epsilons_with_four_decimals_are_kept_as_they_were_written)
{
    for (uint64_t i = 1; i <= 200000; i++) {
        double const epsilon = (double)i / 10000; /* correctly rounded, as a parser's would be */
        struct tacit_mechanism const sound = mechanism_of(TACIT_PRIVACY_SOUND, epsilon);
        struct tacit_mechanism const paper = mechanism_of(TACIT_PRIVACY_PAPER, epsilon);
        assert_int_equal(tacit_mechanism_cost_nano(&sound), i * 100000);
        assert_int_equal(tacit_mechanism_cost_nano(&paper), i * 100000);
    }
}

TEST(sound_scale_is_steps_over_epsilon_in_lowest_terms)
{
    struct {
        double epsilon;
        uint64_t t;
        uint64_t s;
    } const cases[] = {{1, (uint64_t)TACIT_STEPS, 1},        {2, (uint64_t)TACIT_STEPS / 2, 1},
                       {0.5, 2 * (uint64_t)TACIT_STEPS, 1},  {3, (uint64_t)TACIT_STEPS, 3},
                       {0.3, 10 * (uint64_t)TACIT_STEPS, 3}, {0.999999937, STEPS_NANO, 999999937},
                       {1e-6, STEPS_NANO / 1000, 1},         {1e6, 16384, 15625},
                       {(double)TACIT_STEPS / 2, 2, 1}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct tacit_mechanism const sound = mechanism_of(TACIT_PRIVACY_SOUND, cases[i].epsilon);
        assert_int_equal(sound.scale_t, cases[i].t);
        assert_int_equal(sound.scale_s, cases[i].s);
    }
}

/* t/s = STEPS / (nano / 1e9) exactly, in lowest terms, and within what the sampler takes. */
TEST(sound_scale_is_exact_for_any_epsilon)
{
    struct tacit_rng rng = some_stream(9);
    for (uint32_t i = 0; i < 20000; i++) {
        double const epsilon = 1e-6 * pow(1e12, tacit_rng_uniform(&rng));
        struct tacit_mechanism const sound = mechanism_of(TACIT_PRIVACY_SOUND, epsilon);
        assert_true((wide)sound.scale_t * sound.epsilon_nano == (wide)STEPS_NANO * sound.scale_s);
        assert_true(sound.scale_t <= SAMPLER_MAX && sound.scale_s <= SAMPLER_MAX);
        uint64_t a = sound.scale_t;
        for (uint64_t b = sound.scale_s; b != 0;) {
            uint64_t const rest = a % b;
            a = b;
            b = rest;
        }
        assert_int_equal(a, 1);
        double const nano = epsilon * 1e9;
        assert_true((double)sound.epsilon_nano <= nano * (1 + 4 * DBL_EPSILON));
        assert_true((double)sound.epsilon_nano > nano - 1);
    }
}

TEST(paper_scale_is_the_range_over_epsilon)
{
    struct tacit_mechanism_config const config = {
        .mode = TACIT_PRIVACY_PAPER, .epsilon_per_reward = 50, .lo = -1, .hi = 4};
    struct tacit_mechanism mechanism;
    assert_int_equal(tacit_mechanism_init(&mechanism, &config), TACIT_OK);
    assert_true(mechanism.noisy);
    assert_true(mechanism.laplace_scale == 0.1);
    assert_int_equal(mechanism.scale.kind, TACIT_SCALE_REAL);
    assert_int_equal(tacit_mechanism_cost_nano(&mechanism), 50 * TACIT_NANO);
}

TEST(paper_cost_is_rounded_up_to_a_nano_epsilon)
{
    struct tacit_mechanism const above = mechanism_of(TACIT_PRIVACY_PAPER, 0.1234567891);
    struct tacit_mechanism const just = mechanism_of(TACIT_PRIVACY_PAPER, 0.123456789);
    struct tacit_mechanism const product = mechanism_of(TACIT_PRIVACY_PAPER, 50 * 0.1);
    assert_int_equal(tacit_mechanism_cost_nano(&above), 123456790);
    assert_int_equal(tacit_mechanism_cost_nano(&just), 123456789);
    assert_int_equal(tacit_mechanism_cost_nano(&product), 5 * TACIT_NANO);
}

/* ---- Mechanism: release ---------------------------------------------------------------------- */

static void check_release_without_noise(const struct tacit_mechanism *mechanism)
{
    struct scarce failing = {.draws_left = 0};
    struct tacit_entropy const entropy = scarce_entropy(&failing);
    int64_t const sums[] = {0, 1, -5, INT64_C(1) << 60, INT64_MAX, INT64_MIN};
    assert_false(mechanism->noisy);
    assert_int_equal(tacit_mechanism_cost_nano(mechanism), 0);
    for (size_t i = 0; i < COUNT(sums); i++) {
        union tacit_sum const exact = {.steps = sums[i]};
        union tacit_sum noised = {.steps = 77};
        assert_int_equal(tacit_mechanism_release(mechanism, exact, &entropy, &noised), TACIT_OK);
        assert_memory_equal(&noised, &exact, sizeof exact);
    }
}

TEST(release_without_noise_is_the_sum_and_needs_no_entropy)
{
    struct tacit_mechanism const none = mechanism_of(TACIT_PRIVACY_NONE, 1);
    struct tacit_mechanism const paper = mechanism_of(TACIT_PRIVACY_PAPER, INFINITY);
    struct tacit_mechanism const sound = mechanism_of(TACIT_PRIVACY_SOUND, INFINITY);
    check_release_without_noise(&none);
    check_release_without_noise(&paper);
    check_release_without_noise(&sound);
    assert_int_equal(sound.scale.kind, TACIT_SCALE_STEPS);
}

TEST(sound_release_is_the_sum_plus_the_samplers_noise)
{
    struct tacit_mechanism const sound = mechanism_of(TACIT_PRIVACY_SOUND, 0.3);
    int64_t const sums[] = {0, 12345, -(INT64_C(1) << 60), INT64_C(1) << 60};
    for (uint32_t run = 0; run < 400; run++) {
        union tacit_sum const exact = {.steps = sums[run % COUNT(sums)]};
        union tacit_sum noised = {0};
        int64_t noise = 0;
        struct tacit_rng here = some_stream(run);
        struct tacit_rng there = some_stream(run);
        struct tacit_entropy const entropy_here = tacit_rng_entropy(&here);
        struct tacit_entropy const entropy_there = tacit_rng_entropy(&there);
        assert_int_equal(tacit_mechanism_release(&sound, exact, &entropy_here, &noised), TACIT_OK);
        assert_int_equal(
            tacit_discrete_laplace(10 * (uint64_t)TACIT_STEPS, 3, &entropy_there, &noise),
            TACIT_OK);
        assert_true(noised.steps - exact.steps == noise);
    }
}

/* The noise must not depend on the sum (nor, therefore, on how many rewards are in it). */
TEST(noise_is_the_same_whatever_the_sum)
{
    struct tacit_mechanism const paper = mechanism_of(TACIT_PRIVACY_PAPER, 1);
    for (uint32_t run = 0; run < 400; run++) {
        struct tacit_rng here = some_stream(run);
        struct tacit_rng there = some_stream(run);
        struct tacit_entropy const entropy_here = tacit_rng_entropy(&here);
        struct tacit_entropy const entropy_there = tacit_rng_entropy(&there);
        union tacit_sum const large = {.real = 1e6};
        union tacit_sum zero = {.real = 0};
        union tacit_sum noised = {0};
        assert_int_equal(tacit_mechanism_release(&paper, large, &entropy_here, &noised), TACIT_OK);
        assert_int_equal(tacit_mechanism_release(&paper, zero, &entropy_there, &zero), TACIT_OK);
        assert_true(fabs(noised.real - large.real - zero.real) < 1e-9);
        assert_true(here.used == there.used && here.position == there.position);
    }
}

/* ---- Mechanism: plausible -------------------------------------------------------------------- */

static bool is_plausible(const struct tacit_mechanism *mechanism, int64_t steps, uint64_t count,
                         uint32_t releases)
{
    union tacit_sum const noised = {.steps = steps};
    return tacit_mechanism_plausible(mechanism, noised, count, releases);
}

TEST(plausible_in_sound_mode_allows_60_scales_a_release_on_either_side)
{
    struct tacit_mechanism const sound = mechanism_of(TACIT_PRIVACY_SOUND, 0.5);
    int64_t const scale = 2 * TACIT_STEPS;
    for (uint32_t releases = 1; releases <= 40; releases += 13) {
        int64_t const noise_max = 60 * (int64_t)releases * scale;
        int64_t const sum_max = 100 * TACIT_STEPS;
        assert_true(is_plausible(&sound, 0, 100, releases));
        assert_true(is_plausible(&sound, -noise_max, 100, releases));
        assert_false(is_plausible(&sound, -noise_max - 1, 100, releases));
        assert_true(is_plausible(&sound, sum_max + noise_max, 100, releases));
        assert_false(is_plausible(&sound, sum_max + noise_max + 1, 100, releases));
    }
    assert_false(is_plausible(&sound, INT64_MIN, TACIT_HORIZON_MAX, 40));
    assert_false(is_plausible(&sound, INT64_MAX, TACIT_HORIZON_MAX, 40));
}

TEST(plausible_without_noise_allows_only_sums_that_rewards_can_make)
{
    struct tacit_mechanism const sound = mechanism_of(TACIT_PRIVACY_SOUND, INFINITY);
    assert_true(is_plausible(&sound, 0, 3, 1));
    assert_false(is_plausible(&sound, -1, 3, 1));
    assert_true(is_plausible(&sound, 3 * TACIT_STEPS, 3, 1));
    assert_false(is_plausible(&sound, 3 * TACIT_STEPS + 1, 3, 1));
    assert_true(is_plausible(&sound, 0, 0, 0));
    assert_false(is_plausible(&sound, 1, 0, 0));
}

TEST(plausible_in_doubles_means_finite)
{
    enum tacit_privacy_mode const modes[] = {TACIT_PRIVACY_NONE, TACIT_PRIVACY_PAPER};
    for (size_t i = 0; i < COUNT(modes); i++) {
        struct tacit_mechanism const mechanism = mechanism_of(modes[i], 1);
        double const good[] = {0, -37, DBL_MAX, -DBL_MAX, 5e-324};
        double const bad[] = {NAN, INFINITY, -INFINITY};
        for (size_t j = 0; j < COUNT(good); j++)
            assert_true(
                tacit_mechanism_plausible(&mechanism, (union tacit_sum){.real = good[j]}, 5, 1));
        for (size_t j = 0; j < COUNT(bad); j++)
            assert_false(
                tacit_mechanism_plausible(&mechanism, (union tacit_sum){.real = bad[j]}, 5, 1));
    }
}

TEST(plausible_accepts_every_honest_release)
{
    double const epsilons[] = {1e-6, 0.1, 1, 1e6};
    struct tacit_rng rng = some_stream(21);
    struct tacit_entropy const entropy = tacit_rng_entropy(&rng);
    for (size_t i = 0; i < COUNT(epsilons); i++) {
        struct tacit_mechanism const sound = mechanism_of(TACIT_PRIVACY_SOUND, epsilons[i]);
        for (uint32_t draw = 0; draw < 20000; draw++) {
            union tacit_sum sum = {.steps = draw % 2 == 0 ? 0 : 10 * TACIT_STEPS};
            assert_int_equal(tacit_mechanism_release(&sound, sum, &entropy, &sum), TACIT_OK);
            assert_true(tacit_mechanism_plausible(&sound, sum, 10, 1));
        }
    }
}

/* ---- Base: levels and sums ------------------------------------------------------------------- */

static int64_t level(double lo, double hi, double reward)
{
    struct tacit_scale const scale = {.kind = TACIT_SCALE_STEPS, .lo = lo, .hi = hi};
    return tacit_scale_level(&scale, reward);
}

TEST(level_clips_to_the_range_and_takes_bad_rewards_for_lo)
{
    double const ranges[][2] = {{0, 1},      {-3, 5},         {-2, -1},
                                {0, 1e-150}, {-5e149, 5e149}, {1e20, 2e20}};
    for (size_t i = 0; i < COUNT(ranges); i++) {
        double const lo = ranges[i][0];
        double const hi = ranges[i][1];
        assert_int_equal(level(lo, hi, lo), 0);
        assert_int_equal(level(lo, hi, nextafter(lo, -INFINITY)), 0);
        assert_int_equal(level(lo, hi, -INFINITY), 0);
        assert_int_equal(level(lo, hi, -DBL_MAX), 0);
        assert_int_equal(level(lo, hi, NAN), 0);
        assert_int_equal(level(lo, hi, -NAN), 0);
        assert_int_equal(level(lo, hi, hi), TACIT_STEPS);
        assert_int_equal(level(lo, hi, nextafter(hi, lo)), TACIT_STEPS);
        assert_int_equal(level(lo, hi, nextafter(hi, INFINITY)), TACIT_STEPS);
        assert_int_equal(level(lo, hi, DBL_MAX), TACIT_STEPS);
        assert_int_equal(level(lo, hi, INFINITY), TACIT_STEPS);
        assert_int_equal(level(lo, hi, lo + (hi - lo) / 2), TACIT_STEPS / 2);
    }
}

TEST(level_of_denormals_and_of_signed_zeros_is_0)
{
    double const tiny[] = {5e-324, -5e-324, DBL_MIN, -DBL_MIN, DBL_MIN / 2, 0.0, -0.0};
    for (size_t i = 0; i < COUNT(tiny); i++) {
        assert_int_equal(level(0, 1, tiny[i]), 0);
        assert_int_equal(level(-1, 1, tiny[i]), TACIT_STEPS / 2);
    }
}

/* Halves go up; the points tested are exact in binary. */
TEST(level_rounds_to_the_nearest_step)
{
    double const step = 0x1p-20;
    for (int64_t k = 0; k < TACIT_STEPS; k += k < 100 || k > TACIT_STEPS - 100 ? 1 : 997) {
        double const here = (double)k * step;
        assert_int_equal(level(0, 1, here), k);
        assert_int_equal(level(0, 1, here + step * (0.5 - 0x1p-30)), k);
        assert_int_equal(level(0, 1, here + step / 2), k + 1);
        assert_int_equal(level(0, 1, here + step), k + 1);
        assert_int_equal(level(-1, 3, 4 * here - 1), k);
    }
}

TEST(level_of_any_double_grows_with_it_and_stays_in_its_range)
{
    struct tacit_rng rng = some_stream(31);
    for (uint32_t i = 0; i < 200000; i++) {
        double rewards[2];
        for (uint32_t j = 0; j < 2; j++) {
            uint64_t word = tacit_rng_next(&rng); /* any bits at all, or a number near the range */
            memcpy(&rewards[j], &word, sizeof word);
            if (i % 2 == 0)
                rewards[j] = 8 * tacit_rng_uniform(&rng) - 4;
        }
        int64_t const first = level(-2, 3, rewards[0]);
        int64_t const second = level(-2, 3, rewards[1]);
        assert_true(first >= 0 && first <= TACIT_STEPS);
        if (rewards[0] <= rewards[1])
            assert_true(first <= second);
    }
}

TEST(sums_of_2_to_the_40_rewards_are_exact)
{
    struct tacit_scale const scale = {.kind = TACIT_SCALE_STEPS, .lo = 0, .hi = 1};
    union tacit_sum sum = {0};
    tacit_sum_add_reward(&scale, &sum, 1, TACIT_HORIZON_MAX);
    assert_true(sum.steps == INT64_C(1) << 60);
    assert_true(tacit_sum_mean(&scale, sum, TACIT_HORIZON_MAX) == 1);
    sum.steps = 0;
    tacit_sum_add_reward(&scale, &sum, 1, TACIT_HORIZON_MAX - 1);
    tacit_sum_add_reward(&scale, &sum, 0x1p-20, 1); /* one step: lost in a double, not here */
    assert_true(sum.steps == (INT64_C(1) << 60) - TACIT_STEPS + 1);
    union tacit_sum const other = {.steps = TACIT_STEPS - 1};
    tacit_sum_add(&scale, &sum, other);
    assert_true(sum.steps == INT64_C(1) << 60);
}

TEST(sums_in_steps_do_not_depend_on_order_or_grouping)
{
    struct tacit_scale const scale = {.kind = TACIT_SCALE_STEPS, .lo = -1, .hi = 2};
    double const rewards[] = {0.1, 1e9, -0.3, NAN, 1.7, -INFINITY, 0.1};
    union tacit_sum forward = {0};
    union tacit_sum backward = {0};
    union tacit_sum grouped = {0};
    for (size_t i = 0; i < COUNT(rewards); i++) {
        for (uint32_t times = 0; times < 1000; times++)
            tacit_sum_add_reward(&scale, &forward, rewards[i], 1);
        tacit_sum_add_reward(&scale, &backward, rewards[COUNT(rewards) - 1 - i], 1000);
        union tacit_sum part = {0};
        tacit_sum_add_reward(&scale, &part, rewards[i], 1000);
        tacit_sum_add(&scale, &grouped, part);
    }
    assert_true(forward.steps == backward.steps);
    assert_true(forward.steps == grouped.steps);
}

/* ---- Ledger: sums that overflow -------------------------------------------------------------- */

static void expect_spend(struct tacit_ledger *ledger, uint64_t cell, uint64_t nano,
                         enum tacit_status expected)
{
    struct tacit_ledger const before = *ledger;
    assert_int_equal(tacit_ledger_spend(ledger, cell, nano), expected);
    if (expected != TACIT_OK)
        assert_memory_equal(ledger, &before, sizeof before);
}

TEST(ledger_refuses_sums_that_overflow)
{
    struct tacit_ledger ledger = tacit_ledger_init(UINT64_MAX);
    expect_spend(&ledger, 0, 1, TACIT_OK);
    expect_spend(&ledger, 0, UINT64_MAX, TACIT_INVALID); /* the cell */
    expect_spend(&ledger, 1, UINT64_MAX, TACIT_INVALID); /* the gross sum */
    expect_spend(&ledger, 0, UINT64_MAX - 1, TACIT_OK);
    assert_true(tacit_ledger_spent_nano(&ledger) == UINT64_MAX);
    expect_spend(&ledger, 0, 1, TACIT_INVALID);
    expect_spend(&ledger, 0, 0, TACIT_OK);
    tacit_ledger_next_scope(&ledger);
    expect_spend(&ledger, 0, 1, TACIT_INVALID); /* scopes together */
    expect_spend(&ledger, 0, 0, TACIT_OK);
}

/* gross_nano is never below the other sums; a ledger read from a damaged file may say otherwise. */
TEST(ledger_whose_sums_disagree_still_refuses_to_overflow)
{
    struct tacit_ledger cell = {.budget_nano = UINT64_MAX, .open_cell_nano = UINT64_MAX - 1};
    expect_spend(&cell, 0, 2, TACIT_INVALID);
    struct tacit_ledger scope = {.budget_nano = UINT64_MAX, .past_scopes_nano = UINT64_MAX - 1};
    expect_spend(&scope, 0, 2, TACIT_INVALID);
}

/* ---- Ledger: the stupid twin ----------------------------------------------------------------- */

#define TWIN_CELLS 64u
#define TWIN_SPENDS 1000000u

struct twin {
    wide budget;
    wide past;
    wide cells[TWIN_CELLS]; /* all of this scope, closed or not */
    uint64_t last_cell;
    wide gross;
    uint64_t release_count;
};

static wide twin_spent(const struct twin *twin)
{
    wide most = 0;
    for (uint32_t i = 0; i < TWIN_CELLS; i++)
        most = twin->cells[i] > most ? twin->cells[i] : most;
    return twin->past + most;
}

static enum tacit_status twin_spend(struct twin *twin, uint64_t cell, uint64_t nano)
{
    if (cell < twin->last_cell)
        return TACIT_INVALID;
    twin->cells[cell] += nano;
    wide const spent = twin_spent(twin);
    if (twin->cells[cell] > UINT64_MAX || twin->gross + nano > UINT64_MAX || spent > UINT64_MAX ||
        spent > twin->budget) {
        bool const overflow =
            twin->cells[cell] > UINT64_MAX || twin->gross + nano > UINT64_MAX || spent > UINT64_MAX;
        twin->cells[cell] -= nano;
        return overflow ? TACIT_INVALID : TACIT_BUDGET;
    }
    twin->last_cell = cell;
    twin->gross += nano;
    twin->release_count++;
    return TACIT_OK;
}

static void twin_next_scope(struct twin *twin)
{
    twin->past = twin_spent(twin);
    memset(twin->cells, 0, sizeof twin->cells);
    twin->last_cell = 0;
}

/* Amounts of every size: small ones mostly, now and then the rest of the budget, or huge ones. */
static uint64_t some_amount(struct tacit_rng *rng, const struct twin *twin)
{
    uint64_t const kind = tacit_rng_below(rng, 100);
    if (kind == 0)
        return tacit_rng_next(rng);
    if (kind == 1)
        return (uint64_t)(twin->budget - twin->past) + tacit_rng_below(rng, 3) - 1;
    return tacit_rng_next(rng) >> (10 + tacit_rng_below(rng, 54));
}

static void check_agreement(const struct tacit_ledger *ledger, const struct twin *twin)
{
    assert_true(tacit_ledger_spent_nano(ledger) == twin_spent(twin));
    assert_true(tacit_ledger_spent_nano(ledger) <= ledger->budget_nano);
    assert_true(ledger->gross_nano == twin->gross);
    assert_true(ledger->release_count == twin->release_count);
}

TEST(ledger_agrees_with_the_twin_on_a_million_random_spends)
{
    struct tacit_rng rng = some_stream(41);
    uint32_t seen[3] = {0, 0, 0}; /* accepted, refused as invalid, refused for the budget */
    for (uint32_t done = 0; done < TWIN_SPENDS;) {
        uint64_t const budget = tacit_rng_next(&rng) >> tacit_rng_below(&rng, 64);
        struct tacit_ledger ledger = tacit_ledger_init(budget);
        struct twin twin = {.budget = budget};
        for (uint32_t i = 0; i < 500; i++, done++) {
            if (tacit_rng_below(&rng, 50) == 0) {
                tacit_ledger_next_scope(&ledger);
                twin_next_scope(&twin);
            }
            uint64_t const ahead = twin.last_cell + tacit_rng_below(&rng, 4);
            uint64_t const cell = ahead == 0 ? 0 : (ahead - 1) % TWIN_CELLS; /* also one back */
            uint64_t const nano = some_amount(&rng, &twin);
            struct tacit_ledger const before = ledger;
            enum tacit_status const status = tacit_ledger_spend(&ledger, cell, nano);
            assert_int_equal(status, twin_spend(&twin, cell, nano));
            if (status != TACIT_OK)
                assert_memory_equal(&ledger, &before, sizeof before);
            check_agreement(&ledger, &twin);
            seen[status == TACIT_OK ? 0 : status == TACIT_INVALID ? 1 : 2]++;
        }
    }
    for (uint32_t i = 0; i < COUNT(seen); i++)
        assert_true(seen[i] > TWIN_SPENDS / 20);
}

/* ---- Promises in words ----------------------------------------------------------------------- */

#define AGAINST                                                                                    \
    " (pure, local, replace-one: the value of one reward changes, the schedule does not) against " \
    "everybody who sees the network, the coordinator and all other agents together included. "
#define FORMAL "An epsilon above 10 is formal only: it hardly limits what can be learnt about "
#define PAPER_NOISE                                                                                \
    "Paper mode adds floating-point noise, whose low bits can betray a reward; it is for "         \
    "simulation only. "
#define SOUND_NOISE                                                                                \
    "Rewards are clipped to the public range and added as integers; each is in at most one "       \
    "noised sum; the noise is exact discrete Laplace. "
#define PERSON "A person who contributes m rewards is protected with m times this epsilon. "
#define LIMITS                                                                                     \
    "Not protected: whether, when and how often a person came; the number of pulls, the arm sets " \
    "and the time of messages, which are public; the averages of a site beyond the noise. "
#define SEED "This was a simulation: its random numbers come from a seed and are not private."
#define OF_REWARD(epsilon) "Each single reward is protected with epsilon = " epsilon
#define NO_EPSILON "No epsilon is guaranteed for this run: "

/* Until the next call. */
static const char *statement(const struct tacit_promise *promise)
{
    static char bytes[TACIT_STATEMENT_BYTES];
    struct tacit_text text = tacit_text_init(bytes, sizeof bytes);
    tacit_promise_state(promise, &text);
    assert_false(text.truncated);
    assert_int_equal(text.size, strlen(bytes));
    return bytes;
}

static void expect_statement(const struct tacit_promise *promise, const char *expected)
{
    assert_string_equal(statement(promise), expected);
}

static struct tacit_promise paper_promise(void)
{
    return (struct tacit_promise){.mechanism = {.noise = TACIT_NOISE_DOUBLE,
                                                .epsilon_nano = 50 * TACIT_NANO,
                                                .letter_nano = TACIT_NANO,
                                                .agent_count = 50,
                                                .report_count = 50}};
}

static struct tacit_promise sound_promise(uint64_t epsilon_nano)
{
    return (struct tacit_promise){
        .mechanism = {.noise = TACIT_NOISE_LAPLACE, .epsilon_nano = epsilon_nano, .releases = 1}};
}

TEST(statements_of_sums_are_golden)
{
    struct tacit_promise promise = sound_promise(1500000001);
    expect_statement(&promise, OF_REWARD("1.500000001") AGAINST SOUND_NOISE PERSON LIMITS SEED);
    promise = paper_promise();
    expect_statement(
        &promise, OF_REWARD("50") AGAINST FORMAL
        "a reward. The paper's letter eps = 1 is not that number: its noise has scale "
        "1/(N eps), so a reward loses N eps with N = 50 agents. " PAPER_NOISE PERSON LIMITS SEED);
    promise.mechanism.report_count = 13;
    promise.mechanism.gaps = TACIT_GAP_UNBOUNDED | TACIT_GAP_WAITING;
    expect_statement(&promise, NO_EPSILON
                     "these rewards are not bounded, and paper mode does not clip them; while it "
                     "waits, an agent plays the arm that is best by its own rewards without noise, "
                     "as in the paper, and who sees which arms are played sees that. The paper's "
                     "letter eps = 1 is for noise of scale 1/(N eps), N = 13 reporting of 50 "
                     "agents. " PAPER_NOISE LIMITS SEED);
    promise = (struct tacit_promise){.trust.audience = TACIT_AUDIENCE_HYBRID};
    expect_statement(&promise,
                     "No noise is added: nothing protects the rewards. The sums of the rewards of "
                     "each round leave the agents as they are. The agents on the way to the sink "
                     "of a component, and the sink, see those of single agents; the coordinator is "
                     "sent the total of each component.");
}

TEST(statement_of_an_interaction_has_a_delta)
{
    struct tacit_promise const promise = {.mechanism = {.noise = TACIT_NOISE_GAUSSIAN,
                                                        .of = TACIT_PROTECTED_INTERACTION,
                                                        .leaving = TACIT_LEAVING_MOMENTS,
                                                        .epsilon_nano = 20 * TACIT_NANO,
                                                        .delta_nano = 1000,
                                                        .rho_nano = TACIT_NANO / 4},
                                          .remark = "Of the family."};
    expect_statement(
        &promise,
        "Each single interaction is protected with epsilon = 20 and delta = 0.000001 (local, "
        "replace-one: the chosen context and its reward, replaced together) against everybody who "
        "sees the network, the coordinator and all other clients together included. " FORMAL
        "an interaction. Noised sums of contexts and rewards leave a client once a batch. Contexts "
        "are clipped to length 1, rewards to their range; the noise is exact discrete Gaussian on "
        "integers: 0.25 of zero-concentrated privacy. Not protected: how many interactions there "
        "are and when, and what several interactions of one person say together. " SEED
        " Of the family.");
}

/* What was promised before binds: more rewards of a person, and a larger epsilon, than the file
 * says now. */
TEST(statement_of_a_person_goes_by_what_was_spent)
{
    static const struct {
        uint32_t max;
        uint32_t most;
        uint64_t spent;
        const char *says;
        const char *denies;
    } cases[] = {
        {0, 0, 0, "loses the epsilon of each, over all runs", "Of one unit"},
        {2, 0, 0, "at most 2 rewards of this site enter anything", "more were entered before"},
        {2, 1, 10, "together lose at most 2 times epsilon = 10, which is 20. ", "earlier run"},
        {1, 2, 20,
         "(it is 1 now; more were entered before): the values of them together lose at "
         "most 2 times epsilon = 20, which is 40. ",
         "which is 10"},
        {1, 1, 20, "A reward of an earlier run of this state has lost up to epsilon = 20",
         "2 times"},
        {UINT32_MAX, 0, UINT64_MAX / TACIT_NANO, "4294967295 times epsilon = 18446744073. ",
         "which is"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct tacit_promise promise = sound_promise(10 * TACIT_NANO);
        promise.trust = (struct tacit_promise_trust){.is_live = true,
                                                     .unit_rewards_max = cases[i].max,
                                                     .unit_rewards_most = cases[i].most,
                                                     .spent_nano = cases[i].spent * TACIT_NANO};
        assert_non_null(strstr(statement(&promise), cases[i].says));
        assert_null(strstr(statement(&promise), cases[i].denies));
        promise.mechanism = (struct tacit_promise_mechanism){.leaving = TACIT_LEAVING_GRADIENTS};
        assert_null(strstr(statement(&promise), "epsilon")); /* nothing is protected: no number */
        assert_null(strstr(statement(&promise), "less noise"));
    }
}

TEST(statement_of_a_live_site_says_who_holds_its_releases)
{
    static const char *const grantors[] = {
        [TACIT_AUDIENCE_STAR] = "as long as the coordinator neither",
        [TACIT_AUDIENCE_GRAPH] = "as long as one of its neighbours neither",
        [TACIT_AUDIENCE_HYBRID] = "the sink (of a sink: the coordinator) neither",
        [TACIT_AUDIENCE_ALONE] = "",
        [TACIT_AUDIENCE_VOTES] = "as long as the coordinator neither"};
    for (uint32_t i = 0; i < COUNT(grantors); i++) {
        struct tacit_promise promise = sound_promise(TACIT_NANO);
        promise.trust =
            (struct tacit_promise_trust){.is_live = true, .audience = (enum tacit_audience)i};
        assert_non_null(strstr(statement(&promise), grantors[i]));
        assert_non_null(strstr(statement(&promise), "given the times at which rewards come"));
        promise.trust.is_in_memory = promise.trust.is_settled = true;
        assert_null(strstr(statement(&promise), "neither lies"));
        assert_non_null(strstr(statement(&promise), "A copy of the running memory"));
        assert_non_null(strstr(statement(&promise), "when rewards come says nothing"));
    }
}

static bool says(const char *text, const char *words)
{
    return strstr(text, words) != NULL;
}

/* What holds of every statement there is: a number where one is guaranteed, and nowhere else; the
 * remark on large ones; a seed where noise was drawn from one. */
static void expect_laws(const struct tacit_promise *promise, const char *text)
{
    struct tacit_promise_mechanism const *const mechanism = &promise->mechanism;
    bool const is_noisy = mechanism->noise != TACIT_NOISE_NONE;
    bool const holds = tacit_promise_holds(promise);
    bool const is_live = promise->trust.is_live;
    assert_int_equal(holds, is_noisy && mechanism->gaps == 0);
    assert_int_equal(tacit_promise_lack(promise) == NULL, holds);
    assert_int_equal(says(text, "is protected with epsilon = "), holds);
    assert_int_equal(says(text, "No epsilon is guaranteed"), is_noisy && !holds);
    assert_int_equal(says(text, "No noise is added"), !is_noisy);
    assert_int_equal(says(text, FORMAL), holds && mechanism->epsilon_nano > 10 * TACIT_NANO);
    assert_int_equal(says(text, " and delta = "), holds && mechanism->delta_nano > 0);
    bool const has_helper = holds && promise->trust.has_helper;
    assert_int_equal(says(text, "There are two aggregators"), has_helper);
    assert_int_equal(says(text, "at the same delta"),
                     has_helper && promise->trust.floor_nano > 0 && mechanism->delta_nano > 0);
    assert_int_equal(says(text, SEED), is_noisy && !is_live && !mechanism->is_counted);
    assert_int_equal(says(text, "entropy of the operating system"), holds && is_live);
    assert_int_equal(says(text, "this file or page is not protected"), promise->is_logged);
    assert_true(holds ||
                (!says(text, "loses") && !says(text, "m times") && !says(text, "lose at")));
    assert_true(is_noisy || (!says(text, "exact discrete") && !says(text, "less noise")));
    assert_false(says(text, "  ") || says(text, "\n") || text[strlen(text) - 1] == ' ');
    char const *const name = tacit_promise_name(promise);
    assert_int_equal(strcmp(name, "none") == 0, !is_noisy);
    assert_true(says(name, "Laplace") ==
                (!mechanism->is_counted && (mechanism->noise == TACIT_NOISE_DOUBLE ||
                                            mechanism->noise == TACIT_NOISE_LAPLACE)));
}

TEST(every_statement_keeps_the_laws)
{
    struct tacit_rng rng = some_stream(77);
    for (uint32_t i = 0; i < 50000; i++) {
        uint64_t const bits = tacit_rng_next(&rng);
        struct tacit_promise promise = {
            .mechanism = {.noise = (enum tacit_noise)tacit_rng_below(&rng, 5),
                          .of = (enum tacit_protected)tacit_rng_below(&rng, 3),
                          .leaving = (enum tacit_leaving)tacit_rng_below(&rng, 7),
                          .epsilon_nano = (bits & 1) != 0 ? UINT64_MAX : 10 * TACIT_NANO,
                          .delta_nano = (bits & 2) != 0 ? 1 : 0,
                          .rho_nano = UINT64_MAX,
                          .releases = (uint32_t)tacit_rng_below(&rng, 3),
                          .is_counted = (bits & 4) != 0,
                          .letter_nano = (bits & 8) != 0 ? UINT64_MAX : 0,
                          .agent_count = UINT32_MAX,
                          .report_count = UINT32_MAX - (uint32_t)tacit_rng_below(&rng, 2),
                          .share_count = (bits & 16) != 0 ? UINT32_MAX : 0,
                          .slot_count = (bits & 32) != 0 ? UINT64_MAX : 0},
            .trust = {.audience = (enum tacit_audience)tacit_rng_below(&rng, 5),
                      .is_live = (bits & 64) != 0,
                      .is_settled = (bits & 128) != 0,
                      .is_in_memory = (bits & 256) != 0,
                      .has_peers = (bits & 512) != 0,
                      .unit_rewards_max = (bits & 1024) != 0 ? 1 : 0,
                      .unit_rewards_most = (uint32_t)tacit_rng_below(&rng, 3),
                      .spent_nano = (bits & 2048) != 0 ? UINT64_MAX : 0},
            .is_logged = (bits & 4096) != 0};
        promise.trust.has_helper =
            promise.trust.audience == TACIT_AUDIENCE_STAR && (bits & 16384) != 0;
        promise.trust.floor_nano = promise.trust.has_helper && (bits & 32768) != 0 ? 1 : 0;
        if (promise.mechanism.noise != TACIT_NOISE_NONE && (bits & 8192) != 0)
            promise.mechanism.gaps = (unsigned)tacit_rng_below(&rng, 16);
        expect_laws(&promise, statement(&promise));
    }
}

/* A promise is never smaller than what is lost; what a person wrote is charged, not what a double
 * makes of it; never more. */
TEST(billionths_are_those_that_were_written)
{
    static const struct {
        double value;
        uint64_t promised; /* rounded up */
        uint64_t charged;
    } cases[] = {{0, 0, 0},
                 {1e-9, 1, 1},
                 {1.4e-9, 2, 1},
                 {1.000001e-9, 2, 1},
                 {1e-6, 1000, 1000},
                 {1e-5, 10000, 10000},
                 {4.1, 4100000000, 4100000000},
                 {0.3, 300000000, 300000000},
                 {1.9999999999, 2000000000, 1999999999},
                 {1, TACIT_NANO, TACIT_NANO}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_int_equal(tacit_nano_up(cases[i].value), cases[i].promised);
        assert_int_equal(tacit_nano_of(cases[i].value), cases[i].charged);
    }
}

/* A source that is broken: one byte for ever. The fuse ends a loop that would not end. */
struct stuck {
    uint8_t byte;
    uint64_t fills;
};

#define FUSE UINT64_C(20000000)

static enum tacit_status fill_stuck(void *context, void *bytes, size_t size)
{
    struct stuck *const stuck = context;
    if (++stuck->fills > FUSE)
        fail_msg("a source that gives only %02x is asked for ever", stuck->byte);
    memset(bytes, stuck->byte, size);
    return TACIT_OK;
}

TEST(zeros_are_no_entropy)
{
    static const uint64_t scales[][2] = {
        {1, 1}, {3, 1}, {1, 3}, {1000003, 7}, {UINT64_C(1) << 50, 3}};
    struct stuck stuck = {0};
    struct tacit_entropy const entropy = {.fill = fill_stuck, .context = &stuck};
    uint32_t items[20];
    uint64_t word = 0;
    int64_t noise = 77;
    bool heads = true;
    for (size_t i = 0; i < sizeof scales / sizeof scales[0]; i++) {
        uint64_t const t = scales[i][0];
        uint64_t const s_of = scales[i][1];
        assert_int_equal(tacit_discrete_laplace(t, s_of, &entropy, &noise), TACIT_ENTROPY);
        assert_int_equal(tacit_discrete_laplace_wide(t, s_of, &entropy, &noise), TACIT_ENTROPY);
    }
    assert_int_equal(tacit_bernoulli_exp(1, 1, &entropy, &heads), TACIT_ENTROPY);
    assert_int_equal(tacit_entropy_below(&entropy, 3, &word), TACIT_ENTROPY);
    assert_int_equal(tacit_entropy_below(&entropy, 8, &word), TACIT_OK); /* every word is fair */
    for (uint32_t i = 0; i < 20; i++)
        items[i] = i;
    assert_int_equal(tacit_entropy_shuffle(&entropy, 20, items), TACIT_ENTROPY);
    assert_int_equal(noise, 77);
    assert_true(stuck.fills < FUSE);
}

/* Whatever it says for ever: noise or an error after so many questions, and no loop. */
TEST(no_stuck_source_holds_a_sampler)
{
    static const uint64_t scales[][2] = {{1, 1},
                                         {2, 1},
                                         {3, 1},
                                         {1, 3},
                                         {1000003, 7},
                                         {UINT64_C(1) << 20, 1},
                                         {UINT64_C(1) << 50, 3}};
    unsigned failed = 0;
    uint64_t fills = 0;
    for (unsigned byte = 0; byte < 256; byte += byte < 5 ? 1 : 5)
        for (size_t i = 0; i < sizeof scales / sizeof scales[0]; i++) {
            struct stuck stuck = {.byte = (uint8_t)byte};
            struct tacit_entropy const entropy = {.fill = fill_stuck, .context = &stuck};
            struct tacit_gaussian const gaussian = {.quotient = UINT64_C(1) << 3 * i,
                                                    .scale_log2 = (uint32_t)(3 * i)};
            int64_t noise = 0;
            failed += tacit_discrete_laplace(scales[i][0], scales[i][1], &entropy, &noise) ==
                      TACIT_ENTROPY;
            failed += tacit_discrete_laplace_wide(scales[i][0], scales[i][1], &entropy, &noise) ==
                      TACIT_ENTROPY;
            failed += tacit_discrete_gaussian(&gaussian, &entropy, &noise) == TACIT_ENTROPY;
            fills += stuck.fills;
        }
    assert_int_equal(failed, 527);
    assert_int_equal(fills, 95490946);
}

TEST(no_stuck_source_is_asked_for_ever)
{
    for (unsigned byte = 0; byte < 256; byte++) {
        struct stuck stuck = {.byte = (uint8_t)byte};
        struct tacit_entropy const entropy = {.fill = fill_stuck, .context = &stuck};
        uint64_t word;
        for (uint64_t bound = 1; bound < 300; bound++)
            (void)tacit_entropy_below(&entropy, bound, &word);
        assert_true(stuck.fills < FUSE);
    }
}
