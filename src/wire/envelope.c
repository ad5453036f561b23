/* The envelope as protobuf (envelope.proto). Our own values are asserted when they are encoded; a
 * peer's bytes are refused when they are not in the one form that we write. */
#include <string.h>
#include "form.h"
#include "tacit/wire.h"
#include "envelope.pb-c.h"

void tacit_wire_run(uint64_t run_id, uint8_t run[TACIT_WIRE_RUN_BYTES])
{
    memset(run, 0, TACIT_WIRE_RUN_BYTES);
    for (unsigned i = 0; i < 8; i++)
        run[TACIT_WIRE_RUN_BYTES - 1 - i] = (uint8_t)(run_id >> (8 * i));
}

uint64_t tacit_wire_run_id(const uint8_t run[TACIT_WIRE_RUN_BYTES])
{
    uint64_t run_id = 0;
    for (unsigned i = 0; i < 8; i++)
        run_id = run_id << 8 | run[TACIT_WIRE_RUN_BYTES - 8 + i];
    return run_id;
}

/* ---- Encoding ---- */

/* What comes before the body's content, and what after it. */
static size_t bytes_before_body(const struct tacit_wire_envelope *envelope)
{
    return 3 * WIRE_FIXED32 + wire_field_bytes(strlen(envelope->federation)) +
           wire_field_bytes(TACIT_WIRE_RUN_BYTES) + wire_field_bytes(TACIT_WIRE_DIGEST_BYTES) +
           wire_field_bytes(strlen(envelope->from)) + wire_field_bytes(strlen(envelope->to)) +
           WIRE_FIXED64 + WIRE_FIXED32 + WIRE_FIXED64 + WIRE_FIXED64 + 1 +
           wire_varint_bytes(envelope->body_size);
}

static size_t signature_bytes(const struct tacit_wire_envelope *envelope)
{
    return envelope->is_signed ? TACIT_WIRE_SIGNATURE_BYTES : 0;
}

size_t tacit_wire_envelope_bytes(const struct tacit_wire_envelope *envelope)
{
    return bytes_before_body(envelope) + envelope->body_size +
           wire_field_bytes(signature_bytes(envelope));
}

static bool is_possible(const struct tacit_wire_envelope *envelope)
{
    return wire_is_name(envelope->federation) && wire_is_name(envelope->from) &&
           (envelope->to[0] == '\0' || wire_is_name(envelope->to)) && envelope->term > 0;
}

static ProtobufCBinaryData binary(const uint8_t *bytes, size_t size)
{
    return (ProtobufCBinaryData){size, (uint8_t *)(uintptr_t)bytes};
}

void tacit_wire_envelope_encode(const struct tacit_wire_envelope *envelope, uint8_t *bytes)
{
    Tacit__V2__Envelope message = TACIT__V2__ENVELOPE__INIT;
    TACIT_ASSERT(is_possible(envelope));
    TACIT_ASSERT(tacit_wire_envelope_bytes(envelope) <= TACIT_WIRE_BYTES_MAX);
    message.version = TACIT_WIRE_VERSION;
    message.family = envelope->family;
    message.kind = envelope->kind;
    message.federation = (char *)(uintptr_t)envelope->federation;
    message.run = binary(envelope->run, sizeof envelope->run);
    message.agreement = binary(envelope->agreement, sizeof envelope->agreement);
    message.from = (char *)(uintptr_t)envelope->from;
    message.to = (char *)(uintptr_t)envelope->to;
    message.term = envelope->term;
    message.epoch = envelope->epoch;
    message.sequence = envelope->sequence;
    message.entry = envelope->entry;
    message.body = binary(envelope->body, envelope->body_size);
    message.signature = binary(envelope->signature, signature_bytes(envelope));
    size_t const written = tacit__v2__envelope__pack(&message, bytes);
    TACIT_ASSERT(written == tacit_wire_envelope_bytes(envelope));
}

size_t tacit_wire_envelope_signature(const uint8_t *bytes, size_t size)
{
    static const uint8_t head[2] = {14u << 3 | 2u, TACIT_WIRE_SIGNATURE_BYTES};
    if (size <= TACIT_WIRE_SIGNATURE_FIELD_BYTES)
        return 0;
    size_t const field = size - TACIT_WIRE_SIGNATURE_FIELD_BYTES;
    return memcmp(bytes + field, head, sizeof head) == 0 ? field + sizeof head : 0;
}

/* ---- Decoding ---- */

static bool take_name(const char *from, char name[TACIT_WIRE_NAME_BYTES_MAX + 1])
{
    TACIT_ASSERT(from != NULL);
    size_t const length = strlen(from);
    if (length > TACIT_WIRE_NAME_BYTES_MAX)
        return false;
    memcpy(name, from, length + 1);
    return true;
}

static bool take_bytes(ProtobufCBinaryData from, uint8_t *bytes, size_t size)
{
    TACIT_ASSERT(size > 0);
    if (from.len != size)
        return false;
    memcpy(bytes, from.data, size);
    return true;
}

static bool take(const Tacit__V2__Envelope *message, struct tacit_wire_envelope *envelope)
{
    envelope->family = message->family;
    envelope->kind = message->kind;
    envelope->term = message->term;
    envelope->epoch = message->epoch;
    envelope->sequence = message->sequence;
    envelope->entry = message->entry;
    envelope->body = message->body.data;
    envelope->body_size = message->body.len;
    envelope->is_signed = message->signature.len > 0;
    return message->version == TACIT_WIRE_VERSION &&
           take_name(message->federation, envelope->federation) &&
           take_bytes(message->run, envelope->run, sizeof envelope->run) &&
           take_bytes(message->agreement, envelope->agreement, sizeof envelope->agreement) &&
           take_name(message->from, envelope->from) && take_name(message->to, envelope->to) &&
           (!envelope->is_signed ||
            take_bytes(message->signature, envelope->signature, sizeof envelope->signature)) &&
           is_possible(envelope);
}

enum tacit_status tacit_wire_envelope_decode(const uint8_t *bytes, size_t size,
                                             struct tacit_wire_envelope *envelope)
{
    uint64_t room[128];
    struct tacit_wire_arena arena;
    ProtobufCAllocator protobuf = wire_on_stack(&arena, room, sizeof room);
    struct tacit_wire_envelope found = {0};
    if (size == 0 || size > TACIT_WIRE_BYTES_MAX)
        return TACIT_MALFORMED;
    Tacit__V2__Envelope *const message = tacit__v2__envelope__unpack(&protobuf, size, bytes);
    if (message == NULL)
        return TACIT_MALFORMED;
    /* What was unpacked is in our form, and nothing of it is lost here. */
    bool const is_good = take(message, &found) && tacit_wire_envelope_bytes(&found) == size;
    if (is_good)
        *envelope = found;
    tacit__v2__envelope__free_unpacked(message, &protobuf);
    return is_good ? TACIT_OK : TACIT_MALFORMED;
}
