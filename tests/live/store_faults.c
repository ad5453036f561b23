/* The store when the process is killed, the disk fails, the power goes or memory runs out: what
 * commit reported is there afterwards, and nothing is there in half. */
#include "../../src/live/store/store.h"
#include "../../src/live/store/store_erase.h"
#include "../support/effort.h"
#include "../support/fault_vfs.h"
#include "../support/store_model.h"
#include "../support/temp.h"
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#define KILLS effort_of(60, 120)
#define KILL_US_MAX 6000u
#define FAULT_BATCHES 4u /* with this log_pages_max there is a fold among them */
#define FAULT_LOG_PAGES 8u
#define FAULT_RUNS_MAX 8000u
#define POWER_RUNS effort_of(100, 400)
#define UNSYNCED_RUNS 50u
#define SYNC_SEEDS effort_of(4, 10)
#define SPEED_ROUNDS 400u
#define SPEED_ROWS 64u

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

/* Where the store stands, by the ordinary disk. */
static uint64_t batch_on_disk(void)
{
    struct live_store *const store = store_model_open(store_directory);
    uint64_t const batch = store_model_check(store);
    live_store_close(store);
    return batch;
}

/* Batches from..: how many commit reported until one failed. */
static uint64_t put_batches(struct live_store *store, uint64_t from, uint64_t count)
{
    uint64_t reported = 0;
    while (reported < count && store_model_batch(store, from + reported) == TACIT_OK)
        reported++;
    return reported;
}

/* Broken for good: nothing begins, nothing is read, and it says why. */
static void expect_broken(struct live_store *store)
{
    uint64_t value;
    bool found;
    assert_true(live_store_is_broken(store));
    assert_int_equal(live_store_begin(store), TACIT_IO);
    assert_int_equal(live_store_put_value(store, "batch", 1), TACIT_IO);
    assert_int_equal(live_store_get_value(store, "batch", &value, &found), TACIT_IO);
    assert_int_equal(live_store_commit(store), TACIT_IO);
    assert_non_null(strstr(live_store_trouble(store), store_directory));
}

/* ---- Killed ---------------------------------------------------------------------------------- */

/* Commits batches for ever and tells each one after its commit returned. */
static _Noreturn void be_killed(int told)
{
    struct live_store *store;
    struct tacit_error error;
    uint64_t batch = 0;
    bool found;
    if (try_open(&store, &error) != TACIT_OK ||
        live_store_get_value(store, "batch", &batch, &found) != TACIT_OK)
        _exit(1);
    store->log_pages_max = FAULT_LOG_PAGES; /* so that folds are hit too */
    for (;;) {
        batch++;
        if (store_model_batch(store, batch) != TACIT_OK ||
            write(told, &batch, sizeof batch) != (ssize_t)sizeof batch)
            _exit(1);
    }
}

/* Kills a child after that time; the last batch that it told, or `before`. */
static uint64_t kill_one(useconds_t after_us, uint64_t before)
{
    int told[2];
    assert_int_equal(pipe(told), 0);
    pid_t const child = fork();
    if (child == 0) {
        (void)close(told[0]);
        be_killed(told[1]);
    }
    (void)close(told[1]);
    (void)usleep(after_us);
    assert_int_equal(kill(child, SIGKILL), 0);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    uint64_t last = before;
    uint64_t batch;
    while (read(told[0], &batch, sizeof batch) == (ssize_t)sizeof batch)
        last = batch;
    (void)close(told[0]);
    return last;
}

static void a_kill_at_any_time_loses_nothing_that_was_told(void **state)
{
    (void)state;
    uint64_t chance = 20240607;
    uint64_t on_disk = 0;
    unsigned more = 0;
    for (unsigned i = 0; i < KILLS; i++) {
        if (i % 12 == 0) { /* the making of a state is killed too */
            char name[16];
            (void)snprintf(name, sizeof name, "state-%u", i);
            temp_path(store_directory, store_around, name);
            on_disk = 0;
        }
        uint64_t const last =
            kill_one((useconds_t)draw(&chance, KILL_US_MAX * (1 + i % 4)), on_disk);
        on_disk = batch_on_disk();
        assert_in_range(on_disk, last, last + 1);
        more += on_disk > last ? 1 : 0;
    }
    print_message("           %u kills; %u hit between commit and telling\n", KILLS, more);
}

/* ---- Calls that fail ------------------------------------------------------------------------- */

