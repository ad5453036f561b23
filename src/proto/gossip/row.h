/* One agent's arms, and what a slot does with them: shared by the agent's core and the network of
 * the lockstep simulation, so that both do the same arithmetic. Inline, because a simulation spends
 * its time here. Lines are those of Alg. 1 and 4. */
#ifndef TACIT_GOSSIP_ROW_H
#define TACIT_GOSSIP_ROW_H
#include "tacit/gossip.h"
#include <math.h>

/* A row is a bundle of pointers: only where everything is inlined does it cost nothing. */
#define GOSSIP_INLINE static inline __attribute__((always_inline))

/* What follows from n with noise; a network keeps what was computed once for all of its agents. */
struct gossip_reach {
    double reach; /* 0: not computed yet */
    double bonus;
};

/* One of the rows of these arrays: K cells from `first` on. */
struct gossip_row {
    const struct tacit_gossip_rule *rule;
    size_t first;
    uint64_t *count; /* n */
    uint64_t *seen;  /* n~ */
    double *theta;   /* before the rewards of the slot */
    double *mean;    /* X~ */
    double *reach;   /* sqrt(1/n); with noise 1/n */
    double *bonus;   /* with noise: log n / n^2 */
    union tacit_sum
        *base; /* exact sum; with noise: released and final (X(0), earlier incarnations) */
    union tacit_sum *total; /* with noise: what the tree released last */
    unsigned char *trees;   /* with noise: a tree a cell */
    size_t tree_bytes;
    struct gossip_reach *table; /* of n < table_count, or NULL */
    uint64_t table_count;
};

/* What (11) and (12) take from the slot alone. */
struct gossip_slot {
    double near;
    double far;
    double log_slot;
};

GOSSIP_INLINE struct gossip_slot gossip_slot_at(const struct tacit_gossip_rule *rule, uint64_t slot)
{
    double const log_slot = log((double)slot);
    struct gossip_slot at = {.near = rule->near_factor * log_slot, .log_slot = log_slot};
    if (rule->noisy)
        at.far = rule->far_factor * log_slot * log_slot;
    else
        at.near = rule->width * sqrt(at.near);
    return at;
}

GOSSIP_INLINE double gossip_reach(const struct tacit_gossip_rule *rule, uint64_t pulls)
{
    double const inverse = 1 / (double)pulls;
    return rule->noisy ? inverse : sqrt(inverse);
}

GOSSIP_INLINE double gossip_bonus(const struct tacit_gossip_rule *rule, uint64_t pulls)
{
    double const n = (double)(rule->sound && pulls < 2 ? 2 : pulls);
    return log(n) / ((double)pulls * (double)pulls);
}

GOSSIP_INLINE double gossip_radius_noisy(const struct tacit_gossip_rule *rule,
                                         struct gossip_slot at, double reach, double bonus)
{
    return rule->width * sqrt(at.far * bonus + at.near * reach) + rule->alpha;
}

GOSSIP_INLINE double gossip_radius_plain(const struct tacit_gossip_rule *rule,
                                         struct gossip_slot at, double reach)
{
    return at.near * reach + rule->alpha;
}

GOSSIP_INLINE bool gossip_is_behind(const struct gossip_row *row, uint32_t arm)
{
    return row->count[row->first + arm] + row->rule->agent_count <
           row->seen[row->first + arm]; /* line 6 */
}

/* reach and bonus after n changed. */
GOSSIP_INLINE void gossip_renew(const struct gossip_row *row, uint32_t arm, bool noisy)
{
    uint64_t const pulls = row->count[row->first + arm];
    if (!noisy) {
        row->reach[row->first + arm] = gossip_reach(row->rule, pulls);
        return;
    }
    if (pulls >= row->table_count) {
        row->reach[row->first + arm] = gossip_reach(row->rule, pulls);
        row->bonus[row->first + arm] = gossip_bonus(row->rule, pulls);
        return;
    }
    struct gossip_reach *const known = &row->table[pulls];
    if (!(known->reach > 0))
        *known =
            (struct gossip_reach){gossip_reach(row->rule, pulls), gossip_bonus(row->rule, pulls)};
    row->reach[row->first + arm] = known->reach;
    row->bonus[row->first + arm] = known->bonus;
}

/* One more pull of the arm (line 16, which Alg. 4 leaves out). What follows from n is made with the
 * reward: nobody asks before. */
GOSSIP_INLINE void gossip_count_pull(const struct gossip_row *row, uint32_t arm)
{
    row->count[row->first + arm]++;
}

/* Line 1: the first pull of the arm. Requires: zeroed arrays. */
static inline void gossip_first(const struct gossip_row *row, uint32_t arm)
{
    row->seen[row->first + arm] = 1; /* n~(1) (READINGS P2.5) */
    gossip_count_pull(row, arm);
}

GOSSIP_INLINE double gossip_radius_of(const struct gossip_row *row, uint32_t arm,
                                      struct gossip_slot at)
{
    return row->rule->noisy ? gossip_radius_noisy(row->rule, at, row->reach[row->first + arm],
                                                  row->bonus[row->first + arm])
                            : gossip_radius_plain(row->rule, at, row->reach[row->first + arm]);
}

