/* A model on oneDNN: each pass is a list of primitives that is built once and run for every batch.
 * A primitive is asked which layouts it likes best; where neighbours disagree a reorder is put
 * between them. (A backward pass in the forward pass's weight layout would fall to a reference
 * kernel, hundreds of times slower, without a word.) */
#include "passes.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_MAX 65536u
#define CLASSES_MAX 256u /* of a model */
#define NORM_EPSILON 1e-5f
#define RUNNING_SHARE 0.1f /* of a batch in the running statistics */
#define PIXEL_WINDOW 2     /* of a pool */

struct tacit_learn_network {
    struct learn_passes passes;
    struct learn_pass forward;
    struct learn_pass backward;
    struct learn_pass infer;
    struct learn_plan plan;
    struct learn_node nodes[LEARN_STAGES_MAX];
    struct tacit_model_layer layers[TACIT_MODEL_LAYERS_MAX];
    uint32_t layer_count;
    uint64_t parameter_count;
    uint32_t batch_size;
    uint64_t pixel_count; /* of an image */
    uint32_t class_count;
    double dropout;
    dnnl_memory_t images; /* points at the caller's, or at the room */
    float *room;          /* of a batch that is not full */
    dnnl_memory_t logits; /* of training and of evaluation */
    dnnl_memory_t logits_gradient;
};

bool tacit_learn_is_here(void)
{
    return true;
}

/* ---- Stages: forward ------------------------------------------------------------------------- */

/* A description of floats, the last dimension next to each other, as rows of parameters are. */
static dnnl_memory_desc_t plain(const dnnl_dims_t dims, int count)
{
    static const dnnl_format_tag_t tags[] = {dnnl_a, dnnl_ab, dnnl_abc, dnnl_abcd};
    dnnl_memory_desc_t desc;
    TACIT_ASSERT(count >= 1 && count <= 4);
    dnnl_status_t const status =
        dnnl_memory_desc_init_by_tag(&desc, count, dims, dnnl_f32, tags[count - 1]);
    TACIT_ASSERT(status == dnnl_success);
    return desc;
}

/* The same shape, in the layout that oneDNN likes. */
static dnnl_memory_desc_t any_layout(const dnnl_memory_desc_t *desc)
{
    dnnl_memory_desc_t any;
    dnnl_status_t const status =
        dnnl_memory_desc_init_by_tag(&any, desc->ndims, desc->dims, dnnl_f32, dnnl_format_tag_any);
    TACIT_ASSERT(status == dnnl_success);
    return any;
}

/* The arrays of the next stage with parameters, as memories that are pointed at each run's. */
static void bind_arrays(struct tacit_learn_network *network, struct learn_node *node,
                        uint32_t *next, uint32_t count)
{
    struct learn_passes *const passes = &network->passes;
    node->array_count = count;
    for (uint32_t i = 0; i < count; i++) {
        struct tacit_model_layer const *const layer = &network->layers[(*next)++];
        dnnl_dims_t dims = {0};
        for (uint32_t k = 0; k < layer->dimensions; k++)
            dims[k] = layer->shape[k];
        dnnl_memory_desc_t const desc = plain(dims, (int)layer->dimensions);
        node->offsets[i] = layer->offset;
        node->values[i] = learn_memory(passes, &desc, false);
        node->gradients[i] = learn_memory(passes, &desc, false);
    }
}

/* Weights of a dense layer over an image are oihw; as an array they are one row an output. */
static void shape_dense_weights(struct tacit_learn_network *network, struct learn_node *node,
                                const dnnl_memory_desc_t *in)
{
    dnnl_dims_t dims = {node->units, in->dims[1], in->ndims > 2 ? in->dims[2] : 1,
                        in->ndims > 3 ? in->dims[3] : 1};
    dnnl_memory_desc_t const desc = plain(dims, in->ndims);
    node->values[0] = learn_memory(&network->passes, &desc, false);
    node->gradients[0] = learn_memory(&network->passes, &desc, false);
}

