/* Decisions that are remembered on disk: beside a hash map over random hand-overs, kills and
 * restarts; when the disk fails or the power goes at any call; when a file is damaged, missing or
 * another one. TACIT_TEST_LONG=1: ten million of them, and what they cost. */
#include "../../src/live/store/store_base.h"
#include "../support/effort.h"
#include "../support/fault_vfs.h"
#include "../support/store_model.h"
#include "../support/temp.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#define KEEP_MS 100000u
#define TWIN_ROWS 60000u
#define TWIN_STEPS 500u
#define FAULT_RUNS_MAX 3000u
#define POWER_RUNS effort_of(50, 100)
#define LONG_ROWS 10000000u
#define LONG_RSS_KIB 65536
#define LONG_OPEN_CPU_S 2.0

/* Without threads, so that faults come in the order of the calls. */
static int make_alone(void **state)
{
    live_store_use_threads(false);
    return store_place_make(state);
}

static uint64_t draw(uint64_t *chance, uint64_t bound)
{
    *chance = *chance * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (*chance >> 33) % bound;
}

static enum tacit_status try_open(struct live_store **store, struct tacit_error *error)
{
    struct live_store_identity const identity = store_model_identity();
    *error = (struct tacit_error){.text = ""};
    *store = NULL;
    return live_store_open(store, store_directory, &identity, error);
}

/* ---- Rows --------------------------------------------------------------------------------------
 */

/* Everything of a row follows from its number. Ids are spread as drawn ones are. */
static uint64_t id_of(uint64_t number)
{
    uint64_t id = number * UINT64_C(0x9e3779b97f4a7c15);
    id = (id ^ id >> 31) * UINT64_C(0xbf58476d1ce4e5b9);
    return (id ^ id >> 29) >> 1 | 1;
}

struct texts {
    char key[32];
    uint8_t kept[24];
};

static struct live_decision_row row_of(uint64_t number, uint64_t until_ms, uint8_t state,
                                       struct texts *texts)
{
    (void)snprintf(texts->key, sizeof texts->key, "key-%llu", (unsigned long long)number);
    memset(texts->kept, (int)(number % 251), sizeof texts->kept);
    bool const has_kept = number % 5 == 0;
    return (struct live_decision_row){.number = number,
                                      .id = id_of(number),
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
    struct live_decision_row const expected = row_of(number, until_ms, state, &texts);
    assert_int_equal(row->id, expected.id);
    assert_int_equal(row->arm, expected.arm);
    assert_int_equal(row->kind, expected.kind);
    assert_int_equal(row->state, expected.state);
    assert_int_equal(row->opened_ms, expected.opened_ms);
    assert_int_equal(row->deadline_ms, expected.deadline_ms);
    assert_null(row->unit);
    assert_int_equal(row->key == NULL, expected.key == NULL);
    if (row->key != NULL)
        assert_string_equal(row->key, expected.key);
    assert_int_equal(row->kept_size, expected.kept_size);
    if (row->kept_size > 0)
        assert_memory_equal(row->kept, expected.kept, expected.kept_size);
}

/* ---- A twin ------------------------------------------------------------------------------------
 */

/* By number: 0: never handed over. */
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
    uint64_t const count = 1 + draw(&twin->chance, 150);
    for (uint64_t i = 0; i < count && twin->next < TWIN_ROWS; i++) {
        struct texts texts;
        uint64_t number = twin->next;
        bool const is_late = draw(&twin->chance, 10) == 0;
        if (is_late) /* one that closed without a reward got one */
            number = 1 + draw(&twin->chance, twin->next);
        if (is_late && (number >= twin->next || twin->states[number] != 2 ||
                        twin->until_ms[number] <= twin->now_ms))
            continue;
        if (!is_late) {
            twin->next++;
            twin->until_ms[number] = twin->now_ms + KEEP_MS / 2 + draw(&twin->chance, 4000);
        }
        twin->states[number] = is_late ? 3 : (uint8_t)(1 + draw(&twin->chance, 3));
        struct live_decision_row const row =
            row_of(number, twin->until_ms[number], twin->states[number], &texts);
        assert_int_equal(live_store_remember(store, &row), TACIT_OK);
    }
}

static void put_batch(struct live_store *store, bool ends_pile)
{
    if (live_store_begin(store) != TACIT_OK)
        fail_msg("%s", live_store_trouble(store));
    if (ends_pile)
        assert_int_equal(live_store_remember_end(store), TACIT_OK);
    assert_int_equal(live_store_commit(store), TACIT_OK);
}

