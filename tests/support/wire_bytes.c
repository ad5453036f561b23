/* Bytes of messages in tests: written, compared, damaged. */
#include "testing.h"
#include "wire_bytes.h"
#include "digest.h"

struct wire_bytes wire_bytes_new(size_t size)
{
    struct wire_bytes const made = {malloc(size > 0 ? size : 1), size};
    assert_non_null(made.bytes);
    return made;
}

uint8_t *wire_bytes_exact(const uint8_t *bytes, size_t size)
{
    struct wire_bytes const copy = wire_bytes_new(size);
    memcpy(copy.bytes, bytes, size);
    return copy.bytes;
}

void wire_bytes_expect(struct wire_bytes found, const char *golden)
{
    char text[2 * 200 + 1];
    assert_true(found.size <= 200);
    for (size_t i = 0; i < found.size; i++)
        (void)snprintf(text + 2 * i, 3, "%02x", found.bytes[i]);
    assert_string_equal(text, golden);
}

void wire_bytes_expect_length(struct wire_bytes found, uint8_t unknown_tag,
                              void (*expect_refused)(const uint8_t *bytes, size_t size))
{
    uint8_t longer[256] = {0};
    assert_true(found.size + 2 <= sizeof longer);
    for (size_t size = 0; size < found.size; size++)
        expect_refused(found.bytes, size);
    memcpy(longer, found.bytes, found.size);
    expect_refused(longer, found.size + 1);
    longer[found.size] = unknown_tag;
    expect_refused(longer, found.size + 2);
}

/* ---- Memory that is looked at ---- */

#define GUARD_BYTES 8u
enum { GUARD = 0xa5, FRESH = 0x5a };

/* Before what was asked for. */
union block {
    size_t size;
    max_align_t aligned;
};

static struct {
    size_t held; /* blocks */
    size_t requests;
    size_t fails_at; /* 0: never */
} memory;

static void *memory_take(void *context, size_t size)
{
    assert_true(size > 0);
    if (++memory.requests == memory.fails_at)
        return NULL;
    union block *const block = malloc(sizeof *block + size + GUARD_BYTES);
    assert_non_null(block);
    block->size = size;
    memset(block + 1, FRESH, size);
    memset((uint8_t *)(block + 1) + size, GUARD, GUARD_BYTES);
    memory.held++;
    return block + 1;
}

static void memory_give(void *context, void *content)
{
    union block *const block = (union block *)content - 1;
    for (size_t i = 0; i < GUARD_BYTES; i++)
        assert_int_equal(((uint8_t *)content)[block->size + i], GUARD);
    assert_true(memory.held > 0);
    memset(content, FRESH, block->size);
    memory.held--;
    free(block);
}

const struct tacit_wire_allocator *wire_bytes_memory(void)
{
    static const struct tacit_wire_allocator looked_at = {memory_take, memory_give, NULL};
    return &looked_at;
}

void wire_bytes_give(const void *block)
{
    if (block != NULL)
        memory_give(NULL, (void *)(uintptr_t)block);
}

bool wire_bytes_decode(const struct tacit_wire_table *table, const struct tacit_wire_shape *shape,
                       const uint8_t *bytes, size_t size, void *message)
{
    enum tacit_status const status =
        tacit_wire_decode(table, shape, bytes, size, message, wire_bytes_memory());
    digest_word((uint64_t)status);
    return status == TACIT_OK;
}

/* ---- Damage ---- */

struct damage {
    struct wire_bytes word;
    wire_bytes_look *look;
    const void *context;
};

static void show(const struct damage *damage, const uint8_t *bytes, size_t size)
{
    uint8_t *const exact = wire_bytes_exact(bytes, size);
    damage->look(exact, size, damage->context);
    assert_int_equal(memory.held, 0);
    free(exact);
}

/* The word itself, with memory that ends at each request; then without end, which is what goes into
 * the digest. */
static void show_without_memory(const struct damage *damage)
{
    digest_pause(true);
    do {
        memory.fails_at++;
        memory.requests = 0;
        show(damage, damage->word.bytes, damage->word.size);
    } while (memory.requests >= memory.fails_at);
    memory.fails_at = 0;
    digest_pause(false);
    show(damage, damage->word.bytes, damage->word.size);
}

/* The word with these `width` bytes at `at`. */
static void show_changed(const struct damage *damage, size_t at, uint64_t value, size_t width)
{
    uint8_t *const changed = wire_bytes_exact(damage->word.bytes, damage->word.size);
    for (size_t i = 0; i < width; i++)
        changed[at + i] = (uint8_t)(value >> (8 * i));
    show(damage, changed, damage->word.size);
    free(changed);
}

