/* The section `network`: which graphs, and whether they can be made. What only their making can
 * show (the edges in a file, whether a random graph is connected) is for the caller. */
#include "network.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define KEY_BYTES 96u

/* Kinds of networks that are not one graph; graphs have the number of their kind. */
enum { KIND_STAR = -4, KIND_HYBRID, KIND_ALONE, KIND_BROADCAST };

#define CHANCE CONFIG_FROM(0, 1)

static const struct config_choice kinds[] = {{"star", KIND_STAR},
#define X(kind, text) {text, kind},
                                             TACIT_GRAPH_KIND_LIST(X)
#undef X
                                                 {"hybrid", KIND_HYBRID},
                                             {"alone", KIND_ALONE},
                                             {"broadcast", KIND_BROADCAST},
                                             {NULL, 0}};
static const struct config_choice component_kinds[] = {
#define X(kind, text) {text, kind},
    TACIT_GRAPH_KIND_LIST(X)
#undef X
        {NULL, 0}};

#define GRAPH_KEYS                                                                                 \
    {"rows", "(as square as it can be)", "grid: a divisor of the agents",                          \
     .form = "a number from 1"},                                                                   \
        {"edge_probability", "(2 ln n / n)", "random: G(n, p), given that it is connected",        \
         .range = CHANCE},                                                                         \
        {"degree", "(must be given)",                                                              \
         "regular: neighbours of each; small-world: of the ring, on both sides together",          \
         .form = "a number; n times it is even"},                                                  \
        {"rewiring_probability", "(must be given)", "small-world", .range = CHANCE},               \
        {"graph_seed", "(the experiment's seed)",                                                  \
         "random, regular, small-world: a graph is drawn once for all runs",                       \
         .form = "0 to 2^64 - 1"},                                                                 \
    {                                                                                              \
        "file", "(must be given)",                                                                 \
            "edges: two agents a line, with a comma or blanks between them, # comments; an edge "  \
            "that comes again, in either direction, counts once",                                  \
            .form = "a file"                                                                       \
    }

const struct config_key config_network_keys[] = {
    {"kind", NULL,
     "star: agents around a server; star-graph to edges: peers over a graph; hybrid: components of "
     "peers, each with a sink, and a server above; alone: nothing is sent; broadcast: everybody "
     "hears everybody",
     .choices = kinds},
    {"components", "(must be given)", "hybrid: one after the other; their agents are all agents",
     .form = "a list of maps"},
    GRAPH_KEYS,
    {.name = NULL}};

const struct config_key config_component_keys[] = {
    {"agents", NULL, "", CONFIG_TO_U32(tacit_config_graph, spec.agent_count, 1, TACIT_AGENTS_MAX)},
    {"count", "1", "so many such components, each a draw of its own if it is random",
     CONFIG_TO_U32(tacit_config_graph, count, 1, TACIT_AGENTS_MAX)},
    {"kind", "(must be given, but for one agent)", "as of a network", .choices = component_kinds},
    GRAPH_KEYS,
    {.name = NULL}};

/* The longer name of a key: that of its section before it. */
struct key {
    char text[KEY_BYTES];
};

static struct key key_in(const char *section, const char *name)
{
    struct key key;
    (void)snprintf(key.text, sizeof key.text, "%.64s.%.24s", section, name);
    return key;
}

/* ---- Keys that belong to another kind ---- */

#define BIT(kind) (1u << (kind))
#define RANDOM_KINDS                                                                               \
    (BIT(TACIT_GRAPH_RANDOM) | BIT(TACIT_GRAPH_REGULAR) | BIT(TACIT_GRAPH_SMALL_WORLD))

static const struct graph_key {
    const char *name;
    const char *owner;
    unsigned kinds;
} graph_keys[] = {
    {"rows", "grid", BIT(TACIT_GRAPH_GRID)},
    {"edge_probability", "random", BIT(TACIT_GRAPH_RANDOM)},
    {"degree", "regular or small-world", BIT(TACIT_GRAPH_REGULAR) | BIT(TACIT_GRAPH_SMALL_WORLD)},
    {"rewiring_probability", "small-world", BIT(TACIT_GRAPH_SMALL_WORLD)},
    {"graph_seed", "random, regular or small-world", RANDOM_KINDS},
    {"file", "edges", BIT(TACIT_GRAPH_EDGES)},
};
#define GRAPH_KEY_COUNT (sizeof graph_keys / sizeof graph_keys[0])

