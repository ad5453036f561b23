/* One agent's arms, and what a slot does with them: shared by the agent's core and the network of
 * the lockstep simulation, so that both do the same arithmetic. Inline, because a simulation spends
 * its time here. Lines are those of Alg. 1 and 4. */
#ifndef TACIT_GOSSIP_ROW_H
#define TACIT_GOSSIP_ROW_H
#include "tacit/gossip.h"
#include <math.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

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

/* One of the rows of these arrays: K cells from `first` on. */
struct gossip_row {
    const struct tacit_gossip_rule *rule;
    size_t agent; /* which row; its weight, how much it is behind and its lead */
    size_t first;
    const double *weight;
    uint64_t *count;        /* n */
    uint64_t *seen;         /* n~ */
    double *theta;          /* before the rewards of the slot */
    double *mean;           /* X~ */
    double *reach;          /* sqrt(1/n); with noise 1/n */
    double *bonus;          /* with noise: log n / n^2 */
    union tacit_sum *base;  /* exact sum; with noise: released and final (X(0), earlier lives) */
    union tacit_sum *total; /* with noise: what the tree released last */
    unsigned char *trees;   /* with noise: a tree a cell */
    size_t tree_bytes;
    uint32_t *behind;           /* arms that line 6 finds */
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
    return row->count[row->first + arm] + row->rule->agent_count <
           row->seen[row->first + arm]; /* line 6 */
}

/* n~ of an arm is at least this. */
GOSSIP_INLINE void gossip_see(const struct gossip_row *row, uint32_t arm, uint64_t pulls)
{
    if (pulls <= row->seen[row->first + arm])
        return;
    bool const before = gossip_is_behind(row, arm);
    row->seen[row->first + arm] = pulls;
    row->behind[row->agent] += (uint32_t)gossip_is_behind(row, arm) - (uint32_t)before;
}

