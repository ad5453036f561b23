/* User selection: orders, budgets to the last billionth, rounds, refusals, states, explanations. */
#include "tacit/select.h"
#include <math.h>
#include "../support/testing.h"
#include "../support/damage.h"
#include "../support/digest.h"
#include "../../src/proto/select/internal.h"

/* Of all rounds below: digest.h. */
DIGEST_IS(UINT64_C(0xafd7014dbc727e7f))
/* .. and of what the checks say of damaged states: damage.h. */
VERDICTS_ARE(UINT64_C(0x5f314b2c9fd0c637))

#define USERS 30u
#define NANO 1000000000.0
#define GUARD 512u

/* Memory of just so many bytes, .. */
static void *guarded_new(size_t size)
{
    unsigned char *const bytes = testing_calloc(1, size + GUARD);
    memset(bytes + size, 0xa5, GUARD);
    return bytes;
}

/* .. behind which nothing was written. */
static void check_guard(const void *memory, size_t size)
{
    unsigned char const *const bytes = memory;
    for (size_t i = 0; i < GUARD; i++)
        assert_int_equal(bytes[size + i], 0xa5);
}

struct selection {
    struct tacit_select *select;
    void *scratch;
    size_t size;
};

static struct tacit_select_config usual_config(void)
{
    return (struct tacit_select_config){
        .user_count = USERS,
        .users_per_round = 5,
        .alpha = 100,
        .beta = 2,
        .gamma = 5,
        .zeta = 1,
        .latency_min = 0.05,
        .budget = {.kind = TACIT_SELECT_GEOMETRIC, .is_exact = true, .total = 40, .eta = 0.04}};
}

static struct selection selection_new(const struct tacit_select_config *config,
                                      const uint64_t *sizes)
{
    struct selection selection = {.size = tacit_select_size(config)};
    assert_true(selection.size > 0);
    selection.select = guarded_new(selection.size);
    selection.scratch = guarded_new(tacit_select_choice_size(config->user_count));
    assert_int_equal(tacit_select_init(selection.select, config, sizes), TACIT_OK);
    return selection;
}

/* All that a state shows, and how it scores who is there. */
static void digest_selection(const struct selection *selection, uint32_t user_count)
{
    struct tacit_select_view view;
    double columns[4][128];
    struct tacit_select_scores const scores = {columns[0], columns[1], columns[2], columns[3]};
    tacit_select_view(selection->select, &view);
    digest_word(view.round_count);
    digest_bytes(view.counts, user_count * sizeof *view.counts);
    digest_bytes(view.sizes, user_count * sizeof *view.sizes);
    digest_reals(view.means, user_count);
    assert_true(user_count <= 128);
    tacit_select_score(selection->select, &scores);
    for (uint32_t column = 0; column < 4; column++)
        digest_reals(columns[column], user_count);
    for (uint32_t user = 0; user < user_count; user++) {
        digest_real(tacit_select_spent(selection->select, user));
        digest_real(tacit_select_next_budget(selection->select, user));
    }
}

static uint32_t choose(struct selection *selection, enum tacit_selector selector,
                       const double *expected, const uint64_t *available, struct tacit_rng *rng,
                       uint32_t *users)
{
    uint32_t count;
    double energy;
    struct tacit_entropy const entropy = tacit_rng_entropy(rng);
    struct tacit_select_choice const choice = {.selector = selector,
                                               .annealing = {.kappa = 1, .iterations = 50},
                                               .expected = expected,
                                               .available = available};
    assert_int_equal(tacit_select_choose(selection->select, &choice, &entropy, selection->scratch,
                                         users, &count, &energy),
                     TACIT_OK);
    digest_word(count);
    digest_bytes(users, count * sizeof *users);
    digest_real(energy);
    return count;
}

static void observe(struct selection *selection, const uint32_t *users, uint32_t count,
                    double latency)
{
    double latencies[64] = {0};
    for (uint32_t i = 0; i < count; i++)
        latencies[i] = latency;
    assert_int_equal(tacit_select_observe(selection->select, users, count, latencies, 10),
                     TACIT_OK);
    for (uint32_t i = 0; i < count; i++) {
        digest_real(tacit_select_spent(selection->select, users[i]));
        digest_real(tacit_select_next_budget(selection->select, users[i]));
    }
}

/* ---- Orders ---- */

