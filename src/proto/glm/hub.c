/* The hub: when an update is due it freezes the clients' samples, adds up their matrices, optimises
 * with their gradients (Alg. 3), and commits the model. One slot a client and round; sums are in
 * the order of clients, whoever answered first. */
#include <math.h>
#include <string.h>
#include "../round/pauses.h"
#include "internal.h"

#define NEWTON_TOLERANCE 1e-9 /* norm of the gradient of the sum of losses, one-ucb */
#define TRACE_SLACK 1e-9
#define AUTHORS_SHARE 0.1       /* of the step that is printed */
#define SEMIDEFINITE_SLACK 1e-9 /* times trace + 1: added to the diagonal before the factor */

enum phase {
    PHASE_IDLE,
    PHASE_FREEZING, /* waits for the A_i */
    PHASE_SUMMING,  /* waits for the gradients of a round */
    PHASE_BACKOFF,  /* a sync was abandoned; the next one waits */
    PHASE_HALTED    /* an update did not converge, or made no model */
};

struct tacit_glm_hub {
    struct tacit_glm_hub_config config;
    uint64_t now_us;
    struct round_resend resend; /* of the request */
    uint64_t deadline_us; /* when those who have not answered are dropped; end of a back-off */
    uint64_t slot;        /* t of the update under way */
    uint64_t slot_last;   /* t of the last commit */
    uint64_t count;       /* n of the update under way */
    uint64_t model_count; /* n of the last commit */
    uint64_t update_count;
    uint64_t aggregation_count;
    uint64_t abandoned_count;
    uint64_t digest;
    enum phase phase;
    uint32_t sync;    /* last commit */
    uint32_t current; /* the sync under way, or the last one tried */
    uint32_t attempt;
    uint32_t round;
    uint32_t answer_count;
    uint32_t participant_count;
    uint32_t last_round;  /* J of the last commit */
    double momentum;      /* v_j of Alg. 3 */
    double momentum_next; /* v_{j+1}, of the authors' descent */
    double norm;          /* Newton: of the gradient at the point that stands */
    double weight;        /* Newton: part of the direction that is tried */
    double squares;       /* v3: |z|^2 up to the last commit */
    double regret;        /* v3: squared gradient norms up to the last commit */
    double log_det;       /* of the commit, for receivers in this process */
    /* matrix M | pending M | steps M | inverse M | theta s | iterate s | ahead s | target s |
     * direction s | counts N | grams N P | gradients N d | hessians N P (one-ucb) |
     * participants W | answered W | committed W */
    double values[];
};

_Static_assert(sizeof(uint64_t) == sizeof(double), "counts and bits lie among doubles");

/* ---- Layout ---- */

static uint32_t dimension_of(const struct tacit_glm_hub *hub)
{
    return hub->config.model.dimension;
}

static uint32_t clients_of(const struct tacit_glm_hub *hub)
{
    return hub->config.model.client_count;
}

/* What its numbers begin with: matrices, then vectors. */
enum part {
    MATRIX,  /* A (V of variant 3) of the last commit */
    PENDING, /* the same of the update under way */
    STEPS,   /* variant 3: A of the online Newton steps */
    INVERSE, /* of MATRIX, for receivers in this process */
    THETA,
    ITERATE, /* theta^(j) of Alg. 3; the point that Newton tries */
    AHEAD,   /* vartheta^(j) of Alg. 3; the point that Newton stands on */
    TARGET,
    DIRECTION, /* Newton: the whole step */
    PARTS_END
};

static double *part_of(struct tacit_glm_hub *hub, enum part part)
{
    uint32_t const matrices = part < THETA ? part : THETA;
    TACIT_ASSERT(part <= PARTS_END);
    return hub->values + matrices * TACIT_LINALG_MATRIX(dimension_of(hub)) +
           (part - matrices) * TACIT_LINALG_STRIDE(dimension_of(hub));
}

static uint64_t *counts_of(struct tacit_glm_hub *hub)
{
    return (uint64_t *)(void *)part_of(hub, PARTS_END);
}

static double *gram_of(struct tacit_glm_hub *hub, uint32_t client)
{
    TACIT_ASSERT(client <= clients_of(hub));
    return part_of(hub, PARTS_END) + clients_of(hub) +
           client * TACIT_LINALG_PACKED(dimension_of(hub));
}

static double *gradient_of(struct tacit_glm_hub *hub, uint32_t client)
{
    TACIT_ASSERT(client <= clients_of(hub));
    return gram_of(hub, clients_of(hub)) + (size_t)client * dimension_of(hub);
}

static double *hessian_of(struct tacit_glm_hub *hub, uint32_t client)
{
    TACIT_ASSERT(client <= clients_of(hub));
    return gradient_of(hub, clients_of(hub)) + client * TACIT_LINALG_PACKED(dimension_of(hub));
}

/* Sets of clients: who is asked in this update (participants), who of them has answered, and who
 * was asked for the model that stands (committed). */
