/* The walk along the table of a message: its length, its bytes, and a strict reading of them. */
#include "walk.h"
#include <math.h>
#include <string.h>
#include "tacit/core.h"
#include "tacit/linalg.h"

#define FIELDS_MAX 20u  /* of a table */
#define STRUCT_MAX 512u /* bytes of a message's struct */
#define PART_MAX 192u   /* of what is in a message, again and again */

enum { BITS64 = 1, LENGTH = 2, BITS32 = 5 }; /* how protobuf says how a field ends */

struct sizes {
    uint32_t of[WIRE_SIZES];
};

static struct sizes sizes_of(const struct tacit_wire_shape *shape)
{
    if (shape == NULL)
        return (struct sizes){{1}};
    uint32_t const d = shape->dimension;
    uint32_t const triangle = (uint32_t)TACIT_LINALG_PACKED(d);
    return (struct sizes){
        {1, shape->arm_count, shape->agent_count, shape->to, d, triangle, triangle + d}};
}

/* ---- Fields ---- */

static uint64_t load(const uint8_t *at, size_t size)
{
    uint32_t small;
    uint64_t value;
    if (size == 1)
        return *at;
    if (size == sizeof small) {
        memcpy(&small, at, sizeof small);
        return small;
    }
    TACIT_ASSERT(size == sizeof value);
    memcpy(&value, at, sizeof value);
    return value;
}

static void store(uint8_t *at, size_t size, uint64_t value)
{
    uint32_t const small = (uint32_t)value;
    TACIT_ASSERT(size == 1 || size == sizeof small || size == sizeof value);
    if (size == 1)
        *at = (uint8_t)value;
    else if (size == sizeof small)
        memcpy(at, &small, sizeof small);
    else
        memcpy(at, &value, sizeof value);
}

static uint64_t member_of(const uint8_t *message, struct wire_member member)
{
    TACIT_ASSERT(message != NULL);
    return load(message + member.at, member.size);
}

/* Is it one number, of fixed length, rather than a length and so many bytes? */
static bool is_single(const struct wire_field *field)
{
    return field->kind <= WIRE_REAL || field->kind == WIRE_SPAN;
}

static uint32_t tag_of(const struct wire_field *field)
{
    TACIT_ASSERT(field->number > 0);
    unsigned const end = !is_single(field) ? LENGTH : field->width == 8 ? BITS64 : BITS32;
    return (uint32_t)field->number << 3 | end;
}

/* Elements that are written; WIRE_ABSENT: the field is not there. */
static size_t count_of(const struct wire_field *field, const uint8_t *message,
                       const uint32_t *sizes)
{
    if (field->rule != NULL)
        return field->rule(message, sizes);
    if (field->when.size > 0 && member_of(message, field->when) == 0)
        return WIRE_ABSENT;
    if (is_single(field) || field->kind == WIRE_BLOB)
        return 1;
    size_t const count =
        field->counted.size > 0 ? (size_t)member_of(message, field->counted) : sizes[field->per];
    if (field->kind == WIRE_SET)
        return TACIT_BITS_WORDS(count);
    return count == 0 && field->kind != WIRE_BYTES ? WIRE_ABSENT : count;
}

/* NULL: there is none, or only the length is asked for. */
static const uint8_t *elements_of(const struct wire_field *field, const uint8_t *message)
{
    const uint8_t *elements = message;
    if (field->via != 0)
        memcpy(&elements, message + field->via, sizeof elements);
    return elements == NULL ? NULL : elements + field->member.at;
}

/* Where numbers lie in memory as they do on the wire, they go at once. */
static bool is_little_endian(void)
{
    uint16_t const one = 1;
    uint8_t first;
    memcpy(&first, &one, sizeof first);
    return first == 1;
}

/* ---- Lengths and bytes: one walk, which counts where there is no room ---- */

size_t wire_part_bytes(size_t content)
{
    size_t bytes = 1 + content;
    for (; content >= 128; content >>= 7)
        bytes++;
    return bytes;
}

