/* Naive twin of the best-arm subroutines: dense arrays, a switch over words, every index computed
 * anew at every step. Written from Feraud et al. and READINGS P3 alone; it shares no line with the
 * production code. Mutations plant the bugs that the comparison must see. */
#ifndef TACIT_TESTS_BEST_ARM_TWIN_H
#define TACIT_TESTS_BEST_ARM_TWIN_H
#include <stdbool.h>
#include <stdint.h>

#define BEST_TWIN_ARMS_MAX 16

struct best_twin {
    const char *kind; /* "naive" .. "ugapec" */
    int arms;         /* K */
    double epsilon;
    double failure;
    double radius_factor; /* 1; a mutant has 1/2 */
    bool without_log;     /* mutant: time does not enter the logarithm */
    bool in[BEST_TWIN_ARMS_MAX];
    bool dropped[BEST_TWIN_ARMS_MAX];
    bool played[BEST_TWIN_ARMS_MAX]; /* in this round */
    double sum[BEST_TWIN_ARMS_MAX];
    long n[BEST_TWIN_ARMS_MAX];
    long samples;
    long rounds;
    int phase; /* median: from 1 */
    int first; /* adaptive: to be played first, second; -1: none */
    int second;
    int order[BEST_TWIN_ARMS_MAX]; /* ser3, ser4: of this round */
    int order_count;               /* 0: not drawn */
    int asked;                     /* the arm that was answered last and has no reward yet; -1 */
};

/* Brings the arms of a round into a drawn order: the only chance there is. */
typedef void best_twin_shuffle(void *context, int count, int *arms);

void best_twin_start(struct best_twin *twin, const char *kind, int arms, double epsilon,
                     double failure);
int best_twin_next(struct best_twin *twin, best_twin_shuffle *shuffle, void *context);
void best_twin_observe(struct best_twin *twin, double reward);
void best_twin_allow(struct best_twin *twin, const bool *allowed);
int best_twin_count(const struct best_twin *twin);
int best_twin_answer(const struct best_twin *twin);
#endif
