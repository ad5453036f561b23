/* Topo: graphs of agents as data: who may talk to whom, who is how far away, who collects. Simple
 * and undirected; several components lie side by side over one numbering. Pure: all memory is the
 * caller's, chance comes from a stream.
 *
 * Shape letters: n agents, E edges, Q components, d degree. Costs count memory accesses.
 *
 * A network is made in four steps (tests/unit/topo.c shows them):
 *     tacit_graph_check      is the description possible, and what memory does it need?
 *     tacit_graph_generate   writes its edges
 *     tacit_graph_init       makes the graph of an array of edges
 *     tacit_graph_components, tacit_graph_diameter, tacit_graph_sinks: what protocols ask of it */
#ifndef TACIT_TOPO_H
#define TACIT_TOPO_H
#include "tacit/base.h"
#include "tacit/random.h"

/* A complete graph of 23,000 agents still fits. */
#define TACIT_EDGES_MAX (UINT64_C(1) << 28)
#define TACIT_NO_AGENT UINT32_MAX
#define TACIT_UNREACHED UINT32_MAX

/* ---- The graph ------------------------------------------------------------------------------- */

/* An edge has no direction: {2, 7} is {7, 2}. */
struct tacit_edge {
    uint32_t a;
    uint32_t b;
};

/* The neighbours of i are neighbours[first[i]] up to, and without, neighbours[first[i + 1]], in
 * ascending order. Each edge stands twice; nobody neighbours itself; no edge is there doubly. */
struct tacit_graph {
    uint32_t agent_count;
    uint64_t edge_count;
    const uint64_t *first;      /* n + 1 */
    const uint32_t *neighbours; /* 2E */
};

/* Bytes that a graph needs. Requires: 0 < n <= TACIT_AGENTS_MAX, E <= TACIT_EDGES_MAX. */
size_t tacit_graph_size(uint32_t agent_count, uint64_t edge_count);

/* Makes the graph of an array of edges in the caller's memory. Edges are a set: one that is given
 * again, in either direction, counts once; the caller sees it by graph->edge_count < edge_count.
 * Requires: as tacit_graph_size, whose bytes `memory` has, aligned to 8 and outliving the graph.
 * Ensures: edges[0 .. graph->edge_count) are the edges, ascending, a < b; what follows is
 *   unspecified.
 * Errors: TACIT_INVALID: an edge joins an agent with itself or names one >= n; all untouched.
 * Cost: O(n + E), without further memory (two rounds of counting sort). */
enum tacit_status tacit_graph_init(struct tacit_graph *graph, void *memory, uint32_t agent_count,
                                   struct tacit_edge *edges, uint64_t edge_count);

/* Number of neighbours. Requires: agent < n. */
uint32_t tacit_graph_degree(const struct tacit_graph *graph, uint32_t agent);

/* ---- Descriptions and generators ------------------------------------------------------------- */

#define TACIT_GRAPH_KIND_LIST(X)                                                                   \
    X(TACIT_GRAPH_STAR, "star-graph")         /* agent 0 is the centre */                          \
    X(TACIT_GRAPH_COMPLETE, "complete")       /* all pairs */                                      \
    X(TACIT_GRAPH_RING, "ring")               /* i and i + 1; last and first, if n > 2 */          \
    X(TACIT_GRAPH_PATH, "path")               /* i and i + 1 */                                    \
    X(TACIT_GRAPH_GRID, "grid")               /* row by row; each with right and lower one */      \
    X(TACIT_GRAPH_RANDOM, "random")           /* G(n, p), given that it is connected */            \
    X(TACIT_GRAPH_REGULAR, "regular")         /* a random d-regular one, connected */              \
    X(TACIT_GRAPH_SMALL_WORLD, "small-world") /* Watts, Strogatz 1998, connected */                \
    X(TACIT_GRAPH_EDGES, "edges")             /* as listed; may be in pieces */

enum tacit_graph_kind {
#define X(name, text) name,
    TACIT_GRAPH_KIND_LIST(X)
#undef X
};

