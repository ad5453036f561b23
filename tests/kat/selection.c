/* Known answers of selection: where the walks of the annealings end, whom each selector takes round
 * after round, what is kept of it. A change here moves every run of the family. */
#include "../support/testing.h"
#include <math.h>
#include "tacit/commit.h"
#include "tacit/select.h"
#include "../../src/proto/select/internal.h"

#define USERS_MAX 200u
#define GUARD 512u
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static struct tacit_rng stream(uint32_t run, uint32_t agent)
{
    return tacit_rng_stream(20261122, run, agent, TACIT_PURPOSE_OF_FAMILY(5, 300));
}

/* Memory of just so many bytes; whoever writes behind it is found out when it is freed. */
static void *guarded_new(size_t size)
{
    unsigned char *const bytes = testing_calloc(1, size + GUARD);
    memset(bytes + size, 0xa5, GUARD);
    return bytes;
}

static void guarded_free(void *memory, size_t size)
{
    unsigned char const *const bytes = memory;
    for (size_t i = 0; i < GUARD; i++)
        assert_int_equal(bytes[size + i], 0xa5);
    testing_free(memory);
}

static void expect_digest(struct tacit_sha256 *sha, const char *expected)
{
    uint8_t digest[TACIT_SHA256_BYTES];
    char text[17];
    tacit_sha256_final(sha, digest);
    for (size_t i = 0; i < 8; i++)
        (void)snprintf(text + 2 * i, 3, "%02x", digest[i]);
    assert_string_equal(text, expected);
}

struct columns {
    double ucb[USERS_MAX];
    double g[USERS_MAX];
    double p[USERS_MAX];
    double weight[USERS_MAX];
};

static struct tacit_select_scores draw(struct columns *columns, uint32_t users, uint32_t m,
                                       struct tacit_rng *rng)
{
    for (uint32_t k = 0; k < users; k++) {
        columns->ucb[k] = tacit_rng_uniform(rng);
        columns->g[k] = tacit_rng_uniform(rng) - 0.5;
        columns->p[k] = tacit_rng_uniform(rng);
        columns->weight[k] = (columns->g[k] + columns->p[k]) / m;
    }
    return (struct tacit_select_scores){columns->ucb, columns->g, columns->p, columns->weight};
}

static void walk(const struct tacit_select_annealing *annealing, uint32_t users, uint32_t m,
                 struct tacit_sha256 *sha)
{
    struct tacit_select_config const config = {.alpha = 1, .gamma = 1};
    size_t const size = tacit_select_scratch_size(users);
    for (uint32_t run = 0; run < 10; run++) {
        struct tacit_rng rng = stream(run, users);
        struct columns columns;
        struct tacit_select_scores const scores = draw(&columns, users, m, &rng);
        struct tacit_entropy const entropy = tacit_rng_entropy(&rng);
        void *const memory = guarded_new(size);
        uint32_t chosen[USERS_MAX];
        double energy;
        assert_int_equal(tacit_select_anneal(&config, annealing, &scores, users, m, &entropy,
                                             memory, chosen, &energy),
                         TACIT_OK);
        assert_true(energy == tacit_select_energy(columns.ucb, columns.weight, chosen, m));
        tacit_sha256_update(sha, chosen, m * sizeof chosen[0]);
        guarded_free(memory, size);
    }
}

/* By insertion or by digits: an order is of its users, and nothing behind it is written. */
TEST(orders_end_with_their_last_user)
{
    for (uint32_t users = 1; users <= USERS_MAX; users++) {
        struct tacit_rng rng = stream(2, users);
        size_t const order_bytes = users * sizeof(uint32_t);
        size_t const size = tacit_select_scratch_size(users);
        double values[USERS_MAX];
        for (uint32_t user = 0; user < users; user++)
            values[user] = floor(8 * tacit_rng_uniform(&rng)) - 4;
        uint32_t *const order = guarded_new(order_bytes);
        void *const memory = guarded_new(size);
        struct select_scratch scratch = select_scratch_of(memory, users);
        select_sort(values, users, &scratch, order);
        for (uint32_t i = 1; i < users; i++)
            assert_true(values[order[i - 1]] < values[order[i]] ||
                        (values[order[i - 1]] == values[order[i]] && order[i - 1] < order[i]));
        guarded_free(memory, size);
        guarded_free(order, order_bytes);
    }
}

