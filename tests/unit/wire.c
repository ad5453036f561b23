/* The wire form of epoch elimination: every message survives the trip in any shape, its length says
 * nothing but what is public, and a peer's bytes are taken only in the one form that we write.
 *
 * Run under a sanitizer this also shows that no refusal leaks or reads too far: every buffer is
 * exactly as long as its message. */
#include "../support/wire_shape.h"
#include "../support/testing.h"
#include "../support/digest.h"
#include "../support/elim_driver.h"
#include "../support/wire_bytes.h"
#include "tacit/wire_elim.h"

#define ARMS_MAX 1000u
#define AGENTS_MAX 100000u
#define NUMBERS_MAX (2100u * ARMS_MAX)
#define RUN_ID UINT64_C(0x0123456789abcdef)

static const uint32_t arm_counts[] = {1, 63, 64, 65, 1000};
static const uint32_t agent_counts[] = {1, 50, 1000};
#define ARM_COUNTS (sizeof arm_counts / sizeof arm_counts[0])
#define AGENT_COUNTS (sizeof agent_counts / sizeof agent_counts[0])

enum shape {
    HELLO,
    HELLO_OF_PEER,
    ORDER,
    ORDER_WITH_UPLOADERS,
    REPORT,
    REPORT_OF_SINK,
    ADVERT,
    REQUEST,
    DATA,
    DATA_FROM_TABLE,
    SHAPE_COUNT
};

static enum tacit_elim_message_kind kind_of(enum shape shape)
{
    static const enum tacit_elim_message_kind kinds[SHAPE_COUNT] = {
        [HELLO] = TACIT_ELIM_HELLO,   [HELLO_OF_PEER] = TACIT_ELIM_HELLO,
        [ORDER] = TACIT_ELIM_ORDER,   [ORDER_WITH_UPLOADERS] = TACIT_ELIM_ORDER,
        [REPORT] = TACIT_ELIM_REPORT, [REPORT_OF_SINK] = TACIT_ELIM_REPORT,
        [ADVERT] = TACIT_ELIM_ADVERT, [REQUEST] = TACIT_ELIM_REQUEST,
        [DATA] = TACIT_ELIM_DATA,     [DATA_FROM_TABLE] = TACIT_ELIM_DATA,
    };
    return kinds[shape];
}

static bool has_origins(enum shape shape)
{
    return shape == HELLO_OF_PEER || shape >= ADVERT;
}

/* A message with its sets. */
struct sample {
    struct tacit_elim_message message;
    uint32_t arm_count;
    uint32_t agent_count;
    uint64_t arms[TACIT_BITS_WORDS(ARMS_MAX)];
    uint64_t agents[TACIT_BITS_WORDS(AGENTS_MAX)]; /* uploaders or origins */
};

/* The sums of whichever sample was made last. */
static union tacit_sum numbers[NUMBERS_MAX];

/* ---- Helpers --------------------------------------------------------------------------------- */

static void fill_sums(struct sample *sample, enum shape shape)
{
    uint32_t row_count = 1;
    sample->message.sum_count = tacit_bits_count(sample->arms, sample->arm_count);
    uint32_t width = sample->message.sum_count;
    if (shape == DATA)
        row_count = tacit_bits_count(sample->agents, sample->agent_count);
    if (shape == DATA_FROM_TABLE) { /* a row an agent, with a gap behind it */
        row_count = sample->agent_count;
        width++;
        sample->message.row_stride = width;
        sample->message.rows_stay = true;
    }
    uint32_t const count = row_count * width;
    assert_true(count <= NUMBERS_MAX);
    for (uint32_t i = 0; i < count; i++)
        numbers[i].steps = (int64_t)i * 1000003 - 77;
    sample->message.sums = numbers;
}

/* Gives the sample's message its sets, and the sums that belong to them. */
static void complete(struct sample *sample, enum shape shape)
{
    bool const has_arms = kind_of(shape) == TACIT_ELIM_ORDER || shape == REPORT ||
                          shape == REPORT_OF_SINK || shape >= DATA;
    if (has_origins(shape))
        sample->message.origins = sample->agents;
    if (!has_arms)
        return;
    sample->message.arms = sample->arms;
    sample->message.pulls = UINT64_C(0x1122334455);
    if (shape == ORDER_WITH_UPLOADERS)
        sample->message.uploaders = sample->agents;
    if (kind_of(shape) != TACIT_ELIM_ORDER)
        fill_sums(sample, shape);
}

static void begin(struct sample *sample, enum shape shape, uint32_t arm_count, uint32_t agent_count)
{
    bool const is_order = kind_of(shape) == TACIT_ELIM_ORDER;
    *sample = (struct sample){.arm_count = arm_count, .agent_count = agent_count};
    sample->message = (struct tacit_elim_message){
        .kind = kind_of(shape),
        .from = is_order ? TACIT_HUB : agent_count - 1,
        .to = is_order ? 0 : TACIT_HUB,
        .run_id = RUN_ID,
        .epoch = 3,
        .seen = is_order ? 2 : 0,
        .last = is_order && arm_count == 1,
        .agents = shape == REPORT_OF_SINK ? (agent_count + 1) / 2 : 0,
    };
}

