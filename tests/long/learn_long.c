/* Whole trainings on real pictures: the MLP on MNIST, the CNN on CIFAR-10. Minutes, so it is run by
 * make check-long. */
#include "../support/testing.h"
#include "tacit/data.h"
#include "tacit/learn.h"
#include "../support/skip.h"

#define BATCH 20u

struct school {
    struct tacit_model model;
    struct tacit_images lessons;
    struct tacit_images exam;
    struct tacit_learn_network *network;
    uint64_t parameter_count;
    float *parameters;
    float *gradient;
    float *images;
    struct tacit_optimizer optimizer;
};

static void *new_memory(size_t bytes)
{
    void *const memory = calloc(1, bytes);
    assert_non_null(memory);
    return memory;
}

static void load(struct school *school, const struct tacit_images *images, const uint32_t *order,
                 uint32_t first, uint32_t count, uint8_t *labels)
{
    size_t const pixels = (size_t)images->channels * images->height * images->width;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t const row = order == NULL ? first + i : order[first + i];
        for (size_t k = 0; k < pixels; k++)
            school->images[i * pixels + k] = (float)images->pixels[row * pixels + k] / 255;
        labels[i] = images->labels[row];
    }
}

static double examine(struct school *school)
{
    uint32_t right = 0;
    for (uint32_t first = 0; first + BATCH <= school->exam.count; first += BATCH) {
        uint8_t labels[BATCH];
        double loss;
        uint32_t hits;
        load(school, &school->exam, NULL, first, BATCH, labels);
        assert_int_equal(tacit_learn_network_evaluate(school->network, school->parameters,
                                                      school->images, labels, BATCH, &loss, &hits),
                         TACIT_OK);
        right += hits;
    }
    return (double)right / (school->exam.count / BATCH * BATCH);
}

static void study(struct school *school, uint32_t epochs, double rate)
{
    struct tacit_model_layer layers[TACIT_MODEL_LAYERS_MAX];
    struct tacit_rng rng = tacit_rng_stream(1, 0, 0, TACIT_PURPOSE_OF_FAMILY(5, 100));
    uint32_t const count = school->lessons.count;
    uint32_t *const order = new_memory(count * sizeof *order);
    assert_int_equal(tacit_learn_network_new(&school->network, &school->model, BATCH), TACIT_OK);
    (void)tacit_model_layers(&school->model, layers, &school->parameter_count);
    size_t const bytes = school->parameter_count * sizeof(float);
    school->parameters = new_memory(bytes);
    school->gradient = new_memory(bytes);
    school->images = new_memory((size_t)BATCH * school->model.channels * school->model.height *
                                school->model.width * sizeof(float));
    school->optimizer = (struct tacit_optimizer){TACIT_OPTIMIZER_ADAM, rate, 0, new_memory(bytes),
                                                 new_memory(bytes)};
    tacit_model_draw(&school->model, &rng, school->parameters);
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    for (uint32_t epoch = 0; epoch < epochs; epoch++) {
        for (uint32_t i = count; i > 1; i--) {
            uint32_t const other = (uint32_t)tacit_rng_below(&rng, i);
            uint32_t const swap = order[i - 1];
            order[i - 1] = order[other];
            order[other] = swap;
        }
        for (uint32_t first = 0; first + BATCH <= count; first += BATCH) {
            uint8_t labels[BATCH];
            double loss;
            load(school, &school->lessons, order, first, BATCH, labels);
            assert_int_equal(tacit_learn_network_gradient(school->network, school->parameters,
                                                          school->images, labels, school->gradient,
                                                          &loss, NULL),
                             TACIT_OK);
            tacit_optimizer_step(&school->optimizer, school->gradient, school->parameter_count,
                                 school->parameters);
        }
        print_message("epoch %u: %.4f\n", epoch + 1, examine(school));
    }
    free(order);
}

static void leave(struct school *school)
{
    tacit_learn_network_free(school->network);
    tacit_images_free(&school->lessons);
    tacit_images_free(&school->exam);
    free(school->parameters);
    free(school->gradient);
    free(school->images);
    free(school->optimizer.first);
    free(school->optimizer.second);
}

TEST(mlp_reaches_96_percent_on_mnist_in_5_epochs)
{
    static const char *const names[] = {
        "mnist/train-images-idx3-ubyte", "mnist/train-labels-idx1-ubyte",
        "mnist/t10k-images-idx3-ubyte", "mnist/t10k-labels-idx1-ubyte"};
    char paths[4][TACIT_PATH_BYTES];
    struct tacit_error error;
    struct school school = {.model = {TACIT_MODEL_MLP, 1, 28, 28, 10, false, false, 0}};
    for (size_t i = 0; i < 4; i++)
        if (tacit_dataset_find(NULL, names[i], paths[i]) != TACIT_OK)
            SKIP_BECAUSE("no data set mnist here");
    assert_int_equal(tacit_images_read_idx(&school.lessons, paths[0], paths[1], &error), TACIT_OK);
    assert_int_equal(tacit_images_read_idx(&school.exam, paths[2], paths[3], &error), TACIT_OK);
    study(&school, 5, 0.001);
    assert_true(examine(&school) >= 0.96);
    leave(&school);
}

TEST(cnn_reaches_70_percent_on_batch_5_of_cifar10)
{
    char paths[5][TACIT_PATH_BYTES];
    const char *lessons[4];
    struct tacit_error error;
    struct school school = {.model = {TACIT_MODEL_CNN, 3, 32, 32, 10, true, false, 0}};
    for (int i = 0; i < 5; i++) {
        char name[] = "cifar10/data_batch_1.bin";
        name[sizeof name - 6] = (char)('1' + i);
        if (tacit_dataset_find(NULL, name, paths[i]) != TACIT_OK)
            SKIP_BECAUSE("no data set cifar10 here");
        if (i < 4)
            lessons[i] = paths[i];
    }
    const char *const last = paths[4];
    assert_int_equal(tacit_images_read_cifar10(&school.lessons, lessons, 4, &error), TACIT_OK);
    assert_int_equal(tacit_images_read_cifar10(&school.exam, &last, 1, &error), TACIT_OK);
    study(&school, 6, 0.001);
    assert_true(examine(&school) >= 0.70);
    leave(&school);
}
