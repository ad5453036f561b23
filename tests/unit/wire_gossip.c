/* The wire form of gossip UCB: every message survives the trip, its length says nothing but the
 * number of arms, and a peer's bytes are taken only in the one form that we write. Buffers are
 * exactly as long as their messages, so that a sanitizer sees a read beyond them. */
#include "../support/wire_shape.h"
#include <math.h>
#include "../support/testing.h"
#include "../support/digest.h"
#include "../support/wire_bytes.h"
#include "tacit/random.h"
#include "tacit/wire_gossip.h"

#define PARAMETERS 23u /* bytes */

#define ARMS_MAX 1000u
#define AGENTS 5u
#define RUN_ID UINT64_C(0x0123456789abcdef)

static const uint32_t arm_counts[] = {1, 3, 64, ARMS_MAX};
#define ARM_COUNTS (sizeof arm_counts / sizeof arm_counts[0])

static uint64_t seen[ARMS_MAX + 1];
static double theta[ARMS_MAX + 1];
static double shift[ARMS_MAX + 1];
static double flow[ARMS_MAX + 1];

/* ---- Helpers --------------------------------------------------------------------------------- */

static void fill_rows(uint64_t seed)
{
    struct tacit_rng rng = tacit_rng_stream(seed, 0, 0, TACIT_PURPOSE_NOISE);
    for (uint32_t arm = 0; arm <= ARMS_MAX; arm++) {
        seen[arm] = seed == 0 ? 0 : tacit_rng_below(&rng, TACIT_HORIZON_MAX + 2);
        theta[arm] = seed == 0 ? 0 : ldexp((double)tacit_rng_below(&rng, 1u << 30) - 1e9, -30);
        shift[arm] = seed == 0 ? 0 : -theta[arm] / 3;
        flow[arm] = seed == 0 ? 0 : 1e90 * theta[arm];
    }
}

static struct tacit_gossip_message message_of(enum tacit_gossip_message_kind kind, bool tells)
{
    bool const is_offer = kind == TACIT_GOSSIP_OFFER;
    bool const is_shift = kind == TACIT_GOSSIP_SHIFT;
    return (struct tacit_gossip_message){
        .kind = kind,
        .from = AGENTS - 1,
        .to = 2,
        .run_id = RUN_ID,
        .incarnation_number = 7,
        .incarnation = UINT64_C(0xfedcba9876543210),
        .exchange = is_offer || is_shift ? 12 : 0,
        .seen = (tells && kind != TACIT_GOSSIP_REFUSE) || kind == TACIT_GOSSIP_COUNTS ? seen : NULL,
        .theta = is_offer ? theta : NULL,
        .shift = is_shift ? shift : NULL,
        .flow = is_offer || is_shift ? flow : NULL};
}

static uint8_t *encode(const struct tacit_gossip_message *message, uint32_t arms, size_t *size)
{
    *size = tacit_wire_bytes(WIRE(gossip, arms), message);
    uint8_t *const bytes = testing_malloc(*size);
    tacit_wire_encode(WIRE(gossip, arms), message, bytes);
    return bytes;
}

/* From memory of exactly that size. */
static enum tacit_status decode(const uint8_t *bytes, size_t size, uint32_t arms,
                                struct tacit_gossip_message **message)
{
    uint8_t *const copy = testing_malloc(size > 0 ? size : 1);
    memcpy(copy, bytes, size);
    enum tacit_status const status =
        tacit_wire_decode(WIRE(gossip, arms, AGENTS, 0, 2), copy, size, message, tacit_wire_heap());
    return status;
}

static void expect_refused(const uint8_t *bytes, size_t size, uint32_t arms)
{
    struct tacit_gossip_message *message = NULL;
    assert_int_equal(decode(bytes, size, arms, &message), TACIT_MALFORMED);
    assert_null(message);
}

static void expect_row(const void *a, const void *b, uint32_t arms)
{
    assert_true((a == NULL) == (b == NULL));
    if (a != NULL)
        assert_memory_equal(a, b, arms * sizeof(uint64_t));
}

