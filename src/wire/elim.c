/* Messages of epoch elimination as protobuf (tacit.proto). Our own values are asserted when they
 * are encoded; a peer's bytes are refused when they do not fit this run to the letter. */
#include "tacit/wire.h"
#include "tacit.pb-c.h"
#include <stdlib.h>
#include <string.h>

/* ---- Lengths ---- */

static size_t varint_bytes(size_t value)
{
    size_t bytes = 1;
    for (; value >= 128; value >>= 7)
        bytes++;
    return bytes;
}

static size_t set_bytes(uint32_t count)
{
    return TACIT_BITS_WORDS(count) * sizeof(uint64_t);
}

/* Tag, length, content of a field whose number is below 16. */
static size_t field_bytes(size_t content)
{
    return 1 + varint_bytes(content) + content;
}

static size_t body_bytes(const struct tacit_elim_message *message, uint32_t arm_count,
                         uint32_t agent_count)
{
    size_t const sums = message->sum_count * sizeof(int64_t);
    switch (message->kind) {
    case TACIT_ELIM_HELLO:
        return 0;
    case TACIT_ELIM_ORDER:
        return (1 + 4) + (1 + 8) + (1 + 4) + field_bytes(set_bytes(arm_count)) +
               (message->uploaders == NULL ? 0 : field_bytes(set_bytes(agent_count)));
    case TACIT_ELIM_REPORT:
        return (1 + 8) + field_bytes(set_bytes(arm_count)) + field_bytes(sums);
    }
    TACIT_ASSERT(false);
    return 0;
}

size_t tacit_wire_elim_bytes(const struct tacit_elim_message *message, uint32_t arm_count,
                             uint32_t agent_count)
{
    size_t const body = body_bytes(message, arm_count, agent_count);
    return (1 + 4) + (1 + 4) + (1 + 8) + (1 + 4) + (2 + varint_bytes(body) + body);
}

/* ---- Bit sets: words in memory, bytes on the wire, lowest bit first in both ---- */

static void set_to_bytes(const uint64_t *words, uint32_t count, uint8_t *bytes)
{
    for (size_t i = 0; i < set_bytes(count); i++)
        bytes[i] = (uint8_t)(words[i / 8] >> (8 * (i % 8)));
}

static bool set_from_bytes(ProtobufCBinaryData data, uint32_t count, uint64_t *words)
{
    if (data.len != set_bytes(count))
        return false;
    memset(words, 0, data.len);
    for (size_t i = 0; i < data.len; i++)
        words[i / 8] |= (uint64_t)data.data[i] << (8 * (i % 8));
    return count % 64u == 0 || (words[TACIT_BITS_WORDS(count) - 1] >> (count % 64u)) == 0;
}

/* ---- Encoding ---- */

struct encoding {
    Tacit__V1__Envelope envelope;
    Tacit__V1__ElimHello hello;
    Tacit__V1__ElimOrder order;
    Tacit__V1__ElimReport report;
};

static void fill_order(struct encoding *encoding, const struct tacit_elim_message *message,
                       uint32_t arm_count, uint32_t agent_count, uint8_t *scratch)
{
    Tacit__V1__ElimOrder *const order = &encoding->order;
    tacit__v1__elim_order__init(order);
    order->last = message->last ? 1 : 0;
    order->pulls = message->pulls;
    order->seen = message->seen;
    order->arms = (ProtobufCBinaryData){set_bytes(arm_count), scratch};
    set_to_bytes(message->arms, arm_count, scratch);
    if (message->uploaders != NULL) {
        uint8_t *const bytes = scratch + set_bytes(arm_count);
        order->has_uploaders = 1;
        order->uploaders = (ProtobufCBinaryData){set_bytes(agent_count), bytes};
        set_to_bytes(message->uploaders, agent_count, bytes);
    }
    encoding->envelope.body_case = TACIT__V1__ENVELOPE__BODY_ELIM_ORDER;
    encoding->envelope.elim_order = order;
}

