/* The laws of room random: goodness of fit of every distribution, with fixed seeds.
 * False alarms: each check rejects at GOF_ALPHA = 1e-6, and there are 81 of them (main counts and
 * prints them), so that a correct library would fail under about 1 choice of seeds in 12 000.
 * Chi-square and Kolmogorov-Smirnov p-values are limits; with at least 10 expected per cell they
 * are close enough for this purpose. The last group shows that the checks are able to fail. Passing
 * is not a proof. */
#include <math.h>
#include "../support/testing.h"
#include "../support/gof.h"
#include "tacit/random.h"

#define CHECKS_STATED 81
#define SEED UINT64_C(20260117)
#define DRAWS 400000u
#define CELLS_MAX 4096u

/* Chi-square p-value for "all cells are equally likely". */
static double equal_cells_p(const uint64_t *observed, size_t cells)
{
    static double expected[CELLS_MAX];
    double total = 0.0;
    assert_true(cells <= CELLS_MAX);
    for (size_t i = 0; i < cells; i++)
        total += (double)observed[i];
    for (size_t i = 0; i < cells; i++)
        expected[i] = total / (double)cells;
    return gof_chi_square_p(observed, expected, cells);
}

/* Every check has its own stream. */
static struct tacit_rng stream(uint32_t run)
{
    return tacit_rng_stream(SEED, run, 0, TACIT_PURPOSE_REWARD);
}

/* ---- Words and uniforms ---------------------------------------------------------------------- */

TEST(next_sets_every_bit_half_of_the_time)
{
    struct tacit_rng rng = stream(1);
    uint64_t ones[64] = {0};
    for (uint32_t i = 0; i < DRAWS; i++) {
        uint64_t const word = tacit_rng_next(&rng);
        for (uint32_t bit = 0; bit < 64; bit++)
            ones[bit] += (word >> bit) & 1u;
    }
    double statistic = 0.0;
    for (uint32_t bit = 0; bit < 64; bit++) {
        double const gap = (double)ones[bit] - DRAWS / 2.0;
        statistic += gap * gap / (DRAWS / 4.0);
    }
    gof_expect_fit("bits of a word", gof_chi_square_tail(statistic, 64.0));
}

TEST(first_words_of_neighbouring_streams_are_independent)
{
    static uint64_t agents[256];
    static uint64_t runs[256];
    static uint64_t seeds[256];
    for (uint32_t i = 0; i < 100000; i++) {
        struct tacit_rng here = tacit_rng_stream(SEED, 2, i, TACIT_PURPOSE_NOISE);
        struct tacit_rng next_agent = tacit_rng_stream(SEED, 2, i + 1, TACIT_PURPOSE_NOISE);
        struct tacit_rng next_run = tacit_rng_stream(SEED, 3, i, TACIT_PURPOSE_NOISE);
        struct tacit_rng next_seed = tacit_rng_stream(SEED + 1, 2, i, TACIT_PURPOSE_NOISE);
        uint64_t const word = tacit_rng_next(&here);
        agents[(word ^ tacit_rng_next(&next_agent)) >> 56]++;
        runs[(word ^ tacit_rng_next(&next_run)) >> 56]++;
        seeds[(word ^ tacit_rng_next(&next_seed)) >> 56]++;
    }
    gof_expect_fit("neighbouring agents", equal_cells_p(agents, 256));
    gof_expect_fit("neighbouring runs", equal_cells_p(runs, 256));
    gof_expect_fit("neighbouring seeds", equal_cells_p(seeds, 256));
}

TEST(uniform_fills_equal_cells_equally)
{
    static uint64_t single[1000];
    static uint64_t pairs[64 * 64];
    struct tacit_rng rng = stream(4);
    for (uint32_t i = 0; i < DRAWS; i++) {
        double const first = tacit_rng_uniform(&rng);
        double const second = tacit_rng_uniform(&rng);
        single[(size_t)(first * 1000.0)]++;
        pairs[(size_t)(first * 64.0) * 64 + (size_t)(second * 64.0)]++;
    }
    gof_expect_fit("uniform", equal_cells_p(single, 1000));
    gof_expect_fit("successive uniforms", equal_cells_p(pairs, sizeof pairs / sizeof pairs[0]));
}

