/* Lists of oneDNN primitives: made once, run for every batch. */
#include "passes.h"
#include <string.h>

/* Of libgomp, which oneDNN runs on: threads of the calling thread's parallel regions. */
extern void omp_set_num_threads(int count);

void learn_open(struct learn_passes *passes)
{
    omp_set_num_threads(1);
    learn_check(passes, dnnl_engine_create(&passes->engine, dnnl_cpu, 0));
    if (!passes->has_failed)
        learn_check(passes,
                    dnnl_stream_create(&passes->stream, passes->engine, dnnl_stream_default_flags));
}

void learn_close(struct learn_passes *passes)
{
    for (uint32_t i = 0; i < passes->primitive_count; i++) {
        (void)dnnl_primitive_destroy(passes->primitives[i].primitive);
        (void)dnnl_primitive_desc_destroy(passes->primitives[i].desc);
    }
    for (uint32_t i = 0; i < passes->memory_count; i++)
        (void)dnnl_memory_destroy(passes->memories[i]);
    if (passes->stream != NULL)
        (void)dnnl_stream_destroy(passes->stream);
    if (passes->engine != NULL)
        (void)dnnl_engine_destroy(passes->engine);
}

void learn_check(struct learn_passes *passes, dnnl_status_t status)
{
    if (status != dnnl_success)
        passes->has_failed = true;
}

/* ---- Memories ---- */

dnnl_memory_t learn_memory(struct learn_passes *passes, const dnnl_memory_desc_t *desc, bool is_own)
{
    if (passes->has_failed)
        return NULL;
    TACIT_ASSERT(passes->memory_count < LEARN_MEMORIES_MAX);
    dnnl_memory_t memory = NULL;
    learn_check(passes, dnnl_memory_create(&memory, desc, passes->engine,
                                           is_own ? DNNL_MEMORY_ALLOCATE : DNNL_MEMORY_NONE));
    if (memory == NULL)
        return NULL;
    passes->memories[passes->memory_count++] = memory;
    if (is_own && learn_data(memory) != NULL)
        memset(learn_data(memory), 0, dnnl_memory_desc_get_size(desc));
    return memory;
}

dnnl_memory_desc_t learn_desc(dnnl_memory_t memory)
{
    const dnnl_memory_desc_t *desc = NULL;
    if (memory == NULL || dnnl_memory_get_memory_desc(memory, &desc) != dnnl_success) {
        dnnl_memory_desc_t some; /* nothing is made of it after a failure */
        (void)dnnl_memory_desc_init_by_tag(&some, 4, (dnnl_dims_t){1, 1, 3, 3}, dnnl_f32,
                                           dnnl_abcd);
        return some;
    }
    return *desc;
}

void *learn_data(dnnl_memory_t memory)
{
    void *data = NULL;
    dnnl_status_t const status = dnnl_memory_get_data_handle(memory, &data);
    TACIT_ASSERT(status == dnnl_success);
    return data;
}

void learn_point(dnnl_memory_t memory, void *data)
{
    if (learn_data(memory) == data) /* as in each step but the first; oneDNN takes its time */
        return;
    dnnl_status_t const status = dnnl_memory_set_data_handle(memory, data);
    TACIT_ASSERT(status == dnnl_success);
}

/* ---- Primitives ---- */

static struct learn_primitive *add_primitive(struct learn_passes *passes,
                                             dnnl_primitive_desc_t desc)
{
    TACIT_ASSERT(passes->primitive_count < LEARN_STEPS_MAX);
    struct learn_primitive *const kept = &passes->primitives[passes->primitive_count++];
    *kept = (struct learn_primitive){.desc = desc};
    learn_check(passes, dnnl_primitive_create(&kept->primitive, desc));
    return kept;
}

struct learn_primitive *learn_primitive(struct learn_passes *passes, const void *desc,
                                        const struct learn_primitive *hint)
{
    dnnl_primitive_desc_t made = NULL;
    if (!passes->has_failed)
        learn_check(passes, dnnl_primitive_desc_create(&made, desc, NULL, passes->engine,
                                                       hint == NULL ? NULL : hint->desc));
    return made == NULL ? NULL : add_primitive(passes, made);
}

static const dnnl_memory_desc_t *layout_of(const struct learn_primitive *primitive,
                                           dnnl_query_t what)
{
    return dnnl_primitive_desc_query_md(primitive->desc, what, 0);
}

dnnl_memory_t learn_result(struct learn_passes *passes, const struct learn_primitive *primitive,
                           dnnl_query_t what)
{
    if (passes->has_failed)
        return NULL;
    return learn_memory(passes, layout_of(primitive, what), true);
}

/* ---- Steps ---- */

void learn_add(struct learn_passes *passes, struct learn_pass *pass,
               struct learn_primitive *primitive, int count, const dnnl_exec_arg_t *arguments)
{
    if (passes->has_failed)
        return;
    TACIT_ASSERT(pass->count < LEARN_STEPS_MAX);
    TACIT_ASSERT(count <= (int)LEARN_ARGUMENTS_MAX);
    pass->steps[pass->count].primitive = primitive;
    pass->steps[pass->count].count = count;
    memcpy(pass->steps[pass->count].arguments, arguments, (size_t)count * sizeof *arguments);
    pass->count++;
}

