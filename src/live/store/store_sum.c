/* A checksum for every row. */
#include "store_base.h"
#include <endian.h>
#include <string.h>

void store_sum_start(struct live_store *store, const char *table)
{
    TACIT_ASSERT(table != NULL);
    store->hash_failed = EVP_DigestInit_ex(store->hash, NULL, NULL) != 1; /* the same again */
    store_sum_text(store, table);
}

static void hash_add(struct live_store *store, const void *bytes, size_t size)
{
    if (!store->hash_failed && size > 0)
        store->hash_failed = EVP_DigestUpdate(store->hash, bytes, size) != 1;
}

void store_sum_number(struct live_store *store, uint64_t number)
{
    uint64_t const bytes = htole64(number);
    hash_add(store, &bytes, sizeof bytes);
}

void store_sum_bytes(struct live_store *store, const void *bytes, size_t size)
{
    TACIT_ASSERT(bytes != NULL || size == 0);
    store_sum_number(store, size);
    hash_add(store, bytes, size);
}

void store_sum_text(struct live_store *store, const char *text)
{
    if (text == NULL)
        store_sum_number(store, UINT64_MAX); /* no text is that long */
    else
        store_sum_bytes(store, text, strlen(text));
}

enum tacit_status store_sum_end(struct live_store *store, uint8_t sum[STORE_SUM_BYTES])
{
    if (store->hash_failed || EVP_DigestFinal_ex(store->hash, sum, NULL) != 1)
        return store_break(store, TACIT_MEMORY, "the checksum of a row failed");
    return TACIT_OK;
}

enum tacit_status store_sum_compare(struct live_store *store, sqlite3_stmt *row, int column,
                                    const char *what)
{
    TACIT_ASSERT(column >= 0);
    uint8_t sum[STORE_SUM_BYTES];
    TACIT_TRY(store_sum_end(store, sum));
    const void *const kept = sqlite3_column_blob(row, column);
    if (kept != NULL && sqlite3_column_bytes(row, column) == (int)sizeof sum &&
        memcmp(kept, sum, sizeof sum) == 0)
        return TACIT_OK;
    if (sqlite3_errcode(store->database) == SQLITE_NOMEM)
        return store_break_sqlite(store, "read"); /* a column could not be fetched */
    return store_break(store, TACIT_MALFORMED, "a row is damaged (%s): its checksum differs", what);
}