TEST(uniform_from_stream_and_entropy_have_the_uniform_cdf)
{
    struct tacit_rng rng = stream(5);
    struct tacit_entropy const entropy = tacit_rng_entropy(&rng);
    double *const sample = testing_calloc(DRAWS, sizeof sample[0]);
    for (uint32_t i = 0; i < DRAWS; i++)
        sample[i] = tacit_rng_uniform(&rng);
    gof_expect_fit("uniform, KS", gof_ks_p(sample, DRAWS));
    for (uint32_t i = 0; i < DRAWS; i++)
        assert_int_equal(tacit_entropy_uniform(&entropy, &sample[i]), TACIT_OK);
    gof_expect_fit("uniform from entropy, KS", gof_ks_p(sample, DRAWS));
    testing_free(sample);
}

TEST(bernoulli_succeeds_with_probability_p)
{
    double const ps[] = {1e-4, 0.1, 1.0 / 3.0, 0.5, 0.75, 0.9999};
    for (uint32_t i = 0; i < 6; i++) {
        struct tacit_rng rng = stream(30 + i);
        uint64_t successes = 0;
        for (uint32_t draw = 0; draw < 2 * DRAWS; draw++)
            successes += tacit_rng_bernoulli(&rng, ps[i]) ? 1u : 0u;
        gof_expect_fit("bernoulli", gof_proportion_p(successes, 2 * DRAWS, ps[i]));
    }
}

/* ---- Continuous laws ------------------------------------------------------------------------- */

static double exponential_cdf(double x)
{
    return -expm1(-x);
}

static double laplace_cdf(double x)
{
    return x < 0.0 ? 0.5 * exp(x) : 1.0 - 0.5 * exp(-x);
}

static double normal_cdf(double x)
{
    return 0.5 * erfc(-x * sqrt(0.5));
}

static double draw_laplace(struct tacit_rng *rng)
{
    return tacit_rng_laplace(rng, 2.5);
}

/* KS p-value for "draw / scale has this cdf". */
static double continuous_p(uint32_t run, double (*draw)(struct tacit_rng *), double scale,
                           double (*cdf)(double))
{
    struct tacit_rng rng = stream(run);
    double *const sample = testing_calloc(DRAWS, sizeof sample[0]);
    for (uint32_t i = 0; i < DRAWS; i++)
        sample[i] = cdf(draw(&rng) / scale);
    double const p_value = gof_ks_p(sample, DRAWS);
    testing_free(sample);
    return p_value;
}

TEST(exponential_laplace_and_normal_have_their_cdf)
{
    gof_expect_fit("exponential", continuous_p(40, tacit_rng_exponential, 1.0, exponential_cdf));
    gof_expect_fit("laplace", continuous_p(41, draw_laplace, 2.5, laplace_cdf));
    gof_expect_fit("normal", continuous_p(42, tacit_rng_normal, 1.0, normal_cdf));
}

/* Sees what KS does not: the tails, and whether the sign goes with the magnitude. */
TEST(normal_and_laplace_have_their_tails_on_both_sides)
{
    uint32_t const draws = 4000000;
    uint64_t normal_tail[2] = {0, 0};
    uint64_t laplace_tail[2] = {0, 0};
    struct tacit_rng rng = stream(43);
    for (uint32_t i = 0; i < draws; i++) {
        double const z = tacit_rng_normal(&rng);
        double const x = tacit_rng_laplace(&rng, 1.0);
        normal_tail[0] += z < -3.75 ? 1u : 0u;
        normal_tail[1] += z > 3.75 ? 1u : 0u;
        laplace_tail[0] += x < -9.0 ? 1u : 0u;
        laplace_tail[1] += x > 9.0 ? 1u : 0u;
    }
    for (int side = 0; side < 2; side++) {
        double const normal_p = gof_normal_tail(3.75) / 2.0;
        gof_expect_fit("tail of normal", gof_proportion_p(normal_tail[side], draws, normal_p));
        gof_expect_fit("tail of laplace",
                       gof_proportion_p(laplace_tail[side], draws, exp(-9.0) / 2.0));
    }
}

