/* The store's contract: what is kept, what is refused, and that a refused directory stays as it
 * was. Crashes and failing disks are in store_faults.c. */
#include "../support/testing.h"
#include "../../src/live/store/store.h"
#include "../../src/live/store/store_base.h"
#include "../support/effort.h"
#include "../support/fault_vfs.h"
#include "../support/on_file.h"
#include "../support/skip.h"
#include "../support/store_model.h"
#include "../support/temp.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SOMEBODY_ELSE 12345u
#define LOG_BYTES_PER_FRAME 4120u

/* ---- Helpers -------------------------------------------------------------------------------- */

/* Who looks before a start hears what the start would say. */
static enum tacit_status try_open_as(const char *name, const struct live_store_identity *identity,
                                     struct tacit_error *error)
{
    struct live_store *store = NULL;
    enum live_store_found found = LIVE_STORE_NONE;
    struct tacit_error seen = {.text = ""};
    enum tacit_status const inspected = live_store_inspect(&store, name, identity, &found, &seen);
    live_store_close(store);
    store = NULL;
    *error = (struct tacit_error){.text = ""};
    enum tacit_status const status = live_store_open(&store, name, identity, error);
    assert_int_equal(status == TACIT_OK, store != NULL);
    live_store_close(store);
    if (found != LIVE_STORE_IN_USE)
        assert_int_equal(inspected, status);
    if (inspected != TACIT_OK && inspected != TACIT_IO)
        assert_string_equal(seen.text, error->text);
    return status;
}

static void expect_refused_at(const char *name, enum tacit_status status, const char *reason)
{
    struct live_store_identity const identity = store_model_identity();
    struct tacit_error error;
    assert_int_equal(try_open_as(name, &identity, &error), status);
    store_model_expect_error(&error, name, reason);
}

static void expect_refused(enum tacit_status status, const char *reason)
{
    expect_refused_at(store_directory, status, reason);
}

static void expect_batch(uint64_t batch)
{
    struct live_store *const store = store_model_open(store_directory);
    assert_int_equal(store_model_check(store), batch);
    live_store_close(store);
}

static void set_mode(const char *name, mode_t mode)
{
    assert_int_equal(chmod(store_path(name), mode), 0);
}

static mode_t mode_of(const char *name)
{
    struct stat found;
    assert_int_equal(stat(store_path(name), &found), 0);
    return found.st_mode & 07777u;
}

static void write_private(const char *name, const void *bytes, size_t size)
{
    temp_file_write_bytes(store_directory, name, bytes, size);
    set_mode(name, 0600);
}

static void remove_file(const char *name)
{
    assert_int_equal(unlink(store_path(name)), 0);
}

/* Somebody with SQLite's shell. */
static int shell(const char *sql)
{
    sqlite3 *database = NULL;
    assert_int_equal(sqlite3_open(store_path(STORE_FILE), &database), SQLITE_OK);
    int const code = sqlite3_exec(database, sql, NULL, NULL, NULL);
    assert_int_equal(sqlite3_close(database), SQLITE_OK);
    set_mode(STORE_FILE, 0600);
    return code;
}

static struct live_store *begun(void)
{
    struct live_store *const store = store_model_open(store_directory);
    assert_int_equal(live_store_begin(store), TACIT_OK);
    return store;
}

/* The batch is there when the store is opened again. */
static struct live_store *committed(struct live_store *store)
{
    assert_int_equal(live_store_commit(store), TACIT_OK);
    live_store_close(store);
    return store_model_open(store_directory);
}

/* ---- What is kept --------------------------------------------------------------------------- */

STORE_TEST_FAULTY(a_batch_without_commit_leaves_nothing)
{
    store_model_make(3);
    struct live_store *const store = begun();
    assert_int_equal(live_store_put_value(store, "batch", 99), TACIT_OK);
    assert_int_equal(live_store_put_core(store, "x", 1), TACIT_OK);
    live_store_close(store);
    expect_batch(3);
}

STORE_TEST_FAULTY(values_keep_all_64_bits)
{
    static const uint64_t values[] = {0, 1, INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        struct live_store *store = begun();
        assert_int_equal(live_store_put_value(store, "v", values[i]), TACIT_OK);
        store = committed(store);
        uint64_t value = 7;
        bool found = false;
        assert_int_equal(live_store_get_value(store, "v", &value, &found), TACIT_OK);
        assert_true(found);
        assert_true(value == values[i]);
        assert_int_equal(live_store_get_value(store, "w", &value, &found), TACIT_OK);
        assert_false(found);
        assert_true(value == values[i]);
        live_store_close(store);
    }
}

static void expect_core(struct live_store *store, const uint8_t *bytes, size_t size)
{
    size_t kept_size;
    void *kept;
    assert_int_equal(live_store_copy_core(store, &kept, &kept_size), TACIT_OK);
    assert_int_equal(kept_size, size);
    assert_true(size == 0 || memcmp(kept, bytes, size) == 0);
    free(kept);
}

static off_t log_bytes(void)
{
    struct stat found;
    return stat(store_path(STORE_LOG), &found) == 0 ? found.st_size : 0;
}

/* The hub of a thousand sites: each report changes a row. */
STORE_TEST_FAULTY(a_small_change_of_a_large_core_writes_little)
{
    static uint8_t bytes[800000];
    struct live_store *store = begun();
    assert_int_equal(live_store_put_core(store, bytes, sizeof bytes), TACIT_OK);
    assert_int_equal(live_store_commit(store), TACIT_OK);
    live_store_close(store);
    assert_int_equal(log_bytes(), 0);
    store = store_model_open(store_directory);
    for (size_t change = 0; change < 20; change++) {
        memset(bytes + change * 40001, (int)change + 1, 800);
        assert_int_equal(live_store_begin(store), TACIT_OK);
        assert_int_equal(live_store_put_core(store, bytes, sizeof bytes), TACIT_OK);
        assert_int_equal(live_store_commit(store), TACIT_OK);
        expect_core(store, bytes, sizeof bytes);
    }
    assert_true(log_bytes() < (off_t)(20 * 5 * LOG_BYTES_PER_FRAME));
    off_t const before = log_bytes();
    assert_int_equal(live_store_begin(store), TACIT_OK);
    assert_int_equal(live_store_put_core(store, bytes, sizeof bytes), TACIT_OK);
    assert_int_equal(live_store_commit(store), TACIT_OK);
    assert_int_equal(log_bytes(), before); /* nothing changed: nothing is written */
    live_store_close(store);
    store = store_model_open(store_directory);
    expect_core(store, bytes, sizeof bytes);
    live_store_close(store);
}

