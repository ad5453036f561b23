/* Privacy: exact samplers, release mechanisms (sampler + cost + name), the ledger and the
 * statement. Not here: entropy from the operating system (live/), budgets' files (live/). Pure.
 *
 * Words (PRIVACY.md): reward-level privacy compares two histories that differ in the value of ONE
 * reward, with the same schedule and the same pulls. nano: billionths of an epsilon. */
#ifndef TACIT_PRIVACY_H
#define TACIT_PRIVACY_H
#include "tacit/base.h"
#include "tacit/random.h"

#define TACIT_NANO UINT64_C(1000000000)
/* A number of billionths. */
static inline double tacit_nano_value(uint64_t nano)
{
    return (double)nano / (double)TACIT_NANO;
}

/* Largest epsilon per reward: anything above protects nothing and would only cost accuracy here. */
#define TACIT_EPSILON_MAX 1e6
/* Above this, PRIVACY.md D.46: the guarantee is formal only. */
#define TACIT_EPSILON_FORMAL 10.0

/* ---- Exact samplers (Canonne, Kamath, Steinke 2020), in 64-bit integers only ----------------- */

/* *heads becomes true with probability exactly exp(-numerator/denominator), given uniform bytes.
 * Requires: numerator <= denominator, 0 < denominator <= 2^50.
 * Errors: TACIT_INVALID, TACIT_ENTROPY; *heads untouched. Cost: 2.7 draws at most, expected.
 * Reference: CKS 2020, Algorithm 1 (gamma <= 1).  Tested by: tests/kat/samplers.c,
 * tests/stat/privacy_stat.c */
enum tacit_status tacit_bernoulli_exp(uint64_t numerator, uint64_t denominator,
                                      const struct tacit_entropy *entropy, bool *heads);

/* *noise is drawn from the discrete Laplace law P(x) proportional to exp(-|x| s/t), t/s the scale.
 * Requires: 0 < t <= 2^50, 0 < s <= 2^50.
 * Errors: TACIT_INVALID, TACIT_ENTROPY; *noise untouched.
 * Reference: CKS 2020, Algorithm 2.  Tested by: tests/kat/samplers.c, tests/stat/privacy_stat.c */
enum tacit_status tacit_discrete_laplace(uint64_t t, uint64_t s,
                                         const struct tacit_entropy *entropy, int64_t *noise);

/* ---- Release mechanisms: one interface, two ways --------------------------------------------- */

enum tacit_privacy_mode {
    TACIT_PRIVACY_NONE,  /* nothing is added and nothing is promised */
    TACIT_PRIVACY_PAPER, /* the papers' letter: double sums, double Laplace. Simulation only */
    TACIT_PRIVACY_SOUND  /* clipped integers, exact discrete Laplace: the promise holds */
};

struct tacit_mechanism_config {
    enum tacit_privacy_mode mode;
    double epsilon_per_reward; /* what one reward really costs; INFINITY: no noise */
    double lo;                 /* public bounds of a reward */
    double hi;
};

/* How a sum of rewards of one disjoint cell (one arm, one epoch) becomes a release. A plain value.
 */
TACIT_NO_GAPS
struct tacit_mechanism {
    enum tacit_privacy_mode mode;
    bool noisy;
    uint8_t spare[7 - sizeof(enum tacit_privacy_mode)];
    uint64_t epsilon_nano; /* cost of a release for each reward in it; 0 when not noisy */
    struct tacit_scale scale;
    double laplace_scale; /* paper: (hi-lo)/epsilon, on the sum */
    uint64_t scale_t;     /* sound: discrete Laplace of scale t/s = STEPS/epsilon, on the sum */
    uint64_t scale_s;
};
TACIT_NO_GAPS_END

/* Requires: lo < hi finite, 1e-150 <= hi - lo <= 1e150, epsilon > 0 (written so that NaN fails).
 * Sound mode rounds epsilon DOWN to nano-epsilon and noises with the rounded value; the smallest
 * one is 1e-6 (beyond it the noise would exceed the integers). Errors: TACIT_INVALID, *mechanism
 * untouched. */
enum tacit_status tacit_mechanism_init(struct tacit_mechanism *mechanism,
                                       const struct tacit_mechanism_config *config);

