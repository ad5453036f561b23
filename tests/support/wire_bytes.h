/* What tests of wire forms have in common: bytes that were written, and what is expected of them.
 */
#ifndef TACIT_TESTS_WIRE_BYTES_H
#define TACIT_TESTS_WIRE_BYTES_H
#include <stddef.h>
#include <stdint.h>

/* In a block of exactly their size, to be given to free(). */
struct wire_bytes {
    uint8_t *bytes;
    size_t size;
};

/* Room for so many. */
struct wire_bytes wire_bytes_new(size_t size);

/* A copy in memory that is exactly as long, so that a sanitizer sees a read beyond it. */
uint8_t *wire_bytes_exact(const uint8_t *bytes, size_t size);

/* Are they these, in hexadecimal? At most 200 bytes. */
void wire_bytes_expect(struct wire_bytes found, const char *golden);

/* Calls `expect_refused` with all shorter ones, with a byte more, and with an unknown field of no
 * bytes at the end. At most 254 bytes. */
void wire_bytes_expect_length(struct wire_bytes found, uint8_t unknown_tag,
                              void (*expect_refused)(const uint8_t *bytes, size_t size));
#endif