STORE_TEST_FAULTY(a_core_may_grow_and_shrink)
{
    static const size_t sizes[] = {1, 3999, 4000, 4001, 12000, 8000, 1, 50000, 3u << 20};
    static uint8_t bytes[3u << 20];
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (size_t at = 0; at < sizes[i]; at++)
            bytes[at] = (uint8_t)((at * at >> 3) + i);
        struct live_store *store = begun();
        assert_int_equal(live_store_put_core(store, bytes, sizes[i]), TACIT_OK);
        store = committed(store);
        expect_core(store, bytes, sizes[i]);
        live_store_close(store);
    }
}

struct unit_list {
    char text[64];
};

static bool add_unit(void *context, const char *unit, uint32_t arm)
{
    struct unit_list *const list = context;
    size_t const size = strlen(list->text);
    (void)snprintf(list->text + size, sizeof list->text - size, "%s=%u ", unit, (unsigned)arm);
    return true;
}

STORE_TEST_FAULTY(units_come_back_in_the_order_in_which_they_were_put)
{
    struct live_store *store = begun();
    assert_int_equal(live_store_put_unit(store, "zoe", 1), TACIT_OK);
    assert_int_equal(live_store_put_unit(store, "ann", 2), TACIT_OK);
    assert_int_equal(live_store_put_unit(store, "bob", 3), TACIT_OK);
    assert_int_equal(live_store_put_unit(store, "zoe", 4), TACIT_OK);
    assert_int_equal(live_store_drop_unit(store, "ann"), TACIT_OK);
    assert_int_equal(live_store_drop_unit(store, "nobody"), TACIT_OK);
    assert_int_equal(live_store_put_unit(store, "cat", 5), TACIT_OK);
    store = committed(store);
    struct unit_list list = {""};
    assert_int_equal(live_store_units(store, add_unit, &list), TACIT_OK);
    assert_string_equal(list.text, "bob=3 zoe=4 cat=5 ");
    live_store_close(store);
}

static bool stop_at_first(void *context, const struct live_release *release)
{
    ++*(int *)context;
    return false;
}

STORE_TEST_FAULTY(a_walk_stops_when_told)
{
    store_model_make(3);
    struct live_store *const store = store_model_open(store_directory);
    int seen = 0;
    assert_int_equal(live_store_releases(store, stop_at_first, &seen), TACIT_OK);
    assert_int_equal(seen, 1);
    assert_int_equal(store_model_batch(store, 4), TACIT_OK);
    assert_int_equal(store_model_check(store), 4);
    live_store_close(store);
}

STORE_TEST_FAULTY(what_is_out_of_range_is_refused_and_harms_nothing)
{
    store_model_make(1);
    char text[STORE_TEXT_BYTES_MAX + 2];
    memset(text, 'x', sizeof text);
    text[STORE_TEXT_BYTES_MAX + 1] = '\0';
    uint8_t const byte = 1;
    struct live_decision_row const rows[] = {{.number = UINT64_MAX, .salt = 1},
                                             {.number = 100, .salt = 100, .key = text},
                                             {.number = 100, .salt = 100, .unit = text}};
    struct live_release const releases[] = {
        {.number = UINT64_MAX, .bytes = &byte, .size = 1},
        {.number = 9, .epsilon_nano = UINT64_MAX, .bytes = &byte, .size = 1},
        {.number = 9, .bytes = &byte, .size = 0}};
    struct live_store *const store = begun();
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(live_store_put_decision(store, &rows[i]), TACIT_INVALID);
        assert_int_equal(live_store_put_release(store, &releases[i]), TACIT_INVALID);
    }
    assert_int_equal(live_store_put_core(store, &byte, 0), TACIT_INVALID);
    assert_int_equal(live_store_put_unit(store, text, 0), TACIT_INVALID);
    assert_int_equal(live_store_put_unit(store, "", 0), TACIT_INVALID);
    assert_int_equal(live_store_put_value(store, "", 0), TACIT_INVALID);
    assert_int_equal(live_store_commit(store), TACIT_OK);
    assert_int_equal(store_model_check(store), 1);
    assert_int_equal(live_store_begin(store), TACIT_OK);
    text[STORE_TEXT_BYTES_MAX] = '\0'; /* the longest that may be */
    struct live_decision_row const greatest = {.number = INT64_MAX,
                                               .salt = UINT64_MAX,
                                               .arm = UINT32_MAX,
                                               .kind = 255,
                                               .state = 255,
                                               .key = text,
                                               .unit = text};
    assert_int_equal(live_store_put_decision(store, &greatest), TACIT_OK);
    assert_int_equal(live_store_put_unit(store, text, UINT32_MAX), TACIT_OK);
    assert_int_equal(live_store_commit(store), TACIT_OK);
    live_store_close(store);
    live_store_close(store_model_open(store_directory));
}

struct whole_row {
    struct live_decision_row row;
    unsigned count;
};

static bool expect_whole_row(void *context, const struct live_decision_row *row)
{
    struct whole_row *const expected = context;
    store_model_expect_row(row, &expected->row);
    expected->count++;
    return true;
}

STORE_TEST_FAULTY(a_decision_comes_back_whole)
{
    struct whole_row expected = {.row = {.number = STORE_KEY_MAX,
                                         .salt = STORE_KEY_MAX,
                                         .arm = UINT32_MAX,
                                         .kind = 254,
                                         .state = 253,
                                         .opened_ms = UINT64_MAX,
                                         .deadline_ms = UINT64_MAX - 1,
                                         .value = -0.0,
                                         .key = "", /* an empty text is not none */
                                         .unit = "",
                                         .kept = (const uint8_t *)"\0kept",
                                         .kept_size = 5}};
    struct live_store *store = begun();
    assert_int_equal(live_store_put_decision(store, &expected.row), TACIT_OK);
    store = committed(store);
    assert_int_equal(live_store_decisions(store, expect_whole_row, &expected), TACIT_OK);
    assert_int_equal(expected.count, 1);
    live_store_close(store);
}

static bool has_value(struct live_store *store, const char *name)
{
    uint64_t value = 0;
    bool found = false;
    assert_int_equal(live_store_get_value(store, name, &value, &found), TACIT_OK);
    assert_int_equal(value, found ? 5 : 0);
    return found;
}