/* A graph to make. Fields that a kind does not name are ignored. */
struct tacit_graph_spec {
    enum tacit_graph_kind kind;
    uint32_t agent_count;        /* > 0 */
    uint32_t rows;               /* grid: a divisor of agent_count; 0: the largest one that is not
                                  * above its root, so 12 agents are 3 x 4 and 7 are 1 x 7 */
    uint32_t degree;             /* regular: < n, n d even; small-world: even, 0 < degree < n */
    double edge_probability;     /* random: p in [0, 1]; from about 2 ln n / n it is connected */
    double rewiring_probability; /* small-world: beta in [0, 1] */
    const struct tacit_edge *edges; /* edges: between agents of this spec, numbered from 0 */
    uint64_t edge_count;            /* edges */
};

/* What the makers below need from the caller. */
struct tacit_graph_need {
    uint32_t agent_count; /* of all specs together */
    uint64_t edge_count;  /* room for so many edges; G(n, p) does not use it all */
    size_t work_bytes;    /* aligned to 8, free again after tacit_graph_generate */
};

/* Can these graphs, side by side, be made, and what does it take?
 * Requires: spec_count > 0.
 * Errors: TACIT_INVALID: what is wrong and what is allowed is added to *why ("degree is 3: ...";
 * for several specs with the number of the component, from 0); *need untouched. Cost: O(specs +
 * listed edges). */
enum tacit_status tacit_graph_check(const struct tacit_graph_spec *specs, uint32_t spec_count,
                                    struct tacit_graph_need *need, struct tacit_text *why);

/* Writes the edges of the graphs, side by side: the agents of a spec follow on those of the spec
 * before it. The same stream gives the same edges; the fixed kinds draw nothing.
 *
 * random: each pair with probability p, by geometric jumps (Batagelj, Brandes 2005), drawn anew
 * until connected: exactly G(n, p) given connected.
 *
 * regular: d = 2 is a uniformly drawn cycle through all. Otherwise a circulant graph on which two
 * edges at a time change partners, TACIT_GRAPH_SWITCHES tries an edge, drawn anew until connected;
 * for d > (n - 1)/2 the complement of such a graph. The switch chain (Taylor 1981) is uniform in
 * the limit; on up to 8 agents a chi-square test sees no difference (tests/unit/topo.c).
 *
 * small-world: a ring where each agent knows its d/2 next; each edge, one distance after the other,
 * is given a new far end with probability beta (Watts, Strogatz 1998), drawn anew until connected.
 *
 * Requires: tacit_graph_check said TACIT_OK; edges and work have the room it asked for. Without a
 *   random kind rng may be NULL.
 * Errors: TACIT_INVALID: not connected after TACIT_GRAPH_DRAWS_MAX draws; *why says what would be.
 * Cost: O(n + E) a draw; regular and small-world O(d) times as much. */
enum tacit_status tacit_graph_generate(const struct tacit_graph_spec *specs, uint32_t spec_count,
                                       struct tacit_rng *rng, struct tacit_edge *edges,
                                       uint64_t *edge_count, void *work, struct tacit_text *why);

#define TACIT_GRAPH_DRAWS_MAX 100u
#define TACIT_GRAPH_SWITCHES 20u

/* ---- Components ------------------------------------------------------------------------------ */

/* Writes the component of each agent: 0 .. Q-1 in the order of their lowest agents. Result: Q; the
 * graph is connected if it is 1. Requires: label and queue have n words. Cost: O(n + E). */
uint32_t tacit_graph_components(const struct tacit_graph *graph, uint32_t *label, uint32_t *queue);

/* Adds the agents of one component in ranges: "0-4, 9, 12-13 and 30 more" (agents) when there are
 * more than range_limit ranges. Requires: range_limit > 0. Cost: O(n). */
void tacit_graph_add_members(struct tacit_text *text, const uint32_t *label, uint32_t agent_count,
                             uint32_t component, uint32_t range_limit);

/* Adds the first few components: "agents 0-4, 9; agents 5-8 and 3 more components". What to tell a
 * person whose graph is in pieces. Cost: O(n). */
void tacit_graph_add_components(struct tacit_text *text, const uint32_t *label,
                                uint32_t agent_count, uint32_t component_count);

/* ---- Distances ------------------------------------------------------------------------------- */

struct tacit_reach {
    uint32_t agent_count;  /* reached, with the agent itself */
    uint32_t eccentricity; /* the largest distance among them */
};

