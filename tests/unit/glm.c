/* The cores of federated generalised linear bandits: constants, the event, where an update ends,
 * what is said and offered. What gets lost, late, damaged or refused does so in glm_disorder.c. */
#include <math.h>
#include "../support/testing.h"
#include "../support/glm_driver.h"
#include "tacit/env.h"
#include "../support/damage.h"
#include "../support/digest.h"

/* Of all steps below: digest.h. */
DIGEST_IS(UINT64_C(0x3a73974833150fd8))
/* .. and of what the checks say of damaged states: damage.h. */
VERDICTS_ARE(UINT64_C(0x9b0f8d8d78caae19))

#define N 3u
#define D 4u
#define T 50u
#define ARMS 5u
#define RESEND_US 1000u
#define DEADLINE_US 10000u
#define BACKOFF_US 50000u

/* A federation whose messages the test carries itself. */
struct federation {
    struct tacit_glm_model model;
    struct tacit_glm_client_config config[N];
    struct tacit_glm_hub_config hub_config;
    struct tacit_glm_client *client[N];
    struct tacit_glm_hub *hub;
    struct tacit_rng rng;
    uint64_t now_us;
    uint64_t step_count;
    struct tacit_glm_update update; /* of the last step */
    double memory[N][TACIT_LINALG_SAMPLES(D, T)];
    struct tacit_linalg_samples samples[N]; /* what each client was given */
    uint32_t sample_count[N];
};

static void open_federation(struct federation *f, enum tacit_glm_variant variant, uint32_t quorum)
{
    memset(f, 0, sizeof *f);
    f->model = tacit_glm_model_init(variant, TACIT_LINALG_LOGISTIC, N, D, T);
    f->model.run_id = 5;
    f->model.threshold = 0.3;
    f->model.suboptimality = 1e-12; /* many rounds, though there is little data */
    f->hub_config = (struct tacit_glm_hub_config){.model = f->model,
                                                  .quorum = quorum,
                                                  .resend_after_us = RESEND_US,
                                                  .deadline_us = DEADLINE_US,
                                                  .backoff_us = BACKOFF_US};
    f->hub = testing_malloc(tacit_glm_hub_size(&f->hub_config));
    assert_int_equal(tacit_glm_hub_init(f->hub, &f->hub_config), TACIT_OK);
    for (uint32_t i = 0; i < N; i++) {
        f->config[i] = (struct tacit_glm_client_config){
            .model = f->model, .client_id = i, .resend_after_us = RESEND_US};
        f->client[i] = testing_malloc(tacit_glm_client_size(&f->config[i]));
        assert_int_equal(tacit_glm_client_init(f->client[i], &f->config[i]), TACIT_OK);
        f->samples[i] = (struct tacit_linalg_samples){f->memory[i], D, true};
    }
    f->rng = tacit_rng_stream(3, 0, 0, 1);
}

static bool is_client(const void *state, size_t size, void *config)
{
    return tacit_glm_client_check(state, size, config) == TACIT_OK;
}

static bool is_hub(const void *state, size_t size, void *config)
{
    return tacit_glm_hub_check(state, size, config) == TACIT_OK;
}

/* The status; the step goes to the digest. Not all steps are followed by damage: there are many. */
static enum tacit_status client_steps(struct federation *f, uint32_t i,
                                      const struct tacit_glm_event *event)
{
    enum tacit_status const status = tacit_glm_client_step(f->client[i], event, NULL, &f->update);
    glm_digest_client(f->client[i], &f->model, status, &f->update);
    if (f->step_count++ % 50 == 0)
        damage_some(f->client[i], tacit_glm_client_size(&f->config[i]), is_client, &f->config[i]);
    return status;
}

static enum tacit_status hub_steps(struct federation *f, const struct tacit_glm_event *event)
{
    enum tacit_status const status = tacit_glm_hub_step(f->hub, event, &f->update);
    glm_digest_hub(f->hub, &f->model, status, &f->update);
    if (f->step_count++ % 50 == 0)
        damage_some(f->hub, tacit_glm_hub_size(&f->hub_config), is_hub, &f->hub_config);
    return status;
}

