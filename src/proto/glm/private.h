/* What client and hub of the sound mode share. */
#ifndef TACIT_GLM_PRIVATE_INTERNAL_H
#define TACIT_GLM_PRIVATE_INTERNAL_H
#include "internal.h"
#include "tacit/glm_private.h"

/* The factor before the width of an arm's interval. */
double glm_private_alpha(const struct tacit_glm_private_rule *rule, double log_det);

struct glm_private_scores {
    const double *inverse;
    const double *theta;
    double alpha;
};

/* Errors: as of an OFFER (tacit/glm_private.h). */
enum tacit_status
glm_private_decide(const struct tacit_glm_private_model *model, enum tacit_linalg_path path,
                   const struct glm_private_scores *scores, const struct tacit_offer *offer,
                   const struct tacit_entropy *entropy, uint32_t *arm, double *probability);

/* One interaction more. Exact: products of the grid are whole numbers of 2^-20. */
void glm_private_add(const struct tacit_glm_private_model *model,
                     const struct tacit_glm_reward *reward, int64_t *sums);

/* Noise of each number of a release. Errors: TACIT_ENTROPY. */
enum tacit_status glm_private_draw(const struct tacit_glm_private_rule *rule,
                                   const struct tacit_entropy *entropy, int64_t *noise);

/* Most that a number of a release may be, without its sign, in steps of 2^-20: M of them still add
 * up in 64 bits. A hub refuses more; flat releases share it among their batches (sound.c). */
int64_t glm_private_sum_max(const struct tacit_glm_private_rule *rule);
#endif
