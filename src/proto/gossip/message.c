/* Messages: copies and sizes. */
#include "../../base/part.h"
#include "tacit/gossip.h"

static uint32_t row_count(const struct tacit_gossip_message *message)
{
    return (uint32_t)(message->seen != NULL) + (uint32_t)(message->theta != NULL) +
           (uint32_t)(message->shift != NULL) + (uint32_t)(message->flow != NULL);
}

size_t tacit_gossip_message_size(const struct tacit_gossip_message *message, uint32_t arm_count)
{
    return sizeof *message + row_count(message) * (size_t)arm_count * sizeof(uint64_t);
}

const struct tacit_gossip_message *
tacit_gossip_message_copy(const struct tacit_gossip_message *message, uint32_t arm_count,
                          void *memory)
{
    TACIT_ASSERT(memory != NULL);
    TACIT_ASSERT((const void *)message != memory);
    struct tacit_gossip_message *const copy = memory;
    size_t const row = arm_count * sizeof(uint64_t);
    unsigned char *at = (unsigned char *)memory + sizeof *copy;
    *copy = *message;
    copy->seen = base_copy_part(message->seen, row, &at);
    copy->theta = base_copy_part(message->theta, row, &at);
    copy->shift = base_copy_part(message->shift, row, &at);
    copy->flow = base_copy_part(message->flow, row, &at);
    TACIT_ASSERT((size_t)(at - (unsigned char *)memory) ==
                 tacit_gossip_message_size(message, arm_count));
    return copy;
}
