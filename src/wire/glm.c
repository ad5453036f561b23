/* Messages of generalised linear bandits as protobuf (glm.proto). Our own values are asserted when
 * they are encoded; a peer's bytes are refused when they do not fit this run to the letter. */
#include <math.h>
#include <string.h>
#include "form.h"
#include "tacit/wire_glm.h"
#include "glm.pb-c.h"

#define HEAD_BYTES (6 * WIRE_FIXED32 + 6 * WIRE_FIXED64)
#define LONG_TAG 1u /* tags from 16 on take a second byte */

/* ---- Lengths ---- */

static size_t packed_bytes(const double *numbers, size_t count)
{
    return numbers == NULL ? 0 : wire_field_bytes(count * sizeof(double));
}

size_t tacit_wire_glm_bytes(const struct tacit_glm_message *message, uint32_t dimension,
                            uint32_t client_count)
{
    size_t const triangle = TACIT_LINALG_PACKED(dimension);
    size_t const steps = packed_bytes(message->steps, triangle);
    size_t const set =
        message->participants == NULL ? 0 : wire_field_bytes(wire_set_bytes(client_count));
    return HEAD_BYTES + packed_bytes(message->vector, dimension) +
           packed_bytes(message->matrix, triangle) + packed_bytes(message->target, dimension) +
           (steps > 0 ? steps + LONG_TAG : 0) + (set > 0 ? set + LONG_TAG : 0);
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

/* ---- Encoding ---- */

/* Room for what a message's arrays become: two triangles, and a set. */
struct room {
    double *matrix;
    double *steps;
    uint8_t *set;
};

static struct room *new_room(uint32_t dimension, uint32_t client_count,
                             const struct tacit_wire_allocator *allocator)
{
    size_t const triangle = TACIT_LINALG_PACKED(dimension);
    struct room *const room = wire_take_zeros(
        allocator, sizeof *room + 2 * triangle * sizeof(double) + wire_set_bytes(client_count));
    if (room == NULL)
        return NULL;
    room->matrix = (double *)(void *)(room + 1);
    room->steps = room->matrix + triangle;
    room->set = (uint8_t *)(room->steps + triangle);
    return room;
}

static void set_head(const struct tacit_glm_message *message, Tacit__V2__GlmMessage *encoded)
{
    encoded->version = TACIT_WIRE_GLM_VERSION;
    encoded->kind = tacit_wire_glm_kind(message->kind);
    encoded->from = message->from;
    encoded->run_id = message->run_id;
    encoded->sync = message->sync;
    encoded->attempt = message->attempt;
    encoded->round = message->round;
    encoded->digest = message->digest;
    encoded->slot = message->slot;
    encoded->count = message->count;
    encoded->squares = message->squares;
    encoded->regret = message->regret;
}

static void set_vector(const double *numbers, uint32_t dimension, size_t *count, double **field)
{
    *count = numbers == NULL ? 0 : dimension;
    *field = (double *)(uintptr_t)numbers;
}

static void set_matrix(const double *matrix, uint32_t dimension, double *room, size_t *count,
                       double **field)
{
    *count = matrix == NULL ? 0 : TACIT_LINALG_PACKED(dimension);
    *field = room;
    if (matrix != NULL)
        tacit_linalg_pack(dimension, matrix, room);
}

enum tacit_status tacit_wire_glm_encode_with(const struct tacit_glm_message *message,
                                             uint32_t dimension, uint32_t client_count,
                                             uint8_t *bytes,
                                             const struct tacit_wire_allocator *allocator)
{
    Tacit__V2__GlmMessage encoded = TACIT__V2__GLM_MESSAGE__INIT;
    struct room *const room = new_room(dimension, client_count, allocator);
    if (room == NULL)
        return TACIT_MEMORY;
    set_head(message, &encoded);
    set_vector(message->vector, dimension, &encoded.n_vector, &encoded.vector);
    set_vector(message->target, dimension, &encoded.n_target, &encoded.target);
    set_matrix(message->matrix, dimension, room->matrix, &encoded.n_matrix, &encoded.matrix);
    set_matrix(message->steps, dimension, room->steps, &encoded.n_steps, &encoded.steps);
    if (message->participants != NULL) {
        size_t const size = wire_set_bytes(client_count);
        encoded.has_participants = 1;
        encoded.participants = (ProtobufCBinaryData){size, room->set};
        for (size_t i = 0; i < size; i++)
            room->set[i] = (uint8_t)(message->participants[i / 8] >> (8 * (i % 8)));
    }
    size_t const written = tacit__v2__glm_message__pack(&encoded, bytes);
    TACIT_ASSERT(written == tacit_wire_glm_bytes(message, dimension, client_count));
    wire_give(allocator, room);
    return TACIT_OK;
}

/* ---- Decoding ---- */

/* A message and its arrays: one block. */
struct decoded {
    struct tacit_glm_message message; /* first */
    double values[];
};

static bool is_finite(const double *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(numbers[i]))
            return false;
    return true;
}

