/* Sound mode, the hub: adds up what clients released, and makes a model of it whenever a batch is
 * complete. It holds nothing that is not noised. */
#include <string.h>
#include "private.h"

struct tacit_glm_private_hub {
    struct tacit_glm_private_rule rule;
    uint32_t quorum;
    uint32_t ready_count; /* clients whose releases go beyond the last model */
    uint32_t sum_count;
    uint64_t batch; /* of the last model, or of the last total that made none */
    uint64_t model_batch;
    uint64_t model_count;
    uint64_t skipped_count;
    double log_det;
    /* matrix M | inverse M | theta s | total S | batches N | prefixes S N, the last three in
     * integers
     */
    double values[];
};

static uint32_t dimension_of(const struct tacit_glm_private_hub *hub)
{
    return hub->rule.model.dimension;
}

static double *matrix_of(struct tacit_glm_private_hub *hub)
{
    return hub->values;
}

static double *inverse_of(struct tacit_glm_private_hub *hub)
{
    return hub->values + TACIT_LINALG_MATRIX(dimension_of(hub));
}

static double *theta_of(struct tacit_glm_private_hub *hub)
{
    return hub->values + 2 * TACIT_LINALG_MATRIX(dimension_of(hub));
}

static int64_t *total_of(struct tacit_glm_private_hub *hub)
{
    return (int64_t *)(void *)(theta_of(hub) + TACIT_LINALG_STRIDE(dimension_of(hub)));
}

static uint64_t *batches_of(struct tacit_glm_private_hub *hub)
{
    return (uint64_t *)(void *)(total_of(hub) + hub->sum_count);
}

static int64_t *prefix_of(struct tacit_glm_private_hub *hub, uint32_t client)
{
    TACIT_ASSERT(client < hub->rule.model.client_count);
    return (int64_t *)(void *)(batches_of(hub) + hub->rule.model.client_count) +
           (size_t)client * hub->sum_count;
}

size_t tacit_glm_private_hub_size(const struct tacit_glm_private_rule *rule)
{
    size_t const d = rule->model.dimension;
    size_t const clients = rule->model.client_count;
    size_t const sums = TACIT_GLM_PRIVATE_SUMS(d) * (clients + 1) + clients;
    return sizeof(struct tacit_glm_private_hub) +
           (2 * TACIT_LINALG_MATRIX(d) + TACIT_LINALG_STRIDE(d) + sums) * sizeof(double);
}

enum tacit_status tacit_glm_private_hub_init(struct tacit_glm_private_hub *hub,
                                             const struct tacit_glm_private_rule *rule,
                                             uint32_t quorum)
{
    if (quorum > rule->model.client_count)
        return TACIT_INVALID;
    memset(hub, 0, tacit_glm_private_hub_size(rule));
    glm_private_rule_copy(&hub->rule, rule);
    hub->quorum = quorum > 0 ? quorum : rule->model.client_count;
    hub->sum_count = (uint32_t)TACIT_GLM_PRIVATE_SUMS(rule->model.dimension);
    tacit_linalg_identity(rule->model.dimension, 2.0 * rule->shift, matrix_of(hub));
    TACIT_ASSERT(hub->quorum >= 1);
    return TACIT_OK;
}

/* ---- The model ---- */

static void send_model(struct tacit_glm_private_hub *hub, struct tacit_glm_private_update *update)
{
    TACIT_ASSERT(hub->model_batch > 0);
    update->send = true;
    update->message = (struct tacit_glm_private_message){.kind = TACIT_GLM_PRIVATE_MODEL,
                                                         .from = TACIT_HUB,
                                                         .to = TACIT_EVERYONE,
                                                         .run_id = hub->rule.model.run_id,
                                                         .batch = hub->model_batch,
                                                         .theta = theta_of(hub),
                                                         .matrix = matrix_of(hub),
                                                         .inverse = inverse_of(hub),
                                                         .log_det = hub->log_det};
}