/* By insertion or by digits: an order is of its users, and nothing behind it is written. */
TEST(orders_end_with_their_last_user)
{
    for (uint32_t users = 1; users <= 200; users++) {
        struct tacit_rng rng = tacit_rng_stream(20261122, 2, users, 1);
        size_t const size = tacit_select_scratch_size(users);
        double values[200];
        for (uint32_t user = 0; user < users; user++)
            values[user] = floor(8 * tacit_rng_uniform(&rng)) - 4;
        uint32_t *const order = guarded_new(users * sizeof *order);
        void *const memory = guarded_new(size);
        struct select_scratch scratch = select_scratch_of(memory, users);
        select_sort(values, users, &scratch, order);
        for (uint32_t i = 1; i < users; i++)
            assert_true(values[order[i - 1]] < values[order[i]] ||
                        (values[order[i - 1]] == values[order[i]] && order[i - 1] < order[i]));
        check_guard(order, users * sizeof *order);
        check_guard(memory, size);
    }
}

/* ---- Budgets ---- */

/* 2^63 e^-x to 25 digits by decimal arithmetic with 60 places. */
TEST(decay_is_the_table_s)
{
    static const struct {
        uint64_t eta_nano;
        uint64_t decay;
    } table[] = {
        {0, UINT64_C(9223372036854775808)},          {1, UINT64_C(9223372027631403775)},
        {40000000, UINT64_C(8861718446382921003)},   {100000000, UINT64_C(8345652139412744704)},
        {500000000, UINT64_C(5594257926288582649)},  {1000000000, UINT64_C(3393088950634442637)},
        {2000000000, UINT64_C(1248247667004394399)},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        assert_true(tacit_select_decay(table[i].eta_nano) == table[i].decay);
}

TEST(geometric_budget_is_refused_at_participation_342_and_never_above_its_total)
{
    struct tacit_select_config config = usual_config();
    config.users_per_round = 1;
    struct selection selection = selection_new(&config, NULL);
    uint32_t const user = 3;
    uint64_t sum = 0;
    uint32_t participations = 0;
    while (tacit_select_next_budget(selection.select, user) > 0) {
        uint64_t const before = tacit_select_spent_nano(selection.select, user);
        double const next = tacit_select_next_budget(selection.select, user);
        observe(&selection, &user, 1, 1);
        participations++;
        uint64_t const paid = tacit_select_spent_nano(selection.select, user) - before;
        assert_true(fabs((double)paid - next * NANO) < 0.5);
        /* e_i rounded down, never by more than a billionth a step */
        double const real = 40 * (exp(0.04) - 1) * exp(-0.04 * participations) * NANO;
        assert_true((double)paid <= real + 1e-3);
        assert_true((double)paid >= real - 26);
        sum += paid;
    }
    assert_int_equal(participations + 1, 342);
    assert_true(sum == tacit_select_spent_nano(selection.select, user));
    assert_true(sum <= UINT64_C(40000000000));
    double const latency = 1;
    size_t const size = selection.size;
    void *const before = testing_malloc(size);
    memcpy(before, selection.select, size);
    assert_int_equal(tacit_select_observe(selection.select, &user, 1, &latency, 10), TACIT_BUDGET);
    assert_memory_equal(before, selection.select, size);
    testing_free(before);
}

TEST(uniform_budget_is_exact_over_a_million_rounds)
{
    struct tacit_select_config config = usual_config();
    config.user_count = 2;
    config.users_per_round = 1;
    config.budget = (struct tacit_select_budget){
        .kind = TACIT_SELECT_UNIFORM, .is_exact = true, .total = 10, .participations = 500000};
    struct selection selection = selection_new(&config, NULL);
    struct tacit_rng rng = tacit_rng_stream(1, 0, 0, 1);
    for (uint32_t round = 0; round < 1000000; round++) {
        uint32_t users[1];
        uint32_t const count = choose(&selection, TACIT_SELECTOR_EXACT, NULL, NULL, &rng, users);
        assert_int_equal(count, 1);
        observe(&selection, users, count, 1 + users[0]);
    }
    for (uint32_t user = 0; user < 2; user++)
        assert_true(tacit_select_spent_nano(selection.select, user) == UINT64_C(10000000000));
    uint32_t users[1];
    assert_int_equal(choose(&selection, TACIT_SELECTOR_EXACT, NULL, NULL, &rng, users), 0);
}

TEST(given_budgets_are_paid_in_their_order_and_then_no_more)
{
    static const double given[] = {0.5, 0.25, 0.125};
    for (uint32_t is_exact = 0; is_exact < 2; is_exact++) {
        struct tacit_select_config config = usual_config();
        config.budget = (struct tacit_select_budget){.kind = TACIT_SELECT_GIVEN,
                                                     .is_exact = is_exact == 1,
                                                     .total = 1,
                                                     .participations = 3,
                                                     .given = given};
        struct selection selection = selection_new(&config, NULL);
        uint32_t const user = 7;
        double spent = 0;
        for (uint32_t i = 0; i < 3; i++) {
            assert_true(tacit_select_next_budget(selection.select, user) == given[i]);
            observe(&selection, &user, 1, 1);
            spent += given[i];
            assert_true(tacit_select_spent(selection.select, user) == spent);
        }
        assert_true(tacit_select_next_budget(selection.select, user) == 0);
    }
}

TEST(paper_s_series_is_never_exhausted)
{
    struct tacit_select_config config = usual_config();
    config.budget.is_exact = false;
    struct selection selection = selection_new(&config, NULL);
    uint32_t const user = 0;
    for (uint32_t i = 1; i <= 1000; i++) {
        observe(&selection, &user, 1, 1);
        double const real = 40 * (1 - exp(-0.04 * i));
        assert_true(fabs(tacit_select_spent(selection.select, user) - real) <= 1e-11);
    }
    assert_true(tacit_select_next_budget(selection.select, user) > 0);
}

/* ---- Rounds ---- */

TEST(first_rounds_choose_everybody_once)
{
    static const enum tacit_selector selectors[] = {TACIT_SELECTOR_EXACT, TACIT_SELECTOR_BRUTE,
                                                    TACIT_SELECTOR_ANNEALING};
    for (size_t s = 0; s < sizeof selectors / sizeof *selectors; s++) {
        struct tacit_select_config const config = usual_config();
        struct selection selection = selection_new(&config, NULL);
        struct tacit_rng rng = tacit_rng_stream(2, 0, 0, 1);
        uint64_t seen = 0;
        for (uint32_t round = 0; round < USERS / 5; round++) {
            uint32_t users[5];
            assert_int_equal(choose(&selection, selectors[s], NULL, NULL, &rng, users), 5);
            for (uint32_t i = 0; i < 5; i++)
                seen |= UINT64_C(1) << users[i];
            observe(&selection, users, 5, 1);
        }
        assert_true(seen == (UINT64_C(1) << USERS) - 1);
    }
}

TEST(fastest_and_genie_follow_the_true_means)
{
    struct tacit_select_config config = usual_config();
    config.alpha = 0;
    config.gamma = 0;
    struct selection selection = selection_new(&config, NULL);
    struct tacit_rng rng = tacit_rng_stream(4, 0, 0, 1);
    double expected[USERS];
    for (uint32_t user = 0; user < USERS; user++)
        expected[user] = user % 6 == 2 ? 0.9 - 0.01 * user : 0.1;
    static const uint32_t best[] = {2, 8, 14, 20, 26};
    uint32_t users[5];
    assert_int_equal(choose(&selection, TACIT_SELECTOR_FASTEST, expected, NULL, &rng, users), 5);
    assert_memory_equal(users, best, sizeof best);
    assert_int_equal(choose(&selection, TACIT_SELECTOR_GENIE, expected, NULL, &rng, users), 5);
    assert_memory_equal(users, best, sizeof best);
}

/* User 0 has half of all rows: by Fraboni et al. it is drawn from half of the urns for sure. The
 * others' expected numbers of urns are proportional to their rows; 20,000 rounds, 5 sigma: false
 * alarm below 1e-5. */
TEST(urns_represent_users_by_their_sizes)
{
    struct tacit_select_config config = usual_config();
    config.user_count = 5;
    config.users_per_round = 2;
    config.budget = (struct tacit_select_budget){.total = INFINITY};
    static const uint64_t sizes[] = {100, 40, 30, 20, 10};
    struct selection selection = selection_new(&config, sizes);
    struct tacit_rng rng = tacit_rng_stream(5, 0, 0, 1);
    uint32_t counts[5] = {0};
    for (uint32_t round = 0; round < 20000; round++) {
        uint32_t users[2];
        uint32_t const count =
            choose(&selection, TACIT_SELECTOR_CLUSTERED, NULL, NULL, &rng, users);
        assert_int_equal(count, 2);
        assert_int_equal(users[0], 0);
        counts[users[1]]++;
    }
    for (uint32_t user = 1; user < 5; user++) {
        double const p = (double)sizes[user] / 100;
        assert_true(fabs(counts[user] - 20000 * p) <= 5 * sqrt(20000 * p * (1 - p)));
    }
}

/* ---- Limits ---- */

TEST(data_sets_have_a_row_and_at_most_two_to_the_32)
{
    static const uint64_t largest = UINT64_C(1) << 32;
    struct tacit_select_config config = usual_config();
    config.user_count = 1;
    config.users_per_round = 1;
    struct selection const selection = selection_new(&config, &largest);
    static const uint64_t refused[] = {0, (UINT64_C(1) << 32) + 1};
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(tacit_select_init(selection.select, &config, &refused[i]), TACIT_INVALID);
    assert_int_equal(tacit_select_check(selection.select, selection.size, &config), TACIT_OK);
}

/* Numbers that no limit of unit/limits is between. */
TEST(configurations_of_what_is_no_number_have_no_size)
{
    static const double wrong[][1] = {{NAN}, {0}, {-1}};
    struct tacit_select_config bad = usual_config();
    assert_true(tacit_select_size(&bad) > 0);
    bad.alpha = NAN;
    assert_int_equal(tacit_select_size(&bad), 0);
    bad = usual_config();
    bad.budget.total = NAN;
    assert_int_equal(tacit_select_size(&bad), 0);
    bad.budget.total = INFINITY; /* exact: there is nothing to count */
    assert_int_equal(tacit_select_size(&bad), 0);
    for (size_t i = 0; i < 3; i++) {
        bad.budget = (struct tacit_select_budget){
            .kind = TACIT_SELECT_GIVEN, .total = 1, .participations = 1, .given = wrong[i]};
        assert_int_equal(tacit_select_size(&bad), 0);
    }
}

TEST(explanation_adds_up_and_its_runner_up_is_the_best_exchange)
{
    struct tacit_select_config const config = usual_config();
    struct selection selection = selection_new(&config, NULL);
    struct tacit_rng rng = tacit_rng_stream(7, 0, 0, 1);
    for (uint32_t round = 0; round < 30; round++) {
        uint32_t users[5];
        (void)choose(&selection, TACIT_SELECTOR_RANDOM, NULL, NULL, &rng, users);
        observe(&selection, users, 5, 0.05 * (1 + users[0]));
    }
    uint32_t users[5];
    (void)choose(&selection, TACIT_SELECTOR_EXACT, NULL, NULL, &rng, users);
    struct tacit_select_explanation explanation;
    tacit_select_explain(selection.select, users, 5, selection.scratch, &explanation);
    assert_true(fabs(explanation.energy - explanation.latency_term -
                     explanation.generalization_term - explanation.privacy_term) < 1e-9);
    assert_true(explanation.has_runner_up);
    assert_true(explanation.runner_up_energy <= explanation.energy);
    double columns[4][USERS];
    struct tacit_select_scores const scores = {columns[0], columns[1], columns[2], columns[3]};
    tacit_select_score(selection.select, &scores);
    double best = -INFINITY;
    for (uint32_t place = 0; place < 5; place++)
        for (uint32_t user = 0; user < USERS; user++) {
            uint32_t other[5];
            bool is_member = false;
            memcpy(other, users, sizeof other);
            for (uint32_t i = 0; i < 5; i++)
                is_member = is_member || users[i] == user;
            other[place] = user;
            if (!is_member)
                best = fmax(best, tacit_select_energy(columns[0], columns[3], other, 5));
        }
    assert_true(fabs(best - explanation.runner_up_energy) < 1e-9);
}

/* A hundred million sets at most, whether few are left out or few are taken. */
TEST(brute_force_counts_its_sets_before_it_begins)
{
    double values[64];
    uint32_t users[64];
    double energy;
    static const struct {
        uint32_t user_count;
        uint32_t m;
        enum tacit_status status;
    } cases[] = {{20, 10, TACIT_OK},      {30, 28, TACIT_OK},      {64, 1, TACIT_OK},
                 {64, 63, TACIT_OK},      {64, 64, TACIT_OK},      {30, 15, TACIT_INVALID},
                 {40, 20, TACIT_INVALID}, {60, 52, TACIT_INVALID}, {60, 8, TACIT_INVALID}};
    for (uint32_t i = 0; i < 64; i++)
        values[i] = (double)(i * 7 % 64);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        enum tacit_status const status =
            tacit_select_brute(values, values, cases[i].user_count, cases[i].m, users, &energy);
        assert_int_equal(status, cases[i].status);
        if (status == TACIT_OK)
            digest_bytes(users, cases[i].m * sizeof *users);
    }
}

