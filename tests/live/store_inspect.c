/* A state that is looked at before a daemon is started: what is found is what a start would find
 * (what a start would refuse: store.c), and nothing is written. And the words that say which key of
 * a configuration is another one. */
#include "../support/testing.h"
#include "../../src/live/store/store.h"
#include "../../src/live/store/store_base.h"
#include "../support/fault_vfs.h"
#include "../support/on_file.h"
#include "../support/store_model.h"
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#define AGREED "agreed"
#define AGREED_BYTES_MAX ((off_t)64 << 20)
#define VALUE_SHOWN 80u

/* ---- Helpers --------------------------------------------------------------------------------- */

struct looked {
    enum tacit_status status;
    enum live_store_found found;
    uint64_t batch; /* of what was read */
    bool has_new_config;
    struct tacit_error error;
};

/* Looks, reads what is there, and holds no file open afterwards. */
static struct looked look_at(const char *name, const struct live_store_identity *identity)
{
    struct looked looked = {.found = LIVE_STORE_IN_USE, .error = {.text = ""}};
    struct live_store *store = NULL;
    size_t const open_files = on_file_count("/proc/self/fd");
    looked.status = live_store_inspect(&store, name, identity, &looked.found, &looked.error);
    assert_int_equal(store != NULL, looked.status == TACIT_OK && looked.found == LIVE_STORE_READ);
    assert_int_equal(looked.status == TACIT_OK, looked.error.text[0] == '\0');
    if (store != NULL) {
        looked.batch = store_model_check(store);
        looked.has_new_config = live_store_has_new_config(store);
    }
    live_store_close(store);
    assert_int_equal(on_file_count("/proc/self/fd"), open_files);
    return looked;
}

static struct looked look(void)
{
    struct live_store_identity const identity = store_model_identity();
    return look_at(store_directory, &identity);
}

static void expect_refused_at(const char *name, enum tacit_status status, const char *words)
{
    struct live_store_identity const identity = store_model_identity();
    struct looked const looked = look_at(name, &identity);
    assert_int_equal(looked.status, status);
    store_model_expect_error(&looked.error, name, words);
}

static void expect_refused(enum tacit_status status, const char *words)
{
    expect_refused_at(store_directory, status, words);
}

/* ---- Nothing there --------------------------------------------------------------------------- */

STORE_TEST(where_nothing_is_nothing_is_found_or_made)
{
    char name[TEMP_PATH_BYTES];
    struct live_store_identity const identity = store_model_identity();
    static const char *const names[] = {"state", "state/", "state///"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        temp_path(name, store_around, names[i]);
        struct looked const looked = look_at(name, &identity);
        assert_int_equal(looked.status, TACIT_OK);
        assert_int_equal(looked.found, LIVE_STORE_NONE);
        assert_int_equal(on_file_count(store_around), 0);
    }
    assert_int_equal(look_at("/no-such-state", &identity).status, TACIT_OK);
    assert_int_equal(mkdir(store_directory, 0700), 0);
    assert_int_equal(look().status, TACIT_OK);
    assert_int_equal(look().found, LIVE_STORE_NONE);
    assert_int_equal(on_file_count(store_directory), 0);
    assert_int_equal(chmod(store_directory, 0755), 0);
    expect_refused(TACIT_INVALID, "is open to other users");
}

STORE_TEST(what_could_not_be_made_is_refused)
{
    char name[TEMP_PATH_BYTES];
    temp_path(name, store_around, "no/state");
    expect_refused_at(name, TACIT_IO, "cannot make the state directory: No such file");
    temp_path(name, store_around, "no/state//");
    expect_refused_at(name, TACIT_IO, "cannot make the state directory: No such file");
    temp_file_write(store_around, "file", "x");
    temp_path(name, store_around, "file/state");
    expect_refused_at(name, TACIT_IO, "Not a directory");
}

STORE_TEST(a_relative_name_is_looked_for_here)
{
    char before[TEMP_PATH_BYTES];
    struct live_store_identity const identity = store_model_identity();
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(store_around), 0);
    struct looked const none = look_at("state", &identity);
    store_model_make(2);
    struct looked const there = look_at("state", &identity);
    enum tacit_status const lost = look_at("no/state", &identity).status;
    assert_int_equal(chdir(before), 0);
    assert_int_equal(none.status, TACIT_OK);
    assert_int_equal(none.found, LIVE_STORE_NONE);
    assert_int_equal(there.found, LIVE_STORE_READ);
    assert_int_equal(there.batch, 2);
    assert_int_equal(lost, TACIT_IO);
}

/* ---- A state --------------------------------------------------------------------------------- */

