/* Sound mode: the rule, the grid, the promise. */
#include "private.h"
#include <math.h>
#include <string.h>

#define GRID TACIT_GLM_PRIVATE_GRID
#define SUM_BITS 62u
#define PRACTICAL_SCALE 0.1 /* as for the paper's variants (READINGS P4.2) */
#define DELTA_MIN 1e-9
#define FAILURE_MIN 1e-100 /* the number of batches divided by it is one */

/* ---- Rule ---- */

static bool model_is_valid(const struct tacit_glm_private_model *model)
{
    return (model->link == TACIT_LINALG_IDENTITY || model->link == TACIT_LINALG_LOGISTIC) &&
           model->exploration <= TACIT_GLM_CONSTANT && model->client_count >= 1 &&
           model->client_count <= TACIT_AGENTS_MAX && model->dimension >= 1 &&
           model->dimension <= TACIT_LINALG_DIMENSION_MAX && model->batch_count >= 1 &&
           model->batch_count <= TACIT_GLM_PRIVATE_BATCHES_MAX && glm_is_positive(model->epsilon) &&
           model->epsilon <= TACIT_EPSILON_MAX && model->delta >= DELTA_MIN && model->delta < 1 &&
           model->failure >= FAILURE_MIN && model->failure < 1 &&
           glm_is_positive(model->norm_bound) && glm_is_positive(model->noise_bound) &&
           model->alpha >= 0 && model->alpha <= 1e150 && model->explore >= 0 && model->explore <= 1;
}

/* Delta^2 as a fraction of 32: |x x' - x' x''|^2 = 2 (1 - c^2) of unit vectors, and the difference
 * of x y; at most at c = 1/2 with y = 1, -1 (9/2), at c = 1/8 with y = 1/2, -1/2 (81/32). */
static uint64_t sensitivity_in_32(enum tacit_linalg_link link)
{
    return link == TACIT_LINALG_LOGISTIC ? 81 : 144;
}

double tacit_glm_private_sensitivity_square(enum tacit_linalg_link link)
{
    return (double)sensitivity_in_32(link) / 32.0;
}

static uint32_t bit_length(uint64_t value)
{
    uint32_t length = 0;
    for (; value > 0; value >>= 1)
        length++;
    return length;
}

/* sigma^2 = Delta^2 2^40/(2 rho) of one release. */
static enum tacit_status make_noise(const struct tacit_glm_private_rule *rule, uint64_t rho_nano,
                                    struct tacit_gaussian *noise)
{
    TACIT_ASSERT(rule->level_count >= 1);
    uint64_t const node_rho_nano = rho_nano / rule->level_count;
    if (node_rho_nano == 0)
        return TACIT_INVALID;
    return tacit_gaussian_init(noise, sensitivity_in_32(rule->model.link) * TACIT_NANO, 34,
                               node_rho_nano);
}

/* Variance of a number of a prefix, whose nodes so many draw. */
static double variance_of(const struct tacit_glm_private_rule *rule, uint32_t owners)
{
    TACIT_ASSERT(rule->node_count >= 1);
    double const nodes = (double)owners * (double)rule->node_count;
    return nodes * tacit_gaussian_variance(&rule->noise);
}

/* The norms that the noise of a prefix of all clients keeps within, in each of its P values, with
 * probability 1 - 2a/3: of a symmetric matrix, and of a vector. */
static void set_bounds(struct tacit_glm_private_rule *rule, double variance)
{
    TACIT_ASSERT(variance > 0);
    struct tacit_glm_private_model const *const model = &rule->model;
    double const root = sqrt((double)model->dimension);
    double const batches = (double)model->batch_count;
    rule->sd = sqrt(variance) / (double)TACIT_GLM_PRIVATE_UNIT;
    rule->shift = rule->sd * (2.0 * root + 2.0 * sqrt(log(6.0 * batches / model->failure)));
    rule->drift = rule->sd * (root + sqrt(2.0 * log(3.0 * batches / model->failure)));
    TACIT_ASSERT(rule->shift > 0);
    TACIT_ASSERT(rule->drift > 0);
}

