/* What the hub of published sums does with its pool beside tacit/vote.h. */
#ifndef TACIT_VOTE_POOL_H
#define TACIT_VOTE_POOL_H
#include "tacit/vote.h"
#include "../../base/walk.h"

/* This pool may be an older one that was put back: from now on its looks have numbers that no look
 * of a term before had, so that all levels together still add up to delta. Requires: a later term.
 */
void vote_pool_begin_term(struct tacit_vote_pool *pool, uint64_t term);

/* What a commitment to a release is of: its arms and their sums. */
void vote_release_digest(const uint64_t *arms, const int64_t *sums, uint32_t arm_count,
                         uint8_t digest[TACIT_SHA256_BYTES]);

/* All but the term, in an initialised pool. What was read is to be checked. */
void vote_pool_walk(struct base_walk *walk, struct tacit_vote_pool *pool);

#endif
