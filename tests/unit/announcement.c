/* Announcements, what all protocols have in common: what is written is read back, in one form only;
 * the digest covers everything that both sides must agree on; what differs is said in words. */
#include "../support/testing.h"
#include "../support/digest.h"
#include "../support/wire_bytes.h"
#include <math.h>
#include "tacit/wire.h"

#define ARMS 3u

static const char *const names[ARMS] = {"a", "b", "caf\xc3\xa9"};
static const uint8_t parameters[] = {1, 2, 3};
static const uint8_t place[] = {4, 5};

static struct tacit_wire_announcement sample(void)
{
    struct tacit_wire_announcement announcement = {.agreement = {.protocol = "elimination",
                                                                 .family = 0,
                                                                 .protocol_version = 1,
                                                                 .agent_count = 3,
                                                                 .arm_count = ARMS,
                                                                 .arms = names,
                                                                 .lo = 0,
                                                                 .hi = 1,
                                                                 .horizon = 400000,
                                                                 .epsilon_nano = 500000000,
                                                                 .parameters = parameters,
                                                                 .parameters_size = 3},
                                                   .agent = 2,
                                                   .place = place,
                                                   .place_size = 2};
    tacit_wire_run(UINT64_C(0x0123456789abcdef), announcement.agreement.run);
    return announcement;
}

static struct wire_bytes encode(const struct tacit_wire_announcement *announcement)
{
    struct wire_bytes const coded =
        wire_bytes_new(tacit_wire_bytes(&tacit_wire_announcement, NULL, announcement));
    tacit_wire_encode(&tacit_wire_announcement, NULL, announcement, coded.bytes);
    return coded;
}

static void expect_equal(const struct tacit_wire_announcement *a,
                         const struct tacit_wire_announcement *b)
{
    struct tacit_wire_agreement const *const left = &a->agreement;
    struct tacit_wire_agreement const *const right = &b->agreement;
    assert_memory_equal(left->run, right->run, sizeof left->run);
    assert_string_equal(left->protocol, right->protocol);
    assert_int_equal(left->family, right->family);
    assert_int_equal(left->protocol_version, right->protocol_version);
    assert_int_equal(left->agent_count, right->agent_count);
    assert_int_equal(left->arm_count, right->arm_count);
    for (uint32_t arm = 0; arm < left->arm_count; arm++)
        assert_string_equal(left->arms[arm], right->arms[arm]);
    assert_true(left->lo == right->lo);
    assert_true(left->hi == right->hi);
    assert_true(left->horizon == right->horizon);
    assert_true(left->epsilon_nano == right->epsilon_nano);
    assert_int_equal(left->parameters_size, right->parameters_size);
    if (left->parameters_size > 0)
        assert_memory_equal(left->parameters, right->parameters, left->parameters_size);
    assert_int_equal(a->agent, b->agent);
    assert_int_equal(a->place_size, b->place_size);
    if (a->place_size > 0)
        assert_memory_equal(a->place, b->place, a->place_size);
}

static void expect_trip(const struct tacit_wire_announcement *announcement)
{
    struct tacit_wire_announcement *found = NULL;
    struct wire_bytes const coded = encode(announcement);
    assert_int_equal(tacit_wire_decode(&tacit_wire_announcement, NULL, coded.bytes, coded.size,
                                       &found, tacit_wire_heap()),
                     TACIT_OK);
    testing_free(coded.bytes); /* what was found stands by itself */
    expect_equal(found, announcement);
    testing_free(found);
}

/* In memory that is exactly as long as the bytes, so that a sanitizer sees a read beyond them. */
static void expect_refused(const uint8_t *bytes, size_t size)
{
    struct tacit_wire_announcement *found = NULL;
    uint8_t *const exact = wire_bytes_exact(bytes, size);
    assert_int_equal(
        tacit_wire_decode(&tacit_wire_announcement, NULL, exact, size, &found, tacit_wire_heap()),
        TACIT_MALFORMED);
    assert_null(found);
    testing_free(exact);
}