/* A message of the given shape in which every third arm and every second agent is missing. */
static void make(struct sample *sample, enum shape shape, uint32_t arm_count, uint32_t agent_count)
{
    begin(sample, shape, arm_count, agent_count);
    for (uint32_t arm = 0; arm < arm_count; arm++)
        if (arm % 3 != 1)
            tacit_bits_add(sample->arms, arm);
    for (uint32_t agent = 0; agent < agent_count; agent += 2)
        tacit_bits_add(sample->agents, agent);
    complete(sample, shape);
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* At least one member; the share of members is 1/64, 1/8, 1/2, 7/8 or 1. */
static void add_some(uint64_t *set, uint32_t count, uint64_t *random)
{
    static const uint32_t shares[] = {1, 8, 32, 56, 64};
    uint32_t const share = shares[next_random(random) % 5];
    uint32_t const from =
        next_random(random) % 2 == 0 ? 0 : (uint32_t)(next_random(random) % count);
    tacit_bits_add(set, from);
    for (uint32_t i = from; i < count; i++)
        if (next_random(random) % 64 < share)
            tacit_bits_add(set, i);
}

static void make_random(struct sample *sample, enum shape shape, uint64_t *random)
{
    uint32_t const arm_count = 1 + (uint32_t)(next_random(random) % 150);
    uint32_t const agent_count = 1 + (uint32_t)(next_random(random) % 300);
    begin(sample, shape, arm_count, agent_count);
    add_some(sample->arms, arm_count, random);
    add_some(sample->agents, agent_count, random);
    complete(sample, shape);
}

static size_t size_of(const struct sample *sample)
{
    return tacit_wire_bytes(WIRE(elim, sample->arm_count, sample->agent_count), &sample->message);
}

/* The encoding, for testing_free(). */
static uint8_t *encode(const struct sample *sample)
{
    uint8_t *const bytes = testing_malloc(size_of(sample));
    tacit_wire_encode(WIRE(elim, sample->arm_count, sample->agent_count), &sample->message, bytes);
    return bytes;
}

static enum tacit_status decode(const struct sample *sample, const uint8_t *bytes, size_t size,
                                struct tacit_elim_message **message)
{
    return tacit_wire_decode(
        WIRE(elim, sample->arm_count, sample->agent_count, 0, sample->message.to), bytes, size,
        message, tacit_wire_heap());
}

/* Packed at b, in the order of origins. */
static void expect_same_rows(const struct sample *sample, const struct tacit_elim_message *b)
{
    struct tacit_elim_message const *const a = &sample->message;
    uint32_t rank = 0;
    for (uint32_t agent = 0; agent < sample->agent_count; agent++) {
        if (!tacit_bits_has(sample->agents, agent))
            continue;
        uint32_t const start = a->row_stride > 0 ? agent * a->row_stride : rank * a->sum_count;
        assert_memory_equal(a->sums + start, b->sums + (size_t)rank * a->sum_count,
                            a->sum_count * sizeof *a->sums);
        rank++;
    }
}

static void expect_same(const struct sample *sample, const struct tacit_elim_message *b)
{
    struct tacit_elim_message const *const a = &sample->message;
    struct driver_core const core = {.arm_count = sample->arm_count,
                                     .agent_count = sample->agent_count};
    driver_expect_same(&core, a, b);
    assert_int_equal(b->row_stride, 0);
    assert_false(b->rows_stay);
    if (a->kind == TACIT_ELIM_DATA)
        expect_same_rows(sample, b);
}

/* Refused, and *message untouched. The bytes are copied, so that a read beyond them is seen. */
static void expect_refused(const struct sample *sample, const uint8_t *bytes, size_t size)
{
    struct tacit_elim_message *message = (void *)(uintptr_t)0x10;
    uint8_t *const exact = testing_malloc(size > 0 ? size : 1);
    memcpy(exact, bytes, size);
    assert_int_equal(decode(sample, exact, size, &message), TACIT_MALFORMED);
    assert_ptr_equal(message, (void *)(uintptr_t)0x10);
}

static void expect_taken(const struct sample *sample, const uint8_t *bytes, size_t size)
{
    struct tacit_elim_message *message = NULL;
    assert_int_equal(decode(sample, bytes, size, &message), TACIT_OK);
    testing_free(message);
}

/* ---- Bytes by hand --------------------------------------------------------------------------- */

struct bytes {
    uint8_t data[512];
    size_t size;
};

static void put(struct bytes *bytes, const void *more, size_t size)
{
    assert_true(bytes->size + size <= sizeof bytes->data);
    memcpy(bytes->data + bytes->size, more, size);
    bytes->size += size;
}

static void put_byte(struct bytes *bytes, uint8_t byte)
{
    put(bytes, &byte, 1);
}

/* A field of fixed width: its tag, and `width` bytes, the lowest first. */
static void put_fixed(struct bytes *bytes, uint8_t tag, uint64_t value, uint32_t width)
{
    put_byte(bytes, tag);
    for (uint32_t i = 0; i < width; i++)
        put_byte(bytes, (uint8_t)(value >> (8 * i)));
}

/* A field of bytes, shorter than 128. */
static void put_field(struct bytes *bytes, uint8_t tag, const struct bytes *content)
{
    put_byte(bytes, tag);
    put_byte(bytes, (uint8_t)content->size);
    put(bytes, content->data, content->size);
}

enum { TAG_VERSION = 0x0d, TAG_FROM = 0x15, TAG_RUN = 0x19, TAG_EPOCH = 0x25 };
enum { TAG_AGENTS = 0x25 }; /* of a report */
enum { BODY_HELLO = 0x82, BODY_REPORT = 0x92 };
enum { BODY_ADVERT = 0x9a, BODY_REQUEST = 0xa2, BODY_DATA = 0xaa };

static void put_envelope(struct bytes *bytes)
{
    put_fixed(bytes, TAG_VERSION, 1, 4);
    put_fixed(bytes, TAG_FROM, 1, 4);
    put_fixed(bytes, TAG_RUN, RUN_ID, 8);
    put_fixed(bytes, TAG_EPOCH, 3, 4);
}

static void put_body(struct bytes *bytes, uint8_t tag, const struct bytes *body)
{
    put_byte(bytes, tag);
    put_byte(bytes, 1); /* the tags from 16 take two bytes */
    put_byte(bytes, (uint8_t)body->size);
    put(bytes, body->data, body->size);
}

static struct bytes set_of(uint64_t word)
{
    struct bytes set = {.size = 8};
    for (uint32_t i = 0; i < 8; i++)
        set.data[i] = (uint8_t)(word >> (8 * i));
    return set;
}

/* The body of a report with the given arms of 3 and sums 0, 1, 2, .. */
static struct bytes report_body(uint64_t arms, uint32_t sum_count)
{
    struct bytes body = {.size = 0};
    struct bytes const set = set_of(arms);
    struct bytes sums = {.size = 0};
    for (uint64_t i = 0; i < sum_count; i++)
        put(&sums, set_of(i).data, 8);
    put_fixed(&body, 0x09, 10, 8);
    put_field(&body, 0x12, &set);
    if (sum_count > 0)
        put_field(&body, 0x1a, &sums);
    return body;
}

/* The two fields of a set of origins, of which the first has the given number (below 15). */
static void put_origins(struct bytes *body, uint8_t number, uint32_t first, const struct bytes *set)
{
    put_fixed(body, (uint8_t)(number << 3 | 5), first, 4);
    put_field(body, (uint8_t)((number + 1) << 3 | 2), set);
}

static struct bytes origins_body(uint32_t first, const struct bytes *set)
{
    struct bytes body = {.size = 0};
    put_origins(&body, 1, first, set);
    return body;
}

/* The body of data with the given arms of 3 and sums 0, 1, 2, .. */
static struct bytes data_body(uint64_t arms, uint32_t first, const struct bytes *set,
                              uint32_t sum_count)
{
    struct bytes body = {.size = 0};
    struct bytes const arm_set = set_of(arms);
    struct bytes sums = {.size = 0};
    for (uint64_t i = 0; i < sum_count; i++)
        put(&sums, set_of(i).data, 8);
    put_fixed(&body, 0x09, 10, 8);
    put_field(&body, 0x12, &arm_set);
    put_origins(&body, 3, first, set);
    if (sum_count > 0)
        put_field(&body, 0x2a, &sums);
    return body;
}

static struct bytes message_with(uint8_t tag, struct bytes body)
{
    struct bytes bytes = {.size = 0};
    put_envelope(&bytes);
    put_body(&bytes, tag, &body);
    return bytes;
}

/* 3 arms, 5 agents. */
static struct sample small(void)
{
    struct sample sample;
    make(&sample, HELLO, 3, 5);
    return sample;
}

/* ---- Round trips ----------------------------------------------------------------------------- */

static void round_trip(const struct sample *sample)
{
    struct tacit_elim_message *message = NULL;
    uint8_t *const bytes = encode(sample);
    assert_int_equal(decode(sample, bytes, size_of(sample), &message), TACIT_OK);
    expect_same(sample, message);
    testing_free(message);
}

TEST(every_shape_of_every_message_survives_the_trip)
{
    static struct sample sample;
    for (uint32_t shape = 0; shape < SHAPE_COUNT; shape++) {
        for (size_t i = 0; i < ARM_COUNTS; i++) {
            for (size_t j = 0; j < AGENT_COUNTS; j++) {
                make(&sample, (enum shape)shape, arm_counts[i], agent_counts[j]);
                round_trip(&sample);
            }
        }
    }
}

TEST(every_shape_with_random_sets_survives_the_trip)
{
    static struct sample sample;
    uint64_t random = 1;
    for (uint32_t i = 0; i < 300; i++) {
        for (uint32_t shape = 0; shape < SHAPE_COUNT; shape++) {
            make_random(&sample, (enum shape)shape, &random);
            round_trip(&sample);
        }
    }
}

TEST(hello_of_a_peer_that_holds_nothing_survives_the_trip)
{
    static struct sample sample;
    for (size_t i = 0; i < AGENT_COUNTS; i++) {
        make(&sample, HELLO_OF_PEER, 3, agent_counts[i]);
        memset(sample.agents, 0, sizeof sample.agents);
        round_trip(&sample); /* which tells an empty set from none */
    }
}

TEST(rows_from_a_table_are_the_same_bytes_as_packed_rows)
{
    static struct sample sample;
    static struct tacit_elim_message packed;
    static union tacit_sum rows[4];
    make(&sample, DATA_FROM_TABLE, 3, 3); /* arms 0, 2 and agents 0, 2 */
    uint8_t *const bytes = encode(&sample);
    uint8_t *const again = testing_malloc(size_of(&sample));
    packed = sample.message;
    packed.row_stride = 0;
    packed.rows_stay = false;
    packed.sums = rows;
    memcpy(rows, numbers, 2 * sizeof *rows);
    memcpy(rows + 2, numbers + (size_t)2 * sample.message.row_stride, 2 * sizeof *rows);
    assert_non_null(again);
    assert_int_equal(tacit_wire_bytes(WIRE(elim, 3, 3), &packed), size_of(&sample));
    tacit_wire_encode(WIRE(elim, 3, 3), &packed, again);
    assert_memory_equal(again, bytes, size_of(&sample));
}

TEST(decoded_message_is_addressed_as_the_caller_says)
{
    struct sample sample = small();
    uint8_t *const bytes = encode(&sample);
    struct tacit_elim_message *message = NULL;
    sample.message.to = 1234;
    assert_int_equal(decode(&sample, bytes, size_of(&sample), &message), TACIT_OK);
    assert_int_equal(message->to, 1234);
    testing_free(message);
}

/* ---- Golden bytes ---------------------------------------------------------------------------- */

static void expect_hex(const struct sample *sample, const char *wanted)
{
    static const char digits[] = "0123456789abcdef";
    char hex[512] = "";
    uint8_t *const bytes = encode(sample);
    assert_true(2 * size_of(sample) < sizeof hex);
    for (size_t i = 0; i < size_of(sample); i++) {
        hex[2 * i] = digits[bytes[i] >> 4];
        hex[2 * i + 1] = digits[bytes[i] & 15];
    }
    assert_string_equal(hex, wanted);
}

/* Written by protoc --encode from text. */
TEST(one_message_of_each_shape_has_these_bytes)
{
    static struct sample sample;
    static const char *const wanted[SHAPE_COUNT] = {
        [HELLO] = "0d01000000150400000019efcdab89674523012503000000820100",
        [HELLO_OF_PEER] = "0d01000000150400000019efcdab896745230125030000008201080d00000000120115",
        [ORDER] = "0d0100000015ffffffff19efcdab896745230125030000008a011d0d0000000011554433"
                  "22110000001a0805000000000000002d02000000",
        [ORDER_WITH_UPLOADERS] =
            "0d0100000015ffffffff19efcdab896745230125030000008a01270d0000000011554433"
            "22110000001a080500000000000000220815000000000000002d02000000",
        [REPORT] = "0d01000000150400000019efcdab89674523012503000000920125095544332211000000"
                   "120805000000000000001a10b3fffffffffffffff6410f0000000000",
        [REPORT_OF_SINK] =
            "0d01000000150400000019efcdab8967452301250300000092012a095544332211000000"
            "120805000000000000001a10b3fffffffffffffff6410f00000000002503000000",
        [ADVERT] = "0d01000000150400000019efcdab896745230125030000009a01080d00000000120115",
        [REQUEST] = "0d01000000150400000019efcdab89674523012503000000a201080d00000000120115",
        [DATA] = "0d01000000150400000019efcdab89674523012503000000aa014d095544332211000000"
                 "120805000000000000001d000000002201152a30b3fffffffffffffff6410f0000000000"
                 "39841e00000000007cc62d0000000000bf083d0000000000024b4c0000000000",
        [DATA_FROM_TABLE] =
            "0d01000000150400000019efcdab89674523012503000000aa014d095544332211000000"
            "120805000000000000001d000000002201152a30b3fffffffffffffff6410f0000000000"
            "458d5b000000000088cf6a0000000000d71ab700000000001a5dc60000000000",
    };
    for (uint32_t shape = 0; shape < SHAPE_COUNT; shape++) {
        make(&sample, (enum shape)shape, 3, 5);
        expect_hex(&sample, wanted[shape]);
    }
}

/* ---- Length ---------------------------------------------------------------------------------- */

static void expect_length_without_values(enum shape shape)
{
    static struct sample sample;
    int64_t const values[] = {0, 1, -1, 127, 128, TACIT_STEPS, INT64_MAX, INT64_MIN};
    make(&sample, shape, 65, 1000);
    size_t const size = size_of(&sample);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        for (size_t j = 0; j < (size_t)1000 * 65; j++)
            numbers[j].steps = values[i];
        sample.message.from = i % 2 == 0 ? 0 : 999;
        sample.message.run_id = i % 3 == 0 ? 0 : UINT64_MAX;
        sample.message.epoch = i % 2 == 0 ? 0 : TACIT_ELIM_EPOCHS_MAX;
        sample.message.pulls = (uint64_t)values[i];
        if (sample.message.agents > 0)
            sample.message.agents = i % 2 == 0 ? 1 : 1000;
        assert_int_equal(size_of(&sample), size);
        uint8_t *const bytes = encode(&sample);
        expect_taken(&sample, bytes, size);
        testing_free(bytes);
    }
}

