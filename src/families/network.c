/* From the section `network` of an experiment file to graphs, components, sinks and delays. */
#include <stdio.h>
#include <stdlib.h>
#include "tacit/data.h"
#include "tacit/family.h"

/* Edges under construction. */
struct draft {
    const struct tacit_config_topology *config;
    struct tacit_error *error;
    struct tacit_graph_spec *specs; /* those of the file, with their edges */
    struct tacit_edges *lists;      /* of the specs whose edges are in a file */
    struct tacit_edge *edges;
    uint64_t edge_count;
    uint64_t edge_room;
    size_t work_bytes;
};

static enum tacit_status out_of_memory(struct tacit_error *error)
{
    (void)snprintf(error->text, sizeof error->text, "out of memory");
    return TACIT_MEMORY;
}

/* The same of a graph, and what it would have needed: its edges as they are made, or itself. */
static enum tacit_status out_of_memory_for(uint32_t agents, uint64_t edges, double bytes,
                                           struct tacit_error *error)
{
    (void)snprintf(error->text, sizeof error->text,
                   "out of memory: a graph of %u agents and up to %llu edges needs %.1f MB more",
                   agents, (unsigned long long)edges, bytes / 1e6);
    return TACIT_MEMORY;
}

/* Says what is wrong with one of the graphs. `key`: one of its own, or "". */
static enum tacit_status refuse(const struct draft *draft, uint32_t index, const char *key,
                                const char *text)
{
    char name[64];
    char const *const dot = *key == '\0' ? "" : ".";
    if (draft->config->kind == TACIT_CONFIG_HYBRID)
        (void)snprintf(name, sizeof name, "network.components.%u%s%s", index, dot, key);
    else
        (void)snprintf(name, sizeof name, "network%s%s", dot, key);
    tacit_config_error(draft->config->document, name, text, draft->error);
    return TACIT_INVALID;
}

/* ---- Edges ---- */

static enum tacit_status read_edges(struct draft *draft, uint32_t index)
{
    struct tacit_config_graph const *const graph = &draft->config->graphs[index];
    struct tacit_edges *const list = &draft->lists[index];
    char *const path = tacit_config_path(draft->config->document, graph->file);
    if (path == NULL)
        return out_of_memory(draft->error);
    enum tacit_status const status =
        tacit_edges_read(list, path, graph->spec.agent_count, draft->error);
    free(path);
    draft->specs[index].edges = list->items;
    draft->specs[index].edge_count = list->count;
    if (status != TACIT_IO)
        return status;
    struct tacit_error const cause = *draft->error;
    (void)refuse(draft, index, "file", cause.text);
    return TACIT_IO;
}

/* What one of the graphs needs, as often as it is wanted. */
static enum tacit_status add_need(struct draft *draft, uint32_t index)
{
    uint32_t const count = draft->config->graphs[index].count;
    struct tacit_graph_need need;
    char bytes[300];
    struct tacit_text why = tacit_text_init(bytes, sizeof bytes);
    if (tacit_graph_check(&draft->specs[index], 1, &need, &why) != TACIT_OK)
        return refuse(draft, index, "", bytes);
    draft->edge_room += need.edge_count * count;
    draft->work_bytes = need.work_bytes > draft->work_bytes ? need.work_bytes : draft->work_bytes;
    if (draft->edge_room > TACIT_EDGES_MAX)
        return refuse(draft, index, "", "too many edges in all components together");
    return TACIT_OK;
}

/* Requires: the draft is zero but for config and error. What is made here draft_free frees, on
 * errors too. */
static enum tacit_status prepare(struct draft *draft)
{
    struct tacit_config_topology const *const config = draft->config;
    draft->specs = calloc(config->graph_count + (size_t)1, sizeof *draft->specs);
    draft->lists = calloc(config->graph_count + (size_t)1, sizeof *draft->lists);
    if (draft->specs == NULL || draft->lists == NULL)
        return out_of_memory(draft->error);
    for (uint32_t i = 0; i < config->graph_count; i++) {
        draft->specs[i] = config->graphs[i].spec;
        TACIT_TRY(config->graphs[i].file == NULL ? TACIT_OK : read_edges(draft, i));
        TACIT_TRY(add_need(draft, i));
    }
    return TACIT_OK;
}

