/* The private linear bandit, one property at a time: numbers that were worked out by hand, the
 * grid, the tree against a naive one, refusals that leave no trace. */
#include "../support/testing.h"
#include <math.h>
#include "tacit/glm_private.h"
#include "tacit/wire_glm.h"
#include "../support/digest.h"

/* Of all steps below: digest.h. */
DIGEST_IS(UINT64_C(0xcf0583ab73061843))

#define D 3u
#define S ((uint32_t)TACIT_GLM_PRIVATE_SUMS(D))
#define CLIENTS 3u

static struct tacit_rng stream(uint32_t run)
{
    return tacit_rng_stream(41, run, 0, TACIT_PURPOSE_OF_FAMILY(4, 200));
}

static struct tacit_glm_private_model some_model(void)
{
    return (struct tacit_glm_private_model){.run_id = 7,
                                            .link = TACIT_LINALG_IDENTITY,
                                            .exploration = TACIT_GLM_THEORY,
                                            .client_count = CLIENTS,
                                            .dimension = D,
                                            .batch_count = 40,
                                            .epsilon = 1,
                                            .delta = 1e-6,
                                            .failure = 0.05,
                                            .norm_bound = 1,
                                            .noise_bound = 0.5};
}

static struct tacit_glm_private_rule rule_of(const struct tacit_glm_private_model *model)
{
    struct tacit_glm_private_rule rule;
    assert_int_equal(tacit_glm_private_rule_init(&rule, model), TACIT_OK);
    uint64_t const words[] = {rule.is_flat, rule.level_count, rule.node_count, rule.rho_nano,
                              rule.node_rho_nano};
    digest_bytes(words, sizeof words);
    digest_real(rule.sd);
    digest_real(rule.shift);
    digest_real(rule.drift);
    return rule;
}

/* What came of a step. */
struct update {
    enum tacit_status status;
    uint32_t arm;
    double probability;
    const int64_t *sums;
};

static enum tacit_status digest_step_of(const struct tacit_glm_private_client *client,
                                        const struct update *update)
{
    struct tacit_glm_private_client_view view;
    tacit_glm_private_client_view(client, &view);
    uint64_t const words[] = {(uint64_t)update->status, update->arm,         view.batch,
                              view.model_batch,         view.spent_rho_nano, view.release_count};
    digest_bytes(words, sizeof words);
    digest_real(update->probability);
    if (update->sums != NULL)
        digest_bytes(update->sums, S * sizeof *update->sums);
    digest_real(view.alpha);
    digest_reals(view.theta, D);
    digest_reals(view.inverse, TACIT_LINALG_MATRIX(D));
    return update->status;
}

static enum tacit_status decide(struct tacit_glm_private_client *client,
                                const struct tacit_offer *offer,
                                const struct tacit_entropy *entropy, struct update *update)
{
    *update = (struct update){.sums = NULL};
    update->status = tacit_glm_private_client_offer(client, TACIT_LINALG_PORTABLE, offer, entropy,
                                                    &update->arm, &update->probability);
    return digest_step_of(client, update);
}

/* ---- The rule ---- */

/* N = 20, T = 500 and N = 200, T = 2000, in batches of 5 slots, a = .025: Y is about 4,500 and
 * 18,900 (the specification's own numbers). */
TEST(shift_is_what_was_worked_out_beforehand)
{
    struct tacit_glm_private_model model = some_model();
    model.dimension = 10;
    model.failure = 0.025;
    model.client_count = 20;
    model.batch_count = 100;
    struct tacit_glm_private_rule rule = rule_of(&model);
    assert_true(fabs(rule.shift - 4500) < 10);
    assert_int_equal(tacit_glm_private_clients_min(&rule, 500), 406);
    assert_int_equal(tacit_glm_private_horizon_max(&rule), 109951162777); /* 2^41 of all clients */
    model.client_count = 200;
    model.batch_count = 400;
    rule = rule_of(&model);
    assert_true(fabs(rule.shift - 18900) < 30);
    assert_int_equal(tacit_glm_private_clients_min(&rule, 2000), 45);
}

