/* Play in phases as nodes of the simulator: what they do in a step, what their messages are, how a
 * run begins and what it came to. */
#include "ladder.h"
#include "run.h"
#include <math.h>
#include <string.h>
#include "direct.h"

struct phased_run {
    const struct phased_sim *sim;
    uint32_t agent_count;
    uint32_t arm_count;
    struct phased_direct *direct; /* NULL: cores as nodes */
    struct tacit_sim_nodes *nodes;
    struct tacit_sim_instance instance;
    uint32_t *released; /* A: the last round whose release was counted */
    double samples;
    double *lowers;                    /* K: scratch, .. */
    double *uppers;                    /* .. too */
    uint64_t *left;                    /* W(K) */
    struct tacit_phased_update update; /* of the step under way */
};

/* ---- Messages ---- */

static size_t message_size(void *family, const void *message)
{
    (void)family;
    return tacit_phased_message_size(message);
}

static const void *message_copy(void *family, const void *message, void *memory)
{
    (void)family;
    return tacit_phased_message_copy(message, memory);
}

static struct tacit_sim_cost message_cost(void *family, const void *message)
{
    struct tacit_phased_message const *const phased = message;
    (void)family;
    return phased_message_cost(phased->kind, phased->block_count);
}

/* ---- Steps ---- */

static struct tacit_phased_hub *hub_of(const struct phased_run *run)
{
    return tacit_sim_nodes_state(run->nodes, run->agent_count);
}

/* Counts the rewards of a release, once. */
static void count_release(struct phased_run *run, uint32_t node)
{
    struct tacit_phased_agent_view view;
    uint32_t const agent = tacit_sim_nodes_agent(run->nodes, node);
    tacit_phased_agent_view(tacit_sim_nodes_state(run->nodes, node), &view);
    if (view.release_round <= run->released[agent])
        return;
    run->released[agent] = view.release_round;
    for (uint32_t i = 0; i < view.block_count; i++)
        run->samples += (double)view.blocks[i].count;
}

/* A refusal changes nothing, and its update asks for nothing but the timer that stands. */
static void step(void *family, uint32_t node, const struct tacit_event *event,
                 const struct tacit_entropy *entropy, struct tacit_sim_update *update)
{
    struct phased_run *const run = family;
    if (node == run->agent_count)
        (void)tacit_phased_hub_step(hub_of(run), event, &run->update);
    else
        (void)tacit_phased_agent_step(tacit_sim_nodes_state(run->nodes, node), event, entropy,
                                      &run->update);
    if (run->update.send && run->update.message.kind == TACIT_ROUND_REPORT)
        count_release(run, node);
    *update = tacit_sim_update_of(&run->update.core, run->update.message.to, &run->update.message);
}

/* EXACT-BOUNDS 6: while an agent waits it plays the leader. */
static bool exploit(void *family, uint32_t node, uint32_t *arm, uint64_t *count_max)
{
    struct phased_run *const run = family;
    struct tacit_phased_agent_view view;
    tacit_phased_agent_view(tacit_sim_nodes_state(run->nodes, node), &view);
    *arm = view.exploit_arm;
    *count_max = run->sim->common.horizon - view.pull_count;
    return view.waiting;
}

/* ---- Those who look on ---- */

static void sent(void *family, const void *message)
{
    struct phased_run const *const run = family;
    struct phased_observer const *const observer = run->sim->observer;
    if (observer != NULL && observer->sent != NULL)
        observer->sent(observer->context, message);
}

static void pulled(void *family, uint32_t node, uint32_t arm, uint64_t count)
{
    struct phased_run const *const run = family;
    struct phased_observer const *const observer = run->sim->observer;
    if (observer != NULL && observer->pulled != NULL)
        observer->pulled(observer->context, tacit_sim_nodes_agent(run->nodes, node), arm, count);
}

/* ---- Configurations ---- */

static struct tacit_phased_agent_config agent_config(const struct phased_sim *sim, uint64_t run_id,
                                                     uint32_t agent)
{
    uint64_t const resend = sim->faults == NULL
                                ? sim->common.horizon + 1 /* nothing gets lost: no timer matters */
                                : 2 * sim->faults->delay_us_max + 1000;
    return (struct tacit_phased_agent_config){.run_id = run_id,
                                              .agent_id = agent,
                                              .agent_count = sim->schedule.agent_count,
                                              .arm_count = sim->schedule.arm_count,
                                              .horizon = sim->schedule.horizon,
                                              .mechanism = sim->mechanism,
                                              .budget_nano =
                                                  tacit_mechanism_cost_nano(&sim->mechanism),
                                              .resend_after_us = resend,
                                              .has_grants = sim->has_grants};
}

