/* Runs in phases as a loop around the judge alone, without agents, hub and network. It draws from
 * the same streams as the cores do as nodes of the simulator, so that its numbers are theirs to the
 * last bit (tests/sim/phased_runs.c). */
#include <math.h>
#include <string.h>
#include "plan.h"
#include "tacit/wire_phased.h"

/* One site: its streams. */
struct site {
    struct tacit_rng rewards;
    struct tacit_rng noise;
};

struct phased_run {
    const struct phased_sim *sim;
    struct tacit_sim_instance instance; /* of the run under way */
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
    double *lowers;                /* K: scratch, .. */
    double *uppers;                /* .. too */
    uint64_t *is_left;             /* W(K): the same */
};

/* What a run came to, beside its judge. */
struct outcome {
    struct tacit_sim_totals totals;
    double samples; /* rewards in releases */
};

/* Else sites do more than plans say. */
static bool first_plan_fits(const struct phased_sim *sim)
{
    return sim->schedule.arm_count > 1 &&
           tacit_phases_horizon_min(&sim->schedule) <= sim->schedule.horizon;
}

static enum tacit_status make(void *memory, const void *plan)
{
    struct phased_run *const run = memory;
    struct phased_sim const *const sim = plan;
    size_t const judge_size = tacit_phased_judge_size(&sim->schedule);
    size_t const arms = sim->schedule.arm_count;
    if (judge_size == 0 || !first_plan_fits(sim))
        return TACIT_INVALID;
    run->sim = sim;
    run->aggregators = sim->aggregators;
    run->judge = tacit_sim_new(run, 1, judge_size);
    run->sites = tacit_sim_new(run, sim->schedule.agent_count, sizeof *run->sites);
    run->sums = tacit_sim_new(run, arms, sizeof *run->sums);
    run->totals = tacit_sim_new(run, arms, sizeof *run->totals);
    run->gaps = tacit_sim_new(run, arms, sizeof *run->gaps);
    run->left = tacit_sim_new(run, arms, sizeof *run->left);
    run->part = tacit_sim_new(run, arms, sizeof *run->part);
    run->lowers = tacit_sim_new(run, arms, sizeof *run->lowers);
    run->uppers = tacit_sim_new(run, arms, sizeof *run->uppers);
    run->is_left = tacit_sim_new(run, TACIT_BITS_WORDS(arms), sizeof *run->is_left);
    enum tacit_status const status = tacit_sim_curve_init(&run->curve, &sim->common, run);
    return status == TACIT_OK ? tacit_sim_instance_init(&run->instance, &sim->common, run) : status;
}

void *phased_run_new(const void *plan, enum tacit_status *status)
{
    return tacit_sim_make(sizeof(struct phased_run), make, plan, status);
}

/* ---- Messages ---- */

/* EXACT-BOUNDS 5.6: scalars are the noised sums. Bytes: on the wire, without grants. */
static struct tacit_sim_cost message_cost(enum tacit_round_kind kind, uint64_t blocks)
{
    struct tacit_phased_message const message = {.kind = kind, .block_count = (uint32_t)blocks};
    return (struct tacit_sim_cost){
        .scalars = kind == TACIT_ROUND_REPORT ? blocks : 0,
        .bytes = tacit_wire_bytes(tacit_wire_phased.messages, NULL, &message)};
}

/* So many messages alike, each to so many receivers. */
static void count(struct outcome *result, enum tacit_round_kind kind, uint64_t blocks,
                  double messages, double receivers)
{
    tacit_sim_count(&result->totals, message_cost(kind, blocks), messages, receivers);
}

/* ---- Rewards ---- */

/* A site has played the plan and releases its sums, which join run->totals: rewards of all blocks,
 * then noise of all. False: it was stopped. */
