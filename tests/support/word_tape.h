/* Entropy from a tape of words. */
#ifndef TACIT_TESTS_WORD_TAPE_H
#define TACIT_TESTS_WORD_TAPE_H
#include "tacit/random.h"

/* Bytes of little-endian words: those given, or, without any, the endless tape of a seed. */
struct word_tape {
    const uint64_t *words;
    uint64_t word_count;
    uint64_t seed;
    uint64_t words_used;
};

/* Word number `position` of the tape of a seed: SplitMix64 (Steele, Lea, Flood 2014). */
static inline uint64_t word_tape_word(uint64_t seed, uint64_t position)
{
    uint64_t word = seed + (position + 1) * UINT64_C(0x9e3779b97f4a7c15);
    word = (word ^ (word >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    word = (word ^ (word >> 27)) * UINT64_C(0x94d049bb133111eb);
    return word ^ (word >> 31);
}

static inline uint64_t word_tape_next(struct word_tape *tape)
{
    uint64_t const position = tape->words_used++;
    return tape->words == NULL ? word_tape_word(tape->seed, position) : tape->words[position];
}

static inline enum tacit_status word_tape_fill(void *context, void *bytes, size_t size)
{
    struct word_tape *const tape = context;
    assert_int_equal(size, 8);
    if (tape->words != NULL && tape->words_used == tape->word_count)
        return TACIT_ENTROPY;
    uint64_t const word = word_tape_next(tape);
    for (uint32_t i = 0; i < 8; i++)
        ((uint8_t *)bytes)[i] = (uint8_t)(word >> (8 * i));
    return TACIT_OK;
}

static inline struct tacit_entropy word_tape_entropy(struct word_tape *tape)
{
    return (struct tacit_entropy){.fill = word_tape_fill, .context = tape};
}
#endif
