/* Decisions: the law of the random order, exact accounting against a naive model under random
 * sequences with restarts, and each rule by itself. False-alarm rate of a statistical test: 1e-6;
 * seeds are fixed. */
#include "../support/testing.h"
#include "../../src/live/api/decisions.h"
#include "../../src/live/daemon/deadlines.h"
#include "../../src/live/daemon/state_clock.h"
#include "../../src/live/api/id_table.h"
#include "../../src/live/api/pull_tree.h"
#include "../support/gof.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define P_MIN 1e-6
#define ARMS 5u
#define DEADLINE_MS 100u
#define REMEMBER_MS 300u
#define MISSING_VALUE 7
#define NOW_MS 1000u

/* Salts that a test can foresee: 1, 2, 3, .., as the numbers are. */
#define ID(number_)                                                                                \
    (struct live_decision_id)                                                                      \
    {                                                                                              \
        .number = (number_), .salt = (number_)                                                     \
    }

static enum tacit_status count_up(void *context, void *bytes, size_t size)
{
    uint64_t *const last = context;
    assert_int_equal(size, sizeof *last);
    ++*last;
    memcpy(bytes, last, size);
    return TACIT_OK;
}

/* ---- A test's bench: decisions, and what the core says -------------------------------------- */

struct bench {
    struct live_decisions *decisions;
    struct live_decisions_config config;
    struct tacit_rng rng;
    bool entropy_fails;
    uint64_t fills; /* of the entropy */
    struct tacit_entropy entropy;
    uint64_t last_id;
    uint64_t active[1];
    uint32_t ranking[ARMS];
    struct live_fallback fallback;
    uint64_t now_ms;
};
static struct bench bench;

static enum tacit_status fill(void *context, void *bytes, size_t size)
{
    bench.fills++;
    if (bench.entropy_fails)
        return TACIT_ENTROPY;
    struct tacit_entropy const inner = tacit_rng_entropy(&bench.rng);
    return inner.fill(inner.context, bytes, size);
}

/* Anew, as bench.config says. */
static void bench_restart(void)
{
    live_decisions_free(bench.decisions);
    bench.decisions = live_decisions_new(&bench.config);
    assert_non_null(bench.decisions);
}

static int bench_open(void **state)
{
    bench = (struct bench){
        .config = {.arm_count = ARMS,
                   .open_max = 100,
                   .wait_ms = DEADLINE_MS,
                   .wait_max_ms = DEADLINE_MS,
                   .remember_ms = REMEMBER_MS,
                   .salts = {.fill = count_up, .context = &bench.last_id}},
        .rng = tacit_rng_stream(23, 1, 0, TACIT_PURPOSE_SELECTION),
        .entropy = {.fill = fill},
        .ranking = {3, 1, 0, 2, 4},
        .fallback = {.active = bench.active, .ranking = bench.ranking, .count = ARMS},
        .now_ms = NOW_MS};
    tacit_bits_fill(bench.active, ARMS);
    bench_restart();
    return 0;
}

static int bench_close(void **state)
{
    live_decisions_free(bench.decisions);
    return 0;
}

#define BENCH_TEST(name) TEST_WITH(name, bench_open, bench_close)

/* plan: one count an arm. */
static void plan_counts(const uint64_t counts[ARMS])
{
    struct tacit_pull_block plan[ARMS];
    uint32_t count = 0;
    for (uint32_t arm = 0; arm < ARMS; arm++) {
        if (counts[arm] > 0)
            plan[count++] = (struct tacit_pull_block){.arm = arm, .count = counts[arm]};
    }
    live_decisions_set_plan(bench.decisions, plan, count, NULL, NULL);
}

static enum tacit_status decide(const struct live_decision_request *request,
                                struct live_decision_answer *answer)
{
    struct live_fallback const bare = {.is_committed = bench.fallback.is_committed,
                                       .is_early = bench.fallback.is_early};
    bool const has_pull = live_decisions_has_pull(bench.decisions, request);
    bool const needs_ranking = request->unit != NULL || !has_pull;
    enum tacit_status const status =
        live_decisions_decide(bench.decisions, request, needs_ranking ? &bench.fallback : &bare,
                              bench.now_ms, &bench.entropy, answer);
    if (status == TACIT_OK && answer->is_new && request->unit == NULL && !request->is_chosen)
        assert_int_equal(has_pull, answer->row.kind == LIVE_DECISION_PLANNED);
    return status;
}

static struct live_decision_answer decided(const char *key, const char *unit)
{
    struct live_decision_request const request = {.key = key, .unit = unit};
    struct live_decision_answer answer;
    assert_int_equal(decide(&request, &answer), TACIT_OK);
    return answer;
}

static struct live_decision_answer decided_without(const char *unit, uint64_t unavailable)
{
    struct live_decision_request const request = {.unit = unit, .unavailable = &unavailable};
    struct live_decision_answer answer;
    assert_int_equal(decide(&request, &answer), TACIT_OK);
    return answer;
}

static enum live_reward_answer rewarded(uint64_t id)
{
    return live_decisions_reward(bench.decisions, ID(id), 1, bench.now_ms).answer;
}

static void expire_at(uint64_t now_ms)
{
    bench.now_ms = now_ms;
    live_decisions_expire(bench.decisions, now_ms, NULL, NULL);
}

static struct live_decisions_view view_of(void)
{
    struct live_decisions_view view;
    live_decisions_view(bench.decisions, &view);
    return view;
}

/* ---- The law of the order -------------------------------------------------------------------- */

/* The orders of a plan {0: 2, 1: 1, 2: 1} are its 12 words; drawing pulls equally likely makes each
 * word equally likely. */
BENCH_TEST(every_order_of_a_plan_is_equally_likely)
{
    enum { TRIALS = 60000, WORDS = 81 };
    static uint64_t observed[WORDS];
    bench.config.remember_ms = 0;
    bench_restart();
    for (uint32_t trial = 0; trial < TRIALS; trial++) {
        plan_counts((uint64_t[ARMS]){2, 1, 1});
        uint32_t word = 0;
        for (uint32_t i = 0; i < 4; i++) {
            struct live_decision_answer const answer = decided(NULL, NULL);
            assert_int_equal(answer.row.kind, LIVE_DECISION_PLANNED);
            word = word * 3 + answer.row.arm;
            assert_int_equal(rewarded(answer.row.number), LIVE_REWARD_ACCEPTED);
        }
        observed[word]++;
        expire_at(bench.now_ms);
    }
    uint64_t seen[WORDS];
    double expected[WORDS];
    size_t words = 0;
    for (uint32_t word = 0; word < WORDS; word++) {
        if (observed[word] > 0) {
            seen[words] = observed[word];
            expected[words++] = TRIALS / 12.0;
        }
    }
    assert_int_equal(words, 12);
    assert_true(gof_chi_square_p(seen, expected, words) > P_MIN);
}

