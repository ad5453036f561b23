/* From an experiment file with votes to what its runs need: how many votes, what each player allows
 * itself, who is active, the promise. */
#include "plan.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void vote_free_plan(void *plan)
{
    struct vote_plan *const own = plan;
    if (own != NULL)
        free(own->committee);
    free(own);
}

/* ---- Votes ---- */

/* What each player allows itself of delta, and how many votes are needed: alone, each has its part
 * of it; one learner has all. */
static enum tacit_status settle_failure(struct tacit_experiment *experiment,
                                        const struct vote_keys *keys, struct vote_plan *plan,
                                        struct tacit_error *error)
{
    double const players = (double)plan->world.player_count;
    plan->world.votes_needed = 1;
    plan->world.subroutine.failure = keys->threshold.delta;
    if (keys->world.sharing == VOTE_SHARING_NONE)
        plan->world.subroutine.failure = keys->threshold.delta / players;
    if (keys->world.sharing != VOTE_SHARING_VOTES)
        return TACIT_OK;
    struct tacit_vote_choice const choice =
        vote_rule_settle(&keys->threshold, plan->world.player_count, &plan->world.subroutine);
    plan->world.votes_needed = choice.needed;
    plan->world.subroutine.failure = plan->eta = choice.eta;
    if (plan->eta > 0)
        return TACIT_OK;
    return tacit_experiment_refuse(experiment, "protocol.votes",
                                   "without eta the votes must be more than the liars, and no more "
                                   "than the agents",
                                   error);
}

static enum tacit_status check_resets(struct tacit_experiment *experiment,
                                      const struct vote_keys *keys, const struct vote_plan *plan,
                                      struct tacit_error *error)
{
    char text[VOTE_REFUSAL_BYTES];
    bool const is_refused = keys->world.reset_probability > 0 &&
                            keys->world.sharing == VOTE_SHARING_VOTES &&
                            vote_accuracy_is_refused(keys->world.subroutine.accuracy, plan->eta,
                                                     plan->world.subroutine.arm_count, text);
    return is_refused ? tacit_experiment_refuse(experiment, "protocol.epsilon", text, error)
                      : TACIT_OK;
}

/* The first players, who are the most active ones where groups come in that order. */
static enum tacit_status choose_committee(struct tacit_experiment *experiment,
                                          const struct vote_keys *keys, struct vote_plan *plan,
                                          struct tacit_error *error)
{
    uint32_t const players = plan->world.player_count;
    uint32_t const members = plan->world.votes_needed;
    if (keys->threshold.rule != VOTE_RULE_COMMITTEE || keys->world.sharing != VOTE_SHARING_VOTES)
        return TACIT_OK;
    if (members > players) {
        char text[160];
        (void)snprintf(text, sizeof text,
                       "a committee of %u is needed and there are %u agents; allowed: a smaller "
                       "eta, or votes: binomial",
                       members, players);
        return tacit_experiment_refuse(experiment, "protocol.votes", text, error);
    }
    plan->committee = calloc(TACIT_BITS_WORDS(players), sizeof(uint64_t));
    if (plan->committee == NULL)
        return TACIT_MEMORY;
    for (uint32_t player = 0; player < members; player++)
        tacit_bits_add(plan->committee, player);
    plan->world.committee = plan->committee;
    return TACIT_OK;
}

/* ---- The rest ---- */

/* Each group has a player: shares are rounded to whole players. */
static bool groups_have_players(const struct vote_world *world)
{
    struct vote_clock clock;
    vote_clock_start(&clock, world);
    for (uint32_t group = 0; group < world->group_count; group++)
        if (clock.first[group] >= clock.first[group + 1])
            return false;
    return true;
}

static void promise(struct tacit_experiment *experiment, enum vote_sharing sharing)
{
    static const enum tacit_leaving leaving[] = {[VOTE_SHARING_VOTES] = TACIT_LEAVING_VOTES,
                                                 [VOTE_SHARING_NONE] = TACIT_LEAVING_REWARDS,
                                                 [VOTE_SHARING_ALL] = TACIT_LEAVING_REWARDS,
                                                 [VOTE_SHARING_SUMS] = TACIT_LEAVING_SUMS};
    struct tacit_promise *const made = &experiment->promise;
    made->mechanism = tacit_experiment_noise(experiment, leaving[sharing]);
    if (sharing == VOTE_SHARING_ALL && made->mechanism.noise == TACIT_NOISE_LAPLACE)
        made->mechanism.noise = TACIT_NOISE_RESPONSE;
    made->trust.audience = sharing == VOTE_SHARING_VOTES  ? TACIT_AUDIENCE_VOTES
                           : sharing == VOTE_SHARING_NONE ? TACIT_AUDIENCE_ALONE
                                                          : TACIT_AUDIENCE_STAR;
}

