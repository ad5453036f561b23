/* One form of each message of each family, and no other: its fields left out, doubled, exchanged,
 * cut, with unknown ones among them, with tags and lengths in more bytes than they need, at every
 * depth, and all lengths around them right. What is taken all the same (a field need not be there,
 * or may be there again) is written again as the same bytes. Every buffer is as long as it is said
 * to be, for a sanitizer. */
#include "../support/wire_shape.h"
#include "../support/testing.h"
#include "../support/wire_bytes.h"
#include "tacit/wire_elim.h"
#include "tacit/wire_glm.h"
#include "tacit/wire_gossip.h"
#include "tacit/wire_phased.h"
#include "tacit/wire_select.h"
#include "tacit/wire_vote.h"

#define K 3u
#define A 9u
#define D 3u
#define BYTES_MAX 4096u
#define PARTS_MAX 64u
#define HEAP tacit_wire_heap()

static const uint64_t arms[1] = {5};
static const uint64_t agents[1] = {0x102};
static const struct tacit_commit commit = {.commitment = {1}, .previous = {2}, .salt = {3}};
static const uint64_t counts[K] = {1, 2, 3};
static const double numbers[16] = {0.5, 0.25};
static const uint8_t digests[2 * TACIT_SHA256_BYTES] = {4};

/* ---- Families -------------------------------------------------------------------------------- */

static const struct tacit_elim_change changes[2] = {{.kind = 1, .number = 1, .value = 7},
                                                    {.kind = 5, .number = 2, .subject = 1}};
static const union tacit_sum sums[4] = {{.steps = 5}, {.steps = -6}, {.steps = 7}, {.steps = 8}};
static const struct tacit_elim_opening openings[2] = {{.salt = {9}, .signature = {8}}};
static const struct tacit_elim_proof proof = {.agent = 3, .subjects = {{1}}, .signatures = {{2}}};
#define HISTORY .has_history = true, .history = {.rounds = 2, .is_last = true, .digest = {7}}

static const struct tacit_elim_message elim[] = {
    {.kind = TACIT_ELIM_HELLO, .epoch = 1},
    {.kind = TACIT_ELIM_HELLO, .origins = agents, .commit = &commit, .refused = arms, HISTORY},
    {.kind = TACIT_ELIM_ORDER,
     .epoch = 2,
     .arms = arms,
     .uploaders = agents,
     .leader = 3,
     .change_count = 2,
     .changes = changes},
    {.kind = TACIT_ELIM_REPORT,
     .epoch = 2,
     .arms = arms,
     .sum_count = 2,
     .sums = sums,
     .commit = &commit},
    {.kind = TACIT_ELIM_REPORT,
     .epoch = 2,
     .arms = arms,
     .sum_count = 2,
     .sums = sums,
     .commit = &commit,
     .agents = 2},
    {.kind = TACIT_ELIM_ADVERT, .epoch = 2, .origins = agents, HISTORY},
    {.kind = TACIT_ELIM_REQUEST, .epoch = 2, .origins = agents},
    {.kind = TACIT_ELIM_DATA,
     .epoch = 2,
     .arms = arms,
     .origins = agents,
     .sum_count = 2,
     .sums = sums,
     .openings = openings,
     .is_signed = true,
     HISTORY},
    {.kind = TACIT_ELIM_COMMIT, .epoch = 2, .commit = &commit, .refused = arms},
    {.kind = TACIT_ELIM_GRANT, .epoch = 2, .commit = &commit, .closed = true},
    {.kind = TACIT_ELIM_REFUSAL, .epoch = 2, .commit = &commit, .forgot = true},
    {.kind = TACIT_ELIM_PROOF, .epoch = 2, .proof = &proof},
};

static const struct tacit_pull_block blocks[2] = {{0, 4}, {2, 5}};
static const int64_t steps[2] = {6, -7};
static const struct tacit_phased_message phased[] = {
    {.kind = TACIT_ROUND_HELLO},
    {.kind = TACIT_ROUND_HELLO, .commit = &commit},
    {.kind = TACIT_ROUND_ORDER, .round = 1, .block_count = 2, .blocks = blocks},
    {.kind = TACIT_ROUND_ORDER, .round = 2, .last = true, .leader = 1},
    {.kind = TACIT_ROUND_REPORT, .round = 1, .block_count = 2, .sums = steps, .commit = &commit},
    {.kind = TACIT_ROUND_COMMIT, .round = 1, .commit = &commit},
    {.kind = TACIT_ROUND_GRANT, .round = 1, .commit = &commit},
    {.kind = TACIT_ROUND_REFUSAL, .round = 1, .commit = &commit},
};