STORE_TEST_FAULTY(values_are_dropped_by_their_pattern)
{
    static const char *const names[] = {"missed 1", "missed 22", "missed", "other"};
    struct live_store *const store = begun();
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(live_store_put_value(store, names[i], 5), TACIT_OK);
    assert_int_equal(live_store_drop_values(store, "missed *"), TACIT_OK);
    assert_int_equal(live_store_commit(store), TACIT_OK);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(has_value(store, names[i]), i >= 2);
    uint64_t value;
    bool found;
    assert_int_equal(live_store_get_value(store, "", &value, &found), TACIT_INVALID);
    live_store_close(store);
}

STORE_TEST_FAULTY(the_greatest_numbers_are_taken_and_the_next_ones_refused)
{
    uint8_t const byte = 1;
    struct live_release release = {
        .number = STORE_KEY_MAX, .epsilon_nano = STORE_KEY_MAX, .bytes = &byte, .size = 1};
    struct live_run_row run = {
        .number = STORE_KEY_MAX, .releases_before = STORE_KEY_MAX, .result = &byte};
    struct live_store *const store = begun();
    assert_true(store_is_blob(&byte, 1) && store_is_blob(&byte, STORE_BLOB_BYTES_MAX));
    assert_false(store_is_blob(&byte, 0) || store_is_blob(NULL, 1) ||
                 store_is_blob(&byte, STORE_BLOB_BYTES_MAX + 1));
    assert_int_equal(live_store_put_release(store, &release), TACIT_OK);
    run.result_size = STORE_BLOB_BYTES_MAX + 1;
    assert_int_equal(live_store_put_run(store, &run), TACIT_INVALID);
    run.result_size = 1;
    assert_int_equal(live_store_put_run(store, &run), TACIT_OK);
    run.number++;
    assert_int_equal(live_store_put_run(store, &run), TACIT_INVALID);
    run.number--;
    run.releases_before++;
    assert_int_equal(live_store_put_run(store, &run), TACIT_INVALID);
    assert_int_equal(live_store_put_count(store, "one", STORE_KEY_MAX), TACIT_OK);
    assert_int_equal(live_store_put_count(store, "one", STORE_KEY_MAX + 1), TACIT_INVALID);
    assert_int_equal(live_store_commit(store), TACIT_OK);
    uint64_t count = 0;
    assert_int_equal(live_store_get_count(store, "one", &count), TACIT_OK);
    assert_true(count == STORE_KEY_MAX);
    assert_true(live_store_newest_release(store) == STORE_KEY_MAX);
    live_store_close(store);
    live_store_close(store_model_open(store_directory));
}

/* ---- Releases are written once --------------------------------------------------------------- */

static struct live_release some_release(void)
{
    return (struct live_release){.number = 5,
                                 .epsilon_nano = 250000000,
                                 .bytes = (const uint8_t *)"noised",
                                 .size = 6,
                                 .made_unix_s = 1700000000};
}

static bool copy_release(void *context, const struct live_release *release)
{
    struct live_release *const copy = context;
    *copy = *release;
    assert_int_equal(release->size, 6);
    assert_memory_equal(release->bytes, "noised", 6);
    return true;
}

STORE_TEST_FAULTY(a_release_never_changes)
{
    struct live_release const first = some_release();
    struct live_release others[] = {first, first, first, first};
    struct live_store *store = begun();
    assert_int_equal(live_store_put_release(store, &first), TACIT_OK);
    assert_int_equal(live_store_commit(store), TACIT_OK);
    live_store_close(store);
    store = begun();
    others[0].bytes = (const uint8_t *)"Noised";
    others[1].size--;
    others[2].epsilon_nano--;
    others[3].made_unix_s++; /* the same release, told again later: the first time counts */
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(live_store_put_release(store, &others[i]),
                         i < 3 ? TACIT_INVALID : TACIT_OK);
    assert_int_equal(live_store_put_release(store, &first), TACIT_OK);
    assert_int_equal(live_store_commit(store), TACIT_OK);
    assert_false(live_store_is_broken(store));
    struct live_release kept;
    assert_int_equal(live_store_releases(store, copy_release, &kept), TACIT_OK);
    assert_int_equal(kept.epsilon_nano, first.epsilon_nano);
    assert_int_equal(kept.made_unix_s, first.made_unix_s);
    live_store_close(store);
}

STORE_TEST_FAULTY(an_acknowledgement_stays)
{
    struct live_release const release = some_release();
    struct live_store *store = begun();
    assert_int_equal(live_store_put_release(store, &release), TACIT_OK);
    assert_int_equal(live_store_acknowledge(store, 6), TACIT_INVALID);
    assert_int_equal(live_store_acknowledge(store, 5), TACIT_OK);
    assert_int_equal(live_store_acknowledge(store, 5), TACIT_OK);
    assert_int_equal(live_store_put_release(store, &release), TACIT_OK);
    store = committed(store);
    struct live_release kept;
    assert_int_equal(live_store_releases(store, copy_release, &kept), TACIT_OK);
    assert_true(kept.acknowledged);
    live_store_close(store);
}

STORE_TEST_FAULTY(a_shell_cannot_change_a_release_by_accident)
{
    store_model_make(3);
    assert_int_not_equal(shell("DELETE FROM releases"), SQLITE_OK);
    assert_int_not_equal(shell("UPDATE releases SET bytes = x'00'"), SQLITE_OK);
    assert_int_not_equal(shell("UPDATE releases SET epsilon_nano = 1 WHERE number = 2"), SQLITE_OK);
    assert_int_not_equal(shell("UPDATE releases SET acknowledged = 0"), SQLITE_OK);
    expect_batch(3);
}

