/* Optimizers: one step over a row of parameters. */
#include "tacit/learn.h"
#include <float.h>
#include <math.h>
#ifdef __x86_64__
#include <immintrin.h>
#define TINY_ARE_ZERO 0x8040u /* of MXCSR: as operands and as results */
#endif

#define BETA_FIRST 0.9
#define BETA_SECOND 0.999
#define EPSILON 1e-8f

static void step_sgd(float rate, const float *gradient, uint64_t count, float *parameters)
{
    for (uint64_t i = 0; i < count; i++)
        parameters[i] -= rate * gradient[i];
}

/* What Adam does with one number. */
struct adam {
    float rate;
    float epsilon;
};

static float without_tiny(float value)
{
    return fabsf(value) < FLT_MIN ? 0 : value;
}

static void step_adam_one(struct adam adam, float g, float *first, float *second, float *parameter)
{
    *first = without_tiny((float)BETA_FIRST * *first + (float)(1 - BETA_FIRST) * g);
    *second = without_tiny((float)BETA_SECOND * *second + (float)(1 - BETA_SECOND) * (g * g));
    *parameter -= adam.rate * *first / (sqrtf(*second) + adam.epsilon);
}

/* Moments of numbers that have had no gradient for long (pixels that are always black, units that
 * are dead) shrink to below the normal floats, where each operation takes thirty times as long:
 * from here on they are zeros. Returns what is to be restored. */
static unsigned drop_tiny(void)
{
#ifdef __x86_64__
    unsigned const before = _mm_getcsr();
    _mm_setcsr(before | TINY_ARE_ZERO);
    return before;
#else
    return 0;
#endif
}

static void restore(unsigned before)
{
#ifdef __x86_64__
    _mm_setcsr(before);
#else
    (void)before;
#endif
}

#ifdef __x86_64__
/* The same operations on eight numbers at once, so the same bits; returns how many were done. */
__attribute__((target("avx"))) static uint64_t step_adam_eights(struct adam adam,
                                                                const float *gradient,
                                                                uint64_t count, float *first,
                                                                float *second, float *parameters)
{
    __m256 const rate = _mm256_set1_ps(adam.rate);
    __m256 const epsilon = _mm256_set1_ps(adam.epsilon);
    uint64_t i = 0;
    for (; i + 8 <= count; i += 8) {
        __m256 const g = _mm256_loadu_ps(gradient + i);
        __m256 const a = _mm256_add_ps(
            _mm256_mul_ps(_mm256_set1_ps((float)BETA_FIRST), _mm256_loadu_ps(first + i)),
            _mm256_mul_ps(_mm256_set1_ps((float)(1 - BETA_FIRST)), g));
        __m256 const b = _mm256_add_ps(
            _mm256_mul_ps(_mm256_set1_ps((float)BETA_SECOND), _mm256_loadu_ps(second + i)),
            _mm256_mul_ps(_mm256_set1_ps((float)(1 - BETA_SECOND)), _mm256_mul_ps(g, g)));
        __m256 const step =
            _mm256_div_ps(_mm256_mul_ps(rate, a), _mm256_add_ps(_mm256_sqrt_ps(b), epsilon));
        _mm256_storeu_ps(first + i, a);
        _mm256_storeu_ps(second + i, b);
        _mm256_storeu_ps(parameters + i, _mm256_sub_ps(_mm256_loadu_ps(parameters + i), step));
    }
    return i;
}
#endif

static uint64_t step_adam_fast(struct adam adam, const float *gradient, uint64_t count,
                               float *first, float *second, float *parameters)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx"))
        return step_adam_eights(adam, gradient, count, first, second, parameters);
#endif
    (void)adam, (void)gradient, (void)count, (void)first, (void)second, (void)parameters;
    return 0;
}

/* Kingma, Ba 2015, Algorithm 1, with the corrections of both moments taken out of the loop. */
static void step_adam(struct tacit_optimizer *optimizer, const float *gradient, uint64_t count,
                      float *parameters)
{
    double const steps = (double)optimizer->step_count;
    double const correction = sqrt(1 - pow(BETA_SECOND, steps));
    struct adam const adam = {
        .rate = (float)(optimizer->rate * correction / (1 - pow(BETA_FIRST, steps))),
        .epsilon = (float)(EPSILON * correction)};
    float *const first = optimizer->first;
    float *const second = optimizer->second;
    unsigned const before = drop_tiny();
    uint64_t const done = step_adam_fast(adam, gradient, count, first, second, parameters);
    for (uint64_t i = done; i < count; i++)
        step_adam_one(adam, gradient[i], &first[i], &second[i], &parameters[i]);
    restore(before);
}

void tacit_optimizer_step(struct tacit_optimizer *optimizer, const float *gradient, uint64_t count,
                          float *parameters)
{
    TACIT_ASSERT(optimizer != NULL);
    TACIT_ASSERT(optimizer->rate > 0);
    optimizer->step_count++;
    if (optimizer->kind == TACIT_OPTIMIZER_SGD) {
        step_sgd((float)optimizer->rate, gradient, count, parameters);
        return;
    }
    TACIT_ASSERT(optimizer->first != NULL);
    TACIT_ASSERT(optimizer->second != NULL);
    step_adam(optimizer, gradient, count, parameters);
}
