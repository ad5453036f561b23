/* The section `training`: its keys, and the pictures that it names. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include "../../config/reader.h"
#include "deal.h"
#include "streams.h"
#include "training.h"

static const struct config_choice sets[] = {
    {"mnist", TRAINING_MNIST}, {"cifar10", TRAINING_CIFAR10}, {NULL, 0}};
static const struct config_choice models[] = {{"logistic", TACIT_MODEL_LOGISTIC},
                                              {"mlp", TACIT_MODEL_MLP},
                                              {"cnn", TACIT_MODEL_CNN},
                                              {NULL, 0}};
static const struct config_choice switches[] = {{"off", 0}, {"on", 1}, {NULL, 0}};
static const struct config_choice optimizers[] = {
    {"adam", TACIT_OPTIMIZER_ADAM}, {"sgd", TACIT_OPTIMIZER_SGD}, {NULL, 0}};
#define POSITIVE CONFIG_ABOVE(0, 1e6)

const struct config_choice training_labels[] = {{"iid", 0}, {"dominant", 1}, {NULL, 0}};

const struct config_key training_key_table[] = {
    {"data", NULL, "cifar10: batches 1 to 4, examined on batch 5", .choices = sets},
    {"model", "(mlp, for cifar10 cnn)", "", CONFIG_TO_ENUM(training_keys, model, models)},
    {"batch_norm", "(off, for the CNN on)",
     "after each hidden layer of the MLP, after each convolution of the CNN",
     CONFIG_TO_FLAG(training_keys, batch_norm, switches)}, /* READINGS P5.13 */
    {"optimizer", "adam", "", CONFIG_TO_ENUM(training_keys, optimizer, optimizers)},
    {"rate", "0.01", "of the optimizer",
     CONFIG_TO_REAL(training_keys, rate, POSITIVE)}, /* READINGS P5.9 */
    {"batch", "20", "pictures in a step", CONFIG_TO_U32(training_keys, batch, 1, 4096)},
    {"epochs", "1", "of a user in one round", CONFIG_TO_U32(training_keys, epochs, 1, 1000)},
    {"batches_max", "100", "of a user in one round",
     CONFIG_TO_U32(training_keys, batches_max, 1, 1000000)},
    {"sensitivity", "(0.003, for cifar10 0.012)",
     "mode paper: the Delta f of the noise of each coordinate",
     CONFIG_TO_REAL(training_keys, sensitivity, POSITIVE)},
    {"clip", "1", "mode sound: the L1 norm that an update is clipped to",
     CONFIG_TO_REAL(training_keys, clip, POSITIVE)},
    {"features", "(the pixels)",
     "S: a picture is the means of its S x S parts, in each channel; not for the CNN. Fixed "
     "beforehand, so they tell nothing of anybody's data",
     CONFIG_TO_U32(training_keys, pictures.features, 1, 32)},
    {"evaluate_every", "(at the end)",
     "so many rounds pass between two examinations; the curves are the series of the run",
     CONFIG_TO_U32(training_keys, evaluate_every, 1, 1000000000u)},
    {"exam", "(all)", "the model is examined on so many pictures, the first ones",
     CONFIG_TO_U32(training_keys, pictures.exam, 1, 1000000000u)},
    {"target", "(none)", "an accuracy; time_to_target is the time that it takes",
     CONFIG_TO_REAL(training_keys, target, CONFIG_ABOVE(0, 1))},
    {"classes", "10", "only pictures with a label below it",
     CONFIG_TO_U32(training_keys, pictures.classes, 2, TRAINING_LABELS_MAX)},
    {"frozen", "",
     "for the mlp without batch norm and dropout: public pictures, which no user gets, teach an "
     "MLP, whose hidden layers then stay as they are; users train its head alone, from zero",
     .form = "a map"},
    {"dropout", "0",
     "share of the outputs of each hidden dense layer that a batch does without; batch_norm: off, "
     "dropout: 0.2 with the CNN is the authors' network",
     CONFIG_TO_REAL(training_keys, dropout, {0, 1, false, false, true})},
    {"hidden", "3",
     "of the CNN, its hidden dense layers: 128-64-32, or 2: 128-64, as the paper's text has it",
     CONFIG_TO_U32(training_keys, hidden, 2, 3)},
    {.name = NULL}};

