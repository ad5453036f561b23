/* The selection core against a twin that tries everything. */
#include "select_twin.h"
#include "tacit/select.h"
#include <math.h>
#include "../support/testing.h"

#define SEED 20261121u
#define PURPOSE(index) TACIT_PURPOSE_OF_FAMILY(5, 200 + (index))

static struct tacit_rng stream(uint32_t run, uint32_t index)
{
    return tacit_rng_stream(SEED, run, 0, PURPOSE(index));
}

/* The users of a set, ascending. Result: how many. */
static uint32_t members_of(uint32_t set, uint32_t *members)
{
    uint32_t count = 0;
    for (uint32_t k = 0; k < 32; k++)
        if (set >> k & 1)
            members[count++] = k;
    return count;
}

static uint32_t exchanged(uint32_t set, uint32_t leaves, uint32_t comes)
{
    return (set & ~(UINT32_C(1) << leaves)) | UINT32_C(1) << comes;
}

/* Values with ties: a few levels only. */
static double some_value(struct tacit_rng *rng, bool has_ties)
{
    double const value = tacit_rng_uniform(rng) * 2 - 1;
    return has_ties ? floor(value * 3) / 3 : value;
}

static double best_by_enumeration(const double *ucb, const double *weight, uint32_t users,
                                  uint32_t m)
{
    double best = -INFINITY;
    for (uint32_t set = 0; set < (UINT32_C(1) << users); set++) {
        uint32_t members[TWIN_USERS_MAX];
        if (members_of(set, members) == m)
            best = fmax(best, tacit_select_energy(ucb, weight, members, m));
    }
    return best;
}

TEST(best_set_is_that_of_enumeration_in_3000_cases_with_ties)
{
    void *const scratch = testing_calloc(1, tacit_select_scratch_size(12));
    for (uint32_t run = 0; run < 3000; run++) {
        struct tacit_rng rng = stream(run, 0);
        uint32_t const users = 1 + (uint32_t)tacit_rng_below(&rng, 12);
        uint32_t const m = 1 + (uint32_t)tacit_rng_below(&rng, users);
        bool const has_ties = tacit_rng_bernoulli(&rng, 0.5);
        double ucb[12];
        double weight[12];
        for (uint32_t k = 0; k < users; k++) {
            ucb[k] = some_value(&rng, has_ties);
            weight[k] = some_value(&rng, has_ties) / m;
        }
        uint32_t set[12];
        double const value = tacit_select_best(ucb, weight, users, m, scratch, set);
        double const expected = best_by_enumeration(ucb, weight, users, m);
        assert_true(fabs(value - expected) <= 1e-12);
        for (uint32_t i = 1; i < m; i++)
            assert_true(set[i] > set[i - 1]);
        double brute;
        uint32_t other[12];
        assert_int_equal(tacit_select_brute(ucb, weight, users, m, other, &brute), TACIT_OK);
        assert_true(fabs(brute - expected) <= 1e-12);
    }
}

TEST(best_of_many_is_that_of_a_plain_search_over_the_last_member)
{
    enum { USERS = 700, M = 9 };
    void *const scratch = testing_calloc(1, tacit_select_scratch_size(USERS));
    for (uint32_t run = 0; run < 60; run++) {
        struct tacit_rng rng = stream(run, 1);
        bool const has_ties = run % 2 == 1;
        static double ucb[USERS];
        static double weight[USERS];
        for (uint32_t k = 0; k < USERS; k++) {
            ucb[k] = some_value(&rng, has_ties);
            weight[k] = some_value(&rng, has_ties) / M;
        }
        double best = -INFINITY; /* for each threshold, the m best weights at or above it */
        for (uint32_t last = 0; last < USERS; last++) {
            double top[M];
            uint32_t count = 0;
            for (uint32_t k = 0; k < USERS; k++) {
                if (ucb[k] < ucb[last])
                    continue;
                uint32_t place = count < M ? count++ : M;
                if (place == M && weight[k] <= top[M - 1])
                    continue;
                place = place == M ? M - 1 : place;
                while (place > 0 && top[place - 1] < weight[k]) {
                    top[place] = top[place - 1];
                    place--;
                }
                top[place] = weight[k];
            }
            double sum = 0;
            for (uint32_t i = 0; i < count; i++)
                sum += top[i];
            if (count == M)
                best = fmax(best, ucb[last] + sum);
        }
        uint32_t set[M];
        double const value = tacit_select_best(ucb, weight, USERS, M, scratch, set);
        assert_true(fabs(value - best) <= 1e-12);
    }
}

