/* The announcement of a run on the wire: what is written is read back, in one form only; whatever
 * else a peer may send is refused and leaves no trace. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <math.h>
#include "tacit/random.h"
#include "tacit/wire.h"

#define BYTES TACIT_WIRE_ANNOUNCEMENT_BYTES

static const struct tacit_wire_announcement sample = {.run_id = UINT64_C(0x0123456789abcdef),
                                                      .agent = 2,
                                                      .agent_count = 3,
                                                      .arm_count = 5,
                                                      .horizon = 400000,
                                                      .epsilon_nano = TACIT_NANO / 2};

/* Where a field's bytes begin, after its tag; src/wire/tacit.proto. */
enum {
    VERSION_AT = 1,
    RUN_ID_AT = 6,
    AGENT_AT = 15,
    AGENT_COUNT_AT = 20,
    ARM_COUNT_AT = 25,
    HORIZON_AT = 30,
    EPSILON_AT = 39
};

static void expect_equal(const struct tacit_wire_announcement *a,
                         const struct tacit_wire_announcement *b)
{
    assert_true(a->run_id == b->run_id);
    assert_int_equal(a->agent, b->agent);
    assert_int_equal(a->agent_count, b->agent_count);
    assert_int_equal(a->arm_count, b->arm_count);
    assert_true(a->horizon == b->horizon);
    assert_true(a->epsilon_nano == b->epsilon_nano);
}

static void put(uint8_t *bytes, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
}

/* In memory that is exactly as long as the bytes, so that a sanitizer sees a read beyond them. */
static enum tacit_status decode(const uint8_t *bytes, size_t size,
                                struct tacit_wire_announcement *found)
{
    uint8_t *const exact = malloc(size > 0 ? size : 1);
    assert_non_null(exact);
    memcpy(exact, bytes, size);
    enum tacit_status const status = tacit_wire_announcement_decode(exact, size, found);
    free(exact);
    return status;
}

static void expect_refused(const uint8_t *bytes, size_t size)
{
    struct tacit_wire_announcement found = sample;
    found.run_id = 99;
    assert_int_equal(decode(bytes, size, &found), TACIT_MALFORMED);
    found.run_id = sample.run_id;
    expect_equal(&found, &sample);
}

/* ---- A star ---- */

static void survives_the_trip(void **state)
{
    static const struct tacit_wire_announcement limits[] = {
        {0, 0, 1, 1, 1, 1, NULL},
        {UINT64_MAX, TACIT_AGENTS_MAX - 1, TACIT_AGENTS_MAX, TACIT_ARMS_MAX, TACIT_HORIZON_MAX,
         UINT64_MAX, NULL},
        {1, 0, TACIT_AGENTS_MAX, 2, TACIT_HORIZON_MAX, 1000, NULL},
    };
    (void)state;
    for (size_t i = 0; i <= sizeof limits / sizeof limits[0]; i++) {
        struct tacit_wire_announcement const *const said = i == 0 ? &sample : &limits[i - 1];
        struct tacit_wire_announcement heard;
        uint8_t bytes[BYTES];
        tacit_wire_announcement_encode(said, bytes);
        assert_int_equal(decode(bytes, sizeof bytes, &heard), TACIT_OK);
        expect_equal(&heard, said);
    }
}

/* Others may implement the format: these bytes do not change within version 1. */
static void bytes_are_as_published(void **state)
{
    static const char golden[] = "0d01000000"
                                 "11efcdab8967452301"
                                 "1d02000000"
                                 "2503000000"
                                 "2d05000000"
                                 "31801a060000000000"
                                 "390065cd1d00000000";
    uint8_t bytes[BYTES];
    char text[2 * BYTES + 1];
    (void)state;
    tacit_wire_announcement_encode(&sample, bytes);
    for (size_t i = 0; i < BYTES; i++)
        (void)snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    assert_string_equal(text, golden);
}

static void another_length_is_refused(void **state)
{
    uint8_t bytes[BYTES + 5] = {0};
    (void)state;
    tacit_wire_announcement_encode(&sample, bytes);
    for (size_t size = 0; size < BYTES; size++)
        expect_refused(bytes, size);
    bytes[BYTES] = 0x45; /* an unknown field 8 */
    expect_refused(bytes, BYTES + 5);
    expect_refused(bytes, BYTES + 1);
}

