/* Networks: gradients against finite differences, layouts that oneDNN likes, optimizers, batches.
 */
#include "../support/testing.h"
#include "tacit/learn.h"
#include <float.h>
#include <math.h>

#define BATCH 20u

struct lesson {
    struct tacit_model model;
    struct tacit_learn_network *network;
    struct tacit_model_layer layers[TACIT_MODEL_LAYERS_MAX];
    uint32_t layer_count;
    uint64_t parameter_count;
    uint64_t pixel_count;
    float *parameters;
    float *gradient;
    float *images;
    uint8_t labels[BATCH];
};

/* Those of the paper; the network that the authors ran, and one with the two hidden layers that
 * their text names. */
enum { LOGISTIC, MLP, NORMED_MLP, CNN, DROPPED_MLP, AUTHORS_CNN, TWO_HIDDEN_CNN, MODELS };
static const struct tacit_model models[MODELS] = {
    [LOGISTIC] = {TACIT_MODEL_LOGISTIC, 1, 28, 28, 10, false, false, 0},
    [MLP] = {TACIT_MODEL_MLP, 1, 28, 28, 10, false, false, 0},
    [NORMED_MLP] = {TACIT_MODEL_MLP, 1, 28, 28, 10, true, false, 0},
    [CNN] = {TACIT_MODEL_CNN, 3, 32, 32, 10, true, false, 0},
    [DROPPED_MLP] = {TACIT_MODEL_MLP, 1, 28, 28, 10, true, false, 0.5},
    [AUTHORS_CNN] = {TACIT_MODEL_CNN, 3, 32, 32, 10, false, false, 0.2},
    [TWO_HIDDEN_CNN] = {TACIT_MODEL_CNN, 3, 32, 32, 10, false, true, 0.2}};

static struct lesson lesson_new(const struct tacit_model *model)
{
    struct lesson lesson = {
        .model = *model, .pixel_count = (uint64_t)model->channels * model->height * model->width};
    assert_int_equal(tacit_learn_network_new(&lesson.network, model, BATCH), TACIT_OK);
    lesson.layer_count = tacit_model_layers(model, lesson.layers, &lesson.parameter_count);
    lesson.parameters = testing_calloc(1, lesson.parameter_count * sizeof(float));
    lesson.gradient = testing_calloc(1, lesson.parameter_count * sizeof(float));
    lesson.images = testing_calloc(1, BATCH * lesson.pixel_count * sizeof(float));
    struct tacit_rng rng = tacit_rng_stream(1, 0, 0, 1);
    tacit_model_draw(model, &rng, lesson.parameters);
    for (uint64_t i = 0; i < BATCH * lesson.pixel_count; i++)
        lesson.images[i] = (float)tacit_rng_uniform(&rng);
    for (uint32_t i = 0; i < BATCH; i++)
        lesson.labels[i] = (uint8_t)tacit_rng_below(&rng, model->classes);
    return lesson;
}

static void lesson_free(struct lesson *lesson)
{
    tacit_learn_network_free(lesson->network);
    testing_free(lesson->images);
}

/* Result: the loss. parameters: their running statistics move. */
static double gradient_at(struct lesson *lesson, float *parameters, float *gradient, uint32_t *hits)
{
    double loss;
    assert_int_equal(tacit_learn_network_gradient(lesson->network, parameters, lesson->images,
                                                  lesson->labels, gradient, &loss, hits),
                     TACIT_OK);
    return loss;
}

static double loss_at(struct lesson *lesson, const float *parameters)
{
    size_t const bytes = lesson->parameter_count * sizeof(float);
    float *const copy = memcpy(testing_malloc(bytes), parameters, bytes);
    return gradient_at(lesson, copy, testing_malloc(bytes), NULL);
}

/* Result: the loss. */
static double evaluate(struct lesson *lesson, uint32_t count, uint32_t *hits)
{
    double loss;
    assert_int_equal(tacit_learn_network_evaluate(lesson->network, lesson->parameters,
                                                  lesson->images, lesson->labels, count, &loss,
                                                  hits),
                     TACIT_OK);
    return loss;
}

