/* Blocks in a list, the newest first. */
#include "room.h"
#include <stdalign.h>
#include <stdlib.h>

struct live_room_block {
    alignas(16) struct live_room_block *next;
};

void *live_room_allocate(struct live_room *room, size_t count, size_t size)
{
    TACIT_ASSERT(size == 0 || count <= (SIZE_MAX - sizeof(struct live_room_block)) / size);
    struct live_room_block *const block = calloc(1, sizeof *block + count * size);
    room->is_short = room->is_short || block == NULL;
    if (block == NULL)
        return NULL;
    block->next = room->first;
    room->first = block;
    return block + 1;
}

uint64_t *live_room_full_set(struct live_room *room, uint32_t count)
{
    uint64_t *const set = live_room_allocate(room, TACIT_BITS_WORDS(count), sizeof *set);
    if (set != NULL)
        tacit_bits_fill(set, count);
    return set;
}

static void *allocate(void *context, size_t size)
{
    return live_room_allocate(context, 1, size);
}

/* Cost: O(blocks that were taken since). */
static void release(void *context, void *memory)
{
    struct live_room *const room = context;
    struct live_room_block *const block = (struct live_room_block *)memory - 1;
    struct live_room_block **at = &room->first;
    while (*at != block)
        at = &(*at)->next;
    *at = block->next;
    free(block);
}

struct tacit_wire_allocator live_room_allocator(struct live_room *room)
{
    return (struct tacit_wire_allocator){allocate, release, room};
}

void live_room_free(struct live_room *room)
{
    while (room->first != NULL)
        release(room, room->first + 1);
}