static enum tacit_status client_gets(struct federation *f, uint32_t i,
                                     const struct tacit_glm_message *message)
{
    struct tacit_glm_event const event = {
        .now_us = f->now_us, .kind = TACIT_EVENT_RECEIVE, .as.message = message};
    return client_steps(f, i, &event);
}

static enum tacit_status hub_gets(struct federation *f, const struct tacit_glm_message *message)
{
    struct tacit_glm_event const event = {
        .now_us = f->now_us, .kind = TACIT_EVENT_RECEIVE, .as.message = message};
    return hub_steps(f, &event);
}

/* A random context and coin; true if an update is asked for, whose message is in f->update. */
static bool reward(struct federation *f, uint32_t i, uint64_t slot)
{
    double x[D];
    double square = 0;
    for (uint32_t c = 0; c < D; c++) {
        x[c] = tacit_rng_normal(&f->rng);
        square += x[c] * x[c];
    }
    for (uint32_t c = 0; c < D; c++)
        x[c] /= sqrt(square);
    double const y = tacit_rng_bernoulli(&f->rng, 0.5);
    tacit_linalg_sample_put(&f->samples[i], f->sample_count[i]++, x, y);
    struct tacit_glm_event const event = {
        .now_us = f->now_us, .kind = TACIT_EVENT_REWARD, .as.reward = {x, y, slot, 0}};
    assert_int_equal(client_steps(f, i, &event), TACIT_OK);
    return f->update.send;
}

/* Plays until somebody asks for an update; f->update has the trigger. Returns who. */
static uint32_t play_to_trigger(struct federation *f, uint64_t *slot)
{
    for (;; (*slot)++)
        for (uint32_t i = 0; i < N; i++)
            if (reward(f, i, *slot)) {
                assert_int_equal(f->update.message.kind, TACIT_GLM_TRIGGER);
                return i;
            }
}

static struct tacit_glm_hub_view hub_view(const struct federation *f)
{
    struct tacit_glm_hub_view view;
    tacit_glm_hub_view(f->hub, &view);
    return view;
}

static struct tacit_glm_client_view client_view(const struct federation *f, uint32_t i)
{
    struct tacit_glm_client_view view;
    tacit_glm_client_view(f->client[i], &view);
    return view;
}

/* Carries what the hub says in f->update to those in `mask` and their answers back, until it says
 * nothing; at most `limit` requests. Returns whether it fell silent. */
static bool carry(struct federation *f, uint32_t mask, uint32_t limit)
{
    for (uint32_t count = 0; f->update.send; count++) {
        if (count == limit)
            return false;
        struct tacit_glm_message const said = f->update.message;
        struct tacit_glm_update next = {0};
        for (uint32_t i = 0; i < N; i++) {
            if ((mask >> i & 1u) == 0)
                continue;
            assert_int_equal(client_gets(f, i, &said), TACIT_OK);
            if (!f->update.send)
                continue;
            struct tacit_glm_message const answer = f->update.message;
            assert_int_equal(hub_gets(f, &answer), TACIT_OK);
            if (f->update.send)
                next = f->update;
        }
        f->update = next;
    }
    return true;
}

/* ---- Model ---- */

TEST(periods_are_those_of_the_readings)
{
    assert_int_equal(tacit_glm_period(200, 2000, 10), 200 * 200);
    assert_int_equal(tacit_glm_period(200, 2000, 2000), 200);
    assert_int_equal(tacit_glm_period(200, 2000, 5000), 80);
    assert_int_equal(tacit_glm_period(4, 60, 7), 4 * 8);
    assert_int_equal(tacit_glm_period(4, 60, 1000), 1);
}