TEST(length_of_a_report_or_of_data_does_not_depend_on_any_value)
{
    expect_length_without_values(REPORT);
    expect_length_without_values(REPORT_OF_SINK);
    expect_length_without_values(DATA);
    expect_length_without_values(DATA_FROM_TABLE);
}

static size_t length_with(struct sample *sample, uint32_t a, uint32_t b)
{
    memset(sample->agents, 0, sizeof sample->agents);
    tacit_bits_add(sample->agents, a);
    tacit_bits_add(sample->agents, b);
    round_trip(sample);
    return size_of(sample);
}

/* 24 bytes of envelope, 3 or 4 before the body, 5 of origins_first, 2 or 3 before the set. */
TEST(one_label_among_100000_takes_a_byte_and_all_take_a_bit_each)
{
    static struct sample sample;
    make(&sample, ADVERT, 3, 100000);
    for (uint32_t label = 0; label < 100000; label += 3333)
        assert_int_equal(length_with(&sample, label, label), 24 + 3 + 5 + 2 + 1);
    assert_int_equal(length_with(&sample, 99999, 99999), 24 + 3 + 5 + 2 + 1);
    assert_int_equal(length_with(&sample, 7, 8), 24 + 3 + 5 + 2 + 2);
    assert_int_equal(length_with(&sample, 63, 64), 24 + 3 + 5 + 2 + 2);
    assert_int_equal(length_with(&sample, 8, 15), 24 + 3 + 5 + 2 + 1);
    assert_int_equal(length_with(&sample, 50000, 50128), 24 + 3 + 5 + 2 + 17);
    assert_int_equal(length_with(&sample, 0, 99999), 24 + 4 + 5 + 3 + 12500);
    tacit_bits_fill(sample.agents, 100000);
    round_trip(&sample);
    assert_int_equal(size_of(&sample), 24 + 4 + 5 + 3 + 12500);
}

