/* A run of the sound mode: clients decide in turn, slot by slot; when the public clock ends a
 * batch, all release, and the hub's model goes to all. */
#include <math.h>
#include <stdlib.h>
#include "plan.h"

struct private_run {
    struct glm_plan const *plan;
    struct glm_world *world;
    struct tacit_glm_private_rule rule; /* with this run's number */
    struct tacit_glm_private_hub *hub;
    unsigned char *clients;
    size_t client_size;
    struct tacit_rng *noise_rng; /* N */
    double reward;
    double messages;
    double scalars;
    double bytes;
};

static struct tacit_glm_private_client *client_of(const struct private_run *run, uint32_t client)
{
    return (struct tacit_glm_private_client *)(void *)(run->clients + client * run->client_size);
}

/* ---- Memory ---- */

static void free_run(void *memory)
{
    struct private_run *const run = memory;
    if (run == NULL)
        return;
    glm_world_free(run->world);
    free(run->hub);
    free(run->clients);
    free(run->noise_rng);
    free(run);
}

static void *new_run(const void *memory, enum tacit_status *status)
{
    struct glm_plan const *const plan = memory;
    struct private_run *const run = calloc(1, sizeof *run);
    *status = TACIT_MEMORY;
    if (run == NULL)
        return NULL;
    run->plan = plan;
    run->client_size = tacit_glm_private_client_size(&plan->rule);
    run->world = glm_world_new(plan);
    run->hub = malloc(tacit_glm_private_hub_size(&plan->rule));
    run->clients = calloc(plan->model.client_count, run->client_size);
    run->noise_rng = calloc(plan->model.client_count, sizeof *run->noise_rng);
    if (run->world == NULL || run->hub == NULL || run->clients == NULL || run->noise_rng == NULL) {
        free_run(run);
        return NULL;
    }
    *status = TACIT_OK;
    return run;
}

static enum tacit_status set_up(struct private_run *run, uint32_t index)
{
    struct glm_plan const *const plan = run->plan;
    run->rule = plan->rule;
    run->rule.model.run_id = (uint64_t)index + 1;
    enum tacit_status status = tacit_glm_private_hub_init(run->hub, &run->rule, 0);
    for (uint32_t i = 0; i < plan->model.client_count && status == TACIT_OK; i++) {
        status = tacit_glm_private_client_init(client_of(run, i), &run->rule, i);
        run->noise_rng[i] = glm_world_stream(plan, index, i, GLM_PURPOSE_NOISE);
    }
    glm_world_set_up(run->world, index);
    run->reward = 0;
    run->messages = 0;
    run->scalars = 0;
    run->bytes = 0;
    return status;
}

/* ---- Batches ---- */

static void count(struct private_run *run, double copies, double numbers)
{
    run->messages += copies;
    run->scalars += copies * numbers;
    run->bytes += copies * numbers * (double)sizeof(int64_t);
}

/* The model to everybody. */
static enum tacit_status spread(struct private_run *run,
                                const struct tacit_glm_private_message *model)
{
    uint32_t const clients = run->plan->model.client_count;
    struct tacit_glm_private_update update;
    struct tacit_glm_private_event const receive = {
        .kind = TACIT_EVENT_RECEIVE, .path = run->plan->path, .as.message = model};
    enum tacit_status status = TACIT_OK;
    count(run, clients, (double)TACIT_GLM_PRIVATE_SUMS(run->plan->model.dimension));
    for (uint32_t i = 0; i < clients && status == TACIT_OK; i++)
        status = tacit_glm_private_client_step(client_of(run, i), &receive, NULL, &update);
    return status;
}

/* The clock closes a batch at all clients. */
static enum tacit_status close_batch(struct private_run *run, uint64_t batch)
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
            tacit_glm_private_client_step(client_of(run, i), &tick, &entropy, &update);
        receive.as.message = &update.message;
        if (status == TACIT_OK)
            status = tacit_glm_private_hub_step(run->hub, &receive, &said);
        if (status != TACIT_OK)
            return status;
        count(run, 1, (double)TACIT_GLM_PRIVATE_SUMS(run->plan->model.dimension));
    }
    return said.send ? spread(run, &said.message) : TACIT_OK;
}

/* ---- Slots ---- */

