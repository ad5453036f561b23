/* What elimination adds to an announcement: parameters that all sites share, and the place of one
 * site among its neighbours (elim.proto). */
#include <math.h>
#include <string.h>
#include "form.h"
#include "tacit/wire_elim.h"
#include "elim.pb-c.h"

enum { NETWORK_STAR, NETWORK_SPREAD, NETWORK_GATHER }; /* elim.proto, ElimParameters.network */

/* ---- Encoding ---- */

void tacit_wire_elim_parameters_encode(const struct tacit_wire_elim_run *run,
                                       uint8_t bytes[TACIT_WIRE_ELIM_PARAMETERS_BYTES])
{
    struct tacit_wire_elim_network const *const network = run->network;
    Tacit__V2__ElimParameters message = TACIT__V2__ELIM_PARAMETERS__INIT;
    message.network = network == NULL                            ? NETWORK_STAR
                      : network->collection == TACIT_ELIM_SPREAD ? NETWORK_SPREAD
                                                                 : NETWORK_GATHER;
    message.report_count = run->report_count;
    message.round_limit = run->round_limit;
    message.gap = run->gap;
    message.gather_timeout_s = network == NULL ? 0 : network->gather_timeout_s;
    message.growth = run->growth;
    message.confidence = run->confidence;
    size_t const written = tacit__v2__elim_parameters__pack(&message, bytes);
    TACIT_ASSERT(written == TACIT_WIRE_ELIM_PARAMETERS_BYTES);
}

static size_t members_bytes(const struct tacit_wire_elim_run *run)
{
    return run->network->members != NULL ? wire_set_bytes(run->agent_count) : 0;
}

/* A place as protobuf-c wants it, in one block. */
struct place_parts {
    Tacit__V2__ElimPlace place;
    uint8_t *members;
    Tacit__V2__ElimNeighbour **pointers;
    Tacit__V2__ElimNeighbour *neighbours;
};

static struct place_parts *make_parts(const struct tacit_wire_elim_run *run,
                                      const struct tacit_wire_allocator *allocator)
{
    struct tacit_wire_elim_network const *const network = run->network;
    size_t const count = network->neighbour_count;
    size_t const set = members_bytes(run);
    size_t const sites = network->sites == NULL ? 0 : run->agent_count;
    struct place_parts *const parts = wire_take(
        allocator,
        sizeof *parts + count * (sizeof *parts->pointers + sizeof *parts->neighbours) + set);
    if (parts == NULL)
        return NULL;
    parts->pointers = (Tacit__V2__ElimNeighbour **)(parts + 1);
    parts->neighbours = (Tacit__V2__ElimNeighbour *)(parts->pointers + count);
    parts->members = (uint8_t *)(parts->neighbours + count);
    tacit__v2__elim_place__init(&parts->place);
    parts->place.parent = network->parent;
    parts->place.n_sites = sites;
    parts->place.sites = (char **)(uintptr_t)network->sites;
    parts->place.has_members = set > 0;
    parts->place.members = (ProtobufCBinaryData){set, parts->members};
    for (size_t i = 0; i < set; i++)
        parts->members[i] = (uint8_t)(network->members[i / 8] >> (8 * (i % 8)));
    parts->place.n_neighbours = count;
    parts->place.neighbours = parts->pointers;
    for (size_t i = 0; i < count; i++) {
        parts->pointers[i] = &parts->neighbours[i];
        tacit__v2__elim_neighbour__init(&parts->neighbours[i]);
        parts->neighbours[i].agent = network->neighbours[i].agent;
        parts->neighbours[i].site = (char *)(uintptr_t)network->neighbours[i].site;
    }
    return parts;
}

