/* Networks for tests: see network.h. */
#include "testing.h"
#include "network.h"
#include "tacit/commit.h"

_Static_assert(NETWORK_AGENTS_MAX <= 64, "a set of agents is one word");

static void make_edges(struct network *network, const struct tacit_graph_spec *specs,
                       uint32_t spec_count, struct tacit_rng *rng)
{
    char words[TACIT_ERROR_BYTES];
    struct tacit_text why = tacit_text_init(words, sizeof words);
    struct tacit_graph_need need;
    uint64_t edge_count;
    assert_int_equal(tacit_graph_check(specs, spec_count, &need, &why), TACIT_OK);
    assert_in_range(need.agent_count, 1, NETWORK_AGENTS_MAX);
    assert_in_range(need.edge_count, 0, NETWORK_EDGES_MAX);
    void *const work = testing_malloc(need.work_bytes + 1);
    assert_int_equal(
        tacit_graph_generate(specs, spec_count, rng, network->edges, &edge_count, work, &why),
        TACIT_OK);
    testing_free(work);
    network->memory = testing_malloc(tacit_graph_size(need.agent_count, edge_count));
    assert_int_equal(tacit_graph_init(&network->graph, network->memory, need.agent_count,
                                      network->edges, edge_count),
                     TACIT_OK);
}

static struct network *new_network(const struct tacit_graph_spec *specs, uint32_t spec_count,
                                   struct tacit_rng *rng)
{
    struct network *const network = testing_calloc(1, sizeof *network);
    uint32_t queue[NETWORK_AGENTS_MAX];
    assert_non_null(network);
    make_edges(network, specs, spec_count, rng);
    struct tacit_graph const *const graph = &network->graph;
    void *const work = testing_malloc(tacit_graph_work_size(graph->agent_count));
    network->component_count = tacit_graph_components(graph, network->label, queue);
    network->diameter = tacit_graph_diameter(graph, TACIT_GRAPH_EXACT, work).low;
    (void)tacit_graph_sinks(graph, network->label, network->component_count, network->components,
                            network->parent, network->distance, TACIT_GRAPH_EXACT, work);
    for (uint32_t agent = 0; agent < graph->agent_count; agent++)
        tacit_bits_add(&network->members[network->label[agent]], agent);
    testing_free(work);
    return network;
}

struct network *network_new(const struct tacit_graph_spec *specs, uint32_t spec_count,
                            uint64_t seed)
{
    struct tacit_rng rng = tacit_rng_stream(seed, 0, TACIT_STREAM_COMMON, TACIT_PURPOSE_GRAPH);
    return new_network(specs, spec_count, &rng);
}

static struct tacit_graph_spec random_spec(uint32_t agent_count, struct tacit_rng *rng)
{
    struct tacit_graph_spec spec = {.agent_count = agent_count};
    spec.kind = (enum tacit_graph_kind)tacit_rng_below(rng, TACIT_GRAPH_EDGES);
    if (agent_count < 4 && spec.kind >= TACIT_GRAPH_RANDOM)
        spec.kind = TACIT_GRAPH_PATH;
    spec.edge_probability = 0.5 + 0.5 * tacit_rng_uniform(rng);
    spec.rewiring_probability = tacit_rng_uniform(rng);
    spec.degree =
        spec.kind == TACIT_GRAPH_REGULAR && agent_count % 2 == 0 && agent_count > 4 ? 3 : 2;
    return spec;
}

struct network *network_random(uint32_t agent_count, struct tacit_rng *rng)
{
    struct tacit_graph_spec const spec = random_spec(agent_count, rng);
    return new_network(&spec, 1, rng);
}

struct network *network_random_hybrid(uint32_t agent_count, struct tacit_rng *rng)
{
    struct tacit_graph_spec specs[NETWORK_AGENTS_MAX];
    uint32_t count = 0;
    while (agent_count > 0) {
        uint32_t const size = 1 + (uint32_t)tacit_rng_below(rng, agent_count);
        specs[count++] = random_spec(size, rng);
        agent_count -= size;
    }
    return new_network(specs, count, rng);
}

void network_free(struct network *network)
{
    if (network == NULL)
        return;
    testing_free(network->memory);
    testing_free(network);
}

struct tacit_elim_network network_for_sim(const struct network *network,
                                          enum tacit_elim_collection collection)
{
    return (struct tacit_elim_network){.collection = collection,
                                       .graph = &network->graph,
                                       .label = network->label,
                                       .components = network->components,
                                       .component_count = network->component_count,
                                       .parent = network->parent,
                                       .diameter = network->diameter};
}

/* ---- Signed rows ---- */

static bool sign(void *context, uint32_t agent, const uint8_t digest[TACIT_SHA256_BYTES],
                 uint8_t signature[TACIT_SIGNATURE_BYTES])
{
    uint8_t const key[TACIT_SHA256_BYTES] = {(uint8_t)(agent + 1), 77};
    struct tacit_hmac hmac = tacit_hmac_init(key);
    memset(signature, 0, TACIT_SIGNATURE_BYTES);
    tacit_hmac_update(&hmac, digest, TACIT_SHA256_BYTES);
    tacit_hmac_final(&hmac, signature);
    return true;
}

static bool check(void *context, uint32_t agent, const uint8_t digest[TACIT_SHA256_BYTES],
                  const uint8_t signature[TACIT_SIGNATURE_BYTES])
{
    uint8_t ours[TACIT_SIGNATURE_BYTES];
    return sign(context, agent, digest, ours) && memcmp(ours, signature, sizeof ours) == 0;
}

const struct tacit_row_signer network_signer = {NULL, sign, check};
