/* Decisions that are remembered on disk: beside a hash map over random hand-overs, kills and
 * restarts; when the file is damaged, missing or another one; what is forgotten is in no file any
 * more. A disk that fails and a power failure: store_faults.c, store_power.c. TACIT_TEST_LONG=1:
 * ten million of them, with random keys, and what they cost. */
#include "../support/testing.h"
#include "../../src/live/store/store_base.h"
#include "../support/effort.h"
#include "../support/fault_vfs.h"
#include "../support/store_model.h"
#include "../support/temp.h"
#include <errno.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define KEEP_MS 100000u
#define TWIN_ROWS 60000u
#define TWIN_STEPS 700u
#define LONG_ROWS 10000000u
#define LONG_RSS_KIB 65536
#define LONG_OPEN_CPU_S 1.0

/* ---- Rows --------------------------------------------------------------------------------------
 */

/* Everything of a row follows from its number. */
static uint64_t mixed(uint64_t number)
{
    uint64_t word = number * UINT64_C(0x9e3779b97f4a7c15);
    word = (word ^ word >> 31) * UINT64_C(0xbf58476d1ce4e5b9);
    return word ^ word >> 29;
}

static struct live_decision_id id_of(uint64_t number)
{
    return (struct live_decision_id){.number = number, .salt = mixed(number)};
}

struct texts {
    char key[40];
    uint8_t kept[24];
};

static struct live_decision_row row_of(uint64_t number, uint64_t until_ms, uint8_t state,
                                       struct texts *texts)
{
    (void)snprintf(texts->key, sizeof texts->key, "key-%016llx-%llu",
                   (unsigned long long)mixed(~number), (unsigned long long)number);
    memset(texts->kept, (int)(number % 251), sizeof texts->kept);
    bool const has_kept = number % 5 == 0;
    return (struct live_decision_row){.number = number,
                                      .salt = mixed(number),
                                      .arm = (uint32_t)(number % 70001),
                                      .kind = (uint8_t)(number % 5),
                                      .state = state,
                                      .opened_ms = until_ms / 2,
                                      .deadline_ms = until_ms,
                                      .key = number % 3 == 0 ? NULL : texts->key,
                                      .unit = "never kept",
                                      .kept = has_kept ? texts->kept : NULL,
                                      .kept_size = has_kept ? sizeof texts->kept : 0};
}

static void expect_row(const struct live_decision_row *row, uint64_t number, uint64_t until_ms,
                       uint8_t state)
{
    struct texts texts;
    struct live_decision_row expected = row_of(number, until_ms, state, &texts);
    expected.unit = NULL;
    store_model_expect_row(row, &expected);
}

static bool is_there(const char *name)
{
    return access(store_path(name), F_OK) == 0;
}

#define FILE_NAME "remembered.db"

static void begin(struct live_store *store)
{
    if (live_store_begin(store) != TACIT_OK)
        fail_msg("%s", live_store_trouble(store));
}

static void put_batch(struct live_store *store)
{
    begin(store);
    store_model_write_now(store);
    assert_int_equal(live_store_commit(store), TACIT_OK);
}

/* ---- A twin ------------------------------------------------------------------------------------
 */

/* By number; state 0: never handed over. */
struct twin {
    uint8_t states[TWIN_ROWS];
    uint64_t until_ms[TWIN_ROWS];
    uint64_t next;
    uint64_t now_ms;
    uint64_t chance;
    uint64_t found;
    uint64_t forgotten;
};

static void look_up(struct live_store *store, struct twin *twin, uint64_t number)
{
    struct live_decision_row row;
    bool found;
    bool const is_known =
        number < twin->next && twin->states[number] > 0 && twin->until_ms[number] > twin->now_ms;
    assert_int_equal(live_store_recall(store, id_of(number), &row, &found), TACIT_OK);
    assert_int_equal(found, is_known);
    if (found)
        expect_row(&row, number, twin->until_ms[number], twin->states[number]);
    struct live_decision_id const other = {.number = number, .salt = mixed(number) ^ 1};
    assert_int_equal(live_store_recall(store, other, &row, &found), TACIT_OK);
    assert_false(found);
    struct texts texts;
    struct live_decision_row const expected = row_of(number, 1, 1, &texts);
    assert_int_equal(live_store_recall_key(store, texts.key, &row, &found), TACIT_OK);
    assert_int_equal(found, is_known && expected.key != NULL);
    if (found)
        expect_row(&row, number, twin->until_ms[number], twin->states[number]);
    twin->found += is_known;
    twin->forgotten += number > 0 && number < twin->next && !is_known;
}