void learn_replace(struct learn_passes *passes, struct learn_pass *pass,
                   const struct learn_primitive *old, struct learn_primitive *primitive, int count,
                   const dnnl_exec_arg_t *arguments)
{
    if (passes->has_failed)
        return;
    for (uint32_t i = 0; i < pass->count; i++)
        if (pass->steps[i].primitive == old) {
            pass->steps[i].primitive = primitive;
            pass->steps[i].count = count;
            memcpy(pass->steps[i].arguments, arguments, (size_t)count * sizeof *arguments);
            return;
        }
    TACIT_ASSERT(false);
}

static void add_reorder(struct learn_passes *passes, struct learn_pass *pass, dnnl_memory_t from,
                        dnnl_memory_t to)
{
    if (passes->has_failed)
        return;
    dnnl_memory_desc_t const source = learn_desc(from);
    dnnl_memory_desc_t const target = learn_desc(to);
    dnnl_primitive_desc_t desc = NULL;
    learn_check(passes, dnnl_reorder_primitive_desc_create(&desc, &source, passes->engine, &target,
                                                           passes->engine, NULL));
    if (desc == NULL)
        return;
    learn_add(passes, pass, add_primitive(passes, desc), 2,
              (dnnl_exec_arg_t[]){{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
}

dnnl_memory_t learn_as(struct learn_passes *passes, struct learn_pass *pass, dnnl_memory_t memory,
                       const dnnl_memory_desc_t *wanted)
{
    if (passes->has_failed)
        return NULL;
    dnnl_memory_desc_t const present = learn_desc(memory);
    if (dnnl_memory_desc_equal(&present, wanted))
        return memory;
    dnnl_memory_t const copy = learn_memory(passes, wanted, true);
    add_reorder(passes, pass, memory, copy);
    return copy;
}

void learn_add_weighted(struct learn_passes *passes, struct learn_pass *pass,
                        struct learn_node *node)
{
    if (passes->has_failed)
        return;
    dnnl_memory_t const in =
        learn_as(passes, pass, node->in, layout_of(node->forward, dnnl_query_src_md));
    dnnl_memory_t const weights =
        learn_as(passes, pass, node->values[0], layout_of(node->forward, dnnl_query_weights_md));
    node->out = learn_result(passes, node->forward, dnnl_query_dst_md);
    learn_add(passes, pass, node->forward, 4,
              (dnnl_exec_arg_t[]){{DNNL_ARG_SRC, in},
                                  {DNNL_ARG_WEIGHTS, weights},
                                  {DNNL_ARG_BIAS, node->values[1]},
                                  {DNNL_ARG_DST, node->out}});
}

void learn_add_weights_gradient(struct learn_passes *passes, struct learn_pass *pass,
                                struct learn_node *node, struct learn_primitive *primitive,
                                dnnl_memory_t gradient)
{
    if (passes->has_failed)
        return;
    const dnnl_memory_desc_t *const layout = layout_of(primitive, dnnl_query_diff_weights_md);
    dnnl_memory_desc_t const plain = learn_desc(node->gradients[0]);
    bool const is_plain = dnnl_memory_desc_equal(&plain, layout) != 0;
    dnnl_memory_t const in =
        learn_as(passes, pass, node->in, layout_of(primitive, dnnl_query_src_md));
    dnnl_memory_t const out =
        learn_as(passes, pass, gradient, layout_of(primitive, dnnl_query_diff_dst_md));
    dnnl_memory_t const weights =
        is_plain ? node->gradients[0] : learn_memory(passes, layout, true);
    learn_add(passes, pass, primitive, 4,
              (dnnl_exec_arg_t[]){{DNNL_ARG_SRC, in},
                                  {DNNL_ARG_DIFF_DST, out},
                                  {DNNL_ARG_DIFF_WEIGHTS, weights},
                                  {DNNL_ARG_DIFF_BIAS, node->gradients[1]}});
    if (!is_plain)
        add_reorder(passes, pass, weights, node->gradients[0]);
}

void learn_add_data_gradient(struct learn_passes *passes, struct learn_pass *pass,
                             struct learn_node *node, struct learn_primitive *primitive,
                             dnnl_memory_t gradient)
{
    if (passes->has_failed)
        return;
    dnnl_memory_t const weights =
        learn_as(passes, pass, node->values[0], layout_of(primitive, dnnl_query_weights_md));
    dnnl_memory_t const out =
        learn_as(passes, pass, gradient, layout_of(primitive, dnnl_query_diff_dst_md));
    node->in_gradient = learn_result(passes, primitive, dnnl_query_diff_src_md);
    learn_add(passes, pass, primitive, 3,
              (dnnl_exec_arg_t[]){{DNNL_ARG_DIFF_DST, out},
                                  {DNNL_ARG_WEIGHTS, weights},
                                  {DNNL_ARG_DIFF_SRC, node->in_gradient}});
}

bool learn_run(struct learn_passes *passes, const struct learn_pass *pass)
{
    omp_set_num_threads(1); /* it is a property of the calling thread */
    for (uint32_t i = 0; i < pass->count; i++)
        if (dnnl_primitive_execute(pass->steps[i].primitive->primitive, passes->stream,
                                   pass->steps[i].count, pass->steps[i].arguments) != dnnl_success)
            return false;
    return dnnl_stream_wait(passes->stream) == dnnl_success;
}

const char *learn_implementation(const struct learn_passes *passes, uint32_t index)
{
    const char *name = NULL;
    if (index >= passes->primitive_count ||
        dnnl_primitive_desc_query(passes->primitives[index].desc, dnnl_query_impl_info_str, 0,
                                  &name) != dnnl_success)
        return NULL;
    return name;
}
