/* Signatures for tests of two aggregators: a hash under the signer's number. */
#ifndef TACIT_TESTS_NAME_KEYS_H
#define TACIT_TESTS_NAME_KEYS_H
#include <string.h>
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
#endif
