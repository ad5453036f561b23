/* The client: decides between contexts (Eq. 5), learns online (Alg. 2), says when an update is due
 * (Eq. 4), and lends its samples to updates: it freezes them, answers gradients, and takes the new
 * model; what came after the freeze is learnt again on top of it. */
#include <math.h>
#include <string.h>
#include "../round/pauses.h"
#include "internal.h"

#define TIE 1e-9              /* READINGS P4.11 */
#define NEWTON_TOLERANCE 1e-9 /* norm of the gradient of the sum of losses */
#define NOT_TRIGGERED UINT32_MAX

struct tacit_glm_client {
    struct tacit_glm_client_config config;
    uint64_t now_us;
    uint64_t deadline_us;
    uint64_t sample_count;
    uint64_t included_count; /* samples that the committed model has */
    uint64_t frozen_count;   /* samples of the sync under way */
    uint64_t own_count;      /* samples in `own` */
    uint64_t slot;           /* of the last reward */
    uint64_t slot_last;      /* t_last */
    uint64_t model_count;    /* n of the last commit */
    uint32_t sync;           /* last commit taken in */
    uint32_t frozen_sync;    /* last sync frozen for */
    uint32_t attempt;        /* of it */
    uint32_t triggered_sync; /* the commit from which an update was asked for */
    uint32_t unanswered_count;
    uint32_t needs_double; /* a sample has more than single precision */
    uint32_t anchor_round; /* of this attempt, in which `expansion` was made; 0: none */
    uint32_t is_near;      /* the last gradient came from it */
    double log_det;        /* log det A_{t,i}/det A_tlast, a sum of increments */
    double trigger;        /* left side of Eq. (4) at the last reward */
    double squares;        /* |z|^2 */
    double regret;         /* squared norms of gradients: of Lemma 1's B_2, of Lemma 12 */
    double fixed;          /* of Lemma 2 */
    double model_radius;   /* of Lemma 9 */
    double alpha;
    /* inverse M | steps M | steps_inverse M | own M | out M | theta s | target s | estimate s |
     * last s | vector s | expansion | samples */
    double values[];
};

/* ---- Layout ---- */

static uint32_t dimension_of(const struct tacit_glm_client *client)
{
    return client->config.model.dimension;
}

/* What its numbers begin with: matrices, then vectors. */
enum part {
    INVERSE,       /* of the matrix that decisions use: A, or V of variant 3 */
    STEPS,         /* of the online Newton steps: A */
    STEPS_INVERSE, /* where it is not that of decisions (variant 3) */
    OWN,           /* sum of xx' over the first own_count samples */
    MATRIX_OUT,    /* what the message that goes out points to */
    THETA,         /* of the online steps, or the committed model */
    TARGET,        /* b of the ridge estimate */
    ESTIMATE,      /* centre of the ellipsoid */
    LAST,          /* the model of the last commit */
    VECTOR_OUT,    /* what the message that goes out points to */
    PARTS_END
};

static double *part_of(struct tacit_glm_client *client, enum part part)
{
    uint32_t const matrices = part < THETA ? part : THETA;
    TACIT_ASSERT(part <= PARTS_END);
    return client->values + matrices * TACIT_LINALG_MATRIX(dimension_of(client)) +
           (part - matrices) * TACIT_LINALG_STRIDE(dimension_of(client));
}

/* Of the gradient about the iterate of round anchor_round. */
static double *expansion_of(struct tacit_glm_client *client)
{
    return part_of(client, PARTS_END);
}

static struct tacit_linalg_samples samples_of(struct tacit_glm_client *client)
{
    size_t const expansion = glm_expansion_count(&client->config.model);
    return (struct tacit_linalg_samples){.memory = expansion_of(client) + expansion,
                                         .dimension = dimension_of(client),
                                         .is_single = client->needs_double == 0};
}

static void add_sample(struct tacit_glm_client *client, const double *x, double y)
{
    TACIT_ASSERT(client->config.model.variant != TACIT_GLM_RANDOM);
    TACIT_ASSERT(client->sample_count < client->config.model.horizon);
    struct tacit_linalg_samples samples = samples_of(client);
    tacit_linalg_sample_put(&samples, client->sample_count, x, y);
    client->needs_double = samples.is_single ? 0 : 1;
}

static bool config_is_valid(const struct tacit_glm_client_config *config)
{
    return tacit_glm_model_is_valid(&config->model) &&
           config->client_id < config->model.client_count && config->resend_after_us > 0 &&
           config->resend_after_us <= TACIT_GLM_PAUSE_US_MAX;
}

static size_t values_before_samples(const struct tacit_glm_model *model)
{
    uint32_t const d = model->dimension;
    return 5 * TACIT_LINALG_MATRIX(d) + 5 * TACIT_LINALG_STRIDE(d) + glm_expansion_count(model);
}

