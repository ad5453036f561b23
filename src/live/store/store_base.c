/* Statements, and the texts of trouble. Everything here runs on the one thread that holds the
 * store.
 */
#include "store_base.h"
#include "../daemon/refusal.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Whoever reads along at the start, a copy that is being made or a shell, is waited for so long. */
#define BUSY_MS "10000"

/* ---- Trouble ------ */

enum tacit_status store_break(struct live_store *store, enum tacit_status status,
                              const char *format, ...)
{
    TACIT_ASSERT(status != TACIT_OK);
    store->is_broken = true;
    if (store->trouble.text[0] != '\0')
        return status;
    char reason[TACIT_ERROR_BYTES / 2];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    (void)live_refuse(&store->trouble, status, "%.*s: %s", (int)TACIT_ERROR_BYTES / 2 - 3,
                      store->path, reason);
    return status;
}

/* What an error code of SQLite is to us. */
static enum tacit_status status_of(int code)
{
    switch (code & 0xff) {
    case SQLITE_NOMEM:
        return TACIT_MEMORY;
    case SQLITE_ERROR: /* our SQL is right, so what is wrong is in the file */
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return TACIT_MALFORMED;
    case SQLITE_IOERR:
        return code == SQLITE_IOERR_DATA ? TACIT_MALFORMED : TACIT_IO;
    case SQLITE_BUSY: /* only at open: afterwards we hold SQLite's lock too */
        return TACIT_INVALID;
    default:
        return TACIT_IO;
    }
}

enum tacit_status store_break_sqlite(struct live_store *store, const char *what)
{
    return store_break_database(store, store->database, what);
}

enum tacit_status store_break_database(struct live_store *store, sqlite3 *database,
                                       const char *what)
{
    int const code = sqlite3_extended_errcode(database);
    int const system = sqlite3_system_errno(database);
    bool const is_system = (code & 0xff) == SQLITE_IOERR || (code & 0xff) == SQLITE_CANTOPEN;
    return store_break(
        store, status_of(code), "cannot %s: %s (SQLite error %d%s%s)", what,
        code == SQLITE_IOERR_DATA ? "a page's checksum differs" : sqlite3_errmsg(database), code,
        is_system && system != 0 ? ", " : "", is_system && system != 0 ? strerror(system) : "");
}

/* ---- Statements ------------------------------------------------------------------------------ */

enum tacit_status store_may_put(const struct live_store *store)
{
    if (store->is_broken)
        return TACIT_IO;
    TACIT_ASSERT(store->in_batch);
    return TACIT_OK;
}

bool store_is_text(const char *text, size_t size_min)
{
    if (text == NULL)
        return false;
    size_t const size = strnlen(text, STORE_TEXT_BYTES_MAX + 1);
    return size >= size_min && size <= STORE_TEXT_BYTES_MAX;
}

bool store_is_blob(const void *bytes, size_t size)
{
    return bytes != NULL && size > 0 && size <= STORE_BLOB_BYTES_MAX;
}

/* Binding fails only for want of memory: places and sizes are ours. */
static void note_binding(struct live_store *store, sqlite3_stmt *row, int code)
{
    if (code != SQLITE_OK)
        (void)store_break_database(store, sqlite3_db_handle(row), "bind");
}

void store_bind_number(struct live_store *store, sqlite3_stmt *row, int place, uint64_t number)
{
    TACIT_ASSERT(place > 0);
    note_binding(store, row, sqlite3_bind_int64(row, place, (sqlite3_int64)number));
}

void store_bind_text(struct live_store *store, sqlite3_stmt *row, int place, const char *text)
{
    TACIT_ASSERT(place > 0);
    if (text == NULL)
        note_binding(store, row, sqlite3_bind_null(row, place));
    else
        note_binding(store, row, sqlite3_bind_text(row, place, text, -1, SQLITE_STATIC));
}

void store_bind_blob(struct live_store *store, sqlite3_stmt *row, int place, const void *bytes,
                     size_t size)
{
    TACIT_ASSERT(place > 0);
    note_binding(store, row,
                 size == 0 ? sqlite3_bind_null(row, place)
                           : sqlite3_bind_blob64(row, place, bytes, size, SQLITE_STATIC));
}

enum tacit_status store_run(struct live_store *store, enum store_statement which, const char *what)
{
    TACIT_ASSERT(which < STORE_STATEMENT_COUNT);
    return store_step(store, store->statements[which], what);
}