static size_t files_there(void)
{
    DIR *const found = opendir(store_directory);
    size_t count = 0;
    assert_non_null(found);
    for (struct dirent const *entry; (entry = readdir(found)) != NULL;)
        count += strncmp(entry->d_name, "remembered-", 11) == 0;
    (void)closedir(found);
    return count;
}

/* Hand-overs, merges, restarts and the passing of time, at random. */
static void run_twin(bool has_threads)
{
    struct twin *const twin = calloc(1, sizeof *twin);
    assert_non_null(twin);
    twin->next = 1;
    twin->chance = has_threads ? 5 : 77;
    size_t most_files = 0;
    live_store_use_threads(has_threads);
    struct live_store *store = store_model_open(store_directory);
    for (uint32_t step = 0; step < TWIN_STEPS; step++) {
        twin->now_ms += draw(&twin->chance, 1000);
        live_store_remember_until(store, twin->now_ms, KEEP_MS);
        put_batch(store, false);
        live_store_remember_wait(store);
        put_batch(store, false); /* what was merged is taken in */
        live_store_remember_wait(store);
        while (live_store_remembering(store) != LIVE_REMEMBER_IDLE)
            put_batch(store, live_store_remembering(store) == LIVE_REMEMBER_WRITTEN);
        hand_over(store, twin);
        if (store->piles.filling != NULL) {
            assert_int_equal(live_store_remember_start(store), TACIT_OK);
            live_store_remember_wait(store);
            put_batch(store, true);
        }
        for (uint32_t i = 0; i < 12; i++)
            look_up(store, twin, 1 + draw(&twin->chance, twin->next + 10));
        most_files = files_there() > most_files ? files_there() : most_files;
        if (draw(&twin->chance, 20) == 0) {
            store->is_broken = draw(&twin->chance, 2) == 0; /* killed: no orderly close */
            live_store_close(store);
            store = store_model_open(store_directory);
            live_store_remember_until(store, twin->now_ms, KEEP_MS);
            assert_int_equal(files_there(), store->piles.count);
        }
    }
    print_message("           %llu found, %llu forgotten, %zu files at most\n",
                  (unsigned long long)twin->found, (unsigned long long)twin->forgotten, most_files);
    assert_true(twin->found > 1000 && twin->forgotten > 1000);
    assert_true(most_files > 4 && most_files < 80);
    twin->now_ms += KEEP_MS; /* all of it is over: nothing is left */
    live_store_remember_until(store, twin->now_ms, KEEP_MS);
    live_store_remember_wait(store);
    for (int i = 0; i < 3; i++) {
        put_batch(store, false);
        live_store_remember_wait(store);
    }
    assert_int_equal(files_there(), 0);
    assert_int_equal(live_store_remembered_count(store), 0);
    live_store_close(store);
    free(twin);
}

static void piles_hold_what_a_table_holds(void **state)
{
    (void)state;
    run_twin(false);
}

static void piles_hold_it_with_a_thread_too(void **state)
{
    (void)state;
    run_twin(true);
}

/* ---- Faults ------------------------------------------------------------------------------------
 */

#define STEP_ROWS 40u

/* One step of what an agent does: rows closed, are put, handed over, and dropped when a pile has
 * them. Returns false if the store broke; *committed: rows below it are promised. */
static bool fault_step(struct live_store *store, uint64_t step, uint64_t *committed)
{
    struct texts texts;
    live_store_remember_until(store, 1, KEEP_MS);
    if (live_store_begin(store) != TACIT_OK)
        return false;
    for (uint64_t i = 0; i < STEP_ROWS; i++) {
        struct live_decision_row row = row_of(1 + step * STEP_ROWS + i, KEEP_MS, 2, &texts);
        row.unit = NULL;
        if (live_store_put_decision(store, &row) != TACIT_OK)
            return false;
    }
    if (live_store_commit(store) != TACIT_OK)
        return false;
    *committed = 1 + (step + 1) * STEP_ROWS;
    for (uint64_t i = 0; i < STEP_ROWS; i++) {
        struct live_decision_row const row = row_of(1 + step * STEP_ROWS + i, KEEP_MS, 2, &texts);
        if (live_store_remember(store, &row) != TACIT_OK)
            return false;
    }
    while (live_store_remembering(store) == LIVE_REMEMBER_BUSY)
        if (live_store_begin(store) != TACIT_OK || live_store_commit(store) != TACIT_OK)
            return false;
    if (live_store_remember_start(store) != TACIT_OK || live_store_begin(store) != TACIT_OK ||
        live_store_remember_end(store) != TACIT_OK)
        return false;
    for (uint64_t i = 0; i < STEP_ROWS; i++)
        if (live_store_drop_decision(store, 1 + step * STEP_ROWS + i) != TACIT_OK)
            return false;
    return live_store_commit(store) == TACIT_OK;
}

