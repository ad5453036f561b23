/* What all messages have in common: what is a name, and memory. */
#ifndef TACIT_WIRE_FORM_H
#define TACIT_WIRE_FORM_H
#include "tacit/wire.h"

/* 1 to 64 of A-Z a-z 0-9 _ - */
bool wire_is_name(const char *text);

/* Memory from the allocator: 8-byte aligned, and NULL if there is none. */
void *wire_take(const struct tacit_wire_allocator *allocator, size_t size);

/* Gives it back; NULL is nothing. */
void wire_give(const struct tacit_wire_allocator *allocator, void *block);
#endif
