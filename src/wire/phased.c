/* Messages of play in phases as protobuf (phased.proto). Our own values are asserted when they are
 * encoded; a peer's bytes are refused when they do not fit this run to the letter. */
#include <string.h>
#include "form.h"
#include "tacit/wire_phased.h"
#include "phased.pb-c.h"

/* ---- Lengths ---- */

#define HASH_FIELD (1u + 1u + TACIT_SHA256_BYTES) /* tag, length, a commitment or a salt */

/* A packed field; of no numbers it is not there at all. */
static size_t packed_bytes(uint32_t count, size_t width)
{
    return count == 0 ? 0 : wire_field_bytes(count * width);
}

static size_t body_bytes(const struct tacit_phased_message *message)
{
    bool const commits = message->commit != NULL;
    switch (message->kind) {
    case TACIT_PHASED_HELLO:
        return commits ? HASH_FIELD : 0;
    case TACIT_PHASED_ORDER:
        return 3 * WIRE_FIXED32 + packed_bytes(message->block_count, sizeof(uint32_t)) +
               packed_bytes(message->block_count, sizeof(uint64_t));
    case TACIT_PHASED_REPORT:
        return packed_bytes(message->block_count, sizeof(int64_t)) + (commits ? 2 * HASH_FIELD : 0);
    case TACIT_PHASED_COMMIT:
        return 2 * HASH_FIELD;
    case TACIT_PHASED_GRANT:
        return HASH_FIELD + WIRE_FIXED32;
    case TACIT_PHASED_REFUSAL:
        return HASH_FIELD + wire_field_bytes(0) + WIRE_FIXED32;
    }
    TACIT_ASSERT(false);
    return 0;
}

size_t tacit_wire_phased_bytes(const struct tacit_phased_message *message)
{
    size_t const body = body_bytes(message);
    return 3 * WIRE_FIXED32 + WIRE_FIXED64 + (2 + wire_varint_bytes(body) + body);
}

/* ---- Encoding ---- */

struct encoding {
    const struct tacit_phased_message *message;
    Tacit__V2__PhasedMessage head;
    union {
        Tacit__V2__PhasedHello hello;
        Tacit__V2__PhasedOrder order;
        Tacit__V2__PhasedReport report;
        Tacit__V2__PhasedCommit commit;
        Tacit__V2__PhasedGrant grant;
        Tacit__V2__PhasedRefusal refusal;
    } body;
    uint64_t *counts; /* room for those of a plan, .. */
    uint32_t *arms;   /* .. and for its arms */
};

static ProtobufCBinaryData hash_of(const uint8_t *bytes)
{
    return (ProtobufCBinaryData){TACIT_SHA256_BYTES, (uint8_t *)(uintptr_t)bytes};
}

static void fill_hello(struct encoding *encoding)
{
    Tacit__V2__PhasedHello *const hello = &encoding->body.hello;
    tacit__v2__phased_hello__init(hello);
    if (encoding->message->commit != NULL) {
        hello->has_head = 1;
        hello->head = hash_of(encoding->message->commit->commitment);
    }
    encoding->head.body_case = TACIT__V2__PHASED_MESSAGE__BODY_PHASED_HELLO;
    encoding->head.phased_hello = hello;
}

static void fill_order(struct encoding *encoding)
{
    struct tacit_phased_message const *const message = encoding->message;
    Tacit__V2__PhasedOrder *const order = &encoding->body.order;
    tacit__v2__phased_order__init(order);
    order->last = message->last ? 1 : 0;
    order->leader = message->leader;
    order->seen = message->seen;
    for (uint32_t i = 0; i < message->block_count; i++) {
        encoding->arms[i] = message->blocks[i].arm;
        encoding->counts[i] = message->blocks[i].count;
    }
    order->n_arms = order->n_counts = message->block_count;
    order->arms = encoding->arms;
    order->counts = encoding->counts;
    encoding->head.body_case = TACIT__V2__PHASED_MESSAGE__BODY_PHASED_ORDER;
    encoding->head.phased_order = order;
}

