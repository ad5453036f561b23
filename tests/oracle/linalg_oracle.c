/* The kernels of linalg against plain loops, against LAPACK, and path against path bit by bit. */
#include <lapacke.h>
#include <math.h>
#include "../support/testing.h"
#include "../support/skip.h"
#include "tacit/linalg.h"
#include "tacit/random.h"

#define SEED 20260101
#define D_MAX TACIT_LINALG_DIMENSION_MAX
#define ARMS_MAX 70u
#define SAMPLES_MAX 200u
#define RESULTS_MAX 40000u

static double frand(struct tacit_rng *rng)
{
    return 2 * tacit_rng_uniform(rng) - 1;
}

static void draw(struct tacit_rng *rng, uint32_t d, double *x)
{
    memset(x, 0, TACIT_LINALG_STRIDE(d) * sizeof x[0]);
    for (uint32_t i = 0; i < d; i++)
        x[i] = frand(rng) / sqrt(d);
}

/* lambda I + sum of xx', by plain loops. */
static void draw_matrix(struct tacit_rng *rng, uint32_t d, double lambda, uint32_t count, double *m)
{
    size_t const stride = TACIT_LINALG_STRIDE(d);
    double x[D_MAX];
    memset(m, 0, TACIT_LINALG_MATRIX(d) * sizeof m[0]);
    for (uint32_t i = 0; i < d; i++)
        m[i * stride + i] = lambda;
    for (uint32_t s = 0; s < count; s++) {
        draw(rng, d, x);
        for (uint32_t i = 0; i < d; i++)
            for (uint32_t j = 0; j < d; j++)
                m[i * stride + j] += x[i] * x[j];
    }
}

static void assert_near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance * (1 + fabs(b))))
        fail_msg("%.17g is not %.17g", a, b);
}

TEST(elementary_functions_are_within_two_units_of_libm)
{
    struct tacit_rng rng = tacit_rng_stream(SEED, 0, 0, 1);
    for (uint32_t i = 0; i < 200000; i++) {
        double const x = 30 * frand(&rng);
        double const e = exp(x);
        assert_true(fabs(tacit_linalg_exp(x) - e) <= 2.5 * 0x1p-53 * 2 * e);
        double const y = exp(20 * frand(&rng));
        double const l = log(y);
        assert_true(fabs(tacit_linalg_log(y) - l) <= 4 * 0x1p-53 * fabs(l) + 1e-300);
        double const small = y * 1e-3;
        double const l1 = log1p(small);
        assert_true(fabs(tacit_linalg_log1p(small) - l1) <= 6 * 0x1p-53 * l1);
        double const z = 9 * frand(&rng);
        assert_true(fabs(tacit_linalg_normal_cdf(z) - 0.5 * erfc(-z / sqrt(2))) < 2e-15);
    }
    assert_true(tacit_linalg_exp(0) == 1);
    assert_true(tacit_linalg_log(1) == 0);
    assert_true(tacit_linalg_log1p(0) == 0);
    assert_true(tacit_linalg_exp(1e9) == tacit_linalg_exp(708));
}

TEST(normals_are_box_and_muller_s)
{
    struct tacit_rng rng = tacit_rng_stream(SEED, 0, 0, 2);
    for (size_t count = 1; count < 700; count += count < 40 ? 1 : 97) {
        uint64_t words[350];
        double normals[700];
        for (uint32_t i = 0; i < 350; i++)
            words[i] = tacit_rng_next(&rng);
        normals[count] = 7;
        tacit_linalg_normals(tacit_linalg_fastest(), words, count, normals);
        assert_true(normals[count] == 7);
        /* A word a pair: its upper half gives the radius, the lower one the angle. Groups of eight
         * have their cosines first. */
        for (size_t at = 0; at + 8 <= count; at += 8)
            for (size_t lane = 0; lane < 4; lane++) {
                uint64_t const word = words[at / 2 + lane];
                double const u = ((double)(word >> 32) + 0.5) * 0x1p-32;
                double const v = ((double)(word & UINT32_MAX) + 0.5) * 0x1p-32;
                double const r = sqrt(-2 * log(u));
                assert_near(normals[at + lane], r * cos(2 * M_PI * v), 1e-14);
                assert_near(normals[at + 4 + lane], r * sin(2 * M_PI * v), 1e-14);
            }
    }
}

