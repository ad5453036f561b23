/* Files of a state that are damaged: every byte of what is looked at before SQLite is, is changed
 * to other values and every length is tried. What is said of each goes into one number
 * (tests/support/digest.h). The log is made here byte by byte, so nothing hangs on SQLite's
 * version. The number is one of little-endian machines: high-water marks are written in the
 * machine's order. */
#include "../support/testing.h"
#include "../../src/live/store/store_base.h"
#include "../support/digest.h"
#include "../support/fault_vfs.h"
#include "../support/store_model.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define KNOWN UINT64_C(0xc1dad7a88fc106fa)
#define NAME "state" /* of the directory, in what is said */
#define FRAME_HEADER 24u
#define FRAMES_MAX 12u
#define HIGH_WATER STORE_FILE "-witness"

/* ---- Files ----------------------------------------------------------------------------------- */

static int place = -1; /* the directory */

static int make_place(void **state)
{
    (void)store_place_make(state);
    place = open(store_around, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return place < 0;
}

static int remove_place(void **state)
{
    (void)close(place);
    return store_place_remove(state);
}

static void file_put(const char *name, const void *bytes, size_t size)
{
    int const file = openat(place, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(file >= 0);
    assert_int_equal(write(file, bytes, size), (ssize_t)size);
    assert_int_equal(close(file), 0);
}

static void byte_put(const char *name, size_t at, uint8_t byte)
{
    int const file = openat(place, name, O_WRONLY | O_CLOEXEC);
    assert_int_equal(pwrite(file, &byte, 1, (off_t)at), 1);
    assert_int_equal(close(file), 0);
}

/* Another value than the byte's, most of the time. */
static uint8_t changed(uint8_t byte, unsigned way)
{
    uint8_t const values[] = {byte ^ 1u, byte ^ 0x80u, 0, 0xff, (uint8_t)(byte + 1)};
    return values[way];
}
#define WAYS 5u

/* What was said, without the name of the directory. */
static void add_verdict(enum tacit_status status, const struct tacit_error *error)
{
    size_t const skipped =
        strncmp(error->text, store_around, strlen(store_around)) == 0 ? strlen(store_around) : 0;
    digest_word((uint64_t)status);
    assert_int_equal(error->text[0] == '\0', status == TACIT_OK);
    digest_bytes(error->text + skipped, strlen(error->text + skipped));
}

/* ---- The log --------------------------------------------------------------------------------- */

static void log_put_u32(uint8_t *bytes, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(value >> (24 - 8 * i));
}

/* SQLite's sum over words of one byte order (its file format, section 4.2), word by word. */
static void log_sum(uint32_t sum[2], const uint8_t *bytes, size_t size, bool is_big_endian)
{
    for (size_t at = 0; at < size; at += 4) {
        uint32_t word = 0;
        for (unsigned i = 0; i < 4; i++)
            word |= (uint32_t)bytes[at + i] << 8 * (is_big_endian ? 3 - i : i);
        size_t const half = at / 4 % 2;
        sum[half] += word + sum[1 - half];
    }
}

static struct {
    uint8_t bytes[STORE_LOG_HEADER_BYTES + FRAMES_MAX * STORE_LOG_FRAME_BYTES];
    size_t size;
    uint32_t sum[2];
    uint8_t salt;
    bool is_big_endian;
} wal;
static uint8_t base[4 * STORE_PAGE_BYTES + 1]; /* of the file */

/* With a file of four pages of zeros, for a log. */
static int make_file(void **state)
{
    if (make_place(state) != 0)
        return 1;
    memset(base, 0, sizeof base);
    file_put(STORE_FILE, base, sizeof base - 1);
    return 0;
}

/* Over what is there: frames behind the new ones stay. */
static void log_begin(uint8_t salt, bool is_big_endian)
{
    uint8_t *const header = wal.bytes;
    wal.sum[0] = wal.sum[1] = 0;
    wal.salt = salt;
    wal.is_big_endian = is_big_endian;
    wal.size = STORE_LOG_HEADER_BYTES;
    log_put_u32(header, is_big_endian ? 0x377f0683 : 0x377f0682);
    log_put_u32(header + 4, 3007000);
    log_put_u32(header + 8, STORE_PAGE_BYTES);
    log_put_u32(header + 12, salt);
    memset(header + 16, salt, 8);
    log_sum(wal.sum, header, 24, is_big_endian);
    log_put_u32(header + 24, wal.sum[0]);
    log_put_u32(header + 28, wal.sum[1]);
}

static void fill_page(uint8_t page[STORE_PAGE_BYTES], uint32_t number, uint32_t turn)
{
    for (size_t i = 0; i < STORE_PAGE_BYTES; i++)
        page[i] = (uint8_t)(i * 31 + number * 7 + turn);
    log_put_u32(page + STORE_USER_VERSION_AT, turn << STORE_FORMAT_BITS | STORE_FORMAT);
}

/* pages: of the file behind the commit; 0: none ends here. */
static void log_add(uint32_t page, uint32_t pages, uint32_t turn)
{
    uint8_t *const frame = wal.bytes + wal.size;
    log_put_u32(frame, page);
    log_put_u32(frame + 4, pages);
    memset(frame + 8, wal.salt, 8);
    fill_page(frame + FRAME_HEADER, page, turn);
    log_sum(wal.sum, frame, 8, wal.is_big_endian);
    log_sum(wal.sum, frame + FRAME_HEADER, STORE_PAGE_BYTES, wal.is_big_endian);
    log_put_u32(frame + 16, wal.sum[0]);
    log_put_u32(frame + 20, wal.sum[1]);
    wal.size += STORE_LOG_FRAME_BYTES;
}

/* Four commits, of turns first to first + 1. */
static void log_fill(uint32_t first)
{
    log_add(1, 0, first);
    log_add(2, 4, first);
    log_add(3, 4, first);
    log_add(1, 0, first + 1);
    log_add(2, 0, first + 1);
    log_add(4, 4, first + 1);
    log_add(2, 4, first + 2);
}

/* The file that has what log_fill holds: its last word on each page. */
static void file_fill(uint32_t first)
{
    static const uint32_t turns[] = {1, 2, 0, 1};
    for (uint32_t page = 1; page <= 4; page++)
        fill_page(base + (size_t)(page - 1) * STORE_PAGE_BYTES, page, first + turns[page - 1]);
}

static enum tacit_status check_log(size_t size, uint32_t turn)
{
    struct tacit_error error = {.text = ""};
    enum tacit_status const status = store_log_check(place, NAME, (int64_t)size, turn, &error);
    add_verdict(status, &error);
    return status;
}

/* Each way of one byte; returns how many were taken for whole. */
static unsigned change_log(size_t at, uint32_t turn)
{
    unsigned taken = 0;
    for (unsigned way = 0; way < WAYS; way++) {
        byte_put(STORE_LOG, at, changed(wal.bytes[at], way));
        taken += check_log(wal.size, turn) == TACIT_OK;
    }
    byte_put(STORE_LOG, at, wal.bytes[at]);
    return taken;
}

static void every_byte_of_a_log(uint32_t turn)
{
    static const size_t samples[] = {0, 1, 7, 8, 57, 59, 60, 61, 62, 63, 64, 2000, 4094, 4095};
    for (size_t at = 0; at < STORE_LOG_HEADER_BYTES; at++)
        (void)change_log(at, turn);
    for (size_t frame = STORE_LOG_HEADER_BYTES; frame < wal.size; frame += STORE_LOG_FRAME_BYTES) {
        for (size_t at = 0; at < FRAME_HEADER; at++)
            (void)change_log(frame + at, turn);
        for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++)
            (void)change_log(frame + FRAME_HEADER + samples[i], turn);
    }
}

TEST_WITH(a_changed_byte_of_the_log_has_a_known_verdict, make_file, remove_place)
{
    for (int order = 0; order < 2; order++) {
        log_begin(9, order == 1);
        log_fill(5);
        file_put(STORE_LOG, wal.bytes, wal.size);
        assert_int_equal(check_log(wal.size, 5), TACIT_OK);
        every_byte_of_a_log(5);
    }
    /* of the first commits none is taken, of the last one each: it may be a torn end */
    size_t const frame = STORE_LOG_HEADER_BYTES + 2 * STORE_LOG_FRAME_BYTES;
    assert_int_equal(change_log(frame + FRAME_HEADER + 5, 5), 0);
    assert_int_equal(change_log(wal.size - 5, 5), WAYS);
}

/* A header that cannot be read is no matter where all that was committed is in the file. */
TEST_WITH(a_lost_header_has_a_known_verdict, make_file, remove_place)
{
    static const size_t sizes[] = {0, 1, 4095, 4096, 8192, 12287, 12288, 16383, 16384, 16385};
    log_begin(9, false);
    log_fill(5);
    log_add(7, 0, 9); /* not committed: nobody misses it */
    file_fill(5);
    wal.bytes[20] ^= 1;
    file_put(STORE_LOG, wal.bytes, wal.size);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        file_put(STORE_FILE, base, sizes[i]);
        enum tacit_status const status = check_log(wal.size, 5);
        assert_int_equal(status, sizes[i] < 16384 ? TACIT_MALFORMED : TACIT_OK);
    }
    /* it became shorter meanwhile: what is in the frame that cannot be read nobody knows */
    assert_int_equal(check_log(wal.size + STORE_LOG_FRAME_BYTES, 5), TACIT_MALFORMED);
    every_byte_of_a_log(5);
    for (size_t at = 0; at < sizeof base - 1; at += 1365) { /* a page three times, and its ends */
        byte_put(STORE_FILE, at, base[at] ^ 1);
        assert_int_equal(check_log(wal.size, 5), TACIT_MALFORMED);
        byte_put(STORE_FILE, at, base[at]);
    }
    byte_put(STORE_FILE, sizeof base - 2, base[sizeof base - 2] ^ 1); /* the last of page 4 */
    assert_int_equal(check_log(wal.size, 5), TACIT_MALFORMED);
    assert_int_equal(unlinkat(place, STORE_FILE, 0), 0);
    assert_int_equal(check_log(wal.size, 5), TACIT_MALFORMED);
}

