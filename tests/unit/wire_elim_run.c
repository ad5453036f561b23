/* Elimination's part of an announcement: what is written is read back, in one form only; whatever
 * else a hub may send is refused and leaves no trace. */
#include "../support/wire_shape.h"
#include <math.h>
#include "../support/testing.h"
#include "../support/digest.h"
#include "../support/wire_bytes.h"
#include "tacit/random.h"
#include "tacit/wire_elim.h"

#define PARAMETERS 47u

static const struct tacit_wire_elim_run sample = {.run_id = UINT64_C(0x0123456789abcdef),
                                                  .agent = 2,
                                                  .agent_count = 3,
                                                  .arm_count = 5,
                                                  .horizon = 400000,
                                                  .epsilon_nano = TACIT_NANO / 2,
                                                  .report_count = 2,
                                                  .round_limit = 4,
                                                  .gap = 0.25};

/* Where a field's bytes begin, after its tag; src/wire/elim.proto, ElimParameters. */
enum {
    NETWORK_AT = 1,
    REPORT_COUNT_AT = 6,
    ROUND_LIMIT_AT = 11,
    GAP_AT = 16,
    TIMEOUT_AT = 25,
    GROWTH_AT = 30,
    CONFIDENCE_AT = 39
};

static void expect_equal(const struct tacit_wire_elim_run *a, const struct tacit_wire_elim_run *b)
{
    assert_true(a->run_id == b->run_id);
    assert_int_equal(a->agent, b->agent);
    assert_int_equal(a->agent_count, b->agent_count);
    assert_int_equal(a->arm_count, b->arm_count);
    assert_true(a->horizon == b->horizon);
    assert_true(a->epsilon_nano == b->epsilon_nano);
    assert_int_equal(a->report_count, b->report_count);
    assert_int_equal(a->round_limit, b->round_limit);
    assert_true(a->gap == b->gap);
    assert_true(a->growth == b->growth);
    assert_true(a->confidence == b->confidence);
}

static void put(uint8_t *bytes, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
}

/* The announcement of `run`; its arms have no names here, which is no concern of the family. */
static struct tacit_wire_announcement announce(const struct tacit_wire_elim_run *run)
{
    struct tacit_wire_announcement announcement = {
        .agreement = {.protocol = TACIT_WIRE_ELIM_NAME,
                      .family = TACIT_WIRE_ELIM_FAMILY,
                      .protocol_version = TACIT_WIRE_ELIM_VERSION,
                      .agent_count = run->agent_count,
                      .arm_count = run->arm_count,
                      .horizon = run->horizon,
                      .epsilon_nano = run->epsilon_nano},
        .agent = run->agent};
    tacit_wire_run(run->run_id, announcement.agreement.run);
    return announcement;
}

/* In memory that is exactly as long as the bytes, so that a sanitizer sees a read beyond them. */
static uint8_t *exact(const uint8_t *bytes, size_t size)
{
    uint8_t *const copy = testing_malloc(size > 0 ? size : 1);
    if (size > 0)
        memcpy(copy, bytes, size);
    return copy;
}

/* With the parameters and the place of these bytes. */
static enum tacit_status decode_with(const struct tacit_wire_elim_run *run,
                                     const uint8_t *parameters, size_t parameters_size,
                                     const uint8_t *place, size_t place_size,
                                     struct tacit_wire_elim_run *found,
                                     const struct tacit_wire_allocator *allocator)
{
    struct tacit_wire_announcement announcement = announce(run);
    uint8_t *const first = exact(parameters, parameters_size);
    uint8_t *const second = exact(place, place_size);
    announcement.agreement.parameters = first;
    announcement.agreement.parameters_size = parameters_size;
    announcement.place = second;
    announcement.place_size = place_size;
    enum tacit_status const status =
        tacit_wire_run_decode(&tacit_wire_elim, &announcement, found, allocator);
    return status;
}

static enum tacit_status decode_both(const struct tacit_wire_elim_run *run,
                                     const uint8_t *parameters, size_t parameters_size,
                                     const uint8_t *place, size_t place_size,
                                     struct tacit_wire_elim_run *found)
{
    return decode_with(run, parameters, parameters_size, place, place_size, found,
                       tacit_wire_heap());
}

