/* Every message of every family, walked along its table: it survives the trip, its bytes are known,
 * and a peer's bytes are taken only in the one form that we write: damaged anywhere, at any depth,
 * with all lengths around it right, it is refused, or it is another message, whose form it is.
 * Every buffer is as long as it is said to be, for a sanitizer. Samples and what cannot be said of
 * them are in support/wire_samples.c. */
#include "../support/testing.h"
#include "../support/digest.h"
#include "../support/wire_samples.h"
#include "tacit/bounds.h"
#include "tacit/random.h"
#include "tacit/wire_elim.h"
#include "tacit/wire_glm.h"
#include "tacit/wire_phased.h"

#define STRUCT_MAX 512u
#define PARTS_MAX 256u

/* ---- Memory that is looked at ---------------------------------------------------------------- */

/* It holds no zeros before it is written. What is written behind it a sanitizer sees, and
 * try_arenas. */
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
    void *const block = malloc(size);
    assert_non_null(block);
    memset(block, 0x5a, size);
    memory.held++;
    return block;
}

static void memory_give(void *context, void *block)
{
    memory.held--;
    free(block);
}

static const struct tacit_wire_allocator looked_at = {memory_take, memory_give, NULL};

/* ---- Writing and reading --------------------------------------------------------------------- */

/* What is walked. Of a run one part is damaged, the other as it is. */
static struct {
    const struct wire_family *family;
    struct tacit_wire_shape shape;
    const void *said;
    size_t part;
    unsigned wrong; /* of the announcement of a run: enum wrong */
    uint64_t digest;
    size_t refused_count;
} shown;
enum wrong { NOTHING, NAME, FAMILY_OF_IT, VERSION_OF_IT, WHETHER_THERE_IS_A_PLACE, WRONG_COUNT };

struct bytes {
    uint8_t *at;
    size_t size;
};

struct found {
    uint64_t said[STRUCT_MAX / 8];
    void *block; /* NULL: it points to nothing */
};

static const struct tacit_wire_table *table_of(const struct wire_family *family, size_t part)
{
    return family->protocol == NULL       ? family->table
           : family->sort != WIRE_RUNS_OF ? family->protocol->messages
           : part == 0                    ? family->protocol->parameters
                                          : family->protocol->place;
}

/* A run is its own shape. */
static struct tacit_wire_shape shape_of(const void *said)
{
    const struct tacit_wire_run *const run = said;
    if (shown.family->sort != WIRE_RUNS_OF)
        return shown.shape;
    return (struct tacit_wire_shape){.arm_count = run->arm_count, .agent_count = run->agent_count};
}

/* In a block of exactly their size, to be given to free(). */
static struct bytes exact(const uint8_t *bytes, size_t size)
{
    struct bytes const copy = {malloc(size > 0 ? size : 1), size};
    assert_non_null(copy.at);
    if (bytes != NULL && size > 0)
        memcpy(copy.at, bytes, size);
    return copy;
}

static struct bytes written(const void *said, size_t part)
{
    const struct tacit_wire_table *const table = table_of(shown.family, part);
    struct tacit_wire_shape const shape = shape_of(said);
    bool const is_envelope = shown.family->sort == WIRE_ENVELOPE;
    struct bytes const bytes = exact(NULL, is_envelope     ? tacit_wire_envelope_bytes(said)
                                           : table == NULL ? 0
                                                           : tacit_wire_bytes(table, &shape, said));
    if (is_envelope)
        tacit_wire_envelope_encode(said, bytes.at);
    else if (table != NULL)
        tacit_wire_encode(table, &shape, said, bytes.at);
    return bytes;
}

static struct tacit_wire_announcement announcement_of(const struct tacit_wire_run *run)
{
    const struct tacit_wire_protocol *const protocol = shown.family->protocol;
    bool const has_helper = run->floor_milli != TACIT_ONE_AGGREGATOR;
    struct tacit_wire_announcement announcement = {
        .agreement = {.protocol = shown.wrong == NAME ? "selec" : protocol->name,
                      .family = protocol->family + (shown.wrong == FAMILY_OF_IT),
                      .protocol_version = protocol->version + (shown.wrong == VERSION_OF_IT),
                      .agent_count = run->agent_count,
                      .arm_count = run->arm_count,
                      .horizon = run->horizon,
                      .epsilon_nano = run->epsilon_nano,
                      .has_helper = has_helper,
                      .floor_nano = run->floor_milli == TACIT_NO_FLOOR
                                        ? 0
                                        : run->floor_milli * (TACIT_NANO / 1000)},
        .agent = run->agent};
    tacit_wire_run(run->run_id, announcement.agreement.run);
    return announcement;
}

/* The first pointer along the table that is one. */
static void *first_pointer(const struct tacit_wire_table *table, const void *said)
{
    void *found = NULL;
    for (size_t i = 0; table != NULL && i < table->field_count && found == NULL; i++)
        if (table->fields[i].via != 0)
            memcpy(&found, (const uint8_t *)said + table->fields[i].via, sizeof found);
    return found;
}

