#include "block.h"
#include <stdlib.h>
#include <string.h>

static size_t filled_up(size_t size)
{
    return (size + 7u) & ~(size_t)7u;
}

enum tacit_status live_block_new(struct live_block *block, const uint8_t *announcement, size_t size,
                                 const uint8_t *digest, size_t state_size)
{
    uint64_t const length = size;
    size_t const digest_at = sizeof length + filled_up(size);
    size_t const digest_size = digest == NULL ? 0 : TACIT_WIRE_DIGEST_BYTES;
    *block = (struct live_block){0};
    if (state_size == 0)
        return TACIT_MALFORMED;
    size_t const state_at = digest_at + digest_size;
    unsigned char *const bytes = calloc(1, state_at + state_size);
    if (bytes == NULL)
        return TACIT_MEMORY;
    memcpy(bytes, &length, sizeof length);
    memcpy(bytes + sizeof length, announcement, size);
    if (digest != NULL)
        memcpy(bytes + digest_at, digest, digest_size);
    *block =
        (struct live_block){.bytes = bytes, .size = state_at + state_size, .state_at = state_at};
    return TACIT_OK;
}

void live_block_free(struct live_block *block)
{
    free(block->bytes);
    *block = (struct live_block){0};
}

enum tacit_status live_block_read(const void *bytes, size_t size, const uint8_t **announcement,
                                  size_t *announcement_size)
{
    uint64_t length;
    if (size < sizeof length)
        return TACIT_MALFORMED;
    memcpy(&length, bytes, sizeof length);
    if (length > size - sizeof length)
        return TACIT_MALFORMED;
    *announcement = (const uint8_t *)bytes + sizeof length;
    *announcement_size = (size_t)length;
    return TACIT_OK;
}

enum tacit_status live_block_take(struct live_block *block, const void *bytes, size_t size)
{
    TACIT_ASSERT(block->bytes != NULL);
    if (size != block->size || memcmp(bytes, block->bytes, block->state_at) != 0)
        return TACIT_MALFORMED;
    memcpy(block->bytes, bytes, size);
    return TACIT_OK;
}

bool live_block_is_of(const struct live_block *block, const uint8_t *announcement, size_t size)
{
    uint64_t length;
    TACIT_ASSERT(block->bytes != NULL);
    memcpy(&length, block->bytes, sizeof length);
    return length == size && memcmp(block->bytes + sizeof length, announcement, size) == 0;
}