static void fill_report(struct encoding *encoding)
{
    struct tacit_phased_message const *const message = encoding->message;
    Tacit__V2__PhasedReport *const report = &encoding->body.report;
    tacit__v2__phased_report__init(report);
    report->n_sums = message->block_count;
    report->sums = (int64_t *)(uintptr_t)message->sums;
    if (message->commit != NULL) {
        report->has_previous = report->has_salt = 1;
        report->previous = hash_of(message->commit->previous);
        report->salt = hash_of(message->commit->salt);
    }
    encoding->head.body_case = TACIT__V2__PHASED_MESSAGE__BODY_PHASED_REPORT;
    encoding->head.phased_report = report;
}

static void fill_commit(struct encoding *encoding)
{
    Tacit__V2__PhasedCommit *const commit = &encoding->body.commit;
    tacit__v2__phased_commit__init(commit);
    commit->commitment = hash_of(encoding->message->commit->commitment);
    commit->previous = hash_of(encoding->message->commit->previous);
    encoding->head.body_case = TACIT__V2__PHASED_MESSAGE__BODY_PHASED_COMMIT;
    encoding->head.phased_commit = commit;
}

static void fill_grant(struct encoding *encoding)
{
    Tacit__V2__PhasedGrant *const grant = &encoding->body.grant;
    tacit__v2__phased_grant__init(grant);
    grant->commitment = hash_of(encoding->message->commit->commitment);
    grant->closed = encoding->message->closed ? 1 : 0;
    encoding->head.body_case = TACIT__V2__PHASED_MESSAGE__BODY_PHASED_GRANT;
    encoding->head.phased_grant = grant;
}

static void fill_refusal(struct encoding *encoding)
{
    Tacit__V2__PhasedRefusal *const refusal = &encoding->body.refusal;
    tacit__v2__phased_refusal__init(refusal);
    refusal->head = hash_of(encoding->message->commit->commitment);
    refusal->forgot = encoding->message->forgot ? 1 : 0;
    encoding->head.body_case = TACIT__V2__PHASED_MESSAGE__BODY_PHASED_REFUSAL;
    encoding->head.phased_refusal = refusal;
}

static void fill_body(struct encoding *encoding)
{
    static void (*const fill[])(struct encoding * encoding) = {
        [TACIT_PHASED_HELLO] = fill_hello,   [TACIT_PHASED_ORDER] = fill_order,
        [TACIT_PHASED_REPORT] = fill_report, [TACIT_PHASED_COMMIT] = fill_commit,
        [TACIT_PHASED_GRANT] = fill_grant,   [TACIT_PHASED_REFUSAL] = fill_refusal};
    TACIT_ASSERT(encoding->message->kind <= TACIT_PHASED_REFUSAL);
    fill[encoding->message->kind](encoding);
}

enum tacit_status tacit_wire_phased_encode_with(const struct tacit_phased_message *message,
                                                uint8_t *bytes,
                                                const struct tacit_wire_allocator *allocator)
{
    size_t const size = tacit_wire_phased_bytes(message);
    size_t const blocks = message->block_count;
    TACIT_ASSERT(size <= TACIT_WIRE_BYTES_MAX);
    uint64_t *const scratch =
        wire_take(allocator, (blocks + 1) * (sizeof(uint64_t) + sizeof(uint32_t)));
    if (scratch == NULL)
        return TACIT_MEMORY;
    struct encoding encoding = {
        .message = message, .counts = scratch, .arms = (uint32_t *)(void *)(scratch + blocks + 1)};
    tacit__v2__phased_message__init(&encoding.head);
    encoding.head.version = TACIT_WIRE_PHASED_VERSION;
    encoding.head.from = message->from;
    encoding.head.run_id = message->run_id;
    encoding.head.round = message->round;
    fill_body(&encoding);
    size_t const written = tacit__v2__phased_message__pack(&encoding.head, bytes);
    TACIT_ASSERT(written == size);
    wire_give(allocator, scratch);
    return TACIT_OK;
}

