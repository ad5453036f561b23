/* The plan of an experiment with epoch elimination: what its file says, and what follows. */
#ifndef TACIT_FAMILIES_ELIM_PLAN_H
#define TACIT_FAMILIES_ELIM_PLAN_H
#include "run.h"
#include "../../config/reader.h"
#include "tacit/family.h"

/* The keys of its section `protocol`. */
struct elim_keys {
    uint32_t round_limit; /* 0: none */
    double participation;
    double gap;            /* 0: not given */
    bool components_alike; /* weigh components alike, whatever their sizes */
    bool reports_at_once;  /* sinks, so that agents wait one slot less */
    bool is_exact;         /* bounds: exact; the two below are theirs */
    double growth;
    double confidence; /* 0: not given */
};

struct elim_plan {
    struct elim_sim sim;
    struct tacit_elim_network network; /* sim.network points here, or is NULL */
};

/* ---- keys.c ---- */

extern const struct config_choice elim_bounds[];
extern const struct config_section elim_sections[];
#define ELIM_SHARE_RANGE CONFIG_ABOVE(0, 1)

/* A number, or none. `section`, here and below: what the map is called. */
void elim_read_rounds(struct config_reader *reader, const struct config_node *map,
                      const char *section, struct elim_keys *keys);

/* Refuses what belongs to other bounds than these. */
void elim_check_bounds(struct config_reader *reader, const struct config_node *map,
                       const char *section, const struct elim_keys *keys);

/* What a family's file has; see tacit/config.h. */
void elim_read_keys(struct config_reader *reader, const struct config_node *root,
                    struct tacit_config *config);

/* ---- plan.c ---- */

enum tacit_status elim_make_plan(struct tacit_experiment *experiment, struct tacit_error *error);

/* The schedule that the judges will follow. With a round limit and an instance per run, gap is 1.
 */
struct tacit_elim_schedule elim_schedule(const struct tacit_experiment *experiment);

/* ---- forecast.c ---- */

/* Of the family (tacit/family.h). Without a round limit. */
double elim_forecast(const struct tacit_experiment *experiment);

/* ---- bounds.c ---- */

enum tacit_status elim_print_costs(const struct tacit_experiment *experiment, FILE *out);
#endif