struct seen {
    bool *rows;
    uint64_t count;
};

static bool see(void *context, const struct live_decision_row *row)
{
    struct seen *const seen = context;
    assert_true(row->number < seen->count);
    seen->rows[row->number] = true;
    return true;
}

/* By the ordinary disk: each promised row is in the table or in a pile; and no file is left over.
 */
static void expect_rows(uint64_t promised)
{
    struct live_store *const store = store_model_open(store_directory);
    struct seen seen = {.count = promised + 2 * STEP_ROWS};
    seen.rows = calloc(seen.count, sizeof(bool));
    live_store_remember_until(store, 1, KEEP_MS);
    assert_int_equal(live_store_decisions(store, see, &seen), TACIT_OK);
    for (uint64_t number = 1; number < promised; number++) {
        struct live_decision_row row;
        bool found;
        assert_int_equal(live_store_recall(store, id_of(number), &row, &found), TACIT_OK);
        if (!found && !seen.rows[number])
            fail_msg("decision %llu of %llu is lost", (unsigned long long)number,
                     (unsigned long long)promised);
        if (found)
            expect_row(&row, number, KEEP_MS, 2);
    }
    assert_int_equal(files_there(), store->piles.count);
    free(seen.rows);
    live_store_close(store);
}

/* The reason of the fault that is planned; 0: none. */
static int planned_reason;

/* What is said of it: a full disk is named as one. */
static void expect_reason(const char *text)
{
    if (planned_reason != 0)
        assert_int_equal(strstr(text, "full") != NULL, planned_reason == ENOSPC);
}

static bool run_steps(uint64_t steps, uint64_t *promised)
{
    struct live_store *store;
    struct tacit_error error;
    if (try_open(&store, &error) != TACIT_OK) {
        expect_reason(error.text);
        return false;
    }
    store->log_pages_max = 16;
    bool is_whole = true;
    for (uint64_t step = 0; is_whole && step < steps; step++)
        is_whole = fault_step(store, step, promised);
    if (!is_whole) {
        assert_true(live_store_is_broken(store));
        expect_reason(live_store_trouble(store));
    }
    live_store_close(store);
    return is_whole;
}

static void fresh_directory(void)
{
    char name[48];
    static unsigned count;
    (void)snprintf(name, sizeof name, "state-%u", count++);
    temp_path(store_directory, store_around, name);
    live_store_use_vfs(NULL);
    live_store_close(store_model_open(store_directory));
    live_store_use_vfs(FAULT_VFS);
}

static void fail_every_call(unsigned calls, int reason, bool is_for_ever)
{
    uint32_t runs = 0;
    bool has_fired;
    do {
        uint64_t promised = 1;
        fresh_directory();
        fault_vfs_arm((struct fault_plan){
            .calls = calls, .countdown = runs, .reason = reason, .is_for_ever = is_for_ever});
        planned_reason = reason;
        (void)run_steps(6, &promised);
        planned_reason = 0;
        has_fired = fault_vfs_has_fired();
        fault_vfs_disarm();
        live_store_use_vfs(NULL);
        expect_rows(promised);
        runs += runs < 30 ? 1 : 4;
        assert_true(runs < FAULT_RUNS_MAX);
    } while (has_fired);
    print_message("           up to call %u\n", runs);
    assert_true(runs > 10);
}

static void a_disk_that_fails_loses_nothing_remembered(void **state)
{
    (void)state;
    fail_every_call(FAULT_ANY, EIO, false);
    fail_every_call(FAULT_ANY, EIO, true);
}

/* A pile's name in its directory. */
static void a_plain_sync_that_fails_loses_nothing_remembered(void **state)
{
    (void)state;
    fail_every_call(FAULT_PLAIN_SYNC, EIO, false);
}