const struct config_key training_frozen_keys[] = {
    {"pictures", NULL, "the first ones with a label below labels, which are public",
     CONFIG_TO_U32(training_frozen, pictures, 20, 1000000u)},
    {"labels", "(classes)", "", .form = "1 to classes"},
    {"epochs", "5", "0: its layers stay as drawn", CONFIG_TO_U32(training_frozen, epochs, 0, 1000)},
    {.name = NULL}};

/* training.frozen: {pictures: 5000, labels: 5, epochs: 5}. */
static void read_frozen(struct config_reader *reader, const struct config_node *training,
                        struct training_keys *keys)
{
    struct training_frozen *const frozen = &keys->pictures.frozen;
    struct config_node const *const node = config_node_member(training, "frozen");
    struct config_node const *const map =
        config_reader_map(reader, training, "training.frozen", false);
    if (map == NULL)
        return;
    frozen->labels = keys->pictures.classes;
    config_reader_table(reader, map, "training.frozen", training_frozen_keys, frozen);
    config_reader_u32(reader, map, "training.frozen.labels", false, 1, keys->pictures.classes,
                      &frozen->labels);
    if (keys->model != TACIT_MODEL_MLP || keys->batch_norm || keys->dropout > 0)
        config_reader_fail(reader, node, "training.frozen",
                           "belongs to model: mlp, batch_norm: off, dropout: 0");
}

/* What stands where the file says nothing depends on the data. */
static struct training_keys defaults_of(enum training_data data, bool is_convolved)
{
    bool const is_coloured = data == TRAINING_CIFAR10;
    return (struct training_keys){.is_on = true,
                                  .pictures = {.data = data},
                                  .model = is_coloured ? TACIT_MODEL_CNN : TACIT_MODEL_MLP,
                                  .batch_norm = is_convolved,
                                  .sensitivity = is_coloured ? 0.012 : 0.003};
}

void training_read_keys(struct config_reader *reader, const struct config_node *root,
                        const struct tacit_config *config, struct training_keys *keys)
{
    struct config_node const *const training = config_reader_map(reader, root, "training", false);
    int data = TRAINING_MNIST;
    int label = 0;
    *keys = (struct training_keys){.rate = 0.01, .batch = 20, .epochs = 1, .batches_max = 100};
    config_reader_idle(reader, root, "labels", training == NULL,
                       "belongs to a run with 'training'");
    if (training == NULL)
        return;
    config_reader_known(reader, training, "training", training_key_table);
    config_reader_choice(reader, training, "training.data", true, sets, &data);
    int model = data == TRAINING_CIFAR10 ? TACIT_MODEL_CNN : TACIT_MODEL_MLP;
    config_reader_choice(reader, training, "training.model", false, models, &model);
    *keys = defaults_of((enum training_data)data, model == TACIT_MODEL_CNN);
    config_reader_table(reader, training, "training", training_key_table, keys);
    config_reader_choice(reader, root, "labels", false, training_labels, &label);
    keys->is_dominant = label == 1;
    read_frozen(reader, training, keys);
    config_reader_idle(reader, training, "training.dropout", keys->model == TACIT_MODEL_LOGISTIC,
                       "belongs to model: mlp, cnn");
    config_reader_idle(reader, training, "training.hidden", keys->model != TACIT_MODEL_CNN,
                       "belongs to model: cnn");
    config_reader_idle(reader, training, "training.clip", config->privacy != TACIT_PRIVACY_SOUND,
                       "belongs to privacy mode: sound");
    config_reader_idle(reader, training, "training.sensitivity",
                       config->privacy != TACIT_PRIVACY_PAPER, "belongs to privacy mode: paper");
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
    return tacit_dataset_find(NULL, name, path) == TACIT_OK
               ? TACIT_OK
               : refuse_missing(experiment, name, error);
}

static enum tacit_status read_mnist(const struct tacit_experiment *experiment,
                                    struct training_plan *plan, struct tacit_error *error)
{
    static const char *const names[] = {
        "mnist/train-images-idx3-ubyte", "mnist/train-labels-idx1-ubyte",
        "mnist/t10k-images-idx3-ubyte", "mnist/t10k-labels-idx1-ubyte"};
    char paths[4][TACIT_PATH_BYTES];
    for (size_t i = 0; i < 4; i++)
        TACIT_TRY(find(experiment, names[i], paths[i], error));
    TACIT_TRY(tacit_images_read_idx(&plan->lessons, paths[0], paths[1], error));
    return tacit_images_read_idx(&plan->exam, paths[2], paths[3], error);
}

