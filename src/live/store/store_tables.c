/* The tables: how they are made, and whether a file that we open still has them, whole. */
#include "store_tables.h"
#include "store_agreed.h"
#include "store_remembered.h"
#include "store_core.h"
#include "store_sum.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "../daemon/entropy.h"

#define IDENTITY "identity"

/* SQLite keeps these texts as they stand here; at open they are compared letter by letter. Numbers
 * are 64 bits of ours in SQLite's signed 64; keys stay below 2^63 so that their order is ours too.
 */
static const struct {
    const char *name;
    const char *sql;
} schema[] = {
    {IDENTITY, "CREATE TABLE identity(one INTEGER PRIMARY KEY CHECK(one = 1),"
               " role TEXT NOT NULL CHECK(role IN ('agent', 'coordinator')),"
               " federation TEXT NOT NULL, site TEXT NOT NULL,"
               " config_digest BLOB NOT NULL CHECK(length(config_digest) = 32),"
               " made_unix_s INTEGER NOT NULL,"
               " id_key BLOB NOT NULL CHECK(length(id_key) = 16),"
               " sum BLOB NOT NULL CHECK(length(sum) = 32)) STRICT"},
    {"core", "CREATE TABLE core(one INTEGER PRIMARY KEY CHECK(one = 1),"
             " size INTEGER NOT NULL CHECK(size > 0),"
             " sum BLOB NOT NULL CHECK(length(sum) = 32)) STRICT"},
    {"core_parts", "CREATE TABLE core_parts(number INTEGER PRIMARY KEY CHECK(number >= 0),"
                   " bytes BLOB NOT NULL CHECK(length(bytes) > 0)) STRICT"},
    {"releases", "CREATE TABLE releases(number INTEGER PRIMARY KEY CHECK(number >= 0),"
                 " epsilon_nano INTEGER NOT NULL CHECK(epsilon_nano >= 0),"
                 " bytes BLOB NOT NULL CHECK(length(bytes) > 0),"
                 " acknowledged INTEGER NOT NULL CHECK(acknowledged IN (0, 1)),"
                 " made_unix_s INTEGER NOT NULL,"
                 " sum BLOB NOT NULL CHECK(length(sum) = 32)) STRICT"},
    {"releases_are_kept", "CREATE TRIGGER releases_are_kept BEFORE DELETE ON releases"
                          " BEGIN SELECT RAISE(ABORT, 'a release is never deleted'); END"},
    {"releases_are_written_once",
     "CREATE TRIGGER releases_are_written_once BEFORE UPDATE ON releases"
     " WHEN NEW.number IS NOT OLD.number OR NEW.epsilon_nano IS NOT OLD.epsilon_nano"
     " OR NEW.bytes IS NOT OLD.bytes OR NEW.made_unix_s IS NOT OLD.made_unix_s"
     " OR NEW.acknowledged < OLD.acknowledged"
     " BEGIN SELECT RAISE(ABORT, 'a release never changes'); END"},
    {"decisions", "CREATE TABLE decisions(number INTEGER PRIMARY KEY CHECK(number > 0),"
                  " salt INTEGER NOT NULL,"
                  " arm INTEGER NOT NULL CHECK(arm BETWEEN 0 AND 4294967295),"
                  " kind INTEGER NOT NULL CHECK(kind BETWEEN 0 AND 255),"
                  " state INTEGER NOT NULL CHECK(state BETWEEN 0 AND 255),"
                  " opened_ms INTEGER NOT NULL, deadline_ms INTEGER NOT NULL,"
                  " value INTEGER NOT NULL, key TEXT, unit TEXT, kept BLOB,"
                  " sum BLOB NOT NULL CHECK(length(sum) = 32)) STRICT"},
    /* A unit that is put again gets a new number: numbers go from the oldest to the newest. */
    {"units", "CREATE TABLE units(number INTEGER PRIMARY KEY,"
              " unit TEXT NOT NULL CHECK(unit <> ''),"
              " arm INTEGER NOT NULL CHECK(arm BETWEEN 0 AND 4294967295),"
              " sum BLOB NOT NULL CHECK(length(sum) = 32)) STRICT"},
    {"units_by_name", "CREATE UNIQUE INDEX units_by_name ON units(unit)"},
    {"named", "CREATE TABLE named(name TEXT NOT NULL PRIMARY KEY CHECK(name <> ''),"
              " value INTEGER NOT NULL,"
              " sum BLOB NOT NULL CHECK(length(sum) = 32)) STRICT, WITHOUT ROWID"},
    {"runs", "CREATE TABLE runs(number INTEGER PRIMARY KEY CHECK(number >= 1),"
             " run BLOB NOT NULL CHECK(length(run) = 16),"
             " releases_before INTEGER NOT NULL CHECK(releases_before >= 0),"
             " begun_unix_s INTEGER NOT NULL, ended_unix_s INTEGER NOT NULL, result BLOB,"
             " sum BLOB NOT NULL CHECK(length(sum) = 32)) STRICT"},
    {"runs_are_kept", "CREATE TRIGGER runs_are_kept BEFORE DELETE ON runs"
                      " BEGIN SELECT RAISE(ABORT, 'a run is never forgotten'); END"},
    {"runs_do_not_change",
     "CREATE TRIGGER runs_do_not_change BEFORE UPDATE ON runs"
     " WHEN NEW.number IS NOT OLD.number OR NEW.run IS NOT OLD.run"
     " OR NEW.releases_before IS NOT OLD.releases_before"
     " OR NEW.begun_unix_s IS NOT OLD.begun_unix_s"
     " OR (OLD.ended_unix_s IS NOT 0 AND NEW.ended_unix_s IS NOT OLD.ended_unix_s)"
     " BEGIN SELECT RAISE(ABORT, 'a run only ends'); END"},
    {"unit_counts", "CREATE TABLE unit_counts(unit TEXT NOT NULL PRIMARY KEY CHECK(unit <> ''),"
                    " count INTEGER NOT NULL CHECK(count >= 0),"
                    " sum BLOB NOT NULL CHECK(length(sum) = 32)) STRICT, WITHOUT ROWID"},
    {"unit_counts_are_kept", "CREATE TRIGGER unit_counts_are_kept BEFORE DELETE ON unit_counts"
                             " BEGIN SELECT RAISE(ABORT, 'a count is never forgotten'); END"},
    /* The newest of each run. */
    {"entries", "CREATE TABLE entries(run BLOB NOT NULL PRIMARY KEY CHECK(length(run) = 16),"
                " bytes BLOB NOT NULL CHECK(length(bytes) > 0),"
                " sum BLOB NOT NULL CHECK(length(sum) = 32)) STRICT, WITHOUT ROWID"},
};

