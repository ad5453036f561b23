/* The wire form of epoch elimination: every message survives the trip in any shape, its length says
 * nothing but what is public, and a peer's bytes are taken only in the one form that we write.
 *
 * Run under a sanitizer this also shows that no refusal leaks or reads too far: every buffer is
 * exactly as long as its message. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "tacit/wire.h"

#define ARMS_MAX 1000u
#define AGENTS_MAX 1000u
#define RUN_ID UINT64_C(0x0123456789abcdef)

static const uint32_t arm_counts[] = {1, 63, 64, 65, 1000};
static const uint32_t agent_counts[] = {1, 50, 1000};
#define ARM_COUNTS (sizeof arm_counts / sizeof arm_counts[0])
#define AGENT_COUNTS (sizeof agent_counts / sizeof agent_counts[0])

enum shape { HELLO, ORDER, ORDER_WITH_UPLOADERS, REPORT, SHAPE_COUNT };

/* A message with the arrays that it points to. */
struct sample {
    struct tacit_elim_message message;
    uint32_t arm_count;
    uint32_t agent_count;
    uint64_t arms[TACIT_BITS_WORDS(ARMS_MAX)];
    uint64_t uploaders[TACIT_BITS_WORDS(AGENTS_MAX)];
    union tacit_sum sums[ARMS_MAX];
};

/* ---- Helpers --------------------------------------------------------------------------------- */

static void fill_report(struct sample *sample)
{
    sample->message.sums = sample->sums;
    sample->message.sum_count = tacit_bits_count(sample->arms, sample->arm_count);
    for (uint32_t i = 0; i < sample->message.sum_count; i++)
        sample->sums[i].steps = (int64_t)i * 1000003 - 77;
}

/* A message of the given shape in which every third arm and every second agent is missing. */
static void make(struct sample *sample, enum shape shape, uint32_t arm_count, uint32_t agent_count)
{
    static const enum tacit_elim_message_kind kinds[] = {TACIT_ELIM_HELLO, TACIT_ELIM_ORDER,
                                                         TACIT_ELIM_ORDER, TACIT_ELIM_REPORT};
    bool const is_order = kinds[shape] == TACIT_ELIM_ORDER;
    *sample = (struct sample){.arm_count = arm_count, .agent_count = agent_count};
    sample->message =
        (struct tacit_elim_message){.kind = kinds[shape],
                                    .from = is_order ? TACIT_ELIM_HUB : agent_count - 1,
                                    .to = is_order ? 0 : TACIT_ELIM_HUB,
                                    .run_id = RUN_ID,
                                    .epoch = 3,
                                    .seen = is_order ? 2 : 0};
    if (shape == HELLO)
        return;
    for (uint32_t arm = 0; arm < arm_count; arm++)
        if (arm % 3 != 1)
            tacit_bits_add(sample->arms, arm);
    for (uint32_t agent = 0; agent < agent_count; agent += 2)
        tacit_bits_add(sample->uploaders, agent);
    sample->message.arms = sample->arms;
    sample->message.pulls = UINT64_C(0x1122334455);
    sample->message.last = is_order && arm_count == 1;
    if (shape == ORDER_WITH_UPLOADERS)
        sample->message.uploaders = sample->uploaders;
    if (shape == REPORT)
        fill_report(sample);
}

static size_t size_of(const struct sample *sample)
{
    return tacit_wire_elim_bytes(&sample->message, sample->arm_count, sample->agent_count);
}

/* The encoding, for free(). */
static uint8_t *encode(const struct sample *sample)
{
    uint8_t *const bytes = malloc(size_of(sample));
    assert_non_null(bytes);
    assert_int_equal(
        tacit_wire_elim_encode(&sample->message, sample->arm_count, sample->agent_count, bytes),
        TACIT_OK);
    return bytes;
}

static enum tacit_status decode(const struct sample *sample, const uint8_t *bytes, size_t size,
                                struct tacit_elim_message **message)
{
    return tacit_wire_elim_decode(bytes, size, sample->arm_count, sample->agent_count,
                                  sample->message.to, message);
}

static void expect_words(const uint64_t *a, const uint64_t *b, uint32_t count)
{
    assert_int_equal(a == NULL, b == NULL);
    if (a != NULL)
        assert_memory_equal(a, b, TACIT_BITS_WORDS(count) * sizeof *a);
}

