/* Room topo: graphs with known answers, what generators promise, what is refused and how.
 * Laws are tested at ALPHA a test, counts within 4 standard errors, all with fixed seeds: a failure
 * means a change, not bad luck. */
#include <math.h>
#include "../support/testing.h"
#include "../support/graph.h"
#include "tacit/topo.h"
#include "../../src/topo/spectrum.h"
#include "../oracle/topo_net.h"
#include "../support/gof.h"

#define ALPHA 1e-6
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static struct tacit_rng stream(uint32_t number)
{
    return tacit_rng_stream(11, number, TACIT_STREAM_COMMON, TACIT_PURPOSE_GRAPH);
}

static struct net net_of(struct tacit_graph_spec spec)
{
    return net_of_specs(&spec, 1, NULL);
}

static struct net draw(struct tacit_graph_spec spec, struct tacit_rng *rng)
{
    return net_of_specs(&spec, 1, rng);
}

/* ---- The graph ------------------------------------------------------------------------------- */

TEST(init_sorts_edges_and_neighbours_and_counts_each_once)
{
    struct tacit_edge const edges[] = {{4, 2}, {0, 4}, {2, 0}, {3, 2}, {2, 4}, {4, 2}};
    struct tacit_edge const sorted[] = {{0, 2}, {0, 4}, {2, 3}, {2, 4}};
    uint64_t const first[] = {0, 2, 2, 5, 6, 8, 8};
    uint32_t const neighbours[] = {2, 4, 0, 3, 4, 2, 0, 2};
    struct net net = net_of_edges(6, edges, COUNT(edges));
    assert_int_equal(net.graph.edge_count, COUNT(sorted));
    assert_memory_equal(net.edges, sorted, sizeof sorted);
    assert_memory_equal(net.graph.first, first, sizeof first);
    assert_memory_equal(net.graph.neighbours, neighbours, sizeof neighbours);
    net_close(&net);
}

TEST(init_refuses_loops_and_strangers_and_touches_nothing)
{
    struct tacit_edge const bad[][2] = {{{2, 0}, {1, 1}}, {{2, 0}, {1, 3}}, {{2, 0}, {3, 1}}};
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct tacit_edge edges[2];
        uint64_t memory[16];
        struct tacit_graph graph = {.agent_count = 77};
        memcpy(edges, bad[i], sizeof edges);
        memset(memory, 0x5a, sizeof memory);
        assert_true(tacit_graph_size(3, 2) <= sizeof memory);
        assert_int_equal(tacit_graph_init(&graph, memory, 3, edges, 2), TACIT_INVALID);
        assert_memory_equal(edges, bad[i], sizeof edges);
        assert_int_equal(graph.agent_count, 77);
        for (size_t j = 0; j < COUNT(memory); j++)
            assert_true(memory[j] == UINT64_C(0x5a5a5a5a5a5a5a5a));
    }
}

TEST(size_is_what_init_writes_to_and_no_more)
{
    struct tacit_edge edges[] = {{0, 1}, {1, 2}, {2, 3}};
    size_t const size = tacit_graph_size(4, 3);
    uint8_t *const memory = testing_malloc(size); /* the address sanitizer watches its end */
    struct tacit_graph graph;
    assert_int_equal(size, 5 * sizeof(uint64_t) + 6 * sizeof(uint32_t));
    assert_int_equal(tacit_graph_init(&graph, memory, 4, edges, 3), TACIT_OK);
    assert_ptr_equal(graph.neighbours + 6, memory + size);
}

/* ---- Fixed kinds ----------------------------------------------------------------------------- */

static void expect_edges(struct tacit_graph_spec spec, const struct tacit_edge *expected,
                         uint64_t count)
{
    struct net net = net_of(spec);
    assert_int_equal(net.graph.agent_count, spec.agent_count);
    assert_int_equal(net.graph.edge_count, count);
    if (count > 0)
        assert_memory_equal(net.edges, expected, count * sizeof expected[0]);
    net_close(&net);
}

#define EXPECT_EDGES(spec, ...)                                                                    \
    expect_edges(spec, (struct tacit_edge[]){__VA_ARGS__},                                         \
                 COUNT(((struct tacit_edge[]){__VA_ARGS__})))
#define SPEC(...) ((struct tacit_graph_spec){__VA_ARGS__})

TEST(fixed_kinds_have_the_edges_of_their_definition)
{
    EXPECT_EDGES(SPEC(.kind = TACIT_GRAPH_STAR, .agent_count = 4), {0, 1}, {0, 2}, {0, 3});
    EXPECT_EDGES(SPEC(.kind = TACIT_GRAPH_COMPLETE, .agent_count = 4), {0, 1}, {0, 2}, {0, 3},
                 {1, 2}, {1, 3}, {2, 3});
    EXPECT_EDGES(SPEC(.kind = TACIT_GRAPH_RING, .agent_count = 4), {0, 1}, {0, 3}, {1, 2}, {2, 3});
    EXPECT_EDGES(SPEC(.kind = TACIT_GRAPH_PATH, .agent_count = 4), {0, 1}, {1, 2}, {2, 3});
    EXPECT_EDGES(SPEC(.kind = TACIT_GRAPH_GRID, .agent_count = 6), {0, 1}, {0, 3}, {1, 2}, {1, 4},
                 {2, 5}, {3, 4}, {4, 5});
    EXPECT_EDGES(SPEC(.kind = TACIT_GRAPH_GRID, .agent_count = 6, .rows = 3), {0, 1}, {0, 2},
                 {1, 3}, {2, 3}, {2, 4}, {3, 5}, {4, 5});
}

