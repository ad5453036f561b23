/* The walk of src/wire/runtime.c against libprotobuf-c, which it takes the place of: bytes are
 * taken if and only if libprotobuf-c takes them and writes the same ones for what it found, and
 * both write the same. Bytes are made along the description of a message, half of them spoilt. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "elim.pb-c.h"
#include "wire/runtime.h"

#define CASES 4000u /* of each description */
#define BYTES_MAX 8192u

static const ProtobufCMessageDescriptor *const descriptions[] = {
    &tacit__v2__elim_place__descriptor,
    &tacit__v2__elim_parameters__descriptor,
};

/* ---- Bytes along a description --------------------------------------------------------------- */

static uint64_t random_state = 88172645463325252u;

static uint32_t below(uint32_t count)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 32) % count;
}

struct text {
    uint8_t bytes[BYTES_MAX];
    size_t size;
};

static void add(struct text *text, uint8_t byte)
{
    assert_true(text->size < BYTES_MAX);
    text->bytes[text->size++] = byte;
}

static void add_varint(struct text *text, size_t value)
{
    for (; value >= 128; value >>= 7)
        add(text, (uint8_t)(value | 128));
    add(text, (uint8_t)value);
}

static void add_random(struct text *text, size_t count, bool is_text)
{
    for (size_t i = 0; i < count; i++)
        add(text, is_text ? (uint8_t)('a' + below(26)) : (uint8_t)below(256));
}

static size_t width_of(ProtobufCType type)
{
    return type == PROTOBUF_C_TYPE_FIXED64 || type == PROTOBUF_C_TYPE_SFIXED64 ||
                   type == PROTOBUF_C_TYPE_DOUBLE
               ? 8
           : type == PROTOBUF_C_TYPE_STRING || type == PROTOBUF_C_TYPE_BYTES ||
                   type == PROTOBUF_C_TYPE_MESSAGE
               ? 0
               : 4;
}

static void add_message(struct text *text, const ProtobufCMessageDescriptor *description);

static void add_element(struct text *text, const ProtobufCFieldDescriptor *field)
{
    size_t const width = width_of(field->type);
    if (width > 0) {
        add_varint(text, field->id << 3 | (width == 8 ? 1 : 5));
        add_random(text, width, false);
        return;
    }
    add_varint(text, field->id << 3 | 2);
    if (field->type == PROTOBUF_C_TYPE_MESSAGE) {
        static struct text inner[3];
        static uint32_t depth;
        struct text *const part = &inner[depth++];
        assert_true(depth <= 3);
        part->size = 0;
        add_message(part, field->descriptor);
        add_varint(text, part->size);
        for (size_t i = 0; i < part->size; i++)
            add(text, part->bytes[i]);
        depth--;
        return;
    }
    size_t const size = below(8) == 0 ? 130 : below(5);
    add_varint(text, size);
    add_random(text, size, field->type == PROTOBUF_C_TYPE_STRING);
}

static void add_repeated(struct text *text, const ProtobufCFieldDescriptor *field)
{
    size_t const count = below(4);
    size_t const width = width_of(field->type);
    for (size_t i = 0; width == 0 && i < count; i++)
        add_element(text, field);
    if (width == 0 || count == 0)
        return;
    add_varint(text, field->id << 3 | 2);
    add_varint(text, count * width);
    add_random(text, count * width, false);
}

