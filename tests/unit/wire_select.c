/* The wire form of user selection: every member of every message survives the trip, and a peer's
 * bytes are taken only in the one form that we write: with any byte changed to any other they are
 * refused, or they are another message, whose form they are. */
#include "../support/testing.h"
#include "../support/wire_shape.h"
#include "../support/digest.h"
#include "../support/wire_bytes.h"
#include "tacit/random.h"
#include "tacit/wire_select.h"

#define PARAMETERS 24u /* bytes */

#define SITES 5u
#define NUMBERS 3u
#define DIGESTS 2u
#define SHAPES 14u

struct sample {
    struct tacit_select_message message;
    struct tacit_commit commit;
    uint64_t set;
    uint8_t digests[DIGESTS * TACIT_SHA256_BYTES];
    float model[NUMBERS];
    int64_t steps[NUMBERS];
    struct tacit_helper_release masked;
};

struct shape {
    enum tacit_select_message_kind kind;
    bool is_of_hub;
    bool flag; /* of the last order, of a grant for nothing, of a vector of steps */
};

static const struct shape shapes[SHAPES] = {
    {TACIT_SELECT_HELLO, false, false},   {TACIT_SELECT_ORDER, true, false},
    {TACIT_SELECT_ORDER, true, true},     {TACIT_SELECT_REQUEST, true, true},
    {TACIT_SELECT_REQUEST, false, false}, {TACIT_SELECT_PIECE, true, false},
    {TACIT_SELECT_PIECE, false, true},    {TACIT_SELECT_COMMIT, false, false},
    {TACIT_SELECT_GRANT, true, false},    {TACIT_SELECT_GRANT, true, true},
    {TACIT_SELECT_REFUSAL, true, false},  {TACIT_SELECT_UPDATE, false, false},
    {TACIT_SELECT_ORDER, true, false},    {TACIT_SELECT_UPDATE, false, false}};

/* The last two are of two aggregators. */
static bool is_of_two(uint32_t number)
{
    return number >= SHAPES - 2;
}

static void fill(void *bytes, size_t size, struct tacit_rng *rng)
{
    for (size_t i = 0; i < size; i++)
        ((uint8_t *)bytes)[i] = (uint8_t)tacit_rng_next(rng);
}

/* What the shape does not have stays as a decoder leaves it. */
static void put_commit(struct tacit_commit *commit, enum tacit_select_message_kind kind,
                       struct tacit_rng *rng)
{
    if (kind != TACIT_SELECT_UPDATE)
        fill(commit->commitment, sizeof commit->commitment, rng);
    if (kind == TACIT_SELECT_COMMIT || kind == TACIT_SELECT_UPDATE)
        fill(commit->previous, sizeof commit->previous, rng);
    if (kind == TACIT_SELECT_UPDATE)
        fill(commit->salt, sizeof commit->salt, rng);
}

static void put_piece(struct sample *sample, bool of_steps, struct tacit_rng *rng)
{
    struct tacit_select_message *const message = &sample->message;
    for (uint32_t i = 0; i < NUMBERS; i++) {
        sample->model[i] = 0.5f + (float)i;
        sample->steps[i] = (int64_t)(tacit_rng_next(rng) >> 24);
    }
    message->vector = of_steps ? TACIT_SELECT_STEPS : TACIT_SELECT_MODEL;
    message->model_piece = of_steps ? NULL : sample->model;
    message->step_piece = of_steps ? sample->steps : NULL;
    message->number_count = NUMBERS;
    message->first = 1;
}

