/* Vectors, symmetric matrices, factors and the projection: what is not worth a path of its own, and
 * the choice of path for what is. */
#include <string.h>
#include "internal.h"
#if TACIT_LINALG_HAS_AVX2
#include <cpuid.h>
#endif

/* More and Sorensen's steps gain digits twofold; 64 are never needed. */
#define PROJECTION_STEPS_MAX 64u
#define PROJECTION_TOLERANCE 1e-14

#if TACIT_LINALG_HAS_AVX2
#define CPUID_OSXSAVE (1u << 27)
#define CPUID_AVX2 (1u << 5)
#define STATE_OF_VECTORS 6u /* the system keeps registers of 16 and of 32 bytes */

enum tacit_linalg_path tacit_linalg_fastest(void)
{
    unsigned a;
    unsigned b;
    unsigned c;
    unsigned d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & CPUID_OSXSAVE) == 0)
        return TACIT_LINALG_PORTABLE;
    unsigned low;
    unsigned high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    (void)high;
    if ((low & STATE_OF_VECTORS) != STATE_OF_VECTORS || !__get_cpuid_count(7, 0, &a, &b, &c, &d))
        return TACIT_LINALG_PORTABLE;
    return (b & CPUID_AVX2) != 0 ? TACIT_LINALG_AVX2 : TACIT_LINALG_PORTABLE;
}
#else
enum tacit_linalg_path tacit_linalg_fastest(void)
{
    return TACIT_LINALG_PORTABLE;
}
#endif

void tacit_linalg_normals(enum tacit_linalg_path path, const uint64_t *words, size_t count,
                          double *normals)
{
    ON_PATH(path, normals, words, count, normals);
}

double tacit_linalg_dot(enum tacit_linalg_path path, uint32_t d, const double *a, const double *b)
{
    return ON_PATH(path, dot, d, a, b);
}

void tacit_linalg_add(uint32_t d, double weight, const double *x, double *y)
{
    for (uint32_t i = 0; i < d; i++)
        y[i] += weight * x[i];
}

void tacit_linalg_identity(uint32_t d, double scale, double *m)
{
    size_t const stride = TACIT_LINALG_STRIDE(d);
    memset(m, 0, TACIT_LINALG_MATRIX(d) * sizeof m[0]);
    for (uint32_t i = 0; i < d; i++)
        m[i * stride + i] = scale;
}

void tacit_linalg_rank_one(enum tacit_linalg_path path, uint32_t d, double weight, const double *x,
                           double *m)
{
    ON_PATH(path, rank_one, d, weight, x, m);
}

void tacit_linalg_multiply(enum tacit_linalg_path path, uint32_t d, const double *m,
                           const double *x, double *y)
{
    TACIT_ASSERT(x != y);
    ON_PATH(path, multiply, d, m, x, y);
}

double tacit_linalg_inverse_rank_one(enum tacit_linalg_path path, uint32_t d, const double *x,
                                     double *inverse, double *direction)
{
    ON_PATH(path, multiply, d, inverse, x, direction);
    double const form = ON_PATH(path, dot, d, x, direction);
    ON_PATH(path, rank_one, d, -1.0 / (1.0 + form), direction, inverse);
    return form;
}

void tacit_linalg_arms(enum tacit_linalg_path path, uint32_t d, const double *m,
                       const double *theta, uint32_t arm_count, const double *rows, double *linear,
                       double *quadratic, double *square)
{
    TACIT_ASSERT(d <= TACIT_LINALG_DIMENSION_MAX);
    ON_PATH(path, arms, d, m, theta, arm_count, rows, linear, quadratic, square);
}

void tacit_linalg_linear(enum tacit_linalg_path path, uint32_t d, const double *theta,
                         uint32_t count, const double *rows, double *products)
{
    ON_PATH(path, linear, d, theta, count, rows, products);
}

void tacit_linalg_unit_rows(enum tacit_linalg_path path, uint32_t d, double norm, uint32_t count,
                            double *rows)
{
    TACIT_ASSERT(d <= TACIT_LINALG_DIMENSION_MAX);
    ON_PATH(path, unit_rows, d, norm, count, rows);
}

void tacit_linalg_pack(uint32_t d, const double *m, double *packed)
{
    size_t const stride = TACIT_LINALG_STRIDE(d);
    size_t at = 0;
    for (uint32_t i = 0; i < d; i++)
        for (uint32_t j = i; j < d; j++)
            packed[at++] = m[i * stride + j];
}

void tacit_linalg_unpack(uint32_t d, const double *packed, double *m)
{
    memset(m, 0, TACIT_LINALG_MATRIX(d) * sizeof m[0]);
    tacit_linalg_add_packed(d, packed, m);
}

void tacit_linalg_add_packed(uint32_t d, const double *packed, double *m)
{
    size_t const stride = TACIT_LINALG_STRIDE(d);
    size_t at = 0;
    for (uint32_t i = 0; i < d; i++)
        for (uint32_t j = i; j < d; j++) {
            m[i * stride + j] += packed[at];
            if (i != j)
                m[j * stride + i] += packed[at];
            at++;
        }
}

