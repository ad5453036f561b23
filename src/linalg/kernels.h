/* The kernels, once for each path: included by portable.c and avx2.c, which say TARGET, NAME, ROOT
 * and WIDEN (four floats in memory, as doubles). Four lanes are one vector; where a machine has
 * shorter ones the compiler splits it, and the bits stay. No multiply-add is contracted, no sum
 * reordered.
 */
#include <string.h>
#include "internal.h"

#if defined __GNUC__
#pragma GCC diagnostic ignored                                                                     \
    "-Wpsabi" /* vectors pass between static functions of one file only */
#endif

typedef double v4 __attribute__((vector_size(32), aligned(8), may_alias));
typedef uint64_t u4 __attribute__((vector_size(32), aligned(8), may_alias));

#define LANES 4u
#define INLINE TARGET static inline __attribute__((always_inline))
#define V(x) ((v4){(x), (x), (x), (x)})
#define U(x) ((u4){(x), (x), (x), (x)})
#define LOAD(p) (*(const v4 *)(const void *)(p))
#define STORE(p, v) (*(v4 *)(void *)(p) = (v))

/* Asks for what will be read in about ten blocks of ten dimensions, a page further on: the
 * processor's own guesses stop at the borders of pages. An address beyond the array is asked for in
 * vain, no more. */
/* gcc unrolls nothing by itself at this level, and clang where it pays. */
#if defined __clang__
#define UNROLLED
#else
#define UNROLLED _Pragma("GCC unroll 4")
#endif
#define LINE_BYTES 64u
#define FETCH(p) __builtin_prefetch((const void *)((uintptr_t)(p) + FETCH_BYTES))

INLINE double sum_of(v4 a)
{
    return (a[0] + a[1]) + (a[2] + a[3]);
}

INLINE v4 choose(u4 mask, v4 yes, v4 no)
{
    return (v4)(((u4)yes & mask) | ((u4)no & ~mask));
}

/* As tacit_linalg_exp, lane by lane. */
INLINE v4 exp_of(v4 x)
{
    x = choose((u4)(x < V(-EXP_LIMIT)), V(-EXP_LIMIT), x);
    x = choose((u4)(x > V(EXP_LIMIT)), V(EXP_LIMIT), x);
    v4 const shifted = x * V(LOG2_E) + V(ROUNDER);
    v4 const n = shifted - V(ROUNDER);
    v4 const r = (x - n * V(LN2_HIGH)) - n * V(LN2_LOW);
    v4 p = V(EXP_TERMS[0]);
    for (unsigned i = 1; i < EXP_TERM_COUNT; i++)
        p = p * r + V(EXP_TERMS[i]);
    return (v4)((u4)p + ((u4)shifted << 52));
}

/* As tacit_linalg_log. */
INLINE v4 log_of(v4 x)
{
    u4 const bits = (u4)x;
    u4 const exponent = (bits - U(HALF_ROOT_BITS) + U(ONE_BITS)) >> 52; /* biased */
    v4 const k = (v4)(exponent | U(MAGIC_BITS)) - V(MAGIC_BIASED);
    v4 const f = (v4)(bits - (exponent << 52) + U(ONE_BITS)) - V(1.0);
    v4 const s = f / (V(2.0) + f);
    v4 const square = s * s;
    v4 p = V(LOG_TERMS[0]);
    for (unsigned i = 1; i < LOG_TERM_COUNT; i++)
        p = p * square + V(LOG_TERMS[i]);
    v4 const twice = V(2.0) * s;
    return k * V(LN2_HIGH) + (twice + (twice * (square * p) + k * V(LN2_LOW)));
}

/* cos and sin of 2 pi u, for 0 <= u < 1. */
INLINE void turn(v4 u, v4 *cosine, v4 *sine)
{
    v4 const quarters = V(4.0) * u;
    v4 const shifted = quarters + V(ROUNDER);
    v4 const a = (quarters - (shifted - V(ROUNDER))) * V(HALF_PI);
    v4 const square = a * a;
    v4 s = V(SINE_TERMS[0]);
    v4 c = V(COSINE_TERMS[0]);
    for (unsigned i = 1; i < TURN_TERM_COUNT; i++) {
        s = s * square + V(SINE_TERMS[i]);
        c = c * square + V(COSINE_TERMS[i]);
    }
    s = a + a * (square * s);
    c = V(1.0) + square * c;
    u4 const quadrant = (u4)shifted;
    u4 const is_odd = U(0) - (quadrant & U(1));
    *cosine = (v4)((u4)choose(is_odd, s, c) ^ (((quadrant + U(1)) & U(2)) << 62));
    *sine = (v4)((u4)choose(is_odd, c, s) ^ ((quadrant & U(2)) << 62));
}

