/* The envelope (envelope.proto). */
#include <string.h>
#include "tacit/wire.h"
#include "walk.h"

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

#define MESSAGE struct tacit_wire_envelope

static bool check_names(void *message)
{
    const struct tacit_wire_envelope *const envelope = message;
    return envelope->version >= TACIT_WIRE_VERSION_OLDEST &&
           envelope->version <= TACIT_WIRE_VERSION && wire_is_name(envelope->federation) &&
           wire_is_name(envelope->from) &&
           (envelope->to[0] == '\0' || wire_is_name(envelope->to)) && envelope->term > 0;
}

static const struct wire_field fields[] = {
    NUMBER(1, version, FROM(TACIT_WIRE_VERSION_OLDEST), UP_TO(TACIT_WIRE_VERSION)),
    NUMBER(2, family, ANY),
    NUMBER(3, kind, ANY),
    FIELD(4, WIRE_NAME, federation, ALWAYS),
    BYTES(5, run, ALWAYS),
    BYTES(6, agreement, ALWAYS),
    FIELD(7, WIRE_NAME, from, ALWAYS),
    FIELD(8, WIRE_NAME, to, ALWAYS),
    NUMBER(9, term, FROM(1)),
    NUMBER(10, epoch, ANY),
    NUMBER(11, sequence, ANY),
    BLOB(12, body, body_size, ANY),
    NUMBER(13, entry, ANY),
    BYTES(14, signature, COUNT(is_signed)),
};
static const struct tacit_wire_table envelopes =
    TABLE("Envelope", FIELDS(fields), .check = check_names);

size_t tacit_wire_envelope_bytes(const struct tacit_wire_envelope *envelope)
{
    return tacit_wire_bytes(&envelopes, NULL, envelope);
}

void tacit_wire_envelope_encode(const struct tacit_wire_envelope *envelope, uint8_t *bytes)
{
    TACIT_ASSERT(check_names((void *)(uintptr_t)envelope));
    tacit_wire_encode(&envelopes, NULL, envelope, bytes);
}

size_t tacit_wire_envelope_signature(const uint8_t *bytes, size_t size)
{
    static const uint8_t head[2] = {14u << 3 | 2u, TACIT_WIRE_SIGNATURE_BYTES};
    if (size <= TACIT_WIRE_SIGNATURE_FIELD_BYTES)
        return 0;
    size_t const field = size - TACIT_WIRE_SIGNATURE_FIELD_BYTES;
    return memcmp(bytes + field, head, sizeof head) == 0 ? field + sizeof head : 0;
}

uint32_t tacit_wire_envelope_version(const uint8_t *bytes, size_t size)
{
    static const uint8_t head = 1u << 3 | 5u;
    if (size < 5 || bytes[0] != head)
        return 0;
    return (uint32_t)bytes[4] << 24 | (uint32_t)bytes[3] << 16 | (uint32_t)bytes[2] << 8 | bytes[1];
}

enum tacit_status tacit_wire_envelope_decode(const uint8_t *bytes, size_t size,
                                             struct tacit_wire_envelope *envelope)
{
    struct tacit_wire_envelope found = {0};
    if (size == 0 || size > TACIT_WIRE_BYTES_MAX || !wire_read(&envelopes, bytes, size, &found))
        return TACIT_MALFORMED;
    *envelope = found;
    return TACIT_OK;
}
