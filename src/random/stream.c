/* Counter-based streams: Philox 4x64-10 behind a buffer of two blocks, and the uniform laws on it.
 * Not a source of privacy: anyone who knows the seed knows the stream. */
#include "words.h"
#include <Random123/philox.h>

#define WORDS_PER_BLOCK 4u

static_assert(TACIT_RNG_WORDS == 2 * WORDS_PER_BLOCK, "two blocks at once");

/* Two blocks, since the products of one wait for each other, and those of two do not. Moves word by
 * word: copying whole arrays makes a wide load wait for the narrow stores just before it. */
RANDOM_INLINE void make_words(struct tacit_rng *rng, uint64_t *words)
{
    philox4x64_key_t const key = {{rng->seed, 0}};
    philox4x64_ctr_t const counter = {{rng->position, rng->run, rng->agent, rng->purpose}};
    philox4x64_ctr_t const next = {{rng->position + 1, rng->run, rng->agent, rng->purpose}};
    philox4x64_ctr_t const block = philox4x64(counter, key);
    philox4x64_ctr_t const block_after = philox4x64(next, key);
    for (uint32_t i = 0; i < WORDS_PER_BLOCK; i++) {
        words[i] = block.v[i];
        words[WORDS_PER_BLOCK + i] = block_after.v[i];
    }
    rng->position += 2; /* 2^64 blocks: no run reaches the end */
}

void random_make_words(struct tacit_rng *rng)
{
    make_words(rng, rng->words);
    rng->used = 0;
}

void tacit_rng_words(struct tacit_rng *rng, size_t count, uint64_t *words)
{
    size_t i = 0;
    while (i < count && rng->used < TACIT_RNG_WORDS)
        words[i++] = random_next_word(rng);
    for (; i + TACIT_RNG_WORDS <= count; i += TACIT_RNG_WORDS)
        make_words(rng, words + i);
    while (i < count)
        words[i++] = random_next_word(rng);
}

struct tacit_rng tacit_rng_stream(uint64_t seed, uint32_t run, uint32_t agent, uint32_t purpose)
{
    struct tacit_rng const rng = {
        .seed = seed,
        .run = run,
        .agent = agent,
        .purpose = purpose,
        .used = TACIT_RNG_WORDS,
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