/* Midpoints (j + 1/2) 2^-32 of (0, 1). */
INLINE v4 uniform_of(u4 halves)
{
    return ((v4)(halves | U(MAGIC_BITS)) - V(0x1p52 - 0.5)) * V(0x1p-32);
}

/* Eight normals from four words: their cosines, then their sines. */
INLINE void eight_normals(u4 words, v4 *cosine, v4 *sine)
{
    v4 const square = V(-2.0) * log_of(uniform_of(words >> 32));
    v4 const radius = ROOT(square);
    turn(uniform_of(words & U(UINT32_MAX)), cosine, sine);
    *cosine = radius * *cosine;
    *sine = radius * *sine;
}

TARGET void NAME(normals)(const uint64_t *words, size_t count, double *normals)
{
    v4 cosine;
    v4 sine;
    size_t i = 0;
    for (; i + 2 * LANES <= count; i += 2 * LANES) {
        eight_normals(*(const u4 *)(const void *)(words + i / 2), &cosine, &sine);
        STORE(normals + i, cosine);
        STORE(normals + i + LANES, sine);
    }
    if (i == count)
        return;
    size_t const left = count - i;
    size_t const pairs = (left + 1) / 2;
    u4 last = U(0);
    memcpy(&last, words + i / 2, pairs * sizeof words[0]);
    eight_normals(last, &cosine, &sine);
    memcpy(normals + i, &cosine, pairs * sizeof normals[0]);
    memcpy(normals + i + pairs, &sine, (left - pairs) * sizeof normals[0]);
}

TARGET double NAME(dot)(uint32_t d, const double *a, const double *b)
{
    v4 sum = V(0.0);
    for (size_t i = 0; i < TACIT_LINALG_STRIDE(d); i += LANES)
        sum += LOAD(a + i) * LOAD(b + i);
    return sum_of(sum);
}

TARGET void NAME(rank_one)(uint32_t d, double weight, const double *x, double *m)
{
    size_t const stride = TACIT_LINALG_STRIDE(d);
    for (uint32_t i = 0; i < d; i++) {
        v4 const factor = V(x[i]);
        double *const row = m + i * stride;
        for (size_t j = 0; j < stride; j += LANES)
            STORE(row + j, LOAD(row + j) + V(weight) * (factor * LOAD(x + j))); /* symmetric */
    }
}

TARGET void NAME(multiply)(uint32_t d, const double *m, const double *x, double *y)
{
    size_t const stride = TACIT_LINALG_STRIDE(d);
    for (size_t j = 0; j < stride; j += LANES) {
        v4 sum = V(0.0);
        for (uint32_t i = 0; i < d; i++)
            sum += V(x[i]) * LOAD(m + i * stride + j);
        STORE(y + j, sum);
    }
}

/* Sixteen arms, a column a vector of four: q = sum_r x_r (m_rr x_r + 2 sum_{c<r} m_rc x_c). */
#define GROUPS 4u
TARGET static void sixteen_arms(uint32_t d, const double *m, const double *theta,
                                const double *columns, double *linear, double *quadratic,
                                double *square)
{
    size_t const stride = TACIT_LINALG_STRIDE(d);
    v4 z[GROUPS] = {V(0.0), V(0.0), V(0.0), V(0.0)};
    v4 q[GROUPS] = {V(0.0), V(0.0), V(0.0), V(0.0)};
    v4 n[GROUPS] = {V(0.0), V(0.0), V(0.0), V(0.0)};
    for (uint32_t r = 0; r < d; r++) {
        const double *const row = m + r * stride;
        v4 s0 = V(0.0);
        v4 s1 = V(0.0);
        v4 s2 = V(0.0);
        v4 s3 = V(0.0);
        for (uint32_t c = 0; c < r; c++) {
            const double *const at = columns + c * TACIT_LINALG_ARMS_AT_ONCE;
            v4 const weight = V(row[c]);
            s0 += weight * LOAD(at);
            s1 += weight * LOAD(at + LANES);
            s2 += weight * LOAD(at + 2 * LANES);
            s3 += weight * LOAD(at + 3 * LANES);
        }
        v4 const s[GROUPS] = {s0, s1, s2, s3};
        for (unsigned g = 0; g < GROUPS; g++) {
            v4 const x = LOAD(columns + r * TACIT_LINALG_ARMS_AT_ONCE + g * LANES);
            q[g] += x * (V(row[r]) * x + V(2.0) * s[g]);
            z[g] += V(theta[r]) * x;
            n[g] += x * x;
        }
    }
    for (unsigned g = 0; g < GROUPS; g++) {
        STORE(linear + g * LANES, z[g]);
        STORE(quadratic + g * LANES, q[g]);
        STORE(square + g * LANES, n[g]);
    }
}

