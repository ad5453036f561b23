/* Room random, one function at a time: both sides of each limit, failing entropy, and the bounded
 * uniform at bounds where a careless one is biased. Laws are tested in tests/stat/random_stat.c. */
#include <Random123/philox.h>
#include "../support/testing.h"
#include "../support/word_tape.h"
#include "tacit/linalg.h"
#include "tacit/random.h"
#include "../../src/random/words.h"

#define AWKWARD_BOUND (UINT64_C(3) << 61) /* 2^64 is a whole multiple and a third of it */

__extension__ typedef unsigned __int128 wide;

static struct tacit_rng some_stream(void)
{
    return tacit_rng_stream(11, 0, 0, TACIT_PURPOSE_REWARD);
}

/* ---- Streams --------------------------------------------------------------------------------- */

#define WORDS_AT_ONCE_MAX 100u

TEST(words_at_once_are_those_one_by_one)
{
    bool const has_avx2 = tacit_linalg_fastest() == TACIT_LINALG_AVX2;
    for (uint32_t skipped = 0; skipped < 6; skipped++)
        for (size_t count = 0; count < WORDS_AT_ONCE_MAX; count++)
            for (int lanes = 0; lanes <= (has_avx2 ? 1 : 0); lanes++) {
                struct tacit_rng one = tacit_rng_stream(UINT64_MAX - 9, 1, 2, 3);
                for (uint32_t i = 0; i < skipped; i++)
                    (void)tacit_rng_next(&one);
                struct tacit_rng many = one;
                uint64_t words[WORDS_AT_ONCE_MAX];
                words[count] = 7;
                (lanes ? tacit_rng_words_avx2 : tacit_rng_words)(&many, count, words);
                for (size_t i = 0; i < count; i++)
                    assert_true(words[i] == tacit_rng_next(&one));
                assert_true(words[count] == 7);
                assert_true(tacit_rng_next(&many) == tacit_rng_next(&one));
            }
}

/* Word number `at` of a stream, from the block that it is in and nothing else. */
static uint64_t word_of_its_block(uint64_t at)
{
    philox4x64_ctr_t const counter = {{at / 4, 1, 2, 3}};
    philox4x64_key_t const key = {{9, 0}};
    return philox4x64(counter, key).v[at % 4];
}

/* All ways to take `count` words from a stream, `way` among them; the bytes of an entropy, too. */
static void take(struct tacit_rng *rng, uint64_t way, size_t count, uint64_t *words)
{
    struct tacit_entropy const entropy = tacit_rng_entropy(rng);
    if (way == 0) {
        tacit_rng_words(rng, count, words);
        return;
    }
    for (size_t i = 0; i < count; i++)
        if (way == 1)
            words[i] = tacit_rng_next(rng);
        else
            assert_int_equal(tacit_entropy_word(&entropy, &words[i]), TACIT_OK);
}

/* However many words a stream makes at once, and however they are taken, copies among them. */
TEST(words_in_any_chunks_are_those_of_one_block_after_the_other)
{
    for (uint32_t trial = 0; trial < 200; trial++) {
        struct tacit_rng chance = tacit_rng_stream(1, 0, trial, 0);
        struct tacit_rng rng = tacit_rng_stream(9, 1, 2, 3);
        uint64_t at = 0;
        while (at < 300) {
            uint64_t words[40];
            size_t const count = tacit_rng_below(&chance, 40);
            struct tacit_rng copy = rng;
            take(&copy, tacit_rng_below(&chance, 3), count, words);
            if (tacit_rng_below(&chance, 4) == 0)
                continue; /* the copy was a replay: the stream itself has not moved */
            rng = copy;
            for (size_t i = 0; i < count; i++)
                assert_true(words[i] == word_of_its_block(at + i));
            at += count;
        }
    }
}

TEST(uniform_at_extreme_words_stays_inside_0_and_1)
{
    struct tacit_rng rng = some_stream();
    rng.used = 0;
    rng.words[0] = 0;
    rng.words[1] = UINT64_MAX;
    rng.words[2] = UINT64_C(1) << 63;
    assert_true(tacit_rng_uniform(&rng) == 0x1p-53);
    assert_true(tacit_rng_uniform(&rng) == 1.0 - 0x1p-53);
    assert_true(tacit_rng_uniform(&rng) == 0.5 + 0x1p-53);
}