TEST_WITH(a_log_of_any_length_has_a_known_verdict, make_file, remove_place)
{
    log_begin(9, false);
    log_fill(5);
    for (size_t size = 0; size <= wal.size; size += size < 64 ? 1 : 103) {
        file_put(STORE_LOG, wal.bytes, size);
        (void)check_log(size, 5);
    }
    for (size_t frames = 0; frames <= 7; frames++)
        for (int more = -1; more <= 1; more++) {
            size_t const size =
                STORE_LOG_HEADER_BYTES + frames * STORE_LOG_FRAME_BYTES + (size_t)(int64_t)more;
            file_put(STORE_LOG, wal.bytes, size);
            (void)check_log(size, 5);
            (void)check_log(size + STORE_LOG_FRAME_BYTES, 5); /* it became shorter meanwhile */
        }
    assert_int_equal(unlinkat(place, STORE_LOG, 0), 0);
    assert_int_equal(check_log(STORE_LOG_HEADER_BYTES, 5), TACIT_OK);
    assert_int_equal(check_log(STORE_LOG_HEADER_BYTES + 1, 5), TACIT_IO);
}

/* Frames of a use before this one lie behind its own. */
TEST_WITH(a_log_over_an_older_one_has_a_known_verdict, make_file, remove_place)
{
    for (unsigned commits = 0; commits < 3; commits++) {
        log_begin(9, false);
        log_fill(5);
        size_t const size = wal.size;
        log_begin(10, false);
        for (unsigned i = 0; i < commits; i++)
            log_add(i + 1, 4, 8);
        log_add(2, 0, 8); /* and one that is not committed */
        wal.size = size;
        file_put(STORE_LOG, wal.bytes, wal.size);
        assert_int_equal(check_log(wal.size, 7), TACIT_OK);
        every_byte_of_a_log(7);
    }
}