/* The mean of 2^16 squares has standard deviation sqrt(2)/256: beyond 5 of them is one in 1.7e6. */
TEST(normals_have_unit_variance)
{
    struct tacit_rng rng = tacit_rng_stream(SEED, 0, 0, 3);
    double sum = 0;
    double squares = 0;
    for (uint32_t round = 0; round < 6554; round++) {
        uint64_t words[10];
        double normals[10];
        for (uint32_t i = 0; i < 10; i++)
            words[i] = tacit_rng_next(&rng);
        tacit_linalg_normals(TACIT_LINALG_PORTABLE, words, 10, normals);
        for (uint32_t i = 0; i < 10; i++) {
            sum += normals[i];
            squares += normals[i] * normals[i];
        }
    }
    assert_true(fabs(sum / 65540) < 5.0 / 256);
    assert_true(fabs(squares / 65540 - 1) < 5 * sqrt(2) / 256);
}

TEST(vectors_and_matrices_are_those_of_plain_loops)
{
    struct tacit_rng rng = tacit_rng_stream(SEED, 0, 0, 4);
    enum tacit_linalg_path const path = tacit_linalg_fastest();
    for (uint32_t d = 1; d <= D_MAX; d++) {
        size_t const stride = TACIT_LINALG_STRIDE(d);
        static double m[TACIT_LINALG_MATRIX_MAX];
        static double copy[TACIT_LINALG_MATRIX_MAX];
        double x[D_MAX];
        double y[D_MAX];
        draw_matrix(&rng, d, 2, 2 * d, m);
        memcpy(copy, m, sizeof copy);
        draw(&rng, d, x);
        tacit_linalg_rank_one(path, d, 0.7, x, m);
        double dot = 0;
        for (uint32_t i = 0; i < d; i++) {
            dot += x[i] * x[i];
            for (uint32_t j = 0; j < d; j++)
                assert_near(m[i * stride + j], copy[i * stride + j] + 0.7 * x[i] * x[j], 1e-14);
            for (size_t j = d; j < stride; j++)
                assert_true(m[i * stride + j] == 0);
        }
        assert_near(tacit_linalg_dot(path, d, x, x), dot, 1e-14);
        tacit_linalg_multiply(path, d, m, x, y);
        for (uint32_t i = 0; i < d; i++) {
            double sum = 0;
            for (uint32_t j = 0; j < d; j++)
                sum += m[i * stride + j] * x[j];
            assert_near(y[i], sum, 1e-13);
        }
        static double packed[TACIT_LINALG_MATRIX_MAX];
        tacit_linalg_pack(d, m, packed);
        tacit_linalg_unpack(d, packed, copy);
        assert_memory_equal(m, copy, TACIT_LINALG_MATRIX(d) * sizeof m[0]);
    }
}

TEST(arms_are_scored_as_plain_loops_score_them)
{
    struct tacit_rng rng = tacit_rng_stream(SEED, 0, 0, 5);
    for (uint32_t d = 1; d <= D_MAX; d += 3) {
        size_t const stride = TACIT_LINALG_STRIDE(d);
        static double m[TACIT_LINALG_MATRIX_MAX];
        static double rows[ARMS_MAX * D_MAX];
        double theta[D_MAX];
        double z[ARMS_MAX];
        double q[ARMS_MAX];
        double n[ARMS_MAX];
        draw_matrix(&rng, d, 0.1, d, m);
        draw(&rng, d, theta);
        uint32_t const arms = 1 + (uint32_t)tacit_rng_below(&rng, ARMS_MAX);
        for (uint32_t i = 0; i < arms * d; i++)
            rows[i] = frand(&rng);
        tacit_linalg_arms(tacit_linalg_fastest(), d, m, theta, arms, rows, z, q, n);
        for (uint32_t k = 0; k < arms; k++) {
            const double *const x = rows + k * d;
            double linear = 0;
            double form = 0;
            double square = 0;
            for (uint32_t i = 0; i < d; i++) {
                linear += x[i] * theta[i];
                square += x[i] * x[i];
                for (uint32_t j = 0; j < d; j++)
                    form += x[i] * m[i * stride + j] * x[j];
            }
            assert_near(z[k], linear, 1e-13);
            assert_near(q[k], form, 1e-12);
            assert_near(n[k], square, 1e-13);
        }
    }
}

