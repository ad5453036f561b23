/* Play in phases (EXACT-BOUNDS 4 and 5): what is agreed before the first pull, and the ladder of
 * sizes that each arm climbs. Pure functions.
 *
 * A sites (agents), K arms, T slots per site, S_e pulls per site after e releases of an arm. */
#ifndef TACIT_PHASES_H
#define TACIT_PHASES_H
#include "tacit/base.h"
#include "tacit/bounds.h"
#include "tacit/core.h"

#define TACIT_PHASES_ARMS_PER_ROUND 4u
#define TACIT_PHASES_GROWTH 2.0

enum tacit_phases_rule {
    TACIT_PHASES_INDEX,       /* EXACT-BOUNDS 5 */
    TACIT_PHASES_ELIMINATION, /* EXACT-BOUNDS 4; decides at delta = 1/T without a confidence */
    TACIT_PHASES_SUMS /* published sums (tacit/vote.h) in rounds: each is of S_1 pulls of each arm
                       * that is left, and looks are at numbers of rounds that grow. The ladder is
                       * that of the looks; a confidence is needed, and all arms are there */
};

/* Public to all. */
TACIT_NO_GAPS
struct tacit_phases {
    enum tacit_phases_rule rule;
    uint32_t arm_count;        /* K: all arms there may ever be */
    uint32_t first_count;      /* of them those of the first plan, 0, 1, ..; the others may be added
                                * later. 0: all */
    uint32_t agent_count;      /* M */
    uint64_t horizon;          /* T; M T R < 2^62 */
    double epsilon_per_reward; /* in [1e-6, 1e6], of the noise as it is drawn; the smallest one of
                                * all sites. INFINITY: no noise */
    double growth;             /* of the ladder, in (1, 4]; with it 64 rungs must reach T */
    uint32_t arms_per_round;   /* B >= 2; elimination ignores it */
    uint32_t floor_milli;      /* two aggregators (tacit/bounds.h): TACIT_ONE_AGGREGATOR, .. */
    double confidence; /* 1 - delta, in [0.5, 1): decide. 0: play for regret, or delta = 1/T */
    /* A guard (of the index): with the confidence, or 95 %, the means of all that was played add up
     * to no less than those of as many pulls of guard_arm, less guard_loss a pull, at all times.
     * Its arm is played alone until the others may be. */
    uint32_t guard_arm;
    uint32_t spare;
    union {
        double guard_loss; /* in (0, 1), a part of the range; 0: no guard */
        double accuracy;   /* sums: in (0, 1]; who is surely better by no more may go */
    };
};
TACIT_NO_GAPS_END

/* Is every parameter in its range, and do sums and ladder stay within theirs? */
bool tacit_phases_is_valid(const struct tacit_phases *schedule);

/* S_1: each arm's pulls per site in the first plan. Requires: a valid schedule. */
uint64_t tacit_phases_first_rung(const struct tacit_phases *schedule);

/* Arms of the first plan. */
uint32_t tacit_phases_first_count(const struct tacit_phases *schedule);

/* Smallest T at which the first plan fits: S_1 times its arms. Below it nothing is ever released.
 * With a guard: at which all arms get a release. */
uint64_t tacit_phases_horizon_min(const struct tacit_phases *schedule);

/* S_1, S_2, ... up to the first one beyond T; their number, 0 where 64 do not get there. Writes
 * them unless `rungs` is NULL. Requires: room for TACIT_BOUNDS_RELEASES_MAX of them. */
uint32_t tacit_phases_climb(const struct tacit_phases *schedule, uint64_t *rungs);

/* The arms with the largest UCBs of those that were ranked, lowest index on ties. */
struct tacit_phases_ranking {
    const double *uppers;          /* by arm */
    struct tacit_pull_block *heap; /* room for count_max; their arms, the last of them at [0] */
    uint32_t count;
    uint32_t count_max;
};

/* Ranks an arm. Requires: it was not ranked; UCBs of ranked arms do not change; count_max > 0.
 * Cost: O(log count_max). */
void tacit_phases_rank(struct tacit_phases_ranking *ranking, uint32_t arm);

/* What the index plays next depends on. */
struct tacit_phases_choice {
    uint32_t arm_count;      /* K */
    uint32_t arms_per_round; /* B */
    uint32_t leader;
    const double *uppers; /* K: UCBs */
    double bound;         /* a challenger's UCB is no less */
    /* Of an arm's next release; 0: it is not to be played. */
    uint64_t (*pulls)(const void *state, uint32_t arm);
    const void *state;
};

/* Writes the plan in increasing order of arms: the B - 1 challengers with the largest UCBs, lowest
 * index on ties, and the leader, if there is no challenger or if its next rung is at most the
 * challengers' together. Returns the number of blocks. Requires: room for B blocks, leader < K.
 * Cost: O(K log B). Source: EXACT-BOUNDS 5.3, 5.5. */
uint32_t tacit_phases_choose(const struct tacit_phases_choice *choice,
                             struct tacit_pull_block *plan);

/* delta of the intervals that hold at all times: 1 - confidence, or 1/T (EXACT-BOUNDS 4.2). */
double tacit_phases_delta(const struct tacit_phases *schedule);

/* Has it a guard? Cost: O(1). */
static inline bool tacit_phases_is_guarded(const struct tacit_phases *schedule)
{
    return schedule->rule != TACIT_PHASES_SUMS && schedule->guard_loss > 0;
}

/* As a state keeps it: without a guard its arm is 0. */
struct tacit_phases tacit_phases_canonical(const struct tacit_phases *schedule);
#endif
