/* What client and hub share: the model's derived numbers. */
#ifndef TACIT_GLM_INTERNAL_H
#define TACIT_GLM_INTERNAL_H
#include "tacit/glm.h"

#define GLM_NORM_SLACK 1e-9 /* of a context's length, for rounding */

/* The multiple of I that the matrix of decisions starts from: lambda/c_mu, or lambda. */
double glm_base(const struct tacit_glm_model *model);

/* What a commit's matrix A = base I + sum of xx' says: A^-1, and log det(I + sum of xx'). False: it
 * is none. */
bool glm_derive(const struct tacit_glm_model *model, enum tacit_linalg_path path,
                const double *matrix, double *inverse, double *log_det);

/* gamma of Lemma 12: the step of v3's online Newton steps is 1/gamma; of the others 1/c_mu. */
double glm_step_rate(const struct tacit_glm_model *model);

/* What Lemma 2 has that stays until the next update: all but B_2's terms, |z|^2 and theta'b. */
double glm_fixed_square(const struct tacit_glm_model *model, uint64_t n, double log_det,
                        double theta_norm);

/* alpha^2 of Lemma 2, given that, Lemma 9's radius, the sum of squared gradient norms since the
 * update, |z|^2 and theta'b. */
double glm_fedglb_square(const struct tacit_glm_model *model, double fixed, double model_radius,
                         double regret, double squares, double fit);

/* alpha^2 of Lemma 14; of GLOC, for N_ONS. */
double glm_online_square(const struct tacit_glm_model *model, double regret, double squares,
                         double fit);

/* With n observations: alpha of UCB-GLM; and of DisLinUCB, the ellipsoid of ridge regression. */
double glm_ucb_radius(const struct tacit_glm_model *model, uint64_t n);
double glm_linear_radius(const struct tacit_glm_model *model, uint64_t n);

/* What the authors multiply the radius with (READINGS P4.2). */
double glm_exploration_scale(const struct tacit_glm_model *model);

/* Do updates begin by the number of observations, or by the trigger of a client? */
bool glm_is_scheduled(enum tacit_glm_variant variant);
bool glm_is_triggered(enum tacit_glm_variant variant);
/* Do clients take online Newton steps? */
bool glm_steps_online(enum tacit_glm_variant variant);
/* Is the global step accelerated gradient descent (Alg. 3)? */
bool glm_accelerates(enum tacit_glm_variant variant);
/* Does an update send iterates (AGD, Newton), or take one round only? */
bool glm_iterates(enum tacit_glm_variant variant);

/* Eq. (5): the arm with the best score; the lowest index of those within 1e-9 of it. */
uint32_t glm_best_arm(uint32_t arm_count, double alpha, const double *linear,
                      const double *quadratic);

/* With probability `share` *arm becomes a uniform one; *probability is that with which it came out.
 * Errors: TACIT_ENTROPY. Requires: entropy where share > 0. */
enum tacit_status glm_explore(double share, const struct tacit_entropy *entropy, uint32_t arm_count,
                              uint32_t *arm, double *probability);

/* Doubles of the expansion that a client keeps; 0: this model's clients have none. */
size_t glm_expansion_count(const struct tacit_glm_model *model);
/* Samples from which on it pays: as many bytes as it has. */
uint64_t glm_expansion_least(const struct tacit_glm_model *model);
/* Error of a gradient of one sample that an expansion may have. */
double glm_expansion_tolerance(const struct tacit_glm_model *model);
/* May the gradient be expanded anew in this round? In c, 2 c, 4 c.. */
bool glm_is_anchor_round(const struct tacit_glm_model *model, uint32_t round);

bool glm_is_finite(const double *values, size_t count);
/* Small enough that no radius made of products of four of them overflows. */
bool glm_is_moderate(const double *values, size_t count);
/* Positive and finite; NaN is neither. */
bool glm_is_positive(double x);
/* Tells two iterates apart that a client may answer to; no protection from anybody. */
uint64_t glm_digest(const double *values, size_t count);
#endif
