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
#define BYTES_MAX 4096u
#define CANARY 0xa5

/* What a family's codec does, in one way for all: encodes its largest message, and decodes it. */
struct codec {
    const char *name;
    size_t (*encode)(uint8_t *bytes);
    /* *found points into the allocator's memory; and what it says, encoded once more. */
    enum tacit_status (*decode)(const uint8_t *bytes, size_t size, void **found,
                                const struct tacit_wire_allocator *allocator);
    size_t (*encode_again)(const void *found, uint8_t *bytes);
};

static const uint64_t arms[TACIT_BITS_WORDS(K)] = {0x1ff};
static const uint64_t agents[TACIT_BITS_WORDS(A)] = {UINT64_MAX, 0x3f};
static double numbers[64];
static const uint64_t counts[K] = {1, 2, 3, 4, 5, 6, 7, 8, 9};

#define HEAP tacit_wire_heap()

/* ---- The families ---------------------------------------------------------------------------- */

static union tacit_sum sums[A * K];
static struct tacit_elim_opening openings[A];

static size_t write_elim(const struct tacit_elim_message *message, uint8_t *bytes)
{
    size_t const size = tacit_wire_bytes(WIRE(elim, K, A), message);
    assert_true(bytes == NULL || size <= 2 * BYTES_MAX + A * K * 8);
    tacit_wire_encode(WIRE(elim, K, A), message, bytes);
    return size;
}

static size_t encode_data(uint8_t *bytes)
{
    struct tacit_elim_message const data = {.kind = TACIT_ELIM_DATA,
                                            .epoch = 2,
                                            .pulls = 4,
                                            .arms = arms,
                                            .sum_count = K,
                                            .sums = sums,
                                            .origins = agents,
                                            .openings = openings};
    return write_elim(&data, bytes);
}

static size_t encode_order(uint8_t *bytes)
{
    struct tacit_elim_message const order = {.kind = TACIT_ELIM_ORDER,
                                             .from = TACIT_HUB,
                                             .epoch = 2,
                                             .pulls = 4,
                                             .arms = arms,
                                             .uploaders = agents};
    return write_elim(&order, bytes);
}

static enum tacit_status decode_elim(const uint8_t *bytes, size_t size, void **found,
                                     const struct tacit_wire_allocator *allocator)
{
    struct tacit_elim_message *message = NULL;
    enum tacit_status const status =
        tacit_wire_decode(WIRE(elim, K, A), bytes, size, &message, allocator);
    *found = message;
    return status;
}

static size_t elim_again(const void *found, uint8_t *bytes)
{
    return write_elim(found, bytes);
}

static size_t write_phased(const struct tacit_phased_message *message, uint8_t *bytes)
{
    tacit_wire_encode(WIRE(phased, 0), message, bytes);
    return tacit_wire_bytes(WIRE(phased, 0), message);
}

static size_t encode_phased(uint8_t *bytes)
{
    struct tacit_pull_block blocks[K];
    for (uint32_t arm = 0; arm < K; arm++)
        blocks[arm] = (struct tacit_pull_block){arm, arm + 1};
    struct tacit_phased_message const order = {.kind = TACIT_ROUND_ORDER,
                                               .from = TACIT_HUB,
                                               .round = 1,
                                               .leader = 2,
                                               .block_count = K,
                                               .blocks = blocks};
    return write_phased(&order, bytes);
}

static enum tacit_status decode_phased(const uint8_t *bytes, size_t size, void **found,
                                       const struct tacit_wire_allocator *allocator)
{
    struct tacit_phased_message *message = NULL;
    enum tacit_status const status =
        tacit_wire_decode(WIRE(phased, K, A), bytes, size, &message, allocator);
    *found = message;
    return status;
}

static size_t phased_again(const void *found, uint8_t *bytes)
{
    return write_phased(found, bytes);
}

static size_t write_vote(const struct tacit_vote_hub_message *vote_message, uint8_t *bytes)
{
    tacit_wire_encode(WIRE(vote, K), vote_message, bytes);
    return tacit_wire_bytes(WIRE(vote, K),
                            &(struct tacit_vote_hub_message){.kind = vote_message->kind});
}

static size_t encode_vote(uint8_t *bytes)
{
    struct tacit_vote_hub_message const cast = {
        .kind = TACIT_VOTE_CAST, .from = 3, .run_id = 1, .draw = 2, .marks = arms};
    return write_vote(&cast, bytes);
}

