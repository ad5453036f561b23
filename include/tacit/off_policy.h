/* Off-policy: what an arm would have earned had it been played in every row of a log that somebody
 * else's choices made. A row has the arm that was chosen, what it brought, and its propensity: the
 * probability with which it was chosen there. Pure; memory is the caller's.
 *
 * n rows, G cells (sites), K arms; w_i = 1/propensity_i where row i chose the arm, else 0.
 *   ips               (1/n) sum w_i r_i                              (Horvitz, Thompson 1952)
 *   self_normalised   (sum w_i r_i) / (sum w_i)                      (Hajek; Swaminathan, Joachims
 *                                                                     2015)
 *   doubly_robust     (1/n) sum q_i + w_i (r_i - q_i)                (Dudik, Langford, Li 2011)
 * with q_i the mean reward of the arm in the row's cell, over the rows of the other folds
 * (cross-fitting; Chernozhukov et al. 2018): q_i knows nothing of row i, so that the doubly robust
 * estimate is unbiased whatever q is, as long as the propensities are right. */
#ifndef TACIT_OFF_POLICY_H
#define TACIT_OFF_POLICY_H
#include "tacit/base.h"

/* Row i is in fold i mod 5. */
#define TACIT_OFF_POLICY_FOLDS 5u

struct tacit_off_policy_log {
    uint32_t row_count;
    uint32_t arm_count;
    uint32_t cell_count;
    const uint32_t *arms;  /* of each row: < arm_count */
    const uint32_t *cells; /* of each row: < cell_count */
    const double *rewards;
    const double *propensities; /* in (0, 1] */
};

struct tacit_off_policy_estimate {
    double value; /* NaN: nothing can be said */
    double error; /* its standard error; NaN: of fewer than two rows */
};

/* One arm, over the rows of a cell or over all. */
struct tacit_off_policy_arm {
    uint32_t row_count;    /* that chose it */
    double effective_rows; /* (sum w)^2 / sum w^2: so many equal weights say as much (Kish 1965) */
    struct tacit_off_policy_estimate weight; /* the mean of w: 1, if the propensities are right */
    struct tacit_off_policy_estimate ips;
    struct tacit_off_policy_estimate self_normalised;
    struct tacit_off_policy_estimate doubly_robust;
    double direct; /* mean of q alone: biased where rows of a cell differ in more than the arm */
};

/* Doubles that tacit_off_policy_arms works in: G K (2 F + 1) + 2 F (K + 1) + F G. */
size_t tacit_off_policy_work_size(uint32_t cell_count, uint32_t arm_count);

/* Fills (G + 1) K results: cell g's arm k at [g K + k], then those over all rows at [G K + k].
 * Standard errors are those of a mean of n independent rows; of the self-normalised estimate by the
 * delta method. Requires: work of the size above; at least one row. Cost: O(n + F G K). */
void tacit_off_policy_arms(const struct tacit_off_policy_log *log, double *work,
                           struct tacit_off_policy_arm *results);

/* What the choices that were logged earned: the plain mean of the rows. */
struct tacit_off_policy_estimate tacit_off_policy_logged(const struct tacit_off_policy_log *log);
#endif
