/* Steps of learning, batch after batch. */
#include "tacit/learn.h"
#include <stdlib.h>

enum tacit_status tacit_learner_init(struct tacit_learner *learner, const struct tacit_model *model,
                                     uint32_t batch_size, uint32_t example_count)
{
    struct tacit_model_layer layers[TACIT_MODEL_LAYERS_MAX];
    size_t const inputs = (size_t)model->channels * model->height * model->width;
    TACIT_ASSERT(batch_size > 0);
    *learner = (struct tacit_learner){.batch_size = batch_size};
    if (tacit_model_layers(model, layers, &learner->count) == 0)
        return TACIT_INVALID;
    learner->model = calloc(learner->count, sizeof *learner->model);
    learner->gradient = calloc(learner->count, sizeof *learner->gradient);
    learner->inputs = calloc(batch_size * inputs, sizeof *learner->inputs);
    learner->labels = calloc(batch_size, sizeof *learner->labels);
    learner->order = calloc(example_count + (size_t)1, sizeof *learner->order);
    return learner->model == NULL || learner->gradient == NULL || learner->inputs == NULL ||
                   learner->labels == NULL || learner->order == NULL
               ? TACIT_MEMORY
               : tacit_learn_network_new(&learner->network, model, batch_size);
}

void tacit_learner_free(struct tacit_learner *learner)
{
    tacit_learn_network_free(learner->network);
    free(learner->model);
    free(learner->gradient);
    free(learner->inputs);
    free(learner->labels);
    free(learner->order);
}

enum tacit_status tacit_learner_step(struct tacit_learner *learner,
                                     struct tacit_optimizer *optimizer)
{
    double loss;
    TACIT_ASSERT(learner->network != NULL);
    enum tacit_status const status =
        tacit_learn_network_gradient(learner->network, learner->model, learner->inputs,
                                     learner->labels, learner->gradient, &loss, NULL);
    if (status == TACIT_OK)
        tacit_optimizer_step(optimizer, learner->gradient, learner->count, learner->model);
    return status;
}
