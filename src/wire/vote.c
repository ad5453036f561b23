/* Messages of elimination by votes as protobuf (vote.proto), and its part of an announcement. Our
 * own values are asserted when they are encoded; a peer's bytes are refused when they do not fit
 * this run to the letter. */
#include <string.h>
#include "form.h"
#include "tacit/wire_vote.h"
#include "vote.pb-c.h"

/* ---- Lengths ---- */

#define HASH_FIELD (1u + 1u + TACIT_SHA256_BYTES) /* tag, length, a commitment */

static size_t body_bytes(enum tacit_vote_letter_kind kind, uint32_t arm_count)
{
    size_t const marks = wire_field_bytes(wire_set_bytes(arm_count));
    switch (kind) {
    case TACIT_VOTE_HELLO:
    case TACIT_VOTE_GRANTED:
        return HASH_FIELD;
    case TACIT_VOTE_COMMIT:
        return 2 * HASH_FIELD;
    case TACIT_VOTE_CAST:
        return WIRE_FIXED64 + marks + HASH_FIELD;
    case TACIT_VOTE_REFUSED:
        return HASH_FIELD + wire_field_bytes(0) + WIRE_FIXED32;
    case TACIT_VOTE_ROW:
        return WIRE_FIXED32 + WIRE_FIXED64 + marks;
    case TACIT_VOTE_ANEW:
        return WIRE_FIXED64;
    }
    TACIT_ASSERT(false);
    return 0;
}

size_t tacit_wire_vote_bytes(enum tacit_vote_letter_kind kind, uint32_t arm_count)
{
    size_t const body = body_bytes(kind, arm_count);
    return 3 * WIRE_FIXED32 + WIRE_FIXED64 + (2 + wire_varint_bytes(body) + body);
}

/* ---- Encoding ---- */

struct encoding {
    const struct tacit_vote_letter *letter;
    ProtobufCBinaryData marks;
    Tacit__V2__VoteMessage head;
    union {
        Tacit__V2__VoteHello hello;
        Tacit__V2__VoteCommit commit;
        Tacit__V2__VoteCast cast;
        Tacit__V2__VoteGranted granted;
        Tacit__V2__VoteRefused refused;
        Tacit__V2__VoteRow row;
        Tacit__V2__VoteAnew anew;
    } body;
};

static ProtobufCBinaryData hash_of(const uint8_t *bytes)
{
    return (ProtobufCBinaryData){TACIT_SHA256_BYTES, (uint8_t *)(uintptr_t)bytes};
}

static void fill_hello(struct encoding *encoding)
{
    Tacit__V2__VoteHello *const hello = &encoding->body.hello;
    tacit__v2__vote_hello__init(hello);
    hello->head = hash_of(encoding->letter->commitment);
    encoding->head.body_case = TACIT__V2__VOTE_MESSAGE__BODY_VOTE_HELLO;
    encoding->head.vote_hello = hello;
}

static void fill_commit(struct encoding *encoding)
{
    Tacit__V2__VoteCommit *const commit = &encoding->body.commit;
    tacit__v2__vote_commit__init(commit);
    commit->commitment = hash_of(encoding->letter->commitment);
    commit->previous = hash_of(encoding->letter->previous);
    encoding->head.body_case = TACIT__V2__VOTE_MESSAGE__BODY_VOTE_COMMIT;
    encoding->head.vote_commit = commit;
}

static void fill_cast(struct encoding *encoding)
{
    Tacit__V2__VoteCast *const cast = &encoding->body.cast;
    tacit__v2__vote_cast__init(cast);
    cast->reset = encoding->letter->reset;
    cast->marks = encoding->marks;
    cast->head = hash_of(encoding->letter->commitment);
    encoding->head.body_case = TACIT__V2__VOTE_MESSAGE__BODY_VOTE_CAST;
    encoding->head.vote_cast = cast;
}

static void fill_granted(struct encoding *encoding)
{
    Tacit__V2__VoteGranted *const granted = &encoding->body.granted;
    tacit__v2__vote_granted__init(granted);
    granted->commitment = hash_of(encoding->letter->commitment);
    encoding->head.body_case = TACIT__V2__VOTE_MESSAGE__BODY_VOTE_GRANTED;
    encoding->head.vote_granted = granted;
}

