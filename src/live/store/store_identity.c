/* Whose state it is, and with which configuration it was made. */
#include "store_base.h"
#include "../daemon/entropy.h"
#include "../daemon/text.h"
#include <stdio.h>
#include <string.h>
#include <time.h>

enum tacit_status store_identity_make(struct live_store *store,
                                      const struct live_store_identity *identity)
{
    struct tacit_entropy const entropy = live_entropy(LIVE_ENTROPY_IDS);
    struct store_identity row = {.role = identity->role,
                                 .federation = identity->federation,
                                 .site = identity->site,
                                 .made_unix_s = (int64_t)time(NULL)};
    memcpy(row.config_digest, identity->config_digest, sizeof row.config_digest);
    if (entropy.fill(entropy.context, row.id_key, sizeof row.id_key) != TACIT_OK)
        return store_break(store, TACIT_ENTROPY, "the system gives no randomness");
    return store_row_put(store, STORE_IDENTITY, &row);
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

/* Has the last run of this state ended; or is it of a site that has joined none yet? */
static enum tacit_status is_in_no_run(struct live_store *store, const char *role, bool *is_free)
{
    struct live_run_row run;
    int64_t cores;
    TACIT_TRY(store_query_number(store, "SELECT count(*) FROM core", &cores));
    *is_free = strcmp(role, "agent") == 0 && cores == 0;
    enum tacit_status status = TACIT_OK;
    while (store_rows_next(store, STORE_RUNS, &run, &status))
        *is_free = run.ended_unix_s > 0;
    store_rows_end(store, STORE_RUNS);
    return status;
}

#define OTHER_CONFIG                                                                               \
    "the configuration is not the one that this state was made with: %s; another one is taken "    \
    "when the run of this state has ended"

/* By the keys that differ, where they are known; else by the digests. */
static enum tacit_status refuse_digest(struct live_store *store, const struct store_identity *kept,
                                       const struct live_store_identity *wanted)
{
    char bytes[TACIT_ERROR_BYTES / 2];
    char directory[4096];
    struct tacit_text words = tacit_text_init(bytes, sizeof bytes);
    (void)snprintf(directory, sizeof directory, "%.*s",
                   (int)(strlen(store->path) - strlen("/" STORE_FILE)), store->path);
    if (store_agreed_differ(directory, kept->config_digest, wanted->agreed, &words))
        return store_break(store, TACIT_INVALID, OTHER_CONFIG, bytes);
    char kept_text[LIVE_HEX_BYTES(32)];
    char wanted_text[LIVE_HEX_BYTES(32)];
    live_hex(kept->config_digest, 32, kept_text);
    live_hex(wanted->config_digest, 32, wanted_text);
    (void)snprintf(bytes, sizeof bytes, "its digest was %s, now it is %s", kept_text, wanted_text);
    return store_break(store, TACIT_INVALID, OTHER_CONFIG, bytes);
}

/* Another configuration is let in where no run is under way (live_store_adopt_config). */
static enum tacit_status compare_digest(struct live_store *store, const struct store_identity *kept,
                                        const struct live_store_identity *wanted)
{
    bool is_free;
    if (memcmp(kept->config_digest, wanted->config_digest, 32) == 0)
        return TACIT_OK;
    TACIT_TRY(is_in_no_run(store, wanted->role, &is_free));
    store->has_new_config = is_free;
    return is_free ? TACIT_OK : refuse_digest(store, kept, wanted);
}

static enum tacit_status compare_identity(struct live_store *store,
                                          const struct store_identity *kept,
                                          const struct live_store_identity *wanted)
{
    TACIT_TRY(compare_text(store, "role", kept->role, wanted->role));
    TACIT_TRY(compare_text(store, "federation", kept->federation, wanted->federation));
    TACIT_TRY(compare_text(store, "site", kept->site, wanted->site));
    return compare_digest(store, kept, wanted);
}

enum tacit_status store_identity_check(struct live_store *store,
                                       const struct live_store_identity *identity)
{
    struct store_identity kept = {.role = NULL};
    bool found;
    TACIT_ASSERT(identity != NULL);
    enum tacit_status status = store_row_get(store, STORE_IDENTITY, &kept, &found);
    if (status == TACIT_OK && !found)
        status = store_break(store, TACIT_MALFORMED, "no row for the identity");
    if (status == TACIT_OK)
        status = compare_identity(store, &kept, identity);
    store_row_end(store, STORE_IDENTITY);
    memcpy(store->wanted_digest, identity->config_digest, sizeof store->wanted_digest);
    memcpy(store->id_key, kept.id_key, sizeof store->id_key);
    return status;
}

/* The row with another digest; nothing else of it changes. */
static enum tacit_status put_digest(struct live_store *store)
{
    struct store_identity row = {.role = NULL};
    bool found;
    enum tacit_status status = store_row_get(store, STORE_IDENTITY, &row, &found);
    memcpy(row.config_digest, store->wanted_digest, sizeof row.config_digest);
    if (status == TACIT_OK) /* while its texts are there */
        status = store_row_put(store, STORE_IDENTITY, &row);
    store_row_end(store, STORE_IDENTITY);
    return status;
}

const uint8_t *live_store_id_key(const struct live_store *store)
{
    return store->id_key;
}

bool live_store_has_new_config(const struct live_store *store)
{
    return store->has_new_config;
}

enum tacit_status live_store_adopt_config(struct live_store *store)
{
    TACIT_TRY(store_may_put(store));
    TACIT_ASSERT(store->has_new_config);
    TACIT_TRY(store_core_drop(store));
    TACIT_TRY(store_rows_drop(store, STORE_DECISIONS));
    TACIT_TRY(store_rows_drop(store, STORE_UNITS));
    TACIT_TRY(store_remembered_forget(store));
    TACIT_TRY(put_digest(store));
    store->has_new_config = false;
    live_store_erase_past(store);
    return TACIT_OK;
}
