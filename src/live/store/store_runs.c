/* The runs that a state was in. A row is written when a run begins, and once more when it ends. */
#include "store_base.h"
#include "store_sum.h"
#include <string.h>

static void run_sum(struct live_store *store, const struct live_run_row *row)
{
    store_sum_start(store, "runs");
    store_sum_number(store, row->number);
    store_sum_bytes(store, row->run, sizeof row->run);
    store_sum_number(store, row->releases_before);
    store_sum_number(store, (uint64_t)row->begun_unix_s);
    store_sum_number(store, (uint64_t)row->ended_unix_s);
    store_sum_bytes(store, row->result, row->result_size);
}

enum tacit_status live_store_put_run(struct live_store *store, const struct live_run_row *row)
{
    TACIT_ASSERT(row != NULL && row->number >= 1);
    enum tacit_status status = store_may_put(store);
    if (status != TACIT_OK)
        return status;
    if (row->number > STORE_KEY_MAX || row->releases_before > STORE_KEY_MAX ||
        (row->result_size > 0 && !store_is_blob(row->result, row->result_size)))
        return TACIT_INVALID;
    uint8_t sum[STORE_SUM_BYTES];
    run_sum(store, row);
    status = store_sum_end(store, sum);
    if (status != TACIT_OK)
        return status;
    sqlite3_stmt *const put = store->statements[STORE_PUT_RUN];
    store_bind_number(store, put, 1, row->number);
    store_bind_blob(store, put, 2, row->run, sizeof row->run);
    store_bind_number(store, put, 3, row->releases_before);
    store_bind_number(store, put, 4, (uint64_t)row->begun_unix_s);
    store_bind_number(store, put, 5, (uint64_t)row->ended_unix_s);
    store_bind_blob(store, put, 6, row->result, row->result_size);
    store_bind_blob(store, put, 7, sum, sizeof sum);
    return store_run(store, STORE_PUT_RUN, "put a run");
}

static enum tacit_status run_read(struct live_store *store, sqlite3_stmt *rows,
                                  struct live_run_row *row)
{
    const void *const run = sqlite3_column_blob(rows, 1);
    *row = (struct live_run_row){
        .number = store_number_at(rows, 0),
        .releases_before = store_number_at(rows, 2),
        .begun_unix_s = sqlite3_column_int64(rows, 3),
        .ended_unix_s = sqlite3_column_int64(rows, 4),
        .result = sqlite3_column_blob(rows, 5),
        .result_size = (size_t)sqlite3_column_bytes(rows, 5),
    };
    if (run != NULL && sqlite3_column_bytes(rows, 1) == (int)sizeof row->run)
        memcpy(row->run, run, sizeof row->run);
    run_sum(store, row);
    return store_sum_compare(store, rows, 6, "runs");
}

enum tacit_status live_store_runs(struct live_store *store,
                                  bool (*each)(void *context, const struct live_run_row *row),
                                  void *context)
{
    TACIT_ASSERT(each != NULL);
    sqlite3_stmt *const rows = store->statements[STORE_RUNS];
    enum tacit_status status = TACIT_OK;
    while (store_walk(store, rows, &status)) {
        struct live_run_row row;
        status = run_read(store, rows, &row);
        if (status == TACIT_OK && !each(context, &row))
            break;
    }
    (void)sqlite3_reset(rows);
    return status;
}

uint64_t live_store_newest_release(const struct live_store *store)
{
    return store->put_release;
}