static void fill_refused(struct encoding *encoding)
{
    Tacit__V2__VoteRefused *const refused = &encoding->body.refused;
    tacit__v2__vote_refused__init(refused);
    refused->head = hash_of(encoding->letter->commitment);
    refused->forgot = encoding->letter->forgot ? 1 : 0;
    encoding->head.body_case = TACIT__V2__VOTE_MESSAGE__BODY_VOTE_REFUSED;
    encoding->head.vote_refused = refused;
}

static void fill_row(struct encoding *encoding)
{
    Tacit__V2__VoteRow *const row = &encoding->body.row;
    tacit__v2__vote_row__init(row);
    row->player = encoding->letter->player;
    row->reset = encoding->letter->reset;
    row->marks = encoding->marks;
    encoding->head.body_case = TACIT__V2__VOTE_MESSAGE__BODY_VOTE_ROW;
    encoding->head.vote_row = row;
}

static void fill_anew(struct encoding *encoding)
{
    Tacit__V2__VoteAnew *const anew = &encoding->body.anew;
    tacit__v2__vote_anew__init(anew);
    anew->reset = encoding->letter->reset;
    encoding->head.body_case = TACIT__V2__VOTE_MESSAGE__BODY_VOTE_ANEW;
    encoding->head.vote_anew = anew;
}

static void fill_body(struct encoding *encoding)
{
    static void (*const fills[])(struct encoding * encoding) = {
        [TACIT_VOTE_HELLO] = fill_hello,     [TACIT_VOTE_COMMIT] = fill_commit,
        [TACIT_VOTE_CAST] = fill_cast,       [TACIT_VOTE_GRANTED] = fill_granted,
        [TACIT_VOTE_REFUSED] = fill_refused, [TACIT_VOTE_ROW] = fill_row,
        [TACIT_VOTE_ANEW] = fill_anew};
    TACIT_ASSERT((size_t)encoding->letter->kind < sizeof fills / sizeof fills[0]);
    fills[encoding->letter->kind](encoding);
}

static bool has_marks(enum tacit_vote_letter_kind kind)
{
    return kind == TACIT_VOTE_CAST || kind == TACIT_VOTE_ROW;
}

enum tacit_status tacit_wire_vote_encode_with(const struct tacit_vote_letter *letter,
                                              uint32_t arm_count, uint8_t *bytes,
                                              const struct tacit_wire_allocator *allocator)
{
    size_t const set = wire_set_bytes(arm_count);
    uint8_t *const marks = wire_take(allocator, set);
    if (marks == NULL)
        return TACIT_MEMORY;
    TACIT_ASSERT(has_marks(letter->kind) == (letter->marks != NULL));
    for (size_t i = 0; letter->marks != NULL && i < set; i++)
        marks[i] = (uint8_t)(letter->marks[i / 8] >> (8 * (i % 8)));
    struct encoding encoding = {.letter = letter, .marks = {set, marks}};
    tacit__v2__vote_message__init(&encoding.head);
    encoding.head.version = TACIT_WIRE_VOTE_VERSION;
    encoding.head.from = letter->from;
    encoding.head.run_id = letter->run_id;
    encoding.head.cell = letter->cell;
    fill_body(&encoding);
    size_t const written = tacit__v2__vote_message__pack(&encoding.head, bytes);
    TACIT_ASSERT(written == tacit_wire_vote_bytes(letter->kind, arm_count));
    wire_give(allocator, marks);
    return TACIT_OK;
}

/* ---- Decoding ---- */

/* A letter, and its marks behind it: one block. */
struct taken {
    struct tacit_vote_letter letter; /* first */
    uint64_t marks[];
};

static bool take_hash(ProtobufCBinaryData data, uint8_t *hash)
{
    return wire_copy_exact(data, hash, TACIT_SHA256_BYTES);
}

static bool take_marks(ProtobufCBinaryData data, uint32_t arm_count, struct taken *taken)
{
    if (data.len != wire_set_bytes(arm_count))
        return false;
    for (size_t i = 0; i < data.len; i++)
        taken->marks[i / 8] |= (uint64_t)data.data[i] << (8 * (i % 8));
    taken->letter.marks = taken->marks;
    return tacit_bits_within(taken->marks, taken->marks, arm_count);
}

static bool is_nothing(const uint8_t hash[TACIT_SHA256_BYTES])
{
    static const uint8_t nothing[TACIT_SHA256_BYTES];
    return memcmp(hash, nothing, sizeof nothing) == 0;
}

static bool take_cast(const Tacit__V2__VoteCast *cast, uint32_t arm_count, struct taken *taken)
{
    taken->letter.kind = TACIT_VOTE_CAST;
    taken->letter.reset = cast->reset;
    return take_marks(cast->marks, arm_count, taken) &&
           take_hash(cast->head, taken->letter.commitment);
}

