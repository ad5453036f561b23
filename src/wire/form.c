/* Names, neighbours and memory: what all messages have in common. */
#include <string.h>
#include "walk.h"

#define ARENA_HEAD 8u
#define NAME_CHARACTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"

bool wire_is_of(const char *text, const char *characters)
{
    TACIT_ASSERT(text != NULL);
    size_t const length = strlen(text);
    return length >= 1 && length <= TACIT_WIRE_NAME_BYTES_MAX && strspn(text, characters) == length;
}

bool wire_is_name(const char *text)
{
    return wire_is_of(text, NAME_CHARACTERS);
}

/* ---- Neighbours ---- */

#define MESSAGE struct tacit_wire_neighbour
static const struct wire_field neighbour[] = {NUMBER(1, agent, ANY),
                                              FIELD(2, WIRE_TEXT, site, OF(wire_is_name))};
const struct tacit_wire_table wire_neighbours = TABLE("ElimNeighbour", FIELDS(neighbour));

bool wire_are_neighbours(const struct tacit_wire_neighbour *neighbours, uint32_t count,
                         uint32_t agent, uint32_t agent_count)
{
    TACIT_IMPLIES(count > 0, neighbours != NULL);
    for (uint32_t i = 0; i < count; i++)
        if (neighbours[i].agent >= agent_count || neighbours[i].agent == agent ||
            (i > 0 && neighbours[i].agent <= neighbours[i - 1].agent))
            return false;
    return true;
}

/* ---- Memory ---- */

/* Before each block stands where the one before it stands. */
static void *arena_allocate(void *context, size_t size)
{
    struct tacit_wire_arena *const arena = context;
    size_t const room = arena->size - arena->used;
    TACIT_ASSERT(arena->used <= arena->size);
    if (size > TACIT_WIRE_BYTES_MAX * 16u || ARENA_HEAD + ((size + 7u) & ~(size_t)7u) > room)
        return NULL;
    uint8_t *const head = arena->block + arena->used;
    memcpy(head, &arena->last, sizeof arena->last);
    arena->last = arena->used;
    arena->used += ARENA_HEAD + ((size + 7u) & ~(size_t)7u);
    if (arena->used > arena->peak)
        arena->peak = arena->used;
    return head + ARENA_HEAD;
}

static void arena_release(void *context, void *block)
{
    struct tacit_wire_arena *const arena = context;
    uint8_t *const head = (uint8_t *)block - ARENA_HEAD;
    TACIT_ASSERT(head >= arena->block && head < arena->block + arena->size);
    if (arena->used == 0 || head != arena->block + arena->last)
        return;
    arena->used = arena->last;
    memcpy(&arena->last, head, sizeof arena->last);
}

void tacit_wire_arena_init(struct tacit_wire_arena *arena, void *block, size_t size)
{
    TACIT_ASSERT((uintptr_t)block % 8 == 0);
    *arena = (struct tacit_wire_arena){
        .allocator = {arena_allocate, arena_release, arena}, .block = block, .size = size};
}
