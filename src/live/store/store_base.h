/* What all files of the store are written with: the open store, its trouble, its statements. Not
 * for other rooms. */
#ifndef TACIT_LIVE_STORE_BASE_H
#define TACIT_LIVE_STORE_BASE_H
#include "store.h"
#include "store_pages.h"
#include "tacit/commit.h"
#include <openssl/evp.h>
#include <sqlite3.h>
#include <stddef.h>

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
/* The header's user version: the format, and above it the number of its generation (store_erase.c).
 */
#define STORE_USER_VERSION_AT 60 /* in the file's header */
#define STORE_FORMAT_BITS 8u
#define STORE_GENERATION_MASK ((UINT32_C(1) << 23) - 1)
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
    uint32_t generation;       /* of the file and its log (store_erase.c) */
    uint64_t put_release;      /* the newest in the state, with this batch */
    bool has_new_config;       /* no run is under way, and the configuration is another one: .. */
    uint8_t wanted_digest[32]; /* .. of this digest */
    char *path;                /* of the file, as the caller named the directory; for texts */
    EVP_MD_CTX *hash;          /* of the row at hand; SHA-256, looked up once */
    bool hash_failed;          /* since store_sum_start */
    bool in_batch;
    bool checkpoints;       /* when this batch is on disk: the log, .. */
    bool erases_past;       /* .. and overwrites it */
    bool is_for_inspection; /* store_inspect.c: it is never written */
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
/* Runs a statement that gives no rows, and forgets what was bound to it. */
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
/* Opens a database of a store; *database: also where it cannot be, but for want of memory. */
enum tacit_status store_connect(struct live_store *store, sqlite3 **database, const char *path,
                                int flags, const char *vfs_name, const char *what);
/* How each database of a store is used. */
enum tacit_status store_configure(struct live_store *store, sqlite3 *database);
/* Prepares, binds nothing, steps to the only row; the caller finalizes. Errors: the store is
 * broken, and *row not set: no row at all is TACIT_MALFORMED. */
enum tacit_status store_query(struct live_store *store, const char *sql, sqlite3_stmt **row);

/* The only number of the only row. */
enum tacit_status store_query_number(struct live_store *store, const char *sql, int64_t *number);

