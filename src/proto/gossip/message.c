/* Messages: copies and sizes. */
#include "tacit/gossip.h"
#include <string.h>

static uint32_t row_count(const struct tacit_gossip_message *message)
{
    return (uint32_t)(message->seen != NULL) + (uint32_t)(message->theta != NULL) +
           (uint32_t)(message->shift != NULL) + (uint32_t)(message->flow != NULL);
}

size_t tacit_gossip_message_size(const struct tacit_gossip_message *message, uint32_t arm_count)
{
    return sizeof *message + row_count(message) * (size_t)arm_count * sizeof(uint64_t);
}

/* Copies K words to *at and moves it on; NULL stays NULL. */
static const void *copy_row(const void *row, uint32_t arm_count, unsigned char **at)
{
    if (row == NULL)
        return NULL;
    void *const copy = *at;
    memcpy(copy, row, arm_count * sizeof(uint64_t));
    *at += arm_count * sizeof(uint64_t);
    return copy;
}

const struct tacit_gossip_message *
tacit_gossip_message_copy(const struct tacit_gossip_message *message, uint32_t arm_count,
                          void *memory)
{
    TACIT_ASSERT(memory != NULL);
    TACIT_ASSERT((const void *)message != memory);
    struct tacit_gossip_message *const copy = memory;
    unsigned char *at = (unsigned char *)memory + sizeof *copy;
    *copy = *message;
    copy->seen = copy_row(message->seen, arm_count, &at);
    copy->theta = copy_row(message->theta, arm_count, &at);
    copy->shift = copy_row(message->shift, arm_count, &at);
    copy->flow = copy_row(message->flow, arm_count, &at);
    TACIT_ASSERT((size_t)(at - (unsigned char *)memory) ==
                 tacit_gossip_message_size(message, arm_count));
    return copy;
}
