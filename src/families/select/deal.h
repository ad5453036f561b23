/* Dealing out labelled pictures to users: all alike, or each with a label that is its own. */
#ifndef FAMILIES_SELECT_DEAL_H
#define FAMILIES_SELECT_DEAL_H
#include "tacit/random.h"

#define TRAINING_LABELS_MAX 10u
#define TRAINING_SIZE_MIN 20u /* pictures of a user (READINGS P5.12) */

struct training_deal {
    const uint8_t *labels; /* count: of each picture, below `classes` */
    uint32_t count;
    uint32_t classes; /* 2 .. TRAINING_LABELS_MAX */
    uint32_t user_count;
    bool is_dominant; /* user k has label k mod classes for a quarter of its pictures, the others
                         uniform over the other labels, while there are any of them */
};

/* sizes: shares in any unit; then how many pictures each user got, none below TRAINING_SIZE_MIN.
 * User k's are rows[first[k]] .. rows[first[k + 1] - 1]; no picture twice.
 * rows, scratch: count places; first: user_count + 1. Requires: user_count * TRAINING_SIZE_MIN <=
 * count; shares that add up to more than 0. Cost: O(count). */
void training_deal_out(const struct training_deal *deal, struct tacit_rng *rng, uint64_t *sizes,
                       uint32_t *scratch, uint32_t *rows, uint32_t *first);
#endif
