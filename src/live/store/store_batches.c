/* Batches. */
#include "store_base.h"

enum tacit_status live_store_begin(struct live_store *store)
{
    if (store->is_broken)
        return TACIT_IO;
    TACIT_ASSERT(!store->in_batch);
    TACIT_ASSERT(store->log_pages_max > 0);
    enum tacit_status const status = store_run(store, STORE_BEGIN, "begin a batch");
    store->in_batch = status == TACIT_OK;
    store->checkpoints = store->log_pages >= store->log_pages_max;
    store->erases_past = false;
    return status == TACIT_OK ? store_remembered_begin(store) : status;
}

/* When the batch is on disk. */
static enum tacit_status end_generation(struct live_store *store)
{
    if (store->erases_past)
        return store_erase_log(store);
    return store->checkpoints ? store_checkpoint(store) : TACIT_OK;
}

enum tacit_status live_store_commit(struct live_store *store)
{
    enum tacit_status status = store_may_put(store);
    if (status == TACIT_OK)
        status = store_remembered_commit(store);
    if (status == TACIT_OK && (store->log_pages == 0 || store->checkpoints || store->erases_past))
        status = store_next_generation(store);
    if (status == TACIT_OK)
        status = store_run(store, STORE_COMMIT, "commit");
    store->in_batch = false;
    if (status == TACIT_OK)
        status = store_high_water_commit(store);
    if (status == TACIT_OK)
        status = end_generation(store);
    if (status == TACIT_OK)
        status = store_remembered_end(store);
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