struct sink {
    uint8_t *bytes; /* NULL: they are counted, and elements not looked at */
    size_t size;
    const uint32_t *sizes;
};

/* Is there no room for bytes? Then these are counted. */
static bool only_counts(struct sink *sink, size_t size)
{
    TACIT_ASSERT(size <= SIZE_MAX - sink->size);
    sink->size += sink->bytes == NULL ? size : 0;
    return sink->bytes == NULL;
}

static void put(struct sink *sink, const void *bytes, size_t size)
{
    if (only_counts(sink, size) || size == 0)
        return;
    memcpy(sink->bytes + sink->size, bytes, size);
    sink->size += size;
}

static void put_byte(struct sink *sink, size_t byte)
{
    if (sink->bytes != NULL)
        sink->bytes[sink->size] = (uint8_t)byte;
    sink->size++;
}

static void put_varint(struct sink *sink, size_t value)
{
    for (; value >= 128; value >>= 7)
        put_byte(sink, value | 128);
    put_byte(sink, value);
}

/* Lowest byte first. */
static void put_number(struct sink *sink, uint64_t value, size_t width)
{
    TACIT_ASSERT(width == 4 || width == 8);
    for (size_t i = 0; i < width && sink->bytes != NULL; i++)
        sink->bytes[sink->size + i] = (uint8_t)(value >> (8 * i));
    sink->size += width;
}

static void put_elements(struct sink *sink, const struct wire_field *field, const uint8_t *from,
                         size_t count)
{
    size_t const width = field->width;
    bool const is_raw = field->kind == WIRE_BYTES || is_little_endian();
    TACIT_ASSERT(width > 0);
    bool const is_one = is_raw && (count <= 1 || field->stride == width);
    if (is_one)
        put(sink, from, count * width);
    if (is_one || only_counts(sink, count * width))
        return;
    for (size_t i = 0; i < count; i++, from += field->stride) {
        if (is_raw)
            put(sink, from, width);
        else
            put_number(sink, load(from, width), width);
    }
}

/* Of a table of all agents the rows of these. */
static void put_rows(struct sink *sink, const struct wire_field *field, const uint8_t *message,
                     size_t count)
{
    uint32_t const agents = sink->sizes[WIRE_AGENTS];
    const uint8_t *const from = elements_of(field, message);
    const uint64_t *set;
    memcpy(&set, message + field->rows, sizeof set);
    size_t const row_elements = count / tacit_bits_count(set, agents);
    size_t const apart =
        field->stride * (field->kind == WIRE_ROW ? (size_t)member_of(message, field->apart) : 1);
    TACIT_BITS_EACH (row, set, agents)
        put_elements(sink, field, from + row * apart, row_elements);
}

/* The upper triangle, row by row. */
static void put_matrix(struct sink *sink, const struct wire_field *field, const uint8_t *matrix)
{
    uint32_t const d = sink->sizes[WIRE_NUMBERS];
    for (uint32_t i = 0; i < d; i++)
        put_elements(sink, field, matrix + (i * TACIT_LINALG_STRIDE(d) + i) * sizeof(double),
                     d - i);
}

static uint8_t set_byte(const uint64_t *set, size_t index)
{
    return (uint8_t)(set[index / 8] >> (8 * (index % 8)));
}

/* The bytes of a set from that of its lowest member to that of its highest. */
static void put_span(struct sink *sink, const struct wire_field *field, const uint64_t *set)
{
    size_t first = 0;
    size_t end = TACIT_BITS_WORDS(sink->sizes[field->per]) * sizeof *set;
    TACIT_ASSERT(set != NULL);
    while (first < end && set[first / 8] == 0)
        first += sizeof *set;
    while (first < end && set[end / 8 - 1] == 0)
        end -= sizeof *set;
    while (first < end && set_byte(set, first) == 0)
        first++;
    while (first < end && set_byte(set, end - 1) == 0)
        end--;
    put_number(sink, first < end ? first * 8 : 0, 4);
    put_varint(sink, (field->number + 1u) << 3 | LENGTH);
    put_varint(sink, end - first);
    if (only_counts(sink, end - first))
        return;
    TACIT_ASSERT(tacit_bits_within(set, set, sink->sizes[field->per]));
    for (; first < end; first++)
        put_byte(sink, set_byte(set, first));
}

