/* What protocols ask of a graph: its diameter (gossip of everything to everybody) and the agents
 * that collect for their components. */
#include "search.h"

/* The larger of two numbers of which bounds are known; what is left to do adds up. */
static struct tacit_graph_span larger(struct tacit_graph_span a, struct tacit_graph_span b)
{
    return (struct tacit_graph_span){.low = a.low > b.low ? a.low : b.low,
                                     .high = a.high > b.high ? a.high : b.high,
                                     .visits_left = a.visits_left + b.visits_left};
}

struct tacit_graph_span tacit_graph_diameter(const struct tacit_graph *graph,
                                             struct tacit_graph_effort effort, void *work)
{
    struct search search = topo_search_init(graph, effort, work);
    uint32_t *const label = search.spare;
    uint32_t const component_count = tacit_graph_components(graph, label, search.queue);
    topo_search_prepare(&search, label, component_count);
    struct tacit_graph_span diameter = {0, 0, 0};
    for (uint32_t component = 0; component < component_count; component++)
        diameter =
            larger(diameter, topo_search_diameter(&search, topo_search_group(&search, component)));
    return diameter;
}

/* The lowest neighbour that is one step nearer; neighbours are in ascending order. */
static uint32_t parent_of(const struct tacit_graph *graph, uint32_t agent, const uint32_t *distance)
{
    if (distance[agent] == 0)
        return TACIT_NO_AGENT;
    for (uint64_t i = graph->first[agent]; i < graph->first[agent + 1]; i++)
        if (distance[graph->neighbours[i]] + 1 == distance[agent])
            return graph->neighbours[i];
    TACIT_ASSERT(false);
    return TACIT_NO_AGENT;
}

/* A component whose agents send to `sink`, from the distances to it. */
static struct tacit_component collect_at(const struct tacit_graph *graph, struct group group,
                                         uint32_t sink, const uint32_t *distance)
{
    struct tacit_component component = {.agent_count = group.count, .sink = sink};
    uint64_t degrees = 0;
    for (uint32_t i = 0; i < group.count; i++) {
        uint32_t const away = distance[group.agents[i]];
        component.delay = away > component.delay ? away : component.delay;
        component.distance_sum += away;
        degrees += tacit_graph_degree(graph, group.agents[i]);
    }
    component.edge_count = degrees / 2;
    return component;
}

struct tacit_graph_span tacit_graph_sinks(const struct tacit_graph *graph, const uint32_t *label,
                                          uint32_t component_count,
                                          struct tacit_component *components, uint32_t *parent,
                                          uint32_t *distance, struct tacit_graph_effort effort,
                                          void *work)
{
    struct search search = topo_search_init(graph, effort, work);
    topo_search_prepare(&search, label, component_count);
    struct tacit_graph_span delay = {0, 0, 0};
    for (uint32_t agent = 0; agent < graph->agent_count; agent++)
        distance[agent] = TACIT_UNREACHED;
    for (uint32_t i = 0; i < component_count; i++) {
        struct group const group = topo_search_group(&search, i);
        uint32_t sink;
        delay = larger(delay, topo_search_centre(&search, group, TACIT_NEVER, &sink));
        topo_search_spread(graph, sink, distance, search.queue);
        components[i] = collect_at(graph, group, sink, distance);
    }
    for (uint32_t agent = 0; agent < graph->agent_count; agent++)
        parent[agent] = parent_of(graph, agent, distance);
    return delay;
}
