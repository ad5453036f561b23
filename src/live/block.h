/* What a site keeps of a run, in one block: [size of the announcement that it joined, the
 * announcement, filled up to 8] [digest of the agreement in it, where the family keeps one]
 * [state]. So a state is never played under another run than its own. */
#ifndef TACIT_LIVE_BLOCK_H
#define TACIT_LIVE_BLOCK_H
#include "tacit/wire.h"

struct live_block {
    unsigned char *bytes;
    size_t size;
    size_t state_at;
};

/* A state of zeros behind the announcement. digest: NULL, or TACIT_WIRE_DIGEST_BYTES. Errors:
 * TACIT_MALFORMED if the state has no size, TACIT_MEMORY; the block is empty then. */
enum tacit_status live_block_new(struct live_block *block, const uint8_t *announcement, size_t size,
                                 const uint8_t *digest, size_t state_size);

void live_block_free(struct live_block *block);

static inline void *live_block_state(const struct live_block *block)
{
    TACIT_ASSERT(block->bytes != NULL);
    TACIT_ASSERT(block->state_at < block->size);
    return block->bytes + block->state_at;
}

static inline size_t live_block_state_size(const struct live_block *block)
{
    TACIT_ASSERT(block->state_at <= block->size);
    return block->size - block->state_at;
}

/* Where the announcement lies in bytes that were a block. Errors: TACIT_MALFORMED. */
enum tacit_status live_block_read(const void *bytes, size_t size, const uint8_t **announcement,
                                  size_t *announcement_size);

/* The state that the bytes have, behind the same announcement and digest. Errors: TACIT_MALFORMED,
 * the block is as it was. */
enum tacit_status live_block_take(struct live_block *block, const void *bytes, size_t size);

/* Was it made for this very announcement? */
bool live_block_is_of(const struct live_block *block, const uint8_t *announcement, size_t size);
#endif
