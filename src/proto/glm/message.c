/* What a message counts for. */
#include "internal.h"

uint64_t tacit_glm_message_scalars(const struct tacit_glm_message *message, uint32_t dimension)
{
    TACIT_ASSERT(dimension >= 1);
    uint64_t const d = dimension;
    uint64_t count = 0;
    count += message->vector != NULL ? d : 0;
    count += message->target != NULL ? d : 0;
    count += message->matrix != NULL ? d * d : 0;
    count += message->steps != NULL ? d * d : 0;
    return count;
}

bool tacit_glm_message_is_control(const struct tacit_glm_message *message)
{
    return message->kind == TACIT_GLM_HELLO || message->kind == TACIT_GLM_TRIGGER ||
           message->kind == TACIT_GLM_FREEZE;
}