size_t tacit_glm_client_size(const struct tacit_glm_client_config *config)
{
    if (!config_is_valid(config))
        return 0;
    uint32_t const d = config->model.dimension;
    if (config->model.horizon > SIZE_MAX / 16 / (sizeof(double) * (d + 1u)))
        return 0;
    size_t const samples = config->model.variant == TACIT_GLM_RANDOM
                               ? 0
                               : TACIT_LINALG_SAMPLES(d, config->model.horizon);
    return sizeof(struct tacit_glm_client) +
           (values_before_samples(&config->model) + samples) * sizeof(double);
}

/* ---- Radius and centre ---- */

static double dot(const struct tacit_glm_client *client, enum tacit_linalg_path path,
                  const double *a, const double *b)
{
    return tacit_linalg_dot(path, dimension_of(client), a, b);
}

/* alpha before it is scaled. */
static double radius_of(struct tacit_glm_client *client, enum tacit_linalg_path path)
{
    struct tacit_glm_model const *const model = &client->config.model;
    double const fit = dot(client, path, part_of(client, ESTIMATE), part_of(client, TARGET));
    double square = 0;
    switch (model->variant) {
    case TACIT_GLM_FEDGLB:
    case TACIT_GLM_V2:
        square = glm_fedglb_square(model, client->fixed, client->model_radius, client->regret,
                                   client->squares, fit);
        break;
    case TACIT_GLM_V3:
    case TACIT_GLM_N_ONS:
        square = glm_online_square(model, client->regret, client->squares, fit);
        break;
    case TACIT_GLM_V1:
        return client->model_radius; /* Eq. (16) */
    case TACIT_GLM_ONE_UCB:
        return glm_ucb_radius(model, client->model_count);
    case TACIT_GLM_N_UCB:
        return glm_ucb_radius(model, client->sample_count);
    case TACIT_GLM_DISLINUCB:
        return glm_linear_radius(model, client->model_count + client->sample_count -
                                            client->included_count);
    case TACIT_GLM_RANDOM:
        return 0;
    }
    return square > 0 ? sqrt(square) : 0;
}

/* Is the centre of the ellipsoid the ridge estimate A^-1 b, or the model itself? */
static bool has_target(enum tacit_glm_variant variant)
{
    return glm_steps_online(variant) || variant == TACIT_GLM_DISLINUCB;
}

/* The ellipsoid of the next decision: its centre and alpha. */
static void refresh(struct tacit_glm_client *client, enum tacit_linalg_path path)
{
    struct tacit_glm_model const *const model = &client->config.model;
    uint32_t const d = model->dimension;
    if (has_target(model->variant))
        tacit_linalg_multiply(path, d, part_of(client, INVERSE), part_of(client, TARGET),
                              part_of(client, ESTIMATE));
    else
        memcpy(part_of(client, ESTIMATE), part_of(client, THETA),
               TACIT_LINALG_STRIDE(d) * sizeof(double));
    client->alpha = model->exploration == TACIT_GLM_CONSTANT
                        ? model->alpha
                        : glm_exploration_scale(model) * radius_of(client, path);
}

enum tacit_status tacit_glm_client_init(struct tacit_glm_client *client,
                                        const struct tacit_glm_client_config *config)
{
    size_t const size = tacit_glm_client_size(config);
    if (size == 0)
        return TACIT_INVALID;
    memset(client, 0, size);
    client->config = *config;
    client->deadline_us = TACIT_NEVER;
    client->triggered_sync = NOT_TRIGGERED;
    struct tacit_glm_model const *const model = &client->config.model;
    double const base = glm_base(model);
    tacit_linalg_identity(model->dimension, 1.0 / base, part_of(client, INVERSE));
    tacit_linalg_identity(model->dimension, base, part_of(client, STEPS));
    tacit_linalg_identity(model->dimension, 1.0 / base, part_of(client, STEPS_INVERSE));
    client->model_radius = tacit_glm_radius(model, 0);
    client->fixed = glm_fixed_square(model, 0, 0, 0);
    refresh(client, TACIT_LINALG_PORTABLE);
    return TACIT_OK;
}

/* ---- Decisions ---- */

static bool contexts_are_valid(const struct tacit_glm_model *model, uint32_t arm_count,
                               const double *squares)
{
    TACIT_ASSERT(arm_count <= TACIT_GLM_ARMS_MAX);
    double const longest = model->context_bound * (1.0 + GLM_NORM_SLACK);
    bool is_valid = true;
    for (uint32_t k = 0; k < arm_count; k++)
        is_valid = is_valid && squares[k] <= longest * longest; /* NaN is not */
    return is_valid;
}

/* Eq. (5); the lowest index of those within 1e-9 of the best. */
uint32_t glm_best_arm(uint32_t arm_count, double alpha, const double *linear,
                      const double *quadratic)
{
    TACIT_ASSERT(arm_count >= 1);
    TACIT_ASSERT(arm_count <= TACIT_GLM_ARMS_MAX);
    double scores[TACIT_GLM_ARMS_MAX];
    double best = -INFINITY;
    for (uint32_t k = 0; k < arm_count; k++) {
        double const form = quadratic[k] > 0 ? quadratic[k] : 0;
        scores[k] = linear[k] + alpha * sqrt(form);
    }
    for (uint32_t k = 0; k < arm_count; k++)
        best = scores[k] > best ? scores[k] : best;
    uint32_t arm = 0;
    while (arm + 1 < arm_count && scores[arm] < best - TIE)
        arm++;
    TACIT_ASSERT(arm < arm_count);
    return arm;
}

