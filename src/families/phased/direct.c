/* Runs in phases as a loop around the judge alone, without agents, hub and network. */
#include "direct.h"
#include <math.h>
#include <string.h>
#include "tacit/wire_phased.h"

/* One site: its streams. */
struct site {
    struct tacit_rng rewards;
    struct tacit_rng noise;
};

struct phased_direct {
    const struct phased_sim *sim;
    const struct tacit_sim_instance *instance; /* of the run under way */
    atomic_bool *stop;
    struct tacit_phased_judge *judge;
    struct tacit_sim_curve curve;
    struct site *sites;
    int64_t *sums;   /* K: of a site's plan */
    int64_t *totals; /* K: of all sites */
    struct tacit_sim_aggregators aggregators;
    uint64_t slot;                 /* of every site: so many are played */
    uint32_t change;               /* the next one */
    double *gaps;                  /* of the environment's arms, to the best one that is there */
    struct tacit_pull_block *left; /* K: of the plan, and .. */
    struct tacit_pull_block *part; /* .. what is played of it up to the next change */
};

bool phased_direct_may_play(const struct phased_sim *sim)
{
    return sim->faults == NULL && sim->observer == NULL && !sim->has_grants &&
           sim->schedule.arm_count > 1 &&
           tacit_phases_horizon_min(&sim->schedule) <= sim->schedule.horizon;
}

struct phased_direct *phased_direct_new(const struct phased_sim *sim, void *owner,
                                        enum tacit_status *status)
{
    size_t const judge_size = tacit_phased_judge_size(&sim->schedule);
    size_t const arms = sim->schedule.arm_count;
    struct phased_direct *const direct = tacit_sim_new(owner, 1, sizeof *direct);
    *status = judge_size == 0 ? TACIT_INVALID : TACIT_MEMORY;
    if (direct == NULL || judge_size == 0)
        return NULL;
    direct->sim = sim;
    direct->aggregators = sim->aggregators;
    direct->judge = tacit_sim_new(owner, 1, judge_size);
    direct->sites = tacit_sim_new(owner, sim->schedule.agent_count, sizeof *direct->sites);
    direct->sums = tacit_sim_new(owner, arms, sizeof *direct->sums);
    direct->totals = tacit_sim_new(owner, arms, sizeof *direct->totals);
    direct->gaps = tacit_sim_new(owner, arms, sizeof *direct->gaps);
    direct->left = tacit_sim_new(owner, arms, sizeof *direct->left);
    direct->part = tacit_sim_new(owner, arms, sizeof *direct->part);
    *status = tacit_sim_curve_init(&direct->curve, &sim->common, owner);
    return *status == TACIT_OK ? direct : NULL;
}

const struct tacit_phased_judge *phased_direct_judge(const struct phased_direct *direct)
{
    return direct->judge;
}

/* ---- Messages ---- */

struct tacit_sim_cost phased_message_cost(enum tacit_round_kind kind, uint64_t blocks)
{
    struct tacit_phased_message const message = {.kind = kind, .block_count = (uint32_t)blocks};
    return (struct tacit_sim_cost){
        .scalars = kind == TACIT_ROUND_REPORT ? blocks : 0,
        .bytes = tacit_wire_bytes(tacit_wire_phased.messages, NULL, &message)};
}

static void count(struct phased_direct_result *result, enum tacit_round_kind kind, uint64_t blocks,
                  double messages, double receivers)
{
    tacit_sim_count(&result->totals, phased_message_cost(kind, blocks), messages, receivers);
}

/* ---- Rewards ---- */

/* A site has played the plan and releases its sums: rewards of all blocks, then noise of all. */
static bool release_plan(struct phased_direct *direct, uint32_t agent,
                         const struct tacit_phased_judge_view *view)
{
    TACIT_ASSERT(view->plan_count <= direct->sim->common.env.arm_count);
    struct tacit_entropy const noise = tacit_rng_entropy(&direct->sites[agent].noise);
    for (uint32_t i = 0; i < view->plan_count; i++) {
        union tacit_sum sum = {0};
        if (!tacit_sim_pull(&direct->instance->env, agent, view->plan[i].arm, view->plan[i].count,
                            &direct->sim->mechanism.scale, &direct->sites[agent].rewards, &sum,
                            direct->stop))
            return false;
        direct->sums[i] = sum.steps;
    }
    for (uint32_t i = 0; i < view->plan_count; i++) {
        union tacit_sum sum = {.steps = direct->sums[i]};
        enum tacit_status const status =
            tacit_mechanism_release(&direct->sim->mechanism, sum, &noise, &sum);
        TACIT_ASSERT(status == TACIT_OK); /* a stream always gives */
        direct->totals[i] += sum.steps;
    }
    return true;
}