static uint64_t *bits_at(struct tacit_glm_hub *hub, uint32_t index)
{
    TACIT_ASSERT(index < 3);
    bool const has_hessians = hub->config.model.variant == TACIT_GLM_ONE_UCB;
    double *const start = hessian_of(hub, has_hessians ? clients_of(hub) : 0);
    return (uint64_t *)(void *)start + index * TACIT_BITS_WORDS(clients_of(hub));
}

static uint64_t *participants_of(struct tacit_glm_hub *hub)
{
    return bits_at(hub, 0);
}

static uint64_t *answered_of(struct tacit_glm_hub *hub)
{
    return bits_at(hub, 1);
}

static uint64_t *committed_of(struct tacit_glm_hub *hub)
{
    return bits_at(hub, 2);
}

static bool needs_all(enum tacit_glm_variant variant)
{
    return variant == TACIT_GLM_V3; /* its sums are differences between updates */
}

static bool config_is_valid(const struct tacit_glm_hub_config *config)
{
    uint64_t const longest = TACIT_GLM_PAUSE_US_MAX;
    return tacit_glm_model_is_valid(&config->model) &&
           config->quorum <= config->model.client_count && config->resend_after_us > 0 &&
           config->resend_after_us <= longest && config->deadline_us <= longest &&
           config->backoff_us <= longest;
}

size_t tacit_glm_hub_size(const struct tacit_glm_hub_config *config)
{
    if (!config_is_valid(config))
        return 0;
    size_t const d = config->model.dimension;
    size_t const clients = config->model.client_count;
    size_t const packed = TACIT_LINALG_PACKED(d);
    size_t const each = 1 + packed + d + (config->model.variant == TACIT_GLM_ONE_UCB ? packed : 0);
    size_t const values = 4 * TACIT_LINALG_MATRIX(d) + 5 * TACIT_LINALG_STRIDE(d) + clients * each +
                          3 * TACIT_BITS_WORDS(clients);
    return sizeof(struct tacit_glm_hub) + values * sizeof(double);
}

static uint32_t quorum_of(const struct tacit_glm_hub *hub)
{
    TACIT_ASSERT(hub->config.quorum <= clients_of(hub));
    bool const is_all = hub->config.quorum == 0 || needs_all(hub->config.model.variant);
    return is_all ? clients_of(hub) : hub->config.quorum;
}

enum tacit_status tacit_glm_hub_init(struct tacit_glm_hub *hub,
                                     const struct tacit_glm_hub_config *config)
{
    size_t const size = tacit_glm_hub_size(config);
    if (size == 0)
        return TACIT_INVALID;
    memset(hub, 0, size);
    hub->config = *config;
    hub->resend.due_us = TACIT_NEVER;
    hub->deadline_us = TACIT_NEVER;
    double const base = glm_base(&hub->config.model);
    tacit_linalg_identity(dimension_of(hub), base, part_of(hub, MATRIX));
    tacit_linalg_identity(dimension_of(hub), base, part_of(hub, STEPS));
    return TACIT_OK;
}

/* ---- Messages out ---- */

static void begin_message(struct tacit_glm_hub *hub, enum tacit_glm_message_kind kind, uint32_t to,
                          struct tacit_glm_update *update)
{
    TACIT_ASSERT(!update->send);
    TACIT_ASSERT(to == TACIT_EVERYONE || to < clients_of(hub));
    update->send = true;
    update->message = (struct tacit_glm_message){.kind = kind,
                                                 .from = TACIT_HUB,
                                                 .to = to,
                                                 .run_id = hub->config.model.run_id,
                                                 .sync = hub->current,
                                                 .attempt = hub->attempt};
}

static void send_request(struct tacit_glm_hub *hub, uint32_t to, struct tacit_glm_update *update)
{
    TACIT_ASSERT(hub->phase == PHASE_FREEZING || hub->phase == PHASE_SUMMING);
    if (hub->phase == PHASE_FREEZING) {
        begin_message(hub, TACIT_GLM_FREEZE, to, update);
        return;
    }
    begin_message(hub, TACIT_GLM_ITERATE, to, update);
    update->message.round = hub->round;
    update->message.digest = hub->digest;
    if (glm_iterates(hub->config.model.variant))
        update->message.vector = part_of(hub, ITERATE);
}

static void send_commit(struct tacit_glm_hub *hub, uint32_t to, struct tacit_glm_update *update)
{
    TACIT_ASSERT(hub->sync > 0);
    TACIT_ASSERT(hub->update_count > 0);
    enum tacit_glm_variant const variant = hub->config.model.variant;
    begin_message(hub, TACIT_GLM_COMMIT, to, update);
    struct tacit_glm_message *const message = &update->message;
    message->sync = hub->sync;
    message->attempt = 0;
    message->round = hub->last_round;
    message->slot = hub->slot_last;
    message->count = hub->model_count;
    message->participants = committed_of(hub);
    message->matrix = part_of(hub, MATRIX);
    message->inverse = part_of(hub, INVERSE);
    message->log_det = hub->log_det;
    if (variant != TACIT_GLM_DISLINUCB)
        message->vector = part_of(hub, THETA);
    if (glm_steps_online(variant) || variant == TACIT_GLM_DISLINUCB)
        message->target = part_of(hub, TARGET);
    if (variant == TACIT_GLM_V3) {
        message->steps = part_of(hub, STEPS);
        message->squares = hub->squares;
        message->regret = hub->regret;
    }
}

