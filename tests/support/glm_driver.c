/* Clients and a hub of contextual bandits in one process; messages arrive at once. */
#include <math.h>
#include "testing.h"
#include "glm_driver.h"
#include "digest.h"

#define RESEND_US 1000000u

static void digest_some(const double *values, size_t count)
{
    digest_word(values == NULL ? 0 : count);
    digest_reals(values, values == NULL ? 0 : count);
}

static void digest_said(const struct tacit_glm_message *said, const struct tacit_glm_model *model)
{
    size_t const matrix = TACIT_LINALG_MATRIX(model->dimension);
    uint64_t const words[] = {said->kind,   said->from,
                              said->to,     said->sync,
                              said->run_id, said->attempt,
                              said->round,  said->slot,
                              said->count,  said->participants == NULL ? 0 : said->participants[0]};
    digest_bytes(words, sizeof words);
    digest_real(said->squares);
    digest_real(said->regret);
    digest_real(said->log_det);
    digest_some(said->vector, model->dimension);
    digest_some(said->target, model->dimension);
    digest_some(said->matrix, matrix);
    digest_some(said->steps, matrix);
    digest_some(said->inverse, matrix);
}

static void digest_update(enum tacit_status status, const struct tacit_glm_update *update,
                          const struct tacit_glm_model *model)
{
    digest_step(status,
                update->persist | (uint64_t)update->send << 1 | (uint64_t)update->decided << 2 |
                    (uint64_t)update->arm << 3,
                update->deadline_us, NULL, 0);
    digest_real(update->probability);
    if (update->send)
        digest_said(&update->message, model);
}

void glm_digest_client(const struct tacit_glm_client *client, const struct tacit_glm_model *model,
                       enum tacit_status status, const struct tacit_glm_update *update)
{
    struct tacit_glm_client_view view;
    tacit_glm_client_view(client, &view);
    uint64_t const words[] = {view.sync,         view.frozen,         view.triggered,
                              view.sample_count, view.included_count, view.model_count,
                              view.anchor_round, view.is_near};
    digest_update(status, update, model);
    digest_bytes(words, sizeof words);
    digest_real(view.alpha);
    digest_real(view.log_det);
    digest_real(view.trigger);
    digest_reals(view.theta, model->dimension);
    digest_reals(view.estimate, model->dimension);
    digest_reals(view.inverse, TACIT_LINALG_MATRIX(model->dimension));
}

void glm_digest_hub(const struct tacit_glm_hub *hub, const struct tacit_glm_model *model,
                    enum tacit_status status, const struct tacit_glm_update *update)
{
    struct tacit_glm_hub_view view;
    tacit_glm_hub_view(hub, &view);
    uint64_t const words[] = {view.sync,
                              view.busy,
                              view.backs_off,
                              view.halted,
                              view.attempt,
                              view.round,
                              view.update_count,
                              view.aggregation_count,
                              view.model_count,
                              view.abandoned_count,
                              view.participants[0],
                              view.answered[0]};
    digest_update(status, update, model);
    digest_bytes(words, sizeof words);
    digest_reals(view.theta, model->dimension);
    digest_reals(view.matrix, TACIT_LINALG_MATRIX(model->dimension));
}

/* Steps that a driver makes: they end well. */
static void client_steps(struct glm_driver *driver, uint32_t client,
                         const struct tacit_glm_event *event, const struct tacit_entropy *entropy,
                         struct tacit_glm_update *update)
{
    struct tacit_glm_client *const here = driver->clients[client];
    enum tacit_status const status = tacit_glm_client_step(here, event, entropy, update);
    TACIT_ASSERT(status == TACIT_OK);
    glm_digest_client(here, &driver->model, status, update);
}

static void hub_steps(struct glm_driver *driver, const struct tacit_glm_event *event,
                      struct tacit_glm_update *update)
{
    enum tacit_status const status = tacit_glm_hub_step(driver->hub, event, update);
    TACIT_ASSERT(status == TACIT_OK);
    glm_digest_hub(driver->hub, &driver->model, status, update);
}

const double *glm_kept(const double *values, size_t count, double *copy)
{
    if (values == NULL)
        return NULL;
    memcpy(copy, values, count * sizeof *copy);
    copy[count] = NAN;
    return copy;
}

void glm_driver_open(struct glm_driver *driver, const struct tacit_glm_model *model,
                     enum tacit_linalg_path path)
{
    memset(driver, 0, sizeof *driver);
    driver->model = *model;
    driver->path = path;
    driver->rng = tacit_rng_stream(7, 0, 0, 1);
    struct tacit_glm_hub_config const hub = {.model = *model, .resend_after_us = RESEND_US};
    driver->hub = testing_malloc(tacit_glm_hub_size(&hub));
    TACIT_ASSERT(tacit_glm_hub_init(driver->hub, &hub) == TACIT_OK);
    driver->clients = testing_malloc(model->client_count * sizeof(struct tacit_glm_client *));
    for (uint32_t i = 0; i < model->client_count; i++) {
        struct tacit_glm_client_config const config = {
            .model = *model, .client_id = i, .resend_after_us = RESEND_US};
        driver->clients[i] = testing_malloc(tacit_glm_client_size(&config));
        TACIT_ASSERT(tacit_glm_client_init(driver->clients[i], &config) == TACIT_OK);
    }
}

/* To the hub; what it says goes to every client, and their answers come back here. */
static void to_hub(struct glm_driver *driver, const struct tacit_glm_message *message)
{
    struct tacit_glm_update update;
    struct tacit_glm_event event = {
        .kind = TACIT_EVENT_RECEIVE, .path = driver->path, .as.message = message};
    hub_steps(driver, &event, &update);
    while (update.send) {
        struct tacit_glm_message said = update.message;
        update.send = false;
        if (driver->hides_inverse)
            said.inverse = NULL;
        struct tacit_glm_event receive = event;
        receive.as.message = &said;
        for (uint32_t i = 0; i < driver->model.client_count; i++) {
            struct tacit_glm_update answer;
            client_steps(driver, i, &receive, NULL, &answer);
            if (!answer.send)
                continue;
            event.as.message = &answer.message;
            hub_steps(driver, &event, &update);
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
    client_steps(driver, client, &event, &entropy, &update);
    TACIT_ASSERT(update.decided);
    return update.arm;
}

void glm_driver_reward(struct glm_driver *driver, uint32_t client, uint64_t slot,
                       const double *context, double reward)
{
    struct tacit_glm_update update;
    struct tacit_glm_event const event = {
        .kind = TACIT_EVENT_REWARD, .path = driver->path, .as.reward = {context, reward, slot, 0}};
    client_steps(driver, client, &event, NULL, &update);
    if (update.send)
        to_hub(driver, &update.message);
}
