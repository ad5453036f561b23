/* Known answers of the exact samplers on a fixed tape of bytes. A change here moves every noised
 * result: it needs a decision record and a line in the changelog. The frozen values are also
 * derived again by a twin written from the paper (Canonne, Kamath, Steinke 2020, Algorithms 1 and
 * 2), and short tapes are worked out by hand. */
#include "../support/testing.h"
#include "../support/scarce.h"
#include "../support/word_tape.h"
#include "tacit/privacy.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define HALF_WORD (UINT64_C(1) << 63) /* the smallest word that makes below(2) give 1 */
#define STEPS_NANO ((uint64_t)TACIT_STEPS * TACIT_NANO)

__extension__ typedef unsigned __int128 wide;

/* ---- The twin -------------------------------------------------------------------------------- */

/* A word w stands for floor(w bound / 2^64); of the words of one value, the first few are refused
 * so that all values keep equally many. */
static uint64_t twin_below(struct word_tape *tape, uint64_t bound)
{
    uint64_t const surplus = (uint64_t)(((wide)1 << 64) % bound);
    wide product;
    do {
        product = (wide)word_tape_next(tape) * bound;
    } while ((uint64_t)product < surplus);
    return (uint64_t)(product >> 64);
}

/* Von Neumann: the number k of the first Bernoulli(x/k) that fails is odd with chance e^-x. */
static bool twin_bernoulli_exp(struct word_tape *tape, uint64_t numerator, uint64_t denominator,
                               uint64_t k)
{
    if (twin_below(tape, denominator * k) < numerator)
        return twin_bernoulli_exp(tape, numerator, denominator, k + 1);
    return k % 2 != 0;
}

static int64_t twin_discrete_laplace(struct word_tape *tape, uint64_t t, uint64_t s)
{
    uint64_t x = twin_below(tape, t);
    if (!twin_bernoulli_exp(tape, x, t, 1))
        return twin_discrete_laplace(tape, t, s);
    while (twin_bernoulli_exp(tape, 1, 1, 1))
        x += t;
    bool const minus = twin_below(tape, 2) != 0;
    if (minus && x < s)
        return twin_discrete_laplace(tape, t, s);
    return minus ? -(int64_t)(x / s) : (int64_t)(x / s);
}

TEST(bernoulli_exp_agrees_with_the_twin)
{
    uint64_t const denominators[] = {1, 2, 3, 10, 1000000007, STEPS_NANO, UINT64_C(1) << 50};
    for (uint64_t seed = 0; seed < 20000; seed++) {
        uint64_t const denominator = denominators[seed % COUNT(denominators)];
        uint64_t const numerator = word_tape_word(seed, 1000) % (denominator + 1);
        struct word_tape tape = {.seed = seed};
        struct word_tape twin = tape;
        struct tacit_entropy const entropy = word_tape_entropy(&tape);
        bool heads = false;
        assert_int_equal(tacit_bernoulli_exp(numerator, denominator, &entropy, &heads), TACIT_OK);
        assert_int_equal(heads, twin_bernoulli_exp(&twin, numerator, denominator, 1));
        assert_int_equal(tape.words_used, twin.words_used);
    }
}

TEST(discrete_laplace_agrees_with_the_twin)
{
    uint64_t const scales[][2] = {{1, 1},
                                  {1, 3},
                                  {5, 2},
                                  {1000, 7},
                                  {(uint64_t)TACIT_STEPS, 1},
                                  {STEPS_NANO, 999999937},
                                  {STEPS_NANO, 1000},
                                  {UINT64_C(1) << 50, UINT64_C(1) << 50},
                                  {UINT64_C(1) << 50, 1}};
    for (uint64_t seed = 0; seed < 20000; seed++) {
        uint64_t const *const scale = scales[seed % COUNT(scales)];
        struct word_tape tape = {.seed = seed};
        struct word_tape twin = tape;
        struct tacit_entropy const entropy = word_tape_entropy(&tape);
        int64_t noise = 0;
        assert_int_equal(tacit_discrete_laplace(scale[0], scale[1], &entropy, &noise), TACIT_OK);
        assert_true(noise == twin_discrete_laplace(&twin, scale[0], scale[1]));
        assert_int_equal(tape.words_used, twin.words_used);
    }
}

/* ---- Frozen answers -------------------------------------------------------------------------- */

#define FROZEN_SEED UINT64_C(0x7461636974) /* "tacit" */

struct coins {
    uint64_t numerator;
    uint64_t denominator;
    uint64_t heads; /* bit i: outcome i, of 64 */
    uint64_t words_used;
};

static const struct coins frozen_coins[] = {
    {0, 1, 0xffffffffffffffff, 64},
    {1, 1, 0x6b4e705c06034028, 181},
    {1, 2, 0x76d37b036f9e1938, 105},
    {123456789, 1000000007, 0x7eff7ff7dfdbd7ff, 73},
    {STEPS_NANO / 3, STEPS_NANO, 0xdef78f7eeffcf4fb, 89},
    {(UINT64_C(1) << 50) - 1, UINT64_C(1) << 50, 0x6b4e705c06034028, 181},
};

