/* Arms: what one learner alone does. Here: indices that are not private (UCB1, KL-UCB, MOSS,
 * Thompson sampling, uniform play), with lazy evaluation. Exact bounds are in tacit/bounds.h. Pure:
 * the caller owns the memory; a state is one relocatable block without pointers.
 *
 * A learner says what to play as a block {arm, count}: the next `count` pulls are of that arm
 * whatever they bring, because even zeros would leave it in front. So a block may be drawn as one
 * exact sum, and the choices are those of a learner that computes every index at every pull.
 *
 * K arms, H pulls of this learner in all, t pulls seen so far, n pulls of one arm. */
#ifndef TACIT_ARMS_H
#define TACIT_ARMS_H
#include "tacit/base.h"
#include "tacit/core.h"
#include "tacit/random.h"

enum tacit_arms_kind {
    TACIT_ARMS_UCB1,     /* mean + sqrt(2 ln t / n) (Auer, Cesa-Bianchi, Fischer 2002) */
    TACIT_ARMS_KL_UCB,   /* largest q with n kl(mean, q) <= ln t (Garivier, Cappe 2011, c = 0) */
    TACIT_ARMS_MOSS,     /* mean + sqrt(max(0, ln(H/(K n)))/n) (Audibert, Bubeck 2009) */
    TACIT_ARMS_THOMPSON, /* a draw of Beta(1 + s, 1 + f) (Agrawal, Goyal 2012) */
    TACIT_ARMS_UNIFORM   /* a uniform arm each pull */
};

struct tacit_arms_config {
    enum tacit_arms_kind kind;
    uint32_t arm_count;       /* K */
    uint64_t horizon;         /* H; only MOSS looks at it. T alone, M T where M agents are pooled */
    struct tacit_scale scale; /* STEPS: rewards are in [lo, hi], seen as [0, 1] */
    bool bounded; /* REAL: rewards are in [0, 1]. Else a block is one pull, and KL-UCB and Thompson
                   * sampling clip what they see to [0, 1] */
};

struct tacit_arms; /* opaque, relocatable */

/* Bytes of a state: O(K). Errors: 0 if the configuration is not valid. */
size_t tacit_arms_size(const struct tacit_arms_config *config);

/* Errors: TACIT_INVALID, *arms untouched. Requires: 8-byte aligned memory of …_size bytes. */
enum tacit_status tacit_arms_init(struct tacit_arms *arms, const struct tacit_arms_config *config);

/* Does a choice of this kind need 64 random bits? (Thompson sampling and uniform play do.) */
bool tacit_arms_wants_word(enum tacit_arms_kind kind);

/* The next pulls. First every arm once, by index (not thompson, uniform); ties to the lowest index.
 * `word`: fresh uniform bits where tacit_arms_wants_word, else ignored; the same word and the same
 * past give the same block. Asking changes no estimate: only rewards do.
 * Requires: count_max > 0. Ensures: 1 <= result.count <= count_max.
 * Cost: O(log K), now and then O(K); thompson some ln K draws. */
struct tacit_pull_block tacit_arms_next(struct tacit_arms *arms, uint64_t count_max, uint64_t word);

/* `count` pulls of `arm` brought `sum`; any arm, at any time. `word`: 64 uniform bits, looked at by
 * thompson only where the sum is not whole: a reward x in [0, 1] counts as a success with chance x.
 * Requires: count > 0, the sum is one of `count` rewards on the configured scale; for thompson
 * count = 1 unless all rewards are 0 or 1.  Cost: O(log K). */
void tacit_arms_add(struct tacit_arms *arms, uint32_t arm, uint64_t count, union tacit_sum sum,
                    uint64_t word);

/* Empirical mean of an arm on the scale of tacit_sum_mean; 0 before its first reward. */
double tacit_arms_mean(const struct tacit_arms *arms, uint32_t arm);

/* The arm with the largest empirical mean, lowest index on ties; arms without rewards count as 0.
 * Cost: O(K). */
uint32_t tacit_arms_best(const struct tacit_arms *arms);

/* ---- Indices as functions -------------------------------------------------------------------- */

/* Largest q in [mean, 1] with n kl(mean, q) <= ln t; mean is clipped to [0, 1] first. Requires: t
 * >= 1, n >= 1. Accuracy: 1e-12 for n < 1e9. Cost: about 6 Newton steps of two logarithms. */
double tacit_arms_kl_ucb(double mean, uint64_t n, uint64_t t);

/* mean + sqrt(max(0, ln(H/(K n)))/n). Requires: n >= 1. */
double tacit_arms_moss(double mean, uint64_t n, uint64_t horizon, uint32_t arm_count);

/* kl(p, q) = p ln(p/q) + (1-p) ln((1-p)/(1-q)), with 0 ln 0 = 0; infinite where q excludes p.
 * Requires: p, q in [0, 1]. */
double tacit_arms_kl(double p, double q);
#endif
