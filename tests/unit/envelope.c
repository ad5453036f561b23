/* Envelopes: what is written is read back, in one form only; whatever else a peer may send is
 * refused and leaves no trace. */
#include "../support/testing.h"
#include "../support/digest.h"
#include "../support/wire_bytes.h"
#include "tacit/random.h"
#include "tacit/wire.h"

#define LONGEST "-_0123456789abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOP"

static const uint8_t text[] = "body";

/* An envelope around four bytes. */
static struct tacit_wire_envelope sample(void)
{
    struct tacit_wire_envelope envelope = {.version = TACIT_WIRE_VERSION,
                                           .family = 3,
                                           .kind = 2,
                                           .federation = "clinics",
                                           .from = "north",
                                           .to = "South_2",
                                           .term = 1,
                                           .epoch = 7,
                                           .sequence = UINT64_C(0x0102030405060708),
                                           .entry = UINT64_C(0x1112131415161718),
                                           .body = text,
                                           .body_size = 4};
    tacit_wire_run(UINT64_C(0x1122334455667788), envelope.run);
    for (uint8_t i = 0; i < TACIT_WIRE_DIGEST_BYTES; i++)
        envelope.agreement[i] = i;
    return envelope;
}

static void expect_equal(const struct tacit_wire_envelope *a, const struct tacit_wire_envelope *b)
{
    assert_int_equal(a->version, b->version);
    assert_int_equal(a->family, b->family);
    assert_int_equal(a->kind, b->kind);
    assert_string_equal(a->federation, b->federation);
    assert_memory_equal(a->run, b->run, sizeof a->run);
    assert_memory_equal(a->agreement, b->agreement, sizeof a->agreement);
    assert_string_equal(a->from, b->from);
    assert_string_equal(a->to, b->to);
    assert_true(a->term == b->term);
    assert_int_equal(a->epoch, b->epoch);
    assert_true(a->sequence == b->sequence);
    assert_true(a->entry == b->entry);
    assert_int_equal(a->body_size, b->body_size);
    if (a->body_size > 0)
        assert_memory_equal(a->body, b->body, a->body_size);
    assert_int_equal(a->is_signed, b->is_signed);
    assert_memory_equal(a->signature, b->signature, sizeof a->signature);
}

static struct wire_bytes encode(const struct tacit_wire_envelope *envelope)
{
    struct wire_bytes const coded = wire_bytes_new(tacit_wire_envelope_bytes(envelope));
    tacit_wire_envelope_encode(envelope, coded.bytes);
    return coded;
}

static void expect_trip(const struct tacit_wire_envelope *envelope)
{
    struct tacit_wire_envelope found;
    struct wire_bytes const coded = encode(envelope);
    assert_true(coded.size - envelope->body_size <= TACIT_WIRE_ENVELOPE_BYTES_MAX);
    assert_int_equal(tacit_wire_envelope_decode(coded.bytes, coded.size, &found), TACIT_OK);
    expect_equal(&found, envelope);
    if (found.body_size > 0) /* where the bytes are */
        assert_true(found.body > coded.bytes && found.body < coded.bytes + coded.size);
    testing_free(coded.bytes);
}

/* In memory that is exactly as long as the bytes, so that a sanitizer sees a read beyond them. */
static void expect_refused(const uint8_t *bytes, size_t size)
{
    struct tacit_wire_envelope found;
    struct tacit_wire_envelope before;
    uint8_t *const exact = wire_bytes_exact(bytes, size);
    memset(&found, 0x5a, sizeof found);
    memcpy(&before, &found, sizeof found);
    assert_int_equal(tacit_wire_envelope_decode(exact, size, &found), TACIT_MALFORMED);
    assert_memory_equal(&found, &before, sizeof found);
    testing_free(exact);
}