TEST(factors_solutions_and_determinants_are_lapack_s)
{
    struct tacit_rng rng = tacit_rng_stream(SEED, 0, 0, 6);
    enum tacit_linalg_path const path = tacit_linalg_fastest();
    for (uint32_t d = 1; d <= D_MAX; d++) {
        int const n = (int)d;
        int const stride = (int)TACIT_LINALG_STRIDE(d);
        static double m[TACIT_LINALG_MATRIX_MAX];
        static double lapack[TACIT_LINALG_MATRIX_MAX];
        static double factor[TACIT_LINALG_MATRIX_MAX];
        static double inverse[TACIT_LINALG_MATRIX_MAX];
        double reciprocal[D_MAX];
        double x[D_MAX];
        double b[D_MAX];
        draw_matrix(&rng, d, 0.5, 3 * d, m);
        memcpy(lapack, m, sizeof lapack);
        assert_int_equal(LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'U', n, lapack, stride), 0);
        assert_true(tacit_linalg_cholesky(path, d, m, 0, factor, reciprocal));
        double log_det = 0;
        for (int i = 0; i < n; i++) {
            log_det += 2 * log(lapack[i * stride + i]);
            for (int j = i; j < n; j++)
                assert_near(factor[i * stride + j], lapack[i * stride + j], 1e-12);
        }
        assert_near(tacit_linalg_log_det(d, factor), log_det, 1e-12);
        draw(&rng, d, x);
        memcpy(b, x, sizeof b);
        tacit_linalg_solve(d, factor, reciprocal, x);
        assert_int_equal(LAPACKE_dpotrs(LAPACK_ROW_MAJOR, 'U', n, 1, lapack, stride, b, 1), 0);
        for (uint32_t i = 0; i < d; i++)
            assert_near(x[i], b[i], 1e-11);
        tacit_linalg_invert(d, factor, reciprocal, inverse);
        assert_int_equal(LAPACKE_dpotri(LAPACK_ROW_MAJOR, 'U', n, lapack, stride), 0);
        for (int i = 0; i < n; i++)
            for (int j = i; j < n; j++)
                assert_near(inverse[i * stride + j], lapack[i * stride + j], 1e-10);
        m[0] = -1;
        assert_false(tacit_linalg_cholesky(path, d, m, 0, factor, reciprocal));
        m[0] = NAN;
        assert_false(tacit_linalg_cholesky(path, d, m, 0, factor, reciprocal));
    }
}

/* 2,000 rank-one updates drift by less than 1e-11 from an inverse and a determinant made afresh. */
TEST(inverse_and_log_det_keep_up_with_two_thousand_updates)
{
    struct tacit_rng rng = tacit_rng_stream(SEED, 0, 0, 7);
    enum tacit_linalg_path const path = tacit_linalg_fastest();
    uint32_t const dims[] = {1, 3, 10, 25, 64};
    for (uint32_t which = 0; which < 5; which++) {
        uint32_t const d = dims[which];
        static double m[TACIT_LINALG_MATRIX_MAX];
        static double inverse[TACIT_LINALG_MATRIX_MAX];
        static double fresh[TACIT_LINALG_MATRIX_MAX];
        static double factor[TACIT_LINALG_MATRIX_MAX];
        double reciprocal[D_MAX];
        double x[D_MAX];
        double direction[D_MAX];
        tacit_linalg_identity(d, 10, m);
        tacit_linalg_identity(d, 0.1, inverse);
        double log_det = 0;
        for (uint32_t s = 0; s < 2000; s++) {
            draw(&rng, d, x);
            tacit_linalg_rank_one(path, d, 1, x, m);
            log_det +=
                tacit_linalg_log1p(tacit_linalg_inverse_rank_one(path, d, x, inverse, direction));
        }
        assert_true(tacit_linalg_cholesky(path, d, m, 0, factor, reciprocal));
        tacit_linalg_invert(d, factor, reciprocal, fresh);
        assert_near(log_det, tacit_linalg_log_det(d, factor) - d * log(10), 1e-11);
        for (size_t i = 0; i < TACIT_LINALG_MATRIX(d); i++)
            assert_near(inverse[i], fresh[i], 1e-13);
    }
}