/* The memories of a weighted stage, but for its bias in whatever layout oneDNN likes. */
struct weighted {
    dnnl_memory_desc_t in;
    dnnl_memory_desc_t weights;
    dnnl_memory_desc_t bias;
    dnnl_memory_desc_t out;
};

static struct weighted weighted_of(const struct learn_node *node, const dnnl_memory_desc_t *out)
{
    dnnl_memory_desc_t const in = learn_desc(node->in);
    dnnl_memory_desc_t const weights = learn_desc(node->values[0]);
    return (struct weighted){.in = any_layout(&in),
                             .weights = any_layout(&weights),
                             .bias = learn_desc(node->values[1]),
                             .out = any_layout(out)};
}

static void build_dense(struct tacit_learn_network *network, struct learn_node *node)
{
    struct learn_passes *const passes = &network->passes;
    dnnl_memory_desc_t const in = learn_desc(node->in);
    shape_dense_weights(network, node, &in);
    dnnl_memory_desc_t const out = plain((dnnl_dims_t){in.dims[0], node->units}, 2);
    struct weighted const any = weighted_of(node, &out);
    dnnl_inner_product_desc_t desc;
    learn_check(passes, dnnl_inner_product_forward_desc_init(&desc, dnnl_forward_training, &any.in,
                                                             &any.weights, &any.bias, &out));
    node->forward = learn_primitive(passes, &desc, NULL);
    learn_add_weighted(passes, &network->forward, node);
}

static void build_convolution(struct tacit_learn_network *network, struct learn_node *node)
{
    struct learn_passes *const passes = &network->passes;
    dnnl_memory_desc_t const in = learn_desc(node->in);
    dnnl_dims_t const dims = {in.dims[0], node->units, in.dims[2] - 2, /* windows of 3 */
                              in.dims[3] - 2};
    dnnl_memory_desc_t const out = plain(dims, 4);
    struct weighted const any = weighted_of(node, &out);
    dnnl_convolution_desc_t desc;
    learn_check(passes, dnnl_convolution_forward_desc_init(
                            &desc, dnnl_forward_training, dnnl_convolution_direct, &any.in,
                            &any.weights, &any.bias, &any.out, (dnnl_dims_t){1, 1},
                            (dnnl_dims_t){0, 0}, (dnnl_dims_t){0, 0}));
    node->forward = learn_primitive(passes, &desc, NULL);
    learn_add_weighted(passes, &network->forward, node);
}

/* Scale and shift are one memory to oneDNN, and neighbours in the row. */
static void build_norm(struct tacit_learn_network *network, struct learn_node *node)
{
    struct learn_passes *const passes = &network->passes;
    dnnl_memory_desc_t const in = learn_desc(node->in);
    dnnl_memory_desc_t const pair = plain((dnnl_dims_t){2, in.dims[1]}, 2);
    node->values[0] = learn_memory(passes, &pair, false);
    node->gradients[0] = learn_memory(passes, &pair, false);
    dnnl_batch_normalization_desc_t desc;
    learn_check(passes, dnnl_batch_normalization_forward_desc_init(
                            &desc, dnnl_forward_training, &in, NORM_EPSILON, dnnl_use_scaleshift));
    node->forward = learn_primitive(passes, &desc, NULL);
    dnnl_memory_desc_t const column = plain((dnnl_dims_t){in.dims[1]}, 1);
    node->mean = learn_memory(passes, &column, true);
    node->variance = learn_memory(passes, &column, true);
    node->out = learn_memory(passes, &in, true);
    learn_add(passes, &network->forward, node->forward, 5,
              (dnnl_exec_arg_t[]){{DNNL_ARG_SRC, node->in},
                                  {DNNL_ARG_SCALE_SHIFT, node->values[0]},
                                  {DNNL_ARG_MEAN, node->mean},
                                  {DNNL_ARG_VARIANCE, node->variance},
                                  {DNNL_ARG_DST, node->out}});
}

