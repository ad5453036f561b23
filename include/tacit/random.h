/* Random: counter-based streams for simulated chance, exact and fast distributions on them, and the
 * type through which cores receive entropy. Not for privacy: a daemon's noise comes from the
 * operating system, through the same struct tacit_entropy. Pure. */
#ifndef TACIT_RANDOM_H
#define TACIT_RANDOM_H
#include "tacit/base.h"

/* What a stream is for. The purposes of the house are here; each family has a range of its own and
 * names its purposes itself. New randomness gets a new purpose, so that old streams, and with them
 * old results, do not move. */
enum tacit_purpose {
    TACIT_PURPOSE_REWARD = 1,      /* rewards of one agent */
    TACIT_PURPOSE_NOISE = 2,       /* privacy noise of one agent, in simulation */
    TACIT_PURPOSE_SELECTION = 3,   /* the hub's choice of participants */
    TACIT_PURPOSE_INSTANCE = 4,    /* generated arm means */
    TACIT_PURPOSE_FAULT = 5,       /* what the simulated network and the crashes do */
    TACIT_PURPOSE_SPLIT = 6,       /* random split of logged rows over agents */
    TACIT_PURPOSE_GRAPH = 7,       /* random graphs */
    TACIT_PURPOSE_SALT = 8,        /* salts of the commitments of one agent, in simulation */
    TACIT_PURPOSE_REPLAY = 9,      /* order of logged rows, and which of them answer */
    TACIT_PURPOSE_RESAMPLE = 10,   /* logged rows with replacement */
    TACIT_PURPOSE_AGGREGATOR = 11, /* noise of the aggregators: 0 of the hub, 1 of the helper */
};

/* Purpose `index` < 256 of the family with this number (> 0; families/list.c numbers them). */
#define TACIT_PURPOSE_OF_FAMILY(number, index) (256u * (uint32_t)(number) + (uint32_t)(index))

/* The stream of something that is nobody's in particular (the instance, the hub). */
#define TACIT_STREAM_COMMON UINT32_MAX

/* Words that a stream makes at once: two blocks of four, whose work a processor does side by side.
 */
#define TACIT_RNG_WORDS 8u

/* Philox 4x64-10 (Salmon et al. 2011): key = seed, counter = (position, run, agent, purpose).
 * Streams with different (seed, run, agent, purpose) never overlap. A plain value: copy it to fork
 * a replay. */
struct tacit_rng {
    uint64_t seed;
    uint64_t position; /* of the first block that is not made */
    uint32_t run, agent, purpose;
    uint32_t used; /* words already given out */
    uint64_t words[TACIT_RNG_WORDS];
};

/* The stream (seed, run, agent, purpose) at its start. */
struct tacit_rng tacit_rng_stream(uint64_t seed, uint32_t run, uint32_t agent, uint32_t purpose);

/* Next 64 uniform bits. */
uint64_t tacit_rng_next(struct tacit_rng *rng);

/* The next `count` of them, as tacit_rng_next would give them. */
void tacit_rng_words(struct tacit_rng *rng, size_t count, uint64_t *words);
/* The same words. Requires: on x86-64 a processor with AVX2. */
void tacit_rng_words_avx2(struct tacit_rng *rng, size_t count, uint64_t *words);

/* Uniform on {0, .., bound-1}, without bias. Requires: bound > 0. */
uint64_t tacit_rng_below(struct tacit_rng *rng, uint64_t bound);

/* Puts the items into an order that is uniform over all. Cost: O(count). */
void tacit_rng_shuffle(struct tacit_rng *rng, uint32_t count, uint32_t *items);

/* Uniform on the 2^52 midpoints (j + 1/2)/2^52 of (0, 1): never 0, 1/2 or 1. */
double tacit_rng_uniform(struct tacit_rng *rng);

/* True with probability p. Requires: 0 <= p <= 1. Exact for p = 0 and p = 1, else to 2^-53. */
bool tacit_rng_bernoulli(struct tacit_rng *rng, double p);

/* Standard exponential, mean 1. */
double tacit_rng_exponential(struct tacit_rng *rng);

/* Laplace with mean 0 and the given scale (density exp(-|x|/scale)/(2 scale)). */
double tacit_rng_laplace(struct tacit_rng *rng, double scale);

/* Standard normal. */
double tacit_rng_normal(struct tacit_rng *rng);

/* Gamma with the given shape and scale 1. Requires: shape > 0. Cost: O(1) expected. */
double tacit_rng_gamma(struct tacit_rng *rng, double shape);

/* Beta(a, b): mean a/(a + b). Requires: a, b > 0; for a, b < 1e-2 it is rough. Cost: two gammas. */
double tacit_rng_beta(struct tacit_rng *rng, double a, double b);

/* Number of successes in n trials of probability p, exact up to double rounding of the log-density:
 * sequential inversion where n min(p, 1-p) < 10, else transformed rejection with squeeze
 * (Hormann 1993, BTRS) whose final test uses Loader's saddle-point form (2000), which keeps its
 * accuracy at any n. Requires: 0 <= p <= 1, n <= TACIT_HORIZON_MAX.  Cost: O(1) expected. */
uint64_t tacit_rng_binomial(struct tacit_rng *rng, uint64_t n, double p);

/* ---- Entropy: how cores receive randomness --------------------------------------------------- */

/* Fills bytes with uniform random bytes, or says TACIT_ENTROPY; failing is an ordinary status. The
 * operating system in a daemon, a stream in the simulator, a recorded tape in a test. */
struct tacit_entropy {
    enum tacit_status (*fill)(void *context, void *bytes, size_t size);
    void *context;
};

/* Entropy that draws from a simulation stream. Requires: rng outlives the result. */
struct tacit_entropy tacit_rng_entropy(struct tacit_rng *rng);

/* 64 uniform bits: 8 bytes, read as a little-endian word. From tacit_rng_entropy it is the stream's
 * next word. Errors: TACIT_ENTROPY, *word untouched. */
enum tacit_status tacit_entropy_word(const struct tacit_entropy *entropy, uint64_t *word);

/* Uniform on {0, .., bound-1}, exact given uniform bytes. Requires: bound > 0.
 * Errors: TACIT_ENTROPY, *out untouched. Cost: one fill of 8 bytes, rarely more. */
enum tacit_status tacit_entropy_below(const struct tacit_entropy *entropy, uint64_t bound,
                                      uint64_t *out);

/* Uniform on the 2^52 midpoints (j + 1/2)/2^52 of (0, 1). Errors: TACIT_ENTROPY, *out untouched. */
enum tacit_status tacit_entropy_uniform(const struct tacit_entropy *entropy, double *out);

/* Makes bits a uniformly chosen subset of {0, .., population-1} with exactly `count` members
 * (Floyd's method). Requires: count <= population, bits has TACIT_BITS_WORDS(population) words.
 * Errors: TACIT_ENTROPY; bits is then unspecified. Cost: O(count + population/64). */
enum tacit_status tacit_entropy_subset(const struct tacit_entropy *entropy, uint32_t count,
                                       uint32_t population, uint64_t *bits);

/* Brings items into a uniformly drawn order, exact given uniform bytes: Fisher, Yates, whose
 * choices share words as long as their bounds multiply to at most 2^32. Errors: TACIT_ENTROPY; the
 * items are then in some order. Cost: O(count), one fill of 8 bytes for 12 numbers, fewer where
 * count is larger. */
enum tacit_status tacit_entropy_shuffle(const struct tacit_entropy *entropy, uint32_t count,
                                        uint32_t *items);
#endif
