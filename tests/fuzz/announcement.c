/* libFuzzer target: bytes of a peer into tacit_wire_decode, and what it takes into
 * tacit_wire_run_decode of every protocol, whatever its name is. What is taken keeps its limits and
 * is in our own form: written again, it is the same bytes. What is refused leaves no trace. What
 * differs is said within its room. */
#include "../support/wire_shape.h"
#include "tacit/wire_elim.h"
#include "tacit/wire_glm.h"
#include "tacit/wire_gossip.h"
#include "tacit/wire_phased.h"
#include "tacit/wire_select.h"
#include "tacit/wire_vote.h"

#define RUN_MAX 512u

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

/* Of a protocol without such a part there are no bytes. */
static void check_form(const struct tacit_wire_table *table, const struct tacit_wire_shape *shape,
                       const void *found, const uint8_t *bytes, size_t size)
{
    if (table == NULL) {
        TACIT_ASSERT(size == 0);
        return;
    }
    wire_assert_form(table, shape, found, bytes, size);
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

/* Of the one block that a run may take. */
static void *allocate(void *context, size_t size)
{
    *(void **)context = malloc(size);
    return *(void **)context;
}

static void release(void *context, void *block)
{
    free(block);
    *(void **)context = NULL;
}

/* A family's own parts, written again. */
static void check_run(const struct tacit_wire_protocol *protocol,
                      struct tacit_wire_announcement announcement)
{
    uint64_t run[RUN_MAX / 8];
    uint64_t untouched[RUN_MAX / 8];
    void *block = NULL;
    struct tacit_wire_allocator const allocator = {allocate, release, &block};
    struct tacit_wire_agreement *const agreement = &announcement.agreement;
    agreement->protocol = protocol->name;
    agreement->family = protocol->family;
    agreement->protocol_version = protocol->version;
    memset(run, 0xa5, sizeof run);
    memcpy(untouched, run, sizeof run);
    TACIT_ASSERT(protocol->run_size <= sizeof run);
    if (tacit_wire_run_decode(protocol, &announcement, run, &allocator) != TACIT_OK) {
        TACIT_ASSERT(memcmp(run, untouched, sizeof run) == 0 && block == NULL);
        return;
    }
    struct tacit_wire_shape const *const shape =
        SHAPE(agreement->arm_count, agreement->agent_count);
    if (protocol != &tacit_wire_phased) /* whose guard is the first arm where there is none */
        check_form(protocol->parameters, shape, run, agreement->parameters,
                   agreement->parameters_size);
    check_form(protocol->place, shape, run, announcement.place, announcement.place_size);
    free(block);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct tacit_wire_protocol *const protocols[] = {
        &tacit_wire_elim,   &tacit_wire_glm,    &tacit_wire_glm_sound, &tacit_wire_gossip,
        &tacit_wire_phased, &tacit_wire_select, &tacit_wire_vote};
    struct tacit_wire_announcement *announcement = NULL;
    if (tacit_wire_decode(&tacit_wire_announcement, NULL, data, size, &announcement,
                          tacit_wire_heap()) != TACIT_OK) {
        TACIT_ASSERT(announcement == NULL);
        return 0;
    }
    check_limits(announcement);
    check_form(&tacit_wire_announcement, NULL, announcement, data, size);
    check_words(announcement);
    for (size_t i = 0; i < sizeof protocols / sizeof protocols[0]; i++)
        check_run(protocols[i], *announcement);
    free(announcement);
    return 0;
}