static void impossible_numbers_are_refused(void **state)
{
    static const struct {
        size_t at;
        uint64_t value;
        size_t size;
    } wrongs[] = {
        {VERSION_AT, 0, 4},
        {VERSION_AT, TACIT_WIRE_VERSION + 1, 4},
        {VERSION_AT, UINT32_MAX, 4},
        {AGENT_AT, 3, 4}, /* of 3 */
        {AGENT_AT, UINT32_MAX, 4},
        {AGENT_COUNT_AT, 0, 4},
        {AGENT_COUNT_AT, 2, 4}, /* with agent 2 */
        {AGENT_COUNT_AT, TACIT_AGENTS_MAX + 1, 4},
        {ARM_COUNT_AT, 0, 4},
        {ARM_COUNT_AT, TACIT_ARMS_MAX + 1, 4},
        {HORIZON_AT, 0, 8},
        {HORIZON_AT, TACIT_HORIZON_MAX + 1, 8},
        {HORIZON_AT, UINT64_MAX, 8},
        {EPSILON_AT, 0, 8},
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrongs / sizeof wrongs[0]; i++) {
        uint8_t bytes[BYTES];
        tacit_wire_announcement_encode(&sample, bytes);
        put(bytes + wrongs[i].at, wrongs[i].value, wrongs[i].size);
        expect_refused(bytes, sizeof bytes);
    }
}

static void zeros_and_ones_are_refused(void **state)
{
    uint8_t bytes[BYTES];
    (void)state;
    memset(bytes, 0, sizeof bytes);
    expect_refused(bytes, sizeof bytes);
    memset(bytes, 0xff, sizeof bytes);
    expect_refused(bytes, sizeof bytes);
}

/* Every field is there, under its own tag: a changed tag hides a required field. */
static void a_missing_field_is_refused(void **state)
{
    static const size_t fields[] = {VERSION_AT,   RUN_ID_AT,  AGENT_AT,  AGENT_COUNT_AT,
                                    ARM_COUNT_AT, HORIZON_AT, EPSILON_AT};
    (void)state;
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        uint8_t bytes[BYTES];
        tacit_wire_announcement_encode(&sample, bytes);
        bytes[fields[i] - 1] = (uint8_t)((bytes[fields[i] - 1] & 7u) | 15u << 3); /* field 15 */
        expect_refused(bytes, sizeof bytes);
    }
}

/* The right fields and the right length, but not our form. */
static void fields_in_another_order_are_refused(void **state)
{
    uint8_t bytes[BYTES];
    (void)state;
    tacit_wire_announcement_encode(&sample, bytes);
    for (size_t i = 0; i < 5; i++) { /* two neighbours of the same size change places */
        uint8_t const kept = bytes[AGENT_AT - 1 + i];
        bytes[AGENT_AT - 1 + i] = bytes[AGENT_COUNT_AT - 1 + i];
        bytes[AGENT_COUNT_AT - 1 + i] = kept;
    }
    expect_refused(bytes, sizeof bytes);
}

/* One flipped bit gives another announcement that is possible, or none; never anything else. */
static void a_flipped_bit_does_no_harm(void **state)
{
    (void)state;
    for (size_t bit = 0; bit < 8 * BYTES; bit++) {
        struct tacit_wire_announcement found;
        uint8_t bytes[BYTES];
        tacit_wire_announcement_encode(&sample, bytes);
        bytes[bit / 8] ^= (uint8_t)(1u << (bit % 8));
        if (decode(bytes, sizeof bytes, &found) != TACIT_OK)
            continue;
        assert_true(found.agent < found.agent_count && found.agent_count <= TACIT_AGENTS_MAX);
        assert_true(found.arm_count >= 1 && found.arm_count <= TACIT_ARMS_MAX);
        assert_true(found.horizon >= 1 && found.horizon <= TACIT_HORIZON_MAX);
        assert_true(found.epsilon_nano > 0);
        uint8_t again[BYTES];
        tacit_wire_announcement_encode(&found, again);
        assert_memory_equal(again, bytes, sizeof bytes);
    }
}

