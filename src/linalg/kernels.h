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
#if defined __GNUC__ && !defined __clang__
/* Else gcc writes out chains that stand side by side here one after the other. */
#pragma GCC optimize("no-tree-ter")
#endif

typedef double v4 __attribute__((vector_size(32), aligned(8), may_alias));
typedef float f4 __attribute__((vector_size(16), aligned(4), may_alias));
typedef float f8 __attribute__((vector_size(32), aligned(4), may_alias));
typedef uint64_t u4 __attribute__((vector_size(32), aligned(8), may_alias));

#define LANES 4u
#define ALIGNED _Alignas(64) /* no vector of an array lies across two lines of a cache */
#define INLINE TARGET static inline __attribute__((always_inline))
#define V(x) ((v4){(x), (x), (x), (x)})
#define U(x) ((u4){(x), (x), (x), (x)})
#define LOAD(p) (*(const v4 *)(const void *)(p))
#define STORE(p, v) (*(v4 *)(void *)(p) = (v))

/* gcc unrolls nothing by itself at this level, and clang where it pays. */
#if defined __clang__
#define UNROLLED
#define UNROLLED_EIGHT
#else
#define UNROLLED _Pragma("GCC unroll 4")
#define UNROLLED_EIGHT _Pragma("GCC unroll 8")
#endif
/* Asks for what will be read in about ten blocks of ten dimensions, a page further on: the
 * processor's own guesses stop at the borders of pages. An address beyond the array is asked for in
 * vain, no more. */
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

/* Sixteen numbers or less, in `groups` vectors side by side: the steps of one chain run while
 * another's wait. */
#define GROUPS 4u
#define SIDE_BY_SIDE (GROUPS * LANES)
struct lanes {
    v4 of[GROUPS];
};
#define EACH(g, groups) UNROLLED for (unsigned g = 0; g < (groups); g++)

/* A polynomial in x, highest term first. */
INLINE struct lanes polynomial(unsigned groups, unsigned count, const double *terms,
                               const struct lanes *x)
{
    struct lanes p;
    EACH(g, groups) p.of[g] = V(terms[0]);
    for (unsigned i = 1; i < count; i++)
        EACH(g, groups) p.of[g] = p.of[g] * x->of[g] + V(terms[i]);
    return p;
}

/* Midpoints (j + 1/2) 2^-32 of (0, 1). */
INLINE v4 uniform_of(u4 halves)
{
    return ((v4)(halves | U(MAGIC_BITS)) - V(0x1p52 - 0.5)) * V(0x1p-32);
}

/* Words on their way to normals: a step is taken for all of them before the next one, so that who
 * waits for a quotient or a root holds up nobody. */
#define WORDS_AT_ONCE 128u
struct polar {
    ALIGNED double s[WORDS_AT_ONCE]; /* as in tacit_linalg_log; then -2 log x */
    ALIGNED double k[WORDS_AT_ONCE];
    ALIGNED double u[WORDS_AT_ONCE]; /* the angle, 0 <= u < 1 */
};

/* Words into the logarithm's s and k, by their upper halves, and angles, by their lower ones. */
INLINE void split(const uint64_t *words, size_t i, struct polar *polar)
{
    u4 const word = *(const u4 *)(const void *)(words + i);
    u4 const bits = (u4)uniform_of(word >> 32);
    u4 const exponent = (bits - U(HALF_ROOT_BITS) + U(ONE_BITS)) >> 52; /* biased */
    v4 const f = (v4)(bits - (exponent << 52) + U(ONE_BITS)) - V(1.0);
    STORE(polar->k + i, (v4)(exponent | U(MAGIC_BITS)) - V(MAGIC_BIASED));
    STORE(polar->s + i, f / (V(2.0) + f));
    STORE(polar->u + i, uniform_of(word & U(UINT32_MAX)));
}

/* s becomes -2 log x, the logarithm as in tacit_linalg_log. */
INLINE void logs_of(unsigned groups, size_t i, struct polar *polar)
{
    struct lanes square;
    struct lanes p;
    EACH(g, groups)
    {
        v4 const s = LOAD(polar->s + i + g * LANES);
        square.of[g] = s * s;
        p.of[g] = V(LOG_TERMS[0]);
    }
    for (unsigned term = 1; term < LOG_TERM_COUNT; term++)
        EACH(g, groups) p.of[g] = p.of[g] * square.of[g] + V(LOG_TERMS[term]);
    EACH(g, groups)
    {
        v4 const k = LOAD(polar->k + i + g * LANES);
        v4 const twice = V(2.0) * LOAD(polar->s + i + g * LANES);
        v4 const tail = twice * (square.of[g] * p.of[g]) + k * V(LN2_LOW);
        STORE(polar->s + i + g * LANES, V(-2.0) * (k * V(LN2_HIGH) + (twice + tail)));
    }
}

