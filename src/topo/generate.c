/* From the description of a network to its edges: what is possible, what it takes, and the fixed
 * kinds. The random kinds are in random_graphs.c. */
#include "sketch.h"
#include <math.h>

/* ---- Words ----------------------------------------------------------------------------------- */

static void add_count(struct tacit_text *why, const char *before, uint64_t count, const char *after)
{
    TACIT_ASSERT(before != NULL && after != NULL);
    tacit_text_add(why, before);
    tacit_text_add_u64(why, count);
    tacit_text_add(why, after);
}

static void add_probability(struct tacit_text *why, const char *before, double p)
{
    tacit_text_add(why, before);
    tacit_text_add_nano(why, (uint64_t)(p * 1e9 + 0.5));
}

/* ---- Checks ---------------------------------------------------------------------------------- */

/* A check that fails says in `why` what is allowed. */

static bool is_probability(double p)
{
    return p >= 0 && p <= 1; /* not for a NaN */
}

/* The largest divisor that is not above the root. */
static uint32_t square_rows(uint32_t agent_count)
{
    uint32_t rows = 1;
    for (uint32_t i = 2; (uint64_t)i * i <= agent_count; i++)
        if (agent_count % i == 0)
            rows = i;
    return rows;
}

static bool check_grid(const struct tacit_graph_spec *spec, struct tacit_text *why)
{
    if (spec->rows == 0 || spec->agent_count % spec->rows == 0)
        return true;
    add_count(why, "rows is ", spec->rows, ": allowed are divisors of the number of agents, ");
    add_count(why, "", spec->agent_count, "");
    return false;
}

static bool check_regular(const struct tacit_graph_spec *spec, struct tacit_text *why)
{
    uint64_t const n = spec->agent_count;
    uint64_t const d = spec->degree;
    bool const connected = d > 1 || d + 1 == n;
    if (connected && d < n && n * d % 2 == 0)
        return true;
    add_count(why, "degree is ", d, ": ");
    tacit_text_add(why, "allowed is ");
    if (n > 2)
        tacit_text_add(why, n % 2 == 1 ? "an even number from 2 to " : "2 to ");
    tacit_text_add_u64(why, n - 1);
    add_count(why, " for ", n, n == 1 ? " agent" : " agents");
    return false;
}

static bool check_small_world(const struct tacit_graph_spec *spec, struct tacit_text *why)
{
    if (spec->degree == 0 || spec->degree % 2 == 1 || spec->degree >= spec->agent_count) {
        add_count(why, "degree is ", spec->degree, ": allowed is an even number from 2 to below ");
        add_count(why, "the number of agents, ", spec->agent_count, "");
        return false;
    }
    if (!is_probability(spec->rewiring_probability)) {
        tacit_text_add(why, "rewiring_probability: allowed is 0 to 1");
        return false;
    }
    return true;
}

static bool check_edges(const struct tacit_graph_spec *spec, struct tacit_text *why)
{
    for (uint64_t i = 0; i < spec->edge_count; i++) {
        struct tacit_edge const edge = spec->edges[i];
        if (edge.a < spec->agent_count && edge.b < spec->agent_count && edge.a != edge.b)
            continue;
        add_count(why, "edge ", i, " joins agents ");
        add_count(why, "", edge.a, " and ");
        add_count(why, "", edge.b, ": allowed are two different agents from 0 to ");
        add_count(why, "", spec->agent_count - 1, "");
        return false;
    }
    return true;
}

static bool check_kind(const struct tacit_graph_spec *spec, struct tacit_text *why)
{
    switch (spec->kind) {
    case TACIT_GRAPH_STAR:
    case TACIT_GRAPH_COMPLETE:
    case TACIT_GRAPH_RING:
    case TACIT_GRAPH_PATH:
        return true;
    case TACIT_GRAPH_GRID:
        return check_grid(spec, why);
    case TACIT_GRAPH_RANDOM:
        if (!is_probability(spec->edge_probability))
            tacit_text_add(why, "edge_probability: allowed is 0 to 1");
        return is_probability(spec->edge_probability);
    case TACIT_GRAPH_REGULAR:
        return check_regular(spec, why);
    case TACIT_GRAPH_SMALL_WORLD:
        return check_small_world(spec, why);
    case TACIT_GRAPH_EDGES:
        return check_edges(spec, why);
    }
    tacit_text_add(why, "kind: unknown");
    return false;
}

