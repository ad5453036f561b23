/* What elimination adds to an announcement: parameters that all sites share, and the place of one
 * site among its neighbours (elim.proto). */
#include <math.h>
#include <string.h>
#include "form.h"
#include "tacit/wire_elim.h"
#include "walk.h"

enum { NETWORK_STAR, NETWORK_SPREAD, NETWORK_GATHER }; /* elim.proto, ElimParameters.network */

/* ---- Parameters ------------------------------------------------------------------------------ */

struct parameters {
    uint32_t network;
    uint32_t gather_timeout_s;
    struct tacit_wire_elim_run run;
};
#define MESSAGE struct parameters

/* The paper's bounds, or exact ones: everybody reports, and there is no round limit. */
static bool bounds_are_possible(const struct tacit_wire_elim_run *run)
{
    bool const has_none = run->confidence >= 0 && run->confidence <= 0 && !signbit(run->confidence);
    if (run->growth >= 0 && run->growth <= 0)
        return has_none && !signbit(run->growth);
    return run->growth > 1 && run->growth <= 4 && run->round_limit == 0 &&
           (has_none || (run->confidence >= 0.5 && run->confidence < 1));
}

static bool check_parameters(void *message)
{
    const struct parameters *const found = message;
    return found->run.report_count <= found->run.agent_count && found->run.gap > 0 &&
           found->run.gap <= 1 &&
           (found->network != NETWORK_STAR || found->gather_timeout_s == 0) &&
           bounds_are_possible(&found->run);
}

static const struct wire_field numbers[] = {
    NUMBER(1, network, UP_TO(NETWORK_GATHER)),
    NUMBER(2, run.report_count, FROM(1)),
    NUMBER(3, run.round_limit, UP_TO(TACIT_ELIM_EPOCHS_MAX - 1)),
    NUMBER(4, run.gap, ANY),
    NUMBER(5, gather_timeout_s, ANY),
    NUMBER(6, run.growth, ANY),
    NUMBER(7, run.confidence, ANY),
};
static const struct wire_table parameter_table =
    TABLE("ElimParameters", FIELDS(numbers), .check = check_parameters);

void tacit_wire_elim_parameters_encode(const struct tacit_wire_elim_run *run,
                                       uint8_t bytes[TACIT_WIRE_ELIM_PARAMETERS_BYTES])
{
    struct tacit_wire_elim_network const *const network = run->network;
    struct parameters const written = {
        .network = network == NULL                            ? NETWORK_STAR
                   : network->collection == TACIT_ELIM_SPREAD ? NETWORK_SPREAD
                                                              : NETWORK_GATHER,
        .gather_timeout_s = network == NULL ? 0 : network->gather_timeout_s,
        .run = *run};
    wire_write(&parameter_table, &written, wire_no_sizes, bytes);
}

/* ---- Place ----------------------------------------------------------------------------------- */

#undef MESSAGE
#define MESSAGE struct tacit_wire_elim_network

static const struct wire_field place_fields[] = {
    NUMBER(1, parent, ANY),
    SET(2, members, PER(WIRE_AGENTS), IF(members)),
    PARTS(3, neighbours, wire_neighbours, COUNT(neighbour_count)),
    TEXTS(4, sites, PER(WIRE_AGENTS), IF(sites), OF(wire_is_name)),
};
static const struct wire_table place_table = TABLE("ElimPlace", FIELDS(place_fields));

size_t tacit_wire_elim_place_bytes(const struct tacit_wire_elim_run *run)
{
    uint32_t const sizes[WIRE_SIZES] = {1, 0, run->agent_count};
    return run->network == NULL ? 0 : wire_length(&place_table, run->network, sizes);
}

void tacit_wire_elim_place_encode(const struct tacit_wire_elim_run *run, uint8_t *bytes)
{
    uint32_t const sizes[WIRE_SIZES] = {1, 0, run->agent_count};
    if (run->network != NULL)
        wire_write(&place_table, run->network, sizes, bytes);
}

