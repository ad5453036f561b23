/* The core's state, kept in parts. The hub of many sites has a large one, of which a batch changes
 * little: only the parts that changed are summed and written. One sum is over the sums of all
 * parts, so that no part can be old or missing without being noticed. A copy of what is stored
 * stays in memory, to compare with. */
#include "store_base.h"
#include <stdlib.h>
#include <string.h>

/* With its row's header a part fills one page of the file. */
#define PART_BYTES 4000u

static size_t part_count(size_t size)
{
    return (size + PART_BYTES - 1) / PART_BYTES;
}

static size_t part_size(size_t size, size_t part)
{
    TACIT_ASSERT(part < part_count(size));
    size_t const rest = size - part * PART_BYTES;
    return rest < PART_BYTES ? rest : PART_BYTES;
}

/* Room for a core of this size; false: memory, nothing changed but the capacity. */
static bool reserve(struct store_core *core, size_t size)
{
    TACIT_ASSERT(size > 0);
    uint8_t *const bytes = realloc(core->bytes, size);
    if (bytes == NULL)
        return false;
    core->bytes = bytes;
    uint8_t *const sums = realloc(core->sums, part_count(size) * STORE_SUM_BYTES);
    if (sums == NULL)
        return false;
    core->sums = sums;
    return true;
}

/* Takes a part, and its sum, into the copy in memory. */
static enum tacit_status copy_part(struct live_store *store, size_t part, const void *bytes,
                                   size_t size)
{
    memcpy(store->core.bytes + part * PART_BYTES, bytes, size);
    store_sum_start(store, "core_parts");
    store_sum_number(store, part);
    store_sum_bytes(store, bytes, size);
    return store_sum_end(store, store->core.sums + part * STORE_SUM_BYTES);
}

/* Begins the sum over all parts' sums; the caller ends it, or compares it. */
static void start_whole_sum(struct live_store *store)
{
    size_t const size = store->core.size;
    store_sum_start(store, "core");
    store_sum_number(store, size);
    store_sum_bytes(store, store->core.sums, part_count(size) * STORE_SUM_BYTES);
}

/* ---- Putting --------------------------------------------------------------------------------- */

static enum tacit_status put_part(struct live_store *store, size_t part, const uint8_t *bytes,
                                  size_t size)
{
    TACIT_TRY(copy_part(store, part, bytes, size));
    sqlite3_stmt *const row = store->statements[STORE_PUT_PART];
    store_bind_number(store, row, 1, part);
    store_bind_blob(store, row, 2, bytes, size);
    return store_run(store, STORE_PUT_PART, "put a part of the core's state");
}

static enum tacit_status put_whole(struct live_store *store)
{
    uint8_t sum[STORE_SUM_BYTES];
    start_whole_sum(store);
    TACIT_TRY(store_sum_end(store, sum));
    sqlite3_stmt *const row = store->statements[STORE_PUT_CORE];
    store_bind_number(store, row, 1, store->core.size);
    store_bind_blob(store, row, 2, sum, sizeof sum);
    return store_run(store, STORE_PUT_CORE, "put the core's state");
}

/* All parts go: none of another size is the same. */
static enum tacit_status resize(struct live_store *store, size_t size)
{
    if (!reserve(&store->core, size))
        return store_break(store, TACIT_MEMORY, "out of memory");
    store->core.size = size;
    return store_run(store, STORE_DROP_PARTS, "drop the core's state");
}

enum tacit_status live_store_put_core(struct live_store *store, const void *bytes, size_t size)
{
    TACIT_ASSERT(store != NULL);
    TACIT_TRY(store_may_put(store));
    if (!store_is_blob(bytes, size))
        return TACIT_INVALID;
    bool const is_new = size != store->core.size;
    bool has_changed = is_new;
    if (is_new)
        TACIT_TRY(resize(store, size));
    for (size_t part = 0; part < part_count(size); part++) {
        uint8_t const *const now = (const uint8_t *)bytes + part * PART_BYTES;
        size_t const now_size = part_size(size, part);
        if (!is_new && memcmp(now, store->core.bytes + part * PART_BYTES, now_size) == 0)
            continue;
        has_changed = true;
        TACIT_TRY(put_part(store, part, now, now_size));
    }
    return has_changed ? put_whole(store) : TACIT_OK;
}

