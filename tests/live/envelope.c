/* Envelopes: what one daemon closes the other opens; what is not signed by whose word it claims to
 * be, what comes under another name or topic, of another federation, run or agreement, or for
 * somebody else, stays closed, and why is said. */
#include "../support/testing.h"
#include "../../src/live/bus/envelope.h"
#include "../../src/live/coordinator_helper.h"
#include "../../src/live/daemon/files.h"
#include "../../src/live/pki/pki.h"
#include "../../src/live/runs.h"
#include "../../src/live/trust.h"
#include <unistd.h>
#include "../support/temp.h"

#define TOPIC "tacit/v1/clinics/down/elimination"

static const char *const arms[] = {"a", "b"};
static const char *const names[] = {"coordinator", "south", "north"};
static char directory[TEMP_PATH_BYTES];
static struct live_signer *signers[3];
static struct live_keys *keys; /* knows all three */

static int open_keys(void **state)
{
    struct tacit_error error;
    char files[3][TEMP_PATH_BYTES];
    char base[TEMP_PATH_BYTES];
    char name[64];
    temp_directory_make(base);
    temp_path(directory, base, "pki");
    struct live_pki_config const config = {
        .directory = directory, .names = names, .name_count = 3, .days = 2};
    assert_int_equal(live_pki_make(&config, &error), TACIT_OK);
    temp_path(files[0], directory, "ca.crt");
    assert_int_equal(live_keys_new(&keys, files[0], 3, &error), TACIT_OK);
    for (size_t i = 0; i < 3; i++) {
        size_t size;
        (void)snprintf(name, sizeof name, "%s.sign.crt", names[i]);
        temp_path(files[1], directory, name);
        (void)snprintf(name, sizeof name, "%s.sign.key", names[i]);
        temp_path(files[2], directory, name);
        struct live_signing_config const signing = {.ca_file = files[0],
                                                    .certificate_file = files[1],
                                                    .key_file = files[2],
                                                    .name = names[i]};
        assert_int_equal(live_signer_open(&signers[i], &signing, &error), TACIT_OK);
        const uint8_t *const certificate = live_signer_certificate(signers[i], &size);
        assert_null(live_keys_add(keys, names[i], certificate, size));
    }
    temp_directory_remove(base);
    return 0;
}

static int close_keys(void **state)
{
    for (size_t i = 0; i < 3; i++)
        live_signer_close(signers[i]);
    live_keys_free(keys);
    return 0;
}

static struct tacit_wire_agreement agreement_of(uint64_t run_id, double hi)
{
    struct tacit_wire_agreement agreement = {.protocol = "elimination",
                                             .protocol_version = 1,
                                             .agent_count = 2,
                                             .arm_count = 2,
                                             .arms = arms,
                                             .hi = hi,
                                             .horizon = 1000,
                                             .epsilon_nano = 1};
    tacit_wire_run(run_id, agreement.run);
    return agreement;
}

static struct live_envelopes envelopes_of(const char *self, const char *federation, uint32_t family,
                                          uint64_t run_id, double hi)
{
    struct tacit_wire_agreement const agreement = agreement_of(run_id, hi);
    struct live_envelopes envelopes = {
        .federation = federation, .self = self, .family = family, .keys = keys};
    for (size_t i = 0; i < 3; i++)
        if (strcmp(names[i], self) == 0)
            envelopes.signer = signers[i];
    assert_int_equal(live_envelopes_begin(&envelopes, &agreement), TACIT_OK);
    return envelopes;
}

/* NULL, or why an envelope of `writer` to `to` is refused by north of clinics, run 1. */
static const char *heard(struct live_envelopes writer, const char *from, const char *to,
                         uint32_t kind)
{
    static const uint8_t body[] = {1, 2, 3};
    struct live_envelopes const north = envelopes_of("north", "clinics", 0, 1, 1);
    struct live_envelope const envelope = {
        .topic = TOPIC, .to = to, .kind = kind, .epoch = 4, .body = body, .size = sizeof body};
    struct live_opened opened;
    struct tacit_wire_envelope const *const inner = &opened.envelope;
    size_t size;
    uint8_t *const bytes = live_envelope_close(&writer, &envelope, &size);
    assert_non_null(bytes);
    struct live_arrival const arrival = {TOPIC, from, bytes, size};
    char const *const objection = live_envelope_open(&north, &arrival, &opened);
    if (objection == NULL) {
        assert_int_equal(inner->body_size, sizeof body);
        assert_memory_equal(inner->body, body, sizeof body);
        assert_int_equal(inner->kind, kind);
        assert_int_equal(inner->epoch, 4);
        assert_true(inner->term == 1);
        assert_true(inner->sequence == writer.sequence);
        assert_false(opened.is_unsigned);
    }
    free(bytes);
    return objection;
}