TEST(announcements_survive_the_trip)
{
    static const char *many[TACIT_ARMS_MAX];
    struct tacit_wire_announcement announcement = sample();
    struct tacit_wire_agreement *const agreement = &announcement.agreement;
    expect_trip(&announcement);
    announcement.place_size = agreement->parameters_size = 0;
    agreement->epsilon_nano = 0;
    agreement->lo = -1e300;
    agreement->hi = 0x1p-1074;
    expect_trip(&announcement);
    for (uint32_t arm = 0; arm < TACIT_ARMS_MAX; arm++)
        many[arm] = "x";
    agreement->arm_count = TACIT_ARMS_MAX;
    agreement->arms = many;
    agreement->agent_count = TACIT_AGENTS_MAX;
    announcement.agent = TACIT_AGENTS_MAX - 1;
    agreement->horizon = TACIT_HORIZON_MAX;
    agreement->epsilon_nano = UINT64_MAX;
    agreement->family = agreement->protocol_version = UINT32_MAX;
    expect_trip(&announcement);
}

/* Others may implement the format: these bytes do not change within version 2. */
TEST(bytes_are_as_published)
{
    static const char golden[] = "0d03000000" /* version */
                                 "1264"
                                 "0a1000000000000000000123456789abcdef"
                                 "120b656c696d696e6174696f6e"
                                 "1d00000000"
                                 "2501000000"
                                 "2d03000000" /* sites */
                                 "320161"
                                 "320162"
                                 "3205636166c3a9"
                                 "390000000000000000" /* 0 to 1 */
                                 "41000000000000f03f"
                                 "49801a060000000000" /* horizon */
                                 "510065cd1d00000000" /* epsilon */
                                 "5a03010203"
                                 "1d02000000" /* the site */
                                 "22020405";
    struct tacit_wire_announcement const announcement = sample();
    struct wire_bytes const coded = encode(&announcement);
    wire_bytes_expect(coded, golden);
    testing_free(coded.bytes);
}

TEST(another_length_is_refused)
{
    struct tacit_wire_announcement const announcement = sample();
    struct wire_bytes const coded = encode(&announcement);
    wire_bytes_expect_length(coded, 0x2a, expect_refused); /* an unknown field 5, of no bytes */
    testing_free(coded.bytes);
}

/* Where they begin in the golden bytes. */
enum {
    VERSION_AT = 1,
    RUN_SIZE_AT = 8,
    SITES_AT = 49,
    ARM_AT = 55,
    ACCENT_AT = 64,
    LO_AT = 67,
    HI_AT = 76,
    HORIZON_AT = 85,
    AGENT_AT = 108
};

static void put(uint8_t *bytes, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
}

static uint64_t word_of(double number)
{
    uint64_t word;
    memcpy(&word, &number, sizeof word);
    return word;
}