TEST(constants_of_links_are_known)
{
    struct tacit_glm_model model =
        tacit_glm_model_init(TACIT_GLM_FEDGLB, TACIT_LINALG_LOGISTIC, N, D, T);
    assert_true(fabs(model.curvature - 0.19661193324148185) < 1e-15);
    assert_true(model.lipschitz == 0.25);
    assert_true(model.noise_bound == 0.5);
    assert_true(model.threshold == 1.0 && model.norm_bound == 1.0 && model.context_bound == 1.0);
    model.link = TACIT_LINALG_PROBIT;
    tacit_glm_link_constants(&model);
    assert_true(fabs(model.lipschitz - 0.3989422804014327) < 1e-15);
    assert_true(fabs(model.curvature - 0.24197072451914337) < 1e-15);
    model.link = TACIT_LINALG_POISSON;
    tacit_glm_link_constants(&model);
    assert_true(fabs(model.lipschitz * model.curvature - 1) < 1e-15);
    model.link = TACIT_LINALG_IDENTITY;
    tacit_glm_link_constants(&model);
    assert_true(model.lipschitz == 1 && model.curvature == 1);
}

/* Corollary 3's eps_t = 1/n^2 gives the norm sqrt(2 lambda/n^3). */
TEST(gradient_norm_is_that_of_the_readings)
{
    struct tacit_glm_model const model =
        tacit_glm_model_init(TACIT_GLM_FEDGLB, TACIT_LINALG_LOGISTIC, N, D, T);
    assert_true(fabs(tacit_glm_gradient_norm(&model, 100) - sqrt(4.0 / 1e6)) < 1e-15);
}

TEST(invalid_models_are_refused)
{
    struct tacit_glm_model const good =
        tacit_glm_model_init(TACIT_GLM_FEDGLB, TACIT_LINALG_LOGISTIC, N, D, T);
    assert_true(tacit_glm_model_is_valid(&good));
    struct tacit_glm_model bad = good;
    bad.dimension = TACIT_LINALG_DIMENSION_MAX + 1;
    assert_false(tacit_glm_model_is_valid(&bad));
    bad = good;
    bad.threshold = 0;
    assert_false(tacit_glm_model_is_valid(&bad));
    bad = good;
    bad.lambda = NAN;
    assert_false(tacit_glm_model_is_valid(&bad));
    bad = good;
    bad.delta = 1;
    assert_false(tacit_glm_model_is_valid(&bad));
    bad = good;
    bad.explore = 1.01;
    assert_false(tacit_glm_model_is_valid(&bad));
    bad = good;
    bad.variant = TACIT_GLM_V2;
    bad.period = 0;
    assert_false(tacit_glm_model_is_valid(&bad));
    struct tacit_glm_client_config const config = {
        .model = good, .client_id = N, .resend_after_us = 1};
    assert_int_equal(tacit_glm_client_size(&config), 0);
}

/* ---- Decisions ---- */

TEST(before_any_data_the_lowest_index_wins)
{
    struct federation f;
    open_federation(&f, TACIT_GLM_FEDGLB, 0);
    double contexts[ARMS * D] = {0};
    for (uint32_t k = 0; k < ARMS; k++)
        contexts[k * D + k % D] = 1;
    struct tacit_glm_event event = {.kind = TACIT_EVENT_OFFER, .as.offer = {ARMS, D, contexts}};
    assert_int_equal(client_steps(&f, 0, &event), TACIT_OK);
    assert_true(f.update.decided);
    assert_int_equal(f.update.arm, 0);
    assert_true(f.update.probability == 1);
    contexts[0] = 0.5; /* the others are longer, and so less certain */
    assert_int_equal(client_steps(&f, 0, &event), TACIT_OK);
    assert_int_equal(f.update.arm, 1);
}