static void expect_same(const struct sample *sample, const struct tacit_elim_message *b)
{
    struct tacit_elim_message const *const a = &sample->message;
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->from, b->from);
    assert_int_equal(a->to, b->to);
    assert_int_equal(a->run_id, b->run_id);
    assert_int_equal(a->epoch, b->epoch);
    assert_int_equal(a->seen, b->seen);
    assert_int_equal(a->last, b->last);
    assert_int_equal(a->pulls, b->pulls);
    assert_int_equal(a->sum_count, b->sum_count);
    expect_words(a->arms, b->arms, sample->arm_count);
    expect_words(a->uploaders, b->uploaders, sample->agent_count);
    if (a->sum_count > 0)
        assert_memory_equal(a->sums, b->sums, a->sum_count * sizeof *a->sums);
}

/* Refused, and *message untouched. The bytes are copied, so that a read beyond them is seen. */
static void expect_refused(const struct sample *sample, const uint8_t *bytes, size_t size)
{
    struct tacit_elim_message *message = (void *)(uintptr_t)0x10;
    uint8_t *const exact = malloc(size > 0 ? size : 1);
    assert_non_null(exact);
    memcpy(exact, bytes, size);
    assert_int_equal(decode(sample, exact, size, &message), TACIT_MALFORMED);
    assert_ptr_equal(message, (void *)(uintptr_t)0x10);
    free(exact);
}

static void expect_taken(const struct sample *sample, const uint8_t *bytes, size_t size)
{
    struct tacit_elim_message *message = NULL;
    assert_int_equal(decode(sample, bytes, size, &message), TACIT_OK);
    free(message);
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
enum { TAG_SEEN = 0x2d }; /* of an order */
enum { BODY_HELLO = 0x82, BODY_ORDER = 0x8a, BODY_REPORT = 0x92 };

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
    put_byte(bytes, 1); /* the tags 16, 17, 18 take two bytes */
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

/* The body of an order without its last field. */
static struct bytes order_body_without_seen(uint32_t last, const struct bytes *arms)
{
    struct bytes body = {.size = 0};
    put_fixed(&body, 0x0d, last, 4);
    put_fixed(&body, 0x11, 10, 8);
    put_field(&body, 0x1a, arms);
    return body;
}

static struct bytes order_body(uint32_t last, uint64_t arms)
{
    struct bytes const set = set_of(arms);
    struct bytes body = order_body_without_seen(last, &set);
    put_fixed(&body, TAG_SEEN, 2, 4);
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

static void round_trip(enum shape shape, uint32_t arm_count, uint32_t agent_count)
{
    static struct sample sample;
    struct tacit_elim_message *message = NULL;
    make(&sample, shape, arm_count, agent_count);
    uint8_t *const bytes = encode(&sample);
    assert_int_equal(decode(&sample, bytes, size_of(&sample), &message), TACIT_OK);
    expect_same(&sample, message);
    free(message);
    free(bytes);
}

static void every_shape_of_every_message_survives_the_trip(void **state)
{
    (void)state;
    for (uint32_t shape = 0; shape < SHAPE_COUNT; shape++)
        for (size_t i = 0; i < ARM_COUNTS; i++)
            for (size_t j = 0; j < AGENT_COUNTS; j++)
                round_trip((enum shape)shape, arm_counts[i], agent_counts[j]);
}

static void encode_writes_exactly_the_bytes_that_were_announced(void **state)
{
    (void)state;
    static struct sample sample;
    for (uint32_t shape = 0; shape < SHAPE_COUNT; shape++) {
        for (size_t i = 0; i < ARM_COUNTS; i++) {
            make(&sample, (enum shape)shape, arm_counts[i], 50);
            size_t const size = size_of(&sample);
            uint8_t *const bytes = malloc(size + 16);
            assert_non_null(bytes);
            memset(bytes, 0xa5, size + 16);
            assert_int_equal(tacit_wire_elim_encode(&sample.message, arm_counts[i], 50, bytes),
                             TACIT_OK);
            for (size_t guard = size; guard < size + 16; guard++)
                assert_int_equal(bytes[guard], 0xa5);
            expect_taken(&sample, bytes, size);
            free(bytes);
        }
    }
}

static void decoded_message_is_addressed_as_the_caller_says(void **state)
{
    (void)state;
    struct sample sample = small();
    uint8_t *const bytes = encode(&sample);
    struct tacit_elim_message *message = NULL;
    sample.message.to = 1234;
    assert_int_equal(decode(&sample, bytes, size_of(&sample), &message), TACIT_OK);
    assert_int_equal(message->to, 1234);
    free(message);
    free(bytes);
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
    free(bytes);
}

static void one_message_of_each_kind_has_these_bytes(void **state)
{
    (void)state;
    static struct sample sample;
    make(&sample, HELLO, 3, 5);
    expect_hex(&sample, "0d01000000150400000019efcdab89674523012503000000820100");
    make(&sample, ORDER, 3, 5);
    expect_hex(&sample, "0d0100000015ffffffff19efcdab896745230125030000008a011d0d0000000011554433"
                        "22110000001a0805000000000000002d02000000");
    make(&sample, ORDER_WITH_UPLOADERS, 3, 5);
    expect_hex(&sample, "0d0100000015ffffffff19efcdab896745230125030000008a01270d0000000011554433"
                        "22110000001a080500000000000000220815000000000000002d02000000");
    make(&sample, REPORT, 3, 5);
    expect_hex(&sample, "0d01000000150400000019efcdab89674523012503000000920125095544332211000000"
                        "120805000000000000001a10b3fffffffffffffff6410f0000000000");
}

/* ---- Length ---------------------------------------------------------------------------------- */

static void length_of_a_report_does_not_depend_on_any_value(void **state)
{
    (void)state;
    static struct sample sample;
    int64_t const values[] = {0, 1, -1, 127, 128, TACIT_STEPS, INT64_MAX, INT64_MIN};
    make(&sample, REPORT, 65, 1000);
    size_t const size = size_of(&sample);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        for (uint32_t arm = 0; arm < sample.message.sum_count; arm++)
            sample.sums[arm].steps = values[i];
        sample.message.from = i % 2 == 0 ? 0 : 999;
        sample.message.run_id = i % 3 == 0 ? 0 : UINT64_MAX;
        sample.message.epoch = i % 2 == 0 ? 0 : TACIT_ELIM_EPOCHS_MAX;
        sample.message.pulls = (uint64_t)values[i];
        assert_int_equal(size_of(&sample), size);
        uint8_t *const bytes = encode(&sample);
        expect_taken(&sample, bytes, size);
        free(bytes);
    }
}

static void length_of_an_order_does_not_depend_on_who_is_in_or_who_reported(void **state)
{
    (void)state;
    static struct sample sample;
    make(&sample, ORDER_WITH_UPLOADERS, 65, 1000);
    size_t const size = size_of(&sample);
    memset(sample.arms, 0, sizeof sample.arms);
    memset(sample.uploaders, 0, sizeof sample.uploaders);
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
        free(message);
        free(bytes);
    }
}

