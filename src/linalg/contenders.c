/* Which of many contexts can be chosen: all of them in single precision, so that only few need be
 * made in double precision. What comes out is a superset, whatever the rounding. */
#include <string.h>
#include "internal.h"

#if defined __x86_64__
#include <immintrin.h>

typedef float f8 __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t i8 __attribute__((vector_size(32), aligned(4), may_alias));
typedef uint32_t u8 __attribute__((vector_size(32), aligned(4), may_alias));

#define WITH_AVX2 __attribute__((target("avx2")))
#define INLINE WITH_AVX2 static inline __attribute__((always_inline))
#define F(x) ((f8){(x), (x), (x), (x), (x), (x), (x), (x)})
#define LANES 8u
#define FOUR 4u
#define LOAD(p) (*(const f8 *)(const void *)(p))
#define STORE(p, v) (*(f8 *)(void *)(p) = (v))
#define ALIGNED _Alignas(64)
#define GROUPS 4u
#define ARMS_AT_ONCE (GROUPS * LANES)
#define EACH(g) _Pragma("GCC unroll 4") for (unsigned g = 0; g < GROUPS; g++)

#define ROUNDER_SINGLE 0x1.8p23f
#define ONE_SINGLE 0x3f800000u
#define HALF_ROOT_SINGLE 0x3f3504f3u
#define BIAS_SINGLE 127
#define MIDDLE_WORD UINT64_C(0x8000000080000000) /* a word that is far from the ends */

/* A unit vector is within ROUGH of itself: its normals within 2e-5 each (where no word is near the
 * ends, below), and their length at least a quarter of the root of d. */
#define ROUGH 0x1p-12
#define LEAST_SQUARE 0.0625f /* of that length, over d */
#define TIES 4e-9            /* decisions take the first of those within 1e-9 of the best */
#define TRACE_LEAST 1e-20    /* beyond these single precision has other errors than rounding */
#define TRACE_MOST 1e20

INLINE f8 root_of(f8 x)
{
    return (f8)_mm256_sqrt_ps((__m256)x);
}

INLINE f8 higher_of(f8 a, f8 b)
{
    return (f8)_mm256_max_ps((__m256)a, (__m256)b);
}

INLINE f8 sine_of(f8 a, f8 square)
{
    f8 const p = (F((float)SINE_TERMS[5]) * square + F((float)SINE_TERMS[6])) * square +
                 F((float)SINE_TERMS[7]);
    return a + a * (square * p);
}

INLINE f8 cosine_of(f8 square)
{
    f8 const p = ((F((float)COSINE_TERMS[4]) * square + F((float)COSINE_TERMS[5])) * square +
                  F((float)COSINE_TERMS[6])) *
                     square +
                 F((float)COSINE_TERMS[7]);
    return F(1.0f) + square * p;
}

/* sqrt(-2 log x) of x = high 2^-32. */
INLINE f8 radius_of(u8 high)
{
    f8 const x = __builtin_convertvector((i8)(high >> 1), f8) * F(0x1p-31f);
    u8 const exponent = ((u8)x - HALF_ROOT_SINGLE + ONE_SINGLE) >> 23; /* biased */
    f8 const f = (f8)((u8)x - (exponent << 23) + ONE_SINGLE) - F(1.0f);
    f8 const s = f / (F(2.0f) + f);
    f8 const square = s * s;
    f8 const p = (F((float)LOG_TERMS[7]) * square + F((float)LOG_TERMS[8])) * square +
                 F((float)LOG_TERMS[9]);
    f8 const k = __builtin_convertvector((i8)exponent - BIAS_SINGLE, f8);
    f8 const log = k * F((float)(LN2_HIGH + LN2_LOW)) + (F(2.0f) * s) * (F(1.0f) + square * p);
    return root_of(F(-2.0f) * log);
}

/* As tacit_linalg_normals, of whole groups of eight words; false: the radius of one of them is too
 * near its ends for this precision. */