TEST(bernoulli_at_0_and_1_is_certain_at_extreme_words)
{
    struct tacit_rng rng = some_stream();
    rng.used = 0;
    rng.words[0] = rng.words[1] = 0;
    rng.words[2] = rng.words[3] = UINT64_MAX;
    assert_false(tacit_rng_bernoulli(&rng, 0.0));
    assert_true(tacit_rng_bernoulli(&rng, 1.0));
    assert_false(tacit_rng_bernoulli(&rng, 0.0));
    assert_true(tacit_rng_bernoulli(&rng, 1.0));
}

TEST(bernoulli_spends_one_word_whatever_p_is)
{
    double const ps[] = {0.0, 1e-300, 0.5, 1.0};
    for (size_t i = 0; i < sizeof ps / sizeof ps[0]; i++) {
        struct tacit_rng left = some_stream();
        struct tacit_rng right = some_stream();
        tacit_rng_bernoulli(&left, ps[i]);
        tacit_rng_next(&right);
        assert_int_equal(tacit_rng_next(&left), tacit_rng_next(&right));
    }
}

TEST(bernoulli_just_inside_the_limits_can_go_both_ways)
{
    struct tacit_rng rng = some_stream();
    rng.used = 0;
    rng.words[0] = 0;
    rng.words[1] = UINT64_MAX;
    assert_true(tacit_rng_bernoulli(&rng, 0x1p-53));
    assert_false(tacit_rng_bernoulli(&rng, 1.0 - 0x1p-53));
}

TEST(below_from_a_stream_and_from_its_entropy_agree)
{
    uint64_t const bounds[] = {1, 2, 3, 10, UINT64_C(1) << 63, AWKWARD_BOUND, UINT64_MAX};
    struct tacit_rng left = some_stream();
    struct tacit_rng right = some_stream();
    struct tacit_entropy const entropy = tacit_rng_entropy(&right);
    for (uint32_t i = 0; i < 7000; i++) {
        uint64_t value = 0;
        assert_int_equal(tacit_entropy_below(&entropy, bounds[i % 7], &value), TACIT_OK);
        assert_int_equal(tacit_rng_below(&left, bounds[i % 7]), value);
    }
}

/* ---- Binomial -------------------------------------------------------------------------------- */

TEST(binomial_without_trials_or_chance_is_certain)
{
    struct tacit_rng rng = some_stream();
    uint64_t const ns[] = {0, 1, 19, 20, 1000000, TACIT_HORIZON_MAX};
    for (size_t i = 0; i < sizeof ns / sizeof ns[0]; i++) {
        assert_int_equal(tacit_rng_binomial(&rng, ns[i], 0.0), 0);
        assert_int_equal(tacit_rng_binomial(&rng, ns[i], 1.0), ns[i]);
    }
    assert_int_equal(tacit_rng_binomial(&rng, 0, 0.3), 0);
}

TEST(binomial_stays_within_0_and_n)
{
    struct tacit_rng rng = some_stream();
    double const ps[] = {5e-324, 1e-12, 0.3, 0.49999, 0.5, 0.50001, 0.9, 1.0 - 0x1p-53};
    uint64_t const ns[] = {1, 2, 19, 20, 21, 33, 1000, TACIT_HORIZON_MAX - 1, TACIT_HORIZON_MAX};
    for (size_t i = 0; i < sizeof ps / sizeof ps[0]; i++)
        for (size_t j = 0; j < sizeof ns / sizeof ns[0]; j++)
            for (uint32_t draw = 0; draw < 2000; draw++)
                assert_true(tacit_rng_binomial(&rng, ns[j], ps[i]) <= ns[j]);
}

/* 1 - p is exact for these p, so the two walk through the same words. */
TEST(binomial_of_p_and_of_1_minus_p_mirror_each_other)
{
    double const ps[] = {0.0625, 0.25, 0.4375};
    uint64_t const ns[] = {1, 7, 24, 100, 4096, TACIT_HORIZON_MAX};
    struct tacit_rng left = some_stream();
    struct tacit_rng right = some_stream();
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 6; j++)
            for (uint32_t draw = 0; draw < 200; draw++) {
                uint64_t const successes = tacit_rng_binomial(&left, ns[j], ps[i]);
                assert_int_equal(tacit_rng_binomial(&right, ns[j], 1.0 - ps[i]), ns[j] - successes);
            }
}