/* One run with a fault; false if it did not fire. *batch is where the store stands. */
static bool run_with_fault(struct fault_plan plan, uint64_t *batch)
{
    struct live_store *const store = store_model_open(store_directory);
    assert_int_equal(store_model_check(store), *batch);
    store->log_pages_max = FAULT_LOG_PAGES;
    fault_vfs_arm(plan);
    uint64_t const reported = put_batches(store, *batch + 1, FAULT_BATCHES);
    bool const has_fired = fault_vfs_has_fired();
    if (has_fired) {
        assert_true(reported < FAULT_BATCHES);
        expect_broken(store);
    }
    live_store_close(store);
    /* Above all: no second fsync, which could say "ok" about what is gone. */
    if (has_fired)
        assert_int_equal(fault_vfs_calls_after(FAULT_CHANGES | FAULT_DELETE), 0);
    fault_vfs_disarm();
    uint64_t const now = batch_on_disk();
    assert_in_range(now, *batch + reported, *batch + reported + (has_fired ? 1 : 0));
    *batch = now;
    return has_fired;
}

static void fail_every_call(unsigned calls, int reason, bool is_for_ever)
{
    uint64_t batch = 0;
    struct store_image image = store_image_killed(1);
    live_store_use_vfs(NULL);
    live_store_close(store_model_open(store_directory));
    live_store_use_vfs(FAULT_VFS);
    uint32_t runs = 0;
    do {
        if (batch == 0 ||
            batch > 40) { /* begin small again: the checks are linear in the batches */
            store_image_write(store_directory, &image);
            batch = 1;
        }
        assert_true(runs < FAULT_RUNS_MAX);
    } while (run_with_fault(
        (struct fault_plan){
            .calls = calls, .countdown = runs++, .reason = reason, .is_for_ever = is_for_ever},
        &batch));
    print_message("           %u calls failed\n", runs - 1);
    assert_true(runs > 5);
    store_image_free(&image);
}

static void a_call_that_fails_once_leaves_whole_batches(void **state)
{
    (void)state;
    fail_every_call(FAULT_ANY, EIO, false);
}

static void a_disk_that_fails_for_ever_leaves_whole_batches(void **state)
{
    (void)state;
    fail_every_call(FAULT_ANY, EIO, true);
}

static void a_full_disk_leaves_whole_batches(void **state)
{
    (void)state;
    fail_every_call(FAULT_WRITE, ENOSPC, true);
}

static void a_full_disk_for_a_moment_leaves_whole_batches(void **state)
{
    (void)state;
    fail_every_call(FAULT_WRITE, ENOSPC, false);
}

static void a_sync_that_fails_is_not_repeated(void **state)
{
    (void)state;
    fail_every_call(FAULT_SYNC, EIO, false);
}

/* Of the witness and of directories, which the store syncs without SQLite. */
static void a_plain_sync_that_fails_leaves_whole_batches(void **state)
{
    (void)state;
    fail_every_call(FAULT_PLAIN_SYNC, EIO, false);
}

static void trouble_names_the_path_and_the_reason(void **state)
{
    (void)state;
    live_store_use_vfs(FAULT_VFS);
    struct live_store *store = store_model_open(store_directory);
    fault_vfs_arm((struct fault_plan){.calls = FAULT_WRITE, .reason = ENOSPC});
    assert_int_equal(store_model_batch(store, 1), TACIT_IO);
    assert_non_null(strstr(live_store_trouble(store), "state.db: cannot commit"));
    assert_non_null(strstr(live_store_trouble(store), "full (SQLite error 13)"));
    live_store_close(store);
    fault_vfs_disarm();
    store = store_model_open(store_directory);
    fault_vfs_arm((struct fault_plan){.calls = FAULT_SYNC, .reason = EIO});
    assert_int_equal(store_model_batch(store, 1), TACIT_IO);
    assert_non_null(strstr(live_store_trouble(store), "I/O error (SQLite error 1034"));
    live_store_close(store);
}

