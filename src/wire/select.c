/* Messages of a training federation as protobuf (select.proto). A peer's bytes are refused when
 * they are not what we would have written for what they say. */
#include <math.h>
#include <string.h>
#include "form.h"
#include "tacit/wire_select.h"
#include "select.pb-c.h"

#define HASH_FIELD (1u + 1u + TACIT_SHA256_BYTES)
#define HEAD_BYTES (3u * WIRE_FIXED32 + WIRE_FIXED64)
#define PIECES_MAX 256u

/* ---- Lengths ---- */

static size_t digests_bytes(const struct tacit_select_message *message)
{
    return wire_field_bytes((size_t)message->digest_count * TACIT_SHA256_BYTES);
}

static size_t numbers_bytes(const struct tacit_select_message *message)
{
    size_t const width = message->vector == TACIT_SELECT_MODEL ? sizeof(float) : sizeof(int64_t);
    return wire_field_bytes(message->number_count * width);
}

static size_t body_bytes(const struct tacit_select_message *message, uint32_t agent_count)
{
    switch (message->kind) {
    case TACIT_SELECT_HELLO:
        return HASH_FIELD + WIRE_FIXED64;
    case TACIT_SELECT_ORDER:
        return 2 * WIRE_FIXED32 + wire_field_bytes(wire_set_bytes(agent_count)) +
               digests_bytes(message);
    case TACIT_SELECT_REQUEST:
        return 3 * WIRE_FIXED32;
    case TACIT_SELECT_PIECE:
        return 2 * WIRE_FIXED32 + numbers_bytes(message);
    case TACIT_SELECT_COMMIT:
        return 2 * HASH_FIELD;
    case TACIT_SELECT_GRANT:
        return HASH_FIELD + WIRE_FIXED32;
    case TACIT_SELECT_REFUSAL:
        return HASH_FIELD + WIRE_FIXED32;
    case TACIT_SELECT_UPDATE:
        return 3 * HASH_FIELD + WIRE_FIXED32 + 2 * WIRE_FIXED64 + digests_bytes(message);
    }
    TACIT_ASSERT(false);
    return 0;
}

size_t tacit_wire_select_bytes(const struct tacit_select_message *message, uint32_t agent_count)
{
    size_t const body = body_bytes(message, agent_count);
    return HEAD_BYTES + 2 + wire_varint_bytes(body) + body;
}

/* ---- Encoding ---- */

union bodies {
    Tacit__V2__SelectHello hello;
    Tacit__V2__SelectOrder order;
    Tacit__V2__SelectRequest request;
    Tacit__V2__SelectPiece piece;
    Tacit__V2__SelectCommit commit;
    Tacit__V2__SelectGrant grant;
    Tacit__V2__SelectRefusal refusal;
    Tacit__V2__SelectUpdate update;
};

static ProtobufCBinaryData hash_of(const uint8_t *bytes)
{
    return (ProtobufCBinaryData){TACIT_SHA256_BYTES, (uint8_t *)(uintptr_t)bytes};
}

static ProtobufCBinaryData digests_of(const struct tacit_select_message *message)
{
    return (ProtobufCBinaryData){(size_t)message->digest_count * TACIT_SHA256_BYTES,
                                 (uint8_t *)(uintptr_t)message->digests};
}

static void fill_words(const struct tacit_select_message *message, Tacit__V2__SelectMessage *head,
                       union bodies *body)
{
    if (message->kind == TACIT_SELECT_HELLO) {
        tacit__v2__select_hello__init(&body->hello);
        body->hello.head = hash_of(message->commit.commitment);
        body->hello.spent_nano = message->spent_nano;
        head->body_case = TACIT__V2__SELECT_MESSAGE__BODY_SELECT_HELLO;
        head->select_hello = &body->hello;
    } else if (message->kind == TACIT_SELECT_COMMIT) {
        tacit__v2__select_commit__init(&body->commit);
        body->commit.commitment = hash_of(message->commit.commitment);
        body->commit.previous = hash_of(message->commit.previous);
        head->body_case = TACIT__V2__SELECT_MESSAGE__BODY_SELECT_COMMIT;
        head->select_commit = &body->commit;
    } else if (message->kind == TACIT_SELECT_GRANT) {
        tacit__v2__select_grant__init(&body->grant);
        body->grant.commitment = hash_of(message->commit.commitment);
        body->grant.closed = message->closed ? 1 : 0;
        head->body_case = TACIT__V2__SELECT_MESSAGE__BODY_SELECT_GRANT;
        head->select_grant = &body->grant;
    } else {
        TACIT_ASSERT(message->kind == TACIT_SELECT_REFUSAL);
        tacit__v2__select_refusal__init(&body->refusal);
        body->refusal.head = hash_of(message->commit.commitment);
        body->refusal.forgot = message->forgot ? 1 : 0;
        head->body_case = TACIT__V2__SELECT_MESSAGE__BODY_SELECT_REFUSAL;
        head->select_refusal = &body->refusal;
    }
}

