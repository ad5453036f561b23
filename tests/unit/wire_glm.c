/* The wire form of generalised linear bandits: every message survives the trip, and a peer's bytes
 * are taken only in the one form that we write. Under a sanitizer this also shows that no refusal
 * leaks or reads too far: every buffer is exactly as long as its message. */
#include "../support/testing.h"
#include "../support/wire_shape.h"
#include "../support/digest.h"
#include "../support/wire_bytes.h"
#include <math.h>
#include "tacit/random.h"
#include "tacit/wire_glm.h"

#define D 5u
#define CLIENTS 70u
#define SHAPES 9u

struct sample {
    struct tacit_glm_message message;
    double vector[TACIT_LINALG_STRIDE(D)];
    double target[TACIT_LINALG_STRIDE(D)];
    double matrix[TACIT_LINALG_MATRIX(D)];
    double steps[TACIT_LINALG_MATRIX(D)];
    uint64_t participants[TACIT_BITS_WORDS(CLIENTS)];
};

static void fill_symmetric(struct tacit_rng *rng, double *matrix)
{
    for (uint32_t i = 0; i < D; i++)
        for (uint32_t j = 0; j <= i; j++) {
            double const value = tacit_rng_normal(rng);
            matrix[i * TACIT_LINALG_STRIDE(D) + j] = value;
            matrix[j * TACIT_LINALG_STRIDE(D) + i] = value;
        }
}

/* Every kind, with and without what it may leave out. */
static void make(struct sample *sample, uint32_t shape)
{
    static const enum tacit_glm_message_kind kinds[SHAPES] = {
        TACIT_GLM_HELLO,    TACIT_GLM_TRIGGER, TACIT_GLM_FREEZE,
        TACIT_GLM_FROZEN,   TACIT_GLM_ITERATE, TACIT_GLM_GRADIENT,
        TACIT_GLM_GRADIENT, TACIT_GLM_COMMIT,  TACIT_GLM_COMMIT};
    struct tacit_rng rng = tacit_rng_stream(5, shape, 0, TACIT_PURPOSE_NOISE);
    memset(sample, 0, sizeof *sample);
    for (uint32_t i = 0; i < D; i++) {
        sample->vector[i] = tacit_rng_normal(&rng);
        sample->target[i] = tacit_rng_normal(&rng);
    }
    fill_symmetric(&rng, sample->matrix);
    fill_symmetric(&rng, sample->steps);
    tacit_bits_fill(sample->participants, CLIENTS);
    enum tacit_glm_message_kind const kind = kinds[shape];
    bool const is_commit = kind == TACIT_GLM_COMMIT;
    bool const is_of_hub =
        kind == TACIT_GLM_FREEZE || kind == TACIT_GLM_ITERATE || kind == TACIT_GLM_COMMIT;
    sample->message = (struct tacit_glm_message){.kind = kind,
                                                 .from = is_of_hub ? TACIT_HUB : CLIENTS - 1,
                                                 .to = 3,
                                                 .sync = 7,
                                                 .run_id = tacit_rng_next(&rng),
                                                 .attempt = 2,
                                                 .round = 9,
                                                 .digest = tacit_rng_next(&rng),
                                                 .slot = 1234567890123,
                                                 .count = 99,
                                                 .squares = shape == 8 ? 0.25 : 0,
                                                 .regret = shape == 8 ? 1e-9 : 0};
    if (kind == TACIT_GLM_ITERATE || kind == TACIT_GLM_GRADIENT || is_commit)
        sample->message.vector = sample->vector;
    if (kind == TACIT_GLM_FROZEN || shape == 6 || is_commit)
        sample->message.matrix = sample->matrix;
    if (is_commit) {
        sample->message.target = sample->target;
        sample->message.participants = sample->participants;
    }
    if (shape == 8)
        sample->message.steps = sample->steps;
}

/* The commit of variant 3 is. */
static size_t largest_bytes(uint32_t dimension, uint32_t client_count)
{
    static const double number;
    static const uint64_t set;
    return tacit_wire_bytes(WIRE(glm, 0, client_count, dimension),
                            &(struct tacit_glm_message){.vector = &number,
                                                        .matrix = &number,
                                                        .target = &number,
                                                        .steps = &number,
                                                        .participants = &set});
}

