/* Rows of tables. A table is described once, by its columns (store_tables.c): where each lies in a
 * struct and how it is declared. The SQL, what is bound and read, and the checksum of a row, over
 * all columns in their order, come from that. */
#ifndef TACIT_LIVE_STORE_ROWS_H
#define TACIT_LIVE_STORE_ROWS_H
#include "store_base.h"
#include <stddef.h>

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
#endif