/* ---- The graph of the annealing ---- */

struct columns {
    double ucb[9], g[9], p[9], weight[9];
};

static struct tacit_select_scores draw_columns(struct columns *columns, uint32_t users,
                                               struct tacit_rng *rng, bool has_ties)
{
    for (uint32_t k = 0; k < users; k++) {
        columns->ucb[k] = some_value(rng, has_ties) + 1;
        columns->g[k] = some_value(rng, has_ties);
        columns->p[k] = some_value(rng, has_ties);
        columns->weight[k] = columns->g[k] + columns->p[k];
    }
    return (struct tacit_select_scores){columns->ucb, columns->g, columns->p, columns->weight};
}

static uint32_t draw_set(struct tacit_rng *rng, uint32_t users, uint32_t m, uint32_t *members)
{
    uint64_t bits = 0;
    struct tacit_entropy const entropy = tacit_rng_entropy(rng);
    assert_int_equal(tacit_entropy_subset(&entropy, m, users, &bits), TACIT_OK);
    (void)members_of((uint32_t)bits, members);
    return (uint32_t)bits;
}

/* N1, and the average that Table I rests on. In each of three lists that know nothing of each other
 * (K - m)/(m + 1) others stand before the least member on average; they may take the place of the
 * m - 3 members that are no minima: 2.80 (K - m) here, less what two lists share. */
TEST(active_neighbours_are_at_most_3_K_m_and_passive_ones_about_so_many)
{
    enum { USERS = 300, M = 60, RUNS = 100 };
    static double ucb[USERS];
    static double g[USERS];
    static double p[USERS];
    static double weight[USERS];
    void *const scratch = testing_calloc(1, tacit_select_scratch_size(USERS));
    struct tacit_select_scores const scores = {ucb, g, p, weight};
    double passive = 0;
    for (uint32_t run = 0; run < RUNS; run++) {
        struct tacit_rng rng = stream(run, 9);
        struct tacit_entropy const entropy = tacit_rng_entropy(&rng);
        uint64_t bits[TACIT_BITS_WORDS(USERS)] = {0};
        uint32_t members[M];
        uint32_t count = 0;
        for (uint32_t k = 0; k < USERS; k++) {
            ucb[k] = tacit_rng_uniform(&rng);
            g[k] = tacit_rng_uniform(&rng);
            p[k] = tacit_rng_uniform(&rng);
        }
        assert_int_equal(tacit_entropy_subset(&entropy, M, USERS, bits), TACIT_OK);
        for (uint32_t k = 0; k < USERS; k++)
            if (tacit_bits_has(bits, k))
                members[count++] = k;
        uint32_t least[3] = {members[0], members[0], members[0]};
        double const *const lists[3] = {ucb, g, p};
        for (uint32_t list = 0; list < 3; list++)
            for (uint32_t i = 0; i < M; i++)
                if (lists[list][members[i]] < lists[list][least[list]])
                    least[list] = members[i];
        uint64_t const all = tacit_select_neighbour_count(&scores, USERS, members, M);
        uint64_t active = 0;
        for (uint64_t i = 0; i < all; i++) {
            uint32_t leaves;
            uint32_t comes;
            tacit_select_neighbour(&scores, USERS, members, M, i, scratch, &leaves, &comes);
            active += leaves == least[0] || leaves == least[1] || leaves == least[2] ? 1 : 0;
        }
        assert_true(active <= UINT64_C(3) * (USERS - M));
        passive += (double)(all - active) / (USERS - M) / RUNS;
    }
    assert_true(passive > 2.4 && passive < 3);
}

TEST(neighbours_are_those_of_R1_and_R2_in_500_graphs)
{
    void *const scratch = testing_calloc(1, tacit_select_scratch_size(9));
    for (uint32_t run = 0; run < 500; run++) {
        struct tacit_rng rng = stream(run, 2);
        uint32_t const users = 2 + (uint32_t)tacit_rng_below(&rng, 8);
        uint32_t const m = 1 + (uint32_t)tacit_rng_below(&rng, users - 1);
        struct columns columns;
        struct tacit_select_scores const scores =
            draw_columns(&columns, users, &rng, tacit_rng_bernoulli(&rng, 0.5));
        uint32_t members[9];
        uint32_t const set = draw_set(&rng, users, m, members);
        uint64_t const count = tacit_select_neighbour_count(&scores, users, members, m);
        bool is_listed[512] = {false};
        for (uint64_t i = 0; i < count; i++) {
            uint32_t leaves;
            uint32_t comes;
            tacit_select_neighbour(&scores, users, members, m, i, scratch, &leaves, &comes);
            uint32_t const other = exchanged(set, leaves, comes);
            assert_false(is_listed[other]); /* each once: a uniform index is a uniform neighbour */
            is_listed[other] = true;
        }
        for (uint32_t other = 0; other < (UINT32_C(1) << users); other++)
            assert_int_equal(
                is_listed[other],
                twin_are_neighbours((int)users, columns.ucb, columns.g, columns.p, set, other));
    }
}