static void build_relu(struct tacit_learn_network *network, struct learn_node *node)
{
    struct learn_passes *const passes = &network->passes;
    dnnl_memory_desc_t const in = learn_desc(node->in);
    dnnl_eltwise_desc_t desc;
    learn_check(passes, dnnl_eltwise_forward_desc_init(&desc, dnnl_forward_training,
                                                       dnnl_eltwise_relu, &in, 0, 0));
    node->forward = learn_primitive(passes, &desc, NULL);
    node->out = learn_memory(passes, &in, true);
    learn_add(passes, &network->forward, node->forward, 2,
              (dnnl_exec_arg_t[]){{DNNL_ARG_SRC, node->in}, {DNNL_ARG_DST, node->out}});
}

static void build_pool(struct tacit_learn_network *network, struct learn_node *node)
{
    struct learn_passes *const passes = &network->passes;
    dnnl_memory_desc_t const in = learn_desc(node->in);
    dnnl_dims_t const dims = {in.dims[0], in.dims[1], in.dims[2] / PIXEL_WINDOW,
                              in.dims[3] / PIXEL_WINDOW};
    dnnl_memory_desc_t const out = plain(dims, 4);
    dnnl_memory_desc_t const out_any = any_layout(&out);
    dnnl_dims_t const window = {PIXEL_WINDOW, PIXEL_WINDOW};
    dnnl_dims_t const none = {0, 0};
    dnnl_pooling_desc_t desc;
    learn_check(passes,
                dnnl_pooling_forward_desc_init(&desc, dnnl_forward_training, dnnl_pooling_max, &in,
                                               &out_any, window, window, none, none));
    node->forward = learn_primitive(passes, &desc, NULL);
    node->out = learn_result(passes, node->forward, dnnl_query_dst_md);
    node->workspace = learn_result(passes, node->forward, dnnl_query_workspace_md);
    learn_add(passes, &network->forward, node->forward, 3,
              (dnnl_exec_arg_t[]){{DNNL_ARG_SRC, node->in},
                                  {DNNL_ARG_DST, node->out},
                                  {DNNL_ARG_WORKSPACE, node->workspace}});
}

static void fill(dnnl_memory_t memory, float value)
{
    dnnl_memory_desc_t const desc = learn_desc(memory);
    float *const values = memory == NULL ? NULL : learn_data(memory);
    for (size_t i = 0; values != NULL && i < dnnl_memory_desc_get_size(&desc) / sizeof *values; i++)
        values[i] = value;
}

/* `from` times `mask`: a drop forward, and its gradient backward. */
static void add_product(struct tacit_learn_network *network, struct learn_pass *pass,
                        struct learn_primitive *primitive, dnnl_memory_t from, dnnl_memory_t mask,
                        dnnl_memory_t to)
{
    learn_add(
        &network->passes, pass, primitive, 3,
        (dnnl_exec_arg_t[]){{DNNL_ARG_SRC_0, from}, {DNNL_ARG_SRC_1, mask}, {DNNL_ARG_DST, to}});
}

static void build_drop(struct tacit_learn_network *network, struct learn_node *node)
{
    struct learn_passes *const passes = &network->passes;
    dnnl_memory_desc_t const in = learn_desc(node->in);
    dnnl_binary_desc_t desc;
    learn_check(passes, dnnl_binary_desc_init(&desc, dnnl_binary_mul, &in, &in, &in));
    node->forward = learn_primitive(passes, &desc, NULL);
    node->out = learn_memory(passes, &in, true);
    node->mask = learn_memory(passes, &in, true);
    node->ones = learn_memory(passes, &in, true);
    fill(node->mask, 1);
    fill(node->ones, 1);
    add_product(network, &network->forward, node->forward, node->in, node->mask, node->out);
}

