/* Codecs in memory of the caller's: an arena of the size that the header states is enough, a
 * smaller one is refused without harm, and nothing is taken from a heap. */
#include "../support/wire_shape.h"
#include "../support/testing.h"
#include "tacit/wire_elim.h"
#include "tacit/wire_glm.h"
#include "tacit/wire_gossip.h"
#include "tacit/wire_phased.h"
#include "tacit/wire_select.h"
#include "tacit/wire_vote.h"

#define PARAMETERS 47u /* bytes */

#define K 9u
#define A 70u
#define D 5u
#define CANARY 0xa5

/* A family's largest message, in a run of this shape. */
struct codec {
    const char *name;
    const struct tacit_wire_protocol *protocol; /* NULL: an announcement */
    const void *largest;
    struct tacit_wire_shape shape;
    bool is_place; /* no message, but what only this agent is told of a run */
};

static const uint64_t arms[TACIT_BITS_WORDS(K)] = {0x1ff};
static const uint64_t agents[TACIT_BITS_WORDS(A)] = {UINT64_MAX, 0x3f};
static const double numbers[64];
static const uint64_t counts[K] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
static const union tacit_sum sums[A * K];
static const struct tacit_elim_opening openings[A];
static const struct tacit_pull_block blocks[K] = {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5},
                                                  {5, 6}, {6, 7}, {7, 8}, {8, 9}};
static const uint8_t digests[4 * TACIT_SHA256_BYTES];
static const double matrix[TACIT_LINALG_MATRIX(D)];
static const char *const names[K] = {"a", "b", "c", "d", "e", "f", "g", "h", "i"};

static const struct tacit_elim_message data = {.kind = TACIT_ELIM_DATA,
                                               .epoch = 2,
                                               .pulls = 4,
                                               .arms = arms,
                                               .sum_count = K,
                                               .sums = sums,
                                               .origins = agents,
                                               .openings = openings};
static const struct tacit_elim_message order = {.kind = TACIT_ELIM_ORDER,
                                                .from = TACIT_HUB,
                                                .epoch = 2,
                                                .pulls = 4,
                                                .arms = arms,
                                                .uploaders = agents};
static const struct tacit_phased_message phased = {.kind = TACIT_ROUND_ORDER,
                                                   .from = TACIT_HUB,
                                                   .round = 1,
                                                   .leader = 2,
                                                   .block_count = K,
                                                   .blocks = blocks};
static const struct tacit_vote_hub_message cast = {
    .kind = TACIT_VOTE_CAST, .from = 3, .run_id = 1, .draw = 2, .marks = arms};
static const struct tacit_select_message training = {.kind = TACIT_SELECT_ORDER,
                                                     .from = TACIT_HUB,
                                                     .round = 1,
                                                     .set = agents,
                                                     .digests = digests,
                                                     .digest_count = 4};
static const struct tacit_gossip_message offer = {
    .kind = TACIT_GOSSIP_OFFER, .seen = counts, .theta = numbers, .flow = numbers};
static const struct tacit_glm_message commit_v3 = {.kind = TACIT_GLM_COMMIT,
                                                   .from = TACIT_HUB,
                                                   .sync = 1,
                                                   .vector = numbers,
                                                   .target = numbers,
                                                   .matrix = matrix,
                                                   .steps = matrix,
                                                   .participants = agents};
/* Short names of arms and neighbours cost most memory for their bytes. */
static const struct tacit_wire_announcement announcement = {.agreement = {.protocol = "elimination",
                                                                          .agent_count = A,
                                                                          .arm_count = K,
                                                                          .arms = names,
                                                                          .hi = 1,
                                                                          .horizon = 5,
                                                                          .epsilon_nano = 1},
                                                            .agent = 1};
/* A ring of short names, gathered: neighbours and members. */
static const struct tacit_wire_neighbour neighbours[] = {{0, "a"}, {2, "b"}, {3, "c"}};
static const struct tacit_wire_elim_run run = {.agent = 1,
                                               .agent_count = A,
                                               .arm_count = K,
                                               .horizon = 5,
                                               .epsilon_nano = 1,
                                               .report_count = A,
                                               .gap = 1,
                                               .network = TACIT_WIRE_ELIM_SPREAD,
                                               .members = agents,
                                               .neighbour_count = 3,
                                               .neighbours = neighbours};

static const struct codec codecs[] = {
    {"elimination, place", &tacit_wire_elim, &run, {0, A, 0, 0}, true},
    {"elimination, DATA", &tacit_wire_elim, &data, {K, A, 0, 0}, false},
    {"elimination, ORDER", &tacit_wire_elim, &order, {K, A, 0, 0}, false},
    {"phased", &tacit_wire_phased, &phased, {K, A, 0, 0}, false},
    {"vote", &tacit_wire_vote, &cast, {K, A, 0, TACIT_HUB}, false},
    {"select", &tacit_wire_select, &training, {0, A, 0, 0}, false},
    {"gossip", &tacit_wire_gossip, &offer, {K, A, 0, 1}, false},
    {"glm", &tacit_wire_glm, &commit_v3, {0, A, D, 0}, false},
    {"announcement", NULL, &announcement, {0, 0, 0, 0}, false},
};
#define CODECS (sizeof codecs / sizeof codecs[0])

static const struct tacit_wire_table *table_of(const struct codec *codec)
{
    return codec->protocol == NULL ? &tacit_wire_announcement
           : codec->is_place       ? codec->protocol->place
                                   : codec->protocol->messages;
}