static enum tacit_status read_run(struct bytes bytes, struct found *found,
                                  const struct tacit_wire_allocator *allocator)
{
    const struct tacit_wire_protocol *const protocol = shown.family->protocol;
    struct tacit_wire_announcement announcement = announcement_of(shown.said);
    struct bytes const other = written(shown.said, 1 - shown.part);
    struct bytes const both[2] = {shown.part == 0 ? bytes : other, shown.part == 0 ? other : bytes};
    announcement.agreement.parameters = both[0].at;
    announcement.agreement.parameters_size = both[0].size;
    bool const is_place_wrong = shown.wrong == WHETHER_THERE_IS_A_PLACE;
    announcement.place = both[1].size > 0 ? both[1].at : (const uint8_t *)"";
    announcement.place_size = is_place_wrong ? (both[1].size == 0) : both[1].size;
    enum tacit_status const status =
        tacit_wire_run_decode(protocol, &announcement, found->said, allocator);
    if (status == TACIT_OK) {
        found->block = first_pointer(protocol->parameters, found->said);
        if (found->block == NULL)
            found->block = first_pointer(protocol->place, found->said);
    }
    free(other.at);
    return status;
}

/* What is refused leaves no trace. */
static enum tacit_status read_bytes(struct bytes bytes, struct found *found,
                                    const struct tacit_wire_allocator *allocator)
{
    static const struct found untouched;
    void *const nothing = (void *)(uintptr_t)0x10;
    void *message = nothing;
    enum tacit_status status;
    *found = untouched;
    if (shown.family->sort == WIRE_RUNS_OF)
        status = read_run(bytes, found, allocator);
    else if (shown.family->sort == WIRE_ENVELOPE)
        status = tacit_wire_envelope_decode(bytes.at, bytes.size, (void *)found->said);
    else {
        const struct tacit_wire_table *const table = table_of(shown.family, 0);
        status = tacit_wire_decode(table, &shown.shape, bytes.at, bytes.size, &message, allocator);
        if (status == TACIT_OK) {
            found->block = message;
            memcpy(found->said, message, table->size);
        }
    }
    if (status != TACIT_OK) {
        assert_memory_equal(found, &untouched, sizeof untouched);
        assert_ptr_equal(message, nothing);
    }
    return status;
}

static void give_back(const struct found *found)
{
    if (found->block != NULL)
        memory_give(NULL, found->block);
}

/* ---- The trip -------------------------------------------------------------------------------- */

/* Where a pointer is, whether it is one: what it points to is compared as bytes. */
static void forget_pointers(const struct tacit_wire_table *table, uint8_t *said)
{
    for (size_t i = 0; table != NULL && i < table->field_count; i++) {
        struct wire_field const *const field = &table->fields[i];
        const void *pointer;
        size_t const at = field->via != 0 ? field->via : field->member.at;
        if (field->via == 0 && field->kind == WIRE_PARTS)
            forget_pointers(field->inner, said + at);
        if (field->via == 0 && field->kind != WIRE_TEXT)
            continue;
        memcpy(&pointer, said + at, sizeof pointer);
        uintptr_t const is_there = pointer != NULL;
        memcpy(said + at, &is_there, sizeof is_there);
    }
    if (table != NULL && table->bodies != NULL) {
        enum tacit_elim_message_kind kind; /* any family's: they are alike */
        memcpy(&kind, said + table->kind.at, sizeof kind);
        forget_pointers(table->bodies[(uint32_t)kind - table->first_kind], said);
    }
}

static void expect_same(const void *left, const void *right)
{
    static const struct wire_field body = {.via = offsetof(struct tacit_wire_envelope, body)};
    static const struct tacit_wire_table envelope = {.fields = &body, .field_count = 1};
    size_t const size = shown.family->sample_size;
    uint64_t said[2][STRUCT_MAX / 8] = {{0}};
    memcpy(said[0], left, size);
    memcpy(said[1], right, size);
    for (size_t i = 0; i < 2; i++)
        for (size_t part = 0; part <= (shown.family->sort == WIRE_RUNS_OF); part++)
            forget_pointers(shown.family->sort == WIRE_ENVELOPE ? &envelope
                                                                : table_of(shown.family, part),
                            (uint8_t *)said[i]);
    assert_memory_equal(said[0], said[1], size);
}

static void add_label(const void *said)
{
    const struct tacit_wire_table *const table = table_of(shown.family, 0);
    if (table == NULL || table->from.size == 0)
        return;
    struct tacit_wire_label const label = tacit_wire_label(table, said);
    shown.digest = digest_mix(shown.digest, label.from ^ (uint64_t)label.to << 32);
    shown.digest = digest_mix(shown.digest, label.kind ^ (uint64_t)label.epoch << 32);
}