TEST(envelopes_of_the_run_are_opened)
{
    struct live_envelopes const hub = envelopes_of("coordinator", "clinics", 0, 1, 1);
    assert_null(heard(hub, "coordinator", "north", 1));
    assert_null(heard(hub, "coordinator", NULL, 1));
}

TEST(others_stay_closed)
{
    struct live_envelopes const hub = envelopes_of("coordinator", "clinics", 0, 1, 1);
    assert_string_equal(heard(hub, "south", "north", 1), "a message that it did not sign");
    assert_string_equal(heard(hub, "coordinator", "south", 1), "a message to another receiver");
    assert_string_equal(
        heard(envelopes_of("coordinator", "shops", 0, 1, 1), "coordinator", NULL, 1),
        "a message of another federation");
    assert_string_equal(
        heard(envelopes_of("coordinator", "clinics", 2, 1, 1), "coordinator", NULL, 1),
        "a message of another protocol");
    assert_string_equal(
        heard(envelopes_of("coordinator", "clinics", 0, 2, 1), "coordinator", NULL, 1),
        "a message of another run");
    assert_non_null(strstr(
        heard(envelopes_of("coordinator", "clinics", 0, 1, 10), "coordinator", NULL, 1), "range"));
    assert_non_null(heard(hub, "coordinator", "north", TACIT_WIRE_KIND_ANNOUNCEMENT));
}

/* north is in term 1: another term's grants are none, and whoever is ahead is told apart. */
TEST(envelopes_of_another_term_stay_closed)
{
    struct live_envelopes hub = envelopes_of("coordinator", "clinics", 0, 1, 1);
    static const uint8_t body[] = {1};
    struct live_envelope const envelope = {
        .topic = TOPIC, .kind = 1, .body = body, .size = sizeof body};
    struct live_opened opened;
    struct live_envelopes later = hub;
    size_t size;
    hub.term = 7;
    assert_ptr_equal(heard(hub, "coordinator", "north", 1), live_envelope_is_ahead);
    uint8_t *const bytes = live_envelope_close(&later, &envelope, &size);
    struct live_arrival const arrival = {TOPIC, "coordinator", bytes, size};
    later.self = "north";
    later.term = 7;
    assert_string_equal(live_envelope_open(&later, &arrival, &opened),
                        "a message of an earlier term");
    free(bytes);
}

TEST(envelopes_are_counted)
{
    struct live_envelopes hub = envelopes_of("coordinator", "clinics", 0, 1, 1);
    struct live_envelope const envelope = {
        .topic = TOPIC, .kind = 1, .body = (const uint8_t *)"", .size = 0};
    for (uint64_t i = 1; i <= 3; i++) {
        struct tacit_wire_envelope found;
        size_t size;
        uint8_t *const bytes = live_envelope_close(&hub, &envelope, &size);
        assert_int_equal(tacit_wire_envelope_decode(bytes, size, &found), TACIT_OK);
        assert_true(found.sequence == i);
        free(bytes);
    }
}

/* NULL, or why north refuses these bytes of the coordinator under this topic. */
static const char *opened_under(const char *topic, const uint8_t *bytes, size_t size,
                                struct live_opened *opened)
{
    struct live_envelopes const north = envelopes_of("north", "clinics", 0, 1, 1);
    struct live_arrival const arrival = {topic, "coordinator", bytes, size};
    return live_envelope_open(&north, &arrival, opened);
}

static uint8_t *close_one(size_t *size)
{
    struct live_envelopes hub = envelopes_of("coordinator", "clinics", 0, 1, 1);
    struct live_envelope const envelope = {
        .topic = TOPIC, .kind = 1, .epoch = 4, .body = (const uint8_t *)"abc", .size = 3};
    uint8_t *const bytes = live_envelope_close(&hub, &envelope, size);
    assert_non_null(bytes);
    return bytes;
}

/* Every byte of it is under the signature, and each of the signature counts. */
TEST(an_envelope_with_any_byte_altered_is_not_signed)
{
    struct live_opened opened;
    size_t size;
    uint8_t *const bytes = close_one(&size);
    for (size_t i = 0; i < size; i++) {
        for (unsigned bit = 0; bit < 8; bit++) {
            bytes[i] ^= (uint8_t)(1u << bit);
            assert_non_null(opened_under(TOPIC, bytes, size, &opened));
            assert_true(opened.is_unsigned);
            bytes[i] ^= (uint8_t)(1u << bit);
        }
    }
    for (size_t cut = 0; cut < size; cut++) {
        assert_non_null(opened_under(TOPIC, bytes, cut, &opened));
        assert_true(opened.is_unsigned);
    }
    assert_null(opened_under(TOPIC, bytes, size, &opened));
    free(bytes);
}