BENCH_TEST(arms_are_drawn_in_proportion_to_their_unserved_pulls)
{
    enum { TRIALS = 200000 };
    static const uint64_t counts[ARMS] = {3, 1, 0, 70, 26};
    bench.config.remember_ms = 0;
    bench.config.wait_ms = 1;
    bench.config.wait_max_ms = 1;
    for (uint64_t without = 0; without < 16; without += 5) {
        bench_restart();
        plan_counts(counts);
        uint64_t observed[ARMS] = {0};
        for (uint32_t trial = 0; trial < TRIALS; trial++) {
            observed[decided_without(NULL, without).row.arm]++;
            expire_at(bench.now_ms + 1); /* the pull comes back */
        }
        double expected[ARMS];
        double total = 0;
        for (uint32_t arm = 0; arm < ARMS; arm++) {
            expected[arm] = tacit_bits_has(&without, arm) ? 0 : (double)counts[arm];
            total += expected[arm];
        }
        for (uint32_t arm = 0; arm < ARMS; arm++)
            expected[arm] *= TRIALS / total;
        assert_true(gof_chi_square_p(observed, expected, ARMS) > P_MIN);
    }
}

/* Every pull number of a row of pulls, with arms left out, has the owner that counting by hand
 * finds. */
TEST(a_pull_tree_agrees_with_counting)
{
    struct tacit_rng rng = tacit_rng_stream(5, 0, 0, TACIT_PURPOSE_SELECTION);
    for (uint32_t arms = 1; arms <= 130; arms++) {
        struct live_pull_tree tree;
        assert_true(live_pull_tree_init(&tree, arms));
        uint64_t without[3] = {0};
        for (uint32_t i = 0; i < 3 * arms; i++)
            live_pull_tree_set(&tree, (uint32_t)tacit_rng_below(&rng, arms),
                               tacit_rng_below(&rng, 4));
        for (uint32_t arm = 0; arm < arms; arm++) {
            if (tacit_rng_below(&rng, 3) == 0)
                tacit_bits_add(without, arm);
        }
        uint64_t pull = 0;
        for (uint32_t arm = 0; arm < arms; arm++) {
            for (uint64_t i = 0; !tacit_bits_has(without, arm) && i < tree.counts[arm]; i++)
                assert_int_equal(live_pull_tree_owner(&tree, without, pull++), arm);
        }
        assert_int_equal(live_pull_tree_total(&tree, without), pull);
        pull = 0;
        for (uint32_t arm = 0; arm < arms; arm++) {
            for (uint64_t i = 0; i < tree.counts[arm]; i++)
                assert_int_equal(live_pull_tree_owner(&tree, NULL, pull++), arm);
        }
        assert_int_equal(live_pull_tree_total(&tree, NULL), pull);
        live_pull_tree_free(&tree);
    }
}

/* ---- The helpers by themselves --------------------------------------------------------------- */

static bool same_number(const void *item, const void *wanted)
{
    const uint32_t *const number = item;
    const uint32_t *const other = wanted;
    return *number == *other;
}

/* Few different hashes: long runs of slots, which wrap around and close up when items leave. */
TEST(a_table_finds_exactly_what_is_in_it)
{
    enum { NUMBERS = 300 };
    static uint32_t numbers[NUMBERS];
    bool is_in[NUMBERS] = {false};
    struct live_table table = {0};
    struct tacit_rng rng = tacit_rng_stream(6, 0, 0, TACIT_PURPOSE_SELECTION);
    for (uint32_t i = 0; i < NUMBERS; i++)
        numbers[i] = i;
    for (uint32_t round = 0; round < 20000; round++) {
        uint32_t const i = (uint32_t)tacit_rng_below(&rng, NUMBERS);
        uint64_t const hash = i % 7 == 0 ? UINT64_MAX - i % 3 : live_hash_u64(1, i);
        assert_true(live_table_reserve(&table));
        if (is_in[i])
            live_table_remove(&table, hash, &numbers[i]);
        else
            live_table_add(&table, hash, &numbers[i]);
        is_in[i] = !is_in[i];
        for (uint32_t j = round % 10; j < NUMBERS; j += 10) {
            uint64_t const other = j % 7 == 0 ? UINT64_MAX - j % 3 : live_hash_u64(1, j);
            assert_ptr_equal(live_table_find(&table, other, same_number, &j),
                             is_in[j] ? &numbers[j] : NULL);
        }
    }
    live_table_free(&table, NULL);
}

TEST(hashes_tell_texts_apart)
{
    static const char *const texts[] = {"a",
                                        "b",
                                        "ab",
                                        "ba",
                                        "12345678",
                                        "123456789",
                                        "12345678a",
                                        "aaaaaaaaaaaaaaaa",
                                        "aaaaaaaaaaaaaaab"};
    for (size_t i = 0; i < COUNT(texts); i++) {
        for (size_t j = 0; j < i; j++)
            assert_true(live_hash_text(1, texts[i]) != live_hash_text(1, texts[j]));
        assert_true(live_hash_text(1, texts[i]) != live_hash_text(2, texts[i]));
    }
}

TEST(deadlines_come_in_order_also_after_moves)
{
    enum { ITEMS = 500 };
    static struct live_deadline items[ITEMS];
    struct live_deadlines queue = {0};
    struct tacit_rng rng = tacit_rng_stream(7, 0, 0, TACIT_PURPOSE_SELECTION);
    for (uint32_t i = 0; i < ITEMS; i++) {
        items[i] = (struct live_deadline){.when_ms = tacit_rng_below(&rng, 100), .id = i};
        assert_true(live_deadlines_reserve(&queue));
        live_deadlines_add(&queue, &items[i]);
    }
    for (uint32_t i = 0; i < 2 * ITEMS; i++)
        live_deadlines_move(&queue, &items[tacit_rng_below(&rng, ITEMS)],
                            tacit_rng_below(&rng, 100));
    struct live_deadline last = {0};
    for (uint32_t i = 0; i < ITEMS; i++) {
        const struct live_deadline *const first = live_deadlines_first(&queue);
        assert_true(i == 0 || last.when_ms < first->when_ms ||
                    (last.when_ms == first->when_ms && last.id < first->id));
        last = *first;
        live_deadlines_drop_first(&queue);
    }
    assert_null(live_deadlines_first(&queue));
    live_deadlines_free(&queue);
}

/* ---- Rules, one at a time -------------------------------------------------------------------- */

BENCH_TEST(many_expire_in_steps)
{
    bench.config.open_max = 2 * LIVE_EXPIRED_MAX + 1;
    bench_restart();
    for (uint32_t i = 0; i < bench.config.open_max; i++)
        (void)decided(NULL, NULL);
    uint64_t const then_ms = NOW_MS + DEADLINE_MS;
    assert_false(live_decisions_expire(bench.decisions, then_ms, NULL, NULL));
    assert_int_equal(view_of().open_other, LIVE_EXPIRED_MAX + 1);
    assert_false(live_decisions_expire(bench.decisions, then_ms, NULL, NULL));
    assert_true(live_decisions_expire(bench.decisions, then_ms, NULL, NULL));
    assert_int_equal(view_of().open_other, 0);
}