TEST(an_offer_may_have_1024_arms_and_no_more)
{
    struct federation f;
    static double contexts[(TACIT_GLM_ARMS_MAX + 1) * D];
    open_federation(&f, TACIT_GLM_FEDGLB, 0);
    contexts[(TACIT_GLM_ARMS_MAX - 1) * D] = 0.5; /* the only one of which anything can be learnt */
    struct tacit_glm_event event = {.kind = TACIT_EVENT_OFFER,
                                    .as.offer = {TACIT_GLM_ARMS_MAX, D, contexts}};
    assert_int_equal(client_steps(&f, 0, &event), TACIT_OK);
    assert_int_equal(f.update.arm, TACIT_GLM_ARMS_MAX - 1);
    event.as.offer.arm_count++;
    assert_int_equal(client_steps(&f, 0, &event), TACIT_INVALID);
}

/* 4,000 choices among 5 arms with explore = .4: the best has probability .68, the others .08. Six
 * standard deviations: false alarms below 1e-8. */
TEST(exploration_has_the_probability_that_it_says)
{
    struct federation f;
    open_federation(&f, TACIT_GLM_FEDGLB, 0);
    f.config[0].model.explore = 0.4;
    assert_int_equal(tacit_glm_client_init(f.client[0], &f.config[0]), TACIT_OK);
    double contexts[ARMS * D] = {0};
    for (uint32_t k = 0; k < ARMS; k++)
        contexts[k * D] = 0.1 * (k + 1);
    struct tacit_entropy const entropy = tacit_rng_entropy(&f.rng);
    struct tacit_glm_event const event = {.kind = TACIT_EVENT_OFFER,
                                          .as.offer = {ARMS, D, contexts}};
    double counts[ARMS] = {0};
    for (uint32_t i = 0; i < 4000; i++) {
        assert_int_equal(tacit_glm_client_step(f.client[0], &event, &entropy, &f.update), TACIT_OK);
        assert_true(fabs(f.update.probability - (f.update.arm == ARMS - 1 ? 0.68 : 0.08)) < 1e-12);
        counts[f.update.arm]++;
    }
    for (uint32_t k = 0; k < ARMS; k++) {
        double const p = k == ARMS - 1 ? 0.68 : 0.08;
        assert_true(fabs(counts[k] - 4000 * p) < 6 * sqrt(4000 * p * (1 - p)));
    }
}

/* ---- The trigger (Eq. 4) ---- */

/* Does a client with this threshold ask for an update at its fifth reward? */
static bool fires_at_the_fifth(double threshold, double *left_side)
{
    struct federation f;
    open_federation(&f, TACIT_GLM_FEDGLB, 0);
    f.config[0].model.threshold = threshold;
    assert_int_equal(tacit_glm_client_init(f.client[0], &f.config[0]), TACIT_OK);
    bool fired = false;
    for (uint64_t t = 1; t <= 5; t++) {
        assert_false(fired);
        fired = reward(&f, 0, t);
    }
    *left_side = client_view(&f, 0).trigger;
    return fired;
}

TEST(trigger_fires_at_the_threshold_and_not_one_ulp_above)
{
    double left_side;
    double unused;
    assert_false(fires_at_the_fifth(100, &left_side));
    assert_true(left_side > 0.5);
    assert_true(fires_at_the_fifth(left_side, &unused));
    assert_true(unused == left_side);
    assert_true(fires_at_the_fifth(nextafter(left_side, 0), &unused));
    assert_false(fires_at_the_fifth(nextafter(left_side, INFINITY), &unused));
}

/* READINGS P4.6: t - t_last is literal, so a client that comes after the trigger in the same slot
 * has waited for nothing. */
TEST(time_since_the_update_is_literal)
{
    struct federation f;
    open_federation(&f, TACIT_GLM_FEDGLB, 0);
    uint64_t slot = 1;
    uint32_t const who = play_to_trigger(&f, &slot);
    struct tacit_glm_message const trigger = f.update.message;
    assert_int_equal(hub_gets(&f, &trigger), TACIT_OK);
    assert_true(carry(&f, 7, 100000));
    uint32_t const next = (who + 1) % N;
    (void)reward(&f, next, slot);
    assert_true(client_view(&f, next).trigger == 0);
    assert_true(client_view(&f, next).log_det > 0);
}

