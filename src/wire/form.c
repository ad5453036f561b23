#include "form.h"
#include <string.h>
#include "tacit/wire.h"

#define NAME_CHARACTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"

size_t wire_varint_bytes(size_t value)
{
    size_t bytes = 1;
    for (; value >= 128; value >>= 7)
        bytes++;
    return bytes;
}

size_t wire_field_bytes(size_t content)
{
    return 1 + wire_varint_bytes(content) + content;
}

size_t wire_set_bytes(uint32_t count)
{
    TACIT_ASSERT(count > 0);
    return TACIT_BITS_WORDS(count) * sizeof(uint64_t);
}

bool wire_is_name(const char *text)
{
    TACIT_ASSERT(text != NULL);
    size_t const length = strlen(text);
    return length >= 1 && length <= TACIT_WIRE_NAME_BYTES_MAX &&
           strspn(text, NAME_CHARACTERS) == length;
}
