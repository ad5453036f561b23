/* Gossip UCB in the simulator: what its runs need and what they measure. */
#ifndef TACIT_FAMILIES_GOSSIP_PLAN_H
#define TACIT_FAMILIES_GOSSIP_PLAN_H
#include "tacit/doubling.h"
#include "tacit/family.h"
#include "tacit/gossip.h"

#define GOSSIP_FAMILY_NUMBER 2u
#define GOSSIP_PURPOSE_EDGE TACIT_PURPOSE_OF_FAMILY(GOSSIP_FAMILY_NUMBER, 0)

/* What the file says beside its kind. */
struct gossip_keys {
    bool doubles; /* release: doubling */
    bool each;    /* release: each */
    bool log_base_10;
    uint32_t arms_per_round; /* doubling; 0: 4, or all */
    uint32_t quorum;         /* doubling; 0: all */
};

enum gossip_metric {
    GOSSIP_REGRET,
    GOSSIP_REGRET_PER_AGENT,
    GOSSIP_MESSAGES,
    GOSSIP_MESSAGES_PER_RECEIVER,
    GOSSIP_SCALARS,
    GOSSIP_FORCED_FRACTION,
    GOSSIP_BEST_ARM_FRACTION,
    GOSSIP_DISAGREEMENT,
    GOSSIP_METRIC_COUNT
};

extern const struct tacit_metric gossip_metrics[];
extern const struct tacit_band gossip_band;

struct gossip_plan {
    struct tacit_sim common;
    bool doubles;
    struct tacit_gossip_rule rule; /* trees and `each` */
    bool noises_each;              /* every reward is noised when it comes, by `mechanism` */
    const struct tacit_graph *graph;
    struct tacit_mechanism mechanism; /* doubling and `each` */
    /* doubling only */
    struct tacit_phases schedule;
    uint32_t quorum;
};

extern const struct config_section gossip_sections[];
void gossip_read_keys(struct config_reader *reader, const struct config_node *root,
                      struct tacit_config *config);
enum tacit_status gossip_make_plan(struct tacit_experiment *experiment, struct tacit_error *error);
enum tacit_status gossip_print_costs(const struct tacit_experiment *experiment, FILE *out);

/* What doubling needs of the plan, and what is refused (doubling_plan.c). */
enum tacit_status gossip_plan_doubling(struct tacit_experiment *experiment,
                                       struct gossip_plan *plan, struct tacit_error *error);
void gossip_print_doubling(const struct tacit_experiment *experiment, FILE *out);

/* Does an agent with these estimates elect that arm? Ties are broken by index, and elect nobody
 * (run.c). */
bool gossip_leads_alone(const double *theta, uint32_t arms, uint32_t best);

/* The player of runs with trees (run.c). */
void *gossip_run_new(const void *plan, enum tacit_status *status);
enum tacit_status gossip_run_play(void *run, uint32_t index, struct tacit_sim_row *row,
                                  atomic_bool *stop);

/* The player of runs whose releases double (doubling.c). */
struct gossip_doubling_run {
    const struct gossip_plan *plan; /* first */
    struct tacit_sim_nodes *nodes;
    struct tacit_sim_instance instance;
    struct tacit_doubling_memory **memories; /* A */
    struct tacit_doubling_update update;     /* of the step under way */
};
void *gossip_doubling_new(const void *plan, enum tacit_status *status);
enum tacit_status gossip_doubling_play(void *run, uint32_t index, struct tacit_sim_row *row,
                                       atomic_bool *stop);

/* forecast.c: of releases that double (tacit/family.h). */
double gossip_forecast_regret(const struct tacit_experiment *experiment);
#endif
