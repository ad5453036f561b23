/* until when (8), opened (8), arm (4), kind (1), state (1), bytes of the key with its end (1),
 * bytes of what is kept (4); the key; what is kept. A key: until when (8), id (8). */
#include "store_remembered.h"
#include <string.h>

#define STATE_AT 21u

static size_t key_size(const struct live_decision_row *row)
{
    return row->key == NULL ? 0 : strlen(row->key) + 1;
}

size_t store_remembered_size(const struct live_decision_row *row)
{
    TACIT_ASSERT(key_size(row) <= UINT8_MAX && row->kept_size <= UINT32_MAX / 32);
    return STORE_REMEMBERED_HEAD_BYTES + key_size(row) + row->kept_size;
}

void store_remembered_write(const struct live_decision_row *row, uint8_t *bytes)
{
    size_t const key_bytes = key_size(row);
    store_save_u64(bytes, row->deadline_ms);
    store_save_u64(bytes + 8, row->opened_ms);
    for (unsigned i = 0; i < 4; i++) {
        bytes[16 + i] = (uint8_t)(row->arm >> (8 * i));
        bytes[23 + i] = (uint8_t)(row->kept_size >> (8 * i));
    }
    bytes[20] = row->kind;
    bytes[STATE_AT] = row->state;
    bytes[22] = (uint8_t)key_bytes;
    if (key_bytes > 0)
        memcpy(bytes + STORE_REMEMBERED_HEAD_BYTES, row->key, key_bytes);
    if (row->kept_size > 0)
        memcpy(bytes + STORE_REMEMBERED_HEAD_BYTES + key_bytes, row->kept, row->kept_size);
}

struct live_decision_row store_remembered_read(const struct store_item *item)
{
    TACIT_ASSERT(!item->is_key && item->size >= STORE_REMEMBERED_HEAD_BYTES);
    const uint8_t *const bytes = item->bytes;
    struct live_decision_row row = {.id = item->word,
                                    .deadline_ms = store_load_u64(bytes),
                                    .opened_ms = store_load_u64(bytes + 8),
                                    .kind = bytes[20],
                                    .state = bytes[STATE_AT]};
    for (unsigned i = 4; i-- > 0;) {
        row.arm = row.arm << 8 | bytes[16 + i];
        row.kept_size = row.kept_size << 8 | bytes[23 + i];
    }
    TACIT_ASSERT(STORE_REMEMBERED_HEAD_BYTES + bytes[22] + row.kept_size == item->size);
    if (bytes[22] > 0)
        row.key = (const char *)bytes + STORE_REMEMBERED_HEAD_BYTES;
    if (row.kept_size > 0)
        row.kept = bytes + STORE_REMEMBERED_HEAD_BYTES + bytes[22];
    return row;
}

void store_remembered_write_key(const struct live_decision_row *row,
                                uint8_t bytes[STORE_REMEMBERED_KEY_BYTES])
{
    store_save_u64(bytes, row->deadline_ms);
    store_save_u64(bytes + 8, row->id);
}

bool store_remembered_is_same(const struct store_item *first, const struct store_item *second)
{
    if (first->word != second->word || first->is_key != second->is_key)
        return false;
    return !first->is_key ||
           store_remembered_id_of_key(first) == store_remembered_id_of_key(second);
}

bool store_remembered_is_newer(const struct store_item *first, const struct store_item *second)
{
    return !first->is_key && first->bytes[STATE_AT] > second->bytes[STATE_AT];
}
