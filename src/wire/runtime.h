/* What the code that protoc-c generates calls, under names of our own (meson.build renames
 * protobuf_c_message_* to these). What each does is what libprotobuf-c says of its function, but
 * only for bytes in the form that is written here: fields in order, each once, numbers as short as
 * they can be, nothing unknown. Bytes of an unpacked message point into those it was made of. */
#ifndef TACIT_WIRE_RUNTIME_H
#define TACIT_WIRE_RUNTIME_H
#include <protobuf-c/protobuf-c.h>

size_t tacit_message_get_packed_size(const ProtobufCMessage *message);
size_t tacit_message_pack(const ProtobufCMessage *message, uint8_t *bytes);
size_t tacit_message_pack_to_buffer(const ProtobufCMessage *message, ProtobufCBuffer *buffer);

/* NULL: another form, or no memory. Requires: an allocator. */
ProtobufCMessage *tacit_message_unpack(const ProtobufCMessageDescriptor *descriptor,
                                       ProtobufCAllocator *allocator, size_t size,
                                       const uint8_t *bytes);
void tacit_message_free_unpacked(ProtobufCMessage *message, ProtobufCAllocator *allocator);
#endif
