/* A rollback journal, and none when nothing is being written: a transaction comes every two
 * thousand decisions, and no older version of a page stays on the disk. Pages carry checksums,
 * because the file is not read at start. */
#include "store_base.h"
#include "../daemon/private.h"
#include "../daemon/refusal.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_NAME "remembered.db"
#define JOURNAL_NAME FILE_NAME "-journal"
#define NAME "remembered" /* of the value in the state: the transactions that it builds on */

/* So many changes are one transaction. A row with a key touches a page somewhere. */
#define CHANGES_MAX 2048u
#define KEY_CHANGES 4u
/* So many that are forgotten go in a batch; and they begin to when the first one has been over for
 * this part of the time for which is remembered. */
#define FORGOTTEN_MAX 256
#define OVER_PART 8u

#define PATH_BYTES (4096 + sizeof JOURNAL_NAME)

#define TEXT_OF(number) TEXT_OF_EXPANDED(number)
#define TEXT_OF_EXPANDED(number) #number
#define NAMES "number, salt, arm, kind, state, opened_ms, until_ms, key, kept"

static const struct store_column columns[] = {
    STORE_COLUMN(STORE_KEY, struct live_decision_row, number, ""),
    STORE_COLUMN(STORE_NUMBER, struct live_decision_row, salt, ""),
    STORE_COLUMN(STORE_NUMBER, struct live_decision_row, arm, ""),
    STORE_COLUMN(STORE_NUMBER, struct live_decision_row, kind, ""),
    STORE_COLUMN(STORE_NUMBER, struct live_decision_row, state, ""),
    STORE_COLUMN(STORE_NUMBER, struct live_decision_row, opened_ms, ""),
    STORE_COLUMN(STORE_KEY, struct live_decision_row, deadline_ms, ""),
    STORE_COLUMN(STORE_TEXT, struct live_decision_row, key, ""),
    STORE_SIZED(STORE_BYTES, struct live_decision_row, kept, kept_size, ""),
};

#define COLUMN_COUNT (sizeof columns / sizeof columns[0])

static const char tables[] =
    "BEGIN IMMEDIATE;"
    "CREATE TABLE facts(one INTEGER PRIMARY KEY CHECK(one = 1), owner BLOB NOT NULL,"
    " transactions INTEGER NOT NULL, rows INTEGER NOT NULL) STRICT;"
    "CREATE TABLE remembered(number INTEGER PRIMARY KEY, salt INTEGER NOT NULL,"
    " arm INTEGER NOT NULL, kind INTEGER NOT NULL, state INTEGER NOT NULL,"
    " opened_ms INTEGER NOT NULL, until_ms INTEGER NOT NULL, key TEXT, key_hash INTEGER, kept BLOB)"
    " STRICT;"
    "CREATE INDEX remembered_until ON remembered(until_ms);"
    "CREATE INDEX remembered_keys ON remembered(key_hash) WHERE key_hash IS NOT NULL;"
    "COMMIT";

static const char *const sql[STORE_REMEMBERED_STATEMENTS] = {
    [REMEMBERED_BEGIN] = "BEGIN IMMEDIATE",
    [REMEMBERED_COMMIT] = "COMMIT",
    [REMEMBERED_PUT] = "INSERT OR IGNORE INTO remembered(" NAMES ", key_hash)"
                       " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    [REMEMBERED_DROP] = "DELETE FROM remembered WHERE number = ?1 AND salt = ?2",
    [REMEMBERED_FIND] = "SELECT " NAMES " FROM remembered WHERE number = ?1 AND until_ms > ?2",
    [REMEMBERED_FIND_KEY] = "SELECT " NAMES " FROM remembered"
                            " WHERE key_hash = ?1 AND until_ms > ?2 AND key = ?3",
    [REMEMBERED_OLDEST] = "SELECT until_ms FROM remembered ORDER BY until_ms LIMIT 1",
    [REMEMBERED_FORGET] =
        "DELETE FROM remembered WHERE number IN (SELECT number FROM remembered"
        " WHERE until_ms <= ?1 ORDER BY until_ms LIMIT " TEXT_OF(FORGOTTEN_MAX) ")",
    [REMEMBERED_PUT_FACTS] = "INSERT OR REPLACE INTO facts VALUES(1, ?1, ?2, ?3)",
    [REMEMBERED_FACTS] = "SELECT owner, transactions, rows FROM facts",
};

