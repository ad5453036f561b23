/* The announcement of a run as protobuf (tacit.proto). */
#include <stdlib.h>
#include <string.h>
#include "tacit/wire.h"
#include "tacit.pb-c.h"

#define SITE_CHARACTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"

/* ---- Encoding ---- */

static size_t members_bytes(const struct tacit_wire_announcement *announcement)
{
    bool const is_given = announcement->network != NULL && announcement->network->members != NULL;
    return is_given ? TACIT_BITS_WORDS(announcement->agent_count) * sizeof(uint64_t) : 0;
}

/* The parts of a network as protobuf-c wants them, in one block. */
struct network_parts {
    Tacit__V1__Network network;
    uint8_t *members;
    Tacit__V1__Neighbour **pointers;
    Tacit__V1__Neighbour *neighbours;
};

static struct network_parts *make_parts(const struct tacit_wire_announcement *announcement)
{
    struct tacit_wire_network const *const network = announcement->network;
    size_t const count = network->neighbour_count;
    size_t const set = members_bytes(announcement);
    struct network_parts *const parts =
        malloc(sizeof *parts + count * (sizeof *parts->pointers + sizeof *parts->neighbours) + set);
    if (parts == NULL)
        return NULL;
    parts->pointers = (Tacit__V1__Neighbour **)(parts + 1);
    parts->neighbours = (Tacit__V1__Neighbour *)(parts->pointers + count);
    parts->members = (uint8_t *)(parts->neighbours + count);
    tacit__v1__network__init(&parts->network);
    parts->network.collection = network->collection == TACIT_ELIM_GATHER ? 1 : 0;
    parts->network.parent = network->parent;
    parts->network.round_limit = network->round_limit;
    parts->network.gap = network->gap;
    parts->network.gather_timeout_s = network->gather_timeout_s;
    parts->network.has_members = set > 0;
    parts->network.members = (ProtobufCBinaryData){set, parts->members};
    for (size_t i = 0; i < set; i++)
        parts->members[i] = (uint8_t)(network->members[i / 8] >> (8 * (i % 8)));
    parts->network.n_neighbours = count;
    parts->network.neighbours = parts->pointers;
    for (size_t i = 0; i < count; i++) {
        parts->pointers[i] = &parts->neighbours[i];
        tacit__v1__neighbour__init(&parts->neighbours[i]);
        parts->neighbours[i].agent = network->neighbours[i].agent;
        parts->neighbours[i].site = (char *)(uintptr_t)network->neighbours[i].site;
    }
    return parts;
}

static Tacit__V1__Announcement head_of(const struct tacit_wire_announcement *announcement)
{
    Tacit__V1__Announcement message = TACIT__V1__ANNOUNCEMENT__INIT;
    message.version = TACIT_WIRE_VERSION;
    message.run_id = announcement->run_id;
    message.agent = announcement->agent;
    message.agent_count = announcement->agent_count;
    message.arm_count = announcement->arm_count;
    message.horizon = announcement->horizon;
    message.epsilon_nano = announcement->epsilon_nano;
    return message;
}

static size_t varint_bytes(size_t value)
{
    size_t bytes = 1;
    for (; value >= 128; value >>= 7)
        bytes++;
    return bytes;
}

/* Tag, length, content of a field whose number is below 16. */
static size_t field_bytes(size_t content)
{
    return 1 + varint_bytes(content) + content;
}

size_t tacit_wire_announcement_bytes(const struct tacit_wire_announcement *announcement)
{
    struct tacit_wire_network const *const network = announcement->network;
    if (network == NULL)
        return TACIT_WIRE_ANNOUNCEMENT_BYTES;
    size_t const set = members_bytes(announcement);
    size_t bytes = 4 * (1 + 4) + (1 + 8) + (set > 0 ? field_bytes(set) : 0);
    for (uint32_t i = 0; i < network->neighbour_count; i++)
        bytes += field_bytes((1 + 4) + field_bytes(strlen(network->neighbours[i].site)));
    return TACIT_WIRE_ANNOUNCEMENT_BYTES + field_bytes(bytes);
}

enum tacit_status tacit_wire_announcement_encode(const struct tacit_wire_announcement *announcement,
                                                 uint8_t *bytes)
{
    Tacit__V1__Announcement message = head_of(announcement);
    struct network_parts *parts = NULL;
    if (announcement->network != NULL) {
        parts = make_parts(announcement);
        if (parts == NULL)
            return TACIT_MEMORY;
        message.network = &parts->network;
    }
    size_t const written = tacit__v1__announcement__pack(&message, bytes);
    TACIT_ASSERT(written == tacit_wire_announcement_bytes(announcement));
    free(parts);
    return TACIT_OK;
}

/* ---- Decoding ---- */

static bool is_possible(const Tacit__V1__Announcement *message)
{
    return message->version == TACIT_WIRE_VERSION && message->agent_count >= 1 &&
           message->agent_count <= TACIT_AGENTS_MAX && message->agent < message->agent_count &&
           message->arm_count >= 1 && message->arm_count <= TACIT_ARMS_MAX &&
           message->horizon >= 1 && message->horizon <= TACIT_HORIZON_MAX &&
           message->epsilon_nano > 0;
}

