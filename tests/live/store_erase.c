/* What a state has left behind cannot be read from any of its files: not from the log, not from the
 * file, not after a crash at any change of a file while it is overwritten. */
#include "../support/testing.h"
#include "../../src/live/store/store.h"
#include "../../src/live/store/store_base.h"
#include "../support/fault_vfs.h"
#include "../support/store_model.h"
#include "../support/temp.h"
#include <unistd.h>

#define SUM_BYTES 24u
#define CORE_BYTES_MAX 20000u
#define PAST 5u     /* batches that hold sums */
#define CYCLES 3u   /* of a past and its end, in one life of a store */
#define CHANGES 60u /* of files in the batch that ends a past: fewer */
#define POWER_SEEDS 3u
#define LOG_PAGES 8u /* so that the log is folded in between, and used anew */

/* ---- Sums that nobody takes for something else ----------------------------------------------- */

struct sums {
    uint8_t bytes[SUM_BYTES];
};

static struct sums sums_of(uint64_t batch)
{
    struct sums sums;
    uint64_t mixed = batch * UINT64_C(0x9e3779b97f4a7c15) + 77;
    for (size_t i = 0; i < SUM_BYTES; i++) {
        mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9) + i;
        sums.bytes[i] = (uint8_t)(mixed >> 40);
    }
    return sums;
}

static double reward_of(uint64_t batch)
{
    struct sums const sums = sums_of(batch + 1000000);
    double reward = 0;
    memcpy(&reward, sums.bytes, sizeof reward);
    return reward;
}

/* As SQLite keeps a whole number. */
static struct sums reward_bytes(uint64_t batch)
{
    struct sums const sums = sums_of(batch + 1000000);
    struct sums turned = {{0}};
    for (size_t i = 0; i < 8; i++)
        turned.bytes[i] = sums.bytes[7 - i];
    return turned;
}

static unsigned places_of_batch(uint64_t batch)
{
    struct sums const sums = sums_of(batch);
    struct sums const reward = reward_bytes(batch);
    return store_places_of(sums.bytes, SUM_BYTES) + store_places_of(reward.bytes, 8);
}

static void expect_gone(uint64_t batches, const char *when)
{
    for (uint64_t batch = 1; batch <= batches; batch++)
        if (places_of_batch(batch) != 0)
            fail_msg("%s: the sums of batch %llu of %llu can be read", when,
                     (unsigned long long)batch, (unsigned long long)batches);
}

/* ---- A past, and its end ----------------------------------------------------------------------
 */

static enum tacit_status put_past(struct live_store *store, uint64_t batch, size_t core_bytes)
{
    static uint8_t core[CORE_BYTES_MAX];
    struct sums const sums = sums_of(batch);
    for (size_t i = 0; i < core_bytes; i++)
        core[i] = sums.bytes[i % SUM_BYTES];
    struct live_decision_row const row = {.number = batch,
                                          .salt = batch,
                                          .deadline_ms = 1,
                                          .value = reward_of(batch),
                                          .kept = sums.bytes,
                                          .kept_size = SUM_BYTES};
    enum tacit_status status = live_store_begin(store);
    if (status == TACIT_OK)
        status = live_store_put_core(store, core, core_bytes);
    if (status == TACIT_OK)
        status = live_store_put_decision(store, &row);
    enum tacit_status const end = live_store_commit(store);
    return status == TACIT_OK ? end : status;
}

/* A draw: nothing of the batches is wanted any more. */
static enum tacit_status end_past(struct live_store *store, uint64_t batches, size_t core_bytes)
{
    static uint8_t core[CORE_BYTES_MAX];
    struct live_release const release = {
        .number = batches, .bytes = (const uint8_t *)"noised", .size = 6};
    memset(core, (int)batches, core_bytes);
    enum tacit_status status = live_store_begin(store);
    if (status == TACIT_OK)
        status = live_store_put_core(store, core, core_bytes);
    for (uint64_t i = 0; status == TACIT_OK && i < PAST; i++)
        status = live_store_drop_decision(store, batches - i);
    if (status == TACIT_OK)
        status = live_store_put_release(store, &release);
    if (status == TACIT_OK)
        live_store_erase_past(store);
    enum tacit_status const end = live_store_commit(store);
    return status == TACIT_OK ? end : status;
}

static void live_a_past(struct live_store *store, uint64_t first, size_t core_bytes)
{
    for (uint64_t batch = first; batch < first + PAST; batch++)
        assert_int_equal(put_past(store, batch, core_bytes), TACIT_OK);
    /* Else the search proves nothing: the newest is in the state, those before it behind it. */
    assert_true(places_of_batch(first + PAST - 1) > 0);
}

