/* Models as lists of arrays: their names, shapes and places in the row of parameters. */
#include "tacit/learn.h"
#include "plan.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define KERNEL 3u

/* ---- What stands in a model, stage after stage ---- */

static void add_stage(struct learn_plan *plan, struct learn_stage stage)
{
    TACIT_ASSERT(plan->stage_count < LEARN_STAGES_MAX);
    plan->stages[plan->stage_count++] = stage;
}

static void add_dense(struct learn_plan *plan, uint32_t units)
{
    add_stage(plan, (struct learn_stage){.kind = LEARN_DENSE, .units = units});
}

static void add_hidden(struct learn_plan *plan, const struct tacit_model *model, uint32_t units)
{
    add_dense(plan, units);
    if (model->batch_norm && model->kind == TACIT_MODEL_MLP)
        add_stage(plan, (struct learn_stage){.kind = LEARN_NORM});
    add_stage(plan, (struct learn_stage){.kind = LEARN_RELU});
    if (model->dropout > 0)
        add_stage(plan, (struct learn_stage){.kind = LEARN_DROP});
}

static void plan_cnn(struct learn_plan *plan, const struct tacit_model *model)
{
    static const uint32_t channels[] = {32, 64, 128};
    for (size_t i = 0; i < sizeof channels / sizeof channels[0]; i++) {
        add_stage(plan, (struct learn_stage){.kind = LEARN_CONVOLUTION, .units = channels[i]});
        if (model->batch_norm)
            add_stage(plan, (struct learn_stage){.kind = LEARN_NORM});
        add_stage(plan, (struct learn_stage){.kind = LEARN_RELU});
        add_stage(plan, (struct learn_stage){.kind = LEARN_POOL});
    }
    add_hidden(plan, model, 128);
    add_hidden(plan, model, 64);
    if (!model->two_hidden)
        add_hidden(plan, model, 32);
    add_dense(plan, model->classes);
}

static bool is_valid(const struct tacit_model *model)
{
    uint64_t const pixels =
        (uint64_t)model->channels * model->height * (model->width > 4096 ? 0 : model->width);
    bool const is_image = model->channels >= 1 && model->channels <= 64 && model->height >= 1 &&
                          model->height <= 4096 && pixels >= 1 && pixels <= (1u << 20);
    bool const is_wide = model->height >= 22 && model->width >= 22; /* three pools leave a pixel */
    return is_image && model->classes >= 2 && model->classes <= 256 && model->dropout >= 0 &&
           model->dropout < 1 && (model->kind != TACIT_MODEL_CNN || is_wide);
}

bool learn_plan_of(const struct tacit_model *model, struct learn_plan *plan)
{
    *plan = (struct learn_plan){.stage_count = 0};
    if (!is_valid(model))
        return false;
    switch (model->kind) {
    case TACIT_MODEL_LOGISTIC:
        add_dense(plan, model->classes);
        return true;
    case TACIT_MODEL_MLP:
        add_hidden(plan, model, 32);
        add_hidden(plan, model, 16);
        add_dense(plan, model->classes);
        return true;
    case TACIT_MODEL_CNN:
        plan_cnn(plan, model);
        return true;
    }
    return false;
}

/* ---- Arrays ---- */

struct shape {
    uint32_t channels;
    uint32_t height;
    uint32_t width;
};

struct listing {
    struct tacit_model_layer *layers;
    uint32_t count;
    uint64_t offset;
    uint32_t fan_in;
};

static void add_array(struct listing *listing, const char *kind, uint32_t number, const char *what,
                      uint32_t dimensions, const uint32_t *shape)
{
    TACIT_ASSERT(listing->count < TACIT_MODEL_LAYERS_MAX);
    struct tacit_model_layer *const layer = &listing->layers[listing->count++];
    *layer = (struct tacit_model_layer){
        .dimensions = dimensions, .offset = listing->offset, .count = 1, .fan_in = listing->fan_in};
    (void)snprintf(layer->name, sizeof layer->name, "%s%u.%s", kind, number, what);
    for (uint32_t i = 0; i < dimensions; i++) {
        layer->shape[i] = shape[i];
        layer->count *= shape[i];
    }
    listing->offset += layer->count;
}

static void list_norm(struct listing *listing, uint32_t number, uint32_t channels)
{
    static const char *const what[] = {"scale", "shift", "mean", "variance"};
    for (size_t i = 0; i < sizeof what / sizeof what[0]; i++)
        add_array(listing, "norm", number, what[i], 1, &channels);
}