/* ---- Stages: evaluation ---------------------------------------------------------------------- */

static void infer_norm(struct tacit_learn_network *network, const struct learn_node *node)
{
    struct learn_passes *const passes = &network->passes;
    dnnl_memory_desc_t const in = learn_desc(node->in);
    dnnl_batch_normalization_desc_t desc;
    learn_check(passes, dnnl_batch_normalization_forward_desc_init(
                            &desc, dnnl_forward_inference, &in, NORM_EPSILON,
                            dnnl_use_scaleshift | dnnl_use_global_stats));
    struct learn_primitive *const primitive = learn_primitive(passes, &desc, NULL);
    learn_replace(passes, &network->infer, node->forward, primitive, 5,
                  (dnnl_exec_arg_t[]){{DNNL_ARG_SRC, node->in},
                                      {DNNL_ARG_SCALE_SHIFT, node->values[0]},
                                      {DNNL_ARG_MEAN, node->values[2]},
                                      {DNNL_ARG_VARIANCE, node->values[3]},
                                      {DNNL_ARG_DST, node->out}});
}

/* As forward, but with the running statistics, and nothing dropped; the results lie where those of
 * training lie. */
static void build_inference(struct tacit_learn_network *network)
{
    network->infer = network->forward;
    for (uint32_t i = 0; i < network->plan.stage_count; i++) {
        struct learn_node const *const node = &network->nodes[i];
        if (network->plan.stages[i].kind == LEARN_NORM)
            infer_norm(network, node);
        if (network->plan.stages[i].kind == LEARN_DROP)
            learn_replace(&network->passes, &network->infer, node->forward, node->forward, 3,
                          (dnnl_exec_arg_t[]){{DNNL_ARG_SRC_0, node->in},
                                              {DNNL_ARG_SRC_1, node->ones},
                                              {DNNL_ARG_DST, node->out}});
    }
}

/* ---- Stages: backward ------------------------------------------------------------------------ */

static void differentiate_dense(struct tacit_learn_network *network, struct learn_node *node,
                                dnnl_memory_t gradient)
{
    struct learn_passes *const passes = &network->passes;
    dnnl_memory_desc_t const out = learn_desc(gradient);
    struct weighted const any = weighted_of(node, &out);
    dnnl_inner_product_desc_t desc;
    learn_check(passes, dnnl_inner_product_backward_weights_desc_init(&desc, &any.in, &any.weights,
                                                                      &any.bias, &any.out));
    learn_add_weights_gradient(passes, &network->backward, node,
                               learn_primitive(passes, &desc, node->forward), gradient);
    if (node == network->nodes) /* nobody asks for it of the images */
        return;
    learn_check(passes,
                dnnl_inner_product_backward_data_desc_init(&desc, &any.in, &any.weights, &any.out));
    learn_add_data_gradient(passes, &network->backward, node,
                            learn_primitive(passes, &desc, node->forward), gradient);
}

static void differentiate_convolution(struct tacit_learn_network *network, struct learn_node *node,
                                      dnnl_memory_t gradient)
{
    struct learn_passes *const passes = &network->passes;
    dnnl_memory_desc_t const out = learn_desc(gradient);
    struct weighted const any = weighted_of(node, &out);
    dnnl_dims_t const one = {1, 1};
    dnnl_dims_t const none = {0, 0};
    dnnl_convolution_desc_t desc;
    learn_check(passes, dnnl_convolution_backward_weights_desc_init(
                            &desc, dnnl_convolution_direct, &any.in, &any.weights, &any.bias,
                            &any.out, one, none, none));
    learn_add_weights_gradient(passes, &network->backward, node,
                               learn_primitive(passes, &desc, node->forward), gradient);
    if (node == network->nodes) /* nobody asks for it of the images */
        return;
    learn_check(passes,
                dnnl_convolution_backward_data_desc_init(&desc, dnnl_convolution_direct, &any.in,
                                                         &any.weights, &any.out, one, none, none));
    learn_add_data_gradient(passes, &network->backward, node,
                            learn_primitive(passes, &desc, node->forward), gradient);
}