/* ---- What it takes --------------------------------------------------------------------------- */

static uint32_t grid_rows(const struct tacit_graph_spec *spec)
{
    return spec->rows > 0 ? spec->rows : square_rows(spec->agent_count);
}

/* Room for edges. Cannot overflow: n <= 2^20. */
static uint64_t edges_of(const struct tacit_graph_spec *spec)
{
    uint64_t const n = spec->agent_count;
    switch (spec->kind) {
    case TACIT_GRAPH_STAR:
    case TACIT_GRAPH_PATH:
        return n - 1;
    case TACIT_GRAPH_COMPLETE:
        return n * (n - 1) / 2;
    case TACIT_GRAPH_RING:
        return n > 2 ? n : n - 1;
    case TACIT_GRAPH_GRID: {
        uint64_t const rows = grid_rows(spec);
        return rows * (n / rows - 1) + (rows - 1) * (n / rows);
    }
    case TACIT_GRAPH_RANDOM:
        return (uint64_t)topo_sketch_random_limit(spec);
    case TACIT_GRAPH_REGULAR:
    case TACIT_GRAPH_SMALL_WORLD:
        return n * spec->degree / 2;
    case TACIT_GRAPH_EDGES:
        return spec->edge_count;
    }
    TACIT_ASSERT(false);
    return 0;
}

/* One spec more. */
static bool add_need(const struct tacit_graph_spec *spec, struct tacit_graph_need *need,
                     struct tacit_text *why)
{
    if (spec->agent_count == 0 || spec->agent_count > TACIT_AGENTS_MAX - need->agent_count) {
        add_count(why, "agents: allowed is 1 to ", TACIT_AGENTS_MAX, " together");
        return false;
    }
    if (!check_kind(spec, why))
        return false;
    uint64_t const edges = edges_of(spec);
    if (edges > TACIT_EDGES_MAX - need->edge_count) {
        add_count(why, "too many edges: allowed are ", TACIT_EDGES_MAX, " together");
        return false;
    }
    size_t const work = topo_sketch_words(spec) * sizeof(uint32_t);
    need->agent_count += spec->agent_count;
    need->edge_count += edges;
    need->work_bytes = work > need->work_bytes ? work : need->work_bytes;
    return true;
}

enum tacit_status tacit_graph_check(const struct tacit_graph_spec *specs, uint32_t spec_count,
                                    struct tacit_graph_need *need, struct tacit_text *why)
{
    TACIT_ASSERT(spec_count > 0);
    struct tacit_graph_need all = {0};
    for (uint32_t i = 0; i < spec_count; i++) {
        struct tacit_text const before = *why;
        if (spec_count > 1)
            add_count(why, "component ", i, ": ");
        if (!add_need(&specs[i], &all, why))
            return TACIT_INVALID;
        *why = before; /* nothing to say about this one */
        why->bytes[why->size] = '\0';
    }
    *need = all;
    return TACIT_OK;
}

/* ---- Fixed kinds ----------------------------------------------------------------------------- */

static void add_star(struct sketch *sketch, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        sketch_add(sketch, 0, i);
}

static void add_complete(struct sketch *sketch, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = i + 1; j < n; j++)
            sketch_add(sketch, i, j);
}

static void add_path(struct sketch *sketch, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        sketch_add(sketch, i - 1, i);
}

static void add_ring(struct sketch *sketch, uint32_t n)
{
    add_path(sketch, n);
    if (n > 2)
        sketch_add(sketch, 0, n - 1);
}

static void add_grid(struct sketch *sketch, uint32_t n, uint32_t rows)
{
    uint32_t const columns = n / rows;
    for (uint32_t i = 0; i < n; i++) {
        if ((i + 1) % columns != 0)
            sketch_add(sketch, i, i + 1);
        if (i + columns < n)
            sketch_add(sketch, i, i + columns);
    }
}

static void add_edges(struct sketch *sketch, const struct tacit_edge *edges, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        sketch_add(sketch, edges[i].a, edges[i].b);
}