static void expect_parameters_refused(const struct tacit_wire_elim_run *run, const uint8_t *bytes,
                                      size_t size)
{
    struct tacit_wire_elim_run found;
    struct tacit_wire_elim_run before;
    memset(&found, 0x5a, sizeof found);
    memcpy(&before, &found, sizeof found);
    assert_int_equal(decode_both(run, bytes, size, NULL, 0, &found), TACIT_MALFORMED);
    assert_memory_equal(&found, &before, sizeof found);
}

/* ---- Parameters, over a star ---- */

TEST(parameters_survive_the_trip)
{
    static const struct tacit_wire_elim_run limits[] = {
        {.agent_count = 1,
         .arm_count = 1,
         .horizon = 1,
         .epsilon_nano = 1,
         .report_count = 1,
         .gap = 1},
        {.run_id = UINT64_MAX,
         .agent = TACIT_AGENTS_MAX - 1,
         .agent_count = TACIT_AGENTS_MAX,
         .arm_count = TACIT_ARMS_MAX,
         .horizon = TACIT_HORIZON_MAX,
         .epsilon_nano = UINT64_MAX,
         .report_count = TACIT_AGENTS_MAX,
         .round_limit = TACIT_ELIM_EPOCHS_MAX - 1,
         .gap = 0x1p-1074},
        {.agent_count = 9,
         .arm_count = 4,
         .horizon = 100,
         .epsilon_nano = 1,
         .report_count = 9,
         .gap = 1,
         .growth = 1.0000000000000002,
         .confidence = 0.9999999999999999},
        {.agent_count = 9,
         .arm_count = 4,
         .horizon = 100,
         .epsilon_nano = 1,
         .report_count = 9,
         .gap = 1,
         .growth = 4},
    };
    for (size_t i = 0; i <= sizeof limits / sizeof limits[0]; i++) {
        struct tacit_wire_elim_run const *const said = i == 0 ? &sample : &limits[i - 1];
        struct tacit_wire_elim_run heard;
        uint8_t bytes[PARAMETERS];
        tacit_wire_encode(tacit_wire_elim.parameters, NULL, said, bytes);
        assert_int_equal(tacit_wire_bytes(tacit_wire_elim.place, SHAPE(0, said->agent_count), said),
                         0);
        assert_int_equal(decode_both(said, bytes, sizeof bytes, NULL, 0, &heard), TACIT_OK);
        expect_equal(&heard, said);
        assert_int_equal(heard.network, TACIT_WIRE_ELIM_STAR);
    }
}

/* Others may implement the format: these bytes do not change within version 1. */
TEST(bytes_of_parameters_are_as_published)
{
    static const char golden[] = "0d00000000"          /* a star */
                                 "1502000000"          /* reports */
                                 "1d04000000"          /* rounds */
                                 "21000000000000d03f"  /* gap 0.25 */
                                 "2d00000000"          /* no sink waits */
                                 "310000000000000000"  /* the paper's bounds, .. */
                                 "390000000000000000"; /* .. without a confidence */
    uint8_t bytes[PARAMETERS];
    char text[2 * PARAMETERS + 1];
    tacit_wire_encode(tacit_wire_elim.parameters, NULL, &sample, bytes);
    for (size_t i = 0; i < PARAMETERS; i++)
        (void)snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    assert_string_equal(text, golden);
}

static uint64_t word_of(double number)
{
    uint64_t word;
    memcpy(&word, &number, sizeof word);
    return word;
}