/* ---- Bytes by hand: the schema once more, which checks nothing ---- */

#define ROOM 16384u

struct bytes {
    uint8_t data[ROOM];
    size_t size;
};

static void put_byte(struct bytes *out, unsigned byte)
{
    assert_true(out->size < ROOM);
    out->data[out->size++] = (uint8_t)byte;
}

static void put_varint(struct bytes *out, uint64_t value)
{
    for (; value >= 128; value >>= 7)
        put_byte(out, (unsigned)(value & 127u) | 128u);
    put_byte(out, (unsigned)value);
}

static void put_number(struct bytes *out, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        put_byte(out, (unsigned)(value >> (8 * i)) & 255u);
}

static void put_fixed32(struct bytes *out, unsigned field, uint32_t value)
{
    put_byte(out, field << 3 | 5);
    put_number(out, value, 4);
}

static void put_fixed64(struct bytes *out, unsigned field, uint64_t value)
{
    put_byte(out, field << 3 | 1);
    put_number(out, value, 8);
}

static void put_double(struct bytes *out, unsigned field, double value)
{
    uint64_t word;
    memcpy(&word, &value, sizeof word);
    put_fixed64(out, field, word);
}

static void put_block(struct bytes *out, unsigned field, const void *block, size_t size)
{
    put_byte(out, field << 3 | 2);
    put_varint(out, size);
    for (size_t i = 0; i < size; i++)
        put_byte(out, ((const uint8_t *)block)[i]);
}

static void put_set(struct bytes *out, unsigned field, const uint64_t *set, uint32_t count)
{
    put_byte(out, field << 3 | 2);
    put_varint(out, TACIT_BITS_WORDS(count) * sizeof(uint64_t));
    for (size_t i = 0; i < TACIT_BITS_WORDS(count); i++)
        put_number(out, set[i], 8);
}

static void put_neighbour(struct bytes *out, uint32_t agent, const void *name, size_t size)
{
    static struct bytes part;
    part.size = 0;
    put_fixed32(&part, 1, agent);
    put_block(&part, 2, name, size);
    put_block(out, 4, part.data, part.size);
}

static void put_network(struct bytes *out, const struct tacit_wire_announcement *run)
{
    struct tacit_wire_network const *const network = run->network;
    put_fixed32(out, 1, (uint32_t)network->collection);
    put_fixed32(out, 2, network->parent);
    if (network->members != NULL)
        put_set(out, 3, network->members, run->agent_count);
    for (uint32_t i = 0; i < network->neighbour_count; i++)
        put_neighbour(out, network->neighbours[i].agent, network->neighbours[i].site,
                      strlen(network->neighbours[i].site));
    put_fixed32(out, 5, network->round_limit);
    put_double(out, 6, network->gap);
    put_fixed32(out, 7, network->gather_timeout_s);
}

static void put_run(struct bytes *out, const struct tacit_wire_announcement *run)
{
    put_fixed32(out, 1, TACIT_WIRE_VERSION);
    put_fixed64(out, 2, run->run_id);
    put_fixed32(out, 3, run->agent);
    put_fixed32(out, 4, run->agent_count);
    put_fixed32(out, 5, run->arm_count);
    put_fixed64(out, 6, run->horizon);
    put_fixed64(out, 7, run->epsilon_nano);
}

/* The run of `run`, and this instead of its network. */
static struct bytes with_network(const struct tacit_wire_announcement *run,
                                 const struct bytes *network)
{
    struct bytes out = {.size = 0};
    put_run(&out, run);
    put_block(&out, 8, network->data, network->size);
    return out;
}

static struct bytes by_hand(const struct tacit_wire_announcement *run)
{
    static struct bytes network;
    network.size = 0;
    put_network(&network, run);
    return with_network(run, &network);
}

static void expect_bytes_refused(const struct bytes *bytes)
{
    expect_refused(bytes->data, bytes->size);
}

/* ---- Networks ---- */

static const uint64_t members_of_6[] = {0x2d}; /* 0, 2, 3, 5 */
static const struct tacit_wire_neighbour two[] = {{0, "north"}, {3, "South_2"}};