static struct tacit_phased_hub_config hub_config(const struct phased_sim *sim, uint64_t run_id)
{
    return (struct tacit_phased_hub_config){.run_id = run_id,
                                            .schedule = sim->schedule,
                                            .mechanism = sim->mechanism,
                                            .quorum = sim->quorum,
                                            .round_timeout_us = sim->round_timeout_us,
                                            .answers_all = sim->hub_answers_all,
                                            .has_grants = sim->has_grants};
}

static void size_of_node(void *family, uint32_t node, size_t *state_bytes, size_t *extra_bytes)
{
    struct phased_run const *const run = family;
    struct tacit_phased_hub_config const hub = hub_config(run->sim, 1);
    struct tacit_phased_agent_config const agent = agent_config(run->sim, 1, 0);
    *extra_bytes = 0;
    *state_bytes =
        node == run->agent_count ? tacit_phased_hub_size(&hub) : tacit_phased_agent_size(&agent);
}

static const struct tacit_sim_node_ops node_ops = {.size = size_of_node,
                                                   .step = step,
                                                   .exploit = exploit,
                                                   .sent = sent,
                                                   .pulled = pulled,
                                                   .message_size = message_size,
                                                   .message_copy = message_copy,
                                                   .message_cost = message_cost};

/* ---- Memory ---- */

static enum tacit_status make(void *memory, const void *plan)
{
    struct phased_run *const run = memory;
    struct phased_sim const *const sim = plan;
    struct tacit_phased_agent_config const agent = agent_config(sim, 1, 0);
    struct tacit_phased_hub_config const hub = hub_config(sim, 1);
    struct tacit_sim_nodes_config const config = {.sim = &sim->common,
                                                  .ops = &node_ops,
                                                  .family = run,
                                                  .faults = sim->faults,
                                                  .scale = sim->mechanism.scale,
                                                  .has_hub = true,
                                                  .reward_purpose = TACIT_PURPOSE_REWARD,
                                                  .noise_purpose = TACIT_PURPOSE_NOISE,
                                                  .hub_purpose = TACIT_PURPOSE_SELECTION};
    run->sim = sim;
    run->agent_count = sim->common.agent_count;
    run->arm_count = sim->common.env.arm_count;
    if (tacit_phased_agent_size(&agent) == 0 || tacit_phased_hub_size(&hub) == 0)
        return TACIT_INVALID;
    run->released = tacit_sim_new(run, run->agent_count, sizeof *run->released);
    run->lowers = tacit_sim_new(run, run->arm_count, sizeof *run->lowers);
    run->uppers = tacit_sim_new(run, run->arm_count, sizeof *run->uppers);
    run->left = tacit_sim_new(run, TACIT_BITS_WORDS(run->arm_count), sizeof *run->left);
    enum tacit_status status = tacit_sim_instance_init(&run->instance, &sim->common, run);
    if (status != TACIT_OK)
        return status;
    if (sim->change_count > 0 && !phased_direct_may_play(sim))
        status = TACIT_INVALID; /* nodes know of no operator */
    else if (phased_direct_may_play(sim))
        run->direct = phased_direct_new(sim, run, &status);
    else
        run->nodes = tacit_sim_nodes_new(&config, &status);
    return status;
}

struct phased_run *phased_run_new(const struct phased_sim *sim, enum tacit_status *status)
{
    return tacit_sim_make(sizeof(struct phased_run), make, sim, status);
}

/* ---- What a run came to ---- */

static struct tacit_bounds_interval interval_of(const struct phased_run *run, uint32_t arm,
                                                double confidence)
{
    return run->direct != NULL
               ? tacit_phased_judge_interval(phased_direct_judge(run->direct), arm, confidence)
               : tacit_phased_hub_interval(hub_of(run), arm, confidence);
}

static struct tacit_phased_judge_view judge_view(const struct phased_run *run)
{
    struct tacit_phased_hub_view hub;
    struct tacit_phased_judge_view view;
    if (run->direct != NULL) {
        tacit_phased_judge_view(phased_direct_judge(run->direct), &view);
        return view;
    }
    tacit_phased_hub_view(hub_of(run), &hub);
    return hub.judge;
}

/* Arms that are left, the leader first, then by estimate; lowest index on ties. */
static void rank(struct phased_run *run, const struct tacit_phased_judge_view *judge,
                 struct tacit_sim_row *row)
{
    double const confidence = phased_confidence(run->sim->schedule.confidence);
    for (uint32_t arm = 0; arm < run->arm_count; arm++) {
        struct tacit_bounds_interval const interval = interval_of(run, arm, confidence);
        run->lowers[arm] = interval.lower;
        run->uppers[arm] = interval.upper;
    }
    phased_find_left(judge, run->lowers, run->uppers, run->arm_count, run->left);
    TACIT_BITS_EACH (arm, run->left, run->arm_count) {
        uint32_t place = row->ranked_count++;
        for (; place > 0; place--) {
            uint32_t const other = row->ranking[place - 1];
            bool const is_first = other == judge->leader;
            if (is_first || (arm != judge->leader && judge->means[other] >= judge->means[arm]))
                break;
            row->ranking[place] = other;
        }
        row->ranking[place] = arm;
    }
}