static void change_byte(const struct damage *damage, size_t at)
{
    static const uint8_t values[] = {0,  1,  2,  3,  4,  5,  6,   7,   8,
                                     16, 31, 32, 63, 64, 65, 127, 128, 255};
    uint8_t const before = damage->word.bytes[at];
    if (damage->word.size <= 64) {
        for (unsigned value = 0; value < 256; value++)
            show_changed(damage, at, value, 1);
        return;
    }
    for (size_t i = 0; i < sizeof values; i++)
        show_changed(damage, at, values[i], 1);
    for (unsigned bit = 0; bit < 8; bit++)
        show_changed(damage, at, before ^ 1u << bit, 1);
    show_changed(damage, at, before + 1u, 1);
    show_changed(damage, at, before - 1u, 1);
}

/* Integers at the ends of their ranges; doubles 1, above 1, infinite, none, the least. */
static void change_number(const struct damage *damage, size_t at, size_t width)
{
    static const uint64_t values[] = {0,
                                      1,
                                      UINT64_MAX,
                                      UINT64_C(1) << 63,
                                      UINT64_C(1) << 31,
                                      UINT64_C(0x3ff0000000000000),
                                      UINT64_C(0x3ff0000000000001),
                                      UINT64_C(0x7ff0000000000000),
                                      UINT64_C(0x7ff8000000000000)};
    uint64_t before = 0;
    if (at + width > damage->word.size)
        return;
    for (size_t i = 0; i < width; i++)
        before |= (uint64_t)damage->word.bytes[at + i] << (8 * i);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        show_changed(damage, at, values[i], width);
    show_changed(damage, at, before + 1, width);
    show_changed(damage, at, before - 1, width);
}

/* Without the `width` bytes at `at`, and with them twice: fields that are missing or repeated. */
static void drop_and_double(const struct damage *damage, size_t at, size_t width)
{
    const uint8_t *const bytes = damage->word.bytes;
    size_t const size = damage->word.size;
    if (at + width > size)
        return;
    struct wire_bytes const other = wire_bytes_new(size + width);
    memcpy(other.bytes, bytes, at + width);
    memcpy(other.bytes + at + width, bytes + at, size - at);
    show(damage, other.bytes, size + width);
    memcpy(other.bytes + at, bytes + at + width, size - at - width);
    show(damage, other.bytes, size - width);
    free(other.bytes);
}

/* Is this the length of a part that goes on to the end of the word? */
static bool is_whole(const struct damage *damage, size_t at)
{
    uint8_t const size = damage->word.bytes[at];
    return size < 128 && at + 1 + size == damage->word.size;
}

/* If a length stands here: with a part that is `width` bytes shorter, and one that is longer, as
 * all say that it is in. */
static void resize_part(const struct damage *damage, size_t at, size_t width)
{
    const uint8_t *const bytes = damage->word.bytes;
    size_t const size = damage->word.size;
    size_t const inner = at + 1;
    if (bytes[at] < width || bytes[at] + width >= 128 || inner + bytes[at] > size)
        return;
    struct wire_bytes const other = wire_bytes_new(size + width);
    for (int is_longer = 0; is_longer <= 1; is_longer++) {
        size_t const kept = is_longer ? inner + width : inner;
        size_t const from = is_longer ? inner : inner + width;
        memcpy(other.bytes, bytes, kept);
        memcpy(other.bytes + kept, bytes + from, size - from);
        for (size_t i = 0; i <= at; i++)
            if (i == at || is_whole(damage, i))
                other.bytes[i] = (uint8_t)(is_longer ? bytes[i] + width : bytes[i] - width);
        show(damage, other.bytes, is_longer ? size + width : size - width);
    }
    free(other.bytes);
}

void wire_bytes_sizes(wire_bytes_look *look, const void *context)
{
    uint8_t *const zeros = calloc(1, TACIT_WIRE_BYTES_MAX + 1);
    assert_non_null(zeros);
    for (size_t size = 0; size <= 1; size++) {
        look(zeros, size, context);
        look(zeros, TACIT_WIRE_BYTES_MAX + size, context);
    }
    free(zeros);
}

void wire_bytes_damage(struct wire_bytes word, wire_bytes_look *look, const void *context)
{
    static const size_t widths[] = {1, 2, 5, 9, 10, 34};
    struct damage const damage = {word, look, context};
    show_without_memory(&damage);
    for (size_t at = 0; at < word.size; at++) {
        show(&damage, word.bytes, at);
        change_byte(&damage, at);
        change_number(&damage, at, 4);
        change_number(&damage, at, 8);
        for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++)
            drop_and_double(&damage, at, widths[i]);
        resize_part(&damage, at, 1);
        resize_part(&damage, at, 8);
    }
    struct wire_bytes const longer = wire_bytes_new(word.size + 1);
    memcpy(longer.bytes, word.bytes, word.size);
    longer.bytes[word.size] = 0;
    show(&damage, longer.bytes, word.size + 1);
    free(longer.bytes);
}