TEST(brute_force_keeps_the_first_of_equals)
{
    static const double same[4] = {0.5, 0.5, 0.5, 0.5};
    uint32_t users[2] = {9, 9};
    double energy;
    assert_int_equal(tacit_select_brute(same, same, 4, 2, users, &energy), TACIT_OK);
    assert_int_equal(users[0], 0);
    assert_int_equal(users[1], 1);
}

/* A round of a federation in which everything happens to somebody: nobody asks anything of it here
 * but that it goes on; the digest knows what was chosen, paid and explained. */
static void play_round(struct selection *selection, const struct tacit_select_config *config,
                       uint32_t kind, uint32_t round, struct tacit_rng *rng)
{
    static const double keys[] = {0.02, 0.1, 0.4, 3};
    struct tacit_entropy const entropy = tacit_rng_entropy(rng);
    double expected[128];
    double latencies[128] = {0};
    uint32_t users[128];
    uint32_t count;
    double energy;
    uint64_t available[2] = {tacit_rng_next(rng) | tacit_rng_next(rng), tacit_rng_next(rng) | 1u};
    for (uint32_t user = 0; user < config->user_count; user++)
        expected[user] = (double)tacit_rng_below(rng, 5) / 4;
    struct tacit_select_choice const choice = {.selector = (enum tacit_selector)(round % 8),
                                               .annealing = {.is_vanilla = round / 8 % 2 == 1,
                                                             .sign_as_printed = kind % 2 == 1,
                                                             .keep_last = kind % 3 == 1,
                                                             .keep_walk = kind % 5 == 1,
                                                             .kappa = 1 + kind % 4,
                                                             .iterations = 1 + round},
                                               .expected = expected,
                                               .available = round % 3 == 0 ? NULL : available};
    enum tacit_status const status = tacit_select_choose(
        selection->select, &choice, &entropy, selection->scratch, users, &count, &energy);
    digest_word((uint64_t)status);
    if (status != TACIT_OK)
        return;
    digest_real(energy);
    digest_word(count);
    digest_bytes(users, count * sizeof *users);
    if (count > 0) {
        struct tacit_select_explanation why;
        tacit_select_explain(selection->select, users, count, selection->scratch, &why);
        uint64_t const words[] = {why.slowest, why.has_runner_up, why.runner_up_leaves,
                                  why.runner_up_comes};
        digest_bytes(words, sizeof words);
        double const terms[] = {why.energy, why.latency_term, why.generalization_term,
                                why.privacy_term, why.runner_up_energy};
        digest_reals(terms, sizeof terms / sizeof *terms);
    }
    for (uint32_t i = 0; i < count; i++)
        latencies[i] = (users[i] + round) % 9 == 8 ? NAN : keys[(users[i] + round / 3) % 4];
    assert_int_equal(tacit_select_observe(selection->select, users, count, latencies, 10),
                     TACIT_OK);
    bool const is_exact = config->budget.is_exact || isinf(config->budget.total);
    if (round % 7 == 6 && is_exact) /* one says what it has spent by its own books */
        tacit_select_report(selection->select, round % config->user_count,
                            tacit_rng_below(rng, 5) * 1234567890u);
    digest_selection(selection, config->user_count);
}