/* All members come back, and what was found is written again as the same bytes, which are known. */
static void make_trip(struct bytes bytes)
{
    struct found found;
    assert_int_equal(read_bytes(bytes, &found, &looked_at), TACIT_OK);
    expect_same(found.said, shown.said);
    add_label(found.said);
    for (size_t i = 0; i < bytes.size; i++)
        shown.digest = digest_mix(shown.digest, bytes.at[i]);
    give_back(&found);
}

/* ---- Damage ---------------------------------------------------------------------------------- */

/* Around a part: what comes before its length, and behind it. */
struct layer {
    const struct layer *outer;
    struct bytes before;
    struct bytes after;
};

static size_t put_length(uint8_t *bytes, size_t value)
{
    size_t size = 0;
    for (; value >= 128; value >>= 7)
        bytes[size++] = (uint8_t)(value | 128);
    bytes[size++] = (uint8_t)value;
    return size;
}

/* Refused, or what was found is written again as these bytes. */
static void judge(struct bytes bytes)
{
    struct found found;
    enum tacit_status const status = read_bytes(bytes, &found, &looked_at);
    shown.digest = digest_mix(shown.digest, (uint64_t)status);
    shown.refused_count += status == TACIT_MALFORMED;
    if (shown.family->sort == WIRE_ENVELOPE)
        shown.digest =
            digest_mix(shown.digest, tacit_wire_envelope_signature(bytes.at, bytes.size));
    if (status == TACIT_OK) {
        struct bytes const again = written(found.said, shown.part);
        assert_int_equal(again.size, bytes.size);
        assert_memory_equal(again.at, bytes.at, bytes.size);
        free(again.at);
        give_back(&found);
    }
    assert_int_equal(memory.held, 0);
}

/* In the layers around it. */
static void show(const struct layer *layer, const uint8_t *bytes, size_t size)
{
    if (layer == NULL) {
        struct bytes const whole = exact(bytes, size);
        judge(whole);
        free(whole.at);
        return;
    }
    struct bytes const whole = exact(NULL, layer->before.size + 5 + size + layer->after.size);
    size_t at = layer->before.size;
    memcpy(whole.at, layer->before.at, at);
    at += put_length(whole.at + at, size);
    memcpy(whole.at + at, bytes, size);
    memcpy(whole.at + at + size, layer->after.at, layer->after.size);
    show(layer->outer, whole.at, at + size + layer->after.size);
    free(whole.at);
}

/* The bytes with `more` in place of those from `from` to `to`. */
static void show_with(const struct layer *layer, struct bytes bytes, size_t from, size_t to,
                      const uint8_t *more, size_t more_size)
{
    struct bytes const made = exact(NULL, bytes.size - (to - from) + more_size);
    memcpy(made.at, bytes.at, from);
    if (more_size > 0)
        memcpy(made.at + from, more, more_size);
    memcpy(made.at + from + more_size, bytes.at + to, bytes.size - to);
    show(layer, made.at, made.size);
    free(made.at);
}

struct part {
    size_t at;
    size_t tag_end;
    size_t content; /* behind the tag, and of one with a length behind that */
    size_t end;
    bool has_length;
};

static size_t read_length(struct bytes bytes, size_t *at)
{
    size_t value = 0;
    for (unsigned shift = 0; shift <= 21 && *at < bytes.size; shift += 7) {
        value |= (size_t)(bytes.at[*at] & 127u) << shift;
        if (bytes.at[(*at)++] < 128)
            break;
    }
    return value;
}

/* false: they are no fields. */
static bool split(struct bytes bytes, struct part parts[PARTS_MAX], size_t *count)
{
    size_t at = 0;
    for (*count = 0; at < bytes.size && *count < PARTS_MAX; ++*count) {
        struct part *const part = &parts[*count];
        part->at = at;
        size_t const tag = read_length(bytes, &at);
        part->tag_end = at;
        part->has_length = tag % 8 == 2;
        if (tag / 8 == 0 || (tag % 8 != 1 && tag % 8 != 2 && tag % 8 != 5) || at >= bytes.size)
            return false;
        size_t const length = part->has_length ? read_length(bytes, &at) : tag % 8 == 1 ? 8 : 4;
        part->content = at;
        at += length;
        part->end = at;
    }
    return at == bytes.size;
}

/* A last byte of a tag or a length at `at`, in one byte more than it needs. */
static void show_longer(const struct layer *layer, struct bytes bytes, size_t at)
{
    uint8_t const longer[] = {(uint8_t)(bytes.at[at] | 128), 0};
    show_with(layer, bytes, at, at + 1, longer, sizeof longer);
}

/* A content that is some elements shorter, or longer. */
static void show_resized(const struct layer *layer, struct bytes content)
{
    static const size_t widths[] = {1, 4, 8, 32, 64};
    for (size_t i = 0; i < sizeof widths / sizeof widths[0] && widths[i] <= content.size; i++) {
        show_with(layer, content, 0, widths[i], NULL, 0);
        show_with(layer, content, 0, 0, content.at, widths[i]);
    }
}

