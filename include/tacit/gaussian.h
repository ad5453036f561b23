/* Gaussian: the exact discrete Gaussian law, and a ledger in rho of zero-concentrated differential
 * privacy (Bun, Steinke 2016), for releases of whole vectors whose sensitivity is a Euclidean norm.
 * Integers only. Pure; part of the room privacy. */
#ifndef TACIT_GAUSSIAN_H
#define TACIT_GAUSSIAN_H
#include "tacit/privacy.h"

/* ---- Sampler ----------------------------------------------------------------------------------
 */

/* sigma^2 = quotient 2^scale_log2, exactly. 2^scale_log2 is close to sigma: the Laplace law that is
 * thinned out. A plain value. */
struct tacit_gaussian {
    uint32_t scale_log2;
    uint64_t quotient;
};

#define TACIT_GAUSSIAN_VARIANCE_LOG2_MAX 61u

/* sigma^2 = numerator 2^shift/denominator, rounded up by less than 2 sigma. Requires: all but the
 * shift > 0, shift <= 62. Errors: TACIT_INVALID: sigma^2 would exceed 2^61; *gaussian untouched. */
enum tacit_status tacit_gaussian_init(struct tacit_gaussian *gaussian, uint64_t numerator,
                                      uint32_t shift, uint64_t denominator);

/* As a real number. */
double tacit_gaussian_variance(const struct tacit_gaussian *gaussian);

/* *noise is drawn from P(x) proportional to exp(-x^2/(2 sigma^2)) over the integers, exactly, given
 * uniform bytes. Errors: TACIT_ENTROPY, *noise untouched. Cost: O(1) expected.
 * Reference: Canonne, Kamath, Steinke 2020, Algorithm 3.  Tested by: tests/stat/gaussian_stat.c */
enum tacit_status tacit_discrete_gaussian(const struct tacit_gaussian *gaussian,
                                          const struct tacit_entropy *entropy, int64_t *noise);

/* ---- Ledger -----------------------------------------------------------------------------------
 */

/* The largest rho, in nano-rho, that implies (epsilon, delta): (sqrt(ln(1/delta) + epsilon) -
 * sqrt(ln(1/delta)))^2, rounded down (Bun, Steinke 2016, Prop. 1.3). Requires: 0 < epsilon <=
 * TACIT_EPSILON_MAX, 0 < delta < 1. */
uint64_t tacit_rho_of_epsilon_nano(double epsilon, double delta);

/* What a pure release of this epsilon costs in nano-rho: e^2/2, rounded up. Requires: epsilon <=
 * TACIT_EPSILON_MAX. */
uint64_t tacit_rho_of_pure_nano(uint64_t epsilon_nano);

#define TACIT_RHO_GROUPS_MAX 64u

/* Beside the pure ledger: what has been spent, in integer nano-rho. Releases of one group are of
 * disjoint data and cost their maximum (the intervals of one level of a tree); groups add. Never
 * refunds. A plain value that is persisted with the state it guards. */
struct tacit_rho_ledger {
    uint64_t budget_nano;
    uint64_t release_count;
    uint64_t group_nano[TACIT_RHO_GROUPS_MAX];
};

/* Ensures: nothing spent. */
struct tacit_rho_ledger tacit_rho_ledger_init(uint64_t budget_nano);

/* What one interaction may have lost at most, so far. */
uint64_t tacit_rho_ledger_spent_nano(const struct tacit_rho_ledger *ledger);

/* Charges a release. Requires: group < TACIT_RHO_GROUPS_MAX. Errors: TACIT_BUDGET (equality is
 * allowed), the ledger is untouched. */
enum tacit_status tacit_rho_ledger_spend(struct tacit_rho_ledger *ledger, uint32_t group,
                                         uint64_t nano);
#endif
