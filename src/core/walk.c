#include "walk.h"
#include <string.h>

#define WORD_BYTES sizeof(uint64_t)

static void put(struct core_walk *walk, uint64_t word)
{
    for (size_t i = 0; i < WORD_BYTES && walk->size + WORD_BYTES <= walk->room; i++) {
        uint8_t const byte = (uint8_t)(word >> (8 * i));
        if (walk->in == NULL)
            walk->out[walk->size + i] = byte;
        else
            walk->failed = walk->failed || walk->in[walk->size + i] != byte;
    }
    walk->size += WORD_BYTES;
}

static uint64_t get(struct core_walk *walk)
{
    uint64_t word = 0;
    walk->failed = walk->failed || walk->room - walk->size < WORD_BYTES;
    if (walk->failed)
        return 0;
    for (size_t i = WORD_BYTES; i-- > 0;)
        word = word << 8 | walk->in[walk->size + i];
    walk->size += WORD_BYTES;
    return word;
}

void core_walk_end(struct core_walk *walk)
{
    TACIT_ASSERT(!walk->reads);
    if (walk->zeros == 0)
        return;
    put(walk, 0);
    put(walk, walk->zeros);
    walk->zeros = 0;
}

static void write_word(struct core_walk *walk, uint64_t word)
{
    TACIT_ASSERT(!walk->reads);
    if (word == 0) {
        walk->zeros++;
        return;
    }
    core_walk_end(walk);
    put(walk, word);
}

static uint64_t read_word(struct core_walk *walk)
{
    TACIT_ASSERT(walk->reads);
    if (walk->zeros == 0) {
        uint64_t const word = get(walk);
        if (word != 0 || walk->failed)
            return word;
        walk->zeros = get(walk);
        walk->failed = walk->failed || walk->zeros == 0;
    }
    walk->zeros -= walk->failed ? 0 : 1;
    return 0;
}

void core_walk_word(struct core_walk *walk, uint64_t *word)
{
    if (walk->reads)
        *word = read_word(walk);
    else
        write_word(walk, *word);
}

void core_walk_words(struct core_walk *walk, uint64_t *words, size_t count)
{
    for (size_t i = 0; i < count && !walk->failed; i++)
        core_walk_word(walk, &words[i]);
}

void core_walk_number(struct core_walk *walk, uint32_t *number)
{
    uint64_t word = *number;
    core_walk_word(walk, &word);
    walk->failed = walk->failed || word > UINT32_MAX;
    if (!walk->failed)
        *number = (uint32_t)word;
}

void core_walk_real(struct core_walk *walk, double *number)
{
    uint64_t word;
    memcpy(&word, number, sizeof word);
    core_walk_word(walk, &word);
    memcpy(number, &word, sizeof word);
}

void core_walk_truth(struct core_walk *walk, bool *truth)
{
    uint32_t number = *truth ? 1 : 0;
    core_walk_number(walk, &number);
    walk->failed = walk->failed || number > 1;
    *truth = number == 1;
}

void core_walk_same(struct core_walk *walk, uint64_t expected)
{
    uint64_t word = expected;
    core_walk_word(walk, &word);
    walk->failed = walk->failed || word != expected;
}

bool core_walk_is_whole(const struct core_walk *walk)
{
    return !walk->failed && walk->zeros == 0 && walk->size == walk->room;
}
