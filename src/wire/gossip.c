/* Messages of gossip UCB (gossip.proto). Rows are read where they are: protobuf-c packs doubles and
 * fixed numbers as arrays of C have them. */
#include "tacit/wire_gossip.h"
#include <math.h>
#include <string.h>
#include "form.h"
#include "gossip.pb-c.h"

#define HEAD_BYTES (2u * WIRE_FIXED32 + 3u * WIRE_FIXED64)
#define BODY_TAG_BYTES 2u /* fields from 16 on */

/* ---- Sizes ---- */

static size_t row_bytes(const void *row, uint32_t arm_count)
{
    return row == NULL ? 0 : wire_field_bytes(arm_count * sizeof(uint64_t));
}

static size_t body_bytes(const struct tacit_gossip_message *message, uint32_t arm_count)
{
    bool const is_numbered =
        message->kind == TACIT_GOSSIP_OFFER || message->kind == TACIT_GOSSIP_SHIFT;
    return (is_numbered ? WIRE_FIXED64 : 0) + row_bytes(message->seen, arm_count) +
           row_bytes(message->theta, arm_count) + row_bytes(message->shift, arm_count) +
           row_bytes(message->flow, arm_count);
}

size_t tacit_wire_gossip_bytes(const struct tacit_gossip_message *message, uint32_t arm_count)
{
    size_t const body = body_bytes(message, arm_count);
    return HEAD_BYTES + BODY_TAG_BYTES + wire_varint_bytes(body) + body;
}

/* ---- Encoding ---- */

/* protobuf-c has no const. */
static double *doubles(const double *row)
{
    return (double *)(uintptr_t)row;
}

static uint64_t *words(const uint64_t *row)
{
    return (uint64_t *)(uintptr_t)row;
}

union body {
    Tacit__V2__GossipCounts counts;
    Tacit__V2__GossipAsk ask;
    Tacit__V2__GossipOffer offer;
    Tacit__V2__GossipShift shift;
    Tacit__V2__GossipRefuse refuse;
};

static void fill_offer(const struct tacit_gossip_message *message, size_t row,
                       Tacit__V2__GossipOffer *offer)
{
    TACIT_ASSERT(message->theta != NULL && message->flow != NULL);
    tacit__v2__gossip_offer__init(offer);
    offer->exchange = message->exchange;
    offer->n_seen = message->seen == NULL ? 0 : row;
    offer->seen = words(message->seen);
    offer->n_theta = row;
    offer->theta = doubles(message->theta);
    offer->n_flow = row;
    offer->flow = doubles(message->flow);
}

static void fill_shift(const struct tacit_gossip_message *message, size_t row,
                       Tacit__V2__GossipShift *shift)
{
    TACIT_ASSERT(message->shift != NULL && message->flow != NULL);
    tacit__v2__gossip_shift__init(shift);
    shift->exchange = message->exchange;
    shift->n_seen = message->seen == NULL ? 0 : row;
    shift->seen = words(message->seen);
    shift->n_shift = row;
    shift->shift = doubles(message->shift);
    shift->n_flow = row;
    shift->flow = doubles(message->flow);
}

