/* The private linear bandit in disorder: releases and models are lost, come twice, late, in any
 * order or damaged; entropy ends at any draw; batches close late or out of turn. A step that is
 * refused leaves no trace, and the digest knows each step. */
#include <math.h>
#include "../support/testing.h"
#include "../support/digest.h"
#include "../support/glm_driver.h"
#include "../support/scarce.h"
#include "tacit/glm_private.h"

/* Of all steps below: digest.h. */
DIGEST_IS(UINT64_C(0x1a1c1fc6c961fe4f))

#define CLIENTS_MAX 4u
#define DIMENSION_MAX 5u
#define ARMS 4u
#define ENVELOPES 16u
#define TURNS 150u
#define VECTOR TACIT_LINALG_STRIDE(DIMENSION_MAX)
#define MATRIX TACIT_LINALG_MATRIX(DIMENSION_MAX)
#define SUMS TACIT_GLM_PRIVATE_SUMS(DIMENSION_MAX)

/* A message on its way, with all that it points to. */
struct envelope {
    struct tacit_glm_private_message said;
    int64_t sums[SUMS + 1];
    double theta[VECTOR + 1];
    double matrix[MATRIX + 1];
    double inverse[MATRIX + 1];
};

/* Nodes: the clients, and behind them the hub. */
struct world {
    struct tacit_glm_private_rule rule;
    void *state[CLIENTS_MAX + 1];
    void *before;
    struct tacit_rng rng;
    uint32_t envelope_count;
    struct envelope envelopes[ENVELOPES];
};

static uint32_t hub_of(const struct world *w)
{
    return w->rule.model.client_count;
}

static size_t size_of(const struct world *w, uint32_t node)
{
    return node == hub_of(w) ? tacit_glm_private_hub_size(&w->rule)
                             : tacit_glm_private_client_size(&w->rule);
}

/* ---- Models ---- */

static struct tacit_glm_private_model any_model(struct world *w, uint32_t kind)
{
    double const scales[] = {0.5, 1, 2};
    double const epsilons[] = {0.7, 3, 20};
    double const chances[] = {0.02, 0.3};
    uint64_t const batches[] = {1, 2, 9, 36, 40};
    struct tacit_glm_private_model model = {.run_id = 7};
    model.link = kind % 2 == 0 ? TACIT_LINALG_IDENTITY : TACIT_LINALG_LOGISTIC;
    model.exploration = (enum tacit_glm_exploration)(kind / 2 % 3);
    model.client_count = 1 + below(&w->rng, CLIENTS_MAX);
    model.dimension = 1 + below(&w->rng, DIMENSION_MAX);
    model.batch_count = batches[below(&w->rng, 5)];
    model.epsilon = one_of(&w->rng, epsilons, 3);
    model.delta = 1e-6 * one_of(&w->rng, scales, 3);
    model.failure = one_of(&w->rng, chances, 2);
    model.norm_bound = one_of(&w->rng, scales, 3);
    model.noise_bound = one_of(&w->rng, scales, 3);
    model.alpha = one_of(&w->rng, scales, 3);
    model.explore = below(&w->rng, 2) == 0 ? 0 : 0.3;
    return model;
}

static void digest_rule(const struct tacit_glm_private_rule *rule)
{
    char bytes[4096];
    uint64_t const words[] = {rule->is_flat, rule->level_count, rule->node_count, rule->rho_nano,
                              rule->node_rho_nano};
    digest_bytes(words, sizeof words);
    digest_real(rule->sd);
    digest_real(rule->shift);
    digest_real(rule->drift);
    for (uint64_t horizon = 1; horizon <= 1000000; horizon *= 100) {
        struct tacit_text text = tacit_text_init(bytes, sizeof bytes);
        digest_word(tacit_glm_private_clients_min(rule, horizon));
        tacit_glm_private_remark(rule, horizon, &text);
        digest_bytes(bytes, strlen(bytes));
    }
}