static bool release_plan(struct phased_run *run, uint32_t agent,
                         const struct tacit_phased_judge_view *view)
{
    TACIT_ASSERT(view->plan_count <= run->sim->common.env.arm_count);
    struct tacit_entropy const noise = tacit_rng_entropy(&run->sites[agent].noise);
    for (uint32_t i = 0; i < view->plan_count; i++) {
        union tacit_sum sum = {0};
        if (!tacit_sim_pull(&run->instance.env, agent, view->plan[i].arm, view->plan[i].count,
                            &run->sim->mechanism.scale, &run->sites[agent].rewards, &sum,
                            run->stop))
            return false;
        run->sums[i] = sum.steps;
    }
    for (uint32_t i = 0; i < view->plan_count; i++) {
        union tacit_sum sum = {.steps = run->sums[i]};
        enum tacit_status const status =
            tacit_mechanism_release(&run->sim->mechanism, sum, &noise, &sum);
        TACIT_ASSERT(status == TACIT_OK); /* a stream always gives */
        run->totals[i] += sum.steps;
    }
    return true;
}

/* ---- Arms that come and go ---- */

/* What every arm loses against the best one that is there. */
static void note_gaps(struct phased_run *run)
{
    uint32_t const arms = run->sim->common.env.arm_count;
    struct tacit_phased_judge_view view;
    double least = INFINITY;
    tacit_phased_judge_view(run->judge, &view);
    for (uint32_t arm = 0; arm < arms; arm++)
        if (view.standings[arm] == TACIT_PHASED_PRESENT && run->instance.gaps[arm] < least)
            least = run->instance.gaps[arm];
    for (uint32_t arm = 0; arm < arms; arm++)
        run->gaps[arm] = run->instance.gaps[arm] - least;
}

/* The slot of the next change, or T. */
static uint64_t next_change(const struct phased_run *run)
{
    uint64_t const horizon = run->sim->schedule.horizon;
    uint64_t const slot =
        run->change < run->sim->change_count ? run->sim->changes[run->change].slot : horizon;
    return slot < horizon ? slot : horizon;
}

/* Those that are due. Result: does another order stand? The judge refuses to let the last arm go.
 * Ensures: gaps are those of the arms that are there now. */
static bool change_arms(struct phased_run *run)
{
    struct phased_sim const *const sim = run->sim;
    struct tacit_phased_judge_view before;
    struct tacit_phased_judge_view after;
    tacit_phased_judge_view(run->judge, &before);
    for (; run->change < sim->change_count && sim->changes[run->change].slot <= run->slot;
         run->change++) {
        struct phased_change const *const change = &sim->changes[run->change];
        (void)tacit_phased_judge_change(run->judge, change->arm, change->is_added, run->slot);
    }
    tacit_phased_judge_view(run->judge, &after);
    note_gaps(run);
    return after.round != before.round || after.finished != before.finished;
}

/* Of what is left of the plan so many slots, its arms in turn: moves them from run->left to
 * run->part. `left`: all slots that are left. */
static void cut_part(struct phased_run *run, uint32_t blocks, uint64_t slots, uint64_t left)
{
    uint64_t taken = 0;
    for (uint32_t i = 0; i < blocks; i++) {
        double const share = (double)run->left[i].count * ((double)slots / (double)left);
        run->part[i].arm = run->left[i].arm;
        run->part[i].count = slots == left ? run->left[i].count : (uint64_t)floor(share);
        taken += run->part[i].count;
    }
    for (uint32_t i = 0; taken < slots; i = (i + 1) % blocks)
        if (run->part[i].count < run->left[i].count) {
            run->part[i].count++;
            taken++;
        }
    for (uint32_t i = 0; i < blocks; i++)
        run->left[i].count -= run->part[i].count;
}

/* ---- A round ---- */

/* What was played of a plan that another order overtook: nobody asks what it brought. */
static void pass_played(const struct phased_run *run, const struct tacit_phased_judge_view *view)
{
    for (uint32_t agent = 0; agent < run->sim->schedule.agent_count; agent++)
        for (uint32_t i = 0; i < view->plan_count; i++)
            tacit_env_pass(&run->instance.env, agent, view->plan[i].arm,
                           view->plan[i].count - run->left[i].count);
}