static void expect_same(const struct tacit_gossip_message *a, const struct tacit_gossip_message *b,
                        uint32_t arms)
{
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->from, b->from);
    assert_int_equal(a->to, b->to);
    assert_true(a->run_id == b->run_id && a->incarnation_number == b->incarnation_number &&
                a->incarnation == b->incarnation);
    assert_true(a->exchange == b->exchange);
    expect_row(a->seen, b->seen, arms);
    expect_row(a->theta, b->theta, arms);
    expect_row(a->shift, b->shift, arms);
    expect_row(a->flow, b->flow, arms);
}

/* ---- Messages -------------------------------------------------------------------------------- */

TEST(every_message_survives_the_trip)
{
    fill_rows(1);
    for (size_t i = 0; i < ARM_COUNTS; i++)
        for (int kind = 0; kind <= TACIT_GOSSIP_REFUSE; kind++)
            for (int tells = 0; tells <= 1; tells++) {
                struct tacit_gossip_message const sent =
                    message_of((enum tacit_gossip_message_kind)kind, tells == 1);
                struct tacit_gossip_message *received;
                size_t size;
                uint8_t *const bytes = encode(&sent, arm_counts[i], &size);
                assert_int_equal(decode(bytes, size, arm_counts[i], &received), TACIT_OK);
                expect_same(&sent, received, arm_counts[i]);
                testing_free(received);
                testing_free(bytes);
            }
}

TEST(length_says_only_the_number_of_arms)
{
    for (int kind = 0; kind <= TACIT_GOSSIP_REFUSE; kind++) {
        struct tacit_gossip_message message =
            message_of((enum tacit_gossip_message_kind)kind, true);
        size_t const size = tacit_wire_bytes(WIRE(gossip, 10), &message);
        message.incarnation_number = 0;
        message.incarnation = UINT64_MAX;
        message.exchange = 0;
        message.from = 0;
        for (uint64_t seed = 0; seed < 3; seed++) {
            size_t written;
            fill_rows(seed);
            testing_free(encode(&message, 10, &written));
            assert_int_equal(written, size);
        }
    }
}

TEST(rows_of_another_length_are_refused)
{
    fill_rows(4);
    for (int kind = 0; kind < TACIT_GOSSIP_REFUSE; kind++)
        for (uint32_t arms = 2; arms <= 4; arms += 2) {
            struct tacit_gossip_message const sent =
                message_of((enum tacit_gossip_message_kind)kind, true);
            size_t size;
            uint8_t *const bytes = encode(&sent, arms, &size);
            expect_refused(bytes, size, 3);
            testing_free(bytes);
        }
}

TEST(impossible_numbers_are_refused)
{
    static double const bad[] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
    struct tacit_gossip_message const offer = message_of(TACIT_GOSSIP_OFFER, true);
    struct tacit_gossip_message const move = message_of(TACIT_GOSSIP_SHIFT, true);
    double *const places[] = {&theta[2], &flow[0], &shift[1], &flow[2]};
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 3; j++) {
            size_t size;
            fill_rows(5);
            *places[i] = bad[j];
            uint8_t *const bytes = encode(i < 2 ? &offer : &move, 3, &size);
            expect_refused(bytes, size, 3);
            testing_free(bytes);
        }
    for (int kind = 0; kind < TACIT_GOSSIP_REFUSE; kind++) {
        struct tacit_gossip_message const sent =
            message_of((enum tacit_gossip_message_kind)kind, true);
        size_t size;
        fill_rows(5);
        seen[1] = TACIT_HORIZON_MAX + 2;
        uint8_t *const bytes = encode(&sent, 3, &size);
        expect_refused(bytes, size, 3);
        testing_free(bytes);
    }
}

TEST(strangers_and_other_versions_are_refused)
{
    struct tacit_gossip_message sent = message_of(TACIT_GOSSIP_ASK, false);
    struct tacit_gossip_message *message;
    size_t size;
    sent.from = AGENTS;
    uint8_t *bytes = encode(&sent, 3, &size);
    expect_refused(bytes, size, 3);
    sent.from = 0;
    bytes = encode(&sent, 3, &size);
    assert_int_equal(decode(bytes, size, 3, &message), TACIT_OK);
    testing_free(message);
    bytes[1]++; /* the version */
    expect_refused(bytes, size, 3);
}

