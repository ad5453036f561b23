/* Counter-based streams: Philox 4x64-10 behind a buffer of one block, and the uniform laws on it.
 * Not a source of privacy: anyone who knows the seed knows the stream. */
#include "words.h"
#include <Random123/philox.h>

/* Moves word by word: copying whole arrays makes a wide load wait for the narrow stores just before
 * it. */
RANDOM_INLINE void make_block(struct tacit_rng *rng, uint64_t *words)
{
    uint64_t const *const at = rng->counter;
    philox4x64_ctr_t const counter = {{at[0], at[1], at[2], at[3]}};
    philox4x64_key_t const key = {{rng->seed, 0}};
    philox4x64_ctr_t const block = philox4x64(counter, key);
    for (uint32_t i = 0; i < RANDOM_WORDS_PER_BLOCK; i++)
        words[i] = block.v[i];
    rng->counter[0]++; /* 2^64 blocks: no run reaches the end */
}

void random_next_block(struct tacit_rng *rng)
{
    make_block(rng, rng->block);
    rng->used = 0;
}

void tacit_rng_words(struct tacit_rng *rng, size_t count, uint64_t *words)
{
    size_t i = 0;
    while (i < count && rng->used < RANDOM_WORDS_PER_BLOCK)
        words[i++] = random_next_word(rng);
    for (; i + RANDOM_WORDS_PER_BLOCK <= count; i += RANDOM_WORDS_PER_BLOCK)
        make_block(rng, words + i);
    while (i < count)
        words[i++] = random_next_word(rng);
}

struct tacit_rng tacit_rng_stream(uint64_t seed, uint32_t run, uint32_t agent, uint32_t purpose)
{
    struct tacit_rng const rng = {
        .seed = seed,
        .counter = {0, run, agent, (uint64_t)purpose},
        .used = RANDOM_WORDS_PER_BLOCK,
    };
    return rng;
}

uint64_t tacit_rng_next(struct tacit_rng *rng)
{
    return random_next_word(rng);
}

/* Tested by: tests/unit/random.c, tests/stat/random_stat.c */
uint64_t tacit_rng_below(struct tacit_rng *rng, uint64_t bound)
{
    TACIT_ASSERT(bound > 0);
    return random_below(rng, bound);
}

double tacit_rng_uniform(struct tacit_rng *rng)
{
    return random_uniform_of(random_next_word(rng));
}

bool tacit_rng_bernoulli(struct tacit_rng *rng, double p)
{
    TACIT_ASSERT(p >= 0.0);
    TACIT_ASSERT(p <= 1.0);
    return random_bernoulli(rng, p);
}
