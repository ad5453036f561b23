/* Env: where simulated rewards come from. Pure: tables come from data/, chance from a stream. */
#ifndef TACIT_ENV_H
#define TACIT_ENV_H
#include "tacit/base.h"
#include "tacit/linalg.h"
#include "tacit/random.h"

enum tacit_env_kind {
    TACIT_ENV_BERNOULLI, /* 1 with probability mean, else 0 */
    TACIT_ENV_CONSTANT,  /* always the mean */
    TACIT_ENV_GAUSSIAN,  /* normal around the mean */
    TACIT_ENV_LOGGED     /* a row of a log, drawn with replacement */
};

/* Rewards that were logged for each (agent, arm): cell c = agent*K + arm owns rewards[start[c]] up
 * to, and without, rewards[start[c+1]]. No cell is empty. */
struct tacit_env_log {
    const uint32_t *start; /* A*K + 1 */
    const double *rewards;
    bool binary; /* every reward is 0 or 1: a sum is then one binomial */
    /* Of each reward, what tacit_env_weigh made of its weight; NULL: those of a cell are drawn
     * alike often. */
    const double *keep;
    const uint32_t *other; /* counted within the cell */
    /* The different rewards of each cell, as tacit_log_gather makes them; NULL: there are none.
     * With them many pulls at once draw how often each reward came, and not one reward after the
     * other: the same law, other words of the stream. */
    const uint32_t *value_start;
    const double *values;
    const double *upto;
    /* Whose each reward is, and how many of one unit a run may draw; 0: there is no limit. Rewards
     * of a unit that has no more are passed over. Requires, with a limit: not binary; no values; in
     * each cell units enough for all that is pulled at its agent. */
    uint32_t unit_limit;
    uint32_t unit_count;
    const uint32_t *units; /* of each reward, below unit_count */
    uint32_t *drawn;       /* of each unit in this run (tacit_sim_instance) */
};

/* Makes of `count` weights what draws them in proportion at one word a draw: place i, uniform, is
 * taken with chance keep[i], else other[i] in its stead (Walker 1977; Vose 1991). The weights are
 * read from keep. Requires: finite weights above 0; `count` words of work. Cost: O(count). */
void tacit_env_weigh(uint32_t count, double *keep, uint32_t *other, uint32_t *work);

/* Rewards that a host draws by itself (tacit/host.h), in place of normal ones. */
struct tacit_env_source {
    void *context;
    const char *name;
    /* Fills `count` rewards; `seed`: for its chance, another one each time. */
    void (*pull)(void *context, const char *name, uint32_t agent, uint32_t arm, uint32_t count,
                 uint64_t seed, double *rewards);
};

struct tacit_env_watch;

struct tacit_env {
    enum tacit_env_kind kind;
    uint32_t row_count; /* 1: all agents alike; A: one row an agent */
    uint32_t arm_count;
    const double *means; /* row_count x K; for a log, the cells' averages */
    double sd;           /* gaussian only */
    struct tacit_env_log log;
    struct tacit_env_watch *watch;         /* of this run; NULL: nobody watches */
    const struct tacit_env_source *source; /* gaussian only; NULL: rewards are normal */
};

/* ---- Replay: a log answers pulls by rejection ------------------------------------------------ */

/* What was logged, an agent's rows together. */
struct tacit_env_replay_log {
    uint32_t agent_count;
    const uint32_t *start; /* A + 1: agent a has the rows from start[a] up to start[a+1] */
    const uint32_t *arms;  /* of each row */
    const double *rewards;
    const double *keep; /* in (0, 1]: chance that a row whose arm fits answers: the agent's smallest
                           propensity over this row's, so that every proposal has the same chance */
};

/* One run's way through it (Li et al. 2011; with unequal propensities Mandel et al. 2016). An agent
 * goes through its rows in an order of the run's. A row whose arm is not the proposed one is passed
 * over, and does not come again. Where rows are independent draws, the ones that answer are what
 * the protocol would have met. */
