/* Simulated runs of votes as the simulator's threads play them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "plan.h"

struct vote_run {
    const struct vote_plan *plan;
    struct tacit_sim_instance instance;
    uint32_t *winners;            /* K */
    uint32_t *left;               /* K: players that have it left at the end */
    uint64_t *of_arms;            /* 4 K: samples, first vote, half of the votes, out */
    uint64_t *own_samples;        /* N */
    uint64_t *decided_at;         /* N */
    struct ranked_player *ranked; /* N */
};

/* A player by its share of the samples up to its decision. */
struct ranked_player {
    double activity;
    uint32_t player;
};

static const char *const parts[] = {"most active quarter", "second quarter", "third quarter",
                                    "least active quarter", NULL};

const struct tacit_profile vote_profiles[] = {
    {"samples_by_arm", "played", "samples", "samples of each arm, by all players", NULL, false},
    {"first_vote_by_arm", "first vote", "after samples", "of all players", NULL, false},
    {"half_votes_by_arm", "half of the votes", "after samples", "of all players", NULL, false},
    {"out_by_arm", "out", "after samples", "of the voted set, or of the pool of sums", NULL, false},
    {"own_samples_by_activity", "own samples until one arm", "samples",
     "players by their share of the samples up to then", parts, false},
    {"decided_by_activity", "one arm", "after samples", "samples of all players", parts, false},
    {"activity_by_activity", "activity", "times the average",
     "share of the samples up to the decision, times the players", parts, false},
    {.name = NULL}};

