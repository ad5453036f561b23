/* The announcement of a run on the wire: what is written is read back, in one form only; whatever
 * else a peer may send is refused and leaves no trace. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "tacit/wire.h"

#define BYTES TACIT_WIRE_ANNOUNCEMENT_BYTES

static const struct tacit_wire_announcement sample = {.run_id = UINT64_C(0x0123456789abcdef),
                                                      .agent = 2,
                                                      .agent_count = 3,
                                                      .arm_count = 5,
                                                      .horizon = 400000,
                                                      .epsilon_nano = TACIT_NANO / 2};

/* Where a field's bytes begin, after its tag; src/wire/tacit.proto. */
enum {
    VERSION_AT = 1,
    RUN_ID_AT = 6,
    AGENT_AT = 15,
    AGENT_COUNT_AT = 20,
    ARM_COUNT_AT = 25,
    HORIZON_AT = 30,
    EPSILON_AT = 39
};

static void expect_equal(const struct tacit_wire_announcement *a,
                         const struct tacit_wire_announcement *b)
{
    assert_true(a->run_id == b->run_id);
    assert_int_equal(a->agent, b->agent);
    assert_int_equal(a->agent_count, b->agent_count);
    assert_int_equal(a->arm_count, b->arm_count);
    assert_true(a->horizon == b->horizon);
    assert_true(a->epsilon_nano == b->epsilon_nano);
}

static void put(uint8_t *bytes, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
}

/* In memory that is exactly as long as the bytes, so that a sanitizer sees a read beyond them. */
static enum tacit_status decode(const uint8_t *bytes, size_t size,
                                struct tacit_wire_announcement *found)
{
    uint8_t *const exact = malloc(size > 0 ? size : 1);
    assert_non_null(exact);
    memcpy(exact, bytes, size);
    enum tacit_status const status = tacit_wire_announcement_decode(exact, size, found);
    free(exact);
    return status;
}

static void expect_refused(const uint8_t *bytes, size_t size)
{
    struct tacit_wire_announcement found = sample;
    found.run_id = 99;
    assert_int_equal(decode(bytes, size, &found), TACIT_MALFORMED);
    found.run_id = sample.run_id;
    expect_equal(&found, &sample);
}

/* ---- Tests ---- */

static void survives_the_trip(void **state)
{
    static const struct tacit_wire_announcement limits[] = {
        {0, 0, 1, 1, 1, 1, NULL},
        {UINT64_MAX, TACIT_AGENTS_MAX - 1, TACIT_AGENTS_MAX, TACIT_ARMS_MAX, TACIT_HORIZON_MAX,
         UINT64_MAX, NULL},
        {1, 0, TACIT_AGENTS_MAX, 2, TACIT_HORIZON_MAX, 1000, NULL},
    };
    (void)state;
    for (size_t i = 0; i <= sizeof limits / sizeof limits[0]; i++) {
        struct tacit_wire_announcement const *const said = i == 0 ? &sample : &limits[i - 1];
        struct tacit_wire_announcement heard;
        uint8_t bytes[BYTES];
        tacit_wire_announcement_encode(said, bytes);
        assert_int_equal(decode(bytes, sizeof bytes, &heard), TACIT_OK);
        expect_equal(&heard, said);
    }
}

/* Others may implement the format: these bytes do not change within version 1. */
static void bytes_are_as_published(void **state)
{
    static const char golden[] = "0d01000000"
                                 "11efcdab8967452301"
                                 "1d02000000"
                                 "2503000000"
                                 "2d05000000"
                                 "31801a060000000000"
                                 "390065cd1d00000000";
    uint8_t bytes[BYTES];
    char text[2 * BYTES + 1];
    (void)state;
    tacit_wire_announcement_encode(&sample, bytes);
    for (size_t i = 0; i < BYTES; i++)
        (void)snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    assert_string_equal(text, golden);
}

static void another_length_is_refused(void **state)
{
    uint8_t bytes[BYTES + 5] = {0};
    (void)state;
    tacit_wire_announcement_encode(&sample, bytes);
    for (size_t size = 0; size < BYTES; size++)
        expect_refused(bytes, size);
    bytes[BYTES] = 0x45; /* an unknown field 8 */
    expect_refused(bytes, BYTES + 5);
    expect_refused(bytes, BYTES + 1);
}