TARGET void NAME(arms)(uint32_t d, const double *m, const double *theta, uint32_t arm_count,
                       const double *rows, double *linear, double *quadratic, double *square)
{
    double columns[TACIT_LINALG_DIMENSION_MAX * TACIT_LINALG_ARMS_AT_ONCE];
    double z[TACIT_LINALG_ARMS_AT_ONCE];
    double q[TACIT_LINALG_ARMS_AT_ONCE];
    double n[TACIT_LINALG_ARMS_AT_ONCE];
    for (uint32_t first = 0; first < arm_count; first += TACIT_LINALG_ARMS_AT_ONCE) {
        uint32_t const rest = arm_count - first;
        uint32_t const count = rest < TACIT_LINALG_ARMS_AT_ONCE ? rest : TACIT_LINALG_ARMS_AT_ONCE;
        if (count < TACIT_LINALG_ARMS_AT_ONCE)
            memset(columns, 0, d * TACIT_LINALG_ARMS_AT_ONCE * sizeof columns[0]);
        const double *const from = rows + (size_t)first * d;
        for (uint32_t c = 0; c < d; c++)
            for (uint32_t k = 0; k < count; k++)
                columns[c * TACIT_LINALG_ARMS_AT_ONCE + k] = from[(size_t)k * d + c];
        sixteen_arms(d, m, theta, columns, z, q, n);
        memcpy(linear + first, z, count * sizeof z[0]);
        memcpy(quadratic + first, q, count * sizeof q[0]);
        memcpy(square + first, n, count * sizeof n[0]);
    }
}

TARGET bool NAME(cholesky)(uint32_t d, const double *m, double shift, double *factor,
                           double *reciprocal)
{
    size_t const stride = TACIT_LINALG_STRIDE(d);
    memcpy(factor, m, TACIT_LINALG_MATRIX(d) * sizeof factor[0]);
    for (uint32_t i = 0; i < d; i++)
        factor[i * stride + i] += shift;
    for (uint32_t j = 0; j < d; j++) {
        double *const row = factor + j * stride;
        if (!(row[j] > 0))
            return false;
        double const root = sqrt(row[j]);
        double const scale = 1.0 / root;
        reciprocal[j] = scale;
        for (size_t k = j / LANES * LANES; k < stride; k += LANES)
            STORE(row + k, LOAD(row + k) * V(scale));
        row[j] = root;
        for (uint32_t i = j + 1; i < d; i++) {
            v4 const weight = V(row[i]);
            double *const below = factor + i * stride;
            for (size_t k = i / LANES * LANES; k < stride; k += LANES)
                STORE(below + k, LOAD(below + k) - weight * LOAD(row + k));
        }
    }
    return true;
}

/* Sixteen numbers: four vectors side by side, so that their chains of operations wait for
 * themselves only, and a constant is fetched once for all. */
struct sixteen {
    v4 a;
    v4 b;
    v4 c;
    v4 d;
};

/* x y + z, rounded twice, for a number z. */
INLINE struct sixteen times_plus(struct sixteen x, struct sixteen y, double z)
{
    return (struct sixteen){x.a * y.a + V(z), x.b * y.b + V(z), x.c * y.c + V(z), x.d * y.d + V(z)};
}

/* 1/(1 + exp(-z)) for |z| <= NEAR_LIMIT. */
INLINE v4 logistic_near(v4 z)
{
    v4 const square = z * z;
    v4 p = V(NEAR_ABOVE[0]);
    v4 q = V(NEAR_BELOW[0]);
    for (unsigned i = 1; i < NEAR_TERM_COUNT; i++) {
        p = p * square + V(NEAR_ABOVE[i]);
        q = q * square + V(NEAR_BELOW[i]);
    }
    return V(0.5) + z * p / q;
}

/* The same of sixteen. */
INLINE struct sixteen logistics_near(struct sixteen z)
{
    struct sixteen const square = {z.a * z.a, z.b * z.b, z.c * z.c, z.d * z.d};
    struct sixteen p = {V(NEAR_ABOVE[0]), V(NEAR_ABOVE[0]), V(NEAR_ABOVE[0]), V(NEAR_ABOVE[0])};
    struct sixteen q = {V(NEAR_BELOW[0]), V(NEAR_BELOW[0]), V(NEAR_BELOW[0]), V(NEAR_BELOW[0])};
    UNROLLED
    for (unsigned i = 1; i < NEAR_TERM_COUNT; i++) {
        p = times_plus(p, square, NEAR_ABOVE[i]);
        q = times_plus(q, square, NEAR_BELOW[i]);
    }
    return (struct sixteen){V(0.5) + z.a * p.a / q.a, V(0.5) + z.b * p.b / q.b,
                            V(0.5) + z.c * p.c / q.c, V(0.5) + z.d * p.d / q.d};
}