/* The smallest u takes every walk to its end quickly, the largest one as far as it goes. */
TEST(binomial_by_inversion_ends_at_extreme_words)
{
    struct tacit_rng rng = some_stream();
    double const ps[] = {1e-13, 0.001, 0.09, 0.4999};
    for (size_t i = 0; i < 4; i++) {
        uint64_t const n = i == 0 ? TACIT_HORIZON_MAX : 19;
        rng.used = 0;
        rng.words[0] = 0;
        rng.words[1] = UINT64_MAX;
        assert_int_equal(tacit_rng_binomial(&rng, n, ps[i]), 0);
        assert_in_range(tacit_rng_binomial(&rng, n, ps[i]), 1, 19);
    }
}

/* ---- Entropy --------------------------------------------------------------------------------- */

TEST(entropy_failure_is_reported_and_leaves_outputs_untouched)
{
    struct word_tape tape = {.words = (uint64_t[]){0}};
    struct tacit_entropy const entropy = word_tape_entropy(&tape);
    uint64_t value = 77;
    double real = 0.25;
    uint64_t bits[1] = {0};
    assert_int_equal(tacit_entropy_below(&entropy, 10, &value), TACIT_ENTROPY);
    assert_int_equal(value, 77);
    assert_int_equal(tacit_entropy_uniform(&entropy, &real), TACIT_ENTROPY);
    assert_true(real == 0.25);
    assert_int_equal(tacit_entropy_subset(&entropy, 1, 10, bits), TACIT_ENTROPY);
}

TEST(entropy_failure_after_a_refused_word_leaves_the_output_untouched)
{
    struct word_tape tape = {.words = (uint64_t[]){0}, .word_count = 1};
    struct tacit_entropy const entropy = word_tape_entropy(&tape);
    uint64_t value = 77;
    assert_int_equal(tacit_entropy_below(&entropy, 3, &value), TACIT_ENTROPY);
    assert_int_equal(value, 77);
    assert_int_equal(tape.words_used, 1);
}

/* Every member costs one word here, so a tape of k words fails at member k + 1. */
TEST(subset_fails_wherever_the_entropy_fails)
{
    for (uint32_t length = 0; length <= 5; length++) {
        uint64_t words[5];
        struct word_tape tape = {.words = words, .word_count = length};
        for (uint32_t i = 0; i < length; i++)
            words[i] = UINT64_C(0x123456789abcdef1) * (i + 1);
        struct tacit_entropy const entropy = word_tape_entropy(&tape);
        uint64_t bits[2];
        enum tacit_status const expected = length < 5 ? TACIT_ENTROPY : TACIT_OK;
        assert_int_equal(tacit_entropy_subset(&entropy, 5, 100, bits), expected);
    }
}

TEST(entropy_uniform_reads_little_endian_midpoints)
{
    struct word_tape tape = {.words = (uint64_t[]){0, UINT64_MAX, UINT64_C(1) << 62},
                             .word_count = 3};
    struct tacit_entropy const entropy = word_tape_entropy(&tape);
    double const expected[] = {0x1p-53, 1.0 - 0x1p-53, 0.25 + 0x1p-53};
    for (size_t i = 0; i < 3; i++) {
        double real = 0.0;
        assert_int_equal(tacit_entropy_uniform(&entropy, &real), TACIT_OK);
        assert_true(real == expected[i]);
    }
}

/* Feeds one word, then one that is certainly accepted. Result: was the first word refused? */
static bool refuses(uint64_t bound, uint64_t word, uint64_t *value)
{
    struct word_tape tape = {.words = (uint64_t[]){word, UINT64_MAX}, .word_count = 2};
    struct tacit_entropy const entropy = word_tape_entropy(&tape);
    assert_int_equal(tacit_entropy_below(&entropy, bound, value), TACIT_OK);
    return tape.words_used == 2;
}

/* The words w with value*2^64 <= w*bound < (value+1)*2^64 lead to value; the first few of them,
 * those with w*bound < value*2^64 + 2^64 mod bound, must be refused, and exactly floor(2^64/bound)
 * stay. */
