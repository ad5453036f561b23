/* The wire form of votes: every message survives the trip, its length says its kind and the number
 * of arms and nothing else, and a peer's bytes are taken only in the one form that we write.
 *
 * Run under a sanitizer this also shows that no refusal leaks or reads too far: every buffer is
 * exactly as long as its message. */
#include "../support/testing.h"
#include "../support/wire_shape.h"
#include "../support/digest.h"
#include "../support/wire_bytes.h"
#include "tacit/wire_vote.h"

#define PARAMETERS 47u /* bytes */

#define ARMS_MAX 200u
#define AGENTS 40u
#define KINDS (TACIT_VOTE_RELEASE + 1)

static const uint32_t arm_counts[] = {1, 10, 64, 65, ARMS_MAX};
#define ARM_COUNTS (sizeof arm_counts / sizeof arm_counts[0])

static uint64_t marks[TACIT_BITS_WORDS(ARMS_MAX)];
static int64_t sums[ARMS_MAX];

static bool has_marks(enum tacit_vote_hub_message_kind kind)
{
    return kind == TACIT_VOTE_CAST || kind == TACIT_VOTE_ROW || kind == TACIT_VOTE_RELEASE;
}

/* Every third arm, in a message with all that its kind has. */
static struct tacit_vote_hub_message sample(enum tacit_vote_hub_message_kind kind,
                                            uint32_t arm_count)
{
    bool const is_release = kind == TACIT_VOTE_RELEASE;
    bool const is_of_site = kind <= TACIT_VOTE_CAST || is_release;
    bool const is_broadcast = kind >= TACIT_VOTE_ROW && !is_release;
    struct tacit_vote_hub_message message = {.kind = kind,
                                             .from = is_of_site ? 7 : TACIT_HUB,
                                             .to = is_of_site ? TACIT_HUB : 7,
                                             .run_id = UINT64_C(0x0123456789abcdef),
                                             .draw = is_broadcast ? 0 : 3,
                                             .player = kind == TACIT_VOTE_ROW ? AGENTS - 1 : 0};
    memset(marks, 0, sizeof marks);
    for (uint32_t arm = 0; arm < arm_count; arm += 3)
        tacit_bits_add(marks, arm);
    if (has_marks(kind))
        message.marks = marks;
    if ((has_marks(kind) || kind == TACIT_VOTE_ANEW) && !is_release)
        message.reset = 2;
    if (!is_broadcast && !is_release)
        memset(message.commitment, 0xa5, sizeof message.commitment);
    message.forgot = kind == TACIT_VOTE_REFUSED;
    if (kind == TACIT_VOTE_COMMIT || is_release)
        memset(message.previous, 0x3c, sizeof message.previous);
    if (is_release) {
        for (uint32_t arm = 0; arm < arm_count; arm++)
            sums[arm] = (arm % 3 == 0 ? 1 : 0) * (INT64_C(-5000000000) + arm);
        message.sums = sums;
        memset(message.salt, 0x77, sizeof message.salt);
    }
    return message;
}

static struct wire_bytes encode(const struct tacit_vote_hub_message *message, uint32_t arm_count)
{
    struct wire_bytes const coded = wire_bytes_new(tacit_wire_bytes(
        WIRE(vote, arm_count), &(struct tacit_vote_hub_message){.kind = message->kind}));
    tacit_wire_encode(WIRE(vote, arm_count), message, coded.bytes);
    return coded;
}

static enum tacit_status decode(const uint8_t *bytes, size_t size, uint32_t arm_count,
                                struct tacit_vote_hub_message **found)
{
    uint8_t *const exact = wire_bytes_exact(bytes, size);
    *found = NULL;
    enum tacit_status const status = tacit_wire_decode(WIRE(vote, arm_count, AGENTS, 0, 7), exact,
                                                       size, found, tacit_wire_heap());
    testing_free(exact); /* what was found stands by itself */
    return status;
}

static void expect_refused(const uint8_t *bytes, size_t size, uint32_t arm_count)
{
    struct tacit_vote_hub_message *found;
    assert_int_equal(decode(bytes, size, arm_count, &found), TACIT_MALFORMED);
    assert_null(found);
}