BENCH_TEST(beyond_the_limit_the_unit_that_was_set_first_is_forgotten)
{
    bench.config.units_max = 2;
    bench_restart();
    assert_int_equal(live_decisions_restore_unit(bench.decisions, "ann", 1), TACIT_OK);
    assert_int_equal(live_decisions_restore_unit(bench.decisions, "bob", 1), TACIT_OK);
    assert_null(decided(NULL, "ann").unit_forgotten); /* to ask again does not renew it */
    struct live_decision_answer answer = decided(NULL, "cat");
    assert_true(answer.unit_is_new);
    assert_string_equal(answer.unit_forgotten, "ann");
    assert_null(decided(NULL, NULL).unit_forgotten);
    assert_false(decided(NULL, "bob").unit_is_new);
    tacit_bits_remove(bench.active, 1); /* bob gets another arm: that renews it */
    answer = decided(NULL, "bob");
    assert_true(answer.unit_is_new);
    assert_null(answer.unit_forgotten);
    assert_string_equal(decided(NULL, "ann").unit_forgotten, "cat");
}

BENCH_TEST(a_lowered_limit_of_units_lets_them_grow_no_further)
{
    bench.config.units_max = 1;
    bench_restart();
    assert_int_equal(live_decisions_restore_unit(bench.decisions, "ann", 1), TACIT_OK);
    assert_int_equal(live_decisions_restore_unit(bench.decisions, "bob", 1), TACIT_OK);
    assert_string_equal(decided(NULL, "cat").unit_forgotten, "ann");
    assert_string_equal(decided(NULL, "dan").unit_forgotten, "bob");
}

BENCH_TEST(keys_and_units_have_1_to_128_bytes)
{
    char text[LIVE_KEY_BYTES_MAX + 2];
    memset(text, 'x', sizeof text);
    text[LIVE_KEY_BYTES_MAX + 1] = '\0';
    struct live_decision_request const bad[] = {
        {.key = text}, {.unit = text}, {.key = ""}, {.unit = ""}};
    struct live_decision_answer answer;
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_int_equal(decide(&bad[i], &answer), TACIT_INVALID);
    assert_int_equal(view_of().next_number, 1);
    text[LIVE_KEY_BYTES_MAX] = '\0';
    answer = decided(text, text);
    assert_string_equal(answer.row.key, text);
    assert_string_equal(answer.row.unit, text);
}

BENCH_TEST(restored_rows_that_contradict_are_refused)
{
    struct live_decision_row const good = {.number = 7,
                                           .salt = 7,
                                           .arm = 4,
                                           .kind = 2,
                                           .state = 2,
                                           .deadline_ms = 9,
                                           .key = "k",
                                           .unit = "u"};
    assert_int_equal(live_decisions_restore(bench.decisions, &good), TACIT_OK);
    assert_int_equal(view_of().next_number, 8);
    struct live_decision_row bad[11];
    for (size_t i = 0; i < COUNT(bad); i++)
        bad[i] = (struct live_decision_row){.number = 8, .salt = 8, .deadline_ms = 9};
    char text[LIVE_KEY_BYTES_MAX + 2];
    memset(text, 'x', sizeof text);
    text[LIVE_KEY_BYTES_MAX + 1] = '\0';
    bad[0].number = 7;
    bad[1].arm = ARMS;
    bad[2].kind = LIVE_DECISION_EARLY + 1;
    bad[3].state = 5;
    bad[4].key = "k";
    bad[5].key = "";
    bad[6].unit = text;
    bad[7].number = UINT64_MAX;
    bad[8].value = 1;                  /* of a reward that is not here */
    bad[9].state = LIVE_DECISION_HELD; /* for a place that no plan has */
    bad[9].kind = LIVE_DECISION_EXPLOIT;
    bad[10].number = 0;
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_int_equal(live_decisions_restore(bench.decisions, &bad[i]), TACIT_MALFORMED);
    assert_int_equal(live_decisions_restore_unit(bench.decisions, "u", 1), TACIT_OK);
    assert_int_equal(live_decisions_restore_unit(bench.decisions, "u", 1), TACIT_MALFORMED);
    assert_int_equal(live_decisions_restore_unit(bench.decisions, "v", ARMS), TACIT_MALFORMED);
    assert_int_equal(live_decisions_restore_unit(bench.decisions, "", 1), TACIT_MALFORMED);
    assert_int_equal(view_of().next_number, 8);
    live_decisions_set_next_number(bench.decisions, 5); /* never back */
    assert_int_equal(view_of().next_number, 8);
    live_decisions_set_next_number(bench.decisions, 50);
    assert_int_equal(decided(NULL, NULL).row.number, 50);
}

/* Of a plan that is not known yet: there is nothing to serve beyond what is open, nor behind it. */
BENCH_TEST(what_is_restored_before_its_plan_leaves_no_pulls)
{
    struct live_decision_row row = {.salt = 1, .arm = 2, .deadline_ms = NOW_MS + 1};
    for (row.number = 1; row.number <= 2; row.number++)
        assert_int_equal(live_decisions_restore(bench.decisions, &row), TACIT_OK);
    assert_int_equal(view_of().open_planned, 2);
    assert_int_equal(view_of().unserved, 0);
    assert_int_equal(rewarded(1), LIVE_REWARD_ACCEPTED);
    assert_int_equal(view_of().unserved, 0);
    assert_int_equal(decided(NULL, NULL).row.kind, LIVE_DECISION_EXPLOIT);
}

/* Whoever has no room for a reward gets no place, whatever is free, and nothing of it is kept. */
BENCH_TEST(what_enters_nothing_is_beside_the_plan)
{
    static const uint8_t kept[] = {1, 2};
    struct live_decision_request const requests[] = {
        {.enters_nothing = true},
        {.enters_nothing = true, .unit = "ann"},
        {.enters_nothing = true, .unit = "ann"}, /* which has its arm now */
        {.enters_nothing = true, .is_chosen = true, .choice = 3, .kept = kept, .kept_size = 2}};
    plan_counts((uint64_t[ARMS]){0, 0, 0, 9});
    for (size_t i = 0; i < COUNT(requests); i++) {
        struct live_decision_answer answer;
        assert_false(live_decisions_has_pull(bench.decisions, &requests[i]));
        assert_int_equal(decide(&requests[i], &answer), TACIT_OK);
        assert_int_equal(answer.row.arm, 3);
        assert_int_equal(answer.row.kind, LIVE_DECISION_EXPLOIT);
        assert_int_equal(answer.row.kept_size, 0);
        assert_null(answer.row.kept);
        assert_false(
            live_decisions_reward(bench.decisions, ID(answer.row.number), 1, NOW_MS).fills);
    }
    assert_int_equal(view_of().unserved, 9);
}

/* ---- Ids, and decisions before any run ------------------------------------------------------- */

/* A number alone says nothing: whoever asks has its salt, too. */
BENCH_TEST(another_salt_is_another_decision)
{
    struct live_decision_row row = decided(NULL, NULL).row;
    bench.last_id = UINT64_MAX - 1; /* all 64 bits are taken */
    assert_true(decided(NULL, NULL).row.salt == UINT64_MAX);
    struct live_decision_id const other = {.number = 1, .salt = 2};
    assert_int_equal(live_decisions_reward(bench.decisions, other, 1, NOW_MS).answer,
                     LIVE_REWARD_UNKNOWN);
    assert_int_equal(live_decisions_close(bench.decisions, other, NOW_MS, &row),
                     LIVE_CLOSE_UNKNOWN);
    assert_int_equal(rewarded(1), LIVE_REWARD_ACCEPTED);
}

