/* Agreements: names of arms are texts, the digest covers everything that both sides must agree on,
 * what differs is said in words. (What is written is read back: unit/wire.c.) */
#include "../support/testing.h"
#include "../support/digest.h"
#include "../support/wire_samples.h"
#include "tacit/bounds.h"

#define ARMS 3u

static const char *const names[ARMS] = {"a", "b", "caf\xc3\xa9"};
static const uint8_t parameters[] = {1, 2, 3};

static const struct tacit_wire_agreement sample = {
    .run = {[8] = 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef},
    .protocol = "elimination",
    .protocol_version = 1,
    .agent_count = 3,
    .arm_count = ARMS,
    .arms = names,
    .hi = 1,
    .horizon = 400000,
    .epsilon_nano = 500000000,
    .parameters = parameters,
    .parameters_size = 3};

/* Each change alone, in the order in which they are told, and in which words. */
#define MESSAGE struct tacit_wire_agreement
#define CHANGE(name, value, words)                                                                 \
    {                                                                                              \
        {NULL, WIRE_PLACE(name), value, false, 0, 0}, (words)                                      \
    }
#define VALUE(value)                                                                               \
    {                                                                                              \
        value                                                                                      \
    }
static const char *const swapped[ARMS] = {"a", "caf\xc3\xa9", "b"};
static const uint8_t other_parameters[] = {1, 2, 4};
static const struct change {
    struct wire_wrong change;
    const char *words;
} changes[] = {
    CHANGE(protocol, VALUE(.list = "gossip-ucb"),
           "the protocol is elimination (number 0) here and gossip-ucb (number 0) there"),
    CHANGE(family, VALUE(2),
           "the protocol is elimination (number 0) here and elimination (number 2) there"),
    CHANGE(protocol_version, VALUE(2), "elimination has version 1 here and 2 there"),
    CHANGE(arm_count, VALUE(2), "the number of arms is 3 here and 2 there"),
    CHANGE(arms, VALUE(.list = swapped), "arm 2 is called 'b' here and 'caf\xc3\xa9' there"),
    CHANGE(lo, VALUE(.real = -0.1), "the range of rewards is [0, 1] here and [-0.1, 1] there"),
    CHANGE(hi, VALUE(.real = 10), "the range of rewards is [0, 1] here and [0, 10] there"),
    CHANGE(epsilon_nano, VALUE(250000000), "epsilon per reward is 0.5 here and 0.25 there"),
    CHANGE(horizon, VALUE(500000), "the horizon is 400000 here and 500000 there"),
    CHANGE(agent_count, VALUE(4), "the number of sites is 3 here and 4 there"),
    CHANGE(has_helper, VALUE(1), "trust: one aggregator here and two aggregators there"),
    CHANGE(floor_nano, VALUE(250000000),
           "trust: the floor of the sites' own noise is epsilon 0 here and 0.25 there (0: none)"),
    CHANGE(parameters, VALUE(.list = other_parameters),
           "the parameters of elimination are others here than there"),
    CHANGE(parameters_size, VALUE(2), "the parameters of elimination are others here than there"),
    {{NULL, {WIRE_AT(run) + TACIT_WIRE_RUN_BYTES - 1, 1}, {0xee}, false, 0, 0},
     "the run is number 81985529216486895 here and 81985529216486894 there"},
};
enum { CHANGES = sizeof changes / sizeof changes[0] };

/* number: CHANGES: none. */
static struct tacit_wire_agreement changed(size_t number)
{
    struct tacit_wire_agreement agreement = sample;
    if (number < CHANGES)
        wire_change(&agreement, &changes[number].change, 0);
    return agreement;
}

TEST(what_differs_is_said_in_words)
{
    char text[TACIT_WIRE_DIFFERENCE_BYTES];
    assert_false(tacit_wire_agreement_differs(&sample, &sample, text, sizeof text));
    for (size_t i = 0; i < CHANGES; i++) {
        struct tacit_wire_agreement const there = changed(i);
        assert_true(tacit_wire_agreement_differs(&sample, &there, text, sizeof text));
        assert_string_equal(text, changes[i].words);
        assert_true(tacit_wire_agreement_differs(&there, &sample, text, sizeof text));
    }
}

