/* Deep copies of messages, for drivers that deliver later than at once. */
#include "../../base/part.h"
#include "internal.h"

/* What follows it is aligned. */
#define PROOF_BYTES ((sizeof(struct tacit_elim_proof) + 7) / 8 * 8)

enum round_message_kind elim_message_kind(const void *message)
{
    enum tacit_elim_message_kind const kind = ((const struct tacit_elim_message *)message)->kind;
    static const enum round_message_kind kinds[] = {
        [TACIT_ELIM_HELLO] = ROUND_KIND_HELLO,   [TACIT_ELIM_COMMIT] = ROUND_KIND_COMMIT,
        [TACIT_ELIM_REPORT] = ROUND_KIND_REPORT, [TACIT_ELIM_ORDER] = ROUND_KIND_ORDER,
        [TACIT_ELIM_GRANT] = ROUND_KIND_GRANT,   [TACIT_ELIM_REFUSAL] = ROUND_KIND_REFUSAL,
        [TACIT_ELIM_ADVERT] = ROUND_KIND_NONE,   [TACIT_ELIM_REQUEST] = ROUND_KIND_NONE,
        [TACIT_ELIM_DATA] = ROUND_KIND_NONE,     [TACIT_ELIM_PROOF] = ROUND_KIND_NONE};
    return kind <= TACIT_ELIM_PROOF ? kinds[kind] : ROUND_KIND_UNKNOWN;
}

static size_t words_bytes(const uint64_t *words, uint32_t count)
{
    return words == NULL ? 0 : TACIT_BITS_WORDS(count) * sizeof(uint64_t);
}

/* Rows of sums that a copy has to hold: one in a REPORT, one an origin in DATA. */
static size_t row_count(const struct tacit_elim_message *message, uint32_t agent_count)
{
    if (message->kind == TACIT_ELIM_DATA)
        return tacit_bits_count(message->origins, agent_count);
    return message->kind == TACIT_ELIM_REPORT ? 1 : 0;
}

const union tacit_sum *elim_message_row(const struct tacit_elim_message *message, uint32_t origin,
                                        uint32_t rank)
{
    TACIT_ASSERT(message->sums != NULL);
    if (message->row_stride > 0)
        return message->sums + (size_t)origin * message->row_stride;
    return message->sums + (size_t)rank * message->sum_count;
}

const struct tacit_elim_opening *elim_message_opening(const struct tacit_elim_message *message,
                                                      uint32_t origin, uint32_t rank)
{
    TACIT_ASSERT(message->openings != NULL);
    return message->openings + (message->row_stride > 0 ? origin : rank);
}

void elim_release_digest(uint64_t pulls, const uint64_t *arms, uint32_t arm_count,
                         const union tacit_sum *sums, uint32_t sum_count,
                         uint8_t digest[TACIT_SHA256_BYTES])
{
    TACIT_ASSERT(arms != NULL);
    TACIT_ASSERT(sums != NULL);
    TACIT_ASSERT(sum_count <= arm_count);
    struct tacit_sha256 sha = tacit_sha256_init();
    tacit_sha256_update_number(&sha, pulls);
    for (size_t i = 0; i < TACIT_BITS_WORDS(arm_count); i++)
        tacit_sha256_update_number(&sha, arms[i]);
    for (uint32_t i = 0; i < sum_count; i++) {
        uint64_t word;
        memcpy(&word, &sums[i], sizeof word);
        tacit_sha256_update_number(&sha, word);
    }
    tacit_sha256_final(&sha, digest);
}

void tacit_elim_order_digest(uint64_t pulls, const uint64_t *arms, uint32_t arm_count,
                             uint8_t digest[TACIT_SHA256_BYTES])
{
    static const union tacit_sum nothing;
    elim_release_digest(pulls, arms, arm_count, &nothing, 0, digest);
}

static size_t sums_bytes(const struct tacit_elim_message *message, uint32_t agent_count)
{
    if (message->rows_stay)
        return 0;
    return row_count(message, agent_count) * message->sum_count * sizeof(union tacit_sum);
}

static size_t openings_bytes(const struct tacit_elim_message *message, uint32_t agent_count)
{
    if (message->openings == NULL || message->rows_stay)
        return 0;
    return row_count(message, agent_count) * sizeof *message->openings;
}

size_t tacit_elim_message_size(const struct tacit_elim_message *message, uint32_t arm_count,
                               uint32_t agent_count)
{
    return sizeof *message + words_bytes(message->arms, arm_count) +
           words_bytes(message->uploaders, agent_count) +
           words_bytes(message->origins, agent_count) + sums_bytes(message, agent_count) +
           openings_bytes(message, agent_count) +
           (message->commit == NULL ? 0 : sizeof *message->commit) +
           (message->masked == NULL ? 0 : sizeof *message->masked) +
           (message->proof == NULL ? 0 : PROOF_BYTES) + words_bytes(message->refused, arm_count) +
           message->change_count * sizeof *message->changes;
}