TEST(impossible_parameters_are_refused)
{
    struct {
        size_t at;
        uint64_t value;
        size_t size;
    } const wrongs[] = {
        {NETWORK_AT, 3, 4},
        {NETWORK_AT, UINT32_MAX, 4},
        {NETWORK_AT, 1, 4}, /* spread, but there is no place */
        {REPORT_COUNT_AT, 0, 4},
        {REPORT_COUNT_AT, 4, 4}, /* of 3 */
        {ROUND_LIMIT_AT, TACIT_ELIM_EPOCHS_MAX, 4},
        {ROUND_LIMIT_AT, UINT32_MAX, 4},
        {GAP_AT, word_of(0), 8},
        {GAP_AT, word_of(-0.0), 8},
        {GAP_AT, word_of(-0.25), 8},
        {GAP_AT, word_of(1.0000000000000002), 8},
        {GAP_AT, word_of(INFINITY), 8},
        {GAP_AT, word_of((double)NAN), 8},
        {TIMEOUT_AT, 1, 4},         /* a star has no sinks */
        {GROWTH_AT, word_of(2), 8}, /* with a round limit */
        {GROWTH_AT, word_of(-0.0), 8},
        {GROWTH_AT, word_of((double)NAN), 8},
        {CONFIDENCE_AT, word_of(0.9), 8}, /* without a growth */
        {CONFIDENCE_AT, word_of(-0.0), 8},
    };
    for (size_t i = 0; i < sizeof wrongs / sizeof wrongs[0]; i++) {
        uint8_t bytes[PARAMETERS];
        tacit_wire_encode(tacit_wire_elim.parameters, NULL, &sample, bytes);
        put(bytes + wrongs[i].at, wrongs[i].value, wrongs[i].size);
        expect_parameters_refused(&sample, bytes, sizeof bytes);
    }
}

TEST(impossible_exact_bounds_are_refused)
{
    double const growths[] = {1, 0.5, -2, 4.000000000000001, INFINITY, (double)NAN};
    double const confidences[] = {0.49, 1, -0.9, INFINITY, (double)NAN};
    struct tacit_wire_elim_run exact = sample;
    uint8_t bytes[PARAMETERS];
    exact.round_limit = 0;
    exact.growth = 2;
    for (size_t i = 0; i < sizeof growths / sizeof growths[0]; i++) {
        tacit_wire_encode(tacit_wire_elim.parameters, NULL, &exact, bytes);
        put(bytes + GROWTH_AT, word_of(growths[i]), 8);
        expect_parameters_refused(&exact, bytes, sizeof bytes);
    }
    for (size_t i = 0; i < sizeof confidences / sizeof confidences[0]; i++) {
        tacit_wire_encode(tacit_wire_elim.parameters, NULL, &exact, bytes);
        put(bytes + CONFIDENCE_AT, word_of(confidences[i]), 8);
        expect_parameters_refused(&exact, bytes, sizeof bytes);
    }
}

TEST(another_protocol_or_version_is_refused)
{
    struct tacit_wire_announcement announcement = announce(&sample);
    struct tacit_wire_elim_run found;
    uint8_t bytes[PARAMETERS];
    tacit_wire_encode(tacit_wire_elim.parameters, NULL, &sample, bytes);
    announcement.agreement.parameters = bytes;
    announcement.agreement.parameters_size = sizeof bytes;
    assert_int_equal(
        tacit_wire_run_decode(&tacit_wire_elim, &announcement, &found, tacit_wire_heap()),
        TACIT_OK);
    announcement.agreement.protocol = "gossip-ucb";
    assert_int_equal(
        tacit_wire_run_decode(&tacit_wire_elim, &announcement, &found, tacit_wire_heap()),
        TACIT_MALFORMED);
    announcement = announce(&sample);
    announcement.agreement.parameters = bytes;
    announcement.agreement.parameters_size = sizeof bytes;
    announcement.agreement.family++;
    assert_int_equal(
        tacit_wire_run_decode(&tacit_wire_elim, &announcement, &found, tacit_wire_heap()),
        TACIT_MALFORMED);
    announcement.agreement.family--;
    announcement.agreement.protocol_version++;
    assert_int_equal(
        tacit_wire_run_decode(&tacit_wire_elim, &announcement, &found, tacit_wire_heap()),
        TACIT_MALFORMED);
    announcement.agreement.protocol_version--;
    announcement.agreement.epsilon_nano = 0;
    assert_int_equal(
        tacit_wire_run_decode(&tacit_wire_elim, &announcement, &found, tacit_wire_heap()),
        TACIT_MALFORMED);
}