static void check_words_of_value(uint64_t bound, uint64_t value)
{
    wide const two_64 = (wide)1 << 64;
    wide const start = (wide)value << 64;
    wide const surplus = two_64 % bound;
    wide const first_any = (start + bound - 1) / bound;
    wide const first_kept = (start + surplus + bound - 1) / bound;
    wide const last = (start + two_64 - 1) / bound;
    assert_true(last - first_kept + 1 == two_64 / bound);
    uint64_t got = 0;
    assert_false(refuses(bound, (uint64_t)first_kept, &got));
    assert_int_equal(got, value);
    assert_false(refuses(bound, (uint64_t)last, &got));
    assert_int_equal(got, value);
    if (first_kept > first_any) {
        assert_true(refuses(bound, (uint64_t)first_any, &got));
        assert_true(refuses(bound, (uint64_t)(first_kept - 1), &got));
    }
}

TEST(below_at_awkward_bounds_gives_every_value_equally_many_words)
{
    uint64_t const bounds[] = {2,
                               3,
                               10,
                               65537,
                               UINT64_C(1) << 63,
                               (UINT64_C(1) << 63) + 1,
                               UINT64_C(7) << 50,
                               AWKWARD_BOUND,
                               UINT64_MAX - 1,
                               UINT64_MAX};
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
        check_words_of_value(bounds[i], 0);
        check_words_of_value(bounds[i], 1);
        check_words_of_value(bounds[i], bounds[i] / 2);
        check_words_of_value(bounds[i], bounds[i] - 1);
    }
}

/* A zero is refused below 3. So many in a row come of no chance, and one fewer may. */
TEST(below_refuses_256_words_in_a_row_and_no_more)
{
    for (uint32_t zeros = 255; zeros <= 256; zeros++) {
        uint64_t words[257] = {0};
        struct word_tape tape = {.words = words, .word_count = 257};
        struct tacit_entropy const entropy = word_tape_entropy(&tape);
        uint64_t value;
        words[zeros] = UINT64_MAX;
        assert_int_equal(tacit_entropy_below(&entropy, 3, &value),
                         zeros < 256 ? TACIT_OK : TACIT_ENTROPY);
        assert_int_equal(tape.words_used, 256);
    }
}

TEST(below_1_spends_one_word_and_gives_0)
{
    uint64_t value = 77;
    assert_false(refuses(1, 0, &value));
    assert_int_equal(value, 0);
    assert_false(refuses(1, UINT64_MAX, &value));
    assert_int_equal(value, 0);
}

/* ---- Subsets --------------------------------------------------------------------------------- */

TEST(subset_of_an_empty_population_touches_nothing)
{
    struct word_tape tape = {.words = (uint64_t[]){0}};
    struct tacit_entropy const entropy = word_tape_entropy(&tape);
    uint64_t bits[1] = {UINT64_C(0xdeadbeef)};
    assert_int_equal(tacit_entropy_subset(&entropy, 0, 0, bits), TACIT_OK);
    assert_int_equal(bits[0], UINT64_C(0xdeadbeef));
    assert_int_equal(tacit_entropy_subset(&entropy, 0, 0, NULL), TACIT_OK);
}

/* None behind the population, whatever was in the bits before. */
TEST(subset_has_exactly_count_members)
{
    struct tacit_rng rng = some_stream();
    struct tacit_entropy const entropy = tacit_rng_entropy(&rng);
    for (uint32_t population = 1; population <= 130; population++)
        for (uint32_t count = 0; count <= population; count++) {
            uint64_t bits[TACIT_BITS_WORDS(130)];
            memset(bits, 0xff, sizeof bits);
            assert_int_equal(tacit_entropy_subset(&entropy, count, population, bits), TACIT_OK);
            assert_int_equal(tacit_bits_count(bits, population), count);
            if (population % 64 != 0)
                assert_int_equal(bits[population / 64] >> (population % 64), 0);
        }
}

/* A repeated candidate is replaced by the newest member of the universe. */
TEST(subset_replaces_a_repeated_candidate_by_the_top)
{
    struct word_tape tape = {.words = (uint64_t[]){1, 1, 1},
                             .word_count = 3}; /* candidate 0 each time */
    struct tacit_entropy const entropy = word_tape_entropy(&tape);
    uint64_t bits[1];
    assert_int_equal(tacit_entropy_subset(&entropy, 2, 16, bits), TACIT_OK);
    assert_int_equal(bits[0], (1u << 0) | (1u << 15));
}