/* Instead of the best arm: a uniform one, with probability `share`. */
enum tacit_status glm_explore(double share, const struct tacit_entropy *entropy, uint32_t arm_count,
                              uint32_t *arm, double *probability)
{
    TACIT_ASSERT(arm_count >= 1);
    TACIT_ASSERT(*arm < arm_count);
    uint32_t const best = *arm;
    if (share > 0) {
        double coin;
        uint64_t other;
        TACIT_ASSERT(entropy != NULL);
        TACIT_TRY(tacit_entropy_uniform(entropy, &coin));
        TACIT_TRY(tacit_entropy_below(entropy, arm_count, &other));
        if (coin < share)
            *arm = (uint32_t)other;
    }
    *probability = share / arm_count + (*arm == best ? 1.0 - share : 0.0);
    TACIT_ASSERT(*arm < arm_count);
    TACIT_ASSERT(*probability >= 0);
    TACIT_ASSERT(*probability <= 1);
    return TACIT_OK;
}

static double share_explored(const struct tacit_glm_model *model)
{
    return model->variant == TACIT_GLM_RANDOM ? 1.0 : model->explore;
}

static enum tacit_status on_offer(struct tacit_glm_client *client,
                                  const struct tacit_glm_event *event,
                                  const struct tacit_entropy *entropy,
                                  struct tacit_glm_update *update)
{
    struct tacit_glm_model const *const model = &client->config.model;
    struct tacit_offer const *const offer = &event->as.offer;
    if (offer->arm_count == 0 || offer->arm_count > TACIT_GLM_ARMS_MAX ||
        offer->dimension != model->dimension)
        return TACIT_INVALID;
    double linear[TACIT_GLM_ARMS_MAX];
    double quadratic[TACIT_GLM_ARMS_MAX];
    double squares[TACIT_GLM_ARMS_MAX];
    tacit_linalg_arms(event->path, model->dimension, part_of(client, INVERSE),
                      part_of(client, ESTIMATE), offer->arm_count, offer->contexts, linear,
                      quadratic, squares);
    if (!contexts_are_valid(model, offer->arm_count, squares))
        return TACIT_INVALID;
    update->arm = glm_best_arm(offer->arm_count, client->alpha, linear, quadratic);
    double const share = share_explored(model);
    enum tacit_status const status =
        glm_explore(share, entropy, offer->arm_count, &update->arm, &update->probability);
    update->decided = status == TACIT_OK;
    return status;
}

/* ---- Learning from one sample ---- */

/* What one sample does to the matrices, for the step that follows. */
struct growth {
    double z;    /* x' theta before the step */
    double loss; /* mu(z) - y, the gradient's factor */
    double form; /* squared norm of the step's vector in the inverse as it was */
    double direction[TACIT_LINALG_VECTOR_MAX]; /* inverse times that vector */
};

/* Alg. 1 l. 7, Alg. 6 l. 7-8: the matrices grow. Alg. 4 changes nothing between updates. */
static void grow(struct tacit_glm_client *client, enum tacit_linalg_path path, const double *x,
                 double y, struct growth *growth)
{
    struct tacit_glm_model const *const model = &client->config.model;
    uint32_t const d = model->dimension;
    struct tacit_linalg_mean const mean = tacit_glm_mean(model);
    if (model->variant == TACIT_GLM_V1 || model->variant == TACIT_GLM_ONE_UCB)
        return;
    growth->form =
        tacit_linalg_inverse_rank_one(path, d, x, part_of(client, INVERSE), growth->direction);
    client->log_det += tacit_linalg_log1p(growth->form);
    if (!glm_steps_online(model->variant))
        return;
    growth->z = dot(client, path, x, part_of(client, THETA));
    growth->loss = tacit_linalg_mean(&mean, growth->z) - y;
    if (model->variant != TACIT_GLM_V3) {
        tacit_linalg_rank_one(path, d, 1.0, x, part_of(client, STEPS));
        return;
    }
    double gradient[TACIT_LINALG_VECTOR_MAX] = {0};
    tacit_linalg_add(d, growth->loss, x, gradient);
    tacit_linalg_rank_one(path, d, 1.0, gradient, part_of(client, STEPS));
    growth->form = tacit_linalg_inverse_rank_one(path, d, gradient, part_of(client, STEPS_INVERSE),
                                                 growth->direction);
}

