/* Learn: the small networks that users of a training federation train (Peleg et al., Sec. V), on
 * oneDNN: logistic regression, an MLP, a CNN; batch norm, dropout; Adam and SGD; cross-entropy. One
 * thread a network: run several networks to use several cores. Not here: selection, noise, data
 * files.
 *
 * All numbers of a model lie in one row of floats, layer after layer: weights (as output, input, or
 * output, input, row, column), bias; of a batch norm: scale, shift, running mean, running variance.
 * Same seed and machine, same bits. */
#ifndef TACIT_LEARN_H
#define TACIT_LEARN_H
#include "tacit/base.h"
#include "tacit/random.h"

enum tacit_model_kind {
    TACIT_MODEL_LOGISTIC, /* one dense layer */
    TACIT_MODEL_MLP,      /* 32-16 hidden units (READINGS P5.9) */
    TACIT_MODEL_CNN       /* 3x3 unpadded 32-64-128, each pooled, then dense 128-64-32 */
};

struct tacit_model {
    enum tacit_model_kind kind;
    uint32_t channels; /* of an image */
    uint32_t height;   /* CNN: at least 22 */
    uint32_t width;
    uint32_t classes; /* 2 .. 256 */
    bool batch_norm;  /* MLP: after each hidden layer; CNN: after each convolution */
    bool two_hidden;  /* CNN: dense 128-64 alone (READINGS P5.13) */
    double dropout;   /* 0 .. 1: share of the outputs of each dense hidden layer; 1 excluded */
};

#define TACIT_MODEL_LAYERS_MAX 32u
#define TACIT_MODEL_NAME_BYTES 24u

/* One array of a model's row. */
struct tacit_model_layer {
    char name[TACIT_MODEL_NAME_BYTES]; /* "dense1.weight" */
    uint32_t shape[4];
    uint32_t dimensions;
    uint64_t offset; /* into the row */
    uint64_t count;
    uint32_t fan_in; /* of the layer it belongs to */
};

/* The arrays of a model in their order; returns how many. *parameter_count: d, every number that
 * leaves a user. Errors: 0 if the model is out of its limits. */
uint32_t tacit_model_layers(const struct tacit_model *model,
                            struct tacit_model_layer layers[TACIT_MODEL_LAYERS_MAX],
                            uint64_t *parameter_count);

/* A first model: weights and biases uniform on +-1/sqrt(fan in), batch norms the identity. */
void tacit_model_draw(const struct tacit_model *model, struct tacit_rng *rng, float *parameters);

/* These rows of pictures, of pixel_count bytes each, as floats: (byte - zero) unit. */
void tacit_learn_pictures(const uint8_t *pixels, size_t pixel_count, const uint32_t *rows,
                          uint32_t count, float zero, float unit, float *images);

/* ---- Networks -------------------------------------------------------------------------------- */

/* A model ready to be run on batches of one size; holds no parameters. */
struct tacit_learn_network;

/* Are there networks in this program? Not in one that was built without oneDNN, as the Python
 * package's: then there is no memory for any. */
bool tacit_learn_is_here(void);

/* Errors: TACIT_INVALID (a model or batch out of its limits), TACIT_MEMORY (oneDNN cannot).
 * Ensures: on TACIT_OK *network is to be given to tacit_learn_network_free. */
enum tacit_status tacit_learn_network_new(struct tacit_learn_network **network,
                                          const struct tacit_model *model, uint32_t batch_size);
/* Gives the memory back; NULL is allowed. */
void tacit_learn_network_free(struct tacit_learn_network *network);

/* Mean cross-entropy of one batch and its gradient, in training mode: batch norms use the batch's
 * own statistics and move the running ones, which lie in `parameters`, by a tenth of the way
 * (their places in the gradient are 0). images: batch_size rows of channels, height, width.
 * *hits: how many are classified right; NULL is allowed. Errors: TACIT_MEMORY. */
enum tacit_status tacit_learn_network_gradient(struct tacit_learn_network *network,
                                               float *parameters, const float *images,
                                               const uint8_t *labels, float *gradient, double *loss,
                                               uint32_t *hits);

/* Draws which outputs of the dense hidden layers are zero in the gradients until the next call; the
 * others count 1/(1 - dropout) times. Before the first call, and in evaluation, all are kept.
 * Without dropout nothing is drawn. Cost: one draw an output of the batch. */
void tacit_learn_network_drop(struct tacit_learn_network *network, struct tacit_rng *rng);

/* Summed cross-entropy and hits of `count` <= batch_size images in evaluation mode. Errors: as
 * above. */
enum tacit_status tacit_learn_network_evaluate(struct tacit_learn_network *network,
                                               const float *parameters, const float *images,
                                               const uint8_t *labels, uint32_t count, double *loss,
                                               uint32_t *hits);

/* Name of the implementation that oneDNN chose for the index-th primitive; NULL beyond the last.
 * For tests: none may be a reference kernel. */
const char *tacit_learn_network_implementation(const struct tacit_learn_network *network,
                                               uint32_t index);

/* ---- Optimizers ------------------------------------------------------------------------------ */

enum tacit_optimizer_kind {
    TACIT_OPTIMIZER_SGD, /* theta - rate g */
    TACIT_OPTIMIZER_ADAM /* Kingma, Ba 2015, Algorithm 1: 0.9, 0.999, 1e-8 */
};

struct tacit_optimizer {
    enum tacit_optimizer_kind kind;
    double rate;
    uint64_t step_count;
    float *first;  /* Adam: d; NULL for SGD. The caller's, 0 at the start */
    float *second; /* Adam: d */
};

/* One step; the statistics of batch norms have gradient 0 and stay. Cost: O(d). */
void tacit_optimizer_step(struct tacit_optimizer *optimizer, const float *gradient, uint64_t count,
                          float *parameters);

/* ---- Learning -------------------------------------------------------------------------------- */

/* A network, the numbers of its model, and a batch of examples. */
struct tacit_learner {
    struct tacit_learn_network *network;
    uint64_t count; /* d */
    uint32_t batch_size;
    float *model; /* d; zeros at first */
    float *gradient;
    float *inputs; /* batch_size rows */
    uint8_t *labels;
    uint32_t *order; /* of all examples: the caller's */
};

/* Errors: as of a network. Ensures: it is to be given to tacit_learner_free, whatever the status.
 */
enum tacit_status tacit_learner_init(struct tacit_learner *learner, const struct tacit_model *model,
                                     uint32_t batch_size, uint32_t example_count);
/* Of zeros there is nothing to give back. */
void tacit_learner_free(struct tacit_learner *learner);

/* One step on the batch. Errors: TACIT_MEMORY. */
enum tacit_status tacit_learner_step(struct tacit_learner *learner,
                                     struct tacit_optimizer *optimizer);
#endif
