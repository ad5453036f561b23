/* The plan of an experiment with epoch elimination: what its file says, and what follows. */
#ifndef TACIT_FAMILIES_ELIM_PLAN_H
#define TACIT_FAMILIES_ELIM_PLAN_H
#include "run.h"
#include "tacit/family.h"

/* The keys of its section `protocol`. */
struct elim_keys {
    uint32_t round_limit; /* 0: none */
    double participation;
    double gap;            /* 0: not given */
    bool components_alike; /* weigh components alike, whatever their sizes */
};

struct elim_plan {
    struct elim_sim sim;
    struct tacit_elim_network network; /* sim.network points here, or is NULL */
};

/* ---- keys.c ---- */

/* What a family's file has; see tacit/config.h. */
void elim_read_keys(struct config_reader *reader, const struct config_node *root,
                    struct tacit_config *config);

/* ---- plan.c ---- */

enum tacit_status elim_make_plan(struct tacit_experiment *experiment, struct tacit_error *error);

/* The schedule that the judges will follow. With a round limit and an instance per run, gap is 1.
 */
struct tacit_elim_schedule elim_schedule(const struct tacit_experiment *experiment);

/* The network as the cores know it. Requires: the network outlives it. */
struct tacit_elim_network elim_network(const struct tacit_network *network, bool components_alike);

/* ---- bounds.c ---- */

enum tacit_status elim_print_bounds(const struct tacit_experiment *experiment, FILE *out);
#endif