TEST(projection_satisfies_kkt_to_1e_8)
{
    struct tacit_rng rng = tacit_rng_stream(SEED, 0, 0, 8);
    enum tacit_linalg_path const path = tacit_linalg_fastest();
    for (uint32_t trial = 0; trial < 3000; trial++) {
        uint32_t const d = 1 + (uint32_t)tacit_rng_below(&rng, trial % 10 == 0 ? D_MAX : 12);
        static double m[TACIT_LINALG_MATRIX_MAX];
        static double factor[TACIT_LINALG_MATRIX_MAX];
        static double inverse[TACIT_LINALG_MATRIX_MAX];
        double reciprocal[D_MAX];
        double start[D_MAX];
        double x[D_MAX];
        double residual[D_MAX];
        draw_matrix(&rng, d, exp(5 * frand(&rng)), (uint32_t)tacit_rng_below(&rng, 500), m);
        draw(&rng, d, start);
        double const radius = exp(2 * frand(&rng));
        double const size = exp(6 * frand(&rng)) * radius;
        for (uint32_t i = 0; i < d; i++)
            start[i] *= size;
        memcpy(x, start, sizeof x);
        assert_true(tacit_linalg_cholesky(path, d, m, 0, factor, reciprocal));
        tacit_linalg_invert(d, factor, reciprocal, inverse);
        double const nu =
            tacit_linalg_project_ball(path, d, m, trial % 2 == 0 ? inverse : NULL, radius, x);
        double const norm = sqrt(tacit_linalg_dot(path, d, x, x));
        if (nu == 0) {
            assert_memory_equal(x, start, d * sizeof x[0]);
            assert_true(norm <= radius);
            continue;
        }
        assert_true(nu > 0);
        assert_near(norm, radius, 1e-12);
        double gap[D_MAX] = {0};
        for (uint32_t i = 0; i < d; i++)
            gap[i] = x[i] - start[i];
        tacit_linalg_multiply(path, d, m, gap, residual);
        for (uint32_t i = 0; i < d; i++)
            assert_near((residual[i] + nu * x[i]) / (1 + nu), 0, 1e-8);
    }
}

static double single(double x)
{
    volatile float const narrow = (float)x;
    return (double)narrow;
}

static double sample_memory[TACIT_LINALG_SAMPLES(D_MAX, SAMPLES_MAX)];

/* The first `single_count` of them have single precision. */
static struct tacit_linalg_samples draw_samples(struct tacit_rng *rng, uint32_t d, uint32_t n,
                                                uint32_t single_count)
{
    double x[D_MAX];
    struct tacit_linalg_samples samples = {sample_memory, d, true};
    memset(sample_memory, 0, sizeof sample_memory);
    for (uint32_t s = 0; s < n; s++) {
        draw(rng, d, x);
        for (uint32_t c = 0; c < d && s < single_count; c++)
            x[c] = single(x[c]);
        tacit_linalg_sample_put(&samples, s, x, tacit_rng_bernoulli(rng, 0.6));
    }
    assert_true(samples.is_single == (n <= single_count));
    return samples;
}

/* Whatever the precision, and wherever the first number is that needs more of it. */
TEST(samples_are_read_as_they_were_put)
{
    for (uint32_t n = 0; n < 40; n++)
        for (uint32_t single_count = 0; single_count <= n; single_count++) {
            struct tacit_rng rng = tacit_rng_stream(SEED, 1, n, 9);
            struct tacit_rng again = rng;
            struct tacit_linalg_samples const samples = draw_samples(&rng, 3, n, single_count);
            for (uint32_t s = 0; s < n; s++) {
                double x[D_MAX];
                double read[D_MAX];
                draw(&again, 3, x);
                for (uint32_t c = 0; c < 3 && s < single_count; c++)
                    x[c] = single(x[c]);
                double const y = tacit_rng_bernoulli(&again, 0.6);
                assert_true(tacit_linalg_sample_get(&samples, s, read) == y);
                assert_memory_equal(x, read, 4 * sizeof x[0]);
            }
        }
}