static void refuse_key(struct config_reader *reader, const struct config_node *map,
                       const char *section, const char *name, const char *owner)
{
    struct config_node const *const node = config_node_member(map, name);
    if (node != NULL)
        config_reader_fail(reader, node, key_in(section, name).text, "belongs to kind: %s", owner);
}

/* kind: one of TACIT_GRAPH_..., or of the KIND_... above, which has none of these keys. */
static void refuse_other_keys(struct config_reader *reader, const struct config_node *map,
                              const char *section, int kind)
{
    for (size_t i = 0; i < GRAPH_KEY_COUNT; i++)
        if (kind < 0 || (graph_keys[i].kinds & BIT((unsigned)kind)) == 0)
            refuse_key(reader, map, section, graph_keys[i].name, graph_keys[i].owner);
}

/* ---- One graph ---- */

/* Edges that make G(n, p) connected almost surely (READINGS P1.22). */
static double enough_edges(uint32_t agent_count)
{
    return 2 * log(agent_count) / agent_count;
}

/* The node to which a refusal of a whole graph points: the key that says most about its kind. */
static const struct config_node *telling_node(const struct config_node *map)
{
    for (size_t i = 0; i < GRAPH_KEY_COUNT; i++) {
        struct config_node const *const node = config_node_member(map, graph_keys[i].name);
        if (node != NULL)
            return node;
    }
    return map;
}

static void check_graph(struct config_reader *reader, const struct config_node *map,
                        const char *section, const struct tacit_graph_spec *spec)
{
    struct tacit_graph_need need;
    char bytes[300];
    struct tacit_text why = tacit_text_init(bytes, sizeof bytes);
    if (reader->status == TACIT_OK && tacit_graph_check(spec, 1, &need, &why) != TACIT_OK)
        config_reader_fail(reader, telling_node(map), section, "%s", bytes);
}

/* Requires: kind and agent_count of graph->spec are read. */
static void read_graph(struct config_reader *reader, const struct config_node *map,
                       const char *section, struct tacit_config_graph *graph)
{
    static const struct config_range chance = CHANCE;
    struct tacit_graph_spec *const spec = &graph->spec;
    bool const has_degree =
        spec->kind == TACIT_GRAPH_REGULAR || spec->kind == TACIT_GRAPH_SMALL_WORLD;
    refuse_other_keys(reader, map, section, (int)spec->kind);
    config_reader_u32(reader, map, key_in(section, "rows").text, false, 1, TACIT_AGENTS_MAX,
                      &spec->rows);
    spec->edge_probability = enough_edges(spec->agent_count);
    config_reader_number(reader, map, key_in(section, "edge_probability").text, false, chance,
                         &spec->edge_probability);
    config_reader_u32(reader, map, key_in(section, "degree").text, has_degree, 0, TACIT_AGENTS_MAX,
                      &spec->degree);
    config_reader_number(reader, map, key_in(section, "rewiring_probability").text,
                         spec->kind == TACIT_GRAPH_SMALL_WORLD, chance,
                         &spec->rewiring_probability);
    config_reader_u64(reader, map, key_in(section, "graph_seed").text, false, 0, UINT64_MAX,
                      &graph->graph_seed);
    graph->has_graph_seed = config_node_member(map, "graph_seed") != NULL;
    config_reader_text(reader, map, key_in(section, "file").text, spec->kind == TACIT_GRAPH_EDGES,
                       &graph->file);
    check_graph(reader, map, section, spec);
}

/* ---- Hybrids ---- */

static void read_component(struct config_reader *reader, const struct config_node *map,
                           const char *section, struct tacit_config_graph *graph)
{
    int kind = TACIT_GRAPH_COMPLETE; /* of one agent */
    config_reader_table(reader, map, section, config_component_keys, graph);
    config_reader_choice(reader, map, key_in(section, "kind").text, graph->spec.agent_count > 1,
                         component_kinds, &kind);
    graph->spec.kind = (enum tacit_graph_kind)kind;
    if (reader->status == TACIT_OK)
        read_graph(reader, map, section, graph);
}