static void fill_body(const struct tacit_gossip_message *message, size_t row, union body *body,
                      Tacit__V2__GossipMessage *head)
{
    size_t const seen = message->seen == NULL ? 0 : row;
    switch (message->kind) {
    case TACIT_GOSSIP_COUNTS:
        TACIT_ASSERT(message->seen != NULL);
        tacit__v2__gossip_counts__init(&body->counts);
        body->counts.n_seen = seen;
        body->counts.seen = words(message->seen);
        head->body_case = TACIT__V2__GOSSIP_MESSAGE__BODY_GOSSIP_COUNTS;
        head->gossip_counts = &body->counts;
        return;
    case TACIT_GOSSIP_ASK:
        tacit__v2__gossip_ask__init(&body->ask);
        body->ask.n_seen = seen;
        body->ask.seen = words(message->seen);
        head->body_case = TACIT__V2__GOSSIP_MESSAGE__BODY_GOSSIP_ASK;
        head->gossip_ask = &body->ask;
        return;
    case TACIT_GOSSIP_OFFER:
        fill_offer(message, row, &body->offer);
        head->body_case = TACIT__V2__GOSSIP_MESSAGE__BODY_GOSSIP_OFFER;
        head->gossip_offer = &body->offer;
        return;
    case TACIT_GOSSIP_SHIFT:
        fill_shift(message, row, &body->shift);
        head->body_case = TACIT__V2__GOSSIP_MESSAGE__BODY_GOSSIP_SHIFT;
        head->gossip_shift = &body->shift;
        return;
    case TACIT_GOSSIP_REFUSE:
        tacit__v2__gossip_refuse__init(&body->refuse);
        head->body_case = TACIT__V2__GOSSIP_MESSAGE__BODY_GOSSIP_REFUSE;
        head->gossip_refuse = &body->refuse;
        return;
    }
    TACIT_ASSERT(false);
}

void tacit_wire_gossip_encode(const struct tacit_gossip_message *message, uint32_t arm_count,
                              uint8_t *bytes)
{
    Tacit__V2__GossipMessage head = TACIT__V2__GOSSIP_MESSAGE__INIT;
    union body body;
    head.version = TACIT_WIRE_GOSSIP_VERSION;
    head.from = message->from;
    head.run_id = message->run_id;
    head.life_number = message->life_number;
    head.life = message->life;
    fill_body(message, arm_count, &body, &head);
    size_t const written = tacit__v2__gossip_message__pack(&head, bytes);
    TACIT_ASSERT(written == tacit_wire_gossip_bytes(message, arm_count));
}

/* ---- Decoding ---- */

static bool take_doubles(double *const row, size_t count, uint32_t arm_count, const double **taken)
{
    *taken = row;
    for (size_t i = 0; i < count; i++)
        if (!isfinite(row[i]))
            return false;
    return count == arm_count;
}

/* A row or none. */
static bool take_seen(uint64_t *const row, size_t count, uint32_t arm_count,
                      struct tacit_gossip_message *message)
{
    message->seen = count == 0 ? NULL : row;
    for (size_t i = 0; i < count; i++)
        if (row[i] > TACIT_HORIZON_MAX + 1)
            return false;
    return count == 0 || count == arm_count;
}

static bool take_offer(const Tacit__V2__GossipOffer *offer, uint32_t arm_count,
                       struct tacit_gossip_message *message)
{
    message->kind = TACIT_GOSSIP_OFFER;
    message->exchange = offer->exchange;
    return take_seen(offer->seen, offer->n_seen, arm_count, message) &&
           take_doubles(offer->theta, offer->n_theta, arm_count, &message->theta) &&
           take_doubles(offer->flow, offer->n_flow, arm_count, &message->flow);
}

static bool take_shift(const Tacit__V2__GossipShift *shift, uint32_t arm_count,
                       struct tacit_gossip_message *message)
{
    message->kind = TACIT_GOSSIP_SHIFT;
    message->exchange = shift->exchange;
    return take_seen(shift->seen, shift->n_seen, arm_count, message) &&
           take_doubles(shift->shift, shift->n_shift, arm_count, &message->shift) &&
           take_doubles(shift->flow, shift->n_flow, arm_count, &message->flow);
}

