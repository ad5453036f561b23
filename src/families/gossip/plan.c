/* From an experiment file with gossip UCB to what its runs need: rule, epsilon, promise; and what
 * is refused. */
#include "plan.h"
#include <math.h>
#include <stdlib.h>
#include "../../topo/spectrum.h"

/* ---- Promise ---- */

/* What the paper calls epsilon: the file's number. */
static uint64_t letter_of(const struct tacit_experiment *experiment)
{
    return (uint64_t)llround(experiment->config->epsilon * TACIT_NANO);
}

/* A reward lies in a noised sum a level. The paper sends the first reward of every arm as it is. */
static void promise_tree(struct tacit_experiment *experiment, const struct tacit_gossip_rule *rule)
{
    struct tacit_promise_mechanism noise = tacit_experiment_noise(experiment, TACIT_LEAVING_MEANS);
    experiment->promise.trust.audience = TACIT_AUDIENCE_GRAPH;
    if (noise.noise != TACIT_NOISE_NONE) {
        noise.epsilon_nano = tacit_tree_cost_nano(&rule->tree);
        noise.releases = rule->tree.level_count;
    }
    if (noise.noise == TACIT_NOISE_DOUBLE) {
        noise.gaps |= TACIT_GAP_FIRST_RAW;
        noise.letter_nano = letter_of(experiment);
        noise.share_count = rule->tree.share_count;
    }
    experiment->promise.mechanism = noise;
}

/* Sec. 4.1: Laplace noise of scale T/epsilon on each observation. */
static void promise_each(struct tacit_experiment *experiment)
{
    struct tacit_promise_mechanism noise = tacit_experiment_noise(experiment, TACIT_LEAVING_MEANS);
    experiment->promise.trust.audience = TACIT_AUDIENCE_GRAPH;
    if (noise.noise == TACIT_NOISE_DOUBLE) {
        noise.letter_nano = letter_of(experiment);
        noise.slot_count = experiment->sim.horizon;
    }
    experiment->promise.mechanism = noise;
}

/* ---- The plan ---- */

static enum tacit_status make_rule(const struct tacit_experiment *experiment,
                                   struct tacit_gossip_rule *rule, struct tacit_error *error)
{
    struct tacit_config const *const config = experiment->config;
    struct gossip_keys const *const keys = config->keys;
    struct tacit_gossip_config const wanted = {.agent_count = config->agent_count,
                                               .arm_count = experiment->sim.env.arm_count,
                                               .horizon = experiment->sim.horizon,
                                               .mechanism = {.mode = config->privacy,
                                                             .epsilon_per_reward = config->epsilon,
                                                             .lo = config->lo,
                                                             .hi = config->hi},
                                               .width = 1,
                                               .log_base_10 = keys->log_base_10};
    if (tacit_gossip_rule_init(rule, &wanted) == TACIT_OK)
        return TACIT_OK;
    return tacit_experiment_refuse(experiment, "privacy.epsilon",
                                   "the share of one of the noised sums that a reward lies in is "
                                   "below 1e-6; allowed: a larger epsilon or a shorter horizon",
                                   error);
}

#define NOTE_AGENTS_MAX 256u /* eigenvalues of a larger matrix would hold up each start */

/* What lambda_2 predicts. Lockstep gossip over one edge a slot: W is a projection, so E|W y|^2 =
 * y' E[W] y <= lambda_2 |y|^2 for what differs from the average. */
static void note_mixing(struct tacit_experiment *experiment, const struct gossip_plan *plan)
{
    struct tacit_text text =
        tacit_text_init(experiment->network_note, sizeof experiment->network_note);
    uint32_t const agents = plan->graph->agent_count;
    double lambda2;
    if (agents > NOTE_AGENTS_MAX || topo_lambda_2(plan->graph, &lambda2) != TACIT_OK ||
        !(lambda2 > 0 && lambda2 < 1))
        return;
    tacit_text_add(&text, "lambda_2 of the gossip matrix is ");
    tacit_text_add_nano(&text, (uint64_t)llround(lambda2 * TACIT_NANO));
    tacit_text_add(&text, ": while nothing new comes in, squared disagreement is expected to fall "
                          "at least by this factor a slot, and so to halve every ");
    tacit_text_add_u64(&text, (uint64_t)ceil(-log(2.0) / log(lambda2)));
    tacit_text_add(&text, " slots. Theorems 1 and 2 count on mixing from slot ");
    tacit_text_add_u64(&text, tacit_gossip_mixing_slots(agents, lambda2));
    tacit_text_add(&text, " on (L of Lemma 4).");
}

/* Gossip_UCB over rewards that were noised: (11) knows nothing of the noise (NOTES.md). */
static enum tacit_status plan_each(struct tacit_experiment *experiment, struct gossip_plan *plan,
                                   struct tacit_error *error)
{
    struct tacit_config const *const config = experiment->config;
    double const share = config->epsilon / (double)experiment->sim.horizon;
    struct tacit_gossip_config const wanted = {.agent_count = config->agent_count,
                                               .arm_count = experiment->sim.env.arm_count,
                                               .horizon = experiment->sim.horizon,
                                               .mechanism = {.mode = TACIT_PRIVACY_NONE},
                                               .width = 1};
    TACIT_TRY(tacit_experiment_protect(experiment, share, error));
    TACIT_ASSERT(!experiment->mechanism.noisy || experiment->mechanism.laplace_scale > 0);
    plan->mechanism = experiment->mechanism;
    plan->noises_each = true;
    if (tacit_gossip_rule_init(&plan->rule, &wanted) != TACIT_OK)
        return TACIT_INVALID;
    promise_each(experiment);
    return TACIT_OK;
}

enum tacit_status gossip_make_plan(struct tacit_experiment *experiment, struct tacit_error *error)
{
    struct gossip_keys const *const keys = experiment->config->keys;
    struct gossip_plan *const plan = calloc(1, sizeof *plan);
    experiment->plan = plan;
    if (plan == NULL)
        return TACIT_MEMORY;
    TACIT_ASSERT(experiment->network != NULL);
    if (experiment->network->component_count > 1)
        return tacit_experiment_refuse(experiment, "network",
                                       "the graph is in pieces, between which nothing is learned; "
                                       "allowed: a connected graph",
                                       error);
    if (!keys->doubles)
        experiment->sim.profile_values = TACIT_BAND_VALUES * experiment->sim.point_count;
    plan->common = experiment->sim;
    plan->graph = &experiment->network->graph;
    plan->doubles = keys->doubles;
    if (plan->doubles)
        return gossip_plan_doubling(experiment, plan, error);
    note_mixing(experiment, plan);
    if (keys->each)
        return plan_each(experiment, plan, error);
    TACIT_TRY(tacit_experiment_protect(experiment, experiment->config->epsilon, error));
    TACIT_TRY(make_rule(experiment, &plan->rule, error));
    if (plan->rule.noisy)
        experiment->epsilon_per_reward = tacit_nano_value(tacit_tree_cost_nano(&plan->rule.tree));
    promise_tree(experiment, &plan->rule);
    return TACIT_OK;
}
