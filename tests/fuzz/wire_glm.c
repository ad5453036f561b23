/* libFuzzer target: a peer's bytes into tacit_wire_decode, of both protocols.
 * What is taken must be in our own form: written again, it is the same bytes; and the cores must
 * survive it, unchanged where they refuse it. The first byte chooses the dimension, the second who
 * hears it: the hub or a client, of the paper's protocol or of the private one.
 *
 * Build: clang -fsanitize=fuzzer,address,undefined, with what tests/unit/wire_glm.c links. */
#include "../support/wire_shape.h"
#include <stdlib.h>
#include <string.h>
#include "tacit/wire_glm.h"

#define CLIENTS 3u
#define HORIZON 20u
#define NOW_US 1000u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint32_t dimensions[] = {1, 2, 5, 64};
static const enum tacit_glm_variant variants[] = {TACIT_GLM_FEDGLB, TACIT_GLM_V3, TACIT_GLM_ONE_UCB,
                                                  TACIT_GLM_DISLINUCB};

static struct tacit_glm_model model_of(uint32_t dimension, uint8_t choice)
{
    return tacit_glm_model_init(variants[choice % 4], TACIT_LINALG_LOGISTIC, CLIENTS, dimension,
                                HORIZON);
}

static void *memory_of(size_t size)
{
    void *const memory = malloc(size);
    TACIT_ASSERT(size > 0 && memory != NULL);
    return memory;
}

/* ---- The paper's protocol ---- */

/* NULL: refused. */
static struct tacit_glm_message *receive(const uint8_t *bytes, size_t size, uint32_t dimension,
                                         uint32_t to)
{
    struct tacit_glm_message *message = NULL;
    if (tacit_wire_decode(WIRE(glm, 0, CLIENTS, dimension, to), bytes, size, &message,
                          tacit_wire_heap()) != TACIT_OK) {
        TACIT_ASSERT(message == NULL);
        return NULL;
    }
    TACIT_ASSERT(message->to == to);
    TACIT_ASSERT(tacit_wire_bytes(WIRE(glm, 0, CLIENTS, dimension), message) == size);
    uint8_t *const again = memory_of(size);
    tacit_wire_encode(WIRE(glm, 0, CLIENTS, dimension), message, again);
    TACIT_ASSERT(memcmp(again, bytes, size) == 0);
    free(again);
    return message;
}

/* A hub that waits for whatever the message may be: an update is under way. */
static void tell_hub(const struct tacit_glm_message *message, const struct tacit_glm_model *model)
{
    struct tacit_glm_hub_config const config = {.model = *model, .quorum = 1, .resend_after_us = 1};
    size_t const size = tacit_glm_hub_size(&config);
    struct tacit_glm_hub *const hub = memory_of(size);
    struct tacit_glm_hub *const before = memory_of(size);
    struct tacit_glm_update update;
    struct tacit_glm_message const trigger = {
        .kind = TACIT_GLM_TRIGGER, .to = TACIT_HUB, .run_id = model->run_id};
    struct tacit_glm_event event = {
        .now_us = NOW_US, .kind = TACIT_EVENT_RECEIVE, .as.message = &trigger};
    TACIT_ASSERT(tacit_glm_hub_init(hub, &config) == TACIT_OK);
    TACIT_ASSERT(tacit_glm_hub_step(hub, &event, &update) == TACIT_OK);
    memcpy(before, hub, size);
    event.as.message = message;
    enum tacit_status const status = tacit_glm_hub_step(hub, &event, &update);
    TACIT_ASSERT(tacit_glm_hub_check(hub, size, &config) == TACIT_OK);
    TACIT_ASSERT(status == TACIT_OK || update.persist || memcmp(before, hub, size) == 0);
    free(before);
    free(hub);
}

/* A client with two samples, one of them frozen for update 1 where it can be. */
static void tell_client(const struct tacit_glm_message *message,
                        const struct tacit_glm_model *model)
{
    struct tacit_glm_client_config const config = {
        .model = *model, .client_id = 1, .resend_after_us = 1};
    size_t const size = tacit_glm_client_size(&config);
    struct tacit_glm_client *const client = memory_of(size);
    struct tacit_glm_client *const before = memory_of(size);
    struct tacit_glm_update update;
    double const x[TACIT_LINALG_DIMENSION_MAX] = {0.5};
    struct tacit_glm_message const freeze = {.kind = TACIT_GLM_FREEZE,
                                             .from = TACIT_HUB,
                                             .to = TACIT_EVERYONE,
                                             .sync = 1,
                                             .attempt = 1,
                                             .run_id = model->run_id};
    struct tacit_glm_event event = {
        .now_us = NOW_US, .kind = TACIT_EVENT_REWARD, .as.reward = {x, 1, 1, 0}};
    TACIT_ASSERT(tacit_glm_client_init(client, &config) == TACIT_OK);
    TACIT_ASSERT(tacit_glm_client_step(client, &event, NULL, &update) == TACIT_OK);
    event.kind = TACIT_EVENT_RECEIVE;
    event.as.message = &freeze;
    TACIT_ASSERT(tacit_glm_client_step(client, &event, NULL, &update) == TACIT_OK);
    memcpy(before, client, size);
    event.as.message = message;
    enum tacit_status const status = tacit_glm_client_step(client, &event, NULL, &update);
    TACIT_ASSERT(tacit_glm_client_check(client, size, &config) == TACIT_OK);
    TACIT_ASSERT(status == TACIT_OK || memcmp(before, client, size) == 0);
    free(before);
    free(client);
}