/* ---- To the hub ------------------------------------------------------------------------------ */

static enum tacit_status progress_decode(const uint8_t *bytes, size_t size,
                                         struct tacit_wire_gossip_progress **found)
{
    return tacit_wire_decode(&tacit_wire_gossip_progress, SHAPE(3, AGENTS), bytes, size, found,
                             tacit_wire_heap());
}

TEST(what_the_hub_is_told_survives_the_trip_in_one_form)
{
    struct tacit_wire_gossip_progress const progress = {3, RUN_ID, 99, true, theta};
    struct tacit_wire_gossip_progress *found;
    size_t const size = tacit_wire_bytes(&tacit_wire_gossip_progress, SHAPE(3),
                                         &(struct tacit_wire_gossip_progress){.from = 0});
    uint8_t *const bytes = testing_malloc(size);
    fill_rows(6);
    tacit_wire_encode(&tacit_wire_gossip_progress, SHAPE(3), &progress, bytes);
    assert_int_equal(progress_decode(bytes, size, &found), TACIT_OK);
    assert_true(found->from == 3 && found->run_id == RUN_ID && found->pull_count == 99);
    assert_true(found->finished && found->theta != NULL);
    assert_memory_equal(found->theta, theta, 3 * sizeof *theta);
    testing_free(found);
    for (size_t cut = 0; cut < size; cut++)
        assert_int_equal(progress_decode(bytes, cut, &found), TACIT_MALFORMED);
    for (size_t bit = 0; bit < 8 * size; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        if (progress_decode(bytes, size, &found) == TACIT_OK) {
            uint8_t ours[128];
            assert_true(size <= sizeof ours);
            tacit_wire_encode(&tacit_wire_gossip_progress, SHAPE(3), found, ours);
            assert_memory_equal(ours, bytes, size);
            assert_true(found->from < AGENTS && found->pull_count <= TACIT_HORIZON_MAX + 3);
            testing_free(found);
        }
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    theta[1] = (double)NAN;
    tacit_wire_encode(&tacit_wire_gossip_progress, SHAPE(3), &progress, bytes);
    assert_int_equal(progress_decode(bytes, size, &found), TACIT_MALFORMED);
}

/* An agent plays T slots after a first pull of each arm, and no more. */
TEST(pulls_of_a_told_agent_reach_to_the_horizon_and_its_first_pulls)
{
    struct tacit_wire_gossip_progress progress = {3, RUN_ID, TACIT_HORIZON_MAX + 3, false, theta};
    struct tacit_wire_gossip_progress *found;
    uint8_t bytes[128];
    size_t const size = tacit_wire_bytes(&tacit_wire_gossip_progress, SHAPE(3),
                                         &(struct tacit_wire_gossip_progress){.from = 0});
    assert_true(size <= sizeof bytes);
    fill_rows(6);
    tacit_wire_encode(&tacit_wire_gossip_progress, SHAPE(3), &progress, bytes);
    assert_int_equal(progress_decode(bytes, size, &found), TACIT_OK);
    assert_true(found->pull_count == TACIT_HORIZON_MAX + 3);
    testing_free(found);
    progress.pull_count++;
    tacit_wire_encode(&tacit_wire_gossip_progress, SHAPE(3), &progress, bytes);
    assert_int_equal(progress_decode(bytes, size, &found), TACIT_MALFORMED);
    assert_int_equal(tacit_wire_decode(&tacit_wire_gossip_progress, SHAPE(3, 3), bytes, size,
                                       &found, tacit_wire_heap()),
                     TACIT_MALFORMED); /* nor is agent 3 one of three */
}

TEST(release_has_the_documented_bytes)
{
    static uint8_t const expected[TACIT_WIRE_GOSSIP_RELEASE_BYTES] = {
        0x0d, 2, 0,    0,    0,    0x11, 5,    0,    0,    0,    0,   0,
        0,    0, 0x19, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    struct tacit_wire_gossip_release const release = {2, 5, -2};
    uint8_t bytes[TACIT_WIRE_GOSSIP_RELEASE_BYTES];
    tacit_wire_encode(&tacit_wire_gossip_release, NULL, &release, bytes);
    assert_memory_equal(bytes, expected, sizeof bytes);
}

/* ---- The run --------------------------------------------------------------------------------- */

static const struct tacit_wire_neighbour two[] = {{1, "east"}, {4, "west_2"}};

static const struct tacit_wire_gossip_run sample = {.run_id = RUN_ID,
                                                    .agent = 2,
                                                    .agent_count = AGENTS,
                                                    .arm_count = 3,
                                                    .horizon = 4000,
                                                    .epsilon_nano = TACIT_NANO,
                                                    .exchange_us = 250000,
                                                    .pull_us = 100,
                                                    .log_base_10 = true,
                                                    .neighbour_count = 2,
                                                    .neighbours = two};

/* Encodes the run and decodes it again, its parameters and place changed on the way by `spoil`. */
static enum tacit_status through(const struct tacit_wire_gossip_run *run,
                                 void (*spoil)(uint8_t *parameters, uint8_t *place),
                                 size_t place_less, struct tacit_wire_gossip_run *found)
{
    size_t const size = tacit_wire_bytes(tacit_wire_gossip.place, NULL, run);
    uint8_t *const place = testing_malloc(size + 1);
    uint8_t *const parameters = testing_malloc(PARAMETERS);
    tacit_wire_encode(tacit_wire_gossip.parameters, NULL, run, parameters);
    tacit_wire_encode(tacit_wire_gossip.place, NULL, run, place);
    if (spoil != NULL)
        spoil(parameters, place);
    struct tacit_wire_announcement announcement = {
        .agreement = {.protocol = TACIT_WIRE_GOSSIP_NAME,
                      .family = TACIT_WIRE_GOSSIP_FAMILY,
                      .protocol_version = TACIT_WIRE_GOSSIP_VERSION,
                      .agent_count = run->agent_count,
                      .arm_count = run->arm_count,
                      .horizon = run->horizon,
                      .epsilon_nano = run->epsilon_nano,
                      .parameters = parameters,
                      .parameters_size = PARAMETERS},
        .agent = run->agent,
        .place = place,
        .place_size = size - place_less};
    tacit_wire_run(run->run_id, announcement.agreement.run);
    enum tacit_status const status =
        tacit_wire_run_decode(&tacit_wire_gossip, &announcement, found, tacit_wire_heap());
    return status;
}

TEST(run_survives_the_announcement)
{
    struct tacit_wire_gossip_run found;
    assert_int_equal(through(&sample, NULL, 0, &found), TACIT_OK);
    assert_true(found.run_id == sample.run_id && found.agent == 2 && found.agent_count == AGENTS);
    assert_true(found.arm_count == 3 && found.horizon == 4000 && found.exchange_us == 250000);
    assert_true(found.epsilon_nano == TACIT_NANO && found.pull_us == 100 && found.log_base_10);
    assert_int_equal(found.neighbour_count, 2);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(found.neighbours[i].agent, two[i].agent);
        assert_string_equal(found.neighbours[i].site, two[i].site);
    }
    testing_free((void *)(uintptr_t)found.neighbours);
}

static void spoil_base(uint8_t *parameters, uint8_t *place)
{
    parameters[19] = 2;
}

static void spoil_tag(uint8_t *parameters, uint8_t *place)
{
    place[0] = 0x12;
}

TEST(impossible_runs_are_refused)
{
    static const struct tacit_wire_neighbour self[] = {{2, "me"}};
    static const struct tacit_wire_neighbour beyond[] = {{5, "far"}};
    static const struct tacit_wire_neighbour mixed[] = {{4, "west"}, {1, "east"}};
    static const struct tacit_wire_neighbour twice[] = {{1, "east"}, {1, "east"}};
    static const struct tacit_wire_neighbour named[] = {{1, "a/b"}};
    static const struct {
        const struct tacit_wire_neighbour *list;
        uint32_t count;
    } places[] = {{self, 1}, {beyond, 1}, {mixed, 2}, {twice, 2}, {named, 1}, {two, 0}};
    struct tacit_wire_gossip_run found;
    struct tacit_wire_gossip_run run;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        run = sample;
        run.neighbours = places[i].list;
        run.neighbour_count = places[i].count;
        assert_int_equal(through(&run, NULL, 0, &found), TACIT_MALFORMED);
    }
    run = sample;
    run.exchange_us = 0;
    assert_int_equal(through(&run, NULL, 0, &found), TACIT_MALFORMED);
    run.exchange_us = UINT64_MAX;
    assert_int_equal(through(&run, NULL, 0, &found), TACIT_MALFORMED);
    run = sample;
    run.epsilon_nano = 0;
    assert_int_equal(through(&run, NULL, 0, &found), TACIT_MALFORMED);
    assert_int_equal(through(&sample, spoil_base, 0, &found), TACIT_MALFORMED);
    assert_int_equal(through(&sample, spoil_tag, 0, &found), TACIT_MALFORMED);
    assert_int_equal(through(&sample, NULL, 1, &found), TACIT_MALFORMED);
}

