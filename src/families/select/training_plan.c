/* The section `training`: its keys, and the pictures that it names. */
#include <stdio.h>
#include <string.h>
#include "../../config/reader.h"
#include "training.h"

static void read_examination(struct config_reader *reader, const struct config_node *training,
                             struct training_keys *keys)
{
    config_reader_u32(reader, training, "training.evaluate_every", false, 1, 1000000000u,
                      &keys->evaluate_every);
    config_reader_u32(reader, training, "training.exam", false, 1, 1000000000u, &keys->exam);
    config_reader_number(reader, training, "training.target", false,
                         (struct config_range){0, 1, true, false}, &keys->target);
}

void training_read_keys(struct config_reader *reader, const struct config_node *root,
                        const struct tacit_config *config, struct training_keys *keys)
{
    static const char *const names[] = {"data",        "model",  "batch_norm", "optimizer",
                                        "rate",        "batch",  "epochs",     "batches_max",
                                        "sensitivity", "clip",   "features",   "evaluate_every",
                                        "exam",        "target", NULL};
    static const struct config_choice sets[] = {
        {"mnist", TRAINING_MNIST}, {"cifar10", TRAINING_CIFAR10}, {NULL, 0}};
    static const struct config_choice models[] = {{"logistic", TACIT_MODEL_LOGISTIC},
                                                  {"mlp", TACIT_MODEL_MLP},
                                                  {"cnn", TACIT_MODEL_CNN},
                                                  {NULL, 0}};
    static const struct config_choice optimizers[] = {
        {"adam", TACIT_OPTIMIZER_ADAM}, {"sgd", TACIT_OPTIMIZER_SGD}, {NULL, 0}};
    static const struct config_choice labels[] = {{"iid", 0}, {"dominant", 1}, {NULL, 0}};
    static const struct config_choice switches[] = {{"off", 0}, {"on", 1}, {NULL, 0}};
    struct config_range const positive = {0, 1e6, true, false};
    struct config_node const *const labelled = config_node_member(root, "labels");
    struct config_node const *const training = config_reader_map(reader, root, "training", false);
    *keys = (struct training_keys){.rate = 0.01, .batch = 20, .epochs = 1, .batches_max = 100};
    if (training == NULL) {
        if (labelled != NULL)
            config_reader_fail(reader, labelled, "labels", "belongs to a run with 'training'");
        return;
    }
    int data = TRAINING_MNIST;
    int model = TACIT_MODEL_MLP;
    int optimizer = TACIT_OPTIMIZER_ADAM;
    int label = 0;
    int norm = 0;
    config_reader_keys(reader, training, "training", names);
    config_reader_choice(reader, training, "training.data", true, sets, &data);
    model = data == TRAINING_CIFAR10 ? TACIT_MODEL_CNN : TACIT_MODEL_MLP;
    config_reader_choice(reader, training, "training.model", false, models, &model);
    config_reader_choice(reader, training, "training.optimizer", false, optimizers, &optimizer);
    config_reader_choice(reader, training, "training.batch_norm", false, switches, &norm);
    config_reader_choice(reader, root, "labels", false, labels, &label);
    *keys = (struct training_keys){.is_on = true,
                                   .data = (enum training_data)data,
                                   .model = (enum tacit_model_kind)model,
                                   .batch_norm = norm == 1,
                                   .optimizer = (enum tacit_optimizer_kind)optimizer,
                                   .rate = 0.01, /* READINGS P5.9 */
                                   .batch = 20,
                                   .epochs = 1,
                                   .batches_max = 100,
                                   .is_dominant = label == 1,
                                   .sensitivity = data == TRAINING_CIFAR10 ? 0.012 : 0.003,
                                   .clip = 1};
    config_reader_number(reader, training, "training.rate", false, positive, &keys->rate);
    config_reader_u32(reader, training, "training.batch", false, 1, 4096, &keys->batch);
    config_reader_u32(reader, training, "training.epochs", false, 1, 1000, &keys->epochs);
    config_reader_u32(reader, training, "training.batches_max", false, 1, 1000000,
                      &keys->batches_max);
    config_reader_number(reader, training, "training.sensitivity", false, positive,
                         &keys->sensitivity);
    config_reader_number(reader, training, "training.clip", false, positive, &keys->clip);
    config_reader_u32(reader, training, "training.features", false, 1, 32, &keys->features);
    read_examination(reader, training, keys);
    struct config_node const *const clip = config_node_member(training, "clip");
    struct config_node const *const sensitivity = config_node_member(training, "sensitivity");
    if (clip != NULL && config->privacy != TACIT_PRIVACY_SOUND)
        config_reader_fail(reader, clip, "training.clip", "belongs to privacy mode: sound");
    if (sensitivity != NULL && config->privacy != TACIT_PRIVACY_PAPER)
        config_reader_fail(reader, sensitivity, "training.sensitivity",
                           "belongs to privacy mode: paper");
}