static uint8_t *encode(const struct tacit_glm_message *message, size_t *size)
{
    *size = tacit_wire_bytes(WIRE(glm, 0, CLIENTS, D), message);
    uint8_t *const bytes = malloc(*size);
    assert_non_null(bytes);
    tacit_wire_encode(WIRE(glm, 0, CLIENTS, D), message, bytes);
    return bytes;
}

static void same_numbers(const double *left, const double *right, size_t count)
{
    assert_true((left == NULL) == (right == NULL));
    if (left != NULL)
        assert_memory_equal(left, right, count * sizeof *left);
}

TEST(every_message_survives_the_trip)
{
    for (uint32_t shape = 0; shape < SHAPES; shape++) {
        struct sample sample;
        struct tacit_glm_message *back;
        size_t size;
        make(&sample, shape);
        struct tacit_glm_message const *const message = &sample.message;
        uint8_t *const bytes = encode(message, &size);
        assert_true(size <= largest_bytes(D, CLIENTS));
        assert_int_equal(
            tacit_wire_decode(WIRE(glm, 0, CLIENTS, D, 3), bytes, size, &back, tacit_wire_heap()),
            TACIT_OK);
        assert_true(back->kind == message->kind && back->from == message->from && back->to == 3);
        assert_true(back->sync == 7 && back->run_id == message->run_id && back->attempt == 2);
        assert_true(back->round == 9 && back->digest == message->digest && back->count == 99);
        assert_true(back->slot == message->slot && back->squares == message->squares &&
                    back->regret == message->regret);
        same_numbers(back->vector, message->vector, D);
        same_numbers(back->target, message->target, D);
        same_numbers(back->matrix, message->matrix, TACIT_LINALG_MATRIX(D));
        same_numbers(back->steps, message->steps, TACIT_LINALG_MATRIX(D));
        assert_true((back->participants == NULL) == (message->participants == NULL));
        if (back->participants != NULL)
            assert_memory_equal(back->participants, message->participants,
                                sizeof sample.participants);
        assert_true(back->inverse == NULL);
        assert_int_equal(tacit_wire_label(tacit_wire_glm.messages, back).kind,
                         tacit_wire_label(tacit_wire_glm.messages, message).kind);
        assert_int_equal(back->sync, 7);
        free(back);
        free(bytes);
    }
}

TEST(what_does_not_fit_this_run_is_refused)
{
    struct sample sample;
    struct tacit_glm_message *back;
    size_t size;
    make(&sample, 7);
    uint8_t *bytes = encode(&sample.message, &size);
    assert_int_equal(
        tacit_wire_decode(WIRE(glm, 0, CLIENTS, D + 1, 3), bytes, size, &back, tacit_wire_heap()),
        TACIT_MALFORMED);
    assert_int_equal(
        tacit_wire_decode(WIRE(glm, 0, CLIENTS + 64, D, 3), bytes, size, &back, tacit_wire_heap()),
        TACIT_MALFORMED);
    assert_int_equal(
        tacit_wire_decode(WIRE(glm, 0, CLIENTS - 1, D, 3), bytes, size, &back, tacit_wire_heap()),
        TACIT_MALFORMED); /* a participant beyond the last */
    free(bytes);
    double const bad[] = {NAN, INFINITY, -INFINITY};
    for (uint32_t i = 0; i < 3; i++)
        for (uint32_t where = 0; where < 4; where++) {
            make(&sample, 8);
            double *const places[] = {&sample.vector[2], &sample.target[4], &sample.matrix[0],
                                      &sample.message.regret};
            *places[where] = bad[i];
            bytes = encode(&sample.message, &size);
            assert_int_equal(tacit_wire_decode(WIRE(glm, 0, CLIENTS, D, 3), bytes, size, &back,
                                               tacit_wire_heap()),
                             TACIT_MALFORMED);
            free(bytes);
        }
}

/* ---- The private linear bandit ---- */

