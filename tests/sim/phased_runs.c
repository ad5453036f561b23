/* Runs of play in phases in the simulator: the same numbers as a loop around the judge alone that
 * draws from the same streams; whatever the threads; and every agent ends, whatever fails. */
#include <math.h>
#include "../support/testing.h"
#include "../support/chance.h"
#include "../../src/families/phased/run.h"

#define ARMS 6u
#define AGENTS_MAX 5u
#define RUNS 12u
#define POINTS 3u
#define FAULTY_SEEDS 150u

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

static void compare(const struct phased_sim *sim)
{
    enum tacit_status status;
    atomic_bool stop = false;
    struct phased_run *const run = phased_run_new(sim, &status);
    struct tacit_sim_row *const row = tacit_sim_row_new(&sim->common, 1);
    assert_non_null(run);
    assert_non_null(row);
    for (uint32_t index = 0; index < RUNS; index++) {
        struct phased_outcome outcome;
        bool healed = false;
        struct told const told = tell(sim, index);
        tacit_sim_row_clear(row, &sim->common, 1);
        assert_int_equal(phased_run_play(run, index, row, &stop, &healed, &outcome), TACIT_OK);
        assert_true(healed);
        assert_true(fabs(outcome.totals.regret - told.regret) <= 1e-9 * told.regret);
        assert_true(fabs(row->regret[POINTS - 1] - told.regret) <= 1e-9 * told.regret);
        assert_true(row->regret[0] <= row->regret[1] && row->regret[1] <= row->regret[2]);
        assert_true(outcome.rounds == told.rounds);
        assert_true(outcome.totals.scalars == told.scalars);
        assert_true(outcome.samples == told.samples);
        assert_true(outcome.cost == 25 * AGENTS_MAX * told.rounds);
        assert_true(outcome.best == (gap_of(told.leader) < 1e-12));
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

static bool is_same(const double *a, const double *b, size_t count)
{
    return memcmp(a, b, count * sizeof *a) == 0;
}

/* Somebody who looks on needs the cores as nodes of the network; else there is a loop around the
 * judge alone. */
TEST(a_loop_and_the_cores_as_nodes_give_the_same_numbers_to_the_last_bit)
{
    static const struct phased_observer nobody = {.context = NULL};
    for (int i = 0; i < 6; i++) {
        struct phased_sim sim = sim_of(i < 4 ? 1 : INFINITY, i < 2 ? 0 : 0.95, 20000);
        sim.schedule.guard_loss = i == 0 ? 0.1 : 0;
        enum tacit_status status;
        struct phased_run *const direct = phased_run_new(&sim, &status);
        struct phased_sim watched = sim;
        watched.observer = &nobody;
        struct phased_run *const nodes = phased_run_new(&watched, &status);
        struct tacit_sim_row *const pair[2] = {tacit_sim_row_new(&sim.common, 1),
                                               tacit_sim_row_new(&sim.common, 1)};
        for (uint32_t run = 0; run < RUNS; run++) {
            struct phased_outcome outcomes[2];
            atomic_bool stop = false;
            bool healed;
            tacit_sim_row_clear(pair[0], &sim.common, 1);
            tacit_sim_row_clear(pair[1], &sim.common, 1);
            memset(outcomes, 0, sizeof outcomes);
            assert_int_equal(phased_run_play(direct, run, pair[0], &stop, &healed, &outcomes[0]),
                             TACIT_OK);
            assert_int_equal(phased_run_play(nodes, run, pair[1], &stop, &healed, &outcomes[1]),
                             TACIT_OK);
            assert_true(healed && outcomes[0].rounds > 0);
            assert_true(is_same(pair[0]->regret, pair[1]->regret, POINTS));
            assert_true(is_same(&outcomes[0].totals.messages, &outcomes[1].totals.messages,
                                sizeof outcomes[0].totals / sizeof outcomes[0].totals.messages));
            assert_true(is_same(&outcomes[0].rounds, &outcomes[1].rounds, 1));
            assert_true(is_same(&outcomes[0].samples, &outcomes[1].samples, 1));
            assert_int_equal(outcomes[0].decided, outcomes[1].decided);
            assert_int_equal(outcomes[0].best, outcomes[1].best);
            assert_int_equal(pair[0]->ranked_count, pair[1]->ranked_count);
            assert_memory_equal(pair[0]->ranking, pair[1]->ranking,
                                pair[0]->ranked_count * sizeof pair[0]->ranking[0]);
        }
        testing_free(pair[0]);
        testing_free(pair[1]);
        tacit_sim_delete(direct);
        tacit_sim_delete(nodes);
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
    atomic_bool stop = false;
    bool healed;
    struct phased_outcome outcome;
    sim->changes = change;
    sim->change_count = 1;
    points[0] = 1;
    points[1] = change->slot;
    points[2] = sim->common.horizon;
    struct phased_run *const run = phased_run_new(sim, &status);
    struct tacit_sim_row *const row = tacit_sim_row_new(&sim->common, 1);
    assert_non_null(run);
    assert_non_null(row);
    tacit_sim_row_clear(row, &sim->common, 1);
    assert_int_equal(phased_run_play(run, 0, row, &stop, &healed, &outcome), TACIT_OK);
    assert_true(fabs(row->regret[2] - outcome.totals.regret) <= 1e-9 * outcome.totals.regret);
    struct ended const ended = {row->regret[1], row->regret[2], outcome.best, row->ranked_count,
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

/* ---- Faults ---- */

static struct tacit_sim_faults faults_of(struct tacit_rng *rng, uint64_t horizon)
{
    return (struct tacit_sim_faults){
        .loss = chance_of(rng, 0.6, 0.5),
        .duplication = chance_of(rng, 0.6, 0.5),
        .delay_us_max = tacit_rng_bernoulli(rng, 0.7) ? tacit_rng_below(rng, 2000) : 0,
        .agent_crash = chance_of(rng, 0.7, 0.15),
        .hub_crash = chance_of(rng, 0.6, 0.15),
        .down_us_max = 1 + tacit_rng_below(rng, 1000),
        .plan_parts = 1 + (uint32_t)tacit_rng_below(rng, 5),
        .noise_failure = chance_of(rng, 0.4, 0.02),
        .healed_at_us = horizon / 2 + tacit_rng_below(rng, 2 * horizon)};
}

/* One run with faults to its end. */
static struct phased_outcome play_faulty(const struct phased_sim *sim)
{
    enum tacit_status status;
    atomic_bool stop = false;
    bool healed = false;
    struct phased_outcome outcome;
    struct phased_run *const run = phased_run_new(sim, &status);
    struct tacit_sim_row *const row = tacit_sim_row_new(&sim->common, 1);
    assert_non_null(run);
    assert_non_null(row);
    assert_int_equal(phased_run_play(run, 0, row, &stop, &healed, &outcome), TACIT_OK);
    if (!healed)
        fail_msg("seed %u: an agent did not end", (unsigned)sim->common.seed);
    testing_free(row);
    tacit_sim_delete(run);
    return outcome;
}

/* Nobody gives up, nothing is counted twice, and no regret is beyond that of the worst arm. Result:
 * was there a round before the slots were over? */
static bool play_with_faults(uint32_t seed)
{
    struct tacit_rng rng = tacit_rng_stream(seed, 0, 0, TACIT_PURPOSE_INSTANCE);
    uint64_t const horizon = 3000 + tacit_rng_below(&rng, 20000);
    double const confidence = tacit_rng_bernoulli(&rng, 0.5) ? 0.9 : 0;
    struct phased_sim sim = sim_of(1, confidence, horizon);
    struct tacit_sim_faults const faults = faults_of(&rng, horizon);
    sim.common.seed = seed;
    sim.faults = &faults;
    if (tacit_rng_bernoulli(&rng, 0.4)) {
        sim.quorum = 1 + (uint32_t)tacit_rng_below(&rng, AGENTS_MAX);
        sim.round_timeout_us = 1 + tacit_rng_below(&rng, horizon);
    }
    sim.has_grants = tacit_rng_bernoulli(&rng, 0.5);
    sim.hub_answers_all = sim.has_grants || tacit_rng_bernoulli(&rng, 0.5);
    struct phased_outcome const outcome = play_faulty(&sim);
    assert_true(outcome.samples <= (double)AGENTS_MAX * (double)horizon);
    assert_true(outcome.totals.regret >= 0);
    assert_true(outcome.totals.regret <= (double)AGENTS_MAX * (double)horizon * 0.52);
    return outcome.rounds >= 1;
}

TEST(every_agent_ends_whatever_fails)
{
    uint32_t with_rounds = 0;
    for (uint32_t seed = 1; seed <= FAULTY_SEEDS; seed++)
        with_rounds += play_with_faults(seed) ? 1 : 0;
    assert_true(with_rounds > FAULTY_SEEDS / 2);
}

/* ---- Old states that come back ---- */

#define REPORTS_MAX 4096u

/* The first report of each agent and round that left, whatever state of it spoke. */
struct ear {
    uint32_t count;
    uint32_t second_count; /* other sums for the same round */
    struct {
        uint32_t from;
        uint32_t round;
        int64_t sums[ARMS];
    } heard[REPORTS_MAX];
};

static void listen_to(void *context, const struct tacit_phased_message *message)
{
    struct ear *const ear = context;
    uint32_t i = 0;
    if (message->kind != TACIT_ROUND_REPORT)
        return;
    while (i < ear->count &&
           (ear->heard[i].from != message->from || ear->heard[i].round != message->round))
        i++;
    assert_true(i < REPORTS_MAX && message->block_count <= ARMS);
    if (i < ear->count) {
        ear->second_count +=
            memcmp(ear->heard[i].sums, message->sums, message->block_count * sizeof(int64_t)) != 0
                ? 1
                : 0;
        return;
    }
    ear->count++;
    ear->heard[i].from = message->from;
    ear->heard[i].round = message->round;
    memcpy(ear->heard[i].sums, message->sums, message->block_count * sizeof(int64_t));
}

/* Result: reports that say other sums of a round that its site has spoken of. */
static uint32_t play_with_copies(uint32_t seed, bool has_grants)
{
    struct tacit_rng rng = tacit_rng_stream(seed, 1, 0, TACIT_PURPOSE_INSTANCE);
    uint64_t const horizon = 2000 + tacit_rng_below(&rng, 8000);
    struct phased_sim sim = sim_of(1, tacit_rng_bernoulli(&rng, 0.5) ? 0.9 : 0, horizon);
    struct tacit_sim_faults faults = faults_of(&rng, horizon);
    static struct ear ear;
    struct phased_observer const observer = {.context = &ear, .sent = listen_to};
    ear.count = ear.second_count = 0;
    faults.noise_failure = 0;
    faults.agent_backups = (uint32_t)tacit_rng_below(&rng, 4);
    faults.clones = 1 + (uint32_t)tacit_rng_below(&rng, 3);
    sim.common.seed = seed;
    sim.faults = &faults;
    sim.observer = &observer;
    sim.has_grants = has_grants;
    sim.hub_answers_all = true;
    sim.quorum = 1 + (uint32_t)tacit_rng_below(&rng, AGENTS_MAX);
    sim.round_timeout_us = 1 + tacit_rng_below(&rng, horizon / 2);
    (void)play_faulty(&sim);
    return ear.second_count;
}

TEST(backups_and_clones_release_each_round_once)
{
    uint32_t without_grants = 0;
    for (uint32_t seed = 1; seed <= 2 * FAULTY_SEEDS; seed++) {
        if (play_with_copies(seed, true) > 0)
            fail_msg("seed %u: a round left twice", seed);
        without_grants += play_with_copies(seed, false) > 0 ? 1 : 0;
    }
    print_message("without grants a round left twice in %u of %u worlds\n", without_grants,
                  2 * FAULTY_SEEDS);
    assert_true(without_grants > FAULTY_SEEDS / 4); /* the ear hears */
}
