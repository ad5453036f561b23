#include "wire_bytes.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

struct wire_bytes wire_bytes_new(size_t size)
{
    struct wire_bytes const made = {malloc(size > 0 ? size : 1), size};
    assert_non_null(made.bytes);
    return made;
}

uint8_t *wire_bytes_exact(const uint8_t *bytes, size_t size)
{
    struct wire_bytes const copy = wire_bytes_new(size);
    memcpy(copy.bytes, bytes, size);
    return copy.bytes;
}

void wire_bytes_expect(struct wire_bytes found, const char *golden)
{
    char text[2 * 200 + 1];
    assert_true(found.size <= 200);
    for (size_t i = 0; i < found.size; i++)
        (void)snprintf(text + 2 * i, 3, "%02x", found.bytes[i]);
    assert_string_equal(text, golden);
}

void wire_bytes_expect_length(struct wire_bytes found, uint8_t unknown_tag,
                              void (*expect_refused)(const uint8_t *bytes, size_t size))
{
    uint8_t longer[256] = {0};
    assert_true(found.size + 2 <= sizeof longer);
    for (size_t size = 0; size < found.size; size++)
        expect_refused(found.bytes, size);
    memcpy(longer, found.bytes, found.size);
    expect_refused(longer, found.size + 1);
    longer[found.size] = unknown_tag;
    expect_refused(longer, found.size + 2);
}