static void put_text(struct sink *sink, const char *text)
{
    TACIT_ASSERT(text != NULL);
    size_t const size = strlen(text);
    TACIT_ASSERT(size <= TACIT_WIRE_BYTES_MAX);
    put_varint(sink, size);
    put(sink, text, size);
}

static void put_fields(struct sink *sink, const struct tacit_wire_table *table,
                       const uint8_t *message);

static void put_part(struct sink *sink, const struct tacit_wire_table *table,
                     const uint8_t *message)
{
    TACIT_ASSERT(table != NULL && message != NULL);
    struct sink inner = {.sizes = sink->sizes};
    put_fields(&inner, table, message);
    put_varint(sink, inner.size);
    if (!only_counts(sink, inner.size))
        put_fields(sink, table, message);
}

/* Each with a tag of its own. */
static void put_each(struct sink *sink, const struct wire_field *field, const uint8_t *from,
                     size_t count)
{
    TACIT_ASSERT(count == 0 || from != NULL);
    for (size_t i = 0; i < count; i++, from += field->stride) {
        const char *text;
        if (i > 0)
            put_varint(sink, tag_of(field));
        if (field->kind == WIRE_PARTS) {
            put_part(sink, field->inner, from);
        } else {
            memcpy(&text, from, sizeof text);
            put_text(sink, text);
        }
    }
}

static void put_content(struct sink *sink, const struct wire_field *field, const uint8_t *message,
                        size_t count)
{
    const uint8_t *const from = elements_of(field, message);
    switch ((enum wire_kind)field->kind) {
    case WIRE_VERSION:
        put_number(sink, field->most, 4);
        return;
    case WIRE_NUMBER:
    case WIRE_KIND:
    case WIRE_REAL:
        put_number(sink, load(from, field->member.size) + (field->kind == WIRE_KIND), field->width);
        return;
    case WIRE_TWICE:
        put_number(sink, 2 * load(from, 4) + member_of(message, field->counted), 4);
        return;
    case WIRE_EMPTY:
        put_varint(sink, 0);
        return;
    case WIRE_BYTES:
    case WIRE_ROW:
    case WIRE_REALS:
    case WIRE_SET:
    case WIRE_MATRIX:
        put_varint(sink, count * field->width);
        if (only_counts(sink, count * field->width))
            return;
        if (field->kind == WIRE_MATRIX)
            put_matrix(sink, field, from);
        else if (field->apart.size > 0 && count > 0 && member_of(message, field->apart) > 0)
            put_rows(sink, field, message, count);
        else
            put_elements(sink, field, from, count);
        return;
    case WIRE_SPAN:
        put_span(sink, field, (const uint64_t *)(const void *)from);
        return;
    case WIRE_NAME:
        put_text(sink, (const char *)from);
        return;
    case WIRE_BLOB:
        count = (size_t)member_of(message, field->counted);
        put_varint(sink, count);
        put(sink, from, count);
        return;
    case WIRE_TEXT:
    case WIRE_PARTS:
        put_each(sink, field, from, count);
        return;
    }
    TACIT_ASSERT(false);
}

static void put_fields(struct sink *sink, const struct tacit_wire_table *table,
                       const uint8_t *message)
{
    for (size_t i = 0; i < table->field_count; i++) {
        const struct wire_field *const field = &table->fields[i];
        bool const is_plain_number = field->kind <= WIRE_REAL && field->when.size == 0;
        if (is_plain_number && only_counts(sink, field->width + (field->number < 16 ? 1u : 2u)))
            continue; /* most are such */
        size_t const count = is_plain_number ? 1 : count_of(field, message, sink->sizes);
        if (count == WIRE_ABSENT)
            continue;
        put_varint(sink, tag_of(field));
        put_content(sink, field, message, count);
    }
    if (table->bodies == NULL)
        return;
    uint32_t const body = (uint32_t)member_of(message, table->kind) - table->first_kind;
    TACIT_ASSERT(body < table->body_count);
    put_varint(sink, (WIRE_BODY + body) << 3 | LENGTH);
    put_part(sink, table->bodies[body], message);
}