STORE_TEST_FAULTY(a_shell_is_kept_out_while_the_store_is_open)
{
    struct live_store *const store = store_model_open(store_directory);
    pid_t const child = fork(); /* another process: SQLite's locks do not hold within one */
    if (child == 0) {
        if (shell("SELECT * FROM core") == SQLITE_BUSY)
            (void)raise(SIGKILL); /* not exit: memory checkers have a say in that */
        _exit(1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    live_store_close(store);
}

/* ---- How it is opened ------------------------------------------------------------------------ */

static int setting_of(struct live_store *store, int which)
{
    int value = -1;
    assert_int_equal(sqlite3_db_config(store->database, which, -1, &value), SQLITE_OK);
    return value;
}

STORE_TEST_FAULTY(the_database_is_opened_strictly)
{
    struct live_store *const store = store_model_open(store_directory);
    assert_int_equal(setting_of(store, SQLITE_DBCONFIG_DEFENSIVE), 1);
    assert_int_equal(setting_of(store, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE), 1);
    assert_int_equal(setting_of(store, SQLITE_DBCONFIG_TRUSTED_SCHEMA), 0);
    assert_int_equal(setting_of(store, SQLITE_DBCONFIG_DQS_DML), 0);
    assert_int_equal(setting_of(store, SQLITE_DBCONFIG_DQS_DDL), 0);
    live_store_close(store);
}

STORE_TEST_FAULTY(what_is_opened_is_closed)
{
    size_t const before = on_file_count("/proc/self/fd");
    store_model_make(3);
    assert_int_equal(on_file_count("/proc/self/fd"), before);
    write_private(STORE_FILE "-witness", "damaged", 7);
    expect_refused(TACIT_MALFORMED, "-witness is damaged");
    assert_int_equal(on_file_count("/proc/self/fd"), before);
    remove_file(STORE_FILE "-witness");
    write_private(STORE_FILE, "", 0);
    expect_refused(TACIT_MALFORMED, "is empty");
    assert_int_equal(on_file_count("/proc/self/fd"), before);
}

STORE_TEST_FAULTY(what_a_making_left_that_was_cut_short_goes)
{
    static const char *const names[] = {STORE_NEW, STORE_NEW "-journal", STORE_NEW "-wal"};
    assert_int_equal(mkdir(store_directory, 0700), 0);
    for (size_t i = 0; i < 3; i++)
        write_private(names[i], "left", 4);
    store_model_make(2);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(access(store_path(names[i]), F_OK), -1);
    expect_batch(2);
}

/* ---- Who may come in ------------------------------------------------------------------------- */

STORE_TEST_FAULTY(a_new_directory_is_private_whatever_the_umask)
{
    static const mode_t masks[] = {0, 0277};
    for (size_t i = 0; i < 2; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "mask-%zu", i);
        temp_path(store_directory, store_around, name);
        mode_t const before = umask(masks[i]);
        struct live_store *const store = store_model_open(store_directory);
        (void)umask(before);
        assert_int_equal(store_model_batch(store, 1), TACIT_OK);
        assert_int_equal(mode_of("."), 0700);
        assert_int_equal(mode_of(STORE_FILE), 0600);
        assert_int_equal(mode_of(STORE_LOG), 0600);
        assert_int_equal(mode_of("lock"), 0600);
        live_store_close(store);
        expect_batch(1);
    }
}

STORE_TEST_FAULTY(a_directory_open_to_others_is_refused)
{
    static const mode_t modes[] = {0701, 0702, 0704, 0710, 0720, 0740, 0755, 0777};
    store_model_make(1);
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        set_mode(".", modes[i]);
        expect_refused(TACIT_INVALID, "is open to other users");
    }
    set_mode(".", 0700);
    expect_batch(1);
}

STORE_TEST_FAULTY(files_open_to_others_are_refused)
{
    static const char *const names[] = {STORE_FILE, STORE_LOG, "lock"};
    struct store_image image = store_image_killed(2);
    store_model_make(1);
    store_image_write(store_directory, &image);
    for (size_t i = 0; i < 3; i++) {
        set_mode(names[i], 0640);
        expect_refused(TACIT_INVALID, "is open to other users");
        set_mode(names[i], 0604);
        expect_refused(TACIT_INVALID, names[i]);
        set_mode(names[i], 0600);
    }
    expect_batch(2);
    store_image_free(&image);
}

STORE_TEST_FAULTY(somebody_elses_files_are_refused)
{
    if (geteuid() != 0)
        SKIP_BECAUSE("only root can give files away");
    store_model_make(1);
    assert_int_equal(chown(store_path(STORE_FILE), SOMEBODY_ELSE, SOMEBODY_ELSE), 0);
    expect_refused(TACIT_INVALID, "belongs to user 12345");
    assert_int_equal(chown(store_path(STORE_FILE), 0, 0), 0);
    assert_int_equal(chown(store_directory, SOMEBODY_ELSE, SOMEBODY_ELSE), 0);
    expect_refused(TACIT_INVALID, "belongs to user 12345");
    assert_int_equal(chown(store_directory, 0, 0), 0);
    expect_batch(1);
}

STORE_TEST_FAULTY(links_are_refused)
{
    store_model_make(1);
    char link_path[TEMP_PATH_BYTES];
    char slashed[TEMP_PATH_BYTES];
    temp_path(link_path, store_around, "link");
    temp_path(slashed, store_around, "link//");
    assert_int_equal(symlink(store_directory, link_path), 0);
    expect_refused_at(link_path, TACIT_INVALID, "is a symbolic link");
    expect_refused_at(slashed, TACIT_INVALID, "is a symbolic link");
    static const char *const names[] = {STORE_FILE, "lock"};
    for (size_t i = 0; i < 2; i++) {
        char elsewhere[TEMP_PATH_BYTES];
        temp_path(elsewhere, store_around, names[i]);
        assert_int_equal(rename(store_path(names[i]), elsewhere), 0);
        assert_int_equal(symlink(elsewhere, store_path(names[i])), 0);
        expect_refused(TACIT_INVALID, "is a symbolic link");
        assert_int_equal(rename(elsewhere, store_path(names[i])), 0);
    }
    expect_batch(1);
}

STORE_TEST_FAULTY(other_things_in_place_of_ours_are_refused)
{
    temp_file_write(store_around, "state", "a file");
    expect_refused(TACIT_INVALID, "is not a directory");
    assert_int_equal(unlink(store_directory), 0);
    assert_int_equal(mkdir(store_directory, 0700), 0);
    assert_int_equal(mkdir(store_path(STORE_FILE), 0700), 0);
    expect_refused(TACIT_INVALID, "is not a plain file");
    char path[TEMP_PATH_BYTES];
    temp_path(path, store_around, "no/such/parent");
    expect_refused_at(path, TACIT_IO, "No such file or directory");
}

STORE_TEST_FAULTY(the_name_of_the_directory_does_not_matter)
{
    static const char *const names[] = {"file:state?mode=memory", "a b%20c'\"#&", ":memory:"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        temp_path(store_directory, store_around, names[i]);
        store_model_make(2);
        expect_batch(2);
        assert_int_equal(mode_of(STORE_FILE), 0600);
    }
}

STORE_TEST_FAULTY(a_relative_directory_outlives_a_change_of_place)
{
    char before[TEMP_PATH_BYTES];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(store_around), 0);
    struct live_store *const store = store_model_open("state");
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(store_model_batch(store, 1), TACIT_OK);
    live_store_close(store);
    assert_int_equal(chdir(before), 0);
    expect_batch(1);
}

/* ---- One process at a time ------------------------------------------------------------------- */

