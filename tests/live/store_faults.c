/* The store when the disk fails or memory runs out: what commit reported is there afterwards, and
 * nothing is there in half. Killed, and without power: store_power.c. */
#include "../support/testing.h"
#include "../../src/live/store/store.h"
#include "../../src/live/store/store_base.h"
#include "../support/fault_vfs.h"
#include "../support/store_model.h"
#include "../support/temp.h"
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#define FAULT_BATCHES 4u /* with this log_pages_max there is a fold among them */
#define FAULT_LOG_PAGES 8u
#define FAULT_RUNS_MAX 8000u

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

/* ---- Calls that fail ------------------------------------------------------------------------- */

/* No older version of a page is left on the disk. */
static void expect_no_journal(void)
{
    struct stat found;
    assert_true(stat(store_path("remembered.db-journal"), &found) != 0 || found.st_size == 0);
}

/* One run with a fault; false if it did not fire. *batch is where the store stands. */
static bool run_with_fault(struct fault_plan plan, bool remembers, uint64_t *batch)
{
    struct live_store *const store = store_model_open(store_directory);
    assert_int_equal(store_model_check(store), *batch);
    store->log_pages_max = FAULT_LOG_PAGES;
    fault_vfs_arm(plan);
    uint64_t const reported = store_model_batches(store, *batch + 1, FAULT_BATCHES);
    bool const has_fired = fault_vfs_has_fired();
    if (has_fired) {
        assert_true(reported < FAULT_BATCHES);
        expect_broken(store);
        assert_int_equal(strstr(live_store_trouble(store), "full") != NULL, plan.reason == ENOSPC);
    }
    live_store_close(store);
    /* Above all: no second fsync, which could say "ok" about what is gone. What is remembered has a
     * journal, which brings the file back. */
    if (has_fired && !remembers)
        assert_int_equal(fault_vfs_calls_after(FAULT_CHANGES | FAULT_DELETE), 0);
    fault_vfs_disarm();
    uint64_t const now = store_model_on_disk();
    expect_no_journal();
    assert_in_range(now, *batch + reported, *batch + reported + (has_fired ? 1 : 0));
    *batch = now;
    return has_fired;
}

static void fail_every_call(struct fault_plan plan, bool remembers)
{
    uint64_t batch = 0;
    store_model_remember(remembers);
    struct store_image image = store_image_killed(1);
    live_store_use_vfs(NULL);
    live_store_close(store_model_open(store_directory));
    live_store_use_vfs(FAULT_VFS);
    plan.countdown = 0;
    do {
        if (batch == 0 ||
            batch > 40) { /* begin small again: the checks are linear in the batches */
            store_image_write(store_directory, &image);
            batch = 1;
        }
        assert_true(plan.countdown < FAULT_RUNS_MAX);
    } while (run_with_fault(plan, remembers, &batch) && ++plan.countdown);
    print_message("           %u calls failed\n", plan.countdown);
    assert_true(plan.countdown > 5);
    store_image_free(&image);
    store_model_remember(false);
}

STORE_TEST(calls_that_fail_leave_whole_batches)
{
    static const struct fault_plan plans[] = {
        {.calls = FAULT_ANY, .reason = EIO},
        {.calls = FAULT_ANY, .reason = EIO, .is_for_ever = true},
        {.calls = FAULT_WRITE, .reason = ENOSPC},
        {.calls = FAULT_WRITE, .reason = ENOSPC, .is_for_ever = true},
        {.calls = FAULT_SYNC, .reason = EIO},
        {.calls = FAULT_PLAIN_SYNC, .reason = EIO}, /* of the high-water mark and of directories */
    };
    for (size_t i = 0; i < 2 * sizeof plans / sizeof plans[0]; i++)
        fail_every_call(plans[i / 2], i % 2 == 1);
}

STORE_TEST(trouble_names_the_path_and_the_reason)
{
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
    assert_non_null(strstr(live_store_trouble(store), "I/O error (SQLite error 1034)"));
    live_store_close(store);
}

