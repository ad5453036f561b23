/* A tournament over K keys: the largest one at once, the next below it in O(log K). Nodes 1 .. 2P-1
 * of a complete binary tree, P a power of two; leaf k is node P + k; a node holds the largest key
 * below it, and whose it is (the lowest index on ties); leaves beyond K hold -infinity. */
#ifndef TACIT_ARMS_TOURNAMENT_H
#define TACIT_ARMS_TOURNAMENT_H
#include <math.h>
#include "tacit/base.h"

/* Smallest power of two >= count. */
static inline uint32_t tournament_leaves(uint32_t count)
{
    uint32_t leaves = 1;
    while (leaves < count)
        leaves *= 2;
    return leaves;
}

struct tournament {
    double *keys;      /* 2 P, the first unused */
    uint32_t *winners; /* 2 P, likewise */
    uint32_t leaves;   /* P */
};

/* A node from its two children. Result: did it change? */
static inline bool tournament_play(const struct tournament *tree, uint32_t node)
{
    uint32_t const left = 2 * node;
    uint32_t const winner = tree->keys[left] >= tree->keys[left + 1] ? left : left + 1;
    double const key = tree->keys[winner];
    uint32_t const index = tree->winners[winner];
    bool const is_news =
        tree->winners[node] != index || tree->keys[node] < key || tree->keys[node] > key;
    tree->keys[node] = key;
    tree->winners[node] = index;
    return is_news;
}

/* Sets one key. Cost: O(log P), less where the change does not reach the root. */
static inline void tournament_set(const struct tournament *tree, uint32_t index, double key)
{
    uint32_t node = tree->leaves + index;
    tree->keys[node] = key;
    for (node /= 2; node >= 1; node /= 2)
        if (!tournament_play(tree, node))
            return;
}

/* Makes everything else fit the keys of the leaves. Cost: O(P). */
static inline void tournament_rebuild(const struct tournament *tree)
{
    for (uint32_t index = 0; index < tree->leaves; index++)
        tree->winners[tree->leaves + index] = index;
    for (uint32_t node = tree->leaves - 1; node >= 1; node--)
        (void)tournament_play(tree, node);
}

/* Index of the largest key, the lowest one on ties. */
static inline uint32_t tournament_top(const struct tournament *tree)
{
    return tree->winners[1];
}

/* Largest key of all others; -infinity if there is none. */
static inline double tournament_second(const struct tournament *tree, uint32_t index)
{
    double second = -INFINITY;
    for (uint32_t node = tree->leaves + index; node > 1; node /= 2)
        second = tree->keys[node ^ 1] > second ? tree->keys[node ^ 1] : second;
    return second;
}

/* First index >= from whose key is at least `bound`; `leaves` if there is none. Cost: O(log P). */
static inline uint32_t tournament_next(const struct tournament *tree, uint32_t from, double bound)
{
    double const *const nodes = tree->keys;
    uint32_t const leaves = tree->leaves;
    if (from >= leaves)
        return leaves;
    uint32_t node = leaves + from;
    while (!(nodes[node] >= bound)) {
        while (node % 2 == 1) { /* nothing to the right below this parent */
            node /= 2;
            if (node <= 1)
                return leaves;
        }
        node++;
    }
    while (node < leaves)
        node = 2 * node + (nodes[2 * node] >= bound ? 0 : 1);
    return node - leaves;
}
#endif
