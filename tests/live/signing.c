/* Signatures: whose key counts under which name, and since when; and what each name may cause.
 * Certificates are made as tacit pki makes them, in folders of their own. */
#include <sys/stat.h>
#include <time.h>
#include "../support/testing.h"
#include "../../src/live/pki/pki.h"
#include "../../src/live/pki/signing.h"
#include "../../src/live/sender.h"
#include "../support/temp.h"

#define TOPIC "tacit/v1/trial/up/north/elimination"

static const uint8_t word[] = "a word";
static const char *const names[] = {"north", "south", "coordinator", "broker"};
static char base[TEMP_PATH_BYTES];
static char home[TEMP_PATH_BYTES];  /* our CA */
static char other[TEMP_PATH_BYTES]; /* another one, with the same names */
static struct tacit_error error;
static struct live_signer *north; /* of ours */
static struct live_signer *south;
static struct live_keys *keys; /* with room for three; nobody's yet */

static void make(const char *directory)
{
    struct live_pki_config const config = {
        .directory = directory, .names = names, .name_count = 4, .days = 2};
    if (live_pki_make(&config, &error) != TACIT_OK)
        fail_msg("%s", error.text);
}

static const char *file_of(const char *directory, const char *name, const char *ending)
{
    static char paths[4][TEMP_PATH_BYTES];
    static size_t next;
    char file[128];
    char *const path = paths[next++ % 4];
    (void)snprintf(file, sizeof file, "%s%s", name, ending);
    temp_path(path, directory, file);
    return path;
}

static struct live_signing_config config_of(const char *directory, const char *name)
{
    return (struct live_signing_config){.ca_file = file_of(directory, "ca", ".crt"),
                                        .certificate_file = file_of(directory, name, ".sign.crt"),
                                        .key_file = file_of(directory, name, ".sign.key"),
                                        .name = name};
}

static struct live_signer *signer_of(const char *directory, const char *name)
{
    struct live_signing_config const config = config_of(directory, name);
    struct live_signer *signer = NULL;
    if (live_signer_open(&signer, &config, &error) != TACIT_OK)
        fail_msg("%s", error.text);
    return signer;
}

static struct live_keys *keys_of(const char *directory, uint32_t count_max)
{
    struct live_keys *empty = NULL;
    if (live_keys_new(&empty, file_of(directory, "ca", ".crt"), count_max, &error) != TACIT_OK)
        fail_msg("%s", error.text);
    return empty;
}

static int set_up(void **state)
{
    temp_directory_make(base);
    temp_path(home, base, "home");
    temp_path(other, base, "other");
    make(home);
    north = signer_of(home, "north");
    south = signer_of(home, "south");
    keys = keys_of(home, 3);
    return 0;
}

static int tear_down(void **state)
{
    live_keys_free(keys);
    live_signer_close(south);
    live_signer_close(north);
    temp_directory_remove(base);
    return 0;
}

static const char *take(struct live_keys *known, const char *name, const struct live_signer *signer)
{
    size_t size;
    const uint8_t *const certificate = live_signer_certificate(signer, &size);
    return live_keys_add(known, name, certificate, size);
}

/* Is the word taken as one of `name`, when `signer` signed it? */
static bool is_taken(const struct live_keys *known, const char *name,
                     const struct live_signer *signer)
{
    uint8_t signature[LIVE_SIGNATURE_BYTES];
    assert_true(live_signer_sign(signer, TOPIC, word, sizeof word, signature));
    return live_keys_check(known, name, TOPIC, word, sizeof word, signature);
}

/* ---- Keys ---- */

TEST_WITH(whoever_has_the_key_signs_and_nobody_else, set_up, tear_down)
{
    assert_false(live_keys_know(keys, "north"));
    assert_false(is_taken(keys, "north", north));
    assert_null(take(keys, "north", north));
    assert_null(take(keys, "north", north)); /* shown again */
    assert_true(live_keys_know(keys, "north"));
    assert_true(is_taken(keys, "north", north));
    assert_false(is_taken(keys, "north", south));
    assert_false(is_taken(keys, "south", south));
    assert_null(take(keys, "south", south));
    assert_true(is_taken(keys, "south", south));
    assert_false(is_taken(keys, "south", north));
}

