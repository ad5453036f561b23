/* The room topo for topo_networkx.py: one request a line on stdin, one JSON object a line on
 * stdout.
 *
 *     graph AGENTS COUNT A B A B ...            these edges
 *     make KIND AGENTS NUMBER PROBABILITY SEED  NUMBER: degree or rows */
#include <inttypes.h>
#include "../support/graph.h"
#include "topo_net.h"

static enum tacit_graph_kind kind_of(const char *word)
{
    for (int kind = 0; kind <= TACIT_GRAPH_EDGES; kind++)
        if (strcmp(word, graph_kind_name((enum tacit_graph_kind)kind)) == 0)
            return (enum tacit_graph_kind)kind;
    abort();
}

static void require_read(int got, int wanted)
{
    if (got != wanted)
        abort();
}

static struct net read_graph(void)
{
    uint32_t agent_count;
    uint64_t count;
    require_read(scanf("%" SCNu32 " %" SCNu64, &agent_count, &count), 2);
    struct tacit_edge *const edges = net_memory(count * sizeof edges[0]);
    for (uint64_t i = 0; i < count; i++)
        require_read(scanf("%" SCNu32 " %" SCNu32, &edges[i].a, &edges[i].b), 2);
    struct net const net = net_of_edges(agent_count, edges, count);
    free(edges);
    return net;
}

static struct net make_graph(void)
{
    char word[32];
    uint32_t agent_count;
    uint32_t number;
    double probability;
    uint64_t seed;
    require_read(scanf("%31s %" SCNu32 " %" SCNu32 " %lf %" SCNu64, word, &agent_count, &number,
                       &probability, &seed),
                 5);
    struct tacit_graph_spec const spec = {.kind = kind_of(word),
                                          .agent_count = agent_count,
                                          .rows = number,
                                          .degree = number,
                                          .edge_probability = probability,
                                          .rewiring_probability = probability};
    struct tacit_rng rng = tacit_rng_stream(seed, 0, TACIT_STREAM_COMMON, TACIT_PURPOSE_GRAPH);
    return net_of_specs(&spec, 1, &rng);
}

static void print_words(const char *name, const uint32_t *words, uint32_t count)
{
    printf(", \"%s\": [", name);
    for (uint32_t i = 0; i < count; i++)
        printf("%s%" PRIu32, i > 0 ? ", " : "", words[i]);
    printf("]");
}

static void print_net(struct net *net)
{
    uint32_t const n = net->graph.agent_count;
    net_find_sinks(net);
    printf("{\"diameter\": %" PRIu32 ", \"t_delay\": %" PRIu32,
           tacit_graph_diameter(&net->graph, TACIT_GRAPH_EXACT, net->work).low, net->delay);
    print_words("label", net->label, n);
    print_words("parent", net->parent, n);
    print_words("distance", net->distance, n);
    printf(", \"components\": [");
    for (uint32_t i = 0; i < net->component_count; i++) {
        const struct tacit_component *const component = &net->components[i];
        printf("%s[%" PRIu32 ", %" PRIu64 ", %" PRIu32 ", %" PRIu32 ", %" PRIu64 "]",
               i > 0 ? ", " : "", component->agent_count, component->edge_count, component->sink,
               component->delay, component->distance_sum);
    }
    printf("], \"edges\": [");
    for (uint64_t i = 0; i < net->graph.edge_count; i++)
        printf("%s[%" PRIu32 ", %" PRIu32 "]", i > 0 ? ", " : "", net->edges[i].a, net->edges[i].b);
    printf("]}\n");
    fflush(stdout);
}

int main(void)
{
    char request[16];
    while (scanf("%15s", request) == 1) {
        struct net net = strcmp(request, "make") == 0 ? make_graph() : read_graph();
        print_net(&net);
        net_close(&net);
    }
    return 0;
}
