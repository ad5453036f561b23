/* libFuzzer target: a peer's bytes into tacit_wire_decode. What is taken must be in our own
 * form: written again, it is the same bytes. The first byte below 128: the input holds these bytes.
 * From 128: a message of any kind is built from the input, sent, and then damaged in some places.
 * The first two bytes choose the shape of the run, too.
 *
 * Build: clang -fsanitize=fuzzer,address,undefined, with what tests/unit/wire.c links. */
#include "../support/wire_shape.h"
#include <stdlib.h>
#include <string.h>
#include "tacit/wire_elim.h"

#define ARMS_MAX 200u
#define AGENTS_MAX 300u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint32_t arm_counts[] = {1, 3, 64, 65, ARMS_MAX};
static const uint32_t agent_counts[] = {1, 5, 64, 65, AGENTS_MAX};

struct run {
    uint32_t arms;
    uint32_t agents;
};

static bool names_origins(enum tacit_elim_message_kind kind)
{
    return kind == TACIT_ELIM_ADVERT || kind == TACIT_ELIM_REQUEST || kind == TACIT_ELIM_DATA;
}

static bool is_of_grants(enum tacit_elim_message_kind kind)
{
    return kind == TACIT_ELIM_COMMIT || kind == TACIT_ELIM_GRANT || kind == TACIT_ELIM_REFUSAL;
}

/* ---- Any bytes ------------------------------------------------------------------------------- */

static void check_decoded(const struct tacit_elim_message *message, struct run run)
{
    TACIT_ASSERT(message->to == TACIT_HUB);
    TACIT_ASSERT(message->from == TACIT_HUB || message->from < run.agents);
    TACIT_ASSERT(message->agents <= run.agents);
    TACIT_ASSERT(message->row_stride == 0 && !message->rows_stay);
    if (message->kind == TACIT_ELIM_REPORT || message->kind == TACIT_ELIM_DATA)
        TACIT_ASSERT(message->sum_count == tacit_bits_count(message->arms, run.arms));
    if (message->origins != NULL)
        TACIT_ASSERT(tacit_bits_within(message->origins, message->origins, run.agents));
    TACIT_IMPLIES(is_of_grants(message->kind), message->commit != NULL);
    if (names_origins(message->kind))
        TACIT_ASSERT(tacit_bits_next(message->origins, run.agents, 0) < run.agents);
}

/* NULL: refused. */
static struct tacit_elim_message *receive(const uint8_t *bytes, size_t size, struct run run)
{
    struct tacit_elim_message *message = NULL;
    enum tacit_status const status = tacit_wire_decode(
        WIRE(elim, run.arms, run.agents, 0, TACIT_HUB), bytes, size, &message, tacit_wire_heap());
    if (status != TACIT_OK) {
        TACIT_ASSERT(message == NULL);
        return NULL;
    }
    check_decoded(message, run);
    TACIT_ASSERT(tacit_wire_bytes(WIRE(elim, run.arms, run.agents), message) == size);
    uint8_t *const again = malloc(size);
    TACIT_ASSERT(again != NULL);
    tacit_wire_encode(WIRE(elim, run.arms, run.agents), message, again);
    TACIT_ASSERT(memcmp(again, bytes, size) == 0);
    free(again);
    return message;
}

/* ---- Built messages -------------------------------------------------------------------------- */

/* Numbers from the input, then zeros. */
struct input {
    const uint8_t *bytes;
    size_t size;
};

static uint64_t take(struct input *input, uint32_t width)
{
    uint64_t value = 0;
    for (uint32_t i = 0; i < width && input->size > 0; i++) {
        value |= (uint64_t)*input->bytes << (8 * i);
        input->bytes++;
        input->size--;
    }
    return value;
}

struct built {
    struct tacit_elim_message message;
    uint64_t arms[TACIT_BITS_WORDS(ARMS_MAX)];
    uint64_t agents[TACIT_BITS_WORDS(AGENTS_MAX)];
    struct tacit_commit commit;
};

static union tacit_sum numbers[AGENTS_MAX * (ARMS_MAX + 1)];

/* A run of members with a stretch of the input in it: few bytes make small and large sets. */
static void take_set(struct input *input, uint32_t count, uint64_t *set)
{
    uint32_t const from = (uint32_t)take(input, 2) % count;
    uint32_t const filled = (uint32_t)take(input, 2) % (count - from + 1);
    uint64_t const pattern = take(input, 8);
    tacit_bits_add(set, from);
    for (uint32_t i = 0; i < filled; i++)
        tacit_bits_add(set, from + i);
    for (uint32_t i = 0; i < 64 && from + i < count; i++)
        if ((pattern >> i & 1) != 0)
            tacit_bits_add(set, from + i);
}

/* Packed rows, or one an agent at a distance of row_stride. */
static void take_sums(struct input *input, struct run run, struct built *built)
{
    struct tacit_elim_message *const message = &built->message;
    message->sum_count = tacit_bits_count(built->arms, run.arms);
    uint32_t count = message->sum_count;
    if (message->kind == TACIT_ELIM_DATA) {
        count *= tacit_bits_count(built->agents, run.agents);
        if (take(input, 1) % 2 == 1) {
            message->row_stride = message->sum_count + (uint32_t)take(input, 1) % 2;
            message->rows_stay = true;
            count = run.agents * message->row_stride;
        }
    }
    for (uint32_t i = 0; i < count; i++)
        numbers[i].steps = (int64_t)((i + 1) * UINT64_C(0x9e3779b97f4a7c15));
    for (uint32_t i = 0; i < count && input->size > 64; i++)
        numbers[i].steps = (int64_t)take(input, 8);
    message->sums = numbers;
}