static inline uint32_t store_generation_of(uint32_t user_version)
{
    return user_version >> STORE_FORMAT_BITS & STORE_GENERATION_MASK;
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

/* ---- store_rows.c ---------------------------------------------------------------------------- */

/* Rows of tables. A table is described once, by its columns (store_tables.c): where each lies in a
 * struct and how it is declared. The SQL, what is bound and read, and the checksum of a row, over
 * all columns in their order, come from that. */

enum store_type {
    STORE_NUMBER, /* of `size` bytes: 1, 4 or 8, also of a bool or of a double's bits */
    STORE_KEY,    /* of 8, below 2^63: in SQLite's order */
    STORE_TEXT,   /* a pointer that may be NULL */
    STORE_NAME,   /* a text that is neither NULL nor empty */
    STORE_BYTES,  /* a pointer, and a size_t at `size`, which may be 0: then it is NULL */
    STORE_BLOB,   /* the same, but not empty */
    STORE_FIXED,  /* `size` bytes in the struct */
    STORE_ONE,    /* 1, and no member of the struct: of a table with one row */
    STORE_AUTO    /* SQLite's own, neither put nor read: at first */
};

struct store_column {
    const char *name;
    const char *declared;
    enum store_type type;
    size_t offset;
    size_t size;
};

/* A column of its member's name; and one whose size is another member. */
/* clang-format off */
#define STORE_COLUMN(type, row, member, declared)                                                        \
    {#member, declared, type, offsetof(row, member), sizeof(((row *)NULL)->member)}
#define STORE_SIZED(type, row, member, size, declared)                                                   \
    {#member, declared, type, offsetof(row, member), offsetof(row, size)}
/* clang-format on */

/* The key is the first column that is not automatic; the order, the first column. */
struct store_table {
    const char *name;
    const struct store_column *columns;
    size_t column_count;
    size_t row_bytes;
    bool updates;        /* a row of the same key is changed; else it is replaced */
    const char *options; /* STRICT, .. */
};

extern const struct store_table store_tables[STORE_TABLE_COUNT];

struct store_pair {
    const char *name;
    uint64_t number;
};

struct store_entry {
    uint8_t run[LIVE_STORE_RUN_BYTES];
    const uint8_t *bytes;
    size_t size;
};

struct store_identity {
    const char *role;
    const char *federation;
    const char *site;
    uint8_t config_digest[32];
    int64_t made_unix_s;
    uint8_t id_key[LIVE_STORE_ID_KEY_BYTES];
};

/* Room for one of any table. */
union store_row {
    struct store_identity identity;
    struct live_release release;
    struct live_decision_row decision;
    struct live_run_row run;
    struct store_pair pair;
    struct store_entry entry;
};

/* The SQL that makes it. */
void store_table_declare(const struct store_table *table, struct tacit_text *sql);
enum tacit_status store_rows_prepare(struct live_store *store);

/* Of one row. Errors of put: TACIT_INVALID (something is beyond what its type allows; nothing
 * changed), and as the store breaks. */
enum tacit_status store_row_put(struct live_store *store, enum store_table_id which,
                                const void *row);
/* By the key that is in the row. Texts and bytes live until store_row_end. Errors: as the store
 * breaks; the checksum differs. */
enum tacit_status store_row_get(struct live_store *store, enum store_table_id which, void *row,
                                bool *found);
void store_row_end(struct live_store *store, enum store_table_id which);
enum tacit_status store_row_drop(struct live_store *store, enum store_table_id which,
                                 const void *row);

/* For `while`, in order: false behind the last one, and when *status is, or becomes, another than
 * TACIT_OK. Whoever walks ends it. */
bool store_rows_next(struct live_store *store, enum store_table_id which, void *row,
                     enum tacit_status *status);
void store_rows_end(struct live_store *store, enum store_table_id which);
enum tacit_status store_rows_drop(struct live_store *store, enum store_table_id which);

/* Reads all rows of all tables but counts, and compares their sums. */
enum tacit_status store_rows_check(struct live_store *store);

/* Columns alone, from the first place on. */
void store_columns_bind(struct live_store *store, sqlite3_stmt *statement,
                        const struct store_column *columns, size_t count, const void *row);
void store_columns_read(sqlite3_stmt *statement, const struct store_column *columns, size_t count,
                        void *row);

/* ---- store_tables.c -------------------------------------------------------------------------- */

/* The tables: how they are made, and whether they are there. */

/* Makes them in an empty database, in a transaction. */
enum tacit_status store_tables_make(struct live_store *store);
/* Integrity, format, tables as we made them. */
enum tacit_status store_tables_check(struct live_store *store);

/* ---- store_open.c ---------------------------------------------------------------------------- */

/* The parts of opening that inspecting has, too. */

/* Nothing is open in it. NULL: out of memory. */
struct live_store *store_new(const char *directory_name);

/* Bytes of the database and of its log; -1: it is not there. */
struct store_sizes {
    int64_t file;
    int64_t log;
};

/* Looks at the files from outside: before SQLite opens them. No file at all is well. Errors: as
 * live_store_open, with error->text. */
enum tacit_status store_check_files(struct live_store *store, int directory, const char *name,
                                    struct store_sizes *sizes, struct tacit_error *error);
/* .. and from inside, when it is open. Errors: as the store breaks. */
enum tacit_status store_check_rows(struct live_store *store,
                                   const struct live_store_identity *identity);

/* ---- store_core.c ---------------------------------------------------------------------------- */

/* The core's state, in parts. */

/* Reads and checks the core's state into its copy; once, at open (store_core.c). */
enum tacit_status store_core_read(struct live_store *store);
/* In a batch: there is none from now on. */
enum tacit_status store_core_drop(struct live_store *store);
void store_core_free(struct store_core *core);

/* ---- store_remembered.c ---------------------------------------------------------------------- */

/* What is remembered of closed decisions, on disk: a table in a file of its own beside the
 * database, by the decision's number; two indices, by idempotency key and by the time at which it
 * is forgotten. The file has its own transactions, which hold what some batches of the state hand
 * over; the state names the last one that it builds on, so that a file of another time or state is
 * refused. */

/* At open, when the rows of the database were checked. A file that the state does not name goes.
 * Errors: with error->text. */
enum tacit_status store_remembered_open(struct live_store *store, int directory,
                                        const char *directory_name, const char *real_path,
                                        struct tacit_error *error);
/* What was not yet on disk is dropped: the state still has it. */
void store_remembered_close(struct live_store *store);

/* At the beginning of a batch: some of what is forgotten goes. */
enum tacit_status store_remembered_begin(struct live_store *store);
/* Before a batch is on disk: puts on disk what was handed over, if it is enough, and names it. */
enum tacit_status store_remembered_commit(struct live_store *store);
/* When it is: a file in which nothing is remembered any more goes. */
enum tacit_status store_remembered_end(struct live_store *store);
/* In a batch: forgets all of it. */
enum tacit_status store_remembered_forget(struct live_store *store);

/* ---- store_log.c ----------------------------------------------------------------------------- */

/* Is the write-ahead log whole? */

/* Is the log whole, or torn at its end as a crash tears it? SQLite reads a log up to the first bad
 * byte and drops the rest without a word. And does it go on from the file, which is of this
 * generation? Errors: TACIT_MALFORMED (damage before the last commits; one of the two is an older
 * one), TACIT_IO. */
enum tacit_status store_log_check(int directory, const char *directory_name, int64_t size,
                                  uint32_t file_generation, struct tacit_error *error);

/* In the place of a header: the log is overwritten, and a file of this generation holds all that it
 * held.
 */
void store_log_header_mark(uint8_t mark[STORE_LOG_HEADER_BYTES], uint32_t generation);

/* ---- store_agreed.c -------------------------------------------------------------------------- */

/* What may not change while there is state, in words: a file beside the database, `agreed`, of
 * lines "KEY VALUE" in the order of the configuration. The digest in the database judges; the words
 * only say which key it is that differs, and count only if that digest is theirs. */

/* Writes the file, unless it is there as it ought to be: a state without it is no worse, but for
 * the words of a refusal. */
void store_agreed_write(const char *directory, const char *text);

/* Which keys differ, as one sentence for people: "run.horizon is 5000 in the file, and was 100000".
 * Ensures: false: nobody knows, for the words are not there or not of this digest. */
bool store_agreed_differ(const char *directory, const uint8_t digest[32], const char *text,
                         struct tacit_text *words);
/* The same, whatever the digest; no words: nothing differs. */
bool store_agreed_compare(const char *directory, const char *text, struct tacit_text *words);

/* ---- store_identity.c ------------------------------------------------------------------------ */

/* Whose state it is. */

/* In new tables; draws the key of ids. */
enum tacit_status store_identity_make(struct live_store *store,
                                      const struct live_store_identity *identity);
/* Is it this one's state? Errors: TACIT_INVALID: which field, both values. */
enum tacit_status store_identity_check(struct live_store *store,
                                       const struct live_store_identity *identity);

/* ---- store_high_water.c ---------------------------------------------------------------------- */

/* A small file beside the state that says what the state must hold: without it, a log that was
 * deleted, emptied or put back from a copy looks like an older state, and nothing else does. */

/* Reads what is there into the store; nothing is there: nothing must be held. log_bytes: of the log
 * as it was found; -1: there is none. Errors: TACIT_MALFORMED (the high-water mark is damaged; the
 * process did not end by itself, and the log is missing or empty), TACIT_IO. */
enum tacit_status store_high_water_check(struct live_store *store, int directory,
                                         const char *directory_name, int64_t log_bytes,
                                         struct tacit_error *error);

/* Is the newest release there that ever left? Errors: TACIT_MALFORMED, as the store breaks. */
enum tacit_status store_high_water_releases(struct live_store *store);

/* After a commit is on disk, and before anything of it leaves. Cost: nothing, but for the first
 * commit of a process and where a release is new. Errors: TACIT_IO, as the store breaks. */
enum tacit_status store_high_water_commit(struct live_store *store);

/* Before the log is checkpointed for the last time and goes away. The store is broken if the
 * high-water mark cannot be written: it asks for the log, so the log stays. */
void store_high_water_close(struct live_store *store);

/* ---- store_erase.c --------------------------------------------------------------------------- */

/* The log is folded into the file; and what was in it is overwritten, so that nothing which the
 * state has left behind can be read from it. */

/* Moves everything from the log to the file; the next batch uses the log anew. */
enum tacit_status store_checkpoint(struct live_store *store);

/* SQLite's own file of the log; *size is 0 where it has opened none. Result: SQLite's code. */
int store_log_file(struct live_store *store, sqlite3_file **log, sqlite3_int64 *size);

/* Folds the log into the file, then overwrites what of it was written since it was overwritten
 * last. Requires: no batch. Errors: TACIT_IO, as the store breaks. Cost: what the log holds, and
 * five times fsync. */
enum tacit_status store_erase_log(struct live_store *store);
/* The same with a batch of its own, for a log that was found, or that goes away. */
enum tacit_status store_end_log(struct live_store *store);
/* In the batch that is the first of the log, or the last before it is folded. */
enum tacit_status store_next_generation(struct live_store *store);

/* ---- store_files.c --------------------------------------------------------------------------- */

/* Is the main file ours, before SQLite opens it? */

/* As SQLite's files have numbers: highest byte first. */
static inline uint32_t store_load_u32(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* Are the first bytes those of our file, of our format? Before SQLite touches it. *generation: of
 * the file. Errors: TACIT_MALFORMED, TACIT_INVALID (format), TACIT_IO. */
enum tacit_status store_header_check(int directory, const char *directory_name, int64_t size,
                                     bool has_log, uint32_t *generation, struct tacit_error *error);

/* ---- store_sum.c ----------------------------------------------------------------------------- */

/* A checksum for every row. */

/* SHA-256 over a row, with its table's name before it: the file's structure says nothing about
 * flipped bits in what a row holds. Texts and bytes go in with their size; NULL is not the empty
 * text. */
void store_sum_start(struct live_store *store, const char *table);
void store_sum_number(struct live_store *store, uint64_t number);
void store_sum_bytes(struct live_store *store, const void *bytes, size_t size);
void store_sum_text(struct live_store *store, const char *text);
/* Errors: TACIT_MEMORY; the store is broken. */
enum tacit_status store_sum_end(struct live_store *store, uint8_t sum[STORE_SUM_BYTES]);
/* Ends the sum and compares it with a column. Errors: TACIT_MALFORMED, TACIT_MEMORY; the store is
 * broken. */
enum tacit_status store_sum_compare(struct live_store *store, sqlite3_stmt *row, int column,
                                    const char *what);
#endif
