/* The unserved pulls of all arms as one row of pulls, arm after arm: which arm owns pull number x,
 * with some arms left out. A Fenwick tree (Fenwick 1994). K arms. */
#ifndef TACIT_LIVE_PULL_TREE_H
#define TACIT_LIVE_PULL_TREE_H
#include "tacit/base.h"

struct live_pull_tree {
    uint64_t *counts; /* K */
    uint64_t *sums;   /* K + 1: sums[i] covers the arms (i - lowest bit of i, i] counted from 1 */
    uint32_t arm_count;
    uint32_t top; /* largest power of two <= K */
    uint64_t total;
};

/* Errors: false: memory. Requires: 0 < arm_count <= TACIT_ARMS_MAX. */
bool live_pull_tree_init(struct live_pull_tree *tree, uint32_t arm_count);
void live_pull_tree_free(struct live_pull_tree *tree);

/* Cost: O(log K). */
void live_pull_tree_set(struct live_pull_tree *tree, uint32_t arm, uint64_t count);

/* Pulls of arms that are not in `without` (NULL: nobody is). Cost: O(K/64 + members). */
uint64_t live_pull_tree_total(const struct live_pull_tree *tree, const uint64_t *without);

/* The owner of pull number `pull` among the arms that are not in `without`.
 * Requires: pull < live_pull_tree_total(tree, without). Cost: O(K/64 + members log K). */
uint32_t live_pull_tree_owner(const struct live_pull_tree *tree, const uint64_t *without,
                              uint64_t pull);
#endif