/* Alg. 2, and Alg. 1 l. 9. */
static void step_online(struct tacit_glm_client *client, enum tacit_linalg_path path,
                        const double *x, const struct growth *growth)
{
    TACIT_ASSERT(glm_steps_online(client->config.model.variant));
    struct tacit_glm_model const *const model = &client->config.model;
    uint32_t const d = model->dimension;
    bool const is_v3 = model->variant == TACIT_GLM_V3; /* its vector is the gradient itself */
    double const factor = is_v3 ? 1.0 : growth->loss;
    double const shrink = 1.0 / (1.0 + growth->form); /* A_t^-1 v = A_{t-1}^-1 v/(1 + form) */
    client->regret += factor * factor * growth->form * shrink;
    client->squares += growth->z * growth->z;
    tacit_linalg_add(d, growth->z, x, part_of(client, TARGET));
    tacit_linalg_add(d, -factor * shrink / glm_step_rate(model), growth->direction,
                     part_of(client, THETA));
    double const *const inverse = is_v3 ? part_of(client, STEPS_INVERSE) : part_of(client, INVERSE);
    (void)tacit_linalg_project_ball(path, d, part_of(client, STEPS), inverse, model->norm_bound,
                                    part_of(client, THETA));
}

/* What a sample does to the model once the matrices have grown; it is the count-th. */
static void learn(struct tacit_glm_client *client, enum tacit_linalg_path path, const double *x,
                  double y, uint64_t count, const struct growth *growth)
{
    TACIT_ASSERT(count >= 1);
    TACIT_ASSERT(count <= client->sample_count);
    struct tacit_glm_model const *const model = &client->config.model;
    struct tacit_linalg_mean const mean = tacit_glm_mean(model);
    struct tacit_linalg_samples const samples = samples_of(client);
    if (model->variant == TACIT_GLM_DISLINUCB)
        tacit_linalg_add(model->dimension, y, x, part_of(client, TARGET));
    if (model->variant == TACIT_GLM_N_UCB)
        (void)tacit_linalg_newton(path, &mean, &samples, count, model->lambda, NEWTON_TOLERANCE,
                                  part_of(client, THETA));
    if (glm_steps_online(model->variant))
        step_online(client, path, x, growth);
}

/* ---- Messages out ---- */

/* The pause doubles with every message that nobody answered. */
static void set_resend(struct tacit_glm_client *client)
{
    TACIT_ASSERT(client->config.resend_after_us > 0);
    client->deadline_us =
        client->now_us + round_pause_us(client->config.resend_after_us, client->unanswered_count);
    TACIT_ASSERT(client->deadline_us > client->now_us);
    client->unanswered_count++;
}

/* A message to the hub, for the caller to fill in, and its resend timer. Requires: *update is all
 * zeros; for a new question unanswered_count is 0, so that the pause starts short. */
static struct tacit_glm_message *begin_message(struct tacit_glm_client *client,
                                               enum tacit_glm_message_kind kind,
                                               struct tacit_glm_update *update)
{
    TACIT_ASSERT(!update->send);
    struct tacit_glm_message *const message = &update->message;
    update->send = true;
    message->kind = kind;
    message->from = client->config.client_id;
    message->to = TACIT_HUB;
    message->run_id = client->config.model.run_id;
    message->sync = client->sync;
    message->slot = client->slot;
    set_resend(client);
    return message;
}

/* ---- Rewards ---- */

/* Eq. (4), from a sum of logarithms; the time since the last update is literal (READINGS P4.6).
 * Its left side stays in client->trigger. */
static bool is_due(struct tacit_glm_client *client, uint64_t order)
{
    struct tacit_glm_model const *const model = &client->config.model;
    uint64_t const elapsed =
        client->slot > client->slot_last ? client->slot - client->slot_last : 0;
    client->trigger = (double)elapsed * client->log_det;
    if (glm_is_triggered(model->variant))
        return client->trigger >= model->threshold;
    if (!glm_is_scheduled(model->variant) || client->slot == 0)
        return false;
    uint64_t const observation =
        order > 0 ? order : (client->slot - 1) * model->client_count + client->config.client_id + 1;
    return observation % model->period == 0;
}

static enum tacit_status check_reward(const struct tacit_glm_client *client,
                                      const struct tacit_glm_reward *reward, double *x)
{
    struct tacit_glm_model const *const model = &client->config.model;
    double square = 0;
    for (uint32_t i = 0; i < model->dimension; i++) {
        x[i] = reward->context[i];
        square += x[i] * x[i];
    }
    if (!contexts_are_valid(model, 1, &square) || !glm_is_finite(&reward->value, 1))
        return TACIT_INVALID;
    if (client->sample_count == model->horizon)
        return TACIT_INVALID;
    return TACIT_OK;
}

static enum tacit_status on_reward(struct tacit_glm_client *client,
                                   const struct tacit_glm_event *event,
                                   struct tacit_glm_update *update)
{
    struct tacit_glm_model const *const model = &client->config.model;
    struct tacit_glm_reward const *const reward = &event->as.reward;
    double x[TACIT_LINALG_VECTOR_MAX] = {0};
    TACIT_TRY(check_reward(client, reward, x));
    update->persist = true;
    if (model->variant != TACIT_GLM_RANDOM)
        add_sample(client, x, reward->value);
    client->sample_count++;
    client->slot = model->clock == TACIT_GLM_COUNTS ? client->sample_count : reward->slot;
    if (model->variant == TACIT_GLM_RANDOM)
        return TACIT_OK;
    struct growth growth = {0};
    grow(client, event->path, x, reward->value, &growth);
    bool const is_asked_for =
        client->triggered_sync == client->sync || client->frozen_sync > client->sync;
    bool const fires = is_due(client, reward->order) && !is_asked_for;
    if (fires) {
        client->triggered_sync = client->sync;
        client->unanswered_count = 0;
        (void)begin_message(client, TACIT_GLM_TRIGGER, update);
    }
    if (!fires || model->variant == TACIT_GLM_DISLINUCB) /* Alg. 1 l. 8: one or the other */
        learn(client, event->path, x, reward->value, client->sample_count, &growth);
    refresh(client, event->path);
    return TACIT_OK;
}