static bool take_row(const Tacit__V2__VoteRow *row, uint32_t arm_count, uint32_t agent_count,
                     struct taken *taken)
{
    taken->letter.kind = TACIT_VOTE_ROW;
    taken->letter.player = row->player;
    taken->letter.reset = row->reset;
    return row->player < agent_count && take_marks(row->marks, arm_count, taken);
}

/* What speaks of commitments. */
static bool take_grants(const Tacit__V2__VoteMessage *head, struct tacit_vote_letter *letter)
{
    switch (head->body_case) {
    case TACIT__V2__VOTE_MESSAGE__BODY_VOTE_HELLO:
        letter->kind = TACIT_VOTE_HELLO;
        return take_hash(head->vote_hello->head, letter->commitment);
    case TACIT__V2__VOTE_MESSAGE__BODY_VOTE_COMMIT:
        letter->kind = TACIT_VOTE_COMMIT;
        return head->cell > 0 && take_hash(head->vote_commit->commitment, letter->commitment) &&
               take_hash(head->vote_commit->previous, letter->previous) &&
               !is_nothing(letter->commitment);
    case TACIT__V2__VOTE_MESSAGE__BODY_VOTE_GRANTED:
        letter->kind = TACIT_VOTE_GRANTED;
        return take_hash(head->vote_granted->commitment, letter->commitment) &&
               !is_nothing(letter->commitment);
    case TACIT__V2__VOTE_MESSAGE__BODY_VOTE_REFUSED:
        letter->kind = TACIT_VOTE_REFUSED;
        letter->forgot = head->vote_refused->forgot == 1;
        return head->vote_refused->signature.len == 0 && head->vote_refused->forgot <= 1 &&
               take_hash(head->vote_refused->head, letter->commitment);
    default:
        return false;
    }
}

static bool take_body(const Tacit__V2__VoteMessage *head, uint32_t arm_count, uint32_t agent_count,
                      struct taken *taken)
{
    switch (head->body_case) {
    case TACIT__V2__VOTE_MESSAGE__BODY_VOTE_CAST:
        return take_cast(head->vote_cast, arm_count, taken);
    case TACIT__V2__VOTE_MESSAGE__BODY_VOTE_ROW:
        return head->cell == 0 && take_row(head->vote_row, arm_count, agent_count, taken);
    case TACIT__V2__VOTE_MESSAGE__BODY_VOTE_ANEW:
        taken->letter.kind = TACIT_VOTE_ANEW;
        taken->letter.reset = head->vote_anew->reset;
        return head->cell == 0 && head->vote_anew->reset > 0;
    default: /* an enumeration that a peer fills */
        return take_grants(head, &taken->letter);
    }
}

/* Our encoding has one form. Another length means repeated, unknown or trailing fields; the same
 * length with other bytes means fields in another order or numbers in a longer form. */
static enum tacit_status check_form(const struct tacit_vote_letter *letter, uint32_t arm_count,
                                    const uint8_t *bytes, size_t size,
                                    const struct tacit_wire_allocator *allocator)
{
    if (tacit_wire_vote_bytes(letter->kind, arm_count) != size)
        return TACIT_MALFORMED;
    uint8_t *const ours = wire_take(allocator, size);
    if (ours == NULL)
        return TACIT_MEMORY;
    enum tacit_status status = tacit_wire_vote_encode_with(letter, arm_count, ours, allocator);
    if (status == TACIT_OK && memcmp(ours, bytes, size) != 0)
        status = TACIT_MALFORMED;
    wire_give(allocator, ours);
    return status;
}

static bool is_for(const Tacit__V2__VoteMessage *head, uint32_t agent_count)
{
    return head->version == TACIT_WIRE_VOTE_VERSION &&
           (head->from == TACIT_HUB || head->from < agent_count);
}