/* Which turns of a file a log goes on from: also where they go round. */
TEST_WITH(a_log_goes_on_from_some_turns_only, make_file, remove_place)
{
    static const uint32_t firsts[] = {0,
                                      5,
                                      STORE_GENERATION_MASK / 2,
                                      STORE_GENERATION_MASK - 1,
                                      STORE_GENERATION_MASK,
                                      STORE_GENERATION_MASK - 3};
    for (size_t i = 0; i < sizeof firsts / sizeof firsts[0]; i++) {
        log_begin(9, false);
        log_fill(firsts[i]);
        file_put(STORE_LOG, wal.bytes, wal.size);
        for (uint32_t behind = 0; behind < 8; behind++) {
            uint32_t const turn = (firsts[i] + behind - 3) & STORE_GENERATION_MASK;
            /* a turn before its first one, to its last one: in page 1, which the last commit left
             */
            bool const goes_on = behind >= 2 && behind <= 4;
            assert_int_equal(check_log(wal.size, turn), goes_on ? TACIT_OK : TACIT_MALFORMED);
        }
        (void)check_log(wal.size, (firsts[i] + STORE_GENERATION_MASK / 2) & STORE_GENERATION_MASK);
        (void)check_log(wal.size,
                        (firsts[i] + STORE_GENERATION_MASK / 2 + 1) & STORE_GENERATION_MASK);
        (void)check_log(wal.size,
                        (firsts[i] + STORE_GENERATION_MASK / 2 + 2) & STORE_GENERATION_MASK);
    }
    log_begin(9, false); /* the first commit has no page 1: of no time */
    log_add(2, 4, 5);
    log_add(1, 4, 5);
    file_put(STORE_LOG, wal.bytes, wal.size);
    assert_int_equal(check_log(wal.size, 5), TACIT_MALFORMED);
    log_begin(9, false); /* no commit: from anything */
    log_add(1, 0, 5);
    file_put(STORE_LOG, wal.bytes, wal.size);
    assert_int_equal(check_log(wal.size, 70), TACIT_OK);
}

