/* A run: clients decide in turn, slot by slot; an update is carried out at once, message by
 * message, before the next client decides (Alg. 1). Nothing is lost here, so a loop of its own
 * plays it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "plan.h"

#define RESEND_US 1000000u /* no message is lost, so no timer is looked at */

struct glm_run {
    struct glm_plan const *plan;
    struct glm_world *world;
    struct tacit_glm_hub *hub;
    unsigned char *clients;
    size_t client_size;
    double reward;
    double messages;
    double control_messages;
    double scalars;
    double bytes;
    double rounds; /* of the update that took the most, and what Eq. (3) allows it */
    double rounds_bound;
    double theta[TACIT_LINALG_VECTOR_MAX]; /* before the update under way */
};

static struct tacit_glm_client *client_of(const struct glm_run *run, uint32_t client)
{
    TACIT_ASSERT(client < run->plan->model.client_count);
    return (struct tacit_glm_client *)(void *)(run->clients + client * run->client_size);
}

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

/* ---- Memory ---- */

static void free_run(void *memory)
{
    struct glm_run *const run = memory;
    if (run == NULL)
        return;
    free(run->hub);
    free(run->clients);
    glm_world_free(run->world);
    free(run);
}

static bool allocate(struct glm_run *run)
{
    struct glm_plan const *const plan = run->plan;
    struct tacit_glm_hub_config const hub = hub_config(plan, 1);
    struct tacit_glm_client_config const client = client_config(plan, 1, 0);
    run->client_size = tacit_glm_client_size(&client);
    run->hub = malloc(tacit_glm_hub_size(&hub));
    run->clients = calloc(plan->model.client_count, run->client_size);
    run->world = glm_world_new(plan);
    return run->hub != NULL && run->clients != NULL && run->world != NULL;
}

static void *new_run(const void *plan, enum tacit_status *status)
{
    struct glm_run *const run = calloc(1, sizeof *run);
    *status = TACIT_MEMORY;
    if (run == NULL)
        return NULL;
    run->plan = plan;
    if (!tacit_glm_model_is_valid(&run->plan->model)) {
        *status = TACIT_INVALID;
        free_run(run);
        return NULL;
    }
    if (!allocate(run)) {
        free_run(run);
        return NULL;
    }
    *status = TACIT_OK;
    return run;
}

/* ---- Beginning ---- */

static enum tacit_status set_up(struct glm_run *run, uint32_t index)
{
    TACIT_ASSERT(run->client_size > 0);
    struct glm_plan const *const plan = run->plan;
    uint64_t const run_id = (uint64_t)index + 1;
    struct tacit_glm_hub_config const hub = hub_config(plan, run_id);
    enum tacit_status status = tacit_glm_hub_init(run->hub, &hub);
    for (uint32_t i = 0; i < plan->model.client_count && status == TACIT_OK; i++) {
        struct tacit_glm_client_config const client = client_config(plan, run_id, i);
        status = tacit_glm_client_init(client_of(run, i), &client);
    }
    glm_world_set_up(run->world, index);
    run->reward = 0;
    run->messages = 0;
    run->control_messages = 0;
    run->scalars = 0;
    run->bytes = 0;
    run->rounds = 0;
    run->rounds_bound = 0;
    return status;
}

/* ---- Updates ---- */

/* 8 bytes a number: the vectors, and the triangles of the matrices, that the message has. */
static double bytes_of(const struct tacit_glm_message *message, uint32_t dimension)
{
    TACIT_ASSERT(dimension > 0);
    double const d = dimension;
    double const triangle = 0.5 * d * (d + 1.0);
    double const vectors =
        (message->vector != NULL ? 1.0 : 0.0) + (message->target != NULL ? 1.0 : 0.0);
    double const matrices =
        (message->matrix != NULL ? 1.0 : 0.0) + (message->steps != NULL ? 1.0 : 0.0);
    return 8.0 * (vectors * d + matrices * triangle);
}

static void count(struct glm_run *run, const struct tacit_glm_message *message)
{
    uint32_t const d = run->plan->model.dimension;
    double const copies = message->to == TACIT_EVERYONE ? run->plan->model.client_count : 1.0;
    if (tacit_glm_message_is_control(message)) {
        run->control_messages += copies;
        return;
    }
    run->messages += copies;
    run->scalars += copies * (double)tacit_glm_message_scalars(message, d);
    run->bytes += copies * bytes_of(message, d);
}

/* Brings what the hub says to all clients, and their answers to the hub, client by client; *update
 * becomes what the hub says then. */