TEST(envelopes_survive_the_trip)
{
    static uint8_t long_body[100000];
    struct tacit_wire_envelope envelope = sample();
    expect_trip(&envelope);
    envelope.to[0] = '\0'; /* everybody */
    expect_trip(&envelope);
    envelope.body_size = 0;
    envelope.epoch = 0;
    envelope.family = envelope.kind = 0;
    envelope.sequence = envelope.entry = 0;
    memset(envelope.run, 0, sizeof envelope.run);
    expect_trip(&envelope);
    envelope.family = envelope.kind = envelope.epoch = UINT32_MAX;
    envelope.term = envelope.sequence = envelope.entry = UINT64_MAX;
    memset(envelope.run, 0xff, sizeof envelope.run);
    memcpy(envelope.federation, LONGEST, sizeof LONGEST);
    memcpy(envelope.from, LONGEST, sizeof LONGEST);
    memcpy(envelope.to, LONGEST, sizeof LONGEST);
    envelope.body = long_body;
    envelope.body_size = sizeof long_body;
    expect_trip(&envelope);
    envelope.is_signed = true;
    memset(envelope.signature, 0xa7, sizeof envelope.signature);
    expect_trip(&envelope);
}

/* Others may implement the format: these bytes do not change within version 3. */
TEST(bytes_are_as_published)
{
    static const char golden[] =
        "0d03000000"         /* version */
        "1503000000"         /* family */
        "1d02000000"         /* kind */
        "2207636c696e696373" /* clinics */
        "2a1000000000000000001122334455667788"
        "3220000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
        "3a056e6f727468"     /* north */
        "4207536f7574685f32" /* South_2 */
        "490100000000000000" /* term */
        "5507000000"         /* epoch */
        "590807060504030201" /* sequence */
        "6204626f6479"       /* body */
        "691817161514131211" /* entry */
        "7200";              /* not signed */
    struct tacit_wire_envelope const envelope = sample();
    struct wire_bytes const coded = encode(&envelope);
    wire_bytes_expect(coded, golden);
    testing_free(coded.bytes);
}

TEST(another_length_is_refused)
{
    struct tacit_wire_envelope const envelope = sample();
    struct wire_bytes const coded = encode(&envelope);
    wire_bytes_expect_length(coded, 0x7a, expect_refused); /* an unknown field 15, of no bytes */
    testing_free(coded.bytes);
}

/* The length of a name in two bytes, fields in another order, one of them twice: not our form. */
TEST(another_form_is_refused)
{
    struct tacit_wire_envelope const envelope = sample();
    struct wire_bytes const coded = encode(&envelope);
    uint8_t other[256];
    memcpy(other, coded.bytes, coded.size);
    memcpy(other, coded.bytes + 5, 5); /* family before version */
    memcpy(other + 5, coded.bytes, 5);
    expect_refused(other, coded.size);
    memcpy(other, coded.bytes, 5); /* version twice */
    memcpy(other + 5, coded.bytes, coded.size);
    expect_refused(other, coded.size + 5);
    memcpy(other, coded.bytes, 15); /* 7 as 87 00 */
    other[15] = 0x22;
    other[16] = 0x87;
    other[17] = 0;
    memcpy(other + 18, coded.bytes + 17, coded.size - 17);
    expect_refused(other, coded.size + 1);
    testing_free(coded.bytes);
}

/* One byte of a field that stands at the same place in every envelope of these names. */
TEST(what_cannot_be_is_refused)
{
    static const struct {
        size_t at;
        uint8_t byte;
    } wrongs[] = {
        {1, 2},     /* another version */
        {1, 4},     /* and one that is to come */
        {4, 1},     /* .. */
        {17, '/'},  /* the federation */
        {17, ' '},  /* .. */
        {17, 0},    /* .. ends early */
        {17, 0xc3}, /* .. */
        {25, 15},   /* a run of 15 bytes */
        {43, 31},   /* a digest of 31 */
        {78, '+'},  /* the sender */
        {85, '#'},  /* the receiver */
        {93, 0},    /* no term */
    };
    struct tacit_wire_envelope const envelope = sample();
    for (size_t i = 0; i < sizeof wrongs / sizeof wrongs[0]; i++) {
        struct wire_bytes const coded = encode(&envelope);
        assert_int_not_equal(coded.bytes[wrongs[i].at], wrongs[i].byte);
        coded.bytes[wrongs[i].at] = wrongs[i].byte;
        expect_refused(coded.bytes, coded.size);
        testing_free(coded.bytes);
    }
}

