/* Deep copies of messages, for drivers that deliver later than at once; what a commitment is to. */
#include "../../base/part.h"
#include "internal.h"

static size_t blocks_bytes(const struct tacit_phased_message *message)
{
    return message->blocks == NULL ? 0 : message->block_count * sizeof *message->blocks;
}

static size_t sums_bytes(const struct tacit_phased_message *message)
{
    return message->sums == NULL ? 0 : message->block_count * sizeof *message->sums;
}

size_t tacit_phased_message_size(const struct tacit_phased_message *message)
{
    size_t const commit = message->commit == NULL ? 0 : sizeof *message->commit;
    size_t const masked = message->masked == NULL ? 0 : sizeof *message->masked;
    return sizeof *message + blocks_bytes(message) + sums_bytes(message) + commit + masked;
}

const struct tacit_phased_message *
tacit_phased_message_copy(const struct tacit_phased_message *message, void *memory)
{
    TACIT_ASSERT(memory != NULL);
    TACIT_ASSERT((const void *)message != memory);
    struct tacit_phased_message *const copy = memory;
    unsigned char *end = (unsigned char *)memory + sizeof *copy;
    *copy = *message;
    copy->blocks = base_copy_part(message->blocks, blocks_bytes(message), &end);
    copy->sums = base_copy_part(message->sums, sums_bytes(message), &end);
    copy->commit = base_copy_part(message->commit, sizeof *message->commit, &end);
    copy->masked = base_copy_part(message->masked, sizeof *message->masked, &end);
    return copy;
}

/* sums NULL: of a plan, which has none. */
static void digest_blocks(const struct tacit_pull_block *blocks, const int64_t *sums,
                          uint32_t block_count, uint8_t digest[TACIT_SHA256_BYTES])
{
    TACIT_IMPLIES(block_count > 0, blocks != NULL);
    TACIT_ASSERT(digest != NULL);
    struct tacit_sha256 sha = tacit_sha256_init();
    for (uint32_t i = 0; i < block_count; i++) {
        tacit_sha256_update_number(&sha, blocks[i].arm);
        tacit_sha256_update_number(&sha, blocks[i].count);
        if (sums != NULL)
            tacit_sha256_update_number(&sha, (uint64_t)sums[i]);
    }
    tacit_sha256_final(&sha, digest);
}

void tacit_phased_plan_digest(const struct tacit_pull_block *blocks, uint32_t block_count,
                              uint8_t digest[TACIT_SHA256_BYTES])
{
    digest_blocks(blocks, NULL, block_count, digest);
}

void phased_release_digest(const struct tacit_pull_block *blocks, const int64_t *sums,
                           uint32_t block_count, uint8_t digest[TACIT_SHA256_BYTES])
{
    TACIT_IMPLIES(block_count > 0, sums != NULL);
    digest_blocks(blocks, sums, block_count, digest);
}