struct sound_sample {
    struct tacit_glm_sound_message message;
    int64_t sums[TACIT_GLM_PRIVATE_SUMS(D)];
    struct tacit_commit commit;
    struct tacit_helper_release masked;
};

#define SOUND_MASKED (TACIT_ROUND_REFUSAL + 1u) /* a report of two aggregators */

/* shape: the kind, or SOUND_MASKED. */
static void make_sound(struct sound_sample *sample, uint32_t shape, uint32_t d)
{
    enum tacit_round_kind const kind =
        shape == SOUND_MASKED ? TACIT_ROUND_REPORT : (enum tacit_round_kind)shape;
    bool const is_order = kind == TACIT_ROUND_ORDER;
    bool const is_of_hub = is_order || kind >= TACIT_ROUND_GRANT;
    memset(sample, 0, sizeof *sample);
    for (size_t i = 0; i < TACIT_GLM_PRIVATE_SUMS(d); i++)
        sample->sums[i] = -7 + 1000003 * (int64_t)i;
    memset(&sample->commit, 5, sizeof sample->commit);
    memset(&sample->masked, 9, sizeof sample->masked);
    sample->message = (struct tacit_glm_sound_message){
        .kind = kind,
        .from = is_of_hub ? TACIT_HUB : 1,
        .to = TACIT_HUB,
        .run_id = 11,
        .round = 6,
        .commit = is_order ? NULL : &sample->commit,
        .seen = is_order ? 5 : 0,
        .last = is_order,
        .closed = kind == TACIT_ROUND_GRANT,
        .forgot = kind == TACIT_ROUND_REFUSAL,
        .releases = is_order ? 15 : 0,
        .masked = shape == SOUND_MASKED ? &sample->masked : NULL,
        .sums = is_order || kind == TACIT_ROUND_REPORT ? sample->sums : NULL};
}

static void same_sound(const struct tacit_glm_sound_message *back,
                       const struct tacit_glm_sound_message *said, bool opens)
{
    assert_true(back->kind == said->kind && back->from == said->from && back->to == said->to &&
                back->run_id == said->run_id && back->round == said->round &&
                back->seen == said->seen && back->last == said->last &&
                back->closed == said->closed && back->forgot == said->forgot &&
                back->releases == said->releases);
    assert_true((back->sums == NULL) == (said->sums == NULL));
    if (said->sums != NULL)
        assert_memory_equal(back->sums, said->sums, TACIT_GLM_PRIVATE_SUMS(D) * sizeof(int64_t));
    assert_true((back->commit == NULL) == (said->commit == NULL));
    assert_true((back->masked == NULL) == (said->masked == NULL));
    if (said->masked != NULL)
        assert_true(memcmp(back->masked->envelope, said->masked->envelope,
                           sizeof said->masked->envelope) == 0 &&
                    memcmp(back->masked->blind, said->masked->blind, TACIT_SHA256_BYTES) == 0);
    if (opens)
        assert_memory_equal(back->commit->salt, said->commit->salt, TACIT_SHA256_BYTES);
    else if (said->commit != NULL)
        assert_memory_equal(back->commit->commitment, said->commit->commitment, TACIT_SHA256_BYTES);
}

TEST(sound_messages_survive_and_are_of_this_run)
{
    for (uint32_t shape = 0; shape <= SOUND_MASKED; shape++) {
        struct sound_sample sample;
        struct tacit_glm_sound_message *back;
        make_sound(&sample, shape, D);
        size_t const size = tacit_wire_bytes(WIRE(glm_sound, 0, 0, D), &sample.message);
        uint8_t *const bytes = malloc(size);
        tacit_wire_encode(WIRE(glm_sound, 0, 0, D), &sample.message, bytes);
        assert_int_equal(tacit_wire_decode(WIRE(glm_sound, 0, CLIENTS, D, TACIT_HUB), bytes, size,
                                           &back, tacit_wire_heap()),
                         TACIT_OK);
        same_sound(back, &sample.message, sample.message.kind == TACIT_ROUND_REPORT);
        free(back);
        if (sample.message.sums != NULL) /* sums of another dimension */
            assert_int_equal(tacit_wire_decode(WIRE(glm_sound, 0, CLIENTS, D - 1, TACIT_HUB), bytes,
                                               size, &back, tacit_wire_heap()),
                             TACIT_MALFORMED);
        if (sample.message.from != TACIT_HUB) /* nobody of this run */
            assert_int_equal(tacit_wire_decode(WIRE(glm_sound, 0, 1, D, TACIT_HUB), bytes, size,
                                               &back, tacit_wire_heap()),
                             TACIT_MALFORMED);
        free(bytes);
    }
}