/* ---- Decoding ---- */

/* A decoded message that still points into what was unpacked. */
struct parts {
    struct tacit_phased_message message;
    uint32_t arm_count;
    struct tacit_pull_block *blocks; /* room for K */
    struct tacit_commit commit;
};

/* Takes 32 bytes into a part of the commit, which the message has from now on. */
static bool take_hash(ProtobufCBinaryData data, uint8_t *hash, struct parts *parts)
{
    parts->message.commit = &parts->commit;
    return wire_copy_exact(data, hash, TACIT_SHA256_BYTES);
}

static bool take_hello(const Tacit__V2__PhasedHello *hello, struct parts *parts)
{
    parts->message.kind = TACIT_PHASED_HELLO;
    return !hello->has_head || take_hash(hello->head, parts->commit.commitment, parts);
}

/* Arms ascending, pulls in their limits; none in the last order. */
static bool take_order(const Tacit__V2__PhasedOrder *order, struct parts *parts)
{
    parts->message.kind = TACIT_PHASED_ORDER;
    parts->message.last = order->last == 1;
    parts->message.leader = order->leader;
    parts->message.seen = order->seen;
    if (order->last > 1 || order->n_arms != order->n_counts || order->n_arms > parts->arm_count ||
        (order->n_arms == 0) != (order->last == 1) ||
        (order->leader >= parts->arm_count && order->leader != TACIT_NO_ARM))
        return false;
    for (size_t i = 0; i < order->n_arms; i++) {
        if (order->arms[i] >= parts->arm_count || order->counts[i] == 0 ||
            order->counts[i] > TACIT_HORIZON_MAX || (i > 0 && order->arms[i] <= order->arms[i - 1]))
            return false;
        parts->blocks[i] = (struct tacit_pull_block){order->arms[i], order->counts[i]};
    }
    parts->message.block_count = (uint32_t)order->n_arms;
    parts->message.blocks = order->n_arms > 0 ? parts->blocks : NULL;
    return true;
}

static bool take_report(const Tacit__V2__PhasedReport *report, struct parts *parts)
{
    parts->message.kind = TACIT_PHASED_REPORT;
    if (report->n_sums == 0 || report->n_sums > parts->arm_count ||
        report->has_previous != report->has_salt)
        return false;
    parts->message.block_count = (uint32_t)report->n_sums;
    parts->message.sums = report->sums;
    return !report->has_salt || (take_hash(report->previous, parts->commit.previous, parts) &&
                                 take_hash(report->salt, parts->commit.salt, parts));
}

static bool take_commit(const Tacit__V2__PhasedCommit *commit, struct parts *parts)
{
    parts->message.kind = TACIT_PHASED_COMMIT;
    return take_hash(commit->commitment, parts->commit.commitment, parts) &&
           take_hash(commit->previous, parts->commit.previous, parts);
}

static bool take_grant(const Tacit__V2__PhasedGrant *grant, struct parts *parts)
{
    parts->message.kind = TACIT_PHASED_GRANT;
    parts->message.closed = grant->closed == 1;
    return grant->closed <= 1 && take_hash(grant->commitment, parts->commit.commitment, parts);
}

static bool take_refusal(const Tacit__V2__PhasedRefusal *refusal, struct parts *parts)
{
    parts->message.kind = TACIT_PHASED_REFUSAL;
    parts->message.forgot = refusal->forgot == 1;
    return refusal->signature.len == 0 && refusal->forgot <= 1 &&
           take_hash(refusal->head, parts->commit.commitment, parts);
}

