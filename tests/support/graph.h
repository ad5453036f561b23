/* What tests ask of graphs. */
#ifndef TACIT_TESTS_GRAPH_H
#define TACIT_TESTS_GRAPH_H
#include "tacit/topo.h"

/* Does an edge join a and b? */
static inline bool graph_adjacent(const struct tacit_graph *graph, uint32_t a, uint32_t b)
{
    for (uint64_t i = graph->first[a]; i < graph->first[a + 1]; i++)
        if (graph->neighbours[i] == b)
            return true;
    return false;
}
#endif
