/* The naive twin of elimination (graph_twin.h) on the networks of tests (support/network.h). */
#ifndef TACIT_TESTS_GRAPH_TWIN_OF_H
#define TACIT_TESTS_GRAPH_TWIN_OF_H
#include "../support/testing.h"
#include "../support/network.h"
#include "graph_twin.h"

/* Who is where, without noise: what is played is the caller's to say. Its edges last until the end
 * of the test. */
static inline struct graph_twin_config graph_twin_of(const struct network *network,
                                                     enum graph_twin_kind kind)
{
    size_t const count = network->graph.edge_count;
    struct graph_twin_edge *const edges = testing_calloc(count + 1, sizeof *edges);
    for (size_t i = 0; i < count; i++)
        edges[i] = (struct graph_twin_edge){network->edges[i].a, network->edges[i].b};
    return (struct graph_twin_config){.kind = kind,
                                      .agents = network->graph.agent_count,
                                      .epsilon = INFINITY,
                                      .edges = edges,
                                      .edge_count = count,
                                      .component_of = network->label,
                                      .component_count = network->component_count};
}
#endif
