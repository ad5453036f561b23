/* Random graphs: G(n, p), d-regular, small worlds. Each draw says whether it is connected. */
#include "sketch.h"
#include <math.h>

/* ---- Connected? ------------------------------------------------------------------------------ */

static uint32_t root_of(uint32_t *parent, uint32_t agent)
{
    while (parent[agent] != agent) {
        parent[agent] = parent[parent[agent]];
        agent = parent[agent];
    }
    return agent;
}

/* Union-find over the edges. Requires: parent has n words. */
static bool is_connected(const struct sketch *sketch, uint32_t agent_count, uint32_t *parent)
{
    uint32_t pieces = agent_count;
    for (uint32_t agent = 0; agent < agent_count; agent++)
        parent[agent] = agent;
    for (uint64_t i = 0; i < sketch->count && pieces > 1; i++) {
        uint32_t const a = root_of(parent, sketch->edges[i].a - sketch->offset);
        uint32_t const b = root_of(parent, sketch->edges[i].b - sketch->offset);
        if (a == b)
            continue;
        parent[a] = b;
        pieces--;
    }
    return pieces == 1;
}

/* Keeps a connected draw, empties the sketch of any other. */
static bool keep_connected(struct sketch *sketch, uint32_t agent_count, uint32_t *parent)
{
    bool const connected = is_connected(sketch, agent_count, parent);
    if (!connected)
        sketch->count = 0;
    return connected;
}

/* ---- G(n, p) --------------------------------------------------------------------------------- */

static double pairs_of(uint32_t agent_count)
{
    return (double)agent_count * (agent_count - 1.0) / 2;
}

double topo_sketch_random_limit(const struct tacit_graph_spec *spec)
{
    double const pairs = pairs_of(spec->agent_count);
    double const p = spec->edge_probability;
    double const limit = ceil(pairs * p + 12 * sqrt(pairs * p * (1 - p)) + 64);
    return limit < pairs ? limit : pairs;
}

/* Batagelj, Brandes 2005: the pairs (1,0), (2,0), (2,1), (3,0), ... in one line; the number that is
 * jumped over to the next edge is geometric, the whole part of an exponential with the rate
 * -log(1 - p). For p = 1 the rate is infinite and every jump 0. */
static void draw_pairs(const struct tacit_graph_spec *spec, struct tacit_rng *rng,
                       struct sketch *sketch)
{
    double const rate = -log1p(-spec->edge_probability);
    double left = pairs_of(spec->agent_count);
    uint32_t row = 1;
    uint64_t column = 0;
    while (sketch->count < sketch->limit) {
        double const jump = floor(tacit_rng_exponential(rng) / rate);
        if (!(jump < left))
            return;
        left -= jump + 1;
        column += (uint64_t)jump;
        while (column >= row)
            column -= row++;
        sketch_add(sketch, (uint32_t)column, row);
        column++;
    }
}

bool topo_sketch_random(const struct tacit_graph_spec *spec, struct tacit_rng *rng,
                        struct sketch *sketch, uint32_t *work)
{
    if (spec->edge_probability > 0)
        draw_pairs(spec, rng, sketch);
    return keep_connected(sketch, spec->agent_count, work);
}

/* ---- Regular --------------------------------------------------------------------------------- */

/* Each agent has d points, i d .. i d + d - 1; partner joins them in pairs: the edges. */
struct pairing {
    uint32_t *partner;
    uint32_t degree;
    uint32_t agent_count;
};

static void join(struct pairing *pairing, uint32_t p, uint32_t q)
{
    pairing->partner[p] = q;
    pairing->partner[q] = p;
}

/* Each agent with the d/2 next ones and, if d is odd, the one opposite: simple for d < n - 1. */
static void join_circulant(struct pairing *pairing)
{
    uint32_t const n = pairing->agent_count;
    uint32_t const d = pairing->degree;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j < d / 2; j++)
            join(pairing, i * d + 2 * j, (i + j + 1) % n * d + 2 * j + 1);
        if (d % 2 == 1 && i < n / 2)
            join(pairing, i * d + d - 1, (i + n / 2) * d + d - 1);
    }
}

/* Is one of the agent's points joined to one of the other's, which are `other d` and the d - 1
 * above? The difference wraps around for points below them. */
static bool paired(const struct pairing *pairing, uint32_t agent, uint32_t other)
{
    uint32_t const d = pairing->degree;
    for (uint32_t i = 0; i < d; i++)
        if (pairing->partner[agent * d + i] - other * d < d)
            return true;
    return false;
}

/* One step of the switch chain: two edges p-p', q-q' become p-q, p'-q', unless that makes a loop or
 * a double edge. A step and its reverse are equally probable, so in the long run all simple graphs
 * are; every one can be reached from every other (Taylor 1981). */
static void switch_edges(struct pairing *pairing, struct tacit_rng *rng)
{
    uint32_t const d = pairing->degree;
    uint32_t const points = pairing->agent_count * d;
    uint32_t const p = (uint32_t)tacit_rng_below(rng, points);
    uint32_t const q = (uint32_t)tacit_rng_below(rng, points);
    uint32_t const p_partner = pairing->partner[p];
    uint32_t const q_partner = pairing->partner[q];
    if (p / d == q / d || p_partner / d == q_partner / d)
        return;
    if (paired(pairing, p / d, q / d) || paired(pairing, p_partner / d, q_partner / d))
        return;
    join(pairing, p, q);
    join(pairing, p_partner, q_partner);
}