/* With 1e-310 the bounds of the noise were infinite, and the radius was no number. */
TEST(a_failure_that_cannot_be_divided_by_is_refused)
{
    struct tacit_glm_private_model model = some_model();
    struct tacit_glm_private_rule rule;
    model.failure = 1e-310;
    assert_int_equal(tacit_glm_private_rule_init(&rule, &model), TACIT_INVALID);
    model.failure = 1e-100;
    assert_int_equal(tacit_glm_private_rule_init(&rule, &model), TACIT_OK);
    assert_true(isfinite(rule.shift) && isfinite(rule.drift));
}

TEST(few_batches_are_released_one_by_one_and_many_in_a_tree)
{
    struct tacit_glm_private_model model = some_model();
    model.batch_count = 35; /* L = 6, L^2 = 36 */
    struct tacit_glm_private_rule rule = rule_of(&model);
    assert_true(rule.is_flat);
    assert_int_equal(rule.level_count, 1);
    assert_int_equal(rule.node_count, 35);
    model.batch_count = 36;
    rule = rule_of(&model);
    assert_false(rule.is_flat);
    assert_int_equal(rule.level_count, 6);
    assert_int_equal(rule.node_count, 6);
}

/* L releases of sensitivity Delta cost L Delta^2/(2 sigma^2), which is rho at most, and not less
 * than a millionth below it. */
TEST(noise_pays_for_all_levels_and_no_more)
{
    struct tacit_glm_private_model model = some_model();
    for (uint64_t batches = 1; batches < 5000; batches = batches * 3 / 2 + 1)
        for (int logistic = 0; logistic < 2; logistic++) {
            model.batch_count = batches;
            model.link = logistic ? TACIT_LINALG_LOGISTIC : TACIT_LINALG_IDENTITY;
            struct tacit_glm_private_rule const rule = rule_of(&model);
            double const unit = (double)TACIT_GLM_PRIVATE_UNIT;
            double const variance = tacit_gaussian_variance(&rule.noise) / (unit * unit);
            double const spent = rule.level_count *
                                 tacit_glm_private_sensitivity_square(model.link) / (2 * variance);
            double const root = sqrt(log(1e6) + 1) - sqrt(log(1e6));
            assert_true(spent <= root * root);
            assert_true(spent > root * root * (1 - 1e-5));
        }
}

/* s^2 = 2 L sigma^2, and M L sigma0^2 of a floor; a client's noise is the floor's alone. */
TEST(two_aggregators_leave_a_client_its_floor)
{
    struct tacit_glm_private_model model = some_model();
    for (uint64_t batches = 20; batches <= 40; batches += 20) { /* flat, tree */
        struct tacit_glm_private_rule one;
        struct tacit_glm_private_rule floor;
        model.batch_count = batches;
        model.epsilon = 3;
        assert_int_equal(tacit_glm_private_rule_init(&floor, &model), TACIT_OK);
        model.epsilon = 1;
        assert_int_equal(tacit_glm_private_rule_init(&one, &model), TACIT_OK);
        struct tacit_glm_private_rule bare = one;
        struct tacit_glm_private_rule masked = one;
        assert_int_equal(tacit_glm_private_rule_mask(&bare, INFINITY), TACIT_OK);
        assert_int_equal(tacit_glm_private_rule_mask(&masked, 3), TACIT_OK);
        assert_true(bare.is_bare && !masked.is_bare && masked.rho_nano == one.rho_nano);
        assert_memory_equal(&masked.noise, &floor.noise, sizeof floor.noise);
        double const two = one.sd * one.sd * 2 / CLIENTS;
        assert_true(fabs(bare.sd * bare.sd / two - 1) < 1e-12);
        assert_true(fabs(masked.sd * masked.sd / (two + floor.sd * floor.sd) - 1) < 1e-12);
        assert_true(fabs(bare.shift / one.shift - bare.sd / one.sd) < 1e-12);
        assert_true(fabs(masked.drift / one.drift - masked.sd / one.sd) < 1e-12);
    }
    struct tacit_glm_private_rule rule;
    assert_int_equal(tacit_glm_private_rule_init(&rule, &model), TACIT_OK);
    struct tacit_glm_private_rule const before = rule;
    assert_int_equal(tacit_glm_private_rule_mask(&rule, 1e-3), TACIT_INVALID); /* does not fit */
    assert_memory_equal(&rule, &before, sizeof rule);
}