/* ---- Algorithm 3: from any set to any other ---- */

/* Of `set` the first or the last user in the order of the sorted list: by ucb, of equals by index.
 */
static uint32_t end_of(const double *ucb, uint32_t set, bool is_last)
{
    uint32_t end = 32;
    for (uint32_t k = 0; k < 32; k++) {
        if (!(set >> k & 1))
            continue;
        if (end == 32 || (is_last ? ucb[k] >= ucb[end] : ucb[k] < ucb[end]))
            end = k;
    }
    assert_true(end < 32);
    return end;
}

/* One turn of its loop; *is_active: by its first branch. */
static uint32_t walk_on(const double *ucb, uint32_t set, uint32_t goal, struct tacit_rng *rng,
                        bool *is_active)
{
    uint32_t const least = end_of(ucb, set, false);
    uint32_t const comes = end_of(ucb, goal & ~set, true);
    *is_active = ucb[least] < ucb[comes] || (ucb[least] == ucb[comes] && least < comes);
    uint32_t leaves = least;
    if (!*is_active) {
        uint32_t strangers[9];
        leaves = strangers[tacit_rng_below(rng, members_of(set & ~goal, strangers))];
    }
    return exchanged(set, leaves, comes);
}

/* Is `next` one of those that the walk may go to from `set`? */
static bool is_listed(const struct tacit_select_scores *scores, uint32_t users, uint32_t set,
                      uint32_t next, void *scratch)
{
    uint32_t members[9];
    uint32_t const m = members_of(set, members);
    uint64_t const count = tacit_select_neighbour_count(scores, users, members, m);
    for (uint64_t i = 0; i < count; i++) {
        uint32_t leaves;
        uint32_t comes;
        tacit_select_neighbour(scores, users, members, m, i, scratch, &leaves, &comes);
        if (exchanged(set, leaves, comes) == next)
            return true;
    }
    return false;
}

/* So the walk gets everywhere (Theorem 4). Once the condition is false it stays so, and each turn
 * from then on brings a user of the goal for good: at most users + m turns. */
TEST(the_path_of_algorithm_3_is_made_of_neighbours_for_1000_pairs)
{
    void *const scratch = testing_calloc(1, tacit_select_scratch_size(9));
    uint32_t longest = 0;
    for (uint32_t run = 0; run < 1000; run++) {
        struct tacit_rng rng = stream(run, 7);
        uint32_t const users = 2 + (uint32_t)tacit_rng_below(&rng, 8);
        uint32_t const m = 1 + (uint32_t)tacit_rng_below(&rng, users - 1);
        struct columns columns;
        struct tacit_select_scores const scores = draw_columns(&columns, users, &rng, run % 2 == 0);
        uint32_t members[9];
        uint32_t set = draw_set(&rng, users, m, members);
        uint32_t const goal = draw_set(&rng, users, m, members);
        uint32_t turns = 0;
        bool was_active = true;
        for (; set != goal; turns++) {
            bool is_active;
            uint32_t const next = walk_on(columns.ucb, set, goal, &rng, &is_active);
            assert_true(turns < users + m);
            assert_false(is_active && !was_active);
            assert_true(
                twin_are_neighbours((int)users, columns.ucb, columns.g, columns.p, set, next));
            assert_true(is_listed(&scores, users, set, next, scratch));
            was_active = is_active;
            set = next;
        }
        longest = turns > longest ? turns : longest;
    }
    assert_true(longest > 4); /* not all of them were neighbours at once */
}

