/* Distances, diameters, sinks and lambda_2 against naive twins: Floyd and Warshall's distances, the
 * paper's Alg. 4 to the letter, Jacobi's rotations. Graphs of every kind, many in several pieces,
 * small ones by the hundreds and some large enough for many searches at once. */
#include <math.h>
#include "../support/testing.h"
#include "tacit/topo.h"
#include "../../src/topo/spectrum.h"
#include "topo_net.h"

#define FAR (UINT32_MAX / 2) /* two of them still add up */

/* ---- The twins: stupid on purpose ------------------------------------------------------------ */

/* d[i n + j] from the edges alone. */
static uint32_t *floyd_warshall(const struct net *net)
{
    size_t const n = net->graph.agent_count;
    uint32_t *const d = net_memory(n * n * sizeof d[0]);
    for (size_t i = 0; i < n * n; i++)
        d[i] = i % (n + 1) == 0 ? 0 : FAR;
    for (uint64_t i = 0; i < net->graph.edge_count; i++) {
        d[net->edges[i].a * n + net->edges[i].b] = 1;
        d[net->edges[i].b * n + net->edges[i].a] = 1;
    }
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++)
                if (d[i * n + k] + d[k * n + j] < d[i * n + j])
                    d[i * n + j] = d[i * n + k] + d[k * n + j];
    return d;
}

/* For large graphs: a search from each agent, by the function that small graphs have tested. */
static uint32_t *search_from_each(const struct net *net)
{
    size_t const n = net->graph.agent_count;
    uint32_t *const d = net_memory(n * n * sizeof d[0]);
    for (uint32_t i = 0; i < n; i++) {
        tacit_graph_distances(&net->graph, i, d + i * n, net->queue);
        for (size_t j = 0; j < n; j++)
            if (d[i * n + j] == TACIT_UNREACHED)
                d[i * n + j] = FAR;
    }
    return d;
}

/* Alg. 4 l. 3-4 without the -1: of each agent the largest distance to anybody within reach. */
static uint32_t *eccentricities(const uint32_t *d, size_t n)
{
    uint32_t *const largest = net_memory(n * sizeof largest[0]);
    for (size_t i = 0; i < n; i++) {
        largest[i] = 0;
        for (size_t j = 0; j < n; j++)
            if (d[i * n + j] != FAR && d[i * n + j] > largest[i])
                largest[i] = d[i * n + j];
    }
    return largest;
}

/* l. 5: the first agent within reach of i that has the smallest. */
static uint32_t sink_of(const uint32_t *d, const uint32_t *largest, size_t n, size_t i)
{
    uint32_t sink = (uint32_t)i;
    for (size_t j = n; j > 0; j--)
        if (d[i * n + j - 1] != FAR && largest[j - 1] <= largest[sink])
            sink = (uint32_t)j - 1;
    return sink;
}

static uint32_t parent_of(const struct net *net, const uint32_t *d, size_t i, uint32_t sink)
{
    size_t const n = net->graph.agent_count;
    for (size_t j = 0; j < n; j++)
        if (d[i * n + j] == 1 && d[j * n + sink] + 1 == d[i * n + sink])
            return (uint32_t)j;
    return TACIT_NO_AGENT;
}

/* The eigenvalues of a symmetric matrix, by turning away one off-diagonal element after the other;
 * result: the second largest. */
static double jacobi_lambda_2(double *m, size_t n)
{
    for (int sweep = 0; sweep < 30; sweep++)
        for (size_t p = 0; p < n; p++)
            for (size_t q = p + 1; q < n; q++) {
                if (fabs(m[p * n + q]) < 1e-300)
                    continue;
                double const theta = (m[q * n + q] - m[p * n + p]) / (2 * m[p * n + q]);
                double const t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1));
                double const c = 1 / sqrt(t * t + 1);
                double const s = t * c;
                for (size_t k = 0; k < n; k++) {
                    double const x = m[k * n + p];
                    double const y = m[k * n + q];
                    m[k * n + p] = c * x - s * y;
                    m[k * n + q] = s * x + c * y;
                }
                for (size_t k = 0; k < n; k++) {
                    double const x = m[p * n + k];
                    double const y = m[q * n + k];
                    m[p * n + k] = c * x - s * y;
                    m[q * n + k] = s * x + c * y;
                }
            }
    double first = -2;
    double second = -2;
    for (size_t i = 0; i < n; i++) {
        double const value = m[i * n + i];
        second = value > first ? first : value > second ? value : second;
        first = value > first ? value : first;
    }
    return second;
}

