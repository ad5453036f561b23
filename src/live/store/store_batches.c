/* Batches. */
#include "store_batches.h"
#include "store_piles.h"
#include "store_witness.h"

/* RESTART: the next batch writes over the old log from its beginning, and the file keeps its
 * length. A commit then changes no size and no map of blocks, so its fsync need not write the file
 * system's journal: it takes half the time of one that makes the log longer. */
enum tacit_status store_fold_log(struct live_store *store)
{
    TACIT_ASSERT(!store->in_batch);
    int const code =
        sqlite3_wal_checkpoint_v2(store->database, "main", SQLITE_CHECKPOINT_RESTART, NULL, NULL);
    return code == SQLITE_OK ? TACIT_OK : store_break_sqlite(store, "fold the log into the file");
}

/* Between batches, so that a failure here is never confused with one of a batch. */
static enum tacit_status fold_if_long(struct live_store *store)
{
    TACIT_ASSERT(store->log_pages_max > 0);
    if (store->log_pages < store->log_pages_max)
        return TACIT_OK;
    enum tacit_status const status = store_fold_log(store);
    if (status != TACIT_OK)
        return status;
    store->log_pages = 0;
    return TACIT_OK;
}

enum tacit_status live_store_begin(struct live_store *store)
{
    if (store->is_broken)
        return TACIT_IO;
    TACIT_ASSERT(!store->in_batch);
    enum tacit_status status = fold_if_long(store);
    if (status == TACIT_OK)
        status = store_run(store, STORE_BEGIN, "begin a batch");
    store->in_batch = status == TACIT_OK;
    return status == TACIT_OK ? store_piles_begin(store) : status;
}

enum tacit_status live_store_commit(struct live_store *store)
{
    enum tacit_status status = store_may_put(store);
    if (status == TACIT_OK)
        status = store_run(store, STORE_COMMIT, "commit");
    store->in_batch = false;
    if (status == TACIT_OK)
        status = store_witness_commit(store);
    if (status == TACIT_OK)
        status = store_piles_commit(store);
    return status == TACIT_OK ? TACIT_OK : TACIT_IO;
}

bool live_store_is_broken(const struct live_store *store)
{
    return store->is_broken;
}

const char *live_store_trouble(const struct live_store *store)
{
    return store->trouble.text;
}
