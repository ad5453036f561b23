/* Linalg: small dense kernels for models of up to 64 dimensions, and the elementary functions that
 * they need. Pure, and the same bits on every machine: lanes of four doubles in a fixed order, no
 * contraction, exp and log of our own. The path says which instructions are used, never what comes
 * out.
 *
 * d dimension, K arms, n samples. A vector has TACIT_LINALG_STRIDE(d) doubles, a matrix d rows of
 * that stride; padding is zero and stays zero. Symmetric matrices are stored whole. A packed one is
 * its upper triangle, row by row. No alignment is asked for beyond that of double. */
#ifndef TACIT_LINALG_H
#define TACIT_LINALG_H
#include "tacit/base.h"

#define TACIT_LINALG_DIMENSION_MAX 64u
#define TACIT_LINALG_STRIDE(d) (((size_t)(d) + 3u) / 4u * 4u)
#define TACIT_LINALG_MATRIX(d) ((size_t)(d)*TACIT_LINALG_STRIDE(d))
#define TACIT_LINALG_PACKED(d) ((size_t)(d) * ((size_t)(d) + 1u) / 2u)
/* Of arrays on a stack, whatever d is. */
#define TACIT_LINALG_VECTOR_MAX 64u
#define TACIT_LINALG_MATRIX_MAX 4096u

enum tacit_linalg_path {
    TACIT_LINALG_PORTABLE, /* what every machine of this kind has */
    TACIT_LINALG_AVX2
};

/* The fastest path of the processor that runs this: asks it, keeps nothing. */
enum tacit_linalg_path tacit_linalg_fastest(void);

/* ---- Elementary functions: within 2 units in the last place, the same bits everywhere ----------
 */

/* Arguments beyond +-708 count as that. */
double tacit_linalg_exp(double x);
/* Requires: x > 0, finite, normal. */
double tacit_linalg_log(double x);
/* log(1 + x). Requires: x > -1/4. */
double tacit_linalg_log1p(double x);
/* The normal distribution function, to 1e-15 absolute (Marsaglia 2004 near 0, a continued fraction
 * further out). */
double tacit_linalg_normal_cdf(double x);

/* Fills `count` standard normals from half as many uniform words, rounded up: Box and Muller 1958,
 * 32 bits for a radius and 32 for an angle, so none is beyond 6.8. Cost: O(count). */
void tacit_linalg_normals(enum tacit_linalg_path path, const uint64_t *words, size_t count,
                          double *normals);

/* ---- Vectors and symmetric matrices ------------------------------------------------------------
 */

/* Sum of a_i b_i. Cost: O(d), as for all functions of vectors. */
double tacit_linalg_dot(enum tacit_linalg_path path, uint32_t d, const double *a, const double *b);

/* y += weight x. */
void tacit_linalg_add(uint32_t d, double weight, const double *x, double *y);

/* m = scale I. Cost: O(d^2), as for all functions of matrices unless they say otherwise. */
void tacit_linalg_identity(uint32_t d, double scale, double *m);

/* m += weight x x'. */
void tacit_linalg_rank_one(enum tacit_linalg_path path, uint32_t d, double weight, const double *x,
                           double *m);

/* y = m x. Requires: m symmetric; y is not x. */
void tacit_linalg_multiply(enum tacit_linalg_path path, uint32_t d, const double *m,
                           const double *x, double *y);

/* Sherman and Morrison 1950: makes `inverse` = A^-1 that of A + x x'. Returns x' A^-1 x (A as it
 * was), whose log1p is the increment of log det A; *direction (stride) becomes A^-1 x. */
double tacit_linalg_inverse_rank_one(enum tacit_linalg_path path, uint32_t d, const double *x,
                                     double *inverse, double *direction);

/* For K arms at once: linear[k] = x_k' theta, quadratic[k] = x_k' m x_k, square[k] = x_k' x_k.
 * `rows` holds K contexts of d numbers, without padding. Requires: m symmetric. Cost: O(K d^2). */
void tacit_linalg_arms(enum tacit_linalg_path path, uint32_t d, const double *m,
                       const double *theta, uint32_t arm_count, const double *rows, double *linear,
                       double *quadratic, double *square);

/* products[k] = x_k' theta, as tacit_linalg_arms has it, to the bit. Cost: O(K d). */
void tacit_linalg_linear(enum tacit_linalg_path path, uint32_t d, const double *theta,
                         uint32_t count, const double *rows, double *products);