/* ---- The run ---- */

static const char *const features[] = {"constant", "age", "dose"};
static const char *const arm_names[] = {"low", "high"};

static struct tacit_wire_announcement announce(const struct tacit_glm_model *model,
                                               const char *const *names, uint8_t *parameters)
{
    struct tacit_wire_glm_run const run = {.model = *model, .features = names};
    struct tacit_wire_announcement made = {
        .agreement = {.protocol = TACIT_WIRE_GLM_NAME,
                      .family = TACIT_WIRE_GLM_FAMILY,
                      .protocol_version = TACIT_WIRE_GLM_VERSION,
                      .agent_count = model->client_count,
                      .arm_count = 2,
                      .arms = arm_names,
                      .hi = 1,
                      .horizon = model->horizon,
                      .parameters = parameters,
                      .parameters_size = tacit_wire_bytes(tacit_wire_glm.parameters, NULL, &run)},
        .agent = 1};
    tacit_wire_run(model->run_id, made.agreement.run);
    tacit_wire_encode(tacit_wire_glm.parameters, NULL, &run, parameters);
    return made;
}

/* Dimension, names, norm, link, constants: each changes the digest that every message carries. */
TEST(the_digest_covers_everything_that_both_reckon_with)
{
    static const char *const others[] = {"constant", "age", "weight"};
    uint8_t digests[8][TACIT_WIRE_DIGEST_BYTES];
    for (uint32_t change = 0; change < 8; change++) {
        struct tacit_glm_model model =
            tacit_glm_model_init(TACIT_GLM_FEDGLB, TACIT_LINALG_LOGISTIC, 3, 3, 100);
        uint8_t parameters[512];
        model.run_id = 5;
        model.dimension = change == 1 ? 2 : 3;
        model.link = change == 2 ? TACIT_LINALG_PROBIT : model.link;
        model.norm_bound = change == 3 ? 2 : model.norm_bound;
        model.curvature *= change == 4 ? 1.0000001 : 1;
        model.noise_bound *= change == 5 ? 2 : 1;
        model.lambda = change == 6 ? 3 : model.lambda;
        struct tacit_wire_announcement const made =
            announce(&model, change == 7 ? others : features, parameters);
        assert_int_equal(
            tacit_wire_agreement_digest(&made.agreement, digests[change], tacit_wire_heap()),
            TACIT_OK);
        for (uint32_t before = 0; before < change; before++)
            assert_memory_not_equal(digests[before], digests[change], sizeof digests[0]);
    }
}

TEST(a_run_survives_and_others_are_refused)
{
    struct tacit_glm_model model =
        tacit_glm_model_init(TACIT_GLM_FEDGLB, TACIT_LINALG_LOGISTIC, 3, 3, 100);
    uint8_t parameters[512];
    struct tacit_wire_glm_run run;
    model.run_id = 5;
    model.clock = TACIT_GLM_COUNTS;
    model.explore = 0.1;
    struct tacit_wire_announcement const good = announce(&model, features, parameters);
    assert_int_equal(tacit_wire_run_decode(&tacit_wire_glm, &good, &run, tacit_wire_heap()),
                     TACIT_OK);
    assert_true(run.agent == 1 && run.model.dimension == 3 && run.model.run_id == 5);
    assert_true(run.model.explore == 0.1 && run.model.clock == TACIT_GLM_COUNTS);
    assert_true(run.model.curvature == model.curvature && run.model.horizon == 100);
    assert_string_equal(run.features[2], "dose");
    free((void *)(uintptr_t)run.features);
    for (uint32_t wrong = 0; wrong < 5; wrong++) {
        struct tacit_wire_announcement bad = good;
        bad.agreement.family += wrong == 0 ? 1u : 0u;
        bad.agreement.protocol_version += wrong == 1 ? 1u : 0u;
        bad.agreement.epsilon_nano = wrong == 2 ? 1 : 0; /* it protects nothing */
        bad.agreement.parameters_size -= wrong == 3 ? 1u : 0u;
        bad.place_size = wrong == 4 ? 1 : 0;
        assert_int_equal(tacit_wire_run_decode(&tacit_wire_glm, &bad, &run, tacit_wire_heap()),
                         TACIT_MALFORMED);
    }
}