/* Lists the arrays of a stage. Result: the shape of what comes out. */
static struct shape list_stage(struct listing *listing, const struct learn_stage *stage,
                               uint32_t numbers[LEARN_KINDS], struct shape in)
{
    uint32_t const units = stage->units;
    uint32_t const number = ++numbers[stage->kind];
    switch (stage->kind) {
    case LEARN_DENSE: {
        uint32_t const inputs = in.channels * in.height * in.width;
        listing->fan_in = inputs;
        add_array(listing, "dense", number, "weight", 2, (uint32_t[]){units, inputs});
        add_array(listing, "dense", number, "bias", 1, &units);
        return (struct shape){units, 1, 1};
    }
    case LEARN_CONVOLUTION:
        listing->fan_in = in.channels * KERNEL * KERNEL;
        add_array(listing, "convolution", number, "weight", 4,
                  (uint32_t[]){units, in.channels, KERNEL, KERNEL});
        add_array(listing, "convolution", number, "bias", 1, &units);
        return (struct shape){units, in.height - KERNEL + 1, in.width - KERNEL + 1};
    case LEARN_NORM:
        list_norm(listing, number, in.channels);
        return in;
    case LEARN_POOL:
        return (struct shape){in.channels, in.height / 2, in.width / 2};
    case LEARN_RELU:
    case LEARN_DROP:
        return in;
    }
    TACIT_ASSERT(false);
    return in;
}

uint32_t tacit_model_layers(const struct tacit_model *model,
                            struct tacit_model_layer layers[TACIT_MODEL_LAYERS_MAX],
                            uint64_t *parameter_count)
{
    TACIT_ASSERT(model != NULL);
    struct learn_plan plan;
    if (!learn_plan_of(model, &plan))
        return 0;
    struct listing listing = {.layers = layers};
    uint32_t numbers[LEARN_KINDS] = {0};
    struct shape shape = {model->channels, model->height, model->width};
    for (uint32_t i = 0; i < plan.stage_count; i++)
        shape = list_stage(&listing, &plan.stages[i], numbers, shape);
    *parameter_count = listing.offset;
    return listing.count;
}

void tacit_model_draw(const struct tacit_model *model, struct tacit_rng *rng, float *parameters)
{
    struct tacit_model_layer layers[TACIT_MODEL_LAYERS_MAX];
    uint64_t count;
    uint32_t const layer_count = tacit_model_layers(model, layers, &count);
    TACIT_ASSERT(layer_count > 0);
    for (uint32_t i = 0; i < layer_count; i++) {
        const char *const what = strchr(layers[i].name, '.') + 1;
        bool const is_one = strcmp(what, "scale") == 0 || strcmp(what, "variance") == 0;
        bool const is_zero = strcmp(what, "shift") == 0 || strcmp(what, "mean") == 0;
        double const width = 1 / sqrt((double)layers[i].fan_in);
        for (uint64_t k = 0; k < layers[i].count; k++)
            parameters[layers[i].offset + k] =
                is_one    ? 1
                : is_zero ? 0
                          : (float)(width * (2 * tacit_rng_uniform(rng) - 1));
    }
}

#define INLINE static inline __attribute__((always_inline))
INLINE void make_floats(const uint8_t *pixels, size_t count, float zero, float unit, float *image)
{
    for (size_t k = 0; k < count; k++)
        image[k] = ((float)pixels[k] - zero) * unit;
}

#if defined __x86_64__
/* The same operations, eight at once. */
__attribute__((target("avx2"))) static void make_floats_avx2(const uint8_t *pixels, size_t count,
                                                             float zero, float unit, float *image)
{
    make_floats(pixels, count, zero, unit, image);
}
#endif

static void make_image(const uint8_t *pixels, size_t count, float zero, float unit, float *image)
{
#if defined __x86_64__
    if (__builtin_cpu_supports("avx2")) {
        make_floats_avx2(pixels, count, zero, unit, image);
        return;
    }
#endif
    make_floats(pixels, count, zero, unit, image);
}

/* A cache line of bytes at a time; rows lie anywhere, so the next one is asked for meanwhile. */
#define LINE 64u
void tacit_learn_pictures(const uint8_t *pixels, size_t pixel_count, const uint32_t *rows,
                          uint32_t count, float zero, float unit, float *images)
{
    TACIT_ASSERT(pixels != NULL);
    TACIT_ASSERT(rows != NULL);
    for (uint32_t i = 0; i < count; i++, images += pixel_count) {
        const uint8_t *const from = pixels + rows[i] * pixel_count;
        const uint8_t *const next = pixels + rows[i + 1 < count ? i + 1 : i] * pixel_count;
        for (size_t k = 0; k < pixel_count; k += LINE)
            __builtin_prefetch(next + k);
        make_image(from, pixel_count, zero, unit, images);
    }
}
