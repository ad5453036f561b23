/* The glm cores against their naive twin, which is fed the same contexts and rewards. */
#include <math.h>
#include "../support/testing.h"
#include "../support/glm_driver.h"
#include "glm_twin_of.h"

#define SEEDS 10u
#define CLIENTS 4u
#define SLOTS 60u
#define DIMENSION 3u
#define ARMS 5u
#define DECISIONS (CLIENTS * SLOTS)

static double contexts[DECISIONS * ARMS * DIMENSION];
static double rewards[DECISIONS * ARMS];

static void draw_unit(struct tacit_rng *rng, double *x)
{
    double square = 0;
    for (uint32_t i = 0; i < DIMENSION; i++) {
        x[i] = tacit_rng_normal(rng);
        square += x[i] * x[i];
    }
    for (uint32_t i = 0; i < DIMENSION; i++)
        x[i] /= sqrt(square);
}

/* Rewards of the link's own kind; the cores must agree with the twin on any numbers. */
static void draw_world(const struct tacit_glm_model *model, uint32_t seed)
{
    struct tacit_rng rng = tacit_rng_stream(seed, 0, 0, 99);
    struct tacit_linalg_mean const mean = tacit_glm_mean(model);
    double theta[DIMENSION];
    draw_unit(&rng, theta);
    for (uint32_t k = 0; k < DECISIONS * ARMS; k++) {
        double *const x = contexts + k * DIMENSION;
        draw_unit(&rng, x);
        double z = 0;
        for (uint32_t i = 0; i < DIMENSION; i++)
            z += x[i] * theta[i];
        double const mu = tacit_linalg_mean(&mean, z);
        if (model->link == TACIT_LINALG_IDENTITY)
            rewards[k] = mu + 0.5 * tacit_rng_normal(&rng);
        else if (model->link == TACIT_LINALG_POISSON)
            rewards[k] = floor(mu + tacit_rng_exponential(&rng));
        else
            rewards[k] = tacit_rng_bernoulli(&rng, mu);
    }
}

static struct twin_config twin_of(const struct tacit_glm_model *model)
{
    return glm_twin_of(model, CLIENTS, SLOTS, DIMENSION, ARMS);
}

/* Runs both; returns the number of updates. */
static uint32_t compare(const struct tacit_glm_model *model, uint32_t seed, bool hides_inverse)
{
    struct twin_decision decisions[DECISIONS];
    double theta[TWIN_D_MAX];
    struct twin_config const twin = twin_of(model);
    draw_world(model, seed);
    glm_twin_run(&twin, contexts, rewards, decisions, theta);
    struct glm_driver driver;
    glm_driver_open(&driver, model, tacit_linalg_fastest());
    driver.hides_inverse = hides_inverse;
    uint64_t aggregations = 0;
    uint32_t updates = 0;
    struct tacit_glm_hub_view hub;
    for (uint32_t at = 0; at < DECISIONS; at++) {
        uint32_t const i = at % CLIENTS;
        struct tacit_glm_client_view view;
        tacit_glm_client_view(driver.clients[i], &view);
        if (!(fabs(view.alpha - decisions[at].alpha) < 1e-9))
            fail_msg("seed %u, decision %u: alpha %.12g, twin %.12g", seed, at, view.alpha,
                     decisions[at].alpha);
        const double *const rows = contexts + (size_t)at * ARMS * DIMENSION;
        uint32_t const arm = glm_driver_decide(&driver, i, ARMS, rows);
        assert_int_equal(arm, decisions[at].arm);
        glm_driver_reward(&driver, i, at / CLIENTS + 1, rows + arm * DIMENSION,
                          rewards[at * ARMS + arm]);
        tacit_glm_hub_view(driver.hub, &hub);
        assert_int_equal(hub.update_count - updates, decisions[at].rounds > 0);
        if (decisions[at].rounds > 0 && model->variant != TACIT_GLM_ONE_UCB)
            assert_int_equal(hub.aggregation_count - aggregations, decisions[at].rounds);
        updates = (uint32_t)hub.update_count;
        aggregations = hub.aggregation_count;
    }
    if (updates > 0 && model->variant != TACIT_GLM_DISLINUCB)
        for (uint32_t c = 0; c < DIMENSION; c++)
            assert_true(fabs(hub.theta[c] - theta[c]) < 1e-9);
    return updates;
}