/* ---- Known answers ---- */

struct place {
    uint32_t dimension;
    uint32_t client_count;
};

static void digest_numbers(const double *numbers, size_t count)
{
    digest_word(numbers != NULL);
    if (numbers != NULL)
        digest_bytes(numbers, count * sizeof *numbers);
}

static void look(const uint8_t *bytes, size_t size, const void *context)
{
    struct place const *const place = context;
    uint32_t const d = place->dimension;
    struct tacit_glm_message *found = NULL;
    if (!wire_bytes_decode(WIRE(glm, 0, place->client_count, d, 3), bytes, size, &found))
        return;
    uint64_t const words[] = {(uint64_t)found->kind, found->from,           found->to,
                              found->sync,           found->run_id,         found->attempt,
                              found->round,          found->digest,         found->slot,
                              found->count,          found->inverse != NULL};
    digest_bytes(words, sizeof words);
    digest_word(tacit_wire_label(tacit_wire_glm.messages, found).kind);
    digest_numbers(&found->squares, 1);
    digest_numbers(&found->regret, 1);
    digest_numbers(found->vector, d);
    digest_numbers(found->target, d);
    for (uint32_t i = 0; i < d; i++) { /* what stands beside the rows is nobody's */
        size_t const row = i * TACIT_LINALG_STRIDE((size_t)d);
        digest_numbers(found->matrix == NULL ? NULL : found->matrix + row, d);
        digest_numbers(found->steps == NULL ? NULL : found->steps + row, d);
    }
    digest_word(found->participants != NULL);
    if (found->participants != NULL)
        digest_bytes(found->participants, TACIT_BITS_WORDS(place->client_count) * sizeof(uint64_t));
    wire_bytes_give(found);
}

/* Numbers that no mathematics made, which would be other ones elsewhere. */
static void make_exact(struct sample *sample, uint32_t shape)
{
    make(sample, shape);
    sample->message.run_id = UINT64_C(0x0123456789abcdef);
    sample->message.digest = UINT64_C(0xfedcba9876543210);
    for (uint32_t i = 0; i < D; i++) {
        sample->vector[i] = 0.5 + i;
        sample->target[i] = -0.25 - i;
        for (uint32_t j = 0; j < D; j++) {
            sample->matrix[i * TACIT_LINALG_STRIDE(D) + j] = 1 + 8.0 * (i + j) + (i == j ? 3 : 0);
            sample->steps[i * TACIT_LINALG_STRIDE(D) + j] = 2 - 4.0 * (i + j) - (i == j ? 5 : 0);
        }
    }
}

TEST(damaged_messages_are_judged_as_they_were)
{
    static struct place const places[] = {{2, 4}, {1, 65}};
    wire_bytes_sizes(look, &places[0]);
    for (uint32_t shape = 0; shape < SHAPES; shape++)
        for (size_t i = 0; i < 2; i++) {
            struct sample sample;
            uint32_t const clients = places[i].client_count;
            make_exact(&sample, shape);
            memset(sample.participants, 0, sizeof sample.participants);
            tacit_bits_fill(sample.participants, clients);
            if (sample.message.from != TACIT_HUB)
                sample.message.from = clients - 1;
            struct wire_bytes const word = wire_bytes_new(
                tacit_wire_bytes(WIRE(glm, 0, clients, places[i].dimension), &sample.message));
            tacit_wire_encode(WIRE(glm, 0, clients, places[i].dimension), &sample.message,
                              word.bytes);
            wire_bytes_damage(word, look, &places[i]);
            digest_word(largest_bytes(places[i].dimension, clients));
            free(word.bytes);
        }
}