/* A child that holds the store until it is killed. */
static pid_t start_holder(void)
{
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    pid_t const child = fork();
    if (child == 0) {
        struct live_store_identity const identity = store_model_identity();
        struct tacit_error error;
        struct live_store *store;
        bool const is_open =
            live_store_open(&store, store_directory, &identity, &error) == TACIT_OK;
        (void)!write(ready[1], is_open ? "y" : "n", 1);
        for (;;)
            (void)pause();
    }
    char answer;
    assert_int_equal(read(ready[0], &answer, 1), 1);
    assert_int_equal(answer, 'y');
    (void)close(ready[0]);
    (void)close(ready[1]);
    return child;
}

STORE_TEST_FAULTY(a_second_process_is_told_who_holds_it)
{
    store_model_make(2);
    for (int i = 0; i < 3; i++) {
        pid_t const holder = start_holder();
        char reason[64];
        (void)snprintf(reason, sizeof reason, "is in use by process %ld", (long)holder);
        expect_refused(TACIT_INVALID, reason);
        assert_int_equal(kill(holder, SIGKILL), 0);
        assert_int_equal(waitpid(holder, NULL, 0), holder);
        expect_batch(2);
    }
}

STORE_TEST_FAULTY(a_second_store_in_the_same_process_is_refused)
{
    struct live_store *const store = store_model_open(store_directory);
    char reason[64];
    (void)snprintf(reason, sizeof reason, "is in use by process %ld", (long)getpid());
    expect_refused(TACIT_INVALID, reason);
    assert_int_equal(store_model_batch(store, 1), TACIT_OK);
    live_store_close(store);
    expect_batch(1);
}

/* ---- Whose state it is ----------------------------------------------------------------------- */

static void expect_stranger(const struct live_store_identity *identity, const char *field,
                            const char *kept, const char *wanted)
{
    struct tacit_error error;
    assert_int_equal(try_open_as(store_directory, identity, &error), TACIT_INVALID);
    const char *const parts[] = {store_directory, field, kept, wanted};
    for (size_t i = 0; i < 4; i++)
        if (strstr(error.text, parts[i]) == NULL)
            fail_msg("\"%s\" lacks \"%s\"", error.text, parts[i]);
}

STORE_TEST_FAULTY(another_identity_is_told_what_differs)
{
    store_model_make(2);
    struct live_store_identity others[4];
    for (size_t i = 0; i < 4; i++)
        others[i] = store_model_identity();
    others[0].role = "coordinator";
    others[0].site = "";
    others[1].federation = "lungs";
    others[2].site = "clinic-8";
    others[3].config_digest[31] ^= 1;
    expect_stranger(&others[0], "role", "\"agent\"", "\"coordinator\"");
    expect_stranger(&others[1], "federation", "\"hearts\"", "\"lungs\"");
    expect_stranger(&others[2], "site", "\"clinic-7\"", "\"clinic-8\"");
    expect_stranger(&others[3], "configuration", "01080f16", "d3db");
    expect_batch(2);
}

STORE_TEST_FAULTY(a_coordinator_has_no_site)
{
    struct live_store_identity identity = store_model_identity();
    identity.role = "coordinator";
    identity.site = "";
    struct tacit_error error;
    assert_int_equal(try_open_as(store_directory, &identity, &error), TACIT_OK);
    assert_int_equal(try_open_as(store_directory, &identity, &error), TACIT_OK);
    expect_refused(TACIT_INVALID, "another role");
    identity.config_digest[0] ^= 1; /* its run begins with its state */
    assert_int_equal(try_open_as(store_directory, &identity, &error), TACIT_INVALID);
}

STORE_TEST_FAULTY(another_format_is_refused)
{
    store_model_make(2);
    for (unsigned format = 0; format <= 12; format++) {
        char sql[40];
        char words[24];
        (void)snprintf(sql, sizeof sql, "PRAGMA user_version = %u", format);
        (void)snprintf(words, sizeof words, "has format %u", format);
        assert_int_equal(shell(sql), SQLITE_OK);
        if (format != 11)
            expect_refused(TACIT_INVALID, words);
    }
    assert_int_equal(shell("PRAGMA user_version = 10"), SQLITE_OK); /* ids were drawn whole */
    expect_refused(TACIT_INVALID, "end the runs of this state with the version of the program");
    assert_int_equal(shell("PRAGMA user_version = 11"), SQLITE_OK);
    expect_batch(2);
    assert_int_equal(shell("PRAGMA application_id = 7"), SQLITE_OK);
    expect_refused(TACIT_MALFORMED, "another program");
}

/* ---- Entries --------------------------------------------------------------------------------- */

static void expect_entry(struct live_store *store, const uint8_t *run, const char *expected)
{
    uint8_t *bytes;
    size_t size;
    assert_int_equal(live_store_get_entry(store, run, &bytes, &size), TACIT_OK);
    assert_int_equal(size, expected == NULL ? 0 : strlen(expected));
    if (expected != NULL)
        assert_memory_equal(bytes, expected, size);
    free(bytes);
}

STORE_TEST_FAULTY(the_newest_entry_of_each_run_is_kept)
{
    static const uint8_t runs[3][LIVE_STORE_RUN_BYTES] = {{1}, {2}, {0}};
    struct live_store *store = store_model_open(store_directory);
    assert_int_equal(live_store_begin(store), TACIT_OK);
    assert_int_equal(live_store_put_entry(store, runs[0], (const uint8_t *)"one", 3), TACIT_OK);
    assert_int_equal(live_store_put_entry(store, runs[1], (const uint8_t *)"two", 3), TACIT_OK);
    assert_int_equal(live_store_put_entry(store, runs[0], (const uint8_t *)"later", 5), TACIT_OK);
    assert_int_equal(live_store_put_entry(store, runs[2], (const uint8_t *)"", 0), TACIT_INVALID);
    store = committed(store);
    expect_entry(store, runs[0], "later");
    expect_entry(store, runs[1], "two");
    expect_entry(store, runs[2], NULL);
    live_store_close(store);
    assert_int_equal(shell("UPDATE entries SET bytes = x'00'"), SQLITE_OK);
    expect_refused(TACIT_MALFORMED, "entries");
}

/* ---- Runs ------------------------------------------------------------------------------------ */

static struct live_run_row const first_run = {
    .number = 1, .run = {1, 2, 3}, .releases_before = 0, .begun_unix_s = 1700000000};

static bool keep_run(void *context, const struct live_run_row *row)
{
    struct live_run_row *const kept = context;
    *kept = *row;
    kept->result = NULL;
    return true;
}

