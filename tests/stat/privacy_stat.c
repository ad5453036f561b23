/* The laws of room privacy: goodness of fit of every stage of the sampler, of discrete Laplace at
 * 12 scales and of the release mechanisms, with fixed seeds.
 * False alarms: each check rejects at GOF_ALPHA = 1e-6, and there are 205 of them (main counts and
 * prints them), so that a correct library would fail under about 1 choice of seeds in 4 800.
 * Chi-square, Kolmogorov-Smirnov and normal p-values are limits; the counts are large enough for
 * them. The last group shows that the checks are able to fail. Passing is not a proof. */
#include <math.h>
#include "../support/testing.h"
#include "../support/effort.h"
#include "../support/gof.h"
#include "tacit/privacy.h"

#define CHECKS_STATED 205
#define SEED UINT64_C(20260119)
#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define DRAWS_MAX 4000000u

/* t of a mechanism before the fraction is reduced: STEPS in nano. */
#define STEPS_NANO ((uint64_t)TACIT_STEPS * TACIT_NANO)

__extension__ typedef unsigned __int128 wide;

static uint32_t draws(void)
{
    return effort_of(DRAWS_MAX / 10, DRAWS_MAX);
}

/* Every check has its own stream. */
static struct tacit_rng stream(uint32_t run)
{
    return tacit_rng_stream(SEED, run, 0, TACIT_PURPOSE_NOISE);
}

/* ---- Stage: Bernoulli(exp(-a/b)) ------------------------------------------------------------- */

typedef enum tacit_status bernoulli_draw(uint64_t numerator, uint64_t denominator,
                                         const struct tacit_entropy *entropy, bool *heads);

static double bernoulli_exp_p(bernoulli_draw *draw, uint64_t numerator, uint64_t denominator,
                              uint32_t run)
{
    struct tacit_rng rng = stream(run);
    struct tacit_entropy const entropy = tacit_rng_entropy(&rng);
    uint64_t heads_count = 0;
    for (uint32_t i = 0; i < draws(); i++) {
        bool heads = false;
        assert_int_equal(draw(numerator, denominator, &entropy, &heads), TACIT_OK);
        heads_count += heads ? 1u : 0u;
    }
    return gof_proportion_p(heads_count, draws(), exp(-(double)numerator / (double)denominator));
}

TEST(bernoulli_exp_succeeds_with_its_probability)
{
    uint64_t const limit = UINT64_C(1) << 50;
    uint64_t const fractions[][2] = {{0, 1},
                                     {1, 1},
                                     {1, 2},
                                     {1, 3},
                                     {2, 3},
                                     {1, 1000},
                                     {999, 1000},
                                     {123456789, 1000000007},
                                     {limit / 2, limit},
                                     {limit - 1, limit},
                                     {limit, limit},
                                     {1, limit},
                                     {STEPS_NANO / 7, STEPS_NANO}};
    for (uint32_t i = 0; i < COUNT(fractions); i++)
        gof_expect_fit("bernoulli exp", bernoulli_exp_p(tacit_bernoulli_exp, fractions[i][0],
                                                        fractions[i][1], 30 + i));
}

/* ---- Stages: truncated geometric u and whole scales v, where |y| = u + t v (s = 1) ----------- */

#define U_CELLS 64u
#define V_CELLS 12u
#define JOINT_CELLS 8u

/* Counts over draws with a plus (y >= 0, whose magnitude nobody rejects). */
struct stages {
    uint64_t u[U_CELLS];
    uint64_t v[V_CELLS];
    uint64_t joint[JOINT_CELLS * JOINT_CELLS];
    uint64_t total;
};

static uint32_t cell_of(uint64_t u, uint64_t t, uint32_t cells)
{
    return (uint32_t)((wide)u * cells / t);
}

/* Smallest u of a cell. */
static double cell_start(uint32_t cell, uint64_t t, uint32_t cells)
{
    return (double)(((wide)cell * t + cells - 1) / cells);
}