static enum tacit_status exchange(struct glm_run *run, struct tacit_glm_update *update)
{
    struct tacit_glm_message const said = update->message;
    struct tacit_glm_event receive = {
        .kind = TACIT_EVENT_RECEIVE, .path = run->plan->path, .as.message = &said};
    count(run, &said);
    update->send = false;
    for (uint32_t i = 0; i < run->plan->model.client_count; i++) {
        struct tacit_glm_update answer;
        enum tacit_status status =
            tacit_glm_client_step(client_of(run, i), &receive, NULL, &answer);
        if (status == TACIT_OK && answer.send) {
            struct tacit_glm_event reply = receive;
            reply.as.message = &answer.message;
            count(run, &answer.message);
            status = tacit_glm_hub_step(run->hub, &reply, update);
        }
        if (status != TACIT_OK)
            return status;
    }
    return TACIT_OK;
}

/* J of the update that took the most rounds, beside Eq. (3) with the way that theta went in it. */
static void compare_rounds(struct glm_run *run, uint64_t aggregations_before)
{
    struct tacit_glm_model const *const model = &run->plan->model;
    struct tacit_glm_hub_view view;
    double square = 0;
    tacit_glm_hub_look(run->hub, &view);
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
    tacit_glm_hub_look(run->hub, &before);
    memcpy(run->theta, before.theta, run->plan->model.dimension * sizeof run->theta[0]);
    if (run->plan->model.start == TACIT_GLM_START_ZERO)
        memset(run->theta, 0, sizeof run->theta);
    struct tacit_glm_event const event = {
        .kind = TACIT_EVENT_RECEIVE, .path = run->plan->path, .as.message = trigger};
    count(run, trigger);
    enum tacit_status status = tacit_glm_hub_step(run->hub, &event, &update);
    while (status == TACIT_OK && update.send)
        status = exchange(run, &update);
    if (status == TACIT_OK)
        compare_rounds(run, before.aggregation_count);
    return status;
}

/* ---- Slots ---- */

/* One client's slot: contexts, decision, reward, and perhaps an update. */
static enum tacit_status play_client(struct glm_run *run, uint32_t client, uint64_t slot,
                                     uint64_t order, double *regret)
{
    struct glm_world *const world = run->world;
    struct tacit_entropy const entropy = tacit_rng_entropy(&world->exploration_rng[client]);
    struct tacit_glm_update update;
    struct tacit_glm_event event = {.kind = TACIT_EVENT_OFFER,
                                    .path = run->plan->path,
                                    .as.offer = glm_world_offer(world, client)};
    enum tacit_status status =
        tacit_glm_client_step(client_of(run, client), &event, &entropy, &update);
    if (status != TACIT_OK)
        return status;
    event.kind = TACIT_EVENT_REWARD;
    event.as.reward = glm_world_reward(world, client, update.arm, slot, regret);
    event.as.reward.order = order;
    run->reward += event.as.reward.value;
    status = tacit_glm_client_step(client_of(run, client), &event, NULL, &update);
    if (status == TACIT_OK && update.send)
        status = carry_out(run, &update.message);
    return status;
}

static void write_results(const struct glm_run *run, double regret, double *metrics)
{
    struct tacit_glm_model const *const model = &run->plan->model;
    struct tacit_glm_hub_view view;
    tacit_glm_hub_look(run->hub, &view);
    double const clients = model->client_count;
    metrics[GLM_REGRET] = regret;
    metrics[GLM_REGRET_PER_AGENT] = regret / clients;
    metrics[GLM_REWARD] = run->reward;
    metrics[GLM_UPDATES] = (double)view.update_count;
    metrics[GLM_AGGREGATIONS] = (double)view.aggregation_count;
    metrics[GLM_LINKS] = clients * (double)view.aggregation_count;
    metrics[GLM_MESSAGES] = run->messages;
    metrics[GLM_SCALARS] = run->scalars;
    metrics[GLM_BYTES] = run->bytes;
    metrics[GLM_CONTROL_MESSAGES] = run->control_messages;
    if (model->variant == TACIT_GLM_ONE_UCB) {
        /* READINGS P4.12: as the paper counts it, every observation goes to every client. */
        metrics[GLM_AGGREGATIONS] = 0;
        metrics[GLM_LINKS] = clients * (double)view.model_count;
        metrics[GLM_SCALARS] = clients * (double)view.model_count;
    }
    metrics[GLM_ROUNDS] = run->rounds;
    metrics[GLM_ROUNDS_BOUND] = run->rounds_bound;
    metrics[GLM_OVER_UNIFORM] =
        run->plan->log == NULL ? (double)NAN : run->reward / run->world->uniform;
}

/* The last model of the first run, coefficient by coefficient, with the half of what the ellipsoid
 * of Lemma 9 leaves to each; where theta* is known, that too. Other runs have another truth. */
