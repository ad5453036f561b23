/* Passes: lists of oneDNN primitives with their memories. The first failure is remembered, and
 * everything after it does nothing, so that building reads straight. */
#ifndef TACIT_LEARN_PASSES_H
#define TACIT_LEARN_PASSES_H
#include <oneapi/dnnl/dnnl.h>
#include "plan.h"

#define LEARN_STEPS_MAX 160u
#define LEARN_ARGUMENTS_MAX 8u
#define LEARN_ARRAYS_MAX 4u
#define LEARN_MEMORIES_MAX 512u

struct learn_primitive {
    dnnl_primitive_desc_t desc;
    dnnl_primitive_t primitive;
};

struct learn_passes {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    dnnl_memory_t memories[LEARN_MEMORIES_MAX];
    uint32_t memory_count;
    struct learn_primitive primitives[LEARN_STEPS_MAX];
    uint32_t primitive_count;
    bool has_failed;
};

struct learn_pass {
    struct {
        struct learn_primitive *primitive;
        int count;
        dnnl_exec_arg_t arguments[LEARN_ARGUMENTS_MAX];
    } steps[LEARN_STEPS_MAX];
    uint32_t count;
};

/* What a stage keeps. */
struct learn_node {
    uint32_t units; /* DENSE, CONVOLUTION: outputs */
    struct learn_primitive *forward;
    dnnl_memory_t in;
    dnnl_memory_t in_gradient;
    dnnl_memory_t out;
    dnnl_memory_t mean; /* NORM: of the batch */
    dnnl_memory_t variance;
    dnnl_memory_t workspace; /* POOL */
    dnnl_memory_t mask;      /* DROP: what each output counts; the other one is all ones */
    dnnl_memory_t ones;
    uint32_t array_count;
    uint64_t offsets[LEARN_ARRAYS_MAX]; /* of the arrays in the row */
    dnnl_memory_t values[LEARN_ARRAYS_MAX];
    dnnl_memory_t gradients[LEARN_ARRAYS_MAX];
};

/* Requires: all zero. Failures as below: has_failed. */
void learn_open(struct learn_passes *passes);
void learn_close(struct learn_passes *passes);

/* Remembers a failure. */
void learn_check(struct learn_passes *passes, dnnl_status_t status);

/* A memory of its own, or one that is to be pointed at somebody's. NULL after a failure. */
dnnl_memory_t learn_memory(struct learn_passes *passes, const dnnl_memory_desc_t *desc,
                           bool is_own);
/* Its layout; after a failure some other, of which nothing is made. */
dnnl_memory_desc_t learn_desc(dnnl_memory_t memory);
void *learn_data(dnnl_memory_t memory);
/* Its numbers are those at `data` from here on. Requires: the memory is not one of its own. */
void learn_point(dnnl_memory_t memory, void *data);

/* A primitive of this description; hint: the forward one that a backward one belongs to. */
struct learn_primitive *learn_primitive(struct learn_passes *passes, const void *desc,
                                        const struct learn_primitive *hint);

/* A memory in the layout in which a primitive gives or takes something. */
dnnl_memory_t learn_result(struct learn_passes *passes, const struct learn_primitive *primitive,
                           dnnl_query_t what);

/* Adds a step. */
void learn_add(struct learn_passes *passes, struct learn_pass *pass,
               struct learn_primitive *primitive, int count, const dnnl_exec_arg_t *arguments);

/* Puts a step in the place of another one. */
void learn_replace(struct learn_passes *passes, struct learn_pass *pass,
                   const struct learn_primitive *old, struct learn_primitive *primitive, int count,
                   const dnnl_exec_arg_t *arguments);

/* The same numbers in another layout: the memory itself, or a copy that a step makes. */
dnnl_memory_t learn_as(struct learn_passes *passes, struct learn_pass *pass, dnnl_memory_t memory,
                       const dnnl_memory_desc_t *wanted);

/* Steps of a stage with weights and a bias: forward; gradient of both; gradient of its input. */
void learn_add_weighted(struct learn_passes *passes, struct learn_pass *pass,
                        struct learn_node *node);
void learn_add_weights_gradient(struct learn_passes *passes, struct learn_pass *pass,
                                struct learn_node *node, struct learn_primitive *primitive,
                                dnnl_memory_t gradient);
void learn_add_data_gradient(struct learn_passes *passes, struct learn_pass *pass,
                             struct learn_node *node, struct learn_primitive *primitive,
                             dnnl_memory_t gradient);

/* False: oneDNN says no. */
bool learn_run(struct learn_passes *passes, const struct learn_pass *pass);

/* Of a network that has been given a batch: its forward and its backward pass once more, and
 * nothing else. For the bench. False: oneDNN says no. */
bool learn_network_bare(struct tacit_learn_network *network);

/* Which of its kernels oneDNN chose for a primitive, for the bench; NULL: there are not so many. */
const char *learn_implementation(const struct learn_passes *passes, uint32_t index);
#endif
