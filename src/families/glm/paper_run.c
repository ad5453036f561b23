/* What is said in a run of the paper's protocols: an update is carried out from its trigger to its
 * commit, message by message. */
#include <math.h>
#include <string.h>
#include "run.h"

#define RESEND_US 1000000u /* no message is lost, so no timer is looked at */

static struct tacit_glm_client_config client_config(const struct glm_plan *plan, uint64_t run_id,
                                                    uint32_t client)
{
    struct tacit_glm_client_config config = {
        .model = plan->model, .client_id = client, .resend_after_us = RESEND_US};
    config.model.run_id = run_id;
    return config;
}

static struct tacit_glm_hub_config hub_config(const struct glm_plan *plan, uint64_t run_id)
{
    struct tacit_glm_hub_config config = {.model = plan->model, .resend_after_us = RESEND_US};
    config.model.run_id = run_id;
    return config;
}

static size_t hub_size(const struct glm_plan *plan)
{
    struct tacit_glm_hub_config const config = hub_config(plan, 1);
    return tacit_glm_hub_size(&config);
}

static size_t client_size(const struct glm_plan *plan)
{
    struct tacit_glm_client_config const config = client_config(plan, 1, 0);
    return tacit_glm_model_is_valid(&plan->model) ? tacit_glm_client_size(&config) : 0;
}

static enum tacit_status set_up(struct glm_run *run, uint32_t index, uint64_t run_id)
{
    struct glm_plan const *const plan = run->plan;
    struct tacit_glm_hub_config const hub = hub_config(plan, run_id);
    enum tacit_status status = tacit_glm_hub_init(run->hub, &hub);
    (void)index;
    for (uint32_t i = 0; i < plan->model.client_count && status == TACIT_OK; i++) {
        struct tacit_glm_client_config const client = client_config(plan, run_id, i);
        status = tacit_glm_client_init(glm_run_client(run, i), &client);
    }
    return status;
}

/* ---- Updates ---- */

/* Is it part of the discipline around an update only, and not of the paper's count? */
static bool is_control(const struct tacit_glm_message *message)
{
    return message->kind == TACIT_GLM_HELLO || message->kind == TACIT_GLM_TRIGGER ||
           message->kind == TACIT_GLM_FREEZE;
}

/* Control messages are counted by number alone, all others by scalars, d a vector and d^2 a matrix
 * (READINGS P4.12), and by bytes, 8 a number, of which a matrix needs its triangle. */
static void count(struct glm_run *run, const struct tacit_glm_message *message)
{
    double const d = run->plan->model.dimension;
    double const copies = message->to == TACIT_EVERYONE ? run->plan->model.client_count : 1.0;
    double const vectors = (message->vector != NULL ? 1 : 0) + (message->target != NULL ? 1 : 0);
    double const matrices = (message->matrix != NULL ? 1 : 0) + (message->steps != NULL ? 1 : 0);
    if (is_control(message)) {
        run->control_messages += copies;
        return;
    }
    run->messages += copies;
    run->scalars += copies * (vectors * d + matrices * d * d);
    run->bytes += copies * 8 * (vectors * d + matrices * d * (d + 1) / 2);
}

/* Brings what the hub says to all clients, and their answers to the hub, client by client; *update
 * becomes what the hub says then. */
static enum tacit_status exchange(struct glm_run *run, struct tacit_glm_update *update)
{
    struct tacit_glm_message const message = update->message;
    struct tacit_glm_event receive = {
        .kind = TACIT_EVENT_RECEIVE, .path = run->plan->path, .as.message = &message};
    count(run, &message);
    update->send = false;
    for (uint32_t i = 0; i < run->plan->model.client_count; i++) {
        struct tacit_glm_update answer;
        TACIT_TRY(tacit_glm_client_step(glm_run_client(run, i), &receive, NULL, &answer));
        if (!answer.send)
            continue;
        struct tacit_glm_event reply = receive;
        reply.as.message = &answer.message;
        count(run, &answer.message);
        TACIT_TRY(tacit_glm_hub_step(run->hub, &reply, update));
    }
    return TACIT_OK;
}

/* J of the update that took the most rounds, beside Eq. (3) with the way that theta went in it. */
static void compare_rounds(struct glm_run *run, uint64_t aggregations_before)
{
    struct tacit_glm_model const *const model = &run->plan->model;
    struct tacit_glm_hub_view view;
    double square = 0;
    tacit_glm_hub_view(run->hub, &view);
    double const rounds = (double)(view.aggregation_count - aggregations_before);
    if (model->variant > TACIT_GLM_V2 || view.model_count == 0 || rounds <= run->rounds)
        return;
    for (uint32_t i = 0; i < model->dimension; i++)
        square += (view.theta[i] - run->theta[i]) * (view.theta[i] - run->theta[i]);
    run->rounds = rounds;
    run->rounds_bound = tacit_glm_rounds_bound(model, view.model_count, sqrt(square));
}