static bool take_body(const Tacit__V2__PhasedMessage *head, struct parts *parts)
{
    switch (head->body_case) {
    case TACIT__V2__PHASED_MESSAGE__BODY_PHASED_HELLO:
        return take_hello(head->phased_hello, parts);
    case TACIT__V2__PHASED_MESSAGE__BODY_PHASED_ORDER:
        return take_order(head->phased_order, parts);
    case TACIT__V2__PHASED_MESSAGE__BODY_PHASED_REPORT:
        return take_report(head->phased_report, parts);
    case TACIT__V2__PHASED_MESSAGE__BODY_PHASED_COMMIT:
        return take_commit(head->phased_commit, parts);
    case TACIT__V2__PHASED_MESSAGE__BODY_PHASED_GRANT:
        return take_grant(head->phased_grant, parts);
    case TACIT__V2__PHASED_MESSAGE__BODY_PHASED_REFUSAL:
        return take_refusal(head->phased_refusal, parts);
    case TACIT__V2__PHASED_MESSAGE__BODY__NOT_SET:
    default: /* an enumeration that a peer fills */
        return false;
    }
}

static bool take_message(const Tacit__V2__PhasedMessage *head, uint32_t agent_count,
                         struct parts *parts)
{
    if (head->version != TACIT_WIRE_PHASED_VERSION || head->round > TACIT_PHASED_ROUNDS_MAX + 1 ||
        (head->from != TACIT_HUB && head->from >= agent_count))
        return false;
    parts->message.from = head->from;
    parts->message.run_id = head->run_id;
    parts->message.round = head->round;
    parts->message.leader = TACIT_NO_ARM;
    return take_body(head, parts);
}

/* Our encoding has one form. Another length means repeated, unknown or trailing fields; the same
 * length with other bytes means fields in another order or numbers in a longer form. */
static enum tacit_status check_form(const struct tacit_phased_message *message,
                                    const uint8_t *bytes, size_t size,
                                    const struct tacit_wire_allocator *allocator)
{
    if (tacit_wire_phased_bytes(message) != size)
        return TACIT_MALFORMED;
    uint8_t *const ours = wire_take(allocator, size);
    if (ours == NULL)
        return TACIT_MEMORY;
    enum tacit_status status = tacit_wire_phased_encode_with(message, ours, allocator);
    if (status == TACIT_OK && memcmp(ours, bytes, size) != 0)
        status = TACIT_MALFORMED;
    wire_give(allocator, ours);
    return status;
}

static enum tacit_status assemble(const struct tacit_phased_message *parts,
                                  struct tacit_phased_message **message,
                                  const struct tacit_wire_allocator *allocator)
{
    void *const block = wire_take(allocator, tacit_phased_message_size(parts));
    if (block == NULL)
        return TACIT_MEMORY;
    (void)tacit_phased_message_copy(parts, block);
    *message = block;
    return TACIT_OK;
}

enum tacit_status tacit_wire_phased_decode_with(const uint8_t *bytes, size_t size,
                                                uint32_t arm_count, uint32_t agent_count,
                                                uint32_t to, struct tacit_phased_message **message,
                                                const struct tacit_wire_allocator *allocator)
{
    ProtobufCAllocator protobuf = wire_protobuf(allocator);
    if (size == 0 || size > TACIT_WIRE_BYTES_MAX)
        return TACIT_MALFORMED;
    Tacit__V2__PhasedMessage *const head =
        tacit__v2__phased_message__unpack(&protobuf, size, bytes);
    if (head == NULL)
        return TACIT_MALFORMED;
    struct parts parts = {.message.to = to,
                          .arm_count = arm_count,
                          .blocks = wire_take(allocator, arm_count * sizeof *parts.blocks)};
    enum tacit_status status = TACIT_MEMORY;
    if (parts.blocks != NULL) {
        status = take_message(head, agent_count, &parts) ? TACIT_OK : TACIT_MALFORMED;
        if (status == TACIT_OK)
            status = check_form(&parts.message, bytes, size, allocator);
        if (status == TACIT_OK)
            status = assemble(&parts.message, message, allocator);
    }
    wire_give(allocator, parts.blocks);
    tacit__v2__phased_message__free_unpacked(head, &protobuf);
    return status;
}