TEST(small_fixed_kinds_are_simple)
{
    enum tacit_graph_kind const kinds[] = {TACIT_GRAPH_STAR, TACIT_GRAPH_COMPLETE, TACIT_GRAPH_RING,
                                           TACIT_GRAPH_PATH, TACIT_GRAPH_GRID};
    for (size_t i = 0; i < COUNT(kinds); i++) {
        expect_edges(SPEC(.kind = kinds[i], .agent_count = 1), NULL, 0);
        EXPECT_EDGES(SPEC(.kind = kinds[i], .agent_count = 2), {0, 1});
    }
    EXPECT_EDGES(SPEC(.kind = TACIT_GRAPH_RING, .agent_count = 3), {0, 1}, {0, 2}, {1, 2});
}

/* Rows of a grid show in the degree of the last agent of the first row. */
TEST(grid_without_rows_is_as_square_as_it_can_be)
{
    uint32_t const shapes[][3] = {{12, 3, 4},    {16, 4, 4},       {7, 1, 7},  {15, 3, 5},
                                  {36, 6, 6},    {35, 5, 7},       {30, 5, 6}, {97, 1, 97},
                                  {100, 10, 10}, {99856, 316, 316}};
    for (size_t i = 0; i < COUNT(shapes); i++) {
        uint32_t const rows = shapes[i][1];
        uint32_t const columns = shapes[i][2];
        struct net net = net_of(SPEC(.kind = TACIT_GRAPH_GRID, .agent_count = shapes[i][0]));
        assert_int_equal(net.graph.edge_count, rows * (columns - 1) + columns * (rows - 1));
        if (rows > 1)
            assert_true(graph_adjacent(&net.graph, columns - 1, 2 * columns - 1));
        net_close(&net);
    }
}

/* ---- Distances, diameters, sinks ------------------------------------------------------------- */

struct known_answer {
    struct tacit_graph_spec spec;
    uint32_t diameter;
    uint32_t sink;
    uint32_t delay;
    uint64_t distance_sum;
};

static const struct known_answer known_answers[] = {
    {{.kind = TACIT_GRAPH_PATH, .agent_count = 1}, 0, 0, 0, 0},
    {{.kind = TACIT_GRAPH_PATH, .agent_count = 2}, 1, 0, 1, 1},
    {{.kind = TACIT_GRAPH_PATH, .agent_count = 3}, 2, 1, 1, 2},
    {{.kind = TACIT_GRAPH_PATH, .agent_count = 10}, 9, 4, 5, 25},
    {{.kind = TACIT_GRAPH_PATH, .agent_count = 10001}, 10000, 5000, 5000, 25005000},
    {{.kind = TACIT_GRAPH_RING, .agent_count = 3}, 1, 0, 1, 2},
    {{.kind = TACIT_GRAPH_RING, .agent_count = 5}, 2, 0, 2, 6},
    {{.kind = TACIT_GRAPH_RING, .agent_count = 50}, 25, 0, 25, 625}, /* P1.13: t_delay is 24 */
    {{.kind = TACIT_GRAPH_RING, .agent_count = 100001}, 50000, 0, 50000, UINT64_C(2500050000)},
    {{.kind = TACIT_GRAPH_STAR, .agent_count = 50}, 2, 0, 1, 49},
    {{.kind = TACIT_GRAPH_COMPLETE, .agent_count = 20}, 1, 0, 1, 19},
    {{.kind = TACIT_GRAPH_COMPLETE, .agent_count = 700}, 1, 0, 1, 699},
    {{.kind = TACIT_GRAPH_GRID, .agent_count = 12}, 5, 5, 3, 20},
    {{.kind = TACIT_GRAPH_GRID, .agent_count = 25}, 8, 12, 4, 60},
    {{.kind = TACIT_GRAPH_GRID, .agent_count = 10000, .rows = 100}, 198, 4949, 100, 500000},
};

TEST(known_graphs_have_their_diameters_and_sinks)
{
    for (size_t i = 0; i < COUNT(known_answers); i++) {
        const struct known_answer *const known = &known_answers[i];
        struct net net = net_of(known->spec);
        assert_int_equal(net.component_count, 1);
        assert_int_equal(tacit_graph_diameter(&net.graph, TACIT_GRAPH_EXACT, net.work).low,
                         known->diameter);
        net_find_sinks(&net);
        assert_int_equal(net.delay, known->delay);
        assert_int_equal(net.components[0].sink, known->sink);
        assert_int_equal(net.components[0].delay, known->delay);
        assert_int_equal(net.components[0].distance_sum, known->distance_sum);
        assert_int_equal(net.components[0].agent_count, net.graph.agent_count);
        assert_int_equal(net.components[0].edge_count, net.graph.edge_count);
        net_close(&net);
    }
}

/* ---- Several components ---------------------------------------------------------------------- */

static const struct tacit_edge triangle_and_tail[] = {{0, 1}, {1, 2}, {2, 0}, {3, 2}};

static const struct tacit_graph_spec hybrid[] = {
    {.kind = TACIT_GRAPH_COMPLETE, .agent_count = 3},
    {.kind = TACIT_GRAPH_PATH, .agent_count = 5},
    {.kind = TACIT_GRAPH_STAR, .agent_count = 1},
    {.kind = TACIT_GRAPH_EDGES, .agent_count = 4, .edges = triangle_and_tail, .edge_count = 4},
    {.kind = TACIT_GRAPH_RANDOM, .agent_count = 30, .edge_probability = 0.25},
    {.kind = TACIT_GRAPH_REGULAR, .agent_count = 10, .degree = 3},
};