/* Closed, or as it is after a kill. */
STORE_TEST(a_state_is_read_and_stays_as_it_is)
{
    for (unsigned i = 0; i < 16; i++) {
        char name[32]; /* in which a URI would see something else */
        uint64_t const batches = i / 2 + i % 2;
        (void)snprintf(name, sizeof name, "state%%41?#-%u", i);
        temp_path(store_directory, store_around, name);
        store_model_make(batches);
        if (i % 2 == 1) {
            struct store_image killed = store_image_killed(batches);
            store_image_write(store_directory, &killed);
            store_image_free(&killed);
        }
        size_t const files = on_file_count(store_directory);
        struct store_image image = store_image_read(store_directory);
        struct looked const looked = look();
        assert_int_equal(looked.status, TACIT_OK);
        assert_int_equal(looked.found, LIVE_STORE_READ);
        assert_int_equal(looked.batch, batches);
        assert_true((image.log_size > 0) == (i % 2 == 1));
        assert_int_equal(on_file_count(store_directory), files);
        store_image_expect(&image);
        store_image_free(&image);
    }
}

STORE_TEST(nothing_can_be_put_into_what_is_looked_at)
{
    struct store_image image = store_image_killed(3);
    struct live_store_identity const identity = store_model_identity();
    store_model_make(0);
    for (int has_log = 0; has_log < 2; has_log++) {
        struct live_store *store;
        enum live_store_found found;
        struct tacit_error error;
        if (has_log == 1)
            store_image_write(store_directory, &image);
        struct store_image before = store_image_read(store_directory);
        assert_int_equal(live_store_inspect(&store, store_directory, &identity, &found, &error),
                         TACIT_OK);
        assert_int_not_equal(live_store_begin(store), TACIT_OK);
        live_store_close(store);
        store_image_expect(&before);
        store_image_free(&before);
    }
    store_image_free(&image);
}

STORE_TEST(another_configuration_is_seen_when_the_run_has_ended)
{
    struct live_run_row const row = {
        .number = 1, .run = {7}, .begun_unix_s = 1700000000, .ended_unix_s = 1700000001};
    struct live_store_identity other = store_model_identity();
    other.config_digest[5] ^= 1;
    store_model_make(3);
    struct live_store *const store = store_model_open(store_directory);
    assert_int_equal(live_store_begin(store), TACIT_OK);
    assert_int_equal(live_store_put_run(store, &row), TACIT_OK);
    assert_int_equal(live_store_commit(store), TACIT_OK);
    live_store_close(store);
    assert_false(look().has_new_config);
    struct looked const looked = look_at(store_directory, &other);
    assert_int_equal(looked.status, TACIT_OK);
    assert_int_equal(looked.found, LIVE_STORE_READ);
    assert_true(looked.has_new_config);
    other.agreed = "a 2\n"; /* the words are kept when it is taken, not before */
    struct tacit_error error;
    struct live_store *opened;
    char words[TEMP_PATH_BYTES];
    assert_int_equal(live_store_open(&opened, store_directory, &other, &error), TACIT_OK);
    live_store_close(opened);
    temp_path(words, store_directory, AGREED);
    assert_int_equal(access(words, F_OK), -1);
}

/* ---- In use ---------------------------------------------------------------------------------- */

STORE_TEST(of_a_state_in_use_the_words_are_compared)
{
    struct live_store_identity identity = store_model_identity();
    struct live_store *store;
    struct tacit_error error;
    identity.agreed = "run.horizon 1000\n";
    assert_int_equal(live_store_open(&store, store_directory, &identity, &error), TACIT_OK);
    struct looked looked = look_at(store_directory, &identity);
    assert_int_equal(looked.status, TACIT_OK);
    assert_int_equal(looked.found, LIVE_STORE_IN_USE);
    identity.agreed = "run.horizon 5000\n";
    looked = look_at(store_directory, &identity);
    assert_int_equal(looked.status, TACIT_INVALID);
    assert_int_equal(looked.found, LIVE_STORE_IN_USE);
    assert_non_null(strstr(looked.error.text, "run.horizon is 5000, and was 1000"));
    identity.agreed = NULL;
    assert_int_equal(look_at(store_directory, &identity).status, TACIT_OK);
    assert_int_equal(look_at(store_directory, &identity).found, LIVE_STORE_IN_USE);
    char path[TEMP_PATH_BYTES];
    temp_path(path, store_directory, AGREED);
    assert_int_equal(unlink(path), 0);
    identity.agreed = "run.horizon 5000\n";
    assert_int_equal(look_at(store_directory, &identity).status, TACIT_OK); /* no words */
    live_store_close(store);
    identity.agreed = NULL;
    assert_int_equal(look_at(store_directory, &identity).found, LIVE_STORE_READ);
}

/* ---- Words ----------------------------------------------------------------------------------- */

