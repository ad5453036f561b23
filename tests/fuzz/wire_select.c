/* libFuzzer target: a peer's bytes into tacit_wire_decode. What is taken must be in our own
 * form: written again, it is the same bytes. The first byte chooses how many sites there are. */
#include "../support/wire_shape.h"
#include <stdlib.h>
#include <string.h>
#include "tacit/wire_select.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint32_t agent_counts[] = {1, 5, 64, 65, 300};

static void check_decoded(const struct tacit_select_message *message, uint32_t agents)
{
    TACIT_ASSERT(message->from == TACIT_HUB || message->from < agents);
    TACIT_ASSERT(message->round <= TACIT_SELECT_ROUNDS_MAX + 1);
    if (message->kind == TACIT_SELECT_ORDER)
        TACIT_ASSERT(tacit_bits_within(message->set, message->set, agents));
    if (message->kind == TACIT_SELECT_PIECE)
        TACIT_ASSERT((message->model_piece == NULL) != (message->step_piece == NULL));
    if (message->kind == TACIT_SELECT_ORDER || message->kind == TACIT_SELECT_UPDATE)
        TACIT_ASSERT(message->digests != NULL && message->digest_count > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tacit_select_message *message = NULL;
    if (size < 1)
        return 0;
    uint32_t const agents = agent_counts[data[0] % 5];
    if (tacit_wire_decode(WIRE(select, 0, agents, 0, TACIT_HUB), data + 1, size - 1, &message,
                          tacit_wire_heap()) != TACIT_OK) {
        TACIT_ASSERT(message == NULL);
        return 0;
    }
    check_decoded(message, agents);
    TACIT_ASSERT(tacit_wire_bytes(WIRE(select, 0, agents), message) == size - 1);
    uint8_t *const again = malloc(size);
    TACIT_ASSERT(again != NULL);
    tacit_wire_encode(WIRE(select, 0, agents), message, again);
    TACIT_ASSERT(memcmp(again, data + 1, size - 1) == 0);
    free(again);
    free(message);
    return 0;
}
