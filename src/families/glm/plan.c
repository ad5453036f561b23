/* From an experiment file to what runs of a federated generalised linear bandit need. */
#include "plan.h"
#include "tacit/bounds.h"
#include <math.h>
#include <stdlib.h>

static struct tacit_glm_model model_of(const struct glm_keys *keys,
                                       const struct tacit_config *config)
{
    struct tacit_glm_model model = glm_model_of(&keys->model, config->agent_count, config->horizon);
    if (keys->source == GLM_SOURCE_POOL)
        model.context_bound = sqrt(2.0); /* READINGS P4.5: the constant coordinate */
    if (keys->updates > 0)
        model.period = tacit_glm_period(config->agent_count, config->horizon, keys->updates);
    if (keys->every_pull)
        model.period = 1;
    return model;
}

/* Clients that keep more samples than there is memory for are refused before anything is made. */
static enum tacit_status check_size(const struct tacit_experiment *experiment,
                                    const struct tacit_glm_model *model, struct tacit_error *error)
{
    struct tacit_glm_client_config const client = {.model = *model, .resend_after_us = 1};
    size_t const size = tacit_glm_client_size(&client);
    if (size > 0 && size <= SIZE_MAX / 2 / model->client_count)
        return TACIT_OK;
    return tacit_experiment_refuse(experiment, "horizon",
                                   "clients keep every sample: that many do not fit; allowed: a "
                                   "shorter horizon, or fewer agents",
                                   error);
}

/* A batch is so many slots, where the file does not say how many batches there are. */
#define BATCH_SLOTS 5u

/* As the file says, or one every BATCH_SLOTS slots. */
static uint64_t batches_of(const struct glm_keys *keys, const struct tacit_config *config)
{
    uint64_t const batches = keys->batches > 0 ? keys->batches : config->horizon / BATCH_SLOTS;
    return batches > 0 ? batches : 1;
}

/* Two aggregators: their noise in place of the clients', but for a floor. */
static enum tacit_status settle_aggregators(struct tacit_experiment *experiment,
                                            struct tacit_error *error)
{
    struct glm_plan *const plan = experiment->plan;
    struct tacit_glm_private_model two = plan->rule.model;
    uint32_t const milli = experiment->config->floor_milli;
    double const floor = milli == TACIT_NO_FLOOR ? (double)INFINITY : milli / 1e3;
    if (milli == TACIT_ONE_AGGREGATOR)
        return TACIT_OK;
    enum tacit_status status = tacit_experiment_add_helper(
        experiment, milli == TACIT_NO_FLOOR ? 0 : tacit_nano_up(floor), error);
    two.client_count = plan->aggregators = 2;
    if (status == TACIT_OK)
        status = tacit_glm_private_rule_init(&plan->aggregator_rule, &two);
    if (status == TACIT_OK && tacit_glm_private_rule_mask(&plan->rule, floor) != TACIT_OK)
        return tacit_experiment_refuse(experiment, "privacy.trust.floor",
                                       "its noise does not fit into integers; allowed: a larger "
                                       "floor, or none",
                                       error);
    return status;
}

/* The sound mode is a protocol of its own (tacit/glm_private.h). */
static enum tacit_status protect(struct tacit_experiment *experiment, struct tacit_error *error)
{
    struct glm_plan *const plan = experiment->plan;
    struct glm_keys const *const keys = experiment->config->keys;
    struct tacit_glm_model const *const model = &plan->model;
    struct tacit_glm_private_model const sound = {.link = model->link,
                                                  .exploration = model->exploration,
                                                  .client_count = model->client_count,
                                                  .dimension = model->dimension,
                                                  .batch_count =
                                                      batches_of(keys, experiment->config),
                                                  .epsilon = experiment->config->epsilon,
                                                  .delta = keys->privacy_delta,
                                                  .failure = model->delta,
                                                  .norm_bound = model->norm_bound,
                                                  .noise_bound = model->noise_bound,
                                                  .alpha = model->alpha,
                                                  .explore = model->explore};
    if (model->link != TACIT_LINALG_IDENTITY && model->link != TACIT_LINALG_LOGISTIC)
        return tacit_experiment_refuse(experiment, "environment.contextual.link",
                                       "sound mode learns linear models; allowed: identity, "
                                       "logistic",
                                       error);
    if (tacit_glm_private_rule_init(&plan->rule, &sound) != TACIT_OK)
        return tacit_experiment_refuse(experiment, "privacy.epsilon",
                                       "its noise does not fit into integers; allowed: a larger "
                                       "epsilon or delta, or fewer batches",
                                       error);
    if (experiment->config->horizon > tacit_glm_private_horizon_max(&plan->rule))
        return tacit_experiment_refuse(experiment, "horizon",
                                       "sums of so many rewards do not fit; allowed: a shorter "
                                       "horizon, or fewer agents",
                                       error);
    plan->is_private = true;
    TACIT_TRY(settle_aggregators(experiment, error));
    struct tacit_text remark =
        tacit_text_init(experiment->promise_remark, sizeof experiment->promise_remark);
    experiment->promise.mechanism = tacit_glm_private_promise(&plan->rule);
    tacit_glm_private_remark(&plan->rule, experiment->config->horizon, &remark);
    return tacit_experiment_protect(experiment, sound.epsilon, error);
}

