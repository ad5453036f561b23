/* What is said in a run of the sound mode: when the public clock ends a batch, all clients release,
 * and the hub's model goes to all. */
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
    return status;
}

/* ---- Batches ---- */

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

/* The clock closes a batch at all clients. */
static enum tacit_status close_batch(struct glm_run *run, uint64_t batch)
{
    struct tacit_glm_private_update said = {.send = false};
    struct tacit_glm_private_event const tick = {
        .kind = TACIT_EVENT_TIMEOUT, .path = run->plan->path, .as.batch = batch};
    for (uint32_t i = 0; i < run->plan->model.client_count; i++) {
        struct tacit_entropy const entropy = tacit_rng_entropy(&run->noise_rng[i]);
        struct tacit_glm_private_update update;
        struct tacit_glm_private_event receive = {.kind = TACIT_EVENT_RECEIVE,
                                                  .path = run->plan->path};
        enum tacit_status status =
            tacit_glm_private_client_step(glm_run_client(run, i), &tick, &entropy, &update);
        receive.as.message = &update.message;
        if (status == TACIT_OK)
            status = tacit_glm_private_hub_step(run->hub, &receive, &said);
        if (status != TACIT_OK)
            return status;
        count(run, 1, (double)TACIT_GLM_PRIVATE_SUMS(run->plan->model.dimension));
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

static enum tacit_status take(struct glm_run *run, uint32_t client,
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
    tacit_glm_private_hub_look(run->hub, &view);
    metrics[GLM_UPDATES] = (double)view.model_count;
    metrics[GLM_AGGREGATIONS] = (double)view.model_count; /* J = 1 */
    metrics[GLM_LINKS] = run->plan->model.client_count * (double)view.model_count;
}

const struct glm_rule glm_private_rule = {.hub_size = hub_size,
                                          .client_size = client_size,
                                          .set_up = set_up,
                                          .offer = offer,
                                          .take = take,
                                          .end_slot = end_slot,
                                          .results = write_results};