enum tacit_status tacit_glm_private_rule_init(struct tacit_glm_private_rule *rule,
                                              const struct tacit_glm_private_model *model)
{
    if (!model_is_valid(model))
        return TACIT_INVALID;
    struct tacit_glm_private_rule next;
    memset(&next, 0, sizeof next);
    next.model = *model;
    uint64_t const levels = bit_length(model->batch_count);
    next.is_flat = model->batch_count < levels * levels;
    next.level_count = next.is_flat ? 1 : (uint32_t)levels;
    next.node_count = next.is_flat ? model->batch_count : levels;
    next.rho_nano = tacit_rho_of_epsilon_nano(model->epsilon, model->delta);
    next.node_rho_nano = next.rho_nano / next.level_count;
    if (make_noise(&next, next.rho_nano, &next.noise) != TACIT_OK)
        return TACIT_INVALID;
    set_bounds(&next, variance_of(&next, model->client_count));
    TACIT_ASSERT(next.level_count >= 1);
    TACIT_ASSERT(next.node_rho_nano > 0);
    *rule = next;
    return TACIT_OK;
}

enum tacit_status tacit_glm_private_rule_mask(struct tacit_glm_private_rule *rule, double floor)
{
    TACIT_ASSERT(floor > 0);
    TACIT_ASSERT(!rule->is_bare);
    double variance = variance_of(rule, 2);
    bool const has_floor = !isinf(floor);
    if (has_floor) {
        uint64_t const rho_nano = tacit_rho_of_epsilon_nano(floor, rule->model.delta);
        if (make_noise(rule, rho_nano, &rule->noise) != TACIT_OK)
            return TACIT_INVALID;
        variance += variance_of(rule, rule->model.client_count);
    }
    rule->is_bare = !has_floor;
    set_bounds(rule, variance);
    return TACIT_OK;
}

/* An estimate of a quarter of the slope: theta = 4 V^-1 sum x (y - 1/2). */
static double link_factor(enum tacit_linalg_link link)
{
    return link == TACIT_LINALG_LOGISTIC ? 4.0 : 1.0;
}

/* The radius of V = sum of W~ + 2 Y I, before it is scaled. */
static double radius_of(const struct tacit_glm_private_rule *rule, double log_det)
{
    TACIT_ASSERT(rule->shift > 0);
    struct tacit_glm_private_model const *const model = &rule->model;
    double const spread = 2.0 * tacit_linalg_log(3.0 / model->failure) + log_det -
                          model->dimension * tacit_linalg_log(rule->shift);
    double const root = spread > 0 ? sqrt(spread) : 0;
    return link_factor(model->link) *
               (model->noise_bound * root + rule->drift / sqrt(rule->shift)) +
           model->norm_bound * sqrt(3.0 * rule->shift);
}

double glm_private_alpha(const struct tacit_glm_private_rule *rule, double log_det)
{
    struct tacit_glm_private_model const *const model = &rule->model;
    double const radius = radius_of(rule, log_det);
    double const alpha = model->exploration == TACIT_GLM_CONSTANT ? model->alpha
                         : model->exploration == TACIT_GLM_THEORY ? radius
                                                                  : PRACTICAL_SCALE * radius;
    TACIT_ASSERT(alpha >= 0);
    return alpha;
}

/* V = sum of W~ + 2 Y I and sum of u~, as real numbers; u~ is centred for the logistic link. */
static void unpack(const struct tacit_glm_private_rule *rule, const int64_t *total, double *matrix,
                   double *target)
{
    uint32_t const d = rule->model.dimension;
    double const unit = (double)TACIT_GLM_PRIVATE_UNIT;
    double packed[TACIT_LINALG_PACKED(TACIT_LINALG_DIMENSION_MAX)];
    size_t const triangle = TACIT_LINALG_PACKED(d);
    for (size_t i = 0; i < triangle; i++)
        packed[i] = (double)total[i] / unit;
    tacit_linalg_identity(d, 2.0 * rule->shift, matrix);
    tacit_linalg_add_packed(d, packed, matrix);
    for (uint32_t i = 0; i < d; i++)
        target[i] = (double)total[triangle + i] / unit * link_factor(rule->model.link);
}

