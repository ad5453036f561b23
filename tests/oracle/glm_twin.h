/* The naive twin of the glm cores: one program that sees everything, keeps every sample, and builds
 * each inverse and determinant anew when it is asked for one, and the sums of an update from all
 * its samples. Plain loops, libm, no code of the project. */
#ifndef GLM_TWIN_H
#define GLM_TWIN_H
#include <stdbool.h>
#include <stdint.h>

#define TWIN_D_MAX 12
enum twin_variant { FEDGLB, V1, V2, V3, ONE_UCB, N_UCB, N_ONS, DISLINUCB, RANDOM };
enum twin_link { LOGISTIC, PROBIT, POISSON, IDENTITY };

struct twin_config {
    enum twin_variant variant;
    enum twin_link link;
    bool
        prints_square; /* the radius of variant 3 as Lemma 14 prints it; else as its proof has it */
    int clients, slots, d, arms;
    double lambda, delta, s, r, k, c, threshold, longest, scale, epsilon;
    long period;
    bool counts;         /* the trigger's time is the client's own samples */
    bool authors;        /* their descent */
    bool from_zero;      /* where it begins */
    int rounds;          /* after which it ends; 0: when it has converged */
    const double *coins; /* RANDOM: in [0, 1), one a decision; else NULL */
};

/* In the order of play. */
struct twin_decision {
    int arm;
    int rounds; /* J of an update after it; 0: none */
    double alpha;
};

/* contexts[((slot - 1) N + client) K d ..]; rewards: of each arm, [((slot - 1) N + client) K ..].
 * Fills N T decisions and theta of the last update. */
void glm_twin_run(const struct twin_config *config, const double *contexts, const double *rewards,
                  struct twin_decision *decisions, double *theta);
#endif
