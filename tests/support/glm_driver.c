#include "glm_driver.h"
#include <stdlib.h>
#include <string.h>

#define RESEND_US 1000000u

void glm_driver_open(struct glm_driver *driver, const struct tacit_glm_model *model,
                     enum tacit_linalg_path path)
{
    memset(driver, 0, sizeof *driver);
    driver->model = *model;
    driver->path = path;
    driver->rng = tacit_rng_stream(7, 0, 0, 1);
    struct tacit_glm_hub_config const hub = {.model = *model, .resend_after_us = RESEND_US};
    driver->hub = malloc(tacit_glm_hub_size(&hub));
    TACIT_ASSERT(tacit_glm_hub_init(driver->hub, &hub) == TACIT_OK);
    driver->clients = malloc(model->client_count * sizeof(struct tacit_glm_client *));
    for (uint32_t i = 0; i < model->client_count; i++) {
        struct tacit_glm_client_config const config = {
            .model = *model, .client_id = i, .resend_after_us = RESEND_US};
        driver->clients[i] = malloc(tacit_glm_client_size(&config));
        TACIT_ASSERT(tacit_glm_client_init(driver->clients[i], &config) == TACIT_OK);
    }
}

void glm_driver_close(struct glm_driver *driver)
{
    for (uint32_t i = 0; i < driver->model.client_count; i++)
        free(driver->clients[i]);
    free(driver->clients);
    free(driver->hub);
}

static void count_message(struct glm_driver *driver, const struct tacit_glm_message *message)
{
    uint64_t const copies = message->to == TACIT_EVERYONE ? driver->model.client_count : 1;
    if (tacit_glm_message_is_control(message)) {
        driver->control_count += copies;
        return;
    }
    driver->message_count += copies;
    driver->scalar_count += copies * tacit_glm_message_scalars(message, driver->model.dimension);
}

/* To the hub; what it says goes to every client, and their answers come back here. */
static void to_hub(struct glm_driver *driver, const struct tacit_glm_message *message)
{
    struct tacit_glm_update update;
    struct tacit_glm_event event = {
        .kind = TACIT_EVENT_RECEIVE, .path = driver->path, .as.message = message};
    count_message(driver, message);
    TACIT_ASSERT(tacit_glm_hub_step(driver->hub, &event, &update) == TACIT_OK);
    while (update.send) {
        struct tacit_glm_message said = update.message;
        update.send = false;
        count_message(driver, &said);
        if (driver->hides_inverse)
            said.inverse = NULL;
        struct tacit_glm_event receive = event;
        receive.as.message = &said;
        for (uint32_t i = 0; i < driver->model.client_count; i++) {
            struct tacit_glm_update answer;
            TACIT_ASSERT(tacit_glm_client_step(driver->clients[i], &receive, NULL, &answer) ==
                         TACIT_OK);
            if (!answer.send)
                continue;
            count_message(driver, &answer.message);
            event.as.message = &answer.message;
            TACIT_ASSERT(tacit_glm_hub_step(driver->hub, &event, &update) == TACIT_OK);
            TACIT_ASSERT(!update.send || i + 1 == driver->model.client_count);
        }
    }
}

uint32_t glm_driver_decide(struct glm_driver *driver, uint32_t client, uint32_t arm_count,
                           const double *contexts)
{
    struct tacit_entropy const entropy = tacit_rng_entropy(&driver->rng);
    struct tacit_glm_update update;
    struct tacit_glm_event const event = {
        .kind = TACIT_EVENT_OFFER,
        .path = driver->path,
        .as.offer = {arm_count, driver->model.dimension, contexts}};
    TACIT_ASSERT(tacit_glm_client_step(driver->clients[client], &event, &entropy, &update) ==
                 TACIT_OK);
    TACIT_ASSERT(update.decided);
    return update.arm;
}

void glm_driver_reward(struct glm_driver *driver, uint32_t client, uint64_t slot,
                       const double *context, double reward)
{
    struct tacit_glm_update update;
    struct tacit_glm_event const event = {
        .kind = TACIT_EVENT_REWARD, .path = driver->path, .as.reward = {context, reward, slot, 0}};
    TACIT_ASSERT(tacit_glm_client_step(driver->clients[client], &event, NULL, &update) == TACIT_OK);
    if (update.send)
        to_hub(driver, &update.message);
}
