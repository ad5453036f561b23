/* The cores of federated generalised linear bandits: constants, the event, gradients, what is
 * offered. What gets lost, late, damaged or refused does so in glm_disorder.c; what is decided and
 * where an update ends is held against a twin in tests/oracle/glm_oracle.c. */
#include <math.h>
#include "../support/testing.h"
#include "../support/glm_driver.h"
#include "tacit/env.h"
#include "../support/digest.h"

/* Of all steps below: digest.h. */
DIGEST_IS(UINT64_C(0x3c8d93dba71d0002))
#define N 3u
#define D 4u
#define T 50u
#define ARMS 5u
/* A federation whose messages the test carries itself. */
struct federation {
    struct tacit_glm_model model;
    struct tacit_glm_client *client[N];
    struct tacit_glm_hub *hub;
    struct tacit_rng rng;
    struct tacit_glm_update update; /* of the last step */
    double memory[N][TACIT_LINALG_SAMPLES(D, T)];
    struct tacit_linalg_samples samples[N]; /* what each client was given */
    uint32_t sample_count[N];
};

static void open_client(struct federation *f, uint32_t i)
{
    struct tacit_glm_client_config const config = {
        .model = f->model, .client_id = i, .resend_after_us = 1000};
    f->client[i] = testing_malloc(tacit_glm_client_size(&config));
    assert_int_equal(tacit_glm_client_init(f->client[i], &config), TACIT_OK);
    f->samples[i] = (struct tacit_linalg_samples){f->memory[i], D, true};
}

static void open_federation(struct federation *f)
{
    memset(f, 0, sizeof *f);
    f->model = tacit_glm_model_init(TACIT_GLM_FEDGLB, TACIT_LINALG_LOGISTIC, N, D, T);
    f->model.run_id = 5;
    f->model.threshold = 0.3;
    f->model.suboptimality = 1e-12; /* many rounds, though there is little data */
    struct tacit_glm_hub_config const hub = {.model = f->model, .resend_after_us = 1000};
    f->hub = testing_malloc(tacit_glm_hub_size(&hub));
    assert_int_equal(tacit_glm_hub_init(f->hub, &hub), TACIT_OK);
    for (uint32_t i = 0; i < N; i++)
        open_client(f, i);
    f->rng = tacit_rng_stream(3, 0, 0, 1);
}

/* The status; the step goes to the digest. */
static enum tacit_status client_steps(struct federation *f, uint32_t i,
                                      const struct tacit_glm_event *event)
{
    enum tacit_status const status = tacit_glm_client_step(f->client[i], event, NULL, &f->update);
    glm_digest_client(f->client[i], &f->model, status, &f->update);
    return status;
}

static void client_gets(struct federation *f, uint32_t i, const struct tacit_glm_message *message)
{
    struct tacit_glm_event const event = {.kind = TACIT_EVENT_RECEIVE, .as.message = message};
    assert_int_equal(client_steps(f, i, &event), TACIT_OK);
}

static void hub_gets(struct federation *f, const struct tacit_glm_message *message)
{
    struct tacit_glm_event const event = {.kind = TACIT_EVENT_RECEIVE, .as.message = message};
    enum tacit_status const status = tacit_glm_hub_step(f->hub, &event, &f->update);
    glm_digest_hub(f->hub, &f->model, status, &f->update);
    assert_int_equal(status, TACIT_OK);
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
    struct tacit_glm_event const event = {.kind = TACIT_EVENT_REWARD, .as.reward = {x, y, slot, 0}};
    assert_int_equal(client_steps(f, i, &event), TACIT_OK);
    return f->update.send;
}