BENCH_TEST(without_entropy_nothing_is_decided)
{
    struct live_decision_answer answer;
    struct live_decision_request const request = {.key = "k", .unit = "u"};
    bench.config.salts = bench.entropy;
    bench.entropy_fails = true;
    bench_restart();
    assert_int_equal(decide(&request, &answer), TACIT_ENTROPY);
    assert_int_equal(view_of().next_number, 1);
    assert_int_equal(view_of().open_other, 0);
}

/* 10,000 draws of five arms, chi-squared; then with two arms that cannot be played. */
BENCH_TEST(early_decisions_are_uniform_and_count_nowhere)
{
    bench.config.open_max = 20000;
    bench_restart();
    bench.fallback.is_early = true;
    uint64_t counts[ARMS] = {0};
    for (uint32_t i = 0; i < 10000; i++) {
        struct live_decision_row const row = decided(NULL, NULL).row;
        assert_int_equal(row.kind, LIVE_DECISION_EARLY);
        counts[row.arm]++;
    }
    double const even[ARMS] = {2000, 2000, 2000, 2000, 2000};
    assert_true(gof_chi_square_p(counts, even, ARMS) > P_MIN);
    for (uint32_t i = 0; i < 100; i++) {
        uint32_t const arm = decided_without(NULL, 0x0a).row.arm;
        assert_true(arm == 0 || arm == 2 || arm == 4);
    }
    uint64_t const all = (1u << ARMS) - 1;
    struct live_decision_answer answer;
    struct live_decision_request const request = {.unavailable = &all};
    assert_int_equal(decide(&request, &answer), TACIT_INVALID);
    struct live_reward_outcome const outcome =
        live_decisions_reward(bench.decisions, ID(1), 1, bench.now_ms);
    assert_int_equal(outcome.answer, LIVE_REWARD_ACCEPTED);
    assert_false(outcome.fills);
    assert_int_equal(rewarded(1), LIVE_REWARD_REPEATED);
    /* A plan that comes later does not take them in. */
    plan_counts((uint64_t[ARMS]){1, 1, 1, 1, 1});
    bench.fallback.is_early = false;
    assert_int_equal(view_of().open_planned, 0);
    assert_false(live_decisions_reward(bench.decisions, ID(2), 1, bench.now_ms).fills);
    assert_int_equal(decided(NULL, NULL).row.kind, LIVE_DECISION_PLANNED);
}

/* ---- Rewards that are late ------------------------------------------------------------------- */

BENCH_TEST(a_round_waits_for_rewards_from_when_all_places_are_out)
{
    plan_counts((uint64_t[ARMS]){0, 2});
    uint64_t const first = decided(NULL, NULL).row.number;
    assert_int_equal(view_of().waits_since_ms, UINT64_MAX); /* a place is left to be served */
    bench.now_ms += 5;
    (void)decided(NULL, NULL);
    assert_int_equal(view_of().waits_since_ms, NOW_MS + 5);
    assert_int_equal(live_decisions_oldest_ms(bench.decisions), NOW_MS);
    assert_int_equal(rewarded(first), LIVE_REWARD_ACCEPTED);
    assert_int_equal(live_decisions_oldest_ms(bench.decisions), NOW_MS + 5);
    for (uint32_t i = 1; i <= 3; i++) { /* lost three times: it is one and the same wait */
        expire_at(NOW_MS + 5 + i * DEADLINE_MS);
        assert_int_equal(view_of().unserved, 1);
        assert_int_equal(view_of().waits_since_ms, NOW_MS + 5);
        (void)decided(NULL, NULL);
    }
    assert_int_equal(rewarded(5), LIVE_REWARD_ACCEPTED);
    assert_int_equal(view_of().waits_since_ms, UINT64_MAX);
    assert_int_equal(live_decisions_oldest_ms(bench.decisions), UINT64_MAX);
}

BENCH_TEST(the_share_of_missing_rewards_is_that_of_the_worst_arm)
{
    plan_counts((uint64_t[ARMS]){0, 4});
    uint64_t ids[4];
    struct live_decision_row row;
    for (uint32_t i = 0; i < 4; i++)
        ids[i] = decided(NULL, NULL).row.number;
    assert_true(live_decisions_missed_share(bench.decisions, bench.active, 4) == 0);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(live_decisions_close(bench.decisions, ID(ids[i]), NOW_MS, &row),
                         LIVE_CLOSE_DONE);
    assert_int_equal(rewarded(ids[3]), LIVE_REWARD_ACCEPTED);
    assert_true(live_decisions_missed_share(bench.decisions, bench.active, 4) == 0.75);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(rewarded(decided(NULL, NULL).row.number), LIVE_REWARD_ACCEPTED);
    assert_true(live_decisions_missed_share(bench.decisions, bench.active, 4) == 3.0 / 7);
    live_decisions_restore_missed(bench.decisions, 2, 1); /* of 5: another arm is better off */
    assert_true(live_decisions_missed_share(bench.decisions, bench.active, 4) == 3.0 / 7);
    tacit_bits_remove(bench.active, 1);
    assert_true(live_decisions_missed_share(bench.decisions, bench.active, 4) == 0.2);
}

TEST(the_wait_doubles_when_more_than_one_in_a_hundred_is_late)
{
    for (uint64_t in_time = 0; in_time < 700; in_time += 33) {
        struct live_wait wait = live_wait_init(60, 1000);
        for (uint64_t i = 0; i < in_time; i++)
            live_wait_note_in_time(&wait);
        uint64_t late = 0;
        while (!live_wait_note_late(&wait, 61))
            assert_true(++late < 100);
        late++;
        assert_true(late >= LIVE_WAIT_LATE_MIN);
        assert_true(late * 100 > in_time + late);
        assert_true((late - 1) * 100 <= in_time + late - 1 || late == LIVE_WAIT_LATE_MIN);
        assert_int_equal(wait.wait_ms, 120);
        assert_int_equal(wait.in_time + wait.late, 0);
    }
    struct live_wait wait = live_wait_init(60, 100); /* up to its limit, and not beyond */
    for (uint32_t i = 0; i < 50; i++)
        (void)live_wait_note_late(&wait, 5000);
    assert_int_equal(wait.wait_ms, 100);
    live_wait_restore(&wait, 4000, 1, 2);
    assert_int_equal(wait.wait_ms, 100);
}

/* A thousand rewards that are on their way when the wait is far too short: it grows until they
 * would be in time, and not once for each of them. */
TEST(rewards_that_take_five_waits_are_in_time_after_a_few_doublings)
{
    struct live_wait wait = live_wait_init(60, 86400);
    uint32_t doublings = 0;
    for (uint32_t i = 0; i < 1000; i++)
        doublings += live_wait_note_late(&wait, 300);
    assert_int_equal(doublings, 3);
    assert_int_equal(wait.wait_ms, 480);
}