/* ---- Graphs ---------------------------------------------------------------------------------- */

static struct tacit_rng stream(uint32_t number)
{
    return tacit_rng_stream(12, number, TACIT_STREAM_COMMON, TACIT_PURPOSE_GRAPH);
}

/* As many random pairs as asked for: mostly in pieces, with doubles. */
static struct net scattered(uint32_t n, uint64_t count, struct tacit_rng *rng)
{
    struct tacit_edge *const edges = net_memory(count * sizeof edges[0]);
    for (uint64_t i = 0; i < count; i++) {
        edges[i].a = (uint32_t)tacit_rng_below(rng, n);
        edges[i].b = (uint32_t)((edges[i].a + 1 + tacit_rng_below(rng, n - 1)) % n);
    }
    struct net const net = net_of_edges(n, edges, count);
    testing_free(edges);
    return net;
}

/* Every agent but the first hangs on one before it, near by if reach is small; numbers shuffled. */
static struct net tree(uint32_t n, uint32_t reach, struct tacit_rng *rng)
{
    struct tacit_edge *const edges = net_memory(n * sizeof edges[0]);
    uint32_t *const name = net_memory(n * sizeof name[0]);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t const at = (uint32_t)tacit_rng_below(rng, i + 1);
        name[i] = name[at];
        name[at] = i;
    }
    for (uint32_t i = 1; i < n; i++) {
        uint32_t const back = 1 + (uint32_t)tacit_rng_below(rng, i < reach ? i : reach);
        edges[i - 1] = (struct tacit_edge){name[i], name[i - back]};
    }
    struct net const net = net_of_edges(n, edges, n - 1);
    testing_free(edges);
    testing_free(name);
    return net;
}

/* Everybody alike: neighbours at the given steps around a circle. No bound tells agents apart. */
static struct net circulant(uint32_t n, const uint32_t *steps, uint32_t count)
{
    struct tacit_edge *const edges = net_memory((size_t)n * count * sizeof edges[0]);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < count; j++)
            edges[i * count + j] = (struct tacit_edge){i, (i + steps[j]) % n};
    struct net const net = net_of_edges(n, edges, (uint64_t)n * count);
    testing_free(edges);
    return net;
}

static struct net made(struct tacit_graph_spec spec, struct tacit_rng *rng)
{
    return net_of_specs(&spec, 1, rng);
}

/* With little effort: what is said holds, and is exact where it says so. */
static void expect_spans_hold(struct net *net, uint32_t diameter, uint32_t delay)
{
    for (uint64_t visits = 0; visits <= 3000; visits += 1 + visits / 2) {
        struct tacit_graph_effort const effort = {.visits = visits};
        struct tacit_graph_span const wide = tacit_graph_diameter(&net->graph, effort, net->work);
        struct tacit_graph_span const late =
            tacit_graph_sinks(&net->graph, net->label, net->component_count, net->components,
                              net->parent, net->distance, effort, net->work);
        assert_true(wide.low <= diameter && diameter <= wide.high);
        assert_true(late.low <= delay && delay <= late.high);
        assert_true(wide.visits_left > 0 || wide.low == wide.high);
        assert_true(late.visits_left > 0 || late.low == late.high);
    }
    net_find_sinks(net);
}

/* ---- The comparison -------------------------------------------------------------------------- */

static void expect_twin_agrees(struct net *net, const uint32_t *d)
{
    uint32_t const n = net->graph.agent_count;
    uint32_t diameter = 0;
    uint32_t delay = 0;
    uint32_t *const largest = eccentricities(d, n);
    net_find_sinks(net);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t const sink = sink_of(d, largest, n, i);
        const struct tacit_component *const component = &net->components[net->label[i]];
        uint64_t sum = 0;
        uint32_t agents = 0;
        for (uint32_t j = 0; j < n; j++) {
            assert_int_equal(net->label[i] == net->label[j], d[i * n + j] != FAR);
            sum += d[i * n + j] != FAR ? d[j * n + sink] : 0;
            agents += d[i * n + j] != FAR;
        }
        diameter = largest[i] > diameter ? largest[i] : diameter;
        delay = largest[sink] > delay ? largest[sink] : delay;
        assert_int_equal(component->sink, sink);
        assert_int_equal(component->delay, largest[sink]);
        assert_int_equal(component->agent_count, agents);
        assert_int_equal(component->distance_sum, sum);
        assert_int_equal(net->distance[i], d[i * n + sink]);
        assert_int_equal(net->parent[i], parent_of(net, d, i, sink));
    }
    testing_free(largest);
    assert_int_equal(net->delay, delay);
    assert_int_equal(tacit_graph_diameter(&net->graph, TACIT_GRAPH_EXACT, net->work).low, diameter);
    expect_spans_hold(net, diameter, delay);
}

