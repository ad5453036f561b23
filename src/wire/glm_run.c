/* What generalised linear bandits add to an announcement: the model, and the names of features
 * (glm.proto). The digest of the agreement covers all of it. */
#include <string.h>
#include "form.h"
#include "tacit/wire_glm.h"
#include "glm.pb-c.h"

#define NUMBERS_BYTES (4 * WIRE_FIXED32 + 12 * WIRE_FIXED64 + 1) /* one tag beyond 15 */

/* ---- Encoding ---- */

size_t tacit_wire_glm_parameters_bytes(const struct tacit_glm_model *model,
                                       const char *const *features)
{
    size_t bytes = NUMBERS_BYTES;
    for (uint32_t i = 0; i < model->dimension; i++)
        bytes += 1 + wire_field_bytes(strlen(features[i]));
    return bytes;
}

static void set_numbers(const struct tacit_glm_model *model, Tacit__V2__GlmParameters *encoded)
{
    encoded->variant = model->variant;
    encoded->exploration = model->exploration;
    encoded->clock = model->clock;
    encoded->link = model->link;
    encoded->period = model->period;
    encoded->threshold = model->threshold;
    encoded->lambda = model->lambda;
    encoded->delta = model->delta;
    encoded->norm_bound = model->norm_bound;
    encoded->context_bound = model->context_bound;
    encoded->noise_bound = model->noise_bound;
    encoded->lipschitz = model->lipschitz;
    encoded->curvature = model->curvature;
    encoded->alpha = model->alpha;
    encoded->suboptimality = model->suboptimality;
    encoded->explore = model->explore;
}

void tacit_wire_glm_parameters_encode(const struct tacit_glm_model *model,
                                      const char *const *features, uint8_t *bytes)
{
    Tacit__V2__GlmParameters encoded = TACIT__V2__GLM_PARAMETERS__INIT;
    TACIT_ASSERT(tacit_glm_model_is_valid(model));
    TACIT_ASSERT(model->descent == TACIT_GLM_PRINTED && model->start == TACIT_GLM_START_LAST);
    TACIT_ASSERT(model->rounds == 0); /* these are the simulator's alone */
    set_numbers(model, &encoded);
    encoded.n_features = model->dimension;
    encoded.features = (char **)(uintptr_t)features;
    size_t const written = tacit__v2__glm_parameters__pack(&encoded, bytes);
    TACIT_ASSERT(written == tacit_wire_glm_parameters_bytes(model, features));
}

/* ---- Decoding ---- */

static struct tacit_glm_model model_of(const Tacit__V2__GlmParameters *encoded,
                                       const struct tacit_wire_agreement *agreement)
{
    struct tacit_glm_model model;
    memset(&model, 0, sizeof model);
    model.run_id = tacit_wire_run_id(agreement->run);
    model.variant = (enum tacit_glm_variant)encoded->variant;
    model.exploration = (enum tacit_glm_exploration)encoded->exploration;
    model.clock = (enum tacit_glm_clock)encoded->clock;
    model.link = (enum tacit_linalg_link)encoded->link;
    model.client_count = agreement->agent_count;
    model.dimension = (uint32_t)encoded->n_features;
    model.horizon = agreement->horizon;
    model.period = encoded->period;
    model.threshold = encoded->threshold;
    model.lambda = encoded->lambda;
    model.delta = encoded->delta;
    model.norm_bound = encoded->norm_bound;
    model.context_bound = encoded->context_bound;
    model.noise_bound = encoded->noise_bound;
    model.lipschitz = encoded->lipschitz;
    model.curvature = encoded->curvature;
    model.alpha = encoded->alpha;
    model.suboptimality = encoded->suboptimality;
    model.explore = encoded->explore;
    return model;
}

static bool is_possible(const Tacit__V2__GlmParameters *encoded,
                        const struct tacit_wire_agreement *agreement)
{
    if (encoded->n_features == 0 || encoded->n_features > TACIT_LINALG_DIMENSION_MAX)
        return false;
    for (size_t i = 0; i < encoded->n_features; i++)
        if (!tacit_wire_is_arm_name(encoded->features[i]))
            return false;
    struct tacit_glm_model const model = model_of(encoded, agreement);
    return tacit_glm_model_is_valid(&model);
}

static bool is_ours(const struct tacit_wire_agreement *agreement,
                    const struct tacit_glm_model *model, const char *const *features)
{
    size_t const size = tacit_wire_glm_parameters_bytes(model, features);
    uint8_t ours[NUMBERS_BYTES + TACIT_LINALG_DIMENSION_MAX * (3 + TACIT_WIRE_NAME_BYTES_MAX)];
    TACIT_ASSERT(size <= sizeof ours);
    if (size != agreement->parameters_size)
        return false;
    tacit_wire_glm_parameters_encode(model, features, ours);
    return memcmp(ours, agreement->parameters, size) == 0;
}

static struct tacit_wire_glm_run *copy_run(const Tacit__V2__GlmParameters *encoded,
                                           const struct tacit_wire_announcement *announcement,
                                           const struct tacit_wire_allocator *allocator)
{
    size_t names = 0;
    for (size_t i = 0; i < encoded->n_features; i++)
        names += strlen(encoded->features[i]) + 1;
    struct tacit_wire_glm_run *const run =
        wire_take_zeros(allocator, sizeof *run + encoded->n_features * sizeof(char *) + names);
    if (run == NULL)
        return NULL;
    char const **const features = (char const **)(run + 1);
    char *name = (char *)(features + encoded->n_features);
    for (size_t i = 0; i < encoded->n_features; i++) {
        size_t const size = strlen(encoded->features[i]) + 1;
        features[i] = memcpy(name, encoded->features[i], size);
        name += size;
    }
    run->model = model_of(encoded, &announcement->agreement);
    run->client_id = announcement->agent;
    run->features = features;
    return run;
}

static bool is_of_this_family(const struct tacit_wire_announcement *announcement)
{
    struct tacit_wire_agreement const *const agreement = &announcement->agreement;
    return strcmp(agreement->protocol, TACIT_WIRE_GLM_WORD) == 0 &&
           agreement->family == TACIT_WIRE_GLM_FAMILY &&
           agreement->protocol_version == TACIT_WIRE_GLM_VERSION && agreement->epsilon_nano == 0 &&
           announcement->place_size == 0;
}

enum tacit_status tacit_wire_glm_run_decode_with(const struct tacit_wire_announcement *announcement,
                                                 struct tacit_wire_glm_run **run,
                                                 const struct tacit_wire_allocator *allocator)
{
    ProtobufCAllocator protobuf = wire_protobuf(allocator);
    struct tacit_wire_agreement const *const agreement = &announcement->agreement;
    if (!is_of_this_family(announcement))
        return TACIT_MALFORMED;
    Tacit__V2__GlmParameters *const encoded = tacit__v2__glm_parameters__unpack(
        &protobuf, agreement->parameters_size, agreement->parameters);
    if (encoded == NULL)
        return TACIT_MALFORMED;
    enum tacit_status status = TACIT_MALFORMED;
    struct tacit_wire_glm_run *made = NULL;
    if (is_possible(encoded, agreement)) {
        made = copy_run(encoded, announcement, allocator);
        status = made == NULL                                       ? TACIT_MEMORY
                 : is_ours(agreement, &made->model, made->features) ? TACIT_OK
                                                                    : TACIT_MALFORMED;
    }
    tacit__v2__glm_parameters__free_unpacked(encoded, &protobuf);
    if (status == TACIT_OK)
        *run = made;
    else
        wire_give(allocator, made);
    return status;
}