#define SCHEMA_COUNT (sizeof schema / sizeof schema[0])

/* ---- Making --------------------------------------------------------------------------------- */

static void add_identity(struct live_store *store, const struct live_store_identity *identity,
                         int64_t made)
{
    store_sum_start(store, IDENTITY);
    store_sum_text(store, identity->role);
    store_sum_text(store, identity->federation);
    store_sum_text(store, identity->site);
    store_sum_bytes(store, identity->config_digest, sizeof identity->config_digest);
    store_sum_number(store, (uint64_t)made);
    store_sum_bytes(store, store->id_key, sizeof store->id_key);
}

static enum tacit_status identity_sum(struct live_store *store,
                                      const struct live_store_identity *identity, int64_t made,
                                      uint8_t sum[STORE_SUM_BYTES])
{
    add_identity(store, identity, made);
    return store_sum_end(store, sum);
}

static enum tacit_status identity_put(struct live_store *store,
                                      const struct live_store_identity *identity)
{
    int64_t const made = (int64_t)time(NULL);
    struct tacit_entropy const entropy = live_entropy(LIVE_ENTROPY_OTHER);
    uint8_t sum[STORE_SUM_BYTES];
    if (entropy.fill(entropy.context, store->id_key, sizeof store->id_key) != TACIT_OK)
        return store_break(store, TACIT_ENTROPY, "the system gives no randomness");
    enum tacit_status status = identity_sum(store, identity, made, sum);
    if (status != TACIT_OK)
        return status;
    sqlite3_stmt *row = NULL;
    bool const is_put =
        sqlite3_prepare_v2(store->database,
                           "INSERT INTO identity(one, role, federation, site, config_digest,"
                           " made_unix_s, id_key, sum) VALUES(1, ?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                           -1, &row, NULL) == SQLITE_OK &&
        sqlite3_bind_text(row, 1, identity->role, -1, SQLITE_STATIC) == SQLITE_OK &&
        sqlite3_bind_text(row, 2, identity->federation, -1, SQLITE_STATIC) == SQLITE_OK &&
        sqlite3_bind_text(row, 3, identity->site, -1, SQLITE_STATIC) == SQLITE_OK &&
        sqlite3_bind_blob(row, 4, identity->config_digest, sizeof identity->config_digest,
                          SQLITE_STATIC) == SQLITE_OK &&
        sqlite3_bind_int64(row, 5, made) == SQLITE_OK &&
        sqlite3_bind_blob(row, 6, store->id_key, sizeof store->id_key, SQLITE_STATIC) ==
            SQLITE_OK &&
        sqlite3_bind_blob(row, 7, sum, sizeof sum, SQLITE_STATIC) == SQLITE_OK &&
        sqlite3_step(row) == SQLITE_DONE;
    if (!is_put)
        status = store_break_sqlite(store, "write the identity");
    (void)sqlite3_finalize(row);
    return status;
}

enum tacit_status store_tables_make(struct live_store *store,
                                    const struct live_store_identity *identity)
{
    TACIT_ASSERT(identity != NULL && !store->in_batch);
    char header[128];
    (void)snprintf(header, sizeof header,
                   "BEGIN IMMEDIATE; PRAGMA application_id = %d; PRAGMA user_version = %d;",
                   STORE_APPLICATION, STORE_FORMAT);
    enum tacit_status status = store_execute(store, header, "make the database");
    for (size_t i = 0; status == TACIT_OK && i < SCHEMA_COUNT; i++)
        status = store_execute(store, schema[i].sql, "make the tables");
    if (status == TACIT_OK)
        status = identity_put(store, identity);
    if (status == TACIT_OK)
        status = store_execute(store, "COMMIT", "make the database");
    return status;
}

/* ---- Checking ------------------------------------------------------------------------------- */

static enum tacit_status read_number(struct live_store *store, const char *sql, int64_t *number)
{
    sqlite3_stmt *row = NULL;
    enum tacit_status const status = store_query(store, sql, &row);
    if (status != TACIT_OK)
        return status;
    *number = sqlite3_column_int64(row, 0);
    (void)sqlite3_finalize(row);
    return TACIT_OK;
}

/* Once more, after SQLite has looked into its log: the header's copy there counts. */
static enum tacit_status check_number(struct live_store *store, const char *pragma,
                                      int64_t expected, enum tacit_status other)
{
    int64_t found;
    enum tacit_status const status = read_number(store, pragma, &found);
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

static enum tacit_status check_schema_row(struct live_store *store, sqlite3_stmt *row, size_t index)
{
    int const bound = sqlite3_bind_text(row, 1, schema[index].name, -1, SQLITE_STATIC);
    int const code = bound == SQLITE_OK ? sqlite3_step(row) : bound;
    if (code == SQLITE_DONE)
        return store_break(store, TACIT_MALFORMED, "%s is missing", schema[index].name);
    if (code != SQLITE_ROW)
        return store_break_sqlite(store, "read the schema");
    const char *const sql = (const char *)sqlite3_column_text(row, 0);
    if (sql == NULL || strcmp(sql, schema[index].sql) != 0)
        return store_break(store, TACIT_MALFORMED, "%s is not as this program makes it",
                           schema[index].name);
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
    for (size_t i = 0; status == TACIT_OK && i < SCHEMA_COUNT; i++)
        status = check_schema_row(store, row, i);
    (void)sqlite3_finalize(row);
    if (status != TACIT_OK)
        return status;
    /* A trigger or view of somebody else would run inside our batches. */
    return check_number(store, "SELECT count(*) FROM sqlite_schema", (int64_t)SCHEMA_COUNT,
                        TACIT_MALFORMED);
}

/* The same; and takes the turn. */
static enum tacit_status check_format(struct live_store *store)
{
    int64_t found;
    enum tacit_status const status = read_number(store, "PRAGMA user_version", &found);
    if (status != TACIT_OK)
        return status;
    store->turn = store_turn_of((uint32_t)found);
    if (store_format_of((uint32_t)found) == STORE_FORMAT)
        return TACIT_OK;
    return store_break(store, TACIT_INVALID,
                       "its log has format %lu; this program reads format %d only",
                       (unsigned long)store_format_of((uint32_t)found), STORE_FORMAT);
}

enum tacit_status store_tables_check(struct live_store *store)
{
    enum tacit_status status =
        check_number(store, "PRAGMA application_id", STORE_APPLICATION, TACIT_MALFORMED);
    if (status == TACIT_OK)
        status = check_format(store);
    if (status == TACIT_OK)
        status = check_schema(store);
    if (status == TACIT_OK)
        status = check_integrity(store);
    return status;
}

static enum tacit_status compare_text(struct live_store *store, const char *field, const char *kept,
                                      const char *wanted)
{
    if (strcmp(kept, wanted) == 0)
        return TACIT_OK;
    return store_break(store, TACIT_INVALID,
                       "this is the state of another %s: it was made for %s \"%.200s\", the "
                       "configuration says \"%.200s\"",
                       field, field, kept, wanted);
}

static void hexadecimal(char text[65], const uint8_t bytes[32])
{
    for (size_t i = 0; i < 32; i++)
        (void)snprintf(text + 2 * i, 3, "%02x", bytes[i]);
}

/* Has the last run of this state ended? */
static enum tacit_status run_has_ended(struct live_store *store, bool *has_ended)
{
    int64_t found = 0;
    enum tacit_status const status = read_number(
        store,
        "SELECT coalesce((SELECT ended_unix_s > 0 FROM runs ORDER BY number DESC LIMIT 1), 0)",
        &found);
    *has_ended = found == 1;
    return status;
}

#define OTHER_CONFIG                                                                               \
    "the configuration is not the one that this state was made with: %s; another one is taken "    \
    "when the run of this state has ended"

static enum tacit_status refuse_digest(struct live_store *store,
                                       const struct live_store_identity *kept,
                                       const struct live_store_identity *wanted)
{
    char bytes[TACIT_ERROR_BYTES / 2];
    char directory[4096];
    struct tacit_text words = tacit_text_init(bytes, sizeof bytes);
    (void)snprintf(directory, sizeof directory, "%.*s",
                   (int)(strlen(store->path) - strlen("/" STORE_FILE)), store->path);
    if (store_agreed_differ(directory, kept->config_digest, wanted->agreed, &words))
        return store_break(store, TACIT_INVALID, OTHER_CONFIG, bytes);
    char kept_text[65];
    char wanted_text[65];
    hexadecimal(kept_text, kept->config_digest);
    hexadecimal(wanted_text, wanted->config_digest);
    (void)snprintf(bytes, sizeof bytes, "its digest was %s, now it is %s", kept_text, wanted_text);
    return store_break(store, TACIT_INVALID, OTHER_CONFIG, bytes);
}

static enum tacit_status compare_digest(struct live_store *store,
                                        const struct live_store_identity *kept,
                                        const struct live_store_identity *wanted)
{
    bool has_ended = false;
    if (memcmp(kept->config_digest, wanted->config_digest, 32) == 0)
        return TACIT_OK;
    enum tacit_status const status = run_has_ended(store, &has_ended);
    if (status != TACIT_OK)
        return status;
    store->takes_config = has_ended;
    return has_ended ? TACIT_OK : refuse_digest(store, kept, wanted);
}

static enum tacit_status compare_identity(struct live_store *store,
                                          const struct live_store_identity *kept,
                                          const struct live_store_identity *wanted)
{
    enum tacit_status status = compare_text(store, "role", kept->role, wanted->role);
    if (status == TACIT_OK)
        status = compare_text(store, "federation", kept->federation, wanted->federation);
    if (status == TACIT_OK)
        status = compare_text(store, "site", kept->site, wanted->site);
    if (status == TACIT_OK)
        status = compare_digest(store, kept, wanted);
    return status;
}

enum tacit_status store_identity_check(struct live_store *store,
                                       const struct live_store_identity *identity)
{
    TACIT_ASSERT(identity != NULL);
    sqlite3_stmt *row = NULL;
    enum tacit_status status = store_query(
        store,
        "SELECT sum, role, federation, site, config_digest, made_unix_s, id_key FROM identity",
        &row);
    if (status != TACIT_OK)
        return status;
    struct live_store_identity kept = {
        .role = (const char *)sqlite3_column_text(row, 1),
        .federation = (const char *)sqlite3_column_text(row, 2),
        .site = (const char *)sqlite3_column_text(row, 3),
    };
    const void *const digest = sqlite3_column_blob(row, 4);
    if (digest != NULL && sqlite3_column_bytes(row, 4) == (int)sizeof kept.config_digest)
        memcpy(kept.config_digest, digest, sizeof kept.config_digest);
    const void *const id_key = sqlite3_column_blob(row, 6);
    if (id_key != NULL && sqlite3_column_bytes(row, 6) == (int)sizeof store->id_key)
        memcpy(store->id_key, id_key, sizeof store->id_key);
    add_identity(store, &kept, sqlite3_column_int64(row, 5));
    status = store_sum_compare(store, row, 0, IDENTITY);
    if (status == TACIT_OK)
        status = compare_identity(store, &kept, identity);
    if (status == TACIT_OK)
        memcpy(store->wanted_digest, identity->config_digest, sizeof store->wanted_digest);
    (void)sqlite3_finalize(row);
    return status;
}

/* The row with another digest; nothing else of it changes. */
static enum tacit_status put_digest(struct live_store *store)
{
    sqlite3_stmt *row = NULL;
    uint8_t sum[STORE_SUM_BYTES];
    enum tacit_status status =
        store_query(store, "SELECT role, federation, site, made_unix_s FROM identity", &row);
    if (status != TACIT_OK)
        return status;
    struct live_store_identity identity = {.role = store_text_at(row, 0),
                                           .federation = store_text_at(row, 1),
                                           .site = store_text_at(row, 2)};
    memcpy(identity.config_digest, store->wanted_digest, sizeof identity.config_digest);
    status = identity_sum(store, &identity, sqlite3_column_int64(row, 3), sum);
    (void)sqlite3_finalize(row);
    if (status != TACIT_OK)
        return status;
    sqlite3_stmt *const put = store->statements[STORE_PUT_IDENTITY];
    store_bind_blob(store, put, 1, store->wanted_digest, sizeof store->wanted_digest);
    store_bind_blob(store, put, 2, sum, sizeof sum);
    return store_run(store, STORE_PUT_IDENTITY, "put the identity");
}

const uint8_t *live_store_id_key(const struct live_store *store)
{
    return store->id_key;
}

bool live_store_takes_config(const struct live_store *store)
{
    return store->takes_config;
}

enum tacit_status live_store_take_config(struct live_store *store)
{
    static const enum store_statement drops[] = {STORE_DROP_CORE, STORE_DROP_PARTS,
                                                 STORE_DROP_DECISIONS, STORE_DROP_UNITS};
    enum tacit_status status = store_may_put(store);
    TACIT_ASSERT(store->takes_config);
    for (size_t i = 0; status == TACIT_OK && i < sizeof drops / sizeof drops[0]; i++)
        status = store_run(store, drops[i], "forget a run");
    if (status == TACIT_OK)
        status = store_remembered_forget(store);
    if (status == TACIT_OK)
        status = put_digest(store);
    if (status != TACIT_OK)
        return status;
    store_core_free(&store->core);
    store->takes_config = false;
    live_store_erase_past(store);
    return TACIT_OK;
}
