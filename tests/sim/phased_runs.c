/* Runs of play in phases in the simulator: the same numbers as a loop around the judge alone that
 * draws from the same streams, and as the cores as nodes; and arms that come and go. */
#include <math.h>
#include "../support/testing.h"
#include "../support/phased_nodes.h"
#include "../../src/families/phased/plan.h"

#define ARMS 6u
#define AGENTS_MAX 5u
#define RUNS 12u
#define POINTS 3u

static const double rows[AGENTS_MAX * ARMS] = {0.2, 0.5, 0.8, 0.4, 0.6, 0.3, 0.3, 0.4, 0.7, 0.5,
                                               0.6, 0.1, 0.1, 0.6, 0.9, 0.3, 0.6, 0.2, 0.2, 0.5,
                                               0.6, 0.6, 0.7, 0.2, 0.4, 0.5, 0.7, 0.4, 0.5, 0.5};
static uint64_t points[POINTS];

static struct phased_sim sim_of(double epsilon, double confidence, uint64_t horizon)
{
    struct phased_sim sim = {
        .common = {.seed = 8,
                   .run_count = RUNS,
                   .agent_count = AGENTS_MAX,
                   .horizon = horizon,
                   .points = points,
                   .point_count = POINTS,
                   .env = {TACIT_ENV_BERNOULLI, AGENTS_MAX, ARMS, rows, 0, {0}, NULL, NULL}},
        .schedule = {.rule = TACIT_PHASES_INDEX,
                     .arm_count = ARMS,
                     .agent_count = AGENTS_MAX,
                     .horizon = horizon,
                     .epsilon_per_reward = epsilon,
                     .growth = 2,
                     .arms_per_round = 4,
                     .confidence = confidence},
        .server_link_cost = 25};
    struct tacit_mechanism_config const mechanism = {TACIT_PRIVACY_SOUND, epsilon, 0, 1};
    assert_int_equal(tacit_mechanism_init(&sim.mechanism, &mechanism), TACIT_OK);
    points[0] = horizon / 100;
    points[1] = horizon / 3;
    points[2] = horizon;
    return sim;
}

/* ---- The loop around the judge ---- */

struct told {
    double regret;
    double rounds;
    double scalars;
    double samples;
    uint32_t leader;
};

static double gap_of(uint32_t arm)
{
    double mean[ARMS] = {0};
    double best = 0;
    for (uint32_t i = 0; i < ARMS; i++) {
        for (uint32_t agent = 0; agent < AGENTS_MAX; agent++)
            mean[i] += rows[agent * ARMS + i] / AGENTS_MAX;
        best = fmax(best, mean[i]);
    }
    return best - mean[arm];
}

/* What all sites release of the plan, each with streams of its own. */
static void release_all(const struct phased_sim *sim, const struct tacit_phased_judge_view *view,
                        struct tacit_rng reward[], struct tacit_rng noise[], int64_t *sums)
{
    memset(sums, 0, ARMS * sizeof *sums);
    for (uint32_t agent = 0; agent < AGENTS_MAX; agent++) {
        union tacit_sum exact[ARMS] = {{0}};
        struct tacit_entropy const entropy = tacit_rng_entropy(&noise[agent]);
        for (uint32_t i = 0; i < view->plan_count; i++)
            tacit_env_pull(&sim->common.env, agent, view->plan[i].arm, view->plan[i].count,
                           &sim->mechanism.scale, &reward[agent], &exact[i]);
        for (uint32_t i = 0; i < view->plan_count; i++) {
            union tacit_sum noised;
            assert_int_equal(tacit_mechanism_release(&sim->mechanism, exact[i], &entropy, &noised),
                             TACIT_OK);
            sums[i] += noised.steps;
        }
    }
}

/* Where the plans follow from intervals of the same confidence, these are the same. */
static void check_intervals(const struct tacit_phased_judge *judge,
                            const struct tacit_phased_judge_view *view, double confidence)
{
    for (uint32_t arm = 0; arm < ARMS; arm++) {
        struct tacit_bounds_interval const interval =
            tacit_phased_judge_interval(judge, arm, confidence > 0 ? confidence : 0.95);
        assert_true(interval.lower >= 0 && interval.lower <= interval.upper && interval.upper <= 1);
        if (view->releases[arm] == 0 || confidence <= 0)
            continue;
        assert_true(interval.mean == view->means[arm]);
        assert_true(interval.lower == view->lowers[arm]);
        assert_true(interval.upper == view->uppers[arm]);
    }
}

