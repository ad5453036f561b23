/* A hash table of items that the caller owns, found by a hash and a comparison: open addressing,
 * linear probing. Grows by doubling and never shrinks: its memory follows the most items it ever
 * held. */
#ifndef TACIT_LIVE_ID_TABLE_H
#define TACIT_LIVE_ID_TABLE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct live_table_slot {
    uint64_t hash;
    void *item; /* NULL: free */
};

/* All zero is an empty table. */
struct live_table {
    struct live_table_slot *slots;
    size_t capacity; /* 0 or a power of two */
    size_t count;
};

typedef bool live_table_same(const void *item, const void *wanted);

/* Good mixing, no secret: the keys come from the site's own application. */
uint64_t live_hash_u64(uint64_t seed, uint64_t value);
uint64_t live_hash_text(uint64_t seed, const char *text);

/* Makes room for one more item. Errors: false: memory; nothing changed. Cost: O(1) amortised. */
bool live_table_reserve(struct live_table *table);
/* Requires: room was reserved, no such item is in. */
void live_table_add(struct live_table *table, uint64_t hash, void *item);
/* NULL: not there. Cost: O(1) expected, as for the others. */
void *live_table_find(const struct live_table *table, uint64_t hash, live_table_same *same,
                      const void *wanted);
/* Requires: the item is in, under this hash. */
void live_table_remove(struct live_table *table, uint64_t hash, const void *item);
/* Frees each item through `release` (NULL: not) and then the table. */
void live_table_free(struct live_table *table, void (*release)(void *item));
#endif