/* 1000 sums a row: 2097 rows fit into 2^24 bytes. */
TEST(longest_data_survives_the_trip_and_what_is_too_long_is_told)
{
    static struct sample sample;
    static uint64_t all[TACIT_BITS_WORDS(TACIT_AGENTS_MAX)];
    begin(&sample, DATA, 1000, 2097);
    tacit_bits_fill(sample.arms, 1000);
    tacit_bits_fill(sample.agents, 2097);
    complete(&sample, DATA);
    assert_true(size_of(&sample) <= TACIT_WIRE_BYTES_MAX);
    round_trip(&sample);
    tacit_bits_add(sample.agents, 2097);
    assert_true(tacit_wire_bytes(WIRE(elim, 1000, 2098), &sample.message) > TACIT_WIRE_BYTES_MAX);
    tacit_bits_fill(all, TACIT_AGENTS_MAX);
    struct tacit_elim_message const huge = {
        .kind = TACIT_ELIM_DATA, .origins = all, .sum_count = TACIT_ARMS_MAX};
    size_t const body = 9 + (3 + 8192) + 5 + (4 + 131072) + 7 + ((size_t)1 << 39);
    assert_int_equal(tacit_wire_bytes(WIRE(elim, TACIT_ARMS_MAX, TACIT_AGENTS_MAX), &huge),
                     24 + 2 + 6 + body);
}

TEST(length_of_an_order_does_not_depend_on_who_is_in_or_who_reported)
{
    static struct sample sample;
    make(&sample, ORDER_WITH_UPLOADERS, 65, 1000);
    size_t const size = size_of(&sample);
    memset(sample.arms, 0, sizeof sample.arms);
    memset(sample.agents, 0, sizeof sample.agents);
    sample.message.pulls = 0;
    sample.message.last = true;
    uint32_t const seens[] = {0, 1, 127, 128, TACIT_ELIM_EPOCHS_MAX, UINT32_MAX};
    for (size_t i = 0; i < sizeof seens / sizeof seens[0]; i++) {
        struct tacit_elim_message *message = NULL;
        sample.message.seen = seens[i];
        assert_int_equal(size_of(&sample), size);
        uint8_t *const bytes = encode(&sample);
        assert_int_equal(decode(&sample, bytes, size, &message), TACIT_OK);
        assert_int_equal(message->seen, seens[i]); /* whether it makes sense is the core's matter */
        testing_free(message);
        testing_free(bytes);
    }
}

/* ---- Refusals -------------------------------------------------------------------------------- */

TEST(hand_made_bytes_are_taken_as_long_as_nothing_is_wrong)
{
    struct sample const sample = small();
    struct bytes const hello = message_with(BODY_HELLO, (struct bytes){.size = 0});
    struct bytes const report = message_with(BODY_REPORT, report_body(5, 2));
    struct bytes const set = {.data = {18}, .size = 1};
    struct bytes const hello_of_peer = message_with(BODY_HELLO, origins_body(0, &set));
    struct bytes const advert = message_with(BODY_ADVERT, origins_body(0, &set));
    struct bytes const request = message_with(BODY_REQUEST, origins_body(0, &set));
    struct bytes const data = message_with(BODY_DATA, data_body(5, 0, &set, 4));
    expect_taken(&sample, hello.data, hello.size);
    expect_taken(&sample, report.data, report.size);
    expect_taken(&sample, hello_of_peer.data, hello_of_peer.size);
    expect_taken(&sample, advert.data, advert.size);
    expect_taken(&sample, request.data, request.size);
    expect_taken(&sample, data.data, data.size);
}