TEST(a_signature_is_of_64_bytes_or_none)
{
    struct tacit_wire_envelope const envelope = sample();
    struct wire_bytes const coded = encode(&envelope);
    uint8_t other[512];
    for (uint8_t size = 1; size < 128; size++) {
        memcpy(other, coded.bytes, coded.size);
        other[coded.size - 1] = size;
        memset(other + coded.size, 7, size);
        if (size != TACIT_WIRE_SIGNATURE_BYTES)
            expect_refused(other, coded.size + size);
    }
    testing_free(coded.bytes);
}

TEST(run_numbers_keep_their_64_bits)
{
    uint8_t run[TACIT_WIRE_RUN_BYTES];
    tacit_wire_run(UINT64_C(0xfedcba9876543210), run);
    assert_true(tacit_wire_run_id(run) == UINT64_C(0xfedcba9876543210));
    assert_int_equal(run[8], 0xfe);
    assert_int_equal(run[15], 0x10);
    assert_int_equal(run[0], 0);
}

/* ---- Known answers ---- */

static void digest_text(const char *name)
{
    digest_word(strlen(name));
    digest_bytes(name, strlen(name));
}

static void look(const uint8_t *bytes, size_t size, const void *context)
{
    struct tacit_wire_envelope found;
    enum tacit_status const status = tacit_wire_envelope_decode(bytes, size, &found);
    digest_word((uint64_t)status);
    digest_word(tacit_wire_envelope_signature(bytes, size));
    if (size >= TACIT_WIRE_SIGNATURE_FIELD_BYTES) /* a signature of nothing is none */
        assert_int_equal(
            tacit_wire_envelope_signature(bytes + size - TACIT_WIRE_SIGNATURE_FIELD_BYTES,
                                          TACIT_WIRE_SIGNATURE_FIELD_BYTES),
            0);
    if (status != TACIT_OK)
        return;
    uint64_t const words[] = {found.family,    found.kind,      found.term,
                              found.epoch,     found.sequence,  found.entry,
                              found.body_size, found.is_signed, tacit_wire_run_id(found.run)};
    digest_bytes(words, sizeof words);
    digest_text(found.federation);
    digest_text(found.from);
    digest_text(found.to);
    digest_bytes(found.run, sizeof found.run);
    digest_bytes(found.agreement, sizeof found.agreement);
    digest_bytes(found.body, found.body_size);
    digest_bytes(found.signature, sizeof found.signature);
}

TEST(damaged_envelopes_are_judged_as_they_were)
{
    struct tacit_wire_envelope envelope = sample();
    wire_bytes_sizes(look, NULL);
    for (int i = 0; i < 3; i++) {
        struct wire_bytes const word = encode(&envelope);
        wire_bytes_damage(word, look, NULL);
        testing_free(word.bytes);
        envelope.is_signed = i == 0;
        for (uint8_t at = 0; at < TACIT_WIRE_SIGNATURE_BYTES; at++)
            envelope.signature[at] = (uint8_t)(at + 64 * (i == 0));
        envelope.to[0] = '\0';
        envelope.body_size = i == 0 ? 1 : 0;
        (void)snprintf(envelope.from, sizeof envelope.from, "%s", i == 0 ? LONGEST : "x");
    }
}

DIGEST_IS(UINT64_C(0x1b3b97f41d061c9c))
