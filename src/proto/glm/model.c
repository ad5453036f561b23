/* The model of a federated generalised linear bandit: constants of the links, radii, bounds. */
#include <math.h>
#include <string.h>
#include "internal.h"

#define DEFAULT_LAMBDA 2.0
#define DEFAULT_DELTA 0.01
#define PRACTICAL_SCALE 0.1
#define POISSON_NOISE 6.0 /* at a mean of e, rewards above 6 e have probability 1e-8 */

struct tacit_linalg_mean tacit_glm_mean(const struct tacit_glm_model *model)
{
    return (struct tacit_linalg_mean){.link = model->link,
                                      .cap = model->norm_bound,
                                      .longest = model->context_bound * (1.0 + GLM_NORM_SLACK)};
}

void tacit_glm_link_constants(struct tacit_glm_model *model)
{
    struct tacit_linalg_mean const mean = tacit_glm_mean(model);
    double const edge = model->norm_bound;
    model->noise_bound = 0.5;
    model->lipschitz = tacit_linalg_slope(&mean, 0);
    model->curvature = tacit_linalg_slope(&mean, edge);
    if (model->link == TACIT_LINALG_POISSON) {
        model->lipschitz = tacit_linalg_exp(edge);
        model->curvature = tacit_linalg_exp(-edge);
        model->noise_bound = POISSON_NOISE * tacit_linalg_exp(edge);
    }
}

struct tacit_glm_model tacit_glm_model_init(enum tacit_glm_variant variant,
                                            enum tacit_linalg_link link, uint32_t client_count,
                                            uint32_t dimension, uint64_t horizon)
{
    struct tacit_glm_model model;
    memset(&model, 0, sizeof model);
    model.variant = variant;
    model.exploration = TACIT_GLM_PRACTICAL;
    model.link = link;
    model.client_count = client_count;
    model.dimension = dimension;
    model.horizon = horizon;
    model.period = client_count;
    model.threshold = 1.0;
    model.lambda = DEFAULT_LAMBDA;
    model.delta = DEFAULT_DELTA;
    model.norm_bound = 1.0;
    model.context_bound = 1.0;
    model.alpha = 1.0;
    tacit_glm_link_constants(&model);
    return model;
}

uint64_t tacit_glm_period(uint32_t client_count, uint64_t horizon, uint64_t updates)
{
    TACIT_ASSERT(client_count >= 1);
    TACIT_ASSERT(updates > 0);
    if (updates <= horizon)
        return client_count * (horizon / updates);
    uint64_t const period = client_count * horizon / updates;
    return period > 0 ? period : 1;
}

bool glm_is_scheduled(enum tacit_glm_variant variant)
{
    return variant == TACIT_GLM_V1 || variant == TACIT_GLM_V2 || variant == TACIT_GLM_V3 ||
           variant == TACIT_GLM_ONE_UCB;
}

bool glm_is_triggered(enum tacit_glm_variant variant)
{
    return variant == TACIT_GLM_FEDGLB || variant == TACIT_GLM_DISLINUCB;
}

bool glm_steps_online(enum tacit_glm_variant variant)
{
    return variant == TACIT_GLM_FEDGLB || variant == TACIT_GLM_V2 || variant == TACIT_GLM_V3 ||
           variant == TACIT_GLM_N_ONS;
}

bool glm_accelerates(enum tacit_glm_variant variant)
{
    return variant == TACIT_GLM_FEDGLB || variant == TACIT_GLM_V1 || variant == TACIT_GLM_V2;
}

bool glm_iterates(enum tacit_glm_variant variant)
{
    return glm_accelerates(variant) || variant == TACIT_GLM_ONE_UCB;
}

bool glm_is_positive(double x)
{
    return x > 0 && x <= 1e150;
}

