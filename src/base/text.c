/* Text without stdio, so that pure rooms can explain themselves. */
#include "tacit/base.h"

struct tacit_text tacit_text_init(char *bytes, size_t capacity)
{
    TACIT_ASSERT(capacity > 0);
    bytes[0] = '\0';
    return (struct tacit_text){.bytes = bytes, .capacity = capacity, .size = 0};
}

void tacit_text_add(struct tacit_text *text, const char *more)
{
    for (; *more != '\0'; more++) {
        if (text->size + 1 == text->capacity) {
            text->truncated = true;
            return;
        }
        text->bytes[text->size++] = *more;
        text->bytes[text->size] = '\0';
    }
}

void tacit_text_add_u64(struct tacit_text *text, uint64_t value)
{
    char digits[21];
    size_t first = sizeof digits - 1;
    digits[first] = '\0';
    do {
        digits[--first] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    tacit_text_add(text, digits + first);
}

void tacit_text_add_nano(struct tacit_text *text, uint64_t nano)
{
    tacit_text_add_u64(text, nano / 1000000000u);
    uint64_t const fraction = nano % 1000000000u;
    if (fraction == 0)
        return;
    char digits[] = ".000000000";
    uint64_t left = fraction;
    for (size_t i = 9; i >= 1; i--, left /= 10)
        digits[i] = (char)('0' + left % 10);
    for (size_t i = 9; digits[i] == '0'; i--)
        digits[i] = '\0';
    tacit_text_add(text, digits);
}

uint32_t tacit_text_characters(const char *bytes, size_t size)
{
    uint32_t count = 0;
    TACIT_ASSERT(bytes != NULL || size == 0);
    for (size_t i = 0; i < size; i++)
        count += ((unsigned char)bytes[i] & 0xC0u) != 0x80u;
    return count;
}

void tacit_error_clean(struct tacit_error *error)
{
    TACIT_ASSERT(error != NULL);
    for (char *at = error->text; *at != '\0'; at++)
        if ((unsigned char)*at < 0x20u || (unsigned char)*at == 0x7Fu)
            *at = '?';
}