/* What a release costs each reward that is in its cell, in nano-epsilon (rounded up). */
uint64_t tacit_mechanism_cost_nano(const struct tacit_mechanism *mechanism);

/* Epsilon of the noise as it is drawn; INFINITY: none is. */
double tacit_mechanism_epsilon(const struct tacit_mechanism *mechanism);

/* *noised = exact + fresh noise. The noise does not depend on how many rewards are in the sum: the
 * paper's Lap(1/(M eps n)) on the mean of n (Li, Song, Alg. 1 l. 9) is Lap(1/(M eps)) on the sum.
 * Errors: TACIT_ENTROPY, *noised untouched. */
enum tacit_status tacit_mechanism_release(const struct tacit_mechanism *mechanism,
                                          union tacit_sum exact,
                                          const struct tacit_entropy *entropy,
                                          union tacit_sum *noised);

/* Could an honest peer have sent this as the noised sum of `count` rewards in `releases` releases?
 * Laplace noise is unbounded, so the bound is generous: k = 60 scales a release (chance e^-60).
 * Real sums must be finite. (PRIVACY.md D.31) */
bool tacit_mechanism_plausible(const struct tacit_mechanism *mechanism, union tacit_sum noised,
                               uint64_t count, uint32_t releases);

/* ---- Tree aggregation: a running sum that is released again and again ------------------------ */

/* Leaf t lies in one interval of each level: [t, t], .., and the sum of leaves 1 .. t is the sum of
 * at most bit_length(t) intervals, those of the ones in t: 13 is [13,13], [9,12], [1,8]. Each
 * interval is noised once and its noised value is used ever after (Chan, Shi, Song 2011; Zhu et al.
 * 2021, Alg. 2 and 3). One leaf lies in bit_length(leaf_max) intervals at most, so each may cost
 * that share of epsilon. Paper mode divides by ceil(log2 leaf_max) instead, which is one too few
 * where leaf_max is a power of two: tacit_tree_cost_nano says what it really costs. */
struct tacit_tree_config {
    struct tacit_mechanism_config mechanism; /* epsilon_per_reward: for all that a tree releases */
    uint64_t leaf_max;                       /* leaves that may ever be released */
};

/* What all trees of a configuration share. A plain value. */
struct tacit_tree_rule {
    struct tacit_mechanism node; /* of one interval */
    uint64_t leaf_max;
    uint32_t level_count; /* bit_length(leaf_max) */
    uint32_t share_count; /* by which epsilon is divided */
    uint64_t cost_nano;
};

/* An interval of the present sum. `released` is its noised value and those of all longer ones. */
struct tacit_tree_node {
    union tacit_sum exact;
    union tacit_sum released;
};

/* The tree of one sum (of one agent and arm): the intervals of the present sum only. It holds exact
 * sums: keep it in memory and never on a disk, since a copy would noise the same intervals again
 * (PRIVACY.md B.2). A new life of a process opens a new tree over new rewards. */
struct tacit_tree {
    uint64_t leaf; /* the last one that was added; 0: none */
    uint64_t held; /* bit l: the interval of level l holds a reward */
    struct tacit_tree_node nodes[];
};

/* Requires: as tacit_mechanism_init; 0 < leaf_max <= 2 TACIT_HORIZON_MAX, paper mode with noise
 * leaf_max >= 2. Errors: TACIT_INVALID, *rule untouched. Sound mode rounds the share of an interval
 * down to nano-epsilon. */
enum tacit_status tacit_tree_rule_init(struct tacit_tree_rule *rule,
                                       const struct tacit_tree_config *config);

/* What the releases of a tree cost each reward in it at most, in nano-epsilon: the number of its
 * intervals times the cost of one. 0 when not noisy. */
uint64_t tacit_tree_cost_nano(const struct tacit_tree_rule *rule);

/* Bytes of a tree, a multiple of 8: O(log leaf_max). */
size_t tacit_tree_size(const struct tacit_tree_rule *rule);

/* Ensures: no leaf. Requires: 8-byte aligned memory of tacit_tree_size bytes. */
void tacit_tree_init(struct tacit_tree *tree, const struct tacit_tree_rule *rule);

