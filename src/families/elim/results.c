/* What a run of epoch elimination came to. */
#include <stdlib.h>
#include "state.h"

struct tacit_elim_judge_view elim_run_verdict(const struct elim_run *run, uint32_t agent)
{
    struct tacit_elim_hub_view hub;
    struct tacit_elim_peer_view peer;
    if (run->flood != NULL)
        return elim_flood_view(run->flood, agent);
    if (elim_run_has_hub(run)) {
        tacit_elim_hub_view(elim_run_hub(run), &hub);
        return hub.judge;
    }
    tacit_elim_peer_view(tacit_sim_nodes_state(run->nodes, agent), &peer);
    return peer.judge;
}

/* Is the arm that it estimates best, of those it has left, truly the best one? */
static bool ranks_best_first(const struct elim_run *run,
                             const struct tacit_elim_judge_view *verdict)
{
    uint32_t best = tacit_bits_next(verdict->arms, run->arm_count, 0);
    for (uint32_t arm = best; arm < run->arm_count; arm++)
        if (tacit_bits_has(verdict->arms, arm) && verdict->means[arm] > verdict->means[best])
            best = arm;
    return run->instance.gaps[best] < 1e-12 && verdict->round_count > 0;
}

/* The paper's links of a round (READINGS P1.14, 17, 18), and their cost; all_edges: every edge in
 * every slot also where a sink collects. */
static void add_links(const struct elim_run *run, double rounds, bool all_edges, double *links,
                      double *cost)
{
    struct elim_sim const *const experiment = run->experiment;
    struct tacit_elim_network const *const network = experiment->network;
    double peer_links = 0;
    double server_links = network == NULL ? experiment->report_count : 0;
    for (uint32_t i = 0; network != NULL && i < network->component_count; i++) {
        struct tacit_component const *const component = &network->components[i];
        if (network->collection == TACIT_ELIM_SPREAD)
            peer_links += (double)component->edge_count * network->diameter;
        else if (all_edges)
            peer_links += (double)component->edge_count * component->delay;
        else
            peer_links += (double)component->distance_sum;
        server_links += network->collection == TACIT_ELIM_GATHER ? 1 : 0;
    }
    *links = rounds * (peer_links + server_links);
    *cost = rounds *
            (peer_links * experiment->peer_link_cost + server_links * experiment->server_link_cost);
}

/* Averages over those who judge: one hub, one connected graph, or each agent on its own. */
static void write_verdicts(const struct elim_run *run, double *metrics)
{
    uint32_t const judges = elim_run_has_hub(run) ? 1 : run->agent_count;
    uint32_t single = 0;
    uint32_t best = 0;
    double rounds = 0;
    for (uint32_t judge = 0; judge < judges; judge++) {
        struct tacit_elim_judge_view const verdict = elim_run_verdict(run, judge);
        rounds = verdict.round_count > rounds ? verdict.round_count : rounds;
        single += verdict.active_count == 1 ? 1 : 0;
        best += ranks_best_first(run, &verdict) ? 1 : 0;
    }
    metrics[ELIM_SINGLE_ARM_FRACTION] = (double)single / judges;
    metrics[ELIM_BEST_ARM_FRACTION] = (double)best / judges;
    metrics[ELIM_ROUNDS] = rounds;
}

/* ---- Ranking: what the judges make of the arms, never the true means ---- */

static void clear_ranks(struct elim_run *run)
{
    for (uint32_t arm = 0; arm < run->arm_count; arm++)
        run->ranks[arm] = (struct elim_rank){.arm = arm};
}

static void add_verdict(struct elim_run *run, const struct tacit_elim_judge_view *verdict)
{
    uint32_t best = TACIT_NO_ARM;
    for (uint32_t arm = 0; arm < run->arm_count; arm++) {
        if (!tacit_bits_has(verdict->arms, arm))
            continue;
        run->ranks[arm].left_count++;
        if (verdict->round_count == 0)
            continue; /* nothing was estimated yet */
        run->ranks[arm].mean_sum += verdict->means[arm];
        if (best == TACIT_NO_ARM || verdict->means[arm] > verdict->means[best])
            best = arm;
    }
    if (best != TACIT_NO_ARM)
        run->ranks[best].first_count++;
}

/* Those that more judges rank first come first; then those that more have left, then by estimate.
 */
static int compare_ranks(const void *left, const void *right)
{
    struct elim_rank const *const a = left;
    struct elim_rank const *const b = right;
    if (a->first_count != b->first_count)
        return a->first_count > b->first_count ? -1 : 1;
    if (a->left_count != b->left_count)
        return a->left_count > b->left_count ? -1 : 1;
    if (a->mean_sum > b->mean_sum || a->mean_sum < b->mean_sum)
        return a->mean_sum > b->mean_sum ? -1 : 1;
    return a->arm < b->arm ? -1 : 1;
}

/* The arms that some judge has left, best first. */
static void write_ranking(struct elim_run *run, struct tacit_sim_row *row)
{
    struct tacit_elim_network const *const network = run->experiment->network;
    bool const judge_alike =
        elim_run_has_hub(run) || (network != NULL && network->component_count == 1);
    uint32_t const judges = judge_alike ? 1 : run->agent_count;
    clear_ranks(run);
    for (uint32_t judge = 0; judge < judges; judge++) {
        struct tacit_elim_judge_view const verdict = elim_run_verdict(run, judge);
        add_verdict(run, &verdict);
    }
    qsort(run->ranks, run->arm_count, sizeof *run->ranks, compare_ranks);
    for (uint32_t i = 0; i < run->arm_count && run->ranks[i].left_count > 0; i++)
        row->ranking[row->ranked_count++] = run->ranks[i].arm;
}

void elim_run_write_results(struct elim_run *run, struct tacit_sim_row *row)
{
    double *const metrics = row->metrics;
    double unused;
    struct tacit_elim_judge_view const verdict = elim_run_verdict(run, 0);
    struct tacit_sim_totals const totals =
        run->flood != NULL ? elim_flood_totals(run->flood) : tacit_sim_nodes_totals(run->nodes);
    metrics[ELIM_REGRET] = totals.regret;
    metrics[ELIM_REGRET_PER_AGENT] = totals.regret / run->agent_count;
    metrics[ELIM_REGRET_EXPLOIT] = totals.regret_exploit;
    metrics[ELIM_MESSAGES] = totals.messages;
    metrics[ELIM_MESSAGES_PER_RECEIVER] = totals.messages_per_receiver;
    metrics[ELIM_SCALARS] = totals.scalars;
    metrics[ELIM_BYTES] = totals.bytes;
    if (run->flood != NULL || !elim_run_has_hub(run))
        elim_run_count_judges(run);
    metrics[ELIM_SAMPLES] = run->samples;
    metrics[ELIM_CONTROL_MESSAGES] = totals.control_messages;
    metrics[ELIM_CONTROL_BYTES] = totals.control_bytes;
    write_verdicts(run, metrics);
    add_links(run, metrics[ELIM_ROUNDS], true, &unused, &metrics[ELIM_COST_ALL_EDGES]);
    add_links(run, metrics[ELIM_ROUNDS], false, &metrics[ELIM_LINKS], &metrics[ELIM_COST]);
    for (uint32_t arm = 0; arm < run->arm_count; arm++)
        row->eliminated[arm] = verdict.eliminated[arm];
    write_ranking(run, row);
    if (run->flood != NULL)
        elim_flood_regret(run->flood, row->regret);
    else
        tacit_sim_nodes_regret(run->nodes, row->regret);
}