TEST(temperature_exceeds_the_range_of_energies_in_500_cases)
{
    void *const scratch = testing_calloc(1, tacit_select_scratch_size(9));
    for (uint32_t run = 0; run < 500; run++) {
        struct tacit_rng rng = stream(run, 3);
        uint32_t const users = 2 + (uint32_t)tacit_rng_below(&rng, 8);
        uint32_t const m = 1 + (uint32_t)tacit_rng_below(&rng, users);
        struct tacit_select_config const config = {.alpha = 5 * tacit_rng_uniform(&rng),
                                                   .gamma = 5 * tacit_rng_uniform(&rng)};
        struct columns columns;
        struct tacit_select_scores const scores = draw_columns(&columns, users, &rng, run % 2 == 0);
        for (uint32_t k = 0; k < users; k++)
            columns.weight[k] = (config.alpha * columns.g[k] + config.gamma * columns.p[k]) / m;
        double least = INFINITY;
        double most = -INFINITY;
        for (uint32_t set = 0; set < (UINT32_C(1) << users); set++) {
            uint32_t members[9];
            if (members_of(set, members) != m)
                continue;
            double const energy = tacit_select_energy(columns.ucb, columns.weight, members, m);
            least = fmin(least, energy);
            most = fmax(most, energy);
        }
        double const top = tacit_select_temperature(&config, &scores, users, m, scratch);
        assert_true(top > most - least - 1e-12);
        assert_true(top > 0);
    }
}

/* ---- Rounds ---- */

struct rounds {
    struct tacit_select *select;
    void *scratch;
    struct tacit_select_config config;
};

static struct rounds rounds_new(const struct tacit_select_config *config, const uint64_t *sizes)
{
    struct rounds const rounds = {testing_calloc(1, tacit_select_size(config)),
                                  testing_calloc(1, tacit_select_choice_size(config->user_count)),
                                  *config};
    assert_int_equal(tacit_select_init(rounds.select, config, sizes), TACIT_OK);
    return rounds;
}

/* Result: the energy of the users that were chosen, as many as a round has. */
static double choose(const struct rounds *rounds, enum tacit_selector selector, uint32_t *users)
{
    struct tacit_select_choice const choice = {.selector = selector};
    uint32_t count;
    double energy;
    assert_int_equal(
        tacit_select_choose(rounds->select, &choice, NULL, rounds->scratch, users, &count, &energy),
        TACIT_OK);
    assert_int_equal(count, rounds->config.users_per_round);
    return energy;
}

static void compare_scores(const struct rounds *rounds, const struct select_twin *twin)
{
    double columns[4][8];
    struct tacit_select_scores const scores = {columns[0], columns[1], columns[2], columns[3]};
    tacit_select_score(rounds->select, &scores);
    for (int k = 0; k < 8; k++) {
        double const ucb = twin_ucb(twin, k);
        assert_true(isinf(ucb) ? isinf(columns[0][k])
                               : fabs(columns[0][k] - ucb) <= 1e-12 * (1 + ucb));
        assert_true(fabs(columns[1][k] - twin_generalization(twin, k)) <= 1e-12);
        assert_true(fabs(columns[2][k] - twin_privacy(twin, k)) <= 1e-12);
    }
}

TEST(scores_and_values_are_those_of_the_formulas_from_the_whole_history)
{
    for (uint32_t run = 0; run < 20; run++) {
        struct tacit_rng rng = stream(run, 4);
        struct select_twin twin = {.user_count = 8,
                                   .m = 1 + (int)tacit_rng_below(&rng, 4),
                                   .alpha = 10 * tacit_rng_uniform(&rng),
                                   .beta = run % 2 == 0 ? 2 : 1.5,
                                   .gamma = 5 * tacit_rng_uniform(&rng),
                                   .zeta = run % 3 == 0 ? 3 : 1,
                                   .latency_min = 0.05,
                                   .total = 40,
                                   .eta = 0.04};
        uint64_t sizes[8];
        for (int k = 0; k < 8; k++) {
            sizes[k] = 1 + tacit_rng_below(&rng, 100);
            twin.sizes[k] = (double)sizes[k];
        }
        struct tacit_select_config const config = {.user_count = 8,
                                                   .users_per_round = (uint32_t)twin.m,
                                                   .alpha = twin.alpha,
                                                   .beta = twin.beta,
                                                   .gamma = twin.gamma,
                                                   .zeta = twin.zeta,
                                                   .latency_min = 0.05,
                                                   .budget = {.total = 40, .eta = 0.04}};
        struct rounds rounds = rounds_new(&config, sizes);
        for (int t = 0; t < 120; t++) {
            uint32_t users[8];
            double const energy = choose(&rounds, TACIT_SELECTOR_EXACT, users);
            uint32_t const count = (uint32_t)twin.m;
            uint32_t set = 0;
            double latencies[8];
            for (uint32_t i = 0; i < count; i++) {
                set |= UINT32_C(1) << users[i];
                latencies[i] = 0.02 + tacit_rng_uniform(&rng) * (users[i] + 1);
            }
            double const best = twin_best(&twin);
            if (isinf(best))
                assert_true(isinf(twin_energy(&twin, set)));
            else {
                assert_true(fabs(energy - best) <= 1e-10 * (1 + fabs(best)));
                assert_true(fabs(twin_energy(&twin, set) - best) <= 1e-10 * (1 + fabs(best)));
            }
            for (uint32_t i = 0; i < count; i++) {
                twin.chosen[twin.rounds][users[i]] = true;
                twin.latency[twin.rounds][users[i]] = latencies[i];
            }
            twin.rounds++;
            assert_int_equal(tacit_select_observe(rounds.select, users, count, latencies, 10),
                             TACIT_OK);
            compare_scores(&rounds, &twin);
        }
    }
}

