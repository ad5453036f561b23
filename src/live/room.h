/* Memory that goes when its owner does, all of it at once. */
#ifndef TACIT_LIVE_ROOM_H
#define TACIT_LIVE_ROOM_H
#include "tacit/wire.h"

struct live_room_block;

/* All zero is empty. */
struct live_room {
    struct live_room_block *first;
    bool is_short; /* it had no memory once: one look after many takes */
};

/* Zeros, 16-byte aligned; of no bytes too. NULL: out of memory. Cost: that of the heap. */
void *live_room_allocate(struct live_room *room, size_t count, size_t size);

/* A set of so many, all in it. NULL: the same. */
uint64_t *live_room_full_set(struct live_room *room, uint32_t count);

/* For codecs: what they make belongs to the room. The room must not move. */
struct tacit_wire_allocator live_room_allocator(struct live_room *room);
void live_room_free(struct live_room *room);
#endif
