/* libFuzzer target: a peer's bytes into tacit_wire_decode. What is taken must be in our own
 * form: written again, it is the same bytes; and the cores must survive it, unchanged where they
 * refuse it. The first byte chooses the number of arms, the second who hears it: the hub, or a
 * site.
 *
 * Build: clang -fsanitize=fuzzer,address,undefined, with what tests/unit/wire_vote.c links. */
#include "../support/wire_shape.h"
#include <stdlib.h>
#include <string.h>
#include "tacit/wire_vote.h"

#define AGENTS 5u
#define NOW_US 1000u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint32_t arm_counts[] = {1, 3, 64, 65, 200};

static enum tacit_status fill(void *context, void *bytes, size_t size)
{
    (void)context;
    memset(bytes, 7, size);
    return TACIT_OK;
}

static const struct tacit_entropy entropy = {.fill = fill};

static struct tacit_vote_board_config board_of(uint32_t arms)
{
    return (struct tacit_vote_board_config){
        .player_count = AGENTS, .arm_count = arms, .votes_needed = 2};
}

/* NULL: refused. */
static struct tacit_vote_hub_message *receive(const uint8_t *bytes, size_t size, uint32_t arms,
                                              uint32_t to)
{
    struct tacit_vote_hub_message *message = NULL;
    if (tacit_wire_decode(WIRE(vote, arms, AGENTS, 0, to), bytes, size, &message,
                          tacit_wire_heap()) != TACIT_OK) {
        TACIT_ASSERT(message == NULL);
        return NULL;
    }
    TACIT_ASSERT(message->from == TACIT_HUB || message->from < AGENTS);
    TACIT_ASSERT(message->player < AGENTS);
    TACIT_ASSERT(tacit_wire_bytes(WIRE(vote, arms),
                                  &(struct tacit_vote_hub_message){.kind = message->kind}) == size);
    uint8_t *const again = malloc(size);
    TACIT_ASSERT(again != NULL);
    tacit_wire_encode(WIRE(vote, arms), message, again);
    TACIT_ASSERT(memcmp(again, bytes, size) == 0);
    free(again);
    return message;
}

static void tell_hub(const struct tacit_vote_hub_message *message, uint32_t arms)
{
    struct tacit_vote_hub_config const config = {.board = board_of(arms)};
    size_t const size = tacit_vote_hub_size(&config);
    struct tacit_vote_hub *const hub = malloc(size);
    struct tacit_vote_hub *const before = malloc(size);
    struct tacit_event const event = {
        .now_us = NOW_US, .kind = TACIT_EVENT_RECEIVE, .as.message = message};
    struct tacit_vote_hub_update update;
    TACIT_ASSERT(hub != NULL && before != NULL);
    TACIT_ASSERT(tacit_vote_hub_init(hub, &config) == TACIT_OK);
    memcpy(before, hub, size);
    enum tacit_status const status = tacit_vote_hub_step(hub, &event, &entropy, &update);
    TACIT_ASSERT(tacit_vote_hub_check(hub, size, &config) == TACIT_OK);
    if (status != TACIT_OK && !update.persist)
        TACIT_ASSERT(memcmp(before, hub, size) == 0);
    free(before);
    free(hub);
}

static void tell_site(const struct tacit_vote_hub_message *message, uint32_t arms)
{
    struct tacit_mechanism_config const mechanism = {TACIT_PRIVACY_SOUND, 1, 0, 1};
    struct tacit_vote_site_config config = {.player = {.player_id = 1,
                                                       .player_count = AGENTS,
                                                       .arm_count = arms,
                                                       .accuracy = 0.25,
                                                       .failure = 0.5,
                                                       .growth = 2,
                                                       .budget_nano = TACIT_NANO,
                                                       .tick_us = 1000},
                                            .board = board_of(arms),
                                            .horizon = 1000,
                                            .draws_max = 10,
                                            .resend_after_us = 1000};
    TACIT_ASSERT(tacit_mechanism_init(&config.player.mechanism, &mechanism) == TACIT_OK);
    size_t const size = tacit_vote_site_size(&config);
    struct tacit_vote_site *const site = malloc(size);
    struct tacit_vote_site *const before = malloc(size);
    struct tacit_vote_site_update update;
    struct tacit_event event = {.now_us = NOW_US, .kind = TACIT_EVENT_START};
    TACIT_ASSERT(site != NULL && before != NULL);
    TACIT_ASSERT(tacit_vote_site_init(site, &config) == TACIT_OK);
    TACIT_ASSERT(tacit_vote_site_step(site, &event, &entropy, &update) == TACIT_OK);
    memcpy(before, site, size);
    event.kind = TACIT_EVENT_RECEIVE;
    event.as.message = message;
    enum tacit_status const status = tacit_vote_site_step(site, &event, &entropy, &update);
    TACIT_ASSERT(tacit_vote_site_check(site, size, &config) == TACIT_OK);
    TACIT_ASSERT(status == TACIT_OK || memcmp(before, site, size) == 0);
    free(before);
    free(site);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    uint32_t const arms = arm_counts[data[0] % 5];
    bool const is_hub = data[1] % 2 == 0;
    struct tacit_vote_hub_message *const message =
        receive(data + 2, size - 2, arms, is_hub ? TACIT_HUB : 1);
    if (message == NULL)
        return 0;
    if (is_hub)
        tell_hub(message, arms);
    else
        tell_site(message, arms);
    free(message);
    return 0;
}
