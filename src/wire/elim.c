/* Messages of epoch elimination as protobuf (elim.proto). Our own values are asserted when they
 * are encoded; a peer's bytes are refused when they do not fit this run to the letter. */
#include <string.h>
#include "form.h"
#include "tacit/wire_elim.h"
#include "elim.pb-c.h"

/* ---- Lengths ---- */

#define CHANGE_BYTES (3u * WIRE_FIXED32 + 2u * WIRE_FIXED64)
#define OPENING_BYTES (2u * TACIT_SHA256_BYTES) /* of a row: what it follows, and its salt */
#define SUBJECTS_BYTES (2u * TACIT_SHA256_BYTES)
#define SEALS_BYTES (2u * TACIT_ELIM_SEAL_BYTES)
#define HASH_FIELD (1u + 1u + TACIT_SHA256_BYTES) /* tag, length, a commitment or a salt */

static uint8_t set_byte(const uint64_t *words, size_t index)
{
    TACIT_ASSERT(words != NULL);
    return (uint8_t)(words[index / 8] >> (8 * (index % 8)));
}

/* The bytes of a set from that of its lowest member to that of its highest. */
struct span {
    size_t first;
    size_t count; /* 0: no members */
};

static struct span span_of(const uint64_t *set, uint32_t agent_count)
{
    TACIT_ASSERT(agent_count > 0);
    uint32_t const lowest = tacit_bits_next(set, agent_count, 0);
    if (lowest == agent_count)
        return (struct span){0, 0};
    size_t words = TACIT_BITS_WORDS(agent_count);
    while (set[words - 1] == 0)
        words--;
    size_t end = words * sizeof(uint64_t);
    while (set_byte(set, end - 1) == 0)
        end--;
    return (struct span){lowest / 8, end - lowest / 8};
}

static size_t origins_bytes(const uint64_t *origins, uint32_t agent_count)
{
    TACIT_ASSERT(origins != NULL);
    return (1 + 4) + wire_field_bytes(span_of(origins, agent_count).count);
}

/* Of DATA: room for what opens its rows, and their seals. */
static size_t opening_bytes(const struct tacit_elim_message *message, uint32_t agent_count)
{
    return message->openings == NULL ? 0
                                     : tacit_bits_count(message->origins, agent_count) *
                                           (OPENING_BYTES + TACIT_ELIM_SEAL_BYTES);
}

static size_t data_bytes(const struct tacit_wire_elim_rows *rows, uint32_t arm_count)
{
    size_t const seals = rows->has_seals ? rows->row_count * TACIT_ELIM_SEAL_BYTES : 0;
    return (1 + 8) + wire_field_bytes(wire_set_bytes(arm_count)) + (1 + 4) +
           wire_field_bytes(rows->span_bytes) +
           (rows->sum_count == 0
                ? 0 /* of confirmations */
                : wire_field_bytes(rows->row_count * rows->sum_count * sizeof(int64_t))) +
           (rows->has_openings
                ? wire_field_bytes(rows->row_count * OPENING_BYTES) + wire_field_bytes(seals)
                : 0);
}

/* What a peer says that it holds. */
static size_t history_bytes(const struct tacit_elim_message *message)
{
    return message->has_history ? (1 + 4) + HASH_FIELD : 0;
}

/* A report of its sender alone opens its commitment; a total names it. */
static size_t report_commit_bytes(const struct tacit_elim_message *report)
{
    if (report->commit == NULL)
        return 0;
    return report->agents > 1 ? HASH_FIELD : 2 * HASH_FIELD;
}

/* Numbers in the message: a row of sums an origin in DATA. */
static size_t number_count(const struct tacit_elim_message *message, uint32_t agent_count)
{
    if (message->kind != TACIT_ELIM_DATA)
        return message->sum_count;
    return (size_t)tacit_bits_count(message->origins, agent_count) * message->sum_count;
}

static size_t refused_bytes(const struct tacit_elim_message *message, uint32_t arm_count)
{
    return message->refused == NULL ? 0 : wire_field_bytes(wire_set_bytes(arm_count));
}

