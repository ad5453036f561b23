/* A learner with an index, evaluated lazily (Thompson sampling: thompson.h). Each arm has a key
 * that no index of it exceeds for a while: UCB1 and KL-UCB grow with t only through ln t, so the
 * index at a later t bounds those before it; MOSS does not depend on t, and its key is exact. A
 * tournament finds the arm with the largest key. If its index at present, or even after m zeros, is
 * above all other keys, then the next pull, or the next m + 1 pulls, are certain. Only where keys
 * overlap are indices computed. */
#include <math.h>
#include <string.h>
#include "tacit/arms.h"
#include "thompson.h"
#include "tournament.h"

/* Keys hold for a share 2^-RENEWAL of the pulls so far: renewing costs O(K), wide keys overlap. */
#define RENEWAL 11u
#define RENEWAL_KL 8u /* a key costs more */
#define RENEWAL_THOMPSON 4u
/* What rounding may do to an index: a few units of the last place of a number below 10. KL-UCB's
 * root is found to 1e-16/sqrt(d), d = ln t/n > 1e-12 (see index.c). */
#define MARGIN 1e-13
#define MARGIN_KL 1e-9

struct tacit_arms {
    struct tacit_arms_config config;
    uint64_t t;       /* pulls so far */
    uint64_t t_valid; /* keys bound the indices up to this t */
    double log_t;     /* ln t when the keys were made: not above ln of the present t */
    double log_valid; /* ln t_valid */
    double threshold; /* of Thompson sampling, until t_valid */
    uint32_t leaves;
    uint32_t spare;
    uint64_t words[]; /* pulls K | sums K | of indices: keys 2 P, winners 2 P; of Thompson sampling:
                         weights 2 P */
};

_Static_assert(sizeof(double) == sizeof(uint64_t), "keys are stored as words");

/* ---- Layout ---- */

static inline uint64_t *pulls_of(struct tacit_arms *arms)
{
    return arms->words;
}

static inline union tacit_sum *sums_of(struct tacit_arms *arms)
{
    return (union tacit_sum *)(arms->words + arms->config.arm_count);
}

static inline struct tournament tree_of(struct tacit_arms *arms)
{
    uint64_t *const words = arms->words + 2 * (size_t)arms->config.arm_count;
    return (struct tournament){.keys = (double *)words,
                               .winners = (uint32_t *)(words + 2 * (size_t)arms->leaves),
                               .leaves = arms->leaves};
}

static inline struct thompson race_of(struct tacit_arms *arms)
{
    return (struct thompson){.arm_count = arms->config.arm_count,
                             .leaves = arms->leaves,
                             .is_real = arms->config.scale.kind == TACIT_SCALE_REAL,
                             .pulls = pulls_of(arms),
                             .sums = sums_of(arms),
                             .weights =
                                 (double *)(arms->words + 2 * (size_t)arms->config.arm_count),
                             .threshold = arms->threshold};
}

static struct tacit_arms *writable(const struct tacit_arms *arms)
{
    return (struct tacit_arms *)(uintptr_t)arms;
}

static bool has_index(enum tacit_arms_kind kind)
{
    return kind == TACIT_ARMS_UCB1 || kind == TACIT_ARMS_KL_UCB || kind == TACIT_ARMS_MOSS;
}

bool tacit_arms_wants_word(enum tacit_arms_kind kind)
{
    return !has_index(kind);
}

static bool config_is_valid(const struct tacit_arms_config *config)
{
    bool const is_scale = config->scale.kind == TACIT_SCALE_REAL ||
                          (config->scale.kind == TACIT_SCALE_STEPS && !config->bounded);
    bool const is_known = has_index(config->kind) || config->kind == TACIT_ARMS_THOMPSON ||
                          config->kind == TACIT_ARMS_UNIFORM;
    return is_scale && is_known && config->arm_count >= 1 && config->arm_count <= TACIT_ARMS_MAX &&
           config->horizon >= 1 && config->horizon <= TACIT_HORIZON_MAX;
}