INLINE bool rough_normals(const uint64_t *words, size_t word_count, float *normals)
{
    i8 is_near_end = {0};
    for (size_t i = 0; i < word_count; i += LANES) {
        u8 const a = *(const u8 *)(const void *)(words + i);
        u8 const b = *(const u8 *)(const void *)(words + i + LANES / 2);
        u8 const high = __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15);
        u8 const low = __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14);
        is_near_end |= ((high + 0x10000u) >> 17) == 0;
        f8 const radius = radius_of(high);
        f8 const quarters = __builtin_convertvector((i8)low, f8) * F(0x1p-30f);
        f8 const shifted = quarters + F(ROUNDER_SINGLE);
        f8 const angle = (quarters - (shifted - F(ROUNDER_SINGLE))) * F((float)HALF_PI);
        f8 const s = sine_of(angle, angle * angle);
        f8 const c = cosine_of(angle * angle);
        u8 const quadrant = (u8)shifted;
        u8 const is_odd = 0 - (quadrant & 1);
        u8 const swap = ((u8)s ^ (u8)c) & is_odd;
        f8 const cosine = radius * (f8)(((u8)c ^ swap) ^ (((quadrant + 1) & 2) << 30));
        f8 const sine = radius * (f8)(((u8)s ^ swap) ^ ((quadrant & 2) << 30));
        STORE(normals + 2 * i, __builtin_shufflevector(cosine, sine, 0, 1, 2, 3, 8, 9, 10, 11));
        STORE(normals + 2 * i + LANES,
              __builtin_shufflevector(cosine, sine, 4, 5, 6, 7, 12, 13, 14, 15));
    }
    return _mm256_testz_si256((__m256i)is_near_end, (__m256i)is_near_end) != 0;
}

/* The rule's numbers in single precision. */
struct rough {
    float form[TACIT_LINALG_MATRIX_MAX];
    float centre[TACIT_LINALG_DIMENSION_MAX];
    float theta[TACIT_LINALG_DIMENSION_MAX];
    float width;
    float score_margin;
    float mean_margin;
};

/* False: its numbers do not fit single precision. No eigenvalue of the form exceeds its trace. */
WITH_AVX2 static bool roughen(uint32_t d, const struct tacit_linalg_rule *rule, const double *theta,
                              struct rough *rough)
{
    double trace = 0;
    double centre_square = 0;
    double theta_square = 0;
    for (size_t i = 0; i < TACIT_LINALG_MATRIX(d); i++)
        rough->form[i] = (float)rule->form[i];
    for (uint32_t i = 0; i < d; i++) {
        trace += rule->form[i * (TACIT_LINALG_STRIDE(d) + 1)];
        centre_square += rule->centre[i] * rule->centre[i];
        theta_square += theta[i] * theta[i];
        rough->centre[i] = (float)rule->centre[i];
        rough->theta[i] = (float)theta[i];
    }
    double const size = sqrt(centre_square) + rule->width * sqrt(trace);
    double const rounding = rule->width * sqrt((d + 8.0) * 0x1p-23 * trace);
    double const mean = sqrt(theta_square);
    rough->width = (float)rule->width;
    rough->score_margin = (float)(2.0 * (ROUGH * size + rounding) + TIES);
    rough->mean_margin = (float)(2.0 * ROUGH * mean);
    return trace >= TRACE_LEAST && trace <= TRACE_MOST && size <= TRACE_MOST && mean <= TRACE_MOST;
}

INLINE f8 halves(const float *low, const float *high)
{
    return (f8)_mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(low)), _mm_loadu_ps(high),
                                    1);
}

/* Four numbers of eight rows as columns. */
INLINE void four_columns(const float *const *row, size_t c, float *columns)
{
    f8 const a = halves(row[0] + c, row[4] + c);
    f8 const b = halves(row[1] + c, row[5] + c);
    f8 const e = halves(row[2] + c, row[6] + c);
    f8 const f = halves(row[3] + c, row[7] + c);
    f8 const ab = __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13);
    f8 const ef = __builtin_shufflevector(e, f, 0, 8, 1, 9, 4, 12, 5, 13);
    f8 const ab_next = __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15);
    f8 const ef_next = __builtin_shufflevector(e, f, 2, 10, 3, 11, 6, 14, 7, 15);
    float *const out = columns + c * ARMS_AT_ONCE;
    STORE(out, __builtin_shufflevector(ab, ef, 0, 1, 8, 9, 4, 5, 12, 13));
    STORE(out + ARMS_AT_ONCE, __builtin_shufflevector(ab, ef, 2, 3, 10, 11, 6, 7, 14, 15));
    STORE(out + 2 * ARMS_AT_ONCE,
          __builtin_shufflevector(ab_next, ef_next, 0, 1, 8, 9, 4, 5, 12, 13));
    STORE(out + 3 * ARMS_AT_ONCE,
          __builtin_shufflevector(ab_next, ef_next, 2, 3, 10, 11, 6, 7, 14, 15));
}