static void add_message(struct text *text, const ProtobufCMessageDescriptor *description)
{
    uint32_t oneofs = 0;
    for (unsigned i = 0; i < description->n_fields; i++)
        oneofs += (description->fields[i].flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0;
    uint32_t const chosen = below(oneofs + 1);
    uint32_t oneof = 0;
    for (unsigned i = 0; i < description->n_fields; i++) {
        const ProtobufCFieldDescriptor *const field = &description->fields[i];
        if (field->label == PROTOBUF_C_LABEL_REPEATED)
            add_repeated(text, field);
        else if ((field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0
                     ? oneof++ == chosen
                     : field->label == PROTOBUF_C_LABEL_REQUIRED || below(2) == 0)
            add_element(text, field);
    }
}

/* A byte is another one, is there twice, or is gone; or two parts change places. */
static void spoil(struct text *text)
{
    if (text->size == 0 || text->size + 1 >= BYTES_MAX)
        return;
    size_t const at = below((uint32_t)text->size);
    switch (below(4)) {
    case 0:
        text->bytes[at] ^= (uint8_t)(1u << below(8));
        return;
    case 1:
        memmove(text->bytes + at + 1, text->bytes + at, text->size - at);
        text->size++;
        return;
    case 2:
        memmove(text->bytes + at, text->bytes + at + 1, text->size - at - 1);
        text->size--;
        return;
    default:
        text->size = at;
    }
}

/* ---- The two ----------------------------------------------------------------------------------
 */

static void *take(void *context, size_t size)
{
    ++*(long *)context;
    return malloc(size > 0 ? size : 1);
}

static void give(void *context, void *block)
{
    --*(long *)context;
    free(block);
}

/* libprotobuf-c keeps what it does not know; there is no room for that in what we write. */
static bool has_unknown(const ProtobufCMessage *message)
{
    const uint8_t *const start = (const uint8_t *)message;
    bool found = message->n_unknown_fields > 0;
    for (unsigned i = 0; i < message->descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *const field = &message->descriptor->fields[i];
        const void *const at = start + field->offset;
        if (field->type != PROTOBUF_C_TYPE_MESSAGE)
            continue;
        if (field->label == PROTOBUF_C_LABEL_REPEATED) {
            size_t const count = *(const size_t *)(start + field->quantifier_offset);
            for (size_t j = 0; j < count; j++)
                found = found || has_unknown((*(ProtobufCMessage * *const *)at)[j]);
        } else if ((field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) == 0 ||
                   *(const uint32_t *)(start + field->quantifier_offset) == field->id) {
            found = found || has_unknown(*(ProtobufCMessage *const *)at);
        }
    }
    return found;
}

/* Does libprotobuf-c take these bytes, and write them again as they are? */
static bool theirs_takes(const ProtobufCMessageDescriptor *description, const uint8_t *bytes,
                         size_t size)
{
    ProtobufCMessage *const message = protobuf_c_message_unpack(description, NULL, size, bytes);
    if (message == NULL)
        return false;
    bool is_same = !has_unknown(message) && protobuf_c_message_get_packed_size(message) == size;
    if (is_same) {
        uint8_t *const packed = malloc(size + 1);
        assert_int_equal(protobuf_c_message_pack(message, packed), size);
        is_same = memcmp(packed, bytes, size) == 0;
        free(packed);
    }
    protobuf_c_message_free_unpacked(message, NULL);
    return is_same;
}

static bool ours_takes(const ProtobufCMessageDescriptor *description, const uint8_t *bytes,
                       size_t size)
{
    long blocks = 0;
    ProtobufCAllocator allocator = {take, give, &blocks};
    ProtobufCMessage *const message = tacit_message_unpack(description, &allocator, size, bytes);
    bool const is_taken = message != NULL;
    if (is_taken) {
        uint8_t *const packed = malloc(size + 1);
        ProtobufCBufferSimple buffer = PROTOBUF_C_BUFFER_SIMPLE_INIT(packed);
        assert_int_equal(tacit_message_get_packed_size(message), size);
        assert_int_equal(tacit_message_pack(message, packed), size);
        assert_memory_equal(packed, bytes, size);
        memset(packed, 0, size);
        buffer.alloced = size + 1;
        assert_int_equal(tacit_message_pack_to_buffer(message, &buffer.base), size);
        assert_memory_equal(packed, bytes, size);
        free(packed);
    }
    tacit_message_free_unpacked(message, &allocator);
    assert_int_equal(blocks, 0); /* all was given back */
    return is_taken;
}

static void both_take_the_same_bytes_and_write_the_same(void **state)
{
    (void)state;
    static struct text text;
    uint32_t taken = 0;
    uint32_t refused = 0;
    for (size_t i = 0; i < sizeof descriptions / sizeof descriptions[0]; i++)
        for (uint32_t j = 0; j < CASES; j++) {
            text.size = 0;
            add_message(&text, descriptions[i]);
            for (uint32_t times = below(3); times > 0; times--)
                spoil(&text);
            uint8_t *const exact = malloc(text.size + 1);
            memcpy(exact + 1, text.bytes, text.size); /* not aligned; a read beyond it is seen */
            bool const ours = ours_takes(descriptions[i], exact + 1, text.size);
            if (ours != theirs_takes(descriptions[i], exact + 1, text.size)) {
                for (size_t at = 0; at < text.size; at++)
                    print_message("%02x", text.bytes[at]);
                fail_msg("%s: ours %d", descriptions[i]->name, ours);
            }
            free(exact);
            taken += ours;
            refused += !ours;
        }
    assert_true(taken > CASES && refused > CASES); /* both were tried */
    print_message("%u taken, %u refused\n", taken, refused);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_take_the_same_bytes_and_write_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