static size_t body_bytes(const struct tacit_elim_message *message, uint32_t arm_count,
                         uint32_t agent_count)
{
    TACIT_ASSERT(arm_count > 0);
    TACIT_ASSERT(agent_count > 0);
    size_t const arms = wire_field_bytes(wire_set_bytes(arm_count));
    switch (message->kind) {
    case TACIT_ELIM_HELLO:
        return (message->origins == NULL ? 0 : origins_bytes(message->origins, agent_count)) +
               history_bytes(message) + (message->commit == NULL ? 0 : HASH_FIELD) +
               refused_bytes(message, arm_count);
    case TACIT_ELIM_ORDER:
        return (1 + 4) + (1 + 8) + (1 + 4) + arms +
               (message->uploaders == NULL ? 0 : wire_field_bytes(wire_set_bytes(agent_count))) +
               (message->leader == 0 ? 0 : 1 + 4) +
               message->change_count * wire_field_bytes(CHANGE_BYTES);
    case TACIT_ELIM_REPORT:
        return (1 + 8) + arms + wire_field_bytes(message->sum_count * sizeof(int64_t)) +
               (message->agents == 0 ? 0 : 1 + 4) + report_commit_bytes(message);
    case TACIT_ELIM_ADVERT:
    case TACIT_ELIM_REQUEST:
        return origins_bytes(message->origins, agent_count) + history_bytes(message);
    case TACIT_ELIM_DATA:
        return history_bytes(message) +
               data_bytes(
                   &(struct tacit_wire_elim_rows){
                       .span_bytes = span_of(message->origins, agent_count).count,
                       .row_count = tacit_bits_count(message->origins, agent_count),
                       .sum_count = message->sum_count,
                       .has_openings = message->openings != NULL,
                       .has_seals = message->is_sealed},
                   arm_count);
    case TACIT_ELIM_COMMIT:
        return 2 * HASH_FIELD + refused_bytes(message, arm_count);
    case TACIT_ELIM_GRANT:
        return HASH_FIELD + (1 + 4);
    case TACIT_ELIM_REFUSAL:
        return HASH_FIELD + (1 + 4);
    case TACIT_ELIM_PROOF:
        return (1 + 4) + wire_field_bytes(SUBJECTS_BYTES) + wire_field_bytes(SEALS_BYTES);
    }
    TACIT_ASSERT(false);
    return 0;
}

static size_t with_head(size_t body)
{
    return (1 + 4) + (1 + 4) + (1 + 8) + (1 + 4) + (2 + wire_varint_bytes(body) + body);
}

size_t tacit_wire_elim_bytes(const struct tacit_elim_message *message, uint32_t arm_count,
                             uint32_t agent_count)
{
    return with_head(body_bytes(message, arm_count, agent_count));
}

size_t tacit_wire_elim_rows_bytes(enum tacit_elim_message_kind kind,
                                  const struct tacit_wire_elim_rows *rows, uint32_t arm_count)
{
    TACIT_ASSERT(kind == TACIT_ELIM_ADVERT || kind == TACIT_ELIM_REQUEST ||
                 kind == TACIT_ELIM_DATA);
    if (kind == TACIT_ELIM_DATA)
        return with_head(data_bytes(rows, arm_count));
    return with_head((1 + 4) + wire_field_bytes(rows->span_bytes));
}

/* ---- Bit sets: words in memory, bytes on the wire, lowest bit first in both ---- */

static void span_to_bytes(const uint64_t *words, struct span span, uint8_t *bytes)
{
    TACIT_ASSERT(span.count == 0 || words != NULL);
    for (size_t i = 0; i < span.count; i++)
        bytes[i] = set_byte(words, span.first + i);
}

/* Takes a set whose bytes begin at that of member `first`; false if a member is beyond the last. */
static bool span_from_bytes(size_t first, ProtobufCBinaryData data, uint32_t count, uint64_t *words)
{
    TACIT_ASSERT(count > 0);
    size_t const room = wire_set_bytes(count);
    memset(words, 0, room);
    if (first / 8 > room || data.len > room - first / 8)
        return false;
    for (size_t i = 0; i < data.len; i++) {
        size_t const byte = first / 8 + i;
        words[byte / 8] |= (uint64_t)data.data[i] << (8 * (byte % 8));
    }
    return tacit_bits_within(words, words, count);
}

static bool set_from_bytes(ProtobufCBinaryData data, uint32_t count, uint64_t *words)
{
    return data.len == wire_set_bytes(count) && span_from_bytes(0, data, count, words);
}

static bool origins_from_bytes(uint32_t first, ProtobufCBinaryData data, uint32_t agent_count,
                               uint64_t *words)
{
    bool const is_short =
        data.len == 0 ? first == 0 : data.data[0] != 0 && data.data[data.len - 1] != 0;
    return is_short && first % 8 == 0 && span_from_bytes(first, data, agent_count, words);
}

/* ---- Encoding ---- */

struct encoding {
    const struct tacit_elim_message *message;
    uint32_t arm_count;
    uint32_t agent_count;
    Tacit__V2__ElimMessage head;
    union {
        Tacit__V2__ElimHello hello;
        Tacit__V2__ElimOrder order;
        Tacit__V2__ElimReport report;
        Tacit__V2__ElimAdvert advert;
        Tacit__V2__ElimRequest request;
        Tacit__V2__ElimData data;
        Tacit__V2__ElimCommit commit;
        Tacit__V2__ElimGrant grant;
        Tacit__V2__ElimRefusal refusal;
        Tacit__V2__ElimProof proof;
    } body;
    uint8_t *arms;     /* room for a set of arms, .. */
    uint8_t *agents;   /* .. for one of agents, .. */
    int64_t *sums;     /* .. for all numbers, .. */
    uint8_t *openings; /* .. and for what opens them, and their seals */
    Tacit__V2__ElimChange changes[TACIT_ELIM_CHANGES_MAX];
    Tacit__V2__ElimChange *change_list[TACIT_ELIM_CHANGES_MAX];
};

static ProtobufCBinaryData arms_of(const struct encoding *encoding)
{
    TACIT_ASSERT(encoding->message->arms != NULL);
    struct span const all = {0, wire_set_bytes(encoding->arm_count)};
    span_to_bytes(encoding->message->arms, all, encoding->arms);
    return (ProtobufCBinaryData){all.count, encoding->arms};
}