size_t tacit_arms_size(const struct tacit_arms_config *config)
{
    if (!config_is_valid(config))
        return 0;
    size_t const leaves =
        config->kind == TACIT_ARMS_UNIFORM ? 0 : tournament_leaves(config->arm_count);
    size_t const words = has_index(config->kind) ? 3 * leaves : 2 * leaves;
    return sizeof(struct tacit_arms) + (2 * (size_t)config->arm_count + words) * sizeof(uint64_t);
}

/* A threshold for the next pulls. */
static void renew_race(struct tacit_arms *arms)
{
    struct thompson race = race_of(arms);
    arms->t_valid = arms->t + (arms->t >> RENEWAL_THOMPSON) + arms->config.arm_count / 8;
    race.threshold = arms->threshold = thompson_threshold(&race, arms->threshold);
    thompson_rebuild(&race);
}

enum tacit_status tacit_arms_init(struct tacit_arms *arms, const struct tacit_arms_config *config)
{
    size_t const size = tacit_arms_size(config);
    if (size == 0)
        return TACIT_INVALID;
    memset(arms, 0, size);
    arms->config = *config;
    if (config->kind == TACIT_ARMS_UNIFORM)
        return TACIT_OK;
    arms->leaves = tournament_leaves(config->arm_count);
    if (config->kind == TACIT_ARMS_THOMPSON) {
        renew_race(arms);
        return TACIT_OK;
    }
    arms->t_valid = config->kind == TACIT_ARMS_MOSS ? UINT64_MAX : 0;
    struct tournament const tree = tree_of(arms);
    for (uint32_t i = 0; i < arms->leaves; i++) /* an arm without rewards goes first */
        tree.keys[arms->leaves + i] = i < config->arm_count ? INFINITY : -INFINITY;
    tournament_rebuild(&tree);
    return TACIT_OK;
}

/* ---- Estimates ---- */

/* Are rewards in [0, 1], so that nothing lowers an index more than a zero? */
static inline bool is_bounded(const struct tacit_arms *arms)
{
    return arms->config.bounded || arms->config.scale.kind == TACIT_SCALE_STEPS;
}

/* As tacit_sum_mean, in line. */
static inline double mean_of(const struct tacit_arms *arms, union tacit_sum sum, uint64_t n)
{
    if (arms->config.scale.kind == TACIT_SCALE_REAL)
        return sum.real / (double)n;
    return (double)sum.steps / ((double)n * (double)TACIT_STEPS);
}

/* No index of an arm with these rewards is larger until t_valid. */
static double key_for(const struct tacit_arms *arms, uint64_t n, union tacit_sum sum)
{
    double const mean = mean_of(arms, sum, n);
    switch (arms->config.kind) {
    case TACIT_ARMS_UCB1:
        return mean + sqrt(2 * arms->log_valid / (double)n) + MARGIN;
    case TACIT_ARMS_KL_UCB:
        return tacit_arms_kl_ucb(mean, n, arms->t_valid > 0 ? arms->t_valid : 1) + MARGIN_KL;
    case TACIT_ARMS_MOSS:
        return tacit_arms_moss(mean, n, arms->config.horizon, arms->config.arm_count);
    case TACIT_ARMS_THOMPSON:
    case TACIT_ARMS_UNIFORM:
        break;
    }
    TACIT_ASSERT(false);
    return 0;
}

/* The index at present; log_t is ln t. */
static double index_of(struct tacit_arms *arms, uint32_t arm, double log_t)
{
    uint64_t const n = pulls_of(arms)[arm];
    double const mean = mean_of(arms, sums_of(arms)[arm], n);
    if (arms->config.kind == TACIT_ARMS_UCB1)
        return mean + sqrt(2 * log_t / (double)n);
    TACIT_ASSERT(arms->config.kind == TACIT_ARMS_KL_UCB);
    return tacit_arms_kl_ucb(mean, n, arms->t);
}

