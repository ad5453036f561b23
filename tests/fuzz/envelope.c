/* libFuzzer target: bytes of a peer into tacit_wire_envelope_decode. What is taken is in our own
 * form: written again, it is the same bytes. What is refused leaves no trace. */
#include <stdlib.h>
#include <string.h>
#include "tacit/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tacit_wire_envelope envelope;
    struct tacit_wire_envelope untouched;
    memset(&envelope, 0xa5, sizeof envelope);
    memcpy(&untouched, &envelope, sizeof envelope);
    if (tacit_wire_envelope_decode(data, size, &envelope) != TACIT_OK) {
        TACIT_ASSERT(memcmp(&envelope, &untouched, sizeof envelope) == 0);
        return 0;
    }
    TACIT_ASSERT(envelope.term > 0);
    TACIT_ASSERT(strlen(envelope.federation) >= 1);
    TACIT_ASSERT(strlen(envelope.from) >= 1);
    TACIT_ASSERT(envelope.body_size == 0 || (envelope.body > data && envelope.body < data + size));
    TACIT_ASSERT(size - envelope.body_size <= TACIT_WIRE_ENVELOPE_BYTES_MAX);
    TACIT_ASSERT(tacit_wire_envelope_bytes(&envelope) == size);
    uint8_t *const again = malloc(size);
    TACIT_ASSERT(again != NULL);
    tacit_wire_envelope_encode(&envelope, again);
    TACIT_ASSERT(memcmp(again, data, size) == 0);
    free(again);
    return 0;
}