static void try_plain(const uint8_t *bytes, size_t size, uint32_t dimension, uint8_t choice)
{
    struct tacit_glm_model model = model_of(dimension, choice / 4);
    bool const is_hub = choice % 2 == 0;
    struct tacit_glm_message *const message =
        receive(bytes, size, dimension, is_hub ? TACIT_HUB : 1);
    if (message == NULL)
        return;
    model.run_id = message->run_id; /* else every message is a stranger's */
    if (is_hub)
        tell_hub(message, &model);
    else
        tell_client(message, &model);
    free(message);
}

/* ---- The private linear bandit ---- */

static struct tacit_glm_sound_message *receive_sound(const uint8_t *bytes, size_t size,
                                                     uint32_t dimension, uint32_t to)
{
    struct tacit_glm_sound_message *message = NULL;
    if (tacit_wire_decode(WIRE(glm_sound, 0, CLIENTS, dimension, to), bytes, size, &message,
                          tacit_wire_heap()) != TACIT_OK) {
        TACIT_ASSERT(message == NULL);
        return NULL;
    }
    TACIT_ASSERT(tacit_wire_bytes(WIRE(glm_sound, 0, 0, dimension), message) == size);
    uint8_t *const again = memory_of(size);
    tacit_wire_encode(WIRE(glm_sound, 0, 0, dimension), message, again);
    TACIT_ASSERT(memcmp(again, bytes, size) == 0);
    free(again);
    return message;
}

static struct tacit_glm_private_model sound_model(uint32_t dimension, uint64_t run_id)
{
    return (struct tacit_glm_private_model){.run_id = run_id,
                                            .link = TACIT_LINALG_IDENTITY,
                                            .client_count = CLIENTS,
                                            .dimension = dimension,
                                            .batch_count = 20,
                                            .epsilon = 1,
                                            .delta = 1e-6,
                                            .failure = 0.05,
                                            .norm_bound = 1,
                                            .noise_bound = 0.5};
}

static void tell_sound_hub(const struct tacit_event *event,
                           const struct tacit_glm_private_model *model)
{
    struct tacit_glm_sound_hub_config const config = {.model = *model, .quorum = 1};
    size_t const size = tacit_glm_sound_hub_size(&config);
    struct tacit_glm_sound_hub *const hub = memory_of(size);
    struct tacit_event const start = {.kind = TACIT_EVENT_START};
    struct tacit_glm_sound_update update;
    TACIT_ASSERT(tacit_glm_sound_hub_init(hub, &config) == TACIT_OK);
    TACIT_ASSERT(tacit_glm_sound_hub_step(hub, &start, &update) == TACIT_OK);
    (void)tacit_glm_sound_hub_step(hub, event, &update);
    TACIT_ASSERT(tacit_glm_sound_hub_check(hub, size, &config) == TACIT_OK);
    free(hub);
}

static void tell_sound_site(const struct tacit_glm_sound_event *event,
                            const struct tacit_glm_private_model *model)
{
    struct tacit_glm_sound_site_config const config = {.model = *model,
                                                       .epsilon = 1,
                                                       .delta = 1e-6,
                                                       .horizon = 100,
                                                       .cost_nano = 1,
                                                       .budget_nano = 1,
                                                       .resend_after_us = 1,
                                                       .site_id = 1};
    size_t const size = tacit_glm_sound_site_size(&config);
    struct tacit_glm_sound_site *const site = memory_of(size);
    struct tacit_glm_sound_update update;
    TACIT_ASSERT(tacit_glm_sound_site_init(site, &config) == TACIT_OK);
    (void)tacit_glm_sound_site_step(site, event, NULL, &update);
    TACIT_ASSERT(tacit_glm_sound_site_check(site, size, &config) == TACIT_OK);
    free(site);
}

static void try_sound(const uint8_t *bytes, size_t size, uint32_t dimension, uint8_t choice)
{
    bool const is_hub = choice % 2 == 0;
    struct tacit_glm_sound_message *const message =
        receive_sound(bytes, size, dimension, is_hub ? TACIT_HUB : 1);
    if (message == NULL)
        return;
    struct tacit_glm_private_model const model = sound_model(dimension, message->run_id);
    struct tacit_glm_sound_event const event = {
        .core = {.kind = TACIT_EVENT_RECEIVE, .as.message = message}};
    if (is_hub)
        tell_sound_hub(&event.core, &model);
    else
        tell_sound_site(&event, &model);
    free(message);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    uint32_t const dimension = dimensions[data[0] % 4];
    if (data[1] % 4 < 2)
        try_plain(data + 2, size - 2, dimension, data[1]);
    else
        try_sound(data + 2, size - 2, dimension, data[1]);
    return 0;
}
