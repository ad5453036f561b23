/* Pulls per second of learners with an index: core and environment draw, one thread.
 * usage: bench_index [ARMS [HORIZON [RUNS]]] */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "tacit/arms.h"
#include "tacit/env.h"

#define ARMS_MAX 4096u

static double seconds_now(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

struct total {
    uint64_t blocks;
    double regret;
};

static void play(struct tacit_arms *arms, enum tacit_arms_kind kind, uint64_t horizon,
                 const struct tacit_env *env, uint32_t run, struct total *total)
{
    struct tacit_rng rewards = tacit_rng_stream(1, run, 0, TACIT_PURPOSE_REWARD);
    struct tacit_rng words = tacit_rng_stream(1, run, 0, TACIT_PURPOSE_OF_FAMILY(1, 0));
    double best = 0;
    for (uint32_t arm = 0; arm < env->arm_count; arm++)
        best = env->means[arm] > best ? env->means[arm] : best;
    for (uint64_t t = 0; t < horizon;) {
        uint64_t const word = tacit_arms_wants_word(kind) ? tacit_rng_next(&words) : 0;
        struct tacit_pull_block const block = tacit_arms_next(arms, horizon - t, word);
        uint64_t const ones = tacit_env_ones(env, 0, block.arm, block.count, &rewards);
        tacit_arms_add(arms, block.arm, block.count, (union tacit_sum){.real = (double)ones}, 0);
        t += block.count;
        total->blocks++;
        total->regret += (double)block.count * (best - env->means[block.arm]);
    }
}

static bool measure(const char *name, enum tacit_arms_kind kind, uint32_t arm_count,
                    uint64_t horizon, uint32_t runs)
{
    struct tacit_arms_config const config = {.kind = kind,
                                             .arm_count = arm_count,
                                             .horizon = horizon,
                                             .scale = {.kind = TACIT_SCALE_REAL, .lo = 0, .hi = 1},
                                             .bounded = true};
    static double means[ARMS_MAX];
    struct tacit_env const env = {
        .kind = TACIT_ENV_BERNOULLI, .row_count = 1, .arm_count = arm_count, .means = means};
    struct tacit_arms *const arms = malloc(tacit_arms_size(&config));
    struct total total = {0};
    double spent_s = 0;
    if (arms == NULL)
        return false;
    for (uint32_t run = 0; run < runs; run++) {
        struct tacit_rng instance = tacit_rng_stream(1, run, 0, TACIT_PURPOSE_INSTANCE);
        tacit_env_generate(means, arm_count, &instance);
        double const start_s = seconds_now();
        if (tacit_arms_init(arms, &config) != TACIT_OK)
            return false;
        play(arms, kind, horizon, &env, run, &total);
        spent_s += seconds_now() - start_s;
    }
    double const pulls = (double)horizon * runs;
    (void)printf("%-10s %10.2f M pulls/s %8.1f ns/pull %8.2f pulls/block %10.0f regret\n", name,
                 pulls / spent_s / 1e6, 1e9 * spent_s / pulls, pulls / (double)total.blocks,
                 total.regret / runs);
    free(arms);
    return true;
}

int main(int argc, char **argv)
{
    uint32_t const arms = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 100;
    uint64_t const horizon = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000000;
    uint32_t const runs = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 20;
    if (arms < 1 || arms > ARMS_MAX || horizon < 1 || horizon > TACIT_HORIZON_MAX || runs < 1)
        return 2;
    bool const ok = measure("ucb1", TACIT_ARMS_UCB1, arms, horizon, runs) &&
                    measure("kl-ucb", TACIT_ARMS_KL_UCB, arms, horizon, runs) &&
                    measure("moss", TACIT_ARMS_MOSS, arms, horizon, runs) &&
                    measure("uniform", TACIT_ARMS_UNIFORM, arms, horizon, runs) &&
                    measure("thompson", TACIT_ARMS_THOMPSON, arms, horizon, runs);
    return ok ? 0 : 1;
}
