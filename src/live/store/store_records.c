/* What is kept of releases, decisions, units, counts, runs and entries: rows of tables. */
#include "store_base.h"
#include <stdlib.h>
#include <string.h>

/* ---- The outbox, which is the ledger --------------------------------------------------------- */

/* The same release again is not an error, and changes nothing. */
enum tacit_status live_store_put_release(struct live_store *store,
                                         const struct live_release *release)
{
    TACIT_ASSERT(release != NULL);
    struct live_release kept = {.number = release->number};
    bool found;
    TACIT_TRY(store_may_put(store));
    if (release->number > STORE_KEY_MAX)
        return TACIT_INVALID;
    enum tacit_status status = store_row_get(store, STORE_RELEASES, &kept, &found);
    bool const is_same = status == TACIT_OK && found &&
                         kept.epsilon_nano == release->epsilon_nano && kept.size == release->size &&
                         memcmp(kept.bytes, release->bytes, kept.size) == 0;
    store_row_end(store, STORE_RELEASES);
    if (status != TACIT_OK || found)
        return status == TACIT_OK && !is_same ? TACIT_INVALID : status;
    status = store_row_put(store, STORE_RELEASES, release);
    if (status == TACIT_OK && release->number > store->put_release)
        store->put_release = release->number;
    return status;
}

enum tacit_status live_store_acknowledge(struct live_store *store, uint64_t number)
{
    TACIT_ASSERT(number > 0);
    struct live_release release = {.number = number};
    bool found;
    TACIT_TRY(store_may_put(store));
    enum tacit_status status = store_row_get(store, STORE_RELEASES, &release, &found);
    if (status == TACIT_OK && !found)
        status = TACIT_INVALID;
    if (status == TACIT_OK && !release.acknowledged) {
        release.acknowledged = true;
        status = store_row_put(store, STORE_RELEASES, &release); /* while its bytes are there */
    }
    store_row_end(store, STORE_RELEASES);
    return status;
}

enum tacit_status
live_store_releases(struct live_store *store,
                    bool (*each)(void *context, const struct live_release *release), void *context)
{
    struct live_release release;
    enum tacit_status status = TACIT_OK;
    while (store_rows_next(store, STORE_RELEASES, &release, &status) && each(context, &release))
        ;
    store_rows_end(store, STORE_RELEASES);
    return status;
}

uint64_t live_store_newest_release(const struct live_store *store)
{
    return store->put_release;
}

/* ---- Decisions ------------------------------------------------------------------------------- */

enum tacit_status live_store_put_decision(struct live_store *store,
                                          const struct live_decision_row *row)
{
    return store_row_put(store, STORE_DECISIONS, row);
}

enum tacit_status live_store_drop_decision(struct live_store *store, uint64_t number)
{
    struct live_decision_row const row = {.number = number};
    return store_row_drop(store, STORE_DECISIONS, &row);
}

enum tacit_status live_store_decisions(struct live_store *store,
                                       bool (*each)(void *context,
                                                    const struct live_decision_row *row),
                                       void *context)
{
    struct live_decision_row row;
    enum tacit_status status = TACIT_OK;
    while (store_rows_next(store, STORE_DECISIONS, &row, &status) && each(context, &row))
        ;
    store_rows_end(store, STORE_DECISIONS);
    return status;
}

/* ---- A text and a number --------------------------------------------------------------------- */

enum tacit_status live_store_put_unit(struct live_store *store, const char *unit, uint32_t arm)
{
    struct store_pair const pair = {unit, arm};
    return store_row_put(store, STORE_UNITS, &pair);
}

enum tacit_status live_store_drop_unit(struct live_store *store, const char *unit)
{
    struct store_pair const pair = {unit, 0};
    return store_row_drop(store, STORE_UNITS, &pair);
}

