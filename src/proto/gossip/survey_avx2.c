/* The survey, four arms at a time. Lane by lane it is the arithmetic of row.h, without
 * multiply-add: the bits are those of survey.c. */
#include "survey.h"
#if GOSSIP_HAS_AVX2
#include <immintrin.h>

#define TARGET __attribute__((target("avx2")))
#define INLINE TARGET static inline __attribute__((always_inline))
#define LANES GOSSIP_AVX2_ARMS_MIN

/* What the survey needs again and again, the numbers in all lanes. Copies: a compiler must believe
 * that whoever stores n~ can change what lies in the survey. */
struct needs {
    const uint64_t *count, *seen;
    uint64_t *next;
    const double *theta, *reach, *bonus;
    const uint32_t *neighbours; /* of the agent .. */
    uint64_t degree;            /* .. so many */
    size_t arms;
    __m256d near, far, width, alpha;
    __m256i agents; /* A */
    __m256i last;   /* lanes of a row's last four arms that are not among the four before, too */
};

/* What four lanes found so far. */
struct lanes {
    __m256d best;
    __m256i place;  /* the arm of `best` */
    __m256i behind; /* how many arms + 2^32 times the sum of their numbers */
};

INLINE __m256i larger(__m256i a, __m256i b)
{
    return _mm256_blendv_epi8(a, b, _mm256_cmpgt_epi64(b, a));
}

INLINE __m256i words_at(const uint64_t *words)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)words);
}

INLINE struct needs needs_of(const struct gossip_survey *survey)
{
    struct gossip_row const *const row = &survey->row;
    int64_t const again = (LANES - row->rule->arm_count % LANES) % LANES;
    return (struct needs){
        .count = row->count,
        .seen = row->seen,
        .next = survey->next,
        .theta = row->theta,
        .reach = row->reach,
        .bonus = row->bonus,
        .arms = row->rule->arm_count,
        .near = _mm256_set1_pd(survey->at.near),
        .far = _mm256_set1_pd(survey->at.far),
        .width = _mm256_set1_pd(row->rule->width),
        .alpha = _mm256_set1_pd(row->rule->alpha),
        .agents = _mm256_set1_epi64x(row->rule->agent_count),
        .last = _mm256_cmpgt_epi64(_mm256_set_epi64x(3, 2, 1, 0), _mm256_set1_epi64x(again - 1))};
}

/* (11), (12) */
INLINE __m256d radius_of(const struct needs *needs, bool noisy, size_t cell)
{
    __m256d const near = _mm256_mul_pd(needs->near, _mm256_loadu_pd(needs->reach + cell));
    if (!noisy)
        return _mm256_add_pd(near, needs->alpha);
    __m256d const far = _mm256_mul_pd(needs->far, _mm256_loadu_pd(needs->bonus + cell));
    __m256d const root = _mm256_sqrt_pd(_mm256_add_pd(far, near));
    return _mm256_add_pd(_mm256_mul_pd(needs->width, root), needs->alpha);
}

/* Line 5. known: the larger of n and n~. */
INLINE void tell(const struct needs *needs, size_t cell, size_t arm, __m256i known)
{
    for (uint64_t i = 0; i < needs->degree; i++)
        known = larger(known, words_at(needs->seen + needs->neighbours[i] * needs->arms + arm));
    _mm256_storeu_si256((__m256i *)(void *)(needs->next + cell), known);
}

/* Four arms from `arm` on, in row `first`; fresh: lanes whose arms nobody has counted yet. Arms
 * that come twice do not matter to a maximum. */