TEST(sender_outside_the_federation_or_epoch_too_large_is_refused)
{
    struct sample sample = small();
    struct {
        uint32_t from;
        uint32_t epoch;
        bool is_fine;
    } const cases[] = {
        {4, 3, true},
        {5, 3, false},
        {TACIT_HUB, 3, true},
        {TACIT_EVERYONE, 3, false},
        {0, TACIT_ELIM_EPOCHS_MAX, true},
        {0, TACIT_ELIM_EPOCHS_MAX + 1, false},
        {0, UINT32_MAX, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sample.message.from = cases[i].from;
        sample.message.epoch = cases[i].epoch;
        uint8_t *const bytes = encode(&sample);
        if (cases[i].is_fine)
            expect_taken(&sample, bytes, size_of(&sample));
        else
            expect_refused(&sample, bytes, size_of(&sample));
        testing_free(bytes);
    }
}

TEST(message_for_another_number_of_arms_or_agents_is_refused)
{
    static struct sample sample;
    static const uint32_t arms[] = {63, 64, 65, 128, 129};
    for (uint32_t shape = 0; shape < SHAPE_COUNT; shape++) {
        make(&sample, (enum shape)shape, 65, 50);
        size_t const size = size_of(&sample);
        uint8_t *const bytes = encode(&sample);
        for (size_t i = 0; i < sizeof arms / sizeof arms[0]; i++) {
            sample.arm_count = arms[i];
            if (sample.message.arms != NULL && TACIT_BITS_WORDS(arms[i]) != TACIT_BITS_WORDS(65))
                expect_refused(&sample, bytes, size);
        }
        sample.arm_count = 65;
        sample.agent_count = 65; /* two words of agents instead of one */
        if (shape == ORDER_WITH_UPLOADERS)
            expect_refused(&sample, bytes, size);
        sample.agent_count = 48; /* agents 48 and 49 do not exist */
        if (shape != ORDER)
            expect_refused(&sample, bytes, size);
        testing_free(bytes);
    }
}

TEST(bits_beyond_the_last_arm_or_agent_are_refused)
{
    static struct sample sample;
    make(&sample, ORDER_WITH_UPLOADERS, 3, 5);
    uint64_t const beyond[] = {8, UINT64_C(1) << 63};
    for (size_t i = 0; i < 2; i++) {
        sample.arms[0] ^= beyond[i];
        uint8_t *bytes = encode(&sample);
        expect_refused(&sample, bytes, size_of(&sample));
        testing_free(bytes);
        sample.arms[0] ^= beyond[i];
        sample.agents[0] ^= beyond[i] << 2 | UINT64_C(1) << 63;
        bytes = encode(&sample);
        expect_refused(&sample, bytes, size_of(&sample));
        testing_free(bytes);
        sample.agents[0] ^= beyond[i] << 2 | UINT64_C(1) << 63;
    }
}

TEST(leader_of_an_order_survives_the_trip_if_it_is_in)
{
    static struct sample sample;
    make(&sample, ORDER, 65, 5);
    size_t const without = size_of(&sample);
    for (uint32_t leader = 1; leader <= 66; leader++) {
        struct tacit_elim_message *message = NULL;
        sample.message.leader = leader;
        size_t const size = size_of(&sample);
        uint8_t *const bytes = encode(&sample);
        assert_int_equal(size, without + 5); /* a tag and four bytes */
        if (leader > 65 || (leader - 1) % 3 == 1) {
            expect_refused(&sample, bytes, size);
        } else {
            assert_int_equal(decode(&sample, bytes, size, &message), TACIT_OK);
            assert_int_equal(message->leader, leader);
        }
        memset(bytes + size - 4, 0, 4); /* 0 is no leader: it is left out */
        expect_refused(&sample, bytes, size);
        testing_free(message);
        testing_free(bytes);
    }
}

/* The log of a run, of every length; more than there may be are refused. */
TEST(changes_of_an_order_survive_the_trip)
{
    static struct sample sample;
    struct tacit_elim_change log[TACIT_ELIM_CHANGES_MAX];
    make(&sample, ORDER, 65, 5);
    size_t const without = size_of(&sample);
    for (uint32_t i = 0; i < TACIT_ELIM_CHANGES_MAX; i++)
        log[i] = (struct tacit_elim_change){.kind = i % 7,
                                            .epoch = 1 + i,
                                            .subject = UINT32_MAX - i,
                                            .number = i + 1,
                                            .value = UINT64_MAX - i,
                                            .made_unix_s = UINT64_C(1) << i};
    sample.message.changes = log;
    for (uint32_t count = 1; count <= TACIT_ELIM_CHANGES_MAX; count++) {
        struct tacit_elim_message *message = NULL;
        sample.message.change_count = count;
        uint8_t *const bytes = encode(&sample);
        assert_in_range(size_of(&sample), without + count * (2 + 3 * 5 + 2 * 9),
                        1 + without + count * (2 + 3 * 5 + 2 * 9)); /* its length grows, too */
        assert_int_equal(decode(&sample, bytes, size_of(&sample), &message), TACIT_OK);
        assert_int_equal(message->change_count, count);
        assert_memory_equal(message->changes, log, count * sizeof *log);
        testing_free(message);
        if (count == TACIT_ELIM_CHANGES_MAX) { /* one more of the same */
            size_t const one = 2 + 3 * 5 + 2 * 9;
            uint8_t *const more = testing_malloc(size_of(&sample) + one);
            memcpy(more, bytes, size_of(&sample));
            memcpy(more + size_of(&sample), bytes + size_of(&sample) - one, one);
            expect_refused(&sample, more, size_of(&sample) + one);
            testing_free(more);
        }
        testing_free(bytes);
    }
}

/* Arms that a site does not play: a set that is not empty, and has no arm that does not exist. */
TEST(refused_arms_survive_the_trip)
{
    static struct sample sample;
    uint64_t refused[2] = {UINT64_C(1) << 63, 1};
    make(&sample, HELLO, 65, 5);
    size_t const without = size_of(&sample);
    sample.message.refused = refused;
    struct tacit_elim_message *message = NULL;
    uint8_t *bytes = encode(&sample);
    size_t const size = size_of(&sample);
    assert_int_equal(size, without + 2 + sizeof refused);
    assert_int_equal(decode(&sample, bytes, size, &message), TACIT_OK);
    assert_memory_equal(message->refused, refused, sizeof refused);
    testing_free(message);
    memset(bytes + size - sizeof refused, 0, sizeof refused);
    expect_refused(&sample, bytes, size);
    bytes[size - 1] = 1;
    expect_refused(&sample, bytes, size);
}

TEST(report_of_a_sink_that_counts_nobody_or_too_many_is_refused)
{
    struct sample const sample = small(); /* of 5 agents */
    uint32_t const counts[] = {0, 1, 2, 5, 6, 256, UINT32_MAX};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        struct bytes body = report_body(5, 2);
        put_fixed(&body, TAG_AGENTS, counts[i], 4);
        struct bytes bytes = message_with(BODY_REPORT, body);
        if (counts[i] >= 1 && counts[i] <= 5)
            expect_taken(&sample, bytes.data, bytes.size);
        else
            expect_refused(&sample, bytes.data, bytes.size);
        put_fixed(&body, TAG_AGENTS, counts[i], 4); /* twice */
        bytes = message_with(BODY_REPORT, body);
        expect_refused(&sample, bytes.data, bytes.size);
    }
    struct bytes thin = report_body(5, 2);
    put_byte(&thin, 0x20); /* field 4 as a varint */
    put_byte(&thin, 2);
    struct bytes const bytes = message_with(BODY_REPORT, thin);
    expect_refused(&sample, bytes.data, bytes.size);
}