/* Site 2 of 6, on the way to sink 3. */
static const struct tacit_wire_network relay = {.collection = TACIT_ELIM_GATHER,
                                                .parent = 3,
                                                .members = members_of_6,
                                                .neighbour_count = 2,
                                                .neighbours = two,
                                                .round_limit = 4,
                                                .gap = 0.25,
                                                .gather_timeout_s = 300};

static struct tacit_wire_announcement run_over(const struct tacit_wire_network *network)
{
    struct tacit_wire_announcement run = sample;
    run.agent_count = 6;
    run.network = network;
    return run;
}

static void expect_equal_networks(const struct tacit_wire_announcement *a,
                                  const struct tacit_wire_announcement *b)
{
    struct tacit_wire_network const *const left = a->network;
    struct tacit_wire_network const *const right = b->network;
    expect_equal(a, b);
    assert_int_equal(left->collection, right->collection);
    assert_int_equal(left->parent, right->parent);
    assert_int_equal(left->round_limit, right->round_limit);
    assert_true(left->gap == right->gap);
    assert_int_equal(left->gather_timeout_s, right->gather_timeout_s);
    assert_int_equal(left->members == NULL, right->members == NULL);
    if (left->members != NULL)
        assert_memory_equal(left->members, right->members,
                            TACIT_BITS_WORDS(a->agent_count) * sizeof(uint64_t));
    assert_int_equal(left->neighbour_count, right->neighbour_count);
    for (uint32_t i = 0; i < left->neighbour_count; i++) {
        assert_int_equal(left->neighbours[i].agent, right->neighbours[i].agent);
        assert_string_equal(left->neighbours[i].site, right->neighbours[i].site);
    }
}

static void free_network(struct tacit_wire_announcement *run)
{
    free((void *)(uintptr_t)run->network);
    run->network = NULL;
}

/* Written as by hand, in as many bytes as announced, and read back. */
static void expect_trip(const struct tacit_wire_announcement *said)
{
    struct tacit_wire_announcement heard;
    struct bytes const hand = by_hand(said);
    size_t const size = tacit_wire_announcement_bytes(said);
    assert_int_equal(size, hand.size);
    uint8_t *const exact = malloc(size);
    assert_non_null(exact);
    assert_int_equal(tacit_wire_announcement_encode(said, exact), TACIT_OK);
    assert_memory_equal(exact, hand.data, size);
    assert_int_equal(decode(exact, size, &heard), TACIT_OK);
    assert_non_null(heard.network);
    expect_equal_networks(&heard, said);
    free_network(&heard);
    free(exact);
}

/* Any network that may be announced. */
struct random_network {
    struct tacit_wire_announcement run;
    struct tacit_wire_network network;
    uint64_t members[TACIT_BITS_WORDS(200)];
    struct tacit_wire_neighbour neighbours[200];
    char names[200][TACIT_WIRE_SITE_BYTES_MAX + 1];
};

static void draw_neighbours(struct random_network *drawn, double density, struct tacit_rng *rng)
{
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
    uint32_t count = 0;
    for (uint32_t agent = 0; agent < drawn->run.agent_count; agent++) {
        if (agent == drawn->run.agent || tacit_rng_uniform(rng) >= density)
            continue;
        size_t const length = 1 + tacit_rng_below(rng, TACIT_WIRE_SITE_BYTES_MAX);
        for (size_t i = 0; i < length; i++)
            drawn->names[count][i] = allowed[tacit_rng_below(rng, sizeof allowed - 1)];
        drawn->names[count][length] = '\0';
        drawn->neighbours[count] = (struct tacit_wire_neighbour){agent, drawn->names[count]};
        count++;
    }
    drawn->network.neighbour_count = count;
    drawn->network.neighbours = drawn->neighbours;
}

