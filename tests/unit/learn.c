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

static void *new_memory(size_t bytes)
{
    void *const memory = testing_calloc(1, bytes);
    return memory;
}

static struct tacit_model mnist_mlp(bool batch_norm)
{
    return (struct tacit_model){TACIT_MODEL_MLP, 1, 28, 28, 10, batch_norm, false, 0};
}

static struct tacit_model cifar_cnn(void)
{
    return (struct tacit_model){TACIT_MODEL_CNN, 3, 32, 32, 10, true, false, 0};
}

/* The network that the authors ran, and one with the two hidden layers that their text names. */
static struct tacit_model authors_cnn(bool two_hidden)
{
    return (struct tacit_model){TACIT_MODEL_CNN, 3, 32, 32, 10, false, two_hidden, 0.2};
}

static struct tacit_model dropped_mlp(void)
{
    return (struct tacit_model){TACIT_MODEL_MLP, 1, 28, 28, 10, true, false, 0.5};
}

static struct lesson lesson_new(const struct tacit_model *model)
{
    struct lesson lesson = {
        .model = *model, .pixel_count = (uint64_t)model->channels * model->height * model->width};
    assert_int_equal(tacit_learn_network_new(&lesson.network, model, BATCH), TACIT_OK);
    lesson.layer_count = tacit_model_layers(model, lesson.layers, &lesson.parameter_count);
    lesson.parameters = new_memory(lesson.parameter_count * sizeof(float));
    lesson.gradient = new_memory(lesson.parameter_count * sizeof(float));
    lesson.images = new_memory(BATCH * lesson.pixel_count * sizeof(float));
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

static double loss_at(struct lesson *lesson, const float *parameters)
{
    size_t const bytes = lesson->parameter_count * sizeof(float);
    float *const copy = new_memory(bytes); /* running statistics move */
    float *const gradient = new_memory(bytes);
    double loss;
    memcpy(copy, parameters, bytes);
    assert_int_equal(tacit_learn_network_gradient(lesson->network, copy, lesson->images,
                                                  lesson->labels, gradient, &loss, NULL),
                     TACIT_OK);
    return loss;
}

/* The slope of the loss along a random direction within one array. */
static void compare_slope(struct lesson *lesson, const struct tacit_model_layer *layer,
                          struct tacit_rng *rng)
{
    size_t const bytes = lesson->parameter_count * sizeof(float);
    float *const moved = new_memory(bytes);
    double *const direction = new_memory(layer->count * sizeof(double));
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
    float *const before = new_memory(lesson.parameter_count * sizeof(float));
    memcpy(before, lesson.parameters, lesson.parameter_count * sizeof(float));
    double loss;
    assert_int_equal(tacit_learn_network_gradient(lesson.network, lesson.parameters, lesson.images,
                                                  lesson.labels, lesson.gradient, &loss, NULL),
                     TACIT_OK);
    memcpy(lesson.parameters, before, lesson.parameter_count * sizeof(float));
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
    struct tacit_model const logistic = {TACIT_MODEL_LOGISTIC, 1, 28, 28, 10, false, false, 0};
    struct tacit_model const mlp = mnist_mlp(false);
    struct tacit_model const normed = mnist_mlp(true);
    struct tacit_model const cnn = cifar_cnn();
    compare_slopes(&logistic);
    compare_slopes(&mlp);
    compare_slopes(&normed);
    compare_slopes(&cnn);
    struct tacit_model const dropped = dropped_mlp();
    struct tacit_model const authors = authors_cnn(false);
    struct tacit_model const text = authors_cnn(true);
    compare_slopes(&dropped);
    compare_slopes(&authors);
    compare_slopes(&text);
}

static double loss_of(struct lesson *lesson, bool in_training)
{
    double loss;
    if (in_training)
        return loss_at(lesson, lesson->parameters);
    assert_int_equal(tacit_learn_network_evaluate(lesson->network, lesson->parameters,
                                                  lesson->images, lesson->labels, BATCH, &loss,
                                                  NULL),
                     TACIT_OK);
    return loss / BATCH;
}

/* Dropped outputs are zero and the others as much larger: the loss of a draw is another one than
 * that of evaluation, which no draw moves; without dropout nothing is drawn. */
TEST(outputs_are_dropped_in_training_only)
{
    struct tacit_model model = authors_cnn(false);
    struct lesson lesson = lesson_new(&model);
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
    model = mnist_mlp(false);
    lesson = lesson_new(&model);
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
        double loss;
        tacit_learn_network_drop(lesson.network, &rng);
        assert_int_equal(tacit_learn_network_gradient(lesson.network, lesson.parameters,
                                                      lesson.images, lesson.labels, lesson.gradient,
                                                      &loss, NULL),
                         TACIT_OK);
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
    struct tacit_model_layer layers[TACIT_MODEL_LAYERS_MAX];
    uint64_t count;
    struct tacit_model const logistic = {TACIT_MODEL_LOGISTIC, 1, 28, 28, 10, false, false, 0};
    struct tacit_model const mlp = mnist_mlp(false);
    struct tacit_model const cnn = cifar_cnn();
    assert_int_equal(tacit_model_layers(&logistic, layers, &count), 2);
    assert_int_equal(count, 7850);
    assert_int_equal(tacit_model_layers(&mlp, layers, &count), 6);
    assert_int_equal(count, 25818);
    assert_string_equal(layers[2].name, "dense2.weight");
    assert_int_equal(tacit_model_layers(&cnn, layers, &count), 26);
    assert_int_equal(count, 170474);
    struct tacit_model const authors = authors_cnn(false);
    struct tacit_model const text = authors_cnn(true);
    assert_int_equal(tacit_model_layers(&authors, layers, &count), 14);
    assert_int_equal(count, 169578);
    assert_int_equal(tacit_model_layers(&text, layers, &count), 12);
    assert_int_equal(count, 167818);
}

TEST(models_out_of_their_limits_are_refused)
{
    struct tacit_learn_network *network = NULL;
    struct tacit_model bad[7];
    for (size_t i = 0; i < 7; i++)
        bad[i] = cifar_cnn();
    bad[0].height = 21;
    bad[1].classes = 1;
    bad[2].classes = 257;
    bad[3].channels = 0;
    bad[4].width = UINT32_MAX;
    bad[5].dropout = 1;
    bad[6].dropout = -0.1;
    for (size_t i = 0; i < 7; i++)
        assert_int_equal(tacit_learn_network_new(&network, &bad[i], BATCH), TACIT_INVALID);
    struct tacit_model const good = mnist_mlp(false);
    assert_int_equal(tacit_learn_network_new(&network, &good, 0), TACIT_INVALID);
    assert_null(network);
}

/* The reference kernels are called "ref". */
TEST(no_primitive_falls_to_a_reference_kernel)
{
    struct tacit_model const models[] = {mnist_mlp(false), mnist_mlp(true), cifar_cnn(),
                                         dropped_mlp(), authors_cnn(false)};
    for (size_t m = 0; m < sizeof models / sizeof models[0]; m++) {
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
    struct tacit_model const model = cifar_cnn();
    struct lesson first = lesson_new(&model);
    struct lesson second = lesson_new(&model);
    double losses[2];
    for (int round = 0; round < 3; round++) {
        assert_int_equal(tacit_learn_network_gradient(first.network, first.parameters, first.images,
                                                      first.labels, first.gradient, &losses[0],
                                                      NULL),
                         TACIT_OK);
        assert_int_equal(tacit_learn_network_gradient(second.network, second.parameters,
                                                      second.images, second.labels, second.gradient,
                                                      &losses[1], NULL),
                         TACIT_OK);
        assert_memory_equal(first.gradient, second.gradient, first.parameter_count * sizeof(float));
        assert_memory_equal(first.parameters, second.parameters,
                            first.parameter_count * sizeof(float));
        assert_true(losses[0] == losses[1]);
    }
    lesson_free(&first);
    lesson_free(&second);
}

/* Twenty random pictures are learnt by heart. */
static void train_by_heart(const struct tacit_model *model, enum tacit_optimizer_kind kind,
                           double rate, uint32_t steps)
{
    struct lesson lesson = lesson_new(model);
    struct tacit_optimizer optimizer = {.kind = kind,
                                        .rate = rate,
                                        .first = new_memory(lesson.parameter_count * sizeof(float)),
                                        .second =
                                            new_memory(lesson.parameter_count * sizeof(float))};
    double first = 0;
    double loss = 0;
    uint32_t hits = 0;
    for (uint32_t step = 0; step < steps; step++) {
        assert_int_equal(tacit_learn_network_gradient(lesson.network, lesson.parameters,
                                                      lesson.images, lesson.labels, lesson.gradient,
                                                      &loss, &hits),
                         TACIT_OK);
        first = step == 0 ? loss : first;
        tacit_optimizer_step(&optimizer, lesson.gradient, lesson.parameter_count,
                             lesson.parameters);
    }
    assert_true(first > 1.5);
    assert_true(loss < 0.2);
    assert_int_equal(hits, BATCH);
    uint32_t seen;
    assert_int_equal(tacit_learn_network_evaluate(lesson.network, lesson.parameters, lesson.images,
                                                  lesson.labels, 7, &loss, &seen),
                     TACIT_OK);
    assert_int_equal(seen, 7); /* running statistics have come near the batch's */
    testing_free(optimizer.first);
    testing_free(optimizer.second);
    lesson_free(&lesson);
}

TEST(a_batch_is_learnt_by_heart)
{
    struct tacit_model const mlp = mnist_mlp(false);
    struct tacit_model const normed = mnist_mlp(true);
    struct tacit_model const cnn = cifar_cnn();
    train_by_heart(&mlp, TACIT_OPTIMIZER_ADAM, 0.01, 200);
    train_by_heart(&normed, TACIT_OPTIMIZER_ADAM, 0.01, 200);
    train_by_heart(&normed, TACIT_OPTIMIZER_SGD, 0.1, 400);
    train_by_heart(&cnn, TACIT_OPTIMIZER_ADAM, 0.003, 80);
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
    struct tacit_model const model = mnist_mlp(false);
    struct lesson lesson = lesson_new(&model);
    for (uint64_t i = 0; i < lesson.parameter_count; i++)
        lesson.parameters[i] = NAN;
    double loss;
    uint32_t hits = 99;
    assert_int_equal(tacit_learn_network_evaluate(lesson.network, lesson.parameters, lesson.images,
                                                  lesson.labels, BATCH, &loss, &hits),
                     TACIT_OK);
    assert_int_equal(hits, 0);
    assert_true(isnan(loss));
    lesson_free(&lesson);
}