/* ---- Updates ---- */

/* Samples are frozen once for a sync, whatever its attempt: A_i is the same for each. */
static enum tacit_status on_freeze(struct tacit_glm_client *client, enum tacit_linalg_path path,
                                   const struct tacit_glm_message *message,
                                   struct tacit_glm_update *update)
{
    uint32_t const d = dimension_of(client);
    struct tacit_linalg_samples const samples = samples_of(client);
    if (message->sync <= client->sync || message->sync < client->frozen_sync)
        return TACIT_OK; /* late */
    if (message->sync == client->frozen_sync && message->attempt < client->attempt)
        return TACIT_OK;
    if (message->sync > client->frozen_sync)
        client->frozen_count = client->sample_count;
    if (message->sync > client->frozen_sync || message->attempt > client->attempt)
        client->anchor_round = 0;
    client->frozen_sync = message->sync;
    client->attempt = message->attempt;
    client->unanswered_count = 0;
    update->persist = true;
    /* The same sums in the same order, however often it is asked. */
    memcpy(part_of(client, MATRIX_OUT), part_of(client, OWN),
           TACIT_LINALG_MATRIX(d) * sizeof(double));
    tacit_linalg_gram(path, NULL, &samples, client->own_count, client->frozen_count, NULL,
                      part_of(client, MATRIX_OUT));
    TACIT_ASSERT(client->own_count <= client->frozen_count);
    struct tacit_glm_message *const answer = begin_message(client, TACIT_GLM_FROZEN, update);
    answer->sync = message->sync;
    answer->attempt = message->attempt;
    answer->count = client->frozen_count;
    answer->matrix = part_of(client, MATRIX_OUT);
    return TACIT_OK;
}

/* The gradient at an iterate near one that this attempt had before (ours; the paper sums): from the
 * expansion about that one, where its error is proven to be small. In rounds c, 2 c, 4 c.. it is
 * made anew if the old one does not reach that far: so all such work takes no longer than the
 * rounds before it. What comes out depends on the frozen samples and on the attempt's iterates
 * only: the expansion is persisted before anything that comes from it is sent. False: there is
 * none. */
static bool fill_from_expansion(struct tacit_glm_client *client, enum tacit_linalg_path path,
                                uint32_t round, const double *point,
                                struct tacit_glm_update *update)
{
    struct tacit_glm_model const *const model = &client->config.model;
    struct tacit_linalg_mean const mean = tacit_glm_mean(model);
    struct tacit_linalg_samples const samples = samples_of(client);
    double const tolerance = (double)client->frozen_count * glm_expansion_tolerance(model);
    TACIT_ASSERT(glm_expansion_count(model) > 0);
    client->is_near = 0;
    if (round < client->anchor_round || /* an old message */
        client->frozen_count < glm_expansion_least(model))
        return false;
    if (client->anchor_round > 0 &&
        tacit_linalg_gradient_near(path, &mean, model->dimension, expansion_of(client), point,
                                   tolerance, part_of(client, VECTOR_OUT))) {
        client->is_near = 1;
        return true;
    }
    if (!glm_is_anchor_round(model, round))
        return false;
    tacit_linalg_expand(path, &mean, &samples, client->frozen_count, point, expansion_of(client));
    client->anchor_round = round;
    update->persist = true;
    return tacit_linalg_gradient_near(path, &mean, model->dimension, expansion_of(client), point,
                                      tolerance, part_of(client, VECTOR_OUT));
}

/* What this variant sends up in a round: a gradient at the iterate; of variant 3 that of the new
 * samples at theta_tlast (Alg. 6 l. 13); of DisLinUCB b_i. */
