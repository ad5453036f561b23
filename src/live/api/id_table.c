/* Hash table by linear probing; removal shifts back what follows, so there are no tombstones. */
#include "id_table.h"
#include "tacit/base.h"
#include <stdlib.h>
#include <string.h>

#define CAPACITY_MIN 16u
#define WORD_BYTES 8u

/* Odd constants with about as many ones as zeros (digits of pi and e in hexadecimal). */
#define MIX_A UINT64_C(0x243f6a8885a308d3)
#define MIX_B UINT64_C(0xb7e151628aed2a6b)
#define MIX_C UINT64_C(0xa4093822299f31d1)

__extension__ typedef unsigned __int128 wide;

/* Both halves of a full product: every input bit reaches every output bit. */
static uint64_t mix(uint64_t first, uint64_t second)
{
    wide const product = (wide)first * second;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t live_hash_u64(uint64_t seed, uint64_t value)
{
    return mix(mix(seed ^ value, MIX_A) ^ MIX_B, MIX_C);
}

uint64_t live_hash_text(uint64_t seed, const char *text)
{
    size_t const size = strlen(text);
    uint64_t hash = seed ^ size;
    for (size_t done = 0; done < size; done += WORD_BYTES) {
        uint64_t word = 0;
        memcpy(&word, text + done, size - done < WORD_BYTES ? size - done : WORD_BYTES);
        hash = mix(hash ^ word ^ MIX_B, MIX_A);
    }
    return live_hash_u64(seed, hash);
}

static size_t next_index(const struct live_table *table, size_t index)
{
    return (index + 1) & (table->capacity - 1);
}

static size_t home_of(const struct live_table *table, uint64_t hash)
{
    return (size_t)hash & (table->capacity - 1);
}

/* Into the first free slot from its home on. Requires: there is one. */
static void put(struct live_table *table, uint64_t hash, void *item)
{
    size_t index = home_of(table, hash);
    while (table->slots[index].item != NULL)
        index = next_index(table, index);
    table->slots[index] = (struct live_table_slot){.hash = hash, .item = item};
}

static bool grow(struct live_table *table)
{
    struct live_table larger = {
        .capacity = table->capacity == 0 ? CAPACITY_MIN : 2 * table->capacity,
        .count = table->count,
    };
    larger.slots = calloc(larger.capacity, sizeof larger.slots[0]);
    if (larger.slots == NULL)
        return false;
    for (size_t i = 0; i < table->capacity; i++) {
        if (table->slots[i].item != NULL)
            put(&larger, table->slots[i].hash, table->slots[i].item);
    }
    free(table->slots);
    *table = larger;
    return true;
}

/* At most three slots of four are taken, so that probes stay short and always end. */
bool live_table_reserve(struct live_table *table)
{
    return table->count < table->capacity / 4 * 3 || grow(table);
}

void live_table_add(struct live_table *table, uint64_t hash, void *item)
{
    TACIT_ASSERT(item != NULL);
    TACIT_ASSERT(table->count < table->capacity / 4 * 3);
    put(table, hash, item);
    table->count++;
}

void *live_table_find(const struct live_table *table, uint64_t hash, live_table_same *same,
                      const void *wanted)
{
    if (table->count == 0)
        return NULL;
    for (size_t index = home_of(table, hash); table->slots[index].item != NULL;
         index = next_index(table, index)) {
        struct live_table_slot const *const slot = &table->slots[index];
        if (slot->hash == hash && same(slot->item, wanted))
            return slot->item;
    }
    return NULL;
}

/* May what sits at `index` move to the hole, that is, does its probe pass the hole? */
static bool may_move(const struct live_table *table, size_t index, size_t hole)
{
    size_t const mask = table->capacity - 1;
    size_t const home = home_of(table, table->slots[index].hash);
    return ((index - home) & mask) >= ((index - hole) & mask);
}

void live_table_remove(struct live_table *table, uint64_t hash, const void *item)
{
    TACIT_ASSERT(table->count > 0);
    size_t hole = home_of(table, hash);
    while (table->slots[hole].item != item) {
        TACIT_ASSERT(table->slots[hole].item != NULL);
        hole = next_index(table, hole);
    }
    for (size_t index = next_index(table, hole); table->slots[index].item != NULL;
         index = next_index(table, index)) {
        if (may_move(table, index, hole)) {
            table->slots[hole] = table->slots[index];
            hole = index;
        }
    }
    table->slots[hole] = (struct live_table_slot){0};
    table->count--;
}

void live_table_free(struct live_table *table, void (*release)(void *item))
{
    for (size_t i = 0; release != NULL && i < table->capacity; i++) {
        if (table->slots[i].item != NULL)
            release(table->slots[i].item);
    }
    free(table->slots);
    *table = (struct live_table){0};
}
