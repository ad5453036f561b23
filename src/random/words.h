/* Words of a stream and of an entropy, inline: for what draws several of them at a time. */
#ifndef TACIT_RANDOM_WORDS_H
#define TACIT_RANDOM_WORDS_H
#include "tacit/random.h"

#define RANDOM_INLINE static inline __attribute__((always_inline))

/* A product by halves of its factors: for machines without 128-bit integers. */
RANDOM_INLINE uint64_t random_times_by_halves(uint64_t a, uint64_t b, uint64_t *low)
{
    uint64_t const low_low = (a & UINT32_MAX) * (b & UINT32_MAX);
    uint64_t const high_low = (a >> 32) * (b & UINT32_MAX);
    uint64_t const low_high = (a & UINT32_MAX) * (b >> 32);
    uint64_t const middle = (low_low >> 32) + (high_low & UINT32_MAX) + (low_high & UINT32_MAX);
    *low = a * b;
    return (a >> 32) * (b >> 32) + (high_low >> 32) + (low_high >> 32) + (middle >> 32);
}

/* The high half of a product of two words, and *low the low one. */
RANDOM_INLINE uint64_t random_times(uint64_t a, uint64_t b, uint64_t *low)
{
#ifdef __SIZEOF_INT128__
    __extension__ typedef unsigned __int128 wide;
    wide const product = (wide)a * b;
    *low = (uint64_t)product;
    return (uint64_t)(product >> 64);
#else
    return random_times_by_halves(a, b, low);
#endif
}

/* The stream's next words. Out of line, so that the seven out of eight that are there stay cheap.
 */
void random_make_words(struct tacit_rng *rng);

/* The `fill` of tacit_rng_entropy. Hidden: its address is compared with no table on the way. */
__attribute__((visibility("hidden"))) enum tacit_status
random_fill_from_stream(void *context, void *bytes, size_t size);

/* 8 bytes from another source than a stream, as a little-endian word. */
enum tacit_status random_word_from_bytes(const struct tacit_entropy *entropy, uint64_t *word);

RANDOM_INLINE uint64_t random_next_word(struct tacit_rng *rng)
{
    if (rng->used >= TACIT_RNG_WORDS)
        random_make_words(rng);
    return rng->words[rng->used++];
}

/* Is it a stream? Then its words need no bytes on their way, and cannot fail. */
RANDOM_INLINE bool random_is_stream(const struct tacit_entropy *entropy)
{
    return entropy->fill == random_fill_from_stream;
}

/* is_stream: what random_is_stream says, asked once for many words. */
RANDOM_INLINE enum tacit_status random_entropy_word(const struct tacit_entropy *entropy,
                                                    bool is_stream, uint64_t *word)
{
    if (!is_stream)
        return random_word_from_bytes(entropy, word);
    *word = random_next_word(entropy->context);
    return TACIT_OK;
}

/* Lemire 2019: the high half of word * bound is uniform once the low halves that would occur once
 * too often, those under 2^64 mod bound, are refused. That remainder is at most bound - 1, so most
 * words need no division. */
RANDOM_INLINE bool random_is_even(uint64_t low_half, uint64_t bound)
{
    return low_half >= bound || low_half >= (0 - bound) % bound;
}

RANDOM_INLINE uint64_t random_below(struct tacit_rng *rng, uint64_t bound)
{
    for (;;) {
        uint64_t low;
        uint64_t const high = random_times(random_next_word(rng), bound, &low);
        if (random_is_even(low, bound))
            return high;
    }
}

/* A word is refused with a chance below 1/2, whatever the bound: so many in a row are no chance but
 * a source that is broken, as one that gives only zeros. What is not refused stays exactly uniform.
 */
#define RANDOM_REFUSALS_MAX 256u

RANDOM_INLINE enum tacit_status random_entropy_below(const struct tacit_entropy *entropy,
                                                     bool is_stream, uint64_t bound, uint64_t *out)
{
    for (uint32_t refused = 0; refused < RANDOM_REFUSALS_MAX; refused++) {
        uint64_t word;
        TACIT_TRY(random_entropy_word(entropy, is_stream, &word));
        uint64_t low;
        uint64_t const high = random_times(word, bound, &low);
        if (random_is_even(low, bound)) {
            *out = high;
            return TACIT_OK;
        }
    }
    return TACIT_ENTROPY;
}

/* An odd multiple of 2^-53 is the midpoint of a cell of width 2^-52. It fits a double exactly,
 * which midpoints of cells of width 2^-53 do not: above 1/2 they would round, at the top even to 1.
 */
RANDOM_INLINE double random_uniform_of(uint64_t word)
{
    return (double)(int64_t)((word >> 11) | 1u) * 0x1p-53;
}

/* Always spends one word, so that streams stay aligned whatever p is. */
RANDOM_INLINE bool random_bernoulli(struct tacit_rng *rng, double p)
{
    return (double)(int64_t)(random_next_word(rng) >> 11) < p * 0x1p53;
}
#endif