TEST(exact_equals_brute_force_over_300_rounds_of_30_users)
{
    struct tacit_select_config const config = {.user_count = 30,
                                               .users_per_round = 5,
                                               .alpha = 100,
                                               .beta = 2,
                                               .gamma = 5,
                                               .zeta = 1,
                                               .latency_min = 0.05,
                                               .budget = {.total = 40, .eta = 0.04}};
    struct rounds rounds = rounds_new(&config, NULL);
    struct tacit_rng rng = stream(0, 5);
    for (uint32_t t = 0; t < 300; t++) {
        uint32_t users[30];
        uint32_t others[30];
        double const energy = choose(&rounds, TACIT_SELECTOR_EXACT, users);
        if (t % 10 == 9) { /* each takes 142,506 sets */
            double const brute = choose(&rounds, TACIT_SELECTOR_BRUTE, others);
            assert_true(fabs(energy - brute) <= 1e-12 * (1 + fabs(brute)));
        }
        double latencies[5];
        for (uint32_t i = 0; i < 5; i++)
            latencies[i] = fmax(0.05, 0.05 * (users[i] + 1) + 0.05 * tacit_rng_normal(&rng));
        assert_int_equal(tacit_select_observe(rounds.select, users, 5, latencies, 10), TACIT_OK);
    }
}

/* Of 200 walks of 400 steps over the sets of 3 of 9 users: how many end at the best set? */
static uint32_t walks_that_find_the_best(const struct tacit_select_annealing *annealing)
{
    void *const scratch = testing_calloc(1, tacit_select_scratch_size(9));
    struct tacit_select_config const config = {.alpha = 1, .gamma = 1};
    uint32_t found = 0;
    for (uint32_t run = 0; run < 200; run++) {
        struct tacit_rng rng = stream(run, 6);
        struct columns columns;
        struct tacit_select_scores const scores = draw_columns(&columns, 9, &rng, false);
        for (uint32_t k = 0; k < 9; k++)
            columns.weight[k] = (columns.g[k] + columns.p[k]) / 3;
        double const best = best_by_enumeration(columns.ucb, columns.weight, 9, 3);
        struct tacit_entropy const entropy = tacit_rng_entropy(&rng);
        uint32_t users[3];
        double energy;
        assert_int_equal(tacit_select_anneal(&config, annealing, &scores, 9, 3, &entropy, scratch,
                                             users, &energy),
                         TACIT_OK);
        assert_true(energy <= best + 1e-12);
        found += fabs(energy - best) <= 1e-12 ? 1 : 0;
    }
    return found;
}

TEST(annealing_finds_the_best_set_but_not_with_the_printed_sign)
{
    struct tacit_select_annealing annealing = {.kappa = 5, .iterations = 400};
    uint32_t const right = walks_that_find_the_best(&annealing);
    annealing.is_vanilla = true;
    uint32_t const vanilla = walks_that_find_the_best(&annealing);
    annealing = (struct tacit_select_annealing){
        .sign_as_printed = true, .keep_last = true, .kappa = 5, .iterations = 400};
    uint32_t const printed = walks_that_find_the_best(&annealing);
    print_message("found: Alg. 2 %u, Vanilla-SA %u, as printed %u of 200\n", right, vanilla,
                  printed);
    assert_true(right >= 190);
    assert_true(vanilla >= 190);
    assert_true(printed <= 60);
}
