/* What a commitment is to. */
#include "internal.h"

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