/* cos and sin of 2 pi u times the radii: of each four words their cosines, then their sines. Roots
 * are asked for first, since they take longest. */
INLINE void turn(unsigned groups, size_t i, const struct polar *polar, double *normals)
{
    struct lanes a;
    struct lanes square;
    struct lanes shifted;
    struct lanes radii;
    struct lanes sines;
    struct lanes cosines;
    EACH(g, groups)
    {
        v4 const quarters = V(4.0) * LOAD(polar->u + i + g * LANES);
        radii.of[g] = ROOT(LOAD(polar->s + i + g * LANES));
        shifted.of[g] = quarters + V(ROUNDER);
        a.of[g] = (quarters - (shifted.of[g] - V(ROUNDER))) * V(HALF_PI);
        square.of[g] = a.of[g] * a.of[g];
        sines.of[g] = V(SINE_TERMS[0]);
        cosines.of[g] = V(COSINE_TERMS[0]);
    }
    for (unsigned term = 1; term < TURN_TERM_COUNT; term++) {
        EACH(g, groups) sines.of[g] = sines.of[g] * square.of[g] + V(SINE_TERMS[term]);
        EACH(g, groups) cosines.of[g] = cosines.of[g] * square.of[g] + V(COSINE_TERMS[term]);
    }
    EACH(g, groups)
    {
        v4 const s = a.of[g] + a.of[g] * (square.of[g] * sines.of[g]);
        v4 const c = V(1.0) + square.of[g] * cosines.of[g];
        u4 const quadrant = (u4)shifted.of[g];
        u4 const is_odd = U(0) - (quadrant & U(1));
        v4 const cosine = (v4)((u4)choose(is_odd, s, c) ^ (((quadrant + U(1)) & U(2)) << 62));
        v4 const sine = (v4)((u4)choose(is_odd, c, s) ^ ((quadrant & U(2)) << 62));
        STORE(normals + 2 * g * LANES, radii.of[g] * cosine);
        STORE(normals + (2 * g + 1) * LANES, radii.of[g] * sine);
    }
}

/* Of whole groups of vectors. */
INLINE void some_normals(unsigned groups, size_t count, const uint64_t *words, double *normals)
{
    struct polar polar;
    for (size_t i = 0; i < count; i += LANES)
        split(words, i, &polar);
    for (size_t i = 0; i < count; i += groups * LANES)
        logs_of(groups, i, &polar);
    for (size_t i = 0; i < count; i += groups * LANES)
        turn(groups, i, &polar, normals + 2 * i);
}