TEST(normal_fills_cells_of_equal_probability_equally)
{
    static uint64_t normal[1000];
    static uint64_t laplace[1000];
    struct tacit_rng rng = stream(44);
    for (uint32_t i = 0; i < 2 * DRAWS; i++) {
        normal[(size_t)(normal_cdf(tacit_rng_normal(&rng)) * 999.999999)]++;
        laplace[(size_t)(laplace_cdf(tacit_rng_laplace(&rng, 1.0)) * 999.999999)]++;
    }
    gof_expect_fit("normal, cells", equal_cells_p(normal, 1000));
    gof_expect_fit("laplace, cells", equal_cells_p(laplace, 1000));
}

/* ---- Binomial -------------------------------------------------------------------------------- */

/* The masses of a window around the mean that holds all but 1e-20 or so; the rest joins its ends.
 */
struct window {
    uint64_t n;
    double p; /* at most 1/2 */
    uint64_t lowest;
    size_t cells;
    double *mass;
};

static void fill_masses(struct window *window)
{
    double const n = (double)window->n;
    double const odds = window->p / (1.0 - window->p);
    size_t const mode = (size_t)((uint64_t)(n * window->p) - window->lowest);
    double total = 1.0;
    window->mass[mode] = 1.0;
    for (size_t i = mode; i + 1 < window->cells; i++) {
        double const k = (double)(window->lowest + i);
        window->mass[i + 1] = window->mass[i] * ((n - k) / (k + 1.0) * odds);
        total += window->mass[i + 1];
    }
    for (size_t i = mode; i > 0; i--) {
        double const k = (double)(window->lowest + i);
        window->mass[i - 1] = window->mass[i] * (k / ((n - k + 1.0) * odds));
        total += window->mass[i - 1];
    }
    for (size_t i = 0; i < window->cells; i++)
        window->mass[i] /= total;
}

/* Masses come from ratios of neighbours, which needs neither logarithms nor Stirling's formula. */
static struct window window_open(uint64_t n, double p)
{
    double const mean = (double)n * p;
    double const reach = 10.0 * sqrt(mean * (1.0 - p)) + 30.0;
    uint64_t const lowest = mean > reach ? (uint64_t)(mean - reach) : 0;
    uint64_t const highest = mean + reach < (double)n ? (uint64_t)(mean + reach) : n;
    struct window window = {.n = n, .p = p, .lowest = lowest};
    window.cells = (size_t)(highest - lowest + 1);
    window.mass = testing_calloc(window.cells, sizeof window.mass[0]);
    fill_masses(&window);
    return window;
}

static size_t window_cell(const struct window *window, uint64_t k)
{
    if (k < window->lowest)
        return 0;
    uint64_t const cell = k - window->lowest;
    return cell < window->cells ? (size_t)cell : window->cells - 1;
}

/* p-value for "draws at p_drawn have the law of p_stated"; works on failures where p is above 1/2.
 */
static double binomial_p(uint32_t run, uint64_t n, double p_drawn, double p_stated)
{
    struct tacit_rng rng = stream(run);
    bool const mirrored = p_stated > 0.5;
    struct window window = window_open(n, mirrored ? 1.0 - p_stated : p_stated);
    uint64_t *const counts = testing_calloc(window.cells, sizeof counts[0]);
    for (uint32_t i = 0; i < DRAWS; i++) {
        uint64_t const k = tacit_rng_binomial(&rng, n, p_drawn);
        counts[window_cell(&window, mirrored ? n - k : k)]++;
    }
    for (size_t i = 0; i < window.cells; i++)
        window.mass[i] *= DRAWS;
    double const p_value = gof_chi_square_p(counts, window.mass, window.cells);
    return p_value;
}