static void differentiate_norm(struct tacit_learn_network *network, struct learn_node *node,
                               dnnl_memory_t gradient)
{
    struct learn_passes *const passes = &network->passes;
    dnnl_memory_desc_t const in = learn_desc(node->in);
    dnnl_batch_normalization_desc_t desc;
    learn_check(passes, dnnl_batch_normalization_backward_desc_init(
                            &desc, dnnl_backward, &in, &in, NORM_EPSILON, dnnl_use_scaleshift));
    struct learn_primitive *const primitive = learn_primitive(passes, &desc, node->forward);
    dnnl_memory_t const liked = learn_as(passes, &network->backward, gradient, &in);
    node->in_gradient = learn_memory(passes, &in, true);
    learn_add(passes, &network->backward, primitive, 7,
              (dnnl_exec_arg_t[]){{DNNL_ARG_SRC, node->in},
                                  {DNNL_ARG_MEAN, node->mean},
                                  {DNNL_ARG_VARIANCE, node->variance},
                                  {DNNL_ARG_DIFF_DST, liked},
                                  {DNNL_ARG_SCALE_SHIFT, node->values[0]},
                                  {DNNL_ARG_DIFF_SRC, node->in_gradient},
                                  {DNNL_ARG_DIFF_SCALE_SHIFT, node->gradients[0]}});
}

static void differentiate_relu(struct tacit_learn_network *network, struct learn_node *node,
                               dnnl_memory_t gradient)
{
    struct learn_passes *const passes = &network->passes;
    dnnl_memory_desc_t const in = learn_desc(node->in);
    dnnl_eltwise_desc_t desc;
    learn_check(passes, dnnl_eltwise_backward_desc_init(&desc, dnnl_eltwise_relu, &in, &in, 0, 0));
    struct learn_primitive *const primitive = learn_primitive(passes, &desc, node->forward);
    dnnl_memory_t const liked = learn_as(passes, &network->backward, gradient, &in);
    node->in_gradient = learn_memory(passes, &in, true);
    learn_add(passes, &network->backward, primitive, 3,
              (dnnl_exec_arg_t[]){{DNNL_ARG_SRC, node->in},
                                  {DNNL_ARG_DIFF_DST, liked},
                                  {DNNL_ARG_DIFF_SRC, node->in_gradient}});
}

static void differentiate_pool(struct tacit_learn_network *network, struct learn_node *node,
                               dnnl_memory_t gradient)
{
    struct learn_passes *const passes = &network->passes;
    dnnl_memory_desc_t const in = learn_desc(node->in);
    dnnl_memory_desc_t const out = learn_desc(node->out);
    dnnl_dims_t const window = {PIXEL_WINDOW, PIXEL_WINDOW};
    dnnl_dims_t const none = {0, 0};
    dnnl_pooling_desc_t desc;
    learn_check(passes, dnnl_pooling_backward_desc_init(&desc, dnnl_pooling_max, &in, &out, window,
                                                        window, none, none));
    struct learn_primitive *const primitive = learn_primitive(passes, &desc, node->forward);
    dnnl_memory_t const liked = learn_as(passes, &network->backward, gradient, &out);
    node->in_gradient = learn_memory(passes, &in, true);
    learn_add(passes, &network->backward, primitive, 3,
              (dnnl_exec_arg_t[]){{DNNL_ARG_DIFF_DST, liked},
                                  {DNNL_ARG_WORKSPACE, node->workspace},
                                  {DNNL_ARG_DIFF_SRC, node->in_gradient}});
}