/* mu(z) in four lanes; no |z| is above `reach`. */
INLINE v4 mean_of(const struct tacit_linalg_mean *mean, double reach, v4 z)
{
    u4 is_near;
    switch (mean->link) {
    case TACIT_LINALG_LOGISTIC:
        if (reach <= NEAR_LIMIT)
            return logistic_near(z);
        is_near = (u4)(z <= V(NEAR_LIMIT)) & (u4)(z >= V(-NEAR_LIMIT));
        return choose(is_near, logistic_near(z), V(1.0) / (V(1.0) + exp_of(-z)));
    case TACIT_LINALG_POISSON:
        return exp_of(choose((u4)(z > V(mean->cap)), V(mean->cap), z));
    case TACIT_LINALG_PROBIT:
        for (unsigned lane = 0; lane < LANES; lane++)
            z[lane] = tacit_linalg_normal_cdf(z[lane]);
        return z;
    case TACIT_LINALG_IDENTITY:
        return z;
    }
    return z;
}

INLINE struct sixteen means_of(const struct tacit_linalg_mean *mean, double reach, struct sixteen z)
{
    if (mean->link == TACIT_LINALG_LOGISTIC && reach <= NEAR_LIMIT)
        return logistics_near(z);
    return (struct sixteen){mean_of(mean, reach, z.a), mean_of(mean, reach, z.b),
                            mean_of(mean, reach, z.c), mean_of(mean, reach, z.d)};
}

/* Four numbers of a block, from this one on. */
INLINE v4 at(bool is_single, const void *block, size_t index)
{
    if (is_single)
        return WIDEN((const float *)block + index);
    return LOAD((const double *)block + index);
}

/* Adds the gradient of a block of eight to d sums of four lanes each. */
INLINE void one_block(uint32_t d, const struct tacit_linalg_mean *mean, double reach,
                      bool is_single, const void *block, const double *theta, v4 *sums)
{
    v4 z0 = V(0.0);
    v4 z1 = V(0.0);
    for (uint32_t c = 0; c < d; c++) {
        z0 += V(theta[c]) * at(is_single, block, c * TACIT_LINALG_BLOCK);
        z1 += V(theta[c]) * at(is_single, block, c * TACIT_LINALG_BLOCK + LANES);
    }
    size_t const reward = (size_t)d * TACIT_LINALG_BLOCK;
    v4 const r0 = mean_of(mean, reach, z0) - at(is_single, block, reward);
    v4 const r1 = mean_of(mean, reach, z1) - at(is_single, block, reward + LANES);
    for (uint32_t c = 0; c < d; c++)
        sums[c] += r0 * at(is_single, block, c * TACIT_LINALG_BLOCK) +
                   r1 * at(is_single, block, c * TACIT_LINALG_BLOCK + LANES);
}

INLINE size_t block_bytes(uint32_t d, bool is_single)
{
    return ((size_t)d + 1) * TACIT_LINALG_BLOCK * (is_single ? sizeof(float) : sizeof(double));
}

/* Coordinate c of two blocks. */
INLINE struct sixteen coordinate(bool is_single, const void *block, const void *other, size_t c)
{
    size_t const index = c * TACIT_LINALG_BLOCK;
    return (struct sixteen){at(is_single, block, index), at(is_single, block, index + LANES),
                            at(is_single, other, index), at(is_single, other, index + LANES)};
}

/* x' theta of sixteen samples. What was widened is kept for the second time that it is needed:
 * stores cost nothing here, conversions do. */
INLINE struct sixteen products(uint32_t d, bool is_single, const void *block, const double *theta,
                               struct sixteen *wide)
{
    size_t const bytes = block_bytes(d, is_single);
    const void *const other = (const unsigned char *)block + bytes;
    struct sixteen z = {V(0.0), V(0.0), V(0.0), V(0.0)};
    for (size_t i = 0; i < 2 * bytes; i += LINE_BYTES)
        FETCH((const unsigned char *)block + i);
    UNROLLED
    for (size_t c = 0; c < d; c++) {
        struct sixteen const x = coordinate(is_single, block, other, c);
        v4 const weight = V(theta[c]);
        wide[c] = x;
        z.a += weight * x.a;
        z.b += weight * x.b;
        z.c += weight * x.c;
        z.d += weight * x.d;
    }
    return z;
}