/* ---- Pictures ---- */

static enum tacit_status refuse_missing(const struct tacit_experiment *experiment, const char *name,
                                        struct tacit_error *error)
{
    char text[500];
    char directories[TACIT_PATH_BYTES];
    tacit_dataset_directories(directories);
    (void)snprintf(text, sizeof text, "%s is in no data directory (%.300s)", name,
                   *directories == '\0' ? "TACIT_DATA names none" : directories);
    return tacit_experiment_refuse(experiment, "training.data", text, error);
}

static enum tacit_status find(const struct tacit_experiment *experiment, const char *name,
                              char path[TACIT_PATH_BYTES], struct tacit_error *error)
{
    return tacit_dataset_find(name, path) == TACIT_OK ? TACIT_OK
                                                      : refuse_missing(experiment, name, error);
}

static enum tacit_status read_mnist(const struct tacit_experiment *experiment,
                                    struct training_plan *plan, struct tacit_error *error)
{
    static const char *const names[] = {
        "mnist/train-images-idx3-ubyte", "mnist/train-labels-idx1-ubyte",
        "mnist/t10k-images-idx3-ubyte", "mnist/t10k-labels-idx1-ubyte"};
    char paths[4][TACIT_PATH_BYTES];
    enum tacit_status status = TACIT_OK;
    for (size_t i = 0; i < 4 && status == TACIT_OK; i++)
        status = find(experiment, names[i], paths[i], error);
    if (status == TACIT_OK)
        status = tacit_images_read_idx(&plan->lessons, paths[0], paths[1], error);
    if (status == TACIT_OK)
        status = tacit_images_read_idx(&plan->exam, paths[2], paths[3], error);
    return status;
}

/* Batches 1 to 4 to learn from, batch 5 to be examined on (READINGS P5; the published test set is
 * not whole here). */
static enum tacit_status read_cifar10(const struct tacit_experiment *experiment,
                                      struct training_plan *plan, struct tacit_error *error)
{
    char paths[5][TACIT_PATH_BYTES];
    const char *lessons[4];
    enum tacit_status status = TACIT_OK;
    for (int i = 0; i < 5 && status == TACIT_OK; i++) {
        char name[40];
        (void)snprintf(name, sizeof name, "cifar10/data_batch_%d.bin", i + 1);
        status = find(experiment, name, paths[i], error);
        if (i < 4)
            lessons[i] = paths[i];
    }
    const char *const exam = paths[4];
    if (status == TACIT_OK)
        status = tacit_images_read_cifar10(&plan->lessons, lessons, 4, error);
    if (status == TACIT_OK)
        status = tacit_images_read_cifar10(&plan->exam, &exam, 1, error);
    return status;
}

/* ---- Features that are fixed beforehand, so that they tell nothing of anybody's data ---- */

/* The mean of the pixels of one of side x side parts of a picture. */
static uint8_t mean_of(const uint8_t *pixels, uint32_t height, uint32_t width, uint32_t side,
                       uint32_t row, uint32_t column)
{
    uint64_t sum = 0;
    uint64_t count = 0;
    for (uint32_t y = row * height / side; y < (row + 1) * height / side; y++)
        for (uint32_t x = column * width / side; x < (column + 1) * width / side; x++, count++)
            sum += pixels[(size_t)y * width + x];
    TACIT_ASSERT(count > 0);
    return (uint8_t)((sum + count / 2) / count);
}

/* In place: what is written never reaches what is still to be read. */
static void shrink(struct tacit_images *images, uint32_t side)
{
    size_t const plane = (size_t)images->height * images->width;
    size_t at = 0;
    for (size_t i = 0; i < (size_t)images->count * images->channels; i++) {
        uint8_t parts[32 * 32];
        for (uint32_t place = 0; place < side * side; place++)
            parts[place] = mean_of(images->pixels + i * plane, images->height, images->width, side,
                                   place / side, place % side);
        memcpy(images->pixels + at, parts, (size_t)side * side);
        at += (size_t)side * side;
    }
    images->height = images->width = side;
}

