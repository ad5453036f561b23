/* SQLite's log, byte by byte: what tests make and change logs with. */
#ifndef TACIT_TESTS_LOG_BYTES_H
#define TACIT_TESTS_LOG_BYTES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline void log_put_u32(uint8_t *bytes, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(value >> (24 - 8 * i));
}

/* SQLite's sum over words of one byte order (its file format, section 4.2), word by word. */
static inline void log_sum(uint32_t sum[2], const uint8_t *bytes, size_t size, bool is_big_endian)
{
    for (size_t at = 0; at < size; at += 4) {
        uint32_t word = 0;
        for (unsigned i = 0; i < 4; i++)
            word |= (uint32_t)bytes[at + i] << 8 * (is_big_endian ? 3 - i : i);
        size_t const half = at / 4 % 2;
        sum[half] += word + sum[1 - half];
    }
}
#endif