STORE_TEST_FAULTY(sums_are_in_no_file_after_their_end)
{
    static const size_t sizes[] = {24, 1000, 4000, 4001, 4100, 7990, 12345, CORE_BYTES_MAX};
    for (size_t i = 0; i < 2 * sizeof sizes / sizeof sizes[0]; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "state-%zu", i);
        temp_path(store_directory, store_around, name);
        struct live_store *const store = store_model_open(store_directory);
        if (i % 2 == 0)
            store->log_pages_max = LOG_PAGES;
        unsigned older = 0;
        for (uint64_t cycle = 0; cycle < CYCLES; cycle++) {
            live_a_past(store, cycle * PAST + 1, sizes[i / 2]);
            older += places_of_batch(cycle * PAST + PAST - 1);
            uint64_t const batches = (cycle + 1) * PAST;
            /* the last one's core has another size: all parts go */
            size_t const next = cycle + 1 < CYCLES ? sizes[i / 2] : sizes[i / 2] / 2 + 1;
            assert_int_equal(end_past(store, batches, next), TACIT_OK);
            expect_gone(batches, "when its batch is on disk");
        }
        assert_true(older > 0);
        live_store_close(store);
        expect_gone(CYCLES * PAST, "closed");
        assert_int_equal(fault_vfs_nameless_opens(), 0); /* nor in files that have no name */
    }
}

/* What was never told to go stays until it is: the search finds it, so it would find it above. */
STORE_TEST_FAULTY(without_an_end_sums_can_be_read)
{
    struct live_store *const store = store_model_open(store_directory);
    live_a_past(store, 1, 4100);
    for (uint64_t batch = 1; batch <= PAST; batch++)
        assert_true(places_of_batch(batch) > 0);
    store->is_broken = true; /* killed */
    live_store_close(store);
    live_store_close(store_model_open(store_directory)); /* reopened: only what the state has now */
    for (uint64_t batch = 1; batch < PAST; batch++) {
        struct sums const sums = sums_of(batch); /* once: the row of its decision, which is open */
        assert_int_equal(store_places_of(sums.bytes, SUM_BYTES), 1);
    }
}

/* A closed state's log is a file no more: its blocks hold no sums when they are given back. */
STORE_TEST_FAULTY(what_is_closed_leaves_no_sums_in_the_blocks_of_its_log)
{
    struct live_store *const store = store_model_open(store_directory);
    char log[TEMP_PATH_BYTES];
    char kept[TEMP_PATH_BYTES];
    live_a_past(store, 1, 4100);
    temp_path(log, store_directory, STORE_LOG);
    temp_path(kept, store_around, "kept");
    assert_int_equal(link(log, kept), 0); /* what the blocks hold */
    live_store_close(store);
    assert_int_not_equal(access(log, F_OK), 0);
    (void)snprintf(store_directory, sizeof store_directory, "%s", store_around);
    expect_gone(PAST, "in the blocks of the log");
}

/* ---- Crashes --------------------------------------------------------------------------------- */

/* Is the state that was found the one before the end of its past, or the one after it? */
static bool is_after(struct live_store *store, size_t core_bytes)
{
    assert_int_equal(store->core.size, core_bytes);
    uint8_t const *const core = store->core.bytes;
    struct sums const sums = sums_of(PAST);
    uint8_t const first = core[0];
    bool const is_new = first == PAST && core[1] == PAST;
    for (size_t i = 0; i < core_bytes; i++)
        assert_int_equal(core[i], is_new ? PAST : sums.bytes[i % SUM_BYTES]);
    return is_new;
}

/* The process or the machine ends at this change of a file. False: so many there were not. */
static bool crash_at(uint32_t change, bool is_power, uint64_t seed, unsigned *after)
{
    static const size_t core_bytes = 9000;
    char name[64];
    (void)snprintf(name, sizeof name, "state-%u-%d-%llu", change, is_power,
                   (unsigned long long)seed);
    temp_path(store_directory, store_around, name);
    live_store_use_vfs(FAULT_VFS);
    if (is_power)
        fault_vfs_watch_syncs();
    struct live_store *store = store_model_open(store_directory);
    for (uint64_t batch = 1; batch <= PAST; batch++)
        assert_int_equal(put_past(store, batch, core_bytes), TACIT_OK);
    fault_vfs_arm((struct fault_plan){.calls = FAULT_CHANGES, .countdown = change});
    bool const is_told = end_past(store, PAST, core_bytes) == TACIT_OK;
    bool const has_fired = fault_vfs_has_fired();
    assert_int_equal(is_told, !has_fired);
    store->is_broken = true; /* no orderly end */
    live_store_close(store);
    fault_vfs_disarm();
    if (is_power)
        fault_vfs_lose_power(seed);
    store = store_model_open(store_directory);
    bool const is_new = is_after(store, core_bytes);
    assert_true(is_new || !is_told);
    if (is_new)
        expect_gone(PAST, "opened again");
    else
        assert_int_equal(end_past(store, PAST, core_bytes), TACIT_OK);
    expect_gone(PAST, "ended after a crash");
    live_store_close(store);
    expect_gone(PAST, "closed after a crash");
    *after += is_new ? 1 : 0;
    return has_fired;
}

STORE_TEST_FAULTY(a_kill_at_any_change_leaves_no_sums_after_the_next_start)
{
    uint32_t change = 0;
    unsigned after = 0;
    while (crash_at(change, false, 0, &after))
        assert_true(++change < CHANGES);
    print_message("           %u changes; %u kills left the state after the end\n", change, after);
    assert_true(change > 15 && after > 10 && after < change);
}