TEST(what_cannot_be_is_refused)
{
    struct {
        size_t at;
        uint64_t value;
        size_t size;
    } const wrongs[] = {
        {VERSION_AT, 2, 4},
        {VERSION_AT, 4, 4},
        {RUN_SIZE_AT, 15, 1},
        {SITES_AT, 0, 4},
        {SITES_AT, 2, 4}, /* with site 2 */
        {SITES_AT, TACIT_AGENTS_MAX + 1, 4},
        {ARM_AT, '\n', 1},
        {ARM_AT, 0x1b, 1},
        {ARM_AT, 0x7f, 1},
        {ARM_AT, 0, 1},
        {ARM_AT, 0xff, 1},
        {ACCENT_AT, 0xc0, 1},   /* a longer form than needed */
        {ACCENT_AT, 0x80c2, 2}, /* U+0080 */
        {ACCENT_AT, 0x28c3, 2}, /* half of a character */
        {LO_AT, word_of(1), 8}, /* not below 1 */
        {LO_AT, word_of(-INFINITY), 8},
        {LO_AT, word_of((double)NAN), 8},
        {HI_AT, word_of(INFINITY), 8},
        {HORIZON_AT, 0, 8},
        {HORIZON_AT, TACIT_HORIZON_MAX + 1, 8},
        {AGENT_AT, 3, 4}, /* of 3 */
        {AGENT_AT, UINT32_MAX, 4},
    };
    struct tacit_wire_announcement const announcement = sample();
    for (size_t i = 0; i < sizeof wrongs / sizeof wrongs[0]; i++) {
        struct wire_bytes const coded = encode(&announcement);
        uint8_t before[8];
        memcpy(before, coded.bytes + wrongs[i].at, wrongs[i].size);
        put(coded.bytes + wrongs[i].at, wrongs[i].value, wrongs[i].size);
        assert_memory_not_equal(before, coded.bytes + wrongs[i].at, wrongs[i].size);
        expect_refused(coded.bytes, coded.size);
        testing_free(coded.bytes);
    }
}

