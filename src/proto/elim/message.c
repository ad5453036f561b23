/* Deep copies of messages, for drivers that deliver later than at once. */
#include "tacit/elim.h"
#include <string.h>

static size_t words_bytes(const uint64_t *words, uint32_t count)
{
    return words == NULL ? 0 : TACIT_BITS_WORDS(count) * sizeof(uint64_t);
}

size_t tacit_elim_message_size(const struct tacit_elim_message *message, uint32_t arm_count,
                               uint32_t agent_count)
{
    return sizeof *message + words_bytes(message->arms, arm_count) +
           words_bytes(message->uploaders, agent_count) +
           message->sum_count * sizeof(union tacit_sum);
}

/* Copies size bytes to *end and moves *end; NULL stays NULL. */
static const void *copy_part(const void *from, size_t size, unsigned char **end)
{
    if (from == NULL)
        return NULL;
    unsigned char *const to = *end;
    memcpy(to, from, size);
    *end += size;
    return to;
}

const struct tacit_elim_message *tacit_elim_message_copy(const struct tacit_elim_message *message,
                                                         uint32_t arm_count, uint32_t agent_count,
                                                         void *memory)
{
    struct tacit_elim_message *const copy = memory;
    unsigned char *end = (unsigned char *)memory + sizeof *copy;
    *copy = *message;
    copy->arms = copy_part(message->arms, words_bytes(message->arms, arm_count), &end);
    copy->uploaders =
        copy_part(message->uploaders, words_bytes(message->uploaders, agent_count), &end);
    copy->sums = copy_part(message->sum_count > 0 ? message->sums : NULL,
                           message->sum_count * sizeof(union tacit_sum), &end);
    return copy;
}

uint32_t tacit_elim_message_scalars(const struct tacit_elim_message *message)
{
    return message->kind == TACIT_ELIM_REPORT ? message->sum_count : 0;
}