static const int64_t noised[K] = {6, 0, -7};
static const struct tacit_vote_hub_message votes[] = {
    {.kind = TACIT_VOTE_HELLO},
    {.kind = TACIT_VOTE_COMMIT, .draw = 1, .commitment = {1}},
    {.kind = TACIT_VOTE_CAST, .draw = 1, .reset = 2, .marks = arms, .commitment = {1}},
    {.kind = TACIT_VOTE_GRANTED, .draw = 1, .commitment = {1}},
    {.kind = TACIT_VOTE_REFUSED, .draw = 1, .commitment = {1}, .forgot = true},
    {.kind = TACIT_VOTE_ROW, .player = 1, .reset = 2, .marks = arms},
    {.kind = TACIT_VOTE_ANEW, .reset = 2},
    {.kind = TACIT_VOTE_RELEASE, .draw = 1, .marks = arms, .sums = noised},
};

static const float model[2] = {1, 2};
static const struct tacit_select_message training[] = {
    {.kind = TACIT_SELECT_HELLO, .commit = &commit, .spent_nano = 3},
    {.kind = TACIT_SELECT_ORDER, .round = 1, .set = agents, .digests = digests, .digest_count = 2},
    {.kind = TACIT_SELECT_REQUEST, .round = 1, .vector = TACIT_SELECT_STEPS, .mask = 3},
    {.kind = TACIT_SELECT_PIECE, .round = 1, .model_piece = model, .number_count = 2},
    {.kind = TACIT_SELECT_PIECE,
     .round = 1,
     .vector = TACIT_SELECT_STEPS,
     .step_piece = steps,
     .number_count = 2},
    {.kind = TACIT_SELECT_COMMIT, .commit = &commit, .round = 1},
    {.kind = TACIT_SELECT_GRANT, .commit = &commit, .round = 1, .closed = true},
    {.kind = TACIT_SELECT_REFUSAL, .commit = &commit, .round = 1},
    {.kind = TACIT_SELECT_UPDATE,
     .commit = &commit,
     .round = 1,
     .digests = digests,
     .digest_count = 2},
};

static const struct tacit_gossip_message gossip[] = {
    {.kind = TACIT_GOSSIP_COUNTS, .seen = counts},
    {.kind = TACIT_GOSSIP_ASK},
    {.kind = TACIT_GOSSIP_OFFER, .seen = counts, .theta = numbers, .flow = numbers},
    {.kind = TACIT_GOSSIP_SHIFT, .exchange = 1, .shift = numbers, .flow = numbers},
    {.kind = TACIT_GOSSIP_REFUSE},
};

static const struct tacit_glm_message glm[] = {
    {.kind = TACIT_GLM_HELLO},
    {.kind = TACIT_GLM_COMMIT,
     .vector = numbers,
     .matrix = numbers,
     .target = numbers,
     .steps = numbers,
     .participants = agents},
};

static const int64_t private_sums[TACIT_GLM_PRIVATE_SUMS(D)] = {1};
static const struct tacit_glm_sound_message sound[] = {
    {.kind = TACIT_ROUND_HELLO, .commit = &commit},
    {.kind = TACIT_ROUND_ORDER, .sums = private_sums, .last = true, .releases = 3},
    {.kind = TACIT_ROUND_REPORT, .commit = &commit, .sums = private_sums},
    {.kind = TACIT_ROUND_COMMIT, .commit = &commit},
    {.kind = TACIT_ROUND_GRANT, .commit = &commit, .closed = true},
    {.kind = TACIT_ROUND_REFUSAL, .commit = &commit, .forgot = true},
};

