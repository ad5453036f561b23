/* Optimizers: one step over a row of parameters. */
#include "tacit/learn.h"
#include <math.h>

#define BETA_FIRST 0.9
#define BETA_SECOND 0.999
#define EPSILON 1e-8f

static void step_sgd(float rate, const float *gradient, uint64_t count, float *parameters)
{
    for (uint64_t i = 0; i < count; i++)
        parameters[i] -= rate * gradient[i];
}

/* Kingma, Ba 2015, Algorithm 1, with the corrections of both moments taken out of the loop. */
static void step_adam(struct tacit_optimizer *optimizer, const float *gradient, uint64_t count,
                      float *parameters)
{
    double const steps = (double)optimizer->step_count;
    double const correction = sqrt(1 - pow(BETA_SECOND, steps));
    float const rate = (float)(optimizer->rate * correction / (1 - pow(BETA_FIRST, steps)));
    float const epsilon = (float)(EPSILON * correction);
    float *const first = optimizer->first;
    float *const second = optimizer->second;
    for (uint64_t i = 0; i < count; i++) {
        float const g = gradient[i];
        first[i] = (float)BETA_FIRST * first[i] + (float)(1 - BETA_FIRST) * g;
        second[i] = (float)BETA_SECOND * second[i] + (float)(1 - BETA_SECOND) * (g * g);
        parameters[i] -= rate * first[i] / (sqrtf(second[i]) + epsilon);
    }
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