/* A graph with a seed of its own is the same wherever it stands; the others follow the experiment's
 * seed and differ from each other. */
static struct tacit_rng stream_of(const struct draft *draft, uint32_t index)
{
    struct tacit_config_graph const *const graph = &draft->config->graphs[index];
    return graph->has_graph_seed
               ? tacit_rng_stream(graph->graph_seed, 0, TACIT_STREAM_COMMON, TACIT_PURPOSE_GRAPH)
               : tacit_rng_stream(draft->config->seed, 0, index, TACIT_PURPOSE_GRAPH);
}

/* Writes the edges of one graph behind those that are there, for agents from *agents on. */
static enum tacit_status generate(struct draft *draft, uint32_t index, struct tacit_rng *rng,
                                  void *work, uint32_t *agents)
{
    char bytes[300];
    struct tacit_text why = tacit_text_init(bytes, sizeof bytes);
    struct tacit_edge *const edges = draft->edges + draft->edge_count;
    uint64_t count;
    if (tacit_graph_generate(&draft->specs[index], 1, rng, edges, &count, work, &why) != TACIT_OK)
        return refuse(draft, index, "", bytes);
    for (uint64_t i = 0; i < count; i++) {
        edges[i].a += *agents;
        edges[i].b += *agents;
    }
    draft->edge_count += count;
    *agents += draft->specs[index].agent_count;
    return TACIT_OK;
}

static enum tacit_status generate_all(struct draft *draft)
{
    draft->edges = malloc((draft->edge_room + 1) * sizeof *draft->edges);
    void *const work = malloc(draft->work_bytes + 1);
    enum tacit_status status = TACIT_OK;
    uint32_t agents = 0;
    if (draft->edges == NULL || work == NULL)
        status = out_of_memory_for(draft->config->agent_count, draft->edge_room,
                                   (double)draft->edge_room * sizeof *draft->edges +
                                       (double)draft->work_bytes,
                                   draft->error);
    for (uint32_t i = 0; i < draft->config->graph_count && status == TACIT_OK; i++) {
        struct tacit_rng rng = stream_of(draft, i);
        for (uint32_t copy = 0; copy < draft->config->graphs[i].count && status == TACIT_OK; copy++)
            status = generate(draft, i, &rng, work, &agents);
    }
    free(work);
    return status;
}

static void draft_free(struct draft *draft)
{
    for (uint32_t i = 0; draft->lists != NULL && i < draft->config->graph_count; i++)
        tacit_edges_free(&draft->lists[i]);
    free(draft->specs);
    free(draft->lists);
    free(draft->edges);
}

/* ---- Pieces ---- */

/* Component `index` of the file should be one piece; says into which ones it falls. Agents are
 * named by their numbers in its own file. `label`, of these agents, is overwritten. */
static enum tacit_status refuse_pieces(const struct draft *draft, uint32_t index, uint32_t *label,
                                       uint32_t agent_count)
{
    char bytes[400];
    struct tacit_text text = tacit_text_init(bytes, sizeof bytes);
    uint32_t const first = label[0];
    uint32_t pieces = 0;
    for (uint32_t i = 0; i < agent_count; i++) {
        label[i] -= first; /* labels follow the lowest agents */
        pieces = label[i] >= pieces ? label[i] + 1 : pieces;
    }
    tacit_text_add(&text, "not connected: ");
    tacit_graph_add_components(&text, label, agent_count, pieces);
    tacit_text_add(&text, "; allowed: a path between any two agents");
    return refuse(draft, index, "file", bytes);
}

/* Is each component of the file one piece? Only listed edges can leave one in pieces. `label`: of
 * all agents, a number for each piece, ascending with its lowest agent. */
static enum tacit_status check_pieces(const struct draft *draft, uint32_t *label)
{
    uint32_t expected = 0;
    for (uint32_t i = 0; i < draft->config->graph_count; i++) {
        uint32_t const agent_count = draft->specs[i].agent_count;
        for (uint32_t copy = 0; copy < draft->config->graphs[i].count; copy++) {
            for (uint32_t agent = 0; agent < agent_count; agent++)
                if (label[agent] != expected)
                    return refuse_pieces(draft, i, label, agent_count);
            label += agent_count;
            expected++;
        }
    }
    return TACIT_OK;
}

/* ---- What protocols ask ---- */