/* ---- Factors ---- */

bool tacit_linalg_cholesky(enum tacit_linalg_path path, uint32_t d, const double *m, double shift,
                           double *factor, double *reciprocal)
{
    TACIT_ASSERT(d <= TACIT_LINALG_DIMENSION_MAX);
    return ON_PATH(path, cholesky, d, m, shift, factor, reciprocal);
}

void tacit_linalg_solve_half(uint32_t d, const double *factor, const double *reciprocal, double *x)
{
    size_t const stride = TACIT_LINALG_STRIDE(d);
    for (uint32_t j = 0; j < d; j++) {
        const double *const row = factor + j * stride;
        double const value = x[j] * reciprocal[j];
        x[j] = value;
        for (uint32_t i = j + 1; i < d; i++)
            x[i] -= value * row[i];
    }
}

void tacit_linalg_solve(uint32_t d, const double *factor, const double *reciprocal, double *x)
{
    size_t const stride = TACIT_LINALG_STRIDE(d);
    tacit_linalg_solve_half(d, factor, reciprocal, x);
    for (uint32_t j = d; j-- > 0;) {
        const double *const row = factor + j * stride;
        double value = x[j];
        for (uint32_t i = j + 1; i < d; i++)
            value -= row[i] * x[i];
        x[j] = value * reciprocal[j];
    }
}

double tacit_linalg_log_det(uint32_t d, const double *factor)
{
    size_t const stride = TACIT_LINALG_STRIDE(d);
    double sum = 0;
    for (uint32_t i = 0; i < d; i++)
        sum += tacit_linalg_log(factor[i * stride + i]);
    return 2.0 * sum;
}

void tacit_linalg_invert(uint32_t d, const double *factor, const double *reciprocal,
                         double *inverse)
{
    size_t const stride = TACIT_LINALG_STRIDE(d);
    memset(inverse, 0, TACIT_LINALG_MATRIX(d) * sizeof inverse[0]);
    for (uint32_t j = 0; j < d; j++) {
        double column[TACIT_LINALG_VECTOR_MAX] = {0};
        column[j] = 1.0;
        tacit_linalg_solve(d, factor, reciprocal, column);
        for (uint32_t i = 0; i <= j; i++) {
            inverse[i * stride + j] = column[i];
            inverse[j * stride + i] = column[i];
        }
    }
}

bool tacit_linalg_inverse(enum tacit_linalg_path path, uint32_t d, const double *m, double *inverse,
                          double *log_det)
{
    double factor[TACIT_LINALG_MATRIX_MAX];
    double reciprocal[TACIT_LINALG_VECTOR_MAX];
    TACIT_ASSERT(d >= 1 && d <= TACIT_LINALG_DIMENSION_MAX);
    if (!tacit_linalg_cholesky(path, d, m, 0, factor, reciprocal))
        return false;
    tacit_linalg_invert(d, factor, reciprocal, inverse);
    if (log_det != NULL)
        *log_det = tacit_linalg_log_det(d, factor);
    return true;
}

static double norm_of(enum tacit_linalg_path path, uint32_t d, const double *x)
{
    return sqrt(ON_PATH(path, dot, d, x, x));
}

/* The Newton step on 1/radius - 1/norm, from x(nu) and x' (m + nu I)^-1 x. */
static double climb(double norm, double radius, double form)
{
    TACIT_ASSERT(form > 0);
    return norm * norm / form * ((norm - radius) / radius);
}

double tacit_linalg_project_ball(enum tacit_linalg_path path, uint32_t d, const double *m,
                                 const double *inverse, double radius, double *x)
{
    TACIT_ASSERT(radius > 0);
    double norm = norm_of(path, d, x);
    if (norm <= radius)
        return 0;
    double target[TACIT_LINALG_VECTOR_MAX] = {0};
    double half[TACIT_LINALG_VECTOR_MAX] = {0};
    double factor[TACIT_LINALG_MATRIX_MAX];
    double reciprocal[TACIT_LINALG_VECTOR_MAX];
    ON_PATH(path, multiply, d, m, x, target);
    double nu = 0;
    if (inverse != NULL) {
        ON_PATH(path, multiply, d, inverse, x, half);
        nu = climb(norm, radius, ON_PATH(path, dot, d, x, half));
    }
    for (uint32_t step = 0; step < PROJECTION_STEPS_MAX; step++) {
        bool const is_positive = ON_PATH(path, cholesky, d, m, nu, factor, reciprocal);
        TACIT_ASSERT(is_positive);
        memcpy(x, target, d * sizeof x[0]);
        tacit_linalg_solve(d, factor, reciprocal, x);
        norm = norm_of(path, d, x);
        if (norm - radius <= PROJECTION_TOLERANCE * radius)
            break;
        memcpy(half, x, d * sizeof x[0]);
        tacit_linalg_solve_half(d, factor, reciprocal, half);
        nu += climb(norm, radius, ON_PATH(path, dot, d, half, half));
    }
    return nu;
}