static void differentiate_drop(struct tacit_learn_network *network, struct learn_node *node,
                               dnnl_memory_t gradient)
{
    struct learn_passes *const passes = &network->passes;
    dnnl_memory_desc_t const in = learn_desc(node->in);
    dnnl_memory_t const liked = learn_as(passes, &network->backward, gradient, &in);
    node->in_gradient = learn_memory(passes, &in, true);
    add_product(network, &network->backward, node->forward, liked, node->mask, node->in_gradient);
}

/* ---- Building -------------------------------------------------------------------------------- */

static const struct {
    uint32_t arrays;
    void (*build)(struct tacit_learn_network *network, struct learn_node *node);
    void (*differentiate)(struct tacit_learn_network *network, struct learn_node *node,
                          dnnl_memory_t gradient);
} kinds[LEARN_KINDS] = {[LEARN_DENSE] = {2, build_dense, differentiate_dense},
                        [LEARN_CONVOLUTION] = {2, build_convolution, differentiate_convolution},
                        [LEARN_NORM] = {4, build_norm, differentiate_norm},
                        [LEARN_RELU] = {0, build_relu, differentiate_relu},
                        [LEARN_POOL] = {0, build_pool, differentiate_pool},
                        [LEARN_DROP] = {0, build_drop, differentiate_drop}};

static void build_stage(struct tacit_learn_network *network, uint32_t index, uint32_t *next)
{
    struct learn_stage const *const stage = &network->plan.stages[index];
    struct learn_node *const node = &network->nodes[index];
    TACIT_ASSERT(stage->kind < LEARN_KINDS);
    node->units = stage->units;
    node->in = index == 0 ? network->images : network->nodes[index - 1].out;
    bind_arrays(network, node, next, kinds[stage->kind].arrays);
    kinds[stage->kind].build(network, node);
}

static void build(struct tacit_learn_network *network, const struct tacit_model *model)
{
    struct learn_passes *const passes = &network->passes;
    bool const is_image = model->kind == TACIT_MODEL_CNN;
    dnnl_dims_t const dims = {network->batch_size, model->channels, model->height, model->width};
    dnnl_dims_t const row = {network->batch_size, (dnnl_dim_t)network->pixel_count};
    dnnl_memory_desc_t const images = is_image ? plain(dims, 4) : plain(row, 2);
    network->images = learn_memory(passes, &images, false);
    uint32_t next = 0;
    for (uint32_t i = 0; i < network->plan.stage_count; i++)
        build_stage(network, i, &next);
    TACIT_ASSERT(next == network->layer_count);
    network->logits = network->nodes[network->plan.stage_count - 1].out;
    build_inference(network);
    dnnl_memory_desc_t const logits =
        plain((dnnl_dims_t){network->batch_size, network->class_count}, 2);
    network->logits_gradient = learn_memory(passes, &logits, true);
    dnnl_memory_t gradient = network->logits_gradient;
    for (uint32_t i = network->plan.stage_count; i-- > 0;) {
        kinds[network->plan.stages[i].kind].differentiate(network, &network->nodes[i], gradient);
        gradient = network->nodes[i].in_gradient;
    }
}

enum tacit_status tacit_learn_network_new(struct tacit_learn_network **made,
                                          const struct tacit_model *model, uint32_t batch_size)
{
    TACIT_ASSERT(made != NULL);
    TACIT_ASSERT(model != NULL);
    struct learn_plan plan;
    if (batch_size == 0 || batch_size > BATCH_MAX || !learn_plan_of(model, &plan))
        return TACIT_INVALID;
    struct tacit_learn_network *const network = calloc(1, sizeof *network);
    if (network == NULL)
        return TACIT_MEMORY;
    network->plan = plan;
    network->layer_count = tacit_model_layers(model, network->layers, &network->parameter_count);
    network->batch_size = batch_size;
    network->pixel_count = (uint64_t)model->channels * model->height * model->width;
    network->class_count = model->classes;
    network->dropout = model->dropout;
    network->room = calloc(batch_size * network->pixel_count, sizeof *network->room);
    learn_open(&network->passes);
    build(network, model);
    if (network->passes.has_failed || network->room == NULL) {
        tacit_learn_network_free(network);
        return TACIT_MEMORY;
    }
    *made = network;
    return TACIT_OK;
}

