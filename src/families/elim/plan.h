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

enum tacit_status elim_print_bounds(const struct tacit_experiment *experiment, FILE *out);

/* ---- exact.c ---- */

extern const struct config_choice elim_bounds[];
extern const struct config_section elim_sections[];

/* Reads bounds, growth and confidence of a map that is called `section`; growth and confidence
 * belong to exact ones. */
void elim_read_bounds(struct config_reader *reader, const struct config_node *map,
                      const char *section, struct elim_keys *keys);

/* EXACT-BOUNDS 4.6: exact bounds know no round limit and are for all agents. */
void elim_refuse_beside_exact(struct config_reader *reader, const struct config_node *map,
                              const char *section, uint32_t round_limit, double participation);

/* The same for an experiment; refuses what has no meaning beside them. Requires: the other
 * keys are read. */
void elim_read_exact(struct config_reader *reader, const struct config_node *root,
                     const struct tacit_config *config, struct elim_keys *keys);
#endif