static struct tacit_glm_model model_of(enum tacit_glm_variant variant, enum tacit_linalg_link link)
{
    struct tacit_glm_model model = tacit_glm_model_init(variant, link, CLIENTS, DIMENSION, SLOTS);
    model.run_id = 11;
    return model;
}

static void compare_thresholds(enum tacit_glm_variant variant)
{
    double const thresholds[] = {0.05, 1, 30};
    uint32_t updates[3] = {0};
    for (uint32_t which = 0; which < 3; which++)
        for (uint32_t seed = 0; seed < SEEDS; seed++) {
            struct tacit_glm_model model = model_of(variant, TACIT_LINALG_LOGISTIC);
            model.threshold = thresholds[which];
            model.exploration = seed % 2 == 0 ? TACIT_GLM_PRACTICAL : TACIT_GLM_THEORY;
            updates[which] += compare(&model, seed, seed % 3 == 0);
        }
    assert_true(updates[0] > updates[1]);
    assert_true(updates[1] > updates[2]);
    assert_true(updates[2] > 0);
}

static void compare_schedules(enum tacit_glm_variant variant)
{
    uint64_t const updates[] = {3, 20, 60, 100};
    for (uint32_t which = 0; which < 4; which++)
        for (uint32_t seed = 0; seed < SEEDS; seed++) {
            struct tacit_glm_model model = model_of(variant, TACIT_LINALG_LOGISTIC);
            model.period = tacit_glm_period(CLIENTS, SLOTS, updates[which]);
            model.exploration = seed % 2 == 0 ? TACIT_GLM_PRACTICAL : TACIT_GLM_THEORY;
            if (variant == TACIT_GLM_V3 && seed % 3 == 2)
                model.exploration = TACIT_GLM_PROOF;
            uint32_t const count = compare(&model, seed, seed % 3 == 0);
            assert_int_equal(count, DECISIONS / model.period);
            assert_true(count >= updates[which]);
        }
}

static void compare_alone(enum tacit_glm_variant variant)
{
    for (uint32_t seed = 0; seed < SEEDS; seed++) {
        struct tacit_glm_model model = model_of(variant, TACIT_LINALG_LOGISTIC);
        model.exploration = seed % 2 == 0 ? TACIT_GLM_PRACTICAL : TACIT_GLM_THEORY;
        assert_int_equal(compare(&model, seed, false), 0);
    }
}

TEST(variants_decide_and_update_as_their_twin)
{
    compare_thresholds(TACIT_GLM_FEDGLB);
    compare_thresholds(TACIT_GLM_DISLINUCB);
    compare_schedules(TACIT_GLM_V1);
    compare_schedules(TACIT_GLM_V2);
    compare_schedules(TACIT_GLM_V3);
    compare_alone(TACIT_GLM_N_UCB);
    compare_alone(TACIT_GLM_N_ONS);
}

/* Once a round, and at every interaction. */
TEST(one_ucb_decides_and_updates_as_its_twin)
{
    for (uint32_t seed = 0; seed < SEEDS; seed++) {
        struct tacit_glm_model model = model_of(TACIT_GLM_ONE_UCB, TACIT_LINALG_LOGISTIC);
        model.period = seed % 2 == 0 ? CLIENTS : 1;
        assert_int_equal(compare(&model, seed, false), DECISIONS / model.period);
    }
}

