/* Messages of the private linear bandit as protobuf (glm.proto). */
#include <math.h>
#include <string.h>
#include "form.h"
#include "tacit/wire_glm.h"
#include "glm.pb-c.h"

#define HEAD_BYTES (3 * WIRE_FIXED32 + 2 * WIRE_FIXED64)

size_t tacit_wire_glm_private_bytes(const struct tacit_glm_private_message *message,
                                    uint32_t dimension)
{
    size_t const d = dimension;
    return HEAD_BYTES +
           (message->sums == NULL ? 0
                                  : wire_field_bytes(TACIT_GLM_PRIVATE_SUMS(d) * sizeof(int64_t))) +
           (message->theta == NULL ? 0 : wire_field_bytes(d * sizeof(double))) +
           (message->matrix == NULL ? 0
                                    : wire_field_bytes(TACIT_LINALG_PACKED(d) * sizeof(double)));
}

enum tacit_status tacit_wire_glm_private_encode(const struct tacit_glm_private_message *message,
                                                uint32_t dimension, uint8_t *bytes)
{
    size_t const triangle = TACIT_LINALG_PACKED(dimension);
    double packed[TACIT_LINALG_PACKED(TACIT_LINALG_DIMENSION_MAX)];
    Tacit__V2__GlmPrivateMessage encoded = TACIT__V2__GLM_PRIVATE_MESSAGE__INIT;
    encoded.version = TACIT_WIRE_GLM_VERSION;
    encoded.kind = message->kind;
    encoded.from = message->from;
    encoded.run_id = message->run_id;
    encoded.batch = message->batch;
    encoded.n_sums = message->sums == NULL ? 0 : TACIT_GLM_PRIVATE_SUMS(dimension);
    encoded.sums = (int64_t *)(uintptr_t)message->sums;
    encoded.n_theta = message->theta == NULL ? 0 : dimension;
    encoded.theta = (double *)(uintptr_t)message->theta;
    encoded.n_matrix = message->matrix == NULL ? 0 : triangle;
    encoded.matrix = packed;
    if (message->matrix != NULL)
        tacit_linalg_pack(dimension, message->matrix, packed);
    size_t const written = tacit__v2__glm_private_message__pack(&encoded, bytes);
    TACIT_ASSERT(written == tacit_wire_glm_private_bytes(message, dimension));
    return TACIT_OK;
}

/* A message and its arrays: one block. */
struct decoded {
    struct tacit_glm_private_message message; /* first */
    double values[];
};

static bool is_finite(const double *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(numbers[i]))
            return false;
    return true;
}

/* A release has sums and nothing else, a model the other two. */
static bool fits(const Tacit__V2__GlmPrivateMessage *encoded, uint32_t dimension)
{
    bool const is_release = encoded->kind == TACIT_GLM_PRIVATE_RELEASE;
    bool const is_model = encoded->kind == TACIT_GLM_PRIVATE_MODEL;
    return encoded->version == TACIT_WIRE_GLM_VERSION && (is_release || is_model) &&
           encoded->n_sums == (is_release ? TACIT_GLM_PRIVATE_SUMS(dimension) : 0) &&
           encoded->n_theta == (is_model ? dimension : 0) &&
           encoded->n_matrix == (is_model ? TACIT_LINALG_PACKED(dimension) : 0) &&
           is_finite(encoded->theta, encoded->n_theta) &&
           is_finite(encoded->matrix, encoded->n_matrix);
}

static struct tacit_glm_private_message *copy_message(const Tacit__V2__GlmPrivateMessage *encoded,
                                                      uint32_t dimension, uint32_t to,
                                                      const struct tacit_wire_allocator *allocator)
{
    size_t const room =
        encoded->n_sums + TACIT_LINALG_STRIDE(dimension) + TACIT_LINALG_MATRIX(dimension);
    struct decoded *const decoded =
        wire_take_zeros(allocator, sizeof *decoded + room * sizeof(double));
    if (decoded == NULL)
        return NULL;
    struct tacit_glm_private_message *const message = &decoded->message;
    *message =
        (struct tacit_glm_private_message){.kind = (enum tacit_glm_private_kind)encoded->kind,
                                           .from = encoded->from,
                                           .to = to,
                                           .run_id = encoded->run_id,
                                           .batch = encoded->batch};
    if (encoded->n_sums > 0) {
        message->sums = memcpy(decoded->values, encoded->sums, encoded->n_sums * sizeof(int64_t));
        return message;
    }
    double *const matrix = decoded->values + TACIT_LINALG_STRIDE(dimension);
    message->theta = memcpy(decoded->values, encoded->theta, dimension * sizeof(double));
    tacit_linalg_unpack(dimension, encoded->matrix, matrix);
    message->matrix = matrix;
    return message;
}

static enum tacit_status check_form(const struct tacit_glm_private_message *message,
                                    uint32_t dimension, const uint8_t *bytes, size_t size,
                                    const struct tacit_wire_allocator *allocator)
{
    if (tacit_wire_glm_private_bytes(message, dimension) != size)
        return TACIT_MALFORMED;
    uint8_t *const ours = wire_take(allocator, size);
    if (ours == NULL)
        return TACIT_MEMORY;
    enum tacit_status status = tacit_wire_glm_private_encode(message, dimension, ours);
    if (status == TACIT_OK && memcmp(ours, bytes, size) != 0)
        status = TACIT_MALFORMED;
    wire_give(allocator, ours);
    return status;
}

enum tacit_status tacit_wire_glm_private_decode_with(const uint8_t *bytes, size_t size,
                                                     uint32_t dimension, uint32_t to,
                                                     struct tacit_glm_private_message **message,
                                                     const struct tacit_wire_allocator *allocator)
{
    ProtobufCAllocator protobuf = wire_protobuf(allocator);
    if (size < HEAD_BYTES || size > TACIT_WIRE_BYTES_MAX)
        return TACIT_MALFORMED;
    Tacit__V2__GlmPrivateMessage *const encoded =
        tacit__v2__glm_private_message__unpack(&protobuf, size, bytes);
    if (encoded == NULL)
        return TACIT_MALFORMED;
    enum tacit_status status = TACIT_MALFORMED;
    struct tacit_glm_private_message *made = NULL;
    if (fits(encoded, dimension)) {
        made = copy_message(encoded, dimension, to, allocator);
        status = made == NULL ? TACIT_MEMORY : check_form(made, dimension, bytes, size, allocator);
    }
    tacit__v2__glm_private_message__free_unpacked(encoded, &protobuf);
    if (status == TACIT_OK)
        *message = made;
    else
        wire_give(allocator, made);
    return status;
}