/* ---- Updates ---- */

/* AGD: the gradient of the averaged objective at the committed model has passed, and no earlier one
 * had (READINGS P4.5): the last but one iterate's has not. */
TEST(committed_model_is_where_the_gradient_passed)
{
    struct federation f;
    open_federation(&f, TACIT_GLM_FEDGLB, 0);
    static double memory[TACIT_LINALG_SAMPLES(D, N * T)];
    struct tacit_linalg_samples samples = {memory, D, true};
    struct tacit_linalg_mean const mean = tacit_glm_mean(&f.model);
    uint32_t n = 0;
    for (uint64_t t = 1; t <= 6; t++)
        for (uint32_t i = 0; i < N; i++) {
            double x[D] = {0};
            x[tacit_rng_below(&f.rng, D)] = 0.9;
            double const y = tacit_rng_bernoulli(&f.rng, 0.7);
            struct tacit_glm_event const event = {.kind = TACIT_EVENT_REWARD,
                                                  .as.reward = {x, y, t, 0}};
            assert_int_equal(client_steps(&f, i, &event), TACIT_OK);
            tacit_linalg_sample_put(&samples, n++, x, y);
        }
    struct tacit_glm_message const trigger = {
        .kind = TACIT_GLM_TRIGGER, .from = 0, .to = TACIT_HUB, .run_id = 5, .slot = 6};
    assert_int_equal(hub_gets(&f, &trigger), TACIT_OK);
    double norm = INFINITY;
    while (f.update.send) {
        struct tacit_glm_message const said = f.update.message;
        if (said.kind == TACIT_GLM_ITERATE) {
            assert_true(norm > tacit_glm_gradient_norm(&f.model, n));
            double gradient[D];
            tacit_linalg_gradient(TACIT_LINALG_PORTABLE, &mean, &samples, 0, n, said.vector,
                                  gradient);
            tacit_linalg_add(D, f.model.lambda, said.vector, gradient);
            norm = sqrt(tacit_linalg_dot(TACIT_LINALG_PORTABLE, D, gradient, gradient)) / n;
        }
        assert_true(carry(&f, 7, 1) || f.update.send);
    }
    struct tacit_glm_hub_view const view = hub_view(&f);
    assert_int_equal(view.sync, 1);
    assert_int_equal(view.model_count, n);
    assert_true(norm <= tacit_glm_gradient_norm(&f.model, n));
    assert_true(view.aggregation_count > 3);
    for (uint32_t i = 0; i < N; i++) {
        assert_int_equal(client_view(&f, i).sync, 1);
        assert_memory_equal(client_view(&f, i).theta, view.theta, D * sizeof(double));
    }
}

TEST(messages_and_scalars_are_those_of_the_readings)
{
    enum tacit_glm_variant const variants[] = {TACIT_GLM_FEDGLB, TACIT_GLM_V1, TACIT_GLM_V2,
                                               TACIT_GLM_V3, TACIT_GLM_DISLINUCB};
    for (uint32_t which = 0; which < 5; which++) {
        struct tacit_glm_model model =
            tacit_glm_model_init(variants[which], TACIT_LINALG_LOGISTIC, N, D, T);
        model.threshold = 0.5;
        model.period = 7 * N;
        struct glm_driver driver;
        glm_driver_open(&driver, &model, TACIT_LINALG_PORTABLE);
        double contexts[2 * D] = {0.3, 0.2, 0.1, 0, -0.5, 0, 0, 0.5};
        for (uint64_t t = 1; t <= T; t++)
            for (uint32_t i = 0; i < N; i++) {
                uint32_t const arm = glm_driver_decide(&driver, i, 2, contexts);
                glm_driver_reward(&driver, i, t, contexts + arm * D, (double)((t + i) % 2));
            }
        struct tacit_glm_hub_view view;
        tacit_glm_hub_view(driver.hub, &view);
        uint64_t const b = view.update_count;
        uint64_t const j = view.aggregation_count;
        uint64_t const d = D;
        assert_true(b > 0);
        assert_int_equal(driver.message_count, N * (2 * b + 2 * j));
        uint64_t const each[] = {2 * d * d + 2 * d, 2 * d * d + d, 2 * d * d + 2 * d,
                                 3 * d * d + 3 * d, 2 * d * d + 2 * d};
        uint64_t const rounds = which < 3 ? 2 * d * j : 0;
        assert_int_equal(driver.scalar_count, N * (b * each[which] + rounds));
        assert_true((double)b <= tacit_glm_updates_bound(&model));
        if (which >= 3)
            assert_int_equal(j, b);
    }
}