/* Arms from `first` on as columns; beyond the last one, that one again. Where four do not go into
 * d, the last four overlap with those before, or with what nobody reads. */
INLINE void columns_of(uint32_t d, uint32_t arm_count, const float *rows, uint32_t first,
                       float *columns)
{
    for (uint32_t k = 0; k < ARMS_AT_ONCE; k += LANES) {
        const float *row[LANES];
        for (uint32_t i = 0; i < LANES; i++) {
            uint32_t const arm = first + k + i < arm_count ? first + k + i : arm_count - 1;
            row[i] = rows + (size_t)arm * d;
        }
        for (uint32_t c = 0; c + FOUR < d; c += FOUR)
            four_columns(row, c, columns + k);
        four_columns(row, d < FOUR ? 0 : d - FOUR, columns + k);
    }
}

/* Of arms: x' centre + width sqrt(x' form x) and x' theta, of the unit vectors. Those that are too
 * short to say are kept, and nobody is measured by them. */
struct scores {
    f8 score[GROUPS];
    f8 mean[GROUPS];
    i8 is_long[GROUPS];
};

/* x of those that are long enough, else less than any. */
INLINE f8 where(i8 is_long, f8 x)
{
    return (f8)(((i8)x & is_long) | ((i8)F(-INFINITY) & ~is_long));
}

INLINE void score(uint32_t d, const struct rough *rough, const float *columns,
                  struct scores *scores)
{
    f8 z[GROUPS] = {{0}};
    f8 q[GROUPS] = {{0}};
    f8 mean[GROUPS] = {{0}};
    f8 square[GROUPS] = {{0}};
    for (uint32_t r = 0; r < d; r++) {
        const float *const x = columns + (size_t)r * ARMS_AT_ONCE;
        EACH(g) z[g] += F(rough->centre[r]) * LOAD(x + g * LANES);
        EACH(g) mean[g] += F(rough->theta[r]) * LOAD(x + g * LANES);
        EACH(g) square[g] += LOAD(x + g * LANES) * LOAD(x + g * LANES);
    }
    for (uint32_t r = 0; r < d; r++) {
        const float *const row = rough->form + r * TACIT_LINALG_STRIDE(d);
        const float *x = columns;
        f8 s[GROUPS] = {{0}};
        for (uint32_t c = 0; c < r; c++, x += ARMS_AT_ONCE)
            EACH(g) s[g] += F(row[c]) * LOAD(x + g * LANES);
        EACH(g)
        {
            f8 const x_r = LOAD(x + g * LANES);
            q[g] += x_r * (F(row[r]) * x_r + F(2.0f) * s[g]);
        }
    }
    EACH(g)
    {
        f8 const length = root_of(square[g]);
        i8 const is_long = square[g] > F(LEAST_SQUARE * (float)d);
        f8 const root = root_of(higher_of(q[g], F(0.0f)));
        scores->score[g] = where(is_long, (z[g] + F(rough->width) * root) / length);
        scores->mean[g] = where(is_long, mean[g] / length);
        scores->is_long[g] = is_long;
    }
}

INLINE float highest_of(f8 x)
{
    float highest = x[0];
    for (unsigned i = 1; i < LANES; i++)
        highest = x[i] > highest ? x[i] : highest;
    return highest;
}

#define PARTS_MAX (TACIT_LINALG_CONTENDERS_MAX / ARMS_AT_ONCE)