static void a_full_disk_loses_nothing_remembered(void **state)
{
    (void)state;
    fail_every_call(FAULT_WRITE, ENOSPC, true);
}

static void a_power_failure_loses_nothing_remembered(void **state)
{
    (void)state;
    unsigned cut = 0;
    for (uint64_t seed = 0; seed < POWER_RUNS; seed++) {
        uint64_t chance = seed * 131 + 9;
        uint64_t promised = 1;
        fresh_directory();
        fault_vfs_watch_syncs();
        fault_vfs_arm((struct fault_plan){.calls = FAULT_CHANGES | FAULT_DELETE,
                                          .countdown = (uint32_t)draw(&chance, 130)});
        cut += run_steps(6, &promised) ? 0 : 1;
        fault_vfs_lose_power(chance);
        live_store_use_vfs(NULL);
        expect_rows(promised);
    }
    print_message("           %u of %u were cut\n", cut, POWER_RUNS);
    assert_true(cut > POWER_RUNS / 2);
}

/* ---- Limits ------------------------------------------------------------------------------------
 */

/* Hands over rows from this number on, all of which are forgotten at that time. */
static void add_pile(struct live_store *store, uint64_t first, uint64_t rows, uint64_t until_ms)
{
    struct texts texts;
    for (uint64_t i = 0; i < rows; i++) {
        struct live_decision_row const row = row_of(first + i, until_ms, 2, &texts);
        assert_int_equal(live_store_remember(store, &row), TACIT_OK);
    }
    assert_int_equal(live_store_remember_start(store), TACIT_OK);
    put_batch(store, true);
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

static void what_is_over_is_forgotten_at_its_millisecond(void **state)
{
    (void)state;
    struct live_store *const store = store_model_open(store_directory);
    live_store_remember_until(store, 1, 8000);
    add_pile(store, 1, 2, 1000);
    add_pile(store, 3, 2, 1001);
    for (uint64_t now_ms = 999; now_ms <= 1002; now_ms++) {
        live_store_remember_until(store, now_ms, 8000);
        for (uint64_t number = 1; number <= 4; number++)
            assert_int_equal(is_found(store, number), now_ms < (number < 3 ? 1000 : 1001));
        put_batch(store, false);
        size_t const files = now_ms < 1000 ? 2 : now_ms < 1001 ? 1 : 0;
        assert_int_equal(store->piles.count, files);
        assert_int_equal(files_there(), files);
        assert_int_equal(live_store_remembered_count(store), 2 * files);
    }
    live_store_close(store);
}

/* Four piles, by how many rows they have and when they go: are they made one? The part of the time
 * that they may be apart is an eighth. */
static size_t piles_after(const uint64_t rows[4], const uint64_t until_ms[4])
{
    char name[48];
    static unsigned count;
    (void)snprintf(name, sizeof name, "limit-%u", count++);
    temp_path(store_directory, store_around, name);
    struct live_store *const store = store_model_open(store_directory);
    live_store_remember_until(store, 1, 8000);
    uint64_t first = 1;
    for (size_t i = 0; i < 4; i++) {
        add_pile(store, first, rows[i], until_ms[i]);
        first += rows[i];
        assert_int_equal(store->piles.count, i + 1);
        put_batch(store, false); /* a merge that is due begins */
    }
    assert_int_equal(live_store_remembered_count(store), first - 1);
    bool const merges = live_store_remembering(store) == LIVE_REMEMBER_BUSY;
    put_batch(store, false); /* and is taken in */
    size_t const piles = store->piles.count;
    assert_int_equal(merges, store->piles.next_number > 5);
    for (uint64_t number = 1; number < first; number++)
        assert_true(is_found(store, number));
    assert_int_equal(files_there(), piles);
    live_store_close(store);
    return piles;
}

static void piles_of_one_size_and_time_are_made_one(void **state)
{
    (void)state;
    static const uint64_t one[] = {1, 1, 1, 1};
    static const uint64_t same[] = {90000, 90000, 90000, 90000};
    assert_int_equal(piles_after(one, same), 1);
    assert_int_equal(piles_after((uint64_t[]){3, 1, 2, 3}, same), 1);
    assert_int_equal(piles_after((uint64_t[]){3, 3, 3, 4}, same), 4);
    assert_int_equal(piles_after((uint64_t[]){4, 15, 4, 5}, same), 1);
    assert_int_equal(piles_after((uint64_t[]){4, 16, 4, 5}, same), 4);
    assert_int_equal(piles_after(one, (uint64_t[]){90000, 91000, 90000, 89000}), 1);
    assert_int_equal(piles_after(one, (uint64_t[]){90000, 91001, 90000, 90000}), 4);
    assert_int_equal(piles_after(one, (uint64_t[]){90000, 90000, 90000, 88999}), 4);
}

/* Its file would stay, and nothing would name it. */
static void a_pile_that_cannot_be_removed_stops_the_store(void **state)
{
    (void)state;
    live_store_use_vfs(FAULT_VFS);
    struct live_store *const store = store_model_open(store_directory);
    live_store_remember_until(store, 1, 8000);
    add_pile(store, 1, 2, 1000);
    live_store_remember_until(store, 1000, 8000);
    fault_vfs_arm((struct fault_plan){.calls = FAULT_DELETE, .reason = EIO});
    assert_int_equal(live_store_begin(store), TACIT_OK);
    assert_int_equal(live_store_commit(store), TACIT_IO);
    assert_true(fault_vfs_has_fired());
    fault_vfs_disarm();
    assert_non_null(strstr(live_store_trouble(store), "cannot remove a pile that is forgotten"));
    assert_int_equal(files_there(), 1);
    live_store_close(store);
    live_store_close(store_model_open(store_directory));
    assert_int_equal(files_there(), 0);
}

/* For each pile that is handed over one merge begins, though two are due: whoever hands over waits
 * for one at most. */
static void one_merge_begins_for_each_pile_that_comes(void **state)
{
    (void)state;
    struct live_store *const store = store_model_open(store_directory);
    live_store_remember_until(store, 1, 8000);
    for (uint64_t i = 0; i < 8; i++)
        add_pile(store, 1 + i, 1, 90000 + 1001 * i); /* too far apart */
    put_batch(store, false);
    assert_int_equal(store->piles.count, 8);
    add_pile(store, 9, 16, 90000);
    live_store_remember_until(store, 1, 80000);
    for (unsigned i = 0; i < 4; i++)
        put_batch(store, false);
    assert_int_equal(store->piles.count, 6);
    add_pile(store, 25, 16, 90000);
    for (unsigned i = 0; i < 4; i++)
        put_batch(store, false);
    assert_int_equal(store->piles.count, 4);
    assert_int_equal(files_there(), 4);
    live_store_close(store);
}

/* Piles of so many rows, as the database tells it: a million at most become one. */
static size_t piles_of_many(uint64_t rows, uint64_t more)
{
    char name[48];
    (void)snprintf(name, sizeof name, "many-%llu", (unsigned long long)more);
    temp_path(store_directory, store_around, name);
    struct live_store *const store = store_model_open(store_directory);
    live_store_remember_until(store, 1, 8000);
    for (uint64_t i = 0; i < 4; i++) {
        add_pile(store, 1 + i, 1, 90000);
        struct store_pile_facts *const facts =
            (void *)(uintptr_t)store_pile_facts(store->piles.list[i]);
        facts->rows = rows + (i == 2 ? more : 0);
    }
    put_batch(store, false);
    put_batch(store, false);
    size_t const piles = store->piles.count;
    live_store_close(store);
    return piles;
}

static void piles_that_are_large_stay_as_they_are(void **state)
{
    (void)state;
    assert_int_equal(piles_of_many(UINT64_C(1) << 18, 0), 1);
    assert_int_equal(piles_of_many(UINT64_C(1) << 18, 1), 4);
}

/* A decision that closed without a reward and got one: the later version is the one that is told,
 * whichever pile it is in, and the only one that a merge keeps. */
static void the_version_that_knows_more_is_told(void **state)
{
    (void)state;
    static const uint8_t orders[][4] = {{1, 2, 1, 1}, {2, 1, 1, 1}, {1, 1, 3, 2}, {3, 3, 3, 3}};
    for (size_t order = 0; order < sizeof orders / sizeof orders[0]; order++) {
        char name[48];
        uint8_t best = 0;
        (void)snprintf(name, sizeof name, "order-%zu", order);
        temp_path(store_directory, store_around, name);
        struct live_store *store = store_model_open(store_directory);
        live_store_remember_until(store, 1, 8000);
        for (size_t i = 0; i < 6; i++) { /* two more batches, for the merge */
            struct texts texts;
            struct live_decision_row row = row_of(10, 90000, i < 4 ? orders[order][i] : 1, &texts);
            bool found;
            if (i < 4) {
                assert_int_equal(live_store_remember(store, &row), TACIT_OK);
                assert_int_equal(live_store_remember_start(store), TACIT_OK);
            }
            put_batch(store, i < 4);
            best = row.state > best ? row.state : best;
            assert_int_equal(live_store_recall(store, id_of(10), &row, &found), TACIT_OK);
            assert_true(found);
            expect_row(&row, 10, 90000, best);
            assert_int_equal(live_store_recall_key(store, "key-10", &row, &found), TACIT_OK);
            assert_true(found);
            expect_row(&row, 10, 90000, best);
        }
        assert_int_equal(store->piles.count, 1);
        assert_int_equal(live_store_remembered_count(store), 1);
        assert_int_equal(store_pile_facts(store->piles.list[0])->items, 2); /* it, and its key */
        live_store_close(store);
    }
}

static void a_key_of_254_bytes_is_the_longest(void **state)
{
    (void)state;
    char key[256];
    struct live_store *const store = store_model_open(store_directory);
    live_store_remember_until(store, 1, 8000);
    memset(key, 'k', sizeof key);
    key[255] = '\0';
    struct live_decision_row row = {.number = 1, .id = 5, .deadline_ms = 9000, .key = key};
    assert_int_equal(live_store_remember(store, &row), TACIT_INVALID);
    assert_false(live_store_is_broken(store));
    key[254] = '\0';
    assert_int_equal(live_store_remember(store, &row), TACIT_OK);
    row = (struct live_decision_row){
        .number = 2, .id = STORE_KEY_MAX, .arm = UINT32_MAX, .kind = 255, .deadline_ms = 9000};
    assert_int_equal(live_store_remember(store, &row), TACIT_OK);
    assert_int_equal(live_store_remembering(store), LIVE_REMEMBER_IDLE);
    assert_int_equal(live_store_remember_start(store), TACIT_OK);
    assert_int_equal(live_store_remembering(store), LIVE_REMEMBER_WRITTEN);
    put_batch(store, true);
    bool found;
    assert_int_equal(live_store_recall_key(store, key, &row, &found), TACIT_OK);
    assert_true(found);
    assert_string_equal(row.key, key);
    assert_int_equal(live_store_recall(store, STORE_KEY_MAX, &row, &found), TACIT_OK);
    assert_true(found && row.arm == UINT32_MAX && row.kind == 255 && row.state == 0);
    assert_null(row.key);
    assert_int_equal(live_store_recall_key(store, "nobody's", &row, &found), TACIT_OK);
    assert_false(found);
    live_store_close(store);
}

/* ---- Damage ------------------------------------------------------------------------------------
 */

static void make_three(void)
{
    uint64_t promised = 1;
    live_store_use_vfs(NULL);
    live_store_close(store_model_open(store_directory));
    assert_true(run_steps(3, &promised));
}

static void expect_refused(const char *word)
{
    struct live_store *store;
    struct tacit_error error;
    assert_int_equal(try_open(&store, &error), TACIT_MALFORMED);
    if (strstr(error.text, word) == NULL || strstr(error.text, store_directory) == NULL)
        fail_msg("\"%s\" lacks \"%s\" or the path", error.text, word);
}

static void pile_path(char path[TEMP_PATH_BYTES], unsigned number)
{
    char name[STORE_PILE_NAME_BYTES];
    (void)snprintf(name, sizeof name, STORE_PILE_NAME, (unsigned long long)number);
    temp_path(path, store_directory, name);
}

static void flip(const char *path, long offset)
{
    FILE *const file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, offset, offset < 0 ? SEEK_END : SEEK_SET), 0);
    int const byte = fgetc(file);
    assert_int_equal(fseek(file, -1, SEEK_CUR), 0);
    assert_int_not_equal(fputc(byte ^ 4, file), EOF);
    assert_int_equal(fclose(file), 0);
}

