/* Bit sets in caller's words. */
#include "tacit/base.h"

void tacit_bits_fill(uint64_t *bits, uint32_t count)
{
    size_t const words = TACIT_BITS_WORDS(count);
    for (size_t i = 0; i < words; i++)
        bits[i] = UINT64_MAX;
    if (count % 64u != 0)
        bits[words - 1] = (UINT64_C(1) << (count % 64u)) - 1u;
}

uint32_t tacit_bits_count(const uint64_t *bits, uint32_t count)
{
    uint32_t members = 0;
    for (size_t i = 0; i < TACIT_BITS_WORDS(count); i++)
        members += tacit_bits_word_count(bits[i]);
    return members;
}

uint32_t tacit_bits_next(const uint64_t *bits, uint32_t count, uint32_t from)
{
    if (from >= count)
        return count;
    size_t word = from / 64u;
    uint64_t left = bits[word] & (UINT64_MAX << (from % 64u));
    while (left == 0) {
        if (++word == TACIT_BITS_WORDS(count))
            return count;
        left = bits[word];
    }
    uint32_t const found = (uint32_t)(word * 64u) + (uint32_t)__builtin_ctzll(left);
    return found < count ? found : count;
}

bool tacit_bits_within(const uint64_t *inner, const uint64_t *outer, uint32_t count)
{
    size_t const words = TACIT_BITS_WORDS(count);
    for (size_t i = 0; i < words; i++)
        if ((inner[i] & ~outer[i]) != 0)
            return false;
    return count % 64u == 0 || (inner[words - 1] >> (count % 64u)) == 0;
}
