/* Samples of a generalised linear model: gradients, Gram matrices, Newton. */
#include <string.h>
#include "internal.h"

#define NEWTON_GRADIENTS_MAX 100u
#define REACH_SLACK (1.0 + 1e-9) /* for the rounding of norms and products */

/* Where the first coordinate of a sample is, counted in numbers; the others follow at distances
 * of 8. */
static size_t sample_offset(uint32_t d, size_t index)
{
    return index / TACIT_LINALG_BLOCK * (d + 1) * TACIT_LINALG_BLOCK + index % TACIT_LINALG_BLOCK;
}

/* Through memory: gcc 12 drops a conversion to float and back where it makes vectors of it. */
static bool is_single(double x)
{
    volatile float const narrow = (float)x;
    return (double)narrow == x;
}

static bool fits_single(uint32_t d, const double *x, double y)
{
    bool fits = is_single(y);
    for (uint32_t c = 0; c < d; c++)
        fits = fits && is_single(x[c]);
    return fits;
}

/* From floats to doubles in the same memory, the last number first. */
static void widen(struct tacit_linalg_samples *samples, size_t count)
{
    size_t numbers = TACIT_LINALG_SAMPLES(samples->dimension, count);
    unsigned char *const memory = (unsigned char *)samples->memory;
    while (numbers-- > 0) {
        float narrow;
        memcpy(&narrow, memory + numbers * sizeof narrow, sizeof narrow);
        double const wide = (double)narrow;
        memcpy(memory + numbers * sizeof wide, &wide, sizeof wide);
    }
    samples->is_single = false;
}

void tacit_linalg_sample_put(struct tacit_linalg_samples *samples, size_t index, const double *x,
                             double y)
{
    uint32_t const d = samples->dimension;
    size_t const place = sample_offset(d, index);
    if (samples->is_single && !fits_single(d, x, y))
        widen(samples, index);
    for (uint32_t c = 0; c <= d; c++) {
        double const value = c < d ? x[c] : y;
        float const narrow = (float)value;
        size_t const at = place + c * TACIT_LINALG_BLOCK;
        if (samples->is_single)
            memcpy((unsigned char *)samples->memory + at * sizeof narrow, &narrow, sizeof narrow);
        else
            samples->memory[at] = value;
    }
}

static double number_of(bool is_single, const void *memory, size_t at)
{
    float narrow;
    double wide;
    if (is_single) {
        memcpy(&narrow, (const unsigned char *)memory + at * sizeof narrow, sizeof narrow);
        return (double)narrow;
    }
    memcpy(&wide, (const unsigned char *)memory + at * sizeof wide, sizeof wide);
    return wide;
}

double tacit_linalg_sample_get(const struct tacit_linalg_samples *samples, size_t index, double *x)
{
    uint32_t const d = samples->dimension;
    size_t const place = sample_offset(d, index);
    memset(x, 0, TACIT_LINALG_STRIDE(d) * sizeof x[0]);
    for (uint32_t c = 0; c < d; c++)
        x[c] = number_of(samples->is_single, samples->memory, place + c * TACIT_LINALG_BLOCK);
    return number_of(samples->is_single, samples->memory, place + (size_t)d * TACIT_LINALG_BLOCK);
}

/* No |x' theta| is above it. */
static double reach_of(enum tacit_linalg_path path, uint32_t d,
                       const struct tacit_linalg_mean *mean, const double *theta)
{
    double const norm = sqrt(tacit_linalg_dot(path, d, theta, theta));
    return mean->longest > 0 ? norm * mean->longest * REACH_SLACK : INFINITY;
}

void tacit_linalg_gradient(enum tacit_linalg_path path, const struct tacit_linalg_mean *mean,
                           const struct tacit_linalg_samples *samples, size_t first, size_t end,
                           const double *theta, double *gradient)
{
    uint32_t const d = samples->dimension;
    TACIT_ASSERT(d <= TACIT_LINALG_DIMENSION_MAX);
    TACIT_ASSERT(first <= end);
    ON_PATH(path, gradient, d, mean, reach_of(path, d, mean, theta), samples->is_single,
            samples->memory, first, end, theta, gradient);
}

/* ---- Expansion ---- */

#define BOUND_SLACK (1.0 + 1e-6) /* for the rounding of the bound itself */
/* mu''' = mu' (1 - 6 mu'), where mu' is above 1/12: within mu'/2. */
#define HALF_THIRD_LIMIT 2.29

/* The row of a pair of coordinates among third derivatives. */
static size_t pair_of(uint32_t d, uint32_t a, uint32_t b)
{
    TACIT_ASSERT(a <= b);
    return (size_t)a * d - (size_t)a * (a + 1) / 2 + b;
}