static void draw(struct random_network *drawn, struct tacit_rng *rng)
{
    uint32_t const agents = 1 + (uint32_t)tacit_rng_below(rng, 200);
    bool const gathers = tacit_rng_below(rng, 2) == 1;
    memset(drawn, 0, sizeof *drawn);
    drawn->run = sample;
    drawn->run.agent_count = agents;
    drawn->run.agent = (uint32_t)tacit_rng_below(rng, agents);
    drawn->run.network = &drawn->network;
    draw_neighbours(drawn, 0.3 * tacit_rng_uniform(rng), rng);
    drawn->network.collection = gathers ? TACIT_ELIM_GATHER : TACIT_ELIM_SPREAD;
    drawn->network.parent = drawn->run.agent;
    if (gathers && drawn->network.neighbour_count > 0)
        drawn->network.parent =
            drawn->neighbours[tacit_rng_below(rng, drawn->network.neighbour_count)].agent;
    drawn->network.round_limit = (uint32_t)tacit_rng_below(rng, TACIT_ELIM_EPOCHS_MAX);
    drawn->network.gap = 1 - tacit_rng_uniform(rng); /* above 0, up to 1 */
    drawn->network.gather_timeout_s = (uint32_t)tacit_rng_below(rng, UINT32_MAX);
    if (tacit_rng_below(rng, 2) == 1) {
        for (uint32_t agent = 0; agent < agents; agent++)
            if (agent == drawn->run.agent || tacit_rng_below(rng, 2) == 1)
                tacit_bits_add(drawn->members, agent);
        drawn->network.members = drawn->members;
    }
}

static void networks_survive_the_trip(void **state)
{
    struct tacit_rng rng = tacit_rng_stream(1, 0, TACIT_STREAM_COMMON, TACIT_PURPOSE_GRAPH);
    static struct random_network drawn;
    (void)state;
    for (uint32_t i = 0; i < 2000; i++) {
        draw(&drawn, &rng);
        expect_trip(&drawn.run);
    }
}

static void networks_at_their_limits_survive_the_trip(void **state)
{
    static const char longest[] =
        "-_0123456789abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOP";
    static const struct tacit_wire_neighbour last[] = {{TACIT_AGENTS_MAX - 1, longest}};
    struct tacit_wire_network network = {.collection = TACIT_ELIM_SPREAD, .parent = 2, .gap = 1};
    struct tacit_wire_announcement run = run_over(&network);
    (void)state;
    assert_int_equal(sizeof longest - 1, TACIT_WIRE_SITE_BYTES_MAX);
    expect_trip(&run); /* nobody near, everybody a member */
    network.neighbours = last;
    network.neighbour_count = 1;
    network.round_limit = TACIT_ELIM_EPOCHS_MAX - 1;
    network.gap = 0x1p-1074;
    network.gather_timeout_s = UINT32_MAX;
    run.agent_count = TACIT_AGENTS_MAX;
    expect_trip(&run);
    network.collection = TACIT_ELIM_GATHER;
    network.parent = TACIT_AGENTS_MAX - 1;
    expect_trip(&run);
}

/* As long as its parts: 47 for the run; 5 a number, 9 the gap, 10 a set of up to 64, and for a
 * neighbour 9 and its name; tag and length before all of it. */
static void sizes_are_those_of_the_parts(void **state)
{
    struct tacit_wire_network network = relay;
    struct tacit_wire_announcement const run = run_over(&network);
    (void)state;
    assert_int_equal(tacit_wire_announcement_bytes(&run),
                     47 + 2 + (4 * 5 + 9 + 10 + (9 + 5) + (9 + 7)));
    network.members = NULL;
    assert_int_equal(tacit_wire_announcement_bytes(&run), 47 + 2 + (4 * 5 + 9 + (9 + 5) + (9 + 7)));
    network.neighbour_count = 0;
    assert_int_equal(tacit_wire_announcement_bytes(&run), 47 + 2 + (4 * 5 + 9));
}

