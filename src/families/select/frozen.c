/* Frozen features: learnt from public pictures, so that they tell nothing of anybody's data. */
#include "frozen.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "deal.h"
#include "tacit/learn.h"

#define BATCH 20u
#define RATE 0.001
#define HIDDEN 32u /* of the MLP's first layer */
#define WIDTH TRAINING_FROZEN_WIDTH

static size_t pixels_of(const struct tacit_images *images)
{
    return (size_t)images->channels * images->height * images->width;
}

/* ---- Public pictures ---- */

static bool is_public(const struct training_frozen *frozen, uint8_t label, uint32_t taken)
{
    return taken < frozen->pictures && label < frozen->labels;
}

static uint32_t count_public(const struct training_frozen *frozen,
                             const struct tacit_images *images)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < images->count; i++)
        count += is_public(frozen, images->labels[i], count) ? 1 : 0;
    return count;
}

/* Moves them from the lessons to `shown`, which has room for them; both keep their order. */
static void split(const struct training_frozen *frozen, struct tacit_images *lessons,
                  struct tacit_images *shown)
{
    size_t const pixels = pixels_of(lessons);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < lessons->count; i++) {
        struct tacit_images *const to =
            is_public(frozen, lessons->labels[i], shown->count) ? shown : lessons;
        uint32_t const place = to == shown ? shown->count++ : kept++;
        memmove(to->pixels + place * pixels, lessons->pixels + i * pixels, pixels);
        to->labels[place] = lessons->labels[i];
    }
    lessons->count = kept;
}

/* ---- Learning from them ---- */

void training_load(struct tacit_learner *learner, const struct tacit_images *images,
                   const uint32_t *rows, uint32_t count, float zero, float unit)
{
    TACIT_ASSERT(count <= learner->batch_size);
    tacit_learn_pictures(images->pixels, pixels_of(images), rows, count, zero, unit,
                         learner->inputs);
    for (uint32_t i = 0; i < count; i++)
        learner->labels[i] = images->labels[rows[i]];
}

/* Whole batches only: pictures that fill none are passed over in that epoch, whose order is drawn
 * anew. */
static enum tacit_status study(struct tacit_learner *learner, const struct tacit_images *shown,
                               uint32_t epochs, struct tacit_rng *rng)
{
    float *const moments = calloc(2 * learner->count, sizeof *moments);
    struct tacit_optimizer optimizer = {.kind = TACIT_OPTIMIZER_ADAM,
                                        .rate = RATE,
                                        .first = moments,
                                        .second = moments + learner->count};
    enum tacit_status status = moments == NULL ? TACIT_MEMORY : TACIT_OK;
    for (uint32_t i = 0; i < shown->count; i++)
        learner->order[i] = i;
    for (uint32_t epoch = 0; epoch < epochs && status == TACIT_OK; epoch++) {
        tacit_rng_shuffle(rng, shown->count, learner->order);
        for (uint32_t at = 0; at + BATCH <= shown->count && status == TACIT_OK; at += BATCH) {
            training_load(learner, shown, learner->order + at, BATCH, 0, 1.0F / 255);
            status = tacit_learner_step(learner, &optimizer);
        }
    }
    free(moments);
    return status;
}

/* ---- What the hidden layers make of a picture ---- */

/* The MLP up to its last hidden layer; weights lie input by input. */
struct trunk {
    size_t input_count;
    float *first; /* inputs x HIDDEN */
    float first_bias[HIDDEN];
    float second[HIDDEN][WIDTH];
    float second_bias[WIDTH];
    float mean[WIDTH];
    float scale[WIDTH]; /* to bytes */
};

/* Copies the layers from the model's parameters; trunk->first is to be freed. */
static enum tacit_status trunk_new(struct trunk *trunk, const float *parameters, size_t input_count)
{
    trunk->input_count = input_count;
    trunk->first = malloc(input_count * HIDDEN * sizeof(float));
    if (trunk->first == NULL)
        return TACIT_MEMORY;
    for (size_t unit = 0; unit < HIDDEN; unit++)
        for (size_t k = 0; k < input_count; k++)
            trunk->first[k * HIDDEN + unit] = *parameters++;
    for (size_t unit = 0; unit < HIDDEN; unit++)
        trunk->first_bias[unit] = *parameters++;
    for (size_t unit = 0; unit < WIDTH; unit++)
        for (size_t k = 0; k < HIDDEN; k++)
            trunk->second[k][unit] = *parameters++;
    for (size_t unit = 0; unit < WIDTH; unit++)
        trunk->second_bias[unit] = *parameters++;
    return TACIT_OK;
}