/* Those whose score or mean may be the best, ascending. Result: how many. */
WITH_AVX2 static uint32_t contenders(uint32_t d, uint32_t arm_count, const float *rows,
                                     const struct rough *rough, uint32_t *kept)
{
    struct scores scores[PARTS_MAX];
    ALIGNED float columns[TACIT_LINALG_DIMENSION_MAX * ARMS_AT_ONCE];
    f8 best = F(-INFINITY);
    f8 best_mean = F(-INFINITY);
    uint32_t count = 0;
    for (uint32_t first = 0; first < arm_count; first += ARMS_AT_ONCE) {
        struct scores *const part = &scores[first / ARMS_AT_ONCE];
        columns_of(d, arm_count, rows, first, columns);
        score(d, rough, columns, part);
        EACH(g) best = higher_of(best, part->score[g]);
        EACH(g) best_mean = higher_of(best_mean, part->mean[g]);
    }
    f8 const least = F(highest_of(best) - rough->score_margin);
    f8 const least_mean = F(highest_of(best_mean) - rough->mean_margin);
    for (uint32_t first = 0; first < arm_count; first += LANES) {
        const struct scores *const part = &scores[first / ARMS_AT_ONCE];
        unsigned const g = first % ARMS_AT_ONCE / LANES;
        i8 const is_out =
            (part->score[g] < least) & (part->mean[g] < least_mean) & part->is_long[g];
        unsigned in = ~(unsigned)_mm256_movemask_ps((__m256)is_out) & 0xffu;
        for (; in != 0; in &= in - 1) {
            uint32_t const arm = first + (uint32_t)__builtin_ctz(in);
            if (arm < arm_count)
                kept[count++] = arm;
        }
    }
    return count;
}

/* The last normals of words that are not all used stand closer (tacit_linalg_normals). */
static void close_ranks(size_t count, float *normals)
{
    size_t const whole = count / LANES * LANES;
    size_t const left = count - whole;
    size_t const pairs = (left + 1) / 2;
    if (left > 0)
        memmove(normals + whole + pairs, normals + whole + LANES / 2,
                (left - pairs) * sizeof(float));
}

/* The same from words. 0: single precision is not enough. */
WITH_AVX2 static uint32_t contenders_of(uint32_t d, uint32_t arm_count, const uint64_t *words,
                                        const struct tacit_linalg_rule *rule, const double *theta,
                                        uint32_t *kept)
{
    size_t const count = (size_t)arm_count * d;
    size_t const word_count = (count + 1) / 2;
    size_t const whole = word_count / LANES * LANES;
    uint64_t last[LANES];
    struct rough rough;
    ALIGNED float normals[TACIT_LINALG_CONTENDERS_MAX + FOUR];
    for (size_t i = 0; i < LANES; i++)
        last[i] = whole + i < word_count ? words[whole + i] : MIDDLE_WORD;
    if (!roughen(d, rule, theta, &rough) || !rough_normals(words, whole, normals) ||
        (whole < word_count && !rough_normals(last, LANES, normals + 2 * whole)))
        return 0;
    close_ranks(count, normals);
    return contenders(d, arm_count, normals, &rough, kept);
}
#endif

uint32_t tacit_linalg_contenders(enum tacit_linalg_path path, uint32_t d, uint32_t arm_count,
                                 const uint64_t *words, const struct tacit_linalg_rule *rule,
                                 const double *theta, uint32_t *kept)
{
    TACIT_ASSERT(d >= 1);
    TACIT_ASSERT(d <= TACIT_LINALG_DIMENSION_MAX);
    TACIT_ASSERT(arm_count >= 1);
    TACIT_ASSERT((size_t)arm_count * d <= TACIT_LINALG_CONTENDERS_MAX);
    uint32_t count = 0;
#if defined __x86_64__
    if (path == TACIT_LINALG_AVX2)
        count = contenders_of(d, arm_count, words, rule, theta, kept);
#endif
    (void)path, (void)words, (void)rule, (void)theta; /* of other processors */
    TACIT_ASSERT(count <= arm_count);
    if (count > 0)
        return count;
    for (uint32_t k = 0; k < arm_count; k++)
        kept[k] = k;
    return arm_count;
}
