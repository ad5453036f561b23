/* Sums of rewards: exact integers in sound mode, doubles in paper mode. */
#include "tacit/base.h"

int64_t tacit_scale_level(const struct tacit_scale *scale, double reward)
{
    TACIT_ASSERT(scale->kind == TACIT_SCALE_STEPS);
    TACIT_ASSERT(scale->lo < scale->hi);
    if (!(reward > scale->lo)) /* written so that NaN ends here too */
        return 0;
    if (reward >= scale->hi)
        return TACIT_STEPS;
    double const share = (reward - scale->lo) / (scale->hi - scale->lo);
    return (int64_t)(share * (double)TACIT_STEPS + 0.5); /* not below 0: cut is floor */
}

void tacit_sum_add_reward(const struct tacit_scale *scale, union tacit_sum *sum, double reward,
                          uint64_t times)
{
    if (scale->kind == TACIT_SCALE_REAL) {
        sum->real += (double)times * reward;
        return;
    }
    TACIT_ASSERT(times <= TACIT_HORIZON_MAX); /* 2^40 rewards of 2^20 steps: 2^60 fits */
    sum->steps += (int64_t)times * tacit_scale_level(scale, reward);
}

void tacit_sum_add(const struct tacit_scale *scale, union tacit_sum *sum, union tacit_sum other)
{
    if (scale->kind == TACIT_SCALE_REAL)
        sum->real += other.real;
    else
        sum->steps += other.steps;
}

double tacit_sum_mean(const struct tacit_scale *scale, union tacit_sum sum, uint64_t count)
{
    TACIT_ASSERT(count > 0);
    if (scale->kind == TACIT_SCALE_REAL)
        return sum.real / (double)count;
    return (double)sum.steps / ((double)count * (double)TACIT_STEPS);
}

double tacit_scale_gap(const struct tacit_scale *scale, double gap)
{
    return scale->kind == TACIT_SCALE_REAL ? gap : gap / (scale->hi - scale->lo);
}
