/* Piles are written and merged on a thread that shares nothing with the daemon's until it ends: it
 * opens its inputs anew, and its errors are texts. */
#include "store_job.h"
#include "store_remembered.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Items in memory ------------------------------------------------------------------------- */

static void *grown(void *items, size_t *capacity, size_t count, size_t size)
{
    if (count <= *capacity)
        return items;
    size_t const larger = count + count / 2 + 64;
    void *const moved = realloc(items, larger * size);
    if (moved != NULL)
        *capacity = larger;
    return moved;
}

bool store_job_add(struct store_job *job, const struct store_item *item)
{
    TACIT_ASSERT(job->input_count == 0 && item->size > 0);
    uint8_t *const bytes = grown(job->bytes, &job->capacity, job->size + item->size, 1);
    if (bytes == NULL)
        return false;
    job->bytes = bytes;
    struct store_item *const items =
        grown(job->items, &job->items_capacity, job->count + 1, sizeof *items);
    if (items == NULL)
        return false;
    job->items = items;
    memcpy(bytes + job->size, item->bytes, item->size);
    job->items[job->count++] =
        (struct store_item){.word = item->word, .is_key = item->is_key, .size = item->size};
    job->size += item->size;
    return true;
}

static int compare_items(const void *first, const void *second)
{
    const struct store_item *const a = first;
    const struct store_item *const b = second;
    if (a->word != b->word)
        return a->word < b->word ? -1 : 1;
    return (int)a->is_key - (int)b->is_key;
}

static enum tacit_status write_items(struct store_job *job, struct store_pile_writer *writer)
{
    enum tacit_status status = TACIT_OK;
    size_t at = 0;
    for (size_t i = 0; i < job->count; i++) {
        job->items[i].bytes = job->bytes + at;
        at += job->items[i].size;
    }
    qsort(job->items, job->count, sizeof job->items[0], compare_items);
    for (size_t i = 0; status == TACIT_OK && i < job->count; i++)
        status = store_pile_put(writer, &job->items[i], &job->error);
    return status;
}

/* ---- Merging --------------------------------------------------------------------------------- */

struct merge {
    struct store_job *job;
    struct store_pile_writer *writer;
    struct store_pile *piles[STORE_MERGED_PILES];
    struct store_item heads[STORE_MERGED_PILES];
    bool is_there[STORE_MERGED_PILES];
    uint8_t *last; /* the newest item that was taken and not written yet, copied */
    size_t last_capacity;
    struct store_item held;
    uint64_t written;
};

static enum tacit_status open_inputs(struct merge *merge)
{
    struct store_job *const job = merge->job;
    enum tacit_status status = TACIT_OK;
    for (uint32_t i = 0; status == TACIT_OK && i < job->input_count; i++) {
        status = store_pile_open(&job->place, &job->inputs[i], &merge->piles[i], &job->error);
        if (status == TACIT_OK)
            status = store_pile_next(merge->piles[i], &merge->heads[i], &merge->is_there[i],
                                     &job->error);
    }
    return status;
}

static uint32_t smallest(const struct merge *merge)
{
    uint32_t best = STORE_MERGED_PILES;
    for (uint32_t i = 0; i < merge->job->input_count; i++)
        if (merge->is_there[i] && (best == STORE_MERGED_PILES ||
                                   compare_items(&merge->heads[i], &merge->heads[best]) < 0))
            best = i;
    return best;
}

static enum tacit_status write_held(struct merge *merge)
{
    if (merge->held.size == 0)
        return TACIT_OK;
    merge->written++;
    return store_pile_put(merge->writer, &merge->held, &merge->job->error);
}

/* The next in order: it takes the place of the one before it, if the two are versions of one. */
static enum tacit_status take(struct merge *merge, const struct store_item *item)
{
    if (store_item_until(item) <= merge->job->now_ms)
        return TACIT_OK;
    bool const is_same = merge->held.size > 0 && store_remembered_is_same(&merge->held, item);
    if (is_same && !store_remembered_is_newer(item, &merge->held))
        return TACIT_OK;
    enum tacit_status const status = is_same ? TACIT_OK : write_held(merge);
    uint8_t *const last = grown(merge->last, &merge->last_capacity, item->size, 1);
    if (last == NULL)
        return TACIT_MEMORY;
    memcpy(last, item->bytes, item->size);
    merge->last = last;
    merge->held = *item;
    merge->held.bytes = last;
    return status;
}

static enum tacit_status merge_all(struct merge *merge)
{
    enum tacit_status status = open_inputs(merge);
    uint32_t from;
    while (status == TACIT_OK && (from = smallest(merge)) < STORE_MERGED_PILES) {
        status = take(merge, &merge->heads[from]);
        if (status == TACIT_OK)
            status = store_pile_next(merge->piles[from], &merge->heads[from],
                                     &merge->is_there[from], &merge->job->error);
    }
    return status == TACIT_OK ? write_held(merge) : status;
}

static enum tacit_status merge_items(struct store_job *job, struct store_pile_writer *writer)
{
    struct merge merge = {.job = job, .writer = writer};
    enum tacit_status const status = merge_all(&merge);
    for (uint32_t i = 0; i < job->input_count; i++)
        store_pile_close(merge.piles[i]);
    free(merge.last);
    return status;
}

/* ---- The work -------------------------------------------------------------------------------- */

static uint64_t items_max(const struct store_job *job)
{
    uint64_t count = job->count;
    for (uint32_t i = 0; i < job->input_count; i++)
        count += job->inputs[i].items;
    return count;
}

static void *work(void *context)
{
    struct store_job *const job = context;
    struct store_pile_writer *const writer =
        store_pile_write(&job->place, job->number, items_max(job), &job->error);
    job->status = writer == NULL         ? TACIT_IO
                  : job->input_count > 0 ? merge_items(job, writer)
                                         : write_items(job, writer);
    if (job->status == TACIT_OK && store_pile_is_empty(writer))
        store_pile_drop(&job->place, job->number);
    else if (job->status == TACIT_OK)
        job->status = store_pile_end(writer, &job->made, &job->error);
    store_pile_writer_free(writer);
    atomic_store(&job->is_done, true);
    return NULL;
}

/* Signals are the daemon's. */
enum tacit_status store_job_start(struct store_job *job, bool has_thread)
{
    TACIT_ASSERT(job->number > 0 && items_max(job) > 0);
    sigset_t all;
    sigset_t before;
    if (!has_thread) {
        (void)work(job);
        return TACIT_OK;
    }
    (void)sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
        return TACIT_MEMORY;
    job->has_thread = pthread_create(&job->thread, NULL, work, job) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return job->has_thread ? TACIT_OK : TACIT_MEMORY;
}

bool store_job_is_done(const struct store_job *job)
{
    return atomic_load(&job->is_done);
}

void store_job_wait(struct store_job *job)
{
    if (job->has_thread)
        (void)pthread_join(job->thread, NULL);
    job->has_thread = false;
}

void store_job_free(struct store_job *job)
{
    if (job == NULL)
        return;
    store_job_wait(job);
    free(job->bytes);
    free(job->items);
    free(job);
}