static void hand_over(struct live_store *store, struct twin *twin)
{
    uint64_t const count = 1 + store_draw(&twin->chance, 150);
    for (uint64_t i = 0; i < count && twin->next < TWIN_ROWS; i++) {
        struct texts texts;
        uint64_t number = twin->next;
        bool const is_late = store_draw(&twin->chance, 10) == 0;
        if (is_late) /* one that closed without a reward got one */
            number = 1 + store_draw(&twin->chance, twin->next);
        if (is_late && (number >= twin->next || twin->states[number] != 2 ||
                        twin->until_ms[number] <= twin->now_ms))
            continue;
        if (!is_late) {
            twin->next++;
            twin->until_ms[number] = twin->now_ms + KEEP_MS / 2 + store_draw(&twin->chance, 4000);
        }
        twin->states[number] = is_late ? 3 : (uint8_t)(1 + store_draw(&twin->chance, 3));
        struct live_decision_row const row =
            row_of(number, twin->until_ms[number], twin->states[number], &texts);
        assert_int_equal(live_store_remember(store, &row), TACIT_OK);
    }
}

/* Hand-overs, restarts and the passing of time, at random; some kills, before which everything was
 * written. */
STORE_TEST(the_file_holds_what_a_table_holds)
{
    struct twin *const twin = calloc(1, sizeof *twin);
    assert_non_null(twin);
    twin->next = 1;
    twin->chance = 77;
    struct live_store *store = store_model_open(store_directory);
    for (uint32_t step = 0; step < TWIN_STEPS; step++) {
        twin->now_ms += store_draw(&twin->chance, 1000);
        live_store_remember_until(store, twin->now_ms, KEEP_MS);
        begin(store);
        hand_over(store, twin);
        bool const ends = store_draw(&twin->chance, 20) == 0;
        if (ends)
            store_model_write_now(store);
        assert_int_equal(live_store_commit(store), TACIT_OK);
        assert_true(!ends || live_store_remembers_all(store));
        for (uint32_t i = 0; i < 12; i++)
            look_up(store, twin, 1 + store_draw(&twin->chance, twin->next + 10));
        if (ends) {
            uint64_t const count = live_store_remembered_count(store);
            store->is_broken = store_draw(&twin->chance, 2) == 0; /* killed: no orderly close */
            live_store_close(store);
            store = store_model_open(store_directory);
            assert_int_equal(live_store_remembered_count(store), count);
            live_store_remember_until(store, twin->now_ms, KEEP_MS);
        }
    }
    print_message("           %llu found, %llu forgotten\n", (unsigned long long)twin->found,
                  (unsigned long long)twin->forgotten);
    assert_true(twin->found > 1000 && twin->forgotten > 1000);
    twin->now_ms += KEEP_MS; /* all of it is over: nothing is left */
    live_store_remember_until(store, twin->now_ms, KEEP_MS);
    for (unsigned i = 0; i < TWIN_ROWS / 256 && is_there(FILE_NAME); i++)
        put_batch(store);
    assert_false(is_there(FILE_NAME));
    assert_int_equal(live_store_remembered_count(store), 0);
    live_store_close(store);
    free(twin);
}

/* ---- Limits ------------------------------------------------------------------------------------
 */

/* Hands over rows from this number on, all of which are forgotten at that time. */
static void add_rows(struct live_store *store, uint64_t first, uint64_t rows, uint64_t until_ms,
                     uint8_t state)
{
    struct texts texts;
    begin(store);
    for (uint64_t i = 0; i < rows; i++) {
        struct live_decision_row const row = row_of(first + i, until_ms, state, &texts);
        assert_int_equal(live_store_remember(store, &row), TACIT_OK);
    }
    assert_false(live_store_remembers_all(store));
    store_model_write_now(store);
    assert_int_equal(live_store_commit(store), TACIT_OK);
    assert_true(live_store_remembers_all(store));
}

