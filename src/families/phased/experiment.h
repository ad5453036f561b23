/* What runs of play in phases need. */
#ifndef TACIT_FAMILIES_PHASED_EXPERIMENT_H
#define TACIT_FAMILIES_PHASED_EXPERIMENT_H
#include "tacit/phased.h"
#include "tacit/sim.h"

/* The operator's word, at this slot of every site: an arm is added, or retired. */
struct phased_change {
    uint64_t slot; /* that many were played before it */
    uint32_t arm;
    bool is_added; /* else retired */
};

struct phased_sim {
    struct tacit_sim common;
    struct tacit_phases schedule;
    struct tacit_mechanism mechanism;         /* of a site itself */
    struct tacit_sim_aggregators aggregators; /* theirs, where there are two */
    double server_link_cost;
    const struct phased_change *changes; /* by slot */
    uint32_t change_count;
};
#endif