/* Batches 1 to 4 to learn from, batch 5 to be examined on (READINGS P5; the published test set is
 * not whole here). */
static enum tacit_status read_cifar10(const struct tacit_experiment *experiment,
                                      struct training_plan *plan, struct tacit_error *error)
{
    char paths[5][TACIT_PATH_BYTES];
    const char *batches[5];
    for (int i = 0; i < 5; i++) {
        char name[40];
        (void)snprintf(name, sizeof name, "cifar10/data_batch_%d.bin", i + 1);
        TACIT_TRY(find(experiment, name, paths[i], error));
        batches[i] = paths[i];
    }
    TACIT_TRY(tacit_images_read_cifar10(&plan->lessons, batches, 4, error));
    return tacit_images_read_cifar10(&plan->exam, &batches[4], 1, error);
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
    uint32_t const side = plan->keys.pictures.features;
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

/* ---- Fewer classes ---- */

static void filter_classes(struct tacit_images *images, uint32_t classes)
{
    size_t const pixels = (size_t)images->channels * images->height * images->width;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < images->count; i++) {
        if (images->labels[i] >= classes)
            continue;
        memmove(images->pixels + kept * pixels, images->pixels + i * pixels, pixels);
        images->labels[kept++] = images->labels[i];
    }
    images->count = kept;
}

/* ---- Features that public pictures teach ---- */

static enum tacit_status freeze(const struct tacit_experiment *experiment,
                                struct training_plan *plan, struct tacit_error *error)
{
    struct training_pictures const *const pictures = &plan->keys.pictures;
    size_t const pixels =
        (size_t)plan->lessons.channels * plan->lessons.height * plan->lessons.width;
    struct tacit_rng rng =
        tacit_rng_stream(experiment->config->seed, 0, TACIT_STREAM_COMMON,
                         TACIT_PURPOSE_OF_FAMILY(SELECT_NUMBER, SELECT_STREAM_FROZEN));
    char text[200];
    uint32_t found;
    if (pictures->frozen.pictures == 0)
        return TACIT_OK;
    if (pixels < TRAINING_FROZEN_WIDTH)
        return tacit_experiment_refuse(experiment, "training.frozen",
                                       "pictures of fewer numbers than it makes of them; allowed: "
                                       "training.features of 4 and more",
                                       error);
    enum tacit_status const status = training_freeze(&pictures->frozen, pictures->classes, &rng,
                                                     &plan->lessons, &plan->exam, &found);
    if (status != TACIT_INVALID)
        return status;
    (void)snprintf(text, sizeof text, "there are only %u such pictures; allowed: at most so many",
                   found);
    return tacit_experiment_refuse(experiment, "training.frozen.pictures", text, error);
}

/* ---- Pictures that several experiments of one process share ---- */

#define SHELF_MAX 8u

/* Read once: a paper's figures have a dozen experiments on the same pictures. Points of a
 * comparison are made and freed on threads of their own. */
struct shelf {
    struct training_pictures pictures;
    uint64_t seed;       /* of frozen features */
    uint32_t user_count; /* plans that have them; 0: a free place */
    struct tacit_images lessons;
    struct tacit_images exam_images;
};
static struct shelf shelves[SHELF_MAX];
static pthread_mutex_t shelves_mutex = PTHREAD_MUTEX_INITIALIZER;

static bool are_same(const struct training_pictures *a, const struct training_pictures *b)
{
    return a->data == b->data && a->classes == b->classes && a->features == b->features &&
           a->exam == b->exam && a->frozen.pictures == b->frozen.pictures &&
           a->frozen.labels == b->frozen.labels && a->frozen.epochs == b->frozen.epochs;
}

static enum tacit_status read_pictures(const struct tacit_experiment *experiment,
                                       struct training_plan *plan, struct tacit_error *error)
{
    struct training_pictures const *const pictures = &plan->keys.pictures;
    TACIT_TRY(pictures->data == TRAINING_MNIST ? read_mnist(experiment, plan, error)
                                               : read_cifar10(experiment, plan, error));
    filter_classes(&plan->lessons, pictures->classes);
    filter_classes(&plan->exam, pictures->classes);
    TACIT_TRY(make_features(experiment, plan, error));
    TACIT_TRY(freeze(experiment, plan, error));
    if (pictures->exam > 0 && pictures->exam < plan->exam.count)
        plan->exam.count = pictures->exam;
    return TACIT_OK;
}