static ProtobufCBinaryData uploaders_of(const struct encoding *encoding)
{
    TACIT_ASSERT(encoding->message->uploaders != NULL);
    struct span const all = {0, wire_set_bytes(encoding->agent_count)};
    span_to_bytes(encoding->message->uploaders, all, encoding->agents);
    return (ProtobufCBinaryData){all.count, encoding->agents};
}

static ProtobufCBinaryData origins_of(const struct encoding *encoding, uint32_t *first)
{
    TACIT_ASSERT(encoding->message->origins != NULL);
    const uint64_t *const origins = encoding->message->origins;
    TACIT_ASSERT(tacit_bits_within(origins, origins, encoding->agent_count));
    struct span const span = span_of(origins, encoding->agent_count);
    TACIT_ASSERT(span.count > 0 || encoding->message->kind == TACIT_ELIM_HELLO);
    span_to_bytes(origins, span, encoding->agents);
    *first = (uint32_t)span.first * 8;
    return (ProtobufCBinaryData){span.count, encoding->agents};
}

/* The row of the origin with this number and rank (tacit/elim.h, row_stride). */
static const union tacit_sum *row_of(const struct tacit_elim_message *message, uint32_t origin,
                                     uint32_t rank)
{
    TACIT_ASSERT(message->sums != NULL);
    TACIT_ASSERT(rank <= origin);
    return message->sums + (message->row_stride > 0 ? (size_t)origin * message->row_stride
                                                    : (size_t)rank * message->sum_count);
}

static void write_row(const union tacit_sum *row, uint32_t sum_count, int64_t *sums)
{
    for (uint32_t i = 0; i < sum_count; i++)
        sums[i] = row[i].steps;
}

static ProtobufCBinaryData hash_of(const uint8_t *bytes)
{
    TACIT_ASSERT(bytes != NULL);
    return (ProtobufCBinaryData){TACIT_SHA256_BYTES, (uint8_t *)(uintptr_t)bytes};
}

static ProtobufCBinaryData refused_of(const struct encoding *encoding)
{
    TACIT_ASSERT(encoding->message->refused != NULL);
    struct span const all = {0, wire_set_bytes(encoding->arm_count)};
    span_to_bytes(encoding->message->refused, all, encoding->arms);
    return (ProtobufCBinaryData){all.count, encoding->arms};
}

static void fill_changes(struct encoding *encoding)
{
    struct tacit_elim_message const *const message = encoding->message;
    TACIT_ASSERT(message->change_count <= TACIT_ELIM_CHANGES_MAX);
    for (uint32_t i = 0; i < message->change_count; i++) {
        Tacit__V2__ElimChange *const change = &encoding->changes[i];
        tacit__v2__elim_change__init(change);
        change->kind = message->changes[i].kind;
        change->epoch = message->changes[i].epoch;
        change->subject = message->changes[i].subject;
        change->value = message->changes[i].value;
        change->made_unix_s = message->changes[i].made_unix_s;
        TACIT_ASSERT(message->changes[i].number == i + 1);
        encoding->change_list[i] = change;
    }
    encoding->body.order.n_changes = message->change_count;
    encoding->body.order.changes = encoding->change_list;
}

/* Of a sender that confirms it is odd. */
static uint32_t rounds_of(const struct tacit_elim_message *message)
{
    return 2 * message->history.rounds + (message->history.is_last ? 1 : 0);
}

static void fill_hello(struct encoding *encoding)
{
    Tacit__V2__ElimHello *const hello = &encoding->body.hello;
    tacit__v2__elim_hello__init(hello);
    if (encoding->message->origins != NULL) {
        hello->has_origins_first = 1;
        hello->has_origins = 1;
        hello->origins = origins_of(encoding, &hello->origins_first);
    }
    if (encoding->message->has_history) {
        hello->has_rounds = hello->has_history = 1;
        hello->rounds = rounds_of(encoding->message);
        hello->history = hash_of(encoding->message->history.digest);
    }
    if (encoding->message->commit != NULL) {
        hello->has_head = 1;
        hello->head = hash_of(encoding->message->commit->commitment);
    }
    if (encoding->message->refused != NULL) {
        hello->has_refused = 1;
        hello->refused = refused_of(encoding);
    }
    encoding->head.body_case = TACIT__V2__ELIM_MESSAGE__BODY_ELIM_HELLO;
    encoding->head.elim_hello = hello;
}

static void fill_order(struct encoding *encoding)
{
    Tacit__V2__ElimOrder *const order = &encoding->body.order;
    tacit__v2__elim_order__init(order);
    order->last = encoding->message->last ? 1 : 0;
    order->pulls = encoding->message->pulls;
    order->seen = encoding->message->seen;
    order->arms = arms_of(encoding);
    order->has_leader = encoding->message->leader > 0;
    order->leader = encoding->message->leader;
    if (encoding->message->uploaders != NULL) {
        order->has_uploaders = 1;
        order->uploaders = uploaders_of(encoding);
    }
    fill_changes(encoding);
    encoding->head.body_case = TACIT__V2__ELIM_MESSAGE__BODY_ELIM_ORDER;
    encoding->head.elim_order = order;
}