static void fill_gradient(struct tacit_glm_client *client, enum tacit_linalg_path path,
                          const struct tacit_glm_message *message, struct tacit_glm_update *update)
{
    TACIT_ASSERT(client->included_count <= client->frozen_count ||
                 client->config.model.variant != TACIT_GLM_V3);
    TACIT_IMPLIES(glm_iterates(client->config.model.variant), message->vector != NULL);
    struct tacit_glm_model const *const model = &client->config.model;
    uint32_t const d = model->dimension;
    struct tacit_linalg_mean mean = tacit_glm_mean(model);
    struct tacit_linalg_samples const samples = samples_of(client);
    double *const out = part_of(client, VECTOR_OUT);
    double point[TACIT_LINALG_VECTOR_MAX] = {0};
    uint64_t first = 0;
    if (glm_iterates(model->variant)) {
        memcpy(point, message->vector, d * sizeof(double));
    } else if (model->variant == TACIT_GLM_V3) {
        memcpy(point, part_of(client, LAST), d * sizeof(double));
        first = client->included_count;
    } else {
        mean.link = TACIT_LINALG_IDENTITY; /* at 0 its gradient is -sum of x y */
    }
    if (glm_expansion_count(model) > 0 &&
        fill_from_expansion(client, path, message->round, point, update))
        return;
    tacit_linalg_gradient(path, &mean, &samples, first, client->frozen_count, point, out);
    if (model->variant == TACIT_GLM_DISLINUCB)
        for (uint32_t i = 0; i < d; i++)
            out[i] = -out[i];
    if (model->variant == TACIT_GLM_ONE_UCB) {
        memset(part_of(client, MATRIX_OUT), 0, TACIT_LINALG_MATRIX(d) * sizeof(double));
        tacit_linalg_gram(path, &mean, &samples, 0, client->frozen_count, point,
                          part_of(client, MATRIX_OUT));
    }
}

static enum tacit_status on_iterate(struct tacit_glm_client *client, enum tacit_linalg_path path,
                                    const struct tacit_glm_message *message,
                                    struct tacit_glm_update *update)
{
    struct tacit_glm_model const *const model = &client->config.model;
    if (message->sync <= client->sync || message->sync != client->frozen_sync ||
        message->attempt < client->attempt)
        return TACIT_OK; /* of another sync, or late */
    if (glm_iterates(model->variant) != (message->vector != NULL))
        return TACIT_MALFORMED;
    if (message->vector != NULL && !glm_is_moderate(message->vector, model->dimension))
        return TACIT_MALFORMED; /* its gradient might be no number */
    if (message->attempt > client->attempt)
        client->anchor_round = 0;
    client->attempt = message->attempt;
    client->unanswered_count = 0;
    fill_gradient(client, path, message, update);
    struct tacit_glm_message *const answer = begin_message(client, TACIT_GLM_GRADIENT, update);
    answer->sync = message->sync;
    answer->attempt = message->attempt;
    answer->round = message->round;
    answer->digest = message->digest;
    answer->vector = part_of(client, VECTOR_OUT);
    if (model->variant == TACIT_GLM_ONE_UCB)
        answer->matrix = part_of(client, MATRIX_OUT);
    return TACIT_OK;
}

/* Has a COMMIT what this variant needs, nothing else, and no number that is too large? */
static bool has_vectors(const struct tacit_glm_message *message,
                        const struct tacit_glm_model *model)
{
    bool const needs_theta = model->variant != TACIT_GLM_DISLINUCB;
    uint32_t const d = model->dimension;
    if (message->matrix == NULL || needs_theta != (message->vector != NULL) ||
        has_target(model->variant) != (message->target != NULL) ||
        (model->variant == TACIT_GLM_V3) != (message->steps != NULL))
        return false;
    size_t const matrix = TACIT_LINALG_MATRIX(d);
    return (message->vector == NULL || glm_is_moderate(message->vector, d)) &&
           (message->target == NULL || glm_is_moderate(message->target, d)) &&
           (message->steps == NULL || glm_is_moderate(message->steps, matrix)) &&
           glm_is_moderate(message->matrix, matrix) && glm_is_moderate(&message->squares, 1) &&
           glm_is_moderate(&message->regret, 1) && message->count > 0 &&
           message->count <= model->client_count * model->horizon && message->participants != NULL;
}

/* What follows from a commit's matrices, before anything is changed. */
struct derived {
    double log_det; /* log det(I + sum of xx'), from A = base I + sum of xx' */
    double inverse[TACIT_LINALG_MATRIX_MAX];
    double steps_inverse[TACIT_LINALG_MATRIX_MAX];
};

/* False: a matrix is not positive definite. */
static bool derive(const struct tacit_glm_model *model, enum tacit_linalg_path path,
                   const struct tacit_glm_message *message, struct derived *derived)
{
    TACIT_ASSERT(message->matrix != NULL);
    TACIT_IMPLIES(model->variant == TACIT_GLM_V3, message->steps != NULL);
    uint32_t const d = model->dimension;
    if (model->variant == TACIT_GLM_V3 &&
        !tacit_linalg_inverse(path, d, message->steps, derived->steps_inverse, NULL))
        return false;
    if (message->inverse != NULL) {
        memcpy(derived->inverse, message->inverse, TACIT_LINALG_MATRIX(d) * sizeof(double));
        derived->log_det = message->log_det;
        return true;
    }
    return glm_derive(model, path, message->matrix, derived->inverse, &derived->log_det);
}