/* Over a star nobody has a place of its own. */
TEST(a_place_over_a_star_is_refused)
{
    struct tacit_wire_elim_run found;
    uint8_t bytes[PARAMETERS];
    tacit_wire_encode(tacit_wire_elim.parameters, NULL, &sample, bytes);
    assert_int_equal(
        decode_both(&sample, bytes, sizeof bytes, (const uint8_t *)"\x0d\2\0\0\0", 5, &found),
        TACIT_MALFORMED);
}

/* ---- Places ---- */

#define ROOM 16384u

struct bytes {
    uint8_t data[ROOM];
    size_t size;
};

/* A place, and the run that it is a place in. */
struct place {
    struct tacit_wire_elim_run run;
    struct bytes bytes;
};

/* As it is written, whether it can be or not. */
static struct place place_of(const struct tacit_wire_elim_run *run)
{
    struct place place = {.run = *run};
    struct tacit_wire_shape const *const shape = SHAPE(0, run->agent_count);
    place.bytes.size = tacit_wire_bytes(tacit_wire_elim.place, shape, run);
    assert_true(place.bytes.size <= ROOM);
    tacit_wire_encode(tacit_wire_elim.place, shape, run, place.bytes.data);
    return place;
}

static enum tacit_status decode(const struct place *place, struct tacit_wire_elim_run *found)
{
    uint8_t parameters[PARAMETERS];
    tacit_wire_encode(tacit_wire_elim.parameters, NULL, &place->run, parameters);
    return decode_both(&place->run, parameters, sizeof parameters, place->bytes.data,
                       place->bytes.size, found);
}

static void expect_place_refused(const struct place *place)
{
    struct tacit_wire_elim_run found;
    struct tacit_wire_elim_run before;
    memset(&found, 0x5a, sizeof found);
    memcpy(&before, &found, sizeof found);
    assert_int_equal(decode(place, &found), TACIT_MALFORMED);
    assert_memory_equal(&found, &before, sizeof found);
}

/* ---- Networks ---- */

static const uint64_t members_of_6[] = {0x2d}; /* 0, 2, 3, 5 */
static const struct tacit_wire_neighbour two[] = {{0, "north"}, {3, "South_2"}};

/* Site 2 of 6, on the way to sink 3. */
static const struct tacit_wire_elim_run relay = {.network = TACIT_WIRE_ELIM_GATHER,
                                                 .parent = 3,
                                                 .members = members_of_6,
                                                 .neighbour_count = 2,
                                                 .neighbours = two,
                                                 .gather_timeout_s = 300};

static struct tacit_wire_elim_run run_over(const struct tacit_wire_elim_run *network)
{
    struct tacit_wire_elim_run run = *network;
    run.head = sample.head;
    run.agent_count = 6;
    run.report_count = sample.report_count;
    run.round_limit = sample.round_limit;
    run.gap = sample.gap;
    return run;
}

static void expect_equal_networks(const struct tacit_wire_elim_run *a,
                                  const struct tacit_wire_elim_run *b)
{
    expect_equal(a, b);
    assert_int_equal(a->network, b->network);
    assert_int_equal(a->parent, b->parent);
    assert_int_equal(a->gather_timeout_s, b->gather_timeout_s);
    assert_int_equal(a->members == NULL, b->members == NULL);
    if (a->members != NULL)
        assert_memory_equal(a->members, b->members,
                            TACIT_BITS_WORDS(a->agent_count) * sizeof(uint64_t));
    assert_int_equal(a->neighbour_count, b->neighbour_count);
    for (uint32_t i = 0; i < a->neighbour_count; i++) {
        assert_int_equal(a->neighbours[i].agent, b->neighbours[i].agent);
        assert_string_equal(a->neighbours[i].site, b->neighbours[i].site);
    }
}

static void expect_trip(const struct tacit_wire_elim_run *said)
{
    struct tacit_wire_elim_run heard;
    struct place const place = place_of(said);
    assert_int_equal(decode(&place, &heard), TACIT_OK);
    expect_equal_networks(&heard, said);
    testing_free(ELIM_RUN_BLOCK(&heard));
}