static void fill_report(struct encoding *encoding)
{
    TACIT_ASSERT(encoding->message->sums != NULL);
    const struct tacit_elim_message *const message = encoding->message;
    Tacit__V2__ElimReport *const report = &encoding->body.report;
    tacit__v2__elim_report__init(report);
    report->pulls = message->pulls;
    report->arms = arms_of(encoding);
    write_row(message->sums, message->sum_count, encoding->sums);
    report->n_sums = message->sum_count;
    report->sums = encoding->sums;
    TACIT_ASSERT(message->agents <= encoding->agent_count);
    report->has_agents = message->agents > 0;
    report->agents = message->agents;
    if (message->commit != NULL && message->agents > 1) {
        report->has_head = 1;
        report->head = hash_of(message->commit->commitment);
    } else if (message->commit != NULL) {
        report->has_previous = report->has_salt = 1;
        report->previous = hash_of(message->commit->previous);
        report->salt = hash_of(message->commit->salt);
    }
    encoding->head.body_case = TACIT__V2__ELIM_MESSAGE__BODY_ELIM_REPORT;
    encoding->head.elim_report = report;
}

static void fill_advert(struct encoding *encoding)
{
    Tacit__V2__ElimAdvert *const advert = &encoding->body.advert;
    tacit__v2__elim_advert__init(advert);
    advert->origins = origins_of(encoding, &advert->origins_first);
    advert->has_rounds = advert->has_history = encoding->message->has_history;
    advert->rounds = rounds_of(encoding->message);
    advert->history = hash_of(encoding->message->history.digest);
    encoding->head.body_case = TACIT__V2__ELIM_MESSAGE__BODY_ELIM_ADVERT;
    encoding->head.elim_advert = advert;
}

static void fill_request(struct encoding *encoding)
{
    Tacit__V2__ElimRequest *const request = &encoding->body.request;
    tacit__v2__elim_request__init(request);
    request->origins = origins_of(encoding, &request->origins_first);
    request->has_rounds = request->has_history = encoding->message->has_history;
    request->rounds = rounds_of(encoding->message);
    request->history = hash_of(encoding->message->history.digest);
    encoding->head.body_case = TACIT__V2__ELIM_MESSAGE__BODY_ELIM_REQUEST;
    encoding->head.elim_request = request;
}

/* In the order of the rows: what opens them, then their seals. */
static void fill_openings(struct encoding *encoding, Tacit__V2__ElimData *data)
{
    TACIT_ASSERT(encoding->message->openings != NULL);
    const struct tacit_elim_message *const message = encoding->message;
    uint32_t const agents = encoding->agent_count;
    size_t const rows = tacit_bits_count(message->origins, agents);
    uint8_t *const seals = encoding->openings + rows * OPENING_BYTES;
    uint32_t rank = 0;
    for (uint32_t origin = tacit_bits_next(message->origins, agents, 0); origin < agents;
         origin = tacit_bits_next(message->origins, agents, origin + 1)) {
        struct tacit_elim_opening const *const opening =
            &message->openings[message->row_stride > 0 ? origin : rank];
        uint8_t *const bytes = encoding->openings + rank * OPENING_BYTES;
        memcpy(bytes, opening->previous, TACIT_SHA256_BYTES);
        memcpy(bytes + TACIT_SHA256_BYTES, opening->salt, TACIT_SHA256_BYTES);
        memcpy(seals + rank * TACIT_ELIM_SEAL_BYTES, opening->seal, TACIT_ELIM_SEAL_BYTES);
        rank++;
    }
    data->has_openings = data->has_signatures = 1;
    data->openings = (ProtobufCBinaryData){rows * OPENING_BYTES, encoding->openings};
    data->signatures =
        (ProtobufCBinaryData){message->is_sealed ? rows * TACIT_ELIM_SEAL_BYTES : 0, seals};
}

static void fill_data(struct encoding *encoding)
{
    TACIT_ASSERT(encoding->message->sums != NULL || encoding->message->sum_count == 0);
    const struct tacit_elim_message *const message = encoding->message;
    uint32_t const agents = encoding->agent_count;
    Tacit__V2__ElimData *const data = &encoding->body.data;
    uint32_t rank = 0;
    tacit__v2__elim_data__init(data);
    data->pulls = message->pulls;
    data->arms = arms_of(encoding);
    data->origins = origins_of(encoding, &data->origins_first);
    for (uint32_t origin = tacit_bits_next(message->origins, agents, 0); origin < agents;
         origin = tacit_bits_next(message->origins, agents, origin + 1)) {
        if (message->sum_count > 0)
            write_row(row_of(message, origin, rank), message->sum_count,
                      encoding->sums + (size_t)rank * message->sum_count);
        rank++;
    }
    data->n_sums = (size_t)rank * message->sum_count;
    data->sums = encoding->sums;
    if (message->openings != NULL)
        fill_openings(encoding, data);
    data->has_rounds = data->has_history = message->has_history;
    data->rounds = rounds_of(message);
    data->history = hash_of(message->history.digest);
    encoding->head.body_case = TACIT__V2__ELIM_MESSAGE__BODY_ELIM_DATA;
    encoding->head.elim_data = data;
}

