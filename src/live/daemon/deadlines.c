/* Binary heap by (time, id). */
#include "deadlines.h"
#include "tacit/base.h"
#include <stdlib.h>

#define CAPACITY_MIN 64u

static bool is_before(const struct live_deadline *first, const struct live_deadline *second)
{
    return first->when_ms < second->when_ms ||
           (first->when_ms == second->when_ms && first->id < second->id);
}

static void put(struct live_deadlines *queue, size_t place, struct live_deadline *item)
{
    queue->heap[place] = item;
    item->place = place;
}

/* Puts an item where it belongs, from its place towards the first; sink: towards the last. */
static void rise(struct live_deadlines *queue, struct live_deadline *item)
{
    size_t place = item->place;
    while (place > 0 && is_before(item, queue->heap[(place - 1) / 2])) {
        put(queue, place, queue->heap[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    put(queue, place, item);
}

static void sink(struct live_deadlines *queue, struct live_deadline *item)
{
    size_t place = item->place;
    for (;;) {
        size_t child = 2 * place + 1;
        if (child >= queue->count)
            break;
        if (child + 1 < queue->count && is_before(queue->heap[child + 1], queue->heap[child]))
            child++;
        if (!is_before(queue->heap[child], item))
            break;
        put(queue, place, queue->heap[child]);
        place = child;
    }
    put(queue, place, item);
}

bool live_deadlines_reserve(struct live_deadlines *queue)
{
    if (queue->count < queue->capacity)
        return true;
    size_t const capacity = queue->capacity == 0 ? CAPACITY_MIN : 2 * queue->capacity;
    struct live_deadline **const heap = realloc(queue->heap, capacity * sizeof heap[0]);
    if (heap == NULL)
        return false;
    queue->heap = heap;
    queue->capacity = capacity;
    return true;
}

void live_deadlines_add(struct live_deadlines *queue, struct live_deadline *item)
{
    TACIT_ASSERT(queue->count < queue->capacity);
    queue->count++;
    put(queue, queue->count - 1, item);
    rise(queue, item);
}

void live_deadlines_move(struct live_deadlines *queue, struct live_deadline *item, uint64_t when_ms)
{
    TACIT_ASSERT(item->place < queue->count);
    TACIT_ASSERT(queue->heap[item->place] == item);
    item->when_ms = when_ms;
    rise(queue, item);
    sink(queue, item);
}

void live_deadlines_drop_first(struct live_deadlines *queue)
{
    TACIT_ASSERT(queue->count > 0);
    struct live_deadline *const last = queue->heap[queue->count - 1];
    queue->count--;
    if (queue->count == 0)
        return;
    last->place = 0;
    sink(queue, last);
}

struct live_deadline *live_deadlines_first(const struct live_deadlines *queue)
{
    return queue->count == 0 ? NULL : queue->heap[0];
}

void live_deadlines_free(struct live_deadlines *queue)
{
    free(queue->heap);
    *queue = (struct live_deadlines){0};
}
