/* Bytes as hexadecimal digits, and times, as all daemons write them. */
#ifndef TACIT_LIVE_TEXT_H
#define TACIT_LIVE_TEXT_H
#include "tacit/base.h"

#define LIVE_HEX_BYTES(size) (2 * (size) + 1)
#define LIVE_TIME_BYTES 32u

/* Two small digits a byte, and the end. */
void live_hex(const uint8_t *bytes, size_t size, char *text);
/* False: the text's `length` bytes are not `size` bytes written so. */
bool live_hex_read(const char *text, size_t length, uint8_t *bytes, size_t size);

/* "2026-11-22T06:40:00Z". False, and no text: there is no such time. */
bool live_time_text(int64_t unix_s, char text[LIVE_TIME_BYTES]);
#endif
