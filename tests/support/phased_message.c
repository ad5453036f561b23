/* Deep copies of messages of play in phases (phased_message.h). */
#include "phased_message.h"
#include "../../src/base/part.h"

static size_t blocks_bytes(const struct tacit_phased_message *message)
{
    return message->blocks == NULL ? 0 : message->block_count * sizeof *message->blocks;
}

static size_t sums_bytes(const struct tacit_phased_message *message)
{
    return message->sums == NULL ? 0 : message->block_count * sizeof *message->sums;
}

size_t phased_message_size(const struct tacit_phased_message *message)
{
    size_t const commit = message->commit == NULL ? 0 : sizeof *message->commit;
    size_t const masked = message->masked == NULL ? 0 : sizeof *message->masked;
    return sizeof *message + blocks_bytes(message) + sums_bytes(message) + commit + masked;
}

const struct tacit_phased_message *phased_message_copy(const struct tacit_phased_message *message,
                                                       void *memory)
{
    TACIT_ASSERT(memory != NULL);
    TACIT_ASSERT((const void *)message != memory);
    struct tacit_phased_message *const copy = memory;
    unsigned char *end = (unsigned char *)memory + sizeof *copy;
    *copy = *message;
    copy->blocks = base_copy_part(message->blocks, blocks_bytes(message), &end);
    copy->sums = base_copy_part(message->sums, sums_bytes(message), &end);
    copy->commit = base_copy_part(message->commit, sizeof *message->commit, &end);
    copy->masked = base_copy_part(message->masked, sizeof *message->masked, &end);
    return copy;
}
