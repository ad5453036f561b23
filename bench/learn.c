/* A training step of a user (pictures into floats, gradient, Adam) against the oneDNN primitives of
 * its forward and backward pass alone, in turn, by processor time. */
#include "tacit/learn.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "../src/learn/passes.h"

#define BATCH 20u
#define PICTURES 1000u
#define TURNS 10u

struct school {
    struct tacit_model model;
    struct tacit_learn_network *network;
    struct tacit_optimizer optimizer;
    uint64_t parameter_count;
    size_t pixel_count;
    uint8_t *pictures;
    float *images;
    float *parameters;
    float *gradient;
    uint8_t labels[BATCH];
};

static double seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void *room(size_t count, size_t size)
{
    void *const memory = calloc(count, size);
    if (memory == NULL)
        exit(1);
    return memory;
}

static void open_school(struct school *school)
{
    struct tacit_model_layer layers[TACIT_MODEL_LAYERS_MAX];
    struct tacit_rng rng = tacit_rng_stream(1, 0, 0, TACIT_PURPOSE_REWARD);
    struct tacit_model const *const model = &school->model;
    (void)tacit_model_layers(model, layers, &school->parameter_count);
    school->pixel_count = (size_t)model->channels * model->height * model->width;
    school->pictures = room(PICTURES * school->pixel_count, 1);
    for (size_t i = 0; i < PICTURES * school->pixel_count; i++)
        school->pictures[i] = (uint8_t)tacit_rng_below(&rng, 256);
    for (uint32_t i = 0; i < BATCH; i++)
        school->labels[i] = (uint8_t)(i % 10);
    school->images = room(BATCH * school->pixel_count, sizeof(float));
    school->parameters = room(school->parameter_count, sizeof(float));
    school->gradient = room(school->parameter_count, sizeof(float));
    school->optimizer =
        (struct tacit_optimizer){.kind = TACIT_OPTIMIZER_ADAM,
                                 .rate = 0.001,
                                 .first = room(school->parameter_count, sizeof(float)),
                                 .second = room(school->parameter_count, sizeof(float))};
    tacit_model_draw(model, &rng, school->parameters);
    if (tacit_learn_network_new(&school->network, model, BATCH) != TACIT_OK)
        exit(1);
}

static void step(struct school *school, uint32_t number)
{
    double loss;
    uint32_t rows[BATCH];
    for (uint32_t i = 0; i < BATCH; i++)
        rows[i] = (number * BATCH + i * 7) % PICTURES;
    tacit_learn_pictures(school->pictures, school->pixel_count, rows, BATCH, 0, 1.0F / 255,
                         school->images);
    if (tacit_learn_network_gradient(school->network, school->parameters, school->images,
                                     school->labels, school->gradient, &loss, NULL) != TACIT_OK)
        exit(1);
    tacit_optimizer_step(&school->optimizer, school->gradient, school->parameter_count,
                         school->parameters);
}

static void measure(const char *name, struct tacit_model model, uint32_t batches)
{
    struct school school = {.model = model};
    double whole = 0;
    double bare = 0;
    open_school(&school);
    step(&school, 0); /* points the passes at the parameters */
    for (uint32_t turn = 0; turn < TURNS; turn++) {
        double const start = seconds();
        for (uint32_t i = 0; i < batches; i++)
            step(&school, i);
        double const middle = seconds();
        for (uint32_t i = 0; i < batches; i++)
            if (!learn_network_bare(school.network))
                exit(1);
        whole += middle - start;
        bare += seconds() - middle;
    }
    (void)printf("%-10s %8.1f us a batch of %u, bare primitives %8.1f us, ratio %.2f\n", name,
                 1e6 * whole / (TURNS * batches), BATCH, 1e6 * bare / (TURNS * batches),
                 whole / bare);
    tacit_learn_network_free(school.network);
    free(school.pictures);
    free(school.images);
    free(school.parameters);
    free(school.gradient);
    free(school.optimizer.first);
    free(school.optimizer.second);
}

int main(void)
{
    measure("logistic", (struct tacit_model){TACIT_MODEL_LOGISTIC, 1, 28, 28, 10, false, false, 0},
            300);
    measure("mlp", (struct tacit_model){TACIT_MODEL_MLP, 1, 28, 28, 10, false, false, 0}, 300);
    measure("cnn", (struct tacit_model){TACIT_MODEL_CNN, 3, 32, 32, 10, true, false, 0}, 10);
    return 0;
}