static enum tacit_status play_client(struct private_run *run, uint32_t client, uint64_t slot,
                                     double *regret)
{
    struct glm_world *const world = run->world;
    struct tacit_entropy const entropy = tacit_rng_entropy(&world->exploration_rng[client]);
    struct tacit_glm_private_update update;
    struct tacit_glm_private_event event = {.kind = TACIT_EVENT_OFFER,
                                            .path = run->plan->path,
                                            .as.offer = glm_world_offer(world, client)};
    enum tacit_status const status =
        tacit_glm_private_client_step(client_of(run, client), &event, &entropy, &update);
    if (status != TACIT_OK)
        return status;
    event.kind = TACIT_EVENT_REWARD;
    event.as.reward = glm_world_reward(world, client, update.arm, slot, regret);
    run->reward += event.as.reward.value;
    return tacit_glm_private_client_step(client_of(run, client), &event, NULL, &update);
}

/* All clients' slot. A batch has floor(T/P) slots; what is beyond the last one enters nothing. */
static enum tacit_status play_slot(struct private_run *run, uint64_t slot, double *regret)
{
    uint64_t const batches = run->rule.model.batch_count;
    uint64_t const length = run->plan->sim.horizon / batches;
    enum tacit_status status = TACIT_OK;
    for (uint32_t i = 0; i < run->plan->model.client_count && status == TACIT_OK; i++)
        status = play_client(run, i, slot, regret);
    if (status == TACIT_OK && slot % length == 0 && slot / length <= batches)
        status = close_batch(run, slot / length);
    return status;
}

static void write_results(const struct private_run *run, double regret, double *metrics)
{
    struct tacit_glm_private_hub_view view;
    tacit_glm_private_hub_look(run->hub, &view);
    double const clients = run->plan->model.client_count;
    double const rounds = (double)view.model_count;
    metrics[GLM_REGRET] = regret;
    metrics[GLM_REGRET_PER_AGENT] = regret / clients;
    metrics[GLM_REWARD] = run->reward;
    metrics[GLM_UPDATES] = (double)view.model_count;
    metrics[GLM_AGGREGATIONS] = rounds; /* J = 1 */
    metrics[GLM_LINKS] = clients * rounds;
    metrics[GLM_MESSAGES] = run->messages;
    metrics[GLM_SCALARS] = run->scalars;
    metrics[GLM_BYTES] = run->bytes;
    metrics[GLM_CONTROL_MESSAGES] = 0;
    metrics[GLM_ROUNDS] = 0; /* nothing is iterated */
    metrics[GLM_ROUNDS_BOUND] = 0;
    metrics[GLM_OVER_UNIFORM] = (double)NAN;
}

static void record(const struct private_run *run, uint32_t first, uint32_t end, double regret,
                   double *curves)
{
    double metrics[GLM_METRIC_COUNT];
    write_results(run, regret, metrics);
    glm_record(&run->plan->sim, first, end, metrics, curves);
}

static enum tacit_status play_run(void *memory, uint32_t index, struct tacit_sim_row *row,
                                  atomic_bool *stop)
{
    struct private_run *const run = memory;
    uint64_t const horizon = run->plan->sim.horizon;
    struct tacit_sim_meter meter = tacit_sim_meter_start(&run->plan->sim, row->regret);
    enum tacit_status status = set_up(run, index);
    double regret = 0;
    for (uint64_t slot = 0; slot < horizon && status == TACIT_OK;) {
        uint64_t const end = slot + tacit_sim_meter_span(&meter, slot);
        for (; slot < end && status == TACIT_OK; slot++) {
            status = play_slot(run, slot + 1, &regret);
            if (atomic_load(stop))
                return TACIT_INTERRUPTED;
        }
        if (status != TACIT_OK)
            break;
        uint32_t const first = meter.next;
        tacit_sim_meter_mark(&meter, slot, regret);
        record(run, first, meter.next, regret, row->curves);
    }
    if (status != TACIT_OK)
        return status;
    uint32_t const first = meter.next;
    tacit_sim_meter_end(&meter, regret);
    record(run, first, meter.next, regret, row->curves);
    write_results(run, regret, row->metrics);
    for (uint32_t i = 0; i < run->plan->sim.profile_values; i++)
        row->profiles[i] = NAN; /* the hub's model is another one here */
    return TACIT_OK;
}

const struct tacit_sim_player glm_private_player = {.metric_count = GLM_METRIC_COUNT,
                                                    .run_new = new_run,
                                                    .run_play = play_run,
                                                    .run_free = free_run};
