/* libFuzzer target: a peer's bytes, and what a hub is told, into tacit_wire_decode. What is taken
 * must be in our own form: written again, it is the same bytes; and its numbers are within their
 * limits. The first byte chooses the number of arms, and above 127 puts a real message's head in
 * front of the rest.
 *
 * Build: clang -fsanitize=fuzzer,address,undefined, with what tests/unit/wire_gossip.c links. */
#include "../support/wire_shape.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "tacit/wire_gossip.h"

#define ARMS_MAX 65u
#define AGENTS 7u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint32_t arm_counts[] = {1, 3, 5, ARMS_MAX};

static void check_row(const double *row, uint32_t arms)
{
    for (uint32_t arm = 0; row != NULL && arm < arms; arm++)
        TACIT_ASSERT(isfinite(row[arm]));
}

static void receive(const uint8_t *bytes, size_t size, uint32_t arms)
{
    struct tacit_gossip_message *message;
    if (tacit_wire_decode(WIRE(gossip, arms, AGENTS, 0, 3), bytes, size, &message,
                          tacit_wire_heap()) != TACIT_OK)
        return;
    TACIT_ASSERT(message->to == 3 && message->from < AGENTS);
    check_row(message->theta, arms);
    check_row(message->shift, arms);
    check_row(message->flow, arms);
    for (uint32_t arm = 0; message->seen != NULL && arm < arms; arm++)
        TACIT_ASSERT(message->seen[arm] <= TACIT_HORIZON_MAX + 1);
    TACIT_ASSERT(tacit_wire_bytes(WIRE(gossip, arms), message) == size);
    uint8_t *const ours = malloc(size);
    TACIT_ASSERT(ours != NULL);
    tacit_wire_encode(WIRE(gossip, arms), message, ours);
    TACIT_ASSERT(memcmp(ours, bytes, size) == 0);
    free(ours);
    free(message);
}

static void tell(const uint8_t *bytes, size_t size, uint32_t arms)
{
    struct tacit_wire_gossip_progress *progress;
    if (tacit_wire_decode(&tacit_wire_gossip_progress, SHAPE(arms, AGENTS), bytes, size, &progress,
                          tacit_wire_heap()) != TACIT_OK)
        return;
    check_row(progress->theta, arms);
    uint8_t *const ours = malloc(size);
    TACIT_ASSERT(ours != NULL);
    tacit_wire_encode(&tacit_wire_gossip_progress, SHAPE(arms), progress, ours);
    TACIT_ASSERT(memcmp(ours, bytes, size) == 0);
    free(ours);
    free(progress);
}

/* A real message of some kind, overwritten with the input from a place on that the input names. */
static void send_and_damage(const uint8_t *data, size_t size, uint32_t arms)
{
    static const uint64_t seen[ARMS_MAX];
    static const double zeros[ARMS_MAX];
    enum tacit_gossip_message_kind const kind =
        (enum tacit_gossip_message_kind)(data[0] % (TACIT_GOSSIP_REFUSE + 1));
    bool const is_offer = kind == TACIT_GOSSIP_OFFER;
    bool const is_shift = kind == TACIT_GOSSIP_SHIFT;
    struct tacit_gossip_message const message = {.kind = kind,
                                                 .from = data[1] % AGENTS,
                                                 .incarnation_number = 1,
                                                 .seen = kind == TACIT_GOSSIP_REFUSE ? NULL : seen,
                                                 .theta = is_offer ? zeros : NULL,
                                                 .shift = is_shift ? zeros : NULL,
                                                 .flow = is_offer || is_shift ? zeros : NULL};
    size_t const length = tacit_wire_bytes(WIRE(gossip, arms), &message);
    uint8_t *const bytes = malloc(length);
    TACIT_ASSERT(bytes != NULL);
    tacit_wire_encode(WIRE(gossip, arms), &message, bytes);
    size_t const at = (data[2] * (size_t)8) % length;
    size_t const count = size - 3 < length - at ? size - 3 : length - at;
    memcpy(bytes + at, data + 3, count);
    receive(bytes, length, arms);
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 4)
        return 0;
    uint32_t const arms = arm_counts[data[0] % 4];
    if (data[0] >= 128) {
        send_and_damage(data + 1, size - 1, arms);
        return 0;
    }
    receive(data + 1, size - 1, arms);
    tell(data + 1, size - 1, arms);
    return 0;
}