static const uint8_t unknown[] = {0xfa, 0x01, 0x00}; /* field 31, of no bytes */

static void show_forms(const struct layer *layer, struct bytes bytes);

/* Without it, twice, before the one that it follows, with an unknown one in front of it. */
static void show_field(const struct layer *layer, struct bytes bytes, const struct part *part)
{
    show_with(layer, bytes, part->at, part->at, unknown, sizeof unknown);
    show_with(layer, bytes, part->at, part->end, NULL, 0);
    show_with(layer, bytes, part->end, part->end, bytes.at + part->at, part->end - part->at);
    show_longer(layer, bytes, part->tag_end - 1);
    if (part->at > 0) {
        struct bytes const moved = exact(bytes.at, bytes.size);
        size_t const size = part->end - part->at;
        size_t const before = part[-1].at;
        memcpy(moved.at + before, bytes.at + part->at, size);
        memcpy(moved.at + before + size, bytes.at + before, part->at - before);
        show(layer, moved.at, moved.size);
        free(moved.at);
    }
    if (!part->has_length)
        return;
    struct bytes const content = {bytes.at + part->content, part->end - part->content};
    struct layer const inner = {
        layer, {bytes.at, part->tag_end}, {bytes.at + part->end, bytes.size - part->end}};
    show_longer(layer, bytes, part->content - 1);
    show_resized(&inner, content);
    show_forms(&inner, content);
}

static void show_forms(const struct layer *layer, struct bytes bytes)
{
    struct part parts[PARTS_MAX];
    size_t count;
    for (size_t less = 0; less < bytes.size; less++)
        show(layer, bytes.at, less);
    if (!split(bytes, parts, &count))
        return;
    show_with(layer, bytes, bytes.size, bytes.size, unknown, sizeof unknown);
    show_with(layer, bytes, bytes.size, bytes.size, unknown + 2, 1);
    for (size_t i = 0; i < count; i++)
        show_field(layer, bytes, &parts[i]);
}

/* These `width` bytes as a number at the ends of its range, one more, one less; doubles 1, above 1,
 * infinite, none, the least. */
static void show_numbers(struct bytes bytes, size_t at, size_t width)
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
    enum { VALUES = sizeof values / sizeof values[0] };
    uint64_t before = 0;
    for (size_t i = 0; i < width; i++)
        before |= (uint64_t)bytes.at[at + i] << (8 * i);
    for (size_t i = 0; i < VALUES + 2; i++) {
        uint64_t const value = i < VALUES ? values[i] : i == VALUES ? before + 1 : before - 1;
        uint8_t number[8];
        for (size_t j = 0; j < width; j++)
            number[j] = (uint8_t)(value >> (8 * j));
        show_with(NULL, bytes, at, at + width, number, width);
    }
}

/* Any one byte another one, any number another. */
static void show_changes(struct bytes bytes)
{
    static const uint8_t values[] = {0,  1,  2,  3,  4,  5,  6,   7,   8,
                                     16, 31, 32, 63, 64, 65, 127, 128, 255};
    for (size_t at = 0; at < bytes.size; at++) {
        for (size_t i = 0; i < sizeof values; i++)
            show_with(NULL, bytes, at, at + 1, &values[i], 1);
        for (unsigned bit = 0; bit < 8; bit++) {
            uint8_t const flipped = (uint8_t)(bytes.at[at] ^ 1u << bit);
            show_with(NULL, bytes, at, at + 1, &flipped, 1);
        }
        if (at + 4 <= bytes.size)
            show_numbers(bytes, at, 4);
        if (at + 8 <= bytes.size)
            show_numbers(bytes, at, 8);
    }
}

/* ---- Runs of other sizes, other places ------------------------------------------------------- */

static void show_elsewhere(struct bytes bytes)
{
    struct tacit_wire_shape const here = shown.shape;
    static const uint32_t counts[] = {1, 2, 3, 4, 5, 6, 48, 64, 65, 66, 70, 71, 128, 129};
    for (size_t i = 0; i < 3 * sizeof counts / sizeof counts[0]; i++) {
        shown.shape = here;
        *(i % 3 == 0   ? &shown.shape.arm_count
          : i % 3 == 1 ? &shown.shape.agent_count
                       : &shown.shape.dimension) = counts[i / 3];
        if (i % 3 < 2 || counts[i / 3] <= TACIT_LINALG_DIMENSION_MAX)
            judge(bytes);
    }
    shown.shape = here;
}

/* ---- Memory of the caller's ------------------------------------------------------------------ */

#define CANARY 0xa5
#define ROOM_MAX (1u << 16)