/* By trying: with one client fewer the noise outweighs what was learnt. */
TEST(so_many_clients_are_the_fewest_that_are_worth_while)
{
    static const double floors[] = {0, INFINITY, 2}; /* 0: one aggregator */
    for (uint32_t i = 0; i < 3; i++) {
        struct tacit_glm_private_model model = some_model();
        struct tacit_glm_private_rule rule;
        uint64_t said = 0;
        uint32_t found = 0;
        for (uint32_t count = 1; count < 2000 && found == 0; count++) {
            model.client_count = count;
            assert_int_equal(tacit_glm_private_rule_init(&rule, &model), TACIT_OK);
            if (floors[i] > 0)
                assert_int_equal(tacit_glm_private_rule_mask(&rule, floors[i]), TACIT_OK);
            found = count * 120.0 / D >= rule.shift ? count : 0;
            said = said == 0 ? tacit_glm_private_clients_min(&rule, 120) : said;
            assert_int_equal(tacit_glm_private_clients_min(&rule, 120), said);
        }
        assert_int_equal(said, found);
        assert_true(found > 3);
    }
}

/* ---- The grid ---- */

TEST(contexts_on_the_grid_are_never_longer_than_one)
{
    for (uint32_t run = 0; run < 20000; run++) {
        struct tacit_rng rng = stream(run);
        uint32_t const d = 1 + (uint32_t)tacit_rng_below(&rng, 64);
        double const size = exp(6 * (tacit_rng_uniform(&rng) - 0.5));
        double x[64];
        int64_t steps[64];
        double square = 0;
        int64_t sum = 0;
        for (uint32_t i = 0; i < d; i++) {
            x[i] = size * tacit_rng_normal(&rng);
            square += x[i] * x[i];
        }
        tacit_glm_private_quantise(d, x, steps);
        double const scale = square > 1 ? 1 / sqrt(square) : 1;
        for (uint32_t i = 0; i < d; i++) {
            assert_true(fabs((double)steps[i]) <= fabs(x[i] * scale * 1024) + 1e-9);
            assert_true(fabs((double)steps[i] - x[i] * scale * 1024) < 1 + 1e-9);
            sum += steps[i] * steps[i];
        }
        assert_true(sum <= (int64_t)TACIT_GLM_PRIVATE_UNIT);
    }
}

TEST(what_is_no_number_counts_as_nothing)
{
    double const bad[] = {NAN, 0.5, INFINITY};
    int64_t steps[3] = {9, 9, 9};
    tacit_glm_private_quantise(3, bad, steps);
    assert_true(steps[0] == 0 && steps[1] == 0 && steps[2] == 0);
    double const huge[] = {1e200, -1e200, 0};
    tacit_glm_private_quantise(3, huge, steps);
    assert_true(steps[0] == 0 && steps[1] == 0);
    assert_int_equal(tacit_glm_private_reward_steps(TACIT_LINALG_IDENTITY, NAN), -1024);
    assert_int_equal(tacit_glm_private_reward_steps(TACIT_LINALG_IDENTITY, 7), 1024);
    assert_int_equal(tacit_glm_private_reward_steps(TACIT_LINALG_IDENTITY, -0.9999), -1023);
    assert_int_equal(tacit_glm_private_reward_steps(TACIT_LINALG_LOGISTIC, 1), 512);
    assert_int_equal(tacit_glm_private_reward_steps(TACIT_LINALG_LOGISTIC, -3), -512);
}

/* Over a fine net of pairs in two dimensions nothing exceeds 9/2, and the pair at 60 degrees with
 * equal products of coordinates comes close to it. */
