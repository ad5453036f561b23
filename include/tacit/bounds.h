/* Bounds: confidence bounds for a mean of rewards in [0, 1] of which only noised sums are known.
 * Our own (EXACT-BOUNDS), proved in docs/proofs/exact_bounds.md; used by elimination with exact
 * bounds and by the phased index. Pure functions of counts and released integers.
 *
 * M sites pull an arm, add up integers (a reward x in [0, 1] counts x R steps, R = TACIT_STEPS),
 * and release the sum plus one discrete Laplace of scale R/epsilon each. N pulls in all, m noise
 * terms, Y the sum of the released integers, y = Y/(N R), which noise may put outside [0, 1].
 * Natural logs. epsilon = INFINITY: no noise, and m does not matter. */
#ifndef TACIT_BOUNDS_H
#define TACIT_BOUNDS_H
#include "tacit/base.h"

#define TACIT_BOUNDS_RELEASES_MAX 64u

/* What is known of one or several releases of an arm. */
struct tacit_bounds_sum {
    uint64_t pulls;  /* N > 0 */
    uint64_t noises; /* m; >= 1 where epsilon is finite */
    int64_t steps;   /* Y */
};

/* What the noise of released sums is. With sites' own noise only: {.epsilon = e}. With two
 * aggregators each release has their two terms, and the sites' own are a floor, or none (HELPER
 * 2.6). */
struct tacit_bounds_noise {
    double epsilon;       /* of the m terms that a sum counts; INFINITY: none */
    double shared;        /* of the aggregators' terms */
    uint32_t per_release; /* how many of them; 0: none */
    uint32_t releases;    /* added up in the sum that is looked at */
};

/* How a schedule says so, public to all: the floor in thousandths of its epsilon. */
#define TACIT_ONE_AGGREGATOR 0u
#define TACIT_NO_FLOOR UINT32_MAX /* two aggregators, and no noise of the sites' own */

/* epsilon: of each aggregator; of each site, where there is one. INFINITY: no noise at all. */
struct tacit_bounds_noise tacit_bounds_noise_of(double epsilon, uint32_t floor_milli);

/* y = Y/(N R). Requires: N > 0. */
double tacit_bounds_mean(const struct tacit_bounds_sum *sum);

/* UCB: the largest q in [clipped y, 1] with low(q) <= L, low(q) the supremum over 0 < lambda <
 * epsilon of -N ln(1 - q + q e^-lambda) - N lambda y + m ln(1 - lambda^2/epsilon^2). Without noise
 * N kl(y, q). The true mean is above it with chance e^-L at most, if N and m were not chosen by
 * looking at these releases.
 * Requires: N > 0, m > 0 where epsilon is finite, L > 0, epsilon > 0. Accuracy: 1e-12.
 * Cost: about 50 evaluations of two or three logarithms. Source: EXACT-BOUNDS 2.2.
 * Tested by: tests/kat/bounds.c, tests/oracle/bounds_oracle.c, tests/stat/bounds_stat.c */
double tacit_bounds_upper(const struct tacit_bounds_sum *sum, double epsilon, double log_level);

/* LCB(y) = 1 - UCB(1 - y), the same with signs turned. */
double tacit_bounds_lower(const struct tacit_bounds_sum *sum, double epsilon, double log_level);

/* The same with two kinds of terms: m ln(1 - lambda^2/e^2) becomes a sum of both, 0 < lambda < both
 * epsilons. m may be 0 where there are shared terms. */
double tacit_bounds_upper_of(const struct tacit_bounds_sum *sum,
                             const struct tacit_bounds_noise *noise, double log_level);
double tacit_bounds_lower_of(const struct tacit_bounds_sum *sum,
                             const struct tacit_bounds_noise *noise, double log_level);

/* What is known of a mean in [0, 1]. */
struct tacit_bounds_interval {
    double mean; /* y */
    double lower;
    double upper;
};

/* y, LCB and UCB. Requires and costs: both of them. */
struct tacit_bounds_interval tacit_bounds_interval_of(const struct tacit_bounds_sum *sum,
                                                      const struct tacit_bounds_noise *noise,
                                                      double log_level);

/* c(N, m, L) = min over 0 < lambda < epsilon of (L + N lambda^2/8 - m ln(1 - lambda^2/epsilon^2)) /
 * (lambda N); without noise sqrt(L/(2N)). A function of counts alone: y - c <= LCB, UCB <= y + c
 * before clipping. Requires: as above. Cost: about 8 logarithms. Source: EXACT-BOUNDS 2.4. */
double tacit_bounds_radius(uint64_t pulls, uint64_t noises, double epsilon, double log_level);
double tacit_bounds_radius_of(uint64_t pulls, uint64_t noises,
                              const struct tacit_bounds_noise *noise, double log_level);

/* Which of an arm's releases 0, .., count-1 to use: the suffix from the result on has the smallest
 * radius; the longer one wins ties; all of them without noise. *sum: the suffix added up. Looks at
 * counts only. Requires: count > 0. Cost: O(count) radii at most. Source: EXACT-BOUNDS 2.5. */
uint32_t tacit_bounds_suffix(const struct tacit_bounds_sum *releases, uint32_t count,
                             double epsilon, double log_level, struct tacit_bounds_sum *sum);
/* Ensures: noise->releases is that of the suffix. Without noise of either kind, all. */
uint32_t tacit_bounds_suffix_of(const struct tacit_bounds_sum *releases, uint32_t count,
                                struct tacit_bounds_noise *noise, double log_level,
                                struct tacit_bounds_sum *sum);

/* ---- Levels and ladders ---------------------------------------------------------------------- */

/* L = ln(2 K e (e+1)/delta), e = 1, 2, …: with it all intervals of all K arms at all looks e hold
 * together with chance 1 - delta. Source: EXACT-BOUNDS 3 (v). */
double tacit_bounds_level(uint32_t arm_count, uint32_t look, double delta);

/* S_1: smallest S >= 1 with c(M S, M, L) <= width. Saturates at TACIT_HORIZON_MAX.
 * Source: EXACT-BOUNDS 4.1, 5.1. */
uint64_t tacit_bounds_first_rung(uint32_t agent_count, double epsilon, double log_level,
                                 double width);
uint64_t tacit_bounds_first_rung_of(uint32_t agent_count, const struct tacit_bounds_noise *noise,
                                    double log_level, double width);

/* S_(e+1) = ceil(growth S_e), forgiving 1e-9, and more than S_e. Saturates at TACIT_HORIZON_MAX.
 * Requires: 1 < growth <= 4. */
uint64_t tacit_bounds_next_rung(uint64_t rung, double growth);

/* ---- Floor ----------------------------------------------------------------------------------- */

/* d_epsilon(x, y) = min over z between x and y of epsilon |z - x| + kl(z, y); kl(x, y) without
 * noise. Requires: x, y in [0, 1]. Source: Azize et al. 2025, Theorem 1; EXACT-BOUNDS 8. */
double tacit_bounds_divergence(double x, double y, double epsilon);

/* Sum over arms below the best of gap ln(pulls)/d_epsilon(mean, best): the regret that no
 * consistent algorithm of one stream of `pulls` pulls can go below for long runs (Lai, Robbins 1985
 * without noise). Gaps up to 1e-12 are none. Requires: means in [0, 1], pulls >= 1. */
double tacit_bounds_floor(const double *means, uint32_t arm_count, double pulls, double epsilon);
#endif
