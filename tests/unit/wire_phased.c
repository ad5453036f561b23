/* The wire form of play in phases: every message survives the trip, its length says nothing but how
 * many arms the plan has, and a peer's bytes are taken only in the one form that we write. Under a
 * sanitizer this also shows that no refusal leaks or reads too far: every buffer is exactly as long
 * as its message. */
#include "../support/wire_shape.h"
#include "../support/testing.h"
#include "../support/digest.h"
#include "../support/wire_bytes.h"
#include <math.h>
#include "tacit/random.h"
#include "tacit/wire_phased.h"

#define PARAMETERS 42u /* bytes */

#define ARMS 70u
#define AGENTS 9u
#define SHAPES 9u /* every kind, and those that may leave something out */

struct sample {
    struct tacit_phased_message message;
    struct tacit_pull_block blocks[ARMS];
    int64_t sums[ARMS];
    struct tacit_commit commit;
};

static void fill(struct sample *sample, struct tacit_rng *rng, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        sample->blocks[i].arm = i == 0 ? 0 : sample->blocks[i - 1].arm + 1;
        sample->blocks[i].count = 1 + tacit_rng_next(rng) % TACIT_HORIZON_MAX;
        sample->sums[i] = (int64_t)tacit_rng_next(rng);
    }
    for (size_t i = 0; i < sizeof sample->commit; i++)
        ((uint8_t *)&sample->commit)[i] = (uint8_t)tacit_rng_next(rng);
}

static void make(struct sample *sample, uint32_t shape, uint32_t count, uint64_t seed)
{
    static const enum tacit_round_kind kinds[SHAPES] = {
        TACIT_ROUND_HELLO,  TACIT_ROUND_HELLO,  TACIT_ROUND_ORDER,
        TACIT_ROUND_ORDER,  TACIT_ROUND_REPORT, TACIT_ROUND_REPORT,
        TACIT_ROUND_COMMIT, TACIT_ROUND_GRANT,  TACIT_ROUND_REFUSAL};
    struct tacit_rng rng = tacit_rng_stream(seed, shape, count, TACIT_PURPOSE_NOISE);
    enum tacit_round_kind const kind = kinds[shape];
    bool const is_last = shape == 3;
    bool const is_of_hub = kind == TACIT_ROUND_ORDER || kind >= TACIT_ROUND_GRANT;
    *sample = (struct sample){.message = {.kind = kind}};
    fill(sample, &rng, count);
    struct tacit_phased_message *const message = &sample->message;
    message->from = is_of_hub ? TACIT_HUB : AGENTS - 1;
    message->to = is_of_hub ? 3 : TACIT_HUB;
    message->run_id = tacit_rng_next(&rng);
    message->round = 5;
    message->leader = kind == TACIT_ROUND_ORDER ? 7 : TACIT_NO_ARM;
    message->seen = kind == TACIT_ROUND_ORDER ? 4 : 0;
    message->last = is_last;
    message->closed = kind == TACIT_ROUND_GRANT;
    message->forgot = kind == TACIT_ROUND_REFUSAL;
    if (kind == TACIT_ROUND_REPORT || (kind == TACIT_ROUND_ORDER && !is_last))
        message->block_count = count;
    if (kind == TACIT_ROUND_ORDER && !is_last)
        message->blocks = sample->blocks;
    if (kind == TACIT_ROUND_REPORT)
        message->sums = sample->sums;
    if (shape == 1 || shape == 5 || kind >= TACIT_ROUND_COMMIT)
        message->commit = &sample->commit;
}

/* In a buffer of exactly its length. */
static uint8_t *encode(const struct tacit_phased_message *message, size_t *size)
{
    *size = tacit_wire_bytes(WIRE(phased, 0), message);
    uint8_t *const bytes = testing_malloc(*size);
    tacit_wire_encode(WIRE(phased, 0), message, bytes);
    return bytes;
}

static enum tacit_status decode(const uint8_t *bytes, size_t size, uint32_t to,
                                struct tacit_phased_message **message)
{
    uint8_t *const copy = testing_malloc(size > 0 ? size : 1);
    memcpy(copy, bytes, size);
    enum tacit_status const status = tacit_wire_decode(WIRE(phased, ARMS, AGENTS, 0, to), copy,
                                                       size, message, tacit_wire_heap());
    return status;
}