static void look_at_sound(const uint8_t *bytes, size_t size, const void *context)
{
    struct tacit_glm_sound_message *found = NULL;
    uint32_t const d = *(const uint32_t *)context;
    digest_word((uint64_t)tacit_wire_decode(WIRE(glm_sound, 0, 2, d, 1), bytes, size, &found,
                                            wire_bytes_memory()));
    if (found == NULL)
        return;
    uint64_t const words[] = {(uint64_t)found->kind, found->from,        found->to,
                              found->run_id,         found->round,       found->seen,
                              found->last,           found->closed,      found->forgot,
                              found->releases,       found->sums != NULL};
    digest_bytes(words, sizeof words);
    if (found->sums != NULL)
        digest_bytes(found->sums, TACIT_GLM_PRIVATE_SUMS(d) * sizeof *found->sums);
    if (found->commit != NULL)
        digest_bytes(found->commit, sizeof *found->commit);
    if (found->masked != NULL)
        digest_bytes(found->masked, sizeof *found->masked);
    wire_bytes_give(found);
}

TEST(damaged_sound_messages_are_judged_as_they_were)
{
    static uint32_t const dimensions[] = {1, 3};
    wire_bytes_sizes(look_at_sound, &dimensions[0]);
    for (uint32_t i = 0; i < 2 * (SOUND_MASKED + 1); i++) {
        struct sound_sample sample;
        uint32_t const d = dimensions[i % 2];
        make_sound(&sample, i / 2, d);
        struct wire_bytes const word =
            wire_bytes_new(tacit_wire_bytes(WIRE(glm_sound, 0, 0, d), &sample.message));
        tacit_wire_encode(WIRE(glm_sound, 0, 0, d), &sample.message, word.bytes);
        wire_bytes_damage(word, look_at_sound, &d);
        free(word.bytes);
    }
}

/* ---- Its run ---- */

static struct tacit_wire_glm_sound_run sound_run(void)
{
    return (struct tacit_wire_glm_sound_run){.model = {.run_id = 5,
                                                       .link = TACIT_LINALG_IDENTITY,
                                                       .exploration = TACIT_GLM_CONSTANT,
                                                       .client_count = 3,
                                                       .dimension = 3,
                                                       .batch_count = 6,
                                                       .epsilon = 1.5,
                                                       .delta = 1e-6,
                                                       .failure = 0.05,
                                                       .norm_bound = 2,
                                                       .noise_bound = 0.25,
                                                       .alpha = 0.75,
                                                       .explore = 0.125},
                                             .features = features};
}

static struct tacit_wire_announcement announce_sound(const struct tacit_wire_glm_sound_run *run,
                                                     uint8_t *parameters)
{
    struct tacit_glm_model other =
        tacit_glm_model_init(TACIT_GLM_FEDGLB, TACIT_LINALG_LOGISTIC, 3, 3, 100);
    uint8_t unused[512];
    other.run_id = 5;
    struct tacit_wire_announcement made = announce(&other, features, unused);
    made.agreement.protocol = TACIT_WIRE_GLM_SOUND_NAME;
    made.agreement.family = TACIT_WIRE_GLM_SOUND_FAMILY;
    made.agreement.protocol_version = TACIT_WIRE_GLM_SOUND_VERSION;
    made.agreement.epsilon_nano = 1500000000;
    made.agreement.parameters = parameters;
    made.agreement.parameters_size = tacit_wire_bytes(tacit_wire_glm_sound.parameters, NULL, run);
    tacit_wire_encode(tacit_wire_glm_sound.parameters, NULL, run, parameters);
    return made;
}

