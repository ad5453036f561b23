/* What elimination over a star and over peers have in common, for the storm (storm.h). */
#ifndef TACIT_TESTS_RULE_ELIMINATION_H
#define TACIT_TESTS_RULE_ELIMINATION_H
#include "storm.h"
#include "tacit/elim.h"

/* A site is an agent, or has one in it. */
struct rule_elim_sites {
    size_t (*size)(const struct storm_world *world, uint32_t node);
    enum tacit_status (*init)(const struct storm_world *world, uint32_t node, void *state);
    enum tacit_status (*check)(const struct storm_world *world, uint32_t node, const void *state,
                               size_t size);
    enum tacit_status (*step)(const struct storm_world *world, uint32_t node,
                              const struct tacit_event *event, const struct tacit_entropy *entropy,
                              struct tacit_elim_update *update);
    const struct tacit_elim_agent *(*agent)(const void *state);
};

struct rule_elim {
    struct tacit_elim_agent_config sites[STORM_SITES_MAX];
    struct tacit_elim_hub_config hub;
    const struct rule_elim_sites *is;
    struct rule_elim_place { /* of peers; a clone's is its site's */
        uint32_t neighbours[STORM_SITES_MAX];
        uint32_t neighbour_count;
        uint32_t parent;
        uint64_t members[1];
        size_t bytes; /* of the state; behind it lies the table */
    } places[STORM_SITES_MAX];
    uint32_t weights[STORM_SITES_MAX];
    bool gathers;
    bool signs_rows;
    uint32_t component_count;
};

/* Draws all but the network. */
void rule_elim_configure(struct storm_world *world, uint32_t sites, bool has_changes);
bool rule_elim_are_means_of_pulls(const struct storm_world *world, uint32_t round_count,
                                  const uint64_t *arms, const double *means);
#endif