static enum tacit_status decode_vote(const uint8_t *bytes, size_t size, void **found,
                                     const struct tacit_wire_allocator *allocator)
{
    struct tacit_vote_hub_message *vote_message = NULL;
    enum tacit_status const status =
        tacit_wire_decode(WIRE(vote, K, A, 0, TACIT_HUB), bytes, size, &vote_message, allocator);
    *found = vote_message;
    return status;
}

static size_t vote_again(const void *found, uint8_t *bytes)
{
    return write_vote(found, bytes);
}

static size_t write_select(const struct tacit_select_message *message, uint8_t *bytes)
{
    tacit_wire_encode(WIRE(select, 0, A), message, bytes);
    return tacit_wire_bytes(WIRE(select, 0, A), message);
}

static size_t encode_select(uint8_t *bytes)
{
    static const uint8_t digests[4 * TACIT_SHA256_BYTES];
    struct tacit_select_message const order = {.kind = TACIT_SELECT_ORDER,
                                               .from = TACIT_HUB,
                                               .round = 1,
                                               .set = agents,
                                               .digests = digests,
                                               .digest_count = 4};
    return write_select(&order, bytes);
}

static enum tacit_status decode_select(const uint8_t *bytes, size_t size, void **found,
                                       const struct tacit_wire_allocator *allocator)
{
    struct tacit_select_message *message = NULL;
    enum tacit_status const status =
        tacit_wire_decode(WIRE(select, 0, A), bytes, size, &message, allocator);
    *found = message;
    return status;
}

static size_t select_again(const void *found, uint8_t *bytes)
{
    return write_select(found, bytes);
}

static size_t encode_gossip(uint8_t *bytes)
{
    struct tacit_gossip_message const offer = {
        .kind = TACIT_GOSSIP_OFFER, .seen = counts, .theta = numbers, .flow = numbers};
    tacit_wire_encode(WIRE(gossip, K), &offer, bytes);
    return tacit_wire_bytes(WIRE(gossip, K), &offer);
}

static enum tacit_status decode_gossip(const uint8_t *bytes, size_t size, void **found,
                                       const struct tacit_wire_allocator *allocator)
{
    struct tacit_gossip_message *message = NULL;
    enum tacit_status const status =
        tacit_wire_decode(WIRE(gossip, K, A, 0, 1), bytes, size, &message, allocator);
    *found = message;
    return status;
}

static size_t gossip_again(const void *found, uint8_t *bytes)
{
    tacit_wire_encode(WIRE(gossip, K), found, bytes);
    return tacit_wire_bytes(WIRE(gossip, K), found);
}

static size_t write_glm(const struct tacit_glm_message *message, uint8_t *bytes)
{
    tacit_wire_encode(WIRE(glm, 0, A, D), message, bytes);
    return tacit_wire_bytes(WIRE(glm, 0, A, D), message);
}

static size_t encode_glm(uint8_t *bytes)
{
    static const double matrix[TACIT_LINALG_MATRIX(D)];
    struct tacit_glm_message const commit_v3 = {.kind = TACIT_GLM_COMMIT,
                                                .from = TACIT_HUB,
                                                .sync = 1,
                                                .vector = numbers,
                                                .target = numbers,
                                                .matrix = matrix,
                                                .steps = matrix,
                                                .participants = agents};
    return write_glm(&commit_v3, bytes);
}

static enum tacit_status decode_glm(const uint8_t *bytes, size_t size, void **found,
                                    const struct tacit_wire_allocator *allocator)
{
    struct tacit_glm_message *message = NULL;
    enum tacit_status const status =
        tacit_wire_decode(WIRE(glm, 0, A, D), bytes, size, &message, allocator);
    *found = message;
    return status;
}

static size_t glm_again(const void *found, uint8_t *bytes)
{
    return write_glm(found, bytes);
}

/* Short names of arms and neighbours cost most memory for their bytes. */
static size_t encode_announcement(uint8_t *bytes)
{
    static const char *const names[K] = {"a", "b", "c", "d", "e", "f", "g", "h", "i"};
    struct tacit_wire_announcement const announcement = {.agreement = {.protocol = "elimination",
                                                                       .agent_count = A,
                                                                       .arm_count = K,
                                                                       .arms = names,
                                                                       .hi = 1,
                                                                       .horizon = 5,
                                                                       .epsilon_nano = 1},
                                                         .agent = 1};
    tacit_wire_encode(&tacit_wire_announcement, NULL, &announcement, bytes);
    return tacit_wire_bytes(&tacit_wire_announcement, NULL, &announcement);
}