enum tacit_status tacit_glm_private_learn(const struct tacit_glm_private_rule *rule,
                                          enum tacit_linalg_path path, const int64_t *sums,
                                          struct tacit_glm_private_estimate *estimate)
{
    uint32_t const d = rule->model.dimension;
    double matrix[TACIT_LINALG_MATRIX_MAX];
    double target[TACIT_LINALG_VECTOR_MAX] = {0};
    double log_det;
    TACIT_ASSERT(sums != NULL);
    memset(estimate, 0, sizeof *estimate);
    unpack(rule, sums, matrix, target);
    if (!tacit_linalg_inverse(path, d, matrix, estimate->inverse, &log_det))
        return TACIT_INVALID;
    tacit_linalg_multiply(path, d, estimate->inverse, target, estimate->theta);
    estimate->alpha = glm_private_alpha(rule, log_det);
    estimate->radius = radius_of(rule, log_det);
    return TACIT_OK;
}

int64_t glm_private_sum_max(const struct tacit_glm_private_rule *rule)
{
    TACIT_ASSERT(rule->model.client_count >= 1);
    return (int64_t)((UINT64_C(1) << SUM_BITS) / rule->model.client_count);
}

/* The other half is for noise: more than 16 standard deviations of any. */
uint64_t tacit_glm_private_horizon_max(const struct tacit_glm_private_rule *rule)
{
    return (uint64_t)glm_private_sum_max(rule) / 2 / TACIT_GLM_PRIVATE_UNIT;
}

/* ---- The grid ---- */

void tacit_glm_private_quantise(uint32_t dimension, const double *x, int64_t *steps)
{
    TACIT_ASSERT(dimension <= TACIT_LINALG_DIMENSION_MAX);
    double square = 0;
    for (uint32_t i = 0; i < dimension; i++)
        square += x[i] * x[i];
    bool const is_finite = square <= 1e300; /* NaN is not */
    double const scale = square > 1 ? 1.0 / sqrt(square) : 1.0;
    int64_t sum = 0;
    for (uint32_t i = 0; i < dimension; i++) {
        steps[i] = is_finite ? (int64_t)(x[i] * scale * GRID) : 0; /* toward zero */
        sum += steps[i] * steps[i];
    }
    /* It is a whole number, and rounding moves the norm by 1e-15 of it at most. */
    TACIT_ASSERT(sum <= (int64_t)TACIT_GLM_PRIVATE_UNIT);
}

int64_t tacit_glm_private_reward_steps(enum tacit_linalg_link link, double y)
{
    bool const is_logistic = link == TACIT_LINALG_LOGISTIC;
    double const half = is_logistic ? 0.5 : 1.0;
    double const centred = is_logistic ? y - 0.5 : y;
    double const clipped = !(centred > -half) ? -half : centred > half ? half : centred;
    TACIT_ASSERT(clipped >= -half);
    TACIT_ASSERT(clipped <= half);
    return (int64_t)(clipped * GRID);
}

/* ---- Decisions, rewards, noise ---- */

/* The context that the model knows: clipped and on the grid. */
static void round_to_grid(uint32_t d, const double *x, double *placed)
{
    int64_t steps[TACIT_LINALG_VECTOR_MAX];
    tacit_glm_private_quantise(d, x, steps);
    for (uint32_t i = 0; i < d; i++)
        placed[i] = (double)steps[i] / TACIT_GLM_PRIVATE_GRID;
}

enum tacit_status
glm_private_decide(const struct tacit_glm_private_model *model, enum tacit_linalg_path path,
                   const struct glm_private_scores *scores, const struct tacit_offer *offer,
                   const struct tacit_entropy *entropy, uint32_t *arm, double *probability)
{
    uint32_t const d = model->dimension;
    if (offer->arm_count == 0 || offer->arm_count > TACIT_GLM_ARMS_MAX || offer->dimension != d ||
        !glm_is_finite(offer->contexts, (size_t)offer->arm_count * d))
        return TACIT_INVALID;
    double linear[TACIT_GLM_ARMS_MAX];
    double quadratic[TACIT_GLM_ARMS_MAX];
    for (uint32_t k = 0; k < offer->arm_count; k++) {
        double placed[TACIT_LINALG_VECTOR_MAX];
        double square;
        round_to_grid(d, offer->contexts + (size_t)k * d, placed);
        tacit_linalg_arms(path, d, scores->inverse, scores->theta, 1, placed, &linear[k],
                          &quadratic[k], &square);
    }
    *arm = glm_best_arm(offer->arm_count, scores->alpha, linear, quadratic);
    return glm_explore(model->explore, entropy, offer->arm_count, arm, probability);
}

