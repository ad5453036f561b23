/* The small rows: decisions, units, named values; and the walk over everything at open. */
#include "store_rows.h"
#include <string.h>
#include "store_core.h"
#include "store_entries.h"
#include "store_sum.h"

/* ---- Decisions ------------------------------------------------------------------------------- */

/* A real number is kept as its bits, so that it comes back as it was. */
static uint64_t bits_of(double real)
{
    uint64_t bits;
    memcpy(&bits, &real, sizeof bits);
    return bits;
}

static double real_of(uint64_t bits)
{
    double real;
    memcpy(&real, &bits, sizeof real);
    return real;
}

static void decision_sum(struct live_store *store, const struct live_decision_row *row)
{
    store_sum_start(store, "decisions");
    store_sum_number(store, row->number);
    store_sum_number(store, row->salt);
    store_sum_number(store, row->arm);
    store_sum_number(store, row->kind);
    store_sum_number(store, row->state);
    store_sum_number(store, row->opened_ms);
    store_sum_number(store, row->deadline_ms);
    store_sum_number(store, bits_of(row->value));
    store_sum_text(store, row->key);
    store_sum_text(store, row->unit);
    store_sum_bytes(store, row->kept, row->kept_size);
}

enum tacit_status live_store_put_decision(struct live_store *store,
                                          const struct live_decision_row *row)
{
    TACIT_ASSERT(row != NULL);
    enum tacit_status status = store_may_put(store);
    if (status != TACIT_OK)
        return status;
    if (row->number > STORE_KEY_MAX || (row->key != NULL && !store_is_text(row->key, 0)) ||
        (row->unit != NULL && !store_is_text(row->unit, 0)))
        return TACIT_INVALID;
    uint8_t sum[STORE_SUM_BYTES];
    decision_sum(store, row);
    status = store_sum_end(store, sum);
    if (status != TACIT_OK)
        return status;
    sqlite3_stmt *const put = store->statements[STORE_PUT_DECISION];
    store_bind_number(store, put, 1, row->number);
    store_bind_number(store, put, 2, row->salt);
    store_bind_number(store, put, 3, row->arm);
    store_bind_number(store, put, 4, row->kind);
    store_bind_number(store, put, 5, row->state);
    store_bind_number(store, put, 6, row->opened_ms);
    store_bind_number(store, put, 7, row->deadline_ms);
    store_bind_number(store, put, 8, bits_of(row->value));
    store_bind_text(store, put, 9, row->key);
    store_bind_text(store, put, 10, row->unit);
    store_bind_blob(store, put, 11, row->kept, row->kept_size);
    store_bind_blob(store, put, 12, sum, sizeof sum);
    return store_run(store, STORE_PUT_DECISION, "put a decision");
}

enum tacit_status live_store_drop_decision(struct live_store *store, uint64_t number)
{
    enum tacit_status const status = store_may_put(store);
    if (status != TACIT_OK)
        return status;
    store_bind_number(store, store->statements[STORE_DROP_DECISION], 1, number);
    return store_run(store, STORE_DROP_DECISION, "drop a decision");
}

static enum tacit_status decision_read(struct live_store *store, sqlite3_stmt *rows,
                                       struct live_decision_row *row)
{
    *row = (struct live_decision_row){
        .number = store_number_at(rows, 0),
        .salt = store_number_at(rows, 1),
        .arm = (uint32_t)store_number_at(rows, 2),
        .kind = (uint8_t)store_number_at(rows, 3),
        .state = (uint8_t)store_number_at(rows, 4),
        .opened_ms = store_number_at(rows, 5),
        .deadline_ms = store_number_at(rows, 6),
        .value = real_of(store_number_at(rows, 7)),
        .key = store_text_at(rows, 8),
        .unit = store_text_at(rows, 9),
        .kept = sqlite3_column_blob(rows, 10),
        .kept_size = (size_t)sqlite3_column_bytes(rows, 10),
    };
    decision_sum(store, row);
    return store_sum_compare(store, rows, 11, "decisions");
}

enum tacit_status live_store_decisions(struct live_store *store,
                                       bool (*each)(void *context,
                                                    const struct live_decision_row *row),
                                       void *context)
{
    TACIT_ASSERT(each != NULL);
    sqlite3_stmt *const rows = store->statements[STORE_DECISIONS];
    enum tacit_status status = TACIT_OK;
    while (store_walk(store, rows, &status)) {
        struct live_decision_row row;
        status = decision_read(store, rows, &row);
        if (status == TACIT_OK && !each(context, &row))
            break;
    }
    (void)sqlite3_reset(rows);
    return status;
}

/* ---- Units and values: a text and a number --------------------------------------------------- */

static void pair_sum(struct live_store *store, const char *table, const char *name, uint64_t number)
{
    store_sum_start(store, table);
    store_sum_text(store, name);
    store_sum_number(store, number);
}

static enum tacit_status put_pair(struct live_store *store, enum store_statement which,
                                  const char *table, const char *name, uint64_t number)
{
    enum tacit_status status = store_may_put(store);
    if (status != TACIT_OK)
        return status;
    if (!store_is_text(name, 1))
        return TACIT_INVALID;
    uint8_t sum[STORE_SUM_BYTES];
    pair_sum(store, table, name, number);
    status = store_sum_end(store, sum);
    if (status != TACIT_OK)
        return status;
    sqlite3_stmt *const row = store->statements[which];
    store_bind_text(store, row, 1, name);
    store_bind_number(store, row, 2, number);
    store_bind_blob(store, row, 3, sum, sizeof sum);
    return store_run(store, which, "put a row");
}