TEST(sensitivity_is_nine_halves_and_no_more)
{
    double worst[2] = {0, 0};
    for (uint32_t first = 0; first < 360; first++)
        for (uint32_t second = 0; second < 360; second++)
            for (uint32_t kind = 0; kind < 8; kind++) {
                bool const is_logistic = kind >= 4;
                double const half = is_logistic ? 0.5 : 1;
                double const a[] = {cos(first * M_PI / 180), sin(first * M_PI / 180)};
                double const b[] = {cos(second * M_PI / 180), sin(second * M_PI / 180)};
                double const y = (kind & 1) != 0 ? half : -half;
                double const z = (kind & 2) != 0 ? half : -half;
                double const sums[] = {a[0] * a[0] - b[0] * b[0], a[0] * a[1] - b[0] * b[1],
                                       a[1] * a[1] - b[1] * b[1], a[0] * y - b[0] * z,
                                       a[1] * y - b[1] * z};
                double square = 0;
                for (uint32_t i = 0; i < 5; i++)
                    square += sums[i] * sums[i];
                if (square > worst[is_logistic])
                    worst[is_logistic] = square;
            }
    double const identity = tacit_glm_private_sensitivity_square(TACIT_LINALG_IDENTITY);
    double const logistic = tacit_glm_private_sensitivity_square(TACIT_LINALG_LOGISTIC);
    assert_true(identity == 4.5);
    assert_true(logistic == 2.53125);
    assert_true(worst[0] <= identity + 1e-9 && worst[0] > identity - 1e-3);
    assert_true(worst[1] <= logistic + 1e-9 && worst[1] > logistic - 1e-3);
}

/* ---- Releases ---- */

static struct tacit_glm_private_client *new_client(const struct tacit_glm_private_rule *rule)
{
    struct tacit_glm_private_client *const client =
        testing_malloc(tacit_glm_private_client_size(rule));
    tacit_glm_private_client_init(client, rule);
    return client;
}

static void give(struct tacit_glm_private_client *client, const double *x, double y)
{
    struct tacit_glm_reward const reward = {x, y, 0, 0};
    tacit_glm_private_client_reward(client, &reward);
    (void)digest_step_of(client, &(struct update){.status = TACIT_OK});
}

static enum tacit_status close_batch(struct tacit_glm_private_client *client, uint64_t batch,
                                     const struct tacit_entropy *entropy, struct update *update)
{
    *update = (struct update){.sums = NULL};
    update->status = tacit_glm_private_client_close(client, batch, entropy, &update->sums);
    return digest_step_of(client, update);
}

/* Before the first release V = 2 Y I. The radius as the specification writes it, term by term:
 * R sqrt(2 ln(3/a) + ln det V - d ln Y) + S sqrt(3 Y) + G / sqrt(Y); what estimates a quarter of
 * the slope has four times the error. */
TEST(radius_is_the_sum_that_the_specification_says)
{
    for (uint32_t is_logistic = 0; is_logistic < 2; is_logistic++) {
        struct tacit_glm_private_model model = some_model();
        model.link = is_logistic ? TACIT_LINALG_LOGISTIC : TACIT_LINALG_IDENTITY;
        struct tacit_glm_private_rule const rule = rule_of(&model);
        struct tacit_glm_private_client *const client = new_client(&rule);
        struct tacit_glm_private_client_view view;
        tacit_glm_private_client_view(client, &view);
        double const confidence = 0.5 * sqrt(2 * log(3 / 0.05) + D * log(2));
        double const regular = sqrt(3 * rule.shift);
        double const noise = rule.drift / sqrt(rule.shift);
        double const radius = (is_logistic ? 4 : 1) * (confidence + noise) + regular;
        assert_true(noise > 1e-3 * radius); /* each term can be seen */
        assert_true(confidence > 1e-3 * radius);
        assert_true(fabs(view.alpha - radius) <= 1e-12 * radius);
        testing_free(client);
    }
}

/* Two clients with equal randomness whose data differ: the noise cancels, and what is left is the
 * exact difference of the prefixes. A third draws of another stream: each number of its prefix at
 * batch p has the noise of as many nodes as p has ones. */
