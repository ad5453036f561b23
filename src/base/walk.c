/* One walk over the fields of a state, which writes them, reads them or compares them. */
#include "walk.h"
#include <string.h>

#define WORD_BYTES sizeof(uint64_t)

/* Writes a word, or compares it; beyond the room it is counted only. */
static void put(struct base_walk *walk, uint64_t word)
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

static uint64_t get(struct base_walk *walk)
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

/* The zeros that were not said yet: a zero, and how many. */
void base_walk_end(struct base_walk *walk)
{
    TACIT_ASSERT(!walk->reads);
    if (walk->zeros == 0)
        return;
    put(walk, 0);
    put(walk, walk->zeros);
    walk->zeros = 0;
}

static void write_word(struct base_walk *walk, uint64_t word)
{
    TACIT_ASSERT(!walk->reads);
    if (word == 0) {
        walk->zeros++;
        return;
    }
    base_walk_end(walk);
    put(walk, word);
}

static uint64_t read_word(struct base_walk *walk)
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

void base_walk_word(struct base_walk *walk, uint64_t *word)
{
    if (walk->reads)
        *word = read_word(walk);
    else
        write_word(walk, *word);
}

void base_walk_words(struct base_walk *walk, uint64_t *words, size_t count)
{
    for (size_t i = 0; i < count && !walk->failed; i++)
        if (!walk->reads && words[i] == 0) /* most of a large state */
            walk->zeros++;
        else
            base_walk_word(walk, &words[i]);
}

void base_walk_number(struct base_walk *walk, uint32_t *number)
{
    uint64_t word = *number;
    base_walk_word(walk, &word);
    walk->failed = walk->failed || word > UINT32_MAX;
    if (!walk->failed)
        *number = (uint32_t)word;
}

void base_walk_real(struct base_walk *walk, double *number)
{
    uint64_t word;
    memcpy(&word, number, sizeof word);
    base_walk_word(walk, &word);
    memcpy(number, &word, sizeof word);
}

void base_walk_truth(struct base_walk *walk, bool *truth)
{
    uint32_t number = *truth ? 1 : 0;
    base_walk_number(walk, &number);
    walk->failed = walk->failed || number > 1;
    *truth = number == 1;
}

void base_walk_same(struct base_walk *walk, uint64_t expected)
{
    uint64_t word = expected;
    base_walk_word(walk, &word);
    walk->failed = walk->failed || word != expected;
}

bool base_walk_is_whole(const struct base_walk *walk)
{
    return !walk->failed && walk->zeros == 0 && walk->size == walk->room;
}

/* ---- Whole states ---- */

static bool walk_state(struct base_walk *walk, void (*fields)(struct base_walk *walk, void *state),
                       const void *state)
{
    fields(walk, (void *)(uintptr_t)state); /* it is read */
    base_walk_end(walk);
    return base_walk_is_whole(walk);
}

size_t base_walk_write(void (*fields)(struct base_walk *walk, void *state), const void *state,
                       uint8_t *bytes, size_t room)
{
    struct base_walk walk = {.out = bytes, .room = room};
    TACIT_ASSERT(bytes != NULL || room == 0);
    (void)walk_state(&walk, fields, state);
    TACIT_ASSERT(!walk.failed && walk.size > 0);
    return walk.size;
}

bool base_walk_read(void (*fields)(struct base_walk *walk, void *state), void *state,
                    const uint8_t *bytes, size_t size)
{
    struct base_walk walk = {.reads = true, .in = bytes, .room = size};
    fields(&walk, state);
    return base_walk_is_whole(&walk);
}

bool base_walk_writes(void (*fields)(struct base_walk *walk, void *state), const void *state,
                      const uint8_t *bytes, size_t size)
{
    struct base_walk walk = {.in = bytes, .room = size};
    return walk_state(&walk, fields, state);
}