/* The largest q with n kl(mean, q) <= ln t is above `bound` if bound itself is one of these q. */
static bool kl_is_surely_above(const struct tacit_arms *arms, uint64_t n, double mean, double bound)
{
    double const p = mean > 0 ? (mean < 1 ? mean : 1) : 0;
    if (p > bound)
        return true;
    return bound < 1 && (double)n * tacit_arms_kl(p, bound) < arms->log_t;
}

/* Is the index of an arm with these rewards above `bound` from now on, whatever rounding does? */
static bool is_surely_above(const struct tacit_arms *arms, uint64_t n, union tacit_sum sum,
                            double bound)
{
    double const mean = mean_of(arms, sum, n);
    switch (arms->config.kind) {
    case TACIT_ARMS_UCB1:
        return mean + sqrt(2 * arms->log_t / (double)n) > bound + MARGIN;
    case TACIT_ARMS_KL_UCB:
        return kl_is_surely_above(arms, n, mean, bound + 2 * MARGIN_KL);
    case TACIT_ARMS_MOSS:
        return tacit_arms_moss(mean, n, arms->config.horizon, arms->config.arm_count) >
               bound + MARGIN;
    case TACIT_ARMS_THOMPSON:
    case TACIT_ARMS_UNIFORM:
        break;
    }
    TACIT_ASSERT(false);
    return false;
}

/* ---- Choices ---- */

/* Keys for the next pulls. */
static void renew_keys(struct tacit_arms *arms)
{
    bool const is_kl = arms->config.kind == TACIT_ARMS_KL_UCB;
    uint64_t const more = arms->t >> (is_kl ? RENEWAL_KL : RENEWAL);
    arms->t_valid = arms->t + (more > 4 ? more : 4);
    arms->log_t = log((double)arms->t);
    arms->log_valid = log((double)arms->t_valid);
    struct tournament const tree = tree_of(arms);
    for (uint32_t arm = 0; arm < arms->config.arm_count; arm++)
        if (pulls_of(arms)[arm] > 0)
            tree.keys[arms->leaves + arm] = key_for(arms, pulls_of(arms)[arm], sums_of(arms)[arm]);
    tournament_rebuild(&tree);
}

/* The largest index, computed for every arm whose key is not below it; lowest arm on ties. */
static uint32_t contest(struct tacit_arms *arms, uint32_t top)
{
    struct tournament const tree = tree_of(arms);
    uint32_t best = top;
    double const log_t = log((double)arms->t);
    double best_index = index_of(arms, top, log_t);
    for (uint32_t arm = tournament_next(&tree, 0, best_index); arm < arms->leaves;
         arm = tournament_next(&tree, arm + 1, best_index)) {
        double const index = index_of(arms, arm, log_t);
        if (index > best_index || (index >= best_index && arm < best)) {
            best = arm;
            best_index = index;
        }
    }
    return best;
}

/* How many pulls of the leading arm are certain? m zeros lower its index by about m (mean + bonus)
 * / n; whether it stays above the others' keys is then computed, not guessed. Requires: the first
 * pull is certain, second < key. */
static uint64_t certain_count(struct tacit_arms *arms, uint32_t top, double key, double second,
                              uint64_t count_max)
{
    uint64_t const n = pulls_of(arms)[top];
    uint64_t const until = arms->t_valid - arms->t + 1;
    uint64_t const limit = count_max < until ? count_max : until;
    if (!is_bounded(arms) || limit < 2)
        return 1;
    double const guess = 0.95 * (double)n * (key - second) / (key > 1e-9 ? key : 1e-9);
    if (!(guess >= 1))
        return 1;
    uint64_t const more = guess < (double)(limit - 1) ? (uint64_t)guess : limit - 1;
    return is_surely_above(arms, n + more, sums_of(arms)[top], second) ? 1 + more : 1;
}

