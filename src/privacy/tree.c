/* Tree aggregation: a running sum that is released again and again, with noise on intervals. */
#include "tacit/privacy.h"
#include <math.h>

#define LEAVES_MAX (2 * TACIT_HORIZON_MAX)

/* ---- Bits of leaf numbers ---- */

static uint32_t bit_length(uint64_t number)
{
    return number == 0 ? 0 : 64 - (uint32_t)__builtin_clzll(number);
}

static uint32_t lowest_bit(uint64_t number)
{
    TACIT_ASSERT(number != 0);
    return (uint32_t)__builtin_ctzll(number);
}

/* ---- Rule ---- */

/* ceil(log2 T) is what the paper writes (Zhu et al. 2021, Sec. 4.1); a leaf is in floor(log2 T) + 1
 * intervals. */
static uint32_t share_count(enum tacit_privacy_mode mode, uint64_t leaf_max)
{
    TACIT_ASSERT(leaf_max > 0);
    return mode == TACIT_PRIVACY_PAPER ? bit_length(leaf_max - 1) : bit_length(leaf_max);
}

/* Epsilon of one interval. Sound: whole nano-epsilons, so that the shares do not add up to more. */
static double share_of(const struct tacit_mechanism *whole, double epsilon, uint32_t shares)
{
    TACIT_ASSERT(shares > 0);
    if (whole->mode == TACIT_PRIVACY_SOUND)
        return tacit_nano_value(whole->epsilon_nano / shares);
    return epsilon / shares;
}

enum tacit_status tacit_tree_rule_init(struct tacit_tree_rule *rule,
                                       const struct tacit_tree_config *config)
{
    struct tacit_mechanism whole;
    if (config->leaf_max == 0 || config->leaf_max > LEAVES_MAX ||
        tacit_mechanism_init(&whole, &config->mechanism) != TACIT_OK)
        return TACIT_INVALID;
    struct tacit_tree_rule made = {.node = whole, .leaf_max = config->leaf_max};
    made.level_count = bit_length(config->leaf_max);
    made.share_count = share_count(whole.mode, config->leaf_max);
    if (whole.noisy) {
        if (made.share_count == 0)
            return TACIT_INVALID; /* paper mode with one leaf: epsilon / 0 */
        struct tacit_mechanism_config share = config->mechanism;
        share.epsilon_per_reward = share_of(&whole, share.epsilon_per_reward, made.share_count);
        if (tacit_mechanism_init(&made.node, &share) != TACIT_OK)
            return TACIT_INVALID;
        uint64_t const levels = made.level_count;
        made.cost_nano =
            whole.mode == TACIT_PRIVACY_SOUND
                ? made.node.epsilon_nano * levels
                : (whole.epsilon_nano * levels + made.share_count - 1) / made.share_count;
    }
    TACIT_ASSERT(made.level_count >= 1);
    TACIT_ASSERT(made.level_count <= 64);
    *rule = made;
    return TACIT_OK;
}

uint64_t tacit_tree_cost_nano(const struct tacit_tree_rule *rule)
{
    return rule->cost_nano;
}

/* ---- Tree ---- */

size_t tacit_tree_size(const struct tacit_tree_rule *rule)
{
    TACIT_ASSERT(rule->level_count >= 1);
    return sizeof(struct tacit_tree) + rule->level_count * sizeof(struct tacit_tree_node);
}

void tacit_tree_init(struct tacit_tree *tree, const struct tacit_tree_rule *rule)
{
    tree->leaf = 0;
    tree->held = 0;
    for (uint32_t level = 0; level < rule->level_count; level++)
        tree->nodes[level] = (struct tacit_tree_node){{0}, {0}};
}

#define TREE_INLINE static inline __attribute__((always_inline))

/* is_real: of the scale; a constant where it is inlined, so that no sum has to ask. */
TREE_INLINE void add(bool is_real, union tacit_sum *sum, union tacit_sum other)
{
    if (is_real)
        sum->real += other.real;
    else
        sum->steps += other.steps;
}

/* The sum of the intervals in this set of levels, from the last leaves to the first. */
TREE_INLINE union tacit_sum sum_of(bool is_real, const struct tacit_tree *tree, uint64_t levels)
{
    union tacit_sum sum = {0};
    for (; levels != 0; levels &= levels - 1)
        add(is_real, &sum, tree->nodes[lowest_bit(levels)].exact);
    return sum;
}

/* All intervals below the highest bit in which the two leaves (the tree's and the new one) differ
 * are merged into one interval of that level; the reward is in the one that ends at its leaf, which
 * may be the same. The intervals above stay as they are. Nothing changes on an error. */
TREE_INLINE enum tacit_status add_leaf(bool is_real, const struct tacit_tree_rule *rule,
                                       struct tacit_tree *tree, uint64_t leaf,
                                       union tacit_sum reward, const struct tacit_entropy *entropy,
                                       union tacit_sum *total)
{
    TACIT_ASSERT(tree->leaf <= rule->leaf_max);
    uint32_t const high = bit_length(tree->leaf ^ leaf) - 1;
    uint32_t const low = lowest_bit(leaf);
    TACIT_ASSERT(low <= high && high < rule->level_count);
    uint64_t const below = tree->held & ((UINT64_C(1) << high) - 1);
    uint64_t const above = tree->held & ~((UINT64_C(2) << high) - 1);
    union tacit_sum merged = sum_of(is_real, tree, below);
    union tacit_sum last = reward;
    if (low == high)
        add(is_real, &last, merged);
    union tacit_sum last_noised;
    union tacit_sum merged_noised = {0};
    bool const is_apart = low < high && below != 0;
    TACIT_TRY(tacit_mechanism_release(&rule->node, last, entropy, &last_noised));
    if (is_apart)
        TACIT_TRY(tacit_mechanism_release(&rule->node, merged, entropy, &merged_noised));
    union tacit_sum sum = {0};
    if (above != 0)
        sum = tree->nodes[lowest_bit(above)].released;
    tree->held = above;
    if (is_apart) {
        add(is_real, &sum, merged_noised);
        tree->held |= UINT64_C(1) << high;
        tree->nodes[high] = (struct tacit_tree_node){merged, sum};
    }
    add(is_real, &sum, last_noised);
    tree->held |= UINT64_C(1) << low;
    tree->nodes[low] = (struct tacit_tree_node){last, sum};
    tree->leaf = leaf;
    TACIT_ASSERT(tree->held >> (rule->level_count - 1) <= 1);
    *total = sum;
    return TACIT_OK;
}

enum tacit_status tacit_tree_add(const struct tacit_tree_rule *rule, struct tacit_tree *tree,
                                 uint64_t leaf, union tacit_sum reward,
                                 const struct tacit_entropy *entropy, union tacit_sum *total)
{
    TACIT_ASSERT(leaf > tree->leaf);
    if (leaf > rule->leaf_max)
        return TACIT_BUDGET;
    return rule->node.scale.kind == TACIT_SCALE_REAL
               ? add_leaf(true, rule, tree, leaf, reward, entropy, total)
               : add_leaf(false, rule, tree, leaf, reward, entropy, total);
}