static bool take_body(const Tacit__V2__GossipMessage *head, uint32_t arm_count,
                      struct tacit_gossip_message *message)
{
    switch (head->body_case) {
    case TACIT__V2__GOSSIP_MESSAGE__BODY_GOSSIP_COUNTS:
        message->kind = TACIT_GOSSIP_COUNTS;
        return head->gossip_counts->n_seen > 0 &&
               take_seen(head->gossip_counts->seen, head->gossip_counts->n_seen, arm_count,
                         message);
    case TACIT__V2__GOSSIP_MESSAGE__BODY_GOSSIP_ASK:
        message->kind = TACIT_GOSSIP_ASK;
        return take_seen(head->gossip_ask->seen, head->gossip_ask->n_seen, arm_count, message);
    case TACIT__V2__GOSSIP_MESSAGE__BODY_GOSSIP_OFFER:
        return take_offer(head->gossip_offer, arm_count, message);
    case TACIT__V2__GOSSIP_MESSAGE__BODY_GOSSIP_SHIFT:
        return take_shift(head->gossip_shift, arm_count, message);
    case TACIT__V2__GOSSIP_MESSAGE__BODY_GOSSIP_REFUSE:
        message->kind = TACIT_GOSSIP_REFUSE;
        return true;
    case TACIT__V2__GOSSIP_MESSAGE__BODY__NOT_SET:
    default: /* an enumeration that a peer fills */
        return false;
    }
}

/* Another length means repeated, unknown or trailing fields; the same length with other bytes means
 * fields in another order or numbers in a longer form. */
static enum tacit_status check_form(const struct tacit_gossip_message *message, uint32_t arm_count,
                                    const uint8_t *bytes, size_t size,
                                    const struct tacit_wire_allocator *allocator)
{
    if (tacit_wire_gossip_bytes(message, arm_count) != size)
        return TACIT_MALFORMED;
    uint8_t *const ours = wire_take(allocator, size);
    if (ours == NULL)
        return TACIT_MEMORY;
    tacit_wire_gossip_encode(message, arm_count, ours);
    bool const is_same = memcmp(ours, bytes, size) == 0;
    wire_give(allocator, ours);
    return is_same ? TACIT_OK : TACIT_MALFORMED;
}

static enum tacit_status take_message(const Tacit__V2__GossipMessage *head, uint32_t arm_count,
                                      uint32_t agent_count, struct tacit_gossip_message *message)
{
    if (head->version != TACIT_WIRE_GOSSIP_VERSION || head->from >= agent_count)
        return TACIT_MALFORMED;
    message->from = head->from;
    message->run_id = head->run_id;
    message->life_number = head->life_number;
    message->life = head->life;
    return take_body(head, arm_count, message) ? TACIT_OK : TACIT_MALFORMED;
}

enum tacit_status tacit_wire_gossip_decode_with(const uint8_t *bytes, size_t size,
                                                uint32_t arm_count, uint32_t agent_count,
                                                uint32_t to, struct tacit_gossip_message **message,
                                                const struct tacit_wire_allocator *allocator)
{
    ProtobufCAllocator protobuf = wire_protobuf(allocator);
    if (size == 0 || size > TACIT_WIRE_BYTES_MAX)
        return TACIT_MALFORMED;
    Tacit__V2__GossipMessage *const head =
        tacit__v2__gossip_message__unpack(&protobuf, size, bytes);
    if (head == NULL)
        return TACIT_MALFORMED;
    struct tacit_gossip_message found = {.to = to};
    enum tacit_status status = take_message(head, arm_count, agent_count, &found);
    if (status == TACIT_OK)
        status = check_form(&found, arm_count, bytes, size, allocator);
    void *const block = status == TACIT_OK
                            ? wire_take(allocator, tacit_gossip_message_size(&found, arm_count))
                            : NULL;
    if (status == TACIT_OK && block == NULL)
        status = TACIT_MEMORY;
    if (status == TACIT_OK) {
        (void)tacit_gossip_message_copy(&found, arm_count, block);
        *message = block;
    }
    tacit__v2__gossip_message__free_unpacked(head, &protobuf);
    return status;
}

uint32_t tacit_wire_gossip_kind(enum tacit_gossip_message_kind kind)
{
    TACIT_ASSERT(kind <= TACIT_GOSSIP_REFUSE);
    return TACIT_WIRE_KIND_ANNOUNCEMENT + 1 + (uint32_t)kind;
}

/* ---- To the hub ---- */

