/* See variants.h. */
#include "variants.h"
#include <math.h>
#include <string.h>
#include "digest.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static uint64_t step;

static void try_reals(void *at, variant_try *try, void *context)
{
    double was;
    memcpy(&was, at, sizeof was);
    double const values[] = {0,     1,   0.5 * was, was + 0.25, -was - 1, 1e100,
                             2e100, NAN, -1e100,    -2e100,     INFINITY};
    for (size_t i = 0; i < COUNT(values); i++) {
        memcpy(at, &values[i], sizeof was);
        if (memcmp(at, &was, sizeof was) != 0)
            try(context);
    }
    memcpy(at, &was, sizeof was);
}

/* Whichever byte comes first. */
static uint64_t read_word(const void *at, size_t width)
{
    union {
        uint8_t one;
        uint16_t two;
        uint32_t four;
        uint64_t eight;
    } word;
    memcpy(&word, at, width);
    return width == 1 ? word.one : width == 2 ? word.two : width == 4 ? word.four : word.eight;
}

static void write_word(void *at, size_t width, uint64_t value)
{
    uint8_t const one = (uint8_t)value;
    uint16_t const two = (uint16_t)value;
    uint32_t const four = (uint32_t)value;
    const void *const from = width == 1   ? (const void *)&one
                             : width == 2 ? (const void *)&two
                             : width == 4 ? (const void *)&four
                                          : (const void *)&value;
    memcpy(at, from, width);
}

static void try_words(void *at, const struct variant_field *field, variant_try *try, void *context)
{
    uint64_t const mask = field->width == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * field->width) - 1;
    uint64_t const was = read_word(at, field->width);
    uint64_t const values[] = {0, 1, 2, 3, was - 1, was + 1, was ^ (mask / 2 + 1), mask};
    for (size_t i = 0; i < COUNT(values); i++) {
        uint64_t const value = values[i] & mask;
        if (value == was || value < field->least || value > field->most)
            continue;
        write_word(at, field->width, value);
        try(context);
    }
    write_word(at, field->width, was);
}

void variants_of(void *base, const struct variant_field *fields, size_t count, variant_try *try,
                 void *context)
{
    for (size_t i = 0; i < count; i++) {
        void *const at = (unsigned char *)base + fields[i].at;
        if (fields[i].is_real)
            try_reals(at, try, context);
        else
            try_words(at, &fields[i], try, context);
    }
}

void variants_of_words(void *words, size_t count, bool are_real, variant_try *try, void *context)
{
    for (size_t i = 0; i<count; i += count> 1 ? count - 1 : 1) {
        struct variant_field const field = {i * sizeof(uint64_t), sizeof(uint64_t), 0, UINT64_MAX,
                                            are_real};
        variants_of(words, &field, 1, try, context);
    }
}

bool variants_are_due(uint64_t often)
{
    if (digest_is_paused())
        return false;
    uint64_t const number = step++;
    return number % (1 + number / often) == 0;
}