TEST(components_lie_side_by_side)
{
    static const uint64_t edges[] = {3, 4, 0, 4};
    struct tacit_rng rng = stream(1);
    struct net net = net_of_specs(hybrid, COUNT(hybrid), &rng);
    uint32_t agent = 0;
    assert_int_equal(net.component_count, COUNT(hybrid));
    assert_int_equal(net.graph.agent_count, 53);
    net_find_sinks(&net);
    for (uint32_t i = 0; i < COUNT(hybrid); i++) {
        assert_int_equal(net.components[i].agent_count, hybrid[i].agent_count);
        for (uint32_t j = 0; j < hybrid[i].agent_count; j++)
            assert_int_equal(net.label[agent++], i);
    }
    for (uint32_t i = 0; i < COUNT(edges); i++)
        assert_int_equal(net.components[i].edge_count, edges[i]);
    assert_int_equal(net.components[5].edge_count, 15);
    net_close(&net);
}

TEST(labels_follow_the_lowest_agents)
{
    struct tacit_edge const edges[] = {{5, 1}, {4, 0}, {2, 6}, {6, 1}};
    uint32_t const labels[] = {0, 1, 1, 2, 0, 1, 1};
    struct net net = net_of_edges(7, edges, COUNT(edges));
    assert_int_equal(net.component_count, 3);
    assert_memory_equal(net.label, labels, sizeof labels);
    net_close(&net);
}

/* ---- Words ----------------------------------------------------------------------------------- */

static void expect_members(const uint32_t *label, uint32_t count, uint32_t limit,
                           const char *expected)
{
    char bytes[200];
    struct tacit_text text = tacit_text_init(bytes, sizeof bytes);
    tacit_graph_add_members(&text, label, count, 7, limit);
    assert_string_equal(bytes, expected);
}

TEST(members_are_told_in_ranges)
{
    uint32_t const labels[] = {7, 7, 7, 7, 7, 0, 0, 0, 0, 7, 0, 7, 7, 0, 7};
    expect_members(labels, 15, 9, "0-4, 9, 11-12, 14");
    expect_members(labels, 15, 4, "0-4, 9, 11-12, 14");
    expect_members(labels, 15, 3, "0-4, 9, 11-12 and 1 more");
    expect_members(labels, 15, 1, "0-4 and 4 more");
    expect_members(labels, 5, 1, "0-4");
    expect_members(labels, 1, 1, "0");
    expect_members(labels + 5, 3, 1, "");
}

TEST(members_that_do_not_fit_are_cut)
{
    uint32_t const labels[] = {1, 0, 1, 0, 1};
    char bytes[6];
    struct tacit_text text = tacit_text_init(bytes, sizeof bytes);
    tacit_graph_add_members(&text, labels, 5, 1, 9);
    assert_string_equal(bytes, "0, 2,");
    assert_true(text.truncated);
}

static void expect_components(uint32_t agent_count, uint32_t component_count, uint32_t modulus,
                              const char *expected)
{
    uint32_t label[64];
    char bytes[500];
    struct tacit_text text = tacit_text_init(bytes, sizeof bytes);
    for (uint32_t i = 0; i < agent_count; i++)
        label[i] = modulus > 0 ? i % modulus : i;
    tacit_graph_add_components(&text, label, agent_count, component_count);
    assert_string_equal(bytes, expected);
}

TEST(components_are_told_a_few_of_many)
{
    expect_components(3, 1, 1, "agents 0-2");
    expect_components(5, 2, 2, "agents 0, 2, 4; agents 1, 3");
    expect_components(4, 4, 0, "agents 0; agents 1; agents 2; agents 3");
    expect_components(5, 5, 0, "agents 0; agents 1; agents 2; agents 3 and 1 more component");
    expect_components(64, 64, 0, "agents 0; agents 1; agents 2; agents 3 and 60 more components");
    expect_components(20, 2, 2,
                      "agents 0, 2, 4, 6, 8, 10, 12, 14 and 2 more; "
                      "agents 1, 3, 5, 7, 9, 11, 13, 15 and 2 more");
}

/* ---- Refusals -------------------------------------------------------------------------------- */

static struct tacit_graph_need sentinel_need(void)
{
    return (struct tacit_graph_need){.agent_count = 1, .edge_count = 2, .work_bytes = 3};
}

static void expect_refusals(const struct tacit_graph_spec *specs, uint32_t count,
                            const char *expected)
{
    char bytes[TACIT_ERROR_BYTES];
    struct tacit_text why = tacit_text_init(bytes, sizeof bytes);
    struct tacit_graph_need need = sentinel_need();
    assert_int_equal(tacit_graph_check(specs, count, &need, &why), TACIT_INVALID);
    assert_string_equal(bytes, expected);
    assert_int_equal(need.agent_count, 1);
    assert_int_equal(need.edge_count, 2);
    assert_int_equal(need.work_bytes, 3);
}

static void expect_refusal(struct tacit_graph_spec spec, const char *expected)
{
    expect_refusals(&spec, 1, expected);
}