static bool is_state(const void *state, size_t size, void *config)
{
    return tacit_select_check(state, size, config) == TACIT_OK;
}

TEST(every_kind_plays)
{
    static const uint32_t user_counts[] = {1, 2, 5, 7, 64, 65, 70};
    static const double given[] = {0.5, 0.25, 0.125, 2};
    uint64_t sizes[128];
    for (uint64_t i = 0; i < 128; i++)
        sizes[i] = 1 + i * i % 7;
    for (uint32_t kind = 0; kind < 7u * 2u * 3u * 3u; kind++) {
        struct tacit_select_config config = usual_config();
        config.user_count = user_counts[kind % 7];
        config.users_per_round = kind / 7 % 2 == 0 ? 1 + config.user_count / 3 : config.user_count;
        config.beta = kind % 2 == 0 ? 2 : 1.5;
        config.zeta = kind % 4 == 0 ? 0.5 : 1;
        config.budget =
            (struct tacit_select_budget){.kind = (enum tacit_select_budget_kind)(kind / 14 % 3),
                                         .is_exact = kind / 42 == 0,
                                         .total = kind / 42 == 2 ? (double)INFINITY : 4,
                                         .eta = 0.3,
                                         .participations = 4,
                                         .given = given};
        struct selection selection = selection_new(&config, kind % 3 == 0 ? NULL : sizes);
        struct tacit_rng rng = tacit_rng_stream(9, kind, 0, 1);
        for (uint32_t round = 0; round < 33; round++)
            if (round % 8 != TACIT_SELECTOR_BRUTE || config.user_count < 8)
                play_round(&selection, &config, kind, round, &rng);
        check_guard(selection.select, selection.size);
        check_guard(selection.scratch, tacit_select_choice_size(config.user_count));
        damage_all(selection.select, selection.size, is_state, &config);
    }
}
