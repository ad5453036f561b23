/* How many rewards entered estimates. Those of a round that T cuts, or whose report came too late
 * or never, did not. */
#include "state.h"

/* ---- With a hub ---- */

/* The agent's history sums of S pulls of each active arm are in a round's means. What was in an
 * earlier round is not counted again; arms that were given up meanwhile stay as they were. */
static void count_agent(struct elim_run *run, uint32_t agent)
{
    struct elim_round const *const round = &run->round;
    uint64_t const fresh = round->pulls - run->counted_pulls[agent];
    TACIT_ASSERT(round->pulls >= run->counted_pulls[agent]);
    run->samples += (double)round->active_count * (double)fresh;
    run->counted_pulls[agent] = round->pulls;
}

/* A sink's report has the sums of those whose rows it holds. */
static void count_component(struct elim_run *run, uint32_t sink)
{
    struct tacit_elim_network const *const network = run->experiment->network;
    struct tacit_elim_peer_view view;
    tacit_elim_peer_view(tacit_sim_nodes_state(run->nodes, sink), &view);
    for (uint32_t agent = 0; agent < run->agent_count; agent++)
        if (network->label[agent] == network->label[sink] && tacit_bits_has(view.known, agent))
            count_agent(run, agent);
}

void elim_run_count_hub(struct elim_run *run)
{
    struct tacit_elim_hub_view view;
    tacit_elim_hub_view(elim_run_hub(run), &view);
    bool const is_judged = view.round_count > run->round.round_count;
    for (uint32_t agent = 0; is_judged && agent < run->agent_count; agent++) {
        if (view.seen[agent] != run->round.epoch)
            continue;
        if (run->experiment->network == NULL)
            count_agent(run, agent);
        else
            count_component(run, agent);
    }
    /* A hub that was restored is at an earlier round again, and will judge it again. */
    if (view.round_count >= run->round.round_count)
        run->round = (struct elim_round){.epoch = view.epoch,
                                         .round_count = view.round_count,
                                         .active_count = view.active_count,
                                         .pulls = view.pulls};
}

/* ---- Everybody judges ---- */

/* Pulls of one agent that are in so many rounds of a judge: S(r) once more from the schedule. */
static double pulls_judged(const struct tacit_elim_schedule *schedule, uint32_t round_count,
                           const uint32_t *eliminated)
{
    uint64_t pulls = 0;
    double counted = 0;
    uint32_t rounds = 0;
    for (uint32_t epoch = 1; rounds < round_count; epoch++) {
        uint32_t active = 0;
        for (uint32_t arm = 0; arm < schedule->arm_count; arm++)
            active += eliminated[arm] == 0 || eliminated[arm] >= epoch ? 1 : 0;
        uint64_t const before = pulls;
        TACIT_ASSERT(epoch < TACIT_ELIM_EPOCHS_MAX);
        pulls = tacit_elim_pulls(schedule, epoch, active, before);
        counted += (double)active * (double)(pulls - before);
        rounds += pulls > before ? 1 : 0;
    }
    return counted;
}

void elim_run_count_judges(struct elim_run *run)
{
    struct tacit_elim_network const *const network = run->experiment->network;
    struct tacit_elim_schedule const schedule = elim_sim_schedule(run->experiment, run->gap);
    /* What connected agents know is the same at all of them. */
    bool const are_alike = run->flood != NULL && (network == NULL || network->component_count == 1);
    double counted = 0;
    for (uint32_t agent = 0; agent < run->agent_count; agent++) {
        if (agent == 0 || !are_alike) {
            struct tacit_elim_judge_view const view = elim_run_verdict(run, agent);
            counted = pulls_judged(&schedule, view.round_count, view.eliminated);
        }
        run->samples += counted;
    }
}
