/* What the files of the phased index share. */
#ifndef TACIT_PHASED_INTERNAL_H
#define TACIT_PHASED_INTERNAL_H
#include "../../base/walk.h"
#include "../round/message_kind.h"
#include "tacit/phased.h"

/* What a commitment is to: arm, pulls and noised sum of each block of the plan. Cost: O(blocks). */
void phased_release_digest(const struct tacit_pull_block *blocks, const int64_t *sums,
                           uint32_t block_count, uint8_t digest[TACIT_SHA256_BYTES]);

/* Over all that closed rounds left in a judge; the ladder follows from the schedule. */
void phased_judge_walk(struct base_walk *walk, struct tacit_phased_judge *judge);
#endif