/* ---- Phases ---- */

/* Everybody who is asked has the full time. */
static void set_timers(struct tacit_glm_hub *hub)
{
    TACIT_ASSERT(hub->config.resend_after_us > 0);
    hub->resend = (struct round_resend){.due_us = hub->now_us + hub->config.resend_after_us};
    hub->deadline_us =
        hub->config.deadline_us > 0 ? hub->now_us + hub->config.deadline_us : TACIT_NEVER;
}

static void clear_answers(struct tacit_glm_hub *hub)
{
    memset(answered_of(hub), 0, TACIT_BITS_WORDS(clients_of(hub)) * sizeof(uint64_t));
    hub->answer_count = 0;
}

/* An attempt begins, with everybody. */
static void ask_to_freeze(struct tacit_glm_hub *hub, struct tacit_glm_update *update)
{
    hub->phase = PHASE_FREEZING;
    hub->round = 0;
    tacit_bits_fill(participants_of(hub), clients_of(hub));
    hub->participant_count = clients_of(hub);
    clear_answers(hub);
    set_timers(hub);
    update->persist = true;
    send_request(hub, TACIT_EVERYONE, update);
}

static void begin_sync(struct tacit_glm_hub *hub, uint64_t slot, struct tacit_glm_update *update)
{
    TACIT_ASSERT(hub->current < UINT32_MAX);
    hub->current++;
    hub->attempt = 1;
    hub->slot = slot;
    ask_to_freeze(hub, update);
}

static void begin_round(struct tacit_glm_hub *hub, struct tacit_glm_update *update)
{
    TACIT_ASSERT(hub->phase == PHASE_SUMMING);
    TACIT_ASSERT(hub->round < TACIT_GLM_ROUNDS_MAX);
    hub->round++;
    hub->digest = glm_digest(part_of(hub, ITERATE), dimension_of(hub));
    clear_answers(hub);
    set_timers(hub);
    send_request(hub, TACIT_EVERYONE, update);
}

/* Without a quorum, or without data: the next sync begins after a pause. */
static void abandon(struct tacit_glm_hub *hub, struct tacit_glm_update *update)
{
    TACIT_ASSERT(hub->phase == PHASE_FREEZING || hub->phase == PHASE_SUMMING);
    hub->phase = PHASE_BACKOFF;
    hub->abandoned_count++;
    hub->resend.due_us = TACIT_NEVER;
    hub->deadline_us = hub->now_us + hub->config.backoff_us;
    update->persist = true;
}

/* Alg. 1 l. 12 with the cumulative A_i of those who take part; and the start of Alg. 3. */
static void begin_rounds(struct tacit_glm_hub *hub, struct tacit_glm_update *update)
{
    TACIT_ASSERT(hub->participant_count >= 1);
    TACIT_ASSERT(hub->answer_count == hub->participant_count);
    struct tacit_glm_model const *const model = &hub->config.model;
    uint32_t const d = model->dimension;
    hub->phase = PHASE_SUMMING;
    hub->count = 0;
    tacit_linalg_identity(d, glm_base(model), part_of(hub, PENDING));
    for (uint32_t i = 0; i < clients_of(hub); i++) {
        if (!tacit_bits_has(participants_of(hub), i))
            continue;
        hub->count += counts_of(hub)[i];
        tacit_linalg_add_packed(d, gram_of(hub, i), part_of(hub, PENDING));
    }
    if (hub->count == 0) { /* whoever asked for it is lost, and the others have nothing yet */
        abandon(hub, update);
        return;
    }
    size_t const vector = TACIT_LINALG_STRIDE(d) * sizeof(double);
    memcpy(part_of(hub, ITERATE), part_of(hub, THETA), vector);
    if (model->start == TACIT_GLM_START_ZERO)
        memset(part_of(hub, ITERATE), 0, vector);
    memcpy(part_of(hub, AHEAD), part_of(hub, ITERATE), vector);
    /* v_1 = (1 + sqrt(1 + 0))/2; the authors' first round is that of v_0, and moves nothing. */
    hub->momentum = model->descent == TACIT_GLM_AUTHORS ? 0.0 : 1.0;
    hub->momentum_next = 1.0;
    hub->norm = INFINITY;
    hub->weight = 1.0;
    hub->round = 0;
    begin_round(hub, update);
}

/* ---- The end of an update ---- */