static void fill_update(const struct tacit_select_message *message, Tacit__V2__SelectMessage *head,
                        union bodies *body)
{
    tacit__v2__select_update__init(&body->update);
    body->update.model = hash_of(message->model);
    body->update.participation = message->participation;
    body->update.price_nano = message->price_nano;
    body->update.spent_nano = message->spent_nano;
    body->update.digests = digests_of(message);
    body->update.previous = hash_of(message->commit.previous);
    body->update.salt = hash_of(message->commit.salt);
    head->body_case = TACIT__V2__SELECT_MESSAGE__BODY_SELECT_UPDATE;
    head->select_update = &body->update;
}

static void fill_vector(const struct tacit_select_message *message, Tacit__V2__SelectMessage *head,
                        union bodies *body)
{
    if (message->kind == TACIT_SELECT_REQUEST) {
        tacit__v2__select_request__init(&body->request);
        body->request.vector = (uint32_t)message->vector;
        body->request.first = message->first;
        body->request.mask = message->mask;
        head->body_case = TACIT__V2__SELECT_MESSAGE__BODY_SELECT_REQUEST;
        head->select_request = &body->request;
        return;
    }
    tacit__v2__select_piece__init(&body->piece);
    body->piece.vector = (uint32_t)message->vector;
    body->piece.index = message->first;
    if (message->vector == TACIT_SELECT_MODEL) {
        body->piece.n_model = message->number_count;
        body->piece.model = (float *)(uintptr_t)message->model_piece;
    } else {
        body->piece.n_steps = message->number_count;
        body->piece.steps = (int64_t *)(uintptr_t)message->step_piece;
    }
    head->body_case = TACIT__V2__SELECT_MESSAGE__BODY_SELECT_PIECE;
    head->select_piece = &body->piece;
}

static void fill_order(const struct tacit_select_message *message, uint32_t agent_count,
                       Tacit__V2__SelectMessage *head, union bodies *body, uint8_t *set)
{
    for (size_t i = 0; i < wire_set_bytes(agent_count); i++)
        set[i] = (uint8_t)(message->set[i / 8] >> (8 * (i % 8)));
    tacit__v2__select_order__init(&body->order);
    body->order.last = message->last ? 1 : 0;
    body->order.seen = message->seen;
    body->order.set = (ProtobufCBinaryData){wire_set_bytes(agent_count), set};
    body->order.digests = digests_of(message);
    head->body_case = TACIT__V2__SELECT_MESSAGE__BODY_SELECT_ORDER;
    head->select_order = &body->order;
}

enum tacit_status tacit_wire_select_encode_with(const struct tacit_select_message *message,
                                                uint32_t agent_count, uint8_t *bytes,
                                                const struct tacit_wire_allocator *allocator)
{
    Tacit__V2__SelectMessage head = TACIT__V2__SELECT_MESSAGE__INIT;
    union bodies body;
    uint8_t *const set = wire_take(allocator, wire_set_bytes(agent_count));
    TACIT_ASSERT(message != NULL && bytes != NULL);
    if (set == NULL)
        return TACIT_MEMORY;
    head.version = TACIT_WIRE_SELECT_VERSION;
    head.from = message->from;
    head.run_id = message->run_id;
    head.round = message->round;
    if (message->kind == TACIT_SELECT_ORDER)
        fill_order(message, agent_count, &head, &body, set);
    else if (message->kind == TACIT_SELECT_UPDATE)
        fill_update(message, &head, &body);
    else if (message->kind == TACIT_SELECT_REQUEST || message->kind == TACIT_SELECT_PIECE)
        fill_vector(message, &head, &body);
    else
        fill_words(message, &head, &body);
    size_t const written = tacit__v2__select_message__pack(&head, bytes);
    TACIT_ASSERT(written == tacit_wire_select_bytes(message, agent_count));
    wire_give(allocator, set);
    return TACIT_OK;
}