/* The slope of the loss along a random direction within one array. */
static void compare_slope(struct lesson *lesson, const struct tacit_model_layer *layer,
                          struct tacit_rng *rng)
{
    size_t const bytes = lesson->parameter_count * sizeof(float);
    float *const moved = testing_calloc(1, bytes);
    double *const direction = testing_calloc(1, layer->count * sizeof(double));
    double norm = 0;
    double slope = 0;
    for (uint64_t i = 0; i < layer->count; i++) {
        /* half of it along the gradient, so that the slope is not lost in rounding */
        direction[i] = (double)lesson->gradient[layer->offset + i];
        norm += direction[i] * direction[i];
    }
    assert_true(norm > 0);
    for (uint64_t i = 0; i < layer->count; i++)
        direction[i] =
            direction[i] / sqrt(norm) + tacit_rng_normal(rng) / sqrt((double)layer->count);
    for (uint64_t i = 0; i < layer->count; i++)
        slope += direction[i] * (double)lesson->gradient[layer->offset + i];
    double const step = 1e-3;
    double losses[2];
    for (int side = 0; side < 2; side++) {
        memcpy(moved, lesson->parameters, bytes);
        for (uint64_t i = 0; i < layer->count; i++)
            moved[layer->offset + i] += (float)((side == 0 ? -step : step) * direction[i]);
        losses[side] = loss_at(lesson, moved);
    }
    double const measured = (losses[1] - losses[0]) / (2 * step);
    if (!(fabs(measured - slope) <= 0.02 * fabs(slope) + 1e-4))
        fail_msg("%s: slope %g, measured %g", layer->name, slope, measured);
}

static void compare_slopes(const struct tacit_model *model)
{
    struct lesson lesson = lesson_new(model);
    struct tacit_rng rng = tacit_rng_stream(2, 0, 0, 1);
    tacit_learn_network_drop(lesson.network, &rng);
    size_t const bytes = lesson.parameter_count * sizeof(float);
    float *const copy = memcpy(testing_malloc(bytes), lesson.parameters, bytes);
    (void)gradient_at(&lesson, copy, lesson.gradient, NULL);
    uint32_t compared = 0;
    for (uint32_t i = 0; i < lesson.layer_count; i++) {
        const char *const what = strchr(lesson.layers[i].name, '.') + 1;
        bool const is_statistic = strcmp(what, "mean") == 0 || strcmp(what, "variance") == 0;
        /* a bias before a batch norm does nothing: its true slope is 0 */
        bool const is_mute = strcmp(what, "bias") == 0 && i + 1 < lesson.layer_count &&
                             strncmp(lesson.layers[i + 1].name, "norm", 4) == 0;
        if (is_statistic)
            for (uint64_t k = 0; k < lesson.layers[i].count; k++)
                assert_true(lesson.gradient[lesson.layers[i].offset + k] == 0);
        else if (!is_mute) {
            compare_slope(&lesson, &lesson.layers[i], &rng);
            compared++;
        }
    }
    assert_true(compared >= 2);
    lesson_free(&lesson);
}

TEST(gradients_are_finite_differences)
{
    for (size_t i = 0; i < MODELS; i++)
        compare_slopes(&models[i]);
}

static double loss_of(struct lesson *lesson, bool in_training)
{
    return in_training ? loss_at(lesson, lesson->parameters)
                       : evaluate(lesson, BATCH, NULL) / BATCH;
}

/* Dropped outputs are zero and the others as much larger: the loss of a draw is another one than
 * that of evaluation, which no draw moves; without dropout nothing is drawn. */
TEST(outputs_are_dropped_in_training_only)
{
    struct lesson lesson = lesson_new(&models[AUTHORS_CNN]);
    struct tacit_rng rng = tacit_rng_stream(3, 0, 0, 1);
    double const whole = loss_of(&lesson, false);
    assert_true(fabs(loss_of(&lesson, true) - whole) < 1e-6); /* nothing is dropped yet */
    tacit_learn_network_drop(lesson.network, &rng);
    double const first = loss_of(&lesson, true);
    assert_true(fabs(first - whole) > 1e-6);
    assert_true(loss_of(&lesson, false) == whole);
    assert_true(loss_of(&lesson, true) == first);
    tacit_learn_network_drop(lesson.network, &rng);
    assert_true(loss_of(&lesson, true) != first);
    lesson_free(&lesson);
    lesson = lesson_new(&models[MLP]);
    struct tacit_rng const before = rng;
    tacit_learn_network_drop(lesson.network, &rng);
    assert_memory_equal(&before, &rng, sizeof rng);
    lesson_free(&lesson);
}

/* With the weights of the last layer at one and its inputs alike, the share that is dropped is seen
 * in the logits: of 20 x 16 outputs about half count twice. */