/* Scales each of `count` rows of d numbers to length `norm`, each number then rounded to single
 * precision. Requires: no row is zero. Cost: O(count d). */
void tacit_linalg_unit_rows(enum tacit_linalg_path path, uint32_t d, double norm, uint32_t count,
                            double *rows);

/* Who takes the arm with the highest x' centre + width sqrt(x' form x), or the first of those
 * within 1e-9 of it. */
struct tacit_linalg_rule {
    const double *form;
    const double *centre;
    double width;
};

/* Of K rows, which tacit_linalg_normals and tacit_linalg_unit_rows (length 1, or less by rounding)
 * would make of these words: indices, in order, of all that could be taken, or have the highest x'
 * theta. Single precision, with a bound on its error, so a few more; how many depends on the path,
 * and may be all. Requires: form positive semidefinite; K d <= TACIT_LINALG_CONTENDERS_MAX; room
 * for K indices. Cost: O(K d^2). */
#define TACIT_LINALG_CONTENDERS_MAX 1024u
uint32_t tacit_linalg_contenders(enum tacit_linalg_path path, uint32_t d, uint32_t arm_count,
                                 const uint64_t *words, const struct tacit_linalg_rule *rule,
                                 const double *theta, uint32_t *kept);

/* Upper triangle of m, packed; and back, both triangles and padding. */
void tacit_linalg_pack(uint32_t d, const double *m, double *packed);
void tacit_linalg_unpack(uint32_t d, const double *packed, double *m);
/* m += what is packed. */
void tacit_linalg_add_packed(uint32_t d, const double *packed, double *m);

/* ---- Factors -----------------------------------------------------------------------------------
 */

/* Cholesky: m + shift I = U'U with U upper triangular in `factor`, whose padding column space is
 * free. reciprocal[i] = 1/U_ii (d numbers). False: not positive definite, outputs unspecified.
 * Cost: d^3/6 multiplications and additions. */
bool tacit_linalg_cholesky(enum tacit_linalg_path path, uint32_t d, const double *m, double shift,
                           double *factor, double *reciprocal);

/* U'U x = b, in place. */
void tacit_linalg_solve(uint32_t d, const double *factor, const double *reciprocal, double *x);
/* U' x = b, in place: the first half of that. */
void tacit_linalg_solve_half(uint32_t d, const double *factor, const double *reciprocal, double *x);

/* log det U'U, as a sum of logarithms. Cost: O(d). */
double tacit_linalg_log_det(uint32_t d, const double *factor);

/* inverse = (U'U)^-1, symmetric to the last bit. Cost: O(d^3). */
void tacit_linalg_invert(uint32_t d, const double *factor, const double *reciprocal,
                         double *inverse);

/* The inverse of m, and log det m (NULL: not wanted). False: m is not positive definite, outputs
 * unspecified. */
bool tacit_linalg_inverse(enum tacit_linalg_path path, uint32_t d, const double *m, double *inverse,
                          double *log_det);

/* The point of the ball of this radius that is nearest to x in the norm of m, in place: the x with
 * m (x - x0) + nu x = 0 and norm = radius. Returns the multiplier nu, 0 if x was inside. `inverse`
 * (of m) saves the first factor; NULL: without. Newton on 1/norm (Hebden 1973, More and Sorensen
 * 1983), which climbs to nu from below. Requires: m positive definite, radius > 0.
 * Cost: O(d^3) a step, 2 to 4 steps. */
double tacit_linalg_project_ball(enum tacit_linalg_path path, uint32_t d, const double *m,
                                 const double *inverse, double radius, double *x);

/* ---- Samples of a generalised linear model ------------------------------------------------------
 */

enum tacit_linalg_link {
    TACIT_LINALG_LOGISTIC, /* 1/(1 + exp(-z)) */
    TACIT_LINALG_PROBIT,   /* the normal distribution function, with quasi-likelihood */
    TACIT_LINALG_POISSON,  /* exp(min(z, cap)) */
    TACIT_LINALG_IDENTITY  /* z */
};

struct tacit_linalg_mean {
    enum tacit_linalg_link link;
    double cap;     /* Poisson: no mean is above exp(cap) */
    double longest; /* no sample is longer; 0: not known. For speed alone */
};

/* mu(z), and its derivative. */
double tacit_linalg_mean(const struct tacit_linalg_mean *mean, double z);
double tacit_linalg_slope(const struct tacit_linalg_mean *mean, double z);