TEST_WITH(a_mark_is_of_one_turn, make_file, remove_place)
{
    static const uint32_t turns[] = {0, 1, 255, 256, 65535, STORE_GENERATION_MASK};
    log_begin(9, false);
    log_fill(5);
    for (size_t i = 0; i < sizeof turns / sizeof turns[0]; i++) {
        store_log_header_mark(wal.bytes, turns[i]);
        digest_bytes(wal.bytes, STORE_LOG_HEADER_BYTES);
        file_put(STORE_LOG, wal.bytes, wal.size);
        for (uint32_t more = 0; more < 6; more++)
            assert_int_equal(check_log(wal.size, (turns[i] + more - 3) & STORE_GENERATION_MASK),
                             more == 3 ? TACIT_OK : TACIT_MALFORMED);
        for (size_t at = 0; at < STORE_LOG_HEADER_BYTES; at++)
            (void)change_log(at, turns[i]);
    }
}

/* ---- The file's header ----------------------------------------------------------------------- */

static enum tacit_status check_header(size_t size, bool has_log)
{
    struct tacit_error error = {.text = ""};
    uint32_t turn = 77;
    enum tacit_status const status =
        store_header_check(place, NAME, (int64_t)size, has_log, &turn, &error);
    add_verdict(status, &error);
    digest_word(turn);
    return status;
}

