/* The allocator of those who have a heap. Kept apart: who has none does not link it. */
#include <stdlib.h>
#include "tacit/wire.h"

static void *allocate(void *context, size_t size)
{
    (void)context;
    TACIT_ASSERT(size > 0);
    return malloc(size);
}

static void release(void *context, void *block)
{
    (void)context;
    TACIT_ASSERT(block != NULL);
    free(block);
}

const struct tacit_wire_allocator *tacit_wire_heap(void)
{
    static const struct tacit_wire_allocator heap = {allocate, release, NULL};
    return &heap;
}