static void open_world(struct world *w, uint32_t kind)
{
    memset(w, 0, sizeof *w);
    w->rng = tacit_rng_stream(9, kind, 0, 1);
    struct tacit_glm_private_model const model = any_model(w, kind);
    assert_int_equal(tacit_glm_private_rule_init(&w->rule, &model), TACIT_OK);
    digest_rule(&w->rule);
    uint32_t const hub = hub_of(w);
    for (uint32_t i = 0; i <= hub; i++)
        w->state[i] = testing_malloc(size_of(w, i));
    for (uint32_t i = 0; i <= hub; i++) {
        enum tacit_status const status =
            tacit_glm_private_client_init(w->state[i < hub ? i : 0], &w->rule, i);
        assert_int_equal(status, i < hub ? TACIT_OK : TACIT_INVALID);
    }
    assert_int_equal(tacit_glm_private_hub_init(w->state[hub], &w->rule, hub + 1), TACIT_INVALID);
    assert_int_equal(tacit_glm_private_hub_init(w->state[hub], &w->rule, below(&w->rng, hub + 1)),
                     TACIT_OK);
    w->before = testing_malloc(size_of(w, 0) > size_of(w, hub) ? size_of(w, 0) : size_of(w, hub));
}

/* ---- Envelopes ---- */

static void write_envelope(const struct world *w, struct envelope *envelope,
                           const struct tacit_glm_private_message *said)
{
    uint32_t const d = w->rule.model.dimension;
    envelope->said = *said;
    envelope->said.theta = glm_kept(said->theta, d, envelope->theta);
    envelope->said.matrix = glm_kept(said->matrix, TACIT_LINALG_MATRIX(d), envelope->matrix);
    envelope->said.inverse = glm_kept(said->inverse, TACIT_LINALG_MATRIX(d), envelope->inverse);
    if (said->sums == NULL)
        return;
    memcpy(envelope->sums, said->sums, TACIT_GLM_PRIVATE_SUMS(d) * sizeof(int64_t));
    envelope->sums[TACIT_GLM_PRIVATE_SUMS(d)] = INT64_MIN;
    envelope->said.sums = envelope->sums;
}

static void post(struct world *w, const struct tacit_glm_private_message *said)
{
    uint32_t const copies = said->to == TACIT_HUB ? 1 : hub_of(w);
    for (uint32_t i = 0; i < copies; i++) {
        uint32_t const at =
            w->envelope_count < ENVELOPES ? w->envelope_count++ : below(&w->rng, ENVELOPES);
        write_envelope(w, &w->envelopes[at], said);
        if (below(&w->rng, 2) == 0) { /* as on a wire */
            w->envelopes[at].said.inverse = NULL;
            w->envelopes[at].said.log_det = 0;
        }
        if (said->to == TACIT_EVERYONE && below(&w->rng, 2) == 0)
            w->envelopes[at].said.to = i;
    }
}

/* ---- Steps ---- */

static void digest_said(const struct world *w, const struct tacit_glm_private_message *said)
{
    uint32_t const d = w->rule.model.dimension;
    uint64_t const words[] = {said->kind, said->from, said->to, said->run_id, said->batch};
    digest_bytes(words, sizeof words);
    digest_real(said->log_det);
    if (said->sums != NULL)
        digest_bytes(said->sums, TACIT_GLM_PRIVATE_SUMS(d) * sizeof *said->sums);
    if (said->theta == NULL)
        return;
    digest_reals(said->theta, d);
    digest_reals(said->matrix, TACIT_LINALG_MATRIX(d));
    digest_reals(said->inverse, TACIT_LINALG_MATRIX(d));
}

static void digest_node(const struct world *w, uint32_t node)
{
    uint32_t const d = w->rule.model.dimension;
    struct tacit_glm_private_hub_view hub = {0};
    struct tacit_glm_private_client_view client = {0};
    if (node == hub_of(w))
        tacit_glm_private_hub_view(w->state[node], &hub);
    else
        tacit_glm_private_client_view(w->state[node], &client);
    uint64_t const words[] = {hub.batch,           hub.model_count,    hub.skipped_count,
                              client.batch,        client.model_batch, client.spent_rho_nano,
                              client.release_count};
    digest_bytes(words, sizeof words);
    digest_real(client.alpha);
    digest_reals(node == hub_of(w) ? hub.theta : client.theta, d);
    digest_reals(node == hub_of(w) ? hub.matrix : client.inverse, TACIT_LINALG_MATRIX(d));
}

