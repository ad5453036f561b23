/* What is said in a run of the sound mode: when the public clock ends a batch, all clients release,
 * and the hub's model goes to all. Two aggregators own trees as clients do, of no data: the total
 * of a batch has what these release (HELPER 4), which is the law of masks, envelopes and answers
 * without them. */
#include <string.h>
#include "run.h"

static size_t hub_size(const struct glm_plan *plan)
{
    return tacit_glm_private_hub_size(&plan->rule);
}

static size_t client_size(const struct glm_plan *plan)
{
    return tacit_glm_private_client_size(&plan->rule);
}

static enum tacit_status set_up(struct glm_run *run, uint32_t index, uint64_t run_id)
{
    struct glm_plan const *const plan = run->plan;
    run->rule = plan->rule;
    run->rule.model.run_id = run_id;
    enum tacit_status status = tacit_glm_private_hub_init(run->hub, &run->rule, 0);
    for (uint32_t i = 0; i < plan->model.client_count && status == TACIT_OK; i++) {
        status = tacit_glm_private_client_init(glm_run_client(run, i), &run->rule, i);
        run->noise_rng[i] = glm_world_stream(plan, index, i, GLM_PURPOSE_NOISE);
    }
    for (uint32_t i = 0; i < plan->aggregators && status == TACIT_OK; i++) {
        uint32_t const at = plan->model.client_count + i;
        status = tacit_glm_private_client_init(glm_run_client(run, at), &plan->aggregator_rule, i);
        run->noise_rng[at] = tacit_rng_stream(plan->sim.seed, index, i, TACIT_PURPOSE_AGGREGATOR);
    }
    return status;
}

/* ---- Batches ---- */

double glm_helper_bytes(const struct glm_plan *plan)
{
    return tacit_sim_aggregators_bytes(plan->model.client_count,
                                       (uint32_t)TACIT_GLM_PRIVATE_SUMS(plan->model.dimension));
}

static void count(struct glm_run *run, double copies, double numbers)
{
    run->messages += copies;
    run->scalars += copies * numbers;
    run->bytes += copies * numbers * (double)sizeof(int64_t);
}

/* The model to everybody. */
static enum tacit_status spread(struct glm_run *run, const struct tacit_glm_private_message *model)
{
    uint32_t const clients = run->plan->model.client_count;
    struct tacit_glm_private_update update;
    struct tacit_glm_private_event const receive = {
        .kind = TACIT_EVENT_RECEIVE, .path = run->plan->path, .as.message = model};
    enum tacit_status status = TACIT_OK;
    count(run, clients, (double)TACIT_GLM_PRIVATE_SUMS(run->plan->model.dimension));
    for (uint32_t i = 0; i < clients && status == TACIT_OK; i++)
        status = tacit_glm_private_client_step(glm_run_client(run, i), &receive, NULL, &update);
    return status;
}

/* The clock ends the client's batch: update->message is its release. */
static enum tacit_status tick(struct glm_run *run, uint32_t client, uint64_t batch,
                              struct tacit_glm_private_update *update)
{
    struct tacit_entropy const entropy = tacit_rng_entropy(&run->noise_rng[client]);
    struct tacit_glm_private_event const event = {
        .kind = TACIT_EVENT_TIMEOUT, .path = run->plan->path, .as.batch = batch};
    return tacit_glm_private_client_step(glm_run_client(run, client), &event, &entropy, update);
}

/* What the hub adds up: a release, and to the first one the noise of both aggregators. `said`: what
 * the hub answers; the last release of a batch brings the model. message->sums is void then. */
static enum tacit_status send_to_hub(struct glm_run *run, uint64_t batch,
                                     struct tacit_glm_private_message *message,
                                     struct tacit_glm_private_update *said)
{
    uint32_t const clients = run->plan->model.client_count;
    uint32_t const numbers = (uint32_t)TACIT_GLM_PRIVATE_SUMS(run->plan->model.dimension);
    int64_t sums[TACIT_GLM_PRIVATE_SUMS_MAX];
    struct tacit_glm_private_update noise;
    struct tacit_glm_private_event const receive = {
        .kind = TACIT_EVENT_RECEIVE, .path = run->plan->path, .as.message = message};
    memcpy(sums, message->sums, numbers * sizeof *sums);
    message->sums = sums;
    for (uint32_t i = 0; i < run->plan->aggregators && message->from == 0; i++) {
        enum tacit_status const status = tick(run, clients + i, batch, &noise);
        if (status != TACIT_OK)
            return status;
        for (uint32_t k = 0; k < numbers; k++)
            sums[k] += noise.message.sums[k];
    }
    count(run, 1, numbers);
    return tacit_glm_private_hub_step(run->hub, &receive, said);
}

/* The clock closes a batch at all clients. */
static enum tacit_status close_batch(struct glm_run *run, uint64_t batch)
{
    uint32_t const clients = run->plan->model.client_count;
    struct tacit_glm_private_update said = {.send = false};
    for (uint32_t i = 0; i < clients; i++) {
        struct tacit_glm_private_update update;
        enum tacit_status status = tick(run, i, batch, &update);
        if (status == TACIT_OK)
            status = send_to_hub(run, batch, &update.message, &said);
        if (status != TACIT_OK)
            return status;
    }
    if (run->plan->aggregators > 0) {
        run->messages += 2; /* a request, its answer */
        run->bytes += glm_helper_bytes(run->plan);
    }
    return said.send ? spread(run, &said.message) : TACIT_OK;
}

/* A batch has floor(T/P) slots; what is beyond the last one enters nothing. */
static enum tacit_status end_slot(struct glm_run *run, uint64_t slot)
{
    uint64_t const batches = run->rule.model.batch_count;
    uint64_t const length = run->plan->sim.horizon / batches;
    return slot % length == 0 && slot / length <= batches ? close_batch(run, slot / length)
                                                          : TACIT_OK;
}

static enum tacit_status offer(struct glm_run *run, uint32_t client,
                               const struct tacit_offer *offered, uint32_t *arm)
{
    struct tacit_entropy const entropy = tacit_rng_entropy(&run->world->exploration_rng[client]);
    struct tacit_glm_private_event const event = {
        .kind = TACIT_EVENT_OFFER, .path = run->plan->path, .as.offer = *offered};
    struct tacit_glm_private_update update;
    enum tacit_status const status =
        tacit_glm_private_client_step(glm_run_client(run, client), &event, &entropy, &update);
    *arm = update.arm;
    return status;
}

static enum tacit_status on_reward(struct glm_run *run, uint32_t client,
                                   const struct tacit_glm_reward *reward)
{
    struct tacit_glm_private_event const event = {
        .kind = TACIT_EVENT_REWARD, .path = run->plan->path, .as.reward = *reward};
    struct tacit_glm_private_update update;
    return tacit_glm_private_client_step(glm_run_client(run, client), &event, NULL, &update);
}

static void write_results(const struct glm_run *run, double *metrics)
{
    struct tacit_glm_private_hub_view view;
    tacit_glm_private_hub_view(run->hub, &view);
    metrics[GLM_UPDATES] = (double)view.model_count;
    metrics[GLM_AGGREGATIONS] = (double)view.model_count; /* J = 1 */
    metrics[GLM_LINKS] = run->plan->model.client_count * (double)view.model_count;
}

const struct glm_rule glm_private_rule = {.hub_size = hub_size,
                                          .client_size = client_size,
                                          .set_up = set_up,
                                          .offer = offer,
                                          .on_reward = on_reward,
                                          .end_slot = end_slot,
                                          .results = write_results};