INLINE void look_at_four(const struct needs *needs, bool noisy, size_t first, size_t arm,
                         __m256i fresh, struct lanes *lanes)
{
    size_t const cell = first + arm;
    __m256i const count = words_at(needs->count + cell);
    __m256i const seen = words_at(needs->seen + cell);
    tell(needs, cell, arm, larger(count, seen));
    __m256i const arms =
        _mm256_add_epi64(_mm256_set1_epi64x((int64_t)arm), _mm256_set_epi64x(3, 2, 1, 0));
    __m256i const behind = _mm256_cmpgt_epi64(seen, _mm256_add_epi64(count, needs->agents));
    __m256i const tally = _mm256_add_epi64(_mm256_slli_epi64(arms, 32), _mm256_set1_epi64x(1));
    lanes->behind =
        _mm256_add_epi64(lanes->behind, _mm256_and_si256(_mm256_and_si256(behind, fresh), tally));
    __m256d const index =
        _mm256_add_pd(_mm256_loadu_pd(needs->theta + cell), radius_of(needs, noisy, cell));
    __m256i const wins = _mm256_castpd_si256(_mm256_cmp_pd(index, lanes->best, _CMP_GT_OQ));
    lanes->best = _mm256_max_pd(index, lanes->best);
    lanes->place = _mm256_blendv_epi8(lanes->place, arms, wins);
}

/* The lowest arm among those of the lanes that have the largest Q. */
INLINE uint32_t winner_of(const struct lanes *lanes)
{
    __m256d top = _mm256_max_pd(lanes->best, _mm256_permute2f128_pd(lanes->best, lanes->best, 1));
    top = _mm256_max_pd(top, _mm256_permute_pd(top, 5));
    __m256i const loses = _mm256_castpd_si256(_mm256_cmp_pd(lanes->best, top, _CMP_LT_OQ));
    __m256i const place = _mm256_or_si256(lanes->place, loses);
    __m128i const low =
        _mm_min_epu32(_mm256_castsi256_si128(place), _mm256_extracti128_si256(place, 1));
    return (uint32_t)_mm_cvtsi128_si32(_mm_min_epu32(low, _mm_shuffle_epi32(low, 0x4e)));
}

INLINE uint64_t sum_of(__m256i lanes)
{
    __m128i const two =
        _mm_add_epi64(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256(lanes, 1));
    return (uint64_t)_mm_cvtsi128_si64(_mm_add_epi64(two, _mm_unpackhi_epi64(two, two)));
}

INLINE void look_all(const struct gossip_survey *survey, bool noisy)
{
    struct needs needs = needs_of(survey);
    uint64_t const *const first_edge = survey->graph->first;
    uint32_t const *const neighbours = survey->graph->neighbours;
    struct gossip_sight *const sights = survey->sights;
    uint32_t const agents = survey->row.rule->agent_count;
    size_t first = 0;
    for (uint32_t agent = 0; agent < agents; agent++, first += needs.arms) {
        struct lanes lanes = {_mm256_set1_pd(-INFINITY), _mm256_setzero_si256(),
                              _mm256_setzero_si256()};
        needs.neighbours = neighbours + first_edge[agent];
        needs.degree = first_edge[agent + 1] - first_edge[agent];
        size_t arm = 0;
        for (; arm + LANES <= needs.arms; arm += LANES)
            look_at_four(&needs, noisy, first, arm, _mm256_set1_epi64x(-1), &lanes);
        if (arm < needs.arms)
            look_at_four(&needs, noisy, first, needs.arms - LANES, needs.last, &lanes);
        uint64_t const behind = sum_of(lanes.behind);
        sights[agent] =
            (struct gossip_sight){winner_of(&lanes), (uint32_t)behind, (uint32_t)(behind >> 32)};
    }
}

TARGET void gossip_survey_avx2(const struct gossip_survey *survey)
{
    TACIT_ASSERT(survey->row.rule->arm_count >= LANES);
    TACIT_ASSERT(survey->graph->agent_count == survey->row.rule->agent_count);
    if (survey->row.rule->noisy)
        look_all(survey, true);
    else
        look_all(survey, false);
}
#else
typedef int gossip_no_avx2; /* a file may not be empty */
#endif