TEST(names_of_arms_are_texts)
{
    static const char *const good[] = {
        "a",
        "arm 2",
        "caf\xc3\xa9",
        "\xe2\x82\xac",
        "\xf0\x9f\x8e\xb0",
        "\xed\x9f\xbf",
        "\xee\x80\x80",
        "\xf4\x8f\xbf\xbf",
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"};
    static const char *const bad[] = {
        "",
        "a\nb",
        "\t",
        "\x7f",
        "\x80",
        "\xc3",
        "\xc1\xbf",
        "\xe0\x9f\xbf",
        "\xed\xa0\x80",
        "\xe2\x82",
        "\xf0\x8f\xbf\xbf",
        "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80",
        "\xc2\x85",
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_true(tacit_wire_is_arm_name(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(tacit_wire_is_arm_name(bad[i]));
}

/* ---- Agreement ---- */

/* Each change alone, in the order in which they are told. */
enum change {
    PROTOCOL,
    FAMILY,
    VERSION,
    ARM_COUNT,
    ARM_NAMES,
    LO,
    HI,
    EPSILON,
    HORIZON,
    SITES,
    PARAMETERS,
    PARAMETERS_SIZE,
    RUN,
    CHANGES
};

static struct tacit_wire_agreement changed(enum change change)
{
    static const char *const swapped[ARMS] = {"a", "caf\xc3\xa9", "b"};
    static const uint8_t others[] = {1, 2, 4};
    struct tacit_wire_agreement agreement = sample().agreement;
    switch (change) {
    case PROTOCOL:
        agreement.protocol = "gossip-ucb";
        break;
    case FAMILY:
        agreement.family = 2;
        break;
    case VERSION:
        agreement.protocol_version = 2;
        break;
    case ARM_COUNT:
        agreement.arm_count = 2;
        break;
    case ARM_NAMES:
        agreement.arms = swapped;
        break;
    case LO:
        agreement.lo = -0.1;
        break;
    case HI:
        agreement.hi = 10;
        break;
    case EPSILON:
        agreement.epsilon_nano = 250000000;
        break;
    case HORIZON:
        agreement.horizon = 500000;
        break;
    case SITES:
        agreement.agent_count = 4;
        break;
    case PARAMETERS:
        agreement.parameters = others;
        break;
    case PARAMETERS_SIZE:
        agreement.parameters_size = 2;
        break;
    case RUN:
        tacit_wire_run(2, agreement.run);
        break;
    case CHANGES:
        break;
    }
    return agreement;
}

TEST(what_differs_is_said_in_words)
{
    static const char *const words[CHANGES] = {
        "the protocol is elimination (number 0) here and gossip-ucb (number 0) there",
        "the protocol is elimination (number 0) here and elimination (number 2) there",
        "elimination has version 1 here and 2 there",
        "the number of arms is 3 here and 2 there",
        "arm 2 is called 'b' here and 'caf\xc3\xa9' there",
        "the range of rewards is [0, 1] here and [-0.1, 1] there",
        "the range of rewards is [0, 1] here and [0, 10] there",
        "epsilon per reward is 0.5 here and 0.25 there",
        "the horizon is 400000 here and 500000 there",
        "the number of sites is 3 here and 4 there",
        "the parameters of elimination are others here than there",
        "the parameters of elimination are others here than there",
        "the run is number 81985529216486895 here and 2 there"};
    struct tacit_wire_agreement const here = sample().agreement;
    char text[TACIT_WIRE_DIFFERENCE_BYTES];
    assert_false(tacit_wire_agreement_differs(&here, &here, text, sizeof text));
    for (enum change change = 0; change < CHANGES; change++) {
        struct tacit_wire_agreement const there = changed(change);
        assert_true(tacit_wire_agreement_differs(&here, &there, text, sizeof text));
        assert_string_equal(text, words[change]);
        assert_true(tacit_wire_agreement_differs(&there, &here, text, sizeof text));
    }
}

/* A site's file says nothing of a run's length or size: these are the coordinator's. */
TEST(what_one_side_leaves_open_does_not_differ)
{
    static const enum change open[] = {EPSILON, HORIZON, SITES, PARAMETERS, PARAMETERS_SIZE, RUN};
    struct tacit_wire_agreement here = sample().agreement;
    char text[TACIT_WIRE_DIFFERENCE_BYTES];
    here.epsilon_nano = here.horizon = here.agent_count = 0;
    here.parameters = NULL;
    memset(here.run, 0, sizeof here.run);
    for (size_t i = 0; i < sizeof open / sizeof open[0]; i++) {
        struct tacit_wire_agreement const there = changed(open[i]);
        assert_false(tacit_wire_agreement_differs(&here, &there, text, sizeof text));
    }
    struct tacit_wire_agreement const there = changed(ARM_NAMES);
    assert_true(tacit_wire_agreement_differs(&here, &there, text, sizeof text));
}

/* The longest names fit, and no character is cut in two. */
TEST(the_longest_words_fit)
{
    char first[65];
    char second[65];
    const char *const left[] = {first};
    const char *const right[] = {second};
    struct tacit_wire_agreement here = sample().agreement;
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
    here = sample().agreement;
    there = here;
    here.lo = -0x1.123456789abcdp+1000;
    there.lo = -0x1.123456789abccp+1000;
    assert_true(tacit_wire_agreement_differs(&here, &there, text, sizeof text));
    assert_non_null(strstr(text, "] there")); /* two doubles that are neighbours look different */
    assert_null(strstr(strstr(text, "["), "[-1.1e"));
}

TEST(the_digest_covers_every_fact)
{
    uint8_t digests[CHANGES + 1][TACIT_WIRE_DIGEST_BYTES];
    for (enum change change = 0; change <= CHANGES; change++) {
        struct tacit_wire_agreement const agreement = changed(change);
        assert_int_equal(
            tacit_wire_agreement_digest(&agreement, digests[change], tacit_wire_heap()), TACIT_OK);
        for (enum change other = 0; other < change; other++)
            assert_memory_not_equal(digests[other], digests[change], TACIT_WIRE_DIGEST_BYTES);
    }
}

/* SHA-256 of the bytes between tag and next field: by sha256sum over the golden bytes above. */
TEST(the_digest_is_as_published)
{
    static const char golden[] = "a7d1e3cdb199d71aae5ce55514338060ebd0295bdcddcc9f0c12bfd861500775";
    struct tacit_wire_agreement const agreement = sample().agreement;
    uint8_t digest[TACIT_WIRE_DIGEST_BYTES];
    char found[2 * TACIT_WIRE_DIGEST_BYTES + 1];
    assert_int_equal(tacit_wire_agreement_digest(&agreement, digest, tacit_wire_heap()), TACIT_OK);
    for (size_t i = 0; i < sizeof digest; i++)
        (void)snprintf(found + 2 * i, 3, "%02x", digest[i]);
    assert_string_equal(found, golden);
}

/* ---- Known answers --------------------------------------------------------------------------- */

static void digest_text(const char *text)
{
    digest_word(strlen(text));
    digest_bytes(text, strlen(text));
}

static void look(const uint8_t *bytes, size_t size, const void *context)
{
    struct tacit_wire_announcement *found = NULL;
    if (!wire_bytes_decode(&tacit_wire_announcement, NULL, bytes, size, &found))
        return;
    struct tacit_wire_agreement const *const agreement = &found->agreement;
    uint64_t const words[] = {agreement->family,          agreement->protocol_version,
                              agreement->agent_count,     agreement->arm_count,
                              word_of(agreement->lo),     word_of(agreement->hi),
                              agreement->horizon,         agreement->epsilon_nano,
                              agreement->parameters_size, found->agent,
                              found->place_size};
    digest_bytes(words, sizeof words);
    digest_bytes(agreement->run, sizeof agreement->run);
    digest_text(agreement->protocol);
    for (uint32_t arm = 0; arm < agreement->arm_count; arm++)
        digest_text(agreement->arms[arm]);
    digest_bytes(agreement->parameters, agreement->parameters_size);
    digest_bytes(found->place, found->place_size);
    uint8_t agreed[TACIT_WIRE_DIGEST_BYTES] = {0};
    digest_word((uint64_t)tacit_wire_agreement_digest(agreement, agreed, wire_bytes_memory()));
    digest_bytes(agreed, sizeof agreed);
    wire_bytes_give(found);
}

TEST(damaged_announcements_are_judged_as_they_were)
{
    struct tacit_wire_announcement announcement = sample();
    struct tacit_wire_agreement *const agreement = &announcement.agreement;
    wire_bytes_sizes(look, NULL);
    for (int i = 0; i < 3; i++) {
        struct wire_bytes const word = encode(&announcement);
        wire_bytes_damage(word, look, NULL);
        testing_free(word.bytes);
        agreement->agent_count = i == 0 ? TACIT_AGENTS_MAX : 1;
        announcement.agent = agreement->agent_count - 1;
        agreement->horizon = i == 0 ? TACIT_HORIZON_MAX : 1;
        agreement->lo = i == 0 ? -1 : 0;
        agreement->hi = i == 0 ? 1.5 : 0x1p-1074;
        agreement->arm_count = i == 0 ? 2 : 1;
        agreement->arms = names + (i == 0 ? 1 : 2);
        agreement->protocol = "a-9";
        agreement->family = 7;
        agreement->protocol_version = 0;
        announcement.place_size = agreement->parameters_size = i == 0 ? 1 : 0;
    }
}

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
}

/* Everything that may differ together with everything else, and each thing alone unsaid. */
TEST(differences_are_said_as_they_were)
{
    for (enum change one = 0; one <= CHANGES; one++)
        for (enum change two = 0; two <= CHANGES; two++)
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
                digest_text(text);
            }
}

TEST(ranges_that_differ_in_any_digit_are_said_so)
{
    static const double numbers[] = {0.1,      0.12345678, 1.0 / 3, 1e22,   -1e-7,
                                     123456.7, 1234567,    1e300,   0x1p-60};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        char text[TACIT_WIRE_DIFFERENCE_BYTES];
        struct tacit_wire_agreement const here = sample().agreement;
        struct tacit_wire_agreement there = here;
        there.hi = numbers[i];
        assert_true(tacit_wire_agreement_differs(&here, &there, text, sizeof text));
        digest_text(text);
        double const said = strtod(strrchr(text, ',') + 1, NULL);
        assert_true(said == numbers[i]);
    }
}

DIGEST_IS(UINT64_C(0xbd6322341337490e))