/* P(u is in the cell), for the law proportional to exp(-u/t) on {0, .., t-1}. */
static double u_mass(uint32_t cell, uint64_t t, uint32_t cells)
{
    double const scale = (double)t;
    return (exp(-cell_start(cell, t, cells) / scale) -
            exp(-cell_start(cell + 1, t, cells) / scale)) /
           -expm1(-1);
}

/* P(v), the last cell being open. */
static double v_mass(uint32_t v, uint32_t cells)
{
    return v + 1 == cells ? exp(-(double)v) : exp(-(double)v) * -expm1(-1);
}

static struct stages draw_stages(uint64_t t, uint32_t run)
{
    struct tacit_rng rng = stream(run);
    struct tacit_entropy const entropy = tacit_rng_entropy(&rng);
    struct stages stages = {.total = 0};
    for (uint32_t i = 0; i < draws(); i++) {
        int64_t y = 0;
        assert_int_equal(tacit_discrete_laplace(t, 1, &entropy, &y), TACIT_OK);
        if (y < 0)
            continue;
        uint64_t const u = (uint64_t)y % t;
        uint64_t const v = (uint64_t)y / t;
        stages.u[cell_of(u, t, U_CELLS)]++;
        stages.v[v < V_CELLS ? v : V_CELLS - 1]++;
        stages.joint[cell_of(u, t, JOINT_CELLS) * JOINT_CELLS +
                     (v < JOINT_CELLS ? v : JOINT_CELLS - 1)]++;
        stages.total++;
    }
    return stages;
}

static void check_stages(uint64_t t, uint32_t run)
{
    struct stages const stages = draw_stages(t, run);
    double expected[JOINT_CELLS * JOINT_CELLS];
    double const total = (double)stages.total;
    for (uint32_t i = 0; i < U_CELLS; i++)
        expected[i] = total * u_mass(i, t, U_CELLS);
    gof_expect_fit("truncated geometric", gof_chi_square_p(stages.u, expected, U_CELLS));
    for (uint32_t i = 0; i < V_CELLS; i++)
        expected[i] = total * v_mass(i, V_CELLS);
    gof_expect_fit("whole scales", gof_chi_square_p(stages.v, expected, V_CELLS));
    for (uint32_t i = 0; i < JOINT_CELLS * JOINT_CELLS; i++)
        expected[i] =
            total * u_mass(i / JOINT_CELLS, t, JOINT_CELLS) * v_mass(i % JOINT_CELLS, JOINT_CELLS);
    gof_expect_fit("both, independent",
                   gof_chi_square_p(stages.joint, expected, JOINT_CELLS * JOINT_CELLS));
}

TEST(geometric_stages_have_their_laws_and_are_independent)
{
    uint64_t const ts[] = {2, 5, 64, 1000, (uint64_t)TACIT_STEPS, STEPS_NANO, UINT64_C(1) << 50};
    for (uint32_t i = 0; i < COUNT(ts); i++)
        check_stages(ts[i], 60 + i);
}

/* ---- Discrete Laplace ------------------------------------------------------------------------ */

/* P(x) = tanh(a/2) e^(-a|x|), a = s/t; so P(X >= m) = P(X <= -m) = e^(-a m)/(1 + e^-a), m >= 1. */
struct law {
    uint64_t t;
    uint64_t s;
};

typedef enum tacit_status law_draw(const void *context, const struct tacit_entropy *entropy,
                                   int64_t *value);

enum law_check {
    LAW_SHAPE,
    LAW_SIGNS,
    LAW_SIDES,
    LAW_ZERO,
    LAW_TAIL_NEAR,
    LAW_TAIL_FAR,
    LAW_MEAN,
    LAW_VARIANCE,
    LAW_RATIO_FIRST, /* of the counts of neighbouring cells: 0:1 and 1:2 above, then below zero */
    LAW_CHECKS = LAW_RATIO_FIRST + 4
};

