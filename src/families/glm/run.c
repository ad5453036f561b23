/* A run: clients decide in turn, slot by slot, and what they say is carried out at once, message by
 * message, before the next client decides (Alg. 1). Nothing is lost here, so a loop of its own
 * plays it; what is said, the paper's protocol (paper_run.c) and the sound mode's (private_run.c)
 * know. */
#include <math.h>
#include "run.h"

/* ---- Memory ---- */

static enum tacit_status make(void *memory, const void *of)
{
    struct glm_run *const run = memory;
    struct glm_plan const *const plan = of;
    run->plan = plan;
    run->protocol = plan->is_private ? &glm_private_rule : &glm_paper_rule;
    run->client_size = run->protocol->client_size(plan);
    run->world = glm_world_new(plan, run);
    run->hub = tacit_sim_new(run, 1, run->protocol->hub_size(plan));
    size_t const clients = (size_t)plan->model.client_count + plan->aggregators;
    run->clients = tacit_sim_new(run, clients, run->client_size);
    run->noise_rng = tacit_sim_new(run, clients, sizeof *run->noise_rng);
    return run->client_size == 0 ? TACIT_INVALID : TACIT_OK;
}

void *glm_run_new(const void *plan, enum tacit_status *status)
{
    return tacit_sim_make(sizeof(struct glm_run), make, plan, status);
}

/* ---- Slots ---- */

/* One client's slot: contexts, decision, reward, and perhaps an update. */
static enum tacit_status play_client(struct glm_run *run, uint32_t client, uint64_t slot,
                                     uint64_t order, double *regret)
{
    uint32_t arm;
    struct tacit_linalg_rule rule;
    bool const has_rule = run->protocol->rule != NULL && run->protocol->rule(run, client, &rule);
    struct tacit_offer const offer = glm_world_offer(run->world, client, has_rule ? &rule : NULL);
    TACIT_TRY(run->protocol->offer(run, client, &offer, &arm));
    TACIT_ASSERT(arm < offer.arm_count);
    struct tacit_glm_reward reward = glm_world_reward(run->world, client, arm, slot, regret);
    reward.order = order;
    run->reward += reward.value;
    return run->protocol->on_reward(run, client, &reward);
}

/* All clients' slot: each once and in order, or the rows of a log, whosever they are. */
static enum tacit_status play_slot(struct glm_run *run, uint64_t slot, double *regret)
{
    uint32_t const clients = run->plan->model.client_count;
    for (uint32_t i = 0; i < clients; i++) {
        uint64_t const row = slot * clients + i;
        uint32_t const client = glm_world_client(run->world, i, row);
        if (client != TACIT_NO_AGENT)
            TACIT_TRY(play_client(run, client, slot + 1, row + 1, regret));
    }
    return run->protocol->end_slot == NULL ? TACIT_OK : run->protocol->end_slot(run, slot + 1);
}

/* ---- Results ---- */

static void write_results(const struct glm_run *run, double regret, double *metrics)
{
    metrics[GLM_REGRET] = regret;
    metrics[GLM_REGRET_PER_AGENT] = regret / run->plan->model.client_count;
    metrics[GLM_REWARD] = run->reward;
    metrics[GLM_MESSAGES] = run->messages;
    metrics[GLM_SCALARS] = run->scalars;
    metrics[GLM_BYTES] = run->bytes;
    metrics[GLM_CONTROL_MESSAGES] = run->control_messages;
    metrics[GLM_ROUNDS] = run->rounds;
    metrics[GLM_ROUNDS_BOUND] = run->rounds_bound;
    metrics[GLM_OVER_UNIFORM] =
        run->plan->log == NULL ? (double)NAN : run->reward / run->world->uniform;
    run->protocol->results(run, metrics);
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

enum tacit_status glm_run_play(void *memory, uint32_t index, struct tacit_sim_row *row,
                               atomic_bool *stop)
{
    struct glm_run *const run = memory;
    uint64_t const horizon = run->plan->sim.horizon;
    TACIT_ASSERT(run->client_size > 0);
    struct tacit_sim_meter meter = tacit_sim_meter_start(&run->plan->sim, row->regret);
    double regret = 0;
    TACIT_TRY(run->protocol->set_up(run, index, (uint64_t)index + 1));
    glm_world_set_up(run->world, index);
    run->reward = run->messages = run->control_messages = run->scalars = run->bytes = 0;
    run->rounds = run->rounds_bound = 0;
    for (uint64_t slot = 0; slot < horizon;) {
        uint64_t const end = slot + tacit_sim_meter_span(&meter, slot);
        for (; slot < end; slot++) {
            TACIT_TRY(play_slot(run, slot, &regret));
            if (atomic_load(stop))
                return TACIT_INTERRUPTED;
        }
        uint32_t const first = meter.next;
        tacit_sim_meter_record(&meter, slot, regret);
        record(run, &meter, first, regret, row->curves);
    }
    uint32_t const first = meter.next;
    tacit_sim_meter_end(&meter, regret);
    record(run, &meter, first, regret, row->curves);
    write_results(run, regret, row->metrics);
    for (uint32_t i = 0; i < run->plan->sim.profile_values; i++)
        row->profiles[i] = NAN;
    if (run->protocol->model != NULL && index == 0 && run->plan->sim.profile_values > 0)
        run->protocol->model(run, row->profiles);
    return TACIT_OK;
}
