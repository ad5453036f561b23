/* The outbox, which is the ledger: a release is written once and never changes. */
#include "store_base.h"
#include "store_sum.h"
#include <string.h>

static void release_sum(struct live_store *store, const struct live_release *release)
{
    store_sum_start(store, "releases");
    store_sum_number(store, release->number);
    store_sum_number(store, release->epsilon_nano);
    store_sum_bytes(store, release->bytes, release->size);
    store_sum_number(store, release->acknowledged ? 1 : 0);
    store_sum_number(store, (uint64_t)release->made_unix_s);
}

static enum tacit_status release_read(struct live_store *store, sqlite3_stmt *row,
                                      struct live_release *release)
{
    *release = (struct live_release){
        .number = store_number_at(row, 0),
        .epsilon_nano = store_number_at(row, 1),
        .bytes = sqlite3_column_blob(row, 2),
        .acknowledged = sqlite3_column_int64(row, 3) != 0,
        .made_unix_s = sqlite3_column_int64(row, 4),
    };
    release->size = release->bytes == NULL ? 0 : (size_t)sqlite3_column_bytes(row, 2);
    release_sum(store, release);
    return store_sum_compare(store, row, 5, "releases");
}

/* Finds a release; its bytes last until STORE_GET_RELEASE is reset. */
static enum tacit_status release_find(struct live_store *store, uint64_t number,
                                      struct live_release *release, bool *found)
{
    sqlite3_stmt *const row = store->statements[STORE_GET_RELEASE];
    store_bind_number(store, row, 1, number);
    enum tacit_status const status = store_next(store, row, found);
    return status == TACIT_OK && *found ? release_read(store, row, release) : status;
}

static enum tacit_status release_insert(struct live_store *store,
                                        const struct live_release *release)
{
    TACIT_ASSERT(release->size > 0 && release->size <= STORE_BLOB_BYTES_MAX);
    uint8_t sum[STORE_SUM_BYTES];
    release_sum(store, release);
    enum tacit_status const status = store_sum_end(store, sum);
    if (status != TACIT_OK)
        return status;
    sqlite3_stmt *const row = store->statements[STORE_PUT_RELEASE];
    store_bind_number(store, row, 1, release->number);
    store_bind_number(store, row, 2, release->epsilon_nano);
    store_bind_blob(store, row, 3, release->bytes, release->size);
    store_bind_number(store, row, 4, release->acknowledged ? 1 : 0);
    store_bind_number(store, row, 5, (uint64_t)release->made_unix_s);
    store_bind_blob(store, row, 6, sum, sizeof sum);
    return store_run(store, STORE_PUT_RELEASE, "put a release");
}

/* The same release again is not an error, and changes nothing. */
static enum tacit_status release_compare(struct live_store *store,
                                         const struct live_release *release)
{
    TACIT_ASSERT(release->size > 0);
    struct live_release kept;
    bool found;
    enum tacit_status status = release_find(store, release->number, &kept, &found);
    if (status == TACIT_OK && !found)
        status = store_break(store, TACIT_IO, "release %llu is neither new nor there",
                             (unsigned long long)release->number);
    bool const is_same = status == TACIT_OK && kept.epsilon_nano == release->epsilon_nano &&
                         kept.size == release->size &&
                         memcmp(kept.bytes, release->bytes, kept.size) == 0;
    (void)sqlite3_reset(store->statements[STORE_GET_RELEASE]);
    return status == TACIT_OK && !is_same ? TACIT_INVALID : status;
}

enum tacit_status live_store_put_release(struct live_store *store,
                                         const struct live_release *release)
{
    TACIT_ASSERT(release != NULL);
    enum tacit_status status = store_may_put(store);
    if (status != TACIT_OK)
        return status;
    if (release->number > STORE_KEY_MAX || release->epsilon_nano > STORE_KEY_MAX ||
        !store_is_blob(release->bytes, release->size))
        return TACIT_INVALID;
    status = release_insert(store, release);
    if (status != TACIT_OK)
        return status;
    if (sqlite3_changes(store->database) == 1) {
        if (release->number > store->put_release)
            store->put_release = release->number;
        return TACIT_OK;
    }
    return release_compare(store, release);
}

enum tacit_status live_store_acknowledge(struct live_store *store, uint64_t number)
{
    TACIT_ASSERT(number > 0);
    enum tacit_status status = store_may_put(store);
    if (status != TACIT_OK)
        return status;
    struct live_release release;
    bool found;
    uint8_t sum[STORE_SUM_BYTES];
    status = release_find(store, number, &release, &found);
    bool const is_new = status == TACIT_OK && found && !release.acknowledged;
    if (is_new) {
        release.acknowledged = true;
        release_sum(store, &release); /* while its bytes are there */
        status = store_sum_end(store, sum);
    }
    (void)sqlite3_reset(store->statements[STORE_GET_RELEASE]);
    if (status != TACIT_OK || !is_new)
        return status == TACIT_OK && !found ? TACIT_INVALID : status;
    sqlite3_stmt *const row = store->statements[STORE_ACKNOWLEDGE];
    store_bind_number(store, row, 1, number);
    store_bind_blob(store, row, 2, sum, sizeof sum);
    return store_run(store, STORE_ACKNOWLEDGE, "acknowledge a release");
}

enum tacit_status
live_store_releases(struct live_store *store,
                    bool (*each)(void *context, const struct live_release *release), void *context)
{
    sqlite3_stmt *const rows = store->statements[STORE_RELEASES];
    enum tacit_status status = TACIT_OK;
    while (store_walk(store, rows, &status)) {
        struct live_release release;
        status = release_read(store, rows, &release);
        if (status == TACIT_OK && !each(context, &release))
            break;
    }
    (void)sqlite3_reset(rows);
    return status;
}