static struct told tell(const struct phased_sim *sim, uint32_t index)
{
    struct tacit_phased_judge *const judge =
        testing_malloc(tacit_phased_judge_size(&sim->schedule));
    struct tacit_rng reward[AGENTS_MAX];
    struct tacit_rng noise[AGENTS_MAX];
    struct told told = {0};
    struct tacit_phased_judge_view view;
    for (uint32_t i = 0; i < AGENTS_MAX; i++) {
        reward[i] = tacit_rng_stream(sim->common.seed, index, i, TACIT_PURPOSE_REWARD);
        noise[i] = tacit_rng_stream(sim->common.seed, index, i, TACIT_PURPOSE_NOISE);
    }
    assert_int_equal(tacit_phased_judge_init(judge, &sim->schedule), TACIT_OK);
    tacit_phased_judge_view(judge, &view);
    while (!view.finished) {
        int64_t sums[ARMS];
        release_all(sim, &view, reward, noise, sums);
        for (uint32_t i = 0; i < view.plan_count; i++) {
            told.regret += AGENTS_MAX * (double)view.plan[i].count * gap_of(view.plan[i].arm);
            told.samples += AGENTS_MAX * (double)view.plan[i].count;
        }
        told.scalars += AGENTS_MAX * view.plan_count;
        told.rounds++;
        tacit_phased_judge_close(judge, AGENTS_MAX, sums);
        tacit_phased_judge_view(judge, &view);
    }
    check_intervals(judge, &view, sim->schedule.confidence);
    told.leader = view.leader;
    told.regret += AGENTS_MAX * (double)(sim->common.horizon - view.slots) * gap_of(view.leader);
    return told;
}

static struct tacit_sim_row *play(struct tacit_sim_row *row, void *run,
                                  const struct phased_sim *sim, uint32_t index)
{
    atomic_bool stop = false;
    tacit_sim_row_clear(row, &sim->common, PHASED_METRIC_COUNT);
    assert_int_equal(phased_run_play(run, index, row, &stop), TACIT_OK);
    return row;
}

static void compare(const struct phased_sim *sim)
{
    enum tacit_status status;
    void *const run = phased_run_new(sim, &status);
    struct tacit_sim_row *const row = tacit_sim_row_new(&sim->common, PHASED_METRIC_COUNT);
    assert_non_null(run);
    assert_non_null(row);
    double const *const metrics = row->metrics;
    for (uint32_t index = 0; index < RUNS; index++) {
        struct told const told = tell(sim, index);
        (void)play(row, run, sim, index);
        assert_true(fabs(metrics[PHASED_REGRET] - told.regret) <= 1e-9 * told.regret);
        assert_true(fabs(row->regret[POINTS - 1] - told.regret) <= 1e-9 * told.regret);
        assert_true(row->regret[0] <= row->regret[1] && row->regret[1] <= row->regret[2]);
        assert_true(metrics[PHASED_ROUNDS] == told.rounds);
        assert_true(metrics[PHASED_SCALARS] == told.scalars);
        assert_true(metrics[PHASED_SAMPLES] == told.samples);
        assert_true(metrics[PHASED_COST] == 25 * AGENTS_MAX * told.rounds);
        assert_true(metrics[PHASED_BEST_ARM_FRACTION] == (gap_of(told.leader) < 1e-12));
        assert_true(row->ranked_count >= 1);
        assert_int_equal(row->ranking[0], told.leader);
    }
    testing_free(row);
    tacit_sim_delete(run);
}

TEST(runs_are_those_of_a_loop_around_the_judge)
{
    for (int confidence = 0; confidence < 2; confidence++) {
        struct phased_sim sim = sim_of(1, confidence == 0 ? 0 : 0.95, 20000);
        compare(&sim);
        sim = sim_of(INFINITY, confidence == 0 ? 0 : 0.9, 3000);
        compare(&sim);
    }
}