TEST_WITH(a_changed_header_has_a_known_verdict, make_place, remove_place)
{
    static uint8_t file[3 * STORE_PAGE_BYTES];
    memcpy(file, "SQLite format 3", 16);
    file[16] = STORE_PAGE_BYTES >> 8;
    file[18] = file[19] = 2;
    log_put_u32(file + STORE_USER_VERSION_AT,
                UINT32_C(0x123456) << STORE_FORMAT_BITS | STORE_FORMAT);
    log_put_u32(file + 68, STORE_APPLICATION);
    static const size_t sizes[] = {0, 1, 99, 100, 101, 4095, 4096, 4097, 8191, 8192, 8193, 12288};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        file_put(STORE_FILE, file, sizes[i]);
        bool const is_long = sizes[i] >= STORE_PAGE_BYTES;
        bool const is_whole = is_long && sizes[i] % STORE_PAGE_BYTES == 0;
        assert_int_equal(check_header(sizes[i], true), is_long ? TACIT_OK : TACIT_MALFORMED);
        assert_int_equal(check_header(sizes[i], false), is_whole ? TACIT_OK : TACIT_MALFORMED);
    }
    for (size_t at = 0; at < 100; at++) {
        for (unsigned way = 0; way < WAYS; way++) {
            byte_put(STORE_FILE, at, changed(file[at], way));
            (void)check_header(sizeof file, true);
        }
        byte_put(STORE_FILE, at, file[at]);
    }
    assert_int_equal(unlinkat(place, STORE_FILE, 0), 0);
    assert_int_equal(check_header(sizeof file, true), TACIT_IO);
}

/* ---- The high-water mark
 * ----------------------------------------------------------------------------- */

static enum tacit_status check_high_water(int64_t log_bytes, struct store_high_water *high_water)
{
    struct tacit_error error = {.text = ""};
    struct live_store *const store = store_new(store_around);
    assert_non_null(store);
    enum tacit_status const status = store_high_water_check(store, place, NAME, log_bytes, &error);
    *high_water = store->high_water;
    add_verdict(status, &error);
    live_store_close(store);
    return status;
}

TEST_WITH(a_changed_high_water_has_a_known_verdict, make_place, remove_place)
{
    static const uint64_t releases[] = {0, 1, UINT64_C(0x7edcba9876543210)};
    struct store_high_water high_water;
    assert_int_equal(check_high_water(-1, &high_water), TACIT_OK); /* there is none */
    for (unsigned i = 0; i < 6; i++) {
        bool const has_log = i % 2 == 1;
        uint64_t const head = UINT64_C(0x31746977) << 1 | has_log;
        uint64_t const words[] = {head, releases[i / 2], ~head, ~releases[i / 2], 0};
        uint8_t bytes[sizeof words];
        memcpy(bytes, words, sizeof words);
        for (size_t size = 0; size <= sizeof words; size++) {
            file_put(HIGH_WATER, bytes, size);
            assert_int_equal(check_high_water(1, &high_water),
                             size == 32 ? TACIT_OK : TACIT_MALFORMED);
        }
        file_put(HIGH_WATER, bytes, 32);
        for (int64_t log_bytes = -1; log_bytes <= 1; log_bytes++) {
            enum tacit_status const status = check_high_water(log_bytes, &high_water);
            assert_int_equal(status, has_log && log_bytes < 1 ? TACIT_MALFORMED : TACIT_OK);
            assert_int_equal(high_water.has_log, has_log);
            assert_int_equal(high_water.release, releases[i / 2]);
        }
        for (size_t at = 0; at < 32; at++)
            for (unsigned way = 0; way < WAYS; way++) {
                byte_put(HIGH_WATER, at, changed(bytes[at], way));
                bool const is_same = changed(bytes[at], way) == bytes[at];
                assert_int_equal(check_high_water(1, &high_water),
                                 is_same ? TACIT_OK : TACIT_MALFORMED);
                byte_put(HIGH_WATER, at, bytes[at]);
            }
    }
}