TEST(a_state_clock_stands_while_nothing_runs_and_asks_no_wall_clock)
{
    uint64_t const boot_us = UINT64_C(5000000000);
    struct live_state_clock clock = live_state_clock_start(0, boot_us);
    assert_int_equal(live_state_clock_read(&clock, boot_us), 0);
    assert_int_equal(live_state_clock_read(&clock, boot_us + 1500000), 1500);
    assert_int_equal(live_state_clock_when_us(&clock, 1500), boot_us + 1500000);
    assert_true(live_state_clock_when_us(&clock, UINT64_MAX) == TACIT_NEVER);
    /* A restart on a machine that has just booted: the monotone clock begins anew, this one does
     * not. */
    clock = live_state_clock_start(1500, 7);
    assert_int_equal(live_state_clock_read(&clock, 7), 1500);
    assert_int_equal(live_state_clock_read(&clock, 1000007), 2500);
    assert_int_equal(live_state_clock_when_us(&clock, 1000), 7);
}

/* ---- Random sequences against a naive model -------------------------------------------------- */

/* Stupid on purpose: lists that are searched from end to end, counts that are counted anew. It is
 * also what a store would hold: rows are entered as they are told. */
#define MODEL_ROWS 4096u
#define MODEL_KEYS 60u
#define MODEL_UNITS 25u
#define MODEL_OPEN_MAX 40u
#define MODEL_CALLERS 2u
#define MODEL_CALLER_MAX 12u
#define MODEL_KEPT 3u /* bytes of what contexts chose */
#define OPERATIONS 100000u

struct model_row {
    bool is_there;
    bool is_handed_over;
    bool is_elsewhere;            /* it is here alone, until a late reward brings it back */
    struct live_decision_row row; /* without texts */
    uint32_t key;                 /* MODEL_KEYS: none */
    uint32_t unit;                /* MODEL_UNITS: none */
    uint32_t caller;              /* MODEL_CALLERS: nobody counts */
    uint8_t kept[MODEL_KEPT];
};

struct model {
    struct tacit_rng rng;
    struct model_row rows[MODEL_ROWS]; /* by id modulo MODEL_ROWS: none lives that long */
    uint64_t lacking[ARMS];
    uint64_t given[ARMS]; /* rewards that planned decisions brought, since the plan came */
    uint64_t plan[ARMS];
    uint32_t unit_arm[MODEL_UNITS]; /* ARMS: not seen */
    uint64_t next_number;
    char keys[MODEL_KEYS + 1][16];
    char units[MODEL_UNITS + 1][16];
    uint64_t opens[MODEL_CALLERS];
    uint64_t kinds[4];
    uint64_t answers[4];
    uint64_t changes[3];
    uint64_t closes[4];
    uint64_t restarts;
    uint64_t overdue;
    uint64_t lost;
    uint64_t taken;    /* out of memory */
    uint64_t returned; /* into it */
    uint64_t missed[ARMS];
};
static struct model model;

static struct model_row *model_row(uint64_t id)
{
    struct model_row *const row = &model.rows[id % MODEL_ROWS];
    return row->is_there && row->row.number == id ? row : NULL;
}

static bool is_open(const struct live_decision_row *row)
{
    return row->state == LIVE_DECISION_OPEN || row->state == LIVE_DECISION_HELD;
}

/* With its texts. */
static struct live_decision_row model_whole(const struct model_row *known)
{
    struct live_decision_row row = known->row;
    row.key = known->key < MODEL_KEYS ? model.keys[known->key] : NULL;
    row.unit = known->unit < MODEL_UNITS ? model.units[known->unit] : NULL;
    row.kept = known->kept;
    return row;
}

static bool model_by_id(void *context, struct live_decision_id id, struct live_decision_row *row)
{
    struct model_row const *const known = model_row(id.number);
    if (known == NULL || !known->is_elsewhere || known->row.salt != id.salt)
        return false;
    *row = model_whole(known);
    return true;
}

static bool model_by_key(void *context, const char *key, struct live_decision_row *row)
{
    for (uint32_t i = 0; i < MODEL_ROWS; i++) {
        struct model_row const *const known = &model.rows[i];
        if (known->is_there && known->is_elsewhere && known->key < MODEL_KEYS &&
            strcmp(model.keys[known->key], key) == 0) {
            *row = model_whole(known);
            return true;
        }
    }
    return false;
}

static uint64_t model_open(uint32_t arm, bool planned)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < MODEL_ROWS; i++) {
        const struct live_decision_row *const row = &model.rows[i].row;
        if (model.rows[i].is_there && is_open(row) &&
            (row->kind == LIVE_DECISION_PLANNED) == planned && (arm == ARMS || row->arm == arm))
            count++;
    }
    return count;
}

static uint64_t model_unserved(uint32_t arm)
{
    uint64_t const open = model_open(arm, true);
    assert_true(open <= model.lacking[arm]);
    return model.lacking[arm] - open;
}

struct listing {
    uint64_t last_id;
    uint32_t count;
};

static bool on_listed(void *context, const struct live_decision_row *row)
{
    struct listing *const listing = context;
    const struct model_row *const known = model_row(row->number);
    assert_non_null(known);
    assert_int_equal(known->row.state, LIVE_DECISION_OPEN);
    assert_true(listing->count == 0 || row->number > listing->last_id); /* oldest first */
    listing->last_id = row->number;
    listing->count++;
    return true;
}

static void model_check(void)
{
    struct live_decisions_view const view = view_of();
    struct listing listing = {0};
    uint64_t opens[MODEL_CALLERS + 1] = {0};
    uint64_t unserved = 0;
    uint64_t expiry_ms = UINT64_MAX;
    uint64_t oldest_ms = UINT64_MAX;
    uint64_t missed = 0;
    uint32_t closed = 0;
    uint32_t waiting = 0;
    for (uint32_t i = 0; i < MODEL_ROWS; i++) {
        struct model_row const *const known = &model.rows[i];
        const struct live_decision_row *const row = &known->row;
        if (!known->is_there || known->is_elsewhere)
            continue;
        if (row->deadline_ms < expiry_ms)
            expiry_ms = row->deadline_ms;
        if (is_open(row) && row->kind == LIVE_DECISION_PLANNED && row->opened_ms < oldest_ms)
            oldest_ms = row->opened_ms;
        closed += !is_open(row) && !known->is_handed_over;
        waiting += row->state == LIVE_DECISION_OPEN;
        opens[known->caller] += is_open(row);
    }
    for (uint32_t arm = 0; arm < ARMS; arm++) {
        unserved += model_unserved(arm);
        assert_true(model_open(arm, true) + model.given[arm] <= model.plan[arm]);
        assert_int_equal(live_decisions_missed(bench.decisions, arm), model.missed[arm]);
        missed += model.missed[arm];
    }
    assert_int_equal(view.next_number, model.next_number);
    assert_int_equal(view.open_planned, model_open(ARMS, true));
    assert_int_equal(view.open_other, model_open(ARMS, false));
    assert_int_equal(view.unserved, unserved);
    assert_int_equal(view.missed_count, missed);
    assert_int_equal(view.next_expiry_ms, expiry_ms);
    assert_memory_equal(opens, model.opens, sizeof model.opens);
    assert_int_equal(live_decisions_closed(bench.decisions), closed);
    assert_true(live_decisions_oldest_ms(bench.decisions) == oldest_ms);
    live_decisions_open(bench.decisions, on_listed, &listing); /* all that waits for a reward */
    assert_int_equal(listing.count, waiting);
}

