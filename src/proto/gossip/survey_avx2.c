/* The survey, four arms at a time. Lane by lane it is the arithmetic of row.h, without
 * multiply-add: the bits are those of survey.c. The last four of a row may overlap the four before:
 * a maximum does not mind arms that come twice. */
#include "survey.h"
#if GOSSIP_HAS_AVX2
#include <immintrin.h>

#define TARGET __attribute__((target("avx2")))
#define INLINE TARGET static inline __attribute__((always_inline))
#define LANES GOSSIP_AVX2_ARMS_MIN

/* The numbers in all lanes. Copies: a compiler must believe that whoever stores what was found can
 * change what lies in the survey. */
struct needs {
    const uint64_t *count, *seen;
    const double *theta, *reach, *bonus;
    size_t arms;
    __m256d near, far, width, alpha;
    __m256i agents; /* A */
};

/* What is found of an agent's arms: in each lane the largest Q so far, its arm, and how many are
 * behind. */
struct finding {
    __m256d largest;
    __m256i place, behind_count;
    __m256i arms; /* that come next */
};

INLINE __m256i words_at(const uint64_t *words)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)words);
}

/* Of pulls. Their upper halves are 0, so the lower ones decide: one instruction, where words take
 * four. */
INLINE __m256i larger(__m256i a, __m256i b)
{
    return _mm256_max_epu32(a, b);
}

/* ---- Line 5 ---- */

/* Each arm of `next` becomes the largest of four. */
INLINE void update_seen_of_four(uint64_t *next, const uint64_t *known, const uint64_t *own,
                                const uint64_t *one, const uint64_t *other, size_t arm)
{
    __m256i const here = larger(words_at(known + arm), words_at(own + arm));
    __m256i const there = larger(words_at(one + arm), words_at(other + arm));
    _mm256_storeu_si256((__m256i *)(void *)(next + arm), larger(here, there));
}

/* `next`, n~(t+1) of an agent, from what is `known` so far, its own n~ and those of two neighbours.
 */
INLINE void update_seen_of_row(uint64_t *next, const uint64_t *known, const uint64_t *own,
                               const uint64_t *one, const uint64_t *other, size_t arms)
{
    size_t arm = 0;
    for (; arm + LANES <= arms; arm += LANES)
        update_seen_of_four(next, known, own, one, other, arm);
    if (arm < arms)
        update_seen_of_four(next, known, own, one, other, arms - LANES);
}

/* Two neighbours at a time, the agent itself in place of one that is not there. */
TARGET static void update_seen(const struct gossip_survey *survey)
{
    uint64_t const *const edges = survey->graph->first;
    uint32_t const *const neighbours = survey->graph->neighbours;
    uint64_t const *const seen = survey->row.seen;
    uint64_t const *const count = survey->row.count;
    uint64_t *const all = survey->next;
    uint32_t const agents = survey->row.rule->agent_count;
    size_t const arms = survey->row.rule->arm_count;
    for (uint32_t agent = 0; agent < agents; agent++) {
        uint64_t *const next = all + agent * arms;
        uint64_t const *known = count + agent * arms;
        uint64_t const end = edges[agent + 1];
        uint64_t edge = edges[agent];
        do {
            uint32_t const one = edge < end ? neighbours[edge] : agent;
            uint32_t const other = edge + 1 < end ? neighbours[edge + 1] : agent;
            update_seen_of_row(next, known, seen + agent * arms, seen + one * arms,
                               seen + other * arms, arms);
            known = next;
            edge += 2;
        } while (edge < end);
    }
}

/* ---- Lines 6, 8-10 ---- */