void tacit_learn_network_free(struct tacit_learn_network *network)
{
    if (network == NULL)
        return;
    learn_close(&network->passes);
    free(network->room);
    free(network);
}

const char *tacit_learn_network_implementation(const struct tacit_learn_network *network,
                                               uint32_t index)
{
    TACIT_ASSERT(network != NULL);
    return learn_implementation(&network->passes, index);
}

/* ---- Running --------------------------------------------------------------------------------- */

/* Arrays are those of this row from here on, and gradients go into that one; NULL: there are none.
 */
static void point_at(const struct tacit_learn_network *network, const float *parameters,
                     float *gradient)
{
    for (uint32_t i = 0; i < network->plan.stage_count; i++) {
        struct learn_node const *const node = &network->nodes[i];
        for (uint32_t k = 0; k < node->array_count; k++) {
            learn_point(node->values[k], (float *)(uintptr_t)parameters + node->offsets[k]);
            if (gradient != NULL)
                learn_point(node->gradients[k], gradient + node->offsets[k]);
        }
    }
}

/* Softmax and cross-entropy of one row; the gradient of the mean over the batch. */
static double lose_row(const float *logits, uint32_t classes, uint8_t label, uint32_t batch_size,
                       float *gradient)
{
    float top = logits[0];
    for (uint32_t k = 1; k < classes; k++)
        top = logits[k] > top ? logits[k] : top;
    double odds[CLASSES_MAX];
    double sum = 0;
    for (uint32_t k = 0; k < classes; k++)
        sum += odds[k] = exp((double)(logits[k] - top));
    if (gradient != NULL)
        for (uint32_t k = 0; k < classes; k++)
            gradient[k] = (float)((odds[k] / sum - (k == label ? 1 : 0)) / batch_size);
    return log(sum) - (double)(logits[label] - top);
}

/* The label's is the largest, the first of equals; a model that is no number hits nothing. */
static bool is_hit(const float *logits, uint32_t classes, uint8_t label)
{
    for (uint32_t k = 0; k < classes; k++)
        if (k != label && !(logits[label] > logits[k] || (logits[label] == logits[k] && label < k)))
            return false;
    return true;
}

/* The sum of the losses of a batch; gradient: that of their mean, or NULL. */
static double lose(const struct tacit_learn_network *network, dnnl_memory_t memory,
                   const uint8_t *labels, uint32_t count, float *gradient, uint32_t *hits)
{
    const float *const logits = learn_data(memory);
    uint32_t const classes = network->class_count;
    double loss = 0;
    uint32_t right = 0;
    for (uint32_t i = 0; i < count; i++) {
        TACIT_ASSERT(labels[i] < classes);
        const float *const row = logits + (size_t)i * classes;
        loss += lose_row(row, classes, labels[i], count,
                         gradient == NULL ? NULL : gradient + (size_t)i * classes);
        right += hits != NULL && is_hit(row, classes, labels[i]) ? 1 : 0;
    }
    if (hits != NULL)
        *hits = right;
    return loss;
}

/* A tenth of the way from the running statistics to the batch's; of the variance the unbiased one.
 */