/* ---- The file -------------------------------------------------------------------------------- */

/* File and journal, if they are there; gone on disk, too. */
static enum tacit_status remove_files(struct live_store *store)
{
    static const char *const ends[] = {"", "-journal"};
    sqlite3_vfs *const vfs = sqlite3_vfs_find(store->vfs_name);
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        char path[PATH_BYTES];
        (void)snprintf(path, sizeof path, "%s%s", store->remembered.path, ends[i]);
        if (access(path, F_OK) != 0)
            continue;
        int const code = vfs->xDelete(vfs, path, 1);
        if (code != SQLITE_OK && code != SQLITE_IOERR_DELETE_NOENT)
            return store_break(store, TACIT_IO, "cannot remove " FILE_NAME ": %s",
                               sqlite3_errstr(code));
    }
    return TACIT_OK;
}

/* A transaction that is open is rolled back. */
static void disconnect(struct store_remembered *remembered)
{
    for (size_t i = 0; i < STORE_REMEMBERED_STATEMENTS; i++) {
        (void)sqlite3_finalize(remembered->statements[i]);
        remembered->statements[i] = NULL;
    }
    int const code = sqlite3_close(remembered->database);
    TACIT_ASSERT(code == SQLITE_OK);
    store_pages_unregister(&remembered->pages);
    remembered->database = NULL;
    remembered->changes = 0;
    remembered->in_transaction = false;
}

static enum tacit_status connect_to(struct live_store *store)
{
    struct store_remembered *const remembered = &store->remembered;
    int reserved = STORE_PAGES_SUM_BYTES;
    if (!store_pages_register(&remembered->pages, store->vfs_name))
        return store_break(store, TACIT_MEMORY, "out of memory");
    TACIT_TRY(store_connect(store, &remembered->database, remembered->path, SQLITE_OPEN_READWRITE,
                            remembered->pages.name, "open what is remembered"));
    (void)sqlite3_file_control(remembered->database, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserved);
    TACIT_TRY(store_configure(store, remembered->database));
    /* 16 MiB, which a transaction never fills: nothing is written before it ends. */
    return store_execute_in(store, remembered->database,
                            "PRAGMA journal_mode = TRUNCATE; PRAGMA cache_size = -16384;"
                            "PRAGMA cache_spill = OFF",
                            "configure what is remembered");
}

static enum tacit_status prepare(struct live_store *store)
{
    struct store_remembered *const remembered = &store->remembered;
    for (size_t i = 0; i < STORE_REMEMBERED_STATEMENTS; i++)
        if (sqlite3_prepare_v3(remembered->database, sql[i], -1, SQLITE_PREPARE_PERSISTENT,
                               &remembered->statements[i], NULL) != SQLITE_OK)
            return store_break_database(store, remembered->database, "read what is remembered");
    return TACIT_OK;
}