/* Adds a reward (one level or real number, in a sum of its own) at a leaf; the leaves that were
 * left out hold nothing and get no noise. *total becomes the noised sum of leaves 1 .. leaf; it is
 * drawn in the order of Alg. 2, shortest interval first. Requires: leaf > tree->leaf. Errors:
 * TACIT_BUDGET: leaf > leaf_max; TACIT_ENTROPY; tree and total untouched. Cost: two draws at most,
 * O(log leaf_max) additions, O(1) amortised where no leaf is left out. Reference: Zhu et al. 2021,
 * Alg. 2, 3.  Tested by: tests/unit/tree.c, tests/stat/audit_stat.c */
enum tacit_status tacit_tree_add(const struct tacit_tree_rule *rule, struct tacit_tree *tree,
                                 uint64_t leaf, union tacit_sum reward,
                                 const struct tacit_entropy *entropy, union tacit_sum *total);

/* ---- Ledger ---------------------------------------------------------------------------------- */

/* A decimal in billionths, rounded down: 4.1 is 4,100,000,000, though its double times 1e9 is one
 * unit in the last place less. Requires: 0 <= value < 2^33. */
uint64_t tacit_nano_of(double value);

/* The same rounded up: what is promised is never less than what is lost. */
uint64_t tacit_nano_up(double value);

/* What has been spent on one data scope, in integer nano-epsilon. Within a scope, cells are
 * disjoint sets of rewards (one epoch each) and take the maximum; releases of the same cell add;
 * scopes over the same data add. Never refunds. A plain value that is persisted with the state it
 * guards. */
struct tacit_ledger {
    uint64_t budget_nano;
    uint64_t past_scopes_nano;  /* scopes that are over */
    uint64_t closed_cells_nano; /* maximum over the closed cells of this scope */
    uint64_t open_cell_nano;    /* sum over the releases of the open cell */
    uint64_t open_cell;         /* its number; cells are visited in growing order */
    uint64_t release_count;     /* all spends ever */
    uint64_t gross_nano;        /* plain sum of all spends ever: for audits, not the loss */
};

/* Ensures: nothing spent. */
struct tacit_ledger tacit_ledger_init(uint64_t budget_nano);

/* What one reward may have lost at most, so far. */
uint64_t tacit_ledger_spent_nano(const struct tacit_ledger *ledger);

/* Charges a release on `cell` (>= every cell before it; a larger one closes the open one).
 * Errors: TACIT_BUDGET if the total would exceed the budget (equality is allowed), TACIT_INVALID if
 * the cell is closed already or a sum overflows; the ledger is untouched. */
enum tacit_status tacit_ledger_spend(struct tacit_ledger *ledger, uint64_t cell, uint64_t nano);

/* The next spends are on a new scope over possibly the same data: its loss adds. */
void tacit_ledger_next_scope(struct tacit_ledger *ledger);

/* ---- Promise: what is said to people of what a run protects ---------------------------------- */

#define TACIT_STATEMENT_BYTES 4096u

/* What is added before anything leaves. */
enum tacit_noise {
    TACIT_NOISE_NONE,
    TACIT_NOISE_DOUBLE,   /* the papers': Laplace in doubles. Simulation only */
    TACIT_NOISE_LAPLACE,  /* exact discrete Laplace on integers */
    TACIT_NOISE_GAUSSIAN, /* exact discrete Gaussian on integers */
    TACIT_NOISE_RESPONSE  /* randomised response */
};

/* Of what epsilon is the loss: that which is replaced. */
enum tacit_protected {
    TACIT_PROTECTED_REWARD,
    TACIT_PROTECTED_INTERACTION, /* the chosen context and its reward */
    TACIT_PROTECTED_DATA_SET     /* all data of a user */
};

/* What leaves an agent, with noise or without. */
enum tacit_leaving {
    TACIT_LEAVING_SUMS, /* of the rewards of each epoch */
    TACIT_LEAVING_MEANS,
    TACIT_LEAVING_VOTES,
    TACIT_LEAVING_REWARDS,   /* each one */
    TACIT_LEAVING_GRADIENTS, /* and matrices of contexts */
    TACIT_LEAVING_MOMENTS,   /* sums of x x' and x y of a batch */
    TACIT_LEAVING_UPDATES    /* of a model */
};

