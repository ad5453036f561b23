/* From the topology, as data, to what each site is told of it. */
#include "invitation.h"
#include "../../live/bus/bus.h"
#include "core.h"
#include "settings.h"
#include <stdlib.h>
#include <string.h>
#include "tacit/wire.h"

/* The agents of a component. NULL: out of memory. */
static uint64_t *members_of(const struct live_hub_config *config, uint32_t component)
{
    uint64_t *const members = calloc(TACIT_BITS_WORDS(config->site_count), sizeof *members);
    for (uint32_t site = 0; members != NULL && site < config->site_count; site++)
        if (elim_hub_settings(config)->network->label[site] == component)
            tacit_bits_add(members, site);
    return members;
}

/* A sink reports who is there when half of the hub's patience has gone by since its own report. It
 * reports once an epoch: where all sites make the quorum it waits for all. */
static uint32_t gather_timeout_s(const struct live_hub_config *config)
{
    if (config->quorum == config->site_count)
        return 0;
    return config->deadline_s / 2 > 0 ? config->deadline_s / 2 : 1;
}

static uint8_t *encode(const struct tacit_wire_announcement *announcement, size_t *size)
{
    *size = tacit_wire_announcement_bytes(announcement);
    uint8_t *const bytes = malloc(*size);
    if (bytes != NULL && tacit_wire_announcement_encode(announcement, bytes) == TACIT_OK)
        return bytes;
    free(bytes);
    return NULL;
}

static uint8_t *encode_peer(const struct live_hub_config *config,
                            struct tacit_wire_announcement *announcement, size_t *size)
{
    struct elim_hub_settings const *const settings = elim_hub_settings(config);
    struct tacit_elim_network const *const topology = settings->network;
    struct tacit_graph const *const graph = topology->graph;
    uint32_t const site = announcement->agent;
    uint32_t const degree = tacit_graph_degree(graph, site);
    bool const gathers = topology->collection == TACIT_ELIM_GATHER;
    bool const is_sink = topology->parent[site] == TACIT_NO_AGENT;
    bool const has_members = topology->component_count > 1 && (!gathers || is_sink);
    uint64_t *const members = has_members ? members_of(config, topology->label[site]) : NULL;
    struct tacit_wire_neighbour *const neighbours = calloc(degree + 1u, sizeof *neighbours);
    uint8_t *bytes = NULL;
    if (neighbours != NULL && (members != NULL || !has_members)) {
        for (uint32_t i = 0; i < degree; i++) {
            uint32_t const other = graph->neighbours[graph->first[site] + i];
            neighbours[i] = (struct tacit_wire_neighbour){other, config->sites[other]};
        }
        struct tacit_wire_network const network = {
            .collection = topology->collection,
            .parent = !gathers || is_sink ? site : topology->parent[site],
            .members = members,
            .neighbour_count = degree,
            .neighbours = neighbours,
            .round_limit = settings->round_limit,
            .gap = settings->gap,
            .gather_timeout_s = gathers ? gather_timeout_s(config) : 0};
        announcement->network = &network;
        bytes = encode(announcement, size);
    }
    free(neighbours);
    free(members);
    return bytes;
}

uint8_t *elim_invitation(const struct live_hub_config *config, uint64_t epsilon_nano, uint32_t site,
                         size_t *size)
{
    struct tacit_wire_announcement announcement = {.run_id = config->run_id,
                                                   .agent = site,
                                                   .agent_count = config->site_count,
                                                   .arm_count = config->arm_count,
                                                   .horizon = config->horizon,
                                                   .epsilon_nano = epsilon_nano};
    return elim_hub_settings(config)->network == NULL ? encode(&announcement, size)
                                                      : encode_peer(config, &announcement, size);
}

static bool order_fits(const struct live_hub_config *config)
{
    static const uint64_t anybody;
    struct tacit_elim_message const order = {
        .kind = TACIT_ELIM_ORDER,
        .uploaders =
            elim_hub_settings(config)->report_count < config->site_count ? &anybody : NULL};
    return tacit_wire_elim_bytes(&order, config->arm_count, config->site_count) <=
           LIVE_PAYLOAD_BYTES_MAX;
}

const char *elim_too_large(const struct live_hub_config *config)
{
    static const struct tacit_wire_network some;
    bool const is_star = elim_hub_settings(config)->network == NULL;
    struct tacit_wire_announcement const run = {.agent_count = config->site_count,
                                                .arm_count = config->arm_count,
                                                .network = is_star ? NULL : &some};
    if (!elim_core_fits(&run) || !order_fits(config))
        return "arms";
    for (uint32_t site = 0; !is_star && site < config->site_count; site++) {
        size_t size;
        uint8_t *const bytes = elim_invitation(config, TACIT_NANO, site, &size);
        bool const is_large = bytes != NULL && size > LIVE_PAYLOAD_BYTES_MAX;
        free(bytes);
        if (is_large)
            return "network";
    }
    return NULL;
}

uint32_t *elim_sink_weights(const struct live_hub_config *config)
{
    struct tacit_elim_network const *const network = elim_hub_settings(config)->network;
    uint32_t *const weights = calloc(config->site_count, sizeof *weights);
    for (uint32_t site = 0; weights != NULL && site < config->site_count; site++)
        if (network->parent[site] == TACIT_NO_AGENT)
            weights[site] = network->components[network->label[site]].agent_count;
    return weights;
}
