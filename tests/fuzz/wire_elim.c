/* libFuzzer target: bytes of a peer into tacit_wire_elim_decode. What is taken must be in our own
 * form: written again, it is the same bytes. The first two bytes choose the shape of the run.
 *
 * Build: clang -fsanitize=fuzzer,address,undefined, with what tests/unit/wire.c links. */
#include <stdlib.h>
#include <string.h>
#include "tacit/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint32_t arm_counts[] = {1, 3, 64, 65, 200};
static const uint32_t agent_counts[] = {1, 5, 64, 65};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tacit_elim_message *message = NULL;
    if (size < 2)
        return 0;
    uint32_t const arms = arm_counts[data[0] % 5];
    uint32_t const agents = agent_counts[data[1] % 4];
    data += 2;
    size -= 2;
    enum tacit_status const status =
        tacit_wire_elim_decode(data, size, arms, agents, TACIT_ELIM_HUB, &message);
    TACIT_IMPLIES(status != TACIT_OK, message == NULL);
    if (status != TACIT_OK)
        return 0;
    TACIT_ASSERT(message->to == TACIT_ELIM_HUB);
    TACIT_ASSERT(message->from == TACIT_ELIM_HUB || message->from < agents);
    TACIT_IMPLIES(message->kind == TACIT_ELIM_REPORT,
                  message->sum_count == tacit_bits_count(message->arms, arms));
    TACIT_ASSERT(tacit_wire_elim_bytes(message, arms, agents) == size);
    uint8_t *const again = malloc(size);
    TACIT_ASSERT(again != NULL);
    TACIT_ASSERT(tacit_wire_elim_encode(message, arms, agents, again) == TACIT_OK);
    TACIT_ASSERT(memcmp(again, data, size) == 0);
    free(again);
    free(message);
    return 0;
}
