/* libFuzzer target: bytes of a peer into tacit_wire_announcement_decode. What is taken keeps its
 * limits and is in our own form: written again, it is the same bytes. What is refused leaves no
 * trace. */
#include "tacit/wire.h"
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_limits(const struct tacit_wire_announcement *run)
{
    TACIT_ASSERT(run->agent < run->agent_count);
    TACIT_ASSERT(run->agent_count <= TACIT_AGENTS_MAX);
    TACIT_ASSERT(run->arm_count >= 1);
    TACIT_ASSERT(run->arm_count <= TACIT_ARMS_MAX);
    TACIT_ASSERT(run->horizon >= 1);
    TACIT_ASSERT(run->horizon <= TACIT_HORIZON_MAX);
    TACIT_ASSERT(run->epsilon_nano > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tacit_wire_announcement run;
    struct tacit_wire_announcement untouched;
    uint8_t again[TACIT_WIRE_ANNOUNCEMENT_BYTES];
    memset(&run, 0xa5, sizeof run);
    memcpy(&untouched, &run, sizeof run);
    if (tacit_wire_announcement_decode(data, size, &run) != TACIT_OK) {
        TACIT_ASSERT(memcmp(&run, &untouched, sizeof run) == 0);
        return 0;
    }
    check_limits(&run);
    TACIT_ASSERT(size == sizeof again);
    tacit_wire_announcement_encode(&run, again);
    TACIT_ASSERT(memcmp(again, data, size) == 0);
    return 0;
}