static void fill_world(struct tacit_experiment *experiment, const struct vote_keys *keys,
                       struct vote_plan *plan)
{
    struct tacit_sim *const sim = &experiment->sim;
    sim->profile_values = VOTE_ARM_PROFILES * sim->env.arm_count + VOTE_PART_PROFILES * VOTE_PARTS;
    plan->common = *sim;
    plan->threshold = keys->threshold;
    plan->drifts_all = keys->drifts_all;
    plan->world = keys->world;
    plan->world.seed = sim->seed;
    plan->world.player_count = sim->agent_count;
    plan->world.horizon = sim->horizon;
    plan->world.drift_spare = TACIT_NO_ARM;
    plan->world.switch_every = keys->switches > 0 ? sim->horizon / (keys->switches + 1u) : 0;
    plan->world.block = 1;
    plan->world.subroutine.arm_count = sim->env.arm_count;
}

static enum tacit_status check_rewards(const struct tacit_experiment *experiment,
                                       struct tacit_error *error)
{
    struct tacit_env const *const env = &experiment->sim.env;
    bool fits = tacit_env_is_bounded(env);
    uint64_t const cells = (uint64_t)env->row_count * env->arm_count;
    for (uint64_t i = 0; env->means != NULL && i < cells; i++)
        fits = fits && env->means[i] >= 0 && env->means[i] <= 1;
    if (fits)
        return TACIT_OK;
    return tacit_experiment_refuse(experiment, "environment",
                                   "votes are about rewards in [0, 1]; some are outside", error);
}

/* Votes of raw rewards are not noised, whatever the mode. */
static enum tacit_status settle_mechanism(struct tacit_experiment *experiment,
                                          struct vote_plan *plan, struct tacit_error *error)
{
    struct tacit_config const *const config = experiment->config;
    struct tacit_mechanism_config const none = {TACIT_PRIVACY_NONE, INFINITY, 0, 1};
    experiment->epsilon_per_reward = INFINITY;
    if (config->privacy != TACIT_PRIVACY_SOUND)
        return tacit_mechanism_init(&experiment->mechanism, &none);
    TACIT_TRY(tacit_experiment_protect(experiment, config->epsilon, error));
    plan->mechanism = experiment->mechanism;
    if (plan->world.sharing == VOTE_SHARING_ALL)
        plan->world.flip =
            plan->mechanism.noisy ? 1 / (1 + exp(experiment->epsilon_per_reward)) : 0;
    else
        plan->world.mechanism = &plan->mechanism;
    return TACIT_OK;
}

/* Half of the players make a total: who is ready early seldom waits, and who seldom comes holds up
 * nobody. */
static enum tacit_status settle_aggregators(struct tacit_experiment *experiment,
                                            struct vote_plan *plan, struct tacit_error *error)
{
    struct vote_world *const world = &plan->world;
    if (experiment->config->floor_milli == TACIT_ONE_AGGREGATOR)
        return TACIT_OK;
    if (world->sharing != VOTE_SHARING_SUMS)
        return tacit_experiment_refuse(experiment, "privacy.trust",
                                       "two aggregators add up sums; allowed with sharing: sums",
                                       error);
    TACIT_TRY(
        tacit_experiment_site_mechanism(experiment, &plan->mechanism, &world->aggregators, error));
    if (!world->aggregators.are_two)
        return TACIT_OK;
    world->floor_milli = experiment->config->floor_milli;
    world->together = world->player_count < 4 ? 2 : (world->player_count + 1) / 2;
    experiment->total_agents = world->together;
    return TACIT_OK;
}

enum tacit_status vote_make_plan(struct tacit_experiment *experiment, struct tacit_error *error)
{
    struct vote_keys const *const keys = experiment->config->keys;
    struct vote_plan *const plan = calloc(1, sizeof *plan);
    experiment->plan = plan;
    if (plan == NULL)
        return TACIT_MEMORY;
    fill_world(experiment, keys, plan);
    TACIT_TRY(settle_mechanism(experiment, plan, error));
    TACIT_TRY(settle_aggregators(experiment, plan, error));
    TACIT_TRY(check_rewards(experiment, error));
    TACIT_TRY(settle_failure(experiment, keys, plan, error));
    TACIT_TRY(check_resets(experiment, keys, plan, error));
    TACIT_TRY(choose_committee(experiment, keys, plan, error));
    if (keys->world.sharing == VOTE_SHARING_SUMS) {
        struct tacit_vote_pool_config const pool = vote_pool_config(&plan->world);
        plan->world.block = tacit_vote_pool_block(&pool);
    }
    if (!groups_have_players(&plan->world))
        return tacit_experiment_refuse(
            experiment, "activation.groups",
            "a group has no player; allowed: more agents, or larger shares", error);
    promise(experiment, keys->world.sharing);
    experiment->pull_count = (double)experiment->sim.horizon; /* one active player a sample */
    return TACIT_OK;
}