static enum tacit_status make_features(const struct tacit_experiment *experiment,
                                       struct training_plan *plan, struct tacit_error *error)
{
    uint32_t const side = plan->keys.features;
    if (side == 0)
        return TACIT_OK;
    if (plan->keys.model == TACIT_MODEL_CNN || side > plan->lessons.height)
        return tacit_experiment_refuse(experiment, "training.features",
                                       "allowed: for logistic and mlp, and at most as many as "
                                       "the pictures have rows",
                                       error);
    shrink(&plan->lessons, side);
    shrink(&plan->exam, side);
    return TACIT_OK;
}

/* ---- Pictures that several experiments of one process share ---- */

#define SHELF_MAX 8u

/* Read once: a paper's figures have a dozen experiments on the same pictures. Plans are made and
 * freed on one thread. */
struct shelf {
    enum training_data data;
    uint32_t features;
    uint32_t exam;
    uint32_t holders;
    struct tacit_images lessons;
    struct tacit_images exam_images;
};
static struct shelf shelves[SHELF_MAX];

static enum tacit_status read_pictures(const struct tacit_experiment *experiment,
                                       struct training_plan *plan, struct tacit_error *error)
{
    enum tacit_status status = plan->keys.data == TRAINING_MNIST
                                   ? read_mnist(experiment, plan, error)
                                   : read_cifar10(experiment, plan, error);
    if (status == TACIT_OK)
        status = make_features(experiment, plan, error);
    if (status == TACIT_OK && plan->keys.exam > 0 && plan->keys.exam < plan->exam.count)
        plan->exam.count = plan->keys.exam;
    return status;
}

static void put_on_shelf(struct training_plan *plan)
{
    for (uint32_t i = 0; i < SHELF_MAX; i++)
        if (shelves[i].holders == 0) {
            shelves[i] = (struct shelf){plan->keys.data, plan->keys.features, plan->keys.exam, 1,
                                        plan->lessons,   plan->exam};
            plan->shelf = i + 1;
            return;
        }
}

/* False: nobody holds such pictures. */
static bool take_from_shelf(struct training_plan *plan)
{
    for (uint32_t i = 0; i < SHELF_MAX; i++) {
        struct shelf *const shelf = &shelves[i];
        if (shelf->holders == 0 || shelf->data != plan->keys.data ||
            shelf->features != plan->keys.features || shelf->exam != plan->keys.exam)
            continue;
        shelf->holders++;
        plan->lessons = shelf->lessons;
        plan->exam = shelf->exam_images;
        plan->shelf = i + 1;
        return true;
    }
    return false;
}

static bool gives_back_to_shelf(struct training_plan *plan)
{
    return plan->shelf > 0 && --shelves[plan->shelf - 1].holders > 0;
}

enum tacit_status training_plan_make(const struct tacit_experiment *experiment,
                                     const struct training_keys *keys, struct training_plan *plan,
                                     struct tacit_error *error)
{
    plan->keys = *keys;
    plan->mode =
        experiment->config->epsilon > 1e9 ? TACIT_PRIVACY_NONE : experiment->config->privacy;
    if (!take_from_shelf(plan)) {
        enum tacit_status const status = read_pictures(experiment, plan, error);
        if (status != TACIT_OK)
            return status;
        put_on_shelf(plan);
    }
    plan->model = (struct tacit_model){
        keys->model, plan->lessons.channels, plan->lessons.height, plan->lessons.width,
        10,          keys->batch_norm};
    struct tacit_model_layer layers[TACIT_MODEL_LAYERS_MAX];
    (void)tacit_model_layers(&plan->model, layers, &plan->parameter_count);
    if ((uint64_t)experiment->config->agent_count * 20 > plan->lessons.count)
        return tacit_experiment_refuse(experiment, "agents",
                                       "each user needs 20 pictures; there are not so many", error);
    return TACIT_OK;
}

void training_plan_free(struct training_plan *plan)
{
    if (gives_back_to_shelf(plan))
        return;
    tacit_images_free(&plan->lessons);
    tacit_images_free(&plan->exam);
}
