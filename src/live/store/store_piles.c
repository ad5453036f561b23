/* The set of piles: what the database names, what is looked up, what is merged and dropped. */
#include "store_piles.h"
#include "store_job.h"
#include "store_remembered.h"
#include "store_sum.h"
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#define KEY_IDS_MAX 16u

/* Piles are of one size if this many bits tell their rows: each size is four times the one before.
 * Above the last they stay as they are: a merge takes a second or two, and is done while the next
 * ones wait. */
#define TIER_BITS 2u
#define MERGED_ROWS_MAX (UINT64_C(1) << 20)

/* Piles that are merged go at about one time, to this part of the time for which is remembered: a
 * pile goes as a whole, so what is in it stays on disk so much longer. */
#define SPAN_PART 8u

static bool has_threads = true;

void live_store_use_threads(bool is_on)
{
    has_threads = is_on;
}

static enum tacit_status break_with(struct live_store *store, enum tacit_status status,
                                    const struct tacit_error *error)
{
    return store_break(store, status, "%s", error->text[0] == '\0' ? "out of memory" : error->text);
}

/* ---- The database's rows --------------------------------------------------------------------- */

static void facts_sum(struct live_store *store, const struct store_pile_facts *facts)
{
    store_sum_start(store, "piles");
    store_sum_number(store, facts->number);
    store_sum_number(store, facts->rows);
    store_sum_number(store, facts->items);
    store_sum_number(store, facts->newest_ms);
    store_sum_number(store, facts->tail);
    store_sum_number(store, facts->blocks);
    store_sum_number(store, facts->filter_words);
    store_sum_bytes(store, facts->sum, sizeof facts->sum);
}

static enum tacit_status put_facts(struct live_store *store, const struct store_pile_facts *facts)
{
    uint8_t sum[STORE_SUM_BYTES];
    facts_sum(store, facts);
    enum tacit_status const status = store_sum_end(store, sum);
    if (status != TACIT_OK)
        return status;
    sqlite3_stmt *const put = store->statements[STORE_PUT_PILE];
    store_bind_number(store, put, 1, facts->number);
    store_bind_number(store, put, 2, facts->rows);
    store_bind_number(store, put, 3, facts->items);
    store_bind_number(store, put, 4, facts->newest_ms);
    store_bind_number(store, put, 5, facts->tail);
    store_bind_number(store, put, 6, facts->blocks);
    store_bind_number(store, put, 7, facts->filter_words);
    store_bind_blob(store, put, 8, facts->sum, sizeof facts->sum);
    store_bind_blob(store, put, 9, sum, sizeof sum);
    return store_run(store, STORE_PUT_PILE, "name a pile");
}

static enum tacit_status read_facts(struct live_store *store, sqlite3_stmt *rows,
                                    struct store_pile_facts *facts)
{
    *facts = (struct store_pile_facts){
        .number = store_number_at(rows, 0),
        .rows = store_number_at(rows, 1),
        .items = store_number_at(rows, 2),
        .newest_ms = store_number_at(rows, 3),
        .tail = store_number_at(rows, 4),
        .blocks = store_number_at(rows, 5),
        .filter_words = store_number_at(rows, 6),
    };
    const void *const sum = sqlite3_column_blob(rows, 7);
    if (sum != NULL && sqlite3_column_bytes(rows, 7) == (int)sizeof facts->sum)
        memcpy(facts->sum, sum, sizeof facts->sum);
    facts_sum(store, facts);
    return store_sum_compare(store, rows, 8, "piles");
}

static enum tacit_status drop_facts(struct live_store *store, uint64_t number)
{
    store_bind_number(store, store->statements[STORE_DROP_PILE], 1, number);
    return store_run(store, STORE_DROP_PILE, "drop a pile");
}

/* ---- The list -------------------------------------------------------------------------------- */

