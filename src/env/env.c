/* Reward environments: exact sums of many pulls where the law is known, single pulls where not. */
#include "tacit/env.h"
#include "../random/words.h"
#include "log.h"
#include "replay.h"
#include <math.h>

/* Averages over agents of equal means may differ by rounding: that is no gap. */
#define EQUAL_MEANS 1e-12
#define SOURCE_REWARDS 4096u /* that a host is asked for at once */
#define COINS_MAX 12u        /* a binomial costs as much as about so many */

/* Inline, because simulations that draw pull by pull spend their time here. */
static inline double mean_of(const struct tacit_env *env, uint32_t agent, uint32_t arm)
{
    TACIT_ASSERT(arm < env->arm_count);
    uint32_t const row = env->row_count == 1 ? 0 : agent;
    TACIT_ASSERT(row < env->row_count);
    return env->means[(size_t)row * env->arm_count + arm];
}

static inline bool is_binary(const struct tacit_env *env)
{
    return env->kind == TACIT_ENV_BERNOULLI || (env->kind == TACIT_ENV_LOGGED && env->log.binary);
}

double tacit_env_mean(const struct tacit_env *env, uint32_t agent, uint32_t arm)
{
    return mean_of(env, agent, arm);
}

void tacit_env_global_means(const struct tacit_env *env, double *means)
{
    for (uint32_t arm = 0; arm < env->arm_count; arm++) {
        double sum = 0;
        for (uint32_t row = 0; row < env->row_count; row++)
            sum += env->means[(size_t)row * env->arm_count + arm];
        means[arm] = sum / env->row_count;
    }
}

static void pull_binary(uint64_t count, double mean, const struct tacit_scale *scale,
                        struct tacit_rng *rng, union tacit_sum *sum)
{
    uint64_t const ones = tacit_rng_binomial(rng, count, mean);
    tacit_sum_add_reward(scale, sum, 1.0, ones);
    tacit_sum_add_reward(scale, sum, 0.0, count - ones);
}

/* The sum of normals is normal; the sum of clipped, rounded normals has no such form. */
static void pull_gaussian(uint64_t count, double mean, double sd, const struct tacit_scale *scale,
                          struct tacit_rng *rng, union tacit_sum *sum)
{
    if (scale->kind == TACIT_SCALE_REAL) {
        sum->real += (double)count * mean + sqrt((double)count) * sd * tacit_rng_normal(rng);
        return;
    }
    for (uint64_t i = 0; i < count; i++)
        tacit_sum_add_reward(scale, sum, mean + sd * tacit_rng_normal(rng), 1);
}

static void pull_source(const struct tacit_env *env, uint32_t agent, uint32_t arm, uint64_t count,
                        const struct tacit_scale *scale, struct tacit_rng *rng,
                        union tacit_sum *sum)
{
    struct tacit_env_source const *const source = env->source;
    double rewards[SOURCE_REWARDS];
    while (count > 0) {
        uint32_t const now = count < SOURCE_REWARDS ? (uint32_t)count : SOURCE_REWARDS;
        source->pull(source->context, source->name, agent, arm, now, tacit_rng_next(rng), rewards);
        for (uint32_t i = 0; i < now; i++)
            tacit_sum_add_reward(scale, sum, rewards[i], 1);
        count -= now;
    }
}

static void draw(const struct tacit_env *env, uint32_t agent, uint32_t arm, uint64_t count,
                 const struct tacit_scale *scale, struct tacit_rng *rng, union tacit_sum *sum)
{
    double const mean = tacit_env_mean(env, agent, arm);
    switch (env->kind) {
    case TACIT_ENV_BERNOULLI:
        pull_binary(count, mean, scale, rng, sum);
        return;
    case TACIT_ENV_CONSTANT:
        tacit_sum_add_reward(scale, sum, mean, count);
        return;
    case TACIT_ENV_GAUSSIAN:
        if (env->source != NULL)
            pull_source(env, agent, arm, count, scale, rng, sum);
        else
            pull_gaussian(count, mean, env->sd, scale, rng, sum);
        return;
    case TACIT_ENV_LOGGED:
        /* Drawing rows of zeros and ones with replacement: the share of ones, each by its weight,
         * is the mean. */
        if (env->log.binary)
            pull_binary(count, mean, scale, rng, sum);
        else
            env_log_pull(&env->log, (size_t)agent * env->arm_count + arm, count, scale, rng, sum);
        return;
    }
    TACIT_ASSERT(false);
}