static void expect_distances_agree(const struct net *net, const uint32_t *d)
{
    uint32_t const n = net->graph.agent_count;
    uint32_t *const largest = eccentricities(d, n);
    for (uint32_t i = 0; i < n; i++) {
        struct tacit_reach const reach =
            tacit_graph_distances(&net->graph, i, net->distance, net->queue);
        uint32_t agents = 0;
        for (uint32_t j = 0; j < n; j++) {
            uint32_t const away = d[i * n + j];
            assert_int_equal(net->distance[j], away == FAR ? TACIT_UNREACHED : away);
            agents += away != FAR;
        }
        assert_int_equal(reach.agent_count, agents);
        assert_int_equal(reach.eccentricity, largest[i]);
    }
    testing_free(largest);
}

static void expect_lambda_2_agrees(const struct net *net)
{
    size_t const n = net->graph.agent_count;
    double lambda_2 = -1;
    if (n < 2 || net->graph.edge_count == 0)
        return;
    double *const matrix = net_memory(n * n * sizeof matrix[0]);
    tacit_graph_gossip_matrix(&net->graph, matrix);
    assert_int_equal(topo_lambda_2(&net->graph, &lambda_2), TACIT_OK);
    assert_true(fabs(lambda_2 - jacobi_lambda_2(matrix, n)) < 1e-12);
    testing_free(matrix);
}

static void check_small(struct net *net)
{
    uint32_t *const d = floyd_warshall(net);
    expect_distances_agree(net, d);
    expect_twin_agrees(net, d);
    if (net->graph.agent_count <= 24)
        expect_lambda_2_agrees(net);
    testing_free(d);
    net_close(net);
}

/* The work memory is used again as it is, so what one question leaves behind would show here. */
static void check_large(struct net *net)
{
    uint32_t *const d = search_from_each(net);
    expect_twin_agrees(net, d);
    testing_free(d);
    net_close(net);
}

/* ---- Tests ----------------------------------------------------------------------------------- */

TEST(scattered_graphs_agree)
{
    for (uint32_t i = 0; i < 400; i++) {
        struct tacit_rng rng = stream(i);
        uint32_t const n = 2 + (uint32_t)tacit_rng_below(&rng, 60);
        struct net net = scattered(n, tacit_rng_below(&rng, 2 * (uint64_t)n), &rng);
        check_small(&net);
    }
}

TEST(trees_agree)
{
    for (uint32_t i = 0; i < 200; i++) {
        struct tacit_rng rng = stream(1000 + i);
        uint32_t const n = 2 + (uint32_t)tacit_rng_below(&rng, 70);
        struct net net = tree(n, 1 + (uint32_t)tacit_rng_below(&rng, n), &rng);
        check_small(&net);
    }
}

TEST(generated_graphs_agree)
{
    for (uint32_t i = 0; i < 100; i++) {
        struct tacit_rng rng = stream(2000 + i);
        uint32_t const n = 12 + 2 * (uint32_t)tacit_rng_below(&rng, 30);
        struct tacit_graph_spec const specs[] = {
            {.kind = TACIT_GRAPH_RANDOM, .agent_count = n, .edge_probability = 2 * log(n) / n},
            {.kind = TACIT_GRAPH_RANDOM, .agent_count = n, .edge_probability = 0.5},
            {.kind = TACIT_GRAPH_REGULAR, .agent_count = n, .degree = 3 + i % 8},
            {.kind = TACIT_GRAPH_SMALL_WORLD,
             .agent_count = n,
             .degree = 4,
             .rewiring_probability = 0.1 * (i % 10)},
            {.kind = TACIT_GRAPH_GRID, .agent_count = n},
            {.kind = TACIT_GRAPH_RING, .agent_count = n + i % 2}};
        for (size_t j = 0; j < sizeof specs / sizeof specs[0]; j++) {
            struct net net = made(specs[j], &rng);
            check_small(&net);
        }
        struct net hybrid = net_of_specs(specs + i % 4, 3, &rng);
        check_small(&hybrid);
    }
}

/* Rows of `width` agents, `height` of them, closed in both directions; of the last row's last agent
 * one edge may be missing, so that it only looks as if agents were alike. */
