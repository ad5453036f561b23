/* Networks for tests: graphs of one or several components from the generators of topo, with sinks
 * and ways to them, as the cores and the simulator take them. */
#ifndef TACIT_TESTS_NETWORK_H
#define TACIT_TESTS_NETWORK_H
#include "elim_sim.h"
#include "tacit/topo.h"

#define NETWORK_AGENTS_MAX 64u
#define NETWORK_EDGES_MAX (NETWORK_AGENTS_MAX * (NETWORK_AGENTS_MAX - 1) / 2)

struct network {
    struct tacit_graph graph;
    struct tacit_edge edges[NETWORK_EDGES_MAX];
    uint32_t label[NETWORK_AGENTS_MAX];
    struct tacit_component components[NETWORK_AGENTS_MAX];
    uint32_t component_count;
    uint32_t parent[NETWORK_AGENTS_MAX];
    uint32_t distance[NETWORK_AGENTS_MAX];
    uint32_t diameter;
    uint64_t members[NETWORK_AGENTS_MAX]; /* of each component, as a set in one word */
    void *memory;
};

/* Fails the test unless the graphs can be made. They lie side by side. */
struct network *network_new(const struct tacit_graph_spec *specs, uint32_t spec_count,
                            uint64_t seed);

/* A connected graph of any kind. Requires: 0 < agent_count <= NETWORK_AGENTS_MAX. */
struct network *network_random(uint32_t agent_count, struct tacit_rng *rng);

/* Components of any kinds and sizes, agent_count agents together. */
struct network *network_random_hybrid(uint32_t agent_count, struct tacit_rng *rng);
void network_free(struct network *network);

/* As the simulator takes it. Points into *network. */
struct tacit_elim_network network_for_sim(const struct network *network,
                                          enum tacit_elim_collection collection);

/* Signatures that nobody else can make, as long as nobody looks in here. */
extern const struct tacit_row_signer network_signer;
#endif