static struct tacit_glm_private_update step(struct world *w, uint32_t node,
                                            const struct tacit_glm_private_event *event,
                                            const struct tacit_entropy *entropy,
                                            enum tacit_status *status)
{
    struct tacit_glm_private_update update;
    memcpy(w->before, w->state[node], size_of(w, node));
    *status = node == hub_of(w)
                  ? tacit_glm_private_hub_step(w->state[node], event, &update)
                  : tacit_glm_private_client_step(w->state[node], event, entropy, &update);
    uint64_t const words[] = {(uint64_t)*status, update.send, update.decided, update.arm};
    digest_bytes(words, sizeof words);
    digest_real(update.probability);
    if (update.send)
        digest_said(w, &update.message);
    digest_node(w, node);
    if (*status != TACIT_OK) {
        assert_false(update.send);
        assert_memory_equal(w->before, w->state[node], size_of(w, node));
    }
    return update;
}

/* Entropy ends at many a draw, then it lasts; what is said then is posted. */
static void run(struct world *w, uint32_t node, const struct tacit_glm_private_event *event)
{
    enum tacit_status status = TACIT_ENTROPY;
    for (uint32_t left = 0; status == TACIT_ENTROPY; left += 1 + left / 3) {
        struct tacit_rng const rng = w->rng;
        struct scarce scarce = {tacit_rng_entropy(&w->rng), left};
        struct tacit_entropy const entropy = scarce_entropy(&scarce);
        struct tacit_glm_private_update const update = step(w, node, event, &entropy, &status);
        if (status == TACIT_ENTROPY)
            w->rng = rng;
        if (update.send)
            post(w, &update.message);
    }
}

static void deliver_any(struct world *w)
{
    if (w->envelope_count == 0)
        return;
    uint32_t const at = below(&w->rng, w->envelope_count);
    struct envelope envelope;
    write_envelope(w, &envelope, &w->envelopes[at].said);
    if (below(&w->rng, 5) > 0 && at < --w->envelope_count) /* else it comes once more */
        write_envelope(w, &w->envelopes[at], &w->envelopes[w->envelope_count].said);
    uint32_t const to = envelope.said.to;
    uint32_t const node = to == TACIT_HUB        ? hub_of(w)
                          : to == TACIT_EVERYONE ? below(&w->rng, hub_of(w))
                                                 : to;
    run(w, node,
        &(struct tacit_glm_private_event){.kind = TACIT_EVENT_RECEIVE,
                                          .as.message = &envelope.said});
}

/* ---- Damaged messages: to a state that is put back then ---- */

static void damage_word(struct world *w, struct tacit_glm_private_message *said)
{
    uint64_t const up = below(&w->rng, 2) == 0 ? 1 : UINT64_MAX; /* one more, one less */
    uint64_t const batches[] = {0, said->batch + up, w->rule.model.batch_count,
                                w->rule.model.batch_count + 1};
    switch (below(&w->rng, 5)) {
    case 0:
        said->kind = (enum tacit_glm_private_kind)below(&w->rng, TACIT_GLM_PRIVATE_MODEL + 2);
        break;
    case 1:
        said->from = below(&w->rng, 2) == 0 ? TACIT_HUB : hub_of(w);
        break;
    case 2:
        said->to = below(&w->rng, 3) == 0 ? TACIT_EVERYONE : said->to + (uint32_t)up;
        break;
    case 3:
        said->run_id += up;
        break;
    default:
        said->batch = batches[below(&w->rng, 4)];
    }
}

static void damage_envelope(struct world *w, struct envelope *envelope)
{
    uint32_t const d = w->rule.model.dimension;
    int64_t const most = INT64_C(0x4000000000000000) / hub_of(w);
    int64_t const sums[] = {most, -most, most + 1, -most - 1, INT64_MAX, INT64_MIN};
    double const numbers[] = {NAN, INFINITY, -INFINITY, 1e301, -1e9, 0.25};
    bool const is_release = envelope->said.sums != NULL;
    uint32_t const at = below(&w->rng, (uint32_t)(is_release ? TACIT_GLM_PRIVATE_SUMS(d) : d));
    switch (below(&w->rng, 4)) {
    case 0:
        damage_word(w, &envelope->said);
        break;
    case 1: /* what belongs there is missing */
        if (is_release)
            envelope->said.sums = NULL;
        else if (below(&w->rng, 2) == 0)
            envelope->said.theta = NULL;
        else
            envelope->said.matrix = NULL;
        break;
    default:
        if (is_release)
            envelope->sums[at] = sums[below(&w->rng, 6)];
        else if (below(&w->rng, 2) == 0)
            envelope->theta[at] = one_of(&w->rng, numbers, 6);
        else
            envelope->matrix[at * TACIT_LINALG_STRIDE(d) + at] = one_of(&w->rng, numbers, 6);
    }
}