GOSSIP_INLINE double gossip_index(const struct gossip_row *row, uint32_t arm, struct gossip_slot at)
{
    return row->theta[row->first + arm] + gossip_radius_of(row, arm, at);
}

/* Which arms an agent may pull: those that are behind, else one. */
struct gossip_candidates {
    uint32_t arm; /* the first that is behind; else lines 8-10: the largest Q, lowest on ties */
    uint32_t behind_count; /* line 6: how many arms */
};

/* Lines 6, 8-10. No branch, since rewards decide them all, and a wrong guess costs more than an
 * arm. */
GOSSIP_INLINE struct gossip_candidates gossip_candidates_of(const struct gossip_row *row,
                                                            struct gossip_slot at)
{
    uint32_t best = 0;
    uint32_t behind_first = 0;
    uint32_t behind_count = 0;
    double largest = -INFINITY;
    for (uint32_t arm = 0; arm < row->rule->arm_count; arm++) {
        double const index = gossip_index(row, arm, at);
        best = index > largest ? arm : best;
        largest = index > largest ? index : largest;
        behind_first = behind_count == 0 ? arm : behind_first;
        behind_count += gossip_is_behind(row, arm);
    }
    return (struct gossip_candidates){behind_count == 0 ? best : behind_first, behind_count};
}

/* Line 13: uniform in A. Rare, so it is a call, and of a copy: whoever goes through many rows keeps
 * them in registers. Errors: TACIT_ENTROPY, *arm untouched. */
__attribute__((noinline, unused)) static enum tacit_status
gossip_draw_behind(struct gossip_row row, uint32_t count, const struct tacit_entropy *entropy,
                   uint32_t *arm)
{
    uint64_t rank;
    TACIT_TRY(tacit_entropy_below(entropy, count, &rank));
    for (uint32_t at = 0;; at++) {
        TACIT_ASSERT(at < row.rule->arm_count);
        if (gossip_is_behind(&row, at) && rank-- == 0) {
            *arm = at;
            return TACIT_OK;
        }
    }
}

/* Lines 6-14. Errors: TACIT_ENTROPY, *arm untouched. */
GOSSIP_INLINE enum tacit_status gossip_choose(const struct gossip_row *row,
                                              const struct gossip_candidates *candidates,
                                              const struct tacit_entropy *entropy, uint32_t *arm)
{
    if (candidates->behind_count > 1)
        return gossip_draw_behind(*row, candidates->behind_count, entropy, arm);
    *arm = candidates->arm;
    return TACIT_OK;
}

GOSSIP_INLINE double gossip_mean(const struct tacit_gossip_rule *rule, union tacit_sum base,
                                 union tacit_sum total, uint64_t pulls)
{
    if (rule->tree.node.scale.kind == TACIT_SCALE_STEPS)
        return (double)(base.steps + total.steps) / (double)pulls / (double)TACIT_STEPS;
    return (base.real + total.real) / (double)pulls;
}

/* What the first and later rewards add to: X~ = (base + total)/n. Slot 0: the first pull, which
 * paper mode takes as it is (READINGS P2.4). noisy, here and below: of the rule, a constant where
 * it is inlined. Errors: TACIT_ENTROPY, nothing changed. */
GOSSIP_INLINE enum tacit_status gossip_add_reward(const struct gossip_row *row, uint32_t arm,
                                                  uint64_t slot, bool noisy, union tacit_sum reward,
                                                  const struct tacit_entropy *entropy)
{
    struct tacit_gossip_rule const *const rule = row->rule;
    if (!noisy || (slot == 0 && !rule->sound)) {
        if (rule->tree.node.scale.kind == TACIT_SCALE_STEPS)
            row->base[row->first + arm].steps += reward.steps;
        else
            row->base[row->first + arm].real += reward.real;
        return TACIT_OK;
    }
    struct tacit_tree *const tree =
        (struct tacit_tree *)(void *)(row->trees + (row->first + arm) * row->tree_bytes);
    uint64_t const leaf = rule->sound ? tree->leaf + 1 : slot; /* own pulls, or global t */
    enum tacit_status const status =
        tacit_tree_add(&rule->tree, tree, leaf, reward, entropy, &row->total[row->first + arm]);
    TACIT_ASSERT(status != TACIT_BUDGET); /* T slots and the first pull are all there is */
    return status;
}

/* Lines 15, 22: X~ of the arm anew, and what it changes in theta. The pull was given before.
 * Errors: TACIT_ENTROPY, nothing changed. */
GOSSIP_INLINE enum tacit_status gossip_absorb(const struct gossip_row *row, uint32_t arm,
                                              uint64_t slot, bool noisy, union tacit_sum reward,
                                              const struct tacit_entropy *entropy)
{
    size_t const cell = row->first + arm;
    TACIT_TRY(gossip_add_reward(row, arm, slot, noisy, reward, entropy));
    union tacit_sum const none = {0};
    double const mean =
        gossip_mean(row->rule, row->base[cell], noisy ? row->total[cell] : none, row->count[cell]);
    row->theta[cell] += mean - row->mean[cell];
    row->mean[cell] = mean;
    gossip_renew(row, arm, noisy);
    return TACIT_OK;
}

/* Line 20: half the difference goes from the first to the second. */
GOSSIP_INLINE double gossip_half(double here, double there)
{
    return (here - there) / 2;
}
#endif
