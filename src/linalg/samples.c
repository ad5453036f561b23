/* Samples of a generalised linear model: gradients, Gram matrices, Newton. */
#include <string.h>
#include "internal.h"

#define NEWTON_GRADIENTS_MAX 100u
#define REACH_SLACK (1.0 + 1e-9) /* for the rounding of norms and products */

/* Where the first coordinate of a sample is, counted in numbers; the others follow at distances
 * of 8. */
static size_t place_of(uint32_t d, size_t index)
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
    size_t const place = place_of(d, index);
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
    size_t const place = place_of(d, index);
    memset(x, 0, TACIT_LINALG_STRIDE(d) * sizeof x[0]);
    for (uint32_t c = 0; c < d; c++)
        x[c] = number_of(samples->is_single, samples->memory, place + c * TACIT_LINALG_BLOCK);
    return number_of(samples->is_single, samples->memory, place + (size_t)d * TACIT_LINALG_BLOCK);
}

void linalg_part_of_block(uint32_t d, bool is_single, const void *block, size_t at, size_t first,
                          size_t end, double *part)
{
    for (uint32_t lane = 0; lane < TACIT_LINALG_BLOCK; lane++) {
        size_t const index = at * TACIT_LINALG_BLOCK + lane;
        bool const is_in = index >= first && index < end;
        for (uint32_t c = 0; c <= d; c++)
            part[c * TACIT_LINALG_BLOCK + lane] =
                is_in ? number_of(is_single, block, c * TACIT_LINALG_BLOCK + lane) : 0;
    }
}

void tacit_linalg_gradient(enum tacit_linalg_path path, const struct tacit_linalg_mean *mean,
                           const struct tacit_linalg_samples *samples, size_t first, size_t end,
                           const double *theta, double *gradient)
{
    uint32_t const d = samples->dimension;
    TACIT_ASSERT(d <= TACIT_LINALG_DIMENSION_MAX);
    TACIT_ASSERT(first <= end);
    double const norm = sqrt(tacit_linalg_dot(path, d, theta, theta));
    double const reach = mean->longest > 0 ? norm * mean->longest * REACH_SLACK : INFINITY;
#if TACIT_LINALG_HAS_AVX2
    if (path == TACIT_LINALG_AVX2) {
        linalg_gradient_avx2(d, mean, reach, samples->is_single, samples->memory, first, end, theta,
                             gradient);
        return;
    }
#endif
    linalg_gradient_portable(d, mean, reach, samples->is_single, samples->memory, first, end, theta,
                             gradient);
}

void tacit_linalg_gram(enum tacit_linalg_path path, const struct tacit_linalg_mean *mean,
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