static const char *const law_check_names[LAW_CHECKS] = {
    "shape", "signs",    "two sides",    "zero",         "tail at 3",      "tail at 8",
    "mean",  "variance", "ratio 0:1 up", "ratio 1:2 up", "ratio 0:1 down", "ratio 1:2 down"};

#define SIDE_CELLS 64u

/* What the checks need to know of a sample. Cell j above zero holds [w j, w (j+1)), below zero
 * (-w (j+1) - 1, -w j - 1]; the last ones are open. */
struct sample {
    uint64_t width;
    uint64_t count;
    uint64_t up[SIDE_CELLS];
    uint64_t down[SIDE_CELLS];
    uint64_t strictly_up[SIDE_CELLS]; /* of x - 1 for x >= 1: the mirror image of down */
    uint64_t zeros;
    uint64_t tail[2]; /* |x| >= 3 and 8 scales, rounded up */
    uint64_t tail_from[2];
    double sum;
    double sum_of_squares; /* in units of the scale */
};

static uint32_t side_cell(uint64_t distance, uint64_t width)
{
    return distance / width < SIDE_CELLS ? (uint32_t)(distance / width) : SIDE_CELLS - 1;
}

static void take(struct sample *sample, int64_t x, double scale)
{
    uint64_t const magnitude = (uint64_t)llabs(x);
    if (x >= 0)
        sample->up[side_cell(magnitude, sample->width)]++;
    else
        sample->down[side_cell(magnitude - 1, sample->width)]++;
    if (x > 0)
        sample->strictly_up[side_cell(magnitude - 1, sample->width)]++;
    sample->zeros += x == 0 ? 1u : 0u;
    for (uint32_t i = 0; i < 2; i++)
        sample->tail[i] += magnitude >= sample->tail_from[i] ? 1u : 0u;
    double const unit = (double)x / scale;
    sample->sum += unit;
    sample->sum_of_squares += unit * unit;
    sample->count++;
}

static struct sample draw_sample(const struct law *law, law_draw *draw, const void *context,
                                 uint32_t run)
{
    double const scale = (double)law->t / (double)law->s;
    struct tacit_rng rng = stream(run);
    struct tacit_entropy const entropy = tacit_rng_entropy(&rng);
    struct sample sample = {.width = scale < 8 ? 1 : (uint64_t)(scale / 8),
                            .tail_from = {(uint64_t)ceil(3 * scale), (uint64_t)ceil(8 * scale)}};
    for (uint32_t i = 0; i < draws(); i++) {
        int64_t x = 0;
        assert_int_equal(draw(context, &entropy, &x), TACIT_OK);
        take(&sample, x, scale);
    }
    return sample;
}

static double shape_p(const struct sample *sample, double a)
{
    uint64_t observed[2 * SIDE_CELLS];
    double expected[2 * SIDE_CELLS];
    double const step = a * (double)sample->width;
    for (uint32_t j = 0; j < SIDE_CELLS; j++) {
        double const share = j + 1 == SIDE_CELLS ? 1 : -expm1(-step);
        double const mass = exp(-step * j) * share / (1 + exp(-a));
        observed[SIDE_CELLS - 1 - j] = sample->down[j];
        expected[SIDE_CELLS - 1 - j] = (double)sample->count * mass * exp(-a);
        observed[SIDE_CELLS + j] = sample->up[j];
        expected[SIDE_CELLS + j] = (double)sample->count * mass;
    }
    return gof_chi_square_p(observed, expected, COUNT(observed));
}

/* In units of the scale: E X^2 = 2q a^2/(1-q)^2, E X^4 = 2q (1 + 10q + q^2) a^4/(1-q)^4, q = e^-a.
 */
