/* What the paths of the kernels share: constants of the elementary functions, and the kernels that
 * each path has. */
#ifndef TACIT_LINALG_INTERNAL_H
#define TACIT_LINALG_INTERNAL_H
#include <math.h>
#include "tacit/linalg.h"

#define TACIT_LINALG_ARMS_AT_ONCE 16u
#define FETCH_BYTES 4096u

#define EXP_LIMIT 708.0
#define LOG2_E 1.4426950408889634
#define ROUNDER 0x1.8p52 /* adding it rounds to an integer, in the low bits */
/* log 2 in two parts: products of the first with exponents are exact. */
#define LN2_HIGH 0x1.62e42feep-1
#define LN2_LOW 0x1.a39ef35793c76p-33
#define SINGLE_SPLIT (0x1p29 + 1.0)
#define HALF_PI 1.5707963267948966
#define HALF_ROOT_BITS UINT64_C(0x3fe6a09e667f3bcd) /* sqrt(1/2) */
#define ONE_BITS UINT64_C(0x3ff0000000000000)
#define MAGIC_BITS UINT64_C(0x4330000000000000) /* 2^52: or-ing an integer into it adds it */
#define MAGIC_BIASED (0x1p52 + 1023.0)

/* Taylor terms, highest first. exp on |r| <= log(2)/2: 14 terms leave 4e-18. */
#define EXP_TERM_COUNT 14u
static const double EXP_TERMS[EXP_TERM_COUNT] = {1.0 / 6227020800,
                                                 1.0 / 479001600,
                                                 1.0 / 39916800,
                                                 1.0 / 3628800,
                                                 1.0 / 362880,
                                                 1.0 / 40320,
                                                 1.0 / 5040,
                                                 1.0 / 720,
                                                 1.0 / 120,
                                                 1.0 / 24,
                                                 1.0 / 6,
                                                 1.0 / 2,
                                                 1.0,
                                                 1.0};
/* log m = 2 atanh s = 2 s + 2 s^3 (1/3 + s^2/5 + ..), |s| <= .1716. */
#define LOG_TERM_COUNT 10u
static const double LOG_TERMS[LOG_TERM_COUNT] = {1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13,
                                                 1.0 / 11, 1.0 / 9,  1.0 / 7,  1.0 / 5,  1.0 / 3};
/* tanh w = w p(w^2)/q(w^2), the ninth convergent of Lambert's continued fraction: 3e-17 at w = 1.
 * Here for 1/(1 + exp(-z)) = 1/2 + tanh(z/2)/2 as 1/2 + z p(z^2)/q(z^2), |z| <= 2; highest terms
 * first. */
#define NEAR_LIMIT 2.0
#define NEAR_TERM_COUNT 5u
static const double NEAR_ABOVE[NEAR_TERM_COUNT] = {0.25 / 256, 0.25 * 990 / 64, 0.25 * 135135 / 16,
                                                   0.25 * 4729725 / 4, 0.25 * 34459425};
static const double NEAR_BELOW[NEAR_TERM_COUNT] = {45.0 / 256, 13860.0 / 64, 945945.0 / 16,
                                                   16216200.0 / 4, 34459425.0};
/* sin a = a + a^3 (-1/6 + ..), cos a = 1 + a^2 (-1/2 + ..), |a| <= pi/4. */
#define TURN_TERM_COUNT 8u
static const double SINE_TERMS[TURN_TERM_COUNT] = {
    1.0 / 355687428096000, -1.0 / 1307674368000, 1.0 / 6227020800, -1.0 / 39916800,
    1.0 / 362880,          -1.0 / 5040,          1.0 / 120,        -1.0 / 6};
static const double COSINE_TERMS[TURN_TERM_COUNT] = {
    1.0 / 20922789888000, -1.0 / 87178291200, 1.0 / 479001600, -1.0 / 3628800,
    1.0 / 40320,          -1.0 / 720,         1.0 / 24,        -1.0 / 2};

/* Samples whose moments are added at a time: they and what is made of them stay in the first
 * cache. */
#define LINALG_CHUNK 256u

/* Does the range first <= s < end leave out samples of block `at`? */
static inline bool linalg_is_partial(size_t at, size_t first, size_t end)
{
    return at * TACIT_LINALG_BLOCK < first || (at + 1) * TACIT_LINALG_BLOCK > end;
}

#define TACIT_LINALG_KERNELS(PATH)                                                                 \
    void linalg_normals_##PATH(const uint64_t *words, size_t count, double *normals);              \
    double linalg_dot_##PATH(uint32_t d, const double *a, const double *b);                        \
    void linalg_rank_one_##PATH(uint32_t d, double weight, const double *x, double *m);            \
    void linalg_multiply_##PATH(uint32_t d, const double *m, const double *x, double *y);          \
    void linalg_arms_##PATH(uint32_t d, const double *m, const double *theta, uint32_t arm_count,  \
                            const double *rows, double *linear, double *quadratic,                 \
                            double *square);                                                       \
    void linalg_linear_##PATH(uint32_t d, const double *theta, uint32_t count, const double *rows, \
                              double *products);                                                   \
    void linalg_unit_rows_##PATH(uint32_t d, double norm, uint32_t count, double *rows);           \
    bool linalg_cholesky_##PATH(uint32_t d, const double *m, double shift, double *factor,         \
                                double *reciprocal);                                               \
    void linalg_gradient_##PATH(uint32_t d, const struct tacit_linalg_mean *mean, double reach,    \
                                bool is_single, const void *samples, size_t first, size_t end,     \
                                const double *theta, double *gradient);                            \
    void linalg_gram_##PATH(uint32_t d, const struct tacit_linalg_mean *mean, bool is_single,      \
                            const void *blocks, size_t block_count, const double *theta,           \
                            double *m);                                                            \
    void linalg_moments_##PATH(uint32_t d, const struct tacit_linalg_mean *mean, double reach,     \
                               bool is_single, const void *samples, size_t n, const double *theta, \
                               double *hessian, double *triples);                                  \
    void linalg_bend_##PATH(uint32_t d, const double *triples, const double *weights,              \
                            double *gradient);
TACIT_LINALG_KERNELS(portable)
#if defined __x86_64__
#define TACIT_LINALG_HAS_AVX2 1
TACIT_LINALG_KERNELS(avx2)
#else
#define TACIT_LINALG_HAS_AVX2 0
#endif

#if TACIT_LINALG_HAS_AVX2
#define ON_PATH(path, kernel, ...)                                                                 \
    ((path) == TACIT_LINALG_AVX2 ? linalg_##kernel##_avx2(__VA_ARGS__)                             \
                                 : linalg_##kernel##_portable(__VA_ARGS__))
#else
#define ON_PATH(path, kernel, ...) ((void)(path), linalg_##kernel##_portable(__VA_ARGS__))
#endif
#endif
