/* Contextual environments: vectors on a sphere or from a pool, rewards through a link. */
#include <math.h>
#include <string.h>
#include "tacit/env.h"

#define WORDS_AT_ONCE 512u
/* Features have single precision, as data sets do; rounded, a vector of this length is not above 1.
 */
#define UNIT (1.0 - 0x1p-23)
#define MEANS_AT_ONCE 64u
#define NORMALS_OF_FOUR 8u     /* words */
#define ROWS_ALONE_SHARE 5u    /* at most one row in so many: then each is made by itself */
#define POISSON_MEAN_MAX 700.0 /* e^-mean is a number; larger ones are drawn in parts */

/* Rounded to 24 bits (Veltkamp 1968), in double arithmetic alone: gcc 12 drops a conversion to
 * float and back where it makes vectors of it. */
static double single(double x)
{
    double const wide = x * (0x1p29 + 1.0);
    return wide - (wide - x);
}

static void draw_words(enum tacit_linalg_path path, struct tacit_rng *rng, size_t count,
                       uint64_t *words)
{
    if (path == TACIT_LINALG_AVX2)
        tacit_rng_words_avx2(rng, count, words);
    else
        tacit_rng_words(rng, count, words);
}

static void draw_normals(enum tacit_linalg_path path, struct tacit_rng *rng, size_t count,
                         double *normals)
{
    uint64_t words[WORDS_AT_ONCE];
    while (count > 0) {
        size_t const part = count < 2 * WORDS_AT_ONCE ? count : 2 * WORDS_AT_ONCE;
        draw_words(path, rng, (part + 1) / 2, words);
        tacit_linalg_normals(path, words, part, normals);
        normals += part;
        count -= part;
    }
}

/* Scales a vector to this length. */
static void normalise(uint32_t dimension, double norm, double *x)
{
    double square = 0;
    for (uint32_t i = 0; i < dimension; i++)
        square += x[i] * x[i];
    double const scale = norm / sqrt(square);
    for (uint32_t i = 0; i < dimension; i++)
        x[i] *= scale;
}

void tacit_context_theta(uint32_t dimension, double norm, struct tacit_rng *rng, double *theta)
{
    TACIT_ASSERT(dimension <= TACIT_LINALG_DIMENSION_MAX);
    memset(theta, 0, TACIT_LINALG_STRIDE(dimension) * sizeof theta[0]);
    draw_normals(TACIT_LINALG_PORTABLE, rng, dimension, theta);
    normalise(dimension, norm, theta);
}

void tacit_context_pool(uint32_t dimension, uint32_t pool_count, struct tacit_rng *rng,
                        double *pool)
{
    TACIT_ASSERT(dimension >= 2);
    for (uint32_t k = 0; k < pool_count; k++) {
        double *const x = pool + (size_t)k * dimension;
        draw_normals(TACIT_LINALG_PORTABLE, rng, dimension - 1, x);
        normalise(dimension - 1, UNIT, x);
        for (uint32_t i = 0; i + 1 < dimension; i++)
            x[i] = single(x[i]);
        x[dimension - 1] = 1.0;
    }
}

/* Different rows, in the order in which they were drawn: one that is there already is drawn anew.
 */
static void offer_of_pool(const struct tacit_context_env *env, struct tacit_rng *rng,
                          double *contexts)
{
    size_t const d = env->dimension;
    TACIT_ASSERT(env->arm_count <= env->pool_count);
    for (uint32_t k = 0; k < env->arm_count; k++) {
        bool is_new = false;
        while (!is_new) {
            uint64_t const row = tacit_rng_below(rng, env->pool_count);
            memcpy(contexts + k * d, env->pool + row * d, d * sizeof contexts[0]);
            is_new = true;
            for (uint32_t other = 0; other < k; other++)
                is_new = is_new &&
                         memcmp(contexts + other * d, contexts + k * d, d * sizeof(double)) != 0;
        }
    }
}

void tacit_context_offer(const struct tacit_context_env *env, enum tacit_linalg_path path,
                         struct tacit_rng *rng, double *contexts)
{
    if (env->source == TACIT_CONTEXT_POOL) {
        offer_of_pool(env, rng, contexts);
        return;
    }
    size_t const count = (size_t)env->arm_count * env->dimension;
    draw_normals(path, rng, count, contexts);
    tacit_linalg_unit_rows(path, env->dimension, UNIT, env->arm_count, contexts);
}