static bool kinds_are_valid(const struct tacit_glm_model *model)
{
    bool const is_proved = model->exploration == TACIT_GLM_PROOF && model->variant == TACIT_GLM_V3;
    return model->variant <= TACIT_GLM_RANDOM &&
           (model->exploration <= TACIT_GLM_CONSTANT || is_proved) &&
           model->clock <= TACIT_GLM_COUNTS && model->link <= TACIT_LINALG_IDENTITY &&
           model->descent <= TACIT_GLM_AUTHORS && model->start <= TACIT_GLM_START_ZERO &&
           model->rounds <= TACIT_GLM_ROUNDS_MAX;
}

bool tacit_glm_model_is_valid(const struct tacit_glm_model *model)
{
    return kinds_are_valid(model) && model->client_count >= 1 &&
           model->client_count <= TACIT_AGENTS_MAX && model->dimension >= 1 &&
           model->dimension <= TACIT_LINALG_DIMENSION_MAX && model->horizon >= 1 &&
           model->horizon <= TACIT_HORIZON_MAX &&
           (!glm_is_scheduled(model->variant) || model->period >= 1) &&
           (!glm_is_triggered(model->variant) || glm_is_positive(model->threshold)) &&
           glm_is_positive(model->lambda) && glm_is_positive(model->delta) && model->delta < 1 &&
           glm_is_positive(model->norm_bound) && glm_is_positive(model->context_bound) &&
           glm_is_positive(model->noise_bound) && glm_is_positive(model->lipschitz) &&
           glm_is_positive(model->curvature) && model->alpha >= 0 && model->alpha <= 1e150 &&
           model->suboptimality >= 0 && model->suboptimality <= 1e150 && model->explore >= 0 &&
           model->explore <= 1;
}

/* ---- Radii ---- */

/* Alg. 1 l. 2. */
double glm_base(const struct tacit_glm_model *model)
{
    TACIT_ASSERT(model->curvature > 0);
    return glm_accelerates(model->variant) ? model->lambda / model->curvature : model->lambda;
}

bool glm_derive(const struct tacit_glm_model *model, enum tacit_linalg_path path,
                const double *matrix, double *inverse, double *log_det)
{
    uint32_t const d = model->dimension;
    double factor[TACIT_LINALG_MATRIX_MAX];
    double reciprocal[TACIT_LINALG_VECTOR_MAX];
    TACIT_ASSERT(matrix != inverse);
    if (!tacit_linalg_inverse(path, d, matrix, inverse, NULL) ||
        !tacit_linalg_cholesky(path, d, matrix, 1.0 - glm_base(model), factor, reciprocal))
        return false;
    *log_det = tacit_linalg_log_det(d, factor);
    return true;
}

double glm_step_rate(const struct tacit_glm_model *model)
{
    if (model->variant != TACIT_GLM_V3)
        return model->curvature;
    double const square =
        model->lipschitz * model->lipschitz * model->norm_bound * model->norm_bound +
        model->noise_bound * model->noise_bound; /* G^2 */
    double const single = 1.0 / (4.0 * model->norm_bound * sqrt(square));
    double const batch = model->curvature / (square * (double)model->period);
    return 0.5 * (single < batch ? single : batch);
}

double tacit_glm_suboptimality(const struct tacit_glm_model *model, uint64_t n)
{
    TACIT_ASSERT(n > 0);
    if (model->suboptimality > 0)
        return model->suboptimality;
    return 1.0 / ((double)n * (double)n);
}

double tacit_glm_gradient_norm(const struct tacit_glm_model *model, uint64_t n)
{
    TACIT_ASSERT(n > 0);
    return sqrt(2.0 * model->lambda * tacit_glm_suboptimality(model, n) / (double)n);
}

double tacit_glm_radius(const struct tacit_glm_model *model, uint64_t n)
{
    TACIT_ASSERT(model->curvature > 0);
    TACIT_ASSERT(model->lambda > 0);
    double const c = model->curvature;
    double const lambda = model->lambda;
    double const d = model->dimension;
    double const count = (double)n;
    double const spread =
        d * tacit_linalg_log1p(count * c / (d * lambda)) - 2.0 * tacit_linalg_log(model->delta);
    double radius = model->noise_bound / c * sqrt(spread) + sqrt(lambda / c) * model->norm_bound;
    if (n > 0) /* nothing was optimised before the first update */
        radius += count * sqrt(2.0 * model->lipschitz / (lambda * c) + 2.0 / (count * c)) *
                  sqrt(tacit_glm_suboptimality(model, n));
    return radius;
}