static const struct {
    uint64_t n;
    double p;
} exact_grid[] = {
    /* inversion */
    {1, 0.3},
    {1, 0.999},
    {2, 0.5},
    {7, 0.04},
    {10, 0.5},
    {19, 0.5},
    {19, 0.51},
    {100, 0.01},
    {100, 0.9},
    {1000, 0.002},
    {1000000, 1e-6},
    {TACIT_HORIZON_MAX, 3e-12},
    /* n min(p, 1-p) just under 10, at 10, just above */
    {100, 0.0999},
    {100, 0.1},
    {100, 0.1001},
    {100, 0.9001},
    {100, 0.8999},
    {20, 0.4999},
    {20, 0.5},
    {20, 0.5001},
    {21, 0.5},
    {1000000, 0.99e-5},
    {1000000, 1.01e-5},
    {TACIT_HORIZON_MAX, 9.09e-12},
    {TACIT_HORIZON_MAX, 9.1e-12},
    /* transformed rejection */
    {24, 0.45},
    {40, 0.3},
    {50, 0.7},
    {100, 0.25},
    {150, 0.85},
    {400, 0.05},
    {1000, 0.5},
    {1000, 0.98},
    {10000, 0.03},
    {100000, 0.4},
    {1000000, 0.3},
    {1000000, 0.9995},
    {UINT64_C(1) << 32, 1e-6},
    {TACIT_HORIZON_MAX, 2e-11},
    {TACIT_HORIZON_MAX, 1e-9},
    {TACIT_HORIZON_MAX, 1.0 - 1e-7},
};

TEST(binomial_has_the_exact_masses)
{
    for (uint32_t i = 0; i < sizeof exact_grid / sizeof exact_grid[0]; i++) {
        uint64_t const n = exact_grid[i].n;
        double const p = exact_grid[i].p;
        double const p_value = binomial_p(100 + i, n, p, p);
        if (!(p_value >= GOF_ALPHA))
            print_error("n = %llu, p = %g\n", (unsigned long long)n, p);
        gof_expect_fit("binomial", p_value);
    }
}

/* p-values of the mean, the variance and the whole law after standardising; the law is so close to
 * normal here (skewness < 0.002) that the difference is far below what DRAWS draws can show. */
struct large_fit {
    double mean_p;
    double variance_p;
    double law_p;
};

static struct large_fit fit_large(uint32_t run, uint64_t n, double p_drawn, double p_stated)
{
    struct tacit_rng rng = stream(run);
    struct tacit_rng jitter = stream(run + 100000);
    double *const sample = testing_calloc(DRAWS, sizeof sample[0]);
    double const mean = (double)n * p_stated;
    double const deviation = sqrt(mean * (1.0 - p_stated));
    double sum = 0.0;
    double squares = 0.0;
    for (uint32_t i = 0; i < DRAWS; i++) {
        double const gap = (double)tacit_rng_binomial(&rng, n, p_drawn) - mean;
        sum += gap / deviation;
        squares += gap / deviation * (gap / deviation);
        sample[i] = normal_cdf((gap + tacit_rng_uniform(&jitter) - 0.5) / deviation);
    }
    struct large_fit const fit = {
        .mean_p = gof_normal_tail(sum / sqrt(DRAWS)),
        .variance_p = gof_normal_tail((squares - DRAWS) / sqrt(2.0 * DRAWS)),
        .law_p = gof_ks_p(sample, DRAWS),
    };
    testing_free(sample);
    return fit;
}

TEST(binomial_of_huge_n_has_its_mean_variance_and_shape)
{
    double const ps[] = {0.5, 0.3, 0.999, 1e-3, 2.5e-6};
    for (uint32_t i = 0; i < 5; i++) {
        struct large_fit const fit = fit_large(200 + i, TACIT_HORIZON_MAX, ps[i], ps[i]);
        gof_expect_fit("huge binomial, mean", fit.mean_p);
        gof_expect_fit("huge binomial, variance", fit.variance_p);
        gof_expect_fit("huge binomial, shape", fit.law_p);
    }
}