/* Alg. 1 l. 14: the state is that of the server. */
static void apply_model(struct tacit_glm_client *client, enum tacit_linalg_path path,
                        const struct tacit_glm_message *message, const struct derived *derived)
{
    TACIT_ASSERT(message->matrix != NULL);
    TACIT_ASSERT(message->count > 0);
    struct tacit_glm_model const *const model = &client->config.model;
    uint32_t const d = model->dimension;
    size_t const matrix = TACIT_LINALG_MATRIX(d) * sizeof(double);
    bool const is_v3 = model->variant == TACIT_GLM_V3;
    memcpy(part_of(client, INVERSE), derived->inverse, matrix);
    memcpy(part_of(client, STEPS), is_v3 ? message->steps : message->matrix, matrix);
    if (is_v3)
        memcpy(part_of(client, STEPS_INVERSE), derived->steps_inverse, matrix);
    if (message->vector != NULL) {
        memcpy(part_of(client, THETA), message->vector, d * sizeof(double));
        memcpy(part_of(client, LAST), message->vector, d * sizeof(double));
    }
    if (message->target != NULL)
        memcpy(part_of(client, TARGET), message->target, d * sizeof(double));
    client->model_count = message->count;
    client->log_det = 0;
    client->regret = is_v3 ? message->regret : 0;
    client->squares = is_v3 ? message->squares
                            : dot(client, path, part_of(client, LAST), part_of(client, TARGET));
    client->model_radius = tacit_glm_radius(model, message->count);
    client->fixed =
        glm_fixed_square(model, message->count, derived->log_det,
                         sqrt(dot(client, path, part_of(client, LAST), part_of(client, LAST))));
}

/* Samples that the model does not have are learnt again, on top of it. */
static void replay(struct tacit_glm_client *client, enum tacit_linalg_path path)
{
    TACIT_ASSERT(client->included_count <= client->sample_count);
    struct tacit_linalg_samples const samples = samples_of(client);
    double x[TACIT_LINALG_VECTOR_MAX];
    for (uint64_t s = client->included_count; s < client->sample_count; s++) {
        struct growth growth = {0};
        double const y = tacit_linalg_sample_get(&samples, s, x);
        grow(client, path, x, y, &growth);
        learn(client, path, x, y, s + 1, &growth);
    }
}

static enum tacit_status on_commit(struct tacit_glm_client *client, enum tacit_linalg_path path,
                                   const struct tacit_glm_message *message,
                                   struct tacit_glm_update *update)
{
    struct tacit_glm_model const *const model = &client->config.model;
    if (message->sync <= client->sync)
        return TACIT_OK;
    struct derived derived;
    if (!has_vectors(message, model) || !derive(model, path, message, &derived))
        return TACIT_MALFORMED;
    struct tacit_linalg_samples const samples = samples_of(client);
    bool const is_in = tacit_bits_has(message->participants, client->config.client_id);
    if (is_in && client->frozen_sync != message->sync)
        return TACIT_ROLLBACK;
    if (is_in) {
        tacit_linalg_gram(path, NULL, &samples, client->own_count, client->frozen_count, NULL,
                          part_of(client, OWN));
        client->own_count = client->frozen_count;
    }
    client->included_count = is_in ? client->frozen_count : 0;
    client->sync = message->sync;
    client->slot_last = model->clock == TACIT_GLM_COUNTS ? client->frozen_count : message->slot;
    client->triggered_sync = NOT_TRIGGERED;
    client->deadline_us = TACIT_NEVER; /* until the next trigger, which counts anew */
    apply_model(client, path, message, &derived);
    replay(client, path);
    refresh(client, path);
    update->persist = true;
    return TACIT_OK;
}

static enum tacit_status on_receive(struct tacit_glm_client *client,
                                    const struct tacit_glm_event *event,
                                    struct tacit_glm_update *update)
{
    const struct tacit_glm_message *const message = event->as.message;
    if (message->run_id != client->config.model.run_id || message->from != TACIT_HUB ||
        (message->to != client->config.client_id && message->to != TACIT_EVERYONE))
        return TACIT_STRANGER;
    switch (message->kind) {
    case TACIT_GLM_FREEZE:
        return on_freeze(client, event->path, message, update);
    case TACIT_GLM_ITERATE:
        return on_iterate(client, event->path, message, update);
    case TACIT_GLM_COMMIT:
        return on_commit(client, event->path, message, update);
    case TACIT_GLM_HELLO:
    case TACIT_GLM_TRIGGER:
    case TACIT_GLM_FROZEN:
    case TACIT_GLM_GRADIENT:
        return TACIT_MALFORMED;
    }
    return TACIT_MALFORMED;
}

/* After a restart, and when nobody answers: the trigger again, else "what now?". */
static void ask(struct tacit_glm_client *client, struct tacit_glm_update *update)
{
    TACIT_ASSERT(!update->send);
    if (client->triggered_sync == client->sync && client->frozen_sync <= client->sync) {
        (void)begin_message(client, TACIT_GLM_TRIGGER, update);
        return;
    }
    (void)begin_message(client, TACIT_GLM_HELLO, update);
}

/* ---- Public ---- */

static void check_invariants(const struct tacit_glm_client *client)
{
    TACIT_ASSERT(client->needs_double <= 1);
    TACIT_ASSERT(client->sample_count <= client->config.model.horizon);
    TACIT_ASSERT(client->included_count <= client->sample_count);
    TACIT_ASSERT(client->frozen_count <= client->sample_count);
    TACIT_ASSERT(client->own_count <= client->frozen_count);
    TACIT_ASSERT(client->log_det >= 0);
}