static bool neighbours_are_possible(const Tacit__V1__Announcement *message)
{
    Tacit__V1__Network const *const network = message->network;
    bool has_parent = network->collection == 0 || network->parent == message->agent;
    for (size_t i = 0; i < network->n_neighbours; i++) {
        Tacit__V1__Neighbour const *const neighbour = network->neighbours[i];
        size_t const length = strlen(neighbour->site);
        if (neighbour->agent >= message->agent_count || neighbour->agent == message->agent ||
            (i > 0 && neighbour->agent <= network->neighbours[i - 1]->agent) || length == 0 ||
            length > TACIT_WIRE_SITE_BYTES_MAX ||
            strspn(neighbour->site, SITE_CHARACTERS) != length)
            return false;
        has_parent = has_parent || neighbour->agent == network->parent;
    }
    return has_parent;
}

static bool members_are_possible(const Tacit__V1__Announcement *message)
{
    ProtobufCBinaryData const members = message->network->members;
    uint32_t const count = message->agent_count;
    if (!message->network->has_members)
        return true;
    if (members.len != TACIT_BITS_WORDS(count) * sizeof(uint64_t))
        return false;
    for (size_t bit = count; bit < 8 * members.len; bit++)
        if ((members.data[bit / 8] >> (bit % 8) & 1) != 0)
            return false;
    return (members.data[message->agent / 8] >> (message->agent % 8) & 1) != 0;
}

static bool network_is_possible(const Tacit__V1__Announcement *message)
{
    Tacit__V1__Network const *const network = message->network;
    return network->collection <= 1 && network->round_limit < TACIT_ELIM_EPOCHS_MAX &&
           network->gap > 0 && network->gap <= 1 && neighbours_are_possible(message) &&
           members_are_possible(message);
}

static struct tacit_wire_network *copy_network(const Tacit__V1__Announcement *message)
{
    Tacit__V1__Network const *const from = message->network;
    size_t const words = from->has_members ? TACIT_BITS_WORDS(message->agent_count) : 0;
    size_t names = 0;
    for (size_t i = 0; i < from->n_neighbours; i++)
        names += strlen(from->neighbours[i]->site) + 1;
    struct tacit_wire_network *const network =
        calloc(1, sizeof *network + words * sizeof(uint64_t) +
                      from->n_neighbours * sizeof(struct tacit_wire_neighbour) + names);
    if (network == NULL)
        return NULL;
    uint64_t *const members = (uint64_t *)(network + 1);
    struct tacit_wire_neighbour *const neighbours =
        (struct tacit_wire_neighbour *)(void *)(members + words);
    char *name = (char *)(neighbours + from->n_neighbours);
    for (size_t i = 0; i < (from->has_members ? from->members.len : 0); i++)
        members[i / 8] |= (uint64_t)from->members.data[i] << (8 * (i % 8));
    for (size_t i = 0; i < from->n_neighbours; i++) {
        size_t const size = strlen(from->neighbours[i]->site) + 1;
        neighbours[i] = (struct tacit_wire_neighbour){from->neighbours[i]->agent, name};
        memcpy(name, from->neighbours[i]->site, size);
        name += size;
    }
    network->collection = from->collection == 1 ? TACIT_ELIM_GATHER : TACIT_ELIM_SPREAD;
    network->parent = from->parent;
    network->members = from->has_members ? members : NULL;
    network->neighbour_count = (uint32_t)from->n_neighbours;
    network->neighbours = neighbours;
    network->round_limit = from->round_limit;
    network->gap = from->gap;
    network->gather_timeout_s = from->gather_timeout_s;
    return network;
}

/* The right length may still hold fields in another order, or more than once. */
static enum tacit_status check_form(const struct tacit_wire_announcement *announcement,
                                    const uint8_t *bytes, size_t size)
{
    if (tacit_wire_announcement_bytes(announcement) != size)
        return TACIT_MALFORMED;
    uint8_t *const ours = malloc(size);
    if (ours == NULL)
        return TACIT_MEMORY;
    enum tacit_status status = tacit_wire_announcement_encode(announcement, ours);
    if (status == TACIT_OK && memcmp(ours, bytes, size) != 0)
        status = TACIT_MALFORMED;
    free(ours);
    return status;
}

static enum tacit_status take(const Tacit__V1__Announcement *message, const uint8_t *bytes,
                              size_t size, struct tacit_wire_announcement *announcement)
{
    struct tacit_wire_network *network = NULL;
    if (!is_possible(message) || (message->network != NULL && !network_is_possible(message)))
        return TACIT_MALFORMED;
    if (message->network != NULL && (network = copy_network(message)) == NULL)
        return TACIT_MEMORY;
    struct tacit_wire_announcement const found = {.run_id = message->run_id,
                                                  .agent = message->agent,
                                                  .agent_count = message->agent_count,
                                                  .arm_count = message->arm_count,
                                                  .horizon = message->horizon,
                                                  .epsilon_nano = message->epsilon_nano,
                                                  .network = network};
    enum tacit_status const status = check_form(&found, bytes, size);
    if (status == TACIT_OK)
        *announcement = found;
    else
        free(network);
    return status;
}

enum tacit_status tacit_wire_announcement_decode(const uint8_t *bytes, size_t size,
                                                 struct tacit_wire_announcement *announcement)
{
    if (size < TACIT_WIRE_ANNOUNCEMENT_BYTES || size > TACIT_WIRE_BYTES_MAX)
        return TACIT_MALFORMED;
    Tacit__V1__Announcement *const message = tacit__v1__announcement__unpack(NULL, size, bytes);
    if (message == NULL)
        return TACIT_MALFORMED;
    enum tacit_status const status = take(message, bytes, size, announcement);
    tacit__v1__announcement__free_unpacked(message, NULL);
    return status;
}
