/* What all files of the store are written with: the open store, its trouble, its statements. Not
 * for other rooms. */
#ifndef TACIT_LIVE_STORE_BASE_H
#define TACIT_LIVE_STORE_BASE_H
#include "store.h"
#include "store_pages.h"
#include <openssl/evp.h>
#include <sqlite3.h>

#define STORE_FILE "state.db"
#define STORE_LOG STORE_FILE "-wal"
#define STORE_JOURNAL STORE_FILE "-journal"
#define STORE_NEW STORE_FILE ".new"
#define STORE_APPLICATION 0x54434954 /* "TCIT", in the file's header */
/* Of the tables, and the oldest that is read: the one before, where it differs; the first batch
 * makes it ours. Another one is refused. */
#ifndef STORE_FORMAT
#define STORE_FORMAT 11
#define STORE_FORMAT_OLDEST 11
#endif
/* The header's user version: the format, and above it the number of the turn (store_erase.c). */
#define STORE_USER_VERSION_AT 60 /* in the file's header */
#define STORE_FORMAT_BITS 8u
#define STORE_TURN_MASK ((UINT32_C(1) << 23) - 1)
#define STORE_SUM_BYTES 32u
#define STORE_LOG_HEADER_BYTES 32
#define STORE_LOG_FRAME_BYTES (24 + STORE_PAGE_BYTES)
#define STORE_TEXT_BYTES_MAX 1024u
#define STORE_BLOB_BYTES_MAX ((size_t)256 << 20)

/* From this many pages on, the log is folded into the file before the next batch: 4 MiB. A fold
 * costs some milliseconds, which whoever asks just then has to wait; under full load this is one
 * batch of some hundred. */
#define STORE_LOG_PAGES_MAX 1024u

#define STORE_STATEMENT_LIST(X)                                                                    \
    X(STORE_BEGIN, "BEGIN IMMEDIATE")                                                              \
    X(STORE_COMMIT, "COMMIT")                                                                      \
    X(STORE_PUT_CORE, "INSERT OR REPLACE INTO core(one, size, sum) VALUES(1, ?1, ?2)")             \
    X(STORE_GET_CORE, "SELECT size, sum FROM core")                                                \
    X(STORE_PUT_PART, "INSERT OR REPLACE INTO core_parts(number, bytes) VALUES(?1, ?2)")           \
    X(STORE_DROP_PARTS, "DELETE FROM core_parts")                                                  \
    X(STORE_PARTS, "SELECT number, bytes FROM core_parts ORDER BY number")                         \
    X(STORE_DROP_VALUES, "DELETE FROM named WHERE name GLOB ?1")                                   \
    X(STORE_DROP_CORE, "DELETE FROM core")

enum store_statement {
#define X(name, sql) name,
    STORE_STATEMENT_LIST(X)
#undef X
        STORE_STATEMENT_COUNT
};

/* Tables of rows that are described by columns (store_rows.h), and what is done with their rows. */
enum store_table_id {
    STORE_IDENTITY,
    STORE_RELEASES,
    STORE_DECISIONS,
    STORE_UNITS,
    STORE_NAMED,
    STORE_RUNS,
    STORE_UNIT_COUNTS,
    STORE_ENTRIES,
    STORE_TABLE_COUNT
};
enum store_verb { STORE_PUT, STORE_GET, STORE_DROP, STORE_DROP_ALL, STORE_WALK, STORE_VERB_COUNT };

/* What is stored of the core (store_core.c). */
struct store_core {
    uint8_t *bytes;
    uint8_t *sums; /* one a part */
    size_t size;   /* 0: none was put */
};

/* What the state must hold (store_high_water.c). */
struct store_high_water {
    bool has_log;     /* its process did not end by itself yet: there is a log */
    uint64_t release; /* the newest that may have left */
};

enum store_remembered_statement {
    REMEMBERED_BEGIN,
    REMEMBERED_COMMIT,
    REMEMBERED_PUT,
    REMEMBERED_DROP,
    REMEMBERED_FIND,
    REMEMBERED_FIND_KEY,
    REMEMBERED_OLDEST,
    REMEMBERED_FORGET,
    REMEMBERED_PUT_FACTS,
    REMEMBERED_FACTS,
    STORE_REMEMBERED_STATEMENTS
};

/* The file of remembered decisions (store_remembered.c). */
struct store_remembered {
    sqlite3 *database; /* NULL: nothing is remembered */
    sqlite3_stmt *statements[STORE_REMEMBERED_STATEMENTS];
    struct store_pages pages;
    char *path;
    uint64_t transactions; /* so many did it have; 0: there is no file */
    uint64_t rows;         /* with the transaction that is open */
    uint64_t oldest_ms;    /* when the first is forgotten, or before; UINT64_MAX: none */
    uint64_t now_ms;
    uint64_t keep_ms;
    bool in_transaction;
    uint32_t changes;   /* in it */
    bool is_forgetting; /* there is more that is over */
    bool has_forgotten; /* all that was over, in this transaction */
    bool is_gone;       /* the file goes when the batch is on disk */
    uint8_t *answer;    /* texts and bytes of the row that was found last */
};

