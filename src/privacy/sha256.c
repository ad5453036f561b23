/* SHA-256 as FIPS 180-4 has it (section 6.2), and HMAC as FIPS 198-1; written down once more, so
 * that a device needs no library for it (docs/adr/0016). */
#include "sha256.h"
#include <string.h>

#define BLOCK_BYTES TACIT_SHA256_BLOCK_BYTES

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

/* 6.2.2 step 3, without the moves of all words by one: at t, a is v[-t modulo 8]. `word` is the
 * schedule's and the round's. */
static inline void mix(uint32_t v[8], unsigned t, uint32_t word)
{
    uint32_t const a = v[(8 - t) % 8];
    uint32_t const b = v[(9 - t) % 8];
    uint32_t const c = v[(10 - t) % 8];
    uint32_t const e = v[(12 - t) % 8];
    uint32_t const f = v[(13 - t) % 8];
    uint32_t const g = v[(14 - t) % 8];
    uint32_t *const h = &v[(15 - t) % 8];
    *h += (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + (g ^ (e & (f ^ g))) + word;
    v[(11 - t) % 8] += *h;
    *h += (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) | (c & (a | b)));
}

/* 6.2.2 steps 2 to 4; a to h are v[0] to v[7]. Eight rounds are written out, so that the compiler
 * knows every place. */
static void compress(uint32_t words[8], const uint8_t *block)
{
    uint32_t schedule[64];
    uint32_t v[8];
    expand(block, schedule);
    memcpy(v, words, sizeof v);
    for (unsigned t = 0; t < 64; t += 8) {
        mix(v, 0, schedule[t] + SHA256_ROUNDS[t]);
        mix(v, 1, schedule[t + 1] + SHA256_ROUNDS[t + 1]);
        mix(v, 2, schedule[t + 2] + SHA256_ROUNDS[t + 2]);
        mix(v, 3, schedule[t + 3] + SHA256_ROUNDS[t + 3]);
        mix(v, 4, schedule[t + 4] + SHA256_ROUNDS[t + 4]);
        mix(v, 5, schedule[t + 5] + SHA256_ROUNDS[t + 5]);
        mix(v, 6, schedule[t + 6] + SHA256_ROUNDS[t + 6]);
        mix(v, 7, schedule[t + 7] + SHA256_ROUNDS[t + 7]);
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

void sha256_blocks_portable(uint32_t words[8], const uint8_t *blocks, size_t count)
{
    TACIT_ASSERT(words != NULL);
    TACIT_ASSERT(count == 0 || blocks != NULL);
    for (size_t i = 0; i < count; i++)
        compress(words, blocks + i * BLOCK_BYTES);
}

__attribute__((weak)) void tacit_sha256_blocks(uint32_t words[8], const uint8_t *blocks,
                                               size_t count)
{
    sha256_blocks_portable(words, blocks, count);
}

/* Whole blocks are taken where they lie. */
void tacit_sha256_update(struct tacit_sha256 *sha, const void *bytes, size_t size)
{
    TACIT_ASSERT(size == 0 || bytes != NULL);
    TACIT_ASSERT(sha->size <= UINT64_MAX / 8 - size); /* its length in bits is hashed, too */
    const uint8_t *next = bytes;
    size_t const at = (size_t)(sha->size % BLOCK_BYTES);
    size_t const part = size < BLOCK_BYTES - at ? size : BLOCK_BYTES - at;
    sha->size += size;
    if (at > 0 && size > 0) {
        memcpy(sha->block + at, next, part);
        if (at + part < BLOCK_BYTES)
            return;
        tacit_sha256_blocks(sha->words, sha->block, 1);
        next += part;
        size -= part;
    }
    size_t const whole = size / BLOCK_BYTES;
    if (whole > 0)
        tacit_sha256_blocks(sha->words, next, whole);
    if (size % BLOCK_BYTES > 0)
        memcpy(sha->block, next + whole * BLOCK_BYTES, size % BLOCK_BYTES);
}

void tacit_sha256_update_number(struct tacit_sha256 *sha, uint64_t number)
{
    uint8_t bytes[8];
    for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(number >> (8 * i));
    tacit_sha256_update(sha, bytes, sizeof bytes);
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

void tacit_sha256_of(const void *bytes, size_t size, uint8_t digest[TACIT_SHA256_BYTES])
{
    struct tacit_sha256 sha = tacit_sha256_init();
    tacit_sha256_update(&sha, bytes, size);
    tacit_sha256_final(&sha, digest);
}

struct tacit_hmac tacit_hmac_init(const uint8_t key[TACIT_SHA256_BYTES])
{
    TACIT_ASSERT(key != NULL);
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
