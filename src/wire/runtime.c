/* What walks a message along the description that protoc-c makes of its schema: how long it is, its
 * bytes, and back. The build has the generated code call these functions instead of those of
 * libprotobuf-c (decision 28): only what our schemas use, and only the one form that we write, so
 * that a device needs neither a heap nor that library. Bytes of an unpacked message lie where they
 * came from, which has to outlive it. */
#include "runtime.h"
#include <string.h>
#include "form.h"
#include "tacit/base.h"

enum { WIRE_BITS64 = 1, WIRE_LENGTH = 2, WIRE_BITS32 = 5 };

/* ---- Fields ---- */

static void *place_of(const ProtobufCMessage *message, unsigned offset)
{
    TACIT_ASSERT(offset < message->descriptor->sizeof_message);
    return (uint8_t *)(uintptr_t)message + offset;
}

/* Bytes of a number; 0: texts, bytes, messages. */
static size_t width_of(const ProtobufCFieldDescriptor *field)
{
    switch (field->type) {
    case PROTOBUF_C_TYPE_FIXED32:
    case PROTOBUF_C_TYPE_SFIXED32:
    case PROTOBUF_C_TYPE_FLOAT:
        return 4;
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_DOUBLE:
        return 8;
    default:
        TACIT_ASSERT(field->type == PROTOBUF_C_TYPE_STRING ||
                     field->type == PROTOBUF_C_TYPE_BYTES ||
                     field->type == PROTOBUF_C_TYPE_MESSAGE);
        return 0;
    }
}