/* ---- Arms that come and go ---- */

/* What every arm loses against the best one that is there. */
static void note_gaps(struct phased_direct *direct)
{
    uint32_t const arms = direct->sim->common.env.arm_count;
    struct tacit_phased_judge_view view;
    double least = INFINITY;
    tacit_phased_judge_view(direct->judge, &view);
    for (uint32_t arm = 0; arm < arms; arm++)
        if (view.standings[arm] == TACIT_PHASED_PRESENT && direct->instance->gaps[arm] < least)
            least = direct->instance->gaps[arm];
    for (uint32_t arm = 0; arm < arms; arm++)
        direct->gaps[arm] = direct->instance->gaps[arm] - least;
}

double phased_direct_gap(const struct phased_direct *direct, uint32_t arm)
{
    return direct->gaps[arm];
}

/* The slot of the next change, or T. */
static uint64_t next_change(const struct phased_direct *direct)
{
    uint64_t const horizon = direct->sim->schedule.horizon;
    uint64_t const slot = direct->change < direct->sim->change_count
                              ? direct->sim->changes[direct->change].slot
                              : horizon;
    return slot < horizon ? slot : horizon;
}

/* Those that are due. Result: does another order stand? The judge refuses to let the last arm go.
 */
static bool change_arms(struct phased_direct *direct)
{
    struct phased_sim const *const sim = direct->sim;
    struct tacit_phased_judge_view before;
    struct tacit_phased_judge_view after;
    tacit_phased_judge_view(direct->judge, &before);
    for (; direct->change < sim->change_count && sim->changes[direct->change].slot <= direct->slot;
         direct->change++) {
        struct phased_change const *const change = &sim->changes[direct->change];
        (void)(change->is_added
                   ? tacit_phased_judge_add(direct->judge, change->arm, direct->slot)
                   : tacit_phased_judge_retire(direct->judge, change->arm, direct->slot));
    }
    tacit_phased_judge_view(direct->judge, &after);
    note_gaps(direct);
    return after.round != before.round || after.finished != before.finished;
}

/* Of what is left of the plan so many slots, its arms in turn. */
static void take_part(struct phased_direct *direct, uint32_t blocks, uint64_t slots, uint64_t left)
{
    uint64_t taken = 0;
    for (uint32_t i = 0; i < blocks; i++) {
        double const share = (double)direct->left[i].count * ((double)slots / (double)left);
        direct->part[i].arm = direct->left[i].arm;
        direct->part[i].count = slots == left ? direct->left[i].count : (uint64_t)floor(share);
        taken += direct->part[i].count;
    }
    for (uint32_t i = 0; taken < slots; i = (i + 1) % blocks)
        if (direct->part[i].count < direct->left[i].count) {
            direct->part[i].count++;
            taken++;
        }
    for (uint32_t i = 0; i < blocks; i++)
        direct->left[i].count -= direct->part[i].count;
}

/* ---- A round ---- */

/* What was played of a plan that another order overtook: nobody asks what it brought. */
static void pass_played(const struct phased_direct *direct,
                        const struct tacit_phased_judge_view *view)
{
    for (uint32_t agent = 0; agent < direct->sim->schedule.agent_count; agent++)
        for (uint32_t i = 0; i < view->plan_count; i++)
            tacit_env_pass(&direct->instance->env, agent, view->plan[i].arm,
                           view->plan[i].count - direct->left[i].count);
}

/* All sites play the plan. False: another order has overtaken it. */
static bool play_plan(struct phased_direct *direct, const struct tacit_phased_judge_view *view,
                      uint64_t pulls)
{
    uint32_t const agents = direct->sim->schedule.agent_count;
    memcpy(direct->left, view->plan, view->plan_count * sizeof *direct->left);
    for (uint64_t left = pulls; left > 0;) {
        uint64_t const until = next_change(direct) - direct->slot;
        uint64_t const slots = until < left ? until : left;
        take_part(direct, view->plan_count, slots, left);
        for (uint32_t agent = 0; agent < agents; agent++)
            tacit_sim_curve_add(&direct->curve, direct->slot, direct->part, view->plan_count,
                                direct->gaps);
        direct->slot += slots;
        left -= slots;
        if (left > 0 && change_arms(direct)) {
            pass_played(direct, view);
            return false;
        }
    }
    return true;
}

