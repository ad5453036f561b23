/* Sums over arms in a Fenwick tree. Arms count from 1 inside, as the tree wants it. */
#include "pull_tree.h"
#include <stdlib.h>

static uint32_t lowest_bit(uint32_t index)
{
    return index & (0 - index);
}

bool live_pull_tree_init(struct live_pull_tree *tree, uint32_t arm_count)
{
    TACIT_ASSERT(arm_count > 0);
    TACIT_ASSERT(arm_count <= TACIT_ARMS_MAX);
    *tree = (struct live_pull_tree){.arm_count = arm_count, .top = 1};
    while (tree->top <= arm_count / 2)
        tree->top *= 2;
    tree->counts = calloc(arm_count, sizeof tree->counts[0]);
    tree->sums = calloc((size_t)arm_count + 1, sizeof tree->sums[0]);
    if (tree->counts != NULL && tree->sums != NULL)
        return true;
    live_pull_tree_free(tree);
    return false;
}

void live_pull_tree_free(struct live_pull_tree *tree)
{
    free(tree->counts);
    free(tree->sums);
    *tree = (struct live_pull_tree){0};
}

void live_pull_tree_set(struct live_pull_tree *tree, uint32_t arm, uint64_t count)
{
    TACIT_ASSERT(arm < tree->arm_count);
    uint64_t const more = count - tree->counts[arm]; /* modulo 2^64: also downwards */
    if (more == 0)
        return;
    tree->counts[arm] = count;
    tree->total += more;
    for (uint32_t i = arm + 1; i <= tree->arm_count; i += lowest_bit(i))
        tree->sums[i] += more;
}

/* Pulls of the arms before this one. */
static uint64_t sum_before(const struct live_pull_tree *tree, uint32_t arm)
{
    uint64_t sum = 0;
    for (uint32_t i = arm; i > 0; i -= lowest_bit(i))
        sum += tree->sums[i];
    return sum;
}

uint64_t live_pull_tree_total(const struct live_pull_tree *tree, const uint64_t *without)
{
    uint64_t total = tree->total;
    if (without == NULL)
        return total;
    TACIT_BITS_EACH (arm, without, tree->arm_count)
        total -= tree->counts[arm];
    return total;
}

/* Puts the arms that were left out back under the number, from the left. */
static uint64_t number_among_all(const struct live_pull_tree *tree, const uint64_t *without,
                                 uint64_t pull)
{
    TACIT_BITS_EACH (arm, without, tree->arm_count) {
        if (tree->counts[arm] == 0)
            continue;
        if (sum_before(tree, arm) > pull)
            break;
        pull += tree->counts[arm];
    }
    return pull;
}

uint32_t live_pull_tree_owner(const struct live_pull_tree *tree, const uint64_t *without,
                              uint64_t pull)
{
    if (without != NULL)
        pull = number_among_all(tree, without, pull);
    TACIT_ASSERT(pull < tree->total);
    uint32_t arms_before = 0;
    for (uint32_t step = tree->top; step > 0; step /= 2) {
        uint32_t const next = arms_before + step;
        if (next <= tree->arm_count && tree->sums[next] <= pull) {
            arms_before = next;
            pull -= tree->sums[next];
        }
    }
    TACIT_ASSERT(arms_before < tree->arm_count);
    return arms_before;
}