static struct tacit_pull_block next_by_index(struct tacit_arms *arms, uint64_t count_max)
{
    if (arms->t > arms->t_valid)
        renew_keys(arms);
    struct tournament const tree = tree_of(arms);
    uint32_t const top = tournament_top(&tree);
    double const key = tree.keys[tree.leaves + top];
    if (isinf(key))
        return (struct tacit_pull_block){.arm = top, .count = 1};
    if (arms->config.arm_count == 1)
        return (struct tacit_pull_block){.arm = 0, .count = count_max};
    double const second = tournament_second(&tree, top);
    if (is_surely_above(arms, pulls_of(arms)[top], sums_of(arms)[top], second))
        return (struct tacit_pull_block){.arm = top,
                                         .count = certain_count(arms, top, key, second, count_max)};
    bool const is_exact = arms->config.kind == TACIT_ARMS_MOSS;
    return (struct tacit_pull_block){.arm = is_exact ? top : contest(arms, top), .count = 1};
}

struct tacit_pull_block tacit_arms_next(struct tacit_arms *arms, uint64_t count_max, uint64_t word)
{
    TACIT_ASSERT(count_max > 0);
    if (has_index(arms->config.kind))
        return next_by_index(arms, count_max);
    struct tacit_rng rng = tacit_rng_stream(word, 0, 0, 0);
    if (arms->config.kind == TACIT_ARMS_THOMPSON) {
        if (arms->t > arms->t_valid)
            renew_race(arms);
        struct thompson const race = race_of(arms);
        return (struct tacit_pull_block){.arm = thompson_choose(&race, &rng), .count = 1};
    }
    return (struct tacit_pull_block){.arm = (uint32_t)tacit_rng_below(&rng, arms->config.arm_count),
                                     .count = 1};
}

/* ---- Rewards ---- */

/* Agrawal, Goyal 2012, Alg. 2: a reward in [0, 1] becomes a success with that chance. */
static union tacit_sum made_bernoulli(const struct tacit_arms *arms, uint64_t count,
                                      union tacit_sum sum, uint64_t word)
{
    double const u = (double)(int64_t)(word >> 11) * 0x1p-53;
    union tacit_sum made = {0};
    if (arms->config.scale.kind == TACIT_SCALE_STEPS) {
        int64_t const rest = sum.steps % TACIT_STEPS;
        bool const success = u * (double)TACIT_STEPS < (double)rest;
        made.steps = sum.steps - rest + (success ? TACIT_STEPS : 0);
        return made;
    }
    double const clipped = sum.real > 0 ? (sum.real < (double)count ? sum.real : (double)count) : 0;
    double const whole = floor(clipped);
    made.real = whole + (u < clipped - whole ? 1 : 0);
    return made;
}

void tacit_arms_add(struct tacit_arms *arms, uint32_t arm, uint64_t count, union tacit_sum sum,
                    uint64_t word)
{
    TACIT_ASSERT(arm < arms->config.arm_count);
    TACIT_ASSERT(count > 0 && count <= TACIT_HORIZON_MAX);
    enum tacit_arms_kind const kind = arms->config.kind;
    union tacit_sum const taken =
        kind == TACIT_ARMS_THOMPSON ? made_bernoulli(arms, count, sum, word) : sum;
    uint64_t const n = pulls_of(arms)[arm] += count;
    union tacit_sum *const total = &sums_of(arms)[arm];
    if (arms->config.scale.kind == TACIT_SCALE_REAL)
        total->real += taken.real;
    else
        total->steps += taken.steps;
    arms->t += count;
    if (has_index(kind)) {
        struct tournament const tree = tree_of(arms);
        tournament_set(&tree, arm, key_for(arms, n, *total));
    } else if (kind == TACIT_ARMS_THOMPSON) {
        struct thompson const race = race_of(arms);
        thompson_set(&race, arm);
    }
}

/* ---- Views ---- */

double tacit_arms_mean(const struct tacit_arms *arms, uint32_t arm)
{
    TACIT_ASSERT(arm < arms->config.arm_count);
    uint64_t const n = arms->words[arm];
    return n == 0 ? 0 : mean_of(arms, sums_of(writable(arms))[arm], n);
}

uint32_t tacit_arms_best(const struct tacit_arms *arms)
{
    uint32_t best = 0;
    for (uint32_t arm = 1; arm < arms->config.arm_count; arm++)
        if (tacit_arms_mean(arms, arm) > tacit_arms_mean(arms, best))
            best = arm;
    return best;
}