/* What was added to a sum by `count` rewards, in their own unit. */
static double reward_of(const struct tacit_scale *scale, union tacit_sum before,
                        union tacit_sum after, uint64_t count)
{
    if (scale->kind == TACIT_SCALE_REAL)
        return after.real - before.real;
    double const share = (double)(after.steps - before.steps) / (double)TACIT_STEPS;
    return scale->lo * (double)count + (scale->hi - scale->lo) * share;
}

/* What a site saw, for whoever watches. */
static void note(const struct tacit_env *env, uint32_t agent, uint32_t arm, uint64_t count,
                 double reward)
{
    struct tacit_env_watch const *const watch = env->watch;
    size_t const cell = (size_t)agent * env->arm_count + arm;
    if (watch->counts == NULL)
        return;
    watch->counts[cell] += count;
    watch->sums[cell] += reward;
}

/* The log answers as long as it can; then rewards are drawn as if nobody watched. */
static void pull_watched(const struct tacit_env *env, uint32_t agent, uint32_t arm, uint64_t count,
                         const struct tacit_scale *scale, struct tacit_rng *rng,
                         union tacit_sum *sum)
{
    struct tacit_env_watch const *const watch = env->watch;
    union tacit_sum const before = *sum;
    uint64_t left = count;
    if (watch->replay != NULL)
        left -= env_replay_pull(watch->replay, agent, arm, count, scale, sum);
    if (left > 0)
        draw(env, agent, arm, left, scale, rng, sum);
    note(env, agent, arm, count, reward_of(scale, before, *sum, count));
}

void tacit_env_pull(const struct tacit_env *env, uint32_t agent, uint32_t arm, uint64_t count,
                    const struct tacit_scale *scale, struct tacit_rng *rng, union tacit_sum *sum)
{
    if (env->watch != NULL)
        pull_watched(env, agent, arm, count, scale, rng, sum);
    else
        draw(env, agent, arm, count, scale, rng, sum);
}

void tacit_env_pass(const struct tacit_env *env, uint32_t agent, uint32_t arm, uint64_t count)
{
    static const struct tacit_scale scale = {.kind = TACIT_SCALE_REAL, .lo = 0, .hi = 1};
    union tacit_sum sum = {0};
    if (env->watch != NULL && env->watch->replay != NULL)
        (void)env_replay_pull(env->watch->replay, agent, arm, count, &scale, &sum);
}

bool tacit_env_is_binary(const struct tacit_env *env)
{
    return is_binary(env);
}

uint64_t tacit_env_ones(const struct tacit_env *env, uint32_t agent, uint32_t arm, uint64_t count,
                        struct tacit_rng *rng)
{
    TACIT_ASSERT(tacit_env_is_binary(env));
    TACIT_ASSERT(env->watch == NULL); /* it would not see them */
    double const mean = tacit_env_mean(env, agent, arm);
    if (count > COINS_MAX)
        return tacit_rng_binomial(rng, count, mean);
    uint64_t ones = 0;
    for (uint64_t i = 0; i < count; i++)
        ones += tacit_rng_bernoulli(rng, mean) ? 1 : 0;
    return ones;
}

static union tacit_sum sum_of(const struct tacit_scale *scale, double reward)
{
    union tacit_sum sum = {0};
    if (scale->kind == TACIT_SCALE_REAL)
        sum.real = reward;
    else
        sum.steps = tacit_scale_level(scale, reward);
    return sum;
}

static inline bool toss(double mean, struct tacit_rng *rng)
{
    TACIT_ASSERT(mean >= 0 && mean <= 1);
    return random_bernoulli(rng, mean);
}

static union tacit_sum draw_one(const struct tacit_env *env, uint32_t agent, uint32_t arm,
                                const struct tacit_scale *scale, struct tacit_rng *rng)
{
    union tacit_sum sum = {0};
    if (is_binary(env))
        return sum_of(scale, toss(mean_of(env, agent, arm), rng) ? 1 : 0);
    if (env->kind == TACIT_ENV_GAUSSIAN && scale->kind == TACIT_SCALE_REAL && env->source == NULL)
        sum.real = mean_of(env, agent, arm) + env->sd * tacit_rng_normal(rng);
    else
        draw(env, agent, arm, 1, scale, rng, &sum);
    return sum;
}

