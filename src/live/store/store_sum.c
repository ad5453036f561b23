/* A checksum for every row, and the texts of trouble. */
#include "store_internal.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum tacit_status store_refuse(struct tacit_error *error, enum tacit_status status,
                               const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    return status;
}

enum tacit_status store_break(struct live_store *store, enum tacit_status status,
                              const char *format, ...)
{
    store->is_broken = true;
    if (store->trouble.text[0] != '\0')
        return status;
    char reason[TACIT_ERROR_BYTES / 2];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    (void)store_refuse(&store->trouble, status, "%.*s: %s", (int)TACIT_ERROR_BYTES / 2 - 3,
                       store->path, reason);
    return status;
}

static enum tacit_status status_of(int code)
{
    switch (code & 0xff) {
    case SQLITE_NOMEM:
        return TACIT_MEMORY;
    case SQLITE_ERROR: /* our SQL is right, so what is wrong is in the file */
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return TACIT_MALFORMED;
    case SQLITE_BUSY: /* only at open: afterwards we hold SQLite's lock too */
        return TACIT_INVALID;
    default:
        return TACIT_IO;
    }
}

enum tacit_status store_break_sqlite(struct live_store *store, const char *what)
{
    int const code = sqlite3_extended_errcode(store->database);
    int const system = sqlite3_system_errno(store->database);
    bool const is_system = (code & 0xff) == SQLITE_IOERR || (code & 0xff) == SQLITE_CANTOPEN;
    return store_break(store, status_of(code), "cannot %s: %s (SQLite error %d%s%s)", what,
                       sqlite3_errmsg(store->database), code, is_system && system != 0 ? ", " : "",
                       is_system && system != 0 ? strerror(system) : "");
}

void store_sum_start(struct live_store *store, const char *table)
{
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
    uint8_t bytes[8];
    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(number >> (8 * i));
    hash_add(store, bytes, sizeof bytes);
}

void store_sum_bytes(struct live_store *store, const void *bytes, size_t size)
{
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
    uint8_t sum[STORE_SUM_BYTES];
    enum tacit_status const status = store_sum_end(store, sum);
    if (status != TACIT_OK)
        return status;
    const void *const kept = sqlite3_column_blob(row, column);
    if (kept != NULL && sqlite3_column_bytes(row, column) == (int)sizeof sum &&
        memcmp(kept, sum, sizeof sum) == 0)
        return TACIT_OK;
    if (sqlite3_errcode(store->database) == SQLITE_NOMEM)
        return store_break_sqlite(store, "read"); /* a column could not be fetched */
    return store_break(store, TACIT_MALFORMED, "a row is damaged (%s): its checksum differs", what);
}