/* Opens and closes a directory with a full log, or none at all, while the n-th call fails. */
static void fail_every_call_of_open(const struct store_image *image, uint64_t batch, int reason,
                                    bool is_for_ever)
{
    live_store_use_vfs(FAULT_VFS);
    uint32_t runs = 0;
    bool has_fired;
    do {
        char name[32];
        (void)snprintf(name, sizeof name, "open-%d-%d-%u", reason, is_for_ever, runs);
        temp_path(store_directory, store_around, name);
        if (image != NULL) {
            assert_int_equal(mkdir(store_directory, 0700), 0);
            store_image_write(store_directory, image);
        }
        fault_vfs_arm((struct fault_plan){
            .calls = FAULT_ANY, .countdown = runs, .reason = reason, .is_for_ever = is_for_ever});
        struct live_store *store;
        struct tacit_error error;
        enum tacit_status const status = try_open(&store, &error);
        if (status == TACIT_OK)
            assert_int_equal(store_model_check(store), batch);
        else if (status != TACIT_IO || strstr(error.text, store_directory) == NULL)
            fail_msg("call %u: status %d: %s", runs, status, error.text);
        live_store_close(store);
        has_fired = fault_vfs_has_fired();
        fault_vfs_disarm();
        assert_int_equal(batch_on_disk(), batch);
        assert_true(runs++ < FAULT_RUNS_MAX);
    } while (has_fired);
    print_message("           %u calls failed\n", runs - 1);
    assert_true(runs > 5);
}

static void opening_on_a_failing_disk_keeps_what_is_there(void **state)
{
    (void)state;
    struct store_image image = store_image_killed(10);
    fail_every_call_of_open(&image, 10, EIO, false);
    fail_every_call_of_open(&image, 10, EIO, true);
    fail_every_call_of_open(&image, 10, ENOSPC, true);
    store_image_free(&image);
}

static void opening_an_overwritten_log_on_a_failing_disk_keeps_what_is_there(void **state)
{
    (void)state;
    struct store_image image = store_image_killed(9);
    assert_memory_equal(image.log, "overlaid", 8);
    fail_every_call_of_open(&image, 9, EIO, false);
    store_image_free(&image);
}

static void making_a_state_on_a_failing_disk_can_be_repeated(void **state)
{
    (void)state;
    fail_every_call_of_open(NULL, 0, EIO, false);
    fail_every_call_of_open(NULL, 0, EIO, true);
    fail_every_call_of_open(NULL, 0, ENOSPC, false);
}

/* ---- The power goes -------------------------------------------------------------------------- */

static struct tacit_error refusal;

/* One run until the power goes at some change of a file. Returns how many batches were told, *left
 * what the next start finds; false from it: refused. */
static bool lose_power_once(uint64_t seed, const struct store_image *image, const char *pragma,
                            uint64_t *told, uint64_t *left)
{
    uint64_t chance = seed * 77 + 5;
    char name[32];
    (void)snprintf(name, sizeof name, "power-%llu", (unsigned long long)seed);
    temp_path(store_directory, store_around, name);
    if (image != NULL) {
        assert_int_equal(mkdir(store_directory, 0700), 0);
        store_image_write(store_directory, image);
    }
    *told = image != NULL ? 2 : 0;
    live_store_use_vfs(FAULT_VFS);
    fault_vfs_watch_syncs();
    fault_vfs_arm(
        (struct fault_plan){.calls = FAULT_CHANGES, .countdown = (uint32_t)draw(&chance, 250)});
    struct live_store *store;
    struct tacit_error error;
    if (try_open(&store, &error) == TACIT_OK) {
        /* The file got its name after everything in it was synced. */
        assert_true(fault_vfs_is_synced(STORE_NEW));
        store->log_pages_max = FAULT_LOG_PAGES * (1 + (uint32_t)(seed % 3));
        assert_int_equal(sqlite3_exec(store->database, pragma, NULL, NULL, NULL), SQLITE_OK);
        *told += put_batches(store, *told + 1, 12);
    }
    live_store_close(store);
    fault_vfs_lose_power(chance);
    live_store_use_vfs(NULL);
    if (try_open(&store, &refusal) != TACIT_OK)
        return false;
    bool found;
    *left = 0;
    assert_int_equal(live_store_get_value(store, "batch", left, &found), TACIT_OK);
    if (*left >= *told)
        assert_int_equal(store_model_check(store), *left);
    live_store_close(store);
    return true;
}

