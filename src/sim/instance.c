/* The instance of a run: its means, the global ones, and the gaps. */
#include "tacit/sim.h"
#include <string.h>

enum tacit_status tacit_sim_instance_init(struct tacit_sim_instance *instance,
                                          const struct tacit_sim *sim, void *owner)
{
    size_t const arms = sim->env.arm_count + (size_t)1;
    size_t const rows = sim->env.row_count > 0 ? sim->env.row_count : 1;
    *instance = (struct tacit_sim_instance){.env = sim->env};
    instance->global_means = tacit_sim_new(owner, arms, sizeof(double));
    instance->gaps = tacit_sim_new(owner, arms, sizeof(double));
    if (sim->instance_per_run)
        instance->env.means = instance->own_means =
            tacit_sim_new(owner, rows * arms, sizeof(double));
    if (sim->env.log.unit_limit > 0)
        instance->env.log.drawn = tacit_sim_new(owner, sim->env.log.unit_count, sizeof(uint32_t));
    return tacit_sim_memory_status(owner);
}

void tacit_sim_instance_draw(struct tacit_sim_instance *instance, const struct tacit_sim *sim,
                             uint32_t run)
{
    TACIT_ASSERT(instance->gaps != NULL);
    TACIT_ASSERT(run < sim->run_count);
    uint32_t const arms = sim->env.arm_count;
    if (arms == 0)
        return;
    if (sim->env.log.unit_limit > 0)
        memset(instance->env.log.drawn, 0, sim->env.log.unit_count * sizeof(uint32_t));
    if (sim->instance_per_run) {
        struct tacit_rng rng =
            tacit_rng_stream(sim->seed, run, TACIT_STREAM_COMMON, TACIT_PURPOSE_INSTANCE);
        for (uint32_t row = 0; row < sim->env.row_count; row++)
            tacit_env_generate(instance->own_means + (size_t)row * arms, arms, &rng);
    }
    tacit_env_global_means(&instance->env, instance->global_means);
    double best = instance->global_means[0];
    for (uint32_t arm = 1; arm < arms; arm++)
        best = instance->global_means[arm] > best ? instance->global_means[arm] : best;
    for (uint32_t arm = 0; arm < arms; arm++)
        instance->gaps[arm] = best - instance->global_means[arm];
}

#define PULLS_BETWEEN_STOP_CHECKS (UINT64_C(1) << 20)

bool tacit_sim_pull(const struct tacit_env *env, uint32_t agent, uint32_t arm, uint64_t count,
                    const struct tacit_scale *scale, struct tacit_rng *rng, union tacit_sum *sum,
                    atomic_bool *stop)
{
    bool const is_slow = tacit_env_pulls_singly(env, scale);
    while (count > 0) {
        uint64_t const part =
            is_slow && count > PULLS_BETWEEN_STOP_CHECKS ? PULLS_BETWEEN_STOP_CHECKS : count;
        tacit_env_pull(env, agent, arm, part, scale, rng, sum);
        count -= part;
        if (is_slow && atomic_load(stop))
            return false;
    }
    return true;
}

void tacit_sim_instance_watch(struct tacit_sim_instance *instance, const struct tacit_sim_row *row)
{
    TACIT_ASSERT(row != NULL);
    instance->env.watch = row->watch;
}
