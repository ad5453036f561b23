/* A graph under construction: edges between agents numbered from 0, written at an offset. */
#ifndef TACIT_TOPO_SKETCH_H
#define TACIT_TOPO_SKETCH_H
#include "tacit/topo.h"

struct sketch {
    struct tacit_edge *edges;
    uint64_t count;
    uint64_t limit;
    uint32_t offset; /* the number of the graph's agent 0 */
};

static inline void sketch_add(struct sketch *sketch, uint32_t a, uint32_t b)
{
    TACIT_ASSERT(sketch->count < sketch->limit);
    sketch->edges[sketch->count++] = (struct tacit_edge){a + sketch->offset, b + sketch->offset};
}

/* Room for the edges of G(n, p). A draw has more with probability < 1e-30; it then loses the rest.
 */
double topo_sketch_random_limit(const struct tacit_graph_spec *spec);

/* Words of 32 bits that the makers below work with. */
size_t topo_sketch_words(const struct tacit_graph_spec *spec);

/* Draw the random kinds. Result: is the graph connected? If not, the sketch is empty again. */
bool topo_sketch_random(const struct tacit_graph_spec *spec, struct tacit_rng *rng,
                        struct sketch *sketch, uint32_t *work);
bool topo_sketch_regular(const struct tacit_graph_spec *spec, struct tacit_rng *rng,
                         struct sketch *sketch, uint32_t *work);
bool topo_sketch_small_world(const struct tacit_graph_spec *spec, struct tacit_rng *rng,
                             struct sketch *sketch, uint32_t *work);
#endif