static size_t arena_room(size_t size)
{
    struct tacit_wire_shape const shape = shape_of(shown.said);
    bool const is_glm = shown.family->protocol == &tacit_wire_glm;
    return is_glm ? TACIT_WIRE_GLM_ARENA_BYTES(size, shape.dimension, shape.agent_count)
                  : TACIT_WIRE_ARENA_BYTES(size, shape.arm_count, shape.agent_count);
}

/* An arena of the stated size is enough; a smaller one is too small, or enough; nothing behind it
 * is touched. */
static void try_arenas(struct bytes bytes)
{
    static uint64_t block[ROOM_MAX / 8];
    size_t const room = (arena_room(bytes.size) + 7u) & ~(size_t)7u;
    assert_true(room + 64 <= sizeof block);
    for (size_t less = 0; less <= room; less += 8) {
        struct tacit_wire_arena arena;
        struct found found;
        memset((uint8_t *)block + less, CANARY, 64);
        tacit_wire_arena_init(&arena, block, less);
        enum tacit_status const status = read_bytes(bytes, &found, &arena.allocator);
        assert_true(status == TACIT_OK || (status == TACIT_MEMORY && less < room));
        for (size_t i = 0; i < 64; i++)
            assert_int_equal(((uint8_t *)block)[less + i], CANARY);
        if (status == TACIT_OK && found.block != NULL)
            assert_true((uint8_t *)found.block > arena.block &&
                        (uint8_t *)found.block < arena.block + arena.used);
    }
}