static void move_statistics(const struct tacit_learn_network *network, float *parameters)
{
    for (uint32_t i = 0; i < network->plan.stage_count; i++) {
        struct learn_node const *const node = &network->nodes[i];
        if (network->plan.stages[i].kind != LEARN_NORM)
            continue;
        dnnl_memory_desc_t const in = learn_desc(node->in);
        double count = (double)in.dims[0];
        for (int k = 2; k < in.ndims; k++)
            count *= (double)in.dims[k];
        float const unbiased = count > 1 ? (float)(count / (count - 1)) : 1;
        const float *const mean = learn_data(node->mean);
        const float *const variance = learn_data(node->variance);
        float *const running_mean = parameters + node->offsets[2];
        float *const running_variance = parameters + node->offsets[3];
        for (dnnl_dim_t k = 0; k < in.dims[1]; k++) {
            running_mean[k] += RUNNING_SHARE * (mean[k] - running_mean[k]);
            running_variance[k] += RUNNING_SHARE * (variance[k] * unbiased - running_variance[k]);
        }
    }
}

/* Of a batch norm the running statistics have no gradient; all else is written by the passes. */
static void clear_statistics(const struct tacit_learn_network *network, float *gradient)
{
    for (uint32_t i = 0; i < network->layer_count; i++)
        if (strncmp(network->layers[i].name, "norm", 4) == 0)
            memset(gradient + network->layers[i].offset, 0,
                   network->layers[i].count * sizeof *gradient);
}

void tacit_learn_network_drop(struct tacit_learn_network *network, struct tacit_rng *rng)
{
    TACIT_ASSERT(network != NULL);
    TACIT_ASSERT(rng != NULL);
    for (uint32_t i = 0; i < network->plan.stage_count; i++) {
        if (network->plan.stages[i].kind != LEARN_DROP)
            continue;
        dnnl_memory_t const mask = network->nodes[i].mask;
        dnnl_memory_desc_t const desc = learn_desc(mask);
        float *const values = learn_data(mask);
        for (size_t k = 0; k < dnnl_memory_desc_get_size(&desc) / sizeof *values; k++)
            values[k] =
                tacit_rng_uniform(rng) < network->dropout ? 0 : (float)(1 / (1 - network->dropout));
    }
}

enum tacit_status tacit_learn_network_gradient(struct tacit_learn_network *network,
                                               float *parameters, const float *images,
                                               const uint8_t *labels, float *gradient, double *loss,
                                               uint32_t *hits)
{
    TACIT_ASSERT(network != NULL);
    TACIT_ASSERT(parameters != NULL);
    TACIT_ASSERT(gradient != NULL);
    learn_point(network->images, (float *)(uintptr_t)images);
    clear_statistics(network, gradient);
    point_at(network, parameters, gradient);
    if (!learn_run(&network->passes, &network->forward))
        return TACIT_MEMORY;
    double const sum = lose(network, network->logits, labels, network->batch_size,
                            learn_data(network->logits_gradient), hits);
    if (!learn_run(&network->passes, &network->backward))
        return TACIT_MEMORY;
    move_statistics(network, parameters);
    *loss = sum / network->batch_size;
    return TACIT_OK;
}

bool learn_network_bare(struct tacit_learn_network *network)
{
    TACIT_ASSERT(network != NULL);
    return learn_run(&network->passes, &network->forward) &&
           learn_run(&network->passes, &network->backward);
}

enum tacit_status tacit_learn_network_evaluate(struct tacit_learn_network *network,
                                               const float *parameters, const float *images,
                                               const uint8_t *labels, uint32_t count, double *loss,
                                               uint32_t *hits)
{
    TACIT_ASSERT(network != NULL);
    TACIT_ASSERT(count <= network->batch_size);
    bool const is_full = count == network->batch_size;
    if (!is_full) {
        size_t const size = count * network->pixel_count;
        memcpy(network->room, images, size * sizeof *images);
        memset(network->room + size, 0,
               (network->batch_size * network->pixel_count - size) * sizeof *images);
    }
    learn_point(network->images, is_full ? (float *)(uintptr_t)images : network->room);
    point_at(network, parameters, NULL);
    if (!learn_run(&network->passes, &network->infer))
        return TACIT_MEMORY;
    *loss = lose(network, network->logits, labels, count, NULL, hits);
    return TACIT_OK;
}