static void make(struct sample *sample, uint32_t number)
{
    struct shape const *const shape = &shapes[number];
    struct tacit_rng rng = tacit_rng_stream(20261122, number, 0, TACIT_PURPOSE_NOISE);
    *sample = (struct sample){.message = {.kind = shape->kind,
                                          .from = shape->is_of_hub ? TACIT_HUB : 4,
                                          .to = shape->is_of_hub ? 2 : TACIT_HUB,
                                          .run_id = tacit_rng_next(&rng),
                                          .round = 3}};
    struct tacit_select_message *const message = &sample->message;
    fill(sample->digests, sizeof sample->digests, &rng);
    sample->set = UINT64_C(0x15);
    if (shape->kind == TACIT_SELECT_ORDER) {
        message->last = shape->flag;
        message->seen = 2;
        message->set = &sample->set;
    }
    if (shape->kind == TACIT_SELECT_ORDER || shape->kind == TACIT_SELECT_UPDATE) {
        message->digests = sample->digests;
        message->digest_count = DIGESTS;
    }
    if (shape->kind == TACIT_SELECT_HELLO || shape->kind == TACIT_SELECT_UPDATE)
        message->spent_nano = 12345678901;
    if (shape->kind == TACIT_SELECT_UPDATE) {
        fill(message->model, sizeof message->model, &rng);
        message->participation = 7;
        message->price_nano = 987654321;
    }
    if (is_of_two(number) && shape->kind == TACIT_SELECT_ORDER)
        message->epsilon_nano = 87654321;
    if (is_of_two(number) && shape->kind == TACIT_SELECT_UPDATE) {
        fill(&sample->masked, sizeof sample->masked, &rng);
        message->masked = &sample->masked;
    }
    message->forgot = shape->kind == TACIT_SELECT_REFUSAL;
    if (shape->kind == TACIT_SELECT_REQUEST) {
        message->vector = shape->flag ? TACIT_SELECT_STEPS : TACIT_SELECT_MODEL;
        message->first = 32;
        message->mask = 0x80000001;
    }
    if (shape->kind == TACIT_SELECT_PIECE)
        put_piece(sample, shape->flag, &rng);
    else if (shape->kind != TACIT_SELECT_ORDER && shape->kind != TACIT_SELECT_REQUEST) {
        put_commit(&sample->commit, shape->kind, &rng);
        message->commit = &sample->commit;
    }
    message->closed = shape->kind == TACIT_SELECT_GRANT && shape->flag;
}

static void expect_equal(const struct tacit_select_message *a, const struct tacit_select_message *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->from, b->from);
    assert_int_equal(a->to, b->to);
    assert_true(a->run_id == b->run_id);
    assert_int_equal(a->round, b->round);
    assert_int_equal(a->last, b->last);
    assert_int_equal(a->seen, b->seen);
    assert_int_equal(a->set == NULL, b->set == NULL);
    if (a->set != NULL)
        assert_true(*a->set == *b->set);
    assert_int_equal(a->digest_count, b->digest_count);
    if (a->digest_count > 0)
        assert_memory_equal(a->digests, b->digests, a->digest_count * (size_t)TACIT_SHA256_BYTES);
    assert_true(a->spent_nano == b->spent_nano);
    assert_memory_equal(a->model, b->model, sizeof a->model);
    assert_int_equal(a->participation, b->participation);
    assert_true(a->price_nano == b->price_nano);
    assert_true(a->epsilon_nano == b->epsilon_nano);
    assert_int_equal(a->masked == NULL, b->masked == NULL);
    if (a->masked != NULL)
        assert_memory_equal(a->masked, b->masked, sizeof *a->masked);
    assert_int_equal(a->commit == NULL, b->commit == NULL);
    if (a->commit != NULL)
        assert_memory_equal(a->commit, b->commit, sizeof *a->commit);
    assert_int_equal(a->closed, b->closed);
    assert_int_equal(a->forgot, b->forgot);
    assert_int_equal(a->vector, b->vector);
    assert_int_equal(a->first, b->first);
    assert_int_equal(a->mask, b->mask);
    assert_int_equal(a->number_count, b->number_count);
    assert_int_equal(a->model_piece == NULL, b->model_piece == NULL);
    if (a->model_piece != NULL)
        assert_memory_equal(a->model_piece, b->model_piece, NUMBERS * sizeof(float));
    assert_int_equal(a->step_piece == NULL, b->step_piece == NULL);
    if (a->step_piece != NULL)
        assert_memory_equal(a->step_piece, b->step_piece, NUMBERS * sizeof(int64_t));
}

/* In memory that is exactly as long, so that a sanitizer sees a read or write beyond it. */
static uint8_t *encoded(const struct tacit_select_message *message, size_t *size)
{
    *size = tacit_wire_bytes(WIRE(select, 0, SITES), message);
    uint8_t *const bytes = testing_malloc(*size);
    tacit_wire_encode(WIRE(select, 0, SITES), message, bytes);
    return bytes;
}

TEST(every_member_survives_the_trip)
{
    for (uint32_t i = 0; i < SHAPES; i++) {
        struct sample sample;
        struct tacit_select_message *heard = NULL;
        size_t size;
        make(&sample, i);
        uint8_t *const bytes = encoded(&sample.message, &size);
        assert_int_equal(tacit_wire_decode(WIRE(select, 0, SITES, 0, sample.message.to), bytes,
                                           size, &heard, tacit_wire_heap()),
                         TACIT_OK);
        expect_equal(heard, &sample.message);
        testing_free(heard);
        testing_free(bytes);
    }
}

