/* The cores of federated generalised linear bandits: both sides of each limit, the discipline
 * around an update, and what hostile peers may say. */
#include <math.h>
#include "../support/testing.h"
#include "../support/glm_driver.h"
#include "tacit/env.h"
#include "../support/damage.h"
#include "../support/digest.h"

/* Of all steps below: digest.h. */
DIGEST_IS(UINT64_C(0x451cd0c564157acc))
/* .. and of what the checks say of damaged states: damage.h. */
VERDICTS_ARE(UINT64_C(0x0aae42632c7af1dc))

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

static void hub_event(struct federation *f, enum tacit_event_kind kind)
{
    struct tacit_glm_event const event = {.now_us = f->now_us, .kind = kind};
    assert_int_equal(hub_steps(f, &event), TACIT_OK);
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

TEST(offers_that_do_not_fit_are_refused_without_a_trace)
{
    struct federation f;
    open_federation(&f, TACIT_GLM_FEDGLB, 0);
    size_t const size = tacit_glm_client_size(&f.config[0]);
    void *const before = testing_malloc(size);
    memcpy(before, f.client[0], size);
    double const bad[] = {NAN, INFINITY, -INFINITY, 1.1, 1 + 1e-6};
    for (uint32_t which = 0; which < 5; which++) {
        double contexts[ARMS * D] = {0};
        contexts[3 * D + 1] = bad[which];
        struct tacit_glm_event const offer = {
            .now_us = 9, .kind = TACIT_EVENT_OFFER, .as.offer = {ARMS, D, contexts}};
        assert_int_equal(client_steps(&f, 0, &offer), TACIT_INVALID);
        assert_false(f.update.decided);
        struct tacit_glm_event const event = {
            .now_us = 9, .kind = TACIT_EVENT_REWARD, .as.reward = {contexts + 3 * D, 1, 1, 0}};
        assert_int_equal(client_steps(&f, 0, &event), TACIT_INVALID);
    }
    double const one[D] = {1};
    struct tacit_glm_event event = {.kind = TACIT_EVENT_OFFER, .as.offer = {1, D - 1, one}};
    assert_int_equal(client_steps(&f, 0, &event), TACIT_INVALID);
    event.as.offer = (struct tacit_offer){0, D, one};
    assert_int_equal(client_steps(&f, 0, &event), TACIT_INVALID);
    event.kind = TACIT_EVENT_REWARD;
    event.as.reward = (struct tacit_glm_reward){one, NAN, 1, 0};
    assert_int_equal(client_steps(&f, 0, &event), TACIT_INVALID);
    assert_memory_equal(before, f.client[0], size);
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

/* Other gradients than this one, each of another sync, attempt, round or iterate: the hub ignores
 * them. */
static void say_stale_ones(struct federation *f, const struct tacit_glm_message *answer)
{
    double const others[D] = {0.5, -0.5};
    for (uint32_t which = 0; which < 4; which++) {
        struct tacit_glm_message stale = *answer;
        stale.vector = answer->kind == TACIT_GLM_GRADIENT ? others : NULL;
        stale.sync -= which == 0;
        stale.attempt -= which == 1;
        stale.round += which == 2;
        stale.digest ^= which == 3;
        if (which == 3 && answer->kind != TACIT_GLM_GRADIENT)
            continue;
        assert_int_equal(hub_gets(f, &stale), TACIT_OK);
        assert_false(f->update.send);
    }
}

/* Answers in any order, said twice, late, or of another sync, attempt, round or iterate: the same
 * model. */
TEST(order_and_repetition_of_answers_do_not_matter)
{
    struct federation a;
    struct federation b;
    open_federation(&a, TACIT_GLM_FEDGLB, 0);
    open_federation(&b, TACIT_GLM_FEDGLB, 0);
    uint64_t slot = 1;
    (void)play_to_trigger(&a, &slot);
    slot = 1;
    (void)play_to_trigger(&b, &slot);
    struct tacit_glm_message const trigger = a.update.message;
    assert_int_equal(hub_gets(&a, &trigger), TACIT_OK);
    assert_true(carry(&a, 7, 100000));
    struct tacit_glm_message said = b.update.message;
    assert_int_equal(hub_gets(&b, &said), TACIT_OK);
    struct tacit_glm_update const freeze = b.update;
    assert_int_equal(hub_gets(&b, &said), TACIT_OK); /* merged: the request again, to this one */
    assert_int_equal(b.update.message.kind, TACIT_GLM_FREEZE);
    assert_int_equal(b.update.message.to, said.from);
    b.update = freeze;
    while (b.update.send) {
        said = b.update.message;
        struct tacit_glm_update next = {0};
        for (uint32_t k = 0; k < 2 * N; k++) {
            uint32_t const i = (2 * N - 1 - k) % N;
            assert_int_equal(client_gets(&b, i, &said), TACIT_OK);
            if (!b.update.send)
                continue;
            struct tacit_glm_message const answer = b.update.message;
            say_stale_ones(&b, &answer);
            assert_int_equal(hub_gets(&b, &answer), TACIT_OK);
            if (b.update.send)
                next = b.update;
        }
        b.update = next;
    }
    assert_int_equal(hub_view(&b).sync, 1);
    assert_memory_equal(hub_view(&a).theta, hub_view(&b).theta, D * sizeof(double));
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

/* Clients that fall back to what they persisted last, at any message, and hear old iterates again:
 * the same model. */
TEST(restarted_clients_answer_with_the_same_bits)
{
    struct federation f[2];
    void *persisted[N];
    struct tacit_rng chance = tacit_rng_stream(4, 0, 0, 1);
    uint32_t restarts = 0;
    for (uint32_t which = 0; which < 2; which++) {
        open_federation(&f[which], TACIT_GLM_FEDGLB, 0);
        for (uint64_t slot = 1; slot < 30; slot++)
            for (uint32_t i = 0; i < N; i++)
                (void)reward(&f[which], i, slot);
        struct tacit_glm_message const trigger = {
            .kind = TACIT_GLM_TRIGGER, .from = 0, .to = TACIT_HUB, .run_id = 5, .slot = 30};
        assert_int_equal(hub_gets(&f[which], &trigger), TACIT_OK);
    }
    assert_true(carry(&f[0], 7, 100000));
    size_t const size = tacit_glm_client_size(&f[1].config[0]);
    for (uint32_t i = 0; i < N; i++) {
        persisted[i] = testing_malloc(size);
        memcpy(persisted[i], f[1].client[i], size);
    }
    struct tacit_glm_message earlier = {0};
    double earlier_vector[D];
    while (f[1].update.send) {
        struct tacit_glm_message const said = f[1].update.message;
        struct tacit_glm_update next = {0};
        for (uint32_t i = 0; i < N; i++) {
            if (earlier.round > 0 && tacit_rng_below(&chance, 4) == 0)
                assert_int_equal(client_gets(&f[1], i, &earlier), TACIT_OK);
            assert_int_equal(client_gets(&f[1], i, &said), TACIT_OK);
            if (f[1].update.persist) /* before the answer is sent */
                memcpy(persisted[i], f[1].client[i], size);
            if (said.kind == TACIT_GLM_ITERATE && tacit_rng_below(&chance, 3) == 0) {
                memcpy(f[1].client[i], persisted[i], size);
                assert_int_equal(tacit_glm_client_check(f[1].client[i], size, &f[1].config[i]),
                                 TACIT_OK);
                assert_int_equal(client_gets(&f[1], i, &said), TACIT_OK);
                restarts++;
            }
            if (!f[1].update.send)
                continue;
            struct tacit_glm_message const answer = f[1].update.message;
            assert_int_equal(hub_gets(&f[1], &answer), TACIT_OK);
            if (f[1].update.send)
                next = f[1].update;
        }
        if (said.kind == TACIT_GLM_ITERATE && said.round % 5 == 0) {
            memcpy(earlier_vector, said.vector, sizeof earlier_vector);
            earlier = said;
            earlier.vector = earlier_vector;
        }
        f[1].update = next;
    }
    assert_true(restarts > 20);
    assert_int_equal(hub_view(&f[1]).sync, 1);
    assert_int_equal(hub_view(&f[0]).aggregation_count, hub_view(&f[1]).aggregation_count);
    assert_memory_equal(hub_view(&f[0]).theta, hub_view(&f[1]).theta, D * sizeof(double));
    for (uint32_t i = 0; i < N; i++)
        testing_free(persisted[i]);
}

/* A hub that restarts in the midst of the rounds, from what it persisted, ends with the same bits.
 */
TEST(restarted_hub_ends_with_the_same_bits)
{
    uint64_t all = UINT64_MAX; /* J */
    for (uint32_t rounds = 1; rounds <= all; rounds += rounds < 12 ? 1 : 3) {
        struct federation a;
        struct federation b;
        open_federation(&a, TACIT_GLM_FEDGLB, 0);
        open_federation(&b, TACIT_GLM_FEDGLB, 0);
        uint64_t slot = 1;
        for (; slot < 30; slot++)
            for (uint32_t i = 0; i < N; i++) {
                (void)reward(&a, i, slot);
                (void)reward(&b, i, slot);
            }
        struct tacit_glm_message const trigger = {
            .kind = TACIT_GLM_TRIGGER, .from = 0, .to = TACIT_HUB, .run_id = 5, .slot = slot};
        assert_int_equal(hub_gets(&a, &trigger), TACIT_OK);
        assert_true(carry(&a, 7, 100000));
        all = hub_view(&a).aggregation_count;
        assert_int_equal(hub_gets(&b, &trigger), TACIT_OK);
        assert_true(b.update.persist);
        size_t const size = tacit_glm_hub_size(&b.hub_config);
        void *const persisted = testing_malloc(size);
        memcpy(persisted, b.hub, size);
        (void)carry(&b, 7, rounds);
        for (uint32_t i = 0; i < N; i++)
            (void)reward(&b, i, slot + 1); /* after the freeze: not in this model */
        memcpy(b.hub, persisted, size);
        assert_int_equal(tacit_glm_hub_check(b.hub, size, &b.hub_config), TACIT_OK);
        hub_event(&b, TACIT_EVENT_START);
        assert_int_equal(b.update.message.kind, TACIT_GLM_FREEZE);
        assert_int_equal(b.update.message.attempt, 2);
        assert_true(carry(&b, 7, 100000));
        assert_int_equal(hub_view(&b).sync, 1);
        assert_memory_equal(hub_view(&a).theta, hub_view(&b).theta, D * sizeof(double));
        assert_memory_equal(hub_view(&a).matrix, hub_view(&b).matrix,
                            TACIT_LINALG_MATRIX(D) * sizeof(double));
        testing_free(persisted);
    }
    assert_true(all > 20); /* so gradients came from expansions, too */
}

/* What came after the freeze is learnt again on the new model: the state is the same as if it had
 * come after the commit. */
TEST(rewards_after_the_freeze_are_replayed)
{
    enum tacit_glm_variant const variants[] = {TACIT_GLM_FEDGLB, TACIT_GLM_DISLINUCB};
    for (uint32_t which = 0; which < 2; which++) {
        struct federation a;
        struct federation b;
        open_federation(&a, variants[which], 0);
        open_federation(&b, variants[which], 0);
        uint64_t slot = 1;
        (void)play_to_trigger(&a, &slot);
        slot = 1;
        (void)play_to_trigger(&b, &slot);
        b.rng = a.rng;
        struct tacit_glm_message const trigger = a.update.message;
        assert_int_equal(hub_gets(&a, &trigger), TACIT_OK);
        assert_true(carry(&a, 7, 100000));
        (void)reward(&a, 0, slot); /* time stands still: nothing fires */
        (void)reward(&a, 0, slot);
        struct tacit_glm_message const same = b.update.message;
        assert_false(client_view(&b, 0).frozen);
        assert_false(hub_view(&b).busy);
        assert_int_equal(hub_gets(&b, &same), TACIT_OK);
        assert_true(hub_view(&b).busy);
        assert_false(carry(&b, 7, 1));
        assert_true(client_view(&b, 0).frozen);
        assert_true(hub_view(&b).busy);
        struct tacit_glm_update const said = b.update;
        (void)reward(&b, 0, slot);
        (void)reward(&b, 0, slot);
        b.update = said;
        assert_true(carry(&b, 7, 100000));
        struct tacit_glm_client_view const x = client_view(&a, 0);
        struct tacit_glm_client_view const y = client_view(&b, 0);
        assert_int_equal(y.sync, 1);
        assert_false(y.frozen);
        assert_false(hub_view(&b).busy);
        assert_int_equal(y.sample_count, y.included_count + 2);
        assert_memory_equal(x.theta, y.theta, D * sizeof(double));
        assert_memory_equal(x.estimate, y.estimate, D * sizeof(double));
        assert_true(x.alpha == y.alpha);
        assert_true(x.log_det == y.log_det);
    }
}

/* A federation whose hub asks for an update. */
static void open_asked(struct federation *f)
{
    uint64_t slot = 1;
    open_federation(f, TACIT_GLM_FEDGLB, 2);
    (void)play_to_trigger(f, &slot);
    struct tacit_glm_message const trigger = f->update.message;
    assert_int_equal(hub_gets(f, &trigger), TACIT_OK);
}

/* One participant is silent in the midst of the rounds: A and n are those of the others. */
TEST(lost_participant_is_left_out_of_the_next_attempt)
{
    struct federation f;
    open_asked(&f);
    assert_false(carry(&f, 7, 3));
    assert_true(carry(&f, 6, 1)); /* client 0 is silent */
    f.now_us += RESEND_US;
    hub_event(&f, TACIT_EVENT_TIMEOUT);
    assert_true(f.update.send); /* said again first */
    f.now_us += DEADLINE_US;
    hub_event(&f, TACIT_EVENT_TIMEOUT);
    assert_int_equal(f.update.message.kind, TACIT_GLM_ITERATE);
    assert_int_equal(f.update.message.attempt, 2);
    assert_int_equal(f.update.message.round, 1);
    assert_true(carry(&f, 6, 100000));
    struct tacit_glm_hub_view const view = hub_view(&f);
    assert_int_equal(view.sync, 1);
    assert_int_equal(view.participants[0], 6);
    uint64_t const others = client_view(&f, 1).sample_count + client_view(&f, 2).sample_count;
    assert_int_equal(view.model_count, others);
    /* The lost one hears of it later: the model, and all of its own samples on top. */
    struct tacit_glm_event const start = {.now_us = f.now_us, .kind = TACIT_EVENT_START};
    assert_int_equal(client_steps(&f, 0, &start), TACIT_OK);
    assert_int_equal(f.update.message.kind, TACIT_GLM_HELLO);
    struct tacit_glm_message const hello = f.update.message;
    assert_int_equal(hub_gets(&f, &hello), TACIT_OK);
    assert_int_equal(f.update.message.kind, TACIT_GLM_COMMIT);
    assert_int_equal(f.update.message.to, 0);
    struct tacit_glm_message const commit = f.update.message;
    assert_int_equal(client_gets(&f, 0, &commit), TACIT_OK);
    assert_int_equal(client_view(&f, 0).sync, 1);
    assert_int_equal(client_view(&f, 0).included_count, 0);
    assert_true(client_view(&f, 0).log_det > 0);
}

TEST(below_quorum_the_sync_is_abandoned_and_tried_later)
{
    struct federation f;
    open_asked(&f);
    assert_true(carry(&f, 1, 1)); /* only client 0 answers */
    f.now_us += DEADLINE_US;
    hub_event(&f, TACIT_EVENT_TIMEOUT);
    assert_false(f.update.send);
    assert_int_equal(hub_view(&f).abandoned_count, 1);
    assert_int_equal(hub_view(&f).answered[0], 1);
    assert_int_equal(hub_view(&f).sync, 0);
    assert_int_equal(f.update.deadline_us, f.now_us + BACKOFF_US);
    f.now_us += BACKOFF_US;
    hub_event(&f, TACIT_EVENT_TIMEOUT);
    assert_int_equal(f.update.message.kind, TACIT_GLM_FREEZE);
    assert_int_equal(f.update.message.sync, 2);
    assert_true(carry(&f, 7, 100000));
    assert_int_equal(hub_view(&f).sync, 2);
    assert_int_equal(client_view(&f, 0).sync, 2);
}

/* Who asked for the update is lost, and the others have nothing yet: there is nothing to make a
 * model of, however few would do. */
TEST(an_update_without_a_sample_is_abandoned)
{
    struct federation f;
    open_federation(&f, TACIT_GLM_FEDGLB, 1);
    bool fires = false;
    for (uint64_t slot = 1; !fires; slot++)
        fires = reward(&f, 0, slot);
    struct tacit_glm_message const trigger = f.update.message;
    assert_int_equal(hub_gets(&f, &trigger), TACIT_OK);
    assert_true(carry(&f, 6, 1));
    f.now_us += DEADLINE_US;
    hub_event(&f, TACIT_EVENT_TIMEOUT);
    assert_false(f.update.send);
    assert_int_equal(hub_view(&f).abandoned_count, 1);
    f.now_us += BACKOFF_US;
    hub_event(&f, TACIT_EVENT_TIMEOUT);
    assert_true(carry(&f, 7, 100000));
    assert_int_equal(hub_view(&f).sync, 2);
    assert_int_equal(hub_view(&f).model_count, client_view(&f, 0).sample_count);
}

static void assert_refused(struct federation *f, const struct tacit_glm_message *message,
                           enum tacit_status status)
{
    size_t const size = tacit_glm_hub_size(&f->hub_config);
    void *const before = testing_malloc(size);
    memcpy(before, f->hub, size);
    f->now_us++;
    assert_int_equal(hub_gets(f, message), status);
    assert_memory_equal(before, f->hub, size);
}

TEST(hostile_answers_are_refused_without_a_trace)
{
    struct federation f;
    open_federation(&f, TACIT_GLM_FEDGLB, 0);
    uint64_t slot = 1;
    (void)play_to_trigger(&f, &slot);
    struct tacit_glm_message const trigger = f.update.message;
    assert_int_equal(hub_gets(&f, &trigger), TACIT_OK);
    struct tacit_glm_message const freeze = f.update.message;
    assert_int_equal(client_gets(&f, 1, &freeze), TACIT_OK);
    struct tacit_glm_message frozen = f.update.message;
    double m[TACIT_LINALG_MATRIX(D)] = {0};
    frozen.matrix = m;
    frozen.count = 3;
    m[0] = 3.1; /* trace above n_i */
    assert_refused(&f, &frozen, TACIT_MALFORMED);
    m[0] = 1;
    m[1] = 1.5; /* not positive semidefinite */
    m[4] = 1.5;
    m[5] = 1;
    assert_refused(&f, &frozen, TACIT_MALFORMED);
    m[1] = NAN;
    assert_refused(&f, &frozen, TACIT_MALFORMED);
    frozen.matrix = NULL;
    assert_refused(&f, &frozen, TACIT_MALFORMED);
    frozen.from = N;
    assert_refused(&f, &frozen, TACIT_STRANGER);
    frozen.from = 1;
    frozen.run_id++;
    assert_refused(&f, &frozen, TACIT_STRANGER);
    struct tacit_glm_message commit = {
        .kind = TACIT_GLM_COMMIT, .from = 1, .to = TACIT_HUB, .run_id = 5};
    assert_refused(&f, &commit, TACIT_MALFORMED);
    f.update = (struct tacit_glm_update){.send = true, .message = freeze};
    assert_false(carry(&f, 7, 1));
    struct tacit_glm_message const iterate = f.update.message;
    assert_int_equal(iterate.kind, TACIT_GLM_ITERATE);
    assert_int_equal(client_gets(&f, 2, &iterate), TACIT_OK);
    struct tacit_glm_message gradient = f.update.message;
    double const vector[D] = {0, INFINITY};
    gradient.vector = vector;
    assert_refused(&f, &gradient, TACIT_MALFORMED);
    gradient.vector = NULL;
    assert_refused(&f, &gradient, TACIT_MALFORMED);
}

/* At each message of an update. */
TEST(damaged_states_get_the_verdicts_that_they_always_got)
{
    enum tacit_glm_variant const variants[] = {TACIT_GLM_FEDGLB, TACIT_GLM_V3, TACIT_GLM_DISLINUCB,
                                               TACIT_GLM_ONE_UCB};
    for (uint32_t which = 0; which < 4; which++) {
        struct federation f;
        open_federation(&f, variants[which], 0);
        for (uint64_t slot = 1; slot <= 6; slot++)
            for (uint32_t i = 0; i < N; i++)
                (void)reward(&f, i, slot);
        struct tacit_glm_message const trigger = {
            .kind = TACIT_GLM_TRIGGER, .from = 0, .to = TACIT_HUB, .run_id = 5, .slot = 6};
        damage_all(f.hub, tacit_glm_hub_size(&f.hub_config), is_hub, &f.hub_config);
        assert_int_equal(hub_gets(&f, &trigger), TACIT_OK);
        for (uint32_t round = 0; round < 4; round++) {
            damage_all(f.client[1], tacit_glm_client_size(&f.config[1]), is_client, &f.config[1]);
            damage_all(f.hub, tacit_glm_hub_size(&f.hub_config), is_hub, &f.hub_config);
            (void)carry(&f, 7, 1);
        }
        (void)carry(&f, 3, 1); /* one is silent: some have answered */
        damage_all(f.hub, tacit_glm_hub_size(&f.hub_config), is_hub, &f.hub_config);
    }
}

TEST(client_refuses_models_that_cannot_be)
{
    struct federation f;
    open_federation(&f, TACIT_GLM_FEDGLB, 0);
    (void)reward(&f, 0, 1);
    size_t const size = tacit_glm_client_size(&f.config[0]);
    void *const before = testing_malloc(size);
    double m[TACIT_LINALG_MATRIX(D)];
    double const vector[D] = {0.1};
    uint64_t const everybody = 7;
    uint64_t const others = 6;
    tacit_linalg_identity(D, 20, m);
    struct tacit_glm_message commit = {.kind = TACIT_GLM_COMMIT,
                                       .from = TACIT_HUB,
                                       .to = TACIT_EVERYONE,
                                       .sync = 1,
                                       .run_id = 5,
                                       .count = 9,
                                       .vector = vector,
                                       .matrix = m,
                                       .target = vector,
                                       .participants = &everybody};
    memcpy(before, f.client[0], size);
    assert_int_equal(client_gets(&f, 0, &commit), TACIT_ROLLBACK); /* it never froze */
    commit.participants = &others;
    m[0] = -1;
    assert_int_equal(client_gets(&f, 0, &commit), TACIT_MALFORMED);
    m[0] = NAN;
    assert_int_equal(client_gets(&f, 0, &commit), TACIT_MALFORMED);
    m[0] = 20;
    commit.target = NULL;
    assert_int_equal(client_gets(&f, 0, &commit), TACIT_MALFORMED);
    commit.from = 1;
    assert_int_equal(client_gets(&f, 0, &commit), TACIT_STRANGER);
    assert_memory_equal(before, f.client[0], size);
    commit.from = TACIT_HUB;
    commit.target = vector;
    double const far[D] = {1e160}; /* finite, but no radius made of it is */
    commit.vector = far;
    assert_int_equal(client_gets(&f, 0, &commit), TACIT_MALFORMED);
    commit.vector = vector;
    commit.count = f.config[0].model.client_count * f.config[0].model.horizon + 1;
    assert_int_equal(client_gets(&f, 0, &commit), TACIT_MALFORMED);
    assert_memory_equal(before, f.client[0], size);
    commit.count = 9;
    assert_int_equal(client_gets(&f, 0, &commit), TACIT_OK);
    assert_int_equal(client_view(&f, 0).sync, 1);
    assert_int_equal(tacit_glm_client_check(f.client[0], size, &f.config[0]), TACIT_OK);
    double const another[D] = {-0.2};
    commit.vector = another; /* said again, or an older one: what stands, stands */
    memcpy(before, f.client[0], size);
    for (; commit.sync <= 1; commit.sync--)
        assert_int_equal(client_gets(&f, 0, &commit), TACIT_OK);
    assert_memory_equal(before, f.client[0], size);
    assert_int_equal(tacit_glm_client_check(f.client[0], size - 8, &f.config[0]), TACIT_MALFORMED);
    assert_int_equal(tacit_glm_client_check(f.client[0], size, &f.config[1]), TACIT_MALFORMED);
}

/* What an expansion is made of stays finite, and the state one that can be put back. */
TEST(client_refuses_iterates_that_spoil_its_state)
{
    struct federation f;
    open_federation(&f, TACIT_GLM_FEDGLB, 0);
    for (uint64_t slot = 1; slot <= D * D; slot++)
        (void)reward(&f, 0, slot);
    size_t const size = tacit_glm_client_size(&f.config[0]);
    void *const before = testing_malloc(size);
    struct tacit_glm_message ask = {
        .kind = TACIT_GLM_FREEZE, .from = TACIT_HUB, .to = 0, .sync = 1, .run_id = 5, .attempt = 1};
    assert_int_equal(client_gets(&f, 0, &ask), TACIT_OK);
    memcpy(before, f.client[0], size);
    double const beyond[D] = {1e160, -1e160, 1e160, 0}; /* finite, but products with contexts.. */
    ask.kind = TACIT_GLM_ITERATE;
    ask.round = 13;
    ask.vector = beyond;
    assert_int_equal(client_gets(&f, 0, &ask), TACIT_MALFORMED);
    assert_memory_equal(before, f.client[0], size);
    double const farthest[D] = {1e75, -1e75, 1e75, 0};
    ask.vector = farthest;
    assert_int_equal(client_gets(&f, 0, &ask), TACIT_OK);
    assert_int_equal(client_view(&f, 0).anchor_round, 13);
    assert_int_equal(tacit_glm_client_check(f.client[0], size, &f.config[0]), TACIT_OK);
    ask.kind = TACIT_GLM_FREEZE; /* an update of its own, though not another attempt */
    ask.vector = NULL;
    ask.round = 0;
    ask.sync = 2;
    assert_int_equal(client_gets(&f, 0, &ask), TACIT_OK);
    assert_int_equal(client_view(&f, 0).anchor_round, 0);
}

TEST(unanswered_triggers_are_sent_again_at_doubling_pauses)
{
    struct federation f;
    open_federation(&f, TACIT_GLM_FEDGLB, 0);
    uint64_t slot = 1;
    uint32_t const who = play_to_trigger(&f, &slot);
    uint64_t pause = RESEND_US;
    for (uint32_t i = 0; i < 9; i++) {
        assert_int_equal(f.update.deadline_us, f.now_us + pause);
        f.now_us = f.update.deadline_us;
        struct tacit_glm_event const event = {.now_us = f.now_us, .kind = TACIT_EVENT_TIMEOUT};
        assert_int_equal(client_steps(&f, who, &event), TACIT_OK);
        assert_true(f.update.send);
        assert_int_equal(f.update.message.kind, TACIT_GLM_TRIGGER);
        pause = pause < 64 * RESEND_US ? 2 * pause : pause;
    }
}

/* Until the deadline, which is none of them. */
TEST(unanswered_requests_are_said_again_at_doubling_pauses)
{
    struct federation f;
    open_asked(&f);
    uint64_t const deadline_us = f.now_us + DEADLINE_US;
    for (uint64_t pause = RESEND_US; pause <= 4 * RESEND_US; pause *= 2) {
        assert_int_equal(f.update.deadline_us, f.now_us + pause);
        f.now_us = f.update.deadline_us;
        hub_event(&f, TACIT_EVENT_TIMEOUT);
        assert_true(f.update.send);
    }
    assert_int_equal(f.update.deadline_us, deadline_us);
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