/* Azize et al. 2025, Theorem 1: what nobody goes below for long runs who noises once, for all sites
 * together. A reference line only where sites differ. */
static double floor_of(const struct phased_run *run)
{
    struct phased_sim const *const sim = run->sim;
    double const pulls = (double)sim->schedule.agent_count * (double)sim->schedule.horizon;
    struct tacit_env const *const env = &sim->common.env;
    bool const is_binary =
        env->kind == TACIT_ENV_BERNOULLI || (env->kind == TACIT_ENV_LOGGED && env->log.binary);
    return is_binary && sim->change_count == 0
               ? tacit_bounds_floor(run->instance.global_means, run->arm_count, pulls,
                                    sim->schedule.epsilon_per_reward)
               : (double)NAN;
}

static double gap_at_end(const struct phased_run *run, uint32_t arm)
{
    return run->direct != NULL ? phased_direct_gap(run->direct, arm) : run->instance.gaps[arm];
}

static void write_outcome(struct phased_run *run, const struct tacit_sim_totals *totals,
                          struct tacit_sim_row *row, struct phased_outcome *outcome)
{
    struct tacit_phased_judge_view const judge = judge_view(run);
    rank(run, &judge, row);
    *outcome = (struct phased_outcome){.totals = *totals,
                                       .agents = run->agent_count,
                                       .rounds = judge.round_count,
                                       .links = (double)judge.round_count * run->agent_count,
                                       .samples = run->samples,
                                       .floor = floor_of(run),
                                       .decided = row->ranked_count == 1,
                                       .best = judge.leader != TACIT_NO_ARM &&
                                               gap_at_end(run, judge.leader) < 1e-12};
    outcome->cost = outcome->links * run->sim->server_link_cost;
}

/* ---- A run ---- */

static enum tacit_status set_up(struct phased_run *run, uint32_t index)
{
    struct phased_sim const *const sim = run->sim;
    uint64_t const run_id = (uint64_t)index + 1;
    struct tacit_phased_hub_config const hub = hub_config(sim, run_id);
    run->samples = 0;
    memset(run->released, 0, run->agent_count * sizeof *run->released);
    enum tacit_status status = tacit_phased_hub_init(hub_of(run), &hub);
    for (uint32_t agent = 0; agent < run->agent_count && status == TACIT_OK; agent++) {
        struct tacit_phased_agent_config const config = agent_config(sim, run_id, agent);
        status = tacit_phased_agent_init(tacit_sim_nodes_state(run->nodes, agent), &config);
    }
    return status;
}

static enum tacit_status play_direct(struct phased_run *run, uint32_t index,
                                     struct tacit_sim_row *row, atomic_bool *stop, bool *healed,
                                     struct tacit_sim_totals *totals)
{
    struct phased_direct_result result;
    enum tacit_status const status =
        phased_direct_play(run->direct, index, &run->instance, stop, row->regret, &result);
    *totals = result.totals;
    run->samples = result.samples;
    *healed = true;
    return status;
}

static enum tacit_status play_nodes(struct phased_run *run, uint32_t index,
                                    struct tacit_sim_row *row, atomic_bool *stop, bool *healed,
                                    struct tacit_sim_totals *totals)
{
    enum tacit_status status = set_up(run, index);
    if (status == TACIT_OK)
        status = tacit_sim_nodes_play(run->nodes, index, &run->instance, stop, healed);
    if (status != TACIT_OK)
        return status;
    *totals = tacit_sim_nodes_totals(run->nodes);
    tacit_sim_nodes_regret(run->nodes, row->regret);
    return TACIT_OK;
}

enum tacit_status phased_run_play(struct phased_run *run, uint32_t index, struct tacit_sim_row *row,
                                  atomic_bool *stop, bool *healed, struct phased_outcome *outcome)
{
    struct tacit_sim_totals totals = {0};
    tacit_sim_instance_draw(&run->instance, &run->sim->common, index);
    tacit_sim_instance_watch(&run->instance, row);
    enum tacit_status const status = run->direct != NULL
                                         ? play_direct(run, index, row, stop, healed, &totals)
                                         : play_nodes(run, index, row, stop, healed, &totals);
    if (status == TACIT_OK)
        write_outcome(run, &totals, row, outcome);
    return status;
}