static void a_power_failure_loses_nothing_that_was_told(void **state)
{
    (void)state;
    struct store_image image = store_image_killed(2);
    unsigned more = 0;
    for (uint64_t seed = 0; seed < POWER_RUNS; seed++) {
        uint64_t told;
        uint64_t left;
        /* every fourth from nothing: the making of a state is hit too */
        if (!lose_power_once(seed, seed % 4 == 0 ? NULL : &image, "", &told, &left))
            fail_msg("seed %llu: refused: %s", (unsigned long long)seed, refusal.text);
        if (left < told || left > told + 1)
            fail_msg("seed %llu: told %llu, left %llu", (unsigned long long)seed,
                     (unsigned long long)told, (unsigned long long)left);
        more += left > told ? 1 : 0;
    }
    print_message("           %u power failures; %u kept a commit that was not told\n", POWER_RUNS,
                  more);
    store_image_free(&image);
}

/* The same test of a store that does not sync: if nothing is noticed, the test is worth nothing. */
static void the_power_test_notices_a_store_that_does_not_sync(void **state)
{
    (void)state;
    struct store_image image = store_image_killed(2);
    unsigned noticed = 0;
    for (uint64_t seed = 0; seed < UNSYNCED_RUNS; seed++) {
        uint64_t told;
        uint64_t left;
        bool const opens =
            lose_power_once(seed, &image, "PRAGMA synchronous = NORMAL", &told, &left);
        noticed += !opens || left < told ? 1 : 0;
    }
    print_message("           noticed in %u of %u\n", noticed, UNSYNCED_RUNS);
    assert_true(noticed > UNSYNCED_RUNS / 10);
    store_image_free(&image);
}

/* A sync fails, the process starts again and acts on what it finds; then the power goes. What it
 * acted on must be there. False if the fault did not fire. */
static bool lose_power_after_failed_sync(uint32_t countdown, uint64_t seed,
                                         const struct store_image *image)
{
    char name[32];
    (void)snprintf(name, sizeof name, "sync-%u-%llu", countdown, (unsigned long long)seed);
    temp_path(store_directory, store_around, name);
    assert_int_equal(mkdir(store_directory, 0700), 0);
    store_image_write(store_directory, image);
    live_store_use_vfs(FAULT_VFS);
    fault_vfs_watch_syncs();
    struct live_store *store = store_model_open(store_directory);
    store->log_pages_max = FAULT_LOG_PAGES * 2;
    fault_vfs_arm((struct fault_plan){.calls = FAULT_SYNC, .countdown = countdown, .reason = EIO});
    (void)put_batches(store, 3, 8);
    bool const has_fired = fault_vfs_has_fired();
    live_store_close(store);
    fault_vfs_disarm();
    store = store_model_open(store_directory);
    uint64_t const seen = store_model_check(store);
    store->is_broken = true; /* the power goes: no orderly close */
    live_store_close(store);
    fault_vfs_lose_power(seed);
    live_store_use_vfs(NULL);
    assert_int_equal(batch_on_disk(), seen);
    return has_fired;
}

