/* Goodness of fit: p-values and confidence bounds that tests compare with a stated false-alarm
 * rate. Not part of the library: it may use all of libm and aborts where a number would not be
 * reliable. */
#ifndef TACIT_TESTS_GOF_H
#define TACIT_TESTS_GOF_H
#include <stddef.h>
#include <stdint.h>

/* Cells that expect fewer observations than this are pooled with their right-hand neighbours. */
#define GOF_EXPECTED_MIN 10.0

/* P(X > statistic) for X chi-square with the given degrees of freedom.
 * Requires: statistic >= 0, degrees > 0. */
double gof_chi_square_tail(double statistic, double degrees);

/* P(K > root_n_d) for K Kolmogorov's limit law. */
double gof_kolmogorov_tail(double root_n_d);

/* P(|Z| > |z|) for Z standard normal. */
double gof_normal_tail(double z);

/* Chi-square test of counts against expected counts, which must have the same total (to 1e-6 of
 * it). Neighbouring cells are pooled from the left until each pool expects GOF_EXPECTED_MIN; what
 * is left at the right end joins the last pool. Result: the p-value; 1 where fewer than two pools
 * remain; 0 where something was observed in a pool that expects nothing. Cost: O(cells). */
double gof_chi_square_p(const uint64_t *observed, const double *expected, size_t cells);

/* Chi-square test that two samples come from one law, given their counts in the same cells. Pools
 * so that each sample expects GOF_EXPECTED_MIN in every pool. Result: the p-value, as above. */
double gof_two_sample_p(const uint64_t *first, const uint64_t *second, size_t cells);

/* Kolmogorov-Smirnov test that a sample is uniform on [0, 1]; give it F(x_i) to test x_i ~ F. Sorts
 * the sample in place. Limit law with Stephens' (1970) small-sample correction. Requires: count >
 * 0. */
double gof_ks_p(double *sample, size_t count);

/* Clopper-Pearson bounds for the success probability of a binomial, one-sided: each holds with at
 * least the given confidence (use both at 1 - alpha/2 for an interval of confidence 1 - alpha).
 * Good to about 1e-9 relative up to a million trials. Requires: successes <= trials, trials > 0, 0
 * < confidence < 1. */
double gof_binomial_lower(uint64_t successes, uint64_t trials, double confidence);
double gof_binomial_upper(uint64_t successes, uint64_t trials, double confidence);

/* ---- Means of values that come one by one ---- */

struct gof_spread {
    double count;
    double sum;
    double squares;
};
void gof_add(struct gof_spread *spread, double value);
double gof_mean(const struct gof_spread *spread);
/* The square of the mean's standard error. Requires: two values. */
double gof_error_square(const struct gof_spread *spread);
/* How many of the means differ by more than GOF_ERRORS standard errors of the difference (and by
 * more than rounding); prints the first and those. */
#define GOF_ERRORS 4.0
uint32_t gof_differences(const char *name, const char *const *names, uint32_t count,
                         const struct gof_spread *ours, const struct gof_spread *twins);

/* ---- Checks, each wrong with probability GOF_ALPHA ---- */

#define GOF_ALPHA 1e-6

/* Two-sided exact test of a success probability, as the p-value 0 or 1. */
double gof_proportion_p(uint64_t successes, uint64_t trials, double p);
/* Fails the test unless the law is as stated, as far as this check can see; and it is counted. */
void gof_expect_fit(const char *what, double p_value);
/* .. unless the law is not as stated, and the check sees it. */
void gof_expect_misfit(const char *what, double p_value);
/* As many checks as a suite states were made. */
void gof_expect_checks(int stated);
#endif