/* Packs the rows of the origins one after the other. */
static void pack_rows(const struct tacit_elim_message *message, uint32_t agent_count,
                      union tacit_sum *rows)
{
    TACIT_ASSERT(message->origins != NULL);
    uint32_t rank = 0;
    TACIT_BITS_EACH (origin, message->origins, agent_count) {
        memcpy(rows + (size_t)rank * message->sum_count, elim_message_row(message, origin, rank),
               message->sum_count * sizeof(union tacit_sum));
        rank++;
    }
}

static void copy_sums(struct tacit_elim_message *copy, const struct tacit_elim_message *message,
                      uint32_t agent_count, unsigned char *end)
{
    if (message->rows_stay)
        return;
    size_t const bytes = sums_bytes(message, agent_count);
    copy->sums = bytes == 0 ? NULL : (const union tacit_sum *)(const void *)end;
    copy->row_stride = 0;
    if (message->kind == TACIT_ELIM_DATA && bytes > 0)
        pack_rows(message, agent_count, (union tacit_sum *)(void *)end);
    else if (bytes > 0)
        memcpy(end, message->sums, bytes);
}

static void copy_openings(struct tacit_elim_message *copy, const struct tacit_elim_message *message,
                          uint32_t agent_count, unsigned char *end)
{
    struct tacit_elim_opening *const openings = (struct tacit_elim_opening *)(void *)end;
    uint32_t rank = 0;
    if (openings_bytes(message, agent_count) == 0)
        return; /* none, or they stay where the rows do */
    TACIT_BITS_EACH (origin, message->origins, agent_count) {
        openings[rank] = *elim_message_opening(message, origin, rank);
        rank++;
    }
    copy->openings = openings;
}

const struct tacit_elim_message *tacit_elim_message_copy(const struct tacit_elim_message *message,
                                                         uint32_t arm_count, uint32_t agent_count,
                                                         void *memory)
{
    TACIT_ASSERT(memory != NULL);
    TACIT_ASSERT((const void *)message != memory);
    struct tacit_elim_message *const copy = memory;
    unsigned char *end = (unsigned char *)memory + sizeof *copy;
    *copy = *message;
    copy->arms = base_copy_part(message->arms, words_bytes(message->arms, arm_count), &end);
    copy->uploaders =
        base_copy_part(message->uploaders, words_bytes(message->uploaders, agent_count), &end);
    copy->origins =
        base_copy_part(message->origins, words_bytes(message->origins, agent_count), &end);
    copy_sums(copy, message, agent_count, end);
    end += sums_bytes(message, agent_count);
    copy_openings(copy, message, agent_count, end);
    end += openings_bytes(message, agent_count);
    copy->commit = base_copy_part(message->commit, sizeof *message->commit, &end);
    copy->masked = base_copy_part(message->masked, sizeof *message->masked, &end);
    copy->proof = base_copy_part(message->proof, sizeof *message->proof, &end);
    if (message->proof != NULL)
        end += PROOF_BYTES - sizeof *message->proof;
    copy->refused =
        base_copy_part(message->refused, words_bytes(message->refused, arm_count), &end);
    copy->changes =
        base_copy_part(message->changes, message->change_count * sizeof *message->changes, &end);
    TACIT_ASSERT((size_t)(end - (unsigned char *)memory) ==
                 tacit_elim_message_size(message, arm_count, agent_count));
    return copy;
}

uint64_t tacit_elim_message_scalars(const struct tacit_elim_message *message, uint32_t agent_count)
{
    return (uint64_t)row_count(message, agent_count) * message->sum_count;
}

size_t elim_changes_words(uint32_t change_max)
{
    TACIT_ASSERT(change_max <= TACIT_ELIM_CHANGES_MAX);
    return change_max * (sizeof(struct tacit_elim_change) / sizeof(uint64_t));
}

bool elim_change_is_possible(const struct tacit_elim_change *change, uint32_t agent_count,
                             uint32_t arm_count)
{
    bool const is_placed = change->epoch >= 1 && change->epoch <= TACIT_ELIM_EPOCHS_MAX &&
                           change->number >= 1 && change->number <= TACIT_ELIM_CHANGES_MAX;
    switch (change->kind) {
    case TACIT_ELIM_DROP_SITE:
        return is_placed && change->subject < agent_count && change->value == 0;
    case TACIT_ELIM_SET_QUORUM_AND_DEADLINE:
        return is_placed && change->subject <= agent_count &&
               change->value <= TACIT_ELIM_PAUSE_US_MAX;
    case TACIT_ELIM_END_RUN:
        return is_placed && change->subject == 0 && change->value == 0;
    case TACIT_ELIM_EXTEND_HORIZON:
        return is_placed && change->subject == 0 && change->value >= 1 &&
               change->value <= TACIT_HORIZON_MAX;
    case TACIT_ELIM_RETIRE_ARM:
        return is_placed && change->subject < arm_count && change->value == 0;
    default: /* bytes may say anything */
        return false;
    }
}