static void fill_report(struct encoding *encoding, const struct tacit_elim_message *message,
                        uint32_t arm_count, uint8_t *scratch)
{
    Tacit__V1__ElimReport *const report = &encoding->report;
    int64_t *const sums = (int64_t *)(void *)(scratch + set_bytes(arm_count));
    tacit__v1__elim_report__init(report);
    report->pulls = message->pulls;
    report->arms = (ProtobufCBinaryData){set_bytes(arm_count), scratch};
    set_to_bytes(message->arms, arm_count, scratch);
    for (uint32_t i = 0; i < message->sum_count; i++)
        sums[i] = message->sums[i].steps;
    report->n_sums = message->sum_count;
    report->sums = sums;
    encoding->envelope.body_case = TACIT__V1__ENVELOPE__BODY_ELIM_REPORT;
    encoding->envelope.elim_report = report;
}

enum tacit_status tacit_wire_elim_encode(const struct tacit_elim_message *message,
                                         uint32_t arm_count, uint32_t agent_count, uint8_t *bytes)
{
    struct encoding encoding;
    size_t const scratch_bytes =
        set_bytes(arm_count) + set_bytes(agent_count) + message->sum_count * sizeof(int64_t);
    uint8_t *const scratch = malloc(scratch_bytes);
    if (scratch == NULL)
        return TACIT_MEMORY;
    tacit__v1__envelope__init(&encoding.envelope);
    encoding.envelope.version = TACIT_WIRE_VERSION;
    encoding.envelope.from = message->from;
    encoding.envelope.run_id = message->run_id;
    encoding.envelope.epoch = message->epoch;
    if (message->kind == TACIT_ELIM_ORDER) {
        fill_order(&encoding, message, arm_count, agent_count, scratch);
    } else if (message->kind == TACIT_ELIM_REPORT) {
        fill_report(&encoding, message, arm_count, scratch);
    } else {
        tacit__v1__elim_hello__init(&encoding.hello);
        encoding.envelope.body_case = TACIT__V1__ENVELOPE__BODY_ELIM_HELLO;
        encoding.envelope.elim_hello = &encoding.hello;
    }
    size_t const written = tacit__v1__envelope__pack(&encoding.envelope, bytes);
    TACIT_ASSERT(written == tacit_wire_elim_bytes(message, arm_count, agent_count));
    free(scratch);
    return TACIT_OK;
}

/* ---- Decoding ---- */

/* The parts of a decoded message, before they are put into one block. */
struct parts {
    struct tacit_elim_message message;
    uint64_t *arms;
    uint64_t *uploaders;
    union tacit_sum *sums;
};

static bool take_order(const Tacit__V1__ElimOrder *order, uint32_t arm_count, uint32_t agent_count,
                       struct parts *parts)
{
    parts->message.kind = TACIT_ELIM_ORDER;
    parts->message.last = order->last == 1;
    parts->message.pulls = order->pulls;
    parts->message.seen = order->seen;
    parts->message.arms = parts->arms;
    if (order->last > 1 || !set_from_bytes(order->arms, arm_count, parts->arms))
        return false;
    if (!order->has_uploaders)
        return true;
    parts->message.uploaders = parts->uploaders;
    return set_from_bytes(order->uploaders, agent_count, parts->uploaders);
}

static bool take_report(const Tacit__V1__ElimReport *report, uint32_t arm_count,
                        struct parts *parts)
{
    if (report->n_sums == 0 || report->n_sums > arm_count ||
        !set_from_bytes(report->arms, arm_count, parts->arms) ||
        tacit_bits_count(parts->arms, arm_count) != report->n_sums)
        return false;
    parts->message.kind = TACIT_ELIM_REPORT;
    parts->message.pulls = report->pulls;
    parts->message.arms = parts->arms;
    parts->message.sum_count = (uint32_t)report->n_sums;
    parts->message.sums = parts->sums;
    for (size_t i = 0; i < report->n_sums; i++)
        parts->sums[i].steps = report->sums[i];
    return true;
}