static struct live_run_row last_run(struct live_store *store)
{
    struct live_run_row row = {0};
    assert_int_equal(live_store_runs(store, keep_run, &row), TACIT_OK);
    return row;
}

static enum tacit_status put_run(struct live_store *store, const struct live_run_row *row)
{
    assert_int_equal(live_store_begin(store), TACIT_OK);
    enum tacit_status const status = live_store_put_run(store, row);
    return status == TACIT_OK ? live_store_commit(store) : status;
}

STORE_TEST_FAULTY(a_run_begins_ends_and_never_changes)
{
    struct live_run_row row = first_run;
    struct live_store *store = store_model_open(store_directory);
    assert_int_equal(put_run(store, &row), TACIT_OK);
    row.ended_unix_s = 1700000001;
    row.result = (const uint8_t *)"{}";
    row.result_size = 2;
    assert_int_equal(put_run(store, &row), TACIT_OK);
    live_store_close(store);
    store = store_model_open(store_directory);
    assert_memory_equal(last_run(store).run, first_run.run, sizeof first_run.run);
    assert_int_equal(last_run(store).ended_unix_s, 1700000001);
    assert_int_equal(last_run(store).result_size, 2);
    row.ended_unix_s = 0; /* it does not begin again */
    assert_int_equal(put_run(store, &row), TACIT_IO);
    live_store_close(store);
    assert_int_not_equal(shell("DELETE FROM runs"), SQLITE_OK);
    assert_int_not_equal(shell("UPDATE runs SET run = zeroblob(16)"), SQLITE_OK);
}

static bool never_decision(void *context, const struct live_decision_row *row)
{
    fail_msg("decision %llu is still there", (unsigned long long)row->number);
    return false;
}

static bool never_unit(void *context, const char *unit, uint32_t arm)
{
    fail_msg("unit %s of arm %lu is still there", unit, (unsigned long)arm);
    return false;
}

STORE_TEST_FAULTY(another_configuration_is_taken_when_the_run_has_ended)
{
    struct live_run_row row = first_run;
    struct live_store_identity other = store_model_identity();
    struct tacit_error error;
    struct live_store *store;
    other.config_digest[0] ^= 1;
    live_store_close(store_model_open(store_directory)); /* of a site that has joined none */
    assert_int_equal(live_store_open(&store, store_directory, &other, &error), TACIT_OK);
    assert_true(live_store_has_new_config(store));
    live_store_close(store);
    store_model_make(4);
    store = store_model_open(store_directory);
    assert_int_equal(put_run(store, &row), TACIT_OK);
    live_store_close(store);
    assert_int_equal(try_open_as(store_directory, &other, &error), TACIT_INVALID);
    store = store_model_open(store_directory);
    row.ended_unix_s = 1700000001;
    assert_int_equal(put_run(store, &row), TACIT_OK);
    assert_false(live_store_has_new_config(store));
    live_store_close(store);
    assert_int_equal(live_store_open(&store, store_directory, &other, &error), TACIT_OK);
    assert_true(live_store_has_new_config(store));
    live_store_close(store); /* not taken: nothing has changed */
    expect_batch(4);
    assert_int_equal(live_store_open(&store, store_directory, &other, &error), TACIT_OK);
    assert_int_equal(live_store_begin(store), TACIT_OK);
    assert_int_equal(live_store_adopt_config(store), TACIT_OK);
    expect_core(store, NULL, 0);
    assert_int_equal(live_store_commit(store), TACIT_OK);
    assert_false(live_store_has_new_config(store));
    assert_true(live_store_newest_release(store) > 0); /* the ledger stays */
    live_store_close(store);
    assert_int_equal(live_store_open(&store, store_directory, &other, &error), TACIT_OK);
    expect_core(store, NULL, 0);
    assert_int_equal(live_store_decisions(store, never_decision, NULL), TACIT_OK);
    assert_int_equal(live_store_units(store, never_unit, NULL), TACIT_OK);
    assert_true(live_store_newest_release(store) > 0);
    live_store_close(store);
}

STORE_TEST_FAULTY(counts_of_units_are_kept)
{
    uint64_t count = 7;
    struct live_store *store = store_model_open(store_directory);
    assert_int_equal(live_store_get_count(store, "one", &count), TACIT_OK);
    assert_int_equal(count, 0);
    assert_int_equal(live_store_begin(store), TACIT_OK);
    assert_int_equal(live_store_put_count(store, "one", 1), TACIT_OK);
    assert_int_equal(live_store_put_count(store, "one", 2), TACIT_OK);
    assert_int_equal(live_store_put_count(store, "two", 5), TACIT_OK);
    store = committed(store);
    assert_int_equal(live_store_get_count(store, "one", &count), TACIT_OK);
    assert_int_equal(count, 2);
    live_store_close(store);
    assert_int_not_equal(shell("DELETE FROM unit_counts"), SQLITE_OK);
    assert_int_equal(shell("UPDATE unit_counts SET count = 0 WHERE unit = 'one'"), SQLITE_OK);
    store = store_model_open(store_directory);
    assert_int_equal(live_store_get_count(store, "one", &count), TACIT_MALFORMED);
    live_store_close(store);
}

/* The header in the file is the old one; the one that counts is still in the log. */
STORE_TEST_FAULTY(another_format_in_the_log_is_refused)
{
    store_model_make(2); /* two turns: the log's is 3, of format 12 */
    sqlite3 *database = NULL;
    assert_int_equal(sqlite3_open(store_path(STORE_FILE), &database), SQLITE_OK);
    assert_int_equal(sqlite3_exec(database, "PRAGMA user_version = 780", NULL, NULL, NULL),
                     SQLITE_OK);
    struct store_image image = store_image_read(store_directory);
    assert_int_equal(sqlite3_close(database), SQLITE_OK);
    assert_true(image.log_size > 0);
    store_image_write(store_directory, &image);
    expect_refused(TACIT_INVALID, "its log has format 12");
    store_image_free(&image);
}

/* ---- What is not a state --------------------------------------------------------------------- */

STORE_TEST_FAULTY(what_is_no_state_is_refused)
{
    assert_int_equal(mkdir(store_directory, 0700), 0);
    write_private(STORE_FILE, "", 0);
    expect_refused(TACIT_MALFORMED, "is empty (0 bytes)");
    write_private(STORE_FILE, "SQLite format 3", 15);
    expect_refused(TACIT_MALFORMED, "is truncated");
    static uint8_t zeros[8192];
    write_private(STORE_FILE, zeros, sizeof zeros);
    expect_refused(TACIT_MALFORMED, "is not a database");
    remove_file(STORE_FILE);
    assert_int_equal(shell("CREATE TABLE core(x); PRAGMA journal_mode = WAL"), SQLITE_OK);
    expect_refused(TACIT_MALFORMED, "is a database of another program");
}