static void expect_commit(const struct tacit_phased_message *a,
                          const struct tacit_phased_message *b)
{
    bool const has_commitment = a->kind != TACIT_ROUND_REPORT;
    bool const has_previous = a->kind == TACIT_ROUND_REPORT || a->kind == TACIT_ROUND_COMMIT;
    assert_true((a->commit == NULL) == (b->commit == NULL));
    if (a->commit == NULL)
        return;
    if (has_commitment)
        assert_memory_equal(a->commit->commitment, b->commit->commitment, TACIT_SHA256_BYTES);
    if (has_previous)
        assert_memory_equal(a->commit->previous, b->commit->previous, TACIT_SHA256_BYTES);
    if (a->kind == TACIT_ROUND_REPORT)
        assert_memory_equal(a->commit->salt, b->commit->salt, TACIT_SHA256_BYTES);
}

static void expect_equal(const struct tacit_phased_message *a, const struct tacit_phased_message *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->from, b->from);
    assert_int_equal(a->to, b->to);
    assert_true(a->run_id == b->run_id);
    assert_int_equal(a->round, b->round);
    assert_int_equal(a->seen, b->seen);
    assert_int_equal(a->last, b->last);
    assert_int_equal(a->leader, b->leader);
    assert_int_equal(a->closed, b->closed);
    assert_int_equal(a->forgot, b->forgot);
    assert_int_equal(a->block_count, b->block_count);
    assert_true((a->blocks == NULL) == (b->blocks == NULL));
    assert_true((a->sums == NULL) == (b->sums == NULL));
    for (uint32_t i = 0; i < a->block_count && a->blocks != NULL; i++) {
        assert_int_equal(a->blocks[i].arm, b->blocks[i].arm);
        assert_true(a->blocks[i].count == b->blocks[i].count);
    }
    if (a->sums != NULL)
        assert_memory_equal(a->sums, b->sums, a->block_count * sizeof(int64_t));
    expect_commit(a, b);
}

TEST(every_message_survives_the_trip_and_its_length_is_public)
{
    for (uint32_t shape = 0; shape < SHAPES; shape++)
        for (uint32_t count = 1; count <= ARMS; count += 23) {
            struct sample sample;
            struct sample other;
            struct tacit_phased_message *back = NULL;
            size_t size;
            make(&sample, shape, count, 1);
            make(&other, shape, count, 2); /* other numbers, the same length */
            uint8_t *const bytes = encode(&sample.message, &size);
            assert_int_equal(tacit_wire_bytes(WIRE(phased, 0), &other.message), size);
            assert_int_equal(decode(bytes, size, sample.message.to, &back), TACIT_OK);
            expect_equal(&sample.message, back);
            assert_int_equal(back->round, 5);
            testing_free(back);
            testing_free(bytes);
        }
}

static void expect_refused(const struct sample *sample)
{
    struct tacit_phased_message *back = NULL;
    size_t size;
    uint8_t *const bytes = encode(&sample->message, &size);
    assert_int_equal(decode(bytes, size, 0, &back), TACIT_MALFORMED);
    assert_null(back);
}

TEST(plans_that_are_no_plans_are_refused)
{
    struct sample sample;
    make(&sample, 2, 3, 1);
    sample.blocks[2].arm = sample.blocks[1].arm; /* twice */
    expect_refused(&sample);
    make(&sample, 2, 3, 1);
    sample.blocks[2].arm = ARMS;
    expect_refused(&sample);
    make(&sample, 2, 3, 1);
    sample.blocks[1].count = 0;
    expect_refused(&sample);
    make(&sample, 2, 3, 1);
    sample.blocks[1].count = TACIT_HORIZON_MAX + 1;
    expect_refused(&sample);
    make(&sample, 2, 3, 1);
    sample.message.leader = ARMS;
    expect_refused(&sample);
    make(&sample, 2, 3, 1);
    sample.message.last = true; /* with a plan */
    expect_refused(&sample);
    make(&sample, 3, 3, 1);
    sample.message.last = false; /* without one */
    expect_refused(&sample);
    make(&sample, 4, 3, 1);
    sample.message.from = AGENTS;
    expect_refused(&sample);
    make(&sample, 0, 3, 1);
    sample.message.round = TACIT_PHASED_ROUNDS_MAX + 2;
    expect_refused(&sample);
}

/* ---- The run ---- */

