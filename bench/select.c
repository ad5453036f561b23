/* User selection: processor seconds a choice; exactly at 30/5, 300/15 and 1,000,000/1,000 users,
 * then Table I of Peleg et al.: brute search, Vanilla-SA and Alg. 2 of 500 steps over the number of
 * users. */
#include "tacit/select.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int measure(const char *name, const struct tacit_select_choice *choice, uint32_t user_count,
                   uint32_t users_per_round, uint32_t rounds)
{
    struct tacit_select_config const config = {.user_count = user_count,
                                               .users_per_round = users_per_round,
                                               .alpha = 100,
                                               .beta = 2,
                                               .gamma = 5,
                                               .zeta = 1,
                                               .latency_min = 0.05,
                                               .budget = {.total = 40, .eta = 0.04}};
    struct tacit_select *const select = malloc(tacit_select_size(&config));
    void *const scratch = malloc(tacit_select_choice_size(user_count));
    uint32_t *const users = malloc(users_per_round * sizeof *users);
    double *const latencies = malloc(users_per_round * sizeof *latencies);
    int code = 1;
    if (select == NULL || scratch == NULL || users == NULL || latencies == NULL ||
        tacit_select_init(select, &config, NULL) != TACIT_OK)
        goto end;
    struct tacit_rng rng = tacit_rng_stream(1, 0, 0, TACIT_PURPOSE_REWARD);
    struct tacit_entropy const entropy = tacit_rng_entropy(&rng);
    double spent = 0;
    for (uint32_t round = 0; round < rounds; round++) {
        uint32_t count;
        double energy;
        double const start = seconds();
        if (tacit_select_choose(select, choice, &entropy, scratch, users, &count, &energy) !=
            TACIT_OK)
            goto end;
        spent += seconds() - start;
        for (uint32_t i = 0; i < count; i++)
            latencies[i] = 0.05 + tacit_rng_uniform(&rng);
        if (tacit_select_observe(select, users, count, latencies, 10) != TACIT_OK)
            goto end;
    }
    (void)printf("%-10s %4u of %7u: %12.2f us a choice\n", name, users_per_round, user_count,
                 1e6 * spent / rounds);
    code = 0;
end:
    free(select);
    free(scratch);
    free(users);
    free(latencies);
    return code;
}

static int measure_table(void)
{
    static const uint32_t users[] = {10, 20, 30, 300, 1000};
    struct tacit_select_choice const brute = {.selector = TACIT_SELECTOR_BRUTE};
    struct tacit_select_choice dense = {
        .selector = TACIT_SELECTOR_ANNEALING,
        .annealing = {.is_vanilla = true, .kappa = 1, .iterations = 500}};
    struct tacit_select_choice sparse = dense;
    struct tacit_select_choice const exact = {.selector = TACIT_SELECTOR_EXACT};
    int code = 0;
    sparse.annealing.is_vanilla = false;
    for (size_t i = 0; i < sizeof users / sizeof users[0]; i++) {
        uint32_t const m = users[i] < 300 ? users[i] / 5 : users[i] / 20;
        uint32_t const rounds = 2 * users[i] / m + 20;
        if (users[i] <= 30)
            code |= measure("brute", &brute, users[i], m, rounds);
        code |= measure("vanilla-sa", &dense, users[i], m, rounds);
        code |= measure("sa", &sparse, users[i], m, rounds);
        code |= measure("exact", &exact, users[i], m, rounds);
    }
    return code;
}

int main(void)
{
    struct tacit_select_choice const exact = {.selector = TACIT_SELECTOR_EXACT};
    int const code = measure("exact", &exact, 30, 5, 20000) |
                     measure("exact", &exact, 300, 15, 3000) |
                     measure("exact", &exact, 1000000, 1000, 5);
    return code | measure_table();
}