size_t tacit_wire_elim_place_bytes(const struct tacit_wire_elim_run *run)
{
    struct tacit_wire_elim_network const *const network = run->network;
    if (network == NULL)
        return 0;
    size_t const set = members_bytes(run);
    size_t bytes = WIRE_FIXED32 + (set > 0 ? wire_field_bytes(set) : 0);
    for (uint32_t i = 0; i < network->neighbour_count; i++)
        bytes +=
            wire_field_bytes(WIRE_FIXED32 + wire_field_bytes(strlen(network->neighbours[i].site)));
    for (uint32_t i = 0; network->sites != NULL && i < run->agent_count; i++)
        bytes += wire_field_bytes(strlen(network->sites[i]));
    return bytes;
}

enum tacit_status tacit_wire_elim_place_encode_with(const struct tacit_wire_elim_run *run,
                                                    uint8_t *bytes,
                                                    const struct tacit_wire_allocator *allocator)
{
    if (run->network == NULL)
        return TACIT_OK;
    struct place_parts *const parts = make_parts(run, allocator);
    if (parts == NULL)
        return TACIT_MEMORY;
    size_t const written = tacit__v2__elim_place__pack(&parts->place, bytes);
    TACIT_ASSERT(written == tacit_wire_elim_place_bytes(run));
    wire_give(allocator, parts);
    return TACIT_OK;
}

/* ---- Decoding: parameters ---- */

/* The paper's bounds, or exact ones: everybody reports, and there is no round limit. */
static bool bounds_are_possible(const Tacit__V2__ElimParameters *message)
{
    bool const has_confidence = message->confidence >= 0.5 && message->confidence < 1;
    bool const has_none =
        message->confidence >= 0 && message->confidence <= 0 && !signbit(message->confidence);
    if (message->growth >= 0 && message->growth <= 0)
        return has_none && !signbit(message->growth);
    return message->growth > 1 && message->growth <= 4 && (has_confidence || has_none) &&
           message->round_limit == 0;
}

static bool parameters_are_possible(const Tacit__V2__ElimParameters *message,
                                    const struct tacit_wire_announcement *announcement)
{
    return message->network <= NETWORK_GATHER && message->report_count >= 1 &&
           message->report_count <= announcement->agreement.agent_count &&
           message->round_limit < TACIT_ELIM_EPOCHS_MAX && message->gap > 0 && message->gap <= 1 &&
           (message->network != NETWORK_STAR || message->gather_timeout_s == 0) &&
           bounds_are_possible(message);
}

/* Ensures: *run has all but its network; of that only what is in the parameters, in *network. */
static enum tacit_status take_parameters(const struct tacit_wire_announcement *announcement,
                                         struct tacit_wire_elim_run *run,
                                         struct tacit_wire_elim_network *network)
{
    uint64_t room[64];
    struct tacit_wire_arena arena;
    ProtobufCAllocator protobuf = wire_on_stack(&arena, room, sizeof room);
    struct tacit_wire_agreement const *const agreement = &announcement->agreement;
    uint8_t ours[TACIT_WIRE_ELIM_PARAMETERS_BYTES];
    if (agreement->parameters_size != sizeof ours)
        return TACIT_MALFORMED;
    Tacit__V2__ElimParameters *const message = tacit__v2__elim_parameters__unpack(
        &protobuf, agreement->parameters_size, agreement->parameters);
    if (message == NULL)
        return TACIT_MALFORMED;
    bool const is_star = message->network == NETWORK_STAR;
    *network = (struct tacit_wire_elim_network){
        .collection = message->network == NETWORK_GATHER ? TACIT_ELIM_GATHER : TACIT_ELIM_SPREAD,
        .gather_timeout_s = message->gather_timeout_s};
    *run = (struct tacit_wire_elim_run){.run_id = tacit_wire_run_id(agreement->run),
                                        .agent = announcement->agent,
                                        .agent_count = agreement->agent_count,
                                        .arm_count = agreement->arm_count,
                                        .horizon = agreement->horizon,
                                        .epsilon_nano = agreement->epsilon_nano,
                                        .report_count = message->report_count,
                                        .round_limit = message->round_limit,
                                        .gap = message->gap,
                                        .growth = message->growth,
                                        .confidence = message->confidence,
                                        .network = is_star ? NULL : network};
    bool is_good = parameters_are_possible(message, announcement);
    tacit__v2__elim_parameters__free_unpacked(message, &protobuf);
    if (is_good) { /* fields in another order are another form */
        tacit_wire_elim_parameters_encode(run, ours);
        is_good = memcmp(ours, agreement->parameters, sizeof ours) == 0;
    }
    return is_good ? TACIT_OK : TACIT_MALFORMED;
}