/* ---- Refusals -------------------------------------------------------------------------------- */

static void hand_made_bytes_are_taken_as_long_as_nothing_is_wrong(void **state)
{
    (void)state;
    struct sample const sample = small();
    struct bytes const hello = message_with(BODY_HELLO, (struct bytes){.size = 0});
    struct bytes const order = message_with(BODY_ORDER, order_body(0, 5));
    struct bytes const report = message_with(BODY_REPORT, report_body(5, 2));
    expect_taken(&sample, hello.data, hello.size);
    expect_taken(&sample, order.data, order.size);
    expect_taken(&sample, report.data, report.size);
}

static void every_truncation_and_every_trailing_byte_is_refused(void **state)
{
    (void)state;
    static struct sample sample;
    for (uint32_t shape = 0; shape < SHAPE_COUNT; shape++) {
        make(&sample, (enum shape)shape, 65, 50);
        size_t const size = size_of(&sample);
        uint8_t *const bytes = encode(&sample);
        for (size_t cut = 0; cut < size; cut++)
            expect_refused(&sample, bytes, cut);
        uint8_t *const longer = malloc(size + 1);
        assert_non_null(longer);
        memcpy(longer, bytes, size);
        for (uint32_t byte = 0; byte < 256; byte++) {
            longer[size] = (uint8_t)byte;
            expect_refused(&sample, longer, size + 1);
        }
        free(longer);
        free(bytes);
    }
}