/* Errors: TACIT_INVALID, what clients said adds up to no matrix that decides. */
static enum tacit_status commit(struct tacit_glm_hub *hub, enum tacit_linalg_path path,
                                struct tacit_glm_update *update)
{
    TACIT_ASSERT(hub->phase == PHASE_SUMMING);
    TACIT_ASSERT(hub->current > hub->sync);
    TACIT_ASSERT(hub->round >= 1);
    if (!glm_derive(&hub->config.model, path, part_of(hub, PENDING), part_of(hub, INVERSE),
                    &hub->log_det))
        return TACIT_INVALID;
    memcpy(part_of(hub, MATRIX), part_of(hub, PENDING),
           TACIT_LINALG_MATRIX(dimension_of(hub)) * sizeof(double));
    memcpy(committed_of(hub), participants_of(hub),
           TACIT_BITS_WORDS(clients_of(hub)) * sizeof(uint64_t));
    hub->phase = PHASE_IDLE;
    hub->sync = hub->current;
    hub->slot_last = hub->slot;
    hub->model_count = hub->count;
    hub->last_round = hub->round;
    hub->update_count++;
    hub->aggregation_count += hub->round;
    hub->resend.due_us = TACIT_NEVER;
    hub->deadline_us = TACIT_NEVER;
    update->persist = true;
    send_commit(hub, TACIT_EVERYONE, update);
    return TACIT_OK;
}

/* b = (A - lambda/c I) theta (Lemma 2; READINGS P4.4). */
static void set_target(struct tacit_glm_hub *hub, enum tacit_linalg_path path)
{
    uint32_t const d = dimension_of(hub);
    tacit_linalg_multiply(path, d, part_of(hub, PENDING), part_of(hub, THETA),
                          part_of(hub, TARGET));
    tacit_linalg_add(d, -glm_base(&hub->config.model), part_of(hub, THETA), part_of(hub, TARGET));
}

/* The iterate is the model. */
static enum tacit_status accept_iterate(struct tacit_glm_hub *hub, enum tacit_linalg_path path,
                                        struct tacit_glm_update *update)
{
    memcpy(part_of(hub, THETA), part_of(hub, ITERATE), dimension_of(hub) * sizeof(double));
    set_target(hub, path);
    return commit(hub, path, update);
}

/* ---- One round of each kind; sum is that of the clients' gradients ---- */

/* Alg. 3 l. 5: the step, for the averaged objective. */
static double step_of(const struct tacit_glm_model *model, double n)
{
    if (model->descent == TACIT_GLM_AUTHORS)
        return AUTHORS_SHARE / (model->lipschitz + model->lambda / n);
    double const longest = model->context_bound * model->context_bound;
    return 1.0 / (model->lipschitz * longest + model->lambda / n);
}

/* gamma_j; v_j becomes v_{j+1}. */
static double turn_momentum(struct tacit_glm_hub *hub)
{
    double const now = hub->momentum;
    double const after = 0.5 * (1.0 + sqrt(1.0 + 4.0 * now * now));
    bool const is_printed = hub->config.model.descent == TACIT_GLM_PRINTED;
    hub->momentum = is_printed ? after : hub->momentum_next;
    hub->momentum_next = after;
    TACIT_ASSERT(hub->momentum >= 1);
    return (1.0 - now) / hub->momentum;
}

/* Alg. 3 l. 5, for the averaged objective; the point whose gradient passes is the result. */
static enum tacit_status accelerate(struct tacit_glm_hub *hub, enum tacit_linalg_path path,
                                    double *sum, struct tacit_glm_update *update)
{
    TACIT_ASSERT(hub->momentum >= 0);
    struct tacit_glm_model const *const model = &hub->config.model;
    uint32_t const d = model->dimension;
    double const n = (double)hub->count;
    tacit_linalg_add(d, model->lambda, part_of(hub, ITERATE), sum);
    double const norm = sqrt(tacit_linalg_dot(path, d, sum, sum)) / n;
    if (norm <= tacit_glm_gradient_norm(model, hub->count) || hub->round == model->rounds)
        return accept_iterate(hub, path, update);
    if (hub->round == TACIT_GLM_ROUNDS_MAX)
        return TACIT_INVALID;
    double const step = step_of(model, n);
    double const mix = turn_momentum(hub);
    for (uint32_t i = 0; i < d; i++) {
        double const ahead = part_of(hub, ITERATE)[i] - step * (sum[i] / n);
        part_of(hub, ITERATE)[i] = (1.0 - mix) * ahead + mix * part_of(hub, AHEAD)[i];
        part_of(hub, AHEAD)[i] = ahead;
    }
    TACIT_ASSERT(step > 0);
    begin_round(hub, update);
    return TACIT_OK;
}