/* Breadth-first search: the number of edges of a shortest path from one agent to each,
 * TACIT_UNREACHED in other components. Requires: distance and queue have n words.
 * Ensures: queue starts with the agents reached, nearest first. Cost: O(n + E). */
struct tacit_reach tacit_graph_distances(const struct tacit_graph *graph, uint32_t from,
                                         uint32_t *distance, uint32_t *queue);

/* Bytes of work memory for tacit_graph_diameter and tacit_graph_sinks. Requires: 0 < n <=
 * TACIT_AGENTS_MAX. */
size_t tacit_graph_work_size(uint32_t agent_count);

/* How much to search, in visits: of an agent or of an edge from one of its ends, 10 ns each or so.
 * `visits` are spent if they are needed; `more`, if it then looks as if as many were enough. */
struct tacit_graph_effort {
    uint64_t visits;
    uint64_t more;
};

/* As much as it takes. */
#define TACIT_GRAPH_EXACT ((struct tacit_graph_effort){UINT64_MAX, UINT64_MAX})

/* What is known of a number: low <= it <= high. */
struct tacit_graph_span {
    uint32_t low;
    uint32_t high;
    uint64_t visits_left; /* about as many until it is exact; 0: it is */
};

/* The diameter: the largest distance between two agents that have a path; in a graph of several
 * components the largest of their diameters. Li, Song: d_G (READINGS P1.13, 14). The same effort
 * gives the same span.
 * Requires: work has tacit_graph_work_size bytes, aligned to 8 (64 is a little faster).
 *
 * Cost: a few searches on long or branchy graphs (iFUB, Crescenzi et al. 2013, from a centre), and
 * where a rotation of the agents' numbers maps the graph onto itself (ring lattices, tori row by
 * row). At worst n searches, 256 at a time, as on random regular graphs: degree 8 takes 2 ms with
 * 1,000 agents, 25 ms with 10,000, 10 s with 100,000. A small world of 100,000 agents of degree 8
 * takes 1 s when one edge in 100 is rewired, and up to 15 s with more. Beyond the effort the upper
 * end is what searches so far say of those around them (Takes, Kosters 2011). */
struct tacit_graph_span tacit_graph_diameter(const struct tacit_graph *graph,
                                             struct tacit_graph_effort effort, void *work);

/* ---- Sinks ----------------------------------------------------------------------------------- */

/* A component and the agent that collects for it. */
struct tacit_component {
    uint32_t agent_count;
    uint64_t edge_count;
    uint32_t sink;
    uint32_t delay;        /* largest distance to the sink; 0 for a single agent */
    uint64_t distance_sum; /* of all distances to the sink: links of one collection (P1.17) */
};

/* Alg. 4 of Li, Song (READINGS P1.15): in each component the sink is the agent with the smallest
 * largest distance (eccentricity), the lowest such agent on ties. parent[i] is i's lowest neighbour
 * that is nearer to the sink, TACIT_NO_AGENT for a sink; distance[i] counts the edges between.
 * Result: t_delay, the largest delay (l. 6). Beyond the effort, of which a component has what
 * those before it left, a sink is the best that was found, and t_delay may be less. Requires: label
 * and component_count from tacit_graph_components; components has component_count items, parent and
 * distance n words, work tacit_graph_work_size bytes, aligned to 8. Cost: as the diameter, mostly
 * less. */
struct tacit_graph_span tacit_graph_sinks(const struct tacit_graph *graph, const uint32_t *label,
                                          uint32_t component_count,
                                          struct tacit_component *components, uint32_t *parent,
                                          uint32_t *distance, struct tacit_graph_effort effort,
                                          void *work);

/* ---- Gossip ---------------------------------------------------------------------------------- */

/* Writes W = I - L/(2E), L the Laplacian: what one step of gossip over a uniformly drawn edge does
 * to the agents' values in expectation (Zhu et al., Federated Bandit; READINGS P2.8). Row by row,
 * n x n, symmetric, rows sum to 1. src/topo/spectrum.h has its second largest eigenvalue.
 * Requires: E > 0. Cost: O(n^2). */
void tacit_graph_gossip_matrix(const struct tacit_graph *graph, double *matrix);
#endif