static enum tacit_status decode_announcement(const uint8_t *bytes, size_t size, void **found,
                                             const struct tacit_wire_allocator *allocator)
{
    struct tacit_wire_announcement *announcement = NULL;
    enum tacit_status const status =
        tacit_wire_decode(&tacit_wire_announcement, NULL, bytes, size, &announcement, allocator);
    *found = announcement;
    return status;
}

static size_t announcement_again(const void *found, uint8_t *bytes)
{
    tacit_wire_encode(&tacit_wire_announcement, NULL, found, bytes);
    return tacit_wire_bytes(&tacit_wire_announcement, NULL, found);
}

/* A ring of short names, gathered: neighbours and members. */
static struct tacit_wire_neighbour const neighbours[] = {{0, "a"}, {2, "b"}, {3, "c"}};
static struct tacit_wire_elim_run const run = {.agent = 1,
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

static size_t encode_place(uint8_t *bytes)
{
    tacit_wire_encode(tacit_wire_elim.place, SHAPE(0, run.agent_count), &run, bytes);
    return tacit_wire_bytes(tacit_wire_elim.place, SHAPE(0, run.agent_count), &run);
}

static struct tacit_wire_elim_run decoded_run;

static enum tacit_status decode_place(const uint8_t *bytes, size_t size, void **found,
                                      const struct tacit_wire_allocator *allocator)
{
    uint8_t parameters[PARAMETERS];
    decoded_run.members = NULL;
    struct tacit_wire_announcement const announcement = {
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
    enum tacit_status const status =
        tacit_wire_run_decode(&tacit_wire_elim, &announcement, &decoded_run, allocator);
    *found = (void *)(uintptr_t)decoded_run.members; /* where the block begins */
    return status;
}

static size_t place_again(const void *found, uint8_t *bytes)
{
    (void)found;
    tacit_wire_encode(tacit_wire_elim.place, SHAPE(0, decoded_run.agent_count), &decoded_run,
                      bytes);
    return tacit_wire_bytes(tacit_wire_elim.place, SHAPE(0, decoded_run.agent_count), &decoded_run);
}

static const struct codec codecs[] = {
    {"elimination, place", encode_place, decode_place, place_again},
    {"elimination, DATA", encode_data, decode_elim, elim_again},
    {"elimination, ORDER", encode_order, decode_elim, elim_again},
    {"phased", encode_phased, decode_phased, phased_again},
    {"vote", encode_vote, decode_vote, vote_again},
    {"select", encode_select, decode_select, select_again},
    {"gossip", encode_gossip, decode_gossip, gossip_again},
    {"glm", encode_glm, decode_glm, glm_again},
    {"announcement", encode_announcement, decode_announcement, announcement_again},
};
#define CODECS (sizeof codecs / sizeof codecs[0])

/* ---- Tests ----------------------------------------------------------------------------------- */

#define ROOM_MAX (1u << 18)
static uint64_t block[ROOM_MAX / 8 + 1];
static uint8_t bytes[1u << 14];
static uint8_t again[1u << 14];

static size_t room_of(const struct codec *codec, size_t size)
{
    size_t const room = codec->decode == decode_glm ? TACIT_WIRE_GLM_ARENA_BYTES(size, D, A)
                                                    : TACIT_WIRE_ARENA_BYTES(size, K, A);
    assert_true(room <= ROOM_MAX);
    return room;
}

TEST(an_arena_of_the_stated_size_is_enough)
{
    for (size_t i = 0; i < CODECS; i++) {
        struct codec const *const codec = &codecs[i];
        struct tacit_wire_arena arena;
        void *found = NULL;
        size_t const size = codec->encode(bytes);
        tacit_wire_arena_init(&arena, block, room_of(codec, size));
        assert_int_equal(codec->decode(bytes, size, &found, &arena.allocator), TACIT_OK);
        assert_true((uint8_t *)found > arena.block && (uint8_t *)found < arena.block + arena.used);
        assert_int_equal(codec->encode_again(found, again), size);
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
        size_t const size = codec->encode(bytes);
        size_t const room = room_of(codec, size);
        size_t smallest = 0;
        for (size_t less = 0; less < room; less += 8) {
            struct tacit_wire_arena arena;
            void *found = NULL;
            memset(block, CANARY, sizeof block);
            tacit_wire_arena_init(&arena, block, less);
            enum tacit_status const status = codec->decode(bytes, size, &found, &arena.allocator);
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
