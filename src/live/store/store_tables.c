/* The tables, and whether a file that we open still has them, whole. */
#include "store_base.h"
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Columns -------------------------------------------------------------------------------- */

/* clang-format off */
#define PAIR(text, declared, count, declared_count)                                                \
    {text, declared, STORE_NAME, offsetof(struct store_pair, name), 0},                            \
    {count, declared_count, STORE_NUMBER, offsetof(struct store_pair, number), sizeof(uint64_t)}
#define TABLE(columns, row, updates, options)                                                      \
    {#columns, columns, sizeof columns / sizeof columns[0], sizeof(row), updates, options}
/* clang-format on */
#define INTEGER "INTEGER NOT NULL"
#define KEY(condition) "INTEGER PRIMARY KEY CHECK(" condition ")"

static const struct store_column identity[] = {
    {"one", KEY("one = 1"), STORE_ONE, 0, 0},
    STORE_COLUMN(STORE_TEXT, struct store_identity, role,
                 "TEXT NOT NULL CHECK(role IN ('agent', 'coordinator'))"),
    STORE_COLUMN(STORE_TEXT, struct store_identity, federation, "TEXT NOT NULL"),
    STORE_COLUMN(STORE_TEXT, struct store_identity, site, "TEXT NOT NULL"),
    STORE_COLUMN(STORE_FIXED, struct store_identity, config_digest,
                 "BLOB NOT NULL CHECK(length(config_digest) = 32)"),
    STORE_COLUMN(STORE_NUMBER, struct store_identity, made_unix_s, INTEGER),
    STORE_COLUMN(STORE_FIXED, struct store_identity, id_key,
                 "BLOB NOT NULL CHECK(length(id_key) = 16)"),
};

static const struct store_column releases[] = {
    STORE_COLUMN(STORE_KEY, struct live_release, number, KEY("number >= 0")),
    STORE_COLUMN(STORE_KEY, struct live_release, epsilon_nano, INTEGER " CHECK(epsilon_nano >= 0)"),
    STORE_SIZED(STORE_BLOB, struct live_release, bytes, size,
                "BLOB NOT NULL CHECK(length(bytes) > 0)"),
    STORE_COLUMN(STORE_NUMBER, struct live_release, acknowledged,
                 INTEGER " CHECK(acknowledged IN (0, 1))"),
    STORE_COLUMN(STORE_NUMBER, struct live_release, made_unix_s, INTEGER),
};

static const struct store_column decisions[] = {
    STORE_COLUMN(STORE_KEY, struct live_decision_row, number, KEY("number > 0")),
    STORE_COLUMN(STORE_NUMBER, struct live_decision_row, salt, INTEGER),
    STORE_COLUMN(STORE_NUMBER, struct live_decision_row, arm,
                 INTEGER " CHECK(arm BETWEEN 0 AND 4294967295)"),
    STORE_COLUMN(STORE_NUMBER, struct live_decision_row, kind,
                 INTEGER " CHECK(kind BETWEEN 0 AND 255)"),
    STORE_COLUMN(STORE_NUMBER, struct live_decision_row, state,
                 INTEGER " CHECK(state BETWEEN 0 AND 255)"),
    STORE_COLUMN(STORE_NUMBER, struct live_decision_row, opened_ms, INTEGER),
    STORE_COLUMN(STORE_NUMBER, struct live_decision_row, deadline_ms, INTEGER),
    STORE_COLUMN(STORE_NUMBER, struct live_decision_row, value, INTEGER), /* a double's bits */
    STORE_COLUMN(STORE_TEXT, struct live_decision_row, key, "TEXT"),
    STORE_COLUMN(STORE_TEXT, struct live_decision_row, unit, "TEXT"),
    STORE_SIZED(STORE_BYTES, struct live_decision_row, kept, kept_size, "BLOB"),
};

/* A unit that is put again gets a new number: numbers go from the oldest to the newest. */
static const struct store_column units[] = {
    {"number", "INTEGER PRIMARY KEY", STORE_AUTO, 0, 0},
    PAIR("unit", "TEXT NOT NULL CHECK(unit <> '')", "arm",
         INTEGER " CHECK(arm BETWEEN 0 AND 4294967295)"),
};

static const struct store_column named[] = {
    PAIR("name", "TEXT NOT NULL PRIMARY KEY CHECK(name <> '')", "value", INTEGER),
};

static const struct store_column runs[] = {
    STORE_COLUMN(STORE_KEY, struct live_run_row, number, KEY("number >= 1")),
    STORE_COLUMN(STORE_FIXED, struct live_run_row, run, "BLOB NOT NULL CHECK(length(run) = 16)"),
    STORE_COLUMN(STORE_KEY, struct live_run_row, releases_before,
                 INTEGER " CHECK(releases_before >= 0)"),
    STORE_COLUMN(STORE_NUMBER, struct live_run_row, begun_unix_s, INTEGER),
    STORE_COLUMN(STORE_NUMBER, struct live_run_row, ended_unix_s, INTEGER),
    STORE_SIZED(STORE_BYTES, struct live_run_row, result, result_size, "BLOB"),
};

static const struct store_column unit_counts[] = {
    PAIR("unit", "TEXT NOT NULL PRIMARY KEY CHECK(unit <> '')", "count",
         INTEGER " CHECK(count >= 0)"),
};

/* The newest of each run. */
static const struct store_column entries[] = {
    STORE_COLUMN(STORE_FIXED, struct store_entry, run,
                 "BLOB NOT NULL PRIMARY KEY CHECK(length(run) = 16)"),
    STORE_SIZED(STORE_BLOB, struct store_entry, bytes, size,
                "BLOB NOT NULL CHECK(length(bytes) > 0)"),
};

const struct store_table store_tables[STORE_TABLE_COUNT] = {
    [STORE_IDENTITY] = TABLE(identity, struct store_identity, true, "STRICT"),
    [STORE_RELEASES] = TABLE(releases, struct live_release, true, "STRICT"),
    [STORE_DECISIONS] = TABLE(decisions, struct live_decision_row, false, "STRICT"),
    [STORE_UNITS] = TABLE(units, struct store_pair, false, "STRICT"),
    [STORE_NAMED] = TABLE(named, struct store_pair, false, "STRICT, WITHOUT ROWID"),
    [STORE_RUNS] = TABLE(runs, struct live_run_row, true, "STRICT"),
    [STORE_UNIT_COUNTS] = TABLE(unit_counts, struct store_pair, true, "STRICT, WITHOUT ROWID"),
    [STORE_ENTRIES] = TABLE(entries, struct store_entry, false, "STRICT, WITHOUT ROWID"),
};

/* ---- What else is made ----------------------------------------------------------------------- */

/* SQLite keeps these texts as they stand here, as it does those of the tables; at open they are
 * compared letter by letter. */
static const struct {
    const char *name;
    const char *sql;
} others[] = {
    {"core", "CREATE TABLE core(one INTEGER PRIMARY KEY CHECK(one = 1),"
             " size INTEGER NOT NULL CHECK(size > 0),"
             " sum BLOB NOT NULL CHECK(length(sum) = 32)) STRICT"},
    {"core_parts", "CREATE TABLE core_parts(number INTEGER PRIMARY KEY CHECK(number >= 0),"
                   " bytes BLOB NOT NULL CHECK(length(bytes) > 0)) STRICT"},
    {"releases_are_kept", "CREATE TRIGGER releases_are_kept BEFORE DELETE ON releases"
                          " BEGIN SELECT RAISE(ABORT, 'a release is never deleted'); END"},
    {"releases_are_written_once",
     "CREATE TRIGGER releases_are_written_once BEFORE UPDATE ON releases"
     " WHEN NEW.number IS NOT OLD.number OR NEW.epsilon_nano IS NOT OLD.epsilon_nano"
     " OR NEW.bytes IS NOT OLD.bytes OR NEW.made_unix_s IS NOT OLD.made_unix_s"
     " OR NEW.acknowledged < OLD.acknowledged"
     " BEGIN SELECT RAISE(ABORT, 'a release never changes'); END"},
    {"units_by_name", "CREATE UNIQUE INDEX units_by_name ON units(unit)"},
    {"runs_are_kept", "CREATE TRIGGER runs_are_kept BEFORE DELETE ON runs"
                      " BEGIN SELECT RAISE(ABORT, 'a run is never forgotten'); END"},
    {"runs_do_not_change",
     "CREATE TRIGGER runs_do_not_change BEFORE UPDATE ON runs"
     " WHEN NEW.number IS NOT OLD.number OR NEW.run IS NOT OLD.run"
     " OR NEW.releases_before IS NOT OLD.releases_before"
     " OR NEW.begun_unix_s IS NOT OLD.begun_unix_s"
     " OR (OLD.ended_unix_s IS NOT 0 AND NEW.ended_unix_s IS NOT OLD.ended_unix_s)"
     " BEGIN SELECT RAISE(ABORT, 'a run only ends'); END"},
    {"unit_counts_are_kept", "CREATE TRIGGER unit_counts_are_kept BEFORE DELETE ON unit_counts"
                             " BEGIN SELECT RAISE(ABORT, 'a count is never forgotten'); END"},
};

#define OTHER_COUNT (sizeof others / sizeof others[0])
#define SQL_BYTES 1024u

enum tacit_status store_tables_make(struct live_store *store)
{
    char bytes[SQL_BYTES];
    (void)snprintf(bytes, sizeof bytes, "PRAGMA application_id = %d; PRAGMA user_version = %d;",
                   STORE_APPLICATION, STORE_FORMAT);
    enum tacit_status status = store_execute(store, bytes, "make the database");
    for (size_t i = 0; status == TACIT_OK && i < STORE_TABLE_COUNT; i++) {
        struct tacit_text sql = tacit_text_init(bytes, sizeof bytes);
        store_table_declare(&store_tables[i], &sql);
        status = store_execute(store, bytes, "make the tables");
    }
    for (size_t i = 0; status == TACIT_OK && i < OTHER_COUNT; i++)
        status = store_execute(store, others[i].sql, "make the tables");
    return status;
}

/* ---- Checking ------------------------------------------------------------------------------- */

/* Once more, after SQLite has looked into its log: the header's copy there counts. other: the
 * status where it is another number. */
static enum tacit_status check_number(struct live_store *store, const char *pragma,
                                      int64_t expected, enum tacit_status other)
{
    int64_t found;
    enum tacit_status const status = store_query_number(store, pragma, &found);
    if (status != TACIT_OK || found == expected)
        return status;
    return store_break(store, other, "%s is %lld; this program reads %lld only", pragma,
                       (long long)found, (long long)expected);
}

/* A page that cannot be read is a line of the check's report, not an error of the statement. */
static enum tacit_status status_of_report(const char *text)
{
    static const char mark[] = "error code=";
    const char *const found = strstr(text, mark);
    long const code = found == NULL ? SQLITE_CORRUPT : strtol(found + sizeof mark - 1, NULL, 10);
    switch (code & 0xff) {
    case SQLITE_IOERR:
        return TACIT_IO;
    case SQLITE_NOMEM:
        return TACIT_MEMORY;
    default:
        return TACIT_MALFORMED;
    }
}

static enum tacit_status check_integrity(struct live_store *store)
{
    sqlite3_stmt *row = NULL;
    enum tacit_status status = store_query(store, "PRAGMA integrity_check(1)", &row);
    if (status != TACIT_OK)
        return status;
    const char *const text = (const char *)sqlite3_column_text(row, 0);
    if (text == NULL)
        status = store_break_sqlite(store, "read the report of the integrity check");
    else if (strcmp(text, "ok") != 0)
        status = store_break(store, status_of_report(text), "the integrity check says: %s", text);
    (void)sqlite3_finalize(row);
    return status;
}

/* Is it in the schema, in just these words? */
static enum tacit_status check_declared(struct live_store *store, sqlite3_stmt *row,
                                        const char *name, const char *expected)
{
    int const bound = sqlite3_bind_text(row, 1, name, -1, SQLITE_STATIC);
    int const code = bound == SQLITE_OK ? sqlite3_step(row) : bound;
    if (code == SQLITE_DONE)
        return store_break(store, TACIT_MALFORMED, "%s is missing", name);
    if (code != SQLITE_ROW)
        return store_break_sqlite(store, "read the schema");
    const char *const sql = store_text_at(row, 0);
    if (sql == NULL || strcmp(sql, expected) != 0)
        return store_break(store, TACIT_MALFORMED, "%s is not as this program makes it", name);
    return sqlite3_reset(row) == SQLITE_OK ? TACIT_OK
                                           : store_break_sqlite(store, "read the schema");
}

static enum tacit_status check_schema(struct live_store *store)
{
    sqlite3_stmt *row = NULL;
    if (sqlite3_prepare_v2(store->database, "SELECT sql FROM sqlite_schema WHERE name = ?1", -1,
                           &row, NULL) != SQLITE_OK)
        return store_break_sqlite(store, "read the schema");
    enum tacit_status status = TACIT_OK;
    for (size_t i = 0; status == TACIT_OK && i < STORE_TABLE_COUNT; i++) {
        char bytes[SQL_BYTES];
        struct tacit_text sql = tacit_text_init(bytes, sizeof bytes);
        store_table_declare(&store_tables[i], &sql);
        status = check_declared(store, row, store_tables[i].name, bytes);
    }
    for (size_t i = 0; status == TACIT_OK && i < OTHER_COUNT; i++)
        status = check_declared(store, row, others[i].name, others[i].sql);
    (void)sqlite3_finalize(row);
    if (status != TACIT_OK)
        return status;
    /* A trigger or view of somebody else would run inside our batches. */
    return check_number(store, "SELECT count(*) FROM sqlite_schema",
                        STORE_TABLE_COUNT + (int64_t)OTHER_COUNT, TACIT_MALFORMED);
}

/* The same; and takes the generation. */
static enum tacit_status check_format(struct live_store *store)
{
    int64_t found;
    TACIT_TRY(store_query_number(store, "PRAGMA user_version", &found));
    store->generation = store_generation_of((uint32_t)found);
    store->format = store_format_of((uint32_t)found);
    if (store_format_is_read((uint32_t)found))
        return TACIT_OK;
    return store_break(
        store, TACIT_INVALID, "its log has format %lu; this program reads formats %d to %d",
        (unsigned long)store_format_of((uint32_t)found), STORE_FORMAT_OLDEST, STORE_FORMAT);
}

enum tacit_status store_tables_check(struct live_store *store)
{
    TACIT_TRY(check_number(store, "PRAGMA application_id", STORE_APPLICATION, TACIT_MALFORMED));
    TACIT_TRY(check_format(store));
    TACIT_TRY(check_schema(store));
    return check_integrity(store);
}