/* reach and bonus after n changed. */
GOSSIP_INLINE void gossip_renew(const struct gossip_row *row, uint32_t arm)
{
    uint64_t const pulls = row->count[row->first + arm];
    if (!row->rule->noisy) {
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

/* One more pull of the arm (line 16, which Alg. 4 leaves out). */
GOSSIP_INLINE void gossip_give(const struct gossip_row *row, uint32_t arm)
{
    uint64_t const count = ++row->count[row->first + arm];
    row->behind[row->agent] -=
        count + row->rule->agent_count == row->seen[row->first + arm] ? 1 : 0; /* it was, before */
    gossip_renew(row, arm);
}

/* Line 1: the first pull of the arm. Requires: zeroed arrays. */
static inline void gossip_first(const struct gossip_row *row, uint32_t arm)
{
    row->seen[row->first + arm] = 1; /* n~(1) (READINGS P2.5) */
    gossip_give(row, arm);
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
    /* log(t + s) - log t < s/t */
    time.growth = slot > 1 ? (double)GOSSIP_LEAD_SLOTS / ((double)slot * time.now.log_slot)
                           : (double)INFINITY;
    return time;
}

/* theta of other arms than the one that leads, or their n, changed. */
GOSSIP_INLINE void gossip_forget_lead(const struct gossip_row *row)
{
    row->lead[row->agent].until = 0;
}

/* Two arms at once. Lane by lane it is the arithmetic of gossip_index, which compilers make
 * instructions for two lanes of. */
typedef double gossip_pair __attribute__((vector_size(16)));
typedef int64_t gossip_pair_bits __attribute__((vector_size(16)));

GOSSIP_INLINE gossip_pair gossip_pair_at(const double *values)
{
    gossip_pair pair;
    memcpy(&pair, values, sizeof pair);
    return pair;
}

/* a > b ? a : b and a < b ? a : b of each lane, which is what these instructions are; compilers do
 * not always find them. */
#ifdef __SSE2__
GOSSIP_INLINE gossip_pair gossip_larger(gossip_pair a, gossip_pair b)
{
    return _mm_max_pd(a, b);
}

GOSSIP_INLINE gossip_pair gossip_smaller(gossip_pair a, gossip_pair b)
{
    return _mm_min_pd(a, b);
}
#else
GOSSIP_INLINE gossip_pair gossip_larger(gossip_pair a, gossip_pair b)
{
    return (gossip_pair){a[0] > b[0] ? a[0] : b[0], a[1] > b[1] ? a[1] : b[1]};
}

GOSSIP_INLINE gossip_pair gossip_smaller(gossip_pair a, gossip_pair b)
{
    return (gossip_pair){a[0] < b[0] ? a[0] : b[0], a[1] < b[1] ? a[1] : b[1]};
}
#endif

/* The leaders of two lanes: largest Q (lowest index on ties), second largest, widest radius. */
struct gossip_race {
    gossip_pair best;
    gossip_pair second;
    gossip_pair widest;
    gossip_pair_bits place; /* the arm of `best` */
    gossip_pair_bits next;  /* arms to come */
};

GOSSIP_INLINE void gossip_race_add(struct gossip_race *race, gossip_pair theta, gossip_pair radius)
{
    gossip_pair const index = theta + radius;
    gossip_pair_bits const wins = index > race->best;
    race->second = gossip_larger(race->second, gossip_smaller(index, race->best));
    race->best = gossip_larger(index, race->best);
    race->widest = gossip_larger(radius, race->widest);
    race->place = (wins & race->next) | (~wins & race->place);
    race->next += 2;
}

GOSSIP_INLINE gossip_pair gossip_pair_radius(const struct gossip_row *row, struct gossip_slot at,
                                             bool noisy, uint32_t arm)
{
    struct tacit_gossip_rule const *const rule = row->rule;
    gossip_pair const near = {at.near, at.near};
    gossip_pair const alpha = {rule->alpha, rule->alpha};
    gossip_pair const reach = gossip_pair_at(row->reach + row->first + arm);
    if (!noisy)
        return near * reach + alpha;
    gossip_pair const far = {at.far, at.far};
    gossip_pair const width = {rule->width, rule->width};
    gossip_pair const square = far * gossip_pair_at(row->bonus + row->first + arm) + near * reach;
    return width * (gossip_pair){sqrt(square[0]), sqrt(square[1])} + alpha;
}

/* noisy: of the rule, a constant where it is inlined. */
GOSSIP_INLINE struct gossip_race gossip_race_of(const struct gossip_row *row, struct gossip_slot at,
                                                bool noisy)
{
    uint32_t const arms = row->rule->arm_count;
    struct gossip_race race = {
        .best = {-INFINITY, -INFINITY}, .second = {-INFINITY, -INFINITY}, .next = {0, 1}};
    uint32_t arm = 0;
    for (; arm + 1 < arms; arm += 2)
        gossip_race_add(&race, gossip_pair_at(row->theta + row->first + arm),
                        gossip_pair_radius(row, at, noisy, arm));
    if (arm < arms) {
        gossip_pair const theta = {row->theta[row->first + arm], -INFINITY};
        gossip_race_add(&race, theta, (gossip_pair){gossip_radius_of(row, arm, at), 0});
    }
    return race;
}

/* Lines 8-10: the largest Q, lowest index on ties; the second largest and the widest radius bound
 * the others for a while. */
static inline uint32_t gossip_compare(const struct gossip_row *row, const struct gossip_time *time)
{
    struct gossip_race const race = row->rule->noisy ? gossip_race_of(row, time->now, true)
                                                     : gossip_race_of(row, time->now, false);
    gossip_pair const best = race.best;
    bool const is_first =
        best[0] > best[1] || (!(best[1] > best[0]) && race.place[0] < race.place[1]);
    double const loser = is_first ? best[1] : best[0];
    double const among = race.second[0] > race.second[1] ? race.second[0] : race.second[1];
    double const second = loser > among ? loser : among;
    double const widest = race.widest[0] > race.widest[1] ? race.widest[0] : race.widest[1];
    double const rival = second + time->growth * widest;
    /* The slack is for rounding. */
    row->lead[row->agent].rival =
        row->rule->arm_count == 1 ? -INFINITY : rival + 1e-9 * (1 + fabs(rival));
    row->lead[row->agent].until = time->slot > 1 ? time->slot + GOSSIP_LEAD_SLOTS : 0;
    row->lead[row->agent].arm = (uint64_t)(is_first ? race.place[0] : race.place[1]);
    return (uint32_t)row->lead[row->agent].arm;
}

GOSSIP_INLINE uint32_t gossip_best_index(const struct gossip_row *row,
                                         const struct gossip_time *time)
{
    struct gossip_lead const *const lead = &row->lead[row->agent];
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
    if (row->behind[row->agent] == 0) {
        *arm = gossip_best_index(row, time);
        return TACIT_OK;
    }
    uint64_t rank = 0;
    enum tacit_status status = TACIT_OK;
    if (row->behind[row->agent] > 1)
        status = tacit_entropy_below(entropy, row->behind[row->agent], &rank); /* l. 13 */
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
                                              uint64_t slot, union tacit_sum reward,
                                              const struct tacit_entropy *entropy)
{
    size_t const cell = row->first + arm;
    enum tacit_status const status = gossip_take_in(row, arm, slot, reward, entropy);
    if (status != TACIT_OK)
        return status;
    union tacit_sum const none = {0};
    double const mean = gossip_mean(row->rule, row->base[cell],
                                    row->rule->noisy ? row->total[cell] : none, row->count[cell]);
    row->theta[cell] += row->weight[row->agent] * (mean - row->mean[cell]);
    row->mean[cell] = mean;
    return TACIT_OK;
}

/* Line 20: half the difference goes from the first to the second. */
GOSSIP_INLINE double gossip_half(double here, double there)
{
    return (here - there) / 2;
}
#endif