static void fill_commit(struct encoding *encoding)
{
    TACIT_ASSERT(encoding->message->commit != NULL);
    Tacit__V2__ElimCommit *const commit = &encoding->body.commit;
    tacit__v2__elim_commit__init(commit);
    commit->commitment = hash_of(encoding->message->commit->commitment);
    commit->previous = hash_of(encoding->message->commit->previous);
    if (encoding->message->refused != NULL) {
        commit->has_refused = 1;
        commit->refused = refused_of(encoding);
    }
    encoding->head.body_case = TACIT__V2__ELIM_MESSAGE__BODY_ELIM_COMMIT;
    encoding->head.elim_commit = commit;
}

static void fill_grant(struct encoding *encoding)
{
    TACIT_ASSERT(encoding->message->commit != NULL);
    Tacit__V2__ElimGrant *const grant = &encoding->body.grant;
    tacit__v2__elim_grant__init(grant);
    grant->commitment = hash_of(encoding->message->commit->commitment);
    grant->closed = encoding->message->closed ? 1 : 0;
    encoding->head.body_case = TACIT__V2__ELIM_MESSAGE__BODY_ELIM_GRANT;
    encoding->head.elim_grant = grant;
}

static void fill_refusal(struct encoding *encoding)
{
    TACIT_ASSERT(encoding->message->commit != NULL);
    Tacit__V2__ElimRefusal *const refusal = &encoding->body.refusal;
    tacit__v2__elim_refusal__init(refusal);
    refusal->head = hash_of(encoding->message->commit->commitment);
    refusal->forgot = encoding->message->forgot ? 1 : 0;
    encoding->head.body_case = TACIT__V2__ELIM_MESSAGE__BODY_ELIM_REFUSAL;
    encoding->head.elim_refusal = refusal;
}

static void fill_proof(struct encoding *encoding)
{
    TACIT_ASSERT(encoding->message->proof != NULL);
    struct tacit_elim_proof const *const proof = encoding->message->proof;
    Tacit__V2__ElimProof *const made = &encoding->body.proof;
    tacit__v2__elim_proof__init(made);
    made->agent = proof->agent;
    made->subjects = (ProtobufCBinaryData){SUBJECTS_BYTES, (uint8_t *)(uintptr_t)proof->subjects};
    made->seals = (ProtobufCBinaryData){SEALS_BYTES, (uint8_t *)(uintptr_t)proof->seals};
    encoding->head.body_case = TACIT__V2__ELIM_MESSAGE__BODY_ELIM_PROOF;
    encoding->head.elim_proof = made;
}

static void fill_body(struct encoding *encoding)
{
    switch (encoding->message->kind) {
    case TACIT_ELIM_HELLO:
        fill_hello(encoding);
        return;
    case TACIT_ELIM_ORDER:
        fill_order(encoding);
        return;
    case TACIT_ELIM_REPORT:
        fill_report(encoding);
        return;
    case TACIT_ELIM_ADVERT:
        fill_advert(encoding);
        return;
    case TACIT_ELIM_REQUEST:
        fill_request(encoding);
        return;
    case TACIT_ELIM_DATA:
        fill_data(encoding);
        return;
    case TACIT_ELIM_COMMIT:
        fill_commit(encoding);
        return;
    case TACIT_ELIM_GRANT:
        fill_grant(encoding);
        return;
    case TACIT_ELIM_REFUSAL:
        fill_refusal(encoding);
        return;
    case TACIT_ELIM_PROOF:
        fill_proof(encoding);
        return;
    }
    TACIT_ASSERT(false);
}

enum tacit_status tacit_wire_elim_encode_with(const struct tacit_elim_message *message,
                                              uint32_t arm_count, uint32_t agent_count,
                                              uint8_t *bytes,
                                              const struct tacit_wire_allocator *allocator)
{
    size_t const size = tacit_wire_elim_bytes(message, arm_count, agent_count);
    TACIT_ASSERT(size <= TACIT_WIRE_BYTES_MAX);
    size_t const sums = number_count(message, agent_count) * sizeof(int64_t);
    uint8_t *const scratch =
        wire_take(allocator, wire_set_bytes(arm_count) + wire_set_bytes(agent_count) + sums +
                                 opening_bytes(message, agent_count));
    if (scratch == NULL)
        return TACIT_MEMORY;
    struct encoding encoding = {
        .message = message, .arm_count = arm_count, .agent_count = agent_count};
    encoding.arms = scratch;
    encoding.agents = encoding.arms + wire_set_bytes(arm_count);
    encoding.sums = (int64_t *)(void *)(encoding.agents + wire_set_bytes(agent_count));
    encoding.openings = (uint8_t *)encoding.sums + sums;
    tacit__v2__elim_message__init(&encoding.head);
    encoding.head.version = TACIT_WIRE_ELIM_VERSION;
    encoding.head.from = message->from;
    encoding.head.run_id = message->run_id;
    encoding.head.epoch = message->epoch;
    fill_body(&encoding);
    size_t const written = tacit__v2__elim_message__pack(&encoding.head, bytes);
    TACIT_ASSERT(written == size);
    wire_give(allocator, scratch);
    return TACIT_OK;
}

/* ---- Decoding ---- */

