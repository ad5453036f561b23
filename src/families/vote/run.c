/* Simulated runs of votes as the simulator's threads play them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "plan.h"

struct vote_run {
    const struct vote_plan *plan;
    struct tacit_sim_instance instance;
    uint32_t *winners;      /* K */
    uint64_t *voted_out_at; /* K */
    uint64_t *own_samples;  /* N */
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
    [VOTE_SAMPLES_FIRST_OUT] = {"samples_first_out", "Samples until the first arm is out",
                                "samples", "of the voted set; none: all samples", 0},
    [VOTE_PLAYER_SAMPLES_MEAN] = {"player_samples_mean", "Own samples until one arm", "samples",
                                  "the average player", 0},
    [VOTE_PLAYER_SAMPLES_SD] = {"player_samples_sd", "Own samples, spread", "samples",
                                "standard deviation over the players", 0},
    [VOTE_PLAYER_SAMPLES_MAX] = {"player_samples_max", "Own samples, most", "samples",
                                 "the player that needs most", 0},
    [VOTE_MEAN_GAP] = {"mean_gap", "Mean gap at the end", "reward",
                       "Assumption 4: best arm less the next, on average up to then", 0},
    [VOTE_METRIC_COUNT] = {.name = NULL}};

void vote_run_free(void *run)
{
    struct vote_run *const own = run;
    if (own == NULL)
        return;
    tacit_sim_instance_free(&own->instance);
    free(own->winners);
    free(own->voted_out_at);
    free(own->own_samples);
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
    run->voted_out_at = calloc(run->plan->common.env.arm_count, sizeof run->voted_out_at[0]);
    run->own_samples = calloc(run->plan->world.player_count, sizeof run->own_samples[0]);
    *status = tacit_sim_instance_init(&run->instance, &run->plan->common);
    if (*status == TACIT_OK && run->winners != NULL && run->voted_out_at != NULL &&
        run->own_samples != NULL)
        return run;
    *status = TACIT_MEMORY;
    vote_run_free(run);
    return NULL;
}

/* The arms that players ended with, the most frequent first, lowest index on ties; the first one,
 * and those that a twentieth of the players or more have. */
static void rank_winners(struct vote_run *run, struct tacit_sim_row *row)
{
    uint32_t const arms = run->plan->common.env.arm_count;
    for (;;) {
        uint32_t most = 0;
        for (uint32_t arm = 1; arm < arms; arm++)
            most = run->winners[arm] > run->winners[most] ? arm : most;
        bool const are_few = run->winners[most] < run->plan->world.player_count / 20.0;
        if (run->winners[most] == 0 || (are_few && row->ranked_count > 0))
            return;
        row->ranking[row->ranked_count++] = most;
        run->winners[most] = 0;
    }
}

static double first_out(const struct vote_run *run, const struct vote_outcome *outcome)
{
    uint64_t first = outcome->samples;
    for (uint32_t arm = 0; arm < run->plan->common.env.arm_count; arm++)
        if (run->voted_out_at[arm] > 0 && run->voted_out_at[arm] < first)
            first = run->voted_out_at[arm];
    return (double)first;
}

/* What single players needed. */
static void write_players(const struct vote_run *run, double *metrics)
{
    uint32_t const players = run->plan->world.player_count;
    double sum = 0;
    double squares = 0;
    double most = 0;
    for (uint32_t player = 0; player < players; player++)
        sum += (double)run->own_samples[player];
    double const mean = sum / players;
    for (uint32_t player = 0; player < players; player++) {
        double const own = (double)run->own_samples[player];
        squares += (own - mean) * (own - mean);
        most = own > most ? own : most;
    }
    metrics[VOTE_PLAYER_SAMPLES_MEAN] = mean;
    metrics[VOTE_PLAYER_SAMPLES_SD] = players > 1 ? sqrt(squares / (players - 1.0)) : 0;
    metrics[VOTE_PLAYER_SAMPLES_MAX] = most;
}

static void write_gap(const struct vote_world *world, const struct vote_outcome *outcome,
                      double *metrics)
{
    uint32_t const best = vote_gap_arm(world, vote_gap_start(world, world->subroutine.failure));
    bool const is_known =
        world->env->kind != TACIT_ENV_LOGGED && world->env->arm_count > 1 && outcome->samples > 0;
    metrics[VOTE_MEAN_GAP] = is_known ? vote_mean_gap(world, best, outcome->samples) : 0;
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
    metrics[VOTE_SAMPLES_FIRST_OUT] = first_out(run, outcome);
    write_players(run, metrics);
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
    memset(own->voted_out_at, 0, sim->env.arm_count * sizeof own->voted_out_at[0]);
    memset(own->own_samples, 0, sim->agent_count * sizeof own->own_samples[0]);
    struct vote_world world = own->plan->world;
    world.run = index;
    world.env = &own->instance.env;
    world.stop = stop;
    world.drift_spare = own->plan->drifts_all ? TACIT_NO_ARM : best_of(&own->instance);
    struct vote_trace const trace = {.points = sim->points,
                                     .point_count = sim->point_count,
                                     .regret = row->regret,
                                     .winners = own->winners,
                                     .voted_out_at = own->voted_out_at,
                                     .samples_of_player = own->own_samples};
    struct vote_outcome outcome;
    enum tacit_status const status = vote_play(&world, &outcome, &trace);
    if (status != TACIT_OK)
        return status;
    write_row(own, &outcome, row);
    write_gap(&world, &outcome, row->metrics);
    return TACIT_OK;
}