static void deliver_damaged(struct world *w)
{
    if (w->envelope_count == 0)
        return;
    struct envelope envelope = {.sums = {0}};
    write_envelope(w, &envelope, &w->envelopes[below(&w->rng, w->envelope_count)].said);
    uint32_t const node = envelope.said.to == TACIT_HUB ? hub_of(w) : below(&w->rng, hub_of(w));
    damage_envelope(w, &envelope);
    void *const sound = testing_malloc(size_of(w, node));
    memcpy(sound, w->state[node], size_of(w, node));
    struct tacit_glm_private_event const event = {.kind = TACIT_EVENT_RECEIVE,
                                                  .as.message = &envelope.said};
    enum tacit_status status;
    (void)step(w, node, &event, NULL, &status);
    memcpy(w->state[node], sound, size_of(w, node));
}

/* ---- Decisions, rewards and the clock ---- */

/* Longer than one, too, and one in a while is none. */
static void any_context(struct world *w, double *x)
{
    uint32_t const d = w->rule.model.dimension;
    for (uint32_t i = 0; i < d; i++)
        x[i] = 0.6 * tacit_rng_normal(&w->rng);
    if (below(&w->rng, 60) == 0)
        x[below(&w->rng, d)] = INFINITY;
    if (below(&w->rng, 60) == 0)
        x[below(&w->rng, d)] = NAN;
    x[d] = NAN;
}

static void offer(struct world *w, uint32_t client)
{
    double contexts[ARMS * DIMENSION_MAX + 1];
    uint32_t const arms = 1 + below(&w->rng, ARMS);
    uint32_t const d = w->rule.model.dimension;
    for (uint32_t k = 0; k < arms; k++)
        any_context(w, contexts + k * d);
    uint32_t const told =
        below(&w->rng, 30) == 0 ? below(&w->rng, 2) * (TACIT_GLM_ARMS_MAX + 1) : arms;
    uint32_t const told_dimension = d + (below(&w->rng, 30) == 0 ? 1 : 0);
    run(w, client,
        &(struct tacit_glm_private_event){.kind = TACIT_EVENT_OFFER,
                                          .as.offer = {told, told_dimension, contexts}});
}

static void reward(struct world *w, uint32_t client)
{
    double const edges[] = {-1, -0.5, 0, 0.5, 1, 1.5, -1.5, NAN, INFINITY, 0.3};
    double x[DIMENSION_MAX + 1];
    any_context(w, x);
    double const y = one_of(&w->rng, edges, 10);
    run(w, client,
        &(struct tacit_glm_private_event){.kind = TACIT_EVENT_REWARD, .as.reward = {x, y, 0, 0}});
}

/* Mostly the next batch, or one that was closed, or is not due. */
static void ring(struct world *w, uint32_t client)
{
    struct tacit_glm_private_client_view view;
    tacit_glm_private_client_view(w->state[client], &view);
    uint32_t const chance = below(&w->rng, 8);
    uint64_t const batch = view.batch + (chance == 0 ? 2 : chance == 1 ? 0 : 1);
    run(w, client,
        &(struct tacit_glm_private_event){.kind = TACIT_EVENT_TIMEOUT, .as.batch = batch});
}

static void turn(struct world *w)
{
    uint32_t const client = below(&w->rng, hub_of(w));
    uint32_t const chance = below(&w->rng, 100);
    enum tacit_event_kind const kinds[] = {TACIT_EVENT_START, TACIT_EVENT_EXPLOITED};
    struct tacit_glm_private_event const unasked = {.kind = kinds[below(&w->rng, 2)]};
    if (chance < 12)
        offer(w, client);
    else if (chance < 40)
        reward(w, client);
    else if (chance < 55)
        ring(w, client);
    else if (chance < 80)
        deliver_any(w);
    else if (chance < 92)
        deliver_damaged(w);
    else
        run(w, chance < 96 ? client : hub_of(w), &unasked);
}

TEST(disorder_leaves_the_steps_that_it_always_left)
{
    uint64_t models = 0;
    for (uint32_t kind = 0; kind < 60; kind++) {
        struct world w;
        open_world(&w, kind);
        for (uint32_t i = 0; i < TURNS; i++)
            turn(&w);
        struct tacit_glm_private_hub_view view;
        tacit_glm_private_hub_view(w.state[hub_of(&w)], &view);
        models += view.model_count;
    }
    assert_true(models > 100);
}