/* The last model, a row a coordinate; beside it the truth, where there is one. */
static void describe_model(struct tacit_experiment *experiment)
{
    struct glm_plan *const plan = experiment->plan;
    struct glm_keys const *const keys = experiment->config->keys;
    uint32_t const d = plan->model.dimension;
    const char *const *const features = keys->log == NULL ? NULL : keys->log->features;
    for (uint32_t i = 0; i < d; i++) {
        (void)snprintf(plan->names[i], sizeof plan->names[i], "x%u", i);
        plan->rows[i] =
            features == NULL || i >= keys->log->dimension ? plan->names[i] : features[i];
        if (keys->log != NULL && keys->log->has_constant && i + 1 == d)
            plan->rows[i] = "constant";
    }
    plan->profiles[0] = (struct tacit_profile){.name = "coefficients",
                                               .label = "Coefficient",
                                               .unit = "first run",
                                               .note = "of the hub's last model, in the first run",
                                               .rows = plan->rows};
    plan->profiles[1] = (struct tacit_profile){.name = "half_widths",
                                               .label = "Half of its interval",
                                               .unit = "first run",
                                               .note = "what the ellipsoid of Lemma 9 leaves to it",
                                               .rows = plan->rows};
    if (plan->log == NULL)
        plan->profiles[2] = (struct tacit_profile){.name = "truth",
                                                   .label = "Truth",
                                                   .unit = "first run",
                                                   .note = "theta*",
                                                   .rows = plan->rows};
    experiment->profiles = plan->profiles;
    experiment->sim.profile_values = (plan->log == NULL ? 3 : 2) * d;
    plan->sim = experiment->sim;
}

void glm_free_plan(void *memory)
{
    struct glm_plan *const plan = memory;
    if (plan == NULL)
        return;
    if (plan->data != NULL)
        tacit_context_data_free(plan->data);
    free(plan->data);
    free(plan);
}

enum tacit_status glm_make_plan(struct tacit_experiment *experiment, struct tacit_error *error)
{
    struct glm_keys const *const keys = experiment->config->keys;
    struct glm_plan *const plan = calloc(1, sizeof *plan);
    experiment->plan = plan;
    if (plan == NULL)
        return TACIT_MEMORY;
    TACIT_TRY(tacit_experiment_protect(experiment, INFINITY, error));
    bool const is_alone = keys->model.variant == TACIT_GLM_N_UCB ||
                          keys->model.variant == TACIT_GLM_N_ONS ||
                          keys->model.variant == TACIT_GLM_RANDOM;
    experiment->promise.mechanism.of = TACIT_PROTECTED_INTERACTION;
    experiment->promise.mechanism.leaving = TACIT_LEAVING_GRADIENTS;
    experiment->promise.trust.audience = is_alone ? TACIT_AUDIENCE_ALONE : TACIT_AUDIENCE_STAR;
    experiment->promise.is_logged = keys->log != NULL;
    experiment->server_links = is_alone ? 0 : experiment->config->agent_count;
    *plan = (struct glm_plan){.sim = experiment->sim,
                              .model = model_of(keys, experiment->config),
                              .source = keys->source == GLM_SOURCE_POOL ? TACIT_CONTEXT_POOL
                                                                        : TACIT_CONTEXT_SPHERE,
                              .arm_count = keys->arm_count,
                              .pool_count = keys->source == GLM_SOURCE_POOL ? keys->pool_count : 0,
                              .path = tacit_linalg_fastest()};
    if (keys->log != NULL)
        TACIT_TRY(glm_read_log(experiment, error));
    describe_model(experiment);
    if (experiment->config->privacy == TACIT_PRIVACY_SOUND)
        return protect(experiment, error);
    return check_size(experiment, &plan->model, error);
}