struct tacit_env_replay {
    const struct tacit_env_replay_log *log;
    uint32_t *order; /* row_count: rows, an agent's together */
    uint32_t *next;  /* A: place in the order */
    uint64_t *slots; /* A: pulls that were answered */
    uint64_t *ends;  /* A: slots after which the rows were used up; UINT64_MAX: they were not */
    uint64_t limit;  /* slots of each agent that count */
    double earned;   /* by the pulls that count */
    uint64_t pulls;  /* that count */
    struct tacit_rng rng;
};

/* What becomes of the pulls of a run, beside what the protocol makes of them. */
struct tacit_env_watch {
    uint64_t *counts; /* A x K: pulls whose rewards were drawn; NULL: they are not counted */
    double *sums;     /* A x K: those rewards, as the protocol's scale has them */
    struct tacit_env_replay *replay; /* NULL: rewards are drawn as ever */
};

/* Puts a replay at its start: each agent's rows in random order, or, if `resamples`, as many rows
 * drawn from them with replacement. Requires: memory for all arrays; log and limit are set. */
void tacit_env_replay_start(struct tacit_env_replay *replay, uint64_t seed, uint32_t run,
                            bool resamples);

/* The slots up to which every agent's pulls were answered: the horizon, or fewer. *agent: whose
 * rows were used up first, if so. */
uint64_t tacit_env_replay_length(const struct tacit_env_replay *replay, uint64_t horizon,
                                 uint32_t *agent);

/* Pulls whose rewards the protocol never looks at, as when it waits: they take rows of a replay as
 * others do. To be said wherever a run plays without drawing. Cost: O(1) where nobody replays. */
void tacit_env_pass(const struct tacit_env *env, uint32_t agent, uint32_t arm, uint64_t count);

/* Mean reward of an arm at an agent. Requires: arm < K; agent < A. */
double tacit_env_mean(const struct tacit_env *env, uint32_t agent, uint32_t arm);

/* Writes the K global means mu_k = average over agents (Li, Song, Sec. VI-C). Cost: O(rows K). */
void tacit_env_global_means(const struct tacit_env *env, double *means);

/* Adds the rewards of `count` pulls to *sum, on the given scale: one exact draw where the law of
 * the sum is known (bernoulli, constant, binary log; gaussian on a REAL scale), else pull by pull.
 * Requires: count <= TACIT_HORIZON_MAX. */
void tacit_env_pull(const struct tacit_env *env, uint32_t agent, uint32_t arm, uint64_t count,
                    const struct tacit_scale *scale, struct tacit_rng *rng, union tacit_sum *sum);

/* Are all rewards 0 or 1? */
bool tacit_env_is_binary(const struct tacit_env *env);

/* How many of `count` pulls brought a 1: for loops of few pulls at a time, where a coin a pull
 * costs less than a binomial. Its draws are not those of tacit_env_pull. Requires:
 * tacit_env_is_binary; count <= TACIT_HORIZON_MAX. */
uint64_t tacit_env_ones(const struct tacit_env *env, uint32_t agent, uint32_t arm, uint64_t count,
                        struct tacit_rng *rng);

/* The reward of one pull, on the given scale: the law of tacit_env_pull with count 1, drawn in the
 * cheapest way, so not the same number from the same stream. */
union tacit_sum tacit_env_pull_one(const struct tacit_env *env, uint32_t agent, uint32_t arm,
                                   const struct tacit_scale *scale, struct tacit_rng *rng);

/* One pull by each agent: sums[i] becomes what tacit_env_pull_one gives for (i, arms[i], rngs[i]).
 */
void tacit_env_pull_each(const struct tacit_env *env, uint32_t agent_count, const uint32_t *arms,
                         const struct tacit_scale *scale, struct tacit_rng *rngs,
                         union tacit_sum *sums);

/* Do all rewards lie from 0 to 1? Cost: O(rows of a log). */
bool tacit_env_is_bounded(const struct tacit_env *env);

/* Does a sum cost O(count), because each pull has to be drawn by itself? */
bool tacit_env_pulls_singly(const struct tacit_env *env, const struct tacit_scale *scale);

