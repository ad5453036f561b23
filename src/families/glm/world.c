/* Where a run's contexts and rewards come from. */
#include "plan.h"

struct glm_world *glm_world_new(const struct glm_plan *plan, void *owner)
{
    struct glm_world *const world = tacit_sim_new(owner, 1, sizeof *world);
    size_t const agents = plan->model.client_count;
    size_t const d = plan->model.dimension;
    if (world == NULL)
        return NULL;
    world->plan = plan;
    world->contexts = tacit_sim_new(owner, plan->arm_count * d, sizeof(double));
    if (plan->pool_count > 0)
        world->pool = tacit_sim_new(owner, plan->pool_count * d, sizeof(double));
    world->items = tacit_sim_new(owner, plan->arm_count, sizeof *world->items);
    if (plan->log != NULL && !plan->log->is_ordered)
        world->order = tacit_sim_new(owner, plan->log->row_count, sizeof *world->order);
    world->context_rng = tacit_sim_new(owner, agents, sizeof *world->context_rng);
    world->reward_rng = tacit_sim_new(owner, agents, sizeof *world->reward_rng);
    world->exploration_rng = tacit_sim_new(owner, agents, sizeof *world->exploration_rng);
    return world;
}

struct tacit_rng glm_world_stream(const struct glm_plan *plan, uint32_t index, uint32_t agent,
                                  enum glm_purpose purpose)
{
    return tacit_rng_stream(plan->sim.seed, index, agent,
                            TACIT_PURPOSE_OF_FAMILY(GLM_FAMILY_NUMBER, purpose));
}

/* Rows that have no order get one (Fisher, Yates; Durstenfeld 1964). */
static void shuffle(struct glm_world *world, uint32_t index)
{
    struct tacit_rng rng =
        glm_world_stream(world->plan, index, TACIT_STREAM_COMMON, GLM_PURPOSE_ORDER);
    uint64_t const rows = world->plan->log->row_count;
    for (uint64_t i = 0; i < rows; i++)
        world->order[i] = (uint32_t)i;
    for (uint64_t i = rows; i > 1; i--) {
        uint64_t const other = tacit_rng_below(&rng, i);
        uint32_t const row = world->order[i - 1];
        world->order[i - 1] = world->order[other];
        world->order[other] = row;
    }
}

void glm_world_set_up(struct glm_world *world, uint32_t index)
{
    struct glm_plan const *const plan = world->plan;
    struct tacit_rng theta = glm_world_stream(plan, index, TACIT_STREAM_COMMON, GLM_PURPOSE_THETA);
    struct tacit_rng pool = glm_world_stream(plan, index, TACIT_STREAM_COMMON, GLM_PURPOSE_POOL);
    world->env = (struct tacit_context_env){.source = plan->source,
                                            .mean = tacit_glm_mean(&plan->model),
                                            .dimension = plan->model.dimension,
                                            .arm_count = plan->arm_count,
                                            .pool_count = plan->pool_count,
                                            .pool = world->pool,
                                            .sd = plan->model.noise_bound};
    for (uint32_t i = 0; i < plan->model.client_count; i++) {
        world->context_rng[i] = glm_world_stream(plan, index, i, GLM_PURPOSE_CONTEXTS);
        world->reward_rng[i] = glm_world_stream(plan, index, i, GLM_PURPOSE_REWARDS);
        world->exploration_rng[i] = glm_world_stream(plan, index, i, GLM_PURPOSE_EXPLORATION);
    }
    tacit_context_theta(plan->model.dimension, plan->model.norm_bound, &theta, world->env.theta);
    if (world->pool != NULL)
        tacit_context_pool(plan->model.dimension, plan->pool_count, &pool, world->pool);
    world->uniform = 0;
    if (world->order != NULL)
        shuffle(world, index);
}

uint32_t glm_world_client(struct glm_world *world, uint32_t index, uint64_t position)
{
    struct tacit_context_log const *const log = world->plan->log;
    if (log == NULL)
        return index;
    if (position >= log->row_count)
        return TACIT_NO_AGENT;
    world->row = world->order == NULL ? position : world->order[position];
    return log->agents[world->row];
}

struct tacit_offer glm_world_offer(struct glm_world *world, uint32_t client,
                                   const struct tacit_linalg_rule *rule)
{
    struct tacit_context_log const *const log = world->plan->log;
    struct tacit_rng *const rng = &world->context_rng[client];
    world->offered = world->env.arm_count;
    if (log != NULL)
        tacit_context_log_offer(log, world->row, world->env.arm_count, rng, world->items,
                                world->contexts);
    else if (rule != NULL)
        world->offered =
            tacit_context_contenders(&world->env, world->plan->path, rng, rule, world->contexts);
    else
        tacit_context_offer(&world->env, world->plan->path, rng, world->contexts);
    return (struct tacit_offer){world->offered, world->env.dimension, world->contexts};
}

struct tacit_glm_reward glm_world_reward(struct glm_world *world, uint32_t client, uint32_t arm,
                                         uint64_t slot, double *regret)
{
    struct tacit_context_log const *const log = world->plan->log;
    double const *const context = world->contexts + (size_t)arm * world->env.dimension;
    double best;
    double mean;
    if (log != NULL) {
        double const reward = tacit_context_log_reward(log, world->row, world->env.arm_count,
                                                       world->items[arm], &best, &mean);
        *regret += best - reward;
        world->uniform += mean;
        return (struct tacit_glm_reward){context, reward, slot, 0};
    }
    tacit_context_means(&world->env, world->plan->path, world->offered, world->contexts, arm, &best,
                        &mean);
    *regret += best - mean;
    return (struct tacit_glm_reward){
        context, tacit_context_reward(&world->env, mean, &world->reward_rng[client]), slot, 0};
}