static void compare(const char *kept, const char *wanted, const char *expected)
{
    char bytes[2048];
    struct tacit_text words = tacit_text_init(bytes, sizeof bytes);
    temp_file_write(store_around, AGREED, kept);
    assert_true(store_agreed_compare(store_around, wanted, &words));
    assert_string_equal(bytes, expected);
}

STORE_TEST(the_words_name_each_key_that_differs)
{
    static const char *const known[][3] = {
        {"", "", ""},
        {"a 1\nb 2\n", "a 1\nb 2\n", ""},
        {"a 1\nb 2", "a 1\nb 2\n", ""}, /* the last line's end is no difference */
        {"a 1\n", "a 2\n", "a is 2, and was 1"},
        {"a 1\nb 2\n", "a 1\nb 3\n", "b is 3, and was 2"},
        {"a 1 2\n", "a 1 3\n", "a is 1 3, and was 1 2"},
        {"a 1\n", "a 12\n", "a is 12, and was 1"},
        {"a 12\n", "a 1\n", "a is 1, and was 12"},
        {"a\n", "a 1\n", "a is 1, and was "},
        {"a 1\n", "a\n", "a is , and was 1"},
        {"a\n", "a\n", ""},
        {"a \n", "a\n", ""},
        {"ab 1\n", "ac 1\n", "ac 1 was not there; ab 1 is missing"},
        {"a 1\n", "ab 1\n", "ab 1 was not there; a 1 is missing"},
        {"a 1\nb 2\n", "a 1\n", "b 2 is missing"},
        {"a 1\nb 2\n", "b 2\n", "a 1 is missing"},
        {"a 1\n", "a 1\nb 2\n", "b 2 was not there"},
        {"b 2\n", "a 1\nb 2\n", "a 1 was not there"},
        {"", "a 1\n", "a 1 was not there"},
        {"a 1\n", "", "a 1 is missing"},
        {"a 1\nb 2\n", "b 2\na 1\n", "a 1 is missing; a 1 was not there"},
        {"a 1\nb 2\nc 3\n", "a 1\nx 9\nc 3\n", "x 9 was not there; b 2 is missing"},
        {"a 1\nb 2\nc 3\n", "c 3\n", "a 1 is missing; b 2 is missing"},
        {"a 1\nb 2\nc 3\n", "a 2\nb 3\nc 4\n",
         "a is 2, and was 1; b is 3, and was 2; c is 4, and was 3"},
        {"a 1\nb 2\nc 3\nd 4\n", "a 2\nb 3\nc 4\nd 5\n",
         "a is 2, and was 1; b is 3, and was 2; c is 4, and was 3; and more"},
        {"a 1\nb 2\nc 3\nd 4\n", "a 2\nb 3\nc 4\nd 4\n",
         "a is 2, and was 1; b is 3, and was 2; c is 4, and was 3"},
        {"", "a 1\nb 2\nc 3\nd 4\n",
         "a 1 was not there; b 2 was not there; c 3 was not there; and more"},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        compare(known[i][0], known[i][1], known[i][2]);
}

STORE_TEST(a_long_value_is_cut)
{
    for (size_t size = VALUE_SHOWN - 1; size <= VALUE_SHOWN + 1; size++) {
        char value[VALUE_SHOWN + 2] = "";
        char kept[VALUE_SHOWN + 8];
        char expected[VALUE_SHOWN + 32];
        memset(value, 'v', size);
        (void)snprintf(kept, sizeof kept, "a %s\n", value);
        (void)snprintf(expected, sizeof expected, "a is 1, and was %.80s", value);
        compare(kept, "a 1\n", expected);
        (void)snprintf(expected, sizeof expected, "a is %.80s, and was 1", value);
        compare("a 1\n", kept, expected);
    }
}

static bool knows_words(void)
{
    char bytes[256];
    struct tacit_text words = tacit_text_init(bytes, sizeof bytes);
    bool const is_known = store_agreed_compare(store_around, "a 1\n", &words);
    assert_int_equal(bytes[0] != '\0', is_known); /* the files below hold no "a 1" */
    return is_known;
}

STORE_TEST(what_is_no_plain_file_of_words_has_none)
{
    char path[TEMP_PATH_BYTES];
    char target[TEMP_PATH_BYTES];
    temp_path(path, store_around, AGREED);
    size_t const open_files = on_file_count("/proc/self/fd");
    assert_false(knows_words());
    assert_int_equal(mkdir(path, 0700), 0);
    assert_false(knows_words());
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_false(knows_words());
    assert_int_equal(unlink(path), 0);
    temp_file_write(store_around, "other", "a 2\n");
    temp_path(target, store_around, "other");
    assert_int_equal(symlink(target, path), 0);
    assert_false(knows_words());
    assert_int_equal(unlink(path), 0);
    temp_file_write(store_around, AGREED, "");
    assert_true(knows_words());
    assert_int_equal(truncate(path, AGREED_BYTES_MAX), 0);
    assert_true(knows_words());
    assert_int_equal(truncate(path, AGREED_BYTES_MAX + 1), 0);
    assert_false(knows_words());
    assert_int_equal(on_file_count("/proc/self/fd"), open_files);
}

static ino_t file_number(void)
{
    char path[TEMP_PATH_BYTES];
    struct stat found;
    temp_path(path, store_around, AGREED);
    assert_int_equal(stat(path, &found), 0);
    return found.st_ino;
}

STORE_TEST(words_are_written_when_they_are_others)
{
    char path[TEMP_PATH_BYTES];
    char held[TEMP_PATH_BYTES];
    store_agreed_write(store_around, "a 1\n");
    compare("a 1\n", "a 1\n", "");
    temp_path(path, store_around, AGREED);
    temp_path(held, store_around, "held");
    assert_int_equal(link(path, held), 0); /* so that its number is not given to another one */
    ino_t const first = file_number();
    store_agreed_write(store_around, "a 1\n");
    assert_int_equal(file_number(), first);
    store_agreed_write(store_around, "a 2\n");
    assert_int_not_equal(file_number(), first);
    char bytes[64];
    struct tacit_text words = tacit_text_init(bytes, sizeof bytes);
    assert_true(store_agreed_compare(store_around, "a 3\n", &words));
    assert_string_equal(bytes, "a is 3, and was 2");
}

static void digest_of(const char *text, uint8_t digest[32])
{
    unsigned size = 32;
    assert_int_equal(EVP_Digest(text, strlen(text), digest, &size, EVP_sha256(), NULL), 1);
}

TEST(words_that_were_not_written_whole_are_freed_and_are_no_identity)
{
    struct live_store_identity identity = store_model_identity();
    identity.agreed = "of before";
    assert_int_equal(live_store_identity_agree(&identity, strdup("a 1\n"), false), TACIT_MEMORY);
    assert_null(identity.agreed);
    assert_int_equal(live_store_identity_agree(&identity, NULL, false), TACIT_MEMORY);
    uint8_t digest[32];
    digest_of("a 1\n", digest);
    assert_int_equal(live_store_identity_agree(&identity, strdup("a 1\n"), true), TACIT_OK);
    assert_string_equal(identity.agreed, "a 1\n");
    assert_memory_equal(identity.config_digest, digest, sizeof digest);
    live_store_identity_free(&identity);
    assert_null(identity.agreed);
}

/* The words count only if they are those of the digest that the state was made with. */
STORE_TEST(words_of_another_digest_say_nothing)
{
    static const char kept[] = "run.horizon 1000\n";
    static const char wanted[] = "run.horizon 5000\n";
    uint8_t digest[32];
    char bytes[128];
    struct tacit_text words = tacit_text_init(bytes, sizeof bytes);
    digest_of(kept, digest);
    assert_false(store_agreed_differ(store_around, digest, wanted, &words)); /* no file */
    temp_file_write(store_around, AGREED, kept);
    assert_false(store_agreed_differ(store_around, digest, NULL, &words));
    digest[31] ^= 1;
    assert_false(store_agreed_differ(store_around, digest, wanted, &words));
    assert_string_equal(bytes, "");
    digest[31] ^= 1;
    assert_true(store_agreed_differ(store_around, digest, wanted, &words));
    assert_string_equal(bytes, "run.horizon is 5000, and was 1000");
}

STORE_TEST(a_refusal_names_the_key_if_the_words_are_known)
{
    struct live_store_identity identity = store_model_identity();
    struct live_store_identity other = identity;
    struct live_store *store;
    struct tacit_error error;
    identity.agreed = "run.horizon 1000\n";
    other.agreed = "run.horizon 5000\n";
    digest_of(identity.agreed, identity.config_digest);
    digest_of(other.agreed, other.config_digest);
    assert_int_equal(live_store_open(&store, store_directory, &identity, &error), TACIT_OK);
    assert_int_equal(store_model_batch(store, 1), TACIT_OK);
    live_store_close(store);
    assert_int_equal(live_store_open(&store, store_directory, &other, &error), TACIT_INVALID);
    assert_non_null(strstr(error.text, "made with: run.horizon is 5000, and was 1000; another"));
    struct looked const looked = look_at(store_directory, &other);
    assert_int_equal(looked.status, TACIT_INVALID);
    assert_non_null(strstr(looked.error.text, "run.horizon is 5000, and was 1000"));
    other.agreed = NULL;
    assert_int_equal(live_store_open(&store, store_directory, &other, &error), TACIT_INVALID);
    assert_non_null(strstr(error.text, "made with: its digest was "));
    assert_int_equal(look_at(store_directory, &identity).status, TACIT_OK);
}

int main(void)
{
    fault_vfs_register();
    fault_vfs_skip_syncs(true);
    return testing_run(NULL, NULL);
}