static enum tacit_status add_pile(struct live_store *store, const struct store_pile_facts *facts)
{
    struct store_piles *const piles = &store->piles;
    struct tacit_error error = {.text = ""};
    struct store_pile **const list = realloc(piles->list, (piles->count + 1) * sizeof(*list));
    if (list == NULL)
        return store_break(store, TACIT_MEMORY, "out of memory");
    piles->list = list;
    enum tacit_status const status =
        store_pile_open(&piles->place, facts, &piles->list[piles->count], &error);
    if (status != TACIT_OK)
        return break_with(store, status, &error);
    piles->count++;
    piles->rows += facts->rows;
    if (facts->number >= piles->next_number)
        piles->next_number = facts->number + 1;
    return TACIT_OK;
}

/* Out of the list and of the database; its file goes when that is on disk. */
static enum tacit_status remove_pile(struct live_store *store, uint64_t number)
{
    struct store_piles *const piles = &store->piles;
    size_t at = 0;
    while (at < piles->count && store_pile_facts(piles->list[at])->number != number)
        at++;
    TACIT_ASSERT(at < piles->count);
    uint64_t *const doomed = realloc(piles->doomed, (piles->doomed_count + 1) * sizeof *doomed);
    if (doomed == NULL)
        return store_break(store, TACIT_MEMORY, "out of memory");
    piles->doomed = doomed;
    doomed[piles->doomed_count++] = number;
    piles->rows -= store_pile_facts(piles->list[at])->rows;
    store_pile_close(piles->list[at]);
    piles->count--;
    memmove(piles->list + at, piles->list + at + 1, (piles->count - at) * sizeof piles->list[0]);
    return drop_facts(store, number);
}

static bool is_listed(const struct store_piles *piles, uint64_t number)
{
    for (size_t i = 0; i < piles->count; i++)
        if (store_pile_facts(piles->list[i])->number == number)
            return true;
    return false;
}

/* ---- At open --------------------------------------------------------------------------------- */

static enum tacit_status read_list(struct live_store *store)
{
    sqlite3_stmt *const rows = store->statements[STORE_PILES];
    enum tacit_status status = TACIT_OK;
    while (store_walk(store, rows, &status)) {
        struct store_pile_facts facts;
        status = read_facts(store, rows, &facts);
        if (status == TACIT_OK)
            status = add_pile(store, &facts);
    }
    (void)sqlite3_reset(rows);
    return status;
}

/* Files of piles that a crash left: written and not yet named, or no longer named and not yet gone.
 */
static enum tacit_status remove_orphans(struct live_store *store)
{
    static const char start[] = "remembered-";
    struct store_piles *const piles = &store->piles;
    DIR *const directory = opendir(piles->directory);
    enum tacit_status status =
        directory == NULL ? store_break(store, TACIT_IO, "cannot list the directory") : TACIT_OK;
    struct dirent const *entry;
    while (status == TACIT_OK && (entry = readdir(directory)) != NULL) {
        char *end;
        if (strncmp(entry->d_name, start, sizeof start - 1) != 0)
            continue;
        uint64_t const number = strtoull(entry->d_name + sizeof start - 1, &end, 16);
        if (*end != '\0' || is_listed(piles, number))
            continue;
        if (store_pile_drop(&piles->place, number) != TACIT_OK)
            status = store_break(store, TACIT_IO, "cannot remove %s", entry->d_name);
    }
    if (directory != NULL)
        (void)closedir(directory);
    return status;
}

enum tacit_status store_piles_open(struct live_store *store, const char *directory)
{
    struct store_piles *const piles = &store->piles;
    piles->directory = strdup(directory);
    if (piles->directory == NULL)
        return store_break(store, TACIT_MEMORY, "out of memory");
    piles->place = (struct store_pile_place){sqlite3_vfs_find(store->vfs_name), piles->directory};
    piles->next_number = 1;
    TACIT_ASSERT(piles->place.vfs != NULL);
    enum tacit_status const status = read_list(store);
    return status == TACIT_OK ? remove_orphans(store) : status;
}

