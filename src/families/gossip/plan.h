/* Gossip UCB in the simulator: what its runs need and what they measure. */
#ifndef TACIT_FAMILIES_GOSSIP_PLAN_H
#define TACIT_FAMILIES_GOSSIP_PLAN_H
#include "tacit/family.h"
#include "tacit/gossip.h"

#define GOSSIP_FAMILY_NUMBER 2u
#define GOSSIP_PURPOSE_EDGE TACIT_PURPOSE_OF_FAMILY(GOSSIP_FAMILY_NUMBER, 0)

/* What the file says beside its kind. */
struct gossip_keys {
    bool log_base_10;
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

struct gossip_plan {
    struct tacit_sim common;
    struct tacit_gossip_rule rule;
    const struct tacit_graph *graph;
};

void gossip_read_keys(struct config_reader *reader, const struct config_node *root,
                      struct tacit_config *config);
enum tacit_status gossip_make_plan(struct tacit_experiment *experiment, struct tacit_error *error);
enum tacit_status gossip_print_bounds(const struct tacit_experiment *experiment, FILE *out);

/* The player of runs (run.c). */
void *gossip_run_new(const void *plan, enum tacit_status *status);
enum tacit_status gossip_run_play(void *run, uint32_t index, struct tacit_sim_row *row,
                                  atomic_bool *stop);
void gossip_run_free(void *run);
#endif
