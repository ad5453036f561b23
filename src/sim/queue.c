/* The event queue: a binary heap ordered by (time, kind, rank, origin, arrival). */
#include "queue.h"
#include <stdlib.h>

static bool is_before(const struct sim_item *a, const struct sim_item *b)
{
    if (a->time_us != b->time_us)
        return a->time_us < b->time_us;
    if (a->kind != b->kind)
        return a->kind < b->kind;
    if (a->rank != b->rank)
        return a->rank < b->rank;
    return a->origin != b->origin ? a->origin < b->origin : a->order < b->order;
}

enum tacit_status sim_queue_push(struct sim_queue *queue, struct sim_item item)
{
    TACIT_ASSERT(queue->count <= queue->capacity);
    if (queue->count == queue->capacity) {
        size_t const capacity = queue->capacity == 0 ? 64 : 2 * queue->capacity;
        struct sim_item *const items = realloc(queue->items, capacity * sizeof *items);
        if (items == NULL)
            return TACIT_MEMORY;
        queue->items = items;
        queue->capacity = capacity;
    }
    item.order = queue->pushed_count++;
    size_t hole = queue->count++;
    while (hole > 0 && is_before(&item, &queue->items[(hole - 1) / 2])) {
        queue->items[hole] = queue->items[(hole - 1) / 2];
        hole = (hole - 1) / 2;
    }
    queue->items[hole] = item;
    return TACIT_OK;
}

bool sim_queue_pop(struct sim_queue *queue, struct sim_item *item)
{
    TACIT_ASSERT(queue->count <= queue->capacity);
    if (queue->count == 0)
        return false;
    *item = queue->items[0];
    struct sim_item const last = queue->items[--queue->count];
    size_t hole = 0;
    for (;;) {
        size_t child = 2 * hole + 1;
        if (child >= queue->count)
            break;
        if (child + 1 < queue->count && is_before(&queue->items[child + 1], &queue->items[child]))
            child++;
        if (!is_before(&queue->items[child], &last))
            break;
        queue->items[hole] = queue->items[child];
        hole = child;
    }
    if (queue->count > 0)
        queue->items[hole] = last;
    return true;
}

void sim_queue_free(struct sim_queue *queue)
{
    free(queue->items);
    *queue = (struct sim_queue){0};
}