static struct tacit_glm_client_view client_view(const struct federation *f, uint32_t i)
{
    struct tacit_glm_client_view view;
    tacit_glm_client_view(f->client[i], &view);
    return view;
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

/* ---- Decisions ---- */

TEST(an_offer_may_have_1024_arms_and_no_more)
{
    struct federation f;
    static double contexts[(TACIT_GLM_ARMS_MAX + 1) * D];
    open_federation(&f);
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
/* ---- What a client may say to a hub ---------------------------------------------------------- */

static void hub_hears(struct tacit_glm_hub *hub, struct tacit_glm_message said,
                      enum tacit_status status, struct tacit_glm_update *update)
{
    struct tacit_glm_event const event = {.kind = TACIT_EVENT_RECEIVE, .as.message = &said};
    assert_int_equal(tacit_glm_hub_step(hub, &event, update), status);
}

/* An update of one client up to its gradient. */
static void check_update(struct tacit_glm_model model, const double *gram, const double *gradient,
                         const double *hessian, enum tacit_status status)
{
    struct tacit_glm_hub_config const config = {.model = model, .resend_after_us = 100};
    size_t const size = tacit_glm_hub_size(&config);
    struct tacit_glm_hub *const hub = testing_malloc(size);
    struct tacit_glm_hub_view view;
    struct tacit_glm_update update;
    struct tacit_glm_message said = {.kind = TACIT_GLM_TRIGGER, .to = TACIT_HUB};
    assert_int_equal(tacit_glm_hub_init(hub, &config), TACIT_OK);
    hub_hears(hub, said, TACIT_OK, &update);
    said.kind = TACIT_GLM_FROZEN;
    said.sync = said.attempt = 1;
    said.count = 1;
    said.matrix = gram;
    hub_hears(hub, said, TACIT_OK, &update);
    assert_int_equal(update.message.kind, TACIT_GLM_ITERATE);
    said.kind = TACIT_GLM_GRADIENT;
    said.round = 1;
    said.digest = update.message.digest;
    said.vector = gradient;
    said.matrix = hessian;
    hub_hears(hub, said, status, &update);
    tacit_glm_hub_view(hub, &view);
    assert_true(view.halted == (status == TACIT_INVALID));
    assert_int_equal(tacit_glm_hub_check(hub, size, &config), TACIT_OK);
    testing_free(hub);
}

/* It may be anything: the hub refuses it, or halts, and says so. */
TEST(hub_outlives_what_makes_no_model)
{
    static const double zeros[TACIT_LINALG_MATRIX(2)] = {0};
    static const double huge[] = {1e76, 0};
    static const double equal[] = {1e70, 1e70};
    static const double unit[] = {1, 1};
    double bent[TACIT_LINALG_MATRIX(2)] = {1e12};
    double hollow[TACIT_LINALG_MATRIX(2)] = {-1e10};
    bent[TACIT_LINALG_STRIDE(2) + 1] = -900; /* within the slack for rounding */
    struct tacit_glm_model model =
        tacit_glm_model_init(TACIT_GLM_FEDGLB, TACIT_LINALG_LOGISTIC, 1, 2, 9);
    check_update(model, zeros, zeros, NULL, TACIT_OK);
    check_update(model, zeros, huge, NULL, TACIT_MALFORMED);
    model.context_bound = 1e6;
    check_update(model, bent, zeros, NULL, TACIT_INVALID);
    model = tacit_glm_model_init(TACIT_GLM_V3, TACIT_LINALG_LOGISTIC, 1, 2, 9);
    check_update(model, zeros, equal, NULL, TACIT_INVALID);
    model = tacit_glm_model_init(TACIT_GLM_ONE_UCB, TACIT_LINALG_LOGISTIC, 1, 2, 9);
    check_update(model, zeros, unit, hollow, TACIT_INVALID);
}

/* A machine that boots again counts from nothing. What waits does not wait for the clock of before.
 */
TEST(a_start_may_begin_the_clock_anew)
{
    uint64_t const before_us = 1000000000;
    struct tacit_glm_model const model =
        tacit_glm_model_init(TACIT_GLM_FEDGLB, TACIT_LINALG_LOGISTIC, 1, 2, 9);
    struct tacit_glm_client_config const of_client = {.model = model, .resend_after_us = 1000};
    struct tacit_glm_hub_config const of_hub = {
        .model = model, .resend_after_us = 1000, .deadline_us = 3000, .backoff_us = 2000};
    struct tacit_glm_client *const client = testing_malloc(tacit_glm_client_size(&of_client));
    struct tacit_glm_hub *const hub = testing_malloc(tacit_glm_hub_size(&of_hub));
    struct tacit_glm_message said = {.kind = TACIT_GLM_TRIGGER, .to = TACIT_HUB};
    struct tacit_glm_event event = {
        .now_us = before_us, .kind = TACIT_EVENT_RECEIVE, .as.message = &said};
    struct tacit_glm_update update;
    assert_int_equal(tacit_glm_client_init(client, &of_client), TACIT_OK);
    assert_int_equal(tacit_glm_hub_init(hub, &of_hub), TACIT_OK);
    assert_int_equal(tacit_glm_hub_step(hub, &event, &update), TACIT_OK);
    said = (struct tacit_glm_message){
        .kind = TACIT_GLM_FREEZE, .from = TACIT_HUB, .sync = 1, .attempt = 1};
    assert_int_equal(tacit_glm_client_step(client, &event, NULL, &update), TACIT_OK);
    assert_true(update.deadline_us > before_us);
    event = (struct tacit_glm_event){.now_us = before_us + 3000, .kind = TACIT_EVENT_TIMEOUT};
    assert_int_equal(tacit_glm_hub_step(hub, &event, &update), TACIT_OK); /* gives it up */
    assert_true(update.deadline_us == before_us + 5000);
    event = (struct tacit_glm_event){.now_us = 7, .kind = TACIT_EVENT_START};
    assert_int_equal(tacit_glm_client_step(client, &event, NULL, &update), TACIT_OK);
    assert_true(update.deadline_us == 7);
    assert_int_equal(tacit_glm_hub_step(hub, &event, &update), TACIT_OK);
    assert_true(update.deadline_us == 2007);
    event = (struct tacit_glm_event){.now_us = 2007, .kind = TACIT_EVENT_TIMEOUT};
    assert_int_equal(tacit_glm_client_step(client, &event, NULL, &update), TACIT_OK);
    assert_true(update.send && update.message.kind == TACIT_GLM_HELLO);
    assert_int_equal(tacit_glm_hub_step(hub, &event, &update), TACIT_OK);
    assert_true(update.send && update.message.kind == TACIT_GLM_FREEZE);
    testing_free(client);
    testing_free(hub);
}

/* The daemons invert it before anything else happens. */
TEST(a_hub_whose_matrix_has_no_inverse_is_no_state)
{
    struct tacit_glm_model const model =
        tacit_glm_model_init(TACIT_GLM_FEDGLB, TACIT_LINALG_LOGISTIC, 1, 2, 9);
    struct tacit_glm_hub_config const config = {.model = model, .resend_after_us = 1000};
    size_t const size = tacit_glm_hub_size(&config);
    struct tacit_glm_hub *const hub = testing_malloc(size);
    struct tacit_glm_hub_view view;
    assert_int_equal(tacit_glm_hub_init(hub, &config), TACIT_OK);
    assert_int_equal(tacit_glm_hub_check(hub, size, &config), TACIT_OK);
    tacit_glm_hub_view(hub, &view);
    ((double *)(uintptr_t)view.matrix)[0] = -1;
    assert_int_equal(tacit_glm_hub_check(hub, size, &config), TACIT_MALFORMED);
    testing_free(hub);
}

TEST(exploration_has_the_probability_that_it_says)
{
    struct federation f;
    open_federation(&f);
    f.model.explore = 0.4;
    open_client(&f, 0);
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
    open_federation(&f);
    f.model.threshold = threshold;
    open_client(&f, 0);
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

/* ---- Updates ---- */

/* Rounds enough that gradients are expanded, and come from the expansion. */
TEST(gradients_near_an_iterate_are_the_sums_to_1e_12_a_sample)
{
    struct federation f;
    open_federation(&f);
    struct tacit_linalg_mean const mean = tacit_glm_mean(&f.model);
    uint64_t slot = 1;
    uint32_t near_count = 0;
    for (; slot < 30; slot++)
        for (uint32_t i = 0; i < N; i++)
            (void)reward(&f, i, slot);
    struct tacit_glm_message said = {
        .kind = TACIT_GLM_TRIGGER, .from = 0, .to = TACIT_HUB, .run_id = 5, .slot = slot};
    hub_gets(&f, &said);
    while (f.update.send) {
        said = f.update.message;
        struct tacit_glm_update next = {0};
        for (uint32_t i = 0; i < N; i++) {
            client_gets(&f, i, &said);
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
            hub_gets(&f, &answer);
            if (f.update.send)
                next = f.update;
        }
        f.update = next;
    }
    struct tacit_glm_hub_view hub;
    tacit_glm_hub_view(f.hub, &hub);
    assert_int_equal(hub.sync, 1);
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

/* 20,000 rewards of each link around their mean, and of counts around 1,097, too: beyond 5 standard
 * errors is one in 1.7e6. */
TEST(rewards_have_the_mean_of_the_link)
{
    struct tacit_rng rng = tacit_rng_stream(3, 0, 0, 1);
    for (int i_link = 0; i_link < 5; i_link++) {
        int const link = i_link < 4 ? i_link : (int)TACIT_LINALG_POISSON;
        struct tacit_context_env const env = {.mean = {(enum tacit_linalg_link)link, 10, 0},
                                              .sd = 0.5};
        double const mean = tacit_linalg_mean(&env.mean, i_link < 4 ? 0.4 : 7);
        double sum = 0;
        for (uint32_t i = 0; i < 20000; i++)
            sum += tacit_context_reward(&env, mean, &rng);
        double const sd = link == TACIT_LINALG_POISSON    ? sqrt(mean)
                          : link == TACIT_LINALG_IDENTITY ? 0.5
                                                          : sqrt(mean * (1 - mean));
        assert_true(fabs(sum / 20000 - mean) < 5 * sd / sqrt(20000));
    }
}