static void write_model(const struct glm_run *run, uint32_t index, double *profiles)
{
    struct glm_plan const *const plan = run->plan;
    uint32_t const d = plan->model.dimension;
    double factor[TACIT_LINALG_MATRIX_MAX];
    double inverse[TACIT_LINALG_MATRIX_MAX];
    double reciprocal[TACIT_LINALG_VECTOR_MAX];
    struct tacit_glm_hub_view view;
    for (uint32_t i = 0; i < plan->sim.profile_values; i++)
        profiles[i] = NAN;
    tacit_glm_hub_look(run->hub, &view);
    if (plan->sim.profile_values == 0 || index > 0 || view.update_count == 0 ||
        !tacit_linalg_cholesky(plan->path, d, view.matrix, 0, factor, reciprocal))
        return;
    tacit_linalg_invert(d, factor, reciprocal, inverse);
    double const radius = tacit_glm_radius(&plan->model, view.model_count);
    for (uint32_t i = 0; i < d; i++) {
        profiles[i] = view.theta[i];
        profiles[d + i] = radius * sqrt(inverse[i * TACIT_LINALG_STRIDE(d) + i]);
        if (plan->log == NULL)
            profiles[2 * (size_t)d + i] = run->world->env.theta[i];
    }
}

/* All clients' slot: each once and in order, or the rows of a log, whosever they are. */
static enum tacit_status play_slot(struct glm_run *run, uint64_t slot, double *regret)
{
    uint32_t const clients = run->plan->model.client_count;
    enum tacit_status status = TACIT_OK;
    for (uint32_t i = 0; i < clients && status == TACIT_OK; i++) {
        uint64_t const row = slot * clients + i;
        uint32_t const client = glm_world_client(run->world, i, row);
        if (client != TACIT_NO_AGENT)
            status = play_client(run, client, slot + 1, row + 1, regret);
    }
    return status;
}

/* What is known over time, at the points that the meter has just passed. */
static void record(const struct glm_run *run, const struct tacit_sim_meter *meter, uint32_t first,
                   double regret, double *curves)
{
    double metrics[GLM_METRIC_COUNT];
    if (meter->next == first)
        return;
    write_results(run, regret, metrics);
    glm_record(&run->plan->sim, first, meter->next, metrics, curves);
}

static enum tacit_status play_run(void *memory, uint32_t index, struct tacit_sim_row *row,
                                  atomic_bool *stop)
{
    struct glm_run *const run = memory;
    uint64_t const horizon = run->plan->sim.horizon;
    struct tacit_sim_meter meter = tacit_sim_meter_start(&run->plan->sim, row->regret);
    enum tacit_status status = set_up(run, index);
    double regret = 0;
    for (uint64_t slot = 0; slot < horizon && status == TACIT_OK;) {
        uint64_t const end = slot + tacit_sim_meter_span(&meter, slot);
        for (; slot < end && status == TACIT_OK; slot++) {
            status = play_slot(run, slot, &regret);
            if (atomic_load(stop))
                return TACIT_INTERRUPTED;
        }
        uint32_t const first = meter.next;
        if (status == TACIT_OK)
            tacit_sim_meter_mark(&meter, slot, regret);
        record(run, &meter, first, regret, row->curves);
    }
    if (status != TACIT_OK)
        return status;
    uint32_t const first = meter.next;
    tacit_sim_meter_end(&meter, regret);
    record(run, &meter, first, regret, row->curves);
    write_results(run, regret, row->metrics);
    write_model(run, index, row->profiles);
    return TACIT_OK;
}

/* ---- The paper's protocol, or the sound mode's ---- */

static const struct tacit_sim_player plain_player = {.metric_count = GLM_METRIC_COUNT,
                                                     .run_new = new_run,
                                                     .run_play = play_run,
                                                     .run_free = free_run};

struct glm_any_run {
    const struct tacit_sim_player *player;
    void *run;
};

void *glm_run_new(const void *plan, enum tacit_status *status)
{
    struct glm_plan const *const chosen = plan;
    struct glm_any_run *const any = calloc(1, sizeof *any);
    *status = TACIT_MEMORY;
    if (any == NULL)
        return NULL;
    any->player = chosen->is_private ? &glm_private_player : &plain_player;
    any->run = any->player->run_new(plan, status);
    if (any->run != NULL)
        return any;
    free(any);
    return NULL;
}

enum tacit_status glm_run_play(void *run, uint32_t index, struct tacit_sim_row *row,
                               atomic_bool *stop)
{
    struct glm_any_run *const any = run;
    return any->player->run_play(any->run, index, row, stop);
}

void glm_run_free(void *run)
{
    struct glm_any_run *const any = run;
    if (any == NULL)
        return;
    any->player->run_free(any->run);
    free(any);
}