/* Others may implement the format: these bytes do not change within version 1. */
static void bytes_of_a_network_are_as_published(void **state)
{
    static const char golden[] = "0d01000000"
                                 "11efcdab8967452301"
                                 "1d02000000"
                                 "2506000000"
                                 "2d05000000"
                                 "31801a060000000000"
                                 "390065cd1d00000000"
                                 "4245"                 /* 8: the network, 69 bytes */
                                 "0d01000000"           /* gathered */
                                 "1503000000"           /* parent */
                                 "1a082d00000000000000" /* members */
                                 "220c"
                                 "0d00000000"
                                 "12056e6f727468" /* 0, north */
                                 "220e"
                                 "0d03000000"
                                 "1207536f7574685f32" /* 3, South_2 */
                                 "2d04000000"         /* rounds */
                                 "31000000000000d03f" /* gap 0.25 */
                                 "3d2c010000";        /* 300 s */
    struct tacit_wire_announcement const run = run_over(&relay);
    uint8_t bytes[sizeof golden / 2];
    char text[sizeof golden];
    (void)state;
    assert_int_equal(tacit_wire_announcement_bytes(&run), sizeof bytes);
    assert_int_equal(tacit_wire_announcement_encode(&run, bytes), TACIT_OK);
    for (size_t i = 0; i < sizeof bytes; i++)
        (void)snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    assert_string_equal(text, golden);
}

/* The network with one thing changed is refused; unchanged it is taken. */
static void expect_network_refused(const struct tacit_wire_network *network)
{
    struct tacit_wire_announcement const good = run_over(&relay);
    struct tacit_wire_announcement const bad = run_over(network);
    struct bytes const bytes = by_hand(&bad);
    expect_trip(&good);
    expect_bytes_refused(&bytes);
}

static void impossible_networks_are_refused(void **state)
{
    static const double gaps[] = {0,        -0.0,      -0.25,      1.0000000000000002,
                                  INFINITY, -INFINITY, (double)NAN};
    struct tacit_wire_network network = relay;
    (void)state;
    network.collection = (enum tacit_elim_collection)2;
    expect_network_refused(&network);
    network.collection = (enum tacit_elim_collection)0x7fffffff;
    expect_network_refused(&network);
    network = relay;
    for (size_t i = 0; i < sizeof gaps / sizeof gaps[0]; i++) {
        network.gap = gaps[i];
        expect_network_refused(&network);
    }
    network = relay;
    network.round_limit = TACIT_ELIM_EPOCHS_MAX;
    expect_network_refused(&network);
    network.round_limit = UINT32_MAX;
    expect_network_refused(&network);
}

static void a_parent_that_is_no_neighbour_is_refused(void **state)
{
    static const uint32_t strangers[] = {1, 4, 5, 6, UINT32_MAX};
    struct tacit_wire_network network = relay;
    (void)state;
    for (size_t i = 0; i < sizeof strangers / sizeof strangers[0]; i++) {
        network.parent = strangers[i];
        expect_network_refused(&network);
    }
    network.neighbour_count = 0;
    network.parent = 3;
    expect_network_refused(&network);
}