TEST(a_loop_and_the_cores_as_nodes_give_the_same_numbers_to_the_last_bit)
{
    for (int i = 0; i < 6; i++) {
        struct phased_sim sim = sim_of(i < 4 ? 1 : INFINITY, i < 2 ? 0 : 0.95, 20000);
        sim.schedule.guard_loss = i == 0 ? 0.1 : 0;
        enum tacit_status status;
        void *const run = phased_run_new(&sim, &status);
        struct tacit_sim_row *const row = tacit_sim_row_new(&sim.common, PHASED_METRIC_COUNT);
        double const *const metrics = row->metrics;
        for (uint32_t index = 0; index < RUNS; index++) {
            double regret[POINTS];
            (void)play(row, run, &sim, index);
            struct phased_nodes_result const nodes = phased_nodes_play(&sim, index, NULL, regret);
            assert_memory_equal(row->regret, regret, sizeof regret);
            assert_true(nodes.rounds > 0 && metrics[PHASED_ROUNDS] == nodes.rounds);
            assert_true(metrics[PHASED_REGRET] == nodes.totals.regret);
            assert_true(metrics[PHASED_REGRET_EXPLOIT] == nodes.totals.regret_exploit);
            assert_true(metrics[PHASED_MESSAGES] == nodes.totals.messages);
            assert_true(metrics[PHASED_MESSAGES_PER_RECEIVER] ==
                        nodes.totals.messages_per_receiver);
            assert_true(metrics[PHASED_SCALARS] == nodes.totals.scalars);
            assert_true(metrics[PHASED_BYTES] == nodes.totals.bytes);
            assert_true(metrics[PHASED_SAMPLES] == nodes.samples);
            assert_int_equal(row->ranking[0], nodes.leader);
            assert_true(row->ranked_count == 1 || !nodes.is_decided);
        }
        testing_free(row);
        tacit_sim_delete(run);
    }
}

/* ---- Arms that come and go ---- */

struct ended {
    double at_change; /* regret up to the change */
    double at_end;
    bool best;
    uint32_t ranked;
    uint32_t first;
};

static struct ended play_with_change(struct phased_sim *sim, const struct phased_change *change)
{
    enum tacit_status status;
    sim->changes = change;
    sim->change_count = 1;
    points[0] = 1;
    points[1] = change->slot;
    points[2] = sim->common.horizon;
    void *const run = phased_run_new(sim, &status);
    struct tacit_sim_row *const row = tacit_sim_row_new(&sim->common, PHASED_METRIC_COUNT);
    assert_non_null(run);
    assert_non_null(row);
    double const *const metrics = play(row, run, sim, 0)->metrics;
    assert_true(fabs(row->regret[2] - metrics[PHASED_REGRET]) <= 1e-9 * metrics[PHASED_REGRET]);
    struct ended const ended = {row->regret[1], row->regret[2],
                                metrics[PHASED_BEST_ARM_FRACTION] == 1, row->ranked_count,
                                row->ranking[0]};
    testing_free(row);
    tacit_sim_delete(run);
    return ended;
}

/* Two arms: once the better one is gone, nothing more can be lost. */
TEST(a_retired_arm_costs_nothing_any_more_and_is_no_answer)
{
    static const double two[] = {0.3, 0.9};
    for (uint64_t slot = 1; slot < 20000; slot = 3 * slot + 1) {
        struct phased_sim sim = sim_of(1, 0, 20000);
        struct phased_change const change = {.slot = slot, .arm = 1};
        sim.common.env.means = two;
        sim.common.env.row_count = 1;
        sim.common.env.arm_count = sim.schedule.arm_count = 2;
        sim.schedule.arms_per_round = 2;
        struct ended const ended = play_with_change(&sim, &change);
        assert_true(ended.at_end <= ended.at_change * (1 + 1e-12));
        assert_true(ended.best);
        assert_int_equal(ended.ranked, 1);
        assert_int_equal(ended.first, 0);
    }
}

/* What is not there is no loss; once it is there it is found. */
TEST(an_added_arm_is_found)
{
    static const double three[] = {0.5, 0.4, 0.9};
    for (uint64_t slot = 10; slot <= 100000; slot *= 10) {
        struct phased_sim sim = sim_of(1, 0.95, 200000);
        struct phased_change const change = {.slot = slot, .arm = 2, .is_added = true};
        sim.common.env.means = three;
        sim.common.env.row_count = 1;
        sim.common.env.arm_count = sim.schedule.arm_count = 3;
        sim.schedule.first_count = 2;
        struct ended const ended = play_with_change(&sim, &change);
        double const most = 0.1 * AGENTS_MAX * (double)slot; /* only 0.5 and 0.4 were there */
        assert_true(ended.at_change <= most * (1 + 1e-12));
        assert_true(ended.at_end - ended.at_change < 0.02 * AGENTS_MAX * 200000);
        assert_true(ended.best);
        assert_int_equal(ended.first, 2);
    }
}
