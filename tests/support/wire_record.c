/* What a program of tests writes and takes as messages, one a line in the file $TACIT_WIRE_RECORD:
 * the name of its schema, a space, its bytes in hexadecimal. The first hundreds of a kind, and then
 * some. Programs that tests/meson.build links with --wrap come through here;
 * tests/oracle/protobuf_oracle.py reads it. */
#include <stdio.h>
#include <stdlib.h>
#include "../../src/wire/walk.h"

#define KINDS 16u

void __real_wire_write(const struct wire_table *table, const void *message, const uint32_t *sizes,
                       uint8_t *bytes);
bool __real_wire_read(const struct wire_table *table, const uint32_t *sizes, const uint8_t *bytes,
                      size_t size, void *message);
enum tacit_status __real_wire_make(const struct wire_table *table, const uint32_t *sizes,
                                   const uint8_t *bytes, size_t size,
                                   const struct tacit_wire_allocator *allocator, void *message);
enum tacit_status __real_wire_fill(const struct wire_table *table, const uint32_t *sizes,
                                   const uint8_t *bytes, size_t size,
                                   const struct tacit_wire_allocator *allocator, void *message);
void __wrap_wire_write(const struct wire_table *table, const void *message, const uint32_t *sizes,
                       uint8_t *bytes);
bool __wrap_wire_read(const struct wire_table *table, const uint32_t *sizes, const uint8_t *bytes,
                      size_t size, void *message);
enum tacit_status __wrap_wire_make(const struct wire_table *table, const uint32_t *sizes,
                                   const uint8_t *bytes, size_t size,
                                   const struct tacit_wire_allocator *allocator, void *message);
enum tacit_status __wrap_wire_fill(const struct wire_table *table, const uint32_t *sizes,
                                   const uint8_t *bytes, size_t size,
                                   const struct tacit_wire_allocator *allocator, void *message);

static void record(const struct wire_table *table, const void *message, const uint8_t *bytes,
                   size_t size)
{
    static FILE *file;
    static unsigned numbers[KINDS];
    unsigned const kind = table->bodies == NULL ? 0 : *(const unsigned *)message;
    unsigned const number = numbers[kind % KINDS]++;
    const char *const path = getenv("TACIT_WIRE_RECORD");
    bool const is_small = size <= 1024;
    bool const is_kept = (is_small && number < 500) || number % (is_small ? 64 : 256) == 0;
    if (path == NULL || !is_kept)
        return;
    if (file == NULL)
        file = fopen(path, "a");
    TACIT_ASSERT(file != NULL);
    (void)fprintf(file, "%s ", table->name);
    for (size_t i = 0; i < size; i++)
        (void)fprintf(file, "%02x", bytes[i]);
    (void)fputc('\n', file);
}

void __wrap_wire_write(const struct wire_table *table, const void *message, const uint32_t *sizes,
                       uint8_t *bytes)
{
    __real_wire_write(table, message, sizes, bytes);
    record(table, message, bytes, wire_length(table, message, sizes));
}

bool __wrap_wire_read(const struct wire_table *table, const uint32_t *sizes, const uint8_t *bytes,
                      size_t size, void *message)
{
    bool const is_good = __real_wire_read(table, sizes, bytes, size, message);
    if (is_good)
        record(table, message, bytes, size);
    return is_good;
}

enum tacit_status __wrap_wire_make(const struct wire_table *table, const uint32_t *sizes,
                                   const uint8_t *bytes, size_t size,
                                   const struct tacit_wire_allocator *allocator, void *message)
{
    enum tacit_status const status =
        __real_wire_make(table, sizes, bytes, size, allocator, message);
    if (status == TACIT_OK)
        record(table, *(void **)message, bytes, size);
    return status;
}

enum tacit_status __wrap_wire_fill(const struct wire_table *table, const uint32_t *sizes,
                                   const uint8_t *bytes, size_t size,
                                   const struct tacit_wire_allocator *allocator, void *message)
{
    enum tacit_status const status =
        __real_wire_fill(table, sizes, bytes, size, allocator, message);
    if (status == TACIT_OK)
        record(table, message, bytes, size);
    return status;
}