static void impossible_neighbours_are_refused(void **state)
{
    static const struct tacit_wire_neighbour wrongs[][2] = {
        {{3, "a"}, {0, "b"}},          /* not ascending */
        {{3, "a"}, {3, "b"}},          /* twice */
        {{2, "a"}, {3, "b"}},          /* itself */
        {{3, "a"}, {6, "b"}},          /* of 6 */
        {{3, "a"}, {UINT32_MAX, "b"}}, /* the hub */
        {{0, "a"}, {3, ""}},
        {{0, "a/b"}, {3, "c"}},
        {{0, "+"}, {3, "c"}},
        {{0, "#"}, {3, "c"}},
        {{0, "a b"}, {3, "c"}},
        {{0, "a.b"}, {3, "c"}},
        {{0, "\xc3\xa4"}, {3, "c"}},
        {{0, "a\n"}, {3, "c"}},
        {{0, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}, {3, "c"}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrongs / sizeof wrongs[0]; i++) {
        struct tacit_wire_network network = relay;
        network.neighbours = wrongs[i];
        expect_network_refused(&network);
    }
}

static void impossible_members_are_refused(void **state)
{
    static const uint64_t wrongs[] = {0,              /* nobody */
                                      0x29,           /* without the site itself */
                                      0x2d | 1u << 6, /* one too many */
                                      0x2d | UINT64_C(1) << 63};
    (void)state;
    for (size_t i = 0; i < sizeof wrongs / sizeof wrongs[0]; i++) {
        struct tacit_wire_network network = relay;
        network.members = &wrongs[i];
        expect_network_refused(&network);
    }
}

/* Sets are as long as the agents want: not a byte more or less. */
static void members_of_another_length_are_refused(void **state)
{
    static const uint8_t set[16] = {0x2d};
    struct tacit_wire_network const network = {
        .collection = TACIT_ELIM_SPREAD, .parent = 2, .gap = 1};
    struct tacit_wire_announcement const run = run_over(&network);
    (void)state;
    for (size_t size = 0; size <= sizeof set; size++) {
        static struct bytes part;
        struct tacit_wire_announcement found;
        part.size = 0;
        put_fixed32(&part, 1, 0);
        put_fixed32(&part, 2, 2);
        put_block(&part, 3, set, size);
        put_fixed32(&part, 5, 0);
        put_double(&part, 6, 1);
        put_fixed32(&part, 7, 0);
        struct bytes const bytes = with_network(&run, &part);
        if (size != 8) {
            expect_bytes_refused(&bytes);
            continue;
        }
        assert_int_equal(decode(bytes.data, bytes.size, &found), TACIT_OK);
        free_network(&found);
    }
}

/* ---- The form of a network ---- */

/* Fields of a network in this order, by their numbers; 4 stands for its one neighbour, 9 for
 * something unknown, 40 for a neighbour without a name, 41 for a name with a zero in it, 42 for an
 * agent that comes after its name. */
static struct bytes made_of(const unsigned *fields, size_t count)
{
    static const uint64_t everybody[] = {0x3f};
    struct tacit_wire_announcement const run = run_over(NULL);
    static struct bytes part;
    static struct bytes inner;
    part.size = inner.size = 0;
    for (size_t i = 0; i < count; i++) {
        switch (fields[i]) {
        case 3:
            put_set(&part, 3, everybody, 6);
            break;
        case 4:
            put_neighbour(&part, 3, "a", 1);
            break;
        case 6:
            put_double(&part, 6, 0.5);
            break;
        case 40:
            put_fixed32(&inner, 1, 3);
            put_block(&part, 4, inner.data, inner.size);
            break;
        case 41:
            put_neighbour(&part, 3, "a\0b", 3);
            break;
        case 42:
            put_block(&inner, 2, "a", 1);
            put_fixed32(&inner, 1, 3);
            put_block(&part, 4, inner.data, inner.size);
            break;
        default:
            put_fixed32(&part, fields[i], fields[i] == 2 ? 3 : 1);
        }
    }
    return with_network(&run, &part);
}

static void another_form_of_a_network_is_refused(void **state)
{
    static const unsigned right[] = {1, 2, 3, 4, 5, 6, 7};
    static const unsigned wrongs[][8] = {
        {2, 3, 4, 5, 6, 7},       {1, 3, 4, 5, 6, 7},       {1, 2, 3, 4, 6, 7},       /* missing */
        {1, 2, 3, 4, 5, 7},       {1, 2, 3, 4, 5, 6},                                 /* ones */
        {1, 1, 2, 3, 4, 5, 6, 7}, {1, 2, 2, 3, 4, 5, 6, 7}, {1, 2, 3, 3, 4, 5, 6, 7}, /* twice */
        {1, 2, 3, 4, 4, 5, 6, 7}, {1, 2, 3, 4, 5, 5, 6, 7}, {1, 2, 3, 4, 5, 6, 6, 7},
        {1, 2, 3, 4, 5, 6, 7, 7}, {1, 2, 4, 3, 5, 6, 7},    {2, 1, 3, 4, 5, 6, 7},    /* disorder */
        {1, 2, 3, 5, 6, 7, 4},    {1, 2, 3, 4, 5, 7, 6},    {1, 2, 3, 4, 5, 6, 7, 9}, /* unknown */
        {1, 2, 3, 40, 5, 6, 7},   {1, 2, 3, 41, 5, 6, 7},   {1, 2, 3, 42, 5, 6, 7}};
    struct tacit_wire_announcement found;
    (void)state;
    struct bytes good = made_of(right, 7);
    assert_int_equal(decode(good.data, good.size, &found), TACIT_OK);
    free_network(&found);
    for (size_t i = 0; i < sizeof wrongs / sizeof wrongs[0]; i++) {
        size_t count = 8;
        while (wrongs[i][count - 1] == 0)
            count--;
        struct bytes const bytes = made_of(wrongs[i], count);
        expect_bytes_refused(&bytes);
    }
}

/* The network is the last field, once, with a length in as few bytes as will do. */
static void another_frame_of_a_network_is_refused(void **state)
{
    struct tacit_wire_announcement const run = run_over(&relay);
    struct bytes const good = by_hand(&run);
    static struct bytes network;
    (void)state;
    network.size = 0;
    put_network(&network, &run);
    for (size_t size = TACIT_WIRE_ANNOUNCEMENT_BYTES + 1; size < good.size; size++)
        expect_refused(good.data, size);
    struct bytes bytes = good; /* one byte too many */
    put_byte(&bytes, 0);
    expect_bytes_refused(&bytes);
    bytes = good; /* two networks */
    put_block(&bytes, 8, network.data, network.size);
    expect_bytes_refused(&bytes);
    bytes = good; /* an unknown field */
    put_fixed32(&bytes, 9, 1);
    expect_bytes_refused(&bytes);
    bytes.size = 0; /* the network before the run */
    put_block(&bytes, 8, network.data, network.size);
    put_run(&bytes, &run);
    expect_bytes_refused(&bytes);
    bytes.size = 0; /* 69 in two bytes */
    put_run(&bytes, &run);
    put_byte(&bytes, 8 << 3 | 2);
    put_byte(&bytes, 0x80u | (unsigned)network.size);
    put_byte(&bytes, 0);
    for (size_t i = 0; i < network.size; i++)
        put_byte(&bytes, network.data[i]);
    expect_bytes_refused(&bytes);
}

/* As over a star: another network that is possible, to the letter, or none. */
static void a_flipped_bit_of_a_network_does_no_harm(void **state)
{
    struct tacit_rng rng = tacit_rng_stream(2, 0, TACIT_STREAM_COMMON, TACIT_PURPOSE_GRAPH);
    static struct random_network drawn;
    uint32_t taken = 0;
    (void)state;
    for (uint32_t i = 0; i < 20; i++) {
        draw(&drawn, &rng);
        drawn.network.neighbour_count =
            drawn.network.neighbour_count > 6 ? 6 : drawn.network.neighbour_count;
        drawn.network.parent = drawn.run.agent;
        struct bytes bytes = by_hand(&drawn.run);
        for (size_t bit = 0; bit < 8 * bytes.size; bit++) {
            struct tacit_wire_announcement found;
            bytes.data[bit / 8] ^= (uint8_t)(1u << (bit % 8));
            if (decode(bytes.data, bytes.size, &found) == TACIT_OK) {
                taken++;
                assert_non_null(found.network);
                expect_trip(&found);
                struct bytes const again = by_hand(&found);
                assert_memory_equal(again.data, bytes.data, bytes.size);
                free_network(&found);
            }
            bytes.data[bit / 8] ^= (uint8_t)(1u << (bit % 8));
        }
    }
    assert_true(taken > 1000); /* run ids, pauses, letters of names */
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(survives_the_trip),
        cmocka_unit_test(bytes_are_as_published),
        cmocka_unit_test(another_length_is_refused),
        cmocka_unit_test(impossible_numbers_are_refused),
        cmocka_unit_test(zeros_and_ones_are_refused),
        cmocka_unit_test(a_missing_field_is_refused),
        cmocka_unit_test(fields_in_another_order_are_refused),
        cmocka_unit_test(a_flipped_bit_does_no_harm),
        cmocka_unit_test(networks_survive_the_trip),
        cmocka_unit_test(networks_at_their_limits_survive_the_trip),
        cmocka_unit_test(sizes_are_those_of_the_parts),
        cmocka_unit_test(bytes_of_a_network_are_as_published),
        cmocka_unit_test(impossible_networks_are_refused),
        cmocka_unit_test(a_parent_that_is_no_neighbour_is_refused),
        cmocka_unit_test(impossible_neighbours_are_refused),
        cmocka_unit_test(impossible_members_are_refused),
        cmocka_unit_test(members_of_another_length_are_refused),
        cmocka_unit_test(another_form_of_a_network_is_refused),
        cmocka_unit_test(another_frame_of_a_network_is_refused),
        cmocka_unit_test(a_flipped_bit_of_a_network_does_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
