/* From the topology, as data, to what each site is told of it. */
#include "invitation.h"
#include "../../live/bus/letter.h"
#include "core.h"
#include "place.h"
#include "settings.h"
#include <stdlib.h>
#include <string.h>

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

/* Everything but the place among neighbours. */
static struct tacit_wire_elim_run run_of(const struct live_hub_config *config,
                                         uint64_t epsilon_nano, uint32_t site)
{
    struct elim_hub_settings const *const settings = elim_hub_settings(config);
    return (struct tacit_wire_elim_run){.run_id = config->run_id,
                                        .agent = site,
                                        .agent_count = config->site_count,
                                        .arm_count = config->arm_count,
                                        .horizon = config->horizon,
                                        .epsilon_nano = epsilon_nano,
                                        .report_count = settings->report_count,
                                        .round_limit = settings->round_limit,
                                        .gap = settings->gap,
                                        .growth = settings->growth,
                                        .confidence = settings->confidence};
}

/* What all sites of a network have in common. Requires: there is one. */
static struct tacit_wire_elim_network network_of(const struct live_hub_config *config)
{
    enum tacit_elim_collection const collection = elim_hub_settings(config)->network->collection;
    return (struct tacit_wire_elim_network){
        .collection = collection,
        .gather_timeout_s = collection == TACIT_ELIM_GATHER ? gather_timeout_s(config) : 0};
}

/* What all sites must agree on; it points into config and `parameters`. */
static struct tacit_wire_agreement
agreement_of(const struct live_hub_config *config, const struct tacit_wire_elim_run *run,
             uint8_t parameters[TACIT_WIRE_ELIM_PARAMETERS_BYTES])
{
    struct tacit_wire_agreement agreement = {.protocol = TACIT_WIRE_ELIM_WORD,
                                             .family = TACIT_WIRE_ELIM_FAMILY,
                                             .protocol_version = TACIT_WIRE_ELIM_VERSION,
                                             .agent_count = config->site_count,
                                             .arm_count = config->arm_count,
                                             .arms = config->arm_names,
                                             .lo = config->lo,
                                             .hi = config->hi,
                                             .horizon = config->horizon,
                                             .epsilon_nano = run->epsilon_nano,
                                             .parameters = parameters,
                                             .parameters_size = TACIT_WIRE_ELIM_PARAMETERS_BYTES};
    live_hub_run(config, agreement.run);
    tacit_wire_elim_parameters_encode(run, parameters);
    return agreement;
}

/* The announcement with this place. */
static uint8_t *encode(const struct live_hub_config *config, const struct tacit_wire_elim_run *run,
                       size_t *size)
{
    uint8_t parameters[TACIT_WIRE_ELIM_PARAMETERS_BYTES];
    size_t const place_size = tacit_wire_elim_place_bytes(run);
    uint8_t *const place = malloc(place_size + 1);
    struct tacit_wire_announcement const announcement = {.agreement =
                                                             agreement_of(config, run, parameters),
                                                         .agent = run->agent,
                                                         .place = place,
                                                         .place_size = place_size};
    *size = tacit_wire_announcement_bytes(&announcement);
    uint8_t *bytes = malloc(*size);
    if (place == NULL || bytes == NULL || tacit_wire_elim_place_encode(run, place) != TACIT_OK ||
        tacit_wire_announcement_encode(&announcement, bytes) != TACIT_OK) {
        free(bytes);
        bytes = NULL;
    }
    free(place);
    return bytes;
}