size_t tacit_wire_bytes(const struct tacit_wire_table *table, const struct tacit_wire_shape *shape,
                        const void *message)
{
    struct sizes const sizes = sizes_of(shape);
    struct sink sink = {.sizes = sizes.of};
    TACIT_ASSERT(table != NULL && message != NULL);
    put_fields(&sink, table, message);
    return sink.size;
}

void tacit_wire_encode(const struct tacit_wire_table *table, const struct tacit_wire_shape *shape,
                       const void *message, uint8_t *bytes)
{
    struct sizes const sizes = sizes_of(shape);
    struct sink sink = {.bytes = bytes, .sizes = sizes.of};
    TACIT_ASSERT(bytes != NULL && message != NULL);
    put_fields(&sink, table, message);
}

struct tacit_wire_label tacit_wire_label(const struct tacit_wire_table *table, const void *message)
{
    bool const has_kinds = table->kind.size > 0;
    uint32_t const kind = has_kinds ? (uint32_t)member_of(message, table->kind) - table->first_kind
                                    : table->first_kind;
    TACIT_ASSERT(table->from.size > 0);
    TACIT_IMPLIES(has_kinds, kind < table->body_count || table->bodies == NULL);
    return (struct tacit_wire_label){
        .from = (uint32_t)member_of(message, table->from),
        .to = table->to.size > 0 ? (uint32_t)member_of(message, table->to) : TACIT_HUB,
        .kind = TACIT_WIRE_KIND_ANNOUNCEMENT + 1 + kind,
        .epoch = table->epoch.size > 0 ? (uint32_t)member_of(message, table->epoch) : 0};
}

/* ---- Reading: the same walk twice, first for the room that all takes ---- */

struct source {
    const uint8_t *at;
    const uint8_t *end;
    const uint32_t *sizes;
    bool measures; /* what is pointed to is only counted, and what all say together not looked at */
    uint8_t *room; /* NULL: what is pointed to stays where it is */
    size_t used;
    uint16_t via; /* what was claimed last, and how much: another member of the same */
    size_t claimed;
};