enum tacit_status store_step(struct live_store *store, sqlite3_stmt *statement, const char *what)
{
    enum tacit_status status = store->is_broken ? TACIT_IO : TACIT_OK;
    if (status == TACIT_OK && sqlite3_step(statement) != SQLITE_DONE)
        status = store_break_database(store, sqlite3_db_handle(statement),
                                      what); /* before the reset, which may change the error */
    (void)sqlite3_reset(statement);
    (void)sqlite3_clear_bindings(statement); /* they point into the caller's memory */
    return status;
}

enum tacit_status store_next(struct live_store *store, sqlite3_stmt *rows, bool *found)
{
    TACIT_ASSERT(found != NULL);
    *found = false;
    if (store->is_broken)
        return TACIT_IO;
    int const code = sqlite3_step(rows);
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        return store_break_database(store, sqlite3_db_handle(rows), "read");
    *found = code == SQLITE_ROW;
    return TACIT_OK;
}

bool store_walk(struct live_store *store, sqlite3_stmt *rows, enum tacit_status *status)
{
    TACIT_ASSERT(rows != NULL);
    bool found = false;
    if (*status == TACIT_OK)
        *status = store_next(store, rows, &found);
    return found;
}

enum tacit_status store_execute_in(struct live_store *store, sqlite3 *database, const char *sql,
                                   const char *what)
{
    TACIT_ASSERT(database != NULL);
    if (sqlite3_exec(database, sql, NULL, NULL, NULL) == SQLITE_OK)
        return TACIT_OK;
    return store_break_database(store, database, what);
}

enum tacit_status store_execute(struct live_store *store, const char *sql, const char *what)
{
    return store_execute_in(store, store->database, sql, what);
}

enum tacit_status store_query(struct live_store *store, const char *sql, sqlite3_stmt **row)
{
    TACIT_ASSERT(store->database != NULL);
    sqlite3_stmt *made = NULL;
    if (sqlite3_prepare_v2(store->database, sql, -1, &made, NULL) != SQLITE_OK)
        return store_break_sqlite(store, "read");
    int const code = sqlite3_step(made);
    if (code == SQLITE_ROW) {
        *row = made;
        return TACIT_OK;
    }
    enum tacit_status const status = code == SQLITE_DONE
                                         ? store_break(store, TACIT_MALFORMED, "no row for %s", sql)
                                         : store_break_sqlite(store, "read");
    (void)sqlite3_finalize(made);
    return status;
}

enum tacit_status store_query_number(struct live_store *store, const char *sql, int64_t *number)
{
    sqlite3_stmt *row = NULL;
    TACIT_TRY(store_query(store, sql, &row));
    *number = sqlite3_column_int64(row, 0);
    (void)sqlite3_finalize(row);
    return TACIT_OK;
}

enum tacit_status store_connect(struct live_store *store, sqlite3 **database, const char *path,
                                int flags, const char *vfs_name, const char *what)
{
    TACIT_ASSERT(*database == NULL);
    int const code = sqlite3_open_v2(
        path, database,
        flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_EXRESCODE, vfs_name);
    if (*database == NULL)
        return store_break(store, TACIT_MEMORY, "out of memory");
    return code == SQLITE_OK ? TACIT_OK : store_break_database(store, *database, what);
}

enum tacit_status store_configure(struct live_store *store, sqlite3 *database)
{
    static const int on[] = {SQLITE_DBCONFIG_DEFENSIVE, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE};
    static const int off[] = {SQLITE_DBCONFIG_TRUSTED_SCHEMA, SQLITE_DBCONFIG_DQS_DML,
                              SQLITE_DBCONFIG_DQS_DDL};
    for (size_t i = 0; i < sizeof on / sizeof on[0]; i++)
        (void)sqlite3_db_config(database, on[i], 1, NULL);
    for (size_t i = 0; i < sizeof off / sizeof off[0]; i++)
        (void)sqlite3_db_config(database, off[i], 0, NULL);
    /* EXCLUSIVE: the index of the log is in memory, not in a shared file; and nobody's shell reads
     * along. FULL: a commit is on disk when it returns. secure_delete: what is dropped is
     * overwritten, pages that are free too. */
    return store_execute_in(store, database,
                            "PRAGMA busy_timeout = " BUSY_MS
                            "; PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = FULL;"
                            "PRAGMA wal_autocheckpoint = 0;"
                            "PRAGMA secure_delete = ON; PRAGMA cell_size_check = ON;"
                            "PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY",
                            "configure the database");
}
