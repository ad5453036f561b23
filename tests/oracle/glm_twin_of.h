/* What the naive twin (glm_twin.h) is to do where the cores have this model. */
#ifndef GLM_TWIN_OF_H
#define GLM_TWIN_OF_H
#include "glm_twin.h"
#include "tacit/glm.h"

static inline struct twin_config glm_twin_of(const struct tacit_glm_model *model, int clients,
                                             int slots, int dimension, int arms)
{
    bool const is_scaled = model->exploration == TACIT_GLM_PRACTICAL &&
                           (model->variant == TACIT_GLM_FEDGLB || model->variant == TACIT_GLM_V2 ||
                            model->variant == TACIT_GLM_V3 || model->variant == TACIT_GLM_N_ONS);
    return (struct twin_config){.variant = (enum twin_variant)model->variant,
                                .link = (enum twin_link)model->link,
                                .clients = clients,
                                .slots = slots,
                                .d = dimension,
                                .arms = arms,
                                .lambda = model->lambda,
                                .delta = model->delta,
                                .s = model->norm_bound,
                                .r = model->noise_bound,
                                .k = model->lipschitz,
                                .c = model->curvature,
                                .threshold = model->threshold,
                                .longest = model->context_bound,
                                .prints_square = model->variant == TACIT_GLM_V3 &&
                                                 model->exploration == TACIT_GLM_THEORY,
                                .scale = is_scaled ? 0.1 : 1,
                                .epsilon = model->suboptimality,
                                .period = (long)model->period,
                                .counts = model->clock == TACIT_GLM_COUNTS,
                                .authors = model->descent == TACIT_GLM_AUTHORS,
                                .from_zero = model->start == TACIT_GLM_START_ZERO,
                                .rounds = (int)model->rounds};
}
#endif