TEST(prefixes_are_exact_sums_and_the_noise_of_their_nodes)
{
    for (int flat = 0; flat < 2; flat++) {
        struct tacit_glm_private_model model = some_model();
        model.batch_count = flat ? 20 : 40;
        struct tacit_glm_private_rule const rule = rule_of(&model);
        assert_true(rule.is_flat == (flat == 1));
        struct tacit_glm_private_client *const some = new_client(&rule);
        struct tacit_glm_private_client *const none = new_client(&rule);
        struct tacit_rng data = stream(1);
        struct tacit_rng first = stream(2);
        struct tacit_rng second = stream(2);
        int64_t expected[S] = {0};
        for (uint64_t batch = 1; batch <= model.batch_count; batch++) {
            for (uint64_t i = 0; i < batch % 4; i++) { /* batches without any, too */
                double x[D];
                int64_t q[D];
                for (uint32_t j = 0; j < D; j++)
                    x[j] = tacit_rng_normal(&data);
                double const y = tacit_rng_uniform(&data);
                tacit_glm_private_quantise(D, x, q);
                int64_t *sum = expected;
                for (uint32_t j = 0; j < D; j++)
                    for (uint32_t k = j; k < D; k++)
                        *sum++ += q[j] * q[k];
                for (uint32_t j = 0; j < D; j++)
                    *sum++ += q[j] * tacit_glm_private_reward_steps(model.link, y);
                give(some, x, y);
            }
            struct update a;
            struct update b;
            struct tacit_entropy const here = tacit_rng_entropy(&first);
            struct tacit_entropy const there = tacit_rng_entropy(&second);
            assert_int_equal(close_batch(some, batch, &here, &a), TACIT_OK);
            assert_int_equal(close_batch(none, batch, &there, &b), TACIT_OK);
            assert_true(a.sums != NULL && b.sums != NULL);
            for (uint32_t i = 0; i < S; i++)
                assert_true(a.sums[i] - b.sums[i] == expected[i]);
        }
        testing_free(some);
        testing_free(none);
    }
}

/* Nodes are noised once: between two prefixes that share nodes, only the others' noise changes. A
 * client without data shows its noise. */
TEST(a_node_keeps_its_noise)
{
    struct tacit_glm_private_model const model = some_model();
    struct tacit_glm_private_rule const rule = rule_of(&model);
    struct tacit_glm_private_client *const client = new_client(&rule);
    struct tacit_rng rng = stream(3);
    struct tacit_entropy const entropy = tacit_rng_entropy(&rng);
    int64_t prefix[41][S];
    memset(prefix, 0, sizeof prefix);
    for (uint64_t batch = 1; batch <= 40; batch++) {
        struct update update;
        assert_int_equal(close_batch(client, batch, &entropy, &update), TACIT_OK);
        memcpy(prefix[batch], update.sums, sizeof prefix[batch]);
    }
    /* [9,12] is in 12 = 8 + 4, in 13, 14, 15: its noise is prefix(12) - prefix(8). */
    for (uint32_t i = 0; i < S; i++) {
        int64_t const four = prefix[12][i] - prefix[8][i];
        int64_t const one = prefix[13][i] - prefix[12][i];
        int64_t const two = prefix[14][i] - prefix[12][i];
        assert_true(prefix[15][i] - prefix[14][i] != one || one == 0); /* [15,15] is another node */
        assert_true(prefix[14][i] == prefix[8][i] + four + two);
    }
    struct tacit_glm_private_client_view view;
    tacit_glm_private_client_view(client, &view);
    assert_int_equal(view.release_count, 40);
    assert_true(view.spent_rho_nano <= rule.rho_nano);
    assert_true(view.spent_rho_nano == 6 * rule.node_rho_nano); /* all levels were used */
}

/* How many words of the state are sums that a batch has gathered: they were not there before it. */
static size_t count_sums_left(const struct tacit_glm_private_rule *rule)
{
    struct tacit_rng rng = stream(77);
    struct tacit_entropy const entropy = tacit_rng_entropy(&rng);
    struct tacit_glm_private_client *const client = new_client(rule);
    size_t const words = tacit_glm_private_client_size(rule) / sizeof(int64_t);
    const int64_t *const now = (const int64_t *)(const void *)client;
    int64_t *const before = testing_calloc(words, sizeof *before);
    int64_t *const gathered = testing_calloc(words, sizeof *gathered);
    assert_true(before != NULL && gathered != NULL);
    memcpy(before, now, words * sizeof *now);
    double const x[D] = {0.61, -0.33, 0.17};
    for (uint32_t i = 0; i < 97; i++)
        give(client, x, 0.45);
    memcpy(gathered, now, words * sizeof *now);
    struct update update;
    assert_int_equal(close_batch(client, 1, &entropy, &update), TACIT_OK);
    assert_non_null(update.sums);
    size_t sum_count = 0;
    size_t left = 0;
    for (size_t i = 0; i < words; i++) {
        bool const is_sum = gathered[i] != before[i] && llabs(gathered[i]) > 1000000;
        sum_count += is_sum;
        for (size_t j = 0; is_sum && j < words; j++)
            left += now[j] == gathered[i];
    }
    assert_in_range(sum_count, D, words); /* of x y at the least */
    return left;
}

