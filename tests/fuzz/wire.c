/* libFuzzer target, one a protocol (PROTOCOL): a peer's bytes into tacit_wire_decode. What is taken
 * must be in our own form: written again, it is the same bytes. The first three bytes choose the
 * shape of the run and who hears it. What cores do with anything that is taken is tests/round's. */
#include "../support/wire_shape.h"
#include "tacit/core.h"

extern const struct tacit_wire_protocol PROTOCOL;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint32_t arms[] = {1, 3, 64, 65, 200};
    static const uint32_t agents[] = {1, 3, 5, 64, 65, 300};
    static const uint32_t dimensions[] = {0, 1, 2, 5, 64};
    void *message = NULL;
    if (size < 3)
        return 0;
    size_t const length = size - 3;
    struct tacit_wire_shape const shape = {arms[data[0] % 5], agents[data[1] % 6],
                                           dimensions[data[2] / 2 % 5],
                                           data[2] % 2 == 0 ? TACIT_HUB : 0};
    if (tacit_wire_decode(PROTOCOL.messages, &shape, data + 3, length, &message,
                          tacit_wire_heap()) != TACIT_OK) {
        TACIT_ASSERT(message == NULL);
        return 0;
    }
    struct tacit_wire_label const label = tacit_wire_label(PROTOCOL.messages, message);
    TACIT_ASSERT(label.from == TACIT_HUB || label.from < shape.agent_count);
    wire_assert_form(PROTOCOL.messages, &shape, message, data + 3, length);
    free(message);
    return 0;
}