/* All sites play the plan. False: another order has overtaken it. */
static bool play_plan(struct phased_run *run, const struct tacit_phased_judge_view *view,
                      uint64_t pulls)
{
    uint32_t const agents = run->sim->schedule.agent_count;
    memcpy(run->left, view->plan, view->plan_count * sizeof *run->left);
    for (uint64_t left = pulls; left > 0;) {
        uint64_t const until = next_change(run) - run->slot;
        uint64_t const slots = until < left ? until : left;
        cut_part(run, view->plan_count, slots, left);
        for (uint32_t agent = 0; agent < agents; agent++)
            tacit_sim_curve_add(&run->curve, run->slot, run->part, view->plan_count, run->gaps);
        run->slot += slots;
        left -= slots;
        if (left > 0 && change_arms(run)) {
            pass_played(run, view);
            return false;
        }
    }
    return true;
}

/* Order, plan and reports of a round. False: it was stopped. */
static bool play_round(struct phased_run *run, const struct tacit_phased_judge_view *view,
                       struct outcome *result)
{
    TACIT_ASSERT(!view->finished);
    uint32_t const agents = run->sim->schedule.agent_count;
    uint64_t pulls = 0;
    for (uint32_t i = 0; i < view->plan_count; i++)
        pulls += view->plan[i].count;
    TACIT_ASSERT(view->slots - pulls == run->slot);
    count(result, TACIT_ROUND_ORDER, view->plan_count, 1, agents);
    if (!play_plan(run, view, pulls))
        return !atomic_load(run->stop);
    count(result, TACIT_ROUND_REPORT, view->plan_count, agents, 1);
    tacit_sim_aggregators_count(&run->aggregators, agents, view->plan_count, &result->totals);
    memset(run->totals, 0, view->plan_count * sizeof *run->totals);
    for (uint32_t agent = 0; agent < agents; agent++)
        if (!release_plan(run, agent, view))
            return false;
    result->samples += (double)pulls * agents;
    tacit_sim_aggregators_add(&run->aggregators, run->totals, view->plan_count);
    tacit_phased_judge_close(run->judge, agents, run->totals);
    (void)change_arms(run);
    return !atomic_load(run->stop);
}

/* The last order: one arm until T, or until an arm comes or goes. */
static void play_rest(struct phased_run *run, const struct tacit_phased_judge_view *view,
                      struct outcome *result)
{
    TACIT_ASSERT(view->finished);
    TACIT_ASSERT(view->slots <= run->sim->schedule.horizon);
    uint32_t const agents = run->sim->schedule.agent_count;
    bool is_overtaken = false;
    count(result, TACIT_ROUND_ORDER, 0, 1, agents);
    while (!is_overtaken && run->slot < run->sim->schedule.horizon) {
        struct tacit_pull_block const rest = {view->played, next_change(run) - run->slot};
        for (uint32_t agent = 0; agent < agents && rest.count > 0; agent++) {
            tacit_sim_curve_add(&run->curve, run->slot, &rest, 1, run->gaps);
            tacit_env_pass(&run->instance.env, agent, rest.arm, rest.count);
        }
        run->slot += rest.count;
        is_overtaken = change_arms(run);
    }
}

/* ---- A run ---- */

static void set_up(struct phased_run *run, uint32_t index)
{
    uint64_t const seed = run->sim->common.seed;
    for (uint32_t agent = 0; agent < run->sim->schedule.agent_count; agent++) {
        run->sites[agent].rewards = tacit_rng_stream(seed, index, agent, TACIT_PURPOSE_REWARD);
        run->sites[agent].noise = tacit_rng_stream(seed, index, agent, TACIT_PURPOSE_NOISE);
    }
    tacit_sim_aggregators_begin(&run->aggregators, seed, index);
    tacit_sim_curve_clear(&run->curve);
    enum tacit_status const status = tacit_phased_judge_init(run->judge, &run->sim->schedule);
    TACIT_ASSERT(status == TACIT_OK); /* its size was known */
    run->slot = 0;
    run->change = 0;
    (void)change_arms(run);
}

