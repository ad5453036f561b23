/* libFuzzer target: a peer's bytes into tacit_wire_decode. What is taken must be in our own
 * form: written again, it is the same bytes. The first byte chooses how many arms the run has. */
#include "../support/wire_shape.h"
#include <stdlib.h>
#include <string.h>
#include "tacit/wire_phased.h"

#define AGENTS 65u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint32_t arm_counts[] = {1, 3, 64, 200};
    struct tacit_phased_message *message = NULL;
    if (size < 2)
        return 0;
    uint32_t const arms = arm_counts[data[0] % 4];
    if (tacit_wire_decode(WIRE(phased, arms, AGENTS, 0, TACIT_HUB), data + 1, size - 1, &message,
                          tacit_wire_heap()) != TACIT_OK) {
        TACIT_ASSERT(message == NULL);
        return 0;
    }
    TACIT_ASSERT(message->from == TACIT_HUB || message->from < AGENTS);
    TACIT_ASSERT(message->block_count <= arms);
    TACIT_ASSERT(tacit_wire_bytes(WIRE(phased, 0), message) == size - 1);
    uint8_t *const again = malloc(size);
    TACIT_ASSERT(again != NULL);
    tacit_wire_encode(WIRE(phased, 0), message, again);
    TACIT_ASSERT(memcmp(again, data + 1, size - 1) == 0);
    free(again);
    free(message);
    return 0;
}
