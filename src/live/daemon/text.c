/* Hexadecimal digits and times. */
#include "text.h"
#include <time.h>

static const char digits[] = "0123456789abcdef";

void live_hex(const uint8_t *bytes, size_t size, char *text)
{
    for (size_t i = 0; i < size; i++) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
    }
    text[2 * size] = '\0';
}

bool live_hex_read(const char *text, size_t length, uint8_t *bytes, size_t size)
{
    TACIT_ASSERT(text != NULL || length == 0);
    for (size_t i = 0; length == 2 * size && i < length; i++) {
        unsigned const digit = (unsigned)(text[i] & 15) + (text[i] > '9' ? 9 : 0);
        if (digit > 15 || text[i] != digits[digit])
            return false;
        bytes[i / 2] = (uint8_t)(i % 2 == 0 ? digit << 4 : bytes[i / 2] | digit);
    }
    return length == 2 * size;
}

bool live_time_text(int64_t unix_s, char text[LIVE_TIME_BYTES])
{
    struct tm parts;
    time_t const at = (time_t)unix_s;
    text[0] = '\0';
    return unix_s > 0 && gmtime_r(&at, &parts) != NULL &&
           strftime(text, LIVE_TIME_BYTES, "%Y-%m-%dT%H:%M:%SZ", &parts) > 0;
}