/* ---- Known answers --------------------------------------------------------------------------- */

static void digest_row(const void *row, uint32_t arms)
{
    digest_word(row != NULL);
    if (row != NULL)
        digest_bytes(row, arms * sizeof(uint64_t));
}

static void look(const uint8_t *bytes, size_t size, const void *context)
{
    uint32_t const arms = *(const uint32_t *)context;
    struct tacit_gossip_message *message = NULL;
    if (!wire_bytes_decode(WIRE(gossip, arms, AGENTS, 0, 2), bytes, size, &message))
        return;
    uint64_t const words[] = {(uint64_t)message->kind,
                              message->from,
                              message->to,
                              message->run_id,
                              message->incarnation_number,
                              message->incarnation,
                              message->exchange,
                              tacit_wire_label(tacit_wire_gossip.messages, message).kind};
    digest_bytes(words, sizeof words);
    digest_row(message->seen, arms);
    digest_row(message->theta, arms);
    digest_row(message->shift, arms);
    digest_row(message->flow, arms);
    wire_bytes_give(message);
}

static void look_at_told(const uint8_t *bytes, size_t size, const void *context)
{
    static const double no_row[3];
    static const struct tacit_wire_gossip_progress nothing;
    struct tacit_wire_gossip_progress *found = NULL;
    (void)context;
    digest_word((uint64_t)tacit_wire_decode(&tacit_wire_gossip_progress, SHAPE(3, AGENTS), bytes,
                                            size, &found, wire_bytes_memory()));
    struct tacit_wire_gossip_progress const *const progress = found != NULL ? found : &nothing;
    uint64_t const words[] = {progress->from, progress->run_id, progress->pull_count,
                              progress->finished, found != NULL};
    digest_bytes(words, sizeof words);
    digest_bytes(found != NULL ? found->theta : no_row, sizeof no_row);
    wire_bytes_give(found);
}