/* The longest names fit, and no character is cut in two. */
TEST(the_longest_words_fit)
{
    char first[65];
    char second[65];
    const char *const left[] = {first};
    const char *const right[] = {second};
    struct tacit_wire_agreement here = sample;
    char text[TACIT_WIRE_DIFFERENCE_BYTES];
    for (size_t i = 0; i < 16; i++) {
        memcpy(first + 4 * i, "\xf0\x9f\x8e\xb0", 4);
        memcpy(second + 4 * i, "\xf0\x9f\x8e\xb1", 4);
    }
    first[64] = second[64] = '\0';
    here.arm_count = 1;
    struct tacit_wire_agreement there = here;
    here.arms = left;
    there.arms = right;
    assert_true(tacit_wire_agreement_differs(&here, &there, text, sizeof text));
    assert_non_null(strstr(text, "' there"));
    here = there = sample;
    here.lo = -0x1.123456789abcdp+1000;
    there.lo = -0x1.123456789abccp+1000;
    assert_true(tacit_wire_agreement_differs(&here, &there, text, sizeof text));
    assert_non_null(strstr(text, "] there")); /* two doubles that are neighbours look different */
    assert_null(strstr(strstr(text, "["), "[-1.1e"));
}

TEST(the_digest_covers_every_fact)
{
    uint8_t digests[CHANGES + 1][TACIT_WIRE_DIGEST_BYTES];
    for (size_t i = 0; i <= CHANGES; i++) {
        struct tacit_wire_agreement agreement = changed(i);
        agreement.has_helper |= agreement.floor_nano > 0; /* else there is none */
        assert_int_equal(tacit_wire_agreement_digest(&agreement, digests[i], tacit_wire_heap()),
                         TACIT_OK);
        for (size_t other = 0; other < i; other++)
            assert_memory_not_equal(digests[other], digests[i], TACIT_WIRE_DIGEST_BYTES);
    }
}

/* SHA-256 of the agreement's bytes in support/wire_samples.c, which are published: by sha256sum. */
TEST(the_digest_is_as_published)
{
    static const char golden[] = "a7d1e3cdb199d71aae5ce55514338060ebd0295bdcddcc9f0c12bfd861500775";
    uint64_t block[4];
    struct tacit_wire_arena small;
    uint8_t digest[TACIT_WIRE_DIGEST_BYTES];
    char found[2 * TACIT_WIRE_DIGEST_BYTES + 1];
    assert_int_equal(tacit_wire_agreement_digest(&sample, digest, tacit_wire_heap()), TACIT_OK);
    for (size_t i = 0; i < sizeof digest; i++)
        (void)snprintf(found + 2 * i, 3, "%02x", digest[i]);
    assert_string_equal(found, golden);
    tacit_wire_arena_init(&small, block, sizeof block);
    assert_int_equal(tacit_wire_agreement_digest(&sample, digest, &small.allocator), TACIT_MEMORY);
}

TEST(floors_are_of_two_aggregators)
{
    assert_int_equal(tacit_wire_floor_milli(false, 500000000), TACIT_ONE_AGGREGATOR);
    assert_int_equal(tacit_wire_floor_milli(true, 0), TACIT_NO_FLOOR);
    assert_int_equal(tacit_wire_floor_milli(true, 999999), TACIT_NO_FLOOR);
    assert_int_equal(tacit_wire_floor_milli(true, 1000000), 1);
    assert_int_equal(tacit_wire_floor_milli(true, UINT64_MAX), TACIT_NO_FLOOR);
}