TEST(gradients_of_any_range_are_those_of_plain_loops)
{
    struct tacit_rng rng = tacit_rng_stream(SEED, 0, 0, 9);
    for (uint32_t trial = 0; trial < 400; trial++) {
        uint32_t const d = 1 + (uint32_t)tacit_rng_below(&rng, D_MAX);
        struct tacit_linalg_mean const mean = {(enum tacit_linalg_link)(trial % 4), 0.01,
                                               (double)(trial % 3)};
        uint32_t const n = (uint32_t)tacit_rng_below(&rng, SAMPLES_MAX + 1);
        uint32_t const first = (uint32_t)tacit_rng_below(&rng, n + 1);
        double theta[D_MAX];
        double gradient[D_MAX];
        double plain[D_MAX] = {0};
        double x[D_MAX];
        struct tacit_linalg_samples const samples =
            draw_samples(&rng, d, n, trial % 2 == 0 ? SAMPLES_MAX : n / 2);
        draw(&rng, d, theta);
        tacit_linalg_gradient(tacit_linalg_fastest(), &mean, &samples, first, n, theta, gradient);
        for (uint32_t s = first; s < n; s++) {
            double const y = tacit_linalg_sample_get(&samples, s, x);
            double z = 0;
            for (uint32_t c = 0; c < d; c++)
                z += x[c] * theta[c];
            double const mu = mean.link == TACIT_LINALG_LOGISTIC  ? 1 / (1 + exp(-z))
                              : mean.link == TACIT_LINALG_PROBIT  ? 0.5 * erfc(-z / sqrt(2))
                              : mean.link == TACIT_LINALG_POISSON ? exp(fmin(z, 0.01))
                                                                  : z;
            for (uint32_t c = 0; c < d; c++)
                plain[c] += x[c] * (mu - y);
        }
        for (uint32_t c = 0; c < d; c++)
            assert_near(gradient[c], plain[c], 1e-12);
    }
}

TEST(slopes_are_difference_quotients_of_means)
{
    struct tacit_rng rng = tacit_rng_stream(SEED, 0, 0, 10);
    for (uint32_t trial = 0; trial < 400; trial++) {
        struct tacit_linalg_mean const mean = {(enum tacit_linalg_link)(trial % 4), 1.0, 0};
        double const z = 0.98 * frand(&rng);
        double const h = 1e-5;
        double const quotient =
            (tacit_linalg_mean(&mean, z + h) - tacit_linalg_mean(&mean, z - h)) / (2 * h);
        assert_near(tacit_linalg_slope(&mean, z), quotient, 1e-8);
    }
}

TEST(newton_ends_where_the_gradient_is_zero)
{
    struct tacit_rng rng = tacit_rng_stream(SEED, 0, 0, 11);
    enum tacit_linalg_path const path = tacit_linalg_fastest();
    for (uint32_t trial = 0; trial < 100; trial++) {
        uint32_t const d = 1 + (uint32_t)tacit_rng_below(&rng, 20);
        struct tacit_linalg_mean const mean = {(enum tacit_linalg_link)(trial % 4), 1.0, 0};
        uint32_t const n = (uint32_t)tacit_rng_below(&rng, SAMPLES_MAX + 1);
        double theta[D_MAX];
        double gradient[D_MAX];
        struct tacit_linalg_samples const samples = draw_samples(&rng, d, n, 0);
        draw(&rng, d, theta);
        for (uint32_t c = 0; c < d; c++)
            theta[c] *= 5;
        uint32_t const count = tacit_linalg_newton(path, &mean, &samples, n, 0.5, 1e-11, theta);
        assert_in_range(count, 1, 40);
        if (mean.link == TACIT_LINALG_IDENTITY)
            assert_in_range(count, 1, 3);
        tacit_linalg_gradient(path, &mean, &samples, 0, n, theta, gradient);
        for (uint32_t c = 0; c < d; c++)
            assert_near(gradient[c] + 0.5 * theta[c], 0, 1e-11);
    }
}

TEST(rows_are_scored_and_scaled_as_plain_loops_do_it)
{
    struct tacit_rng rng = tacit_rng_stream(SEED, 0, 0, 14);
    enum tacit_linalg_path const path = tacit_linalg_fastest();
    static double rows[ARMS_MAX * D_MAX];
    static double units[ARMS_MAX * D_MAX];
    for (uint32_t trial = 0; trial < 300; trial++) {
        uint32_t const d = 1 + trial % D_MAX;
        uint32_t const count = 1 + (uint32_t)tacit_rng_below(&rng, ARMS_MAX);
        double theta[D_MAX];
        double z[ARMS_MAX + 1];
        draw(&rng, d, theta);
        for (uint32_t i = 0; i < count * d; i++)
            rows[i] = frand(&rng);
        memcpy(units, rows, sizeof units);
        z[count] = 7;
        tacit_linalg_linear(path, d, theta, count, rows, z);
        tacit_linalg_unit_rows(path, d, 0.75, count, units);
        assert_true(z[count] == 7);
        for (uint32_t k = 0; k < count; k++) {
            double sum = 0;
            double square = 0;
            for (uint32_t c = 0; c < d; c++) {
                sum += theta[c] * rows[k * d + c];
                square += rows[k * d + c] * rows[k * d + c];
            }
            assert_true(z[k] == sum);
            double const scale = 0.75 / sqrt(square);
            for (uint32_t c = 0; c < d; c++) {
                volatile float const narrow = (float)(rows[k * d + c] * scale);
                assert_true(units[k * d + c] == (double)narrow);
            }
        }
        if (count < ARMS_MAX) /* what lies behind is not touched */
            assert_true(units[count * d] == rows[count * d]);
    }
}