/* Batches by themselves leave no exact sum behind their draw. In a tree the nodes above need those
 * of the nodes below: they stay until these are drawn. */
TEST(after_the_draw_no_exact_sum_is_left_that_nobody_needs)
{
    struct tacit_glm_private_model model = some_model();
    model.batch_count = 20;
    struct tacit_glm_private_rule const flat = rule_of(&model);
    model.batch_count = 40;
    struct tacit_glm_private_rule const tree = rule_of(&model);
    assert_true(flat.is_flat && !tree.is_flat);
    assert_int_equal(count_sums_left(&flat), 0);
    assert_true(count_sums_left(&tree) > 0);
}

static enum tacit_status no_entropy(void *context, void *bytes, size_t size)
{
    uint32_t *const left = context;
    if (*left == 0)
        return TACIT_ENTROPY;
    (*left)--;
    memset(bytes, 7, size);
    return TACIT_OK;
}

TEST(a_release_without_entropy_leaves_no_trace)
{
    struct tacit_glm_private_model const model = some_model();
    struct tacit_glm_private_rule const rule = rule_of(&model);
    struct tacit_glm_private_client *const client = new_client(&rule);
    size_t const size = tacit_glm_private_client_size(&rule);
    double const x[D] = {0.5, 0.25, 0};
    give(client, x, 1);
    void *const before = testing_malloc(size);
    memcpy(before, client, size);
    for (uint32_t fills = 0; fills < 5; fills++) {
        struct update update;
        uint32_t left = fills;
        struct tacit_entropy const entropy = {no_entropy, &left};
        assert_int_equal(close_batch(client, 1, &entropy, &update), TACIT_ENTROPY);
        assert_null(update.sums);
        assert_memory_equal(before, client, size);
    }
}

TEST(batches_close_in_order_once_and_not_beyond_the_last)
{
    struct tacit_glm_private_model model = some_model();
    model.batch_count = 2;
    struct tacit_glm_private_rule const rule = rule_of(&model);
    struct tacit_glm_private_client *const client = new_client(&rule);
    struct tacit_rng rng = stream(4);
    struct tacit_entropy const entropy = tacit_rng_entropy(&rng);
    struct update update;
    assert_int_equal(close_batch(client, 2, &entropy, &update), TACIT_INVALID);
    assert_int_equal(close_batch(client, 1, &entropy, &update), TACIT_OK);
    assert_non_null(update.sums);
    assert_int_equal(close_batch(client, 1, &entropy, &update), TACIT_OK);
    assert_null(update.sums);
    assert_int_equal(close_batch(client, 2, &entropy, &update), TACIT_OK);
    assert_int_equal(close_batch(client, 3, &entropy, &update), TACIT_BUDGET);
    assert_null(update.sums);
}

/* ---- The model ---- */

