/* The numbers that best-arm subroutines compare with: quotas, radii, indices (READINGS P3). Not
 * here: who is played and who goes (best_arm.c). */
#include "tacit/arms.h"
#include "tacit/best_arm.h"
#include <math.h>

#define BISECTIONS_MAX 1100u /* doubles from 1 to the smallest; each halves an interval */

const char *tacit_best_arm_name(enum tacit_best_arm_kind kind)
{
    switch (kind) {
#define X(name, text)                                                                              \
    case name:                                                                                     \
        return text;
        TACIT_BEST_ARM_LIST(X)
#undef X
    }
    TACIT_ASSERT(false);
    return "";
}

enum tacit_best_arm_split tacit_best_arm_split_of(enum tacit_best_arm_kind kind)
{
    switch (kind) {
    case TACIT_BEST_ARM_MEDIAN:
        return TACIT_BEST_ARM_HALVING;
    case TACIT_BEST_ARM_SUCCESSIVE:
    case TACIT_BEST_ARM_SER3:
    case TACIT_BEST_ARM_SER4:
    case TACIT_BEST_ARM_KL_RACING:
        return TACIT_BEST_ARM_RACING;
    case TACIT_BEST_ARM_NAIVE:
    case TACIT_BEST_ARM_LUCB:
    case TACIT_BEST_ARM_KL_LUCB:
    case TACIT_BEST_ARM_UGAPEC:
        return TACIT_BEST_ARM_ONE_SHOT;
    }
    TACIT_ASSERT(false);
    return TACIT_BEST_ARM_ONE_SHOT;
}

double tacit_best_arm_share(enum tacit_best_arm_kind kind, uint32_t arm_count, uint32_t epoch)
{
    TACIT_ASSERT(epoch >= 1);
    switch (tacit_best_arm_split_of(kind)) {
    case TACIT_BEST_ARM_ONE_SHOT:
        return epoch == 1 ? 1.0 : 0.0;
    case TACIT_BEST_ARM_HALVING:
        return exp2(-(double)epoch);
    case TACIT_BEST_ARM_RACING:
        return epoch <= arm_count ? 1.0 / (double)arm_count : 0.0;
    }
    TACIT_ASSERT(false);
    return 0;
}

/* The ceiling of a number of pulls, forgiving 1e-9 of rounding. */
static uint64_t ceil_pulls(double pulls)
{
    double const whole = ceil(pulls - 1e-9);
    if (!(whole < (double)TACIT_HORIZON_MAX))
        return TACIT_HORIZON_MAX;
    return whole < 1 ? 1 : (uint64_t)whole;
}

uint64_t tacit_best_arm_quota(const struct tacit_best_arm_config *config, uint32_t phase)
{
    TACIT_ASSERT(phase >= 1);
    double const epsilon = config->accuracy;
    if (config->kind == TACIT_BEST_ARM_NAIVE)
        return ceil_pulls(4.0 / (epsilon * epsilon) *
                          log(2.0 * (double)config->arm_count / config->failure));
    TACIT_ASSERT(config->kind == TACIT_BEST_ARM_MEDIAN);
    double phase_epsilon = epsilon / 4.0;
    double phase_failure = config->failure / 2.0;
    for (uint32_t i = 1; i < phase; i++) {
        phase_epsilon *= 0.75;
        phase_failure /= 2.0;
    }
    return ceil_pulls(4.0 / (phase_epsilon * phase_epsilon) * log(3.0 / phase_failure));
}

double tacit_best_arm_log(const struct tacit_best_arm_config *config, uint64_t t)
{
    TACIT_ASSERT(t >= 1);
    double const arms = (double)config->arm_count;
    double const time = (double)t;
    if (config->kind == TACIT_BEST_ARM_LUCB)
        return log(1.25 * arms * time * time * time * time / config->failure);
    if (config->kind == TACIT_BEST_ARM_UGAPEC)
        return log(4.0 * arms * time * time * time / config->failure);
    TACIT_ASSERT(config->kind == TACIT_BEST_ARM_KL_LUCB ||
                 config->kind == TACIT_BEST_ARM_KL_RACING);
    return log(405.5 * arms / config->failure) + 1.1 * log(time);
}

double tacit_best_arm_radius(const struct tacit_best_arm_config *config, uint64_t t, uint64_t pulls)
{
    TACIT_ASSERT(t >= 1);
    TACIT_ASSERT(pulls >= 1);
    double const arms = (double)config->arm_count;
    double const time = (double)t;
    double const count = (double)pulls;
    switch (config->kind) {
    case TACIT_BEST_ARM_SUCCESSIVE:
        return sqrt(log(5.0 * arms * time * time / config->failure) / time);
    case TACIT_BEST_ARM_SER3:
    case TACIT_BEST_ARM_SER4:
        return sqrt(log(4.0 * arms * time * time / config->failure) / (2.0 * time));
    case TACIT_BEST_ARM_KL_RACING:
    case TACIT_BEST_ARM_KL_LUCB:
        return tacit_best_arm_log(config, t) / count;
    case TACIT_BEST_ARM_LUCB:
    case TACIT_BEST_ARM_UGAPEC:
        return sqrt(tacit_best_arm_log(config, t) / (2.0 * count));
    case TACIT_BEST_ARM_NAIVE:
    case TACIT_BEST_ARM_MEDIAN:
        break;
    }
    TACIT_ASSERT(false);
    return 0;
}

double tacit_best_arm_kl_upper(double mean, double level)
{
    TACIT_ASSERT(mean >= 0);
    TACIT_ASSERT(mean <= 1);
    TACIT_ASSERT(level >= 0);
    double inside = mean;
    double outside = 1;
    if (tacit_arms_kl(mean, outside) <= level)
        return 1;
    for (uint32_t i = 0; i < BISECTIONS_MAX; i++) {
        double const middle = inside + (outside - inside) / 2;
        if (middle <= inside || middle >= outside)
            break;
        if (tacit_arms_kl(mean, middle) <= level)
            inside = middle;
        else
            outside = middle;
    }
    return inside;
}

double tacit_best_arm_kl_lower(double mean, double level)
{
    return 1 - tacit_best_arm_kl_upper(1 - mean, level);
}