static void moment_ps(const struct sample *sample, double a, double p[LAW_CHECKS])
{
    double const n = (double)sample->count;
    double const q = exp(-a);
    double const stretch = a / -expm1(-a);
    double const second = 2 * q * stretch * stretch;
    double const fourth = 2 * q * (1 + 10 * q + q * q) * pow(stretch, 4);
    p[LAW_MEAN] = gof_normal_tail(sample->sum / sqrt(n * second));
    p[LAW_VARIANCE] = gof_normal_tail((sample->sum_of_squares - n * second) /
                                      sqrt(n * (fourth - second * second)));
}

/* Given that x is in one of two neighbouring cells, it is in the outer one with chance
 * e^(-a w)/(1 + e^(-a w)). At scales below 16 the cells are single numbers. */
static double ratio_p(const uint64_t *cells, double step)
{
    uint64_t const both = cells[0] + cells[1];
    return both == 0 ? 1 : gof_proportion_p(cells[1], both, 1 / (1 + exp(step)));
}

static void law_ps(const struct law *law, law_draw *draw, const void *context, uint32_t run,
                   double p[LAW_CHECKS])
{
    struct sample const sample = draw_sample(law, draw, context, run);
    double const a = (double)law->s / (double)law->t;
    double const step = a * (double)sample.width;
    uint64_t above = 0;
    for (uint32_t j = 0; j < SIDE_CELLS; j++)
        above += sample.strictly_up[j];
    p[LAW_SHAPE] = shape_p(&sample, a);
    p[LAW_SIGNS] = gof_proportion_p(above, sample.count - sample.zeros, 0.5);
    p[LAW_SIDES] = gof_two_sample_p(sample.strictly_up, sample.down, SIDE_CELLS);
    p[LAW_ZERO] = gof_proportion_p(sample.zeros, sample.count, tanh(a / 2));
    for (uint32_t i = 0; i < 2; i++)
        p[LAW_TAIL_NEAR + i] =
            gof_proportion_p(sample.tail[i], sample.count,
                             2 * exp(-a * (double)sample.tail_from[i]) / (1 + exp(-a)));
    moment_ps(&sample, a, p);
    for (uint32_t i = 0; i < 2; i++) {
        p[LAW_RATIO_FIRST + i] = ratio_p(sample.up + i, step);
        p[LAW_RATIO_FIRST + 2 + i] = ratio_p(sample.down + i, step);
    }
}

static void check_law(const struct law *law, law_draw *draw, const void *context, uint32_t run)
{
    double p[LAW_CHECKS];
    law_ps(law, draw, context, run, p);
    for (uint32_t i = 0; i < LAW_CHECKS; i++)
        gof_expect_fit(law_check_names[i], p[i]);
}

static enum tacit_status draw_discrete_laplace(const void *context,
                                               const struct tacit_entropy *entropy, int64_t *value)
{
    struct law const *const law = context;
    return tacit_discrete_laplace(law->t, law->s, entropy, value);
}

TEST(discrete_laplace_has_its_law_at_twelve_scales)
{
    struct law const laws[] = {
        {1, 3},
        {2, 3},
        {1, 1},
        {UINT64_C(1) << 50, UINT64_C(1) << 50},   /* scale 1 at the limit of the integers */
        {STEPS_NANO, UINT64_C(1000000000000000)}, /* the largest epsilon, 1e6 */
        {5, 2},
        {7, 1},
        {1000, 7},
        {(uint64_t)TACIT_STEPS, 1},
        {STEPS_NANO, 999999937}, /* a prime just below epsilon = 1 */
        {STEPS_NANO, 1000},      /* the smallest epsilon, 1e-6 */
        {UINT64_C(1) << 50, 3}};
    assert_int_equal(COUNT(laws), 12);
    for (uint32_t i = 0; i < COUNT(laws); i++)
        check_law(&laws[i], draw_discrete_laplace, &laws[i], 100 + i);
}

/* ---- Mechanisms ------------------------------------------------------------------------------ */

static struct tacit_mechanism mechanism_of(enum tacit_privacy_mode mode, double epsilon, double lo,
                                           double hi)
{
    struct tacit_mechanism_config const config = {
        .mode = mode, .epsilon_per_reward = epsilon, .lo = lo, .hi = hi};
    struct tacit_mechanism mechanism;
    assert_int_equal(tacit_mechanism_init(&mechanism, &config), TACIT_OK);
    return mechanism;
}

