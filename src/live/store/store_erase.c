/* SQLite drops a row by writing a page anew at the end of its log; the old page stays behind, in
 * the log and, until that is folded, in the file. A protocol's state holds the exact sums of an
 * epoch until they are drawn, so all of them would lie there until the log comes round.
 *
 * The order is all: fold (SQLite syncs the file); a mark over the log's header, sync; zeros over
 * the frames, sync. Before the mark is on disk, the log is whole, and folding it again changes
 * nothing. From the mark on it is no log to SQLite, and the file is all there is. Without the mark
 * a crash among the zeros could leave the log's beginning, which SQLite would read as an older
 * state over a newer file. The next batch writes a header of its own over the mark, and syncs that
 * before its first frame.
 *
 * A log that is put beside a file of another time would be mixed with it. So the first batch of
 * each use of the log, and the last one before it is folded, count the file's generation on, in its
 * header: a log goes on from a file if its last generation is not behind the file's, and its first
 * one not ahead of the next. */
#include "store_base.h"
#include <stdio.h>

#define BLOCK_BYTES 65536

/* ---- Turns ----------------------------------------------------------------------------------- */

enum tacit_status store_next_generation(struct live_store *store)
{
    char sql[64];
    store->generation = (store->generation + 1) & STORE_GENERATION_MASK;
    (void)snprintf(sql, sizeof sql, "PRAGMA user_version = %lu",
                   (unsigned long)(store->generation << STORE_FORMAT_BITS | STORE_FORMAT));
    return store_execute(store, sql, "count the generation");
}

/* ---- Folding ----------------------------------------------------------------------------------
 */

/* RESTART: the next batch writes over the old log from its beginning, and the file keeps its
 * length. A commit then changes no size and no map of blocks, so its fsync need not write the file
 * system's journal: it takes half the time of one that makes the log longer. */
enum tacit_status store_checkpoint(struct live_store *store)
{
    TACIT_ASSERT(!store->in_batch);
    int const code =
        sqlite3_wal_checkpoint_v2(store->database, "main", SQLITE_CHECKPOINT_RESTART, NULL, NULL);
    if (code != SQLITE_OK)
        return store_break_sqlite(store, "fold the log into the file");
    store->log_pages = 0;
    return TACIT_OK;
}

/* ---- The log's file -------------------------------------------------------------------------- */

/* Result, as of the next three: SQLite's code. */
int store_log_file(struct live_store *store, sqlite3_file **log, sqlite3_int64 *size)
{
    *size = 0;
    int const code =
        sqlite3_file_control(store->database, "main", SQLITE_FCNTL_JOURNAL_POINTER, log);
    if (code != SQLITE_OK || *log == NULL || (*log)->pMethods == NULL)
        return code;
    return (*log)->pMethods->xFileSize(*log, size);
}

static int sync_log(sqlite3_file *log)
{
    return log->pMethods->xSync(log, SQLITE_SYNC_NORMAL);
}

static int put_header_mark(const struct live_store *store, sqlite3_file *log)
{
    uint8_t mark[STORE_LOG_HEADER_BYTES];
    store_log_header_mark(mark, store->generation);
    int const code = log->pMethods->xWrite(log, mark, sizeof mark, 0);
    return code == SQLITE_OK ? sync_log(log) : code;
}

static int put_zeros(sqlite3_file *log, sqlite3_int64 end)
{
    static const uint8_t zeros[BLOCK_BYTES];
    int code = SQLITE_OK;
    for (sqlite3_int64 at = STORE_LOG_HEADER_BYTES; code == SQLITE_OK && at < end;) {
        int const part = end - at < BLOCK_BYTES ? (int)(end - at) : BLOCK_BYTES;
        code = log->pMethods->xWrite(log, zeros, part, at);
        at += part;
    }
    return code == SQLITE_OK ? sync_log(log) : code;
}

static enum tacit_status erase(struct live_store *store, sqlite3_file *log, sqlite3_int64 end)
{
    TACIT_ASSERT(!store->in_batch && store->log_pages == 0);
    int code = put_header_mark(store, log);
    if (code == SQLITE_OK)
        code = put_zeros(log, end);
    store->log_pages_used = 0;
    return code == SQLITE_OK
               ? TACIT_OK
               : store_break(store, TACIT_IO, "cannot overwrite the log: %s", sqlite3_errstr(code));
}

/* ---- Public ---------------------------------------------------------------------------------- */

enum tacit_status store_erase_log(struct live_store *store)
{
    sqlite3_file *log = NULL;
    sqlite3_int64 size = 0;
    if (store->log_pages_used == 0)
        return TACIT_OK;
    TACIT_TRY(store_checkpoint(store));
    int const code = store_log_file(store, &log, &size);
    if (code != SQLITE_OK || size <= STORE_LOG_HEADER_BYTES)
        return store_break(store, TACIT_IO, "cannot find the log to overwrite it: %s",
                           sqlite3_errstr(code));
    sqlite3_int64 const end =
        STORE_LOG_HEADER_BYTES + (sqlite3_int64)store->log_pages_used * STORE_LOG_FRAME_BYTES;
    return erase(store, log, end < size ? end : size);
}

enum tacit_status store_end_log(struct live_store *store)
{
    if (store->log_pages_used == 0)
        return TACIT_OK;
    TACIT_TRY(store_run(store, STORE_BEGIN, "begin a batch"));
    TACIT_TRY(store_next_generation(store));
    TACIT_TRY(store_run(store, STORE_COMMIT, "commit"));
    return store_erase_log(store);
}

void live_store_erase_past(struct live_store *store)
{
    TACIT_ASSERT(store->in_batch || store->is_broken);
    store->erases_past = true;
}