TARGET void NAME(normals)(const uint64_t *words, size_t count, double *normals)
{
    while (count >= 2 * SIDE_BY_SIDE) {
        size_t const rest = count / (2 * SIDE_BY_SIDE) * SIDE_BY_SIDE;
        size_t const part = rest < WORDS_AT_ONCE ? rest : WORDS_AT_ONCE;
        some_normals(GROUPS, part, words, normals);
        words += part;
        normals += 2 * part;
        count -= 2 * part;
    }
    if (count == 0)
        return;
    size_t const whole = count / (2 * LANES) * (2 * LANES); /* of the last four words not all */
    size_t const left = count - whole;
    size_t const pairs = (left + 1) / 2;
    uint64_t last[SIDE_BY_SIDE] = {0};
    ALIGNED double drawn[2 * SIDE_BY_SIDE];
    memcpy(last, words, (whole / 2 + pairs) * sizeof last[0]);
    if (count <= 2 * LANES)
        some_normals(1, LANES, last, drawn);
    else
        some_normals(GROUPS, SIDE_BY_SIDE, last, drawn);
    memcpy(normals, drawn, (whole + pairs) * sizeof drawn[0]);
    memcpy(normals + whole + pairs, drawn + whole + LANES, (left - pairs) * sizeof drawn[0]);
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

/* Sixteen numbers: four vectors side by side, so that their chains of operations wait for
 * themselves only, and a constant is fetched once for all. */
struct sixteen {
    v4 a;
    v4 b;
    v4 c;
    v4 d;
};

/* Four rows from `first` on; beyond the last one, that one again. */
struct rows {
    const double *a;
    const double *b;
    const double *c;
    const double *d;
};

INLINE struct rows rows_of(uint32_t d, uint32_t count, const double *rows, uint32_t first)
{
    size_t const rest = count - first - 1;
    const double *const row = rows + (size_t)first * d;
    return (struct rows){row, row + (rest < 1 ? rest : 1) * d, row + (rest < 2 ? rest : 2) * d,
                         row + (rest < 3 ? rest : 3) * d};
}

INLINE v4 column_of(struct rows rows, uint32_t c)
{
    return (v4){rows.a[c], rows.b[c], rows.c[c], rows.d[c]};
}

/* Columns c and c + 1. */
struct columns {
    v4 left;
    v4 right;
};

INLINE struct columns columns_of(struct rows rows, uint32_t c)
{
    v4 const even = HALVES(rows.a + c, rows.c + c);
    v4 const odd = HALVES(rows.b + c, rows.d + c);
    return (struct columns){__builtin_shufflevector(even, odd, 0, 4, 2, 6),
                            __builtin_shufflevector(even, odd, 1, 5, 3, 7)};
}

/* y += weight x in as many of the four vectors as there are. */
INLINE struct sixteen add_to(unsigned groups, struct sixteen y, v4 weight, struct sixteen x)
{
    y.a += weight * x.a;
    if (groups > 1)
        y.b = y.b + weight * x.b;
    if (groups > 2)
        y.c = y.c + weight * x.c;
    if (groups > 3)
        y.d = y.d + weight * x.d;
    return y;
}

INLINE struct sixteen arms_at(unsigned groups, const double *columns, uint32_t c)
{
    const double *const at = columns + (size_t)c * TACIT_LINALG_ARMS_AT_ONCE;
    struct sixteen x = {LOAD(at), V(0.0), V(0.0), V(0.0)};
    if (groups > 1)
        x.b = LOAD(at + LANES);
    if (groups > 2)
        x.c = LOAD(at + 2 * LANES);
    if (groups > 3)
        x.d = LOAD(at + 3 * LANES);
    return x;
}

INLINE void store_arms(unsigned groups, struct sixteen x, double *out)
{
    STORE(out, x.a);
    if (groups > 1)
        STORE(out + LANES, x.b);
    if (groups > 2)
        STORE(out + 2 * LANES, x.c);
    if (groups > 3)
        STORE(out + 3 * LANES, x.d);
}

/* q += x (m_rr x + 2 s), in four lanes. */
INLINE v4 form_of(v4 q, v4 x, double diagonal, v4 s)
{
    return q + x * (V(diagonal) * x + V(2.0) * s);
}

/* Up to sixteen arms, a column a vector of four:
 * q = sum_r x_r (m_rr x_r + 2 sum_{c<r} m_rc x_c). */
INLINE void forms_of(unsigned groups, uint32_t d, const double *m, const double *columns,
                     double *quadratic)
{
    size_t const stride = TACIT_LINALG_STRIDE(d);
    struct sixteen const zero = {V(0.0), V(0.0), V(0.0), V(0.0)};
    struct sixteen q = zero;
    for (uint32_t r = 0; r < d; r++) {
        const double *const row = m + r * stride;
        struct sixteen s = zero;
        UNROLLED
        for (uint32_t c = 0; c < r; c++)
            s = add_to(groups, s, V(row[c]), arms_at(groups, columns, c));
        struct sixteen const x = arms_at(groups, columns, r);
        q.a = form_of(q.a, x.a, row[r], s.a);
        if (groups > 1)
            q.b = form_of(q.b, x.b, row[r], s.b);
        if (groups > 2)
            q.c = form_of(q.c, x.c, row[r], s.c);
        if (groups > 3)
            q.d = form_of(q.d, x.d, row[r], s.d);
    }
    store_arms(groups, q, quadratic);
}

/* Of them x' theta and |x|^2. */
INLINE void some_arms(unsigned groups, uint32_t d, const double *m, const double *theta,
                      const double *columns, double *linear, double *quadratic, double *square)
{
    struct sixteen z = {V(0.0), V(0.0), V(0.0), V(0.0)};
    struct sixteen n = z;
    for (uint32_t r = 0; r < d; r++) {
        struct sixteen const x = arms_at(groups, columns, r);
        z = add_to(groups, z, V(theta[r]), x);
        n.a += x.a * x.a;
        if (groups > 1)
            n.b = n.b + x.b * x.b;
        if (groups > 2)
            n.c = n.c + x.c * x.c;
        if (groups > 3)
            n.d = n.d + x.d * x.d;
    }
    store_arms(groups, z, linear);
    store_arms(groups, n, square);
    forms_of(groups, d, m, columns, quadratic);
}

TARGET void NAME(arms)(uint32_t d, const double *m, const double *theta, uint32_t arm_count,
                       const double *rows, double *linear, double *quadratic, double *square)
{
    ALIGNED double columns[TACIT_LINALG_DIMENSION_MAX * TACIT_LINALG_ARMS_AT_ONCE];
    double z[TACIT_LINALG_ARMS_AT_ONCE];
    double q[TACIT_LINALG_ARMS_AT_ONCE];
    double n[TACIT_LINALG_ARMS_AT_ONCE];
    for (uint32_t first = 0; first < arm_count; first += TACIT_LINALG_ARMS_AT_ONCE) {
        uint32_t const rest = arm_count - first;
        uint32_t const count = rest < TACIT_LINALG_ARMS_AT_ONCE ? rest : TACIT_LINALG_ARMS_AT_ONCE;
        for (uint32_t k = 0; k < count; k += LANES) {
            struct rows const four = rows_of(d, arm_count, rows, first + k);
            uint32_t c = 0;
            for (; c + 2 <= d; c += 2) {
                struct columns const x = columns_of(four, c);
                STORE(columns + c * TACIT_LINALG_ARMS_AT_ONCE + k, x.left);
                STORE(columns + (c + 1) * TACIT_LINALG_ARMS_AT_ONCE + k, x.right);
            }
            if (c < d)
                STORE(columns + c * TACIT_LINALG_ARMS_AT_ONCE + k, column_of(four, c));
        }
        if (count > 3 * LANES)
            some_arms(4, d, m, theta, columns, z, q, n);
        else if (count > 2 * LANES)
            some_arms(3, d, m, theta, columns, z, q, n);
        else if (count > LANES)
            some_arms(2, d, m, theta, columns, z, q, n);
        else
            some_arms(1, d, m, theta, columns, z, q, n);
        memcpy(linear + first, z, count * sizeof z[0]);
        memcpy(quadratic + first, q, count * sizeof q[0]);
        memcpy(square + first, n, count * sizeof n[0]);
    }
}

TARGET void NAME(linear)(uint32_t d, const double *theta, uint32_t count, const double *rows,
                         double *products)
{
    for (uint32_t first = 0; first < count; first += LANES) {
        struct rows const four = rows_of(d, count, rows, first);
        ALIGNED double z[LANES];
        v4 sum = V(0.0);
        uint32_t c = 0;
        for (; c + 2 <= d; c += 2) {
            struct columns const x = columns_of(four, c);
            sum += V(theta[c]) * x.left;
            sum += V(theta[c + 1]) * x.right;
        }
        if (c < d)
            sum += V(theta[c]) * column_of(four, c);
        STORE(z, sum);
        for (uint32_t k = 0; k < LANES && first + k < count; k++)
            products[first + k] = z[k];
    }
}

/* Rounded to 24 bits (Veltkamp 1968), in double arithmetic alone: gcc 12 drops a conversion to
 * float and back where it makes vectors of it. */
INLINE v4 single_of(v4 x)
{
    v4 const wide = x * V(SINGLE_SPLIT);
    return wide - (wide - x);
}

#define ROWS_AT_ONCE 64u
/* Where four do not go into d, the last four numbers overlap with those before. */
INLINE void scale_row(uint32_t d, double scale, double *row)
{
    uint32_t c = 0;
    if (d >= LANES) {
        v4 const last = LOAD(row + d - LANES);
        for (; c + LANES < d; c += LANES)
            STORE(row + c, single_of(V(scale) * LOAD(row + c)));
        STORE(row + d - LANES, single_of(V(scale) * last));
        return;
    }
    for (; c < d; c++)
        row[c] = single_of(V(scale * row[c]))[0];
}

/* First the factors of many rows, then the rows: who waits for a root holds up nobody. */
TARGET void NAME(unit_rows)(uint32_t d, double norm, uint32_t count, double *rows)
{
    ALIGNED double scale[ROWS_AT_ONCE];
    for (uint32_t first = 0; first < count; first += ROWS_AT_ONCE) {
        uint32_t const rest = count - first;
        uint32_t const end = rest < ROWS_AT_ONCE ? rest : ROWS_AT_ONCE;
        for (uint32_t k = 0; k < end; k += LANES) {
            struct rows const four = rows_of(d, count, rows, first + k);
            v4 square = V(0.0);
            uint32_t c = 0;
            for (; c + 2 <= d; c += 2) {
                struct columns const x = columns_of(four, c);
                square += x.left * x.left;
                square += x.right * x.right;
            }
            if (c < d)
                square += column_of(four, c) * column_of(four, c);
            STORE(scale + k, V(norm) / ROOT(square));
        }
        for (uint32_t k = 0; k < end; k++)
            scale_row(d, scale[k], rows + (size_t)(first + k) * d);
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

/* A copy of block `index`, in doubles, in which samples out of first <= s < end are zero, and so
 * add nothing. Four that are all out are not read. */
INLINE void part_of_block(uint32_t d, bool is_single, const void *block, size_t index, size_t first,
                          size_t end, double *part)
{
    for (size_t lane = 0; lane < TACIT_LINALG_BLOCK; lane += LANES) {
        size_t const sample = index * TACIT_LINALG_BLOCK + lane;
        bool const has_any = sample < end && sample + LANES > first;
        u4 mask = U(0);
        for (unsigned i = 0; i < LANES; i++)
            mask[i] = sample + i >= first && sample + i < end ? UINT64_MAX : 0;
        for (size_t number = lane; number <= (size_t)d * TACIT_LINALG_BLOCK + lane;
             number += TACIT_LINALG_BLOCK)
            STORE(part + number, has_any ? (v4)((u4)at(is_single, block, number) & mask) : V(0.0));
    }
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
    size_t const ahead = 2 * TACIT_LINALG_BLOCK * (is_single ? sizeof(float) : sizeof(double));
    UNROLLED
    for (size_t c = 0; c < d; c++) {
        struct sixteen const x = coordinate(is_single, block, other, c);
        FETCH((const unsigned char *)block + c * ahead);
        if (!is_single)
            FETCH((const unsigned char *)block + c * ahead + LINE_BYTES);
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
    ALIGNED struct sixteen wide[TACIT_LINALG_DIMENSION_MAX];
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
    ALIGNED struct sixteen wide[TACIT_LINALG_DIMENSION_MAX];
    ALIGNED struct sixteen wide_next[TACIT_LINALG_DIMENSION_MAX];
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
        ALIGNED double part[(TACIT_LINALG_DIMENSION_MAX + 1) * TACIT_LINALG_BLOCK];
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
            part_of_block(d, is_single, block, index, first, end, part);
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
    struct tacit_linalg_mean const near = {.link = TACIT_LINALG_LOGISTIC};
    v4 sums[TACIT_LINALG_DIMENSION_MAX];
    for (uint32_t c = 0; c < d; c++)
        sums[c] = V(0.0);
    if (is_single && mean->link == TACIT_LINALG_LOGISTIC && reach <= NEAR_LIMIT)
        gradient_of(d, &near, NEAR_LIMIT, true, samples, first, end, theta, sums);
    else if (is_single)
        gradient_of(d, mean, reach, true, samples, first, end, theta, sums);
    else
        gradient_of(d, mean, reach, false, samples, first, end, theta, sums);
    memset(gradient, 0, TACIT_LINALG_STRIDE(d) * sizeof gradient[0]);
    for (uint32_t c = 0; c < d; c++)
        gradient[c] = sum_of(sums[c]);
}

/* ---- Gram matrices ---- */

/* mu'(x' theta) of four samples of a block, from `lane` on: as tacit_linalg_slope has it, of a
 * product that is added up as `dot` does. */
INLINE v4 slopes_of(uint32_t d, const struct tacit_linalg_mean *mean, const double *block,
                    size_t lane, const double *theta)
{
    v4 sums[LANES] = {V(0.0), V(0.0), V(0.0), V(0.0)};
    for (uint32_t c = 0; c < d; c++)
        sums[c % LANES] += LOAD(block + (size_t)c * TACIT_LINALG_BLOCK + lane) * V(theta[c]);
    v4 z = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    if (mean->link == TACIT_LINALG_LOGISTIC) {
        v4 const mu = mean_of(mean, INFINITY, z);
        return mu * (V(1.0) - mu);
    }
    for (unsigned i = 0; i < LANES; i++)
        z[i] = tacit_linalg_slope(mean, z[i]);
    return z;
}

/* A block's samples one after the other, as doubles, zeros behind each. */
INLINE void rows_of_block(uint32_t d, const double *block, double *rows)
{
    size_t const stride = TACIT_LINALG_STRIDE(d);
    for (size_t lane = 0; lane < TACIT_LINALG_BLOCK; lane++)
        for (size_t c = 0; c < stride; c++)
            rows[lane * stride + c] = c < d ? block[c * TACIT_LINALG_BLOCK + lane] : 0;
}

/* m += weight x x' of eight samples, each sum in their order. */
INLINE void add_block(uint32_t d, const double *weights, const double *rows, double *m)
{
    size_t const stride = TACIT_LINALG_STRIDE(d);
    for (uint32_t i = 0; i < d; i++)
        for (size_t j = 0; j < stride; j += LANES) {
            v4 sum = LOAD(m + i * stride + j);
            for (size_t lane = 0; lane < TACIT_LINALG_BLOCK; lane++) {
                const double *const row = rows + lane * stride;
                sum += V(weights[lane]) * (V(row[i]) * LOAD(row + j)); /* symmetric */
            }
            STORE(m + i * stride + j, sum);
        }
}

/* The bits of rank_one, sample by sample, with weight mu'(x' theta); theta NULL: 1. Whole blocks.
 */
TARGET void NAME(gram)(uint32_t d, const struct tacit_linalg_mean *mean, bool is_single,
                       const void *blocks, size_t block_count, const double *theta, double *m)
{
    size_t const bytes = block_bytes(d, is_single);
    for (size_t index = 0; index < block_count; index++) {
        ALIGNED double wide[(TACIT_LINALG_DIMENSION_MAX + 1) * TACIT_LINALG_BLOCK];
        ALIGNED double rows[TACIT_LINALG_VECTOR_MAX * TACIT_LINALG_BLOCK];
        ALIGNED double weights[TACIT_LINALG_BLOCK];
        const void *const block = (const unsigned char *)blocks + index * bytes;
        for (size_t number = 0; number < (size_t)d * TACIT_LINALG_BLOCK; number += LANES)
            STORE(wide + number, at(is_single, block, number));
        for (size_t lane = 0; lane < TACIT_LINALG_BLOCK; lane += LANES)
            STORE(weights + lane, theta == NULL ? V(1.0) : slopes_of(d, mean, wide, lane, theta));
        rows_of_block(d, wide, rows);
        add_block(d, weights, rows, m);
    }
}

/* ---- Moments: second and third derivatives ---- */

/* A chunk's samples as columns: in double precision for H, in single precision for third
 * derivatives, whose share in a gradient is small (samples.c has the bound). */
struct chunk {
    ALIGNED double columns[TACIT_LINALG_EXPANSION_DIMENSION_MAX * LINALG_CHUNK];
    double first[LINALG_CHUNK]; /* mu'(z) */
    double once[LINALG_CHUNK];  /* that, times the coordinate at work */
    float narrow[TACIT_LINALG_EXPANSION_DIMENSION_MAX * LINALG_CHUNK];
    float second[LINALG_CHUNK];      /* mu''(z)/2 */
    float narrow_once[LINALG_CHUNK]; /* likewise */
    size_t count;                    /* with what fills up the last sixteen, which is zero */
};

#define FLOATS 8u
#define NARROW_STORE(p, v) (*(f4 *)(void *)(p) = NARROW(v))
#define STORE8(p, v) (*(f8 *)(void *)(p) = (v))
#define LOAD8(p) (*(const f8 *)(const void *)(p))

INLINE double sum_of_floats(f8 a)
{
    ALIGNED float eight[FLOATS];
    memcpy(eight, &a, sizeof eight);
    return sum_of(WIDEN(eight) + WIDEN(eight + LANES));
}

/* out[c] += sum of v x_c of so many columns, in two sums each. */
INLINE void wide_columns(unsigned columns, size_t count, const double *v, const double *x,
                         double *out)
{
    struct lanes even;
    struct lanes odd;
    EACH(c, columns) even.of[c] = odd.of[c] = V(0.0);
    for (size_t i = 0; i < count; i += 2 * LANES)
        EACH(c, columns)
        {
            const double *const at = x + (size_t)c * LINALG_CHUNK + i;
            even.of[c] += LOAD(v + i) * LOAD(at);
            odd.of[c] += LOAD(v + i + LANES) * LOAD(at + LANES);
        }
    EACH(c, columns) out[c] += sum_of(even.of[c] + odd.of[c]);
}

/* The same for first <= c < d. */
TARGET static void wide_columns_of(uint32_t d, uint32_t first, const struct chunk *chunk,
                                   const double *v, double *out)
{
    uint32_t c = first;
    for (; c + 4 <= d; c += 4)
        wide_columns(4, chunk->count, v, chunk->columns + (size_t)c * LINALG_CHUNK, out + c);
    if (c + 2 <= d) {
        wide_columns(2, chunk->count, v, chunk->columns + (size_t)c * LINALG_CHUNK, out + c);
        c += 2;
    }
    if (c < d)
        wide_columns(1, chunk->count, v, chunk->columns + (size_t)c * LINALG_CHUNK, out + c);
}

/* The same in single precision, of u v instead of v, in one sum each. */
#define NARROW_AT_ONCE 8u
INLINE void narrow_columns(unsigned columns, size_t count, const float *u, const float *v,
                           const float *x, double *out)
{
    f8 sums[NARROW_AT_ONCE] = {{0}};
    for (size_t i = 0; i < count; i += FLOATS) {
        f8 const weight = LOAD8(u + i) * LOAD8(v + i);
        UNROLLED_EIGHT
        for (unsigned c = 0; c < columns; c++)
            sums[c] += weight * LOAD8(x + (size_t)c * LINALG_CHUNK + i);
    }
    UNROLLED_EIGHT
    for (unsigned c = 0; c < columns; c++)
        out[c] += sum_of_floats(sums[c]);
}

INLINE void one_narrow(size_t count, const float *u, const float *v, const float *x, double *out)
{
    f8 a = {0};
    f8 b = {0};
    for (size_t i = 0; i < count; i += 2 * FLOATS) {
        a += LOAD8(u + i) * LOAD8(v + i) * LOAD8(x + i);
        b += LOAD8(u + i + FLOATS) * LOAD8(v + i + FLOATS) * LOAD8(x + i + FLOATS);
    }
    *out += sum_of_floats(a + b);
}

/* The last of an odd number of columns is summed in two sums. */
TARGET static void narrow_columns_of(uint32_t d, uint32_t first, const struct chunk *chunk,
                                     const float *u, const float *v, double *out)
{
    size_t const n = chunk->count;
    const float *x = chunk->narrow + (size_t)first * LINALG_CHUNK;
    uint32_t left = d - first;
    out += first;
    for (; left >= NARROW_AT_ONCE; left -= NARROW_AT_ONCE) {
        narrow_columns(NARROW_AT_ONCE, n, u, v, x, out);
        x += (size_t)NARROW_AT_ONCE * LINALG_CHUNK;
        out += NARROW_AT_ONCE;
    }
    uint32_t const even = left / 2 * 2;
    if (even == 6)
        narrow_columns(6, n, u, v, x, out);
    else if (even == 4)
        narrow_columns(4, n, u, v, x, out);
    else if (even == 2)
        narrow_columns(2, n, u, v, x, out);
    if (left > even)
        one_narrow(n, u, v, x + (size_t)even * LINALG_CHUNK, out + even);
}

/* The weights of a chunk's samples, logistic. */
INLINE void weigh(uint32_t d, const struct tacit_linalg_mean *mean, double reach,
                  const double *theta, struct chunk *chunk)
{
    for (size_t i = 0; i < chunk->count; i += SIDE_BY_SIDE) {
        const double *column = chunk->columns + i;
        struct lanes z;
        EACH(g, GROUPS) z.of[g] = V(0.0);
        for (uint32_t c = 0; c < d; c++, column += LINALG_CHUNK)
            EACH(g, GROUPS) z.of[g] += V(theta[c]) * LOAD(column + g * LANES);
        EACH(g, GROUPS)
        {
            v4 const mu = mean_of(mean, reach, z.of[g]);
            v4 const slope = mu * (V(1.0) - mu);
            STORE(chunk->first + i + g * LANES, slope);
            NARROW_STORE(chunk->second + i + g * LANES, slope * (V(0.5) - mu));
        }
    }
}

/* A block into the columns of its chunk. */
INLINE void spread_block(uint32_t d, bool is_single, const void *block, size_t first,
                         struct chunk *chunk)
{
    double *wide = chunk->columns + first;
    float *narrow = chunk->narrow + first;
    for (size_t c = 0; c < d; c++, wide += LINALG_CHUNK, narrow += LINALG_CHUNK) {
        v4 const low = at(is_single, block, c * TACIT_LINALG_BLOCK);
        v4 const high = at(is_single, block, c * TACIT_LINALG_BLOCK + LANES);
        STORE(wide, low);
        STORE(wide + LANES, high);
        NARROW_STORE(narrow, low);
        NARROW_STORE(narrow + LANES, high);
    }
}

/* Samples start <= s < n, a chunk at most. */
INLINE void load_chunk(uint32_t d, bool is_single, const void *samples, size_t start, size_t n,
                       struct chunk *chunk)
{
    size_t const end = n - start < LINALG_CHUNK ? n : start + LINALG_CHUNK;
    chunk->count = (end - start + 4 * LANES - 1) / (4 * LANES) * (4 * LANES);
    for (size_t first = 0; first < chunk->count; first += TACIT_LINALG_BLOCK) {
        ALIGNED double part[(TACIT_LINALG_DIMENSION_MAX + 1) * TACIT_LINALG_BLOCK];
        size_t const index = (start + first) / TACIT_LINALG_BLOCK;
        const void *const block =
            (const unsigned char *)samples + index * block_bytes(d, is_single);
        bool const is_whole = !linalg_is_partial(index, 0, end);
        if (!is_whole)
            part_of_block(d, is_single, block, index, 0, end, part);
        if (is_whole)
            spread_block(d, is_single, block, first, chunk);
        else
            spread_block(d, false, part, first, chunk);
    }
}

/* Row (a, b), a <= b, of `triples` gets the sums over c >= b, row a of `hessian` those over c >= a.
 */
TARGET void NAME(moments)(uint32_t d, const struct tacit_linalg_mean *mean, double reach,
                          bool is_single, const void *samples, size_t n, const double *theta,
                          double *hessian, double *triples)
{
    size_t const stride = TACIT_LINALG_STRIDE(d);
    struct chunk chunk;
    for (size_t start = 0; start < n; start += LINALG_CHUNK) {
        double *row = triples;
        load_chunk(d, is_single, samples, start, n, &chunk);
        weigh(d, mean, reach, theta, &chunk);
        for (uint32_t a = 0; a < d; a++) {
            const double *const x = chunk.columns + (size_t)a * LINALG_CHUNK;
            for (size_t i = 0; i < chunk.count; i += LANES)
                STORE(chunk.once + i, LOAD(chunk.first + i) * LOAD(x + i));
            wide_columns_of(d, a, &chunk, chunk.once, hessian + a * stride);
        }
        for (uint32_t a = 0; a < d; a++) {
            const float *const x = chunk.narrow + (size_t)a * LINALG_CHUNK;
            for (size_t i = 0; i < chunk.count; i += FLOATS)
                STORE8(chunk.narrow_once + i, LOAD8(chunk.second + i) * LOAD8(x + i));
            for (uint32_t b = a; b < d; b++) {
                narrow_columns_of(d, b, &chunk, chunk.narrow_once,
                                  chunk.narrow + (size_t)b * LINALG_CHUNK, row);
                row += stride;
            }
        }
    }
}

/* gradient += sum over pairs of their weight times their row. */
TARGET void NAME(bend)(uint32_t d, const double *triples, const double *weights, double *gradient)
{
    size_t const stride = TACIT_LINALG_STRIDE(d);
    size_t const pairs = TACIT_LINALG_PACKED(d);
    for (size_t c = 0; c < stride; c += LANES) {
        const double *const column = triples + c;
        v4 even = V(0.0);
        v4 odd = V(0.0);
        for (size_t p = 0; p + 1 < pairs; p += 2) {
            even += V(weights[p]) * LOAD(column + p * stride);
            odd += V(weights[p + 1]) * LOAD(column + (p + 1) * stride);
        }
        if (pairs % 2 == 1)
            even += V(weights[pairs - 1]) * LOAD(column + (pairs - 1) * stride);
        STORE(gradient + c, LOAD(gradient + c) + (even + odd));
    }
}