static void build(struct input *input, struct run run, struct built *built)
{
    struct tacit_elim_message *const message = &built->message;
    *built = (struct built){.message.to = TACIT_HUB};
    message->kind = (enum tacit_elim_message_kind)(take(input, 1) % (TACIT_ELIM_REFUSAL + 1));
    uint64_t const options = take(input, 1);
    message->from = (options & 1) != 0 ? TACIT_HUB : (uint32_t)take(input, 4) % run.agents;
    message->run_id = take(input, 8);
    message->epoch = (uint32_t)take(input, 4) % (TACIT_ELIM_EPOCHS_MAX + 1);
    take_set(input, run.arms, built->arms);
    take_set(input, run.agents, built->agents);
    bool const is_order = message->kind == TACIT_ELIM_ORDER;
    bool const has_sums = message->kind == TACIT_ELIM_REPORT || message->kind == TACIT_ELIM_DATA;
    if (is_order || has_sums) {
        message->pulls = take(input, 8);
        message->arms = built->arms;
    }
    if (is_order) {
        message->last = (options & 2) != 0;
        message->seen = (uint32_t)take(input, 4);
        message->uploaders = (options & 4) != 0 ? built->agents : NULL;
    }
    if (message->kind == TACIT_ELIM_REPORT && (options & 8) != 0)
        message->agents = 1 + (uint32_t)take(input, 4) % run.agents;
    bool const may_commit = message->kind == TACIT_ELIM_HELLO || message->kind == TACIT_ELIM_REPORT;
    if (is_of_grants(message->kind) || (may_commit && (options & 64) != 0)) {
        memset(&built->commit, (int)(options ^ 0x5a), sizeof built->commit);
        message->commit = &built->commit;
        message->closed = message->kind == TACIT_ELIM_GRANT && (options & 2) != 0;
    }
    if (names_origins(message->kind) || (message->kind == TACIT_ELIM_HELLO && (options & 16) != 0))
        message->origins = built->agents;
    if (message->kind == TACIT_ELIM_HELLO && (options & 32) != 0)
        memset(built->agents, 0, sizeof built->agents);
    if (has_sums)
        take_sums(input, run, built);
}

static void check_words(const uint64_t *a, const uint64_t *b, uint32_t count)
{
    TACIT_ASSERT((a == NULL) == (b == NULL));
    TACIT_ASSERT(a == NULL || memcmp(a, b, TACIT_BITS_WORDS(count) * sizeof *a) == 0);
}

static void check_rows(const struct tacit_elim_message *a, const struct tacit_elim_message *b,
                       struct run run)
{
    const union tacit_sum *received = b->sums;
    const union tacit_sum *packed = a->sums;
    for (uint32_t agent = 0; agent < run.agents; agent++) {
        if (!tacit_bits_has(a->origins, agent))
            continue;
        const union tacit_sum *const sent =
            a->row_stride > 0 ? a->sums + (size_t)agent * a->row_stride : packed;
        TACIT_ASSERT(memcmp(sent, received, a->sum_count * sizeof *sent) == 0);
        received += a->sum_count;
        packed += a->sum_count;
    }
}

static void check_same(const struct tacit_elim_message *a, const struct tacit_elim_message *b,
                       struct run run)
{
    TACIT_ASSERT(b != NULL);
    TACIT_ASSERT(a->kind == b->kind && a->from == b->from && a->run_id == b->run_id);
    TACIT_ASSERT(a->epoch == b->epoch && a->seen == b->seen && a->last == b->last);
    TACIT_ASSERT(a->pulls == b->pulls && a->agents == b->agents && a->sum_count == b->sum_count);
    check_words(a->arms, b->arms, run.arms);
    check_words(a->uploaders, b->uploaders, run.agents);
    check_words(a->origins, b->origins, run.agents);
    if (a->kind == TACIT_ELIM_DATA)
        check_rows(a, b, run);
    else if (a->sum_count > 0)
        TACIT_ASSERT(memcmp(a->sums, b->sums, a->sum_count * sizeof *a->sums) == 0);
}

/* Other values for up to three bytes, and up to 255 bytes less. */
static void receive_damaged(struct input *input, uint8_t *bytes, size_t size, struct run run)
{
    for (uint32_t i = 0; i < 3 && input->size > 0; i++)
        bytes[take(input, 3) % size] = (uint8_t)take(input, 1);
    size_t const cut = take(input, 1);
    free(receive(bytes, cut < size ? size - cut : size, run));
}

static void send_and_damage(struct input *input, struct run run)
{
    struct built built;
    build(input, run, &built);
    size_t const size = tacit_wire_bytes(WIRE(elim, run.arms, run.agents), &built.message);
    uint8_t *const bytes = malloc(size);
    TACIT_ASSERT(bytes != NULL);
    tacit_wire_encode(WIRE(elim, run.arms, run.agents), &built.message, bytes);
    struct tacit_elim_message *const received = receive(bytes, size, run);
    check_same(&built.message, received, run);
    free(received);
    receive_damaged(input, bytes, size, run);
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    struct run const run = {arm_counts[data[0] % 128 % 5], agent_counts[data[1] % 5]};
    struct input input = {data + 2, size - 2};
    if (data[0] >= 128)
        send_and_damage(&input, run);
    else
        free(receive(input.bytes, input.size, run));
    return 0;
}
