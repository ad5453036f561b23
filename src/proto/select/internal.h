/* Select: what the files of this room share. */
#ifndef TACIT_SELECT_INTERNAL_H
#define TACIT_SELECT_INTERNAL_H
#include "tacit/select.h"

/* Scratch: six columns of 8 bytes, of which three are spare (kept blocks have room for them); then
 * columns of 4; behind them six more, for the sorted lists of annealing. */
struct select_scratch {
    double *first;
    double *second;
    uint64_t *keys;
    uint32_t *order;
    uint32_t *order_other;
    uint32_t *place;
    uint32_t *third;
    uint32_t *fourth;
    uint64_t *members; /* bits */
};

struct select_scratch select_scratch_of(void *memory, uint32_t user_count);

/* order = the users by growing value, equal ones by growing index; INFINITY is last. -0 and 0 are
 * equal. Requires: no NaN. Uses keys, order_other. Cost: O(K) for many users. */
void select_sort(const double *values, uint32_t user_count, struct select_scratch *scratch,
                 uint32_t *order);

/* The m largest values, equal ones by growing index, in ascending order of users. */
void select_largest(const double *values, uint32_t user_count, uint32_t m,
                    struct select_scratch *scratch, uint32_t *users);

/* Puts different users into ascending order. Uses members. Cost: O(K/64 + m). */
void select_sort_users(uint32_t *users, uint32_t count, uint32_t user_count,
                       struct select_scratch *scratch);
#endif
