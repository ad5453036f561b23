/* Memory of a run: blocks that are given back together with the first of them. */
#include <stdlib.h>
#include "tacit/sim.h"

/* Stands before each block; `is_short` is of the first one: some block could not be had. */
union head {
    struct {
        union head *next;
        void (*end)(void *block);
        bool is_short;
    } as;
    max_align_t align;
};

static union head *head_of(void *block)
{
    TACIT_ASSERT(block != NULL);
    return (union head *)block - 1;
}

void *tacit_sim_new(void *owner, size_t count, size_t size)
{
    TACIT_ASSERT(size > 0 || owner != NULL);
    union head *block = NULL;
    if (size == 0 || count <= (SIZE_MAX - sizeof *block) / size)
        block = calloc(1, sizeof *block + count * size);
    if (owner != NULL && block != NULL) {
        block->as.next = head_of(owner)->as.next;
        head_of(owner)->as.next = block;
    } else if (owner != NULL) {
        head_of(owner)->as.is_short = true;
    }
    return block == NULL ? NULL : block + 1;
}

bool tacit_sim_is_whole(void *owner)
{
    TACIT_ASSERT(owner != NULL);
    return !head_of(owner)->as.is_short;
}

enum tacit_status tacit_sim_memory_status(void *owner)
{
    return tacit_sim_is_whole(owner) ? TACIT_OK : TACIT_MEMORY;
}

void tacit_sim_at_end(void *block, void (*end)(void *block))
{
    TACIT_ASSERT(end != NULL);
    head_of(block)->as.end = end;
}

void *tacit_sim_make(size_t size, enum tacit_status (*make)(void *run, const void *plan),
                     const void *plan, enum tacit_status *status)
{
    void *const run = tacit_sim_new(NULL, 1, size);
    *status = run == NULL ? TACIT_MEMORY : make(run, plan);
    if (*status == TACIT_OK)
        *status = tacit_sim_memory_status(run);
    if (*status == TACIT_OK)
        return run;
    tacit_sim_delete(run);
    return NULL;
}

void tacit_sim_delete(void *owner)
{
    union head *next = owner == NULL ? NULL : head_of(owner);
    while (next != NULL) {
        union head *const block = next;
        next = block->as.next;
        if (block->as.end != NULL)
            block->as.end(block + 1);
        free(block);
    }
}
