/* One agent's arms, and what a slot does with them: shared by the agent's core and the network of
 * the lockstep simulation, so that both do the same arithmetic. Inline, because a simulation spends
 * its time here. Lines are those of Alg. 1 and 4. */
#ifndef TACIT_GOSSIP_ROW_H
#define TACIT_GOSSIP_ROW_H
#include "tacit/gossip.h"
#include <math.h>

/* A row is a bundle of pointers: only where everything is inlined does it cost nothing. */
#define GOSSIP_INLINE static inline __attribute__((always_inline))

/* What is left of the last comparison of all arms. Until a slot, the Q of all other arms stay below
 * `rival`, since radii grow slowly with t: an arm whose Q is above it needs no comparison. */
struct gossip_lead {
    double rival;
    uint64_t until; /* 0: nothing is known */
    uint64_t arm;
};

#define GOSSIP_LEAD_SLOTS 64u

/* What follows from n with noise; a network keeps what was computed once for all of its agents. */
struct gossip_reach {
    double reach; /* 0: not computed yet */
    double bonus;
};

/* Arrays of K, but for the trees. */
struct gossip_row {
    const struct tacit_gossip_rule *rule;
    double weight;
    uint64_t *count;        /* n */
    uint64_t *seen;         /* n~ */
    double *theta;          /* before the rewards of the slot */
    double *mean;           /* X~ */
    double *reach;          /* sqrt(1/n); with noise 1/n */
    double *bonus;          /* with noise: log n / n^2 */
    union tacit_sum *base;  /* exact sum; with noise: released and final (X(0), earlier lives) */
    union tacit_sum *total; /* with noise: what the tree released last */
    unsigned char *trees;   /* with noise: K trees */
    uint32_t *behind;       /* arms that line 6 finds */
    struct gossip_reach *table; /* of n < table_count, or NULL */
    uint64_t table_count;
    struct gossip_lead *lead;
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
    return row->count[arm] + row->rule->agent_count < row->seen[arm]; /* line 6 */
}

/* n~ of an arm is at least this. */
GOSSIP_INLINE void gossip_see(const struct gossip_row *row, uint32_t arm, uint64_t pulls)
{
    if (pulls <= row->seen[arm])
        return;
    bool const before = gossip_is_behind(row, arm);
    row->seen[arm] = pulls;
    *row->behind += (uint32_t)gossip_is_behind(row, arm) - (uint32_t)before;
}

/* reach and bonus after n changed. */
GOSSIP_INLINE void gossip_renew(const struct gossip_row *row, uint32_t arm)
{
    uint64_t const pulls = row->count[arm];
    if (!row->rule->noisy) {
        row->reach[arm] = gossip_reach(row->rule, pulls);
        return;
    }
    if (pulls >= row->table_count) {
        row->reach[arm] = gossip_reach(row->rule, pulls);
        row->bonus[arm] = gossip_bonus(row->rule, pulls);
        return;
    }
    struct gossip_reach *const known = &row->table[pulls];
    if (!(known->reach > 0))
        *known =
            (struct gossip_reach){gossip_reach(row->rule, pulls), gossip_bonus(row->rule, pulls)};
    row->reach[arm] = known->reach;
    row->bonus[arm] = known->bonus;
}

/* One more pull of the arm (line 16, which Alg. 4 leaves out). */
GOSSIP_INLINE void gossip_give(const struct gossip_row *row, uint32_t arm)
{
    bool const before = gossip_is_behind(row, arm);
    row->count[arm]++;
    *row->behind -= (uint32_t)before - (uint32_t)gossip_is_behind(row, arm);
    gossip_renew(row, arm);
}

/* Line 1: the first pull of the arm. Requires: zeroed arrays. */
static inline void gossip_first(const struct gossip_row *row, uint32_t arm)
{
    row->seen[arm] = 1; /* n~(1) (READINGS P2.5) */
    gossip_give(row, arm);
}

GOSSIP_INLINE double gossip_index(const struct gossip_row *row, uint32_t arm, struct gossip_slot at)
{
    double const radius = row->rule->noisy
                              ? gossip_radius_noisy(row->rule, at, row->reach[arm], row->bonus[arm])
                              : gossip_radius_plain(row->rule, at, row->reach[arm]);
    return row->theta[arm] + radius;
}

/* A slot, and by how much of itself a radius can grow until the last slot for which a comparison
 * made in it may serve: radii grow with log t at most. */
struct gossip_time {
    uint64_t slot;
    struct gossip_slot now;
    double growth;
};

GOSSIP_INLINE struct gossip_time gossip_time_at(const struct tacit_gossip_rule *rule, uint64_t slot)
{
    struct gossip_time time = {.slot = slot, .now = gossip_slot_at(rule, slot)};
    time.growth = slot > 1 ? log((double)(slot + GOSSIP_LEAD_SLOTS)) / time.now.log_slot - 1
                           : (double)INFINITY;
    return time;
}