static double plain_logistic(double z)
{
    return 1 / (1 + exp(-z));
}

/* Row (a, b) of the pairs, a <= b. */
static const double *pair_row(uint32_t d, const double *expansion, uint32_t a, uint32_t b)
{
    size_t const stride = TACIT_LINALG_STRIDE(d);
    size_t pair = 0;
    for (uint32_t row = 0; row < a; row++)
        pair += d - row;
    return expansion + (2 + d + pair + b - a) * stride;
}

static double expansion_memory[TACIT_LINALG_EXPANSION(TACIT_LINALG_EXPANSION_DIMENSION_MAX)];

/* Third derivatives are in single precision: 1e-6 of the sum of what is added, at most. */
TEST(expansions_are_the_sums_of_plain_loops)
{
    struct tacit_rng rng = tacit_rng_stream(SEED, 0, 0, 15);
    for (uint32_t trial = 0; trial < 60; trial++) {
        uint32_t const d = trial % 5 == 4 ? TACIT_LINALG_EXPANSION_DIMENSION_MAX - trial % 2
                                          : 1 + (uint32_t)tacit_rng_below(&rng, 12);
        size_t const stride = TACIT_LINALG_STRIDE(d);
        struct tacit_linalg_mean const mean = {TACIT_LINALG_LOGISTIC, 1.0, 1.0};
        uint32_t const n = trial == 0 ? 0 : (uint32_t)tacit_rng_below(&rng, SAMPLES_MAX + 1);
        struct tacit_linalg_samples const samples = draw_samples(&rng, d, n, trial % 3 ? n : n / 2);
        double theta[D_MAX] = {0};
        double gradient[D_MAX];
        draw(&rng, d, theta);
        for (uint32_t c = 0; c < d && trial % 2 == 1; c++)
            theta[c] *= 6;
        tacit_linalg_expand(tacit_linalg_fastest(), &mean, &samples, n, theta, expansion_memory);
        tacit_linalg_gradient(tacit_linalg_fastest(), &mean, &samples, 0, n, theta, gradient);
        assert_memory_equal(expansion_memory, theta, d * sizeof theta[0]);
        assert_memory_equal(expansion_memory + stride, gradient, stride * sizeof theta[0]);
        for (uint32_t a = 0; a < d; a++)
            for (uint32_t b = a; b < d; b++)
                for (uint32_t c = 0; c < d; c++) {
                    double hessian = 0;
                    double third = 0;
                    double sizes = 0;
                    for (uint32_t s = 0; s < n; s++) {
                        double x[D_MAX];
                        (void)tacit_linalg_sample_get(&samples, s, x);
                        double z = 0;
                        for (uint32_t i = 0; i < d; i++)
                            z += x[i] * theta[i];
                        double const mu = plain_logistic(z);
                        double const term = mu * (1 - mu) * (0.5 - mu) * x[a] * x[b] * x[c];
                        hessian += mu * (1 - mu) * x[a] * x[b];
                        third += term;
                        sizes += fabs(term);
                    }
                    if (c == b) {
                        assert_near(expansion_memory[(2 + a) * stride + b], hessian, 1e-12);
                        assert_near(expansion_memory[(2 + b) * stride + a], hessian, 1e-12);
                    }
                    double const kept = pair_row(d, expansion_memory, a, b)[c];
                    assert_true(fabs(kept - third) <= 1e-6 * sizes + 1e-15);
                }
    }
}

/* On both sides of the bound, which is worked out here anew; where it holds, the gradient is the
 * sum over the samples up to it. */