static void write_pairing(const struct pairing *pairing, struct sketch *sketch)
{
    uint32_t const d = pairing->degree;
    for (uint32_t p = 0; p < pairing->agent_count * d; p++)
        if (p < pairing->partner[p])
            sketch_add(sketch, p / d, pairing->partner[p] / d);
}

/* All pairs that are no edges. Requires: marks has n words. */
static void write_complement(const struct pairing *pairing, struct sketch *sketch, uint32_t *marks)
{
    uint32_t const d = pairing->degree;
    for (uint32_t agent = 0; agent < pairing->agent_count; agent++)
        marks[agent] = TACIT_NO_AGENT;
    for (uint32_t agent = 0; agent < pairing->agent_count; agent++) {
        for (uint32_t i = 0; i < d; i++)
            marks[pairing->partner[agent * d + i] / d] = agent;
        for (uint32_t other = agent + 1; other < pairing->agent_count; other++)
            if (marks[other] != agent)
                sketch_add(sketch, agent, other);
    }
}

/* A 2-regular connected graph is one cycle through all: a random order of the agents. The chain
 * would seldom be connected. */
static void draw_cycle(uint32_t agent_count, struct tacit_rng *rng, struct sketch *sketch,
                       uint32_t *order)
{
    for (uint32_t i = 0; i < agent_count; i++) {
        uint32_t const at = (uint32_t)tacit_rng_below(rng, i + 1);
        order[i] = order[at];
        order[at] = i;
    }
    for (uint32_t i = 0; i < agent_count; i++)
        sketch_add(sketch, order[i], order[(i + 1) % agent_count]);
}

/* The chain walks over the graphs with fewer edges: those that are drawn, or their complements. */
static uint32_t chain_degree(const struct tacit_graph_spec *spec)
{
    uint32_t const others = spec->agent_count - 1;
    return spec->degree > others / 2 ? others - spec->degree : spec->degree;
}

bool topo_sketch_regular(const struct tacit_graph_spec *spec, struct tacit_rng *rng,
                         struct sketch *sketch, uint32_t *work)
{
    uint32_t const n = spec->agent_count;
    if (spec->degree == 2) {
        draw_cycle(n, rng, sketch, work);
        return true;
    }
    struct pairing pairing = {.partner = work + n, .degree = chain_degree(spec), .agent_count = n};
    join_circulant(&pairing);
    uint64_t const steps = (uint64_t)n * pairing.degree / 2 * TACIT_GRAPH_SWITCHES;
    for (uint64_t i = 0; i < steps; i++)
        switch_edges(&pairing, rng);
    if (pairing.degree == spec->degree)
        write_pairing(&pairing, sketch);
    else
        write_complement(&pairing, sketch, work);
    return keep_connected(sketch, n, work);
}

/* ---- Small world ----------------------------------------------------------------------------- */

/* The edges by the end that does not move: agent i keeps far[i h] .. far[i h + h - 1], h = d/2. */
struct lattice {
    uint32_t *far;
    uint32_t *degree;
    uint32_t half;
    uint32_t agent_count;
};

static bool has_far(const struct lattice *lattice, uint32_t agent, uint32_t other)
{
    for (uint32_t i = 0; i < lattice->half; i++)
        if (lattice->far[(size_t)agent * lattice->half + i] == other)
            return true;
    return false;
}

/* A new far end, uniform over those that agent has no edge to; none if it has one to everybody. */
static void rewire(struct lattice *lattice, uint32_t agent, uint32_t *far, struct tacit_rng *rng)
{
    if (lattice->degree[agent] == lattice->agent_count - 1)
        return;
    for (;;) {
        uint32_t const other = (uint32_t)tacit_rng_below(rng, lattice->agent_count);
        if (other == agent || has_far(lattice, agent, other) || has_far(lattice, other, agent))
            continue;
        lattice->degree[*far]--;
        lattice->degree[other]++;
        *far = other;
        return;
    }
}

bool topo_sketch_small_world(const struct tacit_graph_spec *spec, struct tacit_rng *rng,
                             struct sketch *sketch, uint32_t *work)
{
    uint32_t const n = spec->agent_count;
    struct lattice lattice = {
        .degree = work, .far = work + n, .half = spec->degree / 2, .agent_count = n};
    for (uint32_t i = 0; i < n; i++) {
        lattice.degree[i] = spec->degree;
        for (uint32_t j = 0; j < lattice.half; j++)
            lattice.far[(size_t)i * lattice.half + j] = (i + j + 1) % n;
    }
    for (uint32_t j = 0; j < lattice.half; j++)
        for (uint32_t i = 0; i < n; i++)
            if (tacit_rng_bernoulli(rng, spec->rewiring_probability))
                rewire(&lattice, i, &lattice.far[(size_t)i * lattice.half + j], rng);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < lattice.half; j++)
            sketch_add(sketch, i, lattice.far[(size_t)i * lattice.half + j]);
    return keep_connected(sketch, n, work);
}

size_t topo_sketch_words(const struct tacit_graph_spec *spec)
{
    size_t const n = spec->agent_count;
    switch (spec->kind) {
    case TACIT_GRAPH_RANDOM:
        return n;
    case TACIT_GRAPH_REGULAR:
        return n + n * chain_degree(spec);
    case TACIT_GRAPH_SMALL_WORLD:
        return n + n * (spec->degree / 2);
    case TACIT_GRAPH_STAR:
    case TACIT_GRAPH_COMPLETE:
    case TACIT_GRAPH_RING:
    case TACIT_GRAPH_PATH:
    case TACIT_GRAPH_GRID:
    case TACIT_GRAPH_EDGES:
        return 0;
    }
    TACIT_ASSERT(false);
    return 0;
}