static void impossible_numbers_are_refused(void **state)
{
    static const struct {
        size_t at;
        uint64_t value;
        size_t size;
    } wrongs[] = {
        {VERSION_AT, 0, 4},
        {VERSION_AT, TACIT_WIRE_VERSION + 1, 4},
        {VERSION_AT, UINT32_MAX, 4},
        {AGENT_AT, 3, 4}, /* of 3 */
        {AGENT_AT, UINT32_MAX, 4},
        {AGENT_COUNT_AT, 0, 4},
        {AGENT_COUNT_AT, 2, 4}, /* with agent 2 */
        {AGENT_COUNT_AT, TACIT_AGENTS_MAX + 1, 4},
        {ARM_COUNT_AT, 0, 4},
        {ARM_COUNT_AT, TACIT_ARMS_MAX + 1, 4},
        {HORIZON_AT, 0, 8},
        {HORIZON_AT, TACIT_HORIZON_MAX + 1, 8},
        {HORIZON_AT, UINT64_MAX, 8},
        {EPSILON_AT, 0, 8},
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrongs / sizeof wrongs[0]; i++) {
        uint8_t bytes[BYTES];
        tacit_wire_announcement_encode(&sample, bytes);
        put(bytes + wrongs[i].at, wrongs[i].value, wrongs[i].size);
        expect_refused(bytes, sizeof bytes);
    }
}

static void zeros_and_ones_are_refused(void **state)
{
    uint8_t bytes[BYTES];
    (void)state;
    memset(bytes, 0, sizeof bytes);
    expect_refused(bytes, sizeof bytes);
    memset(bytes, 0xff, sizeof bytes);
    expect_refused(bytes, sizeof bytes);
}

/* Every field is there, under its own tag: a changed tag hides a required field. */
static void a_missing_field_is_refused(void **state)
{
    static const size_t fields[] = {VERSION_AT,   RUN_ID_AT,  AGENT_AT,  AGENT_COUNT_AT,
                                    ARM_COUNT_AT, HORIZON_AT, EPSILON_AT};
    (void)state;
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        uint8_t bytes[BYTES];
        tacit_wire_announcement_encode(&sample, bytes);
        bytes[fields[i] - 1] = (uint8_t)((bytes[fields[i] - 1] & 7u) | 15u << 3); /* field 15 */
        expect_refused(bytes, sizeof bytes);
    }
}

/* The right fields and the right length, but not our form. */
static void fields_in_another_order_are_refused(void **state)
{
    uint8_t bytes[BYTES];
    (void)state;
    tacit_wire_announcement_encode(&sample, bytes);
    for (size_t i = 0; i < 5; i++) { /* two neighbours of the same size change places */
        uint8_t const kept = bytes[AGENT_AT - 1 + i];
        bytes[AGENT_AT - 1 + i] = bytes[AGENT_COUNT_AT - 1 + i];
        bytes[AGENT_COUNT_AT - 1 + i] = kept;
    }
    expect_refused(bytes, sizeof bytes);
}

/* One flipped bit gives another announcement that is possible, or none; never anything else. */
static void a_flipped_bit_does_no_harm(void **state)
{
    (void)state;
    for (size_t bit = 0; bit < 8 * BYTES; bit++) {
        struct tacit_wire_announcement found;
        uint8_t bytes[BYTES];
        tacit_wire_announcement_encode(&sample, bytes);
        bytes[bit / 8] ^= (uint8_t)(1u << (bit % 8));
        if (decode(bytes, sizeof bytes, &found) != TACIT_OK)
            continue;
        assert_true(found.agent < found.agent_count && found.agent_count <= TACIT_AGENTS_MAX);
        assert_true(found.arm_count >= 1 && found.arm_count <= TACIT_ARMS_MAX);
        assert_true(found.horizon >= 1 && found.horizon <= TACIT_HORIZON_MAX);
        assert_true(found.epsilon_nano > 0);
        uint8_t again[BYTES];
        tacit_wire_announcement_encode(&found, again);
        assert_memory_equal(again, bytes, sizeof bytes);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(survives_the_trip),
        cmocka_unit_test(bytes_are_as_published),
        cmocka_unit_test(another_length_is_refused),
        cmocka_unit_test(impossible_numbers_are_refused),
        cmocka_unit_test(zeros_and_ones_are_refused),
        cmocka_unit_test(a_missing_field_is_refused),
        cmocka_unit_test(fields_in_another_order_are_refused),
        cmocka_unit_test(a_flipped_bit_does_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