/* The direction at the point that was just taken. Errors: TACIT_INVALID, there is none. */
static enum tacit_status turn_newton(struct tacit_glm_hub *hub, enum tacit_linalg_path path,
                                     const double *sum)
{
    uint32_t const d = dimension_of(hub);
    double m[TACIT_LINALG_MATRIX_MAX];
    double factor[TACIT_LINALG_MATRIX_MAX];
    double reciprocal[TACIT_LINALG_VECTOR_MAX];
    tacit_linalg_identity(d, hub->config.model.lambda, m);
    for (uint32_t i = 0; i < clients_of(hub); i++)
        if (tacit_bits_has(participants_of(hub), i))
            tacit_linalg_add_packed(d, hessian_of(hub, i), m);
    if (!tacit_linalg_cholesky(path, d, m, 0, factor, reciprocal))
        return TACIT_INVALID;
    memcpy(part_of(hub, AHEAD), part_of(hub, ITERATE), d * sizeof(double));
    memcpy(part_of(hub, DIRECTION), sum, d * sizeof(double));
    tacit_linalg_solve(d, factor, reciprocal, part_of(hub, DIRECTION));
    return TACIT_OK;
}

/* Newton's method on everybody's data, damped as in tacit_linalg_newton. */
static enum tacit_status newton(struct tacit_glm_hub *hub, enum tacit_linalg_path path, double *sum,
                                struct tacit_glm_update *update)
{
    TACIT_ASSERT(hub->weight > 0);
    struct tacit_glm_model const *const model = &hub->config.model;
    uint32_t const d = model->dimension;
    tacit_linalg_add(d, model->lambda, part_of(hub, ITERATE), sum);
    double const norm = sqrt(tacit_linalg_dot(path, d, sum, sum));
    if (norm <= NEWTON_TOLERANCE)
        return accept_iterate(hub, path, update);
    if (hub->round == TACIT_GLM_ROUNDS_MAX)
        return TACIT_INVALID;
    if (norm < hub->norm) {
        TACIT_TRY(turn_newton(hub, path, sum));
        hub->norm = norm;
        hub->weight = 1.0;
    } else {
        hub->weight *= 0.5;
    }
    memcpy(part_of(hub, ITERATE), part_of(hub, AHEAD), d * sizeof(double));
    tacit_linalg_add(d, -hub->weight, part_of(hub, DIRECTION), part_of(hub, ITERATE));
    begin_round(hub, update);
    return TACIT_OK;
}

/* Alg. 6 l. 14. The new samples were predicted with theta_tlast: so their squares and b. */
static enum tacit_status step_lazily(struct tacit_glm_hub *hub, enum tacit_linalg_path path,
                                     const double *sum, struct tacit_glm_update *update)
{
    struct tacit_glm_model const *const model = &hub->config.model;
    uint32_t const d = model->dimension;
    double factor[TACIT_LINALG_MATRIX_MAX];
    double reciprocal[TACIT_LINALG_VECTOR_MAX];
    double before[TACIT_LINALG_VECTOR_MAX] = {0};
    double after[TACIT_LINALG_VECTOR_MAX] = {0};
    tacit_linalg_multiply(path, d, part_of(hub, MATRIX), part_of(hub, THETA), before);
    tacit_linalg_multiply(path, d, part_of(hub, PENDING), part_of(hub, THETA), after);
    tacit_linalg_add(d, -1.0, before, after); /* Delta V theta_tlast */
    tacit_linalg_add(d, 1.0, after, part_of(hub, TARGET));
    hub->squares += tacit_linalg_dot(path, d, part_of(hub, THETA), after);
    tacit_linalg_rank_one(path, d, 1.0, sum, part_of(hub, STEPS));
    if (!tacit_linalg_cholesky(path, d, part_of(hub, STEPS), 0, factor, reciprocal))
        return TACIT_INVALID;
    memcpy(before, sum, d * sizeof(double));
    tacit_linalg_solve(d, factor, reciprocal, before);
    hub->regret += tacit_linalg_dot(path, d, sum, before);
    tacit_linalg_add(d, -1.0 / glm_step_rate(model), before, part_of(hub, THETA));
    (void)tacit_linalg_project_ball(path, d, part_of(hub, STEPS), NULL, model->norm_bound,
                                    part_of(hub, THETA));
    return commit(hub, path, update);
}

/* All gradients are here: another round begins, or the update is committed. Errors:
 * TACIT_INVALID, it did not converge, or makes no model. */
static enum tacit_status close_round(struct tacit_glm_hub *hub, enum tacit_linalg_path path,
                                     struct tacit_glm_update *update)
{
    TACIT_ASSERT(hub->answer_count == hub->participant_count);
    TACIT_ASSERT(hub->round >= 1);
    uint32_t const d = dimension_of(hub);
    double sum[TACIT_LINALG_VECTOR_MAX] = {0};
    for (uint32_t i = 0; i < clients_of(hub); i++)
        if (tacit_bits_has(participants_of(hub), i))
            tacit_linalg_add(d, 1.0, gradient_of(hub, i), sum);
    switch (hub->config.model.variant) {
    case TACIT_GLM_FEDGLB:
    case TACIT_GLM_V1:
    case TACIT_GLM_V2:
        return accelerate(hub, path, sum, update);
    case TACIT_GLM_ONE_UCB:
        return newton(hub, path, sum, update);
    case TACIT_GLM_V3:
        return step_lazily(hub, path, sum, update);
    case TACIT_GLM_DISLINUCB:
        memcpy(part_of(hub, TARGET), sum, d * sizeof(double));
        return commit(hub, path, update);
    case TACIT_GLM_N_UCB:
    case TACIT_GLM_N_ONS:
    case TACIT_GLM_RANDOM:
        break;
    }
    TACIT_ASSERT(false); /* nobody asks for an update there */
    return TACIT_INVALID;
}