static struct model_row *model_find_key(uint32_t key)
{
    for (uint32_t i = 0; i < MODEL_ROWS; i++) {
        if (model.rows[i].is_there && model.rows[i].key == key)
            return &model.rows[i];
    }
    return NULL;
}

/* What may be decided? Returns the set of arms, and whether from the plan. Empty: refused. */
static uint64_t model_choices(uint32_t unit, uint64_t without, bool *planned, bool *sets_unit)
{
    const struct live_fallback *const fallback = &bench.fallback;
    uint32_t const kept = unit == MODEL_UNITS ? ARMS : model.unit_arm[unit];
    bool const keeps = kept < ARMS && tacit_bits_has(fallback->active, kept);
    *sets_unit = unit < MODEL_UNITS && !keeps;
    if (keeps && !tacit_bits_has(&without, kept)) {
        *planned = model_unserved(kept) > 0;
        return UINT64_C(1) << kept;
    }
    uint64_t choices = 0;
    for (uint32_t arm = 0; arm < ARMS; arm++) {
        if (!tacit_bits_has(&without, arm) && model_unserved(arm) > 0)
            choices |= UINT64_C(1) << arm;
    }
    *planned = choices != 0;
    for (uint32_t i = 0; i < fallback->count && choices == 0; i++) {
        if (!tacit_bits_has(&without, fallback->ranking[i]))
            choices = UINT64_C(1) << fallback->ranking[i];
    }
    return choices;
}

/* asked: as it was, but its row. */
static void model_take(const struct live_decision_answer *answer, struct model_row asked,
                       enum live_decision_kind kind, bool sets_unit)
{
    const struct live_decision_row *const row = &answer->row;
    assert_true(answer->is_new);
    assert_int_equal(answer->unit_is_new, sets_unit);
    assert_int_equal(row->number, model.next_number++);
    assert_int_equal(row->kind, kind);
    assert_int_equal(row->state, LIVE_DECISION_OPEN);
    assert_int_equal(row->opened_ms, bench.now_ms);
    assert_int_equal(row->deadline_ms, bench.now_ms + DEADLINE_MS);
    struct model_row *const place = &model.rows[row->number % MODEL_ROWS];
    assert_false(place->is_there);
    *place = asked;
    place->is_there = true;
    place->row = *row;
    if (sets_unit)
        model.unit_arm[asked.unit] = row->arm;
    model.kinds[row->kind]++;
}

static void model_decide(void)
{
    bool const has_key = tacit_rng_below(&model.rng, 2) == 0;
    bool const has_unit = tacit_rng_below(&model.rng, 2) == 0;
    uint32_t const key = has_key ? (uint32_t)tacit_rng_below(&model.rng, MODEL_KEYS) : MODEL_KEYS;
    uint32_t const unit =
        has_unit ? (uint32_t)tacit_rng_below(&model.rng, MODEL_UNITS) : MODEL_UNITS;
    uint64_t const without =
        tacit_rng_below(&model.rng, 3) == 0 ? tacit_rng_below(&model.rng, 1u << ARMS) : 0;
    struct model_row const asked = {.key = key,
                                    .unit = unit,
                                    .caller =
                                        (uint32_t)tacit_rng_below(&model.rng, MODEL_CALLERS + 1),
                                    .kept = {1, (uint8_t)model.next_number, 250}};
    bool const is_chosen = tacit_rng_below(&model.rng, 10) == 0;
    uint64_t *const opens = asked.caller < MODEL_CALLERS ? &model.opens[asked.caller] : NULL;
    bench.entropy_fails = tacit_rng_below(&model.rng, 20) == 0;
    struct live_decision_request const request = {.key = has_key ? model.keys[key] : NULL,
                                                  .unit = has_unit ? model.units[unit] : NULL,
                                                  .unavailable = &without,
                                                  .caller_open = opens,
                                                  .caller_open_max = MODEL_CALLER_MAX,
                                                  .is_chosen = is_chosen,
                                                  .choice = (uint32_t)(model.next_number % ARMS),
                                                  .kept = is_chosen ? asked.kept : NULL,
                                                  .kept_size = is_chosen ? MODEL_KEPT : 0};
    bool const is_full = model_open(ARMS, true) + model_open(ARMS, false) >= MODEL_OPEN_MAX ||
                         (opens != NULL && *opens >= MODEL_CALLER_MAX);
    uint64_t const fills = bench.fills;
    struct live_decision_answer answer;
    enum tacit_status const status = decide(&request, &answer);
    const struct model_row *const known = has_key ? model_find_key(key) : NULL;
    if (known != NULL) {
        assert_int_equal(status, TACIT_OK);
        assert_false(answer.is_new);
        assert_int_equal(answer.row.number, known->row.number);
        assert_int_equal(answer.row.arm, known->row.arm);
        assert_int_equal(answer.row.state, known->row.state);
        assert_false(answer.unit_is_new);
        return;
    }
    if (is_full) {
        assert_int_equal(status, TACIT_MEMORY);
        return;
    }
    if (is_chosen) {
        assert_int_equal(status, TACIT_OK);
        assert_int_equal(answer.row.arm, request.choice);
        model_take(&answer, asked, LIVE_DECISION_CHOSEN, false);
        return;
    }
    bool planned;
    bool sets_unit;
    uint64_t const choices = model_choices(unit, without, &planned, &sets_unit);
    if (choices == 0) {
        assert_int_equal(status, TACIT_INVALID);
    } else if (bench.entropy_fails && bench.fills > fills) {
        assert_int_equal(status, TACIT_ENTROPY);
    } else {
        assert_int_equal(status, TACIT_OK);
        assert_true(tacit_bits_has(&choices, answer.row.arm));
        model_take(&answer, asked,
                   planned                       ? LIVE_DECISION_PLANNED
                   : bench.fallback.is_committed ? LIVE_DECISION_COMMITTED
                                                 : LIVE_DECISION_EXPLOIT,
                   sets_unit);
    }
}

static void assert_texts(const struct model_row *known, const struct live_decision_row *row)
{
    if (row->key == NULL)
        assert_int_equal(known->key, MODEL_KEYS);
    else
        assert_string_equal(row->key, model.keys[known->key]);
    if (row->unit == NULL)
        assert_int_equal(known->unit, MODEL_UNITS);
    else
        assert_string_equal(row->unit, model.units[known->unit]);
    assert_int_equal(row->kept_size, row->kind == LIVE_DECISION_CHOSEN ? MODEL_KEPT : 0);
    if (row->kept_size > 0)
        assert_memory_equal(row->kept, known->kept, MODEL_KEPT);
}

/* Of the latest ones, or not given yet. */
static uint64_t model_draw_id(void)
{
    uint64_t const back = tacit_rng_below(&model.rng, 200);
    return model.next_number > back ? model.next_number - back : 0;
}