/* theta of other arms than the one that leads, or their n, changed. */
GOSSIP_INLINE void gossip_forget_lead(const struct gossip_row *row)
{
    row->lead->until = 0;
}

/* Lines 8-10: the largest Q, lowest index on ties; the second largest and the widest radius bound
 * the others for a while. */
static inline uint32_t gossip_compare(const struct gossip_row *row, const struct gossip_time *time)
{
    uint32_t const arms = row->rule->arm_count;
    uint32_t best = 0;
    double best_index = -INFINITY;
    double second = -INFINITY;
    double widest = 0;
    for (uint32_t arm = 0; arm < arms; arm++) {
        double const index = gossip_index(row, arm, time->now);
        double const radius = index - row->theta[arm];
        double const lesser = index > best_index ? best_index : index;
        best = index > best_index ? arm : best;
        best_index = index > best_index ? index : best_index;
        second = lesser > second ? lesser : second;
        widest = radius > widest ? radius : widest;
    }
    double const rival = second + time->growth * widest;
    /* The slack is for rounding. */
    row->lead->rival = arms == 1 ? -INFINITY : rival + 1e-9 * (1 + fabs(rival));
    row->lead->until = time->slot > 1 ? time->slot + GOSSIP_LEAD_SLOTS : 0;
    row->lead->arm = best;
    return best;
}

GOSSIP_INLINE uint32_t gossip_best_index(const struct gossip_row *row,
                                         const struct gossip_time *time)
{
    struct gossip_lead const *const lead = row->lead;
    if (time->slot <= lead->until &&
        gossip_index(row, (uint32_t)lead->arm, time->now) > lead->rival)
        return (uint32_t)lead->arm;
    return gossip_compare(row, time);
}

/* The arm of this rank among those that line 6 finds. */
static inline uint32_t gossip_behind_at(const struct gossip_row *row, uint64_t rank)
{
    for (uint32_t arm = 0;; arm++) {
        TACIT_ASSERT(arm < row->rule->arm_count);
        if (gossip_is_behind(row, arm) && rank-- == 0)
            return arm;
    }
}

/* Lines 6-14. Errors: TACIT_ENTROPY, *arm untouched. */
GOSSIP_INLINE enum tacit_status gossip_choose(const struct gossip_row *row,
                                              const struct gossip_time *time,
                                              const struct tacit_entropy *entropy, uint32_t *arm)
{
    if (*row->behind == 0) {
        *arm = gossip_best_index(row, time);
        return TACIT_OK;
    }
    uint64_t rank = 0;
    enum tacit_status status = TACIT_OK;
    if (*row->behind > 1)
        status = tacit_entropy_below(entropy, *row->behind, &rank); /* l. 13 */
    if (status != TACIT_OK)
        return status;
    *arm = gossip_behind_at(row, rank);
    gossip_forget_lead(row);
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
 * paper mode takes as it is (READINGS P2.4). Errors: TACIT_ENTROPY, nothing changed. */
GOSSIP_INLINE enum tacit_status gossip_take_in(const struct gossip_row *row, uint32_t arm,
                                               uint64_t slot, union tacit_sum reward,
                                               const struct tacit_entropy *entropy)
{
    struct tacit_gossip_rule const *const rule = row->rule;
    if (!rule->noisy || (slot == 0 && !rule->sound)) {
        if (rule->tree.node.scale.kind == TACIT_SCALE_STEPS)
            row->base[arm].steps += reward.steps;
        else
            row->base[arm].real += reward.real;
        return TACIT_OK;
    }
    struct tacit_tree *const tree =
        (struct tacit_tree *)(void *)(row->trees + arm * tacit_tree_size(&rule->tree));
    uint64_t const leaf = rule->sound ? tree->leaf + 1 : slot; /* own pulls, or global t */
    enum tacit_status const status =
        tacit_tree_add(&rule->tree, tree, leaf, reward, entropy, &row->total[arm]);
    TACIT_ASSERT(status != TACIT_BUDGET); /* T slots and the first pull are all there is */
    return status;
}

/* Lines 15, 22: X~ of the arm anew, and what it changes in theta. The pull was given before.
 * Errors: TACIT_ENTROPY, nothing changed. */
GOSSIP_INLINE enum tacit_status gossip_absorb(const struct gossip_row *row, uint32_t arm,
                                              uint64_t slot, union tacit_sum reward,
                                              const struct tacit_entropy *entropy)
{
    enum tacit_status const status = gossip_take_in(row, arm, slot, reward, entropy);
    if (status != TACIT_OK)
        return status;
    union tacit_sum const none = {0};
    double const mean = gossip_mean(row->rule, row->base[arm],
                                    row->rule->noisy ? row->total[arm] : none, row->count[arm]);
    row->theta[arm] += row->weight * (mean - row->mean[arm]);
    row->mean[arm] = mean;
    return TACIT_OK;
}

/* Line 20: half the difference goes from the first to the second. */
GOSSIP_INLINE double gossip_half(double here, double there)
{
    return (here - there) / 2;
}
#endif