static bool is_oneof(const ProtobufCFieldDescriptor *field)
{
    return (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0;
}

static uint32_t tag_of(const ProtobufCFieldDescriptor *field)
{
    size_t const width = width_of(field);
    bool const is_plain = width > 0 && field->label != PROTOBUF_C_LABEL_REPEATED;
    TACIT_ASSERT(field->id > 0);
    return field->id << 3 | (!is_plain ? WIRE_LENGTH : width == 8 ? WIRE_BITS64 : WIRE_BITS32);
}

/* Room of an element in memory. */
static size_t element_bytes(const ProtobufCFieldDescriptor *field)
{
    size_t const width = width_of(field);
    if (width > 0)
        return width;
    return field->type == PROTOBUF_C_TYPE_BYTES ? sizeof(ProtobufCBinaryData) : sizeof(void *);
}

/* ---- Packing: one walk, whose bytes are written, handed on, or only counted ---- */

struct sink {
    uint8_t *bytes;
    ProtobufCBuffer *buffer;
    size_t count;
};

static void put(struct sink *sink, const void *bytes, size_t size)
{
    TACIT_IMPLIES(size > 0, bytes != NULL);
    if (sink->buffer != NULL && size > 0)
        sink->buffer->append(sink->buffer, size, bytes);
    if (sink->bytes != NULL && size > 0)
        memcpy(sink->bytes + sink->count, bytes, size);
    sink->count += size;
}

static void put_varint(struct sink *sink, size_t value)
{
    uint8_t bytes[10];
    size_t size = 0;
    for (; value >= 128; value >>= 7)
        bytes[size++] = (uint8_t)(value | 128);
    bytes[size++] = (uint8_t)value;
    put(sink, bytes, size);
}

/* Lowest byte first, whatever the machine. */
static void put_number(struct sink *sink, const void *number, size_t width)
{
    uint8_t bytes[8];
    uint32_t low = 0;
    uint64_t value = 0;
    TACIT_ASSERT(width == sizeof low || width == sizeof value);
    memcpy(width == 4 ? (void *)&low : (void *)&value, number, width);
    value |= low;
    for (size_t i = 0; i < width; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
    put(sink, bytes, width);
}

/* Where numbers lie in memory as they do on the wire, they go at once. */
static bool is_little_endian(void)
{
    uint16_t const one = 1;
    uint8_t first;
    memcpy(&first, &one, sizeof first);
    return first == 1;
}

static void put_numbers(struct sink *sink, const uint8_t *numbers, size_t count, size_t width)
{
    TACIT_ASSERT(count > 0);
    if (is_little_endian()) {
        put(sink, numbers, count * width);
        return;
    }
    for (size_t i = 0; i < count; i++)
        put_number(sink, numbers + i * width, width);
}

static void put_message(struct sink *sink, const ProtobufCMessage *message);

static void put_element(struct sink *sink, const ProtobufCFieldDescriptor *field, const void *at)
{
    put_varint(sink, tag_of(field));
    if (width_of(field) > 0) {
        put_number(sink, at, width_of(field));
    } else if (field->type == PROTOBUF_C_TYPE_BYTES) {
        const ProtobufCBinaryData *const data = at;
        put_varint(sink, data->len);
        put(sink, data->data, data->len);
    } else if (field->type == PROTOBUF_C_TYPE_STRING) {
        const char *const text = *(char *const *)at;
        size_t const size = text == NULL ? 0 : strlen(text);
        put_varint(sink, size);
        put(sink, text, size);
    } else {
        const ProtobufCMessage *const inner = *(ProtobufCMessage *const *)at;
        TACIT_ASSERT(inner != NULL);
        put_varint(sink, tacit_message_get_packed_size(inner));
        put_message(sink, inner);
    }
}

static void put_repeated(struct sink *sink, const ProtobufCFieldDescriptor *field, const void *at,
                         size_t count)
{
    size_t const step = element_bytes(field);
    size_t const width = width_of(field);
    const uint8_t *const elements = *(uint8_t *const *)at;
    TACIT_IMPLIES(width > 0, (field->flags & PROTOBUF_C_FIELD_FLAG_PACKED) != 0);
    if (width > 0 && count > 0) {
        put_varint(sink, tag_of(field));
        put_varint(sink, count * width);
        put_numbers(sink, elements, count, width);
    }
    for (size_t i = 0; width == 0 && i < count; i++)
        put_element(sink, field, elements + i * step);
}

/* Is there something of this field? Its quantifier says so; optional texts and parts, which have
 * none, are not in use. */
static bool is_there(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field)
{
    const void *const quantifier = place_of(message, field->quantifier_offset);
    if (is_oneof(field))
        return *(const uint32_t *)quantifier == field->id;
    if (field->label == PROTOBUF_C_LABEL_REQUIRED)
        return true;
    TACIT_ASSERT(field->quantifier_offset > 0);
    return *(const protobuf_c_boolean *)quantifier != 0;
}

static void put_message(struct sink *sink, const ProtobufCMessage *message)
{
    const ProtobufCMessageDescriptor *const descriptor = message->descriptor;
    TACIT_ASSERT(descriptor->magic == PROTOBUF_C__MESSAGE_DESCRIPTOR_MAGIC);
    for (unsigned i = 0; i < descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *const field = &descriptor->fields[i];
        const void *const at = place_of(message, field->offset);
        if (field->label == PROTOBUF_C_LABEL_REPEATED)
            put_repeated(sink, field, at,
                         *(const size_t *)place_of(message, field->quantifier_offset));
        else if (is_there(message, field))
            put_element(sink, field, at);
    }
}

size_t tacit_message_get_packed_size(const ProtobufCMessage *message)
{
    struct sink sink = {NULL, NULL, 0};
    put_message(&sink, message);
    return sink.count;
}

size_t tacit_message_pack(const ProtobufCMessage *message, uint8_t *bytes)
{
    struct sink sink = {bytes, NULL, 0};
    TACIT_ASSERT(bytes != NULL);
    put_message(&sink, message);
    return sink.count;
}

size_t tacit_message_pack_to_buffer(const ProtobufCMessage *message, ProtobufCBuffer *buffer)
{
    struct sink sink = {NULL, buffer, 0};
    TACIT_ASSERT(buffer != NULL);
    put_message(&sink, message);
    return sink.count;
}

/* ---- Unpacking ---- */

struct source {
    const uint8_t *at;
    const uint8_t *end;
    ProtobufCAllocator *allocator;
};

/* In its shortest form, which is at most five bytes. */
static bool take_varint(struct source *source, uint32_t *value)
{
    uint64_t found = 0;
    for (unsigned shift = 0; shift < 35; shift += 7) {
        if (source->at == source->end)
            return false;
        uint8_t const byte = *source->at++;
        found |= (uint64_t)(byte & 127u) << shift;
        if (byte < 128) {
            *value = (uint32_t)found;
            return found <= UINT32_MAX && (byte > 0 || shift == 0);
        }
    }
    return false;
}

/* Is the next tag this one? If it is, it is read. */
static bool take_tag(struct source *source, uint32_t tag)
{
    struct source look = *source;
    uint32_t found;
    if (!take_varint(&look, &found) || found != tag)
        return false;
    *source = look;
    return true;
}

/* A length, and that many bytes. */
static bool take_part(struct source *source, struct source *part)
{
    uint32_t size;
    if (!take_varint(source, &size) || size > (size_t)(source->end - source->at))
        return false;
    *part = (struct source){source->at, source->at + size, source->allocator};
    source->at += size;
    return true;
}

static void take_number(struct source *source, void *into, size_t width)
{
    uint64_t value = 0;
    TACIT_ASSERT((size_t)(source->end - source->at) >= width);
    for (size_t i = 0; i < width; i++)
        value |= (uint64_t)source->at[i] << (8 * i);
    uint32_t const low = (uint32_t)value;
    memcpy(into, width == 4 ? (const void *)&low : (const void *)&value, width);
    source->at += width;
}

static void *take_room(const struct source *source, size_t size)
{
    return source->allocator->alloc(source->allocator->allocator_data, size);
}

/* A copy that ends with a zero; there is none within. */
static bool take_text(const struct source *part, char **text)
{
    size_t const size = (size_t)(part->end - part->at);
    for (size_t i = 0; i < size; i++)
        if (part->at[i] == 0)
            return false;
    char *const copy = take_room(part, size + 1);
    if (copy == NULL)
        return false;
    if (size > 0)
        memcpy(copy, part->at, size);
    copy[size] = '\0';
    *text = copy;
    return true;
}

/* What follows a tag. */
static bool take_element(struct source *source, const ProtobufCFieldDescriptor *field, void *at)
{
    size_t const width = width_of(field);
    struct source part;
    if (width > 0) {
        if ((size_t)(source->end - source->at) < width)
            return false;
        take_number(source, at, width);
        return true;
    }
    if (!take_part(source, &part))
        return false;
    size_t const size = (size_t)(part.end - part.at);
    if (field->type == PROTOBUF_C_TYPE_STRING)
        return take_text(&part, at);
    if (field->type == PROTOBUF_C_TYPE_BYTES) {
        *(ProtobufCBinaryData *)at =
            (ProtobufCBinaryData){size, (uint8_t *)(uintptr_t)(size > 0 ? part.at : NULL)};
        return true;
    }
    ProtobufCMessage *const inner =
        tacit_message_unpack(field->descriptor, part.allocator, size, part.at);
    *(ProtobufCMessage **)at = inner;
    return inner != NULL;
}

static bool take_numbers(struct source *source, const ProtobufCFieldDescriptor *field, void *at,
                         size_t *count)
{
    size_t const width = width_of(field);
    struct source part;
    if (!take_part(source, &part))
        return false;
    size_t const size = (size_t)(part.end - part.at);
    uint8_t *const numbers = size > 0 && size % width == 0 ? take_room(source, size) : NULL;
    if (numbers == NULL)
        return false;
    *(uint8_t **)at = numbers;
    *count = size / width;
    if (is_little_endian())
        memcpy(numbers, part.at, size);
    for (size_t i = 0; !is_little_endian() && i < *count; i++)
        take_number(&part, numbers + i * width, width);
    return true;
}

/* Elements with this tag from here on; what is in them is not looked at. */
static size_t count_parts(struct source source, uint32_t tag)
{
    struct source part;
    size_t count = 0;
    while (take_tag(&source, tag) && take_part(&source, &part))
        count++;
    return count;
}

static bool take_parts(struct source *source, const ProtobufCFieldDescriptor *field, void *at,
                       size_t *count)
{
    uint32_t const tag = tag_of(field);
    size_t const step = element_bytes(field);
    size_t const found = count_parts(*source, tag);
    uint8_t *const elements = found > 0 ? take_room(source, found * step) : NULL;
    if (elements == NULL)
        return found == 0;
    *(uint8_t **)at = elements;
    while (*count < found) {
        bool const is_next = take_tag(source, tag);
        TACIT_ASSERT(is_next);
        if (!take_element(source, field, elements + *count * step))
            return false;
        ++*count;
    }
    return true;
}

static bool take_field(struct source *source, const ProtobufCFieldDescriptor *field,
                       ProtobufCMessage *message)
{
    void *const at = place_of(message, field->offset);
    void *const quantifier = place_of(message, field->quantifier_offset);
    if (field->label == PROTOBUF_C_LABEL_REPEATED && width_of(field) == 0)
        return take_parts(source, field, at, quantifier);
    if (is_oneof(field) && *(uint32_t *)quantifier != 0)
        return true; /* it has one already; what is left over is refused at the end */
    if (!take_tag(source, tag_of(field)))
        return field->label != PROTOBUF_C_LABEL_REQUIRED;
    if (field->label == PROTOBUF_C_LABEL_REPEATED)
        return take_numbers(source, field, at, quantifier);
    if (!take_element(source, field, at))
        return false;
    if (is_oneof(field))
        *(uint32_t *)quantifier = field->id;
    else if (field->label == PROTOBUF_C_LABEL_OPTIONAL && field->type != PROTOBUF_C_TYPE_STRING &&
             field->type != PROTOBUF_C_TYPE_MESSAGE)
        *(protobuf_c_boolean *)quantifier = 1;
    return true;
}

ProtobufCMessage *tacit_message_unpack(const ProtobufCMessageDescriptor *descriptor,
                                       ProtobufCAllocator *allocator, size_t size,
                                       const uint8_t *bytes)
{
    struct source source = {bytes, bytes + size, allocator};
    TACIT_ASSERT(allocator != NULL);
    ProtobufCMessage *const message = take_room(&source, descriptor->sizeof_message);
    if (message == NULL)
        return NULL;
    descriptor->message_init(message);
    bool is_good = true;
    for (unsigned i = 0; i < descriptor->n_fields && is_good; i++)
        is_good = take_field(&source, &descriptor->fields[i], message);
    if (is_good && source.at == source.end)
        return message;
    tacit_message_free_unpacked(message, allocator);
    return NULL;
}

/* ---- Giving back ---- */

static void give(ProtobufCAllocator *allocator, void *block)
{
    if (block != NULL)
        allocator->free(allocator->allocator_data, block);
}

/* A text or a message; bytes are not ours. */
static void give_element(ProtobufCAllocator *allocator, const ProtobufCFieldDescriptor *field,
                         void *at)
{
    if (field->type == PROTOBUF_C_TYPE_STRING)
        give(allocator, *(char **)at);
    else if (field->type == PROTOBUF_C_TYPE_MESSAGE)
        tacit_message_free_unpacked(*(ProtobufCMessage **)at, allocator);
}

void tacit_message_free_unpacked(ProtobufCMessage *message, ProtobufCAllocator *allocator)
{
    if (message == NULL)
        return;
    const ProtobufCMessageDescriptor *const descriptor = message->descriptor;
    for (unsigned i = descriptor->n_fields; i-- > 0;) { /* last taken, first given */
        const ProtobufCFieldDescriptor *const field = &descriptor->fields[i];
        void *const at = place_of(message, field->offset);
        if (field->label == PROTOBUF_C_LABEL_REPEATED) {
            size_t const count = *(size_t *)place_of(message, field->quantifier_offset);
            for (size_t j = count; j-- > 0;)
                give_element(allocator, field, *(uint8_t **)at + j * element_bytes(field));
            give(allocator, *(uint8_t **)at);
        } else if (is_there(message, field)) {
            give_element(allocator, field, at);
        }
    }
    give(allocator, message);
}