TEST(other_links_decide_and_update_as_the_twin)
{
    enum tacit_glm_variant const variants[] = {TACIT_GLM_FEDGLB, TACIT_GLM_V2, TACIT_GLM_V3,
                                               TACIT_GLM_N_UCB, TACIT_GLM_N_ONS};
    for (uint32_t seed = 0; seed < SEEDS; seed++)
        for (uint32_t which = 0; which < 5; which++) {
            enum tacit_linalg_link const link = (enum tacit_linalg_link)(1 + seed % 3);
            struct tacit_glm_model model = model_of(variants[which], link);
            model.period = 5 * CLIENTS;
            model.threshold = 2;
            compare(&model, seed, false);
        }
}

/* Contexts of length sqrt(2), as the authors' pool has them, and an eps_t of one's own. */
TEST(longer_contexts_and_another_suboptimality_agree)
{
    for (uint32_t seed = 0; seed < SEEDS; seed++) {
        struct tacit_glm_model model = model_of(TACIT_GLM_FEDGLB, TACIT_LINALG_LOGISTIC);
        model.context_bound = sqrt(2);
        model.suboptimality = 1e-4;
        assert_true(compare(&model, seed, false) > 0);
    }
}

/* The authors' program: its descent, from 0 or from the last model, the trigger by own samples, an
 * update that ends early. */
TEST(what_the_authors_ran_agrees)
{
    enum tacit_glm_variant const variants[] = {TACIT_GLM_FEDGLB, TACIT_GLM_V1, TACIT_GLM_V2,
                                               TACIT_GLM_DISLINUCB};
    for (uint32_t seed = 0; seed < SEEDS; seed++)
        for (uint32_t which = 0; which < 4; which++) {
            struct tacit_glm_model model = model_of(variants[which], TACIT_LINALG_LOGISTIC);
            model.period = 10 * CLIENTS;
            model.clock = seed % 3 == 0 ? TACIT_GLM_SLOTS : TACIT_GLM_COUNTS;
            model.descent = seed % 4 == 1 ? TACIT_GLM_PRINTED : TACIT_GLM_AUTHORS;
            model.start = seed % 2 == 0 ? TACIT_GLM_START_ZERO : TACIT_GLM_START_LAST;
            model.rounds = seed % 5 == 2 ? 7 : 0;
            assert_true(compare(&model, seed, false) > 0);
        }
}

/* Every path, and with the inverse hidden as on a wire: the same bytes of every state. */
TEST(states_do_not_depend_on_the_path)
{
    for (int variant = 0; variant <= TACIT_GLM_DISLINUCB; variant++) {
        struct tacit_glm_model const model =
            model_of((enum tacit_glm_variant)variant, TACIT_LINALG_LOGISTIC);
        struct glm_driver a;
        struct glm_driver b;
        draw_world(&model, 5);
        glm_driver_open(&a, &model, TACIT_LINALG_PORTABLE);
        glm_driver_open(&b, &model, tacit_linalg_fastest());
        b.hides_inverse = true;
        for (uint32_t at = 0; at < DECISIONS; at++) {
            uint32_t const i = at % CLIENTS;
            const double *const rows = contexts + (size_t)at * ARMS * DIMENSION;
            uint32_t const arm = glm_driver_decide(&a, i, ARMS, rows);
            assert_int_equal(glm_driver_decide(&b, i, ARMS, rows), arm);
            glm_driver_reward(&a, i, at / CLIENTS + 1, rows + arm * DIMENSION,
                              rewards[at * ARMS + arm]);
            glm_driver_reward(&b, i, at / CLIENTS + 1, rows + arm * DIMENSION,
                              rewards[at * ARMS + arm]);
        }
        for (uint32_t i = 0; i < CLIENTS; i++) {
            struct tacit_glm_client_config const config = {
                .model = model, .client_id = i, .resend_after_us = 1000000};
            size_t const size = tacit_glm_client_size(&config);
            assert_memory_equal(a.clients[i], b.clients[i], size);
            assert_int_equal(tacit_glm_client_check(a.clients[i], size, &config), TACIT_OK);
        }
    }
}