/* mu(z) - y of two blocks. */
INLINE struct sixteen residuals(uint32_t d, const struct tacit_linalg_mean *mean, double reach,
                                bool is_single, const void *block, struct sixteen z)
{
    const void *const other = (const unsigned char *)block + block_bytes(d, is_single);
    struct sixteen const mu = means_of(mean, reach, z);
    struct sixteen const y = coordinate(is_single, block, other, d);
    return (struct sixteen){mu.a - y.a, mu.b - y.b, mu.c - y.c, mu.d - y.d};
}

INLINE v4 sum_of_sixteen(struct sixteen r, const struct sixteen *x)
{
    return (r.a * x->a + r.b * x->b) + (r.c * x->c + r.d * x->d);
}

/* Of two blocks side by side. */
INLINE void two_blocks(uint32_t d, const struct tacit_linalg_mean *mean, double reach,
                       bool is_single, const void *block, const double *theta, v4 *sums)
{
    struct sixteen wide[TACIT_LINALG_DIMENSION_MAX];
    struct sixteen const z = products(d, is_single, block, theta, wide);
    struct sixteen const r = residuals(d, mean, reach, is_single, block, z);
    for (size_t c = 0; c < d; c++)
        sums[c] += sum_of_sixteen(r, &wide[c]);
}

/* Twice two: while the means of one pair wait for themselves, the other's are worked on. */
INLINE void four_blocks(uint32_t d, const struct tacit_linalg_mean *mean, double reach,
                        bool is_single, const void *block, const double *theta, v4 *sums)
{
    const void *const next = (const unsigned char *)block + 2 * block_bytes(d, is_single);
    struct sixteen wide[TACIT_LINALG_DIMENSION_MAX];
    struct sixteen wide_next[TACIT_LINALG_DIMENSION_MAX];
    struct sixteen const z = products(d, is_single, block, theta, wide);
    struct sixteen const z_next = products(d, is_single, next, theta, wide_next);
    struct sixteen const r = residuals(d, mean, reach, is_single, block, z);
    struct sixteen const r_next = residuals(d, mean, reach, is_single, next, z_next);
    UNROLLED
    for (size_t c = 0; c < d; c++)
        sums[c] = (sums[c] + sum_of_sixteen(r, &wide[c])) + sum_of_sixteen(r_next, &wide_next[c]);
}

/* Both layouts; the order of the sum is the same. */
INLINE void gradient_of(uint32_t d, const struct tacit_linalg_mean *mean, double reach,
                        bool is_single, const void *samples, size_t first, size_t end,
                        const double *theta, v4 *sums)
{
    size_t const bytes = block_bytes(d, is_single);
    size_t index = first / TACIT_LINALG_BLOCK;
    while (index * TACIT_LINALG_BLOCK < end) {
        double part[(TACIT_LINALG_DIMENSION_MAX + 1) * TACIT_LINALG_BLOCK];
        const void *const block = (const unsigned char *)samples + index * bytes;
        bool const is_whole = index * TACIT_LINALG_BLOCK >= first;
        size_t const left = end / TACIT_LINALG_BLOCK - index; /* whole ones */
        if (is_whole && left >= 4) {
            four_blocks(d, mean, reach, is_single, block, theta, sums);
            index += 4;
        } else if (is_whole && left >= 2) {
            two_blocks(d, mean, reach, is_single, block, theta, sums);
            index += 2;
        } else if (linalg_is_partial(index, first, end)) {
            linalg_part_of_block(d, is_single, block, index, first, end, part);
            one_block(d, mean, reach, false, part, theta, sums);
            index++;
        } else {
            one_block(d, mean, reach, is_single, block, theta, sums);
            index++;
        }
    }
}

TARGET void NAME(gradient)(uint32_t d, const struct tacit_linalg_mean *mean, double reach,
                           bool is_single, const void *samples, size_t first, size_t end,
                           const double *theta, double *gradient)
{
    v4 sums[TACIT_LINALG_DIMENSION_MAX];
    for (uint32_t c = 0; c < d; c++)
        sums[c] = V(0.0);
    if (is_single)
        gradient_of(d, mean, reach, true, samples, first, end, theta, sums);
    else
        gradient_of(d, mean, reach, false, samples, first, end, theta, sums);
    memset(gradient, 0, TACIT_LINALG_STRIDE(d) * sizeof gradient[0]);
    for (uint32_t c = 0; c < d; c++)
        gradient[c] = sum_of(sums[c]);
}