enum tacit_status live_store_units(struct live_store *store,
                                   bool (*each)(void *context, const char *unit, uint32_t arm),
                                   void *context)
{
    struct store_pair pair;
    enum tacit_status status = TACIT_OK;
    while (store_rows_next(store, STORE_UNITS, &pair, &status) &&
           each(context, pair.name, (uint32_t)pair.number))
        ;
    store_rows_end(store, STORE_UNITS);
    return status;
}

/* *number stays where there is no such name. */
static enum tacit_status get_pair(struct live_store *store, enum store_table_id which,
                                  const char *name, uint64_t *number, bool *found)
{
    struct store_pair pair = {name, 0};
    bool is_there;
    if (!store_is_text(name, 1))
        return TACIT_INVALID;
    enum tacit_status const status = store_row_get(store, which, &pair, &is_there);
    store_row_end(store, which);
    if (status == TACIT_OK && is_there)
        *number = pair.number;
    if (status == TACIT_OK)
        *found = is_there;
    return status;
}

enum tacit_status live_store_put_value(struct live_store *store, const char *name, uint64_t value)
{
    struct store_pair const pair = {name, value};
    return store_row_put(store, STORE_NAMED, &pair);
}

enum tacit_status live_store_get_value(struct live_store *store, const char *name, uint64_t *value,
                                       bool *found)
{
    return get_pair(store, STORE_NAMED, name, value, found);
}

enum tacit_status live_store_drop_values(struct live_store *store, const char *pattern)
{
    TACIT_ASSERT(pattern != NULL);
    TACIT_TRY(store_may_put(store));
    store_bind_text(store, store->statements[STORE_DROP_VALUES], 1, pattern);
    return store_run(store, STORE_DROP_VALUES, "drop values");
}

enum tacit_status live_store_put_count(struct live_store *store, const char *unit, uint64_t count)
{
    struct store_pair const pair = {unit, count};
    return count > STORE_KEY_MAX ? TACIT_INVALID : store_row_put(store, STORE_UNIT_COUNTS, &pair);
}

enum tacit_status live_store_get_count(struct live_store *store, const char *unit, uint64_t *count)
{
    bool found;
    *count = 0;
    return get_pair(store, STORE_UNIT_COUNTS, unit, count, &found);
}

/* ---- Runs, and of each the newest entry of the coordinator's replicated log ------------------ */

enum tacit_status live_store_put_run(struct live_store *store, const struct live_run_row *row)
{
    TACIT_ASSERT(row != NULL && row->number >= 1);
    return store_row_put(store, STORE_RUNS, row);
}

enum tacit_status live_store_runs(struct live_store *store,
                                  bool (*each)(void *context, const struct live_run_row *row),
                                  void *context)
{
    struct live_run_row row;
    enum tacit_status status = TACIT_OK;
    while (store_rows_next(store, STORE_RUNS, &row, &status) && each(context, &row))
        ;
    store_rows_end(store, STORE_RUNS);
    return status;
}

enum tacit_status live_store_put_entry(struct live_store *store,
                                       const uint8_t run[LIVE_STORE_RUN_BYTES],
                                       const uint8_t *bytes, size_t size)
{
    struct store_entry row = {.bytes = bytes, .size = size};
    memcpy(row.run, run, sizeof row.run);
    return store_row_put(store, STORE_ENTRIES, &row);
}

enum tacit_status live_store_get_entry(struct live_store *store,
                                       const uint8_t run[LIVE_STORE_RUN_BYTES], uint8_t **bytes,
                                       size_t *size)
{
    struct store_entry row = {.size = 0};
    bool found;
    memcpy(row.run, run, sizeof row.run);
    *bytes = NULL;
    *size = 0;
    enum tacit_status status = store_row_get(store, STORE_ENTRIES, &row, &found);
    if (status == TACIT_OK && found) {
        *bytes = malloc(row.size);
        if (*bytes == NULL)
            status = TACIT_MEMORY;
        else
            memcpy(*bytes, row.bytes, row.size);
        *size = *bytes == NULL ? 0 : row.size;
    }
    store_row_end(store, STORE_ENTRIES);
    return status;
}
