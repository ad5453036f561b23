/* Elimination with exact bounds (`bounds: exact`, EXACT-BOUNDS 4; ours). Over a star it is a rule
 * of play in phases, whose runs families/phased plays; what they come to is told in this family's
 * metrics. Over graphs and hybrids its judges are those of this family's cores. */
#include "plan.h"
#include <stdio.h>
#include <stdlib.h>
#include "../../config/reader.h"
#include "../phased/plan.h"

/* A run by one of the two: by the paper's bounds, or by exact ones. */
struct either_run {
    struct elim_run *paper;
    struct phased_run *exact;
};

/* ---- Keys ---- */

static void refuse_with_paper(struct config_reader *reader, const struct config_node *map,
                              const char *section)
{
    static const char *const names[] = {"growth", "confidence"};
    char key[40];
    for (int i = 0; i < 2; i++) {
        struct config_node const *const node = config_node_member(map, names[i]);
        (void)snprintf(key, sizeof key, "%s.%s", section, names[i]);
        if (node != NULL)
            config_reader_fail(reader, node, key, "belongs to bounds: exact");
    }
}

void elim_read_bounds(struct config_reader *reader, const struct config_node *map,
                      const char *section, struct elim_keys *keys)
{
    static const struct config_choice choices[] = {{"paper", 0}, {"exact", 1}, {NULL, 0}};
    char key[40];
    int exact = 0;
    (void)snprintf(key, sizeof key, "%s.bounds", section);
    config_reader_choice(reader, map, key, false, choices, &exact);
    keys->is_exact = exact == 1;
    if (keys->is_exact)
        phased_read_growth(reader, map, section, &keys->growth, &keys->confidence);
    else
        refuse_with_paper(reader, map, section);
}

void elim_refuse_beside_exact(struct config_reader *reader, const struct config_node *map,
                              const char *section, uint32_t round_limit, double participation)
{
    char key[40];
    (void)snprintf(key, sizeof key, "%s.rounds", section);
    if (round_limit > 0)
        config_reader_fail(reader, config_node_member(map, "rounds"), key,
                           "exact bounds know no round limit; allowed: none");
    (void)snprintf(key, sizeof key, "%s.participation", section);
    if (participation < 1)
        config_reader_fail(reader, config_node_member(map, "participation"), key,
                           "exact bounds are for all agents; allowed: 1");
}

static void refuse_with_exact(struct config_reader *reader, const struct config_node *root,
                              const struct tacit_config *config, const struct elim_keys *keys)
{
    struct config_node const *const protocol = config_node_member(root, "protocol");
    elim_refuse_beside_exact(reader, protocol, "protocol", keys->round_limit, keys->participation);
    if (keys->components_alike)
        config_reader_fail(reader, config_node_member(protocol, "component_weights"),
                           "protocol.component_weights",
                           "exact bounds are for the mean over all agents; allowed: agents");
    if (config->privacy == TACIT_PRIVACY_PAPER)
        config_reader_fail(reader, config_node_member(root, "privacy"), "privacy.mode",
                           "bounds: exact counts in integers, with epsilon per reward; allowed: "
                           "sound, none");
}

void elim_read_exact(struct config_reader *reader, const struct config_node *root,
                     const struct tacit_config *config, struct elim_keys *keys)
{
    elim_read_bounds(reader, config_node_member(root, "protocol"), "protocol", keys);
    if (keys->is_exact)
        refuse_with_exact(reader, root, config, keys);
}

/* ---- The plan ---- */

enum tacit_status elim_plan_exact(struct tacit_experiment *experiment, struct tacit_error *error)
{
    struct elim_keys const *const keys = experiment->config->keys;
    struct elim_plan *const plan = experiment->plan;
    plan->exact = malloc(sizeof *plan->exact);
    return plan->exact == NULL ? TACIT_MEMORY
                               : phased_settle_elimination(experiment, keys->growth,
                                                           keys->confidence, plan->exact, error);
}

