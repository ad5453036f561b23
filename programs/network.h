/* Glue: from the section `network` of an experiment file to the graph that the simulator runs over.
 */
#ifndef TACIT_PROGRAMS_NETWORK_H
#define TACIT_PROGRAMS_NETWORK_H
#include "tacit/config.h"
#include "tacit/sim.h"

/* The peers of an experiment. */
struct network {
    struct tacit_elim_network sim; /* what the simulator is given */
    struct tacit_graph graph;
    uint32_t delay; /* t_delay: slots in which agents wait in each round (READINGS P1.13, 15) */
    void *graph_memory;
    struct tacit_component *components;
    uint32_t *words; /* of each agent: component, parent, distance to the sink */
};

/* Makes the graphs that the file describes, side by side, and what protocols ask of them. The same
 * file and seeds give the same graph, whatever the run.
 * Ensures: on TACIT_OK to be given to network_free; *network is NULL for a star.
 * Errors: TACIT_INVALID (edges that cannot be, a graph in pieces), TACIT_IO, TACIT_MEMORY, with
 * error->text for a person. */
enum tacit_status network_new(struct network **network, const struct tacit_config *config,
                              struct tacit_error *error);
void network_free(struct network *network);
#endif