enum tacit_status tacit_wire_vote_decode_with(const uint8_t *bytes, size_t size, uint32_t arm_count,
                                              uint32_t agent_count, uint32_t to,
                                              struct tacit_vote_letter **letter,
                                              const struct tacit_wire_allocator *allocator)
{
    ProtobufCAllocator protobuf = wire_protobuf(allocator);
    if (size == 0 || size > TACIT_WIRE_BYTES_MAX)
        return TACIT_MALFORMED;
    Tacit__V2__VoteMessage *const head = tacit__v2__vote_message__unpack(&protobuf, size, bytes);
    if (head == NULL)
        return TACIT_MALFORMED;
    struct taken *const taken =
        wire_take_zeros(allocator, sizeof *taken + wire_set_bytes(arm_count));
    enum tacit_status status = TACIT_MEMORY;
    if (taken != NULL) {
        taken->letter = (struct tacit_vote_letter){
            .from = head->from, .to = to, .run_id = head->run_id, .cell = head->cell};
        status = TACIT_MALFORMED;
        if (is_for(head, agent_count) && take_body(head, arm_count, agent_count, taken))
            status = check_form(&taken->letter, arm_count, bytes, size, allocator);
    }
    tacit__v2__vote_message__free_unpacked(head, &protobuf);
    if (status == TACIT_OK)
        *letter = &taken->letter;
    else
        wire_give(allocator, taken);
    return status;
}

/* ---- In an envelope ---- */

uint32_t tacit_wire_vote_kind(enum tacit_vote_letter_kind kind)
{
    return TACIT_WIRE_KIND_ANNOUNCEMENT + 1 + (uint32_t)kind;
}

/* ---- The run ---- */

void tacit_wire_vote_parameters_encode(const struct tacit_wire_vote_run *run,
                                       uint8_t bytes[TACIT_WIRE_VOTE_PARAMETERS_BYTES])
{
    Tacit__V2__VoteParameters message = TACIT__V2__VOTE_PARAMETERS__INIT;
    message.accuracy = run->accuracy;
    message.eta = run->eta;
    message.votes_needed = run->votes_needed;
    message.committee = run->committee;
    message.reset_after_s = run->reset_after_s;
    message.tick_ms = run->tick_ms;
    size_t const written = tacit__v2__vote_parameters__pack(&message, bytes);
    TACIT_ASSERT(written == TACIT_WIRE_VOTE_PARAMETERS_BYTES);
}

static bool run_is_possible(const struct tacit_wire_vote_run *run)
{
    return run->accuracy > 0 && run->accuracy <= 1 && run->eta > 0 && run->eta < 1 &&
           run->votes_needed >= 1 && run->votes_needed <= run->agent_count &&
           run->committee <= run->agent_count &&
           (run->committee == 0 || run->committee >= run->votes_needed) && run->tick_ms >= 1;
}

static bool is_of_this_family(const struct tacit_wire_agreement *agreement)
{
    return strcmp(agreement->protocol, TACIT_WIRE_VOTE_WORD) == 0 &&
           agreement->family == TACIT_WIRE_VOTE_FAMILY &&
           agreement->protocol_version == TACIT_WIRE_VOTE_VERSION && agreement->epsilon_nano > 0 &&
           agreement->parameters_size == TACIT_WIRE_VOTE_PARAMETERS_BYTES;
}

enum tacit_status tacit_wire_vote_run_decode(const struct tacit_wire_announcement *announcement,
                                             struct tacit_wire_vote_run *run)
{
    uint64_t room[64];
    struct tacit_wire_arena arena;
    ProtobufCAllocator protobuf = wire_on_stack(&arena, room, sizeof room);
    struct tacit_wire_agreement const *const agreement = &announcement->agreement;
    uint8_t ours[TACIT_WIRE_VOTE_PARAMETERS_BYTES];
    if (!is_of_this_family(agreement) || announcement->place_size != 0)
        return TACIT_MALFORMED;
    Tacit__V2__VoteParameters *const message = tacit__v2__vote_parameters__unpack(
        &protobuf, agreement->parameters_size, agreement->parameters);
    if (message == NULL)
        return TACIT_MALFORMED;
    struct tacit_wire_vote_run const found = {.run_id = tacit_wire_run_id(agreement->run),
                                              .agent = announcement->agent,
                                              .agent_count = agreement->agent_count,
                                              .arm_count = agreement->arm_count,
                                              .horizon = agreement->horizon,
                                              .epsilon_nano = agreement->epsilon_nano,
                                              .accuracy = message->accuracy,
                                              .eta = message->eta,
                                              .votes_needed = message->votes_needed,
                                              .committee = message->committee,
                                              .reset_after_s = message->reset_after_s,
                                              .tick_ms = message->tick_ms};
    tacit__v2__vote_parameters__free_unpacked(message, &protobuf);
    tacit_wire_vote_parameters_encode(&found, ours); /* fields in another order: another form */
    if (!run_is_possible(&found) || memcmp(ours, agreement->parameters, sizeof ours) != 0)
        return TACIT_MALFORMED;
    *run = found;
    return TACIT_OK;
}