TEST(messages_survive_the_trip)
{
    for (size_t i = 0; i < ARM_COUNTS; i++)
        for (int kind = 0; kind < (int)KINDS; kind++) {
            struct tacit_vote_hub_message const sent =
                sample((enum tacit_vote_hub_message_kind)kind, arm_counts[i]);
            struct wire_bytes const coded = encode(&sent, arm_counts[i]);
            struct tacit_vote_hub_message *found;
            assert_int_equal(decode(coded.bytes, coded.size, arm_counts[i], &found), TACIT_OK);
            assert_int_equal(found->kind, sent.kind);
            assert_int_equal(found->from, sent.from);
            assert_int_equal(found->to, 7);
            assert_true(found->run_id == sent.run_id && found->reset == sent.reset);
            assert_int_equal(found->draw, sent.draw);
            assert_int_equal(found->player, sent.player);
            assert_memory_equal(found->commitment, sent.commitment, sizeof sent.commitment);
            assert_memory_equal(found->previous, sent.previous, sizeof sent.previous);
            assert_memory_equal(found->salt, sent.salt, sizeof sent.salt);
            assert_true((found->sums != NULL) == (sent.kind == TACIT_VOTE_RELEASE));
            if (found->sums != NULL)
                assert_memory_equal(found->sums, sums, arm_counts[i] * sizeof sums[0]);
            assert_true((found->marks != NULL) == has_marks(sent.kind));
            if (found->marks != NULL)
                assert_memory_equal(found->marks, marks,
                                    TACIT_BITS_WORDS(arm_counts[i]) * sizeof marks[0]);
            assert_int_equal(tacit_wire_label(tacit_wire_vote.messages, found).kind,
                             (uint32_t)kind + 1);
            testing_free(found);
            testing_free(coded.bytes);
        }
}

/* A vote of no arm is as long as one of all. */
TEST(length_is_a_function_of_kind_and_arms)
{
    struct tacit_vote_hub_message message = sample(TACIT_VOTE_CAST, ARMS_MAX);
    memset(marks, 0, sizeof marks);
    struct wire_bytes const none = encode(&message, ARMS_MAX);
    tacit_bits_fill(marks, ARMS_MAX);
    message.reset = UINT64_MAX;
    message.draw = UINT32_MAX;
    struct wire_bytes const all = encode(&message, ARMS_MAX);
    assert_int_equal(none.size, all.size);
    testing_free(none.bytes);
    testing_free(all.bytes);
}

static void expect_message_refused(struct tacit_vote_hub_message message, uint32_t arm_count)
{
    struct wire_bytes const coded = encode(&message, arm_count);
    expect_refused(coded.bytes, coded.size, arm_count);
    testing_free(coded.bytes);
}

TEST(messages_that_cannot_be_are_refused)
{
    struct tacit_vote_hub_message message = sample(TACIT_VOTE_ROW, 10);
    message.player = AGENTS;
    expect_message_refused(message, 10);
    message = sample(TACIT_VOTE_ANEW, 10);
    message.draw = 1;
    expect_message_refused(message, 10);
    message = sample(TACIT_VOTE_RELEASE, 10);
    message.draw = 0;
    expect_message_refused(message, 10);
    message = sample(TACIT_VOTE_CAST, 10);
    message.from = AGENTS;
    expect_message_refused(message, 10);
    message = sample(TACIT_VOTE_CAST, 10);
    marks[0] |= 1u << 10; /* the eleventh of ten arms */
    expect_message_refused(message, 10);
    message = sample(TACIT_VOTE_COMMIT, 10);
    memset(message.commitment, 0, sizeof message.commitment);
    expect_message_refused(message, 10);
    message = sample(TACIT_VOTE_COMMIT, 10);
    message.draw = 0;
    expect_message_refused(message, 10);
    message = sample(TACIT_VOTE_GRANTED, 10);
    memset(message.commitment, 0, sizeof message.commitment);
    expect_message_refused(message, 10);
    message = sample(TACIT_VOTE_ANEW, 10);
    message.reset = 0;
    expect_message_refused(message, 10);
    message = sample(TACIT_VOTE_ROW, 10); /* of a run with more arms */
    struct wire_bytes const coded = encode(&message, 10);
    expect_refused(coded.bytes, coded.size, 65);
    coded.bytes[1] = 2; /* another version */
    expect_refused(coded.bytes, coded.size, 10);
    testing_free(coded.bytes);
}

/* ---- The run --------------------------------------------------------------------------------- */