STORE_TEST_FAULTY(remains_without_the_file_are_refused)
{
    struct store_image image = store_image_killed(2);
    assert_int_equal(mkdir(store_directory, 0700), 0);
    write_private(STORE_LOG, image.log, image.log_size);
    expect_refused(TACIT_MALFORMED, "state.db is missing");
    remove_file(STORE_LOG);
    write_private(STORE_FILE "-journal", "", 0);
    expect_refused(TACIT_MALFORMED, "state.db is missing");
    write_private(STORE_FILE "-journal", "x", 1);
    expect_refused(TACIT_MALFORMED, "state.db is missing");
    write_private(STORE_FILE, image.bytes, image.size);
    expect_refused(TACIT_MALFORMED, "does not belong there");
    write_private(STORE_FILE "-journal", "", 0); /* an empty one neither */
    expect_refused(TACIT_MALFORMED, "does not belong there");
    store_image_free(&image);
}

STORE_TEST_FAULTY(other_tables_are_refused)
{
    static const char *const changes[][2] = {
        {"DROP TABLE units", "units"},
        {"DROP TABLE identity", "identity"},
        {"DROP TRIGGER releases_are_kept", "releases_are_kept"},
        {"CREATE TABLE more(x)", "count"},
        {"CREATE TRIGGER t AFTER INSERT ON core BEGIN DELETE FROM units; END", "count"},
        {"ALTER TABLE units ADD COLUMN x TEXT", "units"},
        {"DELETE FROM identity", "identity"},
        {"PRAGMA journal_mode = DELETE", "versions 1 and 1"},
    };
    struct store_image image = store_image_killed(2);
    store_model_make(1);
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        store_image_write(store_directory, &image);
        assert_int_equal(shell(changes[i][0]), SQLITE_OK);
        expect_refused(TACIT_MALFORMED, changes[i][1]);
    }
    store_image_write(store_directory, &image);
    expect_batch(2);
    store_image_free(&image);
}

STORE_TEST_FAULTY(rows_changed_by_hand_are_refused)
{
    static const char *const changes[] = {
        "UPDATE core_parts SET bytes = x'00'",   "UPDATE core SET sum = zeroblob(32)",
        "UPDATE core SET size = size + 1",       "DELETE FROM core_parts",
        "UPDATE core_parts SET number = 1",      "DELETE FROM core",
        "UPDATE decisions SET arm = arm + 1",    "UPDATE decisions SET key = NULL",
        "UPDATE decisions SET unit = ''",        "UPDATE units SET arm = 0",
        "UPDATE named SET value = value + 1",    "UPDATE named SET name = 'other'",
        "UPDATE identity SET site = 'clinic-8'", "UPDATE releases SET acknowledged = 1",
    };
    struct store_image image = store_image_killed(2);
    store_model_make(1);
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        store_image_write(store_directory, &image);
        assert_int_equal(shell(changes[i]), SQLITE_OK);
        expect_refused(TACIT_MALFORMED, "its checksum differs");
    }
    store_image_free(&image);
}

/* ---- Damage ---------------------------------------------------------------------------------- */

/* Opens what may be damaged: true if it opened (then it is whole, at *batch), false if it was
 * refused (then the file is as it was). */
static bool opens_whole(const struct store_image *image, uint64_t *batch)
{
    store_image_write(store_directory, image);
    struct tacit_error error;
    struct live_store *store;
    enum tacit_status const status = store_model_try_open(&store, &error);
    if (status == TACIT_OK) {
        *batch = store_model_check(store);
        live_store_close(store);
        return true;
    }
    if (status != TACIT_MALFORMED && status != TACIT_INVALID)
        fail_msg("status %d: %s", status, error.text);
    assert_non_null(strstr(error.text, store_directory));
    store_image_expect(image);
    return false;
}

STORE_TEST_FAULTY(a_flipped_byte_is_refused_or_harmless)
{
    store_model_make(6);
    struct store_image image = store_image_read(store_directory);
    assert_int_equal(image.log_size, 0);
    unsigned refused = 0;
    unsigned harmless = 0;
    size_t const step = effort_of(41, 13);
    for (size_t at = 0; at < image.size; at += at < 100 ? 1 : at % 4096 < 64 ? 3 : step) {
        uint8_t const kept = image.bytes[at];
        image.bytes[at] = (uint8_t)(kept ^ (at % 3 == 0 ? 0xff : 1u << at % 8));
        uint64_t batch = 6;
        if (opens_whole(&image, &batch))
            harmless++;
        else
            refused++;
        assert_int_equal(batch, 6);
        image.bytes[at] = kept;
    }
    print_message("           %u flips refused, %u in unused bytes\n", refused, harmless);
    assert_true(refused > 100);
    store_image_free(&image);
}

STORE_TEST_FAULTY(a_truncated_file_is_refused)
{
    store_model_make(6);
    struct store_image image = store_image_read(store_directory);
    struct store_image cut = image;
    uint64_t batch;
    for (cut.size = 0; cut.size < image.size; cut.size += cut.size < 128 ? 1 : 512)
        assert_false(opens_whole(&cut, &batch));
    for (cut.size = 4096; cut.size < image.size; cut.size += 4096)
        assert_false(opens_whole(&cut, &batch));
    cut.size = image.size - 1;
    assert_false(opens_whole(&cut, &batch));
    cut.size = image.size + 1; /* there is one byte more in its memory */
    cut.bytes[image.size] = 0;
    assert_false(opens_whole(&cut, &batch));
    assert_true(opens_whole(&image, &batch));
    store_image_free(&image);
    image = cut = store_image_killed(40); /* its log may have what is missing */
    for (cut.size = 0; cut.size <= image.size; cut.size += 512) {
        batch = 40;
        (void)opens_whole(&cut, &batch);
        assert_int_equal(batch, 40);
    }
    store_image_free(&image);
}