/* Do the components have the agents of the experiment, and not too many edges? */
static void check_components(struct config_reader *reader, const struct config_node *list,
                             const struct tacit_config_topology *config)
{
    uint64_t agents = 0;
    uint64_t edges = 0;
    for (uint32_t i = 0; i < config->graph_count && reader->status == TACIT_OK; i++) {
        struct tacit_config_graph const *const graph = &config->graphs[i];
        struct tacit_graph_need need;
        char bytes[1];
        struct tacit_text why = tacit_text_init(bytes, sizeof bytes);
        enum tacit_status const status = tacit_graph_check(&graph->spec, 1, &need, &why);
        TACIT_ASSERT(status == TACIT_OK); /* as when it was read */
        agents += (uint64_t)graph->spec.agent_count * graph->count;
        edges += need.edge_count * graph->count; /* below 2^20 x 2^28, for each value of the file */
    }
    if (agents != config->agent_count)
        config_reader_fail(reader, list, "network.components",
                           "%llu agents in the components, but 'agents' is %u; the two must be "
                           "equal",
                           (unsigned long long)agents, config->agent_count);
    else if (edges > TACIT_EDGES_MAX)
        config_reader_fail(reader, list, "network.components",
                           "%llu edges in the components; at most %llu are allowed",
                           (unsigned long long)edges, (unsigned long long)TACIT_EDGES_MAX);
}

static void read_components(struct config_reader *reader, const struct config_node *network,
                            struct tacit_config_topology *config)
{
    struct tacit_config_graph *graph =
        config_reader_list(reader, network, "network.components", "{agents: 20, kind: ring}",
                           TACIT_AGENTS_MAX, sizeof *graph, &config->graph_count);
    config->graphs = graph;
    if (graph == NULL)
        return;
    struct config_node const *const list = config_node_member(network, "components");
    for (const struct config_node *node = list->first; node != NULL && reader->status == TACIT_OK;
         node = node->next, graph++) {
        char place[24];
        (void)snprintf(place, sizeof place, "%td", graph - config->graphs);
        read_component(reader, node, key_in("network.components", place).text, graph);
    }
    check_components(reader, list, config);
}

/* ---- The section ---- */

static void read_kind(struct config_reader *reader, const struct config_node *network, int *kind)
{
    config_reader_choice(reader, network, "network.kind", true, kinds, kind);
}

void config_read_network(struct config_reader *reader, const struct config_node *root,
                         struct tacit_config_topology *config)
{
    struct config_node const *const network = config_reader_map(reader, root, "network", false);
    int kind = KIND_STAR;
    if (network == NULL)
        return;
    config_reader_known(reader, network, "network", config_network_keys);
    read_kind(reader, network, &kind);
    if (reader->status != TACIT_OK)
        return;
    config_reader_text(reader, network, "network.kind", true, &config->name);
    config->kind = kind == KIND_STAR        ? TACIT_CONFIG_STAR
                   : kind == KIND_HYBRID    ? TACIT_CONFIG_HYBRID
                   : kind == KIND_ALONE     ? TACIT_CONFIG_ALONE
                   : kind == KIND_BROADCAST ? TACIT_CONFIG_BROADCAST
                                            : TACIT_CONFIG_GRAPH;
    if (kind == KIND_HYBRID)
        read_components(reader, network, config);
    else
        refuse_key(reader, network, "network", "components", "hybrid");
    if (kind < 0) {
        refuse_other_keys(reader, network, "network", kind);
        return;
    }
    struct tacit_config_graph *const graph = config_reader_memory(reader, sizeof *graph);
    config->graphs = graph;
    config->graph_count = 1;
    if (graph == NULL)
        return;
    graph->count = 1;
    graph->spec.kind = (enum tacit_graph_kind)kind;
    graph->spec.agent_count = config->agent_count;
    read_graph(reader, network, "network", graph);
}
