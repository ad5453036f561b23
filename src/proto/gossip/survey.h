/* One slot's look at all agents of a network: lines 5, 6 and 8-10 of Alg. 1, before anybody pulls.
 * Twice, with the same bits: in plain C, and four arms at a time. */
#ifndef TACIT_GOSSIP_SURVEY_H
#define TACIT_GOSSIP_SURVEY_H
#include "row.h"

#if defined __x86_64__
#define GOSSIP_HAS_AVX2 1
#else
#define GOSSIP_HAS_AVX2 0
#endif
#define GOSSIP_AVX2_ARMS_MIN 4u

struct gossip_survey {
    struct gossip_row row; /* of agent 0 */
    const struct tacit_graph *graph;
    struct gossip_slot at;
    uint64_t *next;                       /* A x K: becomes n~(t+1), where row.seen is n~(t) */
    struct gossip_candidates *candidates; /* A: what each agent finds */
};

void gossip_survey_portable(const struct gossip_survey *survey);

#if GOSSIP_HAS_AVX2
/* Requires: K >= GOSSIP_AVX2_ARMS_MIN, T < 2^32 - 1: pulls fit half a word. */
void gossip_survey_avx2(const struct gossip_survey *survey);
#endif
#endif