/* ---- Subsets --------------------------------------------------------------------------------- */

static uint64_t draw_small_subset(const struct tacit_entropy *entropy)
{
    uint64_t bits[1];
    assert_int_equal(tacit_entropy_subset(entropy, 3, 6, bits), TACIT_OK);
    return bits[0];
}

/* The usual mistake: three separate draws, a repetition moved to the next free place. */
static uint64_t draw_biased_subset(const struct tacit_entropy *entropy)
{
    uint64_t bits[1] = {0};
    for (int i = 0; i < 3; i++) {
        uint64_t candidate;
        assert_int_equal(tacit_entropy_below(entropy, 6, &candidate), TACIT_OK);
        while (tacit_bits_has(bits, (uint32_t)candidate))
            candidate = (candidate + 1) % 6;
        tacit_bits_add(bits, (uint32_t)candidate);
    }
    return bits[0];
}

/* p-value for "all 20 subsets of 3 out of 6 are equally likely". */
static double small_subsets_p(uint32_t run, uint64_t (*draw)(const struct tacit_entropy *))
{
    uint64_t counts[64] = {0};
    uint64_t kept[20];
    size_t kept_count = 0;
    struct tacit_rng rng = stream(run);
    struct tacit_entropy const entropy = tacit_rng_entropy(&rng);
    for (uint32_t i = 0; i < DRAWS; i++)
        counts[draw(&entropy)]++;
    for (uint64_t bits = 0; bits < 64; bits++)
        if (tacit_bits_count(&bits, 6) == 3)
            kept[kept_count++] = counts[bits];
        else
            assert_int_equal(counts[bits], 0);
    assert_int_equal(kept_count, 20);
    return equal_cells_p(kept, kept_count);
}

TEST(subset_of_3_out_of_6_is_any_of_20_equally_often)
{
    gof_expect_fit("subset of 3 out of 6", small_subsets_p(300, draw_small_subset));
}

/* Counts of members of a fixed-size subset are negatively correlated, which makes the usual
 * statistic smaller by 1 - count/population times population/(population - 1); divided by that, it
 * is again chi-square with population - 1 degrees of freedom. */
TEST(subset_includes_every_member_equally_often)
{
    enum { POPULATION = 200, COUNT = 60, SUBSETS = 20000 };
    uint64_t included[POPULATION] = {0};
    struct tacit_rng rng = stream(301);
    struct tacit_entropy const entropy = tacit_rng_entropy(&rng);
    for (uint32_t i = 0; i < SUBSETS; i++) {
        uint64_t bits[TACIT_BITS_WORDS(POPULATION)];
        assert_int_equal(tacit_entropy_subset(&entropy, COUNT, POPULATION, bits), TACIT_OK);
        for (uint32_t member = 0; member < POPULATION; member++)
            included[member] += tacit_bits_has(bits, member) ? 1u : 0u;
    }
    double const share = (double)COUNT / POPULATION;
    double statistic = 0.0;
    for (uint32_t member = 0; member < POPULATION; member++) {
        double const gap = (double)included[member] - SUBSETS * share;
        statistic += gap * gap / (SUBSETS * share);
    }
    statistic *= (POPULATION - 1.0) / (POPULATION * (1.0 - share));
    gof_expect_fit("inclusion in a subset", gof_chi_square_tail(statistic, POPULATION - 1.0));
}

/* ---- The checks can fail --------------------------------------------------------------------- */

TEST(checks_notice_a_binomial_p_off_by_1_percent)
{
    gof_expect_misfit("n = 200", binomial_p(400, 200, 0.303, 0.3));
    gof_expect_misfit("n = 1e6", binomial_p(401, 1000000, 0.303, 0.3));
    gof_expect_misfit("n = 1e6, p > 1/2", binomial_p(402, 1000000, 0.99 * 0.9, 0.9));
    gof_expect_misfit("np = 9", binomial_p(403, 100, 0.0909, 0.09));
}