static const char *const names[K] = {"a", "b", "c"};
static const struct tacit_wire_announcement invitations[] = {
    {.agreement = {.protocol = "x",
                   .agent_count = A,
                   .arm_count = K,
                   .arms = names,
                   .hi = 1,
                   .horizon = 5,
                   .parameters = digests,
                   .parameters_size = 3},
     .agent = 1,
     .place = digests,
     .place_size = 2},
};
#define FAMILY(name, samples)                                                                      \
    {                                                                                              \
        &tacit_wire_##name, NULL, samples, sizeof samples[0], sizeof samples / sizeof samples[0]   \
    }
static const struct family {
    const struct tacit_wire_protocol *protocol; /* NULL: .. */
    const struct tacit_wire_table *table;       /* .. the table of its messages */
    const void *samples;
    size_t sample_size;
    size_t sample_count;
} families[] = {
    FAMILY(elim, elim),
    FAMILY(phased, phased),
    FAMILY(vote, votes),
    FAMILY(select, training),
    FAMILY(gossip, gossip),
    FAMILY(glm, glm),
    FAMILY(glm_sound, sound),
    {NULL, &tacit_wire_announcement, invitations, sizeof invitations[0], 1},
};

static const struct tacit_wire_table *table_of(const struct family *family)
{
    return family->protocol == NULL ? family->table : family->protocol->messages;
}

/* Writes a message; their number. */
static size_t write_one(const struct family *family, const void *message, uint8_t *bytes)
{
    tacit_wire_encode(table_of(family), SHAPE(K, A, D), message, bytes);
    return tacit_wire_bytes(table_of(family), SHAPE(K, A, D), message);
}

/* Reads; what was found, written again. 0: refused. */
static size_t write_again(const struct family *family, const uint8_t *bytes, size_t size,
                          uint8_t *again)
{
    void *found = NULL;
    if (tacit_wire_decode(table_of(family), SHAPE(K, A, D), bytes, size, &found, HEAP) != TACIT_OK)
        return 0;
    size_t const written = write_one(family, found, again);
    testing_free(found);
    return written;
}

/* ---- Other forms ----------------------------------------------------------------------------- */

/* Around a part: what comes before its length, and behind it. */
struct layer {
    const struct layer *outer;
    const uint8_t *before;
    size_t before_size;
    const uint8_t *after;
    size_t after_size;
};

static const struct family *shown;
static size_t refused_count;

static size_t put_length(uint8_t *bytes, size_t value)
{
    size_t size = 0;
    for (; value >= 128; value >>= 7)
        bytes[size++] = (uint8_t)(value | 128);
    bytes[size++] = (uint8_t)value;
    return size;
}

/* Refused, or what was found is written again as these bytes. */
static void show(const struct layer *layer, const uint8_t *bytes, size_t size)
{
    static uint8_t again[2 * BYTES_MAX];
    if (layer != NULL) {
        uint8_t whole[2 * BYTES_MAX];
        size_t at = layer->before_size;
        assert_true(at + size + layer->after_size + 10 <= sizeof whole);
        memcpy(whole, layer->before, at);
        at += put_length(whole + at, size);
        memcpy(whole + at, bytes, size);
        memcpy(whole + at + size, layer->after, layer->after_size);
        show(layer->outer, whole, at + size + layer->after_size);
        return;
    }
    uint8_t *const exact = wire_bytes_exact(bytes, size);
    size_t const written = write_again(shown, exact, size, again);
    assert_true(written == 0 || written == size);
    if (written > 0)
        assert_memory_equal(again, exact, size);
    refused_count += written == 0;
    testing_free(exact);
}

struct part {
    size_t at;
    size_t content; /* behind the tag, and of one with a length behind that */
    size_t end;
    bool has_length;
};

static size_t take_length(const uint8_t *bytes, size_t size, size_t *at)
{
    size_t value = 0;
    for (unsigned shift = 0; shift <= 21 && *at < size; shift += 7) {
        value |= (size_t)(bytes[*at] & 127u) << shift;
        if (bytes[(*at)++] < 128)
            break;
    }
    return value;
}

/* false: they are no fields. */
static bool split(const uint8_t *bytes, size_t size, struct part parts[PARTS_MAX], size_t *count)
{
    size_t at = 0;
    for (*count = 0; at < size && *count < PARTS_MAX; ++*count) {
        struct part *const part = &parts[*count];
        part->at = at;
        size_t const tag = take_length(bytes, size, &at);
        part->has_length = tag % 8 == 2;
        if (tag / 8 == 0 || (tag % 8 != 1 && tag % 8 != 2 && tag % 8 != 5) || at >= size)
            return false;
        size_t const length = part->has_length ? take_length(bytes, size, &at)
                              : tag % 8 == 1   ? 8
                                               : 4;
        part->content = at;
        at += length;
        part->end = at;
    }
    return at == size;
}

