/* The graph itself: from edges in any order to sorted neighbours, its components, gossip matrix.
 */
#include "search.h"
#include <string.h>

/* How a person is told about a graph in pieces. */
#define COMPONENTS_NAMED 4u
#define RANGES_NAMED 8u

size_t tacit_graph_size(uint32_t agent_count, uint64_t edge_count)
{
    TACIT_ASSERT(agent_count > 0);
    TACIT_ASSERT(agent_count <= TACIT_AGENTS_MAX);
    TACIT_ASSERT(edge_count <= TACIT_EDGES_MAX);
    return ((size_t)agent_count + 1) * sizeof(uint64_t) +
           (size_t)edge_count * sizeof(struct tacit_edge);
}

/* ---- Sorting --------------------------------------------------------------------------------- */

/* Turns counts, start[i + 1] of kind i, into starts, each moved up by one place: start[i + 1] is
 * where kind i begins. Placing the items then moves it to where kind i ends, which is where kind
 * i + 1 begins, and start[i] is the start of i without a second array. */
static void counts_to_starts(uint64_t *start, uint32_t kinds)
{
    uint64_t sum = 0;
    start[0] = 0;
    for (uint32_t i = 1; i <= kinds; i++) {
        uint64_t const count = start[i];
        start[i] = sum;
        sum += count;
    }
}

/* A stable counting sort by one of the two ends. */
static void sort_edges(struct tacit_edge *to, const struct tacit_edge *from, uint64_t count,
                       bool by_b, uint64_t *start, uint32_t agent_count)
{
    memset(start, 0, ((size_t)agent_count + 1) * sizeof start[0]);
    for (uint64_t i = 0; i < count; i++)
        start[(by_b ? from[i].b : from[i].a) + 1]++;
    counts_to_starts(start, agent_count);
    for (uint64_t i = 0; i < count; i++)
        to[start[(by_b ? from[i].b : from[i].a) + 1]++] = from[i];
}

/* Sorted edges without repetitions. Result: how many are left. */
static uint64_t drop_doubles(struct tacit_edge *edges, uint64_t count)
{
    uint64_t kept = 0;
    for (uint64_t i = 0; i < count; i++)
        if (kept == 0 || edges[kept - 1].a != edges[i].a || edges[kept - 1].b != edges[i].b)
            edges[kept++] = edges[i];
    return kept;
}

/* From ascending edges with a < b: the first pass gives every agent its smaller neighbours in
 * ascending order, the second its larger ones. */
static void fill_neighbours(uint64_t *first, uint32_t *neighbours, const struct tacit_edge *edges,
                            uint64_t count, uint32_t agent_count)
{
    memset(first, 0, ((size_t)agent_count + 1) * sizeof first[0]);
    for (uint64_t i = 0; i < count; i++) {
        first[edges[i].a + 1]++;
        first[edges[i].b + 1]++;
    }
    counts_to_starts(first, agent_count);
    for (uint64_t i = 0; i < count; i++)
        neighbours[first[edges[i].b + 1]++] = edges[i].a;
    for (uint64_t i = 0; i < count; i++)
        neighbours[first[edges[i].a + 1]++] = edges[i].b;
}

enum tacit_status tacit_graph_init(struct tacit_graph *graph, void *memory, uint32_t agent_count,
                                   struct tacit_edge *edges, uint64_t edge_count)
{
    TACIT_ASSERT(tacit_graph_size(agent_count, edge_count) > 0);
    for (uint64_t i = 0; i < edge_count; i++)
        if (edges[i].a == edges[i].b || edges[i].a >= agent_count || edges[i].b >= agent_count)
            return TACIT_INVALID;
    for (uint64_t i = 0; i < edge_count; i++)
        if (edges[i].a > edges[i].b)
            edges[i] = (struct tacit_edge){edges[i].b, edges[i].a};
    uint64_t *const first = memory;
    /* What will hold the neighbours is just large enough to sort in. */
    void *const room = first + agent_count + 1;
    sort_edges(room, edges, edge_count, true, first, agent_count);
    sort_edges(edges, room, edge_count, false, first, agent_count);
    uint64_t const kept = drop_doubles(edges, edge_count);
    fill_neighbours(first, room, edges, kept, agent_count);
    *graph = (struct tacit_graph){
        .agent_count = agent_count, .edge_count = kept, .first = first, .neighbours = room};
    return TACIT_OK;
}