/* V = sum of W~ + 2 Y I, theta = V^-1 sum of u~; a client that is given it decides by it. */
TEST(the_model_is_that_of_all_releases)
{
    struct tacit_glm_private_model const model = some_model();
    struct tacit_glm_private_rule const rule = rule_of(&model);
    struct tacit_glm_private_client *clients[CLIENTS];
    struct tacit_rng rng = stream(5);
    struct tacit_entropy const entropy = tacit_rng_entropy(&rng);
    double const unit = (double)TACIT_GLM_PRIVATE_UNIT;
    size_t const stride = TACIT_LINALG_STRIDE(D);
    for (uint32_t i = 0; i < CLIENTS; i++)
        clients[i] = new_client(&rule);
    for (uint64_t batch = 1; batch <= 5; batch++) {
        int64_t total[S] = {0};
        double v[D][D];
        for (uint32_t i = 0; i < CLIENTS; i++) {
            struct update update;
            double const x[D] = {0.6, -0.3 * i, 0.1 * (double)batch};
            give(clients[i], x, 0.5);
            assert_int_equal(close_batch(clients[i], batch, &entropy, &update), TACIT_OK);
            for (uint32_t j = 0; j < S; j++)
                total[j] += update.sums[j];
        }
        struct tacit_glm_private_estimate estimate;
        assert_int_equal(tacit_glm_private_learn(&rule, TACIT_LINALG_PORTABLE, total, &estimate),
                         TACIT_OK);
        uint32_t at = 0;
        for (uint32_t i = 0; i < D; i++)
            for (uint32_t j = i; j < D; j++, at++)
                v[i][j] = v[j][i] = (double)total[at] / unit + (i == j ? 2 * rule.shift : 0);
        for (uint32_t i = 0; i < D; i++) { /* V V^-1 = I, V theta = u~ */
            double left = 0;
            for (uint32_t j = 0; j < D; j++) {
                double product = 0;
                for (uint32_t k = 0; k < D; k++)
                    product += v[i][k] * estimate.inverse[k * stride + j];
                assert_true(fabs(product - (i == j ? 1 : 0)) < 1e-9);
                left += v[i][j] * estimate.theta[j];
            }
            assert_true(fabs(left - (double)total[at + i] / unit) < 1e-9);
        }
        struct tacit_glm_private_client_view view;
        tacit_glm_private_client_use(clients[0], batch, &estimate);
        tacit_glm_private_client_view(clients[0], &view);
        assert_int_equal(view.model_batch, batch);
        assert_memory_equal(view.theta, estimate.theta, D * sizeof(double));
        assert_memory_equal(view.inverse, estimate.inverse, D * stride * sizeof(double));
        assert_true(view.alpha == estimate.alpha && view.alpha == estimate.radius);
    }
}

/* ---- Decisions ---- */

/* The same offers to two clients of which one has seen other rewards: until a model comes, both
 * decide alike (non-interference, PRIVACY.md decision 9). */
TEST(decisions_do_not_know_own_rewards)
{
    struct tacit_glm_private_model const model = some_model();
    struct tacit_glm_private_rule const rule = rule_of(&model);
    struct tacit_glm_private_client *const one = new_client(&rule);
    struct tacit_glm_private_client *const other = new_client(&rule);
    struct tacit_rng rng = stream(6);
    for (uint32_t turn = 0; turn < 300; turn++) {
        double contexts[5 * D];
        for (uint32_t i = 0; i < 5 * D; i++)
            contexts[i] = 0.4 * tacit_rng_normal(&rng);
        struct tacit_offer const offer = {5, D, contexts};
        struct update a;
        struct update b;
        assert_int_equal(decide(one, &offer, NULL, &a), TACIT_OK);
        assert_int_equal(decide(other, &offer, NULL, &b), TACIT_OK);
        assert_int_equal(a.arm, b.arm);
        give(one, contexts + (size_t)a.arm * D, 1);
        give(other, contexts + (size_t)((b.arm + 1) % 5) * D, -1);
    }
}

TEST(contexts_that_are_none_are_refused)
{
    struct tacit_glm_private_model const model = some_model();
    struct tacit_glm_private_rule const rule = rule_of(&model);
    struct tacit_glm_private_client *const client = new_client(&rule);
    double contexts[2 * D] = {0.1, 0.2, 0.3, 0.4, NAN, 0.6};
    struct tacit_offer offer = {2, D, contexts};
    struct update update;
    assert_int_equal(decide(client, &offer, NULL, &update), TACIT_INVALID);
    contexts[4] = 0;
    offer.dimension = D + 1;
    assert_int_equal(decide(client, &offer, NULL, &update), TACIT_INVALID);
    offer.dimension = D;
    offer.arm_count = 0;
    assert_int_equal(decide(client, &offer, NULL, &update), TACIT_INVALID);
    offer.arm_count = 2;
    assert_int_equal(decide(client, &offer, NULL, &update), TACIT_OK);
    assert_true(update.probability == 1);
    static double many[(TACIT_GLM_ARMS_MAX + 1) * D];
    many[(TACIT_GLM_ARMS_MAX - 1) * D] = 0.5; /* the only one of which anything can be learnt */
    offer = (struct tacit_offer){TACIT_GLM_ARMS_MAX, D, many};
    assert_int_equal(decide(client, &offer, NULL, &update), TACIT_OK);
    assert_int_equal(update.arm, TACIT_GLM_ARMS_MAX - 1);
    offer.arm_count++;
    assert_int_equal(decide(client, &offer, NULL, &update), TACIT_INVALID);
}