TEST(gradients_near_a_point_are_sums_up_to_the_bound)
{
    struct tacit_rng rng = tacit_rng_stream(SEED, 0, 0, 16);
    enum tacit_linalg_path const path = tacit_linalg_fastest();
    uint32_t near_count = 0;
    double closest = 0;
    for (uint32_t trial = 0; trial < 2000; trial++) {
        uint32_t const d = 1 + (uint32_t)tacit_rng_below(&rng, trial % 50 == 0 ? 32 : 10);
        uint32_t const n = 1 + (uint32_t)tacit_rng_below(&rng, SAMPLES_MAX);
        struct tacit_linalg_samples const samples = draw_samples(&rng, d, n, n);
        double const longest = 1.0; /* draw: no coordinate is above 1/sqrt(d) */
        struct tacit_linalg_mean const mean = {TACIT_LINALG_LOGISTIC, 1.0, longest};
        size_t const stride = TACIT_LINALG_STRIDE(d);
        double theta[D_MAX] = {0};
        double point[D_MAX] = {0};
        double gradient[D_MAX];
        double sum[D_MAX];
        draw(&rng, d, theta);
        for (uint32_t c = 0; c < d && trial % 3 == 0; c++)
            theta[c] *= 8;
        tacit_linalg_expand(path, &mean, &samples, n, theta, expansion_memory);
        double const size = pow(10, -6 * tacit_rng_uniform(&rng)) * 1.5;
        double norm = 0;
        double length = 0;
        double form = 0;
        double trace = 0;
        for (uint32_t c = 0; c < d; c++) {
            point[c] = theta[c] + size * frand(&rng) / sqrt(d);
            norm += theta[c] * theta[c];
            length += (point[c] - theta[c]) * (point[c] - theta[c]);
            trace += expansion_memory[(2 + c) * stride + c];
        }
        for (uint32_t a = 0; a < d; a++)
            for (uint32_t b = 0; b < d; b++)
                form += (point[a] - theta[a]) * expansion_memory[(2 + a) * stride + b] *
                        (point[b] - theta[b]);
        norm = sqrt(norm);
        length = sqrt(length);
        double const half = norm + length <= 2.29 ? 0.5 : 1;
        double const bound =
            length < 1 ? half * length / (6 * (1 - length)) * form + 5e-7 * length * length * trace
                       : INFINITY;
        double const below = bound < INFINITY ? bound * (1 - 1e-4) - 1e-300 : 1e300;
        gradient[0] = 77;
        assert_false(
            tacit_linalg_gradient_near(path, &mean, d, expansion_memory, point, below, gradient));
        assert_true(gradient[0] == 77);
        if (bound == INFINITY)
            continue;
        assert_true(tacit_linalg_gradient_near(path, &mean, d, expansion_memory, point,
                                               bound * (1 + 1e-4), gradient));
        tacit_linalg_gradient(path, &mean, &samples, 0, n, point, sum);
        double distance = 0;
        for (uint32_t c = 0; c < d; c++)
            distance += (gradient[c] - sum[c]) * (gradient[c] - sum[c]);
        distance = sqrt(distance);
        assert_true(distance <= bound + 1e-14 * n);
        closest = bound > 1e-9 && distance / bound > closest ? distance / bound : closest;
        near_count++;
        assert_true(tacit_linalg_gradient_near(path, &mean, d, expansion_memory, theta, 0, sum));
        assert_memory_equal(sum, expansion_memory + stride, d * sizeof sum[0]);
    }
    assert_true(near_count > 1000);
    assert_true(closest > 0.01); /* the bound is not void */
}