TEST(as_many_are_dropped_as_was_said)
{
    struct tacit_model const model = {TACIT_MODEL_MLP, 1, 28, 28, 2, false, false, 0.5};
    struct lesson lesson = lesson_new(&model);
    struct tacit_rng rng = tacit_rng_stream(4, 0, 0, 1);
    memset(lesson.parameters, 0, lesson.parameter_count * sizeof(float));
    for (uint32_t i = 0; i < lesson.layer_count; i++) /* the second hidden layer says 1 */
        for (uint64_t k = 0; k < lesson.layers[i].count; k++)
            if (strcmp(lesson.layers[i].name, "dense2.bias") == 0)
                lesson.parameters[lesson.layers[i].offset + k] = 1;
    memset(lesson.labels, 0, sizeof lesson.labels);
    double sum = 0;
    for (uint32_t draw = 0; draw < 100; draw++) {
        tacit_learn_network_drop(lesson.network, &rng);
        (void)gradient_at(&lesson, lesson.parameters, lesson.gradient, NULL);
        struct tacit_model_layer const *const last = &lesson.layers[lesson.layer_count - 2];
        assert_string_equal(last->name, "dense3.weight");
        for (uint64_t k = 0; k < last->count / 2; k++) /* -1/2 of the mean of an output's counts */
            sum += -2 * (double)lesson.gradient[last->offset + k] / (double)(last->count / 2);
    }
    assert_true(fabs(sum / 100 - 1) <
                0.03); /* sd of the mean of 32,000 outputs that are 0 or 2: 0.0056 */
    lesson_free(&lesson);
}

TEST(pictures_are_their_rows_as_floats)
{
    enum { PIXELS = 67, PICTURES = 5 }; /* no whole lines of a cache */
    uint32_t const rows[] = {4, 0, 3, 3};
    uint8_t pixels[PICTURES * PIXELS];
    float images[4 * PIXELS + 1];
    images[4 * PIXELS] = -1;
    for (uint32_t i = 0; i < sizeof pixels; i++)
        pixels[i] = (uint8_t)(i * 89 + i / 256);
    tacit_learn_pictures(pixels, PIXELS, rows, 4, 3.5F, 1.0F / 255, images);
    for (uint32_t i = 0; i < 4; i++)
        for (uint32_t k = 0; k < PIXELS; k++)
            assert_true(images[i * PIXELS + k] ==
                        ((float)pixels[rows[i] * PIXELS + k] - 3.5F) * (1.0F / 255));
    assert_true(images[4 * PIXELS] == -1);
}

TEST(models_have_the_paper_s_sizes)
{
    static const uint64_t sizes[MODELS][2] = {[LOGISTIC] = {2, 7850},
                                              [MLP] = {6, 25818},
                                              [CNN] = {26, 170474},
                                              [AUTHORS_CNN] = {14, 169578},
                                              [TWO_HIDDEN_CNN] = {12, 167818}};
    struct tacit_model_layer layers[TACIT_MODEL_LAYERS_MAX];
    for (size_t i = 0; i < MODELS; i++) {
        uint64_t count;
        uint32_t const layer_count = tacit_model_layers(&models[i], layers, &count);
        if (sizes[i][0] == 0)
            continue;
        assert_int_equal(layer_count, sizes[i][0]);
        assert_int_equal(count, sizes[i][1]);
    }
    (void)tacit_model_layers(&models[MLP], layers, &(uint64_t){0});
    assert_string_equal(layers[2].name, "dense2.weight");
}

TEST(models_out_of_their_limits_are_refused)
{
    struct tacit_learn_network *network = NULL;
    struct tacit_model bad[7];
    for (size_t i = 0; i < 7; i++)
        bad[i] = models[CNN];
    bad[0].height = 21;
    bad[1].classes = 1;
    bad[2].classes = 257;
    bad[3].channels = 0;
    bad[4].width = UINT32_MAX;
    bad[5].dropout = 1;
    bad[6].dropout = -0.1;
    for (size_t i = 0; i < 7; i++)
        assert_int_equal(tacit_learn_network_new(&network, &bad[i], BATCH), TACIT_INVALID);
    assert_int_equal(tacit_learn_network_new(&network, &models[MLP], 0), TACIT_INVALID);
    assert_null(network);
}

/* The reference kernels are called "ref". */
TEST(no_primitive_falls_to_a_reference_kernel)
{
    for (size_t m = MLP; m <= AUTHORS_CNN; m++) {
        struct lesson lesson = lesson_new(&models[m]);
        uint32_t index = 0;
        for (const char *name;
             (name = tacit_learn_network_implementation(lesson.network, index)) != NULL; index++)
            if (strncmp(name, "ref", 3) == 0)
                fail_msg("model %zu, primitive %u: %s", m, index, name);
        assert_true(index >= 8);
        lesson_free(&lesson);
    }
}

TEST(same_seed_same_bits)
{
    struct lesson first = lesson_new(&models[CNN]);
    struct lesson second = lesson_new(&models[CNN]);
    for (int round = 0; round < 3; round++) {
        double const loss = gradient_at(&first, first.parameters, first.gradient, NULL);
        assert_true(loss == gradient_at(&second, second.parameters, second.gradient, NULL));
        assert_memory_equal(first.gradient, second.gradient, first.parameter_count * sizeof(float));
        assert_memory_equal(first.parameters, second.parameters,
                            first.parameter_count * sizeof(float));
    }
    lesson_free(&first);
    lesson_free(&second);
}

