/* Deep copies of messages, for drivers that deliver later than at once. */
#include <string.h>
#include "internal.h"

static size_t blocks_bytes(const struct tacit_phased_message *message)
{
    return message->blocks == NULL ? 0 : message->block_count * sizeof *message->blocks;
}

static size_t sums_bytes(const struct tacit_phased_message *message)
{
    return message->sums == NULL ? 0 : message->block_count * sizeof *message->sums;
}

size_t tacit_phased_message_size(const struct tacit_phased_message *message)
{
    return sizeof *message + blocks_bytes(message) + sums_bytes(message);
}

const struct tacit_phased_message *
tacit_phased_message_copy(const struct tacit_phased_message *message, void *memory)
{
    struct tacit_phased_message *const copy = memory;
    unsigned char *end = (unsigned char *)memory + sizeof *copy;
    *copy = *message;
    if (message->blocks != NULL) {
        memcpy(end, message->blocks, blocks_bytes(message));
        copy->blocks = (const struct tacit_pull_block *)(const void *)end;
        end += blocks_bytes(message);
    }
    if (message->sums != NULL) {
        memcpy(end, message->sums, sums_bytes(message));
        copy->sums = (const int64_t *)(const void *)end;
    }
    return copy;
}
