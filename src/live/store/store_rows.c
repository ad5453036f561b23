/* SQL, binding, reading and checksums of rows, from a table's columns. */
#include "store_base.h"
#include <stdio.h>
#include <string.h>

#define SQL_BYTES 1024u

/* ---- SQL ------------------------------------------------------------------------------------- */

/* What is put and read begins with the key. */
static const struct store_column *key_of(const struct store_table *table)
{
    return table->columns + (table->columns[0].type == STORE_AUTO ? 1 : 0);
}

static size_t count_of(const struct store_table *table)
{
    return table->column_count - (size_t)(key_of(table) - table->columns);
}

void store_table_declare(const struct store_table *table, struct tacit_text *sql)
{
    tacit_text_add(sql, "CREATE TABLE ");
    tacit_text_add(sql, table->name);
    for (size_t i = 0; i < table->column_count; i++) {
        tacit_text_add(sql, i == 0 ? "(" : ", ");
        tacit_text_add(sql, table->columns[i].name);
        tacit_text_add(sql, " ");
        tacit_text_add(sql, table->columns[i].declared);
    }
    tacit_text_add(sql, ", sum BLOB NOT NULL CHECK(length(sum) = 32)) ");
    tacit_text_add(sql, table->options);
}

/* What is put has all columns from the key on, then the row's sum. Result: as of snprintf. */
static int write_sql(const struct store_table *table, enum store_verb verb, char sql[SQL_BYTES])
{
    char names[SQL_BYTES];
    char places[SQL_BYTES];
    const char *const key = key_of(table)->name;
    struct tacit_text name = tacit_text_init(names, sizeof names);
    struct tacit_text place = tacit_text_init(places, sizeof places);
    for (size_t i = 0; i <= count_of(table); i++) {
        tacit_text_add(&name, i < count_of(table) ? key_of(table)[i].name : "sum");
        tacit_text_add(&name, i < count_of(table) ? ", " : "");
        tacit_text_add(&place, i == 0 ? "?" : ", ?");
        tacit_text_add_u64(&place, i + 1);
    }
    switch (verb) {
    case STORE_PUT:
        if (!table->updates)
            return snprintf(sql, SQL_BYTES, "INSERT OR REPLACE INTO %s(%s) VALUES(%s)", table->name,
                            names, places);
        return snprintf(sql, SQL_BYTES,
                        "INSERT INTO %s(%s) VALUES(%s) ON CONFLICT(%s) DO UPDATE SET (%s) = (%s)",
                        table->name, names, places, key, names, places);
    case STORE_GET:
        return snprintf(sql, SQL_BYTES, "SELECT %s FROM %s WHERE %s = ?1", names, table->name, key);
    case STORE_WALK:
        return snprintf(sql, SQL_BYTES, "SELECT %s FROM %s ORDER BY %s", names, table->name,
                        table->columns[0].name);
    case STORE_DROP:
        return snprintf(sql, SQL_BYTES, "DELETE FROM %s WHERE %s = ?1", table->name, key);
    default:
        return snprintf(sql, SQL_BYTES, "DELETE FROM %s", table->name);
    }
}

enum tacit_status store_rows_prepare(struct live_store *store)
{
    for (size_t which = 0; which < STORE_TABLE_COUNT; which++)
        for (size_t verb = 0; verb < STORE_VERB_COUNT; verb++) {
            char sql[SQL_BYTES];
            int const size = write_sql(&store_tables[which], (enum store_verb)verb, sql);
            TACIT_ASSERT(size > 0 && size < (int)sizeof sql);
            if (sqlite3_prepare_v3(store->database, sql, -1, SQLITE_PREPARE_PERSISTENT,
                                   &store->rows[which][verb], NULL) != SQLITE_OK)
                return store_break_sqlite(store, "prepare");
        }
    return TACIT_OK;
}

/* ---- Columns --------------------------------------------------------------------------------- */

/* What a column has in a row; bytes are the row's own. */
struct value {
    enum { NUMBER, TEXT, BYTES } kind;
    uint64_t number;
    const void *bytes; /* of a text, too */
    size_t size;
};