static bool fits(const Tacit__V2__GlmMessage *encoded, uint32_t dimension, uint32_t client_count)
{
    size_t const triangle = TACIT_LINALG_PACKED(dimension);
    bool const is_long_enough =
        (encoded->n_vector == 0 || encoded->n_vector == dimension) &&
        (encoded->n_target == 0 || encoded->n_target == dimension) &&
        (encoded->n_matrix == 0 || encoded->n_matrix == triangle) &&
        (encoded->n_steps == 0 || encoded->n_steps == triangle) &&
        (!encoded->has_participants || encoded->participants.len == wire_set_bytes(client_count));
    return is_long_enough && encoded->version == TACIT_WIRE_GLM_VERSION && encoded->kind >= 1 &&
           encoded->kind <= TACIT_GLM_COMMIT + 1 &&
           (encoded->from < client_count || encoded->from == TACIT_HUB) &&
           isfinite(encoded->squares) && isfinite(encoded->regret) &&
           is_finite(encoded->vector, encoded->n_vector) &&
           is_finite(encoded->target, encoded->n_target) &&
           is_finite(encoded->matrix, encoded->n_matrix) &&
           is_finite(encoded->steps, encoded->n_steps);
}

static void take_head(const Tacit__V2__GlmMessage *encoded, uint32_t to,
                      struct tacit_glm_message *message)
{
    *message = (struct tacit_glm_message){.kind = (enum tacit_glm_message_kind)(encoded->kind - 1),
                                          .from = encoded->from,
                                          .to = to,
                                          .sync = encoded->sync,
                                          .run_id = encoded->run_id,
                                          .attempt = encoded->attempt,
                                          .round = encoded->round,
                                          .digest = encoded->digest,
                                          .slot = encoded->slot,
                                          .count = encoded->count,
                                          .squares = encoded->squares,
                                          .regret = encoded->regret};
}

static double *take_vector(const double *from, size_t count, double *room, const double **field)
{
    if (count == 0)
        return room;
    memcpy(room, from, count * sizeof(double));
    *field = room;
    return room + TACIT_LINALG_STRIDE(count);
}

static double *take_matrix(const double *from, size_t count, uint32_t dimension, double *room,
                           const double **field)
{
    if (count == 0)
        return room;
    tacit_linalg_unpack(dimension, from, room);
    *field = room;
    return room + TACIT_LINALG_MATRIX(dimension);
}

static struct tacit_glm_message *copy_message(const Tacit__V2__GlmMessage *encoded,
                                              uint32_t dimension, uint32_t client_count,
                                              uint32_t to,
                                              const struct tacit_wire_allocator *allocator)
{
    size_t const room = 2 * TACIT_LINALG_STRIDE(dimension) + 2 * TACIT_LINALG_MATRIX(dimension) +
                        TACIT_BITS_WORDS(client_count);
    struct decoded *const decoded =
        wire_take_zeros(allocator, sizeof *decoded + room * sizeof(double));
    if (decoded == NULL)
        return NULL;
    struct tacit_glm_message *const message = &decoded->message;
    double *next = decoded->values;
    take_head(encoded, to, message);
    next = take_vector(encoded->vector, encoded->n_vector, next, &message->vector);
    next = take_vector(encoded->target, encoded->n_target, next, &message->target);
    next = take_matrix(encoded->matrix, encoded->n_matrix, dimension, next, &message->matrix);
    next = take_matrix(encoded->steps, encoded->n_steps, dimension, next, &message->steps);
    if (encoded->has_participants) {
        uint64_t *const set = (uint64_t *)(void *)next;
        for (size_t i = 0; i < encoded->participants.len; i++)
            set[i / 8] |= (uint64_t)encoded->participants.data[i] << (8 * (i % 8));
        message->participants = set;
    }
    return message;
}

/* The right length may still hold fields in another order, or more than once. */
static enum tacit_status check_form(const struct tacit_glm_message *message, uint32_t dimension,
                                    uint32_t client_count, const uint8_t *bytes, size_t size,
                                    const struct tacit_wire_allocator *allocator)
{
    if (tacit_wire_glm_bytes(message, dimension, client_count) != size ||
        (message->participants != NULL &&
         !tacit_bits_within(message->participants, message->participants, client_count)))
        return TACIT_MALFORMED;
    uint8_t *const ours = wire_take(allocator, size);
    if (ours == NULL)
        return TACIT_MEMORY;
    enum tacit_status status =
        tacit_wire_glm_encode_with(message, dimension, client_count, ours, allocator);
    if (status == TACIT_OK && memcmp(ours, bytes, size) != 0)
        status = TACIT_MALFORMED;
    wire_give(allocator, ours);
    return status;
}

enum tacit_status tacit_wire_glm_decode_with(const uint8_t *bytes, size_t size, uint32_t dimension,
                                             uint32_t client_count, uint32_t to,
                                             struct tacit_glm_message **message,
                                             const struct tacit_wire_allocator *allocator)
{
    ProtobufCAllocator protobuf = wire_protobuf(allocator);
    if (size < HEAD_BYTES || size > tacit_wire_glm_bytes_max(dimension, client_count))
        return TACIT_MALFORMED;
    Tacit__V2__GlmMessage *const encoded = tacit__v2__glm_message__unpack(&protobuf, size, bytes);
    if (encoded == NULL)
        return TACIT_MALFORMED;
    enum tacit_status status = TACIT_MALFORMED;
    struct tacit_glm_message *made = NULL;
    if (fits(encoded, dimension, client_count)) {
        made = copy_message(encoded, dimension, client_count, to, allocator);
        status = made == NULL ? TACIT_MEMORY
                              : check_form(made, dimension, client_count, bytes, size, allocator);
    }
    tacit__v2__glm_message__free_unpacked(encoded, &protobuf);
    if (status == TACIT_OK)
        *message = made;
    else
        wire_give(allocator, made);
    return status;
}

/* ---- Envelopes ---- */

uint32_t tacit_wire_glm_kind(enum tacit_glm_message_kind kind)
{
    TACIT_ASSERT(kind <= TACIT_GLM_COMMIT);
    return (uint32_t)kind + 1;
}
