/* Where an agent is in a network of peers: computed here, for the simulator and for the daemons. */
#ifndef TACIT_ELIM_ROLE_H
#define TACIT_ELIM_ROLE_H
#include "tacit/elim.h"

struct elim_role {
    uint32_t component;
    uint32_t parent; /* next on the way to the sink; itself at the sink, and where nobody gathers */
    bool has_members; /* a collection is complete with the reports of its component; else of all */
    const uint32_t *neighbours; /* ascending; the graph's */
    uint32_t neighbour_count;
};

/* Cost: O(1). */
struct elim_role elim_role_of(const struct tacit_elim_network *network, uint32_t agent);

/* For how many agents this one's reports stand at the hub above the sinks: 0 if it is no sink. */
uint32_t elim_role_weight(const struct tacit_elim_network *network, uint32_t agent);
#endif