TEST(a_sound_run_survives_and_others_are_refused)
{
    uint8_t parameters[512];
    struct tacit_wire_glm_sound_run run = sound_run();
    struct tacit_wire_glm_sound_run back;
    struct tacit_wire_announcement const good = announce_sound(&run, parameters);
    assert_int_equal(tacit_wire_run_decode(&tacit_wire_glm_sound, &good, &back, tacit_wire_heap()),
                     TACIT_OK);
    assert_memory_equal(&back.model, &run.model, sizeof run.model);
    for (uint32_t i = 0; i < 3; i++)
        assert_string_equal(back.features[i], features[i]);
    free((void *)(uintptr_t)back.features);
    for (uint32_t wrong = 0; wrong < 7; wrong++) {
        run = sound_run();
        run.model.batch_count = wrong == 5 ? TACIT_GLM_SOUND_BATCHES_MAX + 1 : 6;
        run.model.link = wrong == 6 ? TACIT_LINALG_PROBIT : TACIT_LINALG_IDENTITY;
        struct tacit_wire_announcement bad = announce_sound(&run, parameters);
        bad.agreement.protocol = wrong == 0 ? TACIT_WIRE_GLM_NAME : bad.agreement.protocol;
        bad.agreement.family += wrong == 1 ? 1u : 0u;
        bad.agreement.protocol_version += wrong == 2 ? 1u : 0u;
        bad.agreement.epsilon_nano = wrong == 3 ? 0 : bad.agreement.epsilon_nano;
        bad.agreement.parameters_size -= wrong == 4 ? 1u : 0u;
        assert_int_equal(
            tacit_wire_run_decode(&tacit_wire_glm_sound, &bad, &back, tacit_wire_heap()),
            TACIT_MALFORMED);
    }
}

static void look_at_parameters(const uint8_t *bytes, size_t size, const void *context)
{
    struct tacit_wire_announcement announcement = *(const struct tacit_wire_announcement *)context;
    struct tacit_wire_glm_run run;
    announcement.agreement.parameters = bytes;
    announcement.agreement.parameters_size = size;
    enum tacit_status const status =
        tacit_wire_run_decode(&tacit_wire_glm, &announcement, &run, wire_bytes_memory());
    digest_word((uint64_t)status);
    if (status != TACIT_OK)
        return;
    struct tacit_glm_model const *const model = &run.model;
    uint64_t const words[] = {model->run_id,
                              (uint64_t)model->variant,
                              (uint64_t)model->exploration,
                              (uint64_t)model->clock,
                              (uint64_t)model->link,
                              model->client_count,
                              model->dimension,
                              model->horizon,
                              model->period,
                              run.agent};
    double const numbers[] = {model->threshold,     model->lambda,        model->delta,
                              model->norm_bound,    model->context_bound, model->noise_bound,
                              model->lipschitz,     model->curvature,     model->alpha,
                              model->suboptimality, model->explore};
    digest_bytes(words, sizeof words);
    digest_bytes(numbers, sizeof numbers);
    for (uint32_t i = 0; i < model->dimension; i++)
        digest_bytes(run.features[i], strlen(run.features[i]));
    wire_bytes_give(run.features);
}

TEST(damaged_parameters_are_judged_as_they_were)
{
    for (uint32_t i = 0; i < 2; i++) {
        struct tacit_glm_model model =
            tacit_glm_model_init(TACIT_GLM_FEDGLB, TACIT_LINALG_LOGISTIC, 3, 1 + 2 * i, 100);
        uint8_t parameters[512];
        model.run_id = 5;
        model.clock = i == 0 ? TACIT_GLM_COUNTS : model.clock;
        model.explore = i == 0 ? 0.1 : 0;
        model.period = 9;
        model.threshold = 1.5;
        model.noise_bound = 0.75;
        model.lipschitz = 0.25;
        model.curvature = 0.125;
        model.alpha = 0.375;
        model.suboptimality = 0.0625;
        model.norm_bound = 3;
        model.context_bound = 5;
        struct tacit_wire_announcement const good = announce(&model, features, parameters);
        wire_bytes_damage((struct wire_bytes){parameters, good.agreement.parameters_size},
                          look_at_parameters, &good);
    }
}

DIGEST_IS(UINT64_C(0xdd2ee4a16d1525d1))