/* The kernels fill in what is on and above diagonals; the rest is symmetry. */
static void mirror(uint32_t d, double *hessian, double *triples)
{
    size_t const stride = TACIT_LINALG_STRIDE(d);
    for (uint32_t a = 0; a < d; a++)
        for (uint32_t b = a; b < d; b++) {
            double *const row = triples + pair_of(d, a, b) * stride;
            hessian[b * stride + a] = hessian[a * stride + b];
            for (uint32_t c = 0; c < a; c++)
                row[c] = triples[pair_of(d, c, a) * stride + b];
            for (uint32_t c = a; c < b; c++)
                row[c] = triples[pair_of(d, a, c) * stride + b];
        }
}

void tacit_linalg_expand(enum tacit_linalg_path path, const struct tacit_linalg_mean *mean,
                         const struct tacit_linalg_samples *samples, size_t n, const double *theta,
                         double *expansion)
{
    uint32_t const d = samples->dimension;
    TACIT_ASSERT(d <= TACIT_LINALG_EXPANSION_DIMENSION_MAX);
    TACIT_ASSERT(mean->link == TACIT_LINALG_LOGISTIC);
    double *const gradient = expansion + TACIT_LINALG_STRIDE(d);
    double *const hessian = gradient + TACIT_LINALG_STRIDE(d);
    double *const triples = hessian + TACIT_LINALG_MATRIX(d);
    double const reach = reach_of(path, d, mean, theta);
    memset(expansion, 0, TACIT_LINALG_EXPANSION(d) * sizeof expansion[0]);
    memcpy(expansion, theta, d * sizeof theta[0]);
    tacit_linalg_gradient(path, mean, samples, 0, n, theta, gradient);
    ON_PATH(path, moments, d, mean, reach, samples->is_single, samples->memory, n, theta, hessian,
            triples);
    mirror(d, hessian, triples);
}

/* Third derivatives are sums in single precision: 16 roundings at most, each within 2^-24. */
#define THIRD_ROUNDING 1e-6

/* How far may G + H s + .. be from the sum, where s'H s is `form`? The remainder of Taylor's
 * series, e^x as 1/(1 - x) at least; and what single precision does to the third derivatives. */
static double error_of(const struct tacit_linalg_mean *mean, uint32_t d, const double *expansion,
                       double origin, double length, double form)
{
    size_t const stride = TACIT_LINALG_STRIDE(d);
    const double *const hessian = expansion + 2 * stride;
    double trace = 0;
    for (uint32_t a = 0; a < d; a++)
        trace += hessian[a * (stride + 1)];
    double const longest = mean->longest;
    double const reach = longest * length;
    double const third = longest * origin + reach <= HALF_THIRD_LIMIT ? 0.5 : 1.0;
    if (!(reach < 1.0))
        return INFINITY;
    double const rest = third * longest * reach / (6.0 * (1.0 - reach)) * form;
    return BOUND_SLACK * (rest + 0.5 * THIRD_ROUNDING * reach * length * trace);
}

bool tacit_linalg_gradient_near(enum tacit_linalg_path path, const struct tacit_linalg_mean *mean,
                                uint32_t d, const double *expansion, const double *theta,
                                double tolerance, double *gradient)
{
    TACIT_ASSERT(d <= TACIT_LINALG_EXPANSION_DIMENSION_MAX);
    TACIT_ASSERT(mean->longest > 0);
    size_t const stride = TACIT_LINALG_STRIDE(d);
    const double *const hessian = expansion + 2 * stride;
    double step[TACIT_LINALG_EXPANSION_DIMENSION_MAX];
    double change[TACIT_LINALG_EXPANSION_DIMENSION_MAX];
    double weights[TACIT_LINALG_PACKED(TACIT_LINALG_EXPANSION_DIMENSION_MAX)];
    for (uint32_t a = 0; a < stride; a++)
        step[a] = a < d ? theta[a] - expansion[a] : 0;
    tacit_linalg_multiply(path, d, hessian, step, change);
    double const origin = sqrt(tacit_linalg_dot(path, d, expansion, expansion));
    double const length = sqrt(tacit_linalg_dot(path, d, step, step));
    double const form = tacit_linalg_dot(path, d, step, change);
    if (!(error_of(mean, d, expansion, origin, length, form) <= tolerance)) /* NaN is not */
        return false;
    size_t pair = 0;
    for (uint32_t a = 0; a < d; a++) {
        weights[pair++] = step[a] * step[a];
        for (uint32_t b = a + 1; b < d; b++)
            weights[pair++] = 2.0 * step[a] * step[b];
    }
    ON_PATH(path, bend, d, hessian + TACIT_LINALG_MATRIX(d), weights, change);
    for (uint32_t a = 0; a < stride; a++)
        gradient[a] = expansion[stride + a] + change[a];
    return true;
}

