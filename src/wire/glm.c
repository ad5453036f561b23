/* Messages of generalised linear bandits, and what they add to an announcement: the model, and the
 * names of features, all of which the digest of the agreement covers (glm.proto). */
#include <string.h>
#include "form.h"
#include "tacit/wire_glm.h"
#include "walk.h"

/* Sizes of a run of so many clients, with contexts of so many numbers. */
#define SIZES(dimension, client_count, receiver)                                                   \
    (uint32_t[WIRE_SIZES])                                                                         \
    {                                                                                              \
        1, 0, (client_count), (receiver),                                                          \
            (dimension), [WIRE_TRIANGLE] = (uint32_t)TACIT_LINALG_PACKED(dimension)                \
    }
#define MATRIX(n, name) POINTED(n, WIRE_MATRIX, name, 8, PER(WIRE_TRIANGLE), IF(name))

/* ---- Messages -------------------------------------------------------------------------------- */

#define MESSAGE struct tacit_glm_message

static const struct wire_field fields[] = {
    VERSION(1, TACIT_WIRE_GLM_VERSION),
    KIND(2, kind, UP_TO(TACIT_GLM_COMMIT)),
    NUMBER(3, from, BELOW(WIRE_AGENTS), OR_NONE),
    NUMBER(4, run_id, ANY),
    NUMBER(5, sync, ANY),
    NUMBER(6, attempt, ANY),
    NUMBER(7, round, ANY),
    NUMBER(8, digest, ANY),
    NUMBER(9, slot, ANY),
    NUMBER(10, count, ANY),
    NUMBER(11, squares, ANY),
    NUMBER(12, regret, ANY),
    ROW(13, vector, PER(WIRE_NUMBERS), IF(vector)),
    MATRIX(14, matrix),
    ROW(15, target, PER(WIRE_NUMBERS), IF(target)),
    MATRIX(16, steps),
    SET(17, participants, PER(WIRE_AGENTS), IF(participants)),
};
static const struct wire_table messages = TABLE("GlmMessage", FIELDS(fields), TO);

size_t tacit_wire_glm_bytes(const struct tacit_glm_message *message, uint32_t dimension,
                            uint32_t client_count)
{
    return wire_length(&messages, message, SIZES(dimension, client_count, 0));
}

size_t tacit_wire_glm_bytes_max(uint32_t dimension, uint32_t client_count)
{
    static const double some_number = 0;
    static const uint64_t some_set = 0;
    struct tacit_glm_message const largest = {.vector = &some_number,
                                              .matrix = &some_number,
                                              .target = &some_number,
                                              .steps = &some_number,
                                              .participants = &some_set};
    return tacit_wire_glm_bytes(&largest, dimension, client_count);
}

void tacit_wire_glm_encode(const struct tacit_glm_message *message, uint32_t dimension,
                           uint32_t client_count, uint8_t *bytes)
{
    wire_write(&messages, message, SIZES(dimension, client_count, 0), bytes);
}

enum tacit_status tacit_wire_glm_decode(const uint8_t *bytes, size_t size, uint32_t dimension,
                                        uint32_t client_count, uint32_t to,
                                        struct tacit_glm_message **message,
                                        const struct tacit_wire_allocator *allocator)
{
    if (size > tacit_wire_glm_bytes_max(dimension, client_count))
        return TACIT_MALFORMED;
    return wire_make(&messages, SIZES(dimension, client_count, to), bytes, size, allocator,
                     message);
}

uint32_t tacit_wire_glm_kind(enum tacit_glm_message_kind kind)
{
    TACIT_ASSERT(kind <= TACIT_GLM_COMMIT);
    return (uint32_t)kind + 1;
}

/* ---- The run --------------------------------------------------------------------------------- */

#undef MESSAGE
#define MESSAGE struct tacit_wire_glm_run

static const struct wire_field numbers[] = {
    NUMBER(1, model.variant, ANY),
    NUMBER(2, model.exploration, ANY),
    NUMBER(3, model.clock, ANY),
    NUMBER(4, model.link, ANY),
    NUMBER(5, model.period, ANY),
    NUMBER(6, model.threshold, ANY),
    NUMBER(7, model.lambda, ANY),
    NUMBER(8, model.delta, ANY),
    NUMBER(9, model.norm_bound, ANY),
    NUMBER(10, model.context_bound, ANY),
    NUMBER(11, model.noise_bound, ANY),
    NUMBER(12, model.lipschitz, ANY),
    NUMBER(13, model.curvature, ANY),
    NUMBER(14, model.alpha, ANY),
    NUMBER(15, model.suboptimality, ANY),
    NUMBER(16, model.explore, ANY),
    TEXTS(17, features, COUNT(model.dimension), UP_TO(TACIT_LINALG_DIMENSION_MAX),
          OF(tacit_wire_is_arm_name)),
};
static const struct wire_table parameters = TABLE("GlmParameters", FIELDS(numbers));

size_t tacit_wire_glm_parameters_bytes(const struct tacit_glm_model *model,
                                       const char *const *features)
{
    struct tacit_wire_glm_run const run = {.model = *model, .features = features};
    return wire_length(&parameters, &run, wire_no_sizes);
}

void tacit_wire_glm_parameters_encode(const struct tacit_glm_model *model,
                                      const char *const *features, uint8_t *bytes)
{
    struct tacit_wire_glm_run const run = {.model = *model, .features = features};
    TACIT_ASSERT(tacit_glm_model_is_valid(model));
    TACIT_ASSERT(model->descent == TACIT_GLM_PRINTED && model->start == TACIT_GLM_START_LAST);
    TACIT_ASSERT(model->rounds == 0); /* these are the simulator's alone */
    wire_write(&parameters, &run, wire_no_sizes, bytes);
}

/* With what the announcement says: can it be run? */
static bool complete(const struct tacit_wire_announcement *announcement,
                     struct tacit_wire_glm_run *run)
{
    run->model.run_id = tacit_wire_run_id(announcement->agreement.run);
    run->model.client_count = announcement->agreement.agent_count;
    run->model.horizon = announcement->agreement.horizon;
    run->client_id = announcement->agent;
    return run->model.dimension > 0 && tacit_glm_model_is_valid(&run->model);
}

enum tacit_status tacit_wire_glm_run_decode(const struct tacit_wire_announcement *announcement,
                                            struct tacit_wire_glm_run **run,
                                            const struct tacit_wire_allocator *allocator)
{
    struct tacit_wire_agreement const *const agreement = &announcement->agreement;
    struct tacit_wire_glm_run *made;
    if (!wire_is_of(agreement, TACIT_WIRE_GLM_WORD, TACIT_WIRE_GLM_FAMILY,
                    TACIT_WIRE_GLM_VERSION) ||
        agreement->epsilon_nano != 0 || announcement->place_size != 0)
        return TACIT_MALFORMED;
    enum tacit_status const status = wire_make(&parameters, wire_no_sizes, agreement->parameters,
                                               agreement->parameters_size, allocator, &made);
    if (status != TACIT_OK)
        return status;
    if (!complete(announcement, made)) {
        wire_give(allocator, made);
        return TACIT_MALFORMED;
    }
    *run = made;
    return TACIT_OK;
}
