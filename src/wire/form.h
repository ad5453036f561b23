/* What all schemas have in common: lengths of parts, and what is a name. */
#ifndef TACIT_WIRE_FORM_H
#define TACIT_WIRE_FORM_H
#include <protobuf-c/protobuf-c.h>
#include "tacit/wire.h"

#define WIRE_FIXED32 (1u + 4u) /* a number with its tag; tags below 16 take one byte */
#define WIRE_FIXED64 (1u + 8u)

/* Bytes of a number in base 128. */
size_t wire_varint_bytes(size_t value);

/* Tag, length, content of a field whose number is below 16. */
size_t wire_field_bytes(size_t content);

/* Bytes of a set over `count`: whole words. */
size_t wire_set_bytes(uint32_t count);

/* Copies `size` bytes, if there are that many. */
bool wire_copy_exact(ProtobufCBinaryData data, uint8_t *bytes, size_t size);

/* 1 to 64 of A-Z a-z 0-9 _ - */
bool wire_is_name(const char *text);

/* Memory from the allocator: 8-byte aligned, and NULL if there is none. */
void *wire_take(const struct tacit_wire_allocator *allocator, size_t size);
void *wire_take_zeros(const struct tacit_wire_allocator *allocator, size_t size);

/* Gives it back; NULL is nothing. */
void wire_give(const struct tacit_wire_allocator *allocator, void *block);

/* The allocator as the generated code wants it. */
ProtobufCAllocator wire_protobuf(const struct tacit_wire_allocator *allocator);

/* For messages of a fixed size: `room` is the caller's, and so is the arena. */
ProtobufCAllocator wire_on_stack(struct tacit_wire_arena *arena, uint64_t *room, size_t size);
#endif