/* A decoded message that still points into what was unpacked, and its sets. */
struct parts {
    struct tacit_elim_message message;
    uint32_t arm_count;
    uint32_t agent_count;
    uint64_t *arms;
    uint64_t *agents;
    struct tacit_commit commit;
    struct tacit_elim_proof proof;
    struct tacit_elim_opening *openings; /* room for those of DATA */
    struct tacit_elim_change changes[TACIT_ELIM_CHANGES_MAX];
};

/* Takes 32 bytes into a part of the commit, which the message has from now on. */
static bool take_hash(ProtobufCBinaryData data, uint8_t *hash, struct parts *parts)
{
    parts->message.commit = &parts->commit;
    return wire_copy_exact(data, hash, TACIT_SHA256_BYTES);
}

static bool take_arms(ProtobufCBinaryData data, struct parts *parts)
{
    parts->message.arms = parts->arms;
    return set_from_bytes(data, parts->arm_count, parts->arms);
}

static bool take_origins(uint32_t first, ProtobufCBinaryData data, struct parts *parts)
{
    parts->message.origins = parts->agents;
    return origins_from_bytes(first, data, parts->agent_count, parts->agents);
}

static bool take_some_origins(uint32_t first, ProtobufCBinaryData data, struct parts *parts)
{
    return data.len > 0 && take_origins(first, data, parts);
}

/* Takes as many rows of sums as are wanted, one sum an active arm. */
static bool take_sums(const int64_t *sums, size_t count, uint32_t row_count, struct parts *parts)
{
    _Static_assert(sizeof(union tacit_sum) == sizeof *sums, "a sum in steps is read where it is");
    parts->message.sum_count = tacit_bits_count(parts->arms, parts->arm_count);
    parts->message.sums = (const union tacit_sum *)sums;
    return count > 0 && count == (uint64_t)row_count * parts->message.sum_count;
}

/* Both or none: what its sender holds. */
static bool take_history(bool has_rounds, uint32_t rounds, bool has_digest,
                         ProtobufCBinaryData digest, struct parts *parts)
{
    parts->message.has_history = has_rounds;
    parts->message.history.rounds = has_rounds ? rounds / 2 : 0;
    parts->message.history.is_last = has_rounds && rounds % 2 == 1;
    return has_rounds == has_digest &&
           (!has_digest ||
            wire_copy_exact(digest, parts->message.history.digest, TACIT_SHA256_BYTES));
}

/* Not empty, and in the room of the active arms, which these messages do not have. */
static bool take_refused(ProtobufCBinaryData data, struct parts *parts)
{
    parts->message.refused = parts->arms;
    return set_from_bytes(data, parts->arm_count, parts->arms) &&
           tacit_bits_next(parts->arms, parts->arm_count, 0) < parts->arm_count;
}

/* Whether they make sense in this run is for the core to say. */
static bool take_changes(const Tacit__V2__ElimOrder *order, struct parts *parts)
{
    if (order->n_changes > TACIT_ELIM_CHANGES_MAX)
        return false;
    for (uint32_t i = 0; i < order->n_changes; i++)
        parts->changes[i] =
            (struct tacit_elim_change){.kind = order->changes[i]->kind,
                                       .epoch = order->changes[i]->epoch,
                                       .subject = order->changes[i]->subject,
                                       .number = i + 1,
                                       .value = order->changes[i]->value,
                                       .made_unix_s = order->changes[i]->made_unix_s};
    parts->message.change_count = (uint32_t)order->n_changes;
    parts->message.changes = order->n_changes > 0 ? parts->changes : NULL;
    return true;
}

static bool take_hello(const Tacit__V2__ElimHello *hello, struct parts *parts)
{
    parts->message.kind = TACIT_ELIM_HELLO;
    if (hello->has_origins_first != hello->has_origins ||
        !take_history(hello->has_rounds, hello->rounds, hello->has_history, hello->history, parts))
        return false;
    if (hello->has_refused && !take_refused(hello->refused, parts))
        return false;
    if (hello->has_head && !take_hash(hello->head, parts->commit.commitment, parts))
        return false;
    return !hello->has_origins || take_origins(hello->origins_first, hello->origins, parts);
}

static bool take_order(const Tacit__V2__ElimOrder *order, struct parts *parts)
{
    parts->message.kind = TACIT_ELIM_ORDER;
    parts->message.last = order->last == 1;
    parts->message.pulls = order->pulls;
    parts->message.seen = order->seen;
    parts->message.leader = order->has_leader ? order->leader : 0;
    if (order->last > 1 || !take_arms(order->arms, parts) || !take_changes(order, parts))
        return false;
    if (order->has_leader && (order->leader == 0 || order->leader > parts->arm_count ||
                              !tacit_bits_has(parts->message.arms, order->leader - 1)))
        return false;
    if (!order->has_uploaders)
        return true;
    parts->message.uploaders = parts->agents;
    return set_from_bytes(order->uploaders, parts->agent_count, parts->agents);
}

