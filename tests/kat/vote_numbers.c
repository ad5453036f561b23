/* How many votes eliminate an arm, and what they cost: all numbers of vote/votes.c over a grid, in
 * one known answer. What the numbers mean is tested in unit/vote and against exact sums in
 * oracle/vote_oracle; here a change of any of them shows, at its edges, too. */
#include "../support/testing.h"
#include <math.h>
#include "tacit/vote.h"
#include "../support/digest.h"

/* Of all numbers below: digest.h. */
DIGEST_IS(UINT64_C(0xaee015553151bcfe))
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const double chances[] = {1e-9, 0.01, 0.05, 0.3, 0.5, 0.51, 0.9, 0.999};

/* Numbers of any size to a millionth of themselves. */
static void digest_relative(double value)
{
    digest_real(value > 0 ? log(value) : value);
}

TEST(tails_are_what_they_were)
{
    static const uint32_t counts[] = {1, 2, 3, 5, 10, 29, 64, 1000, 100000};
    for (size_t c = 0; c < COUNT(counts); c++)
        for (size_t e = 0; e < COUNT(chances); e++) {
            uint32_t const count = counts[c];
            uint32_t const mean = (uint32_t)(count * chances[e]);
            uint32_t const needed[] = {0,        1,     2,         count / 3, mean,
                                       mean + 1, count, count + 1, count - 1, mean + mean / 9};
            for (size_t n = 0; n < COUNT(needed); n++) {
                double const tail = tacit_vote_binomial_tail(count, chances[e], needed[n]);
                digest_relative(tail);
                digest_real((1 - tail) * 1024);
            }
        }
    /* nobody, everybody, one of few: by hand */
    assert_true(fabs(tacit_vote_binomial_tail(3, 0.3, 1) - (1 - 0.7 * 0.7 * 0.7)) < 1e-15);
    assert_true(fabs(tacit_vote_binomial_tail(3, 0.3, 3) - 0.027) < 1e-16);
}

/* The footnote to Theorem 2 has I_0.99(500, 500) = 1.47e-302: it is 1, all but 10^-703 of it, and
 * so the theorem's chance is 0 there. */
TEST(beta_of_the_footnote_is_one)
{
    assert_true(tacit_vote_binomial_tail(999, 0.99, 500) >= 1 - 1e-12);
    assert_true(tacit_vote_binomial_tail(999, 0.01, 500) < 1e-300);
}

TEST(thresholds_are_what_they_were)
{
    static const uint32_t players[] = {1, 2, 3, 10, 28, 29, 64, 65, 1000};
    static const double deltas[] = {0.5, 0.05, 1e-3, 1e-9, 0.999999};
    for (size_t d = 0; d < COUNT(deltas); d++) {
        for (size_t e = 0; e < COUNT(chances); e++) {
            digest_word(tacit_vote_floor(deltas[d], chances[e]));
            digest_word(tacit_vote_committee(deltas[d], chances[e]));
            for (size_t p = 0; p < COUNT(players); p++)
                digest_word(tacit_vote_needed(players[p], deltas[d], chances[e]));
        }
        for (size_t p = 0; p < COUNT(players); p++)
            for (uint32_t needed = 1; needed <= players[p]; needed += 1 + needed / 2)
                digest_relative(tacit_vote_eta(players[p], needed, deltas[d]));
    }
    assert_true(tacit_vote_floor(1e-300, 1 - 1e-12) == UINT32_MAX); /* more than can be counted */
    assert_true(tacit_vote_committee(1e-300, 1 - 1e-12) == UINT32_MAX);
    assert_int_equal(tacit_vote_floor(0.5, 0.1), 1); /* a third of a vote is one */
}

TEST(costs_are_what_they_were)
{
    static const uint32_t arms[] = {1, 2, 3, 10, 1000};
    static const double accuracies[] = {1, 0.25, 0.01};
    static const double failures[] = {0.999, 0.1, 1e-6};
    static const uint32_t players[] = {1, 2, 3, 60, 64, 65, 200, 900};
    for (uint32_t kind = 0; kind < TACIT_BEST_ARM_KINDS; kind++) {
        struct tacit_best_arm_config config = {.kind = (enum tacit_best_arm_kind)kind};
        for (size_t k = 0; k < COUNT(arms); k++)
            for (size_t a = 0; a < COUNT(accuracies); a++)
                for (size_t f = 0; f < COUNT(failures); f++) {
                    config.arm_count = arms[k];
                    config.accuracy = accuracies[a];
                    config.failure = failures[f];
                    digest_relative(tacit_vote_samples_alone(&config));
                }
        config.arm_count = 10;
        config.accuracy = 0.25;
        for (size_t p = 0; p < COUNT(players); p++) {
            struct tacit_vote_choice const choice = tacit_vote_recommend(players[p], 0.05, &config);
            digest_word(choice.needed);
            digest_relative(choice.eta);
            digest_relative(choice.samples);
        }
    }
}