/* ---- Messages in ---- */

static void note_answer(struct tacit_glm_hub *hub, uint32_t client)
{
    hub->resend.unanswered_count = 0;
    TACIT_ASSERT(client < clients_of(hub));
    TACIT_ASSERT(hub->answer_count < hub->participant_count);
    TACIT_ASSERT(!tacit_bits_has(answered_of(hub), client));
    tacit_bits_add(answered_of(hub), client);
    hub->answer_count++;
}

/* Is this the first answer of a participant to the request that stands? */
static bool is_awaited(struct tacit_glm_hub *hub, const struct tacit_glm_message *message,
                       enum phase phase)
{
    TACIT_ASSERT(message->from < clients_of(hub));
    return hub->phase == phase && message->sync == hub->current &&
           message->attempt == hub->attempt && message->round == hub->round &&
           tacit_bits_has(participants_of(hub), message->from) &&
           !tacit_bits_has(answered_of(hub), message->from);
}

/* n_i contexts within their bound have such a sum of xx'. */
static bool is_gram(const struct tacit_glm_model *model, enum tacit_linalg_path path,
                    const double *m, uint64_t count)
{
    uint32_t const d = model->dimension;
    size_t const stride = TACIT_LINALG_STRIDE(d);
    if (!glm_is_finite(m, TACIT_LINALG_MATRIX(d)))
        return false;
    double trace = 0;
    for (uint32_t i = 0; i < d; i++)
        trace += m[i * stride + i];
    double const square = model->context_bound * model->context_bound;
    if (!(trace <= (double)count * square * (1.0 + TRACE_SLACK)))
        return false;
    double factor[TACIT_LINALG_MATRIX_MAX];
    double reciprocal[TACIT_LINALG_VECTOR_MAX];
    return tacit_linalg_cholesky(path, d, m, SEMIDEFINITE_SLACK * (1.0 + trace), factor,
                                 reciprocal);
}

static enum tacit_status on_frozen(struct tacit_glm_hub *hub, enum tacit_linalg_path path,
                                   const struct tacit_glm_message *message,
                                   struct tacit_glm_update *update)
{
    struct tacit_glm_model const *const model = &hub->config.model;
    if (!is_awaited(hub, message, PHASE_FREEZING))
        return TACIT_OK;
    if (message->matrix == NULL || message->count > model->horizon ||
        !is_gram(model, path, message->matrix, message->count))
        return TACIT_MALFORMED;
    counts_of(hub)[message->from] = message->count;
    tacit_linalg_pack(model->dimension, message->matrix, gram_of(hub, message->from));
    note_answer(hub, message->from);
    if (hub->answer_count == hub->participant_count)
        begin_rounds(hub, update);
    return TACIT_OK;
}

static enum tacit_status on_gradient(struct tacit_glm_hub *hub, enum tacit_linalg_path path,
                                     const struct tacit_glm_message *message,
                                     struct tacit_glm_update *update)
{
    struct tacit_glm_model const *const model = &hub->config.model;
    uint32_t const d = model->dimension;
    if (!is_awaited(hub, message, PHASE_SUMMING) || message->digest != hub->digest)
        return TACIT_OK;
    bool const has_hessian = model->variant == TACIT_GLM_ONE_UCB;
    if (message->vector == NULL || !glm_is_moderate(message->vector, d) ||
        has_hessian != (message->matrix != NULL))
        return TACIT_MALFORMED;
    if (has_hessian) {
        if (!glm_is_moderate(message->matrix, TACIT_LINALG_MATRIX(d)))
            return TACIT_MALFORMED;
        tacit_linalg_pack(d, message->matrix, hessian_of(hub, message->from));
    }
    memcpy(gradient_of(hub, message->from), message->vector, d * sizeof(double));
    note_answer(hub, message->from);
    if (hub->answer_count < hub->participant_count)
        return TACIT_OK;
    enum tacit_status const status = close_round(hub, path, update);
    if (status != TACIT_OK) {
        hub->phase = PHASE_HALTED;
        hub->resend.due_us = TACIT_NEVER;
        hub->deadline_us = TACIT_NEVER;
        update->persist = true;
    }
    return status;
}