/* ---- Decoding ---- */

static bool take_hash(ProtobufCBinaryData data, uint8_t hash[TACIT_SHA256_BYTES])
{
    return wire_copy_exact(data, hash, TACIT_SHA256_BYTES);
}

static bool take_digests(ProtobufCBinaryData data, struct tacit_select_message *message)
{
    if (data.len == 0 || data.len % TACIT_SHA256_BYTES != 0 ||
        data.len / TACIT_SHA256_BYTES > PIECES_MAX)
        return false;
    message->digests = data.data;
    message->digest_count = (uint32_t)(data.len / TACIT_SHA256_BYTES);
    return true;
}

static bool take_order(const Tacit__V2__SelectOrder *order, uint32_t agent_count, uint64_t *set,
                       struct tacit_select_message *message)
{
    message->kind = TACIT_SELECT_ORDER;
    message->last = order->last == 1;
    message->seen = order->seen;
    message->set = set;
    if (order->last > 1 || order->set.len != wire_set_bytes(agent_count))
        return false;
    memset(set, 0, wire_set_bytes(agent_count));
    for (size_t i = 0; i < order->set.len; i++)
        set[i / 8] |= (uint64_t)order->set.data[i] << (8 * (i % 8));
    return tacit_bits_within(set, set, agent_count) && take_digests(order->digests, message);
}

static bool take_request(const Tacit__V2__SelectRequest *request,
                         struct tacit_select_message *message)
{
    message->kind = TACIT_SELECT_REQUEST;
    message->vector = request->vector == 0 ? TACIT_SELECT_MODEL : TACIT_SELECT_STEPS;
    message->first = request->first;
    message->mask = request->mask;
    return request->vector <= 1 && request->first < PIECES_MAX && request->mask != 0;
}

static bool take_piece(const Tacit__V2__SelectPiece *piece, struct tacit_select_message *message)
{
    bool const is_model = piece->vector == 0;
    size_t const count = is_model ? piece->n_model : piece->n_steps;
    size_t const other = is_model ? piece->n_steps : piece->n_model;
    message->kind = TACIT_SELECT_PIECE;
    message->vector = is_model ? TACIT_SELECT_MODEL : TACIT_SELECT_STEPS;
    message->first = piece->index;
    if (piece->vector > 1 || piece->index >= PIECES_MAX || other > 0 || count == 0 ||
        count > (is_model ? TACIT_SELECT_MODEL_NUMBERS : TACIT_SELECT_UPDATE_NUMBERS))
        return false;
    message->number_count = (uint32_t)count;
    message->model_piece = is_model ? piece->model : NULL;
    message->step_piece = is_model ? NULL : piece->steps;
    return true;
}

static bool take_update(const Tacit__V2__SelectUpdate *update, struct tacit_select_message *message)
{
    message->kind = TACIT_SELECT_UPDATE;
    message->participation = update->participation;
    message->price_nano = update->price_nano;
    message->spent_nano = update->spent_nano;
    return take_hash(update->model, message->model) && take_digests(update->digests, message) &&
           take_hash(update->previous, message->commit.previous) &&
           take_hash(update->salt, message->commit.salt);
}