static void expect_possible(struct tacit_graph_spec spec, uint64_t edge_count)
{
    char bytes[TACIT_ERROR_BYTES];
    struct tacit_text why = tacit_text_init(bytes, sizeof bytes);
    struct tacit_graph_need need;
    assert_int_equal(tacit_graph_check(&spec, 1, &need, &why), TACIT_OK);
    assert_string_equal(bytes, "");
    assert_int_equal(need.agent_count, spec.agent_count);
    assert_int_equal(need.edge_count, edge_count);
}

TEST(check_keeps_to_the_limits_of_agents_and_edges)
{
    expect_refusal(SPEC(.kind = TACIT_GRAPH_RING), "agents: allowed is 1 to 1048576 together");
    expect_refusal(SPEC(.kind = TACIT_GRAPH_RING, .agent_count = TACIT_AGENTS_MAX + 1),
                   "agents: allowed is 1 to 1048576 together");
    expect_possible(SPEC(.kind = TACIT_GRAPH_RING, .agent_count = TACIT_AGENTS_MAX),
                    TACIT_AGENTS_MAX);
    expect_refusal(SPEC(.kind = TACIT_GRAPH_COMPLETE, .agent_count = 23171),
                   "too many edges: allowed are 268435456 together");
    expect_possible(SPEC(.kind = TACIT_GRAPH_COMPLETE, .agent_count = 23170), 268412865);
    struct tacit_graph_spec const many[] = {
        {.kind = TACIT_GRAPH_RING, .agent_count = TACIT_AGENTS_MAX - 1},
        {.kind = TACIT_GRAPH_RING, .agent_count = 2}};
    expect_refusals(many, 2, "component 1: agents: allowed is 1 to 1048576 together");
    struct tacit_graph_spec const dense[] = {{.kind = TACIT_GRAPH_COMPLETE, .agent_count = 20000},
                                             {.kind = TACIT_GRAPH_PATH, .agent_count = 2},
                                             {.kind = TACIT_GRAPH_COMPLETE, .agent_count = 20000}};
    expect_refusals(dense, 3, "component 2: too many edges: allowed are 268435456 together");
}

TEST(check_refuses_parameters_that_make_no_graph)
{
    expect_refusal(SPEC(.kind = TACIT_GRAPH_GRID, .agent_count = 12, .rows = 5),
                   "rows is 5: allowed are divisors of the number of agents, 12");
    expect_refusal(SPEC(.kind = TACIT_GRAPH_GRID, .agent_count = 12, .rows = 24),
                   "rows is 24: allowed are divisors of the number of agents, 12");
    double const bad[] = {-1e-9, 1 + 1e-9, NAN, INFINITY};
    for (size_t i = 0; i < COUNT(bad); i++) {
        expect_refusal(
            SPEC(.kind = TACIT_GRAPH_RANDOM, .agent_count = 9, .edge_probability = bad[i]),
            "edge_probability: allowed is 0 to 1");
        expect_refusal(SPEC(.kind = TACIT_GRAPH_SMALL_WORLD, .agent_count = 9, .degree = 4,
                            .rewiring_probability = bad[i]),
                       "rewiring_probability: allowed is 0 to 1");
    }
    expect_refusal(SPEC(.kind = (enum tacit_graph_kind)99, .agent_count = 5), "kind: unknown");
}

TEST(check_refuses_impossible_degrees)
{
    static const struct {
        enum tacit_graph_kind kind;
        uint32_t agents;
        uint32_t degree;
        uint64_t edges;
        const char *allowed; /* NULL: possible, with these edges */
    } cases[] = {
        {TACIT_GRAPH_REGULAR, 5, 3, 0, "an even number from 2 to 4 for 5 agents"},
        {TACIT_GRAPH_REGULAR, 5, 0, 0, "an even number from 2 to 4 for 5 agents"},
        {TACIT_GRAPH_REGULAR, 5, 5, 0, "an even number from 2 to 4 for 5 agents"},
        {TACIT_GRAPH_REGULAR, 5, 4, 10, NULL},
        {TACIT_GRAPH_REGULAR, 6, 1, 0, "2 to 5 for 6 agents"},
        {TACIT_GRAPH_REGULAR, 6, 6, 0, "2 to 5 for 6 agents"},
        {TACIT_GRAPH_REGULAR, 2, 6, 0, "1 for 2 agents"},
        {TACIT_GRAPH_REGULAR, 2, 1, 1, NULL},
        {TACIT_GRAPH_REGULAR, 1, 1, 0, "0 for 1 agent"},
        {TACIT_GRAPH_REGULAR, 1, 0, 0, NULL},
        {TACIT_GRAPH_SMALL_WORLD, 6, 3, 0,
         "an even number from 2 to below the number of agents, 6"},
        {TACIT_GRAPH_SMALL_WORLD, 6, 0, 0,
         "an even number from 2 to below the number of agents, 6"},
        {TACIT_GRAPH_SMALL_WORLD, 6, 6, 0,
         "an even number from 2 to below the number of agents, 6"},
        {TACIT_GRAPH_SMALL_WORLD, 6, 4, 12, NULL},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct tacit_graph_spec const spec = {
            .kind = cases[i].kind, .agent_count = cases[i].agents, .degree = cases[i].degree};
        char expected[TACIT_ERROR_BYTES];
        (void)snprintf(expected, sizeof expected, "degree is %u: allowed is %s", cases[i].degree,
                       cases[i].allowed == NULL ? "" : cases[i].allowed);
        if (cases[i].allowed == NULL)
            expect_possible(spec, cases[i].edges);
        else
            expect_refusal(spec, expected);
    }
}

