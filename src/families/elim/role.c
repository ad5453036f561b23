/* What an agent is in its network: member of a group, its sink, or one of equals. */
#include "role.h"

static bool is_sink(const struct tacit_elim_network *network, uint32_t agent)
{
    return network->parent[agent] == TACIT_NO_AGENT;
}

struct elim_role elim_role_of(const struct tacit_elim_network *network, uint32_t agent)
{
    struct tacit_graph const *const graph = network->graph;
    bool const gathers = network->collection == TACIT_ELIM_GATHER;
    bool const is_last = !gathers || is_sink(network, agent);
    TACIT_ASSERT(agent < graph->agent_count);
    return (struct elim_role){.component = network->label[agent],
                              .parent = is_last ? agent : network->parent[agent],
                              .has_members = network->component_count > 1 && is_last,
                              .neighbours = graph->neighbours + graph->first[agent],
                              .neighbour_count = tacit_graph_degree(graph, agent)};
}

uint32_t elim_role_weight(const struct tacit_elim_network *network, uint32_t agent)
{
    TACIT_ASSERT(agent < network->graph->agent_count);
    return is_sink(network, agent) ? network->components[network->label[agent]].agent_count : 0;
}
