/* Two aggregators over the updates of a training (HELPER 4): what a round adds to the model, in
 * memory. No data set is needed. */
#include <math.h>
#include "../support/testing.h"
#include "../../src/families/select/training.c"

#define SIDE 12u
#define PICTURES 1000u
#define NUMBERS (10 * (SIDE * SIDE + 1))
#define USERS 20u
#define SEEDS 6u
#define CLIP 3.0
#define WIDE 5e5 /* an epsilon */

static double floor_times; /* of the plans below */

struct bench {
    struct training_plan plan;
    struct tacit_select_config config;
    struct tacit_select *select;
    void *memory;
    struct training *training;
    uint64_t sizes[USERS];
    float before[NUMBERS];
};

static void bench_free(struct bench *bench)
{
    tacit_sim_delete(bench->memory);
    tacit_images_free(&bench->plan.lessons);
    free(bench->select);
    free(bench);
}

/* User k has k + 1 shares of the pictures if they are uneven. */
static struct bench *bench_new(bool are_two, double rate, double epsilon, uint64_t seed,
                               bool is_uneven)
{
    struct bench *const bench = calloc(1, sizeof *bench);
    assert_non_null(bench);
    struct tacit_images const lessons = {
        PICTURES, 1, SIDE, SIDE, malloc((size_t)PICTURES * SIDE * SIDE), malloc(PICTURES)};
    struct tacit_rng rng = tacit_rng_stream(3, 0, 0, TACIT_PURPOSE_OF_FAMILY(SELECT_NUMBER, 221));
    for (uint32_t i = 0; i < PICTURES; i++) {
        lessons.labels[i] = (uint8_t)(i % 10);
        for (uint32_t k = 0; k < SIDE * SIDE; k++)
            lessons.pixels[i * SIDE * SIDE + k] = (uint8_t)tacit_rng_below(&rng, 256);
    }
    bench->plan =
        (struct training_plan){.keys = {.optimizer = TACIT_OPTIMIZER_SGD,
                                        .rate = rate,
                                        .batch = 5,
                                        .epochs = 1,
                                        .batches_max = 10,
                                        .clip = CLIP,
                                        .pictures = {.classes = 10}},
                               .mode = TACIT_PRIVACY_SOUND,
                               .lessons = lessons,
                               .unit = 1.0F / 255,
                               .model = {TACIT_MODEL_LOGISTIC, 1, SIDE, SIDE, 10, false, false, 0},
                               .parameter_count = NUMBERS,
                               .floor_times = floor_times,
                               .aggregators = {.are_two = are_two, .mechanism = {.noisy = true}}};
    bench->config = (struct tacit_select_config){
        .user_count = USERS,
        .users_per_round = USERS,
        .beta = 1,
        .zeta = 1,
        .latency_min = 1,
        .budget = {.kind = TACIT_SELECT_GEOMETRIC, .is_exact = true, .total = epsilon, .eta = 0.5}};
    bench->select = calloc(1, tacit_select_size(&bench->config));
    assert_non_null(bench->select);
    assert_int_equal(tacit_select_init(bench->select, &bench->config, NULL), TACIT_OK);
    bench->memory = tacit_sim_new(NULL, 1, 1);
    bench->training = training_new(&bench->plan, USERS, USERS, bench->memory);
    assert_non_null(bench->training);
    for (uint32_t user = 0; user < USERS; user++)
        bench->sizes[user] = is_uneven ? user + 1 : 1;
    training_begin(bench->training, seed, 0, bench->sizes);
    memcpy(bench->before, bench->training->model, sizeof bench->before);
    return bench;
}

/* What a round of these users adds to the model: difference[NUMBERS]. */
static void play(struct bench *bench, const uint32_t *users, uint32_t count, double *difference)
{
    memcpy(bench->before, bench->training->model, sizeof bench->before);
    assert_int_equal(training_round(bench->training, bench->select, users, count, 1), TACIT_OK);
    for (uint32_t k = 0; k < NUMBERS; k++)
        difference[k] = (double)bench->training->model[k] - (double)bench->before[k];
}

/* Mean square of the noise of a number of the model, where nobody learns anything; user 0 has taken
 * part so often before. */
