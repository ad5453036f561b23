/* What tests of wire forms have in common: bytes that were written, and what is expected of them.
 */
#ifndef TACIT_TESTS_WIRE_BYTES_H
#define TACIT_TESTS_WIRE_BYTES_H
#include <stddef.h>
#include <stdint.h>
#include "tacit/wire.h"

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

/* Memory that is looked at, for codecs: each block is as long as was asked for, and holds no zeros
 * before it is written; who writes behind it is told when it is given back. wire_bytes_damage lets
 * each request fail once, and wants all back after each look: `look` decodes with it, and gives
 * what it was handed to wire_bytes_give. NULL is nothing. */
const struct tacit_wire_allocator *wire_bytes_memory(void);
void wire_bytes_give(const void *block);

/* tacit_wire_decode with it, whose status goes into the digest. Result: whether it is TACIT_OK. */
bool wire_bytes_decode(const struct tacit_wire_table *table, const struct tacit_wire_shape *shape,
                       const uint8_t *bytes, size_t size, void *message);

/* Shows a decoder these bytes: `look` puts what it says of them into the digest (digest.h), its
 * status and, if it takes them, all that it found. context: what wire_bytes_damage was given. */
typedef void wire_bytes_look(const uint8_t *bytes, size_t size, const void *context);

/* A known answer for every damage: the word as it is, with a byte that is another one (any, of a
 * word of at most 64 bytes), with numbers of four and eight bytes at the ends of their ranges or
 * one more or less, cut anywhere, with some bytes left out or twice, with one more, and with parts
 * that are shorter or longer and say so. Each stands in memory that is exactly as long. */
void wire_bytes_damage(struct wire_bytes word, wire_bytes_look *look, const void *context);

/* .. for nothing and one zero, and for as many zeros as a word may have bytes, and one more: what
 * cannot be a word for its size alone is refused before memory is taken. */
void wire_bytes_sizes(wire_bytes_look *look, const void *context);
#endif
