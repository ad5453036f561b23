/* The mass function of the binomial law. */
#ifndef TACIT_RANDOM_BINOMIAL_H
#define TACIT_RANDOM_BINOMIAL_H

/* P(count = k) of n trials of probability p, in Loader's form (2000): relative accuracy of about
 * 1e-13 wherever it is above 1e-100. Requires: 0 <= k <= n whole numbers, 0 < p < 1. */
double binomial_mass(double n, double k, double p);
#endif