uint32_t tacit_graph_degree(const struct tacit_graph *graph, uint32_t agent)
{
    TACIT_ASSERT(agent < graph->agent_count);
    return (uint32_t)(graph->first[agent + 1] - graph->first[agent]);
}

/* ---- Components ------------------------------------------------------------------------------ */

uint32_t tacit_graph_components(const struct tacit_graph *graph, uint32_t *label, uint32_t *queue)
{
    for (uint32_t agent = 0; agent < graph->agent_count; agent++)
        label[agent] = TACIT_UNREACHED;
    uint32_t count = 0;
    for (uint32_t agent = 0; agent < graph->agent_count; agent++)
        if (label[agent] == TACIT_UNREACHED)
            (void)topo_search_mark(graph, agent, count++, 0, label, queue);
    return count;
}

static void add_range(struct tacit_text *text, uint32_t first, uint32_t last)
{
    tacit_text_add_u64(text, first);
    if (last == first)
        return;
    tacit_text_add(text, "-");
    tacit_text_add_u64(text, last);
}

static void add_more(struct tacit_text *text, uint32_t count, const char *what)
{
    if (count == 0)
        return;
    tacit_text_add(text, " and ");
    tacit_text_add_u64(text, count);
    tacit_text_add(text, what);
}

void tacit_graph_add_members(struct tacit_text *text, const uint32_t *label, uint32_t agent_count,
                             uint32_t component, uint32_t range_limit)
{
    TACIT_ASSERT(range_limit > 0);
    uint32_t ranges = 0;
    uint32_t more = 0;
    for (uint32_t agent = 0; agent < agent_count; agent++) {
        if (label[agent] != component)
            continue;
        uint32_t const first = agent;
        while (agent + 1 < agent_count && label[agent + 1] == component)
            agent++;
        if (ranges == range_limit) {
            more += agent - first + 1;
            continue;
        }
        tacit_text_add(text, ranges == 0 ? "" : ", ");
        add_range(text, first, agent);
        ranges++;
    }
    add_more(text, more, " more");
}

void tacit_graph_add_components(struct tacit_text *text, const uint32_t *label,
                                uint32_t agent_count, uint32_t component_count)
{
    uint32_t const named = component_count < COMPONENTS_NAMED ? component_count : COMPONENTS_NAMED;
    for (uint32_t component = 0; component < named; component++) {
        tacit_text_add(text, component == 0 ? "agents " : "; agents ");
        tacit_graph_add_members(text, label, agent_count, component, RANGES_NAMED);
    }
    uint32_t const more = component_count - named;
    add_more(text, more, more == 1 ? " more component" : " more components");
}

/* ---- Gossip ---------------------------------------------------------------------------------- */

void tacit_graph_gossip_matrix(const struct tacit_graph *graph, double *matrix)
{
    TACIT_ASSERT(graph->edge_count > 0);
    size_t const order = graph->agent_count;
    double const share = 1.0 / (2.0 * (double)graph->edge_count);
    memset(matrix, 0, order * order * sizeof matrix[0]);
    for (uint32_t agent = 0; agent < graph->agent_count; agent++) {
        double *const row = matrix + agent * order;
        for (uint64_t i = graph->first[agent]; i < graph->first[agent + 1]; i++)
            row[graph->neighbours[i]] = share;
        row[agent] = 1.0 - share * tacit_graph_degree(graph, agent);
    }
}