/* ---- Decoding: the place ---- */

static bool neighbours_are_possible(const Tacit__V2__ElimPlace *place,
                                    const struct tacit_wire_elim_run *run)
{
    bool has_parent = run->network->collection == TACIT_ELIM_SPREAD || place->parent == run->agent;
    for (size_t i = 0; i < place->n_neighbours; i++) {
        Tacit__V2__ElimNeighbour const *const neighbour = place->neighbours[i];
        if (neighbour->agent >= run->agent_count || neighbour->agent == run->agent ||
            (i > 0 && neighbour->agent <= place->neighbours[i - 1]->agent) ||
            !wire_is_name(neighbour->site))
            return false;
        has_parent = has_parent || neighbour->agent == place->parent;
    }
    return has_parent;
}

/* Names of all, or of nobody; those of the neighbours among them. */
static bool sites_are_possible(const Tacit__V2__ElimPlace *place,
                               const struct tacit_wire_elim_run *run)
{
    bool const spreads = run->network->collection == TACIT_ELIM_SPREAD;
    if (place->n_sites != 0 && (!spreads || place->n_sites != run->agent_count))
        return false;
    for (size_t i = 0; i < place->n_sites; i++)
        if (!wire_is_name(place->sites[i]))
            return false;
    for (size_t i = 0; i < place->n_neighbours && place->n_sites > 0; i++)
        if (strcmp(place->sites[place->neighbours[i]->agent], place->neighbours[i]->site) != 0)
            return false;
    return true;
}

static bool members_are_possible(const Tacit__V2__ElimPlace *place,
                                 const struct tacit_wire_elim_run *run)
{
    ProtobufCBinaryData const members = place->members;
    if (!place->has_members)
        return true;
    if (members.len != wire_set_bytes(run->agent_count))
        return false;
    for (size_t bit = run->agent_count; bit < 8 * members.len; bit++)
        if ((members.data[bit / 8] >> (bit % 8) & 1) != 0)
            return false;
    return (members.data[run->agent / 8] >> (run->agent % 8) & 1) != 0;
}

static struct tacit_wire_elim_network *copy_network(const Tacit__V2__ElimPlace *from,
                                                    const struct tacit_wire_elim_run *run,
                                                    const struct tacit_wire_allocator *allocator)
{
    size_t const words = from->has_members ? TACIT_BITS_WORDS(run->agent_count) : 0;
    const char **network_sites = NULL;
    size_t names = 0;
    for (size_t i = 0; i < from->n_neighbours; i++)
        names += strlen(from->neighbours[i]->site) + 1;
    for (size_t i = 0; i < from->n_sites; i++)
        names += sizeof *network_sites + strlen(from->sites[i]) + 1;
    struct tacit_wire_elim_network *const network =
        wire_take_zeros(allocator, sizeof *network + words * sizeof(uint64_t) +
                                       from->n_neighbours * sizeof *network->neighbours + names);
    if (network == NULL)
        return NULL;
    uint64_t *const members = (uint64_t *)(network + 1);
    struct tacit_wire_neighbour *const neighbours =
        (struct tacit_wire_neighbour *)(void *)(members + words);
    network_sites = (const char **)(void *)(neighbours + from->n_neighbours);
    char *name = (char *)(network_sites + from->n_sites);
    for (size_t i = 0; i < (from->has_members ? from->members.len : 0); i++)
        members[i / 8] |= (uint64_t)from->members.data[i] << (8 * (i % 8));
    for (size_t i = 0; i < from->n_neighbours; i++) {
        size_t const size = strlen(from->neighbours[i]->site) + 1;
        neighbours[i] = (struct tacit_wire_neighbour){from->neighbours[i]->agent, name};
        memcpy(name, from->neighbours[i]->site, size);
        name += size;
    }
    for (size_t i = 0; i < from->n_sites; i++) {
        network_sites[i] = name;
        size_t const size = strlen(from->sites[i]) + 1;
        memcpy(name, from->sites[i], size);
        name += size;
    }
    *network = *run->network;
    network->parent = from->parent;
    network->members = from->has_members ? members : NULL;
    network->neighbour_count = (uint32_t)from->n_neighbours;
    network->neighbours = neighbours;
    network->sites = from->n_sites > 0 ? network_sites : NULL;
    return network;
}