static struct net torus(uint32_t width, uint32_t height, bool is_whole)
{
    uint32_t const n = width * height;
    struct tacit_edge *const edges = net_memory(2 * (size_t)n * sizeof edges[0]);
    for (uint32_t i = 0; i < n; i++) {
        edges[2 * i] = (struct tacit_edge){i, i / width * width + (i + 1) % width};
        edges[2 * i + 1] = (struct tacit_edge){i, (i + width) % n};
    }
    struct net const net = net_of_edges(n, edges, 2 * (uint64_t)n - (is_whole ? 0 : 1));
    testing_free(edges);
    return net;
}

TEST(graphs_that_look_the_same_from_many_agents_agree)
{
    for (uint32_t width = 3; width < 12; width++)
        for (uint32_t height = 3; height < 9; height++)
            for (uint32_t whole = 0; whole < 2; whole++) {
                struct net net = torus(width, height, whole == 1);
                check_small(&net);
            }
    for (uint32_t n = 7; n < 90; n += 3) {
        struct tacit_rng rng = stream(5000 + n);
        struct net net = made((struct tacit_graph_spec){.kind = TACIT_GRAPH_SMALL_WORLD,
                                                        .agent_count = n,
                                                        .degree = 2 + 2 * (n % 3)},
                              &rng);
        check_small(&net);
    }
}

/* Takes seconds; minutes if agents that are alike were not known to be, or if every agent had to
 * search. */
TEST(a_hundred_thousand_agents_have_a_diameter)
{
    struct tacit_rng rng = stream(6000);
    struct tacit_graph_spec spec = {
        .kind = TACIT_GRAPH_SMALL_WORLD, .agent_count = 100000, .degree = 8};
    struct net lattice = made(spec, &rng);
    assert_int_equal(tacit_graph_diameter(&lattice.graph, TACIT_GRAPH_EXACT, lattice.work).low,
                     12500);
    net_close(&lattice);
    spec.rewiring_probability = 0.001;
    struct net world = made(spec, &rng);
    uint32_t const diameter = tacit_graph_diameter(&world.graph, TACIT_GRAPH_EXACT, world.work).low;
    struct tacit_reach reach = tacit_graph_distances(&world.graph, 0, world.distance, world.queue);
    for (uint32_t i = 0; i < 20; i++) { /* from one farthest agent to the next */
        assert_in_range(reach.eccentricity, (diameter + 1) / 2, diameter);
        reach = tacit_graph_distances(&world.graph, world.queue[reach.agent_count - 1],
                                      world.distance, world.queue);
    }
    net_close(&world);
}

TEST(large_random_graphs_agree)
{
    struct tacit_graph_spec const specs[] = {
        {.kind = TACIT_GRAPH_REGULAR, .agent_count = 1000, .degree = 3},
        {.kind = TACIT_GRAPH_REGULAR, .agent_count = 700, .degree = 8},
        {.kind = TACIT_GRAPH_REGULAR, .agent_count = 300, .degree = 100},
        {.kind = TACIT_GRAPH_RANDOM, .agent_count = 800, .edge_probability = 0.0167},
        {.kind = TACIT_GRAPH_RANDOM, .agent_count = 500, .edge_probability = 0.2},
        {.kind = TACIT_GRAPH_SMALL_WORLD,
         .agent_count = 900,
         .degree = 4,
         .rewiring_probability = 0.01},
        {.kind = TACIT_GRAPH_SMALL_WORLD,
         .agent_count = 900,
         .degree = 6,
         .rewiring_probability = 0.3},
        {.kind = TACIT_GRAPH_GRID, .agent_count = 900}};
    for (uint32_t i = 0; i < 3; i++) {
        struct tacit_rng rng = stream(3000 + i);
        for (size_t j = 0; j < sizeof specs / sizeof specs[0]; j++) {
            struct net net = made(specs[j], &rng);
            check_large(&net);
        }
        struct net pieces = scattered(900, 700, &rng);
        check_large(&pieces);
        struct net branches = tree(900, 900, &rng);
        check_large(&branches);
        struct net hybrid = net_of_specs(specs + 1, 2, &rng);
        check_large(&hybrid);
    }
}

/* Where all agents are alike, nothing is settled by bounds: batches do it all. */
TEST(graphs_that_look_the_same_from_everywhere_agree)
{
    uint32_t const sizes[] = {255, 256, 257, 600, 1025};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct net narrow = circulant(sizes[i], (uint32_t[]){1, 2}, 2);
        check_large(&narrow);
        struct net torus = circulant(sizes[i], (uint32_t[]){1, 17}, 2);
        check_large(&torus);
        struct net wide = circulant(sizes[i], (uint32_t[]){1, 5, 40}, 3);
        check_large(&wide);
    }
}