static bool take_words(const Tacit__V2__SelectMessage *head, struct tacit_select_message *message)
{
    switch (head->body_case) {
    case TACIT__V2__SELECT_MESSAGE__BODY_SELECT_HELLO:
        message->kind = TACIT_SELECT_HELLO;
        message->spent_nano = head->select_hello->spent_nano;
        return take_hash(head->select_hello->head, message->commit.commitment);
    case TACIT__V2__SELECT_MESSAGE__BODY_SELECT_COMMIT:
        message->kind = TACIT_SELECT_COMMIT;
        return take_hash(head->select_commit->commitment, message->commit.commitment) &&
               take_hash(head->select_commit->previous, message->commit.previous);
    case TACIT__V2__SELECT_MESSAGE__BODY_SELECT_GRANT:
        message->kind = TACIT_SELECT_GRANT;
        message->closed = head->select_grant->closed == 1;
        return head->select_grant->closed <= 1 &&
               take_hash(head->select_grant->commitment, message->commit.commitment);
    case TACIT__V2__SELECT_MESSAGE__BODY_SELECT_REFUSAL:
        message->kind = TACIT_SELECT_REFUSAL;
        message->forgot = head->select_refusal->forgot == 1;
        return head->select_refusal->forgot <= 1 &&
               take_hash(head->select_refusal->head, message->commit.commitment);
    default: /* an enumeration that a peer fills */
        return false;
    }
}

static bool take_message(const Tacit__V2__SelectMessage *head, uint32_t agent_count, uint64_t *set,
                         struct tacit_select_message *message)
{
    if (head->version != TACIT_WIRE_SELECT_VERSION || head->round > TACIT_SELECT_ROUNDS_MAX + 1 ||
        (head->from != TACIT_HUB && head->from >= agent_count))
        return false;
    message->from = head->from;
    message->run_id = head->run_id;
    message->round = head->round;
    switch (head->body_case) {
    case TACIT__V2__SELECT_MESSAGE__BODY_SELECT_ORDER:
        return take_order(head->select_order, agent_count, set, message);
    case TACIT__V2__SELECT_MESSAGE__BODY_SELECT_REQUEST:
        return take_request(head->select_request, message);
    case TACIT__V2__SELECT_MESSAGE__BODY_SELECT_PIECE:
        return take_piece(head->select_piece, message);
    case TACIT__V2__SELECT_MESSAGE__BODY_SELECT_UPDATE:
        return take_update(head->select_update, message);
    default: /* the words, or nothing that is one */
        return take_words(head, message);
    }
}

/* One form: what we would write for the same is the same. */
static enum tacit_status check_form(const struct tacit_select_message *message,
                                    uint32_t agent_count, const uint8_t *bytes, size_t size,
                                    const struct tacit_wire_allocator *allocator)
{
    if (tacit_wire_select_bytes(message, agent_count) != size)
        return TACIT_MALFORMED;
    uint8_t *const ours = wire_take(allocator, size);
    if (ours == NULL)
        return TACIT_MEMORY;
    enum tacit_status status = tacit_wire_select_encode_with(message, agent_count, ours, allocator);
    if (status == TACIT_OK && memcmp(ours, bytes, size) != 0)
        status = TACIT_MALFORMED;
    wire_give(allocator, ours);
    return status;
}

/* The message and all that it points to, in one block; numbers first, for their alignment. */
static struct tacit_select_message *assemble(const struct tacit_select_message *parts,
                                             uint32_t agent_count,
                                             const struct tacit_wire_allocator *allocator)
{
    size_t const set = parts->set == NULL ? 0 : wire_set_bytes(agent_count);
    size_t const width = parts->vector == TACIT_SELECT_MODEL ? sizeof(float) : sizeof(int64_t);
    size_t const numbers = parts->number_count * width;
    size_t const digests = (size_t)parts->digest_count * TACIT_SHA256_BYTES;
    struct tacit_select_message *const made =
        wire_take(allocator, sizeof *made + set + numbers + digests);
    if (made == NULL)
        return NULL;
    uint8_t *const bytes = (uint8_t *)(made + 1);
    *made = *parts;
    if (parts->set != NULL)
        made->set = memcpy(bytes, parts->set, set);
    if (parts->model_piece != NULL)
        made->model_piece = memcpy(bytes + set, parts->model_piece, numbers);
    if (parts->step_piece != NULL)
        made->step_piece = memcpy(bytes + set, parts->step_piece, numbers);
    if (parts->digests != NULL)
        made->digests = memcpy(bytes + set + numbers, parts->digests, digests);
    return made;
}