static struct value value_of(const struct store_column *column, const void *row)
{
    TACIT_ASSERT(column->type != STORE_AUTO);
    const uint8_t *const member = (const uint8_t *)row + column->offset;
    struct value value = {.kind = NUMBER, .number = 1};
    if (column->type == STORE_TEXT || column->type == STORE_NAME)
        value = (struct value){.kind = TEXT, .bytes = *(const char *const *)member};
    else if (column->type == STORE_FIXED)
        value = (struct value){.kind = BYTES, .bytes = member, .size = column->size};
    else if (column->type == STORE_BYTES || column->type == STORE_BLOB)
        value = (struct value){.kind = BYTES,
                               .bytes = *(const void *const *)member,
                               .size = *(const size_t *)((const uint8_t *)row + column->size)};
    else if (column->type != STORE_ONE)
        value.number = column->size == 1   ? *member
                       : column->size == 4 ? *(const uint32_t *)member
                                           : *(const uint64_t *)member;
    return value;
}

static bool fits(enum store_type type, const struct value *value)
{
    switch (type) {
    case STORE_KEY:
        return value->number <= STORE_KEY_MAX;
    case STORE_TEXT:
        return value->bytes == NULL || store_is_text(value->bytes, 0);
    case STORE_NAME:
        return store_is_text(value->bytes, 1);
    case STORE_BYTES:
        return value->size == 0 || store_is_blob(value->bytes, value->size);
    case STORE_BLOB:
        return store_is_blob(value->bytes, value->size);
    default:
        return true;
    }
}

static void bind(struct live_store *store, sqlite3_stmt *statement, int place,
                 const struct value *value)
{
    if (value->kind == NUMBER)
        store_bind_number(store, statement, place, value->number);
    else if (value->kind == TEXT)
        store_bind_text(store, statement, place, value->bytes);
    else
        store_bind_blob(store, statement, place, value->bytes, value->size);
}

static void bind_key(struct live_store *store, sqlite3_stmt *statement, enum store_table_id which,
                     const void *row)
{
    struct value const value = value_of(key_of(&store_tables[which]), row);
    bind(store, statement, 1, &value);
}

static void add_to_sum(struct live_store *store, enum store_type type, const struct value *value)
{
    if (value->kind == TEXT)
        store_sum_text(store, value->bytes);
    else if (value->kind == BYTES)
        store_sum_bytes(store, value->bytes, value->size);
    else if (type != STORE_ONE)
        store_sum_number(store, value->number);
}

/* Bytes that cannot be fetched are none: then the checksum differs. */
static void read_bytes(sqlite3_stmt *statement, int place, const struct store_column *column,
                       void *row)
{
    void *const member = (uint8_t *)row + column->offset;
    const void *const bytes = sqlite3_column_blob(statement, place);
    size_t const size = bytes == NULL ? 0 : (size_t)sqlite3_column_bytes(statement, place);
    if (column->type == STORE_FIXED && size == column->size)
        memcpy(member, bytes, size);
    if (column->type == STORE_FIXED)
        return;
    *(const void **)member = bytes;
    *(size_t *)((uint8_t *)row + column->size) = size;
}

void store_columns_read(sqlite3_stmt *statement, const struct store_column *columns, size_t count,
                        void *row)
{
    for (size_t i = 0; i < count; i++) {
        void *const member = (uint8_t *)row + columns[i].offset;
        int const kind = (int)value_of(&columns[i], row).kind;
        uint64_t const number = kind == NUMBER ? store_number_at(statement, (int)i) : 0;
        if (kind == TEXT)
            *(const char **)member = store_text_at(statement, (int)i);
        else if (kind == BYTES)
            read_bytes(statement, (int)i, &columns[i], row);
        else if (columns[i].size == 1)
            *(uint8_t *)member = (uint8_t)number;
        else if (columns[i].size == 4)
            *(uint32_t *)member = (uint32_t)number;
        else if (columns[i].type != STORE_ONE)
            *(uint64_t *)member = number;
    }
}