/* ---- In an envelope ---- */

uint32_t tacit_wire_phased_kind(enum tacit_phased_message_kind kind)
{
    return TACIT_WIRE_KIND_ANNOUNCEMENT + 1 + (uint32_t)kind;
}

/* ---- The run ---- */

void tacit_wire_phased_parameters_encode(const struct tacit_phases *schedule,
                                         uint8_t bytes[TACIT_WIRE_PHASED_PARAMETERS_BYTES])
{
    Tacit__V2__PhasedParameters message = TACIT__V2__PHASED_PARAMETERS__INIT;
    message.rule = 0; /* of elimination: 1, while the index had it as a rule */
    message.arms_per_round = schedule->arms_per_round;
    message.growth = schedule->growth;
    message.confidence = schedule->confidence;
    message.guard_arm = schedule->guard_loss > 0 ? schedule->guard_arm : TACIT_NO_ARM;
    message.guard_loss = schedule->guard_loss;
    size_t const written = tacit__v2__phased_parameters__pack(&message, bytes);
    TACIT_ASSERT(written == TACIT_WIRE_PHASED_PARAMETERS_BYTES);
}

/* Errors: TACIT_MALFORMED, TACIT_MEMORY. */
static enum tacit_status take_parameters(const struct tacit_wire_agreement *agreement,
                                         struct tacit_phases *schedule)
{
    uint64_t room[64];
    struct tacit_wire_arena arena;
    ProtobufCAllocator protobuf = wire_on_stack(&arena, room, sizeof room);
    uint8_t ours[TACIT_WIRE_PHASED_PARAMETERS_BYTES];
    if (agreement->parameters_size != sizeof ours)
        return TACIT_MALFORMED;
    Tacit__V2__PhasedParameters *const message = tacit__v2__phased_parameters__unpack(
        &protobuf, agreement->parameters_size, agreement->parameters);
    if (message == NULL)
        return TACIT_MALFORMED;
    schedule->rule = TACIT_PHASES_INDEX;
    schedule->arms_per_round = message->arms_per_round;
    schedule->growth = message->growth;
    schedule->confidence = message->confidence;
    schedule->guard_arm = message->guard_arm == TACIT_NO_ARM ? 0 : message->guard_arm;
    schedule->guard_loss = message->guard_loss;
    tacit__v2__phased_parameters__free_unpacked(message, &protobuf);
    tacit_wire_phased_parameters_encode(schedule, ours); /* another rule is another form, too */
    return memcmp(ours, agreement->parameters, sizeof ours) == 0 ? TACIT_OK : TACIT_MALFORMED;
}

enum tacit_status tacit_wire_phased_run_decode(const struct tacit_wire_announcement *announcement,
                                               struct tacit_wire_phased_run *run)
{
    struct tacit_wire_agreement const *const agreement = &announcement->agreement;
    if (strcmp(agreement->protocol, TACIT_WIRE_PHASED_WORD) != 0 ||
        agreement->family != TACIT_WIRE_PHASED_FAMILY ||
        agreement->protocol_version != TACIT_WIRE_PHASED_VERSION || announcement->place_size != 0 ||
        agreement->epsilon_nano == 0)
        return TACIT_MALFORMED;
    struct tacit_wire_phased_run made = {
        .run_id = tacit_wire_run_id(agreement->run),
        .agent = announcement->agent,
        .epsilon_nano = agreement->epsilon_nano,
        .schedule = {.arm_count = agreement->arm_count,
                     .agent_count = agreement->agent_count,
                     .horizon = agreement->horizon,
                     .epsilon_per_reward = (double)agreement->epsilon_nano / (double)TACIT_NANO}};
    enum tacit_status const status = take_parameters(agreement, &made.schedule);
    if (status != TACIT_OK)
        return status;
    if (made.agent >= made.schedule.agent_count || !tacit_phases_is_valid(&made.schedule))
        return TACIT_MALFORMED;
    *run = made;
    return TACIT_OK;
}