/* The bytes with `more` in place of those from `from` to `to`. */
static void show_with(const struct layer *layer, const uint8_t *bytes, size_t size, size_t from,
                      size_t to, const uint8_t *more, size_t more_size)
{
    uint8_t made[2 * BYTES_MAX];
    assert_true(size + more_size <= sizeof made);
    memcpy(made, bytes, from);
    if (more_size > 0)
        memcpy(made + from, more, more_size);
    memcpy(made + from + more_size, bytes + to, size - to);
    show(layer, made, size - (to - from) + more_size);
}

/* A last byte of a tag or a length at `at`, in one byte more than it needs. */
static void show_longer(const struct layer *layer, const uint8_t *bytes, size_t size, size_t at)
{
    uint8_t const longer[] = {(uint8_t)(bytes[at] | 128), 0};
    show_with(layer, bytes, size, at, at + 1, longer, sizeof longer);
}

static void show_forms(const struct layer *layer, const uint8_t *bytes, size_t size)
{
    static const uint8_t unknown[] = {0xfa, 0x01, 0x00}; /* field 31, of no bytes */
    struct part parts[PARTS_MAX];
    size_t count;
    for (size_t less = 0; less < size; less++)
        show(layer, bytes, less);
    if (!split(bytes, size, parts, &count))
        return;
    show_with(layer, bytes, size, size, size, unknown, sizeof unknown);
    show_with(layer, bytes, size, size, size, unknown + 2, 1);
    for (size_t i = 0; i < count; i++) {
        struct part const *const part = &parts[i];
        size_t tag_end = part->at;
        (void)take_length(bytes, size, &tag_end);
        show_with(layer, bytes, size, part->at, part->at, unknown, sizeof unknown);
        show_with(layer, bytes, size, part->at, part->end, NULL, 0);
        show_with(layer, bytes, size, part->end, part->end, bytes + part->at, part->end - part->at);
        show_longer(layer, bytes, size, tag_end - 1);
        if (i > 0) { /* before the one that it follows */
            uint8_t exchanged[2 * BYTES_MAX];
            size_t const first = part->at - parts[i - 1].at;
            memcpy(exchanged, bytes + part->at, part->end - part->at);
            memcpy(exchanged + part->end - part->at, bytes + parts[i - 1].at, first);
            show_with(layer, bytes, size, parts[i - 1].at, part->end, exchanged,
                      part->end - parts[i - 1].at);
        }
        if (!part->has_length)
            continue;
        show_longer(layer, bytes, size, part->content - 1);
        struct layer const inner = {layer, bytes, tag_end, bytes + part->end, size - part->end};
        show_forms(&inner, bytes + part->content, part->end - part->content);
    }
}

/* Any one byte another one. */
static void show_changes(const uint8_t *bytes, size_t size)
{
    static const uint8_t values[] = {0, 1, 2, 127, 128, 255};
    for (size_t at = 0; at < size; at++) {
        for (size_t i = 0; i < sizeof values; i++)
            show_with(NULL, bytes, size, at, at + 1, &values[i], 1);
        for (unsigned bit = 0; bit < 8; bit++) {
            uint8_t const flipped = (uint8_t)(bytes[at] ^ 1u << bit);
            show_with(NULL, bytes, size, at, at + 1, &flipped, 1);
        }
    }
}

TEST(only_one_form_of_each_message_is_taken)
{
    uint8_t bytes[BYTES_MAX];
    uint8_t again[BYTES_MAX];
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        shown = &families[i];
        for (size_t which = 0; which < shown->sample_count; which++) {
            size_t const size = write_one(
                shown, (const uint8_t *)shown->samples + which * shown->sample_size, bytes);
            refused_count = 0;
            assert_int_equal(write_again(shown, bytes, size, again), size);
            assert_memory_equal(again, bytes, size);
            show_forms(NULL, bytes, size);
            show_changes(bytes, size);
            assert_true(refused_count > 3 * size / 2);
        }
    }
}