/* As pull_watched, of one reward, which is drawn as draw_one does: the same words for the same
 * coin, watched or not. */
static union tacit_sum pull_one_watched(const struct tacit_env *env, uint32_t agent, uint32_t arm,
                                        const struct tacit_scale *scale, struct tacit_rng *rng)
{
    struct tacit_env_watch const *const watch = env->watch;
    union tacit_sum sum = {0};
    if (watch->replay == NULL || env_replay_pull(watch->replay, agent, arm, 1, scale, &sum) == 0)
        sum = draw_one(env, agent, arm, scale, rng);
    note(env, agent, arm, 1, reward_of(scale, (union tacit_sum){0}, sum, 1));
    return sum;
}

union tacit_sum tacit_env_pull_one(const struct tacit_env *env, uint32_t agent, uint32_t arm,
                                   const struct tacit_scale *scale, struct tacit_rng *rng)
{
    return env->watch != NULL ? pull_one_watched(env, agent, arm, scale, rng)
                              : draw_one(env, agent, arm, scale, rng);
}

/* A table of both faces, since a branch on a coin is guessed wrong half of the time. */
static void toss_each(const struct tacit_env *env, uint32_t agent_count, const uint32_t *arms,
                      const struct tacit_scale *scale, struct tacit_rng *rngs,
                      union tacit_sum *sums)
{
    TACIT_ASSERT(env->row_count == 1 || agent_count <= env->row_count);
    union tacit_sum const faces[2] = {sum_of(scale, 0), sum_of(scale, 1)};
    uint32_t const arm_count = env->arm_count;
    size_t const stride = env->row_count == 1 ? 0 : arm_count;
    double const *means = env->means;
    for (uint32_t agent = 0; agent < agent_count; agent++, means += stride) {
        TACIT_ASSERT(arms[agent] < arm_count);
        sums[agent] = faces[toss(means[arms[agent]], &rngs[agent])];
    }
}

void tacit_env_pull_each(const struct tacit_env *env, uint32_t agent_count, const uint32_t *arms,
                         const struct tacit_scale *scale, struct tacit_rng *rngs,
                         union tacit_sum *sums)
{
    if (env->watch == NULL && is_binary(env)) {
        toss_each(env, agent_count, arms, scale, rngs, sums);
        return;
    }
    for (uint32_t agent = 0; agent < agent_count; agent++)
        sums[agent] = tacit_env_pull_one(env, agent, arms[agent], scale, &rngs[agent]);
}

bool tacit_env_is_bounded(const struct tacit_env *env)
{
    uint32_t const count =
        env->kind == TACIT_ENV_LOGGED ? env->log.start[(size_t)env->row_count * env->arm_count] : 0;
    for (uint32_t i = 0; i < count; i++)
        if (!(env->log.rewards[i] >= 0 && env->log.rewards[i] <= 1))
            return false;
    return env->kind != TACIT_ENV_GAUSSIAN;
}

bool tacit_env_pulls_singly(const struct tacit_env *env, const struct tacit_scale *scale)
{
    return env->source != NULL ||
           (env->kind == TACIT_ENV_GAUSSIAN && scale->kind == TACIT_SCALE_STEPS) ||
           (env->kind == TACIT_ENV_LOGGED && !env->log.binary);
}

void tacit_env_generate(double *means, uint32_t arm_count, struct tacit_rng *rng)
{
    for (uint32_t arm = 0; arm < arm_count; arm++)
        means[arm] = tacit_rng_uniform(rng);
}

double tacit_env_smallest_gap(const double *means, uint32_t arm_count)
{
    double best = means[0];
    for (uint32_t arm = 1; arm < arm_count; arm++)
        best = means[arm] > best ? means[arm] : best;
    double smallest = 0;
    for (uint32_t arm = 0; arm < arm_count; arm++) {
        double const gap = best - means[arm];
        if (gap > EQUAL_MEANS && (smallest <= 0 || gap < smallest))
            smallest = gap;
    }
    return smallest;
}