/* Where no place is free the pictures stay the plan's alone. */
static void put_on_shelf(uint64_t seed, struct training_plan *plan)
{
    for (uint32_t i = 0; i < SHELF_MAX; i++)
        if (shelves[i].user_count == 0) {
            shelves[i] = (struct shelf){plan->keys.pictures, seed, 1, plan->lessons, plan->exam};
            plan->shelf = i + 1;
            return;
        }
}

/* False: nobody holds such pictures. */
static bool share_pictures(uint64_t seed, struct training_plan *plan)
{
    for (uint32_t i = 0; i < SHELF_MAX; i++) {
        struct shelf *const shelf = &shelves[i];
        if (shelf->user_count == 0 || !are_same(&shelf->pictures, &plan->keys.pictures) ||
            (shelf->pictures.frozen.pictures > 0 && shelf->seed != seed))
            continue;
        shelf->user_count++;
        plan->lessons = shelf->lessons;
        plan->exam = shelf->exam_images;
        plan->shelf = i + 1;
        return true;
    }
    return false;
}

/* Who comes while others read waits for them. */
static enum tacit_status get_pictures(const struct tacit_experiment *experiment,
                                      struct training_plan *plan, struct tacit_error *error)
{
    uint64_t const seed = experiment->config->seed;
    enum tacit_status status = TACIT_OK;
    (void)pthread_mutex_lock(&shelves_mutex);
    if (!share_pictures(seed, plan)) {
        status = read_pictures(experiment, plan, error);
        if (status == TACIT_OK)
            put_on_shelf(seed, plan);
    }
    (void)pthread_mutex_unlock(&shelves_mutex);
    return status;
}

/* True: other plans still have the pictures. */
static bool leave_shelf(struct training_plan *plan)
{
    (void)pthread_mutex_lock(&shelves_mutex);
    bool const has_others = plan->shelf > 0 && --shelves[plan->shelf - 1].user_count > 0;
    (void)pthread_mutex_unlock(&shelves_mutex);
    return has_others;
}

enum tacit_status training_plan_make(const struct tacit_experiment *experiment,
                                     const struct training_keys *keys, struct training_plan *plan,
                                     struct tacit_error *error)
{
    plan->keys = *keys;
    plan->mode =
        experiment->config->epsilon > 1e9 ? TACIT_PRIVACY_NONE : experiment->config->privacy;
    if (!tacit_learn_is_here())
        return tacit_experiment_refuse(experiment, "training",
                                       "this program was built without networks, as the Python "
                                       "package's is; allowed: without this section, or the "
                                       "program of a build from source",
                                       error);
    TACIT_TRY(get_pictures(experiment, plan, error));
    bool const is_frozen = keys->pictures.frozen.pictures > 0;
    plan->zero = is_frozen ? TRAINING_FROZEN_MEAN : 0;
    plan->unit = is_frozen ? 1 / TRAINING_FROZEN_DEVIATION : 1.0F / 255;
    plan->model = (struct tacit_model){is_frozen ? TACIT_MODEL_LOGISTIC /* the head alone */
                                                 : keys->model,
                                       plan->lessons.channels,
                                       plan->lessons.height,
                                       plan->lessons.width,
                                       keys->pictures.classes,
                                       keys->batch_norm,
                                       keys->hidden == 2,
                                       keys->dropout};
    struct tacit_model_layer layers[TACIT_MODEL_LAYERS_MAX];
    (void)tacit_model_layers(&plan->model, layers, &plan->parameter_count);
    if ((uint64_t)experiment->config->agent_count * TRAINING_SIZE_MIN > plan->lessons.count)
        return tacit_experiment_refuse(experiment, "agents",
                                       "each user needs 20 pictures; there are not so many", error);
    return TACIT_OK;
}

void training_plan_free(struct training_plan *plan)
{
    if (leave_shelf(plan))
        return;
    tacit_images_free(&plan->lessons);
    tacit_images_free(&plan->exam);
}