static enum tacit_status pair_check(struct live_store *store, sqlite3_stmt *row, const char *table)
{
    pair_sum(store, table, store_text_at(row, 0), store_number_at(row, 1));
    return store_sum_compare(store, row, 2, table);
}

enum tacit_status live_store_put_unit(struct live_store *store, const char *unit, uint32_t arm)
{
    TACIT_ASSERT(unit != NULL);
    return put_pair(store, STORE_PUT_UNIT, "units", unit, arm);
}

enum tacit_status live_store_drop_unit(struct live_store *store, const char *unit)
{
    TACIT_ASSERT(unit != NULL);
    enum tacit_status const status = store_may_put(store);
    if (status != TACIT_OK)
        return status;
    store_bind_text(store, store->statements[STORE_DROP_UNIT], 1, unit);
    return store_run(store, STORE_DROP_UNIT, "drop a unit");
}

enum tacit_status live_store_units(struct live_store *store,
                                   bool (*each)(void *context, const char *unit, uint32_t arm),
                                   void *context)
{
    TACIT_ASSERT(each != NULL);
    sqlite3_stmt *const rows = store->statements[STORE_UNITS];
    enum tacit_status status = TACIT_OK;
    while (store_walk(store, rows, &status)) {
        status = pair_check(store, rows, "units");
        if (status == TACIT_OK &&
            !each(context, store_text_at(rows, 0), (uint32_t)store_number_at(rows, 1)))
            break;
    }
    (void)sqlite3_reset(rows);
    return status;
}

enum tacit_status live_store_put_value(struct live_store *store, const char *name, uint64_t value)
{
    TACIT_ASSERT(name != NULL);
    return put_pair(store, STORE_PUT_VALUE, "named", name, value);
}

static enum tacit_status get_pair(struct live_store *store, enum store_statement which,
                                  const char *table, const char *name, uint64_t *value, bool *found)
{
    TACIT_ASSERT(value != NULL && found != NULL);
    if (!store_is_text(name, 1))
        return TACIT_INVALID;
    sqlite3_stmt *const row = store->statements[which];
    store_bind_text(store, row, 1, name);
    bool is_there;
    enum tacit_status status = store_next(store, row, &is_there);
    if (status == TACIT_OK && is_there)
        status = pair_check(store, row, table);
    if (status == TACIT_OK && is_there)
        *value = store_number_at(row, 1);
    if (status == TACIT_OK)
        *found = is_there;
    (void)sqlite3_reset(row);
    (void)sqlite3_clear_bindings(row);
    return status;
}

enum tacit_status live_store_get_value(struct live_store *store, const char *name, uint64_t *value,
                                       bool *found)
{
    return get_pair(store, STORE_GET_VALUE, "named", name, value, found);
}

enum tacit_status live_store_get_count(struct live_store *store, const char *unit, uint64_t *count)
{
    bool found;
    *count = 0;
    return get_pair(store, STORE_GET_COUNT, "unit_counts", unit, count, &found);
}

enum tacit_status live_store_drop_values(struct live_store *store, const char *pattern)
{
    TACIT_ASSERT(pattern != NULL);
    enum tacit_status const status = store_may_put(store);
    if (status != TACIT_OK)
        return status;
    store_bind_text(store, store->statements[STORE_DROP_VALUES], 1, pattern);
    return store_run(store, STORE_DROP_VALUES, "drop values");
}

enum tacit_status live_store_put_count(struct live_store *store, const char *unit, uint64_t count)
{
    TACIT_ASSERT(unit != NULL);
    return count > STORE_KEY_MAX ? TACIT_INVALID
                                 : put_pair(store, STORE_PUT_COUNT, "unit_counts", unit, count);
}

/* ---- At open --------------------------------------------------------------------------------- */

static bool pass_release(void *context, const struct live_release *release)
{
    (void)context;
    (void)release;
    return true;
}

static bool pass_decision(void *context, const struct live_decision_row *row)
{
    (void)context;
    (void)row;
    return true;
}

static bool pass_unit(void *context, const char *unit, uint32_t arm)
{
    (void)context;
    (void)unit;
    (void)arm;
    return true;
}

static bool pass_run(void *context, const struct live_run_row *row)
{
    (void)context;
    (void)row;
    return true;
}

static enum tacit_status check_values(struct live_store *store)
{
    sqlite3_stmt *const rows = store->statements[STORE_VALUES];
    enum tacit_status status = TACIT_OK;
    while (store_walk(store, rows, &status)) {
        status = pair_check(store, rows, "named");
    }
    (void)sqlite3_reset(rows);
    return status;
}

enum tacit_status store_rows_check(struct live_store *store)
{
    enum tacit_status status = store_core_read(store);
    if (status == TACIT_OK)
        status = live_store_releases(store, pass_release, NULL);
    if (status == TACIT_OK)
        status = live_store_decisions(store, pass_decision, NULL);
    if (status == TACIT_OK)
        status = live_store_units(store, pass_unit, NULL);
    if (status == TACIT_OK)
        status = check_values(store);
    if (status == TACIT_OK)
        status = live_store_runs(store, pass_run, NULL);
    if (status == TACIT_OK)
        status = store_entries_check(store);
    return status;
}