/* Any network that may be announced. */
struct random_network {
    struct tacit_wire_elim_run run;
    uint64_t members[TACIT_BITS_WORDS(200)];
    struct tacit_wire_neighbour neighbours[200];
    char names[200][TACIT_WIRE_NAME_BYTES_MAX + 1];
};

static void draw_neighbours(struct random_network *drawn, double density, struct tacit_rng *rng)
{
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
    uint32_t count = 0;
    for (uint32_t agent = 0; agent < drawn->run.agent_count; agent++) {
        if (agent == drawn->run.agent || tacit_rng_uniform(rng) >= density)
            continue;
        size_t const length = 1 + tacit_rng_below(rng, TACIT_WIRE_NAME_BYTES_MAX);
        for (size_t i = 0; i < length; i++)
            drawn->names[count][i] = allowed[tacit_rng_below(rng, sizeof allowed - 1)];
        drawn->names[count][length] = '\0';
        drawn->neighbours[count] = (struct tacit_wire_neighbour){agent, drawn->names[count]};
        count++;
    }
    drawn->run.neighbour_count = count;
    drawn->run.neighbours = drawn->neighbours;
}

static void draw(struct random_network *drawn, struct tacit_rng *rng)
{
    uint32_t const agents = 1 + (uint32_t)tacit_rng_below(rng, 200);
    bool const gathers = tacit_rng_below(rng, 2) == 1;
    memset(drawn, 0, sizeof *drawn);
    drawn->run = sample;
    drawn->run.agent_count = agents;
    drawn->run.agent = (uint32_t)tacit_rng_below(rng, agents);
    draw_neighbours(drawn, 0.3 * tacit_rng_uniform(rng), rng);
    drawn->run.network = gathers ? TACIT_WIRE_ELIM_GATHER : TACIT_WIRE_ELIM_SPREAD;
    drawn->run.parent = drawn->run.agent;
    if (gathers && drawn->run.neighbour_count > 0)
        drawn->run.parent =
            drawn->neighbours[tacit_rng_below(rng, drawn->run.neighbour_count)].agent;
    drawn->run.report_count = agents;
    drawn->run.round_limit = (uint32_t)tacit_rng_below(rng, TACIT_ELIM_EPOCHS_MAX);
    drawn->run.gap = 1 - tacit_rng_uniform(rng); /* above 0, up to 1 */
    drawn->run.gather_timeout_s = (uint32_t)tacit_rng_below(rng, UINT32_MAX);
    if (tacit_rng_below(rng, 2) == 1) {
        for (uint32_t agent = 0; agent < agents; agent++)
            if (agent == drawn->run.agent || tacit_rng_below(rng, 2) == 1)
                tacit_bits_add(drawn->members, agent);
        drawn->run.members = drawn->members;
    }
}

TEST(networks_survive_the_trip)
{
    struct tacit_rng rng = tacit_rng_stream(1, 0, TACIT_STREAM_COMMON, TACIT_PURPOSE_GRAPH);
    static struct random_network drawn;
    for (uint32_t i = 0; i < 2000; i++) {
        draw(&drawn, &rng);
        expect_trip(&drawn.run);
    }
}

TEST(networks_at_their_limits_survive_the_trip)
{
    static const char longest[] =
        "-_0123456789abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOP";
    static const struct tacit_wire_neighbour last[] = {{TACIT_AGENTS_MAX - 1, longest}};
    struct tacit_wire_elim_run const nobody_near = {.network = TACIT_WIRE_ELIM_SPREAD, .parent = 2};
    struct tacit_wire_elim_run run = run_over(&nobody_near);
    assert_int_equal(sizeof longest - 1, TACIT_WIRE_NAME_BYTES_MAX);
    expect_trip(&run); /* nobody near, everybody a member */
    run.neighbours = last;
    run.neighbour_count = 1;
    run.round_limit = TACIT_ELIM_EPOCHS_MAX - 1;
    run.gap = 0x1p-1074;
    run.gather_timeout_s = UINT32_MAX;
    run.agent_count = TACIT_AGENTS_MAX;
    expect_trip(&run);
    run.network = TACIT_WIRE_ELIM_GATHER;
    run.parent = TACIT_AGENTS_MAX - 1;
    expect_trip(&run);
}

