/* Plays scripted rounds with the C core and prints what was chosen: tests/test_package.py plays the
 * same with the package and compares line by line.
 *
 * usage: select_replay exact|sa|random|clustered EPSILON ROUNDS */
#include "tacit/select.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define USERS 30u
#define SEED 77u

_Noreturn void tacit_panic(const char *file, int line, const char *what)
{
    (void)fprintf(stderr, "%s:%d: %s\n", file, line, what);
    abort();
}

static double latency_of(uint32_t user, uint32_t round)
{
    return 0.04 + (double)((user * 7919u + round * 104729u) % 1000u) / 1000.0;
}

static enum tacit_selector selector_of(const char *word)
{
    return strcmp(word, "sa") == 0          ? TACIT_SELECTOR_ANNEALING
           : strcmp(word, "random") == 0    ? TACIT_SELECTOR_RANDOM
           : strcmp(word, "clustered") == 0 ? TACIT_SELECTOR_CLUSTERED
                                            : TACIT_SELECTOR_EXACT;
}

static void play_round(struct tacit_select *select, const struct tacit_select_choice *choice,
                       void *scratch, uint32_t round)
{
    uint32_t users[USERS];
    double latencies[USERS];
    uint32_t count;
    double energy;
    struct tacit_rng rng = tacit_rng_stream(SEED, 0, round, TACIT_PURPOSE_OF_FAMILY(5, 1));
    struct tacit_entropy const entropy = tacit_rng_entropy(&rng);
    TACIT_ASSERT(tacit_select_choose(select, choice, &entropy, scratch, users, &count, &energy) ==
                 TACIT_OK);
    for (uint32_t i = 0; i < count; i++) {
        latencies[i] = users[i] == 3 ? NAN : latency_of(users[i], round);
        (void)printf("%u ", users[i]);
    }
    (void)printf("\n");
    if (count > 0)
        TACIT_ASSERT(tacit_select_observe(select, users, count, latencies, 2.0) == TACIT_OK);
}

int main(int argument_count, char **words)
{
    TACIT_ASSERT(argument_count == 4);
    double const epsilon = strtod(words[2], NULL);
    uint64_t sizes[USERS];
    struct tacit_select_config const config = {
        .user_count = USERS,
        .users_per_round = 5,
        .alpha = 100,
        .beta = 2,
        .gamma = 5,
        .zeta = 1,
        .latency_min = 0.05,
        .budget = {.is_exact = !isinf(epsilon), .total = epsilon, .eta = 0.04}};
    struct tacit_select_choice const choice = {.selector = selector_of(words[1]),
                                               .annealing = {.kappa = 1, .iterations = 500}};
    struct tacit_select *const select = malloc(tacit_select_size(&config));
    void *const scratch = malloc(tacit_select_choice_size(USERS));
    TACIT_ASSERT(select != NULL && scratch != NULL);
    for (uint32_t user = 0; user < USERS; user++)
        sizes[user] = 100 + user * 13 % 50;
    TACIT_ASSERT(tacit_select_init(select, &config, sizes) == TACIT_OK);
    uint32_t const rounds = (uint32_t)strtoul(words[3], NULL, 10);
    for (uint32_t round = 0; round < rounds; round++)
        play_round(select, &choice, scratch, round);
    struct tacit_select_view view;
    tacit_select_view(select, &view);
    for (uint32_t user = 0; user < USERS; user++)
        (void)printf("%u %a %a\n", view.counts[user], view.means[user],
                     tacit_select_spent(select, user));
    free(select);
    free(scratch);
    return 0;
}
