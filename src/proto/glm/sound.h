/* What site and hub of flat releases share. */
#ifndef TACIT_GLM_SOUND_INTERNAL_H
#define TACIT_GLM_SOUND_INTERNAL_H
#include "../round/message_kind.h"
#include "private.h"
#include "tacit/glm_sound.h"

/* What a commitment is to. */
void glm_sound_digest(const int64_t *sums, uint32_t count, uint8_t digest[TACIT_SHA256_BYTES]);

/* No honest release of one batch has a larger number, and those of all batches and sites add up in
 * 64 bits. */
int64_t glm_sound_most(const struct tacit_glm_private_rule *rule);

/* Is no number of them larger, without its sign? */
bool glm_sound_are_within(const int64_t *sums, uint32_t count, int64_t most);

/* Interactions that a batch may hold with that. */
uint64_t glm_sound_batch_most(const struct tacit_glm_private_rule *rule);
#endif