static enum tacit_status draw_released_noise(const void *context,
                                             const struct tacit_entropy *entropy, int64_t *value)
{
    union tacit_sum const exact = {.steps = INT64_C(123456789012345)};
    union tacit_sum noised = {0};
    enum tacit_status const status = tacit_mechanism_release(context, exact, entropy, &noised);
    *value = noised.steps - exact.steps;
    return status;
}

/* The law is stated here anew, not read from the mechanism: STEPS/epsilon whatever the range. */
TEST(sound_release_adds_discrete_laplace_of_scale_steps_over_epsilon)
{
    struct tacit_mechanism const mild = mechanism_of(TACIT_PRIVACY_SOUND, 0.3, -3, 3);
    struct law const mild_law = {10 * (uint64_t)TACIT_STEPS, 3};
    check_law(&mild_law, draw_released_noise, &mild, 130);
    struct tacit_mechanism const weak = mechanism_of(TACIT_PRIVACY_SOUND, 2.5e5, 0, 1);
    struct law const weak_law = {(uint64_t)TACIT_STEPS, 250000};
    check_law(&weak_law, draw_released_noise, &weak, 131);
}

static double laplace_cdf(double x, double scale)
{
    return x < 0 ? exp(x / scale) / 2 : 1 - exp(-x / scale) / 2;
}

static double paper_noise_p(const struct tacit_mechanism *mechanism, double scale, uint32_t run)
{
    struct tacit_rng rng = stream(run);
    struct tacit_entropy const entropy = tacit_rng_entropy(&rng);
    union tacit_sum const exact = {.real = 10.25};
    double *const levels = testing_calloc(draws(), sizeof levels[0]);
    for (uint32_t i = 0; i < draws(); i++) {
        union tacit_sum noised = {0};
        assert_int_equal(tacit_mechanism_release(mechanism, exact, &entropy, &noised), TACIT_OK);
        levels[i] = laplace_cdf(noised.real - exact.real, scale);
    }
    double const p = gof_ks_p(levels, draws());
    testing_free(levels);
    return p;
}

TEST(paper_release_adds_laplace_of_scale_range_over_epsilon)
{
    double const epsilons[] = {0.1, 1, 50};
    for (uint32_t i = 0; i < COUNT(epsilons); i++) {
        struct tacit_mechanism const mechanism =
            mechanism_of(TACIT_PRIVACY_PAPER, epsilons[i], -1, 3);
        gof_expect_fit("paper noise", paper_noise_p(&mechanism, 4 / epsilons[i], 140 + i));
    }
}

/* ---- The checks are able to fail ------------------------------------------------------------- */

/* Draws a magnitude with its right law, gives it a sign, and forgets to reject (minus, 0). */
static enum tacit_status draw_zero_twice(const void *context, const struct tacit_entropy *entropy,
                                         int64_t *value)
{
    enum tacit_status status;
    do {
        status = draw_discrete_laplace(context, entropy, value);
    } while (status == TACIT_OK && *value < 0);
    uint64_t negative = 0;
    if (status == TACIT_OK)
        status = tacit_entropy_below(entropy, 2, &negative);
    if (negative == 1)
        *value = -*value;
    return status;
}

TEST(checks_notice_that_zero_is_counted_twice)
{
    struct law const laws[] = {{1, 3}, {1, 1}, {7, 1}, {1000, 7}};
    for (uint32_t i = 0; i < COUNT(laws); i++) {
        double p[LAW_CHECKS];
        law_ps(&laws[i], draw_zero_twice, &laws[i], 200 + i, p);
        gof_expect_misfit("zero twice: zero", p[LAW_ZERO]);
        if (i < 3) /* the fourth has cells of 17 numbers, in which one hardly shows */
            gof_expect_misfit("zero twice: shape", p[LAW_SHAPE]);
    }
    double p[LAW_CHECKS];
    law_ps(&laws[2], draw_zero_twice, &laws[2], 204, p);
    gof_expect_misfit("zero twice: ratio", p[LAW_RATIO_FIRST]);
}