/* In its shortest form, which is at most five bytes. */
static bool read_varint(struct source *source, uint32_t *value)
{
    uint64_t found = 0;
    TACIT_ASSERT(source->at <= source->end);
    for (unsigned shift = 0; shift < 35 && source->at < source->end; shift += 7) {
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
static bool read_tag(struct source *source, uint32_t tag)
{
    struct source look = *source;
    uint32_t found;
    if (!read_varint(&look, &found) || found != tag)
        return false;
    source->at = look.at;
    return true;
}

/* A length, and that many bytes. */
static bool read_part(struct source *source, const uint8_t **part, size_t *size)
{
    uint32_t found;
    if (!read_varint(source, &found) || found > (size_t)(source->end - source->at))
        return false;
    *part = source->at;
    *size = found;
    source->at += found;
    return true;
}

static uint64_t number_at(const uint8_t *bytes, size_t width)
{
    uint64_t value = 0;
    TACIT_ASSERT(width == 4 || width == 8);
    if (is_little_endian())
        return load(bytes, width);
    for (size_t i = 0; i < width; i++)
        value |= (uint64_t)bytes[i] << (8 * i);
    return value;
}

static bool is_finite(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return isfinite(value);
}

static bool is_in_range(const struct wire_field *field, uint64_t value)
{
    return value >= field->least && (field->most == 0 || value <= field->most);
}

static bool is_allowed(const struct wire_field *field, uint64_t value, const uint32_t *sizes)
{
    if (field->kind == WIRE_REAL || field->kind == WIRE_REALS)
        return is_finite(value);
    if (field->or_none && value == UINT32_MAX)
        return true;
    if (field->member.size == 1 && value > UINT8_MAX) /* a short enumeration */
        return false;
    return is_in_range(field, value) && (field->below == WIRE_ONE || value < sizes[field->below]);
}

/* Room for this many elements, which are zeros; of a second member of them the same. NULL: they are
 * only counted. False: the first member was of another number. */
static bool claim(struct source *source, const struct wire_field *field, size_t count, size_t size,
                  uint8_t *message, uint8_t **elements)
{
    *elements = message;
    if (field->via == 0)
        return count <= 1;
    if (source->via == field->via) {
        memcpy(elements, message + field->via, sizeof *elements);
        return count == 0 || count == source->claimed;
    }
    TACIT_ASSERT(source->measures || source->room != NULL);
    source->via = field->via;
    source->claimed = count;
    *elements = source->measures ? NULL : source->room + source->used;
    source->used += (size + 7u) & ~(size_t)7u;
    memcpy(message + field->via, elements, sizeof *elements);
    return true;
}

/* Any numbers, one next to the other? */
static bool is_plain(const struct wire_field *field)
{
    return field->kind == WIRE_ROW && field->stride == field->width && field->least == 0 &&
           field->most == 0 && field->below == WIRE_ONE;
}

static bool read_elements(struct source *source, const struct wire_field *field, uint8_t *message,
                          size_t *count)
{
    const uint8_t *part;
    size_t size;
    uint8_t *elements;
    size_t const width = field->width;
    TACIT_ASSERT(width > 0);
    if (!read_part(source, &part, &size) || size % width != 0)
        return false;
    *count = size / width;
    size_t const padded = field->kind == WIRE_REALS ? TACIT_LINALG_STRIDE(*count) : *count;
    bool const is_another = *count != source->sizes[field->per] && field->kind != WIRE_SET &&
                            field->counted.size == 0 && field->rule == NULL;
    if (is_another || (*count == 0 && field->kind != WIRE_BYTES) ||
        !claim(source, field, *count, padded * field->stride, message, &elements))
        return false;
    if (elements == NULL)
        return true;
    if (field->kind == WIRE_BYTES) {
        for (size_t i = 0; i < *count; i++)
            memcpy(elements + i * field->stride + field->member.at, part + i * width, width);
        return true;
    }
    if (is_plain(field) && is_little_endian()) {
        memcpy(elements, part, size);
        return true;
    }
    for (size_t i = 0; i < *count; i++) {
        uint64_t const value = number_at(part + i * width, width);
        if (!is_allowed(field, value, source->sizes))
            return false;
        store(elements + i * field->stride + field->member.at, width, value);
    }
    uint64_t const *const set = (const uint64_t *)(const void *)elements;
    uint32_t const members = source->sizes[field->per];
    return field->kind != WIRE_SET ||
           (*count == TACIT_BITS_WORDS(members) && tacit_bits_within(set, set, members));
}

/* A sum that began at zero is never the other zero. */
static bool read_matrix(struct source *source, const struct wire_field *field, uint8_t *message,
                        size_t *count)
{
    uint32_t const d = source->sizes[WIRE_NUMBERS];
    *count = TACIT_LINALG_PACKED(d);
    const uint8_t *part;
    size_t size;
    uint8_t *elements;
    if (!read_part(source, &part, &size) || size != *count * sizeof(double) ||
        !claim(source, field, 1, TACIT_LINALG_MATRIX(d) * sizeof(double), message, &elements))
        return false;
    for (uint32_t i = 0; elements != NULL && i < d; i++)
        for (uint32_t j = i; j < d; j++, part += sizeof(double)) {
            uint64_t const value = number_at(part, sizeof value);
            if (!is_finite(value) || value == UINT64_C(1) << 63)
                return false;
            store(elements + (i * TACIT_LINALG_STRIDE(d) + j) * sizeof value, sizeof value, value);
            store(elements + (j * TACIT_LINALG_STRIDE(d) + i) * sizeof value, sizeof value, value);
        }
    return true;
}

/* Neither its first byte nor its last is 0, and it begins at a whole one. */
static bool read_span(struct source *source, const struct wire_field *field, uint8_t *message)
{
    uint32_t const count = source->sizes[field->per];
    size_t const room = TACIT_BITS_WORDS(count) * sizeof(uint64_t);
    const uint8_t *part;
    size_t size;
    uint8_t *elements;
    if (source->end - source->at < 4)
        return false;
    size_t const first = (size_t)number_at(source->at, 4);
    source->at += 4;
    if (!read_tag(source, (field->number + 1u) << 3 | LENGTH) || !read_part(source, &part, &size) ||
        (size == 0 ? first != 0 : part[0] == 0 || part[size - 1] == 0) || first % 8 != 0 ||
        first / 8 > room || size > room - first / 8 ||
        !claim(source, field, 1, room, message, &elements))
        return false;
    uint64_t *const set = (uint64_t *)(void *)elements;
    for (size_t i = first / 8; set != NULL && i < first / 8 + size; i++)
        set[i / 8] |= (uint64_t)part[i - first / 8] << (8 * (i % 8));
    return set == NULL || tacit_bits_within(set, set, count);
}

/* Room for bytes that end with a zero where they are a text: there is none within. */
static bool read_text(struct source *source, bool is_text, const uint8_t **text, size_t *size)
{
    if (!read_part(source, text, size) || (is_text && memchr(*text, 0, *size) != NULL))
        return false;
    const uint8_t *const part = *text;
    TACIT_ASSERT(!source->measures || source->room == NULL);
    if (source->room != NULL || source->measures) {
        uint8_t *const copy = source->measures ? NULL : source->room + source->used;
        source->used += (*size + 8u) & ~(size_t)7u;
        *text = copy;
        if (copy != NULL)
            memcpy(copy, part, *size);
    }
    return true;
}

static bool read_name(struct source *source, uint8_t *name)
{
    TACIT_ASSERT(name != NULL);
    const uint8_t *part;
    size_t size;
    if (!read_part(source, &part, &size) || size > TACIT_WIRE_NAME_BYTES_MAX ||
        memchr(part, 0, size) != NULL)
        return false;
    memcpy(name, part, size);
    return true;
}

static bool read_fields(struct source *source, const struct tacit_wire_table *table,
                        uint8_t *message);

static bool read_inner(struct source *source, const struct tacit_wire_table *table,
                       uint8_t *message)
{
    const uint8_t *const end = source->end;
    TACIT_ASSERT(table != NULL);
    const uint8_t *part;
    size_t size;
    if (!read_part(source, &part, &size))
        return false;
    source->at = part;
    source->end = part + size;
    source->via = 0;
    bool const is_good = read_fields(source, table, message);
    source->end = end;
    source->via = 0;
    return is_good;
}

/* Texts and messages: how many follow is counted, what is in them not looked at. */
static bool read_each(struct source *source, const struct wire_field *field, uint8_t *message,
                      size_t *count)
{
    struct source look = *source;
    uint8_t *elements;
    const uint8_t *text;
    size_t size;
    *count = 0;
    do {
        if (!read_part(&look, &text, &size))
            return false;
        ++*count;
    } while (field->via != 0 && read_tag(&look, tag_of(field)));
    bool const is_another = field->counted.size == 0 && *count != source->sizes[field->per];
    if (is_another || !claim(source, field, *count, *count * field->stride, message, &elements))
        return false;
    for (size_t i = 0; i < *count; i++) {
        uint64_t unused[PART_MAX / 8] = {0};
        uint8_t *const element =
            elements == NULL ? (uint8_t *)unused : elements + i * field->stride + field->member.at;
        TACIT_ASSERT(elements != NULL || field->stride <= sizeof unused);
        if (i > 0 && !read_tag(source, tag_of(field)))
            return false;
        if (field->kind == WIRE_PARTS) {
            if (!read_inner(source, field->inner, element))
                return false;
        } else {
            if (!read_text(source, true, &text, &size) ||
                (text != NULL && field->is_text != NULL && !field->is_text((const char *)text)))
                return false;
            memcpy(element, &text, sizeof text);
        }
    }
    return true;
}

static bool read_blob(struct source *source, const struct wire_field *field, uint8_t *message)
{
    const uint8_t *part;
    size_t size;
    if (!read_text(source, false, &part, &size) || !is_in_range(field, size))
        return false;
    memcpy(message + field->via, &part, sizeof part);
    store(message + field->counted.at, field->counted.size, size);
    return true;
}

static bool read_number(struct source *source, const struct wire_field *field, uint8_t *message)
{
    size_t const width = field->kind == WIRE_VERSION ? 4 : field->width;
    uint8_t *elements;
    if ((size_t)(source->end - source->at) < width)
        return false;
    uint64_t const value = number_at(source->at, width) - (field->kind == WIRE_KIND);
    source->at += width;
    if (field->kind == WIRE_VERSION)
        return value == field->most;
    if (!is_allowed(field, value, source->sizes) ||
        !claim(source, field, 1, field->stride, message, &elements))
        return false;
    if (field->kind == WIRE_TWICE) {
        store(message + field->member.at, field->member.size, value / 2);
        store(message + field->counted.at, field->counted.size, value % 2);
    } else if (elements != NULL) {
        store(elements + field->member.at, field->member.size, value);
    }
    return true;
}

/* What follows a tag. */
static bool read_content(struct source *source, const struct wire_field *field, uint8_t *message,
                         size_t *count)
{
    *count = 1;
    switch ((enum wire_kind)field->kind) {
    case WIRE_VERSION:
    case WIRE_NUMBER:
    case WIRE_KIND:
    case WIRE_TWICE:
    case WIRE_REAL:
        return read_number(source, field, message);
    case WIRE_EMPTY:
        return source->at < source->end && *source->at++ == 0;
    case WIRE_BYTES:
    case WIRE_ROW:
    case WIRE_REALS:
    case WIRE_SET:
        return read_elements(source, field, message, count);
    case WIRE_MATRIX:
        return read_matrix(source, field, message, count);
    case WIRE_SPAN:
        return read_span(source, field, message);
    case WIRE_NAME:
        return read_name(source, message + field->member.at);
    case WIRE_BLOB:
        return read_blob(source, field, message);
    case WIRE_TEXT:
    case WIRE_PARTS:
        return read_each(source, field, message, count);
    }
    return false;
}

/* Has every element a tag of its own? */
static bool is_each(const struct wire_field *field)
{
    return field->kind == WIRE_TEXT || field->kind == WIRE_PARTS;
}

/* Is the field there in every message? Of others it depends on what the message says. */
static bool is_required(const struct wire_field *field)
{
    bool const may_be_none = field->kind == WIRE_ROW || field->kind == WIRE_REALS ||
                             (is_each(field) && field->least == 0);
    return field->when.size == 0 && field->rule == NULL &&
           (field->counted.size == 0 || !may_be_none);
}

/* found: elements, or WIRE_ABSENT. */
static bool read_field(struct source *source, const struct wire_field *field, uint8_t *message,
                       size_t *found)
{
    *found = WIRE_ABSENT;
    if (!read_tag(source, tag_of(field)))
        return !is_required(field);
    if (!read_content(source, field, message, found) ||
        ((is_each(field) || field->kind == WIRE_BYTES) && !is_in_range(field, *found)))
        return false;
    if (field->counted.size > 0 && field->kind != WIRE_BLOB && !is_single(field))
        store(message + field->counted.at, field->counted.size, *found);
    if (field->when.size == 1 && *found > 0)
        message[field->when.at] = 1;
    return true;
}

/* The kind, which is not among the fields, and what belongs to it. */
static bool read_body(struct source *source, const struct tacit_wire_table *table, uint8_t *message)
{
    uint32_t tag;
    if (!read_varint(source, &tag) || tag % 8 != LENGTH || tag / 8 < WIRE_BODY ||
        tag / 8 - WIRE_BODY >= table->body_count)
        return false;
    uint32_t const body = tag / 8 - WIRE_BODY;
    store(message + table->kind.at, table->kind.size, body + table->first_kind);
    return read_inner(source, table->bodies[body], message);
}

/* What was found has to be what would be written for it. */
static bool read_fields(struct source *source, const struct tacit_wire_table *table,
                        uint8_t *message)
{
    size_t found[FIELDS_MAX];
    TACIT_ASSERT(table->field_count <= FIELDS_MAX && source->at <= source->end);
    for (size_t i = 0; i < table->field_count; i++)
        if (!read_field(source, &table->fields[i], message, &found[i]))
            return false;
    if ((table->bodies != NULL && !read_body(source, table, message)) || source->at != source->end)
        return false;
    if (source->measures)
        return true;
    if (table->to.size > 0)
        store(message + table->to.at, table->to.size, source->sizes[WIRE_TO]);
    if ((table->check != NULL && !table->check(message)) ||
        (table->fits != NULL && !table->fits(message, source->sizes)))
        return false;
    for (size_t i = 0; i < table->field_count; i++)
        if (count_of(&table->fields[i], message, source->sizes) != found[i])
            return false;
    return true;
}

bool wire_read(const struct tacit_wire_table *table, const uint8_t *bytes, size_t size,
               void *message)
{
    struct sizes const sizes = sizes_of(NULL);
    struct source source = {.at = bytes, .end = size > 0 ? bytes + size : bytes, .sizes = sizes.of};
    return read_fields(&source, table, message);
}

static bool read_parts(struct source *source, const struct wire_parts *parts, uint8_t *message)
{
    for (size_t i = 0; i < 2 && parts->parts[i].table != NULL; i++) {
        struct wire_part const *const part = &parts->parts[i];
        source->at = part->bytes;
        source->end = part->size > 0 ? part->bytes + part->size : part->bytes;
        source->via = 0;
        if (part->size > TACIT_WIRE_BYTES_MAX || !read_fields(source, part->table, message))
            return false;
    }
    return true;
}

enum tacit_status wire_build(const struct wire_parts *parts, const struct tacit_wire_shape *shape,
                             void *message, const struct tacit_wire_allocator *allocator)
{
    struct sizes const sizes = sizes_of(shape);
    uint64_t made[STRUCT_MAX / 8] = {0};
    uint8_t *block = NULL;
    size_t const head = parts->head == NULL ? (parts->size + 7u) & ~(size_t)7u : 0;
    struct source source = {.sizes = sizes.of, .measures = true, .used = head};
    TACIT_ASSERT(parts->size > 0 && parts->size <= sizeof made && message != NULL);
    if (!read_parts(&source, parts, (uint8_t *)made))
        return TACIT_MALFORMED;
    if (source.used > 0) {
        block = allocator->allocate(allocator->context, source.used);
        if (block == NULL)
            return TACIT_MEMORY;
        memset(block, 0, source.used);
    }
    if (parts->head != NULL) {
        memset(made, 0, sizeof made);
        memcpy(made, parts->head, sizeof *parts->head);
    }
    source = (struct source){.sizes = sizes.of, .room = block, .used = head};
    if (!read_parts(&source, parts, head > 0 ? block : (uint8_t *)made)) {
        if (block != NULL)
            allocator->release(allocator->context, block);
        return TACIT_MALFORMED;
    }
    if (head > 0)
        memcpy(message, &block, sizeof block);
    else
        memcpy(message, made, parts->size);
    return TACIT_OK;
}

enum tacit_status tacit_wire_decode(const struct tacit_wire_table *table,
                                    const struct tacit_wire_shape *shape, const uint8_t *bytes,
                                    size_t size, void *message,
                                    const struct tacit_wire_allocator *allocator)
{
    struct wire_parts const parts = {.parts = {{table, bytes, size}}, .size = table->size};
    return size == 0 ? TACIT_MALFORMED : wire_build(&parts, shape, message, allocator);
}