static const struct tacit_wire_phased_run sample_run = {.run_id = UINT64_C(0x0123456789abcdef),
                                                        .agent = 2,
                                                        .epsilon_nano = TACIT_NANO / 2,
                                                        .schedule = {.rule = TACIT_PHASES_INDEX,
                                                                     .arm_count = 5,
                                                                     .agent_count = 3,
                                                                     .horizon = 400000,
                                                                     .epsilon_per_reward = 0.5,
                                                                     .growth = 2,
                                                                     .arms_per_round = 4,
                                                                     .confidence = 0.9,
                                                                     .guard_arm = 3,
                                                                     .guard_loss = 0.02}};

static struct tacit_wire_announcement announce(const struct tacit_wire_phased_run *run,
                                               uint8_t parameters[PARAMETERS])
{
    struct tacit_wire_announcement announcement = {
        .agreement = {.protocol = TACIT_WIRE_PHASED_NAME,
                      .family = TACIT_WIRE_PHASED_FAMILY,
                      .protocol_version = TACIT_WIRE_PHASED_VERSION,
                      .agent_count = run->schedule.agent_count,
                      .arm_count = run->schedule.arm_count,
                      .horizon = run->schedule.horizon,
                      .epsilon_nano = run->epsilon_nano,
                      .parameters = parameters,
                      .parameters_size = PARAMETERS},
        .agent = run->agent};
    tacit_wire_run(run->run_id, announcement.agreement.run);
    struct tacit_wire_phased_run written = *run;
    if (!(run->schedule.guard_loss > 0))
        written.schedule.guard_arm = TACIT_NO_ARM;
    tacit_wire_encode(tacit_wire_phased.parameters, NULL, &written, parameters);
    return announcement;
}

TEST(the_run_survives_the_trip)
{
    uint8_t parameters[PARAMETERS];
    struct tacit_wire_phased_run run;
    for (int i = 0; i < 2; i++) {
        struct tacit_wire_phased_run wanted = sample_run;
        wanted.schedule.guard_loss = i == 0 ? 0.02 : 0;
        wanted.schedule.guard_arm = i == 0 ? 3 : 0;
        struct tacit_wire_announcement const announcement = announce(&wanted, parameters);
        assert_int_equal(
            tacit_wire_run_decode(&tacit_wire_phased, &announcement, &run, tacit_wire_heap()),
            TACIT_OK);
        assert_true(run.run_id == wanted.run_id && run.epsilon_nano == wanted.epsilon_nano);
        assert_int_equal(run.agent, 2);
        assert_int_equal(run.schedule.rule, wanted.schedule.rule);
        assert_int_equal(run.schedule.arms_per_round, 4);
        assert_int_equal(run.schedule.guard_arm, wanted.schedule.guard_arm);
        assert_true(fabs(run.schedule.guard_loss - wanted.schedule.guard_loss) <= 0);
        assert_true(fabs(run.schedule.confidence - 0.9) <= 0);
        assert_true(fabs(run.schedule.epsilon_per_reward - 0.5) <= 0);
    }
}

TEST(runs_that_cannot_be_are_refused)
{
    uint8_t parameters[PARAMETERS];
    struct tacit_wire_phased_run run;
    for (int i = 0; i < 10; i++) {
        struct tacit_wire_phased_run bad = sample_run;
        bad.schedule.growth = i == 0 ? 1 : 2;
        bad.schedule.confidence = i == 1 ? 1 : 0.9;
        bad.schedule.arms_per_round = i == 2 ? 1 : 4;
        bad.schedule.guard_arm = i == 3 ? 5 : 3;
        bad.agent = i == 4 ? 3 : 2;
        bad.epsilon_nano = i == 5 ? 0 : TACIT_NANO / 2;
        struct tacit_wire_announcement announcement = announce(&bad, parameters);
        if (i == 6)
            announcement.agreement.protocol = "elimination";
        if (i == 7)
            announcement.agreement.protocol_version++;
        if (i == 8)
            announcement.agreement.parameters_size--;
        if (i == 9)
            parameters[1] = 1; /* elimination, as it was once */
        assert_int_equal(
            tacit_wire_run_decode(&tacit_wire_phased, &announcement, &run, tacit_wire_heap()),
            TACIT_MALFORMED);
    }
}

/* ---- Known answers ---- */

struct place {
    uint32_t arm_count;
    uint32_t agent_count;
    uint32_t to;
};