/* The right length may still hold fields in another order, or more than once. */
static enum tacit_status check_form(const struct tacit_wire_elim_run *run, const uint8_t *bytes,
                                    size_t size, const struct tacit_wire_allocator *allocator)
{
    if (tacit_wire_elim_place_bytes(run) != size)
        return TACIT_MALFORMED;
    uint8_t *const ours = wire_take(allocator, size);
    if (ours == NULL)
        return TACIT_MEMORY;
    enum tacit_status status = tacit_wire_elim_place_encode_with(run, ours, allocator);
    if (status == TACIT_OK && memcmp(ours, bytes, size) != 0)
        status = TACIT_MALFORMED;
    wire_give(allocator, ours);
    return status;
}

/* run->network is what the parameters said; on TACIT_OK it is a block of its own. */
static enum tacit_status take_place(const uint8_t *bytes, size_t size,
                                    struct tacit_wire_elim_run *run,
                                    const struct tacit_wire_allocator *allocator)
{
    ProtobufCAllocator protobuf = wire_protobuf(allocator);
    struct tacit_wire_elim_network *network = NULL;
    enum tacit_status status = TACIT_MALFORMED;
    Tacit__V2__ElimPlace *const place = tacit__v2__elim_place__unpack(&protobuf, size, bytes);
    if (place == NULL)
        return TACIT_MALFORMED;
    if (neighbours_are_possible(place, run) && members_are_possible(place, run) &&
        sites_are_possible(place, run)) {
        network = copy_network(place, run, allocator);
        status = network == NULL ? TACIT_MEMORY : TACIT_OK;
    }
    tacit__v2__elim_place__free_unpacked(place, &protobuf);
    if (status != TACIT_OK)
        return status;
    run->network = network;
    status = check_form(run, bytes, size, allocator);
    if (status != TACIT_OK)
        wire_give(allocator, network);
    return status;
}

static bool is_of_this_family(const struct tacit_wire_agreement *agreement)
{
    return strcmp(agreement->protocol, TACIT_WIRE_ELIM_WORD) == 0 &&
           agreement->family == TACIT_WIRE_ELIM_FAMILY &&
           agreement->protocol_version == TACIT_WIRE_ELIM_VERSION && agreement->epsilon_nano > 0;
}

enum tacit_status
tacit_wire_elim_run_decode_with(const struct tacit_wire_announcement *announcement,
                                struct tacit_wire_elim_run *run,
                                const struct tacit_wire_allocator *allocator)
{
    struct tacit_wire_elim_network network;
    struct tacit_wire_elim_run found;
    if (!is_of_this_family(&announcement->agreement))
        return TACIT_MALFORMED;
    enum tacit_status status = take_parameters(announcement, &found, &network);
    if (status != TACIT_OK)
        return status;
    if (found.network == NULL)
        status = announcement->place_size == 0 ? TACIT_OK : TACIT_MALFORMED;
    else
        status = take_place(announcement->place, announcement->place_size, &found, allocator);
    if (status == TACIT_OK)
        *run = found;
    return status;
}