/* ---- Refusals of sets of origins ---- */

enum verdict { REFUSED, TAKEN, TAKEN_IN_HELLO };

static void expect_verdict(const struct sample *sample, const struct bytes *bytes, bool is_fine)
{
    if (is_fine)
        expect_taken(sample, bytes->data, bytes->size);
    else
        expect_refused(sample, bytes->data, bytes->size);
}

/* The verdict on a set in every message that has one. */
static void judge_origins(const struct sample *sample, uint32_t first, const struct bytes *set,
                          enum verdict verdict)
{
    uint32_t members = 0;
    for (size_t i = 0; i < 8 * set->size; i++)
        members += set->data[i / 8] >> i % 8 & 1;
    struct bytes const hello = message_with(BODY_HELLO, origins_body(first, set));
    struct bytes const advert = message_with(BODY_ADVERT, origins_body(first, set));
    struct bytes const request = message_with(BODY_REQUEST, origins_body(first, set));
    struct bytes const data = message_with(BODY_DATA, data_body(4, first, set, members));
    struct bytes const data_of_one = message_with(BODY_DATA, data_body(4, first, set, 1));
    expect_verdict(sample, &hello, verdict != REFUSED);
    expect_verdict(sample, &advert, verdict == TAKEN);
    expect_verdict(sample, &request, verdict == TAKEN);
    expect_verdict(sample, &data, verdict == TAKEN);
    expect_verdict(sample, &data_of_one, verdict == TAKEN && members == 1);
}

