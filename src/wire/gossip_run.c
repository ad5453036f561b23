/* What gossip UCB adds to an announcement: parameters that all sites share, and the neighbours of
 * one site (gossip.proto). */
#include <string.h>
#include "form.h"
#include "tacit/wire_gossip.h"
#include "gossip.pb-c.h"

#define EXCHANGE_US_MAX (UINT64_C(1) << 56)

/* ---- Encoding ---- */

void tacit_wire_gossip_parameters_encode(const struct tacit_wire_gossip_run *run,
                                         uint8_t bytes[TACIT_WIRE_GOSSIP_PARAMETERS_BYTES])
{
    Tacit__V2__GossipParameters message = TACIT__V2__GOSSIP_PARAMETERS__INIT;
    message.exchange_us = run->exchange_us;
    message.pull_us = run->pull_us;
    message.log_base_10 = run->log_base_10 ? 1 : 0;
    size_t const written = tacit__v2__gossip_parameters__pack(&message, bytes);
    TACIT_ASSERT(written == TACIT_WIRE_GOSSIP_PARAMETERS_BYTES);
}

size_t tacit_wire_gossip_place_bytes(const struct tacit_wire_gossip_run *run)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < run->neighbour_count; i++)
        bytes += wire_field_bytes(WIRE_FIXED32 + wire_field_bytes(strlen(run->neighbours[i].site)));
    return bytes;
}

enum tacit_status tacit_wire_gossip_place_encode_with(const struct tacit_wire_gossip_run *run,
                                                      uint8_t *bytes,
                                                      const struct tacit_wire_allocator *allocator)
{
    size_t const count = run->neighbour_count;
    Tacit__V2__GossipPlace place = TACIT__V2__GOSSIP_PLACE__INIT;
    Tacit__V2__GossipNeighbour **const pointers =
        wire_take(allocator, (count + 1) * (sizeof *pointers + sizeof **pointers));
    if (pointers == NULL)
        return TACIT_MEMORY;
    Tacit__V2__GossipNeighbour *const parts =
        (Tacit__V2__GossipNeighbour *)(void *)(pointers + count + 1);
    for (size_t i = 0; i < count; i++) {
        pointers[i] = &parts[i];
        tacit__v2__gossip_neighbour__init(&parts[i]);
        parts[i].agent = run->neighbours[i].agent;
        parts[i].site = (char *)(uintptr_t)run->neighbours[i].site;
    }
    place.n_neighbours = count;
    place.neighbours = pointers;
    size_t const written = tacit__v2__gossip_place__pack(&place, bytes);
    TACIT_ASSERT(written == tacit_wire_gossip_place_bytes(run));
    wire_give(allocator, pointers);
    return TACIT_OK;
}

/* ---- Decoding ---- */

/* Ensures: *run has all but its neighbours. */
static enum tacit_status take_parameters(const struct tacit_wire_announcement *announcement,
                                         struct tacit_wire_gossip_run *run)
{
    uint64_t room[64];
    struct tacit_wire_arena arena;
    ProtobufCAllocator protobuf = wire_on_stack(&arena, room, sizeof room);
    struct tacit_wire_agreement const *const agreement = &announcement->agreement;
    uint8_t ours[TACIT_WIRE_GOSSIP_PARAMETERS_BYTES];
    if (agreement->parameters_size != sizeof ours)
        return TACIT_MALFORMED;
    Tacit__V2__GossipParameters *const message = tacit__v2__gossip_parameters__unpack(
        &protobuf, agreement->parameters_size, agreement->parameters);
    if (message == NULL)
        return TACIT_MALFORMED;
    *run = (struct tacit_wire_gossip_run){.run_id = tacit_wire_run_id(agreement->run),
                                          .agent = announcement->agent,
                                          .agent_count = agreement->agent_count,
                                          .arm_count = agreement->arm_count,
                                          .horizon = agreement->horizon,
                                          .epsilon_nano = agreement->epsilon_nano,
                                          .exchange_us = message->exchange_us,
                                          .pull_us = message->pull_us,
                                          .log_base_10 = message->log_base_10 == 1};
    bool const is_good = message->exchange_us > 0 && message->exchange_us <= EXCHANGE_US_MAX;
    tacit__v2__gossip_parameters__free_unpacked(message, &protobuf);
    tacit_wire_gossip_parameters_encode(run, ours); /* another order, another base: another form */
    return is_good && memcmp(ours, agreement->parameters, sizeof ours) == 0 ? TACIT_OK
                                                                            : TACIT_MALFORMED;
}