/* Samples first <= s < end, one by one. */
static void gram_of_few(enum tacit_linalg_path path, const struct tacit_linalg_mean *mean,
                        const struct tacit_linalg_samples *samples, size_t first, size_t end,
                        const double *theta, double *m)
{
    uint32_t const d = samples->dimension;
    double x[TACIT_LINALG_VECTOR_MAX];
    for (size_t s = first; s < end; s++) {
        (void)tacit_linalg_sample_get(samples, s, x);
        double const weight =
            theta == NULL ? 1.0 : tacit_linalg_slope(mean, tacit_linalg_dot(path, d, x, theta));
        tacit_linalg_rank_one(path, d, weight, x, m);
    }
}

void tacit_linalg_gram(enum tacit_linalg_path path, const struct tacit_linalg_mean *mean,
                       const struct tacit_linalg_samples *samples, size_t first, size_t end,
                       const double *theta, double *m)
{
    uint32_t const d = samples->dimension;
    size_t const from = (first + TACIT_LINALG_BLOCK - 1) / TACIT_LINALG_BLOCK; /* whole blocks */
    size_t const to = end / TACIT_LINALG_BLOCK;
    TACIT_ASSERT(d <= TACIT_LINALG_DIMENSION_MAX);
    if (from >= to) {
        gram_of_few(path, mean, samples, first, end, theta, m);
        return;
    }
    size_t const number_bytes = samples->is_single ? sizeof(float) : sizeof(double);
    void const *const blocks = (const unsigned char *)samples->memory +
                               sample_offset(d, from * TACIT_LINALG_BLOCK) * number_bytes;
    gram_of_few(path, mean, samples, first, from * TACIT_LINALG_BLOCK, theta, m);
    ON_PATH(path, gram, d, mean, samples->is_single, blocks, to - from, theta, m);
    gram_of_few(path, mean, samples, to * TACIT_LINALG_BLOCK, end, theta, m);
}

/* Of the whole objective; returns its norm. */
static double newton_gradient(enum tacit_linalg_path path, const struct tacit_linalg_mean *mean,
                              const struct tacit_linalg_samples *samples, size_t n, double lambda,
                              const double *theta, double *gradient)
{
    uint32_t const d = samples->dimension;
    tacit_linalg_gradient(path, mean, samples, 0, n, theta, gradient);
    tacit_linalg_add(d, lambda, theta, gradient);
    return sqrt(tacit_linalg_dot(path, d, gradient, gradient));
}

uint32_t tacit_linalg_newton(enum tacit_linalg_path path, const struct tacit_linalg_mean *mean,
                             const struct tacit_linalg_samples *samples, size_t n, double lambda,
                             double tolerance, double *theta)
{
    uint32_t const d = samples->dimension;
    TACIT_ASSERT(d <= TACIT_LINALG_DIMENSION_MAX);
    double m[TACIT_LINALG_MATRIX_MAX];
    double factor[TACIT_LINALG_MATRIX_MAX];
    double reciprocal[TACIT_LINALG_VECTOR_MAX];
    double step[TACIT_LINALG_VECTOR_MAX];
    double trial[TACIT_LINALG_VECTOR_MAX] = {0};
    uint32_t count = 1;
    double norm = newton_gradient(path, mean, samples, n, lambda, theta, step);
    while (norm > tolerance) {
        tacit_linalg_identity(d, lambda, m);
        tacit_linalg_gram(path, mean, samples, 0, n, theta, m);
        bool const is_positive = tacit_linalg_cholesky(path, d, m, 0, factor, reciprocal);
        TACIT_ASSERT(is_positive);
        tacit_linalg_solve(d, factor, reciprocal, step);
        /* Halves until the gradient is shorter: far from the optimum a whole step may overshoot. */
        double trial_norm = norm;
        double gradient[TACIT_LINALG_VECTOR_MAX];
        for (double weight = 1.0; trial_norm >= norm; weight *= 0.5) {
            if (count == NEWTON_GRADIENTS_MAX)
                return 0;
            memcpy(trial, theta, d * sizeof trial[0]);
            tacit_linalg_add(d, -weight, step, trial);
            trial_norm = newton_gradient(path, mean, samples, n, lambda, trial, gradient);
            count++;
        }
        norm = trial_norm;
        memcpy(theta, trial, d * sizeof trial[0]);
        memcpy(step, gradient, TACIT_LINALG_STRIDE(d) * sizeof step[0]);
    }
    return count;
}