static void a_file_that_is_not_the_right_one_is_refused(void **state)
{
    (void)state;
    char path[TEMP_PATH_BYTES];
    char other[TEMP_PATH_BYTES];
    make_three();
    pile_path(path, 2);
    pile_path(other, 9);
    assert_int_equal(rename(path, other), 0);
    expect_refused("is missing");
    assert_int_equal(rename(other, path), 0);
    flip(path, -3);
    expect_refused("damaged, or not the one");
    flip(path, -3);
    assert_int_equal(truncate(path, 100), 0);
    expect_refused("truncated");
}

/* A block that rots: found when it is read, and then nothing is answered any more. */
static void a_damaged_block_stops_the_store(void **state)
{
    (void)state;
    char path[TEMP_PATH_BYTES];
    make_three();
    pile_path(path, 1);
    flip(path, 20);
    struct live_store *const store = store_model_open(store_directory);
    struct live_decision_row row;
    bool found;
    live_store_remember_until(store, 1, KEEP_MS);
    assert_int_equal(live_store_recall(store, id_of(1), &row, &found), TACIT_MALFORMED);
    assert_false(found);
    assert_true(live_store_is_broken(store));
    assert_non_null(strstr(live_store_trouble(store), "checksum differs"));
    assert_int_equal(live_store_recall(store, id_of(2), &row, &found), TACIT_IO);
    live_store_close(store);
}