TEST(set_of_origins_has_one_form_and_no_strangers)
{
    static struct sample sample;
    make(&sample, HELLO, 3, 100); /* two words, 13 bytes */
    static const struct {
        uint32_t first;
        struct bytes set;
        enum verdict verdict;
    } cases[] = {
        {0, {.data = {1}, .size = 1}, TAKEN},
        {0, {.data = {0x80}, .size = 1}, TAKEN},
        {8, {.data = {1, 0, 1}, .size = 3}, TAKEN},
        {56, {.data = {1, 1}, .size = 2}, TAKEN},
        {0, {.data = {1, [12] = 8}, .size = 13}, TAKEN},
        {96, {.data = {8}, .size = 1}, TAKEN}, /* agent 99 */
        {0, {.size = 0}, TAKEN_IN_HELLO},
        {8, {.size = 0}, REFUSED}, /* nobody, from agent 8 */
        {UINT32_MAX, {.size = 0}, REFUSED},
        {0, {.data = {0}, .size = 1}, REFUSED},
        {0, {.data = {0, 1}, .size = 2}, REFUSED}, /* begins too early */
        {0, {.data = {1, 0}, .size = 2}, REFUSED}, /* ends too late */
        {8, {.data = {1, [15] = 0}, .size = 15}, REFUSED},
        {1, {.data = {1}, .size = 1}, REFUSED}, /* no multiple of 8 */
        {4, {.data = {0x10}, .size = 1}, REFUSED},
        {95, {.data = {1}, .size = 1}, REFUSED},
        {96, {.data = {0x10}, .size = 1}, REFUSED}, /* agent 100 */
        {96, {.data = {8, 1}, .size = 2}, REFUSED},
        {0, {.data = {1, [12] = 0x80}, .size = 13}, REFUSED},
        {0, {.data = {1, [15] = 0x80}, .size = 16}, REFUSED},
        {0, {.data = {1, [16] = 1}, .size = 17}, REFUSED},
        {120, {.data = {0x80}, .size = 1}, REFUSED},
        {120, {.data = {1, 1}, .size = 2}, REFUSED},
        {128, {.data = {1}, .size = 1}, REFUSED},
        {1u << 31, {.data = {1}, .size = 1}, REFUSED},
        {UINT32_MAX - 7, {.data = {1}, .size = 1}, REFUSED},
        {UINT32_MAX - 7, {.data = {1, 1}, .size = 2}, REFUSED},
        {UINT32_MAX, {.data = {1}, .size = 1}, REFUSED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        judge_origins(&sample, cases[i].first, &cases[i].set, cases[i].verdict);
}

/* ---- Grants ---- */

static struct tacit_commit numbered_commit(void)
{
    struct tacit_commit commit;
    for (uint8_t i = 0; i < TACIT_SHA256_BYTES; i++) {
        commit.commitment[i] = i;
        commit.previous[i] = (uint8_t)(100 + i);
        commit.salt[i] = (uint8_t)(200 + i);
    }
    return commit;
}

/* Every message that speaks of commitments: what it says of them comes back, and nothing else. */
TEST(words_of_grants_survive_the_trip)
{
    static const enum tacit_elim_message_kind kinds[] = {TACIT_ELIM_COMMIT, TACIT_ELIM_GRANT,
                                                         TACIT_ELIM_REFUSAL, TACIT_ELIM_HELLO,
                                                         TACIT_ELIM_REPORT};
    static const size_t lengths[] = {68, 39, 39, 34, 9 + 10 + 10 + 68};
    static const union tacit_sum sum = {.steps = -5};
    static const uint64_t arms = 2;
    static const uint8_t zeros[TACIT_SHA256_BYTES];
    struct tacit_commit const commit = numbered_commit();
    for (size_t i = 0; i < 5; i++) {
        bool const is_report = kinds[i] == TACIT_ELIM_REPORT;
        bool const has_previous = kinds[i] == TACIT_ELIM_COMMIT || is_report;
        struct tacit_elim_message said = {.kind = kinds[i],
                                          .from = 1,
                                          .to = TACIT_HUB,
                                          .run_id = 7,
                                          .epoch = 4,
                                          .closed = kinds[i] == TACIT_ELIM_GRANT,
                                          .forgot = kinds[i] == TACIT_ELIM_REFUSAL,
                                          .commit = &commit};
        if (is_report) {
            said.arms = &arms;
            said.sums = &sum;
            said.sum_count = 1;
        }
        struct tacit_elim_message *heard = NULL;
        uint8_t bytes[256];
        size_t const size = tacit_wire_bytes(WIRE(elim, 3, 2), &said);
        assert_int_equal(size, 24 + 3 + lengths[i]);
        tacit_wire_encode(WIRE(elim, 3, 2), &said, bytes);
        assert_int_equal(tacit_wire_decode(WIRE(elim, 3, 2, 0, TACIT_HUB), bytes, size, &heard,
                                           tacit_wire_heap()),
                         TACIT_OK);
        assert_int_equal(heard->kind, kinds[i]);
        assert_int_equal(heard->closed, said.closed);
        assert_int_equal(heard->forgot, said.forgot);
        assert_non_null(heard->commit);
        assert_memory_equal(heard->commit->commitment, is_report ? zeros : commit.commitment,
                            TACIT_SHA256_BYTES);
        assert_memory_equal(heard->commit->previous, has_previous ? commit.previous : zeros,
                            TACIT_SHA256_BYTES);
        assert_memory_equal(heard->commit->salt, is_report ? commit.salt : zeros,
                            TACIT_SHA256_BYTES);
        testing_free(heard);
        for (size_t cut = 1; cut <= size; cut++) {
            heard = NULL;
            assert_int_equal(tacit_wire_decode(WIRE(elim, 3, 2, 0, TACIT_HUB), bytes, size - cut,
                                               &heard, tacit_wire_heap()),
                             TACIT_MALFORMED);
            assert_null(heard);
        }
    }
}

static void expect_all_cuts_refused(const uint8_t *bytes, size_t size, uint32_t to)
{
    for (size_t cut = 1; cut <= size; cut++) {
        struct tacit_elim_message *heard = NULL;
        assert_int_equal(tacit_wire_decode(WIRE(elim, 3, 12, 0, to), bytes, size - cut, &heard,
                                           tacit_wire_heap()),
                         TACIT_MALFORMED);
        assert_null(heard);
    }
}

/* Rows of the third and the tenth agent, in a table of all, and what opens them. */
static struct tacit_elim_message two_rows(union tacit_sum *table,
                                          struct tacit_elim_opening *openings)
{
    static const uint64_t arms = 5;
    static const uint64_t origins = 1 << 2 | 1 << 9;
    for (uint32_t i = 0; i < 12 * sizeof *openings; i++)
        ((uint8_t *)openings)[i] = (uint8_t)(i / 5 + i);
    for (uint32_t i = 0; i < 36; i++)
        table[i].steps = i;
    return (struct tacit_elim_message){.kind = TACIT_ELIM_DATA,
                                       .from = 1,
                                       .to = 3,
                                       .run_id = 7,
                                       .epoch = 4,
                                       .pulls = 10,
                                       .arms = &arms,
                                       .sum_count = 2,
                                       .sums = table,
                                       .origins = &origins,
                                       .row_stride = 3,
                                       .openings = openings};
}

/* Rows keep what opens them; from a table or packed, in the same bytes. */
TEST(rows_travel_with_what_opens_them)
{
    union tacit_sum table[12 * 3];
    struct tacit_elim_opening openings[12];
    struct tacit_elim_message said = two_rows(table, openings);
    struct tacit_elim_message *heard = NULL;
    uint8_t bytes[512];
    uint8_t again[512];
    for (uint32_t i = 0; i < 12; i++)
        memset(openings[i].signature, 0, sizeof openings[i].signature); /* without signed rows */
    size_t const size = tacit_wire_bytes(WIRE(elim, 3, 12), &said);
    said.openings = NULL; /* two rows, their length in two bytes, and the place of signatures */
    assert_int_equal(size - tacit_wire_bytes(WIRE(elim, 3, 12), &said), 2 * 64 + 1 + 2 + 2 + 1);
    said.openings = openings;
    tacit_wire_encode(WIRE(elim, 3, 12), &said, bytes);
    assert_int_equal(
        tacit_wire_decode(WIRE(elim, 3, 12, 0, 3), bytes, size, &heard, tacit_wire_heap()),
        TACIT_OK);
    assert_memory_equal(&heard->openings[0], &openings[2], sizeof openings[2]);
    assert_memory_equal(&heard->openings[1], &openings[9], sizeof openings[9]);
    assert_int_equal(heard->sums[2].steps, 27);
    assert_int_equal(tacit_wire_bytes(WIRE(elim, 3, 12), heard), size);
    tacit_wire_encode(WIRE(elim, 3, 12), heard, again);
    assert_memory_equal(bytes, again, size);
    testing_free(heard);
    expect_all_cuts_refused(bytes, size, 3);
}

/* With signed rows a word has what its sender holds, and rows have their own agents' signatures. */
TEST(rows_travel_with_their_seals)
{
    union tacit_sum table[12 * 3];
    struct tacit_elim_opening openings[12];
    struct tacit_elim_message said = two_rows(table, openings);
    struct tacit_elim_message *heard = NULL;
    uint8_t bytes[1024];
    said.is_signed = said.has_history = said.history.is_last = true;
    said.history.rounds = 3;
    memset(said.history.digest, 0x5c, sizeof said.history.digest);
    size_t const size = tacit_wire_bytes(WIRE(elim, 3, 12), &said);
    assert_true(size <= sizeof bytes);
    tacit_wire_encode(WIRE(elim, 3, 12), &said, bytes);
    assert_int_equal(
        tacit_wire_decode(WIRE(elim, 3, 12, 0, 3), bytes, size, &heard, tacit_wire_heap()),
        TACIT_OK);
    assert_true(heard->is_signed && heard->has_history && heard->history.is_last);
    assert_int_equal(heard->history.rounds, 3);
    assert_memory_equal(heard->history.digest, said.history.digest, sizeof said.history.digest);
    assert_memory_equal(&heard->openings[0], &openings[2], sizeof openings[2]);
    assert_memory_equal(&heard->openings[1], &openings[9], sizeof openings[9]);
    testing_free(heard);
}

/* Two signatures of one agent, who is one of those that there are. */
TEST(proof_travels_and_is_of_a_site_of_the_run)
{
    struct tacit_elim_proof proof = {.agent = 5};
    struct tacit_elim_message const said = {
        .kind = TACIT_ELIM_PROOF, .from = 1, .to = 3, .run_id = 7, .epoch = 4, .proof = &proof};
    struct tacit_elim_message *heard = NULL;
    uint8_t bytes[512];
    memset(proof.subjects[1], 1, sizeof proof.subjects[1]);
    memset(proof.signatures, 2, sizeof proof.signatures);
    size_t const size = tacit_wire_bytes(WIRE(elim, 3, 12), &said);
    tacit_wire_encode(WIRE(elim, 3, 12), &said, bytes);
    assert_int_equal(
        tacit_wire_decode(WIRE(elim, 3, 12, 0, 3), bytes, size, &heard, tacit_wire_heap()),
        TACIT_OK);
    assert_memory_equal(heard->proof, &proof, sizeof proof);
    testing_free(heard);
    proof.agent = 12;
    tacit_wire_encode(WIRE(elim, 3, 12), &said, bytes);
    assert_int_equal(
        tacit_wire_decode(WIRE(elim, 3, 12, 0, 3), bytes, size, &heard, tacit_wire_heap()),
        TACIT_MALFORMED);
}

/* What opens the sink's own sums is not in the total of several. */
TEST(report_of_a_sink_names_its_grant_and_does_not_open_it)
{
    static const uint64_t arms = 2;
    static const union tacit_sum sum = {.steps = -5};
    static const uint8_t zeros[TACIT_SHA256_BYTES];
    struct tacit_commit const commit = numbered_commit();
    struct tacit_elim_message said = {.kind = TACIT_ELIM_REPORT,
                                      .from = 1,
                                      .to = TACIT_HUB,
                                      .run_id = 7,
                                      .epoch = 4,
                                      .pulls = 10,
                                      .arms = &arms,
                                      .sum_count = 1,
                                      .sums = &sum,
                                      .commit = &commit};
    for (said.agents = 1; said.agents <= 2; said.agents++) {
        bool const is_total = said.agents > 1;
        struct tacit_elim_message *heard = NULL;
        uint8_t bytes[256];
        size_t const size = tacit_wire_bytes(WIRE(elim, 3, 12), &said);
        tacit_wire_encode(WIRE(elim, 3, 12), &said, bytes);
        assert_int_equal(tacit_wire_decode(WIRE(elim, 3, 12, 0, TACIT_HUB), bytes, size, &heard,
                                           tacit_wire_heap()),
                         TACIT_OK);
        assert_int_equal(heard->agents, said.agents);
        assert_memory_equal(heard->commit->commitment, is_total ? commit.commitment : zeros, 32);
        assert_memory_equal(heard->commit->previous, is_total ? zeros : commit.previous, 32);
        assert_memory_equal(heard->commit->salt, is_total ? zeros : commit.salt, 32);
        testing_free(heard);
        expect_all_cuts_refused(bytes, size, TACIT_HUB);
    }
}

/* ---- Known answers --------------------------------------------------------------------------- */

/* All that a decoder says of these bytes, as a core that sends what it found would say it. */
static void look(const uint8_t *bytes, size_t size, const void *context)
{
    struct sample const *const sample = context;
    struct tacit_elim_message *message = NULL;
    struct tacit_elim_update update = {.send = false};
    enum tacit_status const status =
        tacit_wire_decode(WIRE(elim, sample->arm_count, sample->agent_count, 0, sample->message.to),
                          bytes, size, &message, wire_bytes_memory());
    if (status == TACIT_OK) {
        update.send = true;
        update.message = *message;
        digest_word(message->rows_stay);
        digest_word(tacit_wire_label(tacit_wire_elim.messages, message).kind);
        digest_word(message->epoch == 1);
    }
    digest_elim(status, &update, sample->arm_count, sample->agent_count);
    wire_bytes_give(message);
}

static void damage(const struct sample *sample)
{
    struct wire_bytes const word = {encode(sample), size_of(sample)};
    wire_bytes_damage(word, look, sample);
    testing_free(word.bytes);
}

TEST(damaged_words_of_each_shape_are_judged_as_they_were)
{
    static struct sample sample;
    static const enum shape wide[] = {HELLO_OF_PEER, ORDER_WITH_UPLOADERS, ADVERT, REQUEST};
    for (uint32_t shape = 0; shape < SHAPE_COUNT; shape++) {
        make(&sample, (enum shape)shape, 3, 5);
        sample.message.epoch = shape % 2 == 0 ? TACIT_ELIM_EPOCHS_MAX : 1;
        damage(&sample);
    }
    for (size_t i = 0; i < sizeof wide / sizeof wide[0]; i++) {
        make(&sample, wide[i], 65, 70); /* sets of two words, of which the first label is 17 */
        memset(sample.agents, 0, sizeof sample.agents);
        for (uint32_t agent = 17; agent < 70; agent += 13)
            tacit_bits_add(sample.agents, agent);
        damage(&sample);
    }
    make(&sample, REPORT_OF_SINK, 1, 5);
    sample.message.agents = 5; /* all */
    damage(&sample);
    sample.message.agents = 1;
    damage(&sample);
}

TEST(sizes_that_cannot_be_take_no_memory)
{
    struct sample const sample = small();
    wire_bytes_sizes(look, &sample);
}

TEST(damaged_orders_with_leader_and_changes_are_judged_as_they_were)
{
    static struct sample sample;
    static const struct tacit_elim_change log[2] = {
        {.kind = 2, .epoch = 3, .subject = 4, .number = 1, .value = 5, .made_unix_s = 6},
        {.kind = 7, .epoch = 8, .subject = 9, .number = 2, .value = 10, .made_unix_s = 11}};
    make(&sample, ORDER, 3, 5);
    sample.message.leader = 3;
    damage(&sample);
    sample.message.changes = log;
    for (uint32_t count = 1; count <= 2; count++) {
        sample.message.change_count = count;
        damage(&sample);
    }
}

TEST(damaged_words_of_grants_are_judged_as_they_were)
{
    static const enum tacit_elim_message_kind kinds[] = {TACIT_ELIM_HELLO, TACIT_ELIM_COMMIT,
                                                         TACIT_ELIM_GRANT, TACIT_ELIM_GRANT,
                                                         TACIT_ELIM_REFUSAL};
    static const uint64_t refused = 4;
    static struct sample sample;
    struct tacit_commit const commit = numbered_commit();
    for (uint32_t i = 0; i < 5; i++) {
        make(&sample, HELLO, 3, 5);
        sample.message.kind = kinds[i];
        sample.message.commit = &commit;
        sample.message.closed = i == 3;
        damage(&sample);
        sample.message.refused = &refused;
        if (i < 2)
            damage(&sample);
    }
    for (uint32_t agents = 0; agents <= 2; agents++) {
        make(&sample, REPORT, 3, 5);
        sample.message.commit = &commit;
        sample.message.agents = agents;
        damage(&sample);
    }
    struct tacit_elim_opening openings[3];
    for (uint32_t i = 0; i < sizeof openings; i++)
        ((uint8_t *)openings)[i] = (uint8_t)(i / 5 + i);
    make(&sample, DATA, 3, 5);
    sample.message.openings = openings;
    damage(&sample);
}

DIGEST_IS(UINT64_C(0x03dadb4e40169476))