double glm_fixed_square(const struct tacit_glm_model *model, uint64_t n, double log_det,
                        double theta_norm)
{
    TACIT_ASSERT(log_det >= 0);
    TACIT_ASSERT(theta_norm >= 0);
    double const c = model->curvature;
    double const r = model->noise_bound;
    double const s = model->norm_bound;
    double b1 = 0.5 * model->lambda * s * s;
    if (n > 0)
        b1 += (double)n * tacit_glm_suboptimality(model, n);
    double const level = 0.5 * log_det - tacit_linalg_log(model->delta);
    return 8.0 * r * r / (c * c) * level + b1 +
           4.0 * r / c * sqrt(2.0 * level) * (theta_norm + s + sqrt(b1)) + 1.0 +
           model->lambda / c * s * s;
}

/* 8 R^2/c^2 log(ways/delta sqrt(4 + 8 B/c + 64 Q/(4 c^4 delta^2))) + 4 B/c. Q is R^4 in Lemma 2
 * and (11), and R^2 as Lemma 14 is printed. */
static double online_terms(const struct tacit_glm_model *model, double bound, double ways)
{
    bool const is_lemma_14 =
        model->variant == TACIT_GLM_V3 && model->exploration == TACIT_GLM_THEORY;
    TACIT_ASSERT(bound >= 0);
    TACIT_ASSERT(ways >= 1);
    double const c = model->curvature;
    double const r = model->noise_bound;
    double const power = is_lemma_14 ? r * r : r * r * r * r;
    double const inner =
        4.0 + 8.0 / c * bound + 16.0 * power / ((c * c * c * c) * model->delta * model->delta);
    return 8.0 * r * r / (c * c) *
               (tacit_linalg_log(ways / model->delta) + 0.5 * tacit_linalg_log(inner)) +
           4.0 * bound / c;
}

double glm_fedglb_square(const struct tacit_glm_model *model, double fixed, double model_radius,
                         double regret, double squares, double fit)
{
    double const c = model->curvature;
    double const b2 = regret / (2.0 * c) + 0.5 * c * model_radius * model_radius;
    return fixed + online_terms(model, b2, model->client_count) - squares + fit;
}

double glm_online_square(const struct tacit_glm_model *model, double regret, double squares,
                         double fit)
{
    double const rate = glm_step_rate(model);
    double const s = model->norm_bound;
    double const bound = regret / (2.0 * rate) + 2.0 * rate * model->lambda * s * s;
    double const ways = model->variant == TACIT_GLM_V3 ? model->client_count : 1.0;
    return model->lambda * s * s + 1.0 + online_terms(model, bound, ways) - squares + fit;
}

double glm_ucb_radius(const struct tacit_glm_model *model, uint64_t n)
{
    double const count = n > 0 ? (double)n : 1.0;
    double const d = model->dimension;
    return model->noise_bound / model->curvature *
           sqrt(0.5 * d * tacit_linalg_log1p(2.0 * count / d) - tacit_linalg_log(model->delta));
}

double glm_linear_radius(const struct tacit_glm_model *model, uint64_t n)
{
    TACIT_ASSERT(model->lambda > 0);
    double const d = model->dimension;
    double const spread = d * tacit_linalg_log1p((double)n / (d * model->lambda)) -
                          2.0 * tacit_linalg_log(model->delta);
    return model->noise_bound * sqrt(spread) + sqrt(model->lambda) * model->norm_bound;
}

double glm_exploration_scale(const struct tacit_glm_model *model)
{
    bool const is_scaled =
        model->exploration == TACIT_GLM_PRACTICAL && glm_steps_online(model->variant);
    return is_scaled ? PRACTICAL_SCALE : 1.0;
}

/* ---- Bounds ---- */