/* A broker that moves an envelope to another topic, as from one site's to everybody's. */
TEST(an_envelope_under_another_topic_is_not_signed)
{
    static const char *const topics[] = {
        "", "tacit/v1/clinics/down/eliminatio", "tacit/v1/clinics/down/eliminationX",
        "tacit/v1/clinics/to/north/elimination", "tacit/v1/other/down/elimination"};
    struct live_opened opened;
    size_t size;
    uint8_t *const bytes = close_one(&size);
    for (size_t i = 0; i < sizeof topics / sizeof topics[0]; i++) {
        assert_string_equal(opened_under(topics[i], bytes, size, &opened),
                            "a message that it did not sign");
        assert_true(opened.is_unsigned);
    }
    free(bytes);
}

TEST(an_envelope_without_a_signature_stays_closed)
{
    struct tacit_wire_envelope envelope;
    struct live_opened opened;
    size_t size;
    uint8_t *const bytes = close_one(&size);
    assert_int_equal(tacit_wire_envelope_decode(bytes, size, &envelope), TACIT_OK);
    envelope.is_signed = false;
    size_t const shorter = tacit_wire_envelope_bytes(&envelope);
    uint8_t *const naked = malloc(shorter);
    assert_non_null(naked);
    tacit_wire_envelope_encode(&envelope, naked);
    assert_int_equal(size - shorter, TACIT_WIRE_SIGNATURE_BYTES);
    assert_string_equal(opened_under(TOPIC, naked, shorter, &opened),
                        "a message that is not signed");
    assert_true(opened.is_unsigned);
    free(naked);
    free(bytes);
}

TEST(without_its_key_an_envelope_waits)
{
    struct tacit_error error;
    struct live_envelopes north = envelopes_of("north", "clinics", 0, 1, 1);
    struct live_keys *none = NULL;
    struct live_opened opened;
    char ca_file[TEMP_PATH_BYTES];
    char base[TEMP_PATH_BYTES];
    size_t size;
    uint8_t *const bytes = close_one(&size);
    struct live_arrival const arrival = {TOPIC, "coordinator", bytes, size};
    temp_directory_make(base);
    struct live_pki_config const config = {
        .directory = base, .names = names, .name_count = 1, .days = 2};
    assert_int_equal(live_pki_make(&config, &error), TACIT_OK);
    temp_path(ca_file, base, "ca.crt");
    assert_int_equal(live_keys_new(&none, ca_file, 3, &error), TACIT_OK);
    temp_directory_remove(base);
    north.keys = none;
    assert_non_null(live_envelope_open(&north, &arrival, &opened));
    assert_true(opened.is_unsigned);
    assert_true(opened.lacks_key);
    live_keys_free(none);
    free(bytes);
}

/* NULL, or why north refuses it as an announcement. */
static const char *announced(const uint8_t *bytes, size_t size)
{
    struct live_envelopes const north = {.federation = "clinics", .self = "north", .keys = keys};
    struct live_arrival const arrival = {TOPIC, "coordinator", bytes, size};
    struct live_opened opened;
    return live_envelope_open_announcement(&north, &arrival, &opened);
}

TEST(an_announcement_comes_before_the_run_is_known)
{
    struct live_envelopes hub = envelopes_of("coordinator", "clinics", 0, 1, 1);
    struct live_envelope envelope = {.topic = TOPIC,
                                     .to = "north",
                                     .kind = TACIT_WIRE_KIND_ANNOUNCEMENT,
                                     .body = (const uint8_t *)"x",
                                     .size = 1};
    size_t size;
    uint8_t *bytes = live_envelope_close(&hub, &envelope, &size);
    assert_null(announced(bytes, size));
    assert_non_null(announced(bytes, size - 1));
    free(bytes);
    envelope.kind = 1;
    bytes = live_envelope_close(&hub, &envelope, &size);
    assert_string_equal(announced(bytes, size), "an announcement that does not decode");
    free(bytes);
    envelope.kind = TACIT_WIRE_KIND_ANNOUNCEMENT;
    envelope.to = "south";
    bytes = live_envelope_close(&hub, &envelope, &size);
    assert_string_equal(announced(bytes, size), "a message to another receiver");
    free(bytes);
    hub.signer = signers[1]; /* south, which calls itself the coordinator */
    envelope.to = "north";
    bytes = live_envelope_close(&hub, &envelope, &size);
    assert_string_equal(announced(bytes, size), "a message that it did not sign");
    free(bytes);
}

