/* libFuzzer target: bytes of a peer into tacit_wire_announcement_decode. What is taken keeps its
 * limits and is in our own form: written again, it is the same bytes. What is refused leaves no
 * trace. */
#include "tacit/wire.h"
#include <stdlib.h>
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

static void check_network(const struct tacit_wire_announcement *run)
{
    struct tacit_wire_network const *const network = run->network;
    TACIT_ASSERT(network->round_limit < TACIT_ELIM_EPOCHS_MAX);
    TACIT_ASSERT(network->gap > 0);
    TACIT_ASSERT(network->gap <= 1);
    TACIT_IMPLIES(network->members != NULL,
                  tacit_bits_within(network->members, network->members, run->agent_count) &&
                      tacit_bits_has(network->members, run->agent));
    for (uint32_t i = 0; i < network->neighbour_count; i++) {
        struct tacit_wire_neighbour const *const neighbour = &network->neighbours[i];
        size_t const length = strlen(neighbour->site);
        TACIT_ASSERT(neighbour->agent < run->agent_count);
        TACIT_ASSERT(neighbour->agent != run->agent);
        TACIT_ASSERT(length >= 1);
        TACIT_ASSERT(length <= TACIT_WIRE_SITE_BYTES_MAX);
    }
}

static void check_form(const struct tacit_wire_announcement *run, const uint8_t *data, size_t size)
{
    TACIT_ASSERT(tacit_wire_announcement_bytes(run) == size);
    uint8_t *const again = malloc(size);
    TACIT_ASSERT(again != NULL);
    TACIT_ASSERT(tacit_wire_announcement_encode(run, again) == TACIT_OK);
    TACIT_ASSERT(memcmp(again, data, size) == 0);
    free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tacit_wire_announcement run;
    struct tacit_wire_announcement untouched;
    memset(&run, 0xa5, sizeof run);
    memcpy(&untouched, &run, sizeof run);
    if (tacit_wire_announcement_decode(data, size, &run) != TACIT_OK) {
        TACIT_ASSERT(memcmp(&run, &untouched, sizeof run) == 0);
        return 0;
    }
    check_limits(&run);
    if (run.network != NULL)
        check_network(&run);
    check_form(&run, data, size);
    free((void *)(uintptr_t)run.network);
    return 0;
}