enum tacit_status elim_check_ladder(const struct tacit_experiment *experiment,
                                    struct tacit_error *error)
{
    struct elim_plan const *const plan = experiment->plan;
    struct elim_sim const *const sim = &plan->sim;
    struct tacit_phases const phases = {.rule = TACIT_PHASES_ELIMINATION,
                                        .arm_count = sim->common.env.arm_count,
                                        .agent_count = sim->report_count,
                                        .horizon = sim->common.horizon,
                                        .epsilon_per_reward = sim->epsilon_per_reward,
                                        .growth = sim->growth,
                                        .confidence = sim->confidence};
    char text[PHASED_REFUSAL_BYTES];
    char const *const key = phased_schedule_refusal(&phases, text);
    return key == NULL ? TACIT_OK : tacit_experiment_refuse(experiment, key, text, error);
}

enum tacit_status elim_print_limits(const struct tacit_experiment *experiment, FILE *out)
{
    struct elim_plan const *const plan = experiment->plan;
    return plan->exact == NULL ? elim_print_bounds(experiment, out)
                               : phased_print_limits(plan->exact, out);
}

void elim_free_plan(void *plan)
{
    struct elim_plan *const own = plan;
    if (own != NULL)
        free(own->exact);
    free(own);
}

double elim_plan_bytes(const void *plan)
{
    struct elim_plan const *const own = plan;
    return own->exact == NULL ? elim_sim_bytes(&own->sim) : 0;
}

/* ---- Runs ---- */

void *elim_either_new(const void *plan, enum tacit_status *status)
{
    struct elim_plan const *const own = plan;
    struct either_run *const run = calloc(1, sizeof *run);
    *status = TACIT_MEMORY;
    if (run == NULL)
        return NULL;
    if (own->exact != NULL)
        run->exact = phased_run_new(own->exact, status);
    else
        run->paper = elim_run_new(&own->sim, status);
    if (*status == TACIT_OK)
        return run;
    free(run);
    return NULL;
}

static void write_metrics(const struct phased_outcome *outcome, double *metrics)
{
    metrics[ELIM_REGRET] = outcome->totals.regret;
    metrics[ELIM_REGRET_PER_AGENT] = outcome->totals.regret / outcome->agents;
    metrics[ELIM_REGRET_EXPLOIT] = outcome->totals.regret_exploit;
    metrics[ELIM_ROUNDS] = outcome->rounds;
    metrics[ELIM_COST] = outcome->cost;
    metrics[ELIM_COST_ALL_EDGES] = outcome->cost;
    metrics[ELIM_LINKS] = outcome->links;
    metrics[ELIM_MESSAGES] = outcome->totals.messages;
    metrics[ELIM_MESSAGES_PER_RECEIVER] = outcome->totals.messages_per_receiver;
    metrics[ELIM_SCALARS] = outcome->totals.scalars;
    metrics[ELIM_BYTES] = outcome->totals.bytes;
    metrics[ELIM_SINGLE_ARM_FRACTION] = outcome->decided ? 1 : 0;
    metrics[ELIM_BEST_ARM_FRACTION] = outcome->best ? 1 : 0;
    metrics[ELIM_SAMPLES] = outcome->samples;
}

enum tacit_status elim_either_play(void *run, uint32_t index, struct tacit_sim_row *row,
                                   atomic_bool *stop)
{
    struct either_run *const own = run;
    struct phased_outcome outcome;
    bool healed;
    if (own->paper != NULL)
        return elim_run_play(own->paper, index, row, stop, &healed);
    enum tacit_status const status =
        phased_run_play(own->exact, index, row, stop, &healed, &outcome);
    if (status == TACIT_OK)
        write_metrics(&outcome, row->metrics);
    return status;
}

void elim_either_free(void *run)
{
    struct either_run *const own = run;
    if (own == NULL)
        return;
    elim_run_free(own->paper);
    phased_run_free(own->exact);
    free(own);
}