/* ---- What is written ------------------------------------------------------------------------- */

/* A batch with one of each of the things that the model's batches do not have. */
static void put_the_rest(struct live_store *store)
{
    uint8_t const run[LIVE_STORE_RUN_BYTES] = {7, 1, 2};
    struct live_run_row row = {.number = 1,
                               .run = {7, 1, 2},
                               .releases_before = 3,
                               .begun_unix_s = 1700000000,
                               .ended_unix_s = 1700000009,
                               .result = (const uint8_t *)"arm 2",
                               .result_size = 5};
    assert_int_equal(live_store_begin(store), TACIT_OK);
    assert_int_equal(live_store_put_entry(store, run, run, sizeof run), TACIT_OK);
    assert_int_equal(live_store_put_count(store, "unit", UINT64_C(1) << 62), TACIT_OK);
    assert_int_equal(live_store_put_run(store, &row), TACIT_OK);
    row.number = 2;
    row.ended_unix_s = 0;
    row.result = NULL;
    row.result_size = 0;
    assert_int_equal(live_store_put_run(store, &row), TACIT_OK);
    assert_int_equal(live_store_commit(store), TACIT_OK);
}

static void add_column(sqlite3_stmt *row, int column)
{
    const void *const bytes = sqlite3_column_blob(row, column);
    int const size = sqlite3_column_bytes(row, column);
    digest_word((uint64_t)sqlite3_column_type(row, column));
    digest_word((uint64_t)size);
    if (bytes != NULL)
        digest_bytes(bytes, (size_t)size);
}

/* All rows of it, in order; returns how many. */
static unsigned add_rows(sqlite3 *database, const char *query)
{
    sqlite3_stmt *rows = NULL;
    unsigned count = 0;
    assert_int_equal(sqlite3_prepare_v2(database, query, -1, &rows, NULL), SQLITE_OK);
    for (; sqlite3_step(rows) == SQLITE_ROW; count++)
        for (int column = 0; column < sqlite3_column_count(rows); column++)
            add_column(rows, column);
    assert_int_equal(sqlite3_finalize(rows), SQLITE_OK);
    return count;
}

/* Every number, text and checksum: what another version of this program wrote is read by this one.
 * If the number moves, so does STORE_FORMAT. The identity's own checksum knows the time. */
TEST_WITH(what_is_written_is_known, make_place, remove_place)
{
    static const char *const queries[] = {"SELECT sql FROM sqlite_schema ORDER BY name",
                                          "SELECT role, site, config_digest FROM identity",
                                          "SELECT * FROM core",
                                          "SELECT * FROM core_parts ORDER BY number",
                                          "SELECT * FROM releases ORDER BY number",
                                          "SELECT * FROM decisions ORDER BY number",
                                          "SELECT * FROM units ORDER BY number",
                                          "SELECT * FROM named ORDER BY name",
                                          "SELECT * FROM runs ORDER BY number",
                                          "SELECT * FROM unit_counts ORDER BY unit",
                                          "SELECT * FROM entries ORDER BY run",
                                          "PRAGMA application_id",
                                          "PRAGMA user_version"};
    sqlite3 *database = NULL;
    store_model_erase_every(3);
    store_model_make(8);
    struct live_store *const store = store_model_open(store_directory);
    put_the_rest(store);
    live_store_close(store);
    store_model_erase_every(0);
    assert_int_equal(sqlite3_open(store_path(STORE_FILE), &database), SQLITE_OK);
    for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++)
        assert_true(add_rows(database, queries[i]) > 0);
    assert_int_equal(sqlite3_close(database), SQLITE_OK);
}

int main(int argc, char **argv)
{
    fault_vfs_register();
    fault_vfs_skip_syncs(true);
    return digest_end(argc, testing_run(NULL, NULL), KNOWN);
}
