/* What site, hub and helper of the second aggregator share. */
#ifndef TACIT_HELPER_INTERNAL_H
#define TACIT_HELPER_INTERNAL_H
#include "tacit/helper.h"

#define DIGEST_WORDS (TACIT_SHA256_BYTES / sizeof(uint64_t))

/* Entropy that clones with equal randomness have in common only for the same request: HMAC, under
 * 32 fresh bytes, of its digest and a counter. Once it began it cannot fail. */
struct helper_hedge {
    uint8_t key[TACIT_SHA256_BYTES];
    uint8_t digest[TACIT_SHA256_BYTES];
    uint8_t block[TACIT_SHA256_BYTES];
    uint64_t counter;
    uint32_t left; /* bytes of the block */
};

/* Errors: TACIT_ENTROPY. Requires: hedge outlives the result. */
enum tacit_status helper_hedge_begin(struct helper_hedge *hedge,
                                     const struct tacit_entropy *entropy,
                                     const uint8_t digest[TACIT_SHA256_BYTES],
                                     struct tacit_entropy *hedged);

/* Can integers carry noise of this epsilon, and is n within its limit? */
bool helper_round_is_valid(const struct tacit_helper_run *run,
                           const struct tacit_helper_round *round);

/* The digest of a request, entry by entry. */
struct tacit_sha256 helper_request_begin(const struct tacit_helper_run *run,
                                         const struct tacit_helper_request *request);
void helper_request_hash(struct tacit_sha256 *sha, const struct tacit_helper_entry *entry);
#endif
