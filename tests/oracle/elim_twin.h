/* Naive twin of the epoch elimination over a star (CDP-MAB): one slot, one agent, one pull at a
 * time, with a struct put into a mailbox for every message. Written from the paper (Alg. 1 and
 * Sec. IV-B) and READINGS P1 1-9, 12, 18, 19. It shares no line with the production code, and it is
 * not fast, not private and not meant to become either.
 *
 * Shape letters: M agents, N uploaders of a round, K arms, T horizon, r epoch. */
#ifndef TACIT_TESTS_ELIM_TWIN_H
#define TACIT_TESTS_ELIM_TWIN_H
#include <stdbool.h>
#include <stdint.h>

#define TWIN_TRACE_MAX 64u
#define TWIN_HORIZON_MAX (UINT64_C(1) << 40)
#define TWIN_STEPS 1048576.0 /* sound mode counts rewards in units of 2^-20 */
#define TWIN_SAME 1e-12      /* global means closer than this count as equal */

struct twin_config {
    uint32_t agents;     /* M >= 1 */
    uint32_t arms;       /* K >= 1 */
    const double *means; /* mean_rows x K, each in [0, 1] */
    uint32_t mean_rows;  /* 1: all agents alike; M: one row per agent */
    bool constant_rewards;
    uint64_t horizon; /* T, 1 .. TWIN_HORIZON_MAX */
    double epsilon;   /* > 0. The paper's letter; with `sound` per reward. INFINITY: no noise */
    bool sound;
    double participation; /* p in (0, 1] */
    uint32_t rounds;      /* R; 0: no limit */
    double gap;           /* Delta for the R rule; 0: the true smallest positive gap */
    double cost_server_link;
    uint64_t seed;
    const uint64_t *checkpoints; /* ascending slots, 1 .. T */
    uint32_t checkpoint_count;
    double *regret_at; /* out, checkpoint_count values: regret of the slots 1 .. checkpoint */
};

struct twin_epoch {
    uint64_t s; /* S(r), ceiled, never below S(r-1) */
    uint64_t n; /* S(r) - S(r-1) */
    double c;   /* C(r) */
    uint32_t active_before;
    uint32_t active_after; /* equals active_before where T cut the epoch */
    bool collected;        /* false: n = 0, or cut by T */
};

struct twin_result {
    double regret;
    double cost;
    uint32_t rounds; /* epochs whose reports were collected */
    uint32_t epochs; /* epochs begun, those with n = 0 and one cut by T included */
    uint64_t links;
    uint64_t messages; /* a broadcast is 1 */
    uint64_t messages_per_receiver;
    uint64_t scalars; /* one per reported mean */
    uint32_t final_arm_count;
    uint32_t final_arm; /* the last one; else best aggregated mean, lowest index on ties */
    bool final_arm_is_best;
    uint32_t *eliminated_epoch; /* in: the caller's array of K, or NULL; 0: survived */
    uint32_t trace_count;       /* min(epochs, TWIN_TRACE_MAX) */
    struct twin_epoch trace[TWIN_TRACE_MAX];
};

/* Plays one run of T slots. Ensures: false, with result unspecified, on a bad config or when memory
 * runs out. The same config gives the same result. Cost: O(M T). */
bool twin_run(const struct twin_config *config, struct twin_result *result);

/* A seed for run number `run` of a series: a hash of both. */
uint64_t twin_run_seed(uint64_t seed, uint64_t run);
#endif