/* All variants, links, clocks and radii, each through some updates: nothing is asked of them here
 * but that they play; the digest knows what they do. */
TEST(every_kind_plays)
{
    for (uint32_t kind = 0; kind < 9u * 4u * 3u * 2u; kind++) {
        struct tacit_glm_model model = tacit_glm_model_init(
            (enum tacit_glm_variant)(kind % 9), (enum tacit_linalg_link)(kind / 9 % 4), N, D, T);
        model.exploration = (enum tacit_glm_exploration)(kind / 36 % 3);
        model.clock = (enum tacit_glm_clock)(kind / 108);
        model.period = 3 * N;
        model.threshold = 0.5;
        model.explore = kind % 2 == 0 ? 0.25 : 0;
        struct glm_driver driver;
        glm_driver_open(&driver, &model, TACIT_LINALG_PORTABLE);
        driver.hides_inverse = kind % 5 == 0;
        double contexts[3 * D] = {0.3, 0.2, 0.1, 0, -0.5, 0, 0, 0.5, 0, 0.7, 0, 0.1};
        for (uint64_t t = 1; t <= 12; t++)
            for (uint32_t i = 0; i < N; i++) {
                uint32_t const arm = glm_driver_decide(&driver, i, 3, contexts);
                glm_driver_reward(&driver, i, t, contexts + arm * D, (double)((t + i + arm) % 2));
                contexts[(t + i) % (3 * D)] *= -0.9;
            }
    }
}

/* Rounds enough that gradients are expanded, and come from the expansion. */
TEST(gradients_near_an_iterate_are_the_sums_to_1e_12_a_sample)
{
    struct federation f;
    open_federation(&f, TACIT_GLM_FEDGLB, 0);
    struct tacit_linalg_mean const mean = tacit_glm_mean(&f.model);
    uint64_t slot = 1;
    uint32_t near_count = 0;
    for (; slot < 30; slot++)
        for (uint32_t i = 0; i < N; i++)
            (void)reward(&f, i, slot);
    struct tacit_glm_message said = {
        .kind = TACIT_GLM_TRIGGER, .from = 0, .to = TACIT_HUB, .run_id = 5, .slot = slot};
    assert_int_equal(hub_gets(&f, &said), TACIT_OK);
    while (f.update.send) {
        said = f.update.message;
        struct tacit_glm_update next = {0};
        for (uint32_t i = 0; i < N; i++) {
            assert_int_equal(client_gets(&f, i, &said), TACIT_OK);
            if (!f.update.send)
                continue;
            struct tacit_glm_message const answer = f.update.message;
            if (said.kind == TACIT_GLM_ITERATE) {
                double sum[D];
                uint32_t const n = f.sample_count[i];
                tacit_linalg_gradient(TACIT_LINALG_PORTABLE, &mean, &f.samples[i], 0, n,
                                      said.vector, sum);
                tacit_linalg_add(D, -1.0, answer.vector, sum);
                double const square = tacit_linalg_dot(TACIT_LINALG_PORTABLE, D, sum, sum);
                assert_true(sqrt(square) <= 1.1e-12 * n);
                near_count += client_view(&f, i).is_near ? 1 : 0;
                assert_true(client_view(&f, i).anchor_round <= said.round);
                assert_true(said.round >= 13 || client_view(&f, i).anchor_round == 0);
                assert_true(f.update.persist == (client_view(&f, i).anchor_round == said.round));
            }
            assert_int_equal(hub_gets(&f, &answer), TACIT_OK);
            if (f.update.send)
                next = f.update;
        }
        f.update = next;
    }
    assert_int_equal(hub_view(&f).sync, 1);
    assert_true(near_count > N * 5);
}

