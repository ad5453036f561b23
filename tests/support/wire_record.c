/* What a program of tests writes and takes as messages, one a line in the file $TACIT_WIRE_RECORD:
 * the name of its schema, a space, its bytes in hexadecimal. The first hundreds of a kind, and then
 * some. Programs that tests/meson.build links with --wrap come through here;
 * tests/oracle/protobuf_oracle.py reads it. */
#include <stdio.h>
#include <stdlib.h>
#include "../../src/wire/walk.h"

#define KINDS 16u

#define TABLE_AND_SHAPE const struct tacit_wire_table *table, const struct tacit_wire_shape *shape
#define BYTES_READ const uint8_t *bytes, size_t size

void __real_tacit_wire_encode(TABLE_AND_SHAPE, const void *message, uint8_t *bytes);
void __wrap_tacit_wire_encode(TABLE_AND_SHAPE, const void *message, uint8_t *bytes);
bool __real_wire_read(const struct tacit_wire_table *table, BYTES_READ, void *message);
bool __wrap_wire_read(const struct tacit_wire_table *table, BYTES_READ, void *message);
enum tacit_status __real_tacit_wire_decode(TABLE_AND_SHAPE, BYTES_READ, void *message,
                                           const struct tacit_wire_allocator *allocator);
enum tacit_status __wrap_tacit_wire_decode(TABLE_AND_SHAPE, BYTES_READ, void *message,
                                           const struct tacit_wire_allocator *allocator);
enum tacit_status __real_wire_build(const struct wire_parts *parts,
                                    const struct tacit_wire_shape *shape, void *message,
                                    const struct tacit_wire_allocator *allocator);
enum tacit_status __wrap_wire_build(const struct wire_parts *parts,
                                    const struct tacit_wire_shape *shape, void *message,
                                    const struct tacit_wire_allocator *allocator);

static void record(const struct tacit_wire_table *table, const void *message, const uint8_t *bytes,
                   size_t size)
{
    static FILE *file;
    static unsigned numbers[KINDS];
    unsigned const kind = table->bodies == NULL ? 0 : *(const unsigned *)message;
    unsigned const number = numbers[kind % KINDS]++;
    const char *const path = getenv("TACIT_WIRE_RECORD");
    bool const is_small = size <= 1024;
    bool const is_kept = (is_small && number < 500) || number % (is_small ? 64 : 256) == 0;
    if (path == NULL || size == 0 || !is_kept) /* of none: a site over a star has no place */
        return;
    if (file == NULL)
        file = fopen(path, "a");
    TACIT_ASSERT(file != NULL);
    (void)fprintf(file, "%s ", table->name);
    for (size_t i = 0; i < size; i++)
        (void)fprintf(file, "%02x", bytes[i]);
    (void)fputc('\n', file);
}

void __wrap_tacit_wire_encode(TABLE_AND_SHAPE, const void *message, uint8_t *bytes)
{
    __real_tacit_wire_encode(table, shape, message, bytes);
    record(table, message, bytes, tacit_wire_bytes(table, shape, message));
}

bool __wrap_wire_read(const struct tacit_wire_table *table, BYTES_READ, void *message)
{
    bool const is_good = __real_wire_read(table, bytes, size, message);
    if (is_good)
        record(table, message, bytes, size);
    return is_good;
}

enum tacit_status __wrap_tacit_wire_decode(TABLE_AND_SHAPE, BYTES_READ, void *message,
                                           const struct tacit_wire_allocator *allocator)
{
    enum tacit_status const status =
        __real_tacit_wire_decode(table, shape, bytes, size, message, allocator);
    if (status == TACIT_OK)
        record(table, *(void **)message, bytes, size);
    return status;
}

enum tacit_status __wrap_wire_build(const struct wire_parts *parts,
                                    const struct tacit_wire_shape *shape, void *message,
                                    const struct tacit_wire_allocator *allocator)
{
    enum tacit_status const status = __real_wire_build(parts, shape, message, allocator);
    for (size_t i = 0; i < 2 && status == TACIT_OK && parts->parts[i].size > 0; i++)
        record(parts->parts[i].table, message, parts->parts[i].bytes, parts->parts[i].size);
    return status;
}