/* Order, plan and reports of a round. False: it was stopped. */
static bool play_round(struct phased_direct *direct, const struct tacit_phased_judge_view *view,
                       struct phased_direct_result *result)
{
    TACIT_ASSERT(!view->finished);
    uint32_t const agents = direct->sim->schedule.agent_count;
    uint64_t pulls = 0;
    for (uint32_t i = 0; i < view->plan_count; i++)
        pulls += view->plan[i].count;
    TACIT_ASSERT(view->slots - pulls == direct->slot);
    count(result, TACIT_ROUND_ORDER, view->plan_count, 1, agents);
    if (!play_plan(direct, view, pulls))
        return !atomic_load(direct->stop);
    count(result, TACIT_ROUND_REPORT, view->plan_count, agents, 1);
    tacit_sim_aggregators_count(&direct->aggregators, agents, view->plan_count, &result->totals);
    memset(direct->totals, 0, view->plan_count * sizeof *direct->totals);
    for (uint32_t agent = 0; agent < agents; agent++)
        if (!release_plan(direct, agent, view))
            return false;
    result->samples += (double)pulls * agents;
    tacit_sim_aggregators_add(&direct->aggregators, direct->totals, view->plan_count);
    tacit_phased_judge_close(direct->judge, agents, direct->totals);
    (void)change_arms(direct);
    return !atomic_load(direct->stop);
}

/* The last order: one arm until T, or until an arm comes or goes. */
static void play_rest(struct phased_direct *direct, const struct tacit_phased_judge_view *view,
                      struct phased_direct_result *result)
{
    TACIT_ASSERT(view->finished);
    TACIT_ASSERT(view->slots <= direct->sim->schedule.horizon);
    uint32_t const agents = direct->sim->schedule.agent_count;
    bool is_overtaken = false;
    count(result, TACIT_ROUND_ORDER, 0, 1, agents);
    while (!is_overtaken && direct->slot < direct->sim->schedule.horizon) {
        struct tacit_pull_block const rest = {view->played, next_change(direct) - direct->slot};
        for (uint32_t agent = 0; agent < agents && rest.count > 0; agent++) {
            tacit_sim_curve_add(&direct->curve, direct->slot, &rest, 1, direct->gaps);
            tacit_env_pass(&direct->instance->env, agent, rest.arm, rest.count);
        }
        direct->slot += rest.count;
        is_overtaken = change_arms(direct);
    }
}

/* ---- A run ---- */

static void set_up(struct phased_direct *direct, uint32_t index)
{
    uint64_t const seed = direct->sim->common.seed;
    for (uint32_t agent = 0; agent < direct->sim->schedule.agent_count; agent++) {
        direct->sites[agent].rewards = tacit_rng_stream(seed, index, agent, TACIT_PURPOSE_REWARD);
        direct->sites[agent].noise = tacit_rng_stream(seed, index, agent, TACIT_PURPOSE_NOISE);
    }
    tacit_sim_aggregators_begin(&direct->aggregators, seed, index);
    tacit_sim_curve_clear(&direct->curve);
    enum tacit_status const status = tacit_phased_judge_init(direct->judge, &direct->sim->schedule);
    TACIT_ASSERT(status == TACIT_OK); /* its size was known */
    direct->slot = 0;
    direct->change = 0;
    (void)change_arms(direct);
}

enum tacit_status phased_direct_play(struct phased_direct *direct, uint32_t index,
                                     const struct tacit_sim_instance *instance, atomic_bool *stop,
                                     double *regret, struct phased_direct_result *result)
{
    TACIT_ASSERT(instance != NULL);
    TACIT_ASSERT(stop != NULL);
    struct tacit_phased_judge_view view;
    direct->instance = instance;
    direct->stop = stop;
    *result = (struct phased_direct_result){.samples = 0};
    set_up(direct, index);
    tacit_phased_judge_view(direct->judge, &view);
    TACIT_ASSERT(!view.finished);
    bool is_told;
    do {
        is_told = view.finished; /* the last word */
        if (is_told)
            play_rest(direct, &view, result);
        else if (!play_round(direct, &view, result))
            return TACIT_INTERRUPTED;
        tacit_phased_judge_view(direct->judge, &view);
    } while (!is_told || direct->slot < direct->sim->schedule.horizon);
    result->totals.regret = direct->curve.total;
    tacit_sim_curve_read(&direct->curve, regret);
    TACIT_ASSERT(view.finished);
    return TACIT_OK;
}