TEST(damaged_messages_are_judged_as_they_were)
{
    static const uint32_t counts[] = {1, 3};
    wire_bytes_sizes(look, &counts[1]);
    fill_rows(7);
    seen[0] = TACIT_HORIZON_MAX + 1; /* all that may be */
    for (size_t i = 0; i < 2; i++)
        for (int kind = 0; kind <= TACIT_GOSSIP_REFUSE; kind++)
            for (int tells = 0; tells <= 1; tells++) {
                struct tacit_gossip_message const sent =
                    message_of((enum tacit_gossip_message_kind)kind, tells == 1);
                struct wire_bytes word;
                word.bytes = encode(&sent, counts[i], &word.size);
                wire_bytes_damage(word, look, &counts[i]);
                testing_free(word.bytes);
            }
    for (uint32_t finished = 0; finished <= 1; finished++) {
        struct tacit_wire_gossip_progress const progress = {
            AGENTS - 1, RUN_ID, TACIT_HORIZON_MAX + 3, finished == 1, theta};
        struct wire_bytes const word =
            wire_bytes_new(tacit_wire_bytes(&tacit_wire_gossip_progress, SHAPE(3),
                                            &(struct tacit_wire_gossip_progress){.from = 0}));
        tacit_wire_encode(&tacit_wire_gossip_progress, SHAPE(3), &progress, word.bytes);
        wire_bytes_damage(word, look_at_told, NULL);
        testing_free(word.bytes);
    }
}