/* Twenty random pictures are learnt by heart. */
static void train_by_heart(const struct tacit_model *model, enum tacit_optimizer_kind kind,
                           double rate, uint32_t steps)
{
    struct lesson lesson = lesson_new(model);
    struct tacit_optimizer optimizer = {
        .kind = kind,
        .rate = rate,
        .first = testing_calloc(1, lesson.parameter_count * sizeof(float)),
        .second = testing_calloc(1, lesson.parameter_count * sizeof(float))};
    double first = 0;
    double loss = 0;
    uint32_t hits = 0;
    for (uint32_t step = 0; step < steps; step++) {
        loss = gradient_at(&lesson, lesson.parameters, lesson.gradient, &hits);
        first = step == 0 ? loss : first;
        tacit_optimizer_step(&optimizer, lesson.gradient, lesson.parameter_count,
                             lesson.parameters);
    }
    assert_true(first > 1.5);
    assert_true(loss < 0.2);
    assert_int_equal(hits, BATCH);
    uint32_t seen;
    (void)evaluate(&lesson, 7, &seen);
    assert_int_equal(seen, 7); /* running statistics have come near the batch's */
    lesson_free(&lesson);
}

TEST(a_batch_is_learnt_by_heart)
{
    train_by_heart(&models[MLP], TACIT_OPTIMIZER_ADAM, 0.01, 200);
    train_by_heart(&models[NORMED_MLP], TACIT_OPTIMIZER_ADAM, 0.01, 200);
    train_by_heart(&models[NORMED_MLP], TACIT_OPTIMIZER_SGD, 0.1, 400);
    train_by_heart(&models[CNN], TACIT_OPTIMIZER_ADAM, 0.003, 80);
}

/* Kingma and Ba's first steps on the gradient (1, -2, 0), by hand: the first is the rate times the
 * sign. */
TEST(adam_steps_are_those_of_its_authors)
{
    float parameters[3] = {1, 1, 1};
    float first[3] = {0};
    float second[3] = {0};
    static const float gradient[3] = {1, -2, 0};
    struct tacit_optimizer adam = {TACIT_OPTIMIZER_ADAM, 0.1, 0, first, second};
    tacit_optimizer_step(&adam, gradient, 3, parameters);
    assert_true(fabsf(parameters[0] - 0.9f) < 1e-6f);
    assert_true(fabsf(parameters[1] - 1.1f) < 1e-6f);
    assert_true(parameters[2] == 1);
    static const float other[3] = {0, 0, 0};
    tacit_optimizer_step(&adam, other, 3, parameters);
    /* m = 0.09, v = 0.000999; corrected by 0.19 and 0.001999 */
    double const step = 0.1 * (0.09 / 0.19) / sqrt(0.000999 / 0.001999);
    assert_true(fabs((double)parameters[0] - (0.9 - step)) < 1e-5);
}

/* What has no gradient for long becomes zero, and not a number so small that each step takes thirty
 * times as long; other numbers of the program may be that small as before. */
TEST(moments_that_nothing_feeds_become_zero)
{
    enum { COUNT = 11 };
    float gradient[COUNT];
    float first[COUNT] = {0};
    float second[COUNT] = {0};
    float parameters[COUNT] = {0};
    struct tacit_optimizer optimizer = {
        .kind = TACIT_OPTIMIZER_ADAM, .rate = 0.01, .first = first, .second = second};
    for (uint32_t i = 0; i < COUNT; i++)
        gradient[i] = 1;
    tacit_optimizer_step(&optimizer, gradient, COUNT, parameters);
    memset(gradient, 0, sizeof gradient);
    for (uint32_t step = 0; step < 2000; step++) {
        tacit_optimizer_step(&optimizer, gradient, COUNT, parameters);
        for (uint32_t i = 0; i < COUNT; i++)
            assert_true(first[i] == 0 || first[i] >= FLT_MIN);
    }
    for (uint32_t i = 0; i < COUNT; i++)
        assert_true(first[i] == 0);
    float volatile small = FLT_MIN;
    assert_true(small / 2 > 0);
}

TEST(a_model_that_is_no_number_hits_nothing)
{
    struct lesson lesson = lesson_new(&models[MLP]);
    for (uint64_t i = 0; i < lesson.parameter_count; i++)
        lesson.parameters[i] = NAN;
    uint32_t hits = 99;
    assert_true(isnan(evaluate(&lesson, BATCH, &hits)));
    assert_int_equal(hits, 0);
    lesson_free(&lesson);
}