TEST_WITH(another_word_topic_or_signature_is_none, set_up, tear_down)
{
    uint8_t signature[LIVE_SIGNATURE_BYTES];
    assert_null(take(keys, "north", north));
    assert_true(live_signer_sign(north, TOPIC, word, sizeof word, signature));
    assert_true(live_keys_check(keys, "north", TOPIC, word, sizeof word, signature));
    assert_false(live_keys_check(keys, "north", TOPIC, word, sizeof word - 1, signature));
    assert_false(live_keys_check(keys, "north", TOPIC "x", word, sizeof word, signature));
    /* the topic's end and the word's beginning are told apart */
    assert_false(live_keys_check(keys, "north", TOPIC "a", word + 1, sizeof word - 1, signature));
    for (size_t i = 0; i < sizeof signature; i++) {
        signature[i] ^= 1;
        assert_false(live_keys_check(keys, "north", TOPIC, word, sizeof word, signature));
        signature[i] ^= 1;
    }
}

TEST_WITH(only_certificates_of_our_ca_for_this_name_and_for_signing_count, set_up, tear_down)
{
    static uint8_t junk[LIVE_CERTIFICATE_BYTES_MAX + 1];
    size_t size;
    make(other);
    struct live_signer *const stranger = signer_of(other, "north");
    assert_string_equal(take(keys, "north", stranger),
                        "its certificate for signing is not of our CA");
    assert_string_equal(take(keys, "south", north),
                        "its certificate for signing is made out to another name");
    const uint8_t *const certificate = live_signer_certificate(north, &size);
    memcpy(junk, certificate, size);
    for (size_t cut = 0; cut < size; cut += 7)
        assert_non_null(live_keys_add(keys, "north", junk, cut));
    assert_non_null(live_keys_add(keys, "north", junk, size + 1));
    assert_non_null(live_keys_add(keys, "north", junk, sizeof junk));
    junk[size - 1] ^= 1; /* of the CA's signature */
    assert_non_null(live_keys_add(keys, "north", junk, size));
    assert_false(live_keys_know(keys, "north"));
    live_signer_close(stranger);
}

/* The pair that opens the broker's door signs no words: who has stolen it is not heard. */
TEST_WITH(the_key_of_the_door_signs_nothing, set_up, tear_down)
{
    struct live_signing_config config = config_of(home, "north");
    struct live_signer *signer = NULL;
    config.certificate_file = file_of(home, "north", ".crt");
    config.key_file = file_of(home, "north", ".key");
    assert_int_equal(live_signer_open(&signer, &config, &error), TACIT_INVALID);
    assert_non_null(strstr(error.text, "is not for signing messages"));
    config = config_of(home, "north");
    config.key_file = file_of(home, "south", ".sign.key");
    assert_int_equal(live_signer_open(&signer, &config, &error), TACIT_INVALID);
    assert_non_null(strstr(error.text, "does not belong to"));
    config = config_of(home, "north");
    config.name = "south";
    assert_int_equal(live_signer_open(&signer, &config, &error), TACIT_INVALID);
    assert_non_null(strstr(error.text, "is not made out to south"));
    config = config_of(home, "north");
    assert_int_equal(chmod(config.key_file, 0640), 0);
    assert_int_equal(live_signer_open(&signer, &config, &error), TACIT_INVALID);
    assert_non_null(strstr(error.text, "is open to others"));
    assert_null(signer);
}

/* As docs/trust.md says it; the password as its file has it. */
TEST_WITH(an_encrypted_key_signs_with_its_password_and_no_other, set_up, tear_down)
{
    static const struct {
        const char *password;
        mode_t mode;
        const char *refusal; /* NULL: it signs */
    } cases[] = {{"open sesame\n", 0600, NULL},
                 {"open sesame", 0600, NULL},
                 {"open sesam\n", 0600, "an encrypted one with another password"},
                 {"", 0600, "has no password in its first line"},
                 {"open sesame\n", 0644, "is open to others"},
                 {NULL, 0, "or an encrypted one"}};
    char command[3 * TEMP_PATH_BYTES];
    char locked[TEMP_PATH_BYTES];
    char password[TEMP_PATH_BYTES];
    temp_path(locked, home, "locked.key");
    temp_path(password, home, "password");
    (void)snprintf(command, sizeof command,
                   "umask 077; openssl pkcs8 -topk8 -in %s -out %s -passout 'pass:open sesame'",
                   file_of(home, "north", ".sign.key"), locked);
    assert_int_equal(system(command), 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct live_signing_config config = config_of(home, "north");
        struct live_signer *signer = NULL;
        config.key_file = locked;
        if (cases[i].password != NULL) {
            temp_file_write(home, "password", cases[i].password);
            assert_int_equal(chmod(password, cases[i].mode), 0);
            config.password_file = password;
        }
        enum tacit_status const opened = live_signer_open(&signer, &config, &error);
        assert_int_equal(opened, cases[i].refusal == NULL ? TACIT_OK : TACIT_INVALID);
        if (cases[i].refusal != NULL) {
            assert_non_null(strstr(error.text, cases[i].refusal));
        } else {
            assert_null(take(keys, "north", signer));
            assert_true(is_taken(keys, "north", signer));
            live_signer_close(signer);
        }
    }
}

