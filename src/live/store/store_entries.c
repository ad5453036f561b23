/* The newest entry of the coordinator's chain, of each run. */
#include "store_entries.h"
#include "store_sum.h"
#include <stdlib.h>
#include <string.h>

#define TABLE "entries"

static void entry_sum(struct live_store *store, const void *run, const void *bytes, size_t size)
{
    store_sum_start(store, TABLE);
    store_sum_bytes(store, run, LIVE_STORE_RUN_BYTES);
    store_sum_bytes(store, bytes, size);
}

/* The row at hand. */
static enum tacit_status entry_check(struct live_store *store, sqlite3_stmt *row)
{
    void const *const run = sqlite3_column_blob(row, 0);
    void const *const bytes = sqlite3_column_blob(row, 1);
    TACIT_ASSERT(run != NULL && bytes != NULL); /* the table lets nothing else in */
    entry_sum(store, run, bytes, (size_t)sqlite3_column_bytes(row, 1));
    return store_sum_compare(store, row, 2, TABLE);
}

enum tacit_status live_store_put_entry(struct live_store *store,
                                       const uint8_t run[LIVE_STORE_RUN_BYTES],
                                       const uint8_t *bytes, size_t size)
{
    uint8_t sum[STORE_SUM_BYTES];
    enum tacit_status status = store_may_put(store);
    if (status != TACIT_OK)
        return status;
    if (!store_is_blob(bytes, size))
        return TACIT_INVALID;
    entry_sum(store, run, bytes, size);
    status = store_sum_end(store, sum);
    if (status != TACIT_OK)
        return status;
    sqlite3_stmt *const row = store->statements[STORE_PUT_ENTRY];
    store_bind_blob(store, row, 1, run, LIVE_STORE_RUN_BYTES);
    store_bind_blob(store, row, 2, bytes, size);
    store_bind_blob(store, row, 3, sum, sizeof sum);
    return store_run(store, STORE_PUT_ENTRY, "put an entry");
}

enum tacit_status live_store_get_entry(struct live_store *store,
                                       const uint8_t run[LIVE_STORE_RUN_BYTES], uint8_t **bytes,
                                       size_t *size)
{
    sqlite3_stmt *const row = store->statements[STORE_GET_ENTRY];
    bool is_there;
    *bytes = NULL;
    *size = 0;
    store_bind_blob(store, row, 1, run, LIVE_STORE_RUN_BYTES);
    enum tacit_status status = store_next(store, row, &is_there);
    if (status == TACIT_OK && is_there)
        status = entry_check(store, row);
    if (status == TACIT_OK && is_there) {
        *size = (size_t)sqlite3_column_bytes(row, 1);
        *bytes = malloc(*size);
        if (*bytes == NULL)
            status = TACIT_MEMORY;
        else
            memcpy(*bytes, sqlite3_column_blob(row, 1), *size);
    }
    (void)sqlite3_reset(row);
    (void)sqlite3_clear_bindings(row);
    return status;
}

enum tacit_status store_entries_check(struct live_store *store)
{
    sqlite3_stmt *const rows = store->statements[STORE_ENTRIES];
    enum tacit_status status = TACIT_OK;
    while (store_walk(store, rows, &status)) {
        status = entry_check(store, rows);
    }
    (void)sqlite3_reset(rows);
    return status;
}