static size_t encode(const struct codec *codec, const void *message, uint8_t *bytes)
{
    tacit_wire_encode(table_of(codec), &codec->shape, message, bytes);
    return tacit_wire_bytes(table_of(codec), &codec->shape, message);
}

/* A place is read with its invitation. *found: where its block begins. */
static enum tacit_status decode_place(const uint8_t *bytes, size_t size, void **found,
                                      struct tacit_wire_elim_run *made,
                                      const struct tacit_wire_allocator *allocator)
{
    uint8_t parameters[PARAMETERS];
    struct tacit_wire_announcement const invitation = {
        .agreement = {.protocol = TACIT_WIRE_ELIM_NAME,
                      .protocol_version = TACIT_WIRE_ELIM_VERSION,
                      .agent_count = A,
                      .arm_count = K,
                      .horizon = 5,
                      .epsilon_nano = 1,
                      .parameters = parameters,
                      .parameters_size = sizeof parameters},
        .agent = 1,
        .place = bytes,
        .place_size = size};
    tacit_wire_encode(tacit_wire_elim.parameters, NULL, &run, parameters);
    *made = (struct tacit_wire_elim_run){.members = NULL};
    enum tacit_status const status =
        tacit_wire_run_decode(&tacit_wire_elim, &invitation, made, allocator);
    *found = (void *)(uintptr_t)made->members;
    return status;
}

/* *found points into the allocator's memory; *said: what it says. */
static enum tacit_status decode(const struct codec *codec, const uint8_t *bytes, size_t size,
                                void **found, const void **said,
                                const struct tacit_wire_allocator *allocator)
{
    static struct tacit_wire_elim_run made;
    *found = NULL;
    if (codec->is_place) {
        *said = &made;
        return decode_place(bytes, size, found, &made, allocator);
    }
    enum tacit_status const status =
        tacit_wire_decode(table_of(codec), &codec->shape, bytes, size, found, allocator);
    *said = *found;
    return status;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

#define ROOM_MAX (1u << 18)
static uint64_t block[ROOM_MAX / 8 + 1];
static uint8_t bytes[1u << 14];
static uint8_t again[1u << 14];

static size_t room_of(const struct codec *codec, size_t size)
{
    size_t const room = codec->largest == &commit_v3 ? TACIT_WIRE_GLM_ARENA_BYTES(size, D, A)
                                                     : TACIT_WIRE_ARENA_BYTES(size, K, A);
    assert_true(room <= ROOM_MAX);
    return room;
}

TEST(an_arena_of_the_stated_size_is_enough)
{
    for (size_t i = 0; i < CODECS; i++) {
        struct codec const *const codec = &codecs[i];
        struct tacit_wire_arena arena;
        void *found;
        const void *said;
        size_t const size = encode(codec, codec->largest, bytes);
        tacit_wire_arena_init(&arena, block, room_of(codec, size));
        assert_int_equal(decode(codec, bytes, size, &found, &said, &arena.allocator), TACIT_OK);
        assert_true((uint8_t *)found > arena.block && (uint8_t *)found < arena.block + arena.used);
        assert_int_equal(encode(codec, said, again), size);
        assert_memory_equal(again, bytes, size);
        print_message("%-20s %5zu bytes, arena %6zu, used at most %6zu\n", codec->name, size,
                      arena.size, arena.peak);
    }
}

/* Whatever allocation fails: a status, nothing behind the arena is touched, and so is no result. */
TEST(a_smaller_arena_is_refused_without_harm)
{
    for (size_t i = 0; i < CODECS; i++) {
        struct codec const *const codec = &codecs[i];
        size_t const size = encode(codec, codec->largest, bytes);
        size_t const room = room_of(codec, size);
        size_t smallest = 0;
        for (size_t less = 0; less < room; less += 8) {
            struct tacit_wire_arena arena;
            void *found;
            const void *said;
            memset(block, CANARY, sizeof block);
            tacit_wire_arena_init(&arena, block, less);
            enum tacit_status const status =
                decode(codec, bytes, size, &found, &said, &arena.allocator);
            for (size_t at = less; at < less + 64 && at < sizeof block; at++)
                assert_int_equal(((uint8_t *)block)[at], CANARY);
            assert_true(status == TACIT_OK || status == TACIT_MEMORY || status == TACIT_MALFORMED);
            assert_true((status == TACIT_OK) == (found != NULL));
            if (status == TACIT_OK && smallest == 0)
                smallest = less;
        }
        assert_true(smallest > 0); /* some of them were too small, and some were not */
    }
}

TEST(what_was_taken_last_comes_back)
{
    struct tacit_wire_arena arena;
    tacit_wire_arena_init(&arena, block, 256);
    struct tacit_wire_allocator const *const from = &arena.allocator;
    void *const first = from->allocate(from->context, 3);
    void *const second = from->allocate(from->context, 40);
    assert_non_null(second);
    assert_int_equal((uintptr_t)second % 8, 0);
    size_t const used = arena.used;
    from->release(from->context, first); /* not the last: it stays */
    assert_int_equal(arena.used, used);
    from->release(from->context, second);
    from->release(from->context, first);
    assert_int_equal(arena.used, 0);
    assert_null(from->allocate(from->context, 249));
    assert_null(from->allocate(from->context, SIZE_MAX));
    assert_non_null(from->allocate(from->context, 248));
}