/* A client that is behind gets the commit again; another one what is asked now. */
static void answer(struct tacit_glm_hub *hub, const struct tacit_glm_message *message,
                   struct tacit_glm_update *update)
{
    if (message->sync < hub->sync)
        send_commit(hub, message->from, update);
    else if (hub->phase == PHASE_FREEZING || hub->phase == PHASE_SUMMING)
        send_request(hub, message->from, update);
}

static enum tacit_status on_receive(struct tacit_glm_hub *hub, const struct tacit_glm_event *event,
                                    struct tacit_glm_update *update)
{
    const struct tacit_glm_message *const message = event->as.message;
    if (message->run_id != hub->config.model.run_id || message->to != TACIT_HUB ||
        message->from >= clients_of(hub))
        return TACIT_STRANGER;
    switch (message->kind) {
    case TACIT_GLM_TRIGGER:
        if (message->sync == hub->sync && hub->phase == PHASE_IDLE)
            begin_sync(hub, message->slot, update);
        else
            answer(hub, message, update);
        return TACIT_OK;
    case TACIT_GLM_HELLO:
        answer(hub, message, update);
        return TACIT_OK;
    case TACIT_GLM_FROZEN:
        return on_frozen(hub, event->path, message, update);
    case TACIT_GLM_GRADIENT:
        return on_gradient(hub, event->path, message, update);
    case TACIT_GLM_FREEZE:
    case TACIT_GLM_ITERATE:
    case TACIT_GLM_COMMIT:
        return TACIT_MALFORMED;
    }
    return TACIT_MALFORMED;
}

/* ---- Time ---- */

/* Those who have not answered are dropped: the next attempt is without them, or none is. */
static void drop_silent(struct tacit_glm_hub *hub, struct tacit_glm_update *update)
{
    TACIT_ASSERT(hub->phase == PHASE_FREEZING || hub->phase == PHASE_SUMMING);
    if (hub->answer_count < quorum_of(hub)) {
        abandon(hub, update);
        return;
    }
    memcpy(participants_of(hub), answered_of(hub),
           TACIT_BITS_WORDS(clients_of(hub)) * sizeof(uint64_t));
    hub->participant_count = hub->answer_count;
    if (hub->phase == PHASE_SUMMING)
        hub->attempt++;
    update->persist = true;
    begin_rounds(hub, update);
}

static void on_timeout(struct tacit_glm_hub *hub, struct tacit_glm_update *update)
{
    if (hub->deadline_us <= hub->now_us) {
        if (hub->phase == PHASE_BACKOFF)
            begin_sync(hub, hub->slot, update);
        else
            drop_silent(hub, update);
    } else if (hub->resend.due_us <= hub->now_us) {
        hub->resend.unanswered_count++;
        hub->resend.due_us =
            hub->now_us + round_pause_us(hub->config.resend_after_us, hub->resend.unanswered_count);
        send_request(hub, TACIT_EVERYONE, update);
    }
}

/* What was under way begins its next attempt, from the last commit. The pause of another clock is
 * made anew: by this one its end may be far. */
static void on_start(struct tacit_glm_hub *hub, bool has_new_clock, struct tacit_glm_update *update)
{
    if (has_new_clock && hub->phase == PHASE_BACKOFF)
        hub->deadline_us = hub->now_us + hub->config.backoff_us;
    if (hub->phase != PHASE_FREEZING && hub->phase != PHASE_SUMMING)
        return;
    hub->attempt++;
    ask_to_freeze(hub, update);
}

/* ---- Public ---- */

static void check_invariants(const struct tacit_glm_hub *hub)
{
    TACIT_ASSERT(hub->phase <= PHASE_HALTED);
    TACIT_ASSERT(hub->round <= TACIT_GLM_ROUNDS_MAX || hub->phase != PHASE_SUMMING);
    TACIT_ASSERT(hub->sync <= hub->current);
    TACIT_ASSERT(hub->answer_count <= hub->participant_count);
    TACIT_ASSERT(hub->participant_count <= hub->config.model.client_count);
    TACIT_IMPLIES(hub->phase == PHASE_SUMMING, hub->round >= 1);
}

static bool is_busy(enum phase phase)
{
    return phase == PHASE_FREEZING || phase == PHASE_SUMMING;
}

/* What a step has brought, from what was before. */
static uint32_t what_happened(const struct tacit_glm_hub *hub, const struct tacit_glm_hub *before)
{
    bool const is_smaller = is_busy(before->phase) && is_busy(hub->phase) &&
                            hub->participant_count < before->participant_count;
    uint32_t happened = hub->sync != before->sync ? TACIT_CLOSED_ROUND : 0;
    if (hub->phase == PHASE_HALTED && before->phase != PHASE_HALTED)
        happened |= TACIT_ENDED;
    if (is_smaller || hub->abandoned_count != before->abandoned_count)
        happened |= TACIT_GLM_WENT_WITHOUT;
    return happened;
}