/* Few steps: most walks are still on their way. */
TEST(annealings_end_where_they_did)
{
    static const struct {
        struct tacit_select_annealing annealing;
        uint32_t users;
        uint32_t m;
        const char *digest;
    } cases[] = {
        {{.kappa = 1, .iterations = 20}, 12, 4, "bc1bde81a70a180b"},
        {{.kappa = 5, .iterations = 100}, 60, 9, "3af2abd310c82750"},
        {{.kappa = 5, .iterations = 100}, 200, 15, "563eea7b393de899"},
        {{.kappa = 5, .iterations = 100, .keep_last = true}, 60, 9, "53f553829f920e1f"},
        {{.kappa = 5, .iterations = 100, .sign_as_printed = true}, 60, 9, "ca540827333e33d5"},
        {{.kappa = 5, .iterations = 100, .is_vanilla = true}, 60, 9, "ee245f1897c81856"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct tacit_sha256 sha = tacit_sha256_init();
        walk(&cases[i].annealing, cases[i].users, cases[i].m, &sha);
        expect_digest(&sha, cases[i].digest);
    }
}

static struct tacit_select_config rounds_of(uint32_t users, uint32_t m)
{
    return (struct tacit_select_config){
        .user_count = users,
        .users_per_round = m,
        .alpha = 3,
        .beta = 1.5,
        .gamma = 5,
        .zeta = 2,
        .latency_min = 0.05,
        .budget = {.kind = TACIT_SELECT_GEOMETRIC, .is_exact = true, .total = 4, .eta = 0.1}};
}

struct play {
    struct tacit_select_config config;
    struct tacit_select *select;
    void *memory;
    size_t size;
    size_t memory_size;
    struct tacit_rng rng;
    uint32_t users[USERS_MAX];
    uint32_t count;
};

static void play_begin(struct play *play, const struct tacit_select_config *config)
{
    uint64_t sizes[USERS_MAX];
    *play = (struct play){.config = *config,
                          .size = tacit_select_size(config),
                          .memory_size = tacit_select_choice_size(config->user_count),
                          .rng = stream(0, 1000)};
    for (uint32_t user = 0; user < config->user_count; user++)
        sizes[user] = 1 + (user * 37u) % 50u;
    play->select = guarded_new(play->size);
    play->memory = guarded_new(play->memory_size);
    assert_int_equal(tacit_select_init(play->select, config, sizes), TACIT_OK);
}

/* One round; the latencies are those of the users. */
static double play_round(struct play *play, enum tacit_selector selector)
{
    double expected[USERS_MAX];
    double latencies[USERS_MAX];
    double energy;
    for (uint32_t user = 0; user < play->config.user_count; user++)
        expected[user] = 0.05 / (0.05 * (1 + user % 7u));
    struct tacit_select_choice const choice = {
        .selector = selector, .annealing = {.kappa = 1, .iterations = 30}, .expected = expected};
    struct tacit_entropy const entropy = tacit_rng_entropy(&play->rng);
    assert_int_equal(tacit_select_choose(play->select, &choice, &entropy, play->memory, play->users,
                                         &play->count, &energy),
                     TACIT_OK);
    for (uint32_t i = 0; i < play->count; i++)
        latencies[i] = 0.05 * (1 + play->users[i] % 7u);
    assert_int_equal(tacit_select_observe(play->select, play->users, play->count, latencies, 1),
                     TACIT_OK);
    return energy;
}

static void play_end(struct play *play)
{
    guarded_free(play->select, play->size);
    guarded_free(play->memory, play->memory_size);
}

TEST(selectors_take_whom_they_took)
{
    static const struct {
        enum tacit_selector selector;
        const char *digest;
    } cases[] = {
        {TACIT_SELECTOR_EXACT, "bdea3340fc09048a"},
        {TACIT_SELECTOR_ANNEALING, "473848aa7df7880b"},
        {TACIT_SELECTOR_BRUTE, "bdea3340fc09048a"},
        {TACIT_SELECTOR_RANDOM, "e714a3120eec3eb2"},
        {TACIT_SELECTOR_CLUSTERED, "d139e5a392fe50a6"},
        {TACIT_SELECTOR_GENIE, "3eb36dac8e34dbca"},
        {TACIT_SELECTOR_FASTEST, "9add496771d1cd60"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct tacit_select_config const config = rounds_of(12, 3);
        struct tacit_sha256 sha = tacit_sha256_init();
        struct play play;
        play_begin(&play, &config);
        for (uint32_t round = 0; round < 60; round++) {
            (void)play_round(&play, cases[i].selector);
            tacit_sha256_update(&sha, play.users, play.count * sizeof play.users[0]);
        }
        for (uint32_t user = 0; user < config.user_count; user++) {
            uint64_t const spent = tacit_select_spent_nano(play.select, user);
            tacit_sha256_update(&sha, &spent, sizeof spent);
        }
        play_end(&play);
        expect_digest(&sha, cases[i].digest);
    }
}

/* Where trying every set is out of the question the exact search still answers, and where users are
 * left that nobody has seen, both take these by their weights. */
TEST(brute_force_is_asked_for_or_not_done)
{
    struct tacit_select_config const many =
        rounds_of(USERS_MAX, 70); /* above what brute force can */
    struct play play;
    play_begin(&play, &many);
    for (uint32_t round = 0; round < 4; round++)
        assert_true(play_round(&play, TACIT_SELECTOR_EXACT) > -INFINITY);
    assert_true(play_round(&play, TACIT_SELECTOR_EXACT) < INFINITY);
    play_end(&play);
    struct tacit_select_config const few = rounds_of(12, 3);
    struct play exact;
    struct play brute;
    play_begin(&exact, &few);
    play_begin(&brute, &few);
    for (uint32_t round = 0; round < 4; round++) {
        (void)play_round(&exact, TACIT_SELECTOR_EXACT);
        (void)play_round(&brute, TACIT_SELECTOR_BRUTE);
        assert_int_equal(exact.count, brute.count);
        assert_memory_equal(exact.users, brute.users, exact.count * sizeof exact.users[0]);
    }
    play_end(&exact);
    play_end(&brute);
}