static void model_reward(void)
{
    uint64_t const id = model_draw_id();
    double const value = (double)(1 + tacit_rng_below(&model.rng, 1000));
    struct model_row *const known = model_row(id);
    bool const is_overdue = known != NULL && known->row.state == LIVE_DECISION_OPEN &&
                            tacit_rng_below(&model.rng, 20) == 0;
    struct live_reward_outcome const outcome = live_decisions_reward(
        bench.decisions, ID(id), value, is_overdue ? known->row.deadline_ms : bench.now_ms);
    const struct live_decision_row *const row = &outcome.row;
    if (is_overdue) { /* late, though nobody has looked at the clock yet */
        assert_int_equal(outcome.answer, LIVE_REWARD_LATE);
        assert_false(outcome.is_changed || outcome.fills);
        model.overdue++;
        return;
    }
    model.answers[outcome.answer]++;
    if (known == NULL) {
        assert_int_equal(outcome.answer, LIVE_REWARD_UNKNOWN);
        return;
    }
    bool const is_planned = known->row.kind == LIVE_DECISION_PLANNED;
    bool const settles = bench.config.settles;
    bool const was_open = known->row.state == LIVE_DECISION_OPEN;
    assert_int_equal(outcome.is_changed, was_open || known->row.state == LIVE_DECISION_EXPIRED);
    assert_int_equal(outcome.fills, was_open && (known->row.kind == LIVE_DECISION_CHOSEN ||
                                                 (is_planned && !settles)));
    assert_false(outcome.wait_grew); /* here it is as long as it may be */
    if (was_open) {
        assert_int_equal(outcome.answer, LIVE_REWARD_ACCEPTED);
        assert_int_equal(row->state,
                         is_planned && settles ? LIVE_DECISION_HELD : LIVE_DECISION_REWARDED);
        assert_int_equal(row->value, is_planned && settles ? value : 0);
        assert_int_equal(row->deadline_ms, is_planned && settles ? known->row.deadline_ms
                                                                 : bench.now_ms + REMEMBER_MS);
    } else if (known->row.state == LIVE_DECISION_EXPIRED ||
               known->row.state == LIVE_DECISION_LATE) {
        assert_int_equal(outcome.answer, LIVE_REWARD_LATE);
        assert_int_equal(row->state, LIVE_DECISION_LATE);
    } else {
        assert_int_equal(outcome.answer, LIVE_REWARD_REPEATED);
    }
    assert_int_equal(row->arm, known->row.arm);
    assert_int_equal(row->kind, known->row.kind);
    assert_texts(known, row);
    if (outcome.fills && is_planned) {
        model.lacking[row->arm]--;
        model.given[row->arm]++;
    }
    if (outcome.is_changed) { /* what is elsewhere of it is old */
        model.returned += known->is_elsewhere;
        known->is_handed_over = known->is_elsewhere = false;
    }
    known->row = *row;
}

static void model_close(void)
{
    uint64_t const id = model_draw_id();
    struct live_decision_row row;
    enum live_close_answer const answer =
        live_decisions_close(bench.decisions, ID(id), bench.now_ms, &row);
    struct model_row *const known = model_row(id);
    model.closes[answer]++;
    if (known == NULL) {
        assert_int_equal(answer, LIVE_CLOSE_UNKNOWN);
    } else if (known->row.state == LIVE_DECISION_OPEN) {
        assert_int_equal(answer, LIVE_CLOSE_DONE);
        assert_int_equal(row.state, LIVE_DECISION_EXPIRED);
        assert_int_equal(row.deadline_ms, bench.now_ms + REMEMBER_MS);
        model.missed[row.arm] += row.kind == LIVE_DECISION_PLANNED;
        known->row = row;
    } else {
        bool const has_reward =
            known->row.state == LIVE_DECISION_REWARDED || known->row.state == LIVE_DECISION_HELD;
        assert_int_equal(answer, has_reward ? LIVE_CLOSE_REWARDED : LIVE_CLOSE_REPEATED);
    }
}

/* What the end of an open decision brings its place. */
static void model_end(const struct live_decision_change *change,
                      const struct live_decision_row *was)
{
    bool const is_planned = was->kind == LIVE_DECISION_PLANNED;
    bool const is_held = was->state == LIVE_DECISION_HELD;
    bool const settles = is_planned && bench.config.settles;
    assert_int_equal(change->kind, settles ? LIVE_CHANGE_SETTLED : LIVE_CHANGE_RETURNED);
    assert_int_equal(change->row->state, is_held ? LIVE_DECISION_REWARDED : LIVE_DECISION_EXPIRED);
    assert_int_equal(change->row->value, 0);
    assert_int_equal(change->value, is_held ? was->value : settles ? MISSING_VALUE : 0);
    if (settles) {
        model.lacking[was->arm]--;
        model.given[was->arm]++;
    } else if (is_planned) {
        model.missed[was->arm]++;
    }
}

static void on_expired(void *context, const struct live_decision_change *change)
{
    const struct live_decision_row *const row = change->row;
    struct model_row *const known = model_row(row->number);
    assert_non_null(known);
    bool const was_open = is_open(&known->row);
    assert_false(known->is_elsewhere);
    assert_true(known->row.deadline_ms <= bench.now_ms);
    assert_int_equal(change->kind != LIVE_CHANGE_FORGOTTEN, was_open);
    assert_int_equal(row->arm, known->row.arm);
    assert_int_equal(row->kind, known->row.kind);
    assert_texts(known, row);
    model.changes[change->kind]++;
    if (!was_open) {
        known->is_there = false;
        return;
    }
    model_end(change, &known->row);
    assert_int_equal(row->deadline_ms, bench.now_ms + REMEMBER_MS);
    known->row = *row;
}

static void model_expire(void)
{
    bench.now_ms += tacit_rng_below(&model.rng, 40);
    live_decisions_expire(bench.decisions, bench.now_ms, on_expired, NULL);
    for (uint32_t i = 0; i < MODEL_ROWS; i++) {
        struct model_row *const known = &model.rows[i];
        if (!known->is_there || known->row.deadline_ms > bench.now_ms)
            continue;
        assert_true(known->is_elsewhere); /* nobody is told that it is forgotten there */
        known->is_there = false;
    }
}

/* What exploits goes on as ever; what would enter something is late, and its place is free. */
static void on_lost(void *context, const struct live_decision_row *row)
{
    struct model_row *const known = model_row(row->number);
    assert_non_null(known);
    assert_true(is_open(&known->row) && (known->row.kind == LIVE_DECISION_PLANNED ||
                                         known->row.kind == LIVE_DECISION_CHOSEN));
    assert_int_equal(row->kind, known->row.kind);
    assert_int_equal(row->state, LIVE_DECISION_EXPIRED);
    assert_int_equal(row->value, 0);
    assert_int_equal(row->deadline_ms, bench.now_ms + REMEMBER_MS);
    assert_texts(known, row);
    model.missed[row->arm] += row->kind == LIVE_DECISION_PLANNED;
    model.lost++;
    known->row = *row;
}

static void model_lose(void)
{
    live_decisions_lose(bench.decisions, bench.now_ms, on_lost, NULL);
    for (uint32_t i = 0; i < MODEL_ROWS; i++) {
        struct live_decision_row const *const row = &model.rows[i].row;
        assert_false(model.rows[i].is_there && is_open(row) &&
                     (row->kind == LIVE_DECISION_PLANNED || row->kind == LIVE_DECISION_CHOSEN));
    }
}