static bool take_report(const Tacit__V2__ElimReport *report, struct parts *parts)
{
    parts->message.kind = TACIT_ELIM_REPORT;
    parts->message.pulls = report->pulls;
    if (report->has_agents) {
        parts->message.agents = report->agents;
        if (report->agents == 0 || report->agents > parts->agent_count)
            return false;
    }
    if (report->has_head && (report->agents < 2 || report->has_salt ||
                             !take_hash(report->head, parts->commit.commitment, parts)))
        return false;
    if (report->has_previous != report->has_salt || (report->has_salt && report->agents > 1) ||
        (report->has_salt && (!take_hash(report->previous, parts->commit.previous, parts) ||
                              !take_hash(report->salt, parts->commit.salt, parts))))
        return false;
    return take_arms(report->arms, parts) && take_sums(report->sums, report->n_sums, 1, parts);
}

static bool take_advert(const Tacit__V2__ElimAdvert *advert, struct parts *parts)
{
    parts->message.kind = TACIT_ELIM_ADVERT;
    return take_history(advert->has_rounds, advert->rounds, advert->has_history, advert->history,
                        parts) &&
           take_some_origins(advert->origins_first, advert->origins, parts);
}

static bool take_request(const Tacit__V2__ElimRequest *request, struct parts *parts)
{
    parts->message.kind = TACIT_ELIM_REQUEST;
    return take_history(request->has_rounds, request->rounds, request->has_history,
                        request->history, parts) &&
           take_some_origins(request->origins_first, request->origins, parts);
}

/* What opens the rows, and their seals, which are there of all or of none. */
static bool take_openings(const Tacit__V2__ElimData *data, uint32_t row_count, struct parts *parts)
{
    size_t const seals = data->signatures.len;
    if (data->openings.len != (size_t)row_count * OPENING_BYTES ||
        (seals > 0 && seals != (size_t)row_count * TACIT_ELIM_SEAL_BYTES))
        return false;
    for (uint32_t i = 0; i < row_count; i++) {
        uint8_t const *const bytes = data->openings.data + (size_t)i * OPENING_BYTES;
        memcpy(parts->openings[i].previous, bytes, TACIT_SHA256_BYTES);
        memcpy(parts->openings[i].salt, bytes + TACIT_SHA256_BYTES, TACIT_SHA256_BYTES);
        memset(parts->openings[i].seal, 0, TACIT_ELIM_SEAL_BYTES);
        if (seals > 0)
            memcpy(parts->openings[i].seal,
                   data->signatures.data + (size_t)i * TACIT_ELIM_SEAL_BYTES,
                   TACIT_ELIM_SEAL_BYTES);
    }
    parts->message.openings = parts->openings;
    parts->message.is_sealed = seals > 0;
    return true;
}

static bool take_data(const Tacit__V2__ElimData *data, struct parts *parts)
{
    parts->message.kind = TACIT_ELIM_DATA;
    parts->message.pulls = data->pulls;
    if (!take_arms(data->arms, parts) ||
        !take_some_origins(data->origins_first, data->origins, parts))
        return false;
    uint32_t const row_count = tacit_bits_count(parts->agents, parts->agent_count);
    if (data->has_openings != data->has_signatures ||
        (data->has_openings && !take_openings(data, row_count, parts)) ||
        !take_history(data->has_rounds, data->rounds, data->has_history, data->history, parts))
        return false;
    bool const is_confirmation = parts->message.is_sealed && data->n_sums == 0; /* of no arms */
    return is_confirmation ? tacit_bits_next(parts->arms, parts->arm_count, 0) == parts->arm_count
                           : take_sums(data->sums, data->n_sums, row_count, parts);
}

static bool take_proof(const Tacit__V2__ElimProof *proof, struct parts *parts)
{
    parts->message.kind = TACIT_ELIM_PROOF;
    parts->message.proof = &parts->proof;
    parts->proof.agent = proof->agent;
    return proof->agent < parts->agent_count &&
           wire_copy_exact(proof->subjects, parts->proof.subjects[0], SUBJECTS_BYTES) &&
           wire_copy_exact(proof->seals, parts->proof.seals[0], SEALS_BYTES);
}

static bool take_commit(const Tacit__V2__ElimCommit *commit, struct parts *parts)
{
    parts->message.kind = TACIT_ELIM_COMMIT;
    if (commit->has_refused && !take_refused(commit->refused, parts))
        return false;
    return take_hash(commit->commitment, parts->commit.commitment, parts) &&
           take_hash(commit->previous, parts->commit.previous, parts);
}

static bool take_grant(const Tacit__V2__ElimGrant *grant, struct parts *parts)
{
    parts->message.kind = TACIT_ELIM_GRANT;
    parts->message.closed = grant->closed == 1;
    return grant->closed <= 1 && take_hash(grant->commitment, parts->commit.commitment, parts);
}

static bool take_refusal(const Tacit__V2__ElimRefusal *refusal, struct parts *parts)
{
    parts->message.kind = TACIT_ELIM_REFUSAL;
    parts->message.forgot = refusal->forgot == 1;
    return refusal->forgot <= 1 && take_hash(refusal->head, parts->commit.commitment, parts);
}