TEST(check_refuses_bad_edges)
{
    struct tacit_edge edges[] = {{0, 1}, {2, 2}};
    struct tacit_graph_spec const spec = {
        .kind = TACIT_GRAPH_EDGES, .agent_count = 3, .edges = edges, .edge_count = 2};
    expect_refusal(spec, "edge 1 joins agents 2 and 2: allowed are two different agents from 0 to "
                         "2");
    edges[1].b = 3;
    expect_refusal(spec, "edge 1 joins agents 2 and 3: allowed are two different agents from 0 to "
                         "2");
    edges[1].b = 0;
    expect_possible(spec, 2);
}

static void expect_unconnected(const struct tacit_graph_spec *specs, uint32_t count,
                               const char *expected)
{
    char bytes[TACIT_ERROR_BYTES];
    struct tacit_text why = tacit_text_init(bytes, sizeof bytes);
    struct tacit_graph_need need;
    struct tacit_rng rng = stream(2);
    uint64_t edge_count = 99;
    assert_int_equal(tacit_graph_check(specs, count, &need, &why), TACIT_OK);
    struct tacit_edge *const edges = net_memory(need.edge_count * sizeof edges[0]);
    void *const work = net_memory(need.work_bytes);
    assert_int_equal(tacit_graph_generate(specs, count, &rng, edges, &edge_count, work, &why),
                     TACIT_INVALID);
    assert_string_equal(bytes, expected);
    assert_int_equal(edge_count, 99);
    testing_free(edges);
    testing_free(work);
}

TEST(too_few_edges_to_be_connected_are_told)
{
    struct tacit_graph_spec specs[] = {
        {.kind = TACIT_GRAPH_STAR, .agent_count = 3},
        {.kind = TACIT_GRAPH_RANDOM, .agent_count = 50, .edge_probability = 0.01}};
    expect_unconnected(specs + 1, 1,
                       "edge_probability is 0.01: no graph of 50 agents was connected in 100 "
                       "draws; about 0.16 (2 ln n / n) is enough");
    expect_unconnected(specs, 2,
                       "component 1: edge_probability is 0.01: no graph of 50 agents was connected "
                       "in 100 draws; about 0.16 (2 ln n / n) is enough");
    specs[1].edge_probability = 0;
    specs[1].agent_count = 20000;
    expect_unconnected(specs + 1, 1,
                       "edge_probability is 0: no graph of 20000 agents was connected in 100 "
                       "draws; about 0.001 (2 ln n / n) is enough");
    specs[1] = SPEC(.kind = TACIT_GRAPH_SMALL_WORLD, .agent_count = 100000, .degree = 2,
                    .rewiring_probability = 0.5);
    expect_unconnected(specs + 1, 1,
                       "degree is 2 and rewiring_probability 0.5: no graph of 100000 agents was "
                       "connected in 100 draws; a larger degree helps");
}

/* ---- What all generators promise ------------------------------------------------------------- */

static const struct tacit_graph_spec random_specs[] = {
    {.kind = TACIT_GRAPH_RANDOM, .agent_count = 1, .edge_probability = 0},
    {.kind = TACIT_GRAPH_RANDOM, .agent_count = 2, .edge_probability = 0.5},
    {.kind = TACIT_GRAPH_RANDOM, .agent_count = 9, .edge_probability = 1},
    {.kind = TACIT_GRAPH_RANDOM, .agent_count = 50, .edge_probability = 0.15648}, /* P1.22 */
    {.kind = TACIT_GRAPH_RANDOM, .agent_count = 20, .edge_probability = 0.9},
    {.kind = TACIT_GRAPH_RANDOM, .agent_count = 2000, .edge_probability = 0.0076},
    {.kind = TACIT_GRAPH_REGULAR, .agent_count = 1, .degree = 0},
    {.kind = TACIT_GRAPH_REGULAR, .agent_count = 2, .degree = 1},
    {.kind = TACIT_GRAPH_REGULAR, .agent_count = 3, .degree = 2},
    {.kind = TACIT_GRAPH_REGULAR, .agent_count = 40, .degree = 2},
    {.kind = TACIT_GRAPH_REGULAR, .agent_count = 8, .degree = 3},
    {.kind = TACIT_GRAPH_REGULAR, .agent_count = 8, .degree = 4},
    {.kind = TACIT_GRAPH_REGULAR, .agent_count = 8, .degree = 5},
    {.kind = TACIT_GRAPH_REGULAR, .agent_count = 8, .degree = 6},
    {.kind = TACIT_GRAPH_REGULAR, .agent_count = 8, .degree = 7},
    {.kind = TACIT_GRAPH_REGULAR, .agent_count = 9, .degree = 4},
    {.kind = TACIT_GRAPH_REGULAR, .agent_count = 50, .degree = 8},
    {.kind = TACIT_GRAPH_REGULAR, .agent_count = 51, .degree = 26},
    {.kind = TACIT_GRAPH_REGULAR, .agent_count = 3000, .degree = 8},
    {.kind = TACIT_GRAPH_SMALL_WORLD, .agent_count = 3, .degree = 2, .rewiring_probability = 1},
    {.kind = TACIT_GRAPH_SMALL_WORLD, .agent_count = 5, .degree = 4, .rewiring_probability = 1},
    {.kind = TACIT_GRAPH_SMALL_WORLD, .agent_count = 20, .degree = 18, .rewiring_probability = 1},
    {.kind = TACIT_GRAPH_SMALL_WORLD, .agent_count = 50, .degree = 4, .rewiring_probability = 0.1},
    {.kind = TACIT_GRAPH_SMALL_WORLD, .agent_count = 50, .degree = 6, .rewiring_probability = 1},
    {.kind = TACIT_GRAPH_SMALL_WORLD, .agent_count = 9, .degree = 2, .rewiring_probability = 0},
};