static void digest_found(const struct tacit_phased_message *found)
{
    uint64_t const words[] = {(uint64_t)found->kind, found->from,        found->to,
                              found->run_id,         found->round,       found->seen,
                              found->last,           found->leader,      found->closed,
                              found->block_count,    found->sums != NULL};
    digest_bytes(words, sizeof words);
    for (uint32_t i = 0; found->blocks != NULL && i < found->block_count; i++) {
        digest_word(found->blocks[i].arm);
        digest_word(found->blocks[i].count);
    }
    if (found->sums != NULL)
        digest_bytes(found->sums, found->block_count * sizeof *found->sums);
    if (found->commit != NULL)
        digest_bytes(found->commit, sizeof *found->commit);
}

static void look(const uint8_t *bytes, size_t size, const void *context)
{
    struct place const *const place = context;
    struct tacit_phased_message *found = NULL;
    if (!wire_bytes_decode(WIRE(phased, place->arm_count, place->agent_count, 0, place->to), bytes,
                           size, &found))
        return;
    digest_found(found);
    digest_word(tacit_wire_label(tacit_wire_phased.messages, found).kind);
    wire_bytes_give(found);
}

/* With as many arms as the plan has, and none to spare: what is one beyond shows. */
TEST(damaged_messages_are_judged_as_they_were)
{
    static struct place const anywhere = {2, AGENTS, 0};
    wire_bytes_sizes(look, &anywhere);
    for (uint32_t shape = 0; shape < SHAPES; shape++)
        for (uint32_t count = 1; count <= 2; count++) {
            struct sample sample;
            struct wire_bytes word;
            make(&sample, shape, count, 7);
            sample.blocks[0].count = TACIT_HORIZON_MAX;
            sample.message.round = TACIT_PHASED_ROUNDS_MAX + (count == 1 ? 1 : 0);
            if (sample.message.leader != TACIT_NO_ARM)
                sample.message.leader = count - 1;
            struct place const place = {count, AGENTS, sample.message.to};
            word.bytes = encode(&sample.message, &word.size);
            wire_bytes_damage(word, look, &place);
            if (sample.message.leader != TACIT_NO_ARM) {
                sample.message.leader = TACIT_NO_ARM;
                testing_free(word.bytes);
                word.bytes = encode(&sample.message, &word.size);
                wire_bytes_damage(word, look, &place);
            }
            testing_free(word.bytes);
        }
}

static void look_at_parameters(const uint8_t *bytes, size_t size, const void *context)
{
    struct tacit_wire_announcement announcement = *(const struct tacit_wire_announcement *)context;
    struct tacit_wire_phased_run run = {.run_id = 0};
    announcement.agreement.parameters = bytes;
    announcement.agreement.parameters_size = size;
    digest_word((uint64_t)tacit_wire_run_decode(&tacit_wire_phased, &announcement, &run,
                                                tacit_wire_heap()));
    struct tacit_phases const *const schedule = &run.schedule;
    uint64_t const words[] = {run.run_id,          run.agent,
                              run.epsilon_nano,    (uint64_t)schedule->rule,
                              schedule->arm_count, schedule->agent_count,
                              schedule->horizon,   schedule->arms_per_round,
                              schedule->guard_arm};
    digest_bytes(words, sizeof words);
    double const numbers[] = {schedule->epsilon_per_reward, schedule->growth, schedule->confidence,
                              schedule->guard_loss};
    digest_bytes(numbers, sizeof numbers);
}

TEST(damaged_parameters_are_judged_as_they_were)
{
    for (int i = 0; i < 2; i++) {
        uint8_t parameters[PARAMETERS];
        struct tacit_wire_phased_run run = sample_run;
        run.schedule.guard_loss = i == 0 ? 0.02 : 0;
        run.schedule.guard_arm = i == 0 ? 4 : 0;
        struct tacit_wire_announcement announcement = announce(&run, parameters);
        wire_bytes_damage((struct wire_bytes){parameters, sizeof parameters}, look_at_parameters,
                          &announcement);
        uint8_t copy[PARAMETERS];
        memcpy(copy, parameters, sizeof copy);
        announcement.place_size = 1;
        look_at_parameters(copy, sizeof copy, &announcement);
        announcement.place_size = 0;
        announcement.agreement.family++;
        look_at_parameters(copy, sizeof copy, &announcement);
    }
}

DIGEST_IS(UINT64_C(0xa0dec8fe81d9e257))