TEST(promise_says_what_small_federations_get)
{
    struct tacit_glm_private_model model = some_model();
    char bytes[TACIT_STATEMENT_BYTES];
    struct tacit_text text = tacit_text_init(bytes, sizeof bytes);
    struct tacit_glm_private_rule rule = rule_of(&model);
    assert_int_equal(tacit_glm_private_promise(&rule).epsilon_nano, TACIT_NANO);
    assert_int_equal(tacit_glm_private_promise(&rule).delta_nano, 1000);
    assert_int_equal(tacit_glm_private_promise(&rule).rho_nano, rule.rho_nano);
    tacit_glm_private_remark(&rule, 200, &text);
    assert_non_null(strstr(bytes, "little better than random play"));
    assert_null(strstr(bytes, "radius is not proven"));
    model.link = TACIT_LINALG_LOGISTIC;
    rule = rule_of(&model);
    text = tacit_text_init(bytes, sizeof bytes);
    tacit_glm_private_remark(&rule, 1000000, &text);
    assert_null(strstr(bytes, "random play"));
    assert_non_null(strstr(bytes, "radius is not proven"));
}

/* Every radius and link, with and without exploration; models of the releases of some clients, some
 * of whom are batches behind: the digest knows what all do. */
TEST(every_kind_plays)
{
    for (uint32_t kind = 0; kind < 24; kind++) {
        struct tacit_glm_private_model model = some_model();
        model.link = kind % 2 == 0 ? TACIT_LINALG_IDENTITY : TACIT_LINALG_LOGISTIC;
        model.exploration = (enum tacit_glm_exploration)(kind / 2 % 3);
        model.alpha = 0.5;
        model.explore = kind / 6 % 2 == 0 ? 0.25 : 0;
        model.batch_count = kind / 12 == 0 ? 9 : 40;
        struct tacit_glm_private_rule const rule = rule_of(&model);
        struct tacit_glm_private_client *clients[CLIENTS];
        struct tacit_rng rng = stream(7 + kind);
        struct tacit_entropy const entropy = tacit_rng_entropy(&rng);
        double contexts[4 * D] = {0.6, -0.3, 0.1, 0.2, 0.2, 0.9, -0.7, 0.1, 0, 0, 0.4, 0.4};
        int64_t released[CLIENTS][S] = {{0}};
        uint64_t models = 0;
        for (uint32_t i = 0; i < CLIENTS; i++)
            clients[i] = new_client(&rule);
        for (uint64_t turn = 0; turn < 60; turn++) {
            uint32_t const i = (uint32_t)tacit_rng_below(&rng, CLIENTS);
            struct tacit_offer const offer = {4, D, contexts};
            struct update update;
            assert_int_equal(decide(clients[i], &offer, &entropy, &update), TACIT_OK);
            give(clients[i], contexts + (size_t)update.arm * D, 0.25 * (double)(turn % 5) - 0.5);
            contexts[turn % (4 * D)] *= -0.95;
            struct tacit_glm_private_client_view view;
            tacit_glm_private_client_view(clients[i], &view);
            (void)close_batch(clients[i], view.batch + 1, &entropy, &update);
            if (update.sums != NULL)
                memcpy(released[i], update.sums, sizeof released[i]);
            int64_t total[S];
            for (uint32_t k = 0; k < S; k++)
                total[k] = released[0][k] + released[1][k] + released[2][k];
            struct tacit_glm_private_estimate estimate;
            if (turn % 3 == 2 && models < model.batch_count &&
                tacit_glm_private_learn(&rule, TACIT_LINALG_PORTABLE, total, &estimate) == TACIT_OK)
                models++;
            for (uint32_t other = 0; other < CLIENTS && turn % 3 == 2; other++) {
                tacit_glm_private_client_view(clients[other], &view);
                if (view.model_batch < models)
                    tacit_glm_private_client_use(clients[other], models, &estimate);
            }
        }
    }
}