size_t tacit_wire_gossip_told_bytes(uint32_t arm_count)
{
    return 3u * WIRE_FIXED32 + 2u * WIRE_FIXED64 + wire_field_bytes(arm_count * sizeof(double));
}

void tacit_wire_gossip_told_encode(const struct tacit_wire_gossip_told *told, uint32_t arm_count,
                                   uint8_t *bytes)
{
    Tacit__V2__GossipTold message = TACIT__V2__GOSSIP_TOLD__INIT;
    message.version = TACIT_WIRE_GOSSIP_VERSION;
    message.from = told->from;
    message.run_id = told->run_id;
    message.pulls = told->pull_count;
    message.finished = told->finished ? 1 : 0;
    message.n_theta = arm_count;
    message.theta = doubles(told->theta);
    size_t const written = tacit__v2__gossip_told__pack(&message, bytes);
    TACIT_ASSERT(written == tacit_wire_gossip_told_bytes(arm_count));
}

static bool told_is_possible(const Tacit__V2__GossipTold *message, uint32_t arm_count,
                             uint32_t agent_count, struct tacit_wire_gossip_told *told)
{
    told->from = message->from;
    told->run_id = message->run_id;
    told->pull_count = message->pulls;
    told->finished = message->finished == 1;
    return message->version == TACIT_WIRE_GOSSIP_VERSION && message->from < agent_count &&
           message->finished <= 1 && message->pulls <= TACIT_HORIZON_MAX + arm_count &&
           take_doubles(message->theta, message->n_theta, arm_count, &told->theta);
}

static enum tacit_status check_told_form(const struct tacit_wire_gossip_told *told,
                                         uint32_t arm_count, const uint8_t *bytes, size_t size,
                                         const struct tacit_wire_allocator *allocator)
{
    uint8_t *const ours = wire_take(allocator, size);
    if (ours == NULL)
        return TACIT_MEMORY;
    tacit_wire_gossip_told_encode(told, arm_count, ours);
    bool const is_same = memcmp(ours, bytes, size) == 0;
    wire_give(allocator, ours);
    return is_same ? TACIT_OK : TACIT_MALFORMED;
}

enum tacit_status tacit_wire_gossip_told_decode_with(const uint8_t *bytes, size_t size,
                                                     uint32_t arm_count, uint32_t agent_count,
                                                     struct tacit_wire_gossip_told *told,
                                                     double *theta,
                                                     const struct tacit_wire_allocator *allocator)
{
    ProtobufCAllocator protobuf = wire_protobuf(allocator);
    struct tacit_wire_gossip_told found;
    if (size != tacit_wire_gossip_told_bytes(arm_count))
        return TACIT_MALFORMED;
    Tacit__V2__GossipTold *const message = tacit__v2__gossip_told__unpack(&protobuf, size, bytes);
    if (message == NULL)
        return TACIT_MALFORMED;
    enum tacit_status status = TACIT_MALFORMED;
    if (told_is_possible(message, arm_count, agent_count, &found))
        status = check_told_form(&found, arm_count, bytes, size, allocator);
    if (status == TACIT_OK) {
        memcpy(theta, found.theta, arm_count * sizeof *theta);
        found.theta = theta;
        *told = found;
    }
    tacit__v2__gossip_told__free_unpacked(message, &protobuf);
    return status;
}

/* ---- In an outbox ---- */

void tacit_wire_gossip_release_encode(const struct tacit_wire_gossip_release *release,
                                      uint8_t bytes[TACIT_WIRE_GOSSIP_RELEASE_BYTES])
{
    Tacit__V2__GossipRelease message = TACIT__V2__GOSSIP_RELEASE__INIT;
    message.arm = release->arm;
    message.pulls = release->pull_count;
    message.sum = release->steps;
    size_t const written = tacit__v2__gossip_release__pack(&message, bytes);
    TACIT_ASSERT(written == TACIT_WIRE_GOSSIP_RELEASE_BYTES);
}