/* Why no epsilon is guaranteed although there is noise: bits. */
enum tacit_gap {
    TACIT_GAP_UNBOUNDED = 1,  /* rewards have no bounds, and are not clipped */
    TACIT_GAP_FIRST_RAW = 2,  /* the first reward of every arm goes as it is */
    TACIT_GAP_WAITING = 4,    /* what is played while an agent waits follows rewards as they are */
    TACIT_GAP_COORDINATES = 8 /* each coordinate is noised as if it were the only one */
};

/* The mechanism. */
struct tacit_promise_mechanism {
    enum tacit_noise noise;
    enum tacit_protected of;
    enum tacit_leaving leaving;
    uint64_t epsilon_nano;
    uint64_t delta_nano; /* 0: pure */
    uint64_t rho_nano;   /* Gaussian: zero-concentrated */
    uint32_t releases;   /* noised sums that a reward is in at most; 0: nothing is said of it */
    unsigned gaps;       /* of enum tacit_gap */
    bool is_counted;     /* budgets are kept, but this run makes nothing that would be noised */
    /* The paper's letter eps; 0: there is none. */
    uint64_t letter_nano;
    uint32_t agent_count;
    uint32_t report_count; /* N: agents that upload in a round; 0: its noise is not divided by it */
    uint32_t share_count;  /* parts of eps that a noised sum gets one of; 0: there are none */
    uint64_t slot_count;   /* T, where each reward has a T-th of eps; else 0 */
};

/* Who is sent what, and so against whom the noise must protect, and who holds releases. With more
 * aggregators: more of them, and what each one's view rests on. */
enum tacit_audience {
    TACIT_AUDIENCE_STAR,   /* to the coordinator: what leaves each agent */
    TACIT_AUDIENCE_GRAPH,  /* to every other agent: what leaves each agent */
    TACIT_AUDIENCE_HYBRID, /* on the way to a sink: the same; to the coordinator: totals */
    TACIT_AUDIENCE_ALONE,  /* nothing */
    TACIT_AUDIENCE_VOTES   /* votes to everybody; the coordinator holds what is drawn */
};

/* The trust model. A simulation leaves all but the audience as 0. */
struct tacit_promise_trust {
    enum tacit_audience audience;
    bool is_live;        /* a site's own daemon, with entropy of the operating system */
    bool is_settled;     /* every reward is counted at a fixed time after its decision */
    bool is_in_memory;   /* exact sums die with the process: no grants */
    bool has_peers;      /* other sites pass on what it says */
    bool has_helper;     /* two aggregators: the noise is theirs, each alone is the epsilon's; .. */
    uint64_t floor_nano; /* .. and that of sites themselves, against both together; 0: none */
    /* By the rows of the site's ledger: */
    uint32_t unit_rewards_max;  /* of one unit, that enter anything; 0: there is no limit */
    uint32_t unit_rewards_most; /* that entered of one unit so far, at most */
    uint64_t spent_nano;        /* the most that a reward has lost, whatever the file says now */
};

/* What a run promises. */
struct tacit_promise {
    struct tacit_promise_mechanism mechanism;
    struct tacit_promise_trust trust;
    bool is_logged;     /* rewards are rows of a file, of which exact statistics are shown */
    const char *remark; /* what the family has to say besides; NULL: nothing */
};

/* Of a mechanism whose releases each hold a reward once. */
struct tacit_promise_mechanism tacit_promise_mechanism_of(const struct tacit_mechanism *mechanism,
                                                          enum tacit_leaving leaving);

/* Is there an epsilon at all: noise, and nothing that takes the guarantee back? */
bool tacit_promise_holds(const struct tacit_promise *promise);

/* The head: "none", "paper: double Laplace", "sound: exact discrete Laplace", … Static storage. */
const char *tacit_promise_name(const struct tacit_promise *promise);

/* Of what epsilon is the loss: "reward", "interaction", "user". Static storage. */
const char *tacit_promise_of(const struct tacit_promise *promise);

/* In place of a number where no epsilon is guaranteed: "no noise", "no guarantee". NULL: one is. */
const char *tacit_promise_lack(const struct tacit_promise *promise);

/* Writes the statement in plain words: epsilon, what is protected, against whom, what is not; where
 * nothing is, that. The only place that does. Ensures: text->bytes is some sentences, without line
 * breaks. */
void tacit_promise_state(const struct tacit_promise *promise, struct tacit_text *text);
#endif