void glm_private_add(const struct tacit_glm_private_model *model,
                     const struct tacit_glm_reward *reward, int64_t *sums)
{
    uint32_t const d = model->dimension;
    int64_t x[TACIT_LINALG_VECTOR_MAX];
    int64_t *sum = sums;
    tacit_glm_private_quantise(d, reward->context, x);
    int64_t const y = tacit_glm_private_reward_steps(model->link, reward->value);
    for (uint32_t i = 0; i < d; i++)
        for (uint32_t j = i; j < d; j++)
            *sum++ += x[i] * x[j];
    for (uint32_t i = 0; i < d; i++)
        *sum++ += x[i] * y;
}

enum tacit_status glm_private_draw(const struct tacit_glm_private_rule *rule,
                                   const struct tacit_entropy *entropy, int64_t *noise)
{
    uint32_t const count = (uint32_t)TACIT_GLM_PRIVATE_SUMS(rule->model.dimension);
    TACIT_ASSERT(count <= TACIT_GLM_PRIVATE_SUMS_MAX);
    memset(noise, 0, count * sizeof *noise);
    for (uint32_t i = 0; i < count && !rule->is_bare; i++) {
        TACIT_TRY(tacit_discrete_gaussian(&rule->noise, entropy, &noise[i]));
    }
    return TACIT_OK;
}

/* ---- The promise ---- */

uint64_t tacit_glm_private_clients_min(const struct tacit_glm_private_rule *rule, uint64_t horizon)
{
    TACIT_ASSERT(horizon > 0);
    /* M T/d >= Y, where Y^2 = common + own M. */
    double const count = rule->model.client_count;
    double const unit = rule->sd * (double)TACIT_GLM_PRIVATE_UNIT;
    double const part = rule->is_bare ? 0 : variance_of(rule, 1) / (unit * unit);
    double const own = part * rule->shift * rule->shift;
    double const rest = rule->shift * rule->shift - own * count;
    double const common = rest > 0 ? rest : 0;
    double const slope = (double)horizon / rule->model.dimension;
    double const root = sqrt(own * own + 4 * common * slope * slope);
    double const clients = ceil((own + root) / (2 * slope * slope));
    TACIT_ASSERT(clients >= 1);
    return clients < 1e18 ? (uint64_t)clients : (uint64_t)1e18;
}

void tacit_glm_private_remark(const struct tacit_glm_private_rule *rule, uint64_t horizon,
                              struct tacit_text *text)
{
    double const slots = (double)horizon;
    if (rule->model.link == TACIT_LINALG_LOGISTIC)
        tacit_text_add(text, "With the logistic link the model is a linear one, and its confidence "
                             "radius is not proven. ");
    double const each = slots * rule->model.client_count / rule->model.dimension;
    tacit_text_add(text, "The noise weighs as much as ");
    tacit_text_add_u64(text, (uint64_t)ceil(rule->shift));
    tacit_text_add(text, " interactions a dimension; this run has ");
    tacit_text_add_u64(text, (uint64_t)floor(each));
    tacit_text_add(text, each < rule->shift ? ": it is little better than random play. " : ". ");
    tacit_text_add(text, "With as many slots it is worth while from ");
    tacit_text_add_u64(text, tacit_glm_private_clients_min(rule, horizon));
    tacit_text_add(text, " clients on.");
}

struct tacit_promise_mechanism tacit_glm_private_promise(const struct tacit_glm_private_rule *rule)
{
    TACIT_ASSERT(rule->rho_nano > 0);
    return (struct tacit_promise_mechanism){.noise = TACIT_NOISE_GAUSSIAN,
                                            .of = TACIT_PROTECTED_INTERACTION,
                                            .leaving = TACIT_LEAVING_MOMENTS,
                                            .epsilon_nano = tacit_nano_up(rule->model.epsilon),
                                            .delta_nano = tacit_nano_up(rule->model.delta),
                                            .rho_nano = rule->rho_nano};
}