/* What is taken is written again as the same bytes: no two byte strings are one message. */
static void every_flipped_bit_is_refused_or_makes_another_valid_message(void **state)
{
    (void)state;
    static struct sample sample;
    for (uint32_t shape = 0; shape < SHAPE_COUNT; shape++) {
        make(&sample, (enum shape)shape, 65, 50);
        size_t const size = size_of(&sample);
        uint8_t *const bytes = encode(&sample);
        uint8_t *const again = malloc(size);
        assert_non_null(again);
        for (size_t bit = 0; bit < 8 * size; bit++) {
            struct tacit_elim_message *message = NULL;
            bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
            if (decode(&sample, bytes, size, &message) == TACIT_OK) {
                assert_int_equal(tacit_wire_elim_bytes(message, 65, 50), size);
                assert_int_equal(tacit_wire_elim_encode(message, 65, 50, again), TACIT_OK);
                assert_memory_equal(again, bytes, size);
                free(message);
            }
            bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
        free(again);
        free(bytes);
    }
}

static void every_other_version_is_refused(void **state)
{
    (void)state;
    struct sample const sample = small();
    uint8_t *const bytes = encode(&sample);
    uint32_t const versions[] = {0, 2, 257, UINT32_MAX};
    for (size_t i = 0; i < 4; i++) {
        for (uint32_t byte = 0; byte < 4; byte++)
            bytes[1 + byte] = (uint8_t)(versions[i] >> (8 * byte));
        expect_refused(&sample, bytes, size_of(&sample));
    }
    free(bytes);
}

static void sender_outside_the_federation_or_epoch_too_large_is_refused(void **state)
{
    (void)state;
    struct sample sample = small();
    struct {
        uint32_t from;
        uint32_t epoch;
        bool is_fine;
    } const cases[] = {
        {4, 3, true},
        {5, 3, false},
        {TACIT_ELIM_HUB, 3, true},
        {TACIT_ELIM_EVERYONE, 3, false},
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
        free(bytes);
    }
}

static void message_for_another_number_of_arms_or_agents_is_refused(void **state)
{
    (void)state;
    static struct sample sample;
    static const uint32_t arms[] = {63, 64, 65, 128, 129};
    for (uint32_t shape = ORDER; shape < SHAPE_COUNT; shape++) {
        make(&sample, (enum shape)shape, 65, 50);
        size_t const size = size_of(&sample);
        uint8_t *const bytes = encode(&sample);
        for (size_t i = 0; i < sizeof arms / sizeof arms[0]; i++) {
            sample.arm_count = arms[i];
            if (TACIT_BITS_WORDS(arms[i]) != TACIT_BITS_WORDS(65))
                expect_refused(&sample, bytes, size);
        }
        sample.arm_count = 65;
        sample.agent_count = 65; /* two words of agents instead of one */
        if (shape == ORDER_WITH_UPLOADERS)
            expect_refused(&sample, bytes, size);
        sample.agent_count = 48; /* agents 48 and 49 do not exist */
        if (shape != ORDER)
            expect_refused(&sample, bytes, size);
        free(bytes);
    }
}

static void bits_beyond_the_last_arm_or_agent_are_refused(void **state)
{
    (void)state;
    static struct sample sample;
    make(&sample, ORDER_WITH_UPLOADERS, 3, 5);
    uint64_t const beyond[] = {8, UINT64_C(1) << 63};
    for (size_t i = 0; i < 2; i++) {
        sample.arms[0] ^= beyond[i];
        uint8_t *bytes = encode(&sample);
        expect_refused(&sample, bytes, size_of(&sample));
        free(bytes);
        sample.arms[0] ^= beyond[i];
        sample.uploaders[0] ^= beyond[i] << 2 | UINT64_C(1) << 63;
        bytes = encode(&sample);
        expect_refused(&sample, bytes, size_of(&sample));
        free(bytes);
        sample.uploaders[0] ^= beyond[i] << 2 | UINT64_C(1) << 63;
    }
}

static void order_whose_last_is_neither_0_nor_1_is_refused(void **state)
{
    (void)state;
    struct sample const sample = small();
    uint32_t const lasts[] = {2, 256, UINT32_MAX};
    for (size_t i = 0; i < 3; i++) {
        struct bytes const bytes = message_with(BODY_ORDER, order_body(lasts[i], 5));
        expect_refused(&sample, bytes.data, bytes.size);
    }
}

static void report_whose_sums_do_not_match_its_arms_is_refused(void **state)
{
    (void)state;
    struct sample const sample = small();
    for (uint32_t sum_count = 0; sum_count <= 5; sum_count++) {
        for (uint64_t arms = 0; arms < 8; arms++) {
            struct bytes const bytes = message_with(BODY_REPORT, report_body(arms, sum_count));
            if (sum_count > 0 && tacit_bits_count(&arms, 3) == sum_count)
                expect_taken(&sample, bytes.data, bytes.size);
            else
                expect_refused(&sample, bytes.data, bytes.size);
        }
    }
}

static void each_required_field_that_is_missing_is_refused(void **state)
{
    (void)state;
    struct sample const sample = small();
    struct bytes const whole = message_with(BODY_HELLO, (struct bytes){.size = 0});
    size_t const starts[] = {0, 5, 10, 19, 24, 27};
    assert_int_equal(whole.size, 27);
    for (size_t i = 0; i < 5; i++) {
        struct bytes bytes = {.size = 0};
        put(&bytes, whole.data, starts[i]);
        put(&bytes, whole.data + starts[i + 1], whole.size - starts[i + 1]);
        expect_refused(&sample, bytes.data, bytes.size);
    }
}

static void order_without_seen_or_with_two_of_them_is_refused(void **state)
{
    (void)state;
    struct sample const sample = small();
    struct bytes const set = set_of(5);
    struct bytes body = order_body_without_seen(0, &set);
    for (uint32_t count = 0; count <= 3; count++) {
        struct bytes const bytes = message_with(BODY_ORDER, body);
        if (count == 1)
            expect_taken(&sample, bytes.data, bytes.size);
        else
            expect_refused(&sample, bytes.data, bytes.size);
        put_fixed(&body, TAG_SEEN, 2, 4);
    }
}

static void order_whose_seen_comes_before_its_arms_or_as_another_type_is_refused(void **state)
{
    (void)state;
    struct sample const sample = small();
    struct bytes const set = set_of(5);
    struct bytes moved = {.size = 0};
    put_fixed(&moved, 0x0d, 0, 4);
    put_fixed(&moved, 0x11, 10, 8);
    put_fixed(&moved, TAG_SEEN, 2, 4);
    put_field(&moved, 0x1a, &set);
    struct bytes wide = order_body_without_seen(0, &set);
    put_fixed(&wide, 0x29, 2, 8); /* field 5 with 8 bytes */
    struct bytes thin = order_body_without_seen(0, &set);
    put_byte(&thin, 0x28); /* field 5 as a varint */
    put_byte(&thin, 2);
    struct bytes const bodies[] = {moved, wide, thin};
    for (size_t i = 0; i < 3; i++) {
        struct bytes const bytes = message_with(BODY_ORDER, bodies[i]);
        expect_refused(&sample, bytes.data, bytes.size);
    }
}

static void field_that_comes_twice_is_refused(void **state)
{
    (void)state;
    struct sample const sample = small();
    struct bytes const whole = message_with(BODY_HELLO, (struct bytes){.size = 0});
    size_t const starts[] = {0, 5, 10, 19, 24, 27};
    for (size_t i = 0; i < 5; i++) {
        struct bytes bytes = whole;
        put(&bytes, whole.data + starts[i], starts[i + 1] - starts[i]);
        expect_refused(&sample, bytes.data, bytes.size);
    }
    struct bytes bytes = message_with(BODY_ORDER, order_body(0, 5));
    struct bytes const report = report_body(5, 2);
    put_body(&bytes, BODY_REPORT, &report); /* two bodies */
    expect_refused(&sample, bytes.data, bytes.size);
}

static void unknown_field_is_refused_outside_and_inside(void **state)
{
    (void)state;
    struct sample const sample = small();
    struct bytes outside = message_with(BODY_ORDER, order_body(0, 5));
    put_byte(&outside, 0x78); /* field 15, a varint */
    put_byte(&outside, 0);
    expect_refused(&sample, outside.data, outside.size);
    struct bytes body = order_body(0, 5);
    put_byte(&body, 0x78);
    put_byte(&body, 0);
    struct bytes const inside = message_with(BODY_ORDER, body);
    expect_refused(&sample, inside.data, inside.size);
}

static void fields_in_another_order_are_refused_although_the_length_fits(void **state)
{
    (void)state;
    struct sample const sample = small();
    struct bytes const whole = message_with(BODY_HELLO, (struct bytes){.size = 0});
    struct bytes bytes = {.size = 0};
    put(&bytes, whole.data + 5, 5); /* from, version */
    put(&bytes, whole.data, 5);
    put(&bytes, whole.data + 10, whole.size - 10);
    assert_int_equal(bytes.size, whole.size);
    expect_refused(&sample, bytes.data, bytes.size);
}

/* One sum that is not packed saves a byte, which a length written in two bytes takes back. */
static void another_form_of_the_same_numbers_is_refused_although_the_length_fits(void **state)
{
    (void)state;
    struct sample const sample = small();
    struct bytes const plain = message_with(BODY_REPORT, report_body(1, 1));
    struct bytes body = report_body(1, 0);
    struct bytes bytes = {.size = 0};
    put_fixed(&body, 0x19, 0, 8); /* sums, field 3, as one number of fixed width */
    put_envelope(&bytes);
    put_byte(&bytes, BODY_REPORT);
    put_byte(&bytes, 1);
    put_byte(&bytes, (uint8_t)(body.size | 0x80));
    put_byte(&bytes, 0);
    put(&bytes, body.data, body.size);
    expect_taken(&sample, plain.data, plain.size);
    assert_int_equal(bytes.size, plain.size);
    expect_refused(&sample, bytes.data, bytes.size);
}

static void set_of_the_wrong_length_is_refused(void **state)
{
    (void)state;
    struct sample const sample = small();
    for (size_t size = 0; size <= 17; size++) {
        struct bytes const set = {.data = {5}, .size = size};
        struct bytes body = order_body_without_seen(0, &set);
        put_fixed(&body, TAG_SEEN, 2, 4);
        struct bytes const bytes = message_with(BODY_ORDER, body);
        if (size == 8)
            expect_taken(&sample, bytes.data, bytes.size);
        else
            expect_refused(&sample, bytes.data, bytes.size);
    }
}

static void nothing_and_too_much_are_refused(void **state)
{
    (void)state;
    struct sample const sample = small();
    struct tacit_elim_message *message = NULL;
    uint8_t *const bytes = calloc(1, TACIT_WIRE_BYTES_MAX + 1);
    assert_non_null(bytes);
    assert_int_equal(decode(&sample, NULL, 0, &message), TACIT_MALFORMED);
    assert_int_equal(decode(&sample, bytes, TACIT_WIRE_BYTES_MAX, &message), TACIT_MALFORMED);
    assert_int_equal(decode(&sample, bytes, TACIT_WIRE_BYTES_MAX + 1, &message), TACIT_MALFORMED);
    assert_null(message);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shape_of_every_message_survives_the_trip),
        cmocka_unit_test(encode_writes_exactly_the_bytes_that_were_announced),
        cmocka_unit_test(decoded_message_is_addressed_as_the_caller_says),
        cmocka_unit_test(one_message_of_each_kind_has_these_bytes),
        cmocka_unit_test(length_of_a_report_does_not_depend_on_any_value),
        cmocka_unit_test(length_of_an_order_does_not_depend_on_who_is_in_or_who_reported),
        cmocka_unit_test(hand_made_bytes_are_taken_as_long_as_nothing_is_wrong),
        cmocka_unit_test(every_truncation_and_every_trailing_byte_is_refused),
        cmocka_unit_test(every_flipped_bit_is_refused_or_makes_another_valid_message),
        cmocka_unit_test(every_other_version_is_refused),
        cmocka_unit_test(sender_outside_the_federation_or_epoch_too_large_is_refused),
        cmocka_unit_test(message_for_another_number_of_arms_or_agents_is_refused),
        cmocka_unit_test(bits_beyond_the_last_arm_or_agent_are_refused),
        cmocka_unit_test(order_whose_last_is_neither_0_nor_1_is_refused),
        cmocka_unit_test(report_whose_sums_do_not_match_its_arms_is_refused),
        cmocka_unit_test(each_required_field_that_is_missing_is_refused),
        cmocka_unit_test(order_without_seen_or_with_two_of_them_is_refused),
        cmocka_unit_test(order_whose_seen_comes_before_its_arms_or_as_another_type_is_refused),
        cmocka_unit_test(field_that_comes_twice_is_refused),
        cmocka_unit_test(unknown_field_is_refused_outside_and_inside),
        cmocka_unit_test(fields_in_another_order_are_refused_although_the_length_fits),
        cmocka_unit_test(another_form_of_the_same_numbers_is_refused_although_the_length_fits),
        cmocka_unit_test(set_of_the_wrong_length_is_refused),
        cmocka_unit_test(nothing_and_too_much_are_refused),
    };
    return cmocka_run_group_tests_name("unit/wire", tests, NULL, NULL);
}