TEST(a_term_is_out_of_reach_beyond_65536_above_the_known_one)
{
    assert_false(live_term_is_out_of_reach(0, 65536));
    assert_true(live_term_is_out_of_reach(0, 65537));
    assert_false(live_term_is_out_of_reach(7, 7));
    assert_false(live_term_is_out_of_reach(UINT64_MAX, 1)); /* it is behind */
    assert_false(live_term_is_out_of_reach(UINT64_MAX - 65536, UINT64_MAX));
    assert_true(live_term_is_out_of_reach(UINT64_MAX - 65537, UINT64_MAX));
}

/* What all speak, and never again an older one; nothing new while one is not known. */
/* Of a coordinator (the nonce), its number: what a site that was in the rows follows by itself,
 * what it never begins again, and what is its owner's to say. */
TEST(only_the_next_run_of_the_last_coordinator_is_next)
{
    static const struct {
        uint8_t nonce;
        uint8_t number;
        enum live_run_kin kin;
    } cases[] = {{1, 1, LIVE_RUN_OLDER},   {1, 2, LIVE_RUN_OLDER},   {1, 3, LIVE_RUN_OLDER},
                 {1, 4, LIVE_RUN_FOREIGN}, {2, 6, LIVE_RUN_OLDER},   {2, 7, LIVE_RUN_SAME},
                 {2, 8, LIVE_RUN_NEXT},    {3, 8, LIVE_RUN_FOREIGN}, {3, 1, LIVE_RUN_FOREIGN}};
    struct live_run_row rows[] = {
        {.run = {1, [15] = 1}}, {.run = {1, [15] = 3}}, {.run = {2, [15] = 7}}};
    struct live_runs const runs = {.rows = rows, .count = 3};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t const run[16] = {cases[i].nonce, [15] = cases[i].number};
        assert_int_equal(live_runs_kin(&runs, run), cases[i].kin);
        assert_int_equal(live_run_follows(rows[2].run, run), cases[i].kin == LIVE_RUN_NEXT);
    }
}

TEST(a_run_speaks_the_newest_version_that_all_speak)
{
    static const struct {
        uint32_t newest, now, speaks[3], agreed;
    } table[] = {
        {4, 3, {4, 4, 4}, 4}, {4, 3, {4, 3, 4}, 3}, {4, 3, {4, 4, 0}, 3}, {3, 3, {4, 4, 4}, 3},
        {4, 4, {4, 4, 3}, 4}, {4, 4, {0, 0, 0}, 4}, {5, 4, {5, 6, 5}, 5}, {5, 4, {3, 5, 5}, 4},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        assert_int_equal(live_version_agree(table[i].newest, table[i].now, table[i].speaks, 3),
                         table[i].agreed);
}

/* Signed, so that whoever brings the older program up is told by whom it is. */
TEST(an_envelope_of_another_version_is_refused_in_words)
{
    static const uint32_t versions[] = {TACIT_WIRE_VERSION_OLDEST - 1, TACIT_WIRE_VERSION + 1, 0};
    struct live_opened opened;
    size_t size;
    uint8_t *const bytes = close_one(&size);
    uint8_t *const signature = bytes + tacit_wire_envelope_signature(bytes, size);
    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
        char words[64];
        for (unsigned byte = 0; byte < 4; byte++)
            bytes[1 + byte] = (uint8_t)(versions[i] >> 8 * byte);
        assert_int_equal(tacit_wire_envelope_version(bytes, size), versions[i]);
        assert_true(live_signer_sign(signers[0], TOPIC, bytes,
                                     size - TACIT_WIRE_SIGNATURE_FIELD_BYTES, signature));
        (void)snprintf(words, sizeof words, "version %u; this program speaks versions %u to %u",
                       versions[i], TACIT_WIRE_VERSION_OLDEST, TACIT_WIRE_VERSION);
        char const *const said = opened_under(TOPIC, bytes, size, &opened);
        assert_non_null(strstr(said, versions[i] == 0 ? "does not decode" : words));
        assert_int_equal(opened.foreign, versions[i]);
        assert_false(opened.is_unsigned);
    }
    free(bytes);
}

static bool hear_piece(struct live_pieces *pieces, const uint8_t *piece, size_t size)
{
    return live_pieces_add(pieces, &piece, &size);
}

/* Of a message in pieces: with one of them lost, doubled, moved or altered nothing comes but the
 * message itself, and said again it comes. */