/* No row is wrong yet: the next one to be written would be. */
STORE_TEST_FAULTY(a_damaged_free_list_is_refused)
{
    struct live_store *const store = begun();
    char text[STORE_TEXT_BYTES_MAX];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    for (uint64_t id = 1; id <= 64; id++) {
        struct live_decision_row const row = {.number = id, .salt = id, .key = text};
        assert_int_equal(live_store_put_decision(store, &row), TACIT_OK);
    }
    for (uint64_t id = 1; id <= 64; id++)
        assert_int_equal(live_store_drop_decision(store, id), TACIT_OK);
    assert_int_equal(live_store_commit(store), TACIT_OK);
    live_store_close(store);
    struct store_image image = store_image_read(store_directory);
    uint64_t batch = 0;
    assert_true(opens_whole(&image, &batch));
    assert_true(image.bytes[39] > 2); /* free pages: bytes 36 to 39 of the header */
    image.bytes[39]--;
    assert_false(opens_whole(&image, &batch));
    image.bytes[39]++;
    image.bytes[35] ^= 1; /* the first of them: bytes 32 to 35 */
    assert_false(opens_whole(&image, &batch));
    store_image_free(&image);
}

/* The power goes while the header is written over the one before: everything behind it is in the
 * file already. The same tear over a log that is not folded is damage. */
STORE_TEST_FAULTY(a_torn_header_is_refused_unless_the_log_is_folded)
{
    struct live_store *const store = store_model_open(store_directory);
    assert_int_equal(store_model_batches(store, 1, 5), 5);
    struct store_image fresh = store_image_read(store_directory);
    assert_int_equal(store_checkpoint(store), TACIT_OK);
    struct store_image folded = store_image_read(store_directory);
    live_store_close(store);
    uint64_t batch = 0;
    fresh.log[20] ^= 1;
    assert_false(opens_whole(&fresh, &batch));
    folded.log[20] ^= 1;
    assert_true(opens_whole(&folded, &batch));
    assert_int_equal(batch, 5);
    uint8_t const *const frame = folded.log + 32; /* the number of its page comes first */
    size_t const page = (size_t)frame[2] << 8 | frame[3];
    folded.bytes[page * STORE_PAGE_BYTES - 1] ^= 1; /* not what the log says any more */
    assert_false(opens_whole(&folded, &batch));
    store_image_free(&fresh);
    store_image_free(&folded);
}

/* ---- File descriptors ---- */

/* A daemon may be started with its input closed: then the first file it opens has number 0. */
STORE_TEST_FAULTY(descriptor_0_is_a_file_like_any_other)
{
    store_model_make(0);
    struct store_image image = store_image_killed(3);
    store_image_write(store_directory, &image);
    int const place = open(store_directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int const input = fcntl(0, F_DUPFD_CLOEXEC, 3);
    assert_true(place > 0 && input > 0);
    struct tacit_error error = {.text = ""};
    (void)close(0);
    uint32_t turn;
    enum tacit_status const header =
        store_header_check(place, store_directory, (int64_t)image.size, true, &turn, &error);
    enum tacit_status const log =
        store_log_check(place, store_directory, (int64_t)image.log_size, turn, &error);
    struct live_store *const store = store_model_open(store_directory);
    bool const is_free = fcntl(0, F_GETFD) == -1; /* what was opened for a look is closed */
    uint64_t const batch = store_model_check(store);
    live_store_close(store);
    assert_int_equal(dup2(input, 0), 0);
    (void)close(input);
    (void)close(place);
    assert_int_equal(header, TACIT_OK);
    assert_int_equal(log, TACIT_OK);
    assert_true(is_free);
    assert_int_equal(batch, 3);
    store_image_free(&image);
}

/* ---- The log's length ------------------------------------------------------------------------ */

STORE_TEST_FAULTY(the_log_does_not_grow_without_bound)
{
    struct live_store *const store = store_model_open(store_directory);
    off_t longest = 0;
    for (uint64_t batch = 1; batch <= 300; batch++) {
        assert_int_equal(store_model_batch(store, batch), TACIT_OK);
        longest = log_bytes() > longest ? log_bytes() : longest;
    }
    assert_true(longest > (off_t)(STORE_LOG_PAGES_MAX * LOG_BYTES_PER_FRAME));
    assert_true(longest < (off_t)((STORE_LOG_PAGES_MAX + 64) * LOG_BYTES_PER_FRAME));
    assert_int_equal(store_model_check(store), 300);
    live_store_close(store);
    assert_int_equal(log_bytes(), 0);
    expect_batch(300);
}

/* Not one batch earlier or later. */
STORE_TEST_FAULTY(the_log_is_folded_when_it_has_as_many_pages_as_it_may)
{
    struct live_store *const store = store_model_open(store_directory);
    assert_int_equal(store_model_batch(store, 1), TACIT_OK);
    uint32_t const pages = store->log_pages;
    store->log_pages_max = pages + 1;
    assert_int_equal(store_model_batch(store, 2), TACIT_OK);
    assert_true(store->log_pages > pages);
    store->log_pages_max = store->log_pages;
    assert_int_equal(store_model_batch(store, 3), TACIT_OK);
    assert_int_equal(store->log_pages, 0);
    live_store_close(store);
    expect_batch(3);
}

/* A directory as a kill leaves it, of so many batches. */
static struct store_image make_killed(uint64_t batches)
{
    struct live_store *const store = store_model_open(store_directory);
    assert_int_equal(store_model_batches(store, 1, batches), batches);
    store->is_broken = true; /* killed: no orderly close */
    live_store_close(store);
    return store_image_read(store_directory);
}

STORE_TEST_FAULTY(a_log_that_is_gone_after_a_kill_is_noticed)
{
    struct store_image whole = make_killed(3);
    assert_true(whole.log_size > 0);
    remove_file(STORE_LOG);
    expect_refused(TACIT_MALFORMED, "-wal is missing");
    expect_refused(TACIT_MALFORMED, "-wal is missing"); /* refusing changed nothing */
    write_private(STORE_LOG, "", 0);
    expect_refused(TACIT_MALFORMED, "-wal is empty");
    remove_file(STORE_LOG);
    write_private(STORE_LOG, whole.log, whole.log_size);
    expect_batch(3);
    assert_int_equal(log_bytes(), 0); /* it was closed: now a log may be missing */
    expect_batch(3);
    store_image_free(&whole);
}

STORE_TEST_FAULTY(a_log_that_is_shorter_than_what_was_released_is_noticed)
{
    struct store_image whole = make_killed(9);
    size_t const frames = (whole.log_size - 32) / LOG_BYTES_PER_FRAME;
    write_private(STORE_LOG, whole.log, 32 + frames / 2 * LOG_BYTES_PER_FRAME);
    expect_refused(TACIT_MALFORMED, "an older one");
    write_private(STORE_LOG, whole.log, whole.log_size);
    expect_batch(9);
    store_image_free(&whole);
}

int main(void)
{
    fault_vfs_register(); /* only to spare the disk: many small stores, and no crash */
    fault_vfs_skip_syncs(true);
    return testing_run(NULL, NULL);
}