/* An update from its trigger to its commit. Errors: TACIT_INVALID, it does not converge. */
static enum tacit_status carry_out(struct glm_run *run, const struct tacit_glm_message *trigger)
{
    struct tacit_glm_update update;
    struct tacit_glm_hub_view before;
    tacit_glm_hub_view(run->hub, &before);
    memcpy(run->theta, before.theta, run->plan->model.dimension * sizeof run->theta[0]);
    if (run->plan->model.start == TACIT_GLM_START_ZERO)
        memset(run->theta, 0, sizeof run->theta);
    struct tacit_glm_event const event = {
        .kind = TACIT_EVENT_RECEIVE, .path = run->plan->path, .as.message = trigger};
    count(run, trigger);
    TACIT_TRY(tacit_glm_hub_step(run->hub, &event, &update));
    while (update.send)
        TACIT_TRY(exchange(run, &update));
    compare_rounds(run, before.aggregation_count);
    return TACIT_OK;
}

/* ---- A slot ---- */

static bool rule_of(const struct glm_run *run, uint32_t client, struct tacit_linalg_rule *rule)
{
    return tacit_glm_client_rule(glm_run_client(run, client), rule);
}

/* *arm: what the client chooses among what is offered. */
static enum tacit_status offer(struct glm_run *run, uint32_t client,
                               const struct tacit_offer *offered, uint32_t *arm)
{
    struct tacit_entropy const entropy = tacit_rng_entropy(&run->world->exploration_rng[client]);
    struct tacit_glm_event const event = {
        .kind = TACIT_EVENT_OFFER, .path = run->plan->path, .as.offer = *offered};
    struct tacit_glm_update update;
    TACIT_TRY(tacit_glm_client_step(glm_run_client(run, client), &event, &entropy, &update));
    *arm = update.arm;
    return TACIT_OK;
}

static enum tacit_status on_reward(struct glm_run *run, uint32_t client,
                                   const struct tacit_glm_reward *reward)
{
    struct tacit_glm_event const event = {
        .kind = TACIT_EVENT_REWARD, .path = run->plan->path, .as.reward = *reward};
    struct tacit_glm_update update;
    enum tacit_status const status =
        tacit_glm_client_step(glm_run_client(run, client), &event, NULL, &update);
    return status == TACIT_OK && update.send ? carry_out(run, &update.message) : status;
}

/* ---- Results ---- */

static void write_results(const struct glm_run *run, double *metrics)
{
    struct tacit_glm_model const *const model = &run->plan->model;
    struct tacit_glm_hub_view view;
    tacit_glm_hub_view(run->hub, &view);
    double const clients = model->client_count;
    metrics[GLM_UPDATES] = (double)view.update_count;
    metrics[GLM_AGGREGATIONS] = (double)view.aggregation_count;
    metrics[GLM_LINKS] = clients * (double)view.aggregation_count;
    if (model->variant == TACIT_GLM_ONE_UCB) {
        /* READINGS P4.12: as the paper counts it, every observation goes to every client. */
        metrics[GLM_AGGREGATIONS] = 0;
        metrics[GLM_LINKS] = clients * (double)view.model_count;
        metrics[GLM_SCALARS] = clients * (double)view.model_count;
    }
}

/* The last model of the first run, coefficient by coefficient, with the half of what the ellipsoid
 * of Lemma 9 leaves to each; where theta* is known, that too. Other runs have another truth. */
static void write_model(const struct glm_run *run, double *profiles)
{
    struct glm_plan const *const plan = run->plan;
    uint32_t const d = plan->model.dimension;
    double inverse[TACIT_LINALG_MATRIX_MAX];
    struct tacit_glm_hub_view view;
    tacit_glm_hub_view(run->hub, &view);
    if (view.update_count == 0 || !tacit_linalg_inverse(plan->path, d, view.matrix, inverse, NULL))
        return;
    double const radius = tacit_glm_radius(&plan->model, view.model_count);
    for (uint32_t i = 0; i < d; i++) {
        profiles[i] = view.theta[i];
        profiles[d + i] = radius * sqrt(inverse[i * TACIT_LINALG_STRIDE(d) + i]);
        if (plan->log == NULL)
            profiles[2 * (size_t)d + i] = run->world->env.theta[i];
    }
}

const struct glm_rule glm_paper_rule = {.hub_size = hub_size,
                                        .client_size = client_size,
                                        .set_up = set_up,
                                        .rule = rule_of,
                                        .offer = offer,
                                        .on_reward = on_reward,
                                        .results = write_results,
                                        .model = write_model};