static double noise_of(bool are_two, uint32_t count, double epsilon, uint32_t earlier)
{
    double sum = 0;
    uint32_t users[USERS];
    static double difference[NUMBERS];
    double const latency = 1;
    for (uint32_t i = 0; i < count; i++)
        users[i] = i;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct bench *const bench = bench_new(are_two, 1e-30, epsilon, seed, false);
        for (uint32_t i = 0; i < earlier; i++)
            assert_int_equal(tacit_select_observe(bench->select, users, 1, &latency, INFINITY),
                             TACIT_OK);
        play(bench, users, count, difference);
        for (uint32_t k = 0; k < NUMBERS; k++)
            sum += difference[k] * difference[k];
        bench_free(bench);
    }
    return sum / (SEEDS * NUMBERS);
}

/* Within 5 standard errors: a sum of two Laplace terms has kurtosis 4.5, one 6. */
static void expect_square(double found, double variance, double kurtosis)
{
    double const error = variance * sqrt((kurtosis - 1) / (SEEDS * NUMBERS));
    assert_true(fabs(found - variance) < 5 * error);
}

TEST(a_total_has_two_noise_terms_however_many_users)
{
    double const epsilon = 10 * (1 - exp(-0.5)); /* of a first participation */
    double const laplace = 2 * pow(2 * CLIP / epsilon, 2);
    static const uint32_t counts[] = {2, 5, USERS};
    for (uint32_t i = 0; i < 3; i++) {
        double const m = counts[i];
        expect_square(noise_of(true, counts[i], 10, 0), 2 * laplace / (m * m), 4.5);
        expect_square(noise_of(false, counts[i], 10, 0), laplace / m, 6);
    }
}

TEST(a_round_has_the_least_epsilon_of_its_users)
{
    double const epsilon = 10 * (1 - exp(-0.5)) * exp(-0.5 * 3);
    expect_square(noise_of(true, 5, 10, 3), 2 * 2 * pow(2 * CLIP / epsilon, 2) / 25, 4.5);
}

/* So many terms more, at a multiple of the round's epsilon, in the first round and the fourth. */
TEST(a_floor_is_each_users_own_noise)
{
    static const uint32_t counts[] = {2, USERS};
    floor_times = 2;
    for (uint32_t earlier = 0; earlier <= 3; earlier += 3)
        for (uint32_t i = 0; i < 2; i++) {
            double const m = counts[i];
            double const epsilon = 10 * (1 - exp(-0.5)) * exp(-0.5 * earlier);
            double const laplace = 2 * pow(2 * CLIP / epsilon, 2);
            expect_square(noise_of(true, counts[i], 10, earlier), (2 + m / 4) * laplace / (m * m),
                          6);
        }
    floor_times = 0;
}

/* Their data sets are from 1 to 20 shares; noise is next to nothing. */
TEST(updates_weigh_alike)
{
    static double together[NUMBERS];
    static double alone[NUMBERS];
    static double sum[NUMBERS];
    static const uint32_t users[] = {1, 7, 19};
    struct bench *bench = bench_new(true, 0.5, WIDE, 1, true);
    assert_true(bench->sizes[19] > 2 * bench->sizes[1]);
    play(bench, users, 3, together);
    bench_free(bench);
    double length = 0;
    for (uint32_t i = 0; i < 3; i++) {
        bench = bench_new(true, 0.5, WIDE, 1, true);
        play(bench, &users[i], 1, alone);
        bench_free(bench);
        double norm = 0;
        for (uint32_t k = 0; k < NUMBERS; k++) {
            sum[k] += alone[k] / 3;
            norm += fabs(alone[k]);
        }
        assert_true(norm < CLIP * 1.02);
        length += norm;
    }
    assert_true(length > CLIP);
    double const noise = 4 * pow(2 * CLIP / (WIDE * (1 - exp(-0.5))), 2);
    double square = 0;
    for (uint32_t k = 0; k < NUMBERS; k++)
        square += pow(together[k] - sum[k], 2) / NUMBERS;
    assert_true(square < 1.3 * noise * (1 / 3.0 + 1 / 9.0));
}