static void make_model(struct tacit_glm_private_hub *hub, enum tacit_linalg_path path,
                       struct tacit_glm_private_update *update)
{
    TACIT_ASSERT(hub->batch > hub->model_batch);
    uint32_t const d = dimension_of(hub);
    double matrix[TACIT_LINALG_MATRIX_MAX];
    double inverse[TACIT_LINALG_MATRIX_MAX];
    double target[TACIT_LINALG_VECTOR_MAX] = {0};
    double log_det;
    glm_private_unpack(&hub->rule, total_of(hub), matrix, target);
    if (!tacit_linalg_inverse(path, d, matrix, inverse, &log_det)) {
        hub->skipped_count++; /* of probability a at most; the last model stands */
        return;
    }
    memcpy(matrix_of(hub), matrix, TACIT_LINALG_MATRIX(d) * sizeof(double));
    memcpy(inverse_of(hub), inverse, TACIT_LINALG_MATRIX(d) * sizeof(double));
    tacit_linalg_multiply(path, d, inverse_of(hub), target, theta_of(hub));
    hub->log_det = log_det;
    hub->model_batch = hub->batch;
    hub->model_count++;
    send_model(hub, update);
}

/* ---- Releases ---- */

static bool is_plausible(const struct tacit_glm_private_hub *hub, const int64_t *sums)
{
    int64_t const most = glm_private_sum_max(&hub->rule);
    bool is_within = true;
    for (uint32_t i = 0; i < hub->sum_count; i++)
        is_within = is_within && sums[i] >= -most && sums[i] <= most;
    return is_within;
}

static void count_ready(struct tacit_glm_private_hub *hub)
{
    hub->ready_count = 0;
    for (uint32_t i = 0; i < hub->rule.model.client_count; i++)
        hub->ready_count += batches_of(hub)[i] > hub->batch ? 1u : 0u;
}

static enum tacit_status on_release(struct tacit_glm_private_hub *hub, enum tacit_linalg_path path,
                                    const struct tacit_glm_private_message *message,
                                    struct tacit_glm_private_update *update)
{
    TACIT_ASSERT(message->from < hub->rule.model.client_count);
    uint32_t const client = message->from;
    uint64_t *const batch = &batches_of(hub)[client];
    if (message->sums == NULL || message->batch == 0 ||
        message->batch > hub->rule.model.batch_count || !is_plausible(hub, message->sums))
        return TACIT_MALFORMED;
    if (message->batch <= *batch)
        return TACIT_OK; /* late, or again */
    int64_t *const prefix = prefix_of(hub, client);
    for (uint32_t i = 0; i < hub->sum_count; i++) {
        total_of(hub)[i] += message->sums[i] - prefix[i];
        prefix[i] = message->sums[i];
    }
    if (*batch <= hub->batch && message->batch > hub->batch)
        hub->ready_count++;
    *batch = message->batch;
    while (hub->ready_count >= hub->quorum) { /* somebody is beyond this batch */
        TACIT_ASSERT(hub->batch < hub->rule.model.batch_count);
        hub->batch++;
        count_ready(hub);
        if (hub->ready_count < hub->quorum) /* the newest batch that is complete */
            make_model(hub, path, update);
    }
    TACIT_ASSERT(hub->batch <= hub->rule.model.batch_count);
    TACIT_ASSERT(hub->ready_count <= hub->rule.model.client_count);
    return TACIT_OK;
}

enum tacit_status tacit_glm_private_hub_step(struct tacit_glm_private_hub *hub,
                                             const struct tacit_glm_private_event *event,
                                             struct tacit_glm_private_update *update)
{
    TACIT_ASSERT(hub->ready_count <= hub->rule.model.client_count);
    TACIT_ASSERT(hub->batch <= hub->rule.model.batch_count);
    TACIT_ASSERT(hub->model_batch <= hub->batch);
    memset(update, 0, sizeof *update);
    if (event->kind == TACIT_EVENT_START) {
        if (hub->model_batch > 0)
            send_model(hub, update);
        return TACIT_OK;
    }
    if (event->kind != TACIT_EVENT_RECEIVE)
        return TACIT_INVALID;
    struct tacit_glm_private_message const *const message = event->as.message;
    if (message->run_id != hub->rule.model.run_id || message->to != TACIT_HUB ||
        message->from >= hub->rule.model.client_count)
        return TACIT_STRANGER;
    if (message->kind != TACIT_GLM_PRIVATE_RELEASE)
        return TACIT_MALFORMED;
    return on_release(hub, event->path, message, update);
}

void tacit_glm_private_hub_view(const struct tacit_glm_private_hub *state,
                                struct tacit_glm_private_hub_view *view)
{
    struct tacit_glm_private_hub *const hub = (struct tacit_glm_private_hub *)(uintptr_t)state;
    *view = (struct tacit_glm_private_hub_view){.batch = hub->model_batch,
                                                .model_count = hub->model_count,
                                                .skipped_count = hub->skipped_count,
                                                .theta = theta_of(hub),
                                                .matrix = matrix_of(hub)};
}