/* Sorted, between two different agents, each once; degrees add up. */
static void expect_simple(const struct net *net)
{
    uint64_t degrees = 0;
    assert_int_equal(net->graph.edge_count, net->edge_count); /* no double was generated */
    for (uint64_t i = 0; i < net->edge_count; i++) {
        struct tacit_edge const edge = net->edges[i];
        assert_true(edge.a < edge.b);
        assert_true(edge.b < net->graph.agent_count);
        assert_true(graph_adjacent(&net->graph, edge.a, edge.b));
        assert_true(graph_adjacent(&net->graph, edge.b, edge.a));
    }
    for (uint32_t agent = 0; agent < net->graph.agent_count; agent++)
        degrees += tacit_graph_degree(&net->graph, agent);
    assert_int_equal(degrees, 2 * net->edge_count);
}

TEST(random_kinds_are_simple_connected_and_of_their_degree)
{
    for (uint32_t i = 0; i < COUNT(random_specs); i++)
        for (uint32_t seed = 0; seed < 20; seed++) {
            struct tacit_rng rng = stream(100 + seed);
            struct net net = draw(random_specs[i], &rng);
            expect_simple(&net);
            assert_int_equal(net.component_count, 1);
            if (random_specs[i].kind != TACIT_GRAPH_RANDOM)
                assert_int_equal(net.edge_count,
                                 (uint64_t)net.graph.agent_count * random_specs[i].degree / 2);
            if (random_specs[i].kind == TACIT_GRAPH_REGULAR)
                for (uint32_t agent = 0; agent < net.graph.agent_count; agent++)
                    assert_int_equal(tacit_graph_degree(&net.graph, agent), random_specs[i].degree);
            net_close(&net);
        }
}

TEST(same_stream_gives_the_same_edges_and_another_one_others)
{
    for (uint32_t i = 0; i < COUNT(random_specs); i++) {
        struct tacit_rng first = stream(200 + i);
        struct tacit_rng again = first;
        struct tacit_rng other = stream(300 + i);
        struct net a = draw(random_specs[i], &first);
        struct net b = draw(random_specs[i], &again);
        struct net c = draw(random_specs[i], &other);
        assert_int_equal(a.edge_count, b.edge_count);
        assert_memory_equal(a.edges, b.edges, a.edge_count * sizeof a.edges[0]);
        assert_int_equal(tacit_rng_next(&first), tacit_rng_next(&again));
        if (a.graph.agent_count >= 50 && random_specs[i].rewiring_probability < 2)
            assert_true(a.edge_count != c.edge_count ||
                        memcmp(a.edges, c.edges, a.edge_count * sizeof a.edges[0]) != 0);
        net_close(&a);
        net_close(&b);
        net_close(&c);
    }
}

TEST(large_graphs_are_made)
{
    struct tacit_graph_spec const specs[] = {
        {.kind = TACIT_GRAPH_REGULAR, .agent_count = 100000, .degree = 8},
        {.kind = TACIT_GRAPH_RANDOM, .agent_count = 100000, .edge_probability = 2.3e-4},
        {.kind = TACIT_GRAPH_SMALL_WORLD,
         .agent_count = 100000,
         .degree = 8,
         .rewiring_probability = 0.1}};
    for (size_t i = 0; i < COUNT(specs); i++) {
        struct tacit_rng rng = stream(400);
        struct net net = draw(specs[i], &rng);
        expect_simple(&net);
        assert_int_equal(net.component_count, 1);
        net_close(&net);
    }
}

/* ---- Laws of the generators ------------------------------------------------------------------ */

/* The number of edges of G(n, p) is binomial; here no draw is ever in pieces. */
TEST(random_has_the_binomial_number_of_edges)
{
    struct {
        uint32_t agent_count;
        double p;
    } const cases[] = {{60, 0.3}, {60, 0.9}, {400, 0.06}, {3000, 0.01}};
    double const draws = 400;
    for (size_t i = 0; i < COUNT(cases); i++) {
        double const pairs = cases[i].agent_count * (cases[i].agent_count - 1.0) / 2;
        double const variance = pairs * cases[i].p * (1 - cases[i].p);
        double sum = 0;
        double square = 0;
        for (uint32_t j = 0; j < draws; j++) {
            struct tacit_rng rng = stream(1000 + j);
            struct net net =
                draw(SPEC(.kind = TACIT_GRAPH_RANDOM, .agent_count = cases[i].agent_count,
                          .edge_probability = cases[i].p),
                     &rng);
            double const off = (double)net.edge_count - pairs * cases[i].p;
            sum += off;
            square += off * off;
            net_close(&net);
        }
        assert_true(fabs(sum / draws) < 4 * sqrt(variance / draws));
        assert_true(fabs(square / draws - variance) < 4 * variance * sqrt(2 / draws));
    }
}

/* A graph of up to 8 agents as a number: a bit for each pair. */
static uint32_t code_of(const struct net *net)
{
    uint32_t code = 0;
    for (uint64_t i = 0; i < net->edge_count; i++)
        code |= UINT32_C(1) << (net->edges[i].b * (net->edges[i].b - 1) / 2 + net->edges[i].a);
    return code;
}