static bool take_message(const Tacit__V2__ElimMessage *head, struct parts *parts)
{
    if (head->version != TACIT_WIRE_ELIM_VERSION || head->epoch > TACIT_ELIM_EPOCHS_MAX ||
        (head->from != TACIT_HUB && head->from >= parts->agent_count))
        return false;
    parts->message.from = head->from;
    parts->message.run_id = head->run_id;
    parts->message.epoch = head->epoch;
    switch (head->body_case) {
    case TACIT__V2__ELIM_MESSAGE__BODY_ELIM_HELLO:
        return take_hello(head->elim_hello, parts);
    case TACIT__V2__ELIM_MESSAGE__BODY_ELIM_ORDER:
        return take_order(head->elim_order, parts);
    case TACIT__V2__ELIM_MESSAGE__BODY_ELIM_REPORT:
        return take_report(head->elim_report, parts);
    case TACIT__V2__ELIM_MESSAGE__BODY_ELIM_ADVERT:
        return take_advert(head->elim_advert, parts);
    case TACIT__V2__ELIM_MESSAGE__BODY_ELIM_REQUEST:
        return take_request(head->elim_request, parts);
    case TACIT__V2__ELIM_MESSAGE__BODY_ELIM_DATA:
        return take_data(head->elim_data, parts);
    case TACIT__V2__ELIM_MESSAGE__BODY_ELIM_COMMIT:
        return take_commit(head->elim_commit, parts);
    case TACIT__V2__ELIM_MESSAGE__BODY_ELIM_GRANT:
        return take_grant(head->elim_grant, parts);
    case TACIT__V2__ELIM_MESSAGE__BODY_ELIM_REFUSAL:
        return take_refusal(head->elim_refusal, parts);
    case TACIT__V2__ELIM_MESSAGE__BODY_ELIM_PROOF:
        return take_proof(head->elim_proof, parts);
    case TACIT__V2__ELIM_MESSAGE__BODY__NOT_SET:
    default: /* an enumeration that a peer fills */
        return false;
    }
}

/* Our encoding has one form. Another length means repeated, unknown or trailing fields; the same
 * length with other bytes means fields in another order or numbers in a longer form. */
static enum tacit_status check_form(const struct tacit_elim_message *message, uint32_t arm_count,
                                    uint32_t agent_count, const uint8_t *bytes, size_t size,
                                    const struct tacit_wire_allocator *allocator)
{
    if (tacit_wire_elim_bytes(message, arm_count, agent_count) != size)
        return TACIT_MALFORMED;
    uint8_t *const ours = wire_take(allocator, size);
    if (ours == NULL)
        return TACIT_MEMORY;
    enum tacit_status status =
        tacit_wire_elim_encode_with(message, arm_count, agent_count, ours, allocator);
    if (status == TACIT_OK && memcmp(ours, bytes, size) != 0)
        status = TACIT_MALFORMED;
    wire_give(allocator, ours);
    return status;
}

static enum tacit_status assemble(const struct tacit_elim_message *parts, uint32_t arm_count,
                                  uint32_t agent_count, struct tacit_elim_message **message,
                                  const struct tacit_wire_allocator *allocator)
{
    void *const block =
        wire_take(allocator, tacit_elim_message_size(parts, arm_count, agent_count));
    if (block == NULL)
        return TACIT_MEMORY;
    (void)tacit_elim_message_copy(parts, arm_count, agent_count, block);
    *message = block;
    return TACIT_OK;
}

static size_t rows_opened(const Tacit__V2__ElimMessage *head)
{
    return head->body_case != TACIT__V2__ELIM_MESSAGE__BODY_ELIM_DATA
               ? 0
               : head->elim_data->openings.len / OPENING_BYTES;
}

enum tacit_status tacit_wire_elim_decode_with(const uint8_t *bytes, size_t size, uint32_t arm_count,
                                              uint32_t agent_count, uint32_t to,
                                              struct tacit_elim_message **message,
                                              const struct tacit_wire_allocator *allocator)
{
    ProtobufCAllocator protobuf = wire_protobuf(allocator);
    if (size == 0 || size > TACIT_WIRE_BYTES_MAX)
        return TACIT_MALFORMED;
    Tacit__V2__ElimMessage *const head = tacit__v2__elim_message__unpack(&protobuf, size, bytes);
    if (head == NULL)
        return TACIT_MALFORMED;
    size_t const arm_words = TACIT_BITS_WORDS(arm_count);
    size_t const words_bytes = (arm_words + TACIT_BITS_WORDS(agent_count)) * sizeof(uint64_t);
    uint64_t *const words =
        wire_take(allocator, words_bytes + rows_opened(head) * sizeof(struct tacit_elim_opening));
    enum tacit_status status = TACIT_MEMORY;
    if (words != NULL) {
        struct parts parts = {.message.to = to,
                              .arm_count = arm_count,
                              .agent_count = agent_count,
                              .arms = words,
                              .agents = words + arm_words,
                              .openings =
                                  (struct tacit_elim_opening *)((uint8_t *)words + words_bytes)};
        status = TACIT_MALFORMED;
        if (take_message(head, &parts))
            status = check_form(&parts.message, arm_count, agent_count, bytes, size, allocator);
        if (status == TACIT_OK)
            status = assemble(&parts.message, arm_count, agent_count, message, allocator);
    }
    wire_give(allocator, words);
    tacit__v2__elim_message__free_unpacked(head, &protobuf);
    return status;
}

/* ---- In an envelope ---- */

uint32_t tacit_wire_elim_kind(enum tacit_elim_message_kind kind)
{
    return TACIT_WIRE_KIND_ANNOUNCEMENT + 1 + (uint32_t)kind;
}