/* The site's parent is a neighbour, or where reports spread nobody. */
static bool has_parent(const struct tacit_wire_elim_network *place, uint32_t agent)
{
    TACIT_IMPLIES(place->neighbour_count > 0, place->neighbours != NULL);
    bool found = place->collection == TACIT_ELIM_SPREAD || place->parent == agent;
    for (uint32_t i = 0; i < place->neighbour_count; i++)
        found = found || place->neighbours[i].agent == place->parent;
    return found;
}

/* Names of all, or of nobody; those of the neighbours among them. */
static bool sites_are_possible(const struct tacit_wire_elim_network *place)
{
    if (place->sites == NULL)
        return true;
    if (place->collection != TACIT_ELIM_SPREAD)
        return false;
    for (uint32_t i = 0; i < place->neighbour_count; i++)
        if (strcmp(place->sites[place->neighbours[i].agent], place->neighbours[i].site) != 0)
            return false;
    return true;
}

static bool place_is_possible(const struct tacit_wire_elim_network *place,
                              const struct tacit_wire_elim_run *run)
{
    return wire_are_neighbours(place->neighbours, place->neighbour_count, run->agent,
                               run->agent_count) &&
           has_parent(place, run->agent) && sites_are_possible(place) &&
           (place->members == NULL || tacit_bits_has(place->members, run->agent));
}

/* ---- The run --------------------------------------------------------------------------------- */

static enum tacit_status take_place(const struct tacit_wire_announcement *announcement,
                                    const struct parameters *found,
                                    const struct tacit_wire_elim_network **network,
                                    const struct tacit_wire_allocator *allocator)
{
    uint32_t const sizes[WIRE_SIZES] = {1, 0, found->run.agent_count};
    struct tacit_wire_elim_network *place;
    enum tacit_status const status = wire_make(&place_table, sizes, announcement->place,
                                               announcement->place_size, allocator, &place);
    if (status != TACIT_OK)
        return status;
    place->collection = found->network == NETWORK_GATHER ? TACIT_ELIM_GATHER : TACIT_ELIM_SPREAD;
    place->gather_timeout_s = found->gather_timeout_s;
    *network = place;
    if (place_is_possible(place, &found->run))
        return TACIT_OK;
    wire_give(allocator, place);
    return TACIT_MALFORMED;
}

enum tacit_status tacit_wire_elim_run_decode(const struct tacit_wire_announcement *announcement,
                                             struct tacit_wire_elim_run *run,
                                             const struct tacit_wire_allocator *allocator)
{
    struct tacit_wire_agreement const *const agreement = &announcement->agreement;
    struct parameters found = {.run = {.run_id = tacit_wire_run_id(agreement->run),
                                       .agent = announcement->agent,
                                       .agent_count = agreement->agent_count,
                                       .arm_count = agreement->arm_count,
                                       .horizon = agreement->horizon,
                                       .epsilon_nano = agreement->epsilon_nano}};
    enum tacit_status status = TACIT_OK;
    if (agreement->epsilon_nano == 0 ||
        !wire_read_parameters(agreement, TACIT_WIRE_ELIM_WORD, TACIT_WIRE_ELIM_FAMILY,
                              TACIT_WIRE_ELIM_VERSION, &parameter_table, &found))
        return TACIT_MALFORMED;
    if (found.network != NETWORK_STAR)
        status = take_place(announcement, &found, &found.run.network, allocator);
    else if (announcement->place_size != 0)
        status = TACIT_MALFORMED;
    found.run.floor_milli = tacit_wire_floor_milli(agreement->has_helper, agreement->floor_nano);
    if (agreement->has_helper && (found.network != NETWORK_STAR || found.run.growth <= 0))
        status = TACIT_MALFORMED;
    if (status == TACIT_OK)
        *run = found.run;
    return status;
}