/* Dense, ReLU, dense, ReLU; in this order of adding up on every machine. */
static void extract_features(const struct trunk *trunk, const uint8_t *pixels,
                             float features[WIDTH])
{
    float hidden[HIDDEN];
    memcpy(hidden, trunk->first_bias, sizeof hidden);
    for (size_t k = 0; k < trunk->input_count; k++) {
        float const value = (float)pixels[k] * (1.0F / 255);
        if (pixels[k] == 0)
            continue;
        for (size_t unit = 0; unit < HIDDEN; unit++)
            hidden[unit] += trunk->first[k * HIDDEN + unit] * value;
    }
    memcpy(features, trunk->second_bias, WIDTH * sizeof(float));
    for (size_t k = 0; k < HIDDEN; k++) {
        float const value = hidden[k] > 0 ? hidden[k] : 0;
        for (size_t unit = 0; unit < WIDTH; unit++)
            features[unit] += trunk->second[k][unit] * value;
    }
    for (size_t unit = 0; unit < WIDTH; unit++)
        features[unit] = features[unit] > 0 ? features[unit] : 0;
}

/* Mean and deviation of each unit on the public pictures. */
static void find_scale(struct trunk *trunk, const struct tacit_images *shown)
{
    double sums[WIDTH] = {0};
    double squares[WIDTH] = {0};
    for (uint32_t i = 0; i < shown->count; i++) {
        float features[WIDTH];
        extract_features(trunk, shown->pixels + i * trunk->input_count, features);
        for (size_t unit = 0; unit < WIDTH; unit++) {
            sums[unit] += (double)features[unit];
            squares[unit] += (double)features[unit] * (double)features[unit];
        }
    }
    for (size_t unit = 0; unit < WIDTH; unit++) {
        double const mean = sums[unit] / shown->count;
        double const variance = squares[unit] / shown->count - mean * mean;
        trunk->mean[unit] = (float)mean;
        trunk->scale[unit] = variance > 1e-12 ? (float)(TRAINING_FROZEN_DEVIATION / sqrt(variance))
                                              : 0; /* 0: a unit that never changes */
    }
}

/* In place: what is written never reaches what is still to be read. */
static void transform(const struct trunk *trunk, struct tacit_images *images)
{
    TACIT_ASSERT(pixels_of(images) == trunk->input_count);
    TACIT_ASSERT(trunk->input_count >= WIDTH);
    for (uint32_t i = 0; i < images->count; i++) {
        float features[WIDTH];
        extract_features(trunk, images->pixels + i * trunk->input_count, features);
        for (size_t unit = 0; unit < WIDTH; unit++) {
            float const value = (features[unit] - trunk->mean[unit]) * trunk->scale[unit] +
                                TRAINING_FROZEN_MEAN + 0.5F;
            images->pixels[(size_t)i * WIDTH + unit] = value < 0     ? 0
                                                       : value < 255 ? (uint8_t)value
                                                                     : 255;
        }
    }
    images->channels = images->height = 1;
    images->width = WIDTH;
}

/* ---- All of it ---- */

/* The rest of training_freeze, when there are enough public pictures; `shown` gets them. */
static enum tacit_status learn_and_apply(const struct training_frozen *frozen, uint32_t classes,
                                         struct tacit_rng *rng, struct tacit_images *lessons,
                                         struct tacit_images *exam, struct tacit_images *shown)
{
    struct tacit_model const model = {.kind = TACIT_MODEL_MLP,
                                      .channels = lessons->channels,
                                      .height = lessons->height,
                                      .width = lessons->width,
                                      .classes = classes};
    struct tacit_learner learner;
    struct trunk trunk = {0};
    split(frozen, lessons, shown);
    enum tacit_status status = tacit_learner_init(&learner, &model, BATCH, shown->count);
    if (status == TACIT_OK) {
        tacit_model_draw(&model, rng, learner.model);
        status = study(&learner, shown, frozen->epochs, rng);
    }
    if (status == TACIT_OK)
        status = trunk_new(&trunk, learner.model, pixels_of(shown));
    if (status == TACIT_OK) {
        find_scale(&trunk, shown);
        transform(&trunk, lessons);
        transform(&trunk, exam);
    }
    free(trunk.first);
    tacit_learner_free(&learner);
    return status;
}

enum tacit_status training_freeze(const struct training_frozen *frozen, uint32_t classes,
                                  struct tacit_rng *rng, struct tacit_images *lessons,
                                  struct tacit_images *exam, uint32_t *found)
{
    TACIT_ASSERT(frozen->pictures > 0);
    TACIT_ASSERT(pixels_of(lessons) == pixels_of(exam));
    struct tacit_images shown = *lessons;
    *found = count_public(frozen, lessons);
    if (*found < frozen->pictures)
        return TACIT_INVALID;
    shown.count = 0;
    shown.pixels = malloc(*found * pixels_of(lessons));
    shown.labels = malloc(*found);
    enum tacit_status status = TACIT_MEMORY;
    if (shown.pixels != NULL && shown.labels != NULL)
        status = learn_and_apply(frozen, classes, rng, lessons, exam, &shown);
    tacit_images_free(&shown);
    return status;
}
