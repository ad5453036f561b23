/* What all schemas have in common: lengths of parts, and what is a name. */
#ifndef TACIT_WIRE_FORM_H
#define TACIT_WIRE_FORM_H
#include "tacit/base.h"

#define WIRE_FIXED32 (1u + 4u) /* a number with its tag; tags below 16 take one byte */
#define WIRE_FIXED64 (1u + 8u)

/* Bytes of a number in base 128. */
size_t wire_varint_bytes(size_t value);

/* Tag, length, content of a field whose number is below 16. */
size_t wire_field_bytes(size_t content);

/* Bytes of a set over `count`: whole words. */
size_t wire_set_bytes(uint32_t count);

/* 1 to 64 of A-Z a-z 0-9 _ - */
bool wire_is_name(const char *text);
#endif
