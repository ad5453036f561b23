/* What client and hub of the sound mode share. */
#ifndef TACIT_GLM_PRIVATE_INTERNAL_H
#define TACIT_GLM_PRIVATE_INTERNAL_H
#include "internal.h"
#include "tacit/glm_private.h"

void glm_private_rule_copy(struct tacit_glm_private_rule *copy,
                           const struct tacit_glm_private_rule *rule);

/* The radius of V = sum of W~ + 2 Y I, before it is scaled. */
double glm_private_radius(const struct tacit_glm_private_rule *rule, double log_det);

/* V^-1 and log det V; false: not positive definite. */
bool glm_private_derive(enum tacit_linalg_path path, uint32_t d, const double *matrix,
                        double *inverse, double *log_det);

/* No honest prefix has a larger number, and M of them still add up in 64 bits. */
int64_t glm_private_sum_max(const struct tacit_glm_private_rule *rule);
#endif
