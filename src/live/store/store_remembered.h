/* A decision that is remembered, as an item of a pile; and its idempotency key, as another. */
#ifndef TACIT_LIVE_STORE_REMEMBERED_H
#define TACIT_LIVE_STORE_REMEMBERED_H
#include "store.h"
#include "store_pile_file.h"

#define STORE_REMEMBERED_HEAD_BYTES 27u
#define STORE_REMEMBERED_KEY_BYTES 16u

/* Bytes of the row's item: what an answer needs of it; the unit is not. */
size_t store_remembered_size(const struct live_decision_row *row);
/* Writes them. */
void store_remembered_write(const struct live_decision_row *row, uint8_t *bytes);
/* The row of an item; its texts point into the item's bytes. */
struct live_decision_row store_remembered_read(const struct store_item *item);

/* The item of a key: until when, and which id. */
void store_remembered_write_key(const struct live_decision_row *row,
                                uint8_t bytes[STORE_REMEMBERED_KEY_BYTES]);
static inline uint64_t store_remembered_id_of_key(const struct store_item *item)
{
    return store_load_u64(item->bytes + 8);
}

/* Are these two of one decision, or of one key of it? */
bool store_remembered_is_same(const struct store_item *first, const struct store_item *second);
/* Of two that are: does the first know more? A decision that closed without a reward may have got
 * one too late afterwards; nothing else changes. */
bool store_remembered_is_newer(const struct store_item *first, const struct store_item *second);
#endif