/* Chi-square over the 24 orders of 4 items: 23 degrees of freedom; beyond 58.6 once in 17,000. */
static void assert_orders_are_even(bool has_entropy)
{
    struct tacit_rng rng = some_stream();
    struct tacit_entropy const entropy = tacit_rng_entropy(&rng);
    uint32_t counts[256] = {0};
    for (uint32_t i = 0; i < 48000; i++) {
        uint32_t items[4] = {0, 1, 2, 3};
        if (has_entropy)
            assert_int_equal(tacit_entropy_shuffle(&entropy, 4, items), TACIT_OK);
        else
            tacit_rng_shuffle(&rng, 4, items);
        counts[items[0] | items[1] << 2 | items[2] << 4 | items[3] << 6]++;
    }
    double distance = 0;
    uint32_t orders = 0;
    for (uint32_t i = 0; i < 256; i++) {
        orders += counts[i] > 0 ? 1u : 0u;
        if (counts[i] > 0)
            distance += ((double)counts[i] - 2000) * ((double)counts[i] - 2000) / 2000;
    }
    assert_int_equal(orders, 24);
    assert_true(distance < 58.6);
}

TEST(shuffle_gives_every_order_equally_often)
{
    assert_orders_are_even(true);
    assert_orders_are_even(false);
}

TEST(shuffle_keeps_all_items_and_moves_them_everywhere)
{
    struct tacit_rng rng = some_stream();
    struct tacit_entropy const entropy = tacit_rng_entropy(&rng);
    double places = 0; /* of item 0 */
    for (uint32_t round = 0; round < 2000; round++) {
        uint32_t items[100];
        for (uint32_t i = 0; i < 100; i++)
            items[i] = i;
        assert_int_equal(tacit_entropy_shuffle(&entropy, 100, items), TACIT_OK);
        uint64_t seen[2] = {0};
        for (uint32_t i = 0; i < 100; i++) {
            tacit_bits_add(seen, items[i]);
            places += items[i] == 0 ? i : 0;
        }
        assert_int_equal(tacit_bits_count(seen, 100), 100);
    }
    assert_true(places / 2000 > 49.5 - 3.2 && places / 2000 < 49.5 + 3.2); /* 5 standard errors */
}

/* The first word stands in front of an incomplete last box and is refused; three items take one
 * word, 30 items several. */
TEST(shuffle_refuses_biased_words_and_reports_failures)
{
    struct word_tape tape = {.words = (uint64_t[]){0, UINT64_C(0x123456789abcdef1)},
                             .word_count = 2};
    struct tacit_entropy const entropy = word_tape_entropy(&tape);
    uint32_t items[30] = {0, 1, 2};
    assert_int_equal(tacit_entropy_shuffle(&entropy, 3, items), TACIT_OK);
    assert_int_equal(tape.words_used, 2);
    assert_int_equal(tacit_entropy_shuffle(&entropy, 30, items), TACIT_ENTROPY);
    assert_int_equal(tacit_entropy_shuffle(&entropy, 1, items), TACIT_OK); /* takes no word */
}

/* What machines without 128-bit integers do. */
TEST(a_product_by_halves_is_the_product)
{
    static const uint64_t edges[] = {
        0, 1, UINT32_MAX, UINT64_C(1) << 32, UINT64_MAX, UINT64_MAX - 1};
    struct tacit_rng rng = some_stream();
    for (uint32_t i = 0; i < 10036; i++) {
        uint64_t const a = i < 36 ? edges[i / 6] : tacit_rng_next(&rng);
        uint64_t const b = i < 36 ? edges[i % 6] : tacit_rng_next(&rng) >> (i % 64);
        wide const product = (wide)a * b;
        uint64_t low = 1;
        assert_true(random_times_by_halves(a, b, &low) == (uint64_t)(product >> 64));
        assert_true(low == (uint64_t)product);
        assert_true(random_times(a, b, &low) == (uint64_t)(product >> 64));
        assert_true(low == (uint64_t)product);
    }
}
