/* A network with all its memory, from a description: what tests of the room topo start from. */
#ifndef TACIT_TESTS_TOPO_NET_H
#define TACIT_TESTS_TOPO_NET_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tacit/topo.h"

struct net {
    struct tacit_graph graph;
    struct tacit_edge *edges;
    uint64_t edge_count; /* generated */
    void *memory;
    uint32_t component_count;
    uint32_t *label;
    uint32_t *queue;
    void *work;
    struct tacit_component *components; /* from here: after net_find_sinks */
    uint32_t *parent;
    uint32_t *distance;
    uint32_t delay;
};

static inline void *net_memory(size_t size)
{
    void *const memory = malloc(size + 1);
    if (memory == NULL)
        abort();
    return memory;
}

static inline void net_require(enum tacit_status status, const char *what)
{
    if (status == TACIT_OK)
        return;
    fprintf(stderr, "net: %s\n", what);
    abort();
}

/* The graph of edges that net->edges holds. */
static inline void net_init(struct net *net, uint32_t agent_count)
{
    size_t const words = agent_count * sizeof(uint32_t);
    net->memory = net_memory(tacit_graph_size(agent_count, net->edge_count));
    net_require(
        tacit_graph_init(&net->graph, net->memory, agent_count, net->edges, net->edge_count),
        "bad edges");
    net->label = net_memory(words);
    net->queue = net_memory(words);
    net->work = net_memory(tacit_graph_work_size(agent_count));
    net->component_count = tacit_graph_components(&net->graph, net->label, net->queue);
    net->components = net_memory(net->component_count * sizeof net->components[0]);
    net->parent = net_memory(words);
    net->distance = net_memory(words);
}

static inline struct net net_of_specs(const struct tacit_graph_spec *specs, uint32_t count,
                                      struct tacit_rng *rng)
{
    char bytes[TACIT_ERROR_BYTES];
    struct tacit_text why = tacit_text_init(bytes, sizeof bytes);
    struct tacit_graph_need need;
    struct net net = {0};
    net_require(tacit_graph_check(specs, count, &need, &why), bytes);
    net.edges = net_memory(need.edge_count * sizeof net.edges[0]);
    void *const work = net_memory(need.work_bytes);
    net_require(tacit_graph_generate(specs, count, rng, net.edges, &net.edge_count, work, &why),
                bytes);
    free(work);
    net_init(&net, need.agent_count);
    return net;
}

static inline struct net net_of_edges(uint32_t agent_count, const struct tacit_edge *edges,
                                      uint64_t count)
{
    struct net net = {.edge_count = count};
    net.edges = net_memory(count * sizeof edges[0]);
    if (count > 0)
        memcpy(net.edges, edges, count * sizeof edges[0]);
    net_init(&net, agent_count);
    return net;
}

static inline void net_find_sinks(struct net *net)
{
    net->delay = tacit_graph_sinks(&net->graph, net->label, net->component_count, net->components,
                                   net->parent, net->distance, TACIT_GRAPH_EXACT, net->work)
                     .low;
}

static inline void net_close(struct net *net)
{
    free(net->edges);
    free(net->memory);
    free(net->label);
    free(net->queue);
    free(net->work);
    free(net->components);
    free(net->parent);
    free(net->distance);
}
#endif
