/* What an experiment is seen beside: closed forms, which cost nothing, and what other families
 * play. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "tacit/bounds.h"
#include "tacit/family.h"

#define NAMES_MAX 100u

double tacit_baseline_uniform(const struct tacit_experiment *experiment,
                              const struct tacit_sim_instance *instance)
{
    uint32_t const arms = experiment->sim.env.arm_count;
    double gaps = 0;
    TACIT_ASSERT(arms > 0);
    for (uint32_t arm = 0; arm < arms; arm++)
        gaps += instance->gaps[arm];
    return experiment->pull_count * gaps / arms;
}

bool tacit_baseline_has_floor(const struct tacit_experiment *experiment)
{
    struct tacit_env const *const env = &experiment->sim.env;
    bool const is_binary =
        env->kind == TACIT_ENV_BERNOULLI || (env->kind == TACIT_ENV_LOGGED && env->log.binary);
    return env->arm_count > 0 && is_binary && env->row_count == 1 && experiment->pull_count >= 1;
}

double tacit_baseline_floor(const struct tacit_experiment *experiment,
                            const struct tacit_sim_instance *instance)
{
    TACIT_ASSERT(tacit_baseline_has_floor(experiment));
    return tacit_bounds_floor(instance->global_means, experiment->sim.env.arm_count,
                              experiment->pull_count, INFINITY);
}

/* ---- Played ones ---- */

static bool has_name(const struct tacit_family *family, const char *name)
{
    for (size_t i = 0; family->baselines != NULL && family->baselines[i] != NULL; i++)
        if (strcmp(family->baselines[i], name) == 0)
            return true;
    return false;
}

/* Lists the baselines of all families, and the nearest of them: TACIT_INVALID. */
static enum tacit_status refuse_name(const char *name, struct tacit_error *error)
{
    const char *names[NAMES_MAX + 1] = {NULL};
    size_t count = 0;
    for (struct tacit_family const *const *family = tacit_families(); *family != NULL; family++)
        for (size_t i = 0; (*family)->baselines != NULL && (*family)->baselines[i] != NULL; i++)
            if (count < NAMES_MAX)
                names[count++] = (*family)->baselines[i];
    char const *const guess = tacit_config_nearest(name, names);
    size_t const size = sizeof error->text;
    size_t used =
        (size_t)snprintf(error->text, size, "'%.60s' is no baseline; %s%s%sallowed:", name,
                         guess == NULL ? "" : "did you mean '", guess == NULL ? "" : guess,
                         guess == NULL ? "" : "'? ");
    for (size_t i = 0; i < count && used < size; i++)
        used +=
            (size_t)snprintf(error->text + used, size - used, "%s %s", i == 0 ? "" : ",", names[i]);
    if (count == 0 && used < size)
        (void)snprintf(error->text + used, size - used,
                       " an empty list (the closed forms come by "
                       "themselves)");
    return TACIT_INVALID;
}

enum tacit_status tacit_baseline_make(struct tacit_experiment *baseline, const char *name,
                                      const struct tacit_experiment *experiment,
                                      struct tacit_error *error)
{
    *baseline = (struct tacit_experiment){.config = experiment->config,
                                          .sim = experiment->sim,
                                          .epsilon_per_reward = INFINITY,
                                          .pull_count = experiment->pull_count};
    for (struct tacit_family const *const *family = tacit_families(); *family != NULL; family++)
        if (has_name(*family, name))
            baseline->family = *family;
    if (baseline->family == NULL)
        return refuse_name(name, error);
    TACIT_ASSERT(baseline->family->baseline != NULL);
    TACIT_ASSERT(tacit_family_metric(baseline->family, "regret") != UINT32_MAX);
    enum tacit_status const status = baseline->family->baseline(baseline, name, error);
    if (status != TACIT_OK)
        tacit_baseline_free(baseline);
    return status;
}

void tacit_baseline_free(struct tacit_experiment *baseline)
{
    if (baseline->plan != NULL)
        baseline->family->plan_free(baseline->plan);
    *baseline = (struct tacit_experiment){0};
}
