/* From an experiment file, or the name of a baseline, to what learners with an index need. */
#include "plan.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- What can be played ---- */

/* Why it cannot be played, in words; NULL: it can. */
static const char *objection(const struct index_plan *plan)
{
    struct tacit_arms_config const *const arms = &plan->arms;
    bool const needs_bounds = arms->kind == TACIT_ARMS_KL_UCB || arms->kind == TACIT_ARMS_THOMPSON;
    if (arms->arm_count < 2)
        return "learners with an index need arms with means of their own, which this environment "
               "has not";
    if (needs_bounds && arms->scale.kind == TACIT_SCALE_REAL && !arms->bounded)
        return "kl-ucb and thompson are about rewards in [0, 1], and some here may be outside; "
               "allowed: ucb1, moss, uniform";
    if (arms->horizon > TACIT_HORIZON_MAX)
        return "one learner for all has agents times horizon pulls, more than 1099511627776; "
               "allowed: fewer agents, a shorter horizon, or each alone";
    return NULL;
}

/* Where the file has public bounds of a reward, they are the scale, and rewards are clipped. */
static struct tacit_scale scale_of(const struct tacit_config *config)
{
    TACIT_IMPLIES(config->has_range, config->lo < config->hi);
    if (config->has_range)
        return (struct tacit_scale){.kind = TACIT_SCALE_STEPS, .lo = config->lo, .hi = config->hi};
    return (struct tacit_scale){.kind = TACIT_SCALE_REAL, .lo = 0, .hi = 1};
}

/* Without what is refused: see objection. */
static void fill_plan(const struct tacit_experiment *experiment, struct index_keys keys,
                      struct index_plan *plan)
{
    TACIT_ASSERT(plan != NULL);
    struct tacit_sim const *const sim = &experiment->sim;
    uint32_t const turns = keys.sharing == INDEX_SHARING_POOLED ? sim->agent_count : 1;
    *plan = (struct index_plan){.sim = *sim,
                                .arms = {.kind = keys.kind,
                                         .arm_count = sim->env.arm_count,
                                         .horizon = sim->horizon * turns,
                                         .scale = scale_of(experiment->config)},
                                .sharing = keys.sharing,
                                .turns = turns};
    plan->arms.bounded = plan->arms.scale.kind == TACIT_SCALE_REAL && sim->env.arm_count > 0 &&
                         tacit_env_is_bounded(&sim->env);
}

/* ---- An experiment of its own ---- */

enum tacit_status index_make_plan(struct tacit_experiment *experiment, struct tacit_error *error)
{
    struct index_keys const *const keys = experiment->config->keys;
    struct index_plan *const plan = calloc(1, sizeof *plan);
    experiment->plan = plan;
    if (plan == NULL)
        return TACIT_MEMORY;
    TACIT_TRY(tacit_experiment_protect(experiment, INFINITY, error));
    experiment->promise.mechanism.leaving = TACIT_LEAVING_REWARDS;
    if (keys->sharing == INDEX_SHARING_NONE)
        experiment->promise.trust.audience = TACIT_AUDIENCE_ALONE;
    experiment->server_links =
        keys->sharing == INDEX_SHARING_POOLED ? experiment->config->agent_count : 0;
    fill_plan(experiment, *keys, plan);
    char const *const why = objection(plan);
    return why == NULL ? TACIT_OK
                       : tacit_experiment_refuse(experiment, "protocol.index", why, error);
}

enum tacit_status index_print_costs(const struct tacit_experiment *experiment, FILE *out)
{
    TACIT_ASSERT(out != NULL);
    TACIT_ASSERT(experiment->plan != NULL);
    struct index_plan const *const plan = experiment->plan;
    double const pulls = (double)plan->sim.horizon * (double)plan->sim.agent_count;
    if (plan->sharing == INDEX_SHARING_NONE)
        (void)fprintf(out, "  messages  none; %u learners of %llu pulls each\n",
                      plan->sim.agent_count, (unsigned long long)plan->arms.horizon);
    else
        (void)fprintf(out, "  messages  %.0f: every reward to one learner\n", pulls);
    return TACIT_OK;
}

/* ---- Baselines ---- */

const char *const index_baselines[] = {
    "pooled-kl-ucb",  "pooled-ucb1",   "pooled-moss", "pooled-thompson",
    "pooled-uniform", "alone-kl-ucb",  "alone-ucb1",  "alone-moss",
    "alone-thompson", "alone-uniform", NULL};

/* Requires: a name of the list. */
static struct index_keys keys_of(const char *name)
{
    static const char *const words[] = {[TACIT_ARMS_UCB1] = "ucb1",
                                        [TACIT_ARMS_KL_UCB] = "kl-ucb",
                                        [TACIT_ARMS_MOSS] = "moss",
                                        [TACIT_ARMS_THOMPSON] = "thompson",
                                        [TACIT_ARMS_UNIFORM] = "uniform"};
    bool const is_pooled = strncmp(name, "pooled-", strlen("pooled-")) == 0;
    char const *const word = strchr(name, '-') + 1;
    uint32_t kind = 0;
    while (strcmp(words[kind], word) != 0) {
        kind++;
        TACIT_ASSERT(kind < sizeof words / sizeof words[0]);
    }
    return (struct index_keys){(enum tacit_arms_kind)kind,
                               is_pooled ? INDEX_SHARING_POOLED : INDEX_SHARING_NONE};
}

/* Where one agent is active at a time, one learner for all has as many pulls as there are slots. */
static const char *fit_activity(double pull_count, struct index_plan *plan)
{
    double const slots = (double)plan->sim.horizon;
    if (plan->sim.agent_count == 1 || pull_count >= slots * (double)plan->sim.agent_count)
        return NULL;
    if (plan->sharing == INDEX_SHARING_NONE || pull_count < slots || pull_count > slots)
        return "here not every agent plays in every slot, and how often each one does is the "
               "protocol's matter; allowed: a pooled baseline where one is active at a time";
    plan->turns = 1;
    plan->arms.horizon = plan->sim.horizon;
    return NULL;
}

enum tacit_status index_make_baseline(struct tacit_experiment *experiment, const char *name,
                                      struct tacit_error *error)
{
    struct index_plan *const plan = calloc(1, sizeof *plan);
    experiment->plan = plan;
    if (plan == NULL)
        return TACIT_MEMORY;
    fill_plan(experiment, keys_of(name), plan);
    char const *why = fit_activity(experiment->pull_count, plan);
    why = why == NULL ? objection(plan) : why;
    if (why == NULL)
        return TACIT_OK;
    (void)snprintf(error->text, sizeof error->text, "'%s' cannot be played here: %s", name, why);
    return TACIT_INVALID;
}
