/* libFuzzer target: bytes of a peer into tacit_wire_decode, and what it takes into
 * tacit_wire_run_decode. What is taken keeps its limits and is in our own form: written again,
 * it is the same bytes. What is refused leaves no trace. What differs is said within its room. */
#include "../support/wire_shape.h"
#include <stdlib.h>
#include <string.h>
#include "tacit/wire_elim.h"

#define PARAMETERS 47u /* bytes */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_limits(const struct tacit_wire_announcement *announcement)
{
    struct tacit_wire_agreement const *const agreement = &announcement->agreement;
    TACIT_ASSERT(announcement->agent < agreement->agent_count);
    TACIT_ASSERT(agreement->agent_count <= TACIT_AGENTS_MAX);
    TACIT_ASSERT(agreement->arm_count >= 1);
    TACIT_ASSERT(agreement->arm_count <= TACIT_ARMS_MAX);
    TACIT_ASSERT(agreement->horizon >= 1);
    TACIT_ASSERT(agreement->horizon <= TACIT_HORIZON_MAX);
    TACIT_ASSERT(agreement->lo < agreement->hi);
    for (uint32_t arm = 0; arm < agreement->arm_count; arm++)
        TACIT_ASSERT(tacit_wire_is_arm_name(agreement->arms[arm]));
}

static void check_form(const struct tacit_wire_announcement *announcement, const uint8_t *data,
                       size_t size)
{
    TACIT_ASSERT(tacit_wire_bytes(&tacit_wire_announcement, NULL, announcement) == size);
    uint8_t *const again = malloc(size);
    TACIT_ASSERT(again != NULL);
    tacit_wire_encode(&tacit_wire_announcement, NULL, announcement, again);
    TACIT_ASSERT(memcmp(again, data, size) == 0);
    free(again);
}

static void check_words(const struct tacit_wire_announcement *announcement)
{
    static const char *const arms[] = {"a", "b"};
    struct tacit_wire_agreement const own = {.protocol = TACIT_WIRE_ELIM_NAME,
                                             .protocol_version = 1,
                                             .agent_count = 3,
                                             .arm_count = 2,
                                             .arms = arms,
                                             .hi = 1};
    uint8_t digest[TACIT_WIRE_DIGEST_BYTES];
    char text[TACIT_WIRE_DIFFERENCE_BYTES];
    TACIT_ASSERT(tacit_wire_agreement_digest(&announcement->agreement, digest, tacit_wire_heap()) ==
                 TACIT_OK);
    if (tacit_wire_agreement_differs(&own, &announcement->agreement, text, sizeof text))
        TACIT_ASSERT(strlen(text) > 0);
    TACIT_ASSERT(!tacit_wire_agreement_differs(&announcement->agreement, &announcement->agreement,
                                               text, sizeof text));
}

static void check_network(const struct tacit_wire_elim_run *run)
{
    TACIT_IMPLIES(run->members != NULL,
                  tacit_bits_within(run->members, run->members, run->agent_count) &&
                      tacit_bits_has(run->members, run->agent));
    for (uint32_t i = 0; i < run->neighbour_count; i++) {
        struct tacit_wire_neighbour const *const neighbour = &run->neighbours[i];
        size_t const length = strlen(neighbour->site);
        TACIT_ASSERT(neighbour->agent < run->agent_count);
        TACIT_ASSERT(neighbour->agent != run->agent);
        TACIT_ASSERT(length >= 1);
        TACIT_ASSERT(length <= TACIT_WIRE_NAME_BYTES_MAX);
    }
}

/* The family's own parts, written again. */
static void check_run(const struct tacit_wire_announcement *announcement)
{
    struct tacit_wire_elim_run run;
    struct tacit_wire_elim_run untouched;
    uint8_t parameters[PARAMETERS];
    memset(&run, 0xa5, sizeof run);
    memcpy(&untouched, &run, sizeof run);
    if (tacit_wire_run_decode(&tacit_wire_elim, announcement, &run, tacit_wire_heap()) !=
        TACIT_OK) {
        TACIT_ASSERT(memcmp(&run, &untouched, sizeof run) == 0);
        return;
    }
    TACIT_ASSERT(run.round_limit < TACIT_ELIM_EPOCHS_MAX);
    TACIT_ASSERT(run.gap > 0);
    TACIT_ASSERT(run.gap <= 1);
    TACIT_ASSERT(run.report_count >= 1);
    TACIT_ASSERT(run.report_count <= run.agent_count);
    if (run.network != TACIT_WIRE_ELIM_STAR)
        check_network(&run);
    tacit_wire_encode(tacit_wire_elim.parameters, NULL, &run, parameters);
    TACIT_ASSERT(announcement->agreement.parameters_size == sizeof parameters);
    TACIT_ASSERT(memcmp(parameters, announcement->agreement.parameters, sizeof parameters) == 0);
    TACIT_ASSERT(tacit_wire_bytes(tacit_wire_elim.place, SHAPE(0, run.agent_count), &run) ==
                 announcement->place_size);
    uint8_t *const place = malloc(announcement->place_size + 1);
    TACIT_ASSERT(place != NULL);
    tacit_wire_encode(tacit_wire_elim.place, SHAPE(0, run.agent_count), &run, place);
    if (announcement->place_size > 0)
        TACIT_ASSERT(memcmp(place, announcement->place, announcement->place_size) == 0);
    free(place);
    free(ELIM_RUN_BLOCK(&run));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tacit_wire_announcement *announcement = NULL;
    if (tacit_wire_decode(&tacit_wire_announcement, NULL, data, size, &announcement,
                          tacit_wire_heap()) != TACIT_OK) {
        TACIT_ASSERT(announcement == NULL);
        return 0;
    }
    check_limits(announcement);
    check_form(announcement, data, size);
    check_words(announcement);
    check_run(announcement);
    free(announcement);
    return 0;
}