/* ---- Getting --------------------------------------------------------------------------------- */

/* Reads the parts into the copy; *is_whole: they are the right ones, by number and size. */
static enum tacit_status read_parts(struct live_store *store, bool *is_whole)
{
    sqlite3_stmt *const rows = store->statements[STORE_PARTS];
    size_t const size = store->core.size;
    size_t part = 0;
    bool more;
    enum tacit_status status = store_next(store, rows, &more);
    *is_whole = true;
    for (; status == TACIT_OK && more && *is_whole; part++) {
        const void *const bytes = sqlite3_column_blob(rows, 1);
        *is_whole = bytes != NULL && part < part_count(size) && store_number_at(rows, 0) == part &&
                    (size_t)sqlite3_column_bytes(rows, 1) == part_size(size, part);
        if (*is_whole)
            status = copy_part(store, part, bytes, part_size(size, part));
        if (status == TACIT_OK && *is_whole)
            status = store_next(store, rows, &more);
    }
    *is_whole &= part == part_count(size);
    (void)sqlite3_reset(rows);
    return status;
}

/* row: of the core's size and sum, if it was found; else there must be no parts either. */
static enum tacit_status read_whole(struct live_store *store, sqlite3_stmt *row, bool found)
{
    uint64_t const size = found ? store_number_at(row, 0) : 0;
    bool is_whole = found ? size > 0 && size <= STORE_BLOB_BYTES_MAX : true;
    if (found && is_whole) {
        if (!reserve(&store->core, (size_t)size))
            return store_break(store, TACIT_MEMORY, "out of memory");
        store->core.size = (size_t)size;
    }
    TACIT_TRY(is_whole ? read_parts(store, &is_whole) : TACIT_OK);
    if (!is_whole && sqlite3_errcode(store->database) == SQLITE_NOMEM)
        return store_break_sqlite(store, "read"); /* a column could not be fetched */
    if (!is_whole)
        return store_break(store, TACIT_MALFORMED,
                           "a row is damaged (core): a part is missing, or its checksum differs");
    if (!found)
        return TACIT_OK;
    start_whole_sum(store);
    return store_sum_compare(store, row, 1, "core");
}

enum tacit_status store_core_read(struct live_store *store)
{
    sqlite3_stmt *const row = store->statements[STORE_GET_CORE];
    bool found;
    enum tacit_status status = store_next(store, row, &found);
    if (status == TACIT_OK)
        status = read_whole(store, row, found);
    (void)sqlite3_reset(row);
    return status;
}

void store_core_free(struct store_core *core)
{
    free(core->bytes);
    free(core->sums);
    *core = (struct store_core){0};
}

enum tacit_status store_core_drop(struct live_store *store)
{
    TACIT_TRY(store_run(store, STORE_DROP_CORE, "drop the core's state"));
    TACIT_TRY(store_run(store, STORE_DROP_PARTS, "drop the core's state"));
    store_core_free(&store->core);
    return TACIT_OK;
}

enum tacit_status live_store_copy_core(const struct live_store *store, void **bytes, size_t *size)
{
    TACIT_ASSERT(size != NULL);
    *bytes = NULL;
    *size = 0;
    if (store->core.size == 0)
        return TACIT_OK;
    if (store->is_broken)
        return TACIT_IO;
    *bytes = malloc(store->core.size);
    if (*bytes == NULL)
        return TACIT_MEMORY;
    memcpy(*bytes, store->core.bytes, store->core.size);
    *size = store->core.size;
    return TACIT_OK;
}