STORE_TEST_FAULTY(a_power_failure_at_any_change_leaves_no_sums_after_the_next_start)
{
    unsigned after = 0;
    bool has_fired = true;
    for (uint32_t change = 0; has_fired; change++)
        for (uint64_t seed = 1; seed <= POWER_SEEDS; seed++)
            has_fired = crash_at(change, true, seed * 31 + change, &after);
    assert_true(after > 0);
}

/* ---- The mark -------------------------------------------------------------------------------- */

/* A directory as a kill leaves it right after the end of a past. */
static struct store_image image_of_end(uint64_t pasts)
{
    struct live_store *const store = store_model_open(store_directory);
    for (uint64_t past = 0; past < pasts; past++) {
        live_a_past(store, past * PAST + 1, 5000);
        assert_int_equal(end_past(store, (past + 1) * PAST, 5000), TACIT_OK);
    }
    struct store_image const image = store_image_read(store_directory);
    store->is_broken = true;
    live_store_close(store);
    return image;
}

/* The file of one and the log of the other. */
static void expect_no_mix(const struct store_image *file, const struct store_image *log)
{
    struct tacit_error error;
    struct live_store *store;
    struct store_image mixed = *file;
    mixed.log = log->log;
    mixed.log_size = log->log_size;
    store_image_write(store_directory, &mixed);
    assert_int_equal(store_model_try_open(&store, &error), TACIT_MALFORMED);
    assert_non_null(strstr(error.text, "one of the two is an older one"));
    store_image_write(store_directory, file);
    live_store_close(store_model_open(store_directory));
}

STORE_TEST_FAULTY(a_mark_of_another_time_is_refused)
{
    struct store_image older = image_of_end(1);
    temp_path(store_directory, store_around, "newer");
    struct store_image newer = image_of_end(2);
    expect_no_mix(&newer, &older);
    expect_no_mix(&older, &newer);
    store_image_free(&older);
    store_image_free(&newer);
}

/* Images of one life: before anything, in a past, and what comes after: a draw; a fold; a kill and
 * a start; an orderly end. A log of the past beside a later file is refused, also the log of a
 * later time beside that file. */
STORE_TEST_FAULTY(a_log_of_another_time_is_refused)
{
    struct store_image images[8];
    struct live_store *store = store_model_open(store_directory);
    size_t count = 0;
    uint64_t batch = 1;
    for (; batch <= 2; batch++)
        assert_int_equal(put_past(store, batch, 5000), TACIT_OK);
    images[count++] = store_image_read(store_directory); /* in a past */
    for (; batch <= PAST; batch++)
        assert_int_equal(put_past(store, batch, 5000), TACIT_OK);
    assert_int_equal(end_past(store, PAST, 5000), TACIT_OK); /* a draw */
    assert_int_equal(put_past(store, ++batch, 5000), TACIT_OK);
    images[count++] = store_image_read(store_directory);
    store->log_pages_max = 1; /* a fold */
    assert_int_equal(put_past(store, ++batch, 5000), TACIT_OK);
    store->log_pages_max = STORE_LOG_PAGES_MAX;
    assert_int_equal(put_past(store, ++batch, 5000), TACIT_OK);
    images[count++] = store_image_read(store_directory);
    store->is_broken = true; /* a kill and a start */
    live_store_close(store);
    store = store_model_open(store_directory);
    assert_int_equal(put_past(store, ++batch, 5000), TACIT_OK);
    images[count++] = store_image_read(store_directory);
    live_store_close(store);
    store = store_model_open(store_directory); /* an orderly end */
    assert_int_equal(put_past(store, ++batch, 5000), TACIT_OK);
    images[count++] = store_image_read(store_directory);
    live_store_close(store);
    for (size_t file = 0; file < count; file++)
        for (size_t log = 0; log < count; log++)
            if (log != file)
                expect_no_mix(&images[file], &images[log]);
    for (size_t i = 0; i < count; i++)
        store_image_free(&images[i]);
}

/* Over a marked log no byte decides what is read: the state is in the file. */
STORE_TEST_FAULTY(a_flipped_byte_under_a_mark_changes_nothing)
{
    struct store_image image = image_of_end(1);
    for (size_t at = 0; at < image.log_size; at += at < 64 ? 1 : 811) {
        image.log[at] ^= 0x55;
        store_image_write(store_directory, &image);
        struct live_store *const store = store_model_open(store_directory);
        assert_true(is_after(store, 5000));
        live_store_close(store);
        image.log[at] ^= 0x55;
    }
    static uint8_t core[100];
    memset(core, PAST, sizeof core);
    uint8_t *const at = memmem(image.bytes, image.size, core, sizeof core);
    assert_non_null(at);
    *at ^= 1; /* of the core in the file every one does */
    store_image_write(store_directory, &image);
    struct live_store *none;
    struct tacit_error error;
    assert_int_not_equal(store_model_try_open(&none, &error), TACIT_OK);
    store_image_free(&image);
}

int main(void)
{
    fault_vfs_register();
    fault_vfs_skip_syncs(true);
    return testing_run(NULL, NULL);
}