/* ---- Environment ---- */

TEST(contexts_of_the_sphere_are_not_above_one_and_of_single_precision)
{
    struct tacit_rng rng = tacit_rng_stream(1, 0, 0, 1);
    struct tacit_context_env env = {.source = TACIT_CONTEXT_SPHERE, .dimension = 7, .arm_count = 9};
    double contexts[63];
    for (uint32_t round = 0; round < 500; round++) {
        tacit_context_offer(&env, tacit_linalg_fastest(), &rng, contexts);
        for (uint32_t k = 0; k < 9; k++) {
            double square = 0;
            for (uint32_t i = 0; i < 7; i++) {
                volatile float const narrow = (float)contexts[k * 7 + i];
                assert_true(contexts[k * 7 + i] == (double)narrow);
                square += contexts[k * 7 + i] * contexts[k * 7 + i];
            }
            assert_true(square <= 1);
            assert_true(square > 1 - 1e-6);
        }
    }
}

/* A rule in d dimensions: a positive definite form whose eigenvalues are up to 10^spread apart, and
 * a centre. */
static struct tacit_linalg_rule make_rule(uint32_t d, double spread, struct tacit_rng *rng,
                                          double *form, double *centre)
{
    double x[TACIT_LINALG_VECTOR_MAX] = {0};
    tacit_linalg_identity(d, 0.01, form);
    for (uint32_t i = 0; i < d; i++) {
        tacit_context_theta(d, 1.0, rng, x);
        tacit_linalg_rank_one(TACIT_LINALG_PORTABLE, d, pow(10, spread * tacit_rng_uniform(rng)), x,
                              form);
    }
    tacit_context_theta(d, tacit_rng_uniform(rng), rng, centre);
    return (struct tacit_linalg_rule){form, centre, 2 * tacit_rng_uniform(rng)};
}

struct choice {
    double context[TACIT_LINALG_VECTOR_MAX];
    double best;
    double chosen;
};

/* Eq. (5) over the contexts that are offered. */
static struct choice choose(const struct tacit_context_env *env,
                            const struct tacit_linalg_rule *rule, uint32_t arm_count,
                            const double *contexts)
{
    double linear[256];
    double form[256];
    double square[256];
    struct choice choice = {{0}, 0, 0};
    enum tacit_linalg_path const path = tacit_linalg_fastest();
    tacit_linalg_arms(path, env->dimension, rule->form, rule->centre, arm_count, contexts, linear,
                      form, square);
    double best = -INFINITY;
    uint32_t arm = 0;
    for (uint32_t k = 0; k < arm_count; k++)
        best = fmax(best, linear[k] + rule->width * sqrt(form[k]));
    while (linear[arm] + rule->width * sqrt(form[arm]) < best - 1e-9)
        arm++;
    memcpy(choice.context, contexts + (size_t)arm * env->dimension,
           env->dimension * sizeof *contexts);
    tacit_context_means(env, path, arm_count, contexts, arm, &choice.best, &choice.chosen);
    return choice;
}

/* Contenders are rows of the whole offer, in its order, and whoever decides between them decides as
 * between all; the stream goes on from the same place. */
