/* What elimination adds to an announcement: parameters that all sites share, and the place of one
 * site among its neighbours (elim.proto). */
#include <math.h>
#include <string.h>
#include "tacit/bounds.h"
#include "tacit/wire_elim.h"
#include "walk.h"

#define MESSAGE struct tacit_wire_elim_run

/* ---- Parameters ------------------------------------------------------------------------------ */

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
    const struct tacit_wire_elim_run *const run = message;
    bool const is_star = run->network == TACIT_WIRE_ELIM_STAR;
    return run->epsilon_nano > 0 && run->report_count <= run->agent_count && run->gap > 0 &&
           run->gap <= 1 && (!is_star || run->gather_timeout_s == 0) &&
           (run->floor_milli == TACIT_ONE_AGGREGATOR || (is_star && run->growth > 0)) &&
           bounds_are_possible(run);
}

static const struct wire_field numbers[] = {
    NUMBER(1, network, UP_TO(TACIT_WIRE_ELIM_GATHER)),
    NUMBER(2, report_count, FROM(1)),
    NUMBER(3, round_limit, UP_TO(TACIT_ELIM_EPOCHS_MAX - 1)),
    NUMBER(4, gap, ANY),
    NUMBER(5, gather_timeout_s, ANY),
    NUMBER(6, growth, ANY),
    NUMBER(7, confidence, ANY),
};
static const struct tacit_wire_table parameters =
    TABLE("ElimParameters", FIELDS(numbers), .check = check_parameters);

/* ---- Place ----------------------------------------------------------------------------------- */

/* The site's parent is a neighbour, or where reports spread nobody. */
static bool has_parent(const struct tacit_wire_elim_run *run)
{
    TACIT_IMPLIES(run->neighbour_count > 0, run->neighbours != NULL);
    bool found = run->network == TACIT_WIRE_ELIM_SPREAD || run->parent == run->agent;
    for (uint32_t i = 0; i < run->neighbour_count; i++)
        found = found || run->neighbours[i].agent == run->parent;
    return found;
}

/* Names of all, or of nobody; those of the neighbours among them. */
static bool sites_are_possible(const struct tacit_wire_elim_run *run)
{
    if (run->sites == NULL)
        return true;
    for (uint32_t i = 0; i < run->neighbour_count; i++)
        if (strcmp(run->sites[run->neighbours[i].agent], run->neighbours[i].site) != 0)
            return false;
    return run->network == TACIT_WIRE_ELIM_SPREAD;
}

static bool check_place(void *message)
{
    const struct tacit_wire_elim_run *const run = message;
    if (run->network == TACIT_WIRE_ELIM_STAR)
        return run->members == NULL && run->neighbour_count == 0 && run->sites == NULL;
    return wire_are_neighbours(run->neighbours, run->neighbour_count, run->agent,
                               run->agent_count) &&
           has_parent(run) && sites_are_possible(run) &&
           (run->members == NULL || tacit_bits_has(run->members, run->agent));
}

static const struct wire_field place_fields[] = {
    NUMBER(1, parent, IF(network)),
    SET(2, members, PER(WIRE_AGENTS), IF(members)),
    PARTS(3, neighbours, wire_neighbours, COUNT(neighbour_count)),
    TEXTS(4, sites, PER(WIRE_AGENTS), IF(sites), OF(wire_is_name)),
};
static const struct tacit_wire_table place =
    TABLE("ElimPlace", FIELDS(place_fields), .check = check_place);

PROTOCOL(elim, ELIM, wire_elim_messages, &place);