static bool take_envelope(const Tacit__V1__Envelope *envelope, uint32_t arm_count,
                          uint32_t agent_count, struct parts *parts)
{
    if (envelope->version != TACIT_WIRE_VERSION || envelope->epoch > TACIT_ELIM_EPOCHS_MAX ||
        (envelope->from != TACIT_ELIM_HUB && envelope->from >= agent_count))
        return false;
    parts->message.from = envelope->from;
    parts->message.run_id = envelope->run_id;
    parts->message.epoch = envelope->epoch;
    switch (envelope->body_case) {
    case TACIT__V1__ENVELOPE__BODY_ELIM_HELLO:
        parts->message.kind = TACIT_ELIM_HELLO;
        return true;
    case TACIT__V1__ENVELOPE__BODY_ELIM_ORDER:
        return take_order(envelope->elim_order, arm_count, agent_count, parts);
    case TACIT__V1__ENVELOPE__BODY_ELIM_REPORT:
        return take_report(envelope->elim_report, arm_count, parts);
    case TACIT__V1__ENVELOPE__BODY__NOT_SET:
    default: /* an enumeration that a peer fills */
        return false;
    }
}

/* Our encoding has one form. Another length means repeated, unknown or trailing fields; the same
 * length with other bytes means fields in another order or numbers in a longer form. */
static enum tacit_status check_form(const struct tacit_elim_message *message, uint32_t arm_count,
                                    uint32_t agent_count, const uint8_t *bytes, size_t size)
{
    if (tacit_wire_elim_bytes(message, arm_count, agent_count) != size)
        return TACIT_MALFORMED;
    uint8_t *const ours = malloc(size);
    if (ours == NULL)
        return TACIT_MEMORY;
    enum tacit_status status = tacit_wire_elim_encode(message, arm_count, agent_count, ours);
    if (status == TACIT_OK && memcmp(ours, bytes, size) != 0)
        status = TACIT_MALFORMED;
    free(ours);
    return status;
}

static enum tacit_status assemble(const struct parts *parts, uint32_t arm_count,
                                  uint32_t agent_count, struct tacit_elim_message **message)
{
    void *const block = malloc(tacit_elim_message_size(&parts->message, arm_count, agent_count));
    if (block == NULL)
        return TACIT_MEMORY;
    (void)tacit_elim_message_copy(&parts->message, arm_count, agent_count, block);
    *message = block;
    return TACIT_OK;
}

enum tacit_status tacit_wire_elim_decode(const uint8_t *bytes, size_t size, uint32_t arm_count,
                                         uint32_t agent_count, uint32_t to,
                                         struct tacit_elim_message **message)
{
    if (size == 0 || size > TACIT_WIRE_BYTES_MAX)
        return TACIT_MALFORMED;
    Tacit__V1__Envelope *const envelope = tacit__v1__envelope__unpack(NULL, size, bytes);
    if (envelope == NULL)
        return TACIT_MALFORMED;
    size_t const arm_words = TACIT_BITS_WORDS(arm_count);
    size_t const agent_words = TACIT_BITS_WORDS(agent_count);
    uint64_t *const words = malloc((arm_words + agent_words + arm_count) * sizeof(uint64_t));
    struct parts parts = {.arms = words};
    enum tacit_status status = TACIT_MEMORY;
    if (words != NULL) {
        parts.uploaders = words + arm_words;
        parts.sums = (union tacit_sum *)(words + arm_words + agent_words);
        parts.message.to = to;
        status = TACIT_MALFORMED;
        if (take_envelope(envelope, arm_count, agent_count, &parts))
            status = check_form(&parts.message, arm_count, agent_count, bytes, size);
        if (status == TACIT_OK)
            status = assemble(&parts, arm_count, agent_count, message);
    }
    free(words);
    tacit__v1__envelope__free_unpacked(envelope, NULL);
    return status;
}