enum tacit_status tacit_wire_select_decode_with(const uint8_t *bytes, size_t size,
                                                uint32_t agent_count, uint32_t to,
                                                struct tacit_select_message **message,
                                                const struct tacit_wire_allocator *allocator)
{
    ProtobufCAllocator protobuf = wire_protobuf(allocator);
    struct tacit_select_message parts = {.to = to};
    if (size == 0 || size > TACIT_WIRE_BYTES_MAX)
        return TACIT_MALFORMED;
    Tacit__V2__SelectMessage *const head =
        tacit__v2__select_message__unpack(&protobuf, size, bytes);
    if (head == NULL)
        return TACIT_MALFORMED;
    uint64_t *const set = wire_take(allocator, wire_set_bytes(agent_count));
    enum tacit_status status = set == NULL ? TACIT_MEMORY : TACIT_MALFORMED;
    if (set != NULL && take_message(head, agent_count, set, &parts))
        status = check_form(&parts, agent_count, bytes, size, allocator);
    if (status == TACIT_OK) {
        struct tacit_select_message *const made = assemble(&parts, agent_count, allocator);
        status = made == NULL ? TACIT_MEMORY : TACIT_OK;
        if (made != NULL)
            *message = made;
    }
    wire_give(allocator, set);
    tacit__v2__select_message__free_unpacked(head, &protobuf);
    return status;
}

/* ---- The run ---- */

void tacit_wire_select_parameters_encode(const struct tacit_wire_select_run *run,
                                         uint8_t bytes[TACIT_WIRE_SELECT_PARAMETERS_BYTES])
{
    Tacit__V2__SelectParameters message = TACIT__V2__SELECT_PARAMETERS__INIT;
    message.dimension = run->dimension;
    message.batches = run->batches;
    message.deadline_s = run->deadline_s;
    message.clip = run->clip;
    size_t const written = tacit__v2__select_parameters__pack(&message, bytes);
    TACIT_ASSERT(written == TACIT_WIRE_SELECT_PARAMETERS_BYTES);
}

static bool is_possible(const struct tacit_wire_announcement *announcement,
                        const struct tacit_wire_select_run *run)
{
    struct tacit_wire_agreement const *const agreement = &announcement->agreement;
    return run->dimension > 0 && run->dimension <= TACIT_SELECT_DIMENSION_MAX &&
           run->deadline_s > 0 && run->clip > 0 && run->clip <= 1e100 &&
           agreement->arm_count == agreement->agent_count && announcement->place_size == 0 &&
           agreement->horizon > 0 && agreement->horizon <= TACIT_SELECT_ROUNDS_MAX;
}

enum tacit_status tacit_wire_select_run_decode(const struct tacit_wire_announcement *announcement,
                                               struct tacit_wire_select_run *run)
{
    uint64_t room[64];
    struct tacit_wire_arena arena;
    ProtobufCAllocator protobuf = wire_on_stack(&arena, room, sizeof room);
    struct tacit_wire_agreement const *const agreement = &announcement->agreement;
    uint8_t ours[TACIT_WIRE_SELECT_PARAMETERS_BYTES];
    if (strcmp(agreement->protocol, TACIT_WIRE_SELECT_WORD) != 0 ||
        agreement->family != TACIT_WIRE_SELECT_FAMILY ||
        agreement->protocol_version != TACIT_WIRE_SELECT_VERSION ||
        agreement->parameters_size != sizeof ours)
        return TACIT_MALFORMED;
    Tacit__V2__SelectParameters *const message = tacit__v2__select_parameters__unpack(
        &protobuf, agreement->parameters_size, agreement->parameters);
    if (message == NULL)
        return TACIT_MALFORMED;
    struct tacit_wire_select_run const made = {.run_id = tacit_wire_run_id(agreement->run),
                                               .agent = announcement->agent,
                                               .agent_count = agreement->agent_count,
                                               .round_count = (uint32_t)agreement->horizon,
                                               .epsilon_nano = agreement->epsilon_nano,
                                               .dimension = message->dimension,
                                               .batches = message->batches,
                                               .deadline_s = message->deadline_s,
                                               .clip = message->clip};
    tacit__v2__select_parameters__free_unpacked(message, &protobuf);
    if (!is_possible(announcement, &made))
        return TACIT_MALFORMED;
    tacit_wire_select_parameters_encode(&made, ours);
    if (memcmp(ours, agreement->parameters, sizeof ours) != 0)
        return TACIT_MALFORMED;
    *run = made;
    return TACIT_OK;
}