/* The normals of row k alone: words come by fours (tacit_linalg_normals). */
static void make_row(const struct tacit_context_env *env, enum tacit_linalg_path path,
                     const uint64_t *words, uint32_t k, double *row)
{
    double normals[TACIT_LINALG_DIMENSION_MAX + 2 * NORMALS_OF_FOUR];
    size_t const d = env->dimension;
    size_t const count = env->arm_count * d;
    size_t const first = k * d / NORMALS_OF_FOUR * NORMALS_OF_FOUR;
    size_t const whole = ((k + 1) * d + NORMALS_OF_FOUR - 1) / NORMALS_OF_FOUR * NORMALS_OF_FOUR;
    size_t const end = whole < count ? whole : count;
    TACIT_ASSERT(end - first <= sizeof normals / sizeof normals[0]);
    tacit_linalg_normals(path, words + first / 2, end - first, normals);
    memcpy(row, normals + (k * d - first), d * sizeof *row);
}

uint32_t tacit_context_contenders(const struct tacit_context_env *env, enum tacit_linalg_path path,
                                  struct tacit_rng *rng, const struct tacit_linalg_rule *rule,
                                  double *contexts)
{
    uint64_t words[WORDS_AT_ONCE];
    uint32_t kept[TACIT_LINALG_CONTENDERS_MAX];
    size_t const d = env->dimension;
    size_t const count = env->arm_count * d;
    if (env->source != TACIT_CONTEXT_SPHERE || path == TACIT_LINALG_PORTABLE ||
        count > TACIT_LINALG_CONTENDERS_MAX) {
        tacit_context_offer(env, path, rng, contexts);
        return env->arm_count;
    }
    draw_words(path, rng, (count + 1) / 2, words);
    uint32_t kept_count = tacit_linalg_contenders(path, env->dimension, env->arm_count, words, rule,
                                                  env->theta, kept);
    if (kept_count > env->arm_count / ROWS_ALONE_SHARE) { /* sooner made together */
        kept_count = env->arm_count;
        tacit_linalg_normals(path, words, count, contexts);
    } else {
        for (uint32_t i = 0; i < kept_count; i++)
            make_row(env, path, words, kept[i], contexts + i * d);
    }
    tacit_linalg_unit_rows(path, env->dimension, UNIT, kept_count, contexts);
    return kept_count;
}

void tacit_context_means(const struct tacit_context_env *env, enum tacit_linalg_path path,
                         uint32_t arm_count, const double *contexts, uint32_t arm, double *best,
                         double *chosen)
{
    TACIT_ASSERT(arm < arm_count);
    double highest = -INFINITY;
    double at_arm = 0;
    for (uint32_t first = 0; first < arm_count; first += MEANS_AT_ONCE) {
        double z[MEANS_AT_ONCE];
        uint32_t const rest = arm_count - first;
        uint32_t const count = rest < MEANS_AT_ONCE ? rest : MEANS_AT_ONCE;
        tacit_linalg_linear(path, env->dimension, env->theta, count,
                            contexts + (size_t)first * env->dimension, z);
        for (uint32_t k = 0; k < count; k++)
            highest = z[k] > highest ? z[k] : highest;
        if (arm >= first && arm - first < count)
            at_arm = z[arm - first];
    }
    *best = tacit_linalg_mean(&env->mean, highest); /* links rise */
    *chosen = tacit_linalg_mean(&env->mean, at_arm);
}

/* Knuth 1969: uniforms are multiplied until their product falls below e^-mean. */
static double draw_poisson(double mean, struct tacit_rng *rng)
{
    double count = 0;
    for (; mean >= POISSON_MEAN_MAX; mean -= POISSON_MEAN_MAX / 2)
        count += draw_poisson(POISSON_MEAN_MAX / 2, rng);
    double const limit = tacit_linalg_exp(-mean);
    for (double product = tacit_rng_uniform(rng); product > limit;
         product *= tacit_rng_uniform(rng))
        count += 1.0;
    return count;
}

double tacit_context_reward(const struct tacit_context_env *env, double mean, struct tacit_rng *rng)
{
    double normal;
    switch (env->mean.link) {
    case TACIT_LINALG_LOGISTIC:
    case TACIT_LINALG_PROBIT:
        return tacit_rng_bernoulli(rng, mean) ? 1.0 : 0.0;
    case TACIT_LINALG_POISSON:
        return draw_poisson(mean, rng);
    case TACIT_LINALG_IDENTITY:
        draw_normals(TACIT_LINALG_PORTABLE, rng, 1, &normal);
        return mean + env->sd * normal;
    }
    TACIT_ASSERT(false);
    return 0;
}