static const struct tacit_wire_vote_run good = {.run_id = 5,
                                                .agent = 2,
                                                .agent_count = AGENTS,
                                                .arm_count = 3,
                                                .horizon = 1000,
                                                .epsilon_nano = 1000000000,
                                                .accuracy = 0.25,
                                                .eta = 0.9,
                                                .votes_needed = 29,
                                                .committee = 29,
                                                .reset_after_s = 60,
                                                .tick_ms = 100};

static enum tacit_status trip(const struct tacit_wire_vote_run *run, const char *word,
                              uint32_t version, struct tacit_wire_vote_run *found)
{
    static const char *const names[] = {"a", "b", "c"};
    uint8_t parameters[PARAMETERS];
    size_t const size = tacit_wire_bytes(tacit_wire_vote.parameters, NULL, run);
    assert_int_equal(size, run->block > 0 ? sizeof parameters : 38);
    tacit_wire_encode(tacit_wire_vote.parameters, NULL, run, parameters);
    struct tacit_wire_announcement announcement = {.agreement = {.protocol = word,
                                                                 .family = TACIT_WIRE_VOTE_FAMILY,
                                                                 .protocol_version = version,
                                                                 .agent_count = run->agent_count,
                                                                 .arm_count = run->arm_count,
                                                                 .arms = names,
                                                                 .hi = 1,
                                                                 .horizon = run->horizon,
                                                                 .epsilon_nano = run->epsilon_nano,
                                                                 .parameters = parameters,
                                                                 .parameters_size = size},
                                                   .agent = run->agent};
    tacit_wire_run(run->run_id, announcement.agreement.run);
    return tacit_wire_run_decode(&tacit_wire_vote, &announcement, found, tacit_wire_heap());
}

static struct tacit_wire_vote_run run_of_sums(void)
{
    struct tacit_wire_vote_run run = good;
    run.votes_needed = 1;
    run.committee = run.reset_after_s = 0;
    run.block = 300;
    return run;
}

TEST(run_survives_the_trip)
{
    struct tacit_wire_vote_run found;
    memset(&found, 0, sizeof found);
    assert_int_equal(trip(&good, "votes", 1, &found), TACIT_OK);
    assert_true(found.run_id == 5 && found.horizon == 1000 && found.epsilon_nano == 1000000000);
    assert_true(found.accuracy == 0.25 && found.eta == 0.9);
    assert_int_equal(found.votes_needed, 29);
    assert_int_equal(found.committee, 29);
    assert_int_equal(found.reset_after_s, 60);
    assert_int_equal(found.tick_ms, 100);
    assert_int_equal(found.agent, 2);
    assert_int_equal(found.block, 0);
    struct tacit_wire_vote_run const sums_run = run_of_sums();
    assert_int_equal(trip(&sums_run, "votes", 1, &found), TACIT_OK);
    assert_int_equal(found.block, 300);
}

TEST(runs_that_cannot_be_are_refused)
{
    struct tacit_wire_vote_run bad[13];
    struct tacit_wire_vote_run found;
    for (size_t i = 0; i < 13; i++)
        bad[i] = i < 9 ? good : run_of_sums();
    bad[0].accuracy = 0;
    bad[1].accuracy = 1.5;
    bad[2].eta = 1;
    bad[3].votes_needed = 0;
    bad[4].votes_needed = AGENTS + 1;
    bad[5].committee = 28; /* fewer than must vote */
    bad[6].committee = AGENTS + 1;
    bad[7].tick_ms = 0;
    bad[8].epsilon_nano = 0;
    bad[9].votes_needed = 2; /* of sums all that is out is out */
    bad[10].committee = 1;
    bad[11].reset_after_s = 1;
    bad[12].block = TACIT_VOTE_BLOCK_MAX + 1;
    for (size_t i = 0; i < 13; i++)
        assert_int_equal(trip(&bad[i], "votes", 1, &found), TACIT_MALFORMED);
    assert_int_equal(trip(&good, "vote", 1, &found), TACIT_MALFORMED);
    assert_int_equal(trip(&good, "votes", 2, &found), TACIT_MALFORMED);
}

/* ---- Known answers --------------------------------------------------------------------------- */