/* As long as its parts: 5 for the parent, 10 for a set of up to 64, and for a neighbour 9 and its
 * name. */
TEST(sizes_are_those_of_the_parts)
{
    struct tacit_wire_elim_run run = run_over(&relay);
    assert_int_equal(tacit_wire_bytes(tacit_wire_elim.place, SHAPE(0, run.agent_count), &run),
                     5 + 10 + (9 + 5) + (9 + 7));
    run.members = NULL;
    assert_int_equal(tacit_wire_bytes(tacit_wire_elim.place, SHAPE(0, run.agent_count), &run),
                     5 + (9 + 5) + (9 + 7));
    run.neighbour_count = 0;
    assert_int_equal(tacit_wire_bytes(tacit_wire_elim.place, SHAPE(0, run.agent_count), &run), 5);
}

/* Others may implement the format: these bytes do not change within version 1. */
TEST(bytes_of_a_place_are_as_published)
{
    static const char golden[] = "0d03000000"           /* parent */
                                 "12082d00000000000000" /* members */
                                 "1a0c"
                                 "0d00000000"
                                 "12056e6f727468" /* 0, north */
                                 "1a0e"
                                 "0d03000000"
                                 "1207536f7574685f32"; /* 3, South_2 */
    struct tacit_wire_elim_run const run = run_over(&relay);
    uint8_t bytes[sizeof golden / 2];
    char text[sizeof golden];
    assert_int_equal(tacit_wire_bytes(tacit_wire_elim.place, SHAPE(0, run.agent_count), &run),
                     sizeof bytes);
    tacit_wire_encode(tacit_wire_elim.place, SHAPE(0, run.agent_count), &run, bytes);
    for (size_t i = 0; i < sizeof bytes; i++)
        (void)snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    assert_string_equal(text, golden);
}

/* The network with one thing changed is refused; unchanged it is taken. */
static void expect_network_refused(const struct tacit_wire_elim_run *network)
{
    struct tacit_wire_elim_run const good = run_over(&relay);
    struct tacit_wire_elim_run const bad = run_over(network);
    struct place const place = place_of(&bad);
    expect_trip(&good);
    expect_place_refused(&place);
}

TEST(a_parent_that_is_no_neighbour_is_refused)
{
    static const uint32_t strangers[] = {1, 4, 5, 6, UINT32_MAX};
    struct tacit_wire_elim_run network = relay;
    for (size_t i = 0; i < sizeof strangers / sizeof strangers[0]; i++) {
        network.parent = strangers[i];
        expect_network_refused(&network);
    }
    network.neighbour_count = 0;
    network.parent = 3;
    expect_network_refused(&network);
}

TEST(impossible_neighbours_are_refused)
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
    for (size_t i = 0; i < sizeof wrongs / sizeof wrongs[0]; i++) {
        struct tacit_wire_elim_run network = relay;
        network.neighbours = wrongs[i];
        expect_network_refused(&network);
    }
}

TEST(impossible_members_are_refused)
{
    static const uint64_t wrongs[] = {0,              /* nobody */
                                      0x29,           /* without the site itself */
                                      0x2d | 1u << 6, /* one too many */
                                      0x2d | UINT64_C(1) << 63};
    for (size_t i = 0; i < sizeof wrongs / sizeof wrongs[0]; i++) {
        struct tacit_wire_elim_run network = relay;
        network.members = &wrongs[i];
        expect_network_refused(&network);
    }
}

/* ---- Known answers --------------------------------------------------------------------------- */