TEST(announcements_of_the_most_arms_survive)
{
    static const char *many[TACIT_ARMS_MAX + 1];
    for (uint32_t arm = 0; arm <= TACIT_ARMS_MAX; arm++)
        many[arm] = "x";
    for (uint32_t more = 0; more <= 1; more++) {
        struct tacit_wire_announcement said = {.agreement = sample};
        struct tacit_wire_announcement *found = NULL;
        said.agreement.arm_count = TACIT_ARMS_MAX + more;
        said.agreement.arms = many;
        size_t const size = tacit_wire_bytes(&tacit_wire_announcement, NULL, &said);
        uint8_t *const bytes = testing_malloc(size);
        tacit_wire_encode(&tacit_wire_announcement, NULL, &said, bytes);
        assert_int_equal(tacit_wire_decode(&tacit_wire_announcement, NULL, bytes, size, &found,
                                           tacit_wire_heap()),
                         more == 0 ? TACIT_OK : TACIT_MALFORMED);
        testing_free(found);
    }
}

/* ---- Known answers --------------------------------------------------------------------------- */

/* Every character of two bytes; of three and four all that stand at a border. */
TEST(characters_of_names_are_judged_as_they_were)
{
    static const uint8_t borders[] = {0x00, 'x', 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0};
    char text[5] = "";
    for (unsigned first = 0; first < 256; first++)
        for (unsigned second = 0; second < 256; second++) {
            text[0] = (char)(uint8_t)first;
            text[1] = (char)(uint8_t)second;
            text[2] = text[3] = '\0';
            digest_word(tacit_wire_is_arm_name(text));
            for (size_t i = 0; first >= 0xc0 && i < 10 * sizeof borders; i++) {
                text[2] = (char)borders[i / 10];
                text[3] = (char)borders[i % 10];
                digest_word(tacit_wire_is_arm_name(text));
            }
        }
    char longest[66];
    memset(longest, 'x', 65);
    longest[65] = '\0';
    assert_true(tacit_wire_is_arm_name(longest + 1));
    assert_false(tacit_wire_is_arm_name(longest));
    assert_false(tacit_wire_is_arm_name(""));
    assert_true(tacit_wire_is_arm_name("\xf0\x9f\x8e\xb0 is \xe2\x82\xac"));
}

/* Everything that may differ together with everything else, and each thing alone unsaid. */
TEST(differences_are_said_as_they_were)
{
    for (size_t one = 0; one <= CHANGES; one++)
        for (size_t two = 0; two <= CHANGES; two++)
            for (uint32_t unsaid = 0; unsaid <= 32; unsaid = unsaid == 0 ? 1 : unsaid * 2) {
                char text[TACIT_WIRE_DIFFERENCE_BYTES] = "";
                struct tacit_wire_agreement here = changed(one);
                struct tacit_wire_agreement const there = changed(two);
                here.epsilon_nano = (unsaid & 1u) != 0 ? 0 : here.epsilon_nano;
                here.horizon = (unsaid & 2u) != 0 ? 0 : here.horizon;
                here.agent_count = (unsaid & 4u) != 0 ? 0 : here.agent_count;
                here.parameters = (unsaid & 8u) != 0 ? NULL : here.parameters;
                if ((unsaid & 16u) != 0)
                    memset(here.run, 0, sizeof here.run);
                digest_word(tacit_wire_agreement_differs(&here, &there, text, sizeof text));
                digest_bytes(text, strlen(text));
            }
}

TEST(ranges_that_differ_in_any_digit_are_said_so)
{
    static const double numbers[] = {0.1,      0.12345678, 1.0 / 3, 1e22,    -1e-7,
                                     123456.7, 1234567,    1e300,   0x1p-60, 0.1 + 0.2};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        char text[TACIT_WIRE_DIFFERENCE_BYTES];
        struct tacit_wire_agreement there = sample;
        there.hi = numbers[i];
        assert_true(tacit_wire_agreement_differs(&sample, &there, text, sizeof text));
        digest_bytes(text, strlen(text));
        double const said = strtod(strrchr(text, ',') + 1, NULL);
        assert_true(said == numbers[i]);
    }
}

DIGEST_IS(UINT64_C(0x00a816abafa5ef6d))
