/* What is said in a run of the sound mode: when the public clock ends a batch, all clients release,
 * and the hub's model goes to all. Two aggregators own trees as clients do, of no data: the total
 * of a batch has what these release (HELPER 4), which is the law of masks, envelopes and answers
 * without them. */
#include <string.h>
#include "run.h"

static size_t hub_size(const struct glm_plan *plan)
{
    (void)plan;
    return sizeof(struct glm_private_hub);
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
    memset(run->hub, 0, sizeof(struct glm_private_hub));
    for (uint32_t i = 0; i < plan->model.client_count; i++) {
        tacit_glm_private_client_init(glm_run_client(run, i), &run->rule);
        run->noise_rng[i] = glm_world_stream(plan, index, i, GLM_PURPOSE_NOISE);
    }
    for (uint32_t i = 0; i < plan->aggregators; i++) {
        uint32_t const at = plan->model.client_count + i;
        tacit_glm_private_client_init(glm_run_client(run, at), &plan->aggregator_rule);
        run->noise_rng[at] = tacit_rng_stream(plan->sim.seed, index, i, TACIT_PURPOSE_AGGREGATOR);
    }
    return TACIT_OK;
}

/* ---- Batches ---- */

double glm_helper_bytes(const struct glm_plan *plan)
{
    return tacit_sim_aggregators_bytes(plan->model.client_count,
                                       (uint32_t)TACIT_GLM_PRIVATE_SUMS(plan->model.dimension));
}

static size_t sum_count(const struct glm_run *run)
{
    return TACIT_GLM_PRIVATE_SUMS(run->plan->model.dimension);
}

/* So many messages of sums, or of a model, which is as large. */
static void count(struct glm_run *run, double copies)
{
    double const numbers = copies * (double)sum_count(run);
    run->messages += copies;
    run->scalars += numbers;
    run->bytes += numbers * (double)sizeof(int64_t);
}

/* A release goes into the hub's total, and has all of the client's ones before. */
static enum tacit_status add_release(struct glm_run *run, uint32_t client, uint64_t batch)
{
    struct glm_private_hub *const hub = run->hub;
    struct tacit_entropy const entropy = tacit_rng_entropy(&run->noise_rng[client]);
    const int64_t *sums;
    TACIT_TRY(tacit_glm_private_client_close(glm_run_client(run, client), batch, &entropy, &sums));
    for (size_t i = 0; i < sum_count(run); i++)
        hub->total[i] += sums[i];
    return TACIT_OK;
}

/* Everybody decides by what the total says. Of a total that makes no model, with a chance of
 * `failure` at most, nothing is said: the last one stands. */
static void spread(struct glm_run *run, uint64_t batch)
{
    struct glm_private_hub *const hub = run->hub;
    uint32_t const clients = run->plan->model.client_count;
    struct tacit_glm_private_estimate estimate;
    if (tacit_glm_private_learn(&run->rule, run->plan->path, hub->total, &estimate) != TACIT_OK)
        return;
    hub->model_count++;
    count(run, clients);
    for (uint32_t i = 0; i < clients; i++)
        tacit_glm_private_client_use(glm_run_client(run, i), batch, &estimate);
}

/* The clock closes a batch at all clients. */
static enum tacit_status close_batch(struct glm_run *run, uint64_t batch)
{
    uint32_t const clients = run->plan->model.client_count;
    struct glm_private_hub *const hub = run->hub;
    memset(hub->total, 0, sizeof hub->total);
    for (uint32_t i = 0; i < clients + run->plan->aggregators; i++)
        TACIT_TRY(add_release(run, i, batch));
    count(run, clients);
    if (run->plan->aggregators > 0) {
        run->messages += 2; /* a request, its answer */
        run->bytes += glm_helper_bytes(run->plan);
    }
    spread(run, batch);
    return TACIT_OK;
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
    double probability;
    return tacit_glm_private_client_offer(glm_run_client(run, client), run->plan->path, offered,
                                          &entropy, arm, &probability);
}

static enum tacit_status on_reward(struct glm_run *run, uint32_t client,
                                   const struct tacit_glm_reward *reward)
{
    tacit_glm_private_client_reward(glm_run_client(run, client), reward);
    return TACIT_OK;
}

static void write_results(const struct glm_run *run, double *metrics)
{
    double const models = (double)((struct glm_private_hub const *)run->hub)->model_count;
    metrics[GLM_UPDATES] = models;
    metrics[GLM_AGGREGATIONS] = models; /* J = 1 */
    metrics[GLM_LINKS] = run->plan->model.client_count * models;
}

const struct glm_rule glm_private_rule = {.hub_size = hub_size,
                                          .client_size = client_size,
                                          .set_up = set_up,
                                          .offer = offer,
                                          .on_reward = on_reward,
                                          .end_slot = end_slot,
                                          .results = write_results};