static void digest_network(const struct tacit_wire_elim_run *run)
{
    bool const is_spread = run->network == TACIT_WIRE_ELIM_SPREAD;
    digest_word((uint64_t)(is_spread ? TACIT_ELIM_SPREAD : TACIT_ELIM_GATHER));
    digest_word(run->gather_timeout_s);
    digest_word(run->parent);
    digest_word(run->members != NULL);
    if (run->members != NULL)
        digest_bytes(run->members, TACIT_BITS_WORDS(run->agent_count) * sizeof(uint64_t));
    digest_word(run->neighbour_count);
    for (uint32_t i = 0; i < run->neighbour_count; i++) {
        digest_word(run->neighbours[i].agent);
        digest_bytes(run->neighbours[i].site, strlen(run->neighbours[i].site));
    }
}

static void digest_run(enum tacit_status status, struct tacit_wire_elim_run *run)
{
    digest_word((uint64_t)status);
    if (status != TACIT_OK)
        return;
    uint64_t const words[] = {
        run->run_id,       run->agent,           run->agent_count,        run->arm_count,
        run->horizon,      run->epsilon_nano,    run->report_count,       run->round_limit,
        word_of(run->gap), word_of(run->growth), word_of(run->confidence)};
    digest_bytes(words, sizeof words);
    digest_word(run->network != TACIT_WIRE_ELIM_STAR);
    if (run->network != TACIT_WIRE_ELIM_STAR)
        digest_network(run);
    wire_bytes_give(ELIM_RUN_BLOCK(run));
}

static void look_at_parameters(const uint8_t *bytes, size_t size, const void *context)
{
    struct place const *const place = context;
    struct tacit_wire_elim_run found;
    digest_run(decode_with(&place->run, bytes, size, place->bytes.data, place->bytes.size, &found,
                           wire_bytes_memory()),
               &found);
}

static void look_at_place(const uint8_t *bytes, size_t size, const void *context)
{
    struct place const *const place = context;
    struct tacit_wire_elim_run found;
    uint8_t parameters[PARAMETERS];
    tacit_wire_encode(tacit_wire_elim.parameters, NULL, &place->run, parameters);
    digest_run(
        decode_with(&place->run, parameters, PARAMETERS, bytes, size, &found, wire_bytes_memory()),
        &found);
}

static void damage(const struct tacit_wire_elim_run *run)
{
    static struct place place;
    uint8_t parameters[PARAMETERS];
    if (run->network != TACIT_WIRE_ELIM_STAR) {
        place = place_of(run);
        wire_bytes_damage((struct wire_bytes){place.bytes.data, place.bytes.size}, look_at_place,
                          &place);
    } else {
        place.run = *run;
        place.bytes.size = 0;
    }
    tacit_wire_encode(tacit_wire_elim.parameters, NULL, run, parameters);
    wire_bytes_damage((struct wire_bytes){parameters, PARAMETERS}, look_at_parameters, &place);
}

TEST(damaged_announcements_are_judged_as_they_were)
{
    static const struct tacit_wire_neighbour one[] = {{5, "a"}};
    static const uint64_t self_and_last[] = {0x24}; /* 2 and 5 */
    struct tacit_wire_elim_run const spread = {.network = TACIT_WIRE_ELIM_SPREAD,
                                               .parent = 4,
                                               .gather_timeout_s = 7,
                                               .members = self_and_last,
                                               .neighbour_count = 1,
                                               .neighbours = one};
    struct tacit_wire_elim_run const sink = {
        .network = TACIT_WIRE_ELIM_GATHER, .parent = 2, .gather_timeout_s = 1};
    struct tacit_wire_elim_run run = sample;
    damage(&run); /* the paper's bounds over a star, .. */
    run.round_limit = 0;
    run.growth = 4;
    run.confidence = 0.5;
    damage(&run); /* .. exact ones with a confidence, .. */
    run.report_count = 3;
    run.gap = 1;
    run.growth = 1.5;
    run.confidence = 0;
    damage(&run); /* .. and without */
    run = run_over(&relay);
    run.round_limit = TACIT_ELIM_EPOCHS_MAX - 1;
    damage(&run);
    run = run_over(&spread);
    damage(&run);
    run = run_over(&sink);
    damage(&run);
}

DIGEST_IS(UINT64_C(0x909662592de4315f))