INLINE struct needs needs_of(const struct gossip_survey *survey)
{
    struct gossip_row const *const row = &survey->row;
    return (struct needs){.count = row->count,
                          .seen = row->seen,
                          .theta = row->theta,
                          .reach = row->reach,
                          .bonus = row->bonus,
                          .arms = row->rule->arm_count,
                          .near = _mm256_set1_pd(survey->at.near),
                          .far = _mm256_set1_pd(survey->at.far),
                          .width = _mm256_set1_pd(row->rule->width),
                          .alpha = _mm256_set1_pd(row->rule->alpha),
                          .agents = _mm256_set1_epi64x(row->rule->agent_count)};
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

/* Four arms from `arm` on, in row `first`. An arm that is behind has an infinite index: then one
 * search finds what is to be pulled. fresh: lanes whose arms nobody has counted yet; a maximum does
 * not mind arms that come twice. */
INLINE void survey_four(const struct needs *needs, bool noisy, size_t first, size_t arm,
                        __m256i fresh, struct finding *found)
{
    size_t const cell = first + arm;
    __m256i const reached = _mm256_add_epi64(words_at(needs->count + cell), needs->agents);
    __m256i const behind = _mm256_cmpgt_epi64(words_at(needs->seen + cell), reached);
    found->behind_count = _mm256_sub_epi64(found->behind_count, _mm256_and_si256(behind, fresh));
    __m256d const bound =
        _mm256_add_pd(_mm256_loadu_pd(needs->theta + cell), radius_of(needs, noisy, cell));
    __m256d const index =
        _mm256_blendv_pd(bound, _mm256_set1_pd(INFINITY), _mm256_castsi256_pd(behind));
    __m256i const wins = _mm256_castpd_si256(_mm256_cmp_pd(index, found->largest, _CMP_GT_OQ));
    found->largest = _mm256_max_pd(index, found->largest);
    found->place = _mm256_blendv_epi8(found->place, found->arms, wins);
    found->arms = _mm256_add_epi64(found->arms, _mm256_set1_epi64x(LANES));
}

/* The lowest arm among those of the lanes that have the largest Q. */
INLINE uint32_t winner_of(const struct finding *found)
{
    __m256d const lanes = found->largest;
    __m256d top = _mm256_max_pd(lanes, _mm256_permute2f128_pd(lanes, lanes, 1));
    top = _mm256_max_pd(top, _mm256_permute_pd(top, 5));
    __m256i const loses = _mm256_castpd_si256(_mm256_cmp_pd(lanes, top, _CMP_LT_OQ));
    __m256i const place = _mm256_or_si256(found->place, loses);
    __m128i const low =
        _mm_min_epu32(_mm256_castsi256_si128(place), _mm256_extracti128_si256(place, 1));
    return (uint32_t)_mm_cvtsi128_si32(_mm_min_epu32(low, _mm_shuffle_epi32(low, 0x4e)));
}

INLINE uint32_t sum_of(__m256i lanes)
{
    __m128i const two =
        _mm_add_epi64(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256(lanes, 1));
    return (uint32_t)_mm_cvtsi128_si32(_mm_add_epi64(two, _mm_unpackhi_epi64(two, two)));
}

INLINE void survey_all(const struct gossip_survey *survey, bool noisy)
{
    struct needs const needs = needs_of(survey);
    struct gossip_candidates *const candidates = survey->candidates;
    uint32_t const agents = survey->row.rule->agent_count;
    __m256i const all = _mm256_set1_epi64x(-1);
    int64_t const again = (int64_t)((LANES - needs.arms % LANES) % LANES);
    __m256i const last =
        _mm256_cmpgt_epi64(_mm256_set_epi64x(3, 2, 1, 0), _mm256_set1_epi64x(again - 1));
    __m256i const last_arms = _mm256_add_epi64(_mm256_set1_epi64x((int64_t)(needs.arms - LANES)),
                                               _mm256_set_epi64x(3, 2, 1, 0));
    size_t first = 0;
    for (uint32_t agent = 0; agent < agents; agent++, first += needs.arms) {
        struct finding found = {.largest = _mm256_set1_pd(-INFINITY),
                                .place = _mm256_setzero_si256(),
                                .behind_count = _mm256_setzero_si256(),
                                .arms = _mm256_set_epi64x(3, 2, 1, 0)};
        size_t arm = 0;
        for (; arm + LANES <= needs.arms; arm += LANES)
            survey_four(&needs, noisy, first, arm, all, &found);
        found.arms = last_arms;
        if (arm < needs.arms)
            survey_four(&needs, noisy, first, needs.arms - LANES, last, &found);
        candidates[agent] =
            (struct gossip_candidates){winner_of(&found), sum_of(found.behind_count)};
    }
}

TARGET void gossip_survey_avx2(const struct gossip_survey *survey)
{
    TACIT_ASSERT(survey->row.rule->arm_count >= LANES);
    TACIT_ASSERT(survey->row.rule->horizon < UINT32_MAX);
    TACIT_ASSERT(survey->graph->agent_count == survey->row.rule->agent_count);
    update_seen(survey);
    if (survey->row.rule->noisy)
        survey_all(survey, true);
    else
        survey_all(survey, false);
}
#else
typedef int gossip_no_avx2; /* a file may not be empty */
#endif
