/* Elimination by votes, one thread: samples per second on Problem 1 (ten arms), and a hundred
 * thousand players. The ratio is to 64 random bits drawn in the same second, so that two sittings
 * can be compared. usage: bench_votes [RUNS] */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include "../src/families/vote/play.h"

#define ARMS 10u
#define DRAWS (UINT64_C(1) << 24)

static const double means[ARMS] = {0.7, 0.5, 0.3, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1};

static double seconds_now(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Nanoseconds of 64 random bits, now. */
static double draw_cost(void)
{
    struct tacit_rng rng = tacit_rng_stream(1, 0, 0, TACIT_PURPOSE_REWARD);
    uint64_t all = 0;
    double const start = seconds_now();
    for (uint64_t i = 0; i < DRAWS; i++)
        all ^= tacit_rng_next(&rng);
    double const cost = (seconds_now() - start) / (double)DRAWS * 1e9;
    return all == 0 ? 0 : cost;
}

static struct vote_world problem(const struct tacit_env *env, uint32_t players,
                                 enum tacit_best_arm_kind kind)
{
    return (struct vote_world){
        .seed = 1,
        .player_count = players,
        .horizon = UINT64_C(1) << 40,
        .env = env,
        .drift_spare = TACIT_NO_ARM,
        .sharing = VOTE_SHARING_VOTES,
        .subroutine = {.kind = kind, .arm_count = ARMS, .accuracy = 0.25, .failure = 0.9},
        .votes_needed = 28,
        .block = 1};
}

/* The best of three. */
static void measure(const char *name, struct vote_world world, uint32_t runs)
{
    double best = 0;
    double best_ratio = 0;
    for (uint32_t sitting = 0; sitting < 3; sitting++) {
        uint64_t samples = 0;
        double const bits = draw_cost();
        double const start = seconds_now();
        for (world.run = 0; world.run < runs; world.run++) {
            struct vote_outcome outcome;
            if (vote_play(&world, &outcome, NULL) != TACIT_OK)
                exit(1);
            samples += outcome.samples;
        }
        double const cost = (seconds_now() - start) / (double)samples * 1e9;
        if (sitting == 0 || cost / bits < best_ratio) {
            best = cost;
            best_ratio = cost / bits;
        }
    }
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage);
    (void)printf("%-34s %9.2f %9.1f %9.1f %9.0f\n", name, 1e3 / best, best, best_ratio,
                 (double)usage.ru_maxrss / 1024);
}

int main(int count, char **arguments)
{
    struct tacit_env const env = {
        .kind = TACIT_ENV_BERNOULLI, .row_count = 1, .arm_count = ARMS, .means = means};
    uint32_t const runs = count > 1 ? (uint32_t)strtoul(arguments[1], NULL, 10) : 100;
    (void)printf("%-34s %9s %9s %9s %9s\n", "votes, Problem 1", "M/s", "ns", "ratio", "MiB");
    measure("ser3, N = 256", problem(&env, 256, TACIT_BEST_ARM_SER3), runs);
    measure("successive, N = 256", problem(&env, 256, TACIT_BEST_ARM_SUCCESSIVE), runs);
    measure("ugapec, N = 256", problem(&env, 256, TACIT_BEST_ARM_UGAPEC), runs / 20 + 1);
    measure("ser3, N = 100,000", problem(&env, 100000, TACIT_BEST_ARM_SER3), 1);
    return 0;
}
