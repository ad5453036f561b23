/* Simulated runs of votes as the simulator's threads play them. */
#include <stdlib.h>
#include <string.h>
#include "plan.h"

struct vote_run {
    const struct vote_plan *plan;
    struct tacit_sim_instance instance;
    uint32_t *winners; /* K */
};

const struct tacit_metric vote_metrics[] = {
    [VOTE_REGRET] = {"regret", "Regret", "reward", "summed over all players, until the end", 0},
    [VOTE_REGRET_PER_AGENT] = {"regret_per_agent", "Regret per player", "reward",
                               "the average player", 0},
    [VOTE_SAMPLES] = {"samples", "Samples until all have ended", "samples",
                      "every player has one arm", TACIT_METRIC_MAIN | TACIT_METRIC_CARD},
    [VOTE_SAMPLES_VOTE] = {"samples_vote", "Samples until the vote", "samples",
                           "one arm is left of the voted set", TACIT_METRIC_CARD},
    [VOTE_MESSAGES] = {"messages", "Messages", "messages",
                       "a broadcast of one arm; sharing all: one a sample",
                       TACIT_METRIC_CARD | TACIT_METRIC_TRAFFIC},
    [VOTE_MESSAGES_PER_RECEIVER] = {"messages_per_receiver", "Messages by receiver", "messages",
                                    "a broadcast counts once per receiver", TACIT_METRIC_TRAFFIC},
    [VOTE_SINGLE_ARM_FRACTION] = {"single_arm_fraction", "Ended with one arm", "",
                                  "share of players", 0},
    [VOTE_BEST_ARM_FRACTION] = {"best_arm_fraction", "Found the best arm", "", "share of players",
                                0},
    [VOTE_NEAR_BEST_FRACTION] = {"near_best_fraction", "Found an arm within epsilon", "",
                                 "share of players", TACIT_METRIC_CARD},
    [VOTE_ANSWER_SHARE] = {"answer_share", "Agree on the answer", "", "share of players", 0},
    [VOTE_PLAYS_BEYOND] = {"plays_beyond", "Plays beyond epsilon", "pulls",
                           "of arms worse than the best by more than epsilon at that moment", 0},
    [VOTE_RESETS] = {"resets", "Resets", "", NULL, 0},
    [VOTE_METRIC_COUNT] = {.name = NULL}};

void vote_run_free(void *run)
{
    struct vote_run *const own = run;
    if (own == NULL)
        return;
    tacit_sim_instance_free(&own->instance);
    free(own->winners);
    free(own);
}

void *vote_run_new(const void *plan, enum tacit_status *status)
{
    struct vote_run *const run = calloc(1, sizeof *run);
    *status = TACIT_MEMORY;
    if (run == NULL)
        return NULL;
    run->plan = plan;
    run->winners = calloc(run->plan->common.env.arm_count, sizeof run->winners[0]);
    *status = tacit_sim_instance_init(&run->instance, &run->plan->common);
    if (*status == TACIT_OK && run->winners != NULL)
        return run;
    *status = TACIT_MEMORY;
    vote_run_free(run);
    return NULL;
}

/* The arms that players ended with, the most frequent first, lowest index on ties. */
static void rank_winners(struct vote_run *run, struct tacit_sim_row *row)
{
    uint32_t const arms = run->plan->common.env.arm_count;
    for (;;) {
        uint32_t most = 0;
        for (uint32_t arm = 1; arm < arms; arm++)
            most = run->winners[arm] > run->winners[most] ? arm : most;
        if (run->winners[most] == 0)
            return;
        row->ranking[row->ranked_count++] = most;
        run->winners[most] = 0;
    }
}

static void write_row(struct vote_run *run, const struct vote_outcome *outcome,
                      struct tacit_sim_row *row)
{
    double const players = (double)run->plan->world.player_count;
    double *const metrics = row->metrics;
    metrics[VOTE_REGRET] = outcome->regret;
    metrics[VOTE_REGRET_PER_AGENT] = outcome->regret / players;
    metrics[VOTE_SAMPLES] = (double)outcome->samples;
    metrics[VOTE_SAMPLES_VOTE] = (double)outcome->samples_vote;
    metrics[VOTE_MESSAGES] = (double)outcome->messages;
    metrics[VOTE_MESSAGES_PER_RECEIVER] = (double)outcome->messages * (players - 1);
    metrics[VOTE_SINGLE_ARM_FRACTION] = outcome->single_share;
    metrics[VOTE_BEST_ARM_FRACTION] = outcome->best_share;
    metrics[VOTE_NEAR_BEST_FRACTION] = outcome->near_share;
    metrics[VOTE_ANSWER_SHARE] = outcome->answer_share;
    metrics[VOTE_PLAYS_BEYOND] = (double)outcome->plays_beyond;
    metrics[VOTE_RESETS] = (double)outcome->reset_count;
    rank_winners(run, row);
}

static uint32_t best_of(const struct tacit_sim_instance *instance)
{
    uint32_t best = 0;
    for (uint32_t arm = 1; arm < instance->env.arm_count; arm++)
        best = instance->global_means[arm] > instance->global_means[best] ? arm : best;
    return best;
}

enum tacit_status vote_run_play(void *run, uint32_t index, struct tacit_sim_row *row,
                                atomic_bool *stop)
{
    struct vote_run *const own = run;
    struct tacit_sim const *const sim = &own->plan->common;
    tacit_sim_instance_draw(&own->instance, sim, index);
    memset(own->winners, 0, sim->env.arm_count * sizeof own->winners[0]);
    struct vote_world world = own->plan->world;
    world.run = index;
    world.env = &own->instance.env;
    world.stop = stop;
    world.drift_spare = own->plan->drifts_all ? TACIT_NO_ARM : best_of(&own->instance);
    struct vote_trace const trace = {.points = sim->points,
                                     .point_count = sim->point_count,
                                     .regret = row->regret,
                                     .winners = own->winners};
    struct vote_outcome outcome;
    enum tacit_status const status = vote_play(&world, &outcome, &trace);
    if (status == TACIT_OK)
        write_row(own, &outcome, row);
    return status;
}