static enum tacit_status draw_3_percent_wide(const void *context,
                                             const struct tacit_entropy *entropy, int64_t *value)
{
    struct law const *const law = context;
    return tacit_discrete_laplace(103 * law->t, 100 * law->s, entropy, value);
}

TEST(checks_notice_a_scale_off_by_3_percent)
{
    struct law const laws[] = {{1, 3}, {1, 1}, {7, 1}, {(uint64_t)TACIT_STEPS, 1}};
    for (uint32_t i = 0; i < COUNT(laws); i++) {
        double p[LAW_CHECKS];
        law_ps(&laws[i], draw_3_percent_wide, &laws[i], 210 + i, p);
        gof_expect_misfit("3 % wide: shape", p[LAW_SHAPE]);
        gof_expect_misfit("3 % wide: variance", p[LAW_VARIANCE]);
        gof_expect_misfit("3 % wide: tail", p[LAW_TAIL_NEAR]);
    }
    struct tacit_mechanism const mechanism = mechanism_of(TACIT_PRIVACY_PAPER, 1, 0, 1.03);
    gof_expect_misfit("3 % wide: paper", paper_noise_p(&mechanism, 1, 215));
}

/* Starts again where the noise exceeds 8 scales, as a careless bound would. */
static enum tacit_status draw_without_tail(const void *context, const struct tacit_entropy *entropy,
                                           int64_t *value)
{
    struct law const *const law = context;
    enum tacit_status status;
    do {
        status = draw_discrete_laplace(context, entropy, value);
    } while (status == TACIT_OK && (uint64_t)llabs(*value) * law->s >= 8 * law->t);
    return status;
}

/* Divides by s towards minus infinity, as a shift of a negative number does. */
static enum tacit_status draw_floored(const void *context, const struct tacit_entropy *entropy,
                                      int64_t *value)
{
    struct law const *const law = context;
    int64_t const s = (int64_t)law->s;
    enum tacit_status const status = tacit_discrete_laplace(law->t, 1, entropy, value);
    *value = *value >= 0 ? *value / s : -((-*value + s - 1) / s);
    return status;
}

TEST(checks_notice_a_missing_tail_and_a_lopsided_division)
{
    struct law const law = {100, 7};
    double p[LAW_CHECKS];
    law_ps(&law, draw_without_tail, &law, 220, p);
    gof_expect_misfit("no tail: tail", p[LAW_TAIL_FAR]);
    law_ps(&law, draw_floored, &law, 221, p);
    gof_expect_misfit("floored: signs", p[LAW_SIGNS]);
    gof_expect_misfit("floored: mean", p[LAW_MEAN]);
}

/* The chance cut after two terms of the series: 1 - x + x^2/2. */
static enum tacit_status draw_truncated_series(uint64_t numerator, uint64_t denominator,
                                               const struct tacit_entropy *entropy, bool *heads)
{
    uint64_t k = 1;
    for (; k <= 2; k++) {
        uint64_t value = 0;
        enum tacit_status const status = tacit_entropy_below(entropy, denominator * k, &value);
        if (status != TACIT_OK)
            return status;
        if (value >= numerator)
            break;
    }
    *heads = k % 2 == 1;
    return TACIT_OK;
}

TEST(checks_notice_a_von_neumann_loop_that_stops_early)
{
    gof_expect_misfit("stops early at 1/2", bernoulli_exp_p(draw_truncated_series, 1, 2, 230));
    gof_expect_misfit("stops early at 1/1", bernoulli_exp_p(draw_truncated_series, 1, 1, 231));
}

TEST(number_of_checks_is_the_one_stated)
{
    gof_expect_checks(CHECKS_STATED);
}