/* Each request fails once. */
static void fail_requests(struct bytes bytes)
{
    struct found found;
    do {
        memory.fails_at++;
        memory.requests = 0;
        if (read_bytes(bytes, &found, &looked_at) == TACIT_OK)
            give_back(&found);
        assert_int_equal(memory.held, 0);
    } while (memory.requests >= memory.fails_at);
    memory.fails_at = 0;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void show_sample(const void *said)
{
    shown.said = said;
    for (shown.part = 0; shown.part <= (shown.family->sort == WIRE_RUNS_OF); shown.part++) {
        struct bytes const bytes = written(said, shown.part);
        shown.refused_count = 0;
        if (bytes.size > 0) { /* over a star nobody has a place */
            make_trip(bytes);
            fail_requests(bytes);
            try_arenas(bytes);
            show_forms(NULL, bytes);
            show_changes(bytes);
            assert_true(shown.refused_count > 3 * bytes.size / 2);
            if (shown.family->sort != WIRE_RUNS_OF) /* which are their own shape */
                show_elsewhere(bytes);
        }
        free(bytes.at);
    }
    shown.part = 0;
    struct bytes const parameters = written(said, 0);
    struct found found;
    bool const is_run = shown.family->sort == WIRE_RUNS_OF;
    for (shown.wrong = NAME; is_run && shown.wrong < WRONG_COUNT; shown.wrong++)
        assert_int_equal(read_bytes(parameters, &found, &looked_at), TACIT_MALFORMED);
    shown.wrong = NOTHING;
    free(parameters.at);
}

static void each_message_has_one_form(void **state)
{
    shown.family = *state;
    shown.shape = shown.family->shape;
    shown.digest = 0;
    for (size_t i = 0; i < shown.family->sample_count; i++)
        show_sample((const uint8_t *)shown.family->samples + i * shown.family->sample_size);
    if (shown.digest != shown.family->known)
        print_message("%s: 0x%016llx\n", shown.family->name, (unsigned long long)shown.digest);
    assert_true(shown.digest == shown.family->known);
}

__attribute__((constructor)) static void add_families(void)
{
    for (size_t i = 0; i < wire_family_count; i++)
        testing_add(&(struct CMUnitTest){.name = wire_families[i].name,
                                         .test_func = each_message_has_one_form,
                                         .initial_state = (void *)(uintptr_t)&wire_families[i]},
                    0);
}

static void expect_verdict(const struct wire_wrong *wrong, size_t list)
{
    uint64_t said[STRUCT_MAX / 8];
    struct found found;
    shown.said = said;
    memcpy(said, wrong->of, shown.family->sample_size);
    wire_change(said, wrong, list);
    struct bytes const bytes = written(said, 0);
    enum tacit_status const status = read_bytes(bytes, &found, &looked_at);
    if (status != (wrong->is_taken ? TACIT_OK : TACIT_MALFORMED))
        fail_msg("%s, row %zu", shown.family->name, (size_t)(wrong - shown.family->wrongs));
    if (status == TACIT_OK)
        give_back(&found);
    free(bytes.at);
    assert_int_equal(memory.held, 0);
}

TEST(what_cannot_be_is_refused)
{
    for (size_t i = 0; i < wire_family_count; i++) {
        struct wire_wrong const *const wrongs = wire_families[i].wrongs;
        shown.family = &wire_families[i];
        shown.shape = shown.family->shape;
        for (size_t j = 0; j < shown.family->wrong_count; j++)
            for (size_t list = 0; list <= wrongs[j].more; list++)
                expect_verdict(&wrongs[j], list);
    }
}

/* ---- What is of one message alone ------------------------------------------------------------ */

static const struct tacit_wire_table *elim_table(void)
{
    return tacit_wire_elim.messages;
}

/* Signed or not; each row and its opening where its agent has them in a table of all. */
TEST(rows_from_a_table_are_written_as_packed_rows)
{
    static const uint64_t arms = 5;
    static const uint64_t origins = 0x15;
    struct tacit_wire_shape const shape = {3, 5, 0, 1};
    union tacit_sum sums[5 * 3];
    union tacit_sum packed_sums[3 * 2];
    struct tacit_elim_opening openings[5];
    struct tacit_elim_opening packed_openings[3];
    uint8_t bytes[2][1024];
    for (uint32_t i = 0; i < 15; i++)
        sums[i].steps = i;
    for (uint32_t i = 0; i < 5; i++)
        memset(&openings[i], (int)i + 1, sizeof openings[i]);
    for (uint32_t i = 0; i < 3; i++) {
        memcpy(packed_sums + (size_t)2 * i, sums + (size_t)6 * i, 2 * sizeof *sums);
        packed_openings[i] = openings[2 * i];
    }
    for (int is_signed = 0; is_signed <= 1; is_signed++) {
        struct tacit_elim_message said = {.kind = TACIT_ELIM_DATA,
                                          .arms = &arms,
                                          .origins = &origins,
                                          .sum_count = 2,
                                          .sums = sums,
                                          .openings = openings,
                                          .row_stride = 3,
                                          .rows_stay = true,
                                          .is_signed = is_signed == 1};
        size_t const size = tacit_wire_bytes(elim_table(), &shape, &said);
        assert_true(size <= sizeof bytes[0]);
        tacit_wire_encode(elim_table(), &shape, &said, bytes[0]);
        said.row_stride = 0;
        said.sums = packed_sums;
        said.openings = packed_openings;
        assert_int_equal(tacit_wire_bytes(elim_table(), &shape, &said), size);
        tacit_wire_encode(elim_table(), &shape, &said, bytes[1]);
        assert_memory_equal(bytes[0], bytes[1], size);
    }
}

/* At least one; the share of members is 1/64, 1/8, 1/2, 7/8 or 1. */
static void draw_set(uint64_t *set, uint32_t count, struct tacit_rng *rng)
{
    static const uint32_t shares[] = {1, 8, 32, 56, 64};
    uint32_t const share = shares[tacit_rng_below(rng, 5)];
    uint32_t const from = (uint32_t)tacit_rng_below(rng, tacit_rng_below(rng, 2) == 0 ? 1 : count);
    memset(set, 0, TACIT_BITS_WORDS(count) * sizeof *set);
    tacit_bits_add(set, from);
    for (uint32_t i = from; i < count; i++)
        if (tacit_rng_below(rng, 64) < share)
            tacit_bits_add(set, i);
}

/* Between peers: any origins come back, with their rows, in as many bytes as is said of them. */
TEST(random_origins_survive_the_trip)
{
    enum { MOST = 100000 };
    static const enum tacit_elim_message_kind kinds[] = {TACIT_ELIM_ADVERT, TACIT_ELIM_REQUEST,
                                                         TACIT_ELIM_DATA};
    static uint64_t origins[TACIT_BITS_WORDS(MOST)];
    static union tacit_sum sums[MOST];
    static const struct tacit_elim_opening openings[300];
    static const uint64_t arms = 4;
    static const uint64_t no_arms = 0;
    struct tacit_rng rng = tacit_rng_stream(1, 0, TACIT_STREAM_COMMON, TACIT_PURPOSE_GRAPH);
    for (uint32_t i = 0; i < MOST; i++)
        sums[i].steps = (int64_t)i * 1000003 - 77;
    for (uint32_t i = 0; i < 1200; i++) {
        uint32_t const agents = 1 + (uint32_t)tacit_rng_below(&rng, i % 50 == 0 ? MOST : 300);
        struct tacit_wire_shape const shape = {3, agents, 0, 1};
        bool const has_rows = i % 3 == 2;
        bool const has_openings = has_rows && agents <= 300 && i % 2 == 0;
        bool const is_signed = has_openings && i % 4 == 0;
        uint32_t const sum_count = has_rows && !(is_signed && i % 8 == 0); /* or it confirms */
        struct tacit_elim_message *found = NULL;
        draw_set(origins, agents, &rng);
        struct tacit_elim_message const said = {.kind = kinds[i % 3],
                                                .origins = origins,
                                                .arms = !has_rows        ? NULL
                                                        : sum_count == 0 ? &no_arms
                                                                         : &arms,
                                                .sum_count = sum_count,
                                                .sums = sum_count > 0 ? sums : NULL,
                                                .row_stride = has_rows, /* a row an agent */
                                                .openings = has_openings ? openings : NULL,
                                                .is_signed = is_signed};
        uint32_t const lowest = tacit_bits_next(origins, agents, 0);
        uint32_t highest = lowest;
        TACIT_BITS_EACH (agent, origins, agents)
            highest = agent;
        struct tacit_wire_elim_rows const rows = {.span_bytes = highest / 8 - lowest / 8 + 1,
                                                  .row_count = tacit_bits_count(origins, agents),
                                                  .sum_count = sum_count,
                                                  .has_openings = has_openings,
                                                  .is_signed = is_signed};
        size_t const size = tacit_wire_bytes(elim_table(), &shape, &said);
        assert_int_equal(size, tacit_wire_elim_rows_bytes(said.kind, &rows, 3));
        uint8_t *const bytes = testing_malloc(size);
        tacit_wire_encode(elim_table(), &shape, &said, bytes);
        assert_int_equal(
            tacit_wire_decode(elim_table(), &shape, bytes, size, &found, tacit_wire_heap()),
            TACIT_OK);
        assert_memory_equal(found->origins, origins, TACIT_BITS_WORDS(agents) * sizeof *origins);
        uint32_t rank = 0;
        if (sum_count > 0)
            TACIT_BITS_EACH (agent, origins, agents)
                assert_true(found->sums[rank++].steps == sums[agent].steps);
        testing_free(found);
        testing_free(bytes);
    }
}

/* Who is told a log, numbers it. */
TEST(changes_of_an_order_are_numbered)
{
    static const uint64_t arms = 5;
    static const struct tacit_elim_change log[3] = {{.kind = 1}, {.kind = 2}, {.kind = 3}};
    struct tacit_elim_message const said = {
        .kind = TACIT_ELIM_ORDER, .arms = &arms, .changes = log, .change_count = 3};
    struct tacit_wire_shape const shape = {3, 5, 0, 1};
    struct tacit_elim_message *found = NULL;
    uint8_t bytes[512];
    size_t const size = tacit_wire_bytes(elim_table(), &shape, &said);
    tacit_wire_encode(elim_table(), &shape, &said, bytes);
    assert_int_equal(
        tacit_wire_decode(elim_table(), &shape, bytes, size, &found, tacit_wire_heap()), TACIT_OK);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(found->changes[i].number, i + 1);
    testing_free(found);
}

/* No loss, no arm: which the judge's schedule calls the first. */
TEST(a_run_without_a_guard_survives)
{
    struct tacit_wire_phased_run run = {
        .run_id = 5,
        .agent_count = 3,
        .arm_count = 5,
        .horizon = 400000,
        .epsilon_nano = TACIT_NANO,
        .schedule = {.growth = 2, .arms_per_round = 4, .guard_arm = TACIT_NO_ARM}};
    struct tacit_wire_phased_run *const said = &run;
    struct found found;
    for (size_t i = 0; i < wire_family_count; i++)
        if (wire_families[i].protocol == &tacit_wire_phased)
            shown.family = &wire_families[i];
    shown.said = said;
    struct bytes const bytes = written(said, 0);
    assert_int_equal(read_bytes(bytes, &found, &looked_at), TACIT_OK);
    memcpy(&run, found.said, sizeof run);
    assert_int_equal(run.schedule.guard_arm, 0);
    assert_int_equal(run.schedule.arm_count, 5);
    free(bytes.at);
}

/* The longest word there may be, and one byte more; what cannot be one for its size alone. */
TEST(longest_messages_survive_the_trip_and_no_longer_ones)
{
    static uint8_t blob[TACIT_WIRE_BYTES_MAX + 1];
    static const char *const names[] = {"a"};
    struct tacit_wire_announcement said = {.agreement = {.protocol = "x",
                                                         .agent_count = 1,
                                                         .arm_count = 1,
                                                         .arms = names,
                                                         .hi = 1,
                                                         .horizon = 1,
                                                         .parameters = blob},
                                           .place = blob};
    for (size_t more = 0; more <= 1; more++) {
        struct tacit_wire_announcement *found = NULL;
        said.place_size = TACIT_WIRE_BYTES_MAX + more;
        said.place_size -=
            tacit_wire_bytes(&tacit_wire_announcement, NULL, &said) - said.place_size;
        size_t const size = tacit_wire_bytes(&tacit_wire_announcement, NULL, &said);
        assert_int_equal(size, TACIT_WIRE_BYTES_MAX + more);
        uint8_t *const bytes = testing_malloc(size);
        tacit_wire_encode(&tacit_wire_announcement, NULL, &said, bytes);
        assert_int_equal(tacit_wire_decode(&tacit_wire_announcement, NULL, bytes, size, &found,
                                           tacit_wire_heap()),
                         more == 0 ? TACIT_OK : TACIT_MALFORMED);
        testing_free(found);
        testing_free(bytes);
    }
    for (size_t more = 0; more <= 1; more++) {
        struct tacit_wire_envelope found;
        struct tacit_wire_envelope envelope = {
            .version = TACIT_WIRE_VERSION, .federation = "f", .from = "a", .term = 1, .body = blob};
        envelope.body_size = TACIT_WIRE_BYTES_MAX;
        envelope.body_size -= tacit_wire_envelope_bytes(&envelope) - TACIT_WIRE_BYTES_MAX - more;
        size_t const size = tacit_wire_envelope_bytes(&envelope);
        uint8_t *const bytes = testing_malloc(size);
        tacit_wire_envelope_encode(&envelope, bytes);
        assert_int_equal(tacit_wire_envelope_decode(bytes, size, &found),
                         more == 0 ? TACIT_OK : TACIT_MALFORMED);
        testing_free(bytes);
    }
    for (size_t i = 0; i < wire_family_count; i++)
        for (size_t size = 0; size < 4; size++) {
            shown.family = &wire_families[i];
            shown.shape = shown.family->shape;
            shown.said = shown.family->samples;
            memory.requests = 0;
            if (size > 0 || shown.family->sort != WIRE_RUNS_OF)
                judge((struct bytes){blob, size < 2 ? size : TACIT_WIRE_BYTES_MAX - 2 + size});
            assert_int_equal(memory.requests, 0);
        }
}

/* Sums of all arms of all agents: longer than there may be, and no overflow. */
TEST(length_of_what_is_too_long_is_told)
{
    static uint64_t all[TACIT_BITS_WORDS(TACIT_AGENTS_MAX)];
    struct tacit_wire_shape const shape = {TACIT_ARMS_MAX, TACIT_AGENTS_MAX, 0, 0};
    struct tacit_elim_message const huge = {
        .kind = TACIT_ELIM_DATA, .origins = all, .sum_count = TACIT_ARMS_MAX};
    size_t const body = 9 + (3 + 8192) + 5 + (4 + 131072) + 7 + ((size_t)1 << 39);
    tacit_bits_fill(all, TACIT_AGENTS_MAX);
    assert_int_equal(tacit_wire_bytes(elim_table(), &shape, &huge), 24 + 2 + 6 + body);
}

TEST(an_envelope_says_its_version_and_where_its_signature_is)
{
    uint8_t run[TACIT_WIRE_RUN_BYTES];
    shown.family = &wire_families[wire_family_count - 1];
    const struct tacit_wire_envelope *const envelopes = shown.family->samples;
    for (size_t i = 0; i < shown.family->sample_count; i++) {
        struct bytes const bytes = written(&envelopes[i], 0);
        size_t const field = bytes.size - TACIT_WIRE_SIGNATURE_FIELD_BYTES;
        assert_true(bytes.size - envelopes[i].body_size <= TACIT_WIRE_ENVELOPE_BYTES_MAX);
        assert_int_equal(tacit_wire_envelope_signature(bytes.at, bytes.size),
                         envelopes[i].is_signed ? field + 2 : 0);
        assert_int_equal(tacit_wire_envelope_signature(bytes.at + field, bytes.size - field), 0);
        assert_int_equal(tacit_wire_envelope_version(bytes.at, bytes.size), TACIT_WIRE_VERSION);
        assert_int_equal(tacit_wire_envelope_version(bytes.at, 4), 0);
        bytes.at[2] = 5;
        bytes.at[3] = 6;
        bytes.at[4] = 7;
        assert_int_equal(tacit_wire_envelope_version(bytes.at, 5), 0x07060500 | TACIT_WIRE_VERSION);
        bytes.at[0]++;
        assert_int_equal(tacit_wire_envelope_version(bytes.at, 5), 0);
        free(bytes.at);
    }
    tacit_wire_run(UINT64_C(0xfedcba9876543210), run);
    assert_true(tacit_wire_run_id(run) == UINT64_C(0xfedcba9876543210));
    assert_true(run[0] == 0 && run[7] == 0 && run[8] == 0xfe && run[15] == 0x10);
}

TEST(what_was_taken_last_of_an_arena_comes_back)
{
    uint64_t block[32];
    struct tacit_wire_arena arena;
    tacit_wire_arena_init(&arena, block, sizeof block);
    struct tacit_wire_allocator const *const from = &arena.allocator;
    void *const first = from->allocate(from->context, 3);
    void *const second = from->allocate(from->context, 40);
    assert_non_null(second);
    assert_int_equal((uintptr_t)second % 8, 0);
    size_t const used = arena.used;
    from->release(from->context, first); /* not the last: it stays */
    assert_int_equal(arena.used, used);
    from->release(from->context, second);
    from->release(from->context, first);
    assert_int_equal(arena.used, 0);
    assert_null(from->allocate(from->context, 249));
    assert_null(from->allocate(from->context, SIZE_MAX));
    assert_non_null(from->allocate(from->context, 248));
    assert_int_equal(arena.peak, 256);
}
