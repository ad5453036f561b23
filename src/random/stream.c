/* Counter-based streams: Philox 4x64-10 behind a buffer of two blocks, and the uniform laws on it.
 * Not a source of privacy: anyone who knows the seed knows the stream. */
#include "words.h"
#include <Random123/philox.h>
#if defined __x86_64__
#include <immintrin.h>
#endif

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

/* The words that are left in the buffer, as many as are wanted. Result: how many. */
static size_t drain_buffer(struct tacit_rng *rng, size_t count, uint64_t *words)
{
    size_t i = 0;
    while (i < count && rng->used < TACIT_RNG_WORDS)
        words[i++] = random_next_word(rng);
    return i;
}

void tacit_rng_words(struct tacit_rng *rng, size_t count, uint64_t *words)
{
    size_t i = drain_buffer(rng, count, words);
    for (; i + TACIT_RNG_WORDS <= count; i += TACIT_RNG_WORDS)
        make_words(rng, words + i);
    while (i < count)
        words[i++] = random_next_word(rng);
}

#if defined __x86_64__
/* Sixteen words: four blocks, a block a lane. Two of them side by side: one's products take as long
 * as another's sums. */
#define WIDE_WORDS 16u
#define SIDES_MAX 2u
#define EACH_SIDE(i, sides) for (unsigned i = 0; i < (sides); i++)
#define WIDE RANDOM_INLINE __attribute__((target("avx2")))

/* The high halves of products with a constant, whose halves are given; *low: the low ones. */
WIDE __m256i wide_times(__m256i a, __m256i b, __m256i b_high, __m256i *low)
{
    __m256i const a_high = _mm256_srli_epi64(a, 32);
    __m256i const bottom = _mm256_mul_epu32(a, b);
    __m256i const left =
        _mm256_add_epi64(_mm256_mul_epu32(a_high, b), _mm256_srli_epi64(bottom, 32));
    __m256i const right = _mm256_add_epi64(_mm256_mul_epu32(a, b_high),
                                           _mm256_blend_epi32(left, _mm256_setzero_si256(), 0xaa));
    __m256i const top =
        _mm256_add_epi64(_mm256_mul_epu32(a_high, b_high), _mm256_srli_epi64(left, 32));
    *low = _mm256_blend_epi32(bottom, _mm256_slli_epi64(right, 32), 0xaa);
    return _mm256_add_epi64(top, _mm256_srli_epi64(right, 32));
}

/* Four blocks, a word a vector, one block after the other. */
WIDE void wide_store(const __m256i *word, uint64_t *words)
{
    __m256i *const out = (__m256i *)(void *)words;
    __m256i const a = _mm256_unpacklo_epi64(word[0], word[1]);
    __m256i const b = _mm256_unpackhi_epi64(word[0], word[1]);
    __m256i const c = _mm256_unpacklo_epi64(word[2], word[3]);
    __m256i const d = _mm256_unpackhi_epi64(word[2], word[3]);
    _mm256_storeu_si256(out, _mm256_permute2x128_si256(a, c, 0x20));
    _mm256_storeu_si256(out + 1, _mm256_permute2x128_si256(b, d, 0x20));
    _mm256_storeu_si256(out + 2, _mm256_permute2x128_si256(a, c, 0x31));
    _mm256_storeu_si256(out + 3, _mm256_permute2x128_si256(b, d, 0x31));
}

WIDE __m256i wide_of(uint64_t word)
{
    return _mm256_set1_epi64x((long long)word);
}

/* Sixteen words a side, from the stream's position on. */
WIDE void make_wide(struct tacit_rng *rng, unsigned sides, uint64_t *words)
{
    __m256i x[SIDES_MAX][WORDS_PER_BLOCK];
    __m256i const m0 = wide_of(PHILOX_M4x64_0);
    __m256i const m1 = wide_of(PHILOX_M4x64_1);
    __m256i const m0_high = wide_of(PHILOX_M4x64_0 >> 32);
    __m256i const m1_high = wide_of(PHILOX_M4x64_1 >> 32);
    EACH_SIDE(i, sides)
    {
        x[i][0] = _mm256_add_epi64(wide_of(rng->position + 4 * i), _mm256_set_epi64x(3, 2, 1, 0));
        x[i][1] = wide_of(rng->run);
        x[i][2] = wide_of(rng->agent);
        x[i][3] = wide_of(rng->purpose);
    }
#pragma GCC unroll 10
    for (uint64_t round = 0; round < philox4x64_rounds; round++) {
        __m256i const key = wide_of(rng->seed + round * PHILOX_W64_0);
        __m256i const other = wide_of(round * PHILOX_W64_1);
#pragma GCC unroll 2
        EACH_SIDE(i, sides)
        {
            __m256i low;
            __m256i other_low;
            __m256i const high = wide_times(x[i][0], m0, m0_high, &low);
            __m256i const other_high = wide_times(x[i][2], m1, m1_high, &other_low);
            x[i][0] = _mm256_xor_si256(_mm256_xor_si256(other_high, x[i][1]), key);
            x[i][2] = _mm256_xor_si256(_mm256_xor_si256(high, x[i][3]), other);
            x[i][1] = other_low;
            x[i][3] = low;
        }
    }
    EACH_SIDE(i, sides) wide_store(x[i], words + i * WIDE_WORDS);
    rng->position += 4 * sides;
}

__attribute__((target("avx2"))) void tacit_rng_words_avx2(struct tacit_rng *rng, size_t count,
                                                          uint64_t *words)
{
    size_t i = drain_buffer(rng, count, words);
    for (; i + SIDES_MAX * WIDE_WORDS <= count; i += SIDES_MAX * WIDE_WORDS)
        make_wide(rng, SIDES_MAX, words + i);
    if (i + WIDE_WORDS <= count) {
        make_wide(rng, 1, words + i);
        i += WIDE_WORDS;
    }
    tacit_rng_words(rng, count - i, words + i);
}
#else
void tacit_rng_words_avx2(struct tacit_rng *rng, size_t count, uint64_t *words)
{
    tacit_rng_words(rng, count, words);
}
#endif

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

void tacit_rng_shuffle(struct tacit_rng *rng, uint32_t count, uint32_t *items)
{
    TACIT_ASSERT(items != NULL || count == 0);
    for (uint32_t left = count; left > 1; left--) {
        uint64_t const chosen = tacit_rng_below(rng, left);
        uint32_t const held = items[left - 1];
        items[left - 1] = items[chosen];
        items[chosen] = held;
    }
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