/* An announcement's bytes, of which one part is looked at. */
struct member {
    struct tacit_wire_gossip_run run;
    uint8_t parameters[PARAMETERS];
    uint8_t place[64];
    size_t place_size;
};

static void look_at_both(const struct member *member, struct wire_bytes parameters,
                         struct wire_bytes place)
{
    struct tacit_wire_gossip_run found = {.neighbours = NULL};
    struct tacit_wire_announcement announcement = {
        .agreement = {.protocol = TACIT_WIRE_GOSSIP_NAME,
                      .family = TACIT_WIRE_GOSSIP_FAMILY,
                      .protocol_version = TACIT_WIRE_GOSSIP_VERSION,
                      .agent_count = member->run.agent_count,
                      .arm_count = member->run.arm_count,
                      .horizon = member->run.horizon,
                      .epsilon_nano = member->run.epsilon_nano,
                      .parameters = parameters.bytes,
                      .parameters_size = parameters.size},
        .agent = member->run.agent,
        .place = place.bytes,
        .place_size = place.size};
    tacit_wire_run(member->run.run_id, announcement.agreement.run);
    digest_word((uint64_t)tacit_wire_run_decode(&tacit_wire_gossip, &announcement, &found,
                                                wire_bytes_memory()));
    uint64_t const words[] = {found.run_id,         found.agent,   found.agent_count,
                              found.arm_count,      found.horizon, found.epsilon_nano,
                              found.exchange_us,    found.pull_us, found.log_base_10,
                              found.neighbour_count};
    digest_bytes(words, sizeof words);
    for (uint32_t i = 0; i < found.neighbour_count; i++) {
        digest_word(found.neighbours[i].agent);
        digest_bytes(found.neighbours[i].site, strlen(found.neighbours[i].site));
    }
    wire_bytes_give(found.neighbours);
}

static void look_at_parameters(const uint8_t *bytes, size_t size, const void *context)
{
    struct member const *const member = context;
    look_at_both(member, (struct wire_bytes){(uint8_t *)(uintptr_t)bytes, size},
                 (struct wire_bytes){(uint8_t *)(uintptr_t)member->place, member->place_size});
}

static void look_at_place(const uint8_t *bytes, size_t size, const void *context)
{
    struct member const *const member = context;
    look_at_both(
        member,
        (struct wire_bytes){(uint8_t *)(uintptr_t)member->parameters, sizeof member->parameters},
        (struct wire_bytes){(uint8_t *)(uintptr_t)bytes, size});
}

static void damage(const struct tacit_wire_gossip_run *run)
{
    struct member member = {.run = *run,
                            .place_size = tacit_wire_bytes(tacit_wire_gossip.place, NULL, run)};
    assert_true(member.place_size <= sizeof member.place);
    tacit_wire_encode(tacit_wire_gossip.parameters, NULL, run, member.parameters);
    tacit_wire_encode(tacit_wire_gossip.place, NULL, run, member.place);
    wire_bytes_damage((struct wire_bytes){member.parameters, sizeof member.parameters},
                      look_at_parameters, &(struct member){member.run, {0}, {0}, 0});
    struct member const whole = member;
    wire_bytes_damage((struct wire_bytes){member.parameters, sizeof member.parameters},
                      look_at_parameters, &whole);
    wire_bytes_damage((struct wire_bytes){member.place, member.place_size}, look_at_place, &whole);
}

TEST(damaged_announcements_are_judged_as_they_were)
{
    static const struct tacit_wire_neighbour all[] = {{0, "a"}, {1, "b"}, {3, "c"}, {4, "d"}};
    static const struct tacit_wire_neighbour only[] = {{0, "a"}};
    struct tacit_wire_gossip_run run = sample;
    damage(&run);
    run.exchange_us = UINT64_C(1) << 56;
    run.log_base_10 = false;
    run.neighbours = all; /* everybody else */
    run.neighbour_count = 4;
    damage(&run);
    run.exchange_us = 1;
    run.pull_us = 0;
    run.agent = 1;
    run.agent_count = 2;
    run.neighbours = only;
    run.neighbour_count = 1;
    damage(&run);
}

DIGEST_IS(UINT64_C(0x4db16a40b77aee4a))