enum tacit_status tacit_glm_hub_step(struct tacit_glm_hub *hub, const struct tacit_glm_event *event,
                                     struct tacit_glm_update *update)
{
    bool const is_start = event->kind == TACIT_EVENT_START; /* a new process has a new clock */
    TACIT_ASSERT(is_start || event->now_us >= hub->now_us);
    check_invariants(hub);
    memset(update, 0, sizeof *update);
    struct tacit_glm_hub const before = *hub; /* without its numbers */
    hub->now_us = event->now_us;
    enum tacit_status status = TACIT_OK;
    switch (event->kind) {
    case TACIT_EVENT_START:
        on_start(hub, event->now_us < before.now_us, update);
        break;
    case TACIT_EVENT_RECEIVE:
        status = on_receive(hub, event, update);
        break;
    case TACIT_EVENT_TIMEOUT:
        on_timeout(hub, update);
        break;
    case TACIT_EVENT_REWARD:
    case TACIT_EVENT_EXPLOITED:
    case TACIT_EVENT_OFFER:
        status = TACIT_INVALID;
        break;
    }
    if (status != TACIT_OK && hub->phase != PHASE_HALTED)
        hub->now_us = before.now_us;
    update->happened = what_happened(hub, &before);
    TACIT_IMPLIES(status == TACIT_OK, hub->now_us == event->now_us);
    TACIT_IMPLIES(hub->phase == PHASE_HALTED, hub->now_us == event->now_us);
    TACIT_IMPLIES(status != TACIT_OK, !update->send);
    TACIT_IMPLIES(update->send, update->message.from == TACIT_HUB);
    update->deadline_us =
        hub->deadline_us < hub->resend.due_us ? hub->deadline_us : hub->resend.due_us;
    check_invariants(hub);
    return status;
}

/* Whoever waits for nobody has no timer, and a matrix that decides has an inverse. */
static bool rest_is_possible(struct tacit_glm_hub *hub)
{
    bool const may_end = is_busy(hub->phase) || hub->phase == PHASE_BACKOFF;
    double inverse[TACIT_LINALG_MATRIX_MAX];
    return (is_busy(hub->phase) || hub->resend.due_us == TACIT_NEVER) &&
           (may_end || hub->deadline_us == TACIT_NEVER) &&
           tacit_linalg_inverse(TACIT_LINALG_PORTABLE, dimension_of(hub), part_of(hub, MATRIX),
                                inverse, NULL);
}

enum tacit_status tacit_glm_hub_check(const struct tacit_glm_hub *state, size_t size,
                                      const struct tacit_glm_hub_config *config)
{
    struct tacit_glm_hub *const hub = (struct tacit_glm_hub *)(uintptr_t)state;
    size_t const expected = tacit_glm_hub_size(config);
    if (expected == 0 || size != expected)
        return TACIT_MALFORMED;
    if (memcmp(&hub->config, config, sizeof *config) != 0)
        return TACIT_MALFORMED;
    uint32_t const clients = clients_of(hub);
    bool const counts_fit =
        hub->phase <= PHASE_HALTED && hub->sync <= hub->current && hub->current < UINT32_MAX &&
        (hub->sync > 0) == (hub->update_count > 0) && hub->participant_count <= clients &&
        hub->answer_count <= hub->participant_count &&
        tacit_bits_count(participants_of(hub), clients) == hub->participant_count &&
        tacit_bits_count(answered_of(hub), clients) == hub->answer_count &&
        tacit_bits_within(answered_of(hub), participants_of(hub), clients) &&
        (hub->phase != PHASE_SUMMING || (hub->round >= 1 && hub->round <= TACIT_GLM_ROUNDS_MAX));
    size_t const numbers =
        4 * TACIT_LINALG_MATRIX(dimension_of(hub)) + 5 * TACIT_LINALG_STRIDE(dimension_of(hub));
    bool const is_possible = counts_fit && glm_is_finite(hub->values, numbers) &&
                             glm_is_finite(&hub->squares, 3) && rest_is_possible(hub);
    return is_possible ? TACIT_OK : TACIT_MALFORMED;
}

void tacit_glm_hub_view(const struct tacit_glm_hub *state, struct tacit_glm_hub_view *view)
{
    struct tacit_glm_hub *const hub = (struct tacit_glm_hub *)(uintptr_t)state;
    *view = (struct tacit_glm_hub_view){.sync = hub->sync,
                                        .busy = is_busy(hub->phase),
                                        .backs_off = hub->phase == PHASE_BACKOFF,
                                        .halted = hub->phase == PHASE_HALTED,
                                        .attempt = hub->attempt,
                                        .round = hub->round,
                                        .update_count = hub->update_count,
                                        .aggregation_count = hub->aggregation_count,
                                        .abandoned_count = hub->abandoned_count,
                                        .model_count = hub->model_count,
                                        .theta = part_of(hub, THETA),
                                        .matrix = part_of(hub, MATRIX),
                                        .participants = participants_of(hub),
                                        .answered = answered_of(hub)};
}