/* Result: false: it was stopped. */
static bool play(struct phased_run *run, uint32_t index, struct outcome *result)
{
    struct tacit_phased_judge_view view;
    *result = (struct outcome){.samples = 0};
    set_up(run, index);
    tacit_phased_judge_view(run->judge, &view);
    TACIT_ASSERT(!view.finished);
    bool was_last_order;
    do {
        was_last_order = view.finished; /* the last word */
        if (was_last_order)
            play_rest(run, &view, result);
        else if (!play_round(run, &view, result))
            return false;
        tacit_phased_judge_view(run->judge, &view);
    } while (!was_last_order || run->slot < run->sim->schedule.horizon);
    TACIT_ASSERT(view.finished);
    return true;
}

/* ---- What it came to ---- */

/* Arms that are left, the leader first, then by estimate; lowest index on ties. */
static void rank(struct phased_run *run, const struct tacit_phased_judge_view *judge,
                 struct tacit_sim_row *row)
{
    uint32_t const arms = run->sim->common.env.arm_count;
    phased_look(judge, ladder_confidence(run->sim->schedule.confidence), arms, run->lowers,
                run->uppers, run->is_left);
    TACIT_BITS_EACH (arm, run->is_left, arms) {
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
               ? tacit_bounds_floor(run->instance.global_means, env->arm_count, pulls,
                                    sim->schedule.epsilon_per_reward)
               : (double)NAN;
}

static void write_row(struct phased_run *run, const struct outcome *result,
                      struct tacit_sim_row *row)
{
    struct tacit_phased_judge_view judge;
    double const agents = run->sim->schedule.agent_count;
    double *const metrics = row->metrics;
    tacit_phased_judge_view(run->judge, &judge);
    rank(run, &judge, row);
    tacit_sim_curve_read(&run->curve, row->regret);
    metrics[PHASED_REGRET] = run->curve.total;
    metrics[PHASED_REGRET_PER_AGENT] = run->curve.total / agents;
    metrics[PHASED_ROUNDS] = judge.round_count;
    metrics[PHASED_LINKS] = (double)judge.round_count * agents; /* M a round */
    metrics[PHASED_COST] = metrics[PHASED_LINKS] * run->sim->server_link_cost;
    metrics[PHASED_MESSAGES] = result->totals.messages;
    metrics[PHASED_MESSAGES_PER_RECEIVER] = result->totals.messages_per_receiver;
    metrics[PHASED_SCALARS] = result->totals.scalars;
    metrics[PHASED_BYTES] = result->totals.bytes;
    metrics[PHASED_SINGLE_ARM_FRACTION] = row->ranked_count == 1 ? 1 : 0;
    metrics[PHASED_BEST_ARM_FRACTION] =
        judge.leader != TACIT_NO_ARM && run->gaps[judge.leader] < 1e-12 ? 1 : 0;
    metrics[PHASED_SAMPLES] = result->samples;
    metrics[PHASED_FLOOR] = floor_of(run);
}

enum tacit_status phased_run_play(void *memory, uint32_t index, struct tacit_sim_row *row,
                                  atomic_bool *stop)
{
    struct phased_run *const run = memory;
    struct outcome result;
    TACIT_ASSERT(stop != NULL);
    tacit_sim_instance_draw(&run->instance, &run->sim->common, index);
    tacit_sim_instance_watch(&run->instance, row);
    run->stop = stop;
    if (!play(run, index, &result))
        return TACIT_INTERRUPTED;
    write_row(run, &result, row);
    return TACIT_OK;
}