/* A new file, with its tables, when the first row is handed over. */
static enum tacit_status make(struct live_store *store)
{
    TACIT_ASSERT(store->remembered.transactions == 0 && store->directory >= 0);
    struct store_remembered *const remembered = &store->remembered;
    int const file =
        open(remembered->path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool const is_made = file >= 0 && fchmod(file, S_IRUSR | S_IWUSR) == 0;
    if (file >= 0)
        (void)close(file);
    if (!is_made || fsync(store->directory) != 0)
        return store_break(store, TACIT_IO, "cannot make " FILE_NAME ": %s", strerror(errno));
    TACIT_TRY(connect_to(store));
    TACIT_TRY(store_execute_in(store, remembered->database, tables, "make " FILE_NAME));
    return prepare(store);
}

/* ---- Of this state, and of its time ---------------------------------------------------------- */

/* Whose file it is: the state's secret, which nobody learns from this. */
static enum tacit_status owner_of(struct live_store *store, uint8_t owner[STORE_SUM_BYTES])
{
    store_sum_start(store, NAME);
    store_sum_bytes(store, store->id_key, sizeof store->id_key);
    return store_sum_end(store, owner);
}

/* Notes when the first row is forgotten. */
static enum tacit_status read_oldest(struct live_store *store)
{
    sqlite3_stmt *const row = store->remembered.statements[REMEMBERED_OLDEST];
    bool found;
    enum tacit_status const status = store_next(store, row, &found);
    store->remembered.oldest_ms =
        status == TACIT_OK && found ? store_number_at(row, 0) : UINT64_MAX;
    (void)sqlite3_reset(row);
    return status;
}

/* A crash leaves the state at the transaction that the file has, or at the one before. */
static enum tacit_status check_facts(struct live_store *store)
{
    struct store_remembered *const remembered = &store->remembered;
    sqlite3_stmt *const row = remembered->statements[REMEMBERED_FACTS];
    uint8_t owner[STORE_SUM_BYTES];
    uint64_t transactions = 0;
    bool found;
    TACIT_TRY(owner_of(store, owner));
    TACIT_TRY(store_next(store, row, &found));
    const void *const kept = found ? sqlite3_column_blob(row, 0) : NULL;
    bool const is_ours = kept != NULL && sqlite3_column_bytes(row, 0) == (int)sizeof owner &&
                         memcmp(kept, owner, sizeof owner) == 0;
    if (is_ours) {
        transactions = store_number_at(row, 1);
        remembered->rows = store_number_at(row, 2);
    }
    (void)sqlite3_reset(row);
    if (!is_ours || transactions - remembered->transactions > 1)
        return store_break(store, TACIT_MALFORMED,
                           FILE_NAME " beside it is %s; put the right one back, or remove the "
                                     "whole directory and rejoin as a new site",
                           is_ours ? "of another time" : "not the one that belongs to this state");
    remembered->transactions = transactions;
    return TACIT_OK;
}

/* What a crash left of a transaction is undone with the first page that is read, or never counted.
 */
static enum tacit_status empty_journal(struct live_store *store)
{
    char path[PATH_BYTES];
    (void)snprintf(path, sizeof path, "%s-journal", store->remembered.path);
    return truncate(path, 0) == 0 || errno == ENOENT
               ? TACIT_OK
               : store_break(store, TACIT_IO, "cannot empty " JOURNAL_NAME ": %s", strerror(errno));
}

static enum tacit_status read_file(struct live_store *store)
{
    TACIT_TRY(connect_to(store));
    TACIT_TRY(prepare(store));
    TACIT_TRY(check_facts(store));
    TACIT_TRY(empty_journal(store));
    return read_oldest(store);
}

enum tacit_status store_remembered_open(struct live_store *store, int directory,
                                        const char *directory_name, const char *real_path,
                                        struct tacit_error *error)
{
    struct store_remembered *const remembered = &store->remembered;
    int64_t size = -1;
    int64_t journal_size = -1;
    bool found;
    remembered->oldest_ms = UINT64_MAX;
    if (asprintf(&remembered->path, "%s/" FILE_NAME, real_path) < 0) {
        remembered->path = NULL;
        return store_break(store, TACIT_MEMORY, "out of memory");
    }
    TACIT_TRY(live_store_get_value(store, NAME, &remembered->transactions, &found));
    if (remembered->transactions == 0)
        return remove_files(store);
    TACIT_TRY(live_private_file_check(directory, directory_name, FILE_NAME, &size, error));
    TACIT_TRY(
        live_private_file_check(directory, directory_name, JOURNAL_NAME, &journal_size, error));
    if (size < 0)
        return live_refuse(error, TACIT_MALFORMED,
                           "%s/" FILE_NAME " is missing: decisions that are remembered were in "
                           "it; put it back, or remove the whole directory and rejoin as a new "
                           "site",
                           directory_name);
    return read_file(store);
}

void store_remembered_close(struct live_store *store)
{
    disconnect(&store->remembered);
    free(store->remembered.answer);
    free(store->remembered.path);
    store->remembered = (struct store_remembered){.database = NULL};
}

/* ---- Transactions ---------------------------------------------------------------------------- */

static enum tacit_status run(struct live_store *store, enum store_remembered_statement which,
                             const char *what)
{
    return store_step(store, store->remembered.statements[which], what);
}

static enum tacit_status begin(struct live_store *store)
{
    if (store->remembered.in_transaction)
        return TACIT_OK;
    enum tacit_status const status = run(store, REMEMBERED_BEGIN, "begin to remember");
    store->remembered.in_transaction = status == TACIT_OK;
    return status;
}

/* Into the transaction: whose file it is, and how far it is then. */
static enum tacit_status put_facts(struct live_store *store)
{
    TACIT_ASSERT(store->remembered.in_transaction && store->remembered.rows > 0);
    struct store_remembered *const remembered = &store->remembered;
    sqlite3_stmt *const put = remembered->statements[REMEMBERED_PUT_FACTS];
    uint8_t owner[STORE_SUM_BYTES];
    TACIT_TRY(owner_of(store, owner));
    store_bind_blob(store, put, 1, owner, sizeof owner);
    store_bind_number(store, put, 2, remembered->transactions + 1);
    store_bind_number(store, put, 3, remembered->rows);
    return run(store, REMEMBERED_PUT_FACTS, "remember");
}

enum tacit_status store_remembered_forget(struct live_store *store)
{
    if (store->remembered.database == NULL)
        return TACIT_OK;
    store->remembered.is_gone = true;
    return live_store_put_value(store, NAME, 0);
}

/* When it returns, what was handed over is on disk. If the state's batch then is not, the state has
 * it, too. */
enum tacit_status store_remembered_commit(struct live_store *store)
{
    struct store_remembered *const remembered = &store->remembered;
    if (remembered->is_gone || !remembered->in_transaction ||
        (remembered->changes < CHANGES_MAX && !remembered->has_forgotten))
        return TACIT_OK;
    if (remembered->rows == 0)
        return store_remembered_forget(store);
    TACIT_TRY(put_facts(store));
    TACIT_TRY(run(store, REMEMBERED_COMMIT, "remember"));
    remembered->in_transaction = false;
    remembered->has_forgotten = false;
    remembered->changes = 0;
    return live_store_put_value(store, NAME, ++remembered->transactions);
}

enum tacit_status store_remembered_end(struct live_store *store)
{
    struct store_remembered *const remembered = &store->remembered;
    if (!remembered->is_gone)
        return TACIT_OK;
    disconnect(remembered);
    remembered->is_gone = false;
    remembered->has_forgotten = false;
    remembered->is_forgetting = false;
    remembered->rows = 0;
    remembered->transactions = 0;
    remembered->oldest_ms = UINT64_MAX;
    return remove_files(store);
}

/* ---- Forgetting ------------------------------------------------------------------------------ */

/* At most FORGOTTEN_MAX rows; is_forgetting says whether there may be more. */
static enum tacit_status forget_some(struct live_store *store)
{
    struct store_remembered *const remembered = &store->remembered;
    TACIT_TRY(begin(store));
    store_bind_number(store, remembered->statements[REMEMBERED_FORGET], 1, remembered->now_ms);
    TACIT_TRY(run(store, REMEMBERED_FORGET, "forget what is over"));
    uint64_t const gone = (uint64_t)sqlite3_changes64(remembered->database);
    TACIT_ASSERT(gone <= remembered->rows);
    remembered->rows -= gone;
    remembered->changes += (uint32_t)gone;
    remembered->is_forgetting = gone == FORGOTTEN_MAX;
    remembered->has_forgotten = !remembered->is_forgetting;
    return read_oldest(store);
}

enum tacit_status store_remembered_begin(struct live_store *store)
{
    struct store_remembered *const remembered = &store->remembered;
    uint64_t const over_ms = remembered->keep_ms / OVER_PART;
    if (remembered->now_ms >= over_ms && remembered->oldest_ms <= remembered->now_ms - over_ms)
        remembered->is_forgetting = true;
    return remembered->is_forgetting ? forget_some(store) : TACIT_OK;
}

void live_store_remember_until(struct live_store *store, uint64_t now_ms, uint64_t keep_ms)
{
    store->remembered.now_ms = now_ms;
    store->remembered.keep_ms = keep_ms;
}

/* ---- Handing over ---------------------------------------------------------------------------- */

static uint64_t load_u32(const uint8_t *bytes)
{
    return bytes[0] | (uint64_t)bytes[1] << 8 | (uint64_t)bytes[2] << 16 | (uint64_t)bytes[3] << 24;
}

/* 32 bits, for the index; whoever looks up compares the key itself, too. */
static enum tacit_status hash_key(struct live_store *store, const char *key, uint64_t *hash)
{
    uint8_t sum[STORE_SUM_BYTES];
    store_sum_start(store, "keys");
    store_sum_text(store, key);
    enum tacit_status const status = store_sum_end(store, sum);
    *hash = load_u32(sum);
    return status;
}

/* A time beyond SQLite's numbers is the last one that they have. */
static enum tacit_status bind_row(struct live_store *store, sqlite3_stmt *put,
                                  const struct live_decision_row *row)
{
    struct live_decision_row kept = *row;
    uint64_t hash;
    if (kept.deadline_ms > STORE_KEY_MAX)
        kept.deadline_ms = STORE_KEY_MAX;
    if (kept.deadline_ms < store->remembered.oldest_ms)
        store->remembered.oldest_ms = kept.deadline_ms;
    store_columns_bind(store, put, columns, COLUMN_COUNT, &kept);
    if (row->key == NULL)
        return TACIT_OK;
    TACIT_TRY(hash_key(store, row->key, &hash));
    store_bind_number(store, put, (int)COLUMN_COUNT + 1, hash);
    return TACIT_OK;
}

/* *is_new: there was none of this number. */
static enum tacit_status put_row(struct live_store *store, const struct live_decision_row *row,
                                 bool *is_new)
{
    TACIT_TRY(bind_row(store, store->remembered.statements[REMEMBERED_PUT], row));
    TACIT_TRY(run(store, REMEMBERED_PUT, "remember"));
    *is_new = sqlite3_changes(store->remembered.database) == 1;
    return TACIT_OK;
}

/* It was handed over before: a crash came between, or it got a reward too late. What the state has
 * now counts. */
static enum tacit_status put_again(struct live_store *store, const struct live_decision_row *row)
{
    sqlite3_stmt *const drop = store->remembered.statements[REMEMBERED_DROP];
    bool is_new;
    store_bind_number(store, drop, 1, row->number);
    store_bind_number(store, drop, 2, row->salt);
    TACIT_TRY(run(store, REMEMBERED_DROP, "remember"));
    if (sqlite3_changes(store->remembered.database) == 0)
        return store_break(store, TACIT_MALFORMED, FILE_NAME " has another decision of a number");
    return put_row(store, row, &is_new);
}

enum tacit_status live_store_remember(struct live_store *store, const struct live_decision_row *row)
{
    struct store_remembered *const remembered = &store->remembered;
    bool is_new;
    TACIT_TRY(store_may_put(store));
    TACIT_ASSERT(row->number > 0 && row->number <= STORE_KEY_MAX && !remembered->is_gone);
    if (row->key != NULL && !store_is_text(row->key, 0))
        return TACIT_INVALID;
    if (remembered->database == NULL)
        TACIT_TRY(make(store));
    TACIT_TRY(begin(store));
    TACIT_TRY(put_row(store, row, &is_new));
    remembered->changes += row->key == NULL ? 1 : KEY_CHANGES;
    remembered->rows += is_new ? 1 : 0;
    return is_new ? TACIT_OK : put_again(store, row);
}

bool live_store_remembers_all(const struct live_store *store)
{
    return !store->remembered.in_transaction;
}

uint64_t live_store_remembered_count(const struct live_store *store)
{
    return store->remembered.rows;
}

/* ---- Looking up ------------------------------------------------------------------------------ */

/* Texts and bytes, which the statement has only until it is reset. */
static bool copy_answer(struct store_remembered *remembered, struct live_decision_row *row)
{
    size_t const key_size = row->key == NULL ? 0 : strlen(row->key) + 1;
    uint8_t *const answer = realloc(remembered->answer, key_size + row->kept_size + 1);
    if (answer == NULL)
        return false;
    remembered->answer = answer;
    if (row->key != NULL)
        row->key = memcpy(answer, row->key, key_size);
    if (row->kept_size > 0)
        row->kept = memcpy(answer + key_size, row->kept, row->kept_size);
    return true;
}

static enum tacit_status read_row(struct live_store *store, sqlite3_stmt *found,
                                  struct live_decision_row *row)
{
    *row = (struct live_decision_row){.number = 0};
    store_columns_read(found, columns, COLUMN_COUNT, row);
    return copy_answer(&store->remembered, row) ? TACIT_OK
                                                : store_break(store, TACIT_MEMORY, "out of memory");
}

/* Requires: the first place, and what comes behind the second, are bound. What is over is not
 * found. */
static enum tacit_status find(struct live_store *store, sqlite3_stmt *rows,
                              struct live_decision_row *row, bool *found)
{
    TACIT_ASSERT(row != NULL && found != NULL);
    store_bind_number(store, rows, 2, store->remembered.now_ms);
    enum tacit_status status = store_next(store, rows, found);
    if (status == TACIT_OK && *found)
        status = read_row(store, rows, row);
    *found = status == TACIT_OK && *found;
    (void)sqlite3_reset(rows);
    (void)sqlite3_clear_bindings(rows);
    return status;
}

/* May something be looked up? */
static bool has_some(const struct live_store *store)
{
    return !store->is_broken && store->remembered.database != NULL && !store->remembered.is_gone;
}

enum tacit_status live_store_recall(struct live_store *store, struct live_decision_id id,
                                    struct live_decision_row *row, bool *found)
{
    *found = false;
    if (!has_some(store) || id.number > STORE_KEY_MAX)
        return store->is_broken ? TACIT_IO : TACIT_OK;
    sqlite3_stmt *const rows = store->remembered.statements[REMEMBERED_FIND];
    store_bind_number(store, rows, 1, id.number);
    enum tacit_status const status = find(store, rows, row, found);
    *found = *found && row->salt == id.salt;
    return status;
}

enum tacit_status live_store_recall_key(struct live_store *store, const char *key,
                                        struct live_decision_row *row, bool *found)
{
    uint64_t hash;
    *found = false;
    if (!has_some(store))
        return store->is_broken ? TACIT_IO : TACIT_OK;
    TACIT_TRY(hash_key(store, key, &hash));
    sqlite3_stmt *const rows = store->remembered.statements[REMEMBERED_FIND_KEY];
    store_bind_number(store, rows, 1, hash);
    store_bind_text(store, rows, 3, key);
    return find(store, rows, row, found);
}