static bool neighbours_are_possible(const Tacit__V2__GossipPlace *place,
                                    const struct tacit_wire_gossip_run *run)
{
    if (place->n_neighbours == 0 || place->n_neighbours >= run->agent_count)
        return false;
    for (size_t i = 0; i < place->n_neighbours; i++) {
        Tacit__V2__GossipNeighbour const *const neighbour = place->neighbours[i];
        if (neighbour->agent >= run->agent_count || neighbour->agent == run->agent ||
            (i > 0 && neighbour->agent <= place->neighbours[i - 1]->agent) ||
            !wire_is_name(neighbour->site))
            return false;
    }
    return true;
}

/* In one block. NULL: memory. */
static struct tacit_wire_neighbour *copy_neighbours(const Tacit__V2__GossipPlace *from,
                                                    const struct tacit_wire_allocator *allocator)
{
    size_t names = 0;
    for (size_t i = 0; i < from->n_neighbours; i++)
        names += strlen(from->neighbours[i]->site) + 1;
    struct tacit_wire_neighbour *const neighbours =
        wire_take(allocator, from->n_neighbours * sizeof *neighbours + names);
    if (neighbours == NULL)
        return NULL;
    char *name = (char *)(neighbours + from->n_neighbours);
    for (size_t i = 0; i < from->n_neighbours; i++) {
        size_t const size = strlen(from->neighbours[i]->site) + 1;
        neighbours[i] = (struct tacit_wire_neighbour){from->neighbours[i]->agent, name};
        memcpy(name, from->neighbours[i]->site, size);
        name += size;
    }
    return neighbours;
}

/* The right length may still hold fields in another order, or more than once. */
static enum tacit_status check_form(const struct tacit_wire_gossip_run *run, const uint8_t *bytes,
                                    size_t size, const struct tacit_wire_allocator *allocator)
{
    if (tacit_wire_gossip_place_bytes(run) != size)
        return TACIT_MALFORMED;
    uint8_t *const ours = wire_take(allocator, size);
    if (ours == NULL)
        return TACIT_MEMORY;
    enum tacit_status status = tacit_wire_gossip_place_encode_with(run, ours, allocator);
    if (status == TACIT_OK && memcmp(ours, bytes, size) != 0)
        status = TACIT_MALFORMED;
    wire_give(allocator, ours);
    return status;
}

static enum tacit_status take_place(const uint8_t *bytes, size_t size,
                                    struct tacit_wire_gossip_run *run,
                                    const struct tacit_wire_allocator *allocator)
{
    ProtobufCAllocator protobuf = wire_protobuf(allocator);
    struct tacit_wire_neighbour *neighbours = NULL;
    enum tacit_status status = TACIT_MALFORMED;
    Tacit__V2__GossipPlace *const place = tacit__v2__gossip_place__unpack(&protobuf, size, bytes);
    if (place == NULL)
        return TACIT_MALFORMED;
    if (neighbours_are_possible(place, run)) {
        neighbours = copy_neighbours(place, allocator);
        run->neighbour_count = (uint32_t)place->n_neighbours;
        status = neighbours == NULL ? TACIT_MEMORY : TACIT_OK;
    }
    tacit__v2__gossip_place__free_unpacked(place, &protobuf);
    if (status != TACIT_OK)
        return status;
    run->neighbours = neighbours;
    status = check_form(run, bytes, size, allocator);
    if (status != TACIT_OK)
        wire_give(allocator, neighbours);
    return status;
}

enum tacit_status
tacit_wire_gossip_run_decode_with(const struct tacit_wire_announcement *announcement,
                                  struct tacit_wire_gossip_run *run,
                                  const struct tacit_wire_allocator *allocator)
{
    struct tacit_wire_agreement const *const agreement = &announcement->agreement;
    struct tacit_wire_gossip_run found;
    if (strcmp(agreement->protocol, TACIT_WIRE_GOSSIP_WORD) != 0 ||
        agreement->family != TACIT_WIRE_GOSSIP_FAMILY ||
        agreement->protocol_version != TACIT_WIRE_GOSSIP_VERSION || agreement->epsilon_nano == 0)
        return TACIT_MALFORMED;
    enum tacit_status status = take_parameters(announcement, &found);
    if (status == TACIT_OK)
        status = take_place(announcement->place, announcement->place_size, &found, allocator);
    if (status == TACIT_OK)
        *run = found;
    return status;
}
