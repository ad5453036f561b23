/* Flat releases: what site and hub share. */
#include "sound.h"
#include <math.h>
#include <string.h>

enum tacit_status tacit_glm_sound_rule(struct tacit_glm_private_rule *rule,
                                       const struct tacit_glm_private_model *model,
                                       uint32_t floor_milli)
{
    struct tacit_glm_private_rule made;
    if (model->batch_count > TACIT_GLM_SOUND_BATCHES_MAX)
        return TACIT_INVALID;
    enum tacit_status status = tacit_glm_private_rule_init(&made, model);
    TACIT_IMPLIES(status == TACIT_OK, made.level_count == 1);
    if (status == TACIT_OK && floor_milli != TACIT_ONE_AGGREGATOR)
        status = tacit_glm_private_rule_mask(
            &made, floor_milli == TACIT_NO_FLOOR ? (double)INFINITY : floor_milli / 1e3);
    if (status == TACIT_OK)
        *rule = made;
    return status;
}

uint64_t tacit_glm_sound_steps(enum tacit_linalg_link link)
{
    return (uint64_t)(tacit_glm_private_sensitivity_square(link) * 32) << 35; /* 2^40/32 */
}

void tacit_glm_sound_order_digest(const int64_t *sums, uint32_t dimension,
                                  uint8_t digest[TACIT_SHA256_BYTES])
{
    glm_sound_digest(sums, (uint32_t)TACIT_GLM_PRIVATE_SUMS(dimension), digest);
}

void glm_sound_digest(const int64_t *sums, uint32_t count, uint8_t digest[TACIT_SHA256_BYTES])
{
    struct tacit_sha256 sha = tacit_sha256_init();
    TACIT_ASSERT(count > 0);
    for (uint32_t i = 0; i < count; i++)
        tacit_sha256_update_number(&sha, (uint64_t)sums[i]);
    tacit_sha256_final(&sha, digest);
}

int64_t glm_sound_most(const struct tacit_glm_private_rule *rule)
{
    TACIT_ASSERT(rule->model.batch_count <= TACIT_GLM_SOUND_BATCHES_MAX);
    return glm_private_sum_max(rule) / (int64_t)(TACIT_GLM_SOUND_BATCHES_MAX + 1);
}

bool glm_sound_are_within(const int64_t *sums, uint32_t count, int64_t most)
{
    TACIT_ASSERT(most >= 0);
    for (uint32_t i = 0; i < count; i++)
        if (sums[i] < -most || sums[i] > most)
            return false;
    return true;
}

uint64_t glm_sound_batch_most(const struct tacit_glm_private_rule *rule)
{
    return tacit_glm_private_horizon_max(rule) / (TACIT_GLM_SOUND_BATCHES_MAX + 1);
}