/* At n = 2^40 one part in a million is seven tenths of the standard deviation of a single draw. */
TEST(checks_notice_a_huge_binomial_p_off_by_1_millionth)
{
    struct large_fit const fit = fit_large(404, TACIT_HORIZON_MAX, 0.3 * (1.0 + 1e-6), 0.3);
    gof_expect_misfit("mean", fit.mean_p);
    gof_expect_misfit("shape", fit.law_p);
}

static double draw_wide_normal(struct tacit_rng *rng)
{
    return 1.03 * tacit_rng_normal(rng);
}

static double draw_lopsided_laplace(struct tacit_rng *rng)
{
    double const x = tacit_rng_laplace(rng, 1.0);
    return x < 0.0 && tacit_rng_bernoulli(rng, 0.03) ? -x : x;
}

/* The sum of three uniforms, standardised: the right mean and variance, the wrong shape. */
static double draw_false_normal(struct tacit_rng *rng)
{
    double sum = -1.5;
    for (int i = 0; i < 3; i++)
        sum += tacit_rng_uniform(rng);
    return 2.0 * sum;
}

TEST(checks_notice_continuous_laws_off_by_3_percent)
{
    gof_expect_misfit("exponential, mean",
                      continuous_p(410, tacit_rng_exponential, 1.03, exponential_cdf));
    gof_expect_misfit("laplace, scale", continuous_p(411, draw_laplace, 2.5 * 1.03, laplace_cdf));
    gof_expect_misfit("laplace, sign", continuous_p(412, draw_lopsided_laplace, 1.0, laplace_cdf));
    gof_expect_misfit("normal, deviation", continuous_p(413, draw_wide_normal, 1.0, normal_cdf));
    gof_expect_misfit("normal, shape", continuous_p(414, draw_false_normal, 1.0, normal_cdf));
}

TEST(checks_notice_biased_subsets_and_proportions)
{
    gof_expect_misfit("subsets", small_subsets_p(430, draw_biased_subset));
    gof_expect_misfit("proportion", gof_proportion_p(101000, 200000, 0.5 - 0.005));
}

/* Values from tables and closed forms. */
TEST(gof_helpers_agree_with_known_values)
{
    assert_true(fabs(gof_chi_square_tail(3.841458820694124, 1) - 0.05) < 1e-12);
    assert_true(fabs(gof_chi_square_tail(200, 100) / 1.178450072009794e-8 - 1) < 1e-9);
    assert_true(fabs(gof_chi_square_tail(7.0, 2) - exp(-3.5)) < 1e-14);
    assert_true(fabs(gof_normal_tail(1.959963984540054) - 0.05) < 1e-12);
    assert_true(fabs(gof_kolmogorov_tail(1.3580986393) - 0.05) < 1e-9);
    assert_true(fabs(gof_kolmogorov_tail(1.0 - 1e-9) - gof_kolmogorov_tail(1.0)) < 1e-8);
    assert_true(fabs(gof_binomial_upper(0, 200000, 0.95) + expm1(log(0.05) / 200000)) < 1e-14);
    assert_true(fabs(gof_binomial_lower(10, 10, 0.95) - pow(0.05, 0.1)) < 1e-12);
    assert_true(fabs(gof_binomial_lower(5, 10, 0.95) - 0.222441101008) < 1e-11);
    assert_true(fabs(gof_binomial_upper(5, 10, 0.95) - 0.777558898992) < 1e-11);
    assert_true(gof_binomial_lower(0, 7, 0.99) == 0.0);
    assert_true(gof_binomial_upper(7, 7, 0.99) == 1.0);
}

TEST(number_of_checks_is_the_one_stated)
{
    gof_expect_checks(CHECKS_STATED);
}