static void look(const uint8_t *bytes, size_t size, const void *context)
{
    uint32_t const arm_count = *(const uint32_t *)context;
    struct tacit_vote_hub_message *message = NULL;
    if (!wire_bytes_decode(WIRE(vote, arm_count, AGENTS, 0, 7), bytes, size, &message))
        return;
    uint64_t const words[] = {(uint64_t)message->kind,
                              message->from,
                              message->to,
                              message->run_id,
                              message->draw,
                              message->player,
                              message->reset,
                              message->marks != NULL,
                              tacit_wire_label(tacit_wire_vote.messages, message).kind};
    digest_bytes(words, sizeof words);
    digest_bytes(message->commitment, sizeof message->commitment);
    digest_bytes(message->previous, sizeof message->previous);
    digest_bytes(message->salt, sizeof message->salt);
    if (message->sums != NULL)
        digest_bytes(message->sums, arm_count * sizeof(int64_t));
    if (message->marks != NULL)
        digest_bytes(message->marks, TACIT_BITS_WORDS(arm_count) * sizeof(uint64_t));
    wire_bytes_give(message);
}

/* Each byte of a hash is another one. */
static void number(uint8_t *hash, uint8_t first)
{
    for (uint8_t i = 0; i < TACIT_SHA256_BYTES; i++)
        hash[i] = (uint8_t)(first + i);
}

TEST(damaged_messages_are_judged_as_they_were)
{
    static const uint32_t counts[] = {4, 65};
    wire_bytes_sizes(look, &counts[0]);
    for (size_t i = 0; i < 2; i++)
        for (int kind = 0; kind < (int)KINDS; kind++) {
            struct tacit_vote_hub_message message =
                sample((enum tacit_vote_hub_message_kind)kind, counts[i]);
            if (message.commitment[0] != 0)
                number(message.commitment, 1);
            if (message.previous[0] != 0)
                number(message.previous, 101);
            message.from = message.from == TACIT_HUB ? TACIT_HUB : AGENTS - 1;
            struct wire_bytes const word = encode(&message, counts[i]);
            wire_bytes_damage(word, look, &counts[i]);
            testing_free(word.bytes);
        }
}

static void look_at_parameters(const uint8_t *bytes, size_t size, const void *context)
{
    struct tacit_wire_announcement announcement = *(const struct tacit_wire_announcement *)context;
    struct tacit_wire_vote_run run = {.run_id = 0};
    announcement.agreement.parameters = bytes;
    announcement.agreement.parameters_size = size;
    digest_word(
        (uint64_t)tacit_wire_run_decode(&tacit_wire_vote, &announcement, &run, tacit_wire_heap()));
    uint64_t const words[] = {run.run_id,        run.agent,        run.agent_count,  run.arm_count,
                              run.horizon,       run.epsilon_nano, run.votes_needed, run.committee,
                              run.reset_after_s, run.tick_ms,      run.block};
    digest_bytes(words, sizeof words);
    digest_bytes(&run.accuracy, sizeof run.accuracy);
    digest_bytes(&run.eta, sizeof run.eta);
}

TEST(damaged_parameters_are_judged_as_they_were)
{
    for (int i = 0; i < 4; i++) {
        uint8_t parameters[PARAMETERS];
        struct tacit_wire_vote_run run = good;
        run.accuracy = i == 0 ? 0.25 : 1;
        run.committee = i == 0 ? 29 : i == 1 ? 0 : AGENTS;
        run.votes_needed = i == 0 ? 28 : i == 1 ? 1 : AGENTS;
        run.tick_ms = i == 1 ? 1 : 1000;
        if (i == 3)
            run = run_of_sums();
        size_t const size = tacit_wire_bytes(tacit_wire_vote.parameters, NULL, &run);
        tacit_wire_encode(tacit_wire_vote.parameters, NULL, &run, parameters);
        struct tacit_wire_announcement announcement = {
            .agreement = {.protocol = TACIT_WIRE_VOTE_NAME,
                          .family = TACIT_WIRE_VOTE_FAMILY,
                          .protocol_version = TACIT_WIRE_VOTE_VERSION,
                          .agent_count = AGENTS,
                          .arm_count = 3,
                          .horizon = 1000,
                          .epsilon_nano = 7},
            .agent = 2};
        tacit_wire_run(0x0102030405060708, announcement.agreement.run);
        wire_bytes_damage((struct wire_bytes){parameters, size}, look_at_parameters, &announcement);
        announcement.place_size = 1;
        look_at_parameters(parameters, size, &announcement);
        announcement.place_size = 0;
        announcement.agreement.family++;
        look_at_parameters(parameters, size, &announcement);
    }
}

DIGEST_IS(UINT64_C(0x38349f53908c150b))