/* Samples lie in blocks of 8, each d + 1 rows of 8: the coordinates, then the reward. As long as
 * every number has single precision, as features of data sets have, they are stored so: gradients
 * wait for memory. What is read is what was put, to the bit. */
#define TACIT_LINALG_BLOCK 8u
/* Doubles that n samples need. */
#define TACIT_LINALG_SAMPLES(d, n)                                                                 \
    (((size_t)(n) + TACIT_LINALG_BLOCK - 1) / TACIT_LINALG_BLOCK * TACIT_LINALG_BLOCK *            \
     ((size_t)(d) + 1))

struct tacit_linalg_samples {
    double *memory; /* the caller's: zero at first; relocatable */
    uint32_t dimension;
    bool is_single; /* true at first */
};

/* Writes sample `index`, the next after those that there are. Cost: O(d); O(n d) once, at the first
 * number that needs double precision. */
void tacit_linalg_sample_put(struct tacit_linalg_samples *samples, size_t index, const double *x,
                             double y);
/* Reads it: x (stride), returns the reward. */
double tacit_linalg_sample_get(const struct tacit_linalg_samples *samples, size_t index, double *x);

/* gradient = sum over samples first <= s < end of x_s (mu(x_s' theta) - y_s). The order of the sum
 * depends on first and end only. Cost: O(n d). */
void tacit_linalg_gradient(enum tacit_linalg_path path, const struct tacit_linalg_mean *mean,
                           const struct tacit_linalg_samples *samples, size_t first, size_t end,
                           const double *theta, double *gradient);

/* What gradients near a point need instead of the samples: the point theta_0, the gradient G there,
 * H = sum of mu'(z) xx' and, for each pair a <= b, the vector 1/2 sum of mu''(z) x_a x_b x, with
 * z = x' theta_0. One relocatable array of so many doubles. */
#define TACIT_LINALG_EXPANSION_DIMENSION_MAX 32u
#define TACIT_LINALG_EXPANSION(d)                                                                  \
    (TACIT_LINALG_STRIDE(d) * (2 + (size_t)(d) + TACIT_LINALG_PACKED(d)))

/* Expands the gradient of the first n samples about theta. Requires: logistic link,
 * d <= TACIT_LINALG_EXPANSION_DIMENSION_MAX. Cost: O(n d^3/6). */
void tacit_linalg_expand(enum tacit_linalg_path path, const struct tacit_linalg_mean *mean,
                         const struct tacit_linalg_samples *samples, size_t n, const double *theta,
                         double *expansion);

/* gradient (stride) = G + H s + the quadratic form of the pairs in s = theta - theta_0. Its
 * distance from the sum over the samples, rounding in double precision aside, is at most L^2 |s|/(6
 * (1 - L |s|)) s'H s + 5e-7 L |s|^2 tr H, where L is mean->longest: |mu'''| <= mu' and mu'(z + u)
 * <= e^|u| mu'(z); the first term is half of that where L (|theta_0| + |s|) <= 2.29. The second is
 * for the pairs' single precision. False, and nothing is written, where that is above `tolerance`.
 * At theta_0: G. Requires: mean->longest > 0. Cost: O(d^3/2). */
bool tacit_linalg_gradient_near(enum tacit_linalg_path path, const struct tacit_linalg_mean *mean,
                                uint32_t d, const double *expansion, const double *theta,
                                double tolerance, double *gradient);

/* m += sum of mu'(x_s' theta) x_s x_s'; theta NULL: of x_s x_s'. Cost: O(n d^2). */
void tacit_linalg_gram(enum tacit_linalg_path path, const struct tacit_linalg_mean *mean,
                       const struct tacit_linalg_samples *samples, size_t first, size_t end,
                       const double *theta, double *m);

/* theta = argmin of the loss of all n samples + lambda/2 |theta|^2, by damped Newton steps from the
 * theta given, until the gradient's norm is at most `tolerance`: for the identity link ridge
 * regression, in one step. Returns the number of gradients, 0 if 100 did not suffice.
 * Cost: O(n d^2) a step, usually 2 to 5. */
uint32_t tacit_linalg_newton(enum tacit_linalg_path path, const struct tacit_linalg_mean *mean,
                             const struct tacit_linalg_samples *samples, size_t n, double lambda,
                             double tolerance, double *theta);
#endif