/* Opens and closes a directory with a full log, or none at all, while the n-th call fails. */
static void fail_every_call_of_open(const struct store_image *image, uint64_t batch,
                                    struct fault_plan plan)
{
    static unsigned places;
    bool has_fired;
    live_store_use_vfs(FAULT_VFS);
    plan.calls = FAULT_ANY;
    do {
        char name[32];
        (void)snprintf(name, sizeof name, "open-%u", places++);
        temp_path(store_directory, store_around, name);
        if (image != NULL) {
            assert_int_equal(mkdir(store_directory, 0700), 0);
            store_image_write(store_directory, image);
        }
        fault_vfs_arm(plan);
        struct live_store *store;
        struct tacit_error error;
        enum tacit_status const status = store_model_try_open(&store, &error);
        if (status == TACIT_OK)
            assert_int_equal(store_model_check(store), batch);
        else if (status != TACIT_IO || strstr(error.text, store_directory) == NULL)
            fail_msg("call %u: status %d: %s", plan.countdown, status, error.text);
        live_store_close(store);
        has_fired = fault_vfs_has_fired();
        fault_vfs_disarm();
        assert_int_equal(store_model_on_disk(), batch);
        assert_true(plan.countdown++ < FAULT_RUNS_MAX);
    } while (has_fired);
    print_message("           %u calls failed\n", plan.countdown - 1);
    assert_true(plan.countdown > 5);
}

/* Also over a log that was overwritten; and where a state is made it can be made again. */
STORE_TEST(opening_on_a_failing_disk_keeps_what_is_there)
{
    struct store_image full = store_image_killed(10);
    struct store_image overlaid = store_image_killed(9);
    struct {
        const struct store_image *image;
        uint64_t batch;
        struct fault_plan plan;
    } const cases[] = {{&full, 10, {.reason = EIO}},
                       {&full, 10, {.reason = EIO, .is_for_ever = true}},
                       {&full, 10, {.reason = ENOSPC, .is_for_ever = true}},
                       {&overlaid, 9, {.reason = EIO}},
                       {NULL, 0, {.reason = EIO}},
                       {NULL, 0, {.reason = EIO, .is_for_ever = true}},
                       {NULL, 0, {.reason = ENOSPC}}};
    assert_memory_equal(overlaid.log, "overlaid", 8);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        fail_every_call_of_open(cases[i].image, cases[i].batch, cases[i].plan);
    store_image_free(&full);
    store_image_free(&overlaid);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* SQLite does without some of its memory: then nothing is wrong. */
STORE_TEST(a_failed_allocation_in_a_batch_leaves_whole_batches)
{
    uint64_t batch = 0;
    uint32_t broken = 0;
    uint32_t run = 0;
    bool has_fired;
    do {
        struct live_store *const store = store_model_open(store_directory);
        store->log_pages_max = FAULT_LOG_PAGES;
        fault_memory_arm(run);
        uint64_t const reported = store_model_batches(store, batch + 1, 3);
        has_fired = fault_memory_fired();
        assert_int_equal(live_store_is_broken(store), reported < 3);
        broken += reported < 3 ? 1 : 0;
        live_store_close(store);
        uint64_t const now = store_model_on_disk();
        assert_in_range(now, batch + reported, batch + reported + (reported < 3 ? 1 : 0));
        batch = now;
        assert_true(run++ < FAULT_RUNS_MAX);
    } while (has_fired);
    print_message("           %u allocations failed, %u broke the store\n", run - 1, broken);
    assert_true(broken > 0);
}

STORE_TEST(a_failed_allocation_at_open_keeps_what_is_there)
{
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
        enum tacit_status const status = store_model_try_open(&store, &error);
        has_fired = fault_memory_fired();
        if (status == TACIT_OK)
            assert_int_equal(store_model_check(store), 5);
        else if (status != TACIT_MEMORY || strstr(error.text, store_directory) == NULL)
            fail_msg("allocation %u: status %d: %s", run, status, error.text);
        refused += status != TACIT_OK ? 1 : 0;
        live_store_close(store);
        assert_int_equal(store_model_on_disk(), 5);
        run += run < 100 ? 1 : 7;
        assert_true(run < FAULT_RUNS_MAX);
    } while (has_fired);
    print_message("           %u allocations, %u refused\n", run, refused);
    assert_true(refused > 0);
    store_image_free(&image);
}

int main(void)
{
    fault_memory_install();
    fault_vfs_register();
    store_model_erase_every(3); /* and each fourth batch or so folds the log */
    fault_vfs_skip_syncs(true);
    return testing_run(NULL, NULL);
}