/* Without sinks: one graph, or agents that are alone. */
static void describe_components(struct tacit_network *network)
{
    for (uint32_t i = 0; i < network->component_count; i++)
        network->components[i] = (struct tacit_component){
            .agent_count = network->component_count == 1 ? network->graph.agent_count : 1,
            .edge_count = network->graph.edge_count};
}

/* From the graph's edges: diameter, delay, components, and each agent's way to its sink. */
static enum tacit_status measure(struct tacit_network *network, struct tacit_graph_effort effort,
                                 struct tacit_error *error)
{
    uint32_t const n = network->graph.agent_count;
    void *const work = malloc(tacit_graph_work_size(n));
    network->components = calloc(network->component_count, sizeof *network->components);
    if (work == NULL || network->components == NULL) {
        free(work);
        return out_of_memory_for(n, network->graph.edge_count,
                                 (double)tacit_graph_work_size(n) +
                                     network->component_count * (double)sizeof *network->components,
                                 error);
    }
    struct tacit_graph_span const diameter = tacit_graph_diameter(&network->graph, effort, work);
    struct tacit_graph_span delay = {.low = diameter.low > 1 ? diameter.low - 1 : 0,
                                     .high = diameter.high > 1 ? diameter.high - 1 : 0};
    if (network->has_sinks) {
        delay = tacit_graph_sinks(&network->graph, network->label, network->component_count,
                                  network->components, network->parent, network->distance, effort,
                                  work);
    } else {
        for (uint32_t agent = 0; agent < n; agent++)
            network->parent[agent] = TACIT_NO_AGENT;
        describe_components(network);
    }
    network->diameter = diameter.low;
    network->diameter_slack = diameter.high - diameter.low;
    network->delay = delay.low;
    network->delay_slack = delay.high - delay.low;
    network->visits_left = diameter.visits_left + delay.visits_left;
    free(work);
    return TACIT_OK;
}

/* Requires: the draft has its edges. They are freed once the graph has them. Errors: what the
 * network has by then stays, for tacit_network_free. */
static enum tacit_status build(struct tacit_network *network, struct draft *draft,
                               struct tacit_graph_effort effort)
{
    uint32_t const n = draft->config->agent_count;
    network->memory = malloc(tacit_graph_size(n, draft->edge_count));
    network->label = malloc(3 * (size_t)n * sizeof *network->label);
    if (network->memory == NULL || network->label == NULL)
        return out_of_memory_for(n, draft->edge_count,
                                 (double)tacit_graph_size(n, draft->edge_count) +
                                     3.0 * n * sizeof *network->label,
                                 draft->error);
    network->parent = network->label + n;
    network->distance = network->parent + n;
    enum tacit_status const status =
        tacit_graph_init(&network->graph, network->memory, n, draft->edges, draft->edge_count);
    TACIT_ASSERT(status == TACIT_OK);
    free(draft->edges); /* the graph has them now */
    draft->edges = NULL;
    network->has_sinks = draft->config->kind == TACIT_CONFIG_HYBRID;
    network->component_count =
        tacit_graph_components(&network->graph, network->label, network->parent);
    TACIT_TRY(check_pieces(draft, network->label));
    return measure(network, effort, draft->error);
}

/* ---- Public ---- */

enum tacit_status tacit_network_new(struct tacit_network **network,
                                    const struct tacit_config_topology *topology,
                                    struct tacit_graph_effort effort, struct tacit_error *error)
{
    struct draft draft = {.config = topology, .error = error};
    *network = NULL;
    if (topology->kind == TACIT_CONFIG_STAR || topology->kind == TACIT_CONFIG_BROADCAST)
        return TACIT_OK;
    struct tacit_network *const made = calloc(1, sizeof *made);
    if (made == NULL)
        return out_of_memory(error);
    enum tacit_status status = prepare(&draft);
    if (status == TACIT_OK)
        status = generate_all(&draft);
    if (status == TACIT_OK)
        status = build(made, &draft, effort);
    draft_free(&draft);
    if (status == TACIT_OK)
        *network = made;
    else
        tacit_network_free(made);
    return status;
}

void tacit_network_free(struct tacit_network *network)
{
    if (network == NULL)
        return;
    free(network->memory);
    free(network->components);
    free(network->label);
    free(network);
}
