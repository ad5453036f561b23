/* SHA-256 as FIPS 180-4 has it (section 6.2), and HMAC as FIPS 198-1; written down once more, so
 * that a device needs no library for it (docs/adr/0016). */
#include <string.h>
#include "tacit/commit.h"

#define BLOCK_BYTES 64u

/* FIPS 180-4, 4.2.2. */
static const uint32_t round_words[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t word, unsigned by)
{
    return word >> by | word << (32 - by);
}

static uint32_t load_big(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static void store_big(uint8_t *bytes, uint32_t word)
{
    for (unsigned i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(word >> (24 - 8 * i));
}

/* 6.2.2 step 1. */
static void expand(const uint8_t *block, uint32_t schedule[64])
{
    for (unsigned t = 0; t < 16; t++)
        schedule[t] = load_big(block + 4 * t);
    for (unsigned t = 16; t < 64; t++) {
        uint32_t const early = schedule[t - 15];
        uint32_t const late = schedule[t - 2];
        uint32_t const first = rotate(early, 7) ^ rotate(early, 18) ^ early >> 3;
        uint32_t const second = rotate(late, 17) ^ rotate(late, 19) ^ late >> 10;
        schedule[t] = second + schedule[t - 7] + first + schedule[t - 16];
    }
}

/* 6.2.2 steps 2 to 4; a to h are v[0] to v[7]. */
static void compress(uint32_t words[8], const uint8_t *block)
{
    uint32_t schedule[64];
    uint32_t v[8];
    expand(block, schedule);
    memcpy(v, words, sizeof v);
    for (unsigned t = 0; t < 64; t++) {
        uint32_t const sum_e = rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25);
        uint32_t const choice = (v[4] & v[5]) ^ (~v[4] & v[6]);
        uint32_t const sum_a = rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22);
        uint32_t const majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
        uint32_t const one = v[7] + sum_e + choice + round_words[t] + schedule[t];
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += one;
        v[0] = one + sum_a + majority;
    }
    for (unsigned i = 0; i < 8; i++)
        words[i] += v[i];
}

struct tacit_sha256 tacit_sha256_init(void)
{
    /* 5.3.3 */
    return (struct tacit_sha256){.words = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                           0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void tacit_sha256_update(struct tacit_sha256 *sha, const void *bytes, size_t size)
{
    const uint8_t *next = bytes;
    while (size > 0) {
        size_t const at = (size_t)(sha->size % BLOCK_BYTES);
        size_t const part = size < BLOCK_BYTES - at ? size : BLOCK_BYTES - at;
        memcpy(sha->block + at, next, part);
        sha->size += part;
        next += part;
        size -= part;
        if (at + part == BLOCK_BYTES)
            compress(sha->words, sha->block);
    }
}

/* 5.1.1: a one, zeros, and the length in bits. */
void tacit_sha256_final(struct tacit_sha256 *sha, uint8_t digest[TACIT_SHA256_BYTES])
{
    static const uint8_t one = 0x80;
    static const uint8_t zeros[BLOCK_BYTES];
    uint64_t const bits = sha->size * 8;
    uint8_t length[8];
    store_big(length, (uint32_t)(bits >> 32));
    store_big(length + 4, (uint32_t)bits);
    tacit_sha256_update(sha, &one, 1);
    size_t const at = (size_t)(sha->size % BLOCK_BYTES);
    tacit_sha256_update(sha, zeros, at <= 56 ? 56 - at : BLOCK_BYTES + 56 - at);
    tacit_sha256_update(sha, length, sizeof length);
    TACIT_ASSERT(sha->size % BLOCK_BYTES == 0);
    for (unsigned i = 0; i < 8; i++)
        store_big(digest + 4 * i, sha->words[i]);
}

struct tacit_hmac tacit_hmac_init(const uint8_t key[TACIT_SHA256_BYTES])
{
    struct tacit_hmac hmac = {tacit_sha256_init(), tacit_sha256_init()};
    uint8_t inner[BLOCK_BYTES];
    uint8_t outer[BLOCK_BYTES];
    for (unsigned i = 0; i < BLOCK_BYTES; i++) { /* FIPS 198-1, table 1: a short key gets zeros */
        uint8_t const byte = i < TACIT_SHA256_BYTES ? key[i] : 0;
        inner[i] = byte ^ 0x36u;
        outer[i] = byte ^ 0x5cu;
    }
    tacit_sha256_update(&hmac.inner, inner, sizeof inner);
    tacit_sha256_update(&hmac.outer, outer, sizeof outer);
    return hmac;
}

void tacit_hmac_update(struct tacit_hmac *hmac, const void *bytes, size_t size)
{
    tacit_sha256_update(&hmac->inner, bytes, size);
}

void tacit_hmac_final(struct tacit_hmac *hmac, uint8_t code[TACIT_SHA256_BYTES])
{
    uint8_t inner[TACIT_SHA256_BYTES];
    tacit_sha256_final(&hmac->inner, inner);
    tacit_sha256_update(&hmac->outer, inner, sizeof inner);
    tacit_sha256_final(&hmac->outer, code);
}