/* ---- Generate -------------------------------------------------------------------------------- */

/* What would be connected: for G(n, p) 2 ln n / n, rounded up to two digits. */
static void add_enough(const struct tacit_graph_spec *spec, struct tacit_text *why)
{
    double const enough = 2 * log(spec->agent_count) / spec->agent_count;
    double unit = 1;
    while (unit * 10 > enough)
        unit /= 10;
    add_probability(why, "; about ", ceil(enough / unit) * unit);
    tacit_text_add(why, " (2 ln n / n) is enough");
}

static void add_unconnected(const struct tacit_graph_spec *spec, struct tacit_text *why)
{
    if (spec->kind == TACIT_GRAPH_RANDOM)
        add_probability(why, "edge_probability is ", spec->edge_probability);
    else
        add_count(why, "degree is ", spec->degree, "");
    if (spec->kind == TACIT_GRAPH_SMALL_WORLD)
        add_probability(why, " and rewiring_probability ", spec->rewiring_probability);
    add_count(why, ": no graph of ", spec->agent_count, " agents was connected");
    add_count(why, " in ", TACIT_GRAPH_DRAWS_MAX, " draws");
    if (spec->kind == TACIT_GRAPH_RANDOM)
        add_enough(spec, why);
    else
        tacit_text_add(why, "; a larger degree helps");
}

static bool draw_once(const struct tacit_graph_spec *spec, struct tacit_rng *rng,
                      struct sketch *sketch, uint32_t *work)
{
    if (spec->kind == TACIT_GRAPH_RANDOM)
        return topo_sketch_random(spec, rng, sketch, work);
    if (spec->kind == TACIT_GRAPH_REGULAR)
        return topo_sketch_regular(spec, rng, sketch, work);
    return topo_sketch_small_world(spec, rng, sketch, work);
}

static bool draw_connected(const struct tacit_graph_spec *spec, struct tacit_rng *rng,
                           struct sketch *sketch, uint32_t *work)
{
    TACIT_ASSERT(rng != NULL);
    for (uint32_t draw = 0; draw < TACIT_GRAPH_DRAWS_MAX; draw++)
        if (draw_once(spec, rng, sketch, work))
            return true;
    return false;
}

static bool generate_one(const struct tacit_graph_spec *spec, struct tacit_rng *rng,
                         struct sketch *sketch, uint32_t *work)
{
    switch (spec->kind) {
    case TACIT_GRAPH_STAR:
        add_star(sketch, spec->agent_count);
        return true;
    case TACIT_GRAPH_COMPLETE:
        add_complete(sketch, spec->agent_count);
        return true;
    case TACIT_GRAPH_RING:
        add_ring(sketch, spec->agent_count);
        return true;
    case TACIT_GRAPH_PATH:
        add_path(sketch, spec->agent_count);
        return true;
    case TACIT_GRAPH_GRID:
        add_grid(sketch, spec->agent_count, grid_rows(spec));
        return true;
    case TACIT_GRAPH_EDGES:
        add_edges(sketch, spec->edges, spec->edge_count);
        return true;
    case TACIT_GRAPH_RANDOM:
    case TACIT_GRAPH_REGULAR:
    case TACIT_GRAPH_SMALL_WORLD:
        return draw_connected(spec, rng, sketch, work);
    }
    TACIT_ASSERT(false);
    return false;
}

enum tacit_status tacit_graph_generate(const struct tacit_graph_spec *specs, uint32_t spec_count,
                                       struct tacit_rng *rng, struct tacit_edge *edges,
                                       uint64_t *edge_count, void *work, struct tacit_text *why)
{
    uint64_t total = 0;
    uint32_t offset = 0;
    for (uint32_t i = 0; i < spec_count; i++) {
        struct sketch sketch = {
            .edges = edges + total, .limit = edges_of(&specs[i]), .offset = offset};
        if (!generate_one(&specs[i], rng, &sketch, work)) {
            if (spec_count > 1)
                add_count(why, "component ", i, ": ");
            add_unconnected(&specs[i], why);
            return TACIT_INVALID;
        }
        total += sketch.count;
        offset += specs[i].agent_count;
    }
    *edge_count = total;
    return TACIT_OK;
}