static int compare_codes(const void *left, const void *right)
{
    uint32_t const a = *(const uint32_t *)left;
    uint32_t const b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

/* Counts of the different graphs among draws, the largest number of them being `kinds`. */
static void count_graphs(struct tacit_graph_spec spec, uint32_t draws, uint64_t *counts,
                         uint32_t *codes, uint32_t kinds)
{
    uint32_t *const all = net_memory(draws * sizeof all[0]);
    struct tacit_rng rng = stream(spec.agent_count * 100 + spec.degree);
    for (uint32_t i = 0; i < draws; i++) {
        struct net net = draw(spec, &rng);
        all[i] = code_of(&net);
        net_close(&net);
    }
    qsort(all, draws, sizeof all[0], compare_codes);
    memset(counts, 0, kinds * sizeof counts[0]);
    uint32_t kind = 0;
    for (uint32_t i = 0; i < draws; i++) {
        kind += i > 0 && all[i] != all[i - 1];
        assert_true(kind < kinds);
        codes[kind] = all[i];
        counts[kind]++;
    }
    testing_free(all);
}

/* P(graph) is proportional to p^m (1-p)^(6-m) over the 38 connected graphs on 4 labelled agents, of
 * which 16 have 3 edges, 15 have 4, 6 have 5 and 1 has 6. */
TEST(random_is_the_conditional_law_of_connected_graphs)
{
    double const p = 0.4;
    uint32_t const draws = 40000;
    uint64_t counts[38];
    uint32_t codes[38];
    double expected[38];
    double const mass = 16 * pow(p, 3) * pow(1 - p, 3) + 15 * pow(p, 4) * pow(1 - p, 2) +
                        6 * pow(p, 5) * (1 - p) + pow(p, 6);
    count_graphs(SPEC(.kind = TACIT_GRAPH_RANDOM, .agent_count = 4, .edge_probability = p), draws,
                 counts, codes, 38);
    for (uint32_t i = 0; i < 38; i++) {
        double const edges = __builtin_popcount(codes[i]);
        expected[i] = draws * pow(p, edges) * pow(1 - p, 6 - edges) / mass;
        assert_true(counts[i] > 0);
    }
    assert_true(gof_chi_square_p(counts, expected, 38) > ALPHA);
}

/* How many connected labelled graphs there are is known: (n - 1)!/2 cycles, and OEIS A002829 and
 * A005815 without those in pieces. A chain that mixed badly, or preferred some graphs, would show:
 * 100 draws or more are expected of each, 10 of the cubic ones. */
TEST(regular_is_uniform_over_connected_labelled_graphs)
{
    struct {
        uint32_t agent_count;
        uint32_t degree;
        uint32_t graphs;
        uint32_t draws;
    } const cases[] = {
        {5, 2, 12, 12000},     /* cycles */
        {6, 2, 60, 12000},     /* cycles */
        {6, 3, 70, 20000},     /* complements of 2-regular graphs, also of two triangles */
        {7, 4, 465, 60000},    /* the same */
        {8, 3, 19320, 200000}, /* the chain itself, less 35 pairs of K4 */
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        uint64_t *const counts = net_memory(cases[i].graphs * sizeof counts[0]);
        uint32_t *const codes = net_memory(cases[i].graphs * sizeof codes[0]);
        double *const expected = net_memory(cases[i].graphs * sizeof expected[0]);
        count_graphs(SPEC(.kind = TACIT_GRAPH_REGULAR, .agent_count = cases[i].agent_count,
                          .degree = cases[i].degree),
                     cases[i].draws, counts, codes, cases[i].graphs);
        for (uint32_t j = 0; j < cases[i].graphs; j++)
            expected[j] = (double)cases[i].draws / cases[i].graphs;
        double const p_value = gof_chi_square_p(counts, expected, cases[i].graphs);
        if (!(p_value > ALPHA && p_value < 1 - ALPHA))
            print_error("n = %u, d = %u: p-value %g\n", cases[i].agent_count, cases[i].degree,
                        p_value);
        assert_true(p_value > ALPHA);
        assert_true(p_value < 1 - ALPHA);
        testing_free(counts);
        testing_free(codes);
        testing_free(expected);
    }
}

/* Nothing of the lattice that the chain starts from is left: agent i knew i+1 .. i+4. By chance an
 * edge is one of these with probability 4/(n-1) an end. */
TEST(regular_forgets_its_lattice)
{
    uint32_t const n = 5000;
    struct tacit_rng rng = stream(500);
    struct net net = draw(SPEC(.kind = TACIT_GRAPH_REGULAR, .agent_count = n, .degree = 8), &rng);
    uint32_t near = 0;
    for (uint64_t i = 0; i < net.edge_count; i++) {
        uint32_t const gap = net.edges[i].b - net.edges[i].a;
        near += gap <= 4 || n - gap <= 4;
    }
    double const mean = (double)net.edge_count * 8 / (n - 1.0);
    assert_true(fabs(near - mean) < 4 * sqrt(mean));
    net_close(&net);
}

TEST(small_world_without_rewiring_is_the_lattice)
{
    struct tacit_rng rng = stream(600);
    struct net net =
        draw(SPEC(.kind = TACIT_GRAPH_SMALL_WORLD, .agent_count = 10, .degree = 4), &rng);
    for (uint32_t i = 0; i < 10; i++) {
        assert_true(graph_adjacent(&net.graph, i, (i + 1) % 10));
        assert_true(graph_adjacent(&net.graph, i, (i + 2) % 10));
    }
    assert_int_equal(net.edge_count, 20);
    net_close(&net);
}

/* A rewired edge ends near by again with probability below 2 beta/n: far less than 4 errors. */
TEST(small_world_rewires_with_its_probability)
{
    uint32_t const n = 4000;
    double const betas[] = {0.01, 0.3, 0.9};
    for (size_t i = 0; i < COUNT(betas); i++) {
        uint32_t far = 0;
        double edges = 0;
        for (uint32_t j = 0; j < 10; j++) {
            struct tacit_rng rng = stream(700 + j);
            struct net net = draw(SPEC(.kind = TACIT_GRAPH_SMALL_WORLD, .agent_count = n,
                                       .degree = 6, .rewiring_probability = betas[i]),
                                  &rng);
            for (uint64_t k = 0; k < net.edge_count; k++) {
                uint32_t const gap = net.edges[k].b - net.edges[k].a;
                far += gap > 3 && n - gap > 3;
            }
            edges += (double)net.edge_count;
            net_close(&net);
        }
        double const error = sqrt(edges * betas[i] * (1 - betas[i]));
        assert_true(fabs(far - edges * betas[i]) < 4 * error + edges * betas[i] * 6 * betas[i] / n);
    }
}

/* ---- Gossip ---------------------------------------------------------------------------------- */

TEST(gossip_matrix_of_a_path)
{
    double const expected[] = {0.75, 0.25, 0, 0.25, 0.5, 0.25, 0, 0.25, 0.75};
    double matrix[9];
    struct net net = net_of(SPEC(.kind = TACIT_GRAPH_PATH, .agent_count = 3));
    memset(matrix, 0xff, sizeof matrix);
    tacit_graph_gossip_matrix(&net.graph, matrix);
    for (size_t i = 0; i < 9; i++)
        assert_true(matrix[i] == expected[i]);
    net_close(&net);
}

TEST(gossip_matrix_is_symmetric_and_its_rows_sum_to_1)
{
    struct tacit_rng rng = stream(800);
    struct net net = net_of_specs(hybrid, COUNT(hybrid), &rng);
    uint32_t const n = net.graph.agent_count;
    double *const matrix = net_memory(n * n * sizeof matrix[0]);
    tacit_graph_gossip_matrix(&net.graph, matrix);
    for (uint32_t i = 0; i < n; i++) {
        double sum = 0;
        for (uint32_t j = 0; j < n; j++) {
            sum += matrix[i * n + j];
            assert_true(matrix[i * n + j] == matrix[j * n + i]);
            assert_true(matrix[i * n + j] >= 0);
        }
        assert_true(fabs(sum - 1) < 1e-14);
    }
    testing_free(matrix);
    net_close(&net);
}

static void expect_lambda_2(struct tacit_graph_spec spec, double expected)
{
    struct net net = net_of(spec);
    double lambda_2 = -1;
    assert_int_equal(topo_lambda_2(&net.graph, &lambda_2), TACIT_OK);
    if (!(fabs(lambda_2 - expected) < 1e-13))
        print_error("lambda_2 is %.15g and not %.15g\n", lambda_2, expected);
    assert_true(fabs(lambda_2 - expected) < 1e-13);
    net_close(&net);
}

TEST(lambda_2_is_known_for_simple_graphs)
{
    double const pi = 3.14159265358979323846;
    expect_lambda_2(SPEC(.kind = TACIT_GRAPH_RING, .agent_count = 3), 0.5);
    expect_lambda_2(SPEC(.kind = TACIT_GRAPH_PATH, .agent_count = 2), 0);
    expect_lambda_2(SPEC(.kind = TACIT_GRAPH_PATH, .agent_count = 10),
                    1 - (2 - 2 * cos(pi / 10)) / 18); /* .9946, READINGS P2.8 */
    expect_lambda_2(SPEC(.kind = TACIT_GRAPH_RING, .agent_count = 50),
                    1 - (2 - 2 * cos(2 * pi / 50)) / 100);
    expect_lambda_2(SPEC(.kind = TACIT_GRAPH_STAR, .agent_count = 30), 1 - 1.0 / 58);
    expect_lambda_2(SPEC(.kind = TACIT_GRAPH_COMPLETE, .agent_count = 40), 1 - 1.0 / 39);
    expect_lambda_2(SPEC(.kind = TACIT_GRAPH_EDGES, .agent_count = 4,
                         .edges = (struct tacit_edge[]){{0, 1}, {2, 3}}, .edge_count = 2),
                    1);
}

TEST(lambda_2_needs_two_agents_an_edge_and_no_giant)
{
    double lambda_2 = -1;
    struct net one = net_of(SPEC(.kind = TACIT_GRAPH_PATH, .agent_count = 1));
    struct net none = net_of_edges(3, NULL, 0);
    struct net giant =
        net_of(SPEC(.kind = TACIT_GRAPH_PATH, .agent_count = TACIT_SPECTRUM_AGENTS_MAX + 1));
    assert_int_equal(topo_lambda_2(&one.graph, &lambda_2), TACIT_INVALID);
    assert_int_equal(topo_lambda_2(&none.graph, &lambda_2), TACIT_INVALID);
    assert_int_equal(topo_lambda_2(&giant.graph, &lambda_2), TACIT_INVALID);
    assert_true(lambda_2 == -1);
    net_close(&one);
    net_close(&none);
    net_close(&giant);
}
