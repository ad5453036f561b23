/* Env: where simulated rewards come from. Pure: tables come from data/, chance from a stream. */
#ifndef TACIT_ENV_H
#define TACIT_ENV_H
#include "tacit/base.h"
#include "tacit/random.h"

enum tacit_env_kind {
    TACIT_ENV_BERNOULLI, /* 1 with probability mean, else 0 */
    TACIT_ENV_CONSTANT,  /* always the mean */
    TACIT_ENV_GAUSSIAN,  /* normal around the mean */
    TACIT_ENV_LOGGED     /* a row of a log, drawn with replacement */
};

/* Rewards that were logged for each (agent, arm): cell c = agent*K + arm owns rewards[start[c]] up
 * to, and without, rewards[start[c+1]]. No cell is empty. */
struct tacit_env_log {
    const uint32_t *start; /* A*K + 1 */
    const double *rewards;
    bool binary; /* every reward is 0 or 1: a sum is then one binomial */
};

struct tacit_env {
    enum tacit_env_kind kind;
    uint32_t row_count; /* 1: all agents alike; A: one row an agent */
    uint32_t arm_count;
    const double *means; /* row_count x K; for a log, the cells' averages */
    double sd;           /* gaussian only */
    struct tacit_env_log log;
};

/* Mean reward of an arm at an agent. Requires: arm < K; agent < A. */
double tacit_env_mean(const struct tacit_env *env, uint32_t agent, uint32_t arm);

/* Writes the K global means mu_k = average over agents (Li, Song, Sec. VI-C). Cost: O(rows K). */
void tacit_env_global_means(const struct tacit_env *env, double *means);

/* Adds the rewards of `count` pulls to *sum, on the given scale: one exact draw where the law of
 * the sum is known (bernoulli, constant, binary log; gaussian on a REAL scale), else pull by pull.
 * Requires: count <= TACIT_HORIZON_MAX. */
void tacit_env_pull(const struct tacit_env *env, uint32_t agent, uint32_t arm, uint64_t count,
                    const struct tacit_scale *scale, struct tacit_rng *rng, union tacit_sum *sum);

/* Are all rewards 0 or 1? */
bool tacit_env_is_binary(const struct tacit_env *env);

/* How many of `count` pulls brought a 1: for loops of few pulls at a time, where a coin a pull
 * costs less than a binomial. Its draws are not those of tacit_env_pull. Requires:
 * tacit_env_is_binary; count <= TACIT_HORIZON_MAX. */
uint64_t tacit_env_ones(const struct tacit_env *env, uint32_t agent, uint32_t arm, uint64_t count,
                        struct tacit_rng *rng);

/* Does a sum cost O(count), because each pull has to be drawn by itself? */
bool tacit_env_pulls_singly(const struct tacit_env *env, const struct tacit_scale *scale);

/* Fills K means with independent uniform draws from (0, 1). */
void tacit_env_generate(double *means, uint32_t arm_count, struct tacit_rng *rng);

/* Smallest gap above 1e-12 between the best global mean and another one; 0 if all are equal.
 * (READINGS P1.9: the paper's Delta, an oracle value.) Cost: O(K). */
double tacit_env_smallest_gap(const double *means, uint32_t arm_count);
#endif
