/* User selection written down as the paper has it, stupid on purpose: every formula anew from the
 * whole history, every set tried. */
#ifndef SELECT_TWIN_H
#define SELECT_TWIN_H
#include <stdbool.h>
#include <stdint.h>

#define TWIN_USERS_MAX 16
#define TWIN_ROUNDS_MAX 400

struct select_twin {
    int user_count;
    int m;
    double alpha, beta, gamma, zeta, latency_min, total, eta;
    double sizes[TWIN_USERS_MAX];
    int rounds;
    bool chosen[TWIN_ROUNDS_MAX][TWIN_USERS_MAX];
    double latency[TWIN_ROUNDS_MAX][TWIN_USERS_MAX];
};

double twin_times(const struct select_twin *twin, int user);          /* T_k(t-1) */
double twin_ucb(const struct select_twin *twin, int user);            /* Eq. (11), (13) */
double twin_generalization(const struct select_twin *twin, int user); /* Eq. (8) */
double twin_privacy(const struct select_twin *twin, int user);        /* Eq. (7) */
double twin_energy(const struct select_twin *twin, uint32_t set); /* Eq. (14) of a set of bits */
double twin_best(const struct select_twin *twin);                 /* over all sets of m */

/* Are two sets of m users neighbours by R1 and R2 of Sec. IV-A, with the columns given? */
bool twin_are_neighbours(int user_count, const double *ucb, const double *g, const double *p,
                         uint32_t set, uint32_t other);
#endif
