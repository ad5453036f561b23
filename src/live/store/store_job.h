/* The work beside the daemon's thread: write a pile from rows in memory, or merge piles into one.
 */
#ifndef TACIT_LIVE_STORE_JOB_H
#define TACIT_LIVE_STORE_JOB_H
#include "store_pile_file.h"
#include <pthread.h>
#include <stdatomic.h>

#define STORE_MERGED_PILES 4u

struct store_job {
    struct store_pile_place place;
    uint64_t number;      /* of the pile that is made */
    uint64_t now_ms;      /* what is forgotten by then is left out */
    uint32_t input_count; /* piles to be merged; 0: the items below */
    struct store_pile_facts inputs[STORE_MERGED_PILES];
    uint8_t *bytes; /* of the items, one after the other */
    size_t size;
    size_t capacity;
    struct store_item *items; /* their bytes: offsets, until the job starts */
    size_t count;
    size_t items_capacity;
    /* The result. */
    enum tacit_status status;
    struct store_pile_facts made; /* no items: everything was forgotten, and no file is left */
    struct tacit_error error;
    pthread_t thread;
    bool has_thread;
    atomic_bool is_done;
};

/* Copies an item. Errors: false: memory. */
bool store_job_add(struct store_job *job, const struct store_item *item);
/* Begins the work, on a thread of its own or before it returns. Errors: TACIT_MEMORY: no thread. */
enum tacit_status store_job_start(struct store_job *job, bool has_thread);
bool store_job_is_done(const struct store_job *job);
/* Waits for the end; the result is in the job. */
void store_job_wait(struct store_job *job);
/* Waits, and frees what it holds. */
void store_job_free(struct store_job *job);
#endif
