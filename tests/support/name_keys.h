/* Signatures for tests of two aggregators: a hash under the signer's number. */
#ifndef TACIT_TESTS_NAME_KEYS_H
#define TACIT_TESTS_NAME_KEYS_H
#include <string.h>
#include "tacit/core.h"
#include "tacit/helper.h"

static inline void sign(uint32_t who, const uint8_t digest[TACIT_SHA256_BYTES], uint8_t *signature)
{
    struct tacit_sha256 sha = tacit_sha256_init();
    tacit_sha256_update_number(&sha, who);
    tacit_sha256_update(&sha, digest, TACIT_SHA256_BYTES);
    memset(signature, 0, TACIT_HELPER_SIGNATURE_BYTES);
    tacit_sha256_final(&sha, signature);
}

static inline bool is_signed(uint32_t who, const uint8_t *digest, const uint8_t *signature)
{
    uint8_t expected[TACIT_HELPER_SIGNATURE_BYTES];
    sign(who, digest, expected);
    return memcmp(expected, signature, sizeof expected) == 0;
}

/* struct tacit_helper_keys: the hub signs as TACIT_HUB, the helper as this. */
#define NAME_HELPER 13u

static inline bool is_of_hub(void *context, const uint8_t *digest, const uint8_t *signature)
{
    (void)context;
    return is_signed(TACIT_HUB, digest, signature);
}

static inline bool is_of_helper(void *context, const uint8_t *digest, const uint8_t *signature)
{
    (void)context;
    return is_signed(NAME_HELPER, digest, signature);
}
#endif