static void on_handed_over(void *context, const struct live_decision_row *row)
{
    struct model_row *const known = model_row(row->number);
    assert_non_null(known);
    assert_false(is_open(&known->row) || known->is_handed_over);
    assert_int_equal(row->state, known->row.state);
    assert_texts(known, row);
    known->is_handed_over = true;
}

static void on_taken(void *context, const struct live_decision_row *row)
{
    struct model_row *const known = model_row(row->number);
    assert_non_null(known);
    assert_true(known->is_handed_over && !known->is_elsewhere);
    known->is_elsewhere = true;
    model.taken++;
}

/* Rewards and deadlines come between the two. */
static void model_hand_over(void)
{
    uint32_t const count = 1 + (uint32_t)tacit_rng_below(&model.rng, 40);
    bool is_left = false;
    if (tacit_rng_below(&model.rng, 2) == 0) {
        live_decisions_hand_over(bench.decisions, count, on_handed_over, NULL);
        return;
    }
    bool const is_more = live_decisions_handed_over(bench.decisions, count, on_taken, NULL);
    for (uint32_t i = 0; i < MODEL_ROWS; i++)
        is_left = is_left || (model.rows[i].is_there && model.rows[i].is_handed_over &&
                              !model.rows[i].is_elsewhere);
    assert_int_equal(is_more, is_left);
}

static void on_converted(void *context, const struct live_decision_row *row)
{
    struct model_row *const known = model_row(row->number);
    assert_non_null(known);
    assert_int_equal(known->row.kind, LIVE_DECISION_PLANNED);
    assert_int_equal(row->kind, LIVE_DECISION_EXPLOIT);
    assert_true(model_open(row->arm, true) > model.lacking[row->arm]);
    for (uint32_t i = 0; i < MODEL_ROWS; i++) { /* no newer one could have gone */
        const struct live_decision_row *const other = &model.rows[i].row;
        assert_false(model.rows[i].is_there && is_open(other) &&
                     other->kind == LIVE_DECISION_PLANNED && other->arm == row->arm &&
                     other->number > row->number);
    }
    bool const is_held = known->row.state == LIVE_DECISION_HELD;
    assert_int_equal(row->state, is_held ? LIVE_DECISION_REWARDED : LIVE_DECISION_OPEN);
    assert_int_equal(row->deadline_ms, known->row.deadline_ms + (is_held ? REMEMBER_MS : 0));
    assert_int_equal(row->value, 0);
    known->row = *row;
}

static void model_give_plan(void)
{
    struct tacit_pull_block plan[ARMS];
    uint32_t count = 0;
    for (uint32_t arm = 0; arm < ARMS; arm++) {
        if (model.lacking[arm] > 0)
            plan[count++] = (struct tacit_pull_block){.arm = arm, .count = model.lacking[arm]};
    }
    live_decisions_set_plan(bench.decisions, plan, count, on_converted, NULL);
}

/* A new epoch: other arms are in, other pulls are asked for. */
static void model_plan(void)
{
    bench.active[0] = 1 + tacit_rng_below(&model.rng, (1u << ARMS) - 1);
    bench.fallback.count = 0;
    bench.fallback.is_committed = tacit_rng_below(&model.rng, 2) == 0;
    for (uint32_t arm = 0; arm < ARMS; arm++) {
        bool const is_in = tacit_bits_has(bench.active, arm);
        if (is_in)
            bench.ranking[bench.fallback.count++] = arm;
        model.lacking[arm] = is_in ? tacit_rng_below(&model.rng, 40) : 0;
        model.plan[arm] = model.lacking[arm];
        model.given[arm] = 0;
    }
    model_give_plan();
}

/* All that is left after a crash is what was told, and it comes back in any order. */
static void model_restart(void)
{
    bench_restart();
    for (uint32_t i = 0; i < MODEL_ROWS; i++) {
        struct model_row *const known = &model.rows[1999 * i % MODEL_ROWS];
        if (!known->is_there || known->is_elsewhere)
            continue;
        struct live_decision_row const row = model_whole(known);
        assert_int_equal(live_decisions_restore(bench.decisions, &row), TACIT_OK);
        known->is_handed_over = false;
        known->caller = MODEL_CALLERS;
    }
    memset(model.opens, 0, sizeof model.opens);
    for (uint32_t unit = 0; unit < MODEL_UNITS; unit++) {
        if (model.unit_arm[unit] < ARMS)
            assert_int_equal(live_decisions_restore_unit(bench.decisions, model.units[unit],
                                                         model.unit_arm[unit]),
                             TACIT_OK);
    }
    for (uint32_t arm = 0; arm < ARMS; arm++)
        live_decisions_restore_missed(bench.decisions, arm, model.missed[arm]);
    live_decisions_set_next_number(bench.decisions, model.next_number);
    model_give_plan();
    model.restarts++;
}

static void model_step(void)
{
    uint64_t const dice = tacit_rng_below(&model.rng, 1000);
    if (dice < 500)
        model_decide();
    else if (dice < 900)
        model_reward();
    else if (dice < 930)
        model_close();
    else if (dice < 980)
        model_expire();
    else if (dice < 986)
        model_hand_over();
    else if (dice < 988)
        model_lose();
    else if (dice < 996)
        model_plan();
    else
        model_restart();
}

static void run_model(bool settles)
{
    bench.config.open_max = MODEL_OPEN_MAX;
    bench.config.settles = settles;
    bench.config.missing_value = MISSING_VALUE;
    bench.config.memory = (struct live_decision_memory){NULL, model_by_id, model_by_key};
    model =
        (struct model){.rng = tacit_rng_stream(31, 0, 0, TACIT_PURPOSE_FAULT), .next_number = 1};
    bench_restart();
    for (uint32_t i = 0; i < MODEL_KEYS; i++)
        (void)snprintf(model.keys[i], sizeof model.keys[i], "key-%u", (unsigned)i);
    for (uint32_t i = 0; i < MODEL_UNITS; i++) {
        (void)snprintf(model.units[i], sizeof model.units[i], "unit-%u", (unsigned)i);
        model.unit_arm[i] = ARMS;
    }
    for (uint32_t i = 0; i < OPERATIONS; i++) {
        model_step();
        if (i % 8 == 0)
            model_check();
    }
    model_check();
    /* Every road was taken. */
    for (uint32_t i = 0; i < 4; i++)
        assert_true(model.kinds[i] > 100);
    for (uint32_t i = 0; i < 4; i++)
        assert_true(model.answers[i] > 100);
    for (uint32_t i = 0; i < 3; i++)
        assert_true(model.changes[i] > 100 || (i == LIVE_CHANGE_SETTLED && !settles));
    for (uint32_t i = 0; i < 4; i++)
        assert_true(model.closes[i] > 20);
    assert_true(model.restarts > 100 && model.overdue > 100 && model.lost > 100);
    assert_true(model.taken > 100 && model.returned > 100);
}

BENCH_TEST(random_sequences_agree_with_a_naive_model)
{
    run_model(false);
}

BENCH_TEST(random_sequences_agree_also_where_every_place_is_settled)
{
    run_model(true);
}