TEST(bernoulli_exp_gives_the_frozen_coins)
{
    for (size_t i = 0; i < COUNT(frozen_coins); i++) {
        struct coins const *const coins = &frozen_coins[i];
        struct word_tape tape = {.seed = FROZEN_SEED};
        struct tacit_entropy const entropy = word_tape_entropy(&tape);
        uint64_t outcomes = 0;
        for (uint32_t bit = 0; bit < 64; bit++) {
            bool heads = false;
            assert_int_equal(
                tacit_bernoulli_exp(coins->numerator, coins->denominator, &entropy, &heads),
                TACIT_OK);
            outcomes |= (uint64_t)heads << bit;
        }
        assert_true(outcomes == coins->heads);
        assert_int_equal(tape.words_used, coins->words_used);
    }
}

#define NOISES 8u

struct noises {
    uint64_t t;
    uint64_t s;
    int64_t values[NOISES];
    uint64_t words_used;
};

static const struct noises frozen_noises[] = {
    {1, 1, {-1, -2, 1, 0, 0, 1, 1, 0}, 82},
    {1, 3, {0, 0, 0, 0, 0, 0, 0, -1}, 103},
    {5, 2, {2, 1, 4, 4, 1, -1, 0, 1}, 93},
    {1000, 7, {-22, -1, 36, 78, 380, 66, 60, -65}, 77},
    {(uint64_t)TACIT_STEPS,
     1,
     {-164295, -9340, 269058, 579625, 2795748, 489483, 442782, -484403},
     77},
    {STEPS_NANO, 999999937, {-164295, -9340, 269058, 579626, 2795748, 489483, 442782, -484403}, 77},
    {STEPS_NANO,
     1000,
     {-164295888047, -9340323951, 269058813265, 579625975819, 2795748297132, 489483352077,
      442782417901, -484403102554},
     77},
    {UINT64_C(1) << 50, UINT64_C(1) << 50, {0, 0, 2, 0, 0, 0, 0, -1}, 103},
    {UINT64_C(1) << 50,
     1,
     {-176411366508041, -10029096476352, 288899700919045, 622368652514174, 3001911876007626,
      525578747277344, 475434001032461, -520123870887968},
     77},
};

TEST(discrete_laplace_gives_the_frozen_noises)
{
    for (size_t i = 0; i < COUNT(frozen_noises); i++) {
        struct noises const *const noises = &frozen_noises[i];
        struct word_tape tape = {.seed = FROZEN_SEED};
        struct tacit_entropy const entropy = word_tape_entropy(&tape);
        for (uint32_t draw = 0; draw < NOISES; draw++) {
            int64_t noise = 0;
            assert_int_equal(tacit_discrete_laplace(noises->t, noises->s, &entropy, &noise),
                             TACIT_OK);
            assert_true(noise == noises->values[draw]);
        }
        assert_int_equal(tape.words_used, noises->words_used);
    }
}

/* ---- Tapes worked out by hand ---------------------------------------------------------------- */

/* Draws from exactly these words. */
static bool coin_of(uint64_t numerator, uint64_t denominator, const uint64_t *words,
                    uint64_t word_count)
{
    struct word_tape tape = {.words = words, .word_count = word_count};
    struct tacit_entropy const entropy = word_tape_entropy(&tape);
    bool heads = false;
    assert_int_equal(tacit_bernoulli_exp(numerator, denominator, &entropy, &heads), TACIT_OK);
    assert_int_equal(tape.words_used, word_count);
    return heads;
}

static int64_t noise_of(uint64_t t, uint64_t s, const uint64_t *words, uint64_t word_count)
{
    struct word_tape tape = {.words = words, .word_count = word_count};
    struct tacit_entropy const entropy = word_tape_entropy(&tape);
    int64_t noise = INT64_MIN;
    assert_int_equal(tacit_discrete_laplace(t, s, &entropy, &noise), TACIT_OK);
    assert_int_equal(tape.words_used, word_count);
    return noise;
}

/* A word w gives floor(w bound / 2^64); the test is draw < numerator. */
TEST(bernoulli_exp_by_hand)
{
    uint64_t const fails_at_1[] = {HALF_WORD};        /* below(2) = 1 */
    uint64_t const fails_at_2[] = {0, HALF_WORD};     /* 0, then below(4) = 2 */
    uint64_t const fails_at_3[] = {0, 0, UINT64_MAX}; /* 0, 0, then below(6) = 5 */
    uint64_t const refused_at_3[] = {0, 1, 0, UINT64_MAX};
    assert_true(coin_of(1, 2, fails_at_1, 1));
    assert_false(coin_of(1, 2, fails_at_2, 2));
    assert_true(coin_of(1, 2, fails_at_3, 3));
    assert_true(coin_of(1, 2, refused_at_3, 4)); /* below(6) refuses the word 0: 2^64 mod 6 = 4 */
}