/* Everything that a path computes, one after the other, into one array. */
static size_t run_all(enum tacit_linalg_path path, uint32_t d, uint64_t seed, double *out)
{
    struct tacit_rng rng = tacit_rng_stream(seed, 0, d, 12);
    size_t const matrix = TACIT_LINALG_MATRIX(d);
    static double m[TACIT_LINALG_MATRIX_MAX];
    static double inverse[TACIT_LINALG_MATRIX_MAX];
    static double rows[ARMS_MAX * D_MAX];
    double x[D_MAX];
    double theta[D_MAX];
    uint64_t words[50];
    size_t at = 0;
    draw_matrix(&rng, d, 3, 40, m);
    tacit_linalg_identity(d, 0.3, inverse);
    draw(&rng, d, x);
    draw(&rng, d, theta);
    struct tacit_linalg_samples const samples =
        draw_samples(&rng, d, 101, seed % 2 == 0 ? 101 : 50);
    for (uint32_t i = 0; i < 50; i++)
        words[i] = tacit_rng_next(&rng);
    for (uint32_t i = 0; i < 37 * d; i++)
        rows[i] = frand(&rng);
    tacit_linalg_normals(path, words, 49, out + at);
    at += 49;
    out[at++] = tacit_linalg_dot(path, d, x, theta);
    tacit_linalg_rank_one(path, d, 0.9, x, m);
    out[at] = tacit_linalg_inverse_rank_one(path, d, x, inverse, out + at + 1);
    at += 1 + TACIT_LINALG_STRIDE(d);
    memcpy(out + at, inverse, matrix * sizeof out[0]);
    at += matrix;
    tacit_linalg_arms(path, d, m, theta, 37, rows, out + at, out + at + 37, out + at + 74);
    at += 111;
    assert_true(tacit_linalg_cholesky(path, d, m, 0.1, out + at, out + at + matrix));
    at += matrix + d;
    for (int link = 0; link < 4; link++) {
        struct tacit_linalg_mean const mean = {(enum tacit_linalg_link)link, 1.0,
                                               (double)(seed % 2)};
        tacit_linalg_gradient(path, &mean, &samples, 3, 101, theta, out + at);
        at += TACIT_LINALG_STRIDE(d);
    }
    if (d <= TACIT_LINALG_EXPANSION_DIMENSION_MAX) {
        struct tacit_linalg_mean const mean = {TACIT_LINALG_LOGISTIC, 1.0, 1.0};
        tacit_linalg_expand(path, &mean, &samples, 99, theta, out + at);
        assert_true(tacit_linalg_gradient_near(path, &mean, d, out + at, x, INFINITY,
                                               out + at + TACIT_LINALG_EXPANSION(d)));
        at += TACIT_LINALG_EXPANSION(d) + TACIT_LINALG_STRIDE(d);
    }
    tacit_linalg_linear(path, d, theta, 37, rows, out + at);
    at += 37;
    tacit_linalg_unit_rows(path, d, 0.9, 37, rows);
    memcpy(out + at, rows, 37 * d * sizeof out[0]);
    at += 37 * d;
    for (uint32_t i = 0; i < d; i++)
        theta[i] *= 20;
    out[at++] = tacit_linalg_project_ball(path, d, m, inverse, 0.5, theta);
    memcpy(out + at, theta, TACIT_LINALG_STRIDE(d) * sizeof out[0]);
    return at + TACIT_LINALG_STRIDE(d);
}

TEST(both_paths_give_the_same_bits)
{
    if (tacit_linalg_fastest() == TACIT_LINALG_PORTABLE)
        SKIP_BECAUSE("no AVX2 here");
    static double portable[RESULTS_MAX];
    static double fast[RESULTS_MAX];
    for (uint32_t d = 1; d <= D_MAX; d++)
        for (uint64_t seed = 0; seed < 5; seed++) {
            memset(portable, 0, sizeof portable);
            memset(fast, 0, sizeof fast);
            size_t const count = run_all(TACIT_LINALG_PORTABLE, d, seed, portable);
            assert_int_equal(run_all(TACIT_LINALG_AVX2, d, seed, fast), count);
            assert_true(count < RESULTS_MAX);
            assert_memory_equal(portable, fast, count * sizeof fast[0]);
        }
}

/* The scalar functions of a kernel that takes one sample or one pair are those of elementary.c. */
TEST(lanes_compute_what_the_scalar_functions_compute)
{
    struct tacit_rng rng = tacit_rng_stream(SEED, 0, 0, 13);
    for (uint32_t trial = 0; trial < 2000; trial++) {
        struct tacit_linalg_mean const mean = {(enum tacit_linalg_link)(trial % 4), 0.4, 0};
        struct tacit_linalg_samples samples = {sample_memory, 1, true};
        double const one[4] = {1};
        double const theta[4] = {3 * frand(&rng)};
        double gradient[4];
        memset(sample_memory, 0, TACIT_LINALG_SAMPLES(1, 1) * sizeof(double));
        tacit_linalg_sample_put(&samples, 0, one, 0);
        tacit_linalg_gradient(tacit_linalg_fastest(), &mean, &samples, 0, 1, theta, gradient);
        assert_true(gradient[0] == tacit_linalg_mean(&mean, theta[0]));
    }
}
