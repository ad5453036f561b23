/* Counter-based streams: Philox 4x64-10 behind a buffer of one block, and the uniform laws on it.
 * Not a source of privacy: anyone who knows the seed knows the stream. */
#include "tacit/random.h"
#include <Random123/philox.h>

#define WORDS_PER_BLOCK 4u

__extension__ typedef unsigned __int128 wide;

/* Kept out of line, so that the three words out of four that need no new block stay cheap. Moves
 * word by word: copying whole arrays makes a wide load wait for the narrow stores just before it.
 */
__attribute__((noinline)) static void next_block(struct tacit_rng *rng)
{
    uint64_t const *const at = rng->counter;
    philox4x64_ctr_t const counter = {{at[0], at[1], at[2], at[3]}};
    philox4x64_key_t const key = {{rng->seed, 0}};
    philox4x64_ctr_t const block = philox4x64(counter, key);
    for (uint32_t i = 0; i < WORDS_PER_BLOCK; i++)
        rng->block[i] = block.v[i];
    rng->counter[0]++; /* 2^64 blocks: no run reaches the end */
    rng->used = 0;
}

static inline uint64_t next_word(struct tacit_rng *rng)
{
    if (rng->used >= WORDS_PER_BLOCK)
        next_block(rng);
    return rng->block[rng->used++];
}

struct tacit_rng tacit_rng_stream(uint64_t seed, uint32_t run, uint32_t agent, uint32_t purpose)
{
    struct tacit_rng const rng = {
        .seed = seed,
        .counter = {0, run, agent, (uint64_t)purpose},
        .used = WORDS_PER_BLOCK,
    };
    return rng;
}

uint64_t tacit_rng_next(struct tacit_rng *rng)
{
    return next_word(rng);
}

/* Lemire 2019: the high half of word * bound is uniform once the low halves that would occur once
 * too often, those under 2^64 mod bound, are refused. The division happens only when it might
 * matter. Tested by: tests/unit/random.c, tests/stat/random_stat.c */
uint64_t tacit_rng_below(struct tacit_rng *rng, uint64_t bound)
{
    TACIT_ASSERT(bound > 0);
    wide product = (wide)next_word(rng) * bound;
    if ((uint64_t)product < bound) {
        uint64_t const surplus = (0 - bound) % bound; /* 2^64 mod bound */
        while ((uint64_t)product < surplus)
            product = (wide)next_word(rng) * bound;
    }
    return (uint64_t)(product >> 64);
}

/* An odd multiple of 2^-53 is the midpoint of a cell of width 2^-52. It fits a double exactly,
 * which midpoints of cells of width 2^-53 do not: above 1/2 they would round, at the top even to 1.
 */
double tacit_rng_uniform(struct tacit_rng *rng)
{
    return (double)(int64_t)((next_word(rng) >> 11) | 1u) * 0x1p-53;
}

/* Always spends one word, so that streams stay aligned whatever p is. */
bool tacit_rng_bernoulli(struct tacit_rng *rng, double p)
{
    TACIT_ASSERT(p >= 0.0);
    TACIT_ASSERT(p <= 1.0);
    return (double)(int64_t)(next_word(rng) >> 11) < p * 0x1p53;
}