static void piles_are_for_their_owner_only(void **state)
{
    (void)state;
    char path[TEMP_PATH_BYTES];
    struct stat found;
    mode_t const before = umask(0);
    make_three();
    (void)umask(before);
    pile_path(path, 1);
    assert_int_equal(stat(path, &found), 0);
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

static void ten_million_cost_little(void **state)
{
    (void)state;
    live_store_use_threads(true);
    struct live_store *store = store_model_open(store_directory);
    live_store_remember_until(store, 1, 1000000);
    double const before = cpu_s();
    for (uint64_t number = 1; number <= LONG_ROWS;) {
        struct texts texts;
        for (uint64_t i = 0; i < 16384 && number <= LONG_ROWS; i++, number++) {
            struct live_decision_row const row = row_of(number, 500000 + number % 1000, 1, &texts);
            assert_int_equal(live_store_remember(store, &row), TACIT_OK);
        }
        live_store_remember_wait(store);
        put_batch(store, false);
        live_store_remember_wait(store);
        put_batch(store, false);
        assert_int_equal(live_store_remembering(store), LIVE_REMEMBER_IDLE);
        assert_int_equal(live_store_remember_start(store), TACIT_OK);
        live_store_remember_wait(store);
        put_batch(store, true);
    }
    print_message("           written and merged in %.1f s of a processor, %zu piles\n",
                  cpu_s() - before, store->piles.count);
    print_message("           %ld KiB at most\n", resident_kib("VmHWM:"));
    live_store_close(store);
    double const open_before = cpu_s();
    store = store_model_open(store_directory);
    double const opened = cpu_s() - open_before;
    live_store_remember_until(store, 1, 1000000);
    double const look_before = cpu_s();
    uint64_t chance = 3;
    for (unsigned i = 0; i < 20000; i++) {
        struct live_decision_row row;
        bool found;
        uint64_t const number = 1 + draw(&chance, 2 * (uint64_t)LONG_ROWS);
        assert_int_equal(live_store_recall(store, id_of(number), &row, &found), TACIT_OK);
        assert_int_equal(found, number <= LONG_ROWS);
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
#define CASE(name) cmocka_unit_test_setup_teardown(name, make_alone, store_place_remove)
    const struct CMUnitTest tests[] = {
        CASE(piles_hold_what_a_table_holds),
        CASE(piles_hold_it_with_a_thread_too),
        CASE(a_disk_that_fails_loses_nothing_remembered),
        CASE(a_full_disk_loses_nothing_remembered),
        CASE(a_plain_sync_that_fails_loses_nothing_remembered),
        CASE(a_power_failure_loses_nothing_remembered),
        CASE(what_is_over_is_forgotten_at_its_millisecond),
        CASE(piles_of_one_size_and_time_are_made_one),
        CASE(a_pile_that_cannot_be_removed_stops_the_store),
        CASE(one_merge_begins_for_each_pile_that_comes),
        CASE(piles_that_are_large_stay_as_they_are),
        CASE(the_version_that_knows_more_is_told),
        CASE(a_key_of_254_bytes_is_the_longest),
        CASE(a_file_that_is_not_the_right_one_is_refused),
        CASE(a_damaged_block_stops_the_store),
        CASE(piles_are_for_their_owner_only),
    };
    const struct CMUnitTest long_tests[] = {CASE(ten_million_cost_little)};
    int const failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (!effort_is_long())
        return failed;
    return failed + cmocka_run_group_tests(long_tests, NULL, NULL);
}
