/* SHA-256 with the processor's own instructions, where it has them: what a host links in place of
 * tacit_sha256_blocks of the pure archive, which asks no processor anything (docs/adr/0042). */
#include <stdatomic.h>
#include "sha256.h"

#if defined __x86_64__
#include <cpuid.h>
#include <immintrin.h>

#define CPUID_SSSE3 (1u << 9)
#define CPUID_SSE41 (1u << 19)
#define CPUID_SHA (1u << 29)
#define TARGET __attribute__((target("sha,ssse3,sse4.1")))

/* The words as the instructions have them: a, b, e, f and c, d, g, h, the first highest. */
struct halves {
    __m128i abef;
    __m128i cdgh;
};

TARGET static struct halves load_words(const uint32_t words[8])
{
    __m128i const cdab =
        _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(const void *)words), 0xb1);
    __m128i const efgh =
        _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(const void *)(words + 4)), 0x1b);
    return (struct halves){_mm_alignr_epi8(cdab, efgh, 8), _mm_blend_epi16(efgh, cdab, 0xf0)};
}

TARGET static void store_words(struct halves halves, uint32_t words[8])
{
    __m128i const feba = _mm_shuffle_epi32(halves.abef, 0x1b);
    __m128i const dchg = _mm_shuffle_epi32(halves.cdgh, 0xb1);
    _mm_storeu_si128((__m128i *)(void *)words, _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128((__m128i *)(void *)(words + 4), _mm_alignr_epi8(dchg, feba, 8));
}

TARGET static inline __m128i load_message(const uint8_t *bytes)
{
    __m128i const turned = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    return _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(const void *)bytes), turned);
}

/* Rounds t to t + 3, of which `message` is the schedule. */
TARGET static inline void four_rounds(struct halves *halves, __m128i message, unsigned t)
{
    __m128i const constants = _mm_loadu_si128((const __m128i *)(const void *)(SHA256_ROUNDS + t));
    __m128i const words = _mm_add_epi32(message, constants);
    halves->cdgh = _mm_sha256rnds2_epu32(halves->cdgh, halves->abef, words);
    halves->abef =
        _mm_sha256rnds2_epu32(halves->abef, halves->cdgh, _mm_shuffle_epi32(words, 0x0e));
}

/* Four words of the schedule from the sixteen before them, the earliest first. */
TARGET static inline __m128i next_four(__m128i first, __m128i second, __m128i third, __m128i fourth)
{
    __m128i const sum =
        _mm_add_epi32(_mm_sha256msg1_epu32(first, second), _mm_alignr_epi8(fourth, third, 4));
    return _mm_sha256msg2_epu32(sum, fourth);
}

TARGET static struct halves compress(struct halves halves, const uint8_t *block)
{
    __m128i m[4];
    for (unsigned i = 0; i < 4; i++)
        m[i] = load_message(block + 16 * i);
    for (unsigned t = 0; t < 64; t += 16) {
        four_rounds(&halves, m[0], t);
        four_rounds(&halves, m[1], t + 4);
        four_rounds(&halves, m[2], t + 8);
        four_rounds(&halves, m[3], t + 12);
        if (t == 48)
            break;
        m[0] = next_four(m[0], m[1], m[2], m[3]);
        m[1] = next_four(m[1], m[2], m[3], m[0]);
        m[2] = next_four(m[2], m[3], m[0], m[1]);
        m[3] = next_four(m[3], m[0], m[1], m[2]);
    }
    return halves;
}

TARGET static void blocks_of_processor(uint32_t words[8], const uint8_t *blocks, size_t count)
{
    struct halves halves = load_words(words);
    for (size_t i = 0; i < count; i++) {
        struct halves const next = compress(halves, blocks + i * TACIT_SHA256_BLOCK_BYTES);
        halves.abef = _mm_add_epi32(halves.abef, next.abef);
        halves.cdgh = _mm_add_epi32(halves.cdgh, next.cdgh);
    }
    store_words(halves, words);
}