double tacit_glm_updates_bound(const struct tacit_glm_model *model)
{
    TACIT_ASSERT(model->horizon >= 1);
    double const slots = (double)model->horizon;
    double const observations = slots * model->client_count;
    if (glm_is_scheduled(model->variant))
        return floor(observations / (double)model->period);
    if (!glm_is_triggered(model->variant))
        return 0;
    double const d = model->dimension;
    double const square = model->context_bound * model->context_bound;
    double const growth = d * tacit_linalg_log1p(observations * square / (glm_base(model) * d));
    double const length = sqrt(model->threshold * slots / growth);
    return ceil(slots / length) + ceil(growth * length / model->threshold);
}

double tacit_glm_rounds_bound(const struct tacit_glm_model *model, uint64_t n, double distance)
{
    TACIT_ASSERT(n > 0);
    TACIT_ASSERT(distance >= 0);
    double const count = (double)n;
    double const smooth = model->lipschitz + 2.0 * model->lambda / count;
    double const ratio = smooth * distance * distance / (2.0 * tacit_glm_suboptimality(model, n));
    double const logarithm = ratio > 1 ? tacit_linalg_log(ratio) : 0;
    return 1.0 + sqrt(model->lipschitz / model->lambda * count + 1.0) * logarithm;
}

/* ---- Expansions of gradients (client.c) ---- */

#define EXPANSION_ERROR 1e-12       /* of a sample's gradient, whose length is 1 at most */
#define EXPANSION_ERROR_SHARE 1e-3  /* of the norm at which the rounds end */
#define ANCHOR_ROUND_MIN 13u        /* AGD's first swing ends near the optimum */
#define ANCHOR_ROUND_PER_SQUARE 12u /* an expansion costs about d(d + 1)/12 gradients */

uint64_t glm_expansion_least(const struct tacit_glm_model *model)
{
    return (uint64_t)model->dimension * model->dimension;
}

size_t glm_expansion_count(const struct tacit_glm_model *model)
{
    bool const fits = model->dimension <= TACIT_LINALG_EXPANSION_DIMENSION_MAX &&
                      model->horizon >= glm_expansion_least(model);
    return glm_accelerates(model->variant) && fits && model->link == TACIT_LINALG_LOGISTIC
               ? TACIT_LINALG_EXPANSION(model->dimension)
               : 0;
}

double glm_expansion_tolerance(const struct tacit_glm_model *model)
{
    uint64_t const most = model->client_count * model->horizon;
    double const share = EXPANSION_ERROR_SHARE * tacit_glm_gradient_norm(model, most);
    return share < EXPANSION_ERROR ? share : EXPANSION_ERROR;
}

bool glm_is_anchor_round(const struct tacit_glm_model *model, uint32_t round)
{
    uint32_t const d = model->dimension;
    uint32_t const cost = d * (d + 1) / ANCHOR_ROUND_PER_SQUARE;
    uint32_t const first = cost > ANCHOR_ROUND_MIN ? cost : ANCHOR_ROUND_MIN;
    uint32_t const times = round / first;
    return round % first == 0 && times > 0 && (times & (times - 1)) == 0;
}

/* ---- Small things ---- */

static bool are_within(const double *values, size_t count, double most)
{
    TACIT_ASSERT(values != NULL);
    for (size_t i = 0; i < count; i++)
        if (!(fabs(values[i]) <= most))
            return false;
    return true;
}

bool glm_is_finite(const double *values, size_t count)
{
    return are_within(values, count, 1e300);
}

bool glm_is_moderate(const double *values, size_t count)
{
    return are_within(values, count, 1e75);
}

/* Multiplication by an odd number and a shift, a word at a time: tells iterates apart, no more. */
uint64_t glm_digest(const double *values, size_t count)
{
    TACIT_ASSERT(values != NULL);
    uint64_t digest = UINT64_C(0x9e3779b97f4a7c15);
    for (size_t i = 0; i < count; i++) {
        uint64_t word;
        memcpy(&word, &values[i], sizeof word);
        digest = (digest ^ word) * UINT64_C(0xff51afd7ed558ccd);
        digest ^= digest >> 32;
    }
    return digest;
}