/* Of two aggregators: who leaves out a member of the three, or all but one, is not understood. */
TEST(what_opens_masked_words_is_whole)
{
    static const size_t lengths[] = {TACIT_SHA256_BYTES, TACIT_HELPER_ENVELOPE_BYTES,
                                     TACIT_SHA256_BYTES};
    struct sample sample;
    size_t size;
    make(&sample, SHAPES - 1);
    uint8_t *const bytes = encoded(&sample.message, &size);
    for (uint32_t kept = 0; kept < 7; kept++) { /* bits: which of the three */
        uint8_t *const part = testing_malloc(size);
        struct tacit_select_message *heard = NULL;
        size_t from = size;
        for (size_t i = 0; i < 3; i++)
            from -= lengths[i] + 2;
        memcpy(part, bytes, from);
        size_t at = from;
        for (size_t i = 0; i < 3; from += lengths[i] + 2, i++)
            if ((kept >> i & 1u) != 0) {
                memcpy(part + at, bytes + from, lengths[i] + 2);
                at += lengths[i] + 2;
            }
        /* the body's length, in two bytes, is in front of it */
        for (size_t i = 0; i + 2 < at; i++)
            if (part[i] == (uint8_t)(0x80 | ((size - i - 2) & 0x7f)) &&
                part[i + 1] == (uint8_t)((size - i - 2) >> 7)) {
                part[i] = (uint8_t)(0x80 | ((at - i - 2) & 0x7f));
                part[i + 1] = (uint8_t)((at - i - 2) >> 7);
                break;
            }
        enum tacit_status const status = tacit_wire_decode(WIRE(select, 0, SITES, 0, TACIT_HUB),
                                                           part, at, &heard, tacit_wire_heap());
        assert_int_equal(status, kept == 0 ? TACIT_OK : TACIT_MALFORMED);
        testing_free(heard);
        testing_free(part);
    }
}

/* ---- Known answers ---- */

static void digest_found(const struct tacit_select_message *found)
{
    static const struct tacit_commit nothing;
    uint64_t const words[] = {(uint64_t)found->kind,
                              found->from,
                              found->to,
                              found->run_id,
                              found->round,
                              found->last,
                              found->seen,
                              found->digest_count,
                              found->spent_nano,
                              found->participation,
                              found->price_nano,
                              found->closed,
                              (uint64_t)found->vector,
                              found->first,
                              found->mask,
                              found->number_count,
                              found->set != NULL,
                              found->model_piece != NULL,
                              found->step_piece != NULL};
    digest_bytes(words, sizeof words);
    if (found->set != NULL)
        digest_word(*found->set);
    digest_bytes(found->model, sizeof found->model);
    digest_bytes(found->commit == NULL ? &nothing : found->commit, sizeof nothing);
    if (found->digest_count > 0)
        digest_bytes(found->digests, found->digest_count * (size_t)TACIT_SHA256_BYTES);
    if (found->model_piece != NULL)
        digest_bytes(found->model_piece, found->number_count * sizeof(float));
    if (found->step_piece != NULL)
        digest_bytes(found->step_piece, found->number_count * sizeof(int64_t));
}

static void look(const uint8_t *bytes, size_t size, const void *context)
{
    struct tacit_select_message *found = NULL;
    if (!wire_bytes_decode(WIRE(select, 0, SITES, 0, *(const uint32_t *)context), bytes, size,
                           &found))
        return;
    digest_found(found);
    for (uint32_t kind = 0; kind < 12; kind++)
        digest_word((uint32_t)found->kind == kind);
    wire_bytes_give(found);
}

static void damage(const struct sample *sample)
{
    struct wire_bytes word;
    word.bytes = encoded(&sample->message, &word.size);
    wire_bytes_damage(word, look, &sample->message.to);
}

TEST(damaged_messages_are_judged_as_they_were)
{
    static const uint32_t to = TACIT_HUB;
    wire_bytes_sizes(look, &to);
    for (uint32_t i = 0; i < SHAPES - 2; i++) {
        struct sample sample;
        make(&sample, i);
        damage(&sample);
        sample.message.round = TACIT_SELECT_ROUNDS_MAX + (i % 2);
        sample.message.first = 255;
        if (sample.message.digest_count > 0)
            sample.message.digest_count = 1;
        if (sample.message.number_count > 0)
            sample.message.number_count = 1;
        damage(&sample);
    }
}

/* The greatest piece, and those that are a number longer; the most digests, and one more. */
TEST(the_longest_messages_are_judged_as_they_were)
{
    static float model[TACIT_SELECT_DIMENSION_MAX];
    static int64_t steps[TACIT_SELECT_DIMENSION_MAX];
    static uint8_t digests[260 * TACIT_SHA256_BYTES];
    for (uint32_t i = 0; i < SHAPES - 2; i++)
        for (uint32_t more = 0; more < 4; more++) {
            struct sample sample;
            struct wire_bytes word;
            make(&sample, i);
            if (sample.message.digest_count > 0) {
                sample.message.digests = digests;
                sample.message.digest_count = 254 + more;
            } else if (sample.message.number_count > 0) {
                bool const is_model = sample.message.model_piece != NULL;
                uint32_t const whole = TACIT_SELECT_PIECE_BYTES / (is_model ? 4 : 8);
                sample.message.model_piece = is_model ? model : NULL;
                sample.message.step_piece = is_model ? NULL : steps;
                sample.message.number_count = whole - 2 + more;
            }
            word.bytes = encoded(&sample.message, &word.size);
            look(word.bytes, word.size, &sample.message.to);
            testing_free(word.bytes);
        }
}

