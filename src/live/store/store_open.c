/* Opening and closing: nothing is written to a file that is there before it has passed every check.
 */
#include "../daemon/lock.h"
#include "../daemon/private.h"
#include "../daemon/refusal.h"
#include "store_base.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The only state of this room outside a store; tests set it. */
static const char *vfs_name;

void live_store_use_vfs(const char *name)
{
    vfs_name = name;
}

struct opening {
    const char *directory_name;
    int directory;
    char *real_path; /* of the directory: SQLite must not read a relative name, or "file:..." */
    const struct live_store_identity *identity;
    struct tacit_error *error;
};

/* ---- SQLite --------------------------------------------------------------------------------- */

static enum tacit_status connect_to(struct live_store *store, const struct opening *opening,
                                    const char *name)
{
    char *path;
    if (asprintf(&path, "%s/%s", opening->real_path, name) < 0)
        return store_break(store, TACIT_MEMORY, "out of memory");
    /* Before its first use. Nobody asks SQLite what it has taken, and counting it takes a lock each
     * time. */
    (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    enum tacit_status const status = store_connect(store, &store->database, path,
                                                   SQLITE_OPEN_READWRITE, store->vfs_name, "open");
    free(path);
    return status == TACIT_OK ? store_configure(store, store->database) : status;
}

/* Asks for the journal mode, or sets it: it has to be the log, else the status is `otherwise`.
 * SQLite answers with the mode that it has, also when it could not change it. */
static enum tacit_status expect_log(struct live_store *store, const char *pragma,
                                    enum tacit_status otherwise)
{
    sqlite3_stmt *row = NULL;
    TACIT_TRY(store_query(store, pragma, &row));
    const char *const mode = (const char *)sqlite3_column_text(row, 0);
    bool const has_log = mode != NULL && strcmp(mode, "wal") == 0;
    /* A change of mode is committed when the statement ends, after its row. */
    int const end = sqlite3_step(row);
    (void)sqlite3_finalize(row);
    if (end != SQLITE_DONE)
        return store_break_sqlite(store, "read the journal mode");
    return has_log ? TACIT_OK : store_break(store, otherwise, "it has no write-ahead log");
}

/* ---- A new file ----------------------------------------------------------------------------- */

static enum tacit_status make_empty(const struct opening *opening)
{
    /* A creation that was cut short; nothing was ever promised from it. */
    (void)unlinkat(opening->directory, STORE_NEW "-journal", 0);
    (void)unlinkat(opening->directory, STORE_NEW "-wal", 0);
    (void)unlinkat(opening->directory, STORE_NEW, 0);
    int const file =
        openat(opening->directory, STORE_NEW, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
               S_IRUSR | S_IWUSR);
    if (file < 0)
        return live_refuse(opening->error, TACIT_IO, "%s/%s: cannot make: %s",
                           opening->directory_name, STORE_NEW, strerror(errno));
    (void)fchmod(file, S_IRUSR | S_IWUSR); /* whatever the umask; SQLite gives its log the same */
    (void)close(file);
    return TACIT_OK;
}

static enum tacit_status prepare_statements(struct live_store *store)
{
    static const char *const sql[STORE_STATEMENT_COUNT] = {
#define X(name, text) [name] = text,
        STORE_STATEMENT_LIST(X)
#undef X
    };
    for (size_t i = 0; i < STORE_STATEMENT_COUNT; i++)
        if (sqlite3_prepare_v3(store->database, sql[i], -1, SQLITE_PREPARE_PERSISTENT,
                               &store->statements[i], NULL) != SQLITE_OK)
            return store_break_sqlite(store, "prepare");
    return store_rows_prepare(store);
}

static void drop_statements(struct live_store *store)
{
    for (size_t i = 0; i < STORE_STATEMENT_COUNT; i++)
        (void)sqlite3_finalize(store->statements[i]);
    for (size_t i = 0; i < STORE_TABLE_COUNT; i++)
        for (size_t verb = 0; verb < STORE_VERB_COUNT; verb++)
            (void)sqlite3_finalize(store->rows[i][verb]);
    memset(store->statements, 0, sizeof store->statements);
    memset(store->rows, 0, sizeof store->rows);
}

static enum tacit_status make_tables(struct live_store *store,
                                     const struct live_store_identity *identity)
{
    enum tacit_status status = store_execute(store, "BEGIN IMMEDIATE", "make the database");
    if (status == TACIT_OK)
        status = store_tables_make(store);
    if (status == TACIT_OK)
        status = prepare_statements(store);
    store->in_batch = true;
    if (status == TACIT_OK)
        status = store_identity_make(store, identity);
    store->in_batch = false;
    if (status == TACIT_OK)
        status = store_execute(store, "COMMIT", "make the database");
    drop_statements(store);
    return status;
}

/* The tables of a new state, with a log; its database is closed again. */
static enum tacit_status fill(struct live_store *store, const struct opening *opening)
{
    enum tacit_status status = connect_to(store, opening, STORE_NEW);
    if (status == TACIT_OK)
        status = store_execute(store, "PRAGMA page_size = 4096", "configure the database");
    if (status == TACIT_OK)
        status = make_tables(store, opening->identity);
    if (status == TACIT_OK)
        status = expect_log(store, "PRAGMA journal_mode = WAL", TACIT_IO);
    if (store->database != NULL) {
        (void)sqlite3_db_config(store->database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE,
                                status != TACIT_OK, NULL);
        if (sqlite3_close(store->database) != SQLITE_OK && status == TACIT_OK)
            status = store_break_sqlite(store, "close the new database");
        store->database = NULL;
    }
    if (status != TACIT_OK)
        *opening->error = store->trouble;
    return status;
}

/* The file gets its name when it is whole and on disk: a state.db without tables is never our
 * doing. */
static enum tacit_status make_file(struct live_store *store, const struct opening *opening)
{
    TACIT_TRY(make_empty(opening));
    TACIT_TRY(fill(store, opening));
    if (renameat(opening->directory, STORE_NEW, opening->directory, STORE_FILE) != 0 ||
        fsync(opening->directory) != 0)
        return live_refuse(opening->error, TACIT_IO, "%s/%s: cannot make: %s",
                           opening->directory_name, STORE_FILE, strerror(errno));
    return TACIT_OK;
}

/* ---- A file that is there ------------------------------------------------------------------- */

static enum tacit_status refuse_remains(const char *directory_name, const char *name,
                                        struct tacit_error *error)
{
    return live_refuse(error, TACIT_MALFORMED,
                       "%s/%s is missing, but its log %s is there: the state was removed in part; "
                       "put the file back, or remove the whole directory and rejoin as a new site",
                       directory_name, STORE_FILE, name);
}

enum tacit_status store_check_files(struct live_store *store, int directory, const char *name,
                                    struct store_sizes *sizes, struct tacit_error *error)
{
    uint32_t generation = 0;
    int64_t journal = -1;
    TACIT_TRY(live_private_file_check(directory, name, STORE_FILE, &sizes->file, error));
    TACIT_TRY(live_private_file_check(directory, name, STORE_LOG, &sizes->log, error));
    TACIT_TRY(live_private_file_check(directory, name, STORE_JOURNAL, &journal, error));
    if (sizes->file < 0 && sizes->log >= 0)
        return refuse_remains(name, STORE_LOG, error);
    if (sizes->file < 0 && journal >= 0)
        return refuse_remains(name, STORE_JOURNAL, error);
    if (sizes->file < 0)
        return TACIT_OK;
    /* SQLite would roll the file back with it; ours never has one under this name. */
    if (journal >= 0)
        return live_refuse(error, TACIT_MALFORMED, "%s/%s does not belong there", name,
                           STORE_JOURNAL);
    TACIT_TRY(store_header_check(directory, name, sizes->file, sizes->log > 0, &generation, error));
    TACIT_TRY(store_log_check(directory, name, sizes->log, generation, error));
    return store_high_water_check(store, directory, name, sizes->log, error);
}

/* SQLite tells after each commit how many pages the log has. */
static int count_pages(void *context, sqlite3 *database, const char *name, int pages)
{
    (void)database;
    (void)name;
    struct live_store *const store = context;
    store->log_pages = (uint32_t)pages;
    if (store->log_pages > store->log_pages_used)
        store->log_pages_used = store->log_pages;
    return SQLITE_OK;
}

/* Each block as it reads now. Result: SQLite's code. */
static int write_again(sqlite3_file *log, sqlite3_int64 size)
{
    uint8_t block[STORE_PAGE_BYTES];
    int code = SQLITE_OK;
    for (sqlite3_int64 at = 0; code == SQLITE_OK && at < size; at += STORE_PAGE_BYTES) {
        int const part = size - at < STORE_PAGE_BYTES ? (int)(size - at) : STORE_PAGE_BYTES;
        code = log->pMethods->xRead(log, block, part, at);
        if (code == SQLITE_OK)
            code = log->pMethods->xWrite(log, block, part, at);
    }
    return code == SQLITE_OK ? log->pMethods->xSync(log, SQLITE_SYNC_NORMAL) : code;
}

/* A log that we did not write ourselves is written again before it is believed. After a failed
 * fsync the kernel shows what is not on disk, and the next fsync says that all is well: the page
 * counts as clean (Rebello et al., ATC 2020). Written again, it is on disk or fails again. SQLite
 * alone would take such a log, and after a power failure mix its older half with a newer file. */
static enum tacit_status settle_log(struct live_store *store)
{
    sqlite3_file *log = NULL;
    sqlite3_int64 size;
    int code = store_log_file(store, &log, &size);
    if (code == SQLITE_OK && size > 0)
        code = write_again(log, size);
    if (code == SQLITE_OK && size > STORE_LOG_HEADER_BYTES)
        store->log_pages_used = (uint32_t)(size / STORE_LOG_FRAME_BYTES) + 1;
    return code == SQLITE_OK ? TACIT_OK
                             : store_break(store, TACIT_IO, "cannot write the log again: %s",
                                           sqlite3_errstr(code));
}

enum tacit_status store_check_rows(struct live_store *store,
                                   const struct live_store_identity *identity)
{
    TACIT_TRY(store_tables_check(store));
    TACIT_TRY(prepare_statements(store));
    TACIT_TRY(store_identity_check(store, identity));
    TACIT_TRY(store_rows_check(store));
    return store_high_water_releases(store);
}

/* Opens the file, and checks all of it before anything is written. */
static enum tacit_status read_file(struct live_store *store, const struct opening *opening)
{
    enum tacit_status status = connect_to(store, opening, STORE_FILE);
    if (status == TACIT_OK)
        status = expect_log(store, "PRAGMA journal_mode", TACIT_MALFORMED);
    if (status == TACIT_OK)
        status = store_check_rows(store, opening->identity);
    if (status == TACIT_OK)
        status = store_remembered_open(store, opening->directory, opening->directory_name,
                                       opening->real_path, opening->error);
    if (status == TACIT_OK)
        status = settle_log(store);
    if (status == TACIT_OK)
        (void)sqlite3_wal_hook(store->database, count_pages, store);
    if (status == TACIT_OK)
        status = store_end_log(store);
    if (status != TACIT_OK && opening->error->text[0] == '\0')
        *opening->error = store->trouble;
    return status;
}

/* ---- Public --------------------------------------------------------------------------------- */

struct live_store *store_new(const char *directory_name)
{
    struct live_store *const store = calloc(1, sizeof *store);
    if (store == NULL)
        return NULL;
    store->lock = -1;
    store->vfs_name = vfs_name;
    store->directory = -1;
    store->log_pages_max = STORE_LOG_PAGES_MAX;
    store->hash = EVP_MD_CTX_new();
    if (asprintf(&store->path, "%s/%s", directory_name, STORE_FILE) < 0)
        store->path = NULL;
    bool const can_hash =
        store->hash != NULL && EVP_DigestInit_ex(store->hash, EVP_sha256(), NULL) == 1;
    if (!can_hash || store->path == NULL) {
        live_store_close(store);
        return NULL;
    }
    return store;
}

/* In a directory that is open. Errors: with error->text; the store is to be closed. */
static enum tacit_status open_in(struct live_store *store, struct opening *opening)
{
    TACIT_TRY(live_lock_acquire(opening->directory, opening->directory_name, &store->lock,
                                opening->error));
    opening->real_path = realpath(opening->directory_name, NULL);
    if (opening->real_path == NULL)
        return live_refuse(opening->error, TACIT_IO, "%s: %s", opening->directory_name,
                           strerror(errno));
    struct store_sizes sizes = {-1, -1};
    enum tacit_status status = store_check_files(store, opening->directory, opening->directory_name,
                                                 &sizes, opening->error);
    if (status == TACIT_OK && sizes.file < 0)
        status = make_file(store, opening);
    if (status == TACIT_OK)
        status = read_file(store, opening);
    free(opening->real_path);
    return status;
}

enum tacit_status live_store_open(struct live_store **store, const char *directory,
                                  const struct live_store_identity *identity,
                                  struct tacit_error *error)
{
    TACIT_ASSERT(store != NULL && identity != NULL && error != NULL);
    struct opening opening = {.directory_name = directory, .identity = identity, .error = error};
    error->text[0] = '\0';
    TACIT_TRY(live_private_directory_open(directory, &opening.directory, error));
    struct live_store *const made = store_new(directory);
    enum tacit_status status =
        made == NULL ? live_refuse(error, TACIT_MEMORY, "%s: out of memory", directory)
                     : open_in(made, &opening);
    if (status == TACIT_OK) { /* for the high-water mark; never a standard stream's number */
        made->directory = fcntl(opening.directory, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        if (made->directory < 0)
            status = live_refuse(error, TACIT_IO, "%s: %s", directory, strerror(errno));
    }
    (void)close(opening.directory);
    if (status != TACIT_OK) {
        if (made != NULL)
            made->is_broken = true; /* leave everything as it was found */
        live_store_close(made);
        return status;
    }
    if (identity->agreed != NULL && !made->has_new_config)
        store_agreed_write(directory, identity->agreed);
    *store = made;
    return TACIT_OK;
}

bool live_store_is_upgraded(const struct live_store *store)
{
    return store->format != STORE_FORMAT;
}

void live_store_close(struct live_store *store)
{
    if (store == NULL)
        return;
    if (store->is_for_inspection)
        store->is_broken = true; /* leave everything as it was found */
    store_remembered_close(store);
    if (!store->is_broken)
        (void)store_end_log(store); /* its blocks are free soon, and not overwritten then */
    drop_statements(store);
    if (!store->is_broken)
        store_high_water_close(store);
    if (store->database != NULL) {
        /* Closing folds the log; a broken store must not sync a second time. */
        (void)sqlite3_db_config(store->database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, store->is_broken,
                                NULL);
        int const code = sqlite3_close(store->database);
        TACIT_ASSERT(code == SQLITE_OK);
    }
    store_core_free(&store->core);
    EVP_MD_CTX_free(store->hash);
    free(store->path);
    if (store->directory >= 0)
        (void)close(store->directory);
    live_lock_release(store->lock); /* last: nobody else may come in before SQLite is out */
    free(store);
}
