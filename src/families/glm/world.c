/* Where a run's contexts and rewards come from. */
#include <stdlib.h>
#include "plan.h"

void glm_world_free(struct glm_world *world)
{
    if (world == NULL)
        return;
    free(world->contexts);
    free(world->pool);
    free(world->context_rng);
    free(world->reward_rng);
    free(world->exploration_rng);
    free(world);
}

struct glm_world *glm_world_new(const struct glm_plan *plan)
{
    struct glm_world *const world = calloc(1, sizeof *world);
    size_t const agents = plan->model.client_count;
    size_t const d = plan->model.dimension;
    if (world == NULL)
        return NULL;
    world->plan = plan;
    world->contexts = calloc(plan->arm_count * d, sizeof(double));
    world->pool = plan->pool_count > 0 ? calloc(plan->pool_count * d, sizeof(double)) : NULL;
    world->context_rng = calloc(agents, sizeof *world->context_rng);
    world->reward_rng = calloc(agents, sizeof *world->reward_rng);
    world->exploration_rng = calloc(agents, sizeof *world->exploration_rng);
    if (world->contexts != NULL && (world->pool != NULL || plan->pool_count == 0) &&
        world->context_rng != NULL && world->reward_rng != NULL && world->exploration_rng != NULL)
        return world;
    glm_world_free(world);
    return NULL;
}

struct tacit_rng glm_world_stream(const struct glm_plan *plan, uint32_t index, uint32_t agent,
                                  enum glm_purpose purpose)
{
    return tacit_rng_stream(plan->sim.seed, index, agent,
                            TACIT_PURPOSE_OF_FAMILY(GLM_FAMILY_NUMBER, purpose));
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
}

struct tacit_offer glm_world_offer(struct glm_world *world, uint32_t client)
{
    tacit_context_offer(&world->env, world->plan->path, &world->context_rng[client],
                        world->contexts);
    return (struct tacit_offer){world->env.arm_count, world->env.dimension, world->contexts};
}

struct tacit_glm_reward glm_world_reward(struct glm_world *world, uint32_t client, uint32_t arm,
                                         uint64_t slot, double *regret)
{
    double best;
    double mean;
    tacit_context_means(&world->env, world->contexts, arm, &best, &mean);
    *regret += best - mean;
    return (struct tacit_glm_reward){
        world->contexts + (size_t)arm * world->env.dimension,
        tacit_context_reward(&world->env, mean, &world->reward_rng[client]), slot};
}