struct live_store {
    sqlite3 *database;
    sqlite3_stmt *statements[STORE_STATEMENT_COUNT];
    sqlite3_stmt *rows[STORE_TABLE_COUNT][STORE_VERB_COUNT];
    int lock;      /* -1: not held */
    int directory; /* -1: not open */
    struct store_high_water high_water;
    uint32_t format;           /* that was found; the next batch makes it ours */
    uint32_t turn;             /* of the file and its log (store_erase.c) */
    uint64_t put_release;      /* the newest in the state, with this batch */
    bool takes_config;         /* the run has ended, and the configuration is another one: .. */
    uint8_t wanted_digest[32]; /* .. of this digest */
    char *path;                /* of the file, as the caller named the directory; for texts */
    EVP_MD_CTX *hash;          /* of the row at hand; SHA-256, looked up once */
    bool hash_failed;          /* since store_sum_start */
    bool in_batch;
    bool folds;          /* when this batch is on disk: the log, .. */
    bool erases_past;    /* .. and overwrites it */
    bool is_for_looking; /* store_look.c: it is never written */
    bool is_broken;
    struct store_core core;
    struct store_remembered remembered;
    uint8_t id_key[LIVE_STORE_ID_KEY_BYTES];
    const char *vfs_name;       /* NULL: SQLite's own */
    uint32_t log_pages;         /* in the log now */
    uint32_t log_pages_used;    /* of its file: written since it was overwritten */
    uint32_t log_pages_max;     /* fold at so many */
    struct tacit_error trouble; /* the first thing that went wrong */
};

/* ---- Texts and trouble ----------------------------------------------------------------------- */

/* The store is broken from now on; keeps the first text, with the path before it. */
enum tacit_status store_break(struct live_store *store, enum tacit_status status,
                              const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The same for SQLite's last error: "cannot <what>: ...". */
enum tacit_status store_break_sqlite(struct live_store *store, const char *what);
/* The same of another database. */
enum tacit_status store_break_database(struct live_store *store, sqlite3 *database,
                                       const char *what);

/* ---- Statements -------------------------------------------------------------------- */

#define STORE_KEY_MAX ((uint64_t)INT64_MAX)

/* Errors: TACIT_IO on a broken store. Asserts a batch. */
enum tacit_status store_may_put(const struct live_store *store);
/* May this be kept as a text? NULL may not. */
bool store_is_text(const char *text, size_t size_min);
/* The same for bytes. */
bool store_is_blob(const void *bytes, size_t size);
/* A binding that fails breaks the store, and store_run and store_next then do nothing: a statement
 * never runs with NULL instead of what was meant. */
void store_bind_number(struct live_store *store, sqlite3_stmt *row, int place, uint64_t number);
void store_bind_text(struct live_store *store, sqlite3_stmt *row, int place, const char *text);
void store_bind_blob(struct live_store *store, sqlite3_stmt *row, int place, const void *bytes,
                     size_t size);
/* Runs a statement that gives no rows. */
enum tacit_status store_step(struct live_store *store, sqlite3_stmt *statement, const char *what);
enum tacit_status store_run(struct live_store *store, enum store_statement which, const char *what);
/* Goes to the next row, if there is one. */
enum tacit_status store_next(struct live_store *store, sqlite3_stmt *rows, bool *found);
/* For `while`: goes to the next row. False at the last one, and when *status is, or becomes,
 * another than TACIT_OK. Whoever walks resets the statement. */
bool store_walk(struct live_store *store, sqlite3_stmt *rows, enum tacit_status *status);

/* Runs SQL without results. */
enum tacit_status store_execute_in(struct live_store *store, sqlite3 *database, const char *sql,
                                   const char *what);
enum tacit_status store_execute(struct live_store *store, const char *sql, const char *what);
/* How each database of a store is used. */
enum tacit_status store_configure(struct live_store *store, sqlite3 *database);
/* Prepares, binds nothing, steps to the only row; the caller finalizes. */
enum tacit_status store_query(struct live_store *store, const char *sql, sqlite3_stmt **row);

static inline uint32_t store_turn_of(uint32_t user_version)
{
    return user_version >> STORE_FORMAT_BITS & STORE_TURN_MASK;
}

static inline uint32_t store_format_of(uint32_t user_version)
{
    return user_version & ((UINT32_C(1) << STORE_FORMAT_BITS) - 1);
}

static inline bool store_format_is_read(uint32_t user_version)
{
    uint32_t const format = store_format_of(user_version);
    return format >= STORE_FORMAT_OLDEST && format <= STORE_FORMAT;
}

static inline uint64_t store_number_at(sqlite3_stmt *row, int column)
{
    return (uint64_t)sqlite3_column_int64(row, column);
}

static inline const char *store_text_at(sqlite3_stmt *row, int column)
{
    return (const char *)sqlite3_column_text(row, column);
}
#endif