static bool is_found(struct live_store *store, uint64_t number)
{
    struct live_decision_row row;
    struct live_decision_row by_key;
    struct texts texts;
    bool found;
    bool found_by_key;
    assert_int_equal(live_store_recall(store, id_of(number), &row, &found), TACIT_OK);
    const char *const key = row_of(number, 1, 1, &texts).key;
    if (key == NULL)
        return found;
    assert_int_equal(live_store_recall_key(store, key, &by_key, &found_by_key), TACIT_OK);
    assert_int_equal(found, found_by_key);
    return found;
}

/* It is not found from its millisecond on, and from the disk it goes when an eighth of the time for
 * which is remembered has passed. */
STORE_TEST(what_is_over_is_forgotten_at_its_millisecond)
{
    struct live_store *const store = store_model_open(store_directory);
    live_store_remember_until(store, 1, 8000);
    add_rows(store, 1, 2, 1000, 2);
    add_rows(store, 3, 2, 2500, 2);
    for (uint64_t now_ms = 998; now_ms <= 3502; now_ms++) {
        live_store_remember_until(store, now_ms, 8000);
        for (uint64_t number = 1; number <= 4; number++)
            assert_int_equal(is_found(store, number), now_ms < (number < 3 ? 1000 : 2500));
        begin(store);
        assert_int_equal(live_store_commit(store), TACIT_OK);
        assert_int_equal(live_store_remembered_count(store), now_ms < 2000   ? 4
                                                             : now_ms < 3500 ? 2
                                                                             : 0);
        assert_true(is_there(FILE_NAME) == (now_ms < 3500));
    }
    live_store_close(store);
}

/* Two thousand are one transaction, or five hundred with keys. */
STORE_TEST(many_are_written_together)
{
    struct live_store *const store = store_model_open(store_directory);
    live_store_remember_until(store, 1, 8000);
    for (uint64_t number = 1; number <= 2 * 2048 + 512; number++) {
        struct live_decision_row row = {.number = number, .salt = 1, .deadline_ms = 9000};
        char key[32];
        (void)snprintf(key, sizeof key, "%llu", (unsigned long long)number);
        row.key = number > 2 * 2048 ? key : NULL;
        begin(store);
        assert_int_equal(live_store_remember(store, &row), TACIT_OK);
        assert_int_equal(live_store_commit(store), TACIT_OK);
        assert_int_equal(live_store_remembers_all(store),
                         number == 2048 || number == 4096 || number == 4096 + 512);
    }
    assert_int_equal(store->remembered.transactions, 3);
    live_store_close(store);
}

/* A decision that closed without a reward and got one; and one that a crash left in both. */
STORE_TEST(what_the_state_has_now_is_told)
{
    struct live_store *store = store_model_open(store_directory);
    struct live_decision_row row;
    bool found;
    live_store_remember_until(store, 1, 8000);
    add_rows(store, 1, 20, 90000, 1);
    add_rows(store, 10, 1, 95000, 3);
    assert_int_equal(live_store_remembered_count(store), 20);
    assert_int_equal(live_store_recall(store, id_of(10), &row, &found), TACIT_OK);
    assert_true(found);
    expect_row(&row, 10, 95000, 3);
    assert_true(is_found(store, 9) && is_found(store, 11));
    live_store_remember_until(store, 90000, 8000);
    assert_true(is_found(store, 10) && !is_found(store, 11));
    begin(store);
    struct live_decision_row const other = {.number = 10, .salt = 1};
    assert_int_equal(live_store_remember(store, &other), TACIT_MALFORMED);
    assert_non_null(strstr(live_store_trouble(store), "another decision"));
    live_store_close(store);
}

/* Of 32 bits of a key's hash some are alike: the key itself counts. Of two that were forgotten and
 * made again, the one that is remembered. */