static uint8_t *encode_peer(const struct live_hub_config *config, struct tacit_wire_elim_run *run,
                            size_t *size)
{
    struct tacit_elim_network const *const topology = elim_hub_settings(config)->network;
    struct elim_place const place = elim_place_of(topology, run->agent);
    uint32_t const degree = place.neighbour_count;
    uint64_t *const members = place.has_members ? members_of(config, place.component) : NULL;
    struct tacit_wire_elim_neighbour *const neighbours = calloc(degree + 1u, sizeof *neighbours);
    uint8_t *bytes = NULL;
    if (neighbours != NULL && (members != NULL || !place.has_members)) {
        for (uint32_t i = 0; i < degree; i++) {
            uint32_t const other = place.neighbours[i];
            neighbours[i] = (struct tacit_wire_elim_neighbour){other, config->sites[other]};
        }
        struct tacit_wire_elim_network network = network_of(config);
        network.parent = place.parent;
        network.members = members;
        network.neighbour_count = degree;
        network.neighbours = neighbours;
        if (network.collection == TACIT_ELIM_SPREAD)
            network.sites = config->sites;
        run->network = &network;
        bytes = encode(config, run, size);
        run->network = NULL;
    }
    free(neighbours);
    free(members);
    return bytes;
}

uint8_t *elim_invitation(const struct live_hub_config *config, uint64_t epsilon_nano, uint32_t site,
                         size_t *size)
{
    struct tacit_wire_elim_run run = run_of(config, epsilon_nano, site);
    return elim_hub_settings(config)->network == NULL ? encode(config, &run, size)
                                                      : encode_peer(config, &run, size);
}

enum tacit_status elim_invitation_domain(const struct live_hub_config *config,
                                         uint64_t epsilon_nano, uint8_t domain[TACIT_SHA256_BYTES])
{
    struct tacit_wire_elim_run run = run_of(config, epsilon_nano, 0);
    struct tacit_wire_elim_network network;
    uint8_t parameters[TACIT_WIRE_ELIM_PARAMETERS_BYTES];
    uint8_t digest[TACIT_WIRE_DIGEST_BYTES];
    if (elim_hub_settings(config)->network != NULL) {
        network = network_of(config);
        run.network = &network;
    }
    struct tacit_wire_agreement const agreement = agreement_of(config, &run, parameters);
    enum tacit_status const status = tacit_wire_agreement_digest(&agreement, digest);
    if (status == TACIT_OK)
        tacit_commit_domain(config->federation, digest, domain);
    return status;
}

static bool order_fits(const struct live_hub_config *config)
{
    static const uint64_t anybody;
    bool const is_star = elim_hub_settings(config)->network == NULL;
    struct tacit_elim_message const order = {
        .kind = TACIT_ELIM_ORDER,
        .leader = elim_hub_settings(config)->growth > 0 ? 1 : 0,
        .change_count = is_star ? TACIT_ELIM_CHANGES_MAX : 0, /* with them, who reports */
        .uploaders = is_star || elim_hub_settings(config)->report_count < config->site_count
                         ? &anybody
                         : NULL};
    return tacit_wire_elim_bytes(&order, config->arm_count, config->site_count) <=
           LIVE_LETTER_BYTES_MAX;
}

const char *elim_too_large(const struct live_hub_config *config)
{
    static const struct tacit_wire_elim_network some;
    bool const is_star = elim_hub_settings(config)->network == NULL;
    struct tacit_wire_elim_run const run = {.agent_count = config->site_count,
                                            .arm_count = config->arm_count,
                                            .network = is_star ? NULL : &some};
    if (!elim_core_fits(&run) || !order_fits(config))
        return "arms";
    uint32_t const count = is_star ? 1 : config->site_count; /* a star: all of one length */
    for (uint32_t site = 0; site < count; site++) {
        size_t size;
        uint8_t *const bytes = elim_invitation(config, TACIT_NANO, site, &size);
        bool const is_large = bytes != NULL && size > LIVE_LETTER_BYTES_MAX;
        free(bytes);
        if (is_large)
            return is_star ? "arms" : "network";
    }
    return NULL;
}

uint32_t *elim_sink_weights(const struct live_hub_config *config)
{
    struct tacit_elim_network const *const network = elim_hub_settings(config)->network;
    uint32_t *const weights = calloc(config->site_count, sizeof *weights);
    for (uint32_t site = 0; weights != NULL && site < config->site_count; site++)
        weights[site] = elim_place_weight(network, site);
    return weights;
}