void store_columns_bind(struct live_store *store, sqlite3_stmt *statement,
                        const struct store_column *columns, size_t count, const void *row)
{
    for (size_t i = 0; i < count; i++) {
        struct value const value = value_of(&columns[i], row);
        bind(store, statement, (int)i + 1, &value);
    }
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* What was bound of a row that does not fit is forgotten. */
enum tacit_status store_row_put(struct live_store *store, enum store_table_id which,
                                const void *row)
{
    TACIT_ASSERT(which < STORE_TABLE_COUNT && row != NULL);
    const struct store_table *const table = &store_tables[which];
    sqlite3_stmt *const put = store->rows[which][STORE_PUT];
    size_t const count = count_of(table);
    uint8_t sum[STORE_SUM_BYTES];
    enum tacit_status status = store_may_put(store);
    if (status != TACIT_OK)
        return status;
    store_sum_start(store, table->name);
    for (size_t i = 0; status == TACIT_OK && i < count; i++) {
        const struct store_column *const column = key_of(table) + i;
        struct value const value = value_of(column, row);
        status = fits(column->type, &value) ? TACIT_OK : TACIT_INVALID;
        if (status == TACIT_OK)
            add_to_sum(store, column->type, &value);
        if (status == TACIT_OK)
            bind(store, put, (int)i + 1, &value);
    }
    if (status == TACIT_OK)
        status = store_sum_end(store, sum);
    if (status != TACIT_OK) {
        (void)sqlite3_clear_bindings(put);
        return status;
    }
    store_bind_blob(store, put, (int)count + 1, sum, sizeof sum);
    return store_step(store, put, "put a row");
}

/* Texts and bytes of the row are SQLite's, until the statement steps or is reset. */
static enum tacit_status read_row(struct live_store *store, const struct store_table *table,
                                  sqlite3_stmt *found, void *row)
{
    size_t const count = count_of(table);
    memset(row, 0, table->row_bytes);
    store_columns_read(found, key_of(table), count, row);
    store_sum_start(store, table->name);
    for (size_t i = 0; i < count; i++) {
        struct value const value = value_of(key_of(table) + i, row);
        add_to_sum(store, key_of(table)[i].type, &value);
    }
    return store_sum_compare(store, found, (int)count, table->name);
}

enum tacit_status store_row_get(struct live_store *store, enum store_table_id which, void *row,
                                bool *found)
{
    TACIT_ASSERT(which < STORE_TABLE_COUNT && row != NULL && found != NULL);
    sqlite3_stmt *const get = store->rows[which][STORE_GET];
    bind_key(store, get, which, row);
    enum tacit_status const status = store_next(store, get, found);
    return status == TACIT_OK && *found ? read_row(store, &store_tables[which], get, row) : status;
}

void store_row_end(struct live_store *store, enum store_table_id which)
{
    (void)sqlite3_reset(store->rows[which][STORE_GET]);
    (void)sqlite3_clear_bindings(store->rows[which][STORE_GET]);
}

enum tacit_status store_row_drop(struct live_store *store, enum store_table_id which,
                                 const void *row)
{
    sqlite3_stmt *const drop = store->rows[which][STORE_DROP];
    TACIT_TRY(store_may_put(store));
    bind_key(store, drop, which, row);
    return store_step(store, drop, "drop a row");
}

enum tacit_status store_rows_drop(struct live_store *store, enum store_table_id which)
{
    return store_step(store, store->rows[which][STORE_DROP_ALL], "drop rows");
}

bool store_rows_next(struct live_store *store, enum store_table_id which, void *row,
                     enum tacit_status *status)
{
    TACIT_ASSERT(which < STORE_TABLE_COUNT && row != NULL && status != NULL);
    sqlite3_stmt *const walk = store->rows[which][STORE_WALK];
    if (!store_walk(store, walk, status))
        return false;
    *status = read_row(store, &store_tables[which], walk, row);
    return *status == TACIT_OK;
}

void store_rows_end(struct live_store *store, enum store_table_id which)
{
    (void)sqlite3_reset(store->rows[which][STORE_WALK]);
}

enum tacit_status store_rows_check(struct live_store *store)
{
    enum tacit_status status = store_core_read(store);
    for (size_t i = 0; status == TACIT_OK && i < STORE_TABLE_COUNT; i++) {
        enum store_table_id const which = (enum store_table_id)i;
        union store_row row;
        if (which == STORE_UNIT_COUNTS) /* many, and never dropped: each when it is read */
            continue;
        while (store_rows_next(store, which, &row, &status))
            ;
        store_rows_end(store, which);
    }
    return status;
}