enum tacit_status tacit_glm_client_step(struct tacit_glm_client *client,
                                        const struct tacit_glm_event *event,
                                        const struct tacit_entropy *entropy,
                                        struct tacit_glm_update *update)
{
    bool const is_start = event->kind == TACIT_EVENT_START; /* a new process has a new clock */
    TACIT_ASSERT(is_start || event->now_us >= client->now_us);
    check_invariants(client);
    memset(update, 0, sizeof *update);
    uint64_t const before_us = client->now_us;
    client->now_us = event->now_us;
    enum tacit_status status = TACIT_OK;
    switch (event->kind) {
    case TACIT_EVENT_START:
        client->unanswered_count = 0;
        if (event->now_us < before_us && client->deadline_us != TACIT_NEVER)
            client->deadline_us = event->now_us; /* it was of another clock */
        if (client->sample_count > 0 && client->config.model.variant != TACIT_GLM_RANDOM)
            ask(client, update);
        break;
    case TACIT_EVENT_OFFER:
        status = on_offer(client, event, entropy, update);
        break;
    case TACIT_EVENT_REWARD:
        status = on_reward(client, event, update);
        break;
    case TACIT_EVENT_RECEIVE:
        status = on_receive(client, event, update);
        break;
    case TACIT_EVENT_TIMEOUT:
        if (client->deadline_us <= client->now_us)
            ask(client, update);
        break;
    case TACIT_EVENT_EXPLOITED:
        status = TACIT_INVALID;
        break;
    }
    if (status != TACIT_OK) /* what is refused leaves no trace */
        client->now_us = before_us;
    TACIT_ASSERT(client->now_us == (status == TACIT_OK ? event->now_us : before_us));
    TACIT_IMPLIES(status != TACIT_OK, !update->persist && !update->send);
    TACIT_IMPLIES(update->send, update->message.from == client->config.client_id);
    TACIT_IMPLIES(update->decided, update->arm < event->as.offer.arm_count);
    update->deadline_us = client->deadline_us;
    check_invariants(client);
    return status;
}

static bool samples_are_finite(const struct tacit_glm_client *state)
{
    struct tacit_glm_client *const client = (struct tacit_glm_client *)(uintptr_t)state;
    struct tacit_linalg_samples const samples = samples_of(client);
    uint64_t const count =
        client->config.model.variant == TACIT_GLM_RANDOM ? 0 : client->sample_count;
    double x[TACIT_LINALG_VECTOR_MAX];
    for (uint64_t s = 0; s < count; s++) {
        double const y = tacit_linalg_sample_get(&samples, s, x);
        if (!glm_is_finite(x, dimension_of(client)) || !glm_is_finite(&y, 1))
            return false;
    }
    return true;
}

enum tacit_status tacit_glm_client_check(const struct tacit_glm_client *client, size_t size,
                                         const struct tacit_glm_client_config *config)
{
    size_t const expected = tacit_glm_client_size(config);
    if (expected == 0 || size != expected)
        return TACIT_MALFORMED;
    if (memcmp(&client->config, config, sizeof *config) != 0)
        return TACIT_MALFORMED;
    bool const counts_fit = client->sample_count <= config->model.horizon &&
                            client->included_count <= client->frozen_count &&
                            client->frozen_count <= client->sample_count &&
                            client->own_count <= client->frozen_count && client->log_det >= 0 &&
                            client->alpha >= 0;
    size_t const count = values_before_samples(&config->model);
    bool const is_possible = counts_fit && client->needs_double <= 1 && client->is_near <= 1 &&
                             glm_is_finite(&client->log_det, 7) &&
                             glm_is_finite(client->values, count) && samples_are_finite(client);
    return is_possible ? TACIT_OK : TACIT_MALFORMED;
}

void tacit_glm_client_view(const struct tacit_glm_client *state, struct tacit_glm_client_view *view)
{
    struct tacit_glm_client *const client = (struct tacit_glm_client *)(uintptr_t)state;
    *view = (struct tacit_glm_client_view){.sync = client->sync,
                                           .frozen = client->frozen_sync > client->sync,
                                           .triggered = client->triggered_sync == client->sync,
                                           .sample_count = client->sample_count,
                                           .included_count = client->included_count,
                                           .model_count = client->model_count,
                                           .anchor_round = client->anchor_round,
                                           .is_near = client->is_near == 1,
                                           .alpha = client->alpha,
                                           .log_det = client->log_det,
                                           .trigger = client->trigger,
                                           .theta = part_of(client, THETA),
                                           .estimate = part_of(client, ESTIMATE),
                                           .inverse = part_of(client, INVERSE)};
}

bool tacit_glm_client_rule(const struct tacit_glm_client *state, struct tacit_linalg_rule *rule)
{
    struct tacit_glm_client *const client = (struct tacit_glm_client *)(uintptr_t)state;
    *rule = (struct tacit_linalg_rule){.form = part_of(client, INVERSE),
                                       .centre = part_of(client, ESTIMATE),
                                       .width = client->alpha};
    return share_explored(&client->config.model) == 0;
}