STORE_TEST(a_key_is_its_own)
{
    struct live_store *const store = store_model_open(store_directory);
    char key[STORE_TEXT_BYTES_MAX + 2];
    bool found;
    memset(key, 'k', sizeof key);
    key[sizeof key - 1] = '\0';
    live_store_remember_until(store, 1, 8000);
    begin(store);
    struct live_decision_row row = {.number = 1, .salt = 5, .deadline_ms = 100, .key = key};
    assert_int_equal(live_store_remember(store, &row), TACIT_INVALID);
    assert_false(live_store_is_broken(store));
    key[sizeof key - 2] = '\0';
    assert_int_equal(live_store_remember(store, &row), TACIT_OK);
    row = (struct live_decision_row){.number = STORE_KEY_MAX,
                                     .salt = UINT64_MAX,
                                     .arm = UINT32_MAX,
                                     .kind = 255,
                                     .state = 255,
                                     .opened_ms = UINT64_MAX,
                                     .deadline_ms = UINT64_MAX,
                                     .key = key};
    assert_int_equal(live_store_remember(store, &row), TACIT_OK);
    live_store_remember_until(store, 100, 8000);
    assert_int_equal(live_store_recall_key(store, key, &row, &found), TACIT_OK);
    assert_true(found && row.number == STORE_KEY_MAX && row.salt == UINT64_MAX);
    assert_true(row.arm == UINT32_MAX && row.kind == 255 && row.state == 255);
    assert_true(row.opened_ms == UINT64_MAX && row.deadline_ms == STORE_KEY_MAX);
    assert_string_equal(row.key, key);
    /* The statement finds by the hash; another text under the same one is another key. */
    assert_int_equal(sqlite3_exec(store->remembered.database,
                                  "UPDATE remembered SET key = 'other' WHERE number > 1", NULL,
                                  NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(live_store_recall_key(store, key, &row, &found), TACIT_OK);
    assert_false(found);
    assert_int_equal(live_store_commit(store), TACIT_OK);
    live_store_close(store);
}

/* ---- At rest -----------------------------------------------------------------------------------
 */

static bool lies_somewhere(const char *text)
{
    return store_places_of((const uint8_t *)text, strlen(text)) > 0;
}

/* Keys and contexts of what is over, beside others that are not. */
STORE_TEST(what_is_forgotten_is_in_no_file)
{
    struct live_store *const store = store_model_open(store_directory);
    struct texts texts;
    live_store_remember_until(store, 1, 8000);
    for (uint64_t first = 1; first < 3000; first += 100)
        add_rows(store, first, 100, first % 200 == 1 ? 1000 : 90000, 2);
    (void)row_of(5, 1, 1, &texts);
    assert_true(lies_somewhere(texts.key));
    live_store_remember_until(store, 2000, 8000);
    for (unsigned i = 0; i < 8; i++) {
        begin(store);
        assert_int_equal(live_store_commit(store), TACIT_OK);
    }
    assert_true(live_store_remembers_all(store));
    assert_int_equal(live_store_remembered_count(store), 1500);
    for (uint64_t number = 1; number < 3000; number++) {
        bool const is_over = (number - 1) / 100 % 2 == 0;
        assert_int_equal(is_found(store, number), !is_over);
        if (row_of(number, 1, 1, &texts).key != NULL && number % 7 == 0)
            assert_int_equal(lies_somewhere(texts.key), !is_over);
    }
    live_store_close(store);
}

/* A configuration of another run: all of it goes. */
STORE_TEST(another_configuration_forgets_all)
{
    struct live_store_identity identity = store_model_identity();
    struct tacit_error error = {.text = ""};
    struct live_store *store = store_model_open(store_directory);
    struct live_run_row const run = {.number = 1, .begun_unix_s = 1, .ended_unix_s = 2};
    live_store_remember_until(store, 1, 8000);
    begin(store);
    assert_int_equal(live_store_put_run(store, &run), TACIT_OK);
    assert_int_equal(live_store_commit(store), TACIT_OK);
    add_rows(store, 1, 100, 9000, 2);
    live_store_close(store);
    identity.config_digest[3] ^= 1;
    assert_int_equal(live_store_open(&store, store_directory, &identity, &error), TACIT_OK);
    live_store_remember_until(store, 1, 8000);
    begin(store);
    assert_int_equal(live_store_adopt_config(store), TACIT_OK);
    assert_true(is_there(FILE_NAME) && !is_found(store, 7)); /* it goes with the batch */
    assert_int_equal(live_store_commit(store), TACIT_OK);
    assert_false(is_there(FILE_NAME));
    assert_false(is_found(store, 7));
    add_rows(store, 101, 10, 9000, 2);
    assert_int_equal(store->remembered.transactions, 1);
    live_store_close(store);
}

/* All is forgotten, on a disk that fails so. Does the store stop because its file may stay? */
static bool stops_for_the_file(struct fault_plan plan)
{
    struct live_store *const store = store_model_open(store_directory);
    live_store_remember_until(store, 1, 8000);
    add_rows(store, 1, 2, 1000, 2);
    live_store_remember_until(store, 2000, 8000);
    begin(store);
    fault_vfs_arm(plan);
    enum tacit_status const status = live_store_commit(store);
    assert_int_equal(status, fault_vfs_has_fired() ? TACIT_IO : TACIT_OK);
    fault_vfs_disarm();
    bool const stops = strstr(live_store_trouble(store), "cannot remove " FILE_NAME) != NULL;
    live_store_close(store);
    return stops;
}

/* Its file would stay, and nothing would name it; or come back when the power goes. */
STORE_TEST(a_file_that_cannot_be_removed_stops_the_store)
{
    struct fault_plan plan = {.calls = FAULT_DELETE, .reason = EIO};
    live_store_use_vfs(FAULT_VFS);
    assert_true(stops_for_the_file(plan));
    assert_true(is_there(FILE_NAME));
    live_store_close(store_model_open(store_directory));
    assert_false(is_there(FILE_NAME) || is_there(FILE_NAME "-journal"));
    plan.calls = FAULT_PLAIN_SYNC; /* the last one is that of the directory */
    while (!stops_for_the_file(plan))
        assert_true(plan.countdown++ < 8);
    assert_false(is_there(FILE_NAME));
}

/* ---- Damage ------------------------------------------------------------------------------------
 */

#define ROWS 120u

static void make_three(void)
{
    struct live_store *const store = store_model_open(store_directory);
    live_store_remember_until(store, 1, KEEP_MS);
    for (uint64_t first = 1; first < ROWS; first += ROWS / 3)
        add_rows(store, first, ROWS / 3, KEEP_MS, 2);
    live_store_close(store);
}

/* The state of one and what is remembered of the other. */
static void expect_refused(struct store_image state, const struct store_image *other,
                           const char *words)
{
    struct live_store *store;
    struct tacit_error error;
    state.remembered = other->remembered;
    state.remembered_size = other->remembered_size;
    store_image_write(store_directory, &state);
    assert_int_equal(store_model_try_open(&store, &error), TACIT_MALFORMED);
    store_model_expect_error(&error, store_directory, words);
}

/* Missing; of a time before; of another state. */
STORE_TEST(a_file_that_is_not_the_right_one_is_refused)
{
    static const struct store_image none;
    char place[TEMP_PATH_BYTES];
    memcpy(place, store_directory, sizeof place);
    make_three();
    struct store_image older = store_image_read(store_directory);
    struct live_store *const store = store_model_open(store_directory);
    live_store_remember_until(store, 1, KEEP_MS);
    for (uint64_t i = 0; i < 2; i++) /* one more is what a crash leaves */
        add_rows(store, 500 + i, 1, KEEP_MS, 2);
    assert_int_equal(store_model_batch(store, 1), TACIT_OK);
    struct store_image own = store_image_read(store_directory);
    live_store_close(store);
    temp_path(store_directory, store_around, "another");
    make_three();
    struct store_image another = store_image_read(store_directory);
    memcpy(store_directory, place, sizeof place);
    expect_refused(own, &none, FILE_NAME " is missing");
    expect_refused(own, &older, "of another time");
    expect_refused(own, &another, "not the one that belongs to this state");
    assert_true(own.log_size > 0); /* what was refused is as it was found, its log, too */
    store_image_expect(&own);
    store_image_write(store_directory, &own);
    assert_int_equal(chmod(store_path(FILE_NAME), 0644), 0);
    struct live_store *open_to_others;
    struct tacit_error error;
    assert_int_equal(store_model_try_open(&open_to_others, &error), TACIT_INVALID);
    store_model_expect_error(&error, store_directory, FILE_NAME);
    store_image_expect(&own);
    store_image_free(&older);
    store_image_free(&own);
    store_image_free(&another);
}

/* Any byte that rots, in any page: found when it is read, and then nothing is answered any more.
 * What is answered before is never another thing than was written. */
STORE_TEST(a_damaged_page_stops_the_store)
{
    unsigned refused = 0;
    unsigned stopped = 0;
    struct live_store *store;
    struct tacit_error error;
    make_three();
    struct store_image image = store_image_read(store_directory);
    for (size_t at = 0; at < image.remembered_size; at += 211) {
        image.remembered[at] ^= 4;
        store_image_write(store_directory, &image);
        image.remembered[at] ^= 4;
        if (store_model_try_open(&store, &error) != TACIT_OK) {
            refused++;
            continue;
        }
        enum tacit_status status = TACIT_OK;
        live_store_remember_until(store, 1, KEEP_MS);
        for (uint64_t number = 1; status == TACIT_OK && number <= ROWS; number++) {
            struct live_decision_row row;
            bool found;
            status = live_store_recall(store, id_of(number), &row, &found);
            assert_int_equal(found, status == TACIT_OK);
            if (found)
                expect_row(&row, number, KEEP_MS, 2);
        }
        if (status != TACIT_OK) {
            stopped++;
            assert_int_equal(status, TACIT_MALFORMED);
            assert_non_null(strstr(live_store_trouble(store), "checksum differs"));
            assert_true(live_store_is_broken(store));
        }
        live_store_close(store);
    }
    print_message("           %u refused at start, %u stopped when read\n", refused, stopped);
    assert_true(refused > 10 && stopped > 10);
    image.remembered_size /= 2;
    store_image_write(store_directory, &image);
    assert_int_not_equal(store_model_try_open(&store, &error), TACIT_OK);
    store_image_free(&image);
}

STORE_TEST(the_file_is_for_its_owner_only)
{
    struct stat found;
    mode_t const before = umask(0);
    make_three();
    (void)umask(before);
    assert_int_equal(stat(store_path(FILE_NAME), &found), 0);
    assert_int_equal(found.st_mode & 0777, 0600);
}

/* ---- Ten million -------------------------------------------------------------------------------
 */

static long resident_kib(const char *what)
{
    char line[128];
    long kib = -1;
    FILE *const file = fopen("/proc/self/status", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, what, strlen(what)) == 0)
            kib = strtol(line + strlen(what), NULL, 10);
    (void)fclose(file);
    return kib;
}

static double cpu_s(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

/* Two of three have a random key. */
static void ten_million_cost_little(void **state)
{
    struct live_store *store = store_model_open(store_directory);
    live_store_remember_until(store, 1, 1000000);
    double const before = cpu_s();
    for (uint64_t number = 1; number <= LONG_ROWS;) {
        struct texts texts;
        begin(store);
        for (uint64_t i = 0; i < 128 && number <= LONG_ROWS; i++, number++) {
            struct live_decision_row const row = row_of(number, 500000 + number % 1000, 1, &texts);
            assert_int_equal(live_store_remember(store, &row), TACIT_OK);
        }
        assert_int_equal(live_store_commit(store), TACIT_OK);
    }
    put_batch(store);
    print_message("           written in %.1f s of a processor\n", cpu_s() - before);
    print_message("           %ld KiB at most\n", resident_kib("VmHWM:"));
    live_store_close(store);
    double const open_before = cpu_s();
    store = store_model_open(store_directory);
    double const opened = cpu_s() - open_before;
    live_store_remember_until(store, 1, 1000000);
    double const look_before = cpu_s();
    uint64_t chance = 3;
    for (unsigned i = 0; i < 20000; i++) {
        uint64_t const number = 1 + store_draw(&chance, 2 * (uint64_t)LONG_ROWS);
        assert_int_equal(is_found(store, number), number <= LONG_ROWS);
    }
    print_message("           opened in %.2f s, a look-up takes %.1f us, %ld KiB now\n", opened,
                  1e6 * (cpu_s() - look_before) / 20000, resident_kib("VmRSS:"));
    assert_true(opened < LONG_OPEN_CPU_S);
    assert_true(resident_kib("VmHWM:") < LONG_RSS_KIB);
    live_store_close(store);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    fault_vfs_register();
    fault_vfs_skip_syncs(true);
    if (effort_is_long())
        testing_add(&(struct CMUnitTest)cmocka_unit_test_setup_teardown(
                        ten_million_cost_little, store_place_make, store_place_remove),
                    UINT32_MAX);
    return testing_run(NULL, NULL);
}
