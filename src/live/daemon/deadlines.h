/* A queue of deadlines, earliest first: a binary heap in which every item knows its place, so that
 * it can be moved or taken out from the middle. The items belong to the caller. */
#ifndef TACIT_LIVE_DEADLINES_H
#define TACIT_LIVE_DEADLINES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Embedded in what has a deadline. */
struct live_deadline {
    uint64_t when_ms;
    uint64_t id; /* breaks ties */
    size_t place;
};

/* All zero is an empty queue. Its memory follows the most items it ever held. */
struct live_deadlines {
    struct live_deadline **heap;
    size_t capacity;
    size_t count;
};

/* Makes room for one more. Errors: false: memory; nothing changed. Cost: O(1) amortised. */
bool live_deadlines_reserve(struct live_deadlines *queue);
/* Requires: room was reserved. Cost: O(log n), as for the next two. */
void live_deadlines_add(struct live_deadlines *queue, struct live_deadline *item);
/* Gives an item another time. */
void live_deadlines_move(struct live_deadlines *queue, struct live_deadline *item,
                         uint64_t when_ms);
/* Takes the earliest out. Requires: not empty. */
void live_deadlines_drop_first(struct live_deadlines *queue);
/* The earliest; NULL: empty. Cost: O(1). */
struct live_deadline *live_deadlines_first(const struct live_deadlines *queue);
/* Frees the queue, not the items. */
void live_deadlines_free(struct live_deadlines *queue);
#endif