static void wait_for_another_second(void)
{
    time_t const now = time(NULL);
    while (time(NULL) == now)
        continue;
}

/* A revoked key is worth nothing as soon as the list was read; a new one takes its place, and an
 * old one does not come back. */
TEST_WITH(revoked_keys_are_forgotten_and_old_ones_do_not_come_back, set_up, tear_down)
{
    struct live_keys *const unaware = keys_of(home, 3); /* never reads the list again */
    assert_null(take(keys, "north", north));
    assert_null(take(unaware, "north", north));
    assert_int_equal(live_pki_revoke(home, names, 1, &error), TACIT_OK);
    wait_for_another_second();
    make(home);
    struct live_signer *const fresh = signer_of(home, "north");
    assert_true(live_keys_refresh(keys));
    assert_false(live_keys_know(keys, "north"));
    assert_string_equal(take(keys, "north", north), "its certificate for signing is revoked");
    assert_null(take(keys, "north", fresh));
    assert_true(is_taken(keys, "north", fresh));
    assert_false(is_taken(keys, "north", north));
    assert_null(take(unaware, "north", fresh));
    assert_string_equal(take(unaware, "north", north),
                        "its certificate for signing is older than the one that is known");
    assert_true(is_taken(unaware, "north", fresh));
    live_signer_close(fresh);
    live_keys_free(unaware);
}

TEST_WITH(a_list_that_is_none_is_refused, set_up, tear_down)
{
    struct live_keys *none = NULL;
    temp_file_write(home, "ca.crl", "not a list\n");
    assert_false(live_keys_refresh(keys));
    assert_int_equal(live_keys_new(&none, file_of(home, "ca", ".crt"), 3, &error), TACIT_INVALID);
    assert_null(none);
}

TEST_WITH(no_more_names_are_kept_than_are_allowed, set_up, tear_down)
{
    struct live_keys *const one = keys_of(home, 1);
    assert_null(take(one, "south", south));
    assert_string_equal(take(one, "north", north), "there is no room for its key");
    assert_false(live_keys_know(one, "north"));
    assert_true(is_taken(one, "south", south));
    live_keys_free(one);
}

/* ---- What a name may cause ---- */

#define S UINT64_C(1000000)

TEST(words_beyond_the_allowance_are_dropped_and_counted)
{
    struct live_sender sender = {0};
    uint64_t heard = 0;
    for (uint32_t i = 0; i < 2 * LIVE_SENDER_MESSAGES_AT_ONCE; i++)
        heard += live_sender_admit(&sender, S);
    assert_int_equal(heard, LIVE_SENDER_MESSAGES_AT_ONCE);
    assert_int_equal(sender.dropped_count, LIVE_SENDER_MESSAGES_AT_ONCE);
    assert_true(live_sender_offends(&sender));
    heard = 0;
    for (uint32_t i = 0; i < 2 * LIVE_SENDER_MESSAGES_A_SECOND; i++)
        heard += live_sender_admit(&sender, 2 * S);
    assert_int_equal(heard, LIVE_SENDER_MESSAGES_A_SECOND);
    for (uint32_t i = 0; i < LIVE_SENDER_MESSAGES_AT_ONCE; i++) /* whole again */
        assert_true(live_sender_admit(&sender, 1000 * S));
}

TEST(words_at_the_allowed_rate_are_all_heard)
{
    struct live_sender sender = {0};
    for (uint64_t i = 0; i < 100000; i++)
        assert_true(live_sender_admit(&sender, i * S / LIVE_SENDER_MESSAGES_A_SECOND));
    assert_int_equal(sender.dropped_count, 0);
    assert_false(live_sender_offends(&sender));
}

TEST(refusals_are_all_counted_but_not_all_told)
{
    struct live_sender sender = {0};
    char line[2 * LIVE_SENDER_WHY_BYTES];
    uint32_t told = 0;
    for (uint32_t i = 0; i < 1000; i++)
        told += live_sender_refuse(&sender, S, i % 2 == 0, "for a reason", line);
    assert_int_equal(told, LIVE_SENDER_LINES_AT_ONCE);
    assert_int_equal(sender.refused_count, 1000);
    assert_int_equal(sender.unsigned_count, 500);
    assert_string_equal(sender.why, "for a reason");
    assert_true(live_sender_refuse(&sender, 61 * S, false, "another", line));
    assert_string_equal(line, "another (and 940 more since the last line)");
    assert_true(live_sender_refuse(&sender, 62 * S, false, "another", line));
    assert_string_equal(line, "another");
}