TEST(contenders_have_the_choice_and_the_best_of_the_whole_offer)
{
    enum tacit_linalg_path const path = tacit_linalg_fastest();
    struct tacit_rng rng = tacit_rng_stream(4, 0, 0, 1);
    struct tacit_rng shapes = tacit_rng_stream(4, 0, 0, 2);
    uint64_t all = 0;
    uint64_t kept = 0;
    for (uint32_t round = 0; round < 20000; round++) {
        uint32_t const d = 1 + (uint32_t)tacit_rng_below(&shapes, round % 10 == 0 ? 64 : 12);
        uint32_t const most = TACIT_LINALG_CONTENDERS_MAX / d;
        uint32_t const arms = 1 + (uint32_t)tacit_rng_below(&shapes, most < 60 ? most : 60);
        double form[TACIT_LINALG_MATRIX_MAX];
        double centre[TACIT_LINALG_VECTOR_MAX];
        double whole[TACIT_LINALG_CONTENDERS_MAX];
        double few[TACIT_LINALG_CONTENDERS_MAX];
        struct tacit_linalg_rule const rule = make_rule(d, round % 7, &shapes, form, centre);
        struct tacit_context_env env = {
            .source = TACIT_CONTEXT_SPHERE, .dimension = d, .arm_count = arms};
        tacit_context_theta(d, 1.0, &shapes, env.theta);
        struct tacit_rng again = rng;
        tacit_context_offer(&env, path, &rng, whole);
        uint32_t const count = tacit_context_contenders(&env, path, &again, &rule, few);
        assert_true(count >= 1 && count <= arms);
        assert_int_equal(tacit_rng_next(&again), tacit_rng_next(&rng));
        uint32_t found = 0;
        for (uint32_t k = 0; k < arms && found < count; k++)
            found += memcmp(whole + k * d, few + found * d, d * sizeof(double)) == 0 ? 1 : 0;
        assert_int_equal(found, count);
        struct choice const of_all = choose(&env, &rule, arms, whole);
        struct choice const of_few = choose(&env, &rule, count, few);
        assert_memory_equal(&of_all, &of_few, sizeof of_all);
        all += arms;
        kept += count;
    }
    if (path == TACIT_LINALG_AVX2)
        assert_true(kept < all / 4);
}

TEST(offers_of_a_pool_are_different_rows_of_length_root_two)
{
    struct tacit_rng rng = tacit_rng_stream(2, 0, 0, 1);
    double pool[20 * 5];
    double contexts[20 * 5];
    tacit_context_pool(5, 20, &rng, pool);
    struct tacit_context_env const env = {.source = TACIT_CONTEXT_POOL,
                                          .dimension = 5,
                                          .arm_count = 20,
                                          .pool_count = 20,
                                          .pool = pool};
    tacit_context_offer(&env, TACIT_LINALG_PORTABLE, &rng, contexts);
    for (uint32_t k = 0; k < 20; k++) {
        double square = 0;
        for (uint32_t i = 0; i < 5; i++)
            square += contexts[k * 5 + i] * contexts[k * 5 + i];
        assert_true(fabs(square - 2) < 1e-6);
        for (uint32_t other = 0; other < k; other++)
            assert_memory_not_equal(contexts + k * 5, contexts + other * 5, 5 * sizeof(double));
    }
}

/* 20,000 rewards of each link around their mean: beyond 5 standard errors is one in 1.7e6. */
TEST(rewards_have_the_mean_of_the_link)
{
    struct tacit_rng rng = tacit_rng_stream(3, 0, 0, 1);
    for (int link = 0; link < 4; link++) {
        struct tacit_context_env const env = {.mean = {(enum tacit_linalg_link)link, 1, 0},
                                              .sd = 0.5};
        double const mean = tacit_linalg_mean(&env.mean, 0.4);
        double sum = 0;
        for (uint32_t i = 0; i < 20000; i++)
            sum += tacit_context_reward(&env, mean, &rng);
        double const sd = link == TACIT_LINALG_POISSON    ? sqrt(mean)
                          : link == TACIT_LINALG_IDENTITY ? 0.5
                                                          : sqrt(mean * (1 - mean));
        assert_true(fabs(sum / 20000 - mean) < 5 * sd / sqrt(20000));
    }
}
