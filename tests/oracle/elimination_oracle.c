/* Who goes by exact bounds against a twin that computes every bound of every arm: random sums and
 * counts, histories and single releases, strict and with an accuracy, sets with gaps, many ties.
 * Fixed seed, no chance. */
#include <math.h>
#include "../support/testing.h"
#include "tacit/elimination.h"
#include "tacit/random.h"

#define ARMS 70u /* more than a word of bits */
#define RELEASES 5u
#define LOOKS 4000u

struct books {
    uint32_t arm_count;
    uint32_t release_count;
    int64_t pulls; /* of a release */
    int64_t released[ARMS][RELEASES];
    int64_t stored[ARMS * RELEASES]; /* as the look has it */
    struct tacit_elimination look;
    bool active[ARMS];
};

static uint64_t below(struct tacit_rng *rng, uint64_t bound)
{
    return tacit_rng_below(rng, bound);
}

static void draw_look(struct tacit_rng *rng, struct books *books)
{
    static const double epsilons[] = {0.1, 1, 8, INFINITY};
    uint32_t const arms = books->arm_count;
    bool const by_arm = below(rng, 2) == 0;
    bool const are_histories = below(rng, 2) == 0;
    uint32_t const last = 1 + (uint32_t)below(rng, books->release_count);
    uint32_t const first = (uint32_t)below(rng, last);
    books->look = (struct tacit_elimination){
        .steps = books->stored,
        .arm_stride = by_arm ? RELEASES : 1,
        .release_stride = by_arm ? 1 : arms,
        .are_histories = are_histories,
        .arm_count = arms,
        .first = first,
        .last = last,
        .pulls = (last - first) * (uint64_t)books->pulls,
        .noises = last - first,
        .noise = {.epsilon = epsilons[below(rng, 4)]},
        .level = 1 + (double)below(rng, 20),
        .accuracy = below(rng, 2) == 0 ? 0 : 0.3 * tacit_rng_uniform(rng)};
    for (uint32_t arm = 0; arm < arms; arm++) {
        int64_t history = 0;
        for (uint32_t e = 0; e < books->release_count; e++) {
            history += books->released[arm][e];
            books->stored[by_arm ? arm * RELEASES + e : e * arms + arm] =
                are_histories ? history : books->released[arm][e];
        }
    }
}

/* Means in steps of 1/4 to 1/1000, some of them beyond [0, 1]. */
static void draw_books(struct tacit_rng *rng, struct books *books)
{
    memset(books, 0, sizeof *books);
    books->arm_count = 1 + (uint32_t)below(rng, ARMS);
    books->release_count = 1 + (uint32_t)below(rng, RELEASES);
    books->pulls = INT64_C(8) << below(rng, 8);
    uint64_t const levels = 4 + below(rng, 1000);
    for (uint32_t arm = 0; arm < books->arm_count; arm++) {
        int64_t const level = (int64_t)below(rng, levels + 2) - 1;
        for (uint32_t e = 0; e < books->release_count; e++)
            books->released[arm][e] = books->pulls * TACIT_STEPS / (int64_t)levels * level;
        books->active[arm] = below(rng, 4) > 0;
    }
    books->active[below(rng, books->arm_count)] = true;
    draw_look(rng, books);
}

/* ---- The twin ---- */

static struct tacit_bounds_sum twin_sum(const struct books *books, uint32_t arm)
{
    struct tacit_bounds_sum sum = {.pulls = books->look.pulls, .noises = books->look.noises};
    for (uint32_t e = books->look.first; e < books->look.last; e++)
        sum.steps += books->released[arm][e];
    return sum;
}

static void check_look(struct books *books, uint32_t *gone, uint32_t *tied)
{
    struct tacit_elimination const *const look = &books->look;
    struct tacit_bounds_interval interval[ARMS];
    uint64_t active[TACIT_BITS_WORDS(ARMS)] = {0};
    uint64_t dropped[TACIT_BITS_WORDS(ARMS)] = {0};
    uint32_t leader = TACIT_NO_ARM;
    uint32_t stays = TACIT_NO_ARM;
    uint32_t expected = 0;
    for (uint32_t arm = 0; arm < books->arm_count; arm++) {
        if (!books->active[arm])
            continue;
        struct tacit_bounds_sum const sum = twin_sum(books, arm);
        tacit_bits_add(active, arm);
        interval[arm] = tacit_bounds_interval_of(&sum, &look->noise, look->level);
        if (leader == TACIT_NO_ARM || interval[arm].mean > interval[leader].mean)
            leader = arm;
        if (stays == TACIT_NO_ARM || interval[arm].lower > interval[stays].lower)
            stays = arm;
    }
    *tied += leader == stays ? 0 : 1;
    assert_int_equal(tacit_elimination_leader(look, active), leader);
    uint32_t const count = tacit_elimination_drop(look, active, dropped);
    for (uint32_t arm = 0; arm < books->arm_count; arm++) {
        double const bar = interval[stays].lower;
        bool const goes = books->active[arm] && arm != stays &&
                          (look->accuracy > 0 ? interval[arm].upper <= bar + look->accuracy
                                              : interval[arm].upper < bar);
        assert_int_equal(tacit_bits_has(active, arm), books->active[arm] && !goes);
        assert_int_equal(tacit_bits_has(dropped, arm), goes);
        expected += goes ? 1 : 0;
    }
    assert_int_equal(count, expected);
    *gone += count;
}

TEST(test_every_look_drops_whom_the_twin_drops)
{
    struct tacit_rng rng = tacit_rng_stream(3, 0, 0, TACIT_PURPOSE_REWARD);
    struct books books;
    uint32_t gone = 0;
    uint32_t tied = 0;
    for (uint32_t i = 0; i < LOOKS; i++) {
        draw_books(&rng, &books);
        check_look(&books, &gone, &tied);
    }
    assert_true(gone > LOOKS);
    assert_true(tied > LOOKS / 10);
}

/* ---- By hand ---- */

/* Three arms without noise: 1000 pulls, means 0.9, 0.88 and 0.1. With L = 2 the first two cannot be
 * told apart; an accuracy of 0.1 lets the second one go all the same. */
TEST(test_an_accuracy_lets_near_arms_go)
{
    int64_t const steps[] = {900 * TACIT_STEPS, 880 * TACIT_STEPS, 100 * TACIT_STEPS};
    struct tacit_elimination look = {.steps = steps,
                                     .arm_stride = 1,
                                     .arm_count = 3,
                                     .last = 1,
                                     .pulls = 1000,
                                     .noise = {.epsilon = INFINITY},
                                     .level = 2};
    uint64_t active = 7;
    assert_int_equal(tacit_elimination_drop(&look, &active, NULL), 1);
    assert_int_equal(active, 3);
    assert_int_equal(tacit_elimination_drop(&look, &active, NULL), 0);
    look.accuracy = 0.1;
    uint64_t dropped = 4;
    assert_int_equal(tacit_elimination_drop(&look, &active, &dropped), 1);
    assert_int_equal(active, 1);
    assert_int_equal(dropped, 6);
    assert_int_equal(tacit_elimination_drop(&look, &active, &dropped), 0);
}