TEST(bernoulli_exp_at_0_and_1_by_hand)
{
    uint64_t const any[] = {0};
    uint64_t const one_fails_at_2[] = {UINT64_MAX, HALF_WORD}; /* below(1) = 0, below(2) = 1 */
    uint64_t const one_fails_at_3[] = {0, HALF_WORD - 1, HALF_WORD}; /* 0, 0, below(3) = 1 */
    assert_true(coin_of(0, 1, any, 1));
    assert_false(coin_of(1, 1, one_fails_at_2, 2));
    assert_true(coin_of(1, 1, one_fails_at_3, 3));
}

/* With t = 1: u takes a word, its Bernoulli(exp(0)) a word; v ends at once with 0, HALF (k = 2);
 * the sign is the last word. */
#define ROUND_WITHOUT_SCALES 0, 0, 0, HALF_WORD
/* One whole scale: the coin succeeds at k = 3, then fails at k = 2. */
#define ROUND_WITH_ONE_SCALE 0, 0, 0, 0, HALF_WORD, 0, HALF_WORD

TEST(discrete_laplace_rejects_minus_0)
{
    uint64_t const plus_0[] = {ROUND_WITHOUT_SCALES, 0};
    uint64_t const minus_0_then_plus_0[] = {ROUND_WITHOUT_SCALES, HALF_WORD, ROUND_WITHOUT_SCALES,
                                            0};
    uint64_t const minus_0_then_minus_1[] = {ROUND_WITHOUT_SCALES, HALF_WORD, ROUND_WITH_ONE_SCALE,
                                             HALF_WORD};
    assert_int_equal(noise_of(1, 1, plus_0, COUNT(plus_0)), 0);
    assert_int_equal(noise_of(1, 1, minus_0_then_plus_0, COUNT(minus_0_then_plus_0)), 0);
    assert_int_equal(noise_of(1, 1, minus_0_then_minus_1, COUNT(minus_0_then_minus_1)), -1);
}

/* What counts is the magnitude AFTER the division by s. */
TEST(discrete_laplace_rejects_minus_0_that_division_made)
{
    uint64_t const plus[] = {ROUND_WITH_ONE_SCALE, 0};
    uint64_t const minus[] = {ROUND_WITH_ONE_SCALE, HALF_WORD};
    uint64_t const minus_then_plus[] = {ROUND_WITH_ONE_SCALE, HALF_WORD, ROUND_WITH_ONE_SCALE, 0};
    assert_int_equal(noise_of(1, 1, plus, COUNT(plus)), 1);
    assert_int_equal(noise_of(1, 1, minus, COUNT(minus)), -1);
    assert_int_equal(noise_of(1, 2, plus, COUNT(plus)), 0);
    assert_int_equal(noise_of(1, 2, minus_then_plus, COUNT(minus_then_plus)), 0);
}

TEST(discrete_laplace_without_entropy_for_the_second_round_fails)
{
    uint64_t const minus_0[] = {ROUND_WITHOUT_SCALES, HALF_WORD};
    struct word_tape tape = {.words = minus_0, .word_count = COUNT(minus_0)};
    struct tacit_entropy const entropy = word_tape_entropy(&tape);
    int64_t noise = 77;
    assert_int_equal(tacit_discrete_laplace(1, 1, &entropy, &noise), TACIT_ENTROPY);
    assert_int_equal(noise, 77);
    assert_int_equal(tape.words_used, COUNT(minus_0));
}

/* t = 4: below(4) = 3 from the top word; 3/4 is refused by a coin that fails at k = 2 (below(4) =
 * 0, below(8) = 4), so u is drawn again: 2, kept by below(4) = 2; no whole scale; plus. */
TEST(discrete_laplace_draws_u_again_when_its_coin_fails)
{
    uint64_t const words[] = {UINT64_MAX, 0, HALF_WORD, HALF_WORD, HALF_WORD, 0, HALF_WORD, 0};
    assert_int_equal(noise_of(4, 1, words, COUNT(words)), 2);
}

/* A stream is asked for words, other sources for bytes: both must take the same words in the same
 * order. */
TEST(discrete_laplace_from_a_stream_is_that_from_its_bytes)
{
    static const uint64_t scales[][2] = {{1, 1}, {5, 3}, {STEPS_NANO / 1000, 50000000 / 1000}};
    for (size_t i = 0; i < COUNT(scales); i++) {
        struct tacit_rng stream = tacit_rng_stream(7, 0, (uint32_t)i, TACIT_PURPOSE_NOISE);
        struct tacit_rng copy = stream;
        struct tacit_entropy const words = tacit_rng_entropy(&stream);
        struct scarce source = {tacit_rng_entropy(&copy), UINT32_MAX};
        struct tacit_entropy const bytes = scarce_entropy(&source);
        for (uint32_t draw = 0; draw < 5000; draw++) {
            int64_t from_words;
            int64_t from_bytes;
            assert_int_equal(
                tacit_discrete_laplace(scales[i][0], scales[i][1], &words, &from_words), TACIT_OK);
            assert_int_equal(
                tacit_discrete_laplace(scales[i][0], scales[i][1], &bytes, &from_bytes), TACIT_OK);
            assert_int_equal(from_words, from_bytes);
        }
        assert_int_equal(tacit_rng_next(&stream), tacit_rng_next(&copy));
    }
}
