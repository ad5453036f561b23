/* Searches of one graph, shared by the diameter and the sinks. */
#ifndef TACIT_TOPO_SEARCH_H
#define TACIT_TOPO_SEARCH_H
#include "tacit/topo.h"

struct wave; /* a bit for each of the searches that go on at once */

/* A component's agents. The order is ascending at first. */
struct group {
    uint32_t *agents;
    uint32_t count;
};

/* What is known of eccentricities: lower[i] bounds agent i's from below, and is it for settled
 * agents (while a diameter is searched, theirs may also be known not to exceed the largest one
 * found). Between searches waves and marks are empty and distances unknown everywhere. */
struct search {
    const struct tacit_graph *graph;
    struct wave *seen; /* from which sources an agent was reached so far, */
    struct wave *now;  /* in the last step, */
    struct wave *next; /* in this step */
    uint64_t *settled; /* bit set over agents: no more need to search */
    uint64_t *marks;   /* bit set over agents, for a moment */
    uint32_t *lower;
    uint32_t *distance;
    uint32_t *queue;
    uint32_t *spare;   /* the queue's partner where two are needed */
    uint32_t *members; /* agents, component by component */
    uint32_t *end;     /* of each component in members */
    struct tacit_graph_effort effort;
    uint64_t spent; /* visits so far */
};

/* The caller's work memory, divided up; nothing in it is set. */
struct search topo_search_init(const struct tacit_graph *graph, struct tacit_graph_effort effort,
                               void *work);

/* Sorts the members by component; notes what is known of eccentricities without a search.
 * Cost: O(n). */
void topo_search_prepare(struct search *search, const uint32_t *label, uint32_t component_count);

/* The agents of one component. */
struct group topo_search_group(const struct search *search, uint32_t component);

/* The breadth-first search itself: marks `from` with `first`, and with `step` more from neighbour
 * to neighbour, whoever has TACIT_UNREACHED; `queue` has them in that order. Result: how many.
 * Requires: `from` has it. Cost: O(n + edges) of the component. */
uint32_t topo_search_mark(const struct tacit_graph *graph, uint32_t from, uint32_t first,
                          uint32_t step, uint32_t *mark, uint32_t *queue);

/* Distances from `from`, of one component: those in it must be unknown. */
struct tacit_reach topo_search_spread(const struct tacit_graph *graph, uint32_t from,
                                      uint32_t *distance, uint32_t *queue);

/* Makes the distances of a group unknown again. */
void topo_search_forget(struct search *search, struct group group);

/* The member with the smallest eccentricity, the lowest on ties, and that eccentricity, if the
 * effort is enough; else one that was searched from. `rounds`: not more, for who only needs a
 * member near the middle. Cost: two searches a round; after some rounds 256 searches at once. */
struct tacit_graph_span topo_search_centre(struct search *search, struct group group,
                                           uint64_t rounds, uint32_t *centre);

/* The largest distance between two members. Reorders the group. */
struct tacit_graph_span topo_search_diameter(struct search *search, struct group group);
#endif