static void what_a_start_finds_after_a_failed_sync_survives_the_power(void **state)
{
    (void)state;
    struct store_image image = store_image_killed(2);
    uint32_t syncs = 0;
    bool has_fired = true;
    for (; has_fired; syncs++)
        for (uint64_t seed = 0; seed < SYNC_SEEDS; seed++)
            has_fired = lose_power_after_failed_sync(syncs, seed, &image);
    print_message("           %u syncs failed\n", syncs - 1);
    assert_true(syncs > 8);
    store_image_free(&image);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* SQLite does without some of its memory: then nothing is wrong. */
static void a_failed_allocation_in_a_batch_leaves_whole_batches(void **state)
{
    (void)state;
    uint64_t batch = 0;
    uint32_t broken = 0;
    uint32_t run = 0;
    bool has_fired;
    do {
        struct live_store *const store = store_model_open(store_directory);
        store->log_pages_max = FAULT_LOG_PAGES;
        fault_memory_arm(run);
        uint64_t const reported = put_batches(store, batch + 1, 3);
        has_fired = fault_memory_fired();
        assert_int_equal(live_store_is_broken(store), reported < 3);
        broken += reported < 3 ? 1 : 0;
        live_store_close(store);
        uint64_t const now = batch_on_disk();
        assert_in_range(now, batch + reported, batch + reported + (reported < 3 ? 1 : 0));
        batch = now;
        assert_true(run++ < FAULT_RUNS_MAX);
    } while (has_fired);
    print_message("           %u allocations failed, %u broke the store\n", run - 1, broken);
    assert_true(broken > 0);
}

static void a_failed_allocation_at_open_keeps_what_is_there(void **state)
{
    (void)state;
    struct store_image image = store_image_killed(5);
    live_store_close(store_model_open(store_directory));
    uint32_t run = 0;
    uint32_t refused = 0;
    bool has_fired;
    do {
        store_image_write(store_directory, &image);
        struct live_store *store;
        struct tacit_error error;
        fault_memory_arm(run);
        enum tacit_status const status = try_open(&store, &error);
        has_fired = fault_memory_fired();
        if (status == TACIT_OK)
            assert_int_equal(store_model_check(store), 5);
        else if (status != TACIT_MEMORY || strstr(error.text, store_directory) == NULL)
            fail_msg("allocation %u: status %d: %s", run, status, error.text);
        refused += status != TACIT_OK ? 1 : 0;
        live_store_close(store);
        assert_int_equal(batch_on_disk(), 5);
        run += run < 100 ? 1 : 7;
        assert_true(run < FAULT_RUNS_MAX);
    } while (has_fired);
    print_message("           %u allocations, %u refused\n", run, refused);
    assert_true(refused > 0);
    store_image_free(&image);
}

/* ---- Speed ----------------------------------------------------------------------------------- */

static double now_s(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* 64 decisions in, the 64 before them out. */
static void put_and_drop(struct live_store *store, uint64_t round)
{
    assert_int_equal(live_store_begin(store), TACIT_OK);
    for (uint64_t i = 0; i < SPEED_ROWS; i++) {
        uint64_t const id = round * SPEED_ROWS + i;
        char key[40];
        (void)snprintf(key, sizeof key, "0190-%016llx", (unsigned long long)id);
        struct live_decision_row const row = {.number = id + 1,
                                              .id = id + 1,
                                              .arm = (uint32_t)(id % 9),
                                              .deadline_ms = 1800000000,
                                              .key = key,
                                              .unit = key};
        assert_int_equal(live_store_put_decision(store, &row), TACIT_OK);
        if (round > 0)
            assert_int_equal(live_store_drop_decision(store, id + 1 - SPEED_ROWS), TACIT_OK);
    }
    assert_int_equal(live_store_commit(store), TACIT_OK);
}

static void batches_are_fast_enough(void **state)
{
    (void)state;
    struct live_store *const store = store_model_open(store_directory);
    double const start = now_s();
    double longest = 0;
    for (uint64_t round = 0; round < SPEED_ROUNDS; round++) {
        double const before = now_s();
        put_and_drop(store, round);
        double const took = now_s() - before;
        longest = took > longest ? took : longest;
    }
    double const took = now_s() - start;
    double const rows_per_s = SPEED_ROUNDS * SPEED_ROWS / took;
    print_message(
        "           %.0f rows/s put and dropped, a batch of %u takes %.2f ms, the longest "
        "%.2f ms\n",
        rows_per_s, SPEED_ROWS, 1e3 * took / SPEED_ROUNDS, 1e3 * longest);
    assert_true(rows_per_s > 1000);
    live_store_close(store);
}

int main(void)
{
    fault_memory_install();
    fault_vfs_register();
    store_model_erase_every(3); /* and each fourth batch or so folds the log */
    fault_vfs_skip_syncs(true);
#define CASE(name) cmocka_unit_test_setup_teardown(name, store_place_make, store_place_remove)
    const struct CMUnitTest tests[] = {
        CASE(a_kill_at_any_time_loses_nothing_that_was_told),
        CASE(a_call_that_fails_once_leaves_whole_batches),
        CASE(a_disk_that_fails_for_ever_leaves_whole_batches),
        CASE(a_full_disk_leaves_whole_batches),
        CASE(a_full_disk_for_a_moment_leaves_whole_batches),
        CASE(a_sync_that_fails_is_not_repeated),
        CASE(a_plain_sync_that_fails_leaves_whole_batches),
        CASE(trouble_names_the_path_and_the_reason),
        CASE(opening_on_a_failing_disk_keeps_what_is_there),
        CASE(opening_an_overwritten_log_on_a_failing_disk_keeps_what_is_there),
        CASE(making_a_state_on_a_failing_disk_can_be_repeated),
        CASE(a_power_failure_loses_nothing_that_was_told),
        CASE(the_power_test_notices_a_store_that_does_not_sync),
        CASE(what_a_start_finds_after_a_failed_sync_survives_the_power),
        CASE(a_failed_allocation_in_a_batch_leaves_whole_batches),
        CASE(a_failed_allocation_at_open_keeps_what_is_there),
        CASE(batches_are_fast_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