static bool has_instructions(void)
{
    unsigned a;
    unsigned b;
    unsigned c;
    unsigned d;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & CPUID_SSSE3) != 0 && (c & CPUID_SSE41) != 0 &&
           __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & CPUID_SHA) != 0;
}

#elif defined __ARM_FEATURE_SHA2 &&                                                                \
    defined __linux__ /* this file is built for it (src/meson.build) */
#include <arm_neon.h>
#include <asm/hwcap.h>
#include <sys/auxv.h>

/* Rounds t to t + 3, of which `message` is the schedule. */
static inline void four_rounds(uint32x4_t v[2], uint32x4_t message, unsigned t)
{
    uint32x4_t const words = vaddq_u32(message, vld1q_u32(SHA256_ROUNDS + t));
    uint32x4_t const abcd = v[0];
    v[0] = vsha256hq_u32(v[0], v[1], words);
    v[1] = vsha256h2q_u32(v[1], abcd, words);
}

/* Four words of the schedule from the sixteen before them, the earliest first. */
static inline uint32x4_t next_four(uint32x4_t first, uint32x4_t second, uint32x4_t third,
                                   uint32x4_t fourth)
{
    return vsha256su1q_u32(vsha256su0q_u32(first, second), third, fourth);
}

static void compress(uint32x4_t v[2], const uint8_t *block)
{
    uint32x4_t m[4];
    for (unsigned i = 0; i < 4; i++)
        m[i] = vreinterpretq_u32_u8(vrev32q_u8(vld1q_u8(block + 16 * i)));
    for (unsigned t = 0; t < 64; t += 16) {
        four_rounds(v, m[0], t);
        four_rounds(v, m[1], t + 4);
        four_rounds(v, m[2], t + 8);
        four_rounds(v, m[3], t + 12);
        if (t == 48)
            break;
        m[0] = next_four(m[0], m[1], m[2], m[3]);
        m[1] = next_four(m[1], m[2], m[3], m[0]);
        m[2] = next_four(m[2], m[3], m[0], m[1]);
        m[3] = next_four(m[3], m[0], m[1], m[2]);
    }
}

static void blocks_of_processor(uint32_t words[8], const uint8_t *blocks, size_t count)
{
    uint32x4_t v[2] = {vld1q_u32(words), vld1q_u32(words + 4)};
    for (size_t i = 0; i < count; i++) {
        uint32x4_t next[2] = {v[0], v[1]};
        compress(next, blocks + i * TACIT_SHA256_BLOCK_BYTES);
        v[0] = vaddq_u32(v[0], next[0]);
        v[1] = vaddq_u32(v[1], next[1]);
    }
    vst1q_u32(words, v[0]);
    vst1q_u32(words + 4, v[1]);
}

static bool has_instructions(void)
{
    return (getauxval(AT_HWCAP) & HWCAP_SHA2) != 0;
}
#else
#define blocks_of_processor NULL
static bool has_instructions(void)
{
    return false;
}
#endif

sha256_blocks *sha256_blocks_of_processor(void)
{
    return has_instructions() ? blocks_of_processor : NULL;
}

/* The choice is made once: asking a processor takes longer than a hash where it is a virtual one.
 * Threads that ask at the same time find the same. */
void tacit_sha256_blocks(uint32_t words[8], const uint8_t *blocks, size_t count)
{
    static _Atomic(sha256_blocks *) chosen;
    sha256_blocks *serve = atomic_load_explicit(&chosen, memory_order_relaxed);
    if (serve == NULL) {
        serve = sha256_blocks_of_processor();
        if (serve == NULL)
            serve = sha256_blocks_portable;
        atomic_store_explicit(&chosen, serve, memory_order_relaxed);
    }
    TACIT_ASSERT(words != NULL);
    TACIT_ASSERT(count == 0 || blocks != NULL);
    serve(words, blocks, count);
}
