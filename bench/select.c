/* Exact user selection: processor seconds a choice at 30/5, 300/15 and 1,000,000/1,000 users. */
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

static int measure(uint32_t user_count, uint32_t users_per_round, uint32_t rounds)
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
    struct tacit_select_choice const choice = {.selector = TACIT_SELECTOR_EXACT};
    double spent = 0;
    for (uint32_t round = 0; round < rounds; round++) {
        uint32_t count;
        double energy;
        double const start = seconds();
        if (tacit_select_choose(select, &choice, NULL, scratch, users, &count, &energy) != TACIT_OK)
            goto end;
        spent += seconds() - start;
        for (uint32_t i = 0; i < count; i++)
            latencies[i] = 0.05 + tacit_rng_uniform(&rng);
        if (tacit_select_observe(select, users, count, latencies, 10) != TACIT_OK)
            goto end;
    }
    (void)printf("select %u of %u: %.2f us a choice\n", users_per_round, user_count,
                 1e6 * spent / rounds);
    code = 0;
end:
    free(select);
    free(scratch);
    free(users);
    free(latencies);
    return code;
}

int main(void)
{
    return measure(30, 5, 20000) | measure(300, 15, 3000) | measure(1000000, 1000, 5);
}