void store_piles_close(struct live_store *store)
{
    struct store_piles *const piles = &store->piles;
    if (piles->job != NULL) {
        store_job_wait(piles->job);
        if (!store->is_broken)
            (void)store_pile_drop(&piles->place, piles->job->number); /* nothing names it */
    }
    store_job_free(piles->job);
    store_job_free(piles->filling);
    for (size_t i = 0; i < piles->count; i++)
        store_pile_close(piles->list[i]);
    free(piles->list);
    free(piles->doomed);
    free(piles->answer);
    free(piles->directory);
    *piles = (struct store_piles){0};
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

static struct store_job *new_job(struct live_store *store)
{
    struct store_job *const job = calloc(1, sizeof *job);
    if (job == NULL) {
        (void)store_break(store, TACIT_MEMORY, "out of memory");
        return NULL;
    }
    job->place = store->piles.place;
    job->number = store->piles.next_number++;
    job->now_ms = store->piles.now_ms;
    return job;
}

static enum tacit_status start(struct live_store *store, struct store_job *job)
{
    TACIT_ASSERT(store->piles.job == NULL);
    store->piles.job = job;
    return store_job_start(job, has_threads) == TACIT_OK
               ? TACIT_OK
               : store_break(store, TACIT_MEMORY, "no thread can be started");
}

/* What was written is named from this batch on; what it was made of goes. */
static enum tacit_status finish(struct live_store *store)
{
    struct store_job *const job = store->piles.job;
    store_job_wait(job);
    if (job->status != TACIT_OK)
        return break_with(store, job->status, &job->error);
    enum tacit_status status = TACIT_OK;
    if (job->made.items > 0)
        status = put_facts(store, &job->made);
    if (status == TACIT_OK && job->made.items > 0)
        status = add_pile(store, &job->made);
    for (uint32_t i = 0; status == TACIT_OK && i < job->input_count; i++)
        status = remove_pile(store, job->inputs[i].number);
    store->piles.job = NULL;
    store_job_free(job);
    return status;
}

/* ---- Merging and dropping -------------------------------------------------------------------- */

static unsigned tier_of(uint64_t rows)
{
    unsigned tier = 0;
    while (rows >>= TIER_BITS)
        tier++;
    return tier;
}

/* Four piles of one tier from this one on, which together are neither too many rows nor too long in
 * going. */
static bool choose_from(const struct store_piles *piles, size_t first, struct store_job *job)
{
    uint64_t const first_ms = store_pile_facts(piles->list[first])->newest_ms;
    unsigned const tier = tier_of(store_pile_facts(piles->list[first])->rows);
    uint64_t rows = 0;
    job->input_count = 0;
    for (size_t i = first; i < piles->count && job->input_count < STORE_MERGED_PILES; i++) {
        const struct store_pile_facts *const facts = store_pile_facts(piles->list[i]);
        uint64_t const apart_ms =
            facts->newest_ms > first_ms ? facts->newest_ms - first_ms : first_ms - facts->newest_ms;
        if (tier_of(facts->rows) != tier || apart_ms > piles->keep_ms / SPAN_PART)
            continue;
        job->inputs[job->input_count++] = *facts;
        rows += facts->rows;
    }
    return job->input_count == STORE_MERGED_PILES && rows <= MERGED_ROWS_MAX;
}

static enum tacit_status merge_if_due(struct live_store *store)
{
    struct store_pile_facts inputs[STORE_MERGED_PILES];
    struct store_job chosen = {.input_count = 0};
    bool is_due = false;
    for (size_t first = store->piles.count; !is_due && first-- > 0;) /* the small ones are new */
        is_due = choose_from(&store->piles, first, &chosen);
    if (!is_due)
        return TACIT_OK;
    memcpy(inputs, chosen.inputs, sizeof inputs);
    struct store_job *const job = new_job(store);
    if (job == NULL)
        return TACIT_MEMORY;
    memcpy(job->inputs, inputs, sizeof inputs);
    job->input_count = STORE_MERGED_PILES;
    return start(store, job);
}

static enum tacit_status drop_forgotten(struct live_store *store)
{
    struct store_piles *const piles = &store->piles;
    enum tacit_status status = TACIT_OK;
    for (size_t i = piles->count; status == TACIT_OK && i-- > 0;)
        if (store_pile_facts(piles->list[i])->newest_ms <= piles->now_ms)
            status = remove_pile(store, store_pile_facts(piles->list[i])->number);
    return status;
}

enum tacit_status store_piles_begin(struct live_store *store)
{
    struct store_piles *const piles = &store->piles;
    enum tacit_status status = TACIT_OK;
    bool const is_merge = piles->job != NULL && piles->job->input_count > 0;
    if (is_merge && store_job_is_done(piles->job))
        status = finish(store);
    if (status == TACIT_OK && piles->job == NULL)
        status = drop_forgotten(store);
    /* One merge for each pile that comes: so that whoever hands over does not wait for a row of
     * them. */
    if (status != TACIT_OK || piles->job != NULL || !piles->may_merge)
        return status;
    piles->may_merge = false;
    return merge_if_due(store);
}

enum tacit_status store_piles_commit(struct live_store *store)
{
    struct store_piles *const piles = &store->piles;
    while (piles->doomed_count > 0)
        if (store_pile_drop(&piles->place, piles->doomed[--piles->doomed_count]) != TACIT_OK)
            return store_break(store, TACIT_IO, "cannot remove a pile that is forgotten");
    return TACIT_OK;
}

enum tacit_status store_piles_forget(struct live_store *store)
{
    struct store_piles *const piles = &store->piles;
    enum tacit_status status = TACIT_OK;
    store_job_free(piles->job); /* what it writes is named by nothing, and goes at the next start */
    store_job_free(piles->filling);
    piles->job = NULL;
    piles->filling = NULL;
    while (status == TACIT_OK && piles->count > 0)
        status = remove_pile(store, store_pile_facts(piles->list[0])->number);
    return status;
}

/* ---- Handing over ---------------------------------------------------------------------------- */

static enum tacit_status key_word(struct live_store *store, const char *key, uint64_t *word)
{
    uint8_t sum[STORE_SUM_BYTES];
    store_sum_start(store, "keys");
    store_sum_text(store, key);
    enum tacit_status const status = store_sum_end(store, sum);
    *word = store_load_u64(sum);
    return status;
}

static enum tacit_status add_items(struct live_store *store, const struct live_decision_row *row)
{
    struct store_job *const job = store->piles.filling;
    uint8_t key[STORE_REMEMBERED_KEY_BYTES];
    struct store_item item = {.word = row->id, .size = store_remembered_size(row)};
    uint8_t *const bytes = malloc(item.size);
    if (bytes == NULL)
        return TACIT_MEMORY;
    store_remembered_write(row, bytes);
    item.bytes = bytes;
    bool is_added = store_job_add(job, &item);
    free(bytes);
    if (is_added && row->key != NULL) {
        item = (struct store_item){.is_key = true, .bytes = key, .size = sizeof key};
        store_remembered_write_key(row, key);
        if (key_word(store, row->key, &item.word) != TACIT_OK)
            return TACIT_MEMORY;
        is_added = store_job_add(job, &item);
    }
    return is_added ? TACIT_OK : TACIT_MEMORY;
}

enum tacit_status live_store_remember(struct live_store *store, const struct live_decision_row *row)
{
    TACIT_ASSERT(row->id > 0 && row->id <= STORE_KEY_MAX);
    if (store->is_broken)
        return TACIT_IO;
    if (row->key != NULL && strlen(row->key) >= UINT8_MAX)
        return TACIT_INVALID;
    if (store->piles.filling == NULL)
        store->piles.filling = new_job(store);
    if (store->piles.filling == NULL)
        return TACIT_MEMORY;
    enum tacit_status const status = add_items(store, row);
    return status == TACIT_OK ? TACIT_OK : store_break(store, status, "out of memory");
}

enum tacit_status live_store_remember_start(struct live_store *store)
{
    struct store_piles *const piles = &store->piles;
    if (store->is_broken)
        return TACIT_IO;
    TACIT_ASSERT(piles->job == NULL && piles->filling != NULL);
    struct store_job *const job = piles->filling;
    piles->filling = NULL;
    return start(store, job);
}

enum live_remembering live_store_remembering(const struct live_store *store)
{
    const struct store_job *const job = store->piles.job;
    if (job == NULL)
        return LIVE_REMEMBER_IDLE;
    return job->input_count == 0 && store_job_is_done(job) ? LIVE_REMEMBER_WRITTEN
                                                           : LIVE_REMEMBER_BUSY;
}

enum tacit_status live_store_remember_end(struct live_store *store)
{
    enum tacit_status const status = store_may_put(store);
    if (status != TACIT_OK)
        return status;
    TACIT_ASSERT(live_store_remembering(store) == LIVE_REMEMBER_WRITTEN);
    store->piles.may_merge = true;
    return finish(store);
}

void live_store_remember_wait(struct live_store *store)
{
    if (store->piles.job != NULL)
        store_job_wait(store->piles.job);
}

void live_store_remember_until(struct live_store *store, uint64_t now_ms, uint64_t keep_ms)
{
    store->piles.now_ms = now_ms;
    store->piles.keep_ms = keep_ms;
}

uint64_t live_store_remembered_count(const struct live_store *store)
{
    return store->piles.rows;
}

/* ---- Looking up ------------------------------------------------------------------------------ */

struct search {
    struct store_piles *piles;
    bool found;
    bool failed; /* memory */
    struct store_item best;
    uint64_t ids[KEY_IDS_MAX];
    size_t id_count;
};

/* Of several versions the one that knows most. */
static void take_row(void *context, const struct store_item *item)
{
    struct search *const search = context;
    struct store_piles *const piles = search->piles;
    if (store_item_until(item) <= piles->now_ms ||
        (search->found && !store_remembered_is_newer(item, &search->best)))
        return;
    uint8_t *const answer = realloc(piles->answer, item->size);
    search->failed = answer == NULL;
    if (search->failed)
        return;
    piles->answer = answer;
    memcpy(answer, item->bytes, item->size);
    search->best = *item;
    search->best.bytes = answer;
    search->found = true;
}

static void take_id(void *context, const struct store_item *item)
{
    struct search *const search = context;
    if (store_item_until(item) > search->piles->now_ms && search->id_count < KEY_IDS_MAX)
        search->ids[search->id_count++] = store_remembered_id_of_key(item);
}

static enum tacit_status search_all(struct live_store *store, struct search *search, uint64_t word,
                                    bool is_key)
{
    struct tacit_error error = {.text = ""};
    enum tacit_status status = store->is_broken ? TACIT_IO : TACIT_OK;
    for (size_t i = 0; status == TACIT_OK && i < store->piles.count; i++) {
        status = store_pile_find(store->piles.list[i], word, is_key, is_key ? take_id : take_row,
                                 search, &error);
        if (search->failed)
            status = TACIT_MEMORY;
        if (status != TACIT_OK)
            return break_with(store, status, &error);
    }
    return status;
}

enum tacit_status live_store_recall(struct live_store *store, uint64_t id,
                                    struct live_decision_row *row, bool *found)
{
    struct search search = {.piles = &store->piles};
    enum tacit_status const status = search_all(store, &search, id, false);
    *found = status == TACIT_OK && search.found;
    if (*found)
        *row = store_remembered_read(&search.best);
    return status;
}

enum tacit_status live_store_recall_key(struct live_store *store, const char *key,
                                        struct live_decision_row *row, bool *found)
{
    struct search search = {.piles = &store->piles};
    uint64_t word;
    *found = false;
    if (store->piles.count == 0)
        return store->is_broken ? TACIT_IO : TACIT_OK;
    enum tacit_status status = key_word(store, key, &word);
    if (status == TACIT_OK)
        status = search_all(store, &search, word, true);
    for (size_t i = 0; status == TACIT_OK && !*found && i < search.id_count; i++) {
        status = live_store_recall(store, search.ids[i], row, found);
        *found = *found && row->key != NULL && strcmp(row->key, key) == 0;
    }
    return status;
}
