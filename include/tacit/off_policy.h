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
#include "tacit/random.h"

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

/* ---- Policies with contexts ----------------------------------------------------------------- */

/* What another policy would have earned: pi_i(a) is the probability with which it chooses a in row
 * i, w_i = pi_i(a_i)/propensity_i, g_i = sum over a of pi_i(a) q_i(a).
 *   ips, self_normalised    as above, with these w
 *   direct                  (1/n) sum g_i: biased as q is, so it has no interval
 *   doubly_robust           (1/n) sum g_i + w_i (r_i - q_i(a_i))
 *   switched                the same, without the correction of rows whose w is above a limit
 *                           (Wang, Agarwal, Dudik 2017): a little biased, and seldom far off
 *   gain                    doubly_robust less what was logged, row by row */
struct tacit_off_policy_policy {
    uint32_t valued_rows;
    uint32_t row_count;                      /* of these: whose arm it may choose there */
    double effective_rows;                   /* (sum w)^2 / sum w^2 */
    struct tacit_off_policy_estimate weight; /* the mean of w: 1, if the log supports the policy */
    struct tacit_off_policy_estimate ips;
    struct tacit_off_policy_estimate self_normalised;
    struct tacit_off_policy_estimate doubly_robust;
    struct tacit_off_policy_estimate switched;
    struct tacit_off_policy_estimate gain;
    double direct;
};

/* `choices` (n x K): pi_i(a), each row adds up to 1; `model` (n x K): q_i(a), which may know
 * nothing of row i. log->cells is not looked at. Rows of folds before `first_fold` are not valued:
 * where a row's policy was trained on the folds before its own, which makes what rows bring beyond
 * its policy's worth a martingale difference, so that these errors are right (Luedtke, van der Laan
 * 2016); trained on all other folds they are too small wherever arms are nearly alike. Errors are
 * those of means of independent rows, of self_normalised by the delta method.
 * Requires: a row that is valued; switch_at > 0. Cost: O(n K). */
void tacit_off_policy_policy(const struct tacit_off_policy_log *log, const double *choices,
                             const double *model, double switch_at, uint32_t first_fold,
                             struct tacit_off_policy_policy *result);

#define TACIT_OFF_POLICY_RESAMPLES 500u

/* The errors of a result by the bootstrap instead (Efron 1979): of each estimate the standard
 * deviation over TACIT_OFF_POLICY_RESAMPLES draws of its rows with replacement; the models and
 * policies are as they are. Arguments as above; `work`: 5 doubles a row. Cost: O(n) a draw. */
void tacit_off_policy_bootstrap(const struct tacit_off_policy_log *log, const double *choices,
                                const double *model, double switch_at, uint32_t first_fold,
                                struct tacit_rng *rng, double *work,
                                struct tacit_off_policy_policy *result);

/* What the choices that were logged earned: the plain mean of the rows. */
struct tacit_off_policy_estimate tacit_off_policy_logged(const struct tacit_off_policy_log *log);
#endif