TEST(pieces_are_whole_or_nothing)
{
    enum { SIZE = 200000, PIECES = 4 };
    uint8_t *const message = malloc(SIZE);
    uint8_t digest[TACIT_SHA256_BYTES];
    uint8_t *pieces[PIECES];
    size_t sizes[PIECES];
    struct live_pieces heard = {.size = 0};
    struct tacit_sha256 sha = tacit_sha256_init();
    for (size_t i = 0; i < SIZE; i++)
        message[i] = (uint8_t)(i * 2654435761u >> 13);
    tacit_sha256_update(&sha, message, SIZE);
    tacit_sha256_final(&sha, digest);
    assert_int_equal(live_piece_count(SIZE), PIECES);
    for (uint32_t i = 0; i < PIECES; i++) {
        pieces[i] = live_piece_write(message, SIZE, digest, i, &sizes[i]);
        assert_non_null(pieces[i]);
        assert_true(sizes[i] <= live_piece_bytes_max());
    }
    for (unsigned fault = 0; fault < 4 * PIECES; fault++) {
        uint32_t const place = fault / 4;
        uint32_t const other = (place + 1) % PIECES;
        for (uint32_t i = 0; i < PIECES; i++) {
            uint32_t const said = fault % 4 == 0 ? i
                                  : i == place   ? (fault % 4 == 1 ? other : place)
                                  : i == other   ? (fault % 4 == 1 ? place : other)
                                                 : i;
            pieces[said][sizes[said] / 2] ^= fault % 4 == 2 && i == place ? 1 : 0;
            for (unsigned times = fault % 4 == 3 && i == place ? 2 : 1; times > 0; times--)
                if (!(fault % 4 == 0 && i == place) &&
                    hear_piece(&heard, pieces[said], sizes[said]))
                    assert_memory_equal(heard.bytes, message, SIZE);
            pieces[said][sizes[said] / 2] ^= fault % 4 == 2 && i == place ? 1 : 0;
        }
        for (uint32_t i = 0; i < PIECES; i++)
            assert_int_equal(hear_piece(&heard, pieces[i], sizes[i]), i + 1 == PIECES);
        assert_int_equal(heard.size, SIZE);
        assert_memory_equal(heard.bytes, message, SIZE);
    }
    assert_false(hear_piece(&heard, pieces[0], 41));
    live_pieces_free(&heard);
    for (uint32_t i = 0; i < PIECES; i++)
        free(pieces[i]);
    free(message);
}

/* Nobody could put its pieces together: it goes nowhere, and stops nobody. */
TEST(message_to_a_helper_that_is_too_long_is_not_sent)
{
    struct live_daemon daemon = {.bus = NULL};
    uint8_t *const message = calloc(1, LIVE_TRUST_BYTES_MAX + 1u);
    assert_non_null(message);
    live_helper_send(&daemon, "topic", message, LIVE_TRUST_BYTES_MAX + 1u);
    free(message);
}

/* ---- Answers as files ------------------------------------------------------------------------ */

/* The coordinator takes one in the round before the one that removes it; what it cannot read it
 * leaves alone. */
TEST(an_answer_that_lies_there_is_taken_and_goes_when_that_is_on_disk)
{
    char base[TEMP_PATH_BYTES];
    char path[TEMP_PATH_BYTES];
    char other[TEMP_PATH_BYTES];
    temp_directory_make(base);
    temp_path(path, base, LIVE_HELPER_ANSWER_FILE);
    temp_path(other, base, "twin");
    struct live_helper_desk desk = {.state_directory = base};
    for (unsigned times = 0; times < 2; times++) { /* the same again is taken again */
        size_t size = 0;
        assert_null(live_helper_desk_file(&desk, &size));
        assert_int_equal(live_file_put(base, LIVE_HELPER_ANSWER_FILE, "answer", 6, UINT32_MAX),
                         TACIT_OK);
        assert_int_equal(link(path, other), 0); /* whose else it is, nobody knows */
        assert_null(live_helper_desk_file(&desk, &size));
        assert_int_equal(size, 0);
        assert_int_equal(unlink(other), 0);
        uint8_t *const taken = live_helper_desk_file(&desk, &size);
        assert_int_equal(size, 6);
        assert_memory_equal(taken, "answer", 6);
        free(taken);
        assert_int_equal(access(path, F_OK), 0);
        assert_null(live_helper_desk_file(&desk, &size));
        assert_int_equal(access(path, F_OK), -1);
    }
    temp_directory_remove(base);
}

int main(void)
{
    return testing_run(open_keys, close_keys);
}
