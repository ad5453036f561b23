/* A checksum for every row. */
#include "store_base.h"
#include <string.h>

void store_sum_start(struct live_store *store, const char *table)
{
    TACIT_ASSERT(table != NULL);
    store->hash = tacit_sha256_init();
    store_sum_text(store, table);
}

void store_sum_number(struct live_store *store, uint64_t number)
{
    tacit_sha256_update_number(&store->hash, number);
}

void store_sum_bytes(struct live_store *store, const void *bytes, size_t size)
{
    TACIT_ASSERT(bytes != NULL || size == 0);
    store_sum_number(store, size);
    tacit_sha256_update(&store->hash, bytes, size);
}

void store_sum_text(struct live_store *store, const char *text)
{
    if (text == NULL)
        store_sum_number(store, UINT64_MAX); /* no text is that long */
    else
        store_sum_bytes(store, text, strlen(text));
}

void store_sum_end(struct live_store *store, uint8_t sum[STORE_SUM_BYTES])
{
    tacit_sha256_final(&store->hash, sum);
}

enum tacit_status store_sum_compare(struct live_store *store, sqlite3_stmt *row, int column,
                                    const char *what)
{
    TACIT_ASSERT(column >= 0);
    uint8_t sum[STORE_SUM_BYTES];
    store_sum_end(store, sum);
    const void *const kept = sqlite3_column_blob(row, column);
    if (kept != NULL && sqlite3_column_bytes(row, column) == (int)sizeof sum &&
        memcmp(kept, sum, sizeof sum) == 0)
        return TACIT_OK;
    if (sqlite3_errcode(store->database) == SQLITE_NOMEM)
        return store_break_sqlite(store, "read"); /* a column could not be fetched */
    return store_break(store, TACIT_MALFORMED, "a row is damaged (%s): its checksum differs", what);
}