const struct tacit_metric vote_metrics[] = {
    [VOTE_REGRET] =
        {"regret", "Regret", "reward",
         "reward missed against always playing the best arm, summed over all players until the end",
         0},
    [VOTE_REGRET_PER_AGENT] = {"regret_per_agent", "Regret per player", "reward",
                               "the regret of the average player", 0},
    [VOTE_SAMPLES] =
        {"samples", "Samples until all have ended", "samples",
         "how many rewards were seen by all players together until each had one arm left",
         TACIT_METRIC_MAIN | TACIT_METRIC_CARD},
    [VOTE_SAMPLES_VOTE] = {"samples_vote", "Samples until the vote", "samples",
                           "how many were seen until the votes had left one arm",
                           TACIT_METRIC_CARD},
    [VOTE_MESSAGES] = {"messages", "Messages", "messages",
                       "a broadcast of one arm; sharing all: one a sample",
                       TACIT_METRIC_CARD | TACIT_METRIC_TRAFFIC},
    [VOTE_MESSAGES_PER_RECEIVER] = {"messages_per_receiver", "Messages by receiver", "messages",
                                    "as many as were heard: a broadcast counts once per receiver",
                                    TACIT_METRIC_TRAFFIC},
    [VOTE_SINGLE_ARM_FRACTION] = {"single_arm_fraction", "Ended with one arm", "",
                                  "share of the players that had one arm left", 0},
    [VOTE_BEST_ARM_FRACTION] = {"best_arm_fraction", "Found the best arm", "",
                                "share of the players whose answer was the truly best arm", 0},
    [VOTE_NEAR_BEST_FRACTION] =
        {"near_best_fraction", "Found an arm within epsilon", "",
         "share of the players whose answer was at most epsilon worse than the best arm",
         TACIT_METRIC_CARD},
    [VOTE_ANSWER_SHARE] = {"answer_share", "Agree on the answer", "",
                           "share of the players that gave the most frequent answer", 0},
    [VOTE_PLAYS_BEYOND] = {"plays_beyond", "Plays beyond epsilon", "pulls",
                           "of arms worse than the best by more than epsilon at that moment", 0},
    [VOTE_RESETS] = {"resets", "Resets", "resets", "how often all was forgotten, to begin anew", 0},
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

static enum tacit_status make(void *memory, const void *plan)
{
    struct vote_run *const run = memory;
    run->plan = plan;
    size_t const arms = run->plan->common.env.arm_count;
    size_t const players = run->plan->world.player_count;
    run->winners = tacit_sim_new(run, arms, sizeof run->winners[0]);
    run->left = tacit_sim_new(run, arms, sizeof run->left[0]);
    run->of_arms = tacit_sim_new(run, arms, VOTE_ARM_PROFILES * sizeof run->of_arms[0]);
    run->own_samples = tacit_sim_new(run, players, sizeof run->own_samples[0]);
    run->decided_at = tacit_sim_new(run, players, sizeof run->decided_at[0]);
    run->ranked = tacit_sim_new(run, players, sizeof run->ranked[0]);
    return tacit_sim_instance_init(&run->instance, &run->plan->common, run);
}

void *vote_run_new(const void *plan, enum tacit_status *status)
{
    return tacit_sim_make(sizeof(struct vote_run), make, plan, status);
}

/* Every arm that a player has left: first what seems best to most, then what most have left, lowest
 * index on ties. Where all have ended, an arm that a player has left is what it ended with: then
 * the first, and those that a twentieth of the players or more have. Uses up the counts of those
 * left. */
static void rank_arms(struct vote_run *run, bool has_ended, struct tacit_sim_row *row)
{
    double const few = has_ended ? run->plan->world.player_count / 20.0 : 0;
    for (;;) {
        uint32_t most = TACIT_NO_ARM;
        for (uint32_t arm = 0; arm < run->plan->common.env.arm_count; arm++) {
            bool const is_more =
                most == TACIT_NO_ARM || run->winners[arm] > run->winners[most] ||
                (run->winners[arm] == run->winners[most] && run->left[arm] > run->left[most]);
            most = run->left[arm] > 0 && is_more ? arm : most;
        }
        if (most == TACIT_NO_ARM || (row->ranked_count > 0 && run->left[most] < few))
            return;
        row->ranking[row->ranked_count++] = most;
        run->left[most] = 0;
    }
}

/* What happened to an arm, K numbers each, in the order of the profiles. */
static uint64_t *of_arms(const struct vote_run *run, uint32_t profile)
{
    return run->of_arms + (size_t)profile * run->plan->common.env.arm_count;
}

static double first_out(const struct vote_run *run, const struct vote_outcome *outcome)
{
    uint64_t first = outcome->samples;
    uint64_t const *const out_at = of_arms(run, 3);
    for (uint32_t arm = 0; arm < run->plan->common.env.arm_count; arm++)
        if (out_at[arm] > 0 && out_at[arm] < first)
            first = out_at[arm];
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

/* Most active first, then by number. */
static int compare_activity(const void *left, const void *right)
{
    struct ranked_player const *const a = left;
    struct ranked_player const *const b = right;
    if (a->activity != b->activity)
        return a->activity > b->activity ? -1 : 1;
    return a->player < b->player ? -1 : 1;
}

/* Players that never decided have the activity up to the end. */
static void rank_players(struct vote_run *run, const struct vote_outcome *outcome)
{
    uint32_t const players = run->plan->world.player_count;
    for (uint32_t player = 0; player < players; player++) {
        uint64_t const end =
            run->decided_at[player] > 0 ? run->decided_at[player] : outcome->samples;
        run->ranked[player] = (struct ranked_player){
            end > 0 ? (double)run->own_samples[player] / (double)end * players : 0, player};
    }
    qsort(run->ranked, players, sizeof run->ranked[0], compare_activity);
}

/* The mean over a part of the players, first .. end - 1 of the ranking. */
static void write_part(const struct vote_run *run, uint32_t first, uint32_t end, double *values)
{
    double own = 0;
    double decided = 0;
    double activity = 0;
    uint32_t decided_count = 0;
    for (uint32_t i = first; i < end; i++) {
        uint32_t const player = run->ranked[i].player;
        own += (double)run->own_samples[player];
        activity += run->ranked[i].activity;
        decided += (double)run->decided_at[player];
        decided_count += run->decided_at[player] > 0 ? 1u : 0u;
    }
    double const count = end - first;
    values[0] = end > first ? own / count : (double)NAN;
    values[VOTE_PARTS] = decided_count > 0 ? decided / decided_count : (double)NAN;
    values[2 * VOTE_PARTS] = end > first ? activity / count : (double)NAN;
}

static void write_profiles(struct vote_run *run, const struct vote_outcome *outcome,
                           double *profiles)
{
    uint32_t const arms = run->plan->common.env.arm_count;
    uint64_t const players = run->plan->world.player_count;
    for (uint32_t i = 0; i < VOTE_ARM_PROFILES * arms; i++) {
        bool const is_never = i >= arms && run->of_arms[i] == 0; /* no sample is a number, too */
        profiles[i] = is_never ? (double)NAN : (double)run->of_arms[i];
    }
    rank_players(run, outcome);
    for (uint32_t part = 0; part < VOTE_PARTS; part++)
        write_part(run, (uint32_t)(players * part / VOTE_PARTS),
                   (uint32_t)(players * (part + 1) / VOTE_PARTS),
                   profiles + VOTE_ARM_PROFILES * arms + part);
}

static void write_gap(const struct vote_world *world, const struct vote_outcome *outcome,
                      double *metrics)
{
    uint32_t const best = vote_gap_arm(world, vote_gap_start(world, world->subroutine.failure));
    TACIT_ASSERT(world->env->arm_count > 1 && outcome->samples > 0);
    metrics[VOTE_MEAN_GAP] = vote_mean_gap(world, best, outcome->samples);
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
    metrics[VOTE_MESSAGES_PER_RECEIVER] =
        (double)(outcome->messages - outcome->messages_hub) * (players - 1) +
        (double)outcome->messages_hub;
    metrics[VOTE_SINGLE_ARM_FRACTION] = outcome->single_share;
    metrics[VOTE_BEST_ARM_FRACTION] = outcome->best_share;
    metrics[VOTE_NEAR_BEST_FRACTION] = outcome->near_share;
    metrics[VOTE_ANSWER_SHARE] = outcome->answer_share;
    metrics[VOTE_PLAYS_BEYOND] = (double)outcome->plays_beyond;
    metrics[VOTE_RESETS] = (double)outcome->reset_count;
    metrics[VOTE_SAMPLES_FIRST_OUT] = first_out(run, outcome);
    write_players(run, metrics);
    rank_arms(run, outcome->ended, row);
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
    tacit_sim_instance_watch(&own->instance, row);
    memset(own->winners, 0, sim->env.arm_count * sizeof own->winners[0]);
    memset(own->left, 0, sim->env.arm_count * sizeof own->left[0]);
    memset(own->of_arms, 0, VOTE_ARM_PROFILES * sim->env.arm_count * sizeof own->of_arms[0]);
    memset(own->own_samples, 0, sim->agent_count * sizeof own->own_samples[0]);
    memset(own->decided_at, 0, sim->agent_count * sizeof own->decided_at[0]);
    struct vote_world world = own->plan->world;
    world.run = index;
    world.env = &own->instance.env;
    world.gaps = vote_means_stay(&world) ? own->instance.gaps : NULL;
    world.stop = stop;
    world.drift_spare = own->plan->drifts_all ? TACIT_NO_ARM : best_of(&own->instance);
    struct vote_trace const trace = {.points = sim->points,
                                     .point_count = sim->point_count,
                                     .regret = row->regret,
                                     .winners = own->winners,
                                     .left = own->left,
                                     .samples_of_arm = of_arms(own, 0),
                                     .first_vote_at = of_arms(own, 1),
                                     .half_votes_at = of_arms(own, 2),
                                     .voted_out_at = of_arms(own, 3),
                                     .samples_of_player = own->own_samples,
                                     .decided_at = own->decided_at};
    struct vote_outcome outcome;
    TACIT_TRY(vote_play(&world, &outcome, &trace));
    write_row(own, &outcome, row);
    write_gap(&world, &outcome, row->metrics);
    write_profiles(own, &outcome, row->profiles);
    return TACIT_OK;
}