/* ---- The run ---- */

static const struct tacit_wire_select_run sample_run = {.run_id = UINT64_C(0x0123456789abcdef),
                                                        .agent = 4,
                                                        .agent_count = SITES,
                                                        .horizon = 90,
                                                        .epsilon_nano = 2000000003,
                                                        .dimension = 12,
                                                        .batches = 3,
                                                        .deadline_s = 45,
                                                        .clip = 0.75};

static struct tacit_wire_announcement announce(const struct tacit_wire_select_run *run,
                                               uint8_t *parameters)
{
    struct tacit_wire_announcement announcement = {
        .agreement = {.protocol = TACIT_WIRE_SELECT_NAME,
                      .family = TACIT_WIRE_SELECT_FAMILY,
                      .protocol_version = TACIT_WIRE_SELECT_VERSION,
                      .agent_count = run->agent_count,
                      .arm_count = run->agent_count,
                      .horizon = run->horizon,
                      .epsilon_nano = run->epsilon_nano,
                      .parameters = parameters,
                      .parameters_size = PARAMETERS},
        .agent = run->agent};
    tacit_wire_run(run->run_id, announcement.agreement.run);
    tacit_wire_encode(tacit_wire_select.parameters, NULL, run, parameters);
    return announcement;
}

static void look_at_parameters(const uint8_t *bytes, size_t size, const void *context)
{
    struct tacit_wire_announcement announcement = *(const struct tacit_wire_announcement *)context;
    struct tacit_wire_select_run run = {.run_id = 0};
    announcement.agreement.parameters = bytes;
    announcement.agreement.parameters_size = size;
    digest_word((uint64_t)tacit_wire_run_decode(&tacit_wire_select, &announcement, &run,
                                                tacit_wire_heap()));
    uint64_t const words[] = {run.run_id,       run.agent,     run.agent_count, run.horizon,
                              run.epsilon_nano, run.dimension, run.batches,     run.deadline_s};
    digest_bytes(words, sizeof words);
    digest_bytes(&run.clip, sizeof run.clip);
}

TEST(damaged_parameters_are_judged_as_they_were)
{
    for (int i = 0; i < 3; i++) {
        uint8_t parameters[PARAMETERS];
        struct tacit_wire_select_run run = sample_run;
        run.dimension = i == 1 ? TACIT_SELECT_DIMENSION_MAX : run.dimension;
        run.clip = i == 1 ? 1e100 : run.clip;
        run.deadline_s = i == 2 ? 1 : run.deadline_s;
        struct tacit_wire_announcement const announcement = announce(&run, parameters);
        wire_bytes_damage((struct wire_bytes){parameters, sizeof parameters}, look_at_parameters,
                          &announcement);
    }
}

TEST(a_run_survives_and_others_are_refused)
{
    uint8_t parameters[PARAMETERS];
    struct tacit_wire_announcement const good = announce(&sample_run, parameters);
    for (int wrong = 0; wrong < 11; wrong++) {
        struct tacit_wire_select_run run = {.run_id = 0};
        struct tacit_wire_announcement other = good;
        other.agreement.family += wrong == 1;
        other.agreement.protocol_version += wrong == 2;
        other.agreement.protocol = wrong == 3 ? "selec" : other.agreement.protocol;
        other.agreement.arm_count += wrong == 4;
        other.place_size = wrong == 5;
        other.agreement.horizon = wrong == 6   ? TACIT_SELECT_ROUNDS_MAX + 1
                                  : wrong == 7 ? 0
                                  : wrong == 8 ? TACIT_SELECT_ROUNDS_MAX
                                  : wrong == 9 ? 1
                                               : other.agreement.horizon;
        other.agreement.parameters_size -= wrong == 10;
        bool const is_good = wrong == 0 || wrong == 8 || wrong == 9;
        assert_int_equal(tacit_wire_run_decode(&tacit_wire_select, &other, &run, tacit_wire_heap()),
                         is_good ? TACIT_OK : TACIT_MALFORMED);
        assert_true(run.horizon == (is_good ? other.agreement.horizon : 0));
    }
}

DIGEST_IS(UINT64_C(0x64c48f88b68f156e))