/* Fills K means with independent uniform draws from (0, 1). */
void tacit_env_generate(double *means, uint32_t arm_count, struct tacit_rng *rng);

/* Smallest gap above 1e-12 between the best global mean and another one; 0 if all are equal.
 * (READINGS P1.9: the paper's Delta, an oracle value.) Cost: O(K). */
double tacit_env_smallest_gap(const double *means, uint32_t arm_count);

/* ---- Contextual: arms are vectors, and the reward's mean is mu(x' theta*) -----------------------
 */

enum tacit_context_source {
    TACIT_CONTEXT_SPHERE, /* K fresh unit vectors each time (Li, Wang, Sec. 5) */
    TACIT_CONTEXT_POOL    /* K different ones of a fixed pool */
};

struct tacit_context_env {
    enum tacit_context_source source;
    struct tacit_linalg_mean mean;
    uint32_t dimension;
    uint32_t arm_count;
    uint32_t pool_count; /* >= arm_count */
    const double *pool;  /* pool_count x dimension */
    double sd;           /* identity link: of the noise, normal */
    double theta[TACIT_LINALG_VECTOR_MAX];
};

/* theta* uniform on the sphere of this radius. */
void tacit_context_theta(uint32_t dimension, double norm, struct tacit_rng *rng, double *theta);

/* Fills a pool as the authors' driver does: a uniform unit vector of dimension - 1 and a constant
 * coordinate 1, so that |x|^2 = 2 (READINGS P4.14). Requires: dimension >= 2. */
void tacit_context_pool(uint32_t dimension, uint32_t pool_count, struct tacit_rng *rng,
                        double *pool);

/* Decisions that were logged, in order: whose, the item that was chosen, how it was liked. Others
 * are offered beside it, drawn from what this agent never liked; their reward is 0. Or: all arms of
 * a decision, with the reward of each. */
struct tacit_context_log {
    uint32_t agent_count;
    uint32_t dimension;
    uint32_t item_count;
    const float *items; /* item_count x dimension */
    uint64_t row_count;
    const uint32_t *agents; /* of each row */
    const uint32_t *chosen; /* of each row: its item; offers: the first of its K items */
    const double *rewards;  /* a row; offers: an item */
    const uint64_t *liked;  /* W(items) an agent; offers: NULL */
    bool is_ordered;        /* rows are in order of time; else they have none */
};

/* The arms of a row: K items, and their vectors. Its own stands at a random place. Requires: an
 * agent has at least K items that it never liked. Cost: O(K (K + d)), and more where nearly
 * everything is liked. */
void tacit_context_log_offer(const struct tacit_context_log *log, uint64_t row, uint32_t arm_count,
                             struct tacit_rng *rng, uint32_t *items, double *contexts);

/* What the item brings in that row; the best of its arms, and their average. */
double tacit_context_log_reward(const struct tacit_context_log *log, uint64_t row,
                                uint32_t arm_count, uint32_t item, double *best, double *average);

/* K contexts, a row each, without padding. Cost: O(K d). */
void tacit_context_offer(const struct tacit_context_env *env, enum tacit_linalg_path path,
                         struct tacit_rng *rng, double *contexts);

/* The same draw, for who decides by this rule: only those contexts, in order, that it
 * could choose, or that have the highest mean; the others are not made. Returns how many. Their
 * bits are those of tacit_context_offer; how many there are depends on the path. */
uint32_t tacit_context_contenders(const struct tacit_context_env *env, enum tacit_linalg_path path,
                                  struct tacit_rng *rng, const struct tacit_linalg_rule *rule,
                                  double *contexts);

/* Means of the best context of an offer and of the chosen one. Cost: O(K d). */
void tacit_context_means(const struct tacit_context_env *env, enum tacit_linalg_path path,
                         uint32_t arm_count, const double *contexts, uint32_t arm, double *best,
                         double *chosen);

/* One reward with this mean: a coin (logistic, probit), a Poisson count, or a normal. */
double tacit_context_reward(const struct tacit_context_env *env, double mean,
                            struct tacit_rng *rng);
#endif
