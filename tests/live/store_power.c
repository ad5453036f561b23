/* The store when the process is killed or the power goes: what commit reported is there afterwards,
 * and nothing is there in half. And how fast it is. */
#include "../support/testing.h"
#include "../../src/live/store/store_base.h"
#include "../support/effort.h"
#include "../support/fault_vfs.h"
#include "../support/store_model.h"
#include "../support/temp.h"
#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define KILLS effort_of(60, 120)
#define KILL_US_MAX 6000u
#define FAULT_LOG_PAGES 8u /* so there are folds, too */
#define POWER_RUNS effort_of(100, 400)
#define UNSYNCED_RUNS 50u
#define SYNC_SEEDS effort_of(4, 10)
#define SPEED_ROUNDS 400u
#define SPEED_ROWS 64u

/* ---- Killed ---------------------------------------------------------------------------------- */

/* Commits batches for ever and tells each one after its commit returned. */
static _Noreturn void be_killed(int told)
{
    struct live_store *store;
    struct tacit_error error;
    uint64_t batch = 0;
    bool found;
    if (store_model_try_open(&store, &error) != TACIT_OK ||
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

STORE_TEST(a_kill_at_any_time_loses_nothing_that_was_told)
{
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
            kill_one((useconds_t)store_draw(&chance, KILL_US_MAX * (1 + i % 4)), on_disk);
        on_disk = store_model_on_disk();
        assert_in_range(on_disk, last, last + 1);
        more += on_disk > last ? 1 : 0;
    }
    print_message("           %u kills; %u hit between commit and telling\n", KILLS, more);
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
    fault_vfs_arm((struct fault_plan){.calls = FAULT_CHANGES,
                                      .countdown = (uint32_t)store_draw(&chance, 250)});
    struct live_store *store;
    struct tacit_error error;
    if (store_model_try_open(&store, &error) == TACIT_OK) {
        /* The file got its name after everything in it was synced. */
        assert_true(fault_vfs_is_synced(STORE_NEW));
        store->log_pages_max = FAULT_LOG_PAGES * (1 + (uint32_t)(seed % 3));
        assert_int_equal(sqlite3_exec(store->database, pragma, NULL, NULL, NULL), SQLITE_OK);
        *told += store_model_batches(store, *told + 1, 12);
    }
    live_store_close(store);
    fault_vfs_lose_power(chance);
    live_store_use_vfs(NULL);
    if (store_model_try_open(&store, &refusal) != TACIT_OK)
        return false;
    bool found;
    *left = 0;
    assert_int_equal(live_store_get_value(store, "batch", left, &found), TACIT_OK);
    if (*left >= *told)
        assert_int_equal(store_model_check(store), *left);
    live_store_close(store);
    return true;
}

STORE_TEST(a_power_failure_loses_nothing_that_was_told)
{
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
STORE_TEST(the_power_test_notices_a_store_that_does_not_sync)
{
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
    (void)store_model_batches(store, 3, 8);
    bool const has_fired = fault_vfs_has_fired();
    live_store_close(store);
    fault_vfs_disarm();
    store = store_model_open(store_directory);
    uint64_t const seen = store_model_check(store);
    store->is_broken = true; /* the power goes: no orderly close */
    live_store_close(store);
    fault_vfs_lose_power(seed);
    live_store_use_vfs(NULL);
    assert_int_equal(store_model_on_disk(), seen);
    return has_fired;
}

STORE_TEST(what_a_start_finds_after_a_failed_sync_survives_the_power)
{
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
                                              .salt = id + 1,
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

STORE_TEST(batches_are_fast_enough)
{
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
    fault_vfs_register();
    store_model_remember(true);
    store_model_erase_every(3); /* and each fourth batch or so folds the log */
    fault_vfs_skip_syncs(true);
    return testing_run(NULL, NULL);
}
